/*
 * lower.c: the tree to IR.
 *
 * A clause becomes one run of instructions: the predicate jumps to the end,
 * each statement in turn stores what it hands over into the clause's record,
 * and the record goes out last, so that a clause that faults hands over an
 * error record and nothing else.  Variables become objects (globals, this->)
 * or look-ups by key (self->, associative arrays).
 */
#include <string.h>

#include "dlang/lower_int.h"

/* ---- variables and aggregations ------------------------------------------------ */

static int lower_var(struct lw *l, struct d_sym *s)
{
	struct d_var *v;
	struct slot slot;

	if (s->kind == SYM_GLOBAL || s->kind == SYM_THIS) {
		s->ir = lw_object(l, s->kind == SYM_GLOBAL ? IR_OBJ_GLOBAL : IR_OBJ_THIS, s->type->size, s->name);
		if (!l->failed)
			l->obj[s->ir].indexed = s->indexed;
		return l->failed ? -1 : 0;
	}
	s->ir = l->p->nvars++;
	v = &l->p->var[s->ir];
	*v = (struct d_var){ .name = s->name, .is_self = s->kind == SYM_SELF, .is_string = s->type->kind == TY_STRING };
	v->value_size = (s->type->size + 7) & ~7u;
	v->key_size = v->is_self ? 8 : 0;
	for (uint32_t k = 0; k < s->nkeys; k++) {
		slot = d_slot_of(s->keys[k], true);
		v->key_size += slot.size;
	}
	return 0;
}

static int lower_agg(struct lw *l, const struct d_sym *s)
{
	struct d_agg *a = &l->p->agg[s->index];

	*a = (struct d_agg){ .name = s->name,
			     .fn = s->fn,
			     .nkeys = s->nkeys,
			     .lq = s->lq,
			     .llq = s->llq,
			     .value_signed = s->value_signed,
			     .line = s->line,
			     .key_text = s->key_text,
			     .comment = s->comment ? s->comment : "" };
	a->keys = arena_alloc(&l->u->arena, (s->nkeys + 1) * sizeof(*a->keys));
	if (!a->keys)
		return -1;
	a->key_size = lw_layout(s->keys, s->nkeys, a->keys, 0, true);
	if (a->fn >= AGG_QUANTIZE)
		a->key_size += 8; /* the bucket */
	return 0;
}

static int lower_symbols(struct lw *l)
{
	struct d_unit *u = l->u;

	l->p->var = arena_alloc(&u->arena, (u->nvars + 1) * sizeof(*l->p->var));
	l->p->agg = arena_alloc(&u->arena, (u->naggs + 1) * sizeof(*l->p->agg));
	if (!l->p->var || !l->p->agg || !VEC_NEW(l->obj, l->p->nobjs, l->objs_cap)) /* object 0 is none */
		return -1;
	for (uint32_t i = 0; i < u->nvars; i++)
		if (lower_var(l, u->var[i]) < 0)
			return -1;
	for (uint32_t i = 0; i < u->naggs; i++)
		if (lower_agg(l, u->agg[i]) < 0)
			return -1;
	l->p->naggs = u->naggs;
	return 0;
}

/* ---- statements ---------------------------------------------------------------------- */

static void statement_agg(struct lw *l, const struct d_stmt *st)
{
	const struct d_agg *a = &l->p->agg[st->agg->index];
	ir_obj key = a->key_size ? lw_object(l, IR_OBJ_TEMP, a->key_size, NULL) : 0;
	ir_reg value, weight;
	struct ir_ins *i;

	l->generation = 0;
	for (uint32_t k = 0; k < st->nkeys; k++)
		lw_slot(l, st->key[k], key, &a->keys[k], true);
	value = st->value ? lw_value(l, st->value) : 0;
	weight = st->weight ? lw_value(l, st->weight) : 0;
	i = lw_emit(l, IR_AGG);
	i->x = st->agg->index;
	i->p = key;
	i->a = value;
	i->b = weight;
}

/* exit() takes effect where it stands; its status also goes into the record, for the order of things. */
static void exit_now(struct lw *l, ir_obj record, const struct slot *s)
{
	struct ir_ins *i = lw_emit(l, IR_OLOAD);
	ir_reg d = lw_reg(l);

	i->o = record;
	i->O = s->offset;
	i->s = 8;
	i->d = d;
	lw_emit(l, IR_EXIT)->a = d;
	if (l->exited)
		lw_const_to(l, l->exited, 1);
}

