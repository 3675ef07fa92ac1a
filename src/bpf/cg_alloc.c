/*
 * cg_alloc.c: where values live.
 *
 * Clauses have forward jumps only, so a register is alive exactly from its
 * first definition to its last use, and one pass over the instructions in
 * order of definition allocates (linear scan).  Helpers destroy R0-R5 and
 * almost every operation calls one, so values live in R8 and R9, or spilled;
 * a register that is defined once by a constant lives nowhere.
 *
 * Objects lie on the stack while there is room, small ones first come; what is
 * large or is reached at a computed offset lies in scratch memory, which costs
 * one look-up per firing and only where it is used.  Clauses share the place
 * of their temporaries: no clause reads another's.  The work space of string
 * functions and the frames of a stack lie at the start of scratch memory: a clause
 * that has neither has its temporaries there, too.
 */
#include <stdio.h>
#include <string.h>

#include "bpf/cg_int.h"

/* ---- registers ------------------------------------------------------------ */

static void alloc_extend_life(struct cg_reg *reg, ir_reg v, uint32_t at)
{
	if (!reg[v].first)
		reg[v].first = at;
	reg[v].last = at;
}

static void alloc_find_lives(const struct d_clause *c, struct cg_reg *reg)
{
	for (uint32_t n = 0; n < c->nins; n++) {
		const struct ir_ins *i = &c->ins[n];

		if (i->a)
			alloc_extend_life(reg, i->a, n + 1);
		if (i->b)
			alloc_extend_life(reg, i->b, n + 1);
		if (i->e)
			alloc_extend_life(reg, i->e, n + 1);
		if (!i->d)
			continue;
		alloc_extend_life(reg, i->d, n + 1);
		reg[i->d].defs++;
		if (i->op == IR_CONST)
			reg[i->d].imm = i->i;
		else
			reg[i->d].defs += 2; /* never a constant */
	}
}

/* Frees what died before `at`, then takes machine register or spill slot for v. */
struct scan {
	uint32_t busy_until[2]; /* R8, R9: last use of who is in it */
	uint32_t *slot_until;
	uint32_t nslots, cap;
};

static int alloc_take_register(struct scan *s, struct cg_reg *r)
{
	for (uint8_t k = 0; k < 2; k++)
		if (s->busy_until[k] <= r->first) {
			s->busy_until[k] = r->last;
			r->in = IN_REG;
			r->phys = R8 + k;
			return 0;
		}
	r->in = IN_SPILL;
	for (uint32_t k = 0; k < s->nslots; k++)
		if (s->slot_until[k] <= r->first) {
			s->slot_until[k] = r->last;
			r->slot = (int16_t)(FP_SPILL - 8 * (int)(k + 1));
			return 0;
		}
	if (s->nslots >= 40)
		return -TALLY_ENOTSUP;
	if (!VEC_NEW(s->slot_until, s->nslots, s->cap))
		return -TALLY_ENOMEM;
	s->slot_until[s->nslots - 1] = r->last;
	r->slot = (int16_t)(FP_SPILL - 8 * (int)s->nslots);
	return 0;
}

int cg_alloc(struct cg *g, const struct d_clause *c, struct cg_reg *reg, uint32_t *spills)
{
	struct scan s = { 0 };
	int rc = 0;

	alloc_find_lives(c, reg);
	for (uint32_t n = 0; n < c->nins && rc == 0; n++) {
		ir_reg v = c->ins[n].d;

		if (!v || reg[v].first != n + 1)
			continue;
		if (reg[v].defs == 1)
			reg[v].in = IN_CONST;
		else
			rc = alloc_take_register(&s, &reg[v]);
	}
	if (rc == -TALLY_ENOMEM)
		rc = cg_oom(g);
	else if (rc < 0)
		rc = cg_fail(g, D_LIMIT,
			     "line %u: this clause has too many values alive at once: "
			     "assign parts of its expressions to variables first",
			     c->line);
	if (s.nslots > *spills)
		*spills = s.nslots;
	mem_free(s.slot_until);
	return rc;
}

/* ---- objects ------------------------------------------------------------------ */

static void to_heap(struct cg *g, ir_obj o)
{
	if (o)
		g->place[o].heap = true;
}

static void alloc_raise_most(uint32_t *n, uint32_t v)
{
	if (v > *n)
		*n = v;
}

/* A stack that is walked by tables is walked in scratch memory. */
static bool alloc_mark_walk(struct cg *g, bool user, uint32_t frames)
{
	if (!cg_unwinds(g, user))
		return false;
	alloc_raise_most(&g->walk, frames);
	return g->callbacks = true;
}

