// SPDX-License-Identifier: MIT
/* vringh_user_ops: vringh_user, its access called through pointers. */
#define RING_OPS
#define RING_ACCESS vringh_user
#include "virtio/split/vringh.inc"
