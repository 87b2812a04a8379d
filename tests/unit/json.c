// SPDX-License-Identifier: MIT
/* JSON strings: what is escaped, and what is UTF-8 and what is not. */
#include <stdlib.h>
#include <string.h>

#include "lib/field.h"
#include "tests/check.h"

#define LENGTH(x) (sizeof(x) / sizeof(*(x)))
#define BAD "\\ufffd"

static const struct {
	const char *name;
	struct {
		const char *text, *json;
	} cases[8];
} tests[] = {
	{ "quotes, backslashes and control characters are escaped",
	  { { "", "" },
	    { "a \"b\" \\", "a \\\"b\\\" \\\\" },
	    { "\x01\t\n\x1f\x7f", "\\u0001\\u0009\\u000a\\u001f\\u007f" } } },
	{ "UTF-8 stays as it is, from the least to the greatest of each length",
	  { { " ~", " ~" },
	    { "\xc2\x80\xdf\xbf", "\xc2\x80\xdf\xbf" },
	    { "\xe0\xa0\x80\xef\xbf\xbf", "\xe0\xa0\x80\xef\xbf\xbf" },
	    { "\xed\x9f\xbf\xee\x80\x80", "\xed\x9f\xbf\xee\x80\x80" },
	    { "\xf0\x90\x80\x80\xf4\x8f\xbf\xbf",
	      "\xf0\x90\x80\x80\xf4\x8f\xbf\xbf" } } },
	{ "bytes by themselves are no UTF-8, and what follows is kept",
	  { { "a\xff"
	      "b",
	      "a" BAD "b" },
	    { "\xe9t\xe9", BAD "t" BAD },
	    { "\x80\xbf", BAD BAD },
	    { "\xfe\xf5x", BAD BAD "x" } } },
	{ "characters that are cut off",
	  { { "\xc3", BAD },
	    { "\xe2\x82", BAD BAD },
	    { "\xf0\x9f\x98", BAD BAD BAD },
	    { "\xe2\x82\"", BAD BAD "\\\"" },
	    { "\xe2\xc3\xa9", BAD "\xc3\xa9" } } },
	{ "overlong forms",
	  { { "\xc0\xaf", BAD BAD },
	    { "\xc1\xbf", BAD BAD },
	    { "\xe0\x9f\xbf", BAD BAD BAD },
	    { "\xf0\x8f\xbf\xbf", BAD BAD BAD BAD } } },
	{ "surrogates, and what is above U+10FFFF",
	  { { "\xed\xa0\x80", BAD BAD BAD },
	    { "\xed\xbf\xbf", BAD BAD BAD },
	    { "\xf4\x90\x80\x80", BAD BAD BAD BAD },
	    { "\xf5\x80\x80\x80", BAD BAD BAD BAD } } },
};

/* The string as it comes out, to be freed. */
static char *json(const char *text)
{
	size_t size;
	char *out = NULL;
	FILE *f = open_memstream(&out, &size);

	if (!f)
		exit(1);
	json_string(f, text);
	fclose(f);
	return out;
}

static void comes_out(const char *text, const char *expected)
{
	char *out = json(text);
	size_t len = strlen(expected);

	check(strlen(out) == len + 2 && out[0] == '"' &&
		      !memcmp(out + 1, expected, len) && out[len + 1] == '"',
	      "%s, not \"%s\"", out, expected);
	free(out);
}

int main(void)
{
	char *none = json(NULL);

	for (size_t i = 0; i < LENGTH(tests); i++) {
		for (size_t k = 0; tests[i].cases[k].text; k++)
			comes_out(tests[i].cases[k].text,
				  tests[i].cases[k].json);
		report("JSON: %s", tests[i].name);
	}
	check(!strcmp(none, "null"), "%s", none);
	report("JSON: no text is null");
	free(none);
	return finish();
}
