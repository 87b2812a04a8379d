// SPDX-License-Identifier: MIT
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "guest.h"
#include "host.h"
#include "lib/program.h"
#include "run.h"
#include "virtio/access_iotlb.h"
#include "virtio/access_kern.h"
#include "virtio/access_user.h"

static const char *step_of;
static unsigned nr_steps;

static void step(bool good, const char *what)
{
	nr_steps++;
	if (!good)
		die(EXIT_FAILED, "%s: step %u: %s (last error: %s)", step_of,
		    nr_steps, what, vringh_error(&host.vrh));
}

/* The host reads what the guest wrote, and writes. */
static void move_bytes(const struct vringh_access *access, char *data)
{
	struct host *h = &host;
	char text[8] = "";
	uint32_t head;

	step(vringh_getdesc(access, &h->vrh, &h->riov, &h->wiov, &head) == 1,
	     "it takes a chain");
	step(h->riov.used == 2 && h->wiov.used == 2,
	     "two pieces to read, two to write");
	step(vringh_iov_pull(access, &h->vrh, &h->riov, text, 7) == 7 &&
		     !memcmp(text, "helloab", 7),
	     "it pulls from both");
	step(vringh_iov_pull(access, &h->vrh, &h->riov, text, 7) == 1 &&
		     *text == 'c',
	     "it pulls the rest");
	vringh_iov_reset(&h->riov);
	step(vringh_iov_pull(access, &h->vrh, &h->riov, text, 1) == 1 &&
		     *text == 'h',
	     "after a reset, from the start");
	step(vringh_iov_push(access, &h->vrh, &h->wiov, "123456789", 9) == 7,
	     "it pushes until it is full");
	step(!memcmp(data + 64, "123456", 7) && data[96] == '7',
	     "the bytes are where they belong");
}

/* A chain of four pieces, from the guest to the host and back. */
static void one_chain(const struct vringh_access *access, char *data)
{
	struct vdriver_sg sg[PIECES] = { { data, 5 },
					 { data + 32, 3 },
					 { data + 64, 6 },
					 { data + 96, 1 } };
	struct vdriver *drv = &guest.drv;
	struct host *h = &host;
	uint32_t head, len = 0;
	void *back = NULL;

	step(vringh_getdesc(access, &h->vrh, &h->riov, &h->wiov, &head) == 0,
	     "a new ring has nothing");
	step(vringh_notify_enable(access, &h->vrh) == 1,
	     "the host may sleep on it");
	memcpy(data, "hello", 5);
	memcpy(data + 32, "abc", 3);
	step(!vdriver_add(drv, sg, 2, 2, data), "the guest adds four pieces");
	step(vdriver_need_kick(drv), "the host has asked for a kick");
	step(!vdriver_need_kick(drv), "but not for a second");
	step(vringh_notify_enable(access, &h->vrh) == 0,
	     "the host may not sleep now");
	step(!vringh_notify_disable(access, &h->vrh), "it takes no kicks");
	if (options.fast_vringh) {
		step(vringh_getdesc(access, &h->vrh, NULL, NULL, &head) == 1,
		     "it takes a head");
	} else {
		move_bytes(access, data);
	}
	vringh_abandon(&h->vrh, 1);
	step(vringh_getdesc(access, &h->vrh, &h->riov, &h->wiov, &head) == 1,
	     "abandoned, it is taken again");
	step(vdriver_enable_call(drv), "the guest may sleep");
	step(vringh_need_notify(access, &h->vrh) == 0,
	     "no call before the end");
	step(!vringh_complete(access, &h->vrh, head, 7), "it is completed");
	step(vringh_need_notify(access, &h->vrh) == 1, "and a call is due");
	step(!vdriver_enable_call(drv), "the guest may not sleep now");
	step(vdriver_get(drv, &back, &len) == 1 && back == data && len == 7,
	     "the guest has it back");
	step(!vdriver_get(drv, &back, &len), "and no more");
}

/* As many chains as the ring has room for. */
static void many_chains(const struct vringh_access *access, char *data)
{
	struct vdriver_sg sg[2] = { { data, 5 }, { data + 32, 3 } };
	struct vringh_used used[2] = { { 0, 0 } };
	struct vdriver *drv = &guest.drv;
	struct host *h = &host;
	uint32_t head, len = 0, n = 0;
	void *back = NULL;

	while (!vdriver_add(drv, sg, 1, 1, data))
		n++;
	step(n == (options.indirect ? options.ring_size :
				      options.ring_size / 2),
	     "the ring fills up");
	step(vdriver_enable_call_delayed(drv), "the guest may sleep long");
	for (uint32_t i = 0; i < n; i++) {
		step(vringh_getdesc(access, &h->vrh, &h->riov, &h->wiov,
				    &head) == 1,
		     "the host takes one of many");
		used[i % 2] = (struct vringh_used){ head, i };
		if (i % 2 || i == n - 1)
			step(!vringh_complete_multi(access, &h->vrh, used,
						    i % 2 + 1),
			     "it completes two at a time");
		step(!(options.eventidx && i % 2 && i + 1 <= n * 3 / 4 &&
		       vringh_need_notify(access, &h->vrh) == 1),
		     "no call is due so soon");
	}
	step(vringh_need_notify(access, &h->vrh) == 1, "a call is due at last");
	for (uint32_t i = 0; i < n; i++)
		step(vdriver_get(drv, &back, &len) == 1 && back == data &&
			     len == i,
		     "the guest has them all back, in order");
}

static void wrong_head(const struct vringh_access *access)
{
	struct vdriver *drv = &guest.drv;
	struct host *h = &host;
	uint32_t head;

	drv->ring.avail->ring[drv->avail_idx & (options.ring_size - 1)] =
		vring16(options.virtio_1, options.ring_size);
	WRITE_ONCE(drv->ring.avail->idx,
		   vring16(options.virtio_1, drv->avail_idx + 1));
	step(vringh_getdesc(access, &h->vrh, &h->riov, &h->wiov, &head) ==
		     -EINVAL,
	     "a head out of range is refused");
}

static void steps(const struct vringh_access *access, struct shared *shared)
{
	char *mem = (char *)shared, *data = mem + data_at();
	const bool trusts = access == &vringh_kern;
	const uint64_t base = trusts ? (uintptr_t)mem : FOREIGN;

	step_of = access->name;
	nr_steps = 0;
	memset(mem, 0, shared_bytes());
	guest_start(mem, base - (uintptr_t)mem);
	host_start(access, mem, base);

	one_chain(access, data);
	many_chains(access, data);
	wrong_head(access);
	vringh_iov_cleanup(&host.riov);
	vringh_iov_cleanup(&host.wiov);
	vdriver_free(&guest.drv);
	if (!options.quiet)
		printf("%s: %s%s: %u steps passed\n", program, access->name,
		       options.ops ? ", by table" : "", nr_steps);
}

void run_steps(struct shared *shared)
{
	static const struct vringh_access *const all[] = { &vringh_user,
							   &vringh_kern,
							   &vringh_iotlb };

	if (options.format != FORMAT_HUMAN)
		die(EXIT_USAGE,
		    "--format: steps have no %s; add --parallel or "
		    "--in-turn",
		    options.format == FORMAT_CSV ? "csv" : "json");
	if (options.ops) {
		for (int i = 0; i < 3; i++)
			steps(READ_ONCE(all[i]), shared);
	} else {
		steps(&vringh_user, shared);
		steps(&vringh_kern, shared);
		steps(&vringh_iotlb, shared);
	}
}
