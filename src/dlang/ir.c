/*
 * ir.c: the IR printed, and proved well formed; the words of its faults.
 *
 * Both go by the operand letters of IR_OPS (dlang.h), so that an operation is
 * described in one place.  The check is what a code generator may rely on:
 * numbers in range, bytes within their objects, labels placed once and behind
 * their jumps, registers written on every path before they are read.
 */
#include <string.h>

#include "dlang/ast_int.h"

static const struct {
	const char *name, *operands;
} ops[] = {
#define X(name, operands) { #name, operands },
	IR_OPS(X)
#undef X
};
static const char *const cond_text[] = { "==", "!=", "<", "<=", ">", ">=", "<u", "<=u", ">u", ">=u" };

/* ---- printing ------------------------------------------------------------------ */

static void ir_put_operand(const struct ir_ins *i, char letter, struct buf *to)
{
	switch (letter) {
	case 'd':
		buf_printf(to, " r%u", i->d);
		break;
	case 'a':
		buf_printf(to, " r%u", i->a);
		break;
	case 'b':
		buf_printf(to, " r%u", i->b);
		break;
	case 'e':
		buf_printf(to, " r%u", i->e);
		break;
	case 'o':
		buf_printf(to, " o%u", i->o);
		break;
	case 'p':
		buf_printf(to, " o%u", i->p);
		break;
	case 'q':
		buf_printf(to, " o%u", i->q);
		break;
	case 'O':
		buf_printf(to, "+%u", i->O);
		break;
	case 'P':
		buf_printf(to, "+%u", i->P);
		break;
	case 's':
		buf_printf(to, " size %u", i->s);
		break;
	case 'x':
		buf_printf(to, " #%u", i->x);
		break;
	case 'l':
		buf_printf(to, " L%u", i->x);
		break;
	case 'i':
		buf_printf(to, " %lld", (long long)i->i);
		break;
	case 'c':
		buf_printf(to, " %s", cond_text[i->cond]);
		break;
	default:
		break;
	}
}

static void print_ins(const struct ir_ins *i, struct buf *to)
{
	buf_printf(to, "  %4u  %-9s", i->line, ops[i->op].name);
	for (const char *p = ops[i->op].operands; *p; p++)
		ir_put_operand(i, *p, to);
	buf_putc(to, '\n');
}

static void print_objects(const struct d_program *p, struct buf *to)
{
	static const char *const kind[] = { "temp", "this", "global" };

	for (uint32_t o = 1; o < p->nobjs; o++)
		buf_printf(to, "object o%u %s %u bytes%s%s\n", o, kind[p->obj[o].kind], p->obj[o].size,
			   p->obj[o].name ? " " : "", p->obj[o].name ? p->obj[o].name : "");
	for (uint32_t v = 0; v < p->nvars; v++)
		buf_printf(to, "variable #%u %s%s key %u value %u\n", v, p->var[v].is_self ? "self->" : "",
			   p->var[v].name, p->var[v].key_size, p->var[v].value_size);
	for (uint32_t a = 0; a < p->naggs; a++)
		buf_printf(to, "aggregation #%u @%s key %u\n", a, p->agg[a].name, p->agg[a].key_size);
	for (uint32_t n = 0; n < p->ncounters; n++)
		buf_printf(to, "counter #%u %s %s\n", n, p->counter[n].event,
			   p->counter[n].of_thread ? "of the thread" : "of the CPU");
	for (uint32_t n = 0; n < p->nlits; n++) {
		buf_printf(to, "literal #%u ", n);
		buf_json_str(to, p->lit[n], strlen(p->lit[n]));
		buf_putc(to, '\n');
	}
}

void ir_print(const struct d_program *p, struct buf *to)
{
	print_objects(p, to);
	for (uint32_t c = 0; c < p->nclauses; c++) {
		buf_printf(to, "clause %u line %u record %u bytes\n", c, p->clause[c].line, p->clause[c].record_size);
		for (uint32_t n = 0; n < p->clause[c].nins; n++)
			print_ins(&p->clause[c].ins[n], to);
	}
}

/* ---- checking --------------------------------------------------------------------- */

struct check {
	const struct d_program *p;
	const struct d_clause *c;
	uint32_t n;     /* instruction */
	uint32_t words; /* of 64 registers each */
	uint64_t *now;  /* registers written on every path to here */
	uint64_t *at;   /* the same for each label, words each */
	uint8_t *state; /* of each label: 1 jumped to, 2 placed */
	bool dead;      /* no path leads here */
	struct err *e;
};

