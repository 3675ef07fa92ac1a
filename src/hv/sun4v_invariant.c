/*
 * sun4v_invariant.c: what the counters of a Victoria Falls machine obey.
 *
 * Each unit has two counters, and an invariant wants more than two events, so a watch has rounds: each selects two
 * events of all units, reads them, lets some time pass and reads them again.  An invariant whose events are all of one
 * round is exact.  The one about classes of misses needs several rounds, since a node counts one class at a time: it is
 * asked where the load is steady.
 *
 * A machine runs while it is read.  So all counters are read twice in a row, at the beginning and at the end of a
 * round: what a counter held at the moment between both passes lies between its two values, and sums of those are
 * intervals.  An equality is broken when the intervals of its sides don't meet.  A model stands still meanwhile, and
 * its intervals are points.
 *
 * An invariant between zeros says nothing: it is unknown, as one that lacks a register or a right is.
 */
#include "hv/sun4v_invariant_int.h"

#define SECOND UINT64_C(1000000000)
enum {
	L2_MISS = 0x330,
	L1_MISS = 0x303,
	WALK_REF = 0x40c,
	WALK_MISS = 0x430,
	STORE_OR_WALK = 0x530, /* to the crossbar: whether it misses level 2 no event tells of stores */
	MCU_READ = 0,
	MCU_WRITE = 1,
	MCU_BOTH = 2,
	MCU_READ_QUEUE = 4,
	MCU_BOTH_QUEUE = 6,
	MCU_BUFFER_HIT = 7,
	LPU_MEM = 0x03,
	LPU_NEXT_PORT = 4,
	LPU_REQUEST = 0x21,
	LPU_WRITEBACK = 0x22,
	LPU_NO_DATA = 0x23,
	LPU_REPLY_SENT = 0x27,
	LPU_REPLY_RECEIVED = 0x28,
	CLOCK = 1,
	ASU_IN = 2,
	ASU_OUT = 3,
	ASU_CAM_HIT = 4,
	ASU_WAKEUP = 5,
};
enum { CLASS_ALL, CLASS_LOCAL, CLASS_REMOTE, CLASS_CACHE };
/* The memory data of two nodes each: which code that is says the port. */
enum { DATA_OF_0_1 = -1, DATA_OF_2_3 = -2 };
enum { R_ALL, R_REMOTE, R_CACHE, R_ALL_AGAIN, R_LOCAL, R_LOCAL_AGAIN, R_WALKS };
static const struct selection {
	uint16_t sparc[2];
	uint8_t class, mcu[2];
	int16_t lpu[2];
	uint8_t asu[2];
} selections[ROUNDS] = {
	[R_ALL] = { { L2_MISS, L1_MISS },
		    CLASS_ALL,
		    { MCU_READ, MCU_BOTH },
		    { LPU_REQUEST, LPU_WRITEBACK },
		    { ASU_IN, ASU_OUT } },
	[R_REMOTE] = { { L2_MISS, 0 },
		       CLASS_REMOTE,
		       { MCU_WRITE, MCU_BOTH },
		       { LPU_REPLY_SENT, LPU_REPLY_RECEIVED },
		       { ASU_CAM_HIT, ASU_WAKEUP } },
	[R_CACHE] = { { L2_MISS, 0 },
		      CLASS_CACHE,
		      { MCU_READ_QUEUE, MCU_BOTH_QUEUE },
		      { LPU_REQUEST, LPU_REPLY_SENT },
		      { CLOCK, ASU_IN } },
	[R_ALL_AGAIN] = { { L2_MISS, STORE_OR_WALK },
			  CLASS_ALL,
			  { MCU_READ, MCU_BUFFER_HIT },
			  { LPU_REPLY_RECEIVED, LPU_NO_DATA },
			  { CLOCK, ASU_IN } },
	[R_LOCAL] = { { L2_MISS, 0 },
		      CLASS_LOCAL,
		      { MCU_READ, MCU_WRITE },
		      { DATA_OF_0_1, DATA_OF_0_1 },
		      { CLOCK, ASU_IN } },
	[R_LOCAL_AGAIN] = { { L2_MISS, 0 },
			    CLASS_LOCAL,
			    { MCU_READ, MCU_WRITE },
			    { DATA_OF_2_3, DATA_OF_2_3 },
			    { CLOCK, ASU_IN } },
	[R_WALKS] = { { WALK_REF, WALK_MISS },
		      CLASS_ALL,
		      { MCU_READ, MCU_WRITE },
		      { LPU_REPLY_SENT, LPU_NO_DATA },
		      { CLOCK, CLOCK } },
};

