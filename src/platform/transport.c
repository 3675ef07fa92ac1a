/*
 * transport.c: a model, its hypervisor service and one guest, behind a transport.
 *
 * The guest's memory is bytes of ours; the service sees them as real addresses from
 * `base`.  Time is what advance() adds up: nanoseconds are kept, so that rounding
 * to the machine's ticks does not add up, and a machine that goes in windows (POWER) is at most one
 * behind; its now() is where it really is.
 *
 * Thread rule: a transport belongs to one thread.
 */
#include <stdio.h>

#include "platform/transport.h"

#define GUEST_BASE UINT64_C(0x80000000)
#define GUEST_LEAST 65536u  /* bytes of memory */
#define STRANDS_OF_MIXED 8u /* a model is slow with all 256 of them */

/* what is behind a transport */
struct machine {
	uint8_t *memory;
	size_t bytes;
	uint64_t ns; /* that have passed */
	char what[40];
	struct hv_transport_ops op;
	/* sun4v */
	struct niagara *niagara;
	struct sun4v *sun4v;
	struct sun4v_guest *guest;
	struct sun4v_vcpu **vcpu;
	uint32_t strands;
	/* POWER */
	struct power *power;
	struct papr *papr;
};

/* ---- the guest's memory -------------------------------------------------------------------- */

static void *line_memory_at(void *arg, uint64_t ra, size_t n)
{
	struct machine *m = arg;

	if (ra < GUEST_BASE || ra - GUEST_BASE > m->bytes || n > m->bytes - (ra - GUEST_BASE))
		return NULL;
	return m->memory + (ra - GUEST_BASE);
}

static struct hv_mem memory_of(struct machine *m)
{
	return (struct hv_mem){ .arg = m, .at = line_memory_at };
}

static int give_memory(struct machine *m, size_t bytes, struct err *e)
{
	m->bytes = bytes < GUEST_LEAST ? GUEST_LEAST : bytes;
	m->memory = mem_alloc(m->bytes);
	return m->memory ? 0 : err_oom(e);
}

static void close_machine(void *arg)
{
	struct machine *m = arg;

	if (m->guest)
		sun4v_guest_close(m->guest);
	sun4v_close(m->sun4v);
	niagara_close(m->niagara);
	papr_close(m->papr);
	power_close(m->power);
	mem_free(m->vcpu);
	mem_free(m->memory);
	mem_free(m);
}

/* ---- sun4v ------------------------------------------------------------------------------------ */

static int no_strand(uint32_t vcpu, struct err *e)
{
	return err_set(e, TALLY_EINVAL, "there is no strand %u", vcpu);
}

static int line_sun4v_call(void *arg, uint32_t vcpu, unsigned trap, uint64_t o[6], struct err *e)
{
	struct machine *m = arg;

	if (vcpu >= m->strands)
		return no_strand(vcpu, e);
	(void)sun4v_call(m->vcpu[vcpu], trap, o);
	return 0;
}

static int line_asr_access(void *arg, uint32_t vcpu, uint32_t number, bool write, uint64_t *value, struct err *e)
{
	struct machine *m = arg;
	bool ok;

	if (vcpu >= m->strands)
		return no_strand(vcpu, e);
	ok = write ? sun4v_asr_write(m->vcpu[vcpu], number, *value) : sun4v_asr_read(m->vcpu[vcpu], number, value);
	return ok ? 0 : err_set(e, TALLY_EINVAL, "there is no ancillary state register 0x%x", number);
}

static void advance_niagara(void *arg, uint64_t ns)
{
	struct machine *m = arg;

	m->ns += ns;
	niagara_run(m->niagara, m->ns / 5 * 6 + m->ns % 5 * 6 / 5);
	static_assert(NIAGARA_HZ == 1200000000, "6 cycles in 5 ns");
}

static uint64_t now_niagara(void *arg)
{
	return ((struct machine *)arg)->ns;
}

static uint64_t tsb_missed(void *arg)
{
	const struct niagara_truth *t = niagara_truth(((struct machine *)arg)->niagara);

	return t->tsb_miss + t->permanent_hit;
}

static const struct hv_transport_ops sun4v_ops = {
	.sun4v = line_sun4v_call,
	.asr = line_asr_access,
	.advance = advance_niagara,
	.now = now_niagara,
	.tsb_missed = tsb_missed,
	.close = close_machine,
};

static int no_kind(const struct transport_opts *o, struct err *e)
{
	uint32_t most = sun4v_kind(o->machine, 0)->nodes;

	if (most == 1)
		return err_set(e, TALLY_EINVAL, "sockets=%u: %s has one", o->sockets, o->machine);
	return err_set(e, TALLY_EINVAL, "sockets=%u: %s has 1 to %u", o->sockets, o->machine, most);
}

static int open_guest(struct machine *m, const struct transport_opts *o, struct err *e)
{
	static const struct sun4v_rights all = { true, true, true, true };
	struct sun4v_guest_opts g = { .rights = o->rights_given ? o->sun4v : all, .mem = memory_of(m) };
	int rc = sun4v_guest_open(&m->guest, m->sun4v, &g);

	for (uint32_t i = 0; rc >= 0 && i < m->strands; i++) {
		rc = sun4v_vcpu_open(&m->vcpu[i], m->guest, i);
		if (rc >= 0)
			niagara_vcpu(m->niagara, i, m->vcpu[i]);
	}
	return rc < 0 ? err_set(e, (enum tally_err) - rc, "%s", tally_strerror(rc)) : 0;
}

