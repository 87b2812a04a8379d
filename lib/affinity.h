/* SPDX-License-Identifier: MIT */
/*
 * CPUs by their kernel number. "Allowed" is the mask that this process was
 * started with: where threads run that are not pinned. A thread may be pinned
 * elsewhere, too, isolated CPUs above all, if the kernel takes it. A @cpu below
 * 0 stands for one that is not pinned: nothing is done.
 *
 * Errors: the program ends, naming @option.
 */
#ifndef LIB_AFFINITY_H
#define LIB_AFFINITY_H

#include <stdbool.h>

int allowed_cpus(void); /* how many */
bool cpu_allowed(int cpu);

/*
 * Ends the program with EXIT_CANNOT, naming @option, unless the kernel lets the
 * calling thread be pinned to @cpu. Tries it, and takes it back.
 */
void require_cpu(const char *option, int cpu);

/*
 * Reads a list like "0,2-5" into @cpus and returns how many there are, at most
 * @most. Ends the program with EXIT_USAGE if it is no such list, as
 * require_cpu for each CPU in it; NULL is an empty list.
 */
unsigned cpu_list(const char *option, const char *text, int *cpus,
		  unsigned most);

/* Pins the calling thread, or ends the program with EXIT_FAILED. */
void require_pin(const char *option, int cpu);

/*
 * Ends the program with EXIT_FAILED unless the calling thread still is where it
 * was pinned to: a cpuset that shrinks moves threads without a word.
 */
void check_pin(const char *option, int cpu);

#endif
