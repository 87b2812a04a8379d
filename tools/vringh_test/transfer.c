// SPDX-License-Identifier: MIT
#include "transfer.h"

unsigned char pattern[256 + SLOT];

void make_pattern(void)
{
	/* 167 is prime to 256: each byte once in any stretch of 256 */
	for (unsigned i = 0; i < sizeof(pattern); i++)
		pattern[i] = i * 167 + 13;
}
