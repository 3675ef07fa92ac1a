/*
 * The same program must give the same answer in the kernel and in the vm: every
 * script of test/differential runs in both, and what they print is compared
 * byte for byte.  The scripts use nothing that may differ: no time, no pid.
 *
 * So do programs that a generator makes: random expressions of every operator,
 * integer type, string function and aggregating function, over variables of
 * every kind.  Each program comes from a number, which a failure names;
 * TALLY_DIFFERENTIAL_SEED=N runs that one alone and prints it, TALLY_DIFFERENTIAL_PROGRAMS=N runs N of each kind.
 */
#include <dirent.h>

#include "session/differential_test_int.h"

static void read_file(const char *path, struct buf *to)
{
	char part[4096];
	FILE *f = fopen(path, "re");

	if (!f)
		fail_msg("%s can't be read", path);
	for (size_t n; (n = fread(part, 1, sizeof(part), f)) > 0;)
		buf_put(to, part, n);
	fclose(f);
}

static void compare(const char *path, const struct buf *text)
{
	struct buf kernel = { 0 }, vm = { 0 };

	run(path, text->p, text->n, TALLY_TRACE_VM, &vm);
	run(path, text->p, text->n, 0, &kernel);
	for (const char *v = vm.p, *k = kernel.p; *v || *k;) {
		int nv = (int)strcspn(v, "\n"), nk = (int)strcspn(k, "\n");

		if (nv != nk || memcmp(v, k, (size_t)nv))
			fail_msg("%s: the vm says \"%.*s\", the kernel \"%.*s\"", path, nv, v, nk, k);
		v += nv + !!v[nv];
		k += nk + !!k[nk];
	}
	if (strstr(vm.p, "failed: "))
		fail_msg("%s: %s", path, vm.p);
	buf_free(&kernel);
	buf_free(&vm);
}

static void need_root(void)
{
	if (geteuid() != 0) {
		print_message("skipped: loading programs needs root\n");
		skip();
	}
}

static void kernel_and_vm_answer_alike(void **state)
{
	const char *dir = getenv("TALLY_DIFFERENTIAL");
	struct dirent **e;
	int n;

	(void)state;
	need_root();
	dir = dir ? dir : "test/differential";
	n = scandir(dir, &e, NULL, alphasort);
	if (n < 0)
		fail_msg("%s: not there; run from the project's root", dir);
	for (int i = 0; i < n; i++) {
		char path[600];
		struct buf text = { 0 };

		snprintf(path, sizeof(path), "%s/%s", dir, e[i]->d_name);
		if (strstr(e[i]->d_name, ".d")) {
			read_file(path, &text);
			compare(path, &text);
		}
		buf_free(&text);
		free(e[i]);
	}
	free(e);
}

/* ---- generated programs ---------------------------------------------------------- */

#define PROGRAMS 250
#define CLAUSES 4 /* a program is loaded once for all of them */
#define LARGE_PROGRAMS 12
#define LARGE_CLAUSES 60
#define DEPTH 3

static void integer(struct gen *g, unsigned depth);
static void statement(struct gen *g);
static void string(struct gen *g, unsigned depth);

static const char *a_variable(struct gen *g)
{
	return ONE_OF(g, "i8", "u8", "i16", "u16", "i32", "u32", "i64", "u64", "this->n", "self->n");
}

static void constant(struct gen *g)
{
	PUT(g, "%s",
	    ONE_OF(g, "0", "1", "-1", "2", "7", "-10", "100", "127", "128", "-128", "255", "256", "32767", "-32768",
		   "65535", "1000000007", "0x7fffffff", "0x80000000", "-2147483647", "0xffffffff", "0x100000000",
		   "0x7fffffffffffffff", "0x8000000000000000", "0xfffffffffffffff0", "123456789012345", "'x'",
		   "sizeof (i16)"));
}

static void binary(struct gen *g, unsigned depth)
{
	const char *op = ONE_OF(g, "+", "-", "*", "/", "%", "&", "|", "^", "<<", ">>", "==", "!=", "<", "<=", ">",
				">=", "&&", "||", "^^");
	bool divides = *op == '/' || *op == '%', shifts = !strcmp(op, "<<") || !strcmp(op, ">>");

	PUT(g, "(");
	integer(g, depth);
	PUT(g, " %s ", op);
	if (divides && pick(g, 8))
		PUT(g, "(%s | 1)", a_variable(g));
	else if (divides)
		PUT(g, "%s", a_variable(g)); /* zero, sometimes: a fault */
	else if (shifts)
		PUT(g, "(%s & 31)", a_variable(g));
	else
		integer(g, depth);
	PUT(g, ")");
}

