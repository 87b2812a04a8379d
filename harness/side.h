/* SPDX-License-Identifier: MIT */
/*
 * The guest or the host as seen from outside its loop: how it is woken, and
 * where it stands.
 */
#ifndef HARNESS_SIDE_H
#define HARNESS_SIDE_H

#include <stdint.h>

#include "lib/barrier.h"

enum where { STARTING, RUNNING, POLLING, SLEEPING, DONE };

/*
 * Written by the side's own thread alone, when it waits and every few thousand
 * buffers, so that it costs nothing (with --guest-work or --host-work, after
 * each buffer); the watchdog reads it with READ_ONCE.
 */
struct side {
	uint64_t added;	   /* guest only */
	uint64_t finished; /* completions got, or buffers used */
	uint64_t waits;	   /* found nothing, and polled or slept */
	uint64_t sent;	   /* notifications */
	uint64_t spurious; /* woken for nothing */
	uint64_t start_ns, end_ns;
	int where;
	int wakeup; /* an eventfd; the other side writes to it */
} __cache_aligned;
ASSERT_APART(struct side);

/* Before a run. Ends the program if it cannot have an eventfd. */
void side_open(struct side *side);
void side_close(struct side *side);

/* @from's thread: wakes @to, and burns what a VM exit and entry would cost. */
void notify(struct side *from, const struct side *to);

/*
 * @me's thread: sleeps until someone notifies @me. It may wake for nothing, so
 * the caller looks at the ring again.
 */
void sleep_until_woken(struct side *me);

/* The same, for @ns at most. */
void sleep_until(struct side *me, uint64_t ns);

/*
 * The watchdog, in the main thread: before a run, and CREW_LOOKS_PER_S times a
 * second while it lasts. Ends a run that makes no progress for
 * config.timeout_s, and says where both sides stand.
 */
void watch_start(const struct side *guest, const struct side *host);
void watch(void);

#endif
