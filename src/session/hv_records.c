/*
 * hv_records.c: what a platform's hypervisor counts, as a source of records.
 *
 * A probe of gpci, vfalls or mmustat is a sample: every so many nanoseconds of
 * the platform's own time it is read, and its program fires once for each record, register or
 * slot, in ascending order.  A model's time passes here alone, as fast as it goes and in small
 * slices; other platforms are waited for.  The engine's clock follows, so that `timestamp` is the time
 * since the start and tick probes fire in between; at the same moment samples come before ticks.
 *
 * All is read once before BEGIN: deltas are since the start.  What can't be read any more ends the run; what may be
 * read no more than once in a while (a busy register) is left out and told at the end.
 */
#include <poll.h>
#include <string.h>

#include "machine/niagara.h"
#include "platform/hv.h"
#include "provider/hv_record.h"
#include "session/session_int.h"

#define SLICE_NS 1000000u /* of a model's time, for a turn */
#define TURN_MS 100

/* an event's counter of one unit */
struct vf_unit_count {
	const struct vf_reg *r;
	uint32_t cpu;
	struct vf_counter *k;
	uint64_t last;
};
struct sample {
	uint32_t prog;
	const struct probe *probe;
	uint64_t due_ns; /* since the start */
	uint64_t late;   /* times when it was due again before it had been read */
	/* what was read last */
	struct gpci_table table;
	struct {
		bool readable;
		uint64_t value;
	} reg[VF_REGS];
	struct vf_unit_count *unit;
	uint32_t nunits, capunits;
	struct mmustat *mmu; /* by strand */
};
struct hv_source {
	struct records base; /* is first */
	struct tally_platform *p;
	uint64_t start_ns, passed_ns; /* of the platform's time */
	struct sample **sample;
	uint32_t nsamples, capsamples;
	uint64_t busy; /* registers that could not be read in time */
	bool buffers;  /* the strands have theirs */
};

static struct hv_source *source_of(const struct tally_trace *t)
{
	return (struct hv_source *)t->records;
}

static int source_failed(struct tally_trace *t, const struct sample *s, int rc, const struct err *e)
{
	return trace_fail(t, (enum tally_err) - rc, "failed to read %s:::%s: %s", s->probe->prov->name, s->probe->name,
			  e->text[0] ? e->text : tally_strerror(rc));
}

/* ---- gpci ------------------------------------------------------------------------------------ */

/* That there is no record now is fine. */
static int gpci_take(struct tally_trace *t, struct sample *s, struct gpci_table *ret)
{
	struct err e = { 0 };
	bool own;
	int rc = gpci_all(ret, t->records->transport, s->probe->request, &own, &e);

	return rc >= 0 || rc == -TALLY_EINVAL ? 0 : source_failed(t, s, rc, &e);
}

static int gpci_begin(struct tally_trace *t, struct sample *s)
{
	return gpci_take(t, s, &s->table);
}

static int gpci_fire(struct tally_trace *t, struct sample *s, uint64_t ns)
{
	struct gpci_context c = { 0 };
	struct gpci_table now = { 0 };
	int rc = gpci_take(t, s, &now);

	for (uint32_t i = 0; rc >= 0 && i < now.n; i++) {
		const struct gpci_values *v = &now.v[i], *last = gpci_table_find(&s->table, v->id, v->secondary);

		for (uint32_t k = 0; rc >= 0 && k < (v->nelements ? v->nelements : 1); k++) {
			gpci_context_fill(&c, s->probe->request, ns, v, last, k);
			rc = records_fire(t, s->prog, &c, sizeof(c));
		}
	}
	if (rc < 0) {
		gpci_table_free(&now);
		return rc;
	}
	gpci_table_free(&s->table);
	s->table = now;
	return 0;
}

/* ---- registers as they are ---------------------------------------------------------------------- */

