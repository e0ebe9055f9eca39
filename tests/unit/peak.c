/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What a run takes at its peak: the data, 15 % and 64 MiB more, also with 256 workers. */
#include <stdlib.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include "tap.h"

#ifndef __has_feature
#define __has_feature(x) 0
#endif

/* KiB of resident memory that the program had at most. */
static long peak_kib(const char *program, const char *layout, const char *total)
{
	struct rusage usage;
	pid_t pid = fork();
	int status;

	if (pid < 0)
		bail("no process");
	if (!pid) {
		if (!freopen("/dev/null", "w", stdout))
			_exit(99);
		execl(program, program, "speedup", "-q", "-t", "1,16,256", "-R", "1",
		      "-S", total, "--layout", layout, "--limit", (char *)NULL);
		_exit(99);
	}
	if (wait4(pid, &status, 0, &usage) != pid || status)
		return -1;
	return usage.ru_maxrss;
}

static void stays_below(const char *program, const char *layout, const char *total,
			long mib)
{
	long limit = mib * 1024 * 115 / 100 + 64 * 1024;
	long peak = peak_kib(program, layout, total);

	ok(peak > mib * 1024 && peak <= limit, "-S %s --layout %s: %ld KiB, at most %ld",
	   total, layout, peak, limit);
}

int main(void)
{
	const char *program = getenv("PAGEZONE");

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__) || \
	__has_feature(address_sanitizer) || __has_feature(thread_sanitizer)
	skip_all("sanitizers take memory of their own");
#endif
	if (!program)
		skip_all("PAGEZONE does not name the program");
	stays_below(program, "private", "96m", 96);
	stays_below(program, "shared", "128m", 128);
	return done();
}
