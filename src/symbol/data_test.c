/* Tests of data.c: no processes; addresses and times are small numbers. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "symbol/symbol_int.h"

static const char heap[] = "[heap]", anon[] = "[anon]", file[] = "x.bin";

static void stretch_put(struct data *d, uint64_t *count, uint64_t time, uint64_t start, uint64_t end, const char *what)
{
	data_put(d, count,
		 &(struct stretch){ .start = start, .end = end, .from_ns = time, .since_ns = time, .what = what });
}

/* The word of an address in the generation from `from` until `until`; NULL: none. */
static const char *word_of(const struct data *d, uint64_t addr, uint64_t from, uint64_t until)
{
	struct stretch is;

	return data_seen(d, addr, from, until, &is) ? is.what : NULL;
}

static void an_address_has_the_only_word_that_it_had_in_its_generation(void **state)
{
	struct data d = { .known = true };
	uint64_t count = 0;

	(void)state;
	stretch_put(&d, &count, 10, 100, 200, anon);
	stretch_put(&d, &count, 20, 150, 300, file);
	stretch_put(&d, &count, 30, 180, 190, NULL);
	assert_null(word_of(&d, 99, 5, 100));
	assert_ptr_equal(word_of(&d, 100, 5, 100), anon);
	assert_null(word_of(&d, 100, 5, 10)); /* it came later */
	assert_ptr_equal(word_of(&d, 150, 5, 20), anon);
	assert_null(word_of(&d, 150, 5, 21));
	assert_null(word_of(&d, 150, 19, 100));
	assert_ptr_equal(word_of(&d, 150, 20, 100), file);
	assert_ptr_equal(word_of(&d, 185, 20, 100), file);
	assert_null(word_of(&d, 185, 30, 100)); /* it went */
	assert_ptr_equal(word_of(&d, 190, 30, 100), file);
	assert_null(word_of(&d, 300, 30, 100));
	data_free(&d, &count);
	assert_int_equal(count, 0);
}

static void a_heap_that_shrinks_has_no_word_where_it_was(void **state)
{
	struct stretch h = { .start = 100, .end = 300, .from_ns = 10, .since_ns = 10, .what = heap };
	struct data d = { .known = true };
	uint64_t count = 0;

	(void)state;
	data_heap(&d, &count, &h);
	stretch_put(&d, &count, 15, 300, 400, file);
	h.end = 200;
	h.from_ns = h.since_ns = 20;
	data_heap(&d, &count, &h);
	assert_ptr_equal(word_of(&d, 199, 20, 30), heap);
	assert_null(word_of(&d, 200, 20, 30));
	assert_ptr_equal(word_of(&d, 250, 12, 20), heap);
	assert_ptr_equal(word_of(&d, 300, 20, 30), file);
	data_free(&d, &count);
}

static void a_place_in_a_file_is_told_unless_there_were_several(void **state)
{
	struct stretch f = { .start = 100, .end = 200, .from_ns = 10, .since_ns = 10, .what = file, .shift = 900 }, is;
	struct data d = { .known = true };
	uint64_t count = 0;

	(void)state;
	data_put(&d, &count, &f);
	data_move(&d, &count, &(struct moving){ .at = 100, .len = 100, .to = 500, .to_len = 100 }, 20);
	assert_true(data_seen(&d, 530, 20, 30, &is));
	assert_int_equal(530 + is.shift, 100 + 900 + 30);
	assert_null(word_of(&d, 130, 20, 30));
	f.start = 500;
	f.end = 600;
	f.from_ns = f.since_ns = 25;
	f.shift = 7;
	data_put(&d, &count, &f);
	assert_true(data_seen(&d, 530, 20, 30, &is));
	assert_true(is.moved);
	assert_true(data_seen(&d, 530, 26, 30, &is));
	assert_false(is.moved);
	assert_int_equal(is.shift, 7);
	data_free(&d, &count);
}

