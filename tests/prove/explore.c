// SPDX-License-Identifier: MIT
/*
 * The explorer: every execution of a few threads under RC11 (Lahav, Vafeiadis,
 * Kang, Hur and Dreyer, "Repairing sequential consistency in C/C++11", PLDI
 * 2017), with C++20's release sequences: read-modify-writes alone continue one.
 * As in RC11, no load is served by a store that depends on it in program order
 * (no load buffering), so that stores can be carried out as they come.
 *
 * 1. Each location has its messages, in modification order. A store adds one,
 *    anywhere behind the last one that its thread knows; a read-modify-write
 *    right behind the one that it reads, which no other may read so.
 * 2. A view is what somebody knows: of each location the newest message, of each
 *    thread how many of its events, and of its fences, happened before. A thread
 *    has three: current; acquired, what relaxed loads have brought and the next
 *    fence adds to the current one; and released, the current one at its last
 *    fence. A message carries the view of its writer that is released with it.
 * 3. A load may read any message that is not older than the one its thread knows,
 *    or one that is not there yet: then the thread waits, and the others run. As a
 *    message is added, each thread that waits for one there takes it, or goes on
 *    waiting. A thread runs until it has to wait; then the first that can run
 *    does. So the values read and the places of the stores determine the whole
 *    schedule, and each execution graph comes up once; nothing is left to reduce.
 *    That way is open to a load only once such a message has come in an execution
 *    where it did not wait, for nearly all would wait in vain: see let_wait().
 * 4. Fences that are sequentially consistent must not stand in a circle (psc).
 *    Fence F comes before G if F happened before G, or an access that F happened
 *    before is followed at its location (eco) by one that happened before G: an
 *    older message, or the store of the same one. Each access and each fence adds
 *    the pairs that it makes; an execution with a circle does not exist, and ends.
 * 5. A poll that found nothing changes nothing, so the execution without it exists
 *    as well. It is cut, unless it saw the newest message of all that it looked
 *    at: then its thread is stuck until there is more, and cut then. If all
 *    threads that have not ended are stuck or asleep, they stand still: a fault.
 * 6. Plain accesses have vector clocks, those of the views. Two that are not
 *    ordered, one a write, are a data race. As that ends all, a plain read finds
 *    in memory what the last write before it left there.
 * 7. Every decision is on a stack. An execution ends, the last decision that has
 *    another way left takes it, and all runs again from the start. On a fault the
 *    same decisions are taken once more, and written down.
 *
 * Threads are coroutines: stacks from makecontext, switched by _longjmp without a
 * system call.
 */
#undef _FORTIFY_SOURCE /* its longjmp wants to go up one stack */
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <ucontext.h>

#include "schedule.h"

#define LOCATIONS 96
#define MESSAGES 128 /* at one location */
#define FENCES 64    /* bits of fences[].before */
#define DEPTH 8192
#define STACK_BYTES (256 * 1024)
#define ARENA_BYTES (256 * 1024)
#define PLAIN 4096   /* bytes of plain memory; a power of two */
#define ACCESSORS 64 /* sites at one location, for each thread */
#define LOADS 512    /* at one location */

/* ---- What is known of an execution ---- */

struct view {
	uint16_t events[PROVE_THREADS];
	uint8_t fences[PROVE_THREADS];
	uint8_t message[LOCATIONS];
};

/* How much of each thread somebody depends on: program order and reads-from. */
struct causes {
	uint16_t events[PROVE_THREADS];
};

struct message {
	struct event by;
	struct causes causes;
	uint64_t value;
	unsigned step; /* printed for it; 0: it was there first */
	uint8_t place; /* in modification order */
	bool taken;    /* read by a read-modify-write */
	/* Of each thread the last fence before the store, and before a load. */
	uint8_t store_after[PROVE_THREADS], load_after[PROVE_THREADS];
	struct view view;
};

