/* SPDX-License-Identifier: MIT */
/* What the parts of compare share: what it was told, and its commands. */
#ifndef COMPARE_COMPARE_H
#define COMPARE_COMPARE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "lib/stats.h"

enum metric { WALL, USER, SYS, CPU, COLUMN, UNDECIDED };

extern struct options {
	int format;
	int metric;	    /* UNDECIDED until the first run */
	const char *column; /* of a ringtest row, for COLUMN */
	bool metric_fixed;
	uint32_t runs, warmup;
	double resolve, max_time_s;
	double gate; /* --fail-if-slower; NAN: none */
	const char *csv, *json;
} options;

extern struct command {
	char name[3];
	const char *text;
	char **argv;
	double *values; /* one per round that is over */
	double *sorted;
	struct estimate median;
	double low_fence, high_fence;
	uint64_t low_outliers, high_outliers;
	struct groups groups;  /* NAN: the sample is one */
	struct estimate ratio; /* to the first, as a logarithm */
} commands[];
extern unsigned nr_commands;
#define for_each_command(c)                                                    \
	for (struct command *c = commands; c < commands + nr_commands; c++)
#define for_each_later(c)                                                      \
	for (struct command *c = commands + 1; c < commands + nr_commands; c++)

extern const char *ending; /* why there are no more rounds */

const char *metric_name(void);
const char *unit(void);

/* The metric is a time, so that less of it is faster. */
bool is_time(void);

/* realloc(), or the end of the program. */
void *more(void *p, size_t size);

#endif
