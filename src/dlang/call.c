/*
 * call.c: variables with keys, subroutines, and the statements that are actions.
 *
 * Prototypes are rows of call.def, a letter for each argument. Some things without a value can be recorded (traced,
 * printed, used as a key of an aggregation): stack(), func() and similar calls become nodes of their own here.
 */
#include "dlang/decl_int.h"
#include "dlang/parse_int.h"
#include "dlang/type_int.h"

#include <string.h>

static const char *call_plural_s(uint32_t n)
{
	return n == 1 ? "" : "s";
}

/* ---- keys ---------------------------------------------------------------- */

static bool key_type_ok(const struct d_sym *s, const struct d_type *t)
{
	bool recorded = s->kind == SYM_AGG && (t->kind == TY_STACK || t->kind == TY_SYM);
	return ty_is_scalar(t) || ty_is_sou(t) || t->kind == TY_STRING || recorded;
}

/* Whether a key of type t may stand where s already has one of type `as`. */
static bool key_compatible(const struct d_type *as, const struct d_node *key)
{
	const struct d_type *t = key->type;
	return types_same(as, t) || assignable(as, key);
}

/* A key is hashed whole: one that is a text of the probe has no more bytes than the longest of the clause's probes. */
static const struct d_type *key_text_type(struct d_unit *u, const struct d_node *n)
{
	const struct d_clausenode *c = u->cur_clause;
	uint32_t most = 0;
	if (n->kind != N_STRBUILTIN || n->ival == BS_EXECNAME || c == NULL || u->env.text_bytes == NULL)
		return n->type;
	for (uint32_t i = 0; i < c->nprobes; i++) {
		const uint32_t bytes = u->env.text_bytes(u->env.arg, c->probes[i], (uint32_t)n->ival);
		if (bytes == 0)
			return n->type;
		most = bytes > most ? bytes : most;
	}
	most = (most + 7) & ~7u;
	return most == 0 || most >= n->type->size ? n->type : type_string(u, most);
}

static int key_slot(struct d_unit *u, struct d_sym *s, struct d_node **key, uint32_t i)
{
	const struct d_type *t = s->kind == SYM_AGG ? key_text_type(u, *key) : (*key)->type, *as = s->keys[i];
	const char *mark = s->kind == SYM_AGG ? "@" : "";
	if (t == NULL)
		return -TALLY_ENOMEM;
	if (!key_type_ok(s, t))
		return d_fail(u, (*key)->line, D_KEY_TYPE, "%s%s[ ] key #%u may not be of type %s", mark, s->name,
			      i + 1, type_name(u, t));
	if (as == NULL)
		as = s->keys[i] = t->kind == TY_STRING && s->kind != SYM_AGG ? type_string(u, u->strsize) : t;
	if (as == NULL)
		return -TALLY_ENOMEM;
	cook_tell_leaf(u, key_compatible(as, *key) ? NULL : *key);
	if (!key_compatible(as, *key))
		return d_fail(u, (*key)->line, D_PROTO_ARG,
			      "%s%s[ ] key #%u is incompatible with prototype:\n"
			      "\tprototype: %s\n\t      key: %s",
			      mark, s->name, i + 1, type_name(u, as), type_name(u, t));
	if (as->kind == TY_STRING && t->kind != TY_STRING) {
		int rc = to_string(u, key);
		if (rc < 0)
			return rc;
		t = (*key)->type;
	}
	if (s->kind != SYM_AGG)
		return convert(u, key, as);
	if (ty_is_int(as) && !types_same(as, t))
		s->keys[i] = as->size < t->size || as->is_bool ? t : as;
	else if (as->kind == TY_STRING ? t->size > as->size : t->frames > as->frames)
		s->keys[i] = t;
	return 0;
}

static int cook_keys(struct d_unit *u, struct d_sym *s, struct d_node **key, uint32_t n, uint32_t line)
{
	if (n != s->nkeys)
		return d_fail(u, line, D_PROTO_LEN, "%s%s[ ] prototype mismatch: %u arg%s passed, %u expected",
			      s->kind == SYM_AGG ? "@" : "", s->name, n, call_plural_s(n), s->nkeys);
	for (uint32_t i = 0; i < n; i++) {
		int rc = s->kind == SYM_AGG ? cook_data(u, &key[i]) : cook_value(u, &key[i]);
		if (rc == 0)
			rc = ty_is_char_array(key[i]->type) ? to_string(u, &key[i]) : decay(u, &key[i]);
		if (rc < 0 || (rc = key_slot(u, s, &key[i], i)) < 0)
			return rc;
	}
	return 0;
}

