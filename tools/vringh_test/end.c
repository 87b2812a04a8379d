// SPDX-License-Identifier: MIT
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "end.h"
#include "lib/barrier.h"
#include "lib/program.h"

struct end guest_end = { -1, -1, NULL, "host" };
struct end host_end = { -1, -1, NULL, "guest" };
pid_t guest_pid;

static void __attribute__((noreturn, cold)) other_ended(const struct end *me)
{
	int status;

	/* What went wrong there has been said there. */
	if (me == &host_end && waitpid(guest_pid, &status, 0) == guest_pid &&
	    (!WIFEXITED(status) || !WEXITSTATUS(status)))
		die(EXIT_FAILED, "the guest's process ended early");
	exit(EXIT_FAILED);
}

void wake(struct end *me)
{
	WRITE_ONCE(me->told->sent, me->told->sent + 1);
	/* EAGAIN: the pipe is full, so the other side will wake anyway */
	while (me->wake >= 0 && write(me->wake, "", 1) < 0 && errno != EAGAIN)
		if (errno == EPIPE)
			other_ended(me);
		else if (errno != EINTR)
			die(EXIT_FAILED, "cannot notify: %s", reason(errno));
}

/* By a signal or a debugger: no answer is to be expected. */
static bool is_stopped(pid_t pid)
{
	char path[32], text[128] = "", *state;
	int fd;

	snprintf(path, sizeof(path), "/proc/%d/stat", (int)pid);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return false;
	if (read(fd, text, sizeof(text) - 1) < 0)
		text[0] = '\0';
	close(fd);
	state = strrchr(text, ')'); /* the name, in (), is before it */
	return state &&
	       (!strncmp(state, ") T", 3) || !strncmp(state, ") t", 3));
}

/*
 * The time for which both sides were there to run: it is counted in short
 * stretches, of which a stop of ourselves takes one at most.
 */
static void await_token(struct end *me)
{
	struct pollfd fd = { .fd = me->wait, .events = POLLIN };
	uint32_t tenths = 0;

	for (;;) {
		int ready = poll(&fd, 1, options.timeout_s ? 100 : -1);

		if (ready > 0)
			return;
		if (ready < 0 && errno != EINTR)
			die(EXIT_FAILED, "cannot sleep: %s", reason(errno));
		if (!ready && !is_stopped(guest_pid ? guest_pid : getppid()) &&
		    ++tenths == options.timeout_s * 10)
			die(EXIT_FAILED,
			    "the %s has not answered for %u s "
			    "(--timeout)",
			    me->other, options.timeout_s);
	}
}

void sleep_until_woken(struct end *me)
{
	char tokens[64];
	ssize_t n;

	await_token(me);
	do
		n = read(me->wait, tokens, sizeof(tokens));
	while (n < 0 && errno == EINTR);
	if (!n)
		other_ended(me);
	if (n < 0)
		die(EXIT_FAILED, "cannot sleep: %s", reason(errno));
	WRITE_ONCE(me->told->woken, me->told->woken + 1);
}
