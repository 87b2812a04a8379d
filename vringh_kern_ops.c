// SPDX-License-Identifier: MIT
/* vringh_kern_ops: vringh_kern, its access called through pointers. */
#define OPS
#define HOST_SIDE "virtio/vringh_ring.h"
#define ACCESS	  vringh_kern
#include "virtio_ring_0_9.c"
