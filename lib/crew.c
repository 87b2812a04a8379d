// SPDX-License-Identifier: MIT
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdlib.h>
#include <unistd.h>

#include "affinity.h"
#include "barrier.h"
#include "clock.h"
#include "crew.h"
#include "program.h"

/*
 * Main's thread waits here for threads that end and for signals. A pipe, as its
 * timeout does not depend on what time of day it is, and a signal's handler may
 * write to it.
 */
static int events[2];
enum { ENDED = 'e', SIGNAL = 's' };

static int signal_got; /* the first; 0: none */

/*
 * Whoever signals a second time, because printing takes too long, has waited.
 * What comes sooner is the same one: timeout(1) signals its child and then the
 * group.
 */
#define AT_ONCE_NS 1000000000

static void tell(char event)
{
	while (write(events[1], &event, 1) < 0 && errno == EINTR)
		;
}

static void on_signal(int sig)
{
	static uint64_t first_ns;
	int saved = errno;

	if (!READ_ONCE(signal_got)) {
		WRITE_ONCE(first_ns, now_ns());
		WRITE_ONCE(signal_got, sig);
		tell(SIGNAL);
	} else if (now_ns() - READ_ONCE(first_ns) > AT_ONCE_NS) {
		signal(sig, SIG_DFL);
		raise(sig);
	}
	errno = saved;
}

/* Once is enough. */
static void open_events(void)
{
	static const int signals[] = { SIGINT, SIGTERM, SIGHUP, SIGQUIT,
				       SIGXCPU };
	struct sigaction sa = { .sa_handler = on_signal,
				.sa_flags = SA_RESTART },
			 old;

	if (events[1])
		return;
	if (pipe2(events, O_CLOEXEC))
		die(EXIT_FAILED, "cannot make a pipe: %s", reason(errno));
	for (int i = 0; i < 5; i++)
		/* one that is ignored, as under nohup, stays so */
		if (!sigaction(signals[i], NULL, &old) &&
		    old.sa_handler != SIG_IGN)
			sigaction(signals[i], &sa, NULL);
}

struct task {
	pthread_t thread;
	void (*fn)(void *);
	void *arg;
};

static __thread struct {
	const char *option;
	int cpu;
} pinned;

static void *run(void *p)
{
	struct task *task = p;

	task->fn(task->arg);
	if (pinned.option)
		check_pin(pinned.option, pinned.cpu);
	tell(ENDED);
	return NULL;
}

/* Between two looks: longer than a busy machine keeps us waiting. */
#define STOPPED_NS 2000000000

/* Until all @size threads have ended. */
static void await(unsigned size, void (*look)(void))
{
	const uint64_t between_ns = 1000000000 / CREW_LOOKS_PER_S;
	struct pollfd fd = { .fd = events[0], .events = POLLIN };
	uint64_t looked_ns = now_ns(), gap_ns = 0;

	while (size) {
		char event;

		if (poll(&fd, 1, (between_ns - gap_ns) / 1000000 + 1) > 0 &&
		    read(events[0], &event, 1) == 1 && event == ENDED)
			size--;
		if (READ_ONCE(signal_got))
			die_of(READ_ONCE(signal_got));
		gap_ns = now_ns() - looked_ns;
		if (gap_ns < between_ns)
			continue;
		if (gap_ns >= STOPPED_NS)
			warn("the process was stopped for %.0f s during the "
			     "run: that time is part of the sample; run it "
			     "again",
			     gap_ns / 1e9);
		looked_ns += gap_ns;
		gap_ns = 0;
		if (look && size)
			look();
	}
}

void crew_run(unsigned size, void (*fn)(void *), void *const *args,
	      void (*look)(void))
{
	struct task *tasks = calloc(size, sizeof(*tasks));

	if (!tasks)
		die(EXIT_FAILED, "no memory for %u threads", size);
	open_events();
	for (unsigned i = 0; i < size; i++) {
		int err;

		tasks[i].fn = fn;
		tasks[i].arg = args[i];
		err = pthread_create(&tasks[i].thread, NULL, run, &tasks[i]);
		if (err)
			die(EXIT_FAILED, "cannot start thread %u of %u: %s",
			    i + 1, size, reason(err));
	}
	await(size, look);
	for (unsigned i = 0; i < size; i++)
		pthread_join(tasks[i].thread, NULL);
	free(tasks);
}

void crew_pin(const char *option, int cpu)
{
	if (cpu < 0)
		return;
	require_pin(option, cpu);
	pinned.option = option;
	pinned.cpu = cpu;
}

bool crew_crowded(const int *cpus, unsigned size)
{
	unsigned nr_cpus = allowed_cpus();
	bool shared = false;

	for (unsigned i = 0; i < size; i++) {
		nr_cpus += cpus[i] >= 0 && !cpu_allowed(cpus[i]);
		for (unsigned k = 0; k < i; k++)
			shared |= cpus[i] >= 0 && cpus[i] == cpus[k];
	}
	return shared || size > nr_cpus;
}

void crew_meet(struct crew *crew)
{
	/* M.arrive: all before it. Pairs with M.meet in crew_meet. */
	smp_add_release(&crew->arrived, 1);
	/* M.meet: the others' arrival. Pairs with M.arrive in crew_meet. */
	while (smp_load_acquire(&crew->arrived) < crew->size)
		sched_yield(); /* who is missing may be queued right here */
}
