/*
 * session_test.c: scripts from source to answers, in the vm: no privileges, no
 * clock, the same bytes each time.
 */
#include "session/script_test_int.h"

#include <stdlib.h>
#include <unistd.h>

/* ---- records ----------------------------------------------------------------- */

static void records_have_a_heading_and_a_prefix(void **state)
{
	const struct ask a = { .script = "BEGIN { trace(42); trace(\"hi\"); exit(7); }" };
	struct result r;

	(void)state;
	ask_keep(&a, &r, NULL);
	assert_string_equal(r.error, "");
	assert_string_equal(text_of(&r.out), "CPU     ID                    FUNCTION:NAME\n"
					     "  0      1                           :BEGIN "
					     "         42  hi                               \n\n");
	assert_string_equal(text_of(&r.notes), "description 'BEGIN ' matched 1 probe\n");
	assert_int_equal(r.status, 7);
	drop(&r);
}

static void quiet_prints_what_is_asked_for(void **state)
{
	(void)state;
	script_expect("BEGIN { trace(42); trace(\"hi\"); printf(\" %d-%s\\n\", 7, \"x\"); }", "42hi 7-x\n\n");
	script_expect("BEGIN { printf(\"%5d|%-5d|%x\\n\", 3, 4, 255); exit(0); }", "    3|4    |ff\n\n");
	script_expect("BEGIN { exit(0); } END { printf(\"end\\n\"); }", "end\n\n");
}

static void default_action_prints_the_prefix(void **state)
{
	const struct ask a = { .script = "BEGIN" };
	struct result r;

	(void)state;
	ask_keep(&a, &r, NULL);
	assert_string_equal(text_of(&r.out), "CPU     ID                    FUNCTION:NAME\n"
					     "  0      1                           :BEGIN \n\n");
	drop(&r);
}

static void matched_counts_the_probes_of_each_source(void **state)
{
	const struct ask a = { .script = "BEGIN { exit(0); } END { printf(\"x\"); }", .file = "./x.d" };
	struct result r;

	(void)state;
	ask_keep(&a, &r, NULL);
	assert_string_equal(text_of(&r.notes), "script './x.d' matched 2 probes\n");
	drop(&r);
}

static void a_clause_runs_once_for_each_of_its_descriptions_that_has_the_probe(void **state)
{
	const struct ask a = { .script = "BEGIN, BEGIN, dtrace:::B* { n++; } BEGIN { trace(n); exit(0); }",
			       .file = "./x.d" };
	struct result r;

	(void)state;
	ask_keep(&a, &r, NULL);
	assert_string_equal(text_of(&r.notes), "script './x.d' matched 4 probes\n");
	drop(&r);
	script_expect("BEGIN, BEGIN { n++; } END { printf(\"%d\\n\", n); } BEGIN { exit(0); }", "2\n\n");
	script_expect("BEGIN, END, BEGIN, dtrace:::B* /++p != 2/ { n++; } END { printf(\"%d %d\\n\", p, n); }"
		      "BEGIN { exit(0); }",
		      "4 3\n\n");
	script_expect("BEGIN, BEGIN { @[probename] = count(); } BEGIN { exit(0); }",
		      "\n  BEGIN                                                             2\n");
}

static void faults_are_reported_and_end_the_clause(void **state)
{
	const struct ask a = {
		.script = "BEGIN\n{ x = 0; printf(\"before \"); trace(1 / x); }\nBEGIN { printf(\"next\"); }",
		.options = { "quiet" }
	};
	struct result r;

	(void)state;
	ask_keep(&a, &r, NULL);
	assert_string_equal(r.error, "");
	assert_string_equal(text_of(&r.notes), "error in dt_clause_0 for probe ID 1 (dtrace:::BEGIN): "
					       "divide-by-zero in action at line 2\n");
	assert_string_equal(text_of(&r.out), "next\n");
	drop(&r);
}

static void error_clauses_run_on_a_fault(void **state)
{
	const struct ask a = { .script =
				       "int x; BEGIN { trace(1 / x); } ERROR { printf(\"fault %d\", arg4); exit(9); }",
			       .options = { "quiet" } };
	struct result r;

	(void)state;
	ask_keep(&a, &r, NULL);
	assert_string_equal(r.error, "");
	assert_string_equal(text_of(&r.out), "fault 4\n");
	assert_int_equal(r.status, 9);
	drop(&r);
}

static void the_status_of_exit_stays(void **state)
{
	const struct ask a = { .script = "tick-1s { exit(3); } END { printf(\"bye\"); }", .options = { "quiet" } };
	struct result r;

	(void)state;
	ask_keep(&a, &r, NULL);
	assert_int_equal(r.status, 3);
	assert_string_equal(text_of(&r.out), "bye\n");
	drop(&r);
}

