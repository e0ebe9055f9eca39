/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The parts of the kernel and tmpfs engines. */
#ifndef ENGINE_ENGINE_KERNEL_H
#define ENGINE_ENGINE_KERNEL_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/mman.h>

#include "base/reason.h"
#include "engine/engine.h"
#include "sys/numamem.h"

struct kernel_dir;

/* Linux 5.14. */
#ifndef MADV_POPULATE_READ
#define MADV_POPULATE_READ 22
#endif
#ifndef MADV_POPULATE_WRITE
#define MADV_POPULATE_WRITE 23
#endif

struct kernel_state {
	int *fds; /* [nr_files]; -1: the file has no bytes */
};

/* fd -1: the worker has no share. */
struct kernel_worker {
	int fd, uffd;
	uint64_t map_start,
		map_end;	/* of the file: whole PMD ranges, as far as it goes */
	char *base;		/* of the mapping, 2 MiB aligned; NULL: not mapped */
	uint64_t populate;	/* bytes of a window; 0: none */
	uint8_t *populated;	/* a bit a window */
	bool write;		/* what the loop does */
	bool filled;		/* the file was made by kernel_fill(), not by stores */
	uint64_t failed_offset; /* where populating failed */
	/* The policy of the thread, when it had to be changed. */
	struct numamem_task before;
};

/* kernel_spec.c: ops->parse and ops->destroy. */
int kernel_parse(struct engine *engine, struct spec *spec, struct reason *why);
int tmpfs_parse(struct engine *engine, struct spec *spec, struct reason *why);
void kernel_destroy(struct engine *engine);

/* kernel_map.c */

/*
 * What a worker maps of its file: whole PMD ranges, so that huge pages can be mapped
 * whole. Bytes.
 */
void kernel_map_range(const struct engine_setup *setup, const struct share *share,
		      uint64_t *start, uint64_t *end);
/*
 * Maps [@start, @end) of the file shared at an address as aligned to huge pages as the offset is.
 * NULL with errno.
 */
char *kernel_map_aligned(int fd, uint64_t start, uint64_t end);
/* Sets @why to what @error of mmap(2) means; -@error. */
int kernel_cannot_map(int error, struct reason *why);
/*
 * For faultaround=off. Registering a mapping for userfaultfd write-protect, and never protecting
 * anything, has the kernel map one page a fault (uffd_disable_fault_around() of mm/memory.c).
 * Asynchronous write-protect goes with every file system (Linux 6.7), the other kind with tmpfs
 * (5.19). A descriptor or -errno.
 */
int kernel_open_uffd(struct reason *why);
/*
 * Where the pages of the worker's share are to be allocated, by faults or by write(2). On
 * tmpfs that is a policy of that range of the file; files of any other kind have none,
 * and pages of the page cache go by that of the thread that allocates them
 * (shmem_alloc_folio(), filemap_alloc_folio()), which then is that of its page tables,
 * too. Until kernel_unplace(). 0, also where the policy could not be set, which
 * worker->place_err tells; -errno with @why: the file cannot be mapped.
 */
int kernel_place(struct engine_worker *worker, struct reason *why);
void kernel_unplace(struct engine_worker *worker);
/*
 * Gives a mapping the advice of the spec, and registers it with @uffd unless that is -1.
 * 0 or -errno.
 */
int kernel_advise(const struct engine *engine, char *base, size_t bytes, int uffd,
		  struct reason *why);
/* Whether all that the spec asks of a mapping can be had: tried on one of a page. 0 or -errno. */
int kernel_try_mapping(const struct engine *engine, const struct kernel_dir *dir,
		       struct reason *why);

#endif
