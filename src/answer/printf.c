/*
 * printf.c: the conversions of printf() and printa() (DTrace guide, "Output
 * Formatting").
 *
 * Numbers are formatted by the C library, with a format made here from the
 * parsed one: always 64 bits wide, because a D value knows its own size and
 * the size letters of the format are ignored.  %d prints as signed what is
 * signed in D; %o %u %x show the bits of the value's own width.  Everything
 * else becomes text first and is then padded and cut.
 *
 * The compiler has matched values with conversions.  Should one not fit all the
 * same, it is shown in its own form; nothing here trusts the pairing.
 */
#include <string.h>
#include <time.h>

#include "answer/answer_int.h"

static int printf_bound_width(int64_t n)
{
	return n > FMT_WIDTH_MAX ? FMT_WIDTH_MAX : (int)n;
}

struct an_field an_field(const struct fmt_spec *f, const struct an_value *v, uint32_t n, uint32_t *at)
{
	struct an_field w = { f->width, f->prec > 0 ? f->prec : -1, f->left };
	if (f->width_star && *at < n) {
		int64_t star = v[(*at)++].i;
		w.left |= star < 0; /* as in C: a negative width is the flag - */
		w.width = printf_bound_width(star >= 0 ? star : star == INT64_MIN ? INT64_MAX : -star);
	}
	if (f->prec_star && *at < n) {
		int64_t star = v[(*at)++].i;
		w.prec = star <= 0 ? -1 : printf_bound_width(star);
	}
	return w;
}

void an_padded(struct buf *to, const struct an_field *w, const char *s, size_t n)
{
	if (w->prec >= 0 && n > (size_t)w->prec)
		n = (size_t)w->prec;
	int pad = w->width > 0 && (size_t)w->width > n ? w->width - (int)n : 0;
	if (pad && !w->left)
		buf_printf(to, "%*s", pad, "");
	buf_put(to, s, n);
	if (pad && w->left)
		buf_printf(to, "%*s", pad, "");
}

/* ---- numbers ------------------------------------------------------------------- */

/* A bare %d or %u: most of what a script prints, a million times over. */
static void printf_put_plain(struct buf *to, bool minus, unsigned long long v)
{
	char text[24], *p = text + sizeof(text);

	do {
		*--p = (char)('0' + v % 10);
		v /= 10;
	} while (v);
	if (minus)
		*--p = '-';
	buf_put(to, p, (size_t)(text + sizeof(text) - p));
}

/* The percent sign and the flags of a conversion for C's own printf; where it goes on. */
static char *printf_flags(char *p, const struct fmt_spec *f, const struct an_field *w)
{
	*p++ = '%';
	if (w->left)
		*p++ = '-';
	if (f->plus)
		*p++ = '+';
	if (f->space)
		*p++ = ' ';
	if (f->zero)
		*p++ = '0';
	if (f->alt)
		*p++ = '#';
	if (f->group)
		*p++ = '\'';
	return p;
}

static void printf_put_number(struct buf *to, const struct fmt_spec *f, const struct an_field *w, char conv,
			      unsigned long long bits)
{
	char format[16], *p = format;

	if ((conv == 'd' || conv == 'u') && w->width <= 0 && w->prec < 0 && !f->plus && !f->space && !f->group) {
		bool minus = conv == 'd' && (long long)bits < 0;

		printf_put_plain(to, minus, minus ? 0 - bits : bits);
		return;
	}
	p = printf_flags(p, f, w);
	memcpy(p, "*.*ll", 5);
	p[5] = conv;
	p[6] = '\0';
	buf_printf(to, format, w->width > 0 ? w->width : 0, w->prec, bits);
}

static void printf_put_float(struct buf *to, const struct fmt_spec *f, const struct an_field *w,
			     const struct an_value *v)
{
	char format[16], *p = printf_flags(format, f, w);

	memcpy(p, "*.*L", 4);
	p[4] = f->conv;
	p[5] = '\0';
	buf_printf(to, format, w->width > 0 ? w->width : 0, w->prec, an_float(v));
}

static void printf_put_integer(struct buf *to, const struct fmt_spec *f, const struct an_field *w,
			       const struct an_value *v)
{
	switch (f->conv) {
	case 'o':
	case 'u':
	case 'x':
	case 'X':
		printf_put_number(to, f, w, f->conv, an_bits(v));
		break;
	case 'p':
		printf_put_number(to, f, w, 'x', an_bits(v));
		break;
	default:
		if (v->is_signed)
			printf_put_number(to, f, w, 'd', (unsigned long long)v->i);
		else
			printf_put_number(to, f, w, 'u', an_bits(v));
	}
}

/* ---- characters and escapes ---------------------------------------------------- */

static void printf_put_escape(struct buf *to, unsigned char c)
{
	static const char from[] = "\a\b\f\n\r\t\v\"\\", name[] = "abfnrtv\"\\";
	const char *at = c != '\0' ? strchr(from, c) : NULL;
	if (at != NULL)
		buf_printf(to, "\\%c", name[at - from]);
	else if (c == '\0')
		buf_puts(to, "\\0");
	else if (c < ' ' || c > '~')
		buf_printf(to, "\\%03o", c);
	else
		buf_putc(to, (char)c);
}

static void printf_put_escaped(struct buf *to, const struct an_field *w, const char *s, size_t n)
{
	struct buf text = { 0 };
	for (size_t i = 0; i < n; i++)
		printf_put_escape(&text, (unsigned char)s[i]);
	an_padded(to, w, text.p, text.n);
	to->failed |= text.failed;
	buf_free(&text);
}

