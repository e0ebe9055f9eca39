/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What is told of made-up machines, and that nothing is made up of the real one. */
#include "sys/machine.h"

#include <locale.h>

#include "madeup.h"
#include "tap.h"

static struct machine machine;

static void is(const char *got, const char *expected, const char *name)
{
	if (!ok(!strcmp(got, expected), "%s", name))
		printf("#      got: '%s'\n# expected: '%s'\n", got, expected);
}

static bool is_near(double a, double b)
{
	return a - b < 1e-9 && b - a < 1e-9;
}

static void reread(void)
{
	memset(&machine, 0xff, sizeof(machine));
	machine_read(&machine, madeup_root);
}

static void nothing_there(void)
{
	madeup_clear();
	reread();
	ok(!*machine.cpu_model && !*machine.governor && !*machine.thp_enabled &&
		   !*machine.thp_defrag && !*machine.thp_shmem,
	   "what is not there is empty");
	ok(machine.numa_balancing == -1 && machine.load1 < 0 && machine.cpu_quota == 0,
	   "or marked as unknown");
	is(machine.virtualisation, "none", "no sign of virtualisation");
	ok(!strncmp(machine.kernel, "Linux ", 6), "the kernel is known by uname");
}

#define X86(flags)                                                    \
	"processor\t: 0\nvendor_id\t: GenuineIntel\nmodel\t\t: 62\n"  \
	"model name\t: Intel(R) Xeon(R) CPU E5-4640 v2 @ 2.20GHz  \n" \
	"flags\t\t: fpu vme " flags " sse2\nprocessor\t: 1\n"         \
	"model name\t: another\nflags\t\t: fpu\n"

static void cpu_models(void)
{
	madeup_clear();
	madeup("/proc/cpuinfo", X86("hypervisor"));
	reread();
	is(machine.cpu_model, "Intel(R) Xeon(R) CPU E5-4640 v2 @ 2.20GHz",
	   "x86: the model name of the first CPU, without blanks around");
	madeup("/proc/cpuinfo",
	       "processor\t: 0\nBogoMIPS\t: 50.00\nCPU implementer\t: 0x41\n"
	       "CPU architecture: 8\nCPU part\t: 0xd0c\nCPU revision\t: 1\n");
	reread();
	is(machine.cpu_model, "CPU implementer 0x41 part 0xd0c",
	   "arm64: implementer and part");
	madeup("/proc/device-tree/model", "Raspberry Pi 4 Model B");
	reread();
	is(machine.cpu_model, "CPU implementer 0x41 part 0xd0c (Raspberry Pi 4 Model B)",
	   "arm64: and the board");
	madeup("/proc/cpuinfo", "processor\t: 0\ncpu\t\t: POWER9, altivec supported\n");
	reread();
	is(machine.cpu_model, "POWER9, altivec supported", "powerpc");
	madeup("/proc/cpuinfo", "hart\t: 0\nisa\t: rv64imafdc\n");
	reread();
	is(machine.cpu_model, "Raspberry Pi 4 Model B", "others: the board");
	madeup("/proc/cpuinfo", "\n:\nmodel name\nmodel name:\n");
	madeup("/proc/device-tree/model", "");
	reread();
	is(machine.cpu_model, "", "damaged lines");
}

static void x86_machine(const char *product, const char *vendor, const char *expected)
{
	char name[128];

	madeup("/sys/class/dmi/id/product_name", product);
	madeup("/sys/class/dmi/id/sys_vendor", vendor);
	reread();
	snprintf(name, sizeof(name), "x86: %.*s of %.*s is %s",
		 (int)strcspn(product, "\n"), product, (int)strcspn(vendor, "\n"), vendor,
		 expected);
	is(machine.virtualisation, expected, name);
}

static void virtual_machines(void)
{
	madeup_clear();
	madeup("/proc/cpuinfo", X86("hypervisor"));
	reread();
	is(machine.virtualisation, "vm", "x86: the flag alone");
	x86_machine("Standard PC (Q35 + ICH9, 2009)\n", "QEMU\n", "qemu");
	x86_machine("KVM\n", "Red Hat\n", "kvm");
	x86_machine("VMware Virtual Platform\n", "VMware, Inc.\n", "vmware");
	x86_machine("Virtual Machine\n", "Microsoft Corporation\n", "hyper-v");
	x86_machine("Google Compute Engine\n", "Google\n", "google");
	x86_machine("m5.large\n", "Amazon EC2\n", "amazon");
	x86_machine("PowerEdge R820\n", "Dell Inc.\n", "vm");
	madeup("/sys/hypervisor/type", "xen\n");
	reread();
	is(machine.virtualisation, "xen", "x86: /sys/hypervisor");

	madeup("/proc/cpuinfo", X86("hypervisors"));
	x86_machine("m5.large\n", "Amazon EC2\n", "none");

	madeup_clear();
	madeup("/proc/cpuinfo", "CPU implementer\t: 0x41\nCPU part\t: 0xd40\n");
	madeup("/sys/class/dmi/id/sys_vendor", "Amazon EC2\n");
	madeup("/sys/class/dmi/id/product_name", "c7g.large\n");
	reread();
	is(machine.virtualisation, "amazon", "arm64: by the firmware");
	madeup("/sys/class/dmi/id/product_name", "c7g.metal\n");
	reread();
	is(machine.virtualisation, "none", "arm64: a metal instance is none");
	madeup_clear();
	madeup("/proc/device-tree/hypervisor/compatible", "linux,kvm");
	reread();
	is(machine.virtualisation, "kvm", "arm64: by the device tree");
}

