// SPDX-License-Identifier: MIT
/*
 * virtio_ring_0_9: the split virtqueue, and what its variants share.
 *
 * The guest puts a buffer into a free descriptor and the descriptor's number
 * into the available ring; the host puts the number and the length used into
 * the used ring.
 *
 *	desc[]		16 bytes each; written by the guest (in order: the
 *			length also by the host)
 *	avail		flags, idx, ring[], used_event; written by the guest
 *	used		page aligned; flags, idx, ring[], avail_event; written
 *			by the host
 *
 * Neither idx nor the events have lines of their own: each shares one with the
 * first or last entries of its ring, as virtio lays them out.
 *
 * A variant defines CONSUME and includes this file; one with another host
 * defines HOST_SIDE, the file that has it. How a consumer finds
 * out what is new:
 */
enum {
	BY_INDEX,	/* reads idx, then the entries up to it */
	BY_ENTRY,	/* reads the entry, which says in which lap it was
			 * written; idx is kept up but not read */
	IN_ORDER,	/* reads idx only; buffers complete in order, no entry
			 * is needed, the length used is left in desc.len */
	BATCHED,	/* as BY_INDEX, but idx is written once for --param
			 * entries, or when its writer has nothing else to do */
};
#ifndef CONSUME
#define CONSUME BY_INDEX
#endif
/*
 * Edges:
 *	A  guest to host: descriptor and entry, then idx
 *	B  host to guest: entry or length used, then idx
 *	C  idx or entry added, against avail_event armed
 *	D  idx or entry used, against used_event armed
 *	E  BY_ENTRY's A: descriptor, then the entry
 *	F  BY_ENTRY's B: length used, then the id
 */
#include "main.h"
#include "virtio/event.h"
#include "virtio/vring.h"

/*
 * Entries to prefetch ahead: four lines' worth of descriptors, one of used and
 * one of the available ring. BY_ENTRY, the host sees what was added only in the
 * line of the available ring that it is reading.
 */
#define AHEAD	    (PREFETCH_AHEAD / sizeof(struct vring_desc))
#define AVAIL_AHEAD 32
#define USED_AHEAD  8
#define SEEN_AHEAD  8

static struct vring ring __cache_aligned;

struct name {
	void *data;
	void *buf;
};

/*
 * An index that the other side wrote is read again only when all up to it is
 * consumed: its line is written for each buffer, and each look takes it away.
 *
 * The counters are kept apart, or gcc updates two with one vector.
 */
static struct guest {
	uint32_t avail_idx;	/* next to add */
	struct name *names;	/* by descriptor */
	uint32_t used_idx;	/* next to get back */
	uint16_t free_head;	/* free descriptors chain through next */
	uint32_t used_seen;	/* used->idx as last read */
	uint32_t batch;		/* BATCHED: entries to an index */
	uint32_t published_idx;	/* BATCHED: avail->idx as last written */
	uint32_t kicked_idx;	/* avail_idx at the last look at avail_event */
} __cache_aligned guest;
ASSERT_APART(struct guest);

#ifndef HOST_SIDE
static struct host {
	uint32_t used_idx;	/* next to use */
	uint32_t batch;		/* BATCHED: entries to an index */
	uint32_t avail_seen;	/* avail->idx as last read */
	uint32_t published_idx;	/* BATCHED: used->idx as last written */
	uint32_t called_idx;	/* used_idx at the last look at used_event */
} __cache_aligned host;
ASSERT_APART(struct host);
#endif

/* Before the first use_buf; the ring's memory is all set. */
static void init_host(uint32_t origin);

const struct ring_info ring_info = {
	.name = RING_NAME,
	.min_size = 1,
	.max_size = VRING_MAX_SIZE,
	.power_of_two = true,
	.max_len = UINT32_MAX,
	.addresses = true,
	.notifies = true,
	.completes = true,
	.batches = CONSUME == BATCHED,
	.param = CONSUME == BATCHED ? "batch" : NULL,
	.param_divisor = 1,
};

