/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What the kernel counts, on this machine and on made-up ones. */
#include "sys/usage.h"

#include <pthread.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/bits.h"
#include "madeup.h"

enum { NR_PAGES = 1024 };

/* Touches @nr_pages pages of memory of its own. */
static void touch(unsigned nr_pages)
{
	char *map = mmap(NULL, nr_pages * PAGE_SIZE, PROT_READ | PROT_WRITE,
			 MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	if (map == MAP_FAILED)
		bail("no memory");
	madvise(map, nr_pages * PAGE_SIZE, MADV_NOHUGEPAGE);
	for (unsigned i = 0; i < nr_pages; i++)
		*(volatile char *)(map + i * PAGE_SIZE) = 1;
	munmap(map, nr_pages * PAGE_SIZE);
}

static void *touch_thread(void *arg)
{
	touch(NR_PAGES);
	return NULL;
}

static struct usage delta(void (*fn)(void))
{
	struct usage before, now;

	usage_read(&before);
	fn();
	usage_read(&now);
	return usage_since(&now, &before);
}

static void nothing(void)
{
}

static void touch_here(void)
{
	touch(NR_PAGES);
}

static void touch_elsewhere(void)
{
	pthread_t id;

	if (pthread_create(&id, NULL, touch_thread, NULL))
		bail("no thread");
	pthread_join(id, NULL);
}

static void sleep_shortly(void)
{
	usleep(1000);
}

static void work(void)
{
	struct usage before, now;

	usage_read(&before);
	do {
		usage_read(&now);
	} while (now.user_ns == before.user_ns || now.system_ns == before.system_ns);
}

static void this_thread(void)
{
	const struct usage low = { 1, 2, 3, 4, 5, 6 }, high = { 11, 22, 33, 44, 55, 66 };
	struct usage usage = usage_since(&high, &low);

	ok(usage.minor_faults == 10 && usage.major_faults == 20 &&
		   usage.voluntary_switches == 30 && usage.involuntary_switches == 40 &&
		   usage.user_ns == 50 && usage.system_ns == 60,
	   "differences");
	usage = usage_since(&low, &high);
	ok(!usage.minor_faults && !usage.system_ns, "none is negative");
	delta(nothing);
	usage = delta(touch_here);
	/* A sanitizer may touch its shadow as well. */
	ok(usage.minor_faults >= NR_PAGES && usage.minor_faults < 8 * NR_PAGES,
	   "minor faults: one a page (%llu)", (unsigned long long)usage.minor_faults);
	usage = delta(touch_elsewhere);
	ok(usage.minor_faults < NR_PAGES, "those of another thread do not count (%llu)",
	   (unsigned long long)usage.minor_faults);
	usage = delta(sleep_shortly);
	ok(usage.voluntary_switches >= 1, "a sleep is a voluntary switch");
	usage = delta(work);
	ok(usage.user_ns && usage.system_ns, "user and system time pass");
}

static void vmstat(void)
{
	const char *const names[] = { "thp_file_mapped", "pgfault", "pgfault_x",
				      "numa_hit" };
	uint64_t values[4];

	madeup_clear();
	vmstat_read(madeup_root, names, values, 4);
	ok(values[0] == UINT64_MAX && values[3] == UINT64_MAX,
	   "no /proc/vmstat: none is there");
	madeup("/proc/vmstat",
	       "nr_free_pages 1\nnuma_hit 22\npgfault 18446744073709551615\n"
	       "pgfault_x1 5\npgmajfault 6\nnonsense\nthp_file_mapped 333\n");
	values[0] = 0;
	vmstat_read(madeup_root, names, values, 4);
	ok(values[0] == 333 && values[3] == 22, "counters by name, in any order");
	ok(values[2] == UINT64_MAX, "a name is a whole word");
	vmstat_read("", names + 1, values, 1);
	if (values[0] == UINT64_MAX)
		skip("no /proc/vmstat here", 1);
	else
		ok(values[0] > 0, "this machine has had faults");
}

static void pmd_mapped(void)
{
	madeup_clear();
	ok(usage_pmd_mapped_bytes(madeup_root) == UINT64_MAX, "no smaps: unknown");
	madeup("/proc/self/smaps",
	       "7f00-7f01 rw-s 00000000 00:01 1 /a\nSize: 4 kB\nShmemPmdMapped:     2048 kB\n"
	       "FilePmdMapped:        0 kB\n7f01-7f02 rw-s 00000000 00:01 1 /b\n"
	       "ShmemPmdMapped:     4096 kB\nFilePmdMapped:     8192 kB\n");
	ok(usage_pmd_mapped_bytes(madeup_root) == 14336 << 10,
	   "smaps: the sum over all mappings");
	madeup("/proc/self/smaps_rollup",
	       "5500-7fff ---p 00000000 00:00 0 [rollup]\nRss: 884 kB\nAnonHugePages: 2048 kB\n"
	       "ShmemPmdMapped:  6144 kB\nFilePmdMapped:  2048 kB\n");
	ok(usage_pmd_mapped_bytes(madeup_root) == 8192 << 10, "smaps_rollup goes first");
	madeup("/proc/self/smaps_rollup", "5500-7fff ---p 00000000 00:00 0 [rollup]\n");
	ok(usage_pmd_mapped_bytes(madeup_root) == 14336 << 10,
	   "one that does not say is passed over");
	madeup("/proc/self/smaps", "");
	ok(usage_pmd_mapped_bytes(madeup_root) == UINT64_MAX, "nobody says: unknown");
	if (access("/proc/self/smaps", R_OK))
		skip("no /proc/self/smaps here", 1);
	else
		ok(usage_pmd_mapped_bytes("") != UINT64_MAX, "this kernel tells");
}

int main(void)
{
	this_thread();
	vmstat();
	pmd_mapped();
	madeup_end();
	return done();
}
