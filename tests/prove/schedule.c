// SPDX-License-Identifier: MIT
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "schedule.h"

#define PASSED 4096

static bool on, told;
static unsigned steps;
static const char *spoke_last;
static struct {
	struct event load, store;
} passed[PASSED];
static unsigned passed_count;

void schedule_start(void)
{
	on = true;
	told = false;
	steps = passed_count = 0;
	spoke_last = NULL;
}

void schedule_print(const char *thread, const struct prove_site *site,
		    ptrdiff_t where, const char *format, ...)
{
	const char *file = strrchr(site->file, '/');
	char place[64], at[24] = "";
	va_list args;

	if (!on)
		return;
	if (thread != spoke_last)
		printf("%s:\n", thread);
	spoke_last = thread;
	snprintf(place, sizeof(place), "%s:%d %s", file ? file + 1 : site->file,
		 site->line, site->function);
	if (where >= 0 && where < 1 << 20)
		snprintf(at, sizeof(at), " [%#tx]", where);
	printf("%5u  %-32s %-10s %s%s%s: ", ++steps, place, site->end,
	       site->text, at, site->weak ? " (weakened)" : "");
	va_start(args, format);
	vprintf(format, args);
	va_end(args);
	putchar('\n');
}

unsigned schedule_step(void)
{
	return steps;
}

void schedule_news(struct event load, struct event store)
{
	if (!on || passed_count == PASSED)
		return;
	passed[passed_count].load = load;
	passed[passed_count++].store = store;
}

/* "A.release in add_inbuf, ring.c:150" */
static void print_end(const struct prove_site *site)
{
	printf("%s%s%s, %s:%d%s", site->end, *site->end ? " in " : "",
	       site->function, site->file, site->line,
	       site->weak ? " (weakened)" : "");
}

static void print_ends(unsigned i)
{
	fputs("What should have ordered them: ", stdout);
	print_end(passed[i].store.site);
	fputs(" and ", stdout);
	print_end(passed[i].load.site);
	puts(".");
	told = true;
}

void schedule_ends(unsigned thread, unsigned other, unsigned since)
{
	for (unsigned i = passed_count; on && i--;) {
		if (passed[i].load.thread != thread ||
		    passed[i].store.thread != other ||
		    passed[i].store.number < since)
			continue;
		print_ends(i);
		return;
	}
	if (on)
		puts("No news has come that could have ordered them.");
	told = true;
}

void schedule_fence(const struct prove_site *site)
{
	if (!on)
		return;
	fputs(told ? "and " : "What should have ordered them: ", stdout);
	print_end(site);
	putchar('\n');
	told = true;
}

void schedule_end(int thread)
{
	for (unsigned i = passed_count; thread >= 0 && !told && i--;)
		if (passed[i].load.thread == thread &&
		    (*passed[i].load.site->end || *passed[i].store.site->end))
			print_ends(i);
	on = false;
}
