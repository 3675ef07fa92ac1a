/*
 * action.c: rules about the order of actions in a clause.
 *
 * speculate() sends the records of the rest of the clause to a buffer, which commit() or discard() may empty at any
 * time. So speculate() and commit() may not follow a recording action, no recording action may follow commit(), and
 * no destructive action or exit() may follow speculate(). Source: DTrace Guide, "Speculative Tracing"; the words are
 * dtrace(1)'s. Both arms of an if are alternatives: an action in one arm does not follow an action in the other.
 */
#include <string.h>

#include "dlang/decl_int.h"
#include "dlang/parse_int.h"
#include "dlang/type_int.h"

enum { ORDER_RECORDED = 1, ORDER_SPECULATED = 2, ORDER_COMMITTED = 4 };

static int order_fail(struct d_unit *u, uint32_t line, enum d_tag tag, const char *who, const char *behind)
{
	return d_fail(u, line, tag, "%s may not follow %s", who, behind);
}

/* Actions that change more than what is printed: only with -w. */
bool action_is_destructive(uint8_t kind)
{
	switch (kind) {
	case ACT_CHILL:
	case ACT_RAISE:
	case ACT_STOP:
	case ACT_SYSTEM:
	case ACT_FREOPEN:
	case ACT_BREAKPOINT:
	case ACT_PANIC:
		return true;
	default:
		return false;
	}
}

/* Whether an action only does something while the program runs, or afterwards to what others recorded. */
static bool action_records_nothing(uint8_t kind)
{
	return kind == ACT_DISCARD || action_is_destructive(kind);
}

static int order_commit(struct d_unit *u, uint32_t line)
{
	if (u->order & ORDER_COMMITTED)
		return order_fail(u, line, D_COMM_COMM, "commit( )", "commit( )");
	if (u->order & ORDER_RECORDED)
		return order_fail(u, line, D_COMM_DREC, "commit( )", "data-recording action(s)");
	u->order |= ORDER_COMMITTED;
	return 0;
}

static int order_speculate(struct d_unit *u, uint32_t line)
{
	if (u->order & ORDER_SPECULATED)
		return order_fail(u, line, D_SPEC_SPEC, "speculate( )", "speculate( )");
	if (u->order & ORDER_COMMITTED)
		return order_fail(u, line, D_SPEC_COMM, "speculate( )", "commit( )");
	if (u->order & ORDER_RECORDED)
		return order_fail(u, line, D_SPEC_DREC, "speculate( )", "data-recording action(s)");
	u->order |= ORDER_SPECULATED;
	return 0;
}

static int order_check(struct d_unit *u, uint8_t kind, uint32_t line)
{
	if (kind == ACT_COMMIT)
		return order_commit(u, line);
	if (kind == ACT_SPECULATE)
		return order_speculate(u, line);
	if (u->order & ORDER_SPECULATED && action_is_destructive(kind))
		return order_fail(u, line, D_ACT_SPEC, "destructive actions", "speculate( )");
	if (u->order & ORDER_SPECULATED && kind == ACT_EXIT)
		return order_fail(u, line, D_EXIT_SPEC, "exit( )", "speculate( )");
	if (action_records_nothing(kind))
		return 0;
	if (u->order & ORDER_COMMITTED)
		return order_fail(u, line, D_DREC_COMM, "data-recording actions", "commit( )");
	if (!(u->order & ORDER_SPECULATED))
		u->order |= ORDER_RECORDED;
	return 0;
}

int action_order(struct d_unit *u, uint8_t kind, uint32_t line)
{
	int rc = order_check(u, kind, line);

	if (rc < 0)
		return rc;
	u->destructive |= action_is_destructive(kind);
	return 0;
}

int action_order_subroutine(struct d_unit *u, uint8_t call, uint32_t line)
{
	if (u->order & ORDER_SPECULATED && (call == CALL_copyout || call == CALL_copyoutstr))
		return order_fail(u, line, D_ACT_SPEC, "destructive actions", "speculate( )");
	return 0;
}

int action_order_aggregation(struct d_unit *u, uint32_t line)
{
	if (u->order & ORDER_COMMITTED)
		return order_fail(u, line, D_AGG_COMM, "aggregating actions", "commit( )");
	if (u->order & ORDER_SPECULATED)
		return order_fail(u, line, D_AGG_SPEC, "aggregating actions", "speculate( )");
	u->order |= ORDER_RECORDED;
	return 0;
}

/* ---- tracemem(), pcap() and freopen() ---------------------------------------------- */

#define TRACEMEM_MOST 16384u /* bytes: half of what a record may be */

