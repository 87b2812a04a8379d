// SPDX-License-Identifier: MIT
/* vringh_user_ops: vringh_user, its access called through pointers. */
#define OPS
#define HOST_SIDE "virtio/vringh_ring.h"
#define ACCESS	  vringh_user
#include "virtio_ring_0_9.c"
