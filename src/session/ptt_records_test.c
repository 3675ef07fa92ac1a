/*
 * ptt_records_test.c: D over records, held against the truth of generated traffic, and filters.  Needs no privileges.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <cmocka.h>

#include "capture/filter.h"
#include "ptt/gen.h"
#include "session/run_test_int.h"

#define RECORDS 20000u

/* ---- a trace in a file --------------------------------------------------------- */

struct trace {
	struct ptt_gen *gen;
	const struct ptt_gen_truth *truth;
	char path[64], on[96];
};

static void open_trace(struct trace *f, struct ptt_gen_opts o)
{
	size_t n = (size_t)RECORDS * 4 * o.format;
	uint8_t *p = mem_alloc(n);
	int fd;

	assert_int_equal(ptt_gen_open(&f->gen, &o), 0);
	assert_int_equal(ptt_gen_fill(f->gen, p, n), n);
	f->truth = ptt_gen_truth(f->gen);
	snprintf(f->path, sizeof(f->path), "/tmp/tally-records-XXXXXX");
	fd = mkstemp(f->path);
	assert_true(fd >= 0);
	assert_int_equal(write(fd, p, n), n);
	close(fd);
	mem_free(p);
	snprintf(f->on, sizeof(f->on), "%s,format=%udw,time=%s", f->path, o.format,
		 o.time == PTT_TIME_DELTA ? "delta" : "abs");
}

static void close_trace(struct trace *f)
{
	unlink(f->path);
	ptt_gen_close(f->gen);
}

/* ---- a run ------------------------------------------------------------------------ */

/* Numbers that a script prints, one a line, are these. */
static void prints(const struct trace *f, const char *script, const uint64_t *want, size_t n)
{
	struct result r;
	char *at;

	run(&r, f->on, script);
	if (r.rc < 0)
		fail_msg("%s: %s %s", script, r.error, r.reason);
	at = r.out.p;
	for (size_t i = 0; i < n; i++) {
		uint64_t v = at ? strtoull(at, &at, 10) : 0;

		if (v != want[i])
			fail_msg("%s: number %zu is %llu and not %llu", script, i, (unsigned long long)v,
				 (unsigned long long)want[i]);
	}
	drop(&r);
}
#define PRINTS(f, script, ...) prints(f, script, (uint64_t[]){ __VA_ARGS__ }, COUNT(((uint64_t[]){ __VA_ARGS__ })))

/* ---- what the generator knows ------------------------------------------------------- */

static uint64_t of_class(const struct ptt_gen_truth *t, unsigned cls)
{
	uint64_t n = 0;

	for (unsigned i = 0; tlp_type_at(i); i++)
		if (tlp_type_at(i)->cls == cls)
			n += t->type[i].tlps;
	return n;
}

static void classes(struct trace *f)
{
	const struct ptt_gen_truth *t = f->truth;

	PRINTS(f,
	       "BEGIN { a = b = c = d = 0; } tlp { a++; } p { b++; } np { c++; } cpl { d++; }"
	       "END { printf(\"%d %d %d %d\", a, b, c, d); }",
	       RECORDS, of_class(t, TLP_P), of_class(t, TLP_NP), of_class(t, TLP_CPL));
}

static void types(struct trace *f)
{
	for (unsigned i = 0; tlp_type_at(i); i++) {
		char script[400];

		if (!f->truth->type[i].tlps)
			continue;
		snprintf(script, sizeof(script),
			 "BEGIN { n = m = b = 0; } tlp /args[0]->type_index == %u/ { n++; b += args[0]->bytes; }"
			 "tlp /args[0]->name == \"%s\"/ { m++; } END { printf(\"%%d %%d\", n, m); }",
			 i, tlp_type_at(i)->name);
		PRINTS(f, script, f->truth->type[i].tlps, f->truth->type[i].tlps);
	}
}

