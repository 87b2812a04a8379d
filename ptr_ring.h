/* SPDX-License-Identifier: MIT */
/*
 * A ring of pointers. A slot that holds NULL is free; nothing else is shared to
 * say what is in the ring.
 *
 * The consumer does not free each slot as it goes, which would take the line
 * from the producer for every pointer. Once batch of them are consumed, or at
 * the end of the array, it clears them all, the oldest last: the producer waits
 * for that one, and so keeps off the line until all of it is free.
 *
 *	producer,	one pair of lines; written by the producer
 *	its lock
 *	head, tail,	one pair of lines; written by the consumer
 *	its lock
 *	size, batch,	one pair of lines; constant, but for a resize
 *	queue
 *	queue[]		a pointer from the producer, NULL from the consumer
 *
 * Who may call what: "producer" and "consumer" below are one thread each, and
 * take no lock. Where there are several, they call the forms with _mp (many
 * producers) and _mc (many consumers), which take that side's lock, or hold the
 * lock themselves, with ptr_ring_lock_producer or ptr_ring_lock_consumer, around
 * calls of the plain forms. One side may lock while the other does not. Resize
 * and unconsume take both locks, so with them in use both sides must.
 *
 * Errors: 0 or -errno. A full ring is none: -1, as NULL from an empty one.
 *
 * Edges:
 *	A  producer to consumer: what the pointer points to, then the pointer
 *	B  consumer to producer: the end of all use, then NULL in the oldest
 *	   slot of a batch
 */
#ifndef PTR_RING_H
#define PTR_RING_H

#include <errno.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "lib/barrier.h"
#include "lib/spinlock.h"

/* What a consumer does first: the head moves, or slots are cleared. */
enum ptr_ring_order { HEAD_FIRST, CLEAR_FIRST, ORDERS };

struct ptr_ring {
	uint32_t producer __cache_aligned; /* next slot to fill */
	struct spinlock producer_lock;
	uint32_t head __cache_aligned; /* next slot to consume */
	uint32_t tail;		       /* oldest slot not yet cleared */
	struct spinlock consumer_lock;
	uint32_t size __cache_aligned;
	uint32_t batch;
	bool clear_first; /* slots before head: the older order */
	bool owned;	  /* queue is to be freed */
	void **queue;
};
ASSERT_APART(struct ptr_ring);

/* Fixed for all rings by who defines this; otherwise each ring says. */
#ifdef PTR_RING_CLEAR_FIRST
#define ptr_ring_clears_first(r) (PTR_RING_CLEAR_FIRST)
#else
#define ptr_ring_clears_first(r) ((r)->clear_first)
#endif

/* ---- Memory ---- */

/* Two cache lines' worth of slots, or 1 where that is over half the ring. */
static inline uint32_t ptr_ring_batch(uint32_t size)
{
	const uint32_t batch = CACHE_PAIR / sizeof(void *);

	return batch > size / 2 ? 1 : batch;
}

/*
 * Before either side starts, on memory of the caller's: @queue is @size slots
 * of NULL, @size at least 1. The head moves before the slots are cleared; set
 * clear_first afterwards for the other order. @batch: how many consumed slots
 * are cleared at a time, 0 for ptr_ring_batch(); more than @size is as @size.
 */
static inline void ptr_ring_init_at(struct ptr_ring *r, void **queue,
				    uint32_t size, uint32_t batch)
{
	*r = (struct ptr_ring){
		.size = size,
		.batch = batch ? batch : ptr_ring_batch(size),
		.queue = queue,
	};
}

/* @size free slots on lines of their own, for free(). NULL: no memory. */
static inline void **ptr_ring_alloc(uint32_t size)
{
	size_t bytes;
	void *queue;

	if (__builtin_mul_overflow(size, sizeof(void *), &bytes) ||
	    __builtin_add_overflow(bytes, CACHE_PAIR - 1, &bytes))
		return NULL;
	bytes &= ~(size_t)(CACHE_PAIR - 1);
	queue = aligned_alloc(CACHE_PAIR, bytes);
	return queue ? memset(queue, 0, bytes) : NULL;
}

