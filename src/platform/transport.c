/*
 * transport.c: a model, its hypervisor service and one guest, behind a transport.
 *
 * The guest's memory is bytes of ours; the service sees them as real addresses from
 * `base`.
 *
 * Thread rule: a transport belongs to one thread.
 */
#include <stdio.h>

#include "platform/transport.h"

#define GUEST_BASE UINT64_C(0x80000000)
#define GUEST_LEAST 65536u /* bytes of memory */

/* what is behind a transport */
struct machine {
	struct model *model;
	uint8_t *memory;
	size_t bytes;
	char what[40];
	struct hv_transport_ops op;
	/* sun4v */
	struct sun4v_guest *guest;
	struct sun4v_vcpu **vcpu;
};

/* ---- the guest's memory -------------------------------------------------------------------- */

static void *transport_memory_at(void *arg, uint64_t ra, size_t n)
{
	struct machine *m = arg;

	return range_holds(GUEST_BASE, m->bytes, ra, n) ? m->memory + (ra - GUEST_BASE) : NULL;
}

static struct hv_mem memory_of(struct machine *m)
{
	return (struct hv_mem){ .arg = m, .at = transport_memory_at };
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
	model_close(m->model);
	mem_free(m->vcpu);
	mem_free(m->memory);
	mem_free(m);
}

static void transport_advance(void *arg, uint64_t ns)
{
	model_advance(((struct machine *)arg)->model, ns);
}

static uint64_t transport_now(void *arg)
{
	return model_now(((struct machine *)arg)->model);
}

/* ---- sun4v ------------------------------------------------------------------------------------ */

static int no_strand(uint32_t vcpu, struct err *e)
{
	return err_set(e, TALLY_EINVAL, "no such strand: %u", vcpu);
}

static int transport_sun4v_call(void *arg, uint32_t vcpu, unsigned trap, uint64_t o[6], struct err *e)
{
	struct machine *m = arg;

	if (vcpu >= m->model->strands)
		return no_strand(vcpu, e);
	(void)sun4v_call(m->vcpu[vcpu], trap, o);
	return 0;
}

static int transport_asr_access(void *arg, uint32_t vcpu, uint32_t number, bool write, uint64_t *value, struct err *e)
{
	struct machine *m = arg;
	bool ok;

	if (vcpu >= m->model->strands)
		return no_strand(vcpu, e);
	ok = write ? sun4v_asr_write(m->vcpu[vcpu], number, *value) : sun4v_asr_read(m->vcpu[vcpu], number, value);
	return ok ? 0 : err_set(e, TALLY_EINVAL, "no such ancillary state register: 0x%x", number);
}

static uint64_t tsb_missed(void *arg)
{
	const struct niagara_truth *t = niagara_truth(((struct machine *)arg)->model->niagara);

	return t->tsb_miss + t->permanent_hit;
}

static const struct hv_transport_ops sun4v_ops = {
	.sun4v = transport_sun4v_call,
	.asr = transport_asr_access,
	.advance = transport_advance,
	.now = transport_now,
	.tsb_missed = tsb_missed,
	.close = close_machine,
};

static int open_sun4v(struct machine *m, struct hv_transport *t, const struct model_opts *o, struct err *e)
{
	const struct model *model = m->model;
	const struct sun4v_guest_opts g = { .rights = model_rights(o), .mem = memory_of(m) };
	int rc = give_memory(m, (size_t)model->strands * MMUSTAT_BYTES, e);

	m->op = sun4v_ops;
	m->vcpu = mem_alloc(model->strands * sizeof(struct sun4v_vcpu *));
	if (rc >= 0 && !m->vcpu)
		rc = err_oom(e);
	if (rc < 0)
		return rc;
	rc = sun4v_guest_open(&m->guest, model->sun4v, &g);
	for (uint32_t i = 0; rc >= 0 && i < model->strands; i++) {
		rc = sun4v_vcpu_open(&m->vcpu[i], m->guest, i);
		if (rc >= 0)
			niagara_vcpu(model->niagara, i, m->vcpu[i]);
	}
	t->kind = model->kind;
	t->sockets = model->kind->nodes;
	t->strands = model->strands;
	t->strands_per_node = model->kind->strands_per_node;
	return rc < 0 ? err_set(e, (enum tally_err) - rc, "%s", tally_strerror(rc)) : 0;
}

/* ---- POWER ------------------------------------------------------------------------------------- */

static int transport_papr_call(void *arg, uint32_t vcpu, uint64_t r[3], struct err *e)
{
	struct machine *m = arg;
	struct hv_mem mem = memory_of(m);

	(void)e;
	papr_ask(m->model->papr, (struct papr_caller){ .partition = 1, .vcpu = (uint16_t)vcpu }, &mem, r);
	return 0;
}

static const struct hv_transport_ops papr_ops = {
	.papr = transport_papr_call,
	.advance = transport_advance,
	.now = transport_now,
	.close = close_machine,
};

static int open_power(struct machine *m, struct hv_transport *t, struct err *e)
{
	m->op = papr_ops;
	t->level = power_level(m->model->power);
	t->partition = 1;
	return give_memory(m, 2 * GPCI_MOST, e);
}

/* ---- both --------------------------------------------------------------------------------------- */

int transport_open(struct hv_transport *ret, const struct model_opts *o, struct err *e)
{
	struct machine *m = mem_alloc(sizeof(*m));
	struct hv_transport t = { .arg = m, .base = GUEST_BASE };
	int rc;

	if (!m)
		return err_oom(e);
	rc = model_open(&m->model, o, e);
	if (rc >= 0)
		rc = m->model->kind ? open_sun4v(m, &t, o, e) : open_power(m, &t, e);
	if (rc < 0) {
		close_machine(m);
		return rc;
	}
	snprintf(m->what, sizeof(m->what), "the model '%s'", o->machine);
	m->op.what = m->what;
	t.op = &m->op;
	t.memory = m->memory;
	t.bytes = m->bytes;
	*ret = t;
	return 0;
}

void transport_close(struct hv_transport *t)
{
	if (t->op && t->op->close)
		t->op->close(t->arg);
	*t = (struct hv_transport){ 0 };
}