static struct location {
	uintptr_t address;
	size_t size;
	struct message message[MESSAGES];
	struct event last[ACCESSORS]; /* of each thread at each site */
	unsigned count; /* of messages; 0: not used in this execution */
	unsigned accessors, loads;
	struct {
		uint16_t event, choice, thread;
	} load[LOADS];
	uint8_t order[MESSAGES]; /* messages, oldest first */
} locations[LOCATIONS];
static unsigned location_count;
static uint8_t location_hash[4 * LOCATIONS]; /* by address; from 1 */

struct request {
	struct prove_site *site;
	uint64_t operand;
	bool not_zero; /* takes no message whose value is 0 */
	uint64_t result;
};

static struct thread {
	const struct prove_thread *what;
	struct location *waits_at;
	struct request request;
	struct prove_site *last_fence;
	struct {
		struct location *at;
		size_t message;
	} look[LOCATIONS];
	unsigned looked; /* since its last store */
	enum { FRESH, READY, MEETING, WAITING, ASLEEP, STUCK, ENDED } state;
	struct view current, acquired, released;
	struct causes causes;
	uint16_t events;
	jmp_buf base, context;
	ucontext_t start;
} threads[PROVE_THREADS];
static char stacks[PROVE_THREADS][STACK_BYTES] __attribute__((aligned(16)));
static bool created[PROVE_THREADS];
static unsigned thread_count;
static struct thread *running;

static struct {
	uint64_t before;	    /* the fences that it comes before */
	uint8_t message[LOCATIONS]; /* newest that happened before it */
} fences[FENCES];
static unsigned fence_count;
static uint8_t fence_of[PROVE_THREADS][FENCES + 1]; /* from 1 */

/* A byte that was touched while there were threads. */
static struct plain {
	uintptr_t address;
	struct event write, read[PROVE_THREADS];
} plain[PLAIN];
static unsigned plain_used[PLAIN], plain_count;

static struct {
	uint8_t taken, ways;
	bool wait; /* one way more: a message that is not there yet */
} choices[DEPTH];
static unsigned choice_count, choice_depth;

static char arena[ARENA_BYTES] __attribute__((aligned(4096)));
static size_t arena_used;

static bool threaded; /* they have met: until then nothing is shared */
static jmp_buf scheduler;
static enum { GOES_ON, CUT, FAULT } verdict;
bool prove_eager;
uint64_t prove_limit = 100 * 1000 * 1000;
void (*prove_complete)(void);

static char fault_text[512];

static unsigned id(const struct thread *t)
{
	return t - threads;
}

static void __attribute__((noreturn)) end_execution(int how)
{
	verdict = how;
	_longjmp(scheduler, 1);
}

void prove_fault(const char *format, ...)
{
	va_list args;

	va_start(args, format);
	vsnprintf(fault_text, sizeof(fault_text), format, args);
	va_end(args);
	end_execution(FAULT);
}

static unsigned choose(unsigned ways, bool wait)
{
	if (choice_depth == choice_count) {
		if (choice_count == DEPTH)
			prove_fault("stopped short: over %d decisions", DEPTH);
		choices[choice_count].taken = 0;
		choices[choice_count].wait = wait;
		choices[choice_count++].ways = ways;
	}
	return choices[choice_depth++].taken;
}

/* For the schedule; where: in what prove_alloc gave, or elsewhere. */
#define step(t, site, p, ...)                                                  \
	schedule_print((t)->what->name, site, (char *)(p)-arena, __VA_ARGS__)

/* ---- Locations and views ---- */

static uint64_t memory(const volatile void *p, size_t size)
{
	switch (size) {
	case 1:
		return *(const volatile uint8_t *)p;
	case 2:
		return *(const volatile uint16_t *)p;
	case 4:
		return *(const volatile uint32_t *)p;
	}
	return *(const volatile uint64_t *)p;
}

static void set_memory(volatile void *p, size_t size, uint64_t value)
{
	switch (size) {
	case 1:
		*(volatile uint8_t *)p = value;
		break;
	case 2:
		*(volatile uint16_t *)p = value;
		break;
	case 4:
		*(volatile uint32_t *)p = value;
		break;
	case 8:
		*(volatile uint64_t *)p = value;
		break;
	}
}

