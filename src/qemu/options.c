/*
 * options.c: the words behind `-plugin file=tally-qemu.so,`.
 *
 *	machine=NAME                power for a pseries guest; niagara, maramba or batoka for a sun4v one and
 *	                            for a program
 *	log=PATH                    a line for each call, or a program's counters at its end
 *
 * and those of --on's model (machine/model_key.c); for a guest also
 *
 *	start=TICKS                 how long the machine has run before the guest: of POWER's timebase, 512,000,000 a
 *	                            second; cycles of sun4v, 1,200,000,000
 *	step=TICKS                  by so much time goes on with each call.  POWER's goes by the clock when it is not
 *	                            said, and stands still when it is 0; sun4v's goes on by 1200, which is a microsecond
 *	partition=N                 pseries: who the guest is; 1 when it is not said
 *
 * and for a program, whose model takes its references and no load,
 *
 *	refs=PATH                   its references as text, and no model
 */
#include "qemu/qemu_int.h"

#define CONFIG_MOST (1u << 20) /* bytes of a machine file */
#define LONGEST_SECONDS 3600u  /* an hour of the machine takes the better part of a minute */
#define KEYS_MOST 32u

enum { PSERIES = 1, SUN4V = 2, PROGRAM = 4 };
static const struct whose {
	unsigned is;
	uint8_t families;     /* of machines */
	const char *machine;  /* the usual one */
	const char *machines; /* in words */
	const char *ticks;
	uint64_t hz, step;
} pseries = { PSERIES,
	      MODEL_POWER,
	      "power",
	      "expected power, the machine of a pseries guest",
	      "expected ticks of the timebase, at most an hour",
	      POWER_TB_HZ,
	      0 },
  sun4v = { SUN4V,
	    MODEL_NIAGARA | MODEL_VFALLS,
	    "niagara",
	    "expected niagara, maramba or batoka",
	    "expected cycles, at most an hour of them",
	    NIAGARA_HZ,
	    1200 },
  program = { PROGRAM, MODEL_NIAGARA | MODEL_VFALLS, "niagara", "expected niagara, maramba or batoka", "", 0, 0 };

static int set_machine(struct qemu_options *o, const struct whose *w, const char *v, struct err *e)
{
	if (!(model_family(v) & w->families))
		return word_wrong(e, "machine", v, w->machines);
	o->model.machine = v;
	return 0;
}

static int set_log(struct qemu_options *o, const struct whose *w, const char *v, struct err *e)
{
	(void)w;
	o->log = v;
	return *v ? 0 : word_wrong(e, "log", v, "expected a path");
}

static int set_refs(struct qemu_options *o, const struct whose *w, const char *v, struct err *e)
{
	(void)w;
	o->refs = v;
	return *v ? 0 : word_wrong(e, "refs", v, "expected a path");
}

static int set_start(struct qemu_options *o, const struct whose *w, const char *v, struct err *e)
{
	return text_u64(v, &o->start) && o->start <= LONGEST_SECONDS * w->hz ? 0 : word_wrong(e, "start", v, w->ticks);
}

static int set_step(struct qemu_options *o, const struct whose *w, const char *v, struct err *e)
{
	o->by_step = text_u64(v, &o->step) && o->step <= LONGEST_SECONDS * w->hz;
	return o->by_step ? 0 : word_wrong(e, "step", v, w->ticks);
}

static int set_partition(struct qemu_options *o, const struct whose *w, const char *v, struct err *e)
{
	uint64_t id;

	(void)w;
	if (!text_u64(v, &id) || !id || id >= UINT16_MAX)
		return word_wrong(e, "partition", v, "expected a number from 1 to 65534");
	o->partition = o->model.asker = (uint16_t)id;
	return 0;
}

static const struct {
	const char *name;
	unsigned whose;
	int (*set)(struct qemu_options *o, const struct whose *w, const char *value, struct err *e);
} keys[] = {
	{ "machine", PSERIES | SUN4V | PROGRAM, set_machine },
	{ "log", PSERIES | SUN4V | PROGRAM, set_log },
	{ "start", PSERIES | SUN4V, set_start },
	{ "step", PSERIES | SUN4V, set_step },
	{ "partition", PSERIES, set_partition },
	{ "refs", PROGRAM, set_refs },
};

/* A word of the machine that `o` has, or one of ours: those come first, since they say which machine it is. */
static int options_set_word(struct qemu_options *o, const struct whose *w, const char *word, bool own, struct err *e)
{
	const char *names[KEYS_MOST + COUNT(keys)], *value, *name;
	size_t row[COUNT(keys)], n = 0, nmodel;
	int i;

	for (uint32_t k = 0; k < KEYS_MOST && (name = model_key(model_family(o->model.machine), k)) != NULL; k++)
		if (w->is != PROGRAM || !strcmp(name, "sockets"))
			names[n++] = name;
	nmodel = n;
	for (size_t k = 0; k < COUNT(keys); k++)
		if (keys[k].whose & w->is) {
			row[n - nmodel] = k;
			names[n++] = keys[k].name;
		}
	i = word_key(word, names, n, &value, e);
	if (i < 0)
		return own ? 0 : i;
	if (((size_t)i >= nmodel) != own)
		return 0;
	return own ? keys[row[(size_t)i - nmodel]].set(o, w, value, e) : model_set(&o->model, names[i], value, e);
}

static int options_take(struct qemu_options *ret, const struct whose *w, int argc, char *const *argv, struct err *e)
{
	struct qemu_options o = {
		.model = { .machine = w->machine, .level = MODEL_LEVEL_AS_CONFIGURED, .idle = w->is == PROGRAM },
		.partition = 1,
		.step = w->step
	};
	int rc = 0;

	for (int pass = 0; pass < 2; pass++)
		for (int i = 0; rc >= 0 && i < argc; i++) {
			struct err why = { 0 };

			rc = options_set_word(&o, w, argv[i], pass == 0, &why);
			if (rc < 0)
				*e = why;
		}
	if (rc >= 0 && *o.model.config_path) {
		rc = file_read_all(o.model.config_path, CONFIG_MOST, &o.config, &o.model.config_bytes, e);
		o.model.config = o.config ? (const char *)o.config : "";
	}
	if (rc < 0)
		qemu_options_free(&o);
	else
		*ret = o;
	return rc;
}

int qemu_options(struct qemu_options *ret, int argc, char *const *argv, struct err *e)
{
	return options_take(ret, &pseries, argc, argv, e);
}

int sun4v_options(struct qemu_options *ret, int argc, char *const *argv, struct err *e)
{
	return options_take(ret, &sun4v, argc, argv, e);
}

int refs_options(struct qemu_options *ret, int argc, char *const *argv, struct err *e)
{
	return options_take(ret, &program, argc, argv, e);
}

void qemu_options_free(struct qemu_options *o)
{
	mem_free(o->config);
	*o = (struct qemu_options){ 0 };
}
