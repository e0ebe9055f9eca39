/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "cli/gates.h"

#include <math.h>
#include <stdlib.h>

#include "cli/cli.h"

void gate_options_init(struct gate_options *options)
{
	*options = (struct gate_options){ .max_regression = NAN };
}

void gate_options_destroy(struct gate_options *options)
{
	free(options->list);
}

void gate_options_min_speedup(struct gate_options *options, const char *arg)
{
	struct gate *list;
	struct reason why;

	list = reallocarray(options->list, (size_t)options->nr + 1, sizeof(*list));
	if (!list)
		fail(EXIT_CANNOT, "out of memory");
	options->list = list;
	if (gate_parse(&list[options->nr], arg, &why))
		fail(EXIT_USAGE, "--min-speedup: %s", why.text);
	options->nr++;
}

void gate_options_max_regression(struct gate_options *options, const char *arg)
{
	struct reason why;

	if (gates_parse_regression(&options->max_regression, arg, &why))
		fail(EXIT_USAGE, "--max-regression: %s", why.text);
}

bool gate_options_any(const struct gate_options *options)
{
	return options->nr || !isnan(options->max_regression);
}

void gate_options_check(const struct gate_options *options, const struct result *result)
{
	struct reason why;

	for (unsigned i = 0; i < options->nr; i++)
		if (gate_applies(&options->list[i], result, &why))
			fail(EXIT_USAGE, "--min-speedup: %s", why.text);
}

struct gates gate_options_gates(const struct gate_options *options)
{
	return (struct gates){ .min_speedup = options->list,
			       .nr_min_speedup = options->nr,
			       .max_regression = options->max_regression };
}

int outcomes_status(const struct outcomes *outcomes)
{
	if (outcomes_count(outcomes, OUTCOME_FAILED))
		return EXIT_GATE;
	if (outcomes_count(outcomes, OUTCOME_MISSING))
		return EXIT_CANNOT;
	return outcomes_count(outcomes, OUTCOME_NOISY) ? EXIT_NOISY : EXIT_DONE;
}

int gate_options_hold(const struct gate_options *options, struct result *result)
{
	struct gates gates = gate_options_gates(options);
	struct comparison comparison;
	struct outcomes outcomes;
	int status = EXIT_CANNOT;

	if (!gate_options_any(options))
		return EXIT_DONE;
	if (comparison_init(&comparison, result, true)) {
		say("out of memory");
		return EXIT_CANNOT;
	}
	if (!outcomes_fill(&outcomes, &comparison, &gates)) {
		outcomes_print(&outcomes, &comparison, stderr);
		status = outcomes_status(&outcomes);
		outcomes_destroy(&outcomes);
	} else {
		say("out of memory");
	}
	comparison_destroy(&comparison);
	return status;
}
