/* history_test_int.h: a past of one program that counts by one key, for tests. */
#ifndef TALLY_SERVE_HISTORY_TEST_INT_H
#define TALLY_SERVE_HISTORY_TEST_INT_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "serve/history_int.h"

#define SECOND 1000000000ull
#define KEYS_MOST 10000u

static inline struct history *open_history(uint64_t seconds, size_t bytes, uint32_t keys)
{
	const struct history_opts o = {
		.span_ns = seconds * SECOND, .bytes = bytes, .keys = keys, .text_bytes = 1 << 20
	};
	struct history *h;

	assert_int_equal(history_open(&h, &o), 0);
	return h;
}

static const char *const key_names[] = { "execname" };
static const struct tally_aggregation counted = {
	.name = "n", .function = "count", .key = key_names, .nkeys = 1, .comment = ""
};

/* A step in which `n` keys, from `first` on (k0, k1, ...), have these values; a value of 0: there is no row. */
static inline int take_keys(struct history *h, uint64_t second, uint32_t first, const int64_t *value, uint32_t n)
{
	static struct an_row row[KEYS_MOST];
	static struct an_value key[KEYS_MOST];
	static char text[KEYS_MOST][16];
	struct an_agg a = { .name = "n", .fn = AGG_COUNT, .row = row };
	const struct history_facts f = { "p", "p.d", "running", "", 1 };
	int rc;

	assert_true(n <= KEYS_MOST);
	for (uint32_t i = 0; i < n; i++) {
		if (!value[i])
			continue;
		snprintf(text[i], sizeof(text[i]), "k%u", first + i);
		key[i] = (struct an_value){ .kind = SLOT_STRING, .s = text[i], .len = (uint32_t)strlen(text[i]) };
		row[a.nrows++] = (struct an_row){ .key = &key[i], .nkeys = 1, .sum = value[i] };
	}
	history_begin(h, second * SECOND);
	rc = history_program(h, &f);
	if (rc == 1)
		rc = history_define(h, &counted);
	if (rc >= 0) {
		history_drop(h, "firings", 9);
		history_drop(h, "stack", second);
		rc = history_take(h, 0, &a);
	}
	rc = history_end(h) < 0 ? -TALLY_ENOMEM : rc;
	return rc;
}

static inline int take_step(struct history *h, uint64_t second, const int64_t *value, uint32_t n)
{
	return take_keys(h, second, 0, value, n);
}

#endif
