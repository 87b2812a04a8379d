/* SPDX-License-Identifier: MIT */
/*
 * What vringh.h and vringh_packed.h share: the access to a guest's memory, and the
 * lists of a chain's buffers. vringh.h says what holds for all calls.
 */
#ifndef VIRTIO_VRINGH_BASE_H
#define VIRTIO_VRINGH_BASE_H

#include <errno.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "lib/barrier.h"
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

#include "virtio/vringh_base_core.h"

#endif
