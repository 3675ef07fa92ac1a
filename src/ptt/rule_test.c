/* rule_test.c: events and values, each with the verdict of both profiles. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

#include "ptt/rule.h"

/* The core that the Linux driver was watched with (0_2), and one with more of everything (0_0). */
static const struct ptt_filter watched[] = {
	{ "0000:00:10.0", 0x80001, true },
	{ "0000:00:11.0", 0x80004, true },
	{ "0000:01:00.0", 0x00100, false },
	{ "0000:01:00.1", 0x00101, false },
};
static const struct ptt_filter many[] = {
	{ "0001:00:10.0", 0x80001, true }, { "0001:00:11.0", 0x80004, true },  { "0001:00:12.0", 0x80010, true },
	{ "0001:00:13.0", 0x80040, true }, { "0001:00:14.0", 0x80100, true },  { "0001:00:15.0", 0x80400, true },
	{ "0001:00:16.0", 0x81000, true }, { "0001:0a:00.0", 0x00a00, false },
};
static const struct ptt_pmu pmus[] = {
	{ .name = "hisi_ptt0_0", .nfilters = COUNT(many), .filter = many },
	{ .name = "hisi_ptt0_2", .nfilters = COUNT(watched), .filter = watched },
	{ .name = "hisi_ptt1_2" }, /* nothing is plugged in */
};
static const struct ptt_pmu *const pmu = &pmus[1];

#define SPEC PTT_PROFILE_SPEC
#define DRIVER PTT_PROFILE_DRIVER

static const char *const profile_name[] = { "spec", "driver" };

static int judge(const char *text, enum ptt_profile f, struct ptt_ask *a, struct buf *warning, struct err *e)
{
	int rc = ptt_ask_parse(a, text, pmus, COUNT(pmus), f, e);

	for (uint32_t i = 0; rc == 0 && i < COUNT(pmus); i++)
		if (!strcmp(pmus[i].name, a->device))
			return ptt_ask_check(a, &pmus[i], f, e, warning);
	return rc;
}

/* words NULL: taken; else refused, and the words say so. */
static void verdict(int line, const char *text, enum ptt_profile f, const char *words, const char *warned)
{
	struct ptt_ask a = { 0 };
	struct buf warning = { 0 };
	struct err e = { 0 };
	int rc = judge(text, f, &a, &warning, &e);
	const char *said = warning.n ? warning.p : "";

	if (rc != (words ? -TALLY_EINVAL : 0))
		fail_msg("line %d: %s: %s: %d \"%s\"", line, profile_name[f], text, rc, e.text);
	if (words && !strstr(e.text, words))
		fail_msg("line %d: %s: \"%s\" does not say \"%s\"", line, profile_name[f], e.text, words);
	if (warned ? !strstr(said, warned) : *said)
		fail_msg("line %d: %s: warning \"%s\", not \"%s\"", line, profile_name[f], said, warned ? warned : "");
	buf_free(&warning);
}

#define D "hisi_ptt0_2/"
struct row {
	int line;
	const char *event;
	const char *spec, *driver; /* NULL: taken; words of the refusal */
	const char *warns;         /* words of the driver's warning */
};
#define BOTH(event)                               \
	{                                         \
		__LINE__, event, NULL, NULL, NULL \
	}
#define NEITHER(event, words)                       \
	{                                           \
		__LINE__, event, words, words, NULL \
	}
#define DRIVER_ONLY(event, words)                   \
	{                                           \
		__LINE__, event, words, NULL, words \
	}

