// SPDX-License-Identifier: MIT
/* virtio_ring_poll: the split virtqueue, polled through its entries. */
#define CONSUME BY_ENTRY
#include "virtio_ring_0_9.c"
