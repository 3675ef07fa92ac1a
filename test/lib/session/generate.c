/*
 * generate.c: what a generated program declares, and which expressions, statements and clauses it is made of.
 *
 * Every integer is a place (a variable, an element, a member, a bit-field, scratch memory), a constant, an operator or
 * a call; every string likewise.  Indices are masked to the array, now and then too widely: then the element is a
 * fault, in both.  Whatever is printed is in records or aggregations, so a difference shows.
 */
#include "session/generate.h"

#include <string.h>

#define DEPTH 3

/*
 * A program has the features that its number chooses, two in three of them, so that each is used much in some programs,
 * and some programs stay small.
 */
enum gen_feature { F_STRUCTS, F_SCRATCH, F_SPECULATION, F_DEFINITIONS, F_LOCALS, F_PRINT, NFEATURES };

static void gen_integer(struct gen *g, unsigned depth);
static void gen_string(struct gen *g, unsigned depth);
static void gen_statement(struct gen *g);

static bool gen_has(const struct gen *g, enum gen_feature f)
{
	return g->features >> f & 1;
}

/* ---- places ----------------------------------------------------------------------- */

static const char *gen_variable(struct gen *g)
{
	return ONE_OF(g, "i8", "u8", "i16", "u16", "i32", "u32", "i64", "u64", "this->n", "self->n");
}

/* An index below `n`, a power of two, of any type; one in forty may be too large. */
static void gen_index(struct gen *g, uint32_t n)
{
	PUT(g, "(%s & %u)", gen_variable(g), pick(g, 40) ? n - 1 : 2 * n - 1);
}

/* A struct p, which is a place; `whole`: one that can be assigned and copied. */
static void gen_struct(struct gen *g, bool whole)
{
	switch (pick(g, gen_has(g, F_LOCALS) ? 7 : 4)) {
	case 0:
		PUT(g, "point");
		return;
	case 1:
		PUT(g, "points[%u]", pick(g, 4));
		return;
	case 2:
		PUT(g, "by_name[%s]", ONE_OF(g, "\"a\"", "word", "text"));
		return;
	case 3:
		if (whole)
			PUT(g, "points[%u]", pick(g, 4));
		else
			PUT(g, "nest.at[%u]", pick(g, 2));
		return;
	case 4:
		PUT(g, "this->point");
		return;
	case 5:
		PUT(g, "self->point");
		return;
	default:
		PUT(g, "self->by_two[%s & 3, %s]", gen_variable(g), ONE_OF(g, "\"x\"", "word"));
	}
}

static const char *gen_member(struct gen *g)
{
	return ONE_OF(g, "x", "y", "low", "high", "one", "wide");
}

/* An integer that can be assigned, other than a plain variable. */
static void gen_place(struct gen *g)
{
	uint32_t kinds = 3 + 4 * gen_has(g, F_STRUCTS) + 3 * gen_has(g, F_LOCALS);

	switch (g->memory && pick(g, 5) == 0 ? 10 : pick(g, kinds)) {
	case 0:
		PUT(g, "array[");
		gen_index(g, 4);
		PUT(g, "]");
		return;
	case 1:
		PUT(g, "assoc[(int)%s & 3]", gen_variable(g));
		return;
	case 2:
		PUT(g, "grid[%s & 1][", gen_variable(g));
		gen_index(g, 4);
		PUT(g, "]");
		return;
	case 3:
	case 4:
		if (!gen_has(g, F_STRUCTS))
			break;
		gen_struct(g, false);
		PUT(g, ".%s", gen_member(g));
		return;
	case 5:
		if (!gen_has(g, F_STRUCTS))
			break;
		PUT(g, "nest.%s", ONE_OF(g, "in.a", "in.b", "in.c", "u.whole", "u.half", "u.byte[3]", "side", "truth"));
		return;
	case 6:
		if (!gen_has(g, F_STRUCTS))
			break;
		PUT(g, "nest.u.byte[");
		gen_index(g, 8);
		PUT(g, "]");
		return;
	case 10:
		if (pick(g, 2))
			PUT(g, "this->mem[%s & %u]", gen_variable(g), pick(g, 20) ? 3 : 7);
		else
			PUT(g, "%s",
			    ONE_OF(g, "*this->mem", "this->bytes[2]", "*(this->bytes + 1)", "((short *)this->mem)[3]"));
		return;
	default:
		break;
	}
	if (!gen_has(g, F_LOCALS)) {
		PUT(g, "array[%u]", pick(g, 4));
		return;
	}
	switch (pick(g, 4)) {
	case 0:
		PUT(g, "this->row[");
		gen_index(g, 4);
		PUT(g, "]");
		return;
	case 1:
		PUT(g, "self->row[");
		gen_index(g, 4);
		PUT(g, "]");
		return;
	case 2:
		PUT(g, "self->keyed[%s, %s]", gen_variable(g), ONE_OF(g, "\"k\"", "word"));
		return;
	default:
		PUT(g, "%s", ONE_OF(g, "this->flag", "self->tiny"));
	}
}

