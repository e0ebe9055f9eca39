/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The JSON form: writing, reading again, and what strangers may give us to read. */
#include "result/result.h"

#include <errno.h>
#include <fcntl.h>
#include <locale.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/bits.h"
#include "fixture.h"

/* As many times as are kept, and more. */
static void add_times(struct result *result)
{
	uint64_t *few = calloc(3, sizeof(*few));
	uint64_t *many = calloc(RESULT_MAX_TIMES + 1, sizeof(*many));

	if (!few || !many)
		bail("out of memory");
	few[0] = 211003;
	few[1] = 209871;
	few[2] = 4;
	for (unsigned i = 0; i <= RESULT_MAX_TIMES; i++)
		many[i] = 200 + 777 * (i / 2500);
	must(result_times_set(&result->samples[0].times, few, 3));
	must(result_times_set(&result->samples[2].times, many, RESULT_MAX_TIMES + 1));
	result->parameters.truncate_pages = 1024;
	result->parameters.truncate_count = 3;
	result->parameters.truncate_state = copied("dirty");
	result->parameters.truncate_mapped = copied("no");
}

/*
 * With real page faults, placement, times and marks of --verify and --rounds auto as
 * well, so that each key is there.
 */
static struct result *full(void)
{
	struct result *result = fixture_full();

	result->sides[1].mount = copied("tmpfs rw,relatime,size=1024k,huge=always");
	for (unsigned i = 0; i < result->nr_samples; i++)
		if (result->samples[i].side == 1) {
			fixture_real_faults(&result->samples[i], 512);
			fixture_placement(&result->samples[i], 2, 512);
		}
	add_times(result);
	result->parameters.verify = true;
	result->parameters.rounds_auto = true;
	result->parameters.precision = 2.5;
	result->parameters.budget = 600;
	return result;
}

static char tmp[] = "/tmp/pagezone-test.XXXXXX";

/* A path in the test's own directory; valid until the fourth call after. */
static const char *tmp_path(const char *name)
{
	static char paths[4][4096];
	static unsigned next;
	char *path = paths[next++ % 4];

	snprintf(path, sizeof(paths[0]), "%s/%s", tmp, name);
	return path;
}

static void put_file(const char *path, const char *text, size_t len)
{
	FILE *file = fopen(path, "we");

	if (!file || fwrite(text, 1, len, file) != len || fclose(file))
		bail("cannot write %s", path);
}

/* The caller frees it. */
static char *get_file(const char *path)
{
	FILE *file = fopen(path, "re");
	char *text = NULL;
	size_t size = 0;

	if (file && getdelim(&text, &size, '\0', file) < 0) {
		free(text);
		text = NULL;
	}
	if (file)
		fclose(file);
	return text ? text : copied("");
}

static char *json_of(const struct result *result)
{
	char *text = NULL;
	size_t len;
	FILE *out = open_memstream(&text, &len);

	if (!out)
		bail("out of memory");
	must(result_write_json(result, out));
	fclose(out);
	return text;
}

static unsigned nr_entries(const char *pattern)
{
	char command[4200];
	unsigned nr = 0;
	FILE *list;

	snprintf(command, sizeof(command), "ls -A %s | grep -c -- '%s'", tmp, pattern);
	list = popen(command, "re");
	if (!list || fscanf(list, "%u", &nr) != 1)
		bail("cannot list %s", tmp);
	pclose(list);
	return nr;
}

static void test_round_trip(void)
{
	struct result *result = full(), *loaded = NULL;
	char *first = json_of(result), *second = NULL;
	struct reason why = { "" };

	ok_golden(first, "result.json");
	ok(!result_save(result, tmp_path("r.json"), &why), "save");
	second = get_file(tmp_path("r.json"));
	ok(!strcmp(first, second), "the file is what is written");
	free(second);
	if (!ok(!result_load(&loaded, tmp_path("r.json"), &why), "load: %s", why.text))
		bail("nothing to compare");
	second = json_of(loaded);
	ok(!strcmp(first, second),
	   "written, loaded and written again: byte by byte the same");
	ok(!strcmp(loaded->phases[0].title, "Initial writers"), "titles come back");
	ok(loaded->samples[0].workers[0].cpu == -1 &&
		   loaded->samples[1].workers[0].cpu == 0,
	   "not pinned comes back");
	ok(loaded->interrupted && loaded->nr_warnings == 2,
	   "so do interrupted and warnings");
	ok(result_cell(loaded, 2, 1, 2)->is_void &&
		   isnan(result_cell(loaded, 2, 1, 2)->max),
	   "so does a void cell");
	ok(loaded->samples[1].counters.known && !loaded->samples[2].counters.known,
	   "so do counters, or that there are none");
	ok(!loaded->sides[0].mount &&
		   !strcmp(loaded->sides[1].mount, result->sides[1].mount),
	   "so does a mount, or that there is none");
	ok(loaded->samples[0].counters.known == (RESULT_FAULTS | RESULT_LOCKS) &&
		   loaded->samples[1].counters.known ==
			   (RESULT_FAULTS | RESULT_LOCKS | RESULT_USAGE | RESULT_VMSTAT |
			    RESULT_PLACEMENT | RESULT_ASKED),
	   "so does which counters there are");
	ok(!memcmp(loaded->samples[1].counters.vmstat, result->samples[1].counters.vmstat,
		   sizeof(loaded->samples[1].counters.vmstat)),
	   "a counter that the kernel has not stays unknown");
	ok(loaded->samples[0].times.ns && loaded->samples[0].times.ns[1] == 209871 &&
		   loaded->samples[0].times.median_ns == 209871 &&
		   !loaded->samples[1].times.nr,
	   "so do times, or that there are none");
	ok(loaded->samples[2].times.histogram &&
		   loaded->samples[2].times.nr == RESULT_MAX_TIMES + 1 &&
		   loaded->samples[2].times.max_ns == 200 + 777 * 4 &&
		   loaded->samples[2].times.mean_ns == result->samples[2].times.mean_ns,
	   "and those of a histogram");
	free(first);
	free(second);
	result_free(result);
	result_free(loaded);
}

