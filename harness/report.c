// SPDX-License-Identifier: MIT
#include <inttypes.h>
#include <math.h>
#include <stdio.h>

#include "latency.h"
#include "lib/context.h"
#include "lib/program.h"
#include "phases.h"
#include "lib/quota.h"
#include "lib/record.h"
#include "main.h"
#include "payload.h"
#include "queues.h"
#include "report.h"

static struct sample sample;
static uint32_t nr;
static uint64_t buffers;
static double ns_per_buffer, buffers_per_s;
static const char *mode;
static double rate_offered;
static const char *arrivals_text;   /* NULL: a closed loop */
static struct latency_result shown; /* NAN: not measured */
static const struct latency_result not_measured = { NAN, NAN, NAN, NAN, NAN,
						    NAN, NAN, NAN, NAN };
static const char *payload_to; /* NULL: no payload */
static uint64_t pool;	       /* UINT64_MAX: likewise */
static double gb_per_s;	       /* NAN: likewise */
static const char *queue_text; /* NULL: there is one only */
static bool all_queues;	       /* the row is of them together */

static const struct field fields[] = {
	{ "layout", "-", FIELD_WORD, &ring_info.name },
	{ "guest_cpu", "-", FIELD_CPU, &config.guest_cpu },
	{ "host_cpu", "-", FIELD_CPU, &config.host_cpu },
	{ "ring_size", "entries", FIELD_U32, &config.ring_size },
	{ "run_cycles", "buffers", FIELD_U64, &buffers },
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
	{ "rate_offered", "buffers/s", FIELD_FIXED, &rate_offered },
	{ "rate_carried", "buffers/s", FIELD_FIXED, &shown.rate_carried },
	{ "latency_mean_ns", "ns", FIELD_FIXED + 1, &shown.mean_ns },
	{ "latency_min_ns", "ns", FIELD_FIXED + 1, &shown.min_ns },
	{ "latency_p50_ns", "ns", FIELD_FIXED + 1, &shown.p50_ns },
	{ "latency_p90_ns", "ns", FIELD_FIXED + 1, &shown.p90_ns },
	{ "latency_p99_ns", "ns", FIELD_FIXED + 1, &shown.p99_ns },
	{ "latency_p999_ns", "ns", FIELD_FIXED + 1, &shown.p999_ns },
	{ "latency_p9999_ns", "ns", FIELD_FIXED + 1, &shown.p9999_ns },
	{ "latency_max_ns", "ns", FIELD_FIXED + 1, &shown.max_ns },
	{ "backoff", "cycles", FIELD_U32, &config.backoff },
	{ "guest_work", "cycles", FIELD_U32, &config.guest_work },
	{ "host_work", "cycles", FIELD_U32, &config.host_work },
	{ "exit_cycles", "cycles", FIELD_U32, &config.exit_cycles },
	{ "arrivals", "-", FIELD_WORD, &arrivals_text },
	{ "payload", "bytes", FIELD_U32, &config.payload },
	{ "payload_to", "-", FIELD_WORD, &payload_to },
	{ "pool", "buffers", FIELD_U64, &pool },
	{ "gb_per_s", "GB/s", FIELD_FIXED + 3, &gb_per_s },
	{ "queues", "-", FIELD_U32, &config.queues },
	{ "queue", "-", FIELD_WORD, &queue_text },
	{ "buffers_per_s", "buffers/s", FIELD_FIXED, &buffers_per_s },
	CONTEXT_FIELDS,
	{ .name = NULL }
};

static const char *arrivals_word(void)
{
	static char text[32];

	if (!config.rate)
		return NULL;
	if (config.arrivals == ARRIVALS_EVEN)
		return "even";
	snprintf(text, sizeof(text), "poisson:%" PRIu64, config.seed);
	return text;
}

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

static void human_latency(FILE *to)
{
	if (config.rate)
		fprintf(to, "  %" PRIu64 " buffers/s offered, %.0f carried\n",
			config.rate, shown.rate_carried);
	fprintf(to,
		"  ns from %s to %s: min %.0f, median %.0f, 90 %% %.0f, "
		"99 %% %.0f, 99.9 %% %.0f, 99.99 %% %.0f, max %.0f "
		"(clock: %s, %.0f to read, steps of %.1f)\n",
		config.rate ? "due" : "added",
		ring_info.completes ? "back" : "used by the host", shown.min_ns,
		shown.p50_ns, shown.p90_ns, shown.p99_ns, shown.p999_ns,
		shown.p9999_ns, shown.max_ns, ticks.name, ticks.cost_ns,
		ticks.step_ns);
}

/* 1234567 bytes are "1.18 MiB". */
static const char *size_text(double bytes)
{
	static const char *const units[] = { "bytes", "KiB", "MiB", "GiB",
					     "TiB" };
	static char text[32];
	int i = 0;

	for (; bytes >= 1024 && i < 4; i++)
		bytes /= 1024;
	snprintf(text, sizeof(text), "%.3g %s", bytes, units[i]);
	return text;
}

