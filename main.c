// SPDX-License-Identifier: MIT
/*
 * The harness: two threads, a guest and a host, pass buffers through whatever
 * ring this file is linked with. Only what is hot or shared by both threads is
 * here; the command line, reports and checks are in harness/.
 */
#define _GNU_SOURCE
#include <sched.h>

#include "main.h"
#include "lib/clock.h"
#include "harness/config.h"
#include "lib/crew.h"
#include "harness/latency.h"
#include "harness/payload.h"
#include "harness/phases.h"
#include "harness/queues.h"
#include "lib/program.h"
#include "harness/report.h"
#include "harness/side.h"
#include "harness/verify.h"

#define __hot_inline inline __attribute__((always_inline, flatten))

/*
 * Every ring call is inlined into a function marked like this, given LTO. Each
 * begins a line of its own, so that a change of what lies before it moves no jump
 * to another place in its line: that alone was 17 % of a sample once.
 */
#define __flat __attribute__((flatten, noinline, aligned(CACHE_LINE)))

/*
 * Hides the counter from the compiler, so that it cannot turn the loop into a
 * closed form, whatever the ring's calls come to. Costs no instruction.
 */
#define keep(counter) __asm__ volatile("" : "+r"(counter))

static struct side guest, host;

/* Moves rare code out of the way: fewer jumps, which shows without LTO. */
#define likely(x) __builtin_expect(!!(x), 1)
#define min(a, b) ((a) < (b) ? (a) : (b))
#define publish_due(n) !likely((n) % 4096)

void kick(void)
{
	notify(&guest, &host);
}

void call(void)
{
	notify(&host, &guest);
}

void host_works(void *buf)
{
	payload_host(ring_info.addresses ? buf : NULL);
}

/* ---- The two loops ---- */

static __hot_inline void publish(struct side *me, uint64_t added,
				 uint64_t finished)
{
	WRITE_ONCE(me->added, added);
	WRITE_ONCE(me->finished, finished);
}

static __hot_inline void publish_point(uint64_t added, uint64_t finished)
{
	publish(&guest, added, finished);
	if (config.phases)
		phases_point(finished, added - finished, &guest, &host);
}

/* After some 50 us the other side may need this CPU, even if there are two. */
static __hot_inline void poll_pause(uint32_t looks)
{
	if (config.one_cpu || looks > 4096)
		sched_yield();
	else if (config.relax)
		cpu_relax();
}

static __hot_inline void poll_ring(struct side *me, bool (*empty)(void))
{
	WRITE_ONCE(me->where, POLLING);
	for (uint32_t looks = 0; empty(); looks++)
		poll_pause(looks);
	burn_cycles(config.backoff);
	WRITE_ONCE(me->where, RUNNING);
}

static __hot_inline void guest_sleep(bool until_due, uint32_t *unkicked)
{
	if (*unkicked) {
		kick_available();
		*unkicked = 0;
	}
	if (config.poll_first && !used_empty())
		return;
	if (enable_call()) {
		if (until_due)
			sleep_until(&guest, latency_due_in_ns());
		else
			sleep_until_woken(&guest);
		guest.spurious += used_empty() && !(until_due && latency_due());
	}
	disable_call();
}

/* Until there is something to get back, or the next buffer is due. */
static __hot_inline void guest_poll_until_due(void)
{
	for (uint32_t looks = 0; used_empty(); looks++) {
		if (latency_due())
			return;
		poll_pause(looks);
	}
	burn_cycles(config.backoff);
}

static __hot_inline void guest_wait(bool sleep, bool until_due,
				    uint32_t *unkicked)
{
	if (sleep)
		guest_sleep(until_due, unkicked);
	else if (until_due)
		guest_poll_until_due();
	else
		poll_ring(&guest, used_empty);
}

/* One more is added: is a batch full? */
static __hot_inline void guest_kick(uint32_t batch, uint32_t *unkicked)
{
	if (++*unkicked < batch)
		return;
	kick_available();
	*unkicked = 0;
}

/* What options ask for, of a buffer that is to be added... */
static __hot_inline void guest_gives(uint64_t seq, unsigned *len, void **buf,
				     void **data)
{
	if (config.verify)
		*data = verify_give(seq, len, buf);
	if (config.payload)
		payload_give(seq, len, buf);
}

/* ... and of one that is back. */
static __hot_inline void guest_took(uint64_t seq, unsigned len, const void *buf,
				    const void *data)
{
	if (config.latency && ring_info.completes)
		latency_back(seq);
	if (config.verify)
		verify_back(seq, len, buf, data);
	if (config.payload)
		payload_back(buf);
}

/*
 * @plain: polling, and nothing but the ring, which is what most runs measure.
 * Testing for options that are not set would cost as much as some layouts do.
 */
