/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What a page fault does to the CPU, as far as it can be had without a trap.
 *
 * A fault is an exception. Nothing behind it has begun when it is taken, and the IRET that ends
 * it is a serializing instruction (Intel SDM volume 3, 8.3; AMD APM volume 2, 7.6.4): the
 * handler overlaps neither with the copy before it nor with the one after it. A function
 * call does overlap: out-of-order execution hides most of a soft fault behind the misses of
 * the copies around it, which no page cache can do. So a fault begins and ends with the
 * fences that a trap implies. They do not stand for its other costs (the switch to the
 * kernel and back, mitigations), which are real only with real faults; where those are
 * (page_cache_conf.trapped), the fences are not needed.
 */
#ifndef CACHE_TRAP_H
#define CACHE_TRAP_H

#include <stdatomic.h>

/* All instructions before have completed; none behind has begun. */
static inline void trap_enter(void)
{
#if defined(__x86_64__)
	__asm__ volatile("lfence" ::: "memory");
#elif defined(__aarch64__)
	__asm__ volatile("isb" ::: "memory");
#else
	atomic_signal_fence(memory_order_seq_cst);
#endif
}

/* Likewise, and all stores before are visible. */
static inline void trap_leave(void)
{
#if defined(__x86_64__)
	__asm__ volatile("mfence\n\tlfence" ::: "memory");
#elif defined(__aarch64__)
	__asm__ volatile("dsb ish\n\tisb" ::: "memory");
#else
	atomic_signal_fence(memory_order_seq_cst);
#endif
}

#endif
