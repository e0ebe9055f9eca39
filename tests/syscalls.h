/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The system calls and the errors that tests/deny and tests/failonce know by name. */
#ifndef TESTS_SYSCALLS_H
#define TESTS_SYSCALLS_H

#include <errno.h>
#include <fcntl.h>
#include <linux/audit.h>
#include <linux/userfaultfd.h>
#include <sched.h>
#include <signal.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>

#if defined(__x86_64__)
#define THIS_ARCH AUDIT_ARCH_X86_64
#elif defined(__aarch64__)
#define THIS_ARCH AUDIT_ARCH_AARCH64
#endif

enum { EXIT_USAGE = 125, EXIT_EXEC = 126, EXIT_NOT_FOUND = 127, EXIT_SKIP = 77 };

/* Meant when ((argument & mask) == value); a mask of 0 is always. */
struct call {
	const char *name;
	unsigned number;
	unsigned argument;
	uint32_t mask, value;
};

/* clang-format off */
#define CALL(call) { .name = #call, .number = __NR_##call }
/* clang-format on */

static const struct call calls[] = {
	CALL(clone),
	{ "clone:newuser", __NR_clone, 0, CLONE_NEWUSER, CLONE_NEWUSER },
	/* With clone3=ENOSYS: what glibc then starts threads by. */
	{ "clone:thread", __NR_clone, 0, CLONE_THREAD, CLONE_THREAD },
#ifdef __NR_clone3
	CALL(clone3),
#endif
	CALL(close),
	CALL(copy_file_range),
	CALL(execve),
	CALL(fadvise64),
	CALL(fallocate),
	CALL(fdatasync),
	CALL(fstatfs),
	CALL(fsync),
	CALL(ftruncate),
	CALL(get_mempolicy),
	CALL(getcpu),
	CALL(getrandom),
	CALL(getrusage),
	{ "ioctl:uffdio-api", __NR_ioctl, 1, UINT32_MAX, (uint32_t)UFFDIO_API },
	{ "ioctl:uffdio-register", __NR_ioctl, 1, UINT32_MAX, (uint32_t)UFFDIO_REGISTER },
	CALL(linkat),
	CALL(madvise),
	{ "madvise:hugepage", __NR_madvise, 2, UINT32_MAX, MADV_HUGEPAGE },
	{ "madvise:populate", __NR_madvise, 2, UINT32_MAX, 23 }, /* MADV_POPULATE_WRITE */
	{ "madvise:populate-read", __NR_madvise, 2, UINT32_MAX, 22 },
	CALL(mbind),
	CALL(membarrier),
	CALL(memfd_create),
	CALL(migrate_pages),
	CALL(mkdirat),
	CALL(mlock),
	CALL(mmap),
	{ "mmap:none", __NR_mmap, 2, UINT32_MAX, PROT_NONE },
	{ "mmap:shared", __NR_mmap, 3, 0xf, MAP_SHARED },
	{ "mmap:shared-file", __NR_mmap, 3, 0xf | MAP_ANONYMOUS, MAP_SHARED },
	{ "mmap:shared-anonymous", __NR_mmap, 3, 0xf | MAP_ANONYMOUS,
	  MAP_SHARED | MAP_ANONYMOUS },
	{ "mmap:anonymous", __NR_mmap, 3, MAP_ANONYMOUS, MAP_ANONYMOUS },
	CALL(mount),
	CALL(move_pages),
	CALL(mprotect),
	CALL(mremap),
	CALL(munmap),
	CALL(openat),
	{ "openat:create", __NR_openat, 2, O_CREAT, O_CREAT },
	{ "openat:tmpfile", __NR_openat, 2, O_TMPFILE, O_TMPFILE },
	{ "openat:write", __NR_openat, 2, O_WRONLY | O_RDWR, O_WRONLY },
	{ "openat:directory", __NR_openat, 2, O_DIRECTORY | O_PATH | O_TMPFILE,
	  O_DIRECTORY },
	{ "openat:path", __NR_openat, 2, O_PATH, O_PATH },
	CALL(perf_event_open),
	{ "prctl:pdeathsig", __NR_prctl, 0, UINT32_MAX, PR_SET_PDEATHSIG },
	CALL(pread64),
	CALL(prlimit64),
	{ "prlimit64:fsize", __NR_prlimit64, 1, UINT32_MAX, RLIMIT_FSIZE },
	{ "prlimit64:nofile", __NR_prlimit64, 1, UINT32_MAX, RLIMIT_NOFILE },
	CALL(process_madvise),
	CALL(pwrite64),
	CALL(read),
	CALL(recvmsg),
#ifdef __NR_rename
	CALL(rename),
#endif
	CALL(renameat),
	CALL(renameat2),
	{ "rt_sigaction:bus", __NR_rt_sigaction, 0, UINT32_MAX, SIGBUS },
	CALL(sched_getaffinity),
	CALL(sched_setaffinity),
	CALL(sched_setscheduler),
	CALL(sendmsg),
	CALL(set_mempolicy),
	CALL(setns),
	CALL(socketpair),
	CALL(statfs),
	CALL(sync_file_range),
	CALL(sysinfo),
	CALL(truncate),
	CALL(umount2),
#ifdef __NR_unlink
	CALL(unlink),
#endif
	CALL(unlinkat),
	CALL(unshare),
	{ "unshare:newuser", __NR_unshare, 0, CLONE_NEWUSER, CLONE_NEWUSER },
	CALL(userfaultfd),
	CALL(wait4),
	CALL(write),
};

