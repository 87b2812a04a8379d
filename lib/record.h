/* SPDX-License-Identifier: MIT */
/*
 * What a program prints on stdout: rows of fields, each declared once, as lines
 * for a person, CSV or JSON. doc/output-format describes each field as it is
 * declared; tests/columns.test compares them.
 */
#ifndef LIB_RECORD_H
#define LIB_RECORD_H

#include <stdbool.h>
#include <stdio.h>

#include "program.h"

/* What @value points to. One that is not known is empty in CSV, null in JSON. */
enum field_kind {
	FIELD_WORD,	/* const char *: a name; NULL: not known */
	FIELD_TEXT,	/* the same, any text: CSV has it in quotes */
	FIELD_U32,	/* uint32_t */
	FIELD_U64,	/* uint64_t; UINT64_MAX: not known */
	FIELD_CPU,	/* int; below 0: not known */
	FIELD_BOOL,	/* bool: 0 or 1, false or true */
	FIELD_DOUBLE,	/* double, as many digits as it takes; NAN: not known */
	FIELD_FIXED,	/* the same; FIELD_FIXED + 2 has two decimals */
};

struct field {
	const char *name;	/* column and key; NULL ends a table */
	const char *unit;
	int kind;
	const void *value;
};

/* The line with the names; a row; both begin with the schema. */
void csv_names(FILE *f, const struct field *fields);
void csv_row(FILE *f, const struct field *fields);

/* The same row as an object on a line of its own. */
void json_row(FILE *f, const struct field *fields);

/* "name":value,... without schema and braces, for what is inside an object. */
void json_fields(FILE *f, const struct field *fields);

/* ---- All that a program prints ---- */

struct record {
	const struct field *fields;	/* of a row */
	void (*human)(void);		/* prints a row for a person; or NULL */
	const int *cpu;			/* whose governor counts; or NULL */
	const char *rows;		/* JSON's key for them; NULL: samples */
	const struct field *head;	/* JSON's keys before that; or NULL */
};

/* Prints what comes before the first row. */
void record_start(enum format format, const struct record *record);

/* The row is on stdout when this returns; JSON waits for record_end(). */
void record_row(void);

/* Prints what is left; for at_end(). */
void record_end(void);

#endif
