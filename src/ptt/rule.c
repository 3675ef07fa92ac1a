/*
 * rule.c: which events a PTT trace accepts, and which values a tunable accepts.
 *
 * An event is four numbers in one word, each at its place (the Linux driver's format files):
 *
 *	filter 19:0   direction 23:20   type 31:24   format 35:32
 *
 * Bit 19 of filter is set for root ports, whose bits are or'ed together, and clear for the one requester; the rest of
 * its meaning is in hisi_ptt.rst, "Trace".
 *
 * There are two profiles. Both first make the Linux driver's checks, in its order, so an event that both refuse is
 * refused for the same reason. Then come the checks that only the specification requires: refusals in `spec`,
 * warnings in `driver`. Both refuse misspelt events, and events that these four numbers cannot express (two
 * requesters, a root port with a requester).
 *
 * The text of an event has perf's syntax, and blanks are allowed around names and values, as in the specification's
 * own example. Nothing here allocates memory except for the caller's warning.
 */
#include <stdio.h>
#include <string.h>
#include <strings.h>

#include "ptt/rule.h"

#define FILTER_PORT 0x80000u /* the value is a mask of root ports, else a requester id */
#define FILTER_VALUE 0xffffu
#define FILTER_RESERVED (~(FILTER_PORT | FILTER_VALUE))
#define TYPES 7u /* P, NP, CPL */
#define TYPE_NP 2u
#define TYPE_CPL 4u
#define DIRECTIONS 4u
#define FORMAT_4DW 0u
#define FORMAT_8DW 1u
#define CONFIG_BITS 36 /* the four fields end here */
#define SHOWN 5u       /* names in a message */

/* ---- pieces of text --------------------------------------------------------------- */

/* p is NULL when there is none, not even an empty one */
struct slice {
	const char *p;
	size_t n;
};
#define SHOW(s) (int)((s).n < 40 ? (s).n : 40), (s).p

static bool rule_is_blank(char c)
{
	return c == ' ' || c == '\t' || c == '\n' || c == '\r';
}

static struct slice slice_trim(struct slice s)
{
	while (s.n && rule_is_blank(s.p[0]))
		s.p++, s.n--;
	while (s.n && rule_is_blank(s.p[s.n - 1]))
		s.n--;
	return s;
}

/* What comes before the first `at`, which goes; *rest is what comes behind, nothing when `at` is not in it. */
static struct slice slice_cut(struct slice *rest, char at)
{
	const char *found = rest->n ? memchr(rest->p, at, rest->n) : NULL;
	struct slice front = *rest;

	if (!found) {
		*rest = (struct slice){ 0 };
		return slice_trim(front);
	}
	front.n = (size_t)(found - front.p);
	*rest = (struct slice){ found + 1, rest->n - front.n - 1 };
	return slice_trim(front);
}

static bool slice_is(struct slice s, const char *word)
{
	return s.n == strlen(word) && !strncasecmp(s.p, word, s.n);
}

static bool slice_copy(struct slice s, char *to, size_t n)
{
	if (!s.n || s.n >= n)
		return false;
	memcpy(to, s.p, s.n);
	to[s.n] = 0;
	return true;
}

static bool slice_number(struct slice s, uint64_t *ret)
{
	char text[32];

	return slice_copy(s, text, sizeof(text)) && text_u64(text, ret);
}

/* A part of a message, cut where it would be too long. */
struct words {
	char p[256];
	size_t n;
};
static void PRINTF_LIKE(2, 3) words_printf(struct words *w, const char *fmt, ...)
{
	va_list ap;
	int n;

	va_start(ap, fmt);
	n = vsnprintf(w->p + w->n, sizeof(w->p) - w->n, fmt, ap);
	va_end(ap);
	w->n += n > 0 ? (size_t)n : 0;
	w->n = w->n < sizeof(w->p) ? w->n : sizeof(w->p) - 1;
}

static struct words did_you_mean(struct slice s, const char *const *name, size_t n)
{
	struct words w = { 0 };
	char word[64];

	if (slice_copy(s, word, sizeof(word)))
		words_printf(&w, "%s", err_near("", word, TEXT_NAMES(name, n)).text);
	return w;
}

/* ---- the device --------------------------------------------------------------------- */

static struct words device_names(const struct ptt_pmu *pmu, uint32_t n)
{
	struct words w = { 0 };

