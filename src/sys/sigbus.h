/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * SIGBUS in a worker. A store to a mapped file on a full file system, a load beyond its end, an
 * I/O error, and every fault of a range that is registered with userfaultfd's SIGBUS
 * feature raise it in the thread that touched the memory.
 */
#ifndef SYS_SIGBUS_H
#define SYS_SIGBUS_H

#include <setjmp.h>
#include <stdbool.h>
#include <stdint.h>

#include "base/reason.h"

struct sigbus_guard {
	/*
	 * In the signal handler, on the thread that faulted: only what is async-signal-safe. True:
	 * the page is there, the access is made again. When it raises SIGBUS itself it is
	 * left where it was, and that one is the error. NULL: nothing can be done.
	 */
	bool (*resolve)(void *arg, uintptr_t address);
	void *arg;
	/* Out, when sigbus_run() returned -EFAULT. */
	uintptr_t address;
	int code; /* si_code: BUS_ADRERR, BUS_OBJERR, BUS_MCEERR_AR */
	sigjmp_buf env;
};

/*
 * Catches SIGBUS in this process from now on; children inherit it. 0 or -errno. Calling it again
 * does nothing. A thread must not have SIGBUS blocked: the kernel then kills the process on a
 * fault, whatever the handler.
 */
int sigbus_install(struct reason *why);

/*
 * Returns what @fn(@arg) returns, or -EFAULT as soon as it raised a SIGBUS that @guard->resolve
 * did not resolve; @fn is then left where it was (it must hold nothing). A SIGBUS outside of
 * sigbus_run() kills the process as ever, and so does one that was sent. Does not nest. Costs no
 * system call.
 */
int sigbus_run(struct sigbus_guard *guard, int (*fn)(void *arg), void *arg);

#endif