/* What the Linux driver was seen to say of each. */
static const struct row observed[] = {
	BOTH(D "filter=0x80001,type=1/"),
	BOTH(D "filter=0x80004,type=1/"),
	BOTH(D "filter=0x80005,type=1/"),
	NEITHER(D "filter=0x80002,type=1/",
		"no root port of hisi_ptt0_2 has 0x0002 of the mask: there are 0000:00:10.0 "
		"(0x80001), 0000:00:11.0 (0x80004)"),
	NEITHER(D "filter=0x80003,type=1/", "0x0002 of the mask"),
	DRIVER_ONLY(D "filter=0x80000,type=1/", "a mask without a root port"),
	DRIVER_ONLY(D "filter=0xf0001,type=1/", "bits 18:16"),
	NEITHER(D "filter=0xf0002,type=1/", "0x0002 of the mask"),
	BOTH(D "filter=0x00100,type=1/"),
	BOTH(D "filter=0x00101,type=1/"),
	NEITHER(D "filter=0x00900,type=1/",
		"no requester 0x0900 (a mask of root ports has bit 19 set): there are 0000:01:00.0 "
		"(0x00100), 0000:01:00.1 (0x00101)"),
	DRIVER_ONLY(D "filter=0x70100,type=1/", "bits 18:16"),
	NEITHER(D "filter=0x80001,type=0/", "invalid type=0; expected 1 (posted), 2 (non-posted), 4 (completions)"),
	NEITHER(D "filter=0x80001,type=8/", "type=8"),
	NEITHER(D "filter=0x80001,type=0x10/", "type=16"),
	NEITHER(D "filter=0x80001,type=9/", "type=9"),
	BOTH(D "filter=0x80001,type=2/"),
	BOTH(D "filter=0x80001,type=4/"),
	BOTH(D "filter=0x80001,type=3,direction=0/"),
	BOTH(D "filter=0x80001,type=7,direction=0/"),
	BOTH(D "filter=0x80001,type=7,direction=2/"),
	BOTH(D "filter=0x80001,type=7,direction=3/"),
	BOTH(D "filter=0x80001,type=7,direction=2,format=1/"),
	BOTH(D "filter=0x80001,type=7,direction=3,format=1/"),
	BOTH(D "filter=0x80001,type=1,direction=1/"),
	BOTH(D "filter=0x80001,type=2,direction=1/"),
	BOTH(D "filter=0x80001,type=4,direction=1,format=1/"),
	DRIVER_ONLY(D "filter=0x80001,type=3,direction=1/", "direction=1 (outbound) takes one"),
	DRIVER_ONLY(D "filter=0x80001,type=7,direction=1,format=1/", "direction=1 (outbound) takes one"),
	DRIVER_ONLY(D "filter=0x80001,type=1,direction=0,format=1/", "2 is inbound (P, NP, CPL B), 3 inbound (CPL A)"),
	DRIVER_ONLY(D "filter=0x80001,type=1,format=1/", "direction=0, which is also the default, is reserved"),
	NEITHER(D "filter=0x80001,type=1,direction=4/", "invalid direction=4 (expected 0, 1, 2 or 3)"),
	NEITHER(D "filter=0x80001,type=1,direction=15/", "direction=15"),
	NEITHER(D "filter=0x80001,type=1,format=2/", "invalid format=2; expected 0 (4DW) or 1 (8DW)"),
	NEITHER(D "filter=0x80001,type=1,format=15/", "format=15"),
	DRIVER_ONLY(D "config=0x10001080001/", "bits from 36 up"),
	DRIVER_ONLY(D "config=0x8000000001080001/", "bits from 36 up"),
	DRIVER_ONLY(D "config=0x1001080001/", "bits from 36 up"),
	BOTH(D "config=0x1080001/"),
};

/* The culprit that is named is the driver's first, whatever else the specification would say. */
static const struct row order[] = {
	NEITHER(D "filter=0x80002,type=0,direction=4,format=2/", "filter=0x80002"),
	NEITHER(D "filter=0x80001,type=0,direction=4,format=2/", "direction=4"),
	NEITHER(D "filter=0x80001,type=0,direction=3,format=2/", "type=0"),
	NEITHER(D "filter=0x80001,type=1,direction=3,format=2/", "format=2"),
	NEITHER(D "filter=0x80000,type=0/", "type=0"),
	NEITHER(D "filter=0xf0001,type=7,direction=1,format=2/", "format=2"),
	{ __LINE__, D "filter=0xf0000,type=7,direction=1/", "a mask without a root port", NULL,
	  "a mask without a root port; filter has bits 18:16 set, which are reserved; type has several types" },
};

