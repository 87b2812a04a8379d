// SPDX-License-Identifier: MIT
/* vringh: kicks and calls, by event index and by flags. */
#include "tests/unit/vringh_guest.h"

static void notify_by_event(void)
{
	const uint16_t base = avail;
	uint32_t head;

	*ring.avail_event = 77;
	expect(way->notify_enable() == 1 && *ring.avail_event == base,
	       "arming when empty");
	expect(!way->notify_disable() && !ring.used->flags,
	       "with event indexes, disarming does something");
	put(0, at(DATA), 4, 0, 0);
	offer(0);
	offer(0);
	expect(way->notify_enable() == 0, "safe to sleep, with two there");
	*ring.used_event = base + 1;
	expect(get(&head) == 1 && !way->complete(head, 0), "the first");
	expect(way->need_notify() == 0, "a call before the event");
	expect(get(&head) == 1 && !way->complete(head, 0), "the second");
	expect(way->need_notify() == 1, "no call at the event");
	expect(way->need_notify() == 0, "the call is repeated");
	recover(VRINGH_NO_HEAD);
}

static void event_wraps(void)
{
	fresh_with(FEATURES, 65535);
	notify_by_event();
}

static void notify_by_flags(void)
{
	uint32_t head;

	fresh_with(0, 5);
	expect(!way->notify_disable() &&
		       ring.used->flags == VRING_USED_F_NO_NOTIFY,
	       "disarming");
	expect(way->notify_enable() == 1 && !ring.used->flags, "arming");
	expect(way->need_notify() == 0, "a call for nothing");
	put(0, at(DATA), 4, 0, 0);
	offer(0);
	offer(0);
	expect(get(&head) == 1 && !way->complete(head, 0), "the first");
	expect(way->need_notify() == 1, "no call");
	ring.avail->flags = VRING_AVAIL_F_NO_INTERRUPT;
	expect(get(&head) == 1 && !way->complete(head, 0), "the second");
	expect(way->need_notify() == 0, "a call against the flag");
	recover(VRINGH_NO_HEAD);
}

/* Complete; the request is out of reach; then it is there: a call is due. */
static void request_added_late(void)
{
	uint32_t head;

	if (trusts())
		return;
	put(0, at(DATA), 4, 0, 0);
	offer(0);
	expect(get(&head) == 1 && !way->complete(head, 0), "a completion");
	vringh_map_remove(&map, at(RING), at(RING));
	expect(way->need_notify() == -EFAULT, "a look at what is not there");
	range(RING, TABLES - RING, VRINGH_PERM_RW);
	expect(way->need_notify() == 1, "the call is lost");
	expect(way->need_notify() == 0, "the call is repeated");
	recover(VRINGH_NO_HEAD);
}

static const struct test tests[] = {
	{ "notifications by event index", notify_by_event },
	{ "event indexes go past 65535", event_wraps },
	{ "notifications by flags", notify_by_flags },
	{ "a request whose range is added late", request_added_late },
};

int main(void)
{
	return run_tests(tests, sizeof(tests) / sizeof(*tests));
}
