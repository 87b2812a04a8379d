// SPDX-License-Identifier: MIT
/* vringh_kern: the split virtqueue in our own memory. */
#define HOST_SIDE "virtio/vringh_ring.h"
#define ACCESS	  vringh_kern
#include "virtio_ring_0_9.c"
