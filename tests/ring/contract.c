// SPDX-License-Identifier: MIT
/*
 * A layout by itself, through the contract of main.h alone, in one thread: it
 * is linked with this file in place of main.o.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "lib/random.h"
#include "main.h"
#include "tests/ring/hostile.h"
#include "tests/ring/watch.h"

struct config config = { .exit = true, .poll_first = true, .batch = 1 };

static unsigned kicks, calls;

void kick(void)
{
	kicks++;
}

void call(void)
{
	calls++;
}

/* ---- What is expected ---- */

/* Buffers have addresses of their own; nobody looks inside. */
#define SPAN ((size_t)1 << 26)
static char *space;

/* All 64-bit: the model must not wrap with what it checks. */
static uint64_t added, used, got;

#define wrong(fmt, ...)                                                        \
	check(false,                                                           \
	      "size %u, counters from %u, after %" PRIu64 " added, %" PRIu64   \
	      " used, %" PRIu64 " got back: " fmt,                             \
	      config.ring_size, config.origin, added, used, got,               \
	      ##__VA_ARGS__)

static void *buf_of(uint64_t seq)
{
	return space + (seq * 64) % SPAN;
}

static void *data_of(uint64_t seq)
{
	return space + (seq * 64) % SPAN + 1;
}

static unsigned len_of(uint64_t seq)
{
	return 1 + seq % 1009;
}

static bool add(void)
{
	if (CALL(add_inbuf, len_of(added), buf_of(added), data_of(added)))
		return false;
	added++;
	if (added - used <= config.ring_size)
		return true;
	wrong("more than the ring holds");
	return false;
}

/* Every other buffer is worked on, once, before the guest can have it back. */
static bool works;
static unsigned worked;

void host_works(void *buf)
{
	worked++;
	if (buf != (ring_info.addresses ? buf_of(used) : NULL))
		wrong("give_host lets the host work on another buffer");
	if (ring_info.completes && got == used && !CALL(used_empty))
		wrong("the host works on a buffer that is complete");
}

static bool use(void)
{
	unsigned len;
	void *buf = works ? &works : NULL;

	worked = 0;
	works = !works;

	if (ring_info.batches)
		CALL(used_empty); /* what the guest held back is due now */
	if (CALL(avail_empty) != (used == added))
		wrong("avail_empty says %d, not %d", avail_empty(),
		      used == added);
	if (!CALL(use_buf, &len, &buf)) {
		if (used != added)
			wrong("use_buf finds nothing");
		if (worked)
			wrong("use_buf lets the host work on nothing");
		return false;
	}
	if (used == added) {
		wrong("use_buf finds a buffer that was not added");
		return false;
	}
	if (buf != buf_of(used))
		wrong("use_buf gives another buffer");
	if (worked == works)
		wrong("use_buf lets the host work on it %u times", worked);
	if (ring_info.max_len && len != len_of(used))
		wrong("use_buf gives length %u, not %u", len, len_of(used));
	used++;
	return true;
}

static bool get(void)
{
	unsigned len;
	void *buf, *data;

	if (ring_info.batches)
		CALL(avail_empty);
	if (ring_info.completes && CALL(used_empty) != (got == used))
		wrong("used_empty says %d, not %d", used_empty(), got == used);
	data = CALL(get_buf, &len, &buf);
	if (!data) {
		if (ring_info.completes && got != used)
			wrong("get_buf finds nothing");
		return false;
	}
	if (got == (ring_info.completes ? used : added)) {
		wrong("get_buf finds a buffer that is not to be had");
		return false;
	}
	if (ring_info.completes) {
		if (data != data_of(got))
			wrong("get_buf gives another buffer's data");
		if (buf != buf_of(got))
			wrong("get_buf gives another buffer");
		if (!right_len(len, len_of(got)))
			wrong("get_buf gives length %u, not %u", len,
			      len_of(got) - 1);
	}
	got++;
	return true;
}

/* ---- Behaviours ---- */

static void fresh(void)
{
	free_all();
	CALL(alloc_ring);
	added = used = got = 0;
	kicks = calls = 0;
	if (use() || get())
		wrong("a new ring is not empty");
}

static void drain(void)
{
	while (use())
		;
	while (get())
		;
	if (used != added || (ring_info.completes && got != added))
		wrong("not all of it came back");
}

static void capacity(void)
{
	fresh();
	for (int round = 0; round < 3; round++) {
		uint64_t before = added;

		/* made-up completions have to be taken for more to be added */
		while (add())
			if (!ring_info.completes)
				get();
		if (added - before != config.ring_size)
			wrong("it takes %" PRIu64 " buffers", added - before);
		if (add())
			wrong("full, it takes one more");
		drain();
	}
}

/* A run may have ended anywhere. */
static void anew(void)
{
	for (unsigned left = 1; left < 8 && !tap.wrong; left++) {
		unsigned n = 1 + left * config.ring_size / 8;

		fresh();
		for (unsigned i = 0; i < n && add(); i++)
			;
		for (unsigned i = 0; i < n / 2 && use(); i++)
			;
		for (unsigned i = 0; i < n / 4 && get(); i++)
			;
		fresh();
		add();
		drain();
	}
}

static void operations(void)
{
	unsigned burst = 2 * config.ring_size;
	unsigned left = getenv("CHECK_SHORT") ? 20000 : 200000;
	static uint64_t random = RANDOM_SEED;

	if (burst > 50000)
		burst = 50000;
	fresh();
	while (left) {
		unsigned n = 1 + random32(&random) % burst;
		bool (*step)(void) = (bool (*[])(
			void)){ add, use, get }[random32(&random) % 3];

		for (; n && left && step(); n--)
			left--;
		left -= !!left;
		/* what is refused must be right to be refused */
		if (ring_info.completes && step == add && n && left &&
		    added - got != config.ring_size)
			wrong("add_inbuf refuses with room left");
	}
	drain();
}

#define ONE_EACH " (a request is for the next buffer alone: see main.h)"

static void kick_if_added(unsigned n, unsigned expected, const char *what)
{
	unsigned before = kicks;

	for (unsigned i = 0; i < n; i++)
		add();
	CALL(kick_available);
	if (kicks - before != expected)
		wrong("%s: %u kicks, not %u%s", what, kicks - before, expected,
		      expected ? "" : ONE_EACH);
}

static void call_if_used(unsigned n, unsigned expected, const char *what)
{
	unsigned before = calls;

	for (unsigned i = 0; i < n; i++)
		use();
	CALL(call_used);
	if (calls - before != expected)
		wrong("%s: %u calls, not %u%s", what, calls - before, expected,
		      expected ? "" : ONE_EACH);
}

static void notifications(void)
{
	const unsigned size = config.ring_size;

	fresh();
	/* rounds enough to take the counters past where they wrap */
	for (int round = 0; round < 20; round++) {
		kick_if_added(0, 0, "nothing added");
		if (!CALL(enable_kick))
			wrong("enable_kick: empty, and not safe to sleep");
		kick_if_added(0, 0, "armed, nothing added");
		kick_if_added(size, 1, "armed, a full ring added");
		if (CALL(enable_kick))
			wrong("enable_kick: not empty, and safe to sleep");
		disable_kick();

		call_if_used(0, 0, "nothing used");
		if (!CALL(enable_call))
			wrong("enable_call: empty, and not safe to sleep");
		call_if_used(1, 1, "armed, one used");
		if (ring_info.flags)
			disable_call();
		call_if_used(size - 1, 0, "no longer armed, the rest used");
		if (CALL(enable_call))
			wrong("enable_call: not empty, and safe to sleep");
		disable_call();
		drain();
		call_if_used(0, 0, "all used and told");

		if (!CALL(enable_kick))
			wrong("enable_kick: empty again, and not safe");
		kick_if_added(1, 1, "armed, one added");
		if (ring_info.flags)
			disable_kick();
		if (size > 1)
			kick_if_added(1, 0, "no longer armed, one added");
		drain();
		call_used();
	}
}

/* @sizes ends with 0; sizes that the layout has not are passed over. */
static void over(const char *name, void (*behaviour)(void),
		 const unsigned *sizes)
{
	/* up to the wraps of 16 and 32 bits, and far from them */
	static const uint32_t origins[] = { 0,	       0x7ffe,	   0xfff0,
					    0xfffe,    0x7ffffffe, 0xfffffff0,
					    0xfffffffe };

	for (; *sizes && !tap.wrong; sizes++) {
		if (*sizes < ring_info.min_size ||
		    *sizes > ring_info.max_size ||
		    (ring_info.power_of_two && (*sizes & (*sizes - 1))))
			continue;
		config.ring_size = *sizes;
		for (unsigned i = 0;
		     i < sizeof(origins) / sizeof(*origins) && !tap.wrong;
		     i++) {
			config.origin = origins[i];
			behaviour();
		}
	}
	free_all();
	report("contract of %s: %s", ring_info.name, name);
}

/* The program's name ends with that of the layout's file, and perhaps .elf. */
static void check_name(void)
{
	const char *file = strchr(program_invocation_short_name, '_');
	size_t len = file ? strcspn(file + 1, ".") : 0;

	check(len && len == strlen(ring_info.name) &&
		      !strncmp(file + 1, ring_info.name, len),
	      "%s: set .name in ring_info", program_invocation_short_name);
	report("contract of %s: its name is that of its file", ring_info.name);
}

int main(int argc, char **argv)
{
	/* another library's ring need not expect the other side to write at random */
	const bool friendly = argc > 1 && !strcmp(argv[1], "--friendly");
	const unsigned sizes[] = {
		1, 2, 3, 4, 5, 100, 256, 1000, ring_info.max_size, 0
	};
	const unsigned few[] = { 1, 2, 3, 4, 5, 100, 256, 0 };
	/* a ring of all memory takes long to fill */
	const unsigned small[] = {
		1,
		2,
		3,
		4,
		5,
		100,
		256,
		1000,
		ring_info.max_size < 1 << 17 ? ring_info.max_size : 1 << 17,
		0
	};

	check_name();
	if (!ring_info.addresses) {
		skip("contract", "it holds no buffers");
		return finish();
	}
	space = mmap(NULL, SPAN + 64, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS,
		     -1, 0);
	if (space == MAP_FAILED)
		return 1;

	start_watch();
	over("exactly its size fits, one more is refused", capacity, small);
	over("alloc_ring starts anew, whatever the run before left", anew, few);
	over("many operations, each buffer back once and in order", operations,
	     sizes);
	if (ring_info.notifies)
		over("a notification when asked for, and only then",
		     notifications, small);
	end_watch();
	for (int guest = 1; guest >= 0 && !friendly; guest--) {
		const char *fault = hostile(guest);

		check(!fault, "%s", fault);
		report("contract of %s: whatever the other side writes, the %s "
		       "keeps to its tables",
		       ring_info.name, guest ? "guest" : "host");
	}
	return finish();
}
