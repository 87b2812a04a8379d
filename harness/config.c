// SPDX-License-Identifier: MIT
#include <string.h>

#include "lib/affinity.h"
#include "config.h"
#include "lib/crew.h"
#include "main.h"
#include "payload.h"
#include "lib/program.h"
#include "lib/random.h"
#include "lib/ticks.h"

#define NO_LIMIT UINT64_MAX
#define AUTO UINT32_MAX

struct config config = {
	.run_cycles = 10000000,
	.outstanding = NO_LIMIT,
	.ring_size = 256,
	.batch = 1,
	.backoff = AUTO,
	.exit_cycles = 500,
	.repeat = 1,
	.timeout_s = 10,
	.queues = 1,
	.relax = true,
	.exit = true,
	.poll_first = true,
};

static const char *arrivals, *phases, *histogram, *guest_list, *host_list;
static enum { BOTH, TO_HOST, TO_GUEST, NOT_SAID } payload_to = NOT_SAID;

#define MAX_QUEUES 256
static int guest_cpus[MAX_QUEUES], host_cpus[MAX_QUEUES];

/* Half a second at 2 GHz: far less than what the watchdog takes for a hang. */
#define MAX_BURN 1000000000

static const struct opt opts[] = {
	{ "guest-affinity", "CPU", "pin the guest to this CPU (not pinned)",
	  OPT_TEXT, &guest_list, 0, 0 },
	{ "host-affinity", "CPU", "pin the host to this CPU (not pinned)",
	  OPT_TEXT, &host_list, 0, 0 },
	{ "ring-size", "N", "entries in the ring (256)", OPT_U32,
	  &config.ring_size, 1, UINT32_MAX },
	{ "run-cycles", "N", "buffers in a run (10000000)", OPT_U64,
	  &config.run_cycles, 1, UINT64_MAX },
	{ "outstanding", "N", "max buffers in flight (what the ring holds)",
	  OPT_U64, &config.outstanding, 1, UINT64_MAX },
	{ "batch", "N", "buffers per kick and per call (1)", OPT_U32,
	  &config.batch, 1, 1u << 31 },
	{ "param", "N", "the layout's own parameter (0: its default)", OPT_U32,
	  &config.param, 0, UINT32_MAX },
	{ "guest-work", "N", "cycles the guest burns per buffer (0)", OPT_U32,
	  &config.guest_work, 0, MAX_BURN },
	{ "host-work", "N", "cycles the host burns per buffer (0)", OPT_U32,
	  &config.host_work, 0, MAX_BURN },
	{ "sleep", NULL, "sleep until notified, instead of polling", OPT_SET,
	  &config.sleep, 0, 0 },
	{ "relax", NULL, "pause between two looks when polling (default)",
	  OPT_SET, &config.relax, 0, 0 },
	{ "no-relax", NULL, "poll without a pause between two looks", OPT_CLEAR,
	  &config.relax, 0, 0 },
	{ "exit", NULL, "notifications cost as much as a VM exit (default)",
	  OPT_SET, &config.exit, 0, 0 },
	{ "no-exit", NULL, "notifications cost a system call and no more",
	  OPT_CLEAR, &config.exit, 0, 0 },
	{ "exit-cycles", "N", "cycles before and after a notification (500)",
	  OPT_U32, &config.exit_cycles, 0, MAX_BURN },
	{ "no-poll-first", NULL,
	  "ask to be notified without polling once first", OPT_CLEAR,
	  &config.poll_first, 0, 0 },
	{ "backoff", "N", "cycles to wait after polling (6/buffer, max 4096)",
	  OPT_U32, &config.backoff, 0, MAX_BURN },
	{ "hold", "N", NULL, OPT_U32, &config.backoff, 0, MAX_BURN },
	{ "repeat", "N", "runs, each on fresh memory (1)", OPT_U32,
	  &config.repeat, 1, 1000000 },
	{ "queues", "N", "rings at once; lists of CPUs are like 0,2-5 (1)",
	  OPT_U32, &config.queues, 1, MAX_QUEUES },
	{ "verify", NULL, "check that each buffer arrives whole and in order",
	  OPT_SET, &config.verify, 0, 0 },
	{ "timeout", "SECONDS",
	  "end a run that makes no progress (10; 0: never)", OPT_U32,
	  &config.timeout_s, 0, INT32_MAX },
	{ "latency", NULL, "time each buffer, and print percentiles", OPT_SET,
	  &config.latency, 0, 0 },
	{ "rate", "N", "offer N buffers a second, timed from when due", OPT_U64,
	  &config.rate, 1, 1000000000 },
	{ "arrivals", "HOW", "even, or poisson[:SEED] (even)", OPT_TEXT,
	  &arrivals, 0, 0 },
	{ "histogram", "FILE", "write all latencies to FILE, for plotters",
	  OPT_TEXT, &histogram, 0, 0 },
	{ "payload", "BYTES", "write and read BYTES in each buffer (0)",
	  OPT_U32, &config.payload, 0, UINT32_MAX },
	{ "payload-to", "both|host|guest", "who reads what was written (both)",
	  OPT_CHOICE, &payload_to, 0, 0 },
	{ "pool", "N", "buffers in turn for --payload (as the ring holds)",
	  OPT_U64, &config.pool, 1, UINT64_MAX },
	{ "phases", "FILE", "write the course of the run to FILE, as CSV",
	  OPT_TEXT, &phases, 0, 0 },
	OPT_FORMAT(&config.format),
	{ "quiet", NULL, "print nothing, for time and perf stat", OPT_SET,
	  &config.quiet, 0, 0 },
	{ .name = NULL }
};

