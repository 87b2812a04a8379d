/* SPDX-License-Identifier: MIT */
/* Rounds, one run of each command in each, until it is enough. */
#ifndef COMPARE_ROUNDS_H
#define COMPARE_ROUNDS_H

#include <stdint.h>

extern uint64_t rounds; /* over, and counting */
extern double width;	/* of the widest interval, per cent */

/* May miss this often: shared out, so that all intervals hold at once. */
double alpha(void);

/* So many rounds give an interval. */
unsigned pairs_needed(void);

/* The files for samples, if they are asked for. */
void open_samples(void);

/* Returns with @ending set. */
void run_rounds(void);

/* The ratios to the first, and the width of the widest interval. */
void compare(void);

#endif
