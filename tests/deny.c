/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * deny SYSCALL[:WHEN][=ERRNO][,...] -- COMMAND [ARGUMENT...]
 *
 * Runs a command for which the named system calls fail with ERRNO (a name or a number;
 * EPERM when not given), as in a container that forbids them:
 *
 *	deny sched_setaffinity -- pagezone run ...
 *	deny mbind=ENOSYS,set_mempolicy=ENOSYS,madvise:populate=EINVAL -- pagezone run ...
 *
 * A call with a WHEN is denied for some arguments only, where the loader of the command
 * itself needs the others. "deny --list" tells the names. It is done with a seccomp
 * filter, which all children inherit; other ABIs of the machine (i386, x32) get ENOSYS
 * for everything.
 *
 * Exit status: the command's; 125 for wrong usage, 126 and 127 when the command cannot be
 * run or found, 77 when the kernel has no seccomp filters.
 */
#include <errno.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>
#include <unistd.h>

#include "syscalls.h"

/* Where the program is written, with room for every call once. */
struct program {
	struct sock_filter code[8 + 6 * NR_CALLS];
	unsigned short len;
};

static void emit(struct program *program, struct sock_filter instruction)
{
	program->code[program->len++] = instruction;
}

static void emit_load(struct program *program, size_t offset)
{
	emit(program,
	     (struct sock_filter)BPF_STMT(BPF_LD | BPF_W | BPF_ABS, (uint32_t)offset));
}

static void emit_error(struct program *program, int error)
{
	emit(program, (struct sock_filter)BPF_STMT(BPF_RET | BPF_K,
						   SECCOMP_RET_ERRNO | (uint32_t)error));
}

/* The number of the call is in the accumulator before and after. */
static void emit_call(struct program *program, const struct call *call, int error)
{
	const size_t number = offsetof(struct seccomp_data, nr);
	size_t argument = offsetof(struct seccomp_data, args) + 8 * call->argument;

	if (__BYTE_ORDER__ == __ORDER_BIG_ENDIAN__)
		argument += 4;
	if (!call->mask) {
		emit(program, (struct sock_filter)BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K,
							   call->number, 0, 1));
		emit_error(program, error);
		return;
	}
	emit(program,
	     (struct sock_filter)BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, call->number, 0, 5));
	emit_load(program, argument);
	emit(program,
	     (struct sock_filter)BPF_STMT(BPF_ALU | BPF_AND | BPF_K, call->mask));
	emit(program,
	     (struct sock_filter)BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, call->value, 0, 1));
	emit_error(program, error);
	emit_load(program, number);
}

static void usage(const char *message, const char *word)
{
	fprintf(stderr, "deny: %s%s\n", message, word);
	fprintf(stderr,
		"usage: deny SYSCALL[:WHEN][=ERRNO][,...] -- COMMAND [ARGUMENT...]\n");
	exit(EXIT_USAGE);
}

/*
 * A call that is named twice is denied as the first time, so that there is room for all.
 */
static void compile(struct program *program, char *list)
{
	bool used[NR_CALLS] = { false };
	char *save, *item;

	for (item = strtok_r(list, ",", &save); item; item = strtok_r(NULL, ",", &save)) {
		char *equals = strchr(item, '=');
		const struct call *call;
		int error = EPERM;

		if (equals) {
			*equals++ = '\0';
			error = error_find(equals);
			if (!error)
				usage("not an error: ", equals);
		}
		call = call_find(item);
		if (!call)
			usage("not a system call that can be denied: ", item);
		if (!used[call - calls])
			emit_call(program, call, error);
		used[call - calls] = true;
	}
}

static int install(struct program *program)
{
	struct sock_fprog fprog = { .len = program->len, .filter = program->code };

	if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0))
		return -errno;
	if (prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &fprog, 0, 0))
		return -errno;
	return 0;
}

int main(int argc, char **argv)
{
	static struct program program;
	int err;

	if (argc == 2 && !strcmp(argv[1], "--list")) {
		for (size_t i = 0; i < NR_CALLS; i++)
			puts(calls[i].name);
		return 0;
	}
	if (argc < 4 || strcmp(argv[2], "--"))
		usage("wants a list of system calls, -- and a command", "");

#ifdef THIS_ARCH
	emit_load(&program, offsetof(struct seccomp_data, arch));
	emit(&program,
	     (struct sock_filter)BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, THIS_ARCH, 1, 0));
	emit_error(&program, ENOSYS);
	emit_load(&program, offsetof(struct seccomp_data, nr));
#if defined(__x86_64__)
	/* x32 shares the architecture; its calls have bit 30 set. */
	emit(&program,
	     (struct sock_filter)BPF_JUMP(BPF_JMP | BPF_JGE | BPF_K, 0x40000000, 0, 1));
	emit_error(&program, ENOSYS);
#endif
	compile(&program, argv[1]);
	emit(&program, (struct sock_filter)BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW));
	err = install(&program);
#else
	(void)compile;
	(void)install;
	err = -ENOSYS;
#endif
	if (err) {
		fprintf(stderr, "deny: no seccomp filter: %s\n", strerror(-err));
		return EXIT_SKIP;
	}
	execvp(argv[3], argv + 3);
	err = errno;
	fprintf(stderr, "deny: %s: %s\n", argv[3], strerror(err));
	return err == ENOENT ? EXIT_NOT_FOUND : EXIT_EXEC;
}
