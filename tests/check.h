/* SPDX-License-Identifier: MIT */
/*
 * What the C tests share: each behaviour is a line of TAP (testanything.org),
 * and the status says whether one failed.
 *
 *	check(n == 3, "n is %d", n);	as often as it takes
 *	report("three are found");	ends the behaviour
 *	return finish();		ends main
 *
 * Each line is out before the next thing is tried, so that a crash loses none;
 * a program that ends without finish() has no plan, which is a failure.
 */
#ifndef TESTS_CHECK_H
#define TESTS_CHECK_H

#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>

static struct {
	unsigned reported, failed, skipped;
	bool wrong; /* a check of this behaviour failed */
} tap;

/* A "# " before each line. */
__attribute__((format(printf, 1, 2))) static inline void note(const char *fmt,
							      ...)
{
	char text[8192], *line = text, *end;
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(text, sizeof(text), fmt, ap);
	va_end(ap);
	do {
		for (end = line; *end && *end != '\n'; end++)
			;
		printf("# %.*s\n", (int)(end - line), line);
		line = end + 1;
	} while (*end && *line);
	fflush(stdout);
}

/* Of the checks that fail the first is told: the others follow from it. */
#define check(good, ...)                                                       \
	do {                                                                   \
		if (!(good) && !tap.wrong) {                                   \
			tap.wrong = true;                                      \
			note(__VA_ARGS__);                                     \
		}                                                              \
	} while (0)

/* One line; a '#' in it would begin a directive. */
static inline void tap_line(bool good, const char *name, const char *why)
{
	printf("%sok %u - ", good ? "" : "not ", ++tap.reported);
	for (; *name; name++)
		printf(*name == '#' ? "\\#" : "%c", *name);
	printf(why ? " # SKIP %s\n" : "\n", why);
	fflush(stdout);
}

/* The behaviour of this name, with all that was checked since the last one. */
__attribute__((format(printf, 1, 2))) static inline void report(const char *fmt,
								...)
{
	char name[256];
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(name, sizeof(name), fmt, ap);
	va_end(ap);
	tap_line(!tap.wrong, name, NULL);
	tap.failed += tap.wrong;
	tap.wrong = false;
}

static inline void skip(const char *name, const char *why)
{
	tap_line(true, name, why);
	tap.skipped++;
}

/* The status to end with: 0, 1 if one failed, 77 if all were skipped. */
static inline int finish(void)
{
	printf("1..%u\n", tap.reported);
	if (fflush(stdout) || ferror(stdout) || tap.wrong || tap.failed ||
	    !tap.reported)
		return 1;
	return tap.skipped == tap.reported ? 77 : 0;
}

#endif
