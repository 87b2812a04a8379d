// SPDX-License-Identifier: MIT
/*
 * Tests and times vringh by itself: the API step by step in one process, or a
 * guest and a host that are two processes.
 *
 * In this order: command line; what is transferred; the guest; the host; in
 * turn; two processes; step by step; what is printed.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "lib/affinity.h"
#include "lib/clock.h"
#include "lib/context.h"
#include "lib/program.h"
#include "lib/quota.h"
#include "virtio/access_iotlb.h"
#include "virtio/access_kern.h"
#include "virtio/access_user.h"
#include "virtio/driver.h"

/* ---- Command line ---- */

static bool indirect, eventidx, virtio_1, slow_range, fast_vringh, parallel,
	in_turn, same_cpu, ops, quiet;
static uint64_t transfers = 10000000;
static uint32_t ring_size = 256, timeout_s = 10;
static int guest_cpu = -1, host_cpu = -1, format;

static const struct opt opts[] = {
	{ "parallel", NULL, "guest and host are two processes", OPT_SET,
	  &parallel, 0, 0 },
	{ "in-turn", NULL, "one process, guest and host by turns: for counting "
	  "instructions", OPT_SET, &in_turn, 0, 0 },
	{ "indirect", NULL, "use indirect tables", OPT_SET, &indirect, 0, 0 },
	{ "eventidx", NULL, "use event indexes", OPT_SET, &eventidx, 0, 0 },
	{ "virtio-1", NULL, "little-endian on every machine", OPT_SET,
	  &virtio_1, 0, 0 },
	{ "slow-range", NULL, "each byte of buffers and tables is a range of "
	  "its own", OPT_SET, &slow_range, 0, 0 },
	{ "fast-vringh", NULL, "the host reads heads only", OPT_SET,
	  &fast_vringh, 0, 0 },
	{ "ops", NULL, "call the access through its table", OPT_SET, &ops, 0,
	  0 },
	{ "transfers", "N", "how many (10000000)", OPT_U64, &transfers, 1,
	  UINT64_MAX },
	{ "ring-size", "N", "entries in the ring (256)", OPT_U32, &ring_size,
	  4, VRING_MAX_SIZE },
	{ "same-cpu", NULL, "both processes on one CPU", OPT_SET, &same_cpu, 0,
	  0 },
	{ "guest-affinity", "CPU", "pin the guest (the first CPU)", OPT_INT,
	  &guest_cpu, 0, INT32_MAX },
	{ "host-affinity", "CPU", "pin the host (the second)", OPT_INT,
	  &host_cpu, 0, INT32_MAX },
	{ "timeout", "SECONDS", "give up after sleeping so long (10; 0: never)",
	  OPT_U32, &timeout_s, 0, INT32_MAX / 1000 },
	{ "format", FORMATS, "what to print (human)", OPT_CHOICE, &format, 0,
	  0 },
	{ "quiet", NULL, "print nothing, for time and perf stat", OPT_SET,
	  &quiet, 0, 0 },
	{ .name = NULL }
};

static const char usage[] =
	"usage: vringh_test [options]\n"
	"Without --parallel and --in-turn, checks the calls of vringh one by "
	"one.\n"
	"With one of them, times transfers of 1 to 4 pieces, every byte "
	"checked.\n"
	"\n";

static uint64_t features(void)
{
	return (uint64_t)indirect << VIRTIO_RING_F_INDIRECT_DESC |
	       (uint64_t)eventidx << VIRTIO_RING_F_EVENT_IDX |
	       (uint64_t)virtio_1 << VIRTIO_F_VERSION_1;
}

/* ---- What is transferred ---- */

enum { PIECES = 4, PIECE_ROOM = 32, SLOT = PIECES * PIECE_ROOM };

/* The memory that guest and host share, and its parts as offsets. */
struct shared {
	uint64_t guest_base;	/* where the guest has it */
	uint64_t elapsed_ns;
	struct told {
		uint64_t sent, woken;
	} __cache_aligned guest, host;
} __cache_aligned;

static size_t ring_at(void)
{
	return 4096;
}

static size_t tables_at(void)
{
	return ring_at() + ((vring_bytes(ring_size) + 4095) & -4096ul);
}