static int vfalls_begin(struct tally_trace *t, struct sample *s)
{
	struct err first = { 0 };
	uint32_t refused = 0;

	for (uint32_t i = 0; i < VF_REGS; i++) {
		struct err e = { 0 };
		int rc = vf_get(t->records->sun4v, sun4v_client_home(t->records->sun4v), i, &s->reg[i].value, &e);

		s->reg[i].readable = rc >= 0 || rc == -TALLY_EBUSY;
		if (rc == -TALLY_EIO || rc == -TALLY_EEND)
			return source_failed(t, s, rc, &e);
		if (rc == -TALLY_EPERM && !refused++)
			first = e;
	}
	if (refused)
		trace_note(t, "%u register%s may not be read: %s", refused, refused == 1 ? "" : "s", first.text);
	return 0;
}

/* What the register is set to count, or its control register. */
static void event_text(const struct sample *s, const struct vf_reg *r, struct buf *to)
{
	const struct vf_reg *control = vf_control(r);

	buf_clear(to);
	if (s->reg[control->number].readable)
		vf_fields(control, s->reg[control->number].value, to);
}

static int fire_register(struct tally_trace *t, struct sample *s, const struct vf_reg *r, uint64_t ns)
{
	struct hv_source *src = source_of(t);
	struct vf_context c = { 0 };
	struct err e = { 0 };
	uint64_t value = 0;
	int rc = vf_get(src->base.sun4v, sun4v_client_home(src->base.sun4v), r->number, &value, &e);

	if (rc == -TALLY_EBUSY) {
		src->busy++;
		return 0;
	}
	if (rc < 0)
		return source_failed(t, s, rc, &e);
	c.value = value;
	c.delta = vf_delta(r, value, s->reg[r->number].value);
	s->reg[r->number].value = value;
	event_text(s, r, &t->tmp);
	if (t->tmp.failed)
		return trace_nomem(t);
	vf_context_fill(&c, r, ns, 0, r->node, t->tmp.p ? t->tmp.p : "");
	return records_fire(t, s->prog, &c, sizeof(c));
}

static int vfalls_fire(struct tally_trace *t, struct sample *s, uint64_t ns)
{
	int rc = 0;

	for (uint32_t i = 0; rc >= 0 && i < VF_REGS; i++)
		if (s->reg[i].readable)
			rc = fire_register(t, s, &vf_regs[i], ns);
	return rc;
}

/* ---- an event --------------------------------------------------------------------------------------- */

/* 0 also when this unit may not count it: the reason is in e. */
static int add_unit(struct tally_trace *t, struct sample *s, const struct vf_reg *r, uint32_t cpu, uint32_t code,
		    struct err *e)
{
	struct vf_counter_ask a = { .vcpu = cpu, .reg = r->number, .event = code, .user = true, .system = true };
	struct vf_counter *k;
	struct vf_unit_count *u;
	int rc = vf_counter_open(&k, t->records->sun4v, &a, e);

	if (rc == -TALLY_EPERM || rc == -TALLY_ENOTSUP)
		return 0;
	if (rc < 0)
		return source_failed(t, s, rc, e);
	u = VEC_NEW(s->unit, s->nunits, s->capunits);
	if (!u) {
		vf_counter_close(k);
		return trace_nomem(t);
	}
	*u = (struct vf_unit_count){ .r = r, .cpu = cpu, .k = k };
	return 0;
}

static void note_unmodelled(struct tally_trace *t, const struct sample *s, const struct vf_reg *r, uint32_t code)
{
	const struct hv_source *src = source_of(t);
	const struct sun4v_kind *kind = hv_kind(src->p, src->base.transport);

	if (kind && !niagara_models(kind, vf_events_of(r), (uint16_t)code))
		trace_note(t, "%s:::%s: the model does not model this event: it stays where it is",
			   s->probe->prov->name, s->probe->name);
}

