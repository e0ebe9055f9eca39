/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "sys/cgroup.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "sys/mountinfo.h"
#include "sys/sysfile.h"

/* Whether @word is an item of the comma-separated @list. */
static bool has_word(const char *list, const char *word)
{
	size_t len = strlen(word);

	for (;;) {
		size_t item = strcspn(list, ",");

		if (item == len && !memcmp(list, word, len))
			return true;
		if (!list[item])
			return false;
		list += item + 1;
	}
}

/*
 * This process's path in the hierarchy of @controller (version 1), or in the unified one
 * (NULL), from lines such as "4:cpu,cpuacct:/user.slice" and "0::/user.slice". False:
 * there is no such hierarchy.
 */
static bool own_path(const char *root, const char *controller, char path[static PATH_MAX])
{
	FILE *file = sysfile_open(root, "/proc/self/cgroup");
	char *line = NULL;
	bool found = false;
	size_t size = 0;

	if (!file)
		return false;
	while (!found && getline(&line, &size, file) > 0) {
		char *list = strchr(line, ':'),
		     *own = list ? strchr(list + 1, ':') : NULL;

		if (!own)
			continue;
		*list++ = *own++ = '\0';
		own[strcspn(own, "\n")] = '\0';
		if (strlen(own) >= PATH_MAX)
			continue;
		found = controller ? has_word(list, controller) :
				     !strcmp(line, "0") && !*list;
		if (found)
			strcpy(path, own);
	}
	free(line);
	fclose(file);
	return found;
}

/*
 * What is left of @path below directory @top, "" for @top itself; NULL when it is not in
 * there. A path that begins with "/.." lies outside of the process's cgroup namespace.
 */
static const char *path_below(const char *path, const char *top)
{
	size_t len = strlen(top);

	while (len && top[len - 1] == '/')
		len--;
	if (strncmp(path, top, len) || (path[len] && path[len] != '/'))
		return NULL;
	path += len;
	if (!strncmp(path, "/..", 3) && (!path[3] || path[3] == '/'))
		return NULL;
	return !strcmp(path, "/") ? "" : path;
}

/*
 * Takes the directory of @path in @mount if it is there; what is mounted itself with
 * @path NULL.
 */
static bool take_mount(struct cgroup *cgroup, const struct mountinfo *mount,
		       const char *path)
{
	const char *below = path ? path_below(path, mount->root) : "";
	char real[2 * PATH_MAX];
	struct stat st;
	int len;

	if (!below || strlen(mount->point) + strlen(below) >= sizeof(cgroup->path))
		return false;
	len = snprintf(real, sizeof(real), "%s%s%s", cgroup->root, mount->point, below);
	if (len >= (int)sizeof(real) || stat(real, &st) || !S_ISDIR(st.st_mode))
		return false;
	snprintf(cgroup->path, sizeof(cgroup->path), "%s%s", mount->point, below);
	cgroup->mount_len = strlen(mount->point);
	return true;
}

/* The first mount of the hierarchy that take_mount() takes. */
static bool find_mount(struct cgroup *cgroup, const char *controller, const char *path)
{
	FILE *file = sysfile_open(cgroup->root, "/proc/self/mountinfo");
	bool found = false;
	char *line = NULL;
	size_t size = 0;

	if (!file)
		return false;
	while (!found && getline(&line, &size, file) > 0) {
		struct mountinfo mount;

		if (!mountinfo_parse(line, &mount))
			continue;
		if (controller ? !strcmp(mount.type, "cgroup") &&
					 has_word(mount.options, controller) :
				 !strcmp(mount.type, "cgroup2"))
			found = take_mount(cgroup, &mount, path);
	}
	free(line);
	fclose(file);
	return found;
}

/*
 * In a container the path may not exist below the mount: what is mounted is the group
 * then.
 */
static bool find_group(struct cgroup *cgroup, const char *controller)
{
	char path[PATH_MAX];

	return own_path(cgroup->root, controller, path) &&
	       (find_mount(cgroup, controller, path) ||
		find_mount(cgroup, controller, NULL));
}

/*
 * Whether version 2 has @controller at the group or above: version 1 or nobody may have
 * it.
 */
static bool is_controlled(const struct cgroup *cgroup, const char *controller)
{
	struct cgroup at = *cgroup;
	char list[512], *word, *save;

	do {
		if (!cgroup_read(&at, "cgroup.controllers", list, sizeof(list)))
			continue;
		for (word = strtok_r(list, " ", &save); word;
		     word = strtok_r(NULL, " ", &save)) {
			if (!strcmp(word, controller))
				return true;
		}
	} while (cgroup_parent(&at));
	return false;
}

bool cgroup_find(struct cgroup *cgroup, const char *controller, const char *root)
{
	*cgroup = (struct cgroup){ .root = root };
	if (find_group(cgroup, controller))
		cgroup->version = 1;
	else if (find_group(cgroup, NULL) && is_controlled(cgroup, controller))
		cgroup->version = 2;
	return cgroup->version != 0;
}

bool cgroup_parent(struct cgroup *cgroup)
{
	char *slash = strrchr(cgroup->path, '/');

	if (!slash || (size_t)(slash - cgroup->path) < cgroup->mount_len)
		return false;
	*slash = '\0';
	return true;
}

bool cgroup_read(const struct cgroup *cgroup, const char *name, char *line, size_t size)
{
	char path[2 * PATH_MAX];

	snprintf(path, sizeof(path), "%s/%s", cgroup->path, name);
	return sysfile_line(cgroup->root, path, line, size);
}

bool cgroup_read_number(const struct cgroup *cgroup, const char *name, uint64_t *value)
{
	char line[64];

	return cgroup_read(cgroup, name, line, sizeof(line)) &&
	       sysfile_number(line, value);
}

bool cgroup_read_key(const struct cgroup *cgroup, const char *name, const char *key,
		     uint64_t *value)
{
	FILE *file = sysfile_open(cgroup->root, "%s/%s", cgroup->path, name);
	size_t len = strlen(key);
	bool found = false;
	char line[256];

	if (!file)
		return false;
	while (!found && fgets(line, sizeof(line), file)) {
		if (!strncmp(line, key, len) && line[len] == ' ')
			found = sysfile_number(line + len + 1, value);
	}
	fclose(file);
	return found;
}
