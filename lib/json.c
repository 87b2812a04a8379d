// SPDX-License-Identifier: MIT
#include <stddef.h>

#include "json.h"

/* How long the character at @s is in UTF-8 (RFC 3629); 0: it is none. */
static size_t utf8(const unsigned char *s)
{
	/* the second byte keeps out overlong forms, surrogates, the too high */
	unsigned char low = *s == 0xe0 ? 0xa0 : *s == 0xf0 ? 0x90 : 0x80;
	unsigned char high = *s == 0xed ? 0x9f : *s == 0xf4 ? 0x8f : 0xbf;
	size_t len = *s < 0x80 ? 1 : *s < 0xc2 ? 0 : *s < 0xe0 ? 2 :
		     *s < 0xf0 ? 3 : *s < 0xf5 ? 4 : 0;

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