/* ---- aggregations ---------------------------------------------------------------- */

static void aggregations_are_printed_at_exit(void **state)
{
	(void)state;
	script_expect("BEGIN { @ = count(); @ = count(); }", "\n                2\n");
	script_expect("BEGIN { @ = sum(5); @ = sum(-7); }", "\n               -2\n");
	script_expect("BEGIN { @ = avg(1); @ = avg(2); @ = avg(6); }", "\n                3\n");
	script_expect("BEGIN { @ = min(4); @ = min(-3); @ = min(9); }", "\n               -3\n");
	script_expect("BEGIN { @ = max(-4); @ = max(-3); @ = max(-9); }", "\n               -3\n");
	script_expect("BEGIN { @ = stddev(2); @ = stddev(4); @ = stddev(4); @ = stddev(4); @ = stddev(5);"
		      "@ = stddev(5); @ = stddev(7); @ = stddev(9); }",
		      "\n                2\n");
}

static void rows_are_sorted_by_value_and_then_by_key(void **state)
{
	(void)state;
	script_expect("BEGIN { @[\"b\", 2] = sum(1); @[\"a\", 2] = sum(1); @[\"c\", 1] = sum(0); }",
		      "\n"
		      "  c                                                         1                0\n"
		      "  a                                                         2                1\n"
		      "  b                                                         2                1\n");
	script_expect("BEGIN { @[1] = sum(9); @[2] = sum(7); @[3] = sum(8); @[4] = sum(7); printa(\"%d \", @); }",
		      "2 4 3 1 \n");
}

static void a_reverse_order_turns_the_aggregations_round_too(void **state)
{
	(void)state;
	script_expect("#pragma D option aggsortrev\nBEGIN { @a[1] = sum(1); @a[2] = sum(2); @b = sum(3); }",
		      "\n"
		      "                3\n"
		      "        2                2\n"
		      "        1                1\n");
}

static void a_constant_that_is_shifted_out_of_int_keeps_its_bits(void **state)
{
	(void)state;
	script_expect(
		"BEGIN { printf(\"%x %d %d %d %x\", (1 << 63) - 1, 1 << 40, sizeof(1 << 31), sizeof(1 << 30), 1U << 32); }",
		"7fffffffffffffff 1099511627776 8 4 100000000\n");
}

static void quantize_prints_its_distribution(void **state)
{
	(void)state;
	script_expect("BEGIN { @ = quantize(1); @ = quantize(3); @ = quantize(3); }",
		      "\n\n"
		      "           value  ------------- Distribution ------------- count    \n"
		      "               0 |                                         0        \n"
		      "               1 |@@@@@@@@@@@@@                            1        \n"
		      "               2 |@@@@@@@@@@@@@@@@@@@@@@@@@@@              2        \n"
		      "               4 |                                         0        \n\n");
}

static void lquantize_prints_its_distribution(void **state)
{
	(void)state;
	script_expect("BEGIN { @ = lquantize(5, 0, 10, 5); @ = lquantize(-1, 0, 10, 5); @ = lquantize(10, 0, 10, 5); }",
		      "\n\n"
		      "           value  ------------- Distribution ------------- count    \n"
		      "             < 0 |@@@@@@@@@@@@@                            1        \n"
		      "               0 |                                         0        \n"
		      "               5 |@@@@@@@@@@@@@                            1        \n"
		      "           >= 10 |@@@@@@@@@@@@@                            1        \n\n");
}

static void printa_shows_and_clear_keeps_the_keys(void **state)
{
	(void)state;
	script_expect("BEGIN { @[\"k\"] = sum(3); printa(\"%s=%@d\\n\", @); clear(@); printa(\"%s=%@d\\n\", @); }",
		      "k=3\nk=0\n\n");
	script_expect("BEGIN { @a[1] = sum(3); printa(@a); }", "\n        1                3\n\n");
	script_expect("BEGIN { @a[1] = sum(3); @b[1] = max(4); printa(\"%d %@d %@d\\n\", @a, @b); }", "1 3 4\n\n");
}

static void a_printed_aggregation_is_not_printed_again(void **state)
{
	(void)state;
	script_expect("BEGIN { @a = sum(1); @b = sum(2); printa(\"%@d\\n\", @a); }", "1\n\n                2\n");
}

static void several_aggregations_follow_one_empty_line(void **state)
{
	(void)state;
	script_expect("BEGIN { @a = sum(1); @b = sum(2); }", "\n                1\n                2\n");
	script_expect("BEGIN { @ = sum(0); }", "\n                0\n");
}

