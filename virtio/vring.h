/* SPDX-License-Identifier: MIT */
/*
 * The split virtqueue in memory (virtio 1.1, section 2.6): three areas, each
 * written by one side only.
 *
 *	desc	16 bytes each	guest	2.6.5
 *	avail	2 bytes each	guest	2.6.6, used_event at its end
 *	used	8 bytes each	host	2.6.8, avail_event at its end
 */
#ifndef VIRTIO_VRING_H
#define VIRTIO_VRING_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Feature bits, by number (virtio 1.1, section 6). */
#define VIRTIO_RING_F_INDIRECT_DESC 28
#define VIRTIO_RING_F_EVENT_IDX 29
#define VIRTIO_F_VERSION_1 32

#define VRING_DESC_F_NEXT 1	/* the chain goes on at desc.next */
#define VRING_DESC_F_WRITE 2	/* the host writes the buffer */
#define VRING_DESC_F_INDIRECT 4 /* the buffer is a table of descriptors */

#define VRING_AVAIL_F_NO_INTERRUPT 1 /* without EVENT_IDX: don't call */
#define VRING_USED_F_NO_NOTIFY 1     /* without EVENT_IDX: don't kick */

#define VRING_MAX_SIZE 32768
#define VRING_USED_ALIGN 4096 /* legacy: used starts on a page */

struct vring_desc {
	uint64_t addr;
	uint32_t len;
	uint16_t flags;
	uint16_t next;
};

struct vring_avail {
	uint16_t flags;
	uint16_t idx;
	uint16_t ring[];
};

struct vring_used_elem {
	uint32_t id;
	uint32_t len;
};

struct vring_used {
	uint16_t flags;
	uint16_t idx;
	struct vring_used_elem ring[];
};

struct vring {
	struct vring_desc *desc;
	struct vring_avail *avail;
	struct vring_used *used;
	uint16_t *used_event;  /* guest: call me at this used index */
	uint16_t *avail_event; /* host: kick me at this available index */
	uint32_t mask;	       /* size, a power of two, less one */
};

static inline size_t vring_used_offset(uint32_t size)
{
	size_t end = size * sizeof(struct vring_desc) +
		     (3 + size) * sizeof(uint16_t);

	return (end + VRING_USED_ALIGN - 1) & -(size_t)VRING_USED_ALIGN;
}

static inline size_t vring_bytes(uint32_t size)
{
	return vring_used_offset(size) + size * sizeof(struct vring_used_elem) +
	       3 * sizeof(uint16_t);
}

/* @mem: vring_bytes(@size) bytes, page aligned. */
static inline void vring_init(struct vring *vr, uint32_t size, void *mem)
{
	vr->desc = mem;
	vr->avail = (struct vring_avail *)(vr->desc + size);
	vr->used = (void *)((char *)mem + vring_used_offset(size));
	vr->used_event = &vr->avail->ring[size];
	vr->avail_event = (uint16_t *)&vr->used->ring[size];
	vr->mask = size - 1;
}

/*
 * A ring's words are little-endian with VERSION_1, and in the machine's own
 * order without (1.4, 7.3); @v1 says which. The conversion is its own inverse.
 */
#define VRING_SWAPS(v1) (__BYTE_ORDER__ == __ORDER_BIG_ENDIAN__ && (v1))

static inline uint16_t vring16(bool v1, uint16_t val)
{
	return VRING_SWAPS(v1) ? __builtin_bswap16(val) : val;
}

static inline uint32_t vring32(bool v1, uint32_t val)
{
	return VRING_SWAPS(v1) ? __builtin_bswap32(val) : val;
}

static inline uint64_t vring64(bool v1, uint64_t val)
{
	return VRING_SWAPS(v1) ? __builtin_bswap64(val) : val;
}

#endif