/* Keys of aggregations get the widest type of all uses when all are known. */
static int call_widen_keys(struct d_unit *u, struct d_stmt *s)
{
	for (uint32_t i = 0; s->kind == ST_AGG && i < s->nkeys; i++)
		if (s->agg->keys[i]->kind != TY_STACK && convert(u, &s->key[i], s->agg->keys[i]) < 0)
			return -TALLY_ENOMEM;
	return 0;
}

static int call_widen_statements(struct d_unit *u, struct d_stmt *s)
{
	int rc = 0;
	for (; s != NULL && rc == 0; s = s->next) {
		rc = call_widen_keys(u, s);
		if (rc == 0 && s->kind == ST_IF && (rc = call_widen_statements(u, s->then)) == 0)
			rc = call_widen_statements(u, s->other);
	}
	return rc;
}

int widen_keys(struct d_unit *u)
{
	int rc = 0;
	for (struct d_clausenode *c = u->clauses; c != NULL; c = c->next)
		rc = call_widen_statements(u, c->stmts);
	return rc;
}

int cook_var(struct d_unit *u, struct d_node *n, bool write)
{
	struct d_sym *s = n->sym;
	int rc = 0;
	if (!write && s->type == NULL) {
		inline_tell_itself(u, s->name);
		return d_fail(u, n->line, D_VAR_UNDEF, "%s%s has not yet been declared or assigned%s",
			      s->kind == SYM_THIS ? "this->" :
			      s->kind == SYM_SELF ? "self->" :
						    "",
			      s->name, near_variable(u, s));
	}
	if (s->nkeys != 0)
		rc = cook_keys(u, s, n->arg, n->narg, n->line);
	n->type = s->type;
	return rc;
}

/* ---- arguments ----------------------------------------------------------- */

int check_call(struct d_unit *u, const struct d_node *n)
{
	const struct d_callrow *row = &d_calls[n->call];
	if (n->narg >= row->min && n->narg <= row->max)
		return 0;
	const char *least = n->narg > row->max ? "at most " : "at least ";
	return d_fail(u, n->line, D_PROTO_LEN, "%s( ) prototype mismatch: %u arg%s passed, %s%u expected", row->name,
		      n->narg, call_plural_s(n->narg), row->min == row->max ? "" : least,
		      n->narg > row->max ? row->max : row->min);
}

static const char *call_shown_argument(struct d_unit *u, const struct d_node *arg)
{
	return arg->kind == N_AGG ? "aggregation" : arg->type != NULL ? type_name(u, arg->type) : "void";
}

/* Whether an argument is a call that has no value: an action, an aggregating function. */
bool call_is_void(const struct d_node *n)
{
	return n->kind == N_CALL && (d_calls[n->call].cls == CC_ACT || d_calls[n->call].cls == CC_AGG ||
				     (d_calls[n->call].cls == CC_SUBR && d_calls[n->call].result == 'v'));
}

static int bad_arg(struct d_unit *u, const struct d_node *n, unsigned i, const char *want, const struct d_node *arg)
{
	return d_fail(u, arg->line, D_PROTO_ARG,
		      "%s( ) argument #%u is incompatible with prototype:\n\tprototype: %s\n\t argument: %s",
		      d_calls[n->call].name, i + 1, want, call_shown_argument(u, arg));
}

static int call_scratch_arg(struct d_unit *u, struct d_node *n, unsigned i)
{
	int rc = decay(u, &n->arg[i]);
	if (rc < 0)
		return rc;
	if (!ty_is_scalar(n->arg[i]->type))
		return bad_arg(u, n, i, "alloca pointer", n->arg[i]);
	if (!scratch_points(n->arg[i]))
		return d_fail(u, n->arg[i]->line, D_PROTO_ARG,
			      "%s( ) argument #%u is incompatible with prototype:\n"
			      "\tprototype: alloca pointer\n\t argument: non-alloca pointer",
			      d_calls[n->call].name, i + 1);
	return convert(u, &n->arg[i], u->base[B_ULONG]);
}