static int event_begin(struct tally_trace *t, struct sample *s)
{
	struct err first = { 0 };
	uint32_t code = 0;
	int rc = 0;

	for (const struct vf_reg *r = vf_regs; rc >= 0 && r < vf_regs + VF_REGS; r++) {
		uint32_t strands = r->cls == VF_SPARC_PCR ? t->records->transport->strands : 1;

		if (!vf_selects(r, s->probe->vf_event, &code))
			continue;
		for (uint32_t cpu = 0; rc >= 0 && cpu < strands; cpu++)
			if (strands == 1 || sun4v_client_has(t->records->sun4v, cpu))
				rc = add_unit(t, s, r, cpu, code, &first);
	}
	if (rc >= 0 && s->nunits)
		note_unmodelled(t, s, s->unit[0].r, code);
	return rc < 0 || s->nunits ? rc : source_failed(t, s, -first.code, &first);
}

static int fire_unit(struct tally_trace *t, struct sample *s, struct vf_unit_count *u, uint64_t ns)
{
	struct hv_source *src = source_of(t);
	struct vf_context c = { 0 };
	struct err e = { 0 };
	uint32_t per_node = src->base.transport->strands_per_node;
	int rc = vf_counter_read(u->k, &c.value, &e);

	if (rc == -TALLY_EBUSY) {
		src->busy++;
		return 0;
	}
	if (rc < 0)
		return source_failed(t, s, rc, &e);
	c.delta = c.value - u->last;
	u->last = c.value;
	vf_context_fill(&c, u->r, ns, u->cpu, u->r->number || !per_node ? u->r->node : u->cpu / per_node,
			s->probe->vf_event);
	return records_fire(t, s->prog, &c, sizeof(c));
}

static int event_fire(struct tally_trace *t, struct sample *s, uint64_t ns)
{
	int rc = 0;

	for (uint32_t i = 0; rc >= 0 && i < s->nunits; i++)
		rc = fire_unit(t, s, &s->unit[i], ns);
	return rc;
}

/* ---- MMU statistics ---------------------------------------------------------------------------------- */

static int give_buffers(struct tally_trace *t, struct sample *s)
{
	struct hv_source *src = source_of(t);
	struct err e = { 0 };
	int rc = 0;

	for (uint32_t cpu = 0; !src->buffers && rc >= 0 && cpu < src->base.transport->strands; cpu++)
		if (sun4v_client_has(src->base.sun4v, cpu))
			rc = mmustat_start(src->base.sun4v, cpu, &e);
	src->buffers = rc >= 0;
	return rc < 0 ? source_failed(t, s, rc, &e) : 0;
}

/* 0: that strand is another guest's; 1. */
static int read_strand(struct tally_trace *t, uint32_t cpu, struct mmustat *ret, struct err *e)
{
	struct err mine = { 0 };
	int rc = mmustat_read(t->records->sun4v, cpu, ret, &mine);

	if (rc == -TALLY_ESTATE)
		return 0;
	return rc < 0 ? err_set(e, (enum tally_err) - rc, "%s", mine.text) : 1;
}

static int mmustat_begin(struct tally_trace *t, struct sample *s)
{
	struct err e = { 0 };
	uint32_t strands = t->records->transport->strands;
	int rc = give_buffers(t, s);

	if (rc < 0)
		return rc;
	s->mmu = mem_alloc((strands + 1) * sizeof(*s->mmu));
	if (!s->mmu)
		return trace_nomem(t);
	for (uint32_t cpu = 0; rc >= 0 && cpu < strands; cpu++)
		rc = read_strand(t, cpu, &s->mmu[cpu], &e);
	return rc < 0 ? source_failed(t, s, rc, &e) : 0;
}

static int mmustat_fire(struct tally_trace *t, struct sample *s, uint64_t ns)
{
	struct mmustat_context c = { 0 };
	struct mmustat now;
	struct err e = { 0 };
	int rc = 0;

	for (uint32_t cpu = 0; rc >= 0 && cpu < t->records->transport->strands; cpu++) {
		rc = read_strand(t, cpu, &now, &e);
		if (rc < 0)
			return source_failed(t, s, rc, &e);
		if (rc == 0)
			continue;
		for (uint32_t slot = 0; rc >= 0 && slot < MMUSTAT_SLOTS; slot++) {
			mmustat_context_fill(&c, slot, ns, cpu, &now, &s->mmu[cpu]);
			rc = records_fire(t, s->prog, &c, sizeof(c));
		}
		s->mmu[cpu] = now;
	}
	return rc;
}

