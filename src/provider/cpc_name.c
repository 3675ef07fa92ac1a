/*
 * cpc_name.c: the name of a cpc probe, taken apart.
 *
 *	EVENT-MODE[-MASK|-attr_value...]-COUNT        dtrace_cpc.txt, "Probe Format"
 *
 * The name is split at every '-', so an event holds none (perf's cpu-clock is
 * cpu_clock).  MODE is user, kernel or all.  MASK is hexadecimal with 0x; an
 * attribute is name_value, split at its last '_' (Solaris 11).  COUNT is
 * decimal: events per firing, or, with "hz" behind it, firings per second.
 *
 * One pure function: no machine, no files, no memory.  Every refusal says which
 * part is wrong and how it would be right.
 */
#include <ctype.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>

#include "facts/event.h"
#include "provider/provider_int.h"

/* Counts that a listing offers. */
#define CLOCK_COUNT 10000000  /* ns: a busy CPU fires a hundred times a second */
#define COUNTER_COUNT 1000000 /* events: cycles fire some thousand times a second, rare events a few times */

struct fields {
	char text[CPC_NAME]; /* the name, cut into strings */
	const char *at[CPC_NAME];
	uint32_t n;
};

static int name_split_fields(const char *name, struct fields *f, struct err *why)
{
	size_t len = strnlen(name, CPC_NAME);
	char *next = f->text, *p;

	if (len == CPC_NAME)
		return err_set(why, TALLY_EINVAL, "the name is longer than %d characters", CPC_NAME - 1);
	memcpy(f->text, name, len + 1);
	f->n = 0;
	while ((p = strsep(&next, "-"))) {
		if (!*p)
			return err_set(why, TALLY_EINVAL, "\"%s\" has an empty part; write EVENT-MODE-COUNT", name);
		f->at[f->n++] = p;
	}
	return 0;
}

/* The count that an event is offered with, `least` or more. Software events are rare, so theirs is the smallest. */
uint64_t cpc_usual_count(const char *name, uint64_t least)
{
	const struct event *ev = event_find(name), *real = ev ? event_real(ev) : NULL;
	uint64_t usual = !real || real->kind != EVENT_SW ? COUNTER_COUNT :
			 real->flags & EVENT_CLOCK       ? CLOCK_COUNT :
							   CPC_DEFAULT_MIN;

	return usual > least ? usual : least;
}

/* ---- mode -------------------------------------------------------------------- */

static const char *const modes[] = { [CPC_USER] = "user", [CPC_KERNEL] = "kernel", [CPC_ALL] = "all" };

static bool mode_of(const char *s, uint8_t *ret)
{
	for (size_t i = 0; i < COUNT(modes); i++)
		if (!strcmp(modes[i], s)) {
			*ret = (uint8_t)i;
			return true;
		}
	return false;
}

/* The first k fields as one event's name: lower case, joined with sep. */
static void name_join_fields(const struct fields *f, uint32_t k, char sep, char *to)
{
	char *p = to;

	for (uint32_t i = 0; i < k; i++) {
		for (const char *s = f->at[i]; *s; s++)
			*p++ = sep == '_' ? (char)tolower((unsigned char)*s) : *s;
		*p++ = sep;
	}
	p[-1] = 0;
}

/* How many fields the event takes that was written with '-', as perf does; 0 when that is not what
 * happened. */
static uint32_t name_dashed_fields(const struct fields *f)
{
	char name[CPC_NAME];
	uint8_t mode;

	for (uint32_t k = f->n; k > 1; k--) {
		name_join_fields(f, k, '_', name);
		if (event_find(name))
			return k;
	}
	for (uint32_t k = 2; k < f->n; k++)
		if (mode_of(f->at[k], &mode))
			return k;
	return 0;
}

/* An event of our tables for one that is not in them; the same when none is near: the machine may have it. */
static const char *known_near(const char *name)
{
	const struct event *ev;
	const char *all[256], *near;
	uint32_t n = 0;

	while (n < COUNT(all) && (ev = event_at(n)) != NULL)
		all[n++] = ev->name;
	near = text_nearest(name, TEXT_NAMES(all, n));
	return near ? near : name;
}

static bool is_number(const char *s)
{
	return s[strspn(s, "0123456789")] == 0;
}

static int no_mode(const struct fields *f, struct err *why)
{
	char written[CPC_NAME], ours[CPC_NAME], low[CPC_NAME];
	const char *near;
	uint32_t k = name_dashed_fields(f);
	uint8_t mode;

	if (k) {
		name_join_fields(f, k, '-', written);
		name_join_fields(f, k, '_', ours);
		return err_set(why, TALLY_EINVAL, "no event \"%s\"; did you mean %s?", written,
			       event_find(ours) ? ours : known_near(ours));
	}
	near = event_find(f->at[0]) ? f->at[0] : "cpu_clock";
	if (f->n == 1)
		return err_set(why, TALLY_EINVAL,
			       "\"%s\" has no mode and count; write EVENT-MODE-COUNT, e.g. %s-all-%llu", f->at[0], near,
			       (unsigned long long)cpc_usual_count(near, 0));
	if (f->n == 2 && is_number(f->at[1]))
		return err_set(why, TALLY_EINVAL,
			       "no mode (user, kernel or all) before count %s; did you mean %s-all-%s?", f->at[1],
			       f->at[0], f->at[1]);
	snprintf(low, sizeof(low), "%s", f->at[1]);
	for (char *p = low; *p; p++)
		*p = (char)tolower((unsigned char)*p);
	if (mode_of(low, &mode))
		return err_set(why, TALLY_EINVAL, "mode \"%s\" is not user, kernel or all; did you mean %s?", f->at[1],
			       low);
	return err_set(why, TALLY_EINVAL, "mode \"%s\" is not user, kernel or all%s", f->at[1],
		       err_near("", low, TEXT_NAMES(modes, COUNT(modes))).text);
}

