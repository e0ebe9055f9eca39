/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What reads the words of a command line, and small files: the first byte of an input,
 * modulo their number, chooses which. One harness, for each is done soon.
 */
#include <errno.h>
#include <inttypes.h>
#include <limits.h>
#include <math.h>

#include "base/parse.h"
#include "bench/phase.h"
#include "engine/engine.h"
#include "fuzz/fuzz.h"
#include "report/compare.h"
#include "report/gate.h"
#include "result/import.h"
#include "sys/mempolicy.h"
#include "sys/mountinfo.h"
#include "sys/pin.h"

const char fuzz_name[] = "words";

static void word_size(char *text)
{
	uint64_t bytes = 77, again;
	char plain[32];
	int err = parse_size(text, &bytes);

	if (err) {
		fuzz_must(err == -EINVAL || err == -ERANGE, text);
		fuzz_must(bytes == 77, text);
		return;
	}
	fuzz_must(*text >= '0' && *text <= '9', text);
	fuzz_must(strlen(text + strspn(text, "0123456789")) <= 3, text);
	snprintf(plain, sizeof(plain), "%" PRIu64, bytes);
	fuzz_must(!parse_size(plain, &again) && again == bytes, text);
}

static void word_number(char *text)
{
	uint64_t number = 77;
	int err = parse_uint(text, 3, 5000, &number);

	if (err)
		fuzz_must((err == -EINVAL || err == -ERANGE) && number == 77, text);
	else
		fuzz_must(number >= 3 && number <= 5000, text);
}

/* False: it was refused, as it should be. */
static bool list_is_taken(int err, unsigned *list, size_t nr, size_t max,
			  const char *text)
{
	fuzz_must(!err ? nr >= 1 && nr <= max :
			 (err == -EINVAL || err == -ERANGE) && !list && !nr,
		  text);
	return !err;
}

static void word_threads(char *text)
{
	unsigned *list = NULL;
	size_t nr = 0;
	int err = parse_threads(text, &list, &nr);

	if (!list_is_taken(err, list, nr, PARSE_MAX_THREADS, text))
		return;
	for (size_t i = 0; i < nr; i++) {
		fuzz_must(list[i] >= 1 && list[i] <= PARSE_MAX_THREADS, text);
		for (size_t k = 0; k < i; k++)
			fuzz_must(list[i] != list[k], text);
	}
	free(list);
}

static void word_list(char *text)
{
	unsigned *list = NULL;
	size_t nr = 0;
	int err = parse_list(text, &list, &nr);

	if (!list_is_taken(err, list, nr, PARSE_MAX_LIST, text))
		return;
	for (size_t i = 0; i < nr; i++)
		fuzz_must(list[i] <= INT_MAX, text);
	free(list);
}

static void word_pin(char *text)
{
	struct pin pin = { .nr = 0 };
	struct reason why = { "" };
	int err = pin_parse(&pin, text, &why);

	if (err)
		fuzz_must(err == -EINVAL && *why.text, text);
	else
		fuzz_must(!strcmp(pin_text(&pin), text), text);
	pin_destroy(&pin);
}

static void word_phases(char *text)
{
	const struct phase *list[NR_PHASES];
	struct reason why = { "" };
	size_t nr = 0;
	int err = phase_parse_list(text, list, &nr, &why);

	if (err) {
		fuzz_must(err == -EINVAL && *why.text, text);
		return;
	}
	fuzz_must(nr >= 1 && nr <= NR_PHASES, text);
	for (size_t i = 0; i < nr; i++)
		for (size_t k = 0; k < i; k++)
			fuzz_must(list[i] != list[k], text);
}

static void word_engine(char *text)
{
	struct engine engine;
	struct reason why = { "" };
	int err = engine_parse(&engine, text, &why);

	if (err)
		fuzz_must(err == -EINVAL && *why.text, text);
	else
		fuzz_must(!strcmp(engine.spec, text), text);
	engine_destroy(&engine);
}

