/* SPDX-License-Identifier: MIT */
/* What is transferred: which pieces, of which bytes, where in memory. */
#ifndef VRINGH_TEST_TRANSFER_H
#define VRINGH_TEST_TRANSFER_H

#include <stddef.h>
#include <stdint.h>

#include "lib/barrier.h"
#include "options.h"
#include "virtio/vring.h"

enum { PIECES = 4, PIECE_ROOM = 32, SLOT = PIECES * PIECE_ROOM };

/* The memory that guest and host share, and its parts as offsets. */
struct shared {
	uint64_t guest_base; /* where the guest has it */
	uint64_t elapsed_ns;
	struct told {
		uint64_t sent, woken;
	} __cache_aligned guest, host;
} __cache_aligned;

static inline size_t ring_at(void)
{
	return 4096;
}

static inline size_t tables_at(void)
{
	return ring_at() + ((vring_bytes(options.ring_size) + 4095) & -4096ul);
}

static inline size_t data_at(void)
{
	return tables_at() +
	       options.ring_size * PIECES * sizeof(struct vring_desc);
}

static inline size_t shared_bytes(void)
{
	return (data_at() + options.ring_size * SLOT + 4095) & -4096ul;
}

/* Number @seq: so many pieces, of them so many for the host to read. */
static inline uint32_t nr_pieces(uint64_t seq)
{
	return 1 + seq % PIECES;
}

static inline uint32_t nr_out(uint64_t seq)
{
	uint32_t n = nr_pieces(seq), turn = seq / PIECES;

	return n == 1 ? turn % 2 : 1 + turn % (n - 1);
}

static inline uint32_t piece_len(uint64_t seq, uint32_t i)
{
	return 1 + (seq * 7 + i * 5) % (PIECE_ROOM - 8);
}

static inline uint32_t len_of(uint64_t seq, uint32_t from, uint32_t to)
{
	uint32_t len = 0;

	for (; from < to; from++)
		len += piece_len(seq, from);
	return len;
}

/* The bytes that a side writes: a stretch of this, which differs by number. */
extern unsigned char pattern[256 + SLOT];
void make_pattern(void);

static inline const unsigned char *out_bytes(uint64_t seq)
{
	return pattern + (unsigned char)(seq * 31 + (seq >> 8) * 7);
}

static inline const unsigned char *in_bytes(uint64_t seq)
{
	return pattern + (unsigned char)(seq * 17 + (seq >> 8) * 5 + 101);
}

#endif
