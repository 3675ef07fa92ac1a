/* flame_test.c: call trees: what is merged, what is refused, and the forms that are written from them. */
#include "answer/test_int.h"

#include <stdio.h>
#include <stdlib.h>
#include <tally/tally.h>

#include "answer/emit_int.h"

static const char *const user[] = { "a`leaf+0x12", "a`main+0x4" }, *const user_func[] = { "a`leaf", "a`main" };
static const char *const other[] = { "a`leaf+0x99", "a`main+0x4" };
static const char *const kernel[] = { "vmlinux`fault+0x1" }, *const kernel_func[] = { "vmlinux`fault" };

#define KEYS(...) \
	.key = (const struct an_value[]){ __VA_ARGS__ }, .nkeys = COUNT(((const struct an_value[]){ __VA_ARGS__ }))

static void folded_of(struct buf *to, const struct an_agg *agg, uint32_t n)
{
	struct an_flame f = { 0 };

	for (uint32_t i = 0; i < n; i++)
		an_flame_add(&f, &agg[i]);
	an_flame_sort(&f);
	an_folded_put(to, &f);
	an_flame_free(&f);
}

static void rows_of_equal_names_are_one(void **state)
{
	struct an_row rows[] = {
		{ KEYS(STR("sh"), STACK(SLOT_USTACK, user, user_func)), .sum = 3 },
		{ KEYS(STR("sh"), STACK(SLOT_USTACK, other, user_func)), .sum = 4 },
		{ KEYS(STR("sh"), STACK(SLOT_USTACK, user, user_func), STACK(SLOT_KSTACK, kernel, kernel_func)),
		  .sum = 5 },
		{ KEYS(STR("sh")), .sum = 6 },
		{ KEYS(STR("nothing")), .sum = 0 },
	};
	const struct an_agg a = { .name = "", .fn = AGG_COUNT, .row = rows, .nrows = COUNT(rows) };
	struct buf b = { 0 };

	(void)state;
	folded_of(&b, &a, 1);
	assert_text(&b, "sh 6\n"
			"sh;a`main;a`leaf 7\n"
			"sh;a`main;a`leaf;vmlinux`fault_[k] 5\n");
}

static void a_row_without_a_name_is_never_called_after_the_sign_of_aggregations(void **state)
{
	struct an_row nothing = { .sum = 2 }, empty = { KEYS({ .kind = SLOT_USTACK }), .sum = 9 };
	const struct an_agg counted = { .name = "", .fn = AGG_COUNT, .row = &nothing, .nrows = 1 },
			    stacks = { .name = "", .fn = AGG_SUM, .row = &empty, .nrows = 1 };
	struct buf b = { 0 };

	(void)state;
	folded_of(&b, &counted, 1);
	assert_text(&b, "count() 2\n");
	folded_of(&b, &stacks, 1);
	assert_text(&b, "[no stack] 9\n");
}

static void paths_of_several_aggregations_begin_with_their_own(void **state)
{
	struct an_row reads = { KEYS(STR("sh")), .sum = 2 }, all = { .sum = 7 };
	const struct an_agg both[] = { { .name = "reads;", .fn = AGG_SUM, .row = &reads, .nrows = 1 },
				       { .name = "", .fn = AGG_COUNT, .row = &all, .nrows = 1 } };
	struct buf b = { 0 };

	(void)state;
	folded_of(&b, both, 2);
	assert_text(&b, "@reads:;sh 2\n"
			"count() 7\n");
}

