/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Opening the engines: what a side needs of the system, before any worker is there. */
#include <errno.h>
#include <stdlib.h>

#include "bench/bench.h"
#include "bench/layout.h"

/* The set-ups of all thread counts. They own their layouts. */
struct setups {
	struct layout *layouts;
	struct engine_setup *setups;
	unsigned nr;
};

static void setups_destroy(struct setups *setups)
{
	while (setups->nr)
		layout_destroy(&setups->layouts[--setups->nr]);
	free(setups->layouts);
	free(setups->setups);
}

static int setups_init(struct setups *setups, const struct bench_conf *conf,
		       struct reason *why)
{
	int err = 0;

	*setups = (struct setups){
		.layouts = calloc(conf->nr_threads, sizeof(*setups->layouts)),
		.setups = calloc(conf->nr_threads, sizeof(*setups->setups)),
	};
	if (!setups->layouts || !setups->setups)
		err = -ENOMEM;
	for (unsigned t = 0; t < conf->nr_threads && !err; t++) {
		struct layout *layout = &setups->layouts[t];

		err = layout_init(layout, conf->threads[t], conf->bytes, conf->per_worker,
				  conf->record, conf->shared);
		if (err)
			break;
		setups->setups[setups->nr++] = layout_setup(layout, conf->processes);
	}
	if (!err)
		return 0;
	setups_destroy(setups);
	if (err == -EOVERFLOW)
		return reason_set(why, err,
				  "%u threads: more bytes than 63 bits can count; "
				  "lower %s or -t (--threads)",
				  conf->threads[setups->nr],
				  conf->truncation ? "--pages" : "-s (--size)");
	return reason_set(why, err, "out of memory");
}

/* -EINVAL with @why where the engine cannot do what is asked of truncations; 0. */
static int refuse_truncation(const struct bench_conf *conf, const struct bench_side *side,
			     struct reason *why)
{
	const struct engine *engine = &side->engine;

	if (!engine->ops->truncate)
		return reason_set(why, -EINVAL,
				  "%s is %s, which has no pages to truncate (cache, "
				  "kernel and tmpfs have)",
				  side->name, engine->spec);
	if (!(engine->flags & ENGINE_FILLS))
		return 0;
	if (!conf->truncation->dirty)
		return reason_set(why, -EINVAL,
				  "--state clean: %s is %s, which fills files by writing",
				  side->name, engine->spec);
	if (conf->shared)
		return reason_set(why, -EINVAL,
				  "--layout shared: %s is %s, which fills whole files",
				  side->name, engine->spec);
	return 0;
}

static int open_side(const struct bench_conf *conf, struct bench_side *side,
		     const struct setups *setups, struct reason *why)
{
	struct reason inner = { "" };
	int err;

	if (conf->processes && !(side->engine.flags & ENGINE_PROCESSES))
		return reason_set(
			why, -EINVAL,
			"--workers process goes with engines of the kernel (kernel, "
			"tmpfs), but %s is %s, which lives in one process",
			side->name, side->engine.spec);
	if (conf->verify && side->engine.flags & ENGINE_NO_COPY)
		return reason_set(why, -EINVAL,
				  "--verify: %s is %s, which moves no bytes to check",
				  side->name, side->engine.spec);
	if (conf->truncation && refuse_truncation(conf, side, why))
		return -EINVAL;
	if (!side->engine.ops->open)
		return 0;
	err = side->engine.ops->open(&side->engine, setups->setups, setups->nr, &inner);
	if (err == -EINVAL)
		err = -EIO; /* not a mistake in the options */
	return err ? reason_set(why, err, "%s: %s", side->name, inner.text) : 0;
}

int bench_open(const struct bench_conf *conf, struct reason *why)
{
	struct setups setups;
	int err = setups_init(&setups, conf, why);

	if (err)
		return err;
	for (unsigned s = 0; s < conf->nr_sides && !err; s++)
		err = open_side(conf, &conf->sides[s], &setups, why);
	setups_destroy(&setups);
	if (err)
		bench_close(conf);
	return err;
}

void bench_close(const struct bench_conf *conf)
{
	for (unsigned s = 0; s < conf->nr_sides; s++) {
		struct engine *engine = &conf->sides[s].engine;

		if (engine->ops->close)
			engine->ops->close(engine);
	}
}
