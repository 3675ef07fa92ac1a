/*
 * action.c: what actions of a clause have to do with each other.
 *
 * speculate() sends what the rest of the clause records to a buffer, which commit() may empty at any time: so neither may stand
 * behind what is recorded, and behind them nothing may stand that can't be taken back. Source: DTrace Guide, "Speculative
 * Tracing"; the words are dtrace(1)'s. Both arms of an if are alternatives: what stands in one is not behind what stands in the other.
 */
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
	if (kind == ACT_BREAKPOINT || kind == ACT_PANIC)
		return d_fail(u, line, D_UNKNOWN, "%s() is not implemented (yet): a BPF program can't do that",
			      kind == ACT_PANIC ? "panic" : "breakpoint");
	u->destructive |= action_is_destructive(kind);
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
