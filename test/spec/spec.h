/*
 * spec.h: assertions written from a specification, without a look at what implements it.
 *
 * Each program in this directory holds one specification against tally's public interface.  Tables are typed in from
 * the specification, never read from tally.  An assertion is named by its place there and a sentence; no two have the
 * same name.
 */
#ifndef TEST_SPEC_H
#define TEST_SPEC_H

#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* One assertion: TAP's `ok` or `not ok`. where: section of the specification, or number of the decision. */
bool spec_says(bool holds, const char *where, const char *format, ...) __attribute__((format(printf, 3, 4)));
/* The same for two numbers that must be equal: when they are not, both are printed. */
bool spec_equal(uint64_t is, uint64_t must, const char *where, const char *format, ...)
	__attribute__((format(printf, 4, 5)));
/* What must work before anything can be asserted: ends the program. */
void spec_needs(bool works, const char *format, ...) __attribute__((format(printf, 2, 3)));
/* Prints `N passed, M failed`; the exit status. Fewer assertions than `least` are a failure, too. */
int spec_end(unsigned least);

/* Bytes of an answer, for tally_write_fn; NUL-terminated. */
struct spec_text {
	char *s;
	size_t n;
};
int spec_text_add(void *text, const char *s, size_t n);
void spec_text_free(struct spec_text *text);
/* The next line of JSON from *at on, or NULL; *at goes behind it, and the line's end becomes NUL. */
char *spec_line(char **at);
/* A member of a flat JSON object. Absent or another type: UINT64_MAX, and "". Not for two threads. */
uint64_t spec_number(const char *object, const char *key);
const char *spec_string(const char *object, const char *key);
bool spec_is(const char *object, const char *key, const char *value);

/* Big-endian, as guests of sun4v and the blocks of POWER are. */
uint64_t spec_get(const void *at, unsigned bytes);
void spec_put(void *at, unsigned bytes, uint64_t value);

#endif
