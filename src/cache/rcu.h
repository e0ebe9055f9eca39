/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * RCU for the page cache: liburcu, the memb flavour. Its readers write nothing but a
 * word of their own thread and, with membarrier(2), run no barrier instruction either.
 *
 * Guarantees, of liburcu:
 *   A. What a thread did before cache_call_rcu() happens before the callback.
 *   B. Every read side section that began before cache_call_rcu() ends before the
 *      callback starts; what its thread read and wrote there happens before the
 *      callback.
 *   C. Every callback handed in before cache_rcu_barrier() ends before the barrier
 *      returns.
 *   D. Every read side section that began before cache_rcu_synchronize() ends before that
 *      returns, as in B. One that begins later sees all that was done before the call.
 *
 * ThreadSanitizer sees none of these, because the library of the distributions is not
 * built with it. They are therefore told to it here, at the places where they
 * hold, and no suppression is needed. Besides, under TSan
 *   - the read side is called in the library instead of inlined: it clears its futex
 *     word by a plain store, which is fine by liburcu's rules and a race by those of
 *     C11;
 *   - what the barrier allocates is not recorded: liburcu's thread frees it.
 */
#ifndef CACHE_RCU_H
#define CACHE_RCU_H

#if defined(__SANITIZE_THREAD__)
#define CACHE_RCU_TSAN 1
#elif defined(__has_feature)
#if __has_feature(thread_sanitizer)
#define CACHE_RCU_TSAN 1
#endif
#endif

#ifdef CACHE_RCU_TSAN
#include <sanitizer/tsan_interface.h>

/* Of TSan's runtime, which declares them in no header. */
void AnnotateIgnoreWritesBegin(const char *file, int line);
void AnnotateIgnoreWritesEnd(const char *file, int line);
#elif !defined(_LGPL_SOURCE)
/* Inline the read side: rcu_read_lock() is six instructions then. */
#define _LGPL_SOURCE
#endif

#include <urcu/urcu-memb.h>

#include "base/race_point.h"

#ifdef CACHE_RCU_TSAN
/* Labels only: no byte of these addresses is looked at. */
#define CACHE_RCU_READERS   ((void *)&rcu_label[0])
#define CACHE_RCU_CALLBACKS ((void *)&rcu_label[8])
__attribute__((weak)) char rcu_label[16];
#endif

/* Every thread that reads registers first, and unregisters before it ends. */
static inline void cache_rcu_register_thread(void)
{
	urcu_memb_register_thread();
}

static inline void cache_rcu_unregister_thread(void)
{
	urcu_memb_unregister_thread();
}

static inline void cache_rcu_read_lock(void)
{
	urcu_memb_read_lock();
	race_point();
}

static inline void cache_rcu_read_unlock(void)
{
	race_point();
#ifdef CACHE_RCU_TSAN
	__tsan_release(CACHE_RCU_READERS); /* B */
#endif
	urcu_memb_read_unlock();
}

/* Calls @func(@head) in liburcu's thread after a grace period. Wait-free. */
static inline void cache_call_rcu(struct rcu_head *head,
				  void (*func)(struct rcu_head *head))
{
#ifdef CACHE_RCU_TSAN
	__tsan_release(head); /* A */
#endif
	urcu_memb_call_rcu(head, func);
}

/* The first and the last thing that a callback does. */
static inline void cache_rcu_callback_begin(struct rcu_head *head)
{
#ifdef CACHE_RCU_TSAN
	__tsan_acquire(head);		   /* A */
	__tsan_acquire(CACHE_RCU_READERS); /* B */
#else
	(void)head;
#endif
}

static inline void cache_rcu_callback_end(void)
{
#ifdef CACHE_RCU_TSAN
	__tsan_release(CACHE_RCU_CALLBACKS); /* C */
#endif
}

/* Waits for a grace period. Not in a read side section. */
static inline void cache_rcu_synchronize(void)
{
	urcu_memb_synchronize_rcu();
#ifdef CACHE_RCU_TSAN
	__tsan_acquire(CACHE_RCU_READERS); /* D */
#endif
}

/* Waits for all callbacks handed in so far. Not in a read side section or a callback. */
static inline void cache_rcu_barrier(void)
{
#ifdef CACHE_RCU_TSAN
	AnnotateIgnoreWritesBegin(__FILE__, __LINE__);
	urcu_memb_barrier();
	AnnotateIgnoreWritesEnd(__FILE__, __LINE__);
	__tsan_acquire(CACHE_RCU_CALLBACKS); /* C */
#else
	urcu_memb_barrier();
#endif
}

#endif