/* As ptr_ring_init_at, on memory of its own. 0, -EINVAL (no slots), -ENOMEM. */
static inline int ptr_ring_init(struct ptr_ring *r, uint32_t size,
				uint32_t batch)
{
	void **queue = size ? ptr_ring_alloc(size) : NULL;

	if (!queue)
		return size ? -ENOMEM : -EINVAL;
	ptr_ring_init_at(r, queue, size, batch);
	r->owned = true;
	return 0;
}

/* ---- Producer ---- */

/* Producer: no room for another pointer. Promises no ordering. */
static inline bool ptr_ring_full(struct ptr_ring *r)
{
	return READ_ONCE(r->queue[r->producer]);
}

/*
 * Producer: @ptr is not NULL. 0, or -1 when there is no free slot, which is
 * not the same as @size entries: what is consumed takes up its slot until it is
 * cleared. Whoever consumes @ptr sees what was written before this call.
 */
static inline int ptr_ring_produce(struct ptr_ring *r, void *ptr)
{
	void **slot = &r->queue[r->producer];

	/*
	 * B.acquire: a free slot before what is put there. Pairs with
	 * B.release in ptr_ring_clear.
	 */
	if (smp_load_acquire(slot))
		return -1;
	/*
	 * A.release: what @ptr points to before @ptr. Pairs with A.acquire in
	 * ptr_ring_peek.
	 */
	smp_store_release(slot, ptr);
	if (++r->producer == r->size)
		r->producer = 0;
	return 0;
}

/* Any producer: while it is held, the caller is the producer. */
static inline void ptr_ring_lock_producer(struct ptr_ring *r)
{
	spin_lock(&r->producer_lock);
}

static inline void ptr_ring_unlock_producer(struct ptr_ring *r)
{
	spin_unlock(&r->producer_lock);
}

/* Any producer; true at some moment during the call. */
static inline bool ptr_ring_full_mp(struct ptr_ring *r)
{
	bool full;

	ptr_ring_lock_producer(r);
	full = ptr_ring_full(r);
	ptr_ring_unlock_producer(r);
	return full;
}

/* Any producer: as ptr_ring_produce. What one produces stays in its order. */
static inline int ptr_ring_produce_mp(struct ptr_ring *r, void *ptr)
{
	int err;

	ptr_ring_lock_producer(r);
	err = ptr_ring_produce(r, ptr);
	ptr_ring_unlock_producer(r);
	return err;
}

/* ---- Consumer ---- */

/*
 * Any thread, while nobody resizes: nothing to consume. Promises no ordering.
 *
 * The consumer itself is told the truth: "not empty" stays so until it
 * consumes. Another thread may be told "empty" while there are entries: it reads
 * the head, then the slot that this names, and errs if that slot was consumed
 * and cleared before the second read, with more behind it.
 *
 *	clear first	that can be at any time from the clearing to the move of
 *			the head, for as long as the consumer stays there
 *	head first	only if the head moves, and the slot is cleared, between
 *			the two reads: not to one who makes both in one go
 *
 * "Not empty" is true at some moment of the call, if an entry counts as there
 * until the call that consumes it returns. All this is what stepping through
 * every interleaving of small rings found (doc/ptr-ring), so it holds where
 * others see the consumer's stores in order, as on x86. Elsewhere the head's
 * store and the clearing may be seen the other way round.
 */
static inline bool ptr_ring_empty(struct ptr_ring *r)
{
	uint32_t head = READ_ONCE(r->head);

	return !READ_ONCE(r->queue[head]);
}

/*
 * Consumer: the next pointer, which stays where it is; NULL when empty. What
 * its producer wrote before is visible.
 */