/* ---- count ------------------------------------------------------------------------ */

static int parse_count(const char *s, struct cpc_spec *ret, struct err *why)
{
	char digits[CPC_NAME] = "";
	size_t n = strspn(s, "0123456789");
	bool hz = !strcasecmp(s + n, "hz");
	uint64_t v;

	if (!n || (s[n] && !hz))
		return err_set(why, TALLY_EINVAL, "count \"%s\" is not a decimal number (or a rate: 99hz)", s);
	memcpy(digits, s, n);
	if (!text_u64(digits, &v))
		return err_set(why, TALLY_EINVAL, "count %s does not fit in 64 bits", s);
	if (!v)
		return err_set(why, TALLY_EINVAL, "count %s would never fire", s);
	*(hz ? &ret->freq : &ret->count) = v;
	return 0;
}

/* ---- mask and attributes ------------------------------------------------------------- */

static int put_attr(struct cpc_spec *ret, const char *name, size_t len, uint64_t value, struct err *why)
{
	struct cpc_attr *a = &ret->attr[ret->nattrs];

	if (!len || len >= sizeof(a->name))
		return err_set(why, TALLY_EINVAL, "attribute name of %zu characters", len);
	if (len == 7 && !memcmp(name, "precise", len)) {
		if (value > 3 || ret->has_precise)
			return err_set(why, TALLY_EINVAL, "precise_%llu: %s", (unsigned long long)value,
				       value > 3 ? "0 to 3 is possible" : "given twice");
		ret->has_precise = true;
		ret->precise = (uint8_t)value;
		return 0;
	}
	for (uint32_t i = 0; i < ret->nattrs; i++)
		if (strlen(ret->attr[i].name) == len && !memcmp(ret->attr[i].name, name, len))
			return err_set(why, TALLY_EINVAL, "%s is given twice", ret->attr[i].name);
	if (ret->nattrs == CPC_ATTRS)
		return err_set(why, TALLY_EINVAL, "more than %d attributes", CPC_ATTRS);
	memcpy(a->name, name, len);
	a->name[len] = 0;
	a->value = value;
	ret->nattrs++;
	return 0;
}

/* nouser and sys of cpustat(1M): with the mode they would say the same thing twice, or two things.
 */
static bool is_mode_attr(const char *s)
{
	size_t n = strcspn(s, "_");

	return (n == 6 && !memcmp(s, "nouser", n)) || (n == 3 && !memcmp(s, "sys", n));
}

static int parse_attr(const char *s, struct cpc_spec *ret, struct err *why)
{
	const char *low = strrchr(s, '_');
	uint64_t value;

	if (s[0] == '0' && (s[1] == 'x' || s[1] == 'X')) {
		if (!text_u64(s, &value))
			return err_set(why, TALLY_EINVAL, "mask \"%s\" is not a hexadecimal number of 64 bits", s);
		return put_attr(ret, "umask", 5, value, why);
	}
	if (is_mode_attr(s))
		return err_set(why, TALLY_EINVAL, "attribute %s is not supported: the mode (user, kernel, all) sets it",
			       s);
	if (!low && is_number(s))
		return err_set(why, TALLY_EINVAL, "\"%s\" is neither a mask (0x%s) nor an attribute (name_value)", s,
			       s);
	if (!low)
		return err_set(why, TALLY_EINVAL, "attribute \"%s\" has no value; did you mean %s_1?", s, s);
	if (!text_u64(low + 1, &value))
		return err_set(why, TALLY_EINVAL, "attribute \"%s\": \"%s\" is not a number", s, low + 1);
	return put_attr(ret, s, (size_t)(low - s), value, why);
}

int cpc_parse(const char *name, struct cpc_spec *ret, struct err *why)
{
	struct cpc_spec spec = { 0 };
	struct fields f;
	int rc = name_split_fields(name, &f, why);

	if (rc < 0)
		return rc;
	if (f.n < 2 || !mode_of(f.at[1], &spec.mode))
		return no_mode(&f, why);
	if (f.n == 2)
		return err_set(why, TALLY_EINVAL, "no count; did you mean %s-%llu?", name,
			       (unsigned long long)cpc_usual_count(f.at[0], 0));
	strcpy(spec.event, f.at[0]);
	rc = parse_count(f.at[f.n - 1], &spec, why);
	for (uint32_t i = 2; i < f.n - 1 && rc >= 0; i++)
		rc = parse_attr(f.at[i], &spec, why);
	if (rc >= 0)
		*ret = spec;
	return rc;
}
