/* SPDX-License-Identifier: MIT */
/*
 * lib/barrier.h for the explorer: the same names, each a call that says where it
 * stands. Compiled in with -include, so that lib/barrier.h finds itself there
 * already and layouts are taken as they are.
 */
#ifndef LIB_BARRIER_H
#define LIB_BARRIER_H

#define _GNU_SOURCE
#include <sched.h>

#include "lib/cache_line.h"
#include "tests/prove/explore.h"

#define PROVE_SITE(accessor, a_kind, an_order)                                 \
	static struct prove_site site_ = {                                     \
		.file = __FILE__,                                              \
		.function = __func__,                                          \
		.text = accessor,                                              \
		.line = __LINE__,                                              \
		.kind = a_kind,                                                \
		.order = an_order,                                             \
	}

/* An integer or a pointer as 64 bits, and back as the type that *p has. */
#define PROVE_WORD(v)                                                          \
	((uint64_t) __builtin_choose_expr(sizeof(v) > sizeof(uintptr_t), (v),  \
					  (uintptr_t)(v)))
#define PROVE_VALUE(p, word)                                                   \
	((__typeof__(*(p) + 0))__builtin_choose_expr(                          \
		sizeof(*(p)) > sizeof(uintptr_t), (word), (uintptr_t)(word)))

#define PROVE_LOADED(accessor, p, an_order)                                    \
	({                                                                     \
		PROVE_SITE(accessor, PROVE_LOAD, an_order);                    \
		PROVE_VALUE(p, prove_load(&site_, (p), sizeof(*(p))));         \
	})
#define PROVE_STORED(accessor, p, v, an_order)                                 \
	({                                                                     \
		PROVE_SITE(accessor, PROVE_STORE, an_order);                   \
		__typeof__(*(p) + 0) value_ = (v);                             \
		prove_store(&site_, (p), sizeof(*(p)), PROVE_WORD(value_));    \
	})
#define PROVE_CHANGED(accessor, p, v, a_kind, an_order)                        \
	({                                                                     \
		PROVE_SITE(accessor, a_kind, an_order);                        \
		__typeof__(*(p) + 0) value_ = (v);                             \
		PROVE_VALUE(p, prove_rmw(&site_, (p), sizeof(*(p)),            \
					 PROVE_WORD(value_)));                 \
	})

#define READ_ONCE(x) PROVE_LOADED("READ_ONCE(" #x ")", &(x), PROVE_RELAXED)
#define WRITE_ONCE(x, val)                                                     \
	PROVE_STORED("WRITE_ONCE(" #x ")", &(x), val, PROVE_RELAXED)
#define smp_load_acquire(p)                                                    \
	PROVE_LOADED("smp_load_acquire(" #p ")", p, PROVE_ACQUIRE)
#define smp_store_release(p, v)                                                \
	PROVE_STORED("smp_store_release(" #p ")", p, v, PROVE_RELEASE)
#define smp_add_release(p, v)                                                  \
	PROVE_CHANGED("smp_add_release(" #p ")", p, v, PROVE_ADD, PROVE_RELEASE)
#define smp_xchg_acquire(p, v)                                                 \
	PROVE_CHANGED("smp_xchg_acquire(" #p ")", p, v, PROVE_EXCHANGE,        \
		      PROVE_ACQUIRE)
#define smp_mb()                                                               \
	({                                                                     \
		PROVE_SITE("smp_mb()", PROVE_FENCE, PROVE_SC);                 \
		prove_fence(&site_);                                           \
	})

/* Of memory that is not marked: what @p points to is read, or written next. */
#define prove_plain_read(p)                                                    \
	({                                                                     \
		PROVE_SITE(#p, PROVE_PLAIN_READ, PROVE_RELAXED);               \
		prove_plain(&site_, (p), sizeof(*(p)));                        \
		*(p);                                                          \
	})
#define prove_plain_write(p, v)                                                \
	({                                                                     \
		PROVE_SITE(#p, PROVE_PLAIN_WRITE, PROVE_RELAXED);              \
		prove_plain(&site_, (p), sizeof(*(p)));                        \
		*(p) = (v);                                                    \
	})

/* Hints are no accesses. A loop says cpu_relax() where it found nothing. */
#define prefetch(p) ((void)(p))
#define prefetch_for_write(p) ((void)(p))
#define cpu_relax() prove_poll_failed()
#define sched_yield() prove_poll_failed()

#endif