static unsigned number(const struct location *at)
{
	return at - locations;
}

static struct location *new_location(uintptr_t address, size_t size)
{
	struct location *at = &locations[location_count];

	for (unsigned i = 0; i < location_count; i++)
		if (address < locations[i].address + locations[i].size &&
		    locations[i].address < address + size)
			prove_fault("accesses of different sizes: %zu bytes "
				    "and %zu at the same place",
				    size, locations[i].size);
	if (location_count == LOCATIONS)
		prove_fault("stopped short: over %d locations", LOCATIONS);
	location_count++;
	at->address = address;
	at->size = size;
	return at;
}

static struct location *location(const volatile void *p, size_t size)
{
	const uintptr_t address = (uintptr_t)p;
	struct location *at;
	uint8_t *slot;

	for (unsigned i = address / 2;; i++) {
		slot = &location_hash[i % sizeof(location_hash)];
		if (!*slot) {
			at = new_location(address, size);
			*slot = location_count;
			break;
		}
		at = &locations[*slot - 1];
		if (at->address == address)
			break;
	}
	if (at->size != size)
		prove_fault("accesses of different sizes: %zu bytes and %zu "
			    "at the same place",
			    size, at->size);
	if (!at->count) {
		at->count = 1;
		at->accessors = at->loads = 0;
		at->order[0] = 0;
		memset(&at->message[0], 0, sizeof(at->message[0]));
		at->message[0].value = memory(p, size);
	}
	return at;
}

static unsigned place_known(const struct location *at, const struct view *view)
{
	return at->message[view->message[number(at)]].place;
}

static void join(struct view *to, const struct view *from)
{
	for (unsigned i = 0; i < thread_count; i++) {
		if (to->events[i] < from->events[i])
			to->events[i] = from->events[i];
		if (to->fences[i] < from->fences[i])
			to->fences[i] = from->fences[i];
	}
	for (unsigned i = 0; i < location_count; i++) {
		const struct message *all = locations[i].message;

		if (all[to->message[i]].place < all[from->message[i]].place)
			to->message[i] = from->message[i];
	}
}

static bool acquires(enum prove_order order)
{
	return order == PROVE_ACQUIRE || order >= PROVE_ACQ_REL;
}

static bool releases(enum prove_order order)
{
	return order >= PROVE_RELEASE;
}

/* Notes that @t gets to @site, and who was there without being ordered. */
static struct event new_event(struct thread *t, struct prove_site *site,
			      struct location *at)
{
	struct event event = { site, ++t->events, id(t) }, *own = NULL;

	for (unsigned i = 0; i < at->accessors; i++) {
		struct event *last = &at->last[i];

		if (last->thread == id(t)) {
			if (last->site == site)
				own = last;
		} else if (last->number > t->current.events[last->thread] &&
			   (site->kind != PROVE_LOAD ||
			    last->site->kind != PROVE_LOAD)) {
			prove_found_unordered(site, last->site);
		}
	}
	if (!own) {
		if (at->accessors == ACCESSORS)
			prove_fault("stopped short: over %d accessors of one "
				    "location",
				    ACCESSORS);
		own = &at->last[at->accessors++];
	}
	*own = event;
	t->current.events[id(t)] = t->causes.events[id(t)] = t->events;
	return event;
}

/* ---- The order of fences ---- */

static void fence_edge(unsigned from, unsigned to)
{
	const uint64_t more = fences[to].before | 1ull << to;

	if (from == to || fences[to].before >> from & 1)
		end_execution(CUT);
	if (fences[from].before >> to & 1)
		return;
	fences[from].before |= more;
	for (unsigned i = 0; i < fence_count; i++)
		if (fences[i].before >> from & 1)
			fences[i].before |= more;
}

/* All of what is in @after, a number for each thread, come before fence @to. */
static void fences_before(const uint8_t *after, unsigned to)
{
	for (unsigned i = 0; i < thread_count; i++)
		if (after[i])
			fence_edge(fence_of[i][after[i]], to);
}

