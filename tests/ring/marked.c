// SPDX-License-Identifier: MIT
/*
 * Does a layout touch what guest and host share through lib/barrier.h
 * only? The layout is compiled with -fsanitize=thread, so that the compiler
 * calls a function at each plain access and at each marked one; here are those
 * functions. A byte that both sides touched, and one of them wrote, must never
 * have been touched by a plain access. One thread takes the part of both.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "main.h"
#include "tests/ring/watch.h"

struct config config = { .exit = true, .poll_first = true, .batch = 1 };

void kick(void)
{
}

void call(void)
{
}

void host_works(void *buf)
{
	(void)buf;
}

/* ---- Who touched what ---- */

enum side { GUEST, HOST, NEITHER };
static enum side side = NEITHER;
struct touch {
	const char *in;
	uintptr_t pc;
	bool write;
};

static struct byte {
	uintptr_t addr;		  /* 0: free */
	bool touched[2], written; /* by a side; by either */
	struct touch plain[2];	  /* the first of each side; pc 0: none */
} * bytes;
#define NR_BYTES (1u << 18) /* far more than the rings below have */
static unsigned nr_used;

static bool compiled_for_it; /* there is something that calls us */
static const char *stack_end;

static struct byte *byte_at(uintptr_t addr)
{
	unsigned i = addr * 0x9e3779b97f4a7c15 >> 32;

	while (bytes[i % NR_BYTES].addr != addr) {
		if (!bytes[i % NR_BYTES].addr) {
			if (++nr_used > NR_BYTES / 2)
				abort();
			bytes[i % NR_BYTES].addr = addr;
			break;
		}
		i++;
	}
	return &bytes[i % NR_BYTES];
}

static void touch(const void *p, size_t size, bool write, uintptr_t plain_pc)
{
	const char *here = __builtin_frame_address(0);

	/* both sides are on one stack, which is nobody's memory */
	if (side == NEITHER ||
	    ((const char *)p >= here && (const char *)p < stack_end))
		return;
	for (size_t i = 0; i < size; i++) {
		struct byte *b = byte_at((uintptr_t)p + i);

		b->touched[side] = true;
		b->written |= write;
		if (plain_pc && !b->plain[side].pc)
			b->plain[side] =
				(struct touch){ calling, plain_pc, write };
	}
}

/* ---- What the compiler calls ---- */

#define CALLER ((uintptr_t)__builtin_return_address(0) - 1)

#define PLAIN(name, size, write)                                               \
	void name(void *p);                                                    \
	void name(void *p)                                                     \
	{                                                                      \
		touch(p, size, write, CALLER);                                 \
	}
