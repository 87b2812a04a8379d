/* SPDX-License-Identifier: MIT */
/* CPUs as the kernel lists them: "0,2-5". */
#ifndef LIB_CPULIST_H
#define LIB_CPULIST_H

#include <stdbool.h>

/*
 * The first range of @list, from *first to *last; a single CPU is both. Returns
 * what follows its comma, "" at the end of @list. NULL: this is not a range, and
 * *first and *last are not set.
 */
const char *cpulist_next(const char *list, int *first, int *last);

/* Is @cpu in @list? What is not a list has none. */
bool cpulist_has(const char *list, int cpu);

#endif
