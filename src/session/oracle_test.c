/*
 * What the vm and the kernel answer must also be right.  The differential test
 * cannot see a mistake that both make, so two oracles answer here that share no
 * code with the compiler of D:
 *
 * Integers: the C compiler.  One text of declarations and expressions is both D
 * and C; gcc -fwrapv computes all of it in one program, and each expression must
 * have the same value in D.  What C leaves undefined is not generated: shifts
 * are by fewer bits than the type has, divisors are neither 0 nor -1, and what an
 * expression changes it does not use besides.
 *
 * Strings: a model of each function, byte by byte on C strings that are cut to
 * strsize, run on each expression while it is generated.  NULL is a string of its own: it can be assigned and
 * compared, and any other use of it is a fault, which ends the clause.
 *
 * TALLY_DIFFERENTIAL_SEED=N runs program N alone and prints it.
 */
#include <ctype.h>
#include <limits.h>

#include "session/differential_test_int.h"
#include "session/generate.h"

/* Runs a script in the vm, and in the kernel where that is allowed; each line of the output must be that of `want`. */
static void answers_are(const char *name, const char *script, const char *want)
{
	static const char *const who[] = { "vm", "kernel" };

	if (getenv("TALLY_DIFFERENTIAL_SEED"))
		fputs(script, stdout); /* cmocka cuts long messages */
	for (int kernel = 0; kernel <= (geteuid() == 0); kernel++) {
		struct buf got = { 0 };
		const char *w = want, *g;

		run_script(name, script, strlen(script), kernel ? 0 : TALLY_TRACE_VM, &got);
		without_messages(&got);
		g = got.p;
		while (*w) {
			int nw = (int)strcspn(w, "\n"), ng = (int)strcspn(g, "\n");

			if (nw != ng || memcmp(w, g, (size_t)nw))
				fail_msg("%s: the %s says \"%.*s\", the oracle \"%.*s\"", name, who[kernel], ng, g, nw,
					 w);
			w += nw + !!w[nw];
			g += ng + !!g[ng];
		}
		buf_free(&got);
	}
}

/* ---- integers: the C compiler ------------------------------------------------------ */

#define C_PROGRAMS 100
#define C_CLAUSES 3
#define C_STATEMENTS 4 /* of a clause */
#define C_DEPTH 3

static const char *const c_types[] = { "char",      "unsigned char",      "short", "unsigned short",
				       "int",       "unsigned int",       "long",  "unsigned long",
				       "long long", "unsigned long long", "bool" };
static const char *const c_places[] = {
	"c8",
	"u8",
	"i16",
	"u16",
	"i32",
	"u32",
	"l64",
	"ul64",
	"i64",
	"u64",
	"b",
	"this->n",
	"this->f",
	"self->n",
	"self->f",
	"point.x",
	"point.y",
	"point.f",
	"point.low",
	"point.high",
	"point.wide",
	"point.all",
	"point.full",
	"point.flag",
	"point.tiny",
	"point.far",
	"point.big",
	"point.sh",
	"array[2]",
	"bits[1]",
	"points[2].high",
	"points[0].y",
	"points[1].flag",
	"grid[1][2]",
	"grid[0][0]",
	"this->row[1]",
	"self->row[2]",
	"this->point.wide",
	"this->point.x",
	"self->point.low",
	"self->point.y",
	"pair.in.a",
	"pair.in.b",
	"pair.at[1].far",
	"pair.at[0].x",
	"pair.side",
	"pair.u.whole",
	"pair.u.half",
	"pair.u.byte[3]",
};
/* What D reads through a pointer, and never writes. */
static const char *const c_reads[] = {
	"(*(&array[0] + 3))",
	"(&points[0] + 1)->big",
	"(&points[1])->y",
	"(*(&grid[1][0] + 2))",
	"SCALE",
	"RIGHT",
	"LEFT",
};

/* So much of a place's name is that of what it is part of; the members of a union are one place. */
static size_t c_whole_length(const char *place)
{
	return strncmp(place, "pair.u.", 7) == 0 ? 7 : strcspn(place, "[");
}

