// SPDX-License-Identifier: MIT
/*
 * Any bytes as a guest's memory: vringh takes what it can get from them, as a split
 * ring or a packed one. With
 * clang -fsanitize=fuzzer,address,undefined this is a libFuzzer target; with
 * -DREPLAY it is a program that runs the files named on its command line.
 *
 * An input: 4 bytes of options, then the memory: descriptors, available ring,
 * used ring (packed: the driver's and the device's events), and what is left as
 * tables and buffers. It lies on the heap, cut
 * to its size, so that AddressSanitizer sees every byte beyond.
 */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "virtio/vringh.h"
#include "virtio/vringh_packed.h"
#include "virtio/access_iotlb.h"
#include "virtio/access_kern.h"
#include "virtio/access_user.h"

#define BASE 0x1000u /* where the guest sees its memory */

#define must(cond)                                                             \
	do {                                                                   \
		if (!(cond)) {                                                 \
			fprintf(stderr, "fuzz_vringh: not so: %s\n", #cond);   \
			abort();                                               \
		}                                                              \
	} while (0)

/* What the guest changes while the host is at work: the input's last bytes. */
static void change(uint8_t *mem, size_t size, uint32_t step)
{
	const uint8_t *script = mem + size - size / 8;
	const uint32_t at = step * 3;
	size_t to;

	if (at + 3 > size / 8)
		return;
	to = script[at] | script[at + 1] << 8;
	if (to < size)
		mem[to] = script[at + 2];
}

static void check_pieces(const struct vringh_iov *iov)
{
	for (uint32_t i = 0; i < iov->used; i++)
		must(iov->pieces[i].len &&
		     iov->pieces[i].len - 1 <=
			     UINT64_MAX - iov->pieces[i].addr);
}

/* The heads that are outstanding; a ring has at most 16 entries. */
struct requests {
	struct vringh_used used[16];
	uint32_t n;
};

/* Completes up to @max of them, all at once: those taken last. */
static __vringh_inline void complete(const struct vringh_access *access,
				     struct vringh *vrh, struct requests *out,
				     uint32_t max)
{
	const uint32_t n = max < out->n ? max : out->n;

	out->n -= n;
	if (n == 1)
		must(!vringh_complete(access, vrh, out->used[out->n].head, 0));
	else
		must(!vringh_complete_multi(access, vrh, &out->used[out->n],
					    n));
}

static __vringh_inline void move_bytes(const struct vringh_access *access,
				       struct vringh *vrh,
				       struct vringh_iov *riov,
				       struct vringh_iov *wiov, uint32_t step)
{
	uint8_t buf[64] = "";
	uint64_t left;
	ssize_t n;

	check_pieces(riov);
	check_pieces(wiov);
	left = vringh_iov_left(riov);
	must(vringh_iov_advance(riov, step % 4) <= step % 4);
	left -= vringh_iov_left(riov);
	must(left <= step % 4);
	n = vringh_iov_pull(access, vrh, riov, buf, sizeof(buf));
	must(n <= (ssize_t)sizeof(buf));
	must(n > 0 || riov->i == riov->used || n == -EFAULT || n == -EACCES);
	n = vringh_iov_push(access, vrh, wiov, buf, sizeof(buf));
	must(n <= (ssize_t)sizeof(buf));
}

static __vringh_inline void host(const struct vringh_access *access,
				 struct vringh *vrh, uint8_t *mem, size_t size,
				 bool chains, bool moving)
{
	struct vringh_piece pieces[2][2];
	struct requests out = { .n = 0 };
	struct vringh_iov riov, wiov;

	vringh_iov_init(&riov, pieces[0], 2);
	vringh_iov_init(&wiov, pieces[1], 2);
	for (uint32_t step = 0; step < 3 * vrh->size + 8; step++) {
		const uint16_t before = vrh->last_avail;
		uint32_t head;
		int got = vringh_getdesc(access, vrh, chains ? &riov : NULL,
					 chains ? &wiov : NULL, &head);

		must(got <= 1 && (got >= 0 || *vringh_error(vrh)));
		/* what is out of reach is given back unread */
		if (head == VRINGH_NO_HEAD &&
		    (got == -EFAULT || got == -EACCES))
			vringh_getdesc(access, vrh, NULL, NULL, &head);
		must(vrh->last_avail ==
		     (uint16_t)(before + (head != VRINGH_NO_HEAD)));
		if (moving)
			change(mem, size, step);
		if (head == VRINGH_NO_HEAD) {
			must(got <= 0);
			vringh_notify_enable(access, vrh);
			if (!out.n)
				break;
			complete(access, vrh, &out, 1);
			continue;
		}
		if (got == 1 && chains) {
			must(head < vrh->size);
			must(riov.used + wiov.used <= vrh->max_chain);
			must((uint16_t)(vrh->avail_idx - before) <= vrh->size);
			move_bytes(access, vrh, &riov, &wiov, step);
		}
		if (step % 5 == 4) {
			vringh_abandon(vrh, 1);
			must(vrh->last_avail == before);
		} else if (head < vrh->size) {
			must(out.n < vrh->size);
			out.used[out.n++] = (struct vringh_used){ head, step };
			/* 0 to 2 of them, and some stay */
			complete(access, vrh, &out, step % 3);
		} else {
			must(vringh_complete(access, vrh, head, 0) == -EINVAL);
		}
		must((uint16_t)(vrh->last_avail - vrh->last_used) <= vrh->size);
		vringh_need_notify(access, vrh);
		vringh_notify_disable(access, vrh);
	}
	vringh_iov_cleanup(&riov);
	vringh_iov_cleanup(&wiov);
}

static __vringh_inline void host_packed(const struct vringh_access *access,
					struct vringh_packed *p, uint8_t *mem,
					size_t size, bool moving)
{
	struct vringh *const vrh = &p->vrh;
	struct vringh_piece pieces[2][2];
	struct vringh_chain out[16], chain;
	struct vringh_iov riov, wiov;
	uint32_t n = 0, first = 0; /* outstanding, the oldest of them */

	vringh_iov_init(&riov, pieces[0], 2);
	vringh_iov_init(&wiov, pieces[1], 2);
	for (uint32_t step = 0; step < 3 * vrh->size + 8; step++) {
		const uint32_t before = p->outstanding;
		const struct packed_place place = p->avail;
		int got =
			vringh_packed_getdesc(access, p, &riov, &wiov, &chain);

		must(got <= 1 && (got >= 0 || *vringh_error(vrh)));
		must(p->outstanding == before + chain.n);
		must(p->outstanding <= vrh->size);
		must(p->avail.slot < vrh->size && p->used.slot < vrh->size);
		if (moving)
			change(mem, size, step);
		if (got == 1) {
			must(chain.n && chain.id < vrh->size);
			must(riov.used + wiov.used <= vrh->max_chain);
			move_bytes(access, vrh, &riov, &wiov, step);
		}
		if (!chain.n) {
			must(got <= 0);
			vringh_packed_notify_enable(access, p);
			if (!n)
				break;
		} else if (step % 5 == 4) {
			vringh_packed_abandon(p, &chain);
			must(p->avail.slot == place.slot &&
			     p->avail.turn == place.turn);
		} else {
			must(n < 16);
			out[(first + n++) % 16] = chain;
		}
		if (n > 1 && step % 4 == 1) {
			const struct vringh_chain two[] = {
				out[first % 16], out[(first + 1) % 16]
			};

			must(!vringh_packed_complete_in_order(access, p, two, 2,
							      step));
			n -= 2;
			first += 2;
		} else if (n && (step % 3 || !chain.n)) {
			must(!vringh_packed_complete(
				access, p, &out[first++ % 16], step % 2));
			n--;
		}
		vringh_packed_need_notify(access, p);
		vringh_packed_notify_disable(access, p);
	}
	vringh_iov_cleanup(&riov);
	vringh_iov_cleanup(&wiov);
}

static void try_packed(const uint8_t *options, uint8_t *mem, size_t size)
{
	const uint32_t ring_size = 1 + (options[0] & 15);
	const uint64_t features =
		(uint64_t)(options[1] & 1) << VIRTIO_RING_F_INDIRECT_DESC |
		(uint64_t)(options[1] >> 1 & 1) << VIRTIO_RING_F_EVENT_IDX;
	const uint32_t driver = ring_size * 16, end = driver + 8;
	const struct vringh_access *access = options[1] & 64 ? &vringh_iotlb :
							       &vringh_user;
	size_t cut = end + options[2];
	struct vringh_map map = { .n = 0 };
	struct vringh_packed p;

	if (end > size)
		return;
	if (cut > size)
		cut = size;
	must(!vringh_map_add(&map, BASE, BASE + cut - 1, mem, 3));
	if (cut < size)
		must(!vringh_map_add(&map, BASE + cut, BASE + size - 1,
				     mem + cut, 1 + options[3] % 3));
	must(!vringh_packed_init(access, &p, features, ring_size, BASE,
				 BASE + driver, BASE + driver + 4, &map));
	if (options[1] & 8)
		must(!vringh_set_max_chain(&p.vrh, 3 * ring_size));
	if (options[1] & 16)
		host_packed(access, &p, mem, size, options[1] & 128);
	else if (access == &vringh_user)
		host_packed(&vringh_user, &p, mem, size, options[1] & 128);
	else
		host_packed(&vringh_iotlb, &p, mem, size, options[1] & 128);
	vringh_map_free(&map);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	const struct vringh_access *access;
	struct vringh_map map = { .n = 0 };
	uint32_t ring_size, avail, used;
	struct vringh vrh;
	uint64_t features, cut;
	uint8_t *mem, options[4];

	if (size < 4 || size > 65536)
		return 0;
	memcpy(options, data, 4);
	data += 4;
	size -= 4;
	if (options[0] & 128) {
		mem = malloc(size ? size : 1);
		must(mem);
		memcpy(mem, data, size);
		try_packed(options, mem, size);
		free(mem);
		return 0;
	}
	ring_size = 1u << options[0] % 5;
	avail = ring_size * 16;
	used = (avail + 6 + ring_size * 2 + 3) & -4u;
	if (used + 6 + ring_size * 8 > size)
		return 0;
	features = (uint64_t)(options[1] & 1) << VIRTIO_RING_F_INDIRECT_DESC |
		   (uint64_t)(options[1] >> 1 & 1) << VIRTIO_RING_F_EVENT_IDX |
		   (uint64_t)(options[1] >> 2 & 1) << VIRTIO_F_VERSION_1;
	mem = malloc(size);
	must(mem);
	memcpy(mem, data, size);

	/* the ring and what follows it; the rest in one range or two */
	cut = used + 6 + ring_size * 8 + options[2];
	if (cut >= size)
		cut = size;
	must(!vringh_map_add(&map, BASE, BASE + cut - 1, mem, 3));
	if (cut < size)
		must(!vringh_map_add(&map, BASE + cut, BASE + size - 1,
				     mem + cut, 1 + options[3] % 3));
	access = options[1] & 64 ? &vringh_iotlb : &vringh_user;
	if (options[1] & 32) {
		/* what is not checked may not be used: heads only */
		must(!vringh_init(&vringh_kern, &vrh, features, ring_size,
				  (uintptr_t)mem, (uintptr_t)mem + avail,
				  (uintptr_t)mem + used, NULL));
		must(!vringh_set_base(&vrh, options[3], options[3]));
		host(&vringh_kern, &vrh, mem, size, false, options[1] & 128);
	} else {
		must(!vringh_init(access, &vrh, features, ring_size, BASE,
				  BASE + avail, BASE + used, &map));
		must(!vringh_set_base(&vrh, options[3], options[3]));
		/* as for Linux's driver */
		if (options[1] & 8)
			must(!vringh_set_max_chain(&vrh, 3 * ring_size));
		if (options[1] & 16)
			host(access, &vrh, mem, size, true, options[1] & 128);
		else if (access == &vringh_user)
			host(&vringh_user, &vrh, mem, size, true,
			     options[1] & 128);
		else
			host(&vringh_iotlb, &vrh, mem, size, true,
			     options[1] & 128);
	}
	vringh_map_free(&map);
	free(mem);
	return 0;
}

#ifdef REPLAY
int main(int argc, char **argv)
{
	static uint8_t input[65537];

	for (int i = 1; i < argc; i++) {
		FILE *f = fopen(argv[i], "rb");
		size_t size;

		if (!f) {
			perror(argv[i]);
			return 1;
		}
		size = fread(input, 1, sizeof(input), f);
		fclose(f);
		LLVMFuzzerTestOneInput(input, size);
	}
	printf("%d inputs\n", argc - 1);
	return 0;
}
#endif
