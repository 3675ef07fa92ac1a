/*
 * typed.c: bytes shown with their types, as print() does.
 *
 * The form is that of dtrace(1), which has it from libbpf's dump of typed data: a line for each member, indented by its
 * depth; what is zero is left out; text ends at its NUL.  Where the bytes end before the type does, a line of dots
 * stands for the rest.  What was opened is closed when the next member is of a lower depth: so dots stand before the
 * braces.
 */
#include <string.h>

#include "answer/answer_int.h"

#define PRINT_INDENT 44
#define PRINT_DEPTH_MOST 32 /* of structs within structs; what is deeper is left out */

struct print {
	struct buf *to;
	const uint8_t *p;
	uint32_t n;
	bool cut, visible;
	char open[PRINT_DEPTH_MOST]; /* closing brackets of the depths that are open */
	unsigned depth;              /* so many */
};

static void print_indent(struct print *d, unsigned depth)
{
	buf_printf(d->to, "%*s", (int)(PRINT_INDENT + depth), "");
}

static void print_close(struct print *d, unsigned depth)
{
	while (d->depth > depth) {
		d->depth--;
		print_indent(d, d->depth);
		buf_printf(d->to, "%c%s\n", d->open[d->depth], d->depth ? "," : "");
	}
}

static bool print_is_zero(const struct print *d, uint32_t at, uint32_t size)
{
	for (uint32_t i = 0; i < size && at + i < d->n; i++)
		if (d->p[at + i])
			return false;
	return true;
}

static int64_t print_integer(const struct print *d, uint32_t at, uint32_t size, bool is_signed)
{
	const unsigned spare = 64 - 8 * (size < 8 ? size : 8);
	uint64_t v = 0;

	memcpy(&v, d->p + at, size < 8 ? size : 8);
	v <<= spare;
	return is_signed ? (int64_t)v >> spare : (int64_t)(v >> spare);
}

static int64_t print_bits(const struct print *d, uint32_t at, const struct shape_member *m)
{
	uint64_t v = (uint64_t)print_integer(d, at, m->unit, false) >> m->bit << (64 - m->bits);

	return m->of->is_signed ? (int64_t)v >> (64 - m->bits) : (int64_t)(v >> (64 - m->bits));
}

static const char *print_enumerator(const struct shape *s, int64_t v)
{
	for (uint32_t i = 0; s->kind == SHAPE_ENUM && i < s->n; i++)
		if (s->name[i].value == v)
			return s->name[i].name;
	return NULL;
}

static void print_number(struct print *d, const struct shape *s, int64_t v)
{
	const char *name = print_enumerator(s, v);

	if (name)
		buf_puts(d->to, name);
	else if (s->kind == SHAPE_POINTER)
		buf_printf(d->to, "0x%llx", (unsigned long long)v);
	else if (s->is_signed)
		buf_printf(d->to, "%lld", (long long)v);
	else
		buf_printf(d->to, "%llu", (unsigned long long)v);
}

static void print_scalar(struct print *d, const struct shape *s, uint32_t at, const struct shape_member *m, bool text)
{
	const char c = (char)d->p[at];
	const struct an_value f = {
		.kind = SLOT_FLOAT, .width = (uint8_t)s->size, .s = (const char *)d->p + at, .len = s->size
	};

	buf_printf(d->to, "(%s)", s->type);
	if (s->kind == SHAPE_FLOAT)
		an_bare(d->to, &f);
	else if (text && c >= ' ' && c <= '~')
		buf_printf(d->to, "'%c'", c);
	else
		print_number(d, s, m && m->bits ? print_bits(d, at, m) : print_integer(d, at, s->size, s->is_signed));
}

static void print_shape(struct print *d, const struct shape *s, uint32_t at, const struct shape_member *m,
			unsigned depth, bool text);

/* The elements of an array, up to where the bytes end; text up to its NUL. */
static void print_elements(struct print *d, const struct shape *s, uint32_t at, unsigned depth)
{
	for (uint32_t i = 0; i < s->n && !d->cut; i++, at += s->of->size) {
		if (s->of->is_char && (at >= d->n || !d->p[at]))
			return;
		print_shape(d, s->of, at, NULL, depth, s->of->is_char);
	}
}

/* What lies at `at`, on a line of its own, or on several. m: the member that it is, if it is one. */
static void print_shape(struct print *d, const struct shape *s, uint32_t at, const struct shape_member *m,
			unsigned depth, bool text)
{
	const bool nests = s->kind == SHAPE_STRUCT || s->kind == SHAPE_ARRAY;

	if (d->cut || depth >= PRINT_DEPTH_MOST)
		return;
	if (at >= d->n || (!nests && at + (m && m->bits ? m->unit : s->size) > d->n)) {
		print_indent(d, depth);
		buf_puts(d->to, "...\n");
		d->cut = true;
		return;
	}
	if (m && (m->bits ? !print_bits(d, at, m) : print_is_zero(d, at, s->size)))
		return;
	print_close(d, depth);
	print_indent(d, depth);
	if (m && *m->name)
		buf_printf(d->to, ".%s = ", m->name);
	if (!nests) {
		print_scalar(d, s, at, m, text);
		buf_puts(d->to, depth ? ",\n" : "\n");
		return;
	}
	buf_printf(d->to, "(%s) %c\n", s->type, s->kind == SHAPE_STRUCT ? '{' : '[');
	d->open[d->depth++] = s->kind == SHAPE_STRUCT ? '}' : ']';
	if (s->kind == SHAPE_ARRAY) {
		print_elements(d, s, at, depth + 1);
		if (!d->cut)
			print_close(d, depth);
	}
	for (uint32_t i = 0; s->kind == SHAPE_STRUCT && i < s->n; i++)
		print_shape(d, s->member[i].of, at + s->member[i].offset, &s->member[i], depth + 1, false);
}

void an_print_typed(struct buf *to, const struct shape *s, const uint64_t *pointer, const void *bytes, uint32_t n)
{
	struct print d = { .to = to, .p = bytes, .n = n };

	if (pointer)
		buf_printf(to, "0x%llx = *\n", (unsigned long long)*pointer);
	print_shape(&d, s, 0, NULL, 0, false);
	print_close(&d, 0);
}