/* `not`: what the expression must not use. */
static void c_leaf(struct gen *g, const char * not )
{
	const char *place;

	if (pick(g, 4) == 0) {
		PUT(g, "%s",
		    ONE_OF(g, "0", "1", "-1", "2", "7u", "-10", "100L", "127", "128", "-128", "255", "256", "2048",
			   "32767", "-32768", "65535", "1000000007", "0x7fffffff", "0x80000000", "-2147483647",
			   "0xffffffff", "4294967295u", "0x100000000", "0x7fffffffffffffff", "0x8000000000000000",
			   "0xfffffffffffffff0", "123456789012345", "5ull", "'x'", "sizeof (i16)"));
		return;
	}
	if (!not &&pick(g, 10) == 0) {
		PUT(g, "%s", one_of(g, c_reads, COUNT(c_reads)));
		return;
	}
	do
		place = one_of(g, c_places, COUNT(c_places));
	while (not &&!strncmp(place, not, c_whole_length(not )));
	PUT(g, "%s", place);
}

static void c_integer(struct gen *g, unsigned depth, const char * not );

static void c_binary(struct gen *g, unsigned depth, const char * not )
{
	const char *op = ONE_OF(g, "+", "-", "*", "/", "%", "&", "|", "^", "<<", ">>", "==", "!=", "<", "<=", ">",
				">=", "&&", "||");
	bool divides = *op == '/' || *op == '%', shifts = !strcmp(op, "<<") || !strcmp(op, ">>"),
	     wide = shifts && pick(g, 2);

	PUT(g, "(%s", wide ? ONE_OF(g, "(long)", "(unsigned long long)") : "");
	/* a sum of constants is wider in D, and one of two char is a char */
	PUT(g, "(b, 0 + ");
	c_integer(g, depth, not );
	PUT(g, ") %s ", op);
	PUT(g, divides ? ONE_OF(g, "(2 + (7 & ", "(-2 - (7 & ") : shifts ? "(%d & " : "", wide ? 63 : 31);
	c_integer(g, depth, not );
	PUT(g, divides ? ")))" : shifts ? "))" : ")");
}

static void c_integer(struct gen *g, unsigned depth, const char * not )
{
	if (depth-- == 0) {
		c_leaf(g, not );
		return;
	}
	switch (pick(g, 10)) {
	case 0:
	case 1:
		PUT(g, "((%s)", one_of(g, c_types, COUNT(c_types)));
		break;
	case 2:
	case 3:
		PUT(g, "(%s ", ONE_OF(g, "-", "~", "!", "+"));
		break;
	case 4:
		PUT(g, "(");
		c_integer(g, depth, not );
		PUT(g, " ? ");
		c_integer(g, depth, not );
		PUT(g, " : ");
		break;
	case 5:
		PUT(g, "(");
		c_integer(g, depth, not );
		PUT(g, ", ");
		break;
	case 6:
		if (not ) {
			c_leaf(g, not );
			return;
		}
		PUT(g, "%s[", ONE_OF(g, "array", "bits"));
		c_integer(g, depth, not );
		PUT(g, " & 3]");
		return;
	default:
		c_binary(g, depth, not );
		return;
	}
	c_integer(g, depth, not );
	PUT(g, ")");
}

/* An expression that changes `place`, or a value of it alone. */
static void c_change(struct gen *g, const char *place)
{
	const char *op = ONE_OF(g, "=", "=", "+=", "-=", "*=", "/=", "%=", "&=", "|=", "^=", "<<=", ">>=");

	switch (pick(g, 5)) {
	case 0:
		c_integer(g, C_DEPTH, NULL);
		return;
	case 1:
		PUT(g, pick(g, 2) ? "(%1$s%2$s)" : "(%2$s%1$s)", place, pick(g, 2) ? "++" : "--");
		break;
	default:
		PUT(g, "(%s %s ", place, op);
		if (*op == '/' || *op == '%' || *op == '<' || *op == '>') {
			PUT(g, "((");
			c_integer(g, C_DEPTH - 1, place);
			PUT(g, *op == '/' || *op == '%' ? " & 7) + 2)" : " & 31))");
		} else {
			c_integer(g, C_DEPTH, NULL);
		}
		PUT(g, ")");
	}
	if (pick(g, 2)) { /* the value of the change takes part in more */
		PUT(g, " %s ", ONE_OF(g, "-", "*", "<", ">=", "==", "^"));
		c_integer(g, 1, place);
	}
}

