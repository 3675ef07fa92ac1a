/*
 * doctor.c: `tally doctor`, what this machine allows, and the one command that fixes the rest.
 *
 * All that is found is the library's; here it is laid out for 80 columns, or as JSON. What
 * was found stands in the row, what follows from it below, so that a healthy
 * machine is a short list and the eye finds the rest.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <tally/doctor.h>

#include "cmd/cmd_int.h"

#define COLUMNS 80u
#define INDENT 11u /* of what stands below a row: behind the verdict */

struct doctor {
	struct cmd_ctx *cx; /* first: the options take it */
	bool json, colour;
	struct buf out;
	char group[32];    /* whose heading was printed last */
	uint32_t count[3]; /* by verdict */
	char command[512]; /* that was written last */
	char fix[512];     /* of the first that is needed and missing */
};
static const char *const verdicts[] = {
	[TALLY_IS_OK] = "ok", [TALLY_IS_LIMITED] = "limited", [TALLY_IS_MISSING] = "missing"
};

/* ---- options ---------------------------------------------------------------------------- */

static const struct opt options[] = {
	{ 0, "json", NULL, "one JSON object per line", OPT_TRUE(struct doctor, json) },
	{ 'h', "help", NULL, "show this help", OPT_HELP },
};

const struct opts *cmd_doctor_opts(void)
{
	static const struct opts o = {
		.verb = "doctor",
		.usage = "[option]...",
		.intro = "Tests what this machine and this user allow. For each failure it names the command\n"
			 "that fixes it. Nothing is changed. Exit status: 0 when D probes over\n"
			 "perf events and BPF run here, 4 when they are not permitted, 3 when this kernel\n"
			 "can't.\n",
		.outro = "\nExamples:\n"
			 "  tally doctor\n"
			 "  tally doctor --json\n"
			 "  # as root:\n"
			 "  tally doctor && tally trace -n \\\n"
			 "    'profile-97 { @[execname] = count(); } tick-1s { exit(0); }'\n",
		.opt = options,
		.n = COUNT(options),
	};
	return &o;
}

/* ---- text --------------------------------------------------------------------------------- */

/* A long command that was named just before is not written out again. */
static void put_command(struct doctor *d, const char *label, const char *command)
{
	struct buf *to = &d->out;
	const size_t indent = INDENT + strlen(label) + 2;

	if (!*command)
		return;
	buf_printf(to, "%*s%s: ", (int)INDENT, "", label);
	if (strlen(command) + indent > COLUMNS && !strcmp(command, d->command)) {
		buf_puts(to, "same command as above\n");
		return;
	}
	snprintf(d->command, sizeof(d->command), "%s", command);
	buf_wrap(to, command, indent, indent, COLUMNS, " \\");
}

static void put_text(struct doctor *d, const struct tally_finding *f)
{
	const char *colour = f->verdict == TALLY_IS_OK                   ? "\033[32m" :
			     f->verdict == TALLY_IS_MISSING && f->needed ? "\033[31m" :
									   "\033[33m";
	struct buf *to = &d->out;

	if (strcmp(d->group, f->group)) {
		buf_printf(to, "%s%s\n", *d->group ? "\n" : "", f->group);
		snprintf(d->group, sizeof(d->group), "%s", f->group);
	}
	buf_printf(to, "  %s%-7s%s  %s", d->colour ? colour : "", verdicts[f->verdict], d->colour ? "\033[0m" : "",
		   f->title);
	if (*f->found) {
		buf_printf(to, "%*s", (int)(strlen(f->title) < 22 ? 22 - strlen(f->title) : 1), "");
		buf_wrap(to, f->found, INDENT + 22, INDENT + 22, COLUMNS, "");
	} else {
		buf_putc(to, '\n');
	}
	if (*f->consequence) {
		buf_printf(to, "%*s", (int)INDENT, "");
		buf_wrap(to, f->consequence, INDENT, INDENT, COLUMNS, "");
	}
	put_command(d, "fix", f->fix);
	put_command(d, "instead", f->instead);
}

static void text_summary(struct doctor *d, int rc)
{
	struct buf *to = &d->out;

	buf_printf(to, "\n%u ok, %u limited, %u missing\n", d->count[TALLY_IS_OK], d->count[TALLY_IS_LIMITED],
		   d->count[TALLY_IS_MISSING]);
	if (rc >= 0)
		buf_puts(to, "D probes over perf events and BPF run here.\n");
	else
		buf_printf(to, "D probes over perf events and BPF do not run here: %s.%s\n",
			   rc == -TALLY_EPERM ? "not permitted" : "not supported by this kernel",
			   *d->fix ? " First:" : "");
	if (rc < 0 && *d->fix)
		buf_wrap(to, d->fix, 0, 5, COLUMNS, " \\");
}

/* ---- JSON ----------------------------------------------------------------------------------- */

static void put_json(struct doctor *d, const struct tally_finding *f)
{
	const struct {
		const char *key, *value;
	} field[] = {
		{ "key", f->key },
		{ "group", f->group },
		{ "title", f->title },
		{ "verdict", verdicts[f->verdict] },
		{ "cause", f->cause },
		{ "found", f->found },
		{ "consequence", f->consequence },
		{ "fix", f->fix },
		{ "instead", f->instead },
	};

	buf_puts(&d->out, "{\"type\":\"finding\"");
	for (size_t i = 0; i < COUNT(field); i++) {
		if (!*field[i].value)
			continue;
		buf_printf(&d->out, ",\"%s\":", field[i].key);
		buf_json_str(&d->out, field[i].value, strlen(field[i].value));
	}
	buf_printf(&d->out, ",\"needed\":%s}\n", f->needed ? "true" : "false");
}

/* ---- the verb --------------------------------------------------------------------------------- */

static void take_finding(void *arg, const struct tally_finding *f)
{
	struct doctor *d = arg;

	d->count[f->verdict]++;
	if (f->needed && f->verdict == TALLY_IS_MISSING && !*d->fix)
		snprintf(d->fix, sizeof(d->fix), "%s", f->fix);
	if (d->json)
		put_json(d, f);
	else
		put_text(d, f);
}

static int doctor_examine_machine(struct doctor *d)
{
	struct buf room = { 0 };
	struct tally_doctor_opts o = {
		.size = sizeof(o), .duckdb = duckdb_library(&room), .each = take_finding, .arg = d
	};
	int rc = tally_doctor(&o), status;

	if (d->json)
		buf_printf(&d->out, "{\"type\":\"summary\",\"ok\":%u,\"limited\":%u,\"missing\":%u,\"runs\":%s}\n",
			   d->count[TALLY_IS_OK], d->count[TALLY_IS_LIMITED], d->count[TALLY_IS_MISSING],
			   rc < 0 ? "false" : "true");
	else
		text_summary(d, rc);
	buf_free(&room);
	status = print(d->cx, &d->out);
	return status != ST_OK ? status : rc == -TALLY_EPERM ? ST_NOPERM : rc < 0 ? ST_NOTSUP : ST_OK;
}

int cmd_doctor(struct cmd_ctx *cx, int argc, char **argv)
{
	const char *no_colour = getenv("NO_COLOR");
	struct doctor d = { .cx = cx, .colour = isatty(STDOUT_FILENO) && !(no_colour && *no_colour) };
	int first, status = opts_parse(cx, cmd_doctor_opts(), &d, argc, argv, &first);

	if (status != GO_ON)
		return status;
	if (first == argc)
		return doctor_examine_machine(&d);
	return opts_refuse(cx, cmd_doctor_opts(), "unexpected argument '%s': doctor takes none", argv[first]);
}