/* tracemem(address, bytes, how many): the bytes there are a place of an array's type. */
int cook_tracemem(struct d_unit *u, struct d_stmt *s, struct d_node *n)
{
	const struct d_type *chars;
	struct d_node *at;
	int rc = check_call(u, n);

	for (uint32_t i = 0; i < n->narg && rc == 0; i++)
		if (n->arg[i]->kind == N_AGG || call_is_void(n->arg[i]))
			rc = d_fail(u, n->line, i == 1 ? D_TRACEMEM_SIZE : D_TRACEMEM_ADDR,
				    "tracemem( ) argument #%u has no value", i + 1);
		else if ((rc = cook_value(u, &n->arg[i])) == 0)
			rc = decay(u, &n->arg[i]);
	if (rc < 0)
		return rc;
	if (!ty_is_scalar(n->arg[0]->type))
		return d_fail(u, n->line, D_TRACEMEM_ADDR,
			      "tracemem( ) argument #1 is incompatible with prototype:\n\tprototype: pointer or "
			      "integer\n\t argument: %s",
			      type_name(u, n->arg[0]->type));
	if (n->arg[1]->kind != N_INT || !ty_is_int(n->arg[1]->type) || n->arg[1]->ival <= 0)
		return d_fail(u, n->line, D_TRACEMEM_SIZE,
			      "tracemem( ) argument #2 must be a non-zero positive integral constant expression");
	if (n->arg[1]->ival > TRACEMEM_MOST)
		return d_fail(u, n->line, D_TRACEMEM_SIZE,
			      "tracemem( ) argument #2 is %lld, and at most %u bytes can be traced",
			      (long long)n->arg[1]->ival, TRACEMEM_MOST);
	if (n->narg == 3 && !ty_is_int(n->arg[2]->type))
		return d_fail(
			u, n->line, D_PROTO_ARG,
			"tracemem( ) argument #3 is incompatible with prototype:\n\tprototype: int\n\t argument: %s",
			type_name(u, n->arg[2]->type));
	chars = type_array(u, u->base[B_CHAR], (uint32_t)n->arg[1]->ival);
	at = node_new(u, N_DEREF, n->line);
	if (chars == NULL || at == NULL)
		return -TALLY_ENOMEM;
	at->a = n->arg[0];
	at->type = chars;
	if (at->a->type->kind != TY_PTR && (rc = convert(u, &at->a, u->base[B_VOIDPTR])) < 0)
		return rc;
	if (n->narg == 3 && (rc = convert(u, &n->arg[2], u->base[B_LONG])) < 0)
		return rc;
	n->arg[1] = at;
	if (n->narg == 3)
		n->arg[0] = n->arg[1], n->arg[1] = n->arg[2];
	s->arg = n->narg == 3 ? n->arg : n->arg + 1;
	s->narg = n->narg - 1;
	return 0;
}

static int action_refuse_argument(struct d_unit *u, const struct d_node *call, unsigned i, const char *want,
				  const struct d_node *arg)
{
	return d_fail(u, call->line, D_PROTO_ARG,
		      "%s( ) argument #%u is incompatible with prototype:\n\tprototype: %s\n\t argument: %s",
		      d_calls[call->call].name, i + 1, want, type_name(u, arg->type));
}

/* A member of the socket buffer to which the first argument leads. */
static struct d_node *pcap_member(struct d_unit *u, const struct d_node *call, const char *name)
{
	struct d_node *member = node_new(u, N_ARROW, call->line), *cast = node_new(u, N_CAST, call->line);
	const struct d_type *skb = type_tagged(u, TY_STRUCT, "sk_buff");

	if (member == NULL || cast == NULL || skb == NULL || (cast->type = type_ptr(u, skb)) == NULL ||
	    (cast->a = node_clone(u, call->arg[0], NULL)) == NULL)
		return NULL;
	member->a = cast;
	member->str = name;
	return member;
}

/* pcap(packet, link type): the slots that ACT_PCAP has. What is taken of a packet lies in one piece from `data` on: all
 * but data_len bytes. */
