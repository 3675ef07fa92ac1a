/*
 * buf.c: text that grows, and what a stranger's text becomes in it.
 *
 * A failed allocation is remembered and the text is cut short, so that writers need one check at the end instead of one
 * a call.
 *
 * Names of processes and files may have any bytes. In JSON a byte that is not UTF-8 is U+FFFD and a control character
 * is escaped; on a terminal a control character is '?' (buf_plain), or shown as \xNN (buf_visible), and never obeyed.
 */
#include <stdio.h>
#include <string.h>

#include "base/base.h"

static bool buf_room(struct buf *b, size_t n)
{
	size_t want = b->cap ? b->cap : 128;
	char *p;

	if (b->failed || n > SIZE_MAX / 4 || b->n > SIZE_MAX / 4)
		return false;
	if (b->n + n + 1 <= b->cap)
		return true;
	while (want < b->n + n + 1)
		want *= 2;
	p = mem_grow(b->p, want);
	if (!p) {
		b->failed = true;
		return false;
	}
	b->p = p;
	b->cap = want;
	return true;
}

void buf_put(struct buf *b, const void *s, size_t n)
{
	if (!buf_room(b, n))
		return;
	if (n)
		memcpy(b->p + b->n, s, n);
	b->n += n;
	b->p[b->n] = '\0';
}

void buf_putc(struct buf *b, char c)
{
	buf_put(b, &c, 1);
}

void buf_puts(struct buf *b, const char *s)
{
	buf_put(b, s, strlen(s));
}

void buf_vprintf(struct buf *b, const char *fmt, va_list ap)
{
	va_list again;
	int n;

	if (!buf_room(b, 0))
		return;
	va_copy(again, ap);
	n = vsnprintf(b->p + b->n, b->cap - b->n, fmt, again); /* most fit */
	va_end(again);
	if (n > 0 && (size_t)n >= b->cap - b->n)
		n = buf_room(b, (size_t)n) ? vsnprintf(b->p + b->n, (size_t)n + 1, fmt, ap) : 0;
	b->n += n > 0 ? (size_t)n : 0;
	b->p[b->n] = '\0';
}

void buf_i64(struct buf *b, int64_t v)
{
	char text[20]; /* of INT64_MIN */
	size_t at = sizeof(text);
	uint64_t left = v < 0 ? -(uint64_t)v : (uint64_t)v;

	do
		text[--at] = (char)('0' + left % 10);
	while (left /= 10);
	if (v < 0)
		text[--at] = '-';
	buf_put(b, text + at, sizeof(text) - at);
}

void buf_printf(struct buf *b, const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	buf_vprintf(b, fmt, ap);
	va_end(ap);
}

/* Length of the valid UTF-8 sequence at s (at most n bytes), 0 when there is none (RFC 3629). */
size_t text_utf8_len(const void *text, size_t n)
{
	static const struct {
		unsigned char lo, hi, lo2, hi2, len;
	} form[] = {
		{ 0x00, 0x7f, 0, 0, 1 },       { 0xc2, 0xdf, 0x80, 0xbf, 2 }, { 0xe0, 0xe0, 0xa0, 0xbf, 3 },
		{ 0xe1, 0xec, 0x80, 0xbf, 3 }, { 0xed, 0xed, 0x80, 0x9f, 3 }, { 0xee, 0xef, 0x80, 0xbf, 3 },
		{ 0xf0, 0xf0, 0x90, 0xbf, 4 }, { 0xf1, 0xf3, 0x80, 0xbf, 4 }, { 0xf4, 0xf4, 0x80, 0x8f, 4 },
	};
	const unsigned char *s = text;

	for (size_t i = 0; i < COUNT(form); i++) {
		if (s[0] < form[i].lo || s[0] > form[i].hi || form[i].len > n)
			continue;
		if (form[i].len > 1 && (s[1] < form[i].lo2 || s[1] > form[i].hi2))
			return 0;
		for (size_t k = 2; k < form[i].len; k++)
			if ((s[k] & 0xc0) != 0x80)
				return 0;
		return form[i].len;
	}
	return 0;
}

