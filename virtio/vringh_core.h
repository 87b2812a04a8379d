/* SPDX-License-Identifier: MIT */
/*
 * The code of vringh, for every access; vringh.h, which includes it, says what
 * the calls do.
 *
 * Whatever calls through the access is inlined into its caller, so that with a
 * constant access that call is inlined, too. What only a broken guest causes is
 * kept out of line.
 *
 * Edges; the other ends are in the guest, whichever this is built with:
 *	A  guest to host: descriptor and entry, then avail idx
 *	B  host to guest: used element, then used idx
 *	C  avail idx added to, against avail_event or flags armed
 *	D  used idx added to, against used_event or flags armed
 */
#ifndef VIRTIO_VRINGH_CORE_H
#define VIRTIO_VRINGH_CORE_H

__vringh_cold static int vringh_fail_index(struct vringh *vrh, uint16_t idx)
{
	const uint16_t ahead = idx - vrh->last_avail;

	if (ahead > VRING_MAX_SIZE)
		return vringh_fail(vrh, -EPROTO,
				   "available index went back "
				   "from %u to %u",
				   vrh->last_avail, idx);
	if (ahead > vrh->size)
		return vringh_fail(vrh, -EPROTO,
				   "available index %u is %u "
				   "ahead of %u, in a ring of %" PRIu32,
				   idx, ahead, vrh->last_avail, vrh->size);
	return vringh_fail(vrh, -EPROTO,
			   "available index %u is %u ahead of "
			   "%u completed, in a ring of %" PRIu32,
			   idx, (uint16_t)(idx - vrh->last_used),
			   vrh->last_used, vrh->size);
}

/* ---- Beginning ---- */

static inline int vringh_init(const struct vringh_access *access,
			      struct vringh *vrh, uint64_t features,
			      uint32_t size, uint64_t desc, uint64_t avail,
			      uint64_t used, const void *memory)
{
	const uint64_t known = 1ull << VIRTIO_RING_F_INDIRECT_DESC |
			       1ull << VIRTIO_RING_F_EVENT_IDX |
			       1ull << VIRTIO_F_VERSION_1;
	int err;

	*vrh = (struct vringh){
		.desc = desc,
		.avail = avail,
		.used = used,
		.memory = memory,
		.size = size,
		.max_chain = size,
		.v1 = features >> VIRTIO_F_VERSION_1 & 1,
		.indirect = features >> VIRTIO_RING_F_INDIRECT_DESC & 1,
		.event_idx = features >> VIRTIO_RING_F_EVENT_IDX & 1,
	};
	if (features & ~known)
		return vringh_fail(vrh, -EINVAL,
				   "features 0x%" PRIx64 " are not known",
				   features & ~known);
	if (!size || size & (size - 1) || size > VRING_MAX_SIZE)
		return vringh_fail(vrh, -EINVAL,
				   "size %" PRIu32 " is not a "
				   "power of two up to %u",
				   size, VRING_MAX_SIZE);
	err = vringh_check_area(access, vrh, VRINGH_DESC, desc,
				size * sizeof(struct vring_desc), 16);
	if (!err)
		err = vringh_check_area(access, vrh, VRINGH_AVAIL, avail,
					(3 + size) * sizeof(uint16_t), 2);
	if (!err)
		err = vringh_check_area(access, vrh, VRINGH_USED, used,
					size * sizeof(struct vring_used_elem) +
						3 * sizeof(uint16_t),
					4);
	return err;
}

static inline int vringh_set_base(struct vringh *vrh, uint16_t last_avail,
				  uint16_t last_used)
{
	if ((uint16_t)(last_avail - last_used) > vrh->size)
		return vringh_fail(vrh, -EINVAL,
				   "%u chains taken and %u "
				   "completed, in a ring of %" PRIu32,
				   last_avail, last_used, vrh->size);
	vrh->avail_idx = last_avail;
	vrh->last_avail = last_avail;
	vrh->last_used = last_used;
	vrh->completed = 0;
	return 0;
}

/* ---- Chains ---- */

/* 0: the end of the chain. 1: it continues in the indirect table in *walk. */
static __vringh_inline int
vringh_walk_table(const struct vringh_access *access, struct vringh *vrh,
		  const enum vringh_area area, struct vringh_walk *walk,
		  struct vringh_iov *riov, struct vringh_iov *wiov)
{
	uint32_t i = walk->i, steps = 0;
	struct vring_desc desc;
	enum vringh_flaw flaw;

