/* SPDX-License-Identifier: MIT */
/*
 * CPUs by their kernel number. "Allowed" is what this process may use: its
 * cpuset and its inherited mask, as they were when the program started.
 */
#ifndef HARNESS_AFFINITY_H
#define HARNESS_AFFINITY_H

#include <stdbool.h>

int allowed_cpus(void);			/* how many */
bool cpu_allowed(int cpu);
const char *allowed_list(void);		/* like "0-3,8", in static memory */

/* Ends the program with EXIT_CANNOT, naming @option, unless @cpu is allowed. */
void require_cpu(const char *option, int cpu);

/*
 * Reads a list like "0,2-5" into @cpus and returns how many there are, at most
 * @most. Ends the program with EXIT_USAGE if it is no such list, as
 * require_cpu for each CPU in it; NULL is an empty list.
 */
unsigned cpu_list(const char *option, const char *text, int *cpus,
		  unsigned most);

/* Pins the calling thread; @cpu < 0 does nothing. False: refused, see errno. */
bool pin_thread(int cpu);

#endif
