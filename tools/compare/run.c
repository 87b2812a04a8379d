// SPDX-License-Identifier: MIT
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

#include "lib/job.h"
#include "lib/machine.h"
#include "lib/program.h"
#include "run.h"

#define MAX_OUTPUT (16 << 20) /* of what a command wrote, looked at */

static posix_spawn_file_actions_t child_files;

/*
 * The command's stdout and stderr. Memory, not pipes: nobody has to wake up
 * and read while it is measured. What is too much for memory belongs in a file.
 */
static int captured[2];

void prepare_runs(void)
{
	setenv("RINGTEST_FORMAT", "csv", 1);
	jobs_init();
	posix_spawn_file_actions_init(&child_files);
	posix_spawn_file_actions_addopen(&child_files, 0, "/dev/null", O_RDONLY,
					 0);
	for (int i = 0; i < 2; i++) {
		captured[i] = memfd_create("compare", MFD_CLOEXEC);
		if (captured[i] < 0)
			die(EXIT_FAILED,
			    "cannot open memory for what commands "
			    "write: %s",
			    reason(errno));
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
__attribute__((noreturn, format(printf, 2, 3))) static void
command_failed(const struct command *c, const char *fmt, ...)
{
	char why[256], tail[2 * (800 + 9 * 5)] = "";
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(why, sizeof(why), fmt, ap);
	va_end(ap);
	add_tail(tail, captured[0]);
	add_tail(tail, captured[1]);
	ending = "a command failed";
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

	if (job->error == -ENOENT || job->error == -ENOEXEC)
		command_failed(c,
			       "cannot be started: %s (no shell is used; "
			       "\"sh -c '...'\" is one)",
			       reason(-job->error));
	if (job->error)
		command_failed(c, "cannot be started: %s", reason(-job->error));
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
		     "or start them with setsid",
		     c->name);
	warned |= job->left;
}

/* False: we are to stop, and what ran then is not a sample. */
static bool run_once(const struct command *c, struct run *run)
{
	struct job job;

	run->lost_ns = 0;
	do {
		for (int i = 0; i < 2; i++)
			if (ftruncate(captured[i], 0) ||
			    lseek(captured[i], 0, SEEK_SET))
				die(EXIT_FAILED,
				    "cannot empty the memory for "
				    "what commands write: %s",
				    reason(errno));
		job = job_run(c->argv, &child_files);
		if (jobs_stopped())
			return false;
		check_job(c, &job);
		if (job.paused) {
			warn("command %s was stopped for a time: the run does "
			     "not count, and is repeated",
			     c->name);
			run->lost_ns += job.end_ns - job.start_ns;
		}
	} while (job.paused);
	run->start_ns = job.start_ns;
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

/* Which of @count fields has that name; 0: none, as the first one is schema. */
static unsigned column_of(char *const *fields, unsigned count, const char *name)
{
	unsigned at = count - 1;

	while (at && strcmp(fields[at], name))
		at--;
	return at;
}

/* The number in a row that is to be compared; ends the comparison if it is none. */
static double figure(const struct command *c, const char *text)
{
	char *end;
	double value = strtod(text, &end);

	if (!*text)
		command_failed(c,
			       "did not measure %s: give it the option that "
			       "does",
			       options.column);
	if (end == text && options.metric_fixed)
		die(EXIT_USAGE,
		    "--metric: %s is no number: '%s'; give another column",
		    options.column, text);
	if (!*end && value == 0 && options.metric_fixed)
		command_failed(c, "%s is 0, and nothing has a ratio to 0",
			       options.column);
	if (*end || !isfinite(value) || value <= 0)
		command_failed(c, "printed nonsense: %s '%s'", options.column,
			       text);
	return value;
}

struct figures {
	double *value;
	size_t n;
};

static void add_figure(struct figures *to, double value)
{
	to->value = more(to->value, (to->n + 1) * sizeof(*to->value));
	to->value[to->n++] = value;
}

/*
 * Looks for ringtest rows in what the command wrote, and passes over all else:
 * others may print around them. Of several queues the row of all counts, or, where
 * that has no such figure, each. False: there was not even a header.
 */
static bool read_rows(const struct command *c, double *value)
{
	static const char ring[] = "schema,layout,guest_cpu,host_cpu,";
	/* without ns_per_buffer, so only for another column */
	static const char tool[] = "schema,tool,guest_cpu,host_cpu,";
	char *text = read_output(captured[0], MAX_OUTPUT), *rest = text, *line;
	char *fields[64];
	unsigned columns = 0, count, at = 0, queue = 0;
	struct figures whole = { 0 }, parts = { 0 }, *rows;

	while ((line = strsep(&rest, "\n"))) {
		bool header = !strncmp(line, ring, strlen(ring)) ||
			      (options.metric_fixed &&
			       !strncmp(line, tool, strlen(tool)));

		if (!header && (!columns || *line < '1' || *line > '9'))
			continue;
		line[strcspn(line, "\r")] = 0;
		count = cut(line, fields);
		if (header) {
			columns = count;
			at = column_of(fields, count, options.column);
			queue = column_of(fields, count, "queue");
			if (!at && options.metric_fixed)
				die(EXIT_USAGE,
				    "--metric: %s is no column of the rows that "
				    "command %s prints; their first line has "
				    "the names",
				    options.column, c->name);
			if (!at)
				command_failed(c, "printed a ringtest header "
						  "without ns_per_buffer");
		} else if (count == columns) {
			bool all = queue && !strcmp(fields[queue], "all");

			if (all && !*fields[at])
				continue;
			rows = all || !queue || !*fields[queue] ? &whole :
								  &parts;
			add_figure(rows, figure(c, fields[at]));
			if (!all) /* which has no pair of its own */
				machine_pair(fields[2], fields[3]);
		}
	}
	free(text);
	rows = whole.n ? &whole : &parts;
	if (columns && !rows->n)
		command_failed(c, "printed a ringtest header, but no row");
	if (rows->n) {
		sort_values(rows->value, rows->n);
		*value = median_of(rows->value, rows->n);
	}
	count = rows->n;
	free(whole.value);
	free(parts.value);
	return count;
}

bool measure(const struct command *c, struct run *run)
{
	bool rows;

	if (!run_once(c, run))
		return false;
	rows = read_rows(c, &run->value[COLUMN]);
	if (options.metric == UNDECIDED)
		options.metric = rows ? COLUMN : WALL;
	if (options.metric == COLUMN && options.metric_fixed && !rows)
		command_failed(c,
			       "printed no ringtest row, so it has no %s: "
			       "--metric takes wall, user, sys, cpu, or a "
			       "column of such rows",
			       options.column);
	if (!options.metric_fixed && rows != (options.metric == COLUMN))
		command_failed(c,
			       "printed %s ringtest row, unlike the run "
			       "before; --metric wall compares any two",
			       rows ? "a" : "no");
	if (run->value[options.metric] <= 0)
		command_failed(c,
			       "took no %s time that the kernel counts; let "
			       "it do more, or take --metric wall",
			       metric_name());
	return true;
}
