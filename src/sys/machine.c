/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "sys/machine.h"

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/utsname.h>
#include <unistd.h>

#if defined(__x86_64__) || defined(__i386__)
#include <cpuid.h>
#endif

#include "base/bits.h"
#include "sys/cgroup.h"
#include "sys/sysfile.h"

/* What /proc/cpuinfo tells; "" where it does not say. */
struct cpuinfo {
	char model[128];
	char implementer[16], part[16]; /* arm64 has these instead of a model */
	bool has_flags;			/* x86: tells whether there is a hypervisor */
	bool hypervisor;
};

static void trim(char *s)
{
	size_t start = strspn(s, " \t"), len = strcspn(s, "\n");

	while (len > start && (s[len - 1] == ' ' || s[len - 1] == '\t'))
		len--;
	memmove(s, s + start, len - start);
	s[len - start] = '\0';
}

static bool has_flag(const char *flags, const char *flag)
{
	const char *at = flags;
	size_t len = strlen(flag);

	while ((at = strstr(at, flag))) {
		if ((at == flags || at[-1] == ' ') && (!at[len] || at[len] == ' '))
			return true;
		at += len;
	}
	return false;
}

/* The first line that names @key, as "key : value", decides. */
static void read_cpuinfo(struct cpuinfo *info, const char *root)
{
	FILE *file = sysfile_open(root, "/proc/cpuinfo");
	char *line = NULL, *value;
	size_t size = 0;

	*info = (struct cpuinfo){ 0 };
	if (!file)
		return;
	while (getline(&line, &size, file) > 0) {
		value = strchr(line, ':');
		if (!value)
			continue;
		*value++ = '\0';
		trim(line);
		trim(value);
		/* "model name" on x86, "Model Name" on loongarch, "cpu" on powerpc */
		if (!*info->model &&
		    (!strcasecmp(line, "model name") || !strcmp(line, "cpu")))
			snprintf(info->model, sizeof(info->model), "%s", value);
		else if (!*info->implementer && !strcmp(line, "CPU implementer"))
			snprintf(info->implementer, sizeof(info->implementer), "%s",
				 value);
		else if (!*info->part && !strcmp(line, "CPU part"))
			snprintf(info->part, sizeof(info->part), "%s", value);
		else if (!info->has_flags && !strcmp(line, "flags")) {
			info->has_flags = true;
			info->hypervisor = has_flag(value, "hypervisor");
		}
	}
	free(line);
	fclose(file);
}

static void tell_cpu(struct machine *machine, const struct cpuinfo *info,
		     const char *root)
{
	char board[64];

	/* A string of the device tree ends with a NUL. */
	sysfile_line(root, "/proc/device-tree/model", board, sizeof(board));
	if (*info->model)
		snprintf(machine->cpu_model, sizeof(machine->cpu_model), "%s",
			 info->model);
	else if (*info->implementer)
		snprintf(machine->cpu_model, sizeof(machine->cpu_model),
			 "CPU implementer %s part %s%s%s%s", info->implementer,
			 info->part, *board ? " (" : "", board, *board ? ")" : "");
	else
		snprintf(machine->cpu_model, sizeof(machine->cpu_model), "%s", board);
}

/* The hypervisor's own word: CPUID leaf 0x40000000, as systemd-detect-virt asks it. */
static const char *cpuid_hypervisor(void)
{
#if defined(__x86_64__) || defined(__i386__)
	static const struct {
		char signature[13];
		const char *name;
	} known[] = {
		{ "KVMKVMKVM", "kvm" },		  { "Linux KVM Hv", "kvm" },
		{ "TCGTCGTCGTCG", "qemu" },	  { "VMwareVMware", "vmware" },
		{ "Microsoft Hv", "hyper-v" },	  { "XenVMMXenVMM", "xen" },
		{ "bhyve bhyve ", "bhyve" },	  { "ACRNACRNACRN", "acrn" },
		{ "QNXQVMBSQG", "qnx" },	  { " lrpepyh  vr", "parallels" },
		{ "VBoxVBoxVBox", "virtualbox" },
	};
	unsigned eax, ebx, ecx, edx;
	char signature[13] = "";

	if (!__get_cpuid(1, &eax, &ebx, &ecx, &edx) || !(ecx & 1u << 31))
		return NULL;
	__cpuid(0x40000000, eax, ebx, ecx, edx);
	memcpy(signature, &ebx, 4);
	memcpy(signature + 4, &ecx, 4);
	memcpy(signature + 8, &edx, 4);
	for (size_t i = 0; i < ARRAY_SIZE(known); i++) {
		if (!strcmp(signature, known[i].signature))
			return known[i].name;
	}
#endif
	return NULL;
}

