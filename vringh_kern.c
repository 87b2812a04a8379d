// SPDX-License-Identifier: MIT
/* vringh_kern: the split virtqueue in our own memory. */
#define RING_ACCESS vringh_kern
#include "virtio/split/vringh.inc"
