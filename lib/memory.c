// SPDX-License-Identifier: MIT
#define _GNU_SOURCE
#include <errno.h>
#include <string.h>
#include <sys/mman.h>

#include "memory.h"
#include "program.h"

static struct area {
	void *start;
	size_t size;
} areas[16];
static unsigned nr_areas;

void *alloc_pages(size_t size)
{
	void *p;

	if (nr_areas == sizeof(areas) / sizeof(areas[0]))
		die(EXIT_FAILED, "alloc_pages: more than %u areas", nr_areas);
	p = mmap(NULL, size, PROT_READ | PROT_WRITE,
		 MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (p == MAP_FAILED)
		die(EXIT_FAILED, "no memory for %zu bytes: %s", size,
		    reason(errno));
	memset(p, 0, size);
	areas[nr_areas++] = (struct area){ p, size };
	return p;
}

void free_all(void)
{
	while (nr_areas) {
		nr_areas--;
		munmap(areas[nr_areas].start, areas[nr_areas].size);
	}
}
