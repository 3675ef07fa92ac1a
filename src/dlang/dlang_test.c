/*
 * Tests of the compiler's front: goldens in test/, and what files can't say.
 *
 * A golden is a D program whose comments say what becomes of it:
 *	expect-error LINE: TAG text     fails there, with that tag and those words
 *	expect-why text                 the second line begins so
 *	expect-type text                compiles, and the typed tree has that text
 *	with empty_ok defaultargs       flags of the environment
 *	with kernel                     there are the types of a kernel (fake_kernel.h)
 * Its name starts with the verdict: err.TAG.what.d or ok.what.d.
 */
#include "dlang/fake_kernel.h"
#include "dlang/world_test_int.h"

#include <dirent.h>

/* What a -n text (or, with a name, a file) fails with. */
static void assert_fails(const char *name, const char *text, const char *words)
{
	struct world w;
	world_init(&w);
	w.env.errtags = false;
	assert_int_equal(world_compile(&w, name, text, strlen(text)), -TALLY_ESYNTAX);
	assert_string_equal(w.e.text, words);
	world_fini(&w);
	assert_int_equal(mem_live(), 0);
}

/* ---- goldens ------------------------------------------------------------- */

static const char *folder(void)
{
	const char *f = getenv("TALLY_SRC");
	return f != NULL ? f : "src/dlang/test";
}

static char *read_whole(const char *name, size_t *n)
{
	char path[1024];
	snprintf(path, sizeof(path), "%s/%s", folder(), name);
	FILE *f = fopen(path, "r");
	assert_non_null(f);
	char *text = calloc(1, 1 << 16);
	*n = fread(text, 1, (1 << 16) - 1, f);
	fclose(f);
	return text;
}

/* Where in the text the next expectation of that kind starts and how long it is. */
static const char *expectation(const char **at, const char *kind, size_t *n)
{
	char mark[64];
	snprintf(mark, sizeof(mark), "/* %s ", kind);
	const char *p = strstr(*at, mark);
	if (p == NULL)
		return NULL;
	p += strlen(mark);
	*n = strcspn(p, "\n") - strlen(" */");
	*at = p + *n;
	return p;
}

/* Each run of blanks and newlines as one blank: some messages have several lines, an expectation has one. */
static void blanks_to_one(const char *from, char *to, size_t room)
{
	size_t n = 0;
	for (; *from != '\0' && n + 1 < room; from++)
		if (strchr(" \n\t", *from) == NULL)
			to[n++] = *from;
		else if (n == 0 || to[n - 1] != ' ')
			to[n++] = ' ';
	to[n] = '\0';
}

/* err.D_TAG.what.d */
static bool tag_of_name(const char *name, const char *tag)
{
	const size_t n = strlen(tag);
	return strncmp(name, "err.", 4) == 0 && strncmp(name + 4, tag, n) == 0 && name[4 + n] == '.';
}

/* "3: D_TAG words"; line 0: words that name none. */
static bool check_error(const struct world *w, const char *name, const char *text)
{
	char tag[64], want[512], place[32], part[1024], got[1024];
	unsigned line;
	size_t n;
	const char *p = expectation(&text, "expect-error", &n);
	assert_non_null(p);
	snprintf(want, sizeof(want), "%.*s", (int)n, p);
	assert_int_equal(sscanf(want, "%u: %63s", &line, tag), 2);
	const char *words = strstr(want, tag) + strlen(tag) + 1;
	snprintf(place, sizeof(place), "line %u: ", line);
	snprintf(part, sizeof(part), "failed to compile script %s: [%s] %s%s", name, tag, line != 0 ? place : "",
		 words);
	blanks_to_one(w->e.text, got, sizeof(got));
	return strncmp(got, part, strlen(part)) == 0 && tag_of_name(name, tag);
}

static bool check_why(const struct world *w, const char *text)
{
	size_t n;
	const char *p = expectation(&text, "expect-why", &n);
	return p == NULL || strncmp(w->why.text, p, n) == 0;
}

static bool check_types(const struct world *w, const char *text)
{
	char want[512];
	size_t n;
	const char *p;
	while ((p = expectation(&text, "expect-type", &n)) != NULL) {
		snprintf(want, sizeof(want), "%.*s", (int)n, p);
		if (w->dump.p == NULL || strstr(w->dump.p, want) == NULL) {
			print_error("not found: %s in\n%s", want, w->dump.p != NULL ? w->dump.p : "");
			return false;
		}
	}
	return true;
}

static bool world_library(void *arg, uint32_t i, struct d_library *ret)
{
	static const char text[] = "inline uint64_t uregs[int r] = r;";
	(void)arg;
	*ret = (struct d_library){ .name = "regs.d", .text = text, .n = sizeof(text) - 1 };
	return i == 0;
}