static __hot_inline void guest_loop(const bool plain)
{
	const uint64_t cycles = config.run_cycles;
	const uint32_t batch = config.batch;
	const uint32_t work = plain ? 0 : config.guest_work;
	const bool verify = !plain && config.verify;
	const bool sleep = !plain && config.sleep;
	const bool timed = !plain && config.latency;
	const bool paced = !plain && config.rate;
	const bool filled = !plain && config.payload;
	/* Max to be added by now: as many as are back, plus in_flight. */
	uint64_t limit = min(config.in_flight, cycles);
	uint64_t added = 0, finished = 0;
	uint32_t unkicked = 0;
	unsigned len = 1, used_len;
	char nothing;
	void *buf = &nothing, *data = &nothing, *used_buf, *back;

	phases_point(0, 0, &guest, &host);
	for (;;) {
		bool moved = false, full = false;

		if (added != limit && (!paced || latency_due())) {
			if (verify || filled)
				guest_gives(added, &len, &buf, &data);
			if (timed)
				latency_add(added);
			full = add_inbuf(len, buf, data);
			if (likely(!full)) {
				moved = true;
				if (paced)
					latency_added(added);
				added++;
				if (sleep)
					guest_kick(batch, &unkicked);
				if (work) {
					burn_cycles(work);
					publish(&guest, added, finished);
				}
			}
		} else if (finished == cycles) {
			break;
		}

		back = get_buf(&used_len, &used_buf);
		if (back) {
			moved = true;
			if (verify || timed || filled)
				guest_took(finished, used_len, used_buf, back);
			finished++;
			keep(finished);
			if (limit != cycles) {
				limit++;
				keep(limit); /* a branch, not a chain of adds */
			}
			if (work || publish_due(finished))
				publish_point(added, finished);
		}
		if (moved)
			continue;

		publish(&guest, added, finished);
		guest.waits++;
		guest_wait(sleep, paced && added != limit && !full, &unkicked);
	}
	publish(&guest, added, finished);
	phases_point(finished, 0, &guest, &host);
	if (verify)
		verify_guest_done();
}

static __hot_inline void host_sleep(uint32_t *uncalled)
{
	if (*uncalled) {
		call_used();
		*uncalled = 0;
	}
	if (config.poll_first && !avail_empty())
		return;
	if (enable_kick()) {
		sleep_until_woken(&host);
		host.spurious += avail_empty();
	}
	disable_kick();
}

static __hot_inline void host_loop(const bool plain)
{
	const uint64_t cycles = config.run_cycles;
	const uint32_t batch = config.batch;
	const uint32_t work = plain ? 0 : config.host_work;
	const bool verify = !plain && config.verify;
	const bool sleep = !plain && config.sleep;
	const bool timed = !plain && config.latency && !ring_info.completes;
	const bool filled = !plain && config.payload;
	uint64_t used = 0;
	uint32_t uncalled = 0;
	char nothing;

	while (used != cycles) {
		unsigned len;
		void *buf = filled ? &nothing : NULL;

		if (use_buf(&len, &buf)) {
			if (timed)
				latency_used(used);
			if (verify)
				verify_used(used, len, buf);
			used++;
			keep(used);
			if (sleep && ++uncalled == batch) {
				call_used();
				uncalled = 0;
			}
			burn_cycles(work);
			if (work || publish_due(used))
				publish(&host, 0, used);
			continue;
		}

		publish(&host, 0, used);
		WRITE_ONCE(host.waits, host.waits + 1);
		if (!sleep) {
			poll_ring(&host, avail_empty);
			continue;
		}
		host_sleep(&uncalled);
	}
	/* One last look: now a layout shows whatever it has held back. */
	avail_empty();
	if (uncalled)
		call_used();
	publish(&host, 0, used);
	if (verify)
		verify_host_done();
}

static __flat void guest_plain(void)
{
	guest_loop(true);
}

static __flat void guest_any(void)
{
	guest_loop(false);
}

static __flat void host_plain(void)
{
	host_loop(true);
}

static __flat void host_any(void)
{
	host_loop(false);
}

/* ---- Threads ---- */

static struct crew both __cache_aligned;

static void start(struct side *me)
{
	crew_meet(config.queues > 1 ? queues_crew() : &both);
	me->start_ns = now_ns();
	WRITE_ONCE(me->where, RUNNING);
}

static void end(struct side *me)
{
	me->end_ns = now_ns();
	WRITE_ONCE(me->where, DONE);
}

static void guest_thread(void)
{
	crew_pin("guest-affinity", config.guest_cpu);
	/* By the guest, so that the ring is on its node, as with a driver. */
	alloc_ring();
	if (config.verify)
		verify_init();
	if (config.payload)
		payload_init();
	start(&guest);
	if (config.latency)
		latency_begin();
	if (config.verify || config.sleep || config.guest_work ||
	    config.latency || config.payload)
		guest_any();
	else
		guest_plain();
	end(&guest);
}

static void host_thread(void)
{
	crew_pin("host-affinity", config.host_cpu);
	start(&host);
	if (config.verify || config.sleep || config.host_work ||
	    config.latency || config.payload)
		host_any();
	else
		host_plain();
	end(&host);
}

static void run_side(void *thread)
{
	((void (*)(void))thread)();
}

static struct sample run_once(void)
{
	both = (struct crew){ .size = 2, .crowded = config.one_cpu };
	phases_start();
	if (config.latency) {
		ticks_start();
		latency_init();
	}
	side_open(&guest);
	side_open(&host);
	watch_start(&guest, &host);
	crew_run(2, run_side, (void *[]){ guest_thread, host_thread }, watch);
	side_close(&guest);
	side_close(&host);

	/* Without completions the guest cannot tell when the host is done. */
	if (!ring_info.completes && host.end_ns > guest.end_ns)
		guest.end_ns = host.end_ns;
	if (config.latency)
		latency_end(guest.end_ns - guest.start_ns);
	free_all();
	return (struct sample){
		.elapsed_ns = guest.end_ns - guest.start_ns,
		.kicks = guest.sent,
		.calls = host.sent,
		.guest_spurious = guest.spurious,
		.host_spurious = host.spurious,
	};
}

int main(int argc, char **argv)
{
	config_init(argc, argv);
	if (config.queues > 1)
		queues_start(run_once);
	report_start();
	for (uint32_t i = 0; i < config.repeat; i++) {
		struct sample sample;

		if (config.queues > 1) {
			queues_run();
			continue;
		}
		sample = run_once();
		report_sample(&sample);
		phases_write();
	}
	queues_end();
	conclude();
	return EXIT_DONE;
}