/* The keys of a sample's counters, when only @known are there: as written. */
static char *keys_of(unsigned known)
{
	struct result *result = fixture_full();
	char *text, *from, *to, *keys;

	result->samples[0].counters.known = known;
	result->samples[0].counters.pmd_mapped_bytes = UINT64_MAX;
	text = json_of(result);
	from = strstr(text, "\"counters\": {");
	to = from ? strchr(from, '}') : NULL;
	if (!to)
		bail("no counters");
	*to = '\0';
	keys = copied(from + strlen("\"counters\": {"));
	free(text);
	result_free(result);
	return keys;
}

/* Groups come and go as one. */
static void test_groups(void)
{
	static const struct {
		unsigned known;
		const char *there, *first_absent, *second_absent;
	} groups[] = {
		{ RESULT_FAULTS, "\"pmd_mapped_bytes\": null", "_lock_", "user_ns" },
		{ RESULT_LOCKS, "\"pages_inserted\"", "\"faults\"", "vmstat_" },
		{ RESULT_USAGE, "\"voluntary_switches\": 0", "faults", "_lock_" },
		{ RESULT_VMSTAT, "\"vmstat_pgfault\": 0", "\"faults\"", "user_ns" },
		{ RESULT_PLACEMENT, "\"pages_by_node\": []", "as_asked", "\"faults\"" },
		{ RESULT_ASKED, "\"pages_as_asked\": 0", "sampled", "by_node" },
	};
	/* What they look like in files of others, and of a pagezone before there were
	 * groups. */
	static const struct {
		const char *counters;
		unsigned known;
	} files[] = {
		{ "{}", 0 },
		{ "null", 0 },
		{ "{\"new\": 1}", 0 },
		{ "{\"faults\": null}", 0 },
		{ "{\"major_faults\": 1}", RESULT_FAULTS },
		{ "{\"pages_inserted\": 1, \"new\": 1}", RESULT_LOCKS },
		{ "{\"lru_lock_wait_ns\": 1}", RESULT_LOCKS },
		{ "{\"faults\": 1, \"minor_faults\": 1, \"major_faults\": 0, "
		  "\"pages_inserted\": 1, \"tree_lock_acquisitions\": 2, "
		  "\"pmd_mapped_bytes\": 3}",
		  RESULT_FAULTS | RESULT_LOCKS },
		{ "{\"system_ns\": 1}", RESULT_USAGE },
		{ "{\"vmstat_numa_hit\": null}", RESULT_VMSTAT },
		{ "{\"vmstat_pgfault\": 1, \"user_ns\": 2}",
		  RESULT_USAGE | RESULT_VMSTAT },
		{ "{\"pages_sampled\": 1}", RESULT_PLACEMENT },
		{ "{\"pages_sampled\": 2, \"pages_as_asked\": 2}",
		  RESULT_PLACEMENT | RESULT_ASKED },
	};
	char *keys = keys_of(0);

	ok(!*keys, "no group, no key");
	free(keys);
	for (size_t i = 0; i < ARRAY_SIZE(groups); i++) {
		keys = keys_of(groups[i].known);
		ok(strstr(keys, groups[i].there) &&
			   !strstr(keys, groups[i].first_absent) &&
			   !strstr(keys, groups[i].second_absent),
		   "alone: %s", groups[i].there);
		free(keys);
	}
	for (size_t i = 0; i < ARRAY_SIZE(files); i++) {
		struct result *loaded = NULL;
		struct reason why = { "" };
		char text[1000];

		snprintf(text, sizeof(text), FIXTURE_FILE("%s"), files[i].counters);
		put_file(tmp_path("x"), text, strlen(text));
		ok(!result_load(&loaded, tmp_path("x"), &why) &&
			   loaded->samples[0].counters.known == files[i].known,
		   "loads: %s %s", files[i].counters, why.text);
		if (loaded && (files[i].known & RESULT_VMSTAT))
			ok(loaded->samples[0].counters.vmstat[RESULT_VMSTAT_numa_miss] ==
				   UINT64_MAX,
			   "a counter that is not there is unknown");
		result_free(loaded);
	}
}

