/* SPDX-License-Identifier: MIT */
/*
 * Programs that are run one by one and measured from outside. Each has a
 * process group of its own, so that all that it starts can be ended with it.
 *
 * Errors: job.error; what is to end us ends the job, see jobs_stopped().
 */
#ifndef LIB_JOB_H
#define LIB_JOB_H

#include <spawn.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/resource.h>

struct job {
	int error;	      /* -errno: it could not be started; or 0 */
	int status;	      /* as wait() has it */
	bool wanted_terminal; /* which it may not have; it was ended */
	bool paused;	      /* it or we were stopped, as by Ctrl-Z */
	bool left;	      /* it left processes behind, which were ended */
	uint64_t start_ns, end_ns;
	struct rusage used;
};

/*
 * From here on what would end us (Ctrl-C, SIGTERM, a hang-up) goes to the whole
 * group of the job that runs. The second one kills it, and so do two seconds.
 * Ctrl-Z stops and continues it together with us.
 */
void jobs_init(void);

/* We have been told to end. */
bool jobs_stopped(void);

/*
 * Runs @argv to its end, or not at all once we are to end.
 * What is left of it then is ended, unless it is in a session of its own.
 */
struct job job_run(char **argv, const posix_spawn_file_actions_t *files);

#endif