/* Marks what the operations of a clause reach at computed offsets; whether it uses the work space or the frames. */
static bool clause_mark(struct cg *g, const struct d_clause *c)
{
	bool works = false;

	for (uint32_t n = 0; n < c->nins; n++) {
		const struct ir_ins *i = &c->ins[n];

		switch (i->op) {
		case IR_SLEN:
			works = g->work = true;
			alloc_raise_most(&g->work_copy, i->s);
			break;
		case IR_STACKID:
			works = true;
			g->frames = cg_stack_frames(g->o);
			alloc_mark_walk(g, i->x, g->frames);
			break;
		case IR_OSTACK:
		case IR_STACKDEPTH:
			works |= alloc_mark_walk(g, i->x, i->s / 8);
			break;
		case IR_SJOIN:
			to_heap(g, i->o);
			break;
		case IR_SPECULATION:
		case IR_CHILL:
			g->callbacks = true;
			break;
		case IR_SSUB:
			to_heap(g, i->p);
			break;
		case IR_OREADN:
		case IR_OWRITEN:
			to_heap(g, i->o);
			alloc_raise_most(&g->slack, (uint32_t)i->i);
			break;
		case IR_SCLEAN:
			alloc_raise_most(&g->work_needle, i->s);
			alloc_raise_most(&g->slack, cg_power_of_2(i->s));
			to_heap(g, i->o);
			works = g->work = true;
			alloc_raise_most(&g->work_text, (uint32_t)i->i);
			alloc_raise_most(&g->slack, cg_power_of_2((uint32_t)i->i));
			to_heap(g, i->p);
			break;
		case IR_SSPAN:
			alloc_raise_most(&g->work_needle, WORK_SET_NEEDLE);
			/* functions of needles take that many bytes at any string that they are called with */
			alloc_raise_most(&g->slack, cg_power_of_2(WORK_SET_NEEDLE));
			/* fall through */
		case IR_SINDEX:
		case IR_SRINDEX:
			alloc_raise_most(&g->work_needle, i->x);
			alloc_raise_most(&g->slack, cg_power_of_2(i->x));
			to_heap(g, i->q);
			/* fall through */
		case IR_SBASE:
		case IR_SDIR:
			works = g->work = true;
			alloc_raise_most(&g->work_text, (uint32_t)i->i);
			alloc_raise_most(&g->slack, cg_power_of_2((uint32_t)i->i));
			to_heap(g, i->p);
			break;
		default:
			break;
		}
	}
	return works;
}

struct room {
	int32_t stack;      /* lowest stack offset taken */
	uint32_t heap;      /* scratch bytes taken */
	uint32_t low, work; /* those taken at the start of scratch memory, of so many that are free there */
	uint32_t own;       /* those taken for the objects of a clause */
};

static void alloc_place_object(struct cg *g, ir_obj o, struct room *r)
{
	const struct ir_object *obj = &g->p->obj[o];
	struct cg_place *pl = &g->place[o];

	/* this-> is stored here and tested there: on the stack the verifier would know each value apart */
	if (!pl->heap && !obj->indexed && obj->kind != IR_OBJ_THIS && obj->size <= STACK_OBJECT_MOST &&
	    r->stack - (int32_t)obj->size >=
		    (g->work_text || g->callbacks ? STACK_FUNCTIONS : 0) - (int32_t)INS_STACK_BYTES) {
		r->stack -= (int32_t)obj->size;
		pl->base = R10;
		pl->off = r->stack;
	} else {
		uint32_t *at = obj->size <= r->work - r->low ? &r->low : &r->heap;

		pl->base = R7;
		pl->off = (int32_t)*at;
		*at += obj->size;
		r->own += obj->size;
		g->uses_scratch = true;
	}
}

static void place_used(struct cg *g, const struct d_clause *c, uint8_t kind, struct room *r, uint8_t *seen)
{
	for (uint32_t n = 0; n < c->nins; n++) {
		const ir_obj o[] = { c->ins[n].o, c->ins[n].p, c->ins[n].q };

		for (size_t k = 0; k < COUNT(o); k++)
			if (o[k] && g->p->obj[o[k]].kind == kind && !seen[o[k]]) {
				seen[o[k]] = 1;
				alloc_place_object(g, o[k], r);
			}
	}
}

/* Offset of the room for a copy, behind the failure table. */
uint32_t cg_work_copy(const struct cg *g)
{
	return WORK_FAIL + ((2 * (2 * g->work_needle + 1) + 7) & ~7u);
}

/* Offset of the room for the frames of a stack, behind the work space. */
uint32_t cg_frames(const struct cg *g)
{
	return g->work ? cg_work_copy(g) + g->work_copy : 0;
}

/* Offset of the walk of a user stack, behind those. */
uint32_t cg_walk(const struct cg *g)
{
	return cg_frames(g) + 8 * g->frames;
}

/* Bytes of all that clauses share, which is work space and frames. */
static uint32_t alloc_shared_bytes(const struct cg *g)
{
	return cg_walk(g) + (g->walk ? CG_WALK_BYTES(g->walk) : 0);
}

