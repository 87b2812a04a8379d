/* SPDX-License-Identifier: MIT */
/*
 * The code of vringh_packed.h, which includes it.
 *
 * Edges; the other ends are in the guest:
 *	A  guest to host: a chain's descriptors, then the flags of its first
 *	B  host to guest: the end of all use of the buffers, then the flags
 *	C  a chain added, against a request for a kick
 *	D  a chain completed, against a request for a call
 */
#ifndef VIRTIO_VRINGH_PACKED_CORE_H
#define VIRTIO_VRINGH_PACKED_CORE_H

static inline int vringh_packed_init(const struct vringh_access *access,
				     struct vringh_packed *p, uint64_t features,
				     uint32_t size, uint64_t desc,
				     uint64_t driver, uint64_t device,
				     const void *memory)
{
	const uint64_t known =
		1ull << VIRTIO_RING_F_INDIRECT_DESC |
		1ull << VIRTIO_RING_F_EVENT_IDX | 1ull << VIRTIO_F_VERSION_1 |
		1ull << VIRTIO_F_RING_PACKED | 1ull << VIRTIO_F_IN_ORDER;
	int err;

	*p = (struct vringh_packed){
		.vrh = {
			.desc = desc,
			.avail = driver,
			.used = device,
			.memory = memory,
			.size = size,
			.max_chain = size,
			.v1 = true,
			.indirect = features >> VIRTIO_RING_F_INDIRECT_DESC & 1,
			.event_idx = features >> VIRTIO_RING_F_EVENT_IDX & 1,
		},
		.avail = packed_start(PACKED_DESC_F_AVAIL),
		.used = packed_start(PACKED_TURN),
	};
	if (features & ~known)
		return vringh_fail(&p->vrh, -EINVAL,
				   "features 0x%" PRIx64 " are not known",
				   features & ~known);
	if (!size || size > PACKED_MAX_SIZE)
		return vringh_fail(&p->vrh, -EINVAL,
				   "size %" PRIu32 " is not 1 to %u", size,
				   PACKED_MAX_SIZE);
	err = vringh_check_area(access, &p->vrh, VRINGH_DESC, desc,
				size * sizeof(struct packed_desc), 16);
	if (!err)
		err = vringh_check_area(access, &p->vrh, VRINGH_USED, desc,
					size * sizeof(struct packed_desc), 16);
	if (!err)
		err = vringh_check_area(access, &p->vrh, VRINGH_AVAIL, driver,
					sizeof(union packed_event), 4);
	if (!err)
		err = vringh_check_area(access, &p->vrh, VRINGH_USED, device,
					sizeof(union packed_event), 4);
	return err;
}

/* ---- Chains ---- */

static __vringh_inline struct packed_desc *
vringh_packed_at(const struct vringh_access *access, struct vringh_packed *p,
		 enum vringh_area area, uint32_t slot, int *err)
{
	return vringh_word(access, &p->vrh, area,
			   p->vrh.desc + slot * sizeof(struct packed_desc),
			   sizeof(struct packed_desc), err);
}

/* A chain's buffers are the entries of a table. 0, or -errno. */
static __vringh_inline int
vringh_packed_table(const struct vringh_access *access, struct vringh *vrh,
		    struct vringh_walk *walk, struct vringh_iov *riov,
		    struct vringh_iov *wiov)
{
	for (uint32_t i = 0; i < walk->entries; i++) {
		struct vring_desc desc = { 0 };
		int err = vringh_read_desc(access, vrh, VRINGH_TABLE,
					   walk->table + i * sizeof(desc),
					   &desc);

		if (vringh_unlikely(err))
			return err;
		/* id and flags change places, and all but WRITE is ignored */
		desc.flags = desc.next & VRING_DESC_F_WRITE;
		desc.next = 0;
		err = vringh_add_buffer(vrh, walk, &desc, riov, wiov);
		if (vringh_unlikely(err > 0))
			err = vringh_fail_desc(vrh, VRINGH_TABLE, i, &desc,
					       err - 1);
		if (vringh_unlikely(err))
			return err;
	}
	return 0;
}

/* One descriptor of the ring, as it was read. 0, or what is wrong with it. */
static __vringh_inline int
vringh_packed_take(const struct vringh_access *access, struct vringh *vrh,
		   uint32_t slot, bool first, const struct vring_desc *desc,
		   struct vringh_walk *walk, struct vringh_iov *riov,
		   struct vringh_iov *wiov)
{
	int err;

