// SPDX-License-Identifier: MIT
#include <ctype.h>
#include <limits.h>
#include <stddef.h>
#include <stdlib.h>

#include "cpulist.h"

/* A CPU's number, or -1; *end is what comes after it. */
static int number(const char *text, char **end)
{
	long cpu = -1;

	*end = (char *)text;
	if (isdigit((unsigned char)*text))
		cpu = strtol(text, end, 10);
	return cpu > INT_MAX ? -1 : cpu;
}

const char *cpulist_next(const char *list, struct cpu_range *range)
{
	char *end;
	int from = number(list, &end), to = from, step = 1;

	if (*end == '-') {
		to = number(end + 1, &end);
		if (*end == ':')
			step = number(end + 1, &end);
	}
	if (from < 0 || to < from || step < 1 || (*end && *end != ','))
		return NULL;
	if (*end == ',' && !isdigit((unsigned char)end[1]))
		return NULL;
	*range = (struct cpu_range){ from, to, step };
	return *end == ',' ? end + 1 : "";
}

bool cpulist_has(const char *list, int cpu)
{
	struct cpu_range range;

	while (*list) {
		list = cpulist_next(list, &range);
		if (!list)
			break;
		if (cpu >= range.first && cpu <= range.last &&
		    (cpu - range.first) % range.step == 0)
			return true;
	}
	return false;
}
