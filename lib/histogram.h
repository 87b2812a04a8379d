/* SPDX-License-Identifier: MIT */
/*
 * A histogram of whole numbers, of constant size: what a hot loop can fill.
 *
 * Up to 127 each value has a bucket of its own. From there on each power of two is
 * cut into 64 buckets of equal width: those of 2^e to 2^(e+1) - 1 are 2^(e-6) wide.
 * A bucket answers with its middle, so it errs by half its width at most, and
 *
 *	2^(e-6) / 2 / 2^e = 1/128
 *
 * of the value. Above HISTOGRAM_MAX all are in the last bucket.
 */
#ifndef LIB_HISTOGRAM_H
#define LIB_HISTOGRAM_H

#include <stdint.h>

#include "lib/barrier.h"

#define HISTOGRAM_BITS 44 /* in ticks: 2^40 ns up to 16 GHz */
#define HISTOGRAM_MAX ((1ull << HISTOGRAM_BITS) - 1)
#define HISTOGRAM_BUCKETS (64 * (HISTOGRAM_BITS - 5))

/* Zeroes are an empty one, but for min: histogram_init(). */
struct histogram {
	uint64_t sum, min, max; /* exact */
	uint64_t count[HISTOGRAM_BUCKETS];
};

static inline unsigned histogram_bucket(uint64_t value)
{
	unsigned shift;

	if (value < 128)
		return value;
	if (value > HISTOGRAM_MAX)
		return HISTOGRAM_BUCKETS - 1;
	shift = 63 - 6 - __builtin_clzll(value);
	return 64 * shift + (value >> shift);
}

/* By one thread; another may histogram_copy() meanwhile. */
static inline void histogram_add(struct histogram *h, uint64_t value)
{
	uint64_t *count = &h->count[histogram_bucket(value)];

	WRITE_ONCE(*count, *count + 1);
	WRITE_ONCE(h->sum, h->sum + value);
	if (value < h->min)
		WRITE_ONCE(h->min, value);
	if (value > h->max)
		WRITE_ONCE(h->max, value);
}

void histogram_init(struct histogram *h);

/* How many were added. */
uint64_t histogram_n(const struct histogram *h);

/* @from as it is, while another thread adds to it: the mean may miss its latest. */
void histogram_copy(struct histogram *to, const struct histogram *from);

/* Adds all of @from to @to. */
void histogram_merge(struct histogram *to, const struct histogram *from);

/* The least and the greatest value of bucket @i. */
uint64_t histogram_low(unsigned i);
uint64_t histogram_high(unsigned i);

/* What stands for all values of bucket @i. */
double histogram_middle(unsigned i);

/*
 * The value that @share of all, 0 to 1, do not exceed, within 1/128; 0 is min and 1
 * is max, both exact. NAN if there is none.
 */
double histogram_quantile(const struct histogram *h, double share);

/* NAN if there is none. */
double histogram_mean(const struct histogram *h);

#endif
