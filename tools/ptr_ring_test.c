// SPDX-License-Identifier: MIT
/*
 * ptr_ring_test: times ptr_ring.h by itself, and checks each pointer. What is
 * passed is no address but a number that tells who produced it, and when.
 */
#include <inttypes.h>
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
#include "ptr_ring.h"

#define __hot_inline inline __attribute__((always_inline))

#define MAX_SIDE 64 /* threads on one side */
#define NR_BITS 6   /* of a value, for the producer's number */
#define MAX_COUNT (UINTPTR_MAX >> (NR_BITS + 1))
#define MAX_SIZE 10000000
#define MAX_CHUNK 1024 /* pointers that are consumed at a time */

static uint64_t count = 10000000;
static uint32_t size = 1000, batch, chunk = 1;
static uint32_t producers = 1, consumers = 1, mode = 1;
static uint32_t backoff, repeat = 1;
static const char *guest_list, *host_list;
static bool clear_first;
static int format;

static const struct opt opts[] = {
	{ "s", "SIZE", "slots in the ring (1000)", OPT_U32, &size, 2,
	  MAX_SIZE },
	{ "m", "MODE", "0: one thread fills and empties; 1: two sides (1)",
	  OPT_U32, &mode, 0, 1 },
	{ "N", "COUNT", "pointers in a run (10000000)", OPT_U64, &count, 1,
	  MAX_COUNT },
	{ "b", "N", "slots cleared at a time (0: two cache lines' worth)",
	  OPT_U32, &batch, 0, UINT32_MAX },
	{ "k", "N", "pointers consumed at a time (1)", OPT_U32, &chunk, 1,
	  MAX_CHUNK },
	{ "p", "N", "producers (1); several take a lock", OPT_U32, &producers,
	  1, MAX_SIDE },
	{ "c", "N", "consumers (1); several take a lock", OPT_U32, &consumers,
	  1, MAX_SIDE },
	{ "clear-first", NULL, "clear slots before the head moves, not after",
	  OPT_SET, &clear_first, 0, 0 },
	{ "guest-affinity", "CPUS",
	  "pin producers, to 0,2-5 in turn (not "
	  "pinned)",
	  OPT_TEXT, &guest_list, 0, 0 },
	{ "host-affinity", "CPUS", "pin consumers (not pinned)", OPT_TEXT,
	  &host_list, 0, 0 },
	{ "backoff", "N", "cycles to wait after polling in vain (0)", OPT_U32,
	  &backoff, 0, 1000000000 },
	{ "hold", "N", NULL, OPT_U32, &backoff, 0, 1000000000 },
	{ "repeat", "N", "whole runs, each on fresh memory (1)", OPT_U32,
	  &repeat, 1, 1000000 },
	OPT_FORMAT(&format),
	{ .name = NULL }
};

static const char usage[] =
	"usage: ptr_ring_test [options]\n"
	"Times a ring of pointers and checks each pointer: consumed once, in "
	"its\n"
	"producer's order.\n"
	"\n";

static struct ptr_ring ring;
static struct crew crew;

/* Producers that have ended; while one has not, an empty ring says nothing. */
static unsigned ended __cache_aligned;

static struct thread {
	unsigned nr; /* among its side */
	bool consumes;
	int cpu;
	uint64_t start_ns, end_ns;
	uint64_t taken, sum;	/* consumer: how many, and of what */
	uint64_t due[MAX_SIDE]; /* consumer: each producer's next */
} __cache_aligned threads[2 * MAX_SIDE];
ASSERT_APART(struct thread);

/* ---- What is passed ---- */

/* Never NULL: the first of each producer is number 1. */
static __hot_inline uintptr_t value(unsigned nr, uint64_t seq)
{
	return (uintptr_t)(seq + 1) << NR_BITS | nr;
}

static uint64_t share(unsigned nr)
{
	return count / producers + (nr < count % producers);
}

/* Sums of these tell sets of values apart, but for a chance of 2^-64. */
static __hot_inline uint64_t mix(uint64_t v)
{
	v *= 0x9e3779b97f4a7c15;
	v ^= v >> 29;
	return v * 0xbf58476d1ce4e5b9;
}

__attribute__((cold, noreturn)) static void wrong(const struct thread *me,
						  uintptr_t v)
{
	unsigned nr = v % MAX_SIDE;

	die(EXIT_FAILED,
	    "consumer %u got number %" PRIu64 " of producer %u, "
	    "which is not %s %" PRIu64,
	    me->nr, (uint64_t)(v >> NR_BITS), nr,
	    consumers == 1 ? "number" : "from number", me->due[nr]);
}

/* One consumer knows what comes next; of several each knows what cannot. */
static __hot_inline void check(struct thread *me, void *ptr, const bool alone)
{
	uintptr_t v = (uintptr_t)ptr;
	unsigned nr = v % MAX_SIDE;
	uint64_t seq = v >> NR_BITS;

	if (alone ? seq != me->due[nr] : seq < me->due[nr])
		wrong(me, v);
	me->due[nr] = seq + 1;
	if (alone)
		return;
	me->taken++;
	me->sum += mix(v);
}

