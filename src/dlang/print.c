/*
 * print.c: the tree as text (--dump=parse, bind, type): S-expressions, a statement a
 * line, each node with its type once it has one.  For people and for goldens.
 */
#include "dlang/type_int.h"

#include <ctype.h>
#include <inttypes.h>
#include <string.h>

static const char *const kind_names[N_NKINDS] = {
	[N_INT] = "int",       [N_STR] = "str",         [N_IDENT] = "ident",   [N_SYMBOL] = "symbol",
	[N_VAR] = "var",       [N_BUILTIN] = "builtin", [N_XLATE] = "xlate",   [N_STRBUILTIN] = "builtin",
	[N_ARGS] = "args",     [N_AGG] = "agg",         [N_UN] = "un",         [N_BIN] = "bin",
	[N_ASSIGN] = "assign", [N_INCDEC] = "incdec",   [N_COND] = "?:",       [N_COMMA] = ",",
	[N_CAST] = "cast",     [N_MEMBER] = "member",   [N_ARROW] = "arrow",   [N_DEREF] = "deref",
	[N_ADDR] = "addr",     [N_INDEX] = "index",     [N_SIZEOF] = "sizeof", [N_OFFSETOF] = "offsetof",
	[N_CALL] = "call",     [N_STACKFN] = "stackfn", [N_SYMFN] = "symfn",
};
static const char *const scopes[] = { [SCOPE_NONE] = "", [SCOPE_THIS] = "this->", [SCOPE_SELF] = "self->" };
static const char *const sym_scopes[] = {
	[SYM_GLOBAL] = "", [SYM_THIS] = "this->", [SYM_SELF] = "self->", [SYM_ASSOC] = "", [SYM_AGG] = "@",
};

/* names of codes that bind put into ival */
static const struct {
	uint8_t kind, code;
	const char *name;
} builtin_names[] = {
#define BC_INT N_BUILTIN
#define BC_WORD N_NKINDS
#define BC_STR N_STRBUILTIN
#define BC_ARRAY N_NKINDS
#define BC_KERNEL N_BUILTIN
#define BC_LIBRARY N_NKINDS
#define BC_LATER N_NKINDS
#define BUILTIN(name, class, type, code) { BC_##class, code, #name },
#include "dlang/builtin.def"
#undef BUILTIN
};

static void print_type(const struct d_type *t, struct buf *to, unsigned depth)
{
	if (t->kind == TY_STRING)
		buf_printf(to, "string%" PRIu32, t->size);
	else if (t->kind == TY_STACK)
		buf_printf(to, "%s%u", t->name, t->frames);
	else if (t->name != NULL)
		buf_puts(to, t->name);
	else if (t->to != NULL && depth > 0)
		print_type(t->to, to, depth - 1);
	if (t->name == NULL && t->kind == TY_PTR)
		buf_putc(to, '*');
	else if (t->name == NULL && t->kind == TY_ARRAY)
		buf_printf(to, "[%" PRIu32 "]", t->n);
}

static void print_string(const char *s, uint32_t n, struct buf *to)
{
	buf_putc(to, '"');
	for (uint32_t i = 0; i < n; i++) {
		unsigned char c = (unsigned char)s[i];
		if (c == '"' || c == '\\')
			buf_printf(to, "\\%c", c);
		else if (isprint(c))
			buf_putc(to, (char)c);
		else
			buf_printf(to, "\\x%02x", c);
	}
	buf_putc(to, '"');
}

static void print_builtin(const struct d_node *n, struct buf *to)
{
	for (size_t i = 0; i < COUNT(builtin_names); i++)
		if (builtin_names[i].kind == n->kind && builtin_names[i].code == n->ival)
			buf_printf(to, " %s", builtin_names[i].name);
}

/* What stands after the kind, before the operands. */
static void print_head(const struct d_node *n, struct buf *to)
{
	switch (n->kind) {
	case N_INT:
		buf_printf(to, " %" PRId64, n->ival);
		break;
	case N_STR:
		buf_putc(to, ' ');
		print_string(n->str, n->len, to);
		break;
	case N_IDENT:
		buf_printf(to, " %s%s", scopes[n->scope], n->str);
		break;
	case N_VAR:
		buf_printf(to, " %s%s", sym_scopes[n->sym->kind], n->sym->name);
		break;
	case N_BUILTIN:
	case N_STRBUILTIN:
		print_builtin(n, to);
		break;
	case N_AGG:
		buf_printf(to, " @%s", n->str);
		break;
	case N_UN:
	case N_BIN:
	case N_ASSIGN:
	case N_INCDEC:
		buf_printf(to, " %s%s", op_text(n), n->kind == N_INCDEC && !n->pre ? " post" : "");
		break;
	case N_ARGS:
		if (n->type != NULL)
			buf_printf(to, " +%" PRIu32, n->offset);
		break;
	case N_MEMBER:
		if (n->type == NULL)
			buf_printf(to, " .%s", n->str);
		else if (n->bits != 0)
			buf_printf(to, " +%" PRIu32 " bits %u..%u", n->offset, n->bit, n->bit + n->bits - 1);
		else
			buf_printf(to, " +%" PRIu32, n->offset);
		break;
	case N_SYMBOL:
	case N_ARROW:
	case N_CALL:
	case N_OFFSETOF:
		buf_printf(to, " %s", n->str);
		break;
	default:
		break;
	}
}

