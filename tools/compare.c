// SPDX-License-Identifier: MIT
/*
 * Runs commands in turn and says whether one is faster than another: ratios
 * pair by pair, and the interval that Wilcoxon's signed ranks give.
 *
 * In this order: command line; what is written for machines; one run; the rounds;
 * the answer.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "lib/clock.h"
#include "lib/context.h"
#include "lib/job.h"
#include "lib/json.h"
#include "lib/machine.h"
#include "lib/program.h"
#include "lib/stats.h"

#define MAX_COMMANDS 26		/* a letter each */
#define MAX_OUTPUT   (16 << 20)	/* of what a command wrote, looked at */

enum metric { WALL, USER, SYS, CPU, NS_PER_BUFFER, UNDECIDED };
#define METRICS "wall|user|sys|cpu"
static const char *const metric_names[] = { "wall", "user", "sys", "cpu",
					    "ns_per_buffer" };

static struct command {
	char name[2];
	const char *text;
	char **argv;
	double *values;		/* one per round that is over */
	double *sorted;
	struct estimate median;
	double low_fence, high_fence;
	size_t low_outliers, high_outliers;
	struct groups groups;	/* NAN: the sample is one */
	struct estimate ratio;	/* to the first, as a logarithm */
} commands[MAX_COMMANDS];
static unsigned nr_commands;
#define for_each_command(c) \
	for (struct command *c = commands; c < commands + nr_commands; c++)
#define for_each_later(c) \
	for (struct command *c = commands + 1; c < commands + nr_commands; c++)

static int format, metric = UNDECIDED;
static bool metric_fixed;
static uint32_t runs, warmup = 1;
static double resolve, max_time_ns, gate;
static const char *resolve_text, *max_time_text, *gate_text;
static const char *csv_path, *json_path;
static FILE *csv, *json;

static uint64_t rounds;			/* over, and counting */
static uint64_t start_ns;
static double width = INFINITY;		/* of the widest interval, per cent */
static const char *ending;		/* why there are no more rounds */

