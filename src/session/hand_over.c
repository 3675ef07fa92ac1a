/*
 * hand_over.c: records to text or JSON.
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
#include <string.h>

#include "session/session_int.h"

/* a record while it is carried out */
struct rec {
	struct tally_trace *t;
	const struct probe *probe;
	const struct d_clause *clause;
	const uint8_t *bytes;
	uint32_t cpu;
	uint32_t ndata; /* JSON: values in t->data */
};

/* ---- actions ------------------------------------------------------------------- */

static bool is_text(const struct tally_trace *t)
{
	return t->o.format == TALLY_FORMAT_TEXT;
}

static int do_value(struct rec *r, const struct d_action *a)
{
	struct tally_trace *t = r->t;
	struct an_value v;
	int rc = slot_value(t, &t->rec, &a->slots[0], r->bytes, false, &v);

	if (rc < 0)
		return rc;
	if (t->o.format == TALLY_FORMAT_JSON) {
		buf_puts(&t->data, r->ndata++ ? "," : "");
		an_json_value(&t->data, &v);
	} else if (a->kind == ACT_STACK || a->kind == ACT_USTACK) {
		an_stack(&t->out, &v, t->opt.v[OPT_stackindent]);
	} else {
		an_trace(&t->out, &v, is_quiet(t));
	}
	return 0;
}

static int do_printf(struct rec *r, const struct d_action *a)
{
	struct tally_trace *t = r->t;
	struct an_value *v;
	int rc = slot_values(t, &t->rec, a->slots, a->nslots, r->bytes, false, &v);

	if (rc < 0)
		return rc;
	if (is_text(t)) {
		an_printf(&t->out, &a->fmt, v, a->nslots);
		return 0;
	}
	buf_clear(&t->tmp);
	an_printf(&t->tmp, &a->fmt, v, a->nslots);
	buf_puts(&t->out, "{\"type\":\"printf\",\"text\":");
	buf_json_str(&t->out, t->tmp.p ? t->tmp.p : "", t->tmp.n);
	buf_puts(&t->out, "}\n");
	return t->tmp.failed ? -TALLY_ENOMEM : 0;
}

static int64_t record_operand(const struct rec *r, const struct d_action *a)
{
	int64_t i;

	memcpy(&i, r->bytes + a->slots[0].offset, 8);
	return i;
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
	[ACT_TRACE] = do_value,         [ACT_PRINTF] = do_printf,         [ACT_PRINTA] = do_printa,
	[ACT_STACK] = do_value,         [ACT_USTACK] = do_value,          [ACT_SYM] = do_value,
	[ACT_EXIT] = do_exit,           [ACT_CLEAR] = do_clear,           [ACT_TRUNC] = do_trunc,
	[ACT_NORMALIZE] = do_normalize, [ACT_DENORMALIZE] = do_normalize,
};

/* Folded output has no place for what single firings say; what they do to the run still counts. */
static bool is_shown(const struct tally_trace *t, uint8_t kind)
{
	return t->o.format != TALLY_FORMAT_FOLDED || kind == ACT_EXIT || kind >= ACT_CLEAR;
}

/* ---- records -------------------------------------------------------------------- */

/* -F: a probe of the name entry goes in by two, one of the name return comes out; each CPU has its own depth. */
static void flow_prefix(struct rec *r)
{
	struct tally_trace *t = r->t;
	const char *name = r->probe->name;
	bool in = !strncmp(name, "entry", 5), out = !strncmp(name, "return", 6);
	uint32_t *depth;

	while (t->nflow <= r->cpu)
		if (!VEC_NEW(t->flow, t->nflow, t->capflow)) {
			t->out.failed = true;
			return;
		}
	depth = &t->flow[r->cpu];
	if (out && *depth >= 2)
		*depth -= 2;
	if (!t->heading)
		an_flow_header(&t->out);
	t->heading = true;
	an_flow_prefix(&t->out, r->cpu, *depth,
		       in  ? AN_FLOW_IN :
		       out ? AN_FLOW_OUT :
			     AN_FLOW_NONE,
		       !strcmp(r->probe->prov->name, "syscall"), r->probe->func, name);
	if (in)
		*depth += 2;
}

static void open_record(struct rec *r)
{
	struct tally_trace *t = r->t;

	buf_clear(&t->data);
	if (!is_text(t) || is_quiet(t))
		return;
	if (t->opt.v[OPT_flowindent]) {
		flow_prefix(r);
		return;
	}
	if (!t->heading)
		an_header(&t->out);
	t->heading = true;
	an_prefix(&t->out, r->cpu, r->probe->id, r->probe->func, r->probe->name);
}

