// SPDX-License-Identifier: MIT
/*
 * rte_ring: two rings of DPDK's, each with a single producer and consumer. Pointers
 * go in and out several at a time, as its users do it: --param says how many.
 */
#include <rte_ring.h>

#include "main.h"

#define BURST 32 /* what most examples of DPDK have */

struct queue {
	struct rte_ring *ring;
	struct end { /* of one thread */
		unsigned n, next;
		void **held;
	} __cache_aligned in, out;
};

const struct ring_info ring_info = {
	.name = RING_NAME,
	.min_size = 1,
	.max_size = 1 << 24,
	.power_of_two = true,
	.addresses = true,
	.completes = true,
	.batches = true,
	.param = "burst",
	.param_divisor = 1,
};

static unsigned burst;

static void queue_init(struct queue *q, uint32_t size)
{
	/* it would be rounded up to twice the size, of which it fills half */
	const unsigned slots = size > 1 ? 2 * size : 4;

	burst = config.param	 ? config.param :
		size / 4 > BURST ? BURST :
		size / 4	 ? size / 4 :
				   1;
	q->ring = alloc_pages(rte_ring_get_memsize(slots));
	if (rte_ring_init(q->ring, RING_NAME, slots,
			  RING_F_SP_ENQ | RING_F_SC_DEQ))
		__builtin_trap(); /* a size that it does not take */
	q->in = (struct end){ .held = alloc_pages(burst * sizeof(void *)) };
	q->out = (struct end){ .held = alloc_pages(burst * sizeof(void *)) };
}

static inline void queue_flush(struct queue *q)
{
	if (q->in.n)
		rte_ring_sp_enqueue_bulk(q->ring, q->in.held, q->in.n, NULL);
	q->in.n = 0;
}

static inline void queue_put(struct queue *q, void *p)
{
	q->in.held[q->in.n++] = p;
	if (q->in.n == burst)
		queue_flush(q);
}

static inline void *queue_take(struct queue *q)
{
	if (q->out.next == q->out.n) {
		q->out.next = 0;
		q->out.n = rte_ring_sc_dequeue_burst(q->ring, q->out.held,
						     burst, NULL);
		if (!q->out.n)
			return NULL;
	}
	return q->out.held[q->out.next++];
}

static inline bool queue_empty(const struct queue *q)
{
	return q->out.next == q->out.n && rte_ring_empty(q->ring);
}

#include "peers/two_queues.inc"
