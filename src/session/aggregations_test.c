/* Tests of what tally.h says of aggregations: their keys and comments as they are written, bounds and sums of
 * histograms, drops; and of epochs, which only the service takes. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <cmocka.h>

#include <tally/tally.h>

#include "base/base.h"
#include "session/session.h"

static struct tally_trace *compiled(const char *text, uint32_t flags)
{
	const struct tally_trace_opts o = { .size = sizeof(o), .flags = TALLY_TRACE_VM | flags };
	struct tally_trace *t = NULL;

	assert_int_equal(tally_trace_open(&t, &o), 0);
	assert_int_equal(tally_trace_source(t, "x.d", text, strlen(text)), 0);
	if (tally_trace_compile(t) < 0)
		fail_msg("%s", tally_trace_error(t));
	return t;
}

struct seen {
	uint32_t n;
	char name[8][16], key[8][3][32], comment[8][96];
	uint32_t nkeys[8], nlast[8];
	int64_t last[8][4];
	bool has_stack[8];
};

static int see(void *arg, const struct tally_aggregation *a)
{
	struct seen *s = arg;
	const uint32_t i = s->n++;

	strcpy(s->name[i], a->name);
	strcpy(s->comment[i], a->comment);
	s->nkeys[i] = a->nkeys;
	s->nlast[i] = a->nlast;
	s->has_stack[i] = a->has_stack;
	for (uint32_t k = 0; k < a->nkeys; k++)
		strcpy(s->key[i][k], a->key[k]);
	for (uint32_t b = 0; b < a->nlast && b < 4; b++)
		s->last[i][b] = a->last[b];
	return 0;
}

static void keys_are_told_as_the_first_clause_writes_them(void **state)
{
	struct tally_trace *t = compiled("BEGIN { @a[ pid /* who */ , (int)  arg0+1] = count(); }\n"
					 "END { @a[tid, arg1] = count(); @b = sum(1); @c[ustack()] = count(); }\n",
					 0);
	struct seen s = { 0 };

	(void)state;
	assert_int_equal(tally_trace_aggregations(t, see, &s), 0);
	assert_int_equal(s.n, 3);
	assert_string_equal(s.name[0], "a");
	assert_int_equal(s.nkeys[0], 2);
	assert_memory_equal(s.key[0][0], "pid", 3);
	assert_string_equal(s.key[0][1], "(int)  arg0+1");
	assert_int_equal(s.nkeys[1], 0);
	assert_false(s.has_stack[0]);
	assert_true(s.has_stack[2]);
	tally_trace_close(t);
}

static void a_comment_belongs_to_the_clause_that_follows_it_at_once(void **state)
{
	static const struct {
		const char *text, *comment;
	} row[] = {
		{ "/* How many. */\nBEGIN { @a = count(); }", "How many." },
		{ "/*\n * How many,\n *  and where.\n */\nBEGIN\n{ @a = count(); }", "How many, and where." },
		{ "// one\n// two\nBEGIN { @a = count(); }", "one two" },
		{ "/*Faults of /tmp.*/\nBEGIN { @a = count(); }", "Faults of /tmp." },
		{ "//in a*b or */c\nBEGIN { @a = count(); }", "in a*b or */c" },
		{ "/**\n ** Boxed\n **/\nBEGIN { @a = count(); }", "Boxed" },
		{ "/* The licence. */\n\nBEGIN { @a = count(); }", "" },
		{ "/* The licence. */\n\n/* This. */\nBEGIN { @a = count(); }", "This." },
		{ "END { } /* of END */\nBEGIN { @a = count(); }", "" },
		{ "/* of END */ END { }\nBEGIN { @a = count(); }", "" },
		{ "/* first */\nBEGIN { @a = count(); }\n/* second */\nEND { @a = count(); }", "first" },
		{ "BEGIN { /* inside */ @a = count(); }", "" },
		{ "#pragma D option quiet\n/* behind a pragma */\nBEGIN { @a = count(); }", "behind a pragma" },
	};

	(void)state;
	for (size_t i = 0; i < COUNT(row); i++) {
		struct tally_trace *t = compiled(row[i].text, 0);
		struct seen s = { 0 };

		assert_int_equal(tally_trace_aggregations(t, see, &s), 0);
		if (strcmp(s.comment[0], row[i].comment) != 0)
			fail_msg("%s: '%s'", row[i].text, s.comment[0]);
		tally_trace_close(t);
	}
}

