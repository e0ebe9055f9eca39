/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "stats/random.h"

#include <stdlib.h>

#include "stats/stats.h"

void random_init(struct random *random, uint64_t seed)
{
	const gsl_rng_type *type = gsl_rng_taus2;

	/* A GSL whose taus2 outgrew the buffer or its 32 bits is not the one we know. */
	if (type->size > sizeof(random->state) || type->min != 0 ||
	    type->max != UINT32_MAX)
		abort();
	random->get = type->get;
	/* taus2 looks at 32 bits of the seed only, and takes 0 for 1. */
	seed = seed_mix(seed, 0);
	type->set(random->state, (unsigned long)(uint32_t)(seed ^ seed >> 32));
}

void permutation_fill(uint32_t *permutation, size_t nr, uint64_t seed)
{
	struct random random;

	random_init(&random, seed);
	/* Fisher-Yates "inside out" (Knuth, TAOCP 2, 3.4.2): fills and shuffles. */
	for (size_t i = 0; i < nr; i++) {
		uint32_t j = random_below(&random, (uint64_t)i + 1);

		permutation[i] = (uint32_t)i;
		permutation[i] = permutation[j];
		permutation[j] = (uint32_t)i;
	}
}

uint64_t seed_mix(uint64_t seed, uint64_t number)
{
	uint64_t z = seed + (number + 1) * 0x9e3779b97f4a7c15ULL;

	z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9ULL;
	z = (z ^ z >> 27) * 0x94d049bb133111ebULL;
	return z ^ z >> 31;
}
