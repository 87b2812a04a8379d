/* SPDX-License-Identifier: MIT */
/*
 * vringh: the host's side of a split virtqueue (virtio 1.1, section 2.6), with
 * one set of names for every kind of memory that the ring may lie in.
 *
 * What differs is an access: a constant table of small functions that turns a
 * guest's address into ours. vringh_user, vringh_kern and vringh_iotlb are in
 * access_*.h. Every call takes one as its first argument:
 *
 *	vringh_getdesc(&vringh_user, &vrh, ...)	known to the compiler: all of
 *						it is inlined, nothing is
 *						called through a pointer
 *	vringh_getdesc(access, &vrh, ...)	a pointer read from memory: the
 *						same code, one copy for all
 *
 * All calls for one vringh are from one thread, the host's, and with the access
 * that vringh_init() was given. The map behind vringh_user and vringh_iotlb
 * changes between calls only, from the same thread; a map that several vringhs
 * share does not change at all, but is replaced: see vringh_set_memory().
 *
 * Nothing in the guest's memory is trusted. Each word is read once; each access
 * asks once for a translation and uses that answer at once, so that there is
 * nothing between check and use. Every loop has a bound that the guest does not
 * set. Addresses are the guest's, 64 bits; lengths are bytes.
 *
 * A chain is out from when it is taken until it is completed or abandoned. At
 * most vrh->size chains are ever out, whatever the guest does, so that an array
 * of so many requests is enough.
 *
 * Errors are negative errno values, and vringh_error() says what was wrong:
 *
 *	-EPROTO		the available index went back, or is ahead of what is
 *			completed by more than the ring
 *	-EINVAL		a head or next out of range, a malformed descriptor or
 *			table, a wrong argument
 *	-ELOOP		a chain that comes back to itself
 *	-E2BIG		a chain longer than vringh_set_max_chain() allows, a
 *			table larger than any ring
 *	-EOVERFLOW	address and length go past 2^64
 *	-EFAULT		outside every range
 *	-EACCES		in a range that does not allow it
 *	-ENOMEM		no memory for a scatter-gather list
 *
 * None of them breaks the vringh: the next call works as ever. After -EFAULT,
 * -EACCES and -ENOMEM it is as if the call had not been made: it can be repeated
 * once what was missing is there. (Elements of the used ring may have been
 * written; the guest does not look at them before the index has moved.)
 */
#ifndef VIRTIO_VRINGH_H
#define VIRTIO_VRINGH_H

#include <errno.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "lib/barrier.h"
#include "virtio/event.h"
#include "virtio/vring.h"

#define __vringh_inline inline __attribute__((always_inline))

/* What an address is for: it decides what the range must allow. */
enum vringh_area {
	VRINGH_DESC,		/* read: the descriptor table */
	VRINGH_AVAIL,		/* read: the available ring */
	VRINGH_USED,		/* written: the used ring */
	VRINGH_TABLE,		/* read: an indirect table */
	VRINGH_READ,		/* read: a buffer */
	VRINGH_WRITE,		/* written: a buffer */
	VRINGH_AREAS
};

/* Memory of ours. */
struct vringh_span {
	void *ptr;
	uint64_t len;		/* bytes */
};

struct vringh;

struct vringh_access {
	const char *name;
	/*
	 * Where @len bytes, at least 1, at the guest's address @addr are, for
	 * the use that @area tells: 0 and the place, of which span->len, 1 to
	 * @len, are together; or -EFAULT, -EACCES. @addr + @len does not go
	 * past 2^64. Keeps nothing back for later: the next call may be
	 * answered differently.
	 */
	int (*translate)(struct vringh *vrh, enum vringh_area area,
			 uint64_t addr, uint64_t len, struct vringh_span *span);
};

/* Private to vringh and the accesses, but last_avail and last_used may be read. */
struct vringh {
	uint64_t desc, avail, used;	/* guest's addresses */
	const void *memory;		/* for the access */
	uint32_t size;			/* entries */
	uint32_t max_chain;		/* descriptors */
	uint32_t completed;		/* since the last vringh_need_notify */
	uint16_t avail_idx;		/* as last read */
	uint16_t last_avail;		/* next to take */
	uint16_t last_used;		/* next to complete */
	bool v1, indirect, event_idx;
	uint32_t hint[VRINGH_AREAS];	/* the range last used for each */
	char error[160];
};

