/* SPDX-License-Identifier: MIT */
/* CPUs as the kernel and taskset list them: "0,2-5", "0-6:2" for every other one. */
#ifndef LIB_CPULIST_H
#define LIB_CPULIST_H

#include <stdbool.h>

/* first, first + step ... up to last, which need not be one of them. */
struct cpu_range {
	int first, last, step;
};

/*
 * The first range of @list; a single CPU is first and last. Returns what follows its
 * comma, "" at the end of @list. NULL: this is not a range, and *range is not set.
 */
const char *cpulist_next(const char *list, struct cpu_range *range);

/* Is @cpu in @list? What is not a list has none. */
bool cpulist_has(const char *list, int cpu);

#endif
