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
	uint64_t guest_spurious, host_spurious;	/* woken for nothing */
};

void report_start(void);

/*
 * The sample is on stdout when this returns; JSON waits for report_end(), or for
 * an end before that.
 */
void report_sample(const struct sample *sample);

void report_end(void);

#endif
