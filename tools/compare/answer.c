// SPDX-License-Identifier: MIT
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "answer.h"
#include "compare.h"
#include "lib/program.h"
#include "lib/record.h"
#include "rounds.h"

static void summarize(void)
{
	static const struct groups one = { { NAN, NAN }, { NAN, NAN } };

	compare();
	for_each_command (c) {
		memcpy(c->sorted, c->values, rounds * sizeof(double));
		sort_values(c->sorted, rounds);
		c->median = median_estimate(c->sorted, rounds, 0.05);
		outer_fences(c->sorted, rounds, &c->low_fence, &c->high_fence);
		for (uint64_t i = 0; i < rounds; i++) {
			c->low_outliers += c->sorted[i] < c->low_fence;
			c->high_outliers += c->sorted[i] > c->high_fence;
		}
		if (!two_groups(c->sorted, rounds, &c->groups))
			c->groups = one;
	}
}

/* Holds 1 and goes further than this, end to end: it tells nothing. */
#define VAGUE 2

static bool has_verdict(const struct command *c)
{
	const struct estimate *r = &c->ratio;

	return r->has_interval &&
	       (r->low > 0 || r->high < 0 || r->high - r->low <= log(VAGUE));
}

/* What gives more rounds. */
static const char *remedy(void)
{
	if (!strcmp(ending, "time is over"))
		return "; give more --max-time";
	if (!strcmp(ending, "done"))
		return options.runs ? "; give more --runs" :
				      "; give less --resolve";
	return "";
}

/* In words. */
static const char *verdict(const struct command *c)
{
	static char text[192];
	const struct estimate *r = &c->ratio;
	double low = 100 * expm1(r->low), high = 100 * expm1(r->high);
	int decimals = interval_decimals(low, high);
	char value[32], near[32], far[32];

	percent_text(value, fabs(100 * expm1(r->value)), decimals);
	percent_text(near, fmin(fabs(low), fabs(high)), decimals);
	percent_text(far, fmax(fabs(low), fabs(high)), decimals);
	if (!r->has_interval)
		snprintf(text, sizeof(text),
			 "no verdict: the runs are too few "
			 "(%llu pair%s, and an interval needs %u)%s",
			 (unsigned long long)rounds, rounds > 1 ? "s" : "",
			 pairs_needed(), remedy());
	else if (!has_verdict(c))
		snprintf(text, sizeof(text),
			 "no verdict: the runs are too few "
			 "(the interval goes from %.2g to %.2g times A)%s",
			 exp(r->low), exp(r->high), remedy());
	else if (r->low <= 0 && r->high >= 0)
		snprintf(text, sizeof(text),
			 "no difference shown (within %s "
			 "%%)",
			 far);
	else
		snprintf(text, sizeof(text), "%s %% %s [%s, %s]", value,
			 !is_time() ? r->low > 0 ? "more" : "less" :
			 r->low > 0 ? "slower" :
				      "faster",
			 near, far);
	return text;
}

static void print_verdicts(void)
{
	for_each_later (c)
		printf("%s against A: %s\n", c->name, verdict(c));
	if (!commands[1].ratio.has_interval)
		return;
	printf("\n%s In brackets the 95 %% interval, by signed ranks\nof "
	       "%llu pairs",
	       is_time() ? "Faster: takes less time than A." :
			   "More: the column's value is greater than A's.",
	       (unsigned long long)rounds);
	if (alpha() != ALPHA_FIXED)
		printf("; taken at %.4g %%, to allow for", 100 - 100 * alpha());
	if (nr_commands > 2)
		printf(" %u at once (Bonferroni)%s", nr_commands - 1,
		       options.runs ? "" : "\nand");
	printf("%s.\n", options.runs ? "" : " stopping when narrow");
}

static void print_command(const struct command *c, double scale, int d)
{
	char interval[64] = "-";
	const double *x = c->sorted;

	if (c->median.has_interval)
		snprintf(interval, sizeof(interval), "[%.*f, %.*f]", d,
			 c->median.low / scale, d, c->median.high / scale);
	printf("%s %*llu %11.*f   %-22s %10.*f %10.*f\n", c->name,
	       19 - (int)strlen(c->name), (unsigned long long)rounds, d,
	       c->median.value / scale, interval, d, x[0] / scale, d,
	       x[rounds - 1] / scale);
	if (c->low_outliers)
		printf("  %" PRIu64
		       " low outlier%s, kept: below %.*f, Tukey's outer "
		       "fence\n",
		       c->low_outliers, c->low_outliers > 1 ? "s" : "", d,
		       c->low_fence / scale);
	if (c->high_outliers)
		printf("  %" PRIu64
		       " high outlier%s, kept: above %.*f, Tukey's outer "
		       "fence\n",
		       c->high_outliers, c->high_outliers > 1 ? "s" : "", d,
		       c->high_fence / scale);
	if (!isnan(c->groups.share[0]))
		printf("  two groups: %.0f %% around %.*f, %.0f %% around "
		       "%.*f\n",
		       100 * c->groups.share[0], d, c->groups.centre[0] / scale,
		       100 * c->groups.share[1], d,
		       c->groups.centre[1] / scale);
}

