/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "sys/tmpfs.h"

#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/bits.h"
#include "sys/mount.h"

/* What the child does, in this order; what it tells is the step that failed. */
enum step {
	STEP_DIED_WITH, /* prctl(PR_SET_PDEATHSIG) */
	STEP_NAMESPACE, /* unshare(CLONE_NEWNS), on EPERM with CLONE_NEWUSER */
	STEP_SETGROUPS, /* /proc/self/setgroups */
	STEP_UID_MAP,	/* /proc/self/uid_map */
	STEP_GID_MAP,	/* /proc/self/gid_map */
	STEP_MOUNTINFO, /* /proc/self/mountinfo, to be read by the parent */
	STEP_PRIVATE,	/* mount(MS_PRIVATE) of all that there is */
	STEP_MOUNT,	/* mount() of the tmpfs */
	STEP_OPEN,	/* open() of its root */
	STEP_SUCCESS,
};

/* What the child sends, with the descriptors of the root and of its mountinfo on STEP_SUCCESS. */
struct message {
	enum step step;
	int error;
	bool user_namespace;
};

enum { FD_ROOT, FD_MOUNTINFO, NR_FDS };

/* Something to mount over. It is covered in the child's namespace only, so anything will do. */
static const char *const mount_points[] = { "/tmp", "/mnt",  "/run",
					    "/var", "/proc", "/sys" };

/* Room for SCM_RIGHTS, aligned as the kernel wants it. */
union control {
	struct cmsghdr header;
	char space[CMSG_SPACE(NR_FDS * sizeof(int))];
};

/* Everything that the child needs, made before the fork: afterwards it may not allocate. */
struct plan {
	pid_t parent;
	const char *data; /* options of the mount */
	char uid_map[32], gid_map[32];
};

/* Fails as write(2) and open(2) do. Such a file takes one write. */
static bool write_file(const char *path, const char *text)
{
	int fd = open(path, O_WRONLY | O_CLOEXEC), saved;
	ssize_t len = (ssize_t)strlen(text), wrote;

	if (fd < 0)
		return false;
	wrote = write(fd, text, (size_t)len);
	saved = wrote < 0 ? errno : EIO;
	close(fd);
	errno = saved;
	return wrote == len;
}

/* The step that failed, with errno. */
static enum step enter_namespace(const struct plan *plan, bool *user_namespace)
{
	if (!unshare(CLONE_NEWNS))
		return STEP_SUCCESS;
	if (errno != EPERM)
		return STEP_NAMESPACE;
	*user_namespace = true;
	if (unshare(CLONE_NEWUSER | CLONE_NEWNS))
		return STEP_NAMESPACE;
	/*
	 * Without privilege gid_map is only writable without setgroups(2). Not there
	 * before 3.19.
	 */
	if (!write_file("/proc/self/setgroups", "deny") && errno != ENOENT)
		return STEP_SETGROUPS;
	if (!write_file("/proc/self/uid_map", plan->uid_map))
		return STEP_UID_MAP;
	if (!write_file("/proc/self/gid_map", plan->gid_map))
		return STEP_GID_MAP;
	return STEP_SUCCESS;
}

/* What is mounted over; NULL with the errno of mount(2). */
static const char *mount_somewhere(const char *data)
{
	for (size_t i = 0; i < ARRAY_SIZE(mount_points); i++) {
		if (!mount("pagezone", mount_points[i], "tmpfs", MS_NOSUID | MS_NODEV,
			   data))
			return mount_points[i];
		if (errno != ENOENT && errno != ENOTDIR)
			break;
	}
	return NULL;
}