static void unary(struct gen *g, unsigned depth)
{
	PUT(g, "(%s ",
	    ONE_OF(g, "-", "~", "!", "(char)", "(uint8_t)", "(short)", "(uint16_t)", "(int)", "(uint32_t)",
		   "(long long)", "(uint64_t)"));
	integer(g, depth);
	PUT(g, ")");
}

static void compare_strings(struct gen *g, unsigned depth)
{
	PUT(g, "(");
	string(g, depth);
	PUT(g, " %s ", ONE_OF(g, "==", "!=", "<", "<=", ">", ">="));
	string(g, depth);
	PUT(g, ")");
}

static void of_string(struct gen *g, unsigned depth)
{
	bool two = pick(g, 2);

	if (pick(g, 4) == 0) {
		PUT(g, "%s(",
		    ONE_OF(g, "htons", "htonl", "htonll", "ntohs", "ntohl", "ntohll", "getmajor", "getminor"));
		integer(g, depth);
		PUT(g, ")");
		return;
	}
	PUT(g, two ? ONE_OF(g, "index(", "rindex(") : "strlen(");
	string(g, depth);
	if (two) {
		PUT(g, ", ");
		string(g, 0);
		if (pick(g, 2))
			PUT(g, ", %s", a_variable(g));
	}
	PUT(g, ")");
}

static void choice(struct gen *g, unsigned depth)
{
	PUT(g, "(");
	integer(g, depth);
	PUT(g, pick(g, 5) ? " ? " : ", 1 ? ");
	integer(g, depth);
	PUT(g, " : ");
	integer(g, depth);
	PUT(g, ")");
}

static void change(struct gen *g, unsigned depth)
{
	const char *v = a_variable(g);

	if (pick(g, 3) == 0) {
		PUT(g, pick(g, 2) ? "%1$s%2$s" : "%2$s%1$s", v, pick(g, 2) ? "++" : "--");
		return;
	}
	PUT(g, "(%s %s ", v, ONE_OF(g, "=", "+=", "-=", "*=", "&=", "|=", "^="));
	integer(g, depth);
	PUT(g, ")");
}

static void integer(struct gen *g, unsigned depth)
{
	if (depth-- == 0) {
		if (pick(g, 3))
			PUT(g, "%s", a_variable(g));
		else
			constant(g);
		return;
	}
	switch (pick(g, 16)) {
	case 0:
		choice(g, depth);
		break;
	case 1:
		change(g, depth);
		break;
	case 2:
		compare_strings(g, depth ? 1 : 0);
		break;
	case 3:
		of_string(g, depth ? 1 : 0);
		break;
	case 4:
		PUT(g, "array[%s & 3]", a_variable(g));
		break;
	case 5:
		PUT(g, "assoc[(int)%s & 3]", a_variable(g));
		break;
	case 6:
		PUT(g, "(point.%s)", ONE_OF(g, "x", "y", "low", "high"));
		break;
	case 7:
	case 8:
	case 9:
		unary(g, depth);
		break;
	default:
		binary(g, depth);
	}
}

static void substring(struct gen *g, unsigned depth)
{
	PUT(g, "substr(");
	string(g, depth);
	PUT(g, ", %s", ONE_OF(g, "0", "1", "2", "-1", "-3", "100", "i8", "i32", "u8"));
	if (pick(g, 2))
		PUT(g, ", %s", ONE_OF(g, "0", "1", "3", "-1", "-2", "1000", "i8", "u64"));
	PUT(g, ")");
}