	for (uint32_t i = 0; i < n && i < SHOWN; i++)
		words_printf(&w, "%s%s", i ? ", " : "", pmu[i].name);
	if (n > SHOWN)
		words_printf(&w, " and %u more", n - SHOWN);
	return w;
}

static int no_device(struct slice name, const struct ptt_pmu *pmu, uint32_t n, struct err *e)
{
	const char *names[PTT_PMU_MOST];
	struct words all = device_names(pmu, n), near;
	uint32_t i;

	if (!n)
		return err_set(e, TALLY_EINVAL, "\"%.*s\": there is no PTT device", SHOW(name));
	for (i = 0; i < n && i < PTT_PMU_MOST; i++)
		names[i] = pmu[i].name;
	near = did_you_mean(name, names, i);
	return err_set(e, TALLY_EINVAL, "no PTT device \"%.*s\"%s (there %s %s)", SHOW(name), near.p,
		       n == 1 ? "is" : "are", all.p);
}

/* The one of that name, or the only one. */
static int device_find(struct slice name, const struct ptt_pmu *pmu, uint32_t n, const struct ptt_pmu **ret,
		       struct err *e)
{
	struct words all;

	if (!name.n && n == 1) {
		*ret = pmu;
		return 0;
	}
	if (!name.n && n) {
		all = device_names(pmu, n);
		return err_set(e, TALLY_EINVAL, "no device named: write %s/filter=.../, or another of %s", pmu[0].name,
			       all.p);
	}
	for (uint32_t i = 0; i < n; i++)
		if (slice_is(name, pmu[i].name)) {
			*ret = &pmu[i];
			return 0;
		}
	return no_device(name, pmu, n, e);
}

/* ---- terms ----------------------------------------------------------------------------- */

enum term { TERM_FILTER, TERM_DIRECTION, TERM_TYPE, TERM_FORMAT, TERM_CONFIG, TERMS };
static const char *const term_name[TERMS] = { "filter", "direction", "type", "format", "config" };
static const uint64_t term_most[TERMS] = { 0xfffff, 0xf, 0xff, 0xf, UINT64_MAX };

static int term_add(struct slice term, struct slice value[static TERMS], struct err *e)
{
	struct slice v = term, name = slice_cut(&v, '=');
	struct words near;

	for (uint32_t i = 0; i < TERMS; i++) {
		if (!slice_is(name, term_name[i]))
			continue;
		if (value[i].p)
			return err_set(e, TALLY_EINVAL, "%s is given twice%s", term_name[i],
				       i == TERM_FILTER ? "; several root ports are joined by +, requesters can't be" :
							  "");
		value[i] = slice_trim(v);
		if (!value[i].n)
			return err_set(e, TALLY_EINVAL, "%s requires a value: %s=NUMBER", term_name[i], term_name[i]);
		return 0;
	}
	if (!name.n)
		return err_set(e, TALLY_EINVAL, "nothing between two commas: an event is filter=...,type=...");
	near = did_you_mean(name, term_name, TERMS);
	return err_set(e, TALLY_EINVAL, "unknown term \"%.*s\"%s (filter, type, direction, format)", SHOW(name),
		       near.p);
}

static int terms_split(struct slice terms, struct slice value[static TERMS], struct err *e)
{
	int rc = 0;

	terms = slice_trim(terms);
	while (rc == 0 && terms.n) {
		struct slice rest = terms, term = slice_cut(&rest, ',');

		rc = term_add(term, value, e);
		if (rc == 0 && rest.p && !slice_trim(rest).n)
			rc = err_set(e, TALLY_EINVAL, "nothing after the last comma");
		terms = rest;
	}
	return rc;
}

static int too_large(enum term t, struct slice s, struct err *e)
{
	return err_set(e, TALLY_EINVAL, "%s=%.*s is out of range (0x%llx at most)", term_name[t], SHOW(s),
		       (unsigned long long)term_most[t]);
}

/* ---- filter: numbers and names ----------------------------------------------------------- */

/* of a PCI function */
struct place {
	uint32_t domain;
	bool any_domain;   /* it was left out */
	uint32_t function; /* bus 15:8, slot 7:3, function 2:0 */
};

