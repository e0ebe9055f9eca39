/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Engine specs: what is taken, and what is refused by name. */
#include "engine/spec.h"

#include <errno.h>
#include <string.h>

#include "base/bits.h"
#include "engine/engine_cache.h"
#include "tap.h"

static void specs(void)
{
	struct reason why;
	struct spec spec;
	const char *value;

	ok(!spec_parse(&spec, "tmpfs:huge=always,dir=/a b:c\\,d\\\\e,size=4g", &why),
	   "a full spec");
	ok(!strcmp(spec.name, "tmpfs") && spec.nr_keys == 3, "its name and keys");
	value = spec_take(&spec, "dir");
	ok(value && !strcmp(value, "/a b:c,d\\e"),
	   "a value with a colon, a comma, a backslash");
	ok(!spec_take(&spec, "nothing"), "a key that is not there");
	ok(spec_refuse_rest(&spec, "dir", &why) == -EINVAL && strstr(why.text, "'huge'"),
	   "a key nobody took is refused by name: %s", why.text);
	spec_take(&spec, "huge");
	spec_take(&spec, "size");
	ok(!spec_refuse_rest(&spec, "", &why), "all taken");
	spec_destroy(&spec);

	ok(!spec_parse(&spec, "kernel:dir=", &why) && !*spec_take(&spec, "dir"),
	   "an empty value");
	spec_destroy(&spec);
	static const char *const malformed[] = {
		"cache:",	  "cache:batch",    "cache:=1",
		"cache:batch=1,", "cache:,batch=1", "cache:batch=1,batch=2",
		"kernel:dir=a\\"
	};
	for (size_t i = 0; i < ARRAY_SIZE(malformed); i++)
		ok(spec_parse(&spec, malformed[i], &why) == -EINVAL, "'%s': %s",
		   malformed[i], why.text);
}

static void engine_is(const char *text, const struct engine_ops *ops, unsigned batch)
{
	struct engine engine;
	struct reason why = { "" };
	int err = engine_parse(&engine, text, &why);

	ok(!err && engine.ops == ops && engine.conf.cache.batch == batch &&
		   !strcmp(engine.spec, text),
	   "engine '%s' %s", text, why.text);
	engine_destroy(&engine);
}

static void engine_fails(const char *text, const char *says)
{
	struct engine engine;
	struct reason why = { "" };

	ok(engine_parse(&engine, text, &why) == -EINVAL && strstr(why.text, says),
	   "engine '%s' is refused: %s", text, why.text);
	engine_destroy(&engine);
}

static void engine_specs(void)
{
	for (unsigned batch = 1; batch <= 512; batch *= 2) {
		char text[32];

		snprintf(text, sizeof(text), "cache:batch=%u", batch);
		engine_is(text, &engine_cache, batch);
	}
	engine_is("memory", &engine_memory, 0);
	engine_is("null", &engine_null, 0);
	engine_fails("", "no engine ''");
	engine_fails("cach:batch=1", "'cach'");
	engine_fails("cache", "batch=N");
	engine_fails("cache:batch=", "batch=");
	engine_fails("cache:batch=0", "batch=0");
	engine_fails("cache:batch=3", "batch=3");
	engine_fails("cache:batch=1024", "batch=1024");
	engine_fails("cache:batch=-1", "batch=-1");
	engine_is("cache:batch=4,map=soft", &engine_cache, 4);
	engine_is("cache:map=uffd,batch=4", &engine_cache_uffd, 4);
	engine_fails("cache:batch=1,map=real", "map=real");
	engine_fails("cache:map=uffd", "batch=N");
	engine_fails("cache:batch=1,dir=/tmp", "'dir'");
	engine_is("cache:batch=2,truncate-batch=1", &engine_cache, 2);
	engine_is("cache:truncate-batch=512,batch=512", &engine_cache, 512);
	engine_fails("cache:batch=1,truncate-batch=0", "truncate-batch=0");
	engine_fails("cache:batch=1,truncate-batch=513", "truncate-batch=513");
	engine_fails("cache:batch=1,truncate-batch=", "truncate-batch=");
	engine_fails("memory:frames=1g", "'frames'");
	engine_fails("null:x=1", "'x'");
	engine_fails("kernel", "dir=DIR");
	engine_fails("kernel:dir=", "dir=DIR");
	engine_fails("kernel:dir=/tmp,advise=never", "advise=never");
	engine_fails("kernel:dir=/tmp,populate=0", "populate=0");
	engine_fails("kernel:dir=/tmp,populate=1k", "populate=1k");
	engine_fails("kernel:dir=/tmp,faultaround=no", "faultaround=no");
	engine_fails("kernel:dir=/tmp,write=0", "write=0");
	engine_fails("kernel:dir=/tmp,write=2g", "write=2g");
	engine_fails("kernel:dir=/tmp,huge=always", "'huge'");
	engine_fails("tmpfs", "huge=never");
	engine_fails("tmpfs:huge=maybe", "huge=maybe");
	engine_fails("tmpfs:huge=always,size=0", "size=0");
	engine_fails("tmpfs:huge=always,size=9e9", "size=9e9");
	engine_fails("tmpfs:huge=always,dir=/tmp", "'dir'");
}

int main(void)
{
	specs();
	engine_specs();
	return done();
}
