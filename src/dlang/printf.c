/*
 * printf.c: the arguments of printf() and printa() against their format.
 *
 * facts/format takes the string apart; here each conversion meets its argument, or in printa()
 * its element of the tuple.  Stars take an int first.  An integer printed as a symbol
 * (%a, %A) is recorded as one, so that the reader needs no second look at the format; so is what sym()
 * and its kin name without their offset, since these conversions show it.  printa()'s keys are shared
 * by formats: there the reader looks.
 */
#include "dlang/parse_int.h"
#include "dlang/type_int.h"

#include <string.h>

/* walking a call's arguments */
struct args {
	struct d_unit *u;
	struct d_stmt *s;
	struct d_node *call;
	const char *name; /* printf, printa, system ... */
	unsigned conv;    /* number of the conversion, from 1 */
};

/* As dtrace(1): what is wrong with an argument is told before that. */
static int printf_refuse_format(const struct args *g, const struct err *e)
{
	int rc = 0;
	for (uint32_t i = 1; i < g->call->narg && rc == 0; i++)
		if (!call_is_void(g->call->arg[i]) && g->call->arg[i]->kind != N_AGG)
			rc = cook_value(g->u, &g->call->arg[i]);
	return rc < 0 ? rc : d_fail(g->u, g->call->line, D_SYNTAX, "%s", e->text);
}

static int parse_format(struct args *g)
{
	struct d_node *f = g->call->arg[0];
	struct err e = { 0 };
	if (f->kind != N_STR) {
		int rc = cook_value(g->u, &g->call->arg[0]);
		if (rc < 0)
			return rc;
		f = g->call->arg[0];
		bool string = ty_is_strcompat(f->type);
		return d_fail(g->u, g->call->line, string ? D_PRINTF_ARG_FMT : D_PROTO_ARG,
			      "%s( ) argument #1 is incompatible with prototype:\n\tprototype: %s\n\t argument: %s",
			      g->name, string ? "string constant" : "string", type_name(g->u, f->type));
	}
	if (f->len == 0)
		return d_fail(g->u, g->call->line, D_PRINTF_FMT_EMPTY, "%s( ) format string is empty", g->name);
	g->s->fmt_text = f->str;
	int rc = fmt_parse(&g->u->arena, f->str, f->len, &g->s->fmt, &e);
	if (rc == -TALLY_ENOMEM)
		return d_nomem(g->u);
	return rc < 0 ? printf_refuse_format(g, &e) : 0;
}

/* ---- one value ----------------------------------------------------------- */

static bool value_fits(const struct fmt_spec *f, const struct d_type *t)
{
	switch (f->arg) {
	case FMT_INT:
		return ty_is_int(t) || (f->conv == 'p' && (t->kind == TY_PTR || t->kind == TY_SYM));
	case FMT_STRING:
		return t->kind == TY_STRING || ty_is_char_array(t) || t->kind == TY_SYM;
	case FMT_ADDR:
		return ty_is_scalar(t) || t->kind == TY_SYM;
	case FMT_STACK:
		return t->kind == TY_STACK;
	case FMT_FLOAT:
		return t->kind == TY_FLOAT;
	default:
		return false;
	}
}

static int printf_refuse(const struct args *g, const struct fmt_spec *f, unsigned number, const char *what)
{
	const struct fmt_conv *c = fmt_conv_find(f->conv);
	return d_fail(g->u, g->call->line, D_PRINTF_ARG_TYPE,
		      "%s( ) argument #%u is incompatible with conversion #%u prototype:\n\tconversion: %%%c\n"
		      "\t prototype: %s\n\t  argument: %s",
		      g->name, number, g->conv, f->conv, c != NULL ? c->proto : "?", what);
}

static int printf_refuse_misfit(const struct args *g, const struct fmt_spec *f, unsigned number, const struct d_type *t)
{
	return printf_refuse(g, f, number, type_name(g->u, t));
}