static void trunc_keeps_the_highest_or_the_lowest(void **state)
{
#define FILL "BEGIN { @[1] = sum(10); @[2] = sum(20); @[3] = sum(30); "
	(void)state;
	script_expect(FILL "trunc(@, 2); }", "\n        2               20\n        3               30\n");
	script_expect(FILL "trunc(@, -1); }", "\n        1               10\n");
	script_expect(FILL "trunc(@); }", "\n");
	script_expect(FILL "trunc(@, 9); }",
		      "\n        1               10\n        2               20\n        3               30\n");
	script_expect("BEGIN { @ = sum(10); trunc(@); printa(\"%@d\\n\", @); }", "\n");
#undef FILL
}

static void normalize_divides_what_is_shown(void **state)
{
	(void)state;
	script_expect(
		"BEGIN { @ = sum(100); normalize(@, 10); printa(\"%@d \", @); denormalize(@); printa(\"%@d\\n\", @); }",
		"10 100\n\n");
}

static void bool_holds_one_for_any_value_but_zero(void **state)
{
	(void)state;
	script_expect("bool b; BEGIN { b = 256; printf(\"%d %d %d\\n\", b, (bool)-1, (bool)(b - 1)); exit(0); }",
		      "1 1 0\n\n");
	script_expect("bool b; BEGIN { b--; printf(\"%d\", b); b++; b++; printf(\"%d\", b); exit(0); }", "11\n");
}

static void an_unsigned_bit_field_is_an_int_in_arithmetic(void **state)
{
	(void)state;
	script_expect("struct s { unsigned b:11; } s; BEGIN { s.b = 2047; trace(s.b - 2048 < 0); exit(0); }", "1\n");
}

static void an_assignment_to_a_bit_field_has_the_value_of_the_field(void **state)
{
	(void)state;
	script_expect("struct s { unsigned b:11; } s; BEGIN { trace(s.b = 5000); exit(0); }", "904\n");
}

static void index_finds_the_empty_string_no_later_than_the_end(void **state)
{
	(void)state;
	script_expect(
		"BEGIN { printf(\"%d %d %d\", index(\"b\", \"\", 255), index(\"\", \"\", 1), index(\"b\", \"b\", 255)); exit(0); }",
		"1 0 -1\n");
}

static void substr_from_before_the_beginning_with_a_negative_length_is_empty(void **state)
{
	(void)state;
	script_expect("BEGIN { printf(\"[%s]\", substr(\"abc\", -10, -1)); exit(0); }", "[]\n");
}

/* Also below an empty one, and as high as another one. */
static void null_is_below_all_strings(void **state)
{
	(void)state;
	script_expect(
		"BEGIN { a = strchr(\"abc\", 'z'); b = strchr(\"abc\", 'b'); e = strchr(\"abc\", 'y');"
		"printf(\"%d%d%d%d \", a < b, a > b, b < a, b > a); printf(\"%d%d%d%d \", a <= b, a >= b, b <= a, b >= a);"
		"printf(\"%d%d%d%d \", a < \"\", a > \"\", \"\" < a, \"\" > a);"
		"printf(\"%d%d%d%d \", a < e, a > e, a <= e, a >= e); printf(\"%d%d%d%d\", b < b, b <= b, b < \"bd\", b > \"bb\"); }",
		"1001 1001 1001 0011 0111\n");
}

static void ticks_come_in_virtual_time(void **state)
{
	(void)state;
	script_expect("tick-1s { @ = count(); } tick-3s { exit(0); }", "\n                3\n");
	script_expect("tick-1s { i++; } tick-2500ms { printf(\"%d\\n\", i); exit(0); }", "2\n\n");
}

/* The sums that rounds of printa and clear print are the total, whatever the rounds. */
static void printed_rounds_add_up(void **state)
{
	const struct ask a = {
		.script = "tick-1ms { i++; @[i % 7] = sum(i); } tick-13ms { printa(\"%d %@d\\n\", @); clear(@); }"
			  "tick-1s { exit(0); } END { printa(\"%d %@d\\n\", @); printf(\"total %d\", i); }",
		.options = { "quiet" }
	};
	struct result r;
	long sum = 0, n;
	char *s;

	(void)state;
	ask_keep(&a, &r, NULL);
	assert_string_equal(r.error, "");
	for (s = r.out.p; s && strncmp(s, "total ", 6); s = strchr(s, '\n') + 1)
		sum += atol(strchr(s, ' '));
	assert_non_null(s);
	n = atol(s + 6);
	assert_true(n >= 999);
	assert_int_equal(sum, n * (n + 1) / 2);
	drop(&r);
}

