// SPDX-License-Identifier: MIT
/*
 * ptr_ring.h in one thread, each call against a model: a queue of numbers, and
 * the slots that are consumed and not yet cleared.
 */
#include <inttypes.h>

#include "ptr_ring.h"
#include "tests/check.h"
#include "lib/random.h"

static const uint32_t sizes[] = { 1, 2, 3, 5, 16, 17, 100, 1000 };
#define NR_SIZES (sizeof(sizes) / sizeof(*sizes))

static struct ptr_ring ring;
static uint64_t produced, consumed; /* how many; entries are numbered */
static uint32_t size, unfreed;	    /* the model's */

#define wrong(fmt, ...)                                                        \
	check(false,                                                           \
	      "size %" PRIu32 ", batch %" PRIu32 ", %s first, after %" PRIu64  \
	      " produced, %" PRIu64 " consumed: " fmt,                         \
	      size, ring.batch, ring.clear_first ? "clear" : "head", produced, \
	      consumed, ##__VA_ARGS__)

/* Entry number @nr; the address is all that matters. */
static void *entry(uint64_t nr)
{
	return (void *)(uintptr_t)(nr + 1);
}

static uint32_t held(void)
{
	return produced - consumed;
}

static bool produce(bool locked)
{
	bool room = held() + unfreed < size, done;

	if (ptr_ring_full(&ring) == room || ptr_ring_full_mp(&ring) == room)
		wrong("full says %d", room);
	done = !(locked ? ptr_ring_produce_mp :
			  ptr_ring_produce)(&ring, entry(produced));
	if (done != room)
		wrong("produce says %d with %" PRIu32 " entries and %" PRIu32
		      " consumed slots",
		      done, held(), unfreed);
	produced += done;
	return done;
}

/* What @n consumes free: at each end of a batch, and of the array. */
static uint32_t expect_freed(uint32_t n)
{
	uint32_t head = ring.head, freed = 0;

	for (; n; n--) {
		unfreed++;
		if (++head == size || unfreed >= ring.batch) {
			freed += unfreed;
			unfreed = 0;
		}
		head %= size;
	}
	return freed;
}

static bool consume(bool locked)
{
	uint32_t freed = 99, expected;
	bool any = held();
	void *ptr;

	if (ptr_ring_empty(&ring) == any || ptr_ring_empty_mc(&ring) == any)
		wrong("empty says %d", any);
	if (ptr_ring_peek(&ring) != (any ? entry(consumed) : NULL))
		wrong("peek gives another entry");
	expected = expect_freed(any);
	ptr = (locked ? ptr_ring_consume_freed_mc :
			ptr_ring_consume_freed)(&ring, &freed);
	if (ptr != (any ? entry(consumed) : NULL))
		wrong("consume gives another entry");
	if (freed != expected)
		wrong("consume freed %" PRIu32 ", not %" PRIu32, freed,
		      expected);
	consumed += any;
	return any;
}

static uint32_t consume_many(uint32_t n, bool locked)
{
	void *ptrs[64];
	uint32_t got, freed = 99, expected;
	uint32_t most = n < held() ? n : held();

	expected = expect_freed(most);
	got = (locked ? ptr_ring_consume_batched_mc :
			ptr_ring_consume_batched)(&ring, ptrs, n, &freed);
	if (got != most || freed != expected)
		wrong("of %" PRIu32 ", consume_batched gives %" PRIu32
		      " and freed %" PRIu32 ", not %" PRIu32,
		      n, got, freed, expected);
	for (uint32_t i = 0; i < got; i++)
		if (ptrs[i] != entry(consumed++))
			wrong("consume_batched gives another entry");
	return got;
}

/* Takes some and puts them back, with as many more as never fit. */
static void unconsume(uint32_t n)
{
	void *ptrs[64];
	uint32_t left, fits;

	if (n > 32)
		n = 32;
	if (n > consumed)
		n = consumed;
	/* the last n that were consumed, so that all goes on in order */
	for (uint32_t i = 0; i < n; i++)
		ptrs[i] = entry(consumed - n + i);
	left = ptr_ring_unconsume(&ring, ptrs, n);
	unfreed = 0;
	fits = size - held();
	if (fits > n)
		fits = n;
	if (left != n - fits)
		wrong("unconsume leaves %" PRIu32 " of %" PRIu32
		      ", not %" PRIu32,
		      left, n, n - fits);
	consumed -= fits;
}

static void resize(uint32_t to, uint32_t batch)
{
	bool fits = held() <= to;
	int err = ptr_ring_resize(&ring, to, batch);

	if (!err != fits)
		wrong("resize to %" PRIu32 " with %" PRIu32 " entries: %s", to,
		      held(), fits ? "refused" : "done");
	if (!fits && err != -ENOSPC)
		wrong("resize gives %d", err);
	if (!fits)
		return;
	unfreed = 0;
	size = to;
}

static void fresh(uint32_t to, uint32_t batch, bool clear_first)
{
	ptr_ring_cleanup(&ring, NULL);
	if (ptr_ring_init(&ring, to, batch))
		wrong("no memory");
	ring.clear_first = clear_first;
	size = to;
	produced = consumed = unfreed = 0;
}

/* ---- Behaviours: called for each size, batch and order ---- */

static void capacity(void)
{
	for (int round = 0; round < 4; round++) {
		uint64_t before = produced;

		while (produce(round & 1))
			;
		if (produced - before != size)
			wrong("%" PRIu64 " fit", produced - before);
		while (consume(round & 2))
			;
		/* what is left of a batch takes room until the end of it */
		ptr_ring_unconsume(&ring, NULL, 0);
		unfreed = 0;
	}
}

/* One at a time and by bursts, so often that every slot is first and last. */
static void wrap(void)
{
	for (uint32_t burst = 1; burst <= size; burst += 1 + burst / 3)
		for (uint32_t i = 0; i < 3 * size / burst + 3; i++) {
			uint32_t n = 0;

			while (n < burst && produce(false))
				n++;
			while (n-- && consume(false))
				;
		}
	while (consume(false))
		;
}

static uint32_t draw_below(uint32_t end)
{
	static uint64_t state = RANDOM_SEED;

	return random32(&state) % end;
}

static void operations(void)
{
	for (int i = 0; i < 2000; i++) {
		uint32_t n = 1 + draw_below(2 * size < 64 ? 2 * size : 64);
		bool locked = draw_below(2);

		switch (draw_below(8)) {
		case 0 ... 2:
			while (n-- && produce(locked))
				;
			break;
		case 3 ... 4:
			while (n-- && consume(locked))
				;
			break;
		case 5:
			consume_many(n, locked);
			break;
		case 6:
			unconsume(n);
			break;
		case 7:
			resize(draw_below(4) ? size :
					       sizes[draw_below(NR_SIZES)],
			       draw_below(3) ? draw_below(20) : 0);
			break;
		}
	}
	while (consume(false))
		;
}

static void over(const char *name, void (*behaviour)(void))
{
	for (unsigned i = 0; i < NR_SIZES; i++) {
		const uint32_t batches[] = {
			0, 1, 2, 3, sizes[i], 2 * sizes[i] + 5, UINT32_MAX
		};

		for (unsigned b = 0; b < 7; b++)
			for (int order = 0; order < 2; order++) {
				fresh(sizes[i], batches[b], order);
				behaviour();
			}
	}
	report("ptr_ring: %s", name);
}

static uint64_t next_destroyed;

static void destroy(void *ptr)
{
	if (ptr != entry(next_destroyed++))
		wrong("cleanup destroys another entry");
}

static void cleanup(void)
{
	for (uint32_t n = 0; n <= 5; n++) {
		fresh(5, 2, false);
		for (uint32_t i = 0; i < n; i++)
			produce(false);
		if (n)
			consume(false);
		next_destroyed = consumed;
		ptr_ring_cleanup(&ring, destroy);
		if (next_destroyed != n)
			wrong("cleanup destroys %" PRIu64, next_destroyed);
	}
	report("ptr_ring: cleanup destroys what is left, once, in order");
}

static void arithmetic(void)
{
	const bool wide = sizeof(size_t) > 4;
	struct ptr_ring r;
	bool good = true;

	good &= ptr_ring_init(&r, 0, 0) == -EINVAL;
	/* where it would overflow; elsewhere it is 32 GiB, had or not */
	if (!wide) {
		good &= ptr_ring_init(&r, UINT32_MAX, 0) == -ENOMEM;
		good &= ptr_ring_init(&r, UINT32_MAX / 4 + 1, 0) == -ENOMEM;
	}
	good &= ptr_ring_batch(1) == 1 && ptr_ring_batch(2) == 1 &&
		ptr_ring_batch(1000) == CACHE_PAIR / sizeof(void *) &&
		ptr_ring_batch(UINT32_MAX) == CACHE_PAIR / sizeof(void *);
	check(good, "one is not");
	report("ptr_ring: sizes of 0 and sizes that overflow are refused");
}

int main(void)
{
	over("exactly its size fits, whatever the batch", capacity);
	over("wraps, by bursts of every length", wrap);
	over("operations at random, with unconsume and resize", operations);
	ptr_ring_cleanup(&ring, NULL);
	cleanup();
	arithmetic();
	return finish();
}