static int printf_refuse_missing(const struct args *g, const struct fmt_spec *f, const char *star)
{
	if (star != NULL)
		return d_fail(g->u, g->call->line, D_PRINTF_DYN_PROTO,
			      "%s( ) prototype mismatch: conversion #%u (%%%c) is missing "
			      "a corresponding \"%s\" argument",
			      g->name, g->conv, f->conv, star);
	return d_fail(g->u, g->call->line, D_PRINTF_ARG_PROTO,
		      "%s( ) prototype mismatch: conversion #%u (%%%c) is missing a "
		      "corresponding value argument",
		      g->name, g->conv, f->conv);
}

/* ---- printf -------------------------------------------------------------- */

static int star_arg(const struct args *g, const struct fmt_spec *f, unsigned *i, const char *star)
{
	struct d_node **arg = &g->call->arg[*i];
	if (*i >= g->call->narg)
		return printf_refuse_missing(g, f, star);
	int rc = cook_value(g->u, arg);
	if (rc < 0)
		return rc;
	if (!ty_is_int((*arg)->type))
		return d_fail(
			g->u, g->call->line, D_PRINTF_DYN_TYPE,
			"%s( ) argument #%u is incompatible with conversion #%u prototype:\n\tconversion: %% %s %c\n"
			"\t prototype: int\n\t  argument: %s",
			g->name, *i + 1, g->conv, star, f->conv, type_name(g->u, (*arg)->type));
	++*i;
	return convert(g->u, arg, g->u->base[B_INT]);
}

static bool is_symbol(const struct d_type *t)
{
	return t->sym == SLOT_KSYM || t->sym == SLOT_KFUNC || t->sym == SLOT_USYM || t->sym == SLOT_UFUNC;
}

/* mod(), umod() and uline() stay what they are. */
static int address_arg(struct d_unit *u, const struct fmt_spec *f, struct d_node **arg)
{
	const struct d_type *t = (*arg)->type;
	if (t->kind != TY_SYM)
		return wrap_sym(u, arg, f->conv == 'A' ? SLOT_UADDR : SLOT_KADDR);
	if (is_symbol(t))
		(*arg)->type = type_sym(u, t->sym >= SLOT_UADDR ? SLOT_UADDR : SLOT_KADDR);
	return (*arg)->type == NULL ? -TALLY_ENOMEM : 0;
}

static int value_arg(const struct args *g, const struct fmt_spec *f, unsigned *i)
{
	struct d_node **arg = &g->call->arg[*i];
	if (*i >= g->call->narg)
		return printf_refuse_missing(g, f, NULL);
	if (call_is_void(*arg))
		return printf_refuse(g, f, *i + 1, "void");
	if ((*arg)->kind == N_AGG)
		return printf_refuse(g, f, *i + 1, "aggregation");
	int rc = cook_data(g->u, arg);
	if (rc < 0)
		return rc;
	++*i;
	if (f->arg != FMT_STRING && (rc = decay(g->u, arg)) < 0)
		return rc;
	if (!value_fits(f, (*arg)->type))
		return printf_refuse_misfit(g, f, *i, (*arg)->type);
	if (f->arg == FMT_STRING && (*arg)->type->kind == TY_ARRAY)
		return to_string(g->u, arg);
	return f->arg == FMT_ADDR ? address_arg(g->u, f, arg) : 0;
}

static int printf_check_conversion(const struct args *g, const struct fmt_spec *f, unsigned *i)
{
	int rc = 0;
	if (f->width_star)
		rc = star_arg(g, f, i, "*");
	if (rc == 0 && f->prec_star)
		rc = star_arg(g, f, i, ".*");
	if (rc < 0)
		return rc;
	if (f->agg)
		return d_fail(g->u, g->call->line, D_PRINTF_AGG_CONV,
			      "%%@ conversion requires an aggregation and is not for use "
			      "with %s( )",
			      g->name);
	return value_arg(g, f, i);
}

static bool takes_value(const struct fmt_spec *f)
{
	return f->conv != '\0' && f->conv != '%';
}

