/* SPDX-License-Identifier: MIT */
/* What is printed: a run, a line of the table, or all runs at the end. */
#ifndef PFIFO_REPORT_H
#define PFIFO_REPORT_H

#include "pfifo.h"

void report_start(void);

/* A run is over; those with the same number of threads make a line. */
void report(const struct result *r);
void report_line(void);

/* What has not been printed yet. */
void report_end(void);

#endif