/* Returns whether the golden is met, after saying what is wrong. */
static bool run_golden(const char *name)
{
	struct world w;
	size_t n, nwith = 0;
	char *text = read_whole(name, &n);
	const char *at = text, *with = expectation(&at, "with", &nwith);
	world_init(&w);
	w.env.empty_ok = with != NULL && strstr(with, "empty_ok") != NULL;
	w.env.defaultargs = with != NULL && strstr(with, "defaultargs") != NULL;
	w.env.ktypes = with != NULL && strncmp(with, "kernel", 6) == 0 ? &fake_kernel : NULL;
	w.env.dlibrary = with != NULL && strncmp(with, "library", 7) == 0 ? world_library : NULL;
	int rc = world_compile(&w, name, text, n);
	bool fails = strncmp(name, "err.", 4) == 0;
	bool good = fails ? rc == -TALLY_ESYNTAX && check_error(&w, name, text) && check_why(&w, text) :
			    rc == 0 && check_types(&w, text);
	if (!good)
		print_error("%s: %d %s\n%s\n", name, rc, w.e.text, w.why.text);
	world_fini(&w);
	free(text);
	return good;
}

static void goldens_compile_or_fail_as_they_say(void **state)
{
	unsigned bad = 0, n = 0;
	struct dirent *d;
	DIR *dir = opendir(folder());
	(void)state;
	assert_non_null(dir);
	while ((d = readdir(dir)) != NULL) {
		size_t len = strlen(d->d_name);
		if (len < 3 || strcmp(d->d_name + len - 2, ".d") != 0)
			continue;
		bad += !run_golden(d->d_name);
		n++;
	}
	closedir(dir);
	assert_true(n > 100);
	assert_int_equal(bad, 0);
	assert_int_equal(mem_live(), 0);
}

static const char *const tags[] = {
#define ERRTAG(tag, text) #tag,
#define ERRTAG_BEHIND(tag, text)
#include "dlang/errtag.def"
#undef ERRTAG
};

static void every_tag_is_named_by_a_golden(void **state)
{
	unsigned bad = 0;
	(void)state;
	for (size_t i = 0; i < COUNT(tags); i++) {
		char start[80];
		bool found = false;
		struct dirent *d;
		DIR *dir = opendir(folder());
		assert_non_null(dir);
		snprintf(start, sizeof(start), "err.%s.", tags[i]);
		while ((d = readdir(dir)) != NULL)
			found |= strncmp(d->d_name, start, strlen(start)) == 0;
		closedir(dir);
		if (!found)
			print_error("no golden for %s\n", tags[i]);
		bad += !found;
	}
	assert_int_equal(bad, 0);
}

static void a_fault_of_any_number_has_words(void **state)
{
	struct buf known = { 0 }, b = { 0 };
	uint32_t named = 0;

	(void)state;
	fault_text(&known, FAULT_UNKNOWN, 0);
	for (uint64_t i = 0; i < 1u << D_FAULT_BITS; i++) {
		buf_clear(&b);
		fault_text(&b, i | 1u << D_FAULT_BITS, 0);
		assert_true(b.n > 0);
		named += strcmp(b.p, known.p) != 0;
	}
	assert_int_equal(named, FAULT_COUNTER);
	buf_free(&known);
	buf_free(&b);
}

/* ---- messages ------------------------------------------------------------ */

static void messages_have_the_form_of_dtrace(void **state)
{
	(void)state;
	assert_fails("x.d", "BEGIN {\n\tfoo();\n}\n",
		     "failed to compile script x.d: line 2: undefined function name: foo");
	assert_fails(NULL, "BEGIN { trace(; }", "invalid probe specifier BEGIN { trace(; }: syntax error near \";\"");
	assert_fails(NULL, "BEGIN { trace(x); }",
		     "invalid probe specifier BEGIN { trace(x); }: in action list: failed to "
		     "resolve x: Unknown variable name");
	assert_fails(NULL, "BEGIN /execname/ { }",
		     "invalid probe specifier BEGIN /execname/ { }: in predicate: predicate "
		     "result must be of scalar type");
	assert_fails(NULL, "cpc:::cycels-all-10000",
		     "invalid probe specifier cpc:::cycels-all-10000: probe description "
		     "cpc:::cycels-all-10000 does not match any probes");
	assert_fails(NULL, "foo:bar:baz:go",
		     "invalid probe specifier foo:bar:baz:go: probe description foo:bar:baz:go does "
		     "not match any probes");
}

/* Under the name dtrace the first line is what scripts compare. */
static void nothing_is_added_to_words_that_stand_alone(void **state)
{
	static const struct {
		const char *text, *words;
	} rows[] = {
		{ "BEGIN { trace(timestam); }", "line 1: failed to resolve timestam: Unknown variable name" },
		{ "BEGIN { trace(nsecs); }", "line 1: failed to resolve nsecs: Unknown variable name" },
		{ "BEGIN { while (1) { } }", "line 1: syntax error near \"while\"" },
		{ "struct inner { int a; }; struct outer { struct innr x; };",
		  "line 1: incomplete struct/union/enum struct innr: x" },
		{ "int a[];", "line 1: array declaration requires array dimension or tuple signature" },
		{ "inline N = 5;", "line 1: syntax error near \"N = 5;\"" },
	};
	(void)state;
	for (size_t i = 0; i < COUNT(rows); i++) {
		struct world w;
		char want[200];
		world_init(&w);
		w.env.errtags = false;
		w.env.no_advice = true;
		snprintf(want, sizeof(want), "failed to compile script x.d: %s", rows[i].words);
		assert_int_equal(world_compile(&w, "x.d", rows[i].text, strlen(rows[i].text)), -TALLY_ESYNTAX);
		assert_string_equal(w.e.text, want);
		world_fini(&w);
	}
}

