// SPDX-License-Identifier: MIT
/*
 * Pairs of CPUs that a guest and a host may run on: GUEST HOST CLASS, where the
 * class is the nearest thing that the two share.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "lib/affinity.h"
#include "lib/context.h"
#include "lib/cpulist.h"
#include "lib/program.h"
#include "topology.h"

#define MAX_NUMBER 99999 /* of a CPU that can be asked for */

static bool all_pairs, classes, sleeps, unpinned;
static const char *seed_text, *allowed, *sysroot;

static const char usage[] =
	"usage: pairs [OPTION...]\n"
	"\n"
	"Prints pairs of CPUs, GUEST HOST CLASS: each CPU that is online and allowed as\n"
	"guest, with the last one as host. The class is the nearest thing they share:\n"
	"self (the same CPU), smt (a core), l2, llc (the last-level cache), node (a\n"
	"socket where no nodes are listed) or machine. Where cores differ, their types\n"
	"follow: P (performance), E (efficiency), M (between the two), L (low power).\n"
	"\n";

static const struct opt opts[] = {
	{ "all-pairs", NULL, "every ordered pair", OPT_SET, &all_pairs, 0, 0 },
	{ "classes", NULL, "one pair of each class and types", OPT_SET,
	  &classes, 0, 0 },
	{ "shuffle", "SEED", "in an order that SEED determines", OPT_TEXT,
	  &seed_text, 0, 0 },
	{ "allowed", "LIST", "CPUs to use, in place of those allowed", OPT_TEXT,
	  &allowed, 0, 0 },
	{ "sysroot", "DIR", "the machine whose /sys is in DIR", OPT_TEXT,
	  &sysroot, 0, 0 },
	{ "sleep", NULL, "guest and host may share a CPU", OPT_SET, &sleeps, 0,
	  0 },
	{ "unpinned", NULL, "add runs without a guest CPU, with neither (-)",
	  OPT_SET, &unpinned, 0, 0 },
	{ "as", "NAME", "what messages call this program", OPT_TEXT, &program,
	  0, 0 },
	{ 0 }
};

static struct cpu *cpus;
static unsigned nr_cpus;

struct pair {
	const struct cpu *guest, *host;
	const char *class;
};
static struct pair *pairs;
static size_t nr_pairs;

/* ---- Which CPUs ---- */

static void check_allowed(void)
{
	const char *list = allowed;
	struct cpu_range range = { 0 };

	do
		list = cpulist_next(list, &range);
	while (list && *list && range.last <= MAX_NUMBER);
	if (!list || range.last > MAX_NUMBER)
		die(EXIT_USAGE,
		    "--allowed: '%s' is no list of CPUs: give one "
		    "like 0,2-5",
		    allowed);
}

/* Keeps those that may be used, and returns how many there are. */
static unsigned choose(const struct cpu *from, unsigned n)
{
	nr_cpus = 0;
	for (unsigned i = 0; i < n; i++)
		if (allowed ? cpulist_has(allowed, from[i].number) :
			      sysroot || cpu_allowed(from[i].number))
			cpus[nr_cpus++] = from[i];
	return nr_cpus;
}

/* The CPUs of our mask, of which nothing else is known. */
static unsigned mask_cpus(struct cpu **all)
{
	unsigned n = allowed_cpus();
	int nr = 0;

	*all = room(NULL, n * sizeof(**all));
	for (unsigned i = 0; i < n; nr++)
		if (cpu_allowed(nr))
			(*all)[i++] =
				(struct cpu){ nr, { -1, -1, -1, -1, -1 }, 0 };
	return n;
}

/* Like 0,2-5, in memory of its own. */
static char *list_of(const struct cpu *from, unsigned n)
{
	char *text = NULL;
	size_t size;
	FILE *f = open_memstream(&text, &size);

	if (!f)
		die(EXIT_FAILED, "no memory for a list: %s", reason(errno));
	for (unsigned i = 0, last; i < n; i = last + 1) {
		last = i;
		while (last + 1 < n &&
		       from[last + 1].number == from[last].number + 1)
			last++;
		fprintf(f, "%s%d", i ? "," : "", from[i].number);
		if (last > i)
			fprintf(f, "-%d", from[last].number);
	}
	fclose(f);
	return text;
}

static void find_cpus(void)
{
	struct cpu *online = NULL, *mask = NULL;
	unsigned nr_online = read_topology(&online), nr_mask = 0, min = 1;

	if (!sysroot) {
		nr_mask = mask_cpus(&mask);
		if (!allowed)
			min = nr_mask;
	} else if (!nr_online) {
		die(EXIT_USAGE,
		    "cannot tell which CPUs are online: nothing is "
		    "in %s/sys/devices/system/cpu/online",
		    machine_root);
	}
	cpus = room(NULL, (nr_online + nr_mask) * sizeof(*cpus));
	if (choose(online, nr_online) >= min)
		return;
	/* A container may have an empty /sys, or one of other numbers. */
	if (choose(mask, nr_mask)) {
		fprintf(stderr,
			"%s: /sys lists other CPUs than this process "
			"may use, %s: these are taken, but what they share is "
			"not known\n",
			program, list_of(mask, nr_mask));
		return;
	}
	die(EXIT_USAGE, "--allowed: no CPU of %s is online: choose from %s",
	    allowed,
	    nr_online ? list_of(online, nr_online) : list_of(mask, nr_mask));
}