static size_t data_at(void)
{
	return tables_at() + ring_size * PIECES * sizeof(struct vring_desc);
}

static size_t shared_bytes(void)
{
	return (data_at() + ring_size * SLOT + 4095) & -4096ul;
}

/* Number @seq: so many pieces, of them so many for the host to read. */
static uint32_t nr_pieces(uint64_t seq)
{
	return 1 + seq % PIECES;
}

static uint32_t nr_out(uint64_t seq)
{
	uint32_t n = nr_pieces(seq), turn = seq / PIECES;

	return n == 1 ? turn % 2 : 1 + turn % (n - 1);
}

static uint32_t piece_len(uint64_t seq, uint32_t i)
{
	return 1 + (seq * 7 + i * 5) % (PIECE_ROOM - 8);
}

static uint32_t len_of(uint64_t seq, uint32_t from, uint32_t to)
{
	uint32_t len = 0;

	for (; from < to; from++)
		len += piece_len(seq, from);
	return len;
}

/* The bytes that a side writes: a stretch of this, which differs by number. */
static unsigned char pattern[256 + SLOT];

static const unsigned char *out_bytes(uint64_t seq)
{
	return pattern + (unsigned char)(seq * 31 + (seq >> 8) * 7);
}

static const unsigned char *in_bytes(uint64_t seq)
{
	return pattern + (unsigned char)(seq * 17 + (seq >> 8) * 5 + 101);
}

static void make_pattern(void)
{
	/* 167 is prime to 256: each byte once in any stretch of 256 */
	for (unsigned i = 0; i < sizeof(pattern); i++)
		pattern[i] = i * 167 + 13;
}

/* ---- Notifications ---- */

static struct end {
	int wake, wait;		/* pipes; -1: in turn */
	struct told *told;
	const char *other;
} guest_end = { -1, -1, NULL, "host" }, host_end = { -1, -1, NULL, "guest" };
static pid_t guest_pid;

static void __attribute__((noreturn, cold)) other_ended(const struct end *me)
{
	int status;

	/* What went wrong there has been said there. */
	if (me == &host_end && waitpid(guest_pid, &status, 0) == guest_pid &&
	    (!WIFEXITED(status) || !WEXITSTATUS(status)))
		die(EXIT_FAILED, "the guest's process ended early");
	exit(EXIT_FAILED);
}

static void wake(struct end *me)
{
	WRITE_ONCE(me->told->sent, me->told->sent + 1);
	/* EAGAIN: the pipe is full, so the other side will wake anyway */
	while (me->wake >= 0 && write(me->wake, "", 1) < 0 && errno != EAGAIN)
		if (errno == EPIPE)
			other_ended(me);
		else if (errno != EINTR)
			die(EXIT_FAILED, "cannot notify: %s", reason(errno));
}

/* By a signal or a debugger: no answer is to be expected. */
static bool is_stopped(pid_t pid)
{
	char path[32], text[128] = "", *state;
	int fd;

	snprintf(path, sizeof(path), "/proc/%d/stat", (int)pid);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return false;
	if (read(fd, text, sizeof(text) - 1) < 0)
		text[0] = '\0';
	close(fd);
	state = strrchr(text, ')');	/* the name, in (), is before it */
	return state && (!strncmp(state, ") T", 3) || !strncmp(state, ") t", 3));
}

/*
 * The time for which both sides were there to run: it is counted in short
 * stretches, of which a stop of ourselves takes one at most.
 */
static void await_token(struct end *me)
{
	struct pollfd fd = { .fd = me->wait, .events = POLLIN };
	uint32_t tenths = 0;

	for (;;) {
		int ready = poll(&fd, 1, timeout_s ? 100 : -1);

		if (ready > 0)
			return;
		if (ready < 0 && errno != EINTR)
			die(EXIT_FAILED, "cannot sleep: %s", reason(errno));
		if (!ready && !is_stopped(guest_pid ? guest_pid : getppid()) &&
		    ++tenths == timeout_s * 10)
			die(EXIT_FAILED, "the %s has not answered for %u s "
			    "(--timeout)", me->other, timeout_s);
	}
}

