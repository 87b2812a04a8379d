// SPDX-License-Identifier: MIT
/*
 * Every execution of a layout in small rings: main.c's own loops, with what
 * harness/ and lib/ have for it replaced. A sleeping side waits for a counter, to
 * which a kick or call adds one, with release and acquire and no more; looks,
 * clocks and threads' start are the explorer's.
 *
 * Buffers are checked as --verify does it: each comes once, in order, with its
 * address, length and number. As with --payload the host reads what the guest wrote
 * in a buffer, and the guest the answer that the host wrote before it completed it:
 * plain memory, which the ring alone orders. There are as few buffers as there can
 * be: with more of them one that is used again too early would not be seen.
 */
#include <stdint.h>

/* In place of harness/payload.h, below. */
#define HARNESS_PAYLOAD_H
static void payload_init(void);
static void payload_give(uint64_t seq, unsigned *len, void **buf);
static void payload_host(void *buf);
static void payload_back(const void *buf);

#define main ringtest_main /* and this file has its own */
#include "main.c"
#undef main

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "tests/prove/cases.h"

struct config config;
struct ticks ticks;
struct latency latency;
struct schedule schedule;

/* ---- What is replaced ---- */

void *alloc_pages(size_t size)
{
	return prove_alloc(size, 4096);
}

void free_all(void)
{
}

static uint64_t guest_counter, host_counter; /* eventfds */

static uint64_t *counter(const struct side *side)
{
	return side == &guest ? &guest_counter : &host_counter;
}

void notify(struct side *from, const struct side *to)
{
	PROVE_SITE("write(eventfd)", PROVE_ADD, PROVE_RELEASE);
	from->sent++;
	prove_rmw(&site_, counter(to), sizeof(uint64_t), 1);
}

void sleep_until_woken(struct side *me)
{
	PROVE_SITE("read(eventfd)", PROVE_EXCHANGE, PROVE_ACQUIRE);
	prove_sleep(&site_, counter(me));
}

void crew_meet(struct crew *crew)
{
	(void)crew;
	prove_meet();
}

void crew_pin(const char *option, int cpu)
{
	(void)option;
	(void)cpu;
}

void crew_run(unsigned size, void (*fn)(void *), void *const *args,
	      void (*look)(void))
{
	(void)size;
	(void)fn;
	(void)args;
	(void)look;
}

void side_open(struct side *side)
{
	*side = (struct side){ 0 };
}

void side_close(struct side *side)
{
	(void)side;
}

void phases_point(uint64_t finished, uint64_t in_flight,
		  const struct side *guest_side, const struct side *host_side)
{
	(void)finished;
	(void)in_flight;
	(void)guest_side;
	(void)host_side;
}

void phases_start(void)
{
}

void latency_init(void)
{
}

void latency_begin(void)
{
}

void latency_end(uint64_t elapsed_ns)
{
	(void)elapsed_ns;
}

void ticks_start(void)
{
}

void sleep_until(struct side *me, uint64_t ns)
{
	(void)ns;
	sleep_until_woken(me);
}

void phases_write(void)
{
}

void watch(void)
{
}

void watch_start(const struct side *guest_side, const struct side *host_side)
{
	(void)guest_side;
	(void)host_side;
}

void report_start(void)
{
}

void report_sample(const struct sample *sample)
{
	(void)sample;
}

void queues_start(struct sample (*run)(void))
{
	(void)run;
}

void queues_run(void)
{
}

void queues_end(void)
{
}

struct crew *queues_crew(void)
{
	return NULL;
}

void config_init(int argc, char **argv)
{
	(void)argc;
	(void)argv;
}

void conclude(void)
{
}

void die(int status, const char *format, ...)
{
	(void)status;
	prove_fault("the layout ends the program: %s", format);
}

/* ---- Buffers ---- */

static struct item {
	uint64_t stamp, answer;
	char bytes[64];
	char data;
} * pool;
static uint64_t pool_items;
static uint64_t worked, answered; /* buffers: by the host; read by the guest */

static struct item *item(uint64_t seq)
{
	return &pool[seq % pool_items];
}