static void tags_stand_before_the_place(void **state)
{
	struct world w;
	const char *text = "BEGIN { trace(x); }";
	(void)state;
	world_init(&w);
	assert_int_equal(world_compile(&w, NULL, text, strlen(text)), -TALLY_ESYNTAX);
	assert_string_equal(w.e.text, "invalid probe specifier BEGIN { trace(x); }: "
				      "[D_IDENT_UNDEF] in action list: failed to "
				      "resolve x: Unknown variable name");
	world_fini(&w);
}

static void a_long_text_leaves_room_for_the_reason(void **state)
{
	struct world w;
	struct buf b = { 0 };
	(void)state;
	world_init(&w);
	for (unsigned i = 0; i < 1000; i++)
		buf_puts(&b, "BEGIN { trace(1); } ");
	buf_puts(&b, "BEGIN { trace(nosuch); }");
	assert_int_equal(world_compile(&w, NULL, b.p, b.n), -TALLY_ESYNTAX);
	assert_non_null(strstr(w.e.text, "...: [D_IDENT_UNDEF] in action list: failed to resolve "
					 "nosuch: Unknown variable name"));
	world_fini(&w);
	buf_free(&b);
}

static void a_long_name_of_a_script_stands_whole_in_its_message(void **state)
{
	char name[300], want[400];
	(void)state;
	memset(name, 'd', sizeof(name));
	name[sizeof(name) - 1] = '\0';
	snprintf(want, sizeof(want), "failed to compile script %s: line 1: syntax error near \";\"", name);
	assert_fails(name, "BEGIN { trace(; }", want);
}

static void the_reason_of_a_provider_is_handed_on(void **state)
{
	struct world w;
	const char *text = "cpc:::cpu-clock-all-100 { }";
	(void)state;
	world_init(&w);
	assert_int_equal(world_compile(&w, "f.d", text, strlen(text)), -TALLY_ESYNTAX);
	assert_string_equal(w.why.text, "cpc: no event \"cpu-clock-all-100\"");
	world_fini(&w);
	world_init(&w);
	assert_int_equal(world_compile(&w, "f.d", "nosuch { }", 10), -TALLY_ESYNTAX);
	assert_string_equal(w.why.text, "");
	world_fini(&w);
}

/* ---- the interface ------------------------------------------------------- */

static void options_take_effect_when_a_source_is_added(void **state)
{
	static const char text[] = "/*\n#pragma D option no=1\n*/ BEGIN { trace(\"/*\"); }\n// "
				   "\"\n  #pragma D option strsize=64\n";
	struct world w;
	(void)state;
	world_init(&w);
	assert_int_equal(d_open(&w.u, &w.env), 0);
	assert_int_equal(d_source(w.u, "a.d", text, strlen(text), &w.e), 0);
	assert_string_equal(w.option, "strsize=64");
	assert_int_equal(d_source(w.u, "b.d", text, strlen(text), &w.e), 1);
	assert_int_equal(d_compile(w.u, &w.p, &w.e, &w.why), 0);
	assert_int_equal(w.p->nclauses, 2);
	assert_int_equal(w.p->clause[1].source, 1);
	world_fini(&w);
}

/* What processes map beside code is watched for these alone. */
static void names_of_data_are_told_from_those_of_code(void **state)
{
	static const struct {
		const char *text;
		bool user, data;
	} rows[] = {
		{ "cpc:::cpu_clock-all-1 { @[usym(arg1), uaddr(ucaller)] = count(); ustack(); printf(\"%A\", arg1); }",
		  true, false },
		{ "cpc:::cpu_clock-all-1 { @[usym(arg2)] = count(); }", true, true },
		{ "cpc:::cpu_clock-all-1 { printf(\"%A\", arg2); }", true, true },
		{ "cpc:::cpu_clock-all-1 { trace(umod(arg1 + 1)); }", true, true },
		{ "cpc:::cpu_clock-all-1, tick-1s { ufunc(arg1); }", true, true }, /* arg1 may be anything there */
		{ "cpc:::cpu_clock-all-1 { trace(sym(arg2)); }", false, false },
	};

	(void)state;
	for (size_t i = 0; i < COUNT(rows); i++) {
		struct world w;

		world_init(&w);
		assert_int_equal(d_open(&w.u, &w.env), 0);
		assert_int_equal(d_source(w.u, "a.d", rows[i].text, strlen(rows[i].text), &w.e), 0);
		if (d_compile(w.u, &w.p, &w.e, &w.why) < 0)
			fail_msg("%s: %s", w.e.text, w.why.text);
		assert_int_equal(w.p->uses_user_symbols, rows[i].user);
		assert_int_equal(w.p->uses_data_symbols, rows[i].data);
		world_fini(&w);
	}
}

