/* SPDX-License-Identifier: MIT */
/* What came of it. */
#ifndef COMPARE_ANSWER_H
#define COMPARE_ANSWER_H

/* Prints it, of the rounds that are over. */
void report(void);

/* The exit status that --fail-if-slower asks for. */
int judge(void);

#endif
