/* SPDX-License-Identifier: GPL-2.0-or-later */
/* --rounds auto: round after round, until intervals are narrow or the time is over. */
#ifndef CLI_AUTO_H
#define CLI_AUTO_H

#include <stdbool.h>
#include <stdint.h>

#include "cli/gates.h"
#include "cli/options.h"
#include "report/precision.h"

struct auto_rounds {
	bool on;	  /* without it all that follows is unused */
	const char *what; /* "round" or, of truncations, "run" */
	struct precision_wanted wanted;
	uint64_t budget_ns, start_ns, round_start_ns;
	double widest; /* after the last round; NAN: before the first */
};

/* As @options, which are complete, and @gates say. @what: see above. */
void auto_start(struct auto_rounds *rounds, const char *what,
		const struct options *options, const struct gate_options *gates);
/*
 * After @done rounds, with @result derived: whether there is to be another one. No round
 * is begun that would end after the budget if it took as long as the last one. *@text:
 * why the run ends before all is as wanted, to be freed; NULL: it does not, or there is
 * no memory for it.
 */
bool auto_goes_on(struct auto_rounds *rounds, struct result *result, unsigned done,
		  char **text);
/* parameters.rounds: those that have a sample. */
void auto_count_rounds(struct result *result);

#endif
