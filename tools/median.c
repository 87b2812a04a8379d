// SPDX-License-Identifier: MIT
/*
 * Medians for scripts, as lib/stats.h has them: of groups of lines, each group
 * named by what comes before the value.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lib/program.h"
#include "lib/stats.h"

static const char usage[] =
	"usage: median <FILE\n"
	"\n"
	"Reads lines that end with a value; what comes before it names a group. Prints a\n"
	"line for each group, in the order in which they begin:\n"
	"GROUP N MEDIAN LOW HIGH MIN MAX FENCE_LOW FENCE_HIGH\n"
	"LOW and HIGH are the median's 95 % interval (- where there are too few values);\n"
	"what lies beyond the fences is an outlier.\n"
	"\n";

static const struct opt opts[] = { { 0 } };

struct group {
	char *name;
	double *value;
	size_t n;
};
static struct group *groups;
static size_t nr_groups;

/* Room for one more, made when it comes to a power of two. */
static void *grow(void *p, size_t n, size_t bytes)
{
	if (n & (n - 1))
		return p;
	return room(p, (2 * n + 1) * bytes);
}

static struct group *group_of(const char *name)
{
	struct group *group;

	/* the last one is the likeliest */
	for (size_t i = nr_groups; i--;)
		if (!strcmp(groups[i].name, name))
			return &groups[i];
	groups = grow(groups, nr_groups, sizeof(*groups));
	group = &groups[nr_groups++];
	*group = (struct group){ .name = copy_text(name) };
	return group;
}

static void read_line(char *line)
{
	char *text = strrchr(line, ' '), *end;
	struct group *group;
	double value;

	if (text)
		*text++ = 0;
	else
		text = line;
	value = strtod(text, &end);
	if (end == text || *end || !isfinite(value))
		die(EXIT_FAILED, "'%s' is not a value; each line ends with one",
		    text);
	group = group_of(text == line ? "" : line);
	group->value = grow(group->value, group->n, sizeof(value));
	group->value[group->n++] = value;
}

static void print(const struct group *g)
{
	struct estimate median;
	double low, high;

	sort_values(g->value, g->n);
	median = median_estimate(g->value, g->n, ALPHA_FIXED);
	outer_fences(g->value, g->n, &low, &high);
	printf("%s%s%zu %.15g ", g->name, *g->name ? " " : "", g->n,
	       median.value);
	if (median.has_interval)
		printf("%.15g %.15g", median.low, median.high);
	else
		printf("- -");
	printf(" %.15g %.15g %.15g %.15g\n", g->value[0], g->value[g->n - 1],
	       low, high);
}

int main(int argc, char **argv)
{
	int operands = opt_parse(argc, argv, opts, usage);
	char *line = NULL;
	size_t size = 0;

	if (operands < argc)
		die(EXIT_USAGE,
		    "%s: not an option; the values are read from "
		    "stdin",
		    argv[operands]);
	while (getline(&line, &size, stdin) > 0) {
		line[strcspn(line, "\n")] = 0;
		read_line(line);
	}
	finish_stdin();
	free(line);
	for (size_t i = 0; i < nr_groups; i++)
		print(&groups[i]);
	finish_stdout();
	return EXIT_DONE;
}
