/*
 * cg.c: a typed D program to BPF instructions.
 *
 * One program per enabled probe holds all its clauses, one after the other, so that probename, id and epid are
 * constants; all probes of system calls that begin are one program, and those of calls that end (cg_call.c), and of
 * places in processes (cg_user.c).  The order of a program:
 *
 *	context to R6; of a perf event, which counts its firings, this program's drop counters; scratch memory to R7
 *	this-> variables = 0
 *	clause, clause, ...
 *	exit
 *	error block: hands an error record over, runs the clauses of
 *	dtrace:::ERROR, goes on behind the clause that faulted
 *
 * The error block is part of each program because programs of different types
 * cannot share subprograms, and it is reached by jumps because a call would
 * halve the stack.
 *
 * Registers: R6 context, R7 scratch, R8 and R9 values (cg_alloc.c), the rest
 * free within one IR operation (cg_ops.c).  What is used decides what is paid:
 * a map is made when the first instruction names it.
 *
 * Refuses: clauses that need more stack, scratch memory or instructions than
 * the kernel grants; the error names the line.
 */
#include <stdio.h>
#include <string.h>

#include "bpf/cg_int.h"

/* ---- maps ---------------------------------------------------------------------- */

static uint32_t agg_value_size(const struct cg *g, const struct d_agg *a)
{
	switch (a->fn) {
	case AGG_SUM:
		return a->key_size ? 8 : 16;
	case AGG_AVG:
	case AGG_MIN:
	case AGG_MAX:
		return 16;
	case AGG_STDDEV:
		return 32;
	default:
		return g->o->sums && a->fn >= AGG_QUANTIZE ? 16 : 8;
	}
}

uint32_t cg_stack_frames(const struct bpf_opts *o)
{
	uint32_t n = o->ustackframes > o->stackframes ? o->ustackframes : o->stackframes;

	return n ? n : 1;
}

#define GENERATIONS_MOST 32768u /* processes at a time; memory is taken for those that are there */

/* How many elements variable x can have; 0: not even one. */
uint32_t cg_var_room(const struct cg *g, uint32_t x)
{
	return g->o->dynvar_bytes / (g->p->var[x].key_size + g->p->var[x].value_size);
}

static void map_var(struct cg *g, struct img_map *m)
{
	const struct d_var *v = &g->p->var[m->id];
	uint32_t n = cg_var_room(g, m->id);

	m->type = IMG_HASH;
	m->key_size = v->key_size;
	m->value_size = v->value_size;
	m->max_entries = n ? n : 1;
}

#define WAITS_MOST 16384u /* threads that wait at a time, and what interrupts them */

#define SPARE_KEYS 4096u /* 128 KB of values for each CPU, made in two milliseconds */

/* How many keys a map of an aggregation may get: those of a histogram without keys of the program are its buckets. */
static uint32_t agg_keys_most(const struct cg *g, const struct d_agg *a)
{
	uint32_t buckets = g->o->agg_entries;

	if (a->nkeys == 0)
		switch (a->fn) {
		case AGG_QUANTIZE:
			buckets = QUANTIZE_BUCKETS;
			break;
		case AGG_LQUANTIZE:
			buckets = lquantize_levels(&a->lq) + 2;
			break;
		case AGG_LLQUANTIZE:
			buckets = llquantize_buckets(&a->llq);
			break;
		}
	return buckets < g->o->agg_entries ? buckets : g->o->agg_entries;
}

static void map_agg(struct cg *g, struct img_map *m)
{
	const struct d_agg *a = &g->p->agg[m->id];

	m->type = a->key_size ? IMG_PERCPU_HASH : IMG_PERCPU_ARRAY;
	m->key_size = a->key_size ? a->key_size : 4;
	m->value_size = agg_value_size(g, a);
	m->max_entries = a->key_size ? agg_keys_most(g, a) : 1;
	if (m->use == IMG_SPARE && m->max_entries > SPARE_KEYS)
		m->max_entries = SPARE_KEYS;
}

