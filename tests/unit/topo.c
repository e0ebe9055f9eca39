/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The machine that the test runs on: which CPUs count, and binding; and what is no
 * machine.
 */
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <sched.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "sys/topo.h"
#include "sys/topo_source.h"
#include "tap.h"

#define MAX_CPUS 8192

/* The kernel's mask, without hwloc. */
static cpu_set_t *get_affinity(void)
{
	cpu_set_t *set = CPU_ALLOC(MAX_CPUS);

	CPU_ZERO_S(CPU_ALLOC_SIZE(MAX_CPUS), set);
	if (sched_getaffinity(0, CPU_ALLOC_SIZE(MAX_CPUS), set)) {
		CPU_FREE(set);
		return NULL;
	}
	return set;
}

static bool is_set(unsigned cpu, const cpu_set_t *set)
{
	return CPU_ISSET_S(cpu, CPU_ALLOC_SIZE(MAX_CPUS), set);
}

static unsigned count(const cpu_set_t *set)
{
	return (unsigned)CPU_COUNT_S(CPU_ALLOC_SIZE(MAX_CPUS), set);
}

static bool cpus_match(const struct topo *topo, const cpu_set_t *set)
{
	for (unsigned i = 0; i < topo->nr_cpus; i++) {
		if (!is_set(topo->cpus[i].cpu, set))
			return false;
	}
	return topo->nr_cpus == count(set);
}

/* "0-3,8" is what the kernel writes, too. */
static bool list_matches_kernel(const char *list)
{
	char line[4096];
	bool same = false;
	FILE *file = fopen("/proc/thread-self/status", "r");

	if (!file)
		return true;
	while (fgets(line, sizeof(line), file)) {
		char *value = line + strlen("Cpus_allowed_list:\t");

		if (strncmp(line, "Cpus_allowed_list:\t", strlen("Cpus_allowed_list:\t")))
			continue;
		value[strcspn(value, "\n")] = '\0';
		same = !strcmp(value, list);
	}
	fclose(file);
	return same;
}

/* What must hold of any machine. */
static void check_topo(const struct topo *topo, const char *name)
{
	unsigned cpus = 0, cores = 0, packages = 0;
	bool sorted = true, nodes = true, siblings = true;

	for (unsigned i = 0; i < topo->nr_nodes; i++) {
		cpus += topo->nodes[i].nr_cpus;
		if (i && topo->nodes[i - 1].nid >= topo->nodes[i].nid)
			sorted = false;
	}
	for (unsigned i = 0; i < topo->nr_cpus; i++) {
		const struct topo_cpu *cpu = &topo->cpus[i], *prev = i ? cpu - 1 : cpu;
		unsigned n = 0;

		while (n < topo->nr_nodes && topo->nodes[n].nid != cpu->node)
			n++;
		nodes = nodes && n < topo->nr_nodes && topo->nodes[n].nr_cpus &&
			cpu->mem_node == topo_mem_node(topo, cpu->node);
		cores += !cpu->smt;
		packages += !i || cpu->package != prev->package;
		siblings = siblings && (cpu->smt ? cpu->core == prev->core &&
							   cpu->smt == prev->smt + 1 :
						   !i || cpu->core != prev->core);
		sorted = sorted && cpu->package >= prev->package;
	}
	ok(topo->nr_cpus && topo->nr_nodes && topo->nr_machine_cpus >= topo->nr_cpus,
	   "%s: %u of %u CPUs, %u nodes", name, topo->nr_cpus, topo->nr_machine_cpus,
	   topo->nr_nodes);
	ok(cpus == topo->nr_cpus && nodes, "%s: each CPU is in exactly one node", name);
	ok(sorted && siblings, "%s: topology order", name);
	ok(cores == topo->nr_cores && packages == topo->nr_packages,
	   "%s: %u cores, %u packages", name, topo->nr_cores, topo->nr_packages);
}

