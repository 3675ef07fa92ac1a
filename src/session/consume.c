/*
 * consume.c: records to text or JSON.
 *
 * A record is one firing of one clause that had something to hand over: its
 * actions are carried out here in the order of the source.  Text is what
 * dtrace(1) prints; in JSON each printf() and each record is an object on a
 * line; folded output keeps aggregations alone.
 *
 * Records come from programs that were generated here, but through memory that
 * others can write: epid and size are checked, slots lie within the size that
 * the compiler gave the record.
 */
#include <stdlib.h>
#include <string.h>

#include "session/session_int.h"

/* a record while it is carried out */
struct rec {
	struct tally_trace *t;
	const struct probe *probe;
	const struct d_clause *clause;
	const uint8_t *bytes;
	uint32_t cpu;
};

/* ---- actions ------------------------------------------------------------------- */

static int do_value(struct rec *r, const struct d_action *a)
{
	struct tally_trace *t = r->t;
	const struct an_ops *ops = t->emit.ops;
	struct an_value v;
	int rc = slot_value(t, &t->rec, &a->slots[0], r->bytes, false, &v);

	if (rc < 0)
		return rc;
	(a->kind == ACT_STACK || a->kind == ACT_USTACK ? ops->stack : ops->trace)(&t->emit, &v);
	return 0;
}

static int do_printf(struct rec *r, const struct d_action *a)
{
	struct tally_trace *t = r->t;
	struct an_value *v;
	int rc = slot_values(t, &t->rec, a->slots, a->nslots, r->bytes, false, &v);

	if (rc >= 0)
		t->emit.ops->print(&t->emit, &a->fmt, v, a->nslots);
	return rc;
}

static int64_t record_word(const struct rec *r, uint32_t offset)
{
	int64_t i;

	memcpy(&i, r->bytes + offset, 8);
	return i;
}

/* What a format gives, into t->tmp. */
static int record_text(struct rec *r, const struct d_action *a)
{
	struct tally_trace *t = r->t;
	struct an_value *v;
	int rc = slot_values(t, &t->rec, a->slots, a->nslots, r->bytes, false, &v);

	buf_clear(&t->tmp);
	if (rc >= 0)
		an_printf(&t->tmp, &a->fmt, v, a->nslots);
	buf_puts(&t->tmp, "");
	return rc < 0 || !t->tmp.failed ? rc : trace_nomem(t);
}

/* A command runs when its record is read, between what was answered before and after. */
static int do_system(struct rec *r, const struct d_action *a)
{
	int rc = record_text(r, a);

	if (rc >= 0)
		rc = trace_flush(r->t);
	if (rc >= 0 && system(r->t->tmp.p ? r->t->tmp.p : "") < 0)
		trace_note(r->t, "system(\"%s\") could not be started", r->t->tmp.p);
	return rc;
}

static int do_freopen(struct rec *r, const struct d_action *a)
{
	int rc = record_text(r, a);

	return rc < 0 ? rc : trace_redirect(r->t, r->t->tmp.p ? r->t->tmp.p : "");
}

static int do_ftruncate(struct rec *r, const struct d_action *a)
{
	(void)a;
	return trace_empty_file(r->t);
}

static int do_setopt(struct rec *r, const struct d_action *a)
{
	struct tally_trace *t = r->t;
	struct err e = { 0 }, why = { 0 };
	const char *name = (const char *)r->bytes + a->slots[0].offset,
		   *value = a->nslots > 1 ? (const char *)r->bytes + a->slots[1].offset : NULL;

	if (options_set_running(&t->opt, name, value, &e, t->o.flags & TALLY_TRACE_COMPAT ? NULL : &why) < 0)
		trace_note(t, "couldn't set option \"%s\" to \"%s\": %s%s%s", name, value ? value : "", e.text,
			   why.code ? "; " : "", why.text);
	run_take_options(t);
	return 0;
}

static int do_print(struct rec *r, const struct d_action *a)
{
	struct tally_trace *t = r->t;
	const struct slot *s = &a->slots[a->nslots - 1];
	const uint64_t pointer = (uint64_t)record_word(r, a->slots[0].offset), most = t->opt.v[OPT_printsize];
	const uint32_t n = s->kind == SLOT_BYTES ? s->bytes : s->size;

	t->emit.ops->typed(&t->emit, a->shape, a->nslots > 1 ? &pointer : NULL, r->bytes + s->offset,
			   n < most ? n : (uint32_t)most);
	return 0;
}

static int do_tracemem(struct rec *r, const struct d_action *a)
{
	struct tally_trace *t = r->t;
	struct an_value v;
	int rc = slot_value(t, &t->rec, &a->slots[0], r->bytes, false, &v);
	uint64_t most = a->nslots > 1 ? (uint64_t)record_word(r, a->slots[1].offset) : UINT64_MAX;

	if (rc < 0)
		return rc;
	if (most < v.len)
		v.len = (uint32_t)most;
	t->emit.ops->trace(&t->emit, &v);
	return 0;
}

