// SPDX-License-Identifier: MIT
/*
 * The FILE of a sweep over pairs: the class and the ringtest CSV rows of each
 * run, as it ends. Several sweeps may write to one FILE at the same time.
 */
#define _GNU_SOURCE
#include <ctype.h>
#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include "lib/program.h"

#define MAX_FIELDS 64

static const char *run_text;
static bool resume, list_only;

static const char usage[] =
	"usage: pair-rows [OPTION...] -- FILE [COMMAND...] <RUNS\n"
	"       pair-rows --add 'GUEST HOST CLASS' [OPTION...] -- FILE <OUTPUT\n"
	"\n"
	"Keeps the rows of a sweep in FILE, led by the class of the pair. The first form\n"
	"prints the RUNS that are to be done, a line each as pairs prints them. The\n"
	"second appends the ringtest CSV rows in the OUTPUT of a run, and prints them.\n"
	"\n";

static const struct opt opts[] = {
	{ "add", "RUN", "the run that stdin is the output of", OPT_TEXT,
	  &run_text, 0, 0 },
	{ "resume", NULL, "go on with FILE: leave out the runs it has", OPT_SET,
	  &resume, 0, 0 },
	{ "list", NULL, "the runs are only listed: leave FILE as it is",
	  OPT_SET, &list_only, 0, 0 },
	{ "as", "NAME", "what messages call this program", OPT_TEXT, &program,
	  0, 0 },
	{ 0 }
};

/* ---- Lines and their fields ---- */

struct row {
	unsigned n;
	char *field[MAX_FIELDS];
};

/* In place. */
static struct row cut(char *line)
{
	struct row row = { 0 };

	while (line && row.n < MAX_FIELDS)
		row.field[row.n++] = strsep(&line, ",");
	return row;
}

/* All of @f, without a last line that was cut short; ends with a 0. */
static char *read_whole(FILE *f, size_t *len)
{
	char *text = NULL, *line = NULL;
	size_t size = 0;
	ssize_t got;

	*len = 0;
	while ((got = getline(&line, &size, f)) > 0 && line[got - 1] == '\n') {
		text = room(text, *len + got + 1);
		memcpy(text + *len, line, got);
		*len += got;
	}
	free(line);
	text = room(text, *len + 1);
	text[*len] = 0;
	return text;
}

/* ---- What FILE has ---- */

static const char lead[] = "class,schema,layout,guest_cpu,host_cpu,";
static const char *path;

static struct row *rows; /* with headers among them, each its own */
static size_t nr_rows;

static bool is_header(const struct row *row)
{
	return row->n && !strcmp(row->field[0], "class");
}

/* The header of FILE, without its newline; NULL: it has none yet. */
static char *header;

static void refuse(const char *why)
{
	die(EXIT_USAGE, "--csv: %s %s: give another FILE", path, why);
}

/* Into rows and header. What is there is ours, or nothing is touched. */
static size_t read_file(FILE *f)
{
	char start[sizeof(lead) - 1];
	size_t len = fread(start, 1, sizeof(start), f);
	char *text, *rest, *line;

	/* a header may have been cut short */
	if (memcmp(start, lead, len))
		refuse("holds something else");
	rewind(f);
	text = rest = read_whole(f, &len);
	if (!len)
		return 0;
	header = copy_text(text);
	header[strcspn(header, "\n")] = 0;
	while (*rest && (line = strsep(&rest, "\n"))) {
		rows = room(rows, (nr_rows + 1) * sizeof(*rows));
		rows[nr_rows++] = cut(line);
	}
	return len;
}

/* Each row, with the header that it is below. */
#define for_each_row(row, head)                                                \
	for (const struct row *row = rows, *head = rows; row < rows + nr_rows; \
	     row++)                                                            \
		if (is_header(row))                                            \
			head = row;                                            \
		else if (row->n == head->n)

static bool one_of(const char *name, const char *const *names)
{
	while (*names && strcmp(name, *names))
		names++;
	return *names;
}

/* Columns of options come first, then results, then options that are newer. */
static bool is_option(const struct row *head, unsigned column)
{
	static const char *const results[] = { "sample", "elapsed_ns",
					       "ns_per_buffer", NULL };
	static const char *const newer[] = {
		"rate_offered", "backoff",  "guest_work", "host_work",
		"exit_cycles",	"arrivals", "payload",	  "payload_to",
		"pool",		"queues",   NULL
	};

	for (unsigned i = 5; i <= column; i++)
		if (one_of(head->field[i], results))
			return one_of(head->field[column], newer);
	return true;
}