/* ---- samples ------------------------------------------------------------------------------------------ */

static const struct kind {
	int (*begin)(struct tally_trace *t, struct sample *s);
	int (*fire)(struct tally_trace *t, struct sample *s, uint64_t ns);
} kinds[] = {
	/* by enum prov_record, from SAMPLE_GPCI on */
	[SAMPLE_GPCI - RECORD_KINDS] = { gpci_begin, gpci_fire },
	[SAMPLE_VFALLS - RECORD_KINDS] = { vfalls_begin, vfalls_fire },
	[SAMPLE_VF_EVENT - RECORD_KINDS] = { event_begin, event_fire },
	[SAMPLE_MMUSTAT - RECORD_KINDS] = { mmustat_begin, mmustat_fire },
};

static const struct kind *kind_of(const struct sample *s)
{
	return &kinds[s->probe->record - RECORD_KINDS];
}

static void drop_samples(struct hv_source *src)
{
	for (uint32_t i = 0; i < src->nsamples; i++) {
		struct sample *s = src->sample[i];

		gpci_table_free(&s->table);
		for (uint32_t k = 0; k < s->nunits; k++)
			vf_counter_close(s->unit[k].k);
		mem_free(s->unit);
		mem_free(s->mmu);
		mem_free(s);
	}
	mem_free(src->sample);
	src->sample = NULL;
	src->nsamples = src->capsamples = 0;
}

static int add_sample(struct tally_trace *t, uint32_t prog, const struct probe *p)
{
	struct hv_source *src = source_of(t);
	struct sample *s = mem_alloc(sizeof(*s)),
		      **to = s ? VEC_NEW(src->sample, src->nsamples, src->capsamples) : NULL;

	if (!to) {
		mem_free(s);
		return trace_nomem(t);
	}
	*s = (struct sample){ .prog = prog, .probe = p, .due_ns = p->tick_ns };
	*to = s;
	return kind_of(s)->begin(t, s);
}

static int hv_start(struct tally_trace *t)
{
	struct hv_source *src = source_of(t);
	int rc = 0;

	drop_samples(src); /* of a start that failed */
	for (uint32_t i = 0; rc >= 0 && i < t->img->nprogs; i++) {
		const struct probe *p = probes_get(t->probes, t->img->prog[i].probe);

		if (p->arm == ARM_RECORD)
			rc = add_sample(t, i, p);
	}
	src->start_ns = hv_now(src->base.transport);
	src->passed_ns = 0;
	return rc;
}

/* ---- time ------------------------------------------------------------------------------------------------- */

static uint64_t next_due(const struct hv_source *src)
{
	uint64_t due = UINT64_MAX;

	for (uint32_t i = 0; i < src->nsamples; i++)
		due = src->sample[i]->due_ns < due ? src->sample[i]->due_ns : due;
	return due;
}

/* Lets some time pass: whether `to` is reached. */
static bool source_reach(struct hv_source *src, uint64_t to, int timeout_ms)
{
	struct hv_transport *l = src->base.transport;
	uint64_t left, ms;

	if (!l->op->advance)
		src->passed_ns = hv_now(l) - src->start_ns;
	left = to > src->passed_ns ? to - src->passed_ns : 0;
	if (l->op->advance) {
		uint64_t slice = left < SLICE_NS ? left : SLICE_NS;

		if (slice)
			l->op->advance(l->arg, slice);
		src->passed_ns += slice;
		return slice == left;
	}
	ms = left / 1000000 + (left % 1000000 != 0);
	if (ms)
		(void)poll(NULL, 0,
			   ms < TURN_MS && (timeout_ms < 0 || ms < (uint64_t)timeout_ms) ? (int)ms :
			   timeout_ms >= 0 && timeout_ms < TURN_MS                       ? timeout_ms :
											   TURN_MS);
	return !ms;
}

