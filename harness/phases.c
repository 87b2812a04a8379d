// SPDX-License-Identifier: MIT
#include <inttypes.h>
#include <pthread.h>
#include <stdio.h>

#include "lib/clock.h"
#include "main.h"
#include "phases.h"
#include "lib/program.h"

#define POINTS 4096

static struct point {
	uint64_t time_ns;
	uint64_t finished, in_flight;
	uint64_t guest_waits, host_waits;
} points[POINTS];
static unsigned nr_points, run;
static uint64_t every, next; /* buffers between two points */

/* A run that is ended early is written while its guest goes on. */
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

void phases_start(void)
{
	nr_points = 0;
	next = 0;
	/* two are for the start and the end */
	every = config.run_cycles / (POINTS - 2);
}

void phases_point(uint64_t finished, uint64_t in_flight,
		  const struct side *guest, const struct side *host)
{
	if (!config.phases || nr_points == POINTS ||
	    (finished < next && finished != config.run_cycles))
		return;
	pthread_mutex_lock(&lock);
	points[nr_points++] = (struct point){
		.time_ns = now_ns(),
		.finished = finished,
		.in_flight = in_flight,
		.guest_waits = guest->waits,
		.host_waits = READ_ONCE(host->waits),
	};
	pthread_mutex_unlock(&lock);
	next = finished + every;
}

void phases_write(void)
{
	FILE *f = config.phases;
	bool written;

	if (!f)
		return;
	pthread_mutex_lock(&lock);
	if (!run && nr_points)
		fprintf(f, "sample,elapsed_ns,buffers,under_way,guest_waits,"
			   "host_waits\n");
	for (unsigned i = 0; i < nr_points; i++)
		fprintf(f,
			"%u,%" PRIu64 ",%" PRIu64 ",%" PRIu64 ",%" PRIu64
			",%" PRIu64 "\n",
			run, points[i].time_ns - points[0].time_ns,
			points[i].finished, points[i].in_flight,
			points[i].guest_waits, points[i].host_waits);
	written = nr_points;
	run += !!nr_points;
	nr_points = 0;
	pthread_mutex_unlock(&lock);
	if (written)
		output_flush("phases", f);
}