/* ---- integers --------------------------------------------------------------------- */

static void gen_constant(struct gen *g)
{
	PUT(g, "%s",
	    ONE_OF(g, "0", "1", "-1", "2", "7", "-10", "100", "127", "128", "-128", "255", "256", "32767", "-32768",
		   "65535", "1000000007", "0x7fffffff", "0x80000000", "-2147483647", "0xffffffff", "0x100000000",
		   "0x7fffffffffffffff", "0x8000000000000000", "0xfffffffffffffff0", "123456789012345", "'x'",
		   "sizeof (i16)", "sizeof (struct nest)", "offsetof(struct p, y)", "RIGHT", "LEFT"));
}

static void gen_binary(struct gen *g, unsigned depth)
{
	const char *op = ONE_OF(g, "+", "-", "*", "/", "%", "&", "|", "^", "<<", ">>", "==", "!=", "<", "<=", ">",
				">=", "&&", "||", "^^");
	bool divides = *op == '/' || *op == '%', shifts = !strcmp(op, "<<") || !strcmp(op, ">>");

	PUT(g, "(");
	gen_integer(g, depth);
	PUT(g, " %s ", op);
	if (divides && pick(g, 8))
		PUT(g, "(%s | 1)", gen_variable(g));
	else if (divides)
		PUT(g, "%s", gen_variable(g)); /* zero, sometimes: a fault */
	else if (shifts)
		PUT(g, "(%s & 31)", gen_variable(g));
	else
		gen_integer(g, depth);
	PUT(g, ")");
}

static void gen_unary(struct gen *g, unsigned depth)
{
	PUT(g, "(%s ",
	    ONE_OF(g, "-", "~", "!", "+", "(char)", "(uint8_t)", "(short)", "(uint16_t)", "(int)", "(uint32_t)",
		   "(long long)", "(uint64_t)", "(_Bool)", "(enum side)"));
	gen_integer(g, depth);
	PUT(g, ")");
}

static void gen_comparison_of_strings(struct gen *g, unsigned depth)
{
	PUT(g, "(");
	gen_string(g, depth);
	if (pick(g, 8) == 0) {
		PUT(g, " %s NULL)", ONE_OF(g, "==", "!="));
		return;
	}
	PUT(g, " %s ", ONE_OF(g, "==", "!=", "<", "<=", ">", ">="));
	gen_string(g, depth);
	PUT(g, ")");
}

