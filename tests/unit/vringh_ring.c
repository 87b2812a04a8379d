// SPDX-License-Identifier: MIT
/*
 * vringh: the available and the used ring: indexes, heads, completions; where
 * a vringh begins.
 */
#include "tests/unit/vringh_guest.h"

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

static void heads_only(void)
{
	uint32_t head = 0;

	put(3, 0, 0, 0xffff, 0xffff); /* nobody looks at it */
	offer(3);
	expect(way->getdesc(NULL, NULL, &head) == 1 && head == 3,
	       "the head is %u", head);
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
		       !vringh_set_base(&vrh, last_avail, last_used),
	       "beginning again");
	expect(get(&head) == 1 && head == 4, "it takes %u next", head);
	for (uint32_t i = 0; i < 5; i++)
		expect(i == 2 || !way->complete(i, i), "completing %u", i);
	expect(ring.used->idx == avail && ring.used->ring[3].id == 3,
	       "the used index is %u", ring.used->idx);
	recover(VRINGH_NO_HEAD);
	expect(vringh_set_base(&vrh, 3, 3 - SIZE) == 0 &&
		       vringh_set_base(&vrh, 3, 3 - SIZE - 1) == -EINVAL &&
		       vringh_set_base(&vrh, 3, 4) == -EINVAL,
	       "more than the ring");
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
		       ring.used->idx == (uint16_t)(before + 6),
	       "completing 6");
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

static void index_wraps(void)
{
	fresh_with(FEATURES, 65533);
	for (int i = 0; i < 7; i++)
		recover(VRINGH_NO_HEAD);
	expect(ring.used->idx == 4, "the used index is %u", ring.used->idx);
	fresh_with(FEATURES, 65533);
	whole_ring_at_once();
	fresh_with(FEATURES, 65530);
	many_at_once();
}

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
		expect(way->getdesc(r, w, &head) == 1 && head == i, "number %u",
		       i);
	}
	for (int more = 1; more <= SIZE; more++) {
		ring.avail->idx = avail + more;
		expect(way->getdesc(r, w, &head) == -EPROTO &&
			       head == VRINGH_NO_HEAD,
		       "with %d more, it takes %u", more, head);
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
		       way->getdesc(r, w, &head) == 0,
	       "the two are not %u", head);
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

static const struct test tests[] = {
	{ "an empty ring gives nothing", empty_ring },
	{ "a ring filled at once", whole_ring_at_once },
	{ "heads only, no descriptor is read", heads_only },
	{ "a ring that another host has begun", restored },
	{ "many completions at once", many_at_once },
	{ "what was not taken is not completed", completing_nothing },
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
	{ "wrong arguments to vringh_init", wrong_beginnings },
};

int main(void)
{
	return run_tests(tests, sizeof(tests) / sizeof(*tests));
}
