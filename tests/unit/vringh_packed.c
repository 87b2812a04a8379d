// SPDX-License-Identifier: MIT
/*
 * The host of a packed ring that trusts no guest: chains and tables as a guest may
 * write them, right, wrong and hostile, in every kind of access. After each fault
 * comes the next good chain, once with the bad one given back, once abandoned.
 */
#include <pthread.h>
#include <string.h>

#include "lib/random.h"
#include "tests/check.h"
#include "virtio/vringh_packed.h"
#include "virtio/access_iotlb.h"
#include "virtio/access_kern.h"
#include "virtio/access_user.h"

#define BASE                                                                   \
	0x10000u /* where the guest sees its memory, but with vringh_kern */
#define SIZE 4u

/* The guest's memory; nothing beyond it is permitted. */
static struct {
	struct packed_desc desc[SIZE];
	union packed_event driver, device;
	struct packed_desc table[8];
	char buf[4096];
} mem __attribute__((aligned(4096)));

static struct vringh_packed p;
static struct vringh_map map;
static struct vringh_piece pieces[2][2];
static struct vringh_iov r, w;
static struct vringh_chain chain;

static const struct way {
	const char *name;
	bool ours; /* the guest's addresses are ours */
	int (*init)(uint64_t features);
	int (*getdesc)(struct vringh_iov *r, struct vringh_iov *w);
	ssize_t (*pull)(void *dst, size_t len);
	ssize_t (*push)(const void *src, size_t len);
	int (*complete)(uint32_t len);
	int (*in_order)(const struct vringh_chain *chains, uint32_t n);
	int (*need_notify)(void);
	int (*enable)(void);
	int (*disable)(void);
} * way;

static uint64_t at(const void *ptr)
{
	return way->ours ? (uintptr_t)ptr :
			   BASE + (uint64_t)((const char *)ptr - (char *)&mem);
}

#define WAY(id, a)                                                             \
	static int id##_init(uint64_t features)                                \
	{                                                                      \
		return vringh_packed_init(a, &p, features, SIZE, at(mem.desc), \
					  at(&mem.driver), at(&mem.device),    \
					  &map);                               \
	}                                                                      \
	static int id##_getdesc(struct vringh_iov *riov,                       \
				struct vringh_iov *wiov)                       \
	{                                                                      \
		return vringh_packed_getdesc(a, &p, riov, wiov, &chain);       \
	}                                                                      \
	static ssize_t id##_pull(void *dst, size_t len)                        \
	{                                                                      \
		return vringh_iov_pull(a, &p.vrh, &r, dst, len);               \
	}                                                                      \
	static ssize_t id##_push(const void *src, size_t len)                  \
	{                                                                      \
		return vringh_iov_push(a, &p.vrh, &w, src, len);               \
	}                                                                      \
	static int id##_complete(uint32_t len)                                 \
	{                                                                      \
		return vringh_packed_complete(a, &p, &chain, len);             \
	}                                                                      \
	static int id##_in_order(const struct vringh_chain *chains,            \
				 uint32_t n)                                   \
	{                                                                      \
		return vringh_packed_complete_in_order(a, &p, chains, n, 5);   \
	}                                                                      \
	static int id##_need_notify(void)                                      \
	{                                                                      \
		return vringh_packed_need_notify(a, &p);                       \
	}                                                                      \
	static int id##_enable(void)                                           \
	{                                                                      \
		return vringh_packed_notify_enable(a, &p);                     \
	}                                                                      \
	static int id##_disable(void)                                          \
	{                                                                      \
		return vringh_packed_notify_disable(a, &p);                    \
	}
WAY(kern, &vringh_kern)
WAY(user, &vringh_user)
WAY(iotlb, &vringh_iotlb)

#define CALLS(id)                                                              \
	id##_init, id##_getdesc, id##_pull, id##_push, id##_complete,          \
		id##_in_order, id##_need_notify, id##_enable, id##_disable
static const struct way ways[] = {
	{ "kern", true, CALLS(kern) },
	{ "user", false, CALLS(user) },
	{ "iotlb", false, CALLS(iotlb) },
};

#define INDIRECT (1ull << VIRTIO_RING_F_INDIRECT_DESC)
#define EVENTS (1ull << VIRTIO_RING_F_EVENT_IDX)

