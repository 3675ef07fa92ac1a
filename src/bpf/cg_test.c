/*
 * Tests of the code generator: D source through dlang and bpf_generate(), run in the vm.
 * Each row is an expression and what trace() of it must hand over.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <cmocka.h>

#include "facts/bucket_of.h"
#include "bpf/bpf.h"

enum { ID_BEGIN = 1, ID_END, ID_ERROR, ID_EVENT, ID_RECORD, NCPUS = 2 };

static const struct bpf_probe probes[] = {
	{ .id = ID_BEGIN, .cls = IMG_TEST, .prov = "dtrace", .mod = "", .func = "", .name = "BEGIN" },
	{ .id = ID_END, .cls = IMG_TEST, .prov = "dtrace", .mod = "", .func = "", .name = "END" },
	{ .id = ID_ERROR, .cls = IMG_TEST, .prov = "dtrace", .mod = "", .func = "", .name = "ERROR" },
	{ .id = ID_EVENT, .cls = IMG_PERF, .prov = "cpc", .mod = "", .func = "", .name = "event", .has_pc = true },
	{ .id = ID_RECORD, .cls = IMG_RECORD, .prov = "rec", .mod = "", .func = "", .name = "record", .more_args = 1 },
};

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

static const struct d_args *args(void *arg, uint32_t probe, uint32_t index)
{
	(void)arg;
	return probe == ID_RECORD && index < COUNT(record_args) ? &record_args[index] : NULL;
}

static int resolve(void *arg, const struct d_probedesc *d, int (*add)(void *, uint32_t), void *add_arg, struct err *e)
{
	(void)arg;
	(void)e;
	for (size_t i = 0; i < COUNT(probes); i++)
		if (!strcmp(d->name, probes[i].name))
			return add(add_arg, probes[i].id) < 0 ? -TALLY_ENOMEM : 1;
	return 0;
}

static const char *macro(void *arg, const char *name)
{
	(void)arg;
	return !strcmp(name, "1") ? "42" : NULL;
}

static int option(void *arg, const char *name, const char *value, struct err *e)
{
	(void)arg, (void)name, (void)value, (void)e;
	return 0;
}

struct run {
	struct d_unit *u;
	const struct d_program *p;
	struct bpf_image *img;
	struct vm *vm;
};

static int open_run(struct run *r, const char *src, struct err *e)
{
	struct d_env env = { .probes = resolve,
			     .args = args,
			     .macro = macro,
			     .option = option,
			     .strsize = 256,
			     .stackframes = 20,
			     .ustackframes = 20 };
	struct bpf_opts o = { .arch = &bpf_arch_vm,
			      .probe = probes,
			      .nprobes = COUNT(probes),
			      .error_probe = ID_ERROR,
			      .ring_bytes = 65536,
			      .control_bytes = 65536,
			      .agg_entries = 1000,
			      .dynvar_bytes = 65536,
			      .stack_entries = 64,
			      .ustackframes = 20,
			      .stackframes = 20,
			      .generations = true,
			      .errtags = true };
	struct err why = { 0 };
	int rc;

	memset(r, 0, sizeof(*r));
	if ((rc = d_open(&r->u, &env)) < 0 || (rc = d_source(r->u, NULL, src, strlen(src), e)) < 0 ||
	    (rc = d_compile(r->u, &r->p, e, &why)) < 0 || (rc = bpf_generate(r->p, &o, &r->img, e)) < 0)
		return rc;
	return vm_open(&r->vm, r->img, NCPUS, e);
}

static void close_run(struct run *r)
{
	vm_close(r->vm);
	bpf_image_free(r->img);
	d_close(r->u);
}

static void must_open(struct run *r, const char *src)
{
	struct err e = { 0 };

	if (open_run(r, src, &e) < 0)
		fail_msg("%s: %s", src, e.text);
}

/* The user address 0x1000 holds a string, 0x2000 the number 77; nothing else can be read. */
static int memory(void *arg, uint64_t addr, void *to, size_t n, bool user)
{
	static const char text[512] = "from memory";
	const uint64_t number = 77;

	(void)arg;
	(void)user;
	if (addr >= 0x1000 && addr + n <= 0x1000 + sizeof(text))
		memcpy(to, text + (addr - 0x1000), n);
	else if (addr >= 0x2000 && addr + n <= 0x2008)
		memcpy(to, (const char *)&number + (addr - 0x2000), n);
	else
		return -1;
	return 0;
}

static const uint64_t ustack[] = { 0x400100, 0x400200 }, kstack[] = { ~0xffull, ~0xfull };
static const struct vm_cpu cpu0 = { .cpu = 0,
				    .pid = 100,
				    .tid = 101,
				    .uid = 7,
				    .gid = 8,
				    .comm = "brendan",
				    .mono_ns = 5000,
				    .pc = 0x400100,
				    .user = true,
				    .ustack = ustack,
				    .nustack = 2,
				    .kstack = kstack,
				    .nkstack = 2,
				    .read = memory };