static void sleep_until_woken(struct end *me)
{
	char tokens[64];
	ssize_t n;

	await_token(me);
	do
		n = read(me->wait, tokens, sizeof(tokens));
	while (n < 0 && errno == EINTR);
	if (!n)
		other_ended(me);
	if (n < 0)
		die(EXIT_FAILED, "cannot sleep: %s", reason(errno));
	WRITE_ONCE(me->told->woken, me->told->woken + 1);
}

/*
 * Looks at the ring before sleeping, where each side has a CPU of its own: some
 * 20 us, as a wake takes about so long.
 */
#define POLLS 1000

/* ---- The guest ---- */

static struct guest {
	struct vdriver drv;
	char *mem;
	uint64_t added, finished;
} guest;

static void guest_start(char *mem, uint64_t bias)
{
	guest = (struct guest){ .mem = mem };
	if (vdriver_init(&guest.drv, features(), ring_size, mem + ring_at(),
			 bias, indirect ? (void *)(mem + tables_at()) : NULL,
			 indirect ? PIECES : 0))
		die(EXIT_FAILED, "no memory for the driver");
}

static bool guest_add(void)
{
	const uint64_t seq = guest.added;
	const uint32_t out = nr_out(seq), n = nr_pieces(seq);
	char *slot = guest.mem + data_at() + seq % ring_size * SLOT;
	const unsigned char *bytes = out_bytes(seq);
	struct vdriver_sg sg[PIECES];

	/* a slot is taken again when its last transfer is over */
	if (seq == transfers || seq - guest.finished == ring_size ||
	    guest.drv.nr_free < (indirect ? 1 : n))
		return false;
	for (uint32_t i = 0; i < n; i++) {
		sg[i].ptr = slot + i * PIECE_ROOM;
		sg[i].len = piece_len(seq, i);
		if (i < out) {
			memcpy(sg[i].ptr, bytes, sg[i].len);
			bytes += sg[i].len;
		}
	}
	if (vdriver_add(&guest.drv, sg, out, n - out, slot))
		die(EXIT_FAILED, "transfer %" PRIu64 ": the driver is full",
		    seq);
	guest.added++;
	return true;
}

static bool guest_get(void)
{
	const uint64_t seq = guest.finished;
	const uint32_t out = nr_out(seq), n = nr_pieces(seq);
	const uint32_t expected = fast_vringh ? 0 : len_of(seq, out, n);
	const unsigned char *bytes = in_bytes(seq);
	char *slot = guest.mem + data_at() + seq % ring_size * SLOT;
	uint32_t len;
	char *back = vdriver_get(&guest.drv, &len);

	if (!back && !len)
		return false;
	if (back != slot)
		die(EXIT_FAILED, "transfer %" PRIu64 ": the host completed "
		    "something else", seq);
	if (len != expected)
		die(EXIT_FAILED, "transfer %" PRIu64 ": the host says that it "
		    "wrote %" PRIu32 " bytes, not %" PRIu32, seq, len,
		    expected);
	for (uint32_t i = out; i < n && !fast_vringh; i++) {
		uint32_t piece = piece_len(seq, i);

		if (memcmp(slot + i * PIECE_ROOM, bytes, piece))
			die(EXIT_FAILED, "transfer %" PRIu64 ": piece %" PRIu32
			    " has other bytes than the host wrote", seq, i);
		bytes += piece;
	}
	guest.finished++;
	return true;
}

/* True: something came. */
static bool guest_polls(void)
{
	for (int i = 0; i < POLLS && guest_cpu != host_cpu; i++) {
		if (!vdriver_empty(&guest.drv))
			return true;
		cpu_relax();
	}
	return false;
}

static void guest_loop(void)
{
	while (guest.finished < transfers) {
		bool moved = false;

		while (guest_get())
			moved = true;
		while (guest_add())
			moved = true;
		if (vdriver_need_kick(&guest.drv))
			wake(&guest_end);
		if (moved || guest_polls())
			continue;
		if (eventidx ? vdriver_enable_call_delayed(&guest.drv) :
			       vdriver_enable_call(&guest.drv))
			sleep_until_woken(&guest_end);
		vdriver_disable_call(&guest.drv);
	}
}

/* ---- The host ---- */

