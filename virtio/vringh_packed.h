/* SPDX-License-Identifier: MIT */
/*
 * The host's side of a packed virtqueue (virtio 1.2, section 2.8), of a guest that is
 * not trusted: what vringh.h is for the split one, with the same accesses, lists,
 * errors and rules. What differs:
 *
 * A chain stands in the ring itself, and is completed there. So what is taken is a
 * struct vringh_chain: the buffer's id, and how many descriptors of the ring it
 * takes up. The area of the descriptors has to permit both reading (VRINGH_DESC) and
 * writing (VRINGH_USED).
 *
 * A chain's descriptors are next to each other, so it cannot return to itself; but a
 * guest can write one that is longer than the ring, or runs into what is not
 * available. In an indirect table all flags but WRITE are ignored, and the chain is
 * the whole table (2.8.7).
 *
 *	-EPROTO		a chain without an end in what is available: the guest
 *			or its device has to be reset
 */
#ifndef VIRTIO_VRINGH_PACKED_H
#define VIRTIO_VRINGH_PACKED_H

#include "virtio/packed.h"
#include "virtio/vringh_base.h"

/* Private; @vrh is for vringh_error(), vringh_iov_pull() and their like. */
struct vringh_packed {
	struct vringh vrh;	   /* avail: the driver's event; used: ours */
	struct packed_place avail; /* next to take */
	struct packed_place used;  /* next to complete */
	uint32_t outstanding;	   /* descriptors taken, and not completed */
};

struct vringh_chain {
	uint16_t id;
	uint16_t n; /* descriptors of the ring; 0: nothing was taken */
};

/*
 * Starts on a ring of @size entries, 1 to 32768, at these addresses (2.8.10.1: @desc
 * aligned to 16, @driver and @device to 4). Else as vringh_init(); VERSION_1 is
 * implied.
 */
static inline int vringh_packed_init(const struct vringh_access *access,
				     struct vringh_packed *p, uint64_t features,
				     uint32_t size, uint64_t desc,
				     uint64_t driver, uint64_t device,
				     const void *memory);

/*
 * Takes the next chain, as vringh_getdesc() does: 1, 0, or negative. After an error
 * chain->n says how it stands: not 0, it was taken, to be given back with
 * vringh_packed_complete(..., chain, 0), or abandoned; 0, nothing was taken.
 * -EINVAL for an id that is not below the ring's size, which is given back as it is.
 */
static __vringh_inline int
vringh_packed_getdesc(const struct vringh_access *access,
		      struct vringh_packed *p, struct vringh_iov *riov,
		      struct vringh_iov *wiov, struct vringh_chain *chain);

/* Undoes the last call that took something, which was @chain. */
static inline void vringh_packed_abandon(struct vringh_packed *p,
					 const struct vringh_chain *chain);

/*
 * Completes a chain that was taken, of whose writable buffers @len bytes were
 * written; in any order, each once. 0; -EINVAL for one that cannot be; -EFAULT,
 * -EACCES, and then nothing is completed.
 */
static __vringh_inline int
vringh_packed_complete(const struct vringh_access *access,
		       struct vringh_packed *p,
		       const struct vringh_chain *chain, uint32_t len);

/*
 * With VIRTIO_F_IN_ORDER (2.8.8): completes the @n oldest chains that are
 * outstanding, @chains in the order they were taken in, by one used descriptor. @len
 * is for the last one; the others count as used whole.
 */
static __vringh_inline int vringh_packed_complete_in_order(
	const struct vringh_access *access, struct vringh_packed *p,
	const struct vringh_chain *chains, uint32_t n, uint32_t len);

/* As vringh_need_notify(), vringh_notify_enable(), _disable() and vringh_empty(). */
static __vringh_inline int
vringh_packed_need_notify(const struct vringh_access *access,
			  struct vringh_packed *p);
static __vringh_inline int
vringh_packed_notify_enable(const struct vringh_access *access,
			    struct vringh_packed *p);
static __vringh_inline int
vringh_packed_notify_disable(const struct vringh_access *access,
			     struct vringh_packed *p);
static __vringh_inline bool
vringh_packed_empty(const struct vringh_access *access,
		    struct vringh_packed *p);

#include "virtio/vringh_packed_core.h"

#endif