/* In the child. The step that failed, with errno. */
static enum step make_mount(const struct plan *plan, bool *user_namespace,
			    int fds[NR_FDS])
{
	enum step step;
	const char *point;

	if (prctl(PR_SET_PDEATHSIG, SIGKILL))
		return STEP_DIED_WITH;
	if (getppid() != plan->parent)
		_exit(0);
	step = enter_namespace(plan, user_namespace);
	if (step != STEP_SUCCESS)
		return step;
	/* Before the mount, which may cover /proc. It shows what is mounted when it is read. */
	fds[FD_MOUNTINFO] = open("/proc/self/mountinfo", O_RDONLY | O_CLOEXEC);
	if (fds[FD_MOUNTINFO] < 0)
		return STEP_MOUNTINFO;
	/* A namespace's mounts are copies, but those that are shared pass new mounts on. */
	if (mount("none", "/", NULL, MS_REC | MS_PRIVATE, NULL))
		return STEP_PRIVATE;
	point = mount_somewhere(plan->data);
	if (!point)
		return STEP_MOUNT;
	fds[FD_ROOT] = open(point, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	return fds[FD_ROOT] < 0 ? STEP_OPEN : STEP_SUCCESS;
}

/* The child: only what may follow a fork() of one thread of many. */
static _Noreturn void child(const struct plan *plan, int socket)
{
	struct message message = { 0 };
	struct iovec iov = { .iov_base = &message, .iov_len = sizeof(message) };
	struct msghdr header = { .msg_iov = &iov, .msg_iovlen = 1 };
	union control control = { 0 };
	int fds[NR_FDS];

	message.step = make_mount(plan, &message.user_namespace, fds);
	message.error = errno;
	if (message.step == STEP_SUCCESS) {
		header.msg_control = &control;
		header.msg_controllen = sizeof(control);
		control.header.cmsg_level = SOL_SOCKET;
		control.header.cmsg_type = SCM_RIGHTS;
		control.header.cmsg_len = CMSG_LEN(sizeof(fds));
		memcpy(CMSG_DATA(&control.header), fds, sizeof(fds));
	}
	_exit(sendmsg(socket, &header, MSG_NOSIGNAL) < 0 ? errno : 0);
}

/* Takes the message; the descriptors, which are close-on-exec, are -1 where none came. */
static int receive(int socket, struct message *message, int fds[NR_FDS],
		   struct reason *why)
{
	struct iovec iov = { .iov_base = message, .iov_len = sizeof(*message) };
	union control control = { 0 };
	struct msghdr header = { .msg_iov = &iov,
				 .msg_iovlen = 1,
				 .msg_control = &control,
				 .msg_controllen = sizeof(control) };
	struct cmsghdr *rights;
	ssize_t len;
	int err;

	/* The child has ended: what it sent is there, or nothing comes any more. */
	len = recvmsg(socket, &header, MSG_CMSG_CLOEXEC | MSG_DONTWAIT);
	if (len < 0 && errno != EAGAIN) {
		err = errno;
		return reason_set(
			why, -err,
			"cannot receive the mount from the process that made it: %s",
			strerror(err));
	}
	if (len != sizeof(*message))
		return reason_set(
			why, -ECHILD,
			"the process that mounts a tmpfs ended without an answer");
	rights = CMSG_FIRSTHDR(&header);
	if (rights && rights->cmsg_level == SOL_SOCKET && rights->cmsg_type == SCM_RIGHTS)
		memcpy(fds, CMSG_DATA(rights),
		       min_u64(NR_FDS * sizeof(int), rights->cmsg_len - CMSG_LEN(0)));
	if (message->step == STEP_SUCCESS && (fds[FD_ROOT] < 0 || fds[FD_MOUNTINFO] < 0))
		return reason_set(
			why, -EMFILE,
			"cannot receive the mount from the process that made it: too many "
			"open files; raise the limit (ulimit -n)");
	return 0;
}

/* Names all that forbids namespaces: EPERM and EACCES do not tell which it was. */
static int forbidden(int err, const char *what, struct reason *why)
{
	return reason_set(
		why, -err,
		"%s: %s; namespaces are forbidden here: see /proc/sys/user/max_user_namespaces, the "
		"sysctls kernel.unprivileged_userns_clone and "
		"kernel.apparmor_restrict_unprivileged_userns, and a container's seccomp filter; a chroot forbids them too",
		what, strerror(err));
}

static int explain_namespace(int err, bool user_namespace, struct reason *why)
{
	const char *what = user_namespace ? "cannot make a user and mount namespace" :
					    "cannot make a mount namespace";

	switch (err) {
	case ENOSPC: /* as many as max_user_namespaces or max_mnt_namespaces says */
	case EUSERS: /* the same before Linux 4.9 */
		return reason_set(why, -err,
				  "%s: there are too many, or none are allowed: see "
				  "/proc/sys/user/max_user_namespaces and "
				  "/proc/sys/user/max_mnt_namespaces",
				  what);
	case EINVAL:
		return reason_set(
			why, -err,
			"%s: the kernel has none (CONFIG_USER_NS, CONFIG_NAMESPACES)",
			what);
	case ENOMEM:
		return reason_set(why, -err, "%s: %s", what, strerror(err));
	default:
		return forbidden(err, what, why);
	}
}

/* Whether the kernel does not know huge= at all: /sys then has no switch for it. */
static bool lacks_huge(void)
{
	return access("/sys/kernel/mm", F_OK) == 0 &&
	       access("/sys/kernel/mm/transparent_hugepage/shmem_enabled", F_OK) != 0;
}

static int explain_mount(int err, bool user_namespace, const char *options,
			 struct reason *why)
{
	char huge[32];

	switch (err) {
	case EPERM:
	case EACCES:
		if (user_namespace)
			return forbidden(err, "cannot mount a tmpfs in a user namespace",
					 why);
		return reason_set(
			why, -err,
			"cannot mount a tmpfs: %s; a security module or a container's seccomp "
			"filter forbids it",
			strerror(err));
	case EINVAL:
		if (mount_option(options, "huge", huge, sizeof(huge)) && lacks_huge())
			return reason_set(
				why, -err,
				"cannot mount a tmpfs with huge=%s: this kernel has no "
				"transparent huge pages (CONFIG_TRANSPARENT_HUGEPAGE)",
				huge);
		return reason_set(
			why, -err,
			"cannot mount a tmpfs: the kernel does not take one of the options "
			"\"%s\"",
			options);
	case ENODEV:
		return reason_set(
			why, -err,
			"cannot mount a tmpfs: the kernel has none (CONFIG_TMPFS)");
	case ENOSPC:
		return reason_set(
			why, -err,
			"cannot mount a tmpfs: too many mounts; raise the sysctl fs.mount-max");
	case ENOENT:
	case ENOTDIR:
		return reason_set(
			why, -err,
			"cannot mount a tmpfs: none of /tmp, /mnt, /run, /var, /proc and /sys "
			"is a directory");
	default:
		return reason_set(why, -err, "cannot mount a tmpfs: %s", strerror(err));
	}
}

static int explain(const struct message *message, const char *options, struct reason *why)
{
	const int err = message->error;

	switch (message->step) {
	case STEP_NAMESPACE:
		return explain_namespace(err, message->user_namespace, why);
	case STEP_SETGROUPS:
		return forbidden(err,
				 "cannot write /proc/self/setgroups of a user namespace",
				 why);
	case STEP_UID_MAP:
		return forbidden(
			err, "cannot write /proc/self/uid_map of a user namespace", why);
	case STEP_GID_MAP:
		return forbidden(
			err, "cannot write /proc/self/gid_map of a user namespace", why);
	case STEP_MOUNTINFO:
		return reason_set(why, -err, "cannot open /proc/self/mountinfo: %s%s",
				  strerror(err), err == ENOENT ? "; mount /proc" : "");
	case STEP_PRIVATE:
		if (err == EINVAL)
			return reason_set(
				why, -err,
				"cannot make the mounts of a new namespace private: / is no "
				"mount point (in a chroot, bind-mount its root on itself)");
		/* What AppArmor forbids in user namespaces is refused here first. */
		if (message->user_namespace)
			return forbidden(
				err, "cannot make the mounts of a user namespace private",
				why);
		return reason_set(
			why, -err,
			"cannot make the mounts of a new namespace private: %s; a security "
			"module or a container's seccomp filter forbids it",
			strerror(err));
	case STEP_MOUNT:
		return explain_mount(err, message->user_namespace, options, why);
	case STEP_OPEN:
		return reason_set(why, -err, "cannot open the tmpfs that was mounted: %s",
				  strerror(err));
	default:
		return reason_set(why, -err,
				  "cannot watch the process that mounts a tmpfs: %s",
				  strerror(err));
	}
}

/* Waits for the end of the child, whatever it says by its status. */
static int reap(pid_t pid, struct reason *why)
{
	int status, err;

	while (waitpid(pid, &status, 0) < 0) {
		if (errno == EINTR)
			continue;
		/* Where SIGCHLD is ignored the kernel reaps, and this returns after the end. */
		if (errno == ECHILD)
			return 0;
		err = errno;
		return reason_set(why, -err,
				  "cannot wait for the process that mounts a tmpfs: %s",
				  strerror(err));
	}
	if (WIFSIGNALED(status))
		return reason_set(
			why, -EINTR,
			"the process that mounts a tmpfs was killed by signal %d (%s)",
			WTERMSIG(status), strsignal(WTERMSIG(status)));
	if (WEXITSTATUS(status)) {
		err = WEXITSTATUS(status);
		return reason_set(
			why, -err, "the process that mounts a tmpfs cannot send it: %s%s",
			strerror(err),
			err == ETOOMANYREFS ? "; raise the limit (ulimit -n)" : "");
	}
	return 0;
}

/* The mount's line, from the namespace in which it is. Closes @mountinfo. */
static int describe_private(int fd, int mountinfo, char **description, struct reason *why)
{
	FILE *file = fdopen(mountinfo, "r");
	struct mount_info info;
	bool found;

	if (!file) {
		close(mountinfo);
		goto no_memory;
	}
	found = mount_find(file, "", fd, &info);
	fclose(file);
	if (!found)
		return reason_set(
			why, -ENOENT,
			"cannot find the tmpfs that was mounted in its /proc/self/mountinfo");
	if (asprintf(description, "%s %s", info.type, info.options) < 0)
		goto no_memory;
	return 0;

no_memory:
	*description = NULL;
	return reason_set(why, -ENOMEM, "no memory to describe a mount");
}

/* Starts the child and waits for its end. */
static int run_child(const struct plan *plan, const int sockets[2], struct reason *why)
{
	sigset_t all, old;
	pid_t pid;
	int err;

	/*
	 * The caller's signal handlers must not run in the child, on a ^C for instance, nor do the
	 * fork handlers of libraries: ThreadSanitizer's starts a thread, with which there is no
	 * user namespace.
	 */
	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, &old);
	pid = _Fork();
	if (!pid)
		child(plan, sockets[1]);
	err = errno;
	pthread_sigmask(SIG_SETMASK, &old, NULL);
	if (pid < 0)
		return reason_set(why, -err,
				  "cannot start a process that mounts a tmpfs: %s%s",
				  strerror(err),
				  err == EAGAIN ?
					  "; raise the limit of processes (ulimit -u)" :
					  "");
	return reap(pid, why);
}

