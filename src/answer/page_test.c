/*
 * page_test.c: one page in three forms.
 */
#include "answer/page_int.h"
#include "answer/test_int.h"

static const struct an_column columns[] = {
	{ "who", "who", AN_TEXT },      { "n", "packets", AN_COUNT }, { "bytes", "bytes", AN_BYTES },
	{ "share", "share", AN_SHARE }, { "p50", "p50", AN_TICKS },
};

static void table(struct an_page *p)
{
	struct an_part *t = an_page_table(p, "requester", "By requester", columns, COUNT(columns));

	an_row(p, t, (struct an_cell[]){ AN_S("01:00.0"), AN_U(1234567), AN_U(1536 << 10), AN_D(.5), AN_U(42) });
	an_row(p, t, (struct an_cell[]){ AN_S("<b>&\"\n"), AN_U(0), AN_U(100), AN_D(.125), AN_NONE });
	an_explain(p, t, "Of %d.", 2);
	if (t)
		t->table.left_out = 3;
}

static void pictures(struct an_page *p)
{
	static const uint64_t v[] = { 0, 1, 4, 2 }, low[] = { 0, 2, 4 };
	static const uint32_t heat[] = { 0, 0, 0, 0, 1, 0, 9, 0, 0, 0, 0, 0 };
	static const struct an_bar bar[] = { { 0, 1, 30 }, { 2, 3, 10 }, { 4, UINT64_MAX, 0 } };
	static const struct an_line line[] = { { .key = "open", .title = "outstanding", .v = v } };

	an_page_bars(p, "latency", "Latency", &(struct an_bars){ AN_TICKS, bar, COUNT(bar) });
	an_page_lines(p, "line", "Over time",
		      &(struct an_lines){ .step = 10, .n = 4, .nlines = 1, .unit = AN_COUNT, .line = line });
	an_page_heat(p, "heat", "Heat",
		     &(struct an_heat){ .step = 10, .nx = 4, .ny = 3, .unit = AN_TICKS, .low = low, .count = heat });
}

static void build(struct an_page *p)
{
	struct an_part *f;

	an_page_open(p, "trial", "A trial");
	f = an_page_facts(p, "summary", "Summary");
	an_fact(p, f, "records", "records", AN_COUNT, AN_U(25600));
	an_fact(p, f, "sure", "sure", AN_FLAG, AN_U(1));
	table(p);
	pictures(p);
	an_page_words(p, AN_CANNOT, "time", "How long a tick is: %s.", "nobody says");
	an_page_words(p, AN_LOST, "file", "100 bytes.");
}

static void text_is_aligned_and_no_wider_than_the_terminal(void **state)
{
	struct an_page p = { 0 };
	struct buf b = { 0 };

	(void)state;
	build(&p);
	an_page_text(&b, &p, &(struct an_text_opts){ .columns = 80, .ascii = true });
	assert_text(&b, "A trial\n"
			"\nSummary\n"
			"  records  25,600\n"
			"  sure     yes\n"
			"\nBy requester\n"
			"  who        packets     bytes   share  p50\n"
			"  01:00.0  1,234,567  1.50 MiB  50.0 %   42\n"
			"  <b>&\"?           0     100 B  12.5 %    -\n"
			"  and 3 rows more\n"
			"  Of 2.\n"
			"\nLatency\n"
			"                 0 - 1 |@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@           30  75.0 %\n"
			"                 2 - 3 |@@@@@@@@@@@                                  10  25.0 %\n"
			"             4 or more |                                              0   0.0 %\n"
			"\nOver time\n"
			"  outstanding          | -@+| max 4\n"
			"  time 0 to 40 ticks, 10 a step\n"
			"\nHeat\n"
			"                  >= 2 |- @ |\n"
			"  time 0 to 40 ticks, 10 a step\n"
			"\ncan't be told: How long a tick is: nobody says.\n"
			"lost: 100 bytes.\n");
	an_page_free(&p);
}

