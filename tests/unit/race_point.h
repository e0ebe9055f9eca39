/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The race points of src/base/race_point.h: include it from one file per test. */
#ifndef TESTS_RACE_POINT_H
#define TESTS_RACE_POINT_H

#ifdef PAGEZONE_RACE_POINTS
#include <sched.h>
#include <stdint.h>
#include <time.h>

#include "base/race_point.h"

#define RACE_POINTS " (race points)"

void race_point(void)
{
	static __thread uint64_t state;

	if (!state)
		state = (uintptr_t)&state ^ 0x9e3779b97f4a7c15u;
	state ^= state << 13;
	state ^= state >> 7;
	state ^= state << 17;
	if (state % 2048 == 0)
		nanosleep(&(struct timespec){ .tv_nsec = (long)(state >> 32) % 100000 },
			  NULL);
	else if (state % 32 == 0)
		sched_yield();
}
#else
#define RACE_POINTS ""
#endif

#endif
