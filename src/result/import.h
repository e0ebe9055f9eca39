/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Results that were not measured by pagezone: iozone's logs, and tables that were published. */
#ifndef RESULT_IMPORT_H
#define RESULT_IMPORT_H

#include "result/result.h"

/*
 * A result of the one side "run" from what iozone's throughput mode (-t N) printed to the @nr files
 * @paths. Each test at a thread count is a sample; where one comes again, it is a further round.
 * "Parent sees" is the total, and divided by the threads kb_per_s; "Children see" is
 * sum_of_worker_rates. A test in which a process moved nothing, or that has no total, is
 * void. Warnings say what is what. The figures of the log have no times: bytes are those
 * of a window of 100 s.
 *
 * 0 with *@result, which is derived; -errno with @why: one line that names the file.
 */
int import_iozone(struct result **result, const char *const *paths, unsigned nr,
		  struct reason *why);

/*
 * The published table @name, read from the file "@name.csv" in @dir, as the sides "baseline" and
 * "patched". -ENOENT: there is no table of this name, and @why names those that there
 * are. Otherwise as above.
 */
int import_reference(struct result **result, const char *name, const char *dir,
		     struct reason *why);

#endif
