/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Private mounts of tmpfs: what they give, what they leave behind (nothing), and what is said
 * when a step is refused. Descriptions of mounts on made-up machines.
 */
#include "sys/mount.h"
#include "sys/tmpfs.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <grp.h>
#include <linux/magic.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/sysmacros.h>
#include <sys/vfs.h>
#include <sys/wait.h>

#include "base/bits.h"
#include "madeup.h"
#include "sys/sysfile.h"
#include "sys/usage.h"

/* A call that fails, the @nth time that it is made; the linker sends them all here. */
enum call {
	CALL_NONE,
	CALL_FDOPEN,
	CALL_FORK,
	CALL_MOUNT,
	CALL_OPEN,
	CALL_PRCTL,
	CALL_RECVMSG,
	CALL_SENDMSG,
	CALL_SOCKETPAIR,
	CALL_UNSHARE,
	CALL_WAITPID,
	CALL_WRITE,
	NR_CALLS,
};

enum { KILL = -1 };

struct failure {
	enum call call;
	unsigned nth;
	int error;		 /* KILL: the process dies instead */
	bool no_privilege;	 /* the first unshare() fails, whoever runs this */
	const char *text, *more; /* both in the reason */
	int result; /* -errno when it is not @error; 1: succeeds nevertheless */
};

static struct failure now;
static unsigned nr_calls[NR_CALLS];

static bool fails(enum call call)
{
	unsigned nth = ++nr_calls[call];

	if (call == CALL_UNSHARE && now.no_privilege && nth == 1) {
		errno = EPERM;
		return true;
	}
	if (call != now.call || nth != now.nth)
		return false;
	if (now.error == KILL)
		raise(SIGKILL);
	errno = now.error;
	return true;
}

#define WRAP(type, name, CALL, failed, parameters, ...) \
	type __real_##name parameters;                  \
	type __wrap_##name parameters;                  \
	type __wrap_##name parameters                   \
	{                                               \
		if (fails(CALL))                        \
			return failed;                  \
		return __real_##name(__VA_ARGS__);      \
	}

WRAP(FILE *, fdopen, CALL_FDOPEN, NULL, (int fd, const char *mode), fd, mode)
WRAP(pid_t, _Fork, CALL_FORK, -1, (void))
WRAP(int, mount, CALL_MOUNT, -1,
     (const char *source, const char *target, const char *type, unsigned long flags,
      const void *data),
     source, target, type, flags, data)
WRAP(int, open, CALL_OPEN, -1, (const char *path, int flags, mode_t mode), path, flags,
     mode)
WRAP(int, prctl, CALL_PRCTL, -1,
     (int option, unsigned long a, unsigned long b, unsigned long c, unsigned long d),
     option, a, b, c, d)
WRAP(ssize_t, recvmsg, CALL_RECVMSG, -1, (int fd, struct msghdr *message, int flags), fd,
     message, flags)
WRAP(ssize_t, sendmsg, CALL_SENDMSG, -1,
     (int fd, const struct msghdr *message, int flags), fd, message, flags)
WRAP(int, socketpair, CALL_SOCKETPAIR, -1,
     (int domain, int type, int protocol, int fds[2]), domain, type, protocol, fds)
WRAP(int, unshare, CALL_UNSHARE, -1, (int flags), flags)
WRAP(pid_t, waitpid, CALL_WAITPID, -1, (pid_t pid, int *status, int options), pid, status,
     options)
WRAP(ssize_t, write, CALL_WRITE, -1, (int fd, const void *buffer, size_t len), fd, buffer,
     len)

static unsigned nr_open_files(void)
{
	DIR *dir = opendir("/proc/self/fd");
	unsigned nr = 0;

	if (!dir)
		bail("no /proc/self/fd");
	while (readdir(dir))
		nr++;
	closedir(dir);
	return nr;
}

static bool has_child(void)
{
	return waitpid(-1, NULL, WNOHANG) >= 0 || errno != ECHILD;
}

