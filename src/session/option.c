/*
 * option.c: the options of -x and #pragma D option.
 *
 * The options are rows of option.def; this file reads values. A later setting replaces an earlier one, so a pragma,
 * which is read when the program compiles, overrides -x, as in dtrace(1). The first words of each refusal are
 * dtrace(1)'s, which scripts compare; the reason follows.
 */
#include <string.h>
#include <strings.h>

#include "session/session_int.h"

enum opt_type { OT_SIZE, OT_TIME, OT_NUMBER, OT_FLAG, OT_TEXT, OT_WORDS, OT_INERT, OT_REFUSED };

static const struct opt_row {
	const char *name, *help;
	uint64_t initial, least, most;
	uint8_t type;
} rows[] = {
#define OPT(name, type, initial, least, most, help) [OPT_##name] = { #name, help, initial, least, most, OT_##type },
#include "session/option.def"
#undef OPT
};

/* What a number with that unit behind it is multiplied by; 0: it is a rate; negative: the type has no such unit. */
static int64_t option_unit(enum opt_type type, const char *unit)
{
	static const char *const sizes[] = { "b", "k", "m", "g", "t" };

	if (type == OT_TIME)
		return text_time_unit(unit);
	for (size_t i = 0; type == OT_SIZE && i < COUNT(sizes); i++)
		if (!strcasecmp(unit, sizes[i]))
			return INT64_C(1) << 10 * i;
	return *unit ? -1 : 1;
}

/* Digits and a unit. */
static bool split_value(const char *s, uint64_t *n, const char **unit)
{
	char digits[24];
	size_t len = strspn(s, "0123456789");

	if (!len || len >= sizeof(digits))
		return false;
	memcpy(digits, s, len);
	digits[len] = '\0';
	*unit = s + len;
	return text_u64(digits, n);
}

static bool option_scaled(enum opt_type type, const char *s, uint64_t *ret)
{
	const char *name;
	int64_t unit;
	uint64_t n;

	if (!split_value(s, &n, &name) || (unit = option_unit(type, name)) < 0)
		return false;
	if (unit)
		return !__builtin_mul_overflow(n, unit, ret);
	*ret = n ? 1000000000 / n : UINT64_MAX;
	return true;
}

static bool flag_value(const char *s, uint64_t *ret)
{
	static const char *const words[] = { "0",      "1",     "no",   "yes",      "off",     "on",    "disable",
					     "enable", "false", "true", "disabled", "enabled", "unset", "set" };

	for (size_t i = 0; i < COUNT(words); i++)
		if (!strcasecmp(s, words[i])) {
			*ret = i & 1;
			return true;
		}
	return false;
}

static bool read_value(const struct opt_row *r, const char *s, uint64_t *ret)
{
	switch (r->type) {
	case OT_FLAG:
		*ret = 1;
		return !s || flag_value(s, ret);
	case OT_SIZE:
	case OT_TIME:
		return s && option_scaled(r->type, s, ret);
	case OT_NUMBER:
		return s && text_u64(s, ret);
	default:
		*ret = 0;
		return true;
	}
}

/* ---- one of a few words ---------------------------------------------------------- */

static const char *const buffer_policies[] = { "ring", "fill", "switch" },
			 *const buffer_sizings[] = { "auto", "manual" }, *const encodings[] = { "ascii", "utf8" },
			 *const late_ways[] = { "dynamic", "static" }, *const conformances[] = { "a", "c", "s", "t" },
			 *const link_modes[] = { "dynamic", "kernel", "static" },
			 *const link_types[] = { "dof", "elf" };
static const char *const evaltimes[] = {
	[EVAL_EXEC] = "exec", [EVAL_PREINIT] = "preinit", [EVAL_POSTINIT] = "postinit", [EVAL_MAIN] = "main"
};
static const char *const function_ways[] = { [K_FUNCTIONS_FENTRY] = "fentry", [K_FUNCTIONS_KPROBE] = "kprobe" };
static const char *const demangle_ways[] = {
	[SYM_DEMANGLE_ON] = "on", [SYM_DEMANGLE_OFF] = "off", [SYM_DEMANGLE_SHORT] = "short"
};
static const char *const unwind_ways[] = {
	[UNWIND_BY_POINTER] = "fp", [UNWIND_DWARF] = "dwarf", [UNWIND_AUTO] = "auto"
};
static const struct option_choice {
	enum option option;
	const char *const *word; /* by what they mean; NULL: that has none */
	size_t nwords;
	const char *words;
} choices[] = {
	/* without a meaning here, or for cpp(1); what none of them has is a mistake all the same */
	{ OPT_bufpolicy, buffer_policies, COUNT(buffer_policies), "ring, fill or switch" },
	{ OPT_bufresize, buffer_sizings, COUNT(buffer_sizings), "auto or manual" },
	{ OPT_encoding, encodings, COUNT(encodings), "ascii or utf8" },
	{ OPT_late, late_ways, COUNT(late_ways), "dynamic or static" },
	{ OPT_linkmode, link_modes, COUNT(link_modes), "dynamic, kernel or static" },
	{ OPT_linktype, link_types, COUNT(link_types), "dof or elf" },
	{ OPT_stdc, conformances, COUNT(conformances), "a, c, s or t" },
	/* by what they mean */
	{ OPT_evaltime, evaltimes, COUNT(evaltimes), "exec, preinit, postinit or main" },
	{ OPT_fbt, function_ways, COUNT(function_ways), "fentry or kprobe" },
	{ OPT_demangle, demangle_ways, COUNT(demangle_ways), "on, off or short" },
	{ OPT_ustackunwind, unwind_ways, COUNT(unwind_ways), "fp, dwarf or auto" },
};