/* ---- counters that are watched --------------------------------------------------------------------------- */

static bool is_reason(int rc)
{
	return rc == -TALLY_EPERM || rc == -TALLY_ENOTSUP || rc == -TALLY_EBUSY || rc == -TALLY_ESTATE;
}

int watched_add(struct watched_all *ps, struct sun4v_client *c, const struct vf_counter_ask *a, struct grown *to,
		struct err *e)
{
	struct watched_one *p = &ps->p[ps->n];
	struct err why = { 0 };
	int rc = vf_counter_open(&p->k, c, a, &why);

	*to = (struct grown){ rc == 0, 0, 0 };
	if (rc < 0 && is_reason(rc)) {
		if (!ps->why->code)
			*ps->why = why;
		return 0;
	}
	if (rc < 0)
		return err_set(e, (enum tally_err) - rc, "%s", why.text);
	p->to = to;
	ps->n++;
	return 0;
}

static uint64_t watched_now(const struct watched_all *ps)
{
	return ps->o->now(ps->o->arg);
}

/* lo: what it had at the second pass of the beginning; early: at the first. */
int watched_begin(struct watched_all *ps, struct err *e)
{
	const uint64_t before = watched_now(ps);
	int rc = 0;

	for (uint32_t i = 0; rc >= 0 && i < ps->n; i++)
		rc = vf_counter_read(ps->p[i].k, &ps->p[i].early, e);
	ps->began = before + (watched_now(ps) - before) / 2;
	for (uint32_t i = 0; rc >= 0 && i < ps->n; i++)
		rc = vf_counter_read(ps->p[i].k, &ps->p[i].to->lo, e);
	return rc;
}

int watched_end(struct watched_all *ps, struct err *e)
{
	int rc = 0;

	for (uint32_t i = 0; rc >= 0 && i < ps->n; i++) {
		uint64_t first = 0;

		rc = vf_counter_read(ps->p[i].k, &first, e);
		ps->p[i].to->lo = first - ps->p[i].to->lo;
	}
	const uint64_t before = watched_now(ps);
	for (uint32_t i = 0; rc >= 0 && i < ps->n; i++) {
		uint64_t second = 0;

		rc = vf_counter_read(ps->p[i].k, &second, e);
		ps->p[i].to->hi = second - ps->p[i].early;
	}
	ps->ns = before + (watched_now(ps) - before) / 2 - ps->began;
	return rc;
}

void watched_close(struct watched_all *ps)
{
	while (ps->n)
		vf_counter_close(ps->p[--ps->n].k);
}

/* ---- rounds -------------------------------------------------------------------------------------------------- */

/* Of a port the code of memory data that comes from the port of `node`: its X, Y and Z are the other three in order. 0:
 * none. */
static uint32_t data_code(uint32_t port, uint32_t node)
{
	return port == node ? 0 : LPU_MEM + LPU_NEXT_PORT * (node < port ? node : node - 1);
}

static uint32_t lpu_code(int16_t code, uint32_t port, uint32_t pic)
{
	return code >= 0 ? (uint32_t)code : data_code(port, code == DATA_OF_0_1 ? pic : 2 + pic);
}

static int round_open_strands(struct watched_all *ps, struct round *r, struct sun4v_client *c,
			      const struct selection *s, struct err *e)
{
	int rc = 0;

	for (uint32_t i = 0; rc == 0 && i < c->transport->strands && i < STRANDS_MOST; i++)
		for (uint32_t pic = 0; rc == 0 && pic < 2 && sun4v_client_has(c, i); pic++)
			if (s->sparc[pic])
				rc = watched_add(ps, c,
						 &(struct vf_counter_ask){ .vcpu = i,
									   .event = s->sparc[pic],
									   .user = true,
									   .system = true,
									   .class = s->class },
						 &r->sparc[i][pic], e);
	return rc;
}

