/*
 * Records of a speculation are shown once, and only when it was committed: whichever ring is read first, whatever did
 * not come.
 */
#include "session/run_test_int.h"

static void speculation_answers(const char *script, const char *out, const char *notes)
{
	struct result r;

	run(&r, "vm", script);
	assert_string_equal(r.error, "");
	assert_string_equal(r.out.p ? r.out.p : "", out);
	assert_string_equal(r.notes.p ? r.notes.p : "", notes);
	drop(&r);
}

static void what_is_committed_is_told_in_its_order(void **state)
{
	(void)state;
	speculation_answers(
		"#pragma D option nspec=2\n"
		"BEGIN { a = speculation(); b = speculation(); }\n"
		"BEGIN { speculate(a); printf(\"a1 \"); } BEGIN { speculate(b); printf(\"b1 \"); }\n"
		"BEGIN { speculate(a); printf(\"a2 \"); } BEGIN { printf(\"at once \"); }\n"
		"BEGIN { commit(b); } BEGIN { printf(\"between \"); } BEGIN { commit(a); } BEGIN { exit(0); }",
		"at once b1 between a1 a2 \n", "");
}

static void what_nobody_commits_is_not_told(void **state)
{
	(void)state;
	speculation_answers("BEGIN { a = speculation(); } BEGIN { speculate(a); printf(\"a1 \"); }\n"
			    "BEGIN { discard(a); } BEGIN { commit(a); } BEGIN { exit(0); }",
			    "\n", "");
	speculation_answers("BEGIN { a = speculation(); } BEGIN { speculate(a); printf(\"a1 \"); } BEGIN { exit(0); }",
			    "\n", "");
}

static void a_settled_speculation_is_free_again(void **state)
{
	(void)state;
	speculation_answers(
		"BEGIN { a = speculation(); } BEGIN { speculate(a); printf(\"first \"); } BEGIN { commit(a); }\n"
		"tick-1ms { b = speculation(); printf(\"%d \", b); } tick-1ms { speculate(b); printf(\"second \"); }\n"
		"tick-1ms { discard(b); } tick-5ms { exit(0); }",
		"first 1 1 1 1 1 \n", "");
}

static void a_speculation_without_a_buffer_is_told_with_its_reason(void **state)
{
	(void)state;
	speculation_answers("BEGIN { printf(\"%d %d\", speculation(), speculation()); exit(0); }", "1 0\n",
			    "1 failed speculation (no speculative buffer available)\n");
	speculation_answers(
		"BEGIN { a = speculation(); } BEGIN { discard(a); } BEGIN { a = speculation() + speculation(); exit(a); }",
		"\n", "2 failed speculations (available buffer(s) still busy)\n");
	speculation_answers("#pragma D option nspec=0\nBEGIN { exit(speculation()); }", "\n",
			    "1 failed speculation (no speculative buffer available)\n");
	speculation_answers("#pragma D option droptags\nBEGIN { a = speculation() + speculation(); exit(0); }", "\n",
			    "[DTRACEDROP_SPECUNAVAIL] 1 failed speculation (no speculative buffer available)\n");
}

static void records_above_specsize_are_dropped_and_told(void **state)
{
	(void)state;
	speculation_answers(
		"#pragma D option specsize=80\n"
		"BEGIN { a = speculation(); } BEGIN { speculate(a); trace(1); } BEGIN { speculate(a); trace(2); }\n"
		"BEGIN { speculate(a); trace(3); } BEGIN { speculate(a); trace(4); } BEGIN { commit(a); } BEGIN { exit(0); }",
		"12\n", "2 speculative drops\n");
	speculation_answers(
		"#pragma D option specsize=0\n"
		"BEGIN { a = speculation(); } BEGIN { speculate(a); trace(1); } BEGIN { commit(a); } BEGIN { exit(0); }",
		"\n", "1 speculative drop\n");
}

