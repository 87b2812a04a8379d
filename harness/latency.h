/* SPDX-License-Identifier: MIT */
/*
 * How long each buffer takes, and when the guest may add it. In the closed loop a
 * buffer's time begins just before add_inbuf; in the open one (--rate) when it was
 * due, however late the guest is, so that a stop counts for all that it delays. It
 * ends when get_buf hands it back, or, where nothing completes, when use_buf gives
 * it to the host. That side's thread records it.
 */
#ifndef HARNESS_LATENCY_H
#define HARNESS_LATENCY_H

#include <stdbool.h>
#include <stdint.h>

#include "harness/config.h"
#include "lib/barrier.h"
#include "lib/cache_line.h"
#include "lib/histogram.h"
#include "lib/ticks.h"

/* Gaps of --arrivals poisson, drawn beforehand: a power of two, used in turn. */
#define LATENCY_GAPS 65536

/* Not written while a run lasts, so both threads have it to hand. */
struct latency {
	uint64_t *start; /* ticks, by number; as many as are in flight */
	uint64_t mask;
	struct histogram *histogram; /* of ticks */
} __cache_aligned;
ASSERT_APART(struct latency);
extern struct latency latency;

/* The guest's own, in ticks. */
struct schedule {
	uint64_t now;	/* as of its last look */
	uint64_t first; /* the run begins; 0: it does not yet */
	double due;	/* after first: the next buffer */
	double gap;	/* between two, on average */
	double *gaps;	/* NULL: all alike */
} __cache_aligned;
ASSERT_APART(struct schedule);
extern struct schedule schedule;

/* Main thread, before the other two are there: memory. */
void latency_init(void);

/* Guest, just before its first buffer: time. */
void latency_begin(void);

static inline bool latency_reached(void)
{
	return schedule.now - schedule.first >= (uint64_t)schedule.due;
}

/* Guest: is the next buffer due? Only with --rate. */
static inline bool latency_due(void)
{
	/* a guest that is late need not look at the clock again */
	if (latency_reached())
		return true;
	schedule.now = ticks_now();
	return latency_reached();
}

/* Guest: just before it adds buffer number @seq; again if the ring was full. */
static inline void latency_add(uint64_t seq)
{
	latency.start[seq & latency.mask] =
		config.rate ? schedule.first + (uint64_t)schedule.due :
			      ticks_now();
}

/* Guest: buffer number @seq is added, with --rate. */
static inline void latency_added(uint64_t seq)
{
	schedule.due += schedule.gaps ? schedule.gaps[seq % LATENCY_GAPS] :
					schedule.gap;
}

static inline uint64_t latency_record(uint64_t seq)
{
	const uint64_t now = ticks_after_loads();
	const uint64_t start = latency.start[seq & latency.mask];

	/* two CPUs' counters may differ by less than a line takes */
	histogram_add(latency.histogram, now > start ? now - start : 0);
	return now;
}

/* Guest: buffer number @seq is back. */
static inline void latency_back(uint64_t seq)
{
	const uint64_t now = latency_record(seq);

	/* in the closed loop nobody asks, and the store alone costs 5 ns */
	if (config.rate)
		schedule.now = now;
}

/* Host, where nothing comes back: it has buffer number @seq. */
static inline void latency_used(uint64_t seq)
{
	latency_record(seq);
}

/* ns until the next buffer is due; 0: it is. */
static inline uint64_t latency_due_in_ns(void)
{
	const double left = schedule.due - (ticks_now() - schedule.first);

	return left > 0 ? left * ticks.ns : 0;
}

/* Main thread, after a run that took @elapsed_ns: fills latency_result. */
void latency_end(uint64_t elapsed_ns);

/*
 * For a run that is ended early, while its threads go on: the same, of the
 * buffers so far. Returns how many these are; 0: no run is under way.
 */
uint64_t latency_cut(void);

/* At the end: the --histogram of all samples. */
void latency_write(void);

extern struct latency_result {
	double rate_carried; /* buffers per second */
	double mean_ns, min_ns, p50_ns, p90_ns, p99_ns, p999_ns, p9999_ns,
		max_ns;
} latency_result;

#endif
