/* SPDX-License-Identifier: GPL-2.0-or-later */
/* How workers are bound to CPUs, as the user writes it: --pin. topo_plan() makes the plan. */
#ifndef SYS_PIN_H
#define SYS_PIN_H

#include "base/reason.h"

struct topo;

enum pin_policy { PIN_SPREAD, PIN_COMPACT, PIN_NODES, PIN_CPUS, PIN_NONE };

/* All zero: spread. */
struct pin {
	enum pin_policy policy;
	const char *text; /* as given, not copied; see pin_text() */
	unsigned *list;	  /* nodes of PIN_NODES, CPUs of PIN_CPUS; in the user's order */
	unsigned nr;
};

/* As the help shows it. */
#define PIN_SYNTAX "spread|compact|node:LIST|cpus:LIST|none"

/*
 * @text, which must stay where it is, is one of PIN_SYNTAX; a LIST is one of
 * parse_list(). 0; -EINVAL with @why, or -ENOMEM.
 */
int pin_parse(struct pin *pin, const char *text, struct reason *why);
void pin_destroy(struct pin *pin);

/* As given, or the name of the default. */
const char *pin_text(const struct pin *pin);

/*
 * Whether every CPU and node of the list is there on @topo and may be used. 0, or -EINVAL
 * with @why, which names the first that is not, and what may be used.
 */
int pin_check(const struct pin *pin, const struct topo *topo, struct reason *why);

#endif
