/* SPDX-License-Identifier: MIT */
/*
 * --phases: when in a run the two sides stream, and when they fight over one
 * line. The guest takes a point at the start, every few thousand buffers, so
 * that it costs nothing, and at the end; they are written after the run.
 */
#ifndef HARNESS_PHASES_H
#define HARNESS_PHASES_H

#include <stdint.h>

#include "side.h"

/* Main thread, before a run. */
void phases_start(void);

/*
 * Guest's thread: @in_flight is what it has added and not got back. Not
 * inlined, because the guest's loop needs its registers for the ring, and not
 * cold, or gcc would take the loop for cold, too.
 */
__attribute__((noinline)) void phases_point(uint64_t finished,
					    uint64_t in_flight,
					    const struct side *guest,
					    const struct side *host);

/*
 * Main thread, after a run or to end one: writes its points that are not written
 * yet, as CSV, to config.phases.
 */
void phases_write(void);

#endif
