// SPDX-License-Identifier: MIT
/*
 * spsc_index: two queues of pointers, each with a head and a tail.
 *
 * One takes buffers to the host, the other takes them back. Whoever fills a queue
 * moves its tail for each pointer, whoever empties it its head, and each side keeps
 * the other's index as it last saw it: it looks again only when the queue would be
 * full or empty otherwise. That is the queue of most libraries for one producer and
 * one consumer (Lamport's, with cached indexes).
 *
 *	slot[0..size-1]	8 bytes each, 8 to a cache line; written by who fills
 *	head		a pair of lines of its own; written by who empties
 *	tail		a pair of lines of its own; written by who fills
 *
 * Nobody has to read a head here: as many are under way as a queue holds, so it
 * never is full. A program of its own would, and so the heads are moved.
 *
 * Traffic: a line goes to the host for 8 buffers, and one comes back for 8; each look
 * at a tail that has moved since is one more.
 *
 * Edges:
 *	A  guest to host: pointer, then tail of the queue to the host
 *	B  host to guest: pointer, then tail of the queue back
 */
#include "main.h"

struct queue {
	uint32_t head __cache_aligned;
	uint32_t tail __cache_aligned;
};
ASSERT_APART(struct queue);

struct queues {
	struct queue to, back;
};

static struct {
	void **to, **back;
	struct queues *queues;
	uint32_t mask;
} __cache_aligned ring;

static struct guest {
	uint32_t tail;	    /* of the queue to the host */
	void **names;	    /* in the order that buffers were added in */
	uint32_t head;	    /* of the queue back */
	uint32_t tail_seen; /* of the queue back, as last read */
} __cache_aligned guest;
ASSERT_APART(struct guest);

static struct host {
	uint32_t head;	    /* of the queue to us, and tail of the one back */
	uint32_t tail_seen; /* of the queue to us, as last read */
} __cache_aligned host;
ASSERT_APART(struct host);

const struct ring_info ring_info = {
	.name = RING_NAME,
	.min_size = 1,
	.max_size = 1 << 24,
	.power_of_two = true,
	.addresses = true,
	.completes = true,
};

void alloc_ring(void)
{
	const uint32_t size = config.ring_size, origin = config.origin;

	ring.to = alloc_pages(size * sizeof(*ring.to));
	ring.back = alloc_pages(size * sizeof(*ring.back));
	ring.queues = alloc_pages(sizeof(*ring.queues));
	ring.mask = size - 1;
	*ring.queues = (struct queues){
		.to = { origin, origin },
		.back = { origin, origin },
	};
	guest = (struct guest){
		.names = alloc_pages(size * sizeof(*guest.names)),
		.tail = origin,
		.head = origin,
		.tail_seen = origin,
	};
	host = (struct host){ .head = origin, .tail_seen = origin };
}

/* ---- guest side ---- */

int add_inbuf(unsigned len, void *buf, void *data)
{
	const uint32_t tail = guest.tail, slot = tail & ring.mask;

	(void)len;
	if (tail - guest.head > ring.mask)
		return -1;
	guest.names[slot] = data;
	WRITE_ONCE(ring.to[slot], buf);
	guest.tail = tail + 1;
	/*
	 * A.release: the pointer, and the buffer, before the tail. Pairs with
	 * A.acquire in find_to.
	 */
	smp_store_release(&ring.queues->to.tail, tail + 1);
	return 0;
}

static inline bool find_back(void)
{
	if (guest.head != guest.tail_seen)
		return true;
	/*
	 * B.acquire: the tail before pointers, and before the buffers are the
	 * guest's again. Pairs with B.release in use_buf.
	 */
	guest.tail_seen = smp_load_acquire(&ring.queues->back.tail);
	return guest.head != guest.tail_seen;
}

void *get_buf(unsigned *lenp, void **bufp)
{
	const uint32_t head = guest.head, slot = head & ring.mask;

	if (!find_back())
		return NULL;
	*lenp = 0;
	*bufp = READ_ONCE(ring.back[slot]);
	guest.head = head + 1;
	WRITE_ONCE(ring.queues->back.head, head + 1);
	return guest.names[slot];
}

bool used_empty(void)
{
	return guest.head == guest.tail_seen &&
	       guest.head == READ_ONCE(ring.queues->back.tail);
}

/* ---- host side ---- */

bool avail_empty(void)
{
	return host.head == host.tail_seen &&
	       host.head == READ_ONCE(ring.queues->to.tail);
}

static inline bool find_to(void)
{
	if (host.head != host.tail_seen)
		return true;
	/* A.acquire: the tail before pointers. Pairs with A.release in add_inbuf. */
	host.tail_seen = smp_load_acquire(&ring.queues->to.tail);
	return host.head != host.tail_seen;
}

bool use_buf(unsigned *lenp, void **bufp)
{
	const uint32_t head = host.head, slot = head & ring.mask;

	if (!find_to())
		return false;
	*lenp = 0;
	give_host(bufp, READ_ONCE(ring.to[slot]));
	host.head = head + 1;
	WRITE_ONCE(ring.queues->to.head, head + 1);
	WRITE_ONCE(ring.back[slot], *bufp);
	/*
	 * B.release: the pointer, and the end of all use of the buffer and of
	 * its slot, before the tail. Pairs with B.acquire in find_back.
	 */
	smp_store_release(&ring.queues->back.tail, head + 1);
	return true;
}

#include "harness/quiet.inc"
