/*
 * cg_expression_test.c: values of expressions in the vm: each row is an expression and what trace() of it must hand
 * over.
 */
#include <stdio.h>

#include "bpf/cg_run_test_int.h"

/* What BEGIN { trace(expr) } hands over after the statements `before`. */
static const char *expression_traced(struct run *r, const char *before, const char *expr)
{
	char src[2000];
	uint32_t size;
	const char *rec;

	snprintf(src, sizeof(src), "BEGIN { %s trace(%s); }", before, expr);
	run_must_open(r, src);
	run_fire(r, ID_BEGIN, &cpu0);
	rec = run_record(r, NCPUS, &size);
	if (!rec || size != r->made.p->clause[0].record_size)
		fail_msg("%s: no record", src);
	return rec + D_RECORD_HDR;
}

static void integer_expressions_have_cs_value(void **state)
{
	static const struct {
		int line;
		const char *before, *expr;
		int64_t want;
	} row[] = {
#define I(expr, want) { __LINE__, "", expr, want }
#define J(before, expr, want)                \
	{                                    \
		__LINE__, before, expr, want \
	}
		I("1 + 2 * 3", 7),
		I("7 / 2", 3),
		I("-7 / 2", -3),
		I("-7 % 3", -1),
		I("7 % -3", 1),
		J("x = -7;", "x / 2", -3),
		J("x = -7;", "x % 3", -1),
		J("x = 7; y = -3;", "x % y", 1),
		J("x = -7; y = -3;", "x / y", 2),
		J("x = (int64_t)0x8000000000000000; y = -1;", "x / y", INT64_MIN),
		J("x = (unsigned long)-1;", "x / 2", INT64_MAX),
		J("x = 2147483647;", "x + 1", INT32_MIN),
		J("x = (unsigned int)0;", "x - 1", 4294967295),
		J("x = (char)200;", "x", -56),
		J("x = (uint8_t)300;", "x", 44),
		J("x = (short)70000;", "x", 4464),
		J("x = 5;", "x << 3", 40),
		J("x = -16;", "x >> 2", -4),
		J("x = (unsigned int)-16;", "x >> 28", 15),
		J("x = 6;", "x & 3", 2),
		J("x = 6;", "x | 1", 7),
		J("x = 6;", "x ^ 2", 4),
		J("x = 6;", "~x", -7),
		J("x = 6;", "-x", -6),
		J("x = 6;", "!x", 0),
		J("x = 0;", "!x", 1),
		J("x = 3;", "x == 3", 1),
		J("x = 3;", "x < -1", 0),
		J("x = (unsigned int)3;", "x < -1", 1),
		J("x = 3; y = 0;", "x && y", 0),
		J("x = 3; y = 0;", "x || y", 1),
		J("x = 3; y = 0;", "x ^^ y", 1),
		J("x = 3; y = 5;", "x ^^ y", 0),
		J("x = 3;", "x > 2 ? 10 : 20", 10),
		J("x = 1;", "x > 2 ? 10 : 20", 20),
		J("x = 1;", "(x++, x)", 2),
		J("x = 1;", "x++", 1),
		J("x = 1;", "++x", 2),
		J("x = 1;", "x--", 1),
		J("x = 4; x += 3;", "x", 7),
		J("x = 4; x -= 5;", "x", -1),
		J("x = 4; x *= 3;", "x", 12),
		J("x = 4; x <<= 2;", "x", 16),
		J("x = 13; x /= 4;", "x", 3),
		J("x = 13; x %= 4;", "x", 1),
		J("x = 7; x &= 5; x |= 8; x ^= 1;", "x", 12),
		J("x++; x++; x--;", "x", 1),
		J("x = y = 4;", "x + y", 8),
		I("sizeof(int)", 4),
		I("sizeof(uint64_t)", 8),
		I("'a'", 97),
		I("0x10 + 010", 24),
		I("10000000000", 10000000000),
		J("this->x = 9;", "this->x * 2", 18),
		J("self->x = 9;", "self->x + 1", 10),
		J("self->gone = 3; self->gone = 0;", "self->gone + 5", 5),
		J("a[1, \"x\"] = 5; a[1, \"y\"] = 6; a[2, \"x\"] = 7;",
		  "a[1, \"x\"] * 100 + a[1, \"y\"] * 10 + a[2, \"x\"]", 567),
		J("a[1] = 5; a[1] = 0;", "a[1]", 0),
		J("a[1] += 5; a[1]++;", "a[1]", 6),
		J("self->a[3] = 4; self->a[4] = 5;", "self->a[3] * self->a[4]", 20),
		I("pid", 100),
		I("tid", 101),
		I("uid", 7),
		I("gid", 8),
		I("cpu", 0),
		I("id", 1),
		I("epid", 1),
		I("arg0", 0),
		I("timestamp", 5000),
		I("$1", 42),
		I("*(uint64_t *)0x2000", 77),
		I("*(uint8_t *)0x2000", 77),
		I("strlen(\"hello\")", 5),
		I("strlen(\"\")", 0),
		I("strlen(execname)", 7),
		I("index(\"hello world\", \"world\")", 6),
		I("index(\"hello\", \"z\")", -1),
		I("index(\"aaaaaab\", \"aab\")", 4),
		I("index(\"abcabcabd\", \"abcabd\")", 3),
		I("index(\"abcabc\", \"abc\", 1)", 3),
		I("index(\"abbc\", \"abc\")", -1), /* nothing of the needle's beginning is in it once more */
		I("index(\"abababc\", \"ababc\")", 2),
		I("index(\"aabaabaac\", \"aabaac\")", 3),
		I("rindex(\"abcbc\", \"bbc\")", -1),
		I("rindex(\"abcabc\", \"bca\")", 1),
		I("rindex(\"aabaabaac\", \"aab\")", 3),
		I("index(\"abc\", \"\")", 0),
		I("index(\"\", \"a\")", -1),
		I("index(execname, \"nd\")", 3),
		I("execname == \"brendan\"", 1),
		I("execname == \"brenda\"", 0),
		I("execname == \"brendan2\"", 0),
		I("execname != \"x\"", 1),
		I("execname < \"brendax\"", 1),
		I("execname > \"brendax\"", 0),
		I("\"a\" < \"b\"", 1),
		J("s = \"same\";", "s == \"same\"", 1),
		J("s = \"a\"; t = \"b\";", "s < t", 1),
		I("curcpu->cpu_id", 0),
		I("htons(0x1234)", 0x3412),
		J("x = 0x1234;", "htons(x)", 0x3412),
		J("x = 0x5678;", "ntohs(x) + x", 0x7856 + 0x5678),
		J("x = 0x12345678;", "htonl(x)", 0x78563412),
		J("x = 0x12345678;", "ntohl(x)", 0x78563412),
		J("x = 0x123456789abcdef0;", "htonll(x) == (uint64_t)0xf0debc9a78563412", 1),
		J("x = 0x123456789abcdef0;", "ntohll(htonll(x)) == x", 1),
		I("stringof(0x1000) == \"from memory\"", 1),
		J("x = 5; x = x > 3 && x < 9 ? x * 2 : 0;", "x", 10),
#undef I
#undef J
	};

	(void)state;
	for (size_t i = 0; i < COUNT(row); i++) {
		struct run r;
		int64_t v;

		memcpy(&v, expression_traced(&r, row[i].before, row[i].expr), 8);
		if (v != row[i].want)
			fail_msg("row of line %d: %s %s is %lld, not %lld", row[i].line, row[i].before, row[i].expr,
				 (long long)v, (long long)row[i].want);
		run_close(&r);
	}
}

