/* SPDX-License-Identifier: MIT */
/* xorshift64*: the same numbers everywhere for a @state, which is not 0. */
#ifndef LIB_RANDOM_H
#define LIB_RANDOM_H

#include <stdint.h>

#define RANDOM_SEED 88172645463325252ull /* as good as any */

static inline uint64_t random_next(uint64_t *state)
{
	*state ^= *state >> 12;
	*state ^= *state << 25;
	*state ^= *state >> 27;
	return *state * 0x2545f4914f6cdd1d;
}

static inline uint32_t random32(uint64_t *state)
{
	return random_next(state) >> 32;
}

#endif