/* All that can be unknown is, and all that can be large is. */
static void test_extremes(void)
{
	static const unsigned threads[] = { 1 };
	struct result *result = result_alloc(), *loaded = NULL;
	struct result_sample *sample;
	char *first = json_of(result), *second;
	struct reason why = { "" };

	put_file(tmp_path("r.json"), first, strlen(first));
	ok(!result_load(&loaded, tmp_path("r.json"), &why),
	   "a result of nothing loads: %s", why.text);
	ok(loaded && loaded->environment.mem_total == UINT64_MAX &&
		   loaded->environment.numa_balancing == -1 &&
		   loaded->environment.load1 < 0 && !loaded->environment.kernel,
	   "unknown stays unknown");
	second = json_of(loaded);
	ok(!strcmp(first, second), "and is written the same");
	ok(!strstr(first, "interrupted") && !strstr(first, "warnings"),
	   "without empty remarks");
	free(first);
	free(second);
	result_free(result);
	result_free(loaded);
	loaded = NULL;

	result = fixture_empty(threads, 1, 1);
	must(result_add_side(result, "run", "null"));
	must(result_add_phase(result, "reader", NULL));
	result->parameters.seed = UINT64_MAX;
	result->environment.mem_total = UINT64_MAX - 1;
	result->environment.load1 = INFINITY;
	sample = fixture_sample(result, 0, 0, 1, 0, 0);
	sample->window_ns = 1;
	sample->bytes = INT64_MAX;
	sample->unmap_ns = UINT64_MAX;
	result_sample_rates(sample);
	must(result_derive(result));
	first = json_of(result);
	ok(strstr(first, "\"seed\": \"18446744073709551615\"") != NULL,
	   "a seed that no JSON number holds is a string");
	ok(!strcasestr(first, "nan") && !strcasestr(first, "inf"), "no NaN, no infinity");
	put_file(tmp_path("r.json"), first, strlen(first));
	ok(!result_load(&loaded, tmp_path("r.json"), &why), "large numbers load: %s",
	   why.text);
	ok(loaded && loaded->parameters.seed == UINT64_MAX &&
		   loaded->samples[0].bytes == INT64_MAX &&
		   loaded->samples[0].kb_per_s == sample->kb_per_s,
	   "and are the same");
	second = json_of(loaded);
	ok(!strcmp(first, second), "and are written the same");
	free(first);
	free(second);
	result_free(result);
	result_free(loaded);
}

static void test_bytes(void)
{
	/* Alone, overlong, a surrogate, above U+10FFFF, cut short; then good ones of each
	 * length. */
	static const char mixed[] =
		"a\xff \xc0\xaf \xed\xa0\x80 \xf4\x90\x80\x80 \xe2\x82 "
		"\xc3\xbc\xe2\x82\xac\xf0\x9f\x98\x80\x7f\"\\\n\x01\xe2";
	struct result *result = result_alloc(), *loaded = NULL;
	struct reason why = { "" };
	char *text;

	result->command_line = copied(mixed);
	must(result_add_side(result, "\xfe", mixed));
	text = json_of(result);
	put_file(tmp_path("r.json"), text, strlen(text));
	ok(!result_load(&loaded, tmp_path("r.json"), &why),
	   "bytes that are not UTF-8: %s", why.text);
#define BAD "\xef\xbf\xbd"
	ok(loaded && !strcmp(loaded->command_line,
			     "a" BAD " " BAD BAD " " BAD BAD BAD " " BAD BAD BAD BAD
			     " " BAD BAD
			     " \xc3\xbc\xe2\x82\xac\xf0\x9f\x98\x80\x7f\"\\\n\x01" BAD),
	   "each becomes U+FFFD, the others stay");
	ok(loaded && !strcmp(loaded->sides[0].name, BAD), "in names, too");
#undef BAD
	free(text);
	result_free(result);
	result_free(loaded);
}

/* What replaces what in the golden result, and what the message has to have after the
 * path. */
