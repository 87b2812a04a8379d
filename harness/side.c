// SPDX-License-Identifier: MIT
#define _GNU_SOURCE
#include <errno.h>
#include <inttypes.h>
#include <poll.h>
#include <sys/eventfd.h>
#include <time.h>
#include <unistd.h>

#include "lib/clock.h"
#include "lib/crew.h"
#include "main.h"
#include "lib/program.h"
#include "queues.h"
#include "side.h"

void side_open(struct side *side)
{
	*side = (struct side){ .wakeup = eventfd(0, EFD_CLOEXEC) };
	if (side->wakeup < 0)
		die(EXIT_FAILED, "cannot create an eventfd: %s", reason(errno));
}

void side_close(struct side *side)
{
	close(side->wakeup);
}

void notify(struct side *from, const struct side *to)
{
	const uint64_t one = 1;

	from->sent++;
	if (config.exit)
		burn_cycles(config.exit_cycles);
	/* EAGAIN: the counter is full, so the other side wakes up anyway */
	while (write(to->wakeup, &one, sizeof(one)) < 0 && errno != EAGAIN)
		if (errno != EINTR)
			die(EXIT_FAILED, "cannot notify: %s", reason(errno));
	if (config.exit)
		burn_cycles(config.exit_cycles);
}

void sleep_until_woken(struct side *me)
{
	uint64_t count;

	WRITE_ONCE(me->where, SLEEPING);
	if (read(me->wakeup, &count, sizeof(count)) < 0 && errno != EINTR &&
	    errno != EAGAIN)
		die(EXIT_FAILED, "cannot sleep: %s", reason(errno));
	WRITE_ONCE(me->where, RUNNING);
}

void sleep_until(struct side *me, uint64_t ns)
{
	const struct timespec most = { ns / 1000000000, ns % 1000000000 };
	struct pollfd fd = { .fd = me->wakeup, .events = POLLIN };

	WRITE_ONCE(me->where, SLEEPING);
	if (ppoll(&fd, 1, &most, NULL) < 0 && errno != EINTR)
		die(EXIT_FAILED, "cannot sleep: %s", reason(errno));
	if (fd.revents)
		sleep_until_woken(me);
	WRITE_ONCE(me->where, RUNNING);
}

static const char *where(const struct side *side)
{
	static const char *const text[] = { "starting", "running", "polling",
					    "sleeping", "done" };

	return text[READ_ONCE(side->where)];
}

static struct {
	const struct side *guest, *host;
	uint64_t progress;
	uint64_t still; /* looks in a row that saw none */
} watched;

void watch_start(const struct side *guest, const struct side *host)
{
	watched.guest = guest;
	watched.host = host;
	watched.progress = watched.still = 0;
}

/*
 * Counts looks, not time, which passes even while the whole process is stopped
 * or the machine suspended.
 */
void watch(void)
{
	const struct side *guest = watched.guest, *host = watched.host;
	const uint64_t progress = READ_ONCE(guest->added) +
				  READ_ONCE(guest->finished) +
				  READ_ONCE(host->finished);

	queues_beat();

	/* with --rate nothing need be under way, for as long as nothing is due */
	if (progress != watched.progress ||
	    READ_ONCE(guest->where) == STARTING || /* or others are */
	    (config.rate &&
	     READ_ONCE(guest->added) == READ_ONCE(guest->finished) &&
	     READ_ONCE(guest->added)))
		watched.still = 0;
	else
		watched.still++;
	watched.progress = progress;
	if (!config.timeout_s ||
	    watched.still < (uint64_t)config.timeout_s * CREW_LOOKS_PER_S)
		return;
	die(EXIT_FAILED,
	    "no progress for %u s (--timeout): guest added %" PRIu64
	    ", got back %" PRIu64 ", is %s; host used %" PRIu64 ", is %s",
	    config.timeout_s, READ_ONCE(guest->added),
	    READ_ONCE(guest->finished), where(guest), READ_ONCE(host->finished),
	    where(host));
}
