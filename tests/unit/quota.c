// SPDX-License-Identifier: MIT
/*
 * Where the CPU quota's periods are counted: /proc and /sys/fs/cgroup as machines
 * and containers have them, built in a directory of their own.
 */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "lib/context.h"
#include "lib/quota.h"
#include "tests/check.h"

static char root[] = "/tmp/ringtest.XXXXXX";

/* Writes @text to a file below a root of the case's own, and the way there. */
static void put(const char *path, const char *text)
{
	char full[512];
	FILE *f;

	snprintf(full, sizeof(full), "%s%s", machine_root, path);
	for (char *slash = strchr(full + 1, '/'); slash;
	     slash = strchr(slash + 1, '/')) {
		*slash = 0;
		mkdir(full, 0700);
		*slash = '/';
	}
	f = fopen(full, "w");
	if (f)
		fputs(text, f);
	check(f && !fclose(f), "cannot write %s", full);
}

static void stat_of(const char *dir, unsigned periods, unsigned throttled)
{
	char path[256], text[128];

	snprintf(path, sizeof(path), "%s/cpu.stat", dir);
	snprintf(text, sizeof(text),
		 "usage_usec 7\nnr_periods %u\n"
		 "nr_throttled %u\nthrottled_usec 9\n",
		 periods, throttled);
	put(path, text);
}

#define V1 "/sys/fs/cgroup/cpu,cpuacct"
#define V2 "/sys/fs/cgroup"

static const char systemd[] =
	"22 1 0:20 / /proc rw,nosuid shared:5 - proc proc rw\n"
	"30 24 0:26 / /sys/fs/cgroup/systemd rw shared:9 - cgroup cgroup rw,name=systemd\n"
	"31 24 0:27 / /sys/fs/cgroup/cpuset rw - cgroup cgroup rw,cpuset\n";

/* One machine: what its files say, and two directories whose periods are counted. */
static const struct machine {
	const char *name, *cgroup, *mounts;
	const char *dirs[2];
	bool known;
} machines[] = {
	{ "version 1, the group",
	  "4:cpuset:/\n3:cpu,cpuacct:/a/b\n1:name=systemd:/c\n0::/c\n",
	  "33 24 0:29 / " V1 " rw shared:1 - cgroup cgroup rw,cpu,cpuacct\n",
	  { V1 "/a/b", V1 },
	  true },
	{ "version 1, a group above",
	  "3:cpu,cpuacct:/a/b/c/d\n",
	  "33 24 0:29 / " V1 " rw - cgroup cgroup rw,cpu,cpuacct\n",
	  { V1 "/a/b", V1 "/a/b/c/d" },
	  true },
	{ "version 2, the group",
	  "0::/user.slice/run-1.scope\n",
	  "33 24 0:29 / " V2
	  " rw shared:1 master:2 - cgroup2 cgroup2 rw,nsdelegate\n",
	  { V2 "/user.slice/run-1.scope", V2 "/user.slice" },
	  true },
	{ "version 2, a group above",
	  "0::/user.slice/run-1.scope\n",
	  "33 24 0:29 / " V2 " rw - cgroup2 cgroup2 rw\n",
	  { V2 "/user.slice", V2 "/user.slice/run-1.scope" },
	  true },
	{ "both versions mounted, the controller in 1",
	  "3:cpu,cpuacct:/a\n0::/b\n",
	  "32 24 0:28 / /sys/fs/cgroup/unified rw - cgroup2 cgroup2 rw\n"
	  "33 24 0:29 / " V1 " rw - cgroup cgroup rw,cpu,cpuacct\n",
	  { V1 "/a", "/sys/fs/cgroup/unified/b" },
	  true },
	{ "both versions mounted, the controller in 2",
	  "4:cpuset:/x\n1:name=systemd:/b\n0::/b\n",
	  "32 24 0:28 / /sys/fs/cgroup/unified rw - cgroup2 none rw\n",
	  { "/sys/fs/cgroup/unified/b", "/sys/fs/cgroup/unified" },
	  true },
	{ "a container with a namespace of its own",
	  "0::/\n",
	  "33 24 0:29 / " V2 " ro - cgroup2 cgroup rw\n",
	  { V2, V2 },
	  true },
	{ "a container with its part of the tree mounted",
	  "3:cpu,cpuacct:/docker/0123\n",
	  "33 24 0:29 /docker/0123 " V1
	  " ro master:17 - cgroup cgroup rw,cpu,cpuacct\n",
	  { V1, V1 },
	  true },
	{ "a group within a container's part of the tree",
	  "3:cpu,cpuacct:/docker/0123/inner\n",
	  "33 24 0:29 /docker/0123 " V1 " ro - cgroup cgroup rw,cpu,cpuacct\n",
	  { V1, V1 "/inner" },
	  true },
	{ "a container whose mount tells another place",
	  "0::/\n",
	  "33 24 0:29 /../.. " V2 " ro - cgroup2 cgroup rw\n",
	  { V2, V2 },
	  true },
	{ "a name that only begins alike is another group",
	  "3:cpu:/docker/01234\n",
	  "33 24 0:29 /docker/0123 /one rw - cgroup cgroup rw,cpu\n"
	  "34 24 0:29 / /two rw - cgroup cgroup rw,cpu\n",
	  { "/two/docker/01234", "/one" },
	  true },
	{ "a mount point with a blank",
	  "0::/g\n",
	  "33 24 0:29 / /mnt/a\\040b rw - cgroup2 cgroup2 rw\n",
	  { "/mnt/a b/g", "/mnt/a b" },
	  true },
	{ "no controller: not known",
	  "0::/g\n",
	  "33 24 0:29 / " V2 " rw - cgroup2 cgroup2 rw\n",
	  { "/elsewhere", "/elsewhere" },
	  false },
	{ "no mount: not known", "3:cpu:/\n", "", { V1, V1 }, false },
	{ "lines that are none: not known",
	  "cpu\n3:cpu\n\n",
	  "33\n33 24 0:29 / " V2 "\n33 24 0:29 / /x rw - cgroup2\n - \n",
	  { V2, V2 },
	  false },
};