static bool slice_take_hex(struct slice *s, size_t digits, uint32_t most, uint32_t *ret)
{
	uint32_t v = 0;
	size_t i;

	for (i = 0; i < s->n && i < digits; i++) {
		char c = s->p[i] | 32;

		if (!(c >= '0' && c <= '9') && !(c >= 'a' && c <= 'f'))
			break;
		v = v << 4 | (uint32_t)(c <= '9' ? c - '0' : c - 'a' + 10);
	}
	*ret = v;
	s->p += i;
	s->n -= i;
	return i && v <= most;
}

static bool slice_take_mark(struct slice *s, char c)
{
	if (!s->n || s->p[0] != c)
		return false;
	s->p++;
	s->n--;
	return true;
}

/* "0000:01:00.1" or "01:00.1" */
static bool place_parse(struct slice s, struct place *ret)
{
	uint32_t first, bus, slot, function;

	if (!slice_take_hex(&s, 8, UINT32_MAX, &first) || !slice_take_mark(&s, ':') ||
	    !slice_take_hex(&s, 2, 0xff, &slot))
		return false;
	bus = first;
	ret->any_domain = !slice_take_mark(&s, ':');
	ret->domain = ret->any_domain ? 0 : first;
	if (!ret->any_domain) {
		bus = slot;
		if (!slice_take_hex(&s, 2, 0x1f, &slot))
			return false;
	}
	if (!slice_take_mark(&s, '.') || !slice_take_hex(&s, 1, 7, &function) || s.n || bus > 0xff || slot > 0x1f)
		return false;
	ret->function = bus << 8 | slot << 3 | function;
	return true;
}

static bool same_place(const struct place *a, const char *name, uint32_t function_bits)
{
	struct place b;

	return place_parse((struct slice){ name, strnlen(name, sizeof(((struct ptt_filter *)0)->name)) }, &b) &&
	       (a->any_domain || a->domain == b.domain) &&
	       (a->function & ~function_bits) == (b.function & ~function_bits);
}

/* The filters that there are: root ports only, requesters only (0), or all. */
static struct words filters_there(const struct ptt_pmu *pmu, bool ports, bool requesters)
{
	struct words w = { 0 };
	uint32_t n = 0;

	for (uint32_t i = 0; i < pmu->nfilters; i++) {
		const struct ptt_filter *f = &pmu->filter[i];

		if (f->port ? !ports : !requesters)
			continue;
		if (n++ < SHOWN)
			words_printf(&w, "%s%s (0x%05x)", n == 1 ? "there are " : ", ", f->name, f->value);
	}
	if (n > SHOWN)
		words_printf(&w, " and %u more", n - SHOWN);
	if (!n)
		words_printf(&w, "it has none now");
	return w;
}

/* The value of a root port follows from its slot alone, so any function there names it; but what is listed by
 * that very name comes first. */
static int filter_named(const struct ptt_pmu *pmu, struct slice s, uint32_t *ret, struct err *e)
{
	struct place at;
	struct words there;

	if (!place_parse(s, &at))
		return err_set(e, TALLY_EINVAL, "invalid filter=%.*s (expected a number, or a name like 0000:01:00.0)",
			       SHOW(s));
	for (uint32_t function_bits = 0; function_bits <= 7; function_bits += 7)
		for (uint32_t i = 0; i < pmu->nfilters; i++) {
			const struct ptt_filter *f = &pmu->filter[i];

			if ((f->port || !function_bits) && same_place(&at, f->name, function_bits)) {
				*ret = f->value & (FILTER_PORT | FILTER_VALUE);
				return 0;
			}
		}
	there = filters_there(pmu, true, true);
	return err_set(e, TALLY_EINVAL, "filter=%.*s is not among the filters of %s: %s", SHOW(s), pmu->name, there.p);
}

static int filter_one(const struct ptt_pmu *pmu, struct slice s, uint32_t *ret, struct err *e)
{
	uint64_t v;

	if (!slice_number(s, &v))
		return filter_named(pmu, s, ret, e);
	if (v > term_most[TERM_FILTER])
		return too_large(TERM_FILTER, s, e);
	*ret = (uint32_t)v;
	return 0;
}

static int filter_value(const struct ptt_pmu *pmu, struct slice s, uint32_t *ret, struct err *e)
{
	uint32_t sum = 0, one = 0;
	int rc = 0;

	for (bool first = true; s.p && rc == 0; first = false) {
		rc = filter_one(pmu, slice_cut(&s, '+'), &one, e);
		if (rc < 0)
			break;
		if (!first && !(sum & FILTER_PORT) && !(one & FILTER_PORT))
			rc = err_set(e, TALLY_EINVAL,
				     "filter names two requesters: one trace takes one endpoint function");
		else if (!first && (sum ^ one) & FILTER_PORT)
			rc = err_set(e, TALLY_EINVAL,
				     "filter names a root port and a requester: one trace takes root ports, "
				     "or one endpoint function");
		sum |= one;
	}
	if (rc == 0)
		*ret = sum;
	return rc;
}