static void string(struct gen *g, unsigned depth)
{
	if (depth-- == 0) {
		PUT(g, "%s",
		    ONE_OF(g, "\"\"", "\"a\"", "\"/usr/lib/x\"", "\"aab\"", "\"dir/\"", "word", "text", "this->s",
			   "names[1]", "probename"));
		return;
	}
	switch (pick(g, 11)) {
	case 0:
		substring(g, depth);
		return;
	case 5:
		PUT(g, "%s(", ONE_OF(g, "strchr", "strrchr"));
		string(g, depth);
		PUT(g, ", %s)", ONE_OF(g, "0", "47", "97", "i8", "u64"));
		return;
	case 6:
		PUT(g, "strstr(");
		string(g, depth);
		PUT(g, ", ");
		break;
	case 9:
		PUT(g, "strtok(");
		string(g, depth);
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
		integer(g, depth);
		PUT(g, "%s)", ONE_OF(g, "", ", 2", ", 8", ", 10", ", 16", ", 36"));
		return;
	case 1:
		PUT(g, "strjoin(");
		string(g, depth);
		PUT(g, ", ");
		break;
	case 2:
		PUT(g, "basename(");
		break;
	case 3:
		PUT(g, "dirname(");
		break;
	default:
		PUT(g, "(%s ? ", a_variable(g));
		string(g, 0);
		PUT(g, " : ");
	}
	string(g, depth);
	PUT(g, ")");
}

static void aggregation(struct gen *g)
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
	};
	uint32_t i = pick(g, COUNT(aggs) + 1);

	if (i == COUNT(aggs)) {
		PUT(g, "@count[(uint32_t)u64] = count(); ");
		return;
	}
	PUT(g, "@a%u", i);
	PUT(g, aggs[i].keys, a_variable(g));
	PUT(g, " = %s((int64_t)", aggs[i].fn);
	integer(g, DEPTH - 1);
	PUT(g, "%s); ", aggs[i].rest);
}

static void print(struct gen *g)
{
	const char *conversion = ONE_OF(g, "%d", "%u", "%x", "%o", "%5d", "%-8x|", "%s", "%.3s", "%10s", "%c");

	PUT(g, "printf(\"%s \", ", conversion);
	if (strchr(conversion, 's'))
		string(g, 2);
	else
		integer(g, DEPTH);
	PUT(g, "); ");
}

/* if and else: their arms are statements, with braces and without. */
static void conditional(struct gen *g)
{
	bool braces = pick(g, 2);

	g->arms++;
	PUT(g, "if (");
	integer(g, 2);
	PUT(g, braces ? ") { " : ") ");
	for (uint32_t n = braces ? pick(g, 3) : 1; n; n--)
		statement(g);
	PUT(g, braces ? "} " : "");
	if (pick(g, 2)) {
		PUT(g, "else ");
		statement(g);
	}
	g->arms--;
}

static void statement(struct gen *g)
{
	switch (pick(g, g->arms < 2 ? 10 : 9)) {
	case 9:
		conditional(g);
		return;
	case 0:
		PUT(g, "%s = ", ONE_OF(g, "word", "text", "this->s", "names[1]", "self->s"));
		string(g, 2);
		break;
	case 1:
		PUT(g, "array[%s & 3] = ", a_variable(g));
		integer(g, DEPTH);
		break;
	case 2:
		PUT(g, "assoc[(int)%s & 3] %s ", a_variable(g), ONE_OF(g, "=", "+=", "^="));
		integer(g, 2);
		break;
	case 3:
		PUT(g, "point.%s = ", ONE_OF(g, "x", "y", "low", "high"));
		integer(g, 2);
		break;
	case 4:
		PUT(g, "%s = ", a_variable(g));
		integer(g, DEPTH);
		break;
	case 5:
		aggregation(g);
		return;
	default:
		print(g);
		return;
	}
	PUT(g, "; ");
}

static void program(struct gen *g, uint64_t number, unsigned clauses)
{
	static const char *const names[] = {
		"i8", "u8", "i16", "u16", "i32", "u32", "i64", "u64", "this->n", "self->n"
	};

	gen_begin(g, number);
	PUT(g, "char i8; uint8_t u8; short i16; uint16_t u16; int i32; uint32_t u32; long long i64; uint64_t u64;\n"
	       "this int n; self long n; string word; string text; this string s; self string s; int array[4];\n"
	       "int64_t assoc[int]; string names[int]; struct p { char x; long y; int low:5; unsigned high:11; };\n"
	       "struct p point;\nERROR { printf(\"ERROR %%d %%d \", arg4, arg5); }\nBEGIN { ");
	for (size_t i = 0; i < COUNT(names); i++) {
		PUT(g, "%s = ", names[i]);
		constant(g);
		PUT(g, "; ");
	}
	PUT(g, "word = \"/a/b\"; names[1] = \"one\"; }\n");
	for (unsigned c = 0; c < clauses; c++) {
		PUT(g, "BEGIN ");
		if (pick(g, 3) == 0) {
			PUT(g, "/(");
			integer(g, 2);
			PUT(g, ")/ ");
		}
		PUT(g, "{ ");
		for (unsigned n = 2 + pick(g, 4); n; n--)
			statement(g);
		PUT(g, "}\n");
	}
	PUT(g,
	    "END { printf(\"%%d %%d %%d %%d %%d %%d %%d %%d %%s %%s\\n\", i8, u8, i16, u16, i32, u32, i64, u64, word, text); }\n");
}