/* A statement, and what the place has become. */
static void c_statement(struct gen *g, bool as_c)
{
	const char *place = one_of(g, c_places, COUNT(c_places));

	PUT(g, "r = (long long)(");
	c_change(g, place);
	PUT(g, ");\nprintf(\"%s\\n\", r, (long long)%s);\n", as_c ? "%lld %lld" : "%d %d", place);
}

/* A program as C (a function), or as D: the same numbers are drawn for both. */
static void c_program(struct gen *g, unsigned number, bool as_c)
{
	const char *before = as_c ? "static " : "";
	uint64_t state;

	gen_begin(g, number);
	PUT(g,
	    "struct p { char x; long y; bool f; int low:5; unsigned high:11; unsigned wide:31; int all:32; unsigned full:32;\n"
	    "bool flag:1; unsigned char tiny:3; long long far:20; unsigned long long big:31; short sh:9; };\n"
	    "enum side { LEFT = -1, RIGHT = 5 };\n"
	    "struct pair { struct { short a; unsigned char b; } in; struct p at[2]; enum side side;\n"
	    "union { unsigned long whole; unsigned half; signed char byte[8]; } u; };\n");
	if (as_c)
		PUT(g, "enum { SCALE = 3 };\n"
		       "static struct { int n; bool f; short row[4]; struct p point; } this_;\n"
		       "static struct { long n; bool f; unsigned row[4]; struct p point; } self_;\n"
		       "typeof(&this_) this = &this_; typeof(&self_) self = &self_;\n");
	else
		PUT(g, "inline int SCALE = 3;\n"
		       "this int n; this bool f; this short row[4]; this struct p point;\n"
		       "self long n; self bool f; self unsigned row[4]; self struct p point;\n");
	for (unsigned i = 0; i < COUNT(c_types); i++)
		PUT(g, "%s%s %s;\n", before, c_types[i], c_places[i]);
	PUT(g,
	    "%1$slong long r; %1$sstruct p point; %1$sint array[4]; %1$sbool bits[4]; %1$sstruct p points[3];\n"
	    "%1$sunsigned short grid[2][3]; %1$sstruct pair pair;\n",
	    before);
	state = g->state;
	for (unsigned c = 0; c < C_CLAUSES; c++) {
		PUT(g, as_c ? "{\n" : "BEGIN {\n");
		for (unsigned i = 0; c == 0 && i < COUNT(c_places); i++) {
			PUT(g, "%s = ", c_places[i]);
			c_leaf(g, NULL);
			PUT(g, ";\n");
		}
		for (unsigned i = 0; i < C_STATEMENTS; i++) {
			bool chosen = pick(g, 4) == 0;

			if (chosen) {
				PUT(g, "if (");
				c_integer(g, 2, NULL);
				PUT(g, ") {\n");
			}
			c_statement(g, as_c);
			if (chosen) {
				PUT(g, "} else {\n");
				c_statement(g, as_c);
				PUT(g, "}\n");
			}
		}
		PUT(g, "}\n");
	}
	g->state = state;
}

static void c_compile_and_run(const char *dir, const struct buf *source, struct buf *out)
{
	char line[400];
	FILE *f;

	snprintf(line, sizeof(line), "gcc -x c -std=gnu17 -fwrapv -fsigned-char -w -o %s/oracle - 2>&1", dir);
	f = popen(line, "w");
	assert_non_null(f);
	fwrite(source->p, 1, source->n, f);
	if (pclose(f) != 0)
		fail_msg("gcc does not compile the generated programs");
	snprintf(line, sizeof(line), "%s/oracle", dir);
	f = popen(line, "r");
	assert_non_null(f);
	for (size_t n; (n = fread(line, 1, sizeof(line), f)) > 0;)
		buf_put(out, line, n);
	assert_int_equal(pclose(f), 0);
	snprintf(line, sizeof(line), "%s/oracle", dir);
	unlink(line);
}

