/* SPDX-License-Identifier: MIT */
/*
 * vringh: the host's side of a split virtqueue (virtio 1.1, section 2.6), with
 * one set of calls for every kind of memory that the ring may lie in.
 *
 * What differs is the access: a constant table of small functions that
 * translate a guest's address into one of ours. vringh_user, vringh_kern and
 * vringh_iotlb are in access_*.h. The calls take it as their first argument:
 *
 *	vringh_getdesc(&vringh_user, &vrh, ...)	the compiler knows it: all is
 *						inlined, nothing is called
 *						through a pointer
 *	vringh_getdesc(access, &vrh, ...)	a pointer read from memory: the
 *						same code, one copy for all
 *
 * All calls for one vringh come from one thread, the host's, with the access
 * that vringh_init() was given. The map behind vringh_user and vringh_iotlb
 * changes only between calls, in the same thread. A map that several vringhs
 * share never changes; it is replaced: see vringh_set_memory().
 *
 * Nothing in the guest's memory is trusted. Each word is read once; each
 * address is translated once and the result used at once, so that nothing can
 * happen between check and use. No loop is bounded by the guest. Addresses are
 * the guest's, 64 bits; lengths are bytes.
 *
 * A chain is outstanding from when it is taken until it is completed or
 * abandoned. At most vrh->size chains are outstanding at any time, whatever the
 * guest does: an array of that many requests is large enough.
 *
 * Errors are negative errno values, and vringh_error() puts them into words:
 *
 *	-EPROTO		the available index went back, or is ahead of what has
 *			been completed by more than the ring holds
 *	-EINVAL		head or next out of range, a malformed descriptor or
 *			table, a wrong argument
 *	-ELOOP		a chain that returns to itself
 *	-E2BIG		a chain longer than vringh_set_max_chain() allows, a
 *			table larger than any ring
 *	-EOVERFLOW	address and length go past 2^64
 *	-EFAULT		outside every range
 *	-EACCES		in a range that does not permit it
 *	-ENOMEM		no memory for a scatter-gather list
 *
 *	vringh_getdesc				all of these
 *	vringh_init, vringh_complete,
 *	vringh_complete_multi			-EINVAL, -EFAULT, -EACCES
 *	vringh_set_max_chain, vringh_set_base	-EINVAL
 *	vringh_iov_pull, vringh_iov_push,
 *	vringh_iov_peek, vringh_need_notify,
 *	vringh_notify_enable,
 *	vringh_notify_disable			-EFAULT, -EACCES
 *
 * The others cannot fail. An error never breaks the vringh: the next call works
 * as ever. After -EFAULT, -EACCES and -ENOMEM it is as if the call had not been
 * made: repeat it once what was missing is there. (Elements of the used ring
 * may have been written; the guest does not look at them before the index
 * moves.)
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

/* What an address is for, which decides what its range must permit. */
enum vringh_area {
	VRINGH_DESC,  /* read: the descriptor table */
	VRINGH_AVAIL, /* read: the available ring */
	VRINGH_USED,  /* written: the used ring */
	VRINGH_TABLE, /* read: an indirect table */
	VRINGH_READ,  /* read: a buffer */
	VRINGH_WRITE, /* written: a buffer */
	VRINGH_AREAS
};

/* Memory of ours. */
struct vringh_span {
	void *ptr;
	uint64_t len; /* bytes */
};

struct vringh;

struct vringh_access {
	const char *name;
	/*
	 * Finds the @len bytes, 1 or more, at the guest's address @addr for the
	 * use @area; @addr + @len does not go past 2^64. 0, and in *span those
	 * of them that are contiguous from @addr on, 1 to @len bytes; or
	 * -EFAULT, -EACCES. The result is not kept: the next call may answer
	 * differently.
	 */
	int (*translate)(struct vringh *vrh, enum vringh_area area,
			 uint64_t addr, uint64_t len, struct vringh_span *span);
};

/* Private to vringh and the accesses; last_avail and last_used may be read. */
struct vringh {
	uint64_t desc, avail, used; /* guest's addresses */
	const void *memory;	    /* for the access */
	uint32_t size;		    /* entries */
	uint32_t max_chain;	    /* descriptors */
	uint32_t completed;	    /* since the last vringh_need_notify */
	uint16_t avail_idx;	    /* as last accepted */
	uint16_t last_avail;	    /* next to take */
	uint16_t last_used;	    /* next to complete */
	bool v1, indirect, event_idx;
	uint32_t hint[VRINGH_AREAS]; /* the range that each used last */
	char error[160];
};

