// SPDX-License-Identifier: MIT
/*
 * The histogram against the samples themselves, sorted: every quantile within
 * 1/128, whatever their distribution; and what must be exact.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "lib/histogram.h"
#include "lib/random.h"
#include "tests/check.h"

#define SAMPLES 20000

static struct histogram histogram, parts[2];
static uint64_t values[SAMPLES], state = RANDOM_SEED;

/* Above 0, at most 1. */
static double fraction(void)
{
	return (random32(&state) + 1.0) / 4294967296.0;
}

static uint64_t exponential(void)
{
	return -log(fraction()) * 3000;
}

static uint64_t two_points(void)
{
	return random32(&state) % 100 ? 250 : 1000000;
}

static uint64_t constant(void)
{
	return 12345;
}

/* Pareto, of exponent 1: some values are thousands of times the median. */
static uint64_t heavy_tail(void)
{
	return 100 / fraction();
}

static uint64_t near_the_low_end(void)
{
	return random32(&state) % 4;
}

static uint64_t near_the_high_end(void)
{
	return HISTOGRAM_MAX - random32(&state) % 1000;
}

static uint64_t every_magnitude(void)
{
	return random_next(&state) >> (64 - HISTOGRAM_BITS) >>
	       random32(&state) % HISTOGRAM_BITS;
}

static int by_value(const void *a, const void *b)
{
	const uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;

	return (x > y) - (x < y);
}

static void compare(const char *name, uint64_t (*draw)(void))
{
	double sum = 0;

	histogram_init(&histogram);
	histogram_init(&parts[0]);
	histogram_init(&parts[1]);
	for (unsigned i = 0; i < SAMPLES; i++) {
		values[i] = draw();
		sum += values[i];
		histogram_add(&parts[i % 3 == 0], values[i]);
	}
	qsort(values, SAMPLES, sizeof(*values), by_value);
	histogram_merge(&histogram, &parts[0]);
	histogram_merge(&histogram, &parts[1]);
	for (unsigned i = 1; i <= 10000; i++) {
		const double share = i / 10000.0;
		const uint64_t exact =
			values[(i * SAMPLES + 9999ull) / 10000 - 1];
		const double got = histogram_quantile(&histogram, share);

		check(fabs(got - exact) <= exact / 128.0,
		      "%g of them: %g, and sorted it is %llu", share, got,
		      (unsigned long long)exact);
	}
	report("histogram: %s, within 1/128 of the samples sorted", name);
	check(histogram.min == values[0] &&
		      histogram.max == values[SAMPLES - 1],
	      "min %llu, max %llu", (unsigned long long)histogram.min,
	      (unsigned long long)histogram.max);
	check(fabs(histogram_mean(&histogram) - sum / SAMPLES) <=
		      sum / SAMPLES * 1e-9,
	      "mean %g, not %g", histogram_mean(&histogram), sum / SAMPLES);
	report("histogram: %s, with exact ends and mean", name);
}

static void counts_add_up(void)
{
	uint64_t n = 0;

	for (unsigned i = 0; i < HISTOGRAM_BUCKETS; i++)
		n += histogram.count[i];
	check(n == SAMPLES && histogram_n(&histogram) == n,
	      "%llu counted, %llu told", (unsigned long long)n,
	      (unsigned long long)histogram_n(&histogram));
	report("histogram: merged, the counts add up");
}

/* Buckets follow each other without a gap, and hold their own ends. */
static void buckets_are_whole(void)
{
	for (unsigned i = 0; i < HISTOGRAM_BUCKETS; i++) {
		const uint64_t low = histogram_low(i), high = histogram_high(i);

		check(histogram_bucket(low) == i && histogram_bucket(high) == i,
		      "bucket %u: %llu to %llu", i, (unsigned long long)low,
		      (unsigned long long)high);
		check(!i || histogram_high(i - 1) + 1 == low,
		      "bucket %u does not begin where %u ends", i, i - 1);
		check((high - low) / 2.0 <= low / 128.0,
		      "bucket %u is too wide: %llu to %llu", i,
		      (unsigned long long)low, (unsigned long long)high);
	}
	check(histogram_high(HISTOGRAM_BUCKETS - 1) == HISTOGRAM_MAX,
	      "the last one ends at %llu",
	      (unsigned long long)histogram_high(HISTOGRAM_BUCKETS - 1));
	report("histogram: no gap between buckets, none too wide");
}

static void copies(void)
{
	static struct histogram copy;

	histogram_copy(&copy, &histogram);
	check(!memcmp(&copy, &histogram, sizeof(copy)), "it differs");
	report("histogram: a copy is the same");
}

static void beyond(void)
{
	histogram_init(&histogram);
	check(isnan(histogram_quantile(&histogram, 0.5)) &&
		      isnan(histogram_mean(&histogram)),
	      "something of nothing");
	report("histogram: nothing has no quantile");
	histogram_add(&histogram, UINT64_MAX);
	check(histogram.count[HISTOGRAM_BUCKETS - 1] == 1, "it is lost");
	report("histogram: what is too large is in the last bucket");
}

int main(void)
{
	compare("exponential", exponential);
	compare("two points", two_points);
	compare("constant", constant);
	compare("a heavy tail", heavy_tail);
	compare("near the low end", near_the_low_end);
	compare("near the high end", near_the_high_end);
	compare("every magnitude", every_magnitude);
	counts_add_up();
	copies();
	buckets_are_whole();
	beyond();
	return finish();
}
