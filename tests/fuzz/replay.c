/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Runs a harness on its corpus, without libFuzzer: a test point for each file. Without
 * arguments on that of the source tree; with them, on those files.
 */
#include <dirent.h>

#include "fuzz/fuzz.h"
#include "tap.h"

/* A crash is the end of the test, and its number the one that is missing. */
static void replay(const char *path, const char *name)
{
	FILE *file = fopen(path, "re");
	size_t size = 0, room = 1 << 20;
	uint8_t *data = malloc(room), *exact;

	if (!file || !data)
		bail("cannot read %s", path);
	size = fread(data, 1, room, file);
	if (size == room || ferror(file))
		bail("cannot read %s, or it is too large for a corpus", path);
	fclose(file);
	printf("# %s\n", name);
	fflush(stdout);
	/* No byte more than there are: reading behind them is seen. */
	exact = malloc(size);
	if (size && !exact)
		bail("out of memory");
	if (size)
		memcpy(exact, data, size);
	free(data);
	ok(!LLVMFuzzerTestOneInput(exact, size), "%s", name);
	free(exact);
}

int main(int argc, char **argv)
{
	const char *top = getenv("top_srcdir");
	struct dirent **list;
	char path[4096];
	int nr;

	for (int i = 1; i < argc; i++)
		replay(argv[i], argv[i]);
	if (argc > 1)
		return done();
	snprintf(path, sizeof(path), "%s/tests/fuzz/corpus/%s", top ? top : ".",
		 fuzz_name);
	nr = scandir(path, &list, NULL, alphasort);
	if (nr < 0)
		bail("no corpus in %s", path);
	for (int i = 0; i < nr; i++) {
		if (*list[i]->d_name != '.') {
			snprintf(path, sizeof(path), "%s/tests/fuzz/corpus/%s/%s",
				 top ? top : ".", fuzz_name, list[i]->d_name);
			replay(path, list[i]->d_name);
		}
		free(list[i]);
	}
	free(list);
	return done();
}
