/*
 * platform.c: what the verbs over a platform share.
 */
#include <string.h>

#include "cmd/platform.h"

const char *plat_word(size_t i)
{
	static const char *const words[] = { "local", "kunpeng", "niagara", "maramba", "batoka", "power", "unix:" };

	return i < COUNT(words) ? words[i] : NULL;
}

const char *plat_profile(size_t i)
{
	static const char *const names[] = { [TALLY_PROFILE_SPEC] = "spec",
					     [TALLY_PROFILE_DRIVER] = "driver",
					     [TALLY_PROFILE_OPENSPARC] = "opensparc" };

	return i < COUNT(names) ? names[i] : NULL;
}

#define COLUMNS 80u /* of -h */

static void put_loads(struct buf *to, struct buf *machines, struct buf *loads)
{
	struct buf row = { 0 };

	if (machines->n && loads->n) {
		buf_printf(&row, "%s: %s", machines->p, loads->p);
		buf_puts(to, "  ");
		buf_wrap(to, row.p ? row.p : "", 2, 4, COLUMNS, "");
	}
	to->failed |= row.failed | machines->failed | loads->failed;
	buf_free(&row);
	buf_free(machines);
	buf_free(loads);
}

/* Machines whose loads are alike share a row. */
void plat_help_loads(struct buf *to)
{
	struct buf machines = { 0 }, loads = { 0 };

	buf_puts(to, "\nLoads of the models (kunpeng,load=NAME):\n");
	for (size_t m = 0; plat_word(m); m++) {
		const char *name, *text;
		struct buf its = { 0 };

		for (uint32_t i = 0; (name = tally_load(plat_word(m), i, &text)) != NULL; i++)
			buf_printf(&its, "%s%s", i ? ", " : "", name);
		if (its.n && loads.n && !strcmp(loads.p, its.p)) {
			buf_printf(&machines, ", %s", plat_word(m));
			buf_free(&its);
		} else if (its.n) {
			put_loads(to, &machines, &loads);
			buf_puts(&machines, plat_word(m));
			loads = its;
		}
	}
	put_loads(to, &machines, &loads);
}

void plat_help_ptt_loads(struct buf *to)
{
	const char *name, *text;

	buf_puts(to, "\nLoads of the model (kunpeng,load=NAME):\n");
	for (uint32_t i = 0; (name = tally_load("kunpeng", i, &text)) != NULL; i++) {
		buf_printf(to, "  %-12s ", name);
		buf_wrap(to, text, 15, 15, COLUMNS, "");
	}
}

/* ---- options -------------------------------------------------------------------------------- */

int plat_take_on(void *state, const char *value)
{
	struct plat_args *a = state;

	if (a->o.on)
		return refuse_usage(a->a.cx, "--on can be given only once");
	a->o.on = value;
	return GO_ON;
}

int plat_take_profile(void *state, const char *value)
{
	struct plat_args *a = state;

	for (uint32_t i = 0; plat_profile(i); i++)
		if (!strcmp(value, plat_profile(i))) {
			a->o.profile = i;
			return GO_ON;
		}
	return refuse_usage(a->a.cx, "--profile: invalid value '%s' (expected spec, driver or opensparc)", value);
}

int plat_take_load(void *state, const char *value)
{
	struct plat_args *a = state;

	if (a->o.load)
		return refuse_usage(a->a.cx, "--load can be given only once");
	a->o.load = value;
	return GO_ON;
}

static int platform_choose_form(struct plat_args *a, uint32_t form, const char *option)
{
	if (a->form && a->to.format != form)
		return refuse_usage(a->a.cx, "%s and %s cannot be combined", a->form, option);
	a->form = option;
	a->to.format = form;
	return GO_ON;
}

int plat_take_json(void *state, const char *value)
{
	(void)value;
	return platform_choose_form(state, TALLY_FORMAT_JSON, "--json");
}

int plat_take_separator(void *state, const char *value)
{
	struct plat_args *a = state;
	int status = platform_choose_form(a, TALLY_FORMAT_CSV, "-x");

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
	status = verb ? output_suffix(a->a.cx, a->a.output, verb, a->form, &a->to.format) : GO_ON;
	if (!verb || status != GO_ON)
		return status;
	a->to.size = sizeof(a->to);
	a->to.out = ptt_args_write;
	a->to.arg = a;
	status = ptt_args_output(&a->a, NULL, 0);
	a->to.columns = (uint8_t)output_columns(a->a.fd);
	return status;
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
