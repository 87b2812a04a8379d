/* SPDX-License-Identifier: MIT */
/*
 * Which of the guest's addresses the host may use, and where they are: ranges,
 * each with permissions. For vringh_user and vringh_iotlb. A map is changed by
 * one thread, between its calls of vringh. One that the vringhs of several
 * threads share is never changed: vringh_set_memory() in vringh.h says how it
 * is replaced.
 *
 * Errors are negative errno values:
 *
 *	vringh_map_find		-ENOENT		no range holds the address
 *	vringh_map_add		-EINVAL		a range that cannot be
 *				-EEXIST		the map has part of it
 *				-ENOMEM
 *	vringh_map_copy		-ENOMEM
 *
 * The others cannot fail. On error the map is as it was.
 */
#ifndef VIRTIO_MAP_H
#define VIRTIO_MAP_H

#include <errno.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#define VRINGH_PERM_READ 1  /* the host may read */
#define VRINGH_PERM_WRITE 2 /* the host may write */
#define VRINGH_PERM_RW 3

struct vringh_range {
	uint64_t start, last; /* the guest's first and last address */
	uint64_t offset;      /* to be added for ours, modulo 2^64 */
	uint32_t perm;
};

static inline bool vringh_range_holds(const struct vringh_range *range,
				      uint64_t addr)
{
	return addr - range->start <= range->last - range->start;
}

/* Sorted; no two overlap. All zeroes is an empty map. */
struct vringh_map {
	struct vringh_range *ranges;
	uint32_t n, room;
};

/*
 * The number of the range that holds @addr, or -ENOENT; in *below, which may be
 * NULL, how many ranges lie wholly below @addr.
 */
static inline int64_t vringh_map_find(const struct vringh_map *map,
				      uint64_t addr, uint32_t *below)
{
	uint32_t low = 0, high = map->n;

	while (low < high) {
		uint32_t mid = low + (high - low) / 2;

		if (map->ranges[mid].last < addr)
			low = mid + 1;
		else
			high = mid;
	}
	if (below)
		*below = low;
	if (low < map->n && map->ranges[low].start <= addr)
		return low;
	return -ENOENT;
}

/*
 * The guest's addresses @start to @last, both included, are our memory at
 * @ours. 0; -EINVAL if @last is below @start, if @perm is empty or unknown, or
 * if @ours and @start differ by no multiple of 16 (the ring's words have to
 * stay aligned); -EEXIST if the map already has one of the addresses; -ENOMEM.
 */
static inline int vringh_map_add(struct vringh_map *map, uint64_t start,
				 uint64_t last, void *ours, uint32_t perm)
{
	uint64_t offset = (uintptr_t)ours - start;
	uint32_t at;

	if (last < start || !perm || perm > VRINGH_PERM_RW || offset % 16)
		return -EINVAL;
	if (vringh_map_find(map, start, &at) >= 0 ||
	    (at < map->n && map->ranges[at].start <= last))
		return -EEXIST;
	if (map->n == map->room) {
		uint32_t room = map->room ? map->room * 2 : 8;
		void *p = realloc(map->ranges, room * sizeof(*map->ranges));

		if (!p)
			return -ENOMEM;
		map->ranges = p;
		map->room = room;
	}
	memmove(&map->ranges[at + 1], &map->ranges[at],
		(map->n - at) * sizeof(*map->ranges));
	map->ranges[at] = (struct vringh_range){ start, last, offset, perm };
	map->n++;
	return 0;
}

/* Removes, in full, each range that has an address from @start to @last. */
static inline void vringh_map_remove(struct vringh_map *map, uint64_t start,
				     uint64_t last)
{
	uint32_t from, to;

	vringh_map_find(map, start, &from);
	for (to = from; to < map->n && map->ranges[to].start <= last; to++)
		;
	if (to == from)
		return;
	memmove(&map->ranges[from], &map->ranges[to],
		(map->n - to) * sizeof(*map->ranges));
	map->n -= to - from;
}

/* Copies the ranges to @to, which is empty. 0; or -ENOMEM, and it still is. */
static inline int vringh_map_copy(struct vringh_map *to,
				  const struct vringh_map *from)
{
	void *p;

	if (!from->n)
		return 0;
	/* a map that was emptied still has its room */
	p = realloc(to->ranges, from->n * sizeof(*to->ranges));
	if (!p)
		return -ENOMEM;
	to->ranges = p;
	memcpy(to->ranges, from->ranges, from->n * sizeof(*to->ranges));
	to->n = to->room = from->n;
	return 0;
}

static inline void vringh_map_free(struct vringh_map *map)
{
	free(map->ranges);
	*map = (struct vringh_map){ .n = 0 };
}

#endif
