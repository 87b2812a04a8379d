// SPDX-License-Identifier: MIT
/*
 * ptr_ring: a ring of pointers, as network queues use it (ptr_ring.h has the
 * picture and the edges, and says what PTR_RING_CLEAR_FIRST is).
 *
 * Only the buffer's address crosses, and nothing comes back: a completion is
 * made up for each free slot, so that the guest can run as far ahead as the
 * ring allows.
 */
#ifndef PTR_RING_CLEAR_FIRST
#define PTR_RING_CLEAR_FIRST 0
#endif

#include "main.h"
#include "ptr_ring.h"

/*
 * Slots that the producer prefetches ahead: as a rule the consumer has cleared
 * them. In a small or a full ring it may not have, and the line is lost again.
 */
#define AHEAD (PREFETCH_AHEAD / sizeof(void *))

static struct ptr_ring ring;

static struct guest {
	uint32_t added;
	void *data; /* of the buffer added last */
	uint32_t completed;
} __cache_aligned guest;
ASSERT_APART(struct guest);

const struct ring_info ring_info = {
	.name = RING_NAME,
	.min_size = 1,
	.max_size = 1 << 24,
	.addresses = true,
	.param = "batch",
	.param_divisor = 2,
};

void alloc_ring(void)
{
	const uint32_t size = config.ring_size;

	ptr_ring_init_at(&ring, alloc_pages(size * sizeof(void *)), size,
			 config.param);
	guest = (struct guest){
		.added = config.origin,
		.completed = config.origin,
	};
}

/* ---- guest side ---- */

int add_inbuf(unsigned len, void *buf, void *data)
{
	const uint32_t ahead = ring.producer + AHEAD;

	(void)len;
	prefetch_for_write(
		&ring.queue[ahead < ring.size ? ahead : ahead % ring.size]);
	if (ptr_ring_produce(&ring, buf))
		return -1;
	guest.added++;
	guest.data = data;
	return 0;
}

void *get_buf(unsigned *lenp, void **bufp)
{
	if (used_empty())
		return NULL;
	guest.completed++;
	*lenp = 0;
	*bufp = NULL;
	return guest.data;
}

/* Never true while there is room: then add_inbuf goes on, and this follows. */
bool used_empty(void)
{
	return guest.completed == guest.added || ptr_ring_full(&ring);
}

/* ---- host side ---- */

bool avail_empty(void)
{
	return ptr_ring_empty(&ring);
}

bool use_buf(unsigned *lenp, void **bufp)
{
	void *buf = ptr_ring_consume(&ring);

	if (!buf)
		return false;
	*lenp = 0;
	give_host(bufp, buf);
	return true;
}

#include "harness/quiet.inc"
