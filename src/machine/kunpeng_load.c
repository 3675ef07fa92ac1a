/*
 * kunpeng_load.c: the named loads of the kunpeng machine, as rows of kunpeng_load.def.
 */
#include <string.h>

#include "machine/kunpeng_int.h"

static const struct load loads[] = {
#define LOAD(name, a, b, c, d, e, f, g, h, i, faults, text) { { #name, text }, { a, b, c, d, e, f, g, h, i }, faults },
#include "machine/kunpeng_load.def"
#undef LOAD
};

const struct kunpeng_load *kunpeng_load_at(uint32_t i)
{
	return i < COUNT(loads) ? &loads[i].is : NULL;
}

const struct load *load_find(const char *name, struct err *e)
{
	int i = text_pick("load", name, TEXT_NAMES_OF(loads, is.name), e);

	return i < 0 ? NULL : &loads[i];
}