static void this_machine(void)
{
	cpu_set_t *set = get_affinity();
	struct reason why = { "" };
	struct topo *topo;
	bool self = true;

	if (topo_load(&topo, NULL, &why))
		bail("%s", why.text);
	ok(topo->is_this_machine, "it is this machine");
	check_topo(topo, "this machine");
	if (set)
		ok(cpus_match(topo, set), "allowed CPUs are those of sched_getaffinity");
	else
		skip("sched_getaffinity is denied", 1);
	ok(list_matches_kernel(topo->allowed_list), "%s is how the kernel lists them",
	   topo->allowed_list);
	for (unsigned i = 0; i < topo->nr_nodes; i++)
		self = self &&
		       topo_distance(topo, topo->nodes[i].nid, topo->nodes[i].nid) == 10;
	ok(self, "the distance of a node to itself is 10");
	topo_free(topo);
	if (set)
		CPU_FREE(set);
}

/* Each allowed CPU can be bound to, and then this is where the thread runs. */
static void *binding(void *arg)
{
	const struct topo *topo = arg;
	unsigned agree = 0;
	int err = 0;

	for (unsigned i = 0; i < topo->nr_cpus && !err; i++) {
		unsigned cpu = topo->cpus[topo->nr_cpus - 1 - i].cpu;

		err = topo_bind_thread(topo, cpu);
		agree += !err && sched_getcpu() == (int)cpu;
	}
	if (err == -EPERM || err == -ENOSYS)
		skip("binding is forbidden here", 1);
	else
		ok(!err && agree == topo->nr_cpus,
		   "a bound thread runs on its CPU (error %d)", err);
	ok(topo_bind_thread(topo, 1u << 20) < 0, "a CPU that is not there is refused");
	return NULL;
}

static void in_thread(void *(*function)(void *), void *arg)
{
	pthread_t thread;

	if (pthread_create(&thread, NULL, function, arg))
		bail("no thread");
	pthread_join(thread, NULL);
}

/*
 * Runs in a thread of its own, whose mask it narrows to each CPU in turn, as taskset -c
 * does.
 */
static void *narrowed(void *arg)
{
	cpu_set_t *all = arg, *one = CPU_ALLOC(MAX_CPUS);
	const size_t size = CPU_ALLOC_SIZE(MAX_CPUS);
	unsigned tried = 0, good = 0, machine = 0;

	for (unsigned cpu = 0; cpu < MAX_CPUS && tried < 4; cpu++) {
		struct topo *topo;
		char list[16];

		if (!is_set(cpu, all))
			continue;
		CPU_ZERO_S(size, one);
		CPU_SET_S(cpu, size, one);
		if (sched_setaffinity(0, size, one))
			break;
		if (topo_load(&topo, NULL, NULL))
			bail("no topology with one CPU");
		tried++;
		snprintf(list, sizeof(list), "%u", cpu);
		good += topo->nr_cpus == 1 && topo->cpus[0].cpu == cpu &&
			!topo->cpus[0].smt && topo->nr_cores == 1 &&
			topo->nr_packages == 1 && !strcmp(topo->allowed_list, list);
		machine += topo->nr_machine_cpus >= count(all);
		topo_free(topo);
	}
	if (!tried) {
		skip("sched_setaffinity is denied", 2);
	} else {
		ok(good == tried, "one allowed CPU is one CPU, whichever it is");
		ok(machine == tried, "the machine's CPUs are counted all the same");
	}
	CPU_FREE(one);
	return NULL;
}

static void check_bad(const char *source, int expected)
{
	struct reason why = { "" };
	struct topo *topo = NULL;
	int err = topo_load(&topo, source, &why);

	ok(err == expected && !topo && strstr(why.text, source) &&
		   !strchr(why.text, '\n'),
	   "'%.40s' is refused by name", source);
}