static void integers_have_the_values_that_the_c_compiler_gives_them(void **test)
{
	const char *only = getenv("TALLY_DIFFERENTIAL_SEED");
	unsigned first = only ? (unsigned)atoi(only) : 1, last = only ? first : C_PROGRAMS;
	char dir[] = "/tmp/tally-oracle-XXXXXX";
	struct buf source = { 0 }, out = { 0 };
	struct gen g = { 0 };

	(void)test;
	if (system("gcc --version >/dev/null 2>&1") != 0) {
		print_message("skipped: there is no gcc to ask\n");
		skip();
	}
	assert_non_null(mkdtemp(dir));
	buf_puts(&source, "#include <stdbool.h>\n#include <stdio.h>\n");
	for (unsigned n = first; n <= last; n++) {
		c_program(&g, n, true);
		buf_printf(&source, "static void program_%u(void) {\n%sputs(\"end\");\n}\n", n, g.to.p);
	}
	buf_puts(&source, "int main(void) {\n");
	for (unsigned n = first; n <= last; n++)
		buf_printf(&source, "program_%u();\n", n);
	buf_puts(&source, "}\n");
	c_compile_and_run(dir, &source, &out);
	rmdir(dir);
	char *want = out.p;
	for (unsigned n = first; n <= last; n++) {
		char name[32], *end = strstr(want, "end\n");

		assert_non_null(end);
		*end = '\0';
		snprintf(name, sizeof(name), "integers-%u", n);
		c_program(&g, n, false);
		answers_are(name, g.to.p, want);
		want = end + 4;
	}
	buf_free(&g.to);
	buf_free(&source);
	buf_free(&out);
}

/* ---- strings: a model --------------------------------------------------------------- */

#define S_PROGRAMS 60
#define S_STATEMENTS 8
#define S_MOST 300 /* bytes of the longest string that is made on the way */

struct text {
	char s[S_MOST];
	bool null;
};
static const char *const s_names[] = { "word", "text", "this->s", "self->s", "names[1]" };
struct model {
	struct gen g;
	uint32_t strsize;
	struct text var[COUNT(s_names)];
	bool faulted; /* the clause met a NULL where a string must be, or a byte that is not there */
};

/* A string holds at most strsize bytes, and its NUL. */
static struct text s_cut(const struct model *m, struct text t)
{
	t.s[m->strsize] = '\0';
	return t;
}

/* From `from` on; a negative one counts from the end.  `n` bytes; a negative number leaves so many at the end off. What
 * would begin before the string is cut off there, and is nothing if it would not end behind its beginning. */
static struct text s_substr(struct text t, long from, long n)
{
	struct text r = { .s = "" };
	long len = (long)strlen(t.s);

	if (from < 0)
		from += len;
	if (from < 0) {
		n += from;
		from = 0;
		if (n <= 0)
			return r;
	}
	if (from >= len)
		return r;
	if (n < 0)
		n += len - from;
	for (long i = 0; i < n && t.s[from + i]; i++)
		r.s[i] = t.s[from + i];
	return r;
}

/* The first place of `needle` at `from` or behind it.  The empty string is everywhere, and at the end if `from` is past
 * it. */
static long s_index(struct text t, struct text needle, long from)
{
	long len = (long)strlen(t.s), n = (long)strlen(needle.s);

	if (from < 0)
		from = 0;
	if (n == 0)
		return from < len ? from : len;
	for (; from + n <= len; from++)
		if (!memcmp(t.s + from, needle.s, (size_t)n))
			return from;
	return -1;
}

/* The last place that is not behind `from`; before the string there is none. */
static long s_rindex(struct text t, struct text needle, long from)
{
	long n = (long)strlen(needle.s), last = (long)strlen(t.s) - n;

	for (from = from < last ? from : last; from >= 0; from--)
		if (!memcmp(t.s + from, needle.s, (size_t)n))
			return from;
	return -1;
}

static struct text s_from(const char *at)
{
	struct text r = { .null = !at };

	strcpy(r.s, at ? at : "");
	return r;
}

/* strcmp(), with NULL below all. */
static int s_compare(struct text a, struct text b)
{
	return a.null || b.null ? b.null - a.null : strcmp(a.s, b.s);
}

static struct text s_case(struct text t, int (*change)(int))
{
	for (char *p = t.s; *p; p++)
		*p = (char)change(*p);
	return t;
}

/* The digits that printf() of C has, or a base that it has not. */
static struct text s_lltostr(long v, int base)
{
	struct text r = { .s = "" };
	char digits[72] = "", *p = digits + sizeof(digits) - 1;
	unsigned long u = (unsigned long)v;

