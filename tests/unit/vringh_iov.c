// SPDX-License-Identifier: MIT
/*
 * vringh: what is moved between lists and our memory, and what is out of reach.
 */
#include "tests/unit/vringh_guest.h"

static void crossing_buffer(void)
{
	char text[12] = "";
	uint32_t head;

	put(0, at(SPLIT - 5), 10, NEXT, 1);
	put(1, at(SPLIT - 3), 10, WRITE, 0);
	memcpy(mem + SPLIT - 5, "0123456789", 10);
	if (translates()) {
		/* the second range is elsewhere */
		vringh_map_remove(&map, at(SPLIT), at(SPLIT));
		expect(!vringh_map_add(&map, at(SPLIT), at(SPLIT) + 63,
				       mem + DATA + 8192, VRINGH_PERM_RW),
		       "moving a range");
		memcpy(mem + DATA + 8192, "FGHIJ", 5);
	}
	offer(0);
	head = takes(1, 1);
	expect(way->pull(&riov, text, 99) == 10 &&
		       !strcmp(text,
			       translates() ? "01234FGHIJ" : "0123456789"),
	       "what it pulls is '%s'", text);
	expect(way->push(&wiov, "abcdefghij", 10) == 10 &&
		       !memcmp(mem + SPLIT - 3, "abc", 3) &&
		       !memcmp(mem + (translates() ? DATA + 8192 : SPLIT),
			       "defghij", 7),
	       "what it pushes");
	recover(head);
}

static void advancing(void)
{
	struct vringh_span span;
	char text[8] = "";
	uint32_t head;

	memcpy(mem + DATA, "abcdefghi", 9);
	put(0, at(DATA), 3, NEXT, 1);
	put(1, at(DATA + 3), 4, NEXT, 2);
	put(2, at(DATA + 7), 2, NEXT, 3);
	put(3, at(DATA + 32), 5, WRITE, 0);
	offer(0);
	head = takes(3, 1);
	expect(vringh_iov_left(&riov) == 9 && vringh_iov_left(&wiov) == 5,
	       "what is left at first");
	expect(vringh_iov_advance(&riov, 0) == 0 && vringh_iov_left(&riov) == 9,
	       "advancing by nothing");
	expect(vringh_iov_advance(&riov, 2) == 2 &&
		       way->pull(&riov, text, 2) == 2 && !strcmp(text, "cd"),
	       "from the third byte on it pulls '%s'", text);
	expect(vringh_iov_advance(&riov, 3) == 3 &&
		       vringh_iov_left(&riov) == 2 && riov.i == 2 && !riov.done,
	       "to the end of a piece");
	vringh_iov_reset(&riov);
	expect(vringh_iov_advance(&riov, 8) == 8 &&
		       way->peek(&riov, VRINGH_READ, &span) == 1 &&
		       span.len == 1 && *(char *)span.ptr == 'i',
	       "to the last byte");
	expect(vringh_iov_advance(&riov, UINT64_MAX) == 1 &&
		       !vringh_iov_left(&riov) &&
		       !vringh_iov_advance(&riov, 1) &&
		       !way->pull(&riov, text, 1),
	       "beyond the end");
	expect(way->push(&wiov, "12", 2) == 2 && vringh_iov_left(&wiov) == 3 &&
		       vringh_iov_advance(&wiov, 2) == 2 &&
		       way->push(&wiov, "5678", 4) == 1 &&
		       !memcmp(mem + DATA + 32,
			       "12\0\0"
			       "5",
			       6),
	       "writing");
	recover(head);
	/* past 32 bits */
	for (int i = 0; i < 3; i++)
		put(i, at(DATA), UINT32_MAX, i < 2 ? NEXT : 0, i + 1);
	offer(0);
	head = takes(3, 0);
	expect(vringh_iov_left(&riov) == 3ull * UINT32_MAX &&
		       vringh_iov_advance(&riov, 1ull << 33) == 1ull << 33 &&
		       vringh_iov_left(&riov) ==
			       3ull * UINT32_MAX - (1ull << 33),
	       "lists of 4 GiB");
	recover(head);
}

