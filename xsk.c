// SPDX-License-Identifier: MIT
/*
 * xsk: AF_XDP's pair of rings, transmit and completion.
 *
 * The guest fills descriptors of 16 bytes; the host sends the buffers' addresses
 * back. Each ring has a producer, which says how far it is filled, and a consumer,
 * how far it is emptied (if_xdp.h of Linux's user interface).
 *
 *	tx_desc[0..size-1]	16 bytes each, 4 to a cache line; written by
 *				the guest
 *	tx.producer, .consumer	a line each; written by guest and host
 *	addr[0..size-1]		8 bytes each, 8 to a line; written by the host
 *	comp.producer, .consumer	a line each; written by host and guest
 *	tx.flags		a line of its own; written by the host: wants a
 *				kick
 *	comp.flags		a line of its own; written by the guest: wants a
 *				call, which AF_XDP leaves to poll()
 *
 * A side that fills a ring moves its producer once for --param entries, or when it
 * has nothing else to do, as drivers do for a burst of packets. A side that empties
 * one keeps the producer as it last saw it. Nobody has to read a consumer here: as
 * many are under way as there are entries, so one is free once its address is back.
 *
 * Traffic: a line goes to the host for 4 buffers, and one comes back for 8; for a
 * batch the line of each producer.
 *
 * Edges:
 *	A  guest to host: descriptor, then tx.producer
 *	B  host to guest: address, then comp.producer
 *	C  tx.producer moved, against NEED_WAKEUP of tx set
 *	D  comp.producer moved, against NEED_WAKEUP of comp set
 */
#include "main.h"
#include "harness/batch.h"

#define NEED_WAKEUP (1 << 0)

struct desc {
	uint64_t addr;
	uint32_t len;
	uint32_t options;
};
_Static_assert(sizeof(struct desc) == 16, "as Linux has it");

struct indexes {
	uint32_t producer __attribute__((aligned(CACHE_LINE)));
	uint32_t consumer __attribute__((aligned(CACHE_LINE)));
	uint32_t flags __attribute__((aligned(CACHE_LINE)));
};

struct rings {
	struct indexes tx, comp;
} __cache_aligned;
ASSERT_APART(struct rings);

/* Entries to prefetch ahead. */
#define DESC_AHEAD (PREFETCH_AHEAD / sizeof(struct desc))
#define ADDR_AHEAD 16

static struct {
	struct desc *desc;
	uint64_t *addr;
	struct rings *rings;
	uint32_t mask;
	uint32_t batch; /* entries to a producer */
} __cache_aligned ring;

struct name {
	void *data;
	uint32_t len;
};

static struct guest {
	uint32_t tx_producer; /* next to add */
	uint32_t published;   /* tx.producer as last written */
	struct name *names;   /* in the order that buffers were added in */
	uint32_t consumer;    /* next to get back */
	uint32_t comp_seen;   /* comp.producer as last read */
	uint32_t kicked;      /* tx_producer at the last look at tx.flags */
} __cache_aligned guest;
ASSERT_APART(struct guest);

static struct host {
	uint32_t consumer;  /* next to use, and to send back */
	uint32_t tx_seen;   /* tx.producer as last read */
	uint32_t published; /* comp.producer as last written */
	uint32_t called;    /* consumer at the last look at comp.flags */
} __cache_aligned host;
ASSERT_APART(struct host);

const struct ring_info ring_info = {
	.name = RING_NAME,
	.min_size = 1,
	.max_size = 32768,
	.power_of_two = true,
	.max_len = UINT32_MAX,
	.addresses = true,
	.notifies = true,
	.flags = true,
	.completes = true,
	.batches = true,
	.whole = true, /* an address is all that comes back */
	.param = "batch",
	.param_divisor = 1,
};

void alloc_ring(void)
{
	const uint32_t size = config.ring_size, origin = config.origin;

	ring.desc = alloc_pages(size * sizeof(*ring.desc));
	ring.addr = alloc_pages(size * sizeof(*ring.addr));
	ring.rings = alloc_pages(sizeof(*ring.rings));
	ring.mask = size - 1;
	ring.batch = batch_size(64);
	*ring.rings = (struct rings){
		.tx = { origin, origin, 0 },
		.comp = { origin, origin, 0 },
	};
	guest = (struct guest){
		.names = alloc_pages(size * sizeof(*guest.names)),
		.tx_producer = origin,
		.published = origin,
		.consumer = origin,
		.comp_seen = origin,
		.kicked = origin,
	};
	host = (struct host){
		.consumer = origin,
		.tx_seen = origin,
		.published = origin,
		.called = origin,
	};
}

/* ---- guest side ---- */

static inline void publish_tx(void)
{
	guest.published = guest.tx_producer;
	/*
	 * A.release: descriptors and buffers before the producer. Pairs with
	 * A.acquire in find_desc.
	 */
	smp_store_release(&ring.rings->tx.producer, guest.tx_producer);
}

/* Nothing is held back from here on. */
static inline void publish_rest_of_tx(void)
{
	if (guest.published != guest.tx_producer)
		publish_tx();
}

