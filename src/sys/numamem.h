/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Memory policy. The only file that includes numa.h or numaif.h is numamem.c. */
#ifndef SYS_NUMAMEM_H
#define SYS_NUMAMEM_H

#include <stdbool.h>
#include <stddef.h>

#include "sys/mempolicy.h"

/* As many as a Linux kernel can be built for. */
#define NUMAMEM_MAX_NODES 1024

/*
 * Asks for the pages of the mapping [@addr, @addr + @len) to come from node @nid as long as
 * it has any (MPOL_PREFERRED), or, where that is negative, from the nodes of @policy: in
 * turn (MPOL_INTERLEAVE) or any of them and no other (MPOL_BIND). Nothing to ask for (no
 * @nid, and @policy NULL or without nodes): 0, and nothing is done. Else 0 or -errno
 * (-EPERM, -ENOSYS in containers, -EINVAL).
 *
 * Of a shared mapping of a file on tmpfs it becomes the policy of that range of the file, for as
 * long as the file is there, and holds for pages that anybody allocates, by a fault or by write(2)
 * (mpol_set_shared_policy() of mm/mempolicy.c). Of a shared mapping of any other file it
 * is without effect.
 */
int numamem_bind(void *addr, size_t len, const struct mem_policy *policy, int nid);

/* What the calling thread had before. */
struct numamem_task {
	bool changed;
	int mode;
	unsigned long nodes[NUMAMEM_MAX_NODES / (8 * sizeof(unsigned long))];
};

/*
 * As numamem_bind(), of all that the calling thread allocates and that has no policy of
 * its own: also pages of the page cache of disk file systems (filemap_alloc_folio()), and
 * its page tables. 0 or -errno, and then nothing has changed.
 */
int numamem_task_set(struct numamem_task *before, const struct mem_policy *policy,
		     int nid);
/* In the same thread. */
void numamem_task_restore(struct numamem_task *before);

/*
 * @nodes[i] becomes the node that the page mapped at @addresses[i] lies on, i < @nr; negative: no
 * page is mapped there, or the kernel does not say. 0 or -errno (-EPERM, -ENOSYS in containers).
 */
int numamem_where(void *const *addresses, int *nodes, unsigned nr);

/*
 * The CPU that the calling thread is on now, and the node that the kernel counts it to;
 * -1: unknown.
 */
void numamem_here(int *cpu, int *node);

#endif