/* One argument of a subroutine, by its letter. */
static int sub_arg(struct d_unit *u, struct d_node *n, unsigned i)
{
	struct d_node **arg = &n->arg[i];
	char letter = d_calls[n->call].args[i];
	const char *want = letter == 's'                  ? "char *" :
			   letter == 'a' || letter == 'k' ? "uintptr_t" :
			   letter == 'l'                  ? "int64_t" :
							    "int";
	if (letter == '*')
		return call_is_void(*arg) || (*arg)->kind == N_AGG ? 0 : cook_data(u, arg);
	if (call_is_void(*arg) || (*arg)->kind == N_AGG)
		return bad_arg(u, n, i, want, *arg);
	int rc = cook_value(u, arg);
	if (rc < 0)
		return rc;
	if (letter == 's' && is_null_pointer(*arg))
		return null_string(u, arg);
	const struct d_type *t = (*arg)->type;
	if (letter == 's')
		return ty_is_strcompat(t) ? to_string(u, arg) : bad_arg(u, n, i, want, *arg);
	if (letter == 'm')
		return call_scratch_arg(u, n, i);
	if (letter == 'k' && t->kind == TY_STRING)
		return 0;
	if (letter == 'k')
		letter = 'a';
	if (letter == 'a' && (rc = decay(u, arg)) == 0 && (*arg)->type->kind == TY_PTR)
		return convert(u, arg, u->base[B_ULONG]);
	if (rc < 0)
		return rc;
	if (!ty_is_int(t))
		return bad_arg(u, n, i, want, *arg);
	return convert(u, arg, u->base[letter == 'i' ? B_INT : letter == 'a' || !t->is_signed ? B_ULONG : B_LONG]);
}

#define LLTOSTR_MOST 67u /* digits of 64 bits to the base 2, "0b"-less, a sign and a NUL */

/* The bound of what a subroutine gives: never longer than what it can be made of. */
static uint64_t result_bound(const struct d_unit *u, const struct d_node *n)
{
	uint64_t bound = n->narg != 0 ? n->arg[0]->type->size : u->strsize;
	switch (n->call) {
	case CALL_strjoin:
		bound += n->arg[1]->type->size;
		break;
	case CALL_lltostr:
		bound = n->narg == 1 ? 24 : LLTOSTR_MOST;
		break;
	case CALL_inet_ntoa:
	case CALL_inet_ntoa6:
	case CALL_inet_ntop:
	case CALL_link_ntop:
		bound = 64;
		break;
	case CALL_strtok:
	case CALL_d_path:
		bound = u->strsize;
		break;
	case CALL___arguments:
		bound = D_ARGUMENTS_BYTES;
		break;
	case CALL_copyinstr:
		bound = n->narg == 2 && n->arg[1]->kind == N_INT && n->arg[1]->ival > 0 ? (uint64_t)n->arg[1]->ival :
											  u->strsize;
		break;
	default:
		break;
	}
	return bound < u->strsize ? bound : u->strsize;
}

/* counter("EVENT"), vcounter("EVENT"): the call's value becomes the number of its counter. */
static int cook_counter(struct d_unit *u, struct d_node *n)
{
	const struct d_counter c = { .event = n->arg[0]->str, .of_thread = n->call == CALL_vcounter };
	const char *name = d_calls[n->call].name;
	struct err why = { 0 };
	if (n->arg[0]->kind != N_STR)
		return bad_arg(u, n, 0, "string constant", n->arg[0]);
	if (u->env.counter == NULL)
		return d_fail(u, n->line, D_UNSUPPORTED,
			      "%s( ) reads counters of this machine's CPUs: no CPU counts where this runs", name);
	if (u->env.counter(u->env.arg, c.event, &why) < 0)
		return d_fail(u, n->line, D_COUNTER_EVENT, "%s( ): %s", name, why.text);
	for (n->ival = 0; n->ival < u->ncounters; n->ival++)
		if (u->counter[n->ival].of_thread == c.of_thread && strcmp(u->counter[n->ival].event, c.event) == 0)
			return 0;
	if (u->ncounters == D_COUNTERS_MOST)
		return d_fail(u, n->line, D_COUNTER_EVENT, "%s( ): the program reads more than %d counters", name,
			      D_COUNTERS_MOST);
	u->counter[u->ncounters++] = c;
	return 0;
}

