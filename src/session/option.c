/*
 * option.c: what -x and #pragma D option set.
 *
 * The options are rows of option.def; this file reads values and knows no
 * option by name.  A later setting replaces an earlier one, so a pragma, which
 * is seen when the program compiles, wins over -x, as in dtrace(1).  The first
 * words of each refusal are dtrace(1)'s; what helps further follows in brackets.
 */
#include <string.h>
#include <strings.h>

#include "session/session_int.h"

enum opt_type { OT_SIZE, OT_TIME, OT_NUMBER, OT_FLAG, OT_INERT, OT_LATER };

static const struct opt_row {
	const char *name, *help;
	uint64_t initial, least, most;
	uint8_t type;
} rows[] = {
#define OPT(name, type, initial, least, most, help) [OPT_##name] = { #name, help, initial, least, most, OT_##type },
#include "session/option.def"
#undef OPT
};

static const struct unit {
	const char *name;
	uint64_t factor;
} size_units[] = { { "", 1 }, { "b", 1 }, { "k", 1u << 10 }, { "m", 1u << 20 }, { "g", 1u << 30 } }, time_units[] = {
	{ "ns", 1 },
	{ "nsec", 1 },
	{ "us", 1000 },
	{ "usec", 1000 },
	{ "ms", 1000000 },
	{ "msec", 1000000 },
	{ "s", 1000000000 },
	{ "sec", 1000000000 },
	{ "m", 60000000000 },
	{ "min", 60000000000 },
	{ "h", 3600000000000 },
	{ "hour", 3600000000000 },
	{ "d", 86400000000000 },
	{ "day", 86400000000000 },
	{ "hz", 0 },
	{ "", 0 },
};

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

static bool option_scaled(const struct unit *units, size_t nunits, const char *s, uint64_t *ret)
{
	const char *unit;
	uint64_t n;

	if (!split_value(s, &n, &unit))
		return false;
	for (size_t i = 0; i < nunits; i++) {
		if (strcasecmp(unit, units[i].name))
			continue;
		if (!units[i].factor) { /* a frequency */
			*ret = n ? 1000000000 / n : UINT64_MAX;
			return true;
		}
		return !__builtin_mul_overflow(n, units[i].factor, ret);
	}
	return false;
}

static bool flag_value(const char *s, uint64_t *ret)
{
	static const char *const words[] = { "0", "1", "no", "yes", "off", "on", "disable", "enable" };

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
		return s && option_scaled(size_units, COUNT(size_units), s, ret);
	case OT_TIME:
		return s && option_scaled(time_units, COUNT(time_units), s, ret);
	case OT_NUMBER:
		return s && text_u64(s, ret);
	default:
		*ret = 0;
		return true;
	}
}

static int option_refuse_unknown(const char *name, struct err *e)
{
	const char *names[COUNT(rows)], *near;
	size_t n = 0;

	for (size_t i = 0; i < COUNT(rows); i++)
		if (rows[i].type != OT_LATER)
			names[n++] = rows[i].name;
	near = text_nearest(name, names, n);
	if (near)
		return err_set(e, TALLY_EINVAL, "Invalid option name (did you mean %s?)", near);
	return err_set(e, TALLY_EINVAL, "Invalid option name");
}

void options_init(struct options *o)
{
	for (size_t i = 0; i < COUNT(rows); i++)
		o->v[i] = rows[i].initial;
}

int options_set(struct options *o, const char *name, const char *value, struct err *e)
{
	size_t i = 0;
	uint64_t v;

	while (i < COUNT(rows) && strcmp(rows[i].name, name))
		i++;
	if (i == COUNT(rows))
		return option_refuse_unknown(name, e);
	if (rows[i].type == OT_LATER)
		return err_set(e, TALLY_EINVAL, "Invalid option name (%s is not supported yet)", name);
	if (!read_value(&rows[i], value, &v))
		return err_set(e, TALLY_EINVAL, "Invalid value for specified option%s", value ? "" : " (none given)");
	if (v < rows[i].least || v > rows[i].most)
		return err_set(e, TALLY_EINVAL, "Invalid value for specified option (%llu to %llu)",
			       (unsigned long long)rows[i].least, (unsigned long long)rows[i].most);
	o->v[i] = v;
	return 0;
}

bool tally_option(unsigned i, const char **name, const char **help)
{
	for (size_t k = 0; k < COUNT(rows); k++) {
		if (rows[k].type == OT_LATER || i--)
			continue;
		*name = rows[k].name;
		*help = rows[k].help;
		return true;
	}
	return false;
}
