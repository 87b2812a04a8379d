/* SPDX-License-Identifier: MIT */
/*
 * The code of vringh, for every access; vringh.h, which includes it, says what
 * the calls do.
 *
 * Whatever calls through the access is inlined into its caller, so that with a
 * constant access that call is inlined, too. What only a broken guest causes is
 * kept out of line.
 *
 * Edges; the other ends are in the guest, whichever this is built with:
 *	A  guest to host: descriptor and entry, then avail idx
 *	B  host to guest: used element, then used idx
 *	C  avail idx added to, against avail_event or flags armed
 *	D  used idx added to, against used_event or flags armed
 */
#ifndef VIRTIO_VRINGH_CORE_H
#define VIRTIO_VRINGH_CORE_H

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define __vringh_cold __attribute__((cold, noinline, unused))
#define vringh_unlikely(x) __builtin_expect(!!(x), 0)

/* ---- What went wrong ---- */

__attribute__((format(printf, 3, 4))) __vringh_cold static int
vringh_fail(struct vringh *vrh, int err, const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(vrh->error, sizeof(vrh->error), fmt, ap);
	va_end(ap);
	return err;
}

__vringh_cold static int vringh_fail_access(struct vringh *vrh, int err,
					    enum vringh_area area,
					    uint64_t addr, uint64_t len)
{
	static const char *const names[] = {
		[VRINGH_DESC] = "descriptor table",
		[VRINGH_AVAIL] = "available ring",
		[VRINGH_USED] = "used ring",
		[VRINGH_TABLE] = "indirect table",
		[VRINGH_READ] = "readable buffer",
		[VRINGH_WRITE] = "writable buffer",
	};

	/* no error: a word of the ring is split between two ranges */
	if (!err)
		return vringh_fail(vrh, -EFAULT,
				   "%s: %" PRIu64 " bytes at 0x%" PRIx64
				   " are not in one range",
				   names[area], len, addr);
	return vringh_fail(vrh, err,
			   "%s: %" PRIu64 " bytes at 0x%" PRIx64 " %s",
			   names[area], len, addr,
			   err != -EACCES ? "are outside every range" :
			   area == VRINGH_USED || area == VRINGH_WRITE ?
					    "may not be written" :
					    "may not be read");
}

enum vringh_flaw {
	WRAPS,
	ORDER,
	NO_LIST,
	TOO_LONG,
	NEXT_RANGE,
	LOOPS,
	NESTED,
	UNASKED,
	AND_NEXT,
	NO_ENTRY,
	PARTIAL,
	TOO_LARGE,
};

/* Descriptor number @i of the ring's table, or of an indirect one, is wrong. */
__vringh_cold static int vringh_fail_desc(struct vringh *vrh,
					  enum vringh_area area, uint32_t i,
					  const struct vring_desc *desc,
					  enum vringh_flaw flaw)
{
	static const struct {
		int err;
		const char *text;
	} flaws[] = {
		[WRAPS] = { -EOVERFLOW, "goes past the end of addresses" },
		[ORDER] = { -EINVAL, "is readable, after a writable one" },
		[NO_LIST] = { -EINVAL, "is of a direction not expected here" },
		[TOO_LONG] = { -E2BIG, "makes a chain too long" },
		[NEXT_RANGE] = { -EINVAL, "has next outside the table" },
		[LOOPS] = { -ELOOP, "closes a loop: more steps than entries" },
		[NESTED] = { -EINVAL, "is an indirect table in one" },
		[UNASKED] = { -EINVAL,
			      "is indirect, which was not negotiated" },
		[AND_NEXT] = { -EINVAL, "is indirect and has a next" },
		[NO_ENTRY] = { -EINVAL, "is an indirect table of length 0" },
		[PARTIAL] = { -EINVAL, "is an indirect table whose length is "
				       "no multiple of 16" },
		[TOO_LARGE] = { -E2BIG, "is an indirect table larger than any "
					"ring" },
	};

	return vringh_fail(vrh, flaws[flaw].err,
			   "%sdescriptor %" PRIu32 " %s (addr 0x%" PRIx64
			   ", len %" PRIu32 ", next %u)",
			   area == VRINGH_TABLE ? "indirect " : "", i,
			   flaws[flaw].text, desc->addr, desc->len, desc->next);
}

