// SPDX-License-Identifier: MIT
#define _GNU_SOURCE
#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "harness/config.h"
#include "latency.h"
#include "lib/program.h"
#include "queues.h"

/* Of all processes. The queue writes its beats, the main process the rest. */
struct beats {
	uint64_t nr; /* looks of its watchdog */
} __cache_aligned;
static struct shared {
	struct crew crew __cache_aligned;
	struct beats beats[];
} * shared;

static struct queue {
	pid_t pid;	/* 0: there is none any more */
	int fd;		/* to it and from it; -1: in its own process */
	bool running;	/* it owes an answer */
	uint64_t beats; /* as of our last look */
	uint64_t still; /* looks in a row that saw no other */
	struct answer {
		struct sample sample;
		struct latency_result latency;
		struct ticks ticks; /* as calibrated there */
	} answer;
} * queues;
static pid_t parent;
static uint32_t self; /* in a queue's process */

struct crew *queues_crew(void)
{
	return &shared->crew;
}

void queues_beat(void)
{
	if (shared)
		WRITE_ONCE(shared->beats[self].nr, shared->beats[self].nr + 1);
}

/* ---- A queue's process ---- */

__attribute__((noreturn)) static void be_queue(uint32_t nr, int fd,
					       struct sample (*run)(void))
{
	static char name[96];
	char go;

	prctl(PR_SET_PDEATHSIG, SIGKILL);
	if (getppid() != parent) /* it was too late for that */
		_exit(EXIT_FAILED);
	snprintf(name, sizeof(name), "%s: queue %u", program, nr);
	program = name;
	self = nr;
	config_queue(nr);
	while (recv(fd, &go, 1, 0) == 1) {
		struct answer answer = { .sample = run() };

		answer.latency = latency_result;
		answer.ticks = ticks;
		if (send(fd, &answer, sizeof(answer), MSG_NOSIGNAL) !=
		    sizeof(answer))
			die(EXIT_FAILED, "cannot answer: %s", reason(errno));
	}
	_exit(EXIT_DONE);
}

/* ---- The main process ---- */

void queues_start(struct sample (*run)(void))
{
	const size_t size =
		sizeof(*shared) + config.queues * sizeof(shared->beats[0]);

	parent = getpid();
	shared = mmap(NULL, size, PROT_READ | PROT_WRITE,
		      MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	if (shared == MAP_FAILED)
		die(EXIT_FAILED, "no memory for %u queues: %s", config.queues,
		    reason(errno));
	queues = room(NULL, config.queues * sizeof(*queues));
	memset(queues, 0, config.queues * sizeof(*queues));
	at_end(queues_kill);
	for (uint32_t i = 0; i < config.queues; i++) {
		int fds[2];

		if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, fds))
			die(EXIT_FAILED, "cannot start queue %u of %u: %s", i,
			    config.queues, reason(errno));
		queues[i].pid = fork();
		if (queues[i].pid < 0)
			die(EXIT_FAILED, "cannot start queue %u of %u: %s", i,
			    config.queues, reason(errno));
		if (!queues[i].pid) {
			at_end(NULL);
			/* else they would not see it when the parent closes */
			for (uint32_t k = 0; k < i; k++)
				close(queues[k].fd);
			close(fds[0]);
			be_queue(i, fds[1], run);
		}
		close(fds[1]);
		queues[i].fd = fds[0];
	}
}

void queues_kill(void)
{
	if (!queues || getpid() != parent)
		return;
	for (uint32_t i = 0; i < config.queues; i++)
		if (queues[i].pid > 0)
			kill(queues[i].pid, SIGKILL);
	for (uint32_t i = 0; i < config.queues; i++)
		if (queues[i].pid > 0)
			while (waitpid(queues[i].pid, NULL, 0) < 0 &&
			       errno == EINTR)
				;
}

/* What ends a queue may be about to end us, too, and says more then. */
#define OUR_SIGNAL_MS 200

/* Ends the program for a queue that has ended. */
__attribute__((noreturn)) static void lost(uint32_t nr)
{
	struct queue *q = &queues[nr];
	int status = 0;

	while (waitpid(q->pid, &status, 0) < 0 && errno == EINTR)
		;
	q->pid = 0;
	if (!WIFSIGNALED(status))
		die(WEXITSTATUS(status) ? WEXITSTATUS(status) : EXIT_FAILED,
		    "queue %u failed, so all are ended", nr);
	poll(NULL, 0, OUR_SIGNAL_MS);
	die(EXIT_FAILED,
	    "queue %u was ended by signal %d (%s), so all are ended", nr,
	    WTERMSIG(status), strsignal(WTERMSIG(status)));
}

/* A thread's: until each queue has answered. */
static void collect(void *arg)
{
	struct pollfd *fds = arg;
	uint32_t left = config.queues;

	while (left) {
		if (poll(fds, config.queues, -1) < 0 && errno != EINTR)
			die(EXIT_FAILED, "cannot wait for queues: %s",
			    reason(errno));
		for (uint32_t i = 0; i < config.queues; i++) {
			struct queue *q = &queues[i];

			if (!fds[i].revents)
				continue;
			if (recv(q->fd, &q->answer, sizeof(q->answer), 0) !=
			    sizeof(q->answer))
				lost(i);
			WRITE_ONCE(q->running, false);
			fds[i].fd = -1;
			left--;
		}
	}
}

/* One that does not even run its watchdog: it was stopped, say. */
static void look(void)
{
	for (uint32_t i = 0; i < config.queues && config.timeout_s; i++) {
		struct queue *q = &queues[i];
		const uint64_t beats = READ_ONCE(shared->beats[i].nr);

		q->still = READ_ONCE(q->running) && beats == q->beats ?
				   q->still + 1 :
				   0;
		q->beats = beats;
		if (q->still >
		    ((uint64_t)config.timeout_s + 1) * CREW_LOOKS_PER_S)
			die(EXIT_FAILED,
			    "queue %u has shown no sign of life for %u s "
			    "(--timeout), so all are ended",
			    i, config.timeout_s);
	}
}

void queues_run(void)
{
	struct pollfd *fds = room(NULL, config.queues * sizeof(*fds));

	shared->crew = (struct crew){ .size = 2 * config.queues,
				      .crowded = config.one_cpu };
	for (uint32_t i = 0; i < config.queues; i++) {
		queues[i].running = true;
		queues[i].still = 0;
		fds[i] = (struct pollfd){ queues[i].fd, POLLIN, 0 };
		if (send(queues[i].fd, "", 1, MSG_NOSIGNAL) != 1)
			lost(i);
	}
	crew_run(1, collect, (void *[]){ fds }, look);
	free(fds);
	for (uint32_t i = 0; i < config.queues; i++) {
		latency_result = queues[i].answer.latency;
		ticks = queues[i].answer.ticks;
		report_queue(i, &queues[i].answer.sample);
	}
	report_all_queues();
}

void queues_end(void)
{
	for (uint32_t i = 0; queues && i < config.queues; i++) {
		close(queues[i].fd);
		while (waitpid(queues[i].pid, NULL, 0) < 0 && errno == EINTR)
			;
		queues[i].pid = 0;
	}
}