/* ---- direction, type, format: numbers and words --------------------------------------------- */

static const char *const direction_text[2][DIRECTIONS] = {
	{ "inbound (P, NP, CPL)", "outbound (P, NP, CPL)", "outbound (P, NP, CPL) and inbound (P, NP, CPL B)",
	  "outbound (P, NP, CPL) and inbound (CPL A)" },
	{ NULL, "outbound (P, NP, CPL)", "inbound (P, NP, CPL B)", "inbound (CPL A)" },
};
const char *ptt_direction_text(uint32_t format, uint32_t direction)
{
	return format < COUNT(direction_text) && direction < DIRECTIONS ? direction_text[format][direction] : NULL;
}

static const struct direction_word {
	const char *word;
	uint8_t format, value;
} direction_words[] = {
	{ "in", FORMAT_4DW, 0 },     { "out", FORMAT_4DW, 1 },    { "both", FORMAT_4DW, 2 },
	{ "both-b", FORMAT_4DW, 2 }, { "both-a", FORMAT_4DW, 3 }, { "out", FORMAT_8DW, 1 },
	{ "in", FORMAT_8DW, 2 },     { "in-b", FORMAT_8DW, 2 },   { "in-a", FORMAT_8DW, 3 },
};

static int direction_value(struct slice s, uint8_t format, uint64_t *ret, struct err *e)
{
	uint8_t table = format == FORMAT_8DW ? FORMAT_8DW : FORMAT_4DW;

	if (slice_number(s, ret))
		return *ret > term_most[TERM_DIRECTION] ? too_large(TERM_DIRECTION, s, e) : 0;
	for (size_t i = 0; i < COUNT(direction_words); i++)
		if (direction_words[i].format == table && slice_is(s, direction_words[i].word)) {
			*ret = direction_words[i].value;
			return 0;
		}
	if (table == FORMAT_8DW)
		return err_set(
			e, TALLY_EINVAL,
			"invalid direction=%.*s for format 8DW; expected 1 or out, 2 or in (P, NP, CPL B), 3 or in-a "
			"(CPL A)",
			SHOW(s));
	return err_set(e, TALLY_EINVAL,
		       "invalid direction=%.*s for format 4DW; expected 0 or in, 1 or out, 2 or both, 3 or both-a",
		       SHOW(s));
}

static int type_value(struct slice s, uint64_t *ret, struct err *e)
{
	static const char *const word[] = { "p", "np", "cpl" };
	const struct slice whole = s;
	struct slice one;
	uint32_t i;

	if (slice_number(s, ret))
		return *ret > term_most[TERM_TYPE] ? too_large(TERM_TYPE, s, e) : 0;
	for (*ret = 0; s.p; *ret |= 1u << i) {
		one = slice_cut(&s, '+');
		for (i = 0; i < COUNT(word) && !slice_is(one, word[i]); i++)
			;
		if (i == COUNT(word))
			return err_set(e, TALLY_EINVAL,
				       "type=%.*s: unknown type \"%.*s\"; expected p (1), np (2), cpl (4), joined by +",
				       SHOW(whole), SHOW(one));
	}
	return 0;
}

static int format_value(struct slice s, uint64_t *ret, struct err *e)
{
	if (slice_number(s, ret))
		return *ret > term_most[TERM_FORMAT] ? too_large(TERM_FORMAT, s, e) : 0;
	*ret = slice_is(s, "8dw") ? FORMAT_8DW : FORMAT_4DW;
	if (*ret == FORMAT_8DW || slice_is(s, "4dw"))
		return 0;
	return err_set(e, TALLY_EINVAL, "invalid format=%.*s (expected 0 or 4dw, 1 or 8dw)", SHOW(s));
}

/* ---- an event ------------------------------------------------------------------------------- */