/* A subroutine that returns an integer. */
static void gen_number_of(struct gen *g, unsigned depth)
{
	bool two = pick(g, 2);

	if (pick(g, 4) == 0) {
		PUT(g, "%s(",
		    ONE_OF(g, "htons", "htonl", "htonll", "ntohs", "ntohl", "ntohll", "getmajor", "getminor"));
		gen_integer(g, depth);
		PUT(g, ")");
		return;
	}
	if (pick(g, 5) == 0) {
		PUT(g, "strtoll(");
		gen_string(g, depth);
		PUT(g, "%s)", ONE_OF(g, "", "", ", 2", ", 8", ", 10", ", 16", ", 36"));
		return;
	}
	PUT(g, "%s(", two ? ONE_OF(g, "index", "rindex") : "strlen");
	gen_string(g, depth);
	if (two) {
		PUT(g, ", ");
		gen_string(g, 0);
		if (pick(g, 2))
			PUT(g, ", %s", gen_variable(g));
	}
	PUT(g, ")");
}

static void gen_choice(struct gen *g, unsigned depth)
{
	PUT(g, "(");
	gen_integer(g, depth);
	PUT(g, pick(g, 5) ? " ? " : ", 1 ? ");
	gen_integer(g, depth);
	PUT(g, " : ");
	gen_integer(g, depth);
	PUT(g, ")");
}

/* An assignment or ++ that is used for its value. */
static void gen_change(struct gen *g, unsigned depth)
{
	const char *v = gen_variable(g);

	if (pick(g, 3) == 0) {
		PUT(g, pick(g, 2) ? "%1$s%2$s" : "%2$s%1$s", v, pick(g, 2) ? "++" : "--");
		return;
	}
	if (pick(g, 6) == 0) {
		PUT(g, "(%s %s (%s & 15))", v, ONE_OF(g, "<<=", ">>="), gen_variable(g));
		return;
	}
	if (pick(g, 6) == 0) {
		PUT(g, "(%s %s (%s | 1))", v, ONE_OF(g, "/=", "%="), gen_variable(g));
		return;
	}
	PUT(g, "(%s %s ", v, ONE_OF(g, "=", "+=", "-=", "*=", "&=", "|=", "^="));
	gen_integer(g, depth);
	PUT(g, ")");
}

/* A variable that is a pointer: what it leads to, and where. */
static void gen_through_variable(struct gen *g)
{
	const char *where = gen_has(g, F_LOCALS) ? ONE_OF(g, "where", "this->where", "self->where") : "where";

	switch (pick(g, 4)) {
	case 0:
		PUT(g, "%s->%s", where, gen_member(g));
		return;
	case 1:
		PUT(g, "%s[%s & 1].%s", where, gen_variable(g), gen_member(g));
		return;
	case 2:
		PUT(g, "(%s - &points[%u])", where, pick(g, 4));
		return;
	default:
		PUT(g, "(%s %s &points[%u])", where, ONE_OF(g, "==", "!=", "<", ">="), pick(g, 4));
	}
}

/* Through a pointer, to an element or member that is there, and now and then to nowhere. */
static void gen_dereference(struct gen *g)
{
	if (pick(g, 30) == 0)
		PUT(g, "*(%s *)%u", ONE_OF(g, "char", "int", "uint64_t"), 8 * pick(g, 4));
	else if (pick(g, 3) == 0 && gen_has(g, F_STRUCTS))
		gen_through_variable(g);
	else if (pick(g, 2) && gen_has(g, F_STRUCTS))
		PUT(g, "(&points[%s & 1]%s)->%s", gen_variable(g), pick(g, 2) ? " + 1" : "", gen_member(g));
	else
		PUT(g, "*(&array[1] + (%s & 1))", gen_variable(g));
}

static void gen_definition(struct gen *g, unsigned depth)
{
	if (!gen_has(g, F_DEFINITIONS)) {
		gen_constant(g);
	} else if (pick(g, 4) == 0 && gen_has(g, F_STRUCTS)) {
		PUT(g, "xlate <struct out> (%s).%s", ONE_OF(g, "nest", "points[1]"), ONE_OF(g, "sum", "first"));
	} else if (pick(g, 2)) {
		PUT(g, "SCALE");
	} else {
		PUT(g, "scaled[");
		gen_integer(g, depth ? 1 : 0);
		PUT(g, ", %s]", gen_variable(g));
	}
}

