// SPDX-License-Identifier: MIT
/*
 * What a host can be told once and ask again: a script of calls is run as it
 * is, and then with the first, the second, ... of its translations and
 * allocations failing, until there is none left to fail. The call that failed
 * must have changed nothing, and is repeated; in the end every result, list,
 * byte and notification is as it was without the failure.
 */
#include <errno.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/types.h>

#include "tests/check.h"

/* What can fail: each translation, and each growth of a list. */
static uint32_t until_failure;
static bool failed_now;

static bool fails(void)
{
	if (!until_failure || --until_failure)
		return false;
	failed_now = true;
	return true;
}

static void *failing_realloc(void *old, size_t bytes)
{
	return fails() ? NULL : realloc(old, bytes);
}

#define realloc failing_realloc
#include "virtio/access_iotlb.h"
#include "virtio/access_kern.h"
#include "virtio/access_user.h"
#include "virtio/driver.h"
#undef realloc

enum {
	SIZE = 8,
	TABLES = 8192, /* offsets in memory */
	DATA = TABLES + SIZE * SIZE * 16,
	BYTES = DATA + 4096,
	PIECES = 6,
	LEN = 5, /* bytes of each */
};

static char mem[BYTES] __attribute__((aligned(4096)));
static const struct vringh_access *inner;
static int failure; /* what a translation fails with */
static struct vringh vrh;
static struct vringh_iov riov, wiov;

/* Cuts what may be cut, so that a piece or a table takes several. */
static int failing_translate(struct vringh *v, enum vringh_area area,
			     uint64_t addr, uint64_t len,
			     struct vringh_span *span)
{
	int err = fails() ? failure :
			    inner->translate(v, area, addr, len, span);

	if (!err && area >= VRINGH_TABLE && span->len > 3)
		span->len = 3;
	return err;
}

static const struct vringh_access failing = { "failing", failing_translate };

/* ---- What has happened, in order ---- */

static struct log {
	char text[8192];
	size_t used;
} record, undisturbed;

__attribute__((format(printf, 1, 2))) static void log_call(const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	record.used += vsnprintf(record.text + record.used,
				 sizeof(record.text) - record.used, fmt, ap);
	va_end(ap);
	if (record.used >= sizeof(record.text))
		exit(1);
}

/* ---- A call, and its repetition ---- */

static struct vringh vrh_before;
static struct vringh_iov riov_before, wiov_before;
static uint16_t used_before;

static uint16_t *used_idx(void)
{
	return &((struct vring_used *)(mem + vring_used_offset(SIZE)))->idx;
}

static void remember(void)
{
	vrh_before = vrh;
	riov_before = riov;
	wiov_before = wiov;
	used_before = *used_idx();
	failed_now = false;
}

static void complain(const char *call, long got)
{
	check(false, "%s, failing with %d: %s gives %ld; last error: %s",
	      inner->name, failure, call, got, vrh.error);
}

static bool same_iov(const struct vringh_iov *a, const struct vringh_iov *b)
{
	return a->used == b->used && a->i == b->i && a->done == b->done;
}

/* To be repeated? Then nothing has changed but, @getdesc, the lists. */
static bool again(const char *call, long got, bool getdesc)
{
	if (!failed_now || got >= 0)
		return false;
	if ((got != failure && got != -ENOMEM) ||
	    vrh.last_avail != vrh_before.last_avail ||
	    vrh.last_used != vrh_before.last_used ||
	    vrh.completed != vrh_before.completed ||
	    *used_idx() != used_before ||
	    (!getdesc && (!same_iov(&riov, &riov_before) ||
			  !same_iov(&wiov, &wiov_before))))
		complain(call, got);
	return true;
}

