/* mem_left.h: TEST(name), a test that fails when it leaves memory behind. */
#ifndef TALLY_TEST_BASE_MEM_LEFT_H
#define TALLY_TEST_BASE_MEM_LEFT_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "base/base.h"

static inline int mem_is_left(void **state)
{
	(void)state;
	return mem_live() != 0;
}

#define TEST(name) cmocka_unit_test_teardown(name, mem_is_left)

#endif
