// SPDX-License-Identifier: MIT
/*
 * Faults at run time, in a ring that is built with tests/ring/faults.h.
 *
 *	RINGTEST_FAULTS	words with commas between, of those below
 *	RINGTEST_SEED	what is random follows from it; default: the time
 *
 * Seed and faults go to stderr first, so that a failure can be repeated. What
 * was done is counted there at the end, unless the run fails.
 */
#define FAULTS_THEMSELVES
#include "faults.h"

#include <errno.h>
#include <inttypes.h>
#include <sched.h>
#include <signal.h>
#include <stdbool.h>
#include <string.h>
#include <sys/syscall.h>
#include <time.h>

#include "lib/random.h"

enum fault {
	DELAY,	      /* some shared accesses are late by up to 50 us */
	STOP,	      /* a side stands still for 100 ms, wherever it is */
	ONCE,	      /* the host does, once, 100 ms after the start */
	SPURIOUS,     /* eventfds hold tokens from the start, and get more */
	FAULT_EINTR,  /* a read or write of an eventfd was interrupted */
	FAULT_EAGAIN, /* a read or write of an eventfd would have waited */
	STORM,	      /* every thread gets a signal 1000 times a second */
	MOVE,	      /* sides are moved from CPU to CPU */
	REFUSE,	      /* refuse=N: call N for memory, a thread, a file fails */
	NR_FAULTS
};
static const char *const words[NR_FAULTS] = {
	"delay",  "stop",  "once", "spurious", "eintr",
	"eagain", "storm", "move", "refuse",
};
static bool on[NR_FAULTS];
static unsigned long done[NR_FAULTS];
static unsigned long refused_call, calls;
static uint64_t seed;

static void count(enum fault fault)
{
	__atomic_add_fetch(&done[fault], 1, __ATOMIC_RELAXED);
}

/* Guest and host have a state of their own; 0: neither, and no faults. */
static __thread uint64_t state;

static bool one_in(unsigned n)
{
	return state && random32(&state) % n == 0;
}

/* Whole, whatever signals come. */
static void sleep_ns(long ns)
{
	struct timespec ts = { .tv_nsec = ns };

	while (nanosleep(&ts, &ts) && errno == EINTR)
		;
}

void faulty_step(void)
{
	if (!on[DELAY] || !one_in(64))
		return;
	count(DELAY);
	if (one_in(256))
		sleep_ns(50000);
	else if (one_in(32))
		sched_yield();
	else
		for (volatile unsigned i = random32(&state) % 1000; i; i--)
			;
}

int faulty_refuse(int error)
{
	if (__atomic_add_fetch(&calls, 1, __ATOMIC_RELAXED) != refused_call)
		return false;
	count(REFUSE);
	errno = error;
	return true;
}

/* ---- Eventfds ---- */

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static int fds[2] = { -1, -1 }; /* under the lock */
static const uint64_t token = 1;

static bool known(int fd)
{
	return fd >= 0 && (fd == __atomic_load_n(&fds[0], __ATOMIC_RELAXED) ||
			   fd == __atomic_load_n(&fds[1], __ATOMIC_RELAXED));
}

int faulty_eventfd(unsigned count, int flags)
{
	int fd;

	if (faulty_refuse(EMFILE))
		return -1;
	fd = eventfd(count + (on[SPURIOUS] ? 3 : 0), flags);
	pthread_mutex_lock(&lock);
	__atomic_store_n(&fds[fds[0] >= 0], fd, __ATOMIC_RELAXED);
	pthread_mutex_unlock(&lock);
	return fd;
}

int faulty_close(int fd)
{
	pthread_mutex_lock(&lock);
	for (int i = 0; i < 2; i++)
		if (fds[i] == fd)
			__atomic_store_n(&fds[i], -1, __ATOMIC_RELAXED);
	pthread_mutex_unlock(&lock);
	return close(fd);
}

ssize_t faulty_read(int fd, void *buf, size_t size)
{
	if (known(fd) && on[FAULT_EINTR] && one_in(4)) {
		count(FAULT_EINTR);
		errno = EINTR;
		return -1;
	}
	if (known(fd) && on[FAULT_EAGAIN] && one_in(4)) {
		count(FAULT_EAGAIN);
		errno = EAGAIN;
		return -1;
	}
	return read(fd, buf, size);
}

ssize_t faulty_write(int fd, const void *buf, size_t size)
{
	if (known(fd) && on[FAULT_EINTR] && one_in(4)) {
		count(FAULT_EINTR);
		errno = EINTR;
		return -1;
	}
	if (known(fd) && on[FAULT_EAGAIN] && one_in(4)) {
		count(FAULT_EAGAIN);
		/* it means that the counter is full, so the sleeper wakes */
		if (write(fd, buf, size) == (ssize_t)size)
			errno = EAGAIN;
		return -1;
	}
	return write(fd, buf, size);
}

/* ---- Threads ---- */

static pid_t tids[2]; /* of the guest and the host; 0: not there */
static unsigned nr_threads;

struct start {
	void *(*fn)(void *);
	void *arg;
	unsigned nr;
};