/* The next time after this one: what is missed meanwhile is missed. */
static void go_on(const struct hv_source *src, struct sample *s)
{
	uint64_t interval = s->probe->tick_ns, due = s->due_ns, passed = src->passed_ns;

	if (passed > due && passed - due >= interval) {
		s->late += (passed - due) / interval;
		due += (passed - due) / interval * interval;
	}
	s->due_ns = due > UINT64_MAX - 1 - interval ? UINT64_MAX - 1 : due + interval;
}

static int fire_due(struct tally_trace *t, struct hv_source *src, uint64_t to)
{
	uint64_t ns = hv_now(src->base.transport);
	int rc = 0;

	for (uint32_t i = 0; rc >= 0 && i < src->nsamples && !t->over; i++) {
		struct sample *s = src->sample[i];

		if (s->due_ns > to)
			continue;
		rc = kind_of(s)->fire(t, s, ns);
		go_on(src, s);
	}
	return rc;
}

static int hv_turn(struct tally_trace *t, int timeout_ms)
{
	struct hv_source *src = source_of(t);
	uint64_t due = next_due(src), tick = t->eng->ops->next(t->eng), to = due < tick ? due : tick;

	if (to == UINT64_MAX)
		return -TALLY_EEND;
	if (!source_reach(src, to, timeout_ms))
		return 0;
	(void)t->eng->ops->advance(t->eng, to);
	return due == to ? fire_due(t, src, to) : 0;
}

static void hv_report(struct tally_trace *t)
{
	struct hv_source *src = source_of(t);

	for (uint32_t i = 0; i < src->nsamples; i++)
		if (src->sample[i]->late)
			trace_note(t, "%llu firings of %s skipped: reading takes longer than that",
				   (unsigned long long)src->sample[i]->late, src->sample[i]->probe->name);
	if (src->busy)
		trace_note(t, "%llu readings of registers left out: they stayed busy", (unsigned long long)src->busy);
}

/* ---- the source --------------------------------------------------------------------------------------------- */

/* A model by its name, keys behind it, or a socket. */
static bool hv_takes(const char *platform)
{
	size_t n = strcspn(platform, ",");
	const struct plat_row *r;

	if (!strncmp(platform, "unix:", 5))
		return true;
	for (uint32_t i = 0; (r = plat_row(i)) != NULL; i++)
		if (r->embedded && strlen(r->name) == n && !memcmp(r->name, platform, n))
			return true;
	return false;
}

static void hv_close(struct records *base)
{
	struct hv_source *src = (struct hv_source *)base;

	drop_samples(src);
	tally_platform_close(src->p);
	mem_free(src);
}

static int open_platform(struct hv_source *src, const struct tally_trace *t, const char *platform, struct err *e)
{
	struct tally_platform_opts o = {
		.size = sizeof(o), .on = platform, .note = t->o.note, .arg = t->o.arg, .stop = t->o.stop
	};
	int rc = tally_platform_open(&src->p, &o);

	if (rc >= 0)
		rc = hv_transport_of(src->p, &src->base.transport);
	if (rc >= 0 && src->base.transport->op->sun4v)
		rc = hv_client_of(src->p, "vfalls", &src->base.sun4v);
	return rc >= 0 ? 0 :
			 err_set(e, (enum tally_err) - rc, "%s",
				 src->p ? tally_platform_error(src->p) : tally_strerror(rc));
}

static int hv_open(struct records **ret, const struct tally_trace *t, const char *platform, struct err *e)
{
	struct hv_source *src = mem_alloc(sizeof(*src));
	int rc;

	if (!src)
		return err_oom(e);
	src->base.ops = &hv_records;
	rc = open_platform(src, t, platform, e);
	if (rc < 0)
		hv_close(&src->base);
	else
		*ret = &src->base;
	return rc;
}

const struct records_ops hv_records = {
	.takes = hv_takes,
	.open = hv_open,
	.close = hv_close,
	.start = hv_start,
	.turn = hv_turn,
	.report = hv_report,
};