static void bad_sources(const char *dir)
{
	static const char *const bad[] = {
		"nonsense",
		"pack:4 foo",
		"pack:0 pu:2",
		"pu:",
		"pack:-1 pu:2",
		" ",
		"",
		"core:2 pack:2",
		"pu:4 core:2",
		"pack:2 numa:2 core:2",
		"pack:2 [",
		"pack:2 pu:2)",
		"pack:2 core:x",
		"pack:2 pu:4097",
		"pack:1000000 core:1000000",
		"core:8193",
		"99999999999999999999 99999999999999999999",
	};
	struct topo *topo = NULL;
	char path[256];

	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++)
		check_bad(bad[i], -EINVAL);
	check_bad("/nonexistent/machine", -ENOENT);
	check_bad("nonexistent.xml", -ENOENT);
	check_bad(dir, -EINVAL);
	snprintf(path, sizeof(path), "%s/fifo", dir);
	if (!mkfifo(path, 0600))
		check_bad(path, -EINVAL);
	unlink(path);
	ok(topo_load(&topo, "nonsense", NULL) == -EINVAL, "a reason is not needed");
	topo_free(NULL);
}

static void other_machines(void)
{
	static const char *const machines[] = {
		"pack:2 core:2 pu:4",
		"numa:2 pack:2 core:3 pu:2",
		"pu:3",
		"pack:2 [numa(memory=1GB)] [numa(memory=1GB)] core:2 pu:2",
	};
	struct reason why = { "" };
	struct topo *topo;

	for (size_t i = 0; i < sizeof(machines) / sizeof(machines[0]); i++) {
		if (topo_load(&topo, machines[i], &why))
			bail("%s", why.text);
		check_topo(topo, machines[i]);
		ok(!topo->is_this_machine && topo->nr_cpus == topo->nr_machine_cpus,
		   "%s: another machine, of which all CPUs count", machines[i]);
		topo_free(topo);
	}
}

static void write_file(const char *path, const char *text)
{
	FILE *file = fopen(path, "w");

	if (!file || fputs(text, file) < 0 || fclose(file))
		bail("cannot write %s", path);
}

/*
 * Two packages; package 0 has a node with memory, package 1 one without; a third has
 * memory only and is what hwloc calls local to package 0's CPUs.
 */
#define XML_HEAD                                                         \
	"<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n"                   \
	"<!DOCTYPE topology SYSTEM \"hwloc2.dtd\">\n"                    \
	"<topology version=\"2.0\">\n"                                   \
	"<object type=\"Machine\" os_index=\"0\" cpuset=\"0x0000000f\" " \
	"complete_cpuset=\"0x0000000f\" allowed_cpuset=\"0x0000000e\" "  \
	"nodeset=\"0x00000007\" complete_nodeset=\"0x00000007\" "        \
	"allowed_nodeset=\"0x00000007\" gp_index=\"1\">\n"
#define XML_SETS(cpus, nodes)                                                \
	" cpuset=\"" cpus "\" complete_cpuset=\"" cpus "\" nodeset=\"" nodes \
	"\" complete_nodeset=\"" nodes "\""
#define XML_PU(cpu, mask, node, id)           \
	"<object type=\"PU\" os_index=\"" cpu \
	"\"" XML_SETS(mask, node) " gp_index=\"" id "\"/>\n"
#define XML_NODE(nid, cpus, mask, memory, id)       \
	"<object type=\"NUMANode\" os_index=\"" nid \
	"\"" XML_SETS(cpus, mask) " gp_index=\"" id "\" local_memory=\"" memory "\"/>\n"
#define XML_TAIL                                                                      \
	"</object>\n"                                                                 \
	"<distances2 type=\"NUMANode\" nbobjs=\"3\" kind=\"5\" name=\"NUMALatency\" " \
	"indexing=\"os\">\n"                                                          \
	"<indexes length=\"6\">0 1 2 </indexes>\n"                                    \
	"<u64values length=\"27\">10 31 20 31 10 21 20 21 10 </u64values>\n"          \
	"</distances2>\n</topology>\n"

static const char xml[] = XML_HEAD "<object type=\"Package\" os_index=\"0\"" XML_SETS(
	"0x3", "0x5") " gp_index=\"2\">\n" XML_NODE("2", "0x3", "0x4", "8589934592", "3")
	XML_NODE("0", "0x3", "0x1", "1073741824", "4") XML_PU("0", "0x1", "0x5", "5")
		XML_PU("1", "0x2", "0x5",
		       "6") "</object>\n"
			    "<object type=\"Package\" os_index=\"1\"" XML_SETS(
				    "0xc",
				    "0x2") " gp_index=\"7\">\n" XML_NODE("1", "0xc",
									 "0x2", "0", "8")
				    XML_PU("2", "0x4", "0x2", "9")
					    XML_PU("3", "0x8", "0x2",
						   "10") "</object>\n" XML_TAIL;