/*
 * A scatter-gather list: the buffers of one chain of one direction, and how far
 * they have been pulled or pushed.
 */
struct vringh_piece {
	uint64_t addr;
	uint32_t len;
};

struct vringh_iov {
	struct vringh_piece *pieces;
	uint32_t max, used;	/* pieces there is room for; in the list */
	uint32_t i, done;	/* the next byte: piece, and offset in it */
	bool heap;		/* pieces are ours to free */
};

/* A completion: as vring_used_elem, in the machine's byte order. */
struct vringh_used {
	uint32_t head, len;
};

/* *head when nothing was taken. */
#define VRINGH_NO_HEAD UINT32_MAX

/*
 * Starts with a ring of @size entries, a power of two up to 32768, whose areas
 * are at these addresses (2.6: @desc aligned to 16, @avail to 2, @used to 4).
 * @features: bits VIRTIO_RING_F_INDIRECT_DESC, VIRTIO_RING_F_EVENT_IDX and
 * VIRTIO_F_VERSION_1, as negotiated. @memory is for the access. 0; -EINVAL for
 * an argument that is wrong; -EFAULT, -EACCES if a part of the ring is out of
 * reach. Indexes start at 0. The ring's memory is neither read nor written.
 */
static inline int vringh_init(const struct vringh_access *access,
			      struct vringh *vrh, uint64_t features,
			      uint32_t size, uint64_t desc, uint64_t avail,
			      uint64_t used, const void *memory);

/*
 * Takes chains of up to @n descriptors, 1 to 32768; a chain may cost so many
 * pieces of memory. 0, or -EINVAL. At first that is the ring's size, as the
 * specification has it for drivers (2.6.5.3.1). Linux's does not keep to that
 * with indirect tables: a host for such guests sets what its device offers as
 * the most segments of a request, and a few more for what goes with them.
 */
static inline int vringh_set_max_chain(struct vringh *vrh, uint32_t n);

/*
 * For a ring that has been in use before: chains are taken from @last_avail on
 * and completed from @last_used on, as vrh->last_avail and vrh->last_used were.
 * They differ by what is out. 0, or -EINVAL if that is more than the ring holds,
 * which no vringh reaches. A call that was due then is not known of; give the
 * guest one.
 */
static inline int vringh_set_base(struct vringh *vrh, uint16_t last_avail,
				  uint16_t last_used);

/*
 * From now on the access uses @memory, as in vringh_init(). So hosts that share
 * a map, each with a thread of its own, get another without a lock: make a new
 * one (vringh_map_copy(), then what is to change), and let each host's thread
 * call this between two other calls. When all have, the old map is no longer
 * looked at: it can be freed, and memory that is only in it can go.
 */
static inline void vringh_set_memory(struct vringh *vrh, const void *memory);

/* What the last error was, in words. Valid until the next error. */
static inline const char *vringh_error(const struct vringh *vrh);

/*
 * Takes the next chain (2.6.5, 2.6.6): its readable buffers become @riov, its
 * writable ones @wiov; either list may be NULL if the chain must not have such
 * buffers. Both NULL: only the head is read, no descriptor. A buffer of length 0
 * is a part of the chain as any other, but holds nothing and is not in the list.
 *
 * 1: taken. 0: there is none. Negative: what came is malformed; then *head is
 *	a head			taken all the same: give it back to the guest
 *				with vringh_complete(..., *head, 0), or
 *				vringh_abandon() it
 *	vrh->size or more	the guest named no descriptor: there is nothing
 *				to complete. vringh_abandon() it; or go on, and
 *				it stays out until vringh_init()
 *	VRINGH_NO_HEAD		nothing was taken. -EPROTO: the guest or its
 *				device has to be reset, or the next call says
 *				the same. Else it can be repeated; or, with both
 *				lists NULL, the head is taken unread and given
 *				back as above, if the available ring is in reach
 *
 * After anything but 1 the lists are empty, or those of the chain before.
 *
 * Whatever the guest wrote before it made the chain available is visible. Here
 * addresses are checked only for what they cannot be; whether they are allowed
 * turns out when they are used, in vringh_iov_pull and vringh_iov_push.
 */
