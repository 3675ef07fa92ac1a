/* hist_test.c: the three histograms: which rows are shown, their labels, their bars. */
#include "facts/bucket_of.h"
#include "answer/test_int.h"

#define HEAD "\n           value  ------------- Distribution ------------- count    \n"
#define ROW(label, bar, count) label " " bar " " count "\n"
#define FULL "@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@"
#define NONE "                                        "

/* One value at a time into a histogram, as a program would. */
struct filled {
	struct an_agg agg;
	struct an_row row;
	int64_t bucket[1100];
};

static void fill(struct filled *f, int64_t v, int64_t weight)
{
	const struct an_agg *a = &f->agg;
	uint32_t b = a->fn == AGG_QUANTIZE  ? quantize_bucket(v) :
		     a->fn == AGG_LQUANTIZE ? lquantize_bucket(&a->lq, v) :
					      llquantize_bucket(&a->llq, v);
	f->bucket[b] += weight;
	f->row.bucket = f->bucket;
	f->row.nbuckets = an_hist_buckets(a);
}

static void assert_hist(const struct filled *f, const char *want, int line)
{
	struct buf b = { 0 };
	an_hist(&b, &f->agg, &f->row);
	assert_text_at(&b, want, __FILE__, line);
}
#define ASSERT_HIST(f, want) assert_hist(f, want, __LINE__)

static void quantize_shows_one_empty_bucket_on_each_side(void **state)
{
	(void)state;
	struct filled f = { .agg = { .fn = AGG_QUANTIZE } };
	fill(&f, 16384, 4);
	fill(&f, 131072, 1);
	ASSERT_HIST(&f, HEAD ROW("            8192", "|" NONE, "0        ")
				ROW("           16384", "|@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@        ", "4        ")
					ROW("           32768", "|" NONE, "0        ") ROW("           65536", "|" NONE,
											   "0        ")
						ROW("          131072", "|@@@@@@@@                                ",
						    "1        ") ROW("          262144", "|" NONE, "0        "));
}

static void zoom_makes_the_longest_bar_whole(void **state)
{
	(void)state;
	struct filled f = { .agg = { .fn = AGG_QUANTIZE, .zoom = true } };
	fill(&f, 2, 4);
	fill(&f, 4, 1);
	ASSERT_HIST(&f,
		    HEAD ROW("               1", "|" NONE, "0        ") ROW("               2", "|" FULL, "4        ")
			    ROW("               4", "|@@@@@@@@@@                              ", "1        ")
				    ROW("               8", "|" NONE, "0        "));
}

static void quantize_of_values_around_zero(void **state)
{
	(void)state;
	struct filled f = { .agg = { .fn = AGG_QUANTIZE } };
	fill(&f, -3, 1);
	fill(&f, 0, 1);
	fill(&f, 1, 2);
	ASSERT_HIST(&f, HEAD ROW("              -4", "|" NONE,
				 "0        ") ROW("              -2", "|@@@@@@@@@@                              ",
						  "1        ") ROW("              -1", "|" NONE, "0        ")
				ROW("               0", "|@@@@@@@@@@                              ", "1        ")
					ROW("               1", "|@@@@@@@@@@@@@@@@@@@@                    ",
					    "2        ") ROW("               2", "|" NONE, "0        "));
}

static void quantize_at_the_ends_has_no_neighbour_there(void **state)
{
	(void)state;
	struct filled f = { .agg = { .fn = AGG_QUANTIZE } };
	fill(&f, INT64_MAX, 1234);
	ASSERT_HIST(&f, HEAD ROW("2305843009213693952", "|" NONE, "0        ")
				ROW("4611686018427387904", "|" FULL, "1234     "));
	struct filled low = { .agg = { .fn = AGG_QUANTIZE } };
	fill(&low, INT64_MIN, 1);
	ASSERT_HIST(&low, HEAD ROW("-4611686018427387904", "|" FULL, "1        ")
				  ROW("-2305843009213693952", "|" NONE, "0        "));
}

static void empty_histograms_show_three_rows(void **state)
{
	(void)state;
	struct filled q = { .agg = { .fn = AGG_QUANTIZE } };
	ASSERT_HIST(&q,
		    HEAD ROW("              -1", "|" NONE, "0        ") ROW("               0", "|" NONE, "0        ")
			    ROW("               1", "|" NONE, "0        "));
	struct filled l = { .agg = { .fn = AGG_LQUANTIZE, .lq = { 0, 2, 1 } } };
	ASSERT_HIST(&l,
		    HEAD ROW("             < 0", "|" NONE, "0        ") ROW("               0", "|" NONE, "0        ")
			    ROW("               1", "|" NONE, "0        "));
	struct filled ll = { .agg = { .fn = AGG_LLQUANTIZE, .llq = { 10, 0, 1, 10 } } };
	ASSERT_HIST(&ll,
		    HEAD ROW("               0", "|" NONE, "0        ") ROW("               1", "|" NONE, "0        ")
			    ROW("               2", "|" NONE, "0        "));
}

static void negative_weights_hang_from_the_right(void **state)
{
	(void)state;
	struct filled f = { .agg = { .fn = AGG_QUANTIZE } };
	fill(&f, 1, -3);
	fill(&f, 2, -1);
	ASSERT_HIST(&f, HEAD ROW("               0", NONE "|", "0        ")
				ROW("               1", "          @@@@@@@@@@@@@@@@@@@@@@@@@@@@@@|", "-3       ")
					ROW("               2", "                              @@@@@@@@@@|",
					    "-1       ") ROW("               4", NONE "|", "0        "));
}