/* An access at @at that stands at @place, or before it if it is a load. */
static void order_access(const struct location *at, unsigned place, bool store,
			 const uint8_t *after)
{
	for (unsigned i = 0; i < fence_count; i++) {
		unsigned known =
			at->message[fences[i].message[number(at)]].place;

		if (known > place || (store && known == place))
			fences_before(after, i);
	}
}

static void order_fence(struct thread *t)
{
	const unsigned new = fence_count;
	uint8_t *own = &t->current.fences[id(t)];

	if (fence_count == FENCES)
		prove_fault("stopped short: over %d fences", FENCES);
	memcpy(fences[new].message, t->current.message,
	       sizeof(t->current.message));
	fences[new].before = 0;
	fence_count++;
	fences_before(t->current.fences, new);
	for (unsigned i = 0; new &&i < location_count; i++) {
		const struct location *at = &locations[i];
		const unsigned known =
			at->count ? place_known(at, &t->current) : 0;

		for (unsigned j = 0; at->count && j <= known; j++) {
			const struct message *m = &at->message[at->order[j]];

			fences_before(m->store_after, new);
			if (j < known)
				fences_before(m->load_after, new);
		}
	}
	fence_of[id(t)][++*own] = new;
}

/* ---- Loads and stores ---- */

static void switch_out(int state)
{
	running->state = state;
	if (!_setjmp(running->context))
		_longjmp(scheduler, 1);
}

static bool is_load(const struct request *request)
{
	return request->site->kind == PROVE_LOAD;
}

static bool reads(const struct request *request, const struct message *m)
{
	return (is_load(request) || !m->taken) &&
	       (!request->not_zero || m->value);
}

static void take(struct thread *t, struct location *at, unsigned read,
		 unsigned choice);

/*
 * A load that was served before this store, and that it does not depend on, could
 * as well have waited for it. That way is opened now: if it always were, nearly
 * all would wait for what never comes. A read-modify-write may keep others from
 * getting so far: it always has it.
 */
static void let_wait(const struct thread *from, const struct location *at)
{
	for (unsigned i = 0; i < at->loads; i++) {
		const unsigned thread = at->load[i].thread;

		if (thread != id(from) &&
		    at->load[i].event > from->causes.events[thread])
			choices[at->load[i].choice].wait = true;
	}
}

static bool waits_for(const struct thread *t, const struct location *at,
		      unsigned new)
{
	const struct message *m = &at->message[new];

	return (t->state == WAITING || t->state == ASLEEP) &&
	       t->waits_at == at && reads(&t->request, m) &&
	       m->place > place_known(at, &t->current);
}

static void offer_to(bool loads, struct location *at, unsigned new)
{
	for (unsigned i = 0; i < thread_count; i++) {
		struct thread *t = &threads[i];

		if (!waits_for(t, at, new) || is_load(&t->request) != loads)
			continue;
		if (choose(1, prove_eager || !loads)) {
			t->state = WAITING;
		} else {
			t->state = READY;
			take(t, at, new, choice_depth - 1);
		}
	}
}

/*
 * A message has come: who waits for one here? Loads first, for to take it in a
 * read-modify-write adds the next one.
 */
static void offer(struct location *at, unsigned new)
{
	for (unsigned i = 0; i < thread_count; i++) {
		const struct thread *t = &threads[i];

		for (unsigned j = 0; t->state == STUCK && j < t->looked; j++)
			if (t->look[j].at == at &&
			    at->message[new].place == at->count - 1)
				end_execution(CUT);
	}
	offer_to(true, at, new);
	offer_to(false, at, new);
}

