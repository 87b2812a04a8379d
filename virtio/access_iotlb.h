/* SPDX-License-Identifier: MIT */
/*
 * The guest's addresses are translated as by an IOMMU: in ranges, each with a
 * place and permissions of its own. vringh_init's @memory is a struct
 * vringh_map. What is missing in it can be added, and the call repeated.
 *
 * Errors are negative errno values: -EFAULT, the address is in no range;
 * -EACCES, its range does not permit this use.
 */
#ifndef VIRTIO_ACCESS_IOTLB_H
#define VIRTIO_ACCESS_IOTLB_H

#include "virtio/access_user.h"

static inline int vringh_iotlb_translate(struct vringh *vrh,
					 enum vringh_area area, uint64_t addr,
					 uint64_t len, struct vringh_span *span)
{
	const struct vringh_range *range = vringh_range(vrh, area, addr);
	const uint32_t perm = area == VRINGH_USED || area == VRINGH_WRITE ?
				      VRINGH_PERM_WRITE :
				      VRINGH_PERM_READ;

	if (vringh_unlikely(!range))
		return -EFAULT;
	if (vringh_unlikely(!(range->perm & perm)))
		return -EACCES;
	vringh_place(range, addr, len, span);
	return 0;
}

static const struct vringh_access vringh_iotlb __attribute__((unused)) = {
	.name = "iotlb",
	.translate = vringh_iotlb_translate,
};

#endif
