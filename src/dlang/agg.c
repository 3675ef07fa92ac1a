/*
 * agg.c: aggregating functions and their parameters.
 *
 * An aggregation has one function, one tuple and, for lquantize() and llquantize(), one set of parameters, however
 * many statements feed it. The first statement decides; the others must agree.
 */
#include "dlang/parse_int.h"
#include "dlang/type_int.h"

static const char *fn_name(enum agg_fn fn)
{
	for (unsigned i = 1; i < CALL_N; i++)
		if (d_calls[i].cls == CC_AGG && d_calls[i].code == fn)
			return d_calls[i].name;
	return "?";
}

static int to_word(struct d_unit *u, struct d_node **np, bool *is_signed)
{
	*is_signed = (*np)->type->is_signed;
	return convert(u, np, u->base[*is_signed ? B_LONG : B_ULONG]);
}

/* A scalar of 8 bytes */
static int cook_amount(struct d_unit *u, struct d_node **np, bool *is_signed, enum d_tag tag, const char *fmt,
		       const char *name, unsigned i)
{
	int rc = cook_value(u, np);
	if (rc < 0 || (rc = decay(u, np)) < 0)
		return rc;
	if (!ty_is_scalar((*np)->type))
		return d_fail(u, (*np)->line, tag, fmt, name, i);
	return to_word(u, np, is_signed);
}

static int cook_weight(struct d_unit *u, struct d_stmt *s, struct d_node *call, unsigned i)
{
	bool is_signed;
	if (call->narg <= i)
		return 0;
	s->weight = call->arg[i];
	return cook_amount(u, &s->weight, &is_signed, D_PROTO_ARG,
			   "%s( ) increment value (argument #%u) must be of scalar type", d_calls[call->call].name,
			   i + 1);
}

/* ---- lquantize ----------------------------------------------------------- */

/* a constant parameter */
struct param {
	uint8_t type_tag, value_tag;
	int64_t least, most;
	const char *type_words, *value_words;
};

static int agg_constant_parameter(struct d_unit *u, struct d_node *call, unsigned i, const struct param *p,
				  int64_t *ret)
{
	int rc = cook_value(u, &call->arg[i]);
	if (rc < 0)
		return rc;
	const struct d_node *n = call->arg[i];
	if (n->kind != N_INT || !ty_is_int(n->type))
		return d_fail(u, call->line, p->type_tag, "%s", p->type_words);
	if (n->ival < p->least || n->ival > p->most)
		return d_fail(u, call->line, n->ival < p->least && p->least == 1 ? p->type_tag : p->value_tag, "%s",
			      n->ival < p->least && p->least == 1 ? p->type_words : p->value_words);
	*ret = n->ival;
	return 0;
}

static const struct param lq_params[] = {
	{ D_LQUANT_BASETYPE, D_LQUANT_BASEVAL, INT32_MIN, INT32_MAX,
	  "lquantize( ) argument #1 must be an integer constant",
	  "lquantize( ) argument #1 must be a 32-bit quantity" },
	{ D_LQUANT_LIMTYPE, D_LQUANT_LIMVAL, INT32_MIN, INT32_MAX,
	  "lquantize( ) argument #2 must be an integer constant",
	  "lquantize( ) argument #2 must be a 32-bit quantity" },
	{ D_LQUANT_STEPTYPE, D_LQUANT_STEPVAL, 1, UINT16_MAX,
	  "lquantize( ) argument #3 must be a non-zero positive integer constant",
	  "lquantize( ) argument #3 must be a 16-bit quantity" },
};

static int lq_match(struct d_unit *u, const struct d_stmt *s, const struct lquantize *a, const struct lquantize *b)
{
	if (a->base != b->base)
		return d_fail(u, s->line, D_LQUANT_MATCHBASE,
			      "lquantize( ) base (argument #1) doesn't match previous "
			      "declaration: expected %d, found %d",
			      a->base, b->base);
	if (a->limit != b->limit)
		return d_fail(u, s->line, D_LQUANT_MATCHLIM,
			      "lquantize( ) limit (argument #2) doesn't match previous "
			      "declaration: expected %d, found %d",
			      a->limit, b->limit);
	if (a->step != b->step)
		return d_fail(u, s->line, D_LQUANT_MATCHSTEP,
			      "lquantize( ) step (argument #3) doesn't match previous "
			      "declaration: expected %u, found %u",
			      a->step, b->step);
	return 0;
}

static int cook_lquantize(struct d_unit *u, struct d_stmt *s, struct d_node *call, bool first)
{
	int64_t v[3] = { 0, 0, 1 };
	for (unsigned i = 1; i < 4 && i < call->narg; i++) {
		int rc = i == 3 && v[1] <= v[0] ? 0 : agg_constant_parameter(u, call, i, &lq_params[i - 1], &v[i - 1]);
		if (rc < 0)
			return rc;
	}
	if (v[1] <= v[0])
		return d_fail(u, s->line, D_LQUANT_MISMATCH,
			      "lquantize( ) base (argument #1) must be less than limit "
			      "(argument #2)");
	int64_t levels = (v[1] - v[0]) / v[2];
	if (levels == 0)
		return d_fail(u, s->line, D_LQUANT_STEPLARGE,
			      "lquantize( ) step (argument #3) too large: must have at least "
			      "one quantization level");
	if (levels > UINT16_MAX)
		return d_fail(u, s->line, D_LQUANT_STEPSMALL,
			      "lquantize( ) step (argument #3) too small: number of "
			      "quantization levels must be a 16-bit quantity");
	struct lquantize q = { (int32_t)v[0], (int32_t)v[1], (uint32_t)v[2] };
	if (first)
		s->agg->lq = q;
	int rc = lq_match(u, s, &s->agg->lq, &q);
	return rc < 0 ? rc : cook_weight(u, s, call, 4);
}