	if (base == 10 || base == 8 || base == 16) {
		snprintf(r.s, sizeof(r.s), base == 10 ? "%ld" : base == 8 ? "%lo" : "%lx", v);
		return r;
	}
	do
		*--p = "0123456789abcdefghijklmnopqrstuvwxyz"[u % (unsigned)base];
	while (u /= (unsigned)base);
	strcpy(r.s, p);
	return r;
}

static bool s_all_slashes(const char *s)
{
	return *s && strspn(s, "/") == strlen(s);
}

static struct text s_basename(struct text t)
{
	struct text r = { .s = "" };
	size_t end = strlen(t.s), start;

	if (!end || s_all_slashes(t.s)) {
		strcpy(r.s, end ? "/" : ".");
		return r;
	}
	while (t.s[end - 1] == '/')
		end--;
	for (start = end; start && t.s[start - 1] != '/'; start--)
		;
	memcpy(r.s, t.s + start, end - start);
	return r;
}

static struct text s_dirname(struct text t)
{
	struct text r = { .s = "" };
	size_t end = strlen(t.s);

	if (s_all_slashes(t.s)) {
		strcpy(r.s, "/");
		return r;
	}
	while (end && t.s[end - 1] == '/') /* slashes behind, the last component, slashes before it */
		end--;
	while (end && t.s[end - 1] != '/')
		end--;
	while (end && t.s[end - 1] == '/')
		end--;
	memcpy(r.s, t.s, end);
	if (!end)
		strcpy(r.s, *t.s == '/' ? "/" : ".");
	return r;
}

/* Writes a number and returns it: an edge of the string of length len, or of any. */
static long s_number(struct model *m, long len)
{
	long edges[] = { 0,          0,          1,        2,        3,
			 -1,         -2,         -3,       len - 1,  len,
			 len + 1,    -len,       -len - 1, -len + 1, m->strsize - 1,
			 m->strsize, 255,        256,      1000,     -1000,
			 INT_MAX,    INT_MIN + 1 };
	long n = edges[pick(&m->g, COUNT(edges))];

	PUT(&m->g, pick(&m->g, 2) ? "%ld" : "(zero + %ld)", n); /* known to the compiler, or not */
	return n;
}

static struct text s_literal(struct model *m)
{
	const uint32_t lengths[] = {
		0, 1, 2, 3, 7, 8, 9, 15, 16, 17, m->strsize - 1, m->strsize, m->strsize + 1, m->strsize + 3
	};
	struct text t = { .s = "" };
	uint32_t n = lengths[pick(&m->g, COUNT(lengths))], letters = 1 + pick(&m->g, 3);

	for (uint32_t i = 0; i < n; i++)
		t.s[i] = "/aB"[pick(&m->g, letters) + (letters < 3 && n % 2)];
	PUT(&m->g, "\"%s\"", t.s);
	return s_cut(m, t);
}

static struct text s_string(struct model *m, unsigned depth);

/* A string that must be one. */
static struct text s_some(struct model *m, unsigned depth)
{
	struct text t = s_string(m, depth);

	m->faulted |= t.null;
	return t;
}

static struct text s_choice(struct model *m, unsigned depth)
{
	const uint32_t i = pick(&m->g, 2);
	const bool faulted = m->faulted;
	struct text a, b;
	bool in_a;

	PUT(&m->g, "(zero == %u ? ", i);
	a = s_string(m, depth);
	in_a = m->faulted;
	m->faulted = faulted;
	PUT(&m->g, " : ");
	b = s_string(m, depth);
	if (!i)
		m->faulted = in_a;
	return i ? b : a;
}

static struct text s_string(struct model *m, unsigned depth)
{
	struct text a, b;
	uint32_t i;
	long from;