/* What is the same for all programs. value_size 0: map_define() knows it. */
static const struct map_row {
	const char *name;
	uint8_t type;
	bool numbered; /* there may be several: the name has the id, too */
	uint32_t key_size, value_size, max_entries;
} map_rows[] = {
	[IMG_CTL] = { "ctl", IMG_ARRAY, false, 4, sizeof(struct img_ctl), 1 },
	[IMG_GLOBALS] = { "globals", IMG_ARRAY, false, 4, 0, 1 },
	[IMG_SCRATCH] = { "scratch", IMG_PERCPU_ARRAY, false, 4, 0, 1 },
	[IMG_DROPS] = { "drops", IMG_PERCPU_ARRAY, false, 4, sizeof(struct img_drops), 1 },
	[IMG_RING] = { "rings", IMG_RINGS, false, 4, 0, 1 },
	[IMG_CONTROL] = { "control", IMG_RINGBUF, false, 0, 0, 1 },
	[IMG_VAR] = { "var", IMG_HASH, true, 4, 0, 1 },
	[IMG_AGG] = { "agg", IMG_PERCPU_HASH, true, 4, 0, 1 },
	[IMG_SPARE] = { "spare", IMG_PERCPU_HASH, true, 4, 0, 1 },
	[IMG_STACKS] = { "stacks", IMG_STACK_TRACE, false, 4, 0, 1 },
	[IMG_LONG_STACKS] = { "long_stacks", IMG_HASH, false, 8, 0, 1 },
	[IMG_GENERATIONS] = { "generations", IMG_HASH, false, 8, sizeof(struct img_generation), GENERATIONS_MOST },
	[IMG_SPACES] = { "spaces", IMG_ARRAY, false, 4, IMG_SPACES_N * sizeof(struct img_space), 1 },
	[IMG_PARTS] = { "parts", IMG_PROGS, false, 4, 4, 1 },
	[IMG_SPECS] = { "specs", IMG_ARRAY, false, 4, 0, 1 },
	[IMG_CALLS] = { "calls", IMG_ARRAY, false, 4, 0, 1 },
	[IMG_COUNTER] = { "counter", IMG_EVENTS, true, 4, 4, 1 },
	[IMG_VCOUNTER] = { "vcounter", IMG_EVENTS, true, 4, 4, 1 },
	[IMG_THREADS] = { "threads", IMG_TASK_STORAGE, false, 4, 0, 1 },
	[IMG_TIMES] = { "times", IMG_TASK_STORAGE, false, 4, sizeof(struct img_thread_time), 1 },
	[IMG_DISPATCH] = { "dispatch", IMG_ARRAY, false, 4, sizeof(struct img_dispatch), 1 },
	[IMG_BUSY] = { "busy", IMG_PERCPU_ARRAY, false, 4, 8 * CG_SCRATCH_USERS, 1 },
	[IMG_SELF] = { "self", IMG_TASK_STORAGE, false, 4, 0, 1 },
	[IMG_UNWIND_PROCESSES] = { "unwind_procs", IMG_HASH, false, 4, 4, IMG_UNWIND_PROCESSES_N },
	[IMG_UNWIND_SPACES] = { "unwind_spaces", IMG_ARRAY, false, 4, sizeof(struct img_unwind_space),
				IMG_UNWIND_PROCESSES_N },
	[IMG_UNWIND_ROWS] = { "unwind_rows", IMG_ARRAY, false, 4, 8 * IMG_UNWIND_CHUNK, 1 },
	[IMG_UNWIND_RULES] = { "unwind_rules", IMG_ARRAY, false, 4, IMG_UNWIND_RULES_N * sizeof(struct img_unwind_rule),
			       1 },
	[IMG_WAITS] = { "waits", IMG_HASH, false, sizeof(struct img_wait_key), sizeof(struct img_wait), WAITS_MOST },
	[IMG_UNWIND_WANTED] = { "unwind_wanted", IMG_ARRAY, false, 4, sizeof(struct img_unwind_wanted), 1 },
};

/* Fills in a map by its use. Sizes that only the end of generation knows come in cg_finish_image(). */
static void map_define(struct cg *g, struct img_map *m)
{
	const struct map_row *row = &map_rows[m->use];

	m->type = row->type;
	m->key_size = row->key_size;
	m->value_size = row->value_size;
	m->max_entries = row->max_entries;
	snprintf(m->name, sizeof(m->name), row->numbered ? "%s_%u" : "%s", row->name, m->id);
	switch (m->use) {
	case IMG_GLOBALS:
		m->value_size = g->img->globals_size;
		break;
	case IMG_SCRATCH:
		m->max_entries = CG_SCRATCH_CALL + g->has_calls; /* more with others: cg_finish_image() */
		break;
	case IMG_RING:
		m->max_entries = g->o->ring_bytes;
		break;
	case IMG_CONTROL:
		m->max_entries = g->o->control_bytes;
		break;
	case IMG_SPECS:
		m->value_size = (g->o->nspec ? g->o->nspec : 1) * sizeof(struct img_spec);
		break;
	case IMG_SELF:
		m->value_size = g->self_size;
		break;
	case IMG_VAR:
		map_var(g, m);
		break;
	case IMG_AGG:
	case IMG_SPARE:
		map_agg(g, m);
		break;
	case IMG_THREADS:
		m->value_size = g->p->ncounters * sizeof(struct img_thread_count);
		break;
	case IMG_UNWIND_ROWS:
		m->max_entries = g->o->unwind_chunks;
		break;
	case IMG_STACKS: /* all of it is there from the start */
		m->value_size = 8 * cg_stack_frames(g->o);
		m->max_entries = g->o->stack_entries;
		break;
	case IMG_LONG_STACKS: /* costs what it holds */
		m->value_size = 8 * cg_stack_frames(g->o);
		m->max_entries = 4 * g->o->stack_entries;
		break;
	}
}

