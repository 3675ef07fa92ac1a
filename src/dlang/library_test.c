/*
 * library_test.c: which libraries are read for a program.
 */
#include "dlang/world_test_int.h"

/* Two libraries: the first is asked for by nobody, the second says what it is. */
static bool two_libraries(void *world, uint32_t i, struct d_library *ret)
{
	static const char good[] = "inline int NOBODY_ASKS = 1;", bad[] = "inline int x = ;";

	*ret = i == 0 ? (struct d_library){ .name = "good.d", .text = good, .n = sizeof(good) - 1 } :
			(struct d_library){ .name = "bad.d", .text = bad, .n = sizeof(bad) - 1 };
	ret->of_user = i == 1 && ((struct world *)world)->option[0] != '\0';
	return i < 2;
}

/* What is wrong with a library that was named for this run is told, whether the program uses it or not. */
static void a_library_of_the_user_is_read_unused(void **state)
{
	static const char text[] = "BEGIN { trace(1); }";

	(void)state;
	for (uint32_t i = 0; i < 4; i++) {
		struct world w;
		int rc;

		world_init(&w);
		w.env.dlibrary = two_libraries;
		w.env.own_libraries = i & 1;
		w.option[0] = i & 2 ? 'u' : '\0';
		rc = world_compile(&w, NULL, text, strlen(text));
		assert_int_equal(rc, i == 3 ? -TALLY_ESYNTAX : 0);
		if (i == 3)
			assert_non_null(strstr(w.e.text, "\"bad.d\", line 1: syntax error"));
		world_fini(&w);
	}
}

/* A library that ends with a word; the byte behind its text is a letter. */
static bool library_that_ends_with_a_word(void *world, uint32_t i, struct d_library *ret)
{
	static const char text[] = "inline int x = WANTEDS";

	(void)world;
	*ret = (struct d_library){ .name = "ends.d", .text = text, .n = sizeof(text) - 2 };
	return i == 0;
}

/* A library is read for a word that it has as a whole, also as its last one. */
static void the_last_word_of_a_library_is_one_of_it(void **state)
{
	static const struct {
		const char *text;
		bool is_read;
	} row[] = {
		{ "BEGIN { trace(WANTED); }", true },
		{ "BEGIN { trace(WANTEDS); }", false },
		{ "BEGIN { trace(WANTE); }", false },
		{ "BEGIN { trace(ANTED); }", false },
	};

	(void)state;
	for (size_t i = 0; i < COUNT(row); i++) {
		struct world w;

		world_init(&w);
		w.env.dlibrary = library_that_ends_with_a_word;
		assert_int_equal(world_compile(&w, NULL, row[i].text, strlen(row[i].text)), -TALLY_ESYNTAX);
		assert_int_equal(strstr(w.e.text, "\"ends.d\"") != NULL, row[i].is_read);
		world_fini(&w);
	}
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_library_of_the_user_is_read_unused),
		cmocka_unit_test(the_last_word_of_a_library_is_one_of_it),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