/* NULL: an option that is none of these. */
static const struct option_choice *choice_of_option(enum option which)
{
	for (size_t i = 0; i < COUNT(choices); i++)
		if (choices[i].option == which)
			return &choices[i];
	return NULL;
}

/* What a word of such an option means, or -1. */
static int choice_find(const struct option_choice *c, const char *s)
{
	for (size_t i = 0; i < c->nwords; i++)
		if (c->word[i] && !strcmp(c->word[i], s))
			return (int)i;
	return -1;
}

/* What was said last for an option, or `usual`. */
static int options_choice(const struct options *o, enum option which, int usual)
{
	const char *s = options_text(o, which);

	return s ? choice_find(choice_of_option(which), s) : usual;
}

enum evaltime options_evaltime(const struct options *o, enum evaltime usual)
{
	return (enum evaltime)options_choice(o, OPT_evaltime, (int)usual);
}

enum k_functions options_functions(const struct options *o)
{
	return (enum k_functions)options_choice(o, OPT_fbt, K_FUNCTIONS_UNKNOWN);
}

enum sym_demangle options_demangle(const struct options *o)
{
	return (enum sym_demangle)options_choice(o, OPT_demangle, SYM_DEMANGLE_ON);
}

enum unwind_way options_unwind(const struct options *o)
{
	return (enum unwind_way)options_choice(o, OPT_ustackunwind, UNWIND_BY_POINTER);
}

static int option_refuse_unknown(const char *name, struct err *e, struct err *why)
{
	const char *names[COUNT(rows)], *near;
	size_t n = 0;

	for (size_t i = 0; i < COUNT(rows); i++)
		if (rows[i].type != OT_REFUSED)
			names[n++] = rows[i].name;
	near = text_nearest(name, TEXT_NAMES(names, n));
	if (near)
		err_set(why, TALLY_EINVAL, "there is no option %s; did you mean %s?", name, near);
	else
		err_set(why, TALLY_EINVAL,
			"there is no option %.60s: OPTIONS OF THE LANGUAGE in tally-trace(1) lists them", name);
	return err_set(e, TALLY_EINVAL, "Invalid option name");
}

/* It takes those words, and no other. */
static int option_refuse_but(const char *name, const char *words, struct err *e, struct err *why)
{
	err_set(why, TALLY_EINVAL, "option %s takes %s", name, words);
	return err_set(e, TALLY_EINVAL, "Invalid value for specified option");
}

/* Digits and a unit of that type, whether the number is in the option's range or not. */
static bool option_has_number(const struct opt_row *r, const char *value)
{
	const size_t digits = strspn(value += *value == '-', "0123456789");

	return digits && option_unit(r->type, value + digits) >= 0;
}

static int option_refuse_value(const struct opt_row *r, const char *value, struct err *e, struct err *why)
{
	if (!value)
		err_set(why, TALLY_EINVAL, "option %s takes a value: %s=VALUE", r->name, r->name);
	else if (r->type == OT_FLAG)
		err_set(why, TALLY_EINVAL, "option %s takes no value, or 0, 1, no, yes, off, on", r->name);
	else if (!option_has_number(r, value))
		err_set(why, TALLY_EINVAL, "option %s takes %s, not '%.60s'", r->name,
			r->type == OT_SIZE ? "a number of bytes (512, 8k, 4m, 1g, 1t)" :
			r->type == OT_TIME ? "a time (50ms, 1s) or a rate (10hz)" :
					     "a number",
			value);
	else
		err_set(why, TALLY_EINVAL, "option %s takes %llu to %llu%s", r->name, (unsigned long long)r->least,
			(unsigned long long)r->most,
			r->type == OT_SIZE ? " bytes" :
			r->type == OT_TIME ? " ns" :
					     "");
	return err_set(e, TALLY_EINVAL, "Invalid value for specified option");
}

/* ---- texts ---------------------------------------------------------------------- */

static int option_keep_text(struct options *o, enum option which, const char *value)
{
	struct opt_text *t;

	for (uint32_t i = 0; i < o->ntexts && rows[which].type == OT_TEXT; i++)
		if (o->text[i].option == which) {
			mem_free(o->text[i].text);
			return (o->text[i].text = mem_strdup(value)) ? 0 : -TALLY_ENOMEM;
		}
	t = VEC_NEW(o->text, o->ntexts, o->captexts);
	if (!t)
		return -TALLY_ENOMEM;
	t->option = (uint16_t)which;
	t->text = mem_strdup(value);
	return t->text ? 0 : -TALLY_ENOMEM;
}

