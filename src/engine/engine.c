/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "engine/engine.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "engine/spec.h"

const struct engine_ops *const engines[] = {
	&engine_cache, &engine_kernel, &engine_tmpfs, &engine_memory, &engine_null, NULL,
};

static const struct engine_ops *engine_find(const char *name)
{
	for (size_t i = 0; engines[i]; i++)
		if (!strcmp(engines[i]->name, name))
			return engines[i];
	return NULL;
}

int engine_parse(struct engine *engine, const char *text, struct reason *why)
{
	struct reason inner = { "" };
	struct spec spec;
	int err;

	memset(engine, 0, sizeof(*engine));
	err = spec_parse(&spec, text, &inner);
	if (err)
		return reason_set(why, err, "engine '%s': %s", text, inner.text);
	engine->ops = engine_find(spec.name);
	if (!engine->ops) {
		err = reason_set(why, -EINVAL,
				 "engine '%s': there is no engine '%s' (there are: "
				 "cache, kernel, tmpfs, memory, null)",
				 text, spec.name);
		goto out;
	}
	engine->flags = engine->ops->flags;
	err = engine->ops->parse(engine, &spec, &inner);
	if (err) {
		reason_set(why, err, "engine '%s': %s", text, inner.text);
		goto out;
	}
	engine->spec = strdup(text);
	if (!engine->spec)
		err = reason_set(why, -ENOMEM, "out of memory");
out:
	spec_destroy(&spec);
	return err;
}

void engine_destroy(struct engine *engine)
{
	if (engine->ops && engine->ops->destroy)
		engine->ops->destroy(engine);
	free(engine->spec);
	memset(engine, 0, sizeof(*engine));
}
