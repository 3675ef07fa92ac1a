/* Tests of table.c. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "symbol/symbol_int.h"

struct row {
	int line;
	uint64_t start, end;
	const char *name;
	uint8_t rank;
	uint32_t link;
};

static void fill(struct table *t, const struct row *r, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		struct sym s = {
			.start = r[i].start, .end = r[i].end, .name = r[i].name, .rank = r[i].rank, .link = r[i].link
		};

		assert_true(table_add(t, &s));
	}
	table_build(t);
}

static const char *at(const struct table *t, uint64_t addr)
{
	const struct sym *s = table_find(t, addr);

	return s ? s->name : "-";
}

static void an_address_finds_its_function_and_holes_find_none(void **state)
{
	static const struct row rows[] = { { __LINE__, 100, 110, "b", 0, 0 }, { __LINE__, 10, 20, "a", 0, 0 } };
	static const struct {
		int line;
		uint64_t addr;
		const char *name;
	} want[] = {
		{ __LINE__, 0, "-" },   { __LINE__, 9, "-" },          { __LINE__, 10, "a" },  { __LINE__, 19, "a" },
		{ __LINE__, 20, "-" },  { __LINE__, 99, "-" },         { __LINE__, 100, "b" }, { __LINE__, 109, "b" },
		{ __LINE__, 110, "-" }, { __LINE__, UINT64_MAX, "-" },
	};
	struct table t = { 0 };

	(void)state;
	assert_string_equal(at(&t, 5), "-");
	fill(&t, rows, COUNT(rows));
	for (size_t i = 0; i < COUNT(want); i++)
		if (strcmp(at(&t, want[i].addr), want[i].name))
			fail_msg("line %d: %s", want[i].line, at(&t, want[i].addr));
	table_free(&t);
}

static void a_function_inside_another_does_not_hide_the_rest_of_it(void **state)
{
	static const struct row rows[] = {
		{ __LINE__, 0, 100, "outer", 0, 0 },
		{ __LINE__, 20, 30, "inner", 0, 0 },
		{ __LINE__, 24, 26, "core", 0, 0 },
	};
	struct table t = { 0 };

	(void)state;
	fill(&t, rows, COUNT(rows));
	assert_string_equal(at(&t, 19), "outer");
	assert_string_equal(at(&t, 20), "inner");
	assert_string_equal(at(&t, 25), "core");
	assert_string_equal(at(&t, 26), "inner");
	assert_string_equal(at(&t, 99), "outer");
	assert_string_equal(at(&t, 100), "-");
	table_free(&t);
}

static void of_two_names_the_global_wins_over_local_over_weak(void **state)
{
	static const struct row rows[] = {
		{ __LINE__, 0, 10, "weak", RANK_WEAK, 0 },
		{ __LINE__, 0, 10, "global", RANK_GLOBAL, 0 },
		{ __LINE__, 0, 10, "local", RANK_LOCAL, 0 },
		{ __LINE__, 10, 20, "weak", RANK_WEAK, 0 },
		{ __LINE__, 10, 20, "local", RANK_LOCAL, 0 },
		{ __LINE__, 20, 30, "__read", 0, 0 },
		{ __LINE__, 20, 30, "read", 0, 0 },
		{ __LINE__, 20, 30, "reab", 0, 0 },
		{ __LINE__, 30, 40, "nosize", RANK_NOSIZE, 0 },
		{ __LINE__, 30, 40, "sized", RANK_WEAK, 0 },
	};
	struct table t = { 0 };

	(void)state;
	fill(&t, rows, COUNT(rows));
	assert_string_equal(at(&t, 0), "global");
	assert_string_equal(at(&t, 10), "local");
	assert_string_equal(at(&t, 20), "reab");
	assert_string_equal(at(&t, 30), "sized");
	assert_int_equal(t.n, 4);
	table_free(&t);
}

static void a_symbol_without_size_reaches_to_the_next_or_to_its_limit(void **state)
{
	static const struct row rows[] = {
		{ __LINE__, 10, 90, "a", RANK_NOSIZE, 0 },
		{ __LINE__, 20, 90, "b", RANK_NOSIZE, 0 },
		{ __LINE__, 200, 210, "c", 0, 0 },
	};
	struct table t = { 0 };

	(void)state;
	fill(&t, rows, COUNT(rows));
	assert_string_equal(at(&t, 19), "a");
	assert_string_equal(at(&t, 20), "b");
	assert_string_equal(at(&t, 89), "b");
	assert_string_equal(at(&t, 90), "-");
	table_free(&t);
}

static void a_label_inside_a_function_is_dropped(void **state)
{
	static const struct row rows[] = {
		{ __LINE__, 10, 30, "f", 0, 0 },
		{ __LINE__, 20, 50, "label", RANK_NOSIZE | RANK_NOTYPE, 0 },
		{ __LINE__, 40, 50, "asm", RANK_NOSIZE | RANK_NOTYPE, 0 },
	};
	struct table t = { 0 };

	(void)state;
	fill(&t, rows, COUNT(rows));
	assert_string_equal(at(&t, 25), "f");
	assert_string_equal(at(&t, 30), "-");
	assert_string_equal(at(&t, 45), "asm");
	table_free(&t);
}

static void what_is_added_later_is_found_too_and_newer_wins(void **state)
{
	static const struct row first[] = { { __LINE__, 10, 20, "old", 0, 1 }, { __LINE__, 40, 50, "kept", 0, 2 } };
	static const struct row then[] = {
		{ __LINE__, 30, 40, "between", 0, 3 },
		{ __LINE__, 10, 20, "new", 0, 4 },
		{ __LINE__, 0, 5, "front", 0, 5 },
	};
	struct table t = { 0 };

	(void)state;
	fill(&t, first, COUNT(first));
	fill(&t, then, COUNT(then));
	assert_string_equal(at(&t, 10), "new");
	assert_string_equal(at(&t, 35), "between");
	assert_string_equal(at(&t, 45), "kept");
	assert_string_equal(at(&t, 4), "front");
	table_free(&t);
}

static void many_symbols_in_any_order_are_all_found(void **state)
{
	struct table t = { 0 };

	(void)state;
	for (uint64_t i = 0; i < 10007; i++) {
		/* sorted first, then shuffled */
		uint64_t k = i < 7000 ? i : 7000 + (i * 7919) % 3007;
		struct sym s = { .start = k * 16, .end = k * 16 + 8, .name = "f" };

		assert_true(table_add(&t, &s));
	}
	table_build(&t);
	for (uint32_t i = 1; i < t.n; i++)
		assert_true(t.v[i - 1].start < t.v[i].start);
	for (uint64_t k = 0; k < 7000; k++) {
		assert_string_equal(at(&t, k * 16 + 7), "f");
		assert_string_equal(at(&t, k * 16 + 8), "-");
	}
	table_free(&t);
}