static void a_difference_has_what_was_counted_since(void **state)
{
	struct an_row before[] = { { KEYS(STR("sh"), STACK(SLOT_USTACK, user, user_func)), .sum = 3 },
				   { KEYS(STR("gone")), .sum = 9 },
				   { KEYS(STR("cleared")), .sum = 9 },
				   { KEYS(STR("passed")), .sum = 4, .epoch = 1 },
				   { KEYS(STR("one of two")), .sum = 4, .epoch = 1 },
				   { KEYS(STR("one of two")), .sum = 4, .epoch = 2 } },
		      after[] = { { KEYS(STR("new")), .sum = 1 },
				  { KEYS(STR("sh"), STACK(SLOT_USTACK, user, user_func)), .sum = 10 },
				  { KEYS(STR("cleared")), .sum = 2 },
				  { KEYS(STR("passed")), .sum = 5, .epoch = 2 },
				  { KEYS(STR("one of two")), .sum = 7, .epoch = 2 },
				  { KEYS(STR("one of two")), .sum = 4, .epoch = 1 } };
	const struct an_agg first = { .name = "n", .fn = AGG_COUNT, .row = before, .nrows = COUNT(before) },
			    second[] = { { .name = "m", .fn = AGG_COUNT, .row = after, .nrows = 1 },
					 { .name = "n", .fn = AGG_COUNT, .row = after, .nrows = COUNT(after) } };
	struct an_flame f = { 0 }, past = { 0 };
	struct buf b = { 0 };

	(void)state;
	an_flame_add(&past, &first);
	an_flame_add(&f, &second[0]);
	an_flame_add(&f, &second[1]);
	an_flame_subtract(&f, &past);
	an_flame_sort(&f);
	an_folded_put(&b, &f);
	assert_text(&b, "@m;new 1\n@n;cleared 2\n@n;new 1\n@n;one of two 3\n@n;passed 5\n@n;sh;a`main;a`leaf 7\n");
	an_flame_free(&past);
	an_flame_free(&f);
	/* nothing at all on either side */
	an_flame_subtract(&f, &past);
	assert_false(f.failed);
}

static void a_frame_of_the_kernel_and_one_of_a_process_with_its_name_are_two(void **state)
{
	static const char *const name[] = { "f" };
	struct an_row rows[] = { { KEYS(STACK(SLOT_USTACK, name, name)), .sum = 1 },
				 { KEYS(STACK(SLOT_KSTACK, name, name)), .sum = 2 } };
	const struct an_agg a = { .name = "", .fn = AGG_COUNT, .row = rows, .nrows = COUNT(rows) };
	struct buf b = { 0 };

	(void)state;
	folded_of(&b, &a, 1);
	assert_text(&b, "f 1\nf_[k] 2\n");
}

static void sums_stay_within_64_bits(void **state)
{
	struct an_row rows[] = { { KEYS(STR("a")), .sum = INT64_MAX },
				 { KEYS(STR("a")), .sum = 5 },
				 { KEYS(STR("b")), .sum = -1 },
				 { KEYS(STR("c")), .sum = INT64_MIN },
				 { KEYS(STR("c")), .sum = -1 } };
	struct an_agg a = { .name = "x", .fn = AGG_SUM, .value_signed = true, .row = rows, .nrows = COUNT(rows) };
	struct an_flame f = { 0 };
	struct buf b = { 0 };

	(void)state;
	an_flame_add(&f, &a);
	an_flame_sort(&f);
	an_folded_put(&b, &f);
	assert_text(&b, "a 9223372036854775807\nb -1\nc -9223372036854775808\n");
	an_flame_free(&f);
	a.value_signed = false; /* a number of 64 bits */
	folded_of(&b, &a, 1);
	assert_text(&b, "a 9223372036854775807\nb 9223372036854775807\nc 9223372036854775807\n");
}

