/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What a reader of the tables has to know: plain lines that paste into a mail. */
#include "report/report.h"

#include <errno.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include "base/format.h"
#include "report/text.h"

#define INDENT 12 /* "machine:" and the others' room */

/* Text that is put together piece by piece. */
struct line {
	FILE *out; /* of text; NULL: no memory */
	char *text;
	size_t len;
	bool any;
};

static void line_open(struct line *line)
{
	*line = (struct line){ .out = NULL };
	line->out = open_memstream(&line->text, &line->len);
}

/* A further piece, after a comma (@separator ", ") or the like. */
__attribute__((format(printf, 3, 4))) static void
line_add(struct line *line, const char *separator, const char *fmt, ...)
{
	va_list ap;

	if (!line->out)
		return;
	if (line->any)
		fputs(separator, line->out);
	line->any = true;
	va_start(ap, fmt);
	vfprintf(line->out, fmt, ap);
	va_end(ap);
}

/* The line, to be freed; "" when nothing was added. NULL: no memory. */
static char *line_text(struct line *line)
{
	bool failed;

	if (!line->out)
		return NULL;
	failed = ferror(line->out);
	/* glibc's fclose may succeed without memory for the text. */
	if (!fclose(line->out) && !failed)
		return line->text;
	free(line->text);
	return NULL;
}

/* Prints "name:" and @text, which it frees, if there is any. 0 or -ENOMEM. */
static int put_text(const char *name, char *text, FILE *out)
{
	if (!text)
		return -ENOMEM;
	if (*text) {
		fprintf(out, "%-*s", INDENT, name);
		text_wrap(out, text, INDENT, INDENT);
	}
	free(text);
	return 0;
}

static int line_close(struct line *line, const char *name, FILE *out)
{
	return put_text(name, line_text(line), out);
}

static bool known(const char *text)
{
	return text && *text;
}

static int put_machine(const struct result *result, FILE *out)
{
	const struct result_environment *environment = &result->environment;
	struct text text;
	struct line line;

	line_open(&line);
	if (known(environment->cpu_model))
		line_add(&line, ", ", "%s", environment->cpu_model);
	if (environment->nr_machine_cpus)
		line_add(&line, ", ", "%u of %s allowed", environment->nr_allowed_cpus,
			 text_count(&text, environment->nr_machine_cpus, "CPU"));
	if (environment->nr_machine_cpus && known(environment->allowed_cpus))
		line_add(&line, " ", "(%s)", environment->allowed_cpus);
	if (environment->nr_cores)
		line_add(&line, ", ", "%s",
			 text_count(&text, environment->nr_cores, "core"));
	if (environment->nr_packages)
		line_add(&line, ", ", "%s",
			 text_count(&text, environment->nr_packages, "package"));
	if (environment->nr_nodes)
		line_add(&line, ", ", "%s",
			 text_count(&text, environment->nr_nodes, "node"));
	if (known(environment->virtualisation))
		line_add(&line, ", ", "virtualisation %s", environment->virtualisation);
	if (known(environment->governor))
		line_add(&line, ", ", "governor %s", environment->governor);
	if (environment->cpu_quota > 0)
		line_add(&line, ", ", "CPU quota %s",
			 text_fixed(&text, environment->cpu_quota, 2));
	if (environment->load1 >= 0)
		line_add(&line, ", ", "load %s",
			 text_fixed(&text, environment->load1, 2));
	return line_close(&line, "machine:", out);
}

static int put_kernel(const struct result *result, FILE *out)
{
	const struct result_environment *environment = &result->environment;
	struct line line;

	line_open(&line);
	if (known(environment->kernel))
		line_add(&line, "", "%s", environment->kernel);
	return line_close(&line, "kernel:", out);
}

static int put_huge_pages(const struct result *result, FILE *out)
{
	const struct result_environment *environment = &result->environment;
	struct line line;

	line_open(&line);
	if (known(environment->thp_enabled))
		line_add(&line, ", ", "enabled %s", environment->thp_enabled);
	if (known(environment->thp_defrag))
		line_add(&line, ", ", "defrag %s", environment->thp_defrag);
	if (known(environment->thp_shmem))
		line_add(&line, ", ", "shmem %s", environment->thp_shmem);
	return line_close(&line, "THP:", out);
}

