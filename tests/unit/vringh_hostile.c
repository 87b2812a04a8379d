// SPDX-License-Identifier: MIT
/*
 * A guest that rewrites descriptors, tables, entries and indexes while the host
 * reads them: a thread does nothing else, for a million chains (CHECK_SHORT: a
 * tenth, but never with AddressSanitizer). Whatever comes of it, the host gets
 * an answer, touches nothing outside the ranges (they lie between pages that
 * nobody may touch), never has more chains than the ring holds, and ends.
 */
#define _GNU_SOURCE
#include <pthread.h>
#include <sched.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

#include "lib/clock.h"
#include "tests/check.h"
#include "lib/random.h"
#include "virtio/access_iotlb.h"
#include "virtio/access_user.h"

#if defined(__SANITIZE_ADDRESS__)
#define ASAN
#elif defined(__SANITIZE_THREAD__)
#define TSAN
#elif defined(__has_feature)
#if __has_feature(address_sanitizer)
#define ASAN
#elif __has_feature(thread_sanitizer)
#define TSAN
#endif
#endif

enum {
	SIZE = 16,
	TABLES = 8192, /* offsets in the guest's memory */
	DATA = 16384,
	BYTES = 32768,
	TABLE_SIZE = 32,
};

static char *mem;
static struct vring ring;
static bool stop;

#define GUEST 0x10000u /* where the guest sees it */

/* Mostly what passes most checks, so that all depths are reached. */
static void rewrite_desc(struct vring_desc *desc, bool in_table,
			 uint64_t *state)
{
	uint32_t r = random32(state), kind = random32(state) % 16;
	uint64_t addr = GUEST + DATA + r % (BYTES - DATA);
	uint32_t len = random32(state) % 64;
	uint16_t flags = random32(state) % 4;

	if (kind == 0)
		addr = (uint64_t)r << 32;
	if (kind == 1)
		len = random32(state);
	if (kind == 2)
		addr = -(uint64_t)(r % 256);
	if (kind == 3 && !in_table)
		addr = GUEST + TABLES + r % 4096;
	if (kind < 6 && kind > 2 && (!in_table || kind == 3)) {
		addr = GUEST + TABLES + r % 4096;
		flags = VRING_DESC_F_INDIRECT;
		len = random32(state) % TABLE_SIZE * 16 +
		      (kind == 5 && r % 8 == 0);
	}
	WRITE_ONCE(desc->addr, addr);
	WRITE_ONCE(desc->len, len);
	WRITE_ONCE(desc->flags, flags);
	WRITE_ONCE(desc->next, r >> 8 & (r % 64 ? SIZE - 1 : 0xffff));
}

static void *rewrite(void *unused)
{
	struct vring_desc *tables = (struct vring_desc *)(mem + TABLES);
	uint64_t state = RANDOM_SEED;

	while (!READ_ONCE(stop)) {
		uint32_t r = random32(&state);

		rewrite_desc(&ring.desc[r % SIZE], false, &state);
		rewrite_desc(&tables[r >> 8 & 255], true, &state);
		if (r % 16 == 0)
			WRITE_ONCE(ring.avail->ring[r >> 4 & (SIZE - 1)],
				   random32(&state) % (SIZE + 2));
		if (r % 4096 == 1)
			WRITE_ONCE(ring.avail->idx, random32(&state));
	}
	return unused;
}

/* A guest that only keeps the ring full, and now and then overfull. */
static void *offer(void *unused)
{
	for (uint32_t i = 0; !READ_ONCE(stop); i++) {
		uint16_t idx = READ_ONCE(ring.used->idx) + SIZE + i % 4;

		WRITE_ONCE(ring.avail->idx, idx);
		sched_yield();
	}
	return unused;
}

static struct counts {
	uint64_t taken, moved, refused, out_of_step, fault, full;
} counts;

/* For each host: where the CPUs are kept busy by others, a turn takes long. */
#define LIMIT_NS 30000000000ull

/*
 * The heads that are outstanding: a host need not have room for more than the
 * ring holds. When there is nothing to take, half of them are completed.
 */
static uint32_t outstanding[SIZE], nr_outstanding;

static void remember(uint32_t head)
{
	check(nr_outstanding < SIZE, "more than %d chains are outstanding",
	      SIZE);
	if (nr_outstanding == SIZE)
		return;
	/* nobody to give it back to, but the ring goes on */
	outstanding[nr_outstanding++] = head < SIZE ? head : 0;
	counts.full += nr_outstanding == SIZE;
}

static __vringh_inline void complete_half(const struct vringh_access *access,
					  struct vringh *vrh)
{
	for (uint32_t left = nr_outstanding / 2; nr_outstanding > left;)
		if (vringh_complete(access, vrh, outstanding[--nr_outstanding],
				    0))
			exit(1);
	if (vringh_need_notify(access, vrh) < 0)
		exit(1);
}

/* False: time was over first. */
static __vringh_inline bool host(const struct vringh_access *access,
				 struct vringh_map *map, uint64_t chains)
{
	const uint64_t start_ns = now_ns();
	struct vringh_piece pieces[2][4];
	struct vringh_iov riov, wiov;
	struct vringh vrh;
	char buf[256] = "";