static void fire(struct run *r, uint32_t id, const struct vm_cpu *cpu)
{
	struct err e = { 0 };

	for (uint32_t i = 0; i < r->img->nprogs; i++)
		if (r->img->prog[i].probe == id && vm_run(r->vm, i, cpu, 1000000, &e) < 0)
			fail_msg("vm: %s", e.text);
}

static const char *record(struct run *r, uint32_t ring, uint32_t *size)
{
	const void *rec = NULL;

	*size = vm_ring_next(r->vm, ring, &rec);
	return rec;
}

/* What BEGIN { trace(expr) } hands over after the statements `before`. */
static const char *traced(struct run *r, const char *before, const char *expr)
{
	char src[2000];
	uint32_t size;
	const char *rec;

	snprintf(src, sizeof(src), "BEGIN { %s trace(%s); }", before, expr);
	must_open(r, src);
	fire(r, ID_BEGIN, &cpu0);
	rec = record(r, NCPUS, &size);
	if (!rec || size != r->p->clause[0].record_size)
		fail_msg("%s: no record", src);
	return rec + D_RECORD_HDR;
}

/* What BEGIN { self->n++; trace(self->n); } hands over when this thread runs it. */
static uint64_t thread_counts(struct run *r, const struct vm_cpu *cpu)
{
	uint32_t size;
	uint64_t n;

	fire(r, ID_BEGIN, cpu);
	memcpy(&n, record(r, NCPUS, &size) + D_RECORD_HDR, sizeof(n));
	return n;
}

static void a_thread_does_not_begin_with_what_a_dead_one_of_its_id_left(void **state)
{
	struct vm_cpu first = cpu0, second = cpu0;
	struct run r;

	(void)state;
	first.start_ns = 1234567890123;
	second.start_ns = 1234567890124;
	must_open(&r, "BEGIN { self->n++; trace(self->n); }");
	assert_int_equal(thread_counts(&r, &first), 1);
	assert_int_equal(thread_counts(&r, &first), 2);
	assert_int_equal(thread_counts(&r, &second), 1);
	assert_int_equal(thread_counts(&r, &first), 3);
	close_run(&r);
}

/* Says that the mappings of a process are of this generation. */
static void begin_generation(struct run *r, uint64_t process, uint64_t began_ns)
{
	struct maps m = vm_maps(r->vm);
	struct img_generation g = { .began_ns = began_ns };
	uint32_t map = 0;

	while (r->img->map[map].use != IMG_GENERATIONS)
		map++;
	assert_int_equal(m.ops->update(m.maps, map, &process, &g), 0);
}

/* The places of address spaces; the vm's is the process's id. */
static struct img_space *place_of(struct run *r, uint64_t process)
{
	struct maps m = vm_maps(r->vm);
	uint32_t map = 0;

	while (r->img->map[map].use != IMG_SPACES)
		map++;
	return (struct img_space *)m.ops->memory(m.maps, map) +
	       ((uint32_t)process * 0x9e3779b1u >> (32 - IMG_SPACES_BITS));
}

static void a_user_address_is_handed_over_with_the_generation_of_its_process(void **state)
{
	uint64_t got[8];
	uint32_t size;
	struct run r;

	(void)state;
	must_open(&r, "event { printf(\"%A %A\", arg1, 0x77); }");
	for (uint64_t generation = 0; generation < 3; generation++) {
		if (generation)
			begin_generation(&r, cpu0.pid, generation);
		begin_generation(&r, cpu0.pid + 1, 99);
		place_of(&r, cpu0.pid)->mm = IMG_SPACE_NONE; /* it has no place of its own */
		fire(&r, ID_EVENT, &cpu0);
		memcpy(got, record(&r, 0, &size), sizeof(got));
		assert_int_equal(size, sizeof(got));
		assert_memory_equal(&got[2], ((uint64_t[]){ 100, generation, 0x400100, 100, generation, 0x77 }), 48);
	}
	close_run(&r);
}

static void the_generation_of_a_process_is_read_without_a_look_up_where_its_space_has_a_place(void **state)
{
	const struct img_space places[] = { { 0, 0 }, { cpu0.pid, 7 }, { cpu0.pid, 8 }, { cpu0.pid + 1, 9 } };
	const uint64_t want[] = { 0, 7, 8, 5 };
	uint64_t got[5];
	uint32_t size, seen = 0;
	struct run r;

	(void)state;
	must_open(&r, "event { printf(\"%A\", arg1); }");
	begin_generation(&r, cpu0.pid, 5); /* asked only if the place is another's */
	for (uint32_t i = 0; i < COUNT(places); i++) {
		*place_of(&r, cpu0.pid) = places[i];
		fire(&r, ID_EVENT, &cpu0);
		memcpy(got, record(&r, 0, &size), sizeof(got));
		seen += got[3] == want[i];
	}
	assert_int_equal(seen, COUNT(places));
	close_run(&r);
}

