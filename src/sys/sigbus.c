/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "sys/sigbus.h"

#include <errno.h>
#include <signal.h>
#include <stdatomic.h>
#include <string.h>
#include <ucontext.h>

#if defined(__SANITIZE_THREAD__)
#define SIGBUS_TSAN 1
#elif defined(__has_feature)
#if __has_feature(thread_sanitizer)
#define SIGBUS_TSAN 1
#endif
#endif

/*
 * The guard of the thread's sigbus_run(), and whether its resolve() runs. Volatile, with fences
 * around what is guarded: the compiler does not see that any load or store of @fn may enter the
 * handler, and would move them past these when it has inlined @fn.
 */
static __thread struct sigbus_guard *volatile current_guard;
static __thread volatile bool resolving;

/* Whether the signal is about an access of this thread, which is made again on return. */
static bool is_fault(const siginfo_t *info)
{
	return info->si_code == BUS_ADRALN || info->si_code == BUS_ADRERR ||
	       info->si_code == BUS_OBJERR || info->si_code == BUS_MCEERR_AR;
}

/*
 * ThreadSanitizer blocks all signals while a handler runs, whatever its sa_mask says. They would
 * stay blocked after siglongjmp(), and a SIGBUS of resolve() would kill.
 */
static void unblock(const void *context)
{
#ifdef SIGBUS_TSAN
	pthread_sigmask(SIG_SETMASK, &((const ucontext_t *)context)->uc_sigmask, NULL);
#endif
}

static void on_sigbus(int sig, siginfo_t *info, void *context)
{
	struct sigbus_guard *guard = current_guard;
	int saved = errno;

	unblock(context);
	if (!guard || !is_fault(info)) {
		/* The access is made again on return, and kills; a kill(2) is not repeated. */
		signal(sig, SIG_DFL);
		if (!is_fault(info))
			raise(sig);
		errno = saved;
		return;
	}
	if (!resolving && guard->resolve) {
		bool resolved;

		resolving = true;
		atomic_signal_fence(memory_order_seq_cst);
		resolved = guard->resolve(guard->arg, (uintptr_t)info->si_addr);
		atomic_signal_fence(memory_order_seq_cst);
		resolving = false;
		if (resolved) {
			errno = saved;
			return;
		}
	}
	guard->address = (uintptr_t)info->si_addr;
	guard->code = info->si_code;
	errno = saved;
	siglongjmp(guard->env, 1);
}

int sigbus_install(struct reason *why)
{
	struct sigaction action = {
		.sa_sigaction = on_sigbus,
		/* The handler is left by siglongjmp(), which does not restore the mask. */
		.sa_flags = SA_SIGINFO | SA_NODEFER,
	};

	sigemptyset(&action.sa_mask);
	if (sigaction(SIGBUS, &action, NULL))
		return reason_set(why, -errno, "cannot catch SIGBUS: %s",
				  strerror(errno));
	return 0;
}

int sigbus_run(struct sigbus_guard *guard, int (*fn)(void *arg), void *arg)
{
	int ret;

	if (!sigsetjmp(guard->env, 0)) {
		current_guard = guard;
		atomic_signal_fence(memory_order_seq_cst);
		ret = fn(arg);
		atomic_signal_fence(memory_order_seq_cst);
		current_guard = NULL;
		return ret;
	}
	current_guard = NULL;
	resolving = false;
	return -EFAULT;
}
