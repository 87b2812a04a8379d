// SPDX-License-Identifier: MIT
#include <inttypes.h>
#include <stdio.h>

#include "lib/context.h"
#include "lib/program.h"
#include "lib/record.h"
#include "report.h"

static const char *mode_text(void)
{
	static char text[128];

	snprintf(text, sizeof(text), "%s%s%s%s%s%s%s%s",
		 options.parallel ? "parallel" : "in-turn",
		 options.indirect ? "+indirect" : "",
		 options.eventidx ? "+eventidx" : "",
		 options.virtio_1 ? "+virtio-1" : "",
		 options.slow_range ? "+slow-range" : "",
		 options.fast_vringh ? "+fast-vringh" : "",
		 options.ops ? "+ops" : "",
		 options.parallel && options.guest_cpu == options.host_cpu ?
			 "+same-cpu" :
			 "");
	return text;
}

static struct shared run;
static const char *mode;
static const uint32_t sample = 0;
static double ns_per_buffer;
static bool verified;

static const struct field fields[] = {
	{ "layout", "-", FIELD_WORD, &program },
	{ "guest_cpu", "-", FIELD_CPU, &options.guest_cpu },
	{ "host_cpu", "-", FIELD_CPU, &options.host_cpu },
	{ "ring_size", "entries", FIELD_U32, &options.ring_size },
	{ "transfers", "-", FIELD_U64, &options.transfers },
	{ "mode", "-", FIELD_WORD, &mode },
	{ "sample", "-", FIELD_U32, &sample },
	{ "elapsed_ns", "ns", FIELD_U64, &run.elapsed_ns },
	{ "ns_per_buffer", "ns", FIELD_FIXED + 4, &ns_per_buffer },
	{ "kicks", "-", FIELD_U64, &run.guest.sent },
	{ "calls", "-", FIELD_U64, &run.host.sent },
	{ "guest_woken", "-", FIELD_U64, &run.guest.woken },
	{ "host_woken", "-", FIELD_U64, &run.host.woken },
	{ "verified", "-", FIELD_BOOL, &verified },
	CONTEXT_FIELDS,
	{ .name = NULL }
};

static void human(void)
{
	printf("%s: %" PRIu64 " transfers in %.4f s, %.2f ns/transfer (%s)\n",
	       program, options.transfers, run.elapsed_ns / 1e9, ns_per_buffer,
	       options.parallel ?
		       cpus_text(options.guest_cpu, options.host_cpu) :
		       "in turn");
	printf("guest: notified %" PRIu64 ", woken %" PRIu64 "\n"
	       "host:  notified %" PRIu64 ", woken %" PRIu64 "\n",
	       run.guest.sent, run.guest.woken, run.host.sent, run.host.woken);
}

static const struct record record = {
	.fields = fields,
	.human = human,
	.cpu = &options.guest_cpu,
};

void report(const struct shared *shared)
{
	run = *shared;
	mode = mode_text();
	ns_per_buffer = (double)run.elapsed_ns / options.transfers;
	verified = !options.fast_vringh;
	record_start(options.format, &record);
	record_row();
	record_end();
}
