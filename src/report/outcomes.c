/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The cells of a comparison held against gates. */
#include <errno.h>
#include <math.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "report/compare.h"
#include "report/precision.h"

int gates_parse_regression(double *percent, const char *text, struct reason *why)
{
	struct gate gate;
	size_t len = strlen(text);
	char number[16];

	if (len && text[len - 1] == '%')
		len--;
	if (!len || len >= sizeof(number))
		goto bad;
	memcpy(number, text, len);
	number[len] = '\0';
	if (strspn(number, "0.") == len && strchr(number, '0') &&
	    strchr(number, '.') == strrchr(number, '.')) {
		*percent = 0;
		return 0;
	}
	/* The same numbers as ratios. */
	if (strchr(number, ':') || gate_parse(&gate, number, NULL) || gate.ratio >= 100)
		goto bad;
	*percent = gate.ratio;
	return 0;
bad:
	return reason_set(why, -EINVAL, "'%s' is not a percentage from 0 to below 100",
			  text);
}

__attribute__((format(printf, 5, 6))) static int
outcome_add(struct outcomes *outcomes, enum outcome_kind kind, const char *gate,
	    const struct comparison_cell *cell, const char *fmt, ...)
{
	struct outcome *outcome;
	va_list ap;
	int len;

	/* Grown by doubling: at powers of two. */
	if (!(outcomes->nr & (outcomes->nr - 1))) {
		size_t room = outcomes->nr ? 2 * (size_t)outcomes->nr : 1;

		outcome = reallocarray(outcomes->list, room, sizeof(*outcome));
		if (!outcome)
			return -ENOMEM;
		outcomes->list = outcome;
	}
	outcome = &outcomes->list[outcomes->nr];
	*outcome = (struct outcome){ .kind = kind,
				     .gate = gate,
				     .side = cell->side,
				     .phase = cell->phase,
				     .threads = cell->threads };
	if (fmt) {
		va_start(ap, fmt);
		len = vasprintf(&outcome->text, fmt, ap);
		va_end(ap);
		if (len < 0)
			return -ENOMEM;
	}
	outcomes->nr++;
	return 0;
}

/*
 * The decimals, @least or more, with which @value does not look like @limit, nor @limit
 * like another one.
 */
static int decimals_apart(double value, double limit, int least)
{
	int decimals = least;
	char a[32], b[32];

	for (; decimals < 9; decimals++) {
		snprintf(a, sizeof(a), "%.*f", decimals, value);
		snprintf(b, sizeof(b), "%.*f", decimals, limit);
		if (strcmp(a, b) && fabs(strtod(b, NULL) - limit) <= 1e-9 * limit)
			break;
	}
	return decimals;
}

static int outcome_noisy(struct outcomes *outcomes, const char *gate,
			 const struct comparison *comparison,
			 const struct comparison_cell *cell, double percent)
{
	bool spread = isfinite(cell->design.sd);
	struct significance_design design = cell->design;
	char rounds[80], detectable[96];
	size_t enough;

	/* One round does not tell how far rounds are apart: that they are not is the least. */
	if (!spread)
		design.sd = 0;
	enough = significance_enough(&design, comparison->alpha_one,
				     spread ? -log1p(-percent / 100) : 0,
				     PRECISION_MAX_ROUNDS);
	if (!enough)
		snprintf(rounds, sizeof(rounds), "not even %d rounds would do",
			 PRECISION_MAX_ROUNDS);
	else if (spread)
		snprintf(rounds, sizeof(rounds), "%zu rounds would do", enough);
	else
		snprintf(rounds, sizeof(rounds),
			 "one round has no spread, it takes at least %zu rounds", enough);
	if (isfinite(cell->detectable))
		snprintf(detectable, sizeof(detectable),
			 "only a slow-down by %.*f %% would be found",
			 decimals_apart(cell->detectable * 100, percent, 1),
			 cell->detectable * 100);
	else if (comparison->nr_known == 1)
		snprintf(detectable, sizeof(detectable), "so few rounds find nothing");
	else
		snprintf(detectable, sizeof(detectable),
			 "so few rounds find nothing in one of %u cells",
			 comparison->nr_known);
	return outcome_add(outcomes, OUTCOME_NOISY, gate, cell, "too noisy: %s; %s",
			   detectable, rounds);
}

static int max_regression(struct outcomes *outcomes, const char *gate,
			  const struct comparison *comparison,
			  struct comparison_cell *cell, double percent)
{
	double least = 1 - percent / 100;
	struct significance s;
	int err;

