/* SPDX-License-Identifier: MIT */
/* Errors: the program ends. */
#ifndef LIB_MEMORY_H
#define LIB_MEMORY_H

#include <stddef.h>

/*
 * @size bytes of zeroes, page aligned, every page touched by the caller, on
 * pages of their own. Kept until free_all(). Ends the program with EXIT_FAILED
 * if there is no memory.
 */
void *alloc_pages(size_t size);

/* Gives back everything from alloc_pages(). */
void free_all(void);

#endif
