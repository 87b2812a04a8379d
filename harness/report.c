// SPDX-License-Identifier: MIT
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "lib/context.h"
#include "main.h"
#include "lib/program.h"
#include "lib/quota.h"
#include "report.h"

#define SCHEMA 1

static struct sample *samples;	/* kept for JSON only */
static unsigned nr_samples;

static double ns_per_buffer(const struct sample *s)
{
	return (double)s->elapsed_ns / config.run_cycles;
}

static const char *mode(void)
{
	static char text[64];

	snprintf(text, sizeof(text), "%s%s%s%s",
		 config.sleep ? "sleep" : "poll",
		 config.sleep || config.relax ? "" : "+no-relax",
		 config.sleep && !config.exit ? "+no-exit" : "",
		 config.sleep && !config.poll_first ? "+no-poll-first" : "");
	return text;
}

static const char *outstanding_text(char text[24], const char *none)
{
	if (config.outstanding == UINT64_MAX)
		return none;
	snprintf(text, 24, "%" PRIu64, config.outstanding);
	return text;
}

static void human(const struct sample *s)
{
	printf("%s: %" PRIu64 " buffers in %.4f s, %.2f ns/buffer (%s)",
	       ring_info.name, config.run_cycles, s->elapsed_ns / 1e9,
	       ns_per_buffer(s),
	       cpus_text(config.guest_cpu, config.host_cpu));
	if (config.sleep)
		printf(", %" PRIu64 " kicks, %" PRIu64 " calls", s->kicks,
		       s->calls);
	if (config.verify)
		printf(", verified");
	putchar('\n');
}

static void csv(const struct sample *s)
{
	char guest[16], host[16], most[24];

	printf("%d,%s,%s,%s,%u,%" PRIu64 ",%u,%s,%u,%s,%u,%" PRIu64
	       ",%.4f,%" PRIu64 ",%" PRIu64 ",%" PRIu64 ",%" PRIu64 ",%d\n",
	       SCHEMA, ring_info.name, cpu_text(guest, config.guest_cpu, ""),
	       cpu_text(host, config.host_cpu, ""), config.ring_size,
	       config.run_cycles, config.batch, outstanding_text(most, ""),
	       config.param, mode(), nr_samples, s->elapsed_ns,
	       ns_per_buffer(s), s->kicks, s->calls, s->guest_spurious,
	       s->host_spurious, config.verify);
}

static void json_sample(const struct sample *s, unsigned nr)
{
	char guest[16], host[16], most[24];

	printf("%s{\"layout\":\"%s\",\"guest_cpu\":%s,\"host_cpu\":%s,"
	       "\"ring_size\":%u,\"run_cycles\":%" PRIu64 ",\"batch\":%u,"
	       "\"outstanding\":%s,\"param\":%u,\"mode\":\"%s\","
	       "\"sample\":%u,\"elapsed_ns\":%" PRIu64
	       ",\"ns_per_buffer\":%.4f,\"kicks\":%" PRIu64
	       ",\"calls\":%" PRIu64 ",\"guest_spurious\":%" PRIu64
	       ",\"host_spurious\":%" PRIu64 ",\"verified\":%s}",
	       nr ? "," : "", ring_info.name,
	       cpu_text(guest, config.guest_cpu, "null"),
	       cpu_text(host, config.host_cpu, "null"), config.ring_size,
	       config.run_cycles, config.batch, outstanding_text(most, "null"),
	       config.param, mode(), nr, s->elapsed_ns, ns_per_buffer(s),
	       s->kicks, s->calls, s->guest_spurious, s->host_spurious,
	       config.verify ? "true" : "false");
}

void report_start(void)
{
	context_start();
	if (config.format == FORMAT_JSON && !config.quiet) {
		samples = calloc(config.repeat, sizeof(*samples));
		if (!samples)
			die(EXIT_FAILED, "no memory to keep %u samples; use "
			    "--format csv", config.repeat);
	}
	if (config.format == FORMAT_CSV && !config.quiet)
		printf("schema,layout,guest_cpu,host_cpu,ring_size,run_cycles,"
		       "batch,outstanding,param,mode,sample,elapsed_ns,"
		       "ns_per_buffer,kicks,calls,guest_spurious,"
		       "host_spurious,verified\n");
	finish_stdout();
	at_early_end(report_end);
}

void report_sample(const struct sample *s)
{
	if (config.quiet)
		return;
	switch (config.format) {
	case FORMAT_HUMAN:
		human(s);
		break;
	case FORMAT_CSV:
		csv(s);
		break;
	case FORMAT_JSON:
		samples[nr_samples] = *s;
		break;
	}
	nr_samples++;
	finish_stdout();
}

void report_end(void)
{
	at_early_end(NULL);
	if (!config.quiet && config.format == FORMAT_JSON) {
		printf("{\"schema\":%d,\"context\":", SCHEMA);
		context_json(config.guest_cpu);
		printf(",\"samples\":[");
		for (unsigned i = 0; i < nr_samples; i++)
			json_sample(&samples[i], i);
		printf("]}\n");
	}
	free(samples);
	samples = NULL;
	finish_stdout();
	quota_warn();
}
