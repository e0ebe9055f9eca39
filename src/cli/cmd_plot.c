/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The command that has gnuplot draw results. */
#include <argp.h>
#include <errno.h>
#include <fcntl.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "cli/cli.h"
#include "cli/options.h"
#include "report/compare.h"
#include "report/plot.h"
#include "result/join.h"

#define KEY_PER 256

extern char **environ;

struct input {
	const char *output;
	enum report_per per;
	const char **names;
	unsigned nr;
};

static error_t parse(int key, char *arg, struct argp_state *state)
{
	struct input *input = state->input;

	switch (key) {
	case 'o':
		input->output = arg;
		return 0;
	case KEY_PER:
		input->per = options_per(arg);
		return 0;
	case ARGP_KEY_ARG:
		input->names[input->nr++] = arg;
		return 0;
	default:
		return ARGP_ERR_UNKNOWN;
	}
}

static enum plot_format output_format(const char *output)
{
	size_t len = output ? strlen(output) : 0;

	if (!len)
		fail(EXIT_USAGE, "plot needs -o FILE.svg or -o FILE.png");
	if (len > 4 && !strcasecmp(output + len - 4, ".svg"))
		return PLOT_SVG;
	if (len > 4 && !strcasecmp(output + len - 4, ".png"))
		return PLOT_PNG;
	fail(EXIT_USAGE, "-o %s: a picture is .svg or .png", output);
}

/* A file without a name, for what goes into and comes out of gnuplot. */
static FILE *scratch(const char *name)
{
	int fd = memfd_create(name, MFD_CLOEXEC);
	FILE *file = fd < 0 ? NULL : fdopen(fd, "w+");

	if (!file)
		fail(EXIT_CANNOT, "no memory for gnuplot: %s", strerror(errno));
	return file;
}

/* Without a shell. Returns the status that waitpid() has. */
static int run_gnuplot(FILE *script, FILE *picture, FILE *messages)
{
	char *const argv[] = { (char *)"gnuplot", (char *)"-d", (char *)"-", NULL };
	posix_spawn_file_actions_t actions;
	int status = 0, err;
	pid_t pid;

	rewind(script);
	err = posix_spawn_file_actions_init(&actions);
	if (!err)
		err = posix_spawn_file_actions_adddup2(&actions, fileno(script),
						       STDIN_FILENO);
	if (!err)
		err = posix_spawn_file_actions_adddup2(&actions, fileno(picture),
						       STDOUT_FILENO);
	if (!err)
		err = posix_spawn_file_actions_adddup2(&actions, fileno(messages),
						       STDERR_FILENO);
	if (!err)
		err = posix_spawnp(&pid, "gnuplot", &actions, NULL, argv, environ);
	posix_spawn_file_actions_destroy(&actions);
	if (err == ENOENT || err == EACCES || err == ENOTDIR)
		fail(EXIT_CANNOT,
		     "gnuplot is not there; Debian has it in the package gnuplot-nox");
	if (err)
		fail(EXIT_CANNOT, "gnuplot cannot be started: %s", strerror(err));
	while (waitpid(pid, &status, 0) < 0)
		if (errno != EINTR)
			fail(EXIT_CANNOT, "gnuplot: %s", strerror(errno));
	return status;
}

/* What gnuplot has to say stands in its last line. */
static void last_line(FILE *messages, char *text, size_t size)
{
	char line[512];

	rewind(messages);
	while (fgets(line, sizeof(line), messages)) {
		line[strcspn(line, "\r\n")] = '\0';
		if (line[strspn(line, " \t")])
			snprintf(text, size, "%s", line);
	}
}

static int copy(FILE *from, int to)
{
	char buffer[65536];
	size_t nr;

	rewind(from);
	while ((nr = fread(buffer, 1, sizeof(buffer), from)) > 0) {
		for (size_t done = 0; done < nr;) {
			ssize_t written = write(to, buffer + done, nr - done);

			if (written < 0 && errno == EINTR)
				continue;
			if (written < 0)
				return -errno;
			done += (size_t)written;
		}
	}
	return ferror(from) ? -EIO : 0;
}

