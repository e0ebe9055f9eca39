/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What the fuzzing harnesses share. A harness is one file with LLVMFuzzerTestOneInput(),
 * which libFuzzer (--enable-fuzzing) calls with what it makes up, and replay.c with the
 * files of its corpus. What must hold for every input is said by fuzz_must().
 */
#ifndef TESTS_FUZZ_FUZZ_H
#define TESTS_FUZZ_FUZZ_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

/* The directory of the harness below tests/fuzz/corpus. */
extern const char fuzz_name[];
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static inline _Noreturn void fuzz_failed(const char *what, const char *detail)
{
	fprintf(stderr, "fuzz: %s: does not hold: %s\n%s\n", fuzz_name, what,
		detail ? detail : "");
	abort();
}

/* @cond holds for every input; @detail, which may be NULL, is shown when it does not. */
#define fuzz_must(cond, detail)                     \
	do {                                        \
		if (!(cond))                        \
			fuzz_failed(#cond, detail); \
	} while (0)

/* The name of a file with those bytes, good until the next call. */
static inline const char *fuzz_file(const void *data, size_t size)
{
	static char path[64];
	static int fd = -1;

	if (fd < 0) {
		fd = memfd_create("fuzz", MFD_CLOEXEC);
		snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
	}
	fuzz_must(fd >= 0 && !ftruncate(fd, 0), NULL);
	fuzz_must(pwrite(fd, data, size, 0) == (ssize_t)size, NULL);
	return path;
}

/* The bytes as a string. The caller frees it. */
static inline char *fuzz_string(const void *data, size_t size)
{
	char *text = malloc(size + 1);

	fuzz_must(text, NULL);
	if (size)
		memcpy(text, data, size);
	text[size] = '\0';
	return text;
}

/*
 * Text that a terminal shows as it is: no control characters, those of ISO 6429 (C1)
 * included, but the newlines that @newlines allows.
 */
static inline bool fuzz_is_plain(const char *text, bool newlines)
{
	for (const unsigned char *c = (const unsigned char *)text; *c; c++) {
		if ((*c < ' ' && !(newlines && *c == '\n')) || *c == 0x7f)
			return false;
		if (c[0] == 0xc2 && c[1] >= 0x80 && c[1] < 0xa0)
			return false;
	}
	return true;
}

/* What is said of an input that is refused: one line with words in it. */
static inline void fuzz_refused(int err, const char *why)
{
	fuzz_must(err < 0, why);
	fuzz_must(*why && fuzz_is_plain(why, false), why);
}

#endif