static const struct row spelling[] = {
	/* the device */
	BOTH("hisi_ptt0_2/filter=0x80001,type=1,direction=1,\n      format=1/"),
	BOTH("  hisi_ptt0_2 / filter = 0x80001 , type = 1 /  "),
	BOTH("hisi_ptt0_2/filter=0x80001,type=1"),
	NEITHER("filter=0x80001,type=1",
		"no device named: write hisi_ptt0_0/filter=.../, or another of hisi_ptt0_0, hisi_ptt0_2"),
	NEITHER("/filter=0x80001,type=1/", "no device named: write"),
	NEITHER("", "no device named: write"),
	NEITHER("hisi_ptt0_3/filter=0x80001,type=1/",
		"no PTT device \"hisi_ptt0_3\"; did you mean hisi_ptt0_0? (there are "
		"hisi_ptt0_0, hisi_ptt0_2, hisi_ptt1_2)"),
	NEITHER("cycles", "no PTT device \"cycles\" (there are"),
	NEITHER("hisi_ptt1_2/filter=0x80001,type=1/", "hisi_ptt1_2 has 0x0001 of the mask: it has none now"),
	NEITHER("hisi_ptt1_2/filter=0x100,type=1/",
		"no requester 0x0100 (a mask of root ports has bit 19 set): it has none now"),
	/* terms */
	NEITHER("hisi_ptt0_2", "filter is missing: filter=0x80001"),
	NEITHER(D "/", "filter is missing"),
	NEITHER(D "type=1/", "filter is missing"),
	NEITHER(D "filter=0x80001/", "type is missing: type=1 (posted), 2 (non-posted), 4 (completions)"),
	NEITHER(D "fliter=0x80001,type=1/",
		"unknown term \"fliter\"; did you mean filter? (filter, type, direction, format)"),
	NEITHER(D "zzzzzz=1/", "unknown term \"zzzzzz\" (filter, type, direction, format)"),
	NEITHER(D "filter=0x80001,,type=1/", "nothing between two commas"),
	NEITHER(D "filter=0x80001,type=1,/", "nothing after the last comma"),
	NEITHER(D "filter=0x80001,type/", "type requires a value: type=NUMBER"),
	NEITHER(D "filter=,type=1/", "filter requires a value"),
	NEITHER(D "filter=0x100,filter=0x101,type=1/",
		"filter is given twice; several root ports are joined by +, requesters "
		"can't be"),
	NEITHER(D "filter=0x100,type=1,type=2/", "type is given twice"),
	NEITHER(D "config=0x1080001,type=1/", "leave it out, or type"),
	NEITHER(D "config=x/", "invalid config=x (expected a 64-bit number)"),
	NEITHER(D "config=0x10000000000000000/", "(expected a 64-bit number)"),
	/* numbers */
	BOTH(D "filter=524289,type=0x1/"),
	BOTH(D "filter=256,type=1/"),
	BOTH(D "filter=0X80001,type=1,direction=0x3,format=0x1/"),
	NEITHER(D "filter=0x100000,type=1/", "filter=0x100000 is out of range (0xfffff at most)"),
	NEITHER(D "filter=0x80001,type=256/", "type=256 is out of range (0xff"),
	NEITHER(D "filter=0x80001,type=1,direction=16/", "direction=16 is out of range (0xf"),
	NEITHER(D "filter=0x80001,type=1,format=16/", "format=16 is out of range"),
	NEITHER(D "filter=-1,type=1/", "invalid filter=-1 (expected a number, or a name like 0000:01:00.0)"),
	NEITHER(D "filter=80001h,type=1/", "invalid filter=80001h"),
	NEITHER(D "filter=0x,type=1/", "invalid filter=0x "),
	NEITHER(D "filter=0x80001,type=one/", "unknown type \"one\"; expected p (1), np (2), cpl (4), joined by +"),
	NEITHER(D "filter=0x80001,type=p+/", "type=p+: unknown type \"\""),
	NEITHER(D "filter=0x80001,type=1,direction=inbound/",
		"invalid direction=inbound for format 4DW; expected 0 or in, 1 or out"),
	NEITHER(D "filter=0x80001,type=1,direction=both,format=1/",
		"invalid direction=both for format 8DW; expected 1 or out, 2 or in"),
	NEITHER(D "filter=0x80001,type=1,direction=in-a/", "for format 4DW"),
	NEITHER(D "filter=0x80001,type=1,format=16dw/", "invalid format=16dw (expected 0 or 4dw, 1 or 8dw)"),
	/* names */
	NEITHER(D "filter=0000:02:00.0,type=1/",
		"filter=0000:02:00.0 is not among the filters of hisi_ptt0_2: there are 0000:00:10.0 "
		"(0x80001), 0000:00:11.0 (0x80004), 0000:01:00.0 (0x00100), 0000:01:00.1 (0x00101)"),
	NEITHER("hisi_ptt0_0/filter=00:1f.0,type=1/", "0001:00:14.0 (0x80100) and 3 more"),
	NEITHER(D "filter=0001:00:10.0,type=1/", "not among the filters"),
	NEITHER(D "filter=00:18.0,type=1/", "not among the filters"),
	NEITHER(D "filter=01:00.2,type=1/", "not among the filters"),
	NEITHER(D "filter=0000:01:00.8,type=1/", "or a name like"),
	NEITHER(D "filter=0000:01:20.0,type=1/", "or a name like"),
	NEITHER(D "filter=0000:100:00.0,type=1/", "or a name like"),
	NEITHER(D "filter=0000:01:00.0.0,type=1/", "or a name like"),
	NEITHER(D "filter=01:00,type=1/", "or a name like"),
	NEITHER(D "filter=nvme0,type=1/", "invalid filter=nvme0"),
	NEITHER(D "filter=01:00.0+01:00.1,type=1/", "two requesters: one trace takes one endpoint function"),
	NEITHER(D "filter=00:10.0+01:00.0,type=1/", "a root port and a requester"),
	NEITHER(D "filter=0x100+0x80001,type=1/", "a root port and a requester"),
	NEITHER(D "filter=00:10.0+,type=1/", "invalid filter="),
	/* perf's modifiers */
	NEITHER(D "filter=0x80001,type=1/u", "modifier \"u\" does not apply: packets have no CPU mode"),
	NEITHER(D "filter=0x80001,type=1/Dk", "a PTT event takes no modifier|modifier \"k\""),
	{ __LINE__, D "filter=0x80001,type=1/D", "\"D\" after the event: a PTT event takes no modifier", NULL, NULL },
	{ __LINE__, D "filter=0x80001,type=1/ppe", "takes no modifier", NULL, NULL },
	NEITHER(D "filter=0x80001,type=1/z", "\"z\" after the event"),
	NEITHER(D "filter=0x80001,type=1/,dummy:u", "\",dummy:u\" after the event"),
};