static unsigned length(uint64_t seq)
{
	const unsigned len = 1 + seq % 61;

	return !ring_info.max_len || len < ring_info.max_len ?
		       len :
		       ring_info.max_len;
}

/*
 * As many as can be in flight. Where nothing comes back the host may be at work on
 * one that has left the ring; and while the ring is full the guest has stamped the
 * next one.
 */
void verify_init(void)
{
	pool_items = !ring_info.completes ? config.ring_size + 2 :
		     config.outstanding > config.ring_size ?
					    config.ring_size + 1 :
					    config.outstanding;
	pool = prove_alloc(pool_items * sizeof(*pool), _Alignof(struct item));
	worked = answered = 0;
}

static void payload_init(void)
{
}

static void payload_give(uint64_t seq, unsigned *len, void **buf)
{
	(void)seq;
	(void)len;
	(void)buf;
}

static void payload_host(void *buf)
{
	struct item *it = item(worked);

	(void)buf;
	if (prove_plain_read(&it->stamp) != worked)
		prove_fault("buffer %" PRIu64 ": the host read what the guest "
			    "wrote for number %" PRIu64,
			    worked, it->stamp);
	prove_plain_write(&it->answer, worked);
	worked++;
}

static void payload_back(const void *buf)
{
	struct item *it = item(answered);

	(void)buf;
	if (ring_info.completes && prove_plain_read(&it->answer) != answered)
		prove_fault("buffer %" PRIu64 ": the guest read what the host "
			    "answered to number %" PRIu64,
			    answered, it->answer);
	answered++;
}

void *verify_give(uint64_t seq, unsigned *len, void **buf)
{
	struct item *it = item(seq);

	prove_plain_write(&it->stamp, seq);
	*len = length(seq);
	*buf = it->bytes;
	return &it->data;
}

void verify_back(uint64_t seq, unsigned len, const void *buf, const void *data)
{
	struct item *it = item(seq);

	if (!ring_info.completes)
		return;
	if (data != &it->data || buf != it->bytes)
		prove_fault("the guest got back another buffer, not number "
			    "%" PRIu64,
			    seq);
	if (!right_len(len, length(seq)))
		prove_fault("buffer %" PRIu64 ": the guest was told that %u "
			    "bytes were used, not %u",
			    seq, len, length(seq) - 1);
}

void verify_used(uint64_t seq, unsigned len, const void *buf)
{
	struct item *it = item(seq);

	if (ring_info.addresses && buf != it->bytes)
		prove_fault("the host was given another buffer, not number "
			    "%" PRIu64,
			    seq);
	if (ring_info.max_len && len != length(seq))
		prove_fault("buffer %" PRIu64 ": the host was given %u bytes, "
			    "not %u",
			    seq, len, length(seq));
	if (worked != seq + 1)
		prove_fault("buffer %" PRIu64 ": use_buf did not let the host "
			    "work on it",
			    seq);
}

void verify_guest_done(void)
{
	unsigned len;
	void *buf;

	if (ring_info.completes && get_buf(&len, &buf))
		prove_fault("after the last buffer the guest got back one "
			    "more");
}

void verify_host_done(void)
{
	if (!avail_empty())
		prove_fault("after the last buffer the host is offered one "
			    "more");
}

/* ---- Cases ---- */

static const struct prove_thread threads[] = {
	{ "guest", guest_thread },
	{ "host", host_thread },
};

static void reset(void)
{
	side_open(&guest);
	side_open(&host);
	guest_counter = host_counter = 0;
}

/* The quickest come first, for what weakens a barrier. */
static const struct mode {
	unsigned size, buffers, batch, param;
	bool sleep, poll_first;
} standard[] = {
	{ 1, 4, 1, 0, false, false }, { 1, 2, 1, 0, true, false },
	{ 1, 2, 1, 0, true, true },   { 2, 3, 2, 0, true, false },
	{ 2, 3, 1, 2, true, false },  { 2, 3, 1, 0, true, false },
	{ 2, 3, 1, 0, true, true },   { 2, 5, 1, 2, false, false },
	{ 2, 5, 1, 0, false, false },
};

