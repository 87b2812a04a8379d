// SPDX-License-Identifier: MIT
/*
 * The explorer against what RC11 allows: litmus tests, most of them known by
 * these names in the literature, with their threads in each order. The outcomes
 * are by hand, from the axioms: coherence, atomicity, no circle in psc, and none
 * of program order and reads-from.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tests/check.h"
#include "tests/prove/explore.h"

/*
 * A thread is words: an access, a location, a value, and an order (a, r, or b for
 * both; none is relaxed). What its R, X and A read is the outcome, a digit each,
 * in the order in which the threads are written.
 *
 *	R load		W store		X exchange	A add
 *	F fence: Fa, Fr, Fb, or Fs, sequentially consistent
 *	P plain load	Q plain store
 *
 * Outcomes are sorted; "race" is a data race.
 */
static const struct litmus {
	const char *name, *thread[PROVE_THREADS], *outcomes;
} tests[] = {
	{ "SB", { "Wx1 Ry", "Wy1 Rx" }, "00 01 10 11" },
	{ "SB, release and acquire",
	  { "Wx1r Rya", "Wy1r Rxa" },
	  "00 01 10 11" },
	{ "SB, fences", { "Wx1 Fs Ry", "Wy1 Fs Rx" }, "01 10 11" },
	{ "SB, one fence", { "Wx1 Fs Ry", "Wy1 Rx" }, "00 01 10 11" },
	{ "SB, weak fences", { "Wx1 Fb Ry", "Wy1 Fb Rx" }, "00 01 10 11" },
	{ "SB, read-modify-writes",
	  { "Xx1b Ry", "Xy1b Rx" },
	  "0000 0001 0100 0101" },
	{ "MP, relaxed", { "Wx1 Wy1", "Ry Rx" }, "00 01 10 11" },
	{ "MP, release", { "Wx1 Wy1r", "Ry Rx" }, "00 01 10 11" },
	{ "MP, acquire", { "Wx1 Wy1", "Rya Rx" }, "00 01 10 11" },
	{ "MP, release and acquire", { "Wx1 Wy1r", "Rya Rx" }, "00 01 11" },
	{ "MP, fence and acquire", { "Wx1 Fr Wy1", "Rya Rx" }, "00 01 11" },
	{ "MP, release and fence", { "Wx1 Wy1r", "Ry Fa Rx" }, "00 01 11" },
	{ "MP, fences", { "Wx1 Fr Wy1", "Ry Fa Rx" }, "00 01 11" },
	{ "MP, fences the wrong way",
	  { "Wx1 Fa Wy1", "Ry Fr Rx" },
	  "00 01 10 11" },
	{ "MP, full fences", { "Wx1 Fs Wy1", "Ry Fs Rx" }, "00 01 11" },
	{ "MP, plain", { "Qx1 Wy1r", "Rya Px" }, "race" },
	{ "MP, plain after it is known", { "Qx1 Wy1r", "Rya ?1 Px" }, "0 11" },
	{ "MP, plain, relaxed store", { "Qx1 Wy1", "Rya ?1 Px" }, "race" },
	{ "MP, plain, relaxed load", { "Qx1 Wy1r", "Ry ?1 Px" }, "race" },
	{ "a plain buffer used again",
	  { "Qx1 Wy1r Rza ?1 Qx2", "Rya ?1 Px Wz1r" },
	  "00 011 111" },
	{ "a plain buffer used again too early",
	  { "Qx1 Wy1r Rz ?1 Qx2", "Rya ?1 Px Wz1r" },
	  "race" },
	{ "LB", { "Rx Wy1", "Ry Wx1" }, "00 01 10" },
	{ "LB, acquire", { "Rxa Wy1r", "Rya Wx1r" }, "00 01 10" },
	{ "CoRR", { "Wx1", "Rx Rx" }, "00 01 11" },
	{ "CoRR, two stores", { "Wx1 Wx2", "Rx Rx" }, "00 01 02 11 12 22" },
	{ "CoRR, two writers",
	  { "Wx1", "Wx2", "Rx Rx" },
	  "00 01 02 11 12 21 22" },
	{ "CoWR", { "Wx1 Rx", "Wx2" }, "1 2" },
	{ "CoRW", { "Rx Wx1 Rx", "Wx2" }, "01 02 21" },
	{ "CoRW2", { "Rx Wx1", "Wx2 Rx" }, "01 02 21 22" },
	{ "S", { "Wx2 Wy1", "Ry Wx1 Rx" }, "01 02 11 12" },
	{ "S, release and acquire", { "Wx2 Wy1r", "Rya Wx1 Rx" }, "01 02 11" },
	{ "R", { "Wx1 Wy1 Ry", "Wy2 Rx" }, "10 11 20 21" },
	{ "R, fences", { "Wx1 Fs Wy1 Ry", "Wy2 Fs Rx" }, "10 11 21" },
	{ "R, weak fences", { "Wx1 Fb Wy1 Ry", "Wy2 Fb Rx" }, "10 11 20 21" },
	{ "R, one fence", { "Wx1 Fs Wy1 Ry", "Wy2 Rx" }, "10 11 20 21" },
	{ "2+2W", { "Wx1 Wy2 Ry", "Wy1 Wx2 Rx" }, "11 12 21 22" },
	{ "2+2W, fences", { "Wx1 Fs Wy2 Ry", "Wy1 Fs Wx2 Rx" }, "12 21 22" },
	{ "two adds", { "Ax1", "Ax1" }, "01 10" },
	{ "three adds", { "Ax1", "Ax1", "Ax1" }, "012 021 102 120 201 210" },
	{ "two exchanges", { "Xx1 Rx", "Xx2 Rx" }, "0112 0212 2101 2102" },
	{ "an add and a store", { "Ax1 Rx", "Wx5" }, "01 05 56" },
	{ "MP, a chain of adds",
	  { "Wx1 Ay1r", "Ay1", "Rya ?2 Rx" },
	  "010 011 0121 100 101 1021" },
	{ "MP, an add in between, no release",
	  { "Wx1 Wy1", "Ay2r", "Rya ?3 Rx" },
	  "00 01 02 10 11 130 131" },
	{ "a release sequence, continued by an add",
	  { "Wx1 Wy1r", "Ay2", "Rya ?3 Rx" },
	  "00 01 02 10 11 131" },
	{ "a release sequence, ended by its own thread's store",
	  { "Wx1 Wy1r Wy2", "Rya ?2 Rx" },
	  "0 1 20 21" },
	{ "a lock of an exchange",
	  { "Xz1a !0 Px Qx1 Wz0r", "Xz1a !0 Px Qx1 Wz0r" },
	  "0001 001 0100 100" },
	{ "WRC, relaxed",
	  { "Wx1", "Rx Wy1", "Ry Rx" },
	  "000 001 010 011 100 101 110 111" },
	{ "WRC",
	  { "Wx1", "Rxa Wy1r", "Rya Rx" },
	  "000 001 010 011 100 101 111" },
	{ "ISA2",
	  { "Wx1 Wy1r", "Rya Wz1r", "Rza Rx" },
	  "000 001 010 011 100 101 111" },
	{ "ISA2, relaxed in the middle",
	  { "Wx1 Wy1r", "Ry Wz1r", "Rza Rx" },
	  "000 001 010 011 100 101 110 111" },
	{ "RWC",
	  { "Wx1", "Rxa Ry", "Wy1 Rx" },
	  "000 001 010 011 100 101 110 111" },
	{ "RWC, fences",
	  { "Wx1", "Rx Fs Ry", "Wy1 Fs Rx" },
	  "000 001 010 011 101 110 111" },
	{ "RWC, a fence in the writer alone",
	  { "Wx1", "Rxa Ry", "Wy1 Fs Rx" },
	  "000 001 010 011 100 101 110 111" },
	{ "IRIW",
	  { "Wx1r", "Wy1r", "Rxa Ry", "Rya Rx" },
	  "0000 0001 0010 0011 0100 0101 0110 0111 "
	  "1000 1001 1010 1011 1100 1101 1110 1111" },
	{ "IRIW, fences",
	  { "Wx1", "Wy1", "Rx Fs Ry", "Ry Fs Rx" },
	  "0000 0001 0010 0011 0100 0101 0110 0111 "
	  "1000 1001 1011 1100 1101 1110 1111" },
	{ "3.SB",
	  { "Wx1 Ry", "Wy1 Rz", "Wz1 Rx" },
	  "000 001 010 011 100 101 110 111" },
	{ "3.SB, fences",
	  { "Wx1 Fs Ry", "Wy1 Fs Rz", "Wz1 Fs Rx" },
	  "001 010 011 100 101 110 111" },
};

