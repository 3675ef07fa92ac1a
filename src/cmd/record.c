/*
 * record.c: `tally record`, a trace of PCIe packets into perf.data.
 *
 * Options are perf's.  A signal ends the recording, not the program: what was recorded so
 * far is in the file, and the last line says how much that is.
 */
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "cmd/platform.h"

struct record {
	struct plat_args a; /* first: the shared options take it */
	struct tally_record_opts o;
	struct tally_record_result result;
};

/* ---- options --------------------------------------------------------------------------- */

static int take_event(void *state, const char *value)
{
	struct record *c = state;

	if (!c->o.event) {
		c->o.event = value;
		return GO_ON;
	}
	return refuse_usage(c->a.a.cx, "-e can be given only once: a device traces one event at a time");
}

static const struct opt options[] = {
	{ 'e', "event", "EVENT", "what to trace: DEVICE/filter=...,type=...,direction=...,format=.../",
	  OPT_STEP(take_event) },
	{ 'm', NULL, "SIZE", "size of the AUX buffer, a power of two, e.g. 4M (default 16M; 256M at most over unix:)",
	  OPT_ONCE(struct record, o.ring) },
	{ 'o', "output", "FILE", "write to FILE (default perf.data); - is stdout, in perf's pipe format",
	  OPT_STEP(ptt_take_output) },
	{ 0, "duration", "MS", "stop after MS of the platform's own time", OPT_MS(struct record, o.duration_ns) },
	PLAT_OPTIONS,
	{ 'h', "help", NULL, "show this help", OPT_HELP },
};

const struct opts *cmd_record_opts(void)
{
	static const struct opts o = {
		.verb = "record",
		.usage = "-e EVENT [option]... [--] [COMMAND [argument]...]",
		.intro = "Records PCIe packet headers (TLPs) with a PTT device while COMMAND runs,\n"
			 "for a duration, or until interrupted. 'tally list ptt' shows devices, filters and\n"
			 "the terms of an event. A filter is a root port, which covers all functions below it, or a\n"
			 "requester: one PCI function that sends requests, e.g. a drive or a network card.\n",
		.outro = "\nExamples:\n"
			 "  # on a Kunpeng server:\n"
			 "  sudo tally record -e hisi_ptt0_2/filter=0x80001,type=7,direction=2/ -- \\\n"
			 "    dd if=/dev/nvme0n1 of=/dev/null count=1M\n"
			 "  # on a model of one:\n"
			 "  tally record --on kunpeng --duration 20 -o t.data \\\n"
			 "    -e hisi_ptt0_2/filter=00:10.0,type=p,format=8dw,direction=2/\n"
			 "  tally record --on kunpeng -e hisi_ptt0_2/filter=0x80001,type=1/ -o - \\\n"
			 "    -- sleep 1 | tally report -\n"
			 "\nExit status: 0, or the command's; 1 failed; 2 invalid options or event;\n"
			 "3 not supported; 4 not permitted.\n",
		.more = plat_help_ptt_loads,
		.opt = options,
		.n = COUNT(options),
		.command = true,
	};
	return &o;
}

/* ---- the run ---------------------------------------------------------------------------- */

static void record_show_summary(struct record *c)
{
	const char *to = c->o.path ? c->o.path : "perf.data";
	uint32_t gaps = c->result.gaps - (c->result.cut == TALLY_CUT_FAILED);
	char lost[48] = "some";

	if (c->result.lost || !c->result.gaps)
		snprintf(lost, sizeof(lost), "%s%llu", c->result.gaps ? "at least " : "",
			 (unsigned long long)c->result.lost);
	ptt_args_wipe(&c->a.a);
	fprintf(stderr, "[ tally record: wrote %llu bytes, %llu records, %s lost to %s ]\n",
		(unsigned long long)c->result.bytes, (unsigned long long)c->result.records, lost,
		strcmp(to, "-") ? to : "stdout");
	if (gaps)
		complain(c->a.a.cx,
			 "%u gap%s: the driver stopped while the AUX buffer was full; the number of missing records is "
			 "unknown; -m sets a larger buffer",
			 gaps, gaps == 1 ? "" : "s");
	if (c->result.cut == TALLY_CUT_FAILED)
		complain(c->a.a.cx, "the end is missing: uncommitted records are lost, an unknown number");
	if (c->result.cut == TALLY_CUT_READER)
		complain(c->a.a.cx, "stdout was closed by its reader; later records are not written");
}

static int record_with_platform(struct record *c)
{
	int rc, status = ST_OK;

	rc = tally_record(c->a.p, &c->o, &c->result);
	if (rc < 0)
		status = plat_args_failed(&c->a, rc);
	if (rc >= 0 || c->result.bytes || c->result.cut)
		record_show_summary(c);
	if (rc < 0)
		return rc == -TALLY_EINVAL && (c->result.status == 126 || c->result.status == 127) ? c->result.status :
												     status;
	return c->result.cut == TALLY_CUT_READER ? ST_READER : *c->o.stop ? ST_OK : c->result.status;
}

static int record_run_verb(struct record *c)
{
	int status;

	c->o.stop = c->a.o.stop = catch_signals();
	status = plat_args_open(&c->a, NULL);
	c->o.size = sizeof(c->o);
	c->result.size = sizeof(c->result);
	c->o.path = c->a.a.output;
	c->o.progress = isatty(STDERR_FILENO) ? ptt_args_progress : NULL;
	c->o.arg = c;
	buf_puts(&c->a.a.reading, "recorded");
	if (status == GO_ON)
		status = record_with_platform(c);
	c->a.a.output = NULL; /* it was the library's */
	return plat_args_close(&c->a, status);
}

/* Events of PTT devices alone are DEVICE/TERMS/ and name such a device. */
static bool is_cpu_event(const char *event)
{
	return !strstr(event, "ptt") && (!strchr(event, '/') || !strncmp(event, "cpu", 3));
}

static int refuse_cpu_event(const struct record *c, const char *event)
{
	complain(c->a.a.cx,
		 "-e %s: not a PTT event; 'tally record' records PCIe "
		 "packets, e.g. -e hisi_ptt0_2/filter=0x80001,type=1/",
		 event);
	complain(c->a.a.cx, "for CPU events: 'tally list events' names them, 'tally stat' counts them, "
			    "'tally trace' shows where they occur, in D: cpc:::page_faults-all-5000 { "
			    "@[ustack()] = count(); }; 'perf record' keeps samples, also of tracepoints");
	return ST_USAGE;
}

static int record_check_options(const struct record *c)
{
	const char *o = c->a.a.output;
	uint32_t form = UINT32_MAX; /* none of a table's */

	if (!c->o.event)
		return opts_refuse(c->a.a.cx, cmd_record_opts(),
				   "no event: give -e EVENT, e.g. hisi_ptt0_2/filter=0x80001,type=1/");
	if (is_cpu_event(c->o.event))
		return refuse_cpu_event(c, c->o.event);
	if (o && !strcmp(o, "-") && isatty(STDOUT_FILENO))
		return refuse_usage(c->a.a.cx,
				    "-o - writes binary data, not for a terminal: redirect it to a pipe or a file");
	return output_suffix(c->a.a.cx, o, "record", NULL, &form);
}

int cmd_record(struct cmd_ctx *cx, int argc, char **argv)
{
	struct record c = { .a.a.cx = cx };
	int first, status = opts_parse(cx, cmd_record_opts(), &c, argc, argv, &first);

	if (status == GO_ON)
		status = record_check_options(&c);
	if (status != GO_ON)
		return status;
	if (argc > first)
		c.o.argv = argv + first;
	return record_run_verb(&c);
}