static void add_message(struct thread *t, struct location *at,
			struct event event, unsigned place, uint64_t value,
			const struct message *read)
{
	const unsigned new = at->count;
	struct message *m = &at->message[new];

	if (new == MESSAGES)
		prove_fault("stopped short: over %d stores at one place",
			    MESSAGES);
	for (unsigned i = at->count++; i > place; i--) {
		at->order[i] = at->order[i - 1];
		at->message[at->order[i]].place = i;
	}
	at->order[place] = new;
	*m = (struct message){ event, t->causes, value, schedule_step(),
			       .place = place };
	t->current.message[number(at)] = new;
	m->view = releases(event.site->order) ? t->current : t->released;
	if (read)
		join(&m->view, &read->view);
	memcpy(m->store_after, t->current.fences, sizeof(m->store_after));
	order_access(at, place, true, m->store_after);
	set_memory((void *)at->address, at->size, value);
	t->looked = 0;
	let_wait(t, at);
	offer(at, new);
}

/* @t's request is served by message @read. */
static void take(struct thread *t, struct location *at, unsigned read,
		 unsigned choice)
{
	struct message *m = &at->message[read];
	struct prove_site *site = t->request.site;
	struct event event;

	if (acquires(site->order))
		join(&t->current, &m->view);
	else
		join(&t->acquired, &m->view);
	event = new_event(t, site, at);
	for (unsigned i = 0; i < thread_count; i++)
		if (t->causes.events[i] < m->causes.events[i])
			t->causes.events[i] = m->causes.events[i];
	if (at->loads == LOADS)
		prove_fault("stopped short: over %d loads of one location",
			    LOADS);
	at->load[at->loads].thread = id(t);
	at->load[at->loads].event = event.number;
	at->load[at->loads++].choice = choice;
	if (place_known(at, &t->current) < m->place)
		t->current.message[number(at)] = read;
	for (unsigned i = 0; i < thread_count; i++)
		if (m->load_after[i] < t->current.fences[i])
			m->load_after[i] = t->current.fences[i];
	order_access(at, m->place, false, t->current.fences);
	if (t->looked == LOCATIONS)
		prove_fault("stopped short: over %d looks", LOCATIONS);
	t->look[t->looked].at = at;
	t->look[t->looked++].message = read;
	t->request.result = m->value;
	step(t, site, (void *)at->address, "%#llx, from step %u; %u newer",
	     (unsigned long long)m->value, m->step, at->count - 1 - m->place);
	if (m->by.site && m->by.thread != id(t))
		schedule_news(event, m->by);
	if (site->kind == PROVE_LOAD)
		return;
	m->taken = true;
	add_message(t, at, event, m->place + 1,
		    site->kind == PROVE_ADD ? m->value + t->request.operand :
					      t->request.operand,
		    m);
}

static uint64_t request(struct prove_site *site, const volatile void *p,
			size_t size, uint64_t operand, bool not_zero)
{
	struct location *at = location(p, size);
	struct thread *t = running;
	uint8_t can[MESSAGES];
	unsigned ways = 0, way;

	t->request = (struct request){ site, operand, not_zero, 0 };
	for (unsigned i = at->count; i-- > place_known(at, &t->current);)
		if (reads(&t->request, &at->message[at->order[i]]))
			can[ways++] = at->order[i];
	t->waits_at = at;
	way = ways ? choose(ways, prove_eager || !is_load(&t->request)) : 0;
	if (way < ways)
		take(t, at, can[way], choice_depth - 1);
	else
		switch_out(ways ? WAITING : ASLEEP);
	return running->request.result;
}

uint64_t prove_load(struct prove_site *site, const volatile void *p,
		    size_t size)
{
	if (!threaded)
		return memory(p, size);
	prove_reached(site);
	return request(site, p, size, 0, false);
}

uint64_t prove_rmw(struct prove_site *site, volatile void *p, size_t size,
		   uint64_t value)
{
	prove_reached(site);
	return request(site, p, size, value, false);
}

void prove_sleep(struct prove_site *site, uint64_t *counter)
{
	prove_reached(site);
	request(site, counter, sizeof(*counter), 0, true);
}

