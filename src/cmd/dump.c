/*
 * dump.c: `tally dump`, the packets of a trace as text.
 */
#include <string.h>

#include "cmd/ptt_int.h"

#define HELP_COLUMNS 80u
#define FIELD_AT 17u /* where -h says what a field means */

struct dump {
	struct ptt_args a; /* first: the shared options take it */
	struct tally_ptt_dump_opts o;
	const char *form; /* the option that chose it, or NULL */
};

/* ---- options ------------------------------------------------------------------------ */

static int dump_choose_form(struct dump *d, uint32_t form, const char *option)
{
	if (d->form && d->o.format != form)
		return refuse_usage(d->a.cx, "%s and %s cannot be combined", d->form, option);
	d->form = option;
	d->o.format = form;
	return GO_ON;
}

static int take_perf(void *state, const char *value)
{
	struct dump *d = state;

	if (!value || !strcmp(value, "spec"))
		return dump_choose_form(d, value ? TALLY_FORMAT_PERF_SPEC : TALLY_FORMAT_PERF, "--perf");
	return refuse_usage(d->a.cx, "--perf: invalid value '%s' (expected spec)", value);
}

static int take_json(void *state, const char *value)
{
	(void)value;
	return dump_choose_form(state, TALLY_FORMAT_JSON, "--json");
}

static int take_separator(void *state, const char *value)
{
	struct dump *d = state;
	int status = dump_choose_form(d, TALLY_FORMAT_CSV, "-x");

	return status == GO_ON ? ptt_separator(&d->a, value, &d->o.separator) : status;
}

static const struct opt options[] = {
	{ 0, "perf", "[=spec]", "as 'perf report -D' prints PTT data; =spec: as the kernel's hisi_ptt.rst shows it",
	  OPT_STEP(take_perf) },
	{ 0, "json", NULL, "one JSON object per line", OPT_STEP(take_json) },
	{ 'x', NULL, "SEPARATOR", "fields separated by SEPARATOR, with a header line", OPT_STEP(take_separator) },
	{ 0, "filter", "PREDICATE", "print only records that match this D predicate over the fields below",
	  OPT_KEEP(struct dump, o.filter) },
	PTT_OPTIONS,
	{ 'o', NULL, "FILE", "write to FILE; its suffix .json or .csv sets the format", OPT_STEP(ptt_take_output) },
	{ 'h', "help", NULL, "show this help", OPT_HELP },
};

static void dump_help_fields(struct buf *to)
{
	const char *help, *name;

	buf_puts(to, "\nFields for --filter (ids also as 01:00.0):\n");
	for (uint32_t i = 0; (name = tally_ptt_filter_field(i, &help)); i++) {
		buf_printf(to, "  %-15s", name);
		buf_wrap(to, help, FIELD_AT, FIELD_AT, HELP_COLUMNS, "");
	}
}

const struct opts *cmd_dump_opts(void)
{
	static const struct opts o = {
		.verb = "dump",
		.usage = "[option]... FILE",
		.intro = "Prints the TLP headers of a PTT trace (perf.data, "
			 "or raw records): time in ticks, device, type,\n"
			 "requester, tag, address and more. FILE - is standard input.\n",
		.outro = "\nExamples:\n"
			 "  tally dump perf.data | head\n"
			 "  tally dump perf.data \\\n"
			 "    --filter 'requester == 01:00.0 && type_name == \"MWr64\" && bytes > 64'\n"
			 "  tally dump -o packets.csv perf.data\n",
		.more = dump_help_fields,
		.opt = options,
		.n = COUNT(options),
	};
	return &o;
}

/* ---- the run --------------------------------------------------------------------------- */

static int dump_run_verb(struct dump *d, char **path)
{
	struct tally_ptt *t = NULL;
	int rc, status = output_suffix(d->a.cx, d->a.output, "dump", d->form, &d->o.format);

	if (status == GO_ON)
		status = ptt_args_file(&d->a, &t, *path);
	if (status == GO_ON)
		status = ptt_args_output(&d->a, path, 1);
	if (status == GO_ON) {
		d->o.size = sizeof(d->o);
		d->o.out = ptt_args_write;
		d->o.arg = &d->a;
		rc = tally_ptt_dump(t, &d->o);
		status = rc < 0 ? ptt_args_failed(&d->a, t, rc) : ST_OK;
	}
	tally_ptt_close(t);
	return ptt_args_close(&d->a, status);
}

int cmd_dump(struct cmd_ctx *cx, int argc, char **argv)
{
	struct dump d = { .a = { .cx = cx } };
	int first, status = opts_parse(cx, cmd_dump_opts(), &d, argc, argv, &first);

	if (status != GO_ON)
		return status;
	if (argc - first == 1)
		return dump_run_verb(&d, argv + first);
	return opts_refuse(cx, cmd_dump_opts(),
			   argc == first ? "no trace given: name a FILE" : "only one FILE can be given");
}
