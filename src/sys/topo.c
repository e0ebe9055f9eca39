/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "sys/topo.h"

#include <errno.h>
#include <fcntl.h>
#include <hwloc.h>
#include <hwloc/linux.h>
#include <limits.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/format.h"
#include "sys/topo_source.h"

/* Of what makes hwloc's view of this machine. */
static int choose_components(hwloc_topology_t topology)
{
	const unsigned long without = HWLOC_TOPOLOGY_COMPONENTS_FLAG_BLACKLIST;
	bool masked = topo_nodes_are_masked();

	if (masked && hwloc_topology_set_components(topology, without, "linux"))
		return -1;
	if (topo_x86_is_wanted() || (masked && topo_affinity_is_readable()))
		return 0;
	return hwloc_topology_set_components(topology, without, "x86");
}

/*
 * A loaded topology: about 6 ms, most of it for hwloc to find its plugins. Disallowed
 * CPUs are kept, to count them and to number packages and cores the same whatever the
 * affinity mask; which are allowed is the kernel's word.
 */
static int hwloc_open(hwloc_topology_t *hwloc, enum topo_source kind, const char *source)
{
	hwloc_topology_t topology;
	int rc = 0;

	/*
	 * Unless the user wants them: hwloc's banners on broken firmware tables or XML
	 * files.
	 */
	setenv("HWLOC_HIDE_ERRORS", "2", 0);
	if (hwloc_topology_init(&topology))
		return -ENOMEM;
	if (kind == TOPO_SOURCE_SYNTHETIC)
		rc = hwloc_topology_set_synthetic(topology, source);
	else if (kind == TOPO_SOURCE_XML)
		rc = hwloc_topology_set_xml(topology, source);
	else
		rc = choose_components(topology);
	if (!rc)
		rc = hwloc_topology_set_flags(topology,
					      HWLOC_TOPOLOGY_FLAG_INCLUDE_DISALLOWED);
	if (!rc)
		rc = hwloc_topology_load(topology);
	if (rc) {
		rc = errno ? -errno : -EINVAL;
		hwloc_topology_destroy(topology);
		return rc;
	}
	*hwloc = topology;
	return 0;
}

/*
 * Whether hwloc survives the source and takes it. A damaged XML file makes hwloc 2.9
 * crash (a PU without complete_cpuset does) or write to stderr, a wrong synthetic
 * description makes it leak, so that a child tries it first, in silence.
 */
static bool source_is_sound(enum topo_source kind, const char *source)
{
	hwloc_topology_t hwloc;
	int status, null;
	pid_t child;

	child = fork();
	if (child < 0)
		return true; /* no child to be had: take the risk */
	if (!child) {
		prctl(PR_SET_DUMPABLE, 0);
		signal(SIGSEGV, SIG_DFL);
		signal(SIGABRT, SIG_DFL);
		signal(SIGALRM, SIG_DFL);
		alarm(60);
		null = open("/dev/null", O_WRONLY | O_CLOEXEC);
		if (null >= 0) {
			dup2(null, STDOUT_FILENO);
			dup2(null, STDERR_FILENO);
		}
		_exit(hwloc_open(&hwloc, kind, source) ? 1 : 0);
	}
	while (waitpid(child, &status, 0) < 0) {
		if (errno != EINTR)
			return true;
	}
	return WIFEXITED(status) && WEXITSTATUS(status) == 0;
}

/*
 * CPUs that the process may use; hwloc's view of the cpuset where the kernel does not
 * answer.
 */
static int allowed_cpus(struct topo *topo, hwloc_bitmap_t allowed)
{
	hwloc_topology_t hwloc = topo->hwloc;

	if (topo->is_this_machine && topo_affinity_is_readable() &&
	    !hwloc_linux_get_tid_cpubind(hwloc, 0, allowed))
		return 0;
	return hwloc_bitmap_copy(allowed, hwloc_topology_get_allowed_cpuset(hwloc));
}

/*
 * Logical number of the package around @obj; those outside of any share the number after
 * the last.
 */
static unsigned package_of(hwloc_topology_t hwloc, hwloc_obj_t obj)
{
	hwloc_obj_t package =
		hwloc_get_ancestor_obj_by_type(hwloc, HWLOC_OBJ_PACKAGE, obj);

	if (package)
		return package->logical_index;
	return (unsigned)hwloc_get_nbobjs_by_type(hwloc, HWLOC_OBJ_PACKAGE);
}

