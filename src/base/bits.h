/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Small arithmetic and compiler helpers that every layer uses. */
#ifndef BASE_BITS_H
#define BASE_BITS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define PAGE_SHIFT 12
#define PAGE_SIZE  ((size_t)1 << PAGE_SHIFT)
/* What one PMD entry maps on x86-64 and arm64 with 4 KiB pages: 512 pages. */
#define PMD_SHIFT 21
#define PMD_SIZE  ((size_t)1 << PMD_SHIFT)
#define PMD_ORDER (PMD_SHIFT - PAGE_SHIFT)
#define PMD_NR	  (1U << PMD_ORDER)

#define CACHELINE_SIZE	    64
#define __cacheline_aligned __attribute__((aligned(CACHELINE_SIZE)))

#define likely(x)   __builtin_expect(!!(x), 1)
#define unlikely(x) __builtin_expect(!!(x), 0)

#define ARRAY_SIZE(a) (sizeof(a) / sizeof((a)[0]))
#define container_of(ptr, type, member) \
	((type *)(void *)((char *)(ptr)-offsetof(type, member)))

#define min_u64(a, b) ((uint64_t)(a) < (uint64_t)(b) ? (uint64_t)(a) : (uint64_t)(b))
#define max_u64(a, b) ((uint64_t)(a) > (uint64_t)(b) ? (uint64_t)(a) : (uint64_t)(b))

/* @to must be a power of two. */
static inline uint64_t align_up(uint64_t x, uint64_t to)
{
	return (x + to - 1) & ~(to - 1);
}

static inline uint64_t align_down(uint64_t x, uint64_t to)
{
	return x & ~(to - 1);
}

static inline uint64_t div_round_up(uint64_t x, uint64_t by)
{
	return x / by + (x % by != 0);
}

static inline bool is_power_of_2(uint64_t x)
{
	return x && !(x & (x - 1));
}

/* Floor of the binary logarithm; @x must not be 0. */
static inline unsigned ilog2_u64(uint64_t x)
{
	return 63 - (unsigned)__builtin_clzll(x);
}

/* For qsort() and bsearch(). */
static inline int compare_unsigned(const void *a, const void *b)
{
	unsigned x = *(const unsigned *)a, y = *(const unsigned *)b;

	return (x > y) - (x < y);
}

/* Tell the CPU that this is a spin loop. */
static inline void cpu_relax(void)
{
#if defined(__x86_64__) || defined(__i386__)
	__builtin_ia32_pause();
#elif defined(__aarch64__)
	__asm__ volatile("yield" ::: "memory");
#else
	__asm__ volatile("" ::: "memory");
#endif
}

#endif
