// SPDX-License-Identifier: MIT
/* vringh: the map behind an access: ranges found, refused, removed, copied. */
#define _GNU_SOURCE
#include <stdlib.h>

static int blocks; /* that a map has from the heap */

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
#define realloc counted_realloc
#define free counted_free
#include "virtio/map.h"
#undef malloc
#undef realloc
#undef free

static uint32_t searches; /* of a map, for a range not known before */
#define vringh_map_find(map, addr, below)                                      \
	(searches++, vringh_map_find(map, addr, below))

#include "lib/random.h"
#include "tests/unit/vringh_guest.h"

static void maps(void)
{
	const int blocks_before = blocks;
	struct vringh_map m = { .n = 0 };
	char *ours = mem;
	uint32_t below;

	expect(!vringh_map_add(&m, 64, 127, ours, 3) &&
		       !vringh_map_add(&m, 0, 15, ours, 3) &&
		       !vringh_map_add(&m, 256, UINT64_MAX, ours, 1),
	       "three ranges");
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
		       vringh_map_find(&m, 16, &below) == -ENOENT &&
		       below == 1 && vringh_map_find(&m, 127, NULL) == 1 &&
		       vringh_map_find(&m, UINT64_MAX, NULL) == 2,
	       "finding");
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
		       !memcmp(emptied.ranges, m.ranges,
			       m.n * sizeof(*m.ranges)),
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
		       !strncmp(text, "so many ranges", 14),
	       "it pulls '%s'", text);
	expect(!way->complete(head, 0), "completing");
	head = takes(2, 0);
	expect(way->pull(&riov, text, 3) == 2, "to the end and back");
	expect(!searches, "%u searches", searches);
	recover(head);
}

/* Whatever the last range was, the right one is found, or none. */
static void ranges_at_random(void)
{
	uint64_t state = RANDOM_SEED;

	if (trusts())
		return;
	for (int round = 0; round < 30; round++) {
		struct vringh_map m = { .n = 0 };
		const uint64_t step = 16 << round % 5;

		for (int i = 0; i < 40; i++) {
			const uint32_t r = random32(&state);
			const uint64_t from = (r % 16) * step - 5 * step;

			vringh_map_add(&m, from,
				       from + (r >> 4 & 1 ? step - 1 :
							    r >> 5 & 31),
				       mem, 3);
		}
		vrh.memory = &m;
		for (int i = 0; i < 1000; i++) {
			uint64_t addr;
			int64_t right;
			const struct vringh_range *found;

			addr = random32(&state) % (16 * step) - 6 * step;
			vrh.hint[VRINGH_READ] = random32(&state) % (m.n + 2);
			right = vringh_map_find(&m, addr, NULL);
			found = vringh_range(&vrh, VRINGH_READ, addr);
			expect(found == (right < 0 ? NULL : &m.ranges[right]),
			       "another range, or none");
		}
		vringh_map_free(&m);
	}
}

static const struct test tests[] = {
	{ "ranges: found, refused, removed", maps },
	{ "ranges in a row are not searched for", ranges_in_a_row },
	{ "ranges at random are found", ranges_at_random },
};

int main(void)
{
	return run_tests(tests, sizeof(tests) / sizeof(*tests));
}
