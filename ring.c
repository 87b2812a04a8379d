// SPDX-License-Identifier: MIT
/*
 * ring: descriptors used in place.
 *
 * Guest and host go round one array. A descriptor belongs to the host while
 * its HW flag is set, else to the guest, which reuses it in ring order.
 *
 *	desc[0..size-1]	16 bytes each, page aligned, 4 to a cache line; written
 *			by the guest (HW clear), then by the host (HW set)
 *	kick_index	a pair of lines of its own; written by the host
 *	call_index	a pair of lines of its own; written by the guest
 *
 * Edges:
 *	A  guest to host: address and length, then HW set
 *	B  host to guest: length used, then HW clear
 *	C  a descriptor added, against kick_index armed
 *	D  a descriptor used, against call_index armed
 */
#include "main.h"

#define DESC_HW 1

struct desc {
	uint16_t flags;
	uint16_t index;		/* names the buffer, so that a host could
				 * complete in another order */
	uint32_t len;
	uint64_t addr;
};
_Static_assert(sizeof(struct desc) == 16, "four descriptors to a line");

struct event {
	uint16_t kick_index __cache_aligned;
	uint16_t call_index __cache_aligned;
};
ASSERT_APART(struct event);

static struct {
	struct desc *desc;
	struct event *event;
	uint32_t mask;
} __cache_aligned ring;

struct name {
	void *data;
	void *buf;
};

/* The counters are kept apart, or gcc updates both with one vector. */
static struct guest {
	uint32_t avail_idx;	/* next to add */
	struct name *names;	/* by desc.index */
	uint32_t used_idx;	/* next to get back */
	uint32_t kicked_idx;	/* avail_idx at the last look at kick_index */
} __cache_aligned guest;
ASSERT_APART(struct guest);

static struct host {
	uint32_t used_idx;	/* next to use */
	uint32_t called_idx;	/* used_idx at the last look at call_index */
} __cache_aligned host;
ASSERT_APART(struct host);

const struct ring_info ring_info = {
	.name = "ring",
	.min_size = 1,
	.max_size = 32768,	/* half of what an event index can tell apart */
	.power_of_two = true,
	.max_len = UINT32_MAX,
	.addresses = true,
	.notifies = true,
	.completes = true,
};

void alloc_ring(void)
{
	const uint32_t size = config.ring_size, origin = config.origin;

	ring.desc = alloc_pages(size * sizeof(*ring.desc));
	ring.event = alloc_pages(sizeof(*ring.event));
	ring.mask = size - 1;
	guest = (struct guest){
		.names = alloc_pages(size * sizeof(*guest.names)),
		.avail_idx = origin,
		.used_idx = origin,
		.kicked_idx = origin,
	};
	host = (struct host){ .used_idx = origin, .called_idx = origin };

	for (uint32_t i = 0; i < size; i++)
		ring.desc[i].index = i;
	ring.event->kick_index = origin - 1;	/* not armed */
	ring.event->call_index = origin - 1;
}

/* ---- guest side ---- */

int add_inbuf(unsigned len, void *buf, void *data)
{
	struct desc *desc = &ring.desc[guest.avail_idx & ring.mask];
	uint16_t index;

	if (guest.avail_idx - guest.used_idx > ring.mask)
		return -1;

	/* The buffer that last completed here has left its index to us. */
	index = READ_ONCE(desc->index);
	guest.names[index] = (struct name){ data, buf };
	WRITE_ONCE(desc->addr, (uintptr_t)buf);
	WRITE_ONCE(desc->len, len);
	/*
	 * A.release: the descriptor, and the buffer, before its flag. Pairs
	 * with A.acquire in use_buf.
	 */
	smp_store_release(&desc->flags, DESC_HW);
	guest.avail_idx++;
	return 0;
}

void *get_buf(unsigned *lenp, void **bufp)
{
	struct desc *desc = &ring.desc[guest.used_idx & ring.mask];
	struct name *name;

	if (guest.used_idx == guest.avail_idx)
		return NULL;
	/*
	 * B.acquire: the flag before the length used. Pairs with B.release in
	 * use_buf.
	 */
	if (smp_load_acquire(&desc->flags) & DESC_HW)
		return NULL;

	name = &guest.names[READ_ONCE(desc->index) & ring.mask];
	*lenp = READ_ONCE(desc->len);
	*bufp = name->buf;
	guest.used_idx++;
	return name->data;
}

void disable_call(void)
{
	/* Events are armed for one index only: nothing to take back. */
}

bool used_empty(void)
{
	return guest.used_idx == guest.avail_idx ||
	       READ_ONCE(ring.desc[guest.used_idx & ring.mask].flags) & DESC_HW;
}

bool enable_call(void)
{
	WRITE_ONCE(ring.event->call_index, guest.used_idx);
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

	guest.kicked_idx = guest.avail_idx;
	/*
	 * C.kick: the flags set before a look at the request. Pairs with
	 * C.arm in enable_kick.
	 */
	smp_mb();
	if (need_event(READ_ONCE(ring.event->kick_index), guest.avail_idx,
		       since))
		kick();
}

/* ---- host side ---- */

void disable_kick(void)
{
	/* Events are armed for one index only: nothing to take back. */
}

bool avail_empty(void)
{
	return !(READ_ONCE(ring.desc[host.used_idx & ring.mask].flags) &
		 DESC_HW);
}

bool enable_kick(void)
{
	WRITE_ONCE(ring.event->kick_index, host.used_idx);
	/*
	 * C.arm: the request before another look at the ring. Pairs with
	 * C.kick in kick_available.
	 */
	smp_mb();
	return avail_empty();
}

bool use_buf(unsigned *lenp, void **bufp)
{
	struct desc *desc = &ring.desc[host.used_idx & ring.mask];

	/*
	 * A.acquire: the flag before the descriptor. Pairs with A.release in
	 * add_inbuf.
	 */
	if (!(smp_load_acquire(&desc->flags) & DESC_HW))
		return false;

	*lenp = READ_ONCE(desc->len);
	*bufp = (void *)(uintptr_t)READ_ONCE(desc->addr);
	WRITE_ONCE(desc->len, *lenp - 1);
	/*
	 * B.release: the length used, and the end of all use of the buffer,
	 * before the flag. Pairs with B.acquire in get_buf.
	 */
	smp_store_release(&desc->flags, 0);
	host.used_idx++;
	return true;
}

void call_used(void)
{
	uint32_t since = host.used_idx - host.called_idx;

	host.called_idx = host.used_idx;
	/*
	 * D.call: the flags cleared before a look at the request. Pairs with
	 * D.arm in enable_call.
	 */
	smp_mb();
	if (need_event(READ_ONCE(ring.event->call_index), host.used_idx, since))
		call();
}