static void gen_integer(struct gen *g, unsigned depth)
{
	if (depth-- == 0) {
		if (pick(g, 4) == 0)
			gen_constant(g);
		else if (pick(g, 4) == 0)
			gen_place(g);
		else
			PUT(g, "%s", gen_variable(g));
		return;
	}
	switch (pick(g, 19)) {
	case 0:
		gen_choice(g, depth);
		break;
	case 1:
		gen_change(g, depth);
		break;
	case 2:
		gen_comparison_of_strings(g, depth ? 1 : 0);
		break;
	case 3:
		gen_number_of(g, depth ? 1 : 0);
		break;
	case 4:
	case 5:
	case 6:
		gen_place(g);
		break;
	case 7:
		PUT(g, "(");
		gen_integer(g, 0);
		PUT(g, ", ");
		gen_integer(g, depth);
		PUT(g, ")");
		break;
	case 8:
		gen_dereference(g);
		break;
	case 9:
		gen_definition(g, depth);
		break;
	case 10:
		PUT(g, "%s[%s & %u]", ONE_OF(g, "word", "text", "names[1]"), gen_variable(g), pick(g, 20) ? 3 : 511);
		break;
	case 11:
	case 12:
	case 13:
		gen_unary(g, depth);
		break;
	default:
		gen_binary(g, depth);
	}
}

/* ---- strings ---------------------------------------------------------------------- */

static void gen_substring(struct gen *g, unsigned depth)
{
	PUT(g, "substr(");
	gen_string(g, depth);
	PUT(g, ", %s", ONE_OF(g, "0", "1", "2", "-1", "-3", "100", "i8", "i32", "u8"));
	if (pick(g, 2))
		PUT(g, ", %s", ONE_OF(g, "0", "1", "3", "-1", "-2", "1000", "i8", "u64"));
	PUT(g, ")");
}

static const char *gen_string_place(struct gen *g)
{
	if (gen_has(g, F_STRUCTS) && pick(g, 4) == 0)
		return "nest.name";
	if (gen_has(g, F_LOCALS) && pick(g, 4) == 0)
		return ONE_OF(g, "self->named[i32]", "self->s", "this->words[1]");
	return ONE_OF(g, "word", "text", "this->s", "names[1]", "words[i8 & 3]", "names[i16 & 3]");
}

static void gen_simple_string(struct gen *g)
{
	if (g->memory && pick(g, 6) == 0)
		PUT(g, "%s",
		    ONE_OF(g, "stringof(this->bytes)", "inet_ntop(2, this->mem)", "inet_ntoa((uint32_t *)this->mem)",
			   "inet_ntop(10, this->mem)", "inet_ntoa6((struct in6 *)this->mem)", "link_ntop(1, this->mem)",
			   "link_ntop(32, this->mem)", "inet_ntop(i8, this->mem)"));
	else if (gen_has(g, F_DEFINITIONS) && pick(g, 8) == 0)
		PUT(g, "%s", ONE_OF(g, "NAME", "described[i16, word]", "described[u8, \"q\"]"));
	else if (pick(g, 3) == 0)
		PUT(g, "%s", gen_string_place(g));
	else
		PUT(g, "%s",
		    ONE_OF(g, "\"\"", "\"a\"", "\"/usr/lib/x\"", "\"aab\"", "\" -0x7fz\"", "\"2147483648\"", "\"dir/\"",
			   "word", "text", "probename", "probeprov", "stringof(letters)", "(word + 1)",
			   "(text + (u8 & 3))"));
}