/* The package of a node, UINT_MAX when it is in none or spans several. */
static unsigned node_package(hwloc_topology_t hwloc, hwloc_obj_t obj)
{
	int nr = hwloc_get_nbobjs_by_type(hwloc, HWLOC_OBJ_PACKAGE);
	unsigned package = package_of(hwloc, obj);

	return nr > 0 && package == (unsigned)nr ? UINT_MAX : package;
}

/* The kernel's list of the CPUs of a node. */
static int kernel_node_cpus(unsigned nid, hwloc_bitmap_t cpus)
{
	char path[64], *line = NULL;
	size_t size = 0;
	FILE *file;
	int rc = -1;

	snprintf(path, sizeof(path), "/sys/devices/system/node/node%u/cpulist", nid);
	file = fopen(path, "re");
	if (!file)
		return -errno;
	if (getline(&line, &size, file) > 0) {
		line[strcspn(line, "\n")] = '\0';
		if (!*line)
			rc = (hwloc_bitmap_zero(cpus), 0);
		else
			rc = hwloc_bitmap_list_sscanf(cpus, line);
	}
	free(line);
	fclose(file);
	return rc ? -EIO : 0;
}

/*
 * Nodes in ascending order, and in @local[] the CPUs of each: the kernel's word or
 * hwloc's.
 */
static int load_nodes(struct topo *topo, hwloc_bitmap_t **local)
{
	hwloc_topology_t hwloc = topo->hwloc;
	hwloc_const_nodeset_t allowed = hwloc_topology_get_allowed_nodeset(hwloc);
	int nr = hwloc_get_nbobjs_by_type(hwloc, HWLOC_OBJ_NUMANODE);
	hwloc_obj_t obj = NULL;

	topo->nodes = calloc(nr > 0 ? (size_t)nr : 1, sizeof(*topo->nodes));
	*local = calloc(nr > 0 ? (size_t)nr : 1, sizeof(**local));
	if (!topo->nodes || !*local)
		return -ENOMEM;
	if (nr <= 0) {
		topo->nodes[0] = (struct topo_node){
			.memory = hwloc_get_root_obj(hwloc)->total_memory, .allowed = true
		};
		(*local)[0] = hwloc_bitmap_dup(hwloc_topology_get_topology_cpuset(hwloc));
		topo->nr_nodes = 1;
		return (*local)[0] ? 0 : -ENOMEM;
	}
	while ((obj = hwloc_get_next_obj_by_type(hwloc, HWLOC_OBJ_NUMANODE, obj))) {
		unsigned at = topo->nr_nodes++;

		/* Logical order is not the order of numbers. */
		for (; at && topo->nodes[at - 1].nid > obj->os_index; at--) {
			topo->nodes[at] = topo->nodes[at - 1];
			(*local)[at] = (*local)[at - 1];
		}
		topo->nodes[at] = (struct topo_node){
			.nid = obj->os_index,
			.package = node_package(hwloc, obj),
			.memory = obj->attr->numanode.local_memory,
			.allowed = hwloc_bitmap_isset(allowed, obj->os_index),
		};
		(*local)[at] = hwloc_bitmap_dup(obj->cpuset);
		if (!(*local)[at])
			return -ENOMEM;
		if (topo->is_this_machine &&
		    kernel_node_cpus(obj->os_index, (*local)[at]))
			hwloc_bitmap_copy((*local)[at], obj->cpuset);
	}
	/*
	 * The only node has all memory; the kernel's count by node leaves out what was
	 * added late, and needs /sys.
	 */
	if (topo->is_this_machine && topo->nr_nodes == 1)
		topo->nodes[0].memory = (uint64_t)sysconf(_SC_PHYS_PAGES) *
					(uint64_t)sysconf(_SC_PAGESIZE);
	return 0;
}

/*
 * Position of the node that @cpu belongs to: of those that have it, the one with the
 * fewest CPUs.
 */
static unsigned home_node(const struct topo *topo, hwloc_bitmap_t *local, unsigned cpu)
{
	unsigned best = topo->nr_nodes;
	int best_weight = INT_MAX;

	for (unsigned i = 0; i < topo->nr_nodes; i++) {
		if (!hwloc_bitmap_isset(local[i], cpu))
			continue;
		if (hwloc_bitmap_weight(local[i]) < best_weight) {
			best_weight = hwloc_bitmap_weight(local[i]);
			best = i;
		}
	}
	return best < topo->nr_nodes ? best : 0;
}