	if (vringh_unlikely(desc->flags & VRING_DESC_F_INDIRECT)) {
		if (!first) /* 2.8.5: a list has either one kind or the other */
			return vringh_fail_desc(vrh, VRINGH_DESC, slot, desc,
						IN_CHAIN);
		err = vringh_enter_table(vrh, slot, desc, walk);
		return err < 0 ? err :
				 vringh_packed_table(access, vrh, walk, riov,
						     wiov);
	}
	err = vringh_add_buffer(vrh, walk, desc, riov, wiov);
	return vringh_unlikely(err > 0) ?
		       vringh_fail_desc(vrh, VRINGH_DESC, slot, desc, err - 1) :
		       err;
}

/* The descriptor at @at, each word read once. 1; 0: it is not available; -errno. */
static __vringh_inline int
vringh_packed_read(const struct vringh_access *access, struct vringh_packed *p,
		   const struct packed_place *at, struct vring_desc *desc)
{
	const struct packed_desc *from;
	union packed_head head;
	int err;

	from = vringh_packed_at(access, p, VRINGH_DESC, at->slot, &err);
	if (vringh_unlikely(err))
		return err;
	/*
	 * A.acquire: the first flags before all else of the chain. Pairs with
	 * the guest's A.release.
	 */
	head.word = smp_load_acquire(&from->head.word);
	if (!packed_turn(at, head.flags))
		return 0;
	*desc = (struct vring_desc){
		.addr = packed64(READ_ONCE(from->addr)),
		.len = packed32(head.len),
		.flags = packed16(head.flags),
		.next = packed16(head.id),
	};
	return 1;
}

/*
 * Goes through the chain at p->avail. How many descriptors it has, or -errno if it
 * cannot be taken. *id is the last one's; *flaw what is wrong with it, or 0.
 */
static __vringh_inline int
vringh_packed_walk(const struct vringh_access *access, struct vringh_packed *p,
		   struct vringh_iov *riov, struct vringh_iov *wiov,
		   uint16_t *id, int *flaw)
{
	const int room = p->vrh.size - p->outstanding;
	struct vringh_walk walk = { .total = 0 };
	struct packed_place at = p->avail;
	struct vring_desc desc;
	int n = 0;

	*flaw = 0;
	do {
		int got = n == room ? 0 :
				      vringh_packed_read(access, p, &at, &desc);

		if (got < 0 || (!got && !n))
			return got;
		if (vringh_unlikely(!got))
			return vringh_fail(&p->vrh, -EPROTO,
					   "a chain from descriptor %" PRIu32
					   " on has no end before %" PRIu32
					   ", which is not available",
					   p->avail.slot, at.slot);
		if ((riov || wiov) && !*flaw)
			*flaw = vringh_packed_take(access, &p->vrh, at.slot, !n,
						   &desc, &walk, riov, wiov);
		if (vringh_unlikely(*flaw == -EFAULT || *flaw == -EACCES ||
				    *flaw == -ENOMEM))
			return *flaw;
		n++;
		packed_step(&at, 1, p->vrh.size);
	} while (desc.flags & VRING_DESC_F_NEXT);
	*id = desc.next;
	p->avail = at;
	return n;
}

static __vringh_inline int
vringh_packed_getdesc(const struct vringh_access *access,
		      struct vringh_packed *p, struct vringh_iov *riov,
		      struct vringh_iov *wiov, struct vringh_chain *chain)
{
	int n, flaw = 0;

	*chain = (struct vringh_chain){ 0 };
	if (riov) {
		riov->used = 0;
		vringh_iov_reset(riov);
	}
	if (wiov) {
		wiov->used = 0;
		vringh_iov_reset(wiov);
	}
	n = vringh_packed_walk(access, p, riov, wiov, &chain->id, &flaw);
	if (n > 0) {
		chain->n = n;
		p->outstanding += n;
		if (vringh_unlikely(!flaw && chain->id >= p->vrh.size))
			flaw = vringh_fail(&p->vrh, -EINVAL,
					   "buffer id %u in a ring of %" PRIu32,
					   chain->id, p->vrh.size);
		n = flaw ? flaw : 1;
	}
	if (vringh_unlikely(n < 0)) {
		if (riov)
			riov->used = 0;
		if (wiov)
			wiov->used = 0;
	}
	return n;
}

static inline void vringh_packed_abandon(struct vringh_packed *p,
					 const struct vringh_chain *chain)
{
	/* back is forward all the way round, less that, and a lap too many */
	packed_step(&p->avail, p->vrh.size - chain->n, p->vrh.size);
	p->avail.turn ^= packed16(PACKED_TURN);
	p->outstanding -= chain->n;
}

/* ---- Completions ---- */

