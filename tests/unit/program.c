// SPDX-License-Identifier: MIT
/* What all programs share: reasons for what failed, and what to do then. */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <unistd.h>

#include "lib/program.h"
#include "tests/check.h"

static void gives(int err, const char *text)
{
	check(!strcmp(reason(err), text), "%s, not %s", reason(err), text);
}

/* Why what goes to @fd, a buffer full and more, is not all there. */
static const char *written(int fd)
{
	FILE *f = fd < 0 ? NULL : fdopen(fd, "w");
	const char *why;

	if (!f)
		return "cannot be opened";
	for (int i = 0; i < 100000; i++)
		putc('x', f);
	errno = ENOTTY; /* of some other call since */
	why = flush(f);
	fclose(f);
	return why ? why : "";
}

/* A full pipe that does not wait. */
static int full_pipe(void)
{
	char block[4096] = "";
	int ends[2];

	if (pipe2(ends, O_NONBLOCK))
		return -1;
	while (write(ends[1], block, sizeof(block)) > 0)
		;
	return ends[1];
}

int main(void)
{
	const char *why;

	gives(EMFILE, "Too many open files; raise ulimit -n");
	gives(ENOSPC, "No space left on device; make room there, or write "
		      "elsewhere");
	gives(EAGAIN,
	      "Resource temporarily unavailable; raise ulimit -u or the "
	      "container's pids.max, or free memory");
	report("a reason has the remedy that fits");
	gives(ENOENT, "No such file or directory");
	gives(EACCES, "Permission denied");
	report("a reason that says what to do has no more");
	why = written(open("/dev/null", O_WRONLY));
	check(!*why, "/dev/null: %s", why);
	why = written(open("/dev/full", O_WRONLY));
	check(strstr(why, "No space left"), "/dev/full: %s", why);
	report("a file that is full is told by its own errno");
	why = written(full_pipe());
	check(strstr(why, "put | cat after"), "%s", why);
	report("a pipe that does not wait has its own remedy");
	return finish();
}