#define PLAIN_SIZE(size)                                                       \
	PLAIN(__tsan_read##size, size, false)                                  \
	PLAIN(__tsan_write##size, size, true)                                  \
	PLAIN(__tsan_unaligned_read##size, size, false)                        \
	PLAIN(__tsan_unaligned_write##size, size, true)
PLAIN_SIZE(1)
PLAIN_SIZE(2)
PLAIN_SIZE(4)
PLAIN_SIZE(8)
PLAIN_SIZE(16)

#define RANGE(name, write)                                                     \
	void name(void *p, size_t size);                                       \
	void name(void *p, size_t size)                                        \
	{                                                                      \
		touch(p, size, write, CALLER);                                 \
	}
RANGE(__tsan_read_range, false)
RANGE(__tsan_write_range, true)

void *__tsan_memcpy(void *to, const void *from, size_t size);
void *__tsan_memcpy(void *to, const void *from, size_t size)
{
	touch(from, size, false, CALLER);
	touch(to, size, true, CALLER);
	return memcpy(to, from, size);
}

void *__tsan_memset(void *to, int c, size_t size);
void *__tsan_memset(void *to, int c, size_t size)
{
	touch(to, size, true, CALLER);
	return memset(to, c, size);
}

/* Marked accesses: what they order is for others to look at. */
#define MARKED(bits)                                                           \
	uint##bits##_t __tsan_atomic##bits##_load(void *p, int order);         \
	uint##bits##_t __tsan_atomic##bits##_load(void *p, int order)          \
	{                                                                      \
		(void)order;                                                   \
		touch(p, bits / 8, false, 0);                                  \
		return *(uint##bits##_t *)p;                                   \
	}                                                                      \
	void __tsan_atomic##bits##_store(void *p, uint##bits##_t v,            \
					 int order);                           \
	void __tsan_atomic##bits##_store(void *p, uint##bits##_t v, int order) \
	{                                                                      \
		(void)order;                                                   \
		touch(p, bits / 8, true, 0);                                   \
		*(uint##bits##_t *)p = v;                                      \
	}                                                                      \
	uint##bits##_t __tsan_atomic##bits##_exchange(                         \
		void *p, uint##bits##_t v, int order);                         \
	uint##bits##_t __tsan_atomic##bits##_exchange(                         \
		void *p, uint##bits##_t v, int order)                          \
	{                                                                      \
		uint##bits##_t was = __tsan_atomic##bits##_load(p, order);     \
                                                                               \
		__tsan_atomic##bits##_store(p, v, order);                      \
		return was;                                                    \
	}                                                                      \
	uint##bits##_t __tsan_atomic##bits##_fetch_add(                        \
		void *p, uint##bits##_t v, int order);                         \
	uint##bits##_t __tsan_atomic##bits##_fetch_add(                        \
		void *p, uint##bits##_t v, int order)                          \
	{                                                                      \
		uint##bits##_t was = __tsan_atomic##bits##_load(p, order);     \
                                                                               \
		__tsan_atomic##bits##_store(p, was + v, order);                \
		return was;                                                    \
	}
MARKED(8)
MARKED(16)
MARKED(32)
MARKED(64)

void __tsan_atomic_thread_fence(int order);
void __tsan_atomic_thread_fence(int order)
{
	(void)order;
}

void __tsan_func_entry(void *pc);
void __tsan_func_entry(void *pc)
{
	(void)pc;
}

void __tsan_func_exit(void);
void __tsan_func_exit(void)
{
}

void __tsan_init(void);
void __tsan_init(void)
{
	compiled_for_it = true;
}

/* ---- Both sides ---- */

#define as(who, what, ...)                                                     \
	({                                                                     \
		side = (who);                                                  \
		__auto_type result_ = CALL(what, ##__VA_ARGS__);               \
		side = NEITHER;                                                \
		result_;                                                       \
	})
#define as_void(who, what)                                                     \
	do {                                                                   \
		side = (who);                                                  \
		CALL(what);                                                    \
		side = NEITHER;                                                \
	} while (0)

static char *space; /* buffers have addresses, and no memory */

static void guest_part(unsigned n, uint64_t *added)
{
	unsigned len;
	void *buf;

	while (n--) {
		char *p = space + *added % 4096 * 16;

		if (as(GUEST, add_inbuf, 1 + *added % 1000, p, p + 1))
			break;
		++*added;
	}
	if (ring_info.notifies)
		as_void(GUEST, kick_available);
	while (as(GUEST, get_buf, &len, &buf))
		;
	as(GUEST, used_empty);
	if (!ring_info.notifies)
		return;
	as(GUEST, enable_call);
	as_void(GUEST, disable_call);
}

static void host_part(unsigned n)
{
	unsigned len;
	void *buf;

	do
		buf = NULL;
	while (n-- && as(HOST, use_buf, &len, &buf));
	as(HOST, avail_empty);
	if (!ring_info.notifies)
		return;
	as_void(HOST, call_used);
	as(HOST, enable_kick);
	as_void(HOST, disable_kick);
}

/* Some bursts fill the ring, some empty it; some do neither. */
static void run(unsigned size)
{
	uint64_t added = 0;

	free_all();
	memset(bytes, 0, NR_BYTES * sizeof(*bytes));
	nr_used = 0;
	config.ring_size = size;
	alloc_ring();
	for (unsigned i = 0; i < 200; i++) {
		guest_part(1 + i * 7 % (size + 1), &added);
		host_part(1 + i * 5 % (size + 1));
	}
}

/* ---- What is said ---- */

static bool tell(const struct touch *plain, enum side who)
{
	static uintptr_t told[16];
	extern char __executable_start;
	char command[4200], self[4096], line[4096] = "";
	ssize_t len = readlink("/proc/self/exe", self, sizeof(self) - 1);
	FILE *f;

	for (unsigned i = 0; i < 16; i++) {
		if (told[i] == plain->pc || i == 15)
			return false;
		if (!told[i]) {
			told[i] = plain->pc;
			break;
		}
	}
	self[len < 0 ? 0 : len] = 0;
	snprintf(command, sizeof(command),
		 "addr2line -e '%s' 0x%" PRIxPTR " 2>/dev/null", self,
		 plain->pc - (uintptr_t)&__executable_start);
	f = strchr(self, '\'') ? NULL : popen(command, "r");
	if (!f || !fgets(line, sizeof(line), f) || *line == '?')
		strcpy(line, "(install binutils to see the line)");
	line[strcspn(line, "\n")] = 0;
	if (f)
		pclose(f);
	note("%s, the %s's, %s memory that the %s touches too, without "
	     "lib/barrier.h: %s",
	     plain->in, who == GUEST ? "guest" : "host",
	     plain->write ? "writes" : "reads", who == GUEST ? "host" : "guest",
	     line);
	return true;
}

static bool faults(void)
{
	bool found = false;

	for (struct byte *b = bytes; b < bytes + NR_BYTES; b++) {
		if (!b->touched[GUEST] || !b->touched[HOST] || !b->written)
			continue;
		for (enum side who = GUEST; who <= HOST; who++)
			if (b->plain[who].pc)
				found |= tell(&b->plain[who], who);
	}
	return found;
}

int main(void)
{
	static const unsigned sizes[] = { 1, 2, 4, 5, 64, 0 };
	const char *name = program_invocation_short_name;

	stack_end = (const char *)__builtin_frame_address(0) + 4096;
	if (!ring_info.addresses) {
		skip(name, "it holds no buffers");
		return finish();
	}
	if (!compiled_for_it) {
		skip(name, "this compiler cannot show each access");
		return finish();
	}
	bytes = calloc(NR_BYTES, sizeof(*bytes));
	space = mmap(NULL, 1 << 17, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1,
		     0);
	if (!bytes || space == MAP_FAILED)
		return 1;
	start_watch();
	for (const unsigned *size = sizes; *size; size++) {
		if (*size < ring_info.min_size ||
		    (ring_info.power_of_two && (*size & (*size - 1))))
			continue;
		run(*size);
		check(!faults(), "size %u", *size);
	}
	free_all();
	report("%s: what both sides touch, by marked accesses only", name);
	return finish();
}
