/* SPDX-License-Identifier: MIT */
/*
 * --payload: what guest and host do with the bytes of a buffer. The guest fills
 * them before it adds the buffer, the host reads them and writes as many back
 * before it completes it, and the guest reads the answer: all of it, or one way
 * alone (--payload-to). Filling is a memcpy, reading a sum.
 *
 * Buffers are taken in turn from a pool (--pool), each on pairs of cache lines of
 * its own. Where there is no ring (noring) each side has half of the pool to itself:
 * what is left is the price of touching memory, and nothing moves between the CPUs.
 *
 * The bytes are plain memory on purpose: the ring alone orders them, and
 * ThreadSanitizer says so if it does not. With --verify they are compared with
 * what the other side must have written, which differs from buffer to buffer.
 */
#ifndef HARNESS_PAYLOAD_H
#define HARNESS_PAYLOAD_H

#include <stdint.h>
#include <string.h>

#include "harness/config.h"
#include "lib/cache_line.h"

/* Where in the pattern contents begin, in lines. */
#define PAYLOAD_OFFSETS 64

/* Not written while a run lasts, so both threads have it to hand. */
struct payload {
	char *pool;
	uint64_t stride; /* bytes from one buffer to the next */
	const char *pattern;
} __cache_aligned;
ASSERT_APART(struct payload);
extern struct payload payload;

/* A side's own: how many buffers it is done with, and where the next one is. */
struct payload_at {
	uint64_t seq;
	char *buf, *last;
	char *start, *end; /* of its pool */
} __cache_aligned;
ASSERT_APART(struct payload_at);
extern struct payload_at payload_filled, payload_used, payload_got;

/*
 * Main thread, before anything runs: sets config.pool, if it is 0. Ends the program
 * if the layout cannot do what is asked for.
 */
void payload_check(void);

/* From one buffer of the pool to the next, in bytes. */
uint64_t payload_stride(void);

/* Guest's thread, before the run; from alloc_pages(). */
void payload_init(void);

/* Where buffer number @seq is; for --verify. */
void *payload_place(uint64_t seq);

/* Ends the program unless @buf holds what was written into buffer number @seq. */
void payload_verify(uint64_t seq, const char *buf, bool answer);

/*
 * What is written into buffer number @seq. With --verify it differs from what was
 * there before, from the question to the answer, and from the neighbours'.
 */
static inline const char *payload_source(uint64_t seq, bool answer)
{
	const uint64_t nr = config.verify ?
				    seq / config.pool + seq % config.pool +
					    (answer ? PAYLOAD_OFFSETS / 2 : 0) :
				    0;

	return payload.pattern + nr % PAYLOAD_OFFSETS * CACHE_LINE;
}

/*
 * Reads @n bytes at @p. The compiler cannot tell that nobody wants the sum. In four
 * parts, of a size that each CPU with vectors has: else the sums would wait for each
 * other, or be kept in memory.
 */
static inline void payload_read(const char *p, uint32_t n)
{
	typedef uint64_t vector
		__attribute__((vector_size(16), aligned(1), may_alias));
	vector sum = { 0 }, sum1 = sum, sum2 = sum, sum3 = sum;
	uint64_t word, rest;

	for (; n >= 4 * sizeof(sum); n -= 4 * sizeof(sum)) {
		const vector *part = (const vector *)p;

		sum += part[0];
		sum1 += part[1];
		sum2 += part[2];
		sum3 += part[3];
		p += 4 * sizeof(sum);
	}
	sum += sum1 + sum2 + sum3;
	rest = sum[0] + sum[1];
	for (; n >= sizeof(word); n -= sizeof(word), p += sizeof(word)) {
		memcpy(&word, p, sizeof(word));
		rest += word;
	}
	while (n--)
		rest += (unsigned char)*p++;
	__asm__ volatile("" : : "r"(rest));
}

/* The side at @at goes on to its next buffer; this one is returned. */
static inline char *payload_next(struct payload_at *at)
{
	at->seq++;
	at->last = at->buf;
	at->buf += payload.stride;
	if (at->buf == at->end)
		at->buf = at->start;
	return at->last;
}

/*
 * Guest: makes buffer number @seq, to be added. If the ring was full it is asked for
 * again, but filled already.
 */
static inline void payload_give(uint64_t seq, unsigned *len, void **buf)
{
	if (payload_filled.seq == seq) {
		char *to = payload_next(&payload_filled);

		if (config.to_host)
			memcpy(to, payload_source(seq, false), config.payload);
	}
	*len = config.payload;
	*buf = payload_filled.last;
}

/* Host: works on the buffer @buf; NULL: the ring does not say where it is. */
static inline void payload_host(char *buf)
{
	const uint64_t seq = payload_used.seq;
	char *const next = payload_next(&payload_used);

	if (!buf)
		buf = next;
	if (config.to_host) {
		if (config.verify)
			payload_verify(seq, buf, false);
		else
			payload_read(buf, config.payload);
	}
	if (config.to_guest)
		memcpy(buf, payload_source(seq, true), config.payload);
}

/* Guest: the next buffer is back, with its answer; NULL as above. */
static inline void payload_back(const char *buf)
{
	const uint64_t seq = payload_got.seq;
	const char *const next = payload_next(&payload_got);

	if (!config.to_guest)
		return;
	if (!buf)
		buf = next;
	if (config.verify)
		payload_verify(seq, buf, true);
	else
		payload_read(buf, config.payload);
}

#endif