void prove_store(struct prove_site *site, volatile void *p, size_t size,
		 uint64_t value)
{
	struct thread *t = running;
	struct location *at;
	uint8_t can[MESSAGES];
	unsigned ways = 0;
	struct event event;

	value &= ~0ull >> (64 - 8 * size);
	if (!threaded) {
		set_memory(p, size, value);
		return;
	}
	prove_reached(site);
	at = location(p, size);
	for (unsigned i = at->count; i > place_known(at, &t->current); i--)
		if (!at->message[at->order[i - 1]].taken)
			can[ways++] = i;
	event = new_event(t, site, at);
	step(t, site, p, "= %#llx", (unsigned long long)value);
	add_message(t, at, event, can[choose(ways, false)], value, NULL);
}

void prove_fence(struct prove_site *site)
{
	struct thread *t = running;

	if (!threaded)
		return;
	prove_reached(site);
	schedule_print(t->what->name, site, -1,
		       site->weak ? "not what it was" : "");
	t->last_fence = site;
	if (acquires(site->order))
		join(&t->current, &t->acquired);
	if (site->order == PROVE_SC)
		order_fence(t);
	if (releases(site->order))
		t->released = t->current;
}

/* ---- Plain memory ---- */

static void race(struct thread *t, struct prove_site *site, struct event other)
{
	schedule_ends(id(t), other.thread, other.number);
	prove_fault("data race: %s at %s:%d, by %s, is not ordered with %s at "
		    "%s:%d, by %s",
		    site->text, site->file, site->line, t->what->name,
		    other.site->text, other.site->file, other.site->line,
		    threads[other.thread].what->name);
}

static struct plain *plain_byte(uintptr_t address)
{
	unsigned slot = address % PLAIN;

	while (plain[slot].address != address && plain[slot].address)
		slot = (slot + 1) % PLAIN;
	if (!plain[slot].address) {
		if (plain_count == PLAIN / 2)
			prove_fault("stopped short: over %d bytes that are "
				    "not marked",
				    PLAIN / 2);
		plain_used[plain_count++] = slot;
		memset(&plain[slot], 0, sizeof(plain[slot]));
		plain[slot].address = address;
	}
	return &plain[slot];
}

void prove_plain(struct prove_site *site, const volatile void *p, size_t size)
{
	const bool write = site->kind == PROVE_PLAIN_WRITE;
	struct thread *t = running;
	const struct view *known = &t->current;
	struct event event;

	if (!threaded)
		return;
	prove_reached(site);
	event = (struct event){ site, ++t->events, id(t) };
	t->current.events[id(t)] = t->causes.events[id(t)] = t->events;
	step(t, site, p, write ? "written" : "%#llx",
	     (unsigned long long)memory(p, size));
	for (size_t i = 0; i < size; i++) {
		struct plain *byte = plain_byte((uintptr_t)p + i);

		if (byte->write.number > known->events[byte->write.thread])
			race(t, site, byte->write);
		for (unsigned j = 0; write && j < thread_count; j++)
			if (byte->read[j].number > known->events[j])
				race(t, site, byte->read[j]);
		if (write)
			byte->write = event;
		else
			byte->read[id(t)] = event;
	}
}

void *prove_alloc(size_t size, size_t align)
{
	arena_used = (arena_used + align - 1) / align * align;
	if (size > ARENA_BYTES - arena_used)
		prove_fault("stopped short: over %d bytes of memory",
			    ARENA_BYTES);
	arena_used += size;
	return memset(arena + arena_used - size, 0, size);
}

/* ---- Threads ---- */

void prove_poll_failed(void)
{
	for (unsigned i = 0; i < running->looked; i++) {
		const struct location *at = running->look[i].at;

		if (at->message[running->look[i].message].place !=
		    at->count - 1)
			end_execution(CUT);
	}
	switch_out(STUCK);
}

void prove_meet(void)
{
	switch_out(MEETING);
}

static void thread_main(void)
{
	if (!_setjmp(running->base))
		_longjmp(scheduler, 1);
	running->what->run();
	running->state = ENDED;
	_longjmp(scheduler, 1);
}

static void create(struct thread *t)
{
	getcontext(&t->start);
	t->start.uc_stack.ss_sp = stacks[id(t)];
	t->start.uc_stack.ss_size = STACK_BYTES;
	makecontext(&t->start, thread_main, 0);
	running = t;
	if (!_setjmp(scheduler))
		setcontext(&t->start);
}