int cook_printf(struct d_unit *u, struct d_stmt *s, struct d_node *call)
{
	struct args g = { u, s, call, d_calls[call->call].name, 0 };
	unsigned next = 1;
	int rc = check_call(u, call);
	if (rc < 0 || (rc = parse_format(&g)) < 0)
		return rc;
	for (uint32_t i = 0; i < s->fmt.n; i++) {
		g.conv = i + 1;
		if (takes_value(&s->fmt.spec[i]) && (rc = printf_check_conversion(&g, &s->fmt.spec[i], &next)) < 0)
			return rc;
	}
	if (next < call->narg)
		return d_fail(u, call->line, D_PRINTF_ARG_EXTRA,
			      "%s( ) prototype mismatch: only %u arguments required by this "
			      "format string",
			      g.name, next - 1);
	s->arg = call->arg + 1;
	s->narg = call->narg - 1;
	return 0;
}

/* ---- printa -------------------------------------------------------------- */

static int same_keys(struct d_unit *u, uint32_t line, const struct d_sym *a, const struct d_sym *b)
{
	if (a->nkeys != b->nkeys)
		return d_fail(u, line, D_PRINTA_AGGKEY,
			      "printa( ): @%s and @%s do not have matching key signatures: @%s has %u "
			      "key%s, @%s has %u key%s",
			      a->name, b->name, a->name, a->nkeys, a->nkeys == 1 ? "" : "s", b->name, b->nkeys,
			      b->nkeys == 1 ? "" : "s");
	for (uint32_t i = 0; i < a->nkeys; i++) {
		const struct d_type *x = a->keys[i], *y = b->keys[i];
		if (!types_same(x, y) && !(ty_is_int(x) && ty_is_int(y)))
			return d_fail(
				u, line, D_PRINTA_AGGPROTO,
				"printa( ): @%s[ ] key #%u is incompatible with @%s:\n%9s key #%u: %s\n%9s key #%u: %s",
				b->name, i + 1, a->name, a->name, i + 1, type_name(u, x), b->name, i + 1,
				type_name(u, y));
	}
	return 0;
}

/* Conversions take the elements of the tuple in order; %@ the value. */
static int printa_format(struct args *g)
{
	const struct d_sym *a = g->s->aggs[0];
	unsigned key = 0;
	for (uint32_t i = 0; i < g->s->fmt.n; i++) {
		const struct fmt_spec *f = &g->s->fmt.spec[i];
		g->conv = i + 1;
		if (!takes_value(f))
			continue;
		if (f->width_star || f->prec_star)
			return printf_refuse_missing(g, f, f->width_star ? "*" : ".*");
		if (f->agg && f->arg != FMT_INT)
			return printf_refuse_misfit(g, f, 2, g->u->base[B_LONG]);
		if (f->agg)
			continue;
		if (key >= a->nkeys)
			return printf_refuse_missing(g, f, NULL);
		if (!value_fits(f, a->keys[key++]))
			return printf_refuse_misfit(g, f, key, a->keys[key - 1]);
		if (f->arg == FMT_ADDR)
			*(f->conv == 'A' ? &g->u->uses_user_symbols : &g->u->uses_kernel_symbols) = true;
	}
	return 0;
}

int cook_printa(struct d_unit *u, struct d_stmt *s, struct d_node *call)
{
	struct args g = { u, s, call, "printa", 0 };
	int rc = check_call(u, call);
	unsigned first;
	if (rc < 0)
		return rc;
	first = call->arg[0]->kind == N_STR;
	if (call->narg <= first)
		return d_fail(u, call->line, D_PRINTA_PROTO,
			      "printa( ) prototype mismatch: %u args passed, %u expected", call->narg, first + 1);
	for (unsigned i = first; i < call->narg && rc == 0; i++) {
		rc = agg_arg(u, s, call, i, D_PRINTA_AGGARG, D_PRINTA_AGGBAD);
		if (rc == 0)
			rc = same_keys(u, call->line, s->aggs[0], s->aggs[s->naggs - 1]);
	}
	if (rc < 0 || !first)
		return rc;
	return (rc = parse_format(&g)) < 0 ? rc : printa_format(&g);
}