static void buffer_outside(void)
{
	char text[8] = "";
	uint32_t head;

	if (trusts())
		return;
	put(0, NOWHERE, 4, NEXT, 1);
	put(1, NOWHERE, 4, WRITE, 0);
	offer(0);
	head = takes(1, 1);
	expect(way->pull(&riov, text, 4) == -EFAULT, "it pulls");
	says("readable buffer: 4 bytes at 0x500000000000 are outside");
	expect(way->push(&wiov, text, 4) == -EFAULT, "it pushes");
	says("writable buffer: 4 bytes at 0x500000000000 are outside");
	recover(head);
}

static void buffer_half_outside(void)
{
	char text[16] = "";
	uint32_t head;

	if (trusts())
		return;
	put(0, at(BYTES - 6), 12, 0, 0);
	memcpy(mem + BYTES - 6, "inside", 6);
	offer(0);
	head = takes(1, 0);
	expect(way->pull(&riov, text, 6) == 6 && !strcmp(text, "inside"),
	       "what it pulls is '%s'", text);
	expect(way->pull(&riov, text, 6) == -EFAULT, "it pulls the rest");
	vringh_iov_reset(&riov);
	expect(way->pull(&riov, text, 12) == 6,
	       "it does not pull what is there");
	expect(way->pull(&riov, text, 6) == -EFAULT, "then it pulls the rest");
	recover(head);
}

/* The second piece's range is added late: nothing is moved twice, or lost. */
static void range_added_late(void)
{
	char text[9] = "";
	uint32_t head;

	if (trusts())
		return;
	vringh_map_remove(&map, at(SPLIT), at(SPLIT));
	memcpy(mem + DATA, "AAAA", 4);
	memcpy(mem + SPLIT, "BBBB", 4);
	put(0, at(DATA), 4, NEXT, 1);
	put(1, at(SPLIT), 4, NEXT, 2);
	put(2, at(DATA + 64), 4, NEXT | WRITE, 3);
	put(3, at(SPLIT + 64), 4, WRITE, 0);
	offer(0);
	head = takes(2, 2);
	expect(way->pull(&riov, text, 8) == 4 &&
		       way->pull(&riov, text + 4, 4) == -EFAULT &&
		       way->push(&wiov, "12345678", 8) == 4 &&
		       way->push(&wiov, "5678", 4) == -EFAULT,
	       "what is there is not moved, or more than it");
	range(SPLIT, HALF, VRINGH_PERM_RW);
	expect(way->pull(&riov, text + 4, 4) == 4 && !strcmp(text, "AAAABBBB"),
	       "what it pulls is '%s'", text);
	expect(way->push(&wiov, "5678", 4) == 4 &&
		       !memcmp(mem + DATA + 64, "1234", 4) &&
		       !memcmp(mem + SPLIT + 64, "5678", 4),
	       "what it pushes");
	recover(head);
}

static void buffer_no_longer_inside(void)
{
	char text[4] = "";
	uint32_t head;

	if (trusts())
		return;
	put(0, at(SPLIT), 4, NEXT, 1);
	put(1, at(SPLIT), 4, WRITE, 0);
	offer(0);
	head = takes(1, 1);
	expect(way->pull(&riov, text, 2) == 2, "it pulls none");
	expect(way->push(&wiov, text, 2) == 2, "it pushes none");
	/* the last in the map, and the last that was used */
	vringh_map_remove(&map, at(SPLIT), at(SPLIT));
	expect(way->pull(&riov, text, 2) == -EFAULT, "it pulls the rest");
	expect(way->push(&wiov, text, 2) == -EFAULT, "it pushes the rest");
	recover(head);
}

static void permissions(void)
{
	char text[4] = "";
	uint32_t head;

	if (!translates())
		return;
	vringh_map_remove(&map, at(DATA), at(BYTES - 1));
	range(DATA, 4096, VRINGH_PERM_READ);
	range(DATA + 4096, 4096, VRINGH_PERM_RW);
	range(SPLIT, HALF, VRINGH_PERM_WRITE);
	put(0, at(SPLIT), 4, NEXT, 1);
	put(1, at(DATA), 4, WRITE, 0);
	offer(0);
	head = takes(1, 1);
	expect(way->pull(&riov, text, 4) == -EACCES, "reads what it may not");
	says("readable buffer: 4 bytes");
	says("may not be read");
	expect(way->push(&wiov, "evil", 4) == -EACCES,
	       "writes what it may not");
	says("may not be written");
	expect(!mem[DATA], "it was written");
	recover(head);
	put(0, at(DATA), 4, NEXT, 1);
	put(1, at(SPLIT), 4, WRITE, 0);
	offer(0);
	head = takes(1, 1);
	expect(way->pull(&riov, text, 4) == 4 &&
		       way->push(&wiov, "good", 4) == 4,
	       "the right way round");
	recover(head);

	memset(mem + SPLIT, 0, 16);
	offer_indirect(at(SPLIT), 16, 0);
	cannot(-EACCES, "indirect table: 16 bytes");

	vringh_map_remove(&map, at(RING), at(RING));
	range(RING, TABLES - RING, VRINGH_PERM_READ);
	expect(way->complete(0, 0) == -EACCES, "it completes");
	says("used ring: 8 bytes");
}

