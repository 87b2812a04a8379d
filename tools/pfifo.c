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
#include <math.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lib/affinity.h"
#include "lib/barrier.h"
#include "lib/clock.h"
#include "lib/context.h"
#include "lib/crew.h"
#include "lib/memory.h"
#include "lib/program.h"
#include "lib/quota.h"
#include "lib/spinlock.h"
#include "lib/stats.h"
#include "ptr_ring.h"

#define MAX_THREADS 64
#define MAX_COUNTS  16		/* of threads, in one command */
#define BANDS	    3
#define LINE	    64

enum order { HEAD_FIRST, CLEAR_FIRST, BOTH };
enum fault { NONE, LOST, TWICE, ALTERED };

static const char *threads_text = "1,2,4,8,16", *cpus_text_given;
static uint64_t packets = 1000000;
static uint32_t size = 60, limit = 1000, pool_size = 256, quota = 64;
static uint32_t repeat = 20;
static int order = BOTH, format, fault;
static int cpus[MAX_THREADS];
static unsigned nr_cpus;

static const struct opt opts[] = {
	{ "threads", "N,N,...", "threads that send (1,2,4,8,16)", OPT_TEXT,
	  &threads_text, 0, 0 },
	{ "order", "head-first|clear-first|both", "what the rings do (both, in "
	  "turn)", OPT_CHOICE, &order, 0, 0 },
	{ "packets", "N", "packets in a run, of all threads (1000000)", OPT_U64,
	  &packets, 1, UINT64_MAX },
	{ "size", "BYTES", "of a packet (60)", OPT_U32, &size, 40, 65536 },
	{ "limit", "N", "packets that a band holds (1000)", OPT_U32, &limit, 1,
	  10000000 },
	{ "pool", "N", "packets that a thread has (256)", OPT_U32, &pool_size,
	  1, 1000000 },
	{ "quota", "N", "packets that one goes on to take (64)", OPT_U32,
	  &quota, 1, UINT32_MAX },
	{ "affinity", "CPUS", "pin threads, to 0,2-5 in turn (not pinned)",
	  OPT_TEXT, &cpus_text_given, 0, 0 },
	{ "repeat", "N", "runs of each order (20)", OPT_U32, &repeat, 1,
	  1000000 },
	{ "format", FORMATS, "what to print (human)", OPT_CHOICE, &format, 0,
	  0 },
	/* for tests: what thread 0 does with a packet half way */
	{ "fault", "none|lost|twice|altered", NULL, OPT_CHOICE, &fault, 0, 0 },
	{ .name = NULL }
};

static const char usage[] =
	"usage: pfifo [options]\n"
	"Threads send packets through three rings of pointers to one device. "
	"Prints packets\n"
	"per second, for both orders in which a ring's consumer can clear its "
	"slots.\n"
	"\n";

/* ---- Packets ---- */

/*
 * What the thread writes and the device reads is plain memory on purpose: the
 * rings alone order it.
 */
struct packet {
	uint32_t thread, band;
	uint64_t seq;		/* of this thread in this band */
	uint64_t check;		/* of all the above */
	uint32_t busy;		/* sent, and not freed yet */
	char data[];
};
_Static_assert(sizeof(struct packet) <= 40, "--size has room for it");

static char *pools;
static size_t stride;		/* from packet to packet */

static struct packet *packet(uint32_t thread, uint32_t nr)
{
	return (void *)(pools + ((size_t)thread * pool_size + nr) * stride);
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
	struct spinlock run;	/* holding it, one is the bands' consumer */
	uint64_t delivered;
	uint64_t due[MAX_THREADS][BANDS];	/* the next of each */
} __cache_aligned device;
ASSERT_APART(__typeof__(device));

