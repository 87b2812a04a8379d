/* SPDX-License-Identifier: MIT */
/*
 * The CPU quota of a container: the kernel stops a cgroup that has used up its
 * time, until the period (mostly 100 ms) is over. To whoever measures, that is
 * two speeds. Versions 1 and 2 of cgroups.
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

#endif
