/* tlp_test.c: every row of the tables is what tlp.h promises. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>
#include <cmocka.h>

#include "facts/tlp.h"

static void names_are_unique_and_rows_are_numbered_in_order(void **state)
{
	const struct tlp_type *t;

	(void)state;
	for (unsigned i = 0; (t = tlp_type_at(i)) != NULL; i++) {
		assert_int_equal(tlp_type_index(t), i);
		assert_true(strlen(t->name) > 0 && strlen(t->name) <= 12 && strlen(t->text) > 0);
		for (unsigned k = 0; k < i; k++)
			assert_string_not_equal(t->name, tlp_type_at(k)->name);
	}
	assert_string_equal(tlp_type_at(TLP_ROW_reserved)->name, "reserved");
	assert_null(tlp_type_at(TLP_ROW_reserved + 1));
}

/* The rule of a row, applied to every code there is. */
static unsigned row_by_search(unsigned fmt, unsigned type)
{
	const struct tlp_type *t;
	for (unsigned i = 0; (t = tlp_type_at(i)) != NULL; i++)
		if (t->fmt == fmt && t->type == (type & t->type_mask))
			return i;
	return TLP_ROW_reserved;
}

static void every_code_has_the_row_that_matches_it(void **state)
{
	(void)state;
	for (unsigned fmt = 0; fmt < 8; fmt++)
		for (unsigned type = 0; type < 32; type++)
			assert_int_equal(tlp_type_index(tlp_type_of(fmt, type)), row_by_search(fmt, type));
}

static void codes_out_of_range_are_reserved(void **state)
{
	(void)state;
	assert_string_equal(tlp_type_of(8, 0)->name, "reserved");
	assert_string_equal(tlp_type_of(0, 32)->name, "reserved");
	assert_string_equal(tlp_type_of(5, 0)->name, "reserved");
	assert_string_equal(tlp_type_of(0, 0x1f)->name, "reserved");
}

static void data_and_class_agree_with_fmt(void **state)
{
	const struct tlp_type *t;

	(void)state;
	for (unsigned i = 0; (t = tlp_type_at(i)) != NULL; i++) {
		assert_int_equal(t->type & ~t->type_mask, 0);
		assert_int_equal(t->cls == TLP_RESERVED, t->layout == TLP_UNKNOWN);
		assert_int_equal(t->cls == TLP_CPL, t->layout == TLP_COMPLETION);
		if (t->cls == TLP_RESERVED)
			continue;
		assert_int_equal(t->data, t->fmt >> 1);
		assert_int_equal(t->layout == TLP_MEM64 || t->layout == TLP_MSG, t->fmt & 1);
	}
}

static void a_deferrable_write_is_not_a_configuration_write(void **state)
{
	(void)state;
	assert_string_equal(tlp_type_of(2, 0x1b)->name, "DMWr32");
	assert_string_equal(tlp_type_of(3, 0x1b)->name, "DMWr64");
	assert_int_equal(tlp_type_of(2, 0x1b)->cls, TLP_NP);
}

static void messages_and_statuses_have_names_or_none(void **state)
{
	unsigned named = 0;

	(void)state;
	assert_string_equal(tlp_msg_name(0x33), "ERR_FATAL");
	assert_null(tlp_msg_name(0x32));
	assert_null(tlp_msg_name(0x100));
	for (unsigned code = 0; code < 256; code++)
		named += tlp_msg_name(code) != NULL;
	assert_int_equal(named, 34);
	assert_string_equal(tlp_status_name(0), "SC");
	assert_string_equal(tlp_status_name(4), "CA");
	assert_null(tlp_status_name(3));
	assert_null(tlp_status_name(8));
	assert_string_equal(tlp_msg_route(0), "to RC");
	assert_string_equal(tlp_msg_route(7), "reserved");
	assert_string_equal(tlp_msg_route(99), "reserved");
}

static void fields_are_dense_and_widest_first(void **state)
{
	(void)state;
	for (unsigned i = 0; i < tlp_nfields; i++) {
		const struct tlp_field *f = &tlp_fields[i];
		assert_false(f->is_signed);
		assert_true(strlen(f->help) > 0);
		if (i > 0)
			assert_int_equal(f->offset, f[-1].offset + f[-1].size);
		if (i > 0)
			assert_true(f->size <= f[-1].size);
	}
	assert_true(tlp_fields[tlp_nfields - 1].offset < sizeof(struct tlp));
	assert_string_equal(tlp_fields[0].name, "time");
	assert_string_equal(tlp_fields[0].ctype, "uint64_t");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(names_are_unique_and_rows_are_numbered_in_order),
		cmocka_unit_test(every_code_has_the_row_that_matches_it),
		cmocka_unit_test(codes_out_of_range_are_reserved),
		cmocka_unit_test(data_and_class_agree_with_fmt),
		cmocka_unit_test(a_deferrable_write_is_not_a_configuration_write),
		cmocka_unit_test(messages_and_statuses_have_names_or_none),
		cmocka_unit_test(fields_are_dense_and_widest_first),
	};
	return cmocka_run_group_tests_name("facts: tlp", tests, NULL, NULL);
}
