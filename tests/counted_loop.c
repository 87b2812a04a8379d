// SPDX-License-Identifier: MIT
/*
 * counted_loop N: a program whose true cost is known. Each step waits for the
 * one before it, so the time grows with N and with nothing else.
 */
#include <stdint.h>
#include <stdlib.h>

int main(int argc, char **argv)
{
	uint64_t n = argc > 1 ? strtoull(argv[1], NULL, 10) : 0;
	volatile uint64_t result;
	uint64_t x = n;

	while (n--)
		x = x * 0x5851f42d4c957f2d + 1;
	result = x;
	(void)result;
	return 0;
}