static void print_human(void)
{
	static const char *const names[] = { "ns", "us", "ms", "s" };
	char title[32] = "ns per buffer";
	double least = INFINITY, scale = 1;
	int i, d;

	for_each_command (c) {
		least = fmin(least, c->median.value);
		printf("%s: %s\n", c->name, c->text);
	}
	if (options.metric == COLUMN &&
	    strcmp(options.column, "ns_per_buffer")) {
		snprintf(title, sizeof(title), "%s", options.column);
	} else if (options.metric != COLUMN) {
		for (i = 0; i < 3 && least >= 1000 * scale; i++)
			scale *= 1000;
		snprintf(title, sizeof(title), "%s time, %s", metric_name(),
			 names[i]);
	}
	least /= scale;
	d = least < 1 ? 4 : least < 10 ? 3 : least < 100 ? 2 : 1;
	printf("\n%-14s %5s %11s   %-22s %10s %10s\n", title, "runs", "median",
	       "95 % interval", "min", "max");
	for_each_command (c)
		print_command(c, scale, d);
	putchar('\n');
	print_verdicts();
	if (!strcmp(ending, "done"))
		return;
	printf("Ended early: %s", ending);
	if (!options.runs && isfinite(width))
		printf(", with an interval of %.2g %%, not yet %g %%", width,
		       options.resolve);
	puts(".");
}

/* NAN: more or less than a double can hold. */
static double ratio(double logarithm)
{
	double x = exp(logarithm);

	return isfinite(x) && x > 0 ? x : NAN;
}

/* A row is one command. The ratio is of times: below 1 is faster than A. */
static struct command row;
static const char *name, *metric, *unit_name, *words;
static double min, max, ratio_value, ratio_low, ratio_high, ratio_level;

static const struct field fields[] = {
	{ "command", "-", FIELD_TEXT, &name },
	{ "text", "-", FIELD_TEXT, &row.text },
	{ "metric", "-", FIELD_TEXT, &metric },
	{ "unit", "-", FIELD_TEXT, &unit_name },
	{ "n", "rounds", FIELD_U64, &rounds },
	{ "median", "(unit)", FIELD_DOUBLE, &row.median.value },
	{ "median_low", "(unit)", FIELD_DOUBLE, &row.median.low },
	{ "median_high", "(unit)", FIELD_DOUBLE, &row.median.high },
	{ "min", "(unit)", FIELD_DOUBLE, &min },
	{ "max", "(unit)", FIELD_DOUBLE, &max },
	{ "low_outliers", "samples", FIELD_U64, &row.low_outliers },
	{ "high_outliers", "samples", FIELD_U64, &row.high_outliers },
	{ "group1_centre", "(unit)", FIELD_DOUBLE, &row.groups.centre[0] },
	{ "group1_share", "-", FIELD_DOUBLE, &row.groups.share[0] },
	{ "group2_centre", "(unit)", FIELD_DOUBLE, &row.groups.centre[1] },
	{ "group2_share", "-", FIELD_DOUBLE, &row.groups.share[1] },
	{ "ratio", "-", FIELD_DOUBLE, &ratio_value },
	{ "ratio_low", "-", FIELD_DOUBLE, &ratio_low },
	{ "ratio_high", "-", FIELD_DOUBLE, &ratio_high },
	{ "ratio_level", "-", FIELD_DOUBLE, &ratio_level },
	{ "verdict", "-", FIELD_TEXT, &words },
	{ "ended", "-", FIELD_TEXT, &ending },
	{ .name = NULL }
};

static const struct record record = { .fields = fields, .rows = "commands" };

static void put_command(const struct command *c)
{
	bool later = c > commands;

	row = *c;
	name = c->name;
	metric = metric_name();
	unit_name = unit();
	min = c->sorted[0];
	max = c->sorted[rounds - 1];
	ratio_value = later ? ratio(c->ratio.value) : NAN;
	ratio_low = later ? ratio(c->ratio.low) : NAN;
	ratio_high = later ? ratio(c->ratio.high) : NAN;
	ratio_level = later ? 1 - alpha() : NAN;
	words = later ? verdict(c) : NULL;
	record_row();
}

void report(void)
{
	progress(NULL);
	if (!rounds)
		return;
	if (!ending)
		ending = "an error";
	summarize();
	if (options.format == FORMAT_HUMAN)
		print_human();
	record_start(options.format, &record);
	for_each_command (c)
		put_command(c);
	record_end();
}

int judge(void)
{
	const struct command *unknown = NULL;
	int status = EXIT_DONE;

	for_each_later (c) {
		if (100 * expm1(c->ratio.low) > options.gate) {
			fprintf(stderr,
				"%s: --fail-if-slower: command %s is "
				"%s, all of it above %g\n",
				program, c->name, verdict(c), options.gate);
			status = EXIT_FAILED;
		} else if (!has_verdict(c) &&
			   !(100 * expm1(c->ratio.high) <= options.gate)) {
			unknown = c;
		}
	}
	if (unknown && status == EXIT_DONE)
		die(EXIT_CANNOT, "--fail-if-slower: command %s: %s",
		    unknown->name, verdict(unknown));
	return status;
}