/* Where the growth of a counter of this control register goes; NULL: it controls none. */
static struct grown *round_growth(struct round *r, const struct vf_reg *reg)
{
	if (reg->cls == VF_MCU_PCR)
		return r->mcu[reg->node][reg->unit & 1];
	if (reg->cls != VF_ZAM_PCR)
		return NULL;
	return reg->unit == VF_UNIT_GPD ? r->gpd[reg->node] :
	       reg->unit == VF_UNIT_ASU ? r->asu[reg->node] :
					  r->lpu[reg->node][reg->unit - VF_UNIT_LPU_A];
}

static uint32_t code_of(const struct selection *s, const struct vf_reg *reg, uint32_t pic)
{
	if (reg->cls == VF_MCU_PCR)
		return s->mcu[pic];
	return reg->unit == VF_UNIT_GPD ? CLOCK :
	       reg->unit == VF_UNIT_ASU ? s->asu[pic] :
					  lpu_code(s->lpu[pic], (uint32_t)reg->unit - VF_UNIT_LPU_A, pic);
}

static int round_open_units(struct watched_all *ps, struct round *r, struct sun4v_client *c, const struct selection *s,
			    struct err *e)
{
	int rc = 0;

	for (uint32_t reg = 2; rc == 0 && reg < VF_REGS; reg++) {
		struct grown *to = round_growth(r, &vf_regs[reg]);

		for (uint32_t pic = 0; rc == 0 && to && pic < 2; pic++)
			rc = watched_add(ps, c,
					 &(struct vf_counter_ask){
						 .vcpu = c->home, .reg = reg, .event = code_of(s, &vf_regs[reg], pic) },
					 &to[pic], e);
	}
	return rc;
}

static int round_take(struct sun4v_watch *w, uint32_t i, struct watched_all *ps, struct sun4v_client *c,
		      const struct sun4v_watch_opts *o, struct err *e)
{
	struct round *r = &w->round[i];
	int rc;

	ps->why = &r->why;
	rc = round_open_strands(ps, r, c, &selections[i], e);
	if (rc == 0)
		rc = round_open_units(ps, r, c, &selections[i], e);
	if (rc == 0)
		rc = watched_begin(ps, e);
	if (rc == 0)
		(void)o->pass(o->arg, (o->ns ? o->ns : SECOND) / ROUNDS);
	if (rc == 0)
		rc = watched_end(ps, e);
	r->ns = ps->ns;
	watched_close(ps);
	return rc;
}

static int vfalls_watch(struct sun4v_watch *w, struct sun4v_client *c, const struct sun4v_watch_opts *o, struct err *e)
{
	struct watched_all ps = { .p = mem_alloc((STRANDS_MOST * 2 + VF_REGS * 2) * sizeof(struct watched_one)),
				  .o = o };
	int rc = ps.p ? 0 : err_oom(e);

	if (rc == 0 && !c->perf)
		rc = err_set(e, TALLY_ENOTSUP, "%s has no Victoria Falls registers", c->transport->op->what);
	for (uint32_t i = 0; rc == 0 && i < ROUNDS; i++)
		rc = round_take(w, i, &ps, c, o, e);
	mem_free(ps.p);
	return rc;
}

int sun4v_watch_open(struct sun4v_watch **ret, struct sun4v_client *c, const struct sun4v_watch_opts *o, struct err *e)
{
	const struct hv_transport *l = c->transport;
	struct sun4v_watch *w = mem_alloc(sizeof(*w));
	int rc;

	if (!w)
		return err_oom(e);
	w->of = o->of;
	w->strands = l->strands;
	w->strands_per_node = l->strands_per_node ? l->strands_per_node : 1;
	w->nodes = l->sockets < NODES_MOST ? l->sockets : NODES_MOST;
	w->tick_hz = l->tick_hz;
	w->zambezis = l->kind ? l->kind->zambezis : 0;
	rc = o->of == SUN4V_VFALLS ? vfalls_watch(w, c, o, e) : mmustat_watch(w, c, o, e);
	if (rc < 0)
		sun4v_watch_close(w);
	else
		*ret = w;
	return rc;
}

void sun4v_watch_close(struct sun4v_watch *w)
{
	if (!w)
		return;
	mem_free(w->mmu);
	mem_free(w);
}

/* ---- sums ---------------------------------------------------------------------------------------------------- */

