// SPDX-License-Identifier: MIT
/*
 * ring_compact: descriptors of one word, used in place.
 *
 * Guest and host go round one array. A descriptor belongs to the host while
 * its HW flag is set, else to the guest, which reuses it in ring order.
 *
 *	desc[0..size-1]	8 bytes each, page aligned, 8 to a cache line; written
 *			by the guest (HW clear), then by the host (HW set)
 *	kick_index	a pair of lines of its own; written by the host
 *	call_index	a pair of lines of its own; written by the guest
 *
 * What it costs that a descriptor is one word: buffers shorter than 64 KiB at
 * addresses below 2^47, completed in the order in which they were added.
 *
 * Edges:
 *	A  guest to host: address and length, then HW set
 *	B  host to guest: length used, then HW clear
 *	C  a descriptor added, against kick_index armed
 *	D  a descriptor used, against call_index armed
 */
#include "main.h"
#include "virtio/event.h"

/* One store gives it to the other side, whole. */
union desc {
	struct {
		uint64_t hw : 1;
		uint64_t len : 16;
		uint64_t addr : 47;
	};
	uint64_t word;
};

_Static_assert(sizeof(union desc) == 8, "as it says above");

struct event {
	uint16_t kick_index __cache_aligned;
	uint16_t call_index __cache_aligned;
};
ASSERT_APART(struct event);

/*
 * Descriptors to prefetch ahead: both sides write what they read. The host
 * looks less far. When it catches up it takes lines that the guest is about to
 * fill, and the guest then misses them one after the other.
 */
#define AHEAD (PREFETCH_AHEAD / sizeof(union desc))
#define HOST_AHEAD 8

static struct {
	union desc *desc;
	struct event *event;
	uint32_t mask;
} __cache_aligned ring;

struct name {
	void *data;
	void *buf;
};

/* The counters are kept apart, or gcc updates both with one vector. */
static struct guest {
	uint32_t avail_idx;  /* next to add */
	struct name *names;  /* by place in the ring */
	uint32_t used_idx;   /* next to get back */
	uint32_t kicked_idx; /* avail_idx at the last look at kick_index */
} __cache_aligned guest;
ASSERT_APART(struct guest);

static struct host {
	uint32_t used_idx;   /* next to use */
	uint32_t called_idx; /* used_idx at the last look at call_index */
} __cache_aligned host;
ASSERT_APART(struct host);

const struct ring_info ring_info = {
	.name = RING_NAME,
	.min_size = 1,
	.max_size = 32768, /* half of what an event index can tell apart */
	.power_of_two = true,
	.max_len = UINT16_MAX,
	.addresses = true,
	.notifies = true,
	.completes = true,
};

void alloc_ring(void)
{
	const uint32_t size = config.ring_size, origin = config.origin;

	ring.desc = alloc_pages(size * sizeof(*ring.desc));
	ring.event = alloc_pages(sizeof(*ring.event));
	ring.mask = size - 1;
	guest = (struct guest){
		.names = alloc_pages(size * sizeof(*guest.names)),
		.avail_idx = origin,
		.used_idx = origin,
		.kicked_idx = origin,
	};
	host = (struct host){ .used_idx = origin, .called_idx = origin };

	ring.event->kick_index = origin - 1; /* not armed */
	ring.event->call_index = origin - 1;
}

static inline bool has_hw(union desc head)
{
	return head.hw;
}

/* The host's turn at descriptor number @idx? */
static inline bool look(uint32_t idx)
{
	union desc head = {
		.word = READ_ONCE(ring.desc[idx & ring.mask].word),
	};

	return has_hw(head);
}

/* ---- guest side ---- */

int add_inbuf(unsigned len, void *buf, void *data)
{
	const uint32_t idx = guest.avail_idx, slot = idx & ring.mask;
	union desc *desc = &ring.desc[slot];
	union desc head = { 0 };

	if (idx - guest.used_idx > ring.mask)
		return -1;

	guest.names[slot] = (struct name){ data, buf };
	head.hw = 1;
	head.len = len;
	head.addr = (uintptr_t)buf;
	guest.avail_idx = idx + 1;
	/*
	 * A.release: the address, and the buffer, before the flag. Pairs with
	 * A.acquire in use_buf.
	 */
	smp_store_release(&desc->word, head.word);
	return 0;
}

void *get_buf(unsigned *lenp, void **bufp)
{
	const uint32_t mask = ring.mask;
	const uint32_t idx = guest.used_idx, slot = idx & mask;
	union desc *const table = ring.desc;
	const struct name *name;
	union desc head;

	if (idx == guest.avail_idx)
		return NULL;
	/*
	 * B.acquire: the flag before the buffer is the guest's again. Pairs
	 * with B.release in use_buf.
	 */
	head.word = smp_load_acquire(&table[slot].word);
	if (has_hw(head))
		return NULL;

	prefetch_for_write(&table[(idx + AHEAD) & mask]);
	guest.used_idx = idx + 1;
	*lenp = head.len;
	name = &guest.names[slot];
	*bufp = name->buf;
	return name->data;
}

void disable_call(void)
{
	/* Events are armed for one index only: nothing to take back. */
}

bool used_empty(void)
{
	return guest.used_idx == guest.avail_idx || look(guest.used_idx);
}

bool enable_call(void)
{
	WRITE_ONCE(ring.event->call_index, guest.used_idx);
	/*
	 * D.arm: the request before another look at the ring. Pairs with
	 * D.call in call_used.
	 */
	smp_mb();
	return used_empty();
}

void kick_available(void)
{
	uint32_t since = guest.avail_idx - guest.kicked_idx;

	guest.kicked_idx = guest.avail_idx;
	/*
	 * C.kick: the flags set before a look at the request. Pairs with
	 * C.arm in enable_kick.
	 */
	smp_mb();
	if (need_event(READ_ONCE(ring.event->kick_index), guest.avail_idx,
		       since))
		kick();
}

/* ---- host side ---- */

void disable_kick(void)
{
	/* Events are armed for one index only: nothing to take back. */
}

bool avail_empty(void)
{
	return !look(host.used_idx);
}

bool enable_kick(void)
{
	WRITE_ONCE(ring.event->kick_index, host.used_idx);
	/*
	 * C.arm: the request before another look at the ring. Pairs with
	 * C.kick in kick_available.
	 */
	smp_mb();
	return avail_empty();
}

bool use_buf(unsigned *lenp, void **bufp)
{
	const uint32_t idx = host.used_idx, mask = ring.mask;
	union desc *const table = ring.desc, *desc = &table[idx & mask];
	union desc head;

	/*
	 * A.acquire: the flag before the address. Pairs with A.release in
	 * add_inbuf.
	 */
	head.word = smp_load_acquire(&desc->word);
	if (!has_hw(head))
		return false;

	prefetch_for_write(&table[(idx + HOST_AHEAD) & mask]);
	host.used_idx = idx + 1;
	*lenp = head.len;
	give_host(bufp, (void *)(uintptr_t)head.addr);
	head = (union desc){ .len = *lenp - 1 };
	/*
	 * B.release: the end of all use of the buffer, and of the address,
	 * before the flag. Pairs with B.acquire in get_buf.
	 */
	smp_store_release(&desc->word, head.word);
	return true;
}

void call_used(void)
{
	uint32_t since = host.used_idx - host.called_idx;

	host.called_idx = host.used_idx;
	/*
	 * D.call: the flags cleared before a look at the request. Pairs with
	 * D.arm in enable_call.
	 */
	smp_mb();
	if (need_event(READ_ONCE(ring.event->call_index), host.used_idx, since))
		call();
}
