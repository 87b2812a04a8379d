/* SPDX-License-Identifier: MIT */
/* The host: takes transfers with vringh's calls, and checks them. */
#ifndef VRINGH_TEST_HOST_H
#define VRINGH_TEST_HOST_H

#include <stdint.h>

#include "transfer.h"
#include "virtio/map.h"
#include "virtio/vringh.h"

extern struct host {
	struct vringh vrh;
	struct vringh_iov riov, wiov;
	struct vringh_piece pieces[2][PIECES];
	struct vringh_map map;
	const struct vringh_access *table;
	uint64_t done;
} host;

/* @mem is ours, @base what the guest calls it. */
void host_start(const struct vringh_access *access, char *mem, uint64_t base);

/* All transfers, as a process of its own. */
void host_loop_inlined(void);
void host_loop_ops(void);

/* Those that are there. */
void host_turn_inlined(void);
void host_turn_ops(void);

#endif