/* Firmware distances; left unknown where hwloc has none or not for all nodes. */
static int load_distances(struct topo *topo)
{
	hwloc_topology_t hwloc = topo->hwloc;
	struct hwloc_distances_s *matrix;
	unsigned nr = 1, n = topo->nr_nodes;
	int rc = 0;

	if (hwloc_distances_get_by_type(hwloc, HWLOC_OBJ_NUMANODE, &nr, &matrix,
					HWLOC_DISTANCES_KIND_FROM_OS |
						HWLOC_DISTANCES_KIND_MEANS_LATENCY,
					0) ||
	    !nr)
		return 0;
	topo->distances = calloc((size_t)n * n, sizeof(*topo->distances));
	if (!topo->distances)
		rc = -ENOMEM;
	for (unsigned i = 0; !rc && i < matrix->nbobjs * matrix->nbobjs; i++) {
		hwloc_obj_t from = matrix->objs[i / matrix->nbobjs];
		hwloc_obj_t to = matrix->objs[i % matrix->nbobjs];
		unsigned a = 0, b = 0;

		if (!from || !to)
			continue;
		while (a < n && topo->nodes[a].nid != from->os_index)
			a++;
		while (b < n && topo->nodes[b].nid != to->os_index)
			b++;
		if (a < n && b < n)
			topo->distances[(size_t)a * n + b] = (unsigned)matrix->values[i];
	}
	hwloc_distances_release(hwloc, matrix);
	return rc;
}

static int compare_cpus(const void *left, const void *right)
{
	const struct topo_cpu *a = left, *b = right;

	if (a->package != b->package)
		return a->package < b->package ? -1 : 1;
	if (a->node != b->node)
		return a->node < b->node ? -1 : 1;
	if (a->core != b->core)
		return a->core < b->core ? -1 : 1;
	return a->cpu < b->cpu ? -1 : a->cpu > b->cpu;
}

/* Sorts the CPUs and numbers the siblings; counts packages and cores. */
static void order_cpus(struct topo *topo)
{
	unsigned last_package = UINT_MAX;

	qsort(topo->cpus, topo->nr_cpus, sizeof(*topo->cpus), compare_cpus);
	for (unsigned i = 0; i < topo->nr_cpus; i++) {
		struct topo_cpu *cpu = &topo->cpus[i];

		if (i && cpu->core == cpu[-1].core)
			cpu->smt = cpu[-1].smt + 1;
		else
			topo->nr_cores++;
		topo->nr_packages += cpu->package != last_package;
		last_package = cpu->package;
	}
}

static int load_cpus(struct topo *topo, hwloc_bitmap_t allowed, hwloc_bitmap_t *local)
{
	hwloc_topology_t hwloc = topo->hwloc;
	int nr_cores = hwloc_get_nbobjs_by_type(hwloc, HWLOC_OBJ_CORE);
	int nr = hwloc_bitmap_weight(allowed);
	unsigned id;

	if (nr <= 0)
		return -EINVAL;
	topo->cpus = calloc((size_t)nr, sizeof(*topo->cpus));
	if (!topo->cpus)
		return -ENOMEM;
	hwloc_bitmap_foreach_begin(id, allowed) {
		hwloc_obj_t pu = hwloc_get_pu_obj_by_os_index(hwloc, id), core;
		struct topo_cpu *cpu = &topo->cpus[topo->nr_cpus];
		unsigned home = home_node(topo, local, id);

		/* hwloc without /sys may not know a CPU that the kernel offers. */
		if (!pu && !topo->is_this_machine) {
			hwloc_bitmap_clr(allowed, id);
			continue;
		}
		core = pu ? hwloc_get_ancestor_obj_by_type(hwloc, HWLOC_OBJ_CORE, pu) :
			    NULL;
		*cpu = (struct topo_cpu){
			.cpu = id,
			.package = pu ? package_of(hwloc, pu) : 0,
			.core = core ? core->logical_index :
				       (nr_cores > 0 ? (unsigned)nr_cores : 0) + id,
			.node = topo->nodes[home].nid,
		};
		topo->nr_cpus++;
		topo->nodes[home].nr_cpus++;
		cpu->mem_node = topo_mem_node(topo, cpu->node);
	}
	hwloc_bitmap_foreach_end();
	hwloc_bitmap_foreach_begin(id, hwloc_topology_get_topology_cpuset(hwloc)) {
		topo->nodes[home_node(topo, local, id)].nr_online_cpus++;
	}
	hwloc_bitmap_foreach_end();
	order_cpus(topo);
	return topo->nr_cpus ? 0 : -EINVAL;
}

/* What hwloc was told of a kind; NULL: nothing of that name. */
static const char *kind_info(const struct hwloc_info_s *infos, unsigned nr,
			     const char *name)
{
	for (unsigned i = 0; i < nr; i++)
		if (!strcmp(infos[i].name, name))
			return infos[i].value;
	return NULL;
}

