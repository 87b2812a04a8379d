// SPDX-License-Identifier: MIT
/* virtio_ring_batched: the split virtqueue, its indexes written in batches. */
#define CONSUME BATCHED
#include "virtio_ring_0_9.c"
