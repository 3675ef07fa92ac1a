/*
 * model.c: a model and its hypervisor service.
 *
 * Nanoseconds are what is kept, so that rounding to the machine's ticks does not add up.
 */
#include <string.h>

#include "machine/model.h"

#define STRANDS_OF_MIXED 8u /* all 256 are slow */

static int model_failed(int rc, struct err *e)
{
	return rc < 0 ? err_set(e, (enum tally_err) - rc, "%s", tally_strerror(rc)) : 0;
}

static int model_open_sun4v(struct model *m, const struct model_opts *o, struct err *e)
{
	struct niagara_opts n = { .seed = o->seed,
				  .load = o->idle ? NULL :
					  o->load ? o->load :
						    MODEL_LOAD,
				  .strands = o->strands,
				  .recorded_ticks = o->opensparc };
	struct sun4v_opts s = { .ops = &niagara_ops,
				.guests = o->guests,
				.old_api = o->old_api,
				.profile = o->opensparc ? SUN4V_PROFILE_OPENSPARC : SUN4V_PROFILE_SPEC };
	int rc;

	m->kind = s.kind = sun4v_kind(o->machine, o->sockets);
	if (!m->kind) {
		const uint32_t most = sun4v_kind(o->machine, 0)->nodes;

		return most == 1 ? err_set(e, TALLY_EINVAL, "sockets=%u: %s has one", o->sockets, o->machine) :
				   err_set(e, TALLY_EINVAL, "sockets=%u: %s has 1 to %u", o->sockets, o->machine, most);
	}
	m->strands = (uint32_t)m->kind->nodes * m->kind->strands_per_node;
	if (o->strands > m->strands)
		return err_set(e, TALLY_EINVAL, "strands=%u: the machine has %u", o->strands, m->strands);
	if (n.load && !n.strands && !strcmp(n.load, "mixed"))
		n.strands = STRANDS_OF_MIXED;
	rc = niagara_open(&m->niagara, m->kind, &n, e);
	s.arg = m->niagara;
	return rc < 0 ? rc : model_failed(sun4v_open(&m->sun4v, &s), e);
}

static int model_open_power(struct model *m, const struct model_opts *o, struct err *e)
{
	const struct power_opts p = { .seed = o->seed,
				      .load = o->load,
				      .config = o->config,
				      .config_bytes = o->config_bytes,
				      .level = o->level,
				      .asker = o->asker,
				      .rights = o->papr,
				      .rights_given = o->rights_given,
				      .no_run_counts = o->no_run_counts };
	struct papr_opts s = { .ops = &power_ops, .size_first = o->size_first, .most = o->block_page ? GPCI_MOST : 0 };
	int rc = power_open(&m->power, &p, e);

	if (rc < 0)
		return rc;
	s.level = power_level(m->power);
	s.arg = m->power;
	return model_failed(papr_open(&m->papr, &s), e);
}

int model_open(struct model **ret, const struct model_opts *o, struct err *e)
{
	struct model *m = mem_alloc(sizeof(*m));
	int rc;

	if (!m)
		return err_oom(e);
	m->name = o->machine;
	rc = model_family(o->machine) == MODEL_POWER ? model_open_power(m, o, e) : model_open_sun4v(m, o, e);
	if (rc < 0)
		model_close(m);
	else
		*ret = m;
	return rc;
}

void model_close(struct model *m)
{
	if (!m)
		return;
	sun4v_close(m->sun4v);
	niagara_close(m->niagara);
	papr_close(m->papr);
	power_close(m->power);
	mem_free(m);
}

/* ---- time ------------------------------------------------------------------------------------- */

void model_run_to(struct model *m, uint64_t ticks)
{
	if (m->niagara)
		niagara_run(m->niagara, ticks);
	else
		power_run(m->power, ticks);
}

void model_advance(struct model *m, uint64_t ns)
{
	static_assert(NIAGARA_HZ == 1200000000 && POWER_TB_HZ == 512000000, "6 cycles in 5 ns; 64 ticks in 125 ns");
	m->ns += ns;
	model_run_to(m, m->niagara ? m->ns / 5 * 6 + m->ns % 5 * 6 / 5 : m->ns / 125 * 64 + m->ns % 125 * 64 / 125);
}

uint64_t model_now(void *model)
{
	const struct model *m = model;
	uint64_t tb = m->power ? power_now(m->power) : 0; /* whole windows */

	static_assert(POWER_WINDOW % 64 == 0, "64 ticks in 125 ns");
	return m->power ? tb / 64 * 125 : m->ns;
}

bool model_has_partition(const struct model *m, uint32_t id)
{
	const struct power_partition *q;
	uint32_t n = power_partitions(m->power, &q);

	for (uint32_t i = 0; i < n; i++)
		if (q[i].id == id)
			return true;
	return false;
}
