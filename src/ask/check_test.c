/*
 * check_test.c: `tally check` over all models, which obey all invariants, and over machines that were doctored to break
 * one: what the platform answers passes through a hand that changes one thing.  Each is caught, and by the name of the
 * invariant that it breaks.
 *
 * TALLY_SEEDS says how many seeds of each model are checked.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "ask/ask_int.h"
#include "ask/output_test_int.h"
#include "hv/sun4v_invariant.h"
#include "ptt/watch.h"

/* ---- a platform, and a check of it ----------------------------------------------------------------------------- */

struct on {
	struct tally_platform *p;
	struct tally_check_result c;
	struct buf out, notes;
	/* what is lied about, by provider; NULL: nothing */
	const struct vf_lie *vf;
	uint32_t denied; /* of vfalls: a bit of each enum vf_class that nobody may read */
	const struct mmu_lie *mmu;
	const struct gpci_lie *gpci;
	const struct ptt_lie *ptt;
	/* what stands behind the hand */
	struct hv_transport transport;
	struct hv_transport_ops line_ops;
	struct ptt_pmus ptt_is;
	struct ptt_pmus_ops ptt_ops;
	/* vfalls: what was selected; readings so far */
	uint64_t control[VF_REGS], pcr[512], class[4], readings;
	uint64_t slow; /* nanoseconds that it takes to read a strand while all classes of misses count */
	/* gpci */
	uint64_t ns, kept;
	/* ptt */
	struct ptt_ask ask;
	struct buf bytes;
	uint64_t records, done;
};

static void on_open(struct on *o, const char *on)
{
	*o = (struct on){ .p = NULL };
	o->p = platform_open_noted(on, &o->notes);
}

static void on_close(struct on *o)
{
	if (o->transport.op)
		o->p->transport = o->transport;
	tally_platform_close(o->p);
	buf_free(&o->out);
	buf_free(&o->notes);
	buf_free(&o->bytes);
}

static int check(struct on *o, const char *what, uint64_t ns)
{
	const struct tally_check_opts opts = {
		.size = sizeof(opts),
		.what = what,
		.interval_ns = ns,
		.to = { .size = sizeof(opts.to), .out = buf_take, .arg = &o->out, .format = TALLY_FORMAT_JSON },
	};

	buf_clear(&o->out);
	buf_puts(&o->out, ""); /* so that there are words also when there is no row */
	o->c = (struct tally_check_result){ .size = sizeof(o->c) };
	return tally_check(o->p, &opts, &o->c);
}

static bool verdict_is(const struct on *o, const char *invariant, const char *verdict)
{
	char words[128];

	snprintf(words, sizeof(words), "\"name\":\"%s\",\"verdict\":\"%s\"", invariant, verdict);
	return o->out.n && strstr(o->out.p, words) != NULL;
}

/* The check runs, and this invariant is broken, which a note says too. */
static void is_caught(struct on *o, const char *what, const char *invariant, uint64_t ns, int row)
{
	char words[96];

	if (check(o, what, ns) < 0)
		fail_msg("row of line %d: %s", row, tally_platform_error(o->p));
	if (!verdict_is(o, invariant, "BROKEN"))
		fail_msg("row of line %d: %s is not broken:\n%s", row, invariant, o->out.p);
	snprintf(words, sizeof(words), ", %s, is broken: ", invariant);
	assert_non_null(strstr(o->notes.p, words));
	assert_true(o->c.broken > 0);
}

/* ---- vfalls: counters that lie ----------------------------------------------------------------------------------- */

/* What a counter with this selection shows is times by over, and grows by `more` a reading. */
struct vf_lie {
	uint8_t cls, unit;
	uint16_t code;
	int class;
	uint32_t times, over, more;
};

static uint64_t vf_told(struct on *o, uint64_t value)
{
	return value * o->vf->times / o->vf->over + o->readings++ * o->vf->more;
}

/* reg: a counter of the control register `control`. */
static bool vf_is_lied_about(const struct on *o, uint32_t reg, uint32_t control, uint32_t pic)
{
	const struct vf_reg *v = &vf_regs[reg];
	const bool lpu = v->unit >= VF_UNIT_LPU_A && v->unit <= VF_UNIT_LPU_D;

	if (v->cls != o->vf->cls || (v->cls >= VF_ZAM_PCR && o->vf->unit != (lpu ? VF_UNIT_LPU_A : v->unit)))
		return false;
	return vf_selected(&vf_regs[control], o->control[control], pic) == o->vf->code;
}

static int lying_sun4v(void *arg, uint32_t vcpu, unsigned trap, uint64_t r[6], struct err *e)
{
	struct on *o = arg;
	const uint64_t function = r[5], reg = r[0], value = r[1];
	int rc;

	if (trap == HV_FAST_TRAP && (function == SUN4V_SET_PERFREG || function == SUN4V_GET_PERFREG) && reg < VF_REGS &&
	    o->denied >> vf_regs[reg].cls & 1) {
		r[0] = HV_ENOACCESS;
		return 0;
	}
	rc = o->transport.op->sun4v(o->transport.arg, vcpu, trap, r, e);
	if (rc < 0 || trap != HV_FAST_TRAP || r[0] != HV_EOK || reg >= VF_REGS)
		return rc;
	if (function == SUN4V_SET_PERFREG) {
		o->control[reg] = value;
		if (reg == 1)
			o->class[vcpu / o->transport.strands_per_node] = value;
	}
	if (function != SUN4V_GET_PERFREG || !o->vf)
		return rc;
	if (vf_regs[reg].cls == VF_MCU_PIC) {
		const uint32_t control = (uint32_t)reg - 1;
		const bool first = vf_is_lied_about(o, (uint32_t)reg, control, 0),
			   second = vf_is_lied_about(o, (uint32_t)reg, control, 1);
		const uint64_t a = first ? vf_told(o, r[1] >> 32) : r[1] >> 32;
		const uint64_t b = second ? vf_told(o, (uint32_t)r[1]) : (uint32_t)r[1];

		r[1] = (a & 0x7fffffff) << 32 | (b & 0x7fffffff);
	} else if (vf_regs[reg].cls >= VF_ZAM_PIC0) {
		const uint32_t pic = vf_regs[reg].cls == VF_ZAM_PIC1;

		if (vf_is_lied_about(o, (uint32_t)reg, (uint32_t)reg - 1 - pic, pic))
			r[1] = vf_told(o, r[1]);
	}
	return rc;
}