/* Layout and options of @row: "ring, ring_size 256, mode poll" */
static char *describe(const struct row *row, const struct row *head)
{
	char *text = NULL;
	size_t size;
	FILE *f = open_memstream(&text, &size);

	if (!f)
		die(EXIT_FAILED, "no memory for a row: %s", reason(errno));
	fputs(row->field[2], f);
	for (unsigned i = 5; i < row->n && i < head->n; i++)
		if (is_option(head, i))
			fprintf(f, ", %s %s", head->field[i],
				*row->field[i] ? row->field[i] : "none");
	fclose(f);
	return text;
}

/* Each of them once, with "; " between; and those of the first row. */
static char *describe_all(void)
{
	char *all = copy_text("; "), *text, *mark;

	for_each_row(row, head)
	{
		text = describe(row, head);
		mark = room(NULL, strlen(text) + 5);
		sprintf(mark, "; %s; ", text);
		if (!strstr(all, mark)) {
			all = room(all, strlen(all) + strlen(mark) + 1);
			strcat(all, mark + 2);
		}
		free(mark);
		free(text);
	}
	return all;
}

/* ---- Which runs are left ---- */

struct run {
	char *guest, *host, *class;
};

static struct run read_run(char *line)
{
	struct run run = { .guest = strsep(&line, " ") };

	run.host = strsep(&line, " ");
	run.class = line;
	if (!line)
		die(EXIT_USAGE, "'%s' is not a run: GUEST HOST CLASS",
		    run.guest);
	if (!strcmp(run.guest, "-"))
		*run.guest = 0;
	if (!strcmp(run.host, "-"))
		*run.host = 0;
	return run;
}

static bool done(const char *line)
{
	char *text = copy_text(line);
	struct run run = read_run(text);
	bool found = false;

	for_each_row(row, head)
		found |= !strncmp(run.class, "no-", 3) ?
				 !strcmp(row->field[0], run.class) :
				 strncmp(row->field[0], "no-", 3) &&
					 !strcmp(row->field[3], run.guest) &&
					 !strcmp(row->field[4], run.host);
	free(text);
	return found;
}

/* Prints the runs on stdin that FILE does not have; how many. */
static size_t print_left(void)
{
	char *line = NULL;
	size_t size = 0, left = 0;

	while (getline(&line, &size, stdin) > 0) {
		line[strcspn(line, "\n")] = 0;
		if (resume && done(line))
			continue;
		puts(line);
		left++;
	}
	finish_stdin();
	free(line);
	return left;
}

/* Is @word the option that column @name tells of? *value is what follows =. */
static bool option_of(const char *word, const char *name, const char **value)
{
	if (strncmp(word, "--", 2))
		return false;
	for (word += 2; *name && *word == (*name == '_' ? '-' : *name); word++)
		name++;
	*value = *word == '=' ? word + 1 : NULL;
	return !*name && (!*word || *word == '=');
}

/* The value that the command's words give an option last; NULL: none. */
static const char *asked(char **words, const char *name)
{
	const char *found = NULL, *value;

	for (; *words; words++) {
		if (!option_of(*words, name, &value))
			continue;
		if (value || words[1])
			found = value ? value : words[1];
	}
	return found;
}

/* Options of the command with which no row in FILE was made are refused. */
static void check_options(char **words)
{
	for (unsigned i = 5; nr_rows > 1 && i < rows->n; i++) {
		const char *value = asked(words, rows->field[i]);
		bool found = !value;

		for_each_row(row, head)
			found = found || !strcmp(row->field[i], value);
		if (!found)
			die(EXIT_USAGE,
			    "--resume: the command asks for %s %s, "
			    "and %s has no run with that: give its options, or "
			    "another FILE",
			    rows->field[i], value, path);
	}
}

static void tell_resumed(size_t left, char **words)
{
	char *all = describe_all(), *known = all + 2;
	char layout[256] = "";
	bool named = !*words || !*known;

	if (*known)
		known[strlen(known) - 2] = 0;
	snprintf(layout, sizeof(layout), "%.*s", (int)strcspn(known, ",;"),
		 known);
	for (; *words; words++)
		named |= !strcmp(basename(*words), layout);
	if (!left)
		fprintf(stderr,
			"%s: --resume: %s has all of these runs, so "
			"nothing is run\n",
			program, path);
	if (!named)
		fprintf(stderr,
			"%s: --resume: %s has runs of %s: is that what "
			"this command runs? If not, give another FILE\n",
			program, path, layout);
	if (!left && !list_only)
		fprintf(stderr,
			"%s: --resume: the matrix is of %s: if the "
			"command has other options, give another FILE\n",
			program, known);
	free(all);
}

/* ---- FILE itself ---- */

