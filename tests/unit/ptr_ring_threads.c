// SPDX-License-Identifier: MIT
/*
 * ptr_ring.h between threads: 1 to 4 producers, 1 to 4 consumers, a ring that
 * is resized meanwhile, a consumer that puts back what it took. What an item
 * holds is plain memory, so that ThreadSanitizer says if the ring orders it not.
 *
 * usage: ptr_ring_threads [ITEMS]	in each run (62500: a million in all)
 */
#include <inttypes.h>
#include <pthread.h>
#include <stdlib.h>

#include "lib/clock.h"
#include "ptr_ring.h"
#include "tests/check.h"

#define MOST 4

struct item {
	unsigned producer;
	uint32_t nr;   /* of this producer */
	unsigned seen; /* by consumers */
};

static uint32_t count = 62500;
static uint64_t deadline_ns; /* no more items are made after that */
static uint32_t made[MOST];  /* by each producer */
static uint32_t fewest;	     /* items in a run so far */
static unsigned producers, consumers;
static struct ptr_ring ring;
static struct item *items;
static unsigned producing; /* producers that have not ended */
static unsigned running;   /* consumers likewise */
static unsigned resizes;
static const char *fault; /* the first that was found */

static void wrong(const char *what)
{
	if (!READ_ONCE(fault))
		WRITE_ONCE(fault, what);
}

/* Producer @p makes items p, p + producers, ... */
static void *produce(void *arg)
{
	unsigned p = (uintptr_t)arg;
	uint32_t nr = 0;

	for (uint32_t i = p; i < count; i += producers) {
		if (nr % 64 == 0 && now_ns() > deadline_ns)
			break;
		items[i] = (struct item){ p, nr++, 0 };
		while (producers > 1 || resizes ?
			       ptr_ring_produce_mp(&ring, &items[i]) :
			       ptr_ring_produce(&ring, &items[i]))
			sched_yield();
	}
	made[p] = nr;
	__atomic_sub_fetch(&producing, 1, __ATOMIC_RELEASE);
	return NULL;
}

static void look_at(struct item *it, uint32_t *next)
{
	if (it->producer >= producers)
		wrong("an item that is none");
	else if (it->nr < next[it->producer] ||
		 (consumers == 1 && it->nr != next[it->producer]))
		wrong("out of order");
	else
		next[it->producer] = it->nr + 1;
	if (it->seen++)
		wrong("consumed twice");
}

static uint32_t take(void **ptrs, uint32_t n)
{
	uint32_t freed;

	return consumers > 1 || resizes ?
		       ptr_ring_consume_batched_mc(&ring, ptrs, n, &freed) :
		       ptr_ring_consume_batched(&ring, ptrs, n, &freed);
}

static void *consume(void *arg)
{
	uint32_t next[MOST] = { 0 }, n, turn = 0;
	void *ptrs[8];

	for (;;) {
		/* before the look, so that the last look is the last */
		bool last = !__atomic_load_n(&producing, __ATOMIC_ACQUIRE);

		n = take(ptrs, 1 + turn++ % 8);
		for (uint32_t i = 0; i < n; i++)
			look_at(ptrs[i], next);
		if (!n && last)
			break;
		if (!n)
			sched_yield();
	}
	__atomic_sub_fetch(&running, 1, __ATOMIC_RELEASE);
	return arg;
}

/* Takes some, puts them back, and goes on with those that did not fit. */
static void *consume_twice(void *arg)
{
	uint32_t next[MOST] = { 0 }, n, turn = 0, left;
	void *ptrs[8];

	for (;;) {
		bool last = !__atomic_load_n(&producing, __ATOMIC_ACQUIRE);

		n = take(ptrs, 1 + turn++ % 8);
		left = turn % 3 ? n : ptr_ring_unconsume(&ring, ptrs, n);
		for (uint32_t i = 0; i < left; i++)
			look_at(ptrs[i], next);
		if (!n && last)
			break;
		if (!n)
			sched_yield();
	}
	__atomic_sub_fetch(&running, 1, __ATOMIC_RELEASE);
	return arg;
}

/* Over all runs: whether it gets its turn in any one of them is chance. */
static uint32_t up, down;

static void *resize(void *arg)
{
	static const uint32_t sizes[] = { 1, 64, 2, 17, 1000, 3, 16, 100, 5 };
	uint32_t was = ring.size;

	for (unsigned i = 0; __atomic_load_n(&running, __ATOMIC_ACQUIRE); i++) {
		uint32_t size = sizes[i % 9];
		int err = ptr_ring_resize(&ring, size, i % 4);

		if (!err)
			*(size > was ? &up : &down) += 1, was = size;
		else if (err != -ENOSPC)
			wrong("resize gives another error");
		sched_yield();
	}
	return arg;
}

static void run(unsigned nr_producers, unsigned nr_consumers, bool clear_first,
		void *(*consumer)(void *), bool resizing)
{
	pthread_t threads[2 * MOST + 1];
	unsigned nr = 0;
	uint32_t missing = 0, all = 0;

	/* where others have the CPUs, each hand-over waits for their turn */
	deadline_ns = now_ns() + 4000000000;
	for (uint32_t i = 0; i < count; i++)
		items[i].seen = 0;
	producers = producing = nr_producers;
	consumers = running = nr_consumers;
	/* both sides lock if anything else needs both locks */
	resizes = resizing || consumer == consume_twice;
	if (ptr_ring_init(&ring, 17, 0))
		exit(1);
	ring.clear_first = clear_first;
	if (resizing && pthread_create(&threads[nr++], NULL, resize, NULL))
		exit(1);
	for (uintptr_t i = 0; i < producers; i++)
		if (pthread_create(&threads[nr++], NULL, produce, (void *)i))
			exit(1);
	for (unsigned i = 0; i < consumers; i++)
		if (pthread_create(&threads[nr++], NULL, consumer, NULL))
			exit(1);
	while (nr)
		pthread_join(threads[--nr], NULL);
	if (!ptr_ring_empty(&ring))
		wrong("something is left");
	ptr_ring_cleanup(&ring, NULL);
	for (uint32_t i = 0; i < count; i++)
		if (i / producers < made[i % producers]) {
			missing += items[i].seen != 1;
			all++;
		}
	if (all < fewest || !fewest)
		fewest = all;
	if (missing)
		wrong("an item was lost");
}

static void check_fault(void)
{
	check(!fault, "%u producers, %u consumers: %s", producers, consumers,
	      fault);
	fault = NULL;
}

int main(int argc, char **argv)
{
	if (argc > 1)
		count = strtoul(argv[1], NULL, 10);
	else if (getenv("CHECK_SHORT"))
		count = 6250;
	items = calloc(count, sizeof(*items));
	if (!items)
		return 1;
	for (unsigned p = 1; p <= MOST; p++)
		for (unsigned c = 1; c <= MOST && !fault; c++)
			run(p, c, (p + c) % 2, consume, false);
	check_fault();
	report("ptr_ring: %" PRIu32 " items or more through 1 to 4 producers "
	       "and 1 to 4 consumers, each",
	       fewest);
	for (unsigned p = 1; p <= 2; p++)
		for (unsigned c = 1; c <= 2 && !fault; c++)
			run(p, c, c % 2, consume, true);
	if (!up || !down)
		wrong("hardly ever resized");
	check_fault();
	report("ptr_ring: resized up and down under load, nothing lost or "
	       "reordered");
	run(1, 1, false, consume_twice, false);
	run(4, 1, true, consume_twice, true);
	check_fault();
	report("ptr_ring: put back under load, nothing lost or reordered");
	free(items);
	return finish();
}