/* One byte: of text that a script prints byte by byte, a terminal would obey it all the same. */
static void printf_character(struct buf *to, const struct an_field *w, char c, bool visible)
{
	struct an_field whole = { w->width, -1, w->left };
	struct buf text = { 0 };
	if (visible)
		buf_visible(&text, &c, 1);
	else
		buf_putc(&text, c);
	an_padded(to, &whole, text.p, text.n);
	to->failed |= text.failed;
	buf_free(&text);
}

/* ---- dates --------------------------------------------------------------------- */

/* %Y: 2026 Nov 21 18:00:00. %T: Sat, 21 Nov 2026 18:00:00 CET. English in every locale. */
static void printf_put_date(struct buf *to, const struct an_field *w, char conv, uint64_t ns)
{
	static const char days[][4] = { "Sun", "Mon", "Tue", "Wed", "Thu", "Fri", "Sat" };
	static const char months[][4] = { "Jan", "Feb", "Mar", "Apr", "May", "Jun",
					  "Jul", "Aug", "Sep", "Oct", "Nov", "Dec" };
	time_t seconds = (time_t)(ns / 1000000000);
	struct tm tm;
	struct buf text = { 0 };
	if (localtime_r(&seconds, &tm) == NULL)
		return;
	if (conv == 'Y')
		buf_printf(&text, "%d %s %2d %02d:%02d:%02d", tm.tm_year + 1900, months[tm.tm_mon], tm.tm_mday,
			   tm.tm_hour, tm.tm_min, tm.tm_sec);
	else
		buf_printf(&text, "%s, %02d %s %d %02d:%02d:%02d %s", days[tm.tm_wday], tm.tm_mday, months[tm.tm_mon],
			   tm.tm_year + 1900, tm.tm_hour, tm.tm_min, tm.tm_sec, tm.tm_zone != NULL ? tm.tm_zone : "");
	an_padded(to, w, text.p, text.n);
	to->failed |= text.failed;
	buf_free(&text);
}

/* ---- stacks -------------------------------------------------------------------- */

/* %k: with '-' the width is the indent, else frames are right-justified to it, as in dtrace(1). */
static void printf_put_stack(struct buf *to, const struct an_field *w, const struct an_value *v)
{
	struct an_field right = { w->width, w->prec, false };
	if (w->left) {
		an_stack(to, v, w->width > 0 ? (unsigned)w->width : 0);
		return;
	}
	buf_putc(to, '\n');
	for (uint32_t i = 0; i < v->nframes; i++) {
		struct buf frame = { 0 };
		an_clean(&frame, v->frame[i], "");
		an_padded(to, &right, frame.p, frame.n);
		buf_putc(to, '\n');
		to->failed |= frame.failed;
		buf_free(&frame);
	}
}

/* ---- one conversion ------------------------------------------------------------ */

/* What has text of its own: strings, symbols, and whatever was paired with %s. */
static void printf_put_text(struct buf *to, const struct fmt_spec *f, const struct an_field *w,
			    const struct an_value *v)
{
	struct buf bare = { 0 };
	struct an_value raw = *v;
	if (v->kind == SLOT_INT && (f->conv == 'a' || f->conv == 'A'))
		raw.kind = SLOT_KADDR;              /* the name that it was given, or the address */
	raw.visible = v->visible && f->conv != 'S'; /* %S escapes by itself */
	if (v->s != NULL && f->conv != 'S' && !v->visible) {
		an_padded(to, w, v->s, an_text_len(v));
		return;
	}
	an_bare(&bare, &raw);
	if (f->conv == 'S')
		printf_put_escaped(to, w, bare.p, bare.n);
	else
		an_padded(to, w, bare.p, bare.n);
	to->failed |= bare.failed;
	buf_free(&bare);
}

void an_convert(struct buf *to, const struct fmt_spec *f, const struct an_field *w, const struct an_value *v)
{
	char c = (char)v->i;
	if (an_is_stack(v)) {
		printf_put_stack(to, w, v);
		return;
	}
	switch (f->conv) {
	case 'a':
	case 'A':
	case 's':
	case 'S':
	case 'k':
		printf_put_text(to, f, w, v);
		break;
	case 'c':
		printf_character(to, w, c, v->visible);
		break;
	case 'C':
		printf_put_escaped(to, w, &c, 1);
		break;
	case 'e':
	case 'E':
	case 'f':
	case 'g':
	case 'G':
		(v->kind == SLOT_FLOAT ? printf_put_float : printf_put_integer)(to, f, w, v);
		break;
	case 'T':
	case 'Y':
		printf_put_date(to, w, f->conv, (uint64_t)v->i);
		break;
	default:
		printf_put_integer(to, f, w, v);
	}
}

void an_printf(struct buf *to, const struct fmt *f, const struct an_value *v, uint32_t n)
{
	uint32_t at = 0;
	for (uint32_t i = 0; i < f->n; i++) {
		const struct fmt_spec *s = &f->spec[i];
		buf_put(to, s->text, s->text_len);
		if (s->conv == '%')
			buf_putc(to, '%');
		if (s->arg == FMT_NONE)
			continue;
		struct an_field w = an_field(s, v, n, &at);
		if (at < n)
			an_convert(to, s, &w, &v[at++]);
	}
}
