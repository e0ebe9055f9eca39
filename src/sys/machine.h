/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What a reader of a result must know of the machine and its settings. */
#ifndef SYS_MACHINE_H
#define SYS_MACHINE_H

struct machine {
	char kernel[288]; /* uname: sysname release version machine */
	char cpu_model[128];
	char virtualisation[64]; /* "kvm", "container (docker)", both; "none" */
	char governor[64];	 /* of cpu0, "" when there is no cpufreq */
	/* The chosen words of /sys/kernel/mm/transparent_hugepage; "": unknown */
	char thp_enabled[64], thp_defrag[64], thp_shmem[64];
	int numa_balancing; /* 0, 1, ...; -1: not there */
	double load1;	    /* 1-minute load average; negative: unknown */
	double cpu_quota;   /* CPUs that the tightest cgroup quota allows; 0: no quota */
};

/* Never fails: what cannot be read stays empty. @root as in meminfo_read(). */
void machine_read(struct machine *machine, const char *root);

#endif