#define NEXT VRING_DESC_F_NEXT
#define WRITE VRING_DESC_F_WRITE
#define TABLE VRING_DESC_F_INDIRECT
#define FIRST PACKED_DESC_F_AVAIL /* available in the first lap */
#define SECOND PACKED_DESC_F_USED /* and in the second */

static void write_desc(struct packed_desc *desc, uint64_t addr, uint32_t len,
		       uint16_t id, uint16_t flags)
{
	desc->addr = packed64(addr);
	desc->head.len = packed32(len);
	desc->head.id = packed16(id);
	desc->head.flags = packed16(flags);
}

static void put(uint32_t slot, uint32_t len, uint16_t id, uint16_t flags)
{
	write_desc(&mem.desc[slot], at(mem.buf + 100 * slot), len, id, flags);
}

static void fresh(uint64_t features)
{
	int err;

	memset(&mem, 0, sizeof(mem));
	for (unsigned i = 0; i < sizeof(mem.buf); i++)
		mem.buf[i] = i % 251;
	vringh_iov_cleanup(&r);
	vringh_iov_cleanup(&w);
	vringh_iov_init(&r, pieces[0], 2);
	vringh_iov_init(&w, pieces[1], 2);
	err = way->init(features);
	check(!err, "%s: init says %d: %s", way->name, err,
	      vringh_error(&p.vrh));
}

/* What getdesc says now: the result, how much was taken, and whose. */
static void takes(const char *what, int result, unsigned n, unsigned id)
{
	int got = way->getdesc(&r, &w);

	check(got == result && chain.n == n && (!n || chain.id == id),
	      "%s, %s: %d (%s), %u taken, id %u; not %d, %u, %u", way->name,
	      what, got, got < 0 ? vringh_error(&p.vrh) : "", chain.n, chain.id,
	      result, n, id);
}

static void used_is(const char *what, uint32_t slot, uint32_t len, uint16_t id,
		    uint16_t flags)
{
	const union packed_head head = mem.desc[slot].head;

	check(packed32(head.len) == len && packed16(head.id) == id &&
		      packed16(head.flags) == flags,
	      "%s, %s: len %u, id %u, flags %x", way->name, what,
	      packed32(head.len), packed16(head.id), packed16(head.flags));
}

/* ---- What is right ---- */

static void good(void)
{
	char bytes[64];

	fresh(0);
	takes("nothing there", 0, 0, 0);
	put(0, 10, 3, FIRST);
	takes("one readable", 1, 1, 3);
	check(vringh_iov_left(&r) == 10 && !vringh_iov_left(&w), "%s: lists",
	      way->name);
	check(way->pull(bytes, 64) == 10 && !memcmp(bytes, mem.buf, 10),
	      "%s: other bytes", way->name);
	check(!way->complete(0), "not completed");
	used_is("one readable", 0, 0, 3, 0x8080);
	takes("nothing more", 0, 0, 0);
	check(way->complete(0) == -EINVAL, "what was not taken is completed");
	report("vringh_packed, %s: one buffer", way->name);
}

static void chains(void)
{
	char bytes[64] = "what the host wrote";

	fresh(0);
	put(0, 20, 9, FIRST | NEXT);
	put(1, 0, 9, FIRST | NEXT | WRITE);
	put(2, 30, 2, FIRST | WRITE);
	takes("a chain of three", 1, 3, 2);
	check(vringh_iov_left(&r) == 20 && vringh_iov_left(&w) == 30 &&
		      w.used == 1,
	      "%s: %u readable, %u writable", way->name,
	      (unsigned)vringh_iov_left(&r), (unsigned)vringh_iov_left(&w));
	check(way->push(bytes, 20) == 20 && !memcmp(bytes, mem.buf + 200, 20),
	      "%s: other bytes", way->name);
	put(3, 40, 1, FIRST);
	put(0, 50, 1, SECOND);
	takes("one more", 1, 1, 1);
	takes("the ring is full of what was taken", 0, 0, 0);
	chain = (struct vringh_chain){ .id = 1, .n = 1 };
	check(!way->complete(0), "not completed");
	used_is("completed first", 0, 0, 1, 0x8080);
	chain = (struct vringh_chain){ .id = 2, .n = 3 };
	check(!way->complete(20), "not completed");
	used_is("a chain, where the next was due", 1, 20, 2, 0x8080 | WRITE);
	put(0, 60, 3, SECOND);
	takes("the second lap", 1, 1, 3);
	check(!way->complete(1), "not completed");
	used_is("used in the second lap", 0, 1, 3, WRITE);
	report("vringh_packed, %s: chains, out of order, round the end",
	       way->name);

	fresh(0);
	for (uint32_t i = 0; i < SIZE; i++)
		put(i, 1, 1, FIRST | (i < SIZE - 1 ? NEXT : 0));
	takes("as long as the ring", 1, SIZE, 1);
	check(r.used == SIZE, "%u buffers", r.used);
	check(!way->complete(0), "not completed");
	put(0, 7, 1, SECOND);
	takes("what follows it", 1, 1, 1);
	report("vringh_packed, %s: a chain as long as the whole ring",
	       way->name);
}

