/* SPDX-License-Identifier: MIT */
/* What programs that explore have in common: their options, and a row a case. */
#ifndef PROVE_CASES_H
#define PROVE_CASES_H

#include "explore.h"

/* An option of one program: of a number, or without one. */
struct prove_option {
	const char *name;
	unsigned *number;
	bool *flag;
	const char *help;
};

/*
 * Runs @run, which says whether all its cases were proved, as the command line
 * has it; @options ends with a name of NULL. Returns the status: 0; 1, a fault; 2,
 * usage; 3, no execution got to what was to be weakened.
 */
int prove_main(int argc, char **argv, const char *name,
	       const struct prove_option *options, bool (*run)(void));

/*
 * Explores and prints: @what, @how, executions, seconds, verdict; and a fault with
 * its schedule. False: a fault.
 */
bool prove_case(const char *what, const char *how,
		const struct prove_thread *threads, unsigned n,
		void (*reset)(void));

#endif