/* Under a temporary name, so that there is a whole picture or the one that was there. */
static int put_picture(FILE *picture, const char *path)
{
	char *target = realpath(path, NULL), *temp;
	struct stat st;
	int fd, err;

	/* Renaming would not ask whether a file may be written, and replace what is none. */
	if (target && !stat(target, &st) && !S_ISREG(st.st_mode)) {
		free(target);
		return S_ISDIR(st.st_mode) ? -EISDIR : -EINVAL;
	}
	if (target && access(target, W_OK)) {
		err = -errno;
		free(target);
		return err;
	}
	if (!target)
		target = strdup(path);
	if (!target || asprintf(&temp, "%s.tmp.%d", target, getpid()) < 0)
		return -ENOMEM;
	fd = open(temp, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
	err = fd < 0 ? -errno : copy(picture, fd);
	if (fd >= 0 && close(fd) && !err)
		err = -errno;
	if (!err && rename(temp, target))
		err = -errno;
	if (err && fd >= 0)
		unlink(temp);
	free(temp);
	free(target);
	return err;
}

static int draw(FILE *script, const char *output)
{
	FILE *picture = scratch("picture"), *messages = scratch("messages");
	char text[512] = "no message";
	struct stat st;
	int err, status;

	status = run_gnuplot(script, picture, messages);
	last_line(messages, text, sizeof(text));
	if (WIFSIGNALED(status))
		fail(EXIT_CANNOT, "gnuplot was ended by signal %d", WTERMSIG(status));
	if (WEXITSTATUS(status) || fstat(fileno(picture), &st) || !st.st_size)
		fail(EXIT_CANNOT, "gnuplot failed: %s", text);
	err = put_picture(picture, output);
	fclose(picture);
	fclose(messages);
	if (!err)
		return EXIT_DONE;
	say("-o %s: %s", output, strerror(-err));
	return EXIT_CANNOT;
}

/* Whether the sides that stand for two files measured the same; says what differs. */
static bool is_comparable(const struct input *input, unsigned number,
			  const struct result *first, unsigned base,
			  const struct result *other, unsigned side)
{
	const struct difference *fatal;
	struct differences differences;
	bool same;

	if (differences_find(&differences, first, base, other, side))
		fail(EXIT_CANNOT, "out of memory");
	fatal = differences_fatal(&differences);
	same = !fatal;
	if (!same)
		say("no speed-ups of %s over %s are drawn, as they did not measure the same: %s %s and %s",
		    input->names[number], input->names[0], fatal->what, fatal->baseline,
		    fatal->other);
	differences_destroy(&differences);
	return same;
}

/*
 * The speed-ups of files over the first one, as compare has them: a result of one side of
 * each. NULL: one file has nothing to be compared with, or several sides of which none is
 * called patched; then they have speed-ups of their own.
 */
static struct result *compare_files(const struct input *input,
				    struct result *const *results)
{
	unsigned base = 0, side = 0; /* of what is not used then */
	struct result *joined = NULL;
	struct comparison comparison;
	struct reason why;
	int err;

	if (input->nr < 2 || result_pick_side(results[0], NULL, &base, &why))
		return NULL;
	err = result_copy_side(&joined, results[0], base, "baseline");
	for (unsigned i = 1; !err && i < input->nr; i++) {
		char name[24];

		if (result_pick_side(results[i], NULL, &side, &why) ||
		    !is_comparable(input, i, results[0], base, results[i], side))
			goto none;
		snprintf(name, sizeof(name), "file %u", i);
		err = result_join(joined, results[i], side, name);
	}
	if (!err)
		err = result_derive(joined);
	if (!err)
		err = comparison_init(&comparison, joined, false);
	if (err == -E2BIG)
		goto none;
	if (err)
		fail(EXIT_CANNOT, "out of memory");
	comparison_destroy(&comparison);
	return joined;
none:
	result_free(joined);
	return NULL;
}

int cmd_plot(int argc, char **argv)
{
	static const struct argp_option options[] = {
		{ "output", 'o', "FILE", 0, "The picture, FILE.svg or FILE.png (needed)",
		  1 },
		{ "per", KEY_PER, "thread|total", 0, "What is shown (default thread)",
		  1 },
		{ 0 },
	};
	static const char doc[] =
		"Draws results: throughput against threads for each phase, speed-up against "
		"threads (of several files, also over the first one), the times of "
		"truncations.\v"
		"Each RESULT is a file that -o of another command saved. Needs gnuplot (Debian: "
		"gnuplot-nox).";
	const struct argp argp = { options, parse, "RESULT...", doc, NULL, NULL, NULL };
	struct input input = { .per = REPORT_PER_THREAD };
	struct reason why = { "" };
	struct result **results, *between;
	enum plot_format format;
	FILE *script;
	int err, status;

	input.names = calloc((size_t)argc + 1, sizeof(*input.names));
	results = calloc((size_t)argc + 1, sizeof(struct result *));
	if (!input.names || !results)
		fail(EXIT_CANNOT, "out of memory");
	argp_parse(&argp, argc, argv, 0, NULL, &input);
	format = output_format(input.output);
	if (!input.nr)
		fail(EXIT_USAGE, "plot needs a RESULT");
	for (unsigned i = 0; i < input.nr; i++)
		results[i] = result_get(input.names[i]);
	between = compare_files(&input, results);
	script = scratch("script");
	err = report_plot((const struct result *const *)results, input.names, input.nr,
			  between, input.per, format, script, &why);
	if (err)
		fail(err == -EINVAL ? EXIT_USAGE : EXIT_CANNOT, "%s", why.text);
	status = draw(script, input.output);
	fclose(script);
	for (unsigned i = 0; i < input.nr; i++)
		result_free(results[i]);
	result_free(between);
	free(results);
	free(input.names);
	return status;
}