static void check_all(void)
{
	uint64_t taken = 0, sum = 0, due = 0;

	for (unsigned i = 0; i < producers + consumers; i++) {
		taken += threads[i].taken;
		sum += threads[i].sum;
		for (unsigned nr = 0; nr < producers; nr++)
			due += threads[i].due[nr] - 1;
	}
	if (consumers == 1)
		taken = due;
	else
		for (unsigned nr = 0; nr < producers; nr++)
			for (uint64_t seq = 0; seq < share(nr); seq++)
				sum -= mix(value(nr, seq));
	if (taken != count)
		die(EXIT_FAILED,
		    "%" PRIu64 " pointers were consumed, not %" PRIu64, taken,
		    count);
	if (consumers > 1 && sum)
		die(EXIT_FAILED, "some pointers were lost and others consumed "
				 "twice");
}

/* ---- The two sides ---- */

/* One look in vain. */
static __hot_inline void poll_pause(void)
{
	cpu_relax();
	if (crew.crowded)
		sched_yield();
}

static __hot_inline void produce(uintptr_t v, const bool locked)
{
	void *ptr = (void *)v;

	while (locked ? ptr_ring_produce_mp(&ring, ptr) :
			ptr_ring_produce(&ring, ptr)) {
		do
			poll_pause();
		while (!locked && ptr_ring_full(&ring));
		if (backoff)
			burn_cycles(backoff);
	}
}

static __hot_inline void produce_all(struct thread *me, const bool locked)
{
	const uint64_t to = share(me->nr);
	const unsigned nr = me->nr;

	for (uint64_t seq = 0; seq < to; seq++)
		produce(value(nr, seq), locked);
}

static __hot_inline uint32_t take(void **ptrs, const bool chunked,
				  const bool locked)
{
	uint32_t freed;

	if (chunked)
		return locked ? ptr_ring_consume_batched_mc(&ring, ptrs, chunk,
							    &freed) :
				ptr_ring_consume_batched(&ring, ptrs, chunk,
							 &freed);
	*ptrs = locked ? ptr_ring_consume_mc(&ring) : ptr_ring_consume(&ring);
	return !!*ptrs;
}

/* False: the last producer had ended before this looked. */
static __hot_inline bool await_more(const bool locked)
{
	for (;;) {
		/*
		 * E.acquire: the end before a last look. Pairs with E.release
		 * in run_thread.
		 */
		bool last = smp_load_acquire(&ended) == producers;

		if (!(locked ? ptr_ring_empty_mc(&ring) :
			       ptr_ring_empty(&ring)))
			break;
		if (last)
			return false;
		poll_pause();
	}
	if (backoff)
		burn_cycles(backoff);
	return true;
}

static __hot_inline void consume_all(struct thread *me, const bool chunked,
				     const bool locked)
{
	void *ptrs[MAX_CHUNK];

	do {
		uint32_t n;

		while ((n = take(ptrs, chunked, locked)))
			for (uint32_t i = 0; i < n; i++)
				check(me, ptrs[i], !locked);
	} while (await_more(locked));
}

/* Each combination is a loop of its own, with nothing left to decide in it. */
static void produce_alone(struct thread *me)
{
	produce_all(me, false);
}

static void produce_locked(struct thread *me)
{
	produce_all(me, true);
}

static void consume_alone(struct thread *me)
{
	if (chunk > 1)
		consume_all(me, true, false);
	else
		consume_all(me, false, false);
}

static void consume_locked(struct thread *me)
{
	if (chunk > 1)
		consume_all(me, true, true);
	else
		consume_all(me, false, true);
}

/* Mode 0: fills the ring and empties it, in turn. */
static void fill_and_empty(struct thread *me)
{
	void *ptrs[MAX_CHUNK];

	for (uint64_t seq = 0; seq < count;) {
		uint32_t n;

		while (seq < count &&
		       !ptr_ring_produce(&ring, (void *)value(0, seq)))
			seq++;
		while ((n = take(ptrs, chunk > 1, false)))
			for (uint32_t i = 0; i < n; i++)
				check(me, ptrs[i], true);
	}
}

static void init_ring(void)
{
	void **queue = alloc_pages(size * sizeof(*queue));

	ptr_ring_init_at(&ring, queue, size, batch);
	ring.clear_first = clear_first;
}

static void run_thread(void *p)
{
	struct thread *me = p;

	crew_pin(me->consumes ? "host-affinity" : "guest-affinity", me->cpu);
	if (me == threads)
		init_ring();
	crew_meet(&crew);
	me->start_ns = now_ns();
	if (!mode)
		fill_and_empty(me);
	else if (me->consumes)
		(consumers > 1 ? consume_locked : consume_alone)(me);
	else
		(producers > 1 ? produce_locked : produce_alone)(me);
	me->end_ns = now_ns();
	/*
	 * E.release: all of it before the end. Pairs with E.acquire in
	 * await_more.
	 */
	if (!me->consumes)
		smp_add_release(&ended, 1);
}

/* ---- Runs ---- */

static unsigned nr_threads(void)
{
	return mode ? producers + consumers : 1;
}