#define NR_CALLS (sizeof(calls) / sizeof(calls[0]))

static const struct {
	const char *name;
	int number;
} errors[] = {
	{ "EACCES", EACCES },
	{ "EAGAIN", EAGAIN },
	{ "EBADF", EBADF },
	{ "EBUSY", EBUSY },
	{ "ECHILD", ECHILD },
	{ "EDQUOT", EDQUOT },
	{ "EEXIST", EEXIST },
	{ "EFAULT", EFAULT },
	{ "EFBIG", EFBIG },
	{ "EINTR", EINTR },
	{ "EINVAL", EINVAL },
	{ "EIO", EIO },
	{ "EISDIR", EISDIR },
	{ "ELOOP", ELOOP },
	{ "EMFILE", EMFILE },
	{ "EMSGSIZE", EMSGSIZE },
	{ "ENAMETOOLONG", ENAMETOOLONG },
	{ "ENFILE", ENFILE },
	{ "ENOBUFS", ENOBUFS },
	{ "ENODEV", ENODEV },
	{ "ENOENT", ENOENT },
	{ "ENOMEM", ENOMEM },
	{ "ENOSPC", ENOSPC },
	{ "ENOSYS", ENOSYS },
	{ "ENOTDIR", ENOTDIR },
	{ "ENXIO", ENXIO },
	{ "EOPNOTSUPP", EOPNOTSUPP },
	{ "EOVERFLOW", EOVERFLOW },
	{ "EPERM", EPERM },
	{ "EPIPE", EPIPE },
	{ "EROFS", EROFS },
	{ "ESRCH", ESRCH },
	{ "ETOOMANYREFS", ETOOMANYREFS },
	{ "ETXTBSY", ETXTBSY },
	{ "EUSERS", EUSERS },
};

/* NULL: there is no such call. */
static inline const struct call *call_find(const char *name)
{
	for (size_t i = 0; i < NR_CALLS; i++) {
		if (!strcmp(name, calls[i].name))
			return &calls[i];
	}
	return NULL;
}

/* A name or a number; 0: neither. */
static inline int error_find(const char *word)
{
	char *end;
	long number;

	for (size_t i = 0; i < sizeof(errors) / sizeof(errors[0]); i++) {
		if (!strcmp(word, errors[i].name))
			return errors[i].number;
	}
	number = strtol(word, &end, 10);
	return *word && !*end && number > 0 && number < 4096 ? (int)number : 0;
}

#endif
