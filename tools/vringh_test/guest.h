/* SPDX-License-Identifier: MIT */
/* The guest: adds transfers, and checks what comes back. */
#ifndef VRINGH_TEST_GUEST_H
#define VRINGH_TEST_GUEST_H

#include <stdbool.h>
#include <stdint.h>

#include "virtio/driver.h"

extern struct guest {
	struct vdriver drv;
	char *mem;
	uint64_t added, finished;
} guest;

void guest_start(char *mem, uint64_t bias);

/* One transfer. False: not now. */
bool guest_add(void);
bool guest_get(void);

/* All of them, as a process of its own. */
void guest_loop(void);

#endif