uint32_t cg_map_index(struct cg *g, enum img_map_use use, uint32_t id)
{
	struct img_map *m;

	for (uint32_t i = 0; i < g->img->nmaps; i++)
		if (g->img->map[i].use == use && g->img->map[i].id == id)
			return i;
	m = VEC_NEW(g->img->map, g->img->nmaps, g->maps_cap);
	if (!m) {
		cg_oom(g);
		return 0;
	}
	m->use = (uint8_t)use;
	m->id = id;
	map_define(g, m);
	return g->img->nmaps - 1;
}

/* ---- epids and names ---------------------------------------------------------------- */

/* 0, which is no epid (cg_emit_image()): no memory. */
static uint32_t epid_of(struct cg *g, uint32_t probe, uint32_t clause)
{
	const uint32_t key[] = { probe, clause };
	void **at = map_at(&g->epids, key, sizeof(key));
	struct img_epid *ep;

	if (at && *at)
		return (uint32_t)(uintptr_t)*at;
	ep = at ? VEC_NEW(g->img->epid, g->img->nepids, g->img->cap_epids) : NULL;
	if (!ep) {
		cg_oom(g);
		return 0;
	}
	*ep = (struct img_epid){ probe, clause };
	*at = (void *)(uintptr_t)(g->img->nepids - 1);
	return g->img->nepids - 1;
}

const char *cg_prog_builtin(struct cg *g, uint32_t which)
{
	const struct bpf_probe *p = g->in_error ? cg_probe(g, g->o->error_probe) : g->probe;

	switch (which) {
	case BS_PROBEPROV:
		return p->prov;
	case BS_PROBEMOD:
		return p->mod;
	case BS_PROBEFUNC:
		return p->func;
	default:
		return p->name;
	}
}

/* ---- handing over ---------------------------------------------------------------------- */

/*
 * Puts n bytes into the ring of this CPU, whose number R0 holds, or into the
 * control ring: what the tracer itself runs, and what steers it, goes there, and
 * events never fill it.  The reader puts the records of all rings in order by
 * the time that each gets here.  Nobody is woken for each record of an event; the
 * tracer reads after each firing of its own, and is woken for what steers it,
 * or frees a speculation.
 */
void cg_emit_record(struct cg *g, struct cg_at at, uint32_t n, enum cg_ring ring, bool speculates)
{
	uint32_t drop = cg_label(g), end = cg_label(g);

	if (ring != CG_RING_CONTROL)
		cg_ins(g, I_STORE(W, R10, FP_KEY, R0));
	if (g->o->temporal) {
		cg_ins(g, I_CALL(ktime_get_ns));
		cg_ins(g, I_STORE(DW, at.base, at.off + D_RECORD_TIME, R0));
	} else {
		cg_ins(g, I_STORE_IMM(DW, at.base, at.off + D_RECORD_TIME, 0));
	}
	if (ring == CG_RING_CONTROL) {
		cg_map(g, R1, cg_map_index(g, IMG_CONTROL, 0));
	} else {
		cg_map(g, R1, cg_map_index(g, IMG_RING, 0));
		cg_lea(g, R2, R10, FP_KEY);
		cg_ins(g, I_CALL(map_lookup_elem));
		cg_jcc(g, I_JMP_IMM(JEQ, R0, 0, 0), drop);
		cg_mov(g, R1, R0);
	}
	cg_lea(g, R2, at.base, at.off);
	cg_imm(g, R3, n);
	cg_imm(g, R4, ring != CG_RING_CPU && cg_is_event(g) ? RING_FORCE_WAKEUP : RING_NO_WAKEUP);
	cg_ins(g, I_CALL(ringbuf_output));
	cg_jcc(g, I_JMP_IMM(JEQ, R0, 0, 0), end);
	cg_put(g, drop);
	cg_count(g, offsetof(struct img_drops, records));
	if (speculates)
		cg_spec_give_back(g, at);
	cg_put(g, end);
}

/* ---- clauses --------------------------------------------------------------------------- */

struct plan {                           /* of one program */
	const struct d_clause **clause; /* its own, then ERROR's */
	struct cg_reg **reg;
	uint32_t *end; /* label behind each */
	uint32_t nown, n;
	uint32_t from, to; /* of its own: those of the part that is generated */
};

