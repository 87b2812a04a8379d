// SPDX-License-Identifier: MIT
/*
 * What tests do to a tool, in its test build:
 *
 *	RINGTEST_ROOT	where it finds /proc and /sys
 *	RINGTEST_FAULT	what a ring of pointers does to one of them: lost,
 *			twice, swapped (with the next), altered (its first byte)
 */
#include <stdbool.h>
#include <stdlib.h>

#include "lib/context.h"
#include "lib/program.h"
#include "ptr_ring.h"
#include "tests/hooks.h"

#undef ptr_ring_produce
#undef ptr_ring_produce_mp

#define FAULTS "lost|twice|swapped|altered"
enum { LOST, TWICE, SWAPPED, ALTERED };
static int fault = -1; /* none */

#define AT 500 /* after that many are in the ring */

__attribute__((constructor)) static void read_environment(void)
{
	const char *root = getenv("RINGTEST_ROOT");
	const char *word = getenv("RINGTEST_FAULT");

	if (root)
		machine_root = root;
	if (word)
		fault = opt_choice(FAULTS, word);
	if (word && fault < 0)
		die(EXIT_USAGE, "RINGTEST_FAULT: '%s' is not one of " FAULTS,
		    word);
}

static _Thread_local void *held; /* comes after the next */
static _Thread_local void *due;	 /* comes before the next */

static int strike(struct ptr_ring *r, void *ptr, produce_fn *produce)
{
	switch (fault) {
	case SWAPPED:
		held = ptr;
		return 0;
	case TWICE:
		due = ptr;
		break;
	case ALTERED:
		*(char *)ptr ^= 1;
		break;
	default:
		return 0;
	}
	return produce(r, ptr);
}

int hooked_produce(struct ptr_ring *r, void *ptr, produce_fn *produce)
{
	static unsigned produced;
	static bool struck;
	int err = due ? produce(r, due) : 0;

	if (err)
		return err;
	due = NULL;
	if (fault >= 0 && __atomic_load_n(&produced, __ATOMIC_RELAXED) >= AT &&
	    !__atomic_exchange_n(&struck, true, __ATOMIC_RELAXED))
		return strike(r, ptr, produce);
	err = produce(r, ptr);
	if (err)
		return err;
	__atomic_add_fetch(&produced, 1, __ATOMIC_RELAXED);
	due = held;
	held = NULL;
	return 0;
}
