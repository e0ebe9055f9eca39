/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "sys/mount.h"

#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include "sys/mountinfo.h"
#include "sys/sysfile.h"

/* Copies the items of @from that @list does not have yet; what does not fit is left out. */
static void add_options(char *list, size_t size, const char *from)
{
	while (*from) {
		size_t len = strcspn(from, ","), used = strlen(list);
		const char *at = list;
		bool there = !len;

		while (*at && !there) {
			size_t item = strcspn(at, ",");

			there = item == len && !memcmp(at, from, len);
			at += item + (at[item] == ',');
		}
		if (!there && used + (used > 0) + len < size)
			sprintf(list + used, "%s%.*s", used ? "," : "", (int)len, from);
		from += len + (from[len] == ',');
	}
}

static void describe(struct mount_info *info, const struct mountinfo *mount)
{
	*info = (struct mount_info){ 0 };
	snprintf(info->type, sizeof(info->type), "%s", mount->type);
	snprintf(info->point, sizeof(info->point), "%s", mount->point);
	add_options(info->options, sizeof(info->options), mount->mount_options);
	add_options(info->options, sizeof(info->options), mount->options);
}

/* Which line of mountinfo is wanted. */
struct wanted {
	int id; /* of the mount; -1: unknown, then by the others */
	dev_t dev;
	char path[PATH_MAX]; /* "" when unknown */
};

/*
 * The id of the mount that @fd was opened by, which the kernel tells since 3.15; -1: it
 * does not.
 */
static int mount_id(const char *root, int fd)
{
	FILE *file = sysfile_open(root, "/proc/self/fdinfo/%d", fd);
	char line[256];
	int id = -1;

	if (!file)
		return -1;
	while (fgets(line, sizeof(line), file) && sscanf(line, "mnt_id: %d", &id) != 1)
		;
	fclose(file);
	return id;
}

static bool wanted_init(struct wanted *wanted, const char *root, int fd)
{
	char link[PATH_MAX];
	struct stat st;
	ssize_t len;

	*wanted = (struct wanted){ .id = mount_id(root, fd) };
	if (fstat(fd, &st))
		return false;
	wanted->dev = st.st_dev;
	if (snprintf(link, sizeof(link), "%s/proc/self/fd/%d", root, fd) >=
	    (int)sizeof(link))
		return true;
	len = readlink(link, wanted->path, sizeof(wanted->path) - 1);
	wanted->path[len > 0 ? len : 0] = '\0';
	return true;
}

/* Whether files of this type have an st_dev of their own, which is not that of the mount. */
static bool has_other_devices(const char *type)
{
	return !strcmp(type, "btrfs") || !strcmp(type, "overlay") ||
	       !strcmp(type, "bcachefs");
}

/* The length of @point if @path is below it, else 0. */
static size_t prefix(const char *path, const char *point)
{
	size_t len = strlen(point);

	if (len == 1 && *path == '/')
		return 1;
	return !strncmp(path, point, len) && (!path[len] || path[len] == '/') ? len : 0;
}

/*
 * How well the line fits; 0: not at all. Without an id, the longest mount point above the path
 * wins among those of the device, and the last one, which covers the others.
 */
static size_t fits(const struct wanted *wanted, const struct mountinfo *mount)
{
	size_t len;

	if (wanted->id >= 0)
		return wanted->id == mount->id;
	len = prefix(wanted->path, mount->point);
	if (wanted->dev == makedev(mount->major, mount->minor))
		return 1 + len;
	return has_other_devices(mount->type) && len ? 1 + len : 0;
}

static bool find(FILE *file, const struct wanted *wanted, struct mount_info *info)
{
	size_t size = 0, best = 0, score;
	struct mountinfo mount;
	char *line = NULL;

	while (getline(&line, &size, file) > 0) {
		if (!mountinfo_parse(line, &mount))
			continue;
		score = fits(wanted, &mount);
		if (score && score >= best) {
			describe(info, &mount);
			best = score;
		}
	}
	free(line);
	return best > 0;
}

bool mount_find(FILE *mountinfo, const char *root, int fd, struct mount_info *info)
{
	struct wanted wanted;

	*info = (struct mount_info){ 0 };
	return wanted_init(&wanted, root, fd) && find(mountinfo, &wanted, info);
}

bool mount_describe(const char *root, int fd, struct mount_info *info)
{
	FILE *file = sysfile_open(root, "/proc/self/mountinfo");
	bool found;

	*info = (struct mount_info){ 0 };
	if (!file)
		return false;
	found = mount_find(file, root, fd, info);
	fclose(file);
	return found;
}

bool mount_option(const char *options, const char *key, char *value, size_t size)
{
	size_t key_len = strlen(key);

	while (*options) {
		size_t len = strcspn(options, ",");

		if (len >= key_len && !memcmp(options, key, key_len)) {
			if (len == key_len) {
				snprintf(value, size, "%s", "");
				return true;
			}
			if (options[key_len] == '=') {
				snprintf(value, size, "%.*s", (int)(len - key_len - 1),
					 options + key_len + 1);
				return true;
			}
		}
		options += len + (options[len] == ',');
	}
	return false;
}
