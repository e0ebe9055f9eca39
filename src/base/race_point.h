/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Where threads meet: around locks, and inside of RCU read sections. Tests that are built with
 * PAGEZONE_RACE_POINTS bring a race_point() that gives the CPU away now and then, so that what
 * takes a preemption at a bad moment happens often (tests/unit/race_point.h). Nothing else has it.
 */
#ifndef BASE_RACE_POINT_H
#define BASE_RACE_POINT_H

#ifdef PAGEZONE_RACE_POINTS
void race_point(void);
#else
static inline void race_point(void)
{
}
#endif

#endif
