// SPDX-License-Identifier: MIT
/*
 * Linked into a ring binary: eventfds that hold tokens already, and a signal
 * to every thread 1000 times a second, its handler set without SA_RESTART.
 * RINGTEST_DISTURBED names a file that gets the number of signals handled in
 * threads other than main's and the storm's own.
 */
#define _GNU_SOURCE
#include <dirent.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/eventfd.h>
#include <sys/syscall.h>
#include <unistd.h>

static unsigned long handled;
static pid_t storm_tid;

/* Takes the place of libc's. */
int eventfd(unsigned count, int flags)
{
	return syscall(SYS_eventfd2, count + 3, flags);
}

static void on_signal(int sig)
{
	pid_t tid = syscall(SYS_gettid);

	(void)sig;
	if (tid != getpid() && tid != storm_tid)
		__atomic_add_fetch(&handled, 1, __ATOMIC_RELAXED);
}

static void *storm(void *unused)
{
	const struct timespec ms = { .tv_nsec = 1000000 };

	storm_tid = syscall(SYS_gettid);
	for (;;) {
		DIR *dir = opendir("/proc/self/task");
		struct dirent *d;

		while (dir && (d = readdir(dir))) {
			pid_t tid = atoi(d->d_name);

			if (tid > 0 && tid != storm_tid)
				syscall(SYS_tgkill, getpid(), tid, SIGALRM);
		}
		if (dir)
			closedir(dir);
		nanosleep(&ms, NULL);
	}
	return unused;
}

static void tell(void)
{
	const char *path = getenv("RINGTEST_DISTURBED");
	FILE *f = path ? fopen(path, "w") : NULL;

	if (f) {
		fprintf(f, "%lu\n", __atomic_load_n(&handled, __ATOMIC_RELAXED));
		fclose(f);
	}
}

__attribute__((constructor)) static void start(void)
{
	struct sigaction act = { .sa_handler = on_signal };
	pthread_t thread;

	sigaction(SIGALRM, &act, NULL);
	atexit(tell);
	if (pthread_create(&thread, NULL, storm, NULL))
		abort();
}