static void sorting_options_are_honoured(void **state)
{
	const struct ask a = { .script = "BEGIN { @[1] = sum(30); @[2] = sum(20); @[3] = sum(10); }",
			       .options = { "quiet", "aggsortkey", "aggsortrev" } };
	struct result r;

	(void)state;
	ask_keep(&a, &r, NULL);
	assert_string_equal(text_of(&r.out),
			    "\n        3               10\n        2               20\n        1               30\n");
	drop(&r);
}

static void many_keys_are_merged(void **state)
{
	const struct ask a = { .script = "tick-200us { @[i++] = count(); @n = sum(1); } tick-4s { exit(0); }",
			       .options = { "quiet" } };
	struct result r;

	(void)state;
	ask_keep(&a, &r, NULL);
	assert_string_equal(r.error, "");
	assert_true(r.out.n > 18000 * 26);
	drop(&r);
}

/* ---- walk ------------------------------------------------------------------------------ */

static int walk_row(void *arg, const struct tally_row *r)
{
	struct buf *b = arg;

	buf_printf(b, "%s %s", r->name, r->function);
	for (uint32_t i = 0; i < r->nkeys; i++) {
		if (r->key[i].is_number)
			buf_printf(b, " %lld", (long long)r->key[i].number);
		else
			buf_printf(b, " \"%s\"", r->key[i].text);
	}
	buf_printf(b, " = %lld", (long long)r->value);
	for (uint32_t i = 0; i < r->nbuckets; i++)
		buf_printf(b, " [%lld]=%lld", (long long)r->bucket[i].from, (long long)r->bucket[i].count);
	buf_putc(b, '\n');
	return 0;
}

static int stop_walk(void *arg, const struct tally_row *r)
{
	(void)r;
	++*(int *)arg;
	return -TALLY_EEND;
}

static void walk_gives_each_row(void **state)
{
	const struct ask a = { .script = "BEGIN { @a[\"x\", 1] = sum(5); @a[\"y\", -2] = sum(4);"
					 "@q = quantize(9); @q = quantize(-1); }",
			       .options = { "quiet" } };
	struct tally_trace *t;
	struct buf b = { 0 };
	struct result r;
	int rows = 0;

	(void)state;
	ask_keep(&a, &r, &t);
	assert_int_equal(tally_trace_walk(t, walk_row, &b), 0);
	assert_string_equal(b.p, "a sum \"y\" -2 = 4\na sum \"x\" 1 = 5\nq quantize = 7 [-1]=1 [8]=1\n");
	assert_int_equal(tally_trace_walk(t, stop_walk, &rows), -TALLY_EEND);
	assert_int_equal(rows, 1);
	tally_trace_close(t);
	buf_free(&b);
	drop(&r);
}

/* ---- other forms --------------------------------------------------------------------------- */

static void json_is_an_object_a_line(void **state)
{
	const struct ask a = {
		.script = "BEGIN { trace(42); trace(\"a\\\"b\"); printf(\"x%d\", 1); @[\"k\"] = count(); }",
		.format = TALLY_FORMAT_JSON
	};
	struct result r;

	(void)state;
	ask_keep(&a, &r, NULL);
	assert_string_equal(r.error, "");
	assert_string_equal(text_of(&r.notes), "");
	assert_string_equal(
		text_of(&r.out),
		"{\"type\":\"matched\",\"source\":\"BEGIN \",\"probes\":1}\n"
		"{\"type\":\"printf\",\"text\":\"x1\"}\n"
		"{\"type\":\"record\",\"cpu\":0,\"id\":1,\"probe\":\"dtrace:::BEGIN\",\"data\":[42,\"a\\\"b\"]}\n"
		"{\"type\":\"aggregation\",\"name\":\"\",\"function\":\"count\",\"keys\":[\"k\"],\"names\":[\"\\\"k\\\"\"],\"value\":1}\n");
	drop(&r);
}

static void folded_is_of_aggregations_and_what_is_printed_goes_elsewhere(void **state)
{
	const struct ask a = {
		.script = "BEGIN { trace(42); printf(\" %d\\n\", 7); @[\"k\"] = count(); printa(@); exit(0); }",
		.format = TALLY_FORMAT_FOLDED
	};
	struct result r;

	(void)state;
	ask_keep(&a, &r, NULL);
	assert_string_equal(text_of(&r.out), "k 1\n");
	assert_string_equal(text_of(&r.printed), "42 7\n");
	drop(&r);
}