static bool call_needs_process(uint8_t call)
{
	switch (call) {
	case CALL___arguments:
	case CALL_copyin:
	case CALL_copyinstr:
	case CALL_copyinto:
	case CALL_copyout:
	case CALL_copyoutstr:
	case CALL_progenyof:
		return true;
	default:
		return false;
	}
}

int cook_call(struct d_unit *u, struct d_node **np)
{
	struct d_node *n = *np;
	const struct d_callrow *row = &d_calls[n->call];
	if (row->cls != CC_SUBR && row->cls != CC_LATER)
		return d_fail(u, n->line, D_CG_EXPR,
			      "%s( ) may not be called from a D expression (D program context required)", row->name);
	int rc = action_order_subroutine(u, n->call, n->line);
	rc = rc < 0 ? rc : check_call(u, n);
	for (unsigned i = 0; i < n->narg && rc == 0 && (row->cls != CC_LATER || row->args[0] != '*'); i++)
		rc = sub_arg(u, n, i);
	if (rc < 0)
		return rc;
	if (u->env.no_process && call_needs_process(n->call))
		return d_fail(u, n->line, D_UNSUPPORTED, "%s( ) is about a process: there is none where this runs",
			      row->name);
	if (n->call == CALL_d_path && (rc = path_find_members(u, n->line)) < 0)
		return rc;
	if ((n->call == CALL_lltostr || n->call == CALL_strtoll) && n->narg == 2 &&
	    (n->arg[1]->kind != N_INT || n->arg[1]->ival < 2 || n->arg[1]->ival > 36))
		return bad_arg(u, n, 1, "constant from 2 to 36", n->arg[1]);
	if ((n->call == CALL_counter || n->call == CALL_vcounter) && (rc = cook_counter(u, n)) < 0)
		return rc;
	if (n->call == CALL_alloca && n->arg[0]->kind == N_INT && (uint64_t)n->arg[0]->ival > u->scratchsize)
		return d_fail(u, n->line, D_ALLOCA_SIZE, "alloca(%llu) size larger than scratchsize %u",
			      (unsigned long long)n->arg[0]->ival, u->scratchsize);
	if (row->cls == CC_LATER)
		return d_fail(u, n->line, D_UNSUPPORTED, "%s( ) is not supported yet", row->name);
	switch (row->result) {
	case 's':
		n->type = type_string(u, result_bound(u, n));
		break;
	case 'z':
		n->type = type_named(u, "size_t");
		break;
	case 'l':
		n->type = u->base[B_LONG];
		break;
	case 'h':
		n->type = u->base[B_USHORT];
		break;
	case 'w':
		n->type = u->base[B_UINT];
		break;
	case 'q':
		n->type = u->base[B_ULONG];
		break;
	case 'p':
		n->type = u->base[B_VOIDPTR];
		u->uses_scratch = true;
		break;
	case 'o':
		n->type = u->base[B_VOIDPTR];
		break;
	case 'v':
		n->type = u->base[B_VOID];
		break;
	default:
		n->type = u->base[B_INT];
	}
	return n->type == NULL ? -TALLY_ENOMEM : 0;
}

/* ---- what can be recorded ------------------------------------------------ */

static int constant_arg(struct d_unit *u, struct d_node *n, unsigned i, int64_t least, enum d_tag tag,
			const char *words, int64_t *ret)
{
	int rc = cook_value(u, &n->arg[i]);
	if (rc < 0)
		return rc;
	if (n->arg[i]->kind != N_INT || !ty_is_int(n->arg[i]->type) || n->arg[i]->ival < least)
		return d_fail(u, n->line, tag, "%s", words);
	*ret = n->arg[i]->ival;
	return 0;
}

