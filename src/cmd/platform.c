/*
 * platform.c: what the verbs over a platform share.
 */
#include <string.h>

#include "cmd/platform.h"

const char *plat_word(size_t i)
{
	static const char *const words[] = { "local", "kunpeng", "unix:" };

	return i < COUNT(words) ? words[i] : NULL;
}

/* ---- options -------------------------------------------------------------------------------- */

int plat_take_on(void *state, const char *value)
{
	struct plat_args *a = state;

	if (a->o.on) {
		complain(a->a.cx, "--on can be given once");
		return ST_USAGE;
	}
	a->o.on = value;
	return GO_ON;
}

int plat_take_profile(void *state, const char *value)
{
	struct plat_args *a = state;

	a->o.profile = !strcmp(value, "driver") ? TALLY_PROFILE_DRIVER : TALLY_PROFILE_SPEC;
	if (a->o.profile == TALLY_PROFILE_DRIVER || !strcmp(value, "spec"))
		return GO_ON;
	complain(a->a.cx, "--profile=%s is none of: spec driver", value);
	return ST_USAGE;
}

static int choose(struct plat_args *a, uint32_t form, const char *option)
{
	if (a->form && a->to.form != form) {
		complain(a->a.cx, "%s and %s are two forms: give one of them", a->form, option);
		return ST_USAGE;
	}
	a->form = option;
	a->to.form = form;
	return GO_ON;
}

int plat_take_json(void *state, const char *value)
{
	(void)value;
	return choose(state, TALLY_PTT_JSON, "--json");
}

int plat_take_separator(void *state, const char *value)
{
	struct plat_args *a = state;
	int status = choose(a, TALLY_PTT_CSV, "-x");

	return status == GO_ON ? ptt_separator(&a->a, value, &a->to.separator) : status;
}

/* ---- open and close ---------------------------------------------------------------------------- */

int plat_args_open(struct plat_args *a, const char *verb)
{
	int rc, status;

	a->o.size = sizeof(a->o);
	a->o.note = ptt_args_note;
	a->o.arg = a;
	rc = tally_platform_open(&a->p, &a->o);
	if (rc < 0)
		return plat_args_failed(a, rc);
	status = verb ? ptt_args_suffix(&a->a, verb, a->form, &a->to.form) : GO_ON;
	if (!verb || status != GO_ON)
		return status;
	a->to.size = sizeof(a->to);
	a->to.out = ptt_args_write;
	a->to.arg = a;
	return ptt_args_output(&a->a, NULL, 0);
}

int plat_args_close(struct plat_args *a, int status)
{
	tally_platform_close(a->p);
	return ptt_args_close(&a->a, status);
}

int plat_args_failed(struct plat_args *a, int rc)
{
	return ptt_args_said(&a->a, a->p ? tally_platform_error(a->p) : "", rc);
}
