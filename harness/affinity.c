// SPDX-License-Identifier: MIT
#define _GNU_SOURCE
#include <ctype.h>
#include <errno.h>
#include <limits.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "affinity.h"
#include "program.h"

/* The kernel refuses masks smaller than its own; this fits any that exists. */
#define MAX_CPUS 65536

static unsigned long mask[MAX_CPUS / (8 * sizeof(long))];

static void read_mask(void)
{
	static bool done;

	if (done)
		return;
	if (sched_getaffinity(0, sizeof(mask), (cpu_set_t *)mask) < 0)
		die(EXIT_CANNOT, "cannot read the CPUs allowed: %s",
		    strerror(errno));
	done = true;
}

bool cpu_allowed(int cpu)
{
	read_mask();
	return cpu >= 0 && cpu < MAX_CPUS &&
	       CPU_ISSET_S(cpu, sizeof(mask), (cpu_set_t *)mask);
}

int allowed_cpus(void)
{
	read_mask();
	return CPU_COUNT_S(sizeof(mask), (cpu_set_t *)mask);
}

const char *allowed_list(void)
{
	static char list[1024];
	size_t len = 0;

	for (int cpu = 0, last; cpu < MAX_CPUS && len < sizeof(list) - 32;
	     cpu = last + 1) {
		last = cpu;
		if (!cpu_allowed(cpu))
			continue;
		while (cpu_allowed(last + 1))
			last++;
		len += sprintf(list + len, "%s%d", len ? "," : "", cpu);
		if (last > cpu)
			len += sprintf(list + len, "-%d", last);
	}
	return list;
}

void require_cpu(const char *option, int cpu)
{
	if (!cpu_allowed(cpu))
		die(EXIT_CANNOT, "--%s: CPU %d is not one that this process "
		    "may use; take one of %s", option, cpu, allowed_list());
}

/* A CPU's number, or -1; *end is what comes after it. */
static long list_cpu(const char *text, char **end)
{
	long cpu = -1;

	*end = (char *)text;
	if (isdigit((unsigned char)*text))
		cpu = strtol(text, end, 10);
	return cpu > INT_MAX ? INT_MAX : cpu;
}

unsigned cpu_list(const char *option, const char *text, int *cpus,
		  unsigned most)
{
	unsigned nr = 0;
	char *at = (char *)text;

	while (at) {
		long first = list_cpu(at, &at), last = first;

		if (*at == '-')
			last = list_cpu(at + 1, &at);
		if (first < 0 || last < first || (*at && *at != ','))
			die(EXIT_USAGE, "--%s: '%s' is not a list of CPUs, like "
			    "0,2-5", option, text);
		for (long cpu = first; cpu <= last; cpu++) {
			require_cpu(option, cpu);
			if (nr == most)
				die(EXIT_USAGE, "--%s: '%s' has more CPUs than "
				    "there are threads, %u", option, text, most);
			cpus[nr++] = cpu;
		}
		at = *at ? at + 1 : NULL;
	}
	return nr;
}

bool pin_thread(int cpu)
{
	unsigned long one[sizeof(mask) / sizeof(long)] = { 0 };

	if (cpu < 0)
		return true;
	CPU_SET_S(cpu, sizeof(one), (cpu_set_t *)one);
	return sched_setaffinity(0, sizeof(one), (cpu_set_t *)one) == 0;
}
