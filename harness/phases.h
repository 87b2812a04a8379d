/* SPDX-License-Identifier: MIT */
/*
 * --phases: where within a run the two sides stream, and where they fight over
 * one line. Points are taken by the guest at the start, every few thousand
 * buffers, so that they cost nothing, and at the end; they are written when the
 * run is over.
 */
#ifndef HARNESS_PHASES_H
#define HARNESS_PHASES_H

#include <stdint.h>

#include "side.h"

/* Main's thread, before a run. */
void phases_start(void);

/*
 * Guest's thread: @in_flight is what it has added and not got back. Not inlined:
 * the guest's loop needs its registers for the ring. Not cold either, or gcc
 * takes the loop for cold, too.
 */
__attribute__((noinline)) void phases_point(uint64_t finished,
					    uint64_t in_flight,
					    const struct side *guest,
					    const struct side *host);

/* Main's thread, after a run: its points, as CSV, to config.phases if set. */
void phases_write(void);

#endif
