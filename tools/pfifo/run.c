// SPDX-License-Identifier: MIT
/*
 * pfifo: ptr_ring.h at work, as a network card's queue uses it. A queueing
 * discipline has three bands, each a ring of pointers. Every thread sends: it
 * puts a packet into its band and then, if nobody else does so at the time,
 * takes packets from the first band that has some and hands them to the device.
 *
 *	pools		packets; one pool for each thread. Written by it, but
 *			for busy, which the device takes away
 *	bands		ptr_ring.h has the picture
 *	run lock,	one pair of lines; written by whoever runs the discipline
 *	device
 *
 * Edges, beside those of ptr_ring.h and of its locks:
 *	F  device to the packet's thread: the end of all use, then not busy
 *	Q  who sends and who runs: a packet, then a look at the lock; the lock,
 *	   then a look at the bands. One of the two sees what the other did
 */
#include <inttypes.h>
#include <sched.h>
#include <stdbool.h>
#include <string.h>

#include "lib/barrier.h"
#include "lib/clock.h"
#include "lib/crew.h"
#include "lib/memory.h"
#include "lib/program.h"
#include "lib/spinlock.h"
#include "pfifo.h"
#include "ptr_ring.h"

/* ---- Packets ---- */

/*
 * What the thread writes and the device reads is plain memory on purpose: the
 * rings alone order it.
 */
struct packet {
	uint32_t thread, band;
	uint64_t seq;	/* of this thread in this band */
	uint64_t check; /* of all the above */
	uint32_t busy;	/* sent, and not freed yet */
	char data[];
};
_Static_assert(sizeof(struct packet) <= 40, "--size has room for it");

static char *pools;
static size_t stride; /* from packet to packet */

static struct packet *packet(uint32_t thread, uint32_t nr)
{
	return (void *)(pools + ((size_t)thread * options.pool + nr) * stride);
}

static uint64_t check_of(const struct packet *p)
{
	uint64_t v = p->seq * MAX_THREADS + p->thread;

	return (v * BANDS + p->band) * 0x9e3779b97f4a7c15;
}

static void free_packet(struct packet *p)
{
	/*
	 * F.release: the last look at the packet before it is free. Pairs with
	 * F.acquire in next_packet.
	 */
	smp_store_release(&p->busy, 0);
}

/* ---- The discipline and its device ---- */

static struct ptr_ring bands[BANDS];
static void **queues[BANDS];

static struct {
	struct spinlock run; /* holding it, one is the bands' consumer */
	uint64_t delivered;
	uint64_t due[MAX_THREADS][BANDS]; /* the next of each */
} __cache_aligned device;
ASSERT_APART(__typeof__(device));

/* Under the run lock: counts a packet, checks it and frees it. */
static void transmit(struct packet *p)
{
	uint32_t thread = p->thread, band = p->band;
	uint64_t *due;

	if (thread >= MAX_THREADS || band >= BANDS || p->check != check_of(p))
		die(EXIT_FAILED,
		    "after %" PRIu64 " packets the device got one "
		    "whose header is not as it was sent",
		    device.delivered);
	due = &device.due[thread][band];
	if (p->seq != *due)
		die(EXIT_FAILED,
		    "the device got packet %" PRIu64 " of thread %" PRIu32
		    ", band %" PRIu32 ", where %" PRIu64 " was due",
		    p->seq, thread, band, *due);
	++*due;
	device.delivered++;
	free_packet(p);
}

static struct packet *dequeue(void)
{
	for (int band = 0; band < BANDS; band++) {
		struct packet *p;

		if (ptr_ring_empty(&bands[band]))
			continue;
		p = ptr_ring_consume(&bands[band]);
		if (p)
			return p;
	}
	return NULL;
}

/* As ptr_ring_empty errs: who makes it err looks again, having unlocked. */
static bool all_empty(void)
{
	for (int band = 0; band < BANDS; band++)
		if (!ptr_ring_empty(&bands[band]))
			return false;
	return true;
}

/* False: there may be more, left to whoever comes next. */
static bool run_discipline(void)
{
	do {
		uint32_t n = 0;
		struct packet *p;

		/* looking takes the line from nobody */
		if (READ_ONCE(device.run.held) || !spin_trylock(&device.run))
			return true;
		while (n < options.quota && (p = dequeue())) {
			transmit(p);
			n++;
		}
		spin_unlock(&device.run);
		if (n == options.quota)
			return false;
		/* Q.run: the lock before the bands. Pairs with Q.send in send. */
		smp_mb();
	} while (!all_empty());
	return true;
}

/* False: dropped. */
static bool send(struct packet *p)
{
	bool sent = !ptr_ring_produce_mp(&bands[p->band], p);

	/*
	 * Q.send: the packet before the lock. Pairs with Q.run in
	 * run_discipline.
	 */
	smp_mb();
	run_discipline();
	return sent;
}

/* ---- Threads that send ---- */

static struct crew crew;