void cg_fault(struct cg *g, enum ir_fault kind, uint8_t value)
{
	if (value == R10)
		cg_ins(g, I_STORE_IMM(DW, R10, FP_ERR + 24, 0));
	else
		cg_ins(g, I_STORE(DW, R10, FP_ERR + 24, value));
	cg_ins(g, I_STORE_IMM(W, R10, FP_ERR + 16, (int32_t)(kind | g->nins << D_FAULT_BITS)));
	cg_ins(g, I_STORE_IMM(W, R10, FP_ERR + 20, (int32_t)g->line));
	cg_jmp(g, g->fault_label);
	g->clause_faults = true;
}

static void fault_exit(struct cg *g, uint32_t k, uint32_t end)
{
	cg_jmp(g, end);
	cg_put(g, g->fault_label);
	if (g->clause->speculates)
		cg_spec_give_back(g, cg_obj(g, g->clause->record, 0, R4));
	if (g->in_error)
		return;
	if (cg_has_rows(g)) {
		cg_row_epid(g, R1);
		cg_ins(g, I_ALU32_IMM(OR, R1, (int32_t)D_EPID_ERROR));
		cg_ins(g, I_STORE(W, R10, FP_ERR, R1));
	} else {
		cg_ins(g, I_STORE_IMM(W, R10, FP_ERR, (int32_t)(g->epid | D_EPID_ERROR)));
	}
	cg_ins(g, I_STORE_IMM(DW, R10, FP_RESUME, (int32_t)k));
	cg_ins(g, I_STORE_IMM(DW, R10, FP_FAULTED, (int32_t)g->clause->id));
	cg_jmp(g, g->errblk);
	g->faults = true;
}

static void cg_emit_clause(struct cg *g, struct plan *pl, uint32_t k)
{
	const struct d_clause *c = pl->clause[k];
	uint32_t *labels = mem_alloc(c->nlabels * sizeof(*labels));

	pl->end[k] = cg_label(g);
	if (!labels) {
		cg_oom(g);
		return;
	}
	for (uint32_t i = 0; i < c->nlabels; i++)
		labels[i] = cg_label(g);
	g->clause = c;
	g->reg = pl->reg[k];
	g->ir_label = labels;
	g->in_error = k >= pl->nown;
	if (cg_has_rows(g) && !g->in_error)
		g->epid = k;
	else
		g->epid = epid_of(g, g->in_error ? g->o->error_probe : g->probe->id, (uint32_t)(c - g->p->clause));
	g->clause_end = pl->end[k];
	g->fault_label = g->in_error && !c->speculates ? pl->end[k] : cg_label(g);
	g->clause_faults = false;
	if (cg_has_rows(g) && !g->in_error && pl->nown > 1)
		cg_row_clause(g, pl->end[k]);
	for (uint32_t i = 0; i < c->nins && !g->failed; i++)
		cg_dispatch(g, &c->ins[i]);
	g->line = c->line;
	if (g->clause_faults && g->fault_label != pl->end[k])
		fault_exit(g, k, pl->end[k]);
	cg_put(g, pl->end[k]);
	g->line = 0;
	mem_free(labels);
}

/* ---- programs ------------------------------------------------------------------------------ */

/* The element whose key is at FP_KEY. */
static void look_up_or_leave(struct cg *g, uint32_t map, uint32_t out)
{
	cg_map(g, R1, map);
	cg_lea(g, R2, R10, FP_KEY);
	cg_ins(g, I_CALL(map_lookup_elem));
	cg_jcc(g, I_JMP_IMM(JEQ, R0, 0, 0), out);
}

/* Where those of tracepoints begin: behind those of places. */
static uint32_t scratch_points(const struct cg *g)
{
	return CG_SCRATCH_USER + (g->has_users ? CG_SCRATCH_USERS : 0);
}

/* Which scratch memory: programs that may interrupt each other on a CPU have their own. One at a tracepoint can
 * interrupt any but itself, which the kernel does not let it. */
static uint32_t part_scratch(const struct cg *g)
{
	switch (g->probe->cls) {
	case IMG_POINT:
		return scratch_points(g) + g->prog;
	case IMG_ENTRY:
	case IMG_RETURN:
		return CG_SCRATCH_CALL;
	default:
		return g->probe->cls == IMG_TEST ? CG_SCRATCH_TEST : CG_SCRATCH_PERF;
	}
}