static void a_wide_table_goes_on_below_with_its_first_column(void **state)
{
	struct an_page p = { 0 };
	struct buf b = { 0 };

	(void)state;
	an_page_open(&p, "trial", "");
	table(&p);
	p.part[0]->table.text_skips = 1u << 2;
	an_table_text(&b, &p.part[0]->table, &(struct an_text_opts){ .columns = 24 });
	assert_text(&b, "  who        packets\n"
			"  01:00.0  1,234,567\n"
			"  <b>&\"?           0\n"
			"\n"
			"  who       share  p50\n"
			"  01:00.0  50.0 %   42\n"
			"  <b>&\"?   12.5 %    -\n"
			"  and 3 rows more\n");
	an_page_free(&p);
}

static void columns_that_tell_rows_apart_stand_in_each_part_of_a_wide_table(void **state)
{
	struct an_page p = { 0 };
	struct buf b = { 0 };

	(void)state;
	an_page_open(&p, "trial", "");
	table(&p);
	p.part[0]->table.text_leads = 1u << 4;
	an_table_text(&b, &p.part[0]->table, &(struct an_text_opts){ .columns = 28 });
	assert_text(&b, "  who      p50    packets\n"
			"  01:00.0   42  1,234,567\n"
			"  <b>&\"?     -          0\n"
			"\n"
			"  who      p50     bytes\n"
			"  01:00.0   42  1.50 MiB\n"
			"  <b>&\"?     -     100 B\n"
			"\n"
			"  who      p50   share\n"
			"  01:00.0   42  50.0 %\n"
			"  <b>&\"?     -  12.5 %\n"
			"  and 3 rows more\n");
	an_page_free(&p);
}

static void json_has_an_object_a_line_and_exact_numbers(void **state)
{
	struct an_page p = { 0 };
	struct buf b = { 0 };

	(void)state;
	build(&p);
	an_page_json(&b, &p);
	assert_text(
		&b,
		"{\"schema\":1,\"type\":\"trial\",\"title\":\"A trial\"}\n"
		"{\"type\":\"summary\",\"records\":25600,\"sure\":true}\n"
		"{\"type\":\"requester\",\"who\":\"01:00.0\",\"n\":1234567,\"bytes\":1572864,\"share\":0.5,\"p50\":42}\n"
		"{\"type\":\"requester\",\"who\":\"<b>&\\\"\\n\",\"n\":0,\"bytes\":100,\"share\":0.125,\"p50\":null}\n"
		"{\"type\":\"left_out\",\"of\":\"requester\",\"rows\":3}\n"
		"{\"type\":\"latency\",\"unit\":\"ticks\",\"buckets\":[{\"from\":0,\"to\":1,\"count\":30},"
		"{\"from\":2,\"to\":3,\"count\":10},{\"from\":4,\"to\":null,\"count\":0}]}\n"
		"{\"type\":\"line\",\"from\":0,\"step\":10,\"unit\":\"count\",\"series\":"
		"[{\"name\":\"open\",\"values\":[0,1,4,2]}]}\n"
		"{\"type\":\"heat\",\"from\":0,\"step\":10,\"unit\":\"ticks\",\"rows\":[{\"from\":0,\"counts\":[0,0,0,0]},"
		"{\"from\":2,\"counts\":[1,0,9,0]},{\"from\":4,\"counts\":[0,0,0,0]}]}\n"
		"{\"type\":\"cannot_tell\",\"about\":\"time\",\"text\":\"How long a tick is: nobody says.\"}\n"
		"{\"type\":\"lost\",\"about\":\"file\",\"text\":\"100 bytes.\"}\n");
	an_page_free(&p);
}