static char *mountinfo_text(void)
{
	static char text[2][65536];
	static unsigned which;
	FILE *file = fopen("/proc/self/mountinfo", "r");
	char *to = text[which ^= 1];
	size_t len;

	if (!file)
		bail("no /proc/self/mountinfo");
	len = fread(to, 1, sizeof(text[0]) - 1, file);
	to[len] = '\0';
	fclose(file);
	return to;
}

static int new_file(int fd, off_t size)
{
	int file = openat(fd, ".", O_TMPFILE | O_RDWR | O_CLOEXEC, 0600);

	if (file >= 0 && ftruncate(file, size)) {
		close(file);
		return -1;
	}
	return file;
}

/* NULL: as it should be, else what is wrong. */
static const char *check_root(int fd, const char *description)
{
	struct mount_info info;
	struct statfs fs;
	struct stat st;

	if (fstatfs(fd, &fs) || fs.f_type != TMPFS_MAGIC)
		return "it is no tmpfs";
	if (fs.f_blocks * (uint64_t)fs.f_bsize != 16 << 20)
		return "its size is not what was asked for";
	if (fstat(fd, &st) || (st.st_mode & 07777) != 0700 || st.st_uid != geteuid())
		return "its root is not this user's own";
	if (fcntl(fd, F_GETFD) != FD_CLOEXEC)
		return "it is not close-on-exec";
	if (strncmp(description, "tmpfs rw,nosuid,nodev", 21) ||
	    !strstr(description, ",size=16384k"))
		return "its description is not the kernel's";
	if (mount_describe("", fd, &info))
		return "this process sees it";
	return NULL;
}

static const char *check_files(int fd)
{
	int file = new_file(fd, 32 << 20);
	const char *bad = NULL;
	char c = 0;

	if (file < 0)
		return "a file cannot be made on it";
	if (pwrite(file, "x", 1, 5) != 1 || pread(file, &c, 1, 5) != 1 || c != 'x')
		bad = "a file cannot be written";
	else if (fallocate(file, 0, 0, 15 << 20))
		bad = "there is less room than asked for";
	else if (!fallocate(file, 0, 0, 17 << 20) || errno != ENOSPC)
		bad = "there is more room than asked for";
	close(file);
	return bad;
}

/* Everything about a mount; NULL or what is wrong, or the reason in @why when there is none. */
static const char *check_mount(struct reason *why)
{
	unsigned nr_files = nr_open_files();
	const char *before = mountinfo_text(), *bad;
	char *description = NULL, *other;
	struct stat st, st2;
	int fd, fd2;

	fd = mount_private_tmpfs("size=16m", &description, why);
	if (fd < 0)
		return why->text;
	bad = check_root(fd, description);
	if (!bad)
		bad = check_files(fd);
	if (!bad && strcmp(before, mountinfo_text()))
		bad = "the mounts of this process changed";
	if (!bad && has_child())
		bad = "a child is left";
	if (!bad && nr_open_files() != nr_files + 1)
		bad = "more than one descriptor is left";
	if (!bad) {
		fd2 = mount_private_tmpfs("size=16m", &other, why);
		if (fd2 < 0)
			bad = "there cannot be two";
		else if (fstat(fd, &st) || fstat(fd2, &st2) || st.st_dev == st2.st_dev)
			bad = "two are the same";
		close(fd2);
		free(other);
	}
	free(description);
	close(fd);
	return bad;
}