/* A part goes on where another one ended: this firing is counted, and its variables have their values. */
static void part_begin(struct cg *g, uint32_t out, bool whole)
{
	cg_mov(g, R6, R1);
	if (cg_is_call(g))
		cg_call_begin(g, out);
	else if (cg_is_user(g))
		cg_user_begin(g, out);
	else if (cg_point(g))
		cg_point_begin(g, out, whole);
	if (g->probe->cls == IMG_PERF) {
		cg_ins(g, I_STORE_IMM(W, R10, FP_KEY, (int32_t)g->prog));
		look_up_or_leave(g, cg_map_index(g, IMG_DROPS, 0), out);
		cg_ins(g, I_STORE(DW, R10, FP_DROPS, R0));
	}
	if (g->probe->cls == IMG_PERF && whole) {
		cg_ins(g, I_LOAD(DW, R1, R0, offsetof(struct img_drops, firings)));
		cg_ins(g, I_ALU_IMM(ADD, R1, 1));
		cg_ins(g, I_STORE(DW, R0, offsetof(struct img_drops, firings), R1));
	}
	if (g->o->one_cpu && g->probe->cls != IMG_TEST && whole) {
		cg_ins(g, I_CALL(get_smp_processor_id));
		cg_jcc(g, I_JMP_IMM(JNE, R0, (int32_t)g->o->cpu, 0), out);
	}
	if (g->watch_exit && g->probe->cls != IMG_TEST && whole) {
		cg_map_value(g, R1, cg_map_index(g, IMG_CTL, 0), offsetof(struct img_ctl, exited));
		cg_ins(g, I_LOAD(DW, R1, R1, 0));
		cg_jcc(g, I_JMP_IMM(JNE, R1, 0, 0), out);
	}
	if (g->uses_scratch) {
		if (cg_is_user(g)) {
			cg_user_take_scratch(g, whole, out);
			cg_ins(g, I_STORE(W, R10, FP_KEY, R0));
		} else {
			cg_ins(g, I_STORE_IMM(W, R10, FP_KEY, (int32_t)part_scratch(g)));
		}
		look_up_or_leave(g, cg_map_index(g, IMG_SCRATCH, 0), out);
		cg_mov(g, R7, R0);
	}
	for (uint32_t o = 1; o < g->p->nobjs && whole; o++)
		if (g->p->obj[o].kind == IR_OBJ_THIS && g->place[o].base)
			cg_zero(g, cg_obj(g, o, 0, R4), g->p->obj[o].size);
}

/* Hands over the error record in FP_ERR: {epid, cpu, time, fault, value}. */
static void error_record(struct cg *g)
{
	cg_ins(g, I_CALL(get_smp_processor_id));
	cg_ins(g, I_STORE(W, R10, FP_ERR + 4, R0));
	cg_emit_record(g, (struct cg_at){ R10, FP_ERR }, D_ERROR_RECORD, cg_is_event(g) ? CG_RING_CPU : CG_RING_CONTROL,
		       false);
}

static void error_block(struct cg *g, struct plan *pl, uint32_t out)
{
	cg_put(g, g->errblk);
	error_record(g);
	for (uint32_t k = pl->nown; k < pl->n; k++)
		cg_emit_clause(g, pl, k);
	cg_ins(g, I_LOAD(DW, R1, R10, FP_RESUME));
	for (uint32_t k = pl->from; k < pl->to; k++)
		cg_jcc(g, I_JMP_IMM(JEQ, R1, (int32_t)k, 0), pl->end[k]);
	cg_jmp(g, out);
}

/* The kernel takes a program that names at most 64 maps. */
#define MAPS_MOST 64u

static void check_maps(struct cg *g, const struct plan *pl)
{
	bool *seen = mem_alloc(g->img->nmaps + 1);
	uint32_t n = 0;

	if (!seen) {
		cg_oom(g);
		return;
	}
	for (uint32_t i = 0; i < g->nins; i++) {
		if (g->ins[i].code != INS_LD_IMM64)
			continue;
		if ((g->ins[i].src == INS_SRC_MAP || g->ins[i].src == INS_SRC_MAP_VALUE) && !seen[g->ins[i].imm]) {
			seen[g->ins[i].imm] = true;
			n++;
		}
		i++; /* its second half */
	}
	mem_free(seen);
	if (n > MAPS_MOST && pl->to - pl->from > 1)
		g->too_large = true;
	else if (n > MAPS_MOST)
		cg_fail(g, D_LIMIT,
			"line %u: this clause of %s needs %u maps, the kernel allows %u: one for each aggregation "
			"and each variable with a key, and four of our own: divide the clause into several",
			pl->clause[pl->from]->line, g->probe->name, n, MAPS_MOST);
}

/* ---- parts ---------------------------------------------------------------------------------
 *
 * The kernel takes so many instructions, branches and maps in a program.  When the clauses of a probe are more, they
 * become parts, and each ends with a tail call of the next.  this-> variables lie in scratch memory at the same places
 * in all parts, R6 to R9 and the stack are not kept.  Each part has the error block, since it can't be shared either.
 */
#define PART_INS_MOST 16384u /* of several clauses: so the verifier's walk is far below its limit */
#define GROUP_KPROBE 15u     /* above all classes */
#define GROUP_TYPED 16u
#define PARTS_MOST 34u /* the kernel follows 33 tail calls */

