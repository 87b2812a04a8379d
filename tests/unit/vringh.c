// SPDX-License-Identifier: MIT
/*
 * vringh against guests that are right, wrong and hostile: each behaviour with
 * every access, inlined and through a table, and after each fault the next good
 * chain, once with the bad one completed with length 0, once abandoned.
 *
 * The guest's memory lies between pages that nobody may touch.
 */
#define _GNU_SOURCE
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

static int blocks;		/* that a map has from the heap */

static void *counted_realloc(void *old, size_t bytes)
{
	void *p = realloc(old, bytes);

	blocks += p && !old;
	return p;
}

static void counted_free(void *p)
{
	blocks -= !!p;
	free(p);
}

#define malloc(bytes) counted_realloc(NULL, bytes)
#define realloc	      counted_realloc
#define free	      counted_free
#include "virtio/map.h"
#undef malloc
#undef realloc
#undef free

static uint32_t searches;	/* of a map, for a range not known before */
#define vringh_map_find(map, addr, below)                                      \
	(searches++, vringh_map_find(map, addr, below))

#include "virtio/access_iotlb.h"
#include "virtio/access_kern.h"
#include "virtio/access_user.h"
#include "virtio/driver.h"
#include "tests/check.h"

/* ---- The six ways to call it ---- */

struct way {
	const char *name;
	const struct vringh_access *access;
	int (*getdesc)(struct vringh_iov *r, struct vringh_iov *w, uint32_t *h);
	ssize_t (*pull)(struct vringh_iov *r, void *dst, size_t len);
	ssize_t (*push)(struct vringh_iov *w, const void *src, size_t len);
	int (*peek)(const struct vringh_iov *iov, enum vringh_area area,
		    struct vringh_span *span);
	int (*complete)(uint32_t head, uint32_t len);
	int (*complete_multi)(const struct vringh_used *used, uint32_t n);
	int (*need_notify)(void);
	int (*notify_enable)(void);
	int (*notify_disable)(void);
};

static struct vringh vrh;
static const struct vringh_access *table;

#define WAY(id, a)                                                             \
	static int id##_getdesc(struct vringh_iov *r, struct vringh_iov *w,    \
				uint32_t *h)                                   \
	{                                                                      \
		return vringh_getdesc(a, &vrh, r, w, h);                       \
	}                                                                      \
	static ssize_t id##_pull(struct vringh_iov *r, void *dst, size_t len)  \
	{                                                                      \
		return vringh_iov_pull(a, &vrh, r, dst, len);                  \
	}                                                                      \
	static ssize_t id##_push(struct vringh_iov *w, const void *src,        \
				 size_t len)                                   \
	{                                                                      \
		return vringh_iov_push(a, &vrh, w, src, len);                  \
	}                                                                      \
	static int id##_peek(const struct vringh_iov *iov,                     \
			     enum vringh_area area, struct vringh_span *span)  \
	{                                                                      \
		return vringh_iov_peek(a, &vrh, iov, area, span);              \
	}                                                                      \
	static int id##_complete(uint32_t head, uint32_t len)                  \
	{                                                                      \
		return vringh_complete(a, &vrh, head, len);                    \
	}                                                                      \
	static int id##_complete_multi(const struct vringh_used *used,         \
				       uint32_t n)                             \
	{                                                                      \
		return vringh_complete_multi(a, &vrh, used, n);                \
	}                                                                      \
	static int id##_need_notify(void)                                      \
	{                                                                      \
		return vringh_need_notify(a, &vrh);                            \
	}                                                                      \
	static int id##_notify_enable(void)                                    \
	{                                                                      \
		return vringh_notify_enable(a, &vrh);                          \
	}                                                                      \
	static int id##_notify_disable(void)                                   \
	{                                                                      \
		return vringh_notify_disable(a, &vrh);                         \
	}
#define CALLS(id)                                                              \
	id##_getdesc, id##_pull, id##_push, id##_peek, id##_complete,          \
		id##_complete_multi, id##_need_notify, id##_notify_enable,     \
		id##_notify_disable

WAY(user, &vringh_user)
WAY(kern, &vringh_kern)
WAY(iotlb, &vringh_iotlb)
WAY(ops, READ_ONCE(table))

static const struct way ways[] = {
	{ "user", &vringh_user, CALLS(user) },
	{ "kern", &vringh_kern, CALLS(kern) },
	{ "iotlb", &vringh_iotlb, CALLS(iotlb) },
	{ "user, by table", &vringh_user, CALLS(ops) },
	{ "kern, by table", &vringh_kern, CALLS(ops) },
	{ "iotlb, by table", &vringh_iotlb, CALLS(ops) },
};

/* ---- The guest's memory ---- */

enum {
	SIZE = 8,
	RING = 0,		/* offsets in memory */
	TABLES = 16384,
	DATA = 32768,
	SPLIT = 49152,		/* two ranges meet here */
	HALF = 16384,		/* bytes from there on */
	BYTES = SPLIT + HALF,
};

#define FEATURES (1ull << VIRTIO_RING_F_INDIRECT_DESC |                        \
		  1ull << VIRTIO_RING_F_EVENT_IDX)
#define NOWHERE 0x500000000000ull	/* no range has it */

static const struct way *way;
static char *mem;
static uint64_t bias;			/* to the guest's addresses */
static struct vringh_map map;
static struct vring ring;
static struct vringh_iov riov, wiov;
static struct vringh_piece rpieces[2], wpieces[2];
static uint16_t avail;			/* the guest's index */
static bool by_abandon;

static bool trusts(void)
{
	return way->access == &vringh_kern;
}

static bool translates(void)
{
	return way->access == &vringh_iotlb;
}