static void json_lists_the_keys_of_figures_that_are_bounds_and_of_those_that_may_be_off(void **state)
{
	static const uint64_t v[] = { 0, 1 };
	static const struct an_line line[] = { { .key = "a", .title = "a", .v = v, .approximate = true },
					       { .key = "b", .title = "b", .v = v },
					       { .key = "c", .title = "c", .v = v, .approximate = true } };
	struct an_cell most = AN_U(1), least = AN_U(4), off = AN_U(2), half = AN_D(.5), both = AN_U(3), none = AN_NONE;
	struct an_page p = { 0 };
	struct an_part *t;
	struct buf b = { 0 };

	(void)state;
	most.at_most = least.at_least = off.approximate = half.approximate = both.at_most = both.approximate =
		none.at_most = none.approximate = true;
	an_page_open(&p, "trial", "A trial");
	t = an_page_facts(&p, "summary", "Summary");
	an_fact(&p, t, "n", "n", AN_COUNT, most);
	an_fact(&p, t, "m", "m", AN_COUNT, off);
	an_fact(&p, t, "o", "o", AN_COUNT, both);
	an_fact(&p, t, "p", "p", AN_COUNT, none);
	t = an_page_table(&p, "requester", "By requester", columns, COUNT(columns));
	an_row(&p, t, (struct an_cell[]){ AN_S("x"), most, most, half, none });
	an_row(&p, t, (struct an_cell[]){ AN_S("y"), least, most, half, least });
	an_page_lines(&p, "line", "Over time",
		      &(struct an_lines){ .step = 10, .n = 2, .nlines = 3, .unit = AN_COUNT, .line = line })
		->step_at_least = true;
	an_page_json(&b, &p);
	assert_text(
		&b,
		"{\"schema\":1,\"type\":\"trial\",\"title\":\"A trial\"}\n"
		"{\"type\":\"summary\",\"n\":1,\"m\":2,\"o\":3,\"p\":null,\"at_most\":[\"n\"],\"approximate\":[\"m\",\"o\"]}\n"
		"{\"type\":\"requester\",\"who\":\"x\",\"n\":1,\"bytes\":1,\"share\":0.5,\"p50\":null,"
		"\"at_most\":[\"n\",\"bytes\"],\"approximate\":[\"share\"]}\n"
		"{\"type\":\"requester\",\"who\":\"y\",\"n\":4,\"bytes\":1,\"share\":0.5,\"p50\":4,"
		"\"at_most\":[\"bytes\"],\"at_least\":[\"n\",\"p50\"],\"approximate\":[\"share\"]}\n"
		"{\"type\":\"line\",\"from\":0,\"step\":10,\"unit\":\"count\",\"series\":[{\"name\":\"a\",\"values\":[0,1]},"
		"{\"name\":\"b\",\"values\":[0,1]},{\"name\":\"c\",\"values\":[0,1]}],"
		"\"at_least\":[\"step\"],\"approximate\":[\"a\",\"c\"]}\n");
	buf_clear(&b);
	an_figure(&b, AN_COUNT, &least);
	assert_text(&b, ">= 4");
	an_page_free(&p);
}

static void has(const struct buf *b, const char *part)
{
	if (!strstr(b->p, part))
		fail_msg("not in the page: %s", part);
}

static void html_holds_exact_figures_and_escapes_names(void **state)
{
	struct an_page p = { 0 };
	struct buf b = { 0 };

	(void)state;
	build(&p);
	an_page_html(&b, &p);
	has(&b, "default-src 'none'");
	has(&b, "<dd data-key=\"records\" data-v=\"25600\">25,600</dd>");
	has(&b, "<td data-v=\"1572864\">1.50 MiB</td>");
	has(&b, "<td class=\"t\" data-v=\"&lt;b&gt;&amp;&quot;?\">&lt;b&gt;&amp;&quot;?</td>");
	has(&b, "{\"from\":2,\"counts\":[1,0,9,0]}");
	has(&b, "<p class=\"small\">and 3 more</p>");
	has(&b, "<p class=\"small\">Of 2.</p>");
	has(&b, "<li class=\"lost\" data-part=\"file\"><b>Lost: </b>100 bytes.</li>");
	assert_null(strstr(b.p, "<b>&\""));
	assert_null(strstr(b.p, "http:"));
	assert_null(strstr(b.p, "https:"));
	buf_free(&b);
	an_page_free(&p);
}

