// SPDX-License-Identifier: MIT
#include "lib/affinity.h"
#include "config.h"
#include "lib/crew.h"
#include "main.h"
#include "lib/program.h"

#define NO_LIMIT UINT64_MAX
#define AUTO	 UINT32_MAX

struct config config = {
	.run_cycles = 10000000,
	.outstanding = NO_LIMIT,
	.ring_size = 256,
	.batch = 1,
	.hold = AUTO,
	.exit_cycles = 500,
	.repeat = 1,
	.timeout_s = 10,
	.guest_cpu = -1,
	.host_cpu = -1,
	.relax = true,
	.exit = true,
	.poll_first = true,
};

/* Half a second at 2 GHz: far from what the watchdog takes for a hang. */
#define MAX_BURN 1000000000

static const struct opt opts[] = {
	{ "guest-affinity", "CPU", "pin the guest (not pinned)", OPT_INT,
	  &config.guest_cpu, 0, INT32_MAX },
	{ "host-affinity", "CPU", "pin the host (not pinned)", OPT_INT,
	  &config.host_cpu, 0, INT32_MAX },
	{ "ring-size", "N", "entries in the ring (256)", OPT_U32,
	  &config.ring_size, 1, UINT32_MAX },
	{ "run-cycles", "N", "buffers in a run (10000000)", OPT_U64,
	  &config.run_cycles, 1, UINT64_MAX },
	{ "outstanding", "N", "most buffers under way (as the ring holds)",
	  OPT_U64, &config.outstanding, 1, UINT64_MAX },
	{ "batch", "N", "buffers to a kick or a call (1)", OPT_U32,
	  &config.batch, 1, 1u << 31 },
	{ "param", "N", "the layout's own knob (0: its default)", OPT_U32,
	  &config.param, 0, UINT32_MAX },
	{ "guest-work", "N", "cycles that the guest burns per buffer (0)",
	  OPT_U32, &config.guest_work, 0, MAX_BURN },
	{ "host-work", "N", "cycles that the host burns per buffer (0)",
	  OPT_U32, &config.host_work, 0, MAX_BURN },
	{ "sleep", NULL, "wait for kicks and calls instead of polling",
	  OPT_SET, &config.sleep, 0, 0 },
	{ "relax", NULL, "pause between two looks when polling (it does)",
	  OPT_SET, &config.relax, 0, 0 },
	{ "no-relax", NULL, "don't", OPT_CLEAR, &config.relax, 0, 0 },
	{ "exit", NULL, "burn the cost of a VM exit per notification (it does)",
	  OPT_SET, &config.exit, 0, 0 },
	{ "no-exit", NULL, "don't", OPT_CLEAR, &config.exit, 0, 0 },
	{ "exit-cycles", "N", "cycles before and after each (500)", OPT_U32,
	  &config.exit_cycles, 0, MAX_BURN },
	{ "no-poll-first", NULL, "arm at once, don't look once more before",
	  OPT_CLEAR, &config.poll_first, 0, 0 },
	{ "hold", "N", "cycles that a side which had to poll gives the other to "
	  "get ahead (6 per buffer under way, at most 4096)", OPT_U32,
	  &config.hold, 0, MAX_BURN },
	{ "repeat", "N", "whole runs, each on fresh memory (1)", OPT_U32,
	  &config.repeat, 1, 1000000 },
	{ "verify", NULL, "check every buffer", OPT_SET, &config.verify, 0, 0 },
	{ "timeout", "SECONDS", "give up after so long without progress "
	  "(10; 0: never)", OPT_U32, &config.timeout_s, 0, INT32_MAX },
	{ "phases", "FILE", "write there how the run went, point by point",
	  OPT_TEXT, &config.phases, 0, 0 },
	{ "format", FORMATS, "what to print (human)", OPT_CHOICE,
	  &config.format, 0, 0 },
	{ "quiet", NULL, "print nothing, for time and perf stat", OPT_SET,
	  &config.quiet, 0, 0 },
	{ .name = NULL }
};

static const char usage[] =
	"usage: RING [options]\n"
	"Times a guest and a host thread that pass buffers through a ring.\n"
	"\n";

static void check_size(void)
{
	unsigned size = config.ring_size;

	if (size < ring_info.min_size)
		die(EXIT_USAGE, "--ring-size: %u is too small for %s; give at "
		    "least %u", size, ring_info.name, ring_info.min_size);
	if (size > ring_info.max_size)
		die(EXIT_USAGE, "--ring-size: %u is too large for %s; give at "
		    "most %u", size, ring_info.name, ring_info.max_size);
	if (ring_info.power_of_two && (size & (size - 1)))
		die(EXIT_USAGE, "--ring-size: %u is not a power of two", size);
}

/*
 * A side that has polled in vain has caught up. Were it to go on at once, it
 * would keep meeting the other on the line that is being written, and both
 * would crawl from line to line. So it first lets the other get ahead: by about
 * half of all that may be under way, at some cycles for each buffer, but not so
 * long that the fastest layout could use up all of it and stand still, and never
 * by more than fits the nearest cache. doc/experiments has the measurements.
 */
#define HOLD_PER_BUFFER 6
#define HOLD_MOST	4096

static void set_hold(void)
{
	uint64_t window = config.ring_size;

	if (config.hold != AUTO)
		return;
	if (config.outstanding < window)
		window = config.outstanding;
	config.hold = (window - 1) * HOLD_PER_BUFFER;
	if (config.hold > HOLD_MOST || window > HOLD_MOST)
		config.hold = HOLD_MOST;
}

static void check_param(void)
{
	unsigned most;

	if (!config.param)
		return;
	if (!ring_info.param)
		die(EXIT_USAGE, "--param: %s has no knob; leave it out",
		    ring_info.name);
	most = config.ring_size / ring_info.param_divisor;
	if (config.param > most)
		die(EXIT_USAGE, "--param: %u is too much for a ring of %u; "
		    "%s takes a %s of at most %u", config.param,
		    config.ring_size, ring_info.name, ring_info.param, most);
}

void config_init(int argc, char **argv)
{
	int operands;

	config.format = format_default();
	operands = opt_parse(argc, argv, opts, usage);
	if (operands < argc)
		die(EXIT_USAGE, "%s: not an option; every option begins with "
		    "--", argv[operands]);
	check_size();
	check_param();
	set_hold();

	if (config.sleep && !ring_info.notifies)
		die(EXIT_CANNOT, "--sleep: %s has no notifications; leave it "
		    "out", ring_info.name);
	if (config.verify && !ring_info.addresses)
		die(EXIT_CANNOT, "--verify: %s moves no buffers; leave it out",
		    ring_info.name);
	if (config.guest_cpu >= 0)
		require_cpu("guest-affinity", config.guest_cpu);
	if (config.host_cpu >= 0)
		require_cpu("host-affinity", config.host_cpu);

	config.one_cpu = crew_crowded((int[]){ config.guest_cpu,
					       config.host_cpu }, 2);
	if (config.one_cpu && !config.sleep)
		warn("guest and host share one CPU: who waits gives way to the "
		     "other; --sleep, or two CPUs, would measure the ring");
}
