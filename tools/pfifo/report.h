/* SPDX-License-Identifier: MIT */
/* What is printed: a run, a line of the table, or all runs at the end. */
#ifndef PFIFO_REPORT_H
#define PFIFO_REPORT_H

#include "pfifo.h"

/* Before the first run; conclude() prints what has not been printed by then. */
void report_start(void);

/* A run is over; those with the same number of threads make a line. */
void report(const struct result *r);
void report_line(void);

#endif
