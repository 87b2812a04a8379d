// SPDX-License-Identifier: MIT
/*
 * ptr_ring_turns: what each side of ptr_ring.h does by itself. One side fills
 * the ring while the other waits, then that one empties it, so that nobody
 * waits for whom it might slow down; what is left is the code, and lines that
 * are in the other's cache. The order of clearing changes from turn to turn, on
 * the same memory.
 */
#include <inttypes.h>
#include <math.h>
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
#include "ptr_ring.h"

enum side { FILL, DRAIN, SIDES };

static uint32_t size = 1000, batch, turns = 2000;
static int cpus[SIDES] = { -1, -1 };
static int format;

static const struct opt opts[] = {
	{ "s", "SIZE", "slots in the ring (1000)", OPT_U32, &size, 2,
	  10000000 },
	{ "b", "N", "slots cleared at a time (0: two cache lines' worth)",
	  OPT_U32, &batch, 0, UINT32_MAX },
	{ "turns", "N", "times that the ring is filled, in each order (2000)",
	  OPT_U32, &turns, 1, 20000 },
	{ "guest-affinity", "CPU", "pin who fills (not pinned)", OPT_INT,
	  &cpus[FILL], 0, INT32_MAX },
	{ "host-affinity", "CPU", "pin who drains (not pinned)", OPT_INT,
	  &cpus[DRAIN], 0, INT32_MAX },
	OPT_FORMAT(&format),
	{ .name = NULL }
};

static const char usage[] =
	"usage: ptr_ring_turns [options]\n"
	"Times filling and draining a ring of pointers, one after the other, "
	"with slots\n"
	"cleared after the consumer's head moves and before it.\n"
	"\n";

static struct ptr_ring ring;
static struct crew crew;

static uint32_t turn __cache_aligned; /* even: who fills */

static double *ns[SIDES][ORDERS]; /* per pointer, of each turn */

/* A B, B A, so that drift evens out. */
static enum ptr_ring_order order_of(uint32_t nr)
{
	return (nr ^ nr >> 1) & 1 ? CLEAR_FIRST : HEAD_FIRST;
}

static uint32_t this_turn(void)
{
	/*
	 * T.acquire: the turn before what is done in it. Pairs with T.release
	 * in pass_turn.
	 */
	return smp_load_acquire(&turn);
}

static void await_turn(uint32_t nr)
{
	while (this_turn() != nr)
		if (crew.crowded)
			sched_yield();
}

static void pass_turn(uint32_t nr)
{
	/*
	 * T.release: what was done in the turn before the turn. Pairs with
	 * T.acquire in this_turn.
	 */
	smp_store_release(&turn, nr);
}

static void fill_once(void)
{
	uintptr_t value = 1;

	while (!ptr_ring_produce(&ring, (void *)value))
		value++;
	if (value != size + 1)
		die(EXIT_FAILED,
		    "%" PRIuPTR " pointers were produced, not %" PRIu32,
		    value - 1, size);
}

static void drain_once(void)
{
	uintptr_t value = 0;
	void *ptr;

	while ((ptr = ptr_ring_consume(&ring)))
		if (ptr != (void *)++value)
			die(EXIT_FAILED,
			    "pointer %" PRIuPTR " came where %" PRIuPTR
			    " was due",
			    (uintptr_t)ptr, value);
	if (value != size)
		die(EXIT_FAILED,
		    "%" PRIuPTR " pointers were consumed, not %" PRIu32, value,
		    size);
}

static void run_side(void *arg)
{
	const enum side side = *(enum side *)arg;

	crew_pin(side == FILL ? "guest-affinity" : "host-affinity", cpus[side]);
	crew_meet(&crew);
	for (uint32_t nr = 0; nr < 2 * turns; nr++) {
		enum ptr_ring_order order = order_of(nr);
		uint64_t start_ns;

		await_turn(2 * nr + side);
		if (side == FILL)
			ring.clear_first = order == CLEAR_FIRST;
		start_ns = now_ns();
		if (side == FILL)
			fill_once();
		else
			drain_once();
		ns[side][order][nr / 2] = (double)(now_ns() - start_ns) / size;
		pass_turn(2 * nr + side + 1);
	}
}

/* ---- Report ---- */

static uint32_t done; /* turns in each order */
static struct estimate medians[SIDES][ORDERS], changes[SIDES];

static void *numbers(void)
{
	void *p = calloc(turns, sizeof(double));

	if (!p)
		die(EXIT_FAILED,
		    "--turns: no memory for %" PRIu32 " samples; "
		    "give fewer",
		    turns);
	return p;
}

static void summarize(void)
{
	double *logs = numbers();

	for (int side = 0; side < SIDES; side++) {
		for (uint32_t i = 0; i < done; i++)
			logs[i] = log(ns[side][HEAD_FIRST][i] /
				      ns[side][CLEAR_FIRST][i]);
		sort_values(logs, done);
		changes[side] = hodges_lehmann(logs, done, ALPHA_FIXED);
		for (int order = 0; order < ORDERS; order++) {
			sort_values(ns[side][order], done);
			medians[side][order] = median_estimate(
				ns[side][order], done, ALPHA_FIXED);
		}
	}
	free(logs);
}