static const struct litmus *test;
static unsigned order[PROVE_THREADS], ran, thread_count;
static uint64_t memory[3];
static char outcome[PROVE_THREADS][16];
static char found[4096];

/* One for each word of each thread: where an access stands in the source. */
static struct prove_site sites[PROVE_THREADS][16];

static enum prove_order order_of(char c)
{
	switch (c) {
	case 'a':
		return PROVE_ACQUIRE;
	case 'r':
		return PROVE_RELEASE;
	case 'b':
		return PROVE_ACQ_REL;
	case 's':
		return PROVE_SC;
	}
	return PROVE_RELAXED;
}

static struct prove_site *site(unsigned thread, unsigned at, const char *word)
{
	static const char names[] = "RWXAFPQ";
	static const enum prove_kind kinds[] = {
		PROVE_LOAD,  PROVE_STORE,      PROVE_EXCHANGE,	  PROVE_ADD,
		PROVE_FENCE, PROVE_PLAIN_READ, PROVE_PLAIN_WRITE,
	};
	struct prove_site *site = &sites[thread][at];

	site->file = "litmus.c";
	site->function = test->name;
	site->text = word;
	site->line = at;
	site->kind = kinds[strchr(names, *word) - names];
	site->order = order_of(word[strcspn(word, " ") - 1]);
	return site;
}

