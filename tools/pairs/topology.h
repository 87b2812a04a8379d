/* SPDX-License-Identifier: MIT */
/* The CPUs of a machine, and what they share, as /sys tells it. */
#ifndef PAIRS_TOPOLOGY_H
#define PAIRS_TOPOLOGY_H

enum shared { CORE, SOCKET, NODE, L2, LLC, NR_SHARED };

struct cpu {
	int number;
	int shared[NR_SHARED]; /* the same number: shared; -1: not known */
	char type;	       /* of its core: P, E, M or L; 0: all are alike */
};

/* Those that are online, in static memory, and how many; 0: not known. */
unsigned read_topology(struct cpu **cpus);

#endif