static void tables(void)
{
	fresh(INDIRECT);
	write_desc(&mem.table[0], at(mem.buf), 11, 77, NEXT);
	write_desc(&mem.table[1], at(mem.buf), 12, 88, TABLE);
	write_desc(&mem.table[2], at(mem.buf), 13, 99, NEXT | WRITE | 0x8080);
	write_desc(&mem.desc[0], at(mem.table), 3 * 16, 2,
		   FIRST | TABLE | WRITE);
	takes("a table", 1, 1, 2);
	check(vringh_iov_left(&r) == 23 && vringh_iov_left(&w) == 13,
	      "%s: %u readable, %u writable", way->name,
	      (unsigned)vringh_iov_left(&r), (unsigned)vringh_iov_left(&w));
	check(!way->complete(13), "not completed");
	used_is("a table", 0, 13, 2, 0x8080 | WRITE);
	report("vringh_packed, %s: a table is a chain, whatever flags it has",
	       way->name);
}

static void in_order(void)
{
	struct vringh_chain taken[3];

	fresh(1ull << VIRTIO_F_IN_ORDER);
	put(0, 1, 0, FIRST);
	put(1, 1, 9, FIRST | NEXT);
	put(2, 1, 1, FIRST | WRITE);
	put(3, 1, 3, FIRST | WRITE);
	for (unsigned i = 0; i < 3; i++) {
		check(way->getdesc(&r, &w) == 1, "not taken");
		taken[i] = chain;
	}
	check(!way->in_order(taken, 2), "not completed");
	used_is("two chains by one", 0, 5, 1, 0x8080 | WRITE);
	check(!way->in_order(taken + 2, 1), "not completed");
	used_is("the next stands behind them", 3, 5, 3, 0x8080 | WRITE);
	check(way->in_order(taken, 1) == -EINVAL, "completed twice");
	check(way->in_order(taken, 0) == -EINVAL, "none completed");
	report("vringh_packed, %s: several completed by one", way->name);
}

/* ---- What is wrong ---- */

static void wrong_start(void)
{
	fresh(0);
	put(0, 1, 1, 0);
	takes("no flag", 0, 0, 0);
	put(0, 1, 1, 0x8080);
	takes("used already", 0, 0, 0);
	put(0, 1, 1, SECOND);
	takes("available in the second lap, and it is the first", 0, 0, 0);
	report("vringh_packed, %s: a wrong wrap counter is nothing to take",
	       way->name);
}

static void no_end(void)
{
	fresh(0);
	for (uint32_t i = 0; i < SIZE; i++)
		put(i, 1, 1, FIRST | NEXT);
	takes("NEXT for ever", -EPROTO, 0, 0);
	takes("and again", -EPROTO, 0, 0);
	put(2, 1, 1, SECOND | NEXT);
	takes("into what is not available", -EPROTO, 0, 0);
	put(2, 1, 1, FIRST);
	takes("once it has an end", 1, 3, 1);
	/* beside one descriptor that is outstanding */
	fresh(0);
	put(0, 1, 3, FIRST);
	takes("one", 1, 1, 3);
	for (uint32_t i = 1; i < SIZE; i++)
		put(i, 1, 1, FIRST | NEXT);
	put(0, 1, 1, SECOND);
	takes("longer than what is left of the ring", -EPROTO, 0, 0);
	report("vringh_packed, %s: a chain without an end", way->name);
}

