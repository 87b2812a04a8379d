// SPDX-License-Identifier: MIT
/*
 * Hosts that share a map, each with a thread of its own, get another one while
 * they work, as vringh_set_memory() tells. When all have it, the memory that is
 * only in the old map is made untouchable: a host that still used it would end
 * the program.
 */
#define _GNU_SOURCE
#include <pthread.h>
#include <sched.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "tests/check.h"
#include "virtio/access_iotlb.h"
#include "virtio/access_user.h"
#include "virtio/driver.h"

enum { HOSTS = 3, SIZE = 4, ROUNDS = 300, BYTES = 16 };

#define BASE 0x100000u /* where the guests see it all */

static char *mem; /* a ring of each host, then the page that goes */
static size_t page, ring_room, all;
static const struct vringh_map *current; /* for all hosts to take */
static bool stop;

static struct host {
	pthread_t thread;
	uint32_t number;
	const struct vringh_map *taken;
	uint64_t worked, refused;
	bool wrong;
} __cache_aligned hosts[HOSTS];

/* A chain of bytes to read in the page, by a guest in the same thread. */
static void pass_one(const struct vringh_access *access, struct vringh *vrh,
		     struct vdriver *drv, struct host *me)
{
	struct vdriver_sg sg = { mem + all - page + 64 * me->number, BYTES };
	struct vringh_piece piece;
	struct vringh_iov riov;
	char text[BYTES];
	uint32_t head, len;
	ssize_t got;
	void *back;

	vringh_iov_init(&riov, &piece, 1);
	if (vdriver_add(drv, &sg, 1, 0, me) ||
	    vringh_getdesc(access, vrh, &riov, NULL, &head) != 1) {
		WRITE_ONCE(me->wrong, true);
		return;
	}
	got = vringh_iov_pull(access, vrh, &riov, text, BYTES);
	if (got == BYTES && !memcmp(text, "all's well here", BYTES))
		WRITE_ONCE(me->worked, me->worked + 1);
	else if (got == -EFAULT)
		WRITE_ONCE(me->refused, me->refused + 1);
	else
		WRITE_ONCE(me->wrong, true);
	if (vringh_complete(access, vrh, head, 0) ||
	    vdriver_get(drv, &back, &len) != 1 || back != me)
		WRITE_ONCE(me->wrong, true);
}

static void *host(void *arg)
{
	struct host *me = arg;
	const struct vringh_access *access = me->number % 2 ? &vringh_iotlb :
							      &vringh_user;
	const uint64_t base = BASE + me->number * ring_room;
	char *ring = mem + me->number * ring_room;
	const struct vringh_map *map = me->taken;
	struct vringh vrh;
	struct vdriver drv;

	if (vdriver_init(&drv, 0, SIZE, ring, BASE - (uintptr_t)mem, NULL, 0) ||
	    vringh_init(access, &vrh, 0, SIZE, base, base + SIZE * 16,
			base + vring_used_offset(SIZE), map))
		WRITE_ONCE(me->wrong, true);
	while (!me->wrong && !READ_ONCE(stop)) {
		const struct vringh_map *now = smp_load_acquire(&current);

		if (now != map) {
			map = now;
			vringh_set_memory(&vrh, map);
			/* what was used of the old one, before this is seen */
			smp_store_release(&me->taken, map);
		}
		pass_one(access, &vrh, &drv, me);
		sched_yield();
	}
	vdriver_free(&drv);
	return NULL;
}

/* All hosts have @map, and each has passed one more chain. */
static void give(const struct vringh_map *map)
{
	smp_store_release(&current, map);
	for (int i = 0; i < HOSTS; i++) {
		struct host *h = &hosts[i];
		uint64_t before;

		while (smp_load_acquire(&h->taken) != map &&
		       !READ_ONCE(h->wrong))
			sched_yield();
		before = READ_ONCE(h->worked) + READ_ONCE(h->refused);
		while (READ_ONCE(h->worked) + READ_ONCE(h->refused) == before &&
		       !READ_ONCE(h->wrong))
			sched_yield();
	}
}

static void replace(void)
{
	char *last = mem + all - page;
	struct vringh_map with = { .n = 0 }, without;

	if (vringh_map_add(&with, BASE, BASE + all - page - 1, mem, 3) ||
	    vringh_map_add(&with, BASE + all - page, BASE + all - 1, last, 3))
		exit(1);
	current = &with;
	for (int i = 0; i < HOSTS; i++) {
		hosts[i] = (struct host){ .number = i, .taken = &with };
		memcpy(last + 64 * i, "all's well here", BYTES);
		if (pthread_create(&hosts[i].thread, NULL, host, &hosts[i]))
			exit(1);
	}
	for (int round = 0; round < ROUNDS; round++) {
		struct vringh_map again = { .n = 0 };

		without = (struct vringh_map){ .n = 0 };
		if (vringh_map_copy(&without, &with))
			exit(1);
		vringh_map_remove(&without, BASE + all - page, BASE + all - 1);
		give(&without);
		vringh_map_free(&with);
		mprotect(last, page, PROT_NONE);
		sched_yield();
		mprotect(last, page, PROT_READ | PROT_WRITE);
		if (vringh_map_copy(&again, &without) ||
		    vringh_map_add(&again, BASE + all - page, BASE + all - 1,
				   last, 3))
			exit(1);
		with = again;
		give(&with);
		vringh_map_free(&without);
	}
	WRITE_ONCE(stop, true);
	for (int i = 0; i < HOSTS; i++)
		pthread_join(hosts[i].thread, NULL);
	vringh_map_free(&with);
}

int main(void)
{
	bool good = true;

	page = sysconf(_SC_PAGESIZE);
	ring_room = (vring_bytes(SIZE) + page - 1) & -page;
	all = HOSTS * ring_room + page;
	mem = mmap(NULL, all, PROT_READ | PROT_WRITE,
		   MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (mem == MAP_FAILED)
		return 1;
	replace();
	/* in each round, each host came by both maps */
	for (int i = 0; i < HOSTS; i++)
		good = good && !hosts[i].wrong && hosts[i].worked >= ROUNDS &&
		       hosts[i].refused >= ROUNDS;
	check(good, "a host is wrong, or has not come by both maps");
	report("vringh: hosts that share a map get another while they work");
	return finish();
}