static void *begin(void *arg)
{
	struct start start = *(struct start *)arg;
	void *result;

	free(arg);
	state = seed * 2 + start.nr + 1;
	for (int i = 0; i < 16; i++)
		random32(&state);
	__atomic_store_n(&tids[start.nr % 2], syscall(SYS_gettid),
			 __ATOMIC_RELAXED);
	result = start.fn(start.arg);
	__atomic_store_n(&tids[start.nr % 2], 0, __ATOMIC_RELAXED);
	return result;
}

int faulty_thread(pthread_t *id, const pthread_attr_t *attr,
		  void *(*fn)(void *), void *arg)
{
	struct start *start;
	int err;

	if (faulty_refuse(EAGAIN))
		return EAGAIN;
	start = malloc(sizeof(*start));
	if (!start)
		abort();
	*start = (struct start){ fn, arg, nr_threads++ };
	err = pthread_create(id, attr, begin, start);
	if (err)
		free(start);
	return err;
}

static void on_storm(int sig)
{
	(void)sig;
	count(STORM);
}

static void on_stop(int sig)
{
	int saved = errno;

	(void)sig;
	count(STOP);
	sleep_ns(100000000);
	errno = saved;
}

static void send(pid_t tid, int sig)
{
	if (tid)
		syscall(SYS_tgkill, getpid(), tid, sig);
}

/* To one of the CPUs allowed, or to all. */
static void move(pid_t tid, const cpu_set_t *allowed, uint64_t random)
{
	unsigned nr = random % (CPU_COUNT(allowed) + 1);
	cpu_set_t one = *allowed;

	for (int cpu = 0; cpu < CPU_SETSIZE; cpu++)
		if (CPU_ISSET(cpu, allowed) && !nr--) {
			CPU_ZERO(&one);
			CPU_SET(cpu, &one);
		}
	if (tid && !sched_setaffinity(tid, sizeof(one), &one))
		count(MOVE);
}

/* Once a millisecond, whatever disturbs from outside. */
static void *mischief(void *unused)
{
	uint64_t s = seed * 2 + 1;
	cpu_set_t allowed;

	sched_getaffinity(0, sizeof(allowed), &allowed);
	for (unsigned ms = 0;; ms++) {
		unsigned side = random32(&s) & 1;
		pid_t tid = __atomic_load_n(&tids[side], __ATOMIC_RELAXED);

		if (on[STORM]) {
			send(getpid(), SIGALRM);
			send(__atomic_load_n(&tids[0], __ATOMIC_RELAXED),
			     SIGALRM);
			send(__atomic_load_n(&tids[1], __ATOMIC_RELAXED),
			     SIGALRM);
		}
		if (on[STOP] && (ms == 2 || random32(&s) % 256 == 0))
			send(tid, SIGUSR1);
		if (on[ONCE] && ms == 100)
			send(__atomic_load_n(&tids[1], __ATOMIC_RELAXED),
			     SIGUSR1);
		if (on[MOVE] && (ms < 3 || random32(&s) % 4 == 0))
			move(tid, &allowed, random32(&s));
		if (on[SPURIOUS]) {
			pthread_mutex_lock(&lock);
			if (fds[side] >= 0 &&
			    write(fds[side], &token, sizeof(token)) > 0)
				count(SPURIOUS);
			pthread_mutex_unlock(&lock);
		}
		sleep_ns(1000000);
	}
	return unused;
}

/* ---- Start and end ---- */

static void tell(void)
{
	fprintf(stderr, "faults:");
	for (int i = 0; i < REFUSE; i++)
		fprintf(stderr, " %lu %s,",
			__atomic_load_n(&done[i], __ATOMIC_RELAXED), words[i]);
	fprintf(stderr, " %lu of %lu calls refused\n",
		__atomic_load_n(&done[REFUSE], __ATOMIC_RELAXED),
		__atomic_load_n(&calls, __ATOMIC_RELAXED));
}

static void parse(const char *list)
{
	char *copy = strdup(list), *rest = copy, *word;

	while ((word = strsep(&rest, ","))) {
		int i = 0;

		while (i < REFUSE && strcmp(word, words[i]))
			i++;
		if (i == REFUSE &&
		    sscanf(word, "refuse=%lu", &refused_call) != 1) {
			fprintf(stderr, "faults: %s: no such fault\n", word);
			_exit(2);
		}
		on[i] = true;
	}
	free(copy);
}

__attribute__((constructor)) static void start(void)
{
	struct sigaction act = { .sa_handler = on_storm };
	const char *list = getenv("RINGTEST_FAULTS");
	const char *number = getenv("RINGTEST_SEED");
	struct timespec ts;
	pthread_t thread;

	if (!list)
		return;
	parse(list);
	clock_gettime(CLOCK_REALTIME, &ts);
	seed = number ? strtoull(number, NULL, 10) : (uint64_t)ts.tv_nsec;
	fprintf(stderr,
		"faults: RINGTEST_FAULTS=%s RINGTEST_SEED=%" PRIu64 "\n", list,
		seed);
	atexit(tell);

	/* without SA_RESTART: calls are interrupted */
	sigaction(SIGALRM, &act, NULL);
	act.sa_handler = on_stop;
	sigaction(SIGUSR1, &act, NULL);
	if ((on[STORM] || on[STOP] || on[ONCE] || on[MOVE] || on[SPURIOUS]) &&
	    pthread_create(&thread, NULL, mischief, NULL))
		abort();
}
