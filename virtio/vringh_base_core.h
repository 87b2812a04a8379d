/* SPDX-License-Identifier: MIT */
/* The code of vringh_base.h, which includes it. */
#ifndef VIRTIO_VRINGH_BASE_CORE_H
#define VIRTIO_VRINGH_BASE_CORE_H

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
	IN_CHAIN,
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
		[IN_CHAIN] = { -EINVAL, "is an indirect table in a chain of "
					"others" },
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

/* 0: it is in its list. 1 and up: what is wrong with it, plus 1. Or -ENOMEM. */
static __vringh_inline int vringh_add_buffer(struct vringh *vrh,
					     struct vringh_walk *walk,
					     const struct vring_desc *desc,
					     struct vringh_iov *riov,
					     struct vringh_iov *wiov)
{
	struct vringh_iov *iov;

	if (vringh_unlikely(desc->len &&
			    desc->len - 1 > UINT64_MAX - desc->addr))
		return 1 + WRAPS;
	if (desc->flags & VRING_DESC_F_WRITE) {
		walk->writable = true;
		iov = wiov;
	} else {
		if (vringh_unlikely(walk->writable))
			return 1 + ORDER;
		iov = riov;
	}
	if (vringh_unlikely(!iov))
		return 1 + NO_LIST;
	if (vringh_unlikely(walk->total++ == vrh->max_chain))
		return 1 + TOO_LONG;
	if (!desc->len)
		return 0;
	if (vringh_unlikely(iov->used == iov->max)) {
		int err = vringh_iov_grow(vrh, iov);

		if (err)
			return err;
	}
	iov->pieces[iov->used++] =
		(struct vringh_piece){ desc->addr, desc->len };
	return 0;
}

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

#endif
