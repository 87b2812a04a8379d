// SPDX-License-Identifier: MIT
/* boost_spsc_queue: two of Boost's lockfree::spsc_queue, in C++ behind C. */
#include <boost/lockfree/spsc_queue.hpp>

#define _Static_assert static_assert
#define _Alignof alignof
extern "C" {
#include "main.h"
}

struct queue {
	boost::lockfree::spsc_queue<void *> *q;
};

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
	delete q->q; /* of the run before */
	q->q = new boost::lockfree::spsc_queue<void *>(size);
}

static inline void queue_put(struct queue *q, void *p)
{
	q->q->push(p);
}

static inline void *queue_take(struct queue *q)
{
	void *p = nullptr;

	return q->q->pop(p) ? p : nullptr;
}

static inline bool queue_empty(const struct queue *q)
{
	return !q->q->read_available();
}

static inline void queue_flush(struct queue *q)
{
	(void)q;
}

extern "C" {
#include "peers/two_queues.inc"
}
