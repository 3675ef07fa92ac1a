/*
 * hv_machine.c: a model and its hypervisor service.
 *
 * Nanoseconds are what is kept, so that rounding to the machine's ticks does not add up.
 *
 * Thread rule: time passes in one thread; what guests may do meanwhile is their service's rule.
 */
#include "platform/hv_machine_int.h"

#define CONFIG_MOST (1u << 20)
#define STRANDS_OF_MIXED 8u /* as of a model behind --on: all 256 are slow */

bool hv_machine_is(const struct plat_on *on)
{
	return on->row->keys & (PLAT_NIAGARA | PLAT_VFALLS | PLAT_POWER);
}

static int hv_machine_failed(int rc, struct err *e)
{
	return rc < 0 ? err_set(e, (enum tally_err) - rc, "%s", tally_strerror(rc)) : 0;
}

static int open_sun4v(struct hv_machine *m, const struct transport_opts *h, bool idle, struct err *e)
{
	struct niagara_opts n = { .seed = h->seed,
				  .load = idle    ? NULL :
					  h->load ? h->load :
						    TRANSPORT_LOAD,
				  .strands = h->strands,
				  .recorded_ticks = h->opensparc };
	struct sun4v_opts s = { .ops = &niagara_ops,
				.guests = HV_GUESTS,
				.old_api = h->old_api,
				.profile = h->opensparc ? SUN4V_PROFILE_OPENSPARC : SUN4V_PROFILE_SPEC };
	int rc;

	m->kind = s.kind = sun4v_kind(m->name, h->sockets);
	if (!m->kind)
		return err_set(e, TALLY_EINVAL, "sockets=%u: %s has fewer", h->sockets, m->name);
	m->strands = (uint32_t)m->kind->nodes * m->kind->strands_per_node;
	if (h->strands > m->strands)
		return err_set(e, TALLY_EINVAL, "strands=%u: the machine has %u", h->strands, m->strands);
	if (n.load && !n.strands && !strcmp(n.load, "mixed"))
		n.strands = STRANDS_OF_MIXED;
	rc = niagara_open(&m->niagara, m->kind, &n, e);
	s.arg = m->niagara;
	return rc < 0 ? rc : hv_machine_failed(sun4v_open(&m->sun4v, &s), e);
}

static int open_power(struct hv_machine *m, const struct plat_on *on, struct err *e)
{
	const struct transport_opts *h = &on->hv;
	struct power_opts p = { .seed = h->seed,
				.load = h->load,
				.level = h->level,
				.rights = h->papr,
				.rights_given = h->rights_given,
				.no_run_counts = h->no_run_counts };
	struct papr_opts s = { .ops = &power_ops, .size_first = h->size_first, .most = h->block_page ? GPCI_MOST : 0 };
	uint8_t *config = NULL;
	int rc = 0;

	if (*on->config) {
		rc = transport_read_file(on->config, CONFIG_MOST, &config, &p.config_bytes, e);
		p.config = config ? (const char *)config : "";
	}
	if (rc >= 0)
		rc = power_open(&m->power, &p, e);
	mem_free(config);
	if (rc < 0)
		return rc;
	s.level = power_level(m->power);
	s.arg = m->power;
	return hv_machine_failed(papr_open(&m->papr, &s), e);
}

int hv_machine_open(struct hv_machine **ret, const struct plat_on *on, bool idle, struct err *e)
{
	struct hv_machine *m = mem_alloc(sizeof(*m));
	int rc;

	if (!m)
		return err_oom(e);
	m->name = on->row->name;
	rc = on->row->keys == PLAT_POWER ? open_power(m, on, e) : open_sun4v(m, &on->hv, idle, e);
	if (rc < 0)
		hv_machine_close(m);
	else
		*ret = m;
	return rc;
}

void hv_machine_close(struct hv_machine *m)
{
	if (!m)
		return;
	sun4v_close(m->sun4v);
	niagara_close(m->niagara);
	papr_close(m->papr);
	power_close(m->power);
	mem_free(m);
}

void hv_machine_run(struct hv_machine *m, uint64_t ns)
{
	static_assert(NIAGARA_HZ == 1200000000 && POWER_TB_HZ == 512000000, "6 cycles in 5 ns; 64 ticks in 125 ns");
	m->ns += ns;
	if (m->niagara)
		niagara_run(m->niagara, m->ns / 5 * 6 + m->ns % 5 * 6 / 5);
	else
		power_run(m->power, m->ns / 125 * 64 + m->ns % 125 * 64 / 125);
}

uint64_t hv_machine_now(void *machine)
{
	const struct hv_machine *m = machine;
	uint64_t tb = m->power ? power_now(m->power) : 0;

	return m->power ? tb / 64 * 125 + tb % 64 * 125 / 64 : m->ns;
}
