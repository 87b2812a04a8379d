// SPDX-License-Identifier: MIT
/*
 * Runs commands in turn and says whether one is faster than another: ratios
 * pair by pair, and the interval that Wilcoxon's signed ranks give.
 *
 * Here is the command line; run.c is one run of a command, rounds.c goes on
 * until it is enough, and answer.c tells what came of it.
 */
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "answer.h"
#include "compare.h"
#include "lib/context.h"
#include "lib/job.h"
#include "lib/machine.h"
#include "lib/program.h"
#include "rounds.h"
#include "run.h"

#define MAX_COMMANDS 64	      /* A to Z, AA ... */
#define MAX_NUMBER 1000000000 /* of per cent, or seconds: 30 years */

struct options options = {
	.metric = UNDECIDED,
	.column = "ns_per_buffer",
	.warmup = 1,
	.resolve = NAN,
	.max_time_s = NAN,
	.gate = NAN,
};
struct command commands[MAX_COMMANDS];
unsigned nr_commands;
const char *ending;

static const char *metric; /* NULL: what the first run decides */

static const struct opt opts[] = {
	{ "metric", "WHAT", "a column, or wall, user, sys, cpu (ns_per_buffer)",
	  OPT_TEXT, &metric, 0, 0 },
	{ "warmup", "N", "rounds before those that count (1)", OPT_U32,
	  &options.warmup, 0, 1000000 },
	{ "runs", "N", "rounds that count (as many as it takes)", OPT_U32,
	  &options.runs, 1, 100000000 },
	{ "resolve", "PERCENT", "stop when the interval is narrower (1)",
	  OPT_DOUBLE, &options.resolve, 0, MAX_NUMBER },
	{ "max-time", "SECONDS", "begin no round after (60; none with --runs)",
	  OPT_DOUBLE, &options.max_time_s, 0, MAX_NUMBER },
	{ "fail-if-slower", "PERCENT",
	  "status 1 if B is slower, all of its "
	  "interval",
	  OPT_DOUBLE, &options.gate, 0, MAX_NUMBER },
	{ "csv", "FILE", "keep every sample there", OPT_TEXT, &options.csv, 0,
	  0 },
	{ "json", "FILE", "the same, one JSON object a line", OPT_TEXT,
	  &options.json, 0, 0 },
	OPT_FORMAT(&options.format),
	{ .name = NULL }
};

static const char usage[] =
	"usage: compare [options] 'COMMAND A' 'COMMAND B' ['COMMAND C' ...]\n"
	"Runs the commands in turn and says whether B is faster than A, and by how\n"
	"much.\n"
	"\n"
	"A command is one string, split as a shell does it but run without a shell;\n"
	"\"sh -c '...'\" is one. If it prints a ringtest row, as rings do when they see\n"
	"RINGTEST_FORMAT=csv (set here), its ns_per_buffer is compared (of several\n"
	"rows, the median), otherwise its wall time. It goes on until the interval of\n"
	"the ratio, from end to end, is narrower than --resolve, or until --max-time.\n"
	"Ctrl-C prints what there is, with status 1.\n"
	"\n";

static const char *const times[] = { "wall", "user", "sys", "cpu" };

const char *metric_name(void)
{
	return options.metric == COLUMN ? options.column :
					  times[options.metric];
}

static bool ends_with(const char *text, const char *end)
{
	const size_t len = strlen(text), end_len = strlen(end);

	return len >= end_len && !strcmp(text + len - end_len, end);
}

bool is_time(void)
{
	return options.metric != COLUMN || ends_with(options.column, "_ns") ||
	       !strcmp(options.column, "ns_per_buffer");
}

const char *unit(void)
{
	if (options.metric != COLUMN || ends_with(options.column, "_ns"))
		return "ns";
	return is_time() ? "ns/buffer" : "-";
}

static void choose_metric(void)
{
	int i = 0;

	if (!metric)
		return;
	if (!*metric)
		die(EXIT_USAGE, "--metric: give wall, user, sys, cpu or the "
				"name of a column");
	options.metric_fixed = true;
	while (i < COLUMN && strcmp(metric, times[i]))
		i++;
	options.metric = i;
	if (i == COLUMN)
		options.column = metric;
}