/* Under the run lock: counts a packet, checks it and frees it. */
static void transmit(struct packet *p)
{
	uint32_t thread = p->thread, band = p->band;
	uint64_t *due;

	if (thread >= MAX_THREADS || band >= BANDS || p->check != check_of(p))
		die(EXIT_FAILED, "after %" PRIu64 " packets the device got one "
		    "whose header is not as it was sent", device.delivered);
	due = &device.due[thread][band];
	if (p->seq != *due)
		die(EXIT_FAILED, "the device got packet %" PRIu64 " of thread %"
		    PRIu32 ", band %" PRIu32 ", where %" PRIu64 " was due",
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
		while (n < quota && (p = dequeue())) {
			transmit(p);
			n++;
		}
		spin_unlock(&device.run);
		if (n == quota)
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
	uint64_t share;			/* packets to send */
	uint64_t seq[BANDS];		/* sent */
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

static void inject(struct thread *me, struct packet *p)
{
	switch (fault) {
	case LOST:
		me->seq[p->band]++;
		break;
	case TWICE:
		while (!send(p))
			;
		break;
	case ALTERED:
		p->check++;
		break;
	}
}

static void run_thread(void *arg)
{
	struct thread *me = arg;
	uint32_t nr = 0;

	crew_pin("affinity", me->cpu);
	for (uint32_t i = 0; i < pool_size; i++)
		memset(packet(me->nr, i), 0, stride);
	crew_meet(&crew);
	me->start_ns = now_ns();
	for (uint64_t n = 0; n < me->share; n++) {
		struct packet *p = next_packet(me, nr);

		p->thread = me->nr;
		p->band = band_of(n);
		p->seq = me->seq[p->band];
		p->check = check_of(p);
		if (fault && !me->nr && n == me->share / 2)
			inject(me, p);
		WRITE_ONCE(p->busy, 1);
		/* counted first: once sent, the packet is the device's */
		me->seq[band_of(n)]++;
		if (send(p)) {
			if (++nr == pool_size)
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

struct result {
	unsigned threads;
	int order;
	uint32_t nr;
	uint64_t elapsed_ns, delivered, drops;
};

static double packets_per_us(const struct result *r)
{
	return 1e3 * r->delivered / r->elapsed_ns;
}

static void check_all(unsigned nr_threads, struct result *r)
{
	uint64_t sent = 0;

	for (unsigned i = 0; i < nr_threads; i++) {
		for (int band = 0; band < BANDS; band++) {
			uint64_t due = device.due[i][band];

			sent += threads[i].seq[band];
			if (threads[i].seq[band] != due)
				die(EXIT_FAILED, "thread %u sent %" PRIu64
				    " packets in band %d, and the device got %"
				    PRIu64, i, threads[i].seq[band], band, due);
		}
		r->drops += threads[i].drops;
	}
	r->delivered = device.delivered;
	if (r->delivered != sent || sent + r->drops != packets)
		die(EXIT_FAILED, "of %" PRIu64 " packets %" PRIu64 " were sent, "
		    "%" PRIu64 " dropped and %" PRIu64 " delivered", packets,
		    sent, r->drops, r->delivered);
}

static struct result run_once(unsigned nr_threads, bool clear_first)
{
	uint64_t start_ns = UINT64_MAX, end_ns = 0;
	struct result r = { .threads = nr_threads, .order = clear_first };
	void *args[MAX_THREADS];
	int used[MAX_THREADS];

	memset(&device, 0, sizeof(device));
	for (int band = 0; band < BANDS; band++) {
		memset(queues[band], 0, limit * sizeof(void *));
		ptr_ring_init_at(&bands[band], queues[band], limit, 0);
		bands[band].clear_first = clear_first;
	}
	for (unsigned i = 0; i < nr_threads; i++) {
		threads[i] = (struct thread){
			.nr = i,
			.cpu = nr_cpus ? cpus[i % nr_cpus] : -1,
			.share = packets / nr_threads +
				 (i < packets % nr_threads),
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

/* ---- Reports ---- */

static const char *const order_names[] = { "pfifo", "pfifo_clear_first" };

static void print_sample(const struct result *r)
{
	char first[16], second[16];
	int guest = nr_cpus ? cpus[0] : -1;
	int host = nr_cpus ? cpus[1 % nr_cpus] : -1;
	double ns = r->delivered ? (double)r->elapsed_ns / r->delivered : 0;

	if (format == FORMAT_CSV)
		printf("1,%s,%s,%s,%u,%" PRIu64 ",%" PRIu32 ",%" PRIu32 ",%"
		       PRIu32 ",%" PRIu32 ",%" PRIu32 ",%" PRIu64 ",%.4f,%"
		       PRIu64 ",%" PRIu64 "\n", order_names[r->order],
		       cpu_text(first, guest, ""), cpu_text(second, host, ""),
		       r->threads, packets, size, limit, pool_size, quota,
		       r->nr, r->elapsed_ns, ns, r->delivered, r->drops);
	if (format == FORMAT_JSON)
		printf("{\"layout\":\"%s\",\"guest_cpu\":%s,\"host_cpu\":%s,"
		       "\"threads\":%u,\"packets\":%" PRIu64 ",\"size\":%"
		       PRIu32 ",\"limit\":%" PRIu32 ",\"pool\":%" PRIu32
		       ",\"quota\":%" PRIu32 ",\"sample\":%" PRIu32
		       ",\"elapsed_ns\":%" PRIu64 ",\"ns_per_buffer\":%.4f,"
		       "\"delivered\":%" PRIu64 ",\"drops\":%" PRIu64 "}",
		       order_names[r->order], cpu_text(first, guest, "null"),
		       cpu_text(second, host, "null"), r->threads, packets,
		       size, limit, pool_size, quota, r->nr, r->elapsed_ns, ns,
		       r->delivered, r->drops);
}

/* JSON waits for the end. */
static struct result *kept;
static size_t nr_kept;

static void report(const struct result *r)
{
	struct result *more;

	if (format != FORMAT_JSON) {
		print_sample(r);
		finish_stdout();
		return;
	}
	more = reallocarray(kept, nr_kept + 1, sizeof(*kept));
	if (!more)
		die(EXIT_FAILED, "no memory to keep the samples; use --format "
		    "csv");
	kept = more;
	kept[nr_kept++] = *r;
}

static void print_kept(void)
{
	printf("{\"schema\":1,\"samples\":[");
	for (size_t i = 0; i < nr_kept; i++) {
		if (i)
			putchar(',');
		print_sample(&kept[i]);
	}
	printf("],\"context\":");
	context_json(nr_cpus ? cpus[0] : -1);
	printf("}\n");
	free(kept);
}

/* Of the line of the table that is under way. */
static struct {
	unsigned threads;
	uint32_t runs;		/* of each order */
	double *rate[2];	/* packets per us, by order */
	double *log_ratio;	/* head first to clear first, pair by pair */
	uint64_t drops;
} samples;

static struct estimate median_of(double *values)
{
	sort_values(values, samples.runs);
	return median_estimate(values, samples.runs, ALPHA_FIXED);
}

static void print_rate(const struct estimate *e)
{
	if (e->has_interval)
		printf("  %6.2f [%5.2f, %5.2f]", e->value, e->low, e->high);
	else
		printf("  %6.2f %14s", e->value, "");
}

static void print_human(void)
{
	struct estimate rate, change;

	printf("%7u", samples.threads);
	for (int which = CLEAR_FIRST; which >= HEAD_FIRST; which--) {
		if (order != BOTH && order != which)
			continue;
		rate = median_of(samples.rate[which]);
		print_rate(&rate);
	}
	if (order == BOTH) {
		sort_values(samples.log_ratio, samples.runs);
		change = hodges_lehmann(samples.log_ratio, samples.runs,
					ALPHA_FIXED);
		printf("  %+6.1f %%", 100 * expm1(change.value));
		if (change.has_interval)
			printf(" [%+5.1f, %+5.1f]%s", 100 * expm1(change.low),
			       100 * expm1(change.high),
			       change.low <= 0 && change.high >= 0 ?
				       " no difference shown" : "");
		else
			printf(" (too few runs)");
	}
	if (samples.drops)
		printf("  drops: %.2f %%", 100.0 * samples.drops /
		       (packets * samples.runs * (order == BOTH ? 2 : 1)));
	if (samples.runs < repeat)
		printf("  after %" PRIu32 " runs", samples.runs);
	putchar('\n');
	samples.runs = 0;
	finish_stdout();
}

/* What has not been printed yet. */
static void print_end(void)
{
	at_early_end(NULL);
	if (format == FORMAT_JSON)
		print_kept();
	if (format == FORMAT_HUMAN && samples.runs)
		print_human();
	finish_stdout();
}

static void measure(unsigned nr_threads)
{
	const int first = order == CLEAR_FIRST ? CLEAR_FIRST : HEAD_FIRST;
	const int nr_orders = order == BOTH ? 2 : 1;

	samples.threads = nr_threads;
	samples.drops = 0;
	for (int i = 0; i < nr_orders; i++)
		run_once(nr_threads, first + i);	/* warms up */
	for (uint32_t nr = 0; nr < repeat; nr++) {
		uint64_t drops = 0;

		for (int i = 0; i < nr_orders; i++) {
			/* A B, B A, so that drift evens out */
			int which = order == BOTH && nr % 2 ? !i : first + i;
			struct result r = run_once(nr_threads, which);

			r.nr = nr;
			report(&r);
			samples.rate[which][nr] = packets_per_us(&r);
			drops += r.drops;
		}
		if (order == BOTH)
			samples.log_ratio[nr] =
				log(samples.rate[HEAD_FIRST][nr] /
				    samples.rate[CLEAR_FIRST][nr]);
		samples.drops += drops;
		samples.runs = nr + 1;
	}
	if (format == FORMAT_HUMAN)
		print_human();
}

static unsigned read_threads(unsigned *counts)
{
	const char *at = threads_text;
	unsigned nr = 0;

	while (at) {
		char *end = NULL;
		unsigned long n = 0;

		if (*at >= '1' && *at <= '9')
			n = strtoul(at, &end, 10);
		if (!n || n > MAX_THREADS || (*end && *end != ',') ||
		    nr == MAX_COUNTS)
			die(EXIT_USAGE, "--threads: '%s' is not a list of at "
			    "most %d numbers from 1 to %d, like 1,2,4",
			    threads_text, MAX_COUNTS, MAX_THREADS);
		counts[nr++] = n;
		at = *end ? end + 1 : NULL;
	}
	return nr;
}

static void *numbers(void)
{
	void *p = calloc(repeat, sizeof(double));

	if (!p)
		die(EXIT_FAILED, "--repeat: no memory for %" PRIu32 " samples; "
		    "give fewer", repeat);
	return p;
}

static void get_memory(unsigned most_threads)
{
	size_t bytes;

	stride = (size + LINE - 1) / LINE * LINE;
	if (__builtin_mul_overflow(stride * most_threads, pool_size, &bytes))
		die(EXIT_FAILED, "--pool: no memory for %" PRIu32 " packets of "
		    "%" PRIu32 " bytes in %u threads; give fewer", pool_size,
		    size, most_threads);
	pools = alloc_pages(bytes);
	for (int band = 0; band < BANDS; band++)
		queues[band] = alloc_pages(limit * sizeof(void *));
	samples.rate[0] = numbers();
	samples.rate[1] = numbers();
	samples.log_ratio = numbers();
}

static void print_head(void)
{
	switch (format) {
	case FORMAT_HUMAN:
		printf("pfifo: %" PRIu64 " packets of %" PRIu32 " bytes, %d "
		       "bands of %" PRIu32 ", %" PRIu32 " runs; medians in "
		       "Mpps, 95 %% intervals\n", packets, size, BANDS, limit,
		       repeat);
		printf("threads%s%s%s\n",
		       order != HEAD_FIRST ? "            clear first" : "",
		       order != CLEAR_FIRST ? "             head first" : "",
		       order == BOTH ? "    change" : "");
		break;
	case FORMAT_CSV:
		printf("schema,layout,guest_cpu,host_cpu,threads,packets,size,"
		       "limit,pool,quota,sample,elapsed_ns,ns_per_buffer,"
		       "delivered,drops\n");
		break;
	}
	finish_stdout();
}

int main(int argc, char **argv)
{
	unsigned counts[MAX_COUNTS], nr_counts, most = 0;
	int operands;

	format = format_default();
	operands = opt_parse(argc, argv, opts, usage);
	if (operands < argc)
		die(EXIT_USAGE, "%s: not an option; every option begins with "
		    "--", argv[operands]);
	nr_counts = read_threads(counts);
	nr_cpus = cpu_list("affinity", cpus_text_given, cpus, MAX_THREADS);
	for (unsigned i = 0; i < nr_counts; i++)
		most = counts[i] > most ? counts[i] : most;
	get_memory(most);

	context_start();
	print_head();
	at_early_end(print_end);
	for (unsigned i = 0; i < nr_counts; i++)
		measure(counts[i]);
	print_end();
	quota_warn();
	free(samples.rate[0]);
	free(samples.rate[1]);
	free(samples.log_ratio);
	free_all();
	return EXIT_DONE;
}
