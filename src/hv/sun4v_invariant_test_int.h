/*
 * sun4v_invariant_test_int.h: a machine whose units count what the test says, at the edge of what the invariants allow.
 *
 * The machine counts each selected event by a fixed number in the time that passes, such that every invariant holds
 * and most of them only just.  A test adds something to one event of one unit, or to one word of the MMU statistics.
 */
#ifndef TALLY_HV_SUN4V_INVARIANT_TEST_INT_H
#define TALLY_HV_SUN4V_INVARIANT_TEST_INT_H

#include "hv/sun4v_invariant_int.h"
#include "hv/sun4v_test_int.h"

/* What an event gets more than usual. */
enum when {
	MEANWHILE,    /* in the time that passes */
	BEFORE,       /* before the first pass */
	AT_BEGINNING, /* between the two passes of the beginning */
	AT_END,       /* between the two passes of the end */
	REFUSED,      /* nothing: it may not be selected */
};
struct extra {
	uint16_t reg, strand, event; /* reg 0: of that strand */
	int32_t more;
	uint8_t when, class;
	uint8_t nth; /* only the n-th time that it is selected; 0: each time */
};
/* Niagara: a change to a word of a strand's buffer, to its misses or to the number of those unanswered, at one
 * moment. */
enum { START, READ_1, READ_2, PASSED, END_1, END_2, DONE }; /* looks at the clock, and the time that passes, in order */
enum { ITLB_MISS = 0xb04, DTLB_MISS = 0xb08, UNANSWERED = 0xfff };
struct moved {
	uint8_t at, strand;
	uint16_t word; /* its offset, or what it is that moves */
	int32_t more;
};
/* The machine, the transport to it, and what a test says of both. */
struct world {
	struct rig r;
	struct hv_transport transport;
	struct sun4v_client *c;
	struct sun4v_vcpu *v[STRANDS];
	struct extra extra[4];
	uint32_t seen[4];
	uint64_t ns, passed;
	uint32_t passes, nows, slow; /* slow: that pass takes, and counts, twice as much */
	uint32_t own;                /* strands of each node that are this guest's */
	uint64_t each;               /* the time that one pass was asked to take */
	uint32_t slow_look;          /* the look at the clock before which as much time passes as in nine rounds */
	uint32_t readings, fails_at; /* the reading of a count that fails, and how */
	int fails;
	bool usual;  /* events happen by themselves */
	bool stands; /* the clock does not go */
	struct hv_transport_ops ops;
	uint64_t tsb_missed;
	struct moved moved[4];
	uint32_t moment;
	uint8_t kept[2][MMUSTAT_BYTES]; /* what a machine that keeps its statistics itself has of its strands */
	uint32_t reads, read_fails_at;
};

/* Events of Victoria Falls, and the classes of its L2 misses. */
enum { L2_MISS = 0x330, L1_MISS = 0x303, STORE_OR_WALK = 0x530, WALK_REF = 0x40c, WALK_MISS = 0x430 };
enum { READ, WRITE, BOTH, READ_QUEUE = 4, BOTH_QUEUE = 6, BUFFER_HIT };
enum { REQUEST = 0x21, WRITE_BACK, NO_DATA, SENT = 0x27, RECEIVED, DATA_X = 3, DATA_Y = 7, DATA_Z = 11 };
enum { CLOCK = 1, IN, OUT, CAM_HIT, WAKE_UP };
enum { ALL, LOCAL, REMOTE, CACHE };