static void folded_leaves_out_what_does_not_add_up_and_says_so(void **state)
{
	const struct ask a = {
		.script = "BEGIN { @a[1] = avg(2); @b[1] = sum(-1); @b[2] = sum(3); @c = max(1); exit(0); }",
		.format = TALLY_FORMAT_FOLDED,
		.options = { "quiet" }
	};
	struct result r;

	(void)state;
	ask_keep(&a, &r, NULL);
	assert_string_equal(text_of(&r.out), "2 3\n");
	assert_string_equal(text_of(&r.notes),
			    "@a is left out: avg() of a caller is not the sum of that of its callees\n"
			    "@c is left out: max() of a caller is not the sum of that of its callees\n"
			    "1 path of @b left out: a sum below 0 has no width\n");
	drop(&r);
}

/* ---- what is refused ------------------------------------------------------------------------- */

static void event_probes_are_refused_in_the_vm(void **state)
{
	const struct ask a = { .script = "cpc:::page_faults-all-5000 { @ = count(); }" };
	struct result r;

	(void)state;
	ask_keep(&a, &r, NULL);
	assert_int_equal(r.rc, -TALLY_ENOTSUP);
	assert_string_equal(r.error, "failed to enable 'cpc:::page_faults-all-5000 ': Failed to enable probe");
	assert_string_equal(r.reason, "events need the kernel: in the vm BEGIN, END, ERROR and tick probes fire");
	drop(&r);
}

/* Beside 65 events there are probes that take no counter; the clause of the last event is named. */
static void events_that_cannot_be_counted_together_are_refused_by_the_clause_of_the_last(void **state)
{
	struct result r = { 0 };
	struct tally_trace_opts o = { .size = sizeof(o),
				      .sysfs = "test/sysfs/intel",
				      .out = take_out,
				      .note = take_note,
				      .arg = &r,
				      .flags = TALLY_TRACE_VM };
	struct tally_trace *t;
	char clause[64];

	(void)state;
	assert_int_equal(tally_trace_open(&t, &o), 0);
	assert_int_equal(tally_trace_option(t, "dcpc_min_overflow", "1"), 0);
	for (int i = 0; i < 65; i++) {
		snprintf(clause, sizeof(clause), "BEGIN, cpc:::cycles-all-%d { @ = count(); }", 1000 + i);
		assert_int_equal(tally_trace_source(t, NULL, clause, strlen(clause)), 0);
	}
	assert_int_equal(tally_trace_compile(t), 0);
	assert_int_equal(tally_trace_go(t), -TALLY_EBUSY);
	assert_string_equal(tally_trace_error(t),
			    "failed to enable 'BEGIN, cpc:::cycles-all-1064 ': Failed to enable probe");
	assert_non_null(strstr(tally_trace_reason(t), "65 probes need a hardware counter each"));
	tally_trace_close(t);
	drop(&r);
}

static void arguments_reach_the_script(void **state)
{
	char *argv[] = { "12", "word" };
	struct ask a = { .script = "BEGIN { printf(\"%d %s %s\\n\", $1, $$2, $$0); }",
			 .options = { "quiet" },
			 .argv = argv,
			 .argc = 2 };
	struct result r;

	(void)state;
	ask_keep(&a, &r, NULL);
	assert_string_equal(r.error, "");
	assert_string_equal(text_of(&r.out), "12 word script\n\n");
	drop(&r);
	a.script = "BEGIN { trace($1); }";
	a.file = "a.d";
	expect_error(&a, TALLY_ESYNTAX,
		     "failed to compile script a.d: extraneous argument 'word' ($2 is not referenced)");
}

static void calls_out_of_order_change_nothing(void **state)
{
	struct tally_trace *t;

	(void)state;
	assert_int_equal(tally_trace_open(&t, NULL), 0);
	assert_int_equal(tally_trace_go(t), -TALLY_ESTATE);
	assert_int_equal(tally_trace_work(t, 0), -TALLY_ESTATE);
	assert_int_equal(tally_trace_stop(t), -TALLY_ESTATE);
	assert_int_equal(tally_trace_compile(t), -TALLY_EINVAL);
	assert_string_equal(tally_trace_error(t), "no probes specified");
	tally_trace_close(t);
	tally_trace_close(NULL);
}

enum order_call {
	CALL_OPTION,
	CALL_SOURCE,
	CALL_PROBE,
	CALL_ARGS,
	CALL_ON,
	CALL_COMMAND,
	CALL_PROCESS,
	CALL_DUMP,
	CALL_COMPILE,
	CALL_REPORT,
	CALL_GO,
	CALL_WORK,
	CALL_WALK,
	CALL_STOP,
	CALL_LOSSES,
};

static int order_row(void *arg, const struct tally_row *r)
{
	(void)arg, (void)r;
	return 0;
}

static int order_loss(void *arg, const struct tally_loss *l)
{
	(void)arg, (void)l;
	return 0;
}

