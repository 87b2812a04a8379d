/* SPDX-License-Identifier: MIT */
/* For layouts that publish an index once for many entries. */
#ifndef HARNESS_BATCH_H
#define HARNESS_BATCH_H

#include <stdint.h>

#include "harness/config.h"

/*
 * --param, or a quarter of the ring, so that both sides have some to work on; but no
 * more than @max, with which the layout was fastest (doc/experiments).
 */
static inline uint32_t batch_size(uint32_t max)
{
	const uint32_t quarter = config.ring_size / 4;

	if (config.param)
		return config.param;
	return quarter > max ? max : quarter ? quarter : 1;
}

#endif
