/*
 * format.c: which text a client takes, and how numbers and strings are written in it.
 *
 * Prometheus asks for OpenMetrics and takes the older text as well; curl asks for nothing.  A header comes from
 * anybody, so it is read once, from left to right, and what is not understood counts for nothing.
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "serve/serve_int.h"

#define OPENMETRICS "application/openmetrics-text"

const char *format_content_type(enum format f)
{
	return f == FORMAT_OPENMETRICS ? OPENMETRICS "; version=1.0.0; charset=utf-8" :
					 "text/plain; version=0.0.4; charset=utf-8";
}

/* ---- Accept ---------------------------------------------------------------------- */

static bool format_is_blank(char c)
{
	return c == ' ' || c == '\t';
}

/* Takes the blanks off both ends of p[0..n). */
static size_t format_trim(const char **p, size_t n)
{
	while (n && format_is_blank(**p)) {
		++*p;
		n--;
	}
	while (n && format_is_blank((*p)[n - 1]))
		n--;
	return n;
}

/* "0.5" in thousandths; what is no such number is 0. */
static unsigned format_weight(const char *p, size_t n)
{
	unsigned v, unit = 100;

	if (!n || (p[0] != '0' && p[0] != '1'))
		return 0;
	v = p[0] == '1' ? 1000 : 0;
	for (size_t i = 2; i < n && unit && p[1] == '.' && p[i] >= '0' && p[i] <= '9'; i++, unit /= 10)
		v += (unsigned)(p[i] - '0') * unit;
	return v > 1000 ? 1000 : v;
}

static bool format_word_is(const char *p, size_t n, const char *word)
{
	return n == strlen(word) && !strncasecmp(p, word, n);
}

/* One range of the header: what it weighs for each format. A version that is not ours does not count. */
static void format_take_range(const char *p, size_t n, unsigned weight[2])
{
	const char *semicolon = memchr(p, ';', n);
	size_t type = semicolon ? (size_t)(semicolon - p) : n;
	const char *name = p, *end = p + n;
	unsigned w = 1000;
	bool versions = true;

	type = format_trim(&name, type);
	while (semicolon) {
		const char *next = memchr(semicolon + 1, ';', (size_t)(end - semicolon - 1)), *word = semicolon + 1;
		size_t len = format_trim(&word, (size_t)((next ? next : end) - word));

		if (len >= 2 && !strncasecmp(word, "q=", 2))
			w = format_weight(word + 2, len - 2);
		else if (len > 8 && !strncasecmp(word, "version=", 8))
			versions = format_word_is(word + 8, len - 8, "1.0.0") ||
				   format_word_is(word + 8, len - 8, "0.0.4");
		semicolon = next;
	}
	if (!versions)
		return;
	if (format_word_is(name, type, OPENMETRICS) && w > weight[FORMAT_OPENMETRICS])
		weight[FORMAT_OPENMETRICS] = w;
	if ((format_word_is(name, type, "text/plain") || format_word_is(name, type, "text/*") ||
	     format_word_is(name, type, "*/*")) &&
	    w > weight[FORMAT_TEXT])
		weight[FORMAT_TEXT] = w;
}

enum format format_accepted(const char *accept, size_t n)
{
	unsigned weight[2] = { 0 };

	while (accept && n) {
		const char *comma = memchr(accept, ',', n);
		const size_t len = comma ? (size_t)(comma - accept) : n;

		format_take_range(accept, len, weight);
		accept += comma ? len + 1 : len;
		n -= comma ? len + 1 : len;
	}
	return weight[FORMAT_OPENMETRICS] > weight[FORMAT_TEXT] ? FORMAT_OPENMETRICS : FORMAT_TEXT;
}

/* ---- numbers and strings ----------------------------------------------------------- */

void format_number(struct buf *to, double v)
{
	char text[40];
	int digits = 0, exponent;
	char *e;

	if (isinf(v) || isnan(v)) {
		buf_puts(to, isnan(v) ? "NaN" : v > 0 ? "+Inf" : "-Inf");
		return;
	}
	/* the fewest digits that are this number */
	do
		snprintf(text, sizeof(text), "%.*e", digits, v);
	while (++digits < 17 && strtod(text, NULL) != v);
	e = strchr(text, 'e');
	exponent = atoi(e + 1);
	if (exponent < -4 || exponent >= 6) {
		buf_puts(to, text);
		return;
	}
	digits = digits - 1 - exponent; /* behind the point */
	buf_printf(to, "%.*f%s", digits > 0 ? digits : 0, v, digits > 0 ? "" : ".0");
}

void format_label(struct buf *to, const char *name, const char *value, size_t n)
{
	buf_puts(to, name);
	buf_puts(to, "=\"");
	for (size_t i = 0, len; i < n; i += len) {
		for (len = 0; i + len < n && value[i + len] >= ' ' && value[i + len] < 0x7f && value[i + len] != '"' &&
			      value[i + len] != '\\';)
			len++;
		if (len) { /* most are plain, and go in one piece */
			buf_put(to, value + i, len);
			continue;
		}
		len = text_utf8_len(value + i, n - i);
		if (!len) {
			buf_puts(to, "\xef\xbf\xbd");
			len = 1;
		} else if (value[i] == '\n') {
			buf_puts(to, "\\n");
		} else {
			if (value[i] == '"' || value[i] == '\\')
				buf_putc(to, '\\');
			buf_put(to, value + i, len);
		}
	}
	buf_putc(to, '"');
}

void format_label_number(struct buf *to, const char *name, int64_t value)
{
	buf_puts(to, name);
	buf_puts(to, "=\"");
	buf_i64(to, value);
	buf_putc(to, '"');
}

/* OpenMetrics has quotes escaped in a help text, the older format has not: there are none. */
void format_help(struct buf *to, const char *text)
{
	struct buf plain = { 0 };

	buf_plain(&plain, text, strlen(text));
	to->failed |= plain.failed;
	for (const char *p = plain.p ? plain.p : ""; *p; p++) {
		if (*p == '\\')
			buf_putc(to, '\\');
		buf_putc(to, *p == '\n' ? ' ' : *p == '"' ? '\'' : *p);
	}
	buf_free(&plain);
}