static int config_value(const struct slice value[static TERMS], struct ptt_ask *a, struct err *e)
{
	uint64_t v;

	for (uint32_t i = 0; i < TERM_CONFIG; i++)
		if (value[i].p)
			return err_set(e, TALLY_EINVAL, "config holds all of an event already: leave it out, or %s",
				       term_name[i]);
	if (!slice_number(value[TERM_CONFIG], &v))
		return err_set(e, TALLY_EINVAL, "invalid config=%.*s (expected a 64-bit number)",
			       SHOW(value[TERM_CONFIG]));
	ptt_ask_of_config(a, v);
	return 0;
}

/* Direction last: what its words mean depends on the format. */
static int rule_check_values(const struct ptt_pmu *pmu, const struct slice value[static TERMS], struct ptt_ask *a,
			     struct err *e)
{
	uint64_t direction = 0, type = 0, format = 0;
	int rc;

	if (value[TERM_CONFIG].p)
		return config_value(value, a, e);
	if (!value[TERM_FILTER].p)
		return err_set(e, TALLY_EINVAL,
			       "filter is missing: filter=0x80001 (a root port) or filter=0000:01:00.0");
	if (!value[TERM_TYPE].p)
		return err_set(e, TALLY_EINVAL,
			       "type is missing: type=1 (posted), 2 (non-posted), 4 (completions) or a sum");
	rc = filter_value(pmu, value[TERM_FILTER], &a->filter, e);
	if (rc == 0)
		rc = type_value(value[TERM_TYPE], &type, e);
	if (rc == 0 && value[TERM_FORMAT].p)
		rc = format_value(value[TERM_FORMAT], &format, e);
	if (rc == 0 && value[TERM_DIRECTION].p)
		rc = direction_value(value[TERM_DIRECTION], (uint8_t)format, &direction, e);
	a->type = (uint8_t)type;
	a->format = (uint8_t)format;
	a->direction = (uint8_t)direction;
	a->config = ptt_ask_config(a);
	return rc;
}

/* perf's letters behind an event. Those that leave modes out the kernel refuses for a PMU that has none; the others say
 * how an event is scheduled, which the specification does not know. */
static int rule_check_modifiers(struct slice s, enum ptt_profile f, struct err *e)
{
	for (size_t i = 0; i < s.n; i++) {
		if (strchr("ukhGHI", s.p[i]) && s.p[i])
			return err_set(e, TALLY_EINVAL, "modifier \"%c\" does not apply: packets have no CPU mode",
				       s.p[i]);
		if (f == PTT_PROFILE_SPEC || !s.p[i] || !strchr("pPSDWe", s.p[i]))
			return err_set(e, TALLY_EINVAL, "\"%.*s\" after the event: a PTT event takes no modifier",
				       SHOW(s));
	}
	return 0;
}

/* DEVICE/TERMS/MODIFIERS, of which DEVICE/ and what follows the terms may be left out. */
int ptt_ask_parse(struct ptt_ask *ret, const char *text, const struct ptt_pmu *pmu, uint32_t npmus, enum ptt_profile f,
		  struct err *e)
{
	struct slice rest = { text, strlen(text) }, device = slice_cut(&rest, '/'), terms = device;
	struct slice value[TERMS] = { 0 };
	const struct ptt_pmu *at = NULL;
	struct ptt_ask a = { 0 };
	int rc;

	if (memchr(device.p, '=', device.n))
		device.n = 0;
	else
		terms = slice_cut(&rest, '/');
	rc = device_find(device, pmu, npmus, &at, e);
	if (rc == 0)
		rc = terms_split(terms, value, e);
	if (rc == 0)
		rc = rule_check_values(at, value, &a, e);
	if (rc == 0)
		rc = rule_check_modifiers(slice_trim(rest), f, e);
	if (rc < 0)
		return rc;
	memcpy(a.device, at->name, sizeof(a.device));
	*ret = a;
	return 0;
}

uint64_t ptt_ask_config(const struct ptt_ask *a)
{
	return (uint64_t)(a->filter & 0xfffff) | (uint64_t)(a->direction & 0xf) << 20 | (uint64_t)a->type << 24 |
	       (uint64_t)(a->format & 0xf) << 32 | a->config >> CONFIG_BITS << CONFIG_BITS;
}

void ptt_ask_of_config(struct ptt_ask *a, uint64_t config)
{
	a->config = config;
	a->filter = config & 0xfffff;
	a->direction = config >> 20 & 0xf;
	a->type = config >> 24 & 0xff;
	a->format = config >> 32 & 0xf;
}