static int lying_asr(void *arg, uint32_t vcpu, uint32_t asr, bool write, uint64_t *value, struct err *e)
{
	struct on *o = arg;
	uint64_t half[2];
	int rc;

	if (o->denied >> VF_SPARC_PCR & 1)
		return err_set(e, TALLY_EPERM, "not for us");
	rc = o->transport.op->asr(o->transport.arg, vcpu, asr, write, value, e);
	if (rc < 0)
		return rc;
	if (write && asr == 0x10)
		o->pcr[vcpu] = *value;
	if (!write && o->slow && o->class[vcpu / o->transport.strands_per_node] == 0)
		o->transport.op->advance(o->transport.arg, o->slow);
	if (write || asr != 0x11 || !o->vf || o->vf->cls != VF_SPARC_PCR ||
	    (o->vf->class >= 0 && o->class[vcpu / o->transport.strands_per_node] != (uint64_t)o->vf->class))
		return rc;
	half[0] = (uint32_t)*value;
	half[1] = *value >> 32;
	for (uint32_t pic = 0; pic < 2; pic++)
		if ((o->pcr[vcpu] >> (pic ? 19 : 6) & 0xfff) == o->vf->code)
			half[pic] = (uint32_t)vf_told(o, half[pic]);
	*value = half[1] << 32 | half[0];
	return rc;
}

/* ---- mmustat: buffers that lie --------------------------------------------------------------- */

/* What is added to two words of strand 0's buffer whenever time has passed; missed: what no TSB answered is half of
 * it. */
struct mmu_lie {
	uint32_t at, at_too;
	uint64_t more, more_too;
	bool missed;
};

static uint64_t lying_missed(void *arg)
{
	const struct on *o = arg;

	return o->transport.op->tsb_missed(o->transport.arg) / (o->mmu && o->mmu->missed ? 2 : 1);
}

static void mmu_add(const struct on *o, uint32_t at, uint64_t more)
{
	uint8_t *word = o->transport.memory + at;

	be64_put(word, be64_get(word) + more);
}

static void lying_advance(void *arg, uint64_t ns)
{
	struct on *o = arg;

	o->ns += ns;
	o->transport.op->advance(o->transport.arg, ns);
	if (o->mmu && !o->mmu->missed) {
		mmu_add(o, o->mmu->at, o->mmu->more);
		mmu_add(o, o->mmu->at_too, o->mmu->more_too);
	}
}

static uint64_t lying_now(void *arg)
{
	const struct on *o = arg;

	return o->transport.op->now(o->transport.arg);
}

/* ---- gpci: replies that lie ------------------------------------------------------------------ */

/* When a record is lied about. The first reading is taken after a second; of a small reply the second is part of a
 * large one. */
enum when { LATER, BOTH, OF_SELF, IN_PIECES, TO_WHAT_WAS };
struct gpci_lie {
	uint32_t number;
	int64_t id; /* -1: of all records */
	const char *field;
	bool add; /* value is added; else put there */
	uint64_t value;
	uint8_t when;
	struct {
		uint32_t number;
		int64_t id;
		const char *field;
		uint64_t more;
	} too; /* field NULL: nothing else */
};

static void gpci_put(uint8_t *record, const struct gpci_field *f, uint64_t v)
{
	for (uint32_t i = f->bytes; i--; v >>= 8)
		record[f->offset + i] = (uint8_t)v;
}

static uint64_t gpci_get(const uint8_t *record, const struct gpci_field *f)
{
	uint64_t v = 0;

	for (uint32_t i = 0; i < f->bytes; i++)
		v = v << 8 | record[f->offset + i];
	return v;
}

static const struct gpci_field *gpci_field_of(const struct gpci_request *r, const char *name)
{
	for (uint32_t i = 0; i < r->nfields; i++)
		if (!strcmp(r->field[i].name, name))
			return &r->field[i];
	fail_msg("%s has no %s", r->name, name);
	return NULL;
}

static void gpci_lie_about(struct on *o, const struct gpci_request *r, uint64_t id, uint8_t *record)
{
	const struct gpci_lie *l = o->gpci;

	if (r->number == l->number && (l->id < 0 || (uint64_t)l->id == id)) {
		const struct gpci_field *f = gpci_field_of(r, l->field);
		const uint64_t is = gpci_get(record, f);

		if (l->when != TO_WHAT_WAS)
			gpci_put(record, f, l->add ? is + l->value : l->value);
		else if (o->ns > UINT64_C(1000000000))
			gpci_put(record, f, o->kept);
		else
			o->kept = is;
	}
	if (l->too.field && r->number == l->too.number && (l->too.id < 0 || (uint64_t)l->too.id == id) &&
	    (l->when != TO_WHAT_WAS || o->ns > UINT64_C(1000000000))) {
		const struct gpci_field *f = gpci_field_of(r, l->too.field);

		gpci_put(record, f, gpci_get(record, f) + l->too.more);
	}
}

static int lying_papr(void *arg, uint32_t vcpu, uint64_t reg[3], struct err *e)
{
	struct on *o = arg;
	uint8_t *block = o->transport.memory + (reg[1] - o->transport.base);
	const size_t bytes = reg[2];
	struct gpci_reply ask, reply;
	const struct gpci_request *r;
	struct gpci_values v;
	size_t at = GPCI_HEADER;
	bool now;
	int rc;

	if (!o->gpci || gpci_reply(&ask, block, GPCI_HEADER, e) < 0)
		return o->transport.op->papr(o->transport.arg, vcpu, reg, e);
	rc = o->transport.op->papr(o->transport.arg, vcpu, reg, e);
	if (rc < 0 || gpci_reply(&reply, block, bytes, e) < 0 || !reply.returned)
		return rc;
	r = gpci_request(reply.request, (uint8_t)reply.version_out, (uint8_t)reply.version_in);
	now = o->gpci->when == BOTH || o->gpci->when == TO_WHAT_WAS ||
	      (o->gpci->when == LATER && o->ns > UINT64_C(1000000000)) ||
	      (o->gpci->when == OF_SELF && ask.starting_index < 0) ||
	      (o->gpci->when == IN_PIECES && ask.starting_index > 0);
	for (uint32_t i = 0; r && now && i < reply.returned && gpci_record(r, &reply, i, &v, e) >= 0; i++) {
		gpci_lie_about(o, r, v.id, block + at);
		at += gpci_record_bytes(r, &v);
	}
	return rc;
}

