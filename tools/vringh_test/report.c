// SPDX-License-Identifier: MIT
#include <inttypes.h>
#include <stdio.h>

#include "lib/context.h"
#include "lib/program.h"
#include "report.h"

static const char *mode(void)
{
	static char text[128];

	snprintf(text, sizeof(text), "%s%s%s%s%s%s%s%s",
		 options.parallel ? "parallel" : "in-turn",
		 options.indirect ? "+indirect" : "",
		 options.eventidx ? "+eventidx" : "",
		 options.virtio_1 ? "+virtio-1" : "",
		 options.slow_range ? "+slow-range" : "",
		 options.fast_vringh ? "+fast-vringh" : "",
		 options.ops ? "+ops" : "",
		 options.parallel && options.guest_cpu == options.host_cpu
			 ? "+same-cpu"
			 : "");
	return text;
}

static void print_human(const struct shared *s)
{
	printf("%s: %" PRIu64 " transfers in %.4f s, %.2f ns/transfer (%s)\n",
	       program, options.transfers, s->elapsed_ns / 1e9,
	       (double)s->elapsed_ns / options.transfers,
	       options.parallel ? cpus_text(options.guest_cpu, options.host_cpu)
				: "in turn");
	printf("guest: notified %" PRIu64 ", woken %" PRIu64 "\n"
	       "host:  notified %" PRIu64 ", woken %" PRIu64 "\n",
	       s->guest.sent, s->guest.woken, s->host.sent, s->host.woken);
}

static void print_csv(const struct shared *s)
{
	char guest_text[16], host_text[16];

	printf("schema,layout,guest_cpu,host_cpu,ring_size,transfers,mode,"
	       "sample,elapsed_ns,ns_per_buffer,kicks,calls,guest_woken,"
	       "host_woken,verified\n"
	       "1,%s,%s,%s,%" PRIu32 ",%" PRIu64 ",%s,0,%" PRIu64
	       ",%.4f,%" PRIu64 ",%" PRIu64 ",%" PRIu64 ",%" PRIu64 ",%d\n",
	       program, cpu_text(guest_text, options.guest_cpu, ""),
	       cpu_text(host_text, options.host_cpu, ""), options.ring_size,
	       options.transfers, mode(), s->elapsed_ns,
	       (double)s->elapsed_ns / options.transfers, s->guest.sent,
	       s->host.sent, s->guest.woken, s->host.woken,
	       !options.fast_vringh);
}

static void print_json(const struct shared *s)
{
	char guest_text[16], host_text[16];

	printf("{\"schema\":1,\"context\":");
	context_json(options.guest_cpu);
	printf(",\"samples\":[{\"layout\":\"%s\",\"guest_cpu\":%s,"
	       "\"host_cpu\":%s,\"ring_size\":%" PRIu32
	       ",\"transfers\":%" PRIu64
	       ",\"mode\":\"%s\",\"sample\":0,\"elapsed_ns\":%" PRIu64
	       ",\"ns_per_buffer\":%.4f,\"kicks\":%" PRIu64
	       ",\"calls\":%" PRIu64 ",\"guest_woken\":%" PRIu64
	       ",\"host_woken\":%" PRIu64 ",\"verified\":%s}]}\n",
	       program, cpu_text(guest_text, options.guest_cpu, "null"),
	       cpu_text(host_text, options.host_cpu, "null"), options.ring_size,
	       options.transfers, mode(), s->elapsed_ns,
	       (double)s->elapsed_ns / options.transfers, s->guest.sent,
	       s->host.sent, s->guest.woken, s->host.woken,
	       options.fast_vringh ? "false" : "true");
}

void report(const struct shared *shared)
{
	switch (options.format) {
	case FORMAT_HUMAN:
		print_human(shared);
		break;
	case FORMAT_CSV:
		print_csv(shared);
		break;
	case FORMAT_JSON:
		print_json(shared);
		break;
	}
}