static int cook_stack(struct d_unit *u, struct d_node *n)
{
	bool user = n->call != CALL_stack;
	int64_t frames = n->call == CALL_jstack ? u->jstackframes : user ? u->ustackframes : u->stackframes, strsize;
	int rc = 0;
	if (n->narg > d_calls[n->call].max)
		return d_fail(u, n->line, user ? D_USTACK_PROTO : D_STACK_PROTO,
			      "%s( ) prototype mismatch: too many arguments", d_calls[n->call].name);
	if (n->narg > 0)
		rc = user ? constant_arg(u, n, 0, 1, D_USTACK_FRAMES,
					 "ustack( ) argument #1 must be a non-zero positive "
					 "integer constant",
					 &frames) :
			    constant_arg(u, n, 0, 1, D_STACK_SIZE,
					 "stack( ) argument #1 must be a non-zero positive integer constant", &frames);
	if (rc == 0 && n->narg > 1)
		rc = constant_arg(u, n, 1, 0, D_USTACK_STRSIZE,
				  "ustack( ) argument #2 must be a positive integer constant", &strsize);
	if (rc < 0)
		return rc;
	n->kind = N_STACKFN;
	n->arg = NULL;
	n->narg = 0;
	int64_t most = u->env.maxframes != 0 ? u->env.maxframes : D_FRAMES_USUAL;
	n->type = type_stack(u, user, (uint16_t)(frames > most ? most : frames));
	*(user ? &u->uses_user_symbols : &u->uses_kernel_symbols) = true;
	return n->type == NULL ? -TALLY_ENOMEM : 0;
}

/* Whether an address is known to be one of code: then nobody need know what else a process maps. */
static bool is_of_code(const struct d_unit *u, const struct d_node *n)
{
	const struct d_clausenode *c = u->cur_clause;
	bool samples = c != NULL;

	for (const struct d_desc *d = samples ? c->descs : NULL; d != NULL; d = d->next)
		samples = samples && d->d.prov != NULL && (!strcmp(d->d.prov, "cpc") || !strcmp(d->d.prov, "profile"));
	return n->kind == N_BUILTIN && (n->ival == BI_UCALLER || (samples && n->ival == BI_ARG1));
}

/* Makes n an N_SYMFN of its operand n->a, which is a scalar. */
static int make_sym(struct d_unit *u, struct d_node *n, enum slot_kind kind)
{
	n->kind = N_SYMFN;
	n->type = type_sym(u, kind);
	*(kind >= SLOT_UADDR ? &u->uses_user_symbols : &u->uses_kernel_symbols) = true;
	u->uses_data_symbols |= kind >= SLOT_UADDR && !is_of_code(u, n->a);
	return n->type == NULL ? -TALLY_ENOMEM : convert(u, &n->a, u->base[B_ULONG]);
}

int wrap_sym(struct d_unit *u, struct d_node **np, enum slot_kind kind)
{
	struct d_node *n = node_new(u, N_SYMFN, (*np)->line);
	if (n == NULL)
		return -TALLY_ENOMEM;
	n->a = *np;
	*np = n;
	return make_sym(u, n, kind);
}

static int cook_sym(struct d_unit *u, struct d_node *n)
{
	int rc = check_call(u, n);
	if (rc < 0 || (rc = cook_value(u, &n->arg[0])) < 0 || (rc = decay(u, &n->arg[0])) < 0)
		return rc;
	if (!ty_is_scalar(n->arg[0]->type))
		return bad_arg(u, n, 0, d_calls[n->call].code >= SLOT_UADDR ? "_usymaddr" : "_symaddr", n->arg[0]);
	n->a = n->arg[0];
	n->arg = NULL;
	n->narg = 0;
	return make_sym(u, n, d_calls[n->call].code);
}

int cook_data(struct d_unit *u, struct d_node **np)
{
	struct d_node *n = *np;
	if (n->kind == N_CALL && d_calls[n->call].cls == CC_STACK)
		return cook_stack(u, n);
	if (n->kind == N_CALL && d_calls[n->call].cls == CC_SYM)
		return cook_sym(u, n);
	return cook_value(u, np);
}

/* ---- actions ------------------------------------------------------------- */