/* The platform's line goes through the hand from now on. */
static void line_doctor(struct on *o)
{
	struct hv_transport *l;

	if (hv_transport_of(o->p, &l) < 0)
		fail_msg("%s", tally_platform_error(o->p));
	o->transport = *l;
	o->line_ops = *l->op;
	o->line_ops.sun4v = l->op->sun4v ? lying_sun4v : NULL;
	o->line_ops.asr = l->op->asr ? lying_asr : NULL;
	o->line_ops.tsb_missed = l->op->tsb_missed ? lying_missed : NULL;
	o->line_ops.papr = l->op->papr ? lying_papr : NULL;
	o->line_ops.now = lying_now;
	o->line_ops.advance = lying_advance;
	l->op = &o->line_ops;
	l->arg = o;
}

/* ---- ptt: traces that lie -------------------------------------------------------------------- */

struct ptt_lie {
	uint8_t format, direction, type; /* of the traces that it is told in; 0: of all */
	/* Changes a record; true: that will do for this trace. NULL: the lie is another one. */
	bool (*record)(struct on *o, uint8_t *p, const struct tlp *t, uint8_t *next);
	bool drops;               /* the first record of each piece */
	uint64_t tlps, bytes;     /* that the link says it carried more, each time that it is asked */
	uint32_t tunable;         /* what all tunables are; 0: what they are */
	bool no_packets, no_link; /* nothing passes; nothing tells what did */
};

static uint32_t *word_of(const struct on *o, uint8_t *p, uint32_t header)
{
	return (uint32_t *)(void *)(p + (o->ask.format ? 8 : 0) + 4 * header);
}

static bool is_data(const struct tlp *t)
{
	return t->class == TLP_CPL && !t->status && tlp_type_at(t->type_index)->data;
}

static bool is_wide(const struct tlp *t)
{
	return tlp_type_at(t->type_index)->layout == TLP_MEM64 && t->length_dw > 1;
}

static bool lie_marker(struct on *o, uint8_t *p, const struct tlp *t, uint8_t *next)
{
	(void)o, (void)t, (void)next;
	p[1] = 0x7f;
	return true;
}

static bool lie_reserved(struct on *o, uint8_t *p, const struct tlp *t, uint8_t *next)
{
	(void)o, (void)t, (void)next;
	p[24] = 1;
	return true;
}

static bool lie_type(struct on *o, uint8_t *p, const struct tlp *t, uint8_t *next)
{
	(void)t, (void)next;
	*word_of(o, p, 0) |= o->ask.format ? 0x0f000000 : 0x1e000000;
	return true;
}

/* A write becomes a read. */
static bool lie_selection(struct on *o, uint8_t *p, const struct tlp *t, uint8_t *next)
{
	(void)next;
	*word_of(o, p, 0) &= ~0x40000000u;
	return is_wide(t);
}

static bool lie_status(struct on *o, uint8_t *p, const struct tlp *t, uint8_t *next)
{
	(void)next;
	if (is_data(t))
		*word_of(o, p, 1) |= 1u << 13;
	return is_data(t);
}

static bool lie_enables(struct on *o, uint8_t *p, const struct tlp *t, uint8_t *next)
{
	(void)next;
	if (is_wide(t))
		*word_of(o, p, 1) &= ~0xf0u;
	return is_wide(t);
}

/* The last DW's bytes 0 and 2 alone. */
static bool lie_holes(struct on *o, uint8_t *p, const struct tlp *t, uint8_t *next)
{
	const bool wide = is_wide(t) && t->length_dw > 2;

	(void)next;
	if (wide)
		*word_of(o, p, 1) = (*word_of(o, p, 1) & ~0xf0u) | 0x50;
	return wide;
}

static bool lie_one_enable(struct on *o, uint8_t *p, const struct tlp *t, uint8_t *next)
{
	const bool one = t->class == TLP_NP && t->length_dw == 1;

	(void)next;
	if (one)
		*word_of(o, p, 1) |= 0x30;
	return one;
}

static bool lie_address(struct on *o, uint8_t *p, const struct tlp *t, uint8_t *next)
{
	(void)next;
	if (is_wide(t))
		*word_of(o, p, 2) = 0;
	return is_wide(t);
}

static bool lie_page(struct on *o, uint8_t *p, const struct tlp *t, uint8_t *next)
{
	(void)next;
	if (is_wide(t))
		*word_of(o, p, 3) |= 0xff8;
	return is_wide(t);
}

/* One DW more than what is left, or than the boundary. */
static bool lie_completion(struct on *o, uint8_t *p, const struct tlp *t, uint8_t *next)
{
	/* The last one's DWs end with its bytes: one DW more is the least that is too much. */
	const bool full = is_data(t) && 4 * t->length_dw - (t->lower_address & 3u) == t->byte_count;

	(void)next;
	if (full)
		*word_of(o, p, 0) += 1;
	return full;
}

static bool lie_order(struct on *o, uint8_t *p, const struct tlp *t, uint8_t *next)
{
	(void)o, (void)t, (void)p;
	if (next)
		memset(next + 28, 0, 4);
	return o->records > 100;
}

static bool lie_span(struct on *o, uint8_t *p, const struct tlp *t, uint8_t *next)
{
	(void)o, (void)t, (void)next;
	*(uint32_t *)(void *)(p + 28) *= 2;
	return false;
}

/* The last completion of a request comes again, in the place of the next packet. */
static bool lie_twice(struct on *o, uint8_t *p, const struct tlp *t, uint8_t *next)
{
	const uint32_t room = 4 * t->length_dw - (t->lower_address & 3);
	const bool again = o->kept;

	o->kept = is_data(t) && t->byte_count <= room && next && !again;
	if (o->kept)
		memcpy(next, p, 16);
	return false;
}

/* More will come, but it says that this is all. */
static bool lie_all(struct on *o, uint8_t *p, const struct tlp *t, uint8_t *next)
{
	const uint32_t room = 4 * t->length_dw - (t->lower_address & 3);

	(void)next;
	if (is_data(t) && t->byte_count > room)
		*word_of(o, p, 1) = (*word_of(o, p, 1) & ~0xfffu) | room;
	return false;
}

