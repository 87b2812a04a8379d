/* SPDX-License-Identifier: MIT */
/*
 * What a run says on stdout: one line, CSV or JSON (doc/output-format). All of
 * it is called by main's own thread.
 */
#ifndef HARNESS_REPORT_H
#define HARNESS_REPORT_H

#include <stdbool.h>
#include <stdint.h>

struct sample {
	uint64_t elapsed_ns;
	uint64_t kicks, calls;			/* notifications sent */
	uint64_t guest_spurious, host_spurious; /* woken for nothing */
};

/* Before the first run. conclude() (lib/program.h) prints what is left. */
void report_start(void);

/* The sample is on stdout when this returns, unless JSON waits for the end. */
void report_sample(const struct sample *sample);

/*
 * The same, of queue number @queue, with what it has in latency_result; and then of
 * all that were reported since the last such call, together.
 */
void report_queue(uint32_t queue, const struct sample *sample);
void report_all_queues(void);

#endif
