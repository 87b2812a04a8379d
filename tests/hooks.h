/* SPDX-License-Identifier: MIT */
/*
 * A test build of a tool is compiled with -include of this file: what it puts
 * into a ring of pointers goes through tests/hooks.c.
 */
#ifndef TESTS_HOOKS_H
#define TESTS_HOOKS_H

#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include "ptr_ring.h"

typedef int produce_fn(struct ptr_ring *r, void *ptr);

int hooked_produce(struct ptr_ring *r, void *ptr, produce_fn *produce);

#define ptr_ring_produce(r, ptr) hooked_produce(r, ptr, ptr_ring_produce)
#define ptr_ring_produce_mp(r, ptr) hooked_produce(r, ptr, ptr_ring_produce_mp)

#endif