#define expect(good, fmt, ...)                                                 \
	check(good, "%s, %s: " fmt "; last error: %s", way->name,              \
	      by_abandon ? "abandoned" : "completed", ##__VA_ARGS__, vrh.error)

/* The guest's address of what is at @offset. */
static uint64_t at(uint32_t offset)
{
	return (uintptr_t)mem + offset + bias;
}

static void range(uint32_t from, uint32_t bytes, uint32_t perm)
{
	expect(!vringh_map_add(&map, at(from), at(from) + bytes - 1,
			       mem + from, perm), "no range for %u", from);
}

static void fresh_with(uint64_t features, uint16_t base)
{
	table = way->access;
	bias = trusts() ? 0 : 0x100000000000 - (uintptr_t)mem;
	memset(mem, 0, BYTES);
	vringh_map_free(&map);
	range(RING, TABLES - RING, VRINGH_PERM_RW);
	range(TABLES, DATA - TABLES, VRINGH_PERM_RW);
	range(DATA, SPLIT - DATA, VRINGH_PERM_RW);
	range(SPLIT, HALF, VRINGH_PERM_RW);
	vring_init(&ring, SIZE, mem + RING);
	expect(!vringh_init(way->access, &vrh, features, SIZE, at(RING),
			    at((char *)ring.avail - mem),
			    at((char *)ring.used - mem), &map),
	       "vringh_init");
	expect(!vringh_set_base(&vrh, base, base), "vringh_set_base");
	avail = base;
	ring.avail->idx = base;
	ring.used->idx = base;
	vringh_iov_cleanup(&riov);
	vringh_iov_cleanup(&wiov);
	vringh_iov_init(&riov, rpieces, 2);
	vringh_iov_init(&wiov, wpieces, 2);
}

static void fresh(void)
{
	fresh_with(FEATURES, 0);
}

static void desc(struct vring_desc *d, uint64_t addr, uint32_t len,
		 uint16_t flags, uint16_t next)
{
	*d = (struct vring_desc){ addr, len, flags, next };
}

static void put(uint16_t i, uint64_t addr, uint32_t len, uint16_t flags,
		uint16_t next)
{
	desc(&ring.desc[i], addr, len, flags, next);
}

static struct vring_desc *indirect(void)
{
	return (struct vring_desc *)(mem + TABLES);
}

static void offer(uint16_t head)
{
	ring.avail->ring[avail++ & (SIZE - 1)] = head;
	ring.avail->idx = avail;
}

#define NEXT	 VRING_DESC_F_NEXT
#define WRITE	 VRING_DESC_F_WRITE
#define INDIRECT VRING_DESC_F_INDIRECT

static int get(uint32_t *head)
{
	return way->getdesc(&riov, &wiov, head);
}

/* A chain of 5 bytes to read and 7 to write goes through, as number @nr. */
static void take_good(void)
{
	char text[8] = "";
	uint16_t used = vrh.last_used;
	struct vring_used_elem *elem = &ring.used->ring[used & (SIZE - 1)];
	uint32_t head;
	int got = get(&head);

	expect(got == 1 && head == 6, "the next good chain: %d, head %u", got,
	       head);
	if (got != 1)
		return;
	expect(way->pull(&riov, text, 8) == 5 && !memcmp(text, "hello", 5),
	       "the next good chain: pull");
	expect(way->push(&wiov, "goodbye!", 8) == 7 &&
	       !memcmp(mem + DATA + 4200, "goodbye", 8),
	       "the next good chain: push");
	expect(!way->complete(head, 7) && ring.used->idx == (uint16_t)(used + 1) &&
	       elem->id == 6 && elem->len == 7,
	       "the next good chain: complete");
	expect(get(&head) == 0, "then there is one more");
}

static void prepare_good(void)
{
	memcpy(mem + DATA + 4100, "hello", 5);
	memset(mem + DATA + 4200, 0, 8);
	put(6, at(DATA + 4100), 5, NEXT, 7);
	put(7, at(DATA + 4200), 7, WRITE, 0);
}

/* After a fault of the chain @head: it is got rid of, and all is well. */
static void recover(uint32_t head)
{
	prepare_good();
	if (by_abandon && head != VRINGH_NO_HEAD) {
		vringh_abandon(&vrh, 1);
		ring.avail->ring[vrh.last_avail & (SIZE - 1)] = 6;
	} else {
		if (head < SIZE)
			expect(!way->complete(head, 0), "completing with 0");
		offer(6);
	}
	take_good();
}

static void says(const char *text)
{
	expect(strstr(vringh_error(&vrh), text), "the message lacks '%s'",
	       text);
}

/* vringh_getdesc refuses, and says why. */
static void refuses(int err, const char *text)
{
	uint32_t head;
	int got = get(&head);

	expect(got == err, "vringh_getdesc gives %d, not %d", got, err);
	says(text);
	recover(head);
}

/*
 * A part of the chain is out of reach: nothing is taken, so that it can be asked
 * for again. Or its head is taken alone, and the guest gets it back.
 */
static void cannot(int err, const char *text)
{
	const uint16_t before = vrh.last_avail;
	uint32_t head = 0;
	int got = get(&head);

	expect(got == err && head == VRINGH_NO_HEAD && vrh.last_avail == before,
	       "vringh_getdesc gives %d, head %u, not %d and none", got, head,
	       err);
	says(text);
	expect(!riov.used && !wiov.used, "a list has %u and %u pieces",
	       riov.used, wiov.used);
	expect(get(&head) == err && head == VRINGH_NO_HEAD, "now %u is taken",
	       head);
	expect(way->getdesc(NULL, NULL, &head) == 1 && head < SIZE,
	       "its head alone is not to be had: %u", head);
	recover(head);
}

/* It takes a chain of so many pieces. */
static uint32_t takes(uint32_t nr_r, uint32_t nr_w)
{
	uint32_t head;
	int got = get(&head);

	expect(got == 1, "vringh_getdesc gives %d, not 1", got);
	expect(riov.used == nr_r && wiov.used == nr_w,
	       "it finds %u readable and %u writable pieces", riov.used,
	       wiov.used);
	return head;
}

static void offer_indirect(uint64_t addr, uint32_t len, uint16_t flags)
{
	put(0, addr, len, INDIRECT | flags, 1);
	put(1, at(DATA), 4, 0, 0);
	offer(0);
}

/* ---- Right guests ---- */

static void empty_ring(void)
{
	uint32_t head;

	expect(get(&head) == 0 && head == VRINGH_NO_HEAD, "it is not empty");
	recover(VRINGH_NO_HEAD);
}

static void whole_ring_at_once(void)
{
	uint32_t head;

	for (int i = 0; i < SIZE; i++) {
		put(i, at(DATA + i), 1, 0, 0);
		offer(i);
	}
	for (uint32_t i = 0; i < SIZE; i++) {
		expect(get(&head) == 1 && head == i, "number %u", i);
		expect(!way->complete(head, 0), "completing %u", i);
	}
	recover(VRINGH_NO_HEAD);
}

static void chain_of_the_ring(void)
{
	char text[SIZE + 1] = "";

	for (int i = 0; i < SIZE; i++) {
		mem[DATA + 2 * i] = 'a' + i;
		put(i, at(DATA + 2 * i), 1, i < SIZE - 1 ? NEXT : 0, i + 1);
	}
	offer(0);
	uint32_t head = takes(SIZE, 0);

	expect(riov.heap, "it had room");
	expect(way->pull(&riov, text, 3) == 3 &&
	       way->pull(&riov, text + 3, 99) == SIZE - 3 &&
	       !strcmp(text, "abcdefgh") && !way->pull(&riov, text, 1),
	       "what it pulls is '%s'", text);
	vringh_iov_reset(&riov);
	expect(way->pull(&riov, text, 1) == 1 && *text == 'a',
	       "vringh_iov_reset is not back at the first byte");
	recover(head);
}

static void indirect_of_the_ring(void)
{
	for (int i = 0; i < SIZE; i++)
		desc(&indirect()[i], at(DATA), 1,
		     (i < SIZE - 1 ? NEXT : 0) | (i > 2 ? WRITE : 0), i + 1);
	offer_indirect(at(TABLES), SIZE * 16, 0);
	recover(takes(3, SIZE - 3));
}

static void indirect_odd(void)
{
	char *odd = mem + TABLES + 1;
	struct vring_desc d = { at(DATA), 4, NEXT, 1 };

	memcpy(odd, &d, 16);
	d.flags = WRITE;
	memcpy(odd + 16, &d, 16);
	offer_indirect(at(TABLES + 1), 32, 0);
	recover(takes(1, 1));
}

static void indirect_straddles(void)
{
	struct vring_desc *d = (struct vring_desc *)(mem + SPLIT - 8);
	struct vring_desc copy = { at(DATA), 4, 0, 0 };

	memcpy(d, &copy, 16);
	offer_indirect(at(SPLIT - 8), 16, 0);
	recover(takes(1, 0));
}

static void indirect_writable(void)
{
	desc(indirect(), at(DATA), 4, 0, 0);
	offer_indirect(at(TABLES), 16, WRITE);
	recover(takes(1, 0));
}

static void indirect_after_normal(void)
{
	put(2, at(DATA), 4, NEXT, 0);
	desc(&indirect()[0], at(DATA), 4, NEXT, 1);
	desc(&indirect()[1], at(DATA), 4, WRITE, 0);
	put(0, at(TABLES), 32, INDIRECT, 0);
	offer(2);
	uint32_t head = takes(2, 1);

	expect(head == 2, "head %u", head);
	recover(head);
}

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
	       !strcmp(text, translates() ? "01234FGHIJ" : "0123456789"),
	       "what it pulls is '%s'", text);
	expect(way->push(&wiov, "abcdefghij", 10) == 10 &&
	       !memcmp(mem + SPLIT - 3, "abc", 3) &&
	       !memcmp(mem + (translates() ? DATA + 8192 : SPLIT), "defghij",
		       7), "what it pushes");
	recover(head);
}