static const struct opt opts[] = {
	{ "metric", METRICS, "what to compare (ns per buffer, or wall)",
	  OPT_CHOICE, &metric, 0, 0 },
	{ "warmup", "N", "rounds before those that count (1)", OPT_U32, &warmup,
	  0, 1000000 },
	{ "runs", "N", "rounds that count (as many as it takes)", OPT_U32,
	  &runs, 1, 100000000 },
	{ "resolve", "PERCENT", "stop when the interval is narrower (1)",
	  OPT_TEXT, &resolve_text, 0, 0 },
	{ "max-time", "SECONDS", "begin no round after (60; none with --runs)",
	  OPT_TEXT, &max_time_text, 0, 0 },
	{ "fail-if-slower", "PERCENT", "status 1 if B is slower, all of its interval",
	  OPT_TEXT, &gate_text, 0, 0 },
	{ "csv", "FILE", "keep every sample there", OPT_TEXT, &csv_path, 0, 0 },
	{ "json", "FILE", "the same, one JSON object a line", OPT_TEXT,
	  &json_path, 0, 0 },
	{ "format", FORMATS, "what to print (human)", OPT_CHOICE, &format, 0,
	  0 },
	/* for tests: where /proc and /sys are */
	{ "root", "DIR", NULL, OPT_TEXT, &machine_root, 0, 0 },
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

static void report_early(const char *why);

static void *more(void *p, size_t size)
{
	p = realloc(p, size);
	if (!p) {
		report_early("no memory");
		die(EXIT_FAILED, "no memory for %zu bytes: %s", size,
		    reason(ENOMEM));
	}
	return p;
}

/* Decimal, whole, finite: what else strtod takes would be a slip here. */
static double number(const char *option, const char *text, double otherwise,
		     bool zero)
{
	double val = NAN;
	char *end;

	if (!text)
		return otherwise;
	if (*text && strspn(text, "0123456789.") == strlen(text)) {
		val = strtod(text, &end);
		if (*end || end == text)
			val = NAN;
	}
	if (!isfinite(val) || (!zero && val == 0))
		die(EXIT_USAGE, "--%s: '%s' is not a number %s, like 0.5",
		    option, text, zero ? "from 0 up" : "above 0");
	return val;
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
					die(EXIT_USAGE, "command %s: nothing "
					    "follows the last \\: %s", c->name,
					    c->text);
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

/* May miss this often: shared out, so that all intervals hold at once. */
static double alpha(void)
{
	return (runs ? ALPHA_FIXED : ALPHA_LOOKING) / (nr_commands - 1);
}

static unsigned pairs_needed(void)
{
	unsigned n = 1;

	while (!signed_rank(n, alpha()))
		n++;
	return n;
}

static FILE *open_samples(const char *option, const char *path)
{
	FILE *f = path ? fopen(path, "we") : NULL;

	if (path && !f)
		die(EXIT_FAILED, "--%s: cannot write to %s: %s", option, path,
		    reason(errno));
	return f;
}

static void read_command_line(int argc, char **argv)
{
	format = format_default();
	argv += opt_parse(argc, argv, opts, usage);
	metric_fixed = metric != UNDECIDED;
	for (; *argv; argv++) {
		struct command *c = &commands[nr_commands];

		if (nr_commands++ == MAX_COMMANDS)
			die(EXIT_USAGE, "too many commands; give at most %d",
			    MAX_COMMANDS);
		c->name[0] = 'A' + (c - commands);
		c->text = *argv;
		c->argv = split(c);
	}
	if (nr_commands < 2)
		die(EXIT_USAGE, "give at least two commands, each as one "
		    "string; see compare --help");
	if (runs && resolve_text)
		die(EXIT_USAGE, "--resolve: --runs fixes the number of rounds; "
		    "leave out one of the two");
	resolve = number("resolve", resolve_text, 1, true);
	max_time_ns = 1e9 * number("max-time", max_time_text,
				   runs ? INFINITY : 60, false);
	gate = number("fail-if-slower", gate_text, NAN, true);
	if (gate_text && runs && runs < pairs_needed())
		die(EXIT_USAGE, "--fail-if-slower: no verdict comes of --runs "
		    "%u; give at least %u", runs, pairs_needed());
	csv = open_samples("csv", csv_path);
	json = open_samples("json", json_path);
}

/* ---- What is written for machines ---- */

struct field {
	const char *name;
	const char *text;	/* NULL: it is a number */
	double number;		/* not finite: not known */
};

static void put_csv(FILE *f, const struct field *fields, bool names)
{
	for (const struct field *x = fields; x->name; x++) {
		if (x > fields)
			putc(',', f);
		if (names) {
			fputs(x->name, f);
		} else if (x->text) {
			putc('"', f);
			for (const char *c = x->text; *c; c++)
				fprintf(f, *c == '"' ? "\"\"" : "%c", *c);
			putc('"', f);
		} else if (isfinite(x->number)) {
			fprintf(f, "%.15g", x->number);
		}
	}
	putc('\n', f);
}

static void put_json(FILE *f, const struct field *fields)
{
	for (const struct field *x = fields; x->name; x++) {
		fprintf(f, "%s\"%s\":", x > fields ? "," : "{", x->name);
		if (x->text)
			json_string(f, x->text);
		else if (isfinite(x->number))
			fprintf(f, "%.15g", x->number);
		else
			fputs("null", f);
	}
	putc('}', f);
}

static const char *unit(void)
{
	return metric == NS_PER_BUFFER ? "ns/buffer" : "ns";
}

/* ---- One run ---- */

struct run {
	double start_ns;
	double value[NS_PER_BUFFER + 1];
};

static double lost_ns;			/* in runs that do not count */
static posix_spawn_file_actions_t child_files;

/*
 * The command's stdout and stderr. Memory, not pipes: nobody has to wake up
 * and read while it is measured. What is too much for memory belongs in a file.
 */
static int captured[2];

static void prepare_runs(void)
{
	setenv("RINGTEST_FORMAT", "csv", 1);
	jobs_init();
	posix_spawn_file_actions_init(&child_files);
	posix_spawn_file_actions_addopen(&child_files, 0, "/dev/null", O_RDONLY,
					 0);
	for (int i = 0; i < 2; i++) {
		captured[i] = memfd_create("compare", MFD_CLOEXEC);
		if (captured[i] < 0)
			die(EXIT_FAILED, "cannot open memory for what commands "
			    "write: %s", reason(errno));
		posix_spawn_file_actions_adddup2(&child_files, captured[i],
						 1 + i);
	}
}

/* The last @most bytes that a command wrote, as a string to be freed. */
static char *read_output(int fd, size_t most)
{
	struct stat st = { 0 };
	off_t from = 0;
	size_t size = 0;
	ssize_t got;
	char *text;

	if (!fstat(fd, &st) && (size_t)st.st_size > most)
		from = st.st_size - most;
	text = more(NULL, st.st_size - from + 1);
	while ((got = pread(fd, text + size, st.st_size - from - size,
			    from + size)) > 0)
		size += got;
	for (size_t i = 0; i < size; i++)
		if (!text[i])
			text[i] = '?';
	text[size] = 0;
	return text;
}

/* Adds the last lines of what was written to @fd, made safe for a terminal. */
static void add_tail(char *to, int fd)
{
	char *text = read_output(fd, 800), *from = text + strlen(text);

	to += strlen(to);
	while (from > text && from[-1] == '\n')
		*--from = 0;
	for (int lines = 0; from > text; from--)
		if (from[-1] == '\n' && ++lines == 8)
			break;
	if (*from)
		to = stpcpy(to, "\n    ");
	for (; *from; from++)
		if (*from == '\n')
			to = stpcpy(to, "\n    ");
		else
			*to++ = (unsigned char)*from < ' ' ? ' ' : *from;
	*to = 0;
	free(text);
}

/* Ends the comparison, after what there is, for a command that went wrong. */
__attribute__((noreturn, format(printf, 2, 3)))
static void command_failed(const struct command *c, const char *fmt, ...)
{
	char why[256], tail[2 * (800 + 9 * 5)] = "";
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(why, sizeof(why), fmt, ap);
	va_end(ap);
	add_tail(tail, captured[0]);
	add_tail(tail, captured[1]);
	report_early("a command failed");
	die(EXIT_FAILED, "command %s, %s, %s%s%s", c->name, c->text, why,
	    *tail ? "; it said:" : "", tail);
}

static double timeval_ns(struct timeval tv)
{
	return tv.tv_sec * 1e9 + tv.tv_usec * 1e3;
}

/* Ends the comparison if the job went wrong. */
static void check_job(const struct command *c, const struct job *job)
{
	static bool warned;

	if (job->error == ENOENT || job->error == ENOEXEC)
		command_failed(c, "cannot be started: %s (no shell is used; "
			       "\"sh -c '...'\" is one)", reason(job->error));
	if (job->error)
		command_failed(c, "cannot be started: %s", reason(job->error));
	if (job->wanted_terminal)
		command_failed(c, "wanted to use the terminal, which it has "
			       "not; let it ask for nothing");
	if (WIFSIGNALED(job->status))
		command_failed(c, "was ended by signal %d (%s)",
			       WTERMSIG(job->status),
			       strsignal(WTERMSIG(job->status)));
	if (WEXITSTATUS(job->status))
		command_failed(c, "ended with status %d",
			       WEXITSTATUS(job->status));
	if (job->left && !warned)
		warn("command %s left processes running, which were ended, as "
		     "they would disturb the next run; let it wait for them, "
		     "or start them with setsid", c->name);
	warned |= job->left;
}

/* False: we are to stop, and what ran then is not a sample. */
static bool run_once(const struct command *c, struct run *run)
{
	struct job job;

	do {
		for (int i = 0; i < 2; i++)
			if (ftruncate(captured[i], 0) ||
			    lseek(captured[i], 0, SEEK_SET))
				die(EXIT_FAILED, "cannot empty the memory for "
				    "what commands write: %s", reason(errno));
		job = job_run(c->argv, &child_files);
		if (jobs_stopped())
			return false;
		check_job(c, &job);
		if (job.paused) {
			warn("command %s was stopped for a time: the run does "
			     "not count, and is repeated", c->name);
			lost_ns += job.end_ns - job.start_ns;
		}
	} while (job.paused);
	run->start_ns = job.start_ns - start_ns;
	run->value[WALL] = job.end_ns - job.start_ns;
	run->value[USER] = timeval_ns(job.used.ru_utime);
	run->value[SYS] = timeval_ns(job.used.ru_stime);
	run->value[CPU] = run->value[USER] + run->value[SYS];
	return true;
}

/* Cuts a line of CSV into its fields, in place. */
static unsigned cut(char *line, char *fields[64])
{
	unsigned n = 0;

	while (line && n < 64)
		fields[n++] = strsep(&line, ",");
	return n;
}

/*
 * Looks for ringtest rows in what the command wrote, and passes over all else:
 * others may print around them. False: there was not even a header.
 */
static bool read_rows(const struct command *c, double *ns_per_buffer)
{
	static const char start[] = "schema,layout,guest_cpu,host_cpu,";
	char *text = read_output(captured[0], MAX_OUTPUT), *rest = text, *line;
	char *fields[64], *end;
	unsigned columns = 0, count, ns = 0;
	double *values = NULL;
	size_t n = 0;

	while ((line = strsep(&rest, "\n"))) {
		bool header = !strncmp(line, start, strlen(start));

		if (!header && (!columns || *line < '1' || *line > '9'))
			continue;
		line[strcspn(line, "\r")] = 0;
		count = cut(line, fields);
		if (header) {
			columns = count;
			for (ns = count - 1; ns; ns--)
				if (!strcmp(fields[ns], "ns_per_buffer"))
					break;
			if (!ns)
				command_failed(c, "printed a ringtest header "
					       "without ns_per_buffer");
		} else if (count == columns) {
			values = more(values, (n + 1) * sizeof(*values));
			values[n] = strtod(fields[ns], &end);
			if (*end || !isfinite(values[n]) || values[n] <= 0)
				command_failed(c, "printed nonsense: '%s' ns "
					       "per buffer", fields[ns]);
			n++;
			machine_pair(fields[2], fields[3]);
		}
	}
	free(text);
	if (columns && !n)
		command_failed(c, "printed a ringtest header, but no row");
	if (n) {
		sort_values(values, n);
		*ns_per_buffer = median_estimate(values, n, 1).value;
	}
	free(values);
	return n;
}

/* False: we are to stop. */
static bool measure(const struct command *c, struct run *run)
{
	bool rows;

	if (!run_once(c, run))
		return false;
	rows = read_rows(c, &run->value[NS_PER_BUFFER]);
	if (metric == UNDECIDED)
		metric = rows ? NS_PER_BUFFER : WALL;
	if (!metric_fixed && rows != (metric == NS_PER_BUFFER))
		command_failed(c, "printed %s ringtest row, unlike the run "
			       "before; --metric wall compares any two",
			       rows ? "a" : "no");
	if (run->value[metric] <= 0)
		command_failed(c, "took no %s time that the kernel counts; let "
			       "it do more, or take --metric wall",
			       metric_names[metric]);
	return true;
}

/* ---- The rounds ---- */

static void kept(const char *option, const char *path, FILE *f)
{
	const char *why = flush(f);

	if (!why)
		return;
	report_early("samples cannot be kept");
	die(EXIT_FAILED, "--%s: cannot write to %s: %s", option, path, why);
}

/* Each line is in the file when the next run begins. */
static void keep(const struct command *c, unsigned position,
		 const struct run *run)
{
	static bool named;
	const struct field fields[] = {
		{ "schema", NULL, 1 },
		{ "round", NULL, rounds + 1 },
		{ "position", NULL, position + 1 },
		{ "command", c->name, 0 },
		{ "text", c->text, 0 },
		{ "metric", metric_names[metric], 0 },
		{ "value", NULL, run->value[metric] },
		{ "unit", unit(), 0 },
		{ "start_ns", NULL, run->start_ns },
		{ "wall_ns", NULL, run->value[WALL] },
		{ "user_ns", NULL, run->value[USER] },
		{ "sys_ns", NULL, run->value[SYS] },
		{ .name = NULL }
	};

	if (csv) {
		if (!named)
			put_csv(csv, fields, true);
		named = true;
		put_csv(csv, fields, false);
		kept("csv", csv_path, csv);
	}
	if (json) {
		put_json(json, fields);
		putc('\n', json);
		kept("json", json_path, json);
	}
}

/*
 * One run of each. The order turns round every time, so that drift and what
 * one run leaves behind for the next even out; with more than two commands,
 * who is in the middle changes as well.
 */
static void one_round(uint64_t nr, bool counts)
{
	uint64_t first = nr_commands > 2 ? nr / 2 : 0;

	for (unsigned i = 0; i < nr_commands; i++) {
		uint64_t at = first + (nr % 2 ? nr_commands - 1 - i : i);
		struct command *c = &commands[at % nr_commands];
		struct run run;

		if (!measure(c, &run)) {
			ending = "interrupted";
			return;
		}
		if (counts) {
			c->values[rounds] = run.value[metric];
			keep(c, i, &run);
		}
	}
	rounds += counts;
}

/* The ratios to the first, and the width of the widest interval. */
static void compare(void)
{
	width = 0;
	for_each_later(c) {
		for (uint64_t i = 0; i < rounds; i++)
			/* not of the quotient, which a double may not hold */
			c->sorted[i] = log(c->values[i]) -
				       log(commands->values[i]);
		sort_values(c->sorted, rounds);
		c->ratio = hodges_lehmann(c->sorted, rounds, alpha());
		if (!c->ratio.has_interval)
			width = INFINITY;
		width = fmax(width, 100 * (exp(c->ratio.high) -
					   exp(c->ratio.low)));
	}
}

static double spent_ns(void)
{
	return now_ns() - start_ns - lost_ns;
}

/*
 * How far it is. The width only, never who is ahead: who stops when he likes
 * what he sees gets what he likes.
 */
static void show_progress(uint64_t first_ns, uint64_t looked)
{
	static uint64_t last_ns;
	uint64_t now = now_ns();
	double left = max_time_ns - spent_ns(), need = runs;
	char line[160], more_text[80] = "";

	if (!isatty(2) || now - last_ns < 100000000)
		return;
	last_ns = now;
	if (!runs)
		need = looked * (width / resolve) * (width / resolve);
	if (need > rounds)
		left = fmin(left, (now - first_ns) * (need / rounds - 1));
	if (!runs && looked)
		snprintf(more_text, sizeof(more_text), ", interval of %.2g %%, "
			 "to be %g %%", width, resolve);
	snprintf(line, sizeof(line), "round %llu, %.9g s left%s",
		 (unsigned long long)rounds, round(fmax(left, 0) / 1e9),
		 more_text);
	progress(line);
}

static void run_all(void)
{
	uint64_t look = next_look(0), looked = 0, room = 0, first_ns;

	for (uint32_t i = 0; i < warmup && !ending; i++)
		one_round(i, false);
	first_ns = now_ns();
	while (!ending) {
		if (rounds == room) {
			room = room ? 2 * room : 64;
			for_each_command(c) {
				c->values = more(c->values, room * sizeof(double));
				c->sorted = more(c->sorted, room * sizeof(double));
			}
		}
		one_round(rounds, true);
		if (!runs && rounds == look) {
			compare();
			looked = rounds;
			look = next_look(look);
		}
		if (ending)
			break;
		if (runs ? rounds == runs : width < resolve)
			ending = "done";
		else if (spent_ns() >= max_time_ns)
			ending = "time is over";
		else
			show_progress(first_ns, looked);
	}
	progress(NULL);
}

/* ---- The answer ---- */

static void summarize(void)
{
	static const struct groups one = { { NAN, NAN }, { NAN, NAN } };

	compare();
	for_each_command(c) {
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
		return runs ? "; give more --runs" : "; give less --resolve";
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
		snprintf(text, sizeof(text), "no verdict: the runs are too few "
			 "(%llu pair%s, and an interval needs %u)%s",
			 (unsigned long long)rounds, rounds > 1 ? "s" : "",
			 pairs_needed(), remedy());
	else if (!has_verdict(c))
		snprintf(text, sizeof(text), "no verdict: the runs are too few "
			 "(the interval goes from %.2g to %.2g times A)%s",
			 exp(r->low), exp(r->high), remedy());
	else if (r->low <= 0 && r->high >= 0)
		snprintf(text, sizeof(text), "no difference shown (within %s "
			 "%%)", far);
	else
		snprintf(text, sizeof(text), "%s %% %s [%s, %s]", value,
			 r->low > 0 ? "slower" : "faster", near, far);
	return text;
}

static void print_verdicts(void)
{
	for_each_later(c)
		printf("%s against A: %s\n", c->name, verdict(c));
	if (!commands[1].ratio.has_interval)
		return;
	printf("\nFaster: takes less time than A. In brackets the 95 %% "
	       "interval, by signed ranks\nof %llu pairs",
	       (unsigned long long)rounds);
	if (alpha() != ALPHA_FIXED)
		printf("; taken at %.4g %%, to allow for", 100 - 100 * alpha());
	if (nr_commands > 2)
		printf(" %u at once (Bonferroni)%s", nr_commands - 1,
		       runs ? "" : "\nand");
	printf("%s.\n", runs ? "" : " stopping when narrow");
}

static void print_command(const struct command *c, double scale, int d)
{
	char interval[64] = "-";
	const double *x = c->sorted;

	if (c->median.has_interval)
		snprintf(interval, sizeof(interval), "[%.*f, %.*f]", d,
			 c->median.low / scale, d, c->median.high / scale);
	printf("%s %18llu %11.*f   %-22s %10.*f %10.*f\n", c->name,
	       (unsigned long long)rounds, d, c->median.value / scale, interval,
	       d, x[0] / scale, d, x[rounds - 1] / scale);
	if (c->low_outliers)
		printf("  %zu low outlier%s, kept: below %.*f, Tukey's outer "
		       "fence\n", c->low_outliers,
		       c->low_outliers > 1 ? "s" : "", d, c->low_fence / scale);
	if (c->high_outliers)
		printf("  %zu high outlier%s, kept: above %.*f, Tukey's outer "
		       "fence\n", c->high_outliers,
		       c->high_outliers > 1 ? "s" : "", d,
		       c->high_fence / scale);
	if (!isnan(c->groups.share[0]))
		printf("  two groups: %.0f %% around %.*f, %.0f %% around "
		       "%.*f\n", 100 * c->groups.share[0], d,
		       c->groups.centre[0] / scale, 100 * c->groups.share[1], d,
		       c->groups.centre[1] / scale);
}

static void print_human(void)
{
	static const char *const names[] = { "ns", "us", "ms", "s" };
	char title[32] = "ns per buffer";
	double least = INFINITY, scale = 1;
	int i, d;

	for_each_command(c) {
		least = fmin(least, c->median.value);
		printf("%s: %s\n", c->name, c->text);
	}
	if (metric != NS_PER_BUFFER) {
		for (i = 0; i < 3 && least >= 1000 * scale; i++)
			scale *= 1000;
		snprintf(title, sizeof(title), "%s time, %s",
			 metric_names[metric], names[i]);
	}
	least /= scale;
	d = least < 1 ? 4 : least < 10 ? 3 : least < 100 ? 2 : 1;
	printf("\n%-14s %5s %11s   %-22s %10s %10s\n", title, "runs", "median",
	       "95 % interval", "min", "max");
	for_each_command(c)
		print_command(c, scale, d);
	putchar('\n');
	print_verdicts();
	if (!strcmp(ending, "done"))
		return;
	printf("Ended early: %s", ending);
	if (!runs && isfinite(width))
		printf(", with an interval of %.2g %%, not yet %g %%", width,
		       resolve);
	puts(".");
}

/* NAN: more or less than a double can hold. */
static double ratio(double logarithm)
{
	double x = exp(logarithm);

	return isfinite(x) && x > 0 ? x : NAN;
}

/* One command for machines. The ratio is of times: below 1 is faster than A. */
static void put_command(const struct command *c)
{
	bool later = c > commands;
	const struct estimate none = { NAN, false, NAN, NAN };
	const struct estimate *r = later ? &c->ratio : &none;
	const struct field fields[] = {
		{ "schema", NULL, 1 },
		{ "command", c->name, 0 },
		{ "text", c->text, 0 },
		{ "metric", metric_names[metric], 0 },
		{ "unit", unit(), 0 },
		{ "n", NULL, rounds },
		{ "median", NULL, c->median.value },
		{ "median_low", NULL, c->median.low },
		{ "median_high", NULL, c->median.high },
		{ "min", NULL, c->sorted[0] },
		{ "max", NULL, c->sorted[rounds - 1] },
		{ "low_outliers", NULL, c->low_outliers },
		{ "high_outliers", NULL, c->high_outliers },
		{ "group1_centre", NULL, c->groups.centre[0] },
		{ "group1_share", NULL, c->groups.share[0] },
		{ "group2_centre", NULL, c->groups.centre[1] },
		{ "group2_share", NULL, c->groups.share[1] },
		{ "ratio", NULL, ratio(r->value) },
		{ "ratio_low", NULL, ratio(r->low) },
		{ "ratio_high", NULL, ratio(r->high) },
		{ "ratio_level", NULL, later ? 1 - alpha() : NAN },
		{ "verdict", later ? verdict(c) : NULL, NAN },
		{ "ended", ending, 0 },
		{ .name = NULL }
	};

	if (format == FORMAT_JSON) {
		/* schema is of the whole */
		put_json(stdout, fields + 1);
	} else {
		if (!later)
			put_csv(stdout, fields, true);
		put_csv(stdout, fields, false);
	}
}

static void report(void)
{
	progress(NULL);
	if (!rounds)
		return;
	summarize();
	if (format == FORMAT_HUMAN) {
		print_human();
		return;
	}
	if (format == FORMAT_JSON) {
		printf("{\"schema\":1,\"context\":");
		context_json(-1);
		printf(",\"commands\":[");
	}
	for_each_command(c) {
		if (format == FORMAT_JSON && c > commands)
			putchar(',');
		put_command(c);
	}
	if (format == FORMAT_JSON)
		puts("]}");
}

/* Nothing that was measured is lost to what goes wrong later. */
static void report_early(const char *why)
{
	ending = why;
	report();
	finish_stdout();
}

static int judge(void)
{
	const struct command *unknown = NULL;
	int status = EXIT_DONE;

	for_each_later(c) {
		if (100 * expm1(c->ratio.low) > gate) {
			fprintf(stderr, "%s: --fail-if-slower: command %s is "
				"%s, all of it above %g\n", program, c->name,
				verdict(c), gate);
			status = EXIT_FAILED;
		} else if (!has_verdict(c) &&
			   !(100 * expm1(c->ratio.high) <= gate)) {
			unknown = c;
		}
	}
	if (unknown && status == EXIT_DONE)
		die(EXIT_CANNOT, "--fail-if-slower: command %s: %s",
		    unknown->name, verdict(unknown));
	return status;
}

int main(int argc, char **argv)
{
	read_command_line(argc, argv);
	prepare_runs();
	context_start();
	machine_start();
	start_ns = now_ns();
	run_all();
	machine_end();
	report();
	finish_stdout();
	if (jobs_stopped())
		die(EXIT_FAILED, "interrupted after %llu rounds",
		    (unsigned long long)rounds);
	return gate_text ? judge() : EXIT_DONE;
}