static void write_tables(void)
{
	write_desc(&mem.table[0], at(mem.buf), 1, 0, WRITE);
	write_desc(&mem.table[1], at(mem.buf), 1, 0, 0);
}

/* One fault: what the guest writes, what getdesc says, and what it took up. */
static const struct fault {
	const char *name;
	int err;
	unsigned n;
	uint64_t features;
	struct {
		uint64_t addr; /* 0: a buffer; 1: the table; else the address */
		uint32_t len;
		uint16_t id, flags;
	} desc[3];
} faults[] = {
	{ "id as large as the ring", -EINVAL, 1, 0, { { 0, 1, SIZE, FIRST } } },
	{ "id 65535", -EINVAL, 1, 0, { { 0, 1, 65535, FIRST } } },
	{ "readable after writable",
	  -EINVAL,
	  2,
	  0,
	  { { 0, 1, 1, FIRST | WRITE | NEXT }, { 0, 1, 1, FIRST } } },
	{ "readable after writable, of three",
	  -EINVAL,
	  3,
	  0,
	  { { 0, 1, 1, FIRST | WRITE | NEXT },
	    { 0, 1, 1, FIRST | NEXT },
	    { 0, 1, 1, FIRST | WRITE } } },
	{ "past the end of addresses",
	  -EOVERFLOW,
	  1,
	  0,
	  { { UINT64_MAX - 2, 4, 1, FIRST } } },
	{ "a table, not negotiated",
	  -EINVAL,
	  1,
	  0,
	  { { 1, 16, 1, FIRST | TABLE } } },
	{ "a table with NEXT",
	  -EINVAL,
	  2,
	  INDIRECT,
	  { { 1, 16, 1, FIRST | TABLE | NEXT }, { 0, 1, 1, FIRST } } },
	{ "a table at the end of a chain",
	  -EINVAL,
	  2,
	  INDIRECT,
	  { { 0, 1, 1, FIRST | NEXT }, { 1, 16, 1, FIRST | TABLE } } },
	{ "a table of length 0",
	  -EINVAL,
	  1,
	  INDIRECT,
	  { { 1, 0, 1, FIRST | TABLE } } },
	{ "a table of one and a half",
	  -EINVAL,
	  1,
	  INDIRECT,
	  { { 1, 24, 1, FIRST | TABLE } } },
	{ "a huge table",
	  -E2BIG,
	  1,
	  INDIRECT,
	  { { 1, 0xfffffff0, 1, FIRST | TABLE } } },
	{ "a table past the end of addresses",
	  -EOVERFLOW,
	  1,
	  INDIRECT,
	  { { UINT64_MAX - 15, 32, 1, FIRST | TABLE } } },
	{ "readable after writable in a table",
	  -EINVAL,
	  1,
	  INDIRECT,
	  { { 1, 32, 1, FIRST | TABLE } } },
	{ "a table longer than a chain may be",
	  -E2BIG,
	  1,
	  INDIRECT,
	  { { 1, 16 * (SIZE + 1), 1, FIRST | TABLE } } },
};

static void one_fault(const struct fault *f, bool abandon)
{
	fresh(f->features);
	if (strstr(f->name, "longer"))
		for (unsigned i = 0; i < 8; i++)
			write_desc(&mem.table[i], at(mem.buf), 1, 0, 0);
	else
		write_tables();
	for (uint32_t i = 0; i < f->n; i++)
		write_desc(&mem.desc[i],
			   !f->desc[i].addr	? at(mem.buf) :
			   f->desc[i].addr == 1 ? at(mem.table) :
						  f->desc[i].addr,
			   f->desc[i].len, f->desc[i].id, f->desc[i].flags);
	takes(f->name, f->err, f->n, f->desc[f->n - 1].id);
	check(*vringh_error(&p.vrh), "%s: no word about it", f->name);
	check(!r.used && !w.used, "%s: the lists are not empty", f->name);
	if (abandon) {
		vringh_packed_abandon(&p, &chain);
		put(0, 9, 2, FIRST);
		takes("what is there in its place", 1, 1, 2);
	} else {
		check(!way->complete(0), "%s: not given back", f->name);
		used_is(f->name, 0, 0, f->desc[f->n - 1].id, 0x8080);
		put(f->n, 9, 2, FIRST);
		takes("what follows", 1, 1, 2);
	}
	check(vringh_iov_left(&r) == 9, "%s: the next one is another", f->name);
}

