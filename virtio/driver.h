/* SPDX-License-Identifier: MIT */
/*
 * A guest's side of a split virtqueue with scatter-gather lists (virtio 1.1,
 * section 2.6): what a driver does. For tests and for vringh_test; the rings at
 * the top of the tree have a leaner one in virtio_ring_0_9.c.
 *
 * All calls come from one thread, the guest's. The host is not trusted:
 * whatever it writes, each chain that was added is given back at most once, and
 * no call leaves the ring's memory.
 *
 * Errors are negative errno values, after which nothing has changed:
 *
 *	vdriver_init	-ENOMEM
 *	vdriver_add	-EINVAL		no piece, or more than the ring's size
 *			-ENOSPC		too few free descriptors
 *	vdriver_get	-EPROTO		the host completed what it did not have
 *
 * The others cannot fail.
 *
 * Edges; the other ends are in vringh_core.h:
 *	A  guest to host: descriptor and entry, then avail idx
 *	B  host to guest: used element, then used idx
 *	C  avail idx added to, against avail_event or flags armed
 *	D  used idx added to, against used_event or flags armed
 */
#ifndef VIRTIO_DRIVER_H
#define VIRTIO_DRIVER_H

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "lib/barrier.h"
#include "virtio/event.h"
#include "virtio/vring.h"

/* One piece of a buffer. */
struct vdriver_sg {
	void *ptr;
	uint32_t len; /* bytes */
};

struct vdriver {
	struct vring ring;
	uint64_t bias;		      /* from our addresses to the guest's */
	struct vring_desc *tables;    /* NULL: no indirect tables */
	uint32_t table_size;	      /* entries of each */
	uint32_t nr_free;	      /* descriptors */
	uint16_t free_head;	      /* linked through slots[].next */
	uint16_t avail_idx, used_idx; /* next to add, next to get back */
	uint16_t flags;		      /* of the available ring */
	uint32_t unkicked;	      /* added since vdriver_need_kick */
	bool v1, event_idx;
	/* by descriptor, private: the host may write to the ring */
	struct vdriver_slot {
		void *data; /* NULL: not the head of a chain */
		uint16_t next;
		uint16_t count; /* descriptors in the chain */
	} * slots;
};

/*
 * Starts with an empty ring of @size entries in @mem, vring_bytes(@size) bytes,
 * page aligned. @features as for vringh_init. @bias added to a pointer of ours
 * gives the address that the host sees. @tables: @size tables of @table_size
 * descriptors, 16-byte aligned, in memory that the host can read; NULL and 0
 * without VIRTIO_RING_F_INDIRECT_DESC. 0, or -ENOMEM.
 */
static inline int vdriver_init(struct vdriver *drv, uint64_t features,
			       uint32_t size, void *mem, uint64_t bias,
			       struct vring_desc *tables, uint32_t table_size)
{
	*drv = (struct vdriver){
		.bias = bias,
		.tables = tables,
		.table_size = table_size,
		.nr_free = size,
		.v1 = features >> VIRTIO_F_VERSION_1 & 1,
		.event_idx = features >> VIRTIO_RING_F_EVENT_IDX & 1,
		.slots = calloc(size, sizeof(*drv->slots)),
	};
	if (!drv->slots)
		return -ENOMEM;
	for (uint32_t i = 0; i < size; i++)
		drv->slots[i].next = i + 1;
	vring_init(&drv->ring, size, mem);
	memset(mem, 0, vring_bytes(size));
	return 0;
}

static inline void vdriver_free(struct vdriver *drv)
{
	free(drv->slots);
	drv->slots = NULL;
}

static inline void vdriver_put_desc(const struct vdriver *drv,
				    struct vring_desc *desc, const void *ptr,
				    uint32_t len, uint16_t flags, uint16_t next)
{
	WRITE_ONCE(desc->addr, vring64(drv->v1, (uintptr_t)ptr + drv->bias));
	WRITE_ONCE(desc->len, vring32(drv->v1, len));
	WRITE_ONCE(desc->flags, vring16(drv->v1, flags));
	WRITE_ONCE(desc->next, vring16(drv->v1, next));
}

/*
 * Makes a chain available: @out pieces that the host reads, then @in pieces
 * that it writes (2.6.13). @data, not NULL, is the guest's name for it. Uses an
 * indirect table if it has one and there is more than one piece. 0; -ENOSPC if
 * there are too few free descriptors; -EINVAL for no piece, or for more than
 * the ring's size, in a table or not (2.6.5.3.1). What the guest wrote before
 * is visible to the host with the chain.
 */