int add_inbuf(unsigned len, void *buf, void *data)
{
	const uint32_t idx = guest.tx_producer, slot = idx & ring.mask;
	struct desc *desc = &ring.desc[slot];

	if (idx - guest.consumer > ring.mask) {
		publish_rest_of_tx();
		return -1;
	}
	prefetch_for_write(&ring.desc[(idx + DESC_AHEAD) & ring.mask]);
	guest.names[slot] = (struct name){ data, len };
	WRITE_ONCE(desc->addr, (uintptr_t)buf);
	WRITE_ONCE(desc->len, len);
	guest.tx_producer = idx + 1;
	if (guest.tx_producer - guest.published >= ring.batch)
		publish_tx();
	return 0;
}

static inline bool find_addr(void)
{
	if (guest.consumer != guest.comp_seen)
		return true;
	/*
	 * B.acquire: the producer before addresses, and before the buffers are
	 * the guest's again. Pairs with B.release in publish_comp.
	 */
	guest.comp_seen = smp_load_acquire(&ring.rings->comp.producer);
	return guest.consumer != guest.comp_seen;
}

void *get_buf(unsigned *lenp, void **bufp)
{
	const uint32_t idx = guest.consumer, slot = idx & ring.mask;
	const struct name *name = &guest.names[slot];

	if (!find_addr()) {
		publish_rest_of_tx();
		return NULL;
	}
	prefetch(&ring.addr[(idx + ADDR_AHEAD) & ring.mask]);
	*bufp = (void *)(uintptr_t)READ_ONCE(ring.addr[slot]);
	guest.consumer = idx + 1;
	if (guest.consumer == guest.comp_seen)
		WRITE_ONCE(ring.rings->comp.consumer, guest.consumer);
	*lenp = name->len;
	return name->data;
}

void disable_call(void)
{
	WRITE_ONCE(ring.rings->comp.flags, 0);
}

bool used_empty(void)
{
	publish_rest_of_tx();
	return guest.consumer == guest.comp_seen &&
	       guest.consumer == READ_ONCE(ring.rings->comp.producer);
}

bool enable_call(void)
{
	WRITE_ONCE(ring.rings->comp.flags, NEED_WAKEUP);
	/*
	 * D.arm: the request before another look at the ring. Pairs with D.call
	 * in call_used.
	 */
	smp_mb();
	return used_empty();
}

void kick_available(void)
{
	const bool added = guest.kicked != guest.tx_producer;

	publish_rest_of_tx();
	guest.kicked = guest.tx_producer;
	/*
	 * C.kick: the producer before a look at the request. Pairs with C.arm
	 * in enable_kick.
	 */
	smp_mb();
	if (added && READ_ONCE(ring.rings->tx.flags) & NEED_WAKEUP)
		kick();
}

/* ---- host side ---- */

static inline void publish_comp(void)
{
	host.published = host.consumer;
	WRITE_ONCE(ring.rings->tx.consumer, host.consumer);
	/*
	 * B.release: addresses, and the end of all use of descriptors and
	 * buffers, before the producer. Pairs with B.acquire in find_addr.
	 */
	smp_store_release(&ring.rings->comp.producer, host.consumer);
}

/* Nothing is held back from here on. */
static inline void publish_rest_of_comp(void)
{
	if (host.published != host.consumer)
		publish_comp();
}

void disable_kick(void)
{
	WRITE_ONCE(ring.rings->tx.flags, 0);
}

bool avail_empty(void)
{
	publish_rest_of_comp();
	return host.consumer == host.tx_seen &&
	       host.consumer == READ_ONCE(ring.rings->tx.producer);
}

bool enable_kick(void)
{
	WRITE_ONCE(ring.rings->tx.flags, NEED_WAKEUP);
	/*
	 * C.arm: the request before another look at the ring. Pairs with C.kick
	 * in kick_available.
	 */
	smp_mb();
	return avail_empty();
}

static inline bool find_desc(void)
{
	if (host.consumer != host.tx_seen)
		return true;
	/*
	 * A.acquire: the producer before descriptors. Pairs with A.release in
	 * publish_tx.
	 */
	host.tx_seen = smp_load_acquire(&ring.rings->tx.producer);
	return host.consumer != host.tx_seen;
}

bool use_buf(unsigned *lenp, void **bufp)
{
	const uint32_t idx = host.consumer, slot = idx & ring.mask;
	const struct desc *desc = &ring.desc[slot];
	uint64_t addr;

	if (!find_desc()) {
		publish_rest_of_comp();
		return false;
	}
	/* only what is there, or the guest would miss what it is to fill */
	if (host.tx_seen - idx > DESC_AHEAD)
		prefetch(&ring.desc[(idx + DESC_AHEAD) & ring.mask]);
	prefetch_for_write(&ring.addr[(idx + ADDR_AHEAD) & ring.mask]);
	addr = READ_ONCE(desc->addr);
	*lenp = READ_ONCE(desc->len);
	give_host(bufp, (void *)(uintptr_t)addr);
	WRITE_ONCE(ring.addr[slot], addr);
	host.consumer = idx + 1;
	if (host.consumer - host.published >= ring.batch)
		publish_comp();
	return true;
}

void call_used(void)
{
	const bool used = host.called != host.consumer;

	publish_rest_of_comp();
	host.called = host.consumer;
	/*
	 * D.call: the producer before a look at the request. Pairs with D.arm in
	 * enable_call.
	 */
	smp_mb();
	if (used && READ_ONCE(ring.rings->comp.flags) & NEED_WAKEUP)
		call();
}
