/* SPDX-License-Identifier: MIT */
/* Numbers at random, the same everywhere and each time: xorshift64*. */
#ifndef TESTS_DRAW_H
#define TESTS_DRAW_H

#include <stdint.h>

#define DRAW_SEED 88172645463325252ull	/* any but 0 */

static inline uint64_t draw64(uint64_t *state)
{
	*state ^= *state >> 12;
	*state ^= *state << 25;
	*state ^= *state >> 27;
	return *state * 0x2545f4914f6cdd1d;
}

static inline uint32_t draw(uint64_t *state)
{
	return draw64(state) >> 32;
}

#endif
