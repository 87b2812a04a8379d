// SPDX-License-Identifier: MIT
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "lib/context.h"
#include "lib/program.h"
#include "lib/stats.h"
#include "report.h"

static const char *const order_names[] = { "pfifo", "pfifo_clear_first" };

static void print_run(const struct result *r)
{
	char first[16], second[16];
	int guest = options.nr_cpus ? options.cpus[0] : -1;
	int host = options.nr_cpus ? options.cpus[1 % options.nr_cpus] : -1;
	double ns = r->delivered ? (double)r->elapsed_ns / r->delivered : 0;

	if (options.format == FORMAT_CSV)
		printf("1,%s,%s,%s,%u,%" PRIu64 ",%" PRIu32 ",%" PRIu32 ",%"
		       PRIu32 ",%" PRIu32 ",%" PRIu32 ",%" PRIu64 ",%.4f,%"
		       PRIu64 ",%" PRIu64 "\n", order_names[r->order],
		       cpu_text(first, guest, ""), cpu_text(second, host, ""),
		       r->threads, options.packets, options.size,
		       options.limit, options.pool, options.quota, r->nr,
		       r->elapsed_ns, ns, r->delivered, r->drops);
	if (options.format == FORMAT_JSON)
		printf("{\"layout\":\"%s\",\"guest_cpu\":%s,\"host_cpu\":%s,"
		       "\"threads\":%u,\"packets\":%" PRIu64 ",\"size\":%"
		       PRIu32 ",\"limit\":%" PRIu32 ",\"pool\":%" PRIu32
		       ",\"quota\":%" PRIu32 ",\"sample\":%" PRIu32
		       ",\"elapsed_ns\":%" PRIu64 ",\"ns_per_buffer\":%.4f,"
		       "\"delivered\":%" PRIu64 ",\"drops\":%" PRIu64 "}",
		       order_names[r->order], cpu_text(first, guest, "null"),
		       cpu_text(second, host, "null"), r->threads,
		       options.packets, options.size, options.limit,
		       options.pool, options.quota, r->nr, r->elapsed_ns, ns,
		       r->delivered, r->drops);
}

/* JSON waits for the end. */
static struct result *kept;
static size_t nr_kept;

static void keep(const struct result *r)
{
	struct result *more = reallocarray(kept, nr_kept + 1, sizeof(*kept));

	if (!more)
		die(EXIT_FAILED, "no memory to keep the samples; use --format "
		    "csv");
	kept = more;
	kept[nr_kept++] = *r;
}

static void print_kept(void)
{
	printf("{\"schema\":1,\"samples\":[");
	for (size_t i = 0; i < nr_kept; i++) {
		if (i)
			putchar(',');
		print_run(&kept[i]);
	}
	printf("],\"context\":");
	context_json(options.nr_cpus ? options.cpus[0] : -1);
	printf("}\n");
}

/* Of the line of the table that is printed next. */
static struct {
	unsigned threads;
	uint32_t results;	/* in both orders */
	double *rate[2];	/* packets per us, by order */
	double *log_ratio;	/* head first to clear first, pair by pair */
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
		printf("  drops: %.2f %%", 100.0 * line.drops /
		       (options.packets * line.results));
	if (n < options.repeat)
		printf("  after %" PRIu32 " runs", n);
	putchar('\n');
	finish_stdout();
}

void report(const struct result *r)
{
	if (options.format == FORMAT_JSON)
		keep(r);
	if (options.format == FORMAT_CSV) {
		print_run(r);
		finish_stdout();
	}
	line.threads = r->threads;
	line.rate[r->order][r->nr] = 1e3 * r->delivered / r->elapsed_ns;
	line.drops += r->drops;
	line.results++;
}

static void *numbers(void)
{
	void *p = calloc(options.repeat, sizeof(double));

	if (!p)
		die(EXIT_FAILED, "--repeat: no memory for %" PRIu32 " samples; "
		    "give fewer", options.repeat);
	return p;
}

void report_start(void)
{
	for (int which = 0; which < 2; which++)
		line.rate[which] = numbers();
	line.log_ratio = numbers();
	switch (options.format) {
	case FORMAT_HUMAN:
		printf("pfifo: %" PRIu64 " packets of %" PRIu32 " bytes, %d "
		       "bands of %" PRIu32 ", %" PRIu32 " runs; medians in "
		       "Mpps, 95 %% intervals\n", options.packets,
		       options.size, BANDS, options.limit, options.repeat);
		printf("threads%s%s%s\n", options.order != HEAD_FIRST ?
		       "            clear first" : "",
		       options.order != CLEAR_FIRST ?
		       "             head first" : "",
		       options.order == BOTH ? "    change" : "");
		break;
	case FORMAT_CSV:
		printf("schema,layout,guest_cpu,host_cpu,threads,packets,size,"
		       "limit,pool,quota,sample,elapsed_ns,ns_per_buffer,"
		       "delivered,drops\n");
		break;
	}
	finish_stdout();
	at_early_end(report_end);
}

void report_line(void)
{
	if (options.format == FORMAT_HUMAN && line.results >= nr_orders())
		print_line();
	line.drops = line.results = 0;
}

void report_end(void)
{
	at_early_end(NULL);
	report_line();
	if (options.format == FORMAT_JSON)
		print_kept();
	finish_stdout();
}