static void rows_hold(const struct row *r, size_t n)
{
	for (; n--; r++) {
		const char *spec = r->spec, *driver = r->driver, *bar = spec ? strchr(spec, '|') : NULL;
		char first[64];

		if (bar) { /* each profile meets another letter first */
			memcpy(first, spec, (size_t)(bar - spec));
			first[bar - spec] = 0;
			spec = first;
			driver = bar + 1;
		}
		verdict(r->line, r->event, SPEC, spec, NULL);
		verdict(r->line, r->event, DRIVER, driver, r->warns);
	}
}

static void observed_verdicts_hold_in_both_profiles(void **state)
{
	(void)state;
	rows_hold(observed, COUNT(observed));
}

static void driver_names_first_what_it_checks_first(void **state)
{
	(void)state;
	rows_hold(order, COUNT(order));
}

static void misspelt_events_are_refused_with_cause_and_fix(void **state)
{
	(void)state;
	rows_hold(spelling, COUNT(spelling));
}

static void one_device_needs_no_name(void **state)
{
	struct err e = { 0 };
	struct ptt_ask a;

	(void)state;
	assert_int_equal(ptt_ask_parse(&a, "filter=0x80001,type=1", pmu, 1, SPEC, &e), 0);
	assert_string_equal(a.device, "hisi_ptt0_2");
	assert_int_equal(ptt_ask_parse(&a, "filter=0x80001,type=1/", pmu, 1, SPEC, &e), 0);
	assert_int_equal(ptt_ask_parse(&a, "filter=0x80001,type=1", pmu, 0, SPEC, &e), -TALLY_EINVAL);
	assert_non_null(strstr(e.text, "there is no PTT device"));
}

static void refused_event_leaves_the_old_one(void **state)
{
	struct ptt_ask a = { .filter = 7, .config = 9 };
	struct err e = { 0 };

	(void)state;
	assert_int_equal(ptt_ask_parse(&a, D "filter=0x80001,type=1,format=x/", pmus, COUNT(pmus), SPEC, &e),
			 -TALLY_EINVAL);
	assert_true(a.filter == 7 && a.config == 9 && !a.device[0]);
}

/* ---- values ----------------------------------------------------------------------------- */

