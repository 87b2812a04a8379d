/* SPDX-License-Identifier: MIT */
/*
 * A ring of pointers for one producer and one consumer. A slot that holds NULL
 * is free; nothing else is shared to say what is in the ring.
 *
 * The consumer does not free each slot as it goes, which would take the line
 * from the producer for every pointer. Once batch of them are consumed, or at
 * the end of the array, it clears them all, the oldest last: the producer waits
 * for that one, and so keeps off the line until all of it is free.
 *
 *	producer	one pair of lines; written by the producer
 *	head, tail	one pair of lines; written by the consumer
 *	size, batch,	one pair of lines; constant
 *	queue
 *	queue[]		a pointer from the producer, NULL from the consumer
 *
 * Edges:
 *	A  producer to consumer: what the pointer points to, then the pointer
 *	B  consumer to producer: the end of all use, then NULL in the oldest
 *	   slot of a batch
 */
#ifndef PTR_RING_H
#define PTR_RING_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "harness/barrier.h"

struct ptr_ring {
	uint32_t producer __cache_aligned;	/* next slot to fill */
	uint32_t head __cache_aligned;		/* next slot to consume */
	uint32_t tail;				/* oldest slot not yet cleared */
	uint32_t size __cache_aligned;
	uint32_t batch;
	void **queue;
};
ASSERT_APART(struct ptr_ring);

/* Two cache lines' worth of slots, or 1 where that is over half the ring. */
static inline uint32_t ptr_ring_batch(uint32_t size)
{
	const uint32_t batch = 128 / sizeof(void *);

	return batch > size / 2 ? 1 : batch;
}

/*
 * Before either side starts. @queue: @size slots of NULL, the caller's. @batch:
 * 1 to @size.
 */
static inline void ptr_ring_init(struct ptr_ring *r, void **queue,
				 uint32_t size, uint32_t batch)
{
	*r = (struct ptr_ring){ .size = size, .batch = batch, .queue = queue };
}

/* Producer: no room for another pointer. */
static inline bool ptr_ring_full(struct ptr_ring *r)
{
	return READ_ONCE(r->queue[r->producer]);
}

/* Producer: @ptr is not NULL. 0, or -1 when the ring is full. */
static inline int ptr_ring_produce(struct ptr_ring *r, void *ptr)
{
	void **slot = &r->queue[r->producer];

	/*
	 * B.acquire: a free slot before what is put there. Pairs with
	 * B.release in ptr_ring_discard.
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

/* Consumer: nothing to consume. Promises no ordering. */
static inline bool ptr_ring_empty(struct ptr_ring *r)
{
	return !READ_ONCE(r->queue[r->head]);
}

/* Consumer: the next pointer, which stays where it is; NULL when empty. */
static inline void *ptr_ring_peek(struct ptr_ring *r)
{
	/*
	 * A.acquire: the pointer before what it points to. Pairs with
	 * A.release in ptr_ring_produce.
	 */
	return smp_load_acquire(&r->queue[r->head]);
}

/* Consumer: done with the pointer that ptr_ring_peek gave. */
static inline void ptr_ring_discard(struct ptr_ring *r)
{
	uint32_t tail = r->tail, head = r->head + 1, slot = head;
	bool at_end = head == r->size;

	/* The head first: until then ptr_ring_empty looks at a used slot. */
	if (head - tail < r->batch && !at_end) {
		WRITE_ONCE(r->head, head);
		return;
	}
	WRITE_ONCE(r->head, at_end ? 0 : head);
	r->tail = at_end ? 0 : head;
	while (--slot != tail)
		WRITE_ONCE(r->queue[slot], NULL);
	/*
	 * B.release: all use of the batch, and the slots after this one, before
	 * the slot that the producer waits for. Pairs with B.acquire in
	 * ptr_ring_produce.
	 */
	smp_store_release(&r->queue[tail], NULL);
}

/* Consumer: takes the next pointer; NULL when empty. */
static inline void *ptr_ring_consume(struct ptr_ring *r)
{
	void *ptr = ptr_ring_peek(r);

	if (ptr)
		ptr_ring_discard(r);
	return ptr;
}

#endif
