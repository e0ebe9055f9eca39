/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * failonce [--after CALL] [--log FILE] CALL[=ERRNO][@K][,...] -- COMMAND [ARGUMENT...]
 *
 * Runs a command of which one system call fails once with ERRNO, without being made: the K-th
 * (the first, when not given) of those that are meant, of all threads and processes together:
 *
 *	failonce ftruncate=ENOSPC@2 -- pagezone run ...
 *	failonce --after rt_sigaction:bus unshare=EPERM,mount=EINVAL@2 -- pagezone run ...
 *
 * Each item counts for itself, those with --after from the first such CALL on. An item without
 * ERRNO is only counted. The log gets a line an item, "CALL SEEN FAILED": how many calls of it
 * were seen, and how many (0 or 1) failed. The names are those of "deny --list".
 *
 * Which of the calls of several threads is the K-th, is theirs to decide. It is done with a
 * seccomp filter that stops at the calls that are meant, and ptrace. A process that outlives
 * the command is waited for.
 *
 * Exit status: the command's, or 128 and the signal that killed it; 125 for wrong usage, 126
 * and 127 when the command cannot be run or found, 77 where ptrace or seccomp are forbidden.
 */
#include <elf.h>
#include <errno.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <signal.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/ptrace.h>
#include <sys/types.h>
#include <sys/uio.h>
#include <sys/user.h>
#include <sys/wait.h>
#include <unistd.h>

#include "syscalls.h"

#define MAX_ITEMS 16

struct item {
	const struct call *call;
	int error; /* 0: only counted */
	unsigned long wanted, seen, failed;
};

struct plan {
	struct item items[MAX_ITEMS];
	unsigned nr;
	const struct call *after; /* NULL: counted from the start, or it was seen */
	const char *log;
};

static void usage(const char *message, const char *word)
{
	fprintf(stderr, "failonce: %s%s\n", message, word);
	fprintf(stderr, "usage: failonce [--after CALL] [--log FILE] "
			"CALL[=ERRNO][@K][,...] -- COMMAND [ARGUMENT...]\n");
	exit(EXIT_USAGE);
}

static const struct call *parse_call(const char *name)
{
	const struct call *call = call_find(name);

	if (!call)
		usage("not a system call that can fail: ", name);
	return call;
}

static void parse_item(struct item *item, char *text)
{
	char *at = strchr(text, '@'), *equals, *end;

	*item = (struct item){ .wanted = 1 };
	if (at) {
		*at++ = '\0';
		item->wanted = strtoul(at, &end, 10);
		if (!*at || *end || !item->wanted)
			usage("not a number of a call: ", at);
	}
	equals = strchr(text, '=');
	if (equals) {
		*equals++ = '\0';
		item->error = error_find(equals);
		if (!item->error)
			usage("not an error: ", equals);
	}
	item->call = parse_call(text);
}

/* The command; what is before it goes into @plan. */
static char **parse(struct plan *plan, char **argv)
{
	char *save, *text;

	for (; *argv && !strncmp(*argv, "--", 2); argv += 2) {
		if (!strcmp(*argv, "--after") && argv[1])
			plan->after = parse_call(argv[1]);
		else if (!strcmp(*argv, "--log") && argv[1])
			plan->log = argv[1];
		else
			usage("unknown or incomplete: ", *argv);
	}
	if (!argv[0] || !argv[1] || strcmp(argv[1], "--") || !argv[2])
		usage("wants a list of system calls, -- and a command", "");
	for (text = strtok_r(argv[0], ",", &save); text;
	     text = strtok_r(NULL, ",", &save)) {
		if (plan->nr == MAX_ITEMS)
			usage("too many system calls: ", text);
		parse_item(&plan->items[plan->nr++], text);
	}
	return argv + 2;
}

#ifdef THIS_ARCH

/* Stops at the calls of the plan, whatever their arguments. */
static int install(const struct plan *plan)
{
	struct sock_filter code[5 + MAX_ITEMS + 1];
	struct sock_fprog fprog = { .filter = code };
	const unsigned nr = plan->nr + (plan->after != NULL);
	unsigned short len = 0;

	code[len++] = (struct sock_filter)BPF_STMT(BPF_LD | BPF_W | BPF_ABS,
						   offsetof(struct seccomp_data, arch));
	/* Other ABIs are not looked at. */
	code[len++] = (struct sock_filter)BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, THIS_ARCH,
						   0, (uint8_t)(nr + 1));
	code[len++] = (struct sock_filter)BPF_STMT(BPF_LD | BPF_W | BPF_ABS,
						   offsetof(struct seccomp_data, nr));
	for (unsigned i = 0; i < nr; i++)
		code[len++] = (struct sock_filter)BPF_JUMP(
			BPF_JMP | BPF_JEQ | BPF_K,
			i < plan->nr ? plan->items[i].call->number : plan->after->number,
			(uint8_t)(nr - i), 0);
	code[len++] = (struct sock_filter)BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW);
	code[len++] = (struct sock_filter)BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_TRACE);
	fprog.len = len;
	if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) ||
	    prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &fprog, 0, 0))
		return -errno;
	return 0;
}

