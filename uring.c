// SPDX-License-Identifier: MIT
/*
 * uring: io_uring's pair of rings.
 *
 * The guest fills an entry of 64 bytes, whose number is in an array; the host
 * answers with an entry of 16 bytes. Each ring has a tail, which says how far it is
 * filled, and a head, how far it is emptied. Entries, flags and indexes are where
 * Linux has them (io_uring.h of its user interface).
 *
 *	sqe[0..size-1]	64 bytes, a cache line each; written by the guest
 *	array[]		4 bytes each: which sqe is next; written by the guest,
 *			once: it takes them in turn, as liburing does
 *	sq.head		a line of its own; written by the host
 *	sq.tail		a line of its own; written by the guest
 *	cqe[0..size-1]	16 bytes each, 4 to a line; written by the host
 *	cq.head		a line of its own; written by the guest
 *	cq.tail		a line of its own; written by the host
 *	sq_flags	a line of its own; written by the host: wants a kick
 *	cq_flags	a line of its own; written by the guest: wants a call
 *
 * A side that fills a ring publishes its tail once for --param entries, or when it
 * has nothing else to do, as a program does that submits several at once. A side
 * that empties one keeps the tail as it last saw it. Nobody has to read a head here:
 * as many are under way as there are entries, so an entry is free once its answer is
 * there.
 *
 * Traffic: a line goes to the host for each buffer, and one comes back for 4; for a
 * batch the line of each tail.
 *
 * Edges:
 *	A  guest to host: sqe, then sq.tail
 *	B  host to guest: cqe, then cq.tail
 *	C  sq.tail moved, against NEED_WAKEUP set
 *	D  cq.tail moved, against EVENTFD_DISABLED cleared
 */
#include "main.h"
#include "harness/batch.h"

#define SQ_NEED_WAKEUP (1 << 0)
#define CQ_EVENTFD_DISABLED (1 << 0)

#define OP_READ 22

struct sqe {
	uint8_t opcode;
	uint8_t flags;
	uint16_t ioprio;
	int32_t fd;
	uint64_t off;
	uint64_t addr;
	uint32_t len;
	uint32_t rw_flags;
	uint64_t user_data;
	uint64_t rest[3];
};
_Static_assert(sizeof(struct sqe) == 64 && offsetof(struct sqe, addr) == 16 &&
		       offsetof(struct sqe, len) == 24 &&
		       offsetof(struct sqe, user_data) == 32,
	       "as Linux has it");

struct cqe {
	uint64_t user_data;
	int32_t res; /* bytes, or -errno */
	uint32_t flags;
};
_Static_assert(sizeof(struct cqe) == 16, "as Linux has it");

struct indexes {
	uint32_t head __attribute__((aligned(CACHE_LINE)));
	uint32_t tail __attribute__((aligned(CACHE_LINE)));
};

struct rings {
	struct indexes sq, cq;
	uint32_t sq_flags __attribute__((aligned(CACHE_LINE)));
	uint32_t cq_flags __attribute__((aligned(CACHE_LINE)));
} __cache_aligned;
ASSERT_APART(struct rings);

/* Entries to prefetch ahead. */
#define SQE_AHEAD 8
#define CQE_AHEAD (PREFETCH_AHEAD / sizeof(struct cqe))

static struct {
	struct sqe *sqe;
	uint32_t *array;
	struct cqe *cqe;
	struct rings *rings;
	uint32_t mask;
	uint32_t batch; /* entries to a tail */
} __cache_aligned ring;

struct name {
	void *data;
	void *buf;
};

static struct guest {
	uint32_t sq_tail;   /* next to add */
	uint32_t published; /* rings->sq.tail as last written */
	struct name *names; /* by user_data */
	uint32_t cq_head;   /* next to get back */
	uint32_t cq_seen;   /* rings->cq.tail as last read */
	uint32_t kicked;    /* sq_tail at the last look at sq_flags */
} __cache_aligned guest;
ASSERT_APART(struct guest);

