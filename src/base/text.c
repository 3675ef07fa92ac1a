/*
 * text.c: small questions about words: a number, a pattern, the nearest name.
 *
 * The nearest name is the one that takes the fewest letters to be written instead; a third of the word's letters at
 * most. A word of three letters or more that begins a name means that name, and of several the shortest.
 */
#include <ctype.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>

#include "base/base.h"

static int text_digit_value(char c, unsigned base)
{
	int d = c >= '0' && c <= '9' ? c - '0' :
		c >= 'a' && c <= 'f' ? c - 'a' + 10 :
		c >= 'A' && c <= 'F' ? c - 'A' + 10 :
				       -1;

	return d < (int)base ? d : -1;
}

bool text_u64(const char *s, uint64_t *ret)
{
	unsigned base = s[0] == '0' && (s[1] | 32) == 'x' ? 16 : 10;
	uint64_t v = 0;

	if (base == 16)
		s += 2;
	if (!*s)
		return false;
	for (; *s; s++) {
		int d = text_digit_value(*s, base);

		if (d < 0 || __builtin_mul_overflow(v, base, &v) || __builtin_add_overflow(v, (uint64_t)d, &v))
			return false;
	}
	*ret = v;
	return true;
}

int64_t text_time_unit(const char *name)
{
	static const struct {
		const char *name, *word;
		int64_t ns;
	} units[] = {
		{ "ns", "nsec", 1 },
		{ "us", "usec", 1000 },
		{ "ms", "msec", 1000000 },
		{ "s", "sec", 1000000000 },
		{ "m", "min", 60000000000 },
		{ "h", "hour", 3600000000000 },
		{ "d", "day", 86400000000000 },
		{ "hz", "", 0 },
	};

	for (size_t i = 0; i < COUNT(units); i++)
		if (!strcasecmp(name, units[i].name) || !strcasecmp(name, units[i].word))
			return units[i].ns;
	return -1;
}

/* Matches c against the set at p (just after '['); *end is set past the ']', or to NULL when there is none. */
static bool set_has(const char *p, char c, const char **end)
{
	bool negated = *p == '!', in = false, first = true;

	p += negated;
	for (; *p && (*p != ']' || first); p++, first = false) {
		if (p[1] == '-' && p[2] && p[2] != ']') {
			in |= c >= p[0] && c <= p[2];
			p += 2;
		} else {
			in |= c == *p;
		}
	}
	*end = *p ? p + 1 : NULL;
	return in != negated;
}

/* One pattern element against one character: where the pattern goes on, or NULL. */
static const char *text_match_element(const char *p, char c)
{
	const char *end;

	if (*p == '[') {
		bool has = set_has(p + 1, c, &end);

		if (end)
			return has ? end : NULL;
	}
	if (*p == '\\' && p[1])
		p++;
	else if (*p == '?')
		return p + 1;
	return *p == c ? p + 1 : NULL;
}

bool text_glob(const char *p, const char *s)
{
	const char *star = NULL, *mark = NULL, *next;

	if (!*p)
		return true;
	for (;;) {
		if (*p == '*') {
			star = ++p;
			mark = s;
		} else if (!*s) {
			return !*p;
		} else if (*p && (next = text_match_element(p, *s))) {
			p = next;
			s++;
		} else if (star) {
			p = star;
			s = ++mark;
		} else {
			return false;
		}
	}
}

#define WORD_MOST 64u
#define SHORT_LEAST 3u /* letters that may stand for a longer word */

static bool text_alike_char(char a, char b)
{
	return tolower((unsigned char)a) == tolower((unsigned char)b) ||
	       ((a == '-' || a == '_') && (b == '-' || b == '_'));
}

static unsigned text_least(unsigned a, unsigned b)
{
	return a < b ? a : b;
}

/* What a letter too many, too few or another one costs, and two that changed places: 1 each. Three rows, the last two
 * and the one that is made, are enough. */
static unsigned text_edit_distance(const char *a, size_t n, const char *b, size_t m)
{
	unsigned rows[3][WORD_MOST + 1], *before = rows[0], *last = rows[1], *row = rows[2], *spare;

	for (unsigned j = 0; j <= m; j++)
		last[j] = before[j] = j;
	for (size_t i = 1; i <= n; i++) {
		row[0] = (unsigned)i;
		for (size_t j = 1; j <= m; j++) {
			row[j] = text_least(last[j - 1] + !text_alike_char(a[i - 1], b[j - 1]),
					    text_least(last[j], row[j - 1]) + 1);
			if (i > 1 && j > 1 && text_alike_char(a[i - 1], b[j - 2]) &&
			    text_alike_char(a[i - 2], b[j - 1]))
				row[j] = text_least(row[j], before[j - 2] + 1);
		}
		spare = before;
		before = last;
		last = row;
		row = spare;
	}
	return last[m];
}