static void all_faults(void)
{
	for (unsigned i = 0; i < sizeof(faults) / sizeof(*faults); i++) {
		one_fault(&faults[i], false);
		one_fault(&faults[i], true);
		report("vringh_packed, %s: %s", way->name, faults[i].name);
	}
}

static void repeated_id(void)
{
	fresh(0);
	put(0, 1, 2, FIRST);
	put(1, 1, 2, FIRST);
	takes("one", 1, 1, 2);
	takes("the same id again", 1, 1, 2);
	check(!way->complete(0) && !way->complete(0), "not completed");
	check(way->complete(0) == -EINVAL, "completed once too often");
	report("vringh_packed, %s: an id that is repeated harms the guest alone",
	       way->name);
}

static void out_of_reach(void)
{
	char byte;

	fresh(INDIRECT);
	if (way->ours)
		return;
	write_desc(&mem.desc[0], BASE - 8, 16, 1, FIRST);
	takes("a buffer out of reach", 1, 1, 1);
	check(way->pull(&byte, 1) == -EFAULT, "%s: it was read", way->name);
	write_desc(&mem.desc[1], at((char *)&mem + sizeof(mem) - 1), 2, 1,
		   FIRST);
	takes("a buffer past the end", 1, 1, 1);
	check(way->pull(&byte, 1) == 1 && way->pull(&byte, 1) == -EFAULT,
	      "%s: it was read", way->name);
	write_desc(&mem.desc[2], BASE - 160, 32, 1, FIRST | TABLE);
	takes("a table out of reach", -EFAULT, 0, 0);
	takes("and again", -EFAULT, 0, 0);
	write_desc(&mem.desc[2], at(mem.table), 16, 1, FIRST | TABLE);
	write_tables();
	takes("once it is there", 1, 1, 1);
	report("vringh_packed, %s: out of reach", way->name);
}

static void abandoned(void)
{
	fresh(0);
	for (uint32_t lap = 0; lap < 6; lap++)
		for (uint32_t i = 0; i < SIZE; i++) {
			put(i, 1 + i, i, lap % 2 ? SECOND : FIRST);
			takes("one", 1, 1, i);
			vringh_packed_abandon(&p, &chain);
			takes("the same again", 1, 1, i);
			check(!way->complete(0), "not completed");
			used_is("in its lap", i, 0, i, lap % 2 ? 0 : 0x8080);
		}
	report("vringh_packed, %s: abandoned, and taken again, lap by lap",
	       way->name);
}

static void notifications(void)
{
	fresh(EVENTS);
	check(way->enable() == 1, "%s: something to take", way->name);
	check(packed16(mem.device.off_wrap) == 0x8000 &&
		      packed16(mem.device.flags) == PACKED_EVENT_DESC,
	      "%s: asks at %x, %x", way->name, packed16(mem.device.off_wrap),
	      packed16(mem.device.flags));
	put(0, 1, 1, FIRST);
	check(way->enable() == 0, "%s: safe to sleep", way->name);
	check(!way->disable() &&
		      packed16(mem.device.flags) == PACKED_EVENT_DISABLE,
	      "%s: still asks", way->name);
	takes("one", 1, 1, 1);
	check(way->need_notify() == 0, "%s: tells of nothing", way->name);
	mem.driver.off_wrap = packed16(0x8000);
	mem.driver.flags = packed16(PACKED_EVENT_DESC);
	check(!way->complete(0) && way->need_notify() == 1, "%s: does not tell",
	      way->name);
	check(way->need_notify() == 0, "%s: tells twice", way->name);
	put(1, 1, 1, FIRST);
	takes("one", 1, 1, 1);
	check(!way->complete(0) && way->need_notify() == 0,
	      "%s: tells of another", way->name);

	fresh(0);
	check(way->enable() == 1 && packed16(mem.device.flags) == 0,
	      "%s: asks for one descriptor, which was not negotiated",
	      way->name);
	put(0, 1, 1, FIRST);
	takes("one", 1, 1, 1);
	mem.driver.off_wrap = packed16(3);
	mem.driver.flags = packed16(PACKED_EVENT_DESC);
	check(!way->complete(0) && way->need_notify() == 1,
	      "%s: believes an index that was not negotiated", way->name);
	report("vringh_packed, %s: notifications", way->name);
}

