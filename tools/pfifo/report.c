// SPDX-License-Identifier: MIT
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "lib/context.h"
#include "lib/program.h"
#include "lib/record.h"
#include "lib/stats.h"
#include "report.h"

static struct result result;
static const char *layout;
static int first_cpu = -1, second_cpu = -1;
static double ns_per_buffer;

static const struct field fields[] = {
	{ "layout", "-", FIELD_WORD, &layout },
	{ "guest_cpu", "-", FIELD_CPU, &first_cpu },
	{ "host_cpu", "-", FIELD_CPU, &second_cpu },
	{ "threads", "-", FIELD_U32, &result.threads },
	{ "packets", "packets", FIELD_U64, &options.packets },
	{ "size", "bytes", FIELD_U32, &options.size },
	{ "limit", "packets", FIELD_U32, &options.limit },
	{ "pool", "packets", FIELD_U32, &options.pool },
	{ "quota", "packets", FIELD_U32, &options.quota },
	{ "sample", "-", FIELD_U32, &result.nr },
	{ "elapsed_ns", "ns", FIELD_U64, &result.elapsed_ns },
	{ "ns_per_buffer", "ns", FIELD_FIXED + 4, &ns_per_buffer },
	{ "delivered", "packets", FIELD_U64, &result.delivered },
	{ "drops", "packets", FIELD_U64, &result.drops },
	CONTEXT_FIELDS,
	{ .name = NULL }
};

static const struct record record = { .fields = fields, .cpu = &first_cpu };

/* Of the line of the table that is printed next. */
static struct {
	unsigned threads;
	uint32_t results;  /* in both orders */
	double *rate[2];   /* packets per us, by order */
	double *log_ratio; /* head first to clear first, pair by pair */
	uint64_t drops;
} line;

static unsigned nr_orders(void)
{
	return options.order == BOTH ? 2 : 1;
}

static void print_rate(double *rates, uint32_t n)
{
	struct estimate e;

	sort_values(rates, n);
	e = median_estimate(rates, n, ALPHA_FIXED);
	if (e.has_interval)
		printf("  %6.2f [%5.2f, %5.2f]", e.value, e.low, e.high);
	else
		printf("  %6.2f %14s", e.value, "");
}

static void print_change(uint32_t n)
{
	struct estimate e;

	sort_values(line.log_ratio, n);
	e = hodges_lehmann(line.log_ratio, n, ALPHA_FIXED);
	printf("  %+6.1f %%", 100 * expm1(e.value));
	if (e.has_interval)
		printf(" [%+5.1f, %+5.1f]%s", 100 * expm1(e.low),
		       100 * expm1(e.high),
		       e.low <= 0 && e.high >= 0 ? " no difference shown" : "");
	else
		printf(" (too few runs)");
}

static void print_line(void)
{
	const uint32_t n = line.results / nr_orders();

	/* while they are pairs: a median sorts them */
	for (uint32_t i = 0; i < n && options.order == BOTH; i++)
		line.log_ratio[i] = log(line.rate[HEAD_FIRST][i] /
					line.rate[CLEAR_FIRST][i]);
	printf("%7u", line.threads);
	for (int which = CLEAR_FIRST; which >= HEAD_FIRST; which--)
		if (options.order == BOTH || options.order == which)
			print_rate(line.rate[which], n);
	if (options.order == BOTH)
		print_change(n);
	if (line.drops)
		printf("  drops: %.2f %%",
		       100.0 * line.drops / (options.packets * line.results));
	if (n < options.repeat)
		printf("  after %" PRIu32 " runs", n);
	putchar('\n');
	finish_stdout();
}

void report(const struct result *r)
{
	result = *r;
	layout = r->order == CLEAR_FIRST ? "pfifo_clear_first" : "pfifo";
	ns_per_buffer = (double)r->elapsed_ns / r->delivered;
	record_row();
	line.threads = r->threads;
	line.rate[r->order][r->nr] = 1e3 * r->delivered / r->elapsed_ns;
	line.drops += r->drops;
	line.results++;
}

static void *numbers(void)
{
	void *p = calloc(options.repeat, sizeof(double));

	if (!p)
		die(EXIT_FAILED,
		    "--repeat: no memory for %" PRIu32 " samples; "
		    "give fewer",
		    options.repeat);
	return p;
}

static void print_head(void)
{
	printf("pfifo: %" PRIu64 " packets of %" PRIu32
	       " bytes, %d bands of %" PRIu32 ", %" PRIu32
	       " runs; medians in Mpps, 95 %% intervals\n",
	       options.packets, options.size, BANDS, options.limit,
	       options.repeat);
	printf("threads%s%s%s\n",
	       options.order != HEAD_FIRST ? "            clear first" : "",
	       options.order != CLEAR_FIRST ? "             head first" : "",
	       options.order == BOTH ? "    change" : "");
}

/* What has not been printed yet. */
static void report_end(void)
{
	report_line();
	record_end();
}

void report_start(void)
{
	for (int which = 0; which < 2; which++)
		line.rate[which] = numbers();
	line.log_ratio = numbers();
	if (options.nr_cpus) {
		first_cpu = options.cpus[0];
		second_cpu = options.cpus[1 % options.nr_cpus];
	}
	if (options.format == FORMAT_HUMAN)
		print_head();
	record_start(options.format, &record);
	at_end(report_end);
}

void report_line(void)
{
	if (options.format == FORMAT_HUMAN && line.results >= nr_orders())
		print_line();
	line.drops = line.results = 0;
}
