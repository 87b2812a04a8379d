// SPDX-License-Identifier: MIT
/*
 * ptr_ring.h stepped through its shared accesses: a producer, a consumer and an
 * observer, in every interleaving. Each is a coroutine that stops before each
 * access, so that a schedule is the order in which they are let go on.
 *
 * With an argument it also lists, for doc/ptr-ring, each schedule in which the
 * observer is told "empty" while entries remain.
 */
#include <inttypes.h>
#include <stdint.h>
#include <string.h>
#include <ucontext.h>

static void step(void);
#define barrier_step() step()
#include "ptr_ring.h"
#include "tests/check.h"

/* ---- Coroutines ---- */

enum { PRODUCER, CONSUMER, OBSERVER, RIVAL, NR_ROLES };
static const char letters[] = "PCOR";

static struct role {
	ucontext_t context;
	bool there, ended;
	char stack[64 * 1024] __attribute__((aligned(64)));
} roles[NR_ROLES];
static ucontext_t scheduler;
static struct role *running; /* NULL: the scheduler, which is not stepped */

static void step(void)
{
	if (running)
		swapcontext(&running->context, &scheduler);
}

/* Lets @role make one access; or, when new, go up to its first. */
static void let_go(struct role *role)
{
	running = role;
	swapcontext(&scheduler, &role->context);
	running = NULL;
}

static void start(int nr, void (*fn)(void))
{
	struct role *role = &roles[nr];

	getcontext(&role->context);
	role->context.uc_stack.ss_sp = role->stack;
	role->context.uc_stack.ss_size = sizeof(role->stack);
	makecontext(&role->context, fn, 0);
	role->there = true;
	role->ended = false;
	let_go(role);
}

/* Instead of a return from a coroutine. */
static void end(void)
{
	running->ended = true;
	step();
}

static bool can_go(int nr)
{
	return roles[nr].there && !roles[nr].ended;
}

/* ---- What they do, and what is true meanwhile ---- */

static const struct scenario {
	uint32_t size, batch;
	uint32_t before; /* entries that are there when all begin */
	uint32_t produces, consumes;
} scenarios[] = {
	{ 1, 1, 1, 2, 2 }, { 2, 1, 2, 1, 2 }, { 2, 2, 2, 1, 2 },
	{ 3, 1, 2, 1, 2 }, { 3, 2, 3, 1, 3 }, { 3, 3, 3, 1, 3 },
	{ 4, 2, 3, 1, 2 }, { 4, 2, 2, 2, 2 },
};
#define NR_SCENARIOS (sizeof(scenarios) / sizeof(*scenarios))

static const struct scenario *scene;
static struct ptr_ring ring;
static void *queue[4];
static uint32_t made;	  /* entries stored */
static uint32_t taken;	  /* entries that the consumer has read */
static uint32_t consumed; /* entries that it is done with */
static bool told_empty;
static const char *fault;

static void *entry(uint32_t nr)
{
	return (void *)(uintptr_t)(nr + 1);
}

static void produce(void)
{
	/* nobody runs between the store and this */
	if (!ptr_ring_produce(&ring, entry(made)))
		made++;
	if (made - taken > ring.size)
		fault = "more than the ring holds";
}

static void consume(void)
{
	void *ptr = ptr_ring_peek(&ring);

	if (!ptr && made != taken)
		fault = "the consumer finds nothing";
	if (ptr && ptr != entry(taken))
		fault = "the consumer finds another entry";
	if (!ptr)
		return;
	taken++;
	ptr_ring_discard(&ring);
	consumed++;
}

static void producer(void)
{
	for (uint32_t i = 0; i < scene->produces; i++)
		produce();
	end();
}

static void consumer(void)
{
	for (uint32_t i = 0; i < scene->consumes; i++)
		consume();
	end();
}

static void observer(void)
{
	told_empty = ptr_ring_empty(&ring);
	end();
}

static void begin(bool clear_first)
{
	memset(queue, 0, sizeof(queue));
	memset(roles, 0, offsetof(struct role, stack));
	for (int i = 0; i < NR_ROLES; i++)
		roles[i].there = false;
	ptr_ring_init_at(&ring, queue, scene->size, scene->batch);
	ring.clear_first = clear_first;
	made = taken = consumed = 0;
	for (uint32_t i = 0; i < scene->before; i++)
		produce();
}