static void histograms_tell_where_their_buckets_end(void **state)
{
	struct tally_trace *t = compiled("BEGIN { @q = quantize(1); @l = lquantize(1, 10, 30, 10); @n = count(); }", 0);
	struct seen s = { 0 };

	(void)state;
	assert_int_equal(tally_trace_aggregations(t, see, &s), 0);
	assert_int_equal(s.nlast[0], 126);
	assert_int_equal(s.nlast[1], 3);
	assert_int_equal(s.last[1][0], 9);
	assert_int_equal(s.last[1][1], 19);
	assert_int_equal(s.last[1][2], 29);
	assert_int_equal(s.nlast[2], 0);
	tally_trace_close(t);
}

struct sums {
	int64_t value[4], sum[4], count[4], buckets[4];
};

static int take_sums(void *arg, const struct tally_row *r)
{
	struct sums *s = arg;

	s->value[r->aggregation] += r->value;
	s->sum[r->aggregation] += r->sum;
	s->count[r->aggregation] += r->count;
	for (uint32_t b = 0; b < r->nbuckets; b++)
		s->buckets[r->aggregation] += r->bucket[b].count;
	return 0;
}

static void run_to_end(struct tally_trace *t)
{
	int rc = tally_trace_go(t);

	while (rc == 0)
		rc = tally_trace_work(t, 0);
	assert_int_equal(rc, 1);
}

static void sums_of_histograms_are_kept_when_they_are_asked_for(void **state)
{
	static const char text[] =
		"BEGIN { @q = quantize(-5); @q = quantize(7, 3); @l = lquantize(12, 0, 20, 5); @a = avg(4); @a = avg(9); "
		"@w[\"x\"] = llquantize(1000, 10, 0, 6, 20, 2); exit(0); }";

	(void)state;
	for (uint32_t flags = 0;; flags = TALLY_TRACE_SUMS) {
		struct tally_trace *t = compiled(text, flags);
		struct sums s = { 0 };

		run_to_end(t);
		assert_int_equal(tally_trace_walk(t, take_sums, &s), 0);
		assert_int_equal(s.sum[0], flags ? -5 + 3 * 7 : 0);
		assert_int_equal(s.count[0], flags ? 4 : 0);
		assert_int_equal(s.buckets[0], 4);
		assert_int_equal(s.sum[1], flags ? 12 : 0);
		assert_int_equal(s.sum[2], 13);
		assert_int_equal(s.count[2], 2);
		assert_int_equal(s.sum[3], flags ? 2000 : 0);
		assert_int_equal(tally_trace_stop(t), 0);
		tally_trace_close(t);
		if (flags)
			break;
	}
}

struct epochs {
	char text[64];
};

static int take_epoch(void *arg, const struct tally_row *r, uint64_t epoch)
{
	struct epochs *e = arg;
	const size_t n = strlen(e->text);

	snprintf(e->text + n, sizeof(e->text) - n, "%s%s%s %llu", n ? ", " : "", r->name,
		 r->nkeys ? r->key[0].text : "", (unsigned long long)epoch);
	return 0;
}

/* Rows that clear() or trunc() set back, and no others. A row of a histogram that trunc() left may get buckets
 * later. */
static void epochs_of_rows_tell_which_were_set_back(void **state)
{
	static const char text[] =
		"tick-1s { i++; }"
		"tick-1s /i == 1 || i == 3/ { @n[\"a\"] = sum(5); @n[\"b\"] = sum(1); @one = count(); }"
		"tick-1s /i == 1 || i == 3/ { @q[\"a\"] = quantize(i * 100); @q[\"b\"] = quantize(1); }"
		"tick-1s /i == 2/ { trunc(@n, 1); trunc(@q, 1); trunc(@one); }"
		"tick-1s /i == 4/ { clear(@n); clear(@q); }"
		"tick-1s /i == 5/ { trunc(@n, 9); }";
	static const char *const epochs[] = {
		"nb 0, na 0, one 0, qb 0, qa 0", "na 0, qa 0",
		"nb 1, na 0, one 1, qb 1, qa 0", "na 2, nb 2, one 1, qa 2, qb 2",
		"na 2, nb 2, one 1, qa 2, qb 2",
	};
	struct tally_trace *t = compiled(text, 0);

	(void)state;
	assert_int_equal(tally_trace_go(t), 0);
	for (size_t i = 0; i < COUNT(epochs); i++) {
		struct epochs e = { "" };

		assert_int_equal(tally_trace_work(t, 0), 0);
		assert_int_equal(session_walk_rows(t, NULL, take_epoch, &e), 0);
		assert_string_equal(e.text, epochs[i]);
	}
	tally_trace_close(t);
}

