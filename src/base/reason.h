/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Why something could not be done, in words for the user. Layers below the command line never
 * print: they return -errno and fill a reason, which names the thing and what to do about it.
 */
#ifndef BASE_REASON_H
#define BASE_REASON_H

struct reason {
	char text[512];
};

/*
 * Formats the text (cut at the end of the buffer) and returns @err, so that callers can
 * "return reason_set(why, -ENOMEM, ...)". @why may be NULL.
 */
int reason_set(struct reason *why, int err, const char *fmt, ...)
	__attribute__((format(printf, 3, 4)));

#endif
