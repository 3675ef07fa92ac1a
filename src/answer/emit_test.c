/* emit_test.c: one table in each form, for people and for programs. */
#include "answer/emit_int.h"

#include <setjmp.h>
#include <stdarg.h>
#include <string.h>
#include <cmocka.h>
#include <tally/tally.h>

static const struct an_column col[] = { { "name", "NAME", AN_TEXT },
					{ "busy", "%BUSY", AN_SHARE },
					{ "raw", "RAW", AN_COUNT },
					{ "text", "WHAT", AN_TEXT } };

static void fill(struct an_rows *t)
{
	*t = (struct an_rows){ .type = "core", .col = col, .ncols = COUNT(col), .text_skips = 1u << 2 };
	an_rows_add(t, (struct an_cell[]){ { .s = "dedicated", .brief = "ded" }, AN_D(0.75), AN_U(1234), AN_S("a;b") });
	an_rows_add(t, (struct an_cell[]){ AN_S("x"), AN_NONE, AN_NONE, AN_S("") });
	an_rows_add_for(t, AN_FOR_PEOPLE, (struct an_cell[]){ AN_S("all"), AN_D(0.75), AN_U(0), AN_S("sum") });
	an_rows_add_for(t, AN_FOR_PROGRAMS, (struct an_cell[]){ AN_S("idle"), AN_D(0), AN_U(7), AN_S("") });
	an_rows_add_for(t, AN_NOT_FOR_CSV, (struct an_cell[]){ AN_S("run"), AN_D(1), AN_U(8), AN_S("") });
	an_rows_add_for(t, AN_FOR_JSON, (struct an_cell[]){ AN_S("end"), AN_D(1), AN_U(9), AN_S("") });
}

/* What the table is in that form, the first of its kind or not. */
static const char *shown(struct buf *b, const struct an_how *how, struct an_rows *t, bool first)
{
	struct an_emit e;

	buf_clear(b);
	assert_int_equal(an_emit_open(&e, b, how), 0);
	assert_true(an_rows_put(&e, t, first));
	assert_false(b->failed);
	return b->p;
}

static void people_and_programs_get_the_rows_and_columns_that_are_for_them(void **state)
{
	struct an_how how = { .format = TALLY_FORMAT_TEXT };
	struct buf b = { 0 };
	struct an_rows t;

	(void)state;
	fill(&t);
	assert_string_equal(shown(&b, &how, &t, true), "NAME    %BUSY  WHAT\n"
						       "ded    75.0 %  a;b\n"
						       "x           -\n"
						       "all    75.0 %  sum\n"
						       "run   100.0 %\n");
	how.format = TALLY_FORMAT_JSON;
	assert_string_equal(shown(&b, &how, &t, true),
			    "{\"type\":\"core\",\"name\":\"dedicated\",\"busy\":0.75,\"raw\":1234,\"text\":\"a;b\"}\n"
			    "{\"type\":\"core\",\"name\":\"x\",\"busy\":null,\"raw\":null,\"text\":\"\"}\n"
			    "{\"type\":\"core\",\"name\":\"idle\",\"busy\":0,\"raw\":7,\"text\":\"\"}\n"
			    "{\"type\":\"core\",\"name\":\"run\",\"busy\":1,\"raw\":8,\"text\":\"\"}\n"
			    "{\"type\":\"core\",\"name\":\"end\",\"busy\":1,\"raw\":9,\"text\":\"\"}\n");
	how = (struct an_how){ .format = TALLY_FORMAT_CSV, .separator = ';' };
	assert_string_equal(shown(&b, &how, &t, true), "type;name;busy;raw;text\n"
						       "core;dedicated;0.75;1234;\"a;b\"\n"
						       "core;x;;;\n"
						       "core;idle;0;7;\n");
	assert_string_equal(shown(&b, &how, &t, false), "core;dedicated;0.75;1234;\"a;b\"\n"
							"core;x;;;\n"
							"core;idle;0;7;\n");
	an_rows_free(&t);
	buf_free(&b);
}

