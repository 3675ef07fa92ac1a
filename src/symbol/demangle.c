/*
 * demangle.c: names as people write them: C++, Rust (legacy and v0) and D.
 *
 * libiberty does it, the demangler of GCC, gdb and c++filt.  It is linked into tally, so nothing is loaded when a name
 * is asked for.  Debian has no maintained library that demangles Swift's names: those stay as the file has them.
 *
 * A name is a stranger's text, and a short one can stand for a very long one: each back reference of a type may double
 * what is printed. libiberty bounds the depth of its recursion, but not its output. So the C++ and the Rust demangler
 * print into a fixed room, and are left with longjmp() when it is full: there they hold memory of the stack alone,
 * except for one identifier in Rust's Punycode, which is then lost.  D's builds its output on the heap and can't be
 * left, so a name with more than D_BACK_REFERENCES_MOST back references is not given to it: q of them multiply a name
 * at most by 3^(q/3).  A name that does not fit stays as the file has it: no part of a name is shown.
 */
#include <libiberty/demangle.h>
#include <setjmp.h>
#include <stdlib.h>
#include <string.h>

#include "symbol/symbol_int.h"

#define D_BACK_REFERENCES_MOST 15u
#define CONVERSIONS_MOST 8u

struct demangled {
	char *to;
	size_t n, room;
	jmp_buf full;
};

static void demangled_put(const char *s, size_t n, void *arg)
{
	struct demangled *d = arg;

	if (n >= d->room - d->n)
		longjmp(d->full, 1);
	if (n) /* of an empty name s may be NULL */
		memcpy(d->to + d->n, s, n);
	d->n += n;
	d->to[d->n] = 0;
}

typedef int demangle_fn(const char *mangled, int options, demangle_callbackref put, void *arg);

static size_t demangle_with(demangle_fn *fn, const char *name, int options, char *to, size_t room)
{
	struct demangled d = { .to = to, .room = room };

	*to = 0;
	if (setjmp(d.full) || !fn(name, options, demangled_put, &d))
		return 0;
	return strlen(to);
}

static unsigned name_count(const char *name, const char *what)
{
	unsigned n = 0;

	while ((name = strstr(name, what))) {
		name++;
		n++;
	}
	return n;
}

/* D's demangler takes no options: the last list in parentheses is that of the parameters. What stands behind "!" is a
 * list of template arguments. */
static size_t dlang_cut_parameters(char *text, size_t n)
{
	size_t at = n, depth = 0;

	while (at-- > 0) {
		depth += text[at] == ')';
		if (text[at] == '(' && depth > 0 && --depth == 0)
			break;
	}
	if (at >= n || at == 0 || text[at - 1] == '!')
		return n;
	text[at] = 0;
	return at;
}

static size_t demangle_dlang(enum sym_demangle how, const char *name, char *to, size_t room)
{
	char *text = name_count(name, "Q") <= D_BACK_REFERENCES_MOST ? dlang_demangle(name, DMGL_NO_OPTS) : NULL;
	size_t n = text ? strlen(text) : 0;

	if (n >= room)
		n = 0;
	if (n)
		memcpy(to, text, n + 1);
	free(text);
	return n && how == SYM_DEMANGLE_SHORT ? dlang_cut_parameters(to, n) : n;
}

size_t name_demangle(enum sym_demangle how, const char *name, char *to, size_t room)
{
	const int options = how == SYM_DEMANGLE_SHORT ? DMGL_NO_OPTS : DMGL_PARAMS | DMGL_ANSI;
	size_t n;

	if (how == SYM_DEMANGLE_OFF || name[0] != '_' || strlen(name) >= NAME_MOST)
		return 0;
	switch (name[1]) {
	case 'R':
		return demangle_with(rust_demangle_callback, name, options, to, room);
	case 'Z':
		n = demangle_with(rust_demangle_callback, name, options, to, room); /* its legacy names look like C++ */
		return n || name_count(name, "cv") > CONVERSIONS_MOST ?
			       n :
			       demangle_with(cplus_demangle_v3_callback, name, options, to, room);
	case 'D':
		return demangle_dlang(how, name, to, room);
	default:
		return 0;
	}
}