static int cook_trace(struct d_unit *u, struct d_stmt *s, struct d_node *n)
{
	int rc = check_call(u, n);
	if (rc < 0)
		return rc;
	if (n->arg[0]->kind == N_AGG)
		return d_fail(u, n->line, D_TRACE_DYN, "trace( ) may not be applied to a dynamic expression");
	/* an array is traced whole: it becomes no pointer, unless it has no size */
	if ((rc = n->arg[0]->kind == N_CALL ? cook_data(u, &n->arg[0]) : cook(u, &n->arg[0])) < 0 ||
	    (n->arg[0]->type->kind == TY_ARRAY && n->arg[0]->type->size == 0 && (rc = decay(u, &n->arg[0])) < 0))
		return rc;
	const struct d_type *t = n->arg[0]->type;
	if (t->kind == TY_VOID)
		return d_fail(u, n->line, D_TRACE_VOID, "trace( ) may not be applied to a void expression");
	if ((t->kind == TY_FLOAT || ty_is_sou(t) || t->kind == TY_ARRAY) && !has_bytes(n->arg[0]))
		return d_fail(u, n->line, D_UNSUPPORTED, "trace( ) of a value of type %s is not supported yet",
			      type_name(u, t));
	s->arg = n->arg;
	s->narg = 1;
	return 0;
}

/* Actions whose arguments have letters, as those of subroutines. */
static int cook_plain_action(struct d_unit *u, struct d_stmt *s, struct d_node *n)
{
	int rc = check_call(u, n);
	for (unsigned i = 0; i < n->narg && rc == 0; i++)
		rc = sub_arg(u, n, i);
	s->arg = n->arg;
	s->narg = n->narg;
	return rc;
}

/* Tags of clear, trunc, normalize, denormalize: each has its own. */
static const struct agg_tags {
	uint8_t call, aggarg, aggbad;
} agg_tags[] = {
	{ CALL_clear, D_CLEAR_AGGARG, D_CLEAR_AGGBAD },
	{ CALL_trunc, D_TRUNC_AGGARG, D_TRUNC_AGGBAD },
	{ CALL_normalize, D_NORMALIZE_AGGARG, D_NORMALIZE_AGGBAD },
	{ CALL_denormalize, D_NORMALIZE_AGGARG, D_NORMALIZE_AGGBAD },
};

int agg_arg(struct d_unit *u, struct d_stmt *s, const struct d_node *call, unsigned i, enum d_tag badarg,
	    enum d_tag undefined)
{
	struct d_node *a = call->arg[i];
	if (a->kind != N_AGG) {
		int rc = call_is_void(a) ? 0 : cook_data(u, &call->arg[i]);
		if (rc < 0)
			return rc;
		return d_fail(
			u, call->line, badarg,
			"%s( ) argument #%u is incompatible with prototype:\n\tprototype: aggregation\n\t argument: %s",
			d_calls[call->call].name, i + 1, call_shown_argument(u, call->arg[i]));
	}
	if (!a->sym->has_fn)
		return d_fail(u, call->line, undefined, "undefined aggregation: @%s%s", a->str,
			      near_aggregation(u, a->str));
	uint32_t cap = s->naggs; /* full, so that it grows; lists are short */
	return D_PUSH(u, s->aggs, s->naggs, cap, a->sym);
}

static int cook_agg_action(struct d_unit *u, struct d_stmt *s, struct d_node *n)
{
	const struct agg_tags *t = agg_tags;
	while (t->call != n->call)
		t++;
	int rc = check_call(u, n);
	if (rc < 0 || (rc = agg_arg(u, s, n, 0, t->aggarg, t->aggbad)) < 0 || n->narg < 2)
		return rc;
	if (n->arg[1]->kind == N_AGG || call_is_void(n->arg[1]))
		return bad_arg(u, n, 1, "scalar", n->arg[1]);
	if ((rc = cook_value(u, &n->arg[1])) < 0)
		return rc;
	if (!ty_is_scalar(n->arg[1]->type))
		return bad_arg(u, n, 1, "scalar", n->arg[1]);
	s->arg = &n->arg[1];
	s->narg = 1;
	return convert(u, &s->arg[0], u->base[n->arg[1]->type->is_signed ? B_LONG : B_ULONG]);
}

/* panic() and breakpoint() */
static int cook_impossible_action(struct d_unit *u, const struct d_node *n)
{
	int rc = check_call(u, n);
	return rc < 0 ? rc :
			d_fail(u, n->line, D_UNKNOWN,
			       "%s() is not supported on Linux: a BPF program cannot stop the kernel",
			       d_calls[n->call].name);
}