static inline void *ptr_ring_peek(struct ptr_ring *r)
{
	/*
	 * A.acquire: the pointer before what it points to. Pairs with
	 * A.release in ptr_ring_produce.
	 */
	return smp_load_acquire(&r->queue[r->head]);
}

/*
 * Clears the consumed slots, which end before @head, and moves the head there.
 * Returns how many. Part of ptr_ring_discard.
 */
static inline uint32_t ptr_ring_clear(struct ptr_ring *r, uint32_t head)
{
	const bool clear_first = ptr_ring_clears_first(r);
	const uint32_t tail = r->tail, next = head == r->size ? 0 : head;
	uint32_t slot = head;

	/* until the head moves, ptr_ring_empty looks at a used slot */
	if (!clear_first)
		WRITE_ONCE(r->head, next);
	r->tail = next;
	while (--slot != tail)
		WRITE_ONCE(r->queue[slot], NULL);
	/*
	 * B.release: all use of the batch, and the slots after this one, before
	 * the slot that the producer waits for. Pairs with B.acquire in
	 * ptr_ring_produce.
	 */
	smp_store_release(&r->queue[tail], NULL);
	if (clear_first)
		WRITE_ONCE(r->head, next);
	return head - tail;
}

/*
 * Consumer: done with the pointer that ptr_ring_peek gave. Returns how many
 * slots that made free: as a rule none, and then a whole batch. Without a
 * further consume, a producer that found the ring full finds it full until
 * then.
 */
static inline uint32_t ptr_ring_discard(struct ptr_ring *r)
{
	uint32_t head = r->head + 1;

	if (head - r->tail < r->batch && head != r->size) {
		WRITE_ONCE(r->head, head);
		return 0;
	}
	return ptr_ring_clear(r, head);
}

/*
 * Consumer: takes the next pointer; NULL when empty. *@freed is how many slots
 * that made free for the producer, 0 in most calls. n calls do not free n
 * slots: who has to wake a producer that waits for room does so when this is
 * not 0, not when something was consumed.
 */
static inline void *ptr_ring_consume_freed(struct ptr_ring *r, uint32_t *freed)
{
	void *ptr = ptr_ring_peek(r);

	*freed = ptr ? ptr_ring_discard(r) : 0;
	return ptr;
}

/* Consumer: the same, for who need not know. */
static inline void *ptr_ring_consume(struct ptr_ring *r)
{
	uint32_t freed;

	return ptr_ring_consume_freed(r, &freed);
}

/*
 * Consumer: takes up to @n pointers, oldest first, and returns how many; *@freed
 * as for ptr_ring_consume_freed, over all of them.
 */
static inline uint32_t ptr_ring_consume_batched(struct ptr_ring *r, void **ptrs,
						uint32_t n, uint32_t *freed)
{
	uint32_t i;

	*freed = 0;
	for (i = 0; i < n && (ptrs[i] = ptr_ring_peek(r)); i++)
		*freed += ptr_ring_discard(r);
	return i;
}

/* Any consumer: while it is held, the caller is the consumer. */
static inline void ptr_ring_lock_consumer(struct ptr_ring *r)
{
	spin_lock(&r->consumer_lock);
}

static inline void ptr_ring_unlock_consumer(struct ptr_ring *r)
{
	spin_unlock(&r->consumer_lock);
}

/* Any consumer: true at some moment during the call, and safe with a resize. */
static inline bool ptr_ring_empty_mc(struct ptr_ring *r)
{
	bool empty;

	ptr_ring_lock_consumer(r);
	empty = ptr_ring_empty(r);
	ptr_ring_unlock_consumer(r);
	return empty;
}

/* Any consumer: as the forms without _mc. Each pointer goes to one of them. */
static inline void *ptr_ring_consume_freed_mc(struct ptr_ring *r,
					      uint32_t *freed)
{
	void *ptr;

	ptr_ring_lock_consumer(r);
	ptr = ptr_ring_consume_freed(r, freed);
	ptr_ring_unlock_consumer(r);
	return ptr;
}