/* Whatever was left unfinished: what is in the ring comes out, in order. */
static void drain(void)
{
	while (taken < made && !fault)
		consume();
	consume();
}

/* ---- Every interleaving ---- */

#define MOST_STEPS 32

struct count {
	uint32_t schedules;
	uint32_t told_empty; /* with entries there all the while */
	uint32_t in_one_go;  /* of which nobody came between the reads */
	uint32_t told_more;  /* "not empty", with none there all the while */
};

static bool listing;

/* One schedule: at its n-th step the choice[n]-th of those that can go on. */
static unsigned run(bool clear_first, uint8_t *choice, uint8_t *choices,
		    struct count *count)
{
	char text[MOST_STEPS + 1] = "";
	uint32_t least = UINT32_MAX, most = 0; /* there while it looks */
	int reads = 0, first_read = 0, last_read = 0;
	unsigned n = 0;

	begin(clear_first);
	start(PRODUCER, producer);
	start(CONSUMER, consumer);
	start(OBSERVER, observer);
	for (;; n++) {
		int can[3], nr = 0, who;

		for (int i = 0; i < 3; i++)
			if (can_go(i))
				can[nr++] = i;
		if (!nr)
			break;
		choices[n] = nr;
		who = can[choice[n]];
		text[n] = letters[who];
		if (who == OBSERVER) {
			if (!reads++)
				first_read = n;
			last_read = n;
			if (made - taken < least)
				least = made - taken;
			if (made - consumed > most)
				most = made - consumed;
		}
		let_go(&roles[who]);
		if (reads && (who == OBSERVER || can_go(OBSERVER))) {
			if (made - taken < least)
				least = made - taken;
			if (made - consumed > most)
				most = made - consumed;
		}
	}
	drain();
	if (reads != 2)
		fault = "the observer does not read twice";
	count->schedules++;
	count->told_more += !told_empty && !most;
	if (!told_empty || !least)
		return n;
	count->told_empty++;
	count->in_one_go += last_read == first_read + 1;
	if (listing)
		note("%s first, size %" PRIu32 ", batch %" PRIu32 ", %" PRIu32
		     " before: %s",
		     clear_first ? "clear" : "head", scene->size, scene->batch,
		     scene->before, text);
	return n;
}

static struct count explore(bool clear_first)
{
	uint8_t choice[MOST_STEPS] = { 0 }, choices[MOST_STEPS];
	struct count count = { 0 };
	unsigned n;

	do {
		n = run(clear_first, choice, choices, &count);
		while (n && choice[n - 1] + 1 == choices[n - 1])
			choice[--n] = 0;
		if (n)
			choice[n - 1]++;
	} while (n && !fault);
	return count;
}

static void every_interleaving(void)
{
	struct count sum[2] = { 0 };

	note("told \"empty\" with entries there; in brackets, with both reads "
	     "in one go\nsize batch before schedules  clear first    head first");
	for (scene = scenarios; scene < scenarios + NR_SCENARIOS; scene++) {
		struct count count[2];

		for (int order = 0; order < 2; order++) {
			count[order] = explore(order);
			sum[order].schedules += count[order].schedules;
			sum[order].told_empty += count[order].told_empty;
			sum[order].in_one_go += count[order].in_one_go;
			sum[order].told_more += count[order].told_more;
		}
		note("%4" PRIu32 " %5" PRIu32 " %6" PRIu32 " %9" PRIu32
		     "  %5" PRIu32 " (%3" PRIu32 ")  %6" PRIu32 " (%3" PRIu32
		     ")",
		     scene->size, scene->batch, scene->before,
		     count[1].schedules, count[1].told_empty,
		     count[1].in_one_go, count[0].told_empty,
		     count[0].in_one_go);
	}
	check(!fault, "%s", fault);
	report("ptr_ring: nothing lost or reordered in %" PRIu32
	       " interleavings",
	       sum[0].schedules + sum[1].schedules);
	check(sum[1].told_empty > sum[0].told_empty,
	      "clear first: no more often");
	report("ptr_ring: told \"empty\" with entries there: %" PRIu32
	       " times clear first, %" PRIu32 " head first",
	       sum[1].told_empty, sum[0].told_empty);
	check(sum[1].in_one_go && !sum[0].in_one_go, "not clear first alone");
	report("ptr_ring: who reads both in one go: %" PRIu32
	       " times clear first, %" PRIu32 " head first",
	       sum[1].in_one_go, sum[0].in_one_go);
	check(!sum[0].told_more && !sum[1].told_more, "it was");
	report("ptr_ring: never told \"not empty\" with nothing there");
}

