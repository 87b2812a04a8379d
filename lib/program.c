// SPDX-License-Identifier: MIT
#define _GNU_SOURCE
#include <ctype.h>
#include <errno.h>
#include <fcntl.h>
#include <getopt.h>
#include <math.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "build/buildinfo.h"
#include "program.h"

const char *program = "ringtest";

__attribute__((constructor)) static void name_program(void)
{
	if (*program_invocation_short_name)
		program = program_invocation_short_name;
}

void progress(const char *line)
{
	static bool shown;

	if (line)
		fprintf(stderr, "\r%-79.79s", line);
	else if (shown)
		fprintf(stderr, "\r%-79s\r", "");
	if (line || shown)
		shown = line;
}

/*
 * In one write, so that lines of several processes do not mix: stderr has no buffer
 * but that of a single call. A program's name may have anything in it.
 */
static void say(const char *kind, const char *fmt, va_list ap)
{
	char line[2048], *to = line;

	for (const char *c = program; *c && to < line + 512; c++) {
		if (*c == '%')
			*to++ = '%';
		*to++ = *c;
	}
	snprintf(to, line + sizeof(line) - to, ": %s%s\n", kind, fmt);
	flockfile(stderr);
	progress(NULL);
	vfprintf(stderr, line, ap);
	funlockfile(stderr);
}

static void (*last_report)(void);

void at_end(void (*report)(void))
{
	last_report = report;
}

/* Threads may find the same fault: the first one speaks, the others wait. */
static void begin_end(void)
{
	static _Thread_local bool ours;
	static bool ending;

	while (!ours && __atomic_exchange_n(&ending, true, __ATOMIC_SEQ_CST))
		pause();
	ours = true;
}

static void report_once(void)
{
	void (*report)(void) = last_report;

	last_report = NULL;
	if (!report)
		return;
	report();
	finish_stdout();
}

void conclude(void)
{
	report_once();
	finish_stdout();
}

void die(int status, const char *fmt, ...)
{
	va_list ap;

	begin_end();
	va_start(ap, fmt);
	say("", fmt, ap);
	va_end(ap);
	report_once();
	/* not exit(): the other threads may still use what it takes away */
	fflush(NULL);
	_exit(status);
}

void die_of(int sig)
{
	begin_end();
	report_once();
	signal(sig, SIG_DFL);
	raise(sig);
	_exit(128 + sig);
}

void warn(const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	say("warning: ", fmt, ap);
	va_end(ap);
}

/* NULL: what the user can do about it is plain, or nothing. */
static const char *remedy(int err)
{
	switch (err) {
	case EMFILE:
		return "raise ulimit -n";
	case ENFILE:
		return "the whole machine has; raise sysctl fs.file-max";
	case ENOMEM:
		return "ask for less, or raise ulimit -v or the container's "
		       "memory.max";
	case EAGAIN: /* of threads and processes; glibc says so of memory, too */
		return "raise ulimit -u or the container's pids.max, or free "
		       "memory";
	case ENOSPC:
		return "make room there, or write elsewhere";
	case EDQUOT:
		return "make room in your quota, or write elsewhere";
	case EFBIG:
		return "raise ulimit -f";
	default:
		return NULL;
	}
}

/* Not inlined: the loops of a ring notify and sleep, and take all else in. */
__attribute__((cold, noinline)) const char *reason(int err)
{
	static _Thread_local char text[160];

	snprintf(text, sizeof(text), "%s%s%s", strerror(err),
		 remedy(err) ? "; " : "", remedy(err) ? remedy(err) : "");
	return text;
}

void *room(void *p, size_t bytes)
{
	p = realloc(p, bytes ? bytes : 1);
	if (!p)
		die(EXIT_FAILED, "no memory: %s", reason(ENOMEM));
	return p;
}

char *copy_text(const char *text)
{
	return strcpy(room(NULL, strlen(text) + 1), text);
}

const char *flush(FILE *f)
{
	errno = 0;
	if (!fflush(f) && !ferror(f))
		return NULL;
	if (!errno)
		return "a part of it was not taken";
	if (errno == EAGAIN)
		return "its reader is slow, and it is set not to wait; put "
		       "| cat after the command";
	return reason(errno);
}