/* Who writes "len" means "length_dw", and not "ln", which is nearer by its letters. */
static bool is_short_for(const char *word, size_t len, const char *candidate, size_t m)
{
	size_t i = 0;

	while (i < len && i < m && text_alike_char(word[i], candidate[i]))
		i++;
	return i == len && len >= SHORT_LEAST;
}

static const char *text_name(const struct text_names *names, size_t i)
{
	const char *name;

	memcpy(&name, (const char *)names->first + i * names->stride, sizeof(name));
	return name;
}

const char *text_nearest(const char *word, struct text_names names)
{
	size_t len = strlen(word), longer = SIZE_MAX;
	unsigned best = (unsigned)(len / 3) + 1;
	const char *ret = NULL, *whole = NULL; /* whole: the least of those that the word begins */

	for (size_t i = 0; i < names.n && len <= WORD_MOST; i++) {
		const char *name = text_name(&names, i);
		size_t m = name ? strlen(name) : WORD_MOST + 1;
		unsigned d = m > WORD_MOST ? best : text_edit_distance(word, len, name, m);

		if (name && is_short_for(word, len, name, m) && m - len < longer) {
			longer = m - len;
			whole = name;
		}
		if (d < best) {
			best = d;
			ret = name;
		}
	}
	return whole && best ? whole : ret;
}

struct err_tail err_near(const char *quote, const char *word, struct text_names names)
{
	const char *near = text_nearest(word, names);
	struct err_tail t = { "" };

	if (near)
		snprintf(t.text, sizeof(t.text), "; did you mean %s%s%s?", quote, near, quote);
	return t;
}

struct err_tail err_unknown(const char *word, struct text_names names, const char *fmt, ...)
{
	struct err_tail t = err_near("'", word, names);
	struct buf all = { 0 };
	const char *name;
	va_list ap;

	if (*t.text)
		return t;
	if (fmt) {
		va_start(ap, fmt);
		vsnprintf(t.text, sizeof(t.text), fmt, ap);
		va_end(ap);
		return t;
	}
	for (size_t i = 0; i < names.n; i++)
		if ((name = text_name(&names, i)) != NULL)
			buf_printf(&all, "%s%s", all.n ? ", " : "", name);
	snprintf(t.text, sizeof(t.text), " (expected one of %s)", all.p ? all.p : "none");
	buf_free(&all);
	return t;
}

int text_pick(const char *key, const char *word, struct text_names names, struct err *e)
{
	for (size_t i = 0; i < names.n; i++)
		if (!strcmp(text_name(&names, i), word))
			return (int)i;
	return err_set(e, TALLY_EINVAL, "%s=%s: unknown %s%s", key, word, key, err_unknown(word, names, NULL).text);
}

size_t text_mark(const char *s, size_t n)
{
	return n >= 3 && !memcmp(s, "\xef\xbb\xbf", 3) ? 3 : 0;
}

const char *text_not_utf8(const char *s, size_t n)
{
	if (text_mark(s, n))
		return "a second byte order mark stands behind the first: save the file with one, or without";
	if (n < 2)
		return NULL;
	if (!memcmp(s, "\xff\xfe", 2) || !memcmp(s, "\xfe\xff", 2) || !s[0] != !s[1])
		return "this is UTF-16; save it as UTF-8";
	return NULL;
}

void buf_identifier(struct buf *to, const char *text, size_t n)
{
	const size_t start = to->n;

	for (size_t i = 0; i < n; i++) {
		const char c = text[i];
		const bool letter = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z'), digit = c >= '0' && c <= '9';

		if (digit && to->n == start)
			buf_putc(to, '_');
		if (letter || digit)
			buf_putc(to, c);
		else if (to->n == start || to->p[to->n - 1] != '_')
			buf_putc(to, '_');
	}
	while (to->n > start + 1 && to->p[to->n - 1] == '_')
		to->p[--to->n] = '\0';
}

void buf_key_name(struct buf *to, const char *text)
{
	size_t n = strcspn(text, "(");
	const char *start = text;

	if (*text && strchr("\"'0123456789", text[*text == '-'])) { /* a constant says what the key is, not of what */
		buf_puts(to, "key");
		return;
	}
	if (text[n] == '(' && n == 0) /* a cast or parentheses: all of it */
		n = strlen(text);
	for (size_t i = 0; i < n; i++)
		if (text[i] == '.' || text[i] == '`' || (text[i] == '>' && i && text[i - 1] == '-'))
			start = text + i + 1;
	n -= (size_t)(start - text);
	buf_identifier(to, start, n);
}