	for (;;) {
		int err = vringh_read_desc(access, vrh, area,
					   walk->table + i * sizeof(desc),
					   &desc);

		if (vringh_unlikely(err))
			return err;
		flaw = NESTED;
		if (vringh_unlikely(desc.flags & VRING_DESC_F_INDIRECT)) {
			if (area == VRINGH_TABLE)
				break;
			return vringh_enter_table(vrh, i, &desc, walk);
		}
		err = vringh_add_buffer(vrh, walk, &desc, riov, wiov);
		if (vringh_unlikely(err)) {
			if (err < 0)
				return err;
			flaw = err - 1;
			break;
		}
		if (!(desc.flags & VRING_DESC_F_NEXT))
			return 0;
		flaw = NEXT_RANGE;
		if (vringh_unlikely(desc.next >= walk->entries))
			break;
		flaw = LOOPS;
		if (vringh_unlikely(++steps == walk->entries))
			break;
		i = desc.next;
	}
	return vringh_fail_desc(vrh, area, i, &desc, flaw);
}

static inline void vringh_abandon(struct vringh *vrh, uint16_t n)
{
	vrh->last_avail -= n;
}

static __vringh_inline uint16_t *
vringh_avail_idx(const struct vringh_access *access, struct vringh *vrh,
		 int *err)
{
	return vringh_word(access, vrh, VRINGH_AVAIL,
			   vrh->avail + offsetof(struct vring_avail, idx),
			   sizeof(uint16_t), err);
}

/* Reads the index. 1: there are new chains. 0: there are none. */
static __vringh_inline int vringh_read_avail(const struct vringh_access *access,
					     struct vringh *vrh)
{
	uint16_t *p, idx;
	uint32_t outstanding;
	int err;

	p = vringh_avail_idx(access, vrh, &err);
	if (vringh_unlikely(err))
		return err;
	/*
	 * A.acquire: the index before the entries and the descriptors. Pairs
	 * with the guest's A.release.
	 */
	idx = vring16(vrh->v1, smp_load_acquire(p));
	if (idx == vrh->last_avail)
		return 0;
	/*
	 * What the guest added has to fit in the ring beside what is
	 * outstanding. That then holds for every chain up to idx, as
	 * completions only make room. To a host that completed what it had not
	 * taken, far too much is outstanding.
	 */
	outstanding = (uint16_t)(vrh->last_avail - vrh->last_used);
	if (vringh_unlikely((uint16_t)(idx - vrh->last_avail) + outstanding >
			    vrh->size))
		return vringh_fail_index(vrh, idx);
	vrh->avail_idx = idx;
	return 1;
}

/*
 * The chain just taken could not be read in full. If it is malformed, it stays
 * taken, for the host to give it back; else it is as if nobody had looked.
 */
__vringh_cold static int vringh_untake(struct vringh *vrh, int err,
				       struct vringh_iov *riov,
				       struct vringh_iov *wiov, uint32_t *head)
{
	if (riov)
		riov->used = 0;
	if (wiov)
		wiov->used = 0;
	if (err == -EFAULT || err == -EACCES || err == -ENOMEM) {
		vringh_abandon(vrh, 1);
		*head = VRINGH_NO_HEAD;
	}
	return err;
}

static __vringh_inline int
vringh_getdesc(const struct vringh_access *access, struct vringh *vrh,
	       struct vringh_iov *riov, struct vringh_iov *wiov, uint32_t *head)
{
	const uint32_t mask = vrh->size - 1;
	struct vringh_walk walk;
	uint16_t *entry;
	int err;

	*head = VRINGH_NO_HEAD;
	if (vrh->avail_idx == vrh->last_avail) {
		err = vringh_read_avail(access, vrh);
		if (err <= 0)
			return err;
	}
	entry = vringh_word(access, vrh, VRINGH_AVAIL,
			    vrh->avail + offsetof(struct vring_avail, ring) +
				    (vrh->last_avail & mask) * sizeof(*entry),
			    sizeof(*entry), &err);
	if (vringh_unlikely(err))
		return err;
	*head = vring16(vrh->v1, READ_ONCE(*entry));
	vrh->last_avail++;
	if (vringh_unlikely(*head > mask))
		return vringh_fail(vrh, -EINVAL,
				   "head %" PRIu32 " in a ring "
				   "of %" PRIu32,
				   *head, vrh->size);
	if (riov) {
		riov->used = 0;
		vringh_iov_reset(riov);
	}
	if (wiov) {
		wiov->used = 0;
		vringh_iov_reset(wiov);
	}
	if (!riov && !wiov)
		return 1;

	walk = (struct vringh_walk){ .table = vrh->desc,
				     .entries = vrh->size,
				     .i = *head };
	err = vringh_walk_table(access, vrh, VRINGH_DESC, &walk, riov, wiov);
	if (vringh_unlikely(err > 0))
		err = vringh_walk_table(access, vrh, VRINGH_TABLE, &walk, riov,
					wiov);
	if (vringh_unlikely(err))
		return vringh_untake(vrh, err, riov, wiov, head);
	return 1;
}

/* ---- Completions ---- */

