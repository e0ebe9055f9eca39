/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "sys/usage.h"

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>

#include "sys/sysfile.h"

static uint64_t timeval_ns(const struct timeval *time)
{
	return (uint64_t)time->tv_sec * 1000000000 + (uint64_t)time->tv_usec * 1000;
}

void usage_read(struct usage *usage)
{
	struct rusage rusage;

	*usage = (struct usage){ 0 };
	if (getrusage(RUSAGE_THREAD, &rusage))
		return;
	usage->minor_faults = (uint64_t)rusage.ru_minflt;
	usage->major_faults = (uint64_t)rusage.ru_majflt;
	usage->voluntary_switches = (uint64_t)rusage.ru_nvcsw;
	usage->involuntary_switches = (uint64_t)rusage.ru_nivcsw;
	usage->user_ns = timeval_ns(&rusage.ru_utime);
	usage->system_ns = timeval_ns(&rusage.ru_stime);
}

/*
 * User and system time are shares of the time that ran, by the ticks that fell into either: the
 * kernel keeps both from going back (cputime_adjust()), others may not.
 */
static uint64_t since(uint64_t now, uint64_t before)
{
	return now > before ? now - before : 0;
}

struct usage usage_since(const struct usage *now, const struct usage *before)
{
	return (struct usage){
		.minor_faults = since(now->minor_faults, before->minor_faults),
		.major_faults = since(now->major_faults, before->major_faults),
		.voluntary_switches =
			since(now->voluntary_switches, before->voluntary_switches),
		.involuntary_switches =
			since(now->involuntary_switches, before->involuntary_switches),
		.user_ns = since(now->user_ns, before->user_ns),
		.system_ns = since(now->system_ns, before->system_ns),
	};
}

void vmstat_read(const char *root, const char *const *names, uint64_t *values,
		 unsigned nr)
{
	FILE *file = sysfile_open(root, "/proc/vmstat");
	char line[128];

	for (unsigned i = 0; i < nr; i++)
		values[i] = UINT64_MAX;
	if (!file)
		return;
	while (fgets(line, sizeof(line), file)) {
		char *value = strchr(line, ' ');

		if (!value)
			continue;
		*value++ = '\0';
		for (unsigned i = 0; i < nr; i++) {
			if (!strcmp(line, names[i]))
				sysfile_number(value, &values[i]);
		}
	}
	fclose(file);
}

/* The sum of both keys over all of the file; UINT64_MAX: it has neither. */
static uint64_t read_pmd_mapped(const char *root, const char *path)
{
	FILE *file = sysfile_open(root, "%s", path);
	unsigned long long kib;
	uint64_t bytes = 0;
	bool found = false;
	char *line = NULL;
	size_t size = 0;

	if (!file)
		return UINT64_MAX;
	while (getline(&line, &size, file) > 0) {
		if (sscanf(line, "FilePmdMapped: %llu kB", &kib) == 1 ||
		    sscanf(line, "ShmemPmdMapped: %llu kB", &kib) == 1) {
			bytes += (uint64_t)kib << 10;
			found = true;
		}
	}
	if (ferror(file))
		found = false;
	free(line);
	fclose(file);
	return found ? bytes : UINT64_MAX;
}

uint64_t usage_pmd_mapped_bytes(const char *root)
{
	uint64_t bytes = read_pmd_mapped(root, "/proc/self/smaps_rollup");

	return bytes != UINT64_MAX ? bytes : read_pmd_mapped(root, "/proc/self/smaps");
}