static void sizes(void *arg, struct d_env *env)
{
	(void)arg;
	env->strsize = 30;
	env->ustackframes = 7;
}

static void sizes_are_read_before_types(void **state)
{
	struct world w;
	const char *text = "BEGIN { s = \"a\"; @[ustack()] = count(); }";
	(void)state;
	world_init(&w);
	w.env.sizes = sizes;
	assert_int_equal(world_compile(&w, NULL, text, strlen(text)), 0);
	assert_non_null(strstr(w.dump.p, "(var s:string32)"));
	assert_non_null(strstr(w.dump.p, "ustack7"));
	world_fini(&w);
}

static bool any_struct(void *arg, uint64_t type, struct d_ktype *ret)
{
	(void)arg, (void)type;
	*ret = (struct d_ktype){ .kind = D_KT_STRUCT, .size = 16, .name = "any" };
	return true;
}

/* Whatever a kernel has: a type of which only the name is known has no size. */
static void a_type_that_nobody_declares_is_none_of_the_kernels(void **state)
{
	static const char text[] = "provider app { probe go(foo_t r[2]); };\nBEGIN { trace(1); }";
	struct d_ktypes k = fake_kernel;
	struct world w;

	(void)state;
	world_init(&w);
	k.get = any_struct;
	w.env.ktypes = &k;
	assert_int_equal(world_compile(&w, "app.d", text, strlen(text)), -TALLY_ESYNTAX);
	assert_non_null(
		strstr(w.e.text, "[D_DECL_ARRBIG] line 1: array dimension too big, or of elements without a size"));
	world_fini(&w);
}

static void parse_only_asks_for_no_probe(void **state)
{
	struct world w;
	const char *text = "nosuch:::probe { foo(); }";
	(void)state;
	world_init(&w);
	w.env.parse_only = true;
	w.env.dump = "parse";
	assert_int_equal(world_compile(&w, NULL, text, strlen(text)), 0);
	assert_string_equal(w.dump.p, "clause line 1\n  probe nosuch:::probe\n  1: (call foo)\n");
	world_fini(&w);
}

/* Each result has a register of its own, and who reads it names it. */
static void intermediate_code_shows_which_registers_it_reads(void **state)
{
	struct world w;
	const char *text = "BEGIN { x = arg0 + arg1; }";
	unsigned d[2], to, a, b, from;
	const char *p;

	(void)state;
	world_init(&w);
	w.env.dump = "lower";
	assert_int_equal(world_compile(&w, NULL, text, strlen(text)), 0);
	p = strstr(w.dump.p, "  BUILTIN ");
	assert_non_null(p);
	assert_int_equal(sscanf(p, " BUILTIN r%u #%*u 1 BUILTIN r%u #%*u 1 ADD r%u r%u r%u 1 OSTORE o1+0 r%u size 8",
				&d[0], &d[1], &to, &a, &b, &from),
			 6);
	assert_int_equal(a, d[0]);
	assert_int_equal(b, d[1]);
	assert_int_equal(from, to);
	assert_true(d[0] != d[1] && to != d[0] && to != d[1]);
	world_fini(&w);
}

/* Before its instructions each object, variable, aggregation, counter and text of a program has a line. */
static void intermediate_code_begins_with_what_it_names(void **state)
{
	static const char *const lines[] = {
		"object o1 global 8 bytes x\n", "variable #0 self->y key 8 value 8\n",
		"aggregation #0 @n key 8\n",    "literal #0 \"a\\\"b\"\n",
		"literal #1 \"shell\"\n",       "clause 0 line 1 record ",
	};
	const char *text = "BEGIN { x = arg0; self->y = 1; @n[pid] = count(); trace(\"a\\\"b\"); "
			   "x = execname == \"shell\"; }";
	const char *at;
	struct world w;

	(void)state;
	world_init(&w);
	w.env.dump = "lower";
	assert_int_equal(world_compile(&w, NULL, text, strlen(text)), 0);
	at = w.dump.p;
	for (size_t i = 0; i < COUNT(lines); i++) {
		const char *line = strstr(at, lines[i]);

		if (!line || (line != w.dump.p && line[-1] != '\n'))
			fail_msg("not there: %s in\n%s", lines[i], w.dump.p);
		at = line;
	}
	world_fini(&w);
}

