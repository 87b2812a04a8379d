// SPDX-License-Identifier: MIT
/* virtio_ring_inorder: the split virtqueue, completed in order. */
#define CONSUME IN_ORDER
#include "virtio_ring_0_9.c"
