// SPDX-License-Identifier: MIT
#include <errno.h>
#include <inttypes.h>
#include <semaphore.h>
#include <string.h>
#include <sys/eventfd.h>
#include <time.h>
#include <unistd.h>

#include "clock.h"
#include "main.h"
#include "report.h"
#include "side.h"

static sem_t ended __cache_aligned;

void side_open(struct side *side)
{
	*side = (struct side){ .wakeup = eventfd(0, EFD_CLOEXEC) };
	if (side->wakeup < 0)
		run_failed("cannot make an eventfd: %s", strerror(errno));
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
	/* EAGAIN: the counter is full, so the other side will wake anyway */
	while (write(to->wakeup, &one, sizeof(one)) < 0 && errno != EAGAIN)
		if (errno != EINTR)
			run_failed("cannot notify: %s", strerror(errno));
	if (config.exit)
		burn_cycles(config.exit_cycles);
}

void sleep_until_woken(struct side *me)
{
	uint64_t count;

	WRITE_ONCE(me->where, SLEEPING);
	if (read(me->wakeup, &count, sizeof(count)) < 0 && errno != EINTR &&
	    errno != EAGAIN)
		run_failed("cannot sleep: %s", strerror(errno));
	WRITE_ONCE(me->where, RUNNING);
}

void side_ended(struct side *me)
{
	WRITE_ONCE(me->where, DONE);
	sem_post(&ended);
}

static const char *where(const struct side *side)
{
	static const char *const text[] = { "starting", "running", "polling",
					    "sleeping", "done" };

	return text[READ_ONCE(side->where)];
}

void watch(const struct side *guest, const struct side *host)
{
	const uint64_t limit_ns = config.timeout_s * 1000000000ull;
	uint64_t seen = 0, seen_ns = now_ns();
	unsigned nr_ended = 0;

	while (nr_ended < 2) {
		struct timespec next;
		uint64_t progress;

		clock_gettime(CLOCK_REALTIME, &next);
		next.tv_sec++;
		if (!(limit_ns ? sem_timedwait(&ended, &next) :
				 sem_wait(&ended))) {
			nr_ended++;
			continue;
		}
		progress = READ_ONCE(guest->added) +
			   READ_ONCE(guest->finished) +
			   READ_ONCE(host->finished) + nr_ended;
		if (progress != seen) {
			seen = progress;
			seen_ns = now_ns();
		} else if (limit_ns && now_ns() - seen_ns >= limit_ns) {
			run_failed("no progress for %u s (--timeout): guest "
				   "added %" PRIu64 ", got back %" PRIu64
				   ", is %s; host used %" PRIu64 ", is %s",
				   config.timeout_s, READ_ONCE(guest->added),
				   READ_ONCE(guest->finished), where(guest),
				   READ_ONCE(host->finished), where(host));
		}
	}
}