static const struct {
	const char *from, *to, *message;
} damages[] = {
	{ "pagezone-result/1", "pagezone-result/2", ": schema is \"pagezone-result/2\"" },
	{ "\"schema\":", "\"scheme\":", ": not a pagezone result" },
	{ "\"pagezone-result/1\"", "[1]", ": schema is" },
	{ "\"samples\":", "\"samplez\":", ": samples is missing" },
	{ "\"sides\":", "\"sidez\":", ": sides is missing" },
	{ "\"pagezone\":", "\"pagezon\":", ": pagezone is missing" },
	{ "\"parameters\":", "\"p\":", ": parameters is missing" },
	{ "\"environment\": {", "\"environment\": 5, \"e\": {",
	  ": environment is not an object" },
	{ "\"cells\": [", "\"cells\": 1, \"c\": [", ": cells is not an array" },
	{ "\"warnings\": [", "\"warnings\": [1, ", ": warnings[0] is not a string" },
	{ "\"interrupted\": true", "\"interrupted\": 1", ": interrupted is neither" },
	{ "\"version\": \"1.2.3\"", "\"version\": 1.2",
	  ": pagezone.version is not a string" },
	{ "\"seed\": 42", "\"seed\": -1", ": pagezone.seed is not a whole number" },
	{ "\"seed\": 42", "\"seed\": \"4x\"", ": pagezone.seed is not" },
	{ "\"seed\": 42", "\"seed\": \"99999999999999999999\"",
	  ": pagezone.seed is not" },
	{ "\"load1\": 0.25", "\"load1\": \"0,25\"",
	  ": environment.load1 is not a number" },
	{ "\"load1\": 0.25", "\"load1\": -2", ": environment.load1 is not a number" },
	{ "\"nr_nodes\": 1", "\"nr_nodes\": 4294967296",
	  ": environment.nr_nodes is not" },
	{ "\"kernel\": \"", "\"kernel\": [], \"k\": \"",
	  ": environment.kernel is not a string" },
	{ "\"threads\": [1, 2]", "\"threads\": [1, 0]",
	  ": parameters.threads[1] is not" },
	{ "\"threads\": [1, 2]", "\"threads\": [1, 1]",
	  ": parameters.threads[1] is there" },
	{ "\"threads\": [1, 2]", "\"threads\": 1",
	  ": parameters.threads is not an array" },
	{ "\"phases\": [", "\"phases\": [\"\", ", ": parameters.phases[0] is not" },
	{ "\"phases\": [", "\"phases\": [\"reader\", ", ": parameters.phases[2] is not" },
	{ "\"rounds\": 3,\n", "\"rounds\": 1e9,\n", ": parameters.rounds is not" },
	{ "\"per\": \"thread\"", "\"per\": \"cpu\"", ": parameters.per is neither" },
	{ "\"per_thread_size\": false", "\"per_thread_size\": 0",
	  ": parameters.per_thread_size" },
	{ "{\"name\": \"limit\"", "{\"name\": \"baseline\"",
	  ": sides[2].name baseline is there" },
	{ "{\"name\": \"limit\"", "{\"name\": \"\"", ": sides[2].name is not a name" },
	{ "\"spec\": \"memory\"", "\"spec\": null", ": sides[2].spec is not a name" },
	{ "\"sides\": [", "\"sides\": [7, ", ": sides[0] is not an object" },
	{ "\"samples\": [", "\"samples\": [null, ", ": samples[0] is not an object" },
	{ "{\"side\": \"baseline\"", "{\"side\": \"other\"",
	  ": samples[0].side other is not" },
	{ "{\"side\": \"baseline\"", "{\"side\": 0", ": samples[0].side is not a name" },
	{ "\"phase\": \"initial-writer\", \"threads\": 1,",
	  "\"phase\": \"\", \"threads\": 1,", ": samples[0].phase is not a name" },
	{ "\"threads\": 1, \"round\": 1", "\"threads\": 5000, \"round\": 1",
	  ": samples[0].threads is not a whole number from 1 to 4096" },
	{ "\"threads\": 1, \"round\": 1", "\"threads\": 2, \"round\": 1",
	  ": samples[0].workers are 1, but threads are 2" },
	{ "\"round\": 1,", "\"round\": 0,", ": samples[0].round is not" },
	{ "\"round\": 1,", "\"round\": 2,",
	  ": samples has the same side, phase, threads" },
	{ "\"window_ns\":", "\"window\":", ": samples[0].window_ns is missing" },
	{ "\"bytes\": 536870912", "\"bytes\": -1", ": parameters.bytes is not" },
	{ "\"kb_per_s\": ", "\"kb_per_s\": 1, \"k\": ",
	  ": samples[0].kb_per_s is 1, but" },
	{ "\"total_kb_per_s\": ", "\"total_kb_per_s\": 1, \"k\": ",
	  ": samples[0].total_kb_per_s is 1, but" },
	{ "\"kb_per_s\": ", "\"kb_per_s\": true, \"k\": ",
	  ": samples[0].kb_per_s is not a number" },
	{ "\"workers\": [{", "\"workers\": {}, \"w\": [{",
	  ": samples[0].workers is not an array" },
	{ "\"workers\": [{", "\"workers\": [1, {", ": samples[0].workers are 2, but" },
	{ "\"cpu\": null", "\"cpu\": -1", ": samples[0].workers[0].cpu is not" },
	{ "\"start_ns\": 0", "\"start_ns\": 0.5",
	  ": samples[0].workers[0].start_ns is not" },
	{ "\"times\": {", "\"times\": [], \"t\": {",
	  ": samples[0].times is not an object" },
	{ "\"nr\": 3", "\"nr\": 0", ": samples[0].times.nr is not" },
	{ "\"nr\": 3", "\"nr\": 2", ": samples[0].times.ns has not as many" },
	{ "\"ns\": [", "\"ns\": [0.5, ", ": samples[0].times.ns has not" },
	{ "[211003", "[-1", ": samples[0].times.ns is not" },
	{ "\"buckets\": [[200,", "\"buckets\": [[199,",
	  ": samples[2].times.buckets[0] is not one" },
	{ "\"buckets\": [[", "\"buckets\": [7, [",
	  ": samples[2].times.buckets is not a whole" },
	{ "[200, 200, 2500]", "[200, 200, 2501]",
	  ": samples[2].times.buckets have more" },
	{ "[200, 200, 2500]", "[200, 200, 2499]",
	  ": samples[2].times.buckets have fewer" },
	{ "\"buckets\":", "\"b\":", ": samples[2].times.ns is missing" },
	{ "\"min_ns\": 200,", "\"min_ns\": 200000,", ": samples[2].times.min_ns" },
	{ "\"counters\": {", "\"counters\": [], \"c\": {",
	  ": samples[0].counters is not an object" },
	{ "\"faults\": ", "\"faults\": \"many\", \"f\": ",
	  ": samples[0].counters.faults is not" },
	{ "\"user_ns\": ", "\"user_ns\": -1, \"u\": ",
	  ": samples[1].counters.user_ns is not" },
	{ "\"vmstat_pgfault\": ", "\"vmstat_pgfault\": \"1\", \"v\": ",
	  ": samples[1].counters.vmstat_pgfault is not" },
	{ "\"mount\": \"", "\"mount\": 1, \"m\": \"",
	  ": sides[1].mount is not a string" },
	{ "\"too_short\": true", "\"too_short\": \"yes\"",
	  ": samples[2].too_short is neither" },
	{ "\"failure\": \"", "\"failure\": 1, \"f\": \"", ".failure is not a string" },
	/* Not JSON, or not what we take for it. */
	{ "\"seed\": 42", "\"seed\": 42, \"seed\": 43", ": not JSON: line " },
	{ "\"seed\": 42", "\"seed\": NaN", ": not JSON: line " },
	{ "\"seed\": 42", "\"seed\": 1e999", ": not JSON: line " },
	{ "\"seed\": 42", "\"seed\": 99999999999999999999", ": not JSON: line " },
	{ "\"seed\": 42", "\"seed\": 042", ": not JSON: line " },
	{ "1.2.3", "1.\xff.3", ": not JSON: line " },
	{ "1.2.3", "1.\\u0000.3", ": not JSON: line " },
	{ "1.2.3", "1.\\ud800.3", ": not JSON: line " },
	{ "1.2.3", "1.\033[2J.3", ": not JSON: line " },
	{ "\n}\n", "\n}\n{}", ": not JSON: line " },
};