static const struct grown none = { true, 0, 0 };

/* Over the strands of a node that are this guest's: there is one, or it is not known. */
static struct grown of_strands(const struct sun4v_watch *w, uint32_t round, uint32_t pic, uint32_t node)
{
	struct grown sum = { false, 0, 0 };

	for (uint32_t i = node * w->strands_per_node; i < (node + 1) * w->strands_per_node && i < w->strands; i++)
		if (w->round[round].sparc[i][pic].has) {
			sum = grown_add(sum, w->round[round].sparc[i][pic]);
			sum.has = true;
		}
	return sum;
}

static struct grown of_ports(const struct sun4v_watch *w, uint32_t round, uint32_t zambezi, uint32_t pic)
{
	struct grown sum = none;

	for (uint32_t port = 0; port < 4; port++)
		sum = grown_add(sum, w->round[round].lpu[zambezi][port][pic]);
	return sum;
}

static struct grown of_hubs(const struct sun4v_watch *w, uint32_t round, uint32_t pic)
{
	struct grown sum = none;

	for (uint32_t z = 0; z < w->zambezis; z++)
		sum = grown_add(sum, of_ports(w, round, z, pic));
	return sum;
}

static struct grown of_controllers(const struct sun4v_watch *w, uint32_t round, uint32_t pic)
{
	struct grown sum = none;

	for (uint32_t n = 0; n < w->nodes; n++)
		sum = grown_add(sum, grown_add(w->round[round].mcu[n][0][pic], w->round[round].mcu[n][1][pic]));
	return sum;
}

static struct grown grown_times(struct grown a, uint64_t n)
{
	return (struct grown){ a.has, a.lo * n, a.hi * n };
}

/* ---- verdicts ------------------------------------------------------------------------------------------------ */

static enum sun4v_verdict no_hub(struct err *e)
{
	return INVARIANT_UNKNOWN(e, "this machine has no Zambezis");
}

static enum sun4v_verdict no_counter(const struct round *r, struct err *e)
{
	return INVARIANT_UNKNOWN(e, "%s",
				 r->why.code ? r->why.text : "not all counters that it needs are this guest's");
}

static enum sun4v_verdict nothing_moved(struct err *e)
{
	return INVARIANT_UNKNOWN(e, "none of its events occurred between the readings");
}

/* Whether a can't be b, a can't be at most b. */
static bool invariant_differ(struct grown a, struct grown b)
{
	return a.lo > b.hi || b.lo > a.hi;
}
static bool invariant_exceeds(struct grown a, struct grown b)
{
	return a.lo > b.hi;
}

/* An invariant of each hub, in one round: holds if one of them had something to add up. */
struct hub_sides {
	struct grown a, b;
};
static enum sun4v_verdict each_hub(const struct sun4v_watch *w, uint32_t round,
				   struct hub_sides (*sides)(const struct sun4v_watch *w, uint32_t zambezi),
				   bool at_most, const char *words, struct err *e)
{
	bool moved = false;

	if (!w->zambezis)
		return no_hub(e);
	for (uint32_t z = 0; z < w->zambezis; z++) {
		const struct hub_sides s = sides(w, z);

		if (!s.a.has || !s.b.has)
			return no_counter(&w->round[round], e);
		if (at_most ? invariant_exceeds(s.a, s.b) : invariant_differ(s.a, s.b))
			return INVARIANT_BROKEN(e, "Zambezi %u: %llu %s %llu", z, LL(s.a.lo), words, LL(s.b.hi));
		moved = moved || s.a.hi || s.b.hi;
	}
	return moved ? SUN4V_HOLDS : nothing_moved(e);
}

/* ---- the invariants -------------------------------------------------------------------------- */

#define STEADY 10u /* percent that a load may differ between rounds */

static uint64_t invariant_magnitude(uint64_t a, uint64_t b)
{
	return a > b ? a - b : b - a;
}

/*
 * Misses of a node in a round, in as much time as the first round took.  A round lasts as long as its passes take, too:
 * on a machine that goes on meanwhile one may be twice as long as another.
 */
static uint64_t misses_in_first(const struct sun4v_watch *w, uint32_t round, struct grown misses)
{
	const uint64_t took = w->round[round].ns;

	return took ? (uint64_t)((unsigned __int128)misses.hi * w->round[R_ALL].ns / took) : misses.hi;
}

