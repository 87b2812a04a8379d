// SPDX-License-Identifier: MIT
/*
 * virtio_ring_packed: the packed virtqueue (virtio 1.2, section 2.8).
 *
 * Guest and host go round one ring. A descriptor is available or used as its two
 * flags say, compared with the lap that a side is in. The host completes a buffer
 * where it found it, with the buffer's id, of which the guest keeps those that are
 * free: ids need not come back in order. All words are little-endian, on every CPU.
 *
 *	desc[0..size-1]	16 bytes each, page aligned, 4 to a cache line; written
 *			by the guest (available), then by the host (used)
 *	events->device	a pair of lines of its own; written by the host
 *	events->driver	a pair of lines of its own; written by the guest
 *
 * Traffic: a line goes to the host and back for 4 buffers.
 *
 * Edges:
 *	A  guest to host: address, length and id, then AVAIL and USED
 *	B  host to guest: length used and id, then AVAIL and USED
 *	C  a descriptor added, against a request for a kick
 *	D  a descriptor used, against a request for a call
 */
#include "main.h"
#include "virtio/packed/ring.inc"

/* The guest's state is in guest_plain.inc, the host's is here. */
static void init_guest(void);

static struct host {
	struct packed_place avail; /* next to use, and to complete */
	uint32_t completed;
	uint32_t called; /* completed at the last look at the request */
} __cache_aligned host;
ASSERT_APART(struct host);

const struct ring_info ring_info = { PACKED_RING_INFO };

void alloc_ring(void)
{
	const uint32_t origin = config.origin;

	init_ring();
	init_guest();
	host = (struct host){
		.avail = packed_start(PACKED_DESC_F_AVAIL),
		.completed = origin,
		.called = origin,
	};
}

/* ---- guest side ---- */

#include "virtio/packed/guest_plain.inc"

/* ---- host side ---- */

#include "virtio/packed/host.inc"

bool avail_empty(void)
{
	return none_avail();
}

bool use_buf(unsigned *lenp, void **bufp)
{
	struct packed_desc *desc = &ring.desc[host.avail.slot];
	const uint16_t turn = host.avail.turn ^ packed16(PACKED_DESC_F_USED);
	union packed_head head;

	if (!find_avail(&head))
		return false;
	prefetch_for_write(desc + HOST_AHEAD);
	packed_step(&host.avail, 1, ring.size);
	host.completed++;
	*lenp = packed32(head.len);
	give_host(bufp, (void *)(uintptr_t)packed64(READ_ONCE(desc->addr)));
	mark_used(desc, turn, head.id, *lenp - 1);
	return true;
}

void call_used(void)
{
	const uint32_t since = host.completed - host.called;
	union packed_event event;

	host.called = host.completed;
	/*
	 * D.call: the flags set before a look at the request. Pairs with the
	 * guest's D.arm.
	 */
	smp_mb();
	event.word = READ_ONCE(ring.events->driver.word);
	if (packed_need_event(event, &host.avail, ring.size, since))
		call();
}
