// SPDX-License-Identifier: MIT
/*
 * Every execution of what more than two threads share, or what a lock orders:
 * the spinlock, ptr_ring's calls for many producers and many consumers, resize
 * and unconsume against both, and the meeting of a crew.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* A resize allocates: at the same address in each execution. */
#define aligned_alloc(align, size) prove_alloc(size, align)
#define free(p) ((void)(p))
#include "ptr_ring.h"
#include "lib/crew.h"
#include "tests/prove/cases.h"

#define ITEMS 4

/* Number @number of thread @from; written before it is produced. */
struct item {
	unsigned from, number;
};

static struct {
	struct item items[2][ITEMS];
	struct ptr_ring ring;
	struct spinlock lock;
	struct crew crew;
	unsigned counter;
	unsigned arrived[PROVE_THREADS];
	/* What each consumer got, in its order; NULL ends it. */
	struct item *got[2][ITEMS + 1];
} * all;

static unsigned ring_size;

static void reset(void)
{
	all = prove_alloc(sizeof(*all), CACHE_PAIR);
	ptr_ring_init_at(&all->ring, prove_alloc(ring_size * sizeof(void *), 8),
			 ring_size, 1);
	all->crew.size = 3;
}

static void fill(unsigned from, unsigned number)
{
	struct item *item = &all->items[from][number];

	prove_plain_write(&item->from, from);
	prove_plain_write(&item->number, number);
}

static void look_at(struct item *item)
{
	if (prove_plain_read(&item->from) > 1 ||
	    prove_plain_read(&item->number) >= ITEMS)
		prove_fault("an item is not what its producer wrote");
}

/* ---- What threads do ---- */

static void count_locked(void)
{
	prove_meet();
	for (int i = 0; i < 2; i++) {
		spin_lock(&all->lock);
		prove_plain_write(&all->counter,
				  prove_plain_read(&all->counter) + 1);
		spin_unlock(&all->lock);
	}
}

static void try_to_count(void)
{
	prove_meet();
	if (!spin_trylock(&all->lock))
		return;
	prove_plain_write(&all->counter, prove_plain_read(&all->counter) + 1);
	spin_unlock(&all->lock);
}

static void meet(unsigned thread)
{
	prove_meet();
	prove_plain_write(&all->arrived[thread], 1);
	crew_meet(&all->crew);
	for (unsigned i = 0; i < 3; i++)
		if (!prove_plain_read(&all->arrived[i]))
			prove_fault("a thread goes on before all have met");
}

static void meet_0(void)
{
	meet(0);
}

static void meet_1(void)
{
	meet(1);
}

static void meet_2(void)
{
	meet(2);
}

/* Until there is room; of what the producer looks at, nothing is locked. */
static void produce(unsigned n)
{
	prove_meet();
	for (unsigned i = 0; i < n; i++) {
		fill(0, i);
		while (ptr_ring_produce(&all->ring, &all->items[0][i]))
			prove_poll_failed();
	}
}

static void produce_2(void)
{
	produce(2);
}

static void produce_locked(unsigned from, unsigned n)
{
	prove_meet();
	for (unsigned i = 0; i < n; i++) {
		fill(from, i);
		if (ptr_ring_produce_mp(&all->ring, &all->items[from][i]))
			prove_fault("the ring is full, and should not be");
	}
}

static void produce_locked_0(void)
{
	produce_locked(0, 2);
}

static void produce_locked_1(void)
{
	produce_locked(1, 1);
}

static void consume_3(void)
{
	struct item *item;

	prove_meet();
	for (int i = 0; i < 3; i++) {
		while (!(item = ptr_ring_consume(&all->ring)))
			prove_poll_failed();
		look_at(item);
		all->got[0][i] = item;
	}
}

/* As often as that, whether there is something or not. */
static void consume_locked(unsigned consumer, int tries)
{
	unsigned n = 0;
	struct item *item;

	prove_meet();
	while (tries--) {
		item = ptr_ring_consume_mc(&all->ring);
		if (!item)
			continue;
		look_at(item);
		all->got[consumer][n++] = item;
	}
}

