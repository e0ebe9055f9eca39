/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Puts the JSON form of a result under a name: whole, or not at all. */
#include "result/result.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "result/fields.h"

#define MAX_LINKS    40 /* as the kernel follows */
#define MAX_TEMP_TRY 100
/* What ".tmp.PID.NUMBER" may add to a name, which has NAME_MAX bytes. */
#define SUFFIX_MAX 32

/* Writes to @fd and closes it. 0 or -errno. */
static int write_and_close(const struct result *result, int fd)
{
	FILE *out = fdopen(fd, "w");
	int err;

	if (!out) {
		err = -errno;
		close(fd);
		return err;
	}
	err = result_write_json(result, out);
	/* Pipes and devices cannot be synced. */
	if (!err && fsync(fd) && errno != EINVAL && errno != EROFS && errno != ENOTSUP)
		err = -errno;
	if (fclose(out) && !err)
		err = -errno;
	return err;
}

/* What the link @path points to: a path that works from here. NULL with errno set. */
static char *follow_link(const char *path)
{
	const char *slash = strrchr(path, '/');
	char target[PATH_MAX], *followed;
	ssize_t len = readlink(path, target, sizeof(target) - 1);

	if (len < 0)
		return NULL;
	target[len] = '\0';
	if (*target == '/' || !slash)
		return strdup(target);
	if (asprintf(&followed, "%.*s/%s", (int)(slash - path), path, target) < 0)
		return NULL;
	return followed;
}

/*
 * The file that @path names once all symbolic links at its end are followed, which need
 * not exist. NULL with errno set.
 */
static char *follow_links(const char *path)
{
	char *at = strdup(path), *next;
	struct stat st;

	for (int i = 0; at && !lstat(at, &st) && S_ISLNK(st.st_mode); i++) {
		if (i == MAX_LINKS) {
			free(at);
			errno = ELOOP;
			return NULL;
		}
		next = follow_link(at);
		free(at);
		at = next;
	}
	return at;
}

/* Which standard stream goes there, or -1? Writing has to go on where the stream is. */
static int standard_stream(const struct stat *st)
{
	for (int fd = STDOUT_FILENO; fd <= STDERR_FILENO; fd++) {
		struct stat stream;

		if (!fstat(fd, &stream) && stream.st_dev == st->st_dev &&
		    stream.st_ino == st->st_ino)
			return fd;
	}
	return -1;
}

static int save_directly(const struct result *result, const char *path,
			 const struct stat *st)
{
	int fd = standard_stream(st);

	if (fd >= 0) {
		fflush(fd == STDOUT_FILENO ? stdout : stderr);
		fd = fcntl(fd, F_DUPFD_CLOEXEC, 0);
	} else {
		/* A FIFO that nobody reads is an error at once: no signal would end the wait. */
		fd = open(path, O_WRONLY | O_TRUNC | O_CLOEXEC | O_NOCTTY | O_NONBLOCK);
		if (fd >= 0 && fcntl(fd, F_SETFL, 0)) {
			int err = -errno;

			close(fd);
			return err;
		}
	}
	if (fd < 0)
		return -errno;
	return write_and_close(result, fd);
}

/* Creates a new file beside @path. Its descriptor with its name in @temp, or -errno. */
static int open_temp(const char *path, mode_t mode, char **temp)
{
	const char *slash = strrchr(path, '/');
	size_t dir = slash ? (size_t)(slash - path) + 1 : 0;
	int fd = -EEXIST;

	for (int i = 0; fd == -EEXIST && i < MAX_TEMP_TRY; i++) {
		char number[16] = "";

		/* One may be left from a killed process, or be another container's. */
		if (i)
			snprintf(number, sizeof(number), ".%d", i);
		if (asprintf(temp, "%.*s%.*s.tmp.%d%s", (int)dir, path,
			     NAME_MAX - SUFFIX_MAX, path + dir, getpid(), number) < 0)
			return -ENOMEM;
		fd = open(*temp, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC,
			  mode);
		if (fd < 0) {
			fd = -errno;
			free(*temp);
		}
	}
	return fd;
}

/* So that the new name, too, survives a power cut. Where that cannot be: no matter. */
static void sync_directory(const char *path)
{
	const char *slash = strrchr(path, '/');
	char *dir;
	int fd;

	if (asprintf(&dir, "%.*s", slash ? (int)(slash - path) + 1 : 1,
		     slash ? path : ".") < 0)
		return;
	fd = open(dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (fd >= 0) {
		(void)!fsync(fd);
		close(fd);
	}
	free(dir);
}

/* @old is the file to be replaced; NULL: there is none. */
static int save_renamed(const struct result *result, const char *path,
			const struct stat *old)
{
	char *temp;
	int fd, err;

	fd = open_temp(path, 0666, &temp);
	if (fd < 0)
		return fd;
	if (old)
		(void)!fchmod(fd, old->st_mode & 0777);
	err = write_and_close(result, fd);
	if (!err && rename(temp, path))
		err = -errno;
	if (err)
		unlink(temp);
	else
		sync_directory(path);
	free(temp);
	return err;
}

/*
 * Where a file that can be written to cannot be replaced: its directory is not ours, or
 * it is mounted on its own, as container runtimes do.
 */
static bool cannot_replace(int err)
{
	return err == -EACCES || err == -EPERM || err == -EROFS || err == -EBUSY ||
	       err == -EXDEV;
}

static int save(const struct result *result, const char *path)
{
	struct stat st;
	char *target;
	int err;

	if (!*path)
		return -ENOENT;
	if (!stat(path, &st)) {
		if (S_ISDIR(st.st_mode))
			return -EISDIR;
		if (!S_ISREG(st.st_mode) || standard_stream(&st) >= 0)
			return save_directly(result, path, &st);
		/* Renaming would not ask whether the file may be written. */
		if (access(path, W_OK))
			return -errno;
	} else if (errno != ENOENT) {
		return -errno;
	} else if (path[strlen(path) - 1] == '/') {
		return -EISDIR;
	} else {
		st.st_mode = 0;
	}
	target = follow_links(path);
	if (!target)
		return -errno;
	err = save_renamed(result, target, st.st_mode ? &st : NULL);
	if (cannot_replace(err) && st.st_mode)
		err = save_directly(result, target, &st);
	free(target);
	return err;
}

int result_save(const struct result *result, const char *path, struct reason *why)
{
	const struct place place = { .path = path, .why = why };
	int err = save(result, path);

	return err ? place_error(&place, err, "%s", strerror(-err)) : 0;
}