static struct host {
	struct vringh vrh;
	struct vringh_iov riov, wiov;
	struct vringh_piece pieces[2][PIECES];
	struct vringh_map map;
	const struct vringh_access *table;
	uint64_t done;
} host;

static void add_range(uint64_t start, size_t bytes, char *ours)
{
	if (vringh_map_add(&host.map, start, start + bytes - 1, ours,
			   VRINGH_PERM_RW))
		die(EXIT_FAILED, "no memory for the ranges");
}

/* @mem is ours, @base what the guest calls it. */
static void host_start(const struct vringh_access *access, char *mem,
		       uint64_t base)
{
	vringh_map_free(&host.map);
	host = (struct host){ .table = access };
	if (slow_range) {
		add_range(base, tables_at(), mem);
		for (size_t i = tables_at(); i < shared_bytes(); i++)
			add_range(base + i, 1, mem + i);
	} else {
		add_range(base, shared_bytes(), mem);
	}
	vringh_iov_init(&host.riov, host.pieces[0], PIECES);
	vringh_iov_init(&host.wiov, host.pieces[1], PIECES);
	if (vringh_init(access, &host.vrh, features(), ring_size,
			base + ring_at(),
			base + ring_at() + ring_size * sizeof(struct vring_desc),
			base + ring_at() + vring_used_offset(ring_size),
			&host.map))
		die(EXIT_FAILED, "vringh_init: %s", vringh_error(&host.vrh));
}

static void __attribute__((noreturn, cold, noinline)) host_failed(const char *what)
{
	die(EXIT_FAILED, "transfer %" PRIu64 ": %s: %s", host.done, what,
	    vringh_error(&host.vrh));
}

static __vringh_inline void host_move(const struct vringh_access *access,
				      uint32_t *written)
{
	const uint64_t seq = host.done;
	const uint32_t out = nr_out(seq), n = nr_pieces(seq);
	const uint32_t out_len = len_of(seq, 0, out);
	const uint32_t in_len = len_of(seq, out, n);
	unsigned char bytes[SLOT];
	ssize_t got;

	got = vringh_iov_pull(access, &host.vrh, &host.riov, bytes,
			      sizeof(bytes));
	if (got < 0)
		host_failed("vringh_iov_pull");
	if (got != (ssize_t)out_len || memcmp(bytes, out_bytes(seq), out_len))
		die(EXIT_FAILED, "transfer %" PRIu64 ": the host read other "
		    "bytes than the guest wrote", seq);
	got = vringh_iov_push(access, &host.vrh, &host.wiov, in_bytes(seq),
			      SLOT);
	if (got < 0)
		host_failed("vringh_iov_push");
	if (got != (ssize_t)in_len)
		die(EXIT_FAILED, "transfer %" PRIu64 ": the host found room "
		    "for %zd bytes, not %" PRIu32, seq, got, in_len);
	*written = in_len;
}

/* One transfer. False: there is none. */
static __vringh_inline bool host_use(const struct vringh_access *access,
				     const bool heads_only)
{
	uint32_t head, written = 0;
	int got = vringh_getdesc(access, &host.vrh,
				 heads_only ? NULL : &host.riov,
				 heads_only ? NULL : &host.wiov, &head);

	if (got < 0)
		host_failed("vringh_getdesc");
	if (!got)
		return false;
	if (!heads_only)
		host_move(access, &written);
	if (vringh_complete(access, &host.vrh, head, written))
		host_failed("vringh_complete");
	host.done++;
	return true;
}

static __vringh_inline void host_notify(const struct vringh_access *access)
{
	int wanted = vringh_need_notify(access, &host.vrh);

	if (wanted < 0)
		host_failed("vringh_need_notify");
	if (wanted)
		wake(&host_end);
}

/* All that there is; the guest is told a few times on the way, and at the end. */
static __vringh_inline void host_use_all(const struct vringh_access *access,
					 const bool heads_only)
{
	const uint32_t batch = ring_size / 4;
	uint32_t n = 0;

	while (host_use(access, heads_only))
		if (++n % batch == 0)
			host_notify(access);
	host_notify(access);
}

