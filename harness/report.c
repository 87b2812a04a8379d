// SPDX-License-Identifier: MIT
#include <inttypes.h>
#include <stdio.h>

#include "lib/context.h"
#include "lib/program.h"
#include "lib/quota.h"
#include "lib/record.h"
#include "main.h"
#include "report.h"

static struct sample sample;
static uint32_t nr;
static double ns_per_buffer;
static const char *mode;

static const struct field fields[] = {
	{ "layout", "-", FIELD_WORD, &ring_info.name },
	{ "guest_cpu", "-", FIELD_CPU, &config.guest_cpu },
	{ "host_cpu", "-", FIELD_CPU, &config.host_cpu },
	{ "ring_size", "entries", FIELD_U32, &config.ring_size },
	{ "run_cycles", "buffers", FIELD_U64, &config.run_cycles },
	{ "batch", "buffers", FIELD_U32, &config.batch },
	{ "outstanding", "buffers", FIELD_U64, &config.outstanding },
	{ "param", "-", FIELD_U32, &config.param },
	{ "mode", "-", FIELD_WORD, &mode },
	{ "sample", "-", FIELD_U32, &nr },
	{ "elapsed_ns", "ns", FIELD_U64, &sample.elapsed_ns },
	{ "ns_per_buffer", "ns", FIELD_FIXED + 4, &ns_per_buffer },
	{ "kicks", "-", FIELD_U64, &sample.kicks },
	{ "calls", "-", FIELD_U64, &sample.calls },
	{ "guest_spurious", "-", FIELD_U64, &sample.guest_spurious },
	{ "host_spurious", "-", FIELD_U64, &sample.host_spurious },
	{ "verified", "-", FIELD_BOOL, &config.verify },
	{ .name = NULL }
};

static const char *mode_text(void)
{
	static char text[64];

	snprintf(text, sizeof(text), "%s%s%s%s",
		 config.sleep ? "sleep" : "poll",
		 config.sleep || config.relax ? "" : "+no-relax",
		 config.sleep && !config.exit ? "+no-exit" : "",
		 config.sleep && !config.poll_first ? "+no-poll-first" : "");
	return text;
}

static void human(void)
{
	printf("%s: %" PRIu64 " buffers in %.4f s, %.2f ns/buffer (%s)",
	       ring_info.name, config.run_cycles, sample.elapsed_ns / 1e9,
	       ns_per_buffer, cpus_text(config.guest_cpu, config.host_cpu));
	if (config.sleep)
		printf(", %" PRIu64 " kicks, %" PRIu64 " calls", sample.kicks,
		       sample.calls);
	if (config.verify)
		printf(", verified");
	putchar('\n');
}

void report_start(void)
{
	static const struct record record = {
		.fields = fields,
		.human = human,
		.cpu = &config.guest_cpu,
	};

	context_start();
	mode = mode_text();
	if (!config.quiet)
		record_start(config.format, &record);
	at_end(config.quiet ? quota_warn : record_end);
}

void report_sample(const struct sample *s)
{
	sample = *s;
	ns_per_buffer = (double)s->elapsed_ns / config.run_cycles;
	if (!config.quiet)
		record_row();
	nr++;
}