static void the_same_address_of_two_generations_is_two_keys_of_an_aggregation(void **state)
{
	struct maps m;
	uint64_t key[3];
	uint32_t map = 0, n = 0;
	struct run r;

	(void)state;
	must_open(&r, "event { @[ufunc(arg1)] = count(); }");
	fire(&r, ID_EVENT, &cpu0);
	*place_of(&r, cpu0.pid) = (struct img_space){ cpu0.pid, 5 };
	fire(&r, ID_EVENT, &cpu0);
	m = vm_maps(r.vm);
	while (r.img->map[map].use != IMG_AGG)
		map++;
	assert_int_equal(r.img->map[map].key_size, sizeof(key));
	for (int rc = m.ops->next(m.maps, map, NULL, key); rc == 0; rc = m.ops->next(m.maps, map, key, key))
		n++;
	assert_int_equal(n, 2);
	close_run(&r);
}

static void maps_have_the_name_of_their_use_and_those_that_are_many_their_number(void **state)
{
	static const char *const names[] = { "ctl", "globals", "drops", "agg_0", "agg_1", "var_0" };
	struct run r;

	(void)state;
	must_open(&r, "BEGIN { g = 1; @a[arg0] = count(); @b = sum(arg0); x[arg0] = 1; }");
	for (size_t i = 0; i < COUNT(names); i++) {
		uint32_t found = 0;

		for (uint32_t m = 0; m < r.img->nmaps; m++)
			found += !strcmp(r.img->map[m].name, names[i]);
		if (found != 1)
			fail_msg("%u maps are called %s", found, names[i]);
	}
	close_run(&r);
}

static void a_program_without_user_addresses_looks_up_no_generation(void **state)
{
	struct run r;

	(void)state;
	must_open(&r, "event { @[func(arg0), pid, stack()] = count(); }");
	for (uint32_t i = 0; i < r.img->nmaps; i++)
		assert_true(r.img->map[i].use != IMG_GENERATIONS && r.img->map[i].use != IMG_SPACES);
	for (uint32_t i = 0; i < r.img->nprogs; i++)
		assert_int_equal(r.img->prog[i].nrelocs, 0);
	close_run(&r);
}

static void the_idle_thread_of_each_cpu_has_variables_of_its_own(void **state)
{
	struct vm_cpu idle0 = cpu0, idle1 = cpu0;
	struct run r;

	(void)state;
	idle0.pid = idle0.tid = idle1.pid = idle1.tid = 0;
	idle1.cpu = 1;
	must_open(&r, "BEGIN { self->n++; trace(self->n); }");
	assert_int_equal(thread_counts(&r, &idle0), 1);
	assert_int_equal(thread_counts(&r, &idle0), 2);
	assert_int_equal(thread_counts(&r, &idle1), 1);
	assert_int_equal(thread_counts(&r, &cpu0), 1);
	assert_int_equal(thread_counts(&r, &idle0), 3);
	close_run(&r);
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

		memcpy(&v, traced(&r, row[i].before, row[i].expr), 8);
		if (v != row[i].want)
			fail_msg("row of line %d: %s %s is %lld, not %lld", row[i].line, row[i].before, row[i].expr,
				 (long long)v, (long long)row[i].want);
		close_run(&r);
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
		const char *v = traced(&r, row[i].before, row[i].expr);

		if (strcmp(v, row[i].want))
			fail_msg("row of line %d: %s %s is \"%s\", not \"%s\"", row[i].line, row[i].before, row[i].expr,
				 v, row[i].want);
		close_run(&r);
	}
}

/* ---- aggregations ----------------------------------------------------------------- */

struct walk {
	uint64_t key[64][40], val[64][NCPUS][4];
	uint32_t n;
};

static void walk_agg(struct run *r, struct walk *w)
{
	struct maps m = vm_maps(r->vm);
	uint32_t map = 0;
	void *last = NULL;

	memset(w, 0, sizeof(*w));
	while (r->img->map[map].use != IMG_AGG)
		map++;
	while (w->n < 64 && m.ops->next(m.maps, map, last, w->key[w->n]) == 0) {
		uint64_t flat[NCPUS * 4] = { 0 };
		uint32_t words = r->img->map[map].value_size / 8;

		assert_int_equal(m.ops->lookup(m.maps, map, w->key[w->n], flat), 0);
		for (uint32_t c = 0; c < NCPUS; c++)
			memcpy(w->val[w->n][c], flat + c * words, 8 * words);
		last = w->key[w->n++];
	}
}

