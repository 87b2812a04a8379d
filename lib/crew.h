/* SPDX-License-Identifier: MIT */
/*
 * The threads of a program: they start together, and end together.
 *
 * Errors: the program ends.
 *
 * Edge:
 *	M  each thread to all others: what it did before crew_meet
 */
#ifndef LIB_CREW_H
#define LIB_CREW_H

#include <stdbool.h>
#include <stdint.h>

struct crew {
	unsigned size; /* threads that meet */
	unsigned arrived;
	bool crowded; /* more of them than CPUs: who waits gives way */
};

#define CREW_LOOKS_PER_S 4

/*
 * Runs @fn(@args[i]) in a thread of its own for each i below @size, and returns
 * when all have ended. Meanwhile it calls @look, unless that is NULL,
 * CREW_LOOKS_PER_S times a second, and warns if the whole process was stopped
 * for a while. Ends the program if a thread cannot be had or was moved off the
 * CPU that crew_pin() gave it, and in good order, as die() does, if a signal
 * comes that is to end it: SIGINT, SIGTERM, SIGHUP, SIGQUIT, SIGXCPU. A second
 * one, a second later, ends it at once.
 */
void crew_run(unsigned size, void (*fn)(void *), void *const *args,
	      void (*look)(void));

/* Pins the calling thread, or ends the program; @cpu < 0 does nothing. */
void crew_pin(const char *option, int cpu);

/*
 * Are @size threads, pinned to @cpus (-1: not pinned), more than the CPUs that
 * they may use, or two of them pinned to one?
 */
bool crew_crowded(const int *cpus, unsigned size);

/*
 * Called by each thread, once: returns when all @crew->size have called it.
 * Spinning, because a thread that has to wake up is late.
 */
void crew_meet(struct crew *crew);

#endif