/* CSV has a row for each side and order, the others one for each side. */
static const char *layout, *side_name;
static double ns_per_buffer, clear_first_ns, head_first_ns;
static double change_percent, change_low, change_high;

#define SETTINGS                                                               \
	{ "guest_cpu", "-", FIELD_CPU, &cpus[FILL] },                          \
		{ "host_cpu", "-", FIELD_CPU, &cpus[DRAIN] },                  \
		{ "ring_size", "slots", FIELD_U32, &size },                    \
		{ "batch", "slots", FIELD_U32, &ring.batch },                  \
	{                                                                      \
		"turns", "-", FIELD_U32, &done                                 \
	}

static const struct field csv_fields[] = {
	{ "layout", "-", FIELD_WORD, &layout },
	SETTINGS,
	{ "side", "-", FIELD_WORD, &side_name },
	{ "ns_per_buffer", "ns", FIELD_FIXED + 4, &ns_per_buffer },
	CONTEXT_FIELDS,
	{ .name = NULL }
};

static const struct field json_head[] = { SETTINGS, { .name = NULL } };

static const struct field json_sides[] = {
	{ "side", "-", FIELD_WORD, &side_name },
	{ "clear_first_ns", "ns", FIELD_FIXED + 4, &clear_first_ns },
	{ "head_first_ns", "ns", FIELD_FIXED + 4, &head_first_ns },
	{ "change_percent", "%", FIELD_FIXED + 4, &change_percent },
	{ "change_low", "%", FIELD_FIXED + 4, &change_low },
	{ "change_high", "%", FIELD_FIXED + 4, &change_high },
	{ .name = NULL }
};

static void human(void)
{
	printf("%-6s  %11.3f  %10.3f  %+.2f %%", side_name, clear_first_ns,
	       head_first_ns, change_percent);
	if (isfinite(change_low))
		printf(" [%+.2f, %+.2f]%s", change_low, change_high,
		       change_low <= 0 && change_high >= 0 ?
			       " no difference shown" :
			       "");
	putchar('\n');
}

static const struct record csv = { .fields = csv_fields, .human = human };
static const struct record json = {
	.fields = json_sides,
	.head = json_head,
	.rows = "sides",
	.cpu = &cpus[FILL],
};

static void print_side(int side)
{
	static const char *const names[] = { "ptr_ring_turns",
					     "ptr_ring_turns_clear_first" };

	side_name = side == FILL ? "fill" : "drain";
	clear_first_ns = medians[side][CLEAR_FIRST].value;
	head_first_ns = medians[side][HEAD_FIRST].value;
	change_percent = 100 * expm1(changes[side].value);
	change_low = 100 * expm1(changes[side].low);
	change_high = 100 * expm1(changes[side].high);
	if (format != FORMAT_CSV) {
		record_row();
		return;
	}
	for (int order = 0; order < ORDERS; order++) {
		layout = names[order];
		ns_per_buffer = medians[side][order].value;
		record_row();
	}
}

/* What there is by now: main's thread, while the sides may still be at it. */
static void report(void)
{
	done = this_turn() / (SIDES * ORDERS);
	if (!done)
		return;
	summarize();
	if (format == FORMAT_HUMAN)
		printf("ptr_ring_turns: size %" PRIu32 ", %" PRIu32 " turns in "
		       "each order; median ns/pointer (%s)\n"
		       "        clear first  head first  time of head first\n",
		       size, done, cpus_text(cpus[FILL], cpus[DRAIN]));
	record_start(format, format == FORMAT_JSON ? &json : &csv);
	for (int side = 0; side < SIDES; side++)
		print_side(side);
	record_end();
}

int main(int argc, char **argv)
{
	static enum side sides[SIDES] = { FILL, DRAIN };
	void *args[SIDES] = { &sides[FILL], &sides[DRAIN] };

	format = format_default();
	opt_parse_all(argc, argv, opts, usage);
	require_cpu("guest-affinity", cpus[FILL]);
	require_cpu("host-affinity", cpus[DRAIN]);
	crew = (struct crew){ SIDES, 0, crew_crowded(cpus, SIDES) };

	for (int side = 0; side < SIDES; side++)
		for (int order = 0; order < ORDERS; order++)
			ns[side][order] = numbers();
	ptr_ring_init_at(&ring, alloc_pages(size * sizeof(void *)), size,
			 batch);
	context_start();
	at_end(report);
	crew_run(SIDES, run_side, args, NULL);
	conclude();
	for (int side = 0; side < SIDES; side++)
		for (int order = 0; order < ORDERS; order++)
			free(ns[side][order]);
	free_all();
	return EXIT_DONE;
}