/* The last completion of a read carries 64 bytes less, and no other one follows. */
static bool lie_short(struct on *o, uint8_t *p, const struct tlp *t, uint8_t *next)
{
	const uint32_t room = 4 * t->length_dw - (t->lower_address & 3);

	(void)next;
	if (is_data(t) && t->byte_count <= room && room > 64 && (t->lower_address + room) % 64 == 0)
		*word_of(o, p, 0) -= o->ask.format ? 16 : 16 << 11;
	return false;
}

static bool lie_byte_count(struct on *o, uint8_t *p, const struct tlp *t, uint8_t *next)
{
	const uint32_t room = 4 * t->length_dw - (t->lower_address & 3);

	(void)next;
	if (is_data(t) && t->byte_count > room)
		*word_of(o, p, 1) += 64;
	return false;
}

static bool lie_place(struct on *o, uint8_t *p, const struct tlp *t, uint8_t *next)
{
	(void)next;
	if (is_data(t))
		*word_of(o, p, 2) ^= 0x40;
	return false;
}

static bool lie_length(struct on *o, uint8_t *p, const struct tlp *t, uint8_t *next)
{
	(void)next;
	if (t->class == TLP_P && t->length_dw > 1)
		*word_of(o, p, 0) += 1;
	return t->class == TLP_P && t->length_dw > 1;
}

static bool is_told(const struct on *o)
{
	const struct ptt_lie *l = o->ptt;

	return l &&
	       (!l->type || (l->format == o->ask.format && l->direction == o->ask.direction && l->type == o->ask.type));
}

static int lying_start(void *arg, const struct ptt_pmu *pmu, const struct ptt_ask *ask, size_t ring, struct err *e)
{
	struct on *o = arg;

	o->ask = *ask;
	o->records = o->done = 0;
	return o->ptt_is.op->start(o->ptt_is.arg, pmu, ask, ring, e);
}

static void ptt_lie_about(struct on *o)
{
	const uint8_t format = o->ask.format ? PTT_8DW : PTT_4DW;
	const struct ptt_decode_opts how = { .format = format, .time = PTT_TIME_ABS };
	struct ptt_clock clock = { 0 };

	for (size_t at = 0; at < o->bytes.n && !o->done; at += 4u * format) {
		uint8_t *p = (uint8_t *)o->bytes.p + at;
		struct tlp t;

		o->records++;
		ptt_decode(p, &how, &clock, &t);
		o->done = o->ptt->record(o, p, &t, at + 4u * format < o->bytes.n ? p + 4u * format : NULL);
	}
}

static int lying_next(void *arg, struct ptt_aux *a, int timeout_ms, struct err *e)
{
	struct on *o = arg;
	int rc = o->ptt_is.op->next(o->ptt_is.arg, a, timeout_ms, e);
	const size_t skip = o->ptt && o->ptt->drops ? (o->ask.format ? 32 : 16) : 0;

	if (rc > 0 && o->ptt->no_packets)
		a->n = 0;
	if (rc <= 0 || !a->n || !is_told(o))
		return rc;
	buf_clear(&o->bytes);
	buf_put(&o->bytes, a->p + skip, a->n - skip);
	if (o->ptt->record)
		ptt_lie_about(o);
	a->p = (const uint8_t *)o->bytes.p;
	a->n = o->bytes.n;
	return rc;
}

static int lying_link(void *arg, uint32_t i, struct ptt_link *ret, struct err *e)
{
	struct on *o = arg;
	int rc = o->ptt->no_link ? -TALLY_ENOTSUP : o->ptt_is.op->link(o->ptt_is.arg, i, ret, e);

	if (rc < 0)
		return rc;
	o->readings++;
	ret->tlps[1][PTT_CLASS_P] += o->readings * o->ptt->tlps;
	ret->bytes[0][PTT_CLASS_P] += o->readings * o->ptt->bytes;
	return rc;
}

static int lying_tune_get(void *arg, uint32_t i, enum ptt_tune t, uint32_t *value, struct err *e)
{
	struct on *o = arg;
	int rc = o->ptt_is.op->tune_get(o->ptt_is.arg, i, t, value, e);

	*value = o->ptt->tunable ? o->ptt->tunable : *value;
	return rc;
}

static int lying_list(void *arg, const struct ptt_pmu **ret, uint32_t *n, struct err *e)
{
	struct on *o = arg;

	return o->ptt_is.op->list(o->ptt_is.arg, ret, n, e);
}

static int lying_stop(void *arg, struct err *e)
{
	struct on *o = arg;

	return (o->ptt_is.op->stop)(o->ptt_is.arg, e); /* cmocka 2 has a macro stop() */
}

static uint64_t lying_ptt_advance(void *arg, uint64_t ns)
{
	struct on *o = arg;

	return o->ptt_is.op->advance(o->ptt_is.arg, ns);
}

static void lying_close(void *arg)
{
	struct on *o = arg;

	o->ptt_is.op->close(o->ptt_is.arg);
}

/* The platform's devices go through the hand from now on. */
static void ptt_doctor(struct on *o)
{
	static const struct ptt_pmus_ops ops = {
		.what = "a doctored model",
		.list = lying_list,
		.tune_get = lying_tune_get,
		.start = lying_start,
		.next = lying_next,
		.stop = lying_stop,
		.advance = lying_ptt_advance,
		.close = lying_close,
		.link = lying_link,
	};
	const struct ptt_pmu *pmu;
	uint32_t n;

	if (plat_ptt_list(o->p, &pmu, &n) < 0)
		fail_msg("%s", tally_platform_error(o->p));
	o->ptt_is = o->p->ptt;
	o->p->ptt = (struct ptt_pmus){ .arg = o, .op = &ops };
}

/* ---- machines that are right ----------------------------------------------------------------- */

enum provider { VFALLS, MMUSTAT, GPCI, PTT, PROVIDERS };
static const char *const providers[PROVIDERS] = { "vfalls", "mmustat", "gpci", "ptt" };