static int load_kind(struct topo *topo, unsigned at, hwloc_bitmap_t cpus)
{
	struct topo_kind *kind = &topo->kinds[at];
	struct hwloc_info_s *infos;
	const char *name, *mhz;
	unsigned nr;

	/* Kinds are advice: what hwloc does not tell of one is left out. */
	if (hwloc_cpukinds_get_info(topo->hwloc, at, cpus, &kind->efficiency, &nr, &infos,
				    0)) {
		hwloc_bitmap_zero(cpus);
		nr = 0;
	}
	name = kind_info(infos, nr, "CoreType");
	mhz = kind_info(infos, nr, "FrequencyMaxMHz");
	kind->name = strdup(name ? name : "");
	if (!kind->name)
		return -ENOMEM;
	format_plain(kind->name);
	kind->max_mhz = mhz ? (unsigned)strtoul(mhz, NULL, 10) : 0;
	for (unsigned i = 0; i < topo->nr_cpus; i++) {
		if (!hwloc_bitmap_isset(cpus, topo->cpus[i].cpu))
			continue;
		topo->cpus[i].kind = at;
		kind->nr_cpus++;
	}
	return 0;
}

/* Kinds of CPU, the most efficient in power first where that is known; none: not told. */
static int load_kinds(struct topo *topo)
{
	int nr = hwloc_cpukinds_get_nr(topo->hwloc, 0), err = 0;
	hwloc_bitmap_t cpus;

	if (nr <= 0)
		return 0;
	cpus = hwloc_bitmap_alloc();
	topo->kinds = calloc((size_t)nr, sizeof(*topo->kinds));
	if (!cpus || !topo->kinds)
		err = -ENOMEM;
	for (unsigned i = 0; i < topo->nr_cpus; i++)
		topo->cpus[i].kind = UINT_MAX;
	for (; !err && topo->nr_kinds < (unsigned)nr; topo->nr_kinds++)
		err = load_kind(topo, topo->nr_kinds, cpus);
	hwloc_bitmap_free(cpus);
	return err;
}

/* Counts the cache @obj with those that are like it. */
static int add_cache(struct topo *topo, hwloc_obj_t obj)
{
	const struct topo_cache found = {
		.level = obj->attr->cache.depth,
		.is_data = obj->attr->cache.type == HWLOC_OBJ_CACHE_DATA,
		.bytes = obj->attr->cache.size,
		.nr_cpus = (unsigned)hwloc_bitmap_weight(obj->cpuset),
	};
	struct topo_cache *cache;

	for (unsigned i = 0; i < topo->nr_caches; i++) {
		cache = &topo->caches[i];
		if (cache->level == found.level && cache->is_data == found.is_data &&
		    cache->bytes == found.bytes && cache->nr_cpus == found.nr_cpus) {
			cache->nr++;
			return 0;
		}
	}
	cache = realloc(topo->caches, (topo->nr_caches + 1) * sizeof(*cache));
	if (!cache)
		return -ENOMEM;
	topo->caches = cache;
	cache[topo->nr_caches] = found;
	cache[topo->nr_caches++].nr = 1;
	return 0;
}

/* From the largest to the smallest. hwloc leaves instruction caches out. */
static int load_caches(struct topo *topo)
{
	int depth = hwloc_topology_get_depth(topo->hwloc), err = 0;

	for (int d = 0; d < depth && !err; d++) {
		hwloc_obj_t obj = NULL;

		if (!hwloc_obj_type_is_dcache(hwloc_get_depth_type(topo->hwloc, d)))
			continue;
		while (!err && (obj = hwloc_get_next_obj_by_depth(topo->hwloc, d, obj)))
			err = add_cache(topo, obj);
	}
	return err;
}

/* CPUs that are there, but off. */
static int load_offline(struct topo *topo)
{
	hwloc_bitmap_t offline = hwloc_bitmap_alloc();
	int err = -ENOMEM;

	if (offline &&
	    !hwloc_bitmap_andnot(offline, hwloc_topology_get_complete_cpuset(topo->hwloc),
				 hwloc_topology_get_topology_cpuset(topo->hwloc)) &&
	    hwloc_bitmap_list_asprintf(&topo->offline_list, offline) >= 0)
		err = 0;
	hwloc_bitmap_free(offline);
	return err;
}