static inline uint32_t usual_growth(enum vf_eventset set, uint32_t event, uint32_t class)
{
	static const struct {
		uint8_t set, class;
		uint16_t event;
		uint32_t growth;
	} rows[] = {
		{ VF_EVENTS_SPARC, ALL, L2_MISS, 1000 },   { VF_EVENTS_SPARC, LOCAL, L2_MISS, 500 },
		{ VF_EVENTS_SPARC, REMOTE, L2_MISS, 400 }, { VF_EVENTS_SPARC, CACHE, L2_MISS, 100 },
		{ VF_EVENTS_SPARC, ALL, L1_MISS, 1000 },   { VF_EVENTS_SPARC, ALL, STORE_OR_WALK, 24 },
		{ VF_EVENTS_SPARC, ALL, WALK_REF, 60 },    { VF_EVENTS_SPARC, ALL, WALK_MISS, 60 },
		{ VF_EVENTS_MCU, ALL, READ, 1024 },        { VF_EVENTS_MCU, ALL, WRITE, 1030 },
		{ VF_EVENTS_MCU, ALL, BOTH, 1030 },        { VF_EVENTS_MCU, ALL, READ_QUEUE, 50 },
		{ VF_EVENTS_MCU, ALL, BOTH_QUEUE, 50 },    { VF_EVENTS_MCU, ALL, BUFFER_HIT, 1024 },
		{ VF_EVENTS_LPU, ALL, REQUEST, 1000 },     { VF_EVENTS_LPU, ALL, WRITE_BACK, 10 },
		{ VF_EVENTS_LPU, ALL, SENT, 1000 },        { VF_EVENTS_LPU, ALL, RECEIVED, 3000 },
		{ VF_EVENTS_LPU, ALL, CLOCK, 3000 },       { VF_EVENTS_LPU, ALL, NO_DATA, 2512 },
		{ VF_EVENTS_LPU, ALL, DATA_X, 87 },        { VF_EVENTS_LPU, ALL, DATA_Y, 87 },
		{ VF_EVENTS_LPU, ALL, DATA_Z, 87 },        { VF_EVENTS_GPD, ALL, CLOCK, 3000 },
		{ VF_EVENTS_ASU, ALL, CLOCK, 3000 },       { VF_EVENTS_ASU, ALL, IN, 4040 },
		{ VF_EVENTS_ASU, ALL, OUT, 4040 },         { VF_EVENTS_ASU, ALL, CAM_HIT, 7 },
		{ VF_EVENTS_ASU, ALL, WAKE_UP, 7 },
	};

	for (uint32_t i = 0; i < COUNT(rows); i++)
		if (rows[i].set == set && rows[i].event == event && rows[i].class == class)
			return rows[i].growth;
	return 0;
}

/* What a counter gets of an event in a phase. */
static inline uint64_t growth_of(struct world *x, const struct vf_reg *reg, uint32_t strand, uint32_t event,
				 enum when when)
{
	const uint32_t class = reg->number == 0 && vf_is_l2_miss(event) ? (uint32_t)x->r.m.l2[strand / 64] : ALL;
	uint64_t sum = when == MEANWHILE && x->usual ? usual_growth(vf_events_of(reg), event, class) : 0;

	for (uint32_t i = 0; i < COUNT(x->extra); i++) {
		const struct extra *m = &x->extra[i];

		if (m->reg == reg->number && m->strand == strand && m->event == event && m->class == class &&
		    m->when == when && (!m->nth || ++x->seen[i] == m->nth))
			sum += (uint64_t)(int64_t)m->more;
	}
	return when == MEANWHILE && x->passes == x->slow ? 2 * sum : sum;
}

static inline bool is_own(const struct world *x, uint32_t strand)
{
	return strand % 64 < x->own;
}

static inline void world_grow(struct world *x, enum when when)
{
	for (uint32_t s = 0; s < x->transport.strands && s < STRANDS; s++) {
		const uint64_t pcr = x->r.m.pcr[s], was = x->r.m.pic[s];

		if (is_own(x, s) && (pcr & 6) == 6) /* user and system code */
			x->r.m.pic[s] =
				((was >> 32) + growth_of(x, &vf_regs[0], s, vf_selected(&vf_regs[0], pcr, 1), when))
					<< 32 |
				(uint32_t)(was + growth_of(x, &vf_regs[0], s, vf_selected(&vf_regs[0], pcr, 0), when));
	}
	for (uint32_t n = 2; n < VF_REGS; n++)
		for (uint32_t pic = 0; pic < 2 && vf_is_control(&vf_regs[n]); pic++) {
			const uint64_t more =
				growth_of(x, &vf_regs[n], 0, vf_selected(&vf_regs[n], x->r.m.reg[n], pic), when);

			if (vf_regs[n].cls == VF_MCU_PCR)
				x->r.m.reg[n + 1] += more << (pic ? 0 : 32);
			else
				x->r.m.reg[n + 1 + pic] += more;
		}
}