	if (cell->missing)
		return outcome_add(outcomes, OUTCOME_MISSING, gate, cell, "%s",
				   cell->missing);
	/* With thousands of rounds a p-value comes out as 0, which none is. */
	if (cell->p_slower <= COMPARE_ALPHA && cell->ratio < least)
		return outcome_add(outcomes, OUTCOME_FAILED, gate, cell,
				   "%.*f %% slower (%.3f times, p %s %.2g)",
				   decimals_apart((1 - cell->ratio) * 100, percent, 1),
				   (1 - cell->ratio) * 100, cell->ratio,
				   cell->p_slower < 1e-10 ? "<" : "=",
				   fmax(cell->p_slower, 1e-10));
	if (cell->detectable * 100 <= percent)
		return outcome_add(outcomes, OUTCOME_PASSED, gate, cell, NULL);
	err = comparison_test(cell, log(least), &s);
	if (err)
		return err;
	if (s.higher <= COMPARE_ALPHA)
		return outcome_add(outcomes, OUTCOME_PASSED, gate, cell, NULL);
	return outcome_noisy(outcomes, gate, comparison, cell, percent);
}

static int min_speedup(struct outcomes *outcomes, const char *name,
		       const struct gate *gate, const struct comparison_cell *cell)
{
	int decimals;

	if (cell->missing)
		return outcome_add(outcomes, OUTCOME_MISSING, name, cell, "%s",
				   cell->missing);
	if (cell->ratio >= gate->ratio)
		return outcome_add(outcomes, OUTCOME_PASSED, name, cell, NULL);
	decimals = decimals_apart(cell->ratio, gate->ratio, 3);
	return outcome_add(outcomes, OUTCOME_FAILED, name, cell,
			   "%.*f times is below %.*f", decimals, cell->ratio, decimals,
			   gate->ratio);
}

/* The decimal point is that of the C locale, which the program keeps. */
static int name_gates(struct outcomes *outcomes, const struct gates *gates)
{
	outcomes->gates = calloc(gates->nr_min_speedup + 1, sizeof(*outcomes->gates));
	if (!outcomes->gates)
		return -ENOMEM;
	for (unsigned i = 0; i < gates->nr_min_speedup; i++) {
		const struct gate *gate = &gates->min_speedup[i];
		char threads[16] = "";

		if (gate->threads)
			snprintf(threads, sizeof(threads), "@%u", gate->threads);
		if (asprintf(&outcomes->gates[i], "--min-speedup %.15g%s%s%s",
			     gate->ratio, *gate->phase ? ":" : "", gate->phase,
			     threads) < 0)
			return -ENOMEM;
		outcomes->nr_gates++;
	}
	if (!isnan(gates->max_regression)) {
		if (asprintf(&outcomes->gates[outcomes->nr_gates],
			     "--max-regression %.15g", gates->max_regression) < 0)
			return -ENOMEM;
		outcomes->nr_gates++;
	}
	return 0;
}

static bool is_gated(const struct gates *gates, const struct result *result,
		     const struct comparison_cell *cell)
{
	for (unsigned g = 0; g < gates->nr_min_speedup; g++)
		if (gate_concerns(&gates->min_speedup[g], &result->phases[cell->phase],
				  cell->threads))
			return true;
	return !isnan(gates->max_regression);
}

int outcomes_fill(struct outcomes *outcomes, const struct comparison *comparison,
		  const struct gates *gates)
{
	int err;

	*outcomes = (struct outcomes){ .nr = 0 };
	err = name_gates(outcomes, gates);
	for (unsigned g = 0; g < gates->nr_min_speedup && !err; g++) {
		const struct gate *gate = &gates->min_speedup[g];

		for (unsigned i = 0; i < comparison->nr_cells && !err; i++) {
			const struct comparison_cell *cell = &comparison->cells[i];

			if (gate_concerns(gate, &comparison->result->phases[cell->phase],
					  cell->threads))
				err = min_speedup(outcomes, outcomes->gates[g], gate,
						  cell);
		}
	}
	for (unsigned i = 0; i < comparison->nr_cells && !err; i++) {
		struct comparison_cell *cell = &comparison->cells[i];

		if (cell->missing && !is_gated(gates, comparison->result, cell))
			err = outcome_add(outcomes, OUTCOME_MISSING, NULL, cell, "%s",
					  cell->missing);
		else if (!isnan(gates->max_regression))
			err = max_regression(outcomes,
					     outcomes->gates[gates->nr_min_speedup],
					     comparison, cell, gates->max_regression);
		else if (!outcomes->nr_gates)
			err = outcome_add(outcomes, OUTCOME_PASSED, NULL, cell, NULL);
	}
	if (err)
		outcomes_destroy(outcomes);
	return err;
}

void outcomes_destroy(struct outcomes *outcomes)
{
	for (unsigned i = 0; i < outcomes->nr; i++)
		free(outcomes->list[i].text);
	for (unsigned i = 0; i < outcomes->nr_gates; i++)
		free(outcomes->gates[i]);
	free(outcomes->gates);
	free(outcomes->list);
	*outcomes = (struct outcomes){ .nr = 0 };
}

unsigned outcomes_count(const struct outcomes *outcomes, enum outcome_kind kind)
{
	unsigned nr = 0;

	for (unsigned i = 0; i < outcomes->nr; i++)
		nr += outcomes->list[i].kind == kind;
	return nr;
}
