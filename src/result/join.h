/* SPDX-License-Identifier: GPL-2.0-or-later */
/* One result made of the sides of several. */
#ifndef RESULT_JOIN_H
#define RESULT_JOIN_H

#include "result/result.h"

/*
 * The side of @result that stands for it beside other results: that called @name; without
 * a name "patched", or else its only one but a limit. 0 with its index in @side; -ENOENT
 * with @why.
 */
int result_pick_side(const struct result *result, const char *name, unsigned *side,
		     struct reason *why);

/*
 * Drops all sides but @side, which is side 0 then, called @name, and the warnings that
 * are of others. 0 or -ENOMEM. Derive it anew.
 */
int result_keep_side(struct result *result, unsigned side, const char *name);

/*
 * Appends @side of @other as a side called @name: copies its samples of those phases and
 * thread counts that @result has too, and the warnings that are not of other sides. 0 or
 * -ENOMEM. Derive it anew; rounds of different runs are no pairs.
 */
int result_join(struct result *result, const struct result *other, unsigned side,
		const char *name);

/*
 * A result of @side alone, called @name there, with its samples, phases and thread counts
 * but nothing of the environment and the parameters. 0 or -ENOMEM.
 */
int result_copy_side(struct result **copy, const struct result *result, unsigned side,
		     const char *name);

#endif