static void latencies(struct trace *f)
{
	const struct ptt_gen_truth *t = f->truth;

	PRINTS(f,
	       "BEGIN { all = good = sum = low = high = first = 0; low--; } transaction { all++; }"
	       "transaction /!args[1]->status/ { good++; sum += args[1]->latency; first += args[1]->latency_first; }"
	       "transaction /!args[1]->status && args[1]->latency > high/ { high = args[1]->latency; }"
	       "END { printf(\"%d %d %d %d %d\", all, good, sum, high, first); }",
	       t->answered, t->answered - t->failed, t->latency.sum, t->latency.most, t->latency_first.sum);
}

static void requesters(struct trace *f)
{
	for (uint32_t i = 0; i < f->truth->nrequesters; i++) {
		const struct ptt_gen_requester *q = &f->truth->requester[i];
		char script[300];

		snprintf(script, sizeof(script),
			 "BEGIN { n = s = 0; } transaction /args[0]->requester == %u && "
			 "!args[1]->status/ { n++; s += args[1]->latency; } END { printf(\"%%d %%d\", n, s); }",
			 q->id);
		PRINTS(f, script, q->latency.n, q->latency.sum);
	}
}

static void the_answers_are_the_truth(void **state)
{
	static const struct ptt_gen_opts opts[] = {
		{ .seed = 1, .format = PTT_8DW, .faults = 5000 },
		{ .seed = 2, .format = PTT_8DW, .time = PTT_TIME_DELTA, .requesters = 20 },
		{ .seed = 3, .format = PTT_4DW },
		{ .seed = 4, .format = PTT_4DW, .time = PTT_TIME_DELTA, .tags = 1024, .faults = 1000 },
	};

	(void)state;
	for (size_t i = 0; i < COUNT(opts); i++) {
		struct trace f;

		open_trace(&f, opts[i]);
		classes(&f);
		types(&f);
		latencies(&f);
		requesters(&f);
		close_trace(&f);
	}
}

/* ---- how a run goes -------------------------------------------------------------------- */

/* No clause runs behind the one that called exit(), of the same record either. */
static void exit_ends_the_run_with_the_record_that_called_it(void **state)
{
	struct result r;
	struct trace f;

	(void)state;
	open_trace(&f, (struct ptt_gen_opts){ .seed = 5, .format = PTT_8DW });
	run(&r, f.on,
	    "BEGIN { n = 0; } tlp /n++ == 100/ { exit(7); } tlp, p, np, cpl, transaction { last = n; } "
	    "END { printf(\"%d\", last); }");
	assert_int_equal(r.rc, 0);
	assert_int_equal(r.status, 7);
	assert_string_equal(r.out.p, "100\n");
	drop(&r);
	close_trace(&f);
}

static void answers_keep_the_order_of_the_records(void **state)
{
	struct result r;
	struct trace f;
	uint64_t was = 0, n = 0;

	(void)state;
	open_trace(&f, (struct ptt_gen_opts){ .seed = 6, .format = PTT_4DW });
	run(&r, f.on,
	    "tlp { printf(\"%d\\n\", args[0]->offset); @ = count(); } "
	    "tlp /args[0]->offset % 4096 == 0/ { printa(\"%@d\\n\", @); clear(@); }");
	assert_int_equal(r.rc, 0);
	for (char *at = r.out.p; *at && *at != '\n'; n++) {
		uint64_t offset = strtoull(at, &at, 10), counted;

		assert_true(n == 0 || offset > was);
		was = offset;
		at++;
		if (offset % 4096)
			continue;
		counted = strtoull(at, &at, 10);
		assert_int_equal(counted, n ? 4096 / 16 : 1);
		at++;
	}
	assert_int_equal(n, RECORDS);
	assert_null(r.notes.p); /* no drops */
	drop(&r);
	close_trace(&f);
}