static const char usage[] =
	"usage: RING [options]\n"
	"Times two threads, a guest and a host, that pass buffers through a ring."
	"\n\n";

static void check_size(void)
{
	unsigned size = config.ring_size;

	if (size < ring_info.min_size)
		die(EXIT_USAGE,
		    "--ring-size: %u is too small for %s; give at "
		    "least %u",
		    size, ring_info.name, ring_info.min_size);
	if (size > ring_info.max_size)
		die(EXIT_USAGE,
		    "--ring-size: %u is too large for %s; give at "
		    "most %u",
		    size, ring_info.name, ring_info.max_size);
	if (ring_info.power_of_two && (size & (size - 1)))
		die(EXIT_USAGE, "--ring-size: %u is not a power of two", size);
}

/*
 * A side that has polled in vain has caught up. If it went on at once, it would
 * meet the other on the line that is being written, again and again, and both
 * would crawl from line to line. So it first lets the other get ahead: by about
 * half of what may be in flight, at a few cycles per buffer, but not for so
 * long that the fastest layout runs out of work and stands still, and never by
 * more than the nearest cache holds. doc/experiments has the measurements.
 */
#define BACKOFF_PER_BUFFER 6
#define BACKOFF_MAX 4096

static void set_backoff(void)
{
	uint64_t window = config.in_flight;

	if (config.backoff != AUTO)
		return;
	/* who offers a rate asks how long a buffer takes, not how many pass */
	if (config.rate) {
		config.backoff = 0;
		return;
	}
	if (config.ring_size < window)
		window = config.ring_size;
	config.backoff = (window - 1) * BACKOFF_PER_BUFFER;
	if (config.backoff > BACKOFF_MAX || window > BACKOFF_MAX)
		config.backoff = BACKOFF_MAX;
}

static void check_param(void)
{
	unsigned max;

	if (!config.param)
		return;
	if (!ring_info.param)
		die(EXIT_USAGE, "--param: %s has no parameter; leave it out",
		    ring_info.name);
	max = config.ring_size / ring_info.param_divisor;
	if (config.param > max)
		die(EXIT_USAGE,
		    "--param: %u is too large for a ring of %u; "
		    "%s takes a %s of at most %u",
		    config.param, config.ring_size, ring_info.name,
		    ring_info.param, max);
}

