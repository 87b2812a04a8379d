// SPDX-License-Identifier: MIT
#include <errno.h>
#include <pthread.h>
#include <sched.h>
#include <stdlib.h>
#include <string.h>

#include "affinity.h"
#include "barrier.h"
#include "crew.h"
#include "program.h"

struct task {
	pthread_t thread;
	void (*fn)(void *);
	void *arg;
};

static void *run(void *p)
{
	struct task *task = p;

	task->fn(task->arg);
	return NULL;
}

void crew_run(unsigned size, void (*fn)(void *), void *const *args)
{
	struct task *tasks = calloc(size, sizeof(*tasks));

	if (!tasks)
		die(EXIT_FAILED, "no memory for %u threads", size);
	for (unsigned i = 0; i < size; i++) {
		int err;

		tasks[i].fn = fn;
		tasks[i].arg = args[i];
		err = pthread_create(&tasks[i].thread, NULL, run, &tasks[i]);
		if (err)
			die(EXIT_FAILED, "cannot start thread %u of %u: %s",
			    i + 1, size, strerror(err));
	}
	for (unsigned i = 0; i < size; i++)
		pthread_join(tasks[i].thread, NULL);
	free(tasks);
}

void crew_pin(const char *option, int cpu)
{
	if (!pin_thread(cpu))
		die(EXIT_CANNOT, "--%s: CPU %d was refused: %s", option, cpu,
		    strerror(errno));
}

bool crew_crowded(const int *cpus, unsigned size)
{
	bool crowded = size > (unsigned)allowed_cpus();

	for (unsigned i = 0; i < size; i++)
		for (unsigned k = 0; k < i; k++)
			crowded |= cpus[i] >= 0 && cpus[i] == cpus[k];
	return crowded;
}

void crew_meet(struct crew *crew)
{
	/* M.arrive: all before it. Pairs with M.meet in crew_meet. */
	smp_add_release(&crew->arrived, 1);
	/* M.meet: the others' arrival. Pairs with M.arrive in crew_meet. */
	while (smp_load_acquire(&crew->arrived) < crew->size)
		sched_yield();	/* who is missing may be queued right here */
}