/*
 * What entry number @idx adds to its descriptor's number: the lap, in the bits
 * that the number leaves free. Turned over by 0x8000, so that zeroed memory is
 * not lap 0.
 */
static inline uint16_t lap(uint32_t idx)
{
	return (idx & ~ring.mask) ^ 0x8000;
}

static inline bool written(uint16_t entry, uint32_t idx)
{
	return (uint16_t)(entry & ~ring.mask) == lap(idx);
}

/* BATCHED: a quarter of the ring, so that both sides have some to work on. */
static uint32_t batch_size(void)
{
	if (config.param)
		return config.param;
	if (config.ring_size >= 4 * 64)
		return 64;
	return config.ring_size >= 4 ? config.ring_size / 4 : 1;
}

/* An index of 16 bits that is at or past @from, counted as @from is. */
static inline uint32_t widen(uint16_t idx, uint32_t from)
{
	return from + (uint16_t)(idx - from);
}

void alloc_ring(void)
{
	const uint32_t size = config.ring_size, origin = config.origin;

	vring_init(&ring, size, alloc_pages(vring_bytes(size)));
	guest = (struct guest){
		.names = alloc_pages(size * sizeof(*guest.names)),
		.batch = batch_size(),
		.avail_idx = origin,
		.used_idx = origin,
		.used_seen = origin,
		.published_idx = origin,
		.kicked_idx = origin,
	};

	for (uint32_t i = 0; i < size; i++)
		ring.desc[i].next = i + 1;
	if (CONSUME == BY_ENTRY)
		for (uint32_t i = origin - size; i != origin; i++) {
			ring.avail->ring[i & ring.mask] = lap(i);
			ring.used->ring[i & ring.mask].id = lap(i);
		}
	ring.avail->idx = origin;
	ring.used->idx = origin;
	*ring.avail_event = origin - 1;	/* not armed */
	*ring.used_event = origin - 1;
	init_host(origin);
}

/* ---- guest side ---- */

static inline void publish_avail(void)
{
	/*
	 * A.release: the descriptors, the buffers and the entries before the
	 * index. Pairs with A.acquire in use_buf.
	 */
	smp_store_release(&ring.avail->idx, guest.avail_idx);
	guest.published_idx = guest.avail_idx;
}

/* BATCHED: nothing is held back from here on. */
static inline void publish_rest_of_avail(void)
{
	if (CONSUME == BATCHED && guest.published_idx != guest.avail_idx)
		publish_avail();
}

int add_inbuf(unsigned len, void *buf, void *data)
{
	const uint32_t idx = guest.avail_idx;
	uint16_t *entry = &ring.avail->ring[idx & ring.mask];
	struct vring_desc *desc;
	uint16_t head;

	if (idx - guest.used_idx > ring.mask) {
		publish_rest_of_avail();
		return -1;
	}

	if (CONSUME == IN_ORDER) {
		head = idx & ring.mask;
		desc = &ring.desc[head];
	} else {
		head = guest.free_head;
		desc = &ring.desc[head];
		guest.free_head = READ_ONCE(desc->next) & ring.mask;
	}
	/* As a rule descriptors come free in the order of the table. */
	prefetch_for_write(&ring.desc[(head + AHEAD) & ring.mask]);
	if (CONSUME == BY_INDEX || CONSUME == BY_ENTRY)
		prefetch_for_write(
			&ring.avail->ring[(idx + AVAIL_AHEAD) & ring.mask]);
	guest.names[head] = (struct name){ data, buf };
	WRITE_ONCE(desc->addr, (uintptr_t)buf);
	WRITE_ONCE(desc->len, len);
	WRITE_ONCE(desc->flags, VRING_DESC_F_WRITE);

	guest.avail_idx = idx + 1;
	if (CONSUME == BY_ENTRY) {
		/*
		 * E.release: the descriptor, and the buffer, before the entry.
		 * Pairs with E.acquire in use_buf.
		 */
		smp_store_release(entry, head | lap(idx));
		WRITE_ONCE(ring.avail->idx, idx + 1);
		return 0;
	}
	if (CONSUME != IN_ORDER)
		WRITE_ONCE(*entry, head);
	if (CONSUME != BATCHED ||
	    guest.avail_idx - guest.published_idx >= guest.batch)
		publish_avail();
	return 0;
}