/*
 * A scatter-gather list: the buffers of one chain in one direction, and how far
 * they have been pulled or pushed.
 */
struct vringh_piece {
	uint64_t addr;
	uint32_t len;
};

struct vringh_iov {
	struct vringh_piece *pieces;
	uint32_t max, used; /* pieces: room for, and in the list */
	uint32_t i, done;   /* the next byte: piece, and offset in it */
	bool heap;	    /* pieces are ours to free */
};

/* A completion: vring_used_elem in the machine's byte order. */
struct vringh_used {
	uint32_t head, len;
};

/* In *head: nothing was taken. */
#define VRINGH_NO_HEAD UINT32_MAX

/*
 * Starts on a ring of @size entries, a power of two up to 32768, whose areas
 * are at these addresses (2.6: @desc aligned to 16, @avail to 2, @used to 4).
 * @features: the bits VIRTIO_RING_F_INDIRECT_DESC, VIRTIO_RING_F_EVENT_IDX and
 * VIRTIO_F_VERSION_1, as negotiated. @memory is for the access. 0; -EINVAL for
 * a wrong argument; -EFAULT, -EACCES if part of the ring is out of reach.
 * Indexes start at 0. The ring's memory is neither read nor written.
 */
static inline int vringh_init(const struct vringh_access *access,
			      struct vringh *vrh, uint64_t features,
			      uint32_t size, uint64_t desc, uint64_t avail,
			      uint64_t used, const void *memory);

/*
 * Accepts chains of up to @n descriptors, 1 to 32768; a chain may cost that
 * many pieces of memory. 0, or -EINVAL. The default is the ring's size, which
 * is the limit for drivers in the specification (2.6.5.3.1). Linux's driver
 * exceeds it with indirect tables: a host for such guests sets the largest
 * number of segments per request that its device offers, plus a few for the
 * headers.
 */
static inline int vringh_set_max_chain(struct vringh *vrh, uint32_t n);

/*
 * For a ring that has been in use before: takes chains from @last_avail on and
 * completes from @last_used on, which are vrh->last_avail and vrh->last_used of
 * then. They differ by the number of outstanding chains. 0, or -EINVAL if that
 * is more than the ring holds, which no vringh reaches. Whether a call was
 * still due is not known: give the guest one.
 */
static inline int vringh_set_base(struct vringh *vrh, uint16_t last_avail,
				  uint16_t last_used);

/*
 * From now on the access uses @memory, as in vringh_init(). This is how hosts
 * that share a map, each in its own thread, change to another without a lock:
 * make a new one (vringh_map_copy(), then the changes), and let each host's
 * thread call this between two other calls. When all have, nobody looks at the
 * old map any more: free it, and whatever memory only it had.
 */
static inline void vringh_set_memory(struct vringh *vrh, const void *memory);

/* The last error in words. Valid until the next error. */
static inline const char *vringh_error(const struct vringh *vrh);

/*
 * Takes the next chain (2.6.5, 2.6.6): its readable buffers become @riov, its
 * writable ones @wiov; a list may be NULL if the chain must not have such
 * buffers. If both are NULL, only the head is read, and no descriptor. A buffer
 * of length 0 is part of the chain like any other, but is not put in the list.
 *
 * 1: taken. 0: there is none. Negative: malformed or out of reach. *head tells
 * how it stands then:
 *
 *	a head			it was taken all the same: give it back with
 *				vringh_complete(..., *head, 0), or
 *				vringh_abandon() it
 *	vrh->size or more	the guest named no descriptor, so there is
 *				nothing to complete: vringh_abandon() it, or go
 *				on, and it stays outstanding until vringh_init()
 *	VRINGH_NO_HEAD		nothing was taken. After -EPROTO the guest or
 *				its device has to be reset. After another error
 *				the call can be repeated; or call with both
 *				lists NULL to take the head alone and give it
 *				back as above, if the available ring is in reach
 *
 * Unless it returns 1, the lists are empty or still those of the chain before.
 *
 * Whatever the guest wrote before it made the chain available is visible. Only
 * impossible addresses are refused here; whether an address is permitted turns
 * out in vringh_iov_pull and vringh_iov_push.
 */
