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
 * @controller, as where both are mounted only one can. NULL: nowhere.
 */
static char *own_group(const char *controller, bool *v1)
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
		*v1 = has_word(controllers, controller);
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
static bool read_mount(char *line, const char *group, const char *controller,
		       bool v1, char dir[MAX_PATH], size_t *top, bool *exact)
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
	if (v1 ? strcmp(type, "cgroup") || !has_word(options, controller) :
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

static bool find_group(const char *controller, bool *v1, char dir[MAX_PATH],
		       size_t *top)
{
	bool found = false, exact = false;
	char *group = own_group(controller, v1), *line = NULL;
	FILE *f = group ? open_machine("/proc/self/mountinfo") : NULL;
	size_t size = 0;

	/* The first mount will do, unless a later one tells more. */
	while (f && !exact && getline(&line, &size, f) > 0) {
		char place[MAX_PATH];
		size_t len;

		if (!read_mount(line, group, controller, *v1, place, &len,
				&exact) ||
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

/* Calls @look with the directory of our cgroup, and of each above it. */
static void each_group(const char *controller,
		       bool (*look)(const char *dir, bool v1, void *arg),
		       void *arg)
{
	char dir[MAX_PATH];
	size_t top = 0;
	bool v1;

	if (!find_group(controller, &v1, dir, &top))
		return;
	for (;;) {
		size_t len = strlen(dir);

		while (len > top && dir[len - 1] == '/')
			dir[--len] = 0;
		if (!look(dir, v1, arg) || len <= top)
			return;
		*strrchr(dir, '/') = 0;
	}
}

static bool start_level(const char *dir, bool v1, void *arg)
{
	struct level *level = &levels[nr_levels];
	char path[MAX_PATH + 16];

	(void)v1;
	(void)arg;
	snprintf(path, sizeof(path), "%s/cpu.stat", dir);
	if (read_stat(path, &level->at_start)) {
		level->path = strdup(path);
		nr_levels += !!level->path;
	}
	return nr_levels < MAX_LEVELS;
}

void quota_start(void)
{
	while (nr_levels)
		free(levels[--nr_levels].path);
	each_group("cpu", start_level, NULL);
}

/* The number in a file; UINT64_MAX: there is none, as in "max". */
static uint64_t number_in(const char *dir, const char *name)
{
	char path[MAX_PATH + 64];
	uint64_t n = UINT64_MAX;
	FILE *f;

	snprintf(path, sizeof(path), "%s/%s", dir, name);
	f = open_machine(path);
	if (f && fscanf(f, "%" SCNu64, &n) != 1)
		n = UINT64_MAX;
	if (f)
		fclose(f);
	return n;
}

static bool less_memory(const char *dir, bool v1, void *arg)
{
	uint64_t *left = arg;
	uint64_t limit =
		number_in(dir, v1 ? "memory.limit_in_bytes" : "memory.max");
	uint64_t used =
		number_in(dir, v1 ? "memory.usage_in_bytes" : "memory.current");

	if (limit != UINT64_MAX && used != UINT64_MAX) {
		limit = limit > used ? limit - used : 0;
		if (limit < *left)
			*left = limit;
	}
	return true;
}

uint64_t memory_left(void)
{
	FILE *f = open_machine("/proc/meminfo");
	uint64_t left = UINT64_MAX, kib;
	char line[128];

	while (f && fgets(line, sizeof(line), f))
		if (sscanf(line, "MemAvailable: %" SCNu64, &kib) == 1)
			left = kib * 1024;
	if (f)
		fclose(f);
	each_group("memory", less_memory, &left);
	return left;
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
