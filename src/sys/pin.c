/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "sys/pin.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/format.h"
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

static int parse_pin_list(struct pin *pin, const char *text, struct reason *why)
{
	size_t nr;
	int err = parse_list(text, &pin->list, &nr);

	if (err == -ENOMEM)
		return reason_set(why, err, "out of memory");
	if (err == -ERANGE)
		return reason_set(why, -EINVAL,
				  "a number that is too large, or more than %d numbers",
				  PARSE_MAX_LIST);
	if (err)
		return reason_set(why, err,
				  "not a list of numbers such as 0-3,8 or 0-31:2");
	pin->nr = (unsigned)nr;
	return 0;
}

int pin_parse(struct pin *pin, const char *text, struct reason *why)
{
	for (size_t i = 0; i < sizeof(policies) / sizeof(policies[0]); i++) {
		size_t len = strlen(policies[i].name);
		struct pin new = { .policy = policies[i].policy, .text = text };
		int err = 0;

		if (policies[i].has_list ? strncmp(text, policies[i].name, len) :
					   strcmp(text, policies[i].name))
			continue;
		if (policies[i].has_list)
			err = parse_pin_list(&new, text + len, why);
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

/* "0-3,8": nodes with CPUs that may be used. */
static char *list_nodes(const struct topo *topo)
{
	unsigned *nids = malloc((topo->nr_nodes + 1) * sizeof(*nids)), nr = 0;
	char *text;

	if (!nids)
		return NULL;
	for (unsigned i = 0; i < topo->nr_nodes; i++)
		if (topo->nodes[i].nr_cpus)
			nids[nr++] = topo->nodes[i].nid;
	text = format_list(nids, nr);
	free(nids);
	return text;
}

static int check_node(const struct topo *topo, unsigned nid, struct reason *why)
{
	const struct topo_node *node = topo_find_node(topo, nid);
	const char *what = "does not exist";
	char *allowed;

	if (node && node->nr_cpus)
		return 0;
	if (node)
		what = node->nr_online_cpus ?
			       "has no CPU that may be used (affinity mask, cpuset)" :
			       "has no CPU, only memory";
	allowed = list_nodes(topo);
	reason_set(why, -EINVAL, "node %u %s; allowed are %s", nid, what,
		   allowed ? allowed : "others");
	free(allowed);
	return -EINVAL;
}

int pin_check(const struct pin *pin, const struct topo *topo, struct reason *why)
{
	int err = 0;

	for (unsigned i = 0; i < pin->nr && !err; i++)
		err = pin->policy == PIN_CPUS ? check_cpu(topo, pin->list[i], why) :
						check_node(topo, pin->list[i], why);
	return err;
}