/* Rows of one path are added before its sign is looked at; callers that call nothing else are gone with it. */
static void paths_of_a_sum_below_0_are_left_out_and_counted(void **state)
{
	struct an_row rows[] = { { KEYS(STR("a"), STACK(SLOT_USTACK, user, user_func)), .sum = -5 },
				 { KEYS(STR("a"), STACK(SLOT_USTACK, other, user_func)), .sum = 8 },
				 { KEYS(STR("b"), STR("below")), .sum = -1 },
				 { KEYS(STR("b"), STR("c")), .sum = -2 },
				 { KEYS(STR("nothing")), .sum = 4 },
				 { KEYS(STR("nothing")), .sum = -4 } };
	const struct an_agg a = { .name = "x", .fn = AGG_SUM, .value_signed = true, .row = rows, .nrows = COUNT(rows) },
			    well = { .name = "y", .fn = AGG_SUM, .value_signed = true, .row = rows + 1, .nrows = 1 };
	struct an_flame f = { 0 };
	struct buf b = { 0 };
	uint32_t depth, nodes = 0;

	(void)state;
	an_flame_add(&f, &well);
	an_flame_add(&f, &a);
	assert_int_equal(f.tree[1].stacks, 3);
	assert_int_equal(an_flame_leave_out_negative(&f), 2);
	assert_int_equal(f.tree[0].negative, 0);
	assert_int_equal(f.tree[1].negative, 2);
	assert_int_equal(f.tree[1].stacks, 1);
	assert_int_equal(an_flame_leave_out_negative(&f), 0);
	an_flame_sort(&f);
	an_folded_put(&b, &f);
	assert_text(&b, "@y;a;a`main;a`leaf 8\n@x;a;a`main;a`leaf 3\n");
	for (uint32_t at = an_flame_next(&f, &f.tree[1], 0, &depth); at; at = an_flame_next(&f, &f.tree[1], at, &depth))
		nodes++;
	assert_int_equal(nodes, 4); /* the root and those three */
	an_flame_free(&f);
}

static void a_difference_of_sums_may_be_negative(void **state)
{
	struct an_row before[] = { { KEYS(STR("falls")), .sum = 5 },       { KEYS(STR("rises")), .sum = -9 },
				   { KEYS(STR("falls more")), .sum = -1 }, { KEYS(STR("far")), .sum = INT64_MAX },
				   { KEYS(STR("less")), .sum = 6 },        { KEYS(STR("to nothing")), .sum = 5 },
				   { KEYS(STR("cleared")), .sum = 5 } },
		      after[] = { { KEYS(STR("falls")), .sum = -3 },
				  { KEYS(STR("rises")), .sum = 1 },
				  { KEYS(STR("falls more")), .sum = -8 },
				  { KEYS(STR("far")), .sum = -9 },
				  { KEYS(STR("less")), .sum = 4 },
				  { KEYS(STR("to nothing")), .sum = 0 },
				  { KEYS(STR("cleared")), .sum = 4, .epoch = 1 } };
	const struct an_agg
		first = { .name = "n", .fn = AGG_SUM, .value_signed = true, .row = before, .nrows = COUNT(before) },
		second = { .name = "n", .fn = AGG_SUM, .value_signed = true, .row = after, .nrows = COUNT(after) };
	struct an_flame f = { 0 }, past = { 0 };
	struct buf b = { 0 };

	(void)state;
	an_flame_add(&past, &first);
	an_flame_add(&f, &second);
	an_flame_subtract(&f, &past);
	an_flame_sort(&f);
	an_folded_put(&b, &f);
	assert_text(&b,
		    "cleared 4\nfalls -8\nfalls more -7\nfar -9223372036854775808\nless -2\nrises 10\nto nothing -5\n");
	an_flame_free(&past);
	an_flame_free(&f);
}

static void what_does_not_add_up_has_no_tree(void **state)
{
	static const uint8_t takes[] = { AGG_COUNT, AGG_SUM, AGG_QUANTIZE, AGG_LQUANTIZE, AGG_LLQUANTIZE },
			     refuses[] = { AGG_AVG, AGG_MIN, AGG_MAX, AGG_STDDEV };

	(void)state;
	for (size_t i = 0; i < COUNT(takes); i++)
		assert_true(an_flame_takes(&(struct an_agg){ .fn = takes[i] }));
	for (size_t i = 0; i < COUNT(refuses); i++)
		assert_false(an_flame_takes(&(struct an_agg){ .fn = refuses[i] }));
}

/* ---- against a count of its own ----------------------------------------------------------- */

#define STACKS 3000u
#define DEPTH 9u