static void word_gate(char *text)
{
	struct gate gate;
	struct reason why = { "" };
	int err = gate_parse(&gate, text, &why);

	if (err)
		fuzz_must(err == -EINVAL && *why.text, text);
	else
		fuzz_must(isfinite(gate.ratio) && gate.ratio > 0 &&
				  gate.threads <= PARSE_MAX_THREADS,
			  text);
}

static void word_regression(char *text)
{
	struct reason why = { "" };
	double percent = NAN;
	int err = gates_parse_regression(&percent, text, &why);

	if (err)
		fuzz_must(err == -EINVAL && *why.text, text);
	else
		fuzz_must(percent >= 0 && percent < 100, text);
}

static void word_mount(char *text)
{
	struct mountinfo mount;
	size_t len = strlen(text);

	if (mountinfo_parse(text, &mount))
		fuzz_must(mount.point >= text && mount.point <= text + len, NULL);
}

static const char *const tables[] = { "thp-page-cache-2013", "batched-truncation-2017" };
static char tables_dir[PATH_MAX];

static void tables_remove(void)
{
	char path[PATH_MAX + 64];

	for (size_t i = 0; i < 2; i++) {
		snprintf(path, sizeof(path), "%s/%s.csv", tables_dir, tables[i]);
		unlink(path);
	}
	rmdir(tables_dir);
}

/* Tables lie in a directory, under their names: as links to the file of this input. */
static void tables_make(const char *target)
{
	const char *tmp = getenv("TMPDIR");
	char path[PATH_MAX + 64];

	snprintf(tables_dir, sizeof(tables_dir), "%s/pagezone-fuzz.XXXXXX",
		 tmp && *tmp ? tmp : "/tmp");
	fuzz_must(mkdtemp(tables_dir), tables_dir);
	atexit(tables_remove);
	for (size_t i = 0; i < 2; i++) {
		snprintf(path, sizeof(path), "%s/%s.csv", tables_dir, tables[i]);
		fuzz_must(!symlink(target, path), path);
	}
}

static void table(const char *name, const char *text)
{
	const char *path = fuzz_file(text, strlen(text));
	struct result *result = NULL;
	struct reason why = { "" };
	int err;

	if (!*tables_dir)
		tables_make(path);
	err = import_reference(&result, name, tables_dir, &why);
	if (err)
		fuzz_refused(err, why.text);
	else
		fuzz_must(result->nr_cells > 0, text);
	result_free(result);
}

static void table_2013(char *text)
{
	table(tables[0], text);
}

static void table_2017(char *text)
{
	table(tables[1], text);
}

static void word_duration(char *text)
{
	uint64_t seconds = 77;
	int err = parse_duration(text, &seconds);

	if (err)
		fuzz_must((err == -EINVAL || err == -ERANGE) && seconds == 77, text);
	else
		fuzz_must(*text >= '0' && *text <= '9' &&
				  strlen(text + strspn(text, "0123456789")) == 1,
			  text);
}

static void word_mem(char *text)
{
	struct mem_policy policy = { .nr = 0 };
	struct reason why = { "" };
	int err = mem_policy_parse(&policy, text, &why);

	if (err)
		fuzz_must(err == -EINVAL && *why.text && !policy.nodes, text);
	else
		fuzz_must(!strcmp(mem_policy_text(&policy), text), text);
	mem_policy_destroy(&policy);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	/* Their order is that of the corpus: new ones go to the end. */
	static void (*const readers[])(char *text) = {
		word_size, word_number,	    word_threads,  word_phases, word_engine,
		word_gate, word_regression, word_mount,	   table_2013,	table_2017,
		word_list, word_pin,	    word_duration, word_mem,
	};
	char *text;

	if (!size)
		return 0;
	text = fuzz_string(data + 1, size - 1);
	readers[(uint8_t)(*data - '0') % (sizeof(readers) / sizeof(*readers))](text);
	free(text);
	return 0;
}
