/* SPDX-License-Identifier: MIT */
#ifndef LIB_JSON_H
#define LIB_JSON_H

#include <stdio.h>

/*
 * A JSON string, quotes and all; NULL is null. A byte that is not UTF-8 comes
 * out as U+FFFD, as such a file would be refused whole.
 */
void json_string(FILE *f, const char *text);

#endif