/* The same as somebody without privilege, in a child. */
static void unprivileged(void)
{
	struct reason why = { "" };
	const char *bad;
	char text[sizeof(why.text)] = "";
	int pipes[2], status;
	pid_t pid;

	if (geteuid()) {
		skip("nobody less privileged to become", 1);
		return;
	}
	if (pipe(pipes))
		bail("no pipe");
	pid = fork();
	if (pid < 0)
		bail("no child");
	if (!pid) {
		if (setgroups(0, NULL) || setresgid(65534, 65534, 65534) ||
		    setresuid(65534, 65534, 65534))
			_exit(2);
		/* As after an exec: /proc/self is this user's. */
		prctl(PR_SET_DUMPABLE, 1, 0, 0, 0);
		bad = check_mount(&why);
		if (bad && write(pipes[1], bad, strlen(bad)) < 0)
			_exit(3);
		_exit(!bad ? 0 : *why.text ? 77 : 1);
	}
	close(pipes[1]);
	waitpid(pid, &status, 0);
	if (read(pipes[0], text, sizeof(text) - 1) < 0)
		bail("nothing to read");
	close(pipes[0]);
	if (WIFEXITED(status) && WEXITSTATUS(status) == 77)
		skip(text, 1);
	else
		ok(!status, "a private mount without privilege %s", text);
}

static volatile sig_atomic_t nr_signals;

static void on_signal(int sig)
{
	nr_signals++;
}

/* The caller's handling of signals is neither changed nor in the way. */
static void signals(void)
{
	static const struct {
		const char *name;
		void (*handler)(int sig);
	} cases[] = { { "ignored", SIG_IGN },
		      { "handled", on_signal },
		      { "as ever", SIG_DFL } };
	struct reason why = { "" };
	char *description;

	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		struct sigaction action = { .sa_handler = cases[i].handler }, after;
		sigset_t mask, mask_after;
		int fd;

		sigemptyset(&mask);
		sigaddset(&mask, SIGUSR1);
		pthread_sigmask(SIG_SETMASK, &mask, NULL);
		sigaction(SIGCHLD, &action, NULL);
		fd = mount_private_tmpfs("", &description, &why);
		sigaction(SIGCHLD, NULL, &after);
		pthread_sigmask(SIG_SETMASK, NULL, &mask_after);
		ok(fd >= 0 && after.sa_handler == action.sa_handler &&
			   sigismember(&mask_after, SIGUSR1) == 1 &&
			   !sigismember(&mask_after, SIGINT),
		   "SIGCHLD %s, and so it stays", cases[i].name);
		close(fd);
		free(description);
	}
}

/* One descriptor after the other is refused by the limit itself. */
static void few_files(void)
{
	unsigned nr_files = nr_open_files(), nr_refused = 0;
	struct rlimit limit, low;
	char *description;
	int fd = -1;

	getrlimit(RLIMIT_NOFILE, &limit);
	low = limit;
	for (low.rlim_cur = 3; low.rlim_cur < 64 && fd < 0; low.rlim_cur++) {
		struct reason why = { "" };

		setrlimit(RLIMIT_NOFILE, &low);
		fd = mount_private_tmpfs("", &description, &why);
		setrlimit(RLIMIT_NOFILE, &limit);
		if (fd >= 0 || description || nr_open_files() != nr_files || has_child())
			break;
		if (!strstr(why.text, "ulimit -n") && !strstr(why.text, "Too many open"))
			break;
		nr_refused++;
	}
	ok(fd >= 0 && nr_refused >= 2, "too many open files, at %u limits", nr_refused);
	close(fd);
	free(description);
}

static void options(void)
{
	struct reason why = { "" };
	char *description, longest[5000];
	int fd;

	fd = mount_private_tmpfs("size=1m,bogus=7", &description, &why);
	ok(fd == -EINVAL && !description, "an option that is not known");
	ok(strstr(why.text, "\"size=1m,bogus=7\""), "is told: %s", why.text);
	memset(longest, 'x', sizeof(longest) - 1);
	longest[sizeof(longest) - 1] = '\0';
	fd = mount_private_tmpfs(longest, &description, &why);
	ok(fd == -E2BIG && !description, "more options than a mount takes");
	ok(mount_private_tmpfs(longest, &description, NULL) == -E2BIG,
	   "and nobody needs to ask why");
}

