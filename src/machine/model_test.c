/* model_test.c: the clock of a model. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "base/range.h"
#include "machine/model.h"

static void what_a_model_tells_as_now_is_what_has_passed(void **state)
{
	static const char *const machines[] = { "niagara", "maramba", "batoka", "power" };

	(void)state;
	for (size_t i = 0; i < sizeof(machines) / sizeof(machines[0]); i++) {
		struct model *m = NULL;
		struct err e = { 0 };
		uint64_t last = 0, passed = 0;

		assert_int_equal(model_open(&m, &(struct model_opts){ .machine = machines[i] }, &e), 0);
		assert_int_equal(model_now(m), 0);
		for (int k = 0; k < 50; k++) {
			model_advance(m, 1234567);
			passed += 1234567;
			uint64_t now = model_now(m);
			assert_uint_in_range(now, last, passed);
			assert_true(passed - now < 10000000); /* POWER stands at the end of a whole window of 10 ms */
			last = now;
		}
		model_close(m);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(what_a_model_tells_as_now_is_what_has_passed),
	};

	return cmocka_run_group_tests_name("model", tests, NULL, NULL);
}