/* The kernel puts only such programs into one map that it checks alike: those with types of arguments are by
 * themselves. */
static uint32_t part_group(const struct cg *g)
{
	return cg_point_is_typed(g)           ? GROUP_TYPED + g->prog :
	       cg_point(g) && cg_point(g)->at ? GROUP_KPROBE :
						g->probe->cls;
}

static void tail_call(struct cg *g, uint32_t part)
{
	cg_mov(g, R1, R6);
	cg_map(g, R2, cg_map_index(g, IMG_PARTS, part_group(g)));
	cg_imm(g, R3, part);
	cg_ins(g, I_CALL(tail_call));
}

/* Generates clauses from .. to; whether they fit. */
static bool clauses_generate(struct cg *g, struct plan *pl)
{
	uint32_t out, leave;

	g->nins = g->nlines = g->nrelocs = g->nlabels = g->nfixes = g->nfuncs = 0;
	g->faults = g->too_large = false;
	memset(g->fn, 0, sizeof(g->fn));
	g->spec_loop = g->chill_loop = g->unwind_loop = NO_LABEL;
	out = g->out = cg_label(g);
	leave = cg_label(g);
	g->errblk = cg_label(g);
	g->line = 0;
	part_begin(g, leave, pl->from == 0);
	for (uint32_t k = pl->from; k < pl->to; k++)
		cg_emit_clause(g, pl, k);
	if (pl->to < pl->nown)
		tail_call(g, g->img->nparts + (pl->from > 0)); /* this one is not yet among them */
	cg_put(g, out);
	if (cg_is_user(g) && g->uses_scratch)
		cg_user_give_back(g);
	cg_put(g, leave);
	cg_imm(g, R0, 0);
	cg_ins(g, I_EXIT());
	if (g->faults)
		error_block(g, pl, out);
	cg_functions(g);
	cg_spec_function(g);
	cg_chill_function(g);
	cg_unwind_function(g);
	if (!g->failed && !g->too_large)
		cg_patch(g);
	if (!g->failed && !g->too_large)
		check_maps(g, pl);
	return !g->too_large && (g->nins <= PART_INS_MOST || pl->to - pl->from <= 1);
}

static void prog_name(struct img_prog *p, const struct bpf_probe *probe)
{
	size_t n = 0;

	for (const char *s = probe->name; *s && n < sizeof(p->name) - 1; s++, n++)
		p->name[n] =
			(*s >= 'a' && *s <= 'z') || (*s >= 'A' && *s <= 'Z') || (*s >= '0' && *s <= '9') ? *s : '_';
}

/* Moves what was generated into the image. */
static void program_keep(struct cg *g, struct img_prog *to)
{
	*to = (struct img_prog){ .probe = g->probe->id,
				 .cls = g->probe->cls,
				 .point = g->point,
				 .typed = cg_point_is_typed(g) ? cg_point(g)->name : NULL,
				 .group = part_group(g),
				 .ins = g->ins,
				 .line = g->lines,
				 .nins = g->nins,
				 .reloc = g->reloc,
				 .nrelocs = g->nrelocs,
				 .nfuncs = g->nfuncs,
				 .stack_bytes = (uint32_t)-g->stack_low };
	if (cg_point(g)) {
		to->at = cg_point(g)->at;
		to->module = cg_point(g)->module;
		to->may_fail = cg_point(g)->by_pattern;
	}
	memcpy(to->func, g->func, g->nfuncs * sizeof(*g->func));
	prog_name(to, g->probe);
	g->ins = NULL;
	g->lines = NULL;
	g->reloc = NULL;
	g->nins = g->ins_cap = g->nlines = g->lines_cap = g->nrelocs = g->reloc_cap = 0;
}

static void img_prog_free(struct img_prog *p)
{
	mem_free(p->ins);
	mem_free(p->line);
	mem_free(p->reloc);
}

/* As many clauses from pl->from on as fit. */
static void part_generate(struct cg *g, struct plan *pl)
{
	while (!clauses_generate(g, pl) && !g->failed) {
		if (pl->to - pl->from <= 1) {
			cg_fail(g, D_LIMIT, D_CLAUSE_TOO_LARGE, pl->clause[pl->from]->line);
			return;
		}
		pl->to = pl->from + (pl->to - pl->from) / 2;
	}
}