static char *replaced(const char *text, const char *from, const char *to)
{
	const char *at = strstr(text, from);
	char *copy;

	if (!at || asprintf(&copy, "%.*s%s%s", (int)(at - text), text, to,
			    at + strlen(from)) < 0)
		bail("the golden result has no %s", from);
	return copy;
}

/* Loading fails with a line that names the file, and the right one. */
static void ok_refused(const char *path, const char *message, const char *what)
{
	struct result *loaded = NULL;
	struct reason why = { "" };
	int err = result_load(&loaded, path, &why);
	const char *after = strstr(why.text, path);
	bool good = err < 0 && !loaded && after == why.text;

	if (good)
		good = !strncmp(after + strlen(path), message, strlen(message)) ||
		       (*message == '.' && strstr(after, message));
	for (const char *c = why.text; *c; c++)
		good &= (unsigned char)*c >= ' ' && *c != 0x7f;
	ok(good, "refused: %s", what);
	if (!good)
		printf("# %d: %s\n", err, why.text);
	result_free(loaded);
}

/* A line of its own for each test point: no newline in its name. */
static const char *one_line(const char *text)
{
	static char line[128];

	snprintf(line, sizeof(line), "%s", text);
	for (char *c = line; *c; c++)
		if (*c < ' ' || *c == '#')
			*c = '?';
	return line;
}

static void test_damages(void)
{
	struct result *result = full();
	char *good = json_of(result);

	for (size_t i = 0; i < ARRAY_SIZE(damages); i++) {
		char *bad = replaced(good, damages[i].from, damages[i].to);

		put_file(tmp_path("bad.json"), bad, strlen(bad));
		ok_refused(tmp_path("bad.json"), damages[i].message,
			   one_line(damages[i].to));
		free(bad);
	}
	free(good);
	result_free(result);
}

