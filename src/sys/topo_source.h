/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Where a topology comes from, and what is known of the source; for topo.c. */
#ifndef SYS_TOPO_SOURCE_H
#define SYS_TOPO_SOURCE_H

#include <stdbool.h>

#include "base/reason.h"

struct topo;

enum topo_source { TOPO_SOURCE_MACHINE, TOPO_SOURCE_SYNTHETIC, TOPO_SOURCE_XML };

/*
 * NULL is this machine, the path of a file an XML file, anything else a synthetic
 * description. 0; -EINVAL, -ENOENT or another -errno with @why, which names the source.
 */
int topo_source_kind(const char *source, enum topo_source *kind, struct reason *why);

/*
 * Whether node numbers are each one node's, and numbers that Linux may give, which hwloc
 * takes from a damaged file as they come. 0; -EINVAL with @why.
 */
int topo_source_check(const struct topo *topo, const char *source, struct reason *why);

/*
 * hwloc 2.9 asks for the affinity mask with ever larger ones until the kernel answers:
 * forever, when it is forbidden to.
 */
bool topo_affinity_is_readable(void);

/*
 * hwloc's x86 component moves the calling thread over all CPUs to ask each; what it adds
 * to /sys is nothing that is used here. Only without /sys it is better than nothing.
 */
bool topo_x86_is_wanted(void);

/*
 * /sys/devices/system/node is there, as in containers that mask it, but no node in it:
 * hwloc 2.9 aborts then.
 */
bool topo_nodes_are_masked(void);

/*
 * What this system does not tell, in words for the user; NULL: nothing of importance.
 * @told: hwloc tells of it, and not of another machine.
 */
const char *topo_missing_of_machine(bool told);

#endif