__vringh_cold static int vringh_fail_index(struct vringh *vrh, uint16_t idx)
{
	const uint16_t ahead = idx - vrh->last_avail;

	if (ahead > VRING_MAX_SIZE)
		return vringh_fail(vrh, -EPROTO,
				   "available index went back "
				   "from %u to %u",
				   vrh->last_avail, idx);
	if (ahead > vrh->size)
		return vringh_fail(vrh, -EPROTO,
				   "available index %u is %u "
				   "ahead of %u, in a ring of %" PRIu32,
				   idx, ahead, vrh->last_avail, vrh->size);
	return vringh_fail(vrh, -EPROTO,
			   "available index %u is %u ahead of "
			   "%u completed, in a ring of %" PRIu32,
			   idx, (uint16_t)(idx - vrh->last_used),
			   vrh->last_used, vrh->size);
}

static inline const char *vringh_error(const struct vringh *vrh)
{
	return vrh->error;
}

/* ---- Access ---- */

/* @len contiguous bytes of the ring. *err is 0; else NULL, and it says why. */
static __vringh_inline void *vringh_word(const struct vringh_access *access,
					 struct vringh *vrh,
					 enum vringh_area area, uint64_t addr,
					 uint32_t len, int *err)
{
	struct vringh_span span;

	*err = access->translate(vrh, area, addr, len, &span);
	if (vringh_unlikely(*err || span.len < len)) {
		*err = vringh_fail_access(vrh, *err, area, addr, len);
		return NULL;
	}
	return span.ptr;
}

/*
 * Reads each field once. @from is aligned, and in the guest's byte order; *desc
 * is in ours.
 */
static __vringh_inline void vringh_load_desc(const struct vringh *vrh,
					     const struct vring_desc *from,
					     struct vring_desc *desc)
{
	desc->addr = vring64(vrh->v1, READ_ONCE(from->addr));
	desc->len = vring32(vrh->v1, READ_ONCE(from->len));
	desc->flags = vring16(vrh->v1, READ_ONCE(from->flags));
	desc->next = vring16(vrh->v1, READ_ONCE(from->next));
}

/* Byte by byte: an indirect table may lie anywhere, and in several ranges. */
static __vringh_inline int
vringh_gather_desc(const struct vringh_access *access, struct vringh *vrh,
		   uint64_t addr, struct vring_desc *desc)
{
	struct vring_desc copy;
	struct vringh_span span;
	unsigned char *to = (unsigned char *)&copy;

	for (uint32_t got = 0; got < sizeof(copy); got += span.len) {
		int err = access->translate(vrh, VRINGH_TABLE, addr + got,
					    sizeof(copy) - got, &span);

		if (err)
			return vringh_fail_access(vrh, err, VRINGH_TABLE,
						  addr + got,
						  sizeof(copy) - got);
		for (uint32_t i = 0; i < span.len; i++)
			to[got + i] = READ_ONCE(((unsigned char *)span.ptr)[i]);
	}
	vringh_load_desc(vrh, &copy, desc);
	return 0;
}

static __vringh_inline int
vringh_read_desc(const struct vringh_access *access, struct vringh *vrh,
		 enum vringh_area area, uint64_t addr, struct vring_desc *desc)
{
	struct vringh_span span;
	int err;

	if (area == VRINGH_DESC) {
		struct vring_desc *from;

		from = vringh_word(access, vrh, area, addr, sizeof(*desc),
				   &err);
		if (!err)
			vringh_load_desc(vrh, from, desc);
		return err;
	}
	err = access->translate(vrh, area, addr, sizeof(*desc), &span);
	if (vringh_unlikely(err))
		return vringh_fail_access(vrh, err, area, addr, sizeof(*desc));
	if (vringh_unlikely(span.len < sizeof(*desc) ||
			    (uintptr_t)span.ptr % _Alignof(struct vring_desc)))
		return vringh_gather_desc(access, vrh, addr, desc);
	vringh_load_desc(vrh, span.ptr, desc);
	return 0;
}

/* ---- Beginning ---- */