/* Each in a round of its own: what they differ by themselves is not held against them, nor twice that and five
 * percent. */
static enum sun4v_verdict vfalls_invariant_classes_sum_to_all(const struct sun4v_watch *w, struct err *e)
{
	bool moved = false;

	for (uint32_t n = 0; n < w->nodes; n++) {
		static const uint8_t rounds[] = { R_ALL, R_ALL_AGAIN, R_LOCAL, R_LOCAL_AGAIN, R_REMOTE, R_CACHE };
		uint64_t g[COUNT(rounds)], all, drift, classes, local, slack;

		for (uint32_t i = 0; i < COUNT(rounds); i++) {
			const struct grown misses = of_strands(w, rounds[i], 0, n);

			if (!misses.has)
				return no_counter(&w->round[R_LOCAL], e);
			g[i] = misses_in_first(w, rounds[i], misses);
		}
		all = (g[0] + g[1]) / 2;
		drift = invariant_magnitude(g[0], g[1]) + invariant_magnitude(g[2], g[3]);
		local = (g[2] + g[3]) / 2;
		classes = local + g[4] + g[5];
		if (drift > all / STEADY + 100)
			return INVARIANT_UNKNOWN(e, "node %u: %llu misses, then %llu: the load is not steady", n,
						 LL(g[0]), LL(g[1]));
		slack = 2 * drift + all / 20 + 100;
		if (invariant_magnitude(all, classes) > slack)
			return INVARIANT_BROKEN(
				e, "node %u: %llu misses; local %llu, remote %llu and cache-to-cache %llu are %llu", n,
				LL(all), LL(local), LL(g[4]), LL(g[5]), LL(classes));
		moved = moved || all;
	}
	return moved ? SUN4V_HOLDS : nothing_moved(e);
}

static struct hub_sides sides_ports(const struct sun4v_watch *w, uint32_t z)
{
	return (struct hub_sides){ grown_add(of_ports(w, R_ALL, z, 0), of_ports(w, R_ALL, z, 1)),
				   w->round[R_ALL].asu[z][0] };
}
static enum sun4v_verdict vfalls_invariant_ports_sum_to_the_hub(const struct sun4v_watch *w, struct err *e)
{
	return each_hub(w, R_ALL, sides_ports, false, "requests and write-backs at its ports, its serializer took", e);
}

static struct hub_sides sides_serializer(const struct sun4v_watch *w, uint32_t z)
{
	return (struct hub_sides){ w->round[R_ALL].asu[z][0], w->round[R_ALL].asu[z][1] };
}
static enum sun4v_verdict vfalls_invariant_serializer_keeps_nothing(const struct sun4v_watch *w, struct err *e)
{
	return each_hub(w, R_ALL, sides_serializer, false, "packets came into its serializer, out came", e);
}

#define UNDER_WAY_MOST 64u /* entries of the serializer's memory: so many may still wait */
static struct hub_sides sides_wakeups(const struct sun4v_watch *w, uint32_t z)
{
	struct hub_sides s = { w->round[R_REMOTE].asu[z][0], w->round[R_REMOTE].asu[z][1] };

	s.b.hi += UNDER_WAY_MOST * (s.b.hi != s.b.lo);
	return s;
}
static enum sun4v_verdict vfalls_invariant_waiters_are_woken(const struct sun4v_watch *w, struct err *e)
{
	return each_hub(w, R_REMOTE, sides_wakeups, false, "requests met another of their address, woken were", e);
}

static enum sun4v_verdict vfalls_invariant_requests_are_replied_to(const struct sun4v_watch *w, struct err *e)
{
	bool moved = false;

	if (!w->zambezis)
		return no_hub(e);
	for (uint32_t z = 0; z < w->zambezis; z++)
		for (uint32_t port = 0; port < 4; port++) {
			const struct grown *g = w->round[R_CACHE].lpu[z][port];

			if (!g[0].has || !g[1].has)
				return no_counter(&w->round[R_CACHE], e);
			if (invariant_differ(g[0], g[1]))
				return INVARIANT_BROKEN(e, "Zambezi %u, port %c: %llu requests, %llu replies sent", z,
							(char)('A' + port), LL(g[0].lo), LL(g[1].hi));
			moved = moved || g[0].hi;
		}
	return moved ? SUN4V_HOLDS : nothing_moved(e);
}

