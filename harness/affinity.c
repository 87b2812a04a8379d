// SPDX-License-Identifier: MIT
#define _GNU_SOURCE
#include <errno.h>
#include <sched.h>
#include <stdio.h>
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

bool pin_thread(int cpu)
{
	unsigned long one[sizeof(mask) / sizeof(long)] = { 0 };

	if (cpu < 0)
		return true;
	CPU_SET_S(cpu, sizeof(one), (cpu_set_t *)one);
	return sched_setaffinity(0, sizeof(one), (cpu_set_t *)one) == 0;
}