static inline int vringh_check_area(const struct vringh_access *access,
				    struct vringh *vrh, enum vringh_area area,
				    uint64_t addr, uint64_t len, uint64_t align)
{
	struct vringh_span span;

	if (addr % align)
		return vringh_fail(vrh, -EINVAL,
				   "0x%" PRIx64 ": part %d of the "
				   "ring is not aligned to %" PRIu64,
				   addr, area, align);
	if (len - 1 > UINT64_MAX - addr)
		return vringh_fail(vrh, -EINVAL,
				   "0x%" PRIx64 ": part %d of the "
				   "ring goes past the end of addresses",
				   addr, area);
	for (uint64_t got = 0; got < len; got += span.len) {
		int err = access->translate(vrh, area, addr + got, len - got,
					    &span);

		if (err)
			return vringh_fail_access(vrh, err, area, addr + got,
						  len - got);
	}
	return 0;
}

static inline int vringh_init(const struct vringh_access *access,
			      struct vringh *vrh, uint64_t features,
			      uint32_t size, uint64_t desc, uint64_t avail,
			      uint64_t used, const void *memory)
{
	const uint64_t known = 1ull << VIRTIO_RING_F_INDIRECT_DESC |
			       1ull << VIRTIO_RING_F_EVENT_IDX |
			       1ull << VIRTIO_F_VERSION_1;
	int err;

	*vrh = (struct vringh){
		.desc = desc,
		.avail = avail,
		.used = used,
		.memory = memory,
		.size = size,
		.max_chain = size,
		.v1 = features >> VIRTIO_F_VERSION_1 & 1,
		.indirect = features >> VIRTIO_RING_F_INDIRECT_DESC & 1,
		.event_idx = features >> VIRTIO_RING_F_EVENT_IDX & 1,
	};
	if (features & ~known)
		return vringh_fail(vrh, -EINVAL,
				   "features 0x%" PRIx64 " are not known",
				   features & ~known);
	if (!size || size & (size - 1) || size > VRING_MAX_SIZE)
		return vringh_fail(vrh, -EINVAL,
				   "size %" PRIu32 " is not a "
				   "power of two up to %u",
				   size, VRING_MAX_SIZE);
	err = vringh_check_area(access, vrh, VRINGH_DESC, desc,
				size * sizeof(struct vring_desc), 16);
	if (!err)
		err = vringh_check_area(access, vrh, VRINGH_AVAIL, avail,
					(3 + size) * sizeof(uint16_t), 2);
	if (!err)
		err = vringh_check_area(access, vrh, VRINGH_USED, used,
					size * sizeof(struct vring_used_elem) +
						3 * sizeof(uint16_t),
					4);
	return err;
}

static inline int vringh_set_max_chain(struct vringh *vrh, uint32_t n)
{
	if (!n || n > VRING_MAX_SIZE)
		return vringh_fail(vrh, -EINVAL,
				   "chains of %" PRIu32
				   " descriptors: not 1 to %u",
				   n, VRING_MAX_SIZE);
	vrh->max_chain = n;
	return 0;
}

static inline int vringh_set_base(struct vringh *vrh, uint16_t last_avail,
				  uint16_t last_used)
{
	if ((uint16_t)(last_avail - last_used) > vrh->size)
		return vringh_fail(vrh, -EINVAL,
				   "%u chains taken and %u "
				   "completed, in a ring of %" PRIu32,
				   last_avail, last_used, vrh->size);
	vrh->avail_idx = last_avail;
	vrh->last_avail = last_avail;
	vrh->last_used = last_used;
	vrh->completed = 0;
	return 0;
}

static inline void vringh_set_memory(struct vringh *vrh, const void *memory)
{
	vrh->memory = memory;
}

/* ---- Lists ---- */

static inline void vringh_iov_init(struct vringh_iov *iov,
				   struct vringh_piece *pieces, uint32_t max)
{
	*iov = (struct vringh_iov){ .pieces = pieces, .max = max };
}

static inline void vringh_iov_reset(struct vringh_iov *iov)
{
	iov->i = 0;
	iov->done = 0;
}