/* False: the thread ends here. */
static bool word(unsigned thread, unsigned at, const char *word, char **end)
{
	struct prove_site *s;
	uint64_t *p = &memory[(unsigned)(word[1] - 'x') % 3], value = 0;

	if (*word == '?' || *word == '!') /* goes on if it read this */
		return (*end)[-1] == word[1];
	s = site(thread, at, word);
	if (word[1] >= 'x' && word[2] > '0' && word[2] <= '9')
		value = word[2] - '0';
	switch (s->kind) {
	case PROVE_LOAD:
		value = prove_load(s, p, sizeof(*p));
		break;
	case PROVE_STORE:
		prove_store(s, p, sizeof(*p), value);
		return true;
	case PROVE_EXCHANGE:
	case PROVE_ADD:
		value = prove_rmw(s, p, sizeof(*p), value);
		break;
	case PROVE_FENCE:
		prove_fence(s);
		return true;
	case PROVE_PLAIN_READ:
		prove_plain(s, p, sizeof(*p));
		value = *p;
		break;
	case PROVE_PLAIN_WRITE:
		prove_plain(s, p, sizeof(*p));
		*p = value;
		return true;
	}
	*(*end)++ = '0' + value;
	return true;
}

static void run(void)
{
	const unsigned thread = order[ran++];
	const char *text = test->thread[thread];
	char *end = outcome[thread];

	prove_meet();
	for (unsigned at = 0; *text; at++) {
		if (!word(thread, at, text, &end))
			break;
		text += strcspn(text, " ");
		text += strspn(text, " ");
	}
}

static void reset(void)
{
	ran = 0;
	memset(memory, 0, sizeof(memory));
	memset(outcome, 0, sizeof(outcome));
}

static void complete(void)
{
	char all[64];

	snprintf(all, sizeof(all), "%s%s%s%s", outcome[0], outcome[1],
		 outcome[2], outcome[3]);
	for (const char *p = found; (p = strstr(p, all)); p++)
		if ((p == found || p[-1] == ' ') && strchr(" ", p[strlen(all)]))
			return;
	if (*found)
		strcat(found, " ");
	strcat(found, all);
}

static int by_text(const void *a, const void *b)
{
	return strcmp(*(char *const *)a, *(char *const *)b);
}

static const char *sorted(char *text)
{
	static char line[4096];
	char *words[256] = { NULL };
	unsigned n = 0;

	for (char *w = strtok(text, " "); w; w = strtok(NULL, " "))
		words[n++] = w;
	qsort(words, n, sizeof(*words), by_text);
	*line = 0;
	for (unsigned i = 0; i < n; i++)
		strcat(strcat(line, i ? " " : ""), words[i]);
	return line;
}

static void try_order(void)
{
	static const struct prove_thread threads[PROVE_THREADS] = {
		{ "1", run }, { "2", run }, { "3", run }, { "4", run }
	};
	struct prove_result result;

	*found = 0;
	if (!prove_explore(threads, thread_count, reset, &result))
		strcpy(found, strncmp(result.fault, "data race", 9) ?
				      result.fault :
				      "race");
	const char *line = sorted(found);

	check(!strcmp(line, test->outcomes), "first %u, then %u: %s, not %s",
	      order[0], order[1], line, test->outcomes);
}

/* Every order of the threads from @from on. */
static void try_orders(unsigned from)
{
	if (from == thread_count)
		try_order();
	for (unsigned i = from; i < thread_count && i < PROVE_THREADS; i++) {
		unsigned other = order[i];

		order[i] = order[from];
		order[from] = other;
		try_orders(from + 1);
		order[from] = order[i];
		order[i] = other;
	}
}

int main(void)
{
	prove_complete = complete;
	for (test = tests; test < tests + sizeof(tests) / sizeof(*tests);
	     test++) {
		thread_count = 2;
		while (thread_count < PROVE_THREADS &&
		       test->thread[thread_count])
			thread_count++;
		for (unsigned i = 0; i < thread_count; i++)
			order[i] = i;
		try_orders(0);
		report("litmus: %s", test->name);
	}
	return finish();
}