static int order_make(struct tally_trace *t, enum order_call call)
{
	char *argv[] = { "1" };

	switch (call) {
	case CALL_OPTION:
		return tally_trace_option(t, "quiet", NULL);
	case CALL_SOURCE:
		return tally_trace_source(t, NULL, "BEGIN { @ = count(); exit(0); }", 31);
	case CALL_PROBE:
		return tally_trace_probe(t, TALLY_PART_NAME, "dtrace:::BEGIN");
	case CALL_ARGS:
		return tally_trace_args(t, "a.d", 1, argv);
	case CALL_ON:
		return tally_trace_on(t, "vm");
	case CALL_COMMAND:
		return tally_trace_command(t, "true");
	case CALL_PROCESS:
		return tally_trace_process(t, getpid());
	case CALL_DUMP:
		return tally_trace_dump(t, "parse");
	case CALL_COMPILE:
		return tally_trace_compile(t);
	case CALL_REPORT:
		return tally_trace_report(t);
	case CALL_GO:
		return tally_trace_go(t);
	case CALL_WORK:
		return tally_trace_work(t, 0);
	case CALL_WALK:
		return tally_trace_walk(t, order_row, NULL);
	case CALL_STOP:
		return tally_trace_stop(t);
	case CALL_LOSSES:
		return tally_trace_losses(t, order_loss, NULL);
	}
	return 0;
}

static void each_call_out_of_order_is_refused_with_what_comes_first(void **state)
{
	/* By stage: open, compiled, running, ended. NULL: the call is in order there. */
	static const char *const late[] = { NULL, "the trace is compiled", "the trace is running",
					    "the trace has ended" };
	static const char compile[] = "tally_trace_compile() comes first", go[] = "tally_trace_go() comes first";
	static const enum order_call way[] = { CALL_COMPILE, CALL_GO, CALL_STOP };
	const struct {
		int line;
		enum order_call call;
		const char *words[4];
	} rows[] = {
		{ __LINE__, CALL_OPTION, { NULL, NULL, late[2], late[3] } },
		{ __LINE__, CALL_SOURCE, { NULL, late[1], late[2], late[3] } },
		{ __LINE__, CALL_PROBE, { NULL, late[1], late[2], late[3] } },
		{ __LINE__, CALL_ARGS, { NULL, late[1], late[2], late[3] } },
		{ __LINE__, CALL_ON, { NULL, late[1], late[2], late[3] } },
		{ __LINE__, CALL_COMMAND, { NULL, late[1], late[2], late[3] } },
		{ __LINE__, CALL_PROCESS, { NULL, late[1], late[2], late[3] } },
		{ __LINE__, CALL_DUMP, { NULL, late[1], late[2], late[3] } },
		{ __LINE__, CALL_COMPILE, { NULL, late[1], late[2], late[3] } },
		{ __LINE__, CALL_REPORT, { compile, NULL, NULL, NULL } },
		{ __LINE__, CALL_GO, { compile, NULL, late[2], late[3] } },
		{ __LINE__, CALL_WORK, { compile, go, NULL, late[3] } },
		{ __LINE__, CALL_WALK, { compile, go, NULL, NULL } },
		{ __LINE__, CALL_STOP, { compile, go, NULL, late[3] } },
		{ __LINE__, CALL_LOSSES, { compile, go, NULL, NULL } },
	};
	struct tally_trace_opts o = { .size = sizeof(o), .flags = TALLY_TRACE_VM };
	struct tally_trace *t;

	(void)state;
	assert_int_equal(tally_trace_open(&t, &o), 0);
	assert_int_equal(order_make(t, CALL_SOURCE), 0);
	for (size_t stage = 0; stage < 4; stage++) {
		for (size_t i = 0; i < COUNT(rows); i++)
			if (rows[i].words[stage] && (order_make(t, rows[i].call) != -TALLY_ESTATE ||
						     !strstr(tally_trace_error(t), rows[i].words[stage])))
				fail_msg("row of line %d, stage %zu: %s", rows[i].line, stage, tally_trace_error(t));
		if (stage < COUNT(way))
			assert_int_equal(order_make(t, way[stage]), 0);
	}
	tally_trace_close(t);
}

static void what_a_trace_has_once_is_not_given_twice(void **state)
{
	static const struct {
		enum order_call call;
		const char *words;
	} rows[] = {
		{ CALL_ARGS, "the arguments of the script were given before" },
		{ CALL_ON, "one was given before" },
		{ CALL_COMMAND, "one command can be traced" },
		{ CALL_PROCESS, "one process can be traced" },
		{ CALL_DUMP, "the result of one pass" },
	};
	struct tally_trace *t;

	(void)state;
	assert_int_equal(tally_trace_open(&t, NULL), 0);
	for (size_t i = 0; i < COUNT(rows); i++) {
		assert_int_equal(order_make(t, rows[i].call), 0);
		assert_int_equal(order_make(t, rows[i].call), -TALLY_ESTATE);
		assert_non_null(strstr(tally_trace_error(t), rows[i].words));
	}
	tally_trace_close(t);
}

