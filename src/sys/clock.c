/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "sys/clock.h"

#include <stdlib.h>

#include "base/clock.h"

#define NR_STEPS 301

static int compare_steps(const void *a, const void *b)
{
	uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;

	return x < y ? -1 : x > y;
}

uint64_t clock_step_ns(void)
{
	uint64_t steps[NR_STEPS];

	for (unsigned i = 0; i < NR_STEPS; i++) {
		uint64_t start = clock_now_ns(), now;

		do
			now = clock_now_ns();
		while (now == start);
		steps[i] = now - start;
	}
	qsort(steps, NR_STEPS, sizeof(steps[0]), compare_steps);
	return steps[NR_STEPS / 2];
}