static void gen_string(struct gen *g, unsigned depth)
{
	if (depth-- == 0) {
		gen_simple_string(g);
		return;
	}
	switch (pick(g, 11)) {
	case 0:
		gen_substring(g, depth);
		return;
	case 5:
		PUT(g, "%s(", ONE_OF(g, "strchr", "strrchr"));
		gen_string(g, depth);
		PUT(g, ", %s)", ONE_OF(g, "0", "47", "97", "i8", "u64"));
		return;
	case 6:
		PUT(g, "strstr(");
		gen_string(g, depth);
		PUT(g, ", ");
		break;
	case 9:
		PUT(g, "strtok(");
		if (pick(g, 4) == 0)
			PUT(g, "NULL");
		else
			gen_string(g, depth);
		PUT(g, ", \"%s\")", ONE_OF(g, "/", "a", "b/", ""));
		return;
	case 10:
		PUT(g, "cleanpath(");
		break;
	case 7:
		PUT(g, "%s(", ONE_OF(g, "toupper", "tolower"));
		break;
	case 8:
		PUT(g, "lltostr(");
		gen_integer(g, depth);
		PUT(g, "%s)", ONE_OF(g, "", ", 2", ", 8", ", 10", ", 16", ", 36"));
		return;
	case 1:
		PUT(g, "strjoin(");
		gen_string(g, depth);
		PUT(g, ", ");
		break;
	case 2:
		PUT(g, "basename(");
		break;
	case 3:
		PUT(g, "dirname(");
		break;
	default:
		PUT(g, "(%s ? ", gen_variable(g));
		gen_string(g, 0);
		PUT(g, " : ");
	}
	gen_string(g, depth);
	PUT(g, ")");
}

/* ---- statements ------------------------------------------------------------------- */

static void gen_aggregation(struct gen *g)
{
	static const struct {
		const char *keys, *fn, *rest;
	} aggs[] = {
		{ "", "sum", "" },
		{ "[(int)%s]", "avg", "" },
		{ "[word]", "min", "" },
		{ "[text, %s > 0]", "max", "" },
		{ "", "stddev", "" },
		{ "[u8 & 1]", "quantize", "" },
		{ "", "lquantize", ", -1000, 1000, 100" },
		{ "[names[1]]", "llquantize", ", 10, 0, 6, 10" },
		{ "", "quantize", ", 3" },
		{ "[(short)%s, (char)i8]", "sum", "" },
		{ "[array[1], i64]", "lquantize", ", 0, 10, 1, u8" },
		{ "", "llquantize", ", 2, 1, 20, 2, -1" },
		{ "[(_Bool)%s, probename]", "stddev", "" },
		{ "[grid[1][2], strjoin(word, text)]", "count", NULL },
	};
	uint32_t i = pick(g, COUNT(aggs) + 1);

	if (i == COUNT(aggs)) {
		PUT(g, "@count[(uint32_t)u64] = count(); ");
		return;
	}
	PUT(g, "@a%u", i);
	PUT(g, aggs[i].keys, gen_variable(g));
	PUT(g, " = %s(", aggs[i].fn);
	if (aggs[i].rest) {
		PUT(g, "(int64_t)");
		gen_integer(g, DEPTH - 1);
	}
	PUT(g, "%s); ", aggs[i].rest ? aggs[i].rest : "");
}

static void gen_printf(struct gen *g)
{
	const char *conversion = ONE_OF(g, "%d", "%u", "%x", "%o", "%5d", "%-8x|", "%s", "%.3s", "%10s", "%c", "%S",
					"%-*d|", "%#x", "%hd", "%i", "%p");
	bool star = strchr(conversion, '*') != NULL;

	PUT(g, "printf(\"%s \", ", conversion);
	if (star)
		PUT(g, "%s & 15, ", gen_variable(g));
	if (strpbrk(conversion, "sS"))
		gen_string(g, 2);
	else if (strchr(conversion, 'p'))
		PUT(g, "(void *)%s", gen_variable(g));
	else
		gen_integer(g, DEPTH);
	PUT(g, "); ");
}

