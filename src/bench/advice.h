/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What is known of the CPUs before the first round, and makes figures doubtful. */
#ifndef BENCH_ADVICE_H
#define BENCH_ADVICE_H

struct record;

/*
 * Warns of what the system does not tell of its CPUs and nodes, of a CPU quota that is less
 * than the workers could use (the environment of the result has it), and of workers of one
 * cell on CPUs of different kinds. 0 or -ENOMEM.
 */
int advice_on_cpus(struct record *record);

#endif