static void nesting_without_end_does_not_make_a_look_up_a_scan(void **state)
{
	struct table t = { 0 };

	(void)state;
	for (uint64_t i = 0; i < 100000; i++) {
		struct sym s = { .start = i, .end = i ? i + 1 : UINT64_MAX, .name = "f" };

		if (i)
			s.end = 1000000 - i;
		assert_true(table_add(&t, &s));
	}
	table_build(&t);
	for (int i = 0; i < 100000; i++)
		table_find(&t, 999999);
	table_free(&t);
}

static void names_cannot_command_a_terminal_and_are_bounded(void **state)
{
	struct names p = { 0 };
	char *big;

	(void)state;
	assert_string_equal(names_add(&p, "a\033[2J\nb\177", 8), "a?[2J?b?");
	assert_string_equal(names_add(&p, "\xc3\xa9t\xc3\xa9", 5), "\xc3\xa9t\xc3\xa9");
	big = mem_alloc(3 * NAME_MOST);
	memset(big, 'x', 3 * NAME_MOST - 1);
	for (int i = 0; i < 200; i++)
		assert_int_equal(strlen(names_add(&p, big, 3 * NAME_MOST - 1)), NAME_MOST);
	mem_free(big);
	names_free(&p);
}

static void a_failing_allocation_loses_names_but_nothing_else(void **state)
{
	(void)state;
	for (long n = 1;; n++) {
		long before = mem_live();
		struct table t = { 0 };
		struct names p = { 0 };

		mem_fail_at(n);
		for (uint64_t i = 0; i < 100; i++) {
			struct sym s = { .start = i < 90 ? i * 2 : i - 90, .name = names_add(&p, "abc", 3) };

			s.end = s.start + 1;
			if (s.name)
				table_add(&t, &s);
		}
		table_build(&t);
		for (uint32_t i = 1; i < t.n; i++)
			assert_true(t.v[i - 1].start < t.v[i].start);
		table_free(&t);
		names_free(&p);
		assert_int_equal(mem_live(), before);
		if (!mem_failed())
			break;
	}
	mem_fail_at(0);
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(an_address_finds_its_function_and_holes_find_none),
		cmocka_unit_test(a_function_inside_another_does_not_hide_the_rest_of_it),
		cmocka_unit_test(of_two_names_the_global_wins_over_local_over_weak),
		cmocka_unit_test(a_symbol_without_size_reaches_to_the_next_or_to_its_limit),
		cmocka_unit_test(a_label_inside_a_function_is_dropped),
		cmocka_unit_test(what_is_added_later_is_found_too_and_newer_wins),
		cmocka_unit_test(many_symbols_in_any_order_are_all_found),
		cmocka_unit_test(nesting_without_end_does_not_make_a_look_up_a_scan),
		cmocka_unit_test(names_cannot_command_a_terminal_and_are_bounded),
		cmocka_unit_test(a_failing_allocation_loses_names_but_nothing_else),
	};

	return cmocka_run_group_tests_name("symbol: table", tests, NULL, NULL);
}