static void aggregated(const char *src, struct walk *w)
{
	struct run r;

	must_open(&r, src);
	fire(&r, ID_BEGIN, &cpu0);
	walk_agg(&r, w);
	close_run(&r);
}

static void values_of_aggregations_are_what_slot_h_says(void **state)
{
	struct walk w;

	(void)state;
	aggregated("BEGIN { @ = count(); @ = count(); }", &w);
	assert_int_equal(w.val[0][0][0], 2);
	aggregated("BEGIN { @ = sum(5); @ = sum(-7); }", &w);
	assert_int_equal((int64_t)w.val[0][0][0], -2);
	aggregated("BEGIN { @ = avg(5); @ = avg(8); }", &w);
	assert_int_equal(w.val[0][0][0], 2);
	assert_int_equal(w.val[0][0][1], 13);
	aggregated("BEGIN { @ = min(5); @ = min(-8); @ = min(3); }", &w);
	assert_int_equal((int64_t)w.val[0][0][0], -8);
	aggregated("BEGIN { @ = max(-5); @ = max(-8); }", &w);
	assert_int_equal((int64_t)w.val[0][0][0], -5);
	aggregated("BEGIN { @ = stddev(-3); @ = stddev(0x123456789abcdef); }", &w);
	assert_int_equal(w.val[0][0][0], 2);
	assert_int_equal(w.val[0][0][1], 0x123456789abcdefull - 3);
	{
		unsigned __int128 sq = (unsigned __int128)0x123456789abcdefull * 0x123456789abcdefull + 9;

		assert_int_equal(w.val[0][0][2], (uint64_t)sq);
		assert_int_equal(w.val[0][0][3], (uint64_t)(sq >> 64));
	}
}

static void keys_are_tuples_padded_with_zeros(void **state)
{
	struct walk w;

	(void)state;
	aggregated("BEGIN { @a[execname, pid, \"x\"] = count(); @a[execname, pid, \"x\"] = count(); }", &w);
	assert_int_equal(w.n, 1);
	assert_string_equal((char *)w.key[0], "brendan");
	assert_int_equal(w.key[0][1], 0);
	assert_int_equal(w.key[0][2], 100);
	assert_string_equal((char *)&w.key[0][3], "x");
	assert_int_equal(w.val[0][0][0], 2);
}

static uint32_t bucket_of(const char *fn, int64_t v, const char *args)
{
	char src[300];
	struct walk w;

	snprintf(src, sizeof(src), "BEGIN { x = (int64_t)0x%llx; @ = %s(x%s); }", (unsigned long long)v, fn, args);
	aggregated(src, &w);
	assert_int_equal(w.n, 1);
	assert_int_equal(w.val[0][0][0], 1);
	return (uint32_t)w.key[0][0];
}

static void buckets_are_those_of_bucket_h(void **state)
{
	static const int64_t v[] = { 0,    1,     -1,        2,          3,         4,         -2,           -3,
				     -4,   5,     9,         10,         11,        99,        100,          101,
				     999,  1000,  1023,      1024,       4095,      10000,     -5,           -10,
				     -100, -1000, 123456789, -123456789, INT64_MAX, INT64_MIN, INT64_MIN + 1 };
	const struct lquantize lq = { -10, 1000, 7 };
	const struct llquantize llq = { 10, 0, 3, 20 };

	(void)state;
	for (size_t i = 0; i < COUNT(v); i++) {
		if (bucket_of("quantize", v[i], "") != quantize_bucket(v[i]))
			fail_msg("quantize(%lld)", (long long)v[i]);
		if (bucket_of("lquantize", v[i], ", -10, 1000, 7") != lquantize_bucket(&lq, v[i]))
			fail_msg("lquantize(%lld)", (long long)v[i]);
		if (bucket_of("llquantize", v[i], ", 10, 0, 3, 20") != llquantize_bucket(&llq, v[i]))
			fail_msg("llquantize(%lld)", (long long)v[i]);
	}
}

static void stacks_are_keys(void **state)
{
	struct vm_cpu cpu = cpu0;
	struct run r;
	struct walk w;

	(void)state;
	must_open(&r, "event { @[ustack()] = count(); }");
	fire(&r, ID_EVENT, &cpu);
	fire(&r, ID_EVENT, &cpu);
	cpu.nustack = 1;
	fire(&r, ID_EVENT, &cpu);
	walk_agg(&r, &w);
	assert_int_equal(w.n, 2);
	assert_int_equal(w.val[0][0][0] + w.val[1][0][0], 3);
	assert_int_equal(w.key[0][0], 100);
	close_run(&r);
}

/* ---- faults, predicates, probes -------------------------------------------------------- */

