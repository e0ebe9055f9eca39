/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The two futex calls that locks and barriers need. The plain ones are for threads of one
 * process; those that end in _shared also meet other processes, in memory that is mapped
 * MAP_SHARED, and cost the kernel a look at the page table. A word is used with one kind only.
 */
#ifndef BASE_FUTEX_H
#define BASE_FUTEX_H

#include <errno.h>
#include <linux/futex.h>
#include <stdatomic.h>
#include <stdint.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

static inline int futex_wait_op(_Atomic uint32_t *word, int op, uint32_t expected,
				uint64_t timeout_ns)
{
	struct timespec ts = {
		.tv_sec = (time_t)(timeout_ns / 1000000000u),
		.tv_nsec = (long)(timeout_ns % 1000000000u),
	};

	if (syscall(SYS_futex, word, op, expected, timeout_ns ? &ts : NULL, NULL, 0) == 0)
		return 0;
	return -errno;
}

/*
 * Sleeps while *@word is @expected, at most @timeout_ns (0: for ever).
 * Returns 0 when woken, -EAGAIN when the word had changed, -EINTR, -ETIMEDOUT.
 * Spurious wake-ups happen: look at the word again.
 */
static inline int futex_wait(_Atomic uint32_t *word, uint32_t expected,
			     uint64_t timeout_ns)
{
	return futex_wait_op(word, FUTEX_WAIT_PRIVATE, expected, timeout_ns);
}

static inline int futex_wait_shared(_Atomic uint32_t *word, uint32_t expected,
				    uint64_t timeout_ns)
{
	return futex_wait_op(word, FUTEX_WAIT, expected, timeout_ns);
}

/* Wakes up to @nr sleepers on @word. */
static inline void futex_wake(_Atomic uint32_t *word, int nr)
{
	syscall(SYS_futex, word, FUTEX_WAKE_PRIVATE, nr, NULL, NULL, 0);
}

static inline void futex_wake_shared(_Atomic uint32_t *word, int nr)
{
	syscall(SYS_futex, word, FUTEX_WAKE, nr, NULL, NULL, 0);
}

#endif
