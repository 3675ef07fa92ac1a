/* test_int.h: what the tests of answer/ build values with. */
#ifndef TALLY_ANSWER_TEST_INT_H
#define TALLY_ANSWER_TEST_INT_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <cmocka.h>

#include "answer/answer_int.h"

#define STR(text)                                                     \
	{                                                             \
		.kind = SLOT_STRING, .s = (text), .len = sizeof(text) \
	}
#define BYTES(text)                                                      \
	{                                                                \
		.kind = SLOT_BYTES, .s = (text), .len = sizeof(text) - 1 \
	}
#define INT(v, bytes)                                                           \
	{                                                                       \
		.kind = SLOT_INT, .width = (bytes), .is_signed = true, .i = (v) \
	}
#define UINT(v, bytes)                                                \
	{                                                             \
		.kind = SLOT_INT, .width = (bytes), .i = (int64_t)(v) \
	}
#define SYM(k, text, address)                                                          \
	{                                                                              \
		.kind = (k), .s = (text), .len = sizeof(text), .i = (int64_t)(address) \
	}
#define STACK(k, frames, funcs)                                                           \
	{                                                                                 \
		.kind = (k), .frame = (frames), .nframes = COUNT(frames), .func = (funcs) \
	}

/* Takes the text out of a buffer and compares. */
static inline void assert_text_at(struct buf *b, const char *want, const char *file, int line)
{
	const char *got = b->p != NULL ? b->p : "";
	if (b->failed || strcmp(got, want) != 0) {
		print_error("got:\n%s<end>\nwanted:\n%s<end>\n", got, want);
		_fail(file, line);
	}
	buf_free(b);
}
#define assert_text(b, want) assert_text_at(b, want, __FILE__, __LINE__)

#endif