static void ticks_fire_in_the_time_of_the_records(void **state)
{
	struct result r;
	struct trace f;
	char want[64];

	(void)state;
	open_trace(&f, (struct ptt_gen_opts){ .seed = 7, .format = PTT_8DW, .no_pauses = true });
	run(&r, f.on,
	    "BEGIN { n = wrong = start = 0; } tlp /args[0]->time == 0/ { start = timestamp; }"
	    "tlp { wrong += timestamp != args[0]->time + start; } tick-200us { n++; }"
	    "END { printf(\"%d %d\", n, wrong); }");
	assert_int_equal(r.rc, 0);
	snprintf(want, sizeof(want), "%llu 0\n", (unsigned long long)(f.truth->now / 200000));
	assert_string_equal(r.out.p, want);
	drop(&r);
	close_trace(&f);
}

static void what_was_not_matched_is_said(void **state)
{
	char want[80];
	struct result r;
	struct trace f;

	(void)state;
	open_trace(&f, (struct ptt_gen_opts){ .seed = 8, .format = PTT_8DW, .faults = 20000 });
	run(&r, f.on, "transaction { @ = count(); }");
	assert_int_equal(r.rc, 0);
	snprintf(want, sizeof(want), "%llu unanswered requests fired no transaction\n",
		 (unsigned long long)f.truth->outstanding);
	assert_non_null(strstr(r.notes.p, want));
	snprintf(want, sizeof(want), "%llu requests given up ",
		 (unsigned long long)(f.truth->requests - f.truth->answered - f.truth->outstanding));
	assert_non_null(strstr(r.notes.p, want));
	assert_non_null(strstr(r.notes.p, " unexpected completion"));
	assert_non_null(strstr(r.notes.p, "records are missing though nothing says so"));
	drop(&r);
	close_trace(&f);
}

/* So many functions read 16 times each, and nobody answers. */
static void write_silent_trace(const char *path, uint32_t functions)
{
	FILE *f = fopen(path, "w");

	assert_non_null(f);
	for (uint32_t i = 0; i < functions * 16; i++) {
		const uint32_t record[8] = { [0] = 0xfffff800,
					     [2] = 1,
					     [3] = i % functions << 16 | i / functions << 8 | 0xf,
					     [4] = 0x1000,
					     [7] = i };

		assert_int_equal(fwrite(record, sizeof(record), 1, f), 1);
	}
	assert_int_equal(fclose(f), 0);
}

static void requesters_beyond_the_table_are_counted_together(void **state)
{
	struct result r;
	struct trace f;

	(void)state;
	open_trace(&f, (struct ptt_gen_opts){ .seed = 12, .format = PTT_8DW });
	write_silent_trace(f.path, 4096);
	run(&r, f.on, "transaction { @ = count(); }");
	assert_int_equal(r.rc, 0);
	assert_non_null(strstr(r.notes.p, "65536 requests of 4096 requesters fired no transaction: none was answered"));
	assert_null(strstr(r.notes.p, "unanswered request"));
	drop(&r);
	write_silent_trace(f.path, 4098);
	run(&r, f.on, "transaction { @ = count(); }");
	assert_int_equal(r.rc, 0);
	assert_non_null(strstr(r.notes.p, "65536 requests of 4096 requesters fired no transaction: none was answered"));
	assert_non_null(strstr(r.notes.p, "32 unanswered requests fired no transaction"));
	drop(&r);
	close_trace(&f);
}

static void a_fault_in_a_clause_is_an_error_and_the_run_goes_on(void **state)
{
	struct result r;
	struct trace f;

	(void)state;
	open_trace(&f, (struct ptt_gen_opts){ .seed = 9, .format = PTT_8DW });
	run(&r, f.on,
	    "BEGIN { n = e = 0; } ERROR { e++; } tlp { trace(1 / (args[0]->tag - args[0]->tag)); } tlp { n++; }"
	    "END { printf(\"%d %d\", n, e); }");
	assert_int_equal(r.rc, 0);
	assert_string_equal(r.out.p, "20000 20000\n");
	assert_non_null(strstr(r.notes.p, "(ptt:::tlp): divide-by-zero in action"));
	drop(&r);
	close_trace(&f);
}

