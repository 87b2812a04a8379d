// SPDX-License-Identifier: MIT
#define _GNU_SOURCE
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "clock.h"
#include "job.h"

#define PATIENCE_S 2 /* that a job has to end when it is told to */

extern char **environ;

static volatile sig_atomic_t stopped, paused;
static volatile pid_t group; /* of the job that runs, or 0 */
static sigset_t our_signals, usual_signals;
static posix_spawnattr_t attr;

static void on_stop(int sig)
{
	if (group) {
		kill(-group, stopped ? SIGKILL : sig);
		alarm(PATIENCE_S);
	}
	stopped = 1;
}

static void on_continue(int sig)
{
	paused = 1;
	if (group)
		kill(-group, sig);
}

static void on_pause(int sig)
{
	struct sigaction sa = { .sa_handler = SIG_DFL }, ours;

	/* with one that it could refuse, it might go on unwatched */
	if (group)
		kill(-group, SIGSTOP);
	/* stops us, unless the kernel sees that nobody could continue us */
	sigaction(sig, &sa, &ours);
	raise(sig);
	sigaction(sig, &ours, NULL);
	on_continue(SIGCONT);
}

static void handle(int sig, void (*handler)(int))
{
	struct sigaction old, sa = { .sa_handler = handler,
				     .sa_flags = SA_RESTART | SA_NODEFER };

	sigaddset(&our_signals, sig);
	/* one that is ignored, as under nohup, stays so */
	if (!sigaction(sig, NULL, &old) && old.sa_handler != SIG_IGN)
		sigaction(sig, &sa, NULL);
}

/* Who was our child before any job, as a shell's >(tee log) is after its exec. */
static int not_ours[64];
static unsigned nr_not_ours;

static void remember_children(void)
{
	FILE *f = fopen("/proc/thread-self/children", "re");

	while (f && nr_not_ours < 64 &&
	       fscanf(f, "%d", &not_ours[nr_not_ours]) == 1)
		nr_not_ours++;
	if (f)
		fclose(f);
}

static bool is_ours(int child)
{
	for (unsigned i = 0; i < nr_not_ours; i++)
		if (not_ours[i] == child)
			return false;
	/* a job's are in a group of its own, or in one that they made */
	return getsid(child) == getsid(0) && getpgid(child) != getpgrp();
}

void jobs_init(void)
{
	sigset_t ignored;

	remember_children();
	sigprocmask(SIG_BLOCK, NULL, &usual_signals);
	sigemptyset(&our_signals);
	/* inherited as ignored, they would cost us a status, or the end */
	signal(SIGCHLD, SIG_DFL);
	signal(SIGALRM, SIG_DFL);
	handle(SIGINT, on_stop);
	handle(SIGTERM, on_stop);
	handle(SIGHUP, on_stop);
	handle(SIGQUIT, on_stop);
	handle(SIGALRM, on_stop);
	handle(SIGTSTP, on_pause);
	handle(SIGCONT, on_continue);
	/* whom a job leaves behind is our child then, and can be found */
	prctl(PR_SET_CHILD_SUBREAPER, 1);
	posix_spawnattr_init(&attr);
	posix_spawnattr_setflags(&attr, POSIX_SPAWN_SETSIGMASK |
						POSIX_SPAWN_SETSIGDEF |
						POSIX_SPAWN_SETPGROUP);
	sigemptyset(&ignored);
	sigaddset(&ignored, SIGXFSZ); /* by us alone */
	posix_spawnattr_setsigdefault(&attr, &ignored);
	posix_spawnattr_setsigmask(&attr, &usual_signals);
	posix_spawnattr_setpgroup(&attr, 0);
}

bool jobs_stopped(void)
{
	return stopped;
}

/* Sends @sig to all that the job @pid has left. False: that is nobody. */
static bool signal_left(pid_t pid, int sig)
{
	bool found = !kill(-pid, sig);
	int child;
	FILE *f;

	/* some are in another group, as what timeout(1) runs */
	f = fopen("/proc/thread-self/children", "re");
	while (f && fscanf(f, "%d", &child) == 1) {
		pid_t theirs = getpgid(child);

		if (theirs == pid || !is_ours(child))
			continue;
		found = true;
		kill(theirs > 1 ? -theirs : child, sig);
	}
	if (f)
		fclose(f);
	return found;
}

static bool any_left(pid_t pid, int sig)
{
	pid_t got;

	while ((got = waitpid(-1, NULL, WNOHANG)) > 0)
		;
	return !got && signal_left(pid, sig);
}

/* False: the job @pid left nobody behind, or they ended by themselves. */
static bool end_left(pid_t pid)
{
	static const int signals[] = { 0, SIGTERM, SIGKILL };
	const struct timespec nap = { 0, 10000000 };

	for (int i = 0; i < 3; i++) {
		int naps = signals[i] ? PATIENCE_S * 100 : stopped ? 0 : 100;

		if (!any_left(pid, signals[i]))
			return i > 1;
		while (naps-- && any_left(pid, 0))
			nanosleep(&nap, NULL);
	}
	return true;
}

static void await(pid_t pid, struct job *job)
{
	for (;;) {
		while (wait4(pid, &job->status, WUNTRACED | WCONTINUED,
			     &job->used) < 0)
			; /* EINTR */
		job->end_ns = now_ns();
		if (WIFEXITED(job->status) || WIFSIGNALED(job->status))
			return;
		paused = 1;
		if (!WIFSTOPPED(job->status) ||
		    (WSTOPSIG(job->status) != SIGTTIN &&
		     WSTOPSIG(job->status) != SIGTTOU))
			continue;
		job->wanted_terminal = true;
		kill(-pid, SIGKILL);
	}
}

struct job job_run(char **argv, const posix_spawn_file_actions_t *files)
{
	struct job job = { 0 };
	pid_t pid = 0;

	/* no signal between the start and our knowing whom to end */
	sigprocmask(SIG_BLOCK, &our_signals, NULL);
	paused = 0;
	if (!stopped) {
		job.start_ns = now_ns();
		job.error = -posix_spawnp(&pid, argv[0], files, &attr, argv,
					  environ);
		if (job.error)
			pid = 0;
	}
	group = pid;
	sigprocmask(SIG_SETMASK, &usual_signals, NULL);
	if (!pid)
		return job;
	await(pid, &job);
	group = 0;
	alarm(0);
	job.left = end_left(pid);
	job.paused = paused;
	return job;
}