static const struct {
	int line;
	const char *event;
	uint64_t config;
	uint32_t ctrl;
} coded[] = {
	/* those whose TRACE_CTRL was seen at the genuine driver, without EN */
	{ __LINE__, D "filter=0x80001,type=7,direction=2/", 0x07280001, 0x00010078 },
	{ __LINE__, D "filter=0x80001,type=7,direction=2,format=1/", 0x107280001, 0x00014078 },
	/* the specification's examples */
	{ __LINE__, D "filter=0x80001,type=1,direction=1,format=1/", 0x101180001, 0x00014014 },
	{ __LINE__, D "filter=0x00101,type=1/", 0x01000101, 0x01018010 },
	{ __LINE__, D "filter=0000:01:00.1,type=p/", 0x01000101, 0x01018010 },
	/* only the slot of a root port counts */
	{ __LINE__, D "filter=0000:00:10.0,type=1/", 0x01080001, 0x00010010 },
	{ __LINE__, D "filter=0000:00:10.1,type=1/", 0x01080001, 0x00010010 },
	{ __LINE__, D "filter=00:11.7,type=np/", 0x02080004, 0x00040020 },
	{ __LINE__, D "filter=00:10.0+00:11.0,type=p+np+cpl/", 0x07080005, 0x00050070 },
	{ __LINE__, D "filter=0x80001 + 00:11.0,type=CPL/", 0x04080005, 0x00050040 },
	{ __LINE__, "hisi_ptt0_0/filter=0001:0A:00.0,type=1/", 0x01000a00, 0x0a008010 },
	{ __LINE__, "hisi_ptt0_0/filter=1:a:0.0,type=1/", 0x01000a00, 0x0a008010 },
	{ __LINE__, "hisi_ptt0_0/filter=00:16.0,type=1/", 0x01081000, 0x10000010 },
	/* words of direction and format */
	{ __LINE__, D "filter=0x80001,type=1,direction=in/", 0x01080001, 0x00010010 },
	{ __LINE__, D "filter=0x80001,type=1,direction=out,format=4dw/", 0x01180001, 0x00010014 },
	{ __LINE__, D "filter=0x80001,type=1,direction=both/", 0x01280001, 0x00010018 },
	{ __LINE__, D "filter=0x80001,type=1,direction=both-b/", 0x01280001, 0x00010018 },
	{ __LINE__, D "filter=0x80001,type=1,direction=both-a/", 0x01380001, 0x0001001c },
	{ __LINE__, D "direction=out,filter=0x80001,type=1,format=8dw/", 0x101180001, 0x00014014 },
	{ __LINE__, D "direction=in,filter=0x80001,type=1,format=8dw/", 0x101280001, 0x00014018 },
	{ __LINE__, D "filter=0x80001,type=1,format=8DW,direction=in-b/", 0x101280001, 0x00014018 },
	{ __LINE__, D "filter=0x80001,type=1,format=8dw,direction=in-a/", 0x101380001, 0x0001401c },
	{ __LINE__, D "config=0x107280001/", 0x107280001, 0x00014078 },
};

static void events_become_config_and_control_register(void **state)
{
	(void)state;
	for (size_t i = 0; i < COUNT(coded); i++) {
		struct ptt_ask a = { 0 };
		struct err e = { 0 };
		struct buf warning = { 0 };

		if (judge(coded[i].event, SPEC, &a, &warning, &e) < 0)
			fail_msg("line %d: %s", coded[i].line, e.text);
		if (a.config != coded[i].config || ptt_ask_config(&a) != coded[i].config ||
		    ptt_ask_ctrl(&a) != coded[i].ctrl)
			fail_msg("line %d: config 0x%llx, control 0x%x", coded[i].line, (unsigned long long)a.config,
				 ptt_ask_ctrl(&a));
		buf_free(&warning);
	}
}

static void text_of_an_event_is_read_back(void **state)
{
	static const uint64_t config[] = { 0x101180001, 0x107280001, 0x01000101, 0xfff000000, 0x8000000001080001 };

	(void)state;
	for (size_t i = 0; i < COUNT(config); i++) {
		struct ptt_ask a = { .device = "hisi_ptt0_2" }, back = { 0 };
		struct err e = { 0 };
		struct buf b = { 0 };

		ptt_ask_of_config(&a, config[i]);
		assert_true(ptt_ask_config(&a) == config[i]);
		ptt_ask_text(&a, &b);
		assert_int_equal(ptt_ask_parse(&back, b.p, pmus, COUNT(pmus), SPEC, &e), 0);
		assert_true(back.config == config[i] && back.filter == a.filter && back.type == a.type &&
			    back.direction == a.direction && back.format == a.format);
		buf_free(&b);
	}
}

static void text_is_as_perf_writes_it(void **state)
{
	struct ptt_ask a = { .device = "hisi_ptt0_2", .filter = 0x101, .type = 1, .direction = 1, .format = 1 };
	struct buf b = { 0 };

	(void)state;
	ptt_ask_text(&a, &b);
	assert_string_equal(b.p, "hisi_ptt0_2/filter=0x00101,type=1,direction=1,format=1/");
	buf_free(&b);
}

