// SPDX-License-Identifier: MIT
/* ck_ring: two rings of Concurrency Kit's, each with a single producer and consumer. */
#include <ck_ring.h>

#include "main.h"

struct queue {
	ck_ring_t ring;
	ck_ring_buffer_t *slots;
} __cache_aligned;

const struct ring_info ring_info = {
	.name = RING_NAME,
	.min_size = 1,
	.max_size = 1 << 24,
	.power_of_two = true,
	.addresses = true,
	.completes = true,
};

static void queue_init(struct queue *q, uint32_t size)
{
	/* one slot stays empty, and the number is a power of two */
	const unsigned slots = size > 1 ? 2 * size : 4;

	q->slots = alloc_pages(slots * sizeof(*q->slots));
	ck_ring_init(&q->ring, slots);
}

static inline void queue_put(struct queue *q, void *p)
{
	ck_ring_enqueue_spsc(&q->ring, q->slots, p);
}

static inline void *queue_take(struct queue *q)
{
	void *p = NULL;

	return ck_ring_dequeue_spsc(&q->ring, q->slots, &p) ? p : NULL;
}

static inline bool queue_empty(const struct queue *q)
{
	return !ck_ring_size(&q->ring);
}

static inline void queue_flush(struct queue *q)
{
	(void)q;
}

#include "peers/two_queues.inc"
