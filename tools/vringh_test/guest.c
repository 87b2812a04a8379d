// SPDX-License-Identifier: MIT
#include <inttypes.h>
#include <string.h>

#include "end.h"
#include "guest.h"
#include "lib/barrier.h"
#include "lib/program.h"
#include "transfer.h"

struct guest guest;

void guest_start(char *mem, uint64_t bias)
{
	guest = (struct guest){ .mem = mem };
	if (vdriver_init(&guest.drv, features(), options.ring_size,
			 mem + ring_at(), bias,
			 options.indirect ? (void *)(mem + tables_at()) : NULL,
			 options.indirect ? PIECES : 0))
		die(EXIT_FAILED, "no memory for the driver");
}

bool guest_add(void)
{
	const uint64_t seq = guest.added;
	const uint32_t out = nr_out(seq), n = nr_pieces(seq);
	char *slot = guest.mem + data_at() + seq % options.ring_size * SLOT;
	const unsigned char *bytes = out_bytes(seq);
	struct vdriver_sg sg[PIECES];

	/* a slot is taken again when its last transfer is over */
	if (seq == options.transfers ||
	    seq - guest.finished == options.ring_size ||
	    guest.drv.nr_free < (options.indirect ? 1 : n))
		return false;
	for (uint32_t i = 0; i < n; i++) {
		sg[i].ptr = slot + i * PIECE_ROOM;
		sg[i].len = piece_len(seq, i);
		if (i < out) {
			memcpy(sg[i].ptr, bytes, sg[i].len);
			bytes += sg[i].len;
		}
	}
	if (vdriver_add(&guest.drv, sg, out, n - out, slot))
		die(EXIT_FAILED, "transfer %" PRIu64 ": the driver is full",
		    seq);
	guest.added++;
	return true;
}

bool guest_get(void)
{
	const uint64_t seq = guest.finished;
	const uint32_t out = nr_out(seq), n = nr_pieces(seq);
	const uint32_t expected = options.fast_vringh ? 0 : len_of(seq, out, n);
	const unsigned char *bytes = in_bytes(seq);
	char *slot = guest.mem + data_at() + seq % options.ring_size * SLOT;
	uint32_t len = 0;
	void *back = NULL;
	int got = vdriver_get(&guest.drv, &back, &len);

	if (!got)
		return false;
	if (got < 0 || back != slot)
		die(EXIT_FAILED,
		    "transfer %" PRIu64 ": the host completed "
		    "something else",
		    seq);
	if (len != expected)
		die(EXIT_FAILED,
		    "transfer %" PRIu64 ": the host says that it "
		    "wrote %" PRIu32 " bytes, not %" PRIu32,
		    seq, len, expected);
	for (uint32_t i = out; i < n && !options.fast_vringh; i++) {
		uint32_t piece = piece_len(seq, i);

		if (memcmp(slot + i * PIECE_ROOM, bytes, piece))
			die(EXIT_FAILED,
			    "transfer %" PRIu64 ": piece %" PRIu32
			    " has other bytes than the host wrote",
			    seq, i);
		bytes += piece;
	}
	guest.finished++;
	return true;
}

/* True: something came. */
static bool guest_polls(void)
{
	for (int i = 0; i < POLLS && options.guest_cpu != options.host_cpu;
	     i++) {
		if (!vdriver_empty(&guest.drv))
			return true;
		cpu_relax();
	}
	return false;
}

void guest_loop(void)
{
	while (guest.finished < options.transfers) {
		bool moved = false;

		while (guest_get())
			moved = true;
		while (guest_add())
			moved = true;
		if (vdriver_need_kick(&guest.drv))
			wake(&guest_end);
		if (moved || guest_polls())
			continue;
		if (options.eventidx ? vdriver_enable_call_delayed(&guest.drv) :
				       vdriver_enable_call(&guest.drv))
			sleep_until_woken(&guest_end);
		vdriver_disable_call(&guest.drv);
	}
}