static void a_fault_hands_over_an_error_record_and_the_next_clause_runs(void **state)
{
	static const struct {
		int line;
		const char *expr;
		uint64_t fault, value;
	} row[] = {
		{ __LINE__, "1 / x", FAULT_DIVZERO, 0 },
		{ __LINE__, "1 % x", FAULT_DIVZERO, 0 },
		{ __LINE__, "*(int *)0x30", FAULT_BADADDR, 0x30 },
		{ __LINE__, "stringof(0x40)", FAULT_BADADDR, 0x40 },
	};

	(void)state;
	for (size_t i = 0; i < COUNT(row); i++) {
		struct run r;
		char src[300];
		uint32_t size;
		uint64_t w[4];
		const char *rec;

		snprintf(src, sizeof(src), "int x; BEGIN { trace(%s); trace(1); } BEGIN { trace(2); }", row[i].expr);
		must_open(&r, src);
		fire(&r, ID_BEGIN, &cpu0);
		rec = record(&r, NCPUS, &size);
		assert_int_equal(size, D_ERROR_RECORD);
		memcpy(w, rec, sizeof(w));
		assert_int_equal((uint32_t)w[0], 1 | D_EPID_ERROR);
		assert_int_equal(w[2] & ((1u << D_FAULT_BITS) - 1), row[i].fault);
		assert_int_equal(w[2] >> 32, 1);
		assert_true((uint32_t)w[2] >> D_FAULT_BITS > 0); /* its instruction */
		assert_int_equal(w[3], row[i].value);
		rec = record(&r, NCPUS, &size);
		memcpy(w, rec, 24);
		assert_int_equal((uint32_t)w[0], 2);
		assert_int_equal(w[2], 2);
		close_run(&r);
	}
}

static void error_clauses_see_their_arguments(void **state)
{
	struct run r;
	uint32_t size;
	uint64_t w[6];

	(void)state;
	must_open(&r,
		  "ERROR { printf(\"%d %d %d\", arg1, arg4, arg5); } BEGIN { x = *(char *)0x50; } BEGIN { trace(3); }");
	fire(&r, ID_BEGIN, &cpu0);
	record(&r, NCPUS, &size);
	assert_int_equal(size, D_ERROR_RECORD);
	memcpy(w, record(&r, NCPUS, &size), 40);
	assert_int_equal(w[2], (uint32_t)w[2]);
	assert_int_equal(w[3], FAULT_BADADDR);
	assert_int_equal(w[4], 0x50);
	assert_non_null(record(&r, NCPUS, &size));
	close_run(&r);
}

static void array_elements_out_of_bounds_fault(void **state)
{
	struct run r;
	uint32_t size;
	uint64_t w[4];

	(void)state;
	must_open(&r, "int a[5]; int i; BEGIN { a[3] = 7; i = 3; trace(a[i]); } BEGIN { i = 5; trace(a[i]); }");
	fire(&r, ID_BEGIN, &cpu0);
	memcpy(w, record(&r, NCPUS, &size), 24);
	assert_int_equal(w[2], 7);
	memcpy(w, record(&r, NCPUS, &size), 32);
	assert_int_equal(w[2] & ((1u << D_FAULT_BITS) - 1), FAULT_BADINDEX);
	assert_int_equal(w[3], 5);
	close_run(&r);
}

static void predicates_decide(void **state)
{
	struct run r;
	uint32_t size;

	(void)state;
	must_open(&r, "event /execname == \"brendan\" && arg1 != 0 && arg0 == 0/ { trace(arg1); } "
		      "event /execname == \"other\"/ { trace(1); }");
	fire(&r, ID_EVENT, &cpu0);
	assert_non_null(record(&r, 0, &size));
	assert_int_equal(size, D_RECORD_HDR + 8);
	assert_null(record(&r, 0, &size));
	close_run(&r);
}

static void this_variables_pass_between_clauses_and_start_at_zero(void **state)
{
	struct run r;
	uint32_t size;
	uint64_t w[3];

	(void)state;
	must_open(&r, "this int n; event { this->n = this->n + 5; } event { trace(this->n); }");
	for (int i = 0; i < 2; i++) {
		fire(&r, ID_EVENT, &cpu0);
		memcpy(w, record(&r, 0, &size), 24);
		assert_int_equal(w[2], 5);
	}
	close_run(&r);
}

static void control_clauses_use_the_control_ring_and_exit_stops_events(void **state)
{
	struct run r;
	uint32_t size;

	(void)state;
	must_open(&r, "event { exit(3); }");
	fire(&r, ID_EVENT, &cpu0);
	fire(&r, ID_EVENT, &cpu0);
	assert_null(record(&r, 0, &size));
	assert_non_null(record(&r, NCPUS, &size));
	assert_null(record(&r, NCPUS, &size));
	close_run(&r);
}

