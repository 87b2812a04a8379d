// SPDX-License-Identifier: MIT
/*
 * The notification rule, against its meaning: some entry from next - since to
 * next - 1, all modulo 2^16, is the one that the event names.
 */
#include "tests/check.h"
#include "virtio/event.h"

static bool meant(uint16_t event, uint16_t next, uint32_t since)
{
	/* entries newer than the event, the event included, going back */
	uint32_t back = ((uint32_t)next - 1 - event) & 0xffff;

	return since > back;
}

int main(void)
{
	static const uint16_t edges[] = { 0,	 1,	2,     3,
					  254,	 255,	256,   32766,
					  32767, 32768, 32769, 65279,
					  65280, 65533, 65534, 65535 };
	static const uint32_t counts[] = {
		0,     1,     2,      3,	  255,	      256,
		257,   32767, 32768,  32769,	  65534,      65535,
		65536, 65537, 131072, 0x7fffffff, 0x80000000, 0xffffffff
	};
	const int n = sizeof(edges) / sizeof(*edges);
	const int m = sizeof(counts) / sizeof(*counts);
	bool explicit;

	for (int i = 0; i < n; i++)
		for (uint32_t event = 0; event < 65536; event++)
			for (int k = 0; k < m; k++)
				check(need_event(event, edges[i], counts[k]) ==
					      meant(event, edges[i], counts[k]),
				      "event %u, next %u, since %u", event,
				      edges[i], counts[k]);
	report("notification rule: every event, next at each 16-bit edge");

	explicit = need_event(65535, 0, 1) && need_event(65534, 0, 2) &&
		   !need_event(65534, 0, 1) && !need_event(0, 0, 1) &&
		   !need_event(0, 0, 65535) && need_event(0, 0, 65536) &&
		   need_event(0, 1, 1) && !need_event(1, 1, 1) &&
		   need_event(32767, 32768, 1) && !need_event(7, 8, 0);
	check(explicit, "one of them");
	report("notification rule: cases worked out by hand");
	return finish();
}