int cook_pcap(struct d_unit *u, struct d_stmt *s, struct d_node *n)
{
	enum { TIME, LINK, LENGTH, TAKEN, BYTES, NARGS };
	const uint32_t size = u->env.pcapsize != 0 ? u->env.pcapsize : D_PCAP_USUAL;
	struct d_node **arg = arena_alloc(&u->arena, NARGS * sizeof(*arg)), *packet;
	int rc = check_call(u, n);

	if (rc < 0)
		return rc;
	if (u->env.ktypes == NULL)
		return d_fail(u, n->line, D_UNSUPPORTED,
			      "pcap( ) takes a packet of a kernel: there is none where this runs");
	if (arg == NULL || (arg[TIME] = node_new(u, N_IDENT, n->line)) == NULL ||
	    (arg[LENGTH] = pcap_member(u, n, "len")) == NULL || (arg[TAKEN] = node_new(u, N_BIN, n->line)) == NULL ||
	    (arg[TAKEN]->a = pcap_member(u, n, "len")) == NULL ||
	    (arg[TAKEN]->b = pcap_member(u, n, "data_len")) == NULL ||
	    (arg[BYTES] = node_new(u, N_DEREF, n->line)) == NULL || (arg[BYTES]->a = pcap_member(u, n, "data")) == NULL)
		return d_nomem(u);
	arg[TIME]->str = "walltimestamp";
	arg[LINK] = n->arg[1];
	arg[TAKEN]->op = OP_SUB;
	packet = n->arg[0];
	if ((rc = cook_value(u, &packet)) < 0 || (rc = decay(u, &packet)) < 0 || (rc = cook_value(u, &arg[LINK])) < 0 ||
	    (rc = bind_expression(u, arg[TIME])) < 0)
		return rc;
	if (!ty_is_scalar(packet->type))
		return action_refuse_argument(u, n, 0, "struct sk_buff *", packet);
	if (!ty_is_int(arg[LINK]->type))
		return action_refuse_argument(u, n, 1, "int", arg[LINK]);
	for (int i = TIME; i < BYTES; i++)
		if ((i != LINK && (rc = cook_value(u, &arg[i])) < 0) || (rc = convert(u, &arg[i], u->base[B_LONG])) < 0)
			return rc;
	if ((rc = cook_value(u, &arg[BYTES]->a)) < 0)
		return rc;
	arg[BYTES]->type = type_array(u, u->base[B_CHAR], size);
	s->arg = arg;
	s->narg = NARGS;
	return arg[BYTES]->type != NULL ? 0 : d_nomem(u);
}

/* The bytes to which a pointer leads: as many as a record may have. */
static struct d_node *print_target(struct d_unit *u, struct d_node *pointer)
{
	const struct d_type *to = pointer->type->to;
	struct d_node *at = node_new(u, N_DEREF, pointer->line);

	if (at == NULL)
		return NULL;
	at->a = pointer;
	at->type = to->size <= TRACEMEM_MOST ? to : type_array(u, u->base[B_CHAR], TRACEMEM_MOST);
	return at->type != NULL ? at : NULL;
}

/* A translated pointer is shown as the struct that it is translated to. */
static int cook_print_argument(struct d_unit *u, struct d_node **np)
{
	struct d_node *n = *np;

	if (n->kind == N_XLATE && n->ty_arg->kind == TY_PTR)
		n->ty_arg = n->ty_arg->to;
	return cook(u, np);
}

/* print(x): a pointer is followed once, if what it leads to has a size. */
int cook_print(struct d_unit *u, struct d_stmt *s, struct d_node *n)
{
	const struct d_type *t;
	int rc = check_call(u, n);

	if (rc < 0)
		return rc;
	if (n->arg[0]->kind == N_AGG || call_is_void(n->arg[0]))
		return d_fail(u, n->line, D_PROTO_ARG, "print( ) may not be applied to what has no value");
	if ((rc = cook_print_argument(u, &n->arg[0])) < 0)
		return rc;
	t = n->arg[0]->type;
	if (t->kind == TY_PTR && ty_is_sou(t->to) && (rc = type_complete(u, t->to)) < 0)
		return rc;
	if (t->kind == TY_PTR && t->translated)
		return xlate_refuse_kept(u, n->line);
	const bool follow = t->kind == TY_PTR && t->to->kind != TY_VOID && t->to->kind != TY_FUNC;
	if (t->kind == TY_VOID || (follow && t->to->size == 0) ||
	    ((ty_is_sou(t) || t->kind == TY_ARRAY || t->kind == TY_FLOAT) && !has_bytes(n->arg[0])))
		return d_fail(u, n->line, D_PRINT_SIZE,
			      "print( ) argument #1 is of type %s, which has no size that can be printed",
			      type_name(u, t));
	s->arg = arena_alloc(&u->arena, 2 * sizeof(struct d_node *));
	s->shape = shape_of(u, follow ? t->to : t);
	if (s->arg == NULL || s->shape == NULL)
		return d_nomem(u);
	s->arg[0] = n->arg[0];
	s->narg = 1;
	if (!follow)
		return 0;
	if (n->arg[0]->kind != N_VAR && n->arg[0]->kind != N_BUILTIN &&
	    (rc = assign_hidden(u, &s->arg[0], &n->arg[0])) < 0) /* shown and followed, computed once */
		return rc;
	s->arg[1] = print_target(u, n->arg[0]);
	s->narg = 2;
	return s->arg[1] != NULL ? 0 : d_nomem(u);
}

int cook_freopen(struct d_unit *u, struct d_stmt *s, struct d_node *n)
{
	/* "" is the file in the beginning: here alone a format may be empty */
	bool back = n->narg == 1 && n->arg[0]->kind == N_STR && n->arg[0]->len == 0;

	if (back)
		return 0;
	if (n->narg != 0 && n->arg[0]->kind == N_STR &&
	    (strcmp(n->arg[0]->str, ".") == 0 || strcmp(n->arg[0]->str, "..") == 0))
		return d_fail(u, n->line, D_FREOPEN_INVALID, "freopen( ) argument #1 cannot be \"%s\"", n->arg[0]->str);
	return cook_printf(u, s, n);
}