static __vringh_inline bool host_polls(const struct vringh_access *access)
{
	for (int i = 0; i < POLLS && guest_cpu != host_cpu; i++) {
		if (!vringh_empty(access, &host.vrh))
			return true;
		cpu_relax();
	}
	return false;
}

static __vringh_inline void host_loop(const struct vringh_access *access,
				      const bool heads_only)
{
	vringh_notify_disable(access, &host.vrh);
	while (host.done < transfers) {
		int empty;

		host_use_all(access, heads_only);
		if (host.done == transfers || host_polls(access))
			continue;
		empty = vringh_notify_enable(access, &host.vrh);
		if (empty < 0)
			host_failed("vringh_notify_enable");
		if (empty)
			sleep_until_woken(&host_end);
		vringh_notify_disable(access, &host.vrh);
	}
}

/* Each is a function of its own, that it can be found and disassembled. */
static __attribute__((noinline)) void host_loop_inlined(void)
{
	if (fast_vringh)
		host_loop(&vringh_user, true);
	else
		host_loop(&vringh_user, false);
}

static __attribute__((noinline)) void host_loop_ops(void)
{
	const struct vringh_access *access = READ_ONCE(host.table);

	if (fast_vringh)
		host_loop(access, true);
	else
		host_loop(access, false);
}

static __attribute__((noinline)) void host_turn_inlined(void)
{
	if (fast_vringh)
		host_use_all(&vringh_user, true);
	else
		host_use_all(&vringh_user, false);
}

static __attribute__((noinline)) void host_turn_ops(void)
{
	const struct vringh_access *access = READ_ONCE(host.table);

	if (fast_vringh)
		host_use_all(access, true);
	else
		host_use_all(access, false);
}

/* ---- In turn ---- */

#define FOREIGN 0x100000000000ull	/* where a guest in our process is */

static void run_in_turn(struct shared *shared)
{
	char *mem = (char *)shared;
	uint64_t start;

	guest_end.told = &shared->guest;
	host_end.told = &shared->host;
	guest_start(mem, FOREIGN - (uintptr_t)mem);
	host_start(&vringh_user, mem, FOREIGN);
	start = now_ns();
	while (guest.finished < transfers) {
		while (guest_add())
			;
		if (vdriver_need_kick(&guest.drv))
			wake(&guest_end);
		if (ops)
			host_turn_ops();
		else
			host_turn_inlined();
		while (guest_get())
			;
	}
	shared->elapsed_ns = now_ns() - start;
	vdriver_free(&guest.drv);
}

/* ---- Two processes ---- */

static int next_cpu(int cpu)
{
	do
		cpu++;
	while (!cpu_allowed(cpu) && cpu < INT16_MAX);
	return cpu;
}

static void choose_cpus(void)
{
	if (guest_cpu >= 0)
		require_cpu("guest-affinity", guest_cpu);
	if (host_cpu >= 0)
		require_cpu("host-affinity", host_cpu);
	if (same_cpu && guest_cpu >= 0 && host_cpu >= 0 &&
	    guest_cpu != host_cpu)
		die(EXIT_USAGE, "--same-cpu: the CPUs given are two; leave one "
		    "out");
	if (same_cpu) {
		if (guest_cpu < 0)
			guest_cpu = host_cpu >= 0 ? host_cpu : next_cpu(-1);
		host_cpu = guest_cpu;
		return;
	}
	if (guest_cpu < 0)
		guest_cpu = next_cpu(host_cpu == next_cpu(-1) &&
				     allowed_cpus() > 1 ? host_cpu : -1);
	if (host_cpu < 0)
		host_cpu = next_cpu(guest_cpu == next_cpu(-1) &&
				    allowed_cpus() > 1 ? guest_cpu : -1);
	if (guest_cpu == host_cpu)
		warn("guest and host share one CPU: two would run at once");
}

static void open_pipe(int fds[2])
{
	if (pipe2(fds, O_CLOEXEC) ||
	    fcntl(fds[1], F_SETFL, O_NONBLOCK) < 0)
		die(EXIT_FAILED, "cannot make a pipe: %s", reason(errno));
}

static void *map_shared(int fd)
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
	require_pin("guest-affinity", guest_cpu);
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
	check_pin("guest-affinity", guest_cpu);
	_exit(EXIT_DONE);
}