/* Answers once, and then the range is gone. */
static uint32_t asked;
static bool vanish;

static int vanishing_translate(struct vringh *v, enum vringh_area area,
			       uint64_t addr, uint64_t len,
			       struct vringh_span *span)
{
	int err = way->access->translate(v, area, addr, len, span);

	asked++;
	if (vanish)
		vringh_map_remove(&map, addr, addr);
	return err;
}

static const struct vringh_access vanishing = {
	.name = "vanishing",
	.translate = vanishing_translate,
};

static uint32_t asked_since(void)
{
	uint32_t n = asked;

	asked = 0;
	return n;
}

static void range_vanishes(void)
{
	char text[8] = "";
	uint32_t head;
	ssize_t n;

	if (trusts() || way->getdesc != ops_getdesc)
		return;
	table = &vanishing;
	vanish = false;
	asked = 0;
	memcpy(mem + DATA, "once", 4);
	put(0, at(DATA), 4, NEXT, 1);
	put(1, at(DATA + 8), 4, WRITE, 0);
	expect(get(&head) == 0 && asked_since() == 1, "empty: asked again");
	offer(0);
	expect(get(&head) == 1 && asked_since() == 4,
	       "index, entry, two descriptors: asked again");
	vanish = true;
	n = way->pull(&riov, text, 4);
	expect(n == 4 && !strcmp(text, "once") && asked_since() == 1,
	       "the answer was right, and the access fails: %zd", n);
	vringh_iov_reset(&riov);
	expect(way->pull(&riov, text, 4) == -EFAULT, "pulls from nowhere");
	expect(way->push(&wiov, text, 4) == -EFAULT && !mem[DATA + 8],
	       "pushes to nowhere");
	vanish = false;
	table = way->access;
	range(DATA, SPLIT - DATA, VRINGH_PERM_RW);
	recover(head);

	table = &vanishing;
	vanish = false;
	asked = 0;
	expect(!way->complete(0, 0) && asked_since() == 2,
	       "a completion: asked again");
	table = way->access;
}

/* For UBSan: there is nothing behind a pointer to nothing. */
static void nothing_at_all(void)
{
	struct vringh_map none = { .n = 0 };
	struct vringh_iov empty;
	struct vringh_span span = { mem, 1 };

	vringh_iov_init(&empty, NULL, 0);
	expect(way->peek(&empty, VRINGH_READ, &span) == 0 && !span.ptr &&
		       !span.len,
	       "a look at an empty list");
	expect(!way->pull(&empty, NULL, 0) && !way->push(&empty, NULL, 0) &&
		       !way->pull(&empty, mem, 1),
	       "moving nothing");
	vringh_iov_cleanup(&empty);
	if (trusts())
		return;
	expect(vringh_init(way->access, &vrh, 0, SIZE, at(RING), at(RING) + 128,
			   at(RING) + 4096, &none) == -EFAULT,
	       "an empty map");
	vringh_map_remove(&none, 0, UINT64_MAX);
	vringh_map_free(&none);
}

static const struct test tests[] = {
	{ "a buffer in two ranges", crossing_buffer },
	{ "advancing in a list, and what is left of it", advancing },
	{ "a buffer outside the ranges", buffer_outside },
	{ "a buffer half outside the ranges", buffer_half_outside },
	{ "a buffer whose range was removed", buffer_no_longer_inside },
	{ "a buffer whose range is added late", range_added_late },
	{ "permissions used the wrong way", permissions },
	{ "a range that vanishes between check and use", range_vanishes },
	{ "an empty list and an empty map", nothing_at_all },
};

int main(void)
{
	return run_tests(tests, sizeof(tests) / sizeof(*tests));
}
