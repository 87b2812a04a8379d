// SPDX-License-Identifier: MIT
#include <stdlib.h>
#include <string.h>

#include "lib/affinity.h"
#include "lib/context.h"
#include "lib/memory.h"
#include "lib/program.h"
#include "pfifo.h"
#include "report.h"

#define MAX_COUNTS 16 /* of threads, in one command */

struct options options = {
	.packets = 1000000,
	.size = 60,
	.limit = 1000,
	.pool = 256,
	.quota = 64,
	.repeat = 20,
	.order = BOTH,
};

static const char *threads_text = "1,2,4,8,16", *affinity;

static const struct opt opts[] = {
	{ "threads", "N,N,...", "threads that send (1,2,4,8,16)", OPT_TEXT,
	  &threads_text, 0, 0 },
	{ "order", "head-first|clear-first|both",
	  "what the rings do (both, in "
	  "turn)",
	  OPT_CHOICE, &options.order, 0, 0 },
	{ "packets", "N", "packets in a run, of all threads (1000000)", OPT_U64,
	  &options.packets, 1, UINT64_MAX },
	{ "size", "BYTES", "of a packet (60)", OPT_U32, &options.size, 40,
	  65536 },
	{ "limit", "N", "packets that a band holds (1000)", OPT_U32,
	  &options.limit, 1, 10000000 },
	{ "pool", "N", "packets that a thread has (256)", OPT_U32,
	  &options.pool, 1, 1000000 },
	{ "quota", "N", "packets that one goes on to take (64)", OPT_U32,
	  &options.quota, 1, UINT32_MAX },
	{ "affinity", "CPUS", "pin threads, to 0,2-5 in turn (not pinned)",
	  OPT_TEXT, &affinity, 0, 0 },
	{ "repeat", "N", "runs of each order (20)", OPT_U32, &options.repeat, 1,
	  1000000 },
	OPT_FORMAT(&options.format),
	{ .name = NULL }
};

static const char usage[] =
	"usage: pfifo [options]\n"
	"Threads send packets through three rings of pointers to one device. "
	"Prints packets\n"
	"per second, for both orders in which a ring's consumer can clear its "
	"slots.\n"
	"\n";

static void measure(unsigned nr_threads)
{
	const int both = options.order == BOTH;
	const int first = both ? HEAD_FIRST : options.order;

	for (int i = 0; i <= both; i++)
		run_once(nr_threads, first + i); /* warms up */
	for (uint32_t nr = 0; nr < options.repeat; nr++) {
		for (int i = 0; i <= both; i++) {
			/* A B, B A, so that drift evens out */
			int which = both && nr % 2 ? !i : first + i;
			struct result r = run_once(nr_threads, which);

			r.nr = nr;
			report(&r);
		}
	}
	report_line();
}

static unsigned read_threads(unsigned *counts)
{
	char *rest = strdup(threads_text), *const copy = rest, *word;
	unsigned nr = 0;

	if (!copy)
		die(EXIT_FAILED, "no memory for the command line");
	while ((word = strsep(&rest, ","))) {
		uint64_t n;

		if (nr == MAX_COUNTS || opt_number(word, 1, MAX_THREADS, &n))
			die(EXIT_USAGE,
			    "--threads: '%s' is not a list of at "
			    "most %d numbers from 1 to %d, like 1,2,4",
			    threads_text, MAX_COUNTS, MAX_THREADS);
		counts[nr++] = n;
	}
	free(copy);
	return nr;
}

int main(int argc, char **argv)
{
	unsigned counts[MAX_COUNTS], nr_counts, most = 0;

	options.format = format_default();
	opt_parse_all(argc, argv, opts, usage);
	nr_counts = read_threads(counts);
	options.nr_cpus =
		cpu_list("affinity", affinity, options.cpus, MAX_THREADS);
	for (unsigned i = 0; i < nr_counts; i++)
		most = counts[i] > most ? counts[i] : most;
	get_memory(most);

	context_start();
	report_start();
	for (unsigned i = 0; i < nr_counts; i++)
		measure(counts[i]);
	conclude();
	free_all();
	return EXIT_DONE;
}