/* hisi_ptt.rst, "Direction", both tables. */
static void eight_directions_have_their_texts(void **state)
{
	(void)state;
	assert_string_equal(ptt_direction_text(0, 0), "inbound (P, NP, CPL)");
	assert_string_equal(ptt_direction_text(0, 1), "outbound (P, NP, CPL)");
	assert_string_equal(ptt_direction_text(0, 2), "outbound (P, NP, CPL) and inbound (P, NP, CPL B)");
	assert_string_equal(ptt_direction_text(0, 3), "outbound (P, NP, CPL) and inbound (CPL A)");
	assert_null(ptt_direction_text(1, 0));
	assert_string_equal(ptt_direction_text(1, 1), "outbound (P, NP, CPL)");
	assert_string_equal(ptt_direction_text(1, 2), "inbound (P, NP, CPL B)");
	assert_string_equal(ptt_direction_text(1, 3), "inbound (CPL A)");
	assert_null(ptt_direction_text(0, 4));
	assert_null(ptt_direction_text(2, 1));
}

static void warning_says_only_what_this_event_breaks(void **state)
{
	struct ptt_ask a = { .filter = 0x80001, .type = 7, .direction = 1 };
	struct buf warning = { 0 };
	struct err e = { 0 };

	(void)state;
	assert_int_equal(ptt_ask_check(&a, pmu, DRIVER, &e, &warning), 0);
	assert_string_equal(
		warning.p, "hisi_ptt.rst does not allow this event: type has several types, and direction=1 (outbound) "
			   "takes one");
	a.type = 1;
	assert_int_equal(ptt_ask_check(&a, pmu, DRIVER, &e, &warning), 0);
	assert_int_equal(warning.n, 0);
	a.type = 7;
	assert_int_equal(ptt_ask_check(&a, pmu, DRIVER, &e, NULL), 0);
	buf_free(&warning);
}

static void memory_that_runs_out_is_said(void **state)
{
	long n = 1;

	(void)state;
	for (bool ran_out = true; ran_out; n++) {
		struct ptt_ask a = { .filter = 0x80000, .type = 7, .direction = 1, .config = 1ull << 63 };
		struct buf warning = { 0 };
		struct err e = { 0 };
		int rc;

		mem_fail_at(n);
		rc = ptt_ask_check(&a, pmu, DRIVER, &e, &warning);
		ran_out = mem_failed();
		mem_fail_at(0);
		assert_int_equal(rc, ran_out ? -TALLY_ENOMEM : 0);
		buf_free(&warning);
		assert_int_equal(mem_live(), 0);
	}
	assert_true(n > 2);
}

/* ---- tunables ------------------------------------------------------------------------------ */

#define REFUSED UINT32_MAX
static const struct {
	int line;
	const char *text;
	uint32_t spec, driver;
	const char *words;
} tuned[] = {
	{ __LINE__, "0", 0, 0, NULL },
	{ __LINE__, "1", 1, 1, NULL },
	{ __LINE__, "2", 2, 2, NULL },
	{ __LINE__, "2\n", 2, 2, NULL },
	{ __LINE__, " 2", REFUSED, REFUSED, "invalid value \" 2\" with a blank" },
	{ __LINE__, "2 ", REFUSED, REFUSED, "with a blank" },
	{ __LINE__, "\t2", REFUSED, REFUSED, "with a blank" },
	{ __LINE__, "\n2", REFUSED, REFUSED, "with a blank" },
	{ __LINE__, "2\n\n", REFUSED, REFUSED, "with a blank" },
	{ __LINE__, "2 \n", REFUSED, REFUSED, "with a blank" },
	{ __LINE__, " 2\n", REFUSED, REFUSED, "with a blank" },
	{ __LINE__, "\n", REFUSED, REFUSED, "no value given" },
	{ __LINE__, "+2", 2, 2, NULL },
	{ __LINE__, "002", 2, 2, NULL },
	{ __LINE__, "3", 3, 3, NULL }, /* the device makes 2 of it */
	{ __LINE__, "65535", 65535, 65535, NULL },
	{ __LINE__, "65536", 65535, REFUSED, "65536: the driver takes no more than 65535" },
	{ __LINE__, "4294967298", 65535, REFUSED, "no more than 65535" },
	{ __LINE__, "18446744073709551618", 65535, REFUSED, "no more than 65535" },
	{ __LINE__, "-1", REFUSED, REFUSED, "-1 is negative (expected 0, 1 or 2)" },
	{ __LINE__, "-0", REFUSED, REFUSED, "negative" },
	{ __LINE__, "-99999999999999999999", REFUSED, REFUSED, "negative" },
	{ __LINE__, "", REFUSED, REFUSED, "no value given" },
	{ __LINE__, "  ", REFUSED, REFUSED, "no value given" },
	{ __LINE__, "x", REFUSED, REFUSED, "invalid value \"x\" (expected 0, 1 or 2)" },
	{ __LINE__, "0x1", REFUSED, REFUSED, "invalid value \"0x1\"" },
	{ __LINE__, "1.5", REFUSED, REFUSED, "invalid value" },
	{ __LINE__, "1 2", REFUSED, REFUSED, "invalid value" },
	{ __LINE__, "+", REFUSED, REFUSED, "invalid value" },
	{ __LINE__, "++1", REFUSED, REFUSED, "invalid value" },
	{ __LINE__, "+-1", REFUSED, REFUSED, "invalid value" },
};