uint8_t ptt_config_format(uint64_t config)
{
	struct ptt_ask a;

	ptt_ask_of_config(&a, config);
	return !(a.type & TYPES) || a.format > FORMAT_8DW ? 0 : a.format == FORMAT_8DW ? PTT_8DW : PTT_4DW;
}

/*
 * A device's read goes in and its completion out, a host's the other way (CPL A), and what is between devices in at one
 * port and out at the other, both ways (CPL B).  So of requests that go one way alone only those between devices can be
 * seen answered, and of completions only theirs have a request.  Direction 2 of 4DW lacks the completions of the host's
 * requests alone, and direction 3 those that come in to requests of devices: whose they are no direction tells.
 */
static const uint8_t direction_coverage[2][DIRECTIONS] = {
	{ PTT_COVERAGE_NO_COMPLETIONS | PTT_COVERAGE_NO_REQUESTS,
	  PTT_COVERAGE_NO_COMPLETIONS | PTT_COVERAGE_NO_REQUESTS, PTT_COVERAGE_DUPLICATES,
	  PTT_COVERAGE_NO_REQUESTS | PTT_COVERAGE_NO_PEERS },
	{ PTT_COVERAGE_NO_COMPLETIONS | PTT_COVERAGE_NO_REQUESTS,
	  PTT_COVERAGE_NO_COMPLETIONS | PTT_COVERAGE_NO_REQUESTS, PTT_COVERAGE_NO_COMPLETIONS,
	  PTT_COVERAGE_NO_COMPLETIONS | PTT_COVERAGE_NO_REQUESTS },
};

uint8_t ptt_config_coverage(uint64_t config, enum ptt_format f)
{
	struct ptt_ask a;

	ptt_ask_of_config(&a, config);
	if (ptt_config_format(config) != f || a.direction >= DIRECTIONS)
		return f == PTT_4DW ? PTT_COVERAGE_DUPLICATES : 0;
	return (uint8_t)(PTT_COVERAGE_KNOWN | direction_coverage[a.format][a.direction] |
			 (a.type & TYPE_CPL ? 0 : PTT_COVERAGE_NO_COMPLETIONS) |
			 (a.type & TYPE_NP ? 0 : PTT_COVERAGE_NO_REQUESTS));
}

void ptt_ask_text(const struct ptt_ask *a, struct buf *to)
{
	if (a->config >> CONFIG_BITS)
		buf_printf(to, "%s/config=0x%llx/", a->device, (unsigned long long)ptt_ask_config(a));
	else
		buf_printf(to, "%s/filter=0x%05x,type=%u,direction=%u,format=%u/", a->device, a->filter & 0xfffff,
			   a->type, a->direction, a->format);
}

uint32_t ptt_ask_ctrl(const struct ptt_ask *a)
{
	return (a->direction & 3u) << 2 | (a->type & TYPES) << 4 | (a->format == FORMAT_8DW) << 14 |
	       !(a->filter & FILTER_PORT) << 15 | (a->filter & FILTER_VALUE) << 16;
}

/* ---- what the Linux driver asks ---------------------------------------------------------------- */

static int port_check(const struct ptt_ask *a, const struct ptt_pmu *pmu, struct err *e)
{
	uint32_t ports = 0, unknown;
	struct words there;

	for (uint32_t i = 0; i < pmu->nfilters; i++)
		if (pmu->filter[i].port)
			ports |= pmu->filter[i].value & FILTER_VALUE;
	unknown = a->filter & FILTER_VALUE & ~ports;
	if (!unknown)
		return 0;
	there = filters_there(pmu, true, false);
	return err_set(e, TALLY_EINVAL, "filter=0x%05x: no root port of %s has 0x%04x of the mask: %s", a->filter,
		       pmu->name, unknown, there.p);
}

static int requester_check(const struct ptt_ask *a, const struct ptt_pmu *pmu, struct err *e)
{
	struct words there;

	for (uint32_t i = 0; i < pmu->nfilters; i++)
		if (!pmu->filter[i].port && pmu->filter[i].value == (a->filter & FILTER_VALUE))
			return 0;
	there = filters_there(pmu, false, true);
	return err_set(e, TALLY_EINVAL,
		       "filter=0x%05x: %s has no requester 0x%04x (a mask of root ports has bit 19 set): %s", a->filter,
		       pmu->name, a->filter & FILTER_VALUE, there.p);
}

