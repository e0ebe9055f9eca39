/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "cli/auto.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/clock.h"

void auto_start(struct auto_rounds *rounds, const char *what,
		const struct options *options, const struct gate_options *gates)
{
	*rounds = (struct auto_rounds){
		.on = options->rounds_auto,
		.what = what,
		.wanted = { .width = options->precision / 100,
			    .slowdown = gates->max_regression / 100 },
		.budget_ns = options->budget * 1000000000,
		.widest = NAN,
	};
	rounds->start_ns = rounds->round_start_ns = clock_now_ns();
}

void auto_count_rounds(struct result *result)
{
	unsigned rounds = 0;

	/* Samples are in the order in which they were measured. */
	if (result->nr_samples)
		rounds = result->samples[result->nr_samples - 1].round + 1;
	result->parameters.rounds = rounds;
}

bool auto_goes_on(struct auto_rounds *rounds, struct result *result, unsigned done,
		  char **text)
{
	uint64_t now_ns = clock_now_ns(), last_ns = now_ns - rounds->round_start_ns;
	struct precision precision;
	char *missing;
	bool goes_on;

	*text = NULL;
	rounds->round_start_ns = now_ns;
	/* Without memory a run that has to end some time goes on until then. */
	if (precision_find(&precision, result, &rounds->wanted))
		return done < PRECISION_MAX_ROUNDS;
	rounds->widest = precision.widest;
	goes_on = !precision_is_reached(&precision);
	if (goes_on && (done == PRECISION_MAX_ROUNDS ||
			now_ns - rounds->start_ns + last_ns > rounds->budget_ns)) {
		goes_on = false;
		missing = precision_text(&precision, result, &rounds->wanted);
		if (missing &&
		    asprintf(text, "--%ss auto ended after %u %s%s, %s: %s", rounds->what,
			     done, rounds->what, done == 1 ? "" : "s",
			     done == PRECISION_MAX_ROUNDS ?
				     "more are not possible" :
				     "another one would not fit into --budget",
			     missing) < 0)
			*text = NULL;
		free(missing);
	}
	precision_destroy(&precision);
	return goes_on;
}