static void values_of_tunables_are_judged_by_both_profiles(void **state)
{
	(void)state;
	for (size_t i = 0; i < 2 * COUNT(tuned); i++) {
		enum ptt_profile f = i & 1 ? DRIVER : SPEC;
		uint32_t want = f == DRIVER ? tuned[i / 2].driver : tuned[i / 2].spec, got = 77;
		struct err e = { 0 };
		int rc = ptt_tune_parse(tuned[i / 2].text, f, &got, &e);

		if (rc != (want == REFUSED ? -TALLY_EINVAL : 0) || got != (want == REFUSED ? 77 : want) ||
		    (rc < 0 && !strstr(e.text, tuned[i / 2].words)))
			fail_msg("line %d: %s: %d, %u \"%s\"", tuned[i / 2].line, profile_name[f], rc, got, e.text);
	}
}

static void tunables_are_found_by_name_and_alias(void **state)
{
	struct err e = { 0 };
	enum ptt_tune t = PTT_TUNES;

	(void)state;
	for (uint32_t i = 0; i < PTT_TUNES; i++) {
		assert_int_equal(ptt_tune_find(ptt_tunables[i].name, &t, &e), 0);
		assert_int_equal(t, i);
	}
	assert_int_equal(ptt_tune_find("tx_path_rx_req_alloc_buf_level", &t, &e), 0);
	assert_int_equal(t, PTT_TUNE_rx_alloc_buf_level);
	assert_int_equal(ptt_tune_find("tx_path_tx_req_alloc_buf_level", &t, &e), 0);
	assert_int_equal(t, PTT_TUNE_tx_alloc_buf_level);
}

static void unknown_tunable_is_refused_with_the_nearest(void **state)
{
	static const char *const said[][2] = {
		{ "qos_tx_dp", "no tunable \"qos_tx_dp\"; did you mean qos_tx_p?" },
		{ "qos_tx_npp", "did you mean qos_tx_np?" },
		{ "rx_alloc_buf_lvl", "did you mean rx_alloc_buf_level?" },
		{ "tx_path_tx_req_alloc_buf_lvl", "did you mean tx_path_tx_req_alloc_buf_level?" },
		{ "turbo",
		  "no tunable \"turbo\": there are qos_tx_cpl, qos_tx_np, qos_tx_p, rx_alloc_buf_level, tx_alloc_buf_level" },
		{ "", "no tunable \"\": there are" },
		{ "qos_tx_p ", "no tunable \"qos_tx_p \"; did you mean qos_tx_p?" },
		{ " qos_tx_p", "did you mean qos_tx_p?" },
	};

	(void)state;
	for (size_t i = 0; i < COUNT(said); i++) {
		struct err e = { 0 };
		enum ptt_tune t = PTT_TUNES;

		assert_int_equal(ptt_tune_find(said[i][0], &t, &e), -TALLY_EINVAL);
		assert_int_equal(t, PTT_TUNES);
		if (!strstr(e.text, said[i][1]))
			fail_msg("\"%s\" does not say \"%s\"", e.text, said[i][1]);
	}
}

/* ---- the ring --------------------------------------------------------------------------------- */

