/*
 * range.h: assert_uint_in_range() of cmocka 2, for cmocka 1 as well.
 *
 * cmocka 1 has the same assertion as assert_in_range() only, which cmocka 2 deprecates. Both compare as uintmax_t: a
 * negative value is greater than every bound.
 */
#ifndef TALLY_TEST_BASE_RANGE_H
#define TALLY_TEST_BASE_RANGE_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#ifndef assert_uint_in_range
#define assert_uint_in_range(value, minimum, maximum) assert_in_range(value, minimum, maximum)
#endif

#endif