static const char *invariant_name(enum provider of, uint32_t i)
{
	const struct sun4v_invariant *l =
		of < GPCI ? sun4v_invariant_at(of == VFALLS ? SUN4V_VFALLS : SUN4V_MMUSTAT, i) : NULL;
	const struct gpci_invariant *g = of == GPCI ? gpci_invariant_at(i) : NULL;

	return l ? l->name : g ? g->name : of == PTT && i < PTT_INVARIANT_COUNT ? ptt_invariants[i].name : NULL;
}

static void each_invariant_has_a_name_of_its_own(void **state)
{
	(void)state;
	for (uint32_t of = 0; of < PROVIDERS; of++)
		for (uint32_t i = 0; invariant_name(of, i); i++)
			for (uint32_t k = 0; k < i; k++)
				assert_string_not_equal(invariant_name(of, i), invariant_name(of, k));
}

static const struct checked {
	const char *on;    /* and ",load=...,seed=..." */
	const char *loads; /* whose */
	uint8_t of;
	uint64_t ns;
} models[] = {
	{ "niagara,strands=8", "niagara", MMUSTAT, 140000 },
	{ "maramba,sockets=1,strands=8", "niagara", VFALLS, 140000 },
	{ "maramba,strands=8", "niagara", VFALLS, 140000 },
	{ "batoka,sockets=1,strands=8", "niagara", VFALLS, 140000 },
	{ "batoka,sockets=2,strands=8", "niagara", VFALLS, 140000 },
	{ "batoka,sockets=3,strands=8", "niagara", VFALLS, 140000 },
	{ "batoka,strands=8", "niagara", VFALLS, 140000 },
	{ "power,firmware=6", "power", GPCI, 30000000 },
	{ "power,firmware=8", "power", GPCI, 30000000 },
	{ "kunpeng", "kunpeng", PTT, 4000000 },
};

static const char *checked_load(const struct checked *m, uint32_t i)
{
	const char *text;

	if (m->of == PTT)
		return kunpeng_load_at(i) ? kunpeng_load_at(i)->name : NULL;
	return model_load(m->loads, i, &text);
}

/* held: how often each invariant had something to say. */
static void model_obeys(const struct checked *m, const char *load, uint64_t seed, uint32_t held[PROVIDERS][32])
{
	struct on o;
	char on[96];

	snprintf(on, sizeof(on), "%s,load=%s,seed=%llu", m->on, load, (unsigned long long)seed);
	on_open(&o, on);
	if (check(&o, providers[m->of], m->ns) < 0 && !strstr(tally_platform_error(o.p), "nothing was checked: "))
		fail_msg("%s: %s", on, tally_platform_error(o.p));
	if (o.c.broken)
		fail_msg("%s %s:\n%s", providers[m->of], on, o.out.p);
	for (uint32_t i = 0; invariant_name(m->of, i); i++)
		held[m->of][i] += verdict_is(&o, invariant_name(m->of, i), "holds");
	on_close(&o);
}

static void all_models_obey_all_invariants_with_all_seeds(void **state)
{
	const char *asked = getenv("TALLY_SEEDS");
	const uint64_t seeds = asked ? strtoull(asked, NULL, 10) : 10;
	static uint32_t held[PROVIDERS][32];

	(void)state;
	for (uint64_t seed = 1; seed <= seeds; seed++)
		for (uint32_t i = 0; i < COUNT(models); i++) {
			uint32_t loads = 0;

			while (checked_load(&models[i], loads))
				loads++;
			model_obeys(&models[i], checked_load(&models[i], (uint32_t)(seed + i) % loads), seed, held);
		}
	for (uint32_t of = 0; of < PROVIDERS; of++)
		for (uint32_t i = 0; invariant_name(of, i); i++)
			if (!held[of][i])
				fail_msg("%s of %s never had anything to say", invariant_name(of, i), providers[of]);
	assert_int_equal(mem_live(), 0);
}

/* ---- machines that are wrong ----------------------------------------------------------------- */

/* Over all providers; each invariant is broken by one of them at least. */
static uint32_t caught_in_all, caught[PROVIDERS];

static void was_caught(struct on *o, enum provider of, uint32_t invariant, uint64_t ns, int row)
{
	is_caught(o, providers[of], invariant_name(of, invariant), ns, row);
	caught[of] |= 1u << invariant;
	caught_in_all++;
	on_close(o);
}

static void each_invariant_was_broken(enum provider of)
{
	for (uint32_t i = 0; invariant_name(of, i); i++)
		if (!(caught[of] >> i & 1))
			fail_msg("no machine breaks %s of %s", invariant_name(of, i), providers[of]);
	assert_int_equal(mem_live(), 0);
}

#define VF(name) __LINE__, VFALLS_INVARIANT_##name

