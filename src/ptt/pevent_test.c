/* pevent_test.c: records of perf.data of the least size that they may have. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <cmocka.h>

#include "base/base.h"
#include "ptt/pdata_int.h"

static void record_put(uint8_t *p, uint64_t v)
{
	for (int i = 0; i < 8; i++)
		p[i] = (uint8_t)(v >> 8 * i);
}

/* Events without ids at the ends of their records: an AUX record ends with its flags. */
static void an_aux_record_ends_with_its_flags(void **state)
{
	static const struct pdata_index none;
	struct pdata_aux is;

	(void)state;
	for (size_t n = 0; n <= 40; n++) {
		uint8_t *p = mem_alloc(n + 8); /* no byte is there behind the n */

		assert_non_null(p);
		for (size_t at = 8; at + 8 <= n; at += 8)
			record_put(p + 8 + at, 0x100 * at);
		is = (struct pdata_aux){ 0 };
		assert_int_equal(pdata_aux(&none, p + 8, n, &is), n >= 32);
		assert_int_equal(is.offset, n >= 32 ? 0x800 : 0);
		assert_int_equal(is.size, n >= 32 ? 0x1000 : 0);
		assert_int_equal(is.flags, n >= 32 ? 0x1800 : 0);
		assert_null(is.event);
		mem_free(p);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(an_aux_record_ends_with_its_flags),
	};

	return cmocka_run_group_tests_name("ptt: pevent", tests, NULL, NULL);
}
