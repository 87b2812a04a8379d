/* SPDX-License-Identifier: MIT */
/*
 * The only way to touch memory that the other thread writes: marked accesses,
 * in the Linux kernel's vocabulary, on the compiler's atomic builtins.
 *
 * READ_ONCE, WRITE_ONCE	whole, never invented or repeated; no ordering
 * smp_load_acquire		what follows stays behind it
 * smp_store_release		what comes before stays before it
 * smp_add_release		the same, in one step with the addition
 * smp_xchg_acquire		stores and gives what was there; as load_acquire
 * smp_mb			earlier stores before later loads as well; the
 *				only one that costs an instruction on x86
 * cpu_relax			says to the CPU that a loop is waiting
 * prefetch_for_write		fetches a line, the other CPU's copy included,
 *				so that the store does not wait for it
 * prefetch			fetches a copy
 *
 * Who uses one for ordering gives the edge a letter, at both its ends:
 *	A.release: what is published before what. Pairs with A.acquire in ...
 */
#ifndef LIB_BARRIER_H
#define LIB_BARRIER_H

#include "lib/cache_line.h"

/*
 * Before each access; a test that steps through them defines it. One access
 * inside another would be a step with it: write them one after the other.
 */
#ifndef barrier_step
#define barrier_step() ((void)0)
#endif
#define READ_ONCE(x) (barrier_step(), __atomic_load_n(&(x), __ATOMIC_RELAXED))
#define WRITE_ONCE(x, val)                                                     \
	(barrier_step(), __atomic_store_n(&(x), (val), __ATOMIC_RELAXED))
#define smp_load_acquire(p)                                                    \
	(barrier_step(), __atomic_load_n((p), __ATOMIC_ACQUIRE))
#define smp_store_release(p, v)                                                \
	(barrier_step(), __atomic_store_n((p), (v), __ATOMIC_RELEASE))
#define smp_add_release(p, v)                                                  \
	(barrier_step(), __atomic_fetch_add((p), (v), __ATOMIC_RELEASE))
#define smp_xchg_acquire(p, v)                                                 \
	(barrier_step(), __atomic_exchange_n((p), (v), __ATOMIC_ACQUIRE))

/* ThreadSanitizer knows no fences, and gcc says so each time. */
#if defined(__SANITIZE_THREAD__) && !defined(__clang__)
#pragma GCC diagnostic ignored "-Wtsan"
#endif
#define smp_mb() __atomic_thread_fence(__ATOMIC_SEQ_CST)

#define prefetch(p) __builtin_prefetch(p)

static inline void prefetch_for_write(const void *p)
{
#if defined(__x86_64__) || defined(__i386__)
	/* the builtin makes it a plain prefetch for the oldest x86 */
	__asm__ volatile("prefetchw %0" : : "m"(*(const char *)p));
#else
	__builtin_prefetch(p, 1);
#endif
}

static inline void cpu_relax(void)
{
#if defined(__x86_64__) || defined(__i386__)
	__builtin_ia32_pause();
#elif defined(__aarch64__)
	__asm__ volatile("yield" ::: "memory");
#elif defined(__powerpc64__)
	__asm__ volatile("or 27,27,27" ::: "memory");
#elif defined(__riscv)
	/* pause, a hint that older CPUs take for a fence of nothing */
	__asm__ volatile(".4byte 0x0100000f" ::: "memory");
#else
	__asm__ volatile("" ::: "memory");
#endif
}

#endif
