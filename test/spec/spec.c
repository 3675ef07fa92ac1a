#include "spec.h"

static unsigned spec_passed, spec_failed;
static char **spec_names;

/* Keeps the name; false when there is one like it. */
static bool spec_new(char *text)
{
	unsigned n = spec_passed + spec_failed;
	spec_names = realloc(spec_names, (n + 1) * sizeof *spec_names);
	if (!spec_names)
		abort();
	spec_names[n] = text;
	for (unsigned i = 0; i < n; i++)
		if (!strcmp(spec_names[i], text))
			return false;
	return true;
}

static bool spec_assert(bool holds, const char *where, const char *format, va_list a, const char *why)
{
	char *words, *text;
	if (vasprintf(&words, format, a) < 0 || asprintf(&text, "%s: %s", where, words) < 0)
		abort();
	free(words);
	if (!spec_new(text))
		holds = false, why = " (another assertion has this name)";
	printf("%s %u - %s%s\n", holds ? "ok" : "not ok", spec_passed + spec_failed + 1, text, holds ? "" : why);
	*(holds ? &spec_passed : &spec_failed) += 1;
	return holds;
}

bool spec_says(bool holds, const char *where, const char *format, ...)
{
	va_list a;
	va_start(a, format);
	spec_assert(holds, where, format, a, "");
	va_end(a);
	return holds;
}

bool spec_equal(uint64_t is, uint64_t must, const char *where, const char *format, ...)
{
	char why[96];
	snprintf(why, sizeof why, " (it is %#llx, not %#llx)", (unsigned long long)is, (unsigned long long)must);
	va_list a;
	va_start(a, format);
	spec_assert(is == must, where, format, a, why);
	va_end(a);
	return is == must;
}

void spec_needs(bool works, const char *format, ...)
{
	if (works)
		return;
	va_list a;
	va_start(a, format);
	printf("Bail out! ");
	vprintf(format, a);
	printf("\n");
	va_end(a);
	exit(2);
}

int spec_end(unsigned least)
{
	unsigned all = spec_passed + spec_failed;
	printf("1..%u\n", all);
	if (all < least)
		printf("only %u assertions, of %u\n", all, least);
	printf("%u passed, %u failed\n", spec_passed, spec_failed);
	return spec_failed || all < least;
}

int spec_text_add(void *text, const char *s, size_t n)
{
	struct spec_text *t = text;
	t->s = realloc(t->s, t->n + n + 1);
	if (!t->s)
		abort();
	memcpy(t->s + t->n, s, n);
	t->n += n;
	t->s[t->n] = 0;
	return 0;
}

void spec_text_free(struct spec_text *t)
{
	free(t->s);
	*t = (struct spec_text){ 0 };
}

char *spec_line(char **at)
{
	if (!*at || !**at)
		return NULL;
	char *line = *at, *end = strchr(line, '\n');
	*at = end ? end + 1 : line + strlen(line);
	if (end)
		*end = 0;
	return line;
}

static const char *spec_member(const char *object, const char *key)
{
	char quoted[80];
	int n = snprintf(quoted, sizeof quoted, "\"%s\":", key);
	const char *at = object ? strstr(object, quoted) : NULL;
	return at ? at + n : NULL;
}

uint64_t spec_number(const char *object, const char *key)
{
	const char *v = spec_member(object, key);
	if (!v || !(*v == '-' || (*v >= '0' && *v <= '9')))
		return UINT64_MAX;
	return *v == '-' ? (uint64_t)strtoll(v, NULL, 10) : strtoull(v, NULL, 10);
}

const char *spec_string(const char *object, const char *key)
{
	static char value[512];
	const char *v = spec_member(object, key);
	size_t n = 0;
	if (v && *v++ == '"')
		while (v[n] && v[n] != '"' && n < sizeof value - 1)
			n++;
	if (v)
		memcpy(value, v, n);
	value[n] = 0;
	return value;
}

bool spec_is(const char *object, const char *key, const char *value)
{
	return !strcmp(spec_string(object, key), value);
}

uint64_t spec_get(const void *at, unsigned bytes)
{
	const uint8_t *b = at;
	uint64_t v = 0;
	while (bytes--)
		v = v << 8 | *b++;
	return v;
}

void spec_put(void *at, unsigned bytes, uint64_t value)
{
	for (uint8_t *b = at; bytes--; value >>= 8)
		b[bytes] = (uint8_t)value;
}
