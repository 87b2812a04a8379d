// SPDX-License-Identifier: MIT
/*
 * A layout whose other side writes anything anywhere into the ring: the side
 * that is attacked keeps to its tables. It may believe addresses and lengths,
 * which are for the caller, and it may end with a message.
 *
 * A layout's memory is taken with alloc_pages(), so this file has one of its
 * own: around each block there is nothing for as far as an index of 16 bits can
 * reach. Which blocks a side writes to is found out by watching it at work; the
 * attacker writes to those, and to no others, as the other side's private
 * tables would be out of its reach.
 */
#define _GNU_SOURCE
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include "lib/program.h"
#include "lib/random.h"
#include "main.h"
#include "tests/ring/hostile.h"

enum { GUEST, HOST };

#define AROUND ((size_t)4 << 20)
#define SLACK 0xa5

static struct block {
	unsigned char *start, *copy;
	size_t size, room; /* asked for; in whole pages */
} blocks[16];
static unsigned nr_blocks;

/* By number, as the blocks come in the same order each time. */
static bool writes[2][16];

static uint32_t any(void)
{
	static uint64_t state = RANDOM_SEED;

	return random32(&state);
}

void *alloc_pages(size_t size)
{
	const size_t page = sysconf(_SC_PAGESIZE);
	const size_t room = (size + page - 1) & -page;
	struct block *b = &blocks[nr_blocks];
	char *all;

	if (nr_blocks == 16)
		die(EXIT_FAILED, "alloc_pages: more than 16 areas");
	all = mmap(NULL, room + 2 * AROUND, PROT_NONE,
		   MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
	if (all == MAP_FAILED ||
	    mprotect(all + AROUND, room, PROT_READ | PROT_WRITE))
		die(EXIT_FAILED, "no memory for the ring: %zu bytes", size);
	*b = (struct block){ .start = (void *)(all + AROUND),
			     .size = size,
			     .room = room };
	memset(b->start + size, SLACK, room - size);
	nr_blocks++;
	return b->start;
}

void free_all(void)
{
	while (nr_blocks) {
		struct block *b = &blocks[--nr_blocks];

		munmap(b->start - AROUND, b->room + 2 * AROUND);
		free(b->copy);
	}
}

/* ---- What each side does, and where it writes ---- */

static void act(int side)
{
	static char buf[64];
	unsigned len;
	void *p = NULL;

	switch (any() % 8) {
	case 0:
		side == GUEST ? enable_call() : enable_kick();
		break;
	case 1:
		side == GUEST ? kick_available() : call_used();
		break;
	case 2:
		side == GUEST ? used_empty() : avail_empty();
		break;
	case 3:
	case 4:
		if (side == GUEST) {
			get_buf(&len, &p);
			break;
		}
		/* fallthrough */
	default:
		if (side == GUEST)
			add_inbuf(1 + any() % 64, buf, buf);
		else
			use_buf(&len, &p);
	}
}

static void fresh(uint32_t size)
{
	free_all();
	config.ring_size = size;
	config.origin = any();
	alloc_ring();
}

static void watch(uint32_t size)
{
	fresh(size);
	memset(writes, 0, sizeof(writes));
	for (unsigned i = 0; i < nr_blocks; i++) {
		blocks[i].copy = malloc(blocks[i].room);
		if (!blocks[i].copy)
			die(EXIT_FAILED, "no memory for a copy");
		memcpy(blocks[i].copy, blocks[i].start, blocks[i].room);
	}
	for (uint32_t n = 0; n < 400; n++) {
		const int side = any() % 2;

		act(side);
		for (unsigned i = 0; i < nr_blocks; i++) {
			struct block *b = &blocks[i];

			if (!memcmp(b->copy, b->start, b->size))
				continue;
			writes[side][i] = true;
			memcpy(b->copy, b->start, b->size);
		}
	}
}

/* ---- The attack ---- */

static void scribble(struct block *b)
{
	const uint32_t kind = any() % 4;

	if (kind == 0) {
		memset(b->start, any() % 2 ? 0xff : any(), b->size);
		return;
	}
	for (size_t i = 0; i + 2 <= b->size; i += 2)
		if (kind == 1 || any() % 16 == 0) {
			const uint16_t word = any() >> any() % 16;

			memcpy(b->start + i, &word, 2);
		}
}

static bool *orderly; /* it ended by exit() or die(), not by a sanitizer */

static void note_end(void)
{
	*orderly = true;
}

static void __attribute__((noreturn)) be_attacked(int victim, uint32_t size)
{
	alarm(30);
	if (!freopen("/dev/null", "w", stderr))
		exit(3);
	atexit(note_end);
	at_end(note_end);
	fresh(size);
	for (uint32_t n = any() % (4 * size); n; n--)
		act(any() % 2);
	for (int round = 0; round < 20; round++) {
		for (unsigned i = 0; i < nr_blocks; i++)
			if (writes[!victim][i])
				scribble(&blocks[i]);
		for (uint32_t n = 0; n < size + 8; n++)
			act(victim);
		for (unsigned i = 0; i < nr_blocks; i++)
			for (size_t k = blocks[i].size; k < blocks[i].room; k++)
				if (blocks[i].start[k] != SLACK)
					exit(3);
	}
	exit(EXIT_DONE);
}

static const char *attack(int victim, uint32_t size)
{
	static char fault[80];
	bool written = false;

	for (unsigned i = 0; i < nr_blocks; i++)
		written = written || writes[!victim][i];
	if (!written)
		return "the other side writes nowhere";
	for (int n = getenv("CHECK_SHORT") ? 4 : 20; n; n--) {
		pid_t child;
		int status;

		any();
		*orderly = false;
		child = fork();
		if (child < 0)
			die(EXIT_FAILED, "cannot start a process");
		if (!child)
			be_attacked(victim, size);
		if (waitpid(child, &status, 0) != child)
			return "the process is lost";
		if (*orderly && WIFEXITED(status) &&
		    (WEXITSTATUS(status) == EXIT_DONE ||
		     WEXITSTATUS(status) == EXIT_FAILED))
			continue;
		if (!WIFSIGNALED(status))
			return "writes behind a table";
		snprintf(fault, sizeof(fault),
			 "size %u: ended by signal %d "
			 "(%s)",
			 size, WTERMSIG(status), strsignal(WTERMSIG(status)));
		return fault;
	}
	return NULL;
}

const char *hostile(bool guest)
{
	static const uint32_t sizes[] = { 4, 256 };
	const char *fault = NULL;

	orderly = mmap(NULL, sizeof(*orderly), PROT_READ | PROT_WRITE,
		       MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	if (orderly == MAP_FAILED)
		die(EXIT_FAILED, "no memory to share");
	for (int i = 0; i < 2 && !fault; i++) {
		watch(sizes[i]);
		fault = attack(guest ? GUEST : HOST, sizes[i]);
	}
	free_all();
	return fault;
}