/* Bytes are turned round within the argument's own size. */
static void network_order_is_of_2_4_or_8_bytes(void **state)
{
	static const char text[] = "BEGIN { trace(htons(arg0)); trace(htonl(arg0)); trace(htonll(arg0)); "
				   "trace(ntohs(arg0)); trace(ntohl(arg0)); trace(ntohll(arg0)); }";
	static const uint32_t sizes[] = { 2, 4, 8, 2, 4, 8 };
	struct world w;
	uint32_t n = 0;

	(void)state;
	world_init(&w);
	assert_int_equal(world_compile(&w, NULL, text, strlen(text)), 0);
	for (uint32_t k = 0; k < w.p->clause[0].nins; k++)
		if (w.p->clause[0].ins[k].op == IR_HTON) {
			assert_true(n < COUNT(sizes));
			assert_int_equal(w.p->clause[0].ins[k].s, sizes[n]);
			n++;
		}
	assert_int_equal(n, COUNT(sizes));
	world_fini(&w);
}

static void descriptions_are_kept_as_written(void **state)
{
	struct world w;
	const char *text = "BEGIN,\n END /pid/ { trace(1); } tick-1s";
	(void)state;
	world_init(&w);
	assert_int_equal(world_compile(&w, NULL, text, strlen(text)), 0);
	assert_string_equal(w.p->clause[0].desc, "BEGIN,\n END ");
	assert_int_equal(w.p->clause[0].nprobes, 2);
	assert_int_equal(w.p->clause[0].probes[1], 2);
	assert_false(w.p->clause[0].is_default);
	assert_string_equal(w.p->clause[1].desc, "tick-1s");
	assert_true(w.p->clause[1].is_default);
	world_fini(&w);
}

/* That every use lies behind the one question is proved by the pass check, which world_compile() ends with. */
static void a_clause_asks_once_whose_thread_local_variables_it_has(void **state)
{
	static const struct {
		const char *text;
		bool at_start; /* it must: each use is in an arm of its own */
	} clauses[] = {
		{ "self int a; self int b; self int k[int]; BEGIN { self->a = 1; self->b = self->a + self->a; }",
		  true },
		{ "self int a; self int b; self int k[int]; BEGIN / pid > 1 / { self->a = 1; trace(self->a); }",
		  false },
		{ "self int a; self int b; self int k[int]; BEGIN / pid > 1 && self->a / { self->a = 0; self->k[self->a] = 1; }",
		  false },
		{ "self int a; self int b; self int k[int]; BEGIN { x = pid ? self->a : self->b; }", true },
		{ "self int a; self int b; self int k[int]; BEGIN { y = 1; x = pid && self->a; z = self->b; }", true },
		{ "self int a; self int b; self int k[int]; BEGIN { if (pid) { self->a = 1; } else { if (uid) { self->b = 2; } self->c = 3; } }",
		  true },
	};
	(void)state;
	for (size_t i = 0; i < COUNT(clauses); i++) {
		struct world w;
		uint32_t asked = 0, at = 0, jump = UINT32_MAX;

		world_init(&w);
		assert_int_equal(world_compile(&w, NULL, clauses[i].text, strlen(clauses[i].text)), 0);
		for (uint32_t k = 0; k < w.p->clause[0].nins; k++) {
			const struct ir_ins *in = &w.p->clause[0].ins[k];

			if (in->op == IR_JCMP && jump == UINT32_MAX)
				jump = k;
			if (in->op == IR_BUILTIN && in->x == BI_THREAD) {
				asked++;
				at = k;
			}
		}
		assert_int_equal(asked, 1);
		assert_int_equal(at < jump, clauses[i].at_start);
		world_fini(&w);
	}
}

/* The values of a clause agree, as in DTrace: but where chill() has passed time. */
static void a_clause_reads_the_clock_once_unless_it_chills(void **state)
{
	static const struct {
		const char *text;
		uint32_t reads;
	} clauses[] = {
		{ "BEGIN { x = timestamp; }", 1 },
		{ "BEGIN { x = timestamp; y = timestamp - x; @ = sum(timestamp - y); }", 1 },
		{ "BEGIN /timestamp > 5/ { x = pid ? timestamp : timestamp + 1; }", 1 },
		{ "BEGIN { if (pid) { x = timestamp; } else { x = timestamp; } }", 1 },
		{ "BEGIN { x = walltimestamp - timestamp; y = walltimestamp; }", 1 },
		{ "BEGIN { x = timestamp; chill(1000); y = timestamp - x; }", 2 },
	};

	(void)state;
	for (size_t i = 0; i < COUNT(clauses); i++) {
		struct world w;
		uint32_t reads = 0;

		world_init(&w);
		assert_int_equal(world_compile(&w, NULL, clauses[i].text, strlen(clauses[i].text)), 0);
		for (uint32_t k = 0; k < w.p->clause[0].nins; k++)
			reads += w.p->clause[0].ins[k].op == IR_BUILTIN && w.p->clause[0].ins[k].x == BI_TIMESTAMP;
		assert_int_equal(reads, clauses[i].reads);
		world_fini(&w);
	}
}

/* ---- hostile sources ----------------------------------------------------- */

/* head, then `unit` n times, then tail: compiles or fails, and comes back */
static int repeated(const char *head, const char *unit, unsigned n, const char *tail)
{
	struct world w;
	struct buf b = { 0 };
	world_init(&w);
	w.env.dump = NULL;
	buf_puts(&b, head);
	for (unsigned i = 0; i < n; i++)
		buf_puts(&b, unit);
	buf_puts(&b, tail);
	int rc = world_compile(&w, "hostile.d", b.p, b.n);
	world_fini(&w);
	buf_free(&b);
	return rc;
}

