/* symbol_test_int.h: what tests of names share. */
#ifndef TALLY_SYMBOL_TEST_INT_H
#define TALLY_SYMBOL_TEST_INT_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "symbol/symbol_int.h"

static inline struct symbols *symbols_open(void)
{
	struct symbols *s = NULL;

	assert_int_equal(sym_open(&s), 0);
	return s;
}

static inline void assert_text(const struct sym_name *n, uint64_t addr, bool with_offset, const char *want)
{
	struct buf b = { 0 };

	sym_text(n, addr, with_offset, &b);
	assert_string_equal(b.p, want);
	buf_free(&b);
}

/* Code without a file: of a just-in-time compiler. */
static inline struct k_task task_anonymous(uint32_t pid, uint64_t addr)
{
	return (struct k_task){ .kind = K_TASK_MMAP, .pid = pid, .addr = addr, .len = 1 << 20, .path = "" };
}

#endif