/* A view has so many of them as fit into 256 MB: 516, each of which has its value in the last of 65,002 buckets. */
static void trunc_removes_also_histograms_that_do_not_fit_into_a_view(void **state)
{
	static const char text[] = "#pragma D option aggsize=4m\n"
				   "tick-1s { i++; @[i] = lquantize(65000, 0, 65000, 1); }"
				   "tick-1s /i == 530/ { trunc(@); exit(0); }";
	struct tally_trace *t = compiled(text, 0);
	struct sums s = { 0 };

	(void)state;
	run_to_end(t);
	assert_int_equal(tally_trace_walk(t, take_sums, &s), 0);
	assert_int_equal(s.buckets[0], 0);
	tally_trace_close(t);
}

static int take_text(void *arg, const char *text, size_t n)
{
	buf_put(arg, text, n);
	return 0;
}

static void aggregations_are_printed_by_printa_alone_when_that_is_asked_for(void **state)
{
	static const char text[] =
		"BEGIN { @a = sum(41); @b = count(); exit(0); } END { @a = sum(1); printa(\"%@d\\n\", @a); }";

	(void)state;
	for (uint32_t flags = 0;; flags = TALLY_TRACE_PRINTA_ONLY) {
		struct buf out = { 0 };
		const struct tally_trace_opts o = {
			.size = sizeof(o), .flags = TALLY_TRACE_VM | flags, .out = take_text, .arg = &out
		};
		struct tally_trace *t = NULL;
		struct sums s = { 0 };

		assert_int_equal(tally_trace_open(&t, &o), 0);
		assert_int_equal(tally_trace_option(t, "quiet", NULL), 0);
		assert_int_equal(tally_trace_source(t, "x.d", text, strlen(text)), 0);
		assert_int_equal(tally_trace_compile(t), 0);
		run_to_end(t);
		assert_int_equal(tally_trace_stop(t), 0);
		assert_string_equal(out.p, flags ? "42\n" : "42\n\n                1\n");
		assert_int_equal(tally_trace_walk(t, take_sums, &s), 0);
		assert_int_equal(s.value[0], 42);
		assert_int_equal(s.value[1], 1);
		tally_trace_close(t);
		buf_free(&out);
		if (flags)
			break;
	}
}

static int take_drop(void *arg, const char *kind, uint64_t count)
{
	uint64_t *n = arg;

	n[0]++;
	n[1] += !strcmp(kind, "dynamic") ? count : 0;
	return 0;
}

static void drops_are_told_also_where_there_are_none(void **state)
{
	struct tally_trace *t = compiled(
		"#pragma D option dynvarsize=64\nBEGIN { x[1] = 1; x[2] = 1; x[3] = 1; x[4] = 1; x[5] = 1; exit(0); }",
		0);
	uint64_t n[2] = { 0 };

	(void)state;
	assert_int_equal(tally_trace_drops(t, take_drop, n), -TALLY_ESTATE);
	run_to_end(t);
	assert_int_equal(tally_trace_drops(t, take_drop, n), 0);
	assert_int_equal(n[0], 12);
	assert_true(n[1] > 0);
	tally_trace_close(t);
}

static void a_run_in_user_space_has_no_descriptor(void **state)
{
	struct tally_trace *t = compiled("BEGIN { exit(0); }", 0);

	(void)state;
	assert_int_equal(tally_trace_fd(t), -TALLY_ESTATE);
	run_to_end(t);
	assert_int_equal(tally_trace_fd(t), -TALLY_ENOTSUP);
	tally_trace_close(t);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(keys_are_told_as_the_first_clause_writes_them),
		cmocka_unit_test(a_comment_belongs_to_the_clause_that_follows_it_at_once),
		cmocka_unit_test(histograms_tell_where_their_buckets_end),
		cmocka_unit_test(sums_of_histograms_are_kept_when_they_are_asked_for),
		cmocka_unit_test(epochs_of_rows_tell_which_were_set_back),
		cmocka_unit_test(trunc_removes_also_histograms_that_do_not_fit_into_a_view),
		cmocka_unit_test(aggregations_are_printed_by_printa_alone_when_that_is_asked_for),
		cmocka_unit_test(drops_are_told_also_where_there_are_none),
		cmocka_unit_test(a_run_in_user_space_has_no_descriptor),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