static void check_latency(void)
{
	const char *asked = config.rate ? "rate" :
			    histogram	? "histogram" :
					  "latency";

	config.latency |= config.rate || histogram;
	if (config.latency && !ring_info.addresses && !ring_info.completes)
		die(EXIT_CANNOT, "--%s: %s moves no buffers; leave it out",
		    asked, ring_info.name);
	if (!arrivals)
		return;
	if (!config.rate)
		die(EXIT_USAGE, "--arrivals: there is no --rate; give one");
	if (!strcmp(arrivals, "even"))
		return;
	config.arrivals = ARRIVALS_POISSON;
	config.seed = RANDOM_SEED;
	if (strcmp(arrivals, "poisson") &&
	    (strncmp(arrivals, "poisson:", 8) ||
	     opt_number(arrivals + 8, 1, UINT64_MAX, &config.seed)))
		die(EXIT_USAGE,
		    "--arrivals: '%s' is no way to arrive: give even, poisson, "
		    "or poisson:SEED with a number above 0",
		    arrivals);
}

static void check_payload(void)
{
	const char *asked = config.pool ? "pool" : "payload-to";

	if (!config.payload && (config.pool || payload_to != NOT_SAID))
		die(EXIT_USAGE, "--%s: there is no --payload; give one", asked);
	config.to_host = payload_to != TO_GUEST;
	config.to_guest = payload_to == NOT_SAID ?
				  ring_info.completes || !ring_info.addresses :
				  payload_to != TO_HOST;
	payload_check();
	config.in_flight = config.outstanding;
	if (config.payload && config.pool < config.in_flight)
		config.in_flight = config.pool;
}

/* Before a run that may take hours. */
static void open_outputs(void)
{
	if (phases && histogram && !strcmp(phases, histogram))
		die(EXIT_USAGE,
		    "--phases and --histogram: both to '%s'; give two files",
		    phases);
	config.phases = output_open("phases", phases);
	config.histogram = output_open("histogram", histogram);
}

static void read_cpus(const char *option, const char *list,
		      int cpus[MAX_QUEUES])
{
	unsigned n = cpu_list(option, list, cpus, MAX_QUEUES);

	if (n && n != config.queues)
		die(EXIT_USAGE,
		    "--%s: '%s' is %u CPU%s, for %u queue%s: give one for each "
		    "(--queues), like 0,2-5",
		    option, list, n, n == 1 ? "" : "s", config.queues,
		    config.queues == 1 ? "" : "s");
	while (n < config.queues)
		cpus[n++] = -1;
}

static void check_queues(void)
{
	const char *or_sleep = ring_info.notifies ? ", or --sleep," : "";
	int all[2 * MAX_QUEUES];

	read_cpus("guest-affinity", guest_list, guest_cpus);
	read_cpus("host-affinity", host_list, host_cpus);
	config_queue(0);
	for (uint32_t i = 0; i < config.queues; i++) {
		all[2 * i] = guest_cpus[i];
		all[2 * i + 1] = host_cpus[i];
	}
	config.one_cpu = crew_crowded(all, 2 * config.queues);
	if (config.one_cpu && !config.sleep && config.queues == 1)
		warn("guest and host share one CPU: a thread that waits yields "
		     "it to the other; take two CPUs%s to measure the ring",
		     or_sleep);
	else if (config.one_cpu && !config.sleep)
		warn("some threads share a CPU: one that waits yields it to the "
		     "others; take two CPUs for each queue%s to measure the "
		     "rings",
		     or_sleep);
	if (config.queues > 1 && (phases || histogram))
		die(EXIT_USAGE,
		    "--%s: with --queues each queue would have its own; leave "
		    "one of the two out",
		    phases ? "phases" : "histogram");
}

void config_queue(uint32_t queue)
{
	config.guest_cpu = guest_cpus[queue];
	config.host_cpu = host_cpus[queue];
}

void config_init(int argc, char **argv)
{
	config.format = format_default();
	opt_parse_all(argc, argv, opts, usage);
	check_size();
	check_param();
	check_latency();
	check_payload();
	set_backoff();

	if (config.sleep && !ring_info.notifies)
		die(EXIT_CANNOT,
		    "--sleep: %s has no notifications; leave it "
		    "out",
		    ring_info.name);
	if (config.verify && !ring_info.addresses)
		die(EXIT_CANNOT, "--verify: %s moves no buffers; leave it out",
		    ring_info.name);
	check_queues();
	if (config.latency)
		ticks_choose();
	open_outputs();
}
