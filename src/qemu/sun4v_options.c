/*
 * sun4v_options.c: the words behind `-plugin file=tally-qemu.so,` for a sun4v guest and for a program.
 *
 *	machine=niagara|maramba|batoka, sockets=N       as of the embedded machines
 *	log=PATH                    a line for each call, or a program's counters at its end
 *
 * for a guest of qemu-system-sparc64 also
 *
 *	seed=N, load=NAME, strands=N
 *	rights=global+htstrand      or perfctraccess=1, or none; all when it is not said
 *	profile=spec|opensparc
 *	start=CYCLES                how long the machine has run before the guest
 *	step=CYCLES                 by so much time goes on with each call, 1200 when it is not said, which is a microsecond
 *
 * and for a program
 *
 *	refs=PATH                   its references as text, and no model
 */
#include "qemu/qemu_int.h"

#define STRANDS_OF_MIXED 8u /* as of the embedded machine: all 256 are slow */
#define STEP 1200u
#define LONGEST (UINT64_C(3600) * NIAGARA_HZ)

/* while they are read: what belongs together comes in any order */
struct words {
	struct sun4v_options o;
	const char *machine;
	uint32_t sockets;
};

static bool options_parse_number(const char *v, uint64_t most, uint32_t *ret)
{
	uint64_t n;

	if (!text_u64(v, &n) || !n || n > most)
		return false;
	*ret = (uint32_t)n;
	return true;
}

static int set_machine(struct words *w, const char *v, struct err *e)
{
	w->machine = v;
	return sun4v_kind(v, 0) ? 0 : word_wrong(e, "machine", v, "expected niagara, maramba or batoka");
}

static int set_sockets(struct words *w, const char *v, struct err *e)
{
	return options_parse_number(v, 4, &w->sockets) ? 0 : word_wrong(e, "sockets", v, "expected 1 to 4");
}

static int set_seed(struct words *w, const char *v, struct err *e)
{
	return text_u64(v, &w->o.niagara.seed) && w->o.niagara.seed ?
		       0 :
		       word_wrong(e, "seed", v, "expected a number, 1 or more");
}

static int set_load(struct words *w, const char *v, struct err *e)
{
	const struct niagara_load *l;
	struct buf all = { 0 };

	for (uint32_t i = 0; (l = niagara_load_at(i)) != NULL && strcmp(l->name, v); i++)
		buf_printf(&all, "%s%s", i ? ", " : "", l->name);
	if (l)
		w->o.niagara.load = l->name;
	else
		err_set(e, TALLY_EINVAL, "load=%s: unknown load (expected one of %s)", v, all.p ? all.p : "none");
	buf_free(&all);
	return l ? 0 : -TALLY_EINVAL;
}

static int set_strands(struct words *w, const char *v, struct err *e)
{
	return options_parse_number(v, 256, &w->o.niagara.strands) ? 0 :
								     word_wrong(e, "strands", v, "expected 1 to 256");
}

/* A comma ends a word of QEMU's. */
static int set_rights(struct words *w, const char *v, struct err *e)
{
	char text[64];
	size_t n = strlen(v);

	if (n >= sizeof(text))
		return word_wrong(e, "rights", v, "expected global, strand and htstrand, joined by +, or none");
	memcpy(text, v, n + 1);
	for (char *p = text; (p = strchr(p, '+')) != NULL; p++)
		*p = ',';
	return sun4v_rights_parse(&w->o.rights, text, e);
}

static int set_profile(struct words *w, const char *v, struct err *e)
{
	if (strcmp(v, "spec") && strcmp(v, "opensparc"))
		return word_wrong(e, "profile", v, "expected spec or opensparc");
	w->o.profile = *v == 'o' ? SUN4V_PROFILE_OPENSPARC : SUN4V_PROFILE_SPEC;
	w->o.niagara.recorded_ticks = *v == 'o';
	return 0;
}

static int options_parse_cycles(const char *key, const char *v, uint64_t *ret, struct err *e)
{
	return text_u64(v, ret) && *ret <= LONGEST ? 0 :
						     word_wrong(e, key, v, "expected cycles, at most an hour of them");
}

static int set_start(struct words *w, const char *v, struct err *e)
{
	return options_parse_cycles("start", v, &w->o.start, e);
}

static int set_step(struct words *w, const char *v, struct err *e)
{
	return options_parse_cycles("step", v, &w->o.step, e);
}

static int set_log(struct words *w, const char *v, struct err *e)
{
	w->o.log = v;
	return *v ? 0 : word_wrong(e, "log", v, "expected a path");
}

static int set_refs(struct words *w, const char *v, struct err *e)
{
	w->o.refs = v;
	return *v ? 0 : word_wrong(e, "refs", v, "expected a path");
}

enum { GUEST = 1, PROGRAM = 2 };
static const struct {
	const char *name;
	int whose;
	int (*set)(struct words *w, const char *value, struct err *e);
} keys[] = {
	{ "machine", GUEST | PROGRAM, set_machine },
	{ "sockets", GUEST | PROGRAM, set_sockets },
	{ "log", GUEST | PROGRAM, set_log },
	{ "seed", GUEST, set_seed },
	{ "load", GUEST, set_load },
	{ "strands", GUEST, set_strands },
	{ "rights", GUEST, set_rights },
	{ "profile", GUEST, set_profile },
	{ "start", GUEST, set_start },
	{ "step", GUEST, set_step },
	{ "refs", PROGRAM, set_refs },
};

static int options_set_word(struct words *w, int whose, const char *word, struct err *e)
{
	const char *names[COUNT(keys)], *value;
	size_t row[COUNT(keys)], n = 0;
	int i;

	for (size_t k = 0; k < COUNT(keys); k++)
		if (keys[k].whose & whose) {
			row[n] = k;
			names[n++] = keys[k].name;
		}
	i = word_key(word, names, n, &value, e);
	return i < 0 ? i : keys[row[i]].set(w, value, e);
}

static int options_judge(struct words *w, struct err *e)
{
	struct sun4v_options *o = &w->o;

	o->kind = sun4v_kind(w->machine, w->sockets);
	if (!o->kind)
		return err_set(e, TALLY_EINVAL, "sockets=%u: %s has fewer", w->sockets, w->machine);
	if (o->niagara.strands > (uint32_t)o->kind->nodes * o->kind->strands_per_node)
		return err_set(e, TALLY_EINVAL, "strands=%u: %s has %u", o->niagara.strands, w->machine,
			       (uint32_t)o->kind->nodes * o->kind->strands_per_node);
	if (o->niagara.load && !o->niagara.strands && !strcmp(o->niagara.load, "mixed"))
		o->niagara.strands = STRANDS_OF_MIXED;
	return 0;
}

static int options_take(struct sun4v_options *ret, int whose, const char *load, int argc, char *const *argv,
			struct err *e)
{
	struct words w = { .o = { .rights = { true, true, true, true }, .niagara.load = load, .step = STEP },
			   .machine = "niagara" };
	int rc = 0;

	for (int i = 0; rc >= 0 && i < argc; i++)
		rc = options_set_word(&w, whose, argv[i], e);
	if (rc >= 0)
		rc = options_judge(&w, e);
	if (rc >= 0)
		*ret = w.o;
	return rc;
}

int sun4v_options(struct sun4v_options *ret, int argc, char *const *argv, struct err *e)
{
	return options_take(ret, GUEST, "mixed", argc, argv, e);
}

int refs_options(struct sun4v_options *ret, int argc, char *const *argv, struct err *e)
{
	return options_take(ret, PROGRAM, NULL, argc, argv, e);
}
