/* SPDX-License-Identifier: MIT */
/* One run of a command, and what it took. */
#ifndef COMPARE_RUN_H
#define COMPARE_RUN_H

#include <stdbool.h>
#include <stdint.h>

#include "compare.h"

struct run {
	uint64_t start_ns;
	double value[COLUMN + 1];
	double lost_ns; /* in runs before it that do not count */
};

void prepare_runs(void);

/* False: we are to stop, and there is no run. */
bool measure(const struct command *c, struct run *run);

#endif
