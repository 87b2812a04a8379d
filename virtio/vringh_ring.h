/* SPDX-License-Identifier: MIT */
/*
 * The host side of the rings vringh_*: virtio_ring_0_9.c with HOST_SIDE set to
 * this file. ACCESS is the access; with OPS it is taken through a pointer that
 * is read from memory, else the compiler knows it.
 */
#include "virtio/access_iotlb.h"
#include "virtio/access_kern.h"
#include "virtio/access_user.h"

#include "lib/program.h"

static struct host {
	struct vringh vrh;
	struct vringh_iov iov;
	struct vringh_piece pieces[8];
	const struct vringh_access *ops;
	struct vringh_map map;
} __cache_aligned host;
ASSERT_APART(struct host);

#ifdef OPS
#define access() READ_ONCE(host.ops)
#else
#define access() (&ACCESS)
#endif

static __attribute__((cold, noreturn, noinline)) void broken(int err)
{
	die(EXIT_FAILED, "%s: %s", ring_info.name,
	    err ? vringh_error(&host.vrh) : "a buffer of no bytes");
}

/* Here a guest may use any address but those of the first page. */
static void make_map(struct vringh_map *map)
{
	static const uint64_t bounds[] = { 4096, 1ull << 32, 1ull << 46,
					   1ull << 63, 0 };

	vringh_map_free(map);
	for (int i = 0; bounds[i]; i++)
		if (vringh_map_add(map, bounds[i], bounds[i + 1] - 1,
				   (void *)(uintptr_t)bounds[i],
				   VRINGH_PERM_RW))
			die(EXIT_FAILED, "no memory for the map");
}

static void init_host(uint32_t origin)
{
	int err;

	host.ops = &ACCESS;
	make_map(&host.map);
	vringh_iov_init(&host.iov, host.pieces, 8);
	err = vringh_init(access(), &host.vrh, 1ull << VIRTIO_RING_F_EVENT_IDX |
			  1ull << VIRTIO_RING_F_INDIRECT_DESC,
			  config.ring_size, (uintptr_t)ring.desc,
			  (uintptr_t)ring.avail, (uintptr_t)ring.used,
			  &host.map);
	if (!err)
		err = vringh_set_base(&host.vrh, origin, origin);
	if (err)
		broken(err);
}

void disable_kick(void)
{
	vringh_notify_disable(access(), &host.vrh);
}

bool avail_empty(void)
{
	return vringh_empty(access(), &host.vrh);
}

bool enable_kick(void)
{
	int empty = vringh_notify_enable(access(), &host.vrh);

	if (empty < 0)
		broken(empty);
	return empty;
}

bool use_buf(unsigned *lenp, void **bufp)
{
	struct vringh_span span;
	uint32_t head;
	int got = vringh_getdesc(access(), &host.vrh, NULL, &host.iov, &head);

	if (got <= 0) {
		if (got < 0)
			broken(got);
		return false;
	}
	got = vringh_iov_peek(access(), &host.vrh, &host.iov, VRINGH_WRITE,
			      &span);
	if (got <= 0)
		broken(got);
	*bufp = span.ptr;
	*lenp = host.iov.pieces[0].len;
	got = vringh_complete(access(), &host.vrh, head, *lenp - 1);
	if (got)
		broken(got);
	return true;
}

void call_used(void)
{
	int wanted = vringh_need_notify(access(), &host.vrh);

	if (wanted < 0)
		broken(wanted);
	if (wanted)
		call();
}
