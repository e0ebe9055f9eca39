/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The null engine: does nothing per record. What it measures is the harness. */
#include <stdint.h>

#include "engine/engine.h"
#include "engine/spec.h"

static int null_parse(struct engine *engine, struct spec *spec, struct reason *why)
{
	(void)engine;
	return spec_refuse_rest(spec, "", why);
}

static int null_start(struct engine *engine, const struct engine_setup *setup,
		      struct reason *why)
{
	(void)why;
	engine->setup = setup;
	return 0;
}

static void null_stop(struct engine *engine)
{
	engine->setup = NULL;
}

/* One run from the first byte to the last: nobody looks at the bytes. */
static int null_fault(struct engine_worker *worker, uint64_t offset, bool write,
		      struct extent *extent)
{
	(void)worker, (void)offset, (void)write;
	*extent = (struct extent){ .start = 0, .end = UINT64_MAX };
	return 0;
}

const struct engine_ops engine_null = {
	.name = "null",
	.summary = "does nothing per record: the harness's own cost",
	.flags = ENGINE_NO_COPY | ENGINE_PROCESSES,
	.parse = null_parse,
	.start = null_start,
	.stop = null_stop,
	.fault = null_fault,
};