static void run_parallel(struct shared *shared, int fd)
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
		die(EXIT_FAILED, "cannot start a process: %s",
		    reason(errno));
	/* An end held open by its reader would hide that the writer is gone. */
	if (!guest_pid) {
		close(kick[0]);
		close(call[1]);
		guest_main(shared, fd);
	}
	close(kick[1]);
	close(call[0]);
	require_pin("host-affinity", host_cpu);
	host_end.told = &shared->host;
	sleep_until_woken(&host_end);
	host_start(&vringh_user, (char *)shared,
		   READ_ONCE(shared->guest_base));
	wake(&host_end);
	shared->host = (struct told){ 0, 0 };
	if (ops)
		host_loop_ops();
	else
		host_loop_inlined();
	check_pin("host-affinity", host_cpu);
	if (waitpid(guest_pid, &status, 0) != guest_pid || !WIFEXITED(status))
		die(EXIT_FAILED, "the guest's process ended early");
	if (WEXITSTATUS(status))
		exit(WEXITSTATUS(status));
}

/* ---- Step by step ---- */

static const char *step_of;
static unsigned nr_steps;

static void step(bool good, const char *what)
{
	nr_steps++;
	if (!good)
		die(EXIT_FAILED, "%s: step %u: %s (last error: %s)", step_of,
		    nr_steps, what, vringh_error(&host.vrh));
}

static void steps(const struct vringh_access *access, struct shared *shared)
{
	char *mem = (char *)shared, *data = mem + data_at(), text[8] = "";
	const bool trusts = access == &vringh_kern;
	const uint64_t base = trusts ? (uintptr_t)mem : FOREIGN;
	struct vdriver_sg sg[PIECES] = {
		{ data, 5 }, { data + 32, 3 }, { data + 64, 6 }, { data + 96, 1 }
	};
	struct vringh_used used[2] = { { 0, 0 } };
	struct vdriver *drv = &guest.drv;
	struct host *h = &host;
	uint32_t head, len, n = 0;

	step_of = access->name;
	nr_steps = 0;
	memset(mem, 0, shared_bytes());
	guest_start(mem, base - (uintptr_t)mem);
	host_start(access, mem, base);

	step(vringh_getdesc(access, &h->vrh, &h->riov, &h->wiov, &head) == 0,
	     "a new ring has nothing");
	step(vringh_notify_enable(access, &h->vrh) == 1,
	     "the host may sleep on it");
	memcpy(data, "hello", 5);
	memcpy(data + 32, "abc", 3);
	step(!vdriver_add(drv, sg, 2, 2, data), "the guest adds four pieces");
	step(vdriver_need_kick(drv), "the host has asked for a kick");
	step(!vdriver_need_kick(drv), "but not for a second");
	step(vringh_notify_enable(access, &h->vrh) == 0,
	     "the host may not sleep now");
	step(!vringh_notify_disable(access, &h->vrh), "it takes no kicks");
	if (fast_vringh) {
		step(vringh_getdesc(access, &h->vrh, NULL, NULL, &head) == 1,
		     "it takes a head");
	} else {
		step(vringh_getdesc(access, &h->vrh, &h->riov, &h->wiov,
				    &head) == 1, "it takes a chain");
		step(h->riov.used == 2 && h->wiov.used == 2,
		     "two pieces to read, two to write");
		step(vringh_iov_pull(access, &h->vrh, &h->riov, text, 7) == 7 &&
		     !memcmp(text, "helloab", 7), "it pulls from both");
		step(vringh_iov_pull(access, &h->vrh, &h->riov, text, 7) == 1 &&
		     *text == 'c', "it pulls the rest");
		vringh_iov_reset(&h->riov);
		step(vringh_iov_pull(access, &h->vrh, &h->riov, text, 1) == 1 &&
		     *text == 'h', "after a reset, from the start");
		step(vringh_iov_push(access, &h->vrh, &h->wiov, "123456789",
				     9) == 7, "it pushes until it is full");
		step(!memcmp(data + 64, "123456", 7) && data[96] == '7',
		     "the bytes are where they belong");
	}
	vringh_abandon(&h->vrh, 1);
	step(vringh_getdesc(access, &h->vrh, &h->riov, &h->wiov, &head) == 1,
	     "abandoned, it is taken again");
	step(vdriver_enable_call(drv), "the guest may sleep");
	step(vringh_need_notify(access, &h->vrh) == 0, "no call before the end");
	step(!vringh_complete(access, &h->vrh, head, 7), "it is completed");
	step(vringh_need_notify(access, &h->vrh) == 1, "and a call is due");
	step(!vdriver_enable_call(drv), "the guest may not sleep now");
	step(vdriver_get(drv, &len) == data && len == 7, "the guest has it back");
	step(!vdriver_get(drv, &len), "and no more");

	while (!vdriver_add(drv, sg, 1, 1, data))
		n++;
	step(n == (indirect ? ring_size : ring_size / 2), "the ring fills up");
	step(vdriver_enable_call_delayed(drv), "the guest may sleep long");
	for (uint32_t i = 0; i < n; i++) {
		step(vringh_getdesc(access, &h->vrh, &h->riov, &h->wiov,
				    &head) == 1, "the host takes one of many");
		used[i % 2] = (struct vringh_used){ head, i };
		if (i % 2 || i == n - 1)
			step(!vringh_complete_multi(access, &h->vrh, used,
						    i % 2 + 1),
			     "it completes two at a time");
		step(!(eventidx && i % 2 && i + 1 <= n * 3 / 4 &&
		       vringh_need_notify(access, &h->vrh) == 1),
		     "no call is due so soon");
	}
	step(vringh_need_notify(access, &h->vrh) == 1, "a call is due at last");
	for (uint32_t i = 0; i < n; i++)
		step(vdriver_get(drv, &len) == data && len == i,
		     "the guest has them all back, in order");
	drv->ring.avail->ring[drv->avail_idx & (ring_size - 1)] =
		vring16(virtio_1, ring_size);
	WRITE_ONCE(drv->ring.avail->idx, vring16(virtio_1, drv->avail_idx + 1));
	step(vringh_getdesc(access, &h->vrh, &h->riov, &h->wiov, &head) ==
	     -EINVAL, "a head out of range is refused");
	vringh_iov_cleanup(&h->riov);
	vringh_iov_cleanup(&h->wiov);
	vdriver_free(drv);
	if (!quiet)
		printf("%s: %s%s: %u steps passed\n", program, access->name,
		       ops ? ", by table" : "", nr_steps);
}