static void string_expressions_have_ds_value(void **state)
{
	static const struct {
		int line;
		const char *before, *expr, *want;
	} row[] = {
#define S(expr, want) { __LINE__, "", expr, want }
#define T(before, expr, want)                \
	{                                    \
		__LINE__, before, expr, want \
	}
		S("\"abc\"", "abc"),
		S("execname", "brendan"),
		S("probename", "BEGIN"),
		S("probeprov", "dtrace"),
		S("strjoin(\"ab\", \"cd\")", "abcd"),
		S("strjoin(\"\", \"cd\")", "cd"),
		S("strjoin(execname, \"!\")", "brendan!"),
		S("strjoin(strjoin(\"a\", \"b\"), strjoin(\"c\", \"d\"))", "abcd"),
		S("substr(\"hello\", 1)", "ello"),
		S("substr(\"hello\", 1, 2)", "el"),
		S("substr(\"hello\", -3)", "llo"),
		S("substr(\"hello\", -3, 1)", "l"),
		S("substr(\"hello\", 9)", ""),
		S("substr(\"hello\", 1, -1)", "ell"),
		S("substr(\"hello\", 0, 0)", ""),
		S("cleanpath(\"/a/b/../\")", "/a/"),
		S("cleanpath(\"/a/b/..\")", "/a/"),
		S("cleanpath(\"/a/b/../c\")", "/a/c"),
		S("cleanpath(\"/a/./b//c\")", "/a/b/c"),
		S("cleanpath(\"/../a\")", "/a"),
		S("cleanpath(\"/a/..b/.c\")", "/a/..b/.c"),
		S("basename(\"/usr/lib/\")", "lib"),
		S("basename(\"a\")", "a"),
		S("basename(\"/\")", "/"),
		S("basename(\"\")", "."),
		S("basename(\"/a//b\")", "b"),
		S("dirname(\"/usr/lib/\")", "/usr"),
		S("dirname(\"a\")", "."),
		S("dirname(\"/\")", "/"),
		S("dirname(\"/a\")", "/"),
		S("dirname(\"\")", "."),
		S("dirname(\"/a//b\")", "/a"),
		T("x = 1;", "x ? \"yes\" : \"no way\"", "yes"),
		T("x = 0;", "x ? \"yes\" : \"no way\"", "no way"),
		T("s = \"var\";", "s", "var"),
		T("s = \"longer text\"; s = \"x\";", "s", "x"),
		T("self->s = \"mine\";", "self->s", "mine"),
		T("this->s = \"this\";", "this->s", "this"),
		T("a[1] = \"one\"; a[2] = \"two\";", "a[2]", "two"),
		T("a[\"k\"] = \"v\";", "strjoin(a[\"k\"], a[\"absent\"] == NULL ? \"+\" : a[\"absent\"])", "v+"),
		S("stringof(0x1000)", "from memory"),
		S("(string)0x1000", "from memory"),
		T("s = \"ab\"; s = strjoin(s, s);", "s", "abab"),
#undef S
#undef T
	};

	(void)state;
	for (size_t i = 0; i < COUNT(row); i++) {
		struct run r;
		const char *v = expression_traced(&r, row[i].before, row[i].expr);

		if (strcmp(v, row[i].want))
			fail_msg("row of line %d: %s %s is \"%s\", not \"%s\"", row[i].line, row[i].before, row[i].expr,
				 v, row[i].want);
		run_close(&r);
	}
}

