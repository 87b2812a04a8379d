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

#include "virtio/event.h"
#include "virtio/vringh_base.h"

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
 * For a ring that has been in use before: takes chains from @last_avail on and
 * completes from @last_used on, which are vrh->last_avail and vrh->last_used of
 * then. They differ by the number of outstanding chains. 0, or -EINVAL if that
 * is more than the ring holds, which no vringh reaches. Whether a call was
 * still due is not known: give the guest one.
 */
static inline int vringh_set_base(struct vringh *vrh, uint16_t last_avail,
				  uint16_t last_used);

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