static void a_sparse_table_has_no_members_that_are_none_and_a_type_of_its_own_may_be_a_column(void **state)
{
	const struct an_how json = { .format = TALLY_FORMAT_JSON }, csv = { .format = TALLY_FORMAT_CSV };
	struct buf b = { 0 };
	struct an_rows t = { .col = col, .ncols = COUNT(col), .csv_skips = 1, .json_skips = 1u << 3, .sparse = true };

	(void)state;
	an_rows_add(&t, (struct an_cell[]){ AN_S("x"), AN_NONE, AN_U(3), AN_S("y") });
	assert_string_equal(shown(&b, &json, &t, true), "{\"name\":\"x\",\"raw\":3}\n");
	assert_string_equal(shown(&b, &csv, &t, true), "busy,raw,text\n,3,y\n");
	an_rows_free(&t);
	buf_free(&b);
}

static void a_table_that_goes_on_has_no_second_heading_and_one_that_is_apart_an_empty_line_above(void **state)
{
	const struct an_how how = { .format = TALLY_FORMAT_TEXT };
	struct buf b = { 0 };
	struct an_rows t = { .col = col, .ncols = 1, .goes_on = true, .apart = true };

	(void)state;
	an_rows_add(&t, (struct an_cell[]){ AN_S("x") });
	assert_string_equal(shown(&b, &how, &t, true), "\nNAME\nx\n");
	assert_string_equal(shown(&b, &how, &t, false), "x\n");
	t.goes_on = false;
	assert_string_equal(shown(&b, &how, &t, false), "\nNAME\nx\n");
	an_rows_free(&t);
	buf_free(&b);
}

static void words_of_the_last_column_go_on_below_where_the_terminal_ends(void **state)
{
	const struct an_how how = { .format = TALLY_FORMAT_TEXT, .columns = 32 },
			    none = { .format = TALLY_FORMAT_TEXT };
	static const struct an_column two[] = { { "n", "N", AN_ID }, { "text", "WHAT", AN_TEXT } };
	struct buf b = { 0 };
	struct an_rows t = { .col = two, .ncols = 2 };

	(void)state;
	an_rows_add(&t, (struct an_cell[]){ AN_U(1234567), AN_S("words that need more than one line of it") });
	assert_string_equal(shown(&b, &none, &t, true), "      N  WHAT\n"
							"1234567  words that need more than one line of it\n");
	t.col = (const struct an_column[]){ { "n", "N", AN_MILLIS }, { "text", "WHAT", AN_TEXT } };
	t.cell[0].d = 3.25e6;
	assert_string_equal(shown(&b, &how, &t, true), "   N  WHAT\n"
						       "3.25  words that need more than\n"
						       "      one line of it\n");
	an_rows_free(&t);
	buf_free(&b);
}

static void a_table_without_rows_in_a_form_leaves_nothing_behind(void **state)
{
	const struct an_how how = { .format = TALLY_FORMAT_TEXT };
	struct an_rows t = { .col = col, .ncols = COUNT(col) };
	struct buf b = { 0 };
	struct an_emit e;

	(void)state;
	assert_int_equal(an_emit_open(&e, &b, &how), 0);
	an_rows_add_for(&t, AN_FOR_PROGRAMS, (struct an_cell[]){ AN_S("x"), AN_NONE, AN_NONE, AN_NONE });
	assert_false(an_rows_put(&e, &t, true));
	assert_int_equal(b.n, 0);
	assert_int_equal(an_emit_open(&e, &b, &(struct an_how){ .format = TALLY_FORMAT_PARQUET }), -TALLY_EINVAL);
	assert_int_equal(an_emit_open(&e, &b, &(struct an_how){ .format = UINT32_MAX }), -TALLY_EINVAL);
	an_rows_free(&t);
	buf_free(&b);
}