/* The rest of the clause is for the speculation, or is not done at all. */
static void statement_speculate(struct lw *l, const struct d_clause *c, const struct d_stmt *st)
{
	ir_reg id = lw_value(l, st->arg[0]), open;
	struct ir_ins *i = lw_emit(l, IR_SPECULATE);

	i->a = id;
	open = i->d = lw_reg(l);
	lw_jcmp(l, open, IR_EQ, lw_const(l, 0), l->end);
	lw_store8(l, c->record, D_RECORD_HDR, id);
}

#define SIGNAL_STOP 19 /* Linux' SIGSTOP, on every architecture that is supported */

/* What is over when the program has run. */
static void statement_effect(struct lw *l, const struct d_clause *c, const struct d_stmt *st)
{
	ir_reg a;

	switch (st->act) {
	case ACT_SPECULATE:
		statement_speculate(l, c, st);
		break;
	case ACT_STOP:
		a = lw_const(l, SIGNAL_STOP);
		lw_emit(l, IR_SIGNAL)->a = a;
		break;
	default:
		a = lw_value(l, st->arg[0]);
		lw_emit(l, st->act == ACT_RAISE ? IR_SIGNAL : IR_CHILL)->a = a;
	}
}

/* Where commit() and discard() stand, the speculation is closed; the record tells what was closed. */
static void settle_now(struct lw *l, ir_obj record, const struct slot *s, uint8_t act)
{
	struct ir_ins *i = lw_on(l, IR_OLOAD, record, s->offset, 8);
	ir_reg id = i->d = lw_reg(l), closed;

	i = lw_emit(l, IR_SETTLE);
	i->a = id;
	i->x = act == ACT_COMMIT ? D_COMMIT : D_DISCARD;
	closed = i->d = lw_reg(l);
	lw_store8(l, record, s->offset, closed);
}

/* The bytes of a packet behind its numbers: those that were there, or so many as the record has room for. */
static void statement_packet(struct lw *l, const struct d_clause *c, const struct d_action *a,
			     const struct d_node *place)
{
	const struct slot *bytes = &a->slots[a->nslots - 1], *taken = bytes - 1;
	const uint32_t fits = lw_label(l);
	ir_reg from = lw_value(l, place->a), zero = lw_const(l, 0), n;
	struct ir_ins *i = lw_on(l, IR_OLOAD, c->record, taken->offset, 8);

	n = i->d = lw_reg(l);
	lw_jcmp(l, n, IR_LEU, lw_const(l, bytes->bytes), fits);
	lw_const_to(l, n, bytes->bytes);
	lw_store8(l, c->record, taken->offset, n);
	lw_put(l, fits);
	lw_zero(l, c->record, bytes->offset, bytes->size);
	i = lw_on(l, IR_OREADN, c->record, bytes->offset, 0);
	i->a = from;
	i->b = zero;
	i->e = n;
	i->i = bytes->size;
}

static int statement_act(struct lw *l, struct d_clause *c, const struct d_stmt *st)
{
	if (st->act >= ACT_SPECULATE) {
		statement_effect(l, c, st);
		c->silent = false;
		return 0;
	}
	struct d_action *a = &c->acts[c->nacts++];
	const struct d_type **type = arena_alloc(&l->u->arena, (st->narg + 1) * sizeof(*type));

	*a = (struct d_action){ .kind = st->act,
				.line = st->line,
				.guard = l->guard,
				.nslots = st->narg,
				.fmt = st->fmt,
				.fmt_text = st->fmt_text,
				.shape = st->shape,
				.naggs = st->naggs };
	a->slots = arena_alloc(&l->u->arena, (st->narg + 1) * sizeof(*a->slots));
	a->aggs = arena_alloc(&l->u->arena, (st->naggs + 1) * sizeof(*a->aggs));
	if (!type || !a->slots || !a->aggs)
		return -1;
	for (uint32_t k = 0; k < st->narg; k++)
		type[k] = st->arg[k]->type;
	for (uint32_t k = 0; k < st->naggs; k++)
		a->aggs[k] = st->aggs[k]->index;
	l->generation = 0;
	c->record_size = lw_layout(type, st->narg, a->slots, c->record_size, false);
	const uint32_t plain = st->act == ACT_PCAP ? st->narg - 1 : st->narg;
	for (uint32_t k = 0; k < plain; k++)
		lw_slot(l, st->arg[k], c->record, &a->slots[k], false);
	if (st->act == ACT_PCAP)
		statement_packet(l, c, a, st->arg[plain]);
	if (st->act == ACT_EXIT)
		exit_now(l, c->record, &a->slots[0]);
	if (st->act == ACT_COMMIT || st->act == ACT_DISCARD) {
		settle_now(l, c->record, &a->slots[0], st->act);
		c->settles = true;
	} else {
		c->silent = false;
	}
	if (st->act == ACT_EXIT || st->act == ACT_PRINTA || (st->act >= ACT_CLEAR && st->act <= ACT_DENORMALIZE))
		c->control = true;
	return 0;
}

