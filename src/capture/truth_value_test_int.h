/* truth_value_test_int.h: the values of a line of JSON, for truth_test.c and cut_test.c. */
#ifndef TALLY_CAPTURE_TRUTH_VALUE_TEST_INT_H
#define TALLY_CAPTURE_TRUTH_VALUE_TEST_INT_H

#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

static bool key_at(const char *p, const char *key)
{
	size_t n = strlen(key);

	return strncmp(p, key, n) == 0 && p[n] == '"' && p[n + 1] == ':';
}

/* Where the value of a key begins; NULL: there is none. */
static const char *value_of(const char *line, const char *key)
{
	const char *end = strchr(line, '\n');

	for (const char *p = line; p < end; p++)
		if (*p == '"' && key_at(p + 1, key))
			return p + strlen(key) + 3;
	return NULL;
}

static bool text_is(const char *line, const char *key, const char *text)
{
	const char *p = value_of(line, key);

	return p && *p == '"' && strncmp(p + 1, text, strlen(text)) == 0 && p[1 + strlen(text)] == '"';
}

static uint64_t number_of(const char *line, const char *key)
{
	const char *p = value_of(line, key);

	return p ? strtoull(p, NULL, 10) : 0;
}

/* Whether the list of that name has the key. */
static bool list_has(const char *line, const char *list, const char *key)
{
	const char *p = value_of(line, list), *end = p ? strchr(p, ']') : NULL;
	const size_t n = strlen(key);

	for (; p < end; p++)
		if (*p == '"' && strncmp(p + 1, key, n) == 0 && p[n + 1] == '"')
			return true;
	return false;
}

#endif
