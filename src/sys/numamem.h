/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Memory policy. The only file that includes numa.h or numaif.h is numamem.c. */
#ifndef SYS_NUMAMEM_H
#define SYS_NUMAMEM_H

#include <stdbool.h>
#include <stddef.h>

/* Whether the kernel has NUMA policies and this process may set them. */
bool numamem_available(void);
/*
 * Pages of [@addr, @addr + @len) not yet touched come from @nid if it has any left
 * (MPOL_PREFERRED). 0 or -errno (-EPERM, -ENOSYS in containers, -EINVAL).
 */
int numamem_prefer(void *addr, size_t len, unsigned nid);

#endif