static struct host {
	uint32_t head;	    /* next to use, and to answer */
	uint32_t sq_seen;   /* rings->sq.tail as last read */
	uint32_t published; /* rings->cq.tail as last written */
	uint32_t called;    /* head at the last look at cq_flags */
} __cache_aligned host;
ASSERT_APART(struct host);

const struct ring_info ring_info = {
	.name = RING_NAME,
	.min_size = 1,
	.max_size = 32768, /* Linux's limit */
	.power_of_two = true,
	.max_len = INT32_MAX, /* res has a sign */
	.addresses = true,
	.notifies = true,
	.flags = true,
	.completes = true,
	.batches = true,
	.param = "batch",
	.param_divisor = 1,
};

void alloc_ring(void)
{
	const uint32_t size = config.ring_size, origin = config.origin;

	ring.sqe = alloc_pages(size * sizeof(*ring.sqe));
	ring.array = alloc_pages(size * sizeof(*ring.array));
	ring.cqe = alloc_pages(size * sizeof(*ring.cqe));
	ring.rings = alloc_pages(sizeof(*ring.rings));
	ring.mask = size - 1;
	ring.batch = batch_size(32);
	for (uint32_t i = 0; i < size; i++)
		ring.array[i] = i;
	*ring.rings = (struct rings){
		.sq = { origin, origin },
		.cq = { origin, origin },
		.cq_flags = CQ_EVENTFD_DISABLED,
	};
	guest = (struct guest){
		.names = alloc_pages(size * sizeof(*guest.names)),
		.sq_tail = origin,
		.published = origin,
		.cq_head = origin,
		.cq_seen = origin,
		.kicked = origin,
	};
	host = (struct host){
		.head = origin,
		.sq_seen = origin,
		.published = origin,
		.called = origin,
	};
}

/* ---- guest side ---- */

static inline void publish_sq(void)
{
	guest.published = guest.sq_tail;
	/*
	 * A.release: sqes and the buffers before the tail. Pairs with
	 * A.acquire in find_sqe.
	 */
	smp_store_release(&ring.rings->sq.tail, guest.sq_tail);
}

/* Nothing is held back from here on. */
static inline void publish_rest_of_sq(void)
{
	if (guest.published != guest.sq_tail)
		publish_sq();
}

int add_inbuf(unsigned len, void *buf, void *data)
{
	const uint32_t tail = guest.sq_tail, slot = tail & ring.mask;
	struct sqe *sqe = &ring.sqe[slot];

	if (tail - guest.cq_head > ring.mask) {
		publish_rest_of_sq();
		return -1;
	}
	prefetch_for_write(&ring.sqe[(tail + SQE_AHEAD) & ring.mask]);
	/* answers come in order: a program without that has a list of free ones */
	guest.names[slot] = (struct name){ data, buf };
	WRITE_ONCE(sqe->opcode, OP_READ);
	WRITE_ONCE(sqe->addr, (uintptr_t)buf);
	WRITE_ONCE(sqe->len, len);
	WRITE_ONCE(sqe->user_data, slot);
	guest.sq_tail = tail + 1;
	if (guest.sq_tail - guest.published >= ring.batch)
		publish_sq();
	return 0;
}

static inline bool find_cqe(void)
{
	if (guest.cq_head != guest.cq_seen)
		return true;
	/*
	 * B.acquire: the tail before cqes, and before the buffers are the
	 * guest's again. Pairs with B.release in publish_cq.
	 */
	guest.cq_seen = smp_load_acquire(&ring.rings->cq.tail);
	return guest.cq_head != guest.cq_seen;
}

void *get_buf(unsigned *lenp, void **bufp)
{
	const uint32_t head = guest.cq_head;
	const struct cqe *cqe = &ring.cqe[head & ring.mask];
	const struct name *name;

	if (!find_cqe()) {
		publish_rest_of_sq();
		return NULL;
	}
	prefetch(&ring.cqe[(head + CQE_AHEAD) & ring.mask]);
	*lenp = READ_ONCE(cqe->res);
	name = &guest.names[READ_ONCE(cqe->user_data) & ring.mask];
	guest.cq_head = head + 1;
	if (guest.cq_head == guest.cq_seen)
		WRITE_ONCE(ring.rings->cq.head, guest.cq_head);
	*bufp = name->buf;
	return name->data;
}

