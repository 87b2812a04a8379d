// SPDX-License-Identifier: MIT
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "end.h"
#include "guest.h"
#include "host.h"
#include "lib/affinity.h"
#include "lib/clock.h"
#include "lib/program.h"
#include "run.h"
#include "virtio/access_user.h"

void run_in_turn(struct shared *shared)
{
	char *mem = (char *)shared;
	uint64_t start;

	guest_end.told = &shared->guest;
	host_end.told = &shared->host;
	guest_start(mem, FOREIGN - (uintptr_t)mem);
	host_start(&vringh_user, mem, FOREIGN);
	start = now_ns();
	while (guest.finished < options.transfers) {
		while (guest_add())
			;
		if (vdriver_need_kick(&guest.drv))
			wake(&guest_end);
		if (options.ops)
			host_turn_ops();
		else
			host_turn_inlined();
		while (guest_get())
			;
	}
	shared->elapsed_ns = now_ns() - start;
	vdriver_free(&guest.drv);
}

static int next_cpu(int cpu)
{
	do
		cpu++;
	while (!cpu_allowed(cpu) && cpu < INT16_MAX);
	return cpu;
}

/* The first CPU, or the second if @other is the first. */
static int cpu_beside(int other)
{
	bool taken = other == next_cpu(-1) && allowed_cpus() > 1;

	return next_cpu(taken ? other : -1);
}

void choose_cpus(void)
{
	require_cpu("guest-affinity", options.guest_cpu);
	require_cpu("host-affinity", options.host_cpu);
	if (options.same_cpu && options.guest_cpu >= 0 &&
	    options.host_cpu >= 0 && options.guest_cpu != options.host_cpu)
		die(EXIT_USAGE, "--same-cpu: the CPUs given are two; leave one "
				"out");
	if (options.same_cpu && options.guest_cpu < 0)
		options.guest_cpu = options.host_cpu >= 0 ? options.host_cpu :
							    next_cpu(-1);
	if (options.same_cpu) {
		options.host_cpu = options.guest_cpu;
		return;
	}
	if (options.guest_cpu < 0)
		options.guest_cpu = cpu_beside(options.host_cpu);
	if (options.host_cpu < 0)
		options.host_cpu = cpu_beside(options.guest_cpu);
	if (options.guest_cpu == options.host_cpu)
		warn("guest and host share one CPU: two would run at once");
}

static void open_pipe(int fds[2])
{
	if (pipe2(fds, O_CLOEXEC) || fcntl(fds[1], F_SETFL, O_NONBLOCK) < 0)
		die(EXIT_FAILED, "cannot make a pipe: %s", reason(errno));
}

void *map_shared(int fd)
{
	void *p = mmap(NULL, shared_bytes(), PROT_READ | PROT_WRITE,
		       MAP_SHARED | MAP_POPULATE, fd, 0);

	if (p == MAP_FAILED)
		die(EXIT_FAILED, "no memory for the ring: %zu bytes: %s",
		    shared_bytes(), reason(errno));
	return p;
}

/* The guest's process: it has the memory at an address of its own. */
static void __attribute__((noreturn)) guest_main(struct shared *theirs, int fd)
{
	struct shared *shared = map_shared(fd);
	uint64_t start;

	munmap(theirs, shared_bytes());
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	require_pin("guest-affinity", options.guest_cpu);
	guest_end.told = &shared->guest;
	guest_start((char *)shared, 0);
	WRITE_ONCE(shared->guest_base, (uintptr_t)shared);
	/* The pipes order what the ring does not: who is ready, and the end. */
	wake(&guest_end);
	sleep_until_woken(&guest_end);
	shared->guest = (struct told){ 0, 0 };
	start = now_ns();
	guest_loop();
	WRITE_ONCE(shared->elapsed_ns, now_ns() - start);
	check_pin("guest-affinity", options.guest_cpu);
	_exit(EXIT_DONE);
}

void run_parallel(struct shared *shared, int fd)
{
	int kick[2], call[2], status;

	signal(SIGPIPE, SIG_IGN);
	open_pipe(kick);
	open_pipe(call);
	guest_end.wake = kick[1];
	guest_end.wait = call[0];
	host_end.wake = call[1];
	host_end.wait = kick[0];
	fflush(NULL);
	guest_pid = fork();
	if (guest_pid < 0)
		die(EXIT_FAILED, "cannot start a process: %s", reason(errno));
	/* An end held open by its reader would hide that the writer is gone. */
	if (!guest_pid) {
		close(kick[0]);
		close(call[1]);
		guest_main(shared, fd);
	}
	close(kick[1]);
	close(call[0]);
	require_pin("host-affinity", options.host_cpu);
	host_end.told = &shared->host;
	sleep_until_woken(&host_end);
	host_start(&vringh_user, (char *)shared, READ_ONCE(shared->guest_base));
	wake(&host_end);
	shared->host = (struct told){ 0, 0 };
	if (options.ops)
		host_loop_ops();
	else
		host_loop_inlined();
	check_pin("host-affinity", options.host_cpu);
	if (waitpid(guest_pid, &status, 0) != guest_pid || !WIFEXITED(status))
		die(EXIT_FAILED, "the guest's process ended early");
	if (WEXITSTATUS(status))
		exit(WEXITSTATUS(status));
}