static void program_generate_parts(struct cg *g, struct plan *pl)
{
	struct img_prog *first = &g->img->prog[g->img->nprogs++];
	uint32_t n = 1;

	pl->to = pl->nown;
	part_generate(g, pl);
	program_keep(g, first);
	for (; pl->to < pl->nown && !g->failed && n < PARTS_MOST; n++) {
		uint32_t as_many = pl->to - pl->from;
		struct img_prog *next, lost;

		pl->from = pl->to;
		pl->to = pl->nown - pl->from < 2 * as_many ? pl->nown : pl->from + 2 * as_many;
		part_generate(g, pl);
		next = VEC_NEW(g->img->part, g->img->nparts, g->parts_cap);
		program_keep(g, next ? next : &lost);
		if (!next) {
			cg_oom(g);
			img_prog_free(&lost);
		}
	}
	if (pl->to < pl->nown)
		cg_fail(g, D_LIMIT,
			"line %u: the %u clauses of %s are too large for the kernel together: %u of them became the %u "
			"programs that it runs for a probe, and this one is the next: leave some out, or run them as "
			"a second trace",
			pl->clause[pl->to]->line, pl->nown, g->probe->name, pl->to, n);
}

static bool has_probe(const struct d_clause *c, uint32_t id)
{
	for (uint32_t i = 0; i < c->nprobes; i++)
		if (c->probes[i] == id)
			return true;
	return false;
}

static uint32_t plan_clauses(struct cg *g, struct plan *pl, uint32_t id)
{
	for (uint32_t i = 0; i < g->p->nclauses; i++)
		if (id == g->probe->id ? cg_clause_fires(g, &g->p->clause[i]) : id && has_probe(&g->p->clause[i], id))
			pl->clause[pl->n++] = &g->p->clause[i];
	return pl->n;
}

static int plan_open(struct cg *g, struct plan *pl)
{
	uint32_t most = 2 * g->p->nclauses + 1, spills = 0;

	pl->clause = mem_alloc(most * sizeof(*pl->clause));
	pl->reg = mem_alloc(most * sizeof(*pl->reg));
	pl->end = mem_alloc(most * sizeof(*pl->end));
	if (!pl->clause || !pl->reg || !pl->end)
		return cg_oom(g);
	pl->nown = plan_clauses(g, pl, g->probe->id);
	plan_clauses(g, pl, g->o->error_probe);
	if (cg_has_rows(g))
		cg_row_table(g, pl->clause, pl->nown);
	for (uint32_t k = 0; k < pl->n; k++) {
		pl->reg[k] = mem_alloc(pl->clause[k]->nregs * sizeof(*pl->reg[k]));
		if (!pl->reg[k])
			return cg_oom(g);
		if (cg_alloc(g, pl->clause[k], pl->reg[k], &spills) < 0)
			return -1;
	}
	return cg_place_objects(g, pl->clause, pl->n, spills);
}

static void plan_close(struct plan *pl)
{
	for (uint32_t k = 0; pl->reg && k < pl->n; k++)
		mem_free(pl->reg[k]);
	mem_free(pl->clause);
	mem_free(pl->reg);
	mem_free(pl->end);
}

/* Where globals lie is the same in all programs. */
static void places_reset(struct cg *g)
{
	uint32_t at = 0;

	memset(g->place, 0, g->p->nobjs * sizeof(*g->place));
	for (uint32_t o = 1; o < g->p->nobjs; o++)
		if (g->p->obj[o].kind == IR_OBJ_GLOBAL) {
			g->place[o].off = (int32_t)at;
			at += g->p->obj[o].size;
		}
}

static void cg_emit_program(struct cg *g, const struct bpf_probe *probe, uint32_t point)
{
	struct plan pl = { 0 };

	g->probe = probe;
	g->point = point;
	g->prog = g->img->nprogs;
	g->work = g->uses_scratch = g->callbacks = false;
	g->work_text = g->work_needle = g->work_copy = g->frames = g->walk = 0;
	g->stack_low = FP_SPILL;
	places_reset(g);
	if (plan_open(g, &pl) == 0)
		program_generate_parts(g, &pl);
	plan_close(&pl);
}

/* ---- the image ---------------------------------------------------------------------------------- */

static int cg_place_globals(struct cg *g)
{
	uint32_t size = 0;

	for (uint32_t o = 1; o < g->p->nobjs; o++)
		if (g->p->obj[o].kind == IR_OBJ_GLOBAL)
			size += g->p->obj[o].size;
	g->img->globals_size = size;
	g->img->globals_init = size ? mem_alloc(size) : NULL;
	if (size && !g->img->globals_init)
		return cg_oom(g);
	size = 0;
	for (uint32_t o = 1; o < g->p->nobjs; o++) {
		const struct ir_object *obj = &g->p->obj[o];

		if (obj->kind != IR_OBJ_GLOBAL)
			continue;
		if (obj->init)
			memcpy((char *)g->img->globals_init + size, obj->init, obj->size);
		size += obj->size;
	}
	return 0;
}

