/* SPDX-License-Identifier: MIT */
/*
 * The schedule of an execution that has a fault: what is printed of each step, and
 * which ends should have ordered what went wrong. Until schedule_start() nothing is.
 */
#ifndef PROVE_SCHEDULE_H
#define PROVE_SCHEDULE_H

#include "explore.h"

struct event {
	struct prove_site *site; /* NULL: what was there first */
	uint16_t number;	 /* of its thread's, from 1 */
	uint8_t thread;
};

void schedule_start(void);

/* One step of @thread; @where is its offset in the arena, if it is in there. */
void schedule_print(const char *thread, const struct prove_site *site,
		    ptrdiff_t where, const char *format, ...)
	__attribute__((format(printf, 4, 5)));

/* The number of the last one. */
unsigned schedule_step(void);

/* A load has read what another thread stored. */
void schedule_news(struct event load, struct event store);

/*
 * The ends that should have ordered what is at fault: those of the last news that
 * @thread had of event number @since, or a later one, of thread @other.
 */
void schedule_ends(unsigned thread, unsigned other, unsigned since);

/* One of the fences that should have, where threads stand still. */
void schedule_fence(const struct prove_site *site);

/* The last news of @thread, if no ends were told; -1: none. And no more. */
void schedule_end(int thread);

#endif
