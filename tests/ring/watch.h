/* SPDX-License-Identifier: MIT */
/*
 * For what calls a layout from one thread: a call that does not come back is
 * named, and ends the program, before a test's time-out would.
 */
#ifndef TESTS_RING_WATCH_H
#define TESTS_RING_WATCH_H

#include <signal.h>
#include <stdint.h>
#include <sys/time.h>
#include <unistd.h>

#include "main.h"
#include "tests/check.h"

static const char *volatile calling;
static volatile uint64_t nr_calls;

/* Each call of the layout is made through this. */
#define CALL(fn, ...) (calling = #fn, nr_calls++, fn(__VA_ARGS__))

/*
 * In time that we ourselves used, so that a busy machine does not count. The
 * longest call, alloc_ring of the largest ring, takes a tenth of it.
 */
#define CALL_LIMIT_S 4

static void look(int sig)
{
	static uint64_t seen;
	static int looks;
	char text[200];
	int len;

	(void)sig;
	looks = nr_calls == seen ? looks + 1 : 0;
	seen = nr_calls;
	if (looks < CALL_LIMIT_S)
		return;
	len = snprintf(text, sizeof(text),
		       "not ok %u - %s: %s does not come "
		       "back (size %u, counters from %u, call %llu)\n1..%u\n",
		       tap.reported + 1, ring_info.name, calling,
		       config.ring_size, config.origin,
		       (unsigned long long)nr_calls, tap.reported + 1);
	_exit(write(1, text, len) < 0 ? 2 : 1);
}

static void start_watch(void)
{
	const struct itimerval second = { { 1, 0 }, { 1, 0 } };

	signal(SIGVTALRM, look);
	setitimer(ITIMER_VIRTUAL, &second, NULL);
}

static inline void end_watch(void)
{
	const struct itimerval never = { { 0, 0 }, { 0, 0 } };

	setitimer(ITIMER_VIRTUAL, &never, NULL);
}

#endif
