// SPDX-License-Identifier: MIT
#include <inttypes.h>
#include <stdio.h>

#include "main.h"
#include "lib/program.h"
#include "payload.h"
#include "verify.h"

/*
 * Twice the ring's size, so that a buffer that is late by a whole ring is not
 * taken for its successor in the same place. And at least two more than the
 * ring holds: while it is full, the guest stamps the next one, and the host may
 * still be looking at the last one it completed.
 */
static struct item {
	uint64_t stamp; /* written by the guest, read by the host */
	char bytes[64];
	char data;
} * pool;
static uint64_t pool_mask;

#define MAX_LEN sizeof(pool->bytes)

void verify_init(void)
{
	uint64_t items = 4;

	while (items < 2ull * config.ring_size)
		items *= 2;
	pool = alloc_pages(items * sizeof(*pool));
	pool_mask = items - 1;
}

static struct item *item(uint64_t seq)
{
	return &pool[seq & pool_mask];
}

/* 61 is prime: lengths and places in the pool do not repeat together. */
static unsigned length(uint64_t seq)
{
	unsigned len = 1 + seq % 61;

	if (config.payload)
		return config.payload;
	return !ring_info.max_len || len < ring_info.max_len ?
		       len :
		       ring_info.max_len;
}

/* Where its bytes are. */
static const void *place_of(uint64_t seq)
{
	return config.payload ? payload_place(seq) : item(seq)->bytes;
}

void *verify_give(uint64_t seq, unsigned *len, void **buf)
{
	struct item *it = item(seq);

	_Static_assert(61 <= MAX_LEN, "the longest buffer has its bytes");
	it->stamp = seq;
	*len = length(seq);
	*buf = it->bytes;
	return &it->data;
}

/* The buffer that a pointer stands for, where number @seq was expected. */
static const char *which(uint64_t seq, const void *p)
{
	static __thread char text[64];
	uint64_t size = pool_mask + 1, off = (uintptr_t)p - (uintptr_t)pool;
	uint64_t stride = sizeof(*pool), ahead;

	if (off >= size * stride && config.payload) {
		size = config.pool;
		off = (uintptr_t)p - (uintptr_t)payload.pool;
		stride = payload.stride;
	}
	if (off >= size * stride) {
		snprintf(text, sizeof(text), "%p, which is not a buffer", p);
		return text;
	}
	/* the nearest one with that place */
	ahead = (off / stride + size - seq % size) % size;
	if (ahead > (size - 1) / 2 && ahead + seq >= size)
		ahead -= size;
	snprintf(text, sizeof(text), "buffer %" PRIu64, seq + ahead);
	return text;
}

void verify_back(uint64_t seq, unsigned len, const void *buf, const void *data)
{
	struct item *it = item(seq);

	if (!ring_info.completes)
		return;
	if (data != &it->data)
		die(EXIT_FAILED,
		    "--verify: buffer %" PRIu64 ": the guest got "
		    "back %s in its place",
		    seq, which(seq, data));
	if (buf != place_of(seq))
		die(EXIT_FAILED,
		    "--verify: buffer %" PRIu64 ": it came back "
		    "to the guest as %s",
		    seq, which(seq, buf));
	if (!right_len(len, length(seq)))
		die(EXIT_FAILED,
		    "--verify: buffer %" PRIu64 ": the guest was "
		    "told that %u bytes were used, not %u",
		    seq, len, length(seq) - 1);
}

void verify_used(uint64_t seq, unsigned len, const void *buf)
{
	struct item *it = item(seq);

	if (buf != place_of(seq))
		die(EXIT_FAILED,
		    "--verify: buffer %" PRIu64 ": the host was "
		    "given %s in its place",
		    seq, which(seq, buf));
	if (ring_info.max_len && len != length(seq))
		die(EXIT_FAILED,
		    "--verify: buffer %" PRIu64 ": the host was "
		    "given %u bytes, not %u",
		    seq, len, length(seq));
	if (it->stamp != seq)
		die(EXIT_FAILED,
		    "--verify: buffer %" PRIu64 ": the host read "
		    "what the guest wrote for buffer %" PRIu64,
		    seq, it->stamp);
}

void verify_guest_done(void)
{
	unsigned len;
	void *buf;
	void *data = ring_info.completes ? get_buf(&len, &buf) : NULL;

	if (data)
		die(EXIT_FAILED,
		    "--verify: after the last buffer the guest "
		    "got back %s once more",
		    which(config.run_cycles, data));
}

void verify_host_done(void)
{
	if (!avail_empty())
		die(EXIT_FAILED, "--verify: after the last buffer the host is "
				 "offered one more");
}
