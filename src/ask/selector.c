/*
 * selector.c: how registers, records and events are named.
 *
 * A selector is PROVIDER/NAME[,key[=value]...]/, with the last slash or without.  In a list a comma parts
 * selectors only behind a slash that ends one, as in perf.  What a name and its keys mean is the provider's; here
 * it is words.
 */
#include <stdio.h>
#include <string.h>
#include <strings.h>

#include "ask/ask_int.h"

static const struct {
	const char *name;
	enum sel_provider provider;
} providers[] = {
	{ "vfalls", SEL_VFALLS },
	{ "mmustat", SEL_MMUSTAT },
	{ "gpci", SEL_GPCI },
	{ "hv_gpci", SEL_HV_GPCI },
};

enum sel_provider sel_provider(const char *s)
{
	size_t n = strcspn(s, "/ ,=");

	for (size_t i = 0; i < COUNT(providers); i++)
		if (strlen(providers[i].name) == n && !memcmp(s, providers[i].name, n))
			return providers[i].provider;
	return SEL_OTHER;
}

size_t sel_length(const char *list)
{
	const char *slash = strchr(list, '/');
	const char *end = slash ? strchr(slash + 1, '/') : NULL;

	return end ? (size_t)(end - list) + 1 : strlen(list);
}

static int add_key(struct sel *s, char *word, struct err *e)
{
	char *value = strchr(word, '=');

	if (value)
		*value++ = '\0';
	if (!*word)
		return err_set(e, TALLY_EINVAL, "'%s': nothing after the last comma", s->text);
	if (sel_flag(s, word))
		return err_set(e, TALLY_EINVAL, "'%s': key %s is given twice", s->text, word);
	if (s->nkeys == SEL_KEYS)
		return err_set(e, TALLY_EINVAL, "'%s': more than %u keys", s->text, SEL_KEYS);
	s->key[s->nkeys].key = word;
	s->key[s->nkeys++].value = value;
	return 0;
}

int sel_parse(struct sel *ret, const char *text, size_t n, const char *asked, struct err *e)
{
	struct sel *s = ret;
	char *slash, *next;
	int rc = 0;

	*s = (struct sel){ .name = "" };
	if (n && text[n - 1] == '/' && memchr(text, '/', n - 1))
		n--;
	if (n > sizeof(s->room) - 2)
		return err_set(e, TALLY_EINVAL, "selector too long: '%.40s...'", text);
	snprintf(s->text, sizeof(s->text), "%.*s/", (int)n, text);
	memcpy(s->room, text, n);
	s->room[n] = '\0';
	s->provider = sel_provider(s->room);
	slash = strchr(s->room, '/');
	if (!slash || s->provider == SEL_OTHER) {
		if (s->provider != SEL_OTHER && s->provider != SEL_HV_GPCI && !strpbrk(s->room, " ,="))
			return err_set(e, TALLY_EINVAL,
				       "invalid selector '%s' (expected %s/NAME/); 'tally list %s%s' shows the names",
				       s->room, s->room, s->room, asked);
		if (slash && !strncmp(s->room, "hisi_ptt", 8))
			return err_set(e, TALLY_EINVAL,
				       "'%s' is a tunable and cannot be counted; 'tally get %s%s' reads it", s->room,
				       s->room, asked);
		return err_set(e, TALLY_EINVAL,
			       "invalid selector '%s' (expected vfalls/NAME,KEY=VALUE/, mmustat/NAME/ or gpci/NAME/)",
			       s->room);
	}
	s->name = slash + 1;
	next = strchr(slash, ',');
	if (next)
		*next++ = '\0';
	while (rc >= 0 && next) {
		char *word = next;

		next = strchr(word, ',');
		if (next)
			*next++ = '\0';
		rc = add_key(s, word, e);
	}
	return rc;
}

bool sel_flag(const struct sel *s, const char *key)
{
	for (uint32_t i = 0; i < s->nkeys; i++)
		if (!strcmp(s->key[i].key, key))
			return true;
	return false;
}

const char *sel_value(const struct sel *s, const char *key)
{
	for (uint32_t i = 0; i < s->nkeys; i++)
		if (!strcmp(s->key[i].key, key))
			return s->key[i].value ? s->key[i].value : "";
	return NULL;
}

int sel_number(const struct sel *s, const char *key, uint64_t most, uint64_t *ret, struct err *e)
{
	const char *value = sel_value(s, key);

	if (!value)
		return 0;
	if (!text_u64(value, ret) || *ret > most)
		return err_set(e, TALLY_EINVAL, "%s: invalid value %s=%s (expected a number up to %llu)", s->text, key,
			       value, (unsigned long long)most);
	return 1;
}

int sel_keys_are(const struct sel *s, const char *const *allowed, struct err *e)
{
	size_t n = 0;

	while (allowed[n])
		n++;
	for (uint32_t i = 0; i < s->nkeys; i++) {
		bool found = false;

		for (size_t k = 0; k < n; k++)
			found |= !strcmp(s->key[i].key, allowed[k]);
		if (!found)
			return err_set(e, TALLY_EINVAL, "%s: unknown key '%s'%s", s->text, s->key[i].key,
				       err_unknown(s->key[i].key, TEXT_NAMES(allowed, n), NULL).text);
	}
	return 0;
}