void disable_call(void)
{
	WRITE_ONCE(ring.rings->cq_flags, CQ_EVENTFD_DISABLED);
}

bool used_empty(void)
{
	publish_rest_of_sq();
	return guest.cq_head == guest.cq_seen &&
	       guest.cq_head == READ_ONCE(ring.rings->cq.tail);
}

bool enable_call(void)
{
	WRITE_ONCE(ring.rings->cq_flags, 0);
	/*
	 * D.arm: the request before another look at the ring. Pairs with D.call
	 * in call_used.
	 */
	smp_mb();
	return used_empty();
}

void kick_available(void)
{
	const bool added = guest.kicked != guest.sq_tail;

	publish_rest_of_sq();
	guest.kicked = guest.sq_tail;
	/*
	 * C.kick: the tail before a look at the request. Pairs with C.arm in
	 * enable_kick.
	 */
	smp_mb();
	if (added && READ_ONCE(ring.rings->sq_flags) & SQ_NEED_WAKEUP)
		kick();
}

/* ---- host side ---- */

static inline void publish_cq(void)
{
	host.published = host.head;
	WRITE_ONCE(ring.rings->sq.head, host.head);
	/*
	 * B.release: cqes, and the end of all use of sqes and buffers, before
	 * the tail. Pairs with B.acquire in find_cqe.
	 */
	smp_store_release(&ring.rings->cq.tail, host.head);
}

/* Nothing is held back from here on. */
static inline void publish_rest_of_cq(void)
{
	if (host.published != host.head)
		publish_cq();
}

void disable_kick(void)
{
	WRITE_ONCE(ring.rings->sq_flags, 0);
}

bool avail_empty(void)
{
	publish_rest_of_cq();
	return host.head == host.sq_seen &&
	       host.head == READ_ONCE(ring.rings->sq.tail);
}

bool enable_kick(void)
{
	WRITE_ONCE(ring.rings->sq_flags, SQ_NEED_WAKEUP);
	/*
	 * C.arm: the request before another look at the ring. Pairs with C.kick
	 * in kick_available.
	 */
	smp_mb();
	return avail_empty();
}

static inline bool find_sqe(void)
{
	if (host.head != host.sq_seen)
		return true;
	/*
	 * A.acquire: the tail before sqes. Pairs with A.release in
	 * publish_sq.
	 */
	host.sq_seen = smp_load_acquire(&ring.rings->sq.tail);
	return host.head != host.sq_seen;
}

bool use_buf(unsigned *lenp, void **bufp)
{
	const uint32_t head = host.head, slot = head & ring.mask;
	struct cqe *cqe = &ring.cqe[slot];
	const struct sqe *sqe;
	uint32_t ahead = head + SQE_AHEAD;

	if (!find_sqe()) {
		publish_rest_of_cq();
		return false;
	}
	/* only what is there, or the guest would miss what it is to fill */
	if (host.sq_seen - head > SQE_AHEAD)
		prefetch(&ring.sqe[READ_ONCE(ring.array[ahead & ring.mask]) &
				   ring.mask]);
	prefetch_for_write(&ring.cqe[(head + CQE_AHEAD) & ring.mask]);
	sqe = &ring.sqe[READ_ONCE(ring.array[slot]) & ring.mask];
	*lenp = READ_ONCE(sqe->len);
	give_host(bufp, (void *)(uintptr_t)READ_ONCE(sqe->addr));
	WRITE_ONCE(cqe->user_data, READ_ONCE(sqe->user_data));
	WRITE_ONCE(cqe->res, *lenp - 1);
	host.head = head + 1;
	if (host.head - host.published >= ring.batch)
		publish_cq();
	return true;
}

void call_used(void)
{
	const bool used = host.called != host.head;

	publish_rest_of_cq();
	host.called = host.head;
	/*
	 * D.call: the tail before a look at the request. Pairs with D.arm in
	 * enable_call.
	 */
	smp_mb();
	if (used && !(READ_ONCE(ring.rings->cq_flags) & CQ_EVENTFD_DISABLED))
		call();
}
