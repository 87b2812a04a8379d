/* SPDX-License-Identifier: MIT */
/*
 * All that a program prints on stdout: rows, as lines for a person, CSV or JSON.
 */
#ifndef LIB_RECORD_H
#define LIB_RECORD_H

#include "field.h"
#include "program.h"

struct record {
	const struct field *fields; /* of a row */
	void (*human)(void);	    /* prints a row for a person; or NULL */
	const int *cpu;		    /* whose governor counts; or NULL */
	const char *rows;	    /* JSON's key for them; NULL: samples */
	const struct field *head;   /* JSON's keys before that; or NULL */
};

/* Prints what comes before the first row. */
void record_start(enum format format, const struct record *record);

/* The row is on stdout when this returns; JSON waits for record_end(). */
void record_row(void);

/* Prints what is left; for at_end(). */
void record_end(void);

#endif