static struct thread {
	uint32_t nr;
	int cpu;
	uint64_t share;	     /* packets to send */
	uint64_t seq[BANDS]; /* sent */
	uint64_t drops;
	uint64_t start_ns, end_ns;
} __cache_aligned threads[MAX_THREADS];
ASSERT_APART(struct thread);

/* Waits for the device if the whole pool is under way. */
static struct packet *next_packet(const struct thread *me, uint32_t nr)
{
	struct packet *p = packet(me->nr, nr);

	/*
	 * F.acquire: the packet is free before it is written to. Pairs with
	 * F.release in free_packet.
	 */
	while (smp_load_acquire(&p->busy)) {
		run_discipline();
		cpu_relax();
		if (crew.crowded)
			sched_yield();
	}
	return p;
}

/* Most are for the band in the middle, as in a network. */
static uint32_t band_of(uint64_t n)
{
	return n % 8 == 0 ? 0 : n % 8 == 7 ? 2 : 1;
}

static void run_thread(void *arg)
{
	struct thread *me = arg;
	uint32_t nr = 0;

	crew_pin("affinity", me->cpu);
	for (uint32_t i = 0; i < options.pool; i++)
		memset(packet(me->nr, i), 0, stride);
	crew_meet(&crew);
	me->start_ns = now_ns();
	for (uint64_t n = 0; n < me->share; n++) {
		struct packet *p = next_packet(me, nr);

		p->thread = me->nr;
		p->band = band_of(n);
		p->seq = me->seq[p->band];
		p->check = check_of(p);
		WRITE_ONCE(p->busy, 1);
		/* counted first: once sent, the packet is the device's */
		me->seq[band_of(n)]++;
		if (send(p)) {
			if (++nr == options.pool)
				nr = 0;
		} else {
			me->seq[band_of(n)]--;
			me->drops++;
			WRITE_ONCE(p->busy, 0);
		}
	}
	/* the last to come here is alone, so that nothing stays behind */
	while (!all_empty())
		if (run_discipline())
			sched_yield();
	me->end_ns = now_ns();
}

/* ---- Runs ---- */

static void check_all(unsigned nr_threads, struct result *r)
{
	uint64_t sent = 0;

	for (unsigned i = 0; i < nr_threads; i++) {
		for (int band = 0; band < BANDS; band++) {
			uint64_t due = device.due[i][band];

			sent += threads[i].seq[band];
			if (threads[i].seq[band] != due)
				die(EXIT_FAILED,
				    "thread %u sent %" PRIu64
				    " packets in band %d, and the device got %" PRIu64,
				    i, threads[i].seq[band], band, due);
		}
		r->drops += threads[i].drops;
	}
	r->delivered = device.delivered;
	if (r->delivered != sent || sent + r->drops != options.packets)
		die(EXIT_FAILED,
		    "of %" PRIu64 " packets %" PRIu64 " were sent, "
		    "%" PRIu64 " dropped and %" PRIu64 " delivered",
		    options.packets, sent, r->drops, r->delivered);
}

struct result run_once(unsigned nr_threads, bool clear_first)
{
	uint64_t start_ns = UINT64_MAX, end_ns = 0;
	struct result r = { .threads = nr_threads, .order = clear_first };
	void *args[MAX_THREADS];
	int used[MAX_THREADS];

	memset(&device, 0, sizeof(device));
	for (int band = 0; band < BANDS; band++) {
		memset(queues[band], 0, options.limit * sizeof(void *));
		ptr_ring_init_at(&bands[band], queues[band], options.limit, 0);
		bands[band].clear_first = clear_first;
	}
	for (unsigned i = 0; i < nr_threads; i++) {
		threads[i] = (struct thread){
			.nr = i,
			.cpu = options.nr_cpus ?
				       options.cpus[i % options.nr_cpus] :
				       -1,
			.share = options.packets / nr_threads +
				 (i < options.packets % nr_threads),
		};
		args[i] = &threads[i];
		used[i] = threads[i].cpu;
	}
	crew = (struct crew){ nr_threads, 0, crew_crowded(used, nr_threads) };
	crew_run(nr_threads, run_thread, args, NULL);
	for (unsigned i = 0; i < nr_threads; i++) {
		if (threads[i].start_ns < start_ns)
			start_ns = threads[i].start_ns;
		if (threads[i].end_ns > end_ns)
			end_ns = threads[i].end_ns;
	}
	r.elapsed_ns = end_ns - start_ns;
	check_all(nr_threads, &r);
	return r;
}

void get_memory(unsigned most_threads)
{
	size_t bytes;

	stride = (options.size + CACHE_LINE - 1) / CACHE_LINE * CACHE_LINE;
	if (__builtin_mul_overflow(stride * most_threads, options.pool, &bytes))
		die(EXIT_FAILED,
		    "--pool: no memory for %" PRIu32 " packets of "
		    "%" PRIu32 " bytes in %u threads; give fewer",
		    options.pool, options.size, most_threads);
	pools = alloc_pages(bytes);
	for (int band = 0; band < BANDS; band++)
		queues[band] = alloc_pages(options.limit * sizeof(void *));
}
