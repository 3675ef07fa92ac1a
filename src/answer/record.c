/*
 * record.c: what one firing prints: the line's prefix, trace() and the symbol
 * statements; and the same values as keys of an aggregation, which have other
 * widths.  The widths are those of dtrace(1) (dtrace-utils 2.0): a column per
 * size of integer, so that values of one statement stand under each other.
 */
#include <string.h>

#include "answer/answer_int.h"

void an_header(struct buf *to)
{
	buf_printf(to, "%3s %6s %32s\n", "CPU", "ID", "FUNCTION:NAME");
}

void an_prefix(struct buf *to, uint32_t cpu, uint32_t id, const char *func, const char *name)
{
	buf_printf(to, "%3u %6u ", cpu, id);
	an_place(to, func, name);
}

void an_place(struct buf *to, const char *func, const char *name)
{
	int pad = 32 - (int)(strnlen(func, 32) + strnlen(name, 32) + 1);
	buf_printf(to, "%*s%s:%s ", pad > 0 ? pad : 0, "", func, name);
}

void an_flow_header(struct buf *to, bool unnumbered)
{
	if (!unnumbered)
		buf_printf(to, "%3s ", "CPU");
	buf_printf(to, "%-41s\n", "FUNCTION");
}

void an_flow_prefix(struct buf *to, uint32_t depth, enum an_flow flow, bool syscall, const char *func, const char *name)
{
	static const char *const arrows[][2] = {
		[AN_FLOW_NONE] = { " | ", " | " },
		[AN_FLOW_IN] = { " -> ", " => " },
		[AN_FLOW_OUT] = { " <- ", " <= " },
	};
	int room = 41 - (int)(depth < 1000 ? depth : 1000) - (int)strlen(arrows[flow][syscall]);
	size_t start;

	buf_printf(to, "%*s%s", depth < 1000 ? (int)depth : 1000, "", arrows[flow][syscall]);
	start = to->n;
	buf_puts(to, func);
	if (flow == AN_FLOW_NONE)
		buf_printf(to, ":%s", name);
	room -= (int)(to->n - start);
	buf_printf(to, "%*s ", room > 0 ? room : 0, "");
}

enum column { SIGNED, UNSIGNED, KEY };

/* Widths for integers of 1, 2, 4 and 8 bytes. */
static const uint8_t columns[][4] = {
	[SIGNED] = { 3, 5, 10, 19 },
	[UNSIGNED] = { 3, 5, 10, 20 },
	[KEY] = { 3, 5, 8, 16 },
};

static int record_column_width(enum column kind, uint8_t bytes)
{
	return columns[kind][bytes == 1 ? 0 : bytes == 2 ? 1 : bytes == 4 ? 2 : 3];
}

/* Text in a column, or a hex dump. quiet: text alone. */
static void record_put_text(struct buf *to, const struct an_value *v, int width, bool quiet)
{
	if (v->kind != SLOT_FLOAT && !an_printable(v)) {
		an_hexdump(to, v->s, v->raw || v->kind == SLOT_BYTES ? v->len : an_text_len(v));
		return;
	}
	if (!quiet)
		buf_puts(to, "  ");
	size_t start = to->n;
	an_bare(to, v);
	int pad = quiet ? 0 : width - (int)(to->n - start);
	buf_printf(to, "%*s", pad > 0 ? pad : 0, "");
}

void an_trace(struct buf *to, const struct an_value *v, bool quiet)
{
	switch (v->kind) {
	case SLOT_INT:
		if (!quiet)
			buf_putc(to, ' ');
		an_decimal(to, v, quiet ? 0 : record_column_width(v->is_signed ? SIGNED : UNSIGNED, v->width));
		break;
	case SLOT_BYTES:
		an_hexdump(to, v->s, v->len);
		break;
	case SLOT_STRING:
	case SLOT_FLOAT:
		record_put_text(to, v, 33, quiet);
		break;
	case SLOT_KSTACK:
	case SLOT_USTACK:
		an_stack(to, v, AN_STACKINDENT);
		break;
	default: /* symbols keep their column even when quiet */
		record_put_text(to, v, 50, false);
	}
}

void an_datum(struct buf *to, const struct an_value *v, unsigned stackindent)
{
	if (an_is_stack(v)) {
		an_stack(to, v, stackindent);
	} else if (v->kind == SLOT_INT) {
		struct an_value key = *v;
		key.is_signed &= v->width > 2; /* as dtrace(1) shows them: narrow keys without a sign */
		buf_putc(to, ' ');
		an_decimal(to, &key, record_column_width(KEY, v->width));
	} else {
		record_put_text(to, v, 50, false);
	}
}