static inline uint64_t vringh_iov_left(const struct vringh_iov *iov)
{
	uint64_t left = 0;

	for (uint32_t i = iov->i; i < iov->used; i++)
		left += iov->pieces[i].len;
	return left - iov->done;
}

static inline uint64_t vringh_iov_advance(struct vringh_iov *iov, uint64_t len)
{
	uint64_t gone = 0;

	while (gone < len && iov->i < iov->used) {
		uint64_t n = iov->pieces[iov->i].len - iov->done;

		if (n > len - gone) {
			iov->done += len - gone;
			return len;
		}
		gone += n;
		iov->done = 0;
		iov->i++;
	}
	return gone;
}

static inline void vringh_iov_cleanup(struct vringh_iov *iov)
{
	if (iov->heap)
		free(iov->pieces);
	*iov = (struct vringh_iov){ .pieces = NULL };
}

__vringh_cold static int vringh_iov_grow(struct vringh *vrh,
					 struct vringh_iov *iov)
{
	uint32_t max = iov->max < 8 ? 8 : iov->max * 2;
	struct vringh_piece *pieces;

	pieces = realloc(iov->heap ? iov->pieces : NULL, max * sizeof(*pieces));
	if (!pieces)
		return vringh_fail(vrh, -ENOMEM,
				   "no memory for a list of %" PRIu32
				   " buffers",
				   max);
	if (!iov->heap && iov->used)
		memcpy(pieces, iov->pieces, iov->used * sizeof(*pieces));
	iov->pieces = pieces;
	iov->max = max;
	iov->heap = true;
	return 0;
}

static __vringh_inline int vringh_iov_peek(const struct vringh_access *access,
					   struct vringh *vrh,
					   const struct vringh_iov *iov,
					   enum vringh_area area,
					   struct vringh_span *span)
{
	const struct vringh_piece *piece;
	int err;

	if (iov->i == iov->used) {
		*span = (struct vringh_span){ NULL, 0 };
		return 0;
	}
	piece = &iov->pieces[iov->i];
	err = access->translate(vrh, area, piece->addr + iov->done,
				piece->len - iov->done, span);
	if (vringh_unlikely(err)) {
		vringh_fail_access(vrh, err, area, piece->addr + iov->done,
				   piece->len - iov->done);
		return err;
	}
	return 1;
}

/* Copies between the list and @ours; @area is the direction. */
static __vringh_inline ssize_t vringh_move(const struct vringh_access *access,
					   struct vringh *vrh,
					   enum vringh_area area,
					   struct vringh_iov *iov, void *ours,
					   size_t len)
{
	size_t moved = 0;

	while (moved < len && iov->i < iov->used) {
		const struct vringh_piece *piece = &iov->pieces[iov->i];
		const uint64_t addr = piece->addr + iov->done;
		uint64_t n = piece->len - iov->done;
		struct vringh_span span;
		int err;

		if (n > len - moved)
			n = len - moved;
		err = access->translate(vrh, area, addr, n, &span);
		if (vringh_unlikely(err)) {
			if (moved)
				break;
			return vringh_fail_access(vrh, err, area, addr, n);
		}
		if (area == VRINGH_WRITE)
			memcpy(span.ptr, (char *)ours + moved, span.len);
		else
			memcpy((char *)ours + moved, span.ptr, span.len);
		moved += span.len;
		iov->done += span.len;
		if (iov->done == piece->len) {
			iov->done = 0;
			iov->i++;
		}
	}
	return moved;
}

static __vringh_inline ssize_t
vringh_iov_pull(const struct vringh_access *access, struct vringh *vrh,
		struct vringh_iov *riov, void *dst, size_t len)
{
	return vringh_move(access, vrh, VRINGH_READ, riov, dst, len);
}

static __vringh_inline ssize_t
vringh_iov_push(const struct vringh_access *access, struct vringh *vrh,
		struct vringh_iov *wiov, const void *src, size_t len)
{
	return vringh_move(access, vrh, VRINGH_WRITE, wiov, (void *)src, len);
}

/* ---- Chains ---- */

/* A table to walk, and what has been found so far. */
struct vringh_walk {
	uint64_t table;
	uint32_t entries;
	uint32_t i;	/* the first of the chain */
	uint32_t total; /* buffers */
	bool writable;	/* one of them was */
};