/* Locked, for as long as we are. */
static FILE *open_file(void)
{
	const int flags = list_only ? O_RDONLY : O_RDWR | O_CREAT | O_APPEND;
	struct stat st;
	int fd;

	/* not even opened, as a pipe would have us wait */
	if (!stat(path, &st) && !S_ISREG(st.st_mode))
		refuse("is no plain file");
	fd = open(path, flags | O_CLOEXEC, 0666);
	if (fd < 0 && list_only)
		return NULL;
	if (fd < 0)
		die(EXIT_USAGE, "--csv: cannot write %s: give another FILE",
		    path);
	if (!list_only)
		flock(fd, LOCK_EX);
	return fdopen(fd, list_only ? "r" : "r+");
}

/* What was cut short must not be glued to what comes. */
static void cut_off(FILE *f, off_t len)
{
	if (ftruncate(fileno(f), len))
		die(EXIT_FAILED, "--csv: cannot write to %s: %s", path,
		    reason(errno));
}

static void list_left(char **words)
{
	FILE *f = open_file();
	size_t len = f ? read_file(f) : 0, left;

	if (resume)
		check_options(words);
	if (f && !list_only)
		cut_off(f, len);
	left = print_left();
	if (resume && header)
		tell_resumed(left, words);
	if (f)
		fclose(f);
}

/* ---- A run's rows ---- */

static bool is_figure(const char *text, const char *digits)
{
	return *text && !text[strspn(text, digits)];
}

/* Does it belong to @run? A command may not have passed the pair on. */
static bool is_row(const struct row *row, unsigned columns, unsigned value,
		   const struct run *run)
{
	return value && row->n == columns &&
	       is_figure(row->field[0], "0123456789") &&
	       is_figure(row->field[value], "0123456789.") &&
	       (!*run->guest || (!strcmp(row->field[2], run->guest) &&
				 !strcmp(row->field[3], run->host)));
}

/* The new rows as FILE has them, the header first; "": there are none. */
static char *new_rows(const struct run *run)
{
	char *text = NULL, *line = NULL, *head = NULL, *cells;
	size_t size, line_size = 0;
	unsigned columns = 0, value = 0;
	FILE *f = open_memstream(&text, &size);

	while (f && getline(&line, &line_size, stdin) > 0) {
		struct row row;

		line[strcspn(line, "\n")] = 0;
		cells = copy_text(line);
		row = cut(cells);
		if (!strncmp(line, strchr(lead, ',') + 1, strlen(lead) - 6)) {
			free(head);
			head = copy_text(line);
			columns = row.n;
			value = 0;
			for (unsigned i = 1; i < columns; i++)
				if (!strcmp(row.field[i], "ns_per_buffer"))
					value = i;
		} else if (is_row(&row, columns, value, run)) {
			if (!ftell(f))
				fprintf(f, "class,%s\n", head);
			fprintf(f, "%s,%s\n", run->class, line);
		}
		free(cells);
	}
	if (f)
		finish_stdin();
	if (!f || fclose(f))
		die(EXIT_FAILED, "no memory for the rows: %s", reason(errno));
	free(line);
	free(head);
	return text;
}

static void check_unlike(const char *text)
{
	char *all = describe_all(), *cells = copy_text(text), *rest = cells,
	     *one;
	struct row head = cut(strsep(&rest, "\n")), row;
	char *mark;

	while (all[2] && *rest) {
		row = cut(strsep(&rest, "\n"));
		one = describe(&row, &head);
		mark = room(NULL, strlen(one) + 5);
		sprintf(mark, "; %s; ", one);
		if (!strstr(all, mark))
			die(EXIT_USAGE,
			    "--resume: this run has %s, unlike "
			    "those in %s: give their options, or another FILE",
			    one, path);
		free(mark);
		free(one);
	}
	free(cells);
	free(all);
}

static void add(char *run_line)
{
	struct run run = read_run(run_line);
	char *text = new_rows(&run), *first = text;
	size_t len, size, wrote;
	FILE *f;

	if (!*text)
		return;
	f = open_file();
	len = read_file(f);
	if (header) {
		first = strchr(text, '\n') + 1;
		if (strlen(header) != (size_t)(first - text - 1) ||
		    strncmp(header, text, strlen(header)))
			refuse("has other columns");
		if (resume)
			check_unlike(text);
	}
	cut_off(f, len);
	/* one write, so that an interruption leaves whole rows */
	size = strlen(first);
	errno = 0;
	wrote = write(fileno(f), first, size);
	if (wrote != size) {
		int err = errno ? errno : ENOSPC;

		cut_off(f, len);
		die(EXIT_FAILED, "--csv: cannot write to %s: %s", path,
		    reason(err));
	}
	fclose(f);
	fputs(text, stdout);
}

int main(int argc, char **argv)
{
	int at = opt_parse(argc, argv, opts, usage);

	if (at == argc)
		die(EXIT_USAGE, "no FILE: give the one that rows are kept in");
	path = argv[at];
	if (run_text)
		add(copy_text(run_text));
	else
		list_left(argv + at + 1);
	finish_stdout();
	return EXIT_DONE;
}