static void options_of_a_newer_caller_must_be_zero(void **state)
{
	struct {
		struct tally_trace_opts o;
		uint64_t more;
	} x = { .o = { .size = sizeof(x) } };
	struct tally_trace *t;

	(void)state;
	assert_int_equal(tally_trace_open(&t, &x.o), 0);
	tally_trace_close(t);
	x.more = 1;
	assert_int_equal(tally_trace_open(&t, &x.o), -TALLY_EINVAL);
	x.more = 0;
	x.o.flags = 1u << 30;
	assert_int_equal(tally_trace_open(&t, &x.o), -TALLY_EINVAL);
	x.o.flags = 0;
	x.o.size = 1;
	assert_int_equal(tally_trace_open(&t, &x.o), -TALLY_EINVAL);
}

static int refuse(void *arg, const char *text, size_t n)
{
	(void)arg, (void)text, (void)n;
	return -1;
}

static void a_broken_pipe_ends_the_run(void **state)
{
	struct tally_trace_opts o = { .size = sizeof(o), .out = refuse, .flags = TALLY_TRACE_VM };
	struct tally_trace *t;

	(void)state;
	assert_int_equal(tally_trace_open(&t, &o), 0);
	assert_int_equal(tally_trace_source(t, NULL, "BEGIN { printf(\"x\"); }", 22), 0);
	assert_int_equal(tally_trace_compile(t), 0);
	assert_int_equal(tally_trace_go(t), -TALLY_EIO);
	assert_string_equal(tally_trace_error(t), "failed to write the output");
	tally_trace_close(t);
}

/* ---- names ----------------------------------------------------------------------------------------- */

static void a_module_is_called_by_its_name_alone(void **state)
{
	char path[4096], script[200], want[4200];
	ssize_t n = readlink("/proc/self/exe", path, sizeof(path) - 1);

	(void)state;
	assert_true(n > 0);
	path[n] = '\0';
	snprintf(script, sizeof(script), "BEGIN { printf(\"%%A|%%A\", umod(%#llx), umod(0x10)); }",
		 (unsigned long long)(uintptr_t)&a_module_is_called_by_its_name_alone);
	snprintf(want, sizeof(want), "%s|0x10\n", strrchr(path, '/') + 1);
	script_expect(script, want);
}

/* ---- memory ---------------------------------------------------------------------------------------- */

/* Rings are memory that others can write. */
static void a_record_of_no_known_origin_or_size_is_refused_and_not_read(void **state)
{
	static const char script[] = "BEGIN { trace(1); trace(2); }";
	struct tally_trace_opts o = { .size = sizeof(o), .out = take_out, .note = take_note, .flags = TALLY_TRACE_VM };
	struct result r = { 0 };
	struct tally_trace *t;
	uint32_t whole, words[64] = { 0 };

	(void)state;
	o.arg = &r;
	assert_int_equal(tally_trace_open(&t, &o), 0);
	assert_int_equal(tally_trace_source(t, NULL, script, strlen(script)), 0);
	assert_int_equal(tally_trace_compile(t), 0);
	whole = t->prog->clause[0].record_size;
	t->learned = true; /* nothing runs whose mappings could be asked for */
	for (uint32_t epid = 0; epid <= t->img->nepids + 1; epid++)
		for (int error = 0; error < 2; error++) {
			const bool known = epid >= 1 && epid < t->img->nepids;
			uint32_t size = error ? D_ERROR_RECORD : whole;

			t->err = (struct err){ 0 };
			words[0] = epid | (error ? D_EPID_ERROR : 0);
			assert_int_equal(record_take(t, 0, words, size), known ? 0 : -TALLY_ECORRUPT);
			if (!known)
				assert_non_null(strstr(tally_trace_error(t), "a record of unknown origin ("));
			t->err = (struct err){ 0 };
			words[0] = 1 | (error ? D_EPID_ERROR : 0);
			assert_int_equal(record_take(t, 0, words, size - 1), -TALLY_ECORRUPT);
			assert_non_null(strstr(tally_trace_error(t), "a record of dt_clause_"));
		}
	t->err = (struct err){ 0 };
	assert_int_equal(record_take(t, 0, words, D_RECORD_HDR - 1), -TALLY_ECORRUPT);
	assert_string_equal(tally_trace_error(t), "a record of 15 bytes");
	tally_trace_close(t);
	drop(&r);
}

