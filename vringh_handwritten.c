// SPDX-License-Identifier: MIT
/*
 * vringh_handwritten: the split virtqueue, its host with the checks that vringh
 * makes, for memory of our own, written out. What vringh is measured against.
 *
 * Memory, edges and guest are those of virtio_ring_0_9.
 */
#include "main.h"
#include "virtio/split/ring.inc"
#include "lib/program.h"

const struct ring_info ring_info = { SPLIT_RING_INFO };

/* ---- guest side ---- */

#include "virtio/split/guest_plain.inc"

/* ---- host side ---- */

struct piece {
	uint64_t addr;
	uint32_t len;
};

static struct host {
	uint32_t completed;  /* since the last look at used_event */
	uint16_t avail_idx;  /* as last read */
	uint16_t last_avail; /* next to take */
	uint16_t last_used;  /* next to complete */
	uint16_t nr_pieces;
	struct piece pieces[8];
} __cache_aligned host;
ASSERT_APART(struct host);

static __attribute__((cold, noreturn, noinline)) void broken(const char *why)
{
	die(EXIT_FAILED, "%s: %s", ring_info.name, why);
}

static void init_host(void)
{
	const uint16_t origin = config.origin;

	host = (struct host){ .avail_idx = origin,
			      .last_avail = origin,
			      .last_used = origin };
}

void alloc_ring(void)
{
	init_ring();
	init_guest();
	init_host();
}

void disable_kick(void)
{
	/* Events are armed for one index only: nothing to take back. */
}

bool avail_empty(void)
{
	return host.avail_idx == host.last_avail &&
	       READ_ONCE(ring.avail->idx) == host.last_avail;
}

bool enable_kick(void)
{
	WRITE_ONCE(*ring.avail_event, host.last_avail);
	/*
	 * C.arm: the request before another look at the ring. Pairs with
	 * C.kick in kick_if_asked.
	 */
	smp_mb();
	return avail_empty();
}

static inline bool take_chain(uint16_t head)
{
	uint32_t i = head, steps = 0;
	bool writable = false;

	host.nr_pieces = 0;
	for (;;) {
		const struct vring_desc *desc = &ring.desc[i];
		const uint64_t addr = READ_ONCE(desc->addr);
		const uint32_t len = READ_ONCE(desc->len);
		const uint16_t flags = READ_ONCE(desc->flags);
		const uint16_t next = READ_ONCE(desc->next);

		if (flags & VRING_DESC_F_INDIRECT ||
		    (len && len - 1 > UINT64_MAX - addr))
			return false;
		writable |= !!(flags & VRING_DESC_F_WRITE);
		if (!(flags & VRING_DESC_F_WRITE) || host.nr_pieces == 8)
			return false;
		if (len)
			host.pieces[host.nr_pieces++] =
				(struct piece){ addr, len };
		if (!(flags & VRING_DESC_F_NEXT))
			return writable && host.nr_pieces;
		if (next > ring.mask || ++steps > ring.mask)
			return false;
		i = next;
	}
}

bool use_buf(unsigned *lenp, void **bufp)
{
	struct vring_used_elem *elem;
	uint16_t head;

	if (host.avail_idx == host.last_avail) {
		/*
		 * A.acquire: the index before the entries and the descriptors.
		 * Pairs with A.release in publish_avail.
		 */
		uint16_t idx = smp_load_acquire(&ring.avail->idx);

		if (idx == host.last_avail)
			return false;
		if ((uint16_t)(idx - host.last_avail) > ring.mask + 1)
			broken("the available index is wrong");
		host.avail_idx = idx;
	}
	head = READ_ONCE(ring.avail->ring[host.last_avail & ring.mask]);
	host.last_avail++;
	if (head > ring.mask)
		broken("a head is wrong");
	if (!take_chain(head))
		broken("a chain is wrong");
	give_host(bufp, (void *)(uintptr_t)host.pieces[0].addr);
	*lenp = host.pieces[0].len;

	elem = &ring.used->ring[host.last_used & ring.mask];
	WRITE_ONCE(elem->id, head);
	WRITE_ONCE(elem->len, *lenp - 1);
	host.last_used++;
	host.completed++;
	/*
	 * B.release: the element, and the end of all use of the buffer, before
	 * the index. Pairs with B.acquire in find_used.
	 */
	smp_store_release(&ring.used->idx, host.last_used);
	return true;
}

void call_used(void)
{
	const uint32_t since = host.completed;

	host.completed = 0;
	/*
	 * D.call: what was used before a look at the request. Pairs with D.arm
	 * in enable_call.
	 */
	smp_mb();
	if (need_event(READ_ONCE(*ring.used_event), host.last_used, since))
		call();
}