static void consume_locked_0(void)
{
	consume_locked(0, 2);
}

static void consume_locked_1(void)
{
	consume_locked(1, 1);
}

static void resize(void)
{
	prove_meet();
	if (ptr_ring_resize(&all->ring, 3, 1))
		prove_fault("cannot resize");
}

static void unconsume(void)
{
	void *item;

	prove_meet();
	item = ptr_ring_consume_mc(&all->ring);
	if (item && ptr_ring_unconsume(&all->ring, &item, 1))
		prove_fault("what was consumed cannot be put back");
}

/* ---- What has to be so in the end ---- */

static void counted_4(void)
{
	if (all->counter != 4)
		prove_fault("the lock has let two in: %u of 4 counted",
			    all->counter);
}

static void nothing(void)
{
}

/* Each that was produced is there once: got, or still in the ring, in order. */
static void all_there(unsigned from0, unsigned from1)
{
	const unsigned made[2] = { from0, from1 };
	bool there[2][ITEMS] = { 0 };
	unsigned n = 0, consumer;
	struct item *item;

	for (consumer = 0; consumer < 3; consumer++) {
		unsigned next[2] = { 0 };

		for (unsigned i = 0;; i++) {
			item = consumer < 2 ? all->got[consumer][i] :
					      ptr_ring_consume(&all->ring);
			if (!item)
				break;
			if (there[item->from][item->number] ||
			    item->number < next[item->from])
				prove_fault("item %u of producer %u comes "
					    "twice, or late",
					    item->number, item->from);
			there[item->from][item->number] = true;
			next[item->from] = item->number + 1;
			n++;
		}
	}
	if (n != made[0] + made[1])
		prove_fault("%u items of %u are there", n, made[0] + made[1]);
}

static void all_there_2(void)
{
	all_there(2, 0);
}

static void all_there_3(void)
{
	all_there(2, 1);
}

static const struct several {
	const char *name;
	unsigned size;
	struct prove_thread threads[PROVE_THREADS];
	void (*complete)(void);
} cases[] = {
	{ "spin_lock",
	  1,
	  { { "1", count_locked }, { "2", count_locked } },
	  counted_4 },
	{ "spin_trylock",
	  1,
	  { { "1", try_to_count },
	    { "2", try_to_count },
	    { "3", try_to_count } },
	  nothing },
	{ "crew_meet",
	  1,
	  { { "1", meet_0 }, { "2", meet_1 }, { "3", meet_2 } },
	  nothing },
	{ "two producers",
	  4,
	  { { "producer 1", produce_locked_0 },
	    { "producer 2", produce_locked_1 },
	    { "consumer", consume_3 } },
	  all_there_3 },
	{ "two consumers",
	  2,
	  { { "producer", produce_2 },
	    { "consumer 1", consume_locked_0 },
	    { "consumer 2", consume_locked_1 } },
	  all_there_2 },
	{ "resize",
	  2,
	  { { "producer", produce_locked_0 },
	    { "consumer", consume_locked_0 },
	    { "resizer", resize } },
	  all_there_2 },
	{ "unconsume",
	  2,
	  { { "producer", produce_locked_0 },
	    { "consumer", consume_locked_1 },
	    { "putter back", unconsume } },
	  all_there_2 },
};

static bool run_all(void)
{
	bool proved = true;

	for (const struct several *c = cases;
	     proved && c < cases + sizeof(cases) / sizeof(*cases); c++) {
		unsigned n = 0;

		while (n < PROVE_THREADS && c->threads[n].run)
			n++;
		ring_size = c->size;
		prove_complete = c->complete;
		proved = prove_case("several", c->name, c->threads, n, reset);
	}
	return proved;
}

int main(int argc, char **argv)
{
	static const struct prove_option none[] = { { 0 } };

	return prove_main(argc, argv, "several", none, run_all);
}
