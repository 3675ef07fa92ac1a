/*
 * cg_self.c: thread-local variables in the kernel's storage of the thread.
 *
 * A variable in a hash costs a search for each use, and memory that is taken and given back when it gets a value and
 * loses it.  The kernel can keep some bytes with a thread itself, and finds them by the address of its task_struct;
 * they end with the thread.  So programs of user code and of system calls have one such place for each thread, with a
 * word for each variable, and a clause asks for it once: in front of its first use (dlang's lower_once.c), for all of
 * them.
 *
 * Not so the programs that may run in the midst of the kernel's own memory management or scheduling (tracepoints, perf
 * events): before Linux 6.4 the storage comes from kmalloc().  A variable that one of those uses is in a hash for all
 * programs.  So is one that dynvarsize leaves little room: it bounds the memory of a hash, and can't that of the
 * storage.
 *
 * A thread that has no storage gets it when it first asks.  If there is no memory, or the program interrupted the
 * kernel while it gave this CPU some, that is a drop, as when a hash is full.
 */
#include "bpf/cg_int.h"

#define SELF_VALUE_MOST 64u     /* bytes of a variable, which are copied word by word */
#define SELF_STORAGE_MOST 8192u /* bytes of all of them */
#define SELF_ROOM_LEAST 4096u   /* threads that dynvarsize must have room for */
enum { SELF_STORAGE_CREATE = 1 };

static bool self_is_access(const struct ir_ins *i)
{
	return i->op == IR_DYNGET || i->op == IR_DYNSET;
}

static bool self_fits(const struct cg *g, uint32_t x)
{
	const struct d_var *v = &g->p->var[x];

	return v->is_self && v->key_size == 8 && !v->is_string && v->value_size <= SELF_VALUE_MOST &&
	       cg_var_room(g, x) >= SELF_ROOM_LEAST;
}

/* Whether a class of programs runs where the kernel may be asked for memory; the tracer's own test runs are such. */
static bool self_class_may(uint8_t cls)
{
	return cls == IMG_ENTRY || cls == IMG_RETURN || cls >= IMG_USER_ENTRY;
}

/* Marks the variables that a clause uses: which programs do. Clauses of ERROR are in every program. */
static void self_mark_clause(struct cg *g, const struct d_clause *c, bool *gains, bool *refused)
{
	bool may = false, not = false;

	for (uint32_t k = 0; k < c->nprobes; k++) {
		const struct bpf_probe *p = cg_probe(g, c->probes[k]);

		for (uint32_t n = 0; n < g->o->nprobes && p->id == g->o->error_probe; n++) {
			may |= self_class_may(g->o->probe[n].cls);
			not |= !self_class_may(g->o->probe[n].cls) && g->o->probe[n].cls != IMG_TEST;
		}
		may |= self_class_may(p->cls);
		not |= !self_class_may(p->cls) && p->cls != IMG_TEST;
	}
	for (uint32_t n = 0; n < c->nins; n++)
		if (self_is_access(&c->ins[n])) {
			gains[c->ins[n].x] |= may;
			refused[c->ins[n].x] |= not ;
		}
}

static void self_plan_variables(struct cg *g, bool *gains, bool *refused)
{
	for (uint32_t i = 0; i < g->p->nclauses; i++)
		self_mark_clause(g, &g->p->clause[i], gains, refused);
	for (uint32_t x = 0; x < g->p->nvars; x++) {
		g->self_at[x] = CG_SELF_HASH;
		if (!gains[x] || refused[x] || !self_fits(g, x) ||
		    g->self_size + g->p->var[x].value_size > SELF_STORAGE_MOST)
			continue;
		g->self_at[x] = (int16_t)g->self_size;
		g->self_size += g->p->var[x].value_size;
	}
}

void cg_self_plan(struct cg *g)
{
	bool *gains = mem_alloc(g->p->nvars + 1), *refused = mem_alloc(g->p->nvars + 1);

	g->self_at = mem_alloc((g->p->nvars + 1) * sizeof(*g->self_at));
	if (!gains || !refused || !g->self_at)
		cg_oom(g);
	else
		self_plan_variables(g, gains, refused);
	mem_free(gains);
	mem_free(refused);
}

/* FP_SELF = the storage of this thread. Behind it R0 is the key of those variables of the clause that are in a hash; if
 * there are none, nobody reads it. */
bool cg_self_find(struct cg *g)
{
	bool stored = false, hashed = false;
	uint32_t found = cg_label(g);

	for (uint32_t n = 0; n < g->clause->nins; n++) {
		const struct ir_ins *i = &g->clause->ins[n];

		if (!self_is_access(i) || !g->p->var[i->x].is_self)
			continue;
		stored |= g->self_at[i->x] != CG_SELF_HASH;
		hashed |= g->self_at[i->x] == CG_SELF_HASH;
	}
	if (!stored)
		return false;
	cg_ins(g, I_CALL(get_current_task_btf));
	cg_mov(g, R2, R0);
	cg_map(g, R1, cg_map_index(g, IMG_SELF, 0));
	cg_imm(g, R3, 0);
	cg_imm(g, R4, SELF_STORAGE_CREATE);
	cg_ins(g, I_CALL(task_storage_get));
	cg_jcc(g, I_JMP_IMM(JNE, R0, 0, 0), found);
	cg_drop_variable(g);
	cg_put(g, found);
	cg_ins(g, I_STORE(DW, R10, FP_SELF, R0));
	if (hashed)
		return false;
	cg_imm(g, R0, 0);
	return true;
}

void cg_self_get(struct cg *g, const struct ir_ins *i)
{
	const struct cg_at to = cg_obj(g, i->o, 0, R4);

	cg_ins(g, I_LOAD(DW, R2, R10, FP_SELF));
	for (uint32_t k = 0; k < g->p->var[i->x].value_size; k += 8) {
		cg_ins(g, I_LOAD(DW, R1, R2, g->self_at[i->x] + (int)k));
		cg_ins(g, I_STORE(DW, to.base, to.off + (int32_t)k, R1));
	}
}

void cg_self_set(struct cg *g, const struct ir_ins *i)
{
	const struct cg_at from = cg_obj(g, i->o, 0, R4);

	cg_ins(g, I_LOAD(DW, R2, R10, FP_SELF));
	for (uint32_t k = 0; k < g->p->var[i->x].value_size; k += 8) {
		cg_ins(g, I_LOAD(DW, R1, from.base, from.off + (int32_t)k));
		cg_ins(g, I_STORE(DW, R2, g->self_at[i->x] + (int)k, R1));
	}
}