/* However much of a file is there: an error, never a crash or part of a result. */
static void test_truncated(void)
{
	struct result *result = full(), *loaded;
	char *good = json_of(result);
	size_t len = strlen(good), taken = 0, told = 0;

	for (size_t cut = 0; cut < len - 1; cut += 1 + cut / 97) {
		struct reason why = { "" };

		loaded = NULL;
		put_file(tmp_path("cut.json"), good, cut);
		if (!result_load(&loaded, tmp_path("cut.json"), &why))
			taken++;
		if (strstr(why.text, "cut.json: not JSON") ||
		    strstr(why.text, "cut.json: empty"))
			told++;
		else if (!taken)
			printf("# cut at %zu: %s\n", cut, why.text);
		result_free(loaded);
	}
	ok(!taken, "no truncated file is taken for a result");
	ok(told > 100, "and each is told to be no JSON");
	free(good);
	result_free(result);
}

/* Bytes changed at random: an error or a result, no crash. */
static void test_mangled(void)
{
	struct result *result = full(), *loaded;
	char *good = json_of(result);
	size_t len = strlen(good);
	unsigned bad = 0, nr = 0;
	uint32_t state = 5;

	for (unsigned i = 0; i < 400; i++) {
		struct reason why = { "" };
		char *copy = copied(good);

		for (unsigned n = 0; n <= i % 3; n++) {
			state = state * 1664525 + 1013904223;
			copy[state % len] = "0919{}[]\",:-.e \\un\xff"[state >> 16 & 15];
		}
		put_file(tmp_path("m.json"), copy, len);
		loaded = NULL;
		if (result_load(&loaded, tmp_path("m.json"), &why)) {
			bad += !*why.text || loaded;
			nr++;
		} else {
			free(json_of(loaded));
		}
		result_free(loaded);
		free(copy);
	}
	ok(!bad && nr > 100, "400 mangled files: %u refused, all with a reason", nr);
	free(good);
	result_free(result);
}

static void test_strange_files(void)
{
	char *deep = malloc(2000001), long_path[400];
	struct reason why = { "" };
	struct result *loaded = NULL;

	ok_refused(tmp_path("none.json"), ": No such file or directory", "no file");
	ok_refused(tmp, ": Is a directory", "a directory");
	put_file(tmp_path("x"), "", 0);
	ok_refused(tmp_path("x"), ": empty", "an empty file");
	ok_refused("/dev/zero", ": not JSON", "an endless file of zeros");
	put_file(tmp_path("x"), "[]", 2);
	ok_refused(tmp_path("x"), ": not a pagezone result", "an array");
	put_file(tmp_path("x"), "5", 1);
	ok_refused(tmp_path("x"), ": not JSON", "a number");
	put_file(tmp_path("x"), "{\"schema\": null}", 16);
	ok_refused(tmp_path("x"), ": schema is", "a null schema");
	if (!deep)
		bail("out of memory");
	memset(deep, '[', 2000000);
	put_file(tmp_path("x"), deep, 2000000);
	ok_refused(tmp_path("x"), ": not JSON", "2 million brackets");
	for (size_t i = 0; i + 5 <= 2000000; i += 5)
		memcpy(&deep[i], "{\"a\":", 5);
	put_file(tmp_path("x"), deep, 2000000);
	ok_refused(tmp_path("x"), ": not JSON", "400000 objects in each other");
	free(deep);

	put_file(tmp_path("new\nline\033[2J"), "{", 1);
	ok(result_load(&loaded, tmp_path("new\nline\033[2J"), &why) == -EINVAL &&
		   strstr(why.text, "new?line?[2J: not JSON") && !strchr(why.text, '\n'),
	   "a path with control characters is one plain line");
	memset(long_path, 'p', sizeof(long_path));
	strcpy(&long_path[sizeof(long_path) - 6], ".json");
	ok(result_load(&loaded, long_path, &why) == -ENAMETOOLONG &&
		   !strncmp(why.text, "...ppp", 6) &&
		   strstr(why.text, "p.json: File name too long"),
	   "of a long path, the end is named");
	ok(result_load(&loaded, tmp_path("none"), NULL) == -ENOENT, "no reason wanted");
}

/* What does not have to be there, and what is new. */
static void test_tolerance(void)
{
	static const char text[] =
		"{\"schema\": \"pagezone-result/1\", \"new\": [{}], \"pagezone\": {},\n"
		"\"environment\": {\"new\": 1}, \"parameters\": {\"threads\": []},\n"
		"\"sides\": [{\"name\": \"run\", \"spec\": \"x\", \"mount\": \"/m\"}],\n"
		"\"samples\": [{\"side\": \"run\", \"phase\": \"my-phase\",\n"
		" \"threads\": 2, \"round\": 1.0, \"window_ns\": 1e9,\n"
		" \"bytes\": 2097152, \"pages_local\": 5, \"sum_of_worker_rates\": 77}]}";
	struct result *loaded = NULL;
	struct reason why = { "" };

	put_file(tmp_path("x"), text, sizeof(text) - 1);
	ok(!result_load(&loaded, tmp_path("x"), &why), "unknown keys are skipped: %s",
	   why.text);
	ok(loaded && loaded->nr_phases == 1 &&
		   !strcmp(loaded->phases[0].title, "my-phase"),
	   "a phase that is not known is taken");
	ok(loaded && loaded->nr_cells == 1 && loaded->cells[0].kb_per_s == 1024,
	   "rates are computed when they are not there");
	ok(loaded && loaded->samples[0].sum_of_worker_rates == 77,
	   "what cannot be computed is taken from the file");
	ok(loaded && !loaded->samples[0].counters.known && !loaded->parameters.rounds,
	   "what is not there is unknown");
	result_free(loaded);
}

