/*
 * kunpeng_load.c: the named loads of the kunpeng machine, as rows of kunpeng_load.def.
 */
#include <string.h>

#include "machine/kunpeng_int.h"

static const struct load loads[] = {
#define LOAD(name, a, b, c, d, e, f, g, h, i, faults, text) \
	{ { #name, text }, { a, b, c, d, e, f, g, h, i }, faults },
#include "machine/kunpeng_load.def"
#undef LOAD
};

const struct kunpeng_load *kunpeng_load_at(uint32_t i)
{
	return i < COUNT(loads) ? &loads[i].is : NULL;
}

static const struct load *not_found(const char *name, const char *const *names, struct err *e)
{
	const char *near = text_nearest(name, names, COUNT(loads));
	struct buf all = { 0 };

	for (size_t i = 0; i < COUNT(loads); i++)
		buf_printf(&all, "%s%s", i == 0 ? "" : ", ", names[i]);
	err_set(e, TALLY_EINVAL, "load=%s: the kunpeng machine has no such load; %s%s", name,
		near ? "did you mean " : "there are ", near ? near : all.failed ? "others" : all.p);
	buf_free(&all);
	return NULL;
}

const struct load *load_find(const char *name, struct err *e)
{
	const char *names[COUNT(loads)];

	for (size_t i = 0; i < COUNT(loads); i++) {
		names[i] = loads[i].is.name;
		if (strcmp(names[i], name) == 0)
			return &loads[i];
	}
	return not_found(name, names, e);
}
