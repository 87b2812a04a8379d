// SPDX-License-Identifier: MIT
/*
 * Tests and times vringh by itself: the API step by step in one process, or a
 * guest and a host that are two processes.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <inttypes.h>
#include <sys/mman.h>
#include <unistd.h>

#include "host.h"
#include "lib/context.h"
#include "lib/program.h"
#include "lib/quota.h"
#include "options.h"
#include "report.h"
#include "run.h"

struct options options = {
	.transfers = 10000000,
	.ring_size = 256,
	.timeout_s = 10,
	.guest_cpu = -1,
	.host_cpu = -1,
};

static const struct opt opts[] = {
	{ "parallel", NULL, "guest and host are two processes", OPT_SET,
	  &options.parallel, 0, 0 },
	{ "in-turn", NULL,
	  "one process, guest and host by turns: for counting "
	  "instructions",
	  OPT_SET, &options.in_turn, 0, 0 },
	{ "indirect", NULL, "use indirect tables", OPT_SET, &options.indirect,
	  0, 0 },
	{ "eventidx", NULL, "use event indexes", OPT_SET, &options.eventidx, 0,
	  0 },
	{ "virtio-1", NULL, "little-endian on every machine", OPT_SET,
	  &options.virtio_1, 0, 0 },
	{ "slow-range", NULL,
	  "each byte of buffers and tables is a range of "
	  "its own",
	  OPT_SET, &options.slow_range, 0, 0 },
	{ "fast-vringh", NULL, "the host reads heads only", OPT_SET,
	  &options.fast_vringh, 0, 0 },
	{ "ops", NULL, "call the access through its table", OPT_SET,
	  &options.ops, 0, 0 },
	{ "transfers", "N", "how many (10000000)", OPT_U64, &options.transfers,
	  1, UINT64_MAX },
	{ "ring-size", "N", "entries in the ring (256)", OPT_U32,
	  &options.ring_size, 4, VRING_MAX_SIZE },
	{ "same-cpu", NULL, "both processes on one CPU", OPT_SET,
	  &options.same_cpu, 0, 0 },
	{ "guest-affinity", "CPU", "pin the guest (the first CPU)", OPT_INT,
	  &options.guest_cpu, 0, INT32_MAX },
	{ "host-affinity", "CPU", "pin the host (the second)", OPT_INT,
	  &options.host_cpu, 0, INT32_MAX },
	{ "timeout", "SECONDS", "give up after sleeping so long (10; 0: never)",
	  OPT_U32, &options.timeout_s, 0, INT32_MAX / 1000 },
	OPT_FORMAT(&options.format),
	{ "quiet", NULL, "print nothing, for time and perf stat", OPT_SET,
	  &options.quiet, 0, 0 },
	{ .name = NULL }
};

static const char usage[] =
	"usage: vringh_test [options]\n"
	"Without --parallel and --in-turn, checks the calls of vringh one by "
	"one.\n"
	"With one of them, times transfers of 1 to 4 pieces, every byte "
	"checked.\n"
	"\n";

static void check_options(void)
{
	if (options.ring_size & (options.ring_size - 1))
		die(EXIT_USAGE,
		    "--ring-size: %" PRIu32 " is not a power of two",
		    options.ring_size);
	if (options.parallel && options.in_turn)
		die(EXIT_USAGE, "--in-turn: --parallel is the contrary; leave "
				"one out");
	if (!options.parallel && options.same_cpu)
		die(EXIT_USAGE, "--same-cpu: there is one process only; add "
				"--parallel");
	if (!options.parallel &&
	    (options.guest_cpu >= 0 || options.host_cpu >= 0))
		die(EXIT_USAGE,
		    "--%s-affinity: there is one process only; add "
		    "--parallel",
		    options.guest_cpu >= 0 ? "guest" : "host");
	/* the last check: it may warn, and pins */
	if (options.parallel)
		choose_cpus();
}

int main(int argc, char **argv)
{
	struct shared *shared;
	int fd;

	options.format = format_default();
	opt_parse_all(argc, argv, opts, usage);
	check_options();
	make_pattern();
	context_start();
	/* Memory that has no name, so there is nothing to clean up. */
	fd = memfd_create("vringh_test", MFD_CLOEXEC);
	if (fd < 0 || ftruncate(fd, shared_bytes()))
		die(EXIT_FAILED, "no memory for the ring: %zu bytes: %s",
		    shared_bytes(), reason(errno));
	shared = map_shared(fd);

	if (!options.parallel && !options.in_turn) {
		run_steps(shared);
	} else {
		if (options.parallel)
			run_parallel(shared, fd);
		else
			run_in_turn(shared);
		if (options.quiet)
			quota_warn();
		else
			report(shared);
	}
	vringh_map_free(&host.map);
	munmap(shared, shared_bytes());
	close(fd);
	finish_stdout();
	return EXIT_DONE;
}