/* One list of a chain whose descriptors are 3 bytes, or where @zeros says none. */
static void check_list(struct vringh_iov *iov, bool writable, uint32_t from,
		       uint32_t to, uint32_t zeros)
{
	char text[16] = "", expected[16] = "";
	struct vringh_span span;
	uint32_t first = to, len = 0;
	ssize_t got;

	for (uint32_t k = from; k < to; k++) {
		if (zeros >> k & 1)
			continue;
		if (first == to)
			first = k;
		memset(expected + len, 'a' + k, 3);
		len += 3;
	}
	got = way->peek(iov, writable ? VRINGH_WRITE : VRINGH_READ, &span);
	expect(got == !!len, "the first bytes: %zd", got);
	expect(!len || (span.ptr == mem + DATA + 16 * first && span.len == 3),
	       "the first bytes are not those of descriptor %u", first);
	got = writable ? way->push(iov, expected, 15) :
			 way->pull(iov, text, 15);
	expect(got == len, "%zd bytes of %u are moved", got, len);
	for (uint32_t k = from; k < to && writable; k++)
		if (!(zeros >> k & 1))
			strncat(text, mem + DATA + 16 * k, 3);
	expect(!strcmp(text, expected), "moved is '%s', not '%s'", text,
	       expected);
	expect(way->peek(iov, writable ? VRINGH_WRITE : VRINGH_READ, &span) == 0,
	       "there are bytes behind the end");
}

/* Chains of @r descriptors to read and @w to write, some of length 0. */
static void chain_with_zeros(bool in_table, uint32_t r, uint32_t w,
			     uint32_t zeros)
{
	struct vring_desc *table = in_table ? indirect() : ring.desc;
	uint32_t nr_r = 0, nr_w = 0, head;

	memset(mem + DATA, 0, 16 * (r + w));
	for (uint32_t k = 0; k < r + w; k++) {
		const bool none = zeros >> k & 1;

		/* where nothing is moved, any address is right */
		desc(&table[k], !none ? at(DATA + 16 * k) :
		     k % 2 ? UINT64_MAX : NOWHERE, none ? 0 : 3,
		     (k >= r ? WRITE : 0) | (k < r + w - 1 ? NEXT : 0), k + 1);
		if (k < r)
			memset(mem + DATA + 16 * k, none ? 0 : 'a' + k, 3);
		*(k < r ? &nr_r : &nr_w) += !none;
	}
	if (in_table)
		put(0, at(TABLES), (r + w) * 16, INDIRECT, 0);
	offer(0);
	head = takes(nr_r, nr_w);
	check_list(&riov, false, 0, r, zeros);
	check_list(&wiov, true, r, r + w, zeros);
	expect(head == 0 && !way->complete(head, 3 * nr_w), "completing %u",
	       head);
}

static void length_0(void)
{
	for (uint32_t r = 0; r <= 3; r++)
		for (uint32_t w = !r; w <= 3; w++)
			for (uint32_t zeros = 0; zeros < 1u << (r + w); zeros++) {
				chain_with_zeros(false, r, w, zeros);
				chain_with_zeros(true, r, w, zeros);
			}
	recover(VRINGH_NO_HEAD);
}

static void heads_only(void)
{
	uint32_t head = 0;

	put(3, 0, 0, 0xffff, 0xffff);	/* nobody looks at it */
	offer(3);
	expect(way->getdesc(NULL, NULL, &head) == 1 && head == 3,
	       "the head is %u", head);
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
	expect(vringh_iov_advance(&riov, 0) == 0 &&
	       vringh_iov_left(&riov) == 9, "advancing by nothing");
	expect(vringh_iov_advance(&riov, 2) == 2 &&
	       way->pull(&riov, text, 2) == 2 && !strcmp(text, "cd"),
	       "from the third byte on it pulls '%s'", text);
	expect(vringh_iov_advance(&riov, 3) == 3 && vringh_iov_left(&riov) == 2 &&
	       riov.i == 2 && !riov.done, "to the end of a piece");
	vringh_iov_reset(&riov);
	expect(vringh_iov_advance(&riov, 8) == 8 &&
	       way->peek(&riov, VRINGH_READ, &span) == 1 && span.len == 1 &&
	       *(char *)span.ptr == 'i', "to the last byte");
	expect(vringh_iov_advance(&riov, UINT64_MAX) == 1 &&
	       !vringh_iov_left(&riov) && !vringh_iov_advance(&riov, 1) &&
	       !way->pull(&riov, text, 1), "beyond the end");
	expect(way->push(&wiov, "12", 2) == 2 && vringh_iov_left(&wiov) == 3 &&
	       vringh_iov_advance(&wiov, 2) == 2 &&
	       way->push(&wiov, "5678", 4) == 1 &&
	       !memcmp(mem + DATA + 32, "12\0\0" "5", 6), "writing");
	recover(head);
	/* past 32 bits */
	for (int i = 0; i < 3; i++)
		put(i, at(DATA), UINT32_MAX, i < 2 ? NEXT : 0, i + 1);
	offer(0);
	head = takes(3, 0);
	expect(vringh_iov_left(&riov) == 3ull * UINT32_MAX &&
	       vringh_iov_advance(&riov, 1ull << 33) == 1ull << 33 &&
	       vringh_iov_left(&riov) == 3ull * UINT32_MAX - (1ull << 33),
	       "lists of 4 GiB");
	recover(head);
}

/* Another host goes on with what one had taken, and had not completed. */
static void restored(void)
{
	uint16_t last_avail, last_used;
	uint32_t head;

	for (uint32_t i = 0; i < 5; i++) {
		put(i, at(DATA), 4, 0, 0);
		offer(i);
	}
	for (uint32_t i = 0; i < 4; i++)
		expect(get(&head) == 1 && head == i, "taking %u", i);
	expect(!way->complete(2, 0), "completing one");
	last_avail = vrh.last_avail;
	last_used = vrh.last_used;
	expect((uint16_t)(last_avail - last_used) == 3, "three are under way");
	memset(&vrh, 0x5a, sizeof(vrh));
	expect(!vringh_init(way->access, &vrh, FEATURES, SIZE, at(RING),
			    at((char *)ring.avail - mem),
			    at((char *)ring.used - mem), &map) &&
	       !vringh_set_base(&vrh, last_avail, last_used), "beginning again");
	expect(get(&head) == 1 && head == 4, "it takes %u next", head);
	for (uint32_t i = 0; i < 5; i++)
		expect(i == 2 || !way->complete(i, i), "completing %u", i);
	expect(ring.used->idx == avail && ring.used->ring[3].id == 3,
	       "the used index is %u", ring.used->idx);
	recover(VRINGH_NO_HEAD);
	expect(vringh_set_base(&vrh, 3, 3 - SIZE) == 0 &&
	       vringh_set_base(&vrh, 3, 3 - SIZE - 1) == -EINVAL &&
	       vringh_set_base(&vrh, 3, 4) == -EINVAL, "more than the ring");
	says("3 chains taken and 4 completed, in a ring of 8");
}

static void many_at_once(void)
{
	struct vringh_used used[SIZE + 1] = { { 0 } };
	uint16_t before = ring.used->idx;
	uint32_t head;

	for (uint32_t i = 0; i < 6; i++) {
		put(i, at(DATA), 4, 0, 0);
		offer(i);
		expect(get(&head) == 1, "number %u", i);
		used[5 - i] = (struct vringh_used){ head, i };
	}
	expect(way->complete_multi(used, SIZE + 1) == -EINVAL,
	       "it completes more than the ring");
	expect(!way->complete_multi(used, 0) && ring.used->idx == before,
	       "completing none");
	expect(!way->complete_multi(used, 6) &&
	       ring.used->idx == (uint16_t)(before + 6), "completing 6");
	for (uint32_t i = 0; i < 6; i++) {
		struct vring_used_elem *elem =
			&ring.used->ring[(before + i) & (SIZE - 1)];

		expect(elem->id == 5 - i && elem->len == 5 - i, "element %u",
		       i);
	}
	recover(VRINGH_NO_HEAD);
}

static void completing_nothing(void)
{
	uint16_t before = ring.used->idx;

	expect(way->complete(SIZE, 0) == -EINVAL, "head %u is completed", SIZE);
	says("completion of head 8");
	expect(way->complete(VRINGH_NO_HEAD, 0) == -EINVAL, "no head is");
	expect(ring.used->idx == before, "the index moved");
	recover(VRINGH_NO_HEAD);
}

