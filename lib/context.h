/* SPDX-License-Identifier: MIT */
/* Where and with what a measurement was made, as every program reports it. */
#ifndef LIB_CONTEXT_H
#define LIB_CONTEXT_H

#include <stdio.h>

/* Where /proc and /sys are; not "" only in tests. */
extern const char *machine_root;

/* A file below machine_root, to be read; NULL: it is not there. */
FILE *open_machine(const char *path);

/*
 * What tells rows of several machines apart, from context_start() on; NULL: not
 * known. Without commas and quotes: such a row can be cut at its commas.
 */
extern struct context {
	const char *host, *cpu_model, *kernel;
} context;

/* The last fields of a row. */
#define CONTEXT_FIELDS                                                         \
	{ "host", "-", FIELD_WORD, &context.host },                            \
		{ "cpu_model", "-", FIELD_WORD, &context.cpu_model },          \
	{                                                                      \
		"kernel", "-", FIELD_WORD, &context.kernel                     \
	}

/* Before the first run: steal time and throttled periods count from here. */
void context_start(void);

/* Prints the "context" object of JSON; the governor is that of @cpu. */
void context_json(int cpu);

/* "guest CPU 0, host not pinned", in static memory. Below 0: not pinned. */
const char *cpus_text(int guest_cpu, int host_cpu);

/* "CPU 0" or "not pinned", in static memory that the call after next reuses. */
const char *cpu_text(int cpu);

#endif