static int cook_machine_action(struct d_unit *u, struct d_stmt *s, struct d_node *n)
{
	if (u->env.no_process)
		return d_fail(u, n->line, D_UNSUPPORTED,
			      "%s( ) needs the kernel: here is no process and no time that passes",
			      d_calls[n->call].name);
	return cook_plain_action(u, s, n);
}

static int cook_action(struct d_unit *u, struct d_stmt *s)
{
	struct d_node *n = s->expr;
	const struct d_callrow *row = &d_calls[n->call];
	int rc;
	if (row->cls == CC_STACK || row->cls == CC_SYM) {
		s->act = row->cls == CC_SYM ? ACT_SYM : row->code;
		s->arg = &s->expr;
		s->narg = 1;
		rc = action_order(u, s->act, n->line);
		return rc < 0 ? rc : cook_data(u, &s->expr);
	}
	s->act = row->code;
	if ((rc = action_order(u, s->act, n->line)) < 0)
		return rc;
	switch (s->act) {
	case ACT_TRACE:
		return cook_trace(u, s, n);
	case ACT_PRINTF:
	case ACT_SYSTEM:
		return cook_printf(u, s, n);
	case ACT_FREOPEN:
		return cook_freopen(u, s, n);
	case ACT_PRINT:
		return cook_print(u, s, n);
	case ACT_PCAP:
		return cook_pcap(u, s, n);
	case ACT_TRACEMEM:
		return cook_tracemem(u, s, n);
	case ACT_PRINTA:
		return cook_printa(u, s, n);
	case ACT_BREAKPOINT:
	case ACT_PANIC:
		return cook_impossible_action(u, n);
	case ACT_CHILL:
	case ACT_RAISE:
	case ACT_STOP:
		return cook_machine_action(u, s, n);
	case ACT_CLEAR:
	case ACT_TRUNC:
	case ACT_NORMALIZE:
	case ACT_DENORMALIZE:
		return cook_agg_action(u, s, n);
	default:
		return cook_plain_action(u, s, n);
	}
}

static int cook_aggregation(struct d_unit *u, struct d_stmt *s)
{
	struct d_sym *a = s->agg;
	if (a->keys == NULL && s->nkeys != 0 && a->fn_line == 0) {
		a->keys = arena_alloc(&u->arena, s->nkeys * sizeof(*a->keys));
		if (a->keys == NULL)
			return d_nomem(u);
		a->nkeys = s->nkeys;
	}
	int rc = action_order_aggregation(u, s->line);
	if (rc == 0)
		rc = cook_keys(u, a, s->key, s->nkeys, s->line);
	return rc < 0 ? rc : cook_aggfn(u, s, s->expr);
}

int cook_statements(struct d_unit *u, struct d_stmt *s)
{
	int rc = 0;
	for (; s != NULL && rc == 0; s = s->next) {
		u->header = s->header;
		rc = cook_statement(u, s);
	}
	return rc;
}

/* if: its expression is a predicate's. */
static int cook_conditional(struct d_unit *u, struct d_stmt *s)
{
	int rc = cook_value(u, &s->expr);
	if (rc < 0 || (rc = decay(u, &s->expr)) < 0)
		return rc;
	cook_tell_leaf(u, ty_is_scalar(s->expr->type) ? NULL : s->expr);
	if (!ty_is_scalar(s->expr->type))
		return d_fail(u, s->line, D_OP_SCALAR, "if requires an expression of scalar type");
	const uint8_t before = u->order;
	if ((rc = cook_statements(u, s->then)) < 0)
		return rc;
	const uint8_t then = u->order;
	u->order = before;
	rc = cook_statements(u, s->other);
	u->order |= then;
	return rc;
}

int cook_statement(struct d_unit *u, struct d_stmt *s)
{
	const struct d_node *call = s->expr;
	int rc;
	switch (s->kind) {
	case ST_IF:
		return cook_conditional(u, s);
	case ST_AGG:
		rc = cook_aggregation(u, s);
		return rc < 0 ? cook_tell_operands(u, call, rc) : 0;
	case ST_ACT:
		rc = cook_action(u, s);
		return rc < 0 ? cook_tell_operands(u, call, rc) : 0;
	default:
		return cook(u, &s->expr);
	}
}
