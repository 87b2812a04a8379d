// SPDX-License-Identifier: MIT
/* ring_compact: descriptors of 8 bytes, used in place. */
#define COMPACT 1
#include "ring.c"
