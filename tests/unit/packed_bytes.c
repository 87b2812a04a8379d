// SPDX-License-Identifier: MIT
/*
 * virtio_ring_packed, byte by byte: what is in memory after each step of an exchange,
 * worked out by hand from virtio 1.2, section 2.8. It is the same on every CPU.
 */
#include "virtio_ring_packed.c"
#include "tests/unit/packed_bytes.h"

#define EMPTY "00 00 00 00 00 00 00 00  00 00 00 00  00 00  00 00 "

static void ring_is(const char *when, const char *desc, const char *driver,
		    const char *device)
{
	bytes(when, ring.desc, desc);
	bytes(when, &ring.events->driver, driver);
	bytes(when, &ring.events->device, device);
}

#define NEVER "00 00  01 00"

static void exchange(void)
{
	fresh(3);
	ring_is("a new ring", EMPTY EMPTY EMPTY, NEVER, NEVER);

	/* writable (2), available in the first lap (bit 7 alone: 80 00) */
	add(1, 0x11223344);
	ring_is("one added",
		"01 03 02 01 00 00 00 00  44 33 22 11  00 00  82 00 " EMPTY
			EMPTY,
		NEVER, NEVER);
	/* one byte less is used; both bits of the first lap: 80 80 */
	use(1);
	ring_is("and used",
		"01 03 02 01 00 00 00 00  43 33 22 11  00 00  82 80 " EMPTY
			EMPTY,
		NEVER, NEVER);
	get(1, 0x11223343);

	add(2, 0x10);
	add(3, 0x20);
	/* the second lap: bit 15 alone, 00 80 */
	add(4, 0x30);
	check(add_inbuf(1, address(9), address(9)) == -1, "it takes a fourth");
	ring_is("three more, round the end",
		"04 03 02 01 00 00 00 00  30 00 00 00  00 00  02 80 "
		"02 03 02 01 00 00 00 00  10 00 00 00  01 00  82 00 "
		"03 03 02 01 00 00 00 00  20 00 00 00  02 00  82 00",
		NEVER, NEVER);

	/* the host stands at 1, first lap: 8001 */
	check(!enable_kick(), "there is something to use");
	bytes("a kick at 1", &ring.events->device, "01 80  02 00");
	disable_kick();
	use(2);
	use(3);
	use(4);
	/* neither bit: used in the second lap */
	ring_is("all used",
		"04 03 02 01 00 00 00 00  2f 00 00 00  00 00  02 00 "
		"02 03 02 01 00 00 00 00  0f 00 00 00  01 00  82 80 "
		"03 03 02 01 00 00 00 00  1f 00 00 00  02 00  82 80",
		NEVER, NEVER);

	/* the guest waits at 1, first lap; the host stands at 1 in the second */
	check(!enable_call(), "there is something to get");
	check(enable_kick(), "there is nothing to use");
	bytes("a call at 1", &ring.events->driver, "01 80  02 00");
	bytes("a kick at 1, second lap", &ring.events->device, "01 00  02 00");
	get(2, 0x0f);
	get(3, 0x1f);
	get(4, 0x2f);
	kick_available(); /* counts what was added up to here */
	kicks = 0;
	add(5, 0x40);
	kick_available();
	check(kicks == 1, "no kick, though there is what was asked for");
	disable_kick();
	disable_call();
	ring_is("one in the second lap",
		"04 03 02 01 00 00 00 00  2f 00 00 00  00 00  02 00 "
		"05 03 02 01 00 00 00 00  40 00 00 00  01 00  02 80 "
		"03 03 02 01 00 00 00 00  1f 00 00 00  02 00  82 80",
		NEVER, NEVER);
	report("packed: the bytes of an exchange");
}

/* A host that completes in another order: ids come back as it gives them. */
static void out_of_order(void)
{
	fresh(3);
	add(1, 10);
	add(2, 20);
	add(3, 30);
	ring.desc[0].head = (union packed_head){
		.len = packed32(7),
		.id = packed16(2),
		.flags = packed16(PACKED_TURN | VRING_DESC_F_WRITE),
	};
	get(3, 7);
	check(ring.desc[0].head.id == packed16(2), "the id is gone");
	add(4, 40);
	bytes("the id that came back is used again", &ring.desc[0],
	      "04 03 02 01 00 00 00 00  28 00 00 00  02 00  02 80");
	ring.desc[1].head = (union packed_head){
		.len = packed32(8),
		.id = packed16(0),
		.flags = packed16(PACKED_TURN | VRING_DESC_F_WRITE),
	};
	get(1, 8);
	report("packed: ids that come back in another order");
}

int main(void)
{
	exchange();
	out_of_order();
	all_laps();
	return finish();
}
