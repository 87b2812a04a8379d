// SPDX-License-Identifier: MIT
#include <ctype.h>
#include <limits.h>
#include <stddef.h>
#include <stdlib.h>

#include "cpulist.h"

/* A CPU's number, at most INT_MAX, or -1; *end is what comes after it. */
static int number(const char *text, char **end)
{
	long cpu = -1;

	*end = (char *)text;
	if (isdigit((unsigned char)*text))
		cpu = strtol(text, end, 10);
	return cpu > INT_MAX ? INT_MAX : cpu;
}

const char *cpulist_next(const char *list, int *first, int *last)
{
	char *end;
	int from = number(list, &end), to = from;

	if (*end == '-')
		to = number(end + 1, &end);
	if (from < 0 || to < from || (*end && *end != ','))
		return NULL;
	if (*end == ',' && !isdigit((unsigned char)end[1]))
		return NULL;
	*first = from;
	*last = to;
	return *end == ',' ? end + 1 : "";
}

bool cpulist_has(const char *list, int cpu)
{
	int first, last;

	while (*list) {
		list = cpulist_next(list, &first, &last);
		if (!list)
			break;
		if (cpu >= first && cpu <= last)
			return true;
	}
	return false;
}
