// SPDX-License-Identifier: MIT
/* vringh_user: the split virtqueue in another's memory: addresses are checked. */
#define RING_ACCESS vringh_user
#include "virtio/split/vringh.inc"