static struct hub_sides sides_answers(const struct sun4v_watch *w, uint32_t z)
{
	return (struct hub_sides){ of_ports(w, R_REMOTE, z, 1),
				   grown_times(of_ports(w, R_REMOTE, z, 0), w->nodes - 1) };
}
static enum sun4v_verdict vfalls_invariant_all_others_answer(const struct sun4v_watch *w, struct err *e)
{
	return each_hub(w, R_REMOTE, sides_answers, false,
			"replies received, of all other nodes for each one sent they would be", e);
}

static struct hub_sides sides_no_data(const struct sun4v_watch *w, uint32_t z)
{
	return (struct hub_sides){ of_ports(w, R_ALL_AGAIN, z, 1), of_ports(w, R_ALL_AGAIN, z, 0) };
}
static enum sun4v_verdict vfalls_invariant_empty_replies_are_replies(const struct sun4v_watch *w, struct err *e)
{
	return each_hub(w, R_ALL_AGAIN, sides_no_data, true, "replies without data, of all replies", e);
}

/* An invariant of each controller: one event is among another. */
static enum sun4v_verdict each_controller(const struct sun4v_watch *w, uint32_t round, uint32_t part, uint32_t whole,
					  const char *words, struct err *e)
{
	bool moved = false;

	for (uint32_t n = 0; n < w->nodes; n++)
		for (uint32_t m = 0; m < 2; m++) {
			const struct grown a = w->round[round].mcu[n][m][part], b = w->round[round].mcu[n][m][whole];

			if (!a.has || !b.has)
				return no_counter(&w->round[round], e);
			if (invariant_exceeds(a, b))
				return INVARIANT_BROKEN(e, "controller %u of node %u: %llu %s %llu", m, n, LL(a.lo),
							words, LL(b.hi));
			moved = moved || b.hi;
		}
	return moved ? SUN4V_HOLDS : nothing_moved(e);
}

static enum sun4v_verdict vfalls_invariant_reads_are_transfers(const struct sun4v_watch *w, struct err *e)
{
	return each_controller(w, R_ALL, 0, 1, "reads, of all reads and writes", e);
}
static enum sun4v_verdict vfalls_invariant_writes_are_transfers(const struct sun4v_watch *w, struct err *e)
{
	return each_controller(w, R_REMOTE, 0, 1, "writes, of all reads and writes", e);
}
static enum sun4v_verdict vfalls_invariant_read_queues_are_queues(const struct sun4v_watch *w, struct err *e)
{
	return each_controller(w, R_CACHE, 0, 1, "cycles of reads in the queue, of reads and writes", e);
}
static enum sun4v_verdict vfalls_invariant_buffer_hits_are_reads(const struct sun4v_watch *w, struct err *e)
{
	return each_controller(w, R_ALL_AGAIN, 1, 0, "hits in the write-back buffer, of reads", e);
}

/* Lines that other nodes got of a node's memory, at their ports of all hubs. */
static struct grown sent_by(const struct sun4v_watch *w, uint32_t node)
{
	const uint32_t round = node < 2 ? R_LOCAL : R_LOCAL_AGAIN;
	struct grown sum = none;

	for (uint32_t z = 0; z < w->zambezis; z++)
		for (uint32_t port = 0; port < w->nodes; port++)
			if (port != node)
				sum = grown_add(sum, w->round[round].lpu[z][port][node % 2]);
	return sum;
}

/* Misses of stores and of the table walker come on top: no event counts them by class. */
static enum sun4v_verdict vfalls_invariant_links_carry_what_was_read(const struct sun4v_watch *w, struct err *e)
{
	bool moved = false;

	for (uint32_t n = 0; n < w->nodes; n++) {
		const uint32_t round = n < 2 ? R_LOCAL : R_LOCAL_AGAIN;
		const struct grown read = grown_add(w->round[round].mcu[n][0][0], w->round[round].mcu[n][1][0]);
		const struct grown own = of_strands(w, round, 0, n), links = sent_by(w, n);
		const struct grown given = { links.has, links.lo + (own.has ? own.lo : 0),
					     links.hi + (own.has ? own.hi : 0) };

		if (!read.has || !given.has)
			return no_counter(&w->round[round], e);
		if (invariant_exceeds(given, read))
			return INVARIANT_BROKEN(e,
						"node %u: its controllers read %llu lines; over the "
						"links went %llu, its own loads and fetches had %llu",
						n, LL(read.hi), LL(links.lo), LL(own.has ? own.lo : 0));
		moved = moved || read.hi;
	}
	return moved ? SUN4V_HOLDS : nothing_moved(e);
}

