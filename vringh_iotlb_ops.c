// SPDX-License-Identifier: MIT
/* vringh_iotlb_ops: vringh_iotlb, its access called through pointers. */
#define OPS
#define HOST_SIDE "virtio/vringh_ring.h"
#define ACCESS	  vringh_iotlb
#include "virtio_ring_0_9.c"