static int driver_check(const struct ptt_ask *a, const struct ptt_pmu *pmu, struct err *e)
{
	int rc = a->filter & FILTER_PORT ? port_check(a, pmu, e) : requester_check(a, pmu, e);

	if (rc < 0)
		return rc;
	if (a->direction >= DIRECTIONS)
		return err_set(e, TALLY_EINVAL, "invalid direction=%u (expected 0, 1, 2 or 3)", a->direction);
	if (!a->type || a->type & ~TYPES)
		return err_set(e, TALLY_EINVAL,
			       "invalid type=%u; expected 1 (posted), 2 (non-posted), 4 (completions), or a sum",
			       a->type);
	if (a->format > FORMAT_8DW)
		return err_set(e, TALLY_EINVAL, "invalid format=%u; expected 0 (4DW) or 1 (8DW)", a->format);
	return 0;
}

/* ---- what only the specification asks ----------------------------------------------------------- */

static bool names_no_port(const struct ptt_ask *a)
{
	return a->filter & FILTER_PORT && !(a->filter & FILTER_VALUE);
}

static bool sets_reserved(const struct ptt_ask *a)
{
	return a->filter & FILTER_RESERVED;
}

static bool reserved_direction(const struct ptt_ask *a)
{
	return !ptt_direction_text(a->format, a->direction);
}

static bool several_outbound(const struct ptt_ask *a)
{
	return a->direction == 1 && a->type & (a->type - 1u);
}

static bool beyond_fields(const struct ptt_ask *a)
{
	return a->config >> CONFIG_BITS;
}

static const struct spec_rule {
	bool (*breaks)(const struct ptt_ask *a);
	const char *words;
} spec_rules[] = {
	{ names_no_port, "filter=0x80000 is a mask without a root port" },
	{ sets_reserved, "filter has bits 18:16 set, which are reserved" },
	{ reserved_direction, "direction=0, which is also the default, is reserved with format=1: "
			      "2 is inbound (P, NP, CPL B), 3 inbound (CPL A)" },
	{ several_outbound, "type has several types, and direction=1 (outbound) takes one" },
	{ beyond_fields, "config has bits from 36 up set, where no field is" },
};

static int spec_check(const struct ptt_ask *a, enum ptt_profile f, struct err *e, struct buf *warning)
{
	bool warned = false;

	for (size_t i = 0; i < COUNT(spec_rules); i++) {
		if (!spec_rules[i].breaks(a))
			continue;
		if (f == PTT_PROFILE_SPEC)
			return err_set(e, TALLY_EINVAL, "%s (hisi_ptt.rst)", spec_rules[i].words);
		if (warning)
			buf_printf(warning, "%s%s",
				   warned ? "; " : "hisi_ptt.rst does not allow this event: ", spec_rules[i].words);
		warned = true;
	}
	return warning && warning->failed ? err_oom(e) : 0;
}

int ptt_ask_check(const struct ptt_ask *a, const struct ptt_pmu *pmu, enum ptt_profile f, struct err *e,
		  struct buf *warning)
{
	int rc = driver_check(a, pmu, e);

	if (warning)
		buf_clear(warning);
	return rc < 0 ? rc : spec_check(a, f, e, warning);
}

/* ---- tunables, and the ring ------------------------------------------------------------------------ */

/* Decimal digits as the kernel takes them, one + before; what is too large stops at 65536. */
static bool slice_decimal(struct slice s, uint32_t *ret)
{
	uint32_t v = 0;

	if (s.n > 1 && s.p[0] == '+')
		s.p++, s.n--;
	for (size_t i = 0; i < s.n; i++) {
		if (s.p[i] < '0' || s.p[i] > '9')
			return false;
		v = v * 10 + (uint32_t)(s.p[i] - '0');
		v = v < 65536 ? v : 65536;
	}
	*ret = v;
	return s.n;
}