static inline int vringh_enter_table(struct vringh *vrh, uint32_t i,
				     const struct vring_desc *desc,
				     struct vringh_walk *walk)
{
	enum vringh_flaw flaw;

	if (!vrh->indirect)
		flaw = UNASKED;
	else if (desc->flags & VRING_DESC_F_NEXT)
		flaw = AND_NEXT;
	else if (!desc->len)
		flaw = NO_ENTRY;
	else if (desc->len % sizeof(*desc))
		flaw = PARTIAL;
	else if (desc->len > VRING_MAX_SIZE * sizeof(*desc))
		flaw = TOO_LARGE;
	else if (desc->len - 1 > UINT64_MAX - desc->addr)
		flaw = WRAPS;
	else {
		walk->table = desc->addr;
		walk->entries = desc->len / sizeof(*desc);
		walk->i = 0;
		return 1;
	}
	return vringh_fail_desc(vrh, VRINGH_DESC, i, desc, flaw);
}

/* 0: the end of the chain. 1: it continues in the indirect table in *walk. */
static __vringh_inline int
vringh_walk_table(const struct vringh_access *access, struct vringh *vrh,
		  const enum vringh_area area, struct vringh_walk *walk,
		  struct vringh_iov *riov, struct vringh_iov *wiov)
{
	uint32_t i = walk->i, steps = 0;
	struct vring_desc desc;
	enum vringh_flaw flaw;

	for (;;) {
		struct vringh_iov *iov;
		int err = vringh_read_desc(access, vrh, area,
					   walk->table + i * sizeof(desc),
					   &desc);

		if (vringh_unlikely(err))
			return err;
		flaw = NESTED;
		if (vringh_unlikely(desc.flags & VRING_DESC_F_INDIRECT)) {
			if (area == VRINGH_TABLE)
				break;
			return vringh_enter_table(vrh, i, &desc, walk);
		}
		flaw = WRAPS;
		if (vringh_unlikely(desc.len &&
				    desc.len - 1 > UINT64_MAX - desc.addr))
			break;
		if (desc.flags & VRING_DESC_F_WRITE) {
			walk->writable = true;
			iov = wiov;
		} else {
			flaw = ORDER;
			if (vringh_unlikely(walk->writable))
				break;
			iov = riov;
		}
		flaw = NO_LIST;
		if (vringh_unlikely(!iov))
			break;
		flaw = TOO_LONG;
		if (vringh_unlikely(walk->total++ == vrh->max_chain))
			break;
		if (desc.len) {
			if (vringh_unlikely(iov->used == iov->max)) {
				err = vringh_iov_grow(vrh, iov);
				if (err)
					return err;
			}
			iov->pieces[iov->used++] =
				(struct vringh_piece){ desc.addr, desc.len };
		}
		if (!(desc.flags & VRING_DESC_F_NEXT))
			return 0;
		flaw = NEXT_RANGE;
		if (vringh_unlikely(desc.next >= walk->entries))
			break;
		flaw = LOOPS;
		if (vringh_unlikely(++steps == walk->entries))
			break;
		i = desc.next;
	}
	return vringh_fail_desc(vrh, area, i, &desc, flaw);
}

static inline void vringh_abandon(struct vringh *vrh, uint16_t n)
{
	vrh->last_avail -= n;
}

static __vringh_inline uint16_t *
vringh_avail_idx(const struct vringh_access *access, struct vringh *vrh,
		 int *err)
{
	return vringh_word(access, vrh, VRINGH_AVAIL,
			   vrh->avail + offsetof(struct vring_avail, idx),
			   sizeof(uint16_t), err);
}

/* Reads the index. 1: there are new chains. 0: there are none. */
static __vringh_inline int vringh_read_avail(const struct vringh_access *access,
					     struct vringh *vrh)
{
	uint16_t *p, idx;
	uint32_t outstanding;
	int err;

