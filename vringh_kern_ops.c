// SPDX-License-Identifier: MIT
/* vringh_kern_ops: vringh_kern, its access called through pointers. */
#define RING_OPS
#define RING_ACCESS vringh_kern
#include "virtio/split/vringh.inc"