static void a_doctored_victoria_falls_is_caught_by_each_invariant(void **state)
{
	static const struct {
		int row;
		uint32_t invariant;
		struct vf_lie lie;
		const char *load;
	} rows[] = {
		{ VF(classes_sum_to_all),
		  { VF_SPARC_PCR, 0, 0x330, 1, 2, 1, 0 },
		  "random" }, /* PERF_CONFIG local counts others too */
		{ VF(classes_sum_to_all),
		  { VF_SPARC_PCR, 0, 0x330, 2, 0, 1, 0 },
		  "random" }, /* remote is never counted */
		{ VF(classes_sum_to_all),
		  { VF_SPARC_PCR, 0, 0x330, 2, 1, 1, 1000 },
		  "compute" }, /* of hardly a miss many are remote */
		{ VF(ports_sum_to_the_hub), { VF_ZAM_PIC0, VF_UNIT_LPU_A, 0x21, -1, 1, 2, 0 }, "random" },
		{ VF(ports_sum_to_the_hub), { VF_ZAM_PIC1, VF_UNIT_LPU_A, 0x22, -1, 1, 1, 9 }, "random" },
		{ VF(serializer_keeps_nothing), { VF_ZAM_PIC1, VF_UNIT_ASU, 3, -1, 1, 2, 0 }, "random" },
		{ VF(waiters_are_woken), { VF_ZAM_PIC1, VF_UNIT_ASU, 5, -1, 1, 2, 0 }, "pingpong" },
		{ VF(requests_are_replied_to), { VF_ZAM_PIC1, VF_UNIT_LPU_A, 0x27, -1, 2, 1, 0 }, "random" },
		{ VF(all_others_answer), { VF_ZAM_PIC1, VF_UNIT_LPU_A, 0x28, -1, 1, 3, 0 }, "random" },
		{ VF(empty_replies_are_replies), { VF_ZAM_PIC1, VF_UNIT_LPU_A, 0x23, -1, 2, 1, 0 }, "random" },
		{ VF(reads_are_transfers), { VF_MCU_PIC, 0, 0, -1, 4, 1, 0 }, "random" },
		{ VF(writes_are_transfers), { VF_MCU_PIC, 0, 1, -1, 1, 1, 1000000 }, "random" },
		{ VF(read_queues_are_queues), { VF_MCU_PIC, 0, 4, -1, 8, 1, 0 }, "random" },
		{ VF(buffer_hits_are_reads), { VF_MCU_PIC, 0, 7, -1, 1, 1, 1000000 }, "random" },
		{ VF(links_carry_what_was_read),
		  { VF_MCU_PIC, 0, 0, -1, 1, 4, 0 },
		  "random" }, /* what the links carry nobody read */
		{ VF(links_carry_what_was_read), { VF_SPARC_PCR, 0, 0x330, 1, 4, 1, 0 }, "stream" },
		{ VF(reads_are_misses), { VF_MCU_PIC, 0, 0, -1, 3, 1, 0 }, "random" },
		{ VF(reads_are_misses), { VF_ZAM_PIC1, VF_UNIT_LPU_A, 0x23, -1, 1, 2, 0 }, "random" },
		{ VF(level_2_within_level_1), { VF_SPARC_PCR, 0, 0x303, -1, 1, 50, 0 }, "random" },
		{ VF(walk_misses_are_walks), { VF_SPARC_PCR, 0, 0x430, -1, 1, 1, 100000 }, "mixed" },
		{ VF(hubs_share_a_clock), { VF_ZAM_PIC0, VF_UNIT_GPD, 1, -1, 1, 1, 7 }, "random" },
		{ VF(events_within_cycles), { VF_ZAM_PIC0, VF_UNIT_LPU_A, 0x21, -1, 1, 1, 1000000 }, "random" },
		{ VF(lines_fit_the_link), { VF_ZAM_PIC0, VF_UNIT_LPU_A, 0x03, -1, 1, 1, 1000000 }, "random" },
		{ VF(controllers_read_what_missed), { VF_MCU_PIC, 0, 0, -1, 4, 1, 0 }, "random" },
		{ VF(controllers_read_what_missed), { VF_SPARC_PCR, 0, 0x530, -1, 1, 50, 0 }, "random" },
	};

	(void)state;
	for (size_t i = 0; i < COUNT(rows); i++) {
		struct on o;
		char on[64];

		snprintf(on, sizeof(on), "batoka,strands=8,load=%s", rows[i].load);
		on_open(&o, on);
		o.vf = &rows[i].lie;
		line_doctor(&o);
		was_caught(&o, VFALLS, rows[i].invariant, 1400000, rows[i].row);
	}
	each_invariant_was_broken(VFALLS);
}

/* Whoever may read one side of a balance only knows nothing of the other, and accuses nobody. */
static void counters_that_may_not_be_read_are_held_against_nobody(void **state)
{
	static const struct {
		int row;
		uint32_t denied;
		const char *unknown[3];
	} rows[] = {
		{ __LINE__, 1u << VF_SPARC_PCR, { "classes_sum_to_all", "controllers_read_what_missed" } },
		{ __LINE__,
		  1u << VF_MCU_PCR | 1u << VF_MCU_PIC,
		  { "reads_are_misses", "controllers_read_what_missed", "read_queues_are_queues" } },
		{ __LINE__,
		  1u << VF_ZAM_PCR | 1u << VF_ZAM_PIC0 | 1u << VF_ZAM_PIC1,
		  { "reads_are_misses", "ports_sum_to_the_hub", "links_carry_what_was_read" } },
	};

	(void)state;
	for (size_t i = 0; i < COUNT(rows); i++) {
		struct on o;

		on_open(&o, "batoka,strands=8,load=random");
		o.denied = rows[i].denied;
		line_doctor(&o);
		if (check(&o, "vfalls", 1400000) != 0 || o.c.broken || !o.c.holds)
			fail_msg("row of line %d: %s\n%s", rows[i].row, tally_platform_error(o.p), o.out.p);
		for (uint32_t k = 0; k < 3 && rows[i].unknown[k]; k++)
			if (!verdict_is(&o, rows[i].unknown[k], "unknown"))
				fail_msg("row of line %d: %s is known:\n%s", rows[i].row, rows[i].unknown[k], o.out.p);
		on_close(&o);
	}
	assert_int_equal(mem_live(), 0);
}

/* Its rounds last as long as it takes to read them, and not each as long as the others. */
static void classes_sum_to_all_of_a_machine_that_goes_on_while_it_is_read_slowly(void **state)
{
	struct on o;

	(void)state;
	on_open(&o, "batoka,strands=8,load=random");
	o.slow = 500;
	line_doctor(&o);
	assert_int_equal(check(&o, "vfalls", 1400000), 0);
	if (!verdict_is(&o, "classes_sum_to_all", "holds"))
		fail_msg("%s", o.out.p);
	assert_int_equal(o.c.broken, 0);
	on_close(&o);
}

#define MMU(name) __LINE__, MMUSTAT_INVARIANT_##name

static void a_doctored_niagara_is_caught_by_each_invariant(void **state)
{
	enum { HITS = 0x180, TICKS = 0x188, RESERVED = 0x1a0 }; /* 8 KB of the data side, context not 0 */
	static const struct {
		int row;
		uint32_t invariant;
		struct mmu_lie lie;
	} rows[] = {
		{ MMU(counts_grow), { TICKS, HITS, (uint64_t)-1 << 40, 0, false } }, /* it goes back */
		{ MMU(reserved_words_stay), { RESERVED, HITS, 1, 0, false } },
		{ MMU(hits_take_ticks), { HITS, TICKS, 1000000, 0, false } }, /* hits that take no time */
		{ MMU(hits_take_ticks), { 0x1d8, HITS, 77, 0, false } },      /* ticks of no hit: 256 MB pages */
		{ MMU(ticks_within_time), { TICKS, HITS, UINT64_C(1) << 40, 0, false } },
		{ MMU(hits_are_misses), { HITS, TICKS, 100000, 3000000, false } },
		{ MMU(hits_and_misses_are_all), { HITS, TICKS, 1, 30, false } },
		{ MMU(hits_and_misses_are_all), { 0, 0, 0, 0, true } }, /* misses without a TSB are not counted */
	};

	(void)state;
	for (size_t i = 0; i < COUNT(rows); i++) {
		struct on o;

		on_open(&o, "niagara,strands=4,load=chase");
		o.mmu = &rows[i].lie;
		line_doctor(&o);
		was_caught(&o, MMUSTAT, rows[i].invariant, 1000000, rows[i].row);
	}
	each_invariant_was_broken(MMUSTAT);
}