static void lines_may_be_quotients(void **state)
{
	static const uint64_t v[] = { 0, 31, 47 };
	static const struct an_line line[] = { { .key = "a", .title = "whole", .v = v },
					       { .key = "b", .title = "tenths", .v = v, .by = 10 } };
	struct an_text_opts o = { .ascii = true };
	struct an_page p = { 0 };
	struct buf b = { 0 };

	(void)state;
	an_page_open(&p, "trial", "");
	an_page_lines(&p, "line", "Lines",
		      &(struct an_lines){ .step = 1, .n = 3, .nlines = 2, .unit = AN_COUNT, .line = line });
	an_page_json(&b, &p);
	assert_non_null(strstr(b.p, "{\"name\":\"a\",\"values\":[0,31,47]},{\"name\":\"b\",\"values\":[0,3.1,4.7]}"));
	an_page_html(&b, &p);
	assert_non_null(strstr(b.p, "\"title\":\"tenths\",\"values\":[0,3.1,4.7]}"));
	an_page_text(&b, &p, &o);
	assert_non_null(strstr(b.p, "| max 47\n"));
	assert_non_null(strstr(b.p, "| max 4.7\n"));
	buf_free(&b);
	an_page_free(&p);
}

static void a_picture_without_counts_or_lines_was_a_heading_over_nothing(void **state)
{
	static const uint64_t low[] = { 0, 2 };
	static const uint32_t none[4];
	struct an_page p = { 0 };
	struct buf text = { 0 }, json = { 0 };

	(void)state;
	an_page_open(&p, "trial", "A trial");
	an_page_heat(&p, "heat", "Heat",
		     &(struct an_heat){ .step = 1, .nx = 2, .ny = 2, .unit = AN_TICKS, .low = low, .count = none });
	an_page_lines(&p, "line", "Over time", &(struct an_lines){ .step = 1, .n = 2, .unit = AN_COUNT });
	an_page_text(&text, &p, NULL);
	an_page_json(&json, &p);
	assert_text(&text, "A trial\n");
	assert_non_null(strstr(json.p, "\"type\":\"heat\""));
	buf_free(&text);
	buf_free(&json);
	an_page_free(&p);
}

static void json_lists_lines_that_are_bounds_beside_those_that_may_be_off(void **state)
{
	static const uint64_t v[] = { 1, 2 };
	static const struct an_line line[] = {
		{ .key = "most", .title = "a", .v = v, .at_most = true },
		{ .key = "about", .title = "b", .v = v, .approximate = true },
		{ .key = "both", .title = "c", .v = v, .at_most = true, .approximate = true }
	};
	struct an_page p = { 0 };
	struct buf b = { 0 };

	(void)state;
	an_page_open(&p, "trial", "A trial");
	an_page_lines(&p, "line", "Over time",
		      &(struct an_lines){ .step = 1, .n = 2, .nlines = 3, .unit = AN_COUNT, .line = line });
	an_page_json(&b, &p);
	assert_non_null(strstr(b.p, "}],\"at_most\":[\"most\"],\"approximate\":[\"about\",\"both\"]}\n"));
	buf_free(&b);
	an_page_free(&p);
}

static void a_name_cannot_end_the_data_of_a_picture(void **state)
{
	static const uint64_t v[] = { 1 };
	static const struct an_line line[] = { { .key = "x", .title = "</script><script>alert(1)", .v = v } };
	struct an_page p = { 0 };
	struct buf b = { 0 };

	(void)state;
	an_page_open(&p, "trial", "");
	an_page_lines(&p, "line", "Lines", &(struct an_lines){ .step = 1, .n = 1, .nlines = 1, .line = line });
	an_page_html(&b, &p);
	assert_null(strstr(b.p, "<script>alert"));
	buf_free(&b);
	an_page_free(&p);
}