static void deep_nesting_is_refused(void **state)
{
	static const char *const cases[][3] = {
		{ "BEGIN { x = ", "(", "1" },
		{ "BEGIN { x = ", "!", "1; }" },
		{ "BEGIN { x = ", "1 ? 2 : ", "3; }" },
		{ "BEGIN { x = ", "1 ? ", "" },
		{ "BEGIN { x = ", "1 + ", "1; }" },
		{ "BEGIN { x", " = x", "; }" },
		{ "BEGIN { x = ", "strlen(", "" },
		{ "BEGIN { x = a", "[1]", "; }" },
		{ "BEGIN { x = a", "->b", "; }" },
		{ "int ", "*", "x;" },
		{ "int ", "(", "x;" },
		{ "int x", "[2]", ";" },
		{ "int f", "(int g", "" },
		{ "", "struct { ", "" },
		{ "BEGIN { x = ", "(int)", "1; }" },
		{ "BEGIN { x = ", "sizeof ", "1; }" },
		{ "BEGIN { x = ", "x++ , ", "1; }" },
		{ "int x", "[1 + ", "" },
		{ "BEGIN /", "(", "" },
		{ "BEGIN { ", "@[", "" },
		{ "BEGIN { ", "if (1) ", "" },
		{ "BEGIN { ", "if (1) { ", "" },
		{ "BEGIN { x = ", "xlate <s_t> (", "" },
		{ "BEGIN { x = ", "(`t *", "" },
		{ "inline int x[", "int (", "" },
		{ "provider p { probe q", "(t (", "" },
		{ "BEGIN { x = ", "- -", "1; }" },
		{ "BEGIN { x = y", "++", "; }" },
	};
	(void)state;
	for (size_t i = 0; i < COUNT(cases); i++)
		assert_int_equal(repeated(cases[i][0], cases[i][1], 50000, cases[i][2]), -TALLY_ESYNTAX);
	assert_int_equal(mem_live(), 0);
}

/* A program about member x of struct deep, below n anonymous structs. */
static int below_anonymous(unsigned n, const char *use)
{
	struct world w;
	struct buf b = { 0 };
	int rc;

	world_init(&w);
	w.env.dump = NULL;
	buf_puts(&b, "struct deep { ");
	for (unsigned i = 0; i < n; i++)
		buf_puts(&b, "struct { ");
	buf_puts(&b, "int x; ");
	for (unsigned i = 0; i < n; i++)
		buf_puts(&b, "}; ");
	buf_printf(&b, "};\n%s\n", use);
	rc = world_compile(&w, "deep.d", b.p, b.n);
	world_fini(&w);
	buf_free(&b);
	return rc;
}

static void a_member_is_found_through_32_anonymous_structs_and_no_more(void **state)
{
	static const char *const uses[] = {
		"this struct deep *p; BEGIN { this->p = (struct deep *)arg0; trace(this->p->x); }",
		"BEGIN { trace(offsetof(struct deep, x)); }",
		"translator struct deep < int i > { x = i; };\nBEGIN { trace(xlate <struct deep *> (1)->x); }",
	};

	(void)state;
	for (size_t i = 0; i < COUNT(uses); i++) {
		assert_int_equal(below_anonymous(32, uses[i]), 0);
		assert_int_equal(below_anonymous(33, uses[i]), -TALLY_ESYNTAX);
	}
	assert_int_equal(mem_live(), 0);
}

static void large_sources_are_compiled_or_refused(void **state)
{
	(void)state;
	assert_int_equal(repeated("BEGIN { trace(\"", "x", 1000000, "\"); }"), 0);
	assert_int_equal(repeated("BEGIN { ", "x++;", 100, " }"), 0);
	assert_true(repeated("BEGIN { ", "x++;", 20000, " }") <= 0);
	assert_int_equal(repeated("BEGIN { ", "x++;", 1000000, " }"), -TALLY_ESYNTAX);
	assert_int_equal(repeated("rec:::one { trace(args[0]); ", "x++;", 65000, " }"), -TALLY_ENOTSUP);
	assert_int_equal(repeated("rec:::one, rec:::other { trace(args[0]); ", "x++;", 65000, " }"), -TALLY_ESYNTAX);
	assert_int_equal(repeated("", "BEGIN { x = 1; }\n", 5000, ""), 0);
	assert_int_equal(repeated("enum { A = 1 }; BEGIN { printf(\"", "%d", 300, "\", 1); }"), -TALLY_ESYNTAX);
	assert_int_equal(repeated("BEGIN", ", BEGIN", 50000, " { }"), 0);
	assert_int_equal(repeated("/", "* /", 300000, ""), -TALLY_ESYNTAX);
	assert_int_equal(repeated("", "#pragma D option x\n", 20000, "BEGIN { }"), 0);
	assert_int_equal(repeated("BEGIN { ", "/* */", 200000, " }"), 0);
	assert_int_equal(mem_live(), 0);
}

