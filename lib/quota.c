// SPDX-License-Identifier: MIT
#define _GNU_SOURCE
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "context.h"
#include "program.h"
#include "quota.h"

#define MAX_PATH 4096
#define MAX_LEVELS 32 /* who nests deeper is counted from the bottom */

/* Our cgroup, and those above it as far as they are mounted here. */
static struct level {
	char *path; /* of its cpu.stat */
	struct quota at_start;
} levels[MAX_LEVELS];
static unsigned nr_levels;

/* Is @word one of those in @list, which has commas between them? */
static bool has_word(const char *list, const char *word)
{
	size_t len = strlen(word);

	while (list) {
		if (!strncmp(list, word, len) &&
		    (list[len] == ',' || !list[len]))
			return true;
		list = strchr(list, ',');
		if (list)
			list++;
	}
	return false;
}

/*
 * Where our cgroup is, as /proc/self/cgroup says it. Version 1 if that has the
 * cpu controller, as where both are mounted only one can. NULL: nowhere.
 */
static char *own_group(bool *v1)
{
	FILE *f = open_machine("/proc/self/cgroup");
	char *line = NULL, *group = NULL;
	size_t size = 0;

	*v1 = false;
	while (f && !*v1 && getline(&line, &size, f) > 0) {
		char *rest = line, *controllers;

		line[strcspn(line, "\n")] = 0;
		strsep(&rest, ":");
		controllers = strsep(&rest, ":");
		if (!rest)
			continue;
		*v1 = has_word(controllers, "cpu");
		if (*v1 || !*controllers) {
			free(group);
			group = strdup(rest);
		}
	}
	free(line);
	if (f)
		fclose(f);
	return group;
}

/* Blanks and the like are written \040 in mountinfo. In place. */
static void unescape(char *text)
{
	char *to = text;
	unsigned code;
	int digits;

	for (; *text; text++)
		if (*text == '\\' &&
		    sscanf(text + 1, "%3o%n", &code, &digits) == 1) {
			*to++ = code;
			text += digits;
		} else {
			*to++ = *text;
		}
	*to = 0;
}

/* What is left of @group below @root; NULL: it is not below. */
static const char *below(const char *group, const char *root)
{
	size_t len = strcmp(root, "/") ? strlen(root) : 0;

	if (strncmp(group, root, len) || (group[len] && group[len] != '/'))
		return NULL;
	return group + len;
}

/*
 * Looks in one line of mountinfo for the controller's mount. @dir becomes where
 * @group is, and its first *@top characters the mount point: from there up
 * nothing is to be seen. A mount of a part of the tree, as in a container, may
 * not tell how @group lies in it: then it is taken to be ours.
 */
static bool read_mount(char *line, const char *group, bool v1,
		       char dir[MAX_PATH], size_t *top, bool *exact)
{
	char *at = line, *root, *point, *type, *options;
	const char *rest;

	for (int i = 0; i < 3; i++) /* two numbers, and the device */
		strsep(&at, " ");
	root = strsep(&at, " ");
	point = strsep(&at, " ");
	at = at ? strstr(at, " - ") : NULL;
	if (!at)
		return false;
	at += 3;
	type = strsep(&at, " ");
	strsep(&at, " "); /* the source */
	options = strsep(&at, " \n");
	if (!options)
		return false;
	if (v1 ? strcmp(type, "cgroup") || !has_word(options, "cpu") :
		 strcmp(type, "cgroup2"))
		return false;
	unescape(root);
	unescape(point);
	rest = below(group, root);
	*exact = rest;
	snprintf(dir, MAX_PATH, "%s%s", point, rest ? rest : "");
	*top = strlen(point);
	return true;
}

static bool find_group(char dir[MAX_PATH], size_t *top)
{
	bool v1, found = false, exact = false;
	char *group = own_group(&v1), *line = NULL;
	FILE *f = group ? open_machine("/proc/self/mountinfo") : NULL;
	size_t size = 0;

	/* The first mount will do, unless a later one tells more. */
	while (f && !exact && getline(&line, &size, f) > 0) {
		char place[MAX_PATH];
		size_t len;

		if (!read_mount(line, group, v1, place, &len, &exact) ||
		    (found && !exact))
			continue;
		found = true;
		strcpy(dir, place);
		*top = len;
	}
	free(line);
	free(group);
	if (f)
		fclose(f);
	return found;
}

/* False: there is no such file, or it does not count periods. */
static bool read_stat(const char *path, struct quota *quota)
{
	FILE *f = open_machine(path);
	char line[128];
	int found = 0;

	while (f && fgets(line, sizeof(line), f))
		found += sscanf(line, "nr_periods %" SCNu64, &quota->periods) ==
				 1 ||
			 sscanf(line, "nr_throttled %" SCNu64,
				&quota->throttled) == 1;
	if (f)
		fclose(f);
	return found == 2;
}

void quota_start(void)
{
	char dir[MAX_PATH], path[MAX_PATH + 16];
	size_t top = 0;

	while (nr_levels)
		free(levels[--nr_levels].path);
	if (!find_group(dir, &top))
		return;
	for (;;) {
		struct level *level = &levels[nr_levels];
		size_t len = strlen(dir);

		while (len > top && dir[len - 1] == '/')
			dir[--len] = 0;
		snprintf(path, sizeof(path), "%s/cpu.stat", dir);
		if (read_stat(path, &level->at_start)) {
			level->path = strdup(path);
			nr_levels += !!level->path;
		}
		if (len <= top || nr_levels == MAX_LEVELS)
			return;
		*strrchr(dir, '/') = 0;
	}
}

bool quota_used(struct quota *quota)
{
	bool known = false;

	for (unsigned i = 0; i < nr_levels; i++) {
		const struct quota *was = &levels[i].at_start;
		struct quota is;

		if (!read_stat(levels[i].path, &is))
			continue;
		is.periods -= was->periods;
		is.throttled -= was->throttled;
		if (!known || is.throttled > quota->throttled)
			*quota = is;
		known = true;
	}
	return known;
}

void quota_warn(void)
{
	struct quota used;

	if (quota_used(&used) && used.throttled)
		warn("CPU quota used up during the runs: it stopped this "
		     "container (cgroup) in %" PRIu64 " of %" PRIu64
		     " periods; raise it (docker --cpus, cpu.max), or use "
		     "fewer CPUs",
		     used.throttled, used.periods);
}