/* What is printed with its type, or as bytes. */
static void gen_print(struct gen *g)
{
	switch (pick(g, 6)) {
	case 0:
		PUT(g, "trace(");
		gen_integer(g, DEPTH);
		break;
	case 1:
		PUT(g, "trace(");
		gen_string(g, 2);
		break;
	case 2:
		PUT(g, "%s(", gen_has(g, F_STRUCTS) ? ONE_OF(g, "trace", "print") : "trace");
		if (gen_has(g, F_STRUCTS))
			gen_struct(g, false);
		else
			PUT(g, "array");
		break;
	case 3:
		PUT(g, "tracemem(%s, %u, %s", ONE_OF(g, "&array[0]", "&grid[0][1]", "&array[2]"), 1 + pick(g, 8),
		    gen_variable(g));
		break;
	case 4:
		PUT(g, "print(%s", ONE_OF(g, "array", "nest", "letters", "grid", "nest.u", "points[1]"));
		break;
	default:
		PUT(g, "print(%s", gen_variable(g));
	}
	PUT(g, "); ");
}

/* if and else: their arms are statements, with braces and without. */
static void gen_conditional(struct gen *g)
{
	bool braces = pick(g, 2);

	g->arms++;
	PUT(g, "if (");
	gen_integer(g, 2);
	PUT(g, braces ? ") { " : ") ");
	for (uint32_t n = braces ? pick(g, 3) : 1; n; n--)
		gen_statement(g);
	PUT(g, braces ? "} " : "");
	if (pick(g, 2)) {
		PUT(g, "else ");
		gen_statement(g);
	}
	g->arms--;
}

/* A conditional expression whose arms are actions. */
static void gen_conditional_actions(struct gen *g)
{
	gen_integer(g, 1);
	PUT(g, " ? trace(");
	gen_integer(g, 1);
	PUT(g, ") : printf(\"%%s \", ");
	gen_string(g, 1);
	PUT(g, "); ");
}

/* A pointer or a struct is assigned, or an element or a thread's variable is freed. */
static void gen_whole(struct gen *g)
{
	if (pick(g, 4) == 0) {
		PUT(g, "%s = &points[%u]",
		    gen_has(g, F_LOCALS) ? ONE_OF(g, "where", "this->where", "self->where") : "where", pick(g, 3));
		return;
	}
	if (pick(g, 4) == 0) {
		PUT(g, "%s = 0",
		    ONE_OF(g, "by_name[word]", "assoc[2]", "names[1]", gen_has(g, F_LOCALS) ? "self->s" : "names[2]",
			   gen_has(g, F_LOCALS) ? "self->by_two[i16 & 3, word]" : "assoc[0]"));
		return;
	}
	if (gen_has(g, F_STRUCTS) && g->arms == 0 && pick(g, 4) == 0) { /* three statements */
		PUT(g, "key.number = %s; key.word = %s; by_key[key] = %s", gen_variable(g),
		    ONE_OF(g, "word", "\"w\"", "text"), gen_variable(g));
		return;
	}
	gen_struct(g, true);
	PUT(g, " = ");
	gen_struct(g, true);
}

static void gen_memory(struct gen *g)
{
	switch (pick(g, 3)) {
	case 0:
		PUT(g, "bcopy(");
		gen_string(g, 1);
		PUT(g, ", this->bytes, %u)", 1 + pick(g, 7));
		break;
	case 1:
		PUT(g, "bcopy(%s, this->mem, %s)", ONE_OF(g, "&array[1]", "&grid[0][2]", "this->bytes"),
		    ONE_OF(g, "8", "4", "1", "i8 & 7", "u8"));
		break;
	default:
		PUT(g, "this->mem%s = ", ONE_OF(g, "[1]", "[3]", "[u8 & 3]"));
		gen_integer(g, 2);
	}
}

static void gen_assignment(struct gen *g)
{
	switch (pick(g, 5)) {
	case 0:
		PUT(g, "%s = ", gen_string_place(g));
		gen_string(g, 2);
		return;
	case 1:
		gen_place(g);
		PUT(g, " %s ", ONE_OF(g, "=", "+=", "^=", "-=", "|=", "&="));
		gen_integer(g, 2);
		return;
	case 2:
		if (pick(g, 2)) {
			PUT(g, "%s", ONE_OF(g, "++", "--"));
			gen_place(g);
			return;
		}
		gen_place(g);
		PUT(g, " = ");
		gen_integer(g, DEPTH);
		return;
	default:
		PUT(g, "%s = ", gen_variable(g));
		gen_integer(g, DEPTH);
	}
}

