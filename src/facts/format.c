/*
 * format.c: takes a format string apart once, when a program is compiled, so
 * that printing walks an array.
 *
 * A conversion is % followed by flags, width and precision in any order that
 * dtrace(1) accepts (it reads them as one run of characters, and so do we),
 * size letters, and a letter of format.def.  `?` is the width of a pointer.
 * Positional arguments (%1$d) are refused, as are widths above FMT_WIDTH_MAX:
 * output must stay bounded whatever the source says.
 */
#include "facts/format.h"

#include <string.h>

static const struct fmt_conv conversions[] = {
#define CONV(letter, arg, sizes, proto, text) { letter, FMT_##arg, sizes, proto, text },
#include "facts/format.def"
#undef CONV
};

const struct fmt_conv *fmt_conv(unsigned i)
{
	return i < COUNT(conversions) ? &conversions[i] : NULL;
}

const struct fmt_conv *fmt_conv_find(char letter)
{
	for (size_t i = 0; i < COUNT(conversions); i++)
		if (conversions[i].letter == letter)
			return &conversions[i];
	return NULL;
}

struct scan {
	const char *p, *end;
	struct fmt_spec *spec; /* being filled in */
	unsigned number;       /* of the conversion, from 1, for messages */
	bool dot;              /* past the '.' */
	char size[3];          /* size letters */
	uint8_t nsize;
	struct err *e;
};

#define BAD(s, fmt, ...) err_set((s)->e, TALLY_EINVAL, "format conversion #%u " fmt, (s)->number, ##__VA_ARGS__)

static int format_take_digits(struct scan *s)
{
	int n = 0;
	for (; s->p < s->end && *s->p >= '0' && *s->p <= '9'; s->p++)
		if ((n = n * 10 + (*s->p - '0')) > FMT_WIDTH_MAX)
			return BAD(s, "has a %s above %d", s->dot ? "precision" : "width", FMT_WIDTH_MAX);
	*(s->dot ? &s->spec->prec : &s->spec->width) = n;
	return 0;
}

static int format_take_star(struct scan *s)
{
	bool *flag = s->dot ? &s->spec->prec_star : &s->spec->width_star;
	if (*flag)
		return BAD(s, "has more than one '*' specified for the output %s", s->dot ? "precision" : "width");
	*flag = true;
	return 0;
}

static int format_take_dot(struct scan *s)
{
	if (s->dot)
		return BAD(s, "has more than one '.' specified");
	s->dot = true;
	s->spec->prec = 0; /* "%.d" is "%.0d" */
	return 0;
}

static bool format_take_flag(struct fmt_spec *f, char c)
{
	switch (c) {
	case '-':
		return f->left = true;
	case '+':
		return f->plus = true;
	case ' ':
		return f->space = true;
	case '#':
		return f->alt = true;
	case '\'':
		return f->group = true;
	case '@':
		return f->agg = true;
	default:
		return false;
	}
}

/* One character between % and the letter. Returns 1 when *s->p is no such thing. */
static int format_take_modifier(struct scan *s)
{
	char c = *s->p;
	if (c == '0' && !s->dot && s->spec->width < 0) {
		s->spec->zero = true;
	} else if (c >= '0' && c <= '9') {
		return format_take_digits(s);
	} else if (c == '*' || c == '.') {
		s->p++;
		return c == '*' ? format_take_star(s) : format_take_dot(s);
	} else if (c == '?') {
		s->spec->width = 16;
	} else if (strchr("hlLwjzt", c) != NULL && c != '\0') {
		if (s->nsize < sizeof(s->size) - 1)
			s->size[s->nsize++] = c;
		else
			return BAD(s, "is undefined: %%%s%c", s->size, c);
	} else if (c == '$') {
		return BAD(s, "uses unsupported positional format (%%n$)");
	} else if (!format_take_flag(s->spec, c)) {
		return 1;
	}
	s->p++;
	return 0;
}

/* hh and ll, or one letter that the conversion takes. */
static bool size_ok(const struct scan *s, const struct fmt_conv *conv)
{
	char first = s->size[0];
	bool twice = s->size[1] == first && (first == 'h' || first == 'l');
	if (s->nsize == 2 && !(twice && conv->arg == FMT_INT))
		return false;
	return s->nsize == 0 || strchr(conv->sizes, first) != NULL;
}

static uint8_t size_bytes(const struct scan *s)
{
	if (s->nsize == 0 || s->size[0] == 'w')
		return 0;
	return s->size[0] != 'h' ? 8 : s->nsize == 2 ? 1 : 2;
}

/* From after the % to after the letter. */
static int format_take_conversion(struct scan *s)
{
	const char *start = s->p;
	int rc;
	do {
		if (s->p == s->end)
			return BAD(s, "name expected before end of format string");
		rc = format_take_modifier(s);
	} while (rc == 0);
	if (rc < 0)
		return rc;
	if (*s->p == '%' && s->p != start)
		return BAD(s, "cannot be combined with other format flags: %%%%");
	const struct fmt_conv *conv = fmt_conv_find(*s->p);
	if (conv == NULL || !size_ok(s, conv))
		return BAD(s, "is undefined: %%%s%c", s->size, *s->p != '\0' ? *s->p : ' ');
	s->spec->conv = *s->p++;
	s->spec->arg = conv->arg;
	s->spec->size = size_bytes(s);
	return 0;
}

static const char *format_find_percent(const char *p, const char *end)
{
	const char *at = p < end ? memchr(p, '%', (size_t)(end - p)) : NULL;
	return at != NULL ? at : end;
}

/* An upper bound: each % starts at most one conversion, and text may follow the last. */
static size_t count_specs(const char *p, const char *end)
{
	size_t n = 1;
	for (p = format_find_percent(p, end); p < end; p = format_find_percent(p + 1, end))
		n++;
	return n;
}

int fmt_parse(struct arena *a, const char *text, size_t n, struct fmt *ret, struct err *e)
{
	const char *p = text, *end = text + n;
	uint32_t nspecs = 0;
	if (n > INT32_MAX)
		return err_set(e, TALLY_EINVAL, "format string is too long");
	struct fmt_spec *spec = arena_alloc(a, count_specs(p, end) * sizeof(*spec));
	if (spec == NULL)
		return err_oom(e);
	while (p < end) {
		struct fmt_spec *f = &spec[nspecs++];
		const char *at = format_find_percent(p, end);
		*f = (struct fmt_spec){ .text = p, .text_len = (uint32_t)(at - p), .width = -1, .prec = -1 };
		struct scan s = { .p = at + 1, .end = end, .spec = f, .number = nspecs, .e = e };
		if (at == end)
			break;
		int rc = format_take_conversion(&s);
		if (rc < 0)
			return rc;
		p = s.p;
	}
	*ret = (struct fmt){ spec, nspecs };
	return 0;
}
