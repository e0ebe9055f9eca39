/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What the kernel has been told of a policy is asked of it again; node 0 is there everywhere. */
#include "sys/numamem.h"

#include <errno.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/bits.h"
#include "tap.h"

/* numaif.h is numamem.c's alone. */
enum { DEFAULT, PREFERRED, BIND, INTERLEAVE, OF_ADDRESS = 2 };

static unsigned zero = 0;
static const struct mem_policy bind_policy = { MEM_BIND, "bind:0", &zero, 1 };
static const struct mem_policy interleave = { MEM_INTERLEAVE, "interleave", &zero, 1 };

static int mode_of(void *addr)
{
	unsigned long nodes[16] = { 0 };
	int mode = -1;

	if (syscall(SYS_get_mempolicy, &mode, nodes, 1024UL, addr, addr ? OF_ADDRESS : 0))
		return -1;
	return mode == DEFAULT || nodes[0] == 1 ? mode : -1;
}

static void *map(int fd)
{
	void *p = mmap(NULL, PMD_SIZE, PROT_READ | PROT_WRITE,
		       fd < 0 ? MAP_PRIVATE | MAP_ANONYMOUS : MAP_SHARED, fd, 0);

	if (p == MAP_FAILED)
		bail("no memory");
	return p;
}

static void ranges(void)
{
	void *p = map(-1);

	ok(!numamem_bind(p, PMD_SIZE, NULL, -1) &&
		   !numamem_bind(p, PMD_SIZE, &(struct mem_policy){ .kind = MEM_NONE },
				 -1) &&
		   mode_of(p) == DEFAULT,
	   "nothing to ask for: nothing is done");
	ok(!numamem_bind(p, PMD_SIZE, &interleave, 0) && mode_of(p) == PREFERRED,
	   "a node is preferred, whatever the policy");
	ok(!numamem_bind(p, PMD_SIZE, &interleave, -1) && mode_of(p) == INTERLEAVE,
	   "without one it is the policy's nodes in turn");
	ok(!numamem_bind(p, PMD_SIZE, &bind_policy, -1) && mode_of(p) == BIND,
	   "or those of them and no other");
	ok(numamem_bind(p, PMD_SIZE, NULL, NUMAMEM_MAX_NODES) < 0,
	   "a node that cannot be is an error");
	munmap(p, PMD_SIZE);
}

/* What the kernel and tmpfs engines build on. */
static void files(void)
{
	int fd = memfd_create("numamem", MFD_CLOEXEC);
	void *p, *again;

	if (fd < 0 || ftruncate(fd, (off_t)PMD_SIZE))
		bail("no memfd");
	p = map(fd);
	ok(!numamem_bind(p, PMD_SIZE, &bind_policy, -1), "a file in memory is bound");
	munmap(p, PMD_SIZE);
	again = map(fd);
	ok(mode_of(again) == BIND, "the file keeps that, and each mapping has it");
	if (ftruncate(fd, 0) || ftruncate(fd, (off_t)PMD_SIZE))
		bail("no truncation");
	ok(mode_of(again) == BIND, "also when it was emptied");
	munmap(again, PMD_SIZE);
	close(fd);
}

static void threads(void)
{
	struct numamem_task first, second;

	ok(!numamem_task_set(&first, NULL, -1) && !first.changed &&
		   mode_of(NULL) == DEFAULT,
	   "a thread with nothing to ask for keeps its policy");
	ok(!numamem_task_set(&first, NULL, 0) && mode_of(NULL) == PREFERRED,
	   "a thread gets a policy");
	ok(!numamem_task_set(&second, &interleave, -1) && mode_of(NULL) == INTERLEAVE,
	   "and another one");
	numamem_task_restore(&second);
	ok(mode_of(NULL) == PREFERRED, "the first comes back");
	numamem_task_restore(&first);
	ok(mode_of(NULL) == DEFAULT, "then what it was started with");
	numamem_task_restore(&first);
	ok(mode_of(NULL) == DEFAULT, "twice does no harm");
}

static void where(void)
{
	char *p = map(-1);
	void *addresses[] = { p, p + PMD_SIZE / 2, p + PAGE_SIZE };
	int nodes[] = { -9, -9, -9 }, cpu, node, err;

	madvise(p, PMD_SIZE, MADV_NOHUGEPAGE);
	p[0] = 1;
	p[PAGE_SIZE] = 1;
	ok(!numamem_where(addresses, nodes, 0), "no page, no question");
	err = numamem_where(addresses, nodes, 3);
	if (err == -EPERM || err == -ENOSYS) {
		skip("move_pages is forbidden", 1);
	} else {
		ok(!err && nodes[0] >= 0 && nodes[2] >= 0 && nodes[1] < 0,
		   "pages that are there have a node, others none (%d)", err);
	}
	numamem_here(&cpu, &node);
	ok(cpu >= 0 && cpu < sysconf(_SC_NPROCESSORS_CONF) && node >= 0,
	   "this thread is on CPU %d of node %d", cpu, node);
	munmap(p, PMD_SIZE);
}

static void forbidden(int err)
{
	struct numamem_task before;
	void *p = map(-1);

	ok(err == -EPERM || err == -ENOSYS, "policies are forbidden (%d)", err);
	ok(numamem_bind(p, PMD_SIZE, &interleave, -1) == err, "interleaving, too");
	err = numamem_task_set(&before, NULL, 0);
	ok((err == -EPERM || err == -ENOSYS) && !before.changed,
	   "and those of threads (%d)", err);
	numamem_task_restore(&before);
	munmap(p, PMD_SIZE);
}

int main(void)
{
	void *p = map(-1);
	int err = numamem_bind(p, PMD_SIZE, NULL, 0);

	munmap(p, PMD_SIZE);
	if (err) {
		forbidden(err);
	} else {
		ranges();
		files();
		threads();
	}
	where();
	return done();
}