/* The first and last number of the programs: `usual` of them, or TALLY_DIFFERENTIAL_PROGRAMS, or one alone. */
static uint64_t numbers(uint64_t usual, uint64_t *last)
{
	const char *only = getenv("TALLY_DIFFERENTIAL_SEED"), *programs = getenv("TALLY_DIFFERENTIAL_PROGRAMS");

	*last = only ? strtoull(only, NULL, 0) : programs ? strtoull(programs, NULL, 0) : usual;
	return only ? *last : 1;
}

/*
 * What the compiler accepts the kernel must take: programs of up to LARGE_CLAUSES clauses, with short strings and
 * long ones.  What is refused is refused before the load, and so in the vm as in the kernel.
 */
static void programs_that_the_compiler_accepts_are_not_refused_by_the_kernel(void **state)
{
	uint64_t last, n = numbers(LARGE_PROGRAMS, &last), refused = 0, all = last - n + 1;
	struct gen g = { 0 }, sized = { 0 };

	(void)state;
	need_root();
	for (; n <= last; n++) {
		struct buf kernel = { 0 }, vm = { 0 };
		unsigned clauses, strsize;
		char name[32];
		int in_vm, in_kernel;

		snprintf(name, sizeof(name), "large-%llu", (unsigned long long)n);
		gen_begin(&sized, n + 1000000);
		clauses = 1 + pick(&sized, LARGE_CLAUSES);
		strsize = 32u << pick(&sized, 7);
		program(&g, n, clauses);
		PUT(&sized, "#pragma D option strsize=%u\n%s", strsize, g.to.p);
		in_vm = run(name, sized.to.p, sized.to.n, TALLY_TRACE_VM, &vm);
		in_kernel = run(name, sized.to.p, sized.to.n, 0, &kernel);
		refused += in_vm == -TALLY_ENOTSUP;
		if (in_vm != in_kernel || (in_vm < 0 && in_vm != -TALLY_ENOTSUP))
			fail_msg("%s, %u clauses, strsize=%u: the vm answers %d, the kernel %d: %.300s", name, clauses,
				 strsize, in_vm, in_kernel, in_kernel < 0 ? kernel.p : vm.p);
		if (in_vm >= 0 && strcmp(vm.p, kernel.p) != 0)
			fail_msg("%s, %u clauses, strsize=%u: vm and kernel differ", name, clauses, strsize);
		buf_free(&kernel);
		buf_free(&vm);
	}
	print_message("%llu of %llu programs refused before the load\n", (unsigned long long)refused,
		      (unsigned long long)all);
	assert_true(refused <= all / 2);
	buf_free(&g.to);
	buf_free(&sized.to);
}

static void generated_programs_answer_alike(void **state)
{
	const char *only = getenv("TALLY_DIFFERENTIAL_SEED");
	uint64_t end, n = numbers(PROGRAMS, &end);
	struct gen g = { 0 };

	(void)state;
	need_root();
	for (; n <= end; n++) {
		char name[32];

		snprintf(name, sizeof(name), "generated-%llu", (unsigned long long)n);
		program(&g, n, CLAUSES);
		if (only)
			fputs(g.to.p, stdout); /* cmocka cuts long messages */
		compare(name, &g.to);
	}
	buf_free(&g.to);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(kernel_and_vm_answer_alike),
		cmocka_unit_test(generated_programs_answer_alike),
		cmocka_unit_test(programs_that_the_compiler_accepts_are_not_refused_by_the_kernel),
	};

	return cmocka_run_group_tests_name("differential", tests, NULL, NULL);
}
