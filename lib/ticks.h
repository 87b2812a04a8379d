/* SPDX-License-Identifier: MIT */
/*
 * Time for a hot loop: the CPU's counter, where it runs at one speed and alike on
 * all CPUs, otherwise CLOCK_MONOTONIC. RINGTEST_CLOCK=monotonic takes the latter
 * anyway. Only differences of ticks mean something.
 */
#ifndef LIB_TICKS_H
#define LIB_TICKS_H

#include <stdbool.h>
#include <stdint.h>

#include "lib/clock.h"

struct ticks {
	const char *name; /* "tsc" or what else it is; "monotonic" */
	double ns;	  /* that one tick takes */
	double cost_ns;	  /* of one reading */
	double step_ns;	  /* readings differ by multiples of this */
	double drift;	  /* of ns between two calibrations, as a share of it */
	bool counter;
};
extern struct ticks ticks;

static inline uint64_t ticks_counter(void)
{
#ifdef TICKS_COUNTER /* tests have their own */
	return TICKS_COUNTER();
#elif defined(__x86_64__) || defined(__i386__)
	return __builtin_ia32_rdtsc();
#elif defined(__aarch64__)
	uint64_t value;

	__asm__ volatile("mrs %0, cntvct_el0" : "=r"(value));
	return value;
#elif defined(__s390x__)
	uint64_t value;

	__asm__ volatile("stckf %0" : "=Q"(value) : : "cc");
	return value;
#elif defined(__powerpc64__)
	return __builtin_ppc_get_timebase();
#elif defined(__riscv) && __riscv_xlen == 64
	uint64_t value;

	__asm__ volatile("rdtime %0" : "=r"(value));
	return value;
#else
	return 0;
#endif
}

static inline uint64_t ticks_now(void)
{
	return __builtin_expect(ticks.counter, 1) ? ticks_counter() : now_ns();
}

/*
 * The same, but not before the loads before it are done: a CPU reads its counter
 * while it waits for what it has guessed, a line on its way from another CPU.
 */
static inline uint64_t ticks_after_loads(void)
{
#if defined(__x86_64__) || defined(__i386__)
	__asm__ volatile("lfence" : : : "memory");
#elif defined(__aarch64__)
	/* of loads alone; isb: and the counter is not read ahead of it */
	__asm__ volatile("dmb ishld; isb" : : : "memory");
#elif defined(__powerpc64__)
	__asm__ volatile("lwsync; isync" : : : "memory");
#elif defined(__riscv)
	__asm__ volatile("fence r, ir" : : : "memory"); /* rdtime is input */
#elif defined(__s390x__)
	__asm__ volatile("bcr 15, 0" : : : "memory"); /* serializes */
#endif
	return ticks_now();
}

/* Which clock it is to be; ends the program if RINGTEST_CLOCK is nonsense. */
void ticks_choose(void);

/* Once, before a run: the same, and calibrates it, some 10 ms. */
void ticks_start(void);

/* After a run: calibrates again, over all the time since, and sets drift. */
void ticks_end(void);

#endif
