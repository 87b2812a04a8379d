/* SPDX-License-Identifier: MIT */
/* The two ends of a ring, and how they notify each other. */
#ifndef VRINGH_TEST_END_H
#define VRINGH_TEST_END_H

#include <sys/types.h>

#include "transfer.h"

extern struct end {
	int wake, wait; /* pipes; -1: in turn */
	struct told *told;
	const char *other;
} guest_end, host_end;
extern pid_t guest_pid; /* 0: we are the guest, or in turn */

void wake(struct end *me);
void sleep_until_woken(struct end *me);

/*
 * Looks at the ring before sleeping, where each side has a CPU of its own: some
 * 20 us, as a wake takes about so long.
 */
#define POLLS 1000

#endif