/* Random stacks over a few names: their sum by path, by brute force. */
static void trees_agree_with_a_list_of_paths(void **state)
{
	static const char *const names[] = { "f", "g", "h", "i" };
	const char **frame = mem_alloc(STACKS * DEPTH * sizeof(*frame));
	struct an_value *key = mem_alloc(STACKS * sizeof(*key));
	struct an_row *row = mem_alloc(STACKS * sizeof(*row));
	struct an_agg a = { .name = "", .fn = AGG_COUNT, .row = row, .nrows = STACKS };
	struct an_flame f = { 0 };
	uint32_t seed = 1, depth, stacks = 0;
	int64_t all = 0, *total;

	(void)state;
	for (uint32_t i = 0; i < STACKS; i++) {
		seed = seed * 1664525 + 1013904223;
		key[i] = (struct an_value){ .kind = SLOT_USTACK,
					    .frame = &frame[i * DEPTH],
					    .func = &frame[i * DEPTH],
					    .nframes = 1 + (seed >> 16) % DEPTH };
		for (uint32_t k = 0; k < key[i].nframes; k++) {
			seed = seed * 1664525 + 1013904223;
			frame[i * DEPTH + k] = names[(seed >> 20) % COUNT(names)];
		}
		row[i] = (struct an_row){ .key = &key[i], .nkeys = 1, .sum = 1 + seed % 7 };
		all += row[i].sum;
	}
	an_flame_add(&f, &a);
	an_flame_sort(&f);
	total = mem_alloc((f.nnodes + 1) * sizeof(*total));
	an_flame_totals(&f, total);
	assert_int_equal(total[f.tree[0].root], all);
	for (uint32_t at = an_flame_next(&f, &f.tree[0], 0, &depth); at;
	     at = an_flame_next(&f, &f.tree[0], at, &depth)) {
		const uint32_t next = f.node[at].next;
		int64_t want = 0, below = 0;

		if (next)
			assert_true(f.name[f.node[at].name].rank < f.name[f.node[next].name].rank);
		stacks += f.node[at].self > 0;
		for (uint32_t i = 0; depth && i < STACKS; i++) {
			uint32_t up = at, k = depth;

			for (; k && k <= key[i].nframes; k--, up = f.node[up].parent)
				if (strcmp(frame[i * DEPTH + key[i].nframes - k], f.name[f.node[up].name].text))
					break;
			below += k ? 0 : row[i].sum;
			want += !k && key[i].nframes == depth ? row[i].sum : 0;
		}
		if (depth) {
			assert_int_equal(f.node[at].self, want);
			assert_int_equal(total[at], below);
		}
		if (stacks > 400) /* enough: the rest is alike */
			break;
	}
	mem_free(total);
	an_flame_free(&f);
	mem_free(frame);
	mem_free(key);
	mem_free(row);
}

static void a_hundred_thousand_callees_of_one_function_take_no_longer_each(void **state)
{
	char name[16];
	const char *frame[] = { name, "main" };
	const struct an_value key = { .kind = SLOT_USTACK, .frame = frame, .func = frame, .nframes = 2 };
	struct an_row row = { .key = &key, .nkeys = 1, .sum = 1 };
	const struct an_agg a = { .name = "", .fn = AGG_COUNT, .row = &row, .nrows = 1 };
	struct an_flame f = { 0 };

	(void)state;
	for (int i = 0; i < 100000; i++) {
		snprintf(name, sizeof(name), "f%d", i);
		an_flame_add(&f, &a);
	}
	assert_false(f.failed);
	assert_int_equal(f.nnodes, 100003);
	assert_int_equal(f.tree[0].stacks, 100000);
	an_flame_free(&f);
}

/* ---- the forms ----------------------------------------------------------------------------- */

static void said_nowhere(void *arg, const char *s, size_t n)
{
	(void)arg;
	(void)s;
	(void)n;
}