	if (depth-- == 0) {
		i = pick(&m->g, COUNT(s_names) + 4);
		if (i == COUNT(s_names)) {
			PUT(&m->g, "(zero ? \"a\" : NULL)");
			return s_from(NULL);
		}
		if (i > COUNT(s_names))
			return s_literal(m);
		PUT(&m->g, "%s", s_names[i]);
		return m->var[i];
	}
	switch (pick(&m->g, 12)) {
	case 6:
	case 7:
		i = pick(&m->g, 2);
		PUT(&m->g, i ? "strchr(" : "strrchr(");
		a = s_some(m, depth);
		from = "/aB"[pick(&m->g, 4)]; /* or the NUL */
		PUT(&m->g, pick(&m->g, 2) ? ", %ld" : ", zero + %ld", from);
		a = s_from(i ? strchr(a.s, (int)from) : strrchr(a.s, (int)from));
		break;
	case 8:
		PUT(&m->g, "strstr(");
		a = s_some(m, depth);
		PUT(&m->g, ", ");
		b = s_some(m, depth);
		a = s_from(strstr(a.s, b.s));
		break;
	case 9:
		i = pick(&m->g, 2);
		PUT(&m->g, i ? "toupper(" : "tolower(");
		a = s_case(s_some(m, depth), i ? toupper : tolower);
		break;
	case 10:
		PUT(&m->g, "lltostr(");
		from = s_number(m, 5);
		i = pick(&m->g, 6);
		PUT(&m->g, "%s", (const char *[]){ "", ", 10", ", 8", ", 16", ", 2", ", 36" }[i]);
		a = s_cut(m, s_lltostr(from, (int[]){ 10, 10, 8, 16, 2, 36 }[i]));
		break;
	case 0:
		PUT(&m->g, "basename(");
		a = s_basename(s_some(m, depth));
		break;
	case 1:
		PUT(&m->g, "dirname(");
		a = s_dirname(s_some(m, depth));
		break;
	case 2:
		PUT(&m->g, "strjoin(");
		a = s_some(m, depth);
		PUT(&m->g, ", ");
		b = s_some(m, depth);
		strncat(a.s, b.s, S_MOST - strlen(a.s) - 1);
		a = s_cut(m, a);
		break;
	case 3:
		a = s_choice(m, depth);
		break;
	case 11: /* a byte's place in the string, or where it ends */
		i = pick(&m->g, 2);
		PUT(&m->g, "(");
		a = s_some(m, depth);
		from = (long)(strlen(a.s) ? pick(&m->g, (uint32_t)strlen(a.s) + 1) : 0);
		PUT(&m->g, i ? " + (zero + %ld)" : " + %ld", from);
		a = s_from(a.s + from);
		break;
	default:
		PUT(&m->g, "substr(");
		a = s_some(m, depth);
		PUT(&m->g, ", ");
		from = s_number(m, (long)strlen(a.s));
		i = pick(&m->g, 2);
		PUT(&m->g, i ? ", " : "");
		a = s_substr(a, from, i ? s_number(m, (long)strlen(a.s)) : LONG_MAX / 2);
	}
	PUT(&m->g, ")");
	return a;
}

/* strtoll(3) in base `base`, but that what 64 bits do not hold wraps. */
static long s_strtoll(const char *s, unsigned base)
{
	unsigned long value = 0;
	bool negative;

	s += strspn(s, " \t\n\v\f\r");
	negative = *s == '-';
	s += *s == '-' || *s == '+';
	if (base == 16 && s[0] == '0' && tolower(s[1]) == 'x' && isxdigit(s[2]))
		s += 2;
	for (; isalnum(*s); s++) {
		const unsigned digit = (unsigned)(isdigit(*s) ? *s - '0' : tolower(*s) - 'a' + 10);

		if (digit >= base)
			break;
		value = value * base + digit;
	}
	return (long)(negative ? -value : value);
}

