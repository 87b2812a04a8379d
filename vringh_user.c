// SPDX-License-Identifier: MIT
/* vringh_user: the split virtqueue in another's memory: addresses are checked. */
#define HOST_SIDE "virtio/vringh_ring.h"
#define ACCESS	  vringh_user
#include "virtio_ring_0_9.c"