static void test_save(void)
{
	struct result *result = full();
	char *good = json_of(result), *text;
	struct reason why = { "" };
	struct stat st;
	char name[300];

	ok(!result_save(result, tmp_path("new.json"), &why), "a new file");
	umask(022);
	put_file(tmp_path("old.json"), "old", 3);
	chmod(tmp_path("old.json"), 0640);
	ok(!result_save(result, tmp_path("old.json"), &why), "over an old one");
	text = get_file(tmp_path("old.json"));
	ok(!strcmp(text, good), "which is replaced");
	free(text);
	ok(!stat(tmp_path("old.json"), &st) && (st.st_mode & 0777) == 0640,
	   "and keeps its mode");

	put_file(tmp_path("target.json"), "old", 3);
	if (symlink("target.json", tmp_path("link.json")) ||
	    symlink("fresh.json", tmp_path("dangling.json")) ||
	    symlink("loop.json", tmp_path("loop.json")))
		bail("no symbolic links");
	ok(!result_save(result, tmp_path("link.json"), &why), "through a symbolic link");
	ok(!lstat(tmp_path("link.json"), &st) && S_ISLNK(st.st_mode), "the link stays");
	text = get_file(tmp_path("target.json"));
	ok(!strcmp(text, good), "its target is written");
	free(text);
	ok(!result_save(result, tmp_path("dangling.json"), &why) &&
		   !stat(tmp_path("fresh.json"), &st) && S_ISREG(st.st_mode),
	   "a dangling link makes its target");
	ok(result_save(result, tmp_path("loop.json"), &why) == -ELOOP,
	   "a loop of links is refused");

	ok(result_save(result, tmp, &why) == -EISDIR && strstr(why.text, tmp),
	   "a directory is refused, by name");
	ok(result_save(result, tmp_path("no/such/dir.json"), &why) == -ENOENT,
	   "so is a missing directory");
	ok(result_save(result, tmp_path("old.json/x"), &why) == -ENOTDIR,
	   "or one that is a file");
	ok(result_save(result, tmp_path("slash/"), &why) == -EISDIR,
	   "or a name with a slash after");
	ok(result_save(result, "", &why) == -ENOENT, "or no name");
	memset(name, 'n', 255);
	name[255] = '\0';
	ok(!result_save(result, tmp_path(name), &why), "the longest name there is: %s",
	   why.text);
	ok(nr_entries("[.]tmp[.]") == 0, "no temporary file is left");
	free(good);
	result_free(result);
}

/*
 * Never the nodes in /dev: root, with a bug here, would rename a result over them, and the
 * machine has no /dev/null any more. So these are the test's own.
 */
static void test_save_to_devices(void)
{
	struct result *result = full();
	struct reason why = { "" };
	char *good = json_of(result), *text;
	const char *path;
	struct stat st;
	size_t len = strlen(good);
	int fd;

	text = calloc(len + 1, 1);
	if (!text || mkfifo(tmp_path("fifo"), 0666))
		bail("no fifo");
	fd = open(tmp_path("fifo"), O_RDWR | O_NONBLOCK | O_CLOEXEC);
	ok(!result_save(result, tmp_path("fifo"), &why), "a pipe: %s", why.text);
	ok(read(fd, text, len) == (ssize_t)len && !strcmp(text, good), "gets the result");
	ok(!lstat(tmp_path("fifo"), &st) && S_ISFIFO(st.st_mode), "and is not replaced");
	close(fd);

	/* As /dev/full is. Not for everyone, nor on a file system mounted nodev. */
	path = tmp_path("full");
	fd = mknod(path, S_IFCHR | 0666, makedev(1, 7)) ?
		     -1 :
		     open(path, O_WRONLY | O_CLOEXEC);
	if (fd >= 0) {
		ok(result_save(result, path, &why) == -ENOSPC &&
			   strstr(why.text, "/full: No space left on device"),
		   "a full device is full");
		ok(!lstat(path, &st) && S_ISCHR(st.st_mode), "and is not replaced");
		close(fd);
	} else {
		skip("no device nodes here", 2);
	}
	free(text);
	free(good);
	result_free(result);
}

