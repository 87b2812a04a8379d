// SPDX-License-Identifier: MIT
/*
 * spsc_slot: two queues of pointers without any index in common.
 *
 * One takes buffers to the host, the other takes them back. A slot that is NULL is
 * empty: who empties it writes NULL, and who fills it looks at it before. Each side
 * knows where it is, and need not know where the other one is (FastForward).
 *
 *	to[0..size-1]	8 bytes each, 8 to a cache line; written by both
 *	back[0..size-1]	the same
 *
 * Nobody has to look whether a slot is empty here: as many are under way as a queue
 * holds. A program of its own would, and so it is emptied.
 *
 * Traffic: two lines go to the host and back for 8 buffers, one of each queue.
 *
 * Edges:
 *	A  guest to host: the buffer, then its pointer
 *	B  host to guest: the same, back
 */
#include "main.h"

/* Slots to prefetch ahead: both sides write what they read. */
#define AHEAD (PREFETCH_AHEAD / sizeof(void *))
#define HOST_AHEAD 16

static struct {
	void **to, **back;
	uint32_t mask;
} __cache_aligned ring;

static struct guest {
	uint32_t tail; /* next to add */
	void **names;  /* in the order that buffers were added in */
	uint32_t head; /* next to get back */
} __cache_aligned guest;
ASSERT_APART(struct guest);

static struct host {
	uint32_t head; /* next to use, and to send back */
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
	ring.mask = size - 1;
	guest = (struct guest){
		.names = alloc_pages(size * sizeof(*guest.names)),
		.tail = origin,
		.head = origin,
	};
	host = (struct host){ .head = origin };
}

/* ---- guest side ---- */

int add_inbuf(unsigned len, void *buf, void *data)
{
	const uint32_t tail = guest.tail, slot = tail & ring.mask;

	(void)len;
	if (tail - guest.head > ring.mask)
		return -1;
	guest.names[slot] = data;
	guest.tail = tail + 1;
	/* A.release: the buffer before its pointer. Pairs with A.acquire in use_buf. */
	smp_store_release(&ring.to[slot], buf);
	return 0;
}

void *get_buf(unsigned *lenp, void **bufp)
{
	const uint32_t head = guest.head, slot = head & ring.mask;
	/*
	 * B.acquire: the pointer before the buffer is the guest's again. Pairs
	 * with B.release in use_buf.
	 */
	void *buf = smp_load_acquire(&ring.back[slot]);

	if (!buf)
		return NULL;
	prefetch_for_write(&ring.back[(head + AHEAD) & ring.mask]);
	guest.head = head + 1;
	WRITE_ONCE(ring.back[slot], NULL);
	*lenp = 0;
	*bufp = buf;
	return guest.names[slot];
}

bool used_empty(void)
{
	return !READ_ONCE(ring.back[guest.head & ring.mask]);
}

/* ---- host side ---- */

bool avail_empty(void)
{
	return !READ_ONCE(ring.to[host.head & ring.mask]);
}

bool use_buf(unsigned *lenp, void **bufp)
{
	const uint32_t head = host.head, slot = head & ring.mask;
	/* A.acquire: the pointer before the buffer. Pairs with A.release in add_inbuf. */
	void *buf = smp_load_acquire(&ring.to[slot]);

	if (!buf)
		return false;
	prefetch_for_write(&ring.to[(head + HOST_AHEAD) & ring.mask]);
	host.head = head + 1;
	WRITE_ONCE(ring.to[slot], NULL);
	*lenp = 0;
	give_host(bufp, buf);
	/*
	 * B.release: the empty slot, and the end of all use of the buffer, before
	 * its pointer. Pairs with B.acquire in get_buf.
	 */
	smp_store_release(&ring.back[slot], buf);
	return true;
}

#include "harness/quiet.inc"