static void print_node(const struct d_node *n, struct buf *to)
{
	buf_printf(to, "(%s", kind_names[n->kind]);
	print_head(n, to);
	if (n->type != NULL) {
		buf_putc(to, ':');
		print_type(n->type, to, 20);
	}
	const struct d_node *child[] = { n->a, n->b, n->c };
	for (size_t i = 0; i < COUNT(child); i++) {
		if (child[i] != NULL) {
			buf_putc(to, ' ');
			print_node(child[i], to);
		}
	}
	for (uint32_t i = 0; i < n->narg; i++) {
		buf_putc(to, ' ');
		print_node(n->arg[i], to);
	}
	buf_putc(to, ')');
}

static void print_list(const char *word, struct d_node *const *v, uint32_t n, struct buf *to)
{
	if (n == 0)
		return;
	buf_printf(to, " (%s", word);
	for (uint32_t i = 0; i < n; i++) {
		buf_putc(to, ' ');
		print_node(v[i], to);
	}
	buf_putc(to, ')');
}

static const char *const act_names[] = {
	[ACT_TRACE] = "trace",
	[ACT_PRINTF] = "printf",
	[ACT_PRINTA] = "printa",
	[ACT_STACK] = "stack",
	[ACT_USTACK] = "ustack",
	[ACT_SYM] = "sym",
	[ACT_PCAP] = "pcap",
	[ACT_EXIT] = "exit",
	[ACT_CLEAR] = "clear",
	[ACT_TRUNC] = "trunc",
	[ACT_NORMALIZE] = "normalize",
	[ACT_DENORMALIZE] = "denormalize",
	[ACT_COMMIT] = "commit",
	[ACT_DISCARD] = "discard",
	[ACT_TRACEMEM] = "tracemem",
	[ACT_PRINT] = "print",
	[ACT_SYSTEM] = "system",
	[ACT_FREOPEN] = "freopen",
	[ACT_FTRUNCATE] = "ftruncate",
	[ACT_SETOPT] = "setopt",
	[ACT_SPECULATE] = "speculate",
	[ACT_CHILL] = "chill",
	[ACT_RAISE] = "raise",
	[ACT_STOP] = "stop",
	[ACT_BREAKPOINT] = "breakpoint",
	[ACT_PANIC] = "panic",
};

static void print_action(const struct d_stmt *s, struct buf *to)
{
	buf_printf(to, "(action %s", act_names[s->act]);
	if (s->fmt_text != NULL) {
		buf_putc(to, ' ');
		print_string(s->fmt_text, (uint32_t)strlen(s->fmt_text), to);
	}
	for (uint32_t i = 0; i < s->naggs; i++)
		buf_printf(to, " @%s", s->aggs[i]->name);
	print_list("args", s->arg, s->narg, to);
	buf_putc(to, ')');
}

static void print_statement(const struct d_stmt *s, struct buf *to);

static void print_arm(const char *word, const struct d_stmt *s, struct buf *to)
{
	if (s != NULL)
		buf_printf(to, "  %s\n", word);
	for (; s != NULL; s = s->next)
		print_statement(s, to);
}

static void print_statement(const struct d_stmt *s, struct buf *to)
{
	buf_printf(to, "  %" PRIu32 ": ", s->line);
	if (s->kind == ST_AGG) {
		buf_printf(to, "(aggregate @%s ", s->agg->name);
		print_node(s->expr, to);
		print_list("keys", s->key, s->nkeys, to);
		print_list("weight", &s->weight, s->weight != NULL, to);
		buf_putc(to, ')');
	} else if (s->kind == ST_IF) {
		buf_puts(to, "if ");
		print_node(s->expr, to);
		buf_putc(to, '\n');
		print_arm("then", s->then, to);
		print_arm("else", s->other, to);
		buf_puts(to, "  end if");
	} else if (s->kind == ST_ACT && (s->narg | s->naggs) != 0) {
		print_action(s, to);
	} else {
		print_node(s->expr, to);
	}
	buf_putc(to, '\n');
}

void d_print(const struct d_unit *u, struct buf *to)
{
	for (const struct d_clausenode *c = u->clauses; c != NULL; c = c->next) {
		buf_printf(to, "clause line %" PRIu32 "%s\n", c->line, c->is_default ? " default" : "");
		for (const struct d_desc *d = c->descs; d != NULL; d = d->next)
			buf_printf(to, "  probe %s:%s:%s:%s\n", d->d.prov, d->d.mod, d->d.func, d->d.name);
		if (c->nprobes != 0)
			buf_puts(to, "  ids");
		for (uint32_t i = 0; i < c->nprobes; i++)
			buf_printf(to, " %" PRIu32, c->probes[i]);
		if (c->nprobes != 0)
			buf_putc(to, '\n');
		if (c->pred != NULL) {
			buf_puts(to, "  predicate ");
			print_node(c->pred, to);
			buf_putc(to, '\n');
		}
		for (const struct d_stmt *s = c->stmts; s != NULL; s = s->next)
			print_statement(s, to);
	}
}