static void starting(void)
{
	fresh(0);
	check(vringh_packed_init(&vringh_kern, &p, 1, SIZE, 0, 0, 0, NULL) ==
		      -EINVAL,
	      "a feature that nobody knows");
	for (unsigned i = 0; i < 2; i++)
		check(vringh_packed_init(&vringh_kern, &p, 0, i ? 32769 : 0, 0,
					 0, 0, NULL) == -EINVAL,
		      "size %u", i ? 32769 : 0);
	check(vringh_packed_init(&vringh_kern, &p, 0, 32768, 16, 4, 4, NULL) ==
		      0,
	      "size 32768: %s", vringh_error(&p.vrh));
	check(vringh_packed_init(&vringh_kern, &p, 0, 3, 8, 4, 4, NULL) ==
			      -EINVAL &&
		      vringh_packed_init(&vringh_kern, &p, 0, 3, 16, 2, 4,
					 NULL) == -EINVAL &&
		      vringh_packed_init(&vringh_kern, &p, 0, 3, 16, 4, 6,
					 NULL) == -EINVAL,
	      "not aligned");
	check(vringh_packed_init(&vringh_user, &p, 0, SIZE, BASE + 0x10000,
				 BASE, BASE, &map) == -EFAULT,
	      "out of reach: %s", vringh_error(&p.vrh));
	vringh_map_free(&map);
	check(!vringh_map_add(&map, BASE, BASE + 4095, &mem, VRINGH_PERM_READ),
	      "no map");
	check(vringh_packed_init(&vringh_iotlb, &p, 0, SIZE, BASE, BASE + 64,
				 BASE + 68, &map) == -EACCES,
	      "descriptors that may not be written");
	report("vringh_packed: what it does not start on");
}

/* ---- A guest that changes what is read ---- */

static bool stop;

static void *restless(void *unused)
{
	uint64_t state = RANDOM_SEED;

	(void)unused;
	while (!__atomic_load_n(&stop, __ATOMIC_RELAXED)) {
		struct packed_desc *desc = &mem.desc[random32(&state) % SIZE];
		const union packed_head head = {
			.len = random32(&state) % 4 * 16,
			.id = random32(&state) % (SIZE + 1),
			.flags = packed16(random32(&state) & 0x8087),
		};

		WRITE_ONCE(desc->addr, packed64(at(mem.table)));
		WRITE_ONCE(desc->head.word, head.word);
	}
	return NULL;
}

static void changing(void)
{
	pthread_t guest;
	char bytes[64];

	fresh(INDIRECT);
	write_tables();
	stop = false;
	if (pthread_create(&guest, NULL, restless, NULL))
		return;
	for (unsigned i = 0; i < 100000; i++) {
		const uint32_t before = p.outstanding;
		const int got = way->getdesc(&r, &w);

		check(p.outstanding == before + chain.n &&
			      p.outstanding <= SIZE,
		      "%u outstanding, and %u more", before, chain.n);
		if (got == 1) {
			check(chain.n && chain.id < SIZE &&
				      r.used + w.used <= SIZE,
			      "%u descriptors, id %u, %u buffers", chain.n,
			      chain.id, r.used + w.used);
			way->pull(bytes, sizeof(bytes));
		}
		if (chain.n && i % 3)
			way->complete(i % 2);
		else if (chain.n)
			vringh_packed_abandon(&p, &chain);
	}
	__atomic_store_n(&stop, true, __ATOMIC_RELAXED);
	pthread_join(guest, NULL);
	report("vringh_packed, %s: a guest that changes what is read",
	       way->name);
}

int main(void)
{
	check(!vringh_map_add(&map, BASE, BASE + sizeof(mem) - 1, &mem, 3),
	      "no map");
	for (way = ways; way < ways + 3; way++) {
		good();
		chains();
		tables();
		in_order();
		wrong_start();
		no_end();
		all_faults();
		repeated_id();
		out_of_reach();
		abandoned();
		notifications();
		changing();
	}
	way = ways;
	starting();
	vringh_map_free(&map);
	return finish();
}
