/* SPDX-License-Identifier: MIT */
#ifndef VRINGH_TEST_REPORT_H
#define VRINGH_TEST_REPORT_H

#include "transfer.h"

/* Prints the one sample of a run, in the format asked for. */
void report(const struct shared *shared);

#endif