static void huge_pages(void)
{
	const char *const names[] = { "thp_file_fallback" };
	uint64_t before = usage_pmd_mapped_bytes(""), mapped, fallbacks, fallbacks_after;
	struct reason why = { "" };
	char *description, value[32] = "", shmem[128] = "";
	int fd = mount_private_tmpfs("huge=always,size=64m", &description, &why), file;
	char *map, *at;

	if (fd < 0) {
		skip(why.text, 2);
		return;
	}
	ok(mount_option(strchr(description, ' ') + 1, "huge", value, sizeof(value)) &&
		   !strcmp(value, "always"),
	   "huge=always is in the description: %s", description);
	free(description);
	vmstat_read("", names, &fallbacks, 1);
	file = new_file(fd, 2 * PMD_SIZE);
	map = mmap(NULL, 3 * PMD_SIZE, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	at = (char *)align_up((uintptr_t)map, PMD_SIZE);
	if (file < 0 || map == MAP_FAILED ||
	    mmap(at, 2 * PMD_SIZE, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_FIXED, file,
		 0) != at)
		bail("cannot map a file");
	memset(at, 1, 2 * PMD_SIZE);
	mapped = usage_pmd_mapped_bytes("") - before;
	vmstat_read("", names, &fallbacks_after, 1);
	sysfile_line("", "/sys/kernel/mm/transparent_hugepage/shmem_enabled", shmem,
		     sizeof(shmem));
	if (before == UINT64_MAX || strstr(shmem, "[deny]"))
		skip("huge pages of tmpfs are denied, or the kernel does not tell", 1);
	else if (fallbacks != fallbacks_after && mapped < 2 * PMD_SIZE)
		skip("no huge pages free", 1);
	else
		ok(mapped == 2 * PMD_SIZE, "all of a file is PMD-mapped (%llu bytes)",
		   (unsigned long long)mapped);
	munmap(map, 3 * PMD_SIZE);
	close(file);
	close(fd);
}

static const struct failure failures[] = {
	{ CALL_SOCKETPAIR, 1, EMFILE, .text = "sockets", .more = "ulimit -n" },
	{ CALL_SOCKETPAIR, 1, EAFNOSUPPORT, .text = "sockets" },
	{ CALL_SOCKETPAIR, 1, ENOBUFS, .text = "sockets" },
	{ CALL_FORK, 1, EAGAIN, .text = "cannot start a process", .more = "ulimit -u" },
	{ CALL_FORK, 1, ENOMEM, .text = "cannot start a process", .more = "memory" },
	{ CALL_PRCTL, 1, EINVAL, .text = "cannot watch the process" },
	{ CALL_UNSHARE, 1, ENOSPC, .text = "a mount namespace",
	  .more = "max_mnt_namespaces" },
	{ CALL_UNSHARE, 1, ENOMEM, .text = "a mount namespace", .more = "memory" },
	{ CALL_UNSHARE, 1, ENOSYS, .text = "a mount namespace", .more = "seccomp" },
	{ CALL_UNSHARE, 2, EPERM, .no_privilege = true,
	  .text = "a user and mount namespace", .more = "seccomp" },
	{ CALL_UNSHARE, 2, EACCES, .no_privilege = true,
	  .text = "a user and mount namespace", .more = "apparmor" },
	{ CALL_UNSHARE, 2, EINVAL, .no_privilege = true,
	  .text = "a user and mount namespace", .more = "CONFIG_USER_NS" },
	{ CALL_UNSHARE, 2, ENOSPC, .no_privilege = true, .text = "user and mount",
	  .more = "max_user_namespaces" },
	{ CALL_UNSHARE, 2, EUSERS, .no_privilege = true, .text = "user and mount",
	  .more = "max_user_namespaces" },
	{ CALL_UNSHARE, 2, ENOMEM, .no_privilege = true, .text = "user and mount",
	  .more = "memory" },
	{ CALL_OPEN, 1, EACCES, .no_privilege = true, .text = "setgroups",
	  .more = "unprivileged_userns_clone" },
	{ CALL_OPEN, 2, EACCES, .no_privilege = true, .text = "uid_map",
	  .more = "max_user_namespaces" },
	{ CALL_OPEN, 3, EACCES, .no_privilege = true, .text = "gid_map",
	  .more = "apparmor_restrict_unprivileged_userns" },
	{ CALL_WRITE, 1, EPERM, .no_privilege = true, .text = "setgroups",
	  .more = "forbidden" },
	{ CALL_WRITE, 2, EPERM, .no_privilege = true, .text = "uid_map",
	  .more = "forbidden" },
	{ CALL_WRITE, 3, EPERM, .no_privilege = true, .text = "gid_map",
	  .more = "forbidden" },
	{ CALL_OPEN, 4, ENOENT, .no_privilege = true, .text = "/proc/self/mountinfo",
	  .more = "mount /proc" },
	{ CALL_OPEN, 4, EMFILE, .no_privilege = true, .text = "/proc/self/mountinfo",
	  .more = "Too many open files" },
	{ CALL_MOUNT, 1, EINVAL, .text = "private", .more = "chroot" },
	{ CALL_MOUNT, 1, EPERM, .text = "private", .more = "seccomp" },
	{ CALL_MOUNT, 1, EACCES, .no_privilege = true, .text = "private",
	  .more = "apparmor" },
	{ CALL_MOUNT, 2, ENOENT, .result = 1 },
	{ CALL_MOUNT, 2, ENOTDIR, .result = 1 },
	{ CALL_MOUNT, 2, EPERM, .no_privilege = true, .text = "in a user namespace",
	  .more = "apparmor" },
	{ CALL_MOUNT, 2, EACCES, .no_privilege = true, .text = "in a user namespace",
	  .more = "seccomp" },
	{ CALL_MOUNT, 2, EINVAL, .text = "one of the options", .more = "\"size=1m\"" },
	{ CALL_MOUNT, 2, ENODEV, .text = "cannot mount a tmpfs", .more = "CONFIG_TMPFS" },
	{ CALL_MOUNT, 2, ENOSPC, .text = "cannot mount a tmpfs", .more = "fs.mount-max" },
	{ CALL_MOUNT, 2, ENOMEM, .text = "cannot mount a tmpfs", .more = "memory" },
	{ CALL_MOUNT, 2, KILL, .text = "killed by signal 9", .result = -EINTR },
	{ CALL_OPEN, 5, EMFILE, .no_privilege = true, .text = "cannot open the tmpfs",
	  .more = "Too many open files" },
	{ CALL_SENDMSG, 1, ENOBUFS, .text = "cannot send it" },
	{ CALL_SENDMSG, 1, ETOOMANYREFS, .text = "cannot send it", .more = "ulimit -n" },
	{ CALL_SENDMSG, 1, KILL, .text = "killed by signal 9", .result = -EINTR },
	{ CALL_WAITPID, 1, EINTR, .result = 1 },
	{ CALL_RECVMSG, 1, ENOMEM, .text = "cannot receive the mount" },
	{ CALL_RECVMSG, 1, EAGAIN, .text = "without an answer", .result = -ECHILD },
	{ CALL_FDOPEN, 1, ENOMEM, .text = "no memory" },
};

static const char *const call_names[NR_CALLS] = {
	[CALL_FDOPEN] = "fdopen",   [CALL_FORK] = "_Fork",
	[CALL_MOUNT] = "mount",	    [CALL_OPEN] = "open",
	[CALL_PRCTL] = "prctl",	    [CALL_RECVMSG] = "recvmsg",
	[CALL_SENDMSG] = "sendmsg", [CALL_SOCKETPAIR] = "socketpair",
	[CALL_UNSHARE] = "unshare", [CALL_WAITPID] = "waitpid",
	[CALL_WRITE] = "write",
};

/* NULL: it failed as it should, else what is wrong. */
static const char *check_failure(const struct failure *failure, struct reason *why)
{
	int wanted = failure->result ? failure->result : -failure->error, fd;
	unsigned nr_files = nr_open_files();
	const char *before = mountinfo_text();
	char *description = NULL;
	bool succeeded;

	memset(nr_calls, 0, sizeof(nr_calls));
	now = *failure;
	fd = mount_private_tmpfs("size=1m", &description, why);
	now = (struct failure){ 0 };
	succeeded = fd >= 0;
	if (succeeded)
		close(fd);
	if (succeeded != !!description)
		return "the description is not to be had exactly on success";
	free(description);
	if (succeeded != (wanted == 1) || (!succeeded && fd != wanted))
		return "it is another error";
	if (has_child())
		return "a child is left";
	if (nr_open_files() != nr_files)
		return "a descriptor is left";
	if (strcmp(before, mountinfo_text()))
		return "the mounts changed";
	if ((failure->text && !strstr(why->text, failure->text)) ||
	    (failure->more && !strstr(why->text, failure->more)) ||
	    strchr(why->text, '\n'))
		return "the reason is another";
	if (strlen(why->text) > sizeof(why->text) - 90)
		return "there is no room left to say what to do instead";
	return NULL;
}

static void refused(void)
{
	for (size_t i = 0; i < ARRAY_SIZE(failures); i++) {
		struct reason why = { "" };
		const char *bad = check_failure(&failures[i], &why);

		ok(!bad, "%s %u: %s%s", call_names[failures[i].call], failures[i].nth,
		   failures[i].error == KILL ? "killed" :
					       strerrorname_np(failures[i].error),
		   failures[i].result == 1 ? " is overcome" : "");
		if (bad)
			printf("# %s: %s\n", bad, why.text);
	}
}

/* A made-up mountinfo; %DEV stands for the device of @fd. */
static void madeup_mounts(int fd, const char *text)
{
	char lines[2048] = "", *to = lines;
	struct stat st;

	fstat(fd, &st);
	while (*text) {
		if (!strncmp(text, "%DEV", 4)) {
			to += sprintf(to, "%u:%u", major(st.st_dev), minor(st.st_dev));
			text += 4;
		} else {
			*to++ = *text++;
		}
	}
	*to = '\0';
	madeup("/proc/self/mountinfo", lines);
}

static void madeup_fd(int fd, const char *fdinfo, const char *link)
{
	char path[PATH_MAX];

	madeup_clear();
	snprintf(path, sizeof(path), "/proc/self/fdinfo/%d", fd);
	if (fdinfo)
		madeup(path, fdinfo);
	madeup("/proc/self/fd", NULL);
	snprintf(path, sizeof(path), "%s/proc/self/fd/%d", madeup_root, fd);
	if (link && symlink(link, path))
		bail("no symbolic link");
}

static void check(int fd, const char *type, const char *point, const char *list,
		  const char *name)
{
	struct mount_info info;
	bool found = mount_describe(madeup_root, fd, &info);

	if (!ok(found == !!type && (!found || (!strcmp(info.type, type) &&
					       !strcmp(info.point, point) &&
					       !strcmp(info.options, list))),
		"%s", name))
		printf("# got: %d '%s' '%s' '%s'\n", found, info.type, info.point,
		       info.options);
}

static void described(void)
{
	int fd = open("/", O_RDONLY | O_DIRECTORY | O_CLOEXEC, 0);
	struct mount_info info;

	if (fd < 0)
		bail("no root directory");
	madeup_fd(fd, NULL, NULL);
	check(fd, NULL, "", "", "no mountinfo: not found");

	madeup_fd(fd, "pos:\t0\nflags:\t0100000\nmnt_id:\t31\nino:\t2\n", "/a/b/file");
	madeup_mounts(
		fd,
		"30 1 %DEV / / rw - ext4 /dev/a rw\n"
		"31 30 0:99 / /a\\040\\134b rw,noatime shared:1 master:2 - fuse.x\\040y z "
		"rw,noatime,size=4k\n"
		"32 30 %DEV / /a rw - xfs /dev/c rw\n");
	check(fd, "fuse.x y", "/a \\b", "rw,noatime,size=4k",
	      "by the id of the mount, escapes undone, options once");
	madeup_fd(fd, "mnt_id:\t77\n", "/");
	madeup_mounts(fd, "30 1 %DEV / / rw - ext4 /dev/a rw\n");
	check(fd, NULL, "", "", "an id that is not there: a private mount");

	madeup_fd(fd, NULL, "/a/b/file");
	madeup_mounts(fd, "30 1 %DEV / / rw - ext4 /dev/a rw\n"
			  "31 30 %DEV / /a rw - ext4 /dev/a ro\n"
			  "32 30 %DEV / /a/bb rw - ext2 /dev/a rw\n"
			  "33 30 0:99 / /a/b rw - xfs /dev/b rw\n");
	check(fd, "ext4", "/a", "rw,ro", "no ids: by device, and by path among those");
	madeup_mounts(fd, "30 1 %DEV / / rw - ext4 /dev/a rw\n"
			  "31 30 %DEV / / ro - xfs /dev/a rw\n");
	check(fd, "xfs", "/", "ro,rw", "the last one covers the others");
	madeup_mounts(fd, "30 1 0:98 / / rw - overlay o rw\n"
			  "31 30 0:99 /@ /a rw - btrfs /dev/b rw,subvol=/@\n"
			  "32 30 0:99 /@ /ab rw - btrfs /dev/b rw,subvol=/c\n");
	check(fd, "btrfs", "/a", "rw,subvol=/@", "devices of its own: by path");
	madeup_mounts(fd, "30 1 0:98 / / rw - ext4 /dev/a rw\n");
	check(fd, NULL, "", "", "another device: not found");
	madeup_fd(fd, NULL, NULL);
	madeup_mounts(fd, "nonsense\n\n1 2 3\n30 1 %DEV / /x rw - ext4 /dev/a rw");
	check(fd, "ext4", "/x", "rw",
	      "no path: by device; damaged lines are passed over");
	close(fd);
	ok(!mount_describe("", -1, &info), "no descriptor: not found");

	fd = open("/proc", O_RDONLY | O_DIRECTORY | O_CLOEXEC, 0);
	ok(mount_describe("", fd, &info) && !strcmp(info.type, "proc") &&
		   !strcmp(info.point, "/proc"),
	   "/proc of this machine is %s %s on %s", info.type, info.options, info.point);
	close(fd);
}

static void values(void)
{
	const char *list = "rw,size=16384k,huge=always,inode64,empty=,mode=700";
	char value[8] = "?";

	ok(mount_option(list, "huge", value, sizeof(value)) && !strcmp(value, "always"),
	   "the value of an option");
	ok(mount_option(list, "mode", value, sizeof(value)) && !strcmp(value, "700"),
	   "the last one");
	ok(mount_option(list, "rw", value, sizeof(value)) && !*value, "a bare one");
	ok(mount_option(list, "empty", value, sizeof(value)) && !*value, "an empty one");
	ok(mount_option(list, "size", value, 4) && !strcmp(value, "163"), "cut to fit");
	ok(!mount_option(list, "hug", value, sizeof(value)) &&
		   !mount_option(list, "inode", value, sizeof(value)) &&
		   !mount_option("", "rw", value, sizeof(value)),
	   "names are whole words");
}

int main(void)
{
	struct reason why = { "" };
	const char *bad;

	described();
	values();
	madeup_end();
	bad = check_mount(&why);
	if (bad && *why.text) {
		ok(!strchr(why.text, '\n'), "no private mount: %s", why.text);
		skip("no private mounts here", 1);
		return done();
	}
	ok(!bad, "a private mount %s", bad ? bad : "");
	unprivileged();
	signals();
	few_files();
	options();
	huge_pages();
	refused();
	return done();
}
