/* SPDX-License-Identifier: MIT */
/*
 * --verify: every buffer is one of a pool, in turn, with a length and a stamp
 * that tell which. Both sides know which comes next, so that what is lost,
 * repeated, out of order or altered shows at once.
 *
 * The stamps are plain memory on purpose: the ring alone orders them, and
 * ThreadSanitizer says when it does not.
 */
#ifndef HARNESS_VERIFY_H
#define HARNESS_VERIFY_H

#include <stdint.h>

/* Guest's thread, before the run; from alloc_pages(). */
void verify_init(void);

/* Guest: what to add as buffer number @seq. Returns data. */
void *verify_give(uint64_t seq, unsigned *len, void **buf);

/* Guest: what came back as number @seq. */
void verify_back(uint64_t seq, unsigned len, const void *buf, const void *data);

/* Host: what use_buf gave as number @seq. */
void verify_used(uint64_t seq, unsigned len, const void *buf);

/* Both, after the last buffer: the ring has no more. */
void verify_guest_done(void);
void verify_host_done(void);

#endif