static __vringh_inline int vringh_getdesc(const struct vringh_access *access,
					  struct vringh *vrh,
					  struct vringh_iov *riov,
					  struct vringh_iov *wiov,
					  uint32_t *head);

/*
 * Undoes the last @n calls of vringh_getdesc that took something; none of it
 * may have been completed. The chains will be taken again, and read afresh.
 */
static inline void vringh_abandon(struct vringh *vrh, uint16_t n);

/*
 * An empty list with room for @max pieces at @pieces (both may be 0). A longer
 * chain moves the list to the heap.
 */
static inline void vringh_iov_init(struct vringh_iov *iov,
				   struct vringh_piece *pieces, uint32_t max);

/* Back to the list's first byte. */
static inline void vringh_iov_reset(struct vringh_iov *iov);

/* How many bytes there are from here to the list's end. */
static inline uint64_t vringh_iov_left(const struct vringh_iov *iov);

/*
 * Skips the next @len bytes without touching them: for callers that moved them
 * where vringh_iov_peek() said, or need none of them. Returns how many it
 * skipped, which is less than @len at the list's end.
 */
static inline uint64_t vringh_iov_advance(struct vringh_iov *iov, uint64_t len);

/* Frees what vringh_getdesc took from the heap, and empties the list. */
static inline void vringh_iov_cleanup(struct vringh_iov *iov);

/*
 * Copy up to @len bytes from the readable list to @dst, or from @src to the
 * writable list, and advance past them. The number of bytes: less than @len at
 * the list's end, or before a byte that is out of reach. In that case the next
 * call returns -EFAULT or -EACCES and does not advance; at the list's end it
 * returns 0. A piece may span several ranges.
 */
static __vringh_inline ssize_t
vringh_iov_pull(const struct vringh_access *access, struct vringh *vrh,
		struct vringh_iov *riov, void *dst, size_t len);
static __vringh_inline ssize_t
vringh_iov_push(const struct vringh_access *access, struct vringh *vrh,
		struct vringh_iov *wiov, const void *src, size_t len);

/*
 * Where the list's next bytes are, as many as are contiguous within one piece
 * and one range: for callers that copy nothing. @area is VRINGH_READ or
 * VRINGH_WRITE. 1; 0 at the list's end; -EFAULT, -EACCES. Does not advance; the
 * span is valid until the map changes.
 */
static __vringh_inline int vringh_iov_peek(const struct vringh_access *access,
					   struct vringh *vrh,
					   const struct vringh_iov *iov,
					   enum vringh_area area,
					   struct vringh_span *span);

/*
 * Completes the chain @head, of whose writable buffers @len bytes were written
 * (2.6.8). Heads may be completed in any order, each once. What the host did
 * before is visible to the guest once it sees the completion. 0; -EINVAL for a
 * head out of range; -EFAULT, -EACCES for the used ring. On error nothing is
 * completed.
 */
static __vringh_inline int vringh_complete(const struct vringh_access *access,
					   struct vringh *vrh, uint32_t head,
					   uint32_t len);

/* Completes @n chains, up to the ring's size; the guest sees all at once. */
static __vringh_inline int
vringh_complete_multi(const struct vringh_access *access, struct vringh *vrh,
		      const struct vringh_used *used, uint32_t n);

/*
 * Does the guest want a call for what has been completed since this was last
 * asked (2.6.7)? 1, 0, or -EFAULT, -EACCES. A full barrier: completions are
 * visible before the guest's request is read.
 */
static __vringh_inline int
vringh_need_notify(const struct vringh_access *access, struct vringh *vrh);

/*
 * Asks the guest for a kick at the next chain (2.6.10), then looks again. 1:
 * asked, and still nothing there, so it is safe to sleep. 0: there is
 * something. -EFAULT, -EACCES. A full barrier between the two.
 */
static __vringh_inline int
vringh_notify_enable(const struct vringh_access *access, struct vringh *vrh);

/*
 * No kicks are needed for now; one may still come. With EVENT_IDX this does
 * nothing. 0, -EFAULT, -EACCES. No ordering.
 */
static __vringh_inline int
vringh_notify_disable(const struct vringh_access *access, struct vringh *vrh);

/* True: vringh_getdesc would return 0. False on an error. No ordering. */
static __vringh_inline bool vringh_empty(const struct vringh_access *access,
					 struct vringh *vrh);

#include "virtio/vringh_core.h"

#endif