/* A kernel thread has no user stack, and an idle CPU none. */
static void a_stack_that_is_not_there_is_a_key_and_no_drop(void **state)
{
	struct vm_cpu cpu = cpu0;
	struct img_drops d[NCPUS];
	uint32_t map = 0, key = 0;
	struct maps m;
	struct walk w;
	struct run r;

	(void)state;
	cpu.nustack = 0;
	must_open(&r, "event { @[ustack()] = count(); }");
	fire(&r, ID_EVENT, &cpu);
	fire(&r, ID_EVENT, &cpu);
	walk_agg(&r, &w);
	assert_int_equal(w.n, 1);
	assert_int_equal(w.val[0][0][0], 2);
	m = vm_maps(r.vm);
	while (r.img->map[map].use != IMG_DROPS)
		map++;
	assert_int_equal(m.ops->lookup(m.maps, map, &key, d), 0);
	assert_int_equal(d[0].firings, 2);
	assert_int_equal(d[0].stacks, 0);
	close_run(&r);
}

static void a_full_ring_counts_a_drop(void **state)
{
	struct run r;
	struct maps m;
	uint32_t map = 0, size, got = 0;
	struct img_drops d[NCPUS];
	uint32_t key = 0;

	(void)state;
	must_open(&r, "event { printf(\"%s\", probename); }");
	for (int i = 0; i < 2000; i++)
		fire(&r, ID_EVENT, &cpu0);
	while (record(&r, 0, &size))
		got++;
	m = vm_maps(r.vm);
	while (r.img->map[map].use != IMG_DROPS)
		map++;
	assert_int_equal(m.ops->lookup(m.maps, map, &key, d), 0);
	assert_int_equal(d[0].firings, 2000);
	assert_true(d[0].records > 0);
	assert_int_equal(d[0].records + got, 2000);
	close_run(&r);
}

/* A hundred clauses that are too many instructions for one program, and a last one that hands this->n over. */
static void many_clauses(struct buf *src)
{
	buf_puts(src, "this int n; string s; string t; string u; BEGIN { s = \"ab\"; t = \"b\"; }\n");
	for (unsigned i = 0; i < 100; i++)
		buf_printf(src, "BEGIN /s != t/ { this->n += index(s, t); u = strjoin(s, t); u = substr(u, 1, %u); }\n",
			   i);
	buf_puts(src, "BEGIN { trace(this->n); }\n");
}

static void clauses_that_do_not_fit_a_program_go_on_in_parts(void **state)
{
	struct buf src = { 0 };
	struct run r;
	uint32_t size;
	int n;

	(void)state;
	many_clauses(&src);
	must_open(&r, src.p);
	assert_int_equal(r.img->nprogs, 1);
	assert_true(r.img->nparts > 0);
	fire(&r, ID_BEGIN, &cpu0);
	memcpy(&n, record(&r, NCPUS, &size) + D_RECORD_HDR, sizeof(n));
	assert_int_equal(n, 100);
	close_run(&r);
	buf_free(&src);
}

/* Of so many instructions the one program of a script is. */
static uint32_t instructions(const char *src)
{
	struct run r;
	uint32_t n;

	must_open(&r, src);
	n = r.img->prog[0].nins;
	close_run(&r);
	return n;
}

static void one_more_index_is_a_call_and_not_its_loops_again(void **state)
{
	uint32_t one = instructions("string s; string t; BEGIN { trace(index(s, t)); }");
	uint32_t two = instructions("string s; string t; BEGIN { trace(index(s, t)); trace(index(s, t)); }");

	(void)state;
	assert_true(two - one < 40);
}

static void a_clause_that_is_too_large_is_refused_with_its_line(void **state)
{
	struct buf src = { 0 };
	struct err e = { 0 };
	struct run r;

	(void)state;
	buf_puts(&src, "int x; int y; int z;\nBEGIN { x = 1; }\nBEGIN /x > 0/ {");
	for (unsigned i = 0; i < 1200; i++)
		buf_printf(&src, "z += x / (y + %u);\n", i);
	buf_puts(&src, "}");
	assert_int_equal(open_run(&r, src.p, &e), -TALLY_ENOTSUP);
	assert_string_equal(e.text, "[D_LIMIT] line 3: this clause is too large for the kernel: more than 16384 "
				    "operations, 65535 instructions or 8000 branches: divide it into several");
	close_run(&r);
	buf_free(&src);
}

static void parts_survive_failed_allocations(void **state)
{
	struct buf src = { 0 };

	(void)state;
	many_clauses(&src);
	for (long n = 1, step = 1;; n += step, step += step < 50) {
		struct run r;
		struct err e = { 0 };
		long live = mem_live();
		int rc;

		mem_fail_at(n);
		rc = open_run(&r, src.p, &e);
		bool failed = mem_failed();

		mem_fail_at(0);
		close_run(&r);
		assert_int_equal(mem_live(), live);
		if (!failed)
			break;
		assert_int_equal(rc, -TALLY_ENOMEM);
	}
	buf_free(&src);
}