static unsigned in_state(unsigned state)
{
	unsigned n = 0;

	for (unsigned i = 0; i < thread_count; i++)
		n += threads[i].state == state;
	return n;
}

/* The next thread that can run, or NULL: all is over. */
static struct thread *next_thread(void)
{
	if (in_state(MEETING) == thread_count) {
		threaded = true;
		for (unsigned i = 0; i < thread_count; i++)
			threads[i].state = READY;
	}
	if (running && running->state == READY)
		return running;
	for (unsigned i = 0; i < thread_count; i++)
		if (threads[i].state == READY || threads[i].state == FRESH)
			return &threads[i];
	if (in_state(ENDED) == thread_count)
		return NULL;
	verdict = CUT;
	if (!in_state(WAITING)) {
		verdict = FAULT;
		for (unsigned i = 0; i < thread_count; i++)
			if (threads[i].last_fence)
				schedule_fence(threads[i].last_fence);
		snprintf(fault_text, sizeof(fault_text),
			 "they stand still: %u asleep, %u poll in vain",
			 in_state(ASLEEP), in_state(STUCK));
	}
	return NULL;
}

static void start_over(void)
{
	for (unsigned i = 0; i < location_count; i++)
		locations[i].count = 0;
	for (unsigned i = 0; i < plain_count; i++)
		plain[plain_used[i]].address = 0;
	plain_count = fence_count = choice_depth = arena_used = 0;
	for (unsigned i = 0; i < thread_count; i++) {
		struct thread *t = &threads[i];

		t->state = FRESH;
		t->events = t->looked = 0;
		t->last_fence = NULL;
		memset(&t->current, 0, sizeof(t->current));
		memset(&t->acquired, 0, sizeof(t->acquired));
		memset(&t->released, 0, sizeof(t->released));
		memset(&t->causes, 0, sizeof(t->causes));
	}
	threaded = false;
	running = NULL;
	verdict = GOES_ON;
}

static void execute(void (*reset)(void))
{
	start_over();
	reset();
	_setjmp(scheduler);
	if (verdict != GOES_ON)
		return;
	running = next_thread();
	if (!running) {
		threaded = false; /* memory is what it was in the end */
		if (verdict == GOES_ON && prove_complete)
			prove_complete();
		return;
	}
	if (running->state == FRESH) {
		running->state = READY;
		_longjmp(running->base, 1);
	}
	_longjmp(running->context, 1);
}

/* False: all has been tried. */
static bool next_choices(void)
{
	while (choice_count && choices[choice_count - 1].taken + 1 ==
				       choices[choice_count - 1].ways +
					       choices[choice_count - 1].wait)
		choice_count--;
	if (!choice_count)
		return false;
	choices[choice_count - 1].taken++;
	return true;
}

bool prove_explore(const struct prove_thread *what, unsigned n,
		   void (*reset)(void), struct prove_result *result)
{
	*result = (struct prove_result){ 0 };
	thread_count = n;
	choice_count = location_count = 0;
	memset(location_hash, 0, sizeof(location_hash));
	memset(locations, 0, sizeof(locations));
	for (unsigned i = 0; i < n; i++) {
		threads[i].what = &what[i];
		if (!created[i])
			create(&threads[i]);
		created[i] = true;
	}
	do {
		execute(reset);
		if (verdict == FAULT)
			break;
		if (verdict == CUT)
			result->cut++;
		else
			result->executions++;
		if (result->executions + result->cut > prove_limit) {
			result->fault = "stopped short: too many executions";
			return false;
		}
	} while (next_choices());
	result->fault = verdict == FAULT ? fault_text : NULL;
	return verdict != FAULT;
}

void prove_explain(void (*reset)(void))
{
	schedule_start();
	execute(reset);
	/* what a thread said of what it got may be old news */
	schedule_end(running ? (int)id(running) : -1);
	puts(fault_text);
}
