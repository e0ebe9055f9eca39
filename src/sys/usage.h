/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What the kernel counts about a thread, a process and the machine. */
#ifndef SYS_USAGE_H
#define SYS_USAGE_H

#include <stdint.h>

struct usage {
	uint64_t minor_faults, major_faults;
	uint64_t voluntary_switches, involuntary_switches;
	uint64_t user_ns, system_ns;
};

/* Of the calling thread since it began (getrusage(2), RUSAGE_THREAD). */
void usage_read(struct usage *usage);
/* @now minus @before. */
struct usage usage_since(const struct usage *now, const struct usage *before);

/*
 * The counters @names[i], i < @nr, of /proc/vmstat; UINT64_MAX for one that is not there. @root as
 * in sys/sysfile.h.
 */
void vmstat_read(const char *root, const char *const *names, uint64_t *values,
		 unsigned nr);

/*
 * Bytes of files that this process has mapped by PMD entries: FilePmdMapped and ShmemPmdMapped of
 * /proc/self/smaps_rollup, or the sums of smaps where there is none (before Linux 4.14) or it does
 * not tell. UINT64_MAX: unreadable.
 */
uint64_t usage_pmd_mapped_bytes(const char *root);

#endif
