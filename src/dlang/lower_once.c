/*
 * lower_once.c: what a clause computes once, though it stands in it often.
 *
 * The key of thread-local variables is the same throughout a firing, and finding it means a read of kernel memory: 20
 * instructions.  `timestamp` is the same throughout a clause, as in DTrace, but where chill() has passed time.  A
 * clause that uses one of them twice or more gets it in one place that every use lies behind.  Jumps go forward only,
 * so that place is the first use, or the first jump over it that lands in front of another use.
 */
#include <string.h>

#include "dlang/lower_int.h"

static bool once_is_builtin(const struct ir_ins *i, uint32_t builtin)
{
	return i->op == IR_BUILTIN && i->x == builtin;
}

/* Where each label stands. */
static void once_find_labels(const struct lw *l, uint32_t *at)
{
	for (uint32_t k = 0; k < l->nins; k++)
		if (l->ins[k].op == IR_LABEL)
			at[l->ins[k].x] = k;
}

static void once_get_builtin(struct lw *l, uint32_t builtin)
{
	uint32_t n = 0, first = 0, last = 0, *label;
	ir_reg value;

	for (uint32_t k = 0; k < l->nins && !l->failed; k++) {
		if (!once_is_builtin(&l->ins[k], builtin))
			continue;
		first = n++ ? first : k;
		last = k;
	}
	if (n < 2)
		return;
	label = mem_alloc(l->nlabels * sizeof(*label) + 1);
	if (!label) {
		l->failed = true;
		return;
	}
	once_find_labels(l, label);
	for (uint32_t k = first; k-- > 0;) {
		const struct ir_ins *i = &l->ins[k];

		if ((i->op == IR_JMP || i->op == IR_JCMP) && label[i->x] > first && label[i->x] < last)
			first = k;
	}
	mem_free(label);

	value = lw_builtin(l, builtin);
	if (l->failed)
		return;
	for (uint32_t k = first; k < l->nins - 1; k++)
		if (once_is_builtin(&l->ins[k], builtin))
			l->ins[k] =
				(struct ir_ins){ .op = IR_MOV, .d = l->ins[k].d, .a = value, .line = l->ins[k].line };
	struct ir_ins asked = l->ins[l->nins - 1];

	asked.line = l->ins[first].line;
	memmove(&l->ins[first + 1], &l->ins[first], (l->nins - 1 - first) * sizeof(asked));
	l->ins[first] = asked;
}

void lw_once(struct lw *l)
{
	bool chills = false;

	for (uint32_t k = 0; k < l->nins && !l->failed; k++)
		chills |= l->ins[k].op == IR_CHILL;
	once_get_builtin(l, BI_THREAD);
	if (!chills)
		once_get_builtin(l, BI_TIMESTAMP);
}