static void gen_statement(struct gen *g)
{
	uint32_t kind = pick(g, 16);

	if (kind < 3 && g->arms < 2 && kind == 0) {
		gen_conditional(g);
		return;
	}
	if (kind == 1 && gen_has(g, F_PRINT)) {
		gen_conditional_actions(g);
		return;
	}
	if (kind < 4 && gen_has(g, F_PRINT)) {
		gen_print(g);
		return;
	}
	if (kind < 6 && !g->speculates) {
		gen_aggregation(g);
		return;
	}
	if (kind < 8)
		gen_printf(g);
	else if (kind == 8 && g->memory)
		gen_memory(g), PUT(g, "; ");
	else if (kind == 9 && gen_has(g, F_STRUCTS))
		gen_whole(g), PUT(g, "; ");
	else
		gen_assignment(g), PUT(g, "; ");
}

/* ---- clauses and programs --------------------------------------------------------- */

static void gen_clause(struct gen *g)
{
	PUT(g, "BEGIN ");
	if (pick(g, 3) == 0) {
		PUT(g, "/");
		if (pick(g, 4) == 0)
			gen_comparison_of_strings(g, 1);
		else
			PUT(g, "("), gen_integer(g, 2), PUT(g, ")");
		PUT(g, "/ ");
	}
	PUT(g, "{ ");
	g->memory = gen_has(g, F_SCRATCH) && pick(g, 2);
	g->speculates = gen_has(g, F_SPECULATION) && pick(g, 3) == 0;
	if (g->speculates)
		PUT(g, "speculate(%s); ", ONE_OF(g, "first", "first", "second", "(u8 & 3)"));
	if (g->memory)
		PUT(g, "this->mem = (int *)alloca(%u); this->bytes = (char *)alloca(8); ", 16 + 8 * pick(g, 3));
	for (unsigned n = 2 + pick(g, 4); n; n--)
		gen_statement(g);
	if (!g->speculates && pick(g, 20) == 0)
		PUT(g, "exit(%s & 63); ", gen_variable(g));
	PUT(g, "}\n");
	g->memory = g->speculates = false;
	if (gen_has(g, F_SPECULATION) && pick(g, 4) == 0)
		PUT(g, "BEGIN { %s(%s); }\n", ONE_OF(g, "commit", "commit", "discard"), ONE_OF(g, "first", "second"));
}

static void gen_declarations(struct gen *g)
{
	PUT(g,
	    "char i8; uint8_t u8; short i16; uint16_t u16; int i32; uint32_t u32; long long i64; uint64_t u64;\n"
	    "this int n; self long n; string word; string text; this string s; self string s; int array[4];\n"
	    "int64_t assoc[int]; string names[int]; enum side { LEFT = -1, RIGHT = 5 }; short grid[2][4];\n"
	    "struct p { char x; long y; int low:5; unsigned high:11; unsigned one:1; long wide:40; };\n"
	    "struct nest { struct { short a; unsigned char b:3; signed char c:5; } in; struct p at[2]; string name;\n"
	    "union { unsigned long whole; unsigned half; char byte[8]; } u; enum side side; _Bool truth; };\n"
	    "struct p point; struct p points[4]; struct p by_name[string]; struct nest nest; string words[4];\n"
	    "struct key { int number; string word; char rest; }; struct key key; int by_key[struct key]; char letters[6];\n"
	    "struct p *where;\n");
	if (gen_has(g, F_LOCALS))
		PUT(g,
		    "this struct p *where; self struct p *where; this struct p point; self struct p point; self struct p by_two[int, string]; this short row[4]; self int row[4];\n"
		    "self uint16_t keyed[int, string]; this _Bool flag; self char tiny; self string named[int]; this string words[2];\n");
	if (gen_has(g, F_SCRATCH))
		PUT(g, "this int *mem; this char *bytes;\n");
	if (gen_has(g, F_DEFINITIONS))
		PUT(g,
		    "inline int SCALE = 3; inline string NAME = \"named\"; inline long scaled[long n, int by] = n * by + SCALE;\n"
		    "inline string described[int n, string of] = n > 0 ? strjoin(of, \"+\") : of;\n"
		    "struct out { long sum; int first; };\n"
		    "translator struct out < struct nest N > { sum = N.in.a + N.at[1].y; first = N.side; };\n"
		    "translator struct out < struct p P > { sum = P.y * SCALE; first = P.low; };\n");
	if (gen_has(g, F_SPECULATION))
		PUT(g, "#pragma D option nspec=4\n");
}