int mount_private_tmpfs(const char *options, char **description, struct reason *why)
{
	int sockets[2], fds[NR_FDS] = { -1, -1 }, err;
	struct plan plan = { .parent = getpid() };
	struct message message;
	char *data;

	*description = NULL;
	/* The kernel takes a page of options, cut without a word. */
	if (strlen(options) > 4000)
		return reason_set(why, -E2BIG,
				  "cannot mount a tmpfs: its options are too long");
	snprintf(plan.uid_map, sizeof(plan.uid_map), "0 %u 1", geteuid());
	snprintf(plan.gid_map, sizeof(plan.gid_map), "0 %u 1", getegid());
	if (asprintf(&data, "mode=0700%s%s", *options ? "," : "", options) < 0)
		return reason_set(why, -ENOMEM, "no memory to mount a tmpfs");
	plan.data = data;
	if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, sockets)) {
		err = errno;
		free(data);
		return reason_set(why, -err,
				  "cannot make a pair of sockets to mount a tmpfs: %s%s",
				  strerror(err),
				  err == EMFILE ? "; raise the limit (ulimit -n)" : "");
	}
	err = run_child(&plan, sockets, why);
	if (!err)
		err = receive(sockets[0], &message, fds, why);
	if (!err && message.step != STEP_SUCCESS)
		err = explain(&message, options, why);
	close(sockets[0]);
	close(sockets[1]);
	free(data);
	if (!err) {
		int mountinfo = fds[FD_MOUNTINFO];

		fds[FD_MOUNTINFO] = -1;
		err = describe_private(fds[FD_ROOT], mountinfo, description, why);
	}
	if (!err)
		return fds[FD_ROOT];
	for (unsigned i = 0; i < NR_FDS; i++) {
		if (fds[i] >= 0)
			close(fds[i]);
	}
	return err;
}
