/* SPDX-License-Identifier: MIT */
/*
 * --verify: buffers are taken from a pool in turn, each with a length and a
 * stamp that identify it. Both sides know which one comes next, so that one
 * that is lost, repeated, out of order or altered shows at once.
 *
 * The stamps are plain memory on purpose: the ring alone orders them, and
 * ThreadSanitizer says so if it does not.
 */
#ifndef HARNESS_VERIFY_H
#define HARNESS_VERIFY_H

#include <stdint.h>

/* Guest's thread, before the run; from alloc_pages(). */
void verify_init(void);

/* Guest: makes buffer number @seq, to be added. Returns its data. */
void *verify_give(uint64_t seq, unsigned *len, void **buf);

/* Guest: checks what came back as number @seq. */
void verify_back(uint64_t seq, unsigned len, const void *buf, const void *data);

/* Host: checks what use_buf gave as number @seq. */
void verify_used(uint64_t seq, unsigned len, const void *buf);

/* After the last buffer: checks that the ring has no more. */
void verify_guest_done(void);
void verify_host_done(void);

#endif