/* Each operator and each operand counts, and 262144 are the most. */
static void a_program_has_so_many_operators_and_operands_and_no_more(void **state)
{
	static const char too_many[] = "the program is too large: more than 262144 operators and operands";

	(void)state;
	for (unsigned more = 0; more < 2; more++) {
		struct world w;
		struct buf b = { 0 };

		world_init(&w);
		w.env.dump = NULL;
		w.env.parse_only = true;
		buf_puts(&b, "BEGIN { ");
		for (unsigned i = 0; i < 262144 / 2 - 1 + more; i++)
			buf_puts(&b, i % 64 ? "!x;" : "!x;\n");
		buf_puts(&b, more ? "x; }" : "!x; }");
		assert_int_equal(world_compile(&w, "many.d", b.p, b.n), more ? -TALLY_ESYNTAX : 0);
		assert_true(!more || strstr(w.e.text, too_many) != NULL);
		world_fini(&w);
		buf_free(&b);
	}
	assert_int_equal(mem_live(), 0);
}

static void what_follows_a_nul_is_not_dropped_in_silence(void **state)
{
	struct world w;
	static const char text[] = "BEGIN { }\n\0 nosuch {";
	(void)state;
	world_init(&w);
	assert_int_equal(world_compile(&w, "nul.d", text, sizeof(text) - 1), -TALLY_ESYNTAX);
	assert_string_equal(w.e.text, "failed to compile script nul.d: [D_SYNTAX] line 2: syntax error near \"\\x00\"");
	world_fini(&w);
}

/* Whether ptt-like `rec:::one /text/` compiles when members may be named bare; its words if not. */
static const char *bare(const char *text)
{
	static char words[512];
	struct world w;
	char src[256];
	snprintf(src, sizeof(src), "rec:::one /(%s)/", text);
	world_init(&w);
	w.env.bare_args = true;
	w.env.errtags = false;
	int rc = world_compile(&w, "bare.d", src, strlen(src));
	snprintf(words, sizeof(words), "%s", rc < 0 ? w.e.text : "");
	world_fini(&w);
	return words;
}

static void members_may_be_named_bare(void **state)
{
	(void)state;
	assert_string_equal(bare("size > 5 && name == \"x\" && args[0]->flags"), "");
	assert_string_equal(bare("when / size == 3 || execname == name"), "");
	assert_non_null(strstr(bare("sise == 1"), "failed to resolve sise: Unknown variable name; did you mean size?"));
	assert_non_null(strstr(bare("nowhere == 1"), "Unknown variable name"));
	assert_null(strstr(bare("nowhere == 1"), "did you mean"));
	assert_non_null(strstr(bare("size = 3"), "writable variable"));
	assert_int_equal(mem_live(), 0);
}

/* ---- memory -------------------------------------------------------------- */

static const char everything[] =
	"#pragma D option quiet\n"
	"typedef struct s { int a : 3; char b[9]; struct s *n; } s_t; enum { A, B }; this s_t *p; "
	"int arr[3];\n"
	"BEGIN, cpc:::cpu_clock-all-$1, tick-* / pid == $target || execname == \"x\" /\n"
	"{ this->p = (s_t *)arg0; arr[pid % 3] += this->p->a; as[pid, execname] = A ? 1 : B; "
	"self->x = timestamp;\n"
	"  @a[ustack(), func(arg0), strjoin(execname, \"x\")] = quantize(self->x, 2); printf(\"%s "
	"%A\", $$2, arg1);\n"
	"  @a[ustack(), func(arg0), probename] = quantize(1); printa(\"%k %a %s %@d\", @a); "
	"trunc(@a, 3); exit(0); }\n"
	"rec:::one { trace(args[0]->name); trace(args[0]->size); }\n"
	"rec:::one, rec:::other, BEGIN /pid/ { @b[pid] = count(); @c = sum(arg1); }\nrec:::other, rec:::one { trace(args[0]); }\n";

static const char refused[] = "BEGIN { if (pid) trace(xlate <a_t *> (arg0)); else { x = (`y) + 1; } }\n";
static const char whole[] =
	"struct in { int n; }; struct out { int m; char c[4]; string s; } o;\n"
	"translator struct out < struct in *P > { m = P->n; c = \"x\"; s = strchr(\"y\", 'z'); };\n"
	"BEGIN { o = *xlate < struct out * > ((struct in *)arg0); print(o); print(&o.m); exit(strlen(o.s)); }\n";
static const char spread[] = "typedef int n_t; BEGIN { @ = llquantize(1, (n_t)10, (n_t)0, (n_t)6, (n_t)20); }\n";
static const char misspelt[] = "struct out { int m; };\nBEGIN { uint32 x; }\n";
static const char misspelt_tag[] = "struct out { int m; };\nstruct ouf o;\n";
static const char defined[] = "translator a_t < struct b *B > { c = B->d; };\n";

