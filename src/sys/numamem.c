/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "sys/numamem.h"

#include <errno.h>
#include <numa.h>
#include <numaif.h>
#include <sched.h>

/*
 * libnuma writes its warnings to stderr itself (a machine without
 * /sys/devices/system/node is enough). The symbol is weak there so that programs can
 * replace it; here what matters comes back as an error number.
 */
void numa_warn(int num, char *fmt, ...)
{
	(void)num;
	(void)fmt;
}

/* What is to be told to the kernel. */
struct order {
	int mode;
	struct bitmask *mask;
};

/* 1: there is something to ask for; 0: there is not; -errno. */
static int order_init(struct order *order, const struct mem_policy *policy, int nid)
{
	unsigned node = (unsigned)nid, nr = nid >= 0 ? 1 : policy ? policy->nr : 0;
	const unsigned *nodes = nid >= 0 ? &node : policy ? policy->nodes : NULL;

	if (!nr)
		return 0;
	if (numa_available() < 0)
		return -ENOSYS;
	for (unsigned i = 0; i < nr; i++)
		if (nodes[i] >= (unsigned)numa_num_possible_nodes())
			return -EINVAL;
	order->mode = nid >= 0			     ? MPOL_PREFERRED :
		      policy->kind == MEM_INTERLEAVE ? MPOL_INTERLEAVE :
						       MPOL_BIND;
	order->mask = numa_allocate_nodemask();
	if (!order->mask)
		return -ENOMEM;
	for (unsigned i = 0; i < nr; i++)
		numa_bitmask_setbit(order->mask, nodes[i]);
	return 1;
}

int numamem_bind(void *addr, size_t len, const struct mem_policy *policy, int nid)
{
	struct order order;
	int err = order_init(&order, policy, nid);

	if (err <= 0)
		return err;
	/* The kernel reads one bit less than it is told (see mbind(2)). */
	err = mbind(addr, len, order.mode, order.mask->maskp, order.mask->size + 1, 0) ?
		      -errno :
		      0;
	numa_bitmask_free(order.mask);
	return err;
}

int numamem_task_set(struct numamem_task *before, const struct mem_policy *policy,
		     int nid)
{
	struct order order;
	int err;

	*before = (struct numamem_task){ .changed = false };
	err = order_init(&order, policy, nid);
	if (err <= 0)
		return err;
	if (get_mempolicy(&before->mode, before->nodes, NUMAMEM_MAX_NODES, NULL, 0) ||
	    set_mempolicy(order.mode, order.mask->maskp, order.mask->size + 1))
		err = -errno;
	else
		err = 0;
	before->changed = !err;
	numa_bitmask_free(order.mask);
	return err;
}

void numamem_task_restore(struct numamem_task *before)
{
	/* It may have been set, so it may be set again. */
	if (before->changed)
		set_mempolicy(before->mode, before->nodes, NUMAMEM_MAX_NODES + 1);
	before->changed = false;
}

int numamem_where(void *const *addresses, int *nodes, unsigned nr)
{
	/* Without nodes to go to nothing is moved; the list is not written to. */
	return nr && move_pages(0, nr, (void **)addresses, NULL, nodes, 0) ? -errno : 0;
}

void numamem_here(int *cpu, int *node)
{
	unsigned c, n;

	*cpu = *node = -1;
	if (getcpu(&c, &n))
		return;
	*cpu = (int)c;
	*node = (int)n;
}