static void human_payload(void)
{
	const uint32_t pools = all_queues ? config.queues : 1;

	printf("  %" PRIu32 " bytes %s: %.3f GB/s; ", config.payload,
	       !ring_info.addresses ? "in memory of each side's own" :
	       !config.to_guest	    ? "to the host" :
	       !config.to_host	    ? "to the guest" :
				      "there and back",
	       gb_per_s);
	if (pools > 1)
		printf("%" PRIu32 " pools", pools);
	else
		printf("a pool");
	printf(" of %" PRIu64 " buffers, %s\n", config.pool,
	       size_text((double)pools * config.pool * payload_stride()));
}

static void human(void)
{
	printf("%s: ", ring_info.name);
	if (all_queues)
		printf("all %" PRIu32 " queues: ", config.queues);
	else if (queue_text)
		printf("queue %s: ", queue_text);
	printf("%" PRIu64 " buffers in %.4f s, ", buffers,
	       sample.elapsed_ns / 1e9);
	if (all_queues)
		printf("%.0f buffers/s, the sum of theirs", buffers_per_s);
	else
		printf("%.2f ns/buffer (%s)", ns_per_buffer,
		       cpus_text(config.guest_cpu, config.host_cpu));
	if (config.sleep)
		printf(", %" PRIu64 " kicks, %" PRIu64 " calls", sample.kicks,
		       sample.calls);
	if (config.verify)
		printf(", verified");
	putchar('\n');
	if (config.payload)
		human_payload();
	if (config.rate && all_queues)
		printf("  %.0f buffers/s offered\n", rate_offered);
	else if (config.latency && !all_queues)
		human_latency(stdout);
}

/* Whatever ends the program: a sample that is cut off has latencies, too. */
static void last_words(void)
{
	const uint64_t n = config.latency ? latency_cut() : 0;

	queues_kill();
	if (n && !config.quiet) {
		FILE *to = config.format == FORMAT_HUMAN ? stdout : stderr;

		shown = latency_result;
		fprintf(to,
			"%s: ended early, with %" PRIu64 " of %" PRIu64
			" buffers\n",
			ring_info.name, n, config.run_cycles);
		human_latency(to);
	}
	if (config.quiet)
		quota_warn();
	else
		record_end();
	latency_write();
	phases_write();
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
	arrivals_text = arrivals_word();
	payload_to = !config.payload  ? NULL :
		     !config.to_guest ? "host" :
		     !config.to_host  ? "guest" :
					"both";
	pool = config.payload ? config.pool : UINT64_MAX;
	rate_offered = config.rate ? config.rate : NAN;
	shown = not_measured;
	if (!config.quiet)
		record_start(config.format, &record);
	at_end(last_words);
}

/* Of @n buffers, which pass at @per_s; NAN: as they did in the sample. */
static void row(const struct sample *s, uint64_t n, double per_s)
{
	sample = *s;
	buffers = n;
	ns_per_buffer = (double)s->elapsed_ns / n;
	buffers_per_s = isnan(per_s) ? 1e9 / ns_per_buffer : per_s;
	gb_per_s = config.payload ? (config.to_host + config.to_guest) *
					    (double)config.payload *
					    buffers_per_s / 1e9 :
				    NAN;
	if (!config.quiet)
		record_row();
}

void report_sample(const struct sample *s)
{
	if (config.latency)
		shown = latency_result;
	row(s, config.run_cycles, NAN);
	nr++;
}

static struct sample sum;
static double sum_per_s;

void report_queue(uint32_t queue, const struct sample *s)
{
	static char text[16];

	if (s->elapsed_ns > sum.elapsed_ns)
		sum.elapsed_ns = s->elapsed_ns;
	sum.kicks += s->kicks;
	sum.calls += s->calls;
	sum.guest_spurious += s->guest_spurious;
	sum.host_spurious += s->host_spurious;
	sum_per_s += config.run_cycles * 1e9 / s->elapsed_ns;

	config_queue(queue);
	snprintf(text, sizeof(text), "%" PRIu32, queue);
	queue_text = text;
	if (config.latency)
		shown = latency_result;
	row(s, config.run_cycles, NAN);
}

void report_all_queues(void)
{
	config.guest_cpu = config.host_cpu = -1;
	shown = not_measured;
	queue_text = "all";
	all_queues = true;
	if (config.rate)
		rate_offered = (double)config.rate * config.queues;
	row(&sum, config.run_cycles * config.queues, sum_per_s);
	rate_offered = config.rate ? config.rate : NAN;
	all_queues = false;
	sum = (struct sample){ 0 };
	sum_per_s = 0;
	nr++;
}
