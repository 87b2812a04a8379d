// SPDX-License-Identifier: MIT
#include <stdlib.h>

#include "context.h"
#include "quota.h"
#include "record.h"

static const struct record *record;
static enum format format;

/* JSON's rows, as text: the context is known after them and printed before. */
static FILE *rows;
static char *text;
static size_t size, whole; /* whole: without a row that was cut off */

static void no_memory(void)
{
	die(EXIT_FAILED,
	    "no memory to keep samples for JSON; use --format csv");
}

void record_start(enum format how, const struct record *what)
{
	format = how;
	record = what;
	if (format == FORMAT_CSV)
		csv_names(stdout, record->fields);
	if (format == FORMAT_JSON) {
		rows = open_memstream(&text, &size);
		if (!rows)
			no_memory();
	}
	finish_stdout();
}

void record_row(void)
{
	switch (format) {
	case FORMAT_HUMAN:
		if (record->human)
			record->human();
		break;
	case FORMAT_CSV:
		csv_row(stdout, record->fields);
		break;
	case FORMAT_JSON:
		fputs(whole ? ",{" : "{", rows);
		json_fields(rows, record->fields);
		putc('}', rows);
		if (flush(rows))
			no_memory();
		whole = size;
		break;
	}
	finish_stdout();
}

void record_end(void)
{
	if (format == FORMAT_JSON) {
		printf("{\"schema\":" SCHEMA ",\"context\":");
		context_json(record->cpu ? *record->cpu : -1);
		putchar(',');
		if (record->head) {
			json_fields(stdout, record->head);
			putchar(',');
		}
		printf("\"%s\":[", record->rows ? record->rows : "samples");
		if (whole)
			fwrite(text, 1, whole, stdout);
		puts("]}");
		fclose(rows);
		free(text);
	}
	finish_stdout();
	quota_warn();
}
