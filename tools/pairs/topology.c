// SPDX-License-Identifier: MIT
#define _GNU_SOURCE
#include <errno.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lib/context.h"
#include "lib/cpulist.h"
#include "lib/program.h"
#include "topology.h"

#define MAX_CACHES 8 /* of a CPU, instruction caches included */

static struct cpu *cpus;
static unsigned nr_cpus;

/* The first line of a file in /sys/devices. NULL: it is not there, or empty. */
__attribute__((format(printf, 1, 2))) static const char *
read_line(const char *fmt, ...)
{
	static char *line;
	static size_t size;
	char path[128] = "/sys/devices/";
	size_t len = strlen(path);
	ssize_t got = -1;
	va_list ap;
	FILE *f;

	va_start(ap, fmt);
	vsnprintf(path + len, sizeof(path) - len, fmt, ap);
	va_end(ap);
	f = open_machine(path);
	if (!f)
		return NULL;
	got = getline(&line, &size, f);
	fclose(f);
	if (got > 0 && line[got - 1] == '\n')
		line[--got] = 0;
	return got > 0 ? line : NULL;
}

/* Words become numbers: the same word is the same number; NULL is -1. */
static int number_of(enum shared what, const char *word)
{
	static struct {
		char **word;
		int nr;
	} known[NR_SHARED];
	int i;

	if (!word)
		return -1;
	/* the one that was added last is the likeliest */
	for (i = known[what].nr; i--;)
		if (!strcmp(known[what].word[i], word))
			return i;
	i = known[what].nr++;
	known[what].word =
		room(known[what].word, (i + 1) * sizeof(*known[what].word));
	known[what].word[i] = copy_text(word);
	return i;
}

static void read_caches(struct cpu *cpu)
{
	const int nr = cpu->number;
	int top = 0;

	/* not every machine has all of them */
	for (int i = 0; i < MAX_CACHES; i++) {
		const char *line = read_line("system/cpu/cpu%d/cache/index%d/"
					     "level",
					     nr, i);
		int level, map;

		if (!line)
			continue;
		level = atoi(line);
		line = read_line("system/cpu/cpu%d/cache/index%d/type", nr, i);
		/* which no ring is in */
		if (line && !strcmp(line, "Instruction"))
			continue;
		line = read_line("system/cpu/cpu%d/cache/index%d/"
				 "shared_cpu_map",
				 nr, i);
		if (level == 2)
			cpu->shared[L2] = number_of(L2, line);
		map = number_of(LLC, line);
		if (level > top) {
			top = level;
			cpu->shared[LLC] = map;
		}
	}
}

static void add_cpu(int nr)
{
	struct cpu *cpu;

	cpus = room(cpus, (nr_cpus + 1) * sizeof(*cpus));
	cpu = &cpus[nr_cpus++];
	*cpu = (struct cpu){ .number = nr, .shared = { -1, -1, -1, -1, -1 } };
	cpu->shared[CORE] =
		number_of(CORE, read_line("system/cpu/cpu%d/"
					  "topology/thread_siblings",
					  nr));
	cpu->shared[SOCKET] =
		number_of(SOCKET, read_line("system/cpu/cpu%d/"
					    "topology/core_siblings",
					    nr));
	read_caches(cpu);
}

/* Of a list: each range to @apply, with @arg. */
static void each_range(const char *list,
		       void (*apply)(int first, int last, int arg), int arg)
{
	struct cpu_range range;

	while (list && *list) {
		list = cpulist_next(list, &range);
		if (list)
			apply(range.first, range.last, arg);
	}
}

static void online(int first, int last, int arg)
{
	(void)arg;
	for (int nr = first; nr <= last; nr++)
		add_cpu(nr);
}

static void node(int first, int last, int nr)
{
	for (unsigned i = 0; i < nr_cpus; i++)
		if (cpus[i].number >= first && cpus[i].number <= last)
			cpus[i].shared[NODE] = nr;
}

static void type(int first, int last, int letter)
{
	for (unsigned i = 0; i < nr_cpus; i++)
		if (cpus[i].number >= first && cpus[i].number <= last)
			cpus[i].type = letter;
}

/* As arm64 has it; a core that may be clocked a little higher is no other. */
static void types_by_capacity(void)
{
	int *capacity = room(NULL, nr_cpus * sizeof(*capacity));
	int min = 0, max = 0;

	for (unsigned i = 0; i < nr_cpus; i++) {
		const char *line = read_line("system/cpu/cpu%d/cpu_capacity",
					     cpus[i].number);

		capacity[i] = line ? atoi(line) : 0;
		if (capacity[i] && (!min || capacity[i] < min))
			min = capacity[i];
		if (capacity[i] > max)
			max = capacity[i];
	}
	for (unsigned i = 0; i < nr_cpus; i++)
		if (capacity[i])
			cpus[i].type = capacity[i] * 5 > max * 4 ? 'P' :
				       capacity[i] * 4 < min * 5 ? 'E' :
								   'M';
	free(capacity);
}

static void read_types(void)
{
	bool differ = false;
	char known = 0;

	each_range(read_line("cpu_core/cpus"), type, 'P');
	each_range(read_line("cpu_atom/cpus"), type, 'E');
	each_range(read_line("cpu_lowpower/cpus"), type, 'L');
	types_by_capacity();
	for (unsigned i = 0; i < nr_cpus; i++) {
		differ |= known && cpus[i].type && cpus[i].type != known;
		if (cpus[i].type)
			known = cpus[i].type;
	}
	for (unsigned i = 0; i < nr_cpus && !differ; i++)
		cpus[i].type = 0;
}

unsigned read_topology(struct cpu **all)
{
	const char *line = read_line("system/cpu/online");
	char *list = line ? copy_text(line) : NULL;

	each_range(list, online, 0);
	free(list);
	line = read_line("system/node/online");
	if (!nr_cpus)
		return 0;
	/* nodes may have holes, and not say which are online */
	list = copy_text(line ? line : "0-1023");
	for (int nr = 0; nr < 1024; nr++)
		if (cpulist_has(list, nr))
			each_range(read_line("system/node/node%d/cpulist", nr),
				   node, nr);
	free(list);
	read_types();
	*all = cpus;
	return nr_cpus;
}