/* TLB misses of a strand, if they are counted. */
static inline void misses_add(struct world *x, uint32_t strand, uint32_t event, uint64_t more)
{
	for (uint32_t pic = 0; pic < 2; pic++)
		if (vf_selected(&vf_regs[0], x->r.m.pcr[strand], pic) == event && (x->r.m.pcr[strand] & 6) == 6)
			x->r.m.pic[strand] += more << (pic ? 32 : 0);
}

/* Strand 0 has 3 hits in 90 ticks, strand 1 4 of data in 4 ticks, and so many misses both have. */
static inline void niagara_moves(struct world *x)
{
	static const struct moved usual[] = {
		{ PASSED, 0, 0x000, 3 }, { PASSED, 0, 0x008, 90 }, { PASSED, 0, ITLB_MISS, 3 },
		{ PASSED, 1, 0x1d0, 4 }, { PASSED, 1, 0x1d8, 4 },  { PASSED, 1, DTLB_MISS, 4 },
	};

	for (uint32_t i = 0; i < COUNT(usual) + COUNT(x->moved); i++) {
		const struct moved *m = i < COUNT(usual) ? &usual[i] : &x->moved[i - COUNT(usual)];
		const uint64_t more = (uint64_t)(int64_t)m->more;

		if (m->at != x->moment || !more || (i < COUNT(usual) && !x->usual))
			continue;
		if (m->word == UNANSWERED) {
			x->tsb_missed += more;
		} else if (m->word >= MMUSTAT_BYTES) {
			misses_add(x, m->strand, m->word, more);
		} else {
			uint8_t *of = x->ops.mmustat ? x->kept[m->strand] :
						       (uint8_t *)x->r.memory + m->strand * MMUSTAT_BYTES,
				*word = of + m->word;

			be64_put(word, be64_get(word) + more);
		}
	}
	x->moment++;
}

/* ---- the transport ------------------------------------------------------------------------------------------ */

static inline bool is_refused(const struct world *x, uint32_t reg, uint32_t strand, uint64_t value)
{
	for (uint32_t i = 0; i < COUNT(x->extra); i++) {
		const struct extra *m = &x->extra[i];

		if (m->when == REFUSED && m->reg == reg && m->strand == strand &&
		    (vf_selected(&vf_regs[reg], value, 0) == m->event ||
		     (m->event && vf_selected(&vf_regs[reg], value, 1) == m->event)))
			return true;
	}
	return false;
}

static inline int world_fails(struct world *x, struct err *e)
{
	return ++x->readings == x->fails_at ? err_set(e, (enum tally_err)x->fails, "the machine says no") : 0;
}

static inline int world_sun4v(void *arg, uint32_t strand, unsigned n, uint64_t o[6], struct err *e)
{
	struct world *x = arg;

	if (!is_own(x, strand))
		return err_set(e, TALLY_EBUSY, "strand %u belongs to another guest", strand);
	if (o[5] == SUN4V_GET_PERFREG && n == HV_FAST_TRAP && o[0] >= 2 && !vf_is_control(&vf_regs[o[0]]) &&
	    world_fails(x, e) < 0)
		return -x->fails;
	if (strand >= STRANDS)
		o[0] = HV_EOK; /* one more than this machine can have */
	else if (o[5] == SUN4V_SET_PERFREG && n == HV_FAST_TRAP && o[0] >= 2 && is_refused(x, (uint32_t)o[0], 0, o[1]))
		o[0] = HV_ENOACCESS;
	else
		sun4v_call(rig_strand(&x->r, x->v, strand), n, o);
	return 0;
}