static inline void *ptr_ring_consume_mc(struct ptr_ring *r)
{
	uint32_t freed;

	return ptr_ring_consume_freed_mc(r, &freed);
}

static inline uint32_t ptr_ring_consume_batched_mc(struct ptr_ring *r,
						   void **ptrs, uint32_t n,
						   uint32_t *freed)
{
	ptr_ring_lock_consumer(r);
	n = ptr_ring_consume_batched(r, ptrs, n, freed);
	ptr_ring_unlock_consumer(r);
	return n;
}

/* ---- Both sides at once ---- */

static inline void ptr_ring_lock_both(struct ptr_ring *r)
{
	ptr_ring_lock_consumer(r);
	ptr_ring_lock_producer(r);
}

static inline void ptr_ring_unlock_both(struct ptr_ring *r)
{
	ptr_ring_unlock_producer(r);
	ptr_ring_unlock_consumer(r);
}

/*
 * Any thread that holds neither lock, with every producer and consumer under
 * its lock: puts the @n pointers, oldest first, back before all others, as if
 * they had not been consumed. Returns how many did not fit: those are the
 * oldest, @ptrs[0] on, still the caller's and due before what was put back.
 */
static inline uint32_t ptr_ring_unconsume(struct ptr_ring *r, void **ptrs,
					  uint32_t n)
{
	ptr_ring_lock_both(r);
	if (r->head != r->tail)
		ptr_ring_clear(r, r->head);
	while (n) {
		uint32_t slot = (r->head ? r->head : r->size) - 1;

		if (READ_ONCE(r->queue[slot]))
			break;
		WRITE_ONCE(r->queue[slot], ptrs[--n]);
		r->tail = slot;
		WRITE_ONCE(r->head, slot);
	}
	ptr_ring_unlock_both(r);
	return n;
}

/*
 * Any thread that holds neither lock, with every producer and consumer under
 * its lock; ptr_ring_empty without the lock is not for a ring that is resized.
 * Nothing is lost and the order stays. 0, or with nothing changed -ENOSPC if it
 * holds more than @size entries, -ENOMEM, or -EINVAL for a @size of 0.
 */
static inline int ptr_ring_resize(struct ptr_ring *r, uint32_t size,
				  uint32_t batch)
{
	void **queue = size ? ptr_ring_alloc(size) : NULL, **unused = queue;
	uint32_t slot, n = 0, most;
	void *ptr;

	if (!queue)
		return size ? -ENOMEM : -EINVAL;
	ptr_ring_lock_both(r);
	/* from the tail to the head there is what was consumed */
	most = r->size - (r->head - r->tail);
	for (slot = r->head; n < most && (ptr = READ_ONCE(r->queue[slot]));
	     n++) {
		if (n < size)
			queue[n] = ptr;
		if (++slot == r->size)
			slot = 0;
	}
	if (n <= size) {
		unused = r->owned ? r->queue : NULL;
		r->owned = true;
		r->queue = queue;
		r->size = size;
		r->batch = batch ? batch : ptr_ring_batch(size);
		r->producer = n == size ? 0 : n;
		r->tail = 0;
		WRITE_ONCE(r->head, 0);
	}
	ptr_ring_unlock_both(r);
	free(unused);
	return n > size ? -ENOSPC : 0;
}

/*
 * After both sides have stopped: @destroy, unless NULL, gets each entry that is
 * left, oldest first, and the ring's own memory goes.
 */
static inline void ptr_ring_cleanup(struct ptr_ring *r, void (*destroy)(void *))
{
	void *ptr;

	while (destroy && (ptr = ptr_ring_consume(r)))
		destroy(ptr);
	if (r->owned)
		free(r->queue);
	r->queue = NULL;
}

#endif