/* A trace's answers in that form, of aggregations of each kind; the run's own text goes nowhere. */
static void document_of(uint32_t format, struct buf *to)
{
	static const struct an_column col[] = { { "count", "", AN_COUNT } };
	int64_t q[QUANTIZE_BUCKETS] = { [63] = 3 };
	struct an_row stacks[] = { { KEYS(STR("</script>\xff"), STACK(SLOT_USTACK, user, user_func),
					  STACK(SLOT_KSTACK, kernel, kernel_func)),
				     .sum = 3 },
				   { KEYS(STR("sh"), STACK(SLOT_USTACK, user, user_func)), .sum = 4 },
				   { KEYS(STR("sh"), STACK(SLOT_USTACK, other, user_func)), .sum = 5 } },
		      plain[] = { { KEYS(STR("<k>"), INT(-2, 4)), .sum = -9 } },
		      hist = { KEYS(STR("h")), .bucket = q, .nbuckets = QUANTIZE_BUCKETS };
	const struct an_agg agg[] = {
		{ .name = "", .fn = AGG_COUNT, .row = stacks, .nrows = COUNT(stacks) },
		{ .name = "t_ns", .fn = AGG_SUM, .value_signed = true, .row = plain, .nrows = 1 },
		{ .name = "h", .fn = AGG_QUANTIZE, .row = &hist, .nrows = 1 },
		{ .name = "m", .fn = AGG_MAX, .row = stacks, .nrows = 1 },
	};
	struct buf printed = { 0 };
	struct an_emit e;

	assert_int_equal(an_emit_open(&e, &printed, &(struct an_how){ .format = format }), 0);
	e.say = said_nowhere;
	e.title = "a <title>";
	e.about = (struct an_pprof){ .period = 10, .period_type = "cpu", .period_unit = "nanoseconds" };
	an_event(&e, &(struct an_event){ "loss", col, (struct an_cell[]){ AN_U(5) }, 1 }, "%d lost", 5);
	for (size_t i = 0; i < COUNT(agg); i++)
		e.ops->agg(&e, &agg[i]);
	e.ops->note(&e, "seen", 4);
	e.ops->finish(&e, to);
	to->failed |= printed.failed;
	buf_free(&printed);
	an_emit_close(&e);
}

static void a_page_has_the_tree_as_names_and_paths_that_share_their_callers(void **state)
{
	struct buf b = { 0 };

	(void)state;
	document_of(TALLY_FORMAT_HTML, &b);
	assert_false(b.failed);
	assert_non_null(
		strstr(b.p, "<script type=\"application/json\">{\"unit\":\"\",\"names\":[\n\"count()\",\n"
			    "\"\\u003c/script>\xef\xbf\xbd\",\n\"a`main\",\n\"a`leaf\",\n\"vmlinux`fault\",\n\"sh\"],\n"
			    "\"kinds\":\"001120\",\n"
			    "\"stacks\":[0,3,4,1,2,3,4,\n0,9,3,5,2,3]}</script>"));
	assert_non_null(strstr(b.p, "<p class=\"small\">12 in 2 different stacks."));
	assert_non_null(strstr(b.p, "<li class=\"lost\" data-part=\"lost\"><b>Lost: </b>5 lost</li>"));
	assert_non_null(strstr(b.p, "<h1>a &lt;title&gt;</h1>"));
	/* the leaf has what ends in it, and in the kernel below it */
	assert_non_null(strstr(
		b.p,
		"<td class=\"t\" data-v=\"a`leaf\">a`leaf</td><td data-v=\"9\">9</td><td data-v=\"0.75\">75.0 %</td>"
		"<td data-v=\"12\">12</td><td data-v=\"1\">100.0 %</td>"));
	assert_true(strstr(b.p, "5 lost") < strstr(b.p, "class=\"flame\""));
	assert_true(strstr(b.p, "class=\"flame\"") < strstr(b.p, "<h2>@t_ns: sum()</h2>"));
	assert_true(strstr(b.p, "<h2>@t_ns: sum()</h2>") < strstr(b.p, "</b>seen<"));
	buf_free(&b);
}

static void said_in_lines(void *arg, const char *s, size_t n)
{
	buf_put(arg, s, n);
	buf_putc(arg, '\n');
}

