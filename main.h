/* SPDX-License-Identifier: MIT */
/*
 * The contract between main.c and a ring layout. A layout is one file at the
 * top of the tree; the file's name is the binary's and, as RING_NAME, the
 * layout's.
 *
 * The *guest* adds buffers and gets them back, the *host* uses them; each is
 * one thread. A *kick* wakes the host, a *call* wakes the guest.
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

/* What it can do. Constant; read by any thread, before alloc_ring() too. */
struct ring_info {
	const char *name;	     /* RING_NAME, the file's */
	unsigned min_size, max_size; /* entries */
	bool power_of_two;	     /* takes no other size */
	uint32_t max_len; /* bytes in a buffer; 0: no length reaches the host */
	bool addresses;	  /* a buffer's address reaches the host */
	bool notifies;	  /* kicks and calls: --sleep works */
	bool completes;	  /* get_buf reports real completions of real buffers */
	/*
	 * A side may hide what it added or used until it finds the ring full
	 * or empty, or asks for a notification or sends one; the host calls
	 * avail_empty once more at its end.
	 */
	bool batches;
	/*
	 * Not every buffer comes back with the length used: where it has none,
	 * all of it counts as used.
	 */
	bool whole;
	/*
	 * A request to be notified is a flag: it stands until it is taken back,
	 * and each look at it notifies if there is something new.
	 */
	bool flags;
	const char *param;	/* what --param sets; NULL: nothing */
	unsigned param_divisor; /* max --param is ring_size / this */
};
extern const struct ring_info ring_info;

/* Of a buffer of @len bytes: may get_buf say that @used of them were used? */
static inline bool right_len(unsigned used, unsigned len)
{
	return !ring_info.max_len || used == len - 1 ||
	       (ring_info.whole && used == len);
}

/*
 * Called once per run by the guest's thread, once it is pinned and before the
 * host looks. Takes memory with alloc_pages() and sets every private variable,
 * because an earlier run may have changed it. Free-running counters start at
 * config.origin.
 */
void alloc_ring(void);

/* -- called by the guest's thread -- */

/*
 * Makes the @len bytes (1 to max_len) at @buf available to the host; @data, not
 * NULL, is the guest's own name for them. Returns 0, or -1 if the ring is full,
 * in which case nothing has changed. Whatever the guest wrote before is visible
 * to the host once use_buf gives it the buffer.
 */
int add_inbuf(unsigned len, void *buf, void *data);

/*
 * Takes back the oldest completed buffer. Returns its @data, with the length
 * used in *lenp and the buffer in *bufp, or NULL if there is none. Whatever the
 * host did before it completed the buffer is visible afterwards.
 */
void *get_buf(unsigned *lenp, void **bufp);

/* The guest needs no call for now; one may still come. No ordering. */
void disable_call(void);

/* True: get_buf would find nothing. No ordering. */
bool used_empty(void);

/*
 * Asks for one call, at the next completion, and looks at the ring only once
 * the host can see the request. True: armed and still empty, so sleeping is
 * safe. False: there is something to get, so don't sleep. What completes after
 * that one makes no call until it is asked for again, so a flag that stays set
 * will not do: ask with an index (need_event() in virtio/event.h), or say so in
 * ring_info.flags.
 */
bool enable_call(void);

/*
 * Kicks the host if the buffer for which it asked for a kick was added since
 * the last kick_available. What was added is visible first.
 */
void kick_available(void);

/* -- called by the host's thread -- */

/* The host needs no kick for now; one may still come. No ordering. */
void disable_kick(void);

/* True: use_buf would find nothing. No ordering. */
bool avail_empty(void);

/* As enable_call: asks for one kick, at the next buffer added. */
bool enable_kick(void);

/*
 * Takes one buffer and completes it, with its length less one as the length
 * used (all of it, where ring_info.whole says so). False if there is none. *lenp
 * and *bufp are what the guest gave, 0 and NULL where the layout does not carry
 * them. It sets *bufp with give_host(): *bufp says beforehand whether the host is
 * to work on the buffer.
 */
bool use_buf(unsigned *lenp, void **bufp);

/* As kick_available, for what was used since the last call_used. */
void call_used(void);

/* ---- What main.c provides ---- */

/* A layout reads ring_size, param and origin of config (harness/config.h). */

/* Full barriers, both. */
void kick(void); /* the guest's thread wakes the host */
void call(void); /* the host's thread wakes the guest */

/* The host's thread, which works on the buffer @buf before it is complete. */
void host_works(void *buf);

/*
 * In use_buf, behind the acquire by which the host has the buffer, and before the
 * release that completes it: *bufp becomes @buf, on which the host works first if
 * *bufp was not NULL. Where it was a constant NULL, that costs nothing.
 */
static inline void give_host(void **bufp, void *buf)
{
	if (*bufp)
		host_works(buf);
	*bufp = buf;
}

#endif
