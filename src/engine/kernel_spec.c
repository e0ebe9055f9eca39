/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The keys of the kernel and tmpfs engines. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "base/bits.h"
#include "base/parse.h"
#include "engine/engine_kernel.h"
#include "engine/spec.h"

#define KERNEL_KEYS  "advise, populate, faultaround, write"
#define MAX_POPULATE (1U << 20)

static const struct {
	const char *name;
	int advice;
} advices[] = {
	{ "normal", MADV_NORMAL },	   { "random", MADV_RANDOM },
	{ "sequential", MADV_SEQUENTIAL }, { "hugepage", MADV_HUGEPAGE },
	{ "nohugepage", MADV_NOHUGEPAGE }, { "willneed", MADV_WILLNEED },
};

static int parse_advice(struct engine *engine, const char *name, struct reason *why)
{
	engine->conf.kernel.advice = -1;
	if (!name)
		return 0;
	for (size_t i = 0; i < ARRAY_SIZE(advices); i++) {
		if (strcmp(advices[i].name, name))
			continue;
		engine->conf.kernel.advice = advices[i].advice;
		return 0;
	}
	return reason_set(why, -EINVAL,
			  "advise=%s: advise is normal, random, sequential, hugepage, "
			  "nohugepage or willneed",
			  name);
}

static int parse_populate(struct engine *engine, const char *text, struct reason *why)
{
	uint64_t n;

	if (!text)
		return 0;
	if (parse_uint(text, 1, MAX_POPULATE, &n))
		return reason_set(why, -EINVAL,
				  "populate=%s: populate is a number of pages, 1 to %u",
				  text, MAX_POPULATE);
	engine->conf.kernel.populate = (unsigned)n;
	return 0;
}

static int parse_faultaround(struct engine *engine, const char *text, struct reason *why)
{
	if (!text || !strcmp(text, "on"))
		return 0;
	if (strcmp(text, "off"))
		return reason_set(why, -EINVAL,
				  "faultaround=%s: faultaround is on or off", text);
	engine->conf.kernel.no_faultaround = true;
	return 0;
}

static int parse_write(struct engine *engine, const char *text, struct reason *why)
{
	if (!text)
		return 0;
	if (parse_size(text, &engine->conf.kernel.write) || !engine->conf.kernel.write ||
	    engine->conf.kernel.write > 1 << 30)
		return reason_set(why, -EINVAL,
				  "write=%s: write is the size of a write(2), up to 1g",
				  text);
	engine->flags |= ENGINE_FILLS;
	return 0;
}

static int parse_common(struct engine *engine, struct spec *spec, const char *known,
			struct reason *why)
{
	int err = parse_advice(engine, spec_take(spec, "advise"), why);

	if (!err)
		err = parse_populate(engine, spec_take(spec, "populate"), why);
	if (!err)
		err = parse_faultaround(engine, spec_take(spec, "faultaround"), why);
	if (!err)
		err = parse_write(engine, spec_take(spec, "write"), why);
	return err ? err : spec_refuse_rest(spec, known, why);
}

int kernel_parse(struct engine *engine, struct spec *spec, struct reason *why)
{
	const char *dir = spec_take(spec, "dir");

	if (!dir || !*dir)
		return reason_set(why, -EINVAL,
				  "kernel needs dir=DIR, the directory its files lie in");
	engine->conf.kernel.dir = strdup(dir);
	if (!engine->conf.kernel.dir)
		return reason_set(why, -ENOMEM, "out of memory");
	return parse_common(engine, spec, "dir, " KERNEL_KEYS, why);
}

int tmpfs_parse(struct engine *engine, struct spec *spec, struct reason *why)
{
	static const char *const kinds[] = { "never", "always", "within_size", "advise" };
	const char *huge = spec_take(spec, "huge"), *size = spec_take(spec, "size");
	bool known = false;

	if (!huge)
		return reason_set(
			why, -EINVAL,
			"tmpfs needs huge=never, always, within_size or advise");
	for (size_t i = 0; i < ARRAY_SIZE(kinds); i++)
		known |= !strcmp(kinds[i], huge);
	if (!known)
		return reason_set(why, -EINVAL,
				  "huge=%s: huge is never, always, within_size or advise",
				  huge);
	if (size && (parse_size(size, &engine->conf.kernel.size) ||
		     engine->conf.kernel.size < PAGE_SIZE ||
		     engine->conf.kernel.size > INT64_MAX))
		return reason_set(why, -EINVAL,
				  "size=%s: size is that of the tmpfs, at least 4k",
				  size);
	engine->conf.kernel.huge = strdup(huge);
	if (!engine->conf.kernel.huge)
		return reason_set(why, -ENOMEM, "out of memory");
	return parse_common(engine, spec, "huge, size, " KERNEL_KEYS, why);
}

void kernel_destroy(struct engine *engine)
{
	free(engine->conf.kernel.dir);
	free(engine->conf.kernel.huge);
}