FILE *output_open(const char *option, const char *path)
{
	FILE *f;

	if (!path)
		return NULL;
	if (!*path)
		die(EXIT_USAGE, "--%s: give the name of a file", option);
	f = fopen(path, "we");
	if (!f)
		die(EXIT_FAILED, "--%s: cannot write %s: %s", option, path,
		    reason(errno));
	return f;
}

void output_flush(const char *option, FILE *f)
{
	const char *why = flush(f);

	if (why)
		die(EXIT_FAILED, "--%s: cannot write: %s", option, why);
}

void finish_stdout(void)
{
	static bool failed; /* told once: what else there is to say goes on */
	const char *why = failed ? NULL : flush(stdout);

	if (!why)
		return;
	failed = true;
	die(EXIT_FAILED, "cannot write to stdout: %s", why);
}

void finish_stdin(void)
{
	if (!feof(stdin))
		die(EXIT_FAILED, "cannot read stdin: %s", reason(errno));
}

int opt_choice(const char *choices, const char *word)
{
	size_t len = strlen(word);
	int rank = 0;

	for (const char *c = choices; c; rank++) {
		size_t n = strcspn(c, "|");

		if (n == len && !memcmp(c, word, n))
			return rank;
		c = c[n] ? c + n + 1 : NULL;
	}
	return -EINVAL;
}

int format_default(void)
{
	const char *word = getenv("RINGTEST_FORMAT");
	int format = FORMAT_HUMAN;

	if (word && *word)
		format = opt_choice(FORMATS, word);
	if (format < 0)
		die(EXIT_USAGE, "RINGTEST_FORMAT: '%s' is not one of " FORMATS,
		    word);
	return format;
}

static const char *dashes(const struct opt *o)
{
	return o->name[1] ? "--" : "-";
}

int opt_number(const char *text, uint64_t min, uint64_t max, uint64_t *value)
{
	unsigned long long val = 0;
	char *end = NULL;

	errno = 0;
	if (isdigit((unsigned char)*text))
		val = strtoull(text, &end, 10);
	if (!end || *end || errno || val < min || val > max)
		return -EINVAL;
	*value = val;
	return 0;
}

static uint64_t whole(const struct opt *o, const char *text)
{
	uint64_t val;

	if (opt_number(text, o->min, o->max, &val))
		die(EXIT_USAGE,
		    "%s%s: '%s' is not a whole number from %llu to "
		    "%llu",
		    dashes(o), o->name, text, (unsigned long long)o->min,
		    (unsigned long long)o->max);
	return val;
}

/* What else strtod takes (nan, 0x1, 1e3, blanks) would be a slip here. */
static double fraction(const struct opt *o, const char *text)
{
	double val = NAN;
	char *end = NULL;

	if (strspn(text, "0123456789.") == strlen(text))
		val = strtod(text, &end);
	if (!end || end == text || *end || val < o->min || val > o->max)
		die(EXIT_USAGE,
		    "%s%s: '%s' is not a number from %llu to %llu, "
		    "like 0.5",
		    dashes(o), o->name, text, (unsigned long long)o->min,
		    (unsigned long long)o->max);
	return val;
}

static void set(const struct opt *o, const char *text)
{
	int rank;

	switch (o->kind) {
	case OPT_SET:
	case OPT_CLEAR:
		*(bool *)o->value = o->kind == OPT_SET;
		break;
	case OPT_U32:
		*(uint32_t *)o->value = whole(o, text);
		break;
	case OPT_U64:
		*(uint64_t *)o->value = whole(o, text);
		break;
	case OPT_INT:
		*(int *)o->value = whole(o, text);
		break;
	case OPT_DOUBLE:
		*(double *)o->value = fraction(o, text);
		break;
	case OPT_CHOICE:
		rank = opt_choice(o->arg, text);
		if (rank < 0)
			die(EXIT_USAGE, "%s%s: '%s' is not one of %s",
			    dashes(o), o->name, text, o->arg);
		*(int *)o->value = rank;
		break;
	case OPT_TEXT:
		*(const char **)o->value = text;
		break;
	}
}

static void help(const struct opt *opts, const char *usage)
{
	fputs(usage, stdout);
	for (const struct opt *o = opts; o->name; o++) {
		char left[64];

		if (!o->help)
			continue;
		snprintf(left, sizeof(left), "%s%s%s%s", dashes(o), o->name,
			 o->arg ? " " : "", o->arg ? o->arg : "");
		printf("  %-27s %s\n", left, o->help);
	}
	printf("  %-27s %s\n", "--help", "print this");
	printf("  %-27s %s\n", "--version", "print the version");
	finish_stdout();
	exit(EXIT_DONE);
}

