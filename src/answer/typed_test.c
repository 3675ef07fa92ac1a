/*
 * Typed bytes: each kind of member, zeros that are left out, bytes that end before their type does.
 */
#include <stddef.h>

#include "answer/test_int.h"

#define AT "                                            "
static const struct shape t_int = { .kind = SHAPE_INT, .is_signed = true, .type = "int", .size = 4 },
			  t_char = { .kind = SHAPE_INT, .is_signed = true, .is_char = true, .type = "char", .size = 1 },
			  t_u64 = { .kind = SHAPE_INT, .type = "uint64_t", .size = 8 },
			  t_pointer = { .kind = SHAPE_POINTER, .type = "void *", .size = 8 },
			  t_double = { .kind = SHAPE_FLOAT, .type = "double", .size = 8 };
static const struct shape t_text = { .kind = SHAPE_ARRAY, .type = "char [4]", .size = 4, .n = 4, .of = &t_char },
			  t_ints = { .kind = SHAPE_ARRAY, .type = "int [2]", .size = 8, .n = 2, .of = &t_int };
static struct shape_name sides[] = { { "LEFT", 0 }, { "RIGHT", 5 } };
static const struct shape t_side = {
	.kind = SHAPE_ENUM, .is_signed = true, .type = "enum side", .size = 4, .n = 2, .name = sides
};

struct inner {
	uint64_t a, b;
};
struct outer {
	int number;
	char text[4];
	struct inner in;
	int list[2];
	void *pointer;
	double real;
	int side, flags;
};
static struct shape_member inner_members[] = { { "a", &t_u64, 0, 0, 0, 0 }, { "b", &t_u64, 8, 0, 0, 0 } };
static const struct shape t_inner = {
	.kind = SHAPE_STRUCT, .type = "struct", .size = 16, .n = 2, .member = inner_members
};
static struct shape_member outer_members[] = {
	{ "number", &t_int, offsetof(struct outer, number), 0, 0, 0 },
	{ "text", &t_text, offsetof(struct outer, text), 0, 0, 0 },
	{ "in", &t_inner, offsetof(struct outer, in), 0, 0, 0 },
	{ "list", &t_ints, offsetof(struct outer, list), 0, 0, 0 },
	{ "pointer", &t_pointer, offsetof(struct outer, pointer), 0, 0, 0 },
	{ "real", &t_double, offsetof(struct outer, real), 0, 0, 0 },
	{ "side", &t_side, offsetof(struct outer, side), 0, 0, 0 },
	{ "low", &t_int, offsetof(struct outer, flags), 0, 3, 4 },
	{ "high", &t_int, offsetof(struct outer, flags), 3, 4, 4 },
};
static const struct shape t_outer = { .kind = SHAPE_STRUCT,
				      .type = "struct outer",
				      .size = sizeof(struct outer),
				      .n = COUNT(outer_members),
				      .member = outer_members };

static void each_member_has_a_line_with_its_type(void **state)
{
	struct outer o = { -7, "ab", { 0, 9 }, { 0, 3 }, (void *)0x1234, 2.5, 5, 0x7f & ~8 };
	uint64_t pointer = 0xabc;
	struct buf b = { 0 };

	(void)state;
	an_print_typed(&b, &t_outer, &pointer, &o, sizeof(o));
	assert_text(&b, "0xabc = *\n" AT "(struct outer) {\n" AT " .number = (int)-7,\n" AT " .text = (char [4]) [\n" AT
			"  (char)'a',\n" AT "  (char)'b',\n" AT " ],\n" AT " .in = (struct) {\n" AT
			"  .b = (uint64_t)9,\n" AT " },\n" AT " .list = (int [2]) [\n" AT "  (int)0,\n" AT
			"  (int)3,\n" AT " ],\n" AT " .pointer = (void *)0x1234,\n" AT " .real = (double)2.5,\n" AT
			" .side = (enum side)RIGHT,\n" AT " .low = (int)-1,\n" AT " .high = (int)-2,\n" AT "}\n");
}

static void what_is_zero_is_left_out(void **state)
{
	struct outer o = { .text = { 0, 'x' }, .side = 7 };
	struct buf b = { 0 };

	(void)state;
	an_print_typed(&b, &t_outer, NULL, &o, sizeof(o));
	assert_text(&b, AT "(struct outer) {\n" AT " .text = (char [4]) [\n" AT " ],\n" AT " .side = (enum side)7,\n" AT
			   "}\n");
	o = (struct outer){ 0 };
	an_print_typed(&b, &t_outer, NULL, &o, sizeof(o));
	assert_text(&b, AT "(struct outer) {\n" AT "}\n");
}

static void bytes_that_end_early_are_told_by_dots(void **state)
{
	struct outer o = { 1, { 'a', 'b', 'c', 'd' }, { 2, 3 }, { 4, 5 }, NULL, 0, 0, 0 };
	struct buf b = { 0 };

	(void)state;
	an_print_typed(&b, &t_outer, NULL, &o, 16);
	assert_text(&b, AT "(struct outer) {\n" AT " .number = (int)1,\n" AT " .text = (char [4]) [\n" AT
			   "  (char)'a',\n" AT "  (char)'b',\n" AT "  (char)'c',\n" AT "  (char)'d',\n" AT " ],\n" AT
			   " .in = (struct) {\n" AT "  .a = (uint64_t)2,\n" AT "  ...\n" AT " },\n" AT "}\n");
	an_print_typed(&b, &t_outer, NULL, &o, 2);
	assert_text(&b, AT "(struct outer) {\n" AT " ...\n" AT "}\n");
	an_print_typed(&b, &t_outer, NULL, &o, 0);
	assert_text(&b, AT "...\n");
}

static void a_scalar_is_one_line(void **state)
{
	int64_t v = -3;
	struct buf b = { 0 };

	(void)state;
	an_print_typed(&b, &t_int, NULL, &v, sizeof(v));
	assert_text(&b, AT "(int)-3\n");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(each_member_has_a_line_with_its_type),
		cmocka_unit_test(what_is_zero_is_left_out),
		cmocka_unit_test(bytes_that_end_early_are_told_by_dots),
		cmocka_unit_test(a_scalar_is_one_line),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