#define max(a, b) ((a) > (b) ? (a) : (b))
static struct mode asked = { .batch = 1 };
static bool brief;	     /* rings of one entry alone */
static unsigned outstanding; /* 0: the ring's size, if it completes */

static bool applies(const struct mode *mode)
{
	/* a request that stands has ten times the executions: one entry will do */
	if (ring_info.flags && mode->sleep && mode->size > 1 &&
	    (mode->poll_first || mode->param))
		return false;
	return (!mode->sleep || ring_info.notifies) &&
	       (!brief || mode->size == 1) && (!mode->param || ring_info.param);
}

/* False: a fault. */
static bool run_mode(const struct mode *mode)
{
	const unsigned least = mode->param * ring_info.param_divisor;
	const unsigned size = max(max(mode->size, least), ring_info.min_size);
	/* as many rounds in a ring that has to be larger */
	const unsigned buffers = mode->buffers + size - mode->size;
	char how[96], batch[24] = "", param[24] = "";

	config = (struct config){
		.ring_size = size,
		.run_cycles = buffers,
		.outstanding = outstanding	   ? outstanding :
			       ring_info.completes ? size :
						     UINT64_MAX,
		.batch = mode->batch,
		.param = mode->param,
		.sleep = mode->sleep,
		.poll_first = mode->poll_first,
		.relax = true,
		.queues = 1,
		.verify = true,
		.payload = 1,
	};
	config.in_flight = config.outstanding;
	if (mode->batch > 1)
		snprintf(batch, sizeof(batch), ", batch %u", mode->batch);
	if (mode->param)
		snprintf(param, sizeof(param), ", param %u", mode->param);
	snprintf(how, sizeof(how), "%s, size %u, buffers %u%s%s",
		 !mode->sleep	  ? "polls" :
		 mode->poll_first ? "polls, sleeps" :
				    "sleeps",
		 size, buffers, batch, param);
	return prove_case(ring_info.name, how, threads, 2, reset);
}

static void refuse(const char *why)
{
	fprintf(stderr, "prove_%s: %s\n", ring_info.name, why);
	exit(EXIT_USAGE);
}

/* What the layout cannot do would be taken for its fault. */
static void check_asked(void)
{
	if (!asked.size || !asked.buffers)
		refuse("one case needs both --size and --buffers");
	if (asked.size < ring_info.min_size || asked.size > ring_info.max_size)
		refuse("--size: the layout has no ring of that size");
	if (ring_info.power_of_two && (asked.size & (asked.size - 1)))
		refuse("--size: give a power of two");
	if (asked.sleep && !ring_info.notifies)
		refuse("--sleep: it has no notifications; leave it out");
	if (asked.param && !ring_info.param)
		refuse("--param: it has no parameter; leave it out");
	if (!asked.batch)
		refuse("--batch: give at least 1");
}

static bool run_all(void)
{
	bool proved = true;

	if (!ring_info.addresses) {
		printf("%-20s moves no buffers: nothing to prove\n",
		       ring_info.name);
		return true;
	}
	if (asked.size || asked.buffers || asked.sleep || asked.param) {
		check_asked();
		return run_mode(&asked);
	}
	for (unsigned i = 0; proved && i < sizeof(standard) / sizeof(*standard);
	     i++)
		if (applies(&standard[i]))
			proved = run_mode(&standard[i]);
	return proved;
}

int main(int argc, char **argv)
{
	static const struct prove_option options[] = {
		{ "size", &asked.size, NULL, "of the ring, with --buffers" },
		{ "buffers", &asked.buffers, NULL, "in all, with --size" },
		{ "batch", &asked.batch, NULL, "per kick and call" },
		{ "param", &asked.param, NULL, "the layout's own" },
		{ "outstanding", &outstanding, NULL, "max in flight" },
		{ "brief", NULL, &brief, "rings of one entry alone" },
		{ "sleep", NULL, &asked.sleep, "who finds nothing sleeps" },
		{ "poll-first", NULL, &asked.poll_first, "once, before that" },
		{ 0 },
	};

	return prove_main(argc, argv, ring_info.name, options, run_all);
}