static void notify_by_event(void)
{
	const uint16_t base = avail;
	uint32_t head;

	*ring.avail_event = 77;
	expect(way->notify_enable() == 1 && *ring.avail_event == base,
	       "arming when empty");
	expect(!way->notify_disable() && !ring.used->flags,
	       "with event indexes, disarming does something");
	put(0, at(DATA), 4, 0, 0);
	offer(0);
	offer(0);
	expect(way->notify_enable() == 0, "safe to sleep, with two there");
	*ring.used_event = base + 1;
	expect(get(&head) == 1 && !way->complete(head, 0), "the first");
	expect(way->need_notify() == 0, "a call before the event");
	expect(get(&head) == 1 && !way->complete(head, 0), "the second");
	expect(way->need_notify() == 1, "no call at the event");
	expect(way->need_notify() == 0, "the call is repeated");
	recover(VRINGH_NO_HEAD);
}

static void notify_by_flags(void)
{
	uint32_t head;

	fresh_with(0, 5);
	expect(!way->notify_disable() &&
	       ring.used->flags == VRING_USED_F_NO_NOTIFY, "disarming");
	expect(way->notify_enable() == 1 && !ring.used->flags, "arming");
	expect(way->need_notify() == 0, "a call for nothing");
	put(0, at(DATA), 4, 0, 0);
	offer(0);
	offer(0);
	expect(get(&head) == 1 && !way->complete(head, 0), "the first");
	expect(way->need_notify() == 1, "no call");
	ring.avail->flags = VRING_AVAIL_F_NO_INTERRUPT;
	expect(get(&head) == 1 && !way->complete(head, 0), "the second");
	expect(way->need_notify() == 0, "a call against the flag");
	recover(VRINGH_NO_HEAD);
}

static void index_wraps(void)
{
	fresh_with(FEATURES, 65533);
	for (int i = 0; i < 7; i++)
		recover(VRINGH_NO_HEAD);
	expect(ring.used->idx == 4, "the used index is %u", ring.used->idx);
	fresh_with(FEATURES, 65533);
	whole_ring_at_once();
	fresh_with(FEATURES, 65535);
	notify_by_event();
	fresh_with(FEATURES, 65530);
	many_at_once();
}

/* ---- Hostile guests: the rings ---- */

static void bad_index(uint16_t base, int ahead, const char *text)
{
	uint32_t head;

	fresh_with(FEATURES, base);
	ring.avail->idx = base + ahead;
	for (int i = 0; i < 3; i++) {
		int got = get(&head);

		expect(got == -EPROTO && head == VRINGH_NO_HEAD,
		       "it gives %d, head %u", got, head);
		says(text);
	}
	expect(way->notify_enable() == 0, "safe to sleep on a bad index");
	ring.avail->idx = base;
	recover(head);
}

static void index_ahead(void)
{
	static const uint16_t bases[] = { 0, 1, 32767, 65527, 65534, 65535 };

	for (int i = 0; i < 6; i++) {
		bad_index(bases[i], SIZE + 1, "is 9 ahead of");
		bad_index(bases[i], 32768, "is 32768 ahead of");
	}
}

static void index_back(void)
{
	static const uint16_t bases[] = { 0, 1, 2, 32767, 65534, 65535 };

	for (int i = 0; i < 6; i++) {
		bad_index(bases[i], -1, "went back from");
		bad_index(bases[i], -SIZE, "went back from");
		bad_index(bases[i], -32767, "went back from");
	}
}

/* The guest adds more than the ring holds, the host having completed few. */
static void overfill(uint16_t base, bool lists)
{
	struct vringh_iov *r = lists ? &riov : NULL, *w = lists ? &wiov : NULL;
	uint32_t head;

	fresh_with(FEATURES, base);
	for (uint32_t i = 0; i < SIZE; i++) {
		put(i, at(DATA), 4, 0, 0);
		offer(i);
		expect(way->getdesc(r, w, &head) == 1 && head == i,
		       "number %u", i);
	}
	for (int more = 1; more <= SIZE; more++) {
		ring.avail->idx = avail + more;
		expect(way->getdesc(r, w, &head) == -EPROTO &&
		       head == VRINGH_NO_HEAD, "with %d more, it takes %u",
		       more, head);
		says(" ahead of");
		expect(way->notify_enable() == 0, "safe to sleep");
	}
	expect((uint16_t)(vrh.last_avail - vrh.last_used) == SIZE &&
	       !vringh_set_base(&vrh, vrh.last_avail, vrh.last_used),
	       "it refuses where it stands");
	/* what is abandoned, or completed, makes room, and no more than that */
	ring.avail->idx = avail + 1;
	vringh_abandon(&vrh, 2);
	for (uint32_t i = SIZE - 2; i < SIZE; i++)
		expect(way->getdesc(r, w, &head) == 1 && head == i,
		       "abandoned, it takes %u", head);
	expect(way->getdesc(r, w, &head) == -EPROTO, "taken again, it takes %u",
	       head);
	expect(!way->complete(3, 0) && !way->complete(0, 0), "completing two");
	ring.avail->idx = avail + 3;
	expect(way->getdesc(r, w, &head) == -EPROTO, "completed, it takes %u",
	       head);
	says("is 9 ahead of");
	ring.avail->idx = avail;
	offer(3);
	offer(0);
	expect(way->getdesc(r, w, &head) == 1 && head == 3 &&
	       way->getdesc(r, w, &head) == 1 && head == 0 &&
	       way->getdesc(r, w, &head) == 0, "the two are not %u", head);
}

static void out_of_room(void)
{
	static const uint16_t bases[] = { 0, 32765, 65523, 65535 };

	for (int i = 0; i < 4; i++) {
		overfill(bases[i], true);
		overfill(bases[i], false);
	}
}

/* A head that is none has its place for good: there is nothing to complete. */
static void heads_of_nothing(void)
{
	uint32_t head;

	fresh_with(FEATURES, 65530);
	for (int i = 0; i < SIZE; i++) {
		offer(SIZE + i);
		expect(get(&head) == -EINVAL && head == (uint32_t)SIZE + i,
		       "it takes %u", head);
		expect(!vringh_set_base(&vrh, vrh.last_avail, vrh.last_used),
		       "it refuses where it stands");
		/* the others are used again and again */
		for (int k = 0; k < 3 && i < SIZE - 1; k++)
			recover(VRINGH_NO_HEAD);
	}
	offer(SIZE);
	expect(get(&head) == -EPROTO && head == VRINGH_NO_HEAD, "it takes %u",
	       head);
	expect(!vringh_set_base(&vrh, vrh.last_avail, vrh.last_used),
	       "full, it refuses where it stands");
	ring.avail->idx = --avail;
	vringh_abandon(&vrh, 1);
	ring.avail->ring[vrh.last_avail & (SIZE - 1)] = 6;
	prepare_good();
	take_good();
}

/* What was seen once counts, whatever the guest says later. */
static void index_taken_back(void)
{
	uint32_t head;

	prepare_good();
	offer(6);
	offer(6);
	expect(get(&head) == 1 && !way->complete(head, 0), "the first");
	ring.avail->idx--;
	expect(way->notify_enable() == 0, "safe to sleep with one seen");
	ring.avail->idx++;
	take_good();
}

static void head_at_size(void)
{
	offer(SIZE);
	refuses(-EINVAL, "head 8 in a ring of 8");
}

static void head_ffff(void)
{
	offer(0xffff);
	refuses(-EINVAL, "head 65535 in a ring of 8");
}

static void avail_unreachable(void)
{
	uint32_t head;

	if (trusts())
		return;
	offer(0);
	vringh_map_remove(&map, at(RING), at(RING));
	expect(get(&head) == -EFAULT && head == VRINGH_NO_HEAD, "head %u",
	       head);
	says("available ring: 2 bytes at 0x");
	expect(way->notify_enable() == -EFAULT, "arming");
	says("used ring: ");
	expect(way->need_notify() == -EFAULT, "a look at the request");
	expect(way->complete(0, 0) == -EFAULT, "a completion");
	says("outside every range");
	range(RING, TABLES - RING, VRINGH_PERM_RW);
	ring.avail->idx = --avail;
	recover(VRINGH_NO_HEAD);
}

static void ring_in_two_ranges(void)
{
	if (trusts())
		return;
	vringh_map_remove(&map, at(RING), at(RING));
	range(RING, 8, VRINGH_PERM_RW);
	range(RING + 8, TABLES - RING - 8, VRINGH_PERM_RW);
	put(0, at(DATA), 4, 0, 0);
	offer(0);
	cannot(-EFAULT, "descriptor table: 16 bytes at 0x100000000000 are not "
	       "in one range");
}

