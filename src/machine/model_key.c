/* model_key.c: the words that say which machine it is, each a row: whose it is, and what it sets. */
#include <stdio.h>
#include <string.h>

#include "machine/model.h"

uint8_t model_family(const char *machine)
{
	static const struct {
		const char *name;
		uint8_t family;
	} row[] = {
		{ "niagara", MODEL_NIAGARA },
		{ "maramba", MODEL_VFALLS },
		{ "batoka", MODEL_VFALLS },
		{ "power", MODEL_POWER },
	};

	for (size_t i = 0; i < COUNT(row); i++)
		if (!strcmp(row[i].name, machine))
			return row[i].family;
	return 0;
}

const char *model_load(const char *machine, uint32_t i, const char **text)
{
	const struct power_load *p;
	const struct niagara_load *n;

	if (model_family(machine) == MODEL_POWER) {
		p = power_load_at(i);
		*text = p ? p->text : NULL;
		return p ? p->name : NULL;
	}
	n = niagara_load_at(i);
	*text = n ? n->text : NULL;
	return n ? n->name : NULL;
}

struct sun4v_rights model_rights(const struct model_opts *o)
{
	return o->rights_given ? o->sun4v : (struct sun4v_rights){ true, true, true, true };
}

static int set_seed(struct model_opts *o, const char *value, struct err *e)
{
	return text_u64(value, &o->seed) && o->seed ?
		       0 :
		       err_set(e, TALLY_EINVAL, "seed=%s: expected a number, 1 or more", value);
}

static int model_check_load(const struct model_opts *o, struct err *e)
{
	if (!o->load || !*o->config_path)
		return 0;
	return err_set(e, TALLY_EINVAL, "load= and config= cannot be combined");
}

#define LOADS_MOST 64u

static int set_load(struct model_opts *o, const char *value, struct err *e)
{
	const char *name[LOADS_MOST], *text;
	uint32_t n = 0;
	int i;

	while (n < COUNT(name) && (name[n] = model_load(o->machine, n, &text)) != NULL)
		n++;
	i = text_pick("load", value, TEXT_NAMES(name, n), e);
	if (i >= 0)
		o->load = name[i];
	return i < 0 ? i : model_check_load(o, e);
}

static int set_sockets(struct model_opts *o, const char *value, struct err *e)
{
	uint64_t n;

	if (!text_u64(value, &n) || !n || !sun4v_kind(o->machine, (uint32_t)(n < 64 ? n : 64)))
		return err_set(e, TALLY_EINVAL, "sockets=%s: %s has 1 to %u", value, o->machine,
			       sun4v_kind(o->machine, 0)->nodes);
	o->sockets = (uint32_t)n;
	return 0;
}

static int set_strands(struct model_opts *o, const char *value, struct err *e)
{
	uint64_t n;

	if (!text_u64(value, &n) || !n || n > 256)
		return err_set(e, TALLY_EINVAL, "strands=%s: expected the number of strands of the load, 1 or more",
			       value);
	o->strands = (uint32_t)n;
	return 0;
}

static int set_rights(struct model_opts *o, const char *value, struct err *e)
{
	o->rights_given = true;
	return model_family(o->machine) == MODEL_POWER ? papr_rights_parse(&o->papr, value, e) :
							 sun4v_rights_parse(&o->sun4v, value, e);
}

/* One of two words: the second sets it. */
static int set_choice(bool *to, const char *key, const char *value, const char *const word[2], const char *what,
		      struct err *e)
{
	*to = !strcmp(value, word[1]);
	return *to || !strcmp(value, word[0]) ? 0 : err_set(e, TALLY_EINVAL, "%s=%s: %s", key, value, what);
}

static int set_api(struct model_opts *o, const char *value, struct err *e)
{
	return set_choice(&o->old_api, "api", value, (const char *const[]){ "1.1", "1.0" },
			  "expected the version of group 0x205: 1.0 or 1.1", e);
}

static int set_firmware(struct model_opts *o, const char *value, struct err *e)
{
	return power_level_parse(value, &o->level) ? 0 :
						     err_set(e, TALLY_EINVAL, "firmware=%s: %s", value, POWER_LEVELS);
}

static int set_args(struct model_opts *o, const char *value, struct err *e)
{
	return set_choice(&o->size_first, "args", value, (const char *const[]){ "address-first", "size-first" },
			  "expected address-first or size-first", e);
}

static int set_block(struct model_opts *o, const char *value, struct err *e)
{
	return set_choice(&o->block_page, "block", value, (const char *const[]){ "whole", "page" },
			  "expected whole or page", e);
}

static int set_run_counts(struct model_opts *o, const char *value, struct err *e)
{
	return set_choice(&o->no_run_counts, "run-counts", value, (const char *const[]){ "yes", "no" },
			  "expected yes or no", e);
}

static int set_config(struct model_opts *o, const char *value, struct err *e)
{
	if (strlen(value) >= sizeof(o->config_path))
		return err_set(e, TALLY_EINVAL, "config=: path longer than %zu bytes", sizeof(o->config_path) - 1);
	snprintf(o->config_path, sizeof(o->config_path), "%s", value);
	return model_check_load(o, e);
}

static const struct {
	const char *name;
	uint8_t of; /* enum model_family */
	int (*set)(struct model_opts *o, const char *value, struct err *e);
} keys[] = {
	{ "seed", MODEL_NIAGARA | MODEL_VFALLS | MODEL_POWER, set_seed },
	{ "load", MODEL_NIAGARA | MODEL_VFALLS | MODEL_POWER, set_load },
	{ "sockets", MODEL_VFALLS, set_sockets },
	{ "strands", MODEL_NIAGARA | MODEL_VFALLS, set_strands },
	{ "rights", MODEL_NIAGARA | MODEL_VFALLS | MODEL_POWER, set_rights },
	{ "api", MODEL_VFALLS, set_api },
	{ "firmware", MODEL_POWER, set_firmware },
	{ "args", MODEL_POWER, set_args },
	{ "block", MODEL_POWER, set_block },
	{ "run-counts", MODEL_POWER, set_run_counts },
	{ "config", MODEL_POWER, set_config },
};

const char *model_key(uint8_t family, uint32_t i)
{
	for (size_t k = 0; k < COUNT(keys); k++)
		if (keys[k].of & family && !i--)
			return keys[k].name;
	return NULL;
}

int model_set(struct model_opts *o, const char *key, const char *value, struct err *e)
{
	for (size_t k = 0; k < COUNT(keys); k++)
		if (keys[k].of & model_family(o->machine) && !strcmp(keys[k].name, key))
			return keys[k].set(o, value, e);
	return err_set(e, TALLY_EINVAL, "%s has no key '%s'", o->machine, key);
}
