/* SPDX-License-Identifier: MIT */
/* What the parts of pfifo share: what it was told, and what a run gave. */
#ifndef PFIFO_PFIFO_H
#define PFIFO_PFIFO_H

#include <stdbool.h>
#include <stdint.h>

#include "ptr_ring.h"

#define MAX_THREADS 64
#define BANDS 3

#define BOTH ORDERS /* in turn */

extern struct options {
	uint64_t packets;
	uint32_t size, limit, pool, quota, repeat;
	int order, format;
	int cpus[MAX_THREADS];
	unsigned nr_cpus;
} options;

struct result {
	uint32_t threads;
	int order;
	uint32_t nr;
	uint64_t elapsed_ns, delivered, drops;
};

/* Before the first run, for that many threads at most. */
void get_memory(unsigned most_threads);

struct result run_once(unsigned nr_threads, bool clear_first);

#endif