/* The hypervisor that the firmware's strings name; NULL: none of them does. */
static const char *dmi_hypervisor(const char *root)
{
	static const struct {
		const char *file, *start, *name;
	} known[] = {
		{ "product_name", "KVM", "kvm" },
		{ "product_name", "OpenStack", "kvm" },
		{ "product_name", "KubeVirt", "kvm" },
		{ "product_name", "VMware", "vmware" },
		{ "product_name", "VirtualBox", "virtualbox" },
		{ "product_name", "Virtual Machine", "hyper-v" },
		{ "product_name", "Google Compute Engine", "google" },
		{ "product_name", "BHYVE", "bhyve" },
		{ "product_name", "Parallels", "parallels" },
		{ "product_name", "HVM domU", "xen" },
		{ "sys_vendor", "QEMU", "qemu" },
		{ "sys_vendor", "VMware", "vmware" },
		{ "sys_vendor", "innotek GmbH", "virtualbox" },
		{ "sys_vendor", "Xen", "xen" },
		{ "sys_vendor", "Parallels", "parallels" },
		{ "sys_vendor", "Apple Virtualization", "apple" },
		{ "sys_vendor", "Amazon EC2", "amazon" },
		{ "bios_vendor", "Bochs", "bochs" },
	};
	char path[64], line[128];

	for (size_t i = 0; i < ARRAY_SIZE(known); i++) {
		snprintf(path, sizeof(path), "/sys/class/dmi/id/%s", known[i].file);
		if (sysfile_line(root, path, line, sizeof(line)) &&
		    !strncmp(line, known[i].start, strlen(known[i].start)))
			return known[i].name;
	}
	return NULL;
}

/*
 * Amazon's machines say the same with a hypervisor and without; the bare ones are
 * "m5.metal" and the like.
 */
static bool is_metal(const char *root)
{
	char line[128];

	return sysfile_line(root, "/sys/class/dmi/id/product_name", line, sizeof(line)) &&
	       strstr(line, ".metal");
}

static const char *hypervisor(const struct cpuinfo *info, const char *root)
{
	const char *name = NULL;
	char line[64];

	/*
	 * x86 always tells whether there is one; the others show it by name, if at all.
	 */
	if (info->has_flags ? !info->hypervisor : is_metal(root))
		return NULL;
	if (!*root)
		name = cpuid_hypervisor();
	if (!name)
		name = dmi_hypervisor(root);
	if (!name && sysfile_line(root, "/sys/hypervisor/type", line, sizeof(line)) &&
	    !strcmp(line, "xen"))
		name = "xen";
	if (!name && sysfile_line(root, "/proc/device-tree/hypervisor/compatible", line,
				  sizeof(line)))
		name = strstr(line, "kvm") ? "kvm" : strstr(line, "xen") ? "xen" : "vm";
	return !name && info->hypervisor ? "vm" : name;
}

/* The kind of container around this process, "" when there is no sign of one. */
static void read_container(const char *root, char *name, size_t size)
{
	static const struct {
		const char *file, *name;
	} marks[] = {
		{ "/run/.containerenv", "podman" },
		{ "/.dockerenv", "docker" },
	};

	if (sysfile_line(root, "/run/systemd/container", name, size) && *name)
		return;
	for (size_t i = 0; i < ARRAY_SIZE(marks); i++) {
		FILE *file = sysfile_open(root, "%s", marks[i].file);

		if (!file)
			continue;
		fclose(file);
		snprintf(name, size, "%s", marks[i].name);
		return;
	}
	*name = '\0';
}