static void run_steps(struct shared *shared)
{
	static const struct vringh_access *const all[] = {
		&vringh_user, &vringh_kern, &vringh_iotlb
	};

	if (format != FORMAT_HUMAN)
		die(EXIT_USAGE, "--format: steps have no %s; add --parallel or "
		    "--in-turn", format == FORMAT_CSV ? "csv" : "json");
	if (ops) {
		for (int i = 0; i < 3; i++)
			steps(READ_ONCE(all[i]), shared);
	} else {
		steps(&vringh_user, shared);
		steps(&vringh_kern, shared);
		steps(&vringh_iotlb, shared);
	}
}

/* ---- What is printed ---- */

static const char *mode(void)
{
	static char text[128];

	snprintf(text, sizeof(text), "%s%s%s%s%s%s%s%s",
		 parallel ? "parallel" : "in-turn",
		 indirect ? "+indirect" : "", eventidx ? "+eventidx" : "",
		 virtio_1 ? "+virtio-1" : "", slow_range ? "+slow-range" : "",
		 fast_vringh ? "+fast-vringh" : "", ops ? "+ops" : "",
		 parallel && guest_cpu == host_cpu ? "+same-cpu" : "");
	return text;
}

static void print_human(const struct shared *s)
{
	printf("%s: %" PRIu64 " transfers in %.4f s, %.2f ns/transfer (%s)\n",
	       program, transfers, s->elapsed_ns / 1e9,
	       (double)s->elapsed_ns / transfers,
	       parallel ? cpus_text(guest_cpu, host_cpu) : "in turn");
	printf("guest: notified %" PRIu64 ", woken %" PRIu64 "\n"
	       "host:  notified %" PRIu64 ", woken %" PRIu64 "\n",
	       s->guest.sent, s->guest.woken, s->host.sent, s->host.woken);
}

