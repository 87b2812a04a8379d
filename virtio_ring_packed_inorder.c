// SPDX-License-Identifier: MIT
/*
 * virtio_ring_packed_inorder: the packed virtqueue, completed in order.
 *
 * The memory is that of virtio_ring_packed. With VIRTIO_F_IN_ORDER (virtio 1.2,
 * section 2.8.8) one used descriptor completes several buffers: it has the id of the
 * last one, and stands where the first one stood. The guest steps over the others,
 * which count as used whole. The host writes one for --param buffers, or when it has
 * nothing else to do.
 *
 * Traffic: a line goes to the host for 4 buffers, and one comes back for a batch.
 *
 * Edges: those of virtio_ring_packed.
 */
#include "main.h"
#include "harness/batch.h"
#include "virtio/packed/ring.inc"

static struct guest {
	struct packed_place avail; /* where to add; its slot is the id */
	uint32_t added;
	struct name *names;	  /* by id */
	uint32_t *lens;		  /* by id */
	struct packed_place used; /* where the next one comes back */
	uint32_t got;
	uint32_t back;	 /* got, once those are taken that are completed */
	uint32_t last;	 /* length used of the last of them */
	uint32_t kicked; /* added at the last look at the request */
} __cache_aligned guest;
ASSERT_APART(struct guest);

static struct host {
	struct packed_place avail; /* next to use */
	struct packed_place used;  /* where to complete */
	uint32_t batch;		   /* buffers to a used descriptor */
	uint32_t held;		   /* used, and not yet completed */
	uint32_t completed;
	uint32_t called;	/* completed at the last look at the request */
	union packed_head last; /* of those that are held */
} __cache_aligned host;
ASSERT_APART(struct host);

const struct ring_info ring_info = {
	PACKED_RING_INFO, .batches = true,    .whole = true,
	.param = "batch", .param_divisor = 1,
};

void alloc_ring(void)
{
	const uint32_t size = config.ring_size, origin = config.origin;

	init_ring();
	guest = (struct guest){
		.avail = packed_start(PACKED_DESC_F_AVAIL),
		.used = packed_start(PACKED_TURN),
		.names = alloc_pages(size * sizeof(*guest.names)),
		.lens = alloc_pages(size * sizeof(*guest.lens)),
		.added = origin,
		.got = origin,
		.back = origin,
		.kicked = origin,
	};
	host = (struct host){
		.avail = packed_start(PACKED_DESC_F_AVAIL),
		.used = packed_start(PACKED_TURN),
		.batch = batch_size(16),
		.completed = origin,
		.called = origin,
	};
}

/* ---- guest side ---- */

#include "virtio/packed/guest.inc"

int add_inbuf(unsigned len, void *buf, void *data)
{
	const uint16_t id = guest.avail.slot;

	if (guest.added - guest.got == ring.size)
		return -1;
	guest.names[id] = (struct name){ data, buf };
	guest.lens[id] = len;
	make_available(id, len, buf);
	return 0;
}

/* Those up to @id are back: how many are that? */
static inline uint32_t batch_to(uint16_t id)
{
	const uint32_t in_flight = guest.added - guest.got;
	uint32_t n = id - guest.used.slot;

	if (id < guest.used.slot)
		n += ring.size;
	/* no id of what is in flight: it will do for all of that */
	return n < in_flight ? n + 1 : in_flight;
}

static inline bool find_batch(void)
{
	union packed_head head;

	if (!find_used(&head))
		return false;
	guest.back = guest.got + batch_to(packed16(head.id));
	guest.last = packed32(head.len);
	return guest.back != guest.got;
}

void *get_buf(unsigned *lenp, void **bufp)
{
	const uint32_t slot = guest.used.slot;
	const struct name *name = &guest.names[slot];

	if (guest.got == guest.back && !find_batch())
		return NULL;
	/* only what is back: the host is reading the rest */
	if (guest.back - guest.got > HOST_AHEAD)
		prefetch_for_write(&ring.desc[slot + HOST_AHEAD]);
	guest.got++;
	*lenp = guest.got == guest.back ? guest.last : guest.lens[slot];
	packed_step(&guest.used, 1, ring.size);
	*bufp = name->buf;
	return name->data;
}

bool used_empty(void)
{
	return guest.got == guest.back && none_used();
}

/* ---- host side ---- */

#include "virtio/packed/host.inc"

/* Nothing is held back from here on. */
static inline void complete(void)
{
	struct packed_desc *desc = &ring.desc[host.used.slot];
	const uint16_t turn = host.used.turn;

	packed_step(&host.used, host.held, ring.size);
	host.completed += host.held;
	host.held = 0;
	mark_used(desc, turn, host.last.id, packed32(host.last.len) - 1);
}

static inline void complete_rest(void)
{
	if (host.held)
		complete();
}

bool avail_empty(void)
{
	complete_rest();
	return none_avail();
}

bool use_buf(unsigned *lenp, void **bufp)
{
	struct packed_desc *desc = &ring.desc[host.avail.slot];
	union packed_head head;

	if (!find_avail(&head)) {
		complete_rest();
		return false;
	}
	prefetch(desc + HOST_AHEAD);
	packed_step(&host.avail, 1, ring.size);
	*lenp = packed32(head.len);
	give_host(bufp, (void *)(uintptr_t)packed64(READ_ONCE(desc->addr)));
	host.last = head;
	if (++host.held >= host.batch)
		complete();
	return true;
}

void call_used(void)
{
	union packed_event event;
	uint32_t since;

	complete_rest();
	since = host.completed - host.called;
	host.called = host.completed;
	/*
	 * D.call: the flags set before a look at the request. Pairs with the
	 * guest's D.arm.
	 */
	smp_mb();
	event.word = READ_ONCE(ring.events->driver.word);
	if (packed_need_event(event, &host.used, ring.size, since))
		call();
}
