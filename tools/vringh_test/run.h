/* SPDX-License-Identifier: MIT */
/* Guest and host together, and the memory that they share. */
#ifndef VRINGH_TEST_RUN_H
#define VRINGH_TEST_RUN_H

#include "transfer.h"

#define FOREIGN 0x100000000000ull /* where a guest in our process is */

/* Options that are given for CPUs must be so; the others are chosen. */
void choose_cpus(void);

void *map_shared(int fd);
void run_in_turn(struct shared *shared);
void run_parallel(struct shared *shared, int fd);

/* The calls of vringh, one by one. */
void run_steps(struct shared *shared);

#endif
