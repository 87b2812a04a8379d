// SPDX-License-Identifier: MIT
/*
 * vringh_packed: the packed virtqueue in another's memory: addresses are checked.
 *
 * The memory and the guest are those of virtio_ring_packed; the host is
 * virtio/vringh_packed.h, which trusts nothing that the guest writes.
 *
 * Edges: those of virtio_ring_packed.
 */
#include "main.h"
#include "lib/program.h"
#include "virtio/packed/ring.inc"
#include "virtio/vringh_packed.h"
#include "virtio/access_user.h"

const struct ring_info ring_info = { PACKED_RING_INFO };

/* ---- guest side ---- */

#include "virtio/packed/guest_plain.inc"

/* ---- host side ---- */

static struct host {
	struct vringh_packed p;
	struct vringh_iov iov;
	struct vringh_piece pieces[8];
	struct vringh_map map;
} __cache_aligned host;
ASSERT_APART(struct host);

static __attribute__((cold, noreturn, noinline)) void broken(int err)
{
	die(EXIT_FAILED, "%s: %s", ring_info.name,
	    err ? vringh_error(&host.p.vrh) : "a buffer of no bytes");
}

#include "virtio/any_address.inc"

void alloc_ring(void)
{
	int err;

	init_ring();
	init_guest();
	make_map(&host.map);
	vringh_iov_init(&host.iov, host.pieces, 8);
	err = vringh_packed_init(&vringh_user, &host.p,
				 1ull << VIRTIO_RING_F_EVENT_IDX |
					 1ull << VIRTIO_RING_F_INDIRECT_DESC,
				 config.ring_size, (uintptr_t)ring.desc,
				 (uintptr_t)&ring.events->driver,
				 (uintptr_t)&ring.events->device, &host.map);
	if (err)
		broken(err);
}

void disable_kick(void)
{
	vringh_packed_notify_disable(&vringh_user, &host.p);
}

bool avail_empty(void)
{
	return vringh_packed_empty(&vringh_user, &host.p);
}

bool enable_kick(void)
{
	int empty = vringh_packed_notify_enable(&vringh_user, &host.p);

	if (empty < 0)
		broken(empty);
	return empty;
}

bool use_buf(unsigned *lenp, void **bufp)
{
	struct vringh_chain chain;
	struct vringh_span span;
	int got = vringh_packed_getdesc(&vringh_user, &host.p, NULL, &host.iov,
					&chain);

	if (got <= 0) {
		if (got < 0)
			broken(got);
		return false;
	}
	got = vringh_iov_peek(&vringh_user, &host.p.vrh, &host.iov,
			      VRINGH_WRITE, &span);
	if (got <= 0)
		broken(got);
	give_host(bufp, span.ptr);
	*lenp = host.iov.pieces[0].len;
	got = vringh_packed_complete(&vringh_user, &host.p, &chain, *lenp - 1);
	if (got)
		broken(got);
	return true;
}

void call_used(void)
{
	int wanted = vringh_packed_need_notify(&vringh_user, &host.p);

	if (wanted < 0)
		broken(wanted);
	if (wanted)
		call();
}
