/*
 * cpc_count.c: CPU events as counting tools write them.
 *
 *	NAME[:u|:k]                     cycles:u  page-faults  L1-dcache-load-misses  PAPI_l2_dcm  r01c7:k
 *	NAME:MASK[:u|:k]                L2_RQSTS:0x23, or a mask by libpfm4's name
 *	PMU/TERM[=VALUE],.../[u|k]      cpu/event=0x3c,umask=1/u  power/energy-pkg/
 *	NAME-MODE[-MASK|-attr_value...] as a probe has it, without its count
 *	cpc/NAME[,MODE][,MASK|,attr=value...]/   the same as a selector
 *
 * All but the third come to the same cpc_spec that a probe's name comes to, and what that means on this machine
 * cpc_event() says.  A PMU's terms may be of any PMU, also of one that is no CPU's.
 */
#include <ctype.h>
#include <stdio.h>
#include <string.h>

#include "facts/event.h"
#include "provider/provider_int.h"

#define TEXT 256 /* an event as written */

/* ---- modes --------------------------------------------------------------------------------------------- */

/* "u", "k" or both in any order; false: another letter. */
static bool count_parse_modes(const char *s, uint8_t *mode)
{
	bool u = strchr(s, 'u'), k = strchr(s, 'k');

	if (!*s || s[strspn(s, "uk")])
		return false;
	*mode = u && k ? CPC_ALL : u ? CPC_USER : CPC_KERNEL;
	return true;
}

/* Takes ":u" off the end. */
static bool take_modes(char *s, uint8_t *mode)
{
	char *colon = strrchr(s, ':');

	if (!colon || !count_parse_modes(colon + 1, mode))
		return false;
	*colon = '\0';
	return true;
}

/* ---- names ----------------------------------------------------------------------------------------------- */

/* perf's spelling as ours: "page-faults" is page_faults. */
static void count_our_spelling(char *to, const char *s)
{
	for (; *s; s++)
		*to++ = *s == '-' ? '_' : (char)tolower((unsigned char)*s);
	*to = '\0';
}

/* A mask by number goes with the name; one by name stays in it, which libpfm4 understands. */
static int take_mask(char *s, struct cpc_spec *spec, struct err *why)
{
	char *colon = strrchr(s, ':');

	if (!colon || strncmp(colon + 1, "0x", 2))
		return 0;
	strcpy(spec->attr[0].name, "umask");
	if (!text_u64(colon + 1, &spec->attr[0].value))
		return err_set(why, TALLY_EINVAL, "mask \"%s\" is not a hexadecimal number of 64 bits", colon + 1);
	spec->nattrs = 1;
	*colon = '\0';
	return 0;
}

/* A probe's name, but for its count. */
static bool of_probe(const char *s, struct cpc_spec *spec)
{
	char name[TEXT + 4];
	struct err e = { 0 };

	snprintf(name, sizeof(name), "%s-1", s);
	return strchr(s, '-') && cpc_parse(name, spec, &e) >= 0;
}

/* "page-faults:x": an event of ours has no masks, so what stands behind it was meant as a modifier. */
static int no_modifier(const char *s, struct err *why)
{
	const char *colon = strrchr(s, ':');
	char event[CPC_NAME] = "", name[CPC_NAME];
	uint8_t mode;

	if (!colon || !strncmp(colon + 1, "0x", 2))
		return 0;
	memcpy(event, s, (size_t)(colon - s));
	count_our_spelling(name, event);
	if (!event_find(name))
		return 0;
	if (!colon[1])
		return err_set(why, TALLY_EINVAL,
			       "no modifier after the colon of %s (expected u for user mode or k for the kernel)", s);
	if (count_parse_modes(colon + 1, &mode))
		return err_set(why, TALLY_EINVAL, "%s has two modifiers; both modes are %s:uk", event, event);
	return err_set(why, TALLY_EINVAL,
		       "unknown modifier \"%s\" of %s (expected u for user mode or k for the kernel)", colon + 1,
		       event);
}