static __vringh_inline int
vringh_complete_multi(const struct vringh_access *access, struct vringh *vrh,
		      const struct vringh_used *used, uint32_t n)
{
	const uint32_t mask = vrh->size - 1;
	uint16_t *p;
	int err;

	if (vringh_unlikely(n != 1 && n > vrh->size))
		return vringh_fail(vrh, -EINVAL,
				   "%" PRIu32 " completions in a "
				   "ring of %" PRIu32,
				   n, vrh->size);
	for (uint32_t i = 0; i < n; i++) {
		struct vring_used_elem *elem;

		if (vringh_unlikely(used[i].head > mask))
			return vringh_fail(vrh, -EINVAL,
					   "completion of head %" PRIu32
					   " in a ring of %" PRIu32,
					   used[i].head, vrh->size);
		elem = vringh_word(
			access, vrh, VRINGH_USED,
			vrh->used + offsetof(struct vring_used, ring) +
				((vrh->last_used + i) & mask) * sizeof(*elem),
			sizeof(*elem), &err);
		if (vringh_unlikely(err))
			return err;
		WRITE_ONCE(elem->id, vring32(vrh->v1, used[i].head));
		WRITE_ONCE(elem->len, vring32(vrh->v1, used[i].len));
	}
	p = vringh_word(access, vrh, VRINGH_USED,
			vrh->used + offsetof(struct vring_used, idx),
			sizeof(*p), &err);
	if (vringh_unlikely(err))
		return err;
	vrh->last_used += n;
	vrh->completed += n;
	/*
	 * B.release: the elements, and the end of all use of the buffers,
	 * before the index. Pairs with the guest's B.acquire.
	 */
	smp_store_release(p, vring16(vrh->v1, vrh->last_used));
	return 0;
}

static __vringh_inline int vringh_complete(const struct vringh_access *access,
					   struct vringh *vrh, uint32_t head,
					   uint32_t len)
{
	const struct vringh_used used = { head, len };

	return vringh_complete_multi(access, vrh, &used, 1);
}

/* ---- Notifications ---- */

static __vringh_inline int
vringh_need_notify(const struct vringh_access *access, struct vringh *vrh)
{
	const uint32_t since = vrh->completed;
	const uint64_t used_event = offsetof(struct vring_avail, ring) +
				    vrh->size * sizeof(uint16_t);
	uint16_t *p, val;
	int err;

	/*
	 * D.call: the completions before a look at the request. Pairs with
	 * the guest's D.arm.
	 */
	smp_mb();
	p = vringh_word(access, vrh, VRINGH_AVAIL,
			vrh->avail +
				(vrh->event_idx ?
					 used_event :
					 offsetof(struct vring_avail, flags)),
			sizeof(*p), &err);
	if (vringh_unlikely(err))
		return err;
	val = vring16(vrh->v1, READ_ONCE(*p));
	vrh->completed = 0;
	if (vrh->event_idx)
		return need_event(val, vrh->last_used, since);
	return since && !(val & VRING_AVAIL_F_NO_INTERRUPT);
}

/* 1: there is nothing to take. 0: there is something, or the index is wrong. */
static __vringh_inline int vringh_look(const struct vringh_access *access,
				       struct vringh *vrh)
{
	uint16_t *p;
	int err;

	if (vrh->avail_idx != vrh->last_avail)
		return 0;
	p = vringh_avail_idx(access, vrh, &err);
	if (vringh_unlikely(err))
		return err;
	return vring16(vrh->v1, READ_ONCE(*p)) == vrh->last_avail;
}

static __vringh_inline bool vringh_empty(const struct vringh_access *access,
					 struct vringh *vrh)
{
	return vringh_look(access, vrh) == 1;
}

/* Writes the used ring's flags or, with EVENT_IDX, avail_event. */
static __vringh_inline int vringh_ask(const struct vringh_access *access,
				      struct vringh *vrh, uint64_t offset,
				      uint16_t val)
{
	int err;
	uint16_t *p = vringh_word(access, vrh, VRINGH_USED, vrh->used + offset,
				  sizeof(*p), &err);

	if (!err)
		WRITE_ONCE(*p, vring16(vrh->v1, val));
	return err;
}

static __vringh_inline int
vringh_notify_enable(const struct vringh_access *access, struct vringh *vrh)
{
	const uint64_t avail_event = offsetof(struct vring_used, ring) +
				     vrh->size * sizeof(struct vring_used_elem);
	int err;

	if (vrh->event_idx)
		err = vringh_ask(access, vrh, avail_event, vrh->last_avail);
	else
		err = vringh_ask(access, vrh,
				 offsetof(struct vring_used, flags), 0);
	if (vringh_unlikely(err))
		return err;
	/*
	 * C.arm: the request before another look at the ring. Pairs with
	 * the guest's C.kick.
	 */
	smp_mb();
	return vringh_look(access, vrh);
}

static __vringh_inline int
vringh_notify_disable(const struct vringh_access *access, struct vringh *vrh)
{
	if (vrh->event_idx)
		return 0;
	return vringh_ask(access, vrh, offsetof(struct vring_used, flags),
			  VRING_USED_F_NO_NOTIFY);
}

#endif
