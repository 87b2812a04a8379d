// SPDX-License-Identifier: MIT
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <unistd.h>

#include "compare.h"
#include "lib/clock.h"
#include "lib/field.h"
#include "lib/program.h"
#include "rounds.h"
#include "run.h"

uint64_t rounds;
double width = INFINITY;

static FILE *csv, *json;
static uint64_t start_ns;
static double lost_ns; /* in runs that do not count */

double alpha(void)
{
	return (options.runs ? ALPHA_FIXED : ALPHA_LOOKING) / (nr_commands - 1);
}

unsigned pairs_needed(void)
{
	unsigned n = 1;

	while (!signed_rank(n, alpha()))
		n++;
	return n;
}

static FILE *open_file(const char *option, const char *path)
{
	FILE *f = path ? fopen(path, "we") : NULL;

	if (path && !f)
		die(EXIT_FAILED, "--%s: cannot write to %s: %s", option, path,
		    reason(errno));
	return f;
}

void open_samples(void)
{
	csv = open_file("csv", options.csv);
	json = open_file("json", options.json);
}

static void kept(const char *option, const char *path, FILE *f)
{
	const char *why = flush(f);

	if (!why)
		return;
	ending = "samples cannot be kept";
	die(EXIT_FAILED, "--%s: cannot write to %s: %s", option, path, why);
}

/* Each line is in the file when the next run begins. */
static void keep(const struct command *c, unsigned position,
		 const struct run *run)
{
	static bool named;
	const uint64_t round = rounds + 1, began_ns = run->start_ns - start_ns;
	const uint32_t place = position + 1;
	const char *name = c->name, *metric = metric_name(), *of = unit();
	const struct field fields[] = {
		{ "round", "-", FIELD_U64, &round },
		{ "position", "-", FIELD_U32, &place },
		{ "command", "-", FIELD_TEXT, &name },
		{ "text", "-", FIELD_TEXT, &c->text },
		{ "metric", "-", FIELD_TEXT, &metric },
		{ "value", "(unit)", FIELD_DOUBLE,
		  &run->value[options.metric] },
		{ "unit", "-", FIELD_TEXT, &of },
		{ "start_ns", "ns", FIELD_U64, &began_ns },
		{ "wall_ns", "ns", FIELD_DOUBLE, &run->value[WALL] },
		{ "user_ns", "ns", FIELD_DOUBLE, &run->value[USER] },
		{ "sys_ns", "ns", FIELD_DOUBLE, &run->value[SYS] },
		{ .name = NULL }
	};

	if (csv) {
		if (!named)
			csv_names(csv, fields);
		named = true;
		csv_row(csv, fields);
		kept("csv", options.csv, csv);
	}
	if (json) {
		json_row(json, fields);
		kept("json", options.json, json);
	}
}

/*
 * One run of each. The order turns round every time, so that drift and what
 * one run leaves behind for the next even out; with more than two commands,
 * who is in the middle changes as well.
 */
static void one_round(uint64_t nr, bool counts)
{
	uint64_t first = nr_commands > 2 ? nr / 2 : 0;

	for (unsigned i = 0; i < nr_commands; i++) {
		uint64_t at = first + (nr % 2 ? nr_commands - 1 - i : i);
		struct command *c = &commands[at % nr_commands];
		struct run run;

		if (!measure(c, &run)) {
			ending = "interrupted";
			return;
		}
		lost_ns += run.lost_ns;
		if (counts) {
			c->values[rounds] = run.value[options.metric];
			keep(c, i, &run);
		}
	}
	rounds += counts;
}

void compare(void)
{
	width = 0;
	for_each_later (c) {
		for (uint64_t i = 0; i < rounds; i++)
			/* not of the quotient, which a double may not hold */
			c->sorted[i] =
				log(c->values[i]) - log(commands->values[i]);
		sort_values(c->sorted, rounds);
		c->ratio = hodges_lehmann(c->sorted, rounds, alpha());
		if (!c->ratio.has_interval)
			width = INFINITY;
		width = fmax(width,
			     100 * (exp(c->ratio.high) - exp(c->ratio.low)));
	}
}

static double spent_ns(void)
{
	return now_ns() - start_ns - lost_ns;
}

/*
 * How far it is. The width only, never who is ahead: who stops when he likes
 * what he sees gets what he likes.
 */
static void show_progress(uint64_t first_ns, uint64_t looked)
{
	static uint64_t last_ns;
	uint64_t now = now_ns();
	double left = 1e9 * options.max_time_s - spent_ns();
	double need = options.runs;
	double ratio = width / options.resolve;
	char line[160], more_text[80] = "";

	if (!isatty(2) || now - last_ns < 100000000)
		return;
	last_ns = now;
	if (!options.runs)
		need = looked * ratio * ratio;
	if (need > rounds)
		left = fmin(left, (now - first_ns) * (need / rounds - 1));
	if (!options.runs && looked)
		snprintf(more_text, sizeof(more_text),
			 ", interval of %.2g %%, "
			 "to be %g %%",
			 width, options.resolve);
	snprintf(line, sizeof(line), "round %llu, %.9g s left%s",
		 (unsigned long long)rounds, round(fmax(left, 0) / 1e9),
		 more_text);
	progress(line);
}

void run_rounds(void)
{
	uint64_t look = next_look(0), looked = 0, room = 0, first_ns;

	start_ns = now_ns();
	for (uint32_t i = 0; i < options.warmup && !ending; i++)
		one_round(i, false);
	first_ns = now_ns();
	while (!ending) {
		if (rounds == room) {
			room = room ? 2 * room : 64;
			for_each_command (c) {
				size_t size = room * sizeof(double);

				c->values = more(c->values, size);
				c->sorted = more(c->sorted, size);
			}
		}
		one_round(rounds, true);
		if (!options.runs && rounds == look) {
			compare();
			looked = rounds;
			look = next_look(look);
		}
		if (ending)
			break;
		if (options.runs ? rounds == options.runs :
				   width < options.resolve)
			ending = "done";
		else if (spent_ns() >= 1e9 * options.max_time_s)
			ending = "time is over";
		else
			show_progress(first_ns, looked);
	}
	progress(NULL);
}
