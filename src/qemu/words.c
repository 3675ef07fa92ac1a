/* words.c: the words behind `-plugin file=tally-qemu.so,`: each a key, '=' and a value. */
#include <stdio.h>

#include "qemu/qemu_int.h"

int word_wrong(struct err *e, const char *key, const char *value, const char *what)
{
	return err_set(e, TALLY_EINVAL, "%s=%s: %s", key, value, what);
}

int word_key(const char *word, const char *const *names, size_t n, const char **value, struct err *e)
{
	const char *near, *equals = strchr(word, '=');
	char key[32];

	snprintf(key, sizeof(key), "%.*s", (int)strcspn(word, "="), word);
	for (size_t i = 0; equals && i < n; i++)
		if (!strcmp(key, names[i])) {
			*value = equals + 1;
			return (int)i;
		}
	near = text_nearest(key, TEXT_NAMES(names, n));
	return err_set(e, TALLY_EINVAL, "%s: unknown argument%s%s%s", word, near ? "; did you mean '" : "",
		       near ? near : "", near ? "='?" : "");
}
