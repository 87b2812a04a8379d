/* SPDX-License-Identifier: MIT */
/*
 * For devtools/mutants, which compiles with -include of this file and writes
 * weak_ before one accessor at a time: the same access, without its ordering.
 */

/* Leaves a name in the program, and no code, unless the edge is in dead code. */
#define edge_is_live()                                                         \
	__asm__ volatile(".pushsection .edge_is_live\n"                        \
			 ".byte 0\n"                                           \
			 ".popsection")

#define weak_smp_load_acquire(p)                                               \
	({                                                                     \
		edge_is_live();                                                \
		__atomic_load_n((p), __ATOMIC_RELAXED);                        \
	})
#define weak_smp_store_release(p, v)                                           \
	({                                                                     \
		edge_is_live();                                                \
		__atomic_store_n((p), (v), __ATOMIC_RELAXED);                  \
	})
#define weak_smp_add_release(p, v)                                             \
	({                                                                     \
		edge_is_live();                                                \
		__atomic_fetch_add((p), (v), __ATOMIC_RELAXED);                \
	})
#define weak_smp_xchg_acquire(p, v)                                            \
	({                                                                     \
		edge_is_live();                                                \
		__atomic_exchange_n((p), (v), __ATOMIC_RELAXED);               \
	})
#define weak_smp_mb()                                                          \
	({                                                                     \
		edge_is_live();                                                \
		__asm__ volatile("" ::: "memory");                             \
	})
