/* SPDX-License-Identifier: MIT */
/* Numbers at random, the same everywhere and each time: xorshift. */
#ifndef TESTS_DRAW_H
#define TESTS_DRAW_H

#include <stdint.h>

#define DRAW_SEED 88172645463325252ull	/* any but 0 */

static inline uint32_t draw(uint64_t *state)
{
	*state ^= *state << 13;
	*state ^= *state >> 7;
	*state ^= *state << 17;
	return *state >> 32;
}

#endif