void *get_buf(unsigned *lenp, void **bufp)
{
	const uint32_t idx = guest.used_idx;
	struct vring_used_elem *elem = &ring.used->ring[idx & ring.mask];
	struct name *name;
	uint16_t id;

	if (CONSUME == BY_ENTRY) {
		/*
		 * F.acquire: the id before the length used. Pairs with
		 * F.release in use_buf.
		 */
		id = smp_load_acquire(&elem->id);
		if (!written(id, idx))
			return NULL;
	} else {
		if (guest.used_seen == idx) {
			/*
			 * B.acquire: the index before the entries or lengths
			 * used. Pairs with B.release in publish_used.
			 */
			guest.used_seen =
				widen(smp_load_acquire(&ring.used->idx), idx);
			if (guest.used_seen == idx) {
				publish_rest_of_avail();
				return NULL;
			}
		}
		id = CONSUME == IN_ORDER ? idx : READ_ONCE(elem->id);
	}
	id &= ring.mask;
	if (CONSUME == IN_ORDER) {
		*lenp = READ_ONCE(ring.desc[id].len);
	} else {
		prefetch(&ring.used->ring[(idx + USED_AHEAD) & ring.mask]);
		*lenp = READ_ONCE(elem->len);
		WRITE_ONCE(ring.desc[id].next, guest.free_head);
		guest.free_head = id;
	}
	guest.used_idx = idx + 1;
	name = &guest.names[id];
	*bufp = name->buf;
	return name->data;
}

void disable_call(void)
{
	/* Events are armed for one index only: nothing to take back. */
}

bool used_empty(void)
{
	const uint32_t idx = guest.used_idx;

	if (CONSUME == BY_ENTRY)
		return !written(READ_ONCE(ring.used->ring[idx & ring.mask].id),
				idx);
	publish_rest_of_avail();
	return guest.used_seen == idx &&
	       READ_ONCE(ring.used->idx) == (uint16_t)idx;
}

bool enable_call(void)
{
	WRITE_ONCE(*ring.used_event, guest.used_idx);
	/*
	 * D.arm: the request before another look at the ring. Pairs with
	 * D.call in call_used.
	 */
	smp_mb();
	return used_empty();
}

void kick_available(void)
{
	uint32_t since = guest.avail_idx - guest.kicked_idx;

	publish_rest_of_avail();
	guest.kicked_idx = guest.avail_idx;
	/*
	 * C.kick: what was added before a look at the request. Pairs with
	 * C.arm in enable_kick.
	 */
	smp_mb();
	if (need_event(READ_ONCE(*ring.avail_event), guest.avail_idx, since))
		kick();
}

/* ---- host side ---- */

#ifdef HOST_SIDE
#include HOST_SIDE
#else

static void init_host(uint32_t origin)
{
	host = (struct host){
		.batch = batch_size(),
		.used_idx = origin,
		.avail_seen = origin,
		.published_idx = origin,
		.called_idx = origin,
	};
}

static inline void publish_used(void)
{
	/*
	 * B.release: the entries or lengths used, and the end of all use of the
	 * buffers, before the index. Pairs with B.acquire in get_buf.
	 */
	smp_store_release(&ring.used->idx, host.used_idx);
	host.published_idx = host.used_idx;
}

/* BATCHED: nothing is held back from here on. */
static inline void publish_rest_of_used(void)
{
	if (CONSUME == BATCHED && host.published_idx != host.used_idx)
		publish_used();
}

void disable_kick(void)
{
	/* Events are armed for one index only: nothing to take back. */
}

bool avail_empty(void)
{
	const uint32_t idx = host.used_idx;

	if (CONSUME == BY_ENTRY)
		return !written(READ_ONCE(ring.avail->ring[idx & ring.mask]),
				idx);
	publish_rest_of_used();
	return host.avail_seen == idx &&
	       READ_ONCE(ring.avail->idx) == (uint16_t)idx;
}

