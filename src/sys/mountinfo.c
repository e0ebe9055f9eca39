/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "sys/mountinfo.h"

#include <stdio.h>
#include <string.h>

/* Undoes \040 and the like, with which the kernel writes blanks and backslashes. */
static void unescape(char *s)
{
	char *to = s;

	while (*s) {
		if (s[0] == '\\' && s[1] >= '0' && s[1] <= '3' && s[2] >= '0' &&
		    s[2] <= '7' && s[3] >= '0' && s[3] <= '7') {
			*to++ = (char)((s[1] - '0') << 6 | (s[2] - '0') << 3 |
				       (s[3] - '0'));
			s += 4;
		} else {
			*to++ = *s++;
		}
	}
	*to = '\0';
}

bool mountinfo_parse(char *line, struct mountinfo *mount)
{
	char *rest = strstr(line, " - "), *save = NULL, *field[6];

	if (!rest)
		return false;
	mount->id = -1;
	mount->major = mount->minor = 0;
	sscanf(line, "%d %*d %u:%u", &mount->id, &mount->major, &mount->minor);
	*rest = '\0';
	rest += 3;
	for (unsigned i = 0; i < 6; i++) {
		field[i] = strtok_r(i ? NULL : line, " ", &save);
		if (!field[i])
			return false;
	}
	mount->root = field[3];
	mount->point = field[4];
	mount->mount_options = field[5];
	mount->type = strtok_r(rest, " \n", &save);
	if (!mount->type || !strtok_r(NULL, " \n", &save))
		return false;
	mount->options = strtok_r(NULL, " \n", &save);
	if (!mount->options)
		return false;
	unescape(mount->root);
	unescape(mount->point);
	unescape(mount->mount_options);
	unescape(mount->type);
	unescape(mount->options);
	return true;
}
