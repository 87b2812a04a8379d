/* SPDX-License-Identifier: MIT */
/*
 * What is said about a sample, and how sure it is. Nothing here assumes a
 * shape: every interval comes from ranks. @alpha is how often an interval may
 * miss: 0.05 for one of 95 %.
 */
#ifndef LIB_STATS_H
#define LIB_STATS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct estimate {
	double value;
	bool has_interval; /* false: too few values for @alpha */
	double low, high;  /* the interval; NAN without one */
};

void sort_values(double *x, size_t n);

/* @n is at least 1. */
double median_of(const double *sorted, size_t n);

/*
 * Ranks of an interval: it goes from the k-th smallest to the k-th largest, of
 * the values for a median, of the n(n+1)/2 averages of two values (each with
 * itself too) for a pseudo-median. 0: no interval at this @alpha.
 */
uint64_t median_rank(uint64_t n, double alpha);
uint64_t signed_rank(uint64_t n, double alpha);

/* The median with its order-statistic interval. @n is at least 1. */
struct estimate median_estimate(const double *sorted, size_t n, double alpha);

/*
 * The Hodges-Lehmann estimate, the median of all averages of two values, with
 * the interval that Wilcoxon's signed ranks give. @n is at least 1.
 */
struct estimate hodges_lehmann(const double *sorted, size_t n, double alpha);

/*
 * What differs by less, relative to the median, may be the last digits of a
 * rounded figure or a step of the clock: it makes no outlier and no groups. Of
 * a figure of three digits, like 2.01, the last one is half a per cent.
 */
#define RESOLUTION 0.005

/*
 * Tukey's outer fences: what lies more than three interquartile ranges outside
 * the quartiles is an outlier. If the quartiles are nearly the same, it takes
 * RESOLUTION.
 */
void outer_fences(const double *sorted, size_t n, double *low, double *high);

struct groups {
	double centre[2]; /* medians of the two */
	double share[2];  /* parts of 1 */
};

/* Does the sample fall into two groups? Fills in @groups if it does. */
bool two_groups(const double *sorted, size_t n, struct groups *groups);

/*
 * How many decimals an interval and its estimate deserve: one or two digits of
 * half its width are shown, two if they are 35 or less (the rule of the
 * Particle Data Group; the GUM, 7.2.6, allows two at most). Below 0: tens,
 * hundreds ... At most MOST_DECIMALS, as a figure of ns per buffer has no more.
 */
#define MOST_DECIMALS 3
int interval_decimals(double low, double high);

/* From 0 up, with so many decimals, or more where it would read 0. */
void percent_text(char to[32], double percent, int decimals);

/*
 * The alpha for an interval that is to miss 5 times in 100. If the data decide
 * when to stop, they now and then stop too soon, at an interval that is narrow
 * by luck: at 0.05 it then misses up to 7 times in 100 with a look after every
 * round, 6.5 with the looks of next_look(). At 0.04 it misses 5 times at most,
 * as the simulation in tests/unit/stats.c shows.
 */
#define ALPHA_FIXED 0.05   /* the number of rounds was fixed beforehand */
#define ALPHA_LOOKING 0.04 /* it ends at the first look that is narrow */

/* After how many rounds the next look is due, @n being over: 12, 14, 16 ... */
uint64_t next_look(uint64_t n);

#endif