static void memory_that_runs_out_is_an_error_each_time(void **state)
{
	static const char *const script[] = {
		"BEGIN { @a[\"x\"] = sum(1); @q[1] = quantize(3); printf(\"%s\", probename); "
		"printa(@a); clear(@a); trunc(@q); } END { @a[\"y\"] = sum(2); }",
		"BEGIN { trace(AF_INET6); }", /* of the libraries */
	};
	long live = mem_live();

	(void)state;
	for (size_t i = 0; i < COUNT(script); i++)
		for (long n = 1;; n++) {
			const struct ask a = { .script = script[i], .options = { i ? "syslibdir=lib/tally/d" : NULL } };
			struct result r;
			bool ran;

			mem_fail_at(n);
			ask_keep(&a, &r, NULL);
			ran = !mem_failed();
			mem_fail_at(0);
			/* the buffers of this test may have been hit as well: then the run itself went well */
			if (ran || (!r.out.failed && !r.notes.failed))
				assert_int_equal(r.rc, ran ? 0 : -TALLY_ENOMEM);
			drop(&r);
			assert_int_equal(mem_live(), live);
			if (ran)
				break;
		}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(records_have_a_heading_and_a_prefix),
		cmocka_unit_test(quiet_prints_what_is_asked_for),
		cmocka_unit_test(default_action_prints_the_prefix),
		cmocka_unit_test(matched_counts_the_probes_of_each_source),
		cmocka_unit_test(a_clause_runs_once_for_each_of_its_descriptions_that_has_the_probe),
		cmocka_unit_test(faults_are_reported_and_end_the_clause),
		cmocka_unit_test(error_clauses_run_on_a_fault),
		cmocka_unit_test(the_status_of_exit_stays),
		cmocka_unit_test(aggregations_are_printed_at_exit),
		cmocka_unit_test(rows_are_sorted_by_value_and_then_by_key),
		cmocka_unit_test(a_reverse_order_turns_the_aggregations_round_too),
		cmocka_unit_test(a_constant_that_is_shifted_out_of_int_keeps_its_bits),
		cmocka_unit_test(quantize_prints_its_distribution),
		cmocka_unit_test(lquantize_prints_its_distribution),
		cmocka_unit_test(printa_shows_and_clear_keeps_the_keys),
		cmocka_unit_test(a_printed_aggregation_is_not_printed_again),
		cmocka_unit_test(several_aggregations_follow_one_empty_line),
		cmocka_unit_test(trunc_keeps_the_highest_or_the_lowest),
		cmocka_unit_test(normalize_divides_what_is_shown),
		cmocka_unit_test(bool_holds_one_for_any_value_but_zero),
		cmocka_unit_test(an_unsigned_bit_field_is_an_int_in_arithmetic),
		cmocka_unit_test(an_assignment_to_a_bit_field_has_the_value_of_the_field),
		cmocka_unit_test(index_finds_the_empty_string_no_later_than_the_end),
		cmocka_unit_test(substr_from_before_the_beginning_with_a_negative_length_is_empty),
		cmocka_unit_test(ticks_come_in_virtual_time),
		cmocka_unit_test(printed_rounds_add_up),
		cmocka_unit_test(sorting_options_are_honoured),
		cmocka_unit_test(many_keys_are_merged),
		cmocka_unit_test(walk_gives_each_row),
		cmocka_unit_test(json_is_an_object_a_line),
		cmocka_unit_test(folded_is_of_aggregations_and_what_is_printed_goes_elsewhere),
		cmocka_unit_test(folded_leaves_out_what_does_not_add_up_and_says_so),
		cmocka_unit_test(event_probes_are_refused_in_the_vm),
		cmocka_unit_test(events_that_cannot_be_counted_together_are_refused_by_the_clause_of_the_last),
		cmocka_unit_test(null_is_below_all_strings),
		cmocka_unit_test(a_module_is_called_by_its_name_alone),
		cmocka_unit_test(arguments_reach_the_script),
		cmocka_unit_test(calls_out_of_order_change_nothing),
		cmocka_unit_test(each_call_out_of_order_is_refused_with_what_comes_first),
		cmocka_unit_test(what_a_trace_has_once_is_not_given_twice),
		cmocka_unit_test(options_of_a_newer_caller_must_be_zero),
		cmocka_unit_test(a_broken_pipe_ends_the_run),
		cmocka_unit_test(a_record_of_no_known_origin_or_size_is_refused_and_not_read),
		cmocka_unit_test(memory_that_runs_out_is_an_error_each_time),
	};

	return cmocka_run_group_tests_name("session", tests, NULL, NULL);
}
