// SPDX-License-Identifier: MIT
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/utsname.h>
#include <unistd.h>

#include "build/buildinfo.h"
#include "main.h"
#include "program.h"
#include "report.h"

#define SCHEMA 1

static struct sample *samples;	/* kept for JSON only */
static unsigned nr_samples;
static int64_t steal_at_start_ms;

/* -1: not known */
static int64_t steal_ms(void)
{
	FILE *f = fopen("/proc/stat", "re");
	uint64_t ticks = 0;
	int n = 0;

	if (f) {
		n = fscanf(f, "cpu %*u %*u %*u %*u %*u %*u %*u %" SCNu64,
			   &ticks);
		fclose(f);
	}
	return n == 1 ? (int64_t)(ticks * 1000 / sysconf(_SC_CLK_TCK)) : -1;
}

static double ns_per_buffer(const struct sample *s)
{
	return (double)s->elapsed_ns / config.run_cycles;
}

static const char *mode(void)
{
	static char text[64];

	snprintf(text, sizeof(text), "%s%s%s%s",
		 config.sleep ? "sleep" : "poll",
		 config.relax && !config.sleep ? "+relax" : "",
		 config.sleep && !config.exit ? "+no-exit" : "",
		 config.sleep && !config.poll_first ? "+no-poll-first" : "");
	return text;
}

/* A number, or @none for what is not known or not set. */
static const char *cpu_text(char text[16], int cpu, const char *none)
{
	if (cpu < 0)
		return none;
	snprintf(text, 16, "%d", cpu);
	return text;
}

static const char *outstanding_text(char text[24], const char *none)
{
	if (config.outstanding == UINT64_MAX)
		return none;
	snprintf(text, 24, "%" PRIu64, config.outstanding);
	return text;
}

static void human(const struct sample *s)
{
	char guest[32] = "guest not pinned", host[32] = "host not pinned";

	if (config.guest_cpu >= 0)
		snprintf(guest, sizeof(guest), "guest CPU %d",
			 config.guest_cpu);
	if (config.host_cpu >= 0)
		snprintf(host, sizeof(host), "host CPU %d", config.host_cpu);
	printf("%s: %" PRIu64 " buffers in %.4f s, %.2f ns/buffer (%s, %s)",
	       ring_info.name, config.run_cycles, s->elapsed_ns / 1e9,
	       ns_per_buffer(s), guest, host);
	if (config.sleep)
		printf(", %" PRIu64 " kicks, %" PRIu64 " calls", s->kicks,
		       s->calls);
	if (config.verify)
		printf(", verified");
	putchar('\n');
}

static void csv(const struct sample *s)
{
	char guest[16], host[16], most[24];

	printf("%d,%s,%s,%s,%u,%" PRIu64 ",%u,%s,%u,%s,%u,%" PRIu64
	       ",%.4f,%" PRIu64 ",%" PRIu64 ",%" PRIu64 ",%" PRIu64 ",%d\n",
	       SCHEMA, ring_info.name, cpu_text(guest, config.guest_cpu, ""),
	       cpu_text(host, config.host_cpu, ""), config.ring_size,
	       config.run_cycles, config.batch, outstanding_text(most, ""),
	       config.param, mode(), nr_samples, s->elapsed_ns,
	       ns_per_buffer(s), s->kicks, s->calls, s->guest_spurious,
	       s->host_spurious, config.verify);
}

static void json_text(const char *key, const char *text)
{
	printf("\"%s\":", key);
	if (!text) {
		printf("null");
		return;
	}
	putchar('"');
	for (; *text; text++) {
		if (*text == '"' || *text == '\\')
			putchar('\\');
		if ((unsigned char)*text >= ' ')
			putchar(*text);
	}
	putchar('"');
}

/* First line of @path that begins with @key, from its value on; or NULL. */
static const char *line_of(const char *path, const char *key)
{
	static char line[256];
	FILE *f = fopen(path, "re");
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

static void json_context(void)
{
	char path[96];
	struct utsname un;
	int64_t steal = steal_ms();

	printf("{");
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
		 "scaling_governor", config.guest_cpu < 0 ? 0 :
		 config.guest_cpu);
	json_text("governor", line_of(path, ""));
	printf(",\"steal_ms\":");
	if (steal < 0 || steal_at_start_ms < 0)
		printf("null}");
	else
		printf("%" PRId64 "}", steal - steal_at_start_ms);
}

static void json_sample(const struct sample *s, unsigned nr)
{
	char guest[16], host[16], most[24];

	printf("%s{\"layout\":\"%s\",\"guest_cpu\":%s,\"host_cpu\":%s,"
	       "\"ring_size\":%u,\"run_cycles\":%" PRIu64 ",\"batch\":%u,"
	       "\"outstanding\":%s,\"param\":%u,\"mode\":\"%s\","
	       "\"sample\":%u,\"elapsed_ns\":%" PRIu64
	       ",\"ns_per_buffer\":%.4f,\"kicks\":%" PRIu64
	       ",\"calls\":%" PRIu64 ",\"guest_spurious\":%" PRIu64
	       ",\"host_spurious\":%" PRIu64 ",\"verified\":%s}",
	       nr ? "," : "", ring_info.name,
	       cpu_text(guest, config.guest_cpu, "null"),
	       cpu_text(host, config.host_cpu, "null"), config.ring_size,
	       config.run_cycles, config.batch, outstanding_text(most, "null"),
	       config.param, mode(), nr, s->elapsed_ns, ns_per_buffer(s),
	       s->kicks, s->calls, s->guest_spurious, s->host_spurious,
	       config.verify ? "true" : "false");
}

void report_start(void)
{
	steal_at_start_ms = steal_ms();
	if (config.format == FORMAT_CSV && !config.quiet)
		printf("schema,layout,guest_cpu,host_cpu,ring_size,run_cycles,"
		       "batch,outstanding,param,mode,sample,elapsed_ns,"
		       "ns_per_buffer,kicks,calls,guest_spurious,"
		       "host_spurious,verified\n");
	finish_stdout();
}

void report_sample(const struct sample *s)
{
	if (config.quiet)
		return;
	switch (config.format) {
	case FORMAT_HUMAN:
		human(s);
		break;
	case FORMAT_CSV:
		csv(s);
		break;
	case FORMAT_JSON:
		samples = reallocarray(samples, nr_samples + 1, sizeof(*s));
		if (!samples)
			run_failed("no memory to keep the samples; use "
				   "--format csv");
		samples[nr_samples] = *s;
		break;
	}
	nr_samples++;
	finish_stdout();
}

void report_end(void)
{
	if (!config.quiet && config.format == FORMAT_JSON) {
		printf("{\"schema\":%d,\"context\":", SCHEMA);
		json_context();
		printf(",\"samples\":[");
		for (unsigned i = 0; i < nr_samples; i++)
			json_sample(&samples[i], i);
		printf("]}\n");
	}
	free(samples);
	samples = NULL;
	finish_stdout();
}

void run_failed(const char *fmt, ...)
{
	static int failing;
	va_list ap;

	/* The other thread may find the same fault: the first one speaks. */
	while (__atomic_exchange_n(&failing, 1, __ATOMIC_SEQ_CST))
		pause();

	fprintf(stderr, "%s: ", program);
	va_start(ap, fmt);
	vfprintf(stderr, fmt, ap);
	va_end(ap);
	fputc('\n', stderr);
	report_end();
	_exit(EXIT_FAILED);
}
