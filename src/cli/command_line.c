/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/measure.h"

static bool is_plain(const char *word)
{
	static const char plain[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"
				    "0123456789%+,-./:=@_";

	return *word && word[strspn(word, plain)] == '\0';
}

char *command_line_join(int argc, char **argv)
{
	char *line = NULL;
	size_t size = 0;
	FILE *out = open_memstream(&line, &size);

	if (!out)
		return NULL;
	for (int i = 0; i < argc; i++) {
		if (i)
			fputc(' ', out);
		if (!i || is_plain(argv[i])) { /* argv[0] is "pagezone COMMAND" */
			fputs(argv[i], out);
			continue;
		}
		fputc('\'', out);
		for (const char *c = argv[i]; *c; c++) {
			if (*c == '\'')
				fputs("'\\''", out);
			else
				fputc(*c, out);
		}
		fputc('\'', out);
	}
	if (fclose(out)) {
		free(line);
		return NULL;
	}
	return line;
}