static void json_ascii(struct buf *b, unsigned char c)
{
	static const char from[] = "\"\\\b\f\n\r\t", to[] = "\"\\bfnrt";
	const char *p = c ? strchr(from, c) : NULL;

	if (p) {
		buf_putc(b, '\\');
		buf_putc(b, to[p - from]);
	} else if (c < 0x20 || c == 0x7f) {
		buf_printf(b, "\\u%04x", c);
	} else {
		buf_putc(b, (char)c);
	}
}

void buf_json_str(struct buf *b, const char *s, size_t n)
{
	const unsigned char *u = (const unsigned char *)s;

	buf_putc(b, '"');
	for (size_t i = 0, len; i < n; i += len) {
		len = text_utf8_len(u + i, n - i);
		if (len == 0) {
			buf_puts(b, "\xef\xbf\xbd");
			len = 1;
		} else if (len == 1) {
			json_ascii(b, u[i]);
		} else if (u[i] == 0xc2 && u[i + 1] < 0xa0) {
			buf_printf(b, "\\u%04x", u[i + 1]);
		} else {
			buf_put(b, u + i, len);
		}
	}
	buf_putc(b, '"');
}

/* The length of what stands at s, a character or one byte of bad UTF-8; *shown: whether a terminal shows it and obeys
 * nothing. C1 controls (U+0080 to U+009F) are orders, too: U+009B begins what ESC [ does. */
static size_t char_len(const unsigned char *s, size_t n, bool *shown)
{
	const size_t len = text_utf8_len(s, n);

	*shown = len && s[0] >= 0x20 && s[0] != 0x7f && !(len == 2 && s[0] == 0xc2 && s[1] < 0xa0);
	return len ? len : 1;
}

void buf_plain(struct buf *b, const char *s, size_t n)
{
	size_t put = 0;
	bool shown;

	for (size_t i = 0, len; i < n; i += len) {
		len = char_len((const unsigned char *)s + i, n - i, &shown);
		if (shown)
			continue;
		buf_put(b, s + put, i - put);
		buf_putc(b, '?');
		put = i + len;
	}
	buf_put(b, s + put, n - put);
}

void buf_visible(struct buf *b, const char *s, size_t n)
{
	bool shown;

	for (size_t i = 0, len; i < n; i += len) {
		len = char_len((const unsigned char *)s + i, n - i, &shown);
		if (shown || s[i] == '\n' || s[i] == '\t')
			buf_put(b, s + i, len);
		for (size_t k = 0; !shown && s[i] != '\n' && s[i] != '\t' && k < len; k++)
			buf_printf(b, "\\x%02x", (unsigned char)s[i + k]);
	}
}

static size_t word_length(const char *s)
{
	size_t n = strcspn(s, " ");
	const char *open = strstr(s, "$("), *end = open && open < s + n ? strchr(open, ')') : NULL;

	return end ? (size_t)(end - s) + 1 + strcspn(end + 1, " ") : n;
}

void buf_wrap(struct buf *b, const char *s, size_t at, size_t indent, size_t columns, const char *tail)
{
	bool first = true;

	for (size_t n; *(s += strspn(s, " ")); s += n, first = false) {
		n = word_length(s);
		if (!first && at + 1 + n + strlen(tail) > columns) {
			buf_printf(b, "%s\n%*s", tail, (int)indent, "");
			at = indent;
		} else if (!first) {
			buf_putc(b, ' ');
			at++;
		}
		buf_put(b, s, n);
		at += n;
	}
	buf_putc(b, '\n');
}

void buf_clear(struct buf *b)
{
	b->n = 0;
	b->failed = false;
	if (b->p)
		b->p[0] = '\0';
}

void buf_free(struct buf *b)
{
	mem_free(b->p);
	*b = (struct buf){ 0 };
}

/* Most lines need no memory, and one that there is none for is cut, not lost. */
void note_line(int (*out)(void *arg, const char *text, size_t n), void *arg, const char *fmt, va_list ap)
{
	char text[1024];
	struct buf b = { 0 };
	va_list again;
	size_t n;

	va_copy(again, ap);
	n = (size_t)vsnprintf(text, sizeof(text), fmt, ap);
	if (n > sizeof(text) - 2) {
		buf_vprintf(&b, fmt, again);
		buf_putc(&b, '\n');
		n = sizeof(text) - 2;
	}
	va_end(again);
	text[n] = '\n';
	if (out && b.p && !b.failed)
		(void)out(arg, b.p, b.n);
	else if (out)
		(void)out(arg, text, n + 1);
	buf_free(&b);
}