/* In the second one more values are alive than there are registers. */
static void generation_survives_every_failed_allocation(void **state)
{
	static const char *const src[] = {
		"BEGIN { @a[ustack(), execname] = quantize(strlen(probename)); self->x[1] = 5; }",
		"int a; int b; int c; int d; int f; int g; int h; int i;"
		"BEGIN { trace(a + (b - (c * (d + (f - (g * (h + (i - (a * (b + (c - (d * f)))))))))))); }",
	};

	(void)state;
	for (long n = 1, text = 0;; n++) {
		struct run r;
		struct err e = { 0 };
		long live = mem_live();
		int rc;

		mem_fail_at(n);
		rc = open_run(&r, src[text], &e);
		bool failed = mem_failed();

		mem_fail_at(0);
		close_run(&r);
		assert_int_equal(mem_live(), live);
		if (!failed && ++text == COUNT(src))
			break;
		n = failed ? n : 0;
		if (!failed)
			continue;
		assert_int_equal(rc, -TALLY_ENOMEM);
		if (r.u) /* else there is nobody yet to say so */
			assert_non_null(strstr(e.text, "out of memory"));
	}
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
		must_open(&r, src);
		fire(&r, ID_RECORD, &cpu);
		at = record(&r, NCPUS, &size);
		assert_int_equal(size, D_RECORD_HDR + 8);
		memcpy(&value, at + D_RECORD_HDR, 8);
		if (value != rows[i].value)
			fail_msg("%s is %lld", rows[i].expr, (long long)value);
		close_run(&r);
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
	must_open(&r, "rec:::record { trace(args[0]->name); trace(*args[0]); }");
	fire(&r, ID_RECORD, &cpu);
	at = record(&r, NCPUS, &size);
	assert_string_equal(at + r.p->clause[0].acts[0].slots[0].offset, "name");
	assert_memory_equal(at + r.p->clause[0].acts[1].slots[0].offset, &rec, offsetof(struct record, count));
	close_run(&r);
}

/* ---- system calls ----------------------------------------------------------------------------- */

static const struct syscall_row calls[] = {
	{ "first", { 7, 8, 9 }, "" },
	{ "only32", { SYSCALL_NONE, 3, SYSCALL_NONE }, "" },
};
static const struct bpf_probe call_probes[] = {
	{ .id = 1, .cls = IMG_TEST, .prov = "dtrace", .mod = "", .func = "", .name = "BEGIN" },
	{ .id = 2,
	  .cls = IMG_ENTRY,
	  .prov = "syscall",
	  .mod = "vmlinux",
	  .func = "first",
	  .name = "entry",
	  .call = &calls[0] },
	{ .id = 3,
	  .cls = IMG_ENTRY,
	  .prov = "syscall",
	  .mod = "vmlinux",
	  .func = "only32",
	  .name = "entry",
	  .call = &calls[1] },
	{ .id = 4,
	  .cls = IMG_RETURN,
	  .prov = "syscall",
	  .mod = "vmlinux",
	  .func = "first",
	  .name = "return",
	  .call = &calls[0] },
};

static int resolve_calls(void *arg, const struct d_probedesc *d, int (*add)(void *, uint32_t), void *add_arg,
			 struct err *e)
{
	int found = 0;

	(void)arg, (void)e;
	for (size_t i = 0; i < COUNT(call_probes); i++)
		if (text_glob(d->func, call_probes[i].func) && text_glob(d->name, call_probes[i].name))
			found += add(add_arg, call_probes[i].id) >= 0;
	return found;
}

static const struct img_map *calls_map(const struct bpf_image *img, uint8_t class)
{
	for (uint32_t i = 0; i < img->nmaps; i++)
		if (img->map[i].use == IMG_CALLS && img->map[i].id == class)
			return &img->map[i];
	fail_msg("no table of class %u", class);
	return NULL;
}

struct call_row {
	uint32_t id, compat, epid[2];
	char func[SYSCALL_NAME];
};

