// SPDX-License-Identifier: MIT
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/utsname.h>
#include <unistd.h>

#include "build/buildinfo.h"
#include "context.h"
#include "json.h"
#include "quota.h"

const char *machine_root = "";

FILE *open_machine(const char *path)
{
	char full[4096];

	snprintf(full, sizeof(full), "%s%s", machine_root, path);
	return fopen(full, "re");
}

static int64_t steal_at_start_ms;

/* -1: not known */
static int64_t steal_ms(void)
{
	FILE *f = open_machine("/proc/stat");
	uint64_t ticks = 0;
	int n = 0;

	if (f) {
		n = fscanf(f, "cpu %*u %*u %*u %*u %*u %*u %*u %" SCNu64,
			   &ticks);
		fclose(f);
	}
	return n == 1 ? (int64_t)(ticks * 1000 / sysconf(_SC_CLK_TCK)) : -1;
}

static void json_text(const char *key, const char *text)
{
	printf("\"%s\":", key);
	json_string(stdout, text);
}

/* What was run, whole: options that have no column are in there. */
static void json_command(void)
{
	FILE *f = fopen("/proc/self/cmdline", "re");
	char *arg = NULL;
	size_t size = 0;
	char lead = '[';

	printf("\"command\":");
	while (f && getdelim(&arg, &size, '\0', f) > 0) {
		putchar(lead);
		json_string(stdout, arg);
		lead = ',';
	}
	printf("%s,", lead == '[' ? "null" : "]");
	free(arg);
	if (f)
		fclose(f);
}

/* First line of @path that begins with @key, from its value on; or NULL. */
static const char *line_of(const char *path, const char *key)
{
	static char line[256];
	FILE *f = open_machine(path);
	const char *found = NULL;

	while (f && !found && fgets(line, sizeof(line), f)) {
		if (strncmp(line, key, strlen(key)))
			continue;
		line[strcspn(line, "\n")] = '\0';
		found = line + strlen(key);
		found += strspn(found, "\t :");
	}
	if (f)
		fclose(f);
	return found;
}

void context_start(void)
{
	steal_at_start_ms = steal_ms();
	quota_start();
}

void context_json(int cpu)
{
	char path[96];
	struct utsname un;
	int64_t steal = steal_ms();
	struct quota quota;

	printf("{");
	json_command();
	json_text("version", BUILD_VERSION);
	putchar(',');
	json_text("compiler", BUILD_COMPILER);
	putchar(',');
	json_text("flags", BUILD_FLAGS);
	printf(",\"lto\":%s,", BUILD_LTO ? "true" : "false");
	json_text("cpu_model", line_of("/proc/cpuinfo", "model name"));
	putchar(',');
	json_text("kernel", uname(&un) ? NULL : un.release);
	putchar(',');
	snprintf(path, sizeof(path), "/sys/devices/system/cpu/cpu%d/cpufreq/"
		 "scaling_governor", cpu < 0 ? 0 : cpu);
	json_text("governor", line_of(path, ""));
	printf(",\"steal_ms\":");
	if (steal < 0 || steal_at_start_ms < 0)
		printf("null");
	else
		printf("%" PRId64, steal - steal_at_start_ms);
	printf(",\"throttled_periods\":");
	if (quota_used(&quota))
		printf("%" PRIu64 "}", quota.throttled);
	else
		printf("null}");
}

const char *cpu_text(char text[16], int cpu, const char *none)
{
	if (cpu < 0)
		return none;
	snprintf(text, 16, "%d", cpu);
	return text;
}

const char *cpus_text(int guest_cpu, int host_cpu)
{
	static char text[64];
	char guest[16], host[16];

	snprintf(text, sizeof(text), "guest %s%s, host %s%s",
		 guest_cpu < 0 ? "" : "CPU ",
		 cpu_text(guest, guest_cpu, "not pinned"),
		 host_cpu < 0 ? "" : "CPU ",
		 cpu_text(host, host_cpu, "not pinned"));
	return text;
}