/* What mremap() makes longer or shorter as it moves it: the last of it is as long as is said, the rest as it was. */
static void memory_that_grows_or_shrinks_as_it_moves_has_its_words(void **state)
{
	static const struct {
		int line;
		uint64_t to_len, addr;
		const char *what;
	} row[] = {
		{ __LINE__, 300, 499, NULL }, { __LINE__, 300, 500, anon }, { __LINE__, 300, 549, anon },
		{ __LINE__, 300, 550, file }, { __LINE__, 300, 599, file }, { __LINE__, 300, 600, file },
		{ __LINE__, 300, 799, file }, { __LINE__, 300, 800, NULL }, { __LINE__, 100, 599, file },
		{ __LINE__, 100, 600, NULL }, { __LINE__, 70, 549, anon },  { __LINE__, 70, 569, file },
		{ __LINE__, 70, 570, NULL },  { __LINE__, 50, 549, anon },  { __LINE__, 50, 550, NULL },
		{ __LINE__, 300, 150, NULL }, { __LINE__, 70, 190, NULL },
	};

	(void)state;
	for (size_t i = 0; i < COUNT(row); i++) {
		struct data d = { .known = true };
		uint64_t count = 0;

		stretch_put(&d, &count, 10, 100, 150, anon);
		stretch_put(&d, &count, 10, 150, 200, file);
		data_move(&d, &count, &(struct moving){ .at = 100, .len = 100, .to = 500, .to_len = row[i].to_len },
			  20);
		if (word_of(&d, row[i].addr, 20, 30) != row[i].what)
			fail_msg("line %d, %u of %u", row[i].line, (unsigned)row[i].addr, (unsigned)row[i].to_len);
		data_free(&d, &count);
		assert_int_equal(count, 0);
	}
}

/* ---- against what was there ------------------------------------------------------------------ */

enum { PAGES = 24, TIMES = 150, PROCESSES = 1000, QUESTIONS = 40 };

struct truth {
	const char *at[TIMES + 1][PAGES];
	bool hidden[PAGES]; /* nobody told that it is there */
	uint32_t seed;
	bool strays;
};

static uint32_t truth_pick(struct truth *t, uint32_t below)
{
	t->seed = t->seed * 1103515245 + 12345;
	return (t->seed >> 16) % below;
}

static void truth_set(struct truth *t, uint32_t time, uint32_t start, uint32_t end, const char *what, bool hidden)
{
	for (uint32_t i = start; i < end; i++) {
		t->at[time][i] = what;
		t->hidden[i] = hidden && what;
	}
}

/* A look is one pass over all, as /proc has it. */
static void truth_look(struct truth *t, uint32_t time, struct data *d, uint64_t *count)
{
	for (uint32_t i = 0, end; i < PAGES; i = end) {
		for (end = i + 1; end < PAGES && t->at[time][end] == t->at[time][i]; end++)
			;
		if (t->at[time][i])
			data_put(d, count,
				 &(struct stretch){ .start = i,
						    .end = end,
						    .from_ns = time,
						    .since_ns = time,
						    .looked_ns = time,
						    .what = t->at[time][i] });
	}
	data_looked(d, time);
	memset(t->hidden, 0, sizeof(t->hidden));
}

/* All of it is one mapping, which was told of or not, as `hidden` says of its first page. */
static bool truth_is_one(const struct truth *t, uint32_t time, uint32_t start, uint32_t end)
{
	for (uint32_t i = start; i < end; i++)
		if (t->at[time][i] != t->at[time][start] || t->hidden[i] != t->hidden[start])
			return false;
	return t->at[time][start];
}

static bool truth_is_free(const struct truth *t, uint32_t time, uint32_t start, uint32_t end)
{
	for (uint32_t i = start; i < end; i++)
		if (t->at[time][i])
			return false;
	return true;
}

