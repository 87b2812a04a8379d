// SPDX-License-Identifier: MIT
/* Records: three formats, and all rows are there whatever ends the program. */
#include <math.h>
#include <signal.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "lib/context.h"
#include "lib/crew.h"
#include "lib/record.h"
#include "tests/check.h"

#define LENGTH(x) (sizeof(x) / sizeof(*(x)))

/* ---- Fields ---- */

static const char *plain = "poll+no-exit", *comma = "a,b", *none;
static const char *quotes = "say \"hi\"", *bytes = "\xff", *lines = "a\nb";
static const uint32_t u32 = 7;
static const uint64_t u64 = 1ull << 40, no_limit = UINT64_MAX;
static const int cpu = 3, no_cpu = -1;
static const bool yes = true, no;
static const double third = 1.0 / 3, nan_ = NAN, infinite = INFINITY;

static const struct {
	struct field field;
	const char *csv, *json;
} cases[] = {
	{ { "x", "-", FIELD_WORD, &plain },
	  "poll+no-exit",
	  "\"poll+no-exit\"" },
	{ { "x", "-", FIELD_WORD, &comma }, "\"a,b\"", "\"a,b\"" },
	{ { "x", "-", FIELD_WORD, &quotes },
	  "\"say \"\"hi\"\"\"",
	  "\"say \\\"hi\\\"\"" },
	{ { "x", "-", FIELD_WORD, &lines }, "\"a\nb\"", "\"a\\u000ab\"" },
	{ { "x", "-", FIELD_WORD, &none }, "", "null" },
	{ { "x", "-", FIELD_TEXT, &plain },
	  "\"poll+no-exit\"",
	  "\"poll+no-exit\"" },
	{ { "x", "-", FIELD_TEXT, &bytes }, "\"\xff\"", "\"\\ufffd\"" },
	{ { "x", "-", FIELD_TEXT, &none }, "", "null" },
	{ { "x", "-", FIELD_U32, &u32 }, "7", "7" },
	{ { "x", "-", FIELD_U64, &u64 }, "1099511627776", "1099511627776" },
	{ { "x", "-", FIELD_U64, &no_limit }, "", "null" },
	{ { "x", "-", FIELD_CPU, &cpu }, "3", "3" },
	{ { "x", "-", FIELD_CPU, &no_cpu }, "", "null" },
	{ { "x", "-", FIELD_BOOL, &yes }, "1", "true" },
	{ { "x", "-", FIELD_BOOL, &no }, "0", "false" },
	{ { "x", "-", FIELD_DOUBLE, &third },
	  "0.333333333333333",
	  "0.333333333333333" },
	{ { "x", "-", FIELD_DOUBLE, &nan_ }, "", "null" },
	{ { "x", "-", FIELD_FIXED + 2, &third }, "0.33", "0.33" },
	{ { "x", "-", FIELD_FIXED, &third }, "0", "0" },
	{ { "x", "-", FIELD_FIXED + 4, &infinite }, "", "null" },
};

/* One that is written between two others, as CSV and as JSON. */
static void comes_out(size_t i)
{
	const struct field fields[] = { { "a", "-", FIELD_U32, &u32 },
					cases[i].field,
					{ "z", "-", FIELD_U32, &u32 },
					{ .name = NULL } };
	char expected[512], *out = NULL;
	size_t size;
	FILE *f = open_memstream(&out, &size);

	if (!f)
		exit(1);
	csv_names(f, fields);
	csv_row(f, fields);
	json_row(f, fields);
	fclose(f);
	snprintf(expected, sizeof(expected),
		 "schema,a,x,z\n3,7,%s,7\n"
		 "{\"schema\":3,\"a\":7,\"x\":%s,\"z\":7}\n",
		 cases[i].csv, cases[i].json);
	check(!strcmp(out, expected), "%sexpected:\n%s", out, expected);
	free(out);
}

/* ---- Ends ---- */

static uint32_t nr;
static const struct field row[] = { { "nr", "-", FIELD_U32, &nr },
				    { .name = NULL } };