/* ---- Hostile guests: the chain ---- */

static void loop(void)
{
	put(0, at(DATA), 4, NEXT, 1);
	put(1, at(DATA), 4, NEXT, 0);
	offer(0);
	refuses(-ELOOP, "closes a loop");
}

static void loop_on_itself(void)
{
	put(5, at(DATA), 4, NEXT, 5);
	offer(5);
	refuses(-ELOOP, "descriptor 5 closes a loop");
}

static void loop_indirect(void)
{
	desc(&indirect()[0], at(DATA), 4, NEXT, 1);
	desc(&indirect()[1], at(DATA), 4, NEXT, 0);
	offer_indirect(at(TABLES), 32, 0);
	refuses(-ELOOP, "indirect descriptor 1 closes a loop");
}

static void one_too_long(void)
{
	for (int i = 0; i <= SIZE; i++)
		desc(&indirect()[i], at(DATA), 1, i < SIZE ? NEXT : 0, i + 1);
	offer_indirect(at(TABLES), (SIZE + 1) * 16, 0);
	refuses(-E2BIG, "makes a chain too long");
}

static void one_too_long_with_normal(void)
{
	for (int i = 0; i < SIZE; i++)
		desc(&indirect()[i], at(DATA), 1, i < SIZE - 1 ? NEXT : 0,
		     i + 1);
	put(2, at(DATA), 1, NEXT, 0);
	put(0, at(TABLES), SIZE * 16, INDIRECT, 0);
	offer(2);
	refuses(-E2BIG, "makes a chain too long");
}

/* What Linux's driver makes of a request with more segments than entries. */
static void longer_than_the_ring(void)
{
	char text[3 * SIZE + 1] = "";
	uint32_t head;

	expect(vringh_set_max_chain(&vrh, 0) == -EINVAL &&
	       vringh_set_max_chain(&vrh, 32769) == -EINVAL, "any limit");
	says("chains of 32769 descriptors: not 1 to 32768");
	expect(!vringh_set_max_chain(&vrh, 3 * SIZE), "three times the ring");
	for (int i = 0; i < 3 * SIZE; i++) {
		mem[DATA + i] = 'a' + i;
		desc(&indirect()[i], at(DATA + i), 1,
		     i < 3 * SIZE - 1 ? NEXT : 0, i + 1);
	}
	offer_indirect(at(TABLES), 3 * SIZE * 16, 0);
	head = takes(3 * SIZE, 0);
	expect(way->pull(&riov, text, 99) == 3 * SIZE &&
	       !strcmp(text, "abcdefghijklmnopqrstuvwx"), "it pulls '%s'", text);
	recover(head);
	desc(&indirect()[3 * SIZE - 1], at(DATA), 1, NEXT, 3 * SIZE);
	desc(&indirect()[3 * SIZE], at(DATA), 1, 0, 0);
	offer_indirect(at(TABLES), (3 * SIZE + 1) * 16, 0);
	refuses(-E2BIG, "indirect descriptor 24 makes a chain too long");
	/* loops are found all the same */
	desc(&indirect()[1], at(DATA), 1, NEXT, 0);
	offer_indirect(at(TABLES), 3 * SIZE * 16, 0);
	refuses(-ELOOP, "indirect descriptor 1 closes a loop");
	put(0, at(DATA), 4, NEXT, 1);
	put(1, at(DATA), 4, NEXT, 0);
	offer(0);
	refuses(-ELOOP, "closes a loop");
	expect(!vringh_set_max_chain(&vrh, 2), "two");
	put(0, at(DATA), 4, NEXT, 1);
	put(1, at(DATA), 4, NEXT, 2);
	put(2, at(DATA), 4, 0, 0);
	offer(0);
	refuses(-E2BIG, "descriptor 2 makes a chain too long");
}

static void next_outside(void)
{
	put(0, at(DATA), 4, NEXT, SIZE);
	offer(0);
	refuses(-EINVAL, "has next outside the table");
	put(0, at(DATA), 4, NEXT, 0xffff);
	offer(0);
	refuses(-EINVAL, "next 65535)");
}

static void next_outside_indirect(void)
{
	desc(&indirect()[0], at(DATA), 4, NEXT, 2);
	desc(&indirect()[2], at(DATA), 4, 0, 0);
	offer_indirect(at(TABLES), 32, 0);
	refuses(-EINVAL, "indirect descriptor 0 has next outside the table");
}

static void readable_after_writable(void)
{
	put(0, at(DATA), 4, NEXT | WRITE, 1);
	put(1, at(DATA), 4, 0, 0);
	offer(0);
	refuses(-EINVAL, "descriptor 1 is readable, after a writable one");
}

static void readable_after_writable_indirect(void)
{
	put(2, at(DATA), 4, NEXT | WRITE, 0);
	desc(indirect(), at(DATA), 4, 0, 0);
	put(0, at(TABLES), 16, INDIRECT, 0);
	offer(2);
	refuses(-EINVAL, "indirect descriptor 0 is readable, after");
}

static void other_faults_of_nothing(void)
{
	uint32_t head;

	put(0, at(DATA), 0, NEXT | WRITE, 1);
	put(1, at(DATA), 0, 0, 0);
	offer(0);
	refuses(-EINVAL, "descriptor 1 is readable, after a writable one");
	put(0, at(DATA), 0, NEXT, 1);
	put(1, at(DATA), 0, NEXT, 0);
	offer(0);
	refuses(-ELOOP, "closes a loop");
	for (int i = 0; i <= SIZE; i++)
		desc(&indirect()[i], at(DATA), 0, i < SIZE ? NEXT : 0, i + 1);
	offer_indirect(at(TABLES), (SIZE + 1) * 16, 0);
	refuses(-E2BIG, "makes a chain too long");
	put(0, at(DATA), 0, WRITE, 0);
	offer(0);
	expect(way->getdesc(&riov, NULL, &head) == -EINVAL, "it takes it");
	says("not expected here");
	recover(head);
}

static void other_direction(void)
{
	uint32_t head;

	put(0, at(DATA), 4, 0, 0);
	offer(0);
	expect(way->getdesc(NULL, &wiov, &head) == -EINVAL, "it takes it");
	says("not expected here");
	recover(head);
}

static void wraps(void)
{
	put(0, UINT64_MAX - 3, 5, 0, 0);
	offer(0);
	refuses(-EOVERFLOW, "goes past the end of addresses");
	put(0, UINT64_MAX, UINT32_MAX, WRITE, 0);
	offer(0);
	refuses(-EOVERFLOW, "goes past the end of addresses");
}

static void ends_at_the_end(void)
{
	char text[5] = "";
	uint32_t head;

	/* our memory is page aligned, as 2^64 is */
	expect(!vringh_map_add(&map, -(uint64_t)4096, UINT64_MAX,
			       mem + DATA, VRINGH_PERM_RW), "no range");
	memcpy(mem + DATA + 4092, "last", 4);
	put(0, -(uint64_t)4, 4, 0, 0);
	offer(0);
	head = takes(1, 0);
	if (!trusts())
		expect(way->pull(&riov, text, 9) == 4 && !strcmp(text, "last"),
		       "what it pulls is '%s'", text);
	recover(head);
	put(0, -(uint64_t)16, 16, INDIRECT, 0);
	if (trusts())
		return;
	desc((struct vring_desc *)(mem + DATA + 4080), at(DATA), 1, 0, 0);
	offer(0);
	recover(takes(1, 0));
}

/* ---- Hostile guests: the indirect table ---- */

static void table_lengths(void)
{
	static const uint32_t lens[] = { 8, 24, 1, 15, 17, 1048577,
					 UINT32_MAX };

	offer_indirect(at(TABLES), 0, 0);
	refuses(-EINVAL, "is an indirect table of length 0");
	for (int i = 0; i < 7; i++) {
		offer_indirect(at(TABLES), lens[i], 0);
		refuses(-EINVAL, "no multiple of 16");
	}
}

static void table_of_1m(void)
{
	offer_indirect(at(TABLES), 1 << 20, 0);
	refuses(-E2BIG, "larger than any ring");
}