static int of_name(char *s, struct cpc_spec *spec, bool *all_modes, struct err *why)
{
	char name[CPC_NAME];
	uint8_t mode = CPC_ALL;

	if (of_probe(s, spec)) {
		*all_modes = spec->mode == CPC_ALL;
		return 0;
	}
	*spec = (struct cpc_spec){ .count = 1 };
	*all_modes = !take_modes(s, &mode);
	spec->mode = mode;
	if (take_mask(s, spec, why) < 0 || no_modifier(s, why) < 0)
		return -TALLY_EINVAL;
	strcpy(spec->written, s);
	count_our_spelling(name, s);
	strcpy(spec->event, event_find(name) || strchr(s, '-') ? name : s);
	return 0;
}

static bool is_mode(const char *s)
{
	size_t n = strcspn(s, "-");

	return (n == 4 && !memcmp(s, "user", n)) || (n == 6 && !memcmp(s, "kernel", n)) ||
	       (n == 3 && !memcmp(s, "all", n));
}

/* "cpc/NAME,user,0x3/" is "NAME-user-0x3", and without a mode "NAME-all-0x3". */
static int of_selector(const char *s, struct cpc_spec *spec, bool *all_modes, struct err *why)
{
	char text[TEXT], probe[TEXT + 16], *rest;
	int rc;

	snprintf(text, sizeof(text), "%s", s);
	text[strcspn(text, "/")] = '\0';
	for (char *c = text; *c; c++)
		*c = *c == ',' ? '-' : *c == '=' ? '_' : *c;
	rest = strchr(text, '-');
	if (rest)
		*rest++ = '\0';
	snprintf(probe, sizeof(probe), "%s%s%s%s-1", text, rest && is_mode(rest) ? "" : "-all", rest ? "-" : "",
		 rest ? rest : "");
	rc = cpc_parse(probe, spec, why);
	*all_modes = rc >= 0 && spec->mode == CPC_ALL;
	return rc;
}

/* ---- PMUs -------------------------------------------------------------------------------------------------- */

static int no_pmu(const char *name, const struct k_pmu *pmu, uint32_t n, struct err *why)
{
	const char **names = mem_alloc(n * sizeof(*names));

	for (uint32_t i = 0; names && i < n; i++)
		names[i] = pmu[i].name;
	err_set(why, TALLY_EINVAL, "this machine has no PMU \"%s\"%s", name,
		err_near("", name, TEXT_NAMES(names, names ? n : 0)).text);
	mem_free(names);
	return -TALLY_EINVAL;
}

/* The unit is that of the PMU's own event among the terms. */
static void unit_of(struct probes *t, const struct k_pmu *pmu, const char *terms, struct prov_count *ret)
{
	char unit[32] = "", term[128];
	double scale = 1;

	while (*terms && !*unit) {
		size_t n = strcspn(terms, ",");

		snprintf(term, sizeof(term), "%.*s", (int)n, terms);
		k_pmu_unit(t->opts.sysfs, pmu, term, unit, &scale);
		terms += n + (terms[n] == ',');
	}
	if (*unit) {
		ret->unit = arena_strdup(&t->arena, unit);
		ret->scale = scale;
	}
}

static int count_encode_event(struct probes *t, const struct k_pmu *pmu, const char *terms, struct prov_count *ret,
			      struct err *why)
{
	struct k_event *ev = arena_alloc(&t->arena, sizeof(*ev));
	int rc = ev ? k_pmu_encode(t->opts.sysfs, pmu, terms, ev, why) : err_oom(why);

	if (rc < 0)
		return rc;
	unit_of(t, pmu, terms, ret);
	ret->ev = ev;
	ret->n = 1;
	ret->source = arena_printf(&t->arena, "%s/%s/", pmu->name, terms);
	return 0;
}

