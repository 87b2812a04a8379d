// SPDX-License-Identifier: MIT
/*
 * The places in the sources that touch shared memory: which were reached, which is
 * the end of an edge, which is weakened, and which two nothing orders.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "explore.h"

#define SITES 512

struct prove_site *prove_sites;
static struct prove_site **last_site = &prove_sites;
static unsigned site_count;
static bool unordered[SITES][SITES];

static struct {
	const char *file;
	int line;
	bool half, reached;
} weakened;

static struct end {
	char file[64];
	int line;
	char name[16];
} ends[SITES];
static unsigned end_count;

void prove_weaken(const char *file, int line, bool half)
{
	weakened.file = file;
	weakened.line = line;
	weakened.half = half;
}

void prove_read_edges(const char *path)
{
	char line[256];
	FILE *f = fopen(path, "r");

	if (!f) {
		perror(path);
		exit(1);
	}
	while (end_count < SITES && fgets(line, sizeof(line), f)) {
		struct end *end = &ends[end_count];

		if (sscanf(line, "%63[^:]:%d %*s %15s", end->file, &end->line,
			   end->name) == 3)
			end_count++;
	}
	fclose(f);
}

void prove_reached(struct prove_site *site)
{
	if (site->number)
		return;
	if (++site_count == SITES)
		prove_fault("stopped short: over %d accessors", SITES);
	if (!strncmp(site->file, "./", 2)) /* found by -I. */
		site->file += 2;
	site->number = site_count;
	*last_site = site;
	last_site = &site->next;
	for (unsigned i = 0; i < end_count; i++)
		if (ends[i].line == site->line &&
		    !strcmp(ends[i].file, site->file))
			strcpy(site->end, ends[i].name);
	if (!weakened.file || site->line != weakened.line ||
	    strcmp(site->file, weakened.file) || site->order == PROVE_RELAXED)
		return;
	site->order = weakened.half ? PROVE_ACQ_REL : PROVE_RELAXED;
	site->weak = true;
	weakened.reached = true;
}

bool prove_weakened(void)
{
	return weakened.reached;
}

void prove_found_unordered(const struct prove_site *a,
			   const struct prove_site *b)
{
	if (a->number > b->number)
		prove_found_unordered(b, a);
	else
		unordered[a->number][b->number] = true;
}

void prove_unordered(void (*each)(const struct prove_site *,
				  const struct prove_site *))
{
	for (struct prove_site *a = prove_sites; a; a = a->next)
		for (struct prove_site *b = prove_sites; b; b = b->next)
			if (unordered[a->number][b->number])
				each(a, b);
}
