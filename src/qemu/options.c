/*
 * options.c: the words behind `-plugin file=tally-qemu.so,` for a pseries guest.
 *
 *	machine=power               the only one
 *	seed=N, load=NAME           as of the embedded machine; config=PATH: a machine file instead of a load
 *	firmware=0|3|5|6|8
 *	partition=N                 who the guest is; 1 when it is not said
 *	rights=all+expanded+lab     of that partition, or `none`; as the machine has it when it is not said
 *	start=TICKS                 of the timebase, 512,000,000 a second: how long the machine has run before the guest
 *	step=TICKS                  by so much time goes on with each call, instead of by the clock: what every counter
 *	                            says can be foretold; 0: it stands still
 *	log=PATH                    a line for each call
 */
#include "base/file.h"
#include "qemu/qemu_int.h"

static int set_machine(struct qemu_options *o, const char *v, struct err *e)
{
	(void)o;
	return strcmp(v, "power") ? word_wrong(e, "machine", v, "power is the machine for a pseries guest") : 0;
}

static int set_seed(struct qemu_options *o, const char *v, struct err *e)
{
	return text_u64(v, &o->power.seed) && o->power.seed ?
		       0 :
		       word_wrong(e, "seed", v, "a number from 1 up is expected");
}

static int set_load(struct qemu_options *o, const char *v, struct err *e)
{
	const struct power_load *l;
	struct buf all = { 0 };

	for (uint32_t i = 0; (l = power_load_at(i)) != NULL; i++) {
		if (!strcmp(l->name, v)) {
			o->power.load = l->name;
			break;
		}
		buf_printf(&all, "%s%s", i ? ", " : "", l->name);
	}
	if (!l)
		err_set(e, TALLY_EINVAL, "load=%s: there is no such load; there are: %s", v, all.p ? all.p : "none");
	buf_free(&all);
	return l ? 0 : -TALLY_EINVAL;
}

static int set_config(struct qemu_options *o, const char *v, struct err *e)
{
	struct bytes_in in;
	const uint8_t *p;
	int64_t n;
	int rc = o->config ? word_wrong(e, "config", v, "one machine file is enough") : file_in_open(&in, v, e);

	if (rc < 0)
		return rc;
	n = in.at(in.arg, 0, BYTES_WINDOW, &p);
	if (n < 0 || n == BYTES_WINDOW) {
		rc = word_wrong(e, "config", v, n < 0 ? "it cannot be read" : "a machine file has less than 1 MiB");
	} else {
		o->config = mem_alloc((size_t)n + 1);
		if (o->config)
			memcpy(o->config, p, (size_t)n);
		rc = o->config ? 0 : err_oom(e);
		o->power.config = o->config;
		o->power.config_bytes = (size_t)n;
	}
	file_in_close(&in);
	return rc;
}

static int set_firmware(struct qemu_options *o, const char *v, struct err *e)
{
	return power_level_parse(v, &o->power.level) ? 0 : word_wrong(e, "firmware", v, POWER_LEVELS);
}

static int set_partition(struct qemu_options *o, const char *v, struct err *e)
{
	uint64_t id;

	if (!text_u64(v, &id) || !id || id >= UINT16_MAX)
		return word_wrong(e, "partition", v, "a number from 1 to 65534 is expected");
	o->partition = (uint16_t)id;
	return 0;
}

static int set_rights(struct qemu_options *o, const char *v, struct err *e)
{
	o->power.rights_given = true;
	return papr_rights_parse(&o->power.rights, v, e);
}

#define LONGEST (UINT64_C(3600) * POWER_TB_HZ) /* an hour of the machine takes the better part of a minute */

static int set_start(struct qemu_options *o, const char *v, struct err *e)
{
	return text_u64(v, &o->start) && o->start <= LONGEST ?
		       0 :
		       word_wrong(e, "start", v, "ticks of the timebase are expected, at most an hour");
}

static int set_step(struct qemu_options *o, const char *v, struct err *e)
{
	o->by_step = text_u64(v, &o->step) && o->step <= LONGEST;
	return o->by_step ? 0 : word_wrong(e, "step", v, "ticks of the timebase are expected, at most an hour");
}

static int set_log(struct qemu_options *o, const char *v, struct err *e)
{
	o->log = v;
	return *v ? 0 : word_wrong(e, "log", v, "a path is expected");
}

static const struct {
	const char *name;
	int (*set)(struct qemu_options *o, const char *value, struct err *e);
} keys[] = {
	{ "machine", set_machine },     { "seed", set_seed },     { "load", set_load },   { "config", set_config },
	{ "firmware", set_firmware },   { "rights", set_rights }, { "start", set_start }, { "step", set_step },
	{ "partition", set_partition }, { "log", set_log },
};

static int options_set_word(struct qemu_options *o, const char *word, struct err *e)
{
	const char *names[COUNT(keys)], *value;
	int i;

	for (size_t k = 0; k < COUNT(keys); k++)
		names[k] = keys[k].name;
	i = word_key(word, names, COUNT(names), &value, e);
	return i < 0 ? i : keys[i].set(o, value, e);
}

int qemu_options(struct qemu_options *ret, int argc, char *const *argv, struct err *e)
{
	struct qemu_options o = { .power.level = UINT8_MAX, .partition = 1 };
	int rc = 0;

	for (int i = 0; rc >= 0 && i < argc; i++)
		rc = options_set_word(&o, argv[i], e);
	if (rc >= 0 && o.config && o.power.load)
		rc = err_set(e, TALLY_EINVAL,
			     "load=%s: a load is a machine file with a name: leave out load= or config=", o.power.load);
	o.power.asker = o.partition;
	if (rc < 0)
		qemu_options_free(&o);
	else
		*ret = o;
	return rc;
}

void qemu_options_free(struct qemu_options *o)
{
	mem_free(o->config);
	*o = (struct qemu_options){ 0 };
}
