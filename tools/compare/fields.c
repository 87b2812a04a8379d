// SPDX-License-Identifier: MIT
#include <math.h>

#include "fields.h"
#include "lib/json.h"

void put_csv(FILE *f, const struct field *fields, bool names)
{
	for (const struct field *x = fields; x->name; x++) {
		if (x > fields)
			putc(',', f);
		if (names) {
			fputs(x->name, f);
		} else if (x->text) {
			putc('"', f);
			for (const char *c = x->text; *c; c++)
				fprintf(f, *c == '"' ? "\"\"" : "%c", *c);
			putc('"', f);
		} else if (isfinite(x->number)) {
			fprintf(f, "%.15g", x->number);
		}
	}
	putc('\n', f);
}

void put_json(FILE *f, const struct field *fields)
{
	for (const struct field *x = fields; x->name; x++) {
		fprintf(f, "%s\"%s\":", x > fields ? "," : "{", x->name);
		if (x->text)
			json_string(f, x->text);
		else if (isfinite(x->number))
			fprintf(f, "%.15g", x->number);
		else
			fputs("null", f);
	}
	putc('}', f);
}