bool enable_kick(void)
{
	WRITE_ONCE(*ring.avail_event, host.used_idx);
	/*
	 * C.arm: the request before another look at the ring. Pairs with
	 * C.kick in kick_available.
	 */
	smp_mb();
	return avail_empty();
}

/*
 * A descriptor that follows entry @idx, but only of what is there: the guest is
 * filling what comes after, and would have to take the line back.
 */
static inline void prefetch_added(uint32_t idx)
{
	const uint32_t ahead = idx + (CONSUME == BY_ENTRY ? SEEN_AHEAD : AHEAD);
	const uint16_t *entry = &ring.avail->ring[ahead & ring.mask];
	uint16_t head;

	if (CONSUME == IN_ORDER) {
		if (host.avail_seen - idx > AHEAD)
			prefetch_for_write(&ring.desc[ahead & ring.mask]);
		return;
	}
	if (CONSUME == BY_ENTRY ?
		    !same_line(entry, &ring.avail->ring[idx & ring.mask]) :
		    host.avail_seen - idx <= AHEAD)
		return;
	/* No ordering: nothing but a hint comes of it. */
	head = READ_ONCE(*entry);
	if (CONSUME != BY_ENTRY || written(head, ahead))
		prefetch(&ring.desc[head & ring.mask]);
}

bool use_buf(unsigned *lenp, void **bufp)
{
	const uint32_t idx = host.used_idx;
	struct vring_used_elem *elem = &ring.used->ring[idx & ring.mask];
	uint16_t *entry = &ring.avail->ring[idx & ring.mask];
	struct vring_desc *desc;
	uint16_t head;

	if (CONSUME == BY_ENTRY) {
		/*
		 * E.acquire: the entry before the descriptor. Pairs with
		 * E.release in add_inbuf.
		 */
		head = smp_load_acquire(entry);
		if (!written(head, idx))
			return false;
	} else {
		if (host.avail_seen == idx) {
			/*
			 * A.acquire: the index before the entries and the
			 * descriptors. Pairs with A.release in publish_avail.
			 */
			host.avail_seen =
				widen(smp_load_acquire(&ring.avail->idx), idx);
			if (host.avail_seen == idx) {
				publish_rest_of_used();
				return false;
			}
		}
		head = CONSUME == IN_ORDER ? idx : READ_ONCE(*entry);
	}
	head &= ring.mask;
	desc = &ring.desc[head];
	prefetch_added(idx);
	if (CONSUME != IN_ORDER)
		prefetch_for_write(
			&ring.used->ring[(idx + USED_AHEAD) & ring.mask]);
	*lenp = READ_ONCE(desc->len);
	*bufp = (void *)(uintptr_t)READ_ONCE(desc->addr);

	host.used_idx = idx + 1;
	if (CONSUME == BY_ENTRY) {
		WRITE_ONCE(elem->len, *lenp - 1);
		/*
		 * F.release: the length used, and the end of all use of the
		 * buffer, before the id. Pairs with F.acquire in get_buf.
		 */
		smp_store_release(&elem->id, head | lap(idx));
		WRITE_ONCE(ring.used->idx, idx + 1);
		return true;
	}
	if (CONSUME == IN_ORDER) {
		WRITE_ONCE(desc->len, *lenp - 1);
	} else {
		WRITE_ONCE(elem->id, head);
		WRITE_ONCE(elem->len, *lenp - 1);
	}
	if (CONSUME != BATCHED ||
	    host.used_idx - host.published_idx >= host.batch)
		publish_used();
	return true;
}

void call_used(void)
{
	uint32_t since = host.used_idx - host.called_idx;

	publish_rest_of_used();
	host.called_idx = host.used_idx;
	/*
	 * D.call: what was used before a look at the request. Pairs with
	 * D.arm in enable_call.
	 */
	smp_mb();
	if (need_event(READ_ONCE(*ring.used_event), host.used_idx, since))
		call();
}
#endif