/* getopt_long does not say which of these it was; the user wants to know. */
static void bad_option(const struct option *longs, const char *word)
{
	size_t len = strcspn(word, "=");
	char names[256] = "";
	int found = 0;

	if (strncmp(word, "--", 2))
		die(EXIT_USAGE, "%s: no such option; see %s --help", word,
		    program);
	for (const struct option *l = longs; l->name; l++) {
		if (strncmp(l->name, word + 2, len - 2))
			continue;
		/* a whole name is no abbreviation of a longer one */
		if (strlen(l->name) == len - 2)
			die(EXIT_USAGE, "--%s: takes no value; leave out '%s'",
			    l->name, word + len);
		snprintf(names + strlen(names), sizeof(names) - strlen(names),
			 "%s--%s", found++ ? ", " : "", l->name);
	}
	if (!found)
		die(EXIT_USAGE, "%.*s: no such option; see %s --help", (int)len,
		    word, program);
	if (found > 1)
		die(EXIT_USAGE, "%.*s: could be %s; write it out", (int)len,
		    word, names);
	die(EXIT_USAGE, "%s: takes no value; leave out '%s'", names,
	    word + len);
}

/* What getopt_long returns: a letter, or one of these. */
enum { OF_HELP = 256, OF_VERSION, OF_LONG };

static const struct opt *option_of(const struct opt *opts, int c)
{
	if (c >= OF_LONG)
		return &opts[c - OF_LONG];
	while (opts->name[1] || opts->name[0] != c)
		opts++;
	return opts;
}

/*
 * A file or an eventfd opened later must not get the number of a standard
 * stream that is closed: what is printed would go there. As it is, a closed
 * stdout stays one that cannot be written to.
 */
static void keep_standard_fds(void)
{
	for (int fd = STDIN_FILENO; fd <= STDERR_FILENO; fd++)
		if (fcntl(fd, F_GETFD) < 0 &&
		    open("/dev/null", fd ? O_RDONLY : O_WRONLY) != fd)
			die(EXIT_FAILED,
			    "file %d is closed, and /dev/null "
			    "cannot take its place: %s",
			    fd, reason(errno));
}

int opt_parse(int argc, char **argv, const struct opt *opts, const char *usage)
{
	struct option longs[64] = { 0 };
	char letters[130] = ":";
	int nr_longs = 0;

	keep_standard_fds();
	/* a file that grows too large is an error like others, and told so */
	signal(SIGXFSZ, SIG_IGN);
	for (int i = 0; opts[i].name; i++) {
		const struct opt *o = &opts[i];

		if (o->name[1])
			longs[nr_longs++] = (struct option){ o->name, !!o->arg,
							     NULL,
							     OF_LONG + i };
		else
			strcat(strcat(letters, o->name), o->arg ? ":" : "");
	}
	longs[nr_longs++] = (struct option){ "help", 0, NULL, OF_HELP };
	longs[nr_longs++] = (struct option){ "version", 0, NULL, OF_VERSION };

	opterr = 0;
	for (;;) {
		int word = optind ? optind : 1;
		int c = getopt_long(argc, argv, letters, longs, NULL);

		if (c == -1)
			return optind;
		/* operands may have been passed over to get at the option */
		while (word < optind - 1 && argv[word][0] != '-')
			word++;
		if (c == OF_HELP)
			help(opts, usage);
		if (c == OF_VERSION) {
			printf("%s (ringtest) " BUILD_VERSION "\n", program);
			finish_stdout();
			exit(EXIT_DONE);
		}
		if (c == ':') {
			const struct opt *o = option_of(opts, optopt);

			die(EXIT_USAGE, "%s%s: needs a value, %s", dashes(o),
			    o->name, o->arg);
		}
		if (c == '?')
			bad_option(longs, argv[word]);
		set(option_of(opts, c), optarg);
	}
}

void opt_parse_all(int argc, char **argv, const struct opt *opts,
		   const char *usage)
{
	int operands = opt_parse(argc, argv, opts, usage);
	bool letters = false;

	for (const struct opt *o = opts; o->name; o++)
		letters |= !o->name[1];
	if (operands < argc)
		die(EXIT_USAGE,
		    "%s: not an option; every option begins with "
		    "%s",
		    argv[operands], letters ? "-" : "--");
}
