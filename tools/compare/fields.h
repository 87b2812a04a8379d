/* SPDX-License-Identifier: MIT */
/* What is written for machines. */
#ifndef COMPARE_FIELDS_H
#define COMPARE_FIELDS_H

#include <stdbool.h>
#include <stdio.h>

struct field {
	const char *name;	/* NULL ends them */
	const char *text;	/* NULL: it is a number */
	double number;		/* not finite: not known */
};

void put_csv(FILE *f, const struct field *fields, bool names);
void put_json(FILE *f, const struct field *fields);

#endif
