// SPDX-License-Identifier: MIT
/*
 * Reading a payload touches each end of it and nothing beyond: a buffer that ends
 * where memory does is read whole, and one that begins or ends a byte beyond is a
 * fault. So it is not optimized away either.
 */
#define _GNU_SOURCE
#include <setjmp.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

#include "harness/payload.h"
#include "tests/check.h"

struct config config;
struct payload payload;

static sigjmp_buf back;

static void on_fault(int sig)
{
	(void)sig;
	siglongjmp(back, 1);
}

/* Its arguments are read before there is a way back to it. */
static bool faults(const char *p, uint32_t n)
{
	static const char *from;
	static uint32_t bytes;

	from = p;
	bytes = n;
	if (sigsetjmp(back, 1))
		return true;
	payload_read(from, bytes);
	return false;
}

int main(void)
{
	static const uint32_t sizes[] = { 1,  2,  7,   8,   9,	 63,   64,
					  65, 71, 127, 128, 129, 1500, 4096 };
	const size_t page = sysconf(_SC_PAGESIZE);
	char *start = mmap(NULL, 4 * page, PROT_NONE,
			   MAP_PRIVATE | MAP_ANONYMOUS, -1, 0),
	     *end;

	if (start == MAP_FAILED)
		abort();
	start += page;
	end = start + 2 * page;
	if (mprotect(start, 2 * page, PROT_READ | PROT_WRITE))
		abort();
	/* a sanitizer's own handler, if there is one, gives way */
	signal(SIGSEGV, on_fault);
	signal(SIGBUS, on_fault);
	for (unsigned i = 0; i < sizeof(sizes) / sizeof(*sizes); i++) {
		const uint32_t n = sizes[i];

		check(!faults(end - n, n), "%u bytes: reads beyond the end", n);
		check(!faults(start, n), "%u bytes: reads before the start", n);
		check(faults(end - n + 1, n), "%u bytes: not the last one", n);
		check(faults(start - 1, n), "%u bytes: not the first one", n);
	}
	check(!faults(end, 0), "reads something of 0 bytes");
	report("a payload is read from its first byte to its last");
	return finish();
}