/* ---- One side preempted at every step ---- */

static void go_to_end(int nr)
{
	for (int i = 0; can_go(nr); i++) {
		if (i > 10000) {
			fault = "one side does not get to its end";
			return;
		}
		let_go(&roles[nr]);
	}
}

/* The scheduler plays the other side: it goes on alone. */
static void other_side(int preempted)
{
	bool empty;

	if (preempted == PRODUCER) {
		while (taken < made && !fault)
			consume();
		for (int i = 0; i < 3; i++)
			consume();
		empty = ptr_ring_empty(&ring);
		if (!empty)
			fault = "all consumed, and not empty";
	} else {
		for (uint32_t i = 0; i < 2 * scene->size; i++)
			produce();
	}
}

static void preempted(int nr, void (*fn)(void), const char *name)
{
	unsigned runs = 0;

	fault = NULL;
	for (scene = scenarios; scene < scenarios + NR_SCENARIOS; scene++)
		for (int order = 0; order < 2; order++)
			for (int at = 0, ended = 0; !ended; at++, runs++) {
				begin(order);
				start(nr, fn);
				for (int i = 0; i < at && can_go(nr); i++)
					let_go(&roles[nr]);
				ended = !can_go(nr);
				other_side(nr);
				go_to_end(nr);
				drain();
				if (consumed != made)
					fault = "not all of it came out";
			}
	check(!fault, "%s", fault);
	report("ptr_ring: %s preempted at every step (%u runs)", name, runs);
}

/* With locks: the consumer goes on, and a rival producer waits, no longer. */
static void locked_producer(void)
{
	ptr_ring_lock_producer(&ring);
	produce();
	ptr_ring_unlock_producer(&ring);
	end();
}

static void preempted_with_lock(void)
{
	unsigned runs = 0, held = 0;

	fault = NULL;
	scene = &scenarios[NR_SCENARIOS - 1];
	for (int at = 0, ended = 0; !ended; at++, runs++) {
		uint32_t before;

		begin(false);
		start(PRODUCER, locked_producer);
		for (int i = 0; i < at && can_go(PRODUCER); i++)
			let_go(&roles[PRODUCER]);
		ended = !can_go(PRODUCER);
		while (taken < made) {
			if (ptr_ring_consume_mc(&ring) != entry(taken))
				fault = "the consumer does not go on";
			consumed = ++taken;
		}
		before = made;
		start(RIVAL, locked_producer);
		if (ring.producer_lock.held) {
			held++;
			for (int i = 0; i < 50; i++)
				let_go(&roles[RIVAL]);
			if (made != before)
				fault = "two producers at once";
		}
		go_to_end(PRODUCER);
		go_to_end(RIVAL);
		if (made != scene->before + 2)
			fault = "a producer was lost";
		drain();
	}
	if (held < 3)
		fault = "the lock was hardly ever held";
	check(!fault, "%s", fault);
	report("ptr_ring: a producer preempted with its lock stops no consumer "
	       "(%u runs)",
	       runs);
}

int main(int argc, char **argv)
{
	(void)argv;
#ifdef __SANITIZE_THREAD__
	skip("ptr_ring: every interleaving",
	     "ThreadSanitizer knows no coroutines");
	return finish();
#endif
	listing = argc > 1;
	every_interleaving();
	preempted(PRODUCER, producer, "producer");
	preempted(CONSUMER, consumer, "consumer");
	preempted_with_lock();
	return finish();
}
