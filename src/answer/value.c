/*
 * value.c: one value as bare text, and the order of values.
 *
 * Strings come from processes that may be hostile (a command's name can hold
 * any byte), so each is measured once (never past len, never past a NUL) and
 * asked whether it may be shown as text.  Bytes above 0x7f count as text: names
 * are UTF-8 nowadays.  On a terminal what it would obey is shown instead (base.h,
 * buf_visible): the escapes of names, not those of the script's own formats.
 */
#include <string.h>

#include "answer/answer_int.h"

uint64_t an_bits(const struct an_value *v)
{
	uint64_t bits = (uint64_t)v->i;
	return v->width == 0 || v->width >= 8 ? bits : bits & ((1ULL << (8 * v->width)) - 1);
}

void an_decimal(struct buf *to, const struct an_value *v, int width)
{
	if (v->is_signed)
		buf_printf(to, "%*lld", width, (long long)v->i);
	else
		buf_printf(to, "%*llu", width, (unsigned long long)an_bits(v));
}

long double an_float(const struct an_value *v)
{
	float f = 0;
	double d = 0;
	long double l = 0;

	if (v->s == NULL || v->len < v->width)
		return 0;
	memcpy(v->width == sizeof(f) ? (void *)&f :
	       v->width == sizeof(d) ? (void *)&d :
				       (void *)&l,
	       v->s, v->width < sizeof(l) ? v->width : sizeof(l));
	return v->width == sizeof(f) ? (long double)f : v->width == sizeof(d) ? (long double)d : l;
}

size_t an_text_len(const struct an_value *v)
{
	return v->s == NULL ? 0 : strnlen(v->s, v->len);
}

static bool text_byte(unsigned char c)
{
	return (c >= ' ' && c != 0x7f) || (c >= '\a' && c <= '\r');
}

bool an_printable(const struct an_value *v)
{
	size_t n = an_text_len(v);
	if (v->s == NULL || v->raw)
		return v->s == NULL;
	for (size_t i = 0; i < n; i++)
		if (!text_byte((unsigned char)v->s[i]))
			return false;
	if (v->kind != SLOT_BYTES)
		return true;
	/* Bytes are text only when nothing but padding follows a text that is not empty. */
	for (size_t i = n; i < v->len; i++)
		if (v->s[i] != '\0')
			return false;
	return n > 0;
}

void an_bare(struct buf *to, const struct an_value *v)
{
	if (v->kind == SLOT_INT)
		an_decimal(to, v, 0);
	else if (v->kind == SLOT_FLOAT)
		buf_printf(to, "%Lg", an_float(v));
	else if (v->s == NULL && v->kind != SLOT_STRING && v->kind != SLOT_BYTES)
		buf_printf(to, "0x%llx", (unsigned long long)v->i);
	else if (v->visible)
		buf_visible(to, v->s, an_text_len(v));
	else
		buf_put(to, v->s, an_text_len(v));
}

void an_clean(struct buf *to, const char *s, const char * not )
{
	for (size_t n; *s != '\0'; s += n + (s[n] != '\0')) {
		n = strcspn(s, not );
		buf_plain(to, s, n);
		if (s[n] != '\0')
			buf_putc(to, ':');
	}
}

static void hexdump_line(struct buf *to, const unsigned char *p, size_t n)
{
	for (size_t i = 0; i < n; i++)
		buf_printf(to, " %02x", p[i]);
	buf_printf(to, "%*s", (int)(3 * (16 - n)) + 2, "");
	for (size_t i = 0; i < n; i++)
		buf_putc(to, p[i] < ' ' || p[i] > '~' ? '.' : (char)p[i]);
	buf_putc(to, '\n');
}

void an_hexdump(struct buf *to, const void *bytes, size_t n)
{
	const unsigned char *p = bytes;
	if (n == 0)
		return;
	buf_printf(to, "\n%11s", "");
	for (int i = 0; i < 16; i++)
		buf_printf(to, "  %x", i);
	buf_puts(to, "  0123456789abcdef\n");
	for (size_t at = 0; at < n; at += 16) {
		buf_printf(to, "%5s%5zx:", "", at);
		hexdump_line(to, p + at, n - at < 16 ? n - at : 16);
	}
}

/* ---- order --------------------------------------------------------------------- */

static int compare_bytes(const char *a, size_t an, const char *b, size_t bn)
{
	int c = an == 0 || bn == 0 ? 0 : memcmp(a, b, an < bn ? an : bn);
	return c != 0 ? c : AN_ORDER(an, bn);
}

static int compare_stacks(const struct an_value *a, const struct an_value *b)
{
	for (uint32_t i = 0; i < a->nframes && i < b->nframes; i++) {
		int c = strcmp(a->frame[i], b->frame[i]);
		if (c != 0)
			return c;
	}
	return AN_ORDER(a->nframes, b->nframes);
}

int an_compare(const struct an_value *a, const struct an_value *b)
{
	if (a->kind != b->kind)
		return AN_ORDER(a->kind, b->kind);
	if (a->kind == SLOT_INT) /* dtrace(1)'s order: negative integers come behind the others */
		return AN_ORDER(an_bits(a), an_bits(b));
	if (an_is_stack(a))
		return compare_stacks(a, b);
	if (a->kind == SLOT_BYTES || a->kind == SLOT_FLOAT)
		return compare_bytes(a->s, a->s ? a->len : 0, b->s, b->s ? b->len : 0);
	if (a->s == NULL && b->s == NULL)
		return AN_ORDER((uint64_t)a->i, (uint64_t)b->i);
	return compare_bytes(a->s, an_text_len(a), b->s, an_text_len(b));
}