#define G(name) __LINE__, GPCI_INVARIANT_##name
#define FULL (UINT64_C(1) << 40)
#define WINDOW UINT64_C(5120000)

/* Of load "mixed": partitions 2 and 3 are shared and uncapped, 5 is dedicated and donates, 6 is dedicated; processor 0
 * is shared. */
static void a_doctored_power_is_caught_by_each_invariant(void **state)
{
	static const struct {
		int row;
		uint32_t invariant;
		struct gpci_lie lie;
	} rows[] = {
		{ G(processors_ran_what_was_consumed), { 0x10, 0, "processor_time", true, 1, LATER, { 0 } } },
		{ G(processors_ran_what_was_consumed), { 0x20, 2, "capped", true, FULL, LATER, { 0 } } },
		{ G(processors_run_within_time),
		  { 0x10, 0, "processor_time", false, UINT64_C(1) << 50, LATER, { 0 } } },
		{ G(processors_run_within_time), { 0x10, 1, "state", false, 2, BOTH, { 0 } } },
		{ G(capped_within_entitled), { 0x20, 2, "entitled", false, 5, LATER, { 0 } } },
		{ G(capped_within_entitled), { 0x20, 2, "entitled", true, 10 * WINDOW, LATER, { 0 } } },
		{ G(uncapped_behind_entitlement),
		  { 0x20, 2, "capped", false, 0, TO_WHAT_WAS, { 0x20, 2, "uncapped", WINDOW } } },
		{ G(partitions_within_their_processors), { 0x20, 3, "uncapped", true, FULL, LATER, { 0 } } },
		{ G(dedicated_and_shared), { 0x20, 6, "uncapped", true, 1, LATER, { 0 } } },
		{ G(dedicated_and_shared), { 0x20, 5, "donated", true, FULL, LATER, { 0 } } },
		{ G(dedicated_and_shared), { 0x20, 2, "donated", true, 1, LATER, { 0 } } },
		{ G(donated_is_consumed), { 0x20, 2, "donated", true, UINT64_C(1) << 50, LATER, { 0 } } },
		{ G(donated_is_consumed), { 0x20, 5, "capped", true, 1, LATER, { 0 } } },
		{ G(idle_within_consumed), { 0x20, 2, "idle", true, FULL, LATER, { 0 } } },
		{ G(runs_are_those_of_cores), { 0x30, 2, "cycles", true, 1, LATER, { 0 } } },
		{ G(runs_are_those_of_cores), { 0x94, 0, "instructions", true, 1, LATER, { 0 } } },
		{ G(cables_have_two_ends), { 0x60, 0, "idle_w", true, UINT64_C(1) << 50, LATER, { 0 } } },
		{ G(cables_have_two_ends), { 0x60, 0, "idle_w", true, (uint64_t)-1, LATER, { 0 } } },
		{ G(cables_have_two_ends), { 0x60, 1, "idle_x", false, UINT64_MAX, LATER, { 0 } } },
		{ G(cables_have_two_ends), { 0x60, 2, "total", true, 4, LATER, { 0 } } },
		{ G(hpmc_go_together), { 0x80002000, 0, "hpmc3", true, UINT64_C(1) << 50, LATER, { 0 } } },
		{ G(hpmc_go_together), { 0x80002000, 3, "mmcrh", false, 3, LATER, { 0 } } },
		{ G(counters_grow_and_agree), { 0xa0, 2, "processor", false, 999, LATER, { 0 } } },
		{ G(counters_grow_and_agree), { 0x94, 0, "purr", true, 8, LATER, { 0 } } },
		{ G(small_replies_are_large_ones), { 0x10, -1, "processor_time", true, 1, IN_PIECES, { 0 } } },
		{ G(own_view_is_the_privileged_one), { 0x20, 1, "idle", true, 1, OF_SELF, { 0 } } },
		{ G(controllers_serve_the_cables), { 0x80, 1, "mc0_reads", true, 1, LATER, { 0 } } },
		{ G(controllers_serve_the_cables), /* cables that are busier, at all their ends */
		  { 0x60, -1, "idle_w", true, (uint64_t)-1 << 31, LATER, { 0x60, -1, "idle_x", (uint64_t)-1 << 31 } } },
		{ G(controllers_serve_the_cables), /* controllers that did less than the cables */
		  { 0x80, -1, "mc0_frames", false, 0, BOTH, { 0 } } },
	};

	(void)state;
	for (size_t i = 0; i < COUNT(rows); i++) {
		struct on o;

		on_open(&o, "power,firmware=6,load=mixed");
		o.gpci = &rows[i].lie;
		line_doctor(&o);
		was_caught(&o, GPCI, rows[i].invariant, 300000000, rows[i].row);
	}
	each_invariant_was_broken(GPCI);
}

#define T(name) __LINE__, PTT_INVARIANT_##name
enum { P = 1, NP = 2, CPL = 4, ALL = 7 };

