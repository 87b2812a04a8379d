// SPDX-License-Identifier: MIT
#include <inttypes.h>
#include <string.h>

#include "end.h"
#include "host.h"
#include "lib/barrier.h"
#include "lib/program.h"
#include "virtio/access_user.h"

struct host host;

static void add_range(uint64_t start, size_t bytes, char *ours)
{
	if (vringh_map_add(&host.map, start, start + bytes - 1, ours,
			   VRINGH_PERM_RW))
		die(EXIT_FAILED, "no memory for the ranges");
}

void host_start(const struct vringh_access *access, char *mem, uint64_t base)
{
	vringh_map_free(&host.map);
	host = (struct host){ .table = access };
	if (options.slow_range) {
		add_range(base, tables_at(), mem);
		for (size_t i = tables_at(); i < shared_bytes(); i++)
			add_range(base + i, 1, mem + i);
	} else {
		add_range(base, shared_bytes(), mem);
	}
	vringh_iov_init(&host.riov, host.pieces[0], PIECES);
	vringh_iov_init(&host.wiov, host.pieces[1], PIECES);
	if (vringh_init(access, &host.vrh, features(), options.ring_size,
			base + ring_at(),
			base + ring_at() +
				options.ring_size * sizeof(struct vring_desc),
			base + ring_at() + vring_used_offset(options.ring_size),
			&host.map))
		die(EXIT_FAILED, "vringh_init: %s", vringh_error(&host.vrh));
}

static void __attribute__((noreturn, cold, noinline))
host_failed(const char *what)
{
	die(EXIT_FAILED, "transfer %" PRIu64 ": %s: %s", host.done, what,
	    vringh_error(&host.vrh));
}

static __vringh_inline void host_move(const struct vringh_access *access,
				      uint32_t *written)
{
	const uint64_t seq = host.done;
	const uint32_t out = nr_out(seq), n = nr_pieces(seq);
	const uint32_t out_len = len_of(seq, 0, out);
	const uint32_t in_len = len_of(seq, out, n);
	unsigned char bytes[SLOT];
	ssize_t got;

	got = vringh_iov_pull(access, &host.vrh, &host.riov, bytes,
			      sizeof(bytes));
	if (got < 0)
		host_failed("vringh_iov_pull");
	if (got != (ssize_t)out_len || memcmp(bytes, out_bytes(seq), out_len))
		die(EXIT_FAILED,
		    "transfer %" PRIu64 ": the host read other "
		    "bytes than the guest wrote",
		    seq);
	got = vringh_iov_push(access, &host.vrh, &host.wiov, in_bytes(seq),
			      SLOT);
	if (got < 0)
		host_failed("vringh_iov_push");
	if (got != (ssize_t)in_len)
		die(EXIT_FAILED,
		    "transfer %" PRIu64 ": the host found room "
		    "for %zd bytes, not %" PRIu32,
		    seq, got, in_len);
	*written = in_len;
}

/* One transfer. False: there is none. */
static __vringh_inline bool host_use(const struct vringh_access *access,
				     const bool heads_only)
{
	uint32_t head, written = 0;
	int got = vringh_getdesc(access, &host.vrh,
				 heads_only ? NULL : &host.riov,
				 heads_only ? NULL : &host.wiov, &head);

	if (got < 0)
		host_failed("vringh_getdesc");
	if (!got)
		return false;
	if (!heads_only)
		host_move(access, &written);
	if (vringh_complete(access, &host.vrh, head, written))
		host_failed("vringh_complete");
	host.done++;
	return true;
}

static __vringh_inline void host_notify(const struct vringh_access *access)
{
	int wanted = vringh_need_notify(access, &host.vrh);

	if (wanted < 0)
		host_failed("vringh_need_notify");
	if (wanted)
		wake(&host_end);
}

/* All that there is; the guest is told a few times on the way, and at the end.
 */
static __vringh_inline void host_use_all(const struct vringh_access *access,
					 const bool heads_only)
{
	const uint32_t batch = options.ring_size / 4;
	uint32_t n = 0;

	while (host_use(access, heads_only))
		if (++n % batch == 0)
			host_notify(access);
	host_notify(access);
}

static __vringh_inline bool host_polls(const struct vringh_access *access)
{
	for (int i = 0; i < POLLS && options.guest_cpu != options.host_cpu;
	     i++) {
		if (!vringh_empty(access, &host.vrh))
			return true;
		cpu_relax();
	}
	return false;
}

static __vringh_inline void host_loop(const struct vringh_access *access,
				      const bool heads_only)
{
	vringh_notify_disable(access, &host.vrh);
	while (host.done < options.transfers) {
		int empty;

		host_use_all(access, heads_only);
		if (host.done == options.transfers || host_polls(access))
			continue;
		empty = vringh_notify_enable(access, &host.vrh);
		if (empty < 0)
			host_failed("vringh_notify_enable");
		if (empty)
			sleep_until_woken(&host_end);
		vringh_notify_disable(access, &host.vrh);
	}
}

/* Each is a function of its own, that it can be found and disassembled. */
__attribute__((noinline)) void host_loop_inlined(void)
{
	if (options.fast_vringh)
		host_loop(&vringh_user, true);
	else
		host_loop(&vringh_user, false);
}

__attribute__((noinline)) void host_loop_ops(void)
{
	const struct vringh_access *access = READ_ONCE(host.table);

	if (options.fast_vringh)
		host_loop(access, true);
	else
		host_loop(access, false);
}

__attribute__((noinline)) void host_turn_inlined(void)
{
	if (options.fast_vringh)
		host_use_all(&vringh_user, true);
	else
		host_use_all(&vringh_user, false);
}

__attribute__((noinline)) void host_turn_ops(void)
{
	const struct vringh_access *access = READ_ONCE(host.table);

	if (options.fast_vringh)
		host_use_all(access, true);
	else
		host_use_all(access, false);
}
