/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * GSL's taus2 (L'Ecuyer's maximally equidistributed combined Tausworthe generator, 1996,
 * with the better seeding of 1999; 32 bits a step, period 2^88) in memory of the caller's
 * own. GSL calls its error handler, which aborts, only when gsl_rng_alloc finds no memory
 * or gsl_rng_uniform_int gets a bad range; neither is used, so the handler, which is
 * global to the process, needs no touching.
 */
#ifndef STATS_RANDOM_H
#define STATS_RANDOM_H

#include <stdint.h>

#include <gsl/gsl_rng.h>

struct random {
	unsigned long (*get)(void *state);
	unsigned long state[8]; /* taus2 takes three; random_init checks */
};

void random_init(struct random *random, uint64_t seed);

/*
 * A uniform number in [0, @nr), 1 <= @nr <= 2^32, without bias and nearly always without
 * a division: Lemire, "Fast random integer generation in an interval", ACM TOMACS 29
 * (2019).
 */
static inline uint32_t random_below(struct random *random, uint64_t nr)
{
	uint64_t product = (uint64_t)random->get(random->state) * nr;

	if ((uint32_t)product < nr) {
		uint64_t threshold = ((1ULL << 32) - nr) % nr;

		while ((uint32_t)product < threshold)
			product = (uint64_t)random->get(random->state) * nr;
	}
	return (uint32_t)(product >> 32);
}

#endif
