// SPDX-License-Identifier: MIT
/* vringh_iotlb: the split virtqueue behind a translation of addresses. */
#define RING_ACCESS vringh_iotlb
#include "virtio/split/vringh.inc"