/* In the file of freopen() packets are what pcap(3) reads, with times in ns (pcap-savefile(5)); elsewhere they are
 * shown. */
static int do_pcap(struct rec *r, const struct d_action *a)
{
	struct tally_trace *t = r->t;
	const uint64_t ns = (uint64_t)record_word(r, a->slots[0].offset);
	const int64_t link = record_word(r, a->slots[1].offset);
	const struct slot *bytes = &a->slots[4];
	const uint32_t length = (uint32_t)record_word(r, a->slots[2].offset),
		       all = (uint32_t)record_word(r, a->slots[3].offset),
		       taken = all < bytes->bytes ? all : bytes->bytes;
	const uint32_t head[] = { 0xa1b23c4d, 4 << 16 | 2, 0, 0, bytes->bytes, (uint32_t)link };
	const uint32_t packet[] = { (uint32_t)(ns / 1000000000), (uint32_t)(ns % 1000000000), taken, length };
	struct an_value v;

	if (!t->file.put) {
		int rc = slot_value(t, &t->rec, bytes, r->bytes, false, &v);

		v.raw = true;
		v.len = taken;
		if (rc >= 0)
			t->emit.ops->trace(&t->emit, &v);
		return rc;
	}
	if (t->packets_of && t->packets_of != link) {
		trace_note(t, "a packet of link type %lld is left out: the file has those of %lld", (long long)link,
			   (long long)t->packets_of);
		return 0;
	}
	if (!t->packets_of)
		buf_put(&t->out, head, sizeof(head));
	t->packets_of = link;
	buf_put(&t->out, packet, sizeof(packet));
	buf_put(&t->out, r->bytes + bytes->offset, taken);
	return 0;
}

static int64_t record_operand(const struct rec *r, const struct d_action *a)
{
	return record_word(r, a->slots[0].offset);
}

static int do_exit(struct rec *r, const struct d_action *a)
{
	r->t->status = (int)record_operand(r, a);
	r->t->exited = r->t->over = true;
	return 0;
}

static int do_printa(struct rec *r, const struct d_action *a)
{
	return aggs_printa(r->t, a);
}

static int do_clear(struct rec *r, const struct d_action *a)
{
	return aggs_clear(r->t, a->aggs[0]);
}

static int do_trunc(struct rec *r, const struct d_action *a)
{
	return aggs_trunc(r->t, a->aggs[0], !a->nslots, a->nslots ? record_operand(r, a) : 0);
}

static int do_settle(struct rec *r, const struct d_action *a)
{
	return spec_settle(r->t, (uint64_t)record_operand(r, a), a->kind == ACT_COMMIT ? D_COMMIT : D_DISCARD);
}

static int do_normalize(struct rec *r, const struct d_action *a)
{
	int64_t n = a->kind == ACT_NORMALIZE && a->nslots ? record_operand(r, a) : 1;

	if (!n)
		trace_note(r->t, "normalize() by zero is ignored");
	else
		r->t->agg[a->aggs[0]].normal = n;
	return 0;
}

static int (*const actions[])(struct rec *r, const struct d_action *a) = {
	[ACT_TRACE] = do_value,
	[ACT_PRINTF] = do_printf,
	[ACT_PRINTA] = do_printa,
	[ACT_STACK] = do_value,
	[ACT_USTACK] = do_value,
	[ACT_SYM] = do_value,
	[ACT_EXIT] = do_exit,
	[ACT_CLEAR] = do_clear,
	[ACT_TRUNC] = do_trunc,
	[ACT_NORMALIZE] = do_normalize,
	[ACT_DENORMALIZE] = do_normalize,
	[ACT_COMMIT] = do_settle,
	[ACT_DISCARD] = do_settle,
	[ACT_TRACEMEM] = do_tracemem,
	[ACT_SYSTEM] = do_system,
	[ACT_PRINT] = do_print,
	[ACT_FREOPEN] = do_freopen,
	[ACT_FTRUNCATE] = do_ftruncate,
	[ACT_SETOPT] = do_setopt,
	[ACT_PCAP] = do_pcap,
};

/* Where a form has no place for what single firings say, what they do to the run still counts. */
static bool is_shown(const struct tally_trace *t, uint8_t kind)
{
	return t->emit.ops->fire || kind == ACT_EXIT ||
	       (kind >= ACT_CLEAR && kind != ACT_TRACEMEM && kind != ACT_PRINT);
}

/* ---- records -------------------------------------------------------------------- */