static void xml_machine(const char *dir)
{
	struct reason why = { "" };
	struct topo *topo;
	char path[256], damaged[sizeof(xml)], *at;

	snprintf(path, sizeof(path), "%s/machine.xml", dir);
	write_file(path, xml);
	if (topo_load(&topo, path, &why))
		bail("%s", why.text);
	check_topo(topo, "XML");
	ok(!topo->is_this_machine && topo_bind_thread(topo, 1) == -ENOSYS,
	   "XML: is another machine, which nobody can be bound to");
	ok(topo->nr_cpus == 3 && topo->nr_machine_cpus == 4 &&
		   !strcmp(topo->allowed_list, "1-3"),
	   "XML: its own allowed CPUs count");
	ok(topo->nr_nodes == 3 && topo->nodes[0].nr_cpus == 1 &&
		   topo->nodes[1].nr_cpus == 2 && topo->nodes[2].nr_cpus == 0,
	   "XML: the memory-only node gets no CPU");
	ok(topo->nodes[1].memory == 0 && topo->nodes[2].memory == 8589934592,
	   "XML: a node without memory and a node with much");
	ok(topo_distance(topo, 0, 1) == 31 && topo_distance(topo, 1, 2) == 21 &&
		   topo_distance(topo, 2, 0) == 20 && topo_distance(topo, 1, 1) == 10,
	   "XML: distances");
	ok(topo->cpus[1].node == 1 && topo->cpus[1].mem_node == 2,
	   "XML: memory for the node without comes from the nearest");
	topo_free(topo);

	/* hwloc 2.9 crashes on this one. */
	memcpy(damaged, xml, sizeof(xml));
	at = strstr(damaged, "type=\"PU\"");
	memcpy(strstr(at, "complete_cpuset"), "complexe_cpuset", 15);
	write_file(path, damaged);
	check_bad(path, -EINVAL);
	damaged[sizeof(damaged) / 2] = '\0';
	write_file(path, damaged);
	check_bad(path, -EINVAL);
	write_file(path, "");
	check_bad(path, -EINVAL);
	unlink(path);
}

/* Not by way of hwloc, which takes half a GiB for a set with such a number. */
static void node_numbers(void)
{
	struct topo_node nodes[] = { { .nid = 3 }, { .nid = 5 } };
	const struct topo topo = { .nodes = nodes, .nr_nodes = 2 };
	struct reason why = { "" };

	ok(!topo_source_check(&topo, "x", &why), "node numbers may have holes");
	nodes[1].nid = 4294967290;
	ok(topo_source_check(&topo, "x", &why) == -EINVAL &&
		   !strcmp(why.text, "topology 'x': a node has the number 4294967290"),
	   "but be no larger than Linux has them: %s", why.text);
}

static struct topo *load_data(const char *name)
{
	const char *top = getenv("top_srcdir");
	struct reason why;
	struct topo *topo = NULL;
	char path[4096];

	snprintf(path, sizeof(path), "%s/tests/data/%s", top ? top : ".", name);
	if (topo_load(&topo, path, &why))
		bail("%s", why.text);
	check_topo(topo, name);
	return topo;
}

static bool cache_is(const struct topo_cache *cache, unsigned level, unsigned kib,
		     unsigned nr, unsigned nr_cpus)
{
	return cache->level == level && cache->bytes == (uint64_t)kib << 10 &&
	       cache->is_data == (level == 1) && cache->nr == nr &&
	       cache->nr_cpus == nr_cpus;
}