static int open_sun4v(struct machine *m, struct hv_transport *l, const struct transport_opts *o, struct err *e)
{
	const struct sun4v_kind *kind = sun4v_kind(o->machine, o->sockets);
	struct niagara_opts n = { .seed = o->seed,
				  .load = o->load ? o->load : TRANSPORT_LOAD,
				  .strands = o->strands,
				  .recorded_ticks = o->opensparc };
	struct sun4v_opts s = { .kind = kind,
				.ops = &niagara_ops,
				.old_api = o->old_api,
				.profile = o->opensparc ? SUN4V_PROFILE_OPENSPARC : SUN4V_PROFILE_SPEC };
	int rc;

	if (!kind)
		return no_kind(o, e);
	m->strands = kind->nodes * kind->strands_per_node;
	if (o->strands > m->strands)
		return err_set(e, TALLY_EINVAL, "strands=%u: there are %u", o->strands, m->strands);
	if (!n.strands && !strcmp(n.load, "mixed"))
		n.strands = STRANDS_OF_MIXED;
	m->op = sun4v_ops;
	rc = give_memory(m, (size_t)m->strands * MMUSTAT_BYTES, e);
	m->vcpu = mem_alloc(m->strands * sizeof(struct sun4v_vcpu *));
	if (rc >= 0 && !m->vcpu)
		rc = err_oom(e);
	if (rc >= 0)
		rc = niagara_open(&m->niagara, kind, &n, e);
	s.arg = m->niagara;
	if (rc >= 0 && (rc = sun4v_open(&m->sun4v, &s)) < 0)
		rc = err_set(e, (enum tally_err) - rc, "%s", tally_strerror(rc));
	if (rc >= 0)
		rc = open_guest(m, o, e);
	l->sockets = kind->nodes;
	l->strands = m->strands;
	l->strands_per_node = kind->strands_per_node;
	return rc;
}

/* ---- POWER ------------------------------------------------------------------------------------- */

static int line_papr_call(void *arg, uint32_t vcpu, uint64_t r[3], struct err *e)
{
	struct machine *m = arg;
	struct hv_mem mem = memory_of(m);

	(void)e;
	papr_ask(m->papr, (struct papr_caller){ .partition = 1, .vcpu = (uint16_t)vcpu }, &mem, r);
	return 0;
}

static void advance_power(void *arg, uint64_t ns)
{
	struct machine *m = arg;

	m->ns += ns;
	power_run(m->power, m->ns / 125 * 64 + m->ns % 125 * 64 / 125);
	static_assert(POWER_TB_HZ == 512000000, "64 ticks in 125 ns");
}

static uint64_t now_power(void *arg)
{
	uint64_t tb = power_now(((struct machine *)arg)->power);

	return tb / 64 * 125 + tb % 64 * 125 / 64;
}

static const struct hv_transport_ops papr_ops = {
	.papr = line_papr_call,
	.advance = advance_power,
	.now = now_power,
	.close = close_machine,
};

static int open_power(struct machine *m, struct hv_transport *l, const struct transport_opts *o, struct err *e)
{
	struct power_opts po = { .seed = o->seed,
				 .load = o->load,
				 .config = o->config,
				 .config_bytes = o->config_bytes,
				 .level = o->level,
				 .rights = o->papr,
				 .rights_given = o->rights_given,
				 .no_run_counts = o->no_run_counts };
	struct papr_opts s = { .ops = &power_ops, .size_first = o->size_first, .most = o->block_page ? GPCI_MOST : 0 };
	int rc = give_memory(m, 2 * GPCI_MOST, e);

	m->op = papr_ops;
	if (rc >= 0)
		rc = power_open(&m->power, &po, e);
	if (rc < 0)
		return rc;
	s.level = power_level(m->power);
	s.arg = m->power;
	rc = papr_open(&m->papr, &s);
	l->level = s.level;
	l->partition = 1;
	return rc < 0 ? err_set(e, (enum tally_err) - rc, "%s", tally_strerror(rc)) : 0;
}

/* ---- both --------------------------------------------------------------------------------------- */

int transport_open(struct hv_transport *ret, const struct transport_opts *o, struct err *e)
{
	struct machine *m = mem_alloc(sizeof(*m));
	struct hv_transport l = { .arg = m, .base = GUEST_BASE };
	int rc;

	if (!m)
		return err_oom(e);
	rc = strcmp(o->machine, "power") ? open_sun4v(m, &l, o, e) : open_power(m, &l, o, e);
	if (rc < 0) {
		close_machine(m);
		return rc;
	}
	snprintf(m->what, sizeof(m->what), "the model '%s'", o->machine);
	snprintf(l.machine, sizeof(l.machine), "%s", o->machine);
	m->op.what = m->what;
	l.op = &m->op;
	l.memory = m->memory;
	l.bytes = m->bytes;
	*ret = l;
	return 0;
}

void transport_close(struct hv_transport *l)
{
	if (l->op && l->op->close)
		l->op->close(l->arg);
	*l = (struct hv_transport){ 0 };
}

const char *transport_load(const char *machine, uint32_t i, const char **text)
{
	const struct niagara_load *n;
	const struct power_load *w;

	if (!strcmp(machine, "power")) {
		w = power_load_at(i);
		*text = w ? w->text : NULL;
		return w ? w->name : NULL;
	}
	n = niagara_load_at(i);
	*text = n ? n->text : NULL;
	return n ? n->name : NULL;
}
