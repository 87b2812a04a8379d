// SPDX-License-Identifier: MIT
#include <inttypes.h>
#include <stdio.h>

#include "lib/program.h"
#include "lib/quota.h"
#include "main.h"
#include "payload.h"

struct payload payload;
struct payload_at payload_filled, payload_used, payload_got;

#define HALF_PAGE 2048

uint64_t payload_stride(void)
{
	return ((uint64_t)config.payload + CACHE_PAIR - 1) / CACHE_PAIR *
	       CACHE_PAIR;
}

/* Before there are threads, and with the name of what is to be changed. */
static void check_memory(void)
{
	const uint64_t left = memory_left();
	uint64_t bytes;

	if (__builtin_mul_overflow(config.pool, payload_stride(), &bytes) ||
	    bytes > left / config.queues)
		die(EXIT_FAILED,
		    "--pool: %" PRIu64 " buffers of %" PRIu64
		    " bytes are more than the memory that is free here, %.1f "
		    "GiB; give fewer, or a smaller --payload",
		    config.pool, payload_stride(), left / 1073741824.0);
}

/*
 * Who gets nothing back does not know which buffers are done with: as many as the
 * ring holds may be in it, the host may be at work on one more, and the guest fills
 * one.
 */
static void check_pool(void)
{
	const uint64_t least = ring_info.completes || !ring_info.addresses ?
				       1 :
				       config.ring_size + UINT64_C(2);

	if (!config.pool)
		config.pool = least > config.ring_size ? least :
							 config.ring_size;
	if (config.pool < least)
		die(EXIT_USAGE,
		    "--pool: %" PRIu64 " is too small: %s gives nothing back, "
		    "so with a ring of %u at least %" PRIu64
		    " buffers are in use",
		    config.pool, ring_info.name, config.ring_size, least);
}

void payload_check(void)
{
	const bool no_ring = !ring_info.addresses && !ring_info.completes;

	if (!config.payload)
		return;
	if (!ring_info.addresses && !no_ring)
		die(EXIT_CANNOT,
		    "--payload: %s carries no addresses, so the host does not "
		    "find the buffers; leave it out",
		    ring_info.name);
	if (ring_info.max_len && config.payload > ring_info.max_len)
		die(EXIT_USAGE,
		    "--payload: %u bytes are too many for %s; give at most %u",
		    config.payload, ring_info.name, ring_info.max_len);
	if (ring_info.addresses && !ring_info.completes && config.to_guest)
		die(EXIT_CANNOT,
		    "--payload-to: %s gives nothing back to the guest; leave "
		    "it out, or give host",
		    ring_info.name);
	check_pool();
	check_memory();
}

static struct payload_at at_start(char *start, uint64_t buffers)
{
	return (struct payload_at){
		.buf = start,
		.start = start,
		.end = start + buffers * payload.stride,
	};
}

void payload_init(void)
{
	const size_t bytes =
		config.payload + (PAYLOAD_OFFSETS - 1) * CACHE_LINE;
	/* half a page off: a copy at the same place in its page is slower */
	const uint64_t guests = config.pool - config.pool / 2;
	char *pattern = (char *)alloc_pages(bytes + HALF_PAGE) + HALF_PAGE;

	/* 69 a line, and so another byte in each place at each offset */
	for (size_t i = 0; i < bytes; i++)
		pattern[i] = i / CACHE_LINE * 5 + i * 41;
	payload.pattern = pattern;
	payload.stride = payload_stride();
	payload.pool = alloc_pages(config.pool * payload.stride);
	payload_filled = payload_got = payload_used =
		at_start(payload.pool, config.pool);
	if (ring_info.addresses)
		return;
	/* as much memory in all as with a ring, and no line of it shared */
	payload_filled = payload_got = at_start(payload.pool, guests);
	payload_used =
		config.pool == 1 ?
			at_start(alloc_pages(payload.stride), 1) :
			at_start(payload_filled.end, config.pool - guests);
}

void *payload_place(uint64_t seq)
{
	return payload.pool + seq % config.pool * payload.stride;
}

void payload_verify(uint64_t seq, const char *buf, bool answer)
{
	const char *source = payload_source(seq, answer);
	uint32_t i = 0;

	if (!memcmp(buf, source, config.payload))
		return;
	while (i + 1 < config.payload && buf[i] == source[i])
		i++;
	die(EXIT_FAILED,
	    "--verify: buffer %" PRIu64 ": byte %u of the %s is 0x%02x, not "
	    "0x%02x, as the %s wrote it",
	    seq, i, answer ? "answer" : "payload", (unsigned char)buf[i],
	    (unsigned char)source[i], answer ? "host" : "guest");
}
