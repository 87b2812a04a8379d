// SPDX-License-Identifier: MIT
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cases.h"
#include "lib/clock.h"

static bool quiet;

bool prove_case(const char *what, const char *how,
		const struct prove_thread *threads, unsigned n,
		void (*reset)(void))
{
	const uint64_t start_ns = now_ns();
	struct prove_result result;
	const bool proved = prove_explore(threads, n, reset, &result);

	if (quiet && proved)
		return true;
	if (quiet) {
		puts(result.fault);
		return false;
	}
	printf("%-20s %-40s %10" PRIu64 " %10" PRIu64 " %8.2f  %s\n", what, how,
	       result.executions, result.cut, (now_ns() - start_ns) / 1e9,
	       proved ? "proved" : "FAULT");
	if (!proved && result.executions + result.cut > prove_limit)
		puts(result.fault);
	else if (!proved)
		prove_explain(reset);
	fflush(stdout);
	return proved;
}

static FILE *pairs;

/*
 * Not by their lines, which change. Two ends of one edge are no news: one waits
 * for the other.
 */
static void print_pair(const struct prove_site *a, const struct prove_site *b)
{
	if (*a->end && *a->end == *b->end)
		return;
	fprintf(pairs, "%s %s %s | %s %s %s\n", a->file, a->function, a->text,
		b->file, b->function, b->text);
}

static int usage(FILE *out, const char *name, const struct prove_option *option)
{
	fprintf(out,
		"usage: prove_%s [OPTIONS]: every execution, case by case\n",
		name);
	for (; option->name; option++)
		fprintf(out, "  --%s%s\t%s\n", option->name,
			option->number ? " N" : "", option->help);
	fputs("  --edges FILE\twhat devtools/edges prints: names the ends\n"
	      "  --weaken FILE:LINE[:half]\n"
	      "\t\tthat accessor without its ordering; half: a full barrier as\n"
	      "\t\tone of acquire and release\n"
	      "  --limit N\texecutions, after which it stops short: a fault\n"
	      "  --eager\tevery load may wait at once: the same, slower\n"
	      "  --unordered FILE\n"
	      "\t\tgets the pairs of marked accesses that nothing orders\n"
	      "  --quiet\tno table; of a fault one line\n",
	      out);
	return out == stdout ? 0 : 2;
}

/* The number that is the whole of @text, or the end. */
static uint64_t number(const char *name, const char *option, const char *text)
{
	char *end;
	const uint64_t value = strtoull(text, &end, 10);

	if (*text < '0' || *text > '9' || *end) {
		fprintf(stderr, "prove_%s: %s %s: give a whole number\n", name,
			option, text);
		exit(2);
	}
	return value;
}

static void weaken(const char *name, char *text)
{
	char *line = strchr(text, ':'), *half;

	if (!line) {
		fprintf(stderr, "prove_%s: --weaken %s: give FILE:LINE\n", name,
			text);
		exit(2);
	}
	*line++ = 0;
	half = strchr(line, ':');
	if (half)
		*half = 0;
	prove_weaken(text, number(name, "--weaken", line), half);
}

int prove_main(int argc, char **argv, const char *name,
	       const struct prove_option *options, bool (*run)(void))
{
	bool weak = false, proved;

	for (int i = 1; i < argc; i++) {
		const struct prove_option *own = options;
		const char *arg = argv[i];

		while (own->name &&
		       (strncmp(arg, "--", 2) || strcmp(arg + 2, own->name)))
			own++;
		if (own->flag) {
			*own->flag = true;
		} else if (!strcmp(arg, "--eager")) {
			prove_eager = true;
		} else if (!strcmp(arg, "--quiet")) {
			quiet = true;
		} else if (!strcmp(arg, "--help")) {
			return usage(stdout, name, options);
		} else if (++i == argc) {
			fprintf(stderr,
				"prove_%s: %s: no such option, or it "
				"lacks its value; see --help\n",
				name, arg);
			return 2;
		} else if (own->name) {
			*own->number = number(name, arg, argv[i]);
		} else if (!strcmp(arg, "--limit")) {
			prove_limit = number(name, arg, argv[i]);
		} else if (!strcmp(arg, "--unordered")) {
			pairs = fopen(argv[i], "w");
			if (!pairs) {
				perror(argv[i]);
				return 2;
			}
		} else if (!strcmp(arg, "--edges")) {
			prove_read_edges(argv[i]);
		} else if (!strcmp(arg, "--weaken")) {
			weaken(name, argv[i]);
			weak = true;
		} else {
			return usage(stderr, name, options);
		}
	}
	proved = run();
	if (pairs) {
		prove_unordered(print_pair);
		fclose(pairs);
	}
	if (weak && !prove_weakened()) {
		puts("no execution gets to what was to be weakened");
		return 3;
	}
	return proved ? 0 : 1;
}
