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
#include "cpulist.h"
#include "machine.h"
#include "program.h"

#define MIN_TICKS 50 /* per CPU, before they say anything */

static unsigned threads = 1; /* that a command is known to run at once */

/* CPUs outside our mask that a command has pinned a thread to. */
static int *pinned;
static unsigned nr_pinned;

/* Is it a CPU that commands run on? */
static bool used(int cpu)
{
	for (unsigned i = 0; i < nr_pinned; i++)
		if (pinned[i] == cpu)
			return true;
	return cpu_allowed(cpu);
}

/* doc/warnings has a heading with the words before the first colon. */
__attribute__((format(printf, 2, 3))) static void
warn_once(bool *said, const char *fmt, ...)
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
__attribute__((format(printf, 1, 2))) static const char *
read_sys(const char *fmt, ...)
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

static void check_governor(int cpu)
{
	static bool said;
	const char *name = read_sys("cpu%d/cpufreq/scaling_governor", cpu);

	if (*name && strcmp(name, "performance"))
		warn_once(&said,
			  "CPU governor is not performance: %s on CPU "
			  "%d lets its speed vary; do cpupower frequency-set "
			  "-g performance",
			  name, cpu);
}

static void check_frequency(void)
{
	static bool turbo;

	for (int cpu = 0, left = allowed_cpus(); left; cpu++) {
		if (!cpu_allowed(cpu))
			continue;
		left--;
		check_governor(cpu);
	}
	if (*read_sys("intel_pstate/no_turbo") == '0')
		warn_once(&turbo, "turbo is on: the speed varies with heat and "
				  "load; write 1 to /sys/devices/system/cpu/"
				  "intel_pstate/no_turbo");
	if (*read_sys("cpufreq/boost") == '1')
		warn_once(&turbo,
			  "turbo is on: the speed varies with heat and "
			  "load; write 0 to /sys/devices/system/cpu/cpufreq/"
			  "boost");
}

/* A number from a row; empty: none. */
static void add_pinned(const char *text)
{
	int cpu = atoi(text), *more;

	if (!*text || used(cpu))
		return;
	more = realloc(pinned, (nr_pinned + 1) * sizeof(*pinned));
	if (!more)
		return;
	pinned = more;
	pinned[nr_pinned++] = cpu;
	check_governor(cpu);
}

void machine_pair(const char *guest, const char *host)
{
	static bool unpinned, smt;

	threads = 2;
	add_pinned(guest);
	add_pinned(host);
	if (!*guest || !*host)
		warn_once(&unpinned, "unpinned threads: the kernel may move "
				     "them, between runs or within one; give "
				     "--guest-affinity and --host-affinity");
	else if (strcmp(guest, host) &&
		 cpulist_has(read_sys("cpu%d/topology/thread_siblings_list",
				      atoi(guest)),
			     atoi(host)))
		warn_once(&smt,
			  "SMT siblings used as a pair: CPUs %s and %s "
			  "share one core; unless that is what you measure, "
			  "take two cores (lscpu -e shows them)",
			  guest, host);
}

/* In ticks. */
struct load {
	int cpu;
	double all, idle, steal;
};
static struct load *was; /* of every CPU: who is pinned where comes later */
static size_t nr_was;
static double ours_was;

/* What commands have used so far. */
static double our_ticks(void)
{
	struct rusage ru;

	getrusage(RUSAGE_CHILDREN, &ru);
	return (ru.ru_utime.tv_sec + ru.ru_stime.tv_sec +
		1e-6 * (ru.ru_utime.tv_usec + ru.ru_stime.tv_usec)) *
	       sysconf(_SC_CLK_TCK);
}

/* The next CPU in /proc/stat. False: there are no more. */
static bool read_load(FILE *f, struct load *load)
{
	char line[512];

	while (f && fgets(line, sizeof(line), f)) {
		double t[8]; /* user nice system idle iowait irq softirq steal */

		/* the sum of all comes first, and looks alike to %d */
		if (!strncmp(line, "cpu ", 4))
			continue;
		if (sscanf(line, "cpu%d %lf %lf %lf %lf %lf %lf %lf %lf",
			   &load->cpu, t, t + 1, t + 2, t + 3, t + 4, t + 5,
			   t + 6, t + 7) != 9)
			continue;
		load->all = 0;
		for (int i = 0; i < 8; i++)
			load->all += t[i];
		load->idle = t[3] + t[4];
		load->steal = t[7];
		return true;
	}
	return false;
}

void machine_start(void)
{
	FILE *f = open_machine("/proc/stat");
	struct load load, *more;

	check_frequency();
	ours_was = our_ticks();
	while (read_load(f, &load)) {
		more = realloc(was, (nr_was + 1) * sizeof(*was));
		if (!more)
			break;
		was = more;
		was[nr_was++] = load;
	}
	if (f)
		fclose(f);
}

/* What has passed since machine_start() on the CPUs that commands run on. */
static struct load load_since(void)
{
	FILE *f = open_machine("/proc/stat");
	struct load is, sum = { 0 };

	for (size_t i = 0; read_load(f, &is);) {
		/* both in the order of CPUs; one may have gone or come */
		while (i < nr_was && was[i].cpu < is.cpu)
			i++;
		if (i == nr_was || was[i].cpu != is.cpu || !used(is.cpu))
			continue;
		sum.all += is.all - was[i].all;
		sum.idle += is.idle - was[i].idle;
		sum.steal += is.steal - was[i].steal;
	}
	if (f)
		fclose(f);
	return sum;
}

void machine_end(void)
{
	static bool stolen, busy;
	const int cpus = allowed_cpus() + nr_pinned;
	struct load load = load_since();
	double idle;

	if (load.all < MIN_TICKS * cpus)
		return;
	if (load.steal > 0.01 * load.all)
		warn_once(&stolen,
			  "steal time above 1 %% during the runs: "
			  "other guests of this machine took %.1f %%; measure "
			  "when they are quiet, or on a machine of your own",
			  100 * load.steal / load.all);
	/* what stood idle or did our work; a tenth may go to housekeeping */
	idle = (load.idle + our_ticks() - ours_was) / load.all * cpus;
	if (idle < 0.9 * threads)
		warn_once(&busy,
			  "fewer idle CPUs than threads: %.1f for %u; "
			  "end what else is running, or allow more CPUs",
			  idle, threads);
}