/* What is said of aggregations with rows below 0 and of those that do not add up; the document in b. */
static void what_is_said(uint32_t format, struct buf *said, struct buf *b)
{
	struct an_row rows[] = { { KEYS(STR("a")), .sum = -1 },
				 { KEYS(STR("b")), .sum = 5 },
				 { KEYS(STR("c")), .sum = -2 } };
	const struct an_agg agg[] = {
		{ .name = "two", .fn = AGG_SUM, .value_signed = true, .row = rows, .nrows = 3 },
		{ .name = "one", .fn = AGG_SUM, .value_signed = true, .row = rows, .nrows = 2 },
		{ .name = "none", .fn = AGG_SUM, .value_signed = true, .row = rows + 1, .nrows = 1 },
		{ .name = "m", .fn = AGG_MAX, .row = rows + 1, .nrows = 1 },
		{ .name = "", .fn = AGG_AVG, .row = rows + 1, .nrows = 1 },
	};
	struct buf printed = { 0 };
	struct an_emit e;

	assert_int_equal(an_emit_open(&e, &printed, &(struct an_how){ .format = format }), 0);
	e.say = said_in_lines;
	e.arg = said;
	for (size_t i = 0; i < COUNT(agg); i++)
		e.ops->agg(&e, &agg[i]);
	e.ops->finish(&e, b);
	assert_false(b->failed || printed.failed || said->failed);
	buf_free(&printed);
	an_emit_close(&e);
}

#define REFUSED                                                                     \
	"@m is left out: max() of a caller is not the sum of that of its callees\n" \
	"avg() is left out: avg() of a caller is not the sum of that of its callees\n"
static void what_has_no_tree_is_told(void **state)
{
	static const uint32_t forms[] = { TALLY_FORMAT_FOLDED, TALLY_FORMAT_PPROF };

	(void)state;
	for (size_t i = 0; i < COUNT(forms); i++) {
		struct buf said = { 0 }, b = { 0 };

		what_is_said(forms[i], &said, &b);
		assert_text(&said, i ? REFUSED :
				       REFUSED "2 paths of @two left out: a sum below 0 has no width\n"
					       "1 path of @one left out: a sum below 0 has no width\n");
		buf_free(&b);
	}
}

static void a_table_is_headed_by_its_aggregation_with_or_without_a_name(void **state)
{
	static const char *const name[] = { "m", "", NULL }, *const title[] = { "<h2>@m: max()</h2>", "<h2>max()</h2>",
										"<h2>max()</h2>" };

	(void)state;
	for (size_t i = 0; i < COUNT(name); i++) {
		struct an_row row = { KEYS(STR("k")), .sum = 5 };
		const struct an_agg a = { .name = name[i], .fn = AGG_MAX, .row = &row, .nrows = 1 };
		struct buf printed = { 0 }, b = { 0 };
		struct an_emit e;

		assert_int_equal(an_emit_open(&e, &printed, &(struct an_how){ .format = TALLY_FORMAT_HTML }), 0);
		e.say = said_nowhere;
		e.ops->agg(&e, &a);
		e.ops->finish(&e, &b);
		an_emit_close(&e);
		assert_false(b.failed);
		if (!strstr(b.p, title[i]))
			fail_msg("%s", title[i]);
		buf_free(&printed);
		buf_free(&b);
	}
}

static void a_unit_is_the_last_word_of_a_sum_s_name(void **state)
{
	static const struct {
		const char *label, *function, *want;
	} rows[] = { { "@wait_ns", "sum", "ns" }, { "@ns", "sum", "ns" },         { "@x_us", "sum", "us" },
		     { "@x_ms", "sum", "ms" },    { "@x_bytes", "sum", "bytes" }, { "@x_s", "sum", "" },
		     { "@wait_ns", "count", "" }, { "sum()", "sum", "" },         { "@ns_x", "sum", "" } };

	(void)state;
	for (size_t i = 0; i < COUNT(rows); i++)
		assert_string_equal(an_flame_unit(&(struct an_flame_tree){ .label = rows[i].label,
									   .function = rows[i].function }),
				    rows[i].want);
}