/* An integer that comes from strings. */
static long s_integer(struct model *m)
{
	static const char *const ops[] = { "==", "!=", "<", "<=", ">", ">=" };
	struct text a, b;
	uint32_t i;
	long from;
	bool last;
	int c;

	switch (pick(&m->g, 6)) {
	case 5:
		i = pick(&m->g, 4);
		c = (int)pick(&m->g, 5);
		PUT(&m->g, "strtoll(strjoin(\"%s\", ", (const char *[]){ "", "-", " +", " -0X" }[i]);
		b = s_from((const char *[]){ "", "-", " +", " -0X" }[i]);
		a = s_some(m, 2);
		strncat(b.s, a.s, S_MOST - strlen(b.s) - 1);
		PUT(&m->g, ")%s)", (const char *[]){ "", ", 10", ", 16", ", 2", ", 36" }[c]);
		return s_strtoll(s_cut(m, b).s, (unsigned[]){ 10, 10, 16, 2, 36 }[c]);
	case 4:
		PUT(&m->g, "(");
		a = s_some(m, 1);
		from = (long)(strlen(a.s) ? pick(&m->g, (uint32_t)strlen(a.s) + 1) : 0);
		PUT(&m->g, pick(&m->g, 2) ? ")[zero + %ld]" : ")[%ld]", from);
		return a.s[from];
	case 0:
		PUT(&m->g, "strlen(");
		a = s_some(m, 2);
		PUT(&m->g, ")");
		return (long)strlen(a.s);
	case 1:
		PUT(&m->g, "(");
		a = s_string(m, 1);
		i = pick(&m->g, COUNT(ops));
		PUT(&m->g, " %s ", ops[i]);
		b = s_string(m, 1);
		PUT(&m->g, ")");
		c = s_compare(a, b);
		return i == 0 ? c == 0 : i == 1 ? c != 0 : i == 2 ? c < 0 : i == 3 ? c <= 0 : i == 4 ? c > 0 : c >= 0;
	default:
		last = pick(&m->g, 3) == 0;
		PUT(&m->g, last ? "rindex(" : "index(");
		a = s_some(m, 1);
		PUT(&m->g, ", ");
		b = s_some(m, pick(&m->g, 2));
		i = pick(&m->g, 3);
		PUT(&m->g, i ? ", " : "");
		from = i ? s_number(m, (long)strlen(a.s)) : last ? LONG_MAX : 0;
		c = (int)(last ? s_rindex(a, b, from) : s_index(a, b, from));
		PUT(&m->g, ")");
		return c;
	}
}

static void s_statement(struct model *m, struct buf *want)
{
	uint32_t i = pick(&m->g, COUNT(s_names));
	struct text t;
	long v;

	m->faulted = false;
	switch (pick(&m->g, 3)) {
	case 0:
		PUT(&m->g, "%s = ", s_names[i]);
		t = s_string(m, 2);
		if (!m->faulted)
			m->var[i] = t;
		m->faulted |= t.null;
		PUT(&m->g, ";\nprintf(\"[%%s]\\n\", %s);\n", s_names[i]);
		break;
	case 1:
		PUT(&m->g, "printf(\"[%%s]\\n\", ");
		t = s_some(m, 2);
		PUT(&m->g, ");\n");
		break;
	default:
		PUT(&m->g, "printf(\"%%d\\n\", ");
		v = s_integer(m);
		PUT(&m->g, ");\n");
		buf_printf(want, m->faulted ? "ERROR\n" : "%ld\n", v);
		return;
	}
	if (m->faulted)
		buf_puts(want, "ERROR\n");
	else
		buf_printf(want, "[%s]\n", t.s);
}

static void strings_have_the_values_that_a_model_gives_them(void **test)
{
	const char *only = getenv("TALLY_DIFFERENTIAL_SEED");
	unsigned first = only ? (unsigned)atoi(only) : 1, last = only ? first : S_PROGRAMS;
	struct model m = { 0 };
	struct buf want = { 0 };

	(void)test;
	for (unsigned n = first; n <= last; n++) {
		char name[32];

		gen_begin(&m.g, n);
		buf_clear(&want);
		memset(m.var, 0, sizeof(m.var));
		m.strsize = 8 * (1 + pick(&m.g, 5));
		snprintf(name, sizeof(name), "strings-%u", n);
		PUT(&m.g,
		    "#pragma D option strsize=%u\nint zero; string word; string text; this string s; self string s; "
		    "string names[int];\nERROR { printf(\"ERROR\\n\"); }\n",
		    m.strsize);
		m.var[3].null = m.var[4].null = true; /* those that are freed are NULL, and so at first */
		for (unsigned i = 0; i < S_STATEMENTS; i++) {
			PUT(&m.g, "BEGIN {\n");
			s_statement(&m, &want);
			PUT(&m.g, "}\n");
		}
		answers_are(name, m.g.to.p, want.p);
	}
	buf_free(&m.g.to);
	buf_free(&want);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(integers_have_the_values_that_the_c_compiler_gives_them),
		cmocka_unit_test(strings_have_the_values_that_a_model_gives_them),
	};

	return cmocka_run_group_tests_name("oracle", tests, NULL, NULL);
}
