/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/format.h"
#include "cli/cli.h"
#include "cli/progress.h"

/* One line, whatever the text holds: file names and arguments may carry control characters. */
static __attribute__((format(printf, 1, 0))) void say_va(const char *fmt, va_list ap)
{
	char text[1024];

	vsnprintf(text, sizeof(text), fmt, ap);
	format_plain(text);
	progress_wipe();
	fprintf(stderr, "pagezone: %s\n", text);
}

void say(const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	say_va(fmt, ap);
	va_end(ap);
}

noreturn void fail(enum exit_status status, const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	say_va(fmt, ap);
	va_end(ap);
	exit((int)status);
}

int printed(int err)
{
	if (!err && !fflush(stdout) && !ferror(stdout))
		return EXIT_DONE;
	say("standard output: %s", strerror(err ? -err : errno));
	return EXIT_CANNOT;
}