static void table_outside(void)
{
	if (trusts())
		return;
	offer_indirect(NOWHERE, 16, 0);
	cannot(-EFAULT, "indirect table: 16 bytes at 0x500000000000 are");
}

static void table_half_outside(void)
{
	if (trusts())
		return;
	vringh_map_remove(&map, at(SPLIT), at(SPLIT));
	offer_indirect(at(SPLIT - 8), 16, 0);
	cannot(-EFAULT, "indirect table: 8 bytes at 0x");
}

static void table_wraps(void)
{
	offer_indirect(-(uint64_t)16, 32, 0);
	refuses(-EOVERFLOW, "goes past the end of addresses");
}

static void table_in_table(void)
{
	desc(indirect(), at(TABLES), 16, INDIRECT, 0);
	offer_indirect(at(TABLES), 16, 0);
	refuses(-EINVAL, "indirect descriptor 0 is an indirect table in one");
}

static void table_with_next(void)
{
	desc(indirect(), at(DATA), 4, 0, 0);
	offer_indirect(at(TABLES), 16, NEXT);
	refuses(-EINVAL, "is indirect and has a next");
}

static void table_not_negotiated(void)
{
	fresh_with(1ull << VIRTIO_RING_F_EVENT_IDX, 0);
	desc(indirect(), at(DATA), 4, 0, 0);
	offer_indirect(at(TABLES), 16, 0);
	refuses(-EINVAL, "not negotiated");
}

/* ---- Hostile guests: the buffers ---- */

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
	expect(way->pull(&riov, text, 12) == 6, "it does not pull what is there");
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
	       !memcmp(mem + SPLIT + 64, "5678", 4), "what it pushes");
	recover(head);
}

static void table_added_late(void)
{
	uint32_t head;

	if (trusts())
		return;
	desc(indirect(), at(DATA), 4, 0, 0);
	put(3, at(TABLES), 16, INDIRECT, 0);
	put(5, at(DATA), 4, WRITE, 0);
	offer(3);
	offer(5);
	vringh_map_remove(&map, at(TABLES), at(TABLES));
	expect(get(&head) == -EFAULT && head == VRINGH_NO_HEAD,
	       "it takes %u", head);
	range(TABLES, DATA - TABLES, VRINGH_PERM_RW);
	expect(get(&head) == 1 && head == 3 && riov.used == 1,
	       "the chain is passed over for %u", head);
	expect(!way->complete(head, 0) && get(&head) == 1 && head == 5 &&
	       !way->complete(head, 0), "the next is not %u", head);
	recover(VRINGH_NO_HEAD);
}

