// SPDX-License-Identifier: MIT
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

#include "affinity.h"
#include "context.h"
#include "machine.h"
#include "program.h"
#include "quota.h"

#define MIN_TICKS 50	/* per CPU, before they say anything */

static unsigned threads = 1;	/* that a command is known to run at once */

/* README has a heading with the words before the first colon. */
__attribute__((format(printf, 2, 3)))
static void warn_once(bool *said, const char *fmt, ...)
{
	char line[512];
	va_list ap;

	if (*said)
		return;
	*said = true;
	va_start(ap, fmt);
	vsnprintf(line, sizeof(line), fmt, ap);
	va_end(ap);
	warn("%s", line);
}

/* First line of a file in sysfs; empty: it is not there. In static memory. */
__attribute__((format(printf, 1, 2)))
static const char *read_sys(const char *fmt, ...)
{
	static char line[256];
	char path[256] = "/sys/devices/system/cpu/";
	size_t len = strlen(path);
	va_list ap;
	FILE *f;

	va_start(ap, fmt);
	vsnprintf(path + len, sizeof(path) - len, fmt, ap);
	va_end(ap);
	f = open_machine(path);
	if (!f || !fgets(line, sizeof(line), f))
		*line = 0;
	if (f)
		fclose(f);
	line[strcspn(line, "\n")] = 0;
	return line;
}

static void check_frequency(void)
{
	static bool governor, turbo;

	for (int cpu = 0, left = allowed_cpus(); left; cpu++) {
		const char *name;

		if (!cpu_allowed(cpu))
			continue;
		left--;
		name = read_sys("cpu%d/cpufreq/scaling_governor", cpu);
		if (*name && strcmp(name, "performance"))
			warn_once(&governor, "CPU governor is not performance: "
				  "%s on CPU %d lets its speed vary; do "
				  "cpupower frequency-set -g performance", name,
				  cpu);
	}
	if (*read_sys("intel_pstate/no_turbo") == '0')
		warn_once(&turbo, "turbo is on: the speed varies with heat and "
			  "load; write 1 to /sys/devices/system/cpu/"
			  "intel_pstate/no_turbo");
	if (*read_sys("cpufreq/boost") == '1')
		warn_once(&turbo, "turbo is on: the speed varies with heat and "
			  "load; write 0 to /sys/devices/system/cpu/cpufreq/"
			  "boost");
}

/* Is @cpu in a list like "0-3,8"? */
static bool listed(const char *list, int cpu)
{
	for (char *end; *list; list = *end ? end + 1 : end) {
		long from = strtol(list, &end, 10), to = from;

		if (*end == '-')
			to = strtol(end + 1, &end, 10);
		if (cpu >= from && cpu <= to)
			return true;
	}
	return false;
}

void machine_pair(const char *guest, const char *host)
{
	static bool unpinned, smt;

	threads = 2;
	if (!*guest || !*host)
		warn_once(&unpinned, "unpinned threads: the kernel may move "
			  "them, between runs or within one; give "
			  "--guest-affinity and --host-affinity");
	else if (strcmp(guest, host) &&
		 listed(read_sys("cpu%d/topology/thread_siblings_list",
				 atoi(guest)), atoi(host)))
		warn_once(&smt, "SMT siblings used as a pair: CPUs %s and %s "
			  "share one core; unless that is what you measure, "
			  "take two cores (lscpu -e shows them)", guest, host);
}

/* In ticks, of the CPUs that we may use; ours: of the commands so far. */
struct load {
	double all, idle, steal, ours;
};
static struct load was;

static struct load read_load(void)
{
	struct load load = { 0 };
	FILE *f = open_machine("/proc/stat");
	struct rusage ru;
	char line[512];

	getrusage(RUSAGE_CHILDREN, &ru);
	load.ours = (ru.ru_utime.tv_sec + ru.ru_stime.tv_sec +
		     1e-6 * (ru.ru_utime.tv_usec + ru.ru_stime.tv_usec)) *
		    sysconf(_SC_CLK_TCK);
	while (f && fgets(line, sizeof(line), f)) {
		double t[8];	/* user nice system idle iowait irq softirq steal */
		int cpu;

		if (sscanf(line, "cpu%d %lf %lf %lf %lf %lf %lf %lf %lf", &cpu,
			   t, t + 1, t + 2, t + 3, t + 4, t + 5, t + 6,
			   t + 7) != 9 || !cpu_allowed(cpu))
			continue;
		for (int i = 0; i < 8; i++)
			load.all += t[i];
		load.idle += t[3] + t[4];
		load.steal += t[7];
	}
	if (f)
		fclose(f);
	return load;
}

void machine_start(void)
{
	check_frequency();
	was = read_load();
}

void machine_end(void)
{
	static bool stolen, busy;
	struct load is = read_load();
	double all = is.all - was.all, steal = is.steal - was.steal, idle;

	quota_warn();
	if (all < MIN_TICKS * allowed_cpus())
		return;
	if (steal > 0.01 * all)
		warn_once(&stolen, "steal time above 1 %% during the runs: "
			  "other guests of this machine took %.1f %%; measure "
			  "when they are quiet, or on a machine of your own",
			  100 * steal / all);
	/* what stood idle or did our work; a tenth may go to housekeeping */
	idle = (is.idle - was.idle + is.ours - was.ours) / all *
	       allowed_cpus();
	if (idle < 0.9 * threads)
		warn_once(&busy, "fewer idle CPUs than threads: %.1f for %u; "
			  "end what else is running, or allow more CPUs", idle,
			  threads);
}