static void tell_virtualisation(struct machine *machine, const struct cpuinfo *info,
				const char *root)
{
	const char *vm = hypervisor(info, root);
	char container[32];

	read_container(root, container, sizeof(container));
	if (*container)
		snprintf(machine->virtualisation, sizeof(machine->virtualisation),
			 "%s%scontainer (%s)", vm ? vm : "", vm ? ", " : "", container);
	else
		snprintf(machine->virtualisation, sizeof(machine->virtualisation), "%s",
			 vm ? vm : "none");
}

/* "always [madvise] never" has chosen madvise. */
static void read_chosen(const char *root, const char *path, char chosen[static 64])
{
	char line[256], *open, *close;

	chosen[0] = '\0';
	if (!sysfile_line(root, path, line, sizeof(line)))
		return;
	open = strchr(line, '[');
	close = open ? strchr(open, ']') : NULL;
	if (close)
		snprintf(chosen, 64, "%.*s", (int)(close - open - 1), open + 1);
}

/* "0.52 0.58 0.59 1/130 4242", read without the locale's decimal point. */
static double read_load(const char *root)
{
	unsigned whole, hundredths;
	char line[128];

	if (!sysfile_line(root, "/proc/loadavg", line, sizeof(line)) ||
	    sscanf(line, "%u.%2u", &whole, &hundredths) != 2)
		return -1;
	return whole + hundredths / 100.0;
}

/* CPUs that one group may use; 0: no quota. */
static double group_quota(const struct cgroup *cgroup)
{
	uint64_t quota, period = 0;
	char line[64], *rest;

	if (cgroup->version == 1) {
		/* -1 for none: no number here */
		if (!cgroup_read_number(cgroup, "cpu.cfs_quota_us", &quota) ||
		    !cgroup_read_number(cgroup, "cpu.cfs_period_us", &period))
			return 0;
	} else {
		/* "max 100000", "150000 100000" */
		if (!cgroup_read(cgroup, "cpu.max", line, sizeof(line)) ||
		    !sysfile_number(line, &quota))
			return 0;
		rest = strchr(line, ' ');
		if (!rest || !sysfile_number(rest + 1, &period))
			return 0;
	}
	return period ? (double)quota / (double)period : 0;
}

static double read_quota(const char *root)
{
	struct cgroup cgroup;
	double tightest = 0;

	if (!cgroup_find(&cgroup, "cpu", root))
		return 0;
	do {
		double quota = group_quota(&cgroup);

		if (quota > 0 && (tightest <= 0 || quota < tightest))
			tightest = quota;
	} while (cgroup_parent(&cgroup));
	return tightest;
}

void machine_read(struct machine *machine, const char *root)
{
	static const char thp[] = "/sys/kernel/mm/transparent_hugepage";
	struct cpuinfo info;
	struct utsname uts;
	uint64_t balancing;
	char path[128], line[32];

	*machine = (struct machine){ .numa_balancing = -1 };
	if (!uname(&uts))
		snprintf(machine->kernel, sizeof(machine->kernel), "%s %s %s %s",
			 uts.sysname, uts.release, uts.version, uts.machine);
	read_cpuinfo(&info, root);
	tell_cpu(machine, &info, root);
	tell_virtualisation(machine, &info, root);
	sysfile_line(root, "/sys/devices/system/cpu/cpu0/cpufreq/scaling_governor",
		     machine->governor, sizeof(machine->governor));
	snprintf(path, sizeof(path), "%s/enabled", thp);
	read_chosen(root, path, machine->thp_enabled);
	snprintf(path, sizeof(path), "%s/defrag", thp);
	read_chosen(root, path, machine->thp_defrag);
	snprintf(path, sizeof(path), "%s/shmem_enabled", thp);
	read_chosen(root, path, machine->thp_shmem);
	if (sysfile_line(root, "/proc/sys/kernel/numa_balancing", line, sizeof(line)) &&
	    sysfile_number(line, &balancing))
		machine->numa_balancing = (int)balancing;
	machine->load1 = read_load(root);
	machine->cpu_quota = read_quota(root);
}
