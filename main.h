/* SPDX-License-Identifier: MIT */
/*
 * The contract between main.c and a ring layout. A layout is one file at the
 * top of the tree; its name is the name of the binary, and RING_NAME here.
 *
 * A *guest* adds buffers and gets them back, a *host* uses them; each is one
 * thread. A *kick* wakes the host, a *call* wakes the guest.
 */
#ifndef MAIN_H
#define MAIN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "harness/config.h"
#include "lib/barrier.h"
#include "lib/memory.h"

/* ---- What a layout implements ---- */

/* What it can do. Read by main.c before anything else, from any thread. */
struct ring_info {
	const char *name;	/* RING_NAME, which is that of the file */
	unsigned min_size, max_size;	/* entries */
	bool power_of_two;		/* no other size will do */
	uint32_t max_len;		/* longest buffer, bytes; 0: the length
					 * does not reach the host */
	bool addresses;			/* the address reaches the host */
	bool notifies;			/* has kick and call: --sleep works */
	bool completes;			/* get_buf reports real completions of
					 * real buffers */
	bool batches;			/* what a side added or used may show
					 * only when it is full, finds nothing,
					 * asks for a notification or gives one;
					 * a host ends with avail_empty */
	const char *param;		/* what --param sets; NULL: nothing */
	unsigned param_divisor;		/* --param is at most ring_size / this */
};
extern const struct ring_info ring_info;

/*
 * Called once per run by the guest's thread, already pinned, before the host
 * looks: takes memory with alloc_pages() and sets every private variable, those
 * of earlier runs included. Free-running counters start at config.origin.
 */
void alloc_ring(void);

/* -- called by the guest's thread -- */

/*
 * Makes the @len bytes (1 to max_len) at @buf available to the host; @data, not
 * NULL, is the guest's own name for them. 0, or -1 when the ring is full: then
 * nothing has changed. Whatever the guest wrote before is visible to the host
 * once use_buf gives it the buffer.
 */
int add_inbuf(unsigned len, void *buf, void *data);

/*
 * Takes back the oldest completion: its @data, with the length used in *lenp
 * and the buffer in *bufp. NULL when there is none. Whatever the host did
 * before it completed the buffer is visible afterwards.
 */
void *get_buf(unsigned *lenp, void **bufp);

/* Calls are not needed for now; one may still come. No ordering. */
void disable_call(void);

/* True: get_buf would find nothing. Promises no ordering. */
bool used_empty(void);

/*
 * Asks for a call at the next completion. True: armed and still empty, so
 * sleeping is safe. False: there is something to get, don't sleep. The request
 * is visible before the ring is looked at.
 */
bool enable_call(void);

/* Kicks the host if it asked for it; what was added is visible before that. */
void kick_available(void);

/* -- called by the host's thread -- */

/* Kicks are not needed for now; one may still come. No ordering. */
void disable_kick(void);

/* True: use_buf would find nothing. Promises no ordering. */
bool avail_empty(void);

/* As enable_call, for a kick at the next buffer that is added. */
bool enable_kick(void);

/*
 * Takes one buffer and completes it, with its length less one as the length
 * used. False when there is none. *lenp and *bufp say what the guest gave, 0
 * and NULL where the layout does not carry it.
 */
bool use_buf(unsigned *lenp, void **bufp);

/* Calls the guest if it asked for it; what was used is visible before that. */
void call_used(void);

/* ---- What main.c provides ---- */

/* Of config (harness/config.h) a layout reads ring_size, param and origin. */

/* Wake the host (guest's thread), the guest (host's thread). Full barriers. */
void kick(void);
void call(void);

#endif