/* ---- args of a probe, in its record -------------------------------------------------------- */

/* What args[0] and args[1] of the record probe are. */
struct record {
	uint64_t when;
	int16_t change;
	uint8_t small;
	char name[16];
	uint64_t count;
};
#define FIELD(member, type, base)                                                                             \
	{                                                                                                     \
#member, type, offsetof(struct record, member) - (base), sizeof(((struct record *)0)->member) \
	}
static const struct d_field first[] = { FIELD(when, "uint64_t", 0), FIELD(change, "int16_t", 0),
					FIELD(small, "uint8_t", 0), FIELD(name, "string", 0) };
static const struct d_field second[] = { FIELD(count, "uint64_t", offsetof(struct record, count)) };
static const struct d_args record_args[] = {
	{ .name = "struct first",
	  .field = first,
	  .nfields = COUNT(first),
	  .base = 0,
	  .size = offsetof(struct record, count) },
	{ .name = "struct second",
	  .field = second,
	  .nfields = COUNT(second),
	  .base = offsetof(struct record, count),
	  .size = 8 },
};

static const struct d_args *record_args_at(void *arg, uint32_t probe, uint32_t index)
{
	(void)arg;
	return probe == ID_RECORD && index < COUNT(record_args) ? &record_args[index] : NULL;
}