/* ---- clauses ---------------------------------------------------------------------------- */

static int lower_statements(struct lw *l, struct d_clause *c, const struct d_stmt *st);

static uint32_t count_acts(const struct d_stmt *st)
{
	uint32_t n = 0;

	for (; st; st = st->next)
		n += st->kind == ST_ACT ? st->act < ACT_SPECULATE :
		     st->kind == ST_IF  ? count_acts(st->then) + count_acts(st->other) :
					  0;
	return n;
}

static bool has_action(const struct d_stmt *st)
{
	for (; st; st = st->next)
		if (st->kind == ST_ACT || (st->kind == ST_IF && (has_action(st->then) || has_action(st->other))))
			return true;
	return false;
}

static bool has_speculate(const struct d_stmt *st)
{
	for (; st; st = st->next)
		if ((st->kind == ST_ACT && st->act == ACT_SPECULATE) ||
		    (st->kind == ST_IF && (has_speculate(st->then) || has_speculate(st->other))))
			return true;
	return false;
}

/* What an arm of an if hands over has a word of the record in front: 1 when the arm was taken. */
static int lower_arm(struct lw *l, struct d_clause *c, const struct d_stmt *st)
{
	const uint32_t outer = l->guard;
	int rc;

	if (count_acts(st)) {
		l->guard = c->record_size;
		c->record_size += 8;
		lw_store8(l, c->record, l->guard, lw_const(l, 1));
	}
	rc = lower_statements(l, c, st);
	l->guard = outer;
	return rc;
}

static int lower_conditional(struct lw *l, struct d_clause *c, const struct d_stmt *st)
{
	uint32_t other = lw_label(l), end = lw_label(l);

	lw_jump(l, st->expr, false, other);
	if (lower_arm(l, c, st->then) < 0)
		return -1;
	lw_jmp(l, end);
	lw_put(l, other);
	if (lower_arm(l, c, st->other) < 0)
		return -1;
	lw_put(l, end);
	return 0;
}

static int lower_statements(struct lw *l, struct d_clause *c, const struct d_stmt *st)
{
	for (; st && !l->failed; st = st->next) {
		l->line = st->line;
		if (st->kind == ST_IF) {
			if (lower_conditional(l, c, st) < 0)
				return -1;
		} else if (st->kind == ST_EXPR)
			lw_effect(l, st->expr);
		else if (st->kind == ST_AGG)
			statement_agg(l, st);
		else if (statement_act(l, c, st) < 0)
			return -1;
	}
	return 0;
}

/* Moves the instructions into the arena. */
static int clause_end(struct lw *l, struct d_clause *c)
{
	lw_once(l);
	c->nins = l->nins;
	c->nregs = l->nregs;
	c->nlabels = l->nlabels;
	c->ins = arena_alloc(&l->u->arena, (l->nins + 1) * sizeof(*c->ins));
	if (l->failed || !c->ins)
		return -1;
	memcpy(c->ins, l->ins, l->nins * sizeof(*c->ins));
	if (c->record)
		l->obj[c->record].size = c->record_size;
	return 0;
}

static bool has_conditional(const struct d_stmt *st)
{
	for (; st; st = st->next)
		if (st->kind == ST_IF && count_acts(st))
			return true;
	return false;
}

/* Whether exit() stands in these statements, or (in_arm) in an arm of theirs. */
static bool has_exit(const struct d_stmt *st, bool in_arm)
{
	for (; st; st = st->next) {
		if (!in_arm && st->kind == ST_ACT && st->act == ACT_EXIT)
			return true;
		if (in_arm && st->kind == ST_IF &&
		    (has_exit(st->then, false) || has_exit(st->then, true) || has_exit(st->other, false) ||
		     has_exit(st->other, true)))
			return true;
	}
	return false;
}