static void all_system_calls_that_begin_are_one_program_with_a_row_for_each_number(void **state)
{
	static const char text[] =
		"::first:entry { trace(probefunc); } :::entry { trace(arg0); } :::return { trace(errno); }";
	const struct bpf_opts o = { .arch = &bpf_arch_x86_64,
				    .probe = call_probes,
				    .nprobes = COUNT(call_probes),
				    .ring_bytes = 4096,
				    .control_bytes = 4096,
				    .agg_entries = 16,
				    .dynvar_bytes = 4096 };
	const struct d_env env = { .probes = resolve_calls, .macro = macro, .option = option };
	const struct call_row none = { 0 }, *row;
	const struct d_program *p;
	struct bpf_image *img;
	struct d_unit *u;
	struct err e = { 0 }, why = { 0 };

	(void)state;
	assert_int_equal(d_open(&u, &env), 0);
	assert_int_equal(d_source(u, NULL, text, sizeof(text) - 1, &e), 0);
	assert_int_equal(d_compile(u, &p, &e, &why), 0);
	assert_int_equal(bpf_generate(p, &o, &img, &e), 0);
	assert_int_equal(img->nprogs, 2);
	assert_int_equal(img->prog[0].cls, IMG_ENTRY);
	assert_int_equal(img->prog[1].cls, IMG_RETURN);

	row = calls_map(img, IMG_ENTRY)->init;
	assert_int_equal(calls_map(img, IMG_ENTRY)->value_size, 2 * SYSCALL_NUMBERS * sizeof(*row));
	assert_int_equal(row[7].id, 2);
	assert_int_equal(row[7].compat, 0);
	assert_string_equal(row[7].func, "first");
	assert_int_equal(row[SYSCALL_NUMBERS + 8].id, 2);
	assert_int_equal(row[SYSCALL_NUMBERS + 8].compat, 1);
	assert_int_equal(row[SYSCALL_NUMBERS + 3].id, 3);
	assert_string_equal(row[SYSCALL_NUMBERS + 3].func, "only32");
	for (uint32_t i = 0; i < 2 * SYSCALL_NUMBERS; i++)
		if (i != 7 && i != SYSCALL_NUMBERS + 8 && i != SYSCALL_NUMBERS + 3)
			assert_memory_equal(&row[i], &none, sizeof(none));
	/* the first clause is for the first call alone; each epid leads to its own probe and clause */
	assert_int_equal(row[SYSCALL_NUMBERS + 3].epid[0], 0);
	assert_int_equal(img->epid[row[7].epid[0]].clause, 0);
	assert_int_equal(img->epid[row[7].epid[0]].probe, 2);
	assert_int_equal(img->epid[row[7].epid[1]].clause, 1);
	assert_int_equal(img->epid[row[SYSCALL_NUMBERS + 3].epid[1]].probe, 3);
	assert_memory_equal(row[7].epid, row[SYSCALL_NUMBERS + 8].epid, sizeof(row->epid));
	bpf_image_free(img);
	d_close(u);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_thread_does_not_begin_with_what_a_dead_one_of_its_id_left),
		cmocka_unit_test(a_user_address_is_handed_over_with_the_generation_of_its_process),
		cmocka_unit_test(the_generation_of_a_process_is_read_without_a_look_up_where_its_space_has_a_place),
		cmocka_unit_test(the_same_address_of_two_generations_is_two_keys_of_an_aggregation),
		cmocka_unit_test(maps_have_the_name_of_their_use_and_those_that_are_many_their_number),
		cmocka_unit_test(a_program_without_user_addresses_looks_up_no_generation),
		cmocka_unit_test(the_idle_thread_of_each_cpu_has_variables_of_its_own),
		cmocka_unit_test(integer_expressions_have_cs_value),
		cmocka_unit_test(string_expressions_have_ds_value),
		cmocka_unit_test(values_of_aggregations_are_what_slot_h_says),
		cmocka_unit_test(keys_are_tuples_padded_with_zeros),
		cmocka_unit_test(buckets_are_those_of_bucket_h),
		cmocka_unit_test(stacks_are_keys),
		cmocka_unit_test(a_stack_that_is_not_there_is_a_key_and_no_drop),
		cmocka_unit_test(a_fault_hands_over_an_error_record_and_the_next_clause_runs),
		cmocka_unit_test(error_clauses_see_their_arguments),
		cmocka_unit_test(array_elements_out_of_bounds_fault),
		cmocka_unit_test(predicates_decide),
		cmocka_unit_test(this_variables_pass_between_clauses_and_start_at_zero),
		cmocka_unit_test(control_clauses_use_the_control_ring_and_exit_stops_events),
		cmocka_unit_test(a_full_ring_counts_a_drop),
		cmocka_unit_test(args_are_read_from_the_record),
		cmocka_unit_test(strings_of_args_are_keys_and_a_whole_struct_is_bytes),
		cmocka_unit_test(clauses_that_do_not_fit_a_program_go_on_in_parts),
		cmocka_unit_test(one_more_index_is_a_call_and_not_its_loops_again),
		cmocka_unit_test(a_clause_that_is_too_large_is_refused_with_its_line),
		cmocka_unit_test(all_system_calls_that_begin_are_one_program_with_a_row_for_each_number),
		cmocka_unit_test(generation_survives_every_failed_allocation),
		cmocka_unit_test(parts_survive_failed_allocations),
	};

	return cmocka_run_group_tests_name("code generator", tests, NULL, NULL);
}
