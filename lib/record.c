// SPDX-License-Identifier: MIT
#include <inttypes.h>
#include <math.h>
#include <string.h>

#include "context.h"
#include "json.h"
#include "quota.h"
#include "record.h"

#define SCHEMA "1"

static bool known(const struct field *x)
{
	switch (x->kind) {
	case FIELD_WORD:
	case FIELD_TEXT:
		return *(const char *const *)x->value;
	case FIELD_U64:
		return *(const uint64_t *)x->value != UINT64_MAX;
	case FIELD_CPU:
		return *(const int *)x->value >= 0;
	case FIELD_U32:
	case FIELD_BOOL:
		return true;
	default:
		return isfinite(*(const double *)x->value);
	}
}

/* A text is in quotes, and so is a word that could not be read without. */
static void csv_text(FILE *f, const char *text, bool quoted)
{
	if (!quoted && !strpbrk(text, ",\"\r\n")) {
		fputs(text, f);
		return;
	}
	putc('"', f);
	for (; *text; text++)
		fprintf(f, *text == '"' ? "\"\"" : "%c", *text);
	putc('"', f);
}

static void put(FILE *f, const struct field *x, bool json)
{
	const void *value = x->value;

	if (!known(x)) {
		fputs(json ? "null" : "", f);
		return;
	}
	switch (x->kind) {
	case FIELD_WORD:
	case FIELD_TEXT:
		if (json)
			json_string(f, *(const char *const *)value);
		else
			csv_text(f, *(const char *const *)value,
				 x->kind == FIELD_TEXT);
		break;
	case FIELD_U32:
		fprintf(f, "%" PRIu32, *(const uint32_t *)value);
		break;
	case FIELD_U64:
		fprintf(f, "%" PRIu64, *(const uint64_t *)value);
		break;
	case FIELD_CPU:
		fprintf(f, "%d", *(const int *)value);
		break;
	case FIELD_BOOL:
		if (json)
			fputs(*(const bool *)value ? "true" : "false", f);
		else
			putc('0' + *(const bool *)value, f);
		break;
	case FIELD_DOUBLE:
		fprintf(f, "%.15g", *(const double *)value);
		break;
	default:
		fprintf(f, "%.*f", x->kind - FIELD_FIXED,
			*(const double *)value);
	}
}

void csv_names(FILE *f, const struct field *fields)
{
	fputs("schema", f);
	for (const struct field *x = fields; x->name; x++)
		fprintf(f, ",%s", x->name);
	putc('\n', f);
}

void csv_row(FILE *f, const struct field *fields)
{
	fputs(SCHEMA, f);
	for (const struct field *x = fields; x->name; x++) {
		putc(',', f);
		put(f, x, false);
	}
	putc('\n', f);
}

void json_fields(FILE *f, const struct field *fields)
{
	for (const struct field *x = fields; x->name; x++) {
		fprintf(f, "%s\"%s\":", x > fields ? "," : "", x->name);
		put(f, x, true);
	}
}

void json_row(FILE *f, const struct field *fields)
{
	fputs("{\"schema\":" SCHEMA ",", f);
	json_fields(f, fields);
	fputs("}\n", f);
}

/* ---- All that a program prints ---- */

static const struct record *record;
static enum format format;

/* JSON's rows, which its context comes before, and that is of all of them. */
static FILE *rows;
static char *text;
static size_t size, whole;	/* whole: without a row that was cut off */

static void no_memory(void)
{
	die(EXIT_FAILED, "no memory to keep samples for JSON; use --format csv");
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
		fwrite(text, 1, whole, stdout);
		puts("]}");
	}
	finish_stdout();
	quota_warn();
}