static void truth_step(struct truth *t, uint32_t time, struct data *d, uint64_t *count)
{
	static const char *const words[] = { "a", "b", "c" };
	const char *what = words[truth_pick(t, COUNT(words))];
	uint32_t start = truth_pick(t, PAGES), end = start + 1 + truth_pick(t, PAGES - start),
		 to = truth_pick(t, PAGES), len = end - start;
	const uint32_t kind = truth_pick(t, 10);
	bool over = false;

	memcpy(t->at[time], t->at[time - 1], sizeof(t->at[time]));
	for (uint32_t i = start; i < end; i++)
		over |= t->hidden[i];
	if (kind < 4 && !over) {
		truth_set(t, time, start, end, what, false);
		stretch_put(d, count, time, start, end, what);
	} else if (kind < 7) {
		truth_set(t, time, start, end, NULL, false);
		stretch_put(d, count, time, start, end, NULL);
	} else if (kind < 9 && (to || t->strays) && to + len <= PAGES && truth_is_one(t, time, start, end) &&
		   truth_is_free(t, time, to, to + len)) {
		const bool stray = (t->strays && kind == 8) || !to; /* 0 is "nobody says where" */
		const bool hidden = t->hidden[start] || stray;

		what = t->at[time][start];
		truth_set(t, time, start, end, NULL, false);
		truth_set(t, time, to, to + len, what, hidden);
		data_move(d, count,
			  &(struct moving){ .at = start, .len = len, .to = stray ? 0 : to, .to_len = len + stray },
			  time);
	} else if (kind == 9 && !truth_pick(t, 4)) {
		truth_look(t, time, d, count);
	}
}

static void truth_ask(struct truth *t, const struct data *d, uint32_t *named, uint32_t *due)
{
	const uint32_t addr = truth_pick(t, PAGES), from = 1 + truth_pick(t, TIMES - 1),
		       until = from + 1 + truth_pick(t, TIMES - from);
	const char *only = NULL, *got = word_of(d, addr, from, until);
	bool many = false;

	for (uint32_t time = from; time < until; time++) {
		const char *is = t->at[time][addr];

		many |= only && is && is != only;
		only = is ? is : only;
	}
	if (got && (many || (only && only != got)))
		fail_msg("page %u from %u until %u: %s, not %s", addr, from, until, got, only);
	if (many || !only)
		return;
	++*due;
	*named += got != NULL;
}

static void what_is_said_was_there_and_nothing_else_whatever_happens(void **state)
{
	struct truth *t = mem_alloc(sizeof(*t));
	uint32_t named[2] = { 0 }, due[2] = { 0 };
	uint64_t count = 0;

	(void)state;
	for (uint32_t p = 1; p <= PROCESSES; p++) {
		struct data d = { .known = true };

		memset(t, 0, sizeof(*t));
		t->seed = p;
		t->strays = p % 2;
		for (uint32_t time = 1; time <= TIMES; time++)
			truth_step(t, time, &d, &count);
		for (uint32_t q = 0; q < QUESTIONS; q++)
			truth_ask(t, &d, &named[p % 2], &due[p % 2]);
		data_free(&d, &count);
		assert_int_equal(count, 0);
	}
	/* of those that could be named; with memory that nobody says the place of, fewer */
	assert_true(due[0] > 1000 && named[0] > due[0] / 20 * 17);
	assert_true(due[1] > 1000 && named[1] > due[1] / 10 * 7);
	mem_free(t);
}

/* ---- limits ------------------------------------------------------------------------------- */

static void memory_that_comes_and_goes_for_ever_stays_few_and_keeps_its_word(void **state)
{
	struct data d = { .known = true };
	uint64_t count = 0, time = 1;

	(void)state;
	for (uint32_t i = 0; i < 1000000; i++) {
		const uint64_t at = 1000 + i % 777 * 8;

		stretch_put(&d, &count, ++time, at, at + 8 * (1 + i % 5), anon);
		stretch_put(&d, &count, ++time, at, at + 8 * (1 + i % 3), NULL);
		assert_true(count < 3000);
	}
	assert_ptr_equal(word_of(&d, 2000, 1, UINT64_MAX), anon);
	data_free(&d, &count);
	assert_int_equal(count, 0);
}

