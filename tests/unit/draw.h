/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Random numbers of known distributions, for tests of statistics. */
#ifndef TESTS_UNIT_DRAW_H
#define TESTS_UNIT_DRAW_H

#include <math.h>

#include "stats/random.h"

/* In (0, 1). */
static inline double uniform(struct random *random)
{
	return ((double)random_below(random, 1ULL << 32) + 0.5) / 4294967296.0;
}

/* Box and Muller 1958. */
static inline double normal(struct random *random)
{
	return sqrt(-2 * log(uniform(random))) * cos(2 * M_PI * uniform(random));
}

#endif