	p = vringh_avail_idx(access, vrh, &err);
	if (vringh_unlikely(err))
		return err;
	/*
	 * A.acquire: the index before the entries and the descriptors. Pairs
	 * with the guest's A.release.
	 */
	idx = vring16(vrh->v1, smp_load_acquire(p));
	if (idx == vrh->last_avail)
		return 0;
	/*
	 * What the guest added has to fit in the ring beside what is
	 * outstanding. That then holds for every chain up to idx, as
	 * completions only make room. To a host that completed what it had not
	 * taken, far too much is outstanding.
	 */
	outstanding = (uint16_t)(vrh->last_avail - vrh->last_used);
	if (vringh_unlikely((uint16_t)(idx - vrh->last_avail) + outstanding >
			    vrh->size))
		return vringh_fail_index(vrh, idx);
	vrh->avail_idx = idx;
	return 1;
}

/*
 * The chain just taken could not be read in full. If it is malformed, it stays
 * taken, for the host to give it back; else it is as if nobody had looked.
 */
__vringh_cold static int vringh_untake(struct vringh *vrh, int err,
				       struct vringh_iov *riov,
				       struct vringh_iov *wiov, uint32_t *head)
{
	if (riov)
		riov->used = 0;
	if (wiov)
		wiov->used = 0;
	if (err == -EFAULT || err == -EACCES || err == -ENOMEM) {
		vringh_abandon(vrh, 1);
		*head = VRINGH_NO_HEAD;
	}
	return err;
}

static __vringh_inline int
vringh_getdesc(const struct vringh_access *access, struct vringh *vrh,
	       struct vringh_iov *riov, struct vringh_iov *wiov, uint32_t *head)
{
	const uint32_t mask = vrh->size - 1;
	struct vringh_walk walk;
	uint16_t *entry;
	int err;

	*head = VRINGH_NO_HEAD;
	if (vrh->avail_idx == vrh->last_avail) {
		err = vringh_read_avail(access, vrh);
		if (err <= 0)
			return err;
	}
	entry = vringh_word(access, vrh, VRINGH_AVAIL,
			    vrh->avail + offsetof(struct vring_avail, ring) +
				    (vrh->last_avail & mask) * sizeof(*entry),
			    sizeof(*entry), &err);
	if (vringh_unlikely(err))
		return err;
	*head = vring16(vrh->v1, READ_ONCE(*entry));
	vrh->last_avail++;
	if (vringh_unlikely(*head > mask))
		return vringh_fail(vrh, -EINVAL,
				   "head %" PRIu32 " in a ring "
				   "of %" PRIu32,
				   *head, vrh->size);
	if (riov) {
		riov->used = 0;
		vringh_iov_reset(riov);
	}
	if (wiov) {
		wiov->used = 0;
		vringh_iov_reset(wiov);
	}
	if (!riov && !wiov)
		return 1;

	walk = (struct vringh_walk){ .table = vrh->desc,
				     .entries = vrh->size,
				     .i = *head };
	err = vringh_walk_table(access, vrh, VRINGH_DESC, &walk, riov, wiov);
	if (vringh_unlikely(err > 0))
		err = vringh_walk_table(access, vrh, VRINGH_TABLE, &walk, riov,
					wiov);
	if (vringh_unlikely(err))
		return vringh_untake(vrh, err, riov, wiov, head);
	return 1;
}

/* ---- Completions ---- */

static __vringh_inline int
vringh_complete_multi(const struct vringh_access *access, struct vringh *vrh,
		      const struct vringh_used *used, uint32_t n)
{
	const uint32_t mask = vrh->size - 1;
	uint16_t *p;
	int err;

	if (vringh_unlikely(n != 1 && n > vrh->size))
		return vringh_fail(vrh, -EINVAL,
				   "%" PRIu32 " completions in a "
				   "ring of %" PRIu32,
				   n, vrh->size);
	for (uint32_t i = 0; i < n; i++) {
		struct vring_used_elem *elem;

		if (vringh_unlikely(used[i].head > mask))
			return vringh_fail(vrh, -EINVAL,
					   "completion of head %" PRIu32
					   " in a ring of %" PRIu32,
					   used[i].head, vrh->size);
		elem = vringh_word(
			access, vrh, VRINGH_USED,
			vrh->used + offsetof(struct vring_used, ring) +
				((vrh->last_used + i) & mask) * sizeof(*elem),
			sizeof(*elem), &err);
		if (vringh_unlikely(err))
			return err;
		WRITE_ONCE(elem->id, vring32(vrh->v1, used[i].head));
		WRITE_ONCE(elem->len, vring32(vrh->v1, used[i].len));
	}
	p = vringh_word(access, vrh, VRINGH_USED,
			vrh->used + offsetof(struct vring_used, idx),
			sizeof(*p), &err);
	if (vringh_unlikely(err))
		return err;
	vrh->last_used += n;
	vrh->completed += n;
	/*
	 * B.release: the elements, and the end of all use of the buffers,
	 * before the index. Pairs with the guest's B.acquire.
	 */
	smp_store_release(p, vring16(vrh->v1, vrh->last_used));
	return 0;
}

