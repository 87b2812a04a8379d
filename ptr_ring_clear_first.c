// SPDX-License-Identifier: MIT
/* ptr_ring, with the slots cleared before the head moves: see there. */
#define PTR_RING_CLEAR_FIRST 1
#include "ptr_ring.c"