static int take_record(struct rec *r)
{
	struct tally_trace *t = r->t;
	const struct an_ops *ops = t->emit.ops;
	const struct probe *p = r->probe;
	const struct an_firing firing = { .cpu = r->cpu,
					  .id = p->id,
					  .prov = p->prov_name,
					  .mod = p->mod,
					  .func = p->func,
					  .name = p->name,
					  .bare = !r->clause->nacts };
	int rc = 0;

	if (ops->fire && !r->clause->silent)
		ops->fire(&t->emit, &firing);
	for (uint32_t i = 0; rc >= 0 && i < r->clause->nacts; i++) {
		const struct d_action *a = &r->clause->acts[i];

		if (a->guard && !record_word(r, a->guard))
			continue;
		if (is_shown(t, a->kind))
			rc = actions[a->kind](r, a);
	}
	if (ops->fired && !r->clause->silent)
		ops->fired(&t->emit, &firing);
	if (r->clause->control)
		aggs_forget(t);
	arena_reset(&t->rec);
	return rc < 0 ? rc : trace_flush_some(t);
}

/* ---- error records ----------------------------------------------------------------- */

static int take_error(struct rec *r)
{
	static const struct an_column col[] = {
		{ "cpu", "", AN_COUNT },    { "id", "", AN_COUNT },   { "probe", "", AN_TEXT },
		{ "clause", "", AN_COUNT }, { "line", "", AN_COUNT }, { "fault", "", AN_TEXT },
	};
	struct buf probe = { 0 }, fault = { 0 };
	const bool compat = r->t->o.flags & TALLY_TRACE_COMPAT;
	uint32_t what[2]; /* fault, line */
	uint64_t value;

	memcpy(what, r->bytes + D_RECORD_HDR, sizeof(what));
	memcpy(&value, r->bytes + D_RECORD_HDR + sizeof(what), sizeof(value));
	probe_text(&probe, r->probe);
	fault_text(&fault, what[0], value);
	r->t->out.failed |= probe.failed || fault.failed;
	if (!probe.failed && !fault.failed)
		an_event(&r->t->emit,
			 &(struct an_event){ "error", col,
					     (struct an_cell[]){ AN_U(r->cpu), AN_U(r->probe->id), AN_S(probe.p),
								 AN_U(r->clause->id), AN_U(what[1]), AN_S(fault.p) },
					     COUNT(col) },
			 "error in dt_clause_%u for probe ID %u (%s): %s%s %u", r->clause->id, r->probe->id, probe.p,
			 fault.p, compat ? " at BPF pc" : " in action at line",
			 compat ? what[0] >> D_FAULT_BITS : what[1]);
	buf_free(&probe);
	buf_free(&fault);
	return trace_flush_some(r->t);
}

/* Whose record it is. epid is one of the image. */
static struct rec record_open(struct tally_trace *t, const void *rec)
{
	uint32_t hdr[2];
	const struct img_epid *ep;

	memcpy(hdr, rec, sizeof(hdr));
	ep = &t->img->epid[hdr[0] & ~D_EPID_ERROR];
	return (struct rec){ .t = t,
			     .probe = probes_get(t->probes, ep->probe),
			     .clause = &t->prog->clause[ep->clause],
			     .bytes = rec,
			     .cpu = hdr[1] };
}

int record_show(struct tally_trace *t, const void *rec)
{
	struct rec r = record_open(t, rec);

	return take_record(&r);
}

int record_take(void *arg, uint32_t ring, const void *rec, uint32_t size)
{
	struct tally_trace *t = arg;
	struct rec r;
	uint32_t hdr[2], epid;
	bool is_error;
	int rc;

	(void)ring; /* records say which CPU they are of */
	/* what a drain hands over was written before it began: names of all of it need no facts that come later */
	if (!t->learned && (rc = run_learn_mappings(t)) < 0)
		return rc;
	t->learned = true;
	if (size < D_RECORD_HDR)
		return trace_fail(t, TALLY_ECORRUPT, "a record of %u bytes", size);
	memcpy(hdr, rec, sizeof(hdr));
	epid = hdr[0] & ~D_EPID_ERROR;
	is_error = hdr[0] & D_EPID_ERROR;
	if (!epid || epid >= t->img->nepids)
		return trace_fail(t, TALLY_ECORRUPT, "a record of unknown origin (%u)", epid);
	r = record_open(t, rec);
	if (size < (is_error ? D_ERROR_RECORD : r.clause->record_size))
		return trace_fail(t, TALLY_ECORRUPT, "a record of dt_clause_%u has %u bytes", r.clause->id, size);
	if (is_error)
		return take_error(&r);
	if (r.clause->speculates && (rc = spec_take(t, (uint64_t)record_word(&r, D_RECORD_HDR), rec, size)) <= 0)
		return rc;
	return take_record(&r);
}