/* As the kernel's numbers are written: a line's end may be behind it, and no other blank around it. */
int ptt_tune_parse(const char *text, enum ptt_profile f, uint32_t *ret, struct err *e)
{
	struct slice s = { text, strlen(text) };
	uint32_t v;

	if (s.n && s.p[s.n - 1] == '\n')
		s.n--;
	if (!slice_trim(s).n)
		return err_set(e, TALLY_EINVAL, "no value given (expected 0, 1 or 2)");
	if (rule_is_blank(s.p[0]) || rule_is_blank(s.p[s.n - 1]))
		return err_set(e, TALLY_EINVAL, "invalid value \"%.*s\" with a blank (expected 0, 1 or 2)", SHOW(s));
	if (s.p[0] == '-')
		return err_set(e, TALLY_EINVAL, "%.*s is negative (expected 0, 1 or 2)", SHOW(s));
	if (!slice_decimal(s, &v))
		return err_set(e, TALLY_EINVAL, "invalid value \"%.*s\" (expected 0, 1 or 2)", SHOW(s));
	if (v > 65535 && f == PTT_PROFILE_DRIVER)
		return err_set(e, TALLY_EINVAL, "%.*s: the driver takes no more than 65535", SHOW(s));
	*ret = v < 65535 ? v : 65535;
	return 0;
}

/* Later rows first: of two names equally near to a misspelt one ("qos_tx_dp") it is the later that is meant. */
static size_t tune_names(const char *name[static 2 * PTT_TUNES])
{
	size_t n = 0;

	for (uint32_t i = PTT_TUNES; i-- > 0;)
		name[n++] = ptt_tunables[i].name;
	for (uint32_t i = 0; i < PTT_TUNES; i++)
		if (*ptt_tunables[i].alias)
			name[n++] = ptt_tunables[i].alias;
	return n;
}

int ptt_tune_find(const char *name, enum ptt_tune *ret, struct err *e)
{
	const struct slice s = { name, strlen(name) };
	const char *names[2 * PTT_TUNES];
	struct words near, all = { 0 };

	for (uint32_t i = 0; s.n && i < PTT_TUNES; i++)
		if (slice_is(s, ptt_tunables[i].name) || slice_is(s, ptt_tunables[i].alias)) {
			*ret = (enum ptt_tune)i;
			return 0;
		}
	near = did_you_mean(s, names, tune_names(names));
	for (uint32_t i = 0; !near.n && i < PTT_TUNES; i++)
		words_printf(&all, "%s%s", i ? ", " : ": there are ", ptt_tunables[i].name);
	return err_set(e, TALLY_EINVAL, "no tunable \"%.*s\"%s%s", SHOW(s), near.p, all.p);
}

#define RING_DEFAULT (16u << 20)
#define RING_MOST (1ull << 36) /* far above any memory a trace is worth */

/* perf's sizes: a number and a unit; without one they are bytes, and not pages as perf has it. Its -m alone is for
 * the other ring, so ",16M" is what its users write. */
static bool ring_bytes(struct slice s, uint64_t *ret)
{
	static const char units[] = "bkmg";
	const char *unit;
	uint64_t v;

	if (s.n && s.p[0] == ',')
		s.p++, s.n--;
	if (!s.n || s.p[0] < '0' || s.p[0] > '9')
		return false;
	unit = strchr(units, s.p[s.n - 1] | 32);
	if (!unit || !*unit)
		unit = units;
	else
		s.n--;
	return slice_number(s, &v) && !__builtin_mul_overflow(v, 1ull << 10 * (unit - units), ret);
}

int ptt_ring_parse(const char *text, enum ptt_profile f, size_t *ret, struct err *e)
{
	const uint64_t least = f == PTT_PROFILE_DRIVER ? PTT_BUFFERS * (uint64_t)PTT_BUFFER_BYTES : PTT_BUFFER_BYTES;
	struct slice s = text ? slice_trim((struct slice){ text, strlen(text) }) : (struct slice){ 0 };
	uint64_t bytes = RING_DEFAULT;

	if (s.p && !ring_bytes(s, &bytes))
		return err_set(e, TALLY_EINVAL,
			       "invalid size -m %.*s (expected bytes, or a number and K, M or G, e.g. 16M)", SHOW(s));
	if (bytes < least)
		return err_set(e, TALLY_EINVAL, "-m %.*s is too small%s: %s", SHOW(s),
			       s.p[s.n - 1] <= '9' ? " (these are bytes, not pages)" : "",
			       f == PTT_PROFILE_DRIVER ? "the driver requires 16M (its four buffers) or more" :
							 "a ring holds at least one buffer, 4M");
	if (bytes & (bytes - 1) || bytes > RING_MOST)
		return err_set(e, TALLY_EINVAL, "-m %.*s is not a power of two up to 64G (e.g. 16M, 32M, 64M)",
			       SHOW(s));
	*ret = bytes;
	return 0;
}
