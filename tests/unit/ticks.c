// SPDX-License-Identifier: MIT
/*
 * The clock of hot loops, with a counter that runs as fast as we say, on machines
 * that are made up.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "lib/clock.h"
#include "lib/context.h"
#include "lib/program.h"
#include "tests/check.h"

static double speed = 1; /* ticks per ns */
static uint64_t turned_ns, turned_at;
static unsigned warnings;

static uint64_t counter(void)
{
	return turned_at + (now_ns() - turned_ns) * speed;
}

/* From now on. */
static void turn(double ticks_per_ns)
{
	turned_at = counter();
	turned_ns = now_ns();
	speed = ticks_per_ns;
}

/* The file itself, beside the one that is linked. */
#define ticks ticks_here
#define ticks_start ticks_start_here
#define ticks_end ticks_end_here
#define ticks_choose ticks_choose_here
#define TICKS_COUNTER counter
#define warn(...) warnings++
#include "lib/ticks.c"

static char root[] = "/tmp/ringtest.XXXXXX";

static void put(const char *path, const char *text)
{
	char full[512];
	FILE *f;

	snprintf(full, sizeof(full), "%s%s", root, path);
	f = fopen(full, "w");
	if (f)
		fputs(text, f);
	check(f && !fclose(f), "cannot write %s", full);
}

static void make_machine(void)
{
	static const char *const dirs[] = { "/proc",
					    "/sys",
					    "/sys/devices",
					    "/sys/devices/system",
					    "/sys/devices/system/clocksource",
					    CLOCKSOURCE };
	char full[512];

	check(mkdtemp(root), "no directory");
	for (unsigned i = 0; i < sizeof(dirs) / sizeof(*dirs); i++) {
		snprintf(full, sizeof(full), "%s%s", root, dirs[i]);
		check(!mkdir(full, 0700), "cannot make %s", full);
	}
	machine_root = root;
}

#if defined(__x86_64__) || defined(__i386__)
/* Which clock the machine has whose files say this. */
static void chosen(const char *flags, const char *sources, const char *wanted)
{
	put("/proc/cpuinfo", flags);
	put(CLOCKSOURCE "/available_clocksource", sources);
	ticks_start_here();
	check(!strcmp(ticks_here.name, wanted), "%s, not %s, with %s and %s",
	      ticks_here.name, wanted, flags, sources);
	check(ticks_here.counter == !!strcmp(wanted, "monotonic"),
	      "%s, and yet the other one is read", wanted);
}

#endif

#define GOOD "processor : 0\nflags\t: fpu constant_tsc nonstop_tsc sse\n"

static void which_clock(void)
{
	unsetenv("RINGTEST_CLOCK");
#if defined(__x86_64__) || defined(__i386__)
	chosen(GOOD, "tsc hpet acpi_pm \n", "tsc");
	chosen(GOOD, "kvm-clock tsc \n", "tsc");
	report("ticks: a counter of one speed is taken");
	chosen("flags\t: fpu constant_tsc sse\n", "tsc \n", "monotonic");
	chosen("flags\t: fpu nonstop_tsc sse\n", "tsc \n", "monotonic");
	chosen("flags\t: fpu\n", "tsc \n", "monotonic");
	report("ticks: one that stops, or changes speed, is not");
	chosen(GOOD, "hpet acpi_pm \n", "monotonic");
	chosen(GOOD, "hpet tsc-early acpi_pm \n", "monotonic");
	report("ticks: nor one that the kernel has found unsteady");
#endif
	put("/proc/cpuinfo", GOOD);
	put(CLOCKSOURCE "/available_clocksource", "tsc \n");
	setenv("RINGTEST_CLOCK", "monotonic", 1);
	ticks_start_here();
	check(!strcmp(ticks_here.name, "monotonic") && ticks_here.ns == 1,
	      "%s, %g ns", ticks_here.name, ticks_here.ns);
	report("ticks: RINGTEST_CLOCK=monotonic");
	unsetenv("RINGTEST_CLOCK");
}

/* A neighbour can stop us between the two readings of a calibration. */
static bool calibrates(double ticks_per_ns)
{
	turn(ticks_per_ns);
	for (int tries = 0; tries < 10; tries++) {
		ticks_start_here();
		if (fabs(ticks_here.ns * ticks_per_ns - 1) < 1e-3)
			return true;
	}
	return false;
}

/* As much faster by the end: how far off is it, and do we say so? */
static bool drifts(double by)
{
	for (int tries = 0; tries < 10; tries++) {
		calibrates(2.5);
		warnings = 0;
		turn(2.5 * (1 + by));
		ticks_end_here();
		if (fabs(ticks_here.drift - by) < 4e-4 &&
		    warnings == (by > 0.001))
			return true;
	}
	return false;
}

int main(void)
{
	char command[128];

	make_machine();
	which_clock();
	if (ticks_start_here(), !ticks_here.counter) {
		skip("ticks: calibrated", "no counter on this CPU");
		return finish();
	}
	check(calibrates(0.025), "25 MHz: %g ns", ticks_here.ns);
	check(calibrates(2.5), "2.5 GHz: %g ns", ticks_here.ns);
	check(ticks_here.cost_ns > 1 && ticks_here.cost_ns < 1e4, "cost %g ns",
	      ticks_here.cost_ns);
	check(ticks_here.step_ns > 0.1 && ticks_here.step_ns < 1e4,
	      "step %g ns", ticks_here.step_ns);
	report("ticks: calibrated against CLOCK_MONOTONIC, cost and step known");
	check(drifts(0), "steady, but %g off, %u warnings", ticks_here.drift,
	      warnings);
	report("ticks: no warning of a steady one");
	check(drifts(0.01), "%g off, %u warnings", ticks_here.drift, warnings);
	check(drifts(0.002), "%g off, %u warnings", ticks_here.drift, warnings);
	report("ticks: a warning of one that is more than 0.1 %% off");
	snprintf(command, sizeof(command), "rm -rf %s", root);
	check(!system(command), "%s", command);
	return finish();
}
