// SPDX-License-Identifier: MIT
/*
 * virtio_ring_packed_inorder, byte by byte: virtio 1.2, sections 2.8 and 2.8.8.
 */
#include "virtio_ring_packed_inorder.c"
#include "tests/unit/packed_bytes.h"

static void exchange(void)
{
	config.param = 3;
	fresh(4);
	for (uint32_t i = 0; i < 4; i++)
		add(i, 0x10 + i);
	use(0);
	use(1);
	bytes("two used, and held back", ring.desc,
	      "00 03 02 01 00 00 00 00  10 00 00 00  00 00  82 00 "
	      "01 03 02 01 00 00 00 00  11 00 00 00  01 00  82 00 ");
	check(used_empty(), "the guest knows already");
	use(2);
	/* where the first one stood, with the id of the last */
	bytes("three completed by one", ring.desc,
	      "00 03 02 01 00 00 00 00  11 00 00 00  02 00  82 80 "
	      "01 03 02 01 00 00 00 00  11 00 00 00  01 00  82 00 "
	      "02 03 02 01 00 00 00 00  12 00 00 00  02 00  82 00 "
	      "03 03 02 01 00 00 00 00  13 00 00 00  03 00  82 00");
	get(0, 0x10); /* used whole: nothing says otherwise */
	get(1, 0x11);
	get(2, 0x11);
	check(used_empty(), "one too many");
	add(4, 0x20);
	add(5, 0x21);
	use(3);
	use(4);
	check(!avail_empty(), "one is left");
	/* stepped over the two: at 3, first lap, with the id of what is at 0 */
	bytes("and two, round the end", ring.desc,
	      "04 03 02 01 00 00 00 00  20 00 00 00  00 00  02 80 "
	      "05 03 02 01 00 00 00 00  21 00 00 00  01 00  02 80 "
	      "02 03 02 01 00 00 00 00  12 00 00 00  02 00  82 00 "
	      "03 03 02 01 00 00 00 00  1f 00 00 00  00 00  82 80");
	get(3, 0x13);
	get(4, 0x1f);
	use(5);
	avail_empty();
	/* the next one stands at 1, second lap: neither bit */
	bytes("one, in the second lap", &ring.desc[1],
	      "05 03 02 01 00 00 00 00  20 00 00 00  01 00  02 00");
	get(5, 0x20);
	check(used_empty() && avail_empty(), "there is more");
	report("packed, in order: the bytes of an exchange");
	config.param = 0;
}

int main(void)
{
	exchange();
	all_laps();
	return finish();
}
