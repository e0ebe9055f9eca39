/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The importer of iozone's logs. What it takes is a result that is saved and loads as the same. */
#include "fuzz/fuzz.h"
#include "result/import.h"

const char fuzz_name[] = "iozone";

static char *written(const struct result *result)
{
	char *text = NULL;
	size_t len;
	FILE *out = open_memstream(&text, &len);

	fuzz_must(out, NULL);
	fuzz_must(!result_write_json(result, out), NULL);
	fuzz_must(!fclose(out) && text, NULL);
	return text;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	const char *path = fuzz_file(data, size);
	const char *paths[] = { path, path };
	struct result *result = NULL, *again = NULL;
	struct reason why = { "" };
	char *first, *second;
	int err = import_iozone(&result, paths, 1 + size % 2, &why);

	if (err) {
		fuzz_must(!result, why.text);
		fuzz_refused(err, why.text);
		return 0;
	}
	first = written(result);
	fuzz_must(!result_load(&again, fuzz_file(first, strlen(first)), &why), why.text);
	second = written(again);
	fuzz_must(!strcmp(first, second), second);
	free(first);
	free(second);
	result_free(result);
	result_free(again);
	return 0;
}
