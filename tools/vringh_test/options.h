/* SPDX-License-Identifier: MIT */
#ifndef VRINGH_TEST_OPTIONS_H
#define VRINGH_TEST_OPTIONS_H

#include <stdbool.h>
#include <stdint.h>

#include "virtio/vringh.h"

extern struct options {
	bool indirect, eventidx, virtio_1, slow_range, fast_vringh, parallel,
		in_turn, same_cpu, ops, quiet;
	uint64_t transfers;
	uint32_t ring_size, timeout_s;
	int guest_cpu, host_cpu, format;
} options;

static inline uint64_t features(void)
{
	return (uint64_t)options.indirect << VIRTIO_RING_F_INDIRECT_DESC |
	       (uint64_t)options.eventidx << VIRTIO_RING_F_EVENT_IDX |
	       (uint64_t)options.virtio_1 << VIRTIO_F_VERSION_1;
}

#endif