static void kinds_and_caches(void)
{
	struct topo *topo = load_data("topology-hybrid.xml");
	bool good = true;

	ok(topo->nr_kinds == 2 && !strcmp(topo->kinds[0].name, "IntelAtom") &&
		   topo->kinds[0].max_mhz == 3400 && topo->kinds[0].nr_cpus == 8 &&
		   !strcmp(topo->kinds[1].name, "IntelCore") &&
		   topo->kinds[1].efficiency > topo->kinds[0].efficiency,
	   "hybrid: two kinds, the more efficient one first");
	for (unsigned i = 0; i < topo->nr_cpus; i++)
		good = good && topo->cpus[i].kind == (topo->cpus[i].cpu < 8);
	ok(good, "hybrid: each CPU knows its kind");
	ok(topo->nr_caches == 5 && cache_is(&topo->caches[0], 3, 12288, 1, 16) &&
		   cache_is(&topo->caches[1], 2, 1280, 4, 2) &&
		   cache_is(&topo->caches[2], 2, 2048, 2, 4) &&
		   cache_is(&topo->caches[3], 1, 48, 4, 2) &&
		   cache_is(&topo->caches[4], 1, 32, 8, 1),
	   "hybrid: caches that are alike are counted");
	topo_free(topo);

	topo = load_data("topology-three-kinds.xml");
	ok(topo->nr_kinds == 3 && !*topo->kinds[2].name && !topo->kinds[2].max_mhz &&
		   topo->kinds[2].nr_cpus == 1,
	   "kinds without names");
	ok(!topo->nr_caches && !*topo->offline_list, "no caches, no offline CPUs");
	topo_free(topo);
}

static void cpu_states(void)
{
	struct topo *topo = load_data("topology-offline.xml");

	ok(!strcmp(topo->offline_list, "3,6-7,9,11,14") && topo->nr_machine_cpus == 10,
	   "CPUs that are off are listed, and not counted");
	ok(topo_cpu_state(topo, 2) == TOPO_CPU_ALLOWED &&
		   topo_cpu_state(topo, 3) == TOPO_CPU_OFFLINE &&
		   topo_cpu_state(topo, 16) == TOPO_CPU_ABSENT,
	   "a CPU is allowed, offline or absent");
	ok(topo->nodes[0].nr_online_cpus == 5 && topo->nodes[1].nr_online_cpus == 5,
	   "nodes count those that are on");
	topo_free(topo);

	topo = load_data("topology-cpus-4-6.xml");
	ok(topo->nr_cpus == 3 && topo->nodes[0].nr_cpus == 3 &&
		   topo->nodes[0].nr_online_cpus == 8,
	   "a cpuset of CPUs 4 to 6");
	ok(topo_cpu_state(topo, 4) == TOPO_CPU_ALLOWED &&
		   topo_cpu_state(topo, 7) == TOPO_CPU_FORBIDDEN,
	   "another CPU is there, but may not be used");
	ok(topo_find_cpu(topo, 6)->core == 6 && !topo_find_cpu(topo, 7),
	   "and is not found");
	topo_free(topo);
}

int main(void)
{
	char dir[] = "/tmp/pagezone-topo.XXXXXX";
	char noise[64];
	struct stat st = { 0 };
	cpu_set_t *set = get_affinity();
	struct topo *topo;
	int saved, log;

	if (!mkdtemp(dir))
		bail("no temporary directory");
	/* What hwloc would write, it would write to stderr. */
	snprintf(noise, sizeof(noise), "%s/stderr", dir);
	log = open(noise, O_RDWR | O_CREAT | O_APPEND, 0600);
	saved = dup(STDERR_FILENO);
	dup2(log, STDERR_FILENO);

	this_machine();
	if (topo_load(&topo, NULL, NULL))
		bail("no topology");
	in_thread(binding, topo);
	topo_free(topo);
	if (set)
		in_thread(narrowed, set);
	else
		skip("sched_getaffinity is denied", 2);
	bad_sources(dir);
	other_machines();
	xml_machine(dir);
	node_numbers();
	kinds_and_caches();
	cpu_states();

	fflush(stderr);
	ok(!fstat(log, &st) && !st.st_size, "nothing was written to stderr");
	dup2(saved, STDERR_FILENO);
	close(log);
	unlink(noise);
	rmdir(dir);
	if (set)
		CPU_FREE(set);
	return done();
}
