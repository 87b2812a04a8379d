// SPDX-License-Identifier: MIT
/*
 * virtio_ring_0_9: the split virtqueue.
 *
 * The guest puts a buffer into a free descriptor and the descriptor's number
 * into the available ring; the host puts the number and the length used into
 * the used ring. Each then moves its index, which is how the other finds out.
 *
 *	desc[]		16 bytes each; written by the guest
 *	avail		flags, idx, ring[], used_event; written by the guest
 *	used		page aligned; flags, idx, ring[], avail_event; written
 *			by the host
 *
 * Neither idx nor the events have lines of their own: each shares one with the
 * first or last entries of its ring, as virtio lays them out.
 *
 * Edges:
 *	A  guest to host: descriptor and entry, then idx
 *	B  host to guest: entry used, then idx
 *	C  idx added, against avail_event armed
 *	D  idx used, against used_event armed
 */
#include "main.h"
#include "virtio/split/ring.inc"

/* The guest's state is in guest_plain.inc, the host's is here. */
static void init_guest(void);

static struct host {
	uint32_t used_idx;   /* next to use */
	uint32_t avail_seen; /* avail->idx as last read */
	uint32_t called_idx; /* used_idx at the last look at used_event */
} __cache_aligned host;
ASSERT_APART(struct host);

const struct ring_info ring_info = { SPLIT_RING_INFO };

void alloc_ring(void)
{
	const uint32_t origin = config.origin;

	init_ring();
	init_guest();
	host = (struct host){
		.used_idx = origin,
		.avail_seen = origin,
		.called_idx = origin,
	};
}

/* ---- guest side ---- */

#include "virtio/split/guest_plain.inc"

/* ---- host side ---- */

#include "virtio/split/host.inc"
#include "virtio/split/host_index.inc"

bool avail_empty(void)
{
	return none_avail();
}

bool use_buf(unsigned *lenp, void **bufp)
{
	const uint32_t idx = host.used_idx;
	struct vring_used_elem *elem = &ring.used->ring[idx & ring.mask];
	uint16_t *entry = &ring.avail->ring[idx & ring.mask];
	struct vring_desc *desc;
	uint16_t head;

	if (!find_avail(idx))
		return false;
	head = READ_ONCE(*entry);
	head &= ring.mask;
	desc = &ring.desc[head];
	prefetch_added(idx);
	prefetch_for_write(&ring.used->ring[(idx + USED_AHEAD) & ring.mask]);
	*lenp = READ_ONCE(desc->len);
	give_host(bufp, (void *)(uintptr_t)READ_ONCE(desc->addr));

	host.used_idx = idx + 1;
	WRITE_ONCE(elem->id, head);
	WRITE_ONCE(elem->len, *lenp - 1);
	publish_used();
	return true;
}

void call_used(void)
{
	call_if_asked();
}
