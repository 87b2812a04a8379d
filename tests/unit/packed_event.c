// SPDX-License-Identifier: MIT
/*
 * When a packed ring's other side wants to be told, against going round the ring
 * step by step; and where a side is, lap by lap.
 */
#include <stdint.h>

#include "tests/check.h"
#include "virtio/packed.h"

static union packed_event event_of(uint16_t flags, uint32_t off, bool wrap)
{
	return (union packed_event){
		.off_wrap = packed16(off | (wrap ? PACKED_EVENT_WRAP : 0)),
		.flags = packed16(flags),
	};
}

/* A position is one of two laps' worth, counted from the first of the first. */
static struct packed_place place_of(uint32_t pos, uint32_t size, bool used)
{
	struct packed_place p =
		packed_start(used ? PACKED_TURN : PACKED_DESC_F_AVAIL);

	packed_step(&p, pos % size, size);
	if (pos >= size)
		p.turn ^= packed16(PACKED_TURN);
	return p;
}

static void places(void)
{
	for (uint32_t size = 1; size <= 9; size++) {
		struct packed_place p = packed_start(PACKED_DESC_F_AVAIL);

		for (uint32_t pos = 0; pos < 6 * size; pos++) {
			const bool wrap = !(pos / size % 2);
			const uint16_t avail = wrap ? 0x80 : 0x8000;

			check(p.slot == pos % size && packed_wrap(&p) == wrap &&
				      packed_turn(&p, packed16(avail)) &&
				      packed_turn(&p, packed16(avail | 7)) &&
				      !packed_turn(&p, packed16(0)) &&
				      !packed_turn(&p, packed16(0x8080)) &&
				      !packed_turn(&p,
						   packed16(avail ^ 0x8080)),
			      "size %u, step %u: slot %u, turn %x", size, pos,
			      p.slot, packed16(p.turn));
			packed_step(&p, 1, size);
		}
	}
	report("packed: AVAIL and USED of each lap, sizes 1 to 9");
}

/* All that the old place, the new one, and the event can be. */
static void exhaustively(uint32_t size, bool used)
{
	for (uint32_t old = 0; old < 2 * size; old++)
		for (uint32_t since = 0; since <= size; since++)
			for (uint32_t asked = 0; asked < 2 * size; asked++) {
				const struct packed_place next = place_of(
					(old + since) % (2 * size), size, used);
				bool met = false;

				for (uint32_t i = 0; i < since; i++)
					met |= (old + i) % (2 * size) == asked;
				check(packed_need_event(
					      event_of(PACKED_EVENT_DESC,
						       asked % size,
						       asked < size),
					      &next, size, since) == met,
				      "size %u, from %u, %u more, asked for at %u: "
				      "%d",
				      size, old, since, asked, !met);
			}
}

static void flags(void)
{
	const struct packed_place next = place_of(3, 5, false);

	check(packed_need_event(event_of(PACKED_EVENT_ENABLE, 0, false), &next,
				5, 1) &&
		      !packed_need_event(event_of(PACKED_EVENT_ENABLE, 2, true),
					 &next, 5, 0),
	      "enabled: told of what is new, and only then");
	check(!packed_need_event(event_of(PACKED_EVENT_DISABLE, 2, true), &next,
				 5, 1),
	      "disabled, and told");
	check(packed_need_event(event_of(0xfffe, 2, true), &next, 5, 1),
	      "reserved bits are not ignored");
	for (uint32_t off = 5; off < 32768; off++)
		check(!packed_need_event(event_of(PACKED_EVENT_DESC, off,
						  off & 1),
					 &next, 5, 5),
		      "descriptor %u of 5 had its turn", off);
	report("packed: always, never, and a descriptor that there is not");
}

static void asking(void)
{
	for (uint32_t size = 1; size <= 8; size++)
		for (uint32_t pos = 0; pos < 2 * size; pos++)
			for (int used = 0; used < 2; used++) {
				const struct packed_place
					at = place_of(pos, size, used),
					next = place_of((pos + 1) % (2 * size),
							size, used);

				check(!packed_need_event(packed_ask(&at), &at,
							 size, size),
				      "size %u, at %u: told of nothing", size,
				      pos);
				check(packed_need_event(packed_ask(&at), &next,
							size, 1),
				      "size %u, at %u: not told", size, pos);
			}
	report("packed: who asks is told of the next one");
}

int main(void)
{
	places();
	for (uint32_t size = 1; size <= 8; size++) {
		exhaustively(size, false);
		exhaustively(size, true);
	}
	report("packed: a request is met, every way, sizes 1 to 8");
	flags();
	asking();
	return finish();
}
