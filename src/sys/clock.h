/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef SYS_CLOCK_H
#define SYS_CLOCK_H

#include <stdint.h>

/*
 * The smallest step between two different readings of clock_now_ns() on this machine, in
 * nanoseconds, at least 1: the median of a few hundred. A window of fewer than 1000 steps
 * is too short to be a measurement.
 */
uint64_t clock_step_ns(void);

#endif