/* Clause 0 speculates, clause 1 commits. */
static struct tally_trace *open_two_clauses(struct result *r)
{
	static const char script[] = "#pragma D option nspec=2\nBEGIN { speculate(1); trace(1); } BEGIN { commit(1); } "
				     "tick-1s { exit(0); }";
	struct tally_trace_opts o = { .size = sizeof(o), .out = take_out, .note = take_note, .arg = r };
	struct tally_trace *t;

	*r = (struct result){ 0 };
	assert_int_equal(tally_trace_open(&t, &o), 0);
	assert_int_equal(tally_trace_on(t, "vm"), 0);
	assert_int_equal(tally_trace_option(t, "quiet", NULL), 0);
	assert_int_equal(tally_trace_source(t, NULL, script, sizeof(script) - 1), 0);
	assert_int_equal(tally_trace_compile(t), 0);
	assert_int_equal(tally_trace_go(t), 0);
	return t;
}

static void record_of(uint32_t *rec, uint32_t epid, uint64_t id, uint64_t value)
{
	rec[0] = epid;
	rec[1] = 1;
	rec[2] = rec[3] = 0;
	memcpy(rec + 4, &id, sizeof(id));
	memcpy(rec + 6, &value, sizeof(value));
}

static void a_record_behind_its_commit_is_told_and_the_number_is_not_given_before(void **state)
{
	struct result r;
	struct tally_trace *t = open_two_clauses(&r);
	uint32_t rec[8];

	(void)state;
	t->spec_state[0] = (struct img_spec){ .state = SPEC_COMMITTED, .records = 2 };
	record_of(rec, 1, 1, 7);
	assert_int_equal(record_take(t, 0, rec, sizeof(rec)), 0);
	record_of(rec, 2, 1, 0);
	assert_int_equal(record_take(t, 0, rec, 24), 0);
	spec_free_settled(t);
	assert_int_equal(t->spec_state[0].state, SPEC_COMMITTED);
	record_of(rec, 1, 1, 8);
	assert_int_equal(record_take(t, 0, rec, sizeof(rec)), 0);
	spec_free_settled(t);
	assert_int_equal(t->spec_state[0].state, SPEC_FREE);
	assert_int_equal(tally_trace_stop(t), 0);
	assert_string_equal(r.out.p, "78\n");
	tally_trace_close(t);
	drop(&r);
}

static void a_commit_whose_record_was_dropped_is_carried_out_at_the_end(void **state)
{
	struct result r;
	struct tally_trace *t = open_two_clauses(&r);
	uint32_t rec[8];

	(void)state;
	t->spec_state[1] = (struct img_spec){ .state = SPEC_COMMITTED, .records = 1 };
	record_of(rec, 1, 2, 9);
	assert_int_equal(record_take(t, 0, rec, sizeof(rec)), 0);
	assert_int_equal(tally_trace_stop(t), 0);
	assert_string_equal(r.out.p, "9\n");
	tally_trace_close(t);
	drop(&r);
}

static void a_record_of_no_such_speculation_is_refused(void **state)
{
	struct result r;
	struct tally_trace *t = open_two_clauses(&r);
	uint32_t rec[8];

	(void)state;
	record_of(rec, 1, 3, 0);
	assert_int_equal(record_take(t, 0, rec, sizeof(rec)), -TALLY_ECORRUPT);
	record_of(rec, 2, UINT64_MAX, 0);
	assert_int_equal(record_take(t, 0, rec, 24), -TALLY_ECORRUPT);
	(void)tally_trace_stop(t);
	tally_trace_close(t);
	drop(&r);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(what_is_committed_is_told_in_its_order),
		cmocka_unit_test(what_nobody_commits_is_not_told),
		cmocka_unit_test(a_settled_speculation_is_free_again),
		cmocka_unit_test(a_speculation_without_a_buffer_is_told_with_its_reason),
		cmocka_unit_test(records_above_specsize_are_dropped_and_told),
		cmocka_unit_test(a_record_behind_its_commit_is_told_and_the_number_is_not_given_before),
		cmocka_unit_test(a_commit_whose_record_was_dropped_is_carried_out_at_the_end),
		cmocka_unit_test(a_record_of_no_such_speculation_is_refused),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
