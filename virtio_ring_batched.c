// SPDX-License-Identifier: MIT
/*
 * virtio_ring_batched: the split virtqueue, its indexes written in batches.
 *
 * The memory is that of virtio_ring_0_9. An index is written once for --param
 * entries, or when its writer has nothing else to do.
 *
 * Edges: those of virtio_ring_0_9.
 */
#include "main.h"
#include "harness/batch.h"
#include "virtio/split/ring.inc"

/* The counters are kept apart, or gcc updates two with one vector. */
static struct guest {
	uint32_t avail_idx;	/* next to add */
	struct name *names;	/* by descriptor */
	uint32_t used_idx;	/* next to get back */
	uint16_t free_head;	/* free descriptors chain through next */
	uint32_t used_seen;	/* used->idx as last read */
	uint32_t batch;		/* entries to an index */
	uint32_t published_idx; /* avail->idx as last written */
	uint32_t kicked_idx;	/* avail_idx at the last look at avail_event */
} __cache_aligned guest;
ASSERT_APART(struct guest);

static struct host {
	uint32_t used_idx;	/* next to use */
	uint32_t batch;		/* entries to an index */
	uint32_t avail_seen;	/* avail->idx as last read */
	uint32_t published_idx; /* used->idx as last written */
	uint32_t called_idx;	/* used_idx at the last look at used_event */
} __cache_aligned host;
ASSERT_APART(struct host);

const struct ring_info ring_info = {
	SPLIT_RING_INFO,
	.batches = true,
	.param = "batch",
	.param_divisor = 1,
};

void alloc_ring(void)
{
	const uint32_t origin = config.origin;

	init_ring();
	guest = (struct guest){
		.names = alloc_pages(config.ring_size * sizeof(*guest.names)),
		.batch = batch_size(64),
		.avail_idx = origin,
		.used_idx = origin,
		.used_seen = origin,
		.published_idx = origin,
		.kicked_idx = origin,
	};
	host = (struct host){
		.batch = batch_size(64),
		.used_idx = origin,
		.avail_seen = origin,
		.published_idx = origin,
		.called_idx = origin,
	};
}

/* ---- guest side ---- */

#include "virtio/split/guest.inc"
#include "virtio/split/guest_index.inc"
#include "virtio/split/free_list.inc"

static inline void publish_avail_batch(void)
{
	publish_avail();
	guest.published_idx = guest.avail_idx;
}

/* Nothing is held back from here on. */
static inline void publish_rest_of_avail(void)
{
	if (guest.published_idx != guest.avail_idx)
		publish_avail_batch();
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

	head = guest.free_head;
	desc = &ring.desc[head];
	take_desc(head, desc);
	guest.names[head] = (struct name){ data, buf };
	fill_desc(desc, len, buf);

	guest.avail_idx = idx + 1;
	WRITE_ONCE(*entry, head);
	if (guest.avail_idx - guest.published_idx >= guest.batch)
		publish_avail_batch();
	return 0;
}

void *get_buf(unsigned *lenp, void **bufp)
{
	const uint32_t idx = guest.used_idx;
	struct vring_used_elem *elem = &ring.used->ring[idx & ring.mask];
	struct name *name;
	uint16_t id;

	if (!find_used(idx)) {
		publish_rest_of_avail();
		return NULL;
	}
	id = READ_ONCE(elem->id);
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
	publish_rest_of_avail();
	return none_used();
}

void kick_available(void)
{
	publish_rest_of_avail();
	kick_if_asked();
}

/* ---- host side ---- */

#include "virtio/split/host.inc"
#include "virtio/split/host_index.inc"

static inline void publish_used_batch(void)
{
	publish_used();
	host.published_idx = host.used_idx;
}

/* Nothing is held back from here on. */
static inline void publish_rest_of_used(void)
{
	if (host.published_idx != host.used_idx)
		publish_used_batch();
}

bool avail_empty(void)
{
	publish_rest_of_used();
	return none_avail();
}

bool use_buf(unsigned *lenp, void **bufp)
{
	const uint32_t idx = host.used_idx;
	struct vring_used_elem *elem = &ring.used->ring[idx & ring.mask];
	uint16_t *entry = &ring.avail->ring[idx & ring.mask];
	struct vring_desc *desc;
	uint16_t head;

	if (!find_avail(idx)) {
		publish_rest_of_used();
		return false;
	}
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
	if (host.used_idx - host.published_idx >= host.batch)
		publish_used_batch();
	return true;
}

void call_used(void)
{
	publish_rest_of_used();
	call_if_asked();
}
