/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The command line: argv to calls. Owns the exit statuses and everything that is printed
 * to stderr.
 */
#ifndef CLI_CLI_H
#define CLI_CLI_H

#include <stdnoreturn.h>

enum exit_status {
	EXIT_DONE = 0, /* measured; the gate passed */
	EXIT_GATE = 1, /* the gate failed */
	EXIT_USAGE = 2,
	EXIT_CANNOT = 3, /* could not measure: no space, no permission, a worker failed */
	EXIT_NOISY = 4,	 /* too noisy to decide */
	EXIT_SIGNAL = 128, /* + the signal's number */
};

/* One line on stderr, "pagezone: …"; a progress line that stands there is wiped first. */
void say(const char *fmt, ...) __attribute__((format(printf, 1, 2)));
/* The same, and the end of the process. */
noreturn void fail(enum exit_status status, const char *fmt, ...)
	__attribute__((format(printf, 2, 3)));

/*
 * After a result was printed to standard output with @err, 0 or -errno: flushes it. EXIT_DONE; or
 * EXIT_CANNOT, and it has been said why.
 */
int printed(int err);

struct result;
/* The result in the file @path; ends the process when it is none. */
struct result *result_get(const char *path);
/* The published table @name; ends the process when there is none. @option begins the message. */
struct result *reference_get(const char *option, const char *name);
/* --reference NAME, once: *@reference was NULL. */
void reference_take(struct result **reference, const char *name);
/* That the reference of @result, if it has one, has a phase of it; else usage error. */
void reference_check(const struct result *result);

struct command {
	const char *name, *summary;
	int (*run)(
		int argc,
		char **argv); /* argv[0] is "pagezone COMMAND"; returns the exit status */
};

extern const struct command commands[]; /* ends with a NULL name */

int cmd_speedup(int argc, char **argv);
int cmd_run(int argc, char **argv);
int cmd_truncate(int argc, char **argv);
int cmd_compare(int argc, char **argv);
int cmd_topology(int argc, char **argv);
int cmd_import(int argc, char **argv);
int cmd_plot(int argc, char **argv);

#endif