static void a_row_that_memory_ran_out_of_is_told_and_is_not_half_there(void **state)
{
	(void)state;
	for (long n = 1;; n++) {
		const struct an_how how = { .format = TALLY_FORMAT_TEXT };
		struct buf b = { 0 };
		struct an_rows t;
		struct an_emit e;

		mem_fail_at(n);
		fill(&t);
		assert_int_equal(an_emit_open(&e, &b, &how), 0);
		(void)an_rows_put(&e, &t, true);
		an_rows_free(&t);
		if (!mem_failed()) {
			mem_fail_at(0);
			buf_free(&b);
			break;
		}
		mem_fail_at(0);
		assert_true(b.failed);
		buf_free(&b);
	}
}

static void keep(void *arg, const char *s, size_t n)
{
	buf_put(arg, s, n);
	buf_putc(arg, '|');
}

/* A loss, a note and a firing, as that form has them: answers in to, words beside them in said. */
static void tell(uint32_t format, struct buf *to, struct buf *said)
{
	static const struct an_column lost[] = { { "count", "", AN_COUNT }, { "share", "", AN_LITERAL } };
	const struct an_firing f = { 3, 7, "cpc", "m", "f", "cycles", false };
	const struct an_value v = { .kind = SLOT_INT, .width = 8, .i = 42 };
	struct an_emit e;

	buf_clear(to);
	buf_clear(said);
	assert_int_equal(an_emit_open(&e, to, &(struct an_how){ .format = format }), 0);
	e.say = keep;
	e.arg = said;
	e.quiet = true;
	an_event(&e, &(struct an_event){ "loss", lost, (struct an_cell[]){ AN_U(5), AN_S("0.25") }, 2 }, "%d lost", 5);
	e.ops->note(&e, "seen", 4);
	if (e.ops->fire) {
		e.ops->fire(&e, &f);
		e.ops->trace(&e, &v);
		e.ops->fired(&e, &f);
	}
	e.ops->rest(&e);
	an_emit_close(&e);
	assert_false(to->failed || said->failed);
}

static void what_was_lost_is_words_for_people_and_an_object_among_the_answers_for_programs(void **state)
{
	struct buf to = { 0 }, said = { 0 };

	(void)state;
	tell(TALLY_FORMAT_TEXT, &to, &said);
	assert_string_equal(to.p, "42\n");
	assert_string_equal(said.p, "5 lost|seen|");
	tell(TALLY_FORMAT_FOLDED, &to, &said); /* text beside the document */
	assert_string_equal(to.p, "42");
	assert_string_equal(said.p, "5 lost|seen|");
	tell(TALLY_FORMAT_JSON, &to, &said);
	assert_string_equal(to.p,
			    "{\"type\":\"loss\",\"count\":5,\"share\":0.25}\n"
			    "{\"type\":\"note\",\"text\":\"seen\"}\n"
			    "{\"type\":\"record\",\"cpu\":3,\"id\":7,\"probe\":\"cpc:m:f:cycles\",\"data\":[42]}\n");
	assert_int_equal(said.n, 0);
	buf_free(&to);
	buf_free(&said);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(people_and_programs_get_the_rows_and_columns_that_are_for_them),
		cmocka_unit_test(a_sparse_table_has_no_members_that_are_none_and_a_type_of_its_own_may_be_a_column),
		cmocka_unit_test(a_table_that_goes_on_has_no_second_heading_and_one_that_is_apart_an_empty_line_above),
		cmocka_unit_test(words_of_the_last_column_go_on_below_where_the_terminal_ends),
		cmocka_unit_test(a_table_without_rows_in_a_form_leaves_nothing_behind),
		cmocka_unit_test(what_was_lost_is_words_for_people_and_an_object_among_the_answers_for_programs),
		cmocka_unit_test(a_row_that_memory_ran_out_of_is_told_and_is_not_half_there),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