static void each_form_runs_out_of_memory_aloud(void **state)
{
	static const uint32_t forms[] = { TALLY_FORMAT_FOLDED, TALLY_FORMAT_HTML, TALLY_FORMAT_PPROF };

	(void)state;
	for (size_t i = 0; i < COUNT(forms); i++)
		for (long n = 1;; n++) {
			struct buf b = { 0 };
			bool failed;

			mem_fail_at(n);
			document_of(forms[i], &b);
			failed = mem_failed();
			mem_fail_at(0);
			if (failed != b.failed)
				print_error("form %u, allocation %ld\n", forms[i], n);
			assert_int_equal(b.failed, failed);
			buf_free(&b);
			assert_int_equal(mem_live(), 0);
			if (!failed)
				break;
		}
}

static void running_out_of_memory_is_remembered(void **state)
{
	struct an_row rows[] = { { KEYS(STR("sh"), STACK(SLOT_USTACK, user, user_func)), .sum = 3 } };
	const struct an_agg a = { .name = "x", .fn = AGG_COUNT, .row = rows, .nrows = 1 };

	(void)state;
	for (long n = 1;; n++) {
		struct buf b = { 0 };
		bool failed;

		mem_fail_at(n);
		folded_of(&b, &a, 1);
		failed = mem_failed();
		mem_fail_at(0);
		assert_int_equal(b.failed, failed);
		buf_free(&b);
		assert_int_equal(mem_live(), 0);
		if (!failed)
			break;
	}
}

static void a_difference_without_memory_is_none(void **state)
{
	struct an_row before[] = { { KEYS(STR("sh"), STACK(SLOT_USTACK, user, user_func)), .sum = 3 } },
		      after[] = { { KEYS(STR("sh"), STACK(SLOT_USTACK, user, user_func)), .sum = 10 } };
	const struct an_agg first = { .name = "n", .fn = AGG_COUNT, .row = before, .nrows = 1 },
			    second = { .name = "n", .fn = AGG_COUNT, .row = after, .nrows = 1 };
	bool failed = true;

	(void)state;
	for (long n = 1; failed; n++) {
		struct an_flame f = { 0 }, past = { 0 };

		an_flame_add(&past, &first);
		an_flame_add(&f, &second);
		mem_fail_at(n);
		an_flame_subtract(&f, &past);
		failed = mem_failed();
		mem_fail_at(0);
		assert_int_equal(f.failed, failed);
		an_flame_free(&past);
		an_flame_free(&f);
	}
	assert_int_equal(mem_live(), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(rows_of_equal_names_are_one),
		cmocka_unit_test(a_row_without_a_name_is_never_called_after_the_sign_of_aggregations),
		cmocka_unit_test(paths_of_several_aggregations_begin_with_their_own),
		cmocka_unit_test(a_difference_has_what_was_counted_since),
		cmocka_unit_test(a_difference_without_memory_is_none),
		cmocka_unit_test(a_frame_of_the_kernel_and_one_of_a_process_with_its_name_are_two),
		cmocka_unit_test(sums_stay_within_64_bits),
		cmocka_unit_test(paths_of_a_sum_below_0_are_left_out_and_counted),
		cmocka_unit_test(a_difference_of_sums_may_be_negative),
		cmocka_unit_test(what_does_not_add_up_has_no_tree),
		cmocka_unit_test(trees_agree_with_a_list_of_paths),
		cmocka_unit_test(a_hundred_thousand_callees_of_one_function_take_no_longer_each),
		cmocka_unit_test(running_out_of_memory_is_remembered),
		cmocka_unit_test(a_page_has_the_tree_as_names_and_paths_that_share_their_callers),
		cmocka_unit_test(what_has_no_tree_is_told),
		cmocka_unit_test(a_table_is_headed_by_its_aggregation_with_or_without_a_name),
		cmocka_unit_test(a_unit_is_the_last_word_of_a_sum_s_name),
		cmocka_unit_test(each_form_runs_out_of_memory_aloud),
	};

	return cmocka_run_group_tests_name("flame", tests, NULL, NULL);
}