static __vringh_inline int
vringh_getdesc(const struct vringh_access *access, struct vringh *vrh,
	       struct vringh_iov *riov, struct vringh_iov *wiov,
	       uint32_t *head);

/*
 * Undoes the last @n calls of vringh_getdesc that took something, none of which
 * has been completed: they will be taken again, read anew.
 */
static inline void vringh_abandon(struct vringh *vrh, uint16_t n);

/*
 * An empty list, with room for @max pieces at @pieces (both may be 0). A longer
 * chain makes the list move to the heap.
 */
static inline void vringh_iov_init(struct vringh_iov *iov,
				   struct vringh_piece *pieces, uint32_t max);

/* Back to the list's first byte. */
static inline void vringh_iov_reset(struct vringh_iov *iov);

/* How many bytes there are from here to the list's end. */
static inline uint64_t vringh_iov_left(const struct vringh_iov *iov);

/*
 * Goes on behind the next @len bytes, which are not touched: for who has moved
 * them where vringh_iov_peek() says, or needs none of them. How many that were,
 * less than @len at the list's end.
 */
static inline uint64_t vringh_iov_advance(struct vringh_iov *iov, uint64_t len);

/* Frees what vringh_getdesc took from the heap; the list is empty then. */
static inline void vringh_iov_cleanup(struct vringh_iov *iov);

/*
 * Copy up to @len bytes from the readable list to @dst, or from @src to the
 * writable one, and go on behind them. The number of bytes: less than @len at
 * the list's end, or before a byte that is out of reach, which the next call
 * tells: it gives 0, or -EFAULT or -EACCES and does not go on. A piece may lie
 * in several ranges.
 */
static __vringh_inline ssize_t
vringh_iov_pull(const struct vringh_access *access, struct vringh *vrh,
		struct vringh_iov *riov, void *dst, size_t len);
static __vringh_inline ssize_t
vringh_iov_push(const struct vringh_access *access, struct vringh *vrh,
		struct vringh_iov *wiov, const void *src, size_t len);

/*
 * The list's next bytes where they are, as many as are together in one piece
 * and one range: for who moves no bytes. @area is VRINGH_READ or VRINGH_WRITE.
 * 1; 0 at the list's end; -EFAULT, -EACCES. Does not go on; good until the map
 * changes.
 */
static __vringh_inline int
vringh_iov_peek(const struct vringh_access *access, struct vringh *vrh,
		const struct vringh_iov *iov, enum vringh_area area,
		struct vringh_span *span);

/*
 * Completes the chain @head, @len bytes of whose writable buffers were written
 * (2.6.8); heads may be completed in any order, each once. What the host did
 * before is visible to the guest once it sees the completion. 0; -EINVAL for no
 * head of this ring; -EFAULT, -EACCES for the used ring. On error nothing is
 * completed.
 */
static __vringh_inline int vringh_complete(const struct vringh_access *access,
					   struct vringh *vrh, uint32_t head,
					   uint32_t len);

/* The same for @n, at most the ring's size, which the guest sees all at once. */
static __vringh_inline int
vringh_complete_multi(const struct vringh_access *access, struct vringh *vrh,
		      const struct vringh_used *used, uint32_t n);

/*
 * After completions: does the guest want a call for those since the last time
 * that this was asked (2.6.7)? 1, 0, or -EFAULT, -EACCES. A full barrier: what
 * was completed is visible before the guest's wish is read.
 */
static __vringh_inline int
vringh_need_notify(const struct vringh_access *access, struct vringh *vrh);

/*
 * Asks the guest for a kick at the next chain (2.6.10), then looks once more.
 * 1: asked, and still nothing there, so sleeping is safe. 0: there is
 * something. Negative: -EFAULT, -EACCES. A full barrier between the two.
 */
static __vringh_inline int
vringh_notify_enable(const struct vringh_access *access, struct vringh *vrh);

/*
 * Kicks are not needed for now; one may still come. With EVENT_IDX there is
 * nothing to do. 0, -EFAULT, -EACCES. No ordering.
 */
static __vringh_inline int
vringh_notify_disable(const struct vringh_access *access, struct vringh *vrh);

/*
 * True: vringh_getdesc would find nothing. An error is not nothing. No
 * ordering.
 */
static __vringh_inline bool vringh_empty(const struct vringh_access *access,
					 struct vringh *vrh);

#include "virtio/vringh_core.h"

#endif
