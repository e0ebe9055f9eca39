/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "sys/numamem.h"

#include <errno.h>
#include <numa.h>
#include <numaif.h>

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

bool numamem_available(void)
{
	return numa_available() >= 0;
}

int numamem_prefer(void *addr, size_t len, unsigned nid)
{
	struct bitmask *mask;
	int err = 0;

	if (numa_available() < 0)
		return -ENOSYS;
	if (nid >= (unsigned)numa_num_possible_nodes())
		return -EINVAL;
	mask = numa_allocate_nodemask();
	if (!mask)
		return -ENOMEM;
	numa_bitmask_setbit(mask, nid);
	/* The kernel reads one bit less than it is told (see mbind(2)). */
	if (mbind(addr, len, MPOL_PREFERRED, mask->maskp, mask->size + 1, 0))
		err = -errno;
	numa_bitmask_free(mask);
	return err;
}