/* One used descriptor for the next @n descriptors, with the last one's id. */
static __vringh_inline int vringh_packed_put(const struct vringh_access *access,
					     struct vringh_packed *p,
					     uint16_t id, uint32_t n,
					     uint32_t len)
{
	struct packed_desc *desc;
	union packed_head head;
	int err;

	if (vringh_unlikely(!n || n > p->outstanding))
		return vringh_fail(&p->vrh, -EINVAL,
				   "completion of %" PRIu32
				   " descriptors, of %" PRIu32 " outstanding",
				   n, p->outstanding);
	desc = vringh_packed_at(access, p, VRINGH_USED, p->used.slot, &err);
	if (vringh_unlikely(err))
		return err;
	head = (union packed_head){
		.len = packed32(len),
		.id = packed16(id),
		.flags = p->used.turn | packed16(len ? VRING_DESC_F_WRITE : 0),
	};
	packed_step(&p->used, n, p->vrh.size);
	p->outstanding -= n;
	p->vrh.completed += n;
	/*
	 * B.release: the end of all use of the buffers and of the descriptors,
	 * before the flags. Pairs with the guest's B.acquire.
	 */
	smp_store_release(&desc->head.word, head.word);
	return 0;
}

static __vringh_inline int
vringh_packed_complete(const struct vringh_access *access,
		       struct vringh_packed *p,
		       const struct vringh_chain *chain, uint32_t len)
{
	return vringh_packed_put(access, p, chain->id, chain->n, len);
}

static __vringh_inline int vringh_packed_complete_in_order(
	const struct vringh_access *access, struct vringh_packed *p,
	const struct vringh_chain *chains, uint32_t n, uint32_t len)
{
	uint32_t descs = 0;

	for (uint32_t i = 0; i < n && descs <= p->vrh.size; i++)
		descs += chains[i].n;
	return vringh_packed_put(access, p, n ? chains[n - 1].id : 0, descs,
				 len);
}

/* ---- Notifications ---- */

static __vringh_inline int
vringh_packed_need_notify(const struct vringh_access *access,
			  struct vringh_packed *p)
{
	struct vringh *const vrh = &p->vrh;
	const uint32_t since = vrh->completed;
	union packed_event event;
	uint32_t *word;
	int err;

	/*
	 * D.call: the completions before a look at the request. Pairs with the
	 * guest's D.arm.
	 */
	smp_mb();
	word = vringh_word(access, vrh, VRINGH_AVAIL, vrh->avail, sizeof(*word),
			   &err);
	if (vringh_unlikely(err))
		return err;
	event.word = READ_ONCE(*word);
	vrh->completed = 0;
	if (!vrh->event_idx && (packed16(event.flags) & 3) == PACKED_EVENT_DESC)
		event.flags = PACKED_EVENT_ENABLE; /* not negotiated */
	return packed_need_event(event, &p->used, vrh->size, since);
}

/* 1: there is nothing to take. 0: there is something. */
static __vringh_inline int
vringh_packed_look(const struct vringh_access *access, struct vringh_packed *p)
{
	const struct packed_desc *desc;
	union packed_head head;
	int err;

	if (p->outstanding == p->vrh.size)
		return 1;
	desc = vringh_packed_at(access, p, VRINGH_DESC, p->avail.slot, &err);
	if (vringh_unlikely(err))
		return err;
	head.word = READ_ONCE(desc->head.word);
	return !packed_turn(&p->avail, head.flags);
}

static __vringh_inline bool
vringh_packed_empty(const struct vringh_access *access, struct vringh_packed *p)
{
	return vringh_packed_look(access, p) == 1;
}

static __vringh_inline int vringh_packed_ask(const struct vringh_access *access,
					     struct vringh_packed *p,
					     union packed_event event)
{
	int err;
	uint32_t *word = vringh_word(access, &p->vrh, VRINGH_USED, p->vrh.used,
				     sizeof(*word), &err);

	if (!err)
		WRITE_ONCE(*word, event.word);
	return err;
}

static __vringh_inline int
vringh_packed_notify_enable(const struct vringh_access *access,
			    struct vringh_packed *p)
{
	const union packed_event always = { .flags = PACKED_EVENT_ENABLE };
	int err = vringh_packed_ask(
		access, p, p->vrh.event_idx ? packed_ask(&p->avail) : always);

	if (vringh_unlikely(err))
		return err;
	/*
	 * C.arm: the request before another look at the ring. Pairs with the
	 * guest's C.kick.
	 */
	smp_mb();
	return vringh_packed_look(access, p);
}

static __vringh_inline int
vringh_packed_notify_disable(const struct vringh_access *access,
			     struct vringh_packed *p)
{
	const union packed_event never = {
		.flags = packed16(PACKED_EVENT_DISABLE),
	};

	return vringh_packed_ask(access, p, never);
}

#endif