static const char prototypes[] = "provider app { probe go(int a, char *b, int c) : (char *b, int a); };\n"
				 "int f(int x, char *y); BEGIN { trace(1); }\n";

static void fail_each_allocation(const char *text, int verdict)
{
	for (long n = 1;; n++) {
		struct world w;
		world_init(&w);
		w.env.dump = NULL;
		mem_fail_at(n);
		int rc = world_compile(&w, "all.d", text, strlen(text));
		bool failed = mem_failed();
		world_fini(&w);
		mem_fail_at(0);
		assert_int_equal(mem_live(), 0);
		if (!failed) {
			assert_int_equal(rc, verdict);
			break;
		}
		assert_int_equal(rc, -TALLY_ENOMEM);
	}
}

/* "BEGIN", "END" and so on; the text of one probe, whatever it is, is longer, and that of probe 3 is not known yet. */
static uint32_t text_bytes(void *world, uint32_t probe, uint32_t x)
{
	(void)world, (void)x;
	return probe == 2 ? 20 : probe == 3 ? 0 : 6;
}

/* The first aggregation's key has so many bytes. */
static void key_has(const char *text, uint32_t bytes)
{
	struct world w;
	world_init(&w);
	w.env.text_bytes = text_bytes;
	w.env.strsize = 256;
	if (world_compile(&w, NULL, text, strlen(text)) < 0)
		fail_msg("%s: %s", text, w.e.text);
	if (w.p->agg[0].key_size != bytes)
		fail_msg("%s: %u bytes", text, w.p->agg[0].key_size);
	world_fini(&w);
}

static void a_key_is_as_wide_as_the_longest_name_of_its_probes(void **state)
{
	(void)state;
	key_has("BEGIN { @[probefunc] = count(); }", 8);
	key_has("BEGIN { @[probefunc, probemod, pid] = count(); }", 8 + 8 + 8);
	key_has("BEGIN, END { @[probefunc] = count(); }", 24);
	key_has("BEGIN { @[probefunc] = count(); } END { @[probefunc] = count(); }", 24);
	key_has("BEGIN { @[probefunc] = count(); } END { @[\"a text that is longer than those\"] = count(); }", 40);
	key_has("BEGIN, ERROR { @[probefunc] = count(); }", 64);
	key_has("BEGIN { @[execname] = count(); }", 16);
}

static void the_nth_allocation_may_fail(void **state)
{
	(void)state;
	fail_each_allocation(everything, 0);
	fail_each_allocation(refused, -TALLY_ESYNTAX);
	fail_each_allocation(defined, -TALLY_ESYNTAX);
	fail_each_allocation(prototypes, 0);
	fail_each_allocation(whole, 0);
	fail_each_allocation(spread, 0);
	fail_each_allocation(misspelt, -TALLY_ESYNTAX);
	fail_each_allocation(misspelt_tag, -TALLY_ESYNTAX);
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(goldens_compile_or_fail_as_they_say),
		cmocka_unit_test(every_tag_is_named_by_a_golden),
		cmocka_unit_test(a_fault_of_any_number_has_words),
		cmocka_unit_test(messages_have_the_form_of_dtrace),
		cmocka_unit_test(nothing_is_added_to_words_that_stand_alone),
		cmocka_unit_test(tags_stand_before_the_place),
		cmocka_unit_test(a_long_text_leaves_room_for_the_reason),
		cmocka_unit_test(a_long_name_of_a_script_stands_whole_in_its_message),
		cmocka_unit_test(the_reason_of_a_provider_is_handed_on),
		cmocka_unit_test(options_take_effect_when_a_source_is_added),
		cmocka_unit_test(names_of_data_are_told_from_those_of_code),
		cmocka_unit_test(sizes_are_read_before_types),
		cmocka_unit_test(a_type_that_nobody_declares_is_none_of_the_kernels),
		cmocka_unit_test(parse_only_asks_for_no_probe),
		cmocka_unit_test(intermediate_code_shows_which_registers_it_reads),
		cmocka_unit_test(intermediate_code_begins_with_what_it_names),
		cmocka_unit_test(network_order_is_of_2_4_or_8_bytes),
		cmocka_unit_test(descriptions_are_kept_as_written),
		cmocka_unit_test(a_clause_asks_once_whose_thread_local_variables_it_has),
		cmocka_unit_test(a_clause_reads_the_clock_once_unless_it_chills),
		cmocka_unit_test(deep_nesting_is_refused),
		cmocka_unit_test(a_member_is_found_through_32_anonymous_structs_and_no_more),
		cmocka_unit_test(large_sources_are_compiled_or_refused),
		cmocka_unit_test(a_program_has_so_many_operators_and_operands_and_no_more),
		cmocka_unit_test(what_follows_a_nul_is_not_dropped_in_silence),
		cmocka_unit_test(members_may_be_named_bare),
		cmocka_unit_test(a_key_is_as_wide_as_the_longest_name_of_its_probes),
		cmocka_unit_test(the_nth_allocation_may_fail),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
