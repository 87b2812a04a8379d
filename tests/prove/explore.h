/* SPDX-License-Identifier: MIT */
/*
 * Every execution of a few threads under RC11, one after the other. The threads
 * are functions that reach shared memory through accessors.h; the algorithm is at
 * the top of explore.c. One exploration at a time.
 */
#ifndef PROVE_EXPLORE_H
#define PROVE_EXPLORE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum prove_order {
	PROVE_RELAXED,
	PROVE_ACQUIRE,
	PROVE_RELEASE,
	PROVE_ACQ_REL,
	PROVE_SC, /* a fence only */
};

enum prove_kind {
	PROVE_LOAD,
	PROVE_STORE,
	PROVE_EXCHANGE,
	PROVE_ADD,
	PROVE_FENCE,
	PROVE_PLAIN_READ,
	PROVE_PLAIN_WRITE,
};

/* One place in a source that touches shared memory. */
struct prove_site {
	const char *file, *function, *text;
	int line;
	enum prove_kind kind;
	enum prove_order order;
	struct prove_site
		*next;	 /* all that were reached; set when first seen */
	unsigned number; /* from 1, in that order; 0: not reached yet */
	char end[16];	 /* "A.release", where it is one of an edge */
	bool weak;	 /* weakened: see prove_weaken */
};

#define PROVE_THREADS 4

/* What a thread does; named in schedules. */
struct prove_thread {
	const char *name;
	void (*run)(void);
};

struct prove_result {
	uint64_t executions; /* complete */
	uint64_t cut;	     /* said nothing new, or no such execution exists */
	const char *fault;   /* what ended it, or NULL */
};

/* Runs all executions of @n threads, each after @reset. False: a fault. */
bool prove_explore(const struct prove_thread *threads, unsigned n,
		   void (*reset)(void), struct prove_result *result);

/* Prints that execution, step by step, and its fault, to stdout. */
void prove_explain(void (*reset)(void));

/* Executions, cut ones included, after which prove_explore gives up: a fault. */
extern uint64_t prove_limit;

/*
 * Every load may wait at once for what comes later, not only when something has
 * come: the same executions, found without that argument and in 20 times as long.
 */
extern bool prove_eager;

/* Called at the end of each complete execution; may find a fault. Or NULL. */
extern void (*prove_complete)(void);

/* The sites that were reached, in any execution; follow ->next. */
extern struct prove_site *prove_sites;

/*
 * The access at FILE:LINE loses its ordering, before prove_explore; a fence goes
 * or, with @half, is one of acquire and release.
 */
void prove_weaken(const char *file, int line, bool half);

/* Was it reached, in any execution? */
bool prove_weakened(void);

/* Lines of "FILE:LINE FUNCTION END ACCESSOR", as devtools/edges prints. */
void prove_read_edges(const char *path);

/*
 * Pairs of marked accesses, one a store, that some execution leaves unordered.
 * Calls @each once for every pair of sites, in the order of their text.
 */
void prove_unordered(void (*each)(const struct prove_site *,
				  const struct prove_site *));

/* For explore.c: @site is reached, now; two of them are unordered. */
void prove_reached(struct prove_site *site);
void prove_found_unordered(const struct prove_site *a,
			   const struct prove_site *b);

/* ---- Called by threads ---- */

/* @size: 1, 2, 4 or 8 bytes. Values have no sign. */
uint64_t prove_load(struct prove_site *site, const volatile void *p,
		    size_t size);
void prove_store(struct prove_site *site, volatile void *p, size_t size,
		 uint64_t value);
/* Give what was there before. */
uint64_t prove_rmw(struct prove_site *site, volatile void *p, size_t size,
		   uint64_t value);
void prove_fence(struct prove_site *site);

/* Memory that is not marked: to be ordered by others. */
void prove_plain(struct prove_site *site, const volatile void *p, size_t size);

/* A look at memory, since the last store, found nothing; it is looked again. */
void prove_poll_failed(void);

/* Waits until *@counter, which others add to with prove_rmw, is not 0; sets 0. */
void prove_sleep(struct prove_site *site, uint64_t *counter);

/* Until all threads are here: what was done before is seen by all. Once. */
void prove_meet(void);

/* Ends this execution, and the exploration, with a fault. */
void prove_fault(const char *format, ...)
	__attribute__((format(printf, 1, 2), noreturn));

/* Zeroed memory, at the same address in each execution. */
void *prove_alloc(size_t size, size_t align);

#endif
