// SPDX-License-Identifier: MIT
/*
 * vringh: chains and indirect tables, as guests make them that are right, wrong
 * and hostile.
 */
#include "tests/unit/vringh_guest.h"

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
	expect(way->peek(iov, writable ? VRINGH_WRITE : VRINGH_READ, &span) ==
		       0,
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
		desc(&table[k],
		     !none ? at(DATA + 16 * k) :
		     k % 2 ? UINT64_MAX :
			     NOWHERE,
		     none ? 0 : 3,
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
			for (uint32_t zeros = 0; zeros < 1u << (r + w);
			     zeros++) {
				chain_with_zeros(false, r, w, zeros);
				chain_with_zeros(true, r, w, zeros);
			}
	recover(VRINGH_NO_HEAD);
}

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
		       vringh_set_max_chain(&vrh, 32769) == -EINVAL,
	       "any limit");
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
		       !strcmp(text, "abcdefghijklmnopqrstuvwx"),
	       "it pulls '%s'", text);
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
	expect(!vringh_map_add(&map, -(uint64_t)4096, UINT64_MAX, mem + DATA,
			       VRINGH_PERM_RW),
	       "no range");
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

static void table_lengths(void)
{
	static const uint32_t lens[] = {
		8, 24, 1, 15, 17, 1048577, UINT32_MAX
	};

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
	expect(get(&head) == -EFAULT && head == VRINGH_NO_HEAD, "it takes %u",
	       head);
	range(TABLES, DATA - TABLES, VRINGH_PERM_RW);
	expect(get(&head) == 1 && head == 3 && riov.used == 1,
	       "the chain is passed over for %u", head);
	expect(!way->complete(head, 0) && get(&head) == 1 && head == 5 &&
		       !way->complete(head, 0),
	       "the next is not %u", head);
	recover(VRINGH_NO_HEAD);
}

static const struct test tests[] = {
	{ "a chain exactly as long as the ring", chain_of_the_ring },
	{ "an indirect chain as long as the ring", indirect_of_the_ring },
	{ "an indirect table at an odd address", indirect_odd },
	{ "an indirect table in two ranges", indirect_straddles },
	{ "WRITE on an indirect descriptor is ignored", indirect_writable },
	{ "normal descriptors, then an indirect one", indirect_after_normal },
	{ "descriptors of length 0, in every place", length_0 },
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
	{ "readable after writable, indirect",
	  readable_after_writable_indirect },
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
	{ "an indirect table whose range is added late", table_added_late },
};

int main(void)
{
	return run_tests(tests, sizeof(tests) / sizeof(*tests));
}