static void try(const struct machine *m, unsigned nr)
{
	char dir[64], mounts[2048];
	struct quota used = { 0, 0 };
	bool known;

	snprintf(dir, sizeof(dir), "%s/%u", root, nr);
	machine_root = dir;
	snprintf(mounts, sizeof(mounts), "%s%s", systemd, m->mounts);
	put("/proc/self/cgroup", m->cgroup);
	put("/proc/self/mountinfo", mounts);
	stat_of(m->dirs[1], 500, 400);
	stat_of(m->dirs[0], 100, 40);
	quota_start();
	/* the first is stopped more from here on, though less in all */
	if (strcmp(m->dirs[0], m->dirs[1]))
		stat_of(m->dirs[1], 530, 403);
	stat_of(m->dirs[0], 130, 52);
	known = quota_used(&used);
	check(known == m->known &&
		      (!known || (used.periods == 30 && used.throttled == 12)),
	      "%sknown: %" PRIu64 " of %" PRIu64, known ? "" : "not ",
	      used.throttled, used.periods);
	report("CPU quota: %s", m->name);
}

/* What of the machine's @kib is left, with these limits and uses of two groups. */
static void left(const char *name, const char *cgroup, const char *mount,
		 const char *const files[8], const char *kib, uint64_t wanted)
{
	static unsigned nr;
	char dir[64], text[128];

	snprintf(dir, sizeof(dir), "%s/memory%u", root, nr++);
	machine_root = dir;
	put("/proc/self/cgroup", cgroup);
	put("/proc/self/mountinfo", mount);
	snprintf(text, sizeof(text),
		 "MemTotal: 99999 kB\nMemFree: 1 kB\nMemAvailable: %s kB\n",
		 kib);
	put("/proc/meminfo", text);
	for (int i = 0; i < 8 && files[i]; i += 2)
		put(files[i], files[i + 1]);
	check(memory_left() == wanted, "%" PRIu64 ", not %" PRIu64,
	      memory_left(), wanted);
	report("memory left: %s", name);
}

static void memory(void)
{
	static const char
		v2[] = "33 24 0:29 / " V2 " rw - cgroup2 cgroup2 rw\n",
		v1[] = "33 24 0:29 / /mem rw - cgroup cgroup rw,memory\n";

	left("the machine's", "0::/g\n", v2,
	     (const char *[8]){ V2 "/g/memory.max", "max\n",
				V2 "/g/memory.current", "5\n" },
	     "1000", 1024000);
	left("the group's", "0::/g\n", v2,
	     (const char *[8]){ V2 "/g/memory.max", "9000\n",
				V2 "/g/memory.current", "2000\n" },
	     "1000", 7000);
	left("of a group above", "0::/a/g\n", v2,
	     (const char *[8]){ V2 "/a/g/memory.max", "9000\n",
				V2 "/a/g/memory.current", "2000\n",
				V2 "/a/memory.max", "9000\n",
				V2 "/a/memory.current", "8000\n" },
	     "1000", 1000);
	left("nothing, where more is used than may be", "0::/g\n", v2,
	     (const char *[8]){ V2 "/g/memory.max", "9000\n",
				V2 "/g/memory.current", "9001\n" },
	     "1000", 0);
	left("version 1", "3:cpu:/c\n2:memory:/g\n0::/u\n", v1,
	     (const char *[8]){ "/mem/g/memory.limit_in_bytes", "9000\n",
				"/mem/g/memory.usage_in_bytes", "3000\n",
				"/mem/memory.limit_in_bytes",
				"9223372036854771712\n" },
	     "1000", 6000);
	machine_root = "/nowhere";
	check(memory_left() == UINT64_MAX, "known");
	report("memory left: no /proc: not known");
}

int main(void)
{
	char command[64];

	if (!mkdtemp(root)) {
		perror(root);
		return 1;
	}
	for (unsigned i = 0; i < sizeof(machines) / sizeof(*machines); i++)
		try(&machines[i], i);
	memory();
	quota_start();
	check(!quota_used(&(struct quota){ 0, 0 }), "known");
	report("CPU quota: no /proc: not known");
	snprintf(command, sizeof(command), "rm -rf %s", root);
	check(!system(command), "%s", command);
	return finish();
}