static __vringh_inline int vringh_complete(const struct vringh_access *access,
					   struct vringh *vrh, uint32_t head,
					   uint32_t len)
{
	const struct vringh_used used = { head, len };

	return vringh_complete_multi(access, vrh, &used, 1);
}

/* ---- Notifications ---- */

static __vringh_inline int
vringh_need_notify(const struct vringh_access *access, struct vringh *vrh)
{
	const uint32_t since = vrh->completed;
	const uint64_t used_event = offsetof(struct vring_avail, ring) +
				    vrh->size * sizeof(uint16_t);
	uint16_t *p, val;
	int err;

	/*
	 * D.call: the completions before a look at the request. Pairs with
	 * the guest's D.arm.
	 */
	smp_mb();
	p = vringh_word(access, vrh, VRINGH_AVAIL,
			vrh->avail +
				(vrh->event_idx ?
					 used_event :
					 offsetof(struct vring_avail, flags)),
			sizeof(*p), &err);
	if (vringh_unlikely(err))
		return err;
	val = vring16(vrh->v1, READ_ONCE(*p));
	vrh->completed = 0;
	if (vrh->event_idx)
		return need_event(val, vrh->last_used, since);
	return since && !(val & VRING_AVAIL_F_NO_INTERRUPT);
}

/* 1: there is nothing to take. 0: there is something, or the index is wrong. */
static __vringh_inline int vringh_look(const struct vringh_access *access,
				       struct vringh *vrh)
{
	uint16_t *p;
	int err;

	if (vrh->avail_idx != vrh->last_avail)
		return 0;
	p = vringh_avail_idx(access, vrh, &err);
	if (vringh_unlikely(err))
		return err;
	return vring16(vrh->v1, READ_ONCE(*p)) == vrh->last_avail;
}

static __vringh_inline bool vringh_empty(const struct vringh_access *access,
					 struct vringh *vrh)
{
	return vringh_look(access, vrh) == 1;
}

/* Writes the used ring's flags or, with EVENT_IDX, avail_event. */
static __vringh_inline int vringh_ask(const struct vringh_access *access,
				      struct vringh *vrh, uint64_t offset,
				      uint16_t val)
{
	int err;
	uint16_t *p = vringh_word(access, vrh, VRINGH_USED, vrh->used + offset,
				  sizeof(*p), &err);

	if (!err)
		WRITE_ONCE(*p, vring16(vrh->v1, val));
	return err;
}

static __vringh_inline int
vringh_notify_enable(const struct vringh_access *access, struct vringh *vrh)
{
	const uint64_t avail_event = offsetof(struct vring_used, ring) +
				     vrh->size * sizeof(struct vring_used_elem);
	int err;

	if (vrh->event_idx)
		err = vringh_ask(access, vrh, avail_event, vrh->last_avail);
	else
		err = vringh_ask(access, vrh,
				 offsetof(struct vring_used, flags), 0);
	if (vringh_unlikely(err))
		return err;
	/*
	 * C.arm: the request before another look at the ring. Pairs with
	 * the guest's C.kick.
	 */
	smp_mb();
	return vringh_look(access, vrh);
}

static __vringh_inline int
vringh_notify_disable(const struct vringh_access *access, struct vringh *vrh)
{
	if (vrh->event_idx)
		return 0;
	return vringh_ask(access, vrh, offsetof(struct vring_used, flags),
			  VRING_USED_F_NO_NOTIFY);
}

#endif