/* Complete; the request is out of reach; then it is there: a call is due. */
static void request_added_late(void)
{
	uint32_t head;

	if (trusts())
		return;
	put(0, at(DATA), 4, 0, 0);
	offer(0);
	expect(get(&head) == 1 && !way->complete(head, 0), "a completion");
	vringh_map_remove(&map, at(RING), at(RING));
	expect(way->need_notify() == -EFAULT, "a look at what is not there");
	range(RING, TABLES - RING, VRINGH_PERM_RW);
	expect(way->need_notify() == 1, "the call is lost");
	expect(way->need_notify() == 0, "the call is repeated");
	recover(VRINGH_NO_HEAD);
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
	expect(way->push(&wiov, "evil", 4) == -EACCES, "writes what it may not");
	says("may not be written");
	expect(!mem[DATA], "it was written");
	recover(head);
	put(0, at(DATA), 4, NEXT, 1);
	put(1, at(SPLIT), 4, WRITE, 0);
	offer(0);
	head = takes(1, 1);
	expect(way->pull(&riov, text, 4) == 4 && way->push(&wiov, "good", 4) == 4,
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

/* ---- The beginning, and the map ---- */

static int init(uint64_t features, uint32_t size, uint64_t d, uint64_t a,
		uint64_t u)
{
	return vringh_init(way->access, &vrh, features, size, at(RING) + d,
			   at(RING) + a, at(RING) + u, &map);
}

static void wrong_beginnings(void)
{
	static const uint32_t sizes[] = { 0, 3, 65536, 65535, UINT32_MAX };

	expect(!init(0, SIZE, 0, 128, 4096), "a right one");
	for (int i = 0; i < 5; i++) {
		expect(init(0, sizes[i], 0, 128, 4096) == -EINVAL, "size %u",
		       sizes[i]);
		says("is not a power of two up to 32768");
	}
	expect(init(1, SIZE, 0, 128, 4096) == -EINVAL, "feature 0");
	says("features 0x1 are not known");
	expect(init(0, SIZE, 8, 128, 4096) == -EINVAL, "odd descriptors");
	expect(init(0, SIZE, 0, 129, 4096) == -EINVAL, "odd available ring");
	expect(init(0, SIZE, 0, 128, 4098) == -EINVAL, "odd used ring");
	says("not aligned to 4");
	expect(init(0, SIZE, -at(RING) - 16, 128, 4096) == -EINVAL, "wrap");
	says("past the end of addresses");
	if (trusts())
		return;
	expect(init(0, SIZE, NOWHERE - at(RING), 128, 4096) == -EFAULT,
	       "descriptors nowhere");
	says("descriptor table: 128 bytes at 0x500000000000 are outside");
	expect(init(0, 1024, 0, 0, BYTES - 4096) == -EFAULT,
	       "a used ring that goes on too long");
	says("used ring: ");
	if (!translates())
		return;
	vringh_map_remove(&map, at(RING), at(RING));
	range(RING, 4096, VRINGH_PERM_WRITE);
	range(4096, 4096, VRINGH_PERM_READ);
	expect(init(0, SIZE, 0, 128, 4096) == -EACCES, "no reading");
	says("descriptor table: 128 bytes");
	vringh_map_remove(&map, at(RING), at(RING));
	range(RING, 4096, VRINGH_PERM_READ);
	expect(init(0, SIZE, 0, 128, 4096) == -EACCES, "no writing");
	says("used ring: 70 bytes");
}

/* For UBSan: there is nothing behind a pointer to nothing. */
static void nothing_at_all(void)
{
	struct vringh_map none = { .n = 0 };
	struct vringh_iov empty;
	struct vringh_span span = { mem, 1 };

	vringh_iov_init(&empty, NULL, 0);
	expect(way->peek(&empty, VRINGH_READ, &span) == 0 && !span.ptr &&
	       !span.len, "a look at an empty list");
	expect(!way->pull(&empty, NULL, 0) && !way->push(&empty, NULL, 0) &&
	       !way->pull(&empty, mem, 1), "moving nothing");
	vringh_iov_cleanup(&empty);
	if (trusts())
		return;
	expect(vringh_init(way->access, &vrh, 0, SIZE, at(RING), at(RING) + 128,
			   at(RING) + 4096, &none) == -EFAULT, "an empty map");
	vringh_map_remove(&none, 0, UINT64_MAX);
	vringh_map_free(&none);
}

static void maps(void)
{
	const int blocks_before = blocks;
	struct vringh_map m = { .n = 0 };
	char *ours = mem;
	uint32_t below;

	expect(!vringh_map_add(&m, 64, 127, ours, 3) &&
	       !vringh_map_add(&m, 0, 15, ours, 3) &&
	       !vringh_map_add(&m, 256, UINT64_MAX, ours, 1), "three ranges");
	expect(vringh_map_add(&m, 130, 140, ours + 1, 3) == -EINVAL,
	       "a range that moves alignment");
	expect(vringh_map_add(&m, 112, 143, ours, 3) == -EEXIST &&
	       vringh_map_add(&m, 48, 64, ours, 3) == -EEXIST &&
	       vringh_map_add(&m, 32, 512, ours, 3) == -EEXIST &&
	       vringh_map_add(&m, 80, 81, ours, 3) == -EEXIST,
	       "ranges that overlap");
	expect(vringh_map_add(&m, 32, 31, ours, 3) == -EINVAL &&
	       vringh_map_add(&m, 32, 47, ours, 0) == -EINVAL &&
	       vringh_map_add(&m, 32, 47, ours, 4) == -EINVAL,
	       "wrong ranges");
	expect(m.n == 3 && vringh_map_find(&m, 0, NULL) == 0 &&
	       vringh_map_find(&m, 15, NULL) == 0 &&
	       vringh_map_find(&m, 16, &below) == -ENOENT && below == 1 &&
	       vringh_map_find(&m, 127, NULL) == 1 &&
	       vringh_map_find(&m, UINT64_MAX, NULL) == 2, "finding");
	vringh_map_remove(&m, 16, 63);
	expect(m.n == 3, "removing what is not there");
	vringh_map_remove(&m, 15, 64);
	expect(m.n == 1 && m.ranges[0].start == 256, "removing two");
	for (uint64_t i = 0; i < 16; i++)
		expect(!vringh_map_add(&m, i * 16, i * 16 + 15, ours, 3),
		       "room for range %d", (int)i);
	struct vringh_map copy = { .n = 0 }, emptied = { .n = 0 };

	expect(!vringh_map_add(&emptied, 1 << 20, (1 << 20) + 15, ours, 3),
	       "one range");
	vringh_map_remove(&emptied, 0, UINT64_MAX);
	expect(!vringh_map_copy(&emptied, &m) && emptied.n == m.n &&
	       !memcmp(emptied.ranges, m.ranges, m.n * sizeof(*m.ranges)),
	       "a copy in what was emptied");
	vringh_map_free(&emptied);
	expect(!vringh_map_copy(&copy, &m) && copy.n == m.n &&
	       !memcmp(copy.ranges, m.ranges, m.n * sizeof(*m.ranges)),
	       "a copy");
	vringh_map_remove(&copy, 0, 15);
	expect(copy.n == m.n - 1 && vringh_map_find(&m, 0, NULL) == 0,
	       "a copy that changes the other");
	vringh_map_free(&copy);
	vringh_map_free(&m);
	expect(!vringh_map_copy(&copy, &m) && !copy.n && !copy.ranges,
	       "a copy of nothing");
	expect(blocks == blocks_before, "%d blocks are not freed",
	       blocks - blocks_before);
}

/* Each byte of the buffers is a range: none of them has to be searched for. */
static void ranges_in_a_row(void)
{
	char text[64] = "";
	uint32_t head;

	if (trusts())
		return;
	vringh_map_remove(&map, at(DATA), at(BYTES - 1));
	for (uint32_t i = DATA; i < DATA + 4400; i++)
		range(i, 1, VRINGH_PERM_RW);
	memcpy(mem + DATA, "so many ranges", 14);
	put(0, at(DATA + 1000), 40, NEXT, 1);
	put(1, at(DATA), 14, 0, 0);
	put(2, at(DATA + 4095), 1, NEXT, 3);
	put(3, at(DATA + 4094), 1, 0, 0);
	offer(0);
	offer(2);
	head = takes(2, 0);
	expect(way->pull(&riov, text, 1) == 1, "the first byte");
	searches = 0;
	expect(way->pull(&riov, text, 39) == 39 &&
	       way->pull(&riov, text, 20) == 14 &&
	       !strncmp(text, "so many ranges", 14), "it pulls '%s'", text);
	expect(!way->complete(head, 0), "completing");
	head = takes(2, 0);
	expect(way->pull(&riov, text, 3) == 2, "to the end and back");
	expect(!searches, "%u searches", searches);
	recover(head);
}

/* Whatever the last range was, the right one is found, or none. */
static void ranges_at_random(void)
{
	uint64_t state = 1;

	if (trusts())
		return;
	for (int round = 0; round < 30; round++) {
		struct vringh_map m = { .n = 0 };
		const uint64_t step = 16 << round % 5;

		for (int i = 0; i < 40; i++) {
			state = state * 6364136223846793005u + 1442695040888963407u;
			vringh_map_add(&m, (state >> 60) * step - 5 * step,
				       (state >> 60) * step - 5 * step +
				       (state >> 59 & 1 ? step - 1 :
							  state >> 40 & 31),
				       mem, 3);
		}
		vrh.memory = &m;
		for (int i = 0; i < 1000; i++) {
			uint64_t addr;
			int64_t right;
			const struct vringh_range *found;

			state = state * 6364136223846793005u + 1442695040888963407u;
			addr = (state >> 40) % (16 * step) - 6 * step;
			vrh.hint[VRINGH_READ] = (state >> 30) % (m.n + 2);
			right = vringh_map_find(&m, addr, NULL);
			found = vringh_range(&vrh, VRINGH_READ, addr);
			expect(found == (right < 0 ? NULL : &m.ranges[right]),
			       "another range, or none");
		}
		vringh_map_free(&m);
	}
}

/* ---- The driver ---- */

static void with_driver(uint64_t features)
{
	const bool event = features >> VIRTIO_RING_F_EVENT_IDX & 1;
	struct vdriver drv;
	struct vdriver_sg sg[4];
	char names[64], text[64] = "";
	uint32_t head, len, added = 0, got = 0;

	fresh_with(features, 0);
	expect(!vdriver_init(&drv, features, SIZE, mem + RING, bias,
			     features >> VIRTIO_RING_F_INDIRECT_DESC & 1 ?
			     indirect() : NULL,
			     features >> VIRTIO_RING_F_INDIRECT_DESC & 1 ?
			     4 : 0), "vdriver_init");
	for (int i = 0; i < 4; i++)
		sg[i] = (struct vdriver_sg){ mem + DATA + 64 * i, 3 };
	expect(vdriver_add(&drv, sg, 0, 0, names) == -EINVAL, "no piece");
	expect(vdriver_add(&drv, sg, 3, SIZE - 2, names) == -EINVAL,
	       "more pieces than the ring has entries");
	for (int round = 0; round < 100; round++) {
		bool armed, asks;
		uint32_t batch = 0;

		expect(way->notify_enable() == 1, "the host may sleep");
		memcpy(mem + DATA, "onetwo", 3);
		memcpy(mem + DATA + 64, "two", 3);
		while (!vdriver_add(&drv, sg, 1 + round % 2, 2 - round % 2,
				    names + added % 64)) {
			added++;
			batch++;
		}
		expect(batch == (features >> VIRTIO_RING_F_INDIRECT_DESC & 1 ?
				 SIZE : SIZE / 3), "%u chains fit", batch);
		expect(vdriver_need_kick(&drv), "no kick");
		expect(!vdriver_need_kick(&drv), "a kick repeated");
		if (round % 2)
			armed = vdriver_enable_call(&drv);
		else
			armed = vdriver_enable_call_delayed(&drv);
		expect(armed, "the guest may sleep");
		expect(!way->notify_disable(), "disarming");
		for (uint32_t i = 0; i < batch; i++) {
			/* prompt: the first; delayed: past three quarters */
			uint32_t due = round % 2 ? 0 : batch * 3 / 4;

			expect(get(&head) == 1, "chain %u", i);
			expect(way->pull(&riov, text, 64) == 3 + round % 2 * 3 &&
			       !memcmp(text, "onetwo", 3 + round % 2 * 3),
			       "pulled '%s'", text);
			expect(way->push(&wiov, "abcdef", 6) == 6 - round % 2 * 3,
			       "pushing");
			expect(!way->complete(head, 100 + i), "completing");
			asks = way->need_notify();
			expect(asks == (event ? i == due : true),
			       "call %d at completion %u", asks, i);
		}
		expect(!vdriver_enable_call(&drv), "safe to sleep");
		vdriver_disable_call(&drv);
		for (uint32_t i = 0; i < batch; i++) {
			char *name = vdriver_get(&drv, &len);

			expect(name == names + got++ % 64 && len == 100 + i,
			       "number %u came back", i);
		}
		expect(!vdriver_get(&drv, &len) && !len, "one more");
		expect(vdriver_empty(&drv), "it is not empty");
	}
	vdriver_free(&drv);
}

/* A host that completes what it was not given. */
static void driver_of_a_liar(void)
{
	static const uint32_t ids[] = { SIZE, 1, 0xffff, UINT32_MAX, 0 };
	struct vdriver_sg sg = { mem + DATA, 4 };
	struct vdriver drv;
	uint32_t len;

	expect(!vdriver_init(&drv, 0, SIZE, mem, bias, NULL, 0), "vdriver_init");
	for (int i = 0; i < 5; i++) {
		ring.used->ring[0].id = ids[i];
		ring.used->idx = 1;
		for (int k = 0; k < 2; k++)
			expect(!vdriver_get(&drv, &len) && len == UINT32_MAX,
			       "it gets back number %u", ids[i]);
	}
	expect(!vdriver_add(&drv, &sg, 0, 1, mem), "adding");
	expect(vdriver_get(&drv, &len) == mem, "it gets back nothing");
	ring.used->ring[1].id = 0;
	ring.used->idx = 2;
	expect(!vdriver_get(&drv, &len) && len == UINT32_MAX,
	       "it gets it back twice");
	vdriver_free(&drv);
}

/* Free descriptors are those that are in no chain, each once. */
static void check_free(const struct vdriver *drv, uint32_t under_way)
{
	uint32_t seen = 0, i = drv->free_head;

	expect(drv->nr_free + under_way == SIZE, "%u free, %u under way",
	       drv->nr_free, under_way);
	for (uint32_t k = 0; k < drv->nr_free; k++) {
		expect(i < SIZE && !(seen >> i & 1) && !drv->slots[i].data,
		       "descriptor %u is in the list of the free", i);
		if (tap.wrong)
			return;
		seen |= 1u << i;
		i = drv->slots[i].next;
	}
}

/* One that writes all over the ring's memory. */
static void driver_under_attack(void)
{
	struct vdriver_sg sg[3];
	uint64_t state = 1;
	uint32_t len, under_way = 0, backs = 0;
	struct vdriver drv;

	expect(!vdriver_init(&drv, FEATURES, SIZE, mem, bias, NULL, 0),
	       "vdriver_init");
	for (int i = 0; i < 3; i++)
		sg[i] = (struct vdriver_sg){ mem + DATA, 4 };
	for (int round = 0; round < 20000 && !tap.wrong; round++) {
		uint32_t *words = (uint32_t *)mem;
		char *back;

		for (uint32_t i = 0; i < vring_bytes(SIZE) / 4; i++) {
			state = state * 6364136223846793005u + 1442695040888963407u;
			words[i] = state >> 33 & (state >> 62 ? 0xf : ~0u);
			if (i == SIZE * 6 + 1)	/* on to the used ring */
				i = vring_used_offset(SIZE) / 4 - 1;
		}
		ring.used->idx = state >> 40;
		if (!vdriver_add(&drv, sg, 1, round % 3, mem + 1 + round % 3))
			under_way += 1 + round % 3;
		back = vdriver_get(&drv, &len);
		expect(!back || (back > mem && back <= mem + 3),
		       "it gets back what it never added");
		if (back) {
			under_way -= back - mem;
			backs++;
		}
		vdriver_need_kick(&drv);
		vdriver_enable_call_delayed(&drv);
		check_free(&drv, under_way);
	}
	expect(backs > 1000, "%u came back: this tells nothing", backs);
	vdriver_free(&drv);
}

static void driver(void)
{
	for (unsigned bits = 0; bits < 8; bits++)
		with_driver((uint64_t)(bits & 1) << VIRTIO_RING_F_INDIRECT_DESC |
			    (uint64_t)(bits >> 1 & 1) << VIRTIO_RING_F_EVENT_IDX |
			    (uint64_t)(bits >> 2) << VIRTIO_F_VERSION_1);
}

static const struct test {
	const char *name;
	void (*run)(void);
} tests[] = {
	{ "an empty ring gives nothing", empty_ring },
	{ "a ring filled at once", whole_ring_at_once },
	{ "a chain exactly as long as the ring", chain_of_the_ring },
	{ "an indirect chain as long as the ring", indirect_of_the_ring },
	{ "an indirect table at an odd address", indirect_odd },
	{ "an indirect table in two ranges", indirect_straddles },
	{ "WRITE on an indirect descriptor is ignored", indirect_writable },
	{ "normal descriptors, then an indirect one", indirect_after_normal },
	{ "a buffer in two ranges", crossing_buffer },
	{ "descriptors of length 0, in every place", length_0 },
	{ "heads only, no descriptor is read", heads_only },
	{ "advancing in a list, and what is left of it", advancing },
	{ "a ring that another host has begun", restored },
	{ "many completions at once", many_at_once },
	{ "what was not taken is not completed", completing_nothing },
	{ "notifications by event index", notify_by_event },
	{ "notifications by flags", notify_by_flags },
	{ "indexes go past 65535", index_wraps },
	{ "available index too far ahead", index_ahead },
	{ "available index goes back", index_back },
	{ "available index goes back behind what was seen", index_taken_back },
	{ "no more chains are taken than the ring holds", out_of_room },
	{ "heads out of range, as many as the ring holds", heads_of_nothing },
	{ "head at the ring's size", head_at_size },
	{ "head 0xffff", head_ffff },
	{ "the rings are out of reach", avail_unreachable },
	{ "a word of the ring in two ranges", ring_in_two_ranges },
	{ "a loop", loop },
	{ "a loop of one", loop_on_itself },
	{ "a loop in an indirect table", loop_indirect },
	{ "a chain longer than the ring by one", one_too_long },
	{ "the same, in part indirect", one_too_long_with_normal },
	{ "chains longer than the ring, where they are allowed",
	  longer_than_the_ring },
	{ "next out of range", next_outside },
	{ "next out of range of an indirect table", next_outside_indirect },
	{ "readable after writable", readable_after_writable },
	{ "readable after writable, indirect", readable_after_writable_indirect },
	{ "faults of descriptors of length 0", other_faults_of_nothing },
	{ "a direction that is not expected", other_direction },
	{ "address and length past 2^64", wraps },
	{ "address and length exactly to 2^64", ends_at_the_end },
	{ "indirect tables of length 0, 8, 24, no multiple of 16",
	  table_lengths },
	{ "an indirect table of 1 MiB", table_of_1m },
	{ "an indirect table outside the ranges", table_outside },
	{ "an indirect table half outside the ranges", table_half_outside },
	{ "an indirect table past 2^64", table_wraps },
	{ "an indirect table in one", table_in_table },
	{ "NEXT on an indirect descriptor", table_with_next },
	{ "an indirect table not negotiated", table_not_negotiated },
	{ "a buffer outside the ranges", buffer_outside },
	{ "a buffer half outside the ranges", buffer_half_outside },
	{ "a buffer whose range was removed", buffer_no_longer_inside },
	{ "a buffer whose range is added late", range_added_late },
	{ "an indirect table whose range is added late", table_added_late },
	{ "a request whose range is added late", request_added_late },
	{ "permissions used the wrong way", permissions },
	{ "a range that vanishes between check and use", range_vanishes },
	{ "wrong arguments to vringh_init", wrong_beginnings },
	{ "an empty list and an empty map", nothing_at_all },
	{ "ranges: found, refused, removed", maps },
	{ "ranges in a row are not searched for", ranges_in_a_row },
	{ "ranges at random are found", ranges_at_random },
	{ "the driver, with every feature; prompt and delayed calls", driver },
	{ "the driver gives out nothing that was not added", driver_of_a_liar },
	{ "the driver's lists, whatever the host writes", driver_under_attack },
};

int main(void)
{
	const size_t page = sysconf(_SC_PAGESIZE);
	const size_t bytes = (BYTES + page - 1) / page * page;
	char *all = mmap(NULL, bytes + 2 * page, PROT_NONE,
			 MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	if (all == MAP_FAILED)
		return 1;
	mem = all + page;
	if (mprotect(mem, bytes, PROT_READ | PROT_WRITE))
		return 1;
	for (unsigned i = 0; i < sizeof(tests) / sizeof(*tests); i++) {
		for (unsigned w = 0; w < sizeof(ways) / sizeof(*ways); w++) {
			way = &ways[w];
			for (int k = 0; k < 2; k++) {
				by_abandon = k;
				fresh();
				tests[i].run();
			}
		}
		report("vringh: %s", tests[i].name);
	}
	vringh_map_free(&map);
	vringh_iov_cleanup(&riov);
	vringh_iov_cleanup(&wiov);
	return finish();
}
