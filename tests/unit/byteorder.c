// SPDX-License-Identifier: MIT
/*
 * The bytes of a ring: little-endian with VERSION_1, else the machine's own;
 * what the driver writes, what vringh writes, and that each reads the other.
 */
#include <string.h>

#include "tests/check.h"
#include "virtio/access_kern.h"
#include "virtio/driver.h"

#define BIG (__BYTE_ORDER__ == __ORDER_BIG_ENDIAN__)

static _Alignas(4096) unsigned char mem[16384];

/* @size bytes at @offset are @val, so ordered. */
static void bytes(bool little, size_t offset, uint64_t val, int size,
		  const char *what)
{
	for (int i = 0; i < size; i++) {
		unsigned char expected = val >> 8 * (little ? i : size - 1 - i);

		check(mem[offset + i] == expected,
		      "%s: byte %d is 0x%02x, not 0x%02x", what, i,
		      mem[offset + i], expected);
	}
}

static void good(bool so, const char *what)
{
	check(so, "%s", what);
}

static void ring(bool v1)
{
	const uint64_t features = (uint64_t)v1 << VIRTIO_F_VERSION_1 |
				  1ull << VIRTIO_RING_F_EVENT_IDX;
	const bool little = v1 || !BIG;
	const size_t avail = 4 * 16, used = 4096;
	struct vringh_piece pieces[2];
	struct vringh_iov riov, wiov;
	struct vdriver drv;
	struct vringh vrh;
	struct vdriver_sg sg[2] = { { mem + 8192, 0x0102 },
				    { mem + 12288, 0x0304 } };
	uint32_t head, len;
	void *back;

	good(!vdriver_init(&drv, features, 4, mem, 0, NULL, 0), "no memory");
	vdriver_add(&drv, sg + 1, 0, 1, mem);
	vdriver_add(&drv, sg, 1, 1, mem + 1);
	bytes(little, 0, (uintptr_t)mem + 12288, 8, "desc.addr");
	bytes(little, 8, 0x0304, 4, "desc.len");
	bytes(little, 12, VRING_DESC_F_WRITE, 2, "desc.flags");
	bytes(little, 16 + 8, 0x0102, 4, "desc.len");
	bytes(little, 16 + 12, VRING_DESC_F_NEXT, 2, "desc.flags");
	bytes(little, 16 + 14, 2, 2, "desc.next");
	bytes(little, avail + 2, 2, 2, "avail.idx");
	bytes(little, avail + 4 + 2, 1, 2, "avail.ring");
	vdriver_enable_call_delayed(&drv);
	bytes(little, avail + 4 + 8, 1, 2, "used_event");

	good(!vringh_init(&vringh_kern, &vrh, features, 4, (uintptr_t)mem,
			  (uintptr_t)mem + avail, (uintptr_t)mem + used, NULL),
	     "vringh_init");
	vringh_iov_init(&riov, pieces, 1);
	vringh_iov_init(&wiov, pieces + 1, 1);
	good(vringh_getdesc(&vringh_kern, &vrh, &riov, &wiov, &head) == 1 &&
		     head == 0 && !riov.used && wiov.pieces[0].len == 0x0304,
	     "the first chain");
	good(vringh_getdesc(&vringh_kern, &vrh, &riov, &wiov, &head) == 1 &&
		     head == 1 && riov.pieces[0].len == 0x0102 &&
		     riov.pieces[0].addr == (uintptr_t)mem + 8192,
	     "the second chain");
	good(vringh_notify_enable(&vringh_kern, &vrh) == 1, "it is empty");
	bytes(little, used + 4 + 4 * 8, 2, 2, "avail_event");
	good(!vringh_complete(&vringh_kern, &vrh, 1, 0x01020304), "completing");
	bytes(little, used + 2, 1, 2, "used.idx");
	bytes(little, used + 4, 1, 4, "used.id");
	bytes(little, used + 8, 0x01020304, 4, "used.len");
	good(!vringh_need_notify(&vringh_kern, &vrh), "a call too soon");
	good(!vringh_complete(&vringh_kern, &vrh, 0, 5), "completing");
	good(vringh_need_notify(&vringh_kern, &vrh) == 1, "no call");
	good(vdriver_get(&drv, &back, &len) == 1 && back == mem + 1 &&
		     len == 0x01020304,
	     "the first comes back");
	good(vdriver_get(&drv, &back, &len) == 1 && back == mem && len == 5,
	     "the second comes back");

	/* flags, without event indexes */
	vrh.event_idx = drv.event_idx = false;
	vringh_notify_disable(&vringh_kern, &vrh);
	bytes(little, used, VRING_USED_F_NO_NOTIFY, 2, "used.flags");
	vdriver_disable_call(&drv);
	bytes(little, avail, VRING_AVAIL_F_NO_INTERRUPT, 2, "avail.flags");
	vdriver_free(&drv);
	report("byte order: %s ring on a %s-endian machine",
	       v1 ? "VERSION_1" : "legacy", BIG ? "big" : "little");
}

int main(void)
{
	ring(false);
	ring(true);
	return finish();
}