void *more(void *p, size_t size)
{
	p = realloc(p, size);
	if (!p) {
		ending = "no memory";
		die(EXIT_FAILED, "no memory for %zu bytes: %s", size,
		    reason(ENOMEM));
	}
	return p;
}

static void name_command(struct command *c, unsigned nr)
{
	char *name = c->name;

	if (nr >= 26)
		*name++ = 'A' + nr / 26 - 1;
	*name = 'A' + nr % 26;
}

/* Splits as a shell does: blanks, quotes, backslashes, and nothing else. */
static char **split(const struct command *c)
{
	size_t n = 0, len = strlen(c->text);
	char **argv = more(NULL, (len / 2 + 2) * sizeof(*argv));
	char *out = more(NULL, len + 1);
	const char *in = c->text;

	while (*(in += strspn(in, " \t\n"))) {
		char quote = 0;

		argv[n++] = out;
		for (; *in && (quote || !strchr(" \t\n", *in)); in++) {
			if (*in == quote) {
				quote = 0;
			} else if (!quote && (*in == '"' || *in == '\'')) {
				quote = *in;
			} else if (*in == '\\' && quote != '\'') {
				if (!in[1])
					die(EXIT_USAGE,
					    "command %s: nothing "
					    "follows the last \\: %s",
					    c->name, c->text);
				/* in double quotes it guards only these */
				if (quote && !strchr("\"\\$`\n", in[1]))
					*out++ = *in;
				if (*++in != '\n')
					*out++ = *in;
			} else {
				*out++ = *in;
			}
		}
		if (quote)
			die(EXIT_USAGE, "command %s: a %c is not closed: %s",
			    c->name, quote, c->text);
		*out++ = 0;
	}
	argv[n] = NULL;
	if (!n)
		die(EXIT_USAGE, "command %s is empty", c->name);
	return argv;
}

static void read_command_line(int argc, char **argv)
{
	options.format = format_default();
	argv += opt_parse(argc, argv, opts, usage);
	choose_metric();
	if (!isnan(options.gate) && !is_time())
		die(EXIT_USAGE,
		    "--fail-if-slower: %s is no time; leave out one of the two",
		    options.column);
	for (; *argv; argv++) {
		struct command *c = &commands[nr_commands];

		if (nr_commands++ == MAX_COMMANDS)
			die(EXIT_USAGE, "too many commands; give at most %d",
			    MAX_COMMANDS);
		name_command(c, c - commands);
		c->text = *argv;
		c->argv = split(c);
	}
	if (nr_commands < 2)
		die(EXIT_USAGE, "give at least two commands, each as one "
				"string; see compare --help");
	if (options.runs && !isnan(options.resolve))
		die(EXIT_USAGE, "--resolve: --runs fixes the number of rounds; "
				"leave out one of the two");
	if (options.max_time_s == 0)
		die(EXIT_USAGE, "--max-time: 0 leaves no time to measure; give "
				"more, like 0.5");
	if (isnan(options.resolve))
		options.resolve = 1;
	if (isnan(options.max_time_s))
		options.max_time_s = options.runs ? INFINITY : 60;
	if (!isnan(options.gate) && options.runs &&
	    options.runs < pairs_needed())
		die(EXIT_USAGE,
		    "--fail-if-slower: no verdict comes of --runs "
		    "%u; give at least %u",
		    options.runs, pairs_needed());
	open_samples();
}

int main(int argc, char **argv)
{
	read_command_line(argc, argv);
	prepare_runs();
	context_start();
	machine_start();
	/* Nothing that was measured is lost to what goes wrong later. */
	at_end(report);
	run_rounds();
	machine_end();
	conclude();
	if (jobs_stopped())
		die(EXIT_FAILED, "interrupted after %llu rounds",
		    (unsigned long long)rounds);
	return isnan(options.gate) ? EXIT_DONE : judge();
}