static void figures_read_well(void **state)
{
	static const struct {
		int line;
		uint8_t unit;
		struct an_cell c;
		const char *text, *json;
	} rows[] = {
		{ __LINE__, AN_COUNT, AN_U(0), "0", "0" },
		{ __LINE__, AN_COUNT, AN_U(1000), "1,000", "1000" },
		{ __LINE__, AN_COUNT, AN_U(UINT64_MAX), "18,446,744,073,709,551,615", "18446744073709551615" },
		{ __LINE__, AN_BYTES, AN_U(10239), "10,239 B", "10239" },
		{ __LINE__, AN_BYTES, AN_U(10240), "10.00 KiB", "10240" },
		{ __LINE__, AN_BYTES, AN_U(UINT64_MAX), "16.00 EiB", "18446744073709551615" },
		{ __LINE__, AN_HEX, AN_U(0xfee00000), "0xfee00000", "4276092928" },
		{ __LINE__, AN_SHARE, AN_D(1), "100.0 %", "1" },
		{ __LINE__, AN_CHANGE, AN_D(-.25), "-25.0 %", "-0.25" },
		{ __LINE__, AN_CHANGE, AN_D(__builtin_inf()), "new", "null" },
		{ __LINE__, AN_NUMBER, AN_D(12345.6), "12,346", "12345.6" },
		{ __LINE__, AN_NUMBER, AN_D(0.5), "0.5", "0.5" },
		{ __LINE__, AN_FLAG, AN_U(0), "no", "false" },
		{ __LINE__, AN_TEXT, AN_S("\033[2J"), "?[2J", "\"\\u001b[2J\"" },
		{ __LINE__, AN_TEXT, AN_NONE, "-", "null" },
		{ __LINE__, AN_TEXT, { .unit = AN_COUNT, .u = 5 }, "5", "5" },
	};

	(void)state;
	for (size_t i = 0; i < COUNT(rows); i++) {
		struct buf text = { 0 }, json = { 0 };

		an_figure(&text, rows[i].unit, &rows[i].c);
		an_figure_json(&json, rows[i].unit, &rows[i].c);
		assert_text_at(&text, rows[i].text, __FILE__, rows[i].line);
		assert_text_at(&json, rows[i].json, __FILE__, rows[i].line);
	}
}

static void csv_cells_are_quoted_when_they_must(void **state)
{
	struct buf b = { 0 };

	(void)state;
	an_csv_cell(&b, "plain", 5, ',');
	an_csv_cell(&b, "a,b", 3, ',');
	an_csv_cell(&b, "a,b", 3, ';');
	an_csv_cell(&b, "\"", 1, ',');
	assert_text(&b, "plain\"a,b\"a,b\"\"\"\"");
}

static void an_empty_page_is_a_page(void **state)
{
	struct an_page p = { 0 };
	struct buf b = { 0 };

	(void)state;
	an_page_open(&p, "trial", "Nothing");
	an_page_table(&p, "requester", "By requester", columns, COUNT(columns));
	an_page_text(&b, &p, NULL);
	assert_text(&b, "Nothing\n");
	an_page_html(&b, &p);
	assert_null(strstr(b.p, "By requester"));
	buf_free(&b);
	an_page_free(&p);
}

static void every_failed_allocation_shows_and_leaks_nothing(void **state)
{
	(void)state;
	for (long n = 1;; n++) {
		struct an_page p = { 0 };
		struct buf b = { 0 };

		mem_fail_at(n);
		build(&p);
		an_page_text(&b, &p, NULL);
		an_page_json(&b, &p);
		an_page_html(&b, &p);
		bool shows = an_page_failed(&p) || b.failed;
		bool failed = mem_failed();

		buf_free(&b);
		an_page_free(&p);
		assert_int_equal(mem_live(), 0);
		if (!failed)
			break;
		assert_true(shows);
	}
	mem_fail_at(0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(text_is_aligned_and_no_wider_than_the_terminal),
		cmocka_unit_test(a_wide_table_goes_on_below_with_its_first_column),
		cmocka_unit_test(columns_that_tell_rows_apart_stand_in_each_part_of_a_wide_table),
		cmocka_unit_test(json_has_an_object_a_line_and_exact_numbers),
		cmocka_unit_test(json_lists_the_keys_of_figures_that_are_bounds_and_of_those_that_may_be_off),
		cmocka_unit_test(html_holds_exact_figures_and_escapes_names),
		cmocka_unit_test(lines_may_be_quotients),
		cmocka_unit_test(a_picture_without_counts_or_lines_was_a_heading_over_nothing),
		cmocka_unit_test(json_lists_lines_that_are_bounds_beside_those_that_may_be_off),
		cmocka_unit_test(a_name_cannot_end_the_data_of_a_picture),
		cmocka_unit_test(figures_read_well),
		cmocka_unit_test(csv_cells_are_quoted_when_they_must),
		cmocka_unit_test(an_empty_page_is_a_page),
		cmocka_unit_test(every_failed_allocation_shows_and_leaks_nothing),
	};

	return cmocka_run_group_tests_name("answer: page", tests, NULL, NULL);
}
