/* SPDX-License-Identifier: MIT */
#ifndef LIB_CLOCK_H
#define LIB_CLOCK_H

#include <stdint.h>
#include <time.h>

static inline uint64_t now_ns(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return ts.tv_sec * 1000000000ull + ts.tv_nsec;
}

/*
 * Cycles are ticks of the time-stamp counter on x86. Other counters run at any
 * rate from MHz to GHz, so elsewhere the clock stands in, at 2 to the ns.
 */
static inline uint64_t now_cycles(void)
{
#if defined(__x86_64__) || defined(__i386__)
	return __builtin_ia32_rdtsc();
#else
	return now_ns() * 2;
#endif
}

static inline void burn_cycles(uint32_t cycles)
{
	uint64_t start;

	if (!cycles) /* reading the counter takes some, too */
		return;
	start = now_cycles();
	while (now_cycles() - start < cycles)
		;
}

#endif