static int ir_check_fail(struct check *k, const char *what)
{
	const struct ir_ins *i = &k->c->ins[k->n];

	return err_set(k->e, TALLY_EINVAL, "line %u: intermediate code, clause %u, instruction %u (%s): %s", i->line,
		       k->c->id, k->n, i->op < IR_NOPS ? ops[i->op].name : "?", what);
}

static int read_reg(struct check *k, ir_reg r, bool optional)
{
	if (r == 0 && optional)
		return 0;
	if (r == 0 || r >= k->c->nregs)
		return ir_check_fail(k, "no such register");
	if (!k->dead && !(k->now[r / 64] >> (r % 64) & 1))
		return ir_check_fail(k, "a register is read before it is written");
	return 0;
}

static int write_reg(struct check *k, ir_reg r)
{
	if (r == 0 || r >= k->c->nregs)
		return ir_check_fail(k, "no such register");
	k->now[r / 64] |= 1ull << (r % 64);
	return 0;
}

static int ir_check_object(struct check *k, ir_obj o, uint64_t off, uint64_t size)
{
	if (o == 0 || o >= k->p->nobjs)
		return ir_check_fail(k, "no such object");
	if (off + size > k->p->obj[o].size)
		return ir_check_fail(k, "bytes outside an object");
	return 0;
}

/* A jump's state joins its label's: what is written on both paths stays. */
static int jump_to(struct check *k, uint32_t label)
{
	uint64_t *at;

	if (label >= k->c->nlabels)
		return ir_check_fail(k, "no such label");
	if (k->state[label] & 2)
		return ir_check_fail(k, "a jump backwards");
	at = k->at + (size_t)label * k->words;
	for (uint32_t w = 0; w < k->words && !k->dead; w++)
		at[w] = k->state[label] & 1 ? at[w] & k->now[w] : k->now[w];
	if (!k->dead)
		k->state[label] |= 1;
	return 0;
}

static int place_label(struct check *k, uint32_t label)
{
	uint64_t *at;

	if (label >= k->c->nlabels)
		return ir_check_fail(k, "no such label");
	if (k->state[label] & 2)
		return ir_check_fail(k, "a label is placed twice");
	at = k->at + (size_t)label * k->words;
	for (uint32_t w = 0; w < k->words; w++) {
		if (k->dead && k->state[label] & 1)
			k->now[w] = at[w];
		else if (k->state[label] & 1)
			k->now[w] &= at[w];
	}
	k->dead = k->dead && !(k->state[label] & 1);
	k->state[label] |= 2;
	return 0;
}

/* The context: its bytes are those that the clause's args[] have. */
static int check_args(struct check *k, const struct ir_ins *i)
{
	uint64_t size = i->op == IR_ARGLOAD ? i->s : 1;

	return i->O + size > k->c->args_bytes || k->c->args_bytes > D_ARGS_BYTES ?
		       ir_check_fail(k, "bytes outside args[]") :
		       0;
}

static int check_numbers(struct check *k, const struct ir_ins *i)
{
	switch (i->op) {
	case IR_OLIT:
		return i->x < k->p->nlits ? 0 : ir_check_fail(k, "no such literal");
	case IR_SCMP:
		return i->q || i->x < k->p->nlits ? 0 : ir_check_fail(k, "no such literal");
	case IR_ARGS:
	case IR_ARGLOAD:
		return check_args(k, i);
	case IR_AGG:
		return i->x < k->p->naggs ? 0 : ir_check_fail(k, "no such aggregation");
	case IR_DYNGET:
	case IR_DYNSET:
		return i->x < k->p->nvars ? 0 : ir_check_fail(k, "no such variable");
	case IR_JMP:
	case IR_JCMP:
		return jump_to(k, i->x);
	case IR_LABEL:
		return place_label(k, i->x);
	default:
		return 0;
	}
}

static bool ir_operands_has(const char *operands, char c)
{
	return strchr(operands, c) != NULL;
}

/* Objects of operations on bytes: the size operand counts from the offset; other operations take whole objects. */
static int check_objects(struct check *k, const struct ir_ins *i, const char *operands)
{
	bool counted = i->op == IR_OREADN || i->op == IR_OWRITEN;
	uint64_t size = counted ? (uint64_t)i->i : ir_operands_has(operands, 's') ? i->s : 0;
	bool indexed = i->op == IR_OLOADX || i->op == IR_OLOADXS || i->op == IR_OSTOREX;
	int rc = 0;

	if ((indexed || counted) && (i->i <= 0 || i->i > INT32_MAX))
		return ir_check_fail(k, "no such index");
	if (ir_operands_has(operands, 'o'))
		rc = ir_check_object(k, i->o, i->O, indexed ? size + i->x * (uint64_t)(i->i - 1) : size);
	if (rc == 0 && ir_operands_has(operands, 'p') && (i->op != IR_AGG || i->p)) {
		uint64_t psize = i->op == IR_OCOPY || i->op == IR_SLEN || i->op == IR_SCMP ? size :
				 ir_operands_has(operands, 'i')                            ? (uint64_t)i->i :
											     0;

		rc = ir_check_object(k, i->p, i->P, psize);
	}
	if (rc == 0 && ir_operands_has(operands, 'q') && (i->op != IR_SCMP || i->q))
		rc = ir_check_object(k, i->q, 0, i->op == IR_SCMP ? (uint64_t)i->i : i->x);
	return rc;
}