static void close_record(struct rec *r)
{
	struct tally_trace *t = r->t;

	if (is_text(t) && !is_quiet(t))
		buf_putc(&t->out, '\n');
	if (t->o.format != TALLY_FORMAT_JSON || !(r->ndata || !r->clause->nacts))
		return;
	buf_printf(&t->out, "{\"type\":\"record\",\"cpu\":%u,\"id\":%u,", r->cpu, r->probe->id);
	json_probe(&t->out, "probe", r->probe);
	buf_puts(&t->out, ",\"data\":[");
	if (t->data.n)
		buf_put(&t->out, t->data.p, t->data.n);
	buf_puts(&t->out, "]}\n");
	t->out.failed |= t->data.failed;
}

static int take_record(struct rec *r)
{
	int rc = 0;

	open_record(r);
	for (uint32_t i = 0; rc >= 0 && i < r->clause->nacts; i++) {
		const struct d_action *a = &r->clause->acts[i];

		if (is_shown(r->t, a->kind))
			rc = actions[a->kind](r, a);
	}
	close_record(r);
	if (r->clause->control)
		aggs_forget(r->t);
	arena_reset(&r->t->rec);
	return rc < 0 ? rc : trace_flush_some(r->t);
}

/* ---- error records ----------------------------------------------------------------- */

static void json_error(struct rec *r, uint32_t fault, uint32_t line, uint64_t value)
{
	struct buf *to = &r->t->out;

	buf_printf(to, "{\"type\":\"error\",\"cpu\":%u,\"id\":%u,", r->cpu, r->probe->id);
	json_probe(to, "probe", r->probe);
	buf_printf(to, ",\"clause\":%u,\"line\":%u,\"fault\":\"", r->clause->id, line);
	fault_text(to, fault, value);
	buf_puts(to, "\"}\n");
}

static int take_error(struct rec *r)
{
	struct buf b = { 0 };
	uint32_t what[2]; /* fault, line */
	uint32_t pc;
	uint64_t value;

	memcpy(what, r->bytes + D_RECORD_HDR, sizeof(what));
	memcpy(&value, r->bytes + D_RECORD_HDR + sizeof(what), sizeof(value));
	pc = what[0] >> D_FAULT_BITS;
	if (r->t->o.format == TALLY_FORMAT_JSON) {
		json_error(r, what[0], what[1], value);
		return trace_flush_some(r->t);
	}
	buf_printf(&b, "error in dt_clause_%u for probe ID %u (", r->clause->id, r->probe->id);
	probe_text(&b, r->probe);
	buf_puts(&b, "): ");
	fault_text(&b, what[0], value);
	if (r->t->o.flags & TALLY_TRACE_COMPAT)
		buf_printf(&b, " at BPF pc %u", pc);
	else
		buf_printf(&b, " in action at line %u", what[1]);
	trace_note_buf(r->t, &b);
	return trace_flush_some(r->t);
}

int record_take(void *arg, uint32_t ring, const void *rec, uint32_t size)
{
	struct rec r = { .t = arg, .bytes = rec };
	uint32_t hdr[2], epid;
	bool is_error;
	int rc;

	/* what a ring has now was handed over before now: names of all of it need no facts that come later */
	if (ring != r.t->ring && (rc = run_learn_mappings(r.t)) < 0)
		return rc;
	r.t->ring = ring;
	if (size < D_RECORD_HDR)
		return trace_fail(r.t, TALLY_ECORRUPT, "a record of %u bytes", size);
	memcpy(hdr, rec, sizeof(hdr));
	epid = hdr[0] & ~D_EPID_ERROR;
	is_error = hdr[0] & D_EPID_ERROR;
	if (!epid || epid >= r.t->img->nepids)
		return trace_fail(r.t, TALLY_ECORRUPT, "a record of unknown origin (%u)", epid);
	r.cpu = hdr[1];
	r.probe = probes_get(r.t->probes, r.t->img->epid[epid].probe);
	r.clause = &r.t->prog->clause[r.t->img->epid[epid].clause];
	if (size < (is_error ? D_ERROR_RECORD : r.clause->record_size))
		return trace_fail(r.t, TALLY_ECORRUPT, "a record of dt_clause_%u has %u bytes", r.clause->id, size);
	return is_error ? take_error(&r) : take_record(&r);
}
