/* SPDX-License-Identifier: MIT */
/*
 * The ring and its buffers are in the memory of another process, mapped at
 * another address here: an address has to be in one of the ranges that we
 * permit, and is shifted by that range's offset. vringh_init's @memory is a
 * struct vringh_map. Its permissions are ignored: all of it may be read and
 * written.
 *
 * Errors are negative errno values: -EFAULT, the address is in no range.
 */
#ifndef VIRTIO_ACCESS_USER_H
#define VIRTIO_ACCESS_USER_H

#include "virtio/map.h"
#ifndef VIRTIO_VRINGH_BASE_H /* for a packed ring its header comes first */
#include "virtio/vringh.h"
#endif

/*
 * Not range @i, where the last address was. Usually it is the next one; and
 * adjacent ranges of equal size are as common as pages, so that the number can
 * be computed. Only then is it searched for. Out of line, so that the rest is
 * small enough to be inlined.
 */
static __attribute__((noinline, unused)) const struct vringh_range *
vringh_range_other(struct vringh *vrh, enum vringh_area area, uint32_t i,
		   uint64_t addr)
{
	const struct vringh_map *map = vrh->memory;

	if (i + 1 < map->n && vringh_range_holds(&map->ranges[i + 1], addr)) {
		i++;
	} else if (i < map->n) {
		const struct vringh_range *last = &map->ranges[i];
		const uint64_t size = last->last - last->start + 1;

		if (addr > last->last)
			i += (addr - last->start) / size;
		else
			i -= 1 + (last->start - 1 - addr) / size;
	}
	if (i >= map->n || !vringh_range_holds(&map->ranges[i], addr)) {
		int64_t found = vringh_map_find(map, addr, NULL);

		if (found < 0)
			return NULL;
		i = found;
	}
	vrh->hint[area] = i;
	return &map->ranges[i];
}

/* Usually it is the same range as last time, which is kept for each area. */
static __vringh_inline const struct vringh_range *
vringh_range(struct vringh *vrh, enum vringh_area area, uint64_t addr)
{
	const struct vringh_map *map = vrh->memory;
	const uint32_t i = vrh->hint[area];

	if (vringh_unlikely(i >= map->n ||
			    !vringh_range_holds(&map->ranges[i], addr)))
		return vringh_range_other(vrh, area, i, addr);
	return &map->ranges[i];
}

static __vringh_inline void vringh_place(const struct vringh_range *range,
					 uint64_t addr, uint64_t len,
					 struct vringh_span *span)
{
	const uint64_t behind = range->last - addr;

	span->ptr = (void *)(uintptr_t)(addr + range->offset);
	span->len = len - 1 > behind ? behind + 1 : len;
}

static inline int vringh_user_translate(struct vringh *vrh,
					enum vringh_area area, uint64_t addr,
					uint64_t len, struct vringh_span *span)
{
	const struct vringh_range *range = vringh_range(vrh, area, addr);

	if (vringh_unlikely(!range))
		return -EFAULT;
	vringh_place(range, addr, len, span);
	return 0;
}

static const struct vringh_access vringh_user __attribute__((unused)) = {
	.name = "user",
	.translate = vringh_user_translate,
};

#endif