static int count_parse_pmu(struct probes *t, char *s, struct prov_count *ret, uint8_t *mode, struct err *why)
{
	char *terms = strchr(s, '/'), *end;
	struct k_pmu *pmu = NULL;
	struct err e = { 0 };
	uint32_t n = 0, i = 0;
	int rc;

	*terms++ = '\0';
	end = strchr(terms, '/');
	if (end)
		*end++ = '\0';
	ret->all_modes = !end || !*end;
	if (!ret->all_modes && !count_parse_modes(*end == ':' ? end + 1 : end, mode))
		return err_set(why, TALLY_EINVAL, "unknown modifier '%s' after the slash (expected u or k)", end);
	if (k_pmus(t->opts.sysfs, &pmu, &n, &e) == -TALLY_ENOMEM)
		return err_oom(why);
	while (i < n && strcmp(pmu[i].name, s))
		i++;
	rc = i < n ? count_encode_event(t, &pmu[i], terms, ret, why) : no_pmu(s, pmu, n, why);
	mem_free(pmu);
	return rc;
}

/* ---- both ---------------------------------------------------------------------------------------------------- */

static int of_spec(struct probes *t, const struct cpc_spec *spec, struct prov_count *ret, struct err *why)
{
	struct cpc_found f = { 0 };
	int rc = cpc_event(t, spec, &f, why);

	if (rc < 0)
		return rc;
	ret->ev = f.ev;
	ret->n = f.n;
	ret->source = f.source;
	return 0;
}

static void set_mode(struct prov_count *ret, uint8_t mode)
{
	struct k_event *ev = (struct k_event *)ret->ev; /* of the arena, made just now */

	for (uint32_t i = 0; i < ret->n; i++) {
		ev[i].exclude_user = mode == CPC_KERNEL;
		ev[i].exclude_kernel = mode == CPC_USER;
		ret->clock |= event_is_clock(ev[i].type, ev[i].config);
	}
}

/* Whether the event of that name happens in the kernel alone. */
static bool in_kernel(const char *name)
{
	const struct event *ev = event_find(name), *real = ev ? event_real(ev) : NULL;

	return real && (real->flags & EVENT_NEVER) == EVENT_NEVER_USER;
}

static int count_parse(struct probes *t, char *s, struct prov_count *ret, struct err *why)
{
	struct cpc_spec spec = { .mode = CPC_ALL };
	bool selector = !strncmp(s, "cpc/", 4);
	int rc;

	if (strchr(s, '/') && !selector) {
		rc = count_parse_pmu(t, s, ret, &spec.mode, why);
	} else {
		rc = selector ? of_selector(s + 4, &spec, &ret->all_modes, why) :
				of_name(s, &spec, &ret->all_modes, why);
		if (rc >= 0)
			rc = of_spec(t, &spec, ret, why);
		ret->in_kernel = in_kernel(spec.event);
	}
	if (rc < 0)
		return rc;
	set_mode(ret, spec.mode);
	if (ret->clock && spec.mode != CPC_ALL)
		return err_set(why, TALLY_ENOTSUP,
			       "the kernel counts a clock's time in all modes together: leave out the modes");
	return 0;
}

int prov_count(struct probes *t, const char *text, size_t n, struct prov_count *ret, struct err *why)
{
	char s[TEXT];
	int rc;

	*ret = (struct prov_count){ .name = arena_strndup(&t->arena, text, n), .scale = 1 };
	if (!ret->name)
		return err_oom(why);
	if (!n || n >= sizeof(s) || (!memchr(text, '/', n) && n >= CPC_NAME))
		return err_set(why, TALLY_EINVAL, n ? "\"%.40s...\" is too long for an event" : "an event is missing",
			       text);
	memcpy(s, text, n);
	s[n] = '\0';
	rc = count_parse(t, s, ret, why);
	return rc < 0 ? rc : ret->source ? 0 : err_oom(why);
}

int prov_counter(struct probes *t, const char *text, struct prov_count *ret, struct err *why)
{
	const int rc = prov_count(t, text, strlen(text), ret, why);

	if (rc < 0 || ret->ev->counter || ret->ev->type == EVENT_TYPE_SW)
		return rc;
	return err_set(why, TALLY_ENOTSUP, "\"%s\" is counted for several CPUs together, not for each one", text);
}
