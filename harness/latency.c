// SPDX-License-Identifier: MIT
#include <inttypes.h>
#include <math.h>
#include <stdio.h>

#include "latency.h"
#include "lib/program.h"
#include "lib/random.h"
#include "main.h"

struct latency latency;
struct schedule schedule;
struct latency_result latency_result;

/* Exponential, and scaled so that they keep the rate to the last digit. */
static double *draw_gaps(double mean)
{
	double *gaps = alloc_pages(LATENCY_GAPS * sizeof(*gaps)), sum = 0;
	uint64_t state = config.seed;

	for (unsigned i = 0; i < LATENCY_GAPS; i++) {
		gaps[i] = -log((random32(&state) + 1.0) / 4294967296.0);
		sum += gaps[i];
	}
	for (unsigned i = 0; i < LATENCY_GAPS; i++)
		gaps[i] *= mean * LATENCY_GAPS / sum;
	return gaps;
}

void latency_init(void)
{
	uint64_t items = 4;

	/* the host looks up what it has taken from a full ring: see verify.c */
	while (items < 2ull * config.ring_size)
		items *= 2;
	latency = (struct latency){
		.start = alloc_pages(items * sizeof(*latency.start)),
		.mask = items - 1,
		.histogram = alloc_pages(sizeof(*latency.histogram)),
	};
	histogram_init(latency.histogram);
	schedule = (struct schedule){ 0 };
	if (!config.rate)
		return;
	schedule.gap = 1e9 / config.rate / ticks.ns;
	if (config.arrivals == ARRIVALS_POISSON)
		schedule.gaps = draw_gaps(schedule.gap);
}

void latency_begin(void)
{
	schedule.now = ticks_now();
	WRITE_ONCE(schedule.first, schedule.now);
}

static void fill(const struct histogram *h, uint64_t elapsed_ns)
{
	struct latency_result *result = &latency_result;
	const struct {
		double share, *ns;
	} wanted[] = {
		{ 0, &result->min_ns },	     { 0.5, &result->p50_ns },
		{ 0.9, &result->p90_ns },    { 0.99, &result->p99_ns },
		{ 0.999, &result->p999_ns }, { 0.9999, &result->p9999_ns },
		{ 1, &result->max_ns },
	};

	for (unsigned i = 0; i < sizeof(wanted) / sizeof(*wanted); i++)
		*wanted[i].ns =
			histogram_quantile(h, wanted[i].share) * ticks.ns;
	result->mean_ns = histogram_mean(h) * ticks.ns;
	result->rate_carried = histogram_n(h) * 1e9 / elapsed_ns;
}

static struct histogram all; /* of every sample, for --histogram */

/*
 * The last buffer was late by more than 1 % of the run, and half of all by a quarter
 * of that or more: so it was not only the end that was late.
 */
static bool grew(uint64_t elapsed_ns)
{
	const double due_ns = schedule.due * ticks.ns;
	const double late_ns = elapsed_ns - due_ns;

	return config.rate && late_ns > 0.01 * due_ns &&
	       latency_result.p50_ns > 0.25 * late_ns;
}

static void finish(const struct histogram *h, uint64_t elapsed_ns)
{
	fill(h, elapsed_ns);
	if (histogram_n(&all))
		histogram_merge(&all, h);
	else
		all = *h;
}

void latency_end(uint64_t elapsed_ns)
{
	schedule.first = 0;
	ticks_end();
	finish(latency.histogram, elapsed_ns);
	if (grew(elapsed_ns))
		warn("the ring does not carry the rate: %" PRIu64 " buffers a "
		     "second were offered, and %.0f came through, so the queue "
		     "grew, and latencies tell how long the run was; give a "
		     "lower --rate, or more idle CPUs",
		     config.rate, latency_result.rate_carried);
}

uint64_t latency_cut(void)
{
	static struct histogram so_far;
	const uint64_t first = READ_ONCE(schedule.first);

	if (!first)
		return 0;
	histogram_copy(&so_far, latency.histogram);
	if (histogram_n(&so_far))
		finish(&so_far, (ticks_now() - first) * ticks.ns);
	return histogram_n(&so_far);
}

void latency_write(void)
{
	const uint64_t n = histogram_n(&all);
	uint64_t below = 0;
	FILE *f = config.histogram;

	if (!f || !n)
		return;
	config.histogram = NULL; /* once */
	fprintf(f, "%12s %14s %10s %14s\n\n", "Value", "Percentile",
		"TotalCount", "1/(1-Percentile)");
	for (unsigned i = 0; i < HISTOGRAM_BUCKETS; i++) {
		double share, value;

		if (!all.count[i])
			continue;
		below += all.count[i];
		share = (double)below / n;
		/* the ends are exact, as in the report */
		value = fmin(fmax(histogram_middle(i), all.min), all.max);
		fprintf(f, "%12.3f %2.12f %10" PRIu64, value * ticks.ns, share,
			below);
		if (below < n) /* the last one has none */
			fprintf(f, " %14.2f", 1 / (1 - share));
		putc('\n', f);
	}
	fprintf(f, "#[Mean = %12.3f, Count = %12" PRIu64 "]\n",
		histogram_mean(&all) * ticks.ns, n);
	output_flush("histogram", f);
}
