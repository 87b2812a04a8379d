// SPDX-License-Identifier: MIT
#include <inttypes.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/utsname.h>
#include <unistd.h>

#include "build/buildinfo.h"
#include "context.h"
#include "field.h"
#include "program.h"
#include "quota.h"
#include "ticks.h"

const char *machine_root = "";

FILE *open_machine(const char *path)
{
	char full[4096];

	snprintf(full, sizeof(full), "%s%s", machine_root, path);
	return fopen(full, "re");
}

static uint64_t steal_at_start_ms;

/* UINT64_MAX: not known */
static uint64_t read_steal_ms(void)
{
	FILE *f = open_machine("/proc/stat");
	uint64_t ticks = 0;
	int n = 0;

	if (f) {
		n = fscanf(f, "cpu %*u %*u %*u %*u %*u %*u %*u %" SCNu64,
			   &ticks);
		fclose(f);
	}
	return n == 1 ? ticks * 1000 / sysconf(_SC_CLK_TCK) : UINT64_MAX;
}

/* What was run, whole: options that have no column are in there. */
static void json_command(void)
{
	FILE *f = fopen("/proc/self/cmdline", "re");
	char *arg = NULL;
	size_t size = 0;
	char lead = '[';

	while (f && getdelim(&arg, &size, '\0', f) > 0) {
		putchar(lead);
		json_string(stdout, arg);
		lead = ',';
	}
	fputs(lead == '[' ? "null" : "]", stdout);
	free(arg);
	if (f)
		fclose(f);
}

/*
 * First line of @path that begins with @key, from its value on; or NULL. It is
 * read into @line.
 */
static const char *line_of(const char *path, const char *key, char line[256])
{
	FILE *f = open_machine(path);
	const char *found = NULL;

	while (f && !found && fgets(line, 256, f)) {
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

struct context context;

/* In place; NULL stays NULL, and an empty text is not known. */
static const char *plain_word(char *text)
{
	for (char *c = text; c && *c; c++)
		if (*c == ',' || *c == '"' || (unsigned char)*c < ' ')
			*c = ' ';
	return text && *text ? text : NULL;
}

void context_start(void)
{
	static char line[256];
	static struct utsname un;

	steal_at_start_ms = read_steal_ms();
	quota_start();
	context.cpu_model = plain_word(
		(char *)line_of("/proc/cpuinfo", "model name", line));
	if (!uname(&un)) {
		context.host = plain_word(un.nodename);
		context.kernel = plain_word(un.release);
	}
	/* a container has another name each time */
	if (getenv("RINGTEST_HOST"))
		context.host = plain_word(copy_text(getenv("RINGTEST_HOST")));
}

static const char *version = BUILD_VERSION, *compiler = BUILD_COMPILER;
static const char *flags = BUILD_FLAGS, *governor;
static const bool lto = BUILD_LTO;
static uint64_t steal_ms, throttled_periods;

static const struct field fields[] = {
	{ "version", "-", FIELD_TEXT, &version },
	{ "compiler", "-", FIELD_TEXT, &compiler },
	{ "flags", "-", FIELD_TEXT, &flags },
	{ "lto", "-", FIELD_BOOL, &lto },
	{ "cpu_model", "-", FIELD_TEXT, &context.cpu_model },
	{ "kernel", "-", FIELD_TEXT, &context.kernel },
	{ "governor", "-", FIELD_TEXT, &governor },
	{ "steal_ms", "ms", FIELD_U64, &steal_ms },
	{ "throttled_periods", "periods", FIELD_U64, &throttled_periods },
	{ "clock", "-", FIELD_WORD, &ticks.name },
	{ "clock_cost_ns", "ns", FIELD_FIXED + 1, &ticks.cost_ns },
	{ "clock_step_ns", "ns", FIELD_FIXED + 1, &ticks.step_ns },
	{ "host", "-", FIELD_TEXT, &context.host },
	{ .name = NULL }
};

void context_json(int cpu)
{
	static char line[256];
	char path[96];
	uint64_t stolen_ms = read_steal_ms();
	struct quota quota;

	snprintf(path, sizeof(path),
		 "/sys/devices/system/cpu/cpu%d/cpufreq/"
		 "scaling_governor",
		 cpu < 0 ? 0 : cpu);
	governor = line_of(path, "", line);
	steal_ms = stolen_ms == UINT64_MAX || steal_at_start_ms == UINT64_MAX ?
			   UINT64_MAX :
			   stolen_ms - steal_at_start_ms;
	throttled_periods = quota_used(&quota) ? quota.throttled : UINT64_MAX;

	printf("{\"command\":");
	json_command();
	putchar(',');
	json_fields(stdout, fields);
	putchar('}');
}

const char *cpu_text(int cpu)
{
	static char texts[2][24];
	static unsigned nr;
	char *text = texts[nr++ % 2];

	if (cpu < 0)
		return "not pinned";
	snprintf(text, sizeof(texts[0]), "CPU %d", cpu);
	return text;
}

const char *cpus_text(int guest_cpu, int host_cpu)
{
	static char text[64];

	snprintf(text, sizeof(text), "guest %s, host %s", cpu_text(guest_cpu),
		 cpu_text(host_cpu));
	return text;
}