/* Each request has one answer of each other node. Those with data come from caches, and memory is not read for them; so
 * it is not for invalidations, which no event of this round tells apart. */
static enum sun4v_verdict vfalls_invariant_reads_are_misses(const struct sun4v_watch *w, struct err *e)
{
	const struct grown read = of_controllers(w, R_ALL_AGAIN, 0), replies = of_hubs(w, R_ALL_AGAIN, 0),
			   empty = of_hubs(w, R_ALL_AGAIN, 1);

	if (!w->zambezis || w->nodes < 2)
		return INVARIANT_UNKNOWN(e, "nothing tells what was requested: %s",
					 w->zambezis ? "there is one node" : "this machine has no Zambezis");
	if (!read.has || !replies.has || !empty.has)
		return no_counter(&w->round[R_ALL_AGAIN], e);
	if ((w->nodes - 1) * (read.lo + replies.lo) > replies.hi + (w->nodes - 1) * empty.hi)
		return INVARIANT_BROKEN(
			e, "controllers read %llu lines; %llu replies, %llu of them without data, are for %llu at most",
			LL(read.lo), LL(replies.hi), LL(empty.hi),
			LL(replies.hi / (w->nodes - 1) + empty.hi - replies.lo));
	return read.hi ? SUN4V_HOLDS : nothing_moved(e);
}

#define STORES_UNDER_WAY 8u /* of a strand: in its buffer, counted before the round, done in it */

/* With links_carry_what_was_read the other side of the same balance: reads lie between what must have been read and
 * what can have been. */
static enum sun4v_verdict vfalls_invariant_controllers_read_what_missed(const struct sun4v_watch *w, struct err *e)
{
	const struct round *r = &w->round[R_ALL_AGAIN];
	const struct grown read = of_controllers(w, R_ALL_AGAIN, 0);
	struct grown missed = none;

	for (uint32_t i = 0; i < w->strands && i < STRANDS_MOST; i++) {
		missed = grown_add(missed, grown_add(r->sparc[i][0], r->sparc[i][1]));
		missed.hi += r->sparc[i][0].hi || r->sparc[i][1].hi ? STORES_UNDER_WAY : 0;
	}
	if (!read.has || !missed.has || w->strands > STRANDS_MOST)
		return no_counter(r, e);
	if (invariant_exceeds(read, missed))
		return INVARIANT_BROKEN(e, "controllers read %llu lines; misses, stores and walks are %llu",
					LL(read.lo), LL(missed.hi));
	return read.hi ? SUN4V_HOLDS : nothing_moved(e);
}

/* An invariant of each strand: one event is among another. */
static enum sun4v_verdict each_strand(const struct sun4v_watch *w, uint32_t round, uint32_t part, const char *words,
				      struct err *e)
{
	bool moved = false, had = false;

	for (uint32_t i = 0; i < w->strands && i < STRANDS_MOST; i++) {
		const struct grown a = w->round[round].sparc[i][part], b = w->round[round].sparc[i][!part];

		if (!a.has || !b.has)
			continue;
		had = true;
		if (invariant_exceeds(a, b))
			return INVARIANT_BROKEN(e, "strand %u: %llu %s %llu", i, LL(a.lo), words, LL(b.hi));
		moved = moved || b.hi;
	}
	return !had ? no_counter(&w->round[round], e) : moved ? SUN4V_HOLDS : nothing_moved(e);
}

static enum sun4v_verdict vfalls_invariant_level_2_within_level_1(const struct sun4v_watch *w, struct err *e)
{
	return each_strand(w, R_ALL, 0, "misses of level 2 of loads and fetches, of level 1", e);
}
static enum sun4v_verdict vfalls_invariant_walk_misses_are_walks(const struct sun4v_watch *w, struct err *e)
{
	return each_strand(w, R_WALKS, 1, "misses of the table walker in level 2, references there", e);
}

