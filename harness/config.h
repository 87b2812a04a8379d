/* SPDX-License-Identifier: MIT */
#ifndef HARNESS_CONFIG_H
#define HARNESS_CONFIG_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#include "lib/barrier.h"

enum arrivals { ARRIVALS_EVEN, ARRIVALS_POISSON };

/* The command line. Constant while the threads run, on lines of its own. */
extern struct config {
	uint64_t run_cycles;  /* buffers in a run */
	uint64_t outstanding; /* --outstanding: max buffers in flight */
	uint64_t in_flight;   /* the same, and no more than --pool */
	uint32_t ring_size;   /* entries */
	uint32_t batch;	      /* adds per kick, uses per call */
	uint32_t param;	      /* the layout's own; 0: its default */
	uint32_t origin;      /* where counters start; not 0 only in tests */
	uint32_t guest_work, host_work; /* cycles burnt per buffer */
	uint32_t backoff; /* cycles to wait after polling in vain */
	uint32_t exit_cycles;
	uint32_t repeat;
	uint32_t timeout_s;	 /* 0: never */
	uint32_t queues;	 /* at once; each has a process */
	int guest_cpu, host_cpu; /* -1: not pinned; see config_queue() */
	int format;
	FILE *phases;	 /* NULL: not asked for */
	FILE *histogram; /* likewise */
	uint64_t rate;	 /* buffers per second offered; 0: closed loop */
	uint64_t seed;	 /* of ARRIVALS_POISSON */
	int arrivals;
	uint64_t pool;		/* buffers of --payload, used in turn */
	uint32_t payload;	/* bytes; 0: nobody looks inside a buffer */
	bool to_host, to_guest; /* the payload's ways */
	bool latency;
	bool sleep, relax, exit, poll_first, verify, quiet;
	bool one_cpu; /* guest and host share one CPU */
} __cache_aligned config;
ASSERT_APART(struct config);

/*
 * Fills in config from the command line of a ring's binary. Ends the program
 * with EXIT_USAGE if the command line is wrong, and with EXIT_CANNOT if it asks
 * for what this machine or this layout cannot do.
 */
void config_init(int argc, char **argv);

/* From here on config has the CPUs of that queue; 0 is what it begins with. */
void config_queue(uint32_t queue);

#endif