static inline int vdriver_add(struct vdriver *drv, const struct vdriver_sg *sg,
			      uint32_t out, uint32_t in, void *data)
{
	const uint32_t n = out + in, mask = drv->ring.mask;
	const uint16_t head = drv->free_head;
	const bool indirect = n > 1 && n <= drv->table_size;
	uint16_t i = head;

	if (!n || n > mask + 1)
		return -EINVAL;
	if (drv->nr_free < (indirect ? 1 : n))
		return -ENOSPC;
	if (indirect) {
		struct vring_desc *table = drv->tables + head * drv->table_size;

		for (uint32_t k = 0; k < n; k++)
			vdriver_put_desc(
				drv, &table[k], sg[k].ptr, sg[k].len,
				(k >= out ? VRING_DESC_F_WRITE : 0) |
					(k < n - 1 ? VRING_DESC_F_NEXT : 0),
				k + 1);
		vdriver_put_desc(drv, &drv->ring.desc[i], table,
				 n * sizeof(*table), VRING_DESC_F_INDIRECT, 0);
		i = drv->slots[i].next;
	} else {
		for (uint32_t k = 0; k < n; k++) {
			uint16_t next = drv->slots[i].next;

			vdriver_put_desc(
				drv, &drv->ring.desc[i], sg[k].ptr, sg[k].len,
				(k >= out ? VRING_DESC_F_WRITE : 0) |
					(k < n - 1 ? VRING_DESC_F_NEXT : 0),
				next);
			i = next;
		}
	}
	drv->slots[head].data = data;
	drv->slots[head].count = indirect ? 1 : n;
	drv->nr_free -= drv->slots[head].count;
	drv->free_head = i;
	WRITE_ONCE(drv->ring.avail->ring[drv->avail_idx & mask],
		   vring16(drv->v1, head));
	drv->avail_idx++;
	drv->unkicked++;
	/*
	 * A.release: the descriptors, the buffers and the entry before the
	 * index. Pairs with A.acquire in vringh_read_avail of
	 * virtio/vringh_core.h.
	 */
	smp_store_release(&drv->ring.avail->idx,
			  vring16(drv->v1, drv->avail_idx));
	return 0;
}

/* True: vdriver_get would return 0. No ordering. */
static inline bool vdriver_empty(const struct vdriver *drv)
{
	return vring16(drv->v1, READ_ONCE(drv->ring.used->idx)) ==
	       drv->used_idx;
}

/*
 * Takes back a chain that the host has completed (2.6.14). 1: *data is its
 * name, and *len how many bytes the host says it wrote, which may be more than
 * there is room for. 0: there is none. -EPROTO: the host completed what it did
 * not have; the next call says the same.
 */
static inline int vdriver_get(struct vdriver *drv, void **data, uint32_t *len)
{
	const uint32_t mask = drv->ring.mask;
	struct vring_used_elem *elem;
	uint32_t id, last;

	/*
	 * B.acquire: the index before the element, and before the buffers.
	 * Pairs with B.release in vringh_complete_multi of
	 * virtio/vringh_core.h.
	 */
	if (vring16(drv->v1, smp_load_acquire(&drv->ring.used->idx)) ==
	    drv->used_idx)
		return 0;
	elem = &drv->ring.used->ring[drv->used_idx & mask];
	id = vring32(drv->v1, READ_ONCE(elem->id));
	if (id > mask || !drv->slots[id].data)
		return -EPROTO;
	*len = vring32(drv->v1, READ_ONCE(elem->len));
	*data = drv->slots[id].data;
	drv->slots[id].data = NULL;
	drv->used_idx++;
	last = id;
	for (uint16_t k = 1; k < drv->slots[id].count; k++)
		last = drv->slots[last].next;
	drv->slots[last].next = drv->free_head;
	drv->free_head = id;
	drv->nr_free += drv->slots[id].count;
	return 1;
}

/*
 * Does the host want a kick for what has been added since this was last asked
 * (2.6.10)? A full barrier: additions are visible before the host's request is
 * read.
 */
static inline bool vdriver_need_kick(struct vdriver *drv)
{
	const uint32_t since = drv->unkicked;

	drv->unkicked = 0;
	/*
	 * C.kick: the additions before a look at the request. Pairs with
	 * C.arm in vringh_notify_enable of virtio/vringh_core.h.
	 */
	smp_mb();
	if (drv->event_idx)
		return need_event(vring16(drv->v1,
					  READ_ONCE(*drv->ring.avail_event)),
				  drv->avail_idx, since);
	return since && !(vring16(drv->v1, READ_ONCE(drv->ring.used->flags)) &
			  VRING_USED_F_NO_NOTIFY);
}

static inline bool vdriver_arm(struct vdriver *drv, uint16_t event)
{
	if (drv->event_idx)
		WRITE_ONCE(*drv->ring.used_event, vring16(drv->v1, event));
	else
		WRITE_ONCE(drv->ring.avail->flags, 0);
	/*
	 * D.arm: the request before another look at the ring. Pairs with
	 * D.call in vringh_need_notify of virtio/vringh_core.h.
	 */
	smp_mb();
	return (uint16_t)(vring16(drv->v1, READ_ONCE(drv->ring.used->idx)) -
			  drv->used_idx) <= (uint16_t)(event - drv->used_idx);
}

/*
 * Asks for a call at the next completion (2.6.7), then looks again. True: there
 * is none yet, so it is safe to sleep. A full barrier between the two.
 */
static inline bool vdriver_enable_call(struct vdriver *drv)
{
	return vdriver_arm(drv, drv->used_idx);
}

/*
 * The same, for a call only when three quarters of the outstanding chains have
 * been completed; without EVENT_IDX, at the next. True: there are not as many
 * yet. Chains must be outstanding.
 */
static inline bool vdriver_enable_call_delayed(struct vdriver *drv)
{
	uint16_t outstanding = drv->avail_idx - drv->used_idx;
	uint16_t delay = drv->event_idx ? outstanding * 3 / 4 : 0;

	return vdriver_arm(drv, drv->used_idx + delay);
}

/* No calls for now; one may still come. With EVENT_IDX this does nothing. */
static inline void vdriver_disable_call(struct vdriver *drv)
{
	if (!drv->event_idx)
		WRITE_ONCE(drv->ring.avail->flags,
			   vring16(drv->v1, VRING_AVAIL_F_NO_INTERRUPT));
}

#endif
