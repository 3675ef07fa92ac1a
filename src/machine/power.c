/*
 * power.c: the machine and its time, which goes on in windows of 10 ms.
 */
#include "machine/power_int.h"

#define DEFAULT_LEVEL 6u
#define LEVEL_AS_CONFIGURED 255u

static const struct power_load loads[] = {
#define POWER_LOAD(name, text, config) { #name, text, config },
#include "machine/power_load.def"
#undef POWER_LOAD
};

bool power_level_parse(const char *text, uint8_t *ret)
{
	static const uint8_t levels[] = { 0, 3, 5, 6, 8 };
	uint64_t level;

	if (!text_u64(text, &level))
		return false;
	for (size_t i = 0; i < COUNT(levels); i++)
		if (levels[i] == level) {
			*ret = levels[i];
			return true;
		}
	return false;
}

const struct power_load *power_load_at(uint32_t i)
{
	return i < COUNT(loads) ? &loads[i] : NULL;
}

static const struct power_load *find_load(const char *name, struct err *e)
{
	int i = text_pick("load", name, TEXT_NAMES_OF(loads, name), e);

	return i < 0 ? NULL : &loads[i];
}

/* ---- opening -------------------------------------------------------------------------------------- */

/* Takes the changes over from a machine that has tried all of them out. */
static int power_rehearse(struct power *p, const char *text, size_t n, struct err *e)
{
	struct power *trial = mem_alloc(sizeof(*trial));
	int rc;

	if (!trial)
		return err_oom(e);
	trial->rehearsal = true;
	rc = power_configure(trial, text, n, e);
	if (rc == 0) {
		p->change = trial->change;
		p->nchanges = trial->nchanges;
		trial->change = NULL;
	}
	power_close(trial);
	return rc;
}

static int power_set_up(struct power *p, const struct power_opts *o, struct err *e)
{
	const struct power_load *l = o->config ? NULL : find_load(o->load ? o->load : "mixed", e);
	struct ppart *asker;
	int rc;

	if (!o->config && !l)
		return -TALLY_EINVAL;
	if (o->level != LEVEL_AS_CONFIGURED && !power_is_level(o->level))
		return err_set(e, TALLY_EINVAL, "unknown firmware level %u (expected 0, 3, 5, 6 or 8)", o->level);
	p->hpmc = mem_alloc(POWER_CORES_MOST * sizeof(*p->hpmc));
	if (!p->hpmc)
		return err_oom(e);
	rc = power_configure(p, l ? l->config : o->config, l ? strlen(l->config) : o->config_bytes, e);
	if (rc < 0)
		return rc;
	if (p->has_changes &&
	    (rc = power_rehearse(p, l ? l->config : o->config, l ? strlen(l->config) : o->config_bytes, e)) < 0)
		return rc;
	if (o->level != LEVEL_AS_CONFIGURED)
		p->level = o->level;
	asker = power_part(p, o->asker ? o->asker : 1);
	if (o->rights_given && asker)
		asker->c.rights = o->rights;
	power_collect(p);
	return 0;
}

int power_open(struct power **ret, const struct power_opts *o, struct err *e)
{
	struct power *p = mem_alloc(sizeof(*p));
	int rc;

	if (!p)
		return err_oom(e);
	p->seed = o->seed ? o->seed : 1;
	p->level = DEFAULT_LEVEL;
	p->no_run_counts = o->no_run_counts;
	rc = power_set_up(p, o, e);
	if (rc < 0) {
		power_close(p);
		return rc;
	}
	*ret = p;
	return 0;
}

void power_close(struct power *p)
{
	if (!p)
		return;
	for (uint32_t i = 0; i < p->nparts; i++)
		mem_free(p->part[i].memory);
	mem_free(p->part);
	mem_free(p->vp);
	mem_free(p->piece);
	mem_free(p->flow);
	mem_free(p->change);
	mem_free(p->view);
	mem_free(p->hpmc);
	mem_free(p);
}

bool power_is_level(uint64_t level)
{
	return level == 0 || level == 3 || level == 5 || level == 6 || level == 8;
}

uint8_t power_level(const struct power *p)
{
	return p->level;
}

/* ---- time ------------------------------------------------------------------------------------------- */

int power_change(struct power *p, const struct pchange *c, struct err *e)
{
	const struct ppart *is = power_part(p, c->q.id);
	struct power_partition q = c->q;

	switch (c->what) {
	case CHANGE_CREATE:
		return power_create(p, &q, e);
	case CHANGE_DELETE:
		return power_delete(p, q.id, e);
	default:
		if (is)
			q.rights = is->c.rights; /* may have been given otherwise when it was opened */
		return power_resize(p, &q, e);
	}
}

/* They fit, for they have been tried out; what finds no memory waits for the next window. */
static void power_apply_change(struct power *p)
{
	struct err e = { 0 };

	for (; p->changed < p->nchanges && p->change[p->changed].window <= p->windows; p->changed++)
		if (power_change(p, &p->change[p->changed], &e) == -TALLY_ENOMEM)
			return;
}

void power_run(struct power *p, uint64_t tb)
{
	while (tb > p->now && tb - p->now >= POWER_WINDOW) {
		if (p->changed < p->nchanges)
			power_apply_change(p);
		power_window(p);
		p->now += POWER_WINDOW;
		if (++p->windows % p->collection == 0)
			power_collect(p);
	}
}

uint64_t power_now(const struct power *p)
{
	return p->now;
}

/* ---- what no counter shows ------------------------------------------------------------------------------ */

struct power_hidden power_hidden(const struct power *p, uint32_t core)
{
	const struct pcore *c = &p->core[core];

	if (core >= p->ncores || c->state < POWER_SHARED)
		return (struct power_hidden){ 0 };
	return (struct power_hidden){ c->idle, p->now - c->time - c->idle, c->dispatches };
}

struct power_retired power_retired(const struct power *p)
{
	return p->retired;
}