static uint64_t run_once(void)
{
	void *args[2 * MAX_SIDE];
	uint64_t start_ns = UINT64_MAX, end_ns = 0;

	ended = 0;
	crew.arrived = 0;
	for (unsigned i = 0; i < producers + consumers; i++) {
		struct thread *t = &threads[i];

		t->taken = t->sum = 0;
		for (unsigned nr = 0; nr < MAX_SIDE; nr++)
			t->due[nr] = 1;
		args[i] = t;
	}
	crew_run(nr_threads(), run_thread, args, NULL);
	free_all();
	for (unsigned i = 0; i < nr_threads(); i++) {
		const struct thread *t = &threads[i];

		if (t->start_ns < start_ns)
			start_ns = t->start_ns;
		if (t->end_ns > end_ns)
			end_ns = t->end_ns;
	}
	check_all();
	return end_ns - start_ns;
}

/* ---- What is printed ---- */

static const char *name = "ptr_ring_test";
static int guest_cpu, host_cpu; /* of the first of each */
static uint32_t nr;
static uint64_t elapsed_ns;
static double ns_per_buffer;

static const struct field fields[] = {
	{ "layout", "-", FIELD_WORD, &name },
	{ "guest_cpu", "-", FIELD_CPU, &guest_cpu },
	{ "host_cpu", "-", FIELD_CPU, &host_cpu },
	{ "ring_size", "entries", FIELD_U32, &size },
	{ "run_cycles", "pointers", FIELD_U64, &count },
	{ "batch", "slots", FIELD_U32, &ring.batch },
	{ "chunk", "pointers", FIELD_U32, &chunk },
	{ "producers", "-", FIELD_U32, &producers },
	{ "consumers", "-", FIELD_U32, &consumers },
	{ "hold", "cycles", FIELD_U32, &backoff },
	{ "mode", "-", FIELD_U32, &mode },
	{ "sample", "-", FIELD_U32, &nr },
	{ "elapsed_ns", "ns", FIELD_U64, &elapsed_ns },
	{ "ns_per_buffer", "ns", FIELD_FIXED + 4, &ns_per_buffer },
	CONTEXT_FIELDS,
	{ .name = NULL }
};

static void human(void)
{
	printf("ptr_ring_test: %" PRIu64 " pointers in %.4f s, %.2f ns/pointer "
	       "(%s first, size %" PRIu32 ", ",
	       count, elapsed_ns / 1e9, ns_per_buffer,
	       clear_first ? "clear" : "head", size);
	if (producers + consumers > 2)
		printf("%" PRIu32 " producers, %" PRIu32 " consumers, ",
		       producers, consumers);
	if (mode)
		printf("%s)\n", cpus_text(guest_cpu, host_cpu));
	else
		printf("one thread, %s)\n", cpu_text(guest_cpu));
}

static const struct record record = {
	.fields = fields,
	.human = human,
	.cpu = &guest_cpu,
};

static void place(void)
{
	int guests[MAX_SIDE], hosts[MAX_SIDE], cpus[2 * MAX_SIDE];
	unsigned nr_guests, nr_hosts;

	nr_guests = cpu_list("guest-affinity", guest_list, guests, producers);
	nr_hosts = cpu_list("host-affinity", host_list, hosts, consumers);
	for (unsigned i = 0; i < producers + consumers; i++) {
		struct thread *t = &threads[i];

		t->consumes = i >= producers;
		t->nr = t->consumes ? i - producers : i;
		t->cpu = -1;
		if (t->consumes && nr_hosts)
			t->cpu = hosts[t->nr % nr_hosts];
		if (!t->consumes && nr_guests)
			t->cpu = guests[t->nr % nr_guests];
		cpus[i] = t->cpu;
	}
	guest_cpu = threads[0].cpu;
	host_cpu = mode ? threads[producers].cpu : guest_cpu;
	if (clear_first)
		name = "ptr_ring_test_clear_first";
	crew.size = nr_threads();
	crew.crowded = crew_crowded(cpus, crew.size);
	if (crew.crowded)
		warn("%u threads have fewer CPUs: who waits gives way to the "
		     "others; a CPU for each would measure the ring",
		     crew.size);
}

int main(int argc, char **argv)
{
	format = format_default();
	opt_parse_all(argc, argv, opts, usage);
	if (!mode && producers > 1)
		die(EXIT_USAGE,
		    "-p: mode 0 has one thread; take -m 1 for %" PRIu32
		    " producers",
		    producers);
	if (!mode && consumers > 1)
		die(EXIT_USAGE,
		    "-c: mode 0 has one thread; take -m 1 for %" PRIu32
		    " consumers",
		    consumers);
	if (!mode && host_list)
		die(EXIT_USAGE, "--host-affinity: mode 0 has one thread; give "
				"--guest-affinity alone");
	place();

	context_start();
	record_start(format, &record);
	at_end(record_end);
	for (; nr < repeat; nr++) {
		elapsed_ns = run_once();
		ns_per_buffer = (double)elapsed_ns / count;
		record_row();
	}
	conclude();
	return EXIT_DONE;
}