static void a_key_that_is_none_is_named(void **state)
{
	static const struct {
		const char *keys, *named;
	} rows[] = {
		{ "format=5dw", "format=5dw (" },
		{ "foo=1,time=abs", "foo=1 (" },
		{ "time=abs,foo=1", "foo=1 (" },
		{ "", " (" },
	};
	char on[128], want[128];
	struct result r;
	struct trace f;

	(void)state;
	open_trace(&f, (struct ptt_gen_opts){ .seed = 10, .format = PTT_8DW });
	for (size_t i = 0; i < COUNT(rows); i++) {
		snprintf(on, sizeof(on), "%s,%s", f.path, rows[i].keys);
		snprintf(want, sizeof(want), "%s: no key behind a name is ,%s", f.path, rows[i].named);
		run(&r, on, "BEGIN { }");
		assert_int_equal(r.rc, -TALLY_EINVAL);
		if (!strstr(r.error, want))
			fail_msg("%s: %s", rows[i].keys, r.error);
		drop(&r);
	}
	close_trace(&f);
}

static void a_platform_that_is_none_is_refused(void **state)
{
	struct result r;

	(void)state;
	run(&r, "/nonexistent/trace", "BEGIN { }");
	assert_true(r.rc < 0);
	assert_non_null(strstr(r.error, "/nonexistent/trace"));
	drop(&r);
	run(&r, "/dev/null", "BEGIN { }");
	assert_true(r.rc < 0);
	drop(&r);
	run(&r, "vm", "ptt:::tlp { }");
	assert_int_equal(r.rc, -TALLY_ESYNTAX);
	assert_non_null(strstr(r.reason, "give a trace with --on FILE"));
	drop(&r);
}

/* ---- filters ---------------------------------------------------------------------------- */

static bool keeps(const char *expr, const struct tlp *t, const char *device)
{
	struct ptt_filter *f;
	struct err e = { 0 };
	int rc;

	if (ptt_filter_open(&f, expr, &e) < 0)
		fail_msg("%s: %s", expr, e.text);
	rc = ptt_filter_keeps(f, t, device, &e);
	assert_true(rc >= 0);
	assert_int_equal(ptt_filter_keeps(f, t, device, &e), rc); /* and again */
	ptt_filter_close(f);
	return rc;
}

static void a_filter_keeps_what_its_expression_says(void **state)
{
	struct tlp t = { .time = 99, .requester = 0x108, .tag = 7, .class = TLP_NP, .address = 1ull << 40 };

	(void)state;
	t.type_index = (uint8_t)tlp_type_index(tlp_type_of(1, 0));
	assert_true(keeps("requester == 0x108", &t, "d"));
	assert_false(keeps("requester == 0x100", &t, "d"));
	assert_true(keeps("name == \"MRd64\" && classname == \"NP\" && devicename == \"d\"", &t, "d"));
	assert_false(keeps("devicename == \"d\"", &t, "e"));
	assert_true(keeps("type_name == \"MRd64\" && device_name == \"d\" && requester_text == \"01:01.0\"", &t, "d"));
	assert_true(keeps("address >> 40 == 1 && time / 9 == 11", &t, "d"));
	assert_true(keeps("args[0]->tag == tag && tag % 2", &t, "d"));
	assert_true(keeps("1, tag", &t, "d"));
}

static void a_filter_that_faults_keeps_nothing(void **state)
{
	struct tlp t = { 0 };
	struct ptt_filter *f;
	struct buf why = { 0 };
	struct err e = { 0 };

	(void)state;
	assert_int_equal(ptt_filter_open(&f, "1 / tag || 1", &e), 0);
	assert_int_equal(ptt_filter_keeps(f, &t, "", &e), 0);
	assert_int_equal(ptt_filter_faults(f, NULL), 1);
	t.tag = 1;
	assert_int_equal(ptt_filter_keeps(f, &t, "", &e), 1);
	assert_int_equal(ptt_filter_faults(f, &why), 1);
	assert_string_equal(why.p, "divide-by-zero");
	buf_free(&why);
	ptt_filter_close(f);
}

