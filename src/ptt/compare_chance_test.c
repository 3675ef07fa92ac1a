/* compare_chance_test.c: series that go together and such that say nothing, figures of few blocks, and the laws. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "ptt/compare_int.h"

enum { BLOCKS = 16 }; /* a mean of small numbers is exact */

static bool is_near(double x, double y)
{
	return fabs(x - y) <= 1e-3 * (1 + fabs(y));
}

static void a_series_that_stays_goes_together_with_none(void **state)
{
	double still[BLOCKS], up[BLOCKS], down[BLOCKS];

	(void)state;
	for (uint32_t i = 0; i < BLOCKS; i++) {
		still[i] = 7;
		up[i] = i;
		down[i] = -3.0 * i;
	}
	assert_true(compare_together(still, up, BLOCKS) == 0);
	assert_true(compare_together(up, still, BLOCKS) == 0);
	assert_true(compare_together(still, still, BLOCKS) == 0);
	/* Those that go together wholly do so by a finite figure. */
	assert_true(is_near(compare_together(up, up, BLOCKS), atanh(0.999999) * sqrt(13)));
	assert_true(is_near(compare_together(up, down, BLOCKS), -atanh(0.999999) * sqrt(13)));
}

static void too_few_blocks_go_together_with_none(void **state)
{
	static const double x[] = { 1, 2, 3, 4, 5, 6 }, y[] = { 1, 3, 2, 5, 4, 6 };
	const double r = 15.5 / 17.5;

	(void)state;
	assert_true(compare_together(x, y, 5) == 0);
	assert_true(is_near(compare_together(x, y, 6), atanh(r) * sqrt(3)));
}

static void a_ratio_of_few_blocks_has_a_value_and_no_error(void **state)
{
	static const double num[] = { 2, 4, 2, 4, 2, 4 }, den[] = { 1, 1, 1, 1, 1, 1 }, none[6];
	struct sample s = compare_ratio(num, den, 5, 10);

	(void)state;
	assert_true(is_near(s.value, 28));
	assert_true(s.error == 0 && s.df == 0);
	s = compare_ratio(num, den, 6, 10);
	assert_true(is_near(s.value, 30));
	assert_true(is_near(s.error, 10 * sqrt(6 * 6.0 / 5) / 6)); /* neighbours go against each other: nothing more */
	assert_true(s.df == 5);
	s = compare_ratio(num, none, 6, 10);
	assert_true(s.value == 0 && s.error == 0 && s.df == 0);
}

/* Blocks that go up and then down: neighbours are alike, and the error is greater than that of blocks which aren't. */
static void neighbours_that_are_alike_make_the_error_greater(void **state)
{
	static const double alike[] = { 2, 2, 2, 4, 4, 4 }, den[] = { 1, 1, 1, 1, 1, 1 };
	/* each is 1 off; of covariances the first two are above 0: 3 and 0, then -3, -2, -1 */
	const double lagged = 2 * ((1 - 1 / 11.0) * 3 + (1 - 2 / 11.0) * 0 + (1 - 3 / 11.0) * -3 + (1 - 4 / 11.0) * -2 +
				   (1 - 5 / 11.0) * -1);
	const struct sample s = compare_ratio(alike, den, 6, 1);

	(void)state;
	assert_true(is_near(s.error, sqrt((6 + (lagged > 0 ? lagged : 0)) * 6 / 5) / 6));
}

/* From tables of Student's distribution. */
static void chances_are_those_of_the_law(void **state)
{
	static const struct {
		double df, chance, t;
	} row[] = {
		{ 1, 0.05, 12.7062 }, { 1, 0.5, 1 },          { 5, 0.05, 2.5706 },    { 10, 0.01, 3.1693 },
		{ 30, 0.1, 1.6973 },  { 120, 0.001, 3.3735 }, { 1e6, 0.05, 1.95996 },
	};

	(void)state;
	for (size_t i = 0; i < COUNT(row); i++) {
		assert_true(is_near(compare_t(row[i].df, row[i].chance), row[i].t));
		assert_true(is_near(compare_t_chance(row[i].t, row[i].df), row[i].chance));
		assert_true(is_near(compare_t_chance(-row[i].t, row[i].df), row[i].chance));
	}
	assert_true(compare_t_chance(5, 0) == 1);
	assert_true(compare_t_chance(0, 5) == 1);
}

static void growth_is_of_the_logarithm_and_unknown_without_freedom(void **state)
{
	const struct sample a = { .value = 100, .error = 3, .df = 20, .grain = 2 },
			    b = { .value = 200, .error = 8, .df = 20, .grain = 2 }, bare = { .value = 200, .error = 8 };
	struct growth g = compare_growth(&a, &b);

	(void)state;
	assert_true(is_near(g.log, log(2)));
	assert_true(is_near(g.error, 0.05));
	assert_true(is_near(g.grain, 0.03));
	assert_true(is_near(g.df, pow(0.0025, 2) / (pow(0.0009, 2) / 20 + pow(0.0016, 2) / 20)));
	assert_true(g.chance < 1e-9);
	g = compare_growth(&b, &a);
	assert_true(is_near(g.log, -log(2)));
	g = compare_growth(&a, &bare);
	assert_true(is_near(g.log, log(2)));
	assert_true(g.df == 0 && g.chance == 1);
	g = compare_growth(&bare, &a);
	assert_true(g.df == 0 && g.chance == 1);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_series_that_stays_goes_together_with_none),
		cmocka_unit_test(too_few_blocks_go_together_with_none),
		cmocka_unit_test(a_ratio_of_few_blocks_has_a_value_and_no_error),
		cmocka_unit_test(neighbours_that_are_alike_make_the_error_greater),
		cmocka_unit_test(chances_are_those_of_the_law),
		cmocka_unit_test(growth_is_of_the_logarithm_and_unknown_without_freedom),
	};

	return cmocka_run_group_tests_name("ptt: compare_chance", tests, NULL, NULL);
}
