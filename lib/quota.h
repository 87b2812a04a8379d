/* SPDX-License-Identifier: MIT */
/*
 * What a container may have: its CPU quota, and its memory. The kernel stops a
 * cgroup that has used up its time, until the period (mostly 100 ms) is over: to
 * whoever measures, that is two speeds. It kills who goes beyond the memory.
 * Versions 1 and 2 of cgroups.
 *
 * Errors: what cannot be read is not known, and not warned of.
 */
#ifndef LIB_QUOTA_H
#define LIB_QUOTA_H

#include <stdbool.h>
#include <stdint.h>

/* Counts from here on. */
void quota_start(void);

struct quota {
	uint64_t periods, throttled; /* that ended; in which it was stopped */
};

/*
 * Since quota_start(), of our cgroup or of the one above it that was stopped
 * most. False: not known.
 */
bool quota_used(struct quota *quota);

/* A warning, if there was such a period. */
void quota_warn(void);

/*
 * Bytes of memory that can still be had without swapping: the machine's, or what a
 * cgroup allows if that is less. UINT64_MAX: not known.
 */
uint64_t memory_left(void);

#endif
