/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "report/gate.h"

#include <errno.h>
#include <string.h>

#include "base/parse.h"

/*
 * A decimal number above 0: digits with at most one point. Not strtod(): no sign, no
 * exponent, no hex, no locale.
 */
static int parse_ratio(const char *text, size_t len, double *ratio)
{
	double value = 0, scale = 1;
	bool point = false, digits = false;

	for (size_t i = 0; i < len; i++) {
		if (text[i] == '.' && !point) {
			point = true;
		} else if (text[i] >= '0' && text[i] <= '9') {
			digits = true;
			value = value * 10 + (text[i] - '0');
			scale *= point ? 10 : 1;
		} else {
			return -EINVAL;
		}
	}
	if (!digits || len > 15 || value <= 0)
		return -EINVAL;
	*ratio = value / scale;
	return 0;
}

int gate_parse(struct gate *gate, const char *text, struct reason *why)
{
	size_t len = strcspn(text, ":");
	const char *phase = text + len, *at;
	uint64_t threads;

	memset(gate, 0, sizeof(*gate));
	if (parse_ratio(text, len, &gate->ratio))
		return reason_set(why, -EINVAL,
				  "'%s' does not begin with a ratio such as 1.5", text);
	if (!*phase)
		return 0;
	phase++;
	at = strchr(phase, '@');
	len = at ? (size_t)(at - phase) : strlen(phase);
	if (!len || len >= sizeof(gate->phase))
		return reason_set(why, -EINVAL,
				  "'%s' names no phase; it is RATIO[:PHASE[@THREADS]]",
				  text);
	memcpy(gate->phase, phase, len);
	if (!at)
		return 0;
	if (parse_uint(at + 1, 1, PARSE_MAX_THREADS, &threads))
		return reason_set(why, -EINVAL,
				  "'%s': '%s' is not a thread count from 1 to %u", text,
				  at + 1, PARSE_MAX_THREADS);
	gate->threads = (unsigned)threads;
	return 0;
}

bool gate_concerns(const struct gate *gate, const struct result_phase *phase,
		   unsigned threads)
{
	return (!*gate->phase || !strcmp(gate->phase, phase->name)) &&
	       (!gate->threads || gate->threads == threads);
}

int gate_applies(const struct gate *gate, const struct result *result, struct reason *why)
{
	const struct result_parameters *parameters = &result->parameters;

	for (unsigned p = 0; p < result->nr_phases; p++)
		for (unsigned t = 0; t < parameters->nr_threads; t++)
			if (gate_concerns(gate, &result->phases[p],
					  parameters->threads[t]))
				return 0;
	if (gate->threads)
		return reason_set(why, -ENOENT,
				  "'%s' with -t %u is not measured in this run",
				  gate->phase, gate->threads);
	return reason_set(why, -ENOENT, "there is no phase '%s' in this run",
			  gate->phase);
}
