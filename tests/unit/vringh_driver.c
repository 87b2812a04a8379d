// SPDX-License-Identifier: MIT
/*
 * The guest's side, virtio/driver.h, against vringh and against hosts that lie.
 */
#include "lib/random.h"
#include "tests/unit/vringh_guest.h"

static void with_driver(uint64_t features)
{
	const bool event = features >> VIRTIO_RING_F_EVENT_IDX & 1;
	const bool tables = features >> VIRTIO_RING_F_INDIRECT_DESC & 1;
	struct vdriver drv;
	struct vdriver_sg sg[4];
	char names[64], text[64] = "";
	uint32_t head, len, added = 0, got = 0;
	void *back;

	fresh_with(features, 0);
	expect(!vdriver_init(&drv, features, SIZE, mem + RING, bias,
			     tables ? indirect() : NULL, tables ? 4 : 0),
	       "vdriver_init");
	for (int i = 0; i < 4; i++)
		sg[i] = (struct vdriver_sg){ mem + DATA + 64 * i, 3 };
	expect(vdriver_add(&drv, sg, 0, 0, names) == -EINVAL, "no piece");
	expect(vdriver_add(&drv, sg, 3, SIZE - 2, names) == -EINVAL,
	       "more pieces than the ring has entries");
	for (int round = 0; round < 100; round++) {
		bool armed, asks;
		uint32_t batch = 0;

		expect(way->notify_enable() == 1, "the host may sleep");
		memcpy(mem + DATA, "onetwo", 3);
		memcpy(mem + DATA + 64, "two", 3);
		while (!vdriver_add(&drv, sg, 1 + round % 2, 2 - round % 2,
				    names + added % 64)) {
			added++;
			batch++;
		}
		expect(batch == (tables ? SIZE : SIZE / 3), "%u fit", batch);
		expect(vdriver_need_kick(&drv), "no kick");
		expect(!vdriver_need_kick(&drv), "a second kick");
		armed = round % 2 ? vdriver_enable_call(&drv) :
				    vdriver_enable_call_delayed(&drv);
		expect(armed, "the guest may sleep");
		expect(!way->notify_disable(), "disarming");
		for (uint32_t i = 0; i < batch; i++) {
			/* prompt: the first; delayed: past three quarters */
			uint32_t due = round % 2 ? 0 : batch * 3 / 4;

			expect(get(&head) == 1, "chain %u", i);
			expect(way->pull(&riov, text, 64) ==
					       3 + round % 2 * 3 &&
				       !memcmp(text, "onetwo",
					       3 + round % 2 * 3),
			       "pulled '%s'", text);
			expect(way->push(&wiov, "abcdef", 6) ==
				       6 - round % 2 * 3,
			       "pushing");
			expect(!way->complete(head, 100 + i), "completing");
			asks = way->need_notify();
			expect(asks == (!event || i == due), "call %d at %u",
			       asks, i);
		}
		expect(!vdriver_enable_call(&drv), "safe to sleep");
		vdriver_disable_call(&drv);
		for (uint32_t i = 0; i < batch; i++) {
			expect(vdriver_get(&drv, &back, &len) == 1 &&
				       back == names + got % 64 &&
				       len == 100 + i,
			       "number %u came back", i);
			got++;
		}
		expect(!vdriver_get(&drv, &back, &len), "one more");
		expect(vdriver_empty(&drv), "it is not empty");
	}
	vdriver_free(&drv);
}

/* A host that completes what it was not given. */
static void driver_of_a_liar(void)
{
	static const uint32_t ids[] = { SIZE, 1, 0xffff, UINT32_MAX, 0 };
	struct vdriver_sg sg = { mem + DATA, 4 };
	struct vdriver drv;
	uint32_t len;
	void *back;

	expect(!vdriver_init(&drv, 0, SIZE, mem, bias, NULL, 0),
	       "vdriver_init");
	for (int i = 0; i < 5; i++) {
		ring.used->ring[0].id = ids[i];
		ring.used->idx = 1;
		for (int k = 0; k < 2; k++)
			expect(vdriver_get(&drv, &back, &len) == -EPROTO,
			       "it gets back number %u", ids[i]);
	}
	expect(!vdriver_add(&drv, &sg, 0, 1, mem), "adding");
	expect(vdriver_get(&drv, &back, &len) == 1 && back == mem,
	       "it gets back nothing");
	ring.used->ring[1].id = 0;
	ring.used->idx = 2;
	expect(vdriver_get(&drv, &back, &len) == -EPROTO,
	       "it gets it back twice");
	vdriver_free(&drv);
}

/* Free descriptors are those that are in no chain, each once. */
static void check_free(const struct vdriver *drv, uint32_t outstanding)
{
	uint32_t seen = 0, i = drv->free_head;

	expect(drv->nr_free + outstanding == SIZE, "%u free, %u outstanding",
	       drv->nr_free, outstanding);
	for (uint32_t k = 0; k < drv->nr_free; k++) {
		expect(i < SIZE && !(seen >> i & 1) && !drv->slots[i].data,
		       "descriptor %u is in the list of the free", i);
		if (tap.wrong)
			return;
		seen |= 1u << i;
		i = drv->slots[i].next;
	}
}

/* One that writes all over the ring's memory. */
static void driver_under_attack(void)
{
	struct vdriver_sg sg[3];
	uint64_t state = RANDOM_SEED;
	uint32_t len, outstanding = 0, backs = 0;
	struct vdriver drv;

	expect(!vdriver_init(&drv, FEATURES, SIZE, mem, bias, NULL, 0),
	       "vdriver_init");
	for (int i = 0; i < 3; i++)
		sg[i] = (struct vdriver_sg){ mem + DATA, 4 };
	for (int round = 0; round < 20000 && !tap.wrong; round++) {
		uint32_t *words = (uint32_t *)mem;
		void *data;

		for (uint32_t i = 0; i < vring_bytes(SIZE) / 4; i++) {
			uint32_t r = random32(&state);

			words[i] = random32(&state) % 4 ? r & 0xf : r;
			if (i == SIZE * 6 + 1) /* on to the used ring */
				i = vring_used_offset(SIZE) / 4 - 1;
		}
		ring.used->idx = random32(&state);
		if (!vdriver_add(&drv, sg, 1, round % 3, mem + 1 + round % 3))
			outstanding += 1 + round % 3;
		if (vdriver_get(&drv, &data, &len) == 1) {
			char *back = data;

			expect(back > mem && back <= mem + 3,
			       "it gets back what it never added");
			outstanding -= back - mem;
			backs++;
		}
		vdriver_need_kick(&drv);
		vdriver_enable_call_delayed(&drv);
		check_free(&drv, outstanding);
	}
	expect(backs > 1000, "%u came back: this tells nothing", backs);
	vdriver_free(&drv);
}

static void driver(void)
{
	for (unsigned bits = 0; bits < 8; bits++)
		with_driver(
			(uint64_t)(bits & 1) << VIRTIO_RING_F_INDIRECT_DESC |
			(uint64_t)(bits >> 1 & 1) << VIRTIO_RING_F_EVENT_IDX |
			(uint64_t)(bits >> 2) << VIRTIO_F_VERSION_1);
}

static const struct test tests[] = {
	{ "the driver, with every feature; prompt and delayed calls", driver },
	{ "the driver gives out nothing that was not added", driver_of_a_liar },
	{ "the driver's lists, whatever the host writes", driver_under_attack },
};

int main(void)
{
	return run_tests(tests, sizeof(tests) / sizeof(*tests));
}