static void print_csv(const struct shared *s)
{
	char guest_text[16], host_text[16];

	printf("schema,layout,guest_cpu,host_cpu,ring_size,transfers,mode,"
	       "sample,elapsed_ns,ns_per_buffer,kicks,calls,guest_woken,"
	       "host_woken,verified\n"
	       "1,%s,%s,%s,%" PRIu32 ",%" PRIu64 ",%s,0,%" PRIu64
	       ",%.4f,%" PRIu64 ",%" PRIu64 ",%" PRIu64 ",%" PRIu64 ",%d\n",
	       program, cpu_text(guest_text, guest_cpu, ""),
	       cpu_text(host_text, host_cpu, ""), ring_size, transfers, mode(),
	       s->elapsed_ns, (double)s->elapsed_ns / transfers, s->guest.sent,
	       s->host.sent, s->guest.woken, s->host.woken, !fast_vringh);
}

static void print_json(const struct shared *s)
{
	char guest_text[16], host_text[16];

	printf("{\"schema\":1,\"context\":");
	context_json(guest_cpu);
	printf(",\"samples\":[{\"layout\":\"%s\",\"guest_cpu\":%s,"
	       "\"host_cpu\":%s,\"ring_size\":%" PRIu32 ",\"transfers\":%"
	       PRIu64 ",\"mode\":\"%s\",\"sample\":0,\"elapsed_ns\":%" PRIu64
	       ",\"ns_per_buffer\":%.4f,\"kicks\":%" PRIu64 ",\"calls\":%"
	       PRIu64 ",\"guest_woken\":%" PRIu64 ",\"host_woken\":%" PRIu64
	       ",\"verified\":%s}]}\n", program,
	       cpu_text(guest_text, guest_cpu, "null"),
	       cpu_text(host_text, host_cpu, "null"), ring_size, transfers,
	       mode(), s->elapsed_ns, (double)s->elapsed_ns / transfers,
	       s->guest.sent, s->host.sent, s->guest.woken, s->host.woken,
	       fast_vringh ? "false" : "true");
}

static void check_options(int operands, int argc, char **argv)
{
	if (operands < argc)
		die(EXIT_USAGE, "%s: not an option; every option begins with "
		    "--", argv[operands]);
	if (ring_size & (ring_size - 1))
		die(EXIT_USAGE, "--ring-size: %" PRIu32 " is not a power of two",
		    ring_size);
	if (parallel && in_turn)
		die(EXIT_USAGE, "--in-turn: --parallel is the contrary; leave "
		    "one out");
	if (!parallel && same_cpu)
		die(EXIT_USAGE, "--same-cpu: there is one process only; add "
		    "--parallel");
	if (!parallel && (guest_cpu >= 0 || host_cpu >= 0))
		die(EXIT_USAGE, "--%s-affinity: there is one process only; add "
		    "--parallel", guest_cpu >= 0 ? "guest" : "host");
	/* the last check: it may warn, and pins */
	if (parallel)
		choose_cpus();
}

int main(int argc, char **argv)
{
	struct shared *shared;
	int fd;

	format = format_default();
	check_options(opt_parse(argc, argv, opts, usage), argc, argv);
	make_pattern();
	context_start();
	/* Memory that has no name, so there is nothing to clean up. */
	fd = memfd_create("vringh_test", MFD_CLOEXEC);
	if (fd < 0 || ftruncate(fd, shared_bytes()))
		die(EXIT_FAILED, "no memory for the ring: %zu bytes: %s",
		    shared_bytes(), reason(errno));
	shared = map_shared(fd);

	if (!parallel && !in_turn) {
		run_steps(shared);
	} else {
		if (parallel)
			run_parallel(shared, fd);
		else
			run_in_turn(shared);
		quota_warn();
		if (!quiet && format == FORMAT_HUMAN)
			print_human(shared);
		else if (!quiet && format == FORMAT_CSV)
			print_csv(shared);
		else if (!quiet)
			print_json(shared);
	}
	vringh_map_free(&host.map);
	munmap(shared, shared_bytes());
	close(fd);
	finish_stdout();
	return EXIT_DONE;
}
