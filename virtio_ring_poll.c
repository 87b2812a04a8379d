// SPDX-License-Identifier: MIT
/*
 * virtio_ring_poll: the split virtqueue, polled through its entries.
 *
 * The memory is that of virtio_ring_0_9, but a consumer reads the entry, which
 * says in which lap it was written; idx is kept up but not read.
 *
 * Edges:
 *	C  entry added, against avail_event armed
 *	D  entry used, against used_event armed
 *	E  guest to host: descriptor, then the entry
 *	F  host to guest: length used, then the id
 */
#include "main.h"
#include "virtio/split/ring.inc"

/*
 * Entries that the host looks ahead: it sees what was added only in the line of
 * the available ring that it is reading.
 */
#define SEEN_AHEAD 8

/* The counters are kept apart, or gcc updates two with one vector. */
static struct guest {
	uint32_t avail_idx;  /* next to add */
	struct name *names;  /* by descriptor */
	uint32_t used_idx;   /* next to get back */
	uint16_t free_head;  /* free descriptors chain through next */
	uint32_t kicked_idx; /* avail_idx at the last look at avail_event */
} __cache_aligned guest;
ASSERT_APART(struct guest);

static struct host {
	uint32_t used_idx;   /* next to use */
	uint32_t called_idx; /* used_idx at the last look at used_event */
} __cache_aligned host;
ASSERT_APART(struct host);

const struct ring_info ring_info = { SPLIT_RING_INFO };

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

void alloc_ring(void)
{
	const uint32_t size = config.ring_size, origin = config.origin;

	init_ring();
	for (uint32_t i = origin - size; i != origin; i++) {
		ring.avail->ring[i & ring.mask] = lap(i);
		ring.used->ring[i & ring.mask].id = lap(i);
	}
	guest = (struct guest){
		.names = alloc_pages(size * sizeof(*guest.names)),
		.avail_idx = origin,
		.used_idx = origin,
		.kicked_idx = origin,
	};
	host = (struct host){ .used_idx = origin, .called_idx = origin };
}

/* ---- guest side ---- */

#include "virtio/split/guest.inc"
#include "virtio/split/free_list.inc"

int add_inbuf(unsigned len, void *buf, void *data)
{
	const uint32_t idx = guest.avail_idx;
	uint16_t *entry = &ring.avail->ring[idx & ring.mask];
	struct vring_desc *desc;
	uint16_t head;

	if (idx - guest.used_idx > ring.mask)
		return -1;

	head = guest.free_head;
	desc = &ring.desc[head];
	take_desc(head, desc);
	prefetch_for_write(&ring.avail->ring[(idx + AVAIL_AHEAD) & ring.mask]);
	guest.names[head] = (struct name){ data, buf };
	fill_desc(desc, len, buf);

	guest.avail_idx = idx + 1;
	/*
	 * E.release: the descriptor, and the buffer, before the entry. Pairs
	 * with E.acquire in use_buf.
	 */
	smp_store_release(entry, head | lap(idx));
	WRITE_ONCE(ring.avail->idx, idx + 1);
	return 0;
}

void *get_buf(unsigned *lenp, void **bufp)
{
	const uint32_t idx = guest.used_idx;
	struct vring_used_elem *elem = &ring.used->ring[idx & ring.mask];
	struct name *name;
	uint16_t id;

	/*
	 * F.acquire: the id before the length used. Pairs with F.release in
	 * use_buf.
	 */
	id = smp_load_acquire(&elem->id);
	if (!written(id, idx))
		return NULL;
	id &= ring.mask;
	prefetch(&ring.used->ring[(idx + USED_AHEAD) & ring.mask]);
	*lenp = READ_ONCE(elem->len);
	free_desc(id);
	guest.used_idx = idx + 1;
	name = &guest.names[id];
	*bufp = name->buf;
	return name->data;
}

bool used_empty(void)
{
	const uint32_t idx = guest.used_idx;

	return !written(READ_ONCE(ring.used->ring[idx & ring.mask].id), idx);
}

void kick_available(void)
{
	kick_if_asked();
}

/* ---- host side ---- */

#include "virtio/split/host.inc"

bool avail_empty(void)
{
	const uint32_t idx = host.used_idx;

	return !written(READ_ONCE(ring.avail->ring[idx & ring.mask]), idx);
}

/*
 * The descriptor of an entry that follows number @idx, but only of what is
 * there: the guest is filling what comes after, and would have to take the line
 * back.
 */
static inline void prefetch_added(uint32_t idx)
{
	const uint32_t ahead = idx + SEEN_AHEAD;
	const uint16_t *entry = &ring.avail->ring[ahead & ring.mask];
	uint16_t head;

	if (!same_line(entry, &ring.avail->ring[idx & ring.mask]))
		return;
	/* No ordering: nothing but a hint comes of it. */
	head = READ_ONCE(*entry);
	if (written(head, ahead))
		prefetch(&ring.desc[head & ring.mask]);
}

bool use_buf(unsigned *lenp, void **bufp)
{
	const uint32_t idx = host.used_idx;
	struct vring_used_elem *elem = &ring.used->ring[idx & ring.mask];
	uint16_t *entry = &ring.avail->ring[idx & ring.mask];
	struct vring_desc *desc;
	uint16_t head;

	/*
	 * E.acquire: the entry before the descriptor. Pairs with E.release in
	 * add_inbuf.
	 */
	head = smp_load_acquire(entry);
	if (!written(head, idx))
		return false;
	head &= ring.mask;
	desc = &ring.desc[head];
	prefetch_added(idx);
	prefetch_for_write(&ring.used->ring[(idx + USED_AHEAD) & ring.mask]);
	*lenp = READ_ONCE(desc->len);
	give_host(bufp, (void *)(uintptr_t)READ_ONCE(desc->addr));

	host.used_idx = idx + 1;
	WRITE_ONCE(elem->len, *lenp - 1);
	/*
	 * F.release: the length used, and the end of all use of the buffer,
	 * before the id. Pairs with F.acquire in get_buf.
	 */
	smp_store_release(&elem->id, head | lap(idx));
	WRITE_ONCE(ring.used->idx, idx + 1);
	return true;
}

void call_used(void)
{
	call_if_asked();
}
