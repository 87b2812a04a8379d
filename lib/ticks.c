// SPDX-License-Identifier: MIT
#define _GNU_SOURCE
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "context.h"
#include "program.h"
#include "ticks.h"

struct ticks ticks = { .cost_ns = NAN, .step_ns = NAN };

#define CALIBRATION_NS 10000000
#define READINGS 1000

static struct moment {
	uint64_t ns, ticks;
} first;
static double first_ns_per_tick;

/* Both clocks at once, or as near as the quickest of some tries comes. */
static struct moment now(void)
{
	struct moment best = { 0, 0 };
	uint64_t took = UINT64_MAX;

	for (int i = 0; i < 20; i++) {
		const uint64_t before = now_ns(), at = ticks_counter(),
			       after = now_ns();

		if (after - before >= took)
			continue;
		took = after - before;
		best = (struct moment){ before + took / 2, at };
	}
	return best;
}

static double ns_per_tick(struct moment from, struct moment to)
{
	return (double)(to.ns - from.ns) / (to.ticks - from.ticks);
}

static double calibrate(struct moment *from)
{
	*from = now();
	while (now_ns() - from->ns < CALIBRATION_NS)
		;
	return ns_per_tick(*from, now());
}

#define CLOCKSOURCE "/sys/devices/system/clocksource/clocksource0"

#if defined(__x86_64__) || defined(__i386__)
/* 1: a line of the file that begins so has the word; 0: none has; -1: no file. */
static int has_word(const char *path, const char *start, const char *word)
{
	const size_t len = strlen(word);
	char line[8192];
	int found = 0;
	FILE *f = open_machine(path);

	if (!f)
		return -1;
	while (!found && fgets(line, sizeof(line), f)) {
		if (strncmp(line, start, strlen(start)))
			continue;
		for (const char *at = line; (at = strstr(at, word)); at += len)
			found |= (at == line || at[-1] == ' ') &&
				 strchr(" \n", at[len]);
	}
	fclose(f);
	return found;
}
#endif

/* What the counter is called, if it can be trusted; or NULL. */
static const char *counter_name(void)
{
#if defined(__x86_64__) || defined(__i386__)
	/* at one speed, and in sleep as well */
	if (has_word("/proc/cpuinfo", "flags", "constant_tsc") <= 0 ||
	    has_word("/proc/cpuinfo", "flags", "nonstop_tsc") <= 0)
		return NULL;
	/* alike on all CPUs: the kernel drops one that is not */
	if (!has_word(CLOCKSOURCE "/available_clocksource", "", "tsc"))
		return NULL;
	return "tsc";
#elif defined(__aarch64__)
	return "cntvct";
#elif defined(__s390x__)
	return "stckf";
#elif defined(__powerpc64__)
	return "timebase";
#elif defined(__riscv) && __riscv_xlen == 64
	return "rdtime";
#else
	return NULL;
#endif
}

void ticks_choose(void)
{
	const char *asked = getenv("RINGTEST_CLOCK");

	if (asked && *asked && strcmp(asked, "monotonic") &&
	    strcmp(asked, "counter"))
		die(EXIT_USAGE,
		    "RINGTEST_CLOCK=%s: give monotonic or counter, or unset it",
		    asked);
	ticks.name = asked && !strcmp(asked, "monotonic") ? NULL :
							    counter_name();
	if (asked && !strcmp(asked, "counter") && !ticks.name)
		die(EXIT_CANNOT,
		    "RINGTEST_CLOCK=counter: this CPU's counter is not "
		    "constant; unset it");
	ticks.counter = ticks.name;
	if (!ticks.name)
		ticks.name = "monotonic";
}

static uint64_t common_divisor(uint64_t a, uint64_t b)
{
	while (b) {
		const uint64_t rest = a % b;

		a = b;
		b = rest;
	}
	return a;
}

static void measure_cost(void)
{
	const uint64_t start = ticks_now();
	uint64_t last = start, step = 0;

	for (int i = 0; i < READINGS; i++) {
		const uint64_t reading = ticks_now();

		step = common_divisor(reading - last, step);
		last = reading;
	}
	ticks.cost_ns = (last - start) * ticks.ns / READINGS;
	ticks.step_ns = step ? step * ticks.ns : NAN;
}

void ticks_start(void)
{
	ticks_choose();
	ticks.ns = 1;
	if (ticks.counter)
		ticks.ns = first_ns_per_tick = calibrate(&first);
	measure_cost();
}

void ticks_end(void)
{
	struct moment from;
	double again;

	if (!ticks.counter)
		return;
	again = calibrate(&from);
	ticks.drift = fabs(again / first_ns_per_tick - 1);
	ticks.ns = ns_per_tick(first, now());
	if (ticks.drift > 0.001)
		warn("the CPU's counter does not keep time: between the start "
		     "and the end of the run %s changed by %.2f %% against "
		     "CLOCK_MONOTONIC; set RINGTEST_CLOCK=monotonic",
		     ticks.name, 100 * ticks.drift);
}