/* One clock drives all hubs. */
static enum sun4v_verdict vfalls_invariant_hubs_share_a_clock(const struct sun4v_watch *w, struct err *e)
{
	const struct grown *first = w->round[R_ALL].gpd[0];

	if (!w->zambezis)
		return no_hub(e);
	for (uint32_t z = 0; z < w->zambezis; z++)
		for (uint32_t pic = 0; pic < 2; pic++) {
			const struct grown g = w->round[R_ALL].gpd[z][pic];

			if (!g.has)
				return no_counter(&w->round[R_ALL], e);
			if (invariant_differ(g, *first))
				return INVARIANT_BROKEN(e, "Zambezi %u counted %llu cycles, Zambezi 0 %llu", z,
							LL(g.lo), LL(first->hi));
		}
	return first->hi ? SUN4V_HOLDS : nothing_moved(e);
}

/* Each event of a port is a cycle of its own. */
static enum sun4v_verdict vfalls_invariant_events_within_cycles(const struct sun4v_watch *w, struct err *e)
{
	bool moved = false;

	if (!w->zambezis)
		return no_hub(e);
	for (uint32_t r = 0; r < ROUNDS; r++)
		for (uint32_t z = 0; z < w->zambezis; z++)
			for (uint32_t k = 0; k < 8; k++) {
				const struct grown g = w->round[r].lpu[z][k / 2][k % 2], clock = w->round[r].gpd[z][0];

				if (!g.has || !clock.has)
					return no_counter(&w->round[r], e);
				if (invariant_exceeds(g, clock))
					return INVARIANT_BROKEN(
						e, "Zambezi %u, port %c: %llu cycles with an event, of %llu", z,
						(char)('A' + k / 2), LL(g.lo), LL(clock.hi));
				moved = moved || g.hi;
			}
	return moved ? SUN4V_HOLDS : nothing_moved(e);
}

#define LINE_CYCLES 11u /* 64 bytes over 14 lanes of 4.0 Gb/s at 1.2 GHz: 5.8 bytes a cycle; 4.8 at 1.4 GHz are more */

static enum sun4v_verdict vfalls_invariant_lines_fit_the_link(const struct sun4v_watch *w, struct err *e)
{
	bool moved = false;

	if (!w->zambezis)
		return no_hub(e);
	for (uint32_t r = R_LOCAL; r <= R_LOCAL_AGAIN; r++)
		for (uint32_t z = 0; z < w->zambezis; z++)
			for (uint32_t port = 0; port < 4; port++) {
				const struct grown *g = w->round[r].lpu[z][port], clock = w->round[r].gpd[z][0],
						   lines = grown_add(g[0], g[1]);

				if (!lines.has || !clock.has)
					return no_counter(&w->round[r], e);
				if (lines.lo * LINE_CYCLES > clock.hi + clock.hi / STEADY + 1000)
					return INVARIANT_BROKEN(
						e, "Zambezi %u, port %c: %llu lines of 64 bytes came in %llu cycles", z,
						(char)('A' + port), LL(lines.lo), LL(clock.hi));
				moved = moved || lines.hi;
			}
	return moved ? SUN4V_HOLDS : nothing_moved(e);
}

static const struct invariant_row vfalls_invariants[] = {
#define INVARIANT(name, text) { { VFALLS_INVARIANT_##name + 1, #name, text }, vfalls_invariant_##name },
	VFALLS_INVARIANTS(INVARIANT)
#undef INVARIANT
};

static const struct invariant_row *row_at(enum sun4v_provider of, uint32_t i)
{
	if (of == SUN4V_MMUSTAT)
		return i < mmustat_invariants_count ? &mmustat_invariants[i] : NULL;
	return i < COUNT(vfalls_invariants) ? &vfalls_invariants[i] : NULL;
}

const struct sun4v_invariant *sun4v_invariant_at(enum sun4v_provider of, uint32_t i)
{
	const struct invariant_row *r = row_at(of, i);

	return r ? &r->invariant : NULL;
}

enum sun4v_verdict sun4v_watch_invariant(const struct sun4v_watch *w, const struct sun4v_invariant *l, struct err *e)
{
	return row_at(w->of, l->number - 1u)->fn(w, e);
}
