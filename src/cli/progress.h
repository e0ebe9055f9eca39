/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The progress line on stderr: only on a terminal, never in a pipe, wiped when something
 * is said.
 */
#ifndef CLI_PROGRESS_H
#define CLI_PROGRESS_H

#include <stdbool.h>

#include "bench/bench.h"
#include "cli/auto.h"

void progress_start(bool quiet);
/* @goal NULL: the number of rounds is known. */
void progress_show(const struct bench_progress *progress, const struct auto_rounds *goal);
void progress_wipe(void);

#endif