static int topo_fill(struct topo *topo, const char *source, struct reason *why)
{
	hwloc_bitmap_t allowed = hwloc_bitmap_alloc(), *local = NULL;
	int err = -ENOMEM;

	if (!allowed || allowed_cpus(topo, allowed))
		goto out;
	topo->nr_machine_cpus = (unsigned)hwloc_bitmap_weight(
		hwloc_topology_get_topology_cpuset(topo->hwloc));
	err = load_nodes(topo, &local);
	if (!err)
		err = load_distances(topo);
	if (!err)
		err = load_cpus(topo, allowed, local);
	if (!err)
		err = load_kinds(topo);
	if (!err)
		err = load_caches(topo);
	if (!err)
		err = load_offline(topo);
	if (!source)
		topo->missing = topo_missing_of_machine(topo->is_this_machine);
	if (!err && hwloc_bitmap_list_asprintf(&topo->allowed_list, allowed) < 0)
		err = -ENOMEM;
out:
	if (err == -ENOMEM)
		reason_set(why, err, "out of memory for the machine's topology");
	else if (err)
		reason_set(why, err, "%s has no CPU that may be used",
			   source ? source : "this machine");
	for (unsigned i = 0; local && i < topo->nr_nodes; i++)
		hwloc_bitmap_free(local[i]);
	free(local);
	hwloc_bitmap_free(allowed);
	return err;
}

int topo_load(struct topo **topo, const char *source, struct reason *why)
{
	hwloc_topology_t hwloc;
	enum topo_source kind;
	struct topo *new;
	int err;

	err = topo_source_kind(source, &kind, why);
	if (err)
		return err;
	if (kind == TOPO_SOURCE_MACHINE || source_is_sound(kind, source))
		err = hwloc_open(&hwloc, kind, source);
	else
		err = -EINVAL;
	if (err == -ENOMEM)
		return reason_set(why, err, "out of memory for the machine's topology");
	if (err && kind == TOPO_SOURCE_MACHINE)
		return reason_set(why, err,
				  "hwloc cannot tell this machine's topology: %s",
				  strerror(-err));
	if (err && kind == TOPO_SOURCE_XML)
		return reason_set(why, -EINVAL,
				  "topology '%s': not an XML file that hwloc takes",
				  source);
	if (err)
		return reason_set(why, -EINVAL,
				  "topology '%s': neither a file nor an hwloc synthetic "
				  "description such as 'pack:4 numa:1 core:10 pu:2'",
				  source);

	new = calloc(1, sizeof(*new));
	if (!new) {
		hwloc_topology_destroy(hwloc);
		return reason_set(why, -ENOMEM,
				  "out of memory for the machine's topology");
	}
	new->hwloc = hwloc;
	/* HWLOC_XMLFILE and the like make hwloc show another machine than this one. */
	if (kind == TOPO_SOURCE_MACHINE)
		new->is_this_machine = hwloc_topology_is_thissystem(hwloc);
	err = topo_fill(new, source, why);
	if (!err)
		err = topo_source_check(new, source, why);
	if (err) {
		topo_free(new);
		return err;
	}
	*topo = new;
	return 0;
}

void topo_free(struct topo *topo)
{
	if (!topo)
		return;
	if (topo->hwloc)
		hwloc_topology_destroy(topo->hwloc);
	free(topo->cpus);
	free(topo->nodes);
	free(topo->distances);
	for (unsigned i = 0; i < topo->nr_kinds; i++)
		free(topo->kinds[i].name);
	free(topo->kinds);
	free(topo->caches);
	free(topo->allowed_list);
	free(topo->offline_list);
	free(topo);
}

enum topo_cpu_state topo_cpu_state(const struct topo *topo, unsigned cpu)
{
	hwloc_topology_t hwloc = topo->hwloc;

	if (topo_find_cpu(topo, cpu))
		return TOPO_CPU_ALLOWED;
	if (!hwloc) /* made by hand */
		return TOPO_CPU_ABSENT;
	if (hwloc_bitmap_isset(hwloc_topology_get_topology_cpuset(hwloc), cpu))
		return TOPO_CPU_FORBIDDEN;
	if (hwloc_bitmap_isset(hwloc_topology_get_complete_cpuset(hwloc), cpu))
		return TOPO_CPU_OFFLINE;
	return TOPO_CPU_ABSENT;
}

int topo_bind_thread(const struct topo *topo, unsigned cpu)
{
	hwloc_bitmap_t set;
	int err = 0;

	if (!topo->is_this_machine)
		return -ENOSYS;
	set = hwloc_bitmap_alloc();
	if (!set || hwloc_bitmap_only(set, cpu))
		err = -ENOMEM;
	else if (hwloc_linux_set_tid_cpubind(topo->hwloc, 0, set))
		err = -errno;
	hwloc_bitmap_free(set);
	return err;
}