static void containers(void)
{
	madeup_clear();
	madeup("/.dockerenv", "");
	reread();
	is(machine.virtualisation, "container (docker)", "docker leaves a file");
	madeup("/run/.containerenv", "");
	reread();
	is(machine.virtualisation, "container (podman)", "so does podman");
	madeup("/run/systemd/container", "systemd-nspawn\n");
	reread();
	is(machine.virtualisation, "container (systemd-nspawn)",
	   "systemd writes the name");
	madeup("/proc/cpuinfo", X86("hypervisor"));
	madeup("/sys/class/dmi/id/product_name", "KVM Virtual Machine\n");
	reread();
	is(machine.virtualisation, "kvm, container (systemd-nspawn)",
	   "a container in a virtual machine");
	madeup("/run/systemd/container",
	       "a-name-that-is-longer-than-anybody-would-ever-give-a-container\n");
	reread();
	ok(strlen(machine.virtualisation) < sizeof(machine.virtualisation) &&
		   !strncmp(machine.virtualisation, "kvm, container (a-name", 22),
	   "a long name is cut");
}

static void settings(void)
{
	madeup_clear();
	madeup("/sys/kernel/mm/transparent_hugepage/enabled", "always [madvise] never\n");
	madeup("/sys/kernel/mm/transparent_hugepage/defrag",
	       "always defer [defer+madvise] madvise never\n");
	madeup("/sys/kernel/mm/transparent_hugepage/shmem_enabled",
	       "always within_size advise never deny [force]\n");
	madeup("/sys/devices/system/cpu/cpu0/cpufreq/scaling_governor", "performance\n");
	madeup("/proc/sys/kernel/numa_balancing", "2\n");
	madeup("/proc/loadavg", "12.05 0.58 0.59 1/130 4242\n");
	setlocale(LC_ALL, "de_DE.UTF-8");
	reread();
	is(machine.thp_enabled, "madvise", "the chosen word of enabled");
	is(machine.thp_defrag, "defer+madvise", "and of defrag");
	is(machine.thp_shmem, "force", "and of shmem_enabled");
	is(machine.governor, "performance", "governor");
	ok(machine.numa_balancing == 2, "NUMA balancing");
	ok(is_near(machine.load1, 12.05), "load, whatever the locale");
	setlocale(LC_ALL, "C");
	madeup("/sys/kernel/mm/transparent_hugepage/enabled", "always madvise never\n");
	madeup("/sys/kernel/mm/transparent_hugepage/defrag", "always [madvise\n");
	madeup("/proc/sys/kernel/numa_balancing", "\n");
	madeup("/proc/loadavg", "x\n");
	reread();
	ok(!*machine.thp_enabled && !*machine.thp_defrag, "no word in brackets");
	ok(machine.numa_balancing == -1 && machine.load1 < 0, "no number");
}

static void check_quota(double expected, const char *name)
{
	reread();
	if (!ok(is_near(machine.cpu_quota, expected), "%s", name))
		printf("#      got: %f\n# expected: %f\n", machine.cpu_quota, expected);
}

static void quotas(void)
{
	madeup_clear();
	madeup("/proc/self/cgroup", "0::/a/b\n");
	madeup("/proc/self/mountinfo",
	       "31 23 0:28 / /sys/fs/cgroup rw - cgroup2 cgroup rw\n");
	madeup("/sys/fs/cgroup/cgroup.controllers", "cpu memory\n");
	madeup("/sys/fs/cgroup/a/b/cpu.max", "max 100000\n");
	check_quota(0, "v2: max is no quota");
	madeup("/sys/fs/cgroup/a/b/cpu.max", "150000 100000\n");
	check_quota(1.5, "v2: quota by period");
	madeup("/sys/fs/cgroup/a/cpu.max", "50000 100000\n");
	check_quota(0.5, "v2: a tighter ancestor");
	madeup("/sys/fs/cgroup/a/cpu.max", "max 100000\n");
	madeup("/sys/fs/cgroup/a/b/cpu.max", "150000 0\n");
	check_quota(0, "v2: no division by zero");
	madeup("/sys/fs/cgroup/a/b/cpu.max", "150000 100000\n");
	madeup("/sys/fs/cgroup/a/cpu.max", "50000\n");
	check_quota(1.5, "v2: no period");

	madeup_clear();
	madeup("/proc/self/cgroup", "3:cpu,cpuacct:/x/y\n0::/\n");
	madeup("/proc/self/mountinfo",
	       "31 23 0:28 / /sys/fs/cgroup/unified rw - cgroup2 cgroup rw\n"
	       "32 23 0:29 /x /sys/fs/cgroup/cpu rw - cgroup cgroup rw,cpu,cpuacct\n");
	madeup("/sys/fs/cgroup/cpu/y/cpu.cfs_quota_us", "-1\n");
	madeup("/sys/fs/cgroup/cpu/y/cpu.cfs_period_us", "100000\n");
	check_quota(0, "v1: -1 is no quota");
	madeup("/sys/fs/cgroup/cpu/y/cpu.cfs_quota_us", "400000\n");
	check_quota(4, "v1: quota by period");
	madeup("/sys/fs/cgroup/cpu/cpu.cfs_quota_us", "250000\n");
	madeup("/sys/fs/cgroup/cpu/cpu.cfs_period_us", "100000\n");
	check_quota(2.5, "v1: a tighter ancestor");
}

static void this_machine(void)
{
	machine_read(&machine, "");
	ok(*machine.virtualisation && memchr(machine.virtualisation, 0, 64),
	   "this machine: %s", machine.virtualisation);
	ok(machine.cpu_quota >= 0 &&
		   memchr(machine.cpu_model, 0, sizeof(machine.cpu_model)),
	   "this machine: %s", machine.cpu_model);
}

int main(void)
{
	nothing_there();
	cpu_models();
	virtual_machines();
	containers();
	settings();
	quotas();
	this_machine();
	madeup_end();
	return done();
}
