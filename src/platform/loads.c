/*
 * loads.c: what the models can run, by name.  The tables are the machines' own.
 */
#include <string.h>

#include "platform/platform.h"

const char *tally_load(const char *machine, uint32_t i, const char **text)
{
	const struct plat_row *row = NULL;
	const struct kunpeng_load *k;

	for (uint32_t n = 0; (row = plat_row(n)) != NULL && strcmp(row->name, machine); n++)
		;
	if (!row || !row->keys)
		return NULL;
	if (row->keys != PLAT_KUNPENG)
		return model_load(machine, i, text);
	k = kunpeng_load_at(i);
	if (k)
		*text = k->text;
	return k ? k->name : NULL;
}