static void a_filter_that_is_no_expression_is_refused(void **state)
{
	static const struct {
		const char *expr, *words;
	} rows[] = {
		{ "reqester == 1", "filter: unknown field 'reqester'; did you mean requester?" },
		{ "tag ==", "filter: syntax error at the end" },
		{ "(tag == 1", "filter: syntax error at the end" },
		{ "tag ==\n == 1", "filter: syntax error near \"==\"" },
		{ "tag == )", "filter: syntax error near \")\"" },
		{ "name", "filter: predicate result must be of scalar type" },
		{ "1)/ {} ptt:::p /(1", "filter: unexpected text after the expression" },
		{ "tag /* ", "filter: end-of-file encountered before matching */" },
		{ "latency > 1", "filter: unknown field 'latency'" },
		{ "tag = 1", "filter: operator = can only be applied to a writable variable" },
		{ "", "filter: syntax error" },
	};

	(void)state;
	for (size_t i = 0; i < COUNT(rows); i++) {
		struct ptt_filter *f;
		struct err e = { 0 };

		assert_int_equal(ptt_filter_open(&f, rows[i].expr, &e), -TALLY_ESYNTAX);
		if (strncmp(e.text, rows[i].words, strlen(rows[i].words)))
			fail_msg("\"%s\": %s", rows[i].expr, e.text);
	}
}

/* ---- memory -------------------------------------------------------------------------------- */

static int open_and_run(const struct trace *f)
{
	static const char script[] = "transaction { @[args[0]->name] = quantize(args[1]->latency); }";
	struct tally_trace *t = NULL;
	struct ptt_filter *filter = NULL;
	struct err e = { 0 };
	int rc = tally_trace_open(&t, NULL);

	if (rc >= 0)
		rc = whole_run(t, f->on, script);
	tally_trace_close(t);
	if (rc >= 0)
		rc = ptt_filter_open(&filter, "name == \"MRd64\"", &e);
	ptt_filter_close(filter);
	return rc;
}

static void every_failed_allocation_is_survived(void **state)
{
	struct trace f;
	long live;

	(void)state;
	open_trace(&f, (struct ptt_gen_opts){ .seed = 10, .format = PTT_8DW });
	assert_int_equal(truncate(f.path, 100 * 32), 0);
	live = mem_live();
	for (long n = 1;; n++) {
		bool failed;
		int rc;

		mem_fail_at(n);
		rc = open_and_run(&f);
		failed = mem_failed();
		mem_fail_at(0);
		assert_int_equal(mem_live(), live);
		if (!failed) {
			assert_true(rc >= 0);
			break;
		}
		assert_true(rc == -TALLY_ENOMEM || rc >= 0);
	}
	close_trace(&f);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_answers_are_the_truth),
		cmocka_unit_test(exit_ends_the_run_with_the_record_that_called_it),
		cmocka_unit_test(answers_keep_the_order_of_the_records),
		cmocka_unit_test(ticks_fire_in_the_time_of_the_records),
		cmocka_unit_test(what_was_not_matched_is_said),
		cmocka_unit_test(requesters_beyond_the_table_are_counted_together),
		cmocka_unit_test(a_fault_in_a_clause_is_an_error_and_the_run_goes_on),
		cmocka_unit_test(a_key_that_is_none_is_named),
		cmocka_unit_test(a_platform_that_is_none_is_refused),
		cmocka_unit_test(a_filter_keeps_what_its_expression_says),
		cmocka_unit_test(a_filter_that_faults_keeps_nothing),
		cmocka_unit_test(a_filter_that_is_no_expression_is_refused),
		cmocka_unit_test(every_failed_allocation_is_survived),
	};

	return cmocka_run_group_tests_name("session: ptt records", tests, NULL, NULL);
}
