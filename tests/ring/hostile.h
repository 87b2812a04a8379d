/* SPDX-License-Identifier: MIT */
/*
 * For contract.c: the memory of a layout, between pages that nobody may touch;
 * and what each side does when the other writes to it what it likes.
 */
#ifndef TESTS_RING_HOSTILE_H
#define TESTS_RING_HOSTILE_H

#include <stdbool.h>

/* What is wrong; NULL: nothing. */
const char *hostile(bool guest);

#endif
