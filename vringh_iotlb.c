// SPDX-License-Identifier: MIT
/* vringh_iotlb: the split virtqueue behind a translation of addresses. */
#define HOST_SIDE "virtio/vringh_ring.h"
#define ACCESS	  vringh_iotlb
#include "virtio_ring_0_9.c"