static int check_ins(struct check *k, const struct ir_ins *i)
{
	const char *operands;
	bool optional = i->op == IR_AGG || i->op == IR_FAULT;
	int rc = 0;

	if (i->op >= IR_NOPS)
		return ir_check_fail(k, "no such operation");
	operands = ops[i->op].operands;
	if (ir_operands_has(operands, 'a'))
		rc = read_reg(k, i->a, optional);
	if (rc == 0 && ir_operands_has(operands, 'b'))
		rc = read_reg(k, i->b, optional);
	if (rc == 0 && ir_operands_has(operands, 'e'))
		rc = read_reg(k, i->e, false);
	if (rc == 0)
		rc = check_objects(k, i, operands);
	if (rc == 0)
		rc = check_numbers(k, i);
	if (rc == 0 && ir_operands_has(operands, 'd'))
		rc = write_reg(k, i->d);
	if (i->op == IR_JMP)
		k->dead = true;
	return rc;
}

static int check_clause(struct check *k)
{
	int rc = 0;

	k->dead = false;
	for (k->n = 0; k->n < k->c->nins && rc == 0; k->n++)
		rc = check_ins(k, &k->c->ins[k->n]);
	if (rc == 0 && (k->c->nins == 0 || k->c->ins[k->c->nins - 1].op != IR_END)) {
		k->n = k->c->nins ? k->c->nins - 1 : 0;
		rc = err_set(k->e, TALLY_EINVAL, "line %u: intermediate code, clause %u does not end", k->c->line,
			     k->c->id);
	}
	for (uint32_t l = 0; l < k->c->nlabels && rc == 0; l++)
		if (k->state[l] == 1)
			rc = err_set(k->e, TALLY_EINVAL,
				     "line %u: intermediate code, clause %u: label %u is not placed", k->c->line,
				     k->c->id, l);
	return rc;
}

int ir_check(const struct d_program *p, struct err *e)
{
	int rc = 0;

	for (uint32_t c = 0; c < p->nclauses && rc == 0; c++) {
		struct check k = { .p = p, .c = &p->clause[c], .e = e };

		k.words = k.c->nregs / 64 + 1;
		k.now = mem_alloc(k.words * sizeof(*k.now));
		k.at = mem_alloc(((size_t)k.c->nlabels + 1) * k.words * sizeof(*k.at));
		k.state = mem_alloc(k.c->nlabels + 1);
		rc = k.now && k.at && k.state ? check_clause(&k) : err_oom(e);
		mem_free(k.now);
		mem_free(k.at);
		mem_free(k.state);
	}
	return rc;
}

int d_check(struct d_unit *u)
{
	return ir_check(&u->prog, u->err);
}

/* ---- faults -------------------------------------------------------------------- */

void fault_text(struct buf *to, uint64_t fault, uint64_t value)
{
	static const struct {
		const char *text;
		bool has_value;
	} faults[] = {
		[FAULT_UNKNOWN] = { "unknown fault", false },
		[FAULT_BADADDR] = { "invalid address", true },
		[FAULT_BADALIGN] = { "invalid alignment", true },
		[FAULT_ILLOP] = { "illegal operation", false },
		[FAULT_DIVZERO] = { "divide-by-zero", false },
		[FAULT_NOSCRATCH] = { "out of scratch space", false },
		[FAULT_KPRIV] = { "invalid kernel access", true },
		[FAULT_UPRIV] = { "invalid user access", true },
		[FAULT_TUPOFLOW] = { "tuple overflow", false },
		[FAULT_BADSTACK] = { "bad stack", false },
		[FAULT_BADSIZE] = { "invalid size", true },
		[FAULT_BADINDEX] = { "index out of bounds", true },
		[FAULT_COUNTER] = { "performance counter is not counting", false },
	};

	fault &= (1u << D_FAULT_BITS) - 1;
	if (fault >= COUNT(faults))
		fault = FAULT_UNKNOWN;
	buf_puts(to, faults[fault].text);
	if (faults[fault].has_value)
		buf_printf(to, " (0x%llx)", (unsigned long long)value);
}