static bool class_has_rows(uint8_t cls)
{
	return cls == IMG_ENTRY || cls == IMG_RETURN || cls >= IMG_USER_ENTRY;
}

static bool cg_probe_wanted(struct cg *g, const struct bpf_probe *p)
{
	if (p->id == g->o->error_probe)
		return false;
	for (uint32_t i = 0; i < g->img->nprogs && class_has_rows(p->cls); i++)
		if (g->img->prog[i].cls == p->cls)
			return false; /* it is part of that program */
	for (uint32_t i = 0; i < g->p->nclauses; i++)
		if (has_probe(&g->p->clause[i], p->id))
			return true;
	return false;
}

/* One, or at tracepoints one for each. */
static void cg_emit_programs(struct cg *g, const struct bpf_probe *p)
{
	const uint32_t n = p->cls == IMG_POINT ? p->npoints : 1;

	for (uint32_t i = 0; i < n && !g->failed; i++)
		cg_emit_program(g, p, i);
}

static bool may_exit(const struct cg *g)
{
	for (uint32_t i = 0; i < g->p->nclauses; i++)
		for (uint32_t k = 0; k < g->p->clause[i].nins; k++)
			if (g->p->clause[i].ins[k].op == IR_EXIT)
				return true;
	return false;
}

static void cg_finish_image(struct cg *g)
{
	for (uint32_t i = 0; i < g->img->nmaps; i++) {
		struct img_map *m = &g->img->map[i];

		if (m->use == IMG_SCRATCH) {
			m->value_size = g->scratch_size;
			if (g->has_points || g->has_users)
				m->max_entries = scratch_points(g) + (g->has_points ? g->img->nprogs : 0);
		} else if (m->use == IMG_GLOBALS)
			m->value_size += g->slack;
		else if (m->use == IMG_DROPS)
			m->max_entries =
				g->img->nprogs + 1; /* the last one's is what watches switches of threads, and locks */
		else if (m->use == IMG_PARTS)
			m->max_entries = g->img->nparts;
	}
}

static void cg_emit_image(struct cg *g)
{
	uint32_t programs = 1;

	for (uint32_t i = 0; i < g->o->nprobes; i++) {
		const struct bpf_probe *p = &g->o->probe[i];

		g->has_perf |= p->cls == IMG_PERF;
		g->has_calls |= p->cls == IMG_ENTRY || p->cls == IMG_RETURN;
		g->has_points |= p->cls == IMG_POINT;
		g->has_users |= p->cls >= IMG_USER_ENTRY;
		programs += p->cls == IMG_POINT ? p->npoints : 1;
	}
	g->img->prog = mem_alloc(programs * sizeof(*g->img->prog));
	g->place = mem_alloc(g->p->nobjs * sizeof(*g->place));
	/* the epid 0 is taken here, so that it is nobody's */
	if (!g->img->prog || !g->place || !VEC_NEW(g->img->epid, g->img->nepids, g->img->cap_epids)) {
		cg_oom(g);
		return;
	}
	cg_self_plan(g);
	cg_map_index(g, IMG_CTL, 0);
	cg_map_index(g, IMG_DROPS, 0);
	g->watch_exit = may_exit(g);
	if (cg_place_globals(g) < 0)
		return;
	for (uint32_t i = 0; i < g->o->nprobes && !g->failed; i++)
		if (cg_probe_wanted(g, &g->o->probe[i]))
			cg_emit_programs(g, &g->o->probe[i]);
	cg_finish_image(g);
}

int bpf_generate(const struct d_program *p, const struct bpf_opts *o, struct bpf_image **ret, struct err *e)
{
	struct err words = { 0 };
	struct cg g = { .p = p, .o = o, .e = e ? e : &words, .img = mem_alloc(sizeof(*g.img)) };

	if (!g.img)
		return err_oom(e);
	cg_emit_image(&g);
	map_free(&g.epids);
	mem_free(g.place);
	mem_free(g.self_at);
	mem_free(g.label);
	mem_free(g.fix);
	if (g.failed) {
		bpf_image_free(g.img);
		return -g.e->code;
	}
	*ret = g.img;
	return 0;
}

void bpf_image_free(struct bpf_image *img)
{
	if (!img)
		return;
	for (uint32_t i = 0; img->prog && i < img->nprogs; i++)
		img_prog_free(&img->prog[i]);
	for (uint32_t i = 0; i < img->nparts; i++)
		img_prog_free(&img->part[i]);
	mem_free(img->prog);
	mem_free(img->part);
	mem_free(img->map);
	mem_free(img->epid);
	for (uint32_t i = 0; i < img->nrows; i++)
		mem_free(img->rows[i].clause);
	mem_free(img->rows);
	mem_free(img->globals_init);
	arena_free(&img->arena);
	mem_free(img);
}
