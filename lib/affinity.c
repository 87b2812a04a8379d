// SPDX-License-Identifier: MIT
#define _GNU_SOURCE
#include <errno.h>
#include <sched.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "affinity.h"
#include "cpulist.h"
#include "program.h"

/* The kernel refuses masks smaller than its own; this fits any that exists. */
#define MAX_CPUS 65536

struct mask {
	unsigned long bits[MAX_CPUS / (8 * sizeof(long))];
};

static bool in_mask(const struct mask *mask, int cpu)
{
	return cpu >= 0 &&
	       CPU_ISSET_S(cpu, sizeof(*mask), (const cpu_set_t *)mask->bits);
}

static bool set_mask(const struct mask *mask)
{
	return !sched_setaffinity(0, sizeof(*mask),
				  (const cpu_set_t *)mask->bits);
}

static bool get_mask(struct mask *mask)
{
	return sched_getaffinity(0, sizeof(*mask), (cpu_set_t *)mask->bits) >=
	       0;
}

/* As it was when the program started. */
static const struct mask *allowed(void)
{
	static struct mask mask;
	static bool done;

	if (!done && !get_mask(&mask))
		die(EXIT_CANNOT, "cannot read the CPUs allowed: %s",
		    reason(errno));
	done = true;
	return &mask;
}

bool cpu_allowed(int cpu)
{
	return in_mask(allowed(), cpu);
}

int allowed_cpus(void)
{
	return CPU_COUNT_S(sizeof(struct mask),
			   (const cpu_set_t *)allowed()->bits);
}

/* Every CPU that the kernel lets us be pinned to, like "0-3,8". */
static const char *usable_list(void)
{
	static char list[1024];
	struct mask mask = *allowed(), usable;
	size_t len = 0;

	/* Asked for all there could be, it takes those that it allows. */
	memset(&usable, 0xff, sizeof(usable));
	if (!set_mask(&usable) || !get_mask(&usable))
		usable = mask;
	set_mask(&mask);
	for (int cpu = 0, last; cpu < MAX_CPUS && len < sizeof(list) - 32;
	     cpu = last + 1) {
		last = cpu;
		if (!in_mask(&usable, cpu))
			continue;
		while (in_mask(&usable, last + 1))
			last++;
		len += sprintf(list + len, "%s%d", len ? "," : "", cpu);
		if (last > cpu)
			len += sprintf(list + len, "-%d", last);
	}
	return list;
}

/* Does a list in sysfs have @cpu? True as well if there is no telling. */
static bool system_has(const char *path, int cpu)
{
	FILE *f = fopen(path, "re");
	char *line = NULL;
	size_t size = 0;
	bool has = true;

	if (f && getline(&line, &size, f) > 1) {
		line[strcspn(line, "\n")] = 0;
		has = cpulist_has(line, cpu);
	}
	free(line);
	if (f)
		fclose(f);
	return has;
}

/* @err: what the kernel said when it refused to pin us to @cpu. */
__attribute__((noreturn)) static void refused(int status, const char *option,
					      int cpu, int err)
{
	char other[160];
	const char *why = "of this process's cpuset";

	if (err != EINVAL) {
		snprintf(other, sizeof(other), "that we may use (%s)",
			 reason(err));
		why = other;
	} else if (!system_has("/sys/devices/system/cpu/present", cpu)) {
		why = "that this machine has";
	} else if (!system_has("/sys/devices/system/cpu/online", cpu)) {
		why = "that is online";
	}
	die(status, "--%s: CPU %d is not one %s; take one of %s", option, cpu,
	    why, usable_list());
}

/* 0, or -errno. */
static int pin_thread(int cpu)
{
	struct mask one = { { 0 } };

	if (cpu < 0)
		return 0;
	CPU_SET_S(cpu, sizeof(one), (cpu_set_t *)one.bits);
	return set_mask(&one) ? 0 : -errno;
}

void require_cpu(const char *option, int cpu)
{
	const struct mask *mask = allowed();
	int err = pin_thread(cpu);

	if (err)
		refused(EXIT_CANNOT, option, cpu, -err);
	set_mask(mask);
}

unsigned cpu_list(const char *option, const char *text, int *cpus,
		  unsigned most)
{
	const char *at = text;
	unsigned nr = 0;

	while (at && (*at || at == text)) {
		struct cpu_range range;

		at = cpulist_next(at, &range);
		if (!at)
			die(EXIT_USAGE,
			    "--%s: '%s' is not a list of CPUs, like "
			    "0,2-5",
			    option, text);
		/* the last may be the largest there is */
		for (int64_t cpu = range.first; cpu <= range.last;
		     cpu += range.step) {
			require_cpu(option, cpu);
			if (nr == most)
				die(EXIT_USAGE,
				    "--%s: '%s' has more CPUs than "
				    "there are threads, %u",
				    option, text, most);
			cpus[nr++] = cpu;
		}
	}
	return nr;
}

void require_pin(const char *option, int cpu)
{
	int err = pin_thread(cpu);

	if (err)
		refused(EXIT_FAILED, option, cpu, -err);
}

void check_pin(const char *option, int cpu)
{
	struct mask now;

	if (cpu >= 0 && get_mask(&now) &&
	    (!in_mask(&now, cpu) ||
	     CPU_COUNT_S(sizeof(now), (cpu_set_t *)now.bits) != 1))
		die(EXIT_FAILED,
		    "--%s: the thread was moved off CPU %d during "
		    "the run, which does not count: leave its cpuset (or "
		    "taskset) as it is, and run again",
		    option, cpu);
}
