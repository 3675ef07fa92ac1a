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

int model_seed_parse(uint64_t *ret, const char *value, struct err *e)
{
	uint64_t n;

	if (!text_u64(value, &n) || !n)
		return err_set(e, TALLY_EINVAL, "seed=%s: expected a number, 1 or more", value);
	*ret = n;
	return 0;
}

#define LOADS_MOST 64u

int model_load_parse(const char **ret, const char *value, const char *(*name)(const void *arg, uint32_t i),
		     const void *arg, struct err *e)
{
	const char *v[LOADS_MOST];
	uint32_t n = 0;
	int i;

	while (n < COUNT(v) && (v[n] = name(arg, n)) != NULL)
		n++;
	i = text_pick("load", value, TEXT_NAMES(v, n), e);
	if (i < 0)
		return i;
	*ret = v[i];
	return 0;
}

static int set_seed(struct model_opts *o, const char *value, struct err *e)
{
	return model_seed_parse(&o->seed, value, e);
}

static int model_check_load(const struct model_opts *o, struct err *e)
{
	if (!o->load || !*o->config_path)
		return 0;
	return err_set(e, TALLY_EINVAL, "load= and config= cannot be combined");
}

static const char *model_load_name(const void *machine, uint32_t i)
{
	const char *text;

	return model_load(machine, i, &text);
}

static int set_load(struct model_opts *o, const char *value, struct err *e)
{
	int rc = model_load_parse(&o->load, value, model_load_name, o->machine, e);

	return rc < 0 ? rc : model_check_load(o, e);
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

static int set_profile(struct model_opts *o, const char *value, struct err *e)
{
	o->profile_given = true;
	o->opensparc = !strcmp(value, "opensparc");
	return o->opensparc || !strcmp(value, "spec") ?
		       0 :
		       err_set(e, TALLY_EINVAL, "profile=%s: expected spec or opensparc", value);
}

static int set_firmware(struct model_opts *o, const char *value, struct err *e)
{
	return power_level_parse(value, &o->level) ? 0 :
						     err_set(e, TALLY_EINVAL, "firmware=%s: %s", value, POWER_LEVELS);
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
	/* set NULL: one of two words, of which the second sets the flag */
	size_t flag;
	const char *word[2], *expected;
} keys[] = {
	{ "seed", MODEL_NIAGARA | MODEL_VFALLS | MODEL_POWER, set_seed, 0, { NULL }, NULL },
	{ "load", MODEL_NIAGARA | MODEL_VFALLS | MODEL_POWER, set_load, 0, { NULL }, NULL },
	{ "sockets", MODEL_VFALLS, set_sockets, 0, { NULL }, NULL },
	{ "strands", MODEL_NIAGARA | MODEL_VFALLS, set_strands, 0, { NULL }, NULL },
	{ "rights", MODEL_NIAGARA | MODEL_VFALLS | MODEL_POWER, set_rights, 0, { NULL }, NULL },
	{ "profile", MODEL_NIAGARA | MODEL_VFALLS, set_profile, 0, { NULL }, NULL },
	{ "api",
	  MODEL_VFALLS,
	  NULL,
	  offsetof(struct model_opts, old_api),
	  { "1.1", "1.0" },
	  "the version of group 0x205: 1.0 or 1.1" },
	{ "firmware", MODEL_POWER, set_firmware, 0, { NULL }, NULL },
	{ "args",
	  MODEL_POWER,
	  NULL,
	  offsetof(struct model_opts, size_first),
	  { "address-first", "size-first" },
	  "address-first or size-first" },
	{ "block", MODEL_POWER, NULL, offsetof(struct model_opts, block_page), { "whole", "page" }, "whole or page" },
	{ "run-counts", MODEL_POWER, NULL, offsetof(struct model_opts, no_run_counts), { "yes", "no" }, "yes or no" },
	{ "config", MODEL_POWER, set_config, 0, { NULL }, NULL },
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
	for (size_t k = 0; k < COUNT(keys); k++) {
		const char *const *word = keys[k].word;

		if (!(keys[k].of & model_family(o->machine)) || strcmp(keys[k].name, key))
			continue;
		if (keys[k].set)
			return keys[k].set(o, value, e);
		if (strcmp(value, word[0]) && strcmp(value, word[1]))
			return err_set(e, TALLY_EINVAL, "%s=%s: expected %s", key, value, keys[k].expected);
		*(bool *)((char *)o + keys[k].flag) = !strcmp(value, word[1]);
		return 0;
	}
	return err_set(e, TALLY_EINVAL, "%s has no key '%s'", o->machine, key);
}
