/* SPDX-License-Identifier: MIT */
/*
 * A guest or a host seen from outside its loop: how it is woken, and where it
 * stands.
 */
#ifndef HARNESS_SIDE_H
#define HARNESS_SIDE_H

#include <stdint.h>

#include "lib/barrier.h"

enum where { STARTING, RUNNING, POLLING, SLEEPING, DONE };

/*
 * Written by the side's own thread alone, when it waits and every few thousand
 * buffers (with --guest-work or --host-work for each), so that it costs nothing;
 * the watchdog reads it with READ_ONCE.
 */
struct side {
	uint64_t added;		/* guest only */
	uint64_t finished;	/* completions got, or buffers used */
	uint64_t waits;		/* found nothing, and polled or slept */
	uint64_t sent;		/* notifications */
	uint64_t spurious;	/* woken for nothing */
	uint64_t start_ns, end_ns;
	int where;
	int wakeup;		/* an eventfd; the other side writes to it */
} __cache_aligned;
ASSERT_APART(struct side);

/* Before a run. Ends the program if there is no eventfd to be had. */
void side_open(struct side *side);
void side_close(struct side *side);

/* Wakes @to, between two VM exits' worth of cycles. @from's thread. */
void notify(struct side *from, const struct side *to);

/*
 * Until someone notifies @me. Anything else may end it too: the caller looks
 * at the ring again. @me's thread.
 */
void sleep_until_woken(struct side *me);

/*
 * The watchdog, in main's thread: before a run, and CREW_LOOKS_PER_S times a
 * second while it lasts. A run that stands still for config.timeout_s is ended,
 * with a word on where.
 */
void watch_start(const struct side *guest, const struct side *host);
void watch(void);

#endif
