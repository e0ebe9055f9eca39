/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "sys/pin.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/bits.h"
#include "base/parse.h"
#include "sys/topo.h"

static const struct {
	const char *name;
	enum pin_policy policy;
	bool has_list; /* the name is followed by it */
} policies[] = {
	{ "spread", PIN_SPREAD, false }, { "compact", PIN_COMPACT, false },
	{ "none", PIN_NONE, false },	 { "node:", PIN_NODES, true },
	{ "cpus:", PIN_CPUS, true },
};

int pin_parse(struct pin *pin, const char *text, struct reason *why)
{
	for (size_t i = 0; i < ARRAY_SIZE(policies); i++) {
		size_t len = strlen(policies[i].name);
		struct pin new = { .policy = policies[i].policy, .text = text };
		int err = 0;

		if (policies[i].has_list ? strncmp(text, policies[i].name, len) :
					   strcmp(text, policies[i].name))
			continue;
		if (policies[i].has_list)
			err = parse_list_why(text + len,
					     "a list of numbers such as 0-3,8 or 0-31:2",
					     &new.list, &new.nr, why);
		if (!err)
			*pin = new;
		return err;
	}
	return reason_set(
		why, -EINVAL,
		"it can be spread, compact, node:LIST, cpus:LIST or none; a LIST is "
		"one of numbers, such as 0-3,8");
}

void pin_destroy(struct pin *pin)
{
	free(pin->list);
	*pin = (struct pin){ .policy = PIN_SPREAD };
}

const char *pin_text(const struct pin *pin)
{
	return pin->text ? pin->text : policies[0].name;
}

static int check_cpu(const struct topo *topo, unsigned cpu, struct reason *why)
{
	static const char *const states[] = {
		[TOPO_CPU_ABSENT] = "does not exist",
		[TOPO_CPU_OFFLINE] = "is offline",
		[TOPO_CPU_FORBIDDEN] = "may not be used (affinity mask, cpuset)",
	};
	enum topo_cpu_state state = topo_cpu_state(topo, cpu);

	if (state == TOPO_CPU_ALLOWED)
		return 0;
	return reason_set(why, -EINVAL, "CPU %u %s; allowed are %s", cpu, states[state],
			  topo->allowed_list ? topo->allowed_list : "others");
}

static bool has_cpus(const struct topo_node *node)
{
	return node->nr_cpus;
}

static int check_node(const struct topo *topo, unsigned nid, struct reason *why)
{
	const struct topo_node *node = topo_find_node(topo, nid);
	const char *what = "does not exist";

	if (node && node->nr_cpus)
		return 0;
	if (node)
		what = node->nr_online_cpus ?
			       "has no CPU that may be used (affinity mask, cpuset)" :
			       "has no CPU, only memory";
	return topo_refuse_node(topo, nid, what, has_cpus, why);
}

int pin_check(const struct pin *pin, const struct topo *topo, struct reason *why)
{
	int err = 0;

	for (unsigned i = 0; i < pin->nr && !err; i++)
		err = pin->policy == PIN_CPUS ? check_cpu(topo, pin->list[i], why) :
						check_node(topo, pin->list[i], why);
	return err;
}