static int lower_clause(struct lw *l, struct d_clause *c, const struct d_clausenode *n)
{
	uint32_t nacts = count_acts(n->stmts), end, zero = UINT32_MAX;

	*c = (struct d_clause){ .id = (uint32_t)(c - l->p->clause),
				.line = n->line,
				.source = n->source,
				.desc = n->text,
				.probes = n->probes,
				.nprobes = n->nprobes,
				.args_used = n->args_used,
				.args_defined = n->args_defined,
				.args_bytes = n->args_bytes,
				.speculates = has_speculate(n->stmts),
				.is_default = n->is_default };
	c->silent = !c->is_default && !c->speculates;
	l->nins = l->nlabels = l->guard = 0;
	l->exited = 0;
	l->scratch = 0;
	l->nregs = 1;
	l->line = l->clause_line = n->line;
	end = l->end = lw_label(l);
	c->acts = arena_alloc(&l->u->arena, (nacts + 1) * sizeof(*c->acts));
	if (!c->acts)
		return -1;
	if (n->is_default || has_action(n->stmts)) {
		c->record = lw_object(l, IR_OBJ_TEMP, D_RECORD_HDR, "record");
		c->record_size = D_RECORD_HDR + (c->speculates ? 8 : 0);
	}
	lw_scratch_begin(l);
	if (c->speculates) /* a predicate that faults has none to give back */
		lw_zero(l, c->record, D_RECORD_HDR, 8);
	if (n->pred) {
		lw_jump(l, n->pred, false, end);
		lw_scratch_begin(l);
	}
	if (!has_exit(n->stmts, false) && has_exit(n->stmts, true))
		l->exited = lw_const(l, 0);
	if (c->record && has_conditional(n->stmts)) {
		zero = l->nins; /* its size is known at the end */
		lw_zero(l, c->record, D_RECORD_HDR, 8);
	}
	if (lower_statements(l, c, n->stmts) < 0)
		return -1;
	if (zero != UINT32_MAX && !l->failed)
		l->ins[zero].s = c->record_size - D_RECORD_HDR;
	if (c->record)
		lw_emit(l, IR_RECORD)->o = c->record;
	if (has_exit(n->stmts, false))
		l->exited = lw_const(l, 1);
	if (l->exited)
		lw_emit(l, IR_LEAVE)->a = l->exited;
	lw_put(l, end);
	lw_emit(l, IR_END);
	lw_scratch_end(l);
	return clause_end(l, c);
}

static int lower_clauses(struct lw *l)
{
	uint32_t n = 0;

	for (const struct d_clausenode *c = l->u->clauses; c; c = c->next)
		n++;
	l->p->clause = arena_alloc(&l->u->arena, (n + 1) * sizeof(*l->p->clause));
	if (!l->p->clause)
		return -1;
	for (const struct d_clausenode *c = l->u->clauses; c; c = c->next)
		if (lower_clause(l, &l->p->clause[l->p->nclauses++], c) < 0)
			return -1;
	return 0;
}

static void *lower_keep_copy(struct arena *a, const void *p, size_t n)
{
	void *q = arena_alloc(a, n + 1);

	return q && n ? memcpy(q, p, n) : q;
}

int d_lower(struct d_unit *u)
{
	struct lw l = { .u = u, .p = &u->prog };
	int rc;

	u->prog = (struct d_program){ .destructive = u->destructive,
				      .uses_user_symbols = u->uses_user_symbols,
				      .uses_data_symbols = u->uses_data_symbols,
				      .uses_kernel_symbols = u->uses_kernel_symbols };
	u->prog.counter = u->counter;
	u->prog.ncounters = u->ncounters;
	rc = lower_symbols(&l) < 0 || lower_clauses(&l) < 0 || l.failed ? -1 : 0;
	if (rc == 0) {
		u->prog.obj = lower_keep_copy(&u->arena, l.obj, u->prog.nobjs * sizeof(*l.obj));
		u->prog.lit = lower_keep_copy(&u->arena, l.lit, u->prog.nlits * sizeof(*l.lit));
		if (!u->prog.obj || !u->prog.lit)
			rc = -1;
	}
	mem_free(l.obj);
	mem_free(l.lit);
	mem_free(l.ins);
	if (rc == 0)
		return 0;
	return l.too_large ? err_set(u->err, TALLY_ENOTSUP, "%s" D_CLAUSE_TOO_LARGE, d_mark(u->env.errtags, D_LIMIT),
				     l.too_large) :
			     d_nomem(u);
}