/* The call that @pid is about to make is not made, and returns @error. */
static void make_fail(pid_t pid, int error)
{
#if defined(__x86_64__)
	ptrace(PTRACE_POKEUSER, pid, offsetof(struct user_regs_struct, orig_rax), -1L);
	ptrace(PTRACE_POKEUSER, pid, offsetof(struct user_regs_struct, rax),
	       -(long)error);
#else
	struct user_regs_struct regs;
	struct iovec iov = { .iov_base = &regs, .iov_len = sizeof(regs) };
	int none = -1;

	ptrace(PTRACE_GETREGSET, pid, NT_PRSTATUS, &iov);
	regs.regs[0] = (unsigned long long)-(long)error;
	ptrace(PTRACE_SETREGSET, pid, NT_PRSTATUS, &iov);
	iov = (struct iovec){ .iov_base = &none, .iov_len = sizeof(none) };
	ptrace(PTRACE_SETREGSET, pid, NT_ARM_SYSTEM_CALL, &iov);
#endif
}

static bool is_meant(const struct call *call, uint64_t number, const uint64_t *arguments)
{
	return call->number == number &&
	       (!call->mask ||
		((uint32_t)arguments[call->argument] & call->mask) == call->value);
}

static void look_at_call(struct plan *plan, pid_t pid)
{
	struct __ptrace_syscall_info info;

	if (ptrace(PTRACE_GET_SYSCALL_INFO, pid, sizeof(info), &info) <= 0 ||
	    info.op != PTRACE_SYSCALL_INFO_SECCOMP)
		return;
	if (plan->after) {
		if (!is_meant(plan->after, info.seccomp.nr, info.seccomp.args))
			return;
		plan->after = NULL;
	}
	for (unsigned i = 0; i < plan->nr; i++) {
		struct item *item = &plan->items[i];

		if (!is_meant(item->call, info.seccomp.nr, info.seccomp.args))
			continue;
		if (++item->seen != item->wanted || !item->error)
			continue;
		make_fail(pid, item->error);
		item->failed++;
	}
}

static bool stops_group(int sig)
{
	return sig == SIGSTOP || sig == SIGTSTP || sig == SIGTTIN || sig == SIGTTOU;
}

/* A stop of @pid, which is made to go on. */
static void handle_stop(struct plan *plan, pid_t pid, int status)
{
	int sig = WSTOPSIG(status), event = status >> 16;

	if (event == PTRACE_EVENT_SECCOMP)
		look_at_call(plan, pid);
	if (event == PTRACE_EVENT_STOP && stops_group(sig))
		ptrace(PTRACE_LISTEN, pid, 0, 0);
	else
		ptrace(PTRACE_CONT, pid, 0, event ? 0L : (long)sig);
}

/* Until all that descend from the command have ended. The status of the command. */
static int trace(struct plan *plan, pid_t command)
{
	int status, result = EXIT_EXEC;
	pid_t pid;

	while ((pid = waitpid(-1, &status, __WALL)) > 0 || errno == EINTR) {
		if (pid <= 0)
			continue;
		if (WIFSTOPPED(status))
			handle_stop(plan, pid, status);
		else if (pid == command)
			result = WIFEXITED(status) ? WEXITSTATUS(status) :
						     128 + WTERMSIG(status);
	}
	return result;
}

static _Noreturn void run(const struct plan *plan, int go, char **command)
{
	char byte;
	int err;

	/* Nothing comes from a parent that cannot trace. */
	if (read(go, &byte, 1) != 1)
		_exit(EXIT_SKIP);
	close(go);
	err = install(plan);
	if (err) {
		fprintf(stderr, "failonce: no seccomp filter: %s\n", strerror(-err));
		_exit(EXIT_SKIP);
	}
	execvp(command[0], command);
	err = errno;
	fprintf(stderr, "failonce: %s: %s\n", command[0], strerror(err));
	_exit(err == ENOENT ? EXIT_NOT_FOUND : EXIT_EXEC);
}

static int start_and_trace(struct plan *plan, char **command)
{
	const long options = PTRACE_O_EXITKILL | PTRACE_O_TRACECLONE |
			     PTRACE_O_TRACEFORK | PTRACE_O_TRACEVFORK |
			     PTRACE_O_TRACEEXEC | PTRACE_O_TRACESECCOMP;
	int go[2];
	pid_t pid;

	if (pipe(go))
		return -errno;
	pid = fork();
	if (pid < 0)
		return -errno;
	if (!pid) {
		close(go[1]);
		run(plan, go[0], command);
	}
	close(go[0]);
	if (ptrace(PTRACE_SEIZE, pid, 0, options) || write(go[1], "", 1) != 1)
		return -errno;
	close(go[1]);
	return trace(plan, pid);
}

#else

static int start_and_trace(struct plan *plan, char **command)
{
	return -ENOSYS;
}

#endif

static void write_log(const struct plan *plan)
{
	FILE *file = fopen(plan->log, "w");

	if (!file) {
		fprintf(stderr, "failonce: %s: %s\n", plan->log, strerror(errno));
		exit(EXIT_USAGE);
	}
	for (unsigned i = 0; i < plan->nr; i++)
		fprintf(file, "%s %lu %lu\n", plan->items[i].call->name,
			plan->items[i].seen, plan->items[i].failed);
	fclose(file);
}

int main(int argc, char **argv)
{
	static struct plan plan;
	char **command = parse(&plan, argv + 1);
	int status = start_and_trace(&plan, command);

	if (status < 0) {
		fprintf(stderr, "failonce: cannot trace: %s\n", strerror(-status));
		return EXIT_SKIP;
	}
	if (plan.log)
		write_log(&plan);
	return status;
}