static int put_memory(const struct result *result, FILE *out)
{
	const struct result_environment *environment = &result->environment;
	struct text text;
	struct line line;

	line_open(&line);
	if (environment->mem_total && environment->mem_total != UINT64_MAX)
		line_add(&line, ", ", "%s", text_bytes(&text, environment->mem_total));
	if (environment->mem_available && environment->mem_available != UINT64_MAX)
		line_add(&line, ", ", "%s available",
			 text_bytes(&text, environment->mem_available));
	if (environment->cgroup_limit && environment->cgroup_limit != UINT64_MAX)
		line_add(&line, ", ", "cgroup limit %s",
			 text_bytes(&text, environment->cgroup_limit));
	if (environment->numa_balancing >= 0)
		line_add(&line, ", ", "NUMA balancing %s",
			 environment->numa_balancing ? "on" : "off");
	return line_close(&line, "memory:", out);
}

/*
 * The string at @member of each side that has one. Not wrapped: a spec is pasted into a
 * command, and the options of a mount as well.
 */
static void put_sides(const struct result *result, const char *name, size_t member,
		      FILE *out)
{
	bool first = true;
	size_t width = 0;

	for (unsigned i = 0; i < result->nr_sides; i++)
		if (text_width(result->sides[i].name) > width)
			width = text_width(result->sides[i].name);
	for (unsigned i = 0; i < result->nr_sides; i++) {
		const struct result_side *side = &result->sides[i];
		const void *at = (const char *)side + member;
		const char *text = *(char *const *)at;

		if (!known(text))
			continue;
		fprintf(out, "%-*s", INDENT, first ? name : "");
		first = false;
		text_put(out, side->name);
		fprintf(out, "%*s", (int)(width - text_width(side->name) + 2), "");
		text_put(out, text);
		putc('\n', out);
	}
}

static bool is_truncation(const struct result_parameters *parameters)
{
	return parameters->truncate_pages != UINT64_MAX &&
	       parameters->truncate_count != UINT64_MAX;
}

static void put_truncation(const struct result_parameters *parameters, struct line *line)
{
	struct text text;

	line_add(line, ", ", "%s",
		 text_count(&text, parameters->truncate_count, "truncation"));
	line_add(line, " ", "of %s",
		 text_count(&text, parameters->truncate_pages, "page"));
	if (parameters->bytes)
		line_add(line, " ", "(%s)", format_size(parameters->bytes).text);
	line_add(line, " ", "a run and thread");
	if (known(parameters->truncate_state))
		line_add(line, ", ", "pages %s", parameters->truncate_state);
	if (known(parameters->truncate_mapped))
		line_add(line, ", ", "%s",
			 strcmp(parameters->truncate_mapped, "yes") ? "not mapped" :
								      "mapped");
}

static int put_sizes(const struct result *result, FILE *out)
{
	const struct result_parameters *parameters = &result->parameters;
	struct line line;

	line_open(&line);
	if (is_truncation(parameters))
		put_truncation(parameters, &line);
	else if (parameters->bytes)
		line_add(&line, ", ", "%s %s", format_size(parameters->bytes).text,
			 parameters->per_thread_size ? "per thread" : "in total");
	if (parameters->record)
		line_add(&line, ", ", "records of %s",
			 format_size(parameters->record).text);
	if (known(parameters->layout))
		line_add(&line, ", ", "%s files", parameters->layout);
	return line_close(&line, "sizes:", out);
}

char *report_workers(const struct result_parameters *parameters)
{
	struct line line;

	line_open(&line);
	if (known(parameters->workers))
		line_add(&line, ", ", "%s", parameters->workers);
	if (known(parameters->pinned))
		line_add(&line, ", ", "pinned: %s", parameters->pinned);
	else if (known(parameters->pin))
		line_add(&line, ", ", "pin: %s", parameters->pin);
	if (known(parameters->mem))
		line_add(&line, ", ", "memory: %s", parameters->mem);
	return line_text(&line);
}

/* What others measured: how their rounds and windows were is not ours to say. */
static bool is_imported(const struct result *result)
{
	static const char command[] = "pagezone import ";

	return known(result->command_line) &&
	       !strncmp(result->command_line, command, strlen(command));
}

/* As --budget takes it: "90s", "10m". */
static const char *text_budget(struct text *text, uint64_t seconds)
{
	uint64_t unit = seconds % 3600 ? seconds % 60 ? 1 : 60 : 3600;

	snprintf(text->s, sizeof(text->s), "%" PRIu64 "%s", seconds / unit,
		 unit == 1  ? "s" :
		 unit == 60 ? "m" :
			      "h");
	return text->s;
}