static void too_many_words_are_forgotten_and_none_is_wrong(void **state)
{
	static const char words[1000][4];
	struct data d = { .known = true };
	uint64_t count = 0, time = 1;

	(void)state;
	stretch_put(&d, &count, ++time, 10, 20, heap);
	for (uint32_t i = 0; i < 1000; i++)
		stretch_put(&d, &count, ++time, 100, 200, words[i]);
	assert_true(count <= 300);
	assert_null(word_of(&d, 150, 3, UINT64_MAX));
	assert_ptr_equal(word_of(&d, 150, time, UINT64_MAX), words[999]);
	assert_ptr_equal(word_of(&d, 15, 3, UINT64_MAX), heap); /* ever since */
	for (uint64_t at = 1000; at < 1000000; at += 2)
		stretch_put(&d, &count, ++time, at, at + 1, words[at % 1000]);
	assert_int_equal(count, 0);
	assert_null(word_of(&d, 15, 3, UINT64_MAX));
	assert_false(data_may_be_found(&d, 15, 0));
	data_free(&d, &count);
}

static void a_fork_has_what_its_parent_had_and_each_its_own_from_then_on(void **state)
{
	struct data parent = { .known = true }, child = { 0 };
	uint64_t count = 0;

	(void)state;
	stretch_put(&parent, &count, 1, 100, 200, anon);
	data_fork(&child, &parent);
	assert_int_equal(count, 1);
	stretch_put(&parent, &count, 2, 100, 200, file);
	stretch_put(&child, &count, 3, 150, 200, NULL);
	assert_ptr_equal(word_of(&parent, 160, 3, 9), file);
	assert_ptr_equal(word_of(&child, 110, 3, 9), anon);
	assert_null(word_of(&child, 160, 3, 9));
	data_free(&parent, &count);
	data_free(&child, &count);
	assert_int_equal(count, 0);
}

static void without_memory_there_is_no_word_and_nothing_is_lost(void **state)
{
	(void)state;
	for (long n = 1;; n++) {
		struct data d = { .known = true };
		long before = mem_live();
		uint64_t count = 0;
		bool failed;

		mem_fail_at(n);
		stretch_put(&d, &count, 1, 100, 200, anon);
		stretch_put(&d, &count, 2, 150, 160, file);
		stretch_put(&d, &count, 3, 150, 160, NULL);
		failed = mem_failed();
		mem_fail_at(0);
		assert_true(word_of(&d, 155, 2, 3) == file || (failed && !word_of(&d, 155, 2, 3)));
		data_free(&d, &count);
		assert_int_equal(count, 0);
		assert_int_equal(mem_live(), before);
		if (!failed)
			break;
	}
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(an_address_has_the_only_word_that_it_had_in_its_generation),
		cmocka_unit_test(a_heap_that_shrinks_has_no_word_where_it_was),
		cmocka_unit_test(a_place_in_a_file_is_told_unless_there_were_several),
		cmocka_unit_test(memory_that_grows_or_shrinks_as_it_moves_has_its_words),
		cmocka_unit_test(what_is_said_was_there_and_nothing_else_whatever_happens),
		cmocka_unit_test(memory_that_comes_and_goes_for_ever_stays_few_and_keeps_its_word),
		cmocka_unit_test(too_many_words_are_forgotten_and_none_is_wrong),
		cmocka_unit_test(a_fork_has_what_its_parent_had_and_each_its_own_from_then_on),
		cmocka_unit_test(without_memory_there_is_no_word_and_nothing_is_lost),
	};

	return cmocka_run_group_tests_name("symbol: data", tests, NULL, NULL);
}