static inline int world_asr(void *arg, uint32_t strand, uint32_t asr, bool write, uint64_t *value, struct err *e)
{
	struct world *x = arg;

	if (asr == ASR_PIC && world_fails(x, e) < 0)
		return -x->fails;
	if (write && asr == ASR_PCR && is_refused(x, 0, strand, *value))
		return err_set(e, TALLY_EPERM, "strand %u does not count that", strand);
	assert_true(write ? sun4v_asr_write(rig_strand(&x->r, x->v, strand), asr, *value) :
			    sun4v_asr_read(rig_strand(&x->r, x->v, strand), asr, value));
	return 0;
}

/* Of each round a first look is before the first pass, the second behind it, and so at the end. */
static inline uint64_t world_now(void *arg)
{
	struct world *x = arg;

	x->nows++;
	x->ns += x->nows == x->slow_look ? 9 * 2 * 1000 : 0;
	if (x->r.kind->mmustat)
		niagara_moves(x);
	else if (x->nows % 4 == 1)
		world_grow(x, BEFORE);
	else if (x->nows % 4 == 2)
		world_grow(x, AT_BEGINNING);
	else if (x->nows % 4 == 3)
		world_grow(x, AT_END);
	return x->ns;
}

static inline int world_pass(void *arg, uint64_t ns)
{
	struct world *x = arg;

	x->each = ns;
	x->passed += ns;
	x->passes++;
	x->ns += x->stands ? 0 : x->passes == x->slow ? 2 * ns : ns;
	if (x->r.kind->mmustat)
		niagara_moves(x);
	else
		world_grow(x, MEANWHILE);
	return 0;
}

static inline uint64_t world_tsb_missed(void *arg)
{
	return ((struct world *)arg)->tsb_missed;
}

static inline int world_mmustat(void *arg, uint32_t strand, uint8_t to[MMUSTAT_BYTES], struct err *e)
{
	struct world *x = arg;

	if (++x->reads == x->read_fails_at)
		return err_set(e, (enum tally_err)x->fails, "strand %u says no", strand);
	memcpy(to, x->kept[strand], MMUSTAT_BYTES);
	return 0;
}

static inline void world_open(struct world *x, const char *machine, uint32_t sockets, struct sun4v_rights rights)
{
	struct err e = { 0 };

	memset(x, 0, sizeof(*x));
	rig_open(&x->r, machine, sockets, SUN4V_PROFILE_SPEC, rights, 0);
	x->v[0] = x->r.v;
	x->own = 2;
	x->usual = true;
	x->ops = (struct hv_transport_ops){ .what = "the test's machine", .sun4v = world_sun4v, .asr = world_asr };
	x->transport = rig_transport(&x->r, &x->ops, x);
	x->transport.kind = x->r.kind;
	assert_int_equal(sun4v_client_open(&x->c, &x->transport, &e), 0);
}

static inline void world_close(struct world *x)
{
	assert_int_equal(sun4v_client_close(x->c), 0);
	rig_close(&x->r);
}

static inline struct sun4v_watch *world_watch(struct world *x, enum sun4v_provider of, uint64_t ns)
{
	const struct sun4v_watch_opts o = { .of = of, .ns = ns, .pass = world_pass, .now = world_now, .arg = x };
	struct sun4v_watch *ret = NULL;
	struct err e = { 0 };

	if (sun4v_watch_open(&ret, x->c, &o, &e) < 0)
		fail_msg("%s", e.text);
	return ret;
}

/* Asks one invariant; words: what its reason begins with. */
static inline void assert_verdict(int line, const struct sun4v_watch *watch, enum sun4v_provider of, uint32_t name,
				  enum sun4v_verdict verdict, const char *words)
{
	const struct sun4v_invariant *in = sun4v_invariant_at(of, name);
	const char *begin = words ? words : "";
	struct err e = { 0 };
	enum sun4v_verdict got;

	assert_non_null(in);
	got = sun4v_watch_invariant(watch, in, &e);
	if (got != verdict || strncmp(e.text, begin, strlen(begin)) != 0 || (!words && e.code))
		fail_msg("line %d: %s: verdict %d, \"%s\"", line, in->name, got, e.text);
	if (verdict != SUN4V_HOLDS)
		assert_int_equal(e.code, verdict == SUN4V_BROKEN ? TALLY_ESTATE : TALLY_ENOTSUP);
}

#endif
