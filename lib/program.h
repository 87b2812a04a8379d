/* SPDX-License-Identifier: MIT */
/*
 * What every program here does alike: its name, its last words, its command
 * line. Nothing in this file is for a hot path.
 *
 * Errors, here and in all that a program is made of: a call gives 0 or -errno,
 * or ends the program with a line that says what to do, as its comment tells.
 */
#ifndef LIB_PROGRAM_H
#define LIB_PROGRAM_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

/* Exit statuses, fixed for scripts. */
enum {
	EXIT_DONE = 0,
	EXIT_FAILED = 1,  /* the run failed */
	EXIT_USAGE = 2,	  /* the command line is wrong */
	EXIT_CANNOT = 77, /* right, but it cannot be done here */
};

extern const char *program; /* our name in messages, without a path */

/*
 * One line on stderr, "PROGRAM: ...", what at_end() has set, and the end
 * with @status. By any thread.
 */
void die(int status, const char *fmt, ...)
	__attribute__((noreturn, cold, format(printf, 2, 3)));

/* The end by the signal @sig, in good order: as die(), without a line. */
void die_of(int sig) __attribute__((noreturn, cold));

/*
 * @report prints what has been measured: once, whatever ends the program. Any
 * thread may be the one that calls it, while others still run.
 */
void at_end(void (*report)(void));

/* The end in good order, but for the return from main: calls @report. */
void conclude(void);

/* One line on stderr, "PROGRAM: warning: ...". */
void warn(const char *fmt, ...) __attribute__((cold, format(printf, 1, 2)));

/* On stderr, until the next one or NULL takes its place, or a line above. */
void progress(const char *line);

/*
 * The system's words for the errno @err and, where there is one, what to do
 * about it: "Too many open files; raise ulimit -n". One at a time per thread.
 */
const char *reason(int err);

/* As realloc(), never of nothing, and as strdup(); or the program ends. */
void *room(void *p, size_t bytes);
char *copy_text(const char *text);

/* Flushes @f. NULL: all that it was ever given is written; or why not. */
const char *flush(FILE *f);

/* Flushes stdout; an answer that could not be written is a failed run. */
void finish_stdout(void);

/*
 * The FILE that --@option names, open to be written (NULL, if @path is), and what
 * has been written to it, sent off. If it cannot be, the program ends.
 */
FILE *output_open(const char *option, const char *path);
void output_flush(const char *option, FILE *f);

/* After the last line of stdin: a read that failed is no end of it. */
void finish_stdin(void);

enum opt_kind {
	OPT_SET,    /* no value: *(bool *)value becomes true */
	OPT_CLEAR,  /* no value: *(bool *)value becomes false */
	OPT_U32,    /* a whole number, min to max, in a uint32_t */
	OPT_U64,    /* the same in a uint64_t */
	OPT_INT,    /* the same in an int */
	OPT_DOUBLE, /* a decimal fraction, min to max, in a double */
	OPT_CHOICE, /* one of the words in @arg, "a|b|c"; its rank in an int */
	OPT_TEXT,   /* any text, in a const char * */
};

struct opt {
	const char *name; /* without the dashes; one letter: only -x, no
				 * long form; NULL ends a table */
	const char *arg;  /* what --help calls the value; NULL: none */
	const char *help; /* one line; NULL: not shown */
	enum opt_kind kind;
	void *value;
	uint64_t min, max;
};

/*
 * Reads the options, long ones abbreviated or not, in any order. --help and
 * --version are added to every table, print to stdout and end with 0; @usage is
 * what --help prints before the options. A wrong option ends the program with
 * EXIT_USAGE. Returns the index in @argv of the first operand.
 */
int opt_parse(int argc, char **argv, const struct opt *opts, const char *usage);

/* As opt_parse, where there are no operands. */
void opt_parse_all(int argc, char **argv, const struct opt *opts,
		   const char *usage);

/* Rank of @word in "a|b|c", or -EINVAL. */
int opt_choice(const char *choices, const char *word);

/* A whole number, and nothing else, from @min to @max: 0, or -EINVAL. */
int opt_number(const char *text, uint64_t min, uint64_t max, uint64_t *value);

/* --format, and its default from RINGTEST_FORMAT. */
enum format { FORMAT_HUMAN, FORMAT_CSV, FORMAT_JSON };
#define FORMATS "human|csv|json"
#define OPT_FORMAT(format)                                                     \
	{                                                                      \
		"format", FORMATS, "what to print (human)", OPT_CHOICE,        \
			format, 0, 0                                           \
	}
int format_default(void);

#endif
