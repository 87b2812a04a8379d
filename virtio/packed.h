/* SPDX-License-Identifier: MIT */
/*
 * The packed virtqueue in memory (virtio 1.2, section 2.8): one ring, which both
 * sides write, and a structure for each side's requests.
 *
 *	desc	16 bytes each	both	2.8.13
 *	driver	4 bytes		guest	2.8.14: when it wants a call
 *	device	4 bytes		host	2.8.14: when it wants a kick
 *
 * All words are little-endian. A side goes round the ring and counts its laps in one
 * bit, which is 1 in the first lap (2.8.1). The guest makes a descriptor available
 * by setting AVAIL to its bit, and USED to the opposite; the host marks it used by
 * setting both to its own. So whoever has the next turn at a descriptor sees it in
 * the descriptor alone.
 */
#ifndef VIRTIO_PACKED_H
#define VIRTIO_PACKED_H

#include <stdbool.h>
#include <stdint.h>

#include "virtio/vring.h"

/* Feature bits, by number (virtio 1.2, section 6). */
#define VIRTIO_F_RING_PACKED 34
#define VIRTIO_F_IN_ORDER 35

/* NEXT, WRITE and INDIRECT are those of vring.h. */
#define PACKED_DESC_F_AVAIL (1 << 7)
#define PACKED_DESC_F_USED (1 << 15)
#define PACKED_TURN (PACKED_DESC_F_AVAIL | PACKED_DESC_F_USED)

#define PACKED_EVENT_ENABLE 0  /* always */
#define PACKED_EVENT_DISABLE 1 /* never; a hint, so one may still come */
#define PACKED_EVENT_DESC 2 /* once the descriptor at off_wrap has its turn */
#define PACKED_EVENT_WRAP (1 << 15) /* of off_wrap: the lap's bit */

#define PACKED_MAX_SIZE 32768

/* What one store gives to the other side, whole. */
union packed_head {
	struct {
		uint32_t len; /* available: of the buffer; used: written */
		uint16_t id;
		uint16_t flags;
	};
	uint64_t word;
};

struct packed_desc {
	uint64_t addr;
	union packed_head head;
};
_Static_assert(sizeof(struct packed_desc) == 16, "as 2.8.13 says");

union packed_event {
	struct {
		uint16_t off_wrap;
		uint16_t flags;
	};
	uint32_t word;
};
_Static_assert(sizeof(union packed_event) == 4, "as 2.8.14 says");

static inline uint16_t packed16(uint16_t val)
{
	return vring16(true, val);
}

static inline uint32_t packed32(uint32_t val)
{
	return vring32(true, val);
}

static inline uint64_t packed64(uint64_t val)
{
	return vring64(true, val);
}

/*
 * Where a side is: its next descriptor, and the AVAIL and USED bits that go with its
 * lap, in memory's byte order.
 */
struct packed_place {
	uint32_t slot;
	uint16_t turn;
};

/* At the start of the first lap; @turn: of an available or of a used descriptor. */
static inline struct packed_place packed_start(uint16_t turn)
{
	return (struct packed_place){ .turn = packed16(turn) };
}

/* @n descriptors on, of a ring of @size; @n is at most @size. */
static inline void packed_step(struct packed_place *p, uint32_t n,
			       uint32_t size)
{
	p->slot += n;
	if (p->slot < size)
		return;
	p->slot -= size;
	p->turn ^= packed16(PACKED_TURN);
}

/* Is a descriptor with these flags, as they are in memory, what @p waits for? */
static inline bool packed_turn(const struct packed_place *p, uint16_t flags)
{
	return !((flags ^ p->turn) & packed16(PACKED_TURN));
}

/* The lap's bit of a side that waits for available or used descriptors. */
static inline bool packed_wrap(const struct packed_place *p)
{
	return p->turn & packed16(PACKED_DESC_F_AVAIL);
}

/* A request for one notification, once the descriptor at @p has its turn. */
static inline union packed_event packed_ask(const struct packed_place *p)
{
	return (union packed_event){
		.off_wrap = packed16(p->slot |
				     (packed_wrap(p) ? PACKED_EVENT_WRAP : 0)),
		.flags = packed16(PACKED_EVENT_DESC),
	};
}

/*
 * Does the other side want to be told (2.8.14), now that the last @since descriptors,
 * those just before @next, had their turn? More than @size of them are all there are.
 * A request that was met and not taken back is met again two laps later.
 */
static inline bool packed_need_event(union packed_event event,
				     const struct packed_place *next,
				     uint32_t size, uint32_t since)
{
	const uint16_t flags = packed16(event.flags) & 3;
	const uint16_t off_wrap = packed16(event.off_wrap);
	const uint32_t off = off_wrap & (PACKED_EVENT_WRAP - 1);
	uint32_t behind;

	if (flags != PACKED_EVENT_DESC)
		return since && flags != PACKED_EVENT_DISABLE;
	if (off >= size)
		return false; /* there is no such descriptor */
	behind = next->slot - off;
	if (packed_wrap(next) != !!(off_wrap & PACKED_EVENT_WRAP))
		behind += size;
	/* 1 to size: it had its turn; beyond: in this lap it has yet to */
	return behind - 1 < (since < size ? since : size);
}

#endif
