/* SPDX-License-Identifier: MIT */
/* How far apart, and how far ahead. */
#ifndef LIB_CACHE_LINE_H
#define LIB_CACHE_LINE_H

#include <stdbool.h>
#include <stdint.h>

/*
 * How far ahead a layout prefetches, in bytes: a few lines, so that several are
 * under way at a time, and few enough that the other side has left them.
 */
#define PREFETCH_AHEAD 256

/*
 * In bytes. Lines are as long on most CPUs; where they are not, hints and times
 * are off, and nothing else. CPUs fetch lines in pairs: what different threads
 * write is kept that far apart.
 */
#define CACHE_LINE 64
#define CACHE_PAIR (2 * CACHE_LINE)
#define __cache_aligned __attribute__((aligned(CACHE_PAIR)))
#define ASSERT_APART(type)                                                     \
	_Static_assert(sizeof(type) % CACHE_PAIR == 0 &&                       \
			       _Alignof(type) % CACHE_PAIR == 0,               \
		       #type " shares a pair of cache lines")

/* Fetched together: for hints only. */
static inline bool same_line(const void *a, const void *b)
{
	return ((uintptr_t)a ^ (uintptr_t)b) < CACHE_LINE;
}

#endif
