/* SPDX-License-Identifier: MIT */
/*
 * What the tests of vringh_*.c share: six ways to call vringh, with every access,
 * inlined and through a table; and a guest that is right, wrong or hostile, in
 * memory that lies between pages nobody may touch.
 *
 * run_tests() runs each behaviour in every way, twice: after a fault comes the
 * next good chain, once with the bad one completed with length 0, once with it
 * abandoned.
 */
#ifndef TESTS_VRINGH_GUEST_H
#define TESTS_VRINGH_GUEST_H

#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "tests/check.h"
#include "virtio/access_iotlb.h"
#include "virtio/access_kern.h"
#include "virtio/access_user.h"
#include "virtio/driver.h"

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
	RING = 0, /* offsets in memory */
	TABLES = 16384,
	DATA = 32768,
	SPLIT = 49152, /* two ranges meet here */
	HALF = 16384,  /* bytes from there on */
	BYTES = SPLIT + HALF,
};

#define FEATURES                                                               \
	(1ull << VIRTIO_RING_F_INDIRECT_DESC | 1ull << VIRTIO_RING_F_EVENT_IDX)
#define NOWHERE 0x500000000000ull /* no range has it */

static const struct way *way;
static char *mem;
static uint64_t bias; /* to the guest's addresses */
static struct vringh_map map;
static struct vring ring;
static struct vringh_iov riov, wiov;
static struct vringh_piece rpieces[2], wpieces[2];
static uint16_t avail; /* the guest's index */
static bool by_abandon;

static inline bool trusts(void)
{
	return way->access == &vringh_kern;
}

static inline bool translates(void)
{
	return way->access == &vringh_iotlb;
}

#define expect(good, fmt, ...)                                                 \
	check(good, "%s, %s: " fmt "; last error: %s", way->name,              \
	      by_abandon ? "abandoned" : "completed", ##__VA_ARGS__,           \
	      vrh.error)

/* The guest's address of what is at @offset. */
static inline uint64_t at(uint32_t offset)
{
	return (uintptr_t)mem + offset + bias;
}

static inline void range(uint32_t from, uint32_t bytes, uint32_t perm)
{
	expect(!vringh_map_add(&map, at(from), at(from) + bytes - 1, mem + from,
			       perm),
	       "no range for %u", from);
}

static inline void fresh_with(uint64_t features, uint16_t base)
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

static inline void fresh(void)
{
	fresh_with(FEATURES, 0);
}

static inline void desc(struct vring_desc *d, uint64_t addr, uint32_t len,
			uint16_t flags, uint16_t next)
{
	*d = (struct vring_desc){ addr, len, flags, next };
}

static inline void put(uint16_t i, uint64_t addr, uint32_t len, uint16_t flags,
		       uint16_t next)
{
	desc(&ring.desc[i], addr, len, flags, next);
}

static inline struct vring_desc *indirect(void)
{
	return (struct vring_desc *)(mem + TABLES);
}

static inline void offer(uint16_t head)
{
	ring.avail->ring[avail++ & (SIZE - 1)] = head;
	ring.avail->idx = avail;
}

#define NEXT VRING_DESC_F_NEXT
#define WRITE VRING_DESC_F_WRITE
#define INDIRECT VRING_DESC_F_INDIRECT

static inline int get(uint32_t *head)
{
	return way->getdesc(&riov, &wiov, head);
}

/* A chain of 5 bytes to read and 7 to write goes through, as number @nr. */
static inline void take_good(void)
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
	expect(!way->complete(head, 7) &&
		       ring.used->idx == (uint16_t)(used + 1) &&
		       elem->id == 6 && elem->len == 7,
	       "the next good chain: complete");
	expect(get(&head) == 0, "then there is one more");
}

static inline void prepare_good(void)
{
	memcpy(mem + DATA + 4100, "hello", 5);
	memset(mem + DATA + 4200, 0, 8);
	put(6, at(DATA + 4100), 5, NEXT, 7);
	put(7, at(DATA + 4200), 7, WRITE, 0);
}

/* After a fault of the chain @head: it is got rid of, and all is well. */
static inline void recover(uint32_t head)
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

static inline void says(const char *text)
{
	expect(strstr(vringh_error(&vrh), text), "the message lacks '%s'",
	       text);
}

/* vringh_getdesc refuses, and says why. */
static inline void refuses(int err, const char *text)
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
static inline void cannot(int err, const char *text)
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
static inline uint32_t takes(uint32_t nr_r, uint32_t nr_w)
{
	uint32_t head;
	int got = get(&head);

	expect(got == 1, "vringh_getdesc gives %d, not 1", got);
	expect(riov.used == nr_r && wiov.used == nr_w,
	       "it finds %u readable and %u writable pieces", riov.used,
	       wiov.used);
	return head;
}

static inline void offer_indirect(uint64_t addr, uint32_t len, uint16_t flags)
{
	put(0, addr, len, INDIRECT | flags, 1);
	put(1, at(DATA), 4, 0, 0);
	offer(0);
}

/* ---- Running them ---- */

struct test {
	const char *name;
	void (*run)(void);
};

static inline bool make_memory(void)
{
	const size_t page = sysconf(_SC_PAGESIZE);
	const size_t bytes = (BYTES + page - 1) / page * page;
	char *all = mmap(NULL, bytes + 2 * page, PROT_NONE,
			 MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	if (all == MAP_FAILED)
		return false;
	mem = all + page;
	return !mprotect(mem, bytes, PROT_READ | PROT_WRITE);
}

static inline int run_tests(const struct test *tests, size_t n)
{
	if (!make_memory())
		return 1;
	for (size_t i = 0; i < n; i++) {
		for (size_t w = 0; w < sizeof(ways) / sizeof(*ways); w++) {
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

#endif