static void mixed_weights_grow_from_the_middle(void **state)
{
	(void)state;
	struct filled f = { .agg = { .fn = AGG_LQUANTIZE, .lq = { 0, 4, 1 } } };
	fill(&f, 1, 1);
	fill(&f, 2, -1);
	ASSERT_HIST(&f, HEAD ROW("               0", "                    |                    ", "0        ")
				ROW("               1", "                    |@@@@@@@@@@          ", "1        ")
					ROW("               2", "          @@@@@@@@@@|                    ",
					    "-1       ") ROW("               3",
							     "                    |                    ", "0        "));
}

static void lquantize_names_what_is_outside(void **state)
{
	(void)state;
	struct filled f = { .agg = { .fn = AGG_LQUANTIZE, .lq = { -10, 15, 10 } } };
	fill(&f, -11, 1);
	fill(&f, 0, 1);
	fill(&f, 10, 2);
	ASSERT_HIST(&f,
		    HEAD ROW("           < -10", "|@@@@@@@@@@                              ",
			     "1        ") ROW("             -10", "|" NONE, "0        ")
			    ROW("               0", "|@@@@@@@@@@                              ", "1        ")
				    ROW("           >= 10", "|@@@@@@@@@@@@@@@@@@@@                    ", "2        "));
}

static void llquantize_names_its_middle_by_what_is_shown(void **state)
{
	(void)state;
	struct filled f = { .agg = { .fn = AGG_LLQUANTIZE, .llq = { 10, 1, 2, 5 } } };
	fill(&f, 10, 1);
	ASSERT_HIST(&f,
		    HEAD ROW("            < 10", "|" NONE, "0        ") ROW("              10", "|" FULL, "1        ")
			    ROW("              20", "|" NONE, "0        "));
	fill(&f, 5, 1);
	ASSERT_HIST(&f, HEAD ROW("             -10", "|" NONE, "0        ")
				ROW("      abs() < 10", "|@@@@@@@@@@@@@@@@@@@@                    ", "1        ")
					ROW("              10", "|@@@@@@@@@@@@@@@@@@@@                    ",
					    "1        ") ROW("              20", "|" NONE, "0        "));
}

static void llquantize_names_its_ends(void **state)
{
	(void)state;
	struct filled f = { .agg = { .fn = AGG_LLQUANTIZE, .llq = { 4, 0, 0, 4 } } };
	for (int64_t v = -5; v <= 5; v++)
		fill(&f, v, 1);
	ASSERT_HIST(&f,
		    HEAD ROW("           <= -4", "|@@@@@@@                                 ",
			     "2        ") ROW("              -3", "|@@@@                                    ",
					      "1        ") ROW("              -2",
							       "|@@@@                                    ", "1        ")
			    ROW("              -1", "|@@@@                                    ", "1        ")
				    ROW("               0", "|@@@@                                    ", "1        ")
					    ROW("               1", "|@@@@                                    ",
						"1        ") ROW("               2",
								 "|@@@@                                    ",
								 "1        ")
						    ROW("               3", "|@@@@                                    ",
							"1        ") ROW("            >= 4",
									 "|@@@@@@@                                 ",
									 "2        "));
}

static void bars_are_rounded_and_counts_may_be_huge(void **state)
{
	(void)state;
	struct filled f = { .agg = { .fn = AGG_LQUANTIZE, .lq = { 0, 3, 1 } } };
	fill(&f, 0, INT64_MAX);
	fill(&f, 1, INT64_MAX / 78); /* a little more than half a mark */
	fill(&f, 2, 1);
	ASSERT_HIST(&f,
		    HEAD ROW("             < 0", "|" NONE, "0        ")
			    ROW("               0", "|@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@ ", "9223372036854775807")
				    ROW("               1", "|@                                       ",
					"118248359446856100") ROW("               2", "|" NONE, "1        ")
					    ROW("            >= 3", "|" NONE, "0        "));
}

static void normalizing_changes_the_number_and_not_the_bar(void **state)
{
	(void)state;
	struct filled f = { .agg = { .fn = AGG_QUANTIZE, .normal = 10 } };
	fill(&f, 1, 25);
	ASSERT_HIST(&f,
		    HEAD ROW("               0", "|" NONE, "0        ") ROW("               1", "|" FULL, "2        ")
			    ROW("               2", "|" NONE, "0        "));
}

static void counts_past_the_row_are_zero(void **state)
{
	(void)state;
	struct filled f = { .agg = { .fn = AGG_QUANTIZE } };
	fill(&f, 0, 1);
	fill(&f, 1, 1);
	f.row.nbuckets = QUANTIZE_ZERO + 1;
	ASSERT_HIST(&f,
		    HEAD ROW("              -1", "|" NONE, "0        ") ROW("               0", "|" FULL, "1        ")
			    ROW("               1", "|" NONE, "0        "));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(quantize_shows_one_empty_bucket_on_each_side),
		cmocka_unit_test(zoom_makes_the_longest_bar_whole),
		cmocka_unit_test(quantize_of_values_around_zero),
		cmocka_unit_test(quantize_at_the_ends_has_no_neighbour_there),
		cmocka_unit_test(empty_histograms_show_three_rows),
		cmocka_unit_test(negative_weights_hang_from_the_right),
		cmocka_unit_test(mixed_weights_grow_from_the_middle),
		cmocka_unit_test(lquantize_names_what_is_outside),
		cmocka_unit_test(llquantize_names_its_middle_by_what_is_shown),
		cmocka_unit_test(llquantize_names_its_ends),
		cmocka_unit_test(bars_are_rounded_and_counts_may_be_huge),
		cmocka_unit_test(normalizing_changes_the_number_and_not_the_bar),
		cmocka_unit_test(counts_past_the_row_are_zero),
	};
	return cmocka_run_group_tests_name("hist", tests, NULL, NULL);
}