static void a_doctored_trace_is_caught_by_each_invariant(void **state)
{
	static const struct {
		int row;
		uint32_t invariant;
		struct ptt_lie lie;
	} rows[] = {
		{ T(records_have_markers), { .format = 1, .direction = 2, .type = ALL, .record = lie_marker } },
		{ T(records_have_markers), { .format = 1, .direction = 1, .type = P, .record = lie_reserved } },
		{ T(types_exist), { .format = 1, .direction = 2, .type = ALL, .record = lie_type } },
		{ T(types_exist), { .format = 0, .direction = 0, .type = ALL, .record = lie_type } },
		{ T(only_what_was_selected), { .format = 1, .direction = 1, .type = P, .record = lie_selection } },
		{ T(lengths_fit_types), { .format = 1, .direction = 1, .type = CPL, .record = lie_status } },
		{ T(enables_fit_lengths), { .format = 1, .direction = 2, .type = ALL, .record = lie_enables } },
		{ T(enables_fit_lengths), { .format = 1, .direction = 1, .type = NP, .record = lie_one_enable } },
		{ T(enables_fit_lengths), { .format = 1, .direction = 2, .type = ALL, .record = lie_holes } },
		{ T(addresses_fit_pages), { .format = 0, .direction = 2, .type = ALL, .record = lie_address } },
		{ T(addresses_fit_pages), { .format = 1, .direction = 2, .type = ALL, .record = lie_page } },
		{ T(completions_end_at_boundaries),
		  { .format = 1, .direction = 1, .type = CPL, .record = lie_completion } },
		{ T(times_in_order), { .format = 1, .direction = 2, .type = ALL, .record = lie_order } },
		{ T(times_within_span), { .format = 1, .direction = 2, .type = ALL, .record = lie_span } },
		{ T(answers_within_requests), { .format = 0, .direction = 2, .type = ALL, .record = lie_twice } },
		{ T(reads_get_what_they_ask), { .format = 0, .direction = 2, .type = ALL, .record = lie_all } },
		{ T(reads_get_what_they_ask), { .format = 0, .direction = 2, .type = ALL, .record = lie_short } },
		{ T(byte_counts_fall), { .format = 0, .direction = 2, .type = ALL, .record = lie_byte_count } },
		{ T(completions_go_on), { .format = 0, .direction = 2, .type = ALL, .record = lie_place } },
		{ T(packets_are_the_links), { .format = 1, .direction = 2, .type = ALL, .drops = true } },
		{ T(packets_are_the_links), { .tlps = 1 } },
		{ T(bytes_are_the_links), { .format = 1, .direction = 2, .type = ALL, .record = lie_length } },
		{ T(bytes_are_the_links), { .bytes = 64 } },
		{ T(tunables_in_range), { .tunable = 3 } },
	};

	(void)state;
	for (size_t i = 0; i < COUNT(rows); i++) {
		struct on o;

		on_open(&o, "kunpeng,load=full");
		o.ptt = &rows[i].lie;
		ptt_doctor(&o);
		was_caught(&o, PTT, rows[i].invariant, 2000000, rows[i].row);
	}
	each_invariant_was_broken(PTT);
}

static void forty_doctored_machines_were_caught(void **state)
{
	(void)state;
	assert_true(caught_in_all >= 40);
}

/* A platform in the middle that changes nothing. */
static void a_machine_that_was_not_doctored_is_not_accused(void **state)
{
	static const struct {
		const char *on;
		uint32_t of;
		uint64_t ns;
	} rows[] = {
		{ "batoka,strands=8,load=random", VFALLS, 1400000 },
		{ "niagara,strands=4,load=chase", MMUSTAT, 1000000 },
		{ "power,firmware=6,load=mixed", GPCI, 300000000 },
		{ "kunpeng,load=full", PTT, 2000000 },
	};
	static const struct ptt_lie none = { .tunable = 0 };

	(void)state;
	for (size_t i = 0; i < COUNT(rows); i++) {
		struct on o;

		on_open(&o, rows[i].on);
		o.ptt = &none;
		if (rows[i].of == PTT)
			ptt_doctor(&o);
		else
			line_doctor(&o);
		if (check(&o, providers[rows[i].of], rows[i].ns) < 0)
			fail_msg("%s", tally_platform_error(o.p));
		if (o.c.broken || !o.c.holds)
			fail_msg("%s", o.out.p);
		on_close(&o);
	}
	assert_int_equal(mem_live(), 0);
}

/* ---- what is not known ----------------------------------------------------------------------- */

static void a_link_that_nobody_counts_is_unknown_and_the_row_says_so(void **state)
{
	static const struct ptt_lie lie = { .no_link = true };
	struct on o;

	(void)state;
	on_open(&o, "kunpeng,load=full");
	o.ptt = &lie;
	ptt_doctor(&o);
	assert_int_equal(check(&o, "ptt", 2000000), 0);
	assert_true(verdict_is(&o, "packets_are_the_links", "unknown"));
	assert_true(verdict_is(&o, "bytes_are_the_links", "unknown"));
	assert_true(verdict_is(&o, "reads_get_what_they_ask", "holds"));
	assert_non_null(strstr(o.out.p, "\"why\":\"nothing tells what the link carried\""));
	assert_int_equal(o.c.broken, 0);
	on_close(&o);
	assert_int_equal(mem_live(), 0);
}

static void traces_without_a_packet_check_nothing_and_no_invariant_holds(void **state)
{
	static const struct ptt_lie lie = { .no_packets = true };
	struct on o;

	(void)state;
	on_open(&o, "kunpeng,load=full");
	o.ptt = &lie;
	ptt_doctor(&o);
	assert_int_equal(check(&o, "ptt", 2000000), -TALLY_ENOTSUP);
	assert_non_null(strstr(tally_platform_error(o.p), "nothing was checked: no packets were traced"));
	assert_int_equal(o.c.holds, 0);
	on_close(&o);
	assert_int_equal(mem_live(), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(each_invariant_has_a_name_of_its_own),
		cmocka_unit_test(a_machine_that_was_not_doctored_is_not_accused),
		cmocka_unit_test(a_doctored_victoria_falls_is_caught_by_each_invariant),
		cmocka_unit_test(counters_that_may_not_be_read_are_held_against_nobody),
		cmocka_unit_test(classes_sum_to_all_of_a_machine_that_goes_on_while_it_is_read_slowly),
		cmocka_unit_test(a_doctored_niagara_is_caught_by_each_invariant),
		cmocka_unit_test(a_doctored_power_is_caught_by_each_invariant),
		cmocka_unit_test(a_doctored_trace_is_caught_by_each_invariant),
		cmocka_unit_test(forty_doctored_machines_were_caught),
		cmocka_unit_test(a_link_that_nobody_counts_is_unknown_and_the_row_says_so),
		cmocka_unit_test(traces_without_a_packet_check_nothing_and_no_invariant_holds),
		cmocka_unit_test(all_models_obey_all_invariants_with_all_seeds),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
