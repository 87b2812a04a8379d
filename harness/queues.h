/* SPDX-License-Identifier: MIT */
/*
 * --queues: several pairs of guest and host at once, each a process with a ring of
 * its own, as the queues of a device with many are. The main process starts them,
 * has all of them begin each run together, and reports; one that fails, hangs or is
 * killed ends all. A process whose parent is gone is killed by the kernel.
 *
 * All of it is called by main's own thread, but for queues_crew(). Nothing here does
 * anything where there is one queue.
 */
#ifndef HARNESS_QUEUES_H
#define HARNESS_QUEUES_H

#include "harness/report.h"
#include "lib/crew.h"

/*
 * Before report_start() and the first thread. Returns in the main process; the
 * others call @run whenever they are told to, and end with it.
 */
void queues_start(struct sample (*run)(void));

/* Main process: one run of all of them, and its rows. */
void queues_run(void);

/* Main process, after the last run: waits until they have ended. */
void queues_end(void);

/* Main process: ends them at once, if there are any. By whichever thread dies. */
void queues_kill(void);

/* A queue's process: where both its threads meet those of the others. */
struct crew *queues_crew(void);

/* A queue's watchdog: we are alive. */
void queues_beat(void);

#endif
