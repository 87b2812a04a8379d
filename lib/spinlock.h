/* SPDX-License-Identifier: MIT */
/*
 * A lock for a few instructions, and for threads that may be more than there
 * are CPUs: who waits long gives way, for the holder may be off its CPU. Not
 * fair, not recursive. Zeroes are an open lock.
 *
 * Edge:
 *	L  one holder to the next: all that was done under the lock
 */
#ifndef LIB_SPINLOCK_H
#define LIB_SPINLOCK_H

#include <sched.h>
#include <stdbool.h>
#include <stdint.h>

#include "lib/barrier.h"

struct spinlock {
	uint32_t held;
};

/* Looks in vain before it gives way: some microseconds, far above a hold. */
#define SPIN_LIMIT 1000

/* True: the caller holds it now. A try that fails promises no ordering. */
static inline bool spin_trylock(struct spinlock *lock)
{
	/*
	 * L.acquire: the lock before what it guards. Pairs with L.release in
	 * spin_unlock.
	 */
	return !smp_xchg_acquire(&lock->held, 1);
}

static inline void spin_lock(struct spinlock *lock)
{
	while (!spin_trylock(lock)) {
		unsigned looks = 0;

		/* reading leaves the line with the holder, trying would not */
		while (READ_ONCE(lock->held)) {
			cpu_relax();
			if (++looks >= SPIN_LIMIT)
				sched_yield();
		}
	}
}

static inline void spin_unlock(struct spinlock *lock)
{
	/*
	 * L.release: what the lock guards before the lock. Pairs with
	 * L.acquire in spin_trylock.
	 */
	smp_store_release(&lock->held, 0);
}

#endif
