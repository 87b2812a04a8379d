// SPDX-License-Identifier: MIT
/* vringh_iotlb_ops: vringh_iotlb, its access called through pointers. */
#define RING_OPS
#define RING_ACCESS vringh_iotlb
#include "virtio/split/vringh.inc"
