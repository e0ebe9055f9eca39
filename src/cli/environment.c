/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "cli/environment.h"

#include <errno.h>
#include <string.h>

#include "sys/machine.h"
#include "base/bits.h"
#include "sys/meminfo.h"

int environment_fill(struct result_environment *env, const struct topo *topo)
{
	struct machine machine;
	struct meminfo memory;
	struct {
		char **to;
		const char *from;
	} texts[] = {
		{ &env->kernel, machine.kernel },
		{ &env->cpu_model, machine.cpu_model },
		{ &env->virtualisation, machine.virtualisation },
		{ &env->governor, machine.governor },
		{ &env->thp_enabled, machine.thp_enabled },
		{ &env->thp_defrag, machine.thp_defrag },
		{ &env->thp_shmem, machine.thp_shmem },
		{ &env->allowed_cpus, topo->allowed_list },
	};

	machine_read(&machine, "");
	meminfo_read(&memory, "");
	for (size_t i = 0; i < ARRAY_SIZE(texts); i++) {
		*texts[i].to = strdup(texts[i].from);
		if (!*texts[i].to)
			return -ENOMEM;
	}
	env->nr_allowed_cpus = topo->nr_cpus;
	env->nr_machine_cpus = topo->nr_machine_cpus;
	env->nr_nodes = topo->nr_nodes;
	env->nr_packages = topo->nr_packages;
	env->nr_cores = topo->nr_cores;
	env->numa_balancing = machine.numa_balancing;
	env->load1 = machine.load1;
	env->cpu_quota = machine.cpu_quota;
	env->mem_total = memory.total;
	env->mem_available = memory.available;
	env->cgroup_limit = memory.cgroup_limit;
	return 0;
}