static void human(void)
{
	printf("row %u\n", nr);
}

static void dies(void *arg)
{
	(void)arg;
	die(EXIT_FAILED, "a thread fails");
}

static void look(void)
{
	dies(NULL);
}

static void stays(void *arg)
{
	(void)arg;
	for (;;)
		pause();
}

static void signals(void *arg)
{
	kill(getpid(), SIGTERM);
	stays(arg);
}

static void by_conclude(void)
{
	conclude();
	exit(EXIT_DONE);
}

static void by_die(void)
{
	die(EXIT_FAILED, "main fails");
}

static void by_thread(void)
{
	crew_run(2, dies, (void *[]){ NULL, NULL }, NULL);
}

static void by_look(void)
{
	crew_run(1, stays, (void *[]){ NULL }, look);
}

static void by_signal(void)
{
	crew_run(2, signals, (void *[]){ NULL, NULL }, NULL);
}

static const struct {
	const char *name;
	void (*fn)(void);
	int status, signal;
} ends[] = {
	{ "the program is done", by_conclude, EXIT_DONE, 0 },
	{ "main's thread fails", by_die, EXIT_FAILED, 0 },
	{ "two other threads fail at once", by_thread, EXIT_FAILED, 0 },
	{ "it takes too long", by_look, EXIT_FAILED, 0 },
	{ "a signal ends it", by_signal, 0, SIGTERM },
};

static void two_rows(enum format format, void (*end)(void))
{
	static const struct record record = { .fields = row, .human = human };

	signal(SIGTERM, SIG_DFL);
	context_start();
	record_start(format, &record);
	at_end(record_end);
	for (; nr < 2; nr++)
		record_row();
	end();
	_exit(3);
}

/* Reads what a child prints. */
static int run(enum format format, void (*end)(void), char out[65536])
{
	size_t size = 0;
	ssize_t got;
	int fds[2], status;
	pid_t pid;

	fflush(stdout);
	if (pipe(fds) || (pid = fork()) < 0)
		exit(1);
	if (!pid) {
		dup2(fds[1], 1);
		close(fds[0]);
		close(fds[1]);
		if (!freopen("/dev/null", "w", stderr))
			_exit(4);
		two_rows(format, end);
	}
	close(fds[1]);
	while ((got = read(fds[0], out + size, 65535 - size)) > 0)
		size += got;
	out[size] = 0;
	close(fds[0]);
	waitpid(pid, &status, 0);
	return status;
}

static bool is_whole(enum format format, const char *out)
{
	static const char start[] = "{\"schema\":3,\"context\":{\"command\":[";
	static const char rows[] = "},\"samples\":[{\"nr\":0},{\"nr\":1}]}\n";

	switch (format) {
	case FORMAT_HUMAN:
		return !strcmp(out, "row 0\nrow 1\n");
	case FORMAT_CSV:
		return !strcmp(out, "schema,nr\n3,0\n3,1\n");
	default:
		return !strncmp(out, start, strlen(start)) &&
		       strlen(out) > strlen(rows) &&
		       !strcmp(out + strlen(out) - strlen(rows), rows);
	}
}

static void keeps_rows(size_t i)
{
	static char out[65536];

	for (int format = FORMAT_HUMAN; format <= FORMAT_JSON; format++) {
		int status = run(format, ends[i].fn, out);

		check(is_whole(format, out) &&
			      (ends[i].signal ? WIFSIGNALED(status) &&
							WTERMSIG(status) ==
								ends[i].signal :
						WIFEXITED(status) &&
							WEXITSTATUS(status) ==
								ends[i].status),
		      "format %d, status %#x:\n%s", format, status, out);
	}
	report("every row is there, and JSON whole, when %s", ends[i].name);
}

int main(void)
{
	for (size_t i = 0; i < LENGTH(cases); i++)
		comes_out(i);
	report("fields: what is quoted, escaped, or not known");
	for (size_t i = 0; i < LENGTH(ends); i++)
		keeps_rows(i);
	return finish();
}