/* ---- llquantize ---------------------------------------------------------- */

#define LL(tag, n, what)                                                                               \
	{                                                                                              \
		D_LLQUANT_##tag##TYPE, D_LLQUANT_##tag##VAL, 0, UINT16_MAX,                            \
			"llquantize( ) argument #" n " (" what ") must be an integer constant",        \
			"llquantize( ) argument #" n " (" what ") must be an unsigned 16-bit quantity" \
	}
static const struct param ll_params[] = {
	LL(FACTOR, "1", "factor"),
	LL(LMAG, "2", "low magnitude"),
	LL(HMAG, "3", "high magnitude"),
	LL(STEP, "4", "linear steps per magnitude"),
};
static const struct {
	uint8_t tag;
	const char *what;
} ll_matches[] = {
	{ D_LLQUANT_MATCHFACTOR, "factor" },
	{ D_LLQUANT_MATCHLMAG, "low magnitude" },
	{ D_LLQUANT_MATCHHMAG, "high magnitude" },
	{ D_LLQUANT_MATCHSTEPS, "linear steps per magnitude" },
};

/* factor ** (high + 1) within 63 bits, and the steps divide evenly */
static int ll_sane(struct d_unit *u, const struct d_stmt *s, const int64_t v[4])
{
	int64_t power = v[0], top = 1;
	struct err why = { 0 };

	if (v[0] < 2)
		return d_fail(u, s->line, D_LLQUANT_FACTORVAL,
			      "llquantize( ) factor (argument #1) must be two or more");
	if (v[1] >= v[2])
		return d_fail(u, s->line, D_LLQUANT_HMAGVAL,
			      "llquantize( ) high magnitude (argument #3) must be greater than "
			      "low magnitude (argument #2)");
	if (v[3] < v[0])
		return d_fail(u, s->line, D_LLQUANT_STEPVAL,
			      "llquantize( ) factor (argument #1) must be less than or equal to "
			      "the number of linear steps per magnitude (argument #4)");
	while (power < v[3])
		power *= v[0];
	if (v[3] % v[0] != 0 || power % v[3] != 0)
		return d_fail(u, s->line, D_LLQUANT_STEPVAL,
			      "llquantize( ) factor (argument #1) must evenly divide the number "
			      "of steps per magnitude (argument #4), and the number of steps per "
			      "magnitude must evenly divide a power of the factor");
	for (int64_t i = 0; i <= v[2]; i++)
		if (__builtin_mul_overflow(top, v[0], &top))
			return d_fail(u, s->line, D_LLQUANT_HMAGVAL,
				      "llquantize( ) factor (%lld) raised to power of high "
				      "magnitude (%lld) overflows 64-bits",
				      (long long)v[0], (long long)v[2]);
	/* what the buckets themselves can't be: too many, or an edge that is no whole number */
	if (llquantize_check(v[0], v[1], v[2], v[3], NULL, &why) < 0)
		return d_fail(u, s->line, D_LLQUANT_STEPVAL, "%s", why.text);
	return 0;
}

static int cook_llquantize(struct d_unit *u, struct d_stmt *s, struct d_node *call, bool first)
{
	int64_t v[4];
	int rc;
	for (unsigned i = 0; i < 4; i++)
		if ((rc = agg_constant_parameter(u, call, i + 1, &ll_params[i], &v[i])) < 0)
			return rc;
	if ((rc = ll_sane(u, s, v)) < 0)
		return rc;
	struct llquantize *q = &s->agg->llq;
	if (first)
		*q = (struct llquantize){ (uint16_t)v[0], (uint16_t)v[1], (uint16_t)v[2], (uint16_t)v[3] };
	const uint16_t had[] = { q->factor, q->low, q->high, q->steps };
	for (unsigned i = 0; i < 4; i++)
		if (had[i] != v[i])
			return d_fail(u, s->line, ll_matches[i].tag,
				      "llquantize( ) %s (argument #%u) doesn't match previous "
				      "declaration: expected %d, found %d",
				      ll_matches[i].what, i + 1, had[i], (int)v[i]);
	return cook_weight(u, s, call, 5);
}

/* ---- all of them --------------------------------------------------------- */

int cook_aggfn(struct d_unit *u, struct d_stmt *s, struct d_node *call)
{
	struct d_sym *a = s->agg;
	const struct d_callrow *row = &d_calls[call->call];
	bool first = a->fn_line == 0, is_signed = false;
	int rc = check_call(u, call);
	if (rc < 0)
		return rc;
	if (!first && a->fn != row->code)
		return d_fail(u, s->line, D_AGG_REDEF,
			      "aggregation redefined: @%s\n\t current: @%s = %s( )\n\tprevious: @%s = %s( ) : line %u",
			      a->name, a->name, row->name, a->name, fn_name(a->fn), a->fn_line);
	a->fn = row->code;
	a->fn_line = s->line;
	if (call->narg > 0) {
		s->value = call->arg[0];
		rc = cook_amount(u, &s->value, &is_signed, D_AGG_SCALAR, "%s( ) argument #%u must be of scalar type",
				 row->name, 1);
	}
	a->value_signed |= is_signed;
	if (rc < 0)
		return rc;
	if (a->fn == AGG_LQUANTIZE)
		return cook_lquantize(u, s, call, first);
	if (a->fn == AGG_LLQUANTIZE)
		return cook_llquantize(u, s, call, first);
	return a->fn == AGG_QUANTIZE ? cook_weight(u, s, call, 1) : 0;
}