#define CALL(getdesc, call)                                                    \
	({                                                                     \
		long got_;                                                     \
		do {                                                           \
			remember();                                            \
			got_ = (call);                                         \
		} while (again(#call, got_, getdesc));                         \
		log_call("%s: %ld\n", #call, got_);                            \
		got_;                                                          \
	})

/* Until it is all moved, or the end: a failure may come in the midst of it. */
static void move(bool in, void *ours, size_t len)
{
	size_t moved = 0;
	long got;

	do {
		remember();
		got = in ? vringh_iov_push(&failing, &vrh, &wiov,
					   (char *)ours + moved, len - moved) :
			   vringh_iov_pull(&failing, &vrh, &riov,
					   (char *)ours + moved, len - moved);
		if (got > 0) {
			if (failed_now && moved + got == len)
				complain("all of it moved, with a failure",
					 got);
			moved += got;
		}
	} while (
		again(in ? "vringh_iov_push" : "vringh_iov_pull", got, false) ||
		(got > 0 && moved < len));
	log_call("%s: %zu\n", in ? "push" : "pull", moved);
}

/* ---- The script ---- */

static uint32_t get(bool lists)
{
	uint32_t head;

	CALL(true, vringh_getdesc(&failing, &vrh, lists ? &riov : NULL,
				  lists ? &wiov : NULL, &head));
	log_call("head %u, %u to read, %u to write\n", head, riov.used,
		 wiov.used);
	return head;
}

static void look(const struct vringh_iov *iov, enum vringh_area area)
{
	struct vringh_span span;

	CALL(false, vringh_iov_peek(&failing, &vrh, iov, area, &span));
	log_call("%.*s\n", (int)span.len, (char *)span.ptr);
}

static void host(struct vdriver *drv)
{
	char bytes[64] = "";
	struct vringh_used used[2];
	uint32_t len;
	void *back;

	CALL(false, vringh_notify_disable(&failing, &vrh));
	used[0].head = get(true);
	look(&riov, VRINGH_READ);
	move(false, bytes, 7);
	move(false, bytes + 7, 50);
	log_call("%s\n", bytes);
	move(true, "abcdefghijklmnopqrstuvwxyz", 26);
	CALL(false, vringh_complete(&failing, &vrh, used[0].head, 10));
	CALL(false, vringh_need_notify(&failing, &vrh));
	CALL(false, vringh_need_notify(&failing, &vrh));
	get(false);
	vringh_abandon(&vrh, 1);
	used[0] = (struct vringh_used){ get(false), 1 };
	used[1] = (struct vringh_used){ get(true), 2 };
	CALL(false, vringh_complete_multi(&failing, &vrh, used, 2));
	CALL(false, vringh_need_notify(&failing, &vrh));
	get(true);
	CALL(false, vringh_notify_enable(&failing, &vrh));
	log_call("kick %d\n", vdriver_need_kick(drv));
	for (int i = 0; i < 4; i++)
		log_call("back %d\n",
			 vdriver_get(drv, &back, &len) == 1 ? (int)len : -1);
}

static void script(uint64_t features)
{
	const bool indirect = features >> VIRTIO_RING_F_INDIRECT_DESC & 1;
	const uint64_t base = inner == &vringh_kern ? (uintptr_t)mem : 1 << 20;
	struct vringh_piece pieces[2][1];
	struct vringh_map map = { .n = 0 };
	struct vdriver_sg sg[PIECES];
	struct vdriver drv;
	const uint32_t hold = until_failure;

	until_failure = 0;
	record.used = 0;
	memset(mem, 0, sizeof(mem));
	if (vdriver_init(&drv, features, SIZE, mem, base - (uintptr_t)mem,
			 indirect ? (void *)(mem + TABLES) : NULL,
			 indirect ? SIZE : 0) ||
	    vringh_map_add(&map, base, base + DATA - 1, mem, 3) ||
	    vringh_map_add(&map, base + DATA, base + BYTES - 1, mem + DATA, 3))
		exit(1);
	for (int i = 0; i < PIECES; i++) {
		sg[i] = (struct vdriver_sg){ mem + DATA + 8 * i, LEN };
		memset(sg[i].ptr, 'A' + i, LEN);
	}
	if (vdriver_add(&drv, sg, 3, 3, mem) ||
	    vdriver_add(&drv, sg, 1, 0, mem + 1) ||
	    vdriver_add(&drv, sg + 5, 0, 1, mem + 2))
		exit(1);
	vdriver_enable_call(&drv);
	vringh_iov_init(&riov, pieces[0], 1);
	vringh_iov_init(&wiov, pieces[1], 1);

	until_failure = hold;
	do
		failed_now = false;
	while (vringh_init(&failing, &vrh, features, SIZE, base,
			   base + SIZE * sizeof(struct vring_desc),
			   base + vring_used_offset(SIZE), &map) &&
	       failed_now);
	host(&drv);
	vringh_iov_cleanup(&riov);
	vringh_iov_cleanup(&wiov);
	vringh_map_free(&map);
	vdriver_free(&drv);
}

/* How many failures there were room for. */
static uint32_t all_failures(uint64_t features)
{
	static char after[BYTES];

	until_failure = 0;
	script(features);
	undisturbed = record;
	memcpy(after, mem, BYTES);
	for (uint32_t n = 1; n < 10000; n++) {
		until_failure = n;
		script(features);
		if (until_failure) {
			until_failure = 0;
			return n - 1;
		}
		check(record.used == undisturbed.used &&
			      !memcmp(record.text, undisturbed.text,
				      record.used) &&
			      !memcmp(mem, after, BYTES),
		      "%s, %d: failure %u, memory "
		      "%s\n%sand undisturbed\n%s",
		      inner->name, failure, n,
		      memcmp(mem, after, BYTES) ? "differs" : "the same",
		      record.text, undisturbed.text);
	}
	return 0;
}

int main(void)
{
	static const struct vringh_access *const inners[] = { &vringh_user,
							      &vringh_kern,
							      &vringh_iotlb };

	for (int i = 0; i < 3; i++) {
		uint32_t n = 0;

		inner = inners[i];
		for (unsigned bits = 0; bits < 16; bits++) {
			uint32_t some;

			failure = bits & 8 ? -EFAULT : -EACCES;
			some = all_failures(
				(uint64_t)(bits & 1)
					<< VIRTIO_RING_F_INDIRECT_DESC |
				(uint64_t)(bits >> 1 & 1)
					<< VIRTIO_RING_F_EVENT_IDX |
				(uint64_t)(bits >> 2 & 1)
					<< VIRTIO_F_VERSION_1);
			/* the script has more than 30 accesses */
			check(some >= 30, "%u failures", some);
			n += some;
		}
		report("vringh: each access failing once, and the call "
		       "repeated: %s (%u failures)",
		       inner->name, n);
	}
	return finish();
}