const char *options_text(const struct options *o, enum option which)
{
	for (uint32_t i = 0; i < o->ntexts; i++)
		if (o->text[i].option == which)
			return o->text[i].text;
	return NULL;
}

/* Of D: one that is told as numbers, and that there was. */
#define VERSION_MOST 2
static int version_refused(const char *s, struct err *e)
{
	uint32_t part[3] = { 0 };

	for (size_t i = 0; i < COUNT(part); i++) {
		size_t n = strspn(s, "0123456789");

		if (n == 0 || n > 3 || (s[n] && s[n] != '.') || (i == COUNT(part) - 1 && s[n]))
			return err_set(e, TALLY_EINVAL, "Version is not properly formatted or is too large");
		for (size_t k = 0; k < n; k++)
			part[i] = part[i] * 10 + (uint32_t)(s[k] - '0');
		s += n;
		if (!*s)
			break;
		s++;
	}
	if (part[0] < 1 || part[0] > VERSION_MOST || (part[0] == VERSION_MOST && (part[1] || part[2])))
		return err_set(e, TALLY_EINVAL, "Requested version is not supported by compiler");
	return 0;
}

/* ---- all of them ------------------------------------------------------------------ */

void options_init(struct options *o)
{
	*o = (struct options){ 0 };
	for (size_t i = 0; i < COUNT(rows); i++)
		o->v[i] = rows[i].initial;
}

void options_free(struct options *o)
{
	for (uint32_t i = 0; i < o->ntexts; i++)
		mem_free(o->text[i].text);
	mem_free(o->text);
	*o = (struct options){ 0 };
}

int options_set(struct options *o, const char *name, const char *value, struct err *e, struct err *why)
{
	const struct option_choice *choice;
	size_t i = 0;
	uint64_t v;

	while (i < COUNT(rows) && strcmp(rows[i].name, name))
		i++;
	if (i == COUNT(rows))
		return option_refuse_unknown(name, e, why);
	if (rows[i].type == OT_REFUSED)
		return err_set(e, TALLY_EINVAL, "not supported: %s", rows[i].help);
	choice = choice_of_option((enum option)i);
	if (choice && (!value || choice_find(choice, value) < 0))
		return option_refuse_but(name, choice->words, e, why);
	if (rows[i].type == OT_TEXT || rows[i].type == OT_WORDS) {
		if (!value)
			return option_refuse_value(&rows[i], value, e, why);
		if (i == OPT_version && version_refused(value, e) < 0)
			return -TALLY_EINVAL;
		if ((i == OPT_setenv || i == OPT_unsetenv) &&
		    (*value == '=' || (strchr(value, '=') != NULL) != (i == OPT_setenv)))
			return option_refuse_but(name, i == OPT_setenv ? "NAME=VALUE" : "NAME", e, why);
		return option_keep_text(o, (enum option)i, value) < 0 ? err_oom(e) : 0;
	}
	if ((i == OPT_iregs || i == OPT_tregs) && value && text_u64(value, &v) && v < rows[i].least)
		return err_set(e, TALLY_EINVAL, "Insufficient registers to generate code");
	if (!read_value(&rows[i], value, &v) || v < rows[i].least || v > rows[i].most)
		return option_refuse_value(&rows[i], value, e, why);
	o->v[i] = v;
	return 0;
}

/* What is looked at again and again while a trace runs. */
static bool option_may_change(size_t i)
{
	switch ((enum option)i) {
	case OPT_quiet:
	case OPT_flowindent:
	case OPT_stackindent:
	case OPT_rawctl:
	case OPT_printsize:
	case OPT_rawbytes:
	case OPT_specsize:
	case OPT_switchrate:
	case OPT_statusrate:
	case OPT_aggrate:
	case OPT_aggzoom:
	case OPT_aggsortkey:
	case OPT_aggsortkeypos:
	case OPT_aggsortpos:
	case OPT_aggsortrev:
	case OPT_droptags:
		return true;
	default:
		return rows[i].type == OT_INERT;
	}
}

int options_set_running(struct options *o, const char *name, const char *value, struct err *e, struct err *why)
{
	size_t i = 0;

	while (i < COUNT(rows) && strcmp(rows[i].name, name))
		i++;
	if (i < COUNT(rows) && rows[i].type != OT_REFUSED && !option_may_change(i))
		return err_set(e, TALLY_EINVAL, "Operation illegal when tracing is active");
	return options_set(o, name, value, e, why);
}

bool tally_option(unsigned i, const char **name, const char **help)
{
	for (size_t k = 0; k < COUNT(rows); k++) {
		if (rows[k].type == OT_REFUSED || i--)
			continue;
		*name = rows[k].name;
		*help = rows[k].help;
		return true;
	}
	return false;
}