#define MIB (1ull << 20)
static const struct {
	int line;
	const char *text;
	uint64_t spec, driver; /* bytes; 0: refused */
	const char *words;     /* of the driver's refusal, or of both */
} rings[] = {
	{ __LINE__, NULL, 16 * MIB, 16 * MIB, NULL },
	{ __LINE__, "16M", 16 * MIB, 16 * MIB, NULL },
	{ __LINE__, ",16M", 16 * MIB, 16 * MIB, NULL },
	{ __LINE__, "32m", 32 * MIB, 32 * MIB, NULL },
	{ __LINE__, "32768K", 32 * MIB, 32 * MIB, NULL },
	{ __LINE__, "33554432B", 32 * MIB, 32 * MIB, NULL },
	{ __LINE__, "1G", 1024 * MIB, 1024 * MIB, NULL },
	{ __LINE__, "64G", 65536 * MIB, 65536 * MIB, NULL },
	{ __LINE__, "4096K", 4 * MIB, 0, "-m 4096K is too small: the driver requires 16M (its four buffers) or more" },
	{ __LINE__, "8M", 8 * MIB, 0, "too small" },
	{ __LINE__, "2M", 0, 0, "-m 2M is too small" },
	{ __LINE__, "0M", 0, 0, "too small" },
	{ __LINE__, "24M", 0, 0, "-m 24M is not a power of two up to 64G" },
	{ __LINE__, "128G", 0, 0, "not a power of two up to 64G" },
	{ __LINE__, "99999999999999G", 0, 0, "invalid size" },
	{ __LINE__, "4194304", 4 * MIB, 0,
	  "-m 4194304 is too small (these are bytes, not pages): the driver requires 16M" },
	{ __LINE__, "16777216", 16 * MIB, 16 * MIB, NULL },
	{ __LINE__, "16", 0, 0, "-m 16 is too small (these are bytes, not pages)" },
	{ __LINE__, "16777217", 0, 0, "-m 16777217 is not a power of two up to 64G" },
	{ __LINE__, "16M4", 0, 0, "invalid size -m 16M4 (expected bytes, or a number and K, M or G, e.g. 16M)" },
	{ __LINE__, "0x1000000", 16 * MIB, 16 * MIB, NULL },
	{ __LINE__, "B", 0, 0, "invalid size" },
	{ __LINE__, "M", 0, 0, "invalid size" },
	{ __LINE__, "", 0, 0, "invalid size" },
	{ __LINE__, ",", 0, 0, "invalid size" },
	{ __LINE__, "-16M", 0, 0, "invalid size" },
	{ __LINE__, "16T", 0, 0, "invalid size" },
};

static void sizes_of_rings_are_judged_by_both_profiles(void **state)
{
	(void)state;
	for (size_t i = 0; i < 2 * COUNT(rings); i++) {
		enum ptt_profile f = i & 1 ? DRIVER : SPEC;
		uint64_t want = f == DRIVER ? rings[i / 2].driver : rings[i / 2].spec;
		size_t got = 0;
		struct err e = { 0 };
		int rc = ptt_ring_parse(rings[i / 2].text, f, &got, &e);

		if (rc != (want ? 0 : -TALLY_EINVAL) || got != want || (rc < 0 && !strstr(e.text, rings[i / 2].words)))
			fail_msg("line %d: %s: %d, %zu \"%s\"", rings[i / 2].line, profile_name[f], rc, got, e.text);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(observed_verdicts_hold_in_both_profiles),
		cmocka_unit_test(driver_names_first_what_it_checks_first),
		cmocka_unit_test(misspelt_events_are_refused_with_cause_and_fix),
		cmocka_unit_test(one_device_needs_no_name),
		cmocka_unit_test(refused_event_leaves_the_old_one),
		cmocka_unit_test(events_become_config_and_control_register),
		cmocka_unit_test(text_of_an_event_is_read_back),
		cmocka_unit_test(text_is_as_perf_writes_it),
		cmocka_unit_test(eight_directions_have_their_texts),
		cmocka_unit_test(warning_says_only_what_this_event_breaks),
		cmocka_unit_test(memory_that_runs_out_is_said),
		cmocka_unit_test(values_of_tunables_are_judged_by_both_profiles),
		cmocka_unit_test(tunables_are_found_by_name_and_alias),
		cmocka_unit_test(unknown_tunable_is_refused_with_the_nearest),
		cmocka_unit_test(sizes_of_rings_are_judged_by_both_profiles),
	};

	return cmocka_run_group_tests_name("rule", tests, NULL, NULL);
}
