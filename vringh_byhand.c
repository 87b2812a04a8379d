// SPDX-License-Identifier: MIT
/* vringh_byhand: vringh_kern without vringh, its checks written out. */
#define HOST_SIDE "virtio/byhand_ring.h"
#include "virtio_ring_0_9.c"
