/* SPDX-License-Identifier: MIT */
/*
 * Fields, each declared once, as CSV and JSON. doc/output-format describes each
 * one as it is declared; tests/columns.test compares the two.
 */
#ifndef LIB_FIELD_H
#define LIB_FIELD_H

#include <stdio.h>

#define SCHEMA "3"

/* What @value points to. One that is not known is empty in CSV, null in JSON. */
enum field_kind {
	FIELD_WORD,   /* const char *: a name; NULL: not known */
	FIELD_TEXT,   /* the same, any text: CSV has it in quotes */
	FIELD_U32,    /* uint32_t */
	FIELD_U64,    /* uint64_t; UINT64_MAX: not known */
	FIELD_CPU,    /* int; below 0: not known */
	FIELD_BOOL,   /* bool: 0 or 1, false or true */
	FIELD_DOUBLE, /* double, as many digits as it takes; NAN: not known */
	FIELD_FIXED,  /* the same; FIELD_FIXED + 2 has two decimals */
};

struct field {
	const char *name; /* column and key; NULL ends a table */
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

/*
 * A JSON string, quotes and all; NULL is null. A byte that is not UTF-8 comes
 * out as U+FFFD, as such a file would be refused whole.
 */
void json_string(FILE *f, const char *text);

#endif
