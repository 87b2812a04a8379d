/* SPDX-License-Identifier: MIT */
/*
 * For packed_bytes*.c: a packed layout by itself, and the bytes that it leaves in
 * memory, after the layout has been included.
 */
#ifndef TESTS_PACKED_BYTES_H
#define TESTS_PACKED_BYTES_H

#include <string.h>

#include "tests/check.h"

struct config config = { .exit = true, .poll_first = true, .batch = 1 };
static unsigned kicks, calls;

void kick(void)
{
	kicks++;
}

void call(void)
{
	calls++;
}

void host_works(void *buf)
{
	check(false, "nobody asked the host to work on %p", buf);
}

/* Are these the bytes, two digits each, with blanks as one likes? */
static bool bytes(const char *what, const void *at, const char *wanted)
{
	const unsigned char *byte = at;
	char got[512] = "";
	bool same = true;

	for (const char *c = wanted; *c; c++) {
		static const char digits[] = "0123456789abcdef";

		if (*c == ' ')
			continue;
		sprintf(got + strlen(got), "%02x ", *byte);
		same &= c[0] == digits[*byte >> 4] &&
			c[1] == digits[*byte & 15];
		byte++;
		c++;
	}
	check(same, "%s:\n%s, not\n%s", what, got, wanted);
	return same;
}

static void *address(uint32_t number)
{
	return (void *)(uintptr_t)(0x01020300 + number);
}

static void add(uint32_t number, unsigned len)
{
	check(!add_inbuf(len, address(number), address(number + 100)),
	      "buffer %u is not taken", number);
}

static void use(uint32_t number)
{
	unsigned len;
	void *buf = NULL;

	check(use_buf(&len, &buf) && buf == address(number),
	      "the host is not given buffer %u", number);
}

static void get(uint32_t number, unsigned wanted)
{
	unsigned len;
	void *buf, *data = get_buf(&len, &buf);

	check(data == address(number + 100) && buf == address(number) &&
		      len == wanted,
	      "buffer %u does not come back with %u used", number, wanted);
}

static void fresh(uint32_t size)
{
	free_all();
	config.ring_size = size;
	alloc_ring();
	kicks = calls = 0;
}

/* 2^17 buffers, some in flight at a time: each descriptor as its lap has it. */
static void laps(uint32_t size)
{
	const uint32_t in_flight = size < 7 ? size : 7;
	unsigned len;
	void *p;

	fresh(size);
	for (uint32_t n = 0; n < 1 << 17; n++) {
		const bool wrap = !(n / size % 2);
		const struct packed_desc *desc = &ring.desc[n % size];
		const uint16_t turn = packed16(desc->head.flags) & PACKED_TURN;

		/* as it was left a lap ago */
		check(turn == (n >= size && !wrap ? PACKED_TURN : 0) ||
			      !ring_info.completes || ring_info.whole,
		      "size %u, buffer %u: flags %x before", size, n, turn);
		add(n % 1000, 8);
		check((packed16(desc->head.flags) & PACKED_TURN) ==
			      (wrap ? PACKED_DESC_F_AVAIL : PACKED_DESC_F_USED),
		      "size %u, buffer %u: flags %x", size, n,
		      packed16(desc->head.flags));
		if (n + 1 < in_flight)
			continue;
		p = NULL;
		check(use_buf(&len, &p) && len == 8, "not used");
		avail_empty(); /* what is held back is completed */
		check(get_buf(&len, &p), "not back");
	}
}

static void all_laps(void)
{
	static const uint32_t sizes[] = {
		1, 2, 3, 5, 100, 255, 256, 257, 32768
	};

	for (unsigned i = 0; i < sizeof(sizes) / sizeof(*sizes); i++)
		laps(sizes[i]);
	report("packed: 2^17 buffers, sizes 1, 2, 3, 5, 100, 255, 256, 257, 32768");
}

#endif