/* A full disk, for which RLIMIT_FSIZE stands; and a directory that refuses. */
static void test_save_failures(void)
{
	struct result *result = full();
	struct reason why = { "" };
	char name[64], *text;
	int status;
	pid_t child;

	put_file(tmp_path("kept.json"), "kept", 4);
	snprintf(name, sizeof(name), "kept.json.tmp.%d", getpid());
	put_file(tmp_path(name), "somebody else's", 15);
	ok(!result_save(result, tmp_path("kept.json"), &why),
	   "a left-over temporary file is no harm");
	text = get_file(tmp_path(name));
	ok(!strcmp(text, "somebody else's"), "and is not ours to touch");
	free(text);
	unlink(tmp_path(name));

	put_file(tmp_path("kept.json"), "kept", 4);
	fflush(stdout);
	child = fork();
	if (!child) {
		struct rlimit limit = { 2000, 2000 };

		signal(SIGXFSZ, SIG_IGN);
		setrlimit(RLIMIT_FSIZE, &limit);
		status = result_save(result, tmp_path("kept.json"), &why);
		_exit(status == -EFBIG && strstr(why.text, "kept.json: File too large") ?
			      0 :
			      1);
	}
	ok(child > 0 && waitpid(child, &status, 0) == child && !status,
	   "a file that cannot grow is an error");
	text = get_file(tmp_path("kept.json"));
	ok(!strcmp(text, "kept"), "the old file is as it was");
	free(text);
	ok(nr_entries("[.]tmp[.]") == 0, "and the temporary one is gone");

	if (getuid()) {
		chmod(tmp_path("kept.json"), 0444);
		ok(result_save(result, tmp_path("kept.json"), &why) == -EACCES,
		   "a file that is not to be written is not replaced");
		chmod(tmp_path("kept.json"), 0644);
	} else {
		skip("root may write everything", 1);
	}
	result_free(result);
}

/* Standard output in a file: what was printed before and after has to stay. */
static void test_save_to_stdout(void)
{
	struct result *result = full();
	struct reason why = { "" };
	char *good = json_of(result), *text, *wanted;
	int kept, fd, err;

	/* As /dev/stdout is. */
	if (symlink("/proc/self/fd/1", tmp_path("stdout")))
		bail("no symbolic links");
	fflush(stdout);
	kept = dup(STDOUT_FILENO);
	fd = open(tmp_path("out"), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);
	if (kept < 0 || fd < 0 || dup2(fd, STDOUT_FILENO) < 0)
		bail("cannot redirect");
	close(fd);
	printf("before\n");
	err = result_save(result, tmp_path("stdout"), &why);
	printf("after\n");
	fflush(stdout);
	dup2(kept, STDOUT_FILENO);
	close(kept);
	ok(!err, "standard output in a file: %s", why.text);
	text = get_file(tmp_path("out"));
	if (asprintf(&wanted, "before\n%safter\n", good) < 0)
		bail("out of memory");
	ok(!strcmp(text, wanted), "is written where it stands");
	free(wanted);
	free(text);
	free(good);
	result_free(result);
}

static void test_write_errors(void)
{
	struct result *results[] = { full(), result_alloc() };
	/* The second fits into the buffer: only the flush at the end can tell. */
	static const char *const names[] = { "long", "short" };

	for (size_t i = 0; i < ARRAY_SIZE(results); i++) {
		FILE *full = fopen("/dev/full", "r+e");

		ok(full && result_write_json(results[i], full) == -ENOSPC,
		   "a full disk is an error of a %s result", names[i]);
		if (full)
			fclose(full);
		result_free(results[i]);
	}
}

static void test_locale(void)
{
	struct result *result, *loaded = NULL;
	struct reason why = { "" };
	char *text;

	if (!setlocale(LC_ALL, "de_DE.UTF-8")) {
		skip("no locale de_DE.UTF-8", 3);
		return;
	}
	result = full();
	text = json_of(result);
	ok(*localeconv()->decimal_point == ',', "a locale with a decimal comma");
	ok_golden(text, "result.json");
	put_file(tmp_path("r.json"), text, strlen(text));
	ok(!result_load(&loaded, tmp_path("r.json"), &why) &&
		   loaded->environment.load1 == result->environment.load1,
	   "loads there as well: %s", why.text);
	free(text);
	result_free(result);
	result_free(loaded);
	setlocale(LC_ALL, "C");
}

int main(void)
{
	char command[64];

	if (!mkdtemp(tmp))
		bail("no directory for the test");
	test_round_trip();
	test_groups();
	test_extremes();
	test_bytes();
	test_damages();
	test_truncated();
	test_mangled();
	test_strange_files();
	test_tolerance();
	test_save();
	test_save_to_devices();
	test_save_failures();
	test_save_to_stdout();
	test_write_errors();
	test_locale();
	snprintf(command, sizeof(command), "rm -rf %s", tmp);
	if (system(command))
		bail("cannot remove %s", tmp);
	return done();
}
