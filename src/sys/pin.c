/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "sys/pin.h"

#include <errno.h>
#include <stdlib.h>

#include "base/bits.h"
#include "base/parse.h"
#include "sys/topo.h"

/* By enum pin_policy. */
static const char *const policies[] = { "spread", "compact", "node:", "cpus:", "none" };

int pin_parse(struct pin *pin, const char *text, struct reason *why)
{
	struct pin new = { .text = text };
	unsigned policy;
	int err = parse_word(text, policies, ARRAY_SIZE(policies),
			     "a list of numbers such as 0-3,8 or 0-31:2", &policy,
			     &new.list, &new.nr, why);

	if (err == -ENOENT)
		return reason_set(
			why, -EINVAL,
			"it can be spread, compact, node:LIST, cpus:LIST or none; a LIST is "
			"one of numbers, such as 0-3,8");
	if (err)
		return err;
	new.policy = (enum pin_policy)policy;
	*pin = new;
	return 0;
}

void pin_destroy(struct pin *pin)
{
	free(pin->list);
	*pin = (struct pin){ .policy = PIN_SPREAD };
}

const char *pin_text(const struct pin *pin)
{
	return pin->text ? pin->text : policies[PIN_SPREAD];
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