/* ---- The pairs ---- */

static bool same(const struct cpu *a, const struct cpu *b, enum shared what)
{
	return a->shared[what] == b->shared[what] && a->shared[what] >= 0;
}

static const char *nearest(const struct cpu *a, const struct cpu *b)
{
	if (a == b)
		return "self";
	if (same(a, b, CORE))
		return "smt";
	if (same(a, b, L2))
		return "l2";
	if (same(a, b, LLC))
		return "llc";
	if (same(a, b, a->shared[NODE] < 0 ? SOCKET : NODE))
		return "node";
	return "machine";
}

static bool alike(const struct pair *a, const struct pair *b)
{
	return a->class == b->class && a->guest->type == b->guest->type &&
	       (!a->guest->type || a->host->type == b->host->type);
}

/* Is there one like @pair among the first @n? */
static bool seen(const struct pair *pair, size_t n)
{
	for (size_t i = 0; i < n; i++)
		if (alike(&pairs[i], pair))
			return true;
	return false;
}

static void list_pairs(void)
{
	bool all = all_pairs || classes;

	for (unsigned h = nr_cpus; h-- > (all ? 0 : nr_cpus - 1);)
		for (unsigned g = 0; g < nr_cpus; g++) {
			struct pair pair = { &cpus[g], &cpus[h],
					     nearest(&cpus[g], &cpus[h]) };

			if (g == h && !sleeps)
				continue;
			if (classes && seen(&pair, nr_pairs))
				continue;
			if (!(nr_pairs & (nr_pairs - 1)))
				pairs = room(pairs, (2 * nr_pairs + 1) *
							    sizeof(*pairs));
			pairs[nr_pairs++] = pair;
		}
}

static void swap(struct pair *a, struct pair *b)
{
	struct pair was = *a;

	*a = *b;
	*b = was;
}

/* The nearest first; those of the same class stay in order. */
static void sort_classes(void)
{
	static const char order[] = "self|smt|l2|llc|node|machine";

	for (size_t i = 1; i < nr_pairs; i++)
		for (size_t j = i;
		     j && opt_choice(order, pairs[j].class) <
				  opt_choice(order, pairs[j - 1].class);
		     j--)
			swap(&pairs[j], &pairs[j - 1]);
}

static uint64_t next_random(uint64_t *state)
{
	return *state = *state * 16807 % 2147483647;
}

static void shuffle(uint64_t state)
{
	for (int i = 0; i < 8; i++)
		next_random(&state);
	for (size_t i = nr_pairs; i > 1; i--)
		swap(&pairs[i - 1], &pairs[next_random(&state) % i]);
}

static void print(void)
{
	for (size_t i = 0; i < nr_pairs; i++) {
		const struct pair *p = &pairs[i];

		printf("%d %d %s", p->guest->number, p->host->number, p->class);
		if (p->guest->type)
			printf(" %c-%c", p->guest->type,
			       p->host->type ? p->host->type : '?');
		putchar('\n');
	}
	if (unpinned)
		printf("- %d no-guest-affinity\n- - no-affinity\n",
		       cpus[nr_cpus - 1].number);
	finish_stdout();
}

static void tell_only(void)
{
	static const char remedy[] =
		"allow more CPUs (taskset, cpuset, --allowed)";

	fprintf(stderr, "%s: only CPU %d is online and allowed%s%s\n", program,
		cpus->number,
		sleeps ? ", so guest and host share it: to part "
			 "them, " :
			 ": no pair without --sleep: add it, or ",
		remedy);
}

static uint64_t read_seed(void)
{
	size_t len = strlen(seed_text);

	if (!len || len > 9 || strspn(seed_text, "0123456789") != len)
		die(EXIT_USAGE,
		    "--shuffle: '%s' is no seed: give a number "
		    "from 0 to 999999999",
		    seed_text);
	return strtoul(seed_text, NULL, 10);
}

static void check_sysroot(void)
{
	char path[4096];

	snprintf(path, sizeof(path), "%s/sys/devices/system/cpu", sysroot);
	if (!*sysroot || access(path, R_OK))
		die(EXIT_USAGE,
		    "--sysroot: '%s' has no sys/devices/system/"
		    "cpu: give the directory that the other machine's tree is "
		    "in",
		    sysroot);
	machine_root = sysroot;
}

int main(int argc, char **argv)
{
	int operands = opt_parse(argc, argv, opts, usage);
	uint64_t seed = 0;

	if (operands < argc)
		die(EXIT_USAGE,
		    "%s: not an option; every option begins with "
		    "--",
		    argv[operands]);
	if (allowed)
		check_allowed();
	if (seed_text)
		seed = read_seed();
	if (sysroot)
		check_sysroot();
	find_cpus();
	list_pairs();
	if (classes)
		sort_classes();
	if (seed_text)
		shuffle(seed + 1);
	if (nr_cpus == 1)
		tell_only();
	print();
	return EXIT_DONE;
}