static void gen_begin_clauses(struct gen *g)
{
	static const char *const names[] = {
		"i8", "u8", "i16", "u16", "i32", "u32", "i64", "u64", "this->n", "self->n"
	};

	PUT(g, "ERROR { printf(\"ERROR %%d %%d \", arg4, arg5); }\nBEGIN { ");
	for (size_t i = 0; i < COUNT(names); i++) {
		PUT(g, "%s = ", names[i]);
		gen_constant(g);
		PUT(g, "; ");
	}
	PUT(g,
	    "word = \"/a/b\"; names[1] = \"one\"; words[1] = \"two\"; letters[0] = 'l'; letters[1] = 'e'; nest.name = \"nest\"; "
	    "by_name[\"a\"].x = 1; this->s = \"this\"; text = \"\"; where = &points[2]; }\n");
	if (gen_has(g, F_LOCALS))
		PUT(g,
		    "BEGIN { self->s = \"self\"; self->named[0] = \"zero\"; this->words[1] = \"w\"; self->point.y = i64; "
		    "this->where = &points[1]; self->where = &points[0]; }\n");
	if (gen_has(g, F_SPECULATION))
		PUT(g, "BEGIN { first = speculation(); }\nBEGIN { second = speculation(); }\n");
}

/* What the aggregations are when the program ends: changed, and printed with formats. */
static void gen_end_clause(struct gen *g)
{
	PUT(g,
	    "END { printf(\"%%d %%d %%d %%d %%d %%d %%d %%d %%s %%s\\n\", i8, u8, i16, u16, i32, u32, i64, u64, word, text); "
	    "@a0 = sum(1); @a8 = quantize(u8); @count[1] = count(); @a9[i16, i8] = sum(2); } END { ");
	if (pick(g, 2))
		PUT(g, "print(nest); print(points); print(by_key[key]); trace(array); ");
	if (pick(g, 3) == 0)
		PUT(g, "normalize(@a0, %u); ", 1 + pick(g, 9));
	if (pick(g, 3) == 0)
		PUT(g, "%s; ",
		    ONE_OF(g, "clear(@a0)", "trunc(@count, 1)", "trunc(@a9, -1)", "trunc(@count)", "clear(@a8)"));
	if (pick(g, 3) == 0)
		PUT(g, "printa(\"%%@u|\\n\", @a0); printa(\"%%5d %%@x\\n\", @count); printa(@a9); ");
	if (pick(g, 4) == 0)
		PUT(g, "denormalize(@a0); ");
	PUT(g, "}\n");
}

void gen_program(struct gen *g, uint64_t number, unsigned clauses)
{
	gen_begin(g, number);
	for (unsigned f = g->features = 0; f < NFEATURES; f++)
		g->features |= (uint32_t)(pick(g, 3) != 0) << f;
	gen_declarations(g);
	gen_begin_clauses(g);
	for (unsigned c = 0; c < clauses; c++)
		gen_clause(g);
	gen_end_clause(g);
}