static bool clause_makes_strings(const struct d_clause *c)
{
	for (uint32_t n = 0; n < c->nins; n++)
		switch (c->ins[n].op) {
		case IR_OLIT:
		case IR_OBUILTIN:
		case IR_OREADSTR:
		case IR_SLEN:
		case IR_SCMP:
		case IR_SSUB:
		case IR_SJOIN:
		case IR_SINDEX:
		case IR_SRINDEX:
		case IR_SSPAN:
		case IR_SCLEAN:
		case IR_SBASE:
		case IR_SDIR:
			return true;
		default:
			break;
		}
	return false;
}

/* A clause may copy strings that another one made: such a copy is like that of a struct. */
static bool program_makes_strings(const struct d_program *p)
{
	for (uint32_t i = 0; i < p->nclauses; i++)
		if (clause_makes_strings(&p->clause[i]))
			return true;
	return false;
}

/* The words say what takes the room, and what makes it less. */
static int scratch_refuse(struct cg *g, const struct d_clause *c, const struct room *r, bool works, uint32_t slack,
			  uint32_t this_bytes)
{
	const uint32_t functions = works || slack ? cg_frames(g) + slack : 0,
		       frames = works ? alloc_shared_bytes(g) - cg_frames(g) : 0;
	const uint32_t others = r->work - r->low; /* too small for what the clause still has */
	const struct {
		uint32_t bytes;
		const char *what;
	} part[] = {
		{ functions, "string functions" },
		{ frames, "the frames of a stack" },
		{ others, "string functions and stacks of other clauses" },
		{ this_bytes, "the this-> variables of all clauses" },
	};
	const bool strings = program_makes_strings(g->p);
	char words[200] = "";

	for (size_t i = 0, at = 0; i < COUNT(part); i++)
		if (part[i].bytes)
			at += (size_t)snprintf(words + at, sizeof(words) - at, ", %u for %s", part[i].bytes,
					       part[i].what);
	return cg_fail(
		g, D_LIMIT,
		"line %u: this clause needs %u bytes of scratch memory, and the kernel allows %u: %u for its own "
		"%sstructs, keys and records%s: lower %s%s%s, or divide the clause%s",
		c->line, r->heap + slack, SCRATCH_MOST - 8, r->own, strings ? "strings, " : "", words,
		strings ? "strsize" :
		frames  ? "" :
			  "the size of structs",
		strings && frames ? " or " : "", frames ? "the number of frames" : "",
		this_bytes ? ", or use fewer of those variables" : "");
}

/* The verifier adds the bounds of where counted bytes begin and of how many they are. */
static uint32_t clause_counted_bytes(const struct d_clause *c)
{
	uint32_t most = 0;

	for (uint32_t n = 0; n < c->nins; n++)
		if (c->ins[n].op == IR_OREADN || c->ins[n].op == IR_OWRITEN)
			alloc_raise_most(&most, (uint32_t)c->ins[n].i);
	return most;
}

/* The temporaries of a clause, behind what all clauses share. */
static void clause_place(struct cg *g, const struct d_clause *c, const struct room *shared, bool works,
			 uint32_t this_bytes, uint8_t *seen)
{
	/* a masked place may lie behind the memory, see cg_power_of_2() */
	const uint32_t longest = g->work_text > g->work_needle ? g->work_text : g->work_needle;
	uint32_t slack = clause_counted_bytes(c);
	struct room r = *shared;

	if (works && longest)
		alloc_raise_most(&slack, cg_power_of_2(longest));
	if (!works && this_bytes)
		r.work = alloc_shared_bytes(g);
	else if (!works)
		r.heap = 0;
	place_used(g, c, IR_OBJ_TEMP, &r, seen);
	if (r.stack < g->stack_low)
		g->stack_low = r.stack;
	alloc_raise_most(&g->scratch_size, r.heap + slack);
	if (r.heap + slack > SCRATCH_MOST - 8 && !g->failed)
		scratch_refuse(g, c, &r, works, slack, this_bytes);
}

int cg_place_objects(struct cg *g, const struct d_clause *const *clause, uint32_t n, uint32_t spills)
{
	struct room shared = { .stack = FP_SPILL - 8 * (int32_t)spills };
	uint8_t *seen = mem_alloc(g->p->nobjs);
	bool *works = mem_alloc(n * sizeof(*works));
	uint32_t this_bytes;

	for (uint32_t i = 0; works && i < n; i++)
		works[i] = clause_mark(g, clause[i]);
	g->uses_scratch = g->work || g->frames || g->walk;
	shared.heap = alloc_shared_bytes(g);
	for (uint32_t i = 0; seen && i < n; i++)
		place_used(g, clause[i], IR_OBJ_THIS, &shared, seen);
	this_bytes = shared.own;
	shared.own = 0;
	for (uint32_t i = 0; seen && works && i < n; i++)
		clause_place(g, clause[i], &shared, works[i], this_bytes, seen);
	if (!seen || !works)
		cg_oom(g);
	mem_free(works);
	mem_free(seen);
	return g->failed ? -1 : 0;
}
