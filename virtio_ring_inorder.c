// SPDX-License-Identifier: MIT
/*
 * virtio_ring_inorder: the split virtqueue, completed in order.
 *
 * The memory is that of virtio_ring_0_9, but descriptors are used in the order
 * of the table: no entry is written or read, only the indexes are, and the host
 * leaves the length used in desc.len.
 *
 * Edges:
 *	A  guest to host: descriptor, then idx
 *	B  host to guest: length used, then idx
 *	C  idx added, against avail_event armed
 *	D  idx used, against used_event armed
 */
#include "main.h"
#include "virtio/split/ring.inc"

/* The counters are kept apart, or gcc updates two with one vector. */
static struct guest {
	uint32_t avail_idx;  /* next to add */
	struct name *names;  /* by descriptor */
	uint32_t used_idx;   /* next to get back */
	uint32_t used_seen;  /* used->idx as last read */
	uint32_t kicked_idx; /* avail_idx at the last look at avail_event */
} __cache_aligned guest;
ASSERT_APART(struct guest);

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
	guest = (struct guest){
		.names = alloc_pages(config.ring_size * sizeof(*guest.names)),
		.avail_idx = origin,
		.used_idx = origin,
		.used_seen = origin,
		.kicked_idx = origin,
	};
	host = (struct host){
		.used_idx = origin,
		.avail_seen = origin,
		.called_idx = origin,
	};
}

/* ---- guest side ---- */

#include "virtio/split/guest.inc"
#include "virtio/split/guest_index.inc"

int add_inbuf(unsigned len, void *buf, void *data)
{
	const uint32_t idx = guest.avail_idx;
	struct vring_desc *desc;
	uint16_t head;

	if (idx - guest.used_idx > ring.mask)
		return -1;

	head = idx & ring.mask;
	desc = &ring.desc[head];
	prefetch_for_write(&ring.desc[(head + AHEAD) & ring.mask]);
	guest.names[head] = (struct name){ data, buf };
	fill_desc(desc, len, buf);

	guest.avail_idx = idx + 1;
	publish_avail();
	return 0;
}

void *get_buf(unsigned *lenp, void **bufp)
{
	const uint32_t idx = guest.used_idx;
	struct name *name;
	uint16_t id;

	if (!find_used(idx))
		return NULL;
	id = idx & ring.mask;
	*lenp = READ_ONCE(ring.desc[id].len);
	guest.used_idx = idx + 1;
	name = &guest.names[id];
	*bufp = name->buf;
	return name->data;
}

bool used_empty(void)
{
	return none_used();
}

void kick_available(void)
{
	kick_if_asked();
}

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
	struct vring_desc *desc;

	if (!find_avail(idx))
		return false;
	desc = &ring.desc[idx & ring.mask];
	/* only what is there: see prefetch_added */
	if (host.avail_seen - idx > AHEAD)
		prefetch_for_write(&ring.desc[(idx + AHEAD) & ring.mask]);
	*lenp = READ_ONCE(desc->len);
	give_host(bufp, (void *)(uintptr_t)READ_ONCE(desc->addr));

	host.used_idx = idx + 1;
	WRITE_ONCE(desc->len, *lenp - 1);
	publish_used();
	return true;
}

void call_used(void)
{
	call_if_asked();
}
