// SPDX-License-Identifier: MIT
/*
 * cacheline: the floor under every ring on this pair of CPUs. How long one
 * cache line takes to go to the other CPU and back, and what each line costs
 * when a block that the other CPU has just written is read, or written.
 */
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>

#include "lib/affinity.h"
#include "lib/barrier.h"
#include "lib/clock.h"
#include "lib/context.h"
#include "lib/crew.h"
#include "lib/memory.h"
#include "lib/program.h"
#include "lib/record.h"
#include "lib/stats.h"

#define BLOCK_LINES 256 /* 16 KiB: in anyone's first-level cache */
#define ROUNDS 200	/* of which the median is taken */
#define TRIPS 200	/* round trips timed together */

static int guest_cpu = -1, host_cpu = -1;
static int format;
static uint32_t repeat = 1;
static bool one_cpu;

static const struct opt opts[] = {
	{ "guest-affinity", "CPU", "pin the one side (not pinned)", OPT_INT,
	  &guest_cpu, 0, INT32_MAX },
	{ "host-affinity", "CPU", "pin the other (not pinned)", OPT_INT,
	  &host_cpu, 0, INT32_MAX },
	{ "repeat", "N", "whole measurements (1)", OPT_U32, &repeat, 1,
	  1000000 },
	OPT_FORMAT(&format),
	{ .name = NULL }
};

static const char usage[] =
	"usage: cacheline [options]\n"
	"Times one cache line's round trip between two CPUs, and what a line\n"
	"costs that the other CPU has just written.\n"
	"\n";

struct floor {
	double trip_ns, trip_min_ns;
	double read_ns, write_ns; /* per line */
};
static struct floor result; /* of the last measurement */

/* Goes back and forth, one higher each time: odd, the guest has passed it. */
static uint64_t ball __cache_aligned;

static struct line {
	uint64_t word;
	char rest[CACHE_LINE - sizeof(uint64_t)];
} * block __cache_aligned;

static void wait_for(uint64_t n)
{
	/* A.acquire: the ball before the block. Pairs with A.release in pass. */
	while (smp_load_acquire(&ball) != n)
		if (one_cpu)
			sched_yield();
}

static void pass(uint64_t n)
{
	/*
	 * A.release: the block before the ball. Pairs with A.acquire in
	 * wait_for.
	 */
	smp_store_release(&ball, n);
}

static void write_block(uint64_t word)
{
	for (int i = 0; i < BLOCK_LINES; i++)
		WRITE_ONCE(block[i].word, word);
	/* No edge: the stores are to have arrived, not only to be in flight. */
	__atomic_thread_fence(__ATOMIC_SEQ_CST);
}

static void read_block(void)
{
	for (int i = 0; i < BLOCK_LINES; i++)
		(void)READ_ONCE(block[i].word);
}

/* Of ns[1..ROUNDS], which it sorts: the round before them warms up. */
static double median(double *ns)
{
	sort_values(ns + 1, ROUNDS);
	return median_of(ns + 1, ROUNDS);
}

static double time_block(uint64_t *n, bool reading)
{
	double ns[1 + ROUNDS];

	for (int i = 0; i <= ROUNDS; i++) {
		uint64_t start;

		pass(*n + 1);
		*n += 2;
		wait_for(*n);
		start = now_ns();
		if (reading)
			read_block();
		else
			write_block(*n);
		ns[i] = (double)(now_ns() - start) / BLOCK_LINES;
	}
	return median(ns);
}

static void guest(void)
{
	double ns[1 + ROUNDS];
	uint64_t n = 0;

	crew_pin("guest-affinity", guest_cpu);
	for (int i = 0; i <= ROUNDS; i++) {
		uint64_t start = now_ns();

		for (int trip = 0; trip < TRIPS; trip++) {
			pass(n + 1);
			n += 2;
			wait_for(n);
		}
		ns[i] = (double)(now_ns() - start) / TRIPS;
	}
	result.trip_ns = median(ns);
	result.trip_min_ns = ns[1];
	result.read_ns = time_block(&n, true);
	result.write_ns = time_block(&n, false);
}

/* Passes the ball back; towards the end it has written the block before. */
static void host(void)
{
	uint64_t n = 1;

	crew_pin("host-affinity", host_cpu);
	for (int i = 0; i < (1 + ROUNDS) * TRIPS; i++, n += 2) {
		wait_for(n);
		pass(n + 1);
	}
	for (int i = 0; i < 2 * (1 + ROUNDS); i++, n += 2) {
		wait_for(n);
		write_block(n);
		pass(n + 1);
	}
}

static void side(void *fn)
{
	((void (*)(void))fn)();
}

static void measure(void)
{
	ball = 0;
	block = alloc_pages(BLOCK_LINES * sizeof(*block));
	crew_run(2, side, (void *[]){ guest, host }, NULL);
	free_all();
}

static const char *const tool = "cacheline";
static uint32_t nr;

static const struct field fields[] = {
	{ "tool", "-", FIELD_WORD, &tool },
	{ "guest_cpu", "-", FIELD_CPU, &guest_cpu },
	{ "host_cpu", "-", FIELD_CPU, &host_cpu },
	{ "sample", "-", FIELD_U32, &nr },
	{ "round_trip_ns", "ns", FIELD_FIXED + 2, &result.trip_ns },
	{ "round_trip_min_ns", "ns", FIELD_FIXED + 2, &result.trip_min_ns },
	{ "read_ns_per_line", "ns", FIELD_FIXED + 3, &result.read_ns },
	{ "write_ns_per_line", "ns", FIELD_FIXED + 3, &result.write_ns },
	CONTEXT_FIELDS,
	{ .name = NULL }
};

static void human(void)
{
	printf("cacheline: round trip %.1f ns (min %.1f); reading %.2f "
	       "ns/line, writing %.2f ns/line (%s)\n",
	       result.trip_ns, result.trip_min_ns, result.read_ns,
	       result.write_ns, cpus_text(guest_cpu, host_cpu));
}

static const struct record record = {
	.fields = fields,
	.human = human,
	.cpu = &guest_cpu,
};

int main(int argc, char **argv)
{
	format = format_default();
	opt_parse_all(argc, argv, opts, usage);
	require_cpu("guest-affinity", guest_cpu);
	require_cpu("host-affinity", host_cpu);
	one_cpu = crew_crowded((int[]){ guest_cpu, host_cpu }, 2);
	if (one_cpu)
		warn("both sides share one CPU: this times the scheduler; two "
		     "CPUs would measure a cache line");

	context_start();
	record_start(format, &record);
	at_end(record_end);
	for (; nr < repeat; nr++) {
		measure();
		record_row();
	}
	conclude();
	return EXIT_DONE;
}
