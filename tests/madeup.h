/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Made-up trees of files below a temporary directory, for what reads /proc and /sys. */
#ifndef TESTS_MADEUP_H
#define TESTS_MADEUP_H

#include <errno.h>
#include <ftw.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "tap.h"

static char madeup_root[] = "/tmp/pagezone-madeup.XXXXXX";

static inline int madeup_remove(const char *path, const struct stat *st, int type,
				struct FTW *ftw)
{
	return remove(path);
}

/* An empty tree, whatever was there before. Its root is madeup_root. */
static inline void madeup_clear(void)
{
	static bool made;

	if (made)
		nftw(madeup_root, madeup_remove, 8, FTW_DEPTH | FTW_PHYS);
	if (made ? mkdir(madeup_root, 0700) : !mkdtemp(madeup_root))
		bail("cannot make %s", madeup_root);
	made = true;
}

static inline void madeup_end(void)
{
	nftw(madeup_root, madeup_remove, 8, FTW_DEPTH | FTW_PHYS);
}

/*
 * Writes the file @path ("/proc/meminfo") with its directories; @text NULL: a directory.
 */
static inline void madeup(const char *path, const char *text)
{
	char full[PATH_MAX];
	FILE *file;

	snprintf(full, sizeof(full), "%s%s", madeup_root, path);
	for (char *slash = full + strlen(madeup_root) + 1; (slash = strchr(slash, '/'));
	     slash++) {
		*slash = '\0';
		if (mkdir(full, 0700) && errno != EEXIST)
			bail("cannot make %s", full);
		*slash = '/';
	}
	if (!text) {
		if (mkdir(full, 0700) && errno != EEXIST)
			bail("cannot make %s", full);
		return;
	}
	file = fopen(full, "w");
	if (!file || fputs(text, file) < 0 || fclose(file))
		bail("cannot write %s", full);
}

#endif
