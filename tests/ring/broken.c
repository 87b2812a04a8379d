// SPDX-License-Identifier: MIT
/*
 * ring, with one fault at one buffer, so that --verify and the watchdog have
 * something to find. The environment variable FAULT says which.
 */
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/types.h>
#include <sys/wait.h>
#include <unistd.h>

enum fault {
	LOST,	       /* the guest believes that it has added it */
	REPEATED,      /* the guest gets it back twice */
	USED_TWICE,    /* the host is given it twice */
	REORDERED,     /* the host is given the next one first */
	BAD_LENGTH,    /* the host is given another length */
	BAD_USED,      /* the guest is told another length used */
	BAD_ADDRESS,   /* the host is given the address of no buffer */
	BAD_DATA,      /* the guest is told another buffer's name */
	BAD_CONTENT,   /* the host is given the buffer's bytes changed */
	BAD_PAYLOAD,   /* the last one alone */
	BAD_ANSWER,    /* the guest gets the answer's last byte changed */
	STUCK,	       /* the host finds nothing from here on */
	STUCK_IN_CALL, /* the host never comes back from use_buf */
	STOPPED, /* a child stops the process while the host is in use_buf */
	NONE,
};
static const char *const faults[] = {
	"LOST",		 "REPEATED",	"USED_TWICE",  "REORDERED",
	"BAD_LENGTH",	 "BAD_USED",	"BAD_ADDRESS", "BAD_DATA",
	"BAD_CONTENT",	 "BAD_PAYLOAD", "BAD_ANSWER",  "STUCK",
	"STUCK_IN_CALL", "STOPPED",
};
static enum fault fault = NONE;

__attribute__((constructor)) static void choose(void)
{
	const char *name = getenv("FAULT");

	if (!name)
		return;
	for (fault = LOST; fault < NONE; fault++)
		if (!strcmp(name, faults[fault]))
			return;
}

#define add_inbuf whole_add_inbuf
#define get_buf whole_get_buf
#define use_buf whole_use_buf
#include "../../ring.c"
#undef add_inbuf
#undef get_buf
#undef use_buf

#define AT 500 /* the number of the buffer with the fault */

int add_inbuf(unsigned len, void *buf, void *data)
{
	static uint64_t added;

	if (fault == LOST && added == AT) {
		added++;
		return 0;
	}
	if (fault == BAD_PAYLOAD && added == AT)
		((char *)buf)[len - 1] ^= 1;
	if (whole_add_inbuf(len, buf, data)) {
		if (fault == BAD_PAYLOAD && added == AT)
			((char *)buf)[len - 1] ^= 1;
		return -1;
	}
	added++;
	return 0;
}

void *get_buf(unsigned *lenp, void **bufp)
{
	static uint64_t got;
	static unsigned len;
	static void *buf, *data;

	if (fault != REPEATED || got != AT + 1)
		data = whole_get_buf(&len, &buf);
	if (!data)
		return NULL;
	*lenp = len;
	*bufp = buf;
	if (got++ == AT) {
		if (fault == BAD_USED)
			++*lenp;
		if (fault == BAD_ANSWER)
			((char *)buf)[len] ^= 1;
		if (fault == BAD_DATA)
			return (char *)data + 1;
	}
	return data;
}

/*
 * A second without progress, so that the watchdog has seen the ring stand, and
 * 3.2 s in which nobody can make any.
 */
static void be_stopped(void)
{
	pid_t self = getpid(), child;

	usleep(1200000);
	child = fork();
	if (!child) {
		kill(self, SIGSTOP);
		usleep(3200000);
		kill(self, SIGCONT);
		_exit(0);
	}
	waitpid(child, NULL, 0);
}

bool use_buf(unsigned *lenp, void **bufp)
{
	static uint64_t used;
	static void *last, *kept;
	void *const asked = *bufp;

	if (fault == STUCK && used == AT)
		return false;
	while (fault == STUCK_IN_CALL && used == AT)
		__asm__ volatile("" ::: "memory");
	if (!whole_use_buf(lenp, bufp))
		return false;
	if (used == AT && fault == STOPPED)
		be_stopped();
	if (used == AT && fault == REORDERED) {
		kept = *bufp;
		*bufp = asked;
		while (!whole_use_buf(lenp, bufp))
			;
	} else if (used == AT + 1 && fault == REORDERED) {
		*bufp = kept;
	}
	if (used == AT + 1 && fault == USED_TWICE)
		*bufp = last;
	if (used == AT && fault == BAD_LENGTH)
		--*lenp;
	if (used == AT && fault == BAD_ADDRESS)
		*bufp = &used;
	/* main.c's stamp stands before the bytes that it gives */
	if (used == AT && fault == BAD_CONTENT)
		((char *)*bufp)[-8] ^= 1;
	last = *bufp;
	used++;
	return true;
}