	counts = (struct counts){ 0 };
	nr_outstanding = 0;
	if (vringh_init(access, &vrh,
			1ull << VIRTIO_RING_F_INDIRECT_DESC |
				1ull << VIRTIO_RING_F_EVENT_IDX,
			SIZE, GUEST, GUEST + ((char *)ring.avail - mem),
			GUEST + ((char *)ring.used - mem), map))
		exit(1);
	WRITE_ONCE(ring.used->idx, 0);
	vringh_iov_init(&riov, pieces[0], 4);
	vringh_iov_init(&wiov, pieces[1], 4);
	/* That an index is caught out of step is rare: it is waited for. */
	while (counts.taken + counts.refused <
	       (counts.out_of_step ? chains : 50 * chains)) {
		uint32_t head;
		int got = vringh_getdesc(access, &vrh, &riov, &wiov, &head);

		if (now_ns() - start_ns > LIMIT_NS)
			break;
		if (got == -EPROTO)
			counts.out_of_step++;
		if (head == VRINGH_NO_HEAD) {
			complete_half(access, &vrh);
			vringh_notify_enable(access, &vrh);
			sched_yield();
			continue;
		}
		if (got < 0) {
			counts.refused++;
		} else {
			ssize_t n = vringh_iov_pull(access, &vrh, &riov, buf,
						    sizeof(buf));
			ssize_t m = vringh_iov_push(access, &vrh, &wiov, buf,
						    sizeof(buf));

			counts.taken++;
			counts.moved += (n > 0 ? n : 0) + (m > 0 ? m : 0);
			counts.fault += n < 0 || m < 0;
			if (riov.used + wiov.used > SIZE)
				exit(1);
		}
		remember(head);
	}
	vringh_iov_cleanup(&riov);
	vringh_iov_cleanup(&wiov);
	return now_ns() - start_ns <= LIMIT_NS;
}

static void run(const char *name, bool table, uint64_t chains)
{
	static const struct vringh_access *ops;
	struct vringh_map map = { .n = 0 };
	pthread_t rewriter, offerer;
	bool good, in_time;

	/* data may be cut in two, and in iotlb's case only be read or written */
	if (vringh_map_add(&map, GUEST, GUEST + TABLES - 1, mem, 3) ||
	    vringh_map_add(&map, GUEST + TABLES, GUEST + DATA - 1, mem + TABLES,
			   1) ||
	    vringh_map_add(&map, GUEST + DATA, GUEST + DATA + 7999, mem + DATA,
			   3) ||
	    vringh_map_add(&map, GUEST + DATA + 8000, GUEST + BYTES - 1000,
			   mem + DATA + 8000, 2))
		exit(1);
	WRITE_ONCE(stop, false);
	if (pthread_create(&rewriter, NULL, rewrite, NULL) ||
	    pthread_create(&offerer, NULL, offer, NULL))
		exit(1);
	ops = &vringh_iotlb;
	if (table)
		in_time = host(READ_ONCE(ops), &map, chains);
	else
		in_time = host(&vringh_user, &map, chains);
	WRITE_ONCE(stop, true);
	pthread_join(rewriter, NULL);
	pthread_join(offerer, NULL);
	vringh_map_free(&map);
	/* Every depth was reached, or the test tells nothing. */
	good = counts.taken > chains / 100 && counts.refused > chains / 100 &&
	       counts.moved && counts.fault && counts.out_of_step &&
	       counts.full;
	if (!good || getenv("VERBOSE"))
		note("%llu taken, %llu bytes moved, %llu refused, %llu times "
		     "out of step, %llu faults",
		     (unsigned long long)counts.taken,
		     (unsigned long long)counts.moved,
		     (unsigned long long)counts.refused,
		     (unsigned long long)counts.out_of_step,
		     (unsigned long long)counts.fault);
	if (!good && !in_time) {
		skip(name, "the CPUs are too busy for all cases");
		return;
	}
	check(good, "a depth that was not reached");
	report("vringh: descriptors rewritten while they are read: %s", name);
}

int main(void)
{
	const char *brief = getenv("CHECK_SHORT");
	uint64_t chains = 500000;
	char *all = mmap(NULL, 3 * 65536, PROT_NONE,
			 MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

#ifdef TSAN
	skip("vringh: descriptors rewritten while they are read",
	     "this guest races on purpose, and ThreadSanitizer says so");
	return finish();
#endif
#ifndef ASAN
	if (brief && *brief)
		chains /= 10;
#else
	(void)brief;
#endif
	if (all == MAP_FAILED)
		return 1;
	/* where what may be touched ends, a page ends */
	mem = all + 2 * 65536 - BYTES;
	if (mprotect(mem, BYTES, PROT_READ | PROT_WRITE))
		return 1;
	vring_init(&ring, SIZE, mem);
	run("user, inlined", false, chains);
	run("iotlb, by table", true, chains);
	return finish();
}