static int put_rounds(const struct result *result, FILE *out)
{
	const struct result_parameters *parameters = &result->parameters;
	struct text text;
	struct line line;

	line_open(&line);
	if (parameters->rounds)
		line_add(&line, ", ", "%s",
			 text_count(&text, parameters->rounds,
				    is_truncation(parameters) ? "run" : "round"));
	if (parameters->rounds_auto)
		line_add(
			&line, " ",
			"(until each interval is within %.3g %% of its figure, or for %s)",
			parameters->precision, text_budget(&text, parameters->budget));
	if (is_imported(result))
		return line_close(&line,
				  is_truncation(parameters) ? "runs:" : "rounds:", out);
	if (parameters->rounds && result->nr_sides > 1 && is_truncation(parameters))
		line_add(&line, ", ",
			 "the sides in short turns, their order flipped "
			 "each turn");
	else if (parameters->rounds && result->nr_sides > 1)
		line_add(&line, ", ", "the sides in turn%s",
			 parameters->rounds > 1 ? ", their order flipped each round" :
						  "");
	/* Of different runs, each with rounds of its own, the seed is all there is to say. */
	if (!parameters->rounds) {
		line_add(&line, ", ", "%" PRIu64, parameters->seed);
		return line_close(&line, "seed:", out);
	}
	line_add(&line, ", ", "seed %" PRIu64, parameters->seed);
	return line_close(&line, is_truncation(parameters) ? "runs:" : "rounds:", out);
}

static int put_verified(const struct result *result, FILE *out)
{
	struct line line;

	line_open(&line);
	if (result->parameters.verify)
		line_add(&line, "; ", "every record checked; figures include that");
	return line_close(&line, "verified:", out);
}

static int put_frames(const struct result *result, FILE *out)
{
	const struct result_environment *environment = &result->environment;
	uint64_t bytes = environment->arena_bytes, huge = environment->arena_huge_bytes;
	struct text text;
	struct line line;

	line_open(&line);
	if (bytes && huge == UINT64_MAX)
		line_add(&line, ", ", "%s, unknown how much in huge pages",
			 text_bytes(&text, bytes));
	/* Rounded down: 100 % is all of it. */
	else if (bytes)
		line_add(&line, ", ", "%s, %u %% in huge pages", text_bytes(&text, bytes),
			 huge >= bytes ? 100 :
					 (unsigned)((double)huge / (double)bytes * 100));
	return line_close(&line, "frames:", out);
}

static int put_unit(const struct result *result, FILE *out)
{
	const struct result_parameters *parameters = &result->parameters;
	bool total = parameters->per && !strcmp(parameters->per, "total");
	struct line line;

	line_open(&line);
	if (is_truncation(parameters)) {
		line_add(&line, "; ", "microseconds a truncation");
		if (parameters->rounds)
			line_add(
				&line, "; ",
				"speed-up: baseline's median divided by the side's, of each "
				"run");
		return line_close(&line, "unit:", out);
	}
	line_add(&line, "; ", "kB/s %s (1 kB = 1024 bytes)",
		 total ? "in total" : "per thread");
	if (parameters->rounds > 1)
		line_add(&line, "; ", "median of %u rounds", parameters->rounds);
	if (parameters->rounds > 1 && result->nr_sides > 1)
		line_add(&line, "; ", "speed-up: median of the ratios of each round");
	if (!is_imported(result))
		line_add(&line, "; ",
			 "window: from the last worker's start to the last one's end");
	return line_close(&line, "unit:", out);
}

static void put_warnings(const struct result *result, FILE *out)
{
	for (unsigned i = 0; i < result->nr_warnings; i++) {
		fprintf(out, "%-*s", INDENT, "warning:");
		text_wrap(out, result->warnings[i], INDENT, INDENT);
	}
}

int report_header(const struct result *result, FILE *out)
{
	int err;

	errno = 0;
	fputs("pagezone ", out);
	text_put(out, known(result->version) ? result->version : "(unknown version)");
	if (known(result->command_line)) {
		fputs(": ", out);
		text_put(out, result->command_line);
	}
	putc('\n', out);
	err = put_machine(result, out);
	if (!err)
		err = put_kernel(result, out);
	if (!err)
		err = put_huge_pages(result, out);
	if (!err)
		err = put_memory(result, out);
	if (err)
		return err;
	put_sides(result, "engines:", offsetof(struct result_side, spec), out);
	put_sides(result, "mounts:", offsetof(struct result_side, mount), out);
	err = put_sizes(result, out);
	if (!err)
		err = put_text("workers:", report_workers(&result->parameters), out);
	if (!err)
		err = put_rounds(result, out);
	if (!err)
		err = put_verified(result, out);
	if (!err)
		err = put_frames(result, out);
	if (!err)
		err = put_unit(result, out);
	if (err)
		return err;
	put_warnings(result, out);
	putc('\n', out);
	return text_finish(out);
}