static void record_open(struct run *r, const char *src)
{
	struct err e = { 0 };

	if (run_open(r, src, record_args_at, &e) < 0)
		fail_msg("%s: %s", src, e.text);
}

static void args_are_read_from_the_record(void **state)
{
	static const struct record rec = {
		.when = 1ull << 40, .change = -2, .small = 200, .name = "exactly 15 long", .count = 9
	};
	static const struct vm_cpu cpu = { .record = &rec, .record_bytes = sizeof(rec) };
	static const struct {
		const char *expr;
		int64_t value;
	} rows[] = {
		{ "args[0]->when", 1ll << 40 },
		{ "arg0", 1ll << 40 },
		{ "arg1 & 0xffffff", 0xc8fffe },
		{ "arg2", 0 },
		{ "args[0]->change", -2 },
		{ "args[0]->small + 100", 300 },
		{ "args[1]->count * 2", 18 },
		{ "strlen(args[0]->name)", 15 },
		{ "args[0]->name == \"exactly 15 long\"", 1 },
		{ "args[0]->name == \"exactly\"", 0 },
		{ "this->p->small", 200 },
		{ "strlen(this->p->name)", 15 },
		{ "(args[0] == this->p) + (args[0] + 1 == this->p)", 1 },
		{ "*(&args[0]->small)", 200 },
		{ "strlen(strjoin(args[0]->name, \"!\"))", 16 },
		{ "args[0]->small > 100 && args[0]->change < 0", 1 },
	};

	(void)state;
	for (size_t i = 0; i < COUNT(rows); i++) {
		struct run r;
		char src[256];
		uint32_t size;
		const char *at;
		int64_t value = 0;

		snprintf(src, sizeof(src), "rec:::record { this->p = args[0]; trace((long)(%s)); }", rows[i].expr);
		record_open(&r, src);
		run_fire(&r, ID_RECORD, &cpu);
		at = run_record(&r, NCPUS, &size);
		assert_int_equal(size, D_RECORD_HDR + 8);
		memcpy(&value, at + D_RECORD_HDR, 8);
		if (value != rows[i].value)
			fail_msg("%s is %lld", rows[i].expr, (long long)value);
		run_close(&r);
	}
}

static void strings_of_args_are_keys_and_a_whole_struct_is_bytes(void **state)
{
	static const struct record rec = { .when = 3, .name = "name", .count = 9 };
	static const struct vm_cpu cpu = { .record = &rec, .record_bytes = sizeof(rec) };
	struct run r;
	uint32_t size;
	const char *at;

	(void)state;
	record_open(&r, "rec:::record { trace(args[0]->name); trace(*args[0]); }");
	run_fire(&r, ID_RECORD, &cpu);
	at = run_record(&r, NCPUS, &size);
	assert_string_equal(at + r.made.p->clause[0].acts[0].slots[0].offset, "name");
	assert_memory_equal(at + r.made.p->clause[0].acts[1].slots[0].offset, &rec, offsetof(struct record, count));
	run_close(&r);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(integer_expressions_have_cs_value),
		cmocka_unit_test(string_expressions_have_ds_value),
		cmocka_unit_test(args_are_read_from_the_record),
		cmocka_unit_test(strings_of_args_are_keys_and_a_whole_struct_is_bytes),
	};

	return cmocka_run_group_tests_name("values of expressions", tests, NULL, NULL);
}
