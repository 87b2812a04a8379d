// SPDX-License-Identifier: MIT
#include <inttypes.h>
#include <math.h>
#include <stdbool.h>
#include <string.h>

#include "field.h"

/* How long the character at @s is in UTF-8 (RFC 3629); 0: it is none. */
static size_t utf8(const unsigned char *s)
{
	/* the second byte keeps out overlong forms, surrogates, the too high */
	unsigned char low = *s == 0xe0 ? 0xa0 : *s == 0xf0 ? 0x90 : 0x80;
	unsigned char high = *s == 0xed ? 0x9f : *s == 0xf4 ? 0x8f : 0xbf;
	size_t len = *s < 0x80 ? 1 :
		     *s < 0xc2 ? 0 :
		     *s < 0xe0 ? 2 :
		     *s < 0xf0 ? 3 :
		     *s < 0xf5 ? 4 :
				 0;

	for (size_t i = 1; i < len; i++) {
		if (s[i] < low || s[i] > high)
			return 0;
		low = 0x80;
		high = 0xbf;
	}
	return len;
}

void json_string(FILE *f, const char *text)
{
	const unsigned char *s = (const unsigned char *)text;

	if (!s) {
		fputs("null", f);
		return;
	}
	putc('"', f);
	while (*s) {
		size_t len = utf8(s);

		if (!len) {
			fputs("\\ufffd", f);
			len = 1;
		} else if (*s == '"' || *s == '\\') {
			fprintf(f, "\\%c", *s);
		} else if (*s < ' ' || *s == 0x7f) {
			fprintf(f, "\\u%04x", *s);
		} else {
			fwrite(s, 1, len, f);
		}
		s += len;
	}
	putc('"', f);
}

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
