/* Tests of demangle.c. The truth: names as C++'s, Rust's and D's own documents spell them, and c++filt's words. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

#include <cmocka.h>

#include "symbol/symbol_int.h"

static void names_are_shown_as_people_write_them(void **state)
{
	static const struct {
		int line;
		const char *name, *on, *cut;
	} want[] = {
		{ __LINE__, "_ZN3foo3barEiPKc", "foo::bar(int, char const*)", "foo::bar" },
		{ __LINE__, "_Z3fooIiEvT_", "void foo<int>(int)", "foo<int>" },
		{ __LINE__, "_ZNSt6vectorIiSaIiEE9push_backERKi",
		  "std::vector<int, std::allocator<int> >::push_back(int const&)",
		  "std::vector<int, std::allocator<int> >::push_back" },
		/* a type of function that is a template argument keeps its return type */
		{ __LINE__, "_ZNSt8functionIFviEEC1Ev", "std::function<void (int)>::function()",
		  "std::function<void (int)>::function" },
		{ __LINE__, "_ZNK1AcvbEv", "A::operator bool() const", "A::operator bool" },
		{ __LINE__, "_Z1fi.isra.0", "f(int) [clone .isra.0]", "f" },
		{ __LINE__, "_ZThn8_N1A1fEv", "non-virtual thunk to A::f()", "non-virtual thunk to A::f()" },
		{ __LINE__, "_ZN4core3fmt5Write9write_fmt17h0123456789abcdefE", "core::fmt::Write::write_fmt",
		  "core::fmt::Write::write_fmt" },
		{ __LINE__, "_RNvCs1234_7mycrate3foo", "mycrate::foo", "mycrate::foo" },
		{ __LINE__, "_RINvNtC3std3mem8align_ofjE", "std::mem::align_of::<usize>",
		  "std::mem::align_of::<usize>" },
		{ __LINE__, "_D4main3fooFiZv", "main.foo(int)", "main.foo" },
		{ __LINE__, "_D3std5stdio__T7writelnTiZQlFNfiZv", "std.stdio.writeln!(int).writeln(int)",
		  "std.stdio.writeln!(int).writeln" },
		{ __LINE__, "_Dmain", "D main", "D main" },
	};
	char text[NAME_MOST];

	(void)state;
	for (size_t i = 0; i < COUNT(want); i++) {
		if (!name_demangle(SYM_DEMANGLE_ON, want[i].name, text, sizeof(text)) || strcmp(text, want[i].on) != 0)
			fail_msg("line %d: %s", want[i].line, text);
		if (name_demangle(SYM_DEMANGLE_SHORT, want[i].name, text, sizeof(text)) != strlen(want[i].cut) ||
		    strcmp(text, want[i].cut) != 0)
			fail_msg("line %d, short: %s", want[i].line, text);
		assert_int_equal(name_demangle(SYM_DEMANGLE_OFF, want[i].name, text, sizeof(text)), 0);
	}
}

static void names_of_c_and_go_and_broken_ones_stay(void **state)
{
	static const char *const names[] = { "",
					     "main",
					     "_",
					     "_Z",
					     "_Zfoo",
					     "_Reset",
					     "_RESET",
					     "_Done",
					     "_D",
					     "_ZN3foo",
					     "_start",
					     "main.main",
					     "_ZN3fooEE",
					     "_R",
					     "camlList__iter_507",
					     "$s4main3fooyyF" };
	char text[NAME_MOST];

	(void)state;
	for (size_t i = 0; i < COUNT(names); i++)
		if (name_demangle(SYM_DEMANGLE_ON, names[i], text, sizeof(text)))
			fail_msg("%s: %s", names[i], text);
}

/* head, n times part with the number in it, tail. */
static const char *repeated(char *to, const char *head, const char *part, unsigned n, const char *tail)
{
	char *at = to + sprintf(to, "%s", head);

	for (unsigned i = 0; i < n; i++)
		at += sprintf(at, "%s", part);
	sprintf(at, "%s", tail);
	return to;
}

/* Such a name would take longer than the universe has been there for. */
static void a_name_that_explodes_is_left_as_it_is(void **state)
{
	char name[NAME_MOST], text[NAME_MOST], *at = name;
	time_t start = time(NULL);

	(void)state;
	/* f(pair<int, int>, pair<first, first>, pair<second, second>, ...) */
	at += sprintf(at, "_Z1fSt4pairIiiES_IS0_S0_E");
	for (unsigned i = 1; i < 100; i++) {
		const char *digit = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZ";
		char id[3] = { i >= 36 ? digit[i / 36] : digit[i], i >= 36 ? digit[i % 36] : 0 };

		at += sprintf(at, "S_IS%s_S%s_E", id, id);
	}
	assert_int_equal(name_demangle(SYM_DEMANGLE_ON, name, text, sizeof(text)), 0);
	/* conversion operators, each of which is parsed twice */
	repeated(name, "_ZN1A", "cvT_I", 200, "iE");
	assert_int_equal(name_demangle(SYM_DEMANGLE_ON, name, text, sizeof(text)), 0);
	/* types of D: each refers to the one before twice */
	repeated(name, "_D4main1fFAAAAi", "HQgQi", 200, "Zv");
	assert_int_equal(name_demangle(SYM_DEMANGLE_ON, name, text, sizeof(text)), 0);
	/* tuples of Rust, which refer back to each other */
	repeated(name, "_RMC1aT", "TB4_B4_B4_E", 100, "E");
	name_demangle(SYM_DEMANGLE_ON, name, text, sizeof(text));
	/* depth alone */
	repeated(name, "_Z1f", "P", NAME_MOST - 10, "i");
	name_demangle(SYM_DEMANGLE_ON, name, text, sizeof(text));
	assert_true(time(NULL) - start < 60);
}

static void a_name_without_room_is_left_as_it_is(void **state)
{
	char text[sizeof("foo::bar(int)")];

	(void)state;
	assert_int_equal(name_demangle(SYM_DEMANGLE_ON, "_ZN3foo3barEi", text, sizeof(text)), sizeof(text) - 1);
	assert_int_equal(name_demangle(SYM_DEMANGLE_ON, "_ZN3foo3barEi", text, sizeof(text) - 1), 0);
	assert_int_equal(name_demangle(SYM_DEMANGLE_ON, "_RNvC9mycrate123foo", text, sizeof(text) - 2), 0);
	assert_int_equal(name_demangle(SYM_DEMANGLE_ON, "_D4main3fooFiZv", text, sizeof(text) - 1), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(names_are_shown_as_people_write_them),
		cmocka_unit_test(names_of_c_and_go_and_broken_ones_stay),
		cmocka_unit_test(a_name_that_explodes_is_left_as_it_is),
		cmocka_unit_test(a_name_without_room_is_left_as_it_is),
	};

	return cmocka_run_group_tests_name("symbol: demangle", tests, NULL, NULL);
}
