/*
 * ptt.c: HiSilicon PCIe Tune and Trace, hisi_ptt.rst.
 *
 * Places are chapters of that text ("Tune 1", "Trace 4"); "D" numbers of decisions (8 to 17); "TLP" the header layouts
 * of PCI Express that the text refers to.
 */
#include "spec.h"

#include <unistd.h>

#include <tally/platform.h>

/* ---- a platform ---------------------------------------------------------------------------------------- */
static struct tally_platform *platform(const char *on, uint32_t profile)
{
	struct tally_platform *p = NULL;
	struct tally_platform_opts o = { .size = sizeof o, .on = on, .profile = profile };
	spec_needs(!tally_platform_open(&p, &o), "%s: %s", on, tally_platform_error(p));
	return p;
}

static struct tally_out json_to(struct spec_text *text)
{
	return (struct tally_out){
		.size = sizeof(struct tally_out), .out = spec_text_add, .arg = text, .format = TALLY_FORMAT_JSON
	};
}

/* ---- Introduction, Trace 1: devices and filters ----------------------------------------------------------- */
static const struct {
	const char *device, *name;
	uint32_t value;
	bool port;
} filters[] = {
	{ "hisi_ptt0_0", "0000:00:08.0", 0x80001, true },  { "hisi_ptt0_0", "0000:00:09.0", 0x80004, true },
	{ "hisi_ptt0_0", "0000:00:0a.0", 0x80010, true },  { "hisi_ptt0_0", "0000:21:00.0", 0x02100, false },
	{ "hisi_ptt0_0", "0000:22:00.0", 0x02200, false }, { "hisi_ptt0_0", "0000:23:00.0", 0x02300, false },
	{ "hisi_ptt0_2", "0000:00:10.0", 0x80001, true },  { "hisi_ptt0_2", "0000:00:11.0", 0x80004, true },
	{ "hisi_ptt0_2", "0000:00:12.0", 0x80010, true },  { "hisi_ptt0_2", "0000:01:00.0", 0x00100, false },
	{ "hisi_ptt0_2", "0000:01:00.1", 0x00101, false }, { "hisi_ptt0_2", "0000:02:00.0", 0x00200, false },
	{ "hisi_ptt0_2", "0000:03:00.0", 0x00300, false }, { "hisi_ptt0_2", "0000:03:01.0", 0x00308, false },
	{ "hisi_ptt0_2", "0000:04:00.0", 0x00400, false }, { "hisi_ptt0_2", "0000:05:00.0", 0x00500, false },
};
static const struct {
	const char *type;
	uint64_t value;
	const char *term, *words[3];
} terms[] = {
	{ "tlp_type", 1, "type=1", { "posted" } },
	{ "tlp_type", 2, "type=2", { "non-posted" } },
	{ "tlp_type", 4, "type=4", { "completions" } },
	{ "direction_4dw", 0, "direction=0", { "inbound (P, NP, CPL)" } },
	{ "direction_4dw", 1, "direction=1", { "outbound (P, NP, CPL)" } },
	{ "direction_4dw", 2, "direction=2", { "outbound (P, NP, CPL)", "inbound (P, NP, CPL B)" } },
	{ "direction_4dw", 3, "direction=3", { "outbound (P, NP, CPL)", "inbound (CPL A)" } },
	{ "direction_8dw", 1, "direction=1", { "outbound (P, NP, CPL)" } },
	{ "direction_8dw", 2, "direction=2", { "inbound (P, NP, CPL B)" } },
	{ "direction_8dw", 3, "direction=3", { "inbound (CPL A)" } },
	{ "format", 0, "format=0", { "4 double words" } },
	{ "format", 1, "format=1", { "8 double words" } },
};

static void listed(void)
{
	struct tally_platform *p = platform("kunpeng", 0);
	struct spec_text text = { 0 };
	struct tally_out to = json_to(&text);
	spec_needs(!tally_list(p, "ptt", NULL, false, &to), "list ptt: %s", tally_platform_error(p));
	bool found[sizeof filters / sizeof *filters] = { 0 }, term[sizeof terms / sizeof *terms] = { 0 },
					   reserved = false;
	unsigned devices = 0;
	char *at = text.s, *line;
	while ((line = spec_line(&at))) {
		devices += spec_is(line, "type", "device") && !strncmp(spec_string(line, "name"), "hisi_ptt", 8);
		reserved |= spec_is(line, "type", "direction_8dw") && spec_number(line, "value") == 0;
		for (unsigned i = 0; i < sizeof filters / sizeof *filters; i++)
			found[i] |= spec_is(line, "device", filters[i].device) &&
				    spec_is(line, "name", filters[i].name) &&
				    spec_number(line, "value") == filters[i].value &&
				    spec_is(line, "type", filters[i].port ? "root_port" : "requester");
		for (unsigned i = 0; i < sizeof terms / sizeof *terms; i++) {
			bool is = spec_is(line, "type", terms[i].type) &&
				  spec_number(line, "value") == terms[i].value && spec_is(line, "term", terms[i].term);
			for (unsigned w = 0; w < 3 && terms[i].words[w]; w++)
				is = is && strstr(spec_string(line, "text"), terms[i].words[w]);
			term[i] |= is;
		}
	}
	spec_equal(devices, 2, "Introduction",
		   "each PCIe core has a PTT device, hisi_ptt and the ids of SICL and core");
	spec_says(!reserved, "Trace 3", "direction 0 is not offered for 8DW: reserved");
	for (unsigned i = 0; i < sizeof filters / sizeof *filters; i++)
		spec_says(found[i], "Trace 1", "%s of %s has filter value %#x", filters[i].name, filters[i].device,
			  filters[i].value);
	for (unsigned i = 0; i < sizeof terms / sizeof *terms; i++)
		spec_says(term[i], "Trace 2-4", "%s of %s is what the text says", terms[i].term, terms[i].type);
	spec_text_free(&text);
	tally_platform_close(p);
}

/* ---- Tune --------------------------------------------------------------------------------------------------- */
static const struct {
	const char *name, *chapter;
	unsigned reset;
} tunables[] = {
	{ "qos_tx_cpl", "Tune 1", 1 },         { "qos_tx_np", "Tune 1", 1 },          { "qos_tx_p", "Tune 1", 1 },
	{ "rx_alloc_buf_level", "Tune 2", 0 }, { "tx_alloc_buf_level", "Tune 2", 2 },
};
enum { NTUNABLES = sizeof tunables / sizeof *tunables };

static uint64_t tuned(struct tally_platform *p, const char *device, const char *name)
{
	char selector[96];
	snprintf(selector, sizeof selector, "%s/%s", device, name);
	struct spec_text text = { 0 };
	struct tally_out to = json_to(&text);
	spec_needs(!tally_get(p, selector, &to), "%s: %s", selector, tally_platform_error(p));
	uint64_t v = spec_number(text.s, "value");
	spec_text_free(&text);
	return v;
}

static int tune(struct tally_platform *p, const char *device, const char *name, const char *value)
{
	char assignment[128];
	snprintf(assignment, sizeof assignment, "%s/%s=%s", device, name, value);
	return tally_set(p, assignment);
}

static void tuning(void)
{
	static const struct {
		const char *value;
		unsigned spec, driver;
	} values[] = {
		/* 9: an error */
		{ "0", 0, 0 },          { "1", 1, 1 },           { "2", 2, 2 },      { "3", 2, 2 },
		{ "4", 2, 2 },          { "7", 2, 2 },           { "255", 2, 2 },    { "256", 2, 2 },
		{ "65535", 2, 2 },      { "65536", 2, 9 },       { "100000", 2, 9 }, { "4294967295", 2, 9 },
		{ "4294967296", 2, 9 }, { "4294967297", 2, 9 },  { "-1", 9, 9 },     { "-2", 9, 9 },
		{ "-65536", 9, 9 },     { "-4294967295", 9, 9 }, { "x", 9, 9 },      { "", 9, 9 },
		{ "1x", 9, 9 },         { "1.5", 9, 9 },         { "two", 9, 9 },
	};
	for (unsigned profile = 0; profile < 2; profile++) {
		struct tally_platform *p =
			platform("kunpeng,load=idle", profile ? TALLY_PROFILE_DRIVER : TALLY_PROFILE_SPEC);
		const char *who = profile ? "driver" : "spec";
		for (unsigned t = 0; t < NTUNABLES; t++) {
			spec_equal(tuned(p, "hisi_ptt0_2", tunables[t].name), tunables[t].reset, "D12",
				   "%s: %s behind a reset", who, tunables[t].name);
			spec_equal(tuned(p, "hisi_ptt0_0", tunables[t].name), tunables[t].reset, "D12",
				   "%s: %s of the other core behind a reset", who, tunables[t].name);
			for (unsigned v = 0; v < sizeof values / sizeof *values; v++) {
				unsigned before = v % 2, must = profile ? values[v].driver : values[v].spec;
				spec_needs(!tune(p, "hisi_ptt0_2", tunables[t].name, before ? "1" : "0"),
					   "a value before");
				int rc = tune(p, "hisi_ptt0_2", tunables[t].name, values[v].value);
				spec_equal((uint64_t)rc, must == 9 ? (uint64_t)-TALLY_EINVAL : 0, tunables[t].chapter,
					   "%s: writing '%s' to %s", who, values[v].value, tunables[t].name);
				spec_equal(tuned(p, "hisi_ptt0_2", tunables[t].name), must == 9 ? before : must,
					   tunables[t].chapter, "%s: %s behind '%s'", who, tunables[t].name,
					   values[v].value);
			}
			spec_equal(tuned(p, "hisi_ptt0_0", tunables[t].name), tunables[t].reset, "Tune, D13",
				   "%s: %s of the other core is as it was", who, tunables[t].name);
			tune(p, "hisi_ptt0_2", tunables[t].name, "0");
			for (unsigned o = 0; o < NTUNABLES; o++)
				if (o > t)
					spec_equal(tuned(p, "hisi_ptt0_2", tunables[o].name), tunables[o].reset, "Tune",
						   "%s: %s leaves %s", who, tunables[t].name, tunables[o].name);
		}
		tally_platform_close(p);
	}
	struct tally_platform *p = platform("kunpeng,load=idle", 0);
	spec_equal((uint64_t)tune(p, "hisi_ptt0_2", "tx_path_rx_req_alloc_buf_level", "1"), 0, "Tune, D12",
		   "the text's longer name of the Rx level is taken");
	spec_equal(tuned(p, "hisi_ptt0_2", "rx_alloc_buf_level"), 1, "Tune, D12", "and is the Rx level");
	spec_equal((uint64_t)tune(p, "hisi_ptt0_2", "tx_path_tx_req_alloc_buf_level", "1"), 0, "Tune, D12",
		   "the text's longer name of the Tx level is taken");
	spec_equal(tuned(p, "hisi_ptt0_2", "tx_alloc_buf_level"), 1, "Tune, D12", "and is the Tx level");
	spec_equal(tuned(p, "hisi_ptt0_2", "tx_path_tx_req_alloc_buf_level"), 1, "Tune, D12",
		   "which is read by that name as well");
	spec_equal((uint64_t)tune(p, "hisi_ptt0_2", "qos_tx_dp", "2"), (uint64_t)-TALLY_EINVAL, "Tune, D12",
		   "qos_tx_dp is a misprint");
	spec_says(strstr(tally_platform_error(p), "qos_tx_p"), "Tune, D12", "whose refusal names qos_tx_p");
	spec_equal((uint64_t)tune(p, "hisi_ptt0_2", "qos_rx_p", "1"), (uint64_t)-TALLY_EINVAL, "Tune",
		   "there is no qos_rx_p");
	spec_equal((uint64_t)tune(p, "hisi_ptt0_1", "qos_tx_p", "1"), (uint64_t)-TALLY_EINVAL, "Tune",
		   "there is no device of core 1");
	tally_platform_close(p);
}

/* ---- traces --------------------------------------------------------------------------------------------------- */
static char trace_path[] = "/tmp/spec-ptt-XXXXXX";

static int record(struct tally_platform *p, const char *event, const char *ring, uint64_t ns,
		  struct tally_record_result *ret)
{
	struct tally_record_opts r = { .size = sizeof r,
				       .event = event,
				       .path = ret ? trace_path : "/dev/null",
				       .ring = ring,
				       .duration_ns = ns };
	if (ret)
		*ret = (struct tally_record_result){ .size = sizeof *ret };
	return tally_record(p, &r, ret);
}

/* D8 to D10: which events are taken. s, d: by the text, by the driver. */
static const struct {
	const char *event;
	bool s, d;
	const char *what;
} verdicts[] = {
	{ "filter=0x80001,type=1,direction=1,format=1", true, true, "the text's example" },
	{ "filter=0x80001,type=1", true, true, "a root port" },
	{ "filter=0x80004,type=1", true, true, "the second root port" },
	{ "filter=0x80010,type=1", true, true, "the third root port" },
	{ "filter=0x80005,type=1", true, true, "two root ports" },
	{ "filter=0x80015,type=1", true, true, "three root ports" },
	{ "filter=0x00100,type=1", true, true, "a requester" },
	{ "filter=0x00101,type=1", true, true, "the text's function 0000:01:00.1" },
	{ "filter=0x00500,type=1", true, true, "a requester behind a switch" },
	{ "filter=0000:00:10.0,type=1", true, true, "a root port by name" },
	{ "filter=0000:00:10.0+0000:00:11.0,type=1", true, true, "two root ports by name" },
	{ "filter=0000:01:00.1,type=1", true, true, "a requester by name" },
	{ "filter=0000:01:00.0+0000:01:00.1,type=1", false, false, "two requesters: one Endpoint function only" },
	{ "filter=0000:00:10.0+0000:01:00.0,type=1", false, false, "root port and function at the same time" },
	{ "filter=0x80000,type=1", false, true, "an empty mask" },
	{ "filter=0x80002,type=1", false, false, "a bit that no slot has" },
	{ "filter=0x80003,type=1", false, false, "a root port and a bit that no slot has" },
	{ "filter=0x80008,type=1", false, false, "another odd bit" },
	{ "filter=0x80040,type=1", false, false, "a slot without a port" },
	{ "filter=0x84000,type=1", false, false, "slot 7, without a port" },
	{ "filter=0x88001,type=1", false, false, "a root port and bit 15" },
	{ "filter=0xf0001,type=1", false, true, "bits 18:16, which are reserved" },
	{ "filter=0x90001,type=1", false, true, "bit 16, which is reserved" },
	{ "filter=0xc0001,type=1", false, true, "bit 18, which is reserved" },
	{ "filter=0x100001,type=1", false, false, "bit 20: a parameter has 20 bits" },
	{ "filter=0x00900,type=1", false, false, "a requester that isn't there" },
	{ "filter=0x00102,type=1", false, false, "a function that isn't there" },
	{ "filter=0x02100,type=1", false, false, "a requester of the other core" },
	{ "filter=0x0,type=1", false, false, "requester 0" },
	{ "type=1", false, false, "no filter: it is required" },
	{ "filter=0x80001", false, false, "no type: it is required" },
	{ "filter=0x80001,direction=1", false, false, "a direction and no type" },
	{ "filter=0x80001,type=0", false, false, "no type at all" },
	{ "filter=0x80001,type=2", true, true, "non-posted requests" },
	{ "filter=0x80001,type=3", true, true, "two types inbound" },
	{ "filter=0x80001,type=4", true, true, "completions" },
	{ "filter=0x80001,type=5", true, true, "posted and completions inbound" },
	{ "filter=0x80001,type=6", true, true, "non-posted and completions inbound" },
	{ "filter=0x80001,type=7", true, true, "all types inbound" },
	{ "filter=0x80001,type=8", false, false, "a type that there isn't" },
	{ "filter=0x80001,type=9", false, false, "a type that there isn't, and posted" },
	{ "filter=0x80001,type=16", false, false, "type bit 4" },
	{ "filter=0x80001,type=128", false, false, "type bit 7" },
	{ "filter=0x80001,type=256", false, false, "bit 8: a parameter has 8 bits" },
	{ "filter=0x80001,type=-1", false, false, "a negative type" },
	{ "filter=0x80001,type=1,direction=0", true, true, "4DW inbound" },
	{ "filter=0x80001,type=1,direction=1", true, true, "4DW outbound" },
	{ "filter=0x80001,type=2,direction=1", true, true, "4DW outbound, non-posted" },
	{ "filter=0x80001,type=4,direction=1", true, true, "4DW outbound, completions" },
	{ "filter=0x80001,type=3,direction=1", false, true, "4DW outbound, posted and non-posted" },
	{ "filter=0x80001,type=5,direction=1", false, true, "4DW outbound, posted and completions" },
	{ "filter=0x80001,type=6,direction=1", false, true, "4DW outbound, non-posted and completions" },
	{ "filter=0x80001,type=7,direction=1", false, true, "4DW outbound, all types" },
	{ "filter=0x80001,type=7,direction=2", true, true, "4DW both ways with CPL B, all types" },
	{ "filter=0x80001,type=7,direction=3", true, true, "4DW both ways with CPL A, all types" },
	{ "filter=0x80001,type=3,direction=2", true, true, "4DW direction 2, two types" },
	{ "filter=0x80001,type=6,direction=3", true, true, "4DW direction 3, two types" },
	{ "filter=0x80001,type=1,direction=4", false, false, "direction 4" },
	{ "filter=0x80001,type=1,direction=8", false, false, "direction 8" },
	{ "filter=0x80001,type=1,direction=15", false, false, "direction 15" },
	{ "filter=0x80001,type=1,direction=16", false, false, "direction 16: a parameter has 4 bits" },
	{ "filter=0x80001,type=1,direction=0,format=1", false, true, "8DW direction 0: reserved" },
	{ "filter=0x80001,type=7,direction=0,format=1", false, true, "8DW direction 0, all types: reserved" },
	{ "filter=0x80001,type=1,format=1", false, true, "8DW without a direction" },
	{ "filter=0x80001,type=2,direction=1,format=1", true, true, "8DW outbound, non-posted" },
	{ "filter=0x80001,type=4,direction=1,format=1", true, true, "8DW outbound, completions" },
	{ "filter=0x80001,type=6,direction=1,format=1", false, true, "8DW outbound, two types" },
	{ "filter=0x80001,type=7,direction=1,format=1", false, true, "8DW outbound, all types" },
	{ "filter=0x80001,type=7,direction=2,format=1", true, true, "8DW inbound, all types" },
	{ "filter=0x80001,type=3,direction=2,format=1", true, true, "8DW inbound, two types" },
	{ "filter=0x80001,type=4,direction=3,format=1", true, true, "8DW inbound CPL A" },
	{ "filter=0x80001,type=1,direction=4,format=1", false, false, "8DW direction 4" },
	{ "filter=0x80001,type=1,format=0", true, true, "4DW said" },
	{ "filter=0x80001,type=1,direction=1,format=4dw", true, true, "4DW by name" },
	{ "filter=0x80001,type=1,direction=1,format=8dw", true, true, "8DW by name" },
	{ "filter=0x80001,type=p+np+cpl,direction=2", true, true, "types by name" },
	{ "filter=0x80001,type=1,direction=1,format=2", false, false, "format 2" },
	{ "filter=0x80001,type=1,direction=1,format=3", false, false, "format 3" },
	{ "filter=0x80001,type=1,direction=1,format=15", false, false, "format 15" },
	{ "filter=0x80001,type=1,direction=1,format=16", false, false, "format 16: a parameter has 4 bits" },
	{ "filter=0x80001,type=1,pattern=1", false, false, "a parameter that there isn't" },
	{ "filter=,type=1", false, false, "a filter without a value" },
};

static void events(void)
{
	for (unsigned i = 0; i < sizeof verdicts / sizeof *verdicts; i++)
		for (unsigned profile = 0; profile < 2; profile++) {
			struct tally_platform *p =
				platform("kunpeng,load=idle", profile ? TALLY_PROFILE_DRIVER : TALLY_PROFILE_SPEC);
			char event[160];
			snprintf(event, sizeof event, "hisi_ptt0_2/%s/", verdicts[i].event);
			bool takes = profile ? verdicts[i].d : verdicts[i].s;
			int rc = record(p, event, NULL, 1000, NULL);
			spec_equal((uint64_t)rc, takes ? 0 : (uint64_t)-TALLY_EINVAL, "Trace 1-4, D8-D10",
				   "%s: %s (%s)", profile ? "driver" : "spec", verdicts[i].what, verdicts[i].event);
			if (!profile && strstr(verdicts[i].what, "required"))
				spec_says(strstr(tally_platform_error(p),
						 strncmp(verdicts[i].event, "type", 4) ? "type" : "filter"),
					  "Trace 1-2, D10", "%s, says the refusal", verdicts[i].what);
			if (!profile && !strcmp(verdicts[i].what, "8DW without a direction"))
				spec_says(strchr(tally_platform_error(p), '2') && strchr(tally_platform_error(p), '3'),
					  "D10", "8DW without a direction: the refusal names 2 and 3");
			tally_platform_close(p);
		}
}

/* Trace 5: the AUX ring. s, d: as above; two ways to say 32 MiB. */
static const struct {
	const char *ring;
	bool s, d;
} rings[] = {
	{ "1M", false, false },     { "2M", false, false }, { "4M", true, false }, { "8M", true, false },
	{ "16M", true, true },      { "32M", true, true },  { "64M", true, true }, { "6M", false, false },
	{ "33554432", true, true }, { "0", false, false },  { "x", false, false },
};

static void memory(void)
{
	for (unsigned i = 0; i < sizeof rings / sizeof *rings; i++)
		for (unsigned profile = 0; profile < 2; profile++) {
			struct tally_platform *p =
				platform("kunpeng,load=idle", profile ? TALLY_PROFILE_DRIVER : TALLY_PROFILE_SPEC);
			bool takes = profile ? rings[i].d : rings[i].s;
			int rc = record(p, "hisi_ptt0_2/filter=0x80001,type=7/", rings[i].ring, 1000, NULL);
			spec_says(takes ? !rc : rc < 0, "Trace 5, D14", "%s: an AUX buffer of %s",
				  profile ? "driver" : "spec", rings[i].ring);
			tally_platform_close(p);
		}
	/* Once the AUX buffer is full it is committed, and a new one of the same size is applied for. */
	struct tally_platform *p = platform("kunpeng,load=full", 0);
	struct tally_record_result r;
	spec_needs(!record(p, "hisi_ptt0_2/filter=0x80015,type=7,direction=2,format=1/", "4M", 60000000, &r),
		   "a long trace: %s", tally_platform_error(p));
	spec_says(r.bytes > 3 * (4 << 20), "Trace 5", "more than three AUX buffers are recorded");
	spec_says(!r.lost && !r.gaps, "Trace 5, D14", "of which nothing is lost");
	spec_equal(r.records, r.bytes / 32, "Trace 4", "a record of 8DW has 32 bytes");
	spec_needs(!record(p, "hisi_ptt0_2/filter=0x80015,type=7,direction=2/", "4M", 1000000, &r), "a 4DW trace: %s",
		   tally_platform_error(p));
	spec_equal(r.records, r.bytes / 16, "Trace 4", "a record of 4DW has 16 bytes");
	tally_platform_close(p);
}

/* What a trace holds, by who asks and who answers; a host's requester is on bus 0. */
struct held {
	/* posted, non-posted by device (0), by host (1); [2]: outbound completions of the host's memory, and CPL A */
	unsigned of[3][2];
	/* completions of one device's request by another; writes of one to another, which go both ways */
	unsigned between, peers;
	unsigned all, ports, others; /* packets; of bus 1 or its port; of any other */
	unsigned short first_dws;
};

static struct held hold(struct tally_platform *p, const char *terms_of, uint64_t ns)
{
	char event[160];
	struct tally_record_result r;
	snprintf(event, sizeof event, "hisi_ptt0_2/%s/", terms_of);
	spec_needs(!record(p, event, NULL, ns, &r), "%s: %s", event, tally_platform_error(p));
	struct held h = { 0 };
	if (!r.records)
		return h;
	struct tally_ptt *t;
	struct spec_text text = { 0 };
	struct tally_ptt_dump_opts d = {
		.size = sizeof d, .out = spec_text_add, .arg = &text, .format = TALLY_FORMAT_JSON
	};
	spec_needs(!tally_ptt_open(&t, NULL) && !tally_ptt_file(t, trace_path) && !tally_ptt_dump(t, &d), "%s",
		   tally_ptt_error(t));
	tally_ptt_close(t);
	char *at = text.s, *line;
	while ((line = spec_line(&at))) {
		unsigned class = (unsigned)spec_number(line, "class"), from = (unsigned)spec_number(line, "requester"),
			 to = (unsigned)spec_number(line, "completer");
		spec_needs(class < 3, "a packet of a known class");
		h.all++;
		h.first_dws = (unsigned short)spec_number(line, "dws");
		bool host = from < 0x100;
		uint64_t address = spec_number(line, "address");
		if (!class && !host && address >= 0xe0000000 && address < 0xf0000000)
			h.peers++;
		else if (class < 2)
			h.of[class][host]++;
		else if (host)
			h.of[2][1]++;
		else if (to < 0x100)
			h.of[2][0]++;
		else
			h.between++;
		unsigned bus = class < 2 ? from >> 8 : host ? to >> 8 : from >> 8;
		if (bus == 1 || (!bus && from == 0x80))
			h.ports++;
		else
			h.others++;
	}
	spec_text_free(&text);
	return h;
}

/* Trace 3: the eight values. What devices send is inbound, what the host sends outbound. */
static const struct {
	unsigned format, direction;
	bool in_p, in_np, out_p, out_np, out_cpl, cpl_a, reserved;
} tables[] = {
	{ 0, 0, true, true, false, false, false, true, false },
	{ 0, 1, false, false, true, true, true, false, false },
	{ 0, 2, true, true, true, true, true, false, false },
	{ 0, 3, false, false, true, true, true, true, false },
	{ 1, 0, false, false, false, false, false, false, true },
	{ 1, 1, false, false, true, true, true, false, false },
	{ 1, 2, true, true, false, false, false, false, false },
	{ 1, 3, false, false, false, false, false, true, false },
};

static void directions(void)
{
	static const char *const loads[] = { "kunpeng,load=nvme", "kunpeng,load=mixed", "kunpeng,load=full" };
	for (unsigned l = 0; l < sizeof loads / sizeof *loads; l++)
		for (unsigned i = 0; i < 8; i++) {
			if (tables[i].reserved)
				continue; /* refused: see above */
			unsigned sum[3][2] = { { 0 } };
			for (unsigned type = 1; type < 8; type++) {
				if (tables[i].direction == 1 && type != 1 && type != 2 && type != 4)
					continue;
				char terms_of[96], what[96];
				snprintf(terms_of, sizeof terms_of, "filter=0x80005,type=%u,direction=%u,format=%u",
					 type, tables[i].direction, tables[i].format);
				snprintf(what, sizeof what, "%s, %uDW, direction %u, type %u", loads[l] + 13,
					 tables[i].format ? 8 : 4, tables[i].direction, type);
				struct tally_platform *p = platform(loads[l], 0);
				struct held h = hold(p, terms_of, l == 2 ? 300000 : 2000000);
				tally_platform_close(p);
				spec_says(type & 1 || !(h.of[0][0] + h.of[0][1] + h.peers), "Trace 2",
					  "%s: posted requests only where P is selected", what);
				spec_says(type & 2 || !(h.of[1][0] + h.of[1][1]), "Trace 2",
					  "%s: non-posted requests only where NP is selected", what);
				spec_says(type & 4 || !(h.of[2][0] + h.of[2][1] + h.between), "Trace 2",
					  "%s: completions only where CPL is selected", what);
				spec_says(!h.all || h.first_dws == (tables[i].format ? 8 : 4), "Trace 4",
					  "%s: the format is as asked", what);
				for (unsigned c = 0; c < 3; c++)
					for (unsigned s = 0; s < 2; s++)
						sum[c][s] += h.of[c][s];
			}
			const struct {
				bool must;
				unsigned is;
				const char *what;
			} say[] = {
				{ tables[i].in_p, sum[0][0], "inbound P" },
				{ tables[i].out_p, sum[0][1], "outbound P" },
				{ tables[i].in_np, sum[1][0], "inbound NP" },
				{ tables[i].out_np, sum[1][1], "outbound NP" },
				{ tables[i].out_cpl, sum[2][0], "outbound CPL" },
				{ tables[i].cpl_a, sum[2][1], "inbound CPL A" },
			};
			for (unsigned k = 0; k < 6; k++)
				spec_says(say[k].must == (say[k].is > 0), "Trace 3, D11",
					  "%s, %uDW, direction %u: %s are %straced", loads[l] + 13,
					  tables[i].format ? 8 : 4, tables[i].direction, say[k].what,
					  say[k].must ? "" : "not ");
		}
	/* CPL B: completions of peer-to-peer requests; inbound once, outbound once. */
	static const struct {
		unsigned format, direction;
		unsigned times;
	} peers[] = {
		{ 0, 0, 1 }, { 0, 1, 1 }, { 0, 2, 2 }, { 0, 3, 1 }, { 1, 1, 1 }, { 1, 2, 1 }, { 1, 3, 0 },
	};
	double once = 0;
	for (unsigned i = 0; i < sizeof peers / sizeof *peers; i++) {
		char terms_of[96];
		snprintf(terms_of, sizeof terms_of, "filter=0x80005,type=4,direction=%u,format=%u", peers[i].direction,
			 peers[i].format);
		struct tally_platform *p = platform("kunpeng,load=p2p", 0);
		struct held h = hold(p, terms_of, 2000000);
		tally_platform_close(p);
		if (!i)
			once = h.between;
		spec_needs(once > 100, "peer-to-peer reads");
		double ratio = h.between / once;
		spec_says(ratio > peers[i].times - .05 && ratio < peers[i].times + .05, "Trace 3, D11",
			  "%uDW, direction %u: peer-to-peer completions are seen %u times", peers[i].format ? 8 : 4,
			  peers[i].direction, peers[i].times);
	}
}

static void defaults_and_filters(void)
{
	struct tally_platform *a = platform("kunpeng,load=nvme", 0), *b = platform("kunpeng,load=nvme", 0);
	struct held x = hold(a, "filter=0x80001,type=7", 1000000),
		    y = hold(b, "filter=0x80001,type=7,direction=0,format=0", 1000000);
	spec_says(x.all && !memcmp(&x, &y, sizeof x), "Trace 3-4",
		  "the default direction is inbound, and the default format 4DW");
	spec_equal(x.first_dws, 4, "Trace 4", "4DW records have four double words");
	tally_platform_close(a);
	tally_platform_close(b);
	static const struct {
		const char *terms_of;
		bool first, others;
		const char *what;
	} of[] = {
		{ "filter=0x80001,type=7,direction=2", true, false, "the first root port" },
		{ "filter=0x80004,type=7,direction=2", false, true, "the second root port" },
		{ "filter=0x80005,type=7,direction=2", true, true, "both root ports" },
		{ "filter=0x80010,type=7,direction=2", false, false, "a root port with nothing below" },
		{ "filter=0x00100,type=7,direction=0", true, false, "a requester of the first port" },
		{ "filter=0x00500,type=7,direction=0", false, true, "a requester of the second port" },
	};
	for (unsigned i = 0; i < sizeof of / sizeof *of; i++) {
		struct tally_platform *p = platform("kunpeng,load=mixed", 0);
		struct held h = hold(p, of[i].terms_of, 2000000);
		tally_platform_close(p);
		spec_says(of[i].first == (h.ports > 0), "Trace 1", "%s: packets of the first port are %straced",
			  of[i].what, of[i].first ? "" : "not ");
		spec_says(of[i].others == (h.others > 0), "Trace 1", "%s: packets of the second port are %straced",
			  of[i].what, of[i].others ? "" : "not ");
	}
}

/* Tune 1, Tune 2: what they are for. */
static void effects(void)
{
	double share[3], n[3];
	for (unsigned w = 0; w < 3; w++) {
		struct tally_platform *p = platform("kunpeng,load=contended", 0);
		char value[2] = { (char)('0' + w), 0 };
		spec_needs(!tune(p, "hisi_ptt0_2", "qos_tx_cpl", value), "a weight");
		struct held h = hold(p, "filter=0x80015,type=7,direction=3", 2000000);
		share[w] = (double)h.of[2][0] / h.all;
		tally_platform_close(p);
		p = platform("kunpeng,load=storage", 0);
		spec_needs(!tune(p, "hisi_ptt0_2", "tx_alloc_buf_level", value), "a watermark");
		n[w] = hold(p, "filter=0x80015,type=4,direction=1", 2000000).all;
		tally_platform_close(p);
	}
	spec_says(share[1] > share[0] && share[2] > share[1], "Tune 1",
		  "a higher weight of completions raises their proportion on the link");
	spec_says(n[1] >= n[0] && n[2] >= n[1], "Tune 2, D13",
		  "in a busy direction a higher watermark does not lower the throughput");
}

/* ---- Trace 4: the records -------------------------------------------------------------------- */
static char raw_path[] = "/tmp/spec-raw-XXXXXX";

static void little(uint8_t *at, uint32_t v)
{
	for (unsigned i = 0; i < 4; i++)
		at[i] = (uint8_t)(v >> 8 * i);
}

/* Bare records of `dws` DWs, as text of that form. */
static struct spec_text decoded(const uint32_t *words, unsigned n, unsigned dws, uint32_t form, uint32_t time)
{
	uint8_t bytes[4096];
	spec_needs(n * 4 <= sizeof bytes, "records that fit");
	for (unsigned i = 0; i < n; i++)
		little(bytes + 4 * i, words[i]);
	FILE *f = fopen(raw_path, "wb");
	spec_needs(f && fwrite(bytes, 4, n, f) == n && !fclose(f), "a file of records");
	struct tally_ptt *t;
	struct tally_ptt_opts o = { .size = sizeof o, .raw = dws, .time = time };
	struct spec_text text = { 0 };
	struct tally_ptt_dump_opts d = { .size = sizeof d, .out = spec_text_add, .arg = &text, .format = form };
	spec_needs(!tally_ptt_open(&t, &o) && !tally_ptt_file(t, raw_path) && !tally_ptt_dump(t, &d), "decoding: %s",
		   tally_ptt_error(t));
	tally_ptt_close(t);
	return text;
}

/* The object of one packet with these header DWs. */
static struct spec_text packet8(uint32_t prefix, const uint32_t h[4])
{
	uint32_t w[8] = { 0xffffffff, prefix, h[0], h[1], h[2], h[3], 0, 1000 };
	return decoded(w, 8, 8, TALLY_FORMAT_JSON, TALLY_PTT_TIME_ABS);
}

static struct spec_text packet4(uint32_t dw0, const uint32_t h[4])
{
	uint32_t w[4] = { dw0, h[1], h[2], h[3] };
	return decoded(w, 4, 4, TALLY_FORMAT_JSON, TALLY_PTT_TIME_ABS);
}

/* TLP: Fmt, Type, what it is, its class, DWs of its header, whether it has data. */
static const struct {
	unsigned fmt, type;
	const char *name;
	unsigned class, header;
	bool data;
} tlps[] = {
	{ 0, 0x00, "MRd", 1, 3, false },     { 1, 0x00, "MRd", 1, 4, false },    { 0, 0x01, "MRdLk", 1, 3, false },
	{ 1, 0x01, "MRdLk", 1, 4, false },   { 2, 0x00, "MWr", 0, 3, true },     { 3, 0x00, "MWr", 0, 4, true },
	{ 0, 0x02, "IORd", 1, 3, false },    { 2, 0x02, "IOWr", 1, 3, true },    { 0, 0x04, "CfgRd0", 1, 3, false },
	{ 2, 0x04, "CfgWr0", 1, 3, true },   { 0, 0x05, "CfgRd1", 1, 3, false }, { 2, 0x05, "CfgWr1", 1, 3, true },
	{ 2, 0x1b, "DMWr", 1, 3, true },     { 3, 0x1b, "DMWr", 1, 4, true },    { 1, 0x10, "Msg", 0, 4, false },
	{ 1, 0x11, "Msg", 0, 4, false },     { 1, 0x12, "Msg", 0, 4, false },    { 1, 0x13, "Msg", 0, 4, false },
	{ 1, 0x14, "Msg", 0, 4, false },     { 1, 0x15, "Msg", 0, 4, false },    { 3, 0x10, "MsgD", 0, 4, true },
	{ 3, 0x14, "MsgD", 0, 4, true },     { 0, 0x0a, "Cpl", 2, 3, false },    { 2, 0x0a, "CplD", 2, 3, true },
	{ 0, 0x0b, "CplLk", 2, 3, false },   { 2, 0x0b, "CplDLk", 2, 3, true },  { 2, 0x0c, "FetchAdd", 1, 3, true },
	{ 3, 0x0c, "FetchAdd", 1, 4, true }, { 2, 0x0d, "Swap", 1, 3, true },    { 3, 0x0d, "Swap", 1, 4, true },
	{ 2, 0x0e, "CAS", 1, 3, true },      { 3, 0x0e, "CAS", 1, 4, true },
};

static void types(void)
{
	for (unsigned i = 0; i < sizeof tlps / sizeof *tlps; i++)
		for (unsigned format = 4; format <= 8; format += 4) {
			uint32_t h[4] = { tlps[i].fmt << 29 | tlps[i].type << 24 | 2, 0x01020f00 | 0xff, 0x03040500,
					  0x12345678 & ~3u };
			struct spec_text t = format == 8 ?
						     packet8(0, h) :
						     packet4(tlps[i].fmt << 30 | tlps[i].type << 25 | 2 << 11 | 5, h);
			char who[64];
			snprintf(who, sizeof who, "%uDW, Fmt %u Type %02x", format, tlps[i].fmt, tlps[i].type);
			const char *name = spec_string(t.s, "type_name");
			size_t n = strlen(tlps[i].name);
			spec_says(!strncmp(name, tlps[i].name, n) &&
					  (!name[n] || !strcmp(name + n, tlps[i].header == 3 ? "32" : "64")),
				  "TLP", "%s is %s", who, tlps[i].name);
			spec_equal(spec_number(t.s, "class"), tlps[i].class, "TLP", "%s: class of %s", who,
				   tlps[i].name);
			spec_equal(spec_number(t.s, "header_dw"), tlps[i].header, "TLP", "%s: DWs of its header", who);
			spec_equal(spec_number(t.s, "bytes"), tlps[i].data ? 8 : 0, "TLP", "%s: its payload", who);
			/* A message or completion without data has none: Length is reserved there. */
			bool length = tlps[i].data || !(tlps[i].class == 2 || tlps[i].type >> 3 == 2);
			spec_equal(spec_number(t.s, "length_dw"), length ? 2 : 0, "TLP", "%s: its length", who);
			spec_equal(spec_number(t.s, "dws"), format, "Trace 4", "%s: the record's DWs", who);
			spec_equal(spec_number(t.s, "fmt"), tlps[i].fmt, "Trace 4", "%s: Fmt", who);
			spec_equal(spec_number(t.s, "type"), tlps[i].type, "Trace 4", "%s: Type", who);
			spec_text_free(&t);
		}
	static const struct {
		unsigned fmt, type;
	} reserved[] = { { 0, 0x03 }, { 1, 0x02 }, { 3, 0x04 }, { 0, 0x0c }, { 1, 0x0a },
			 { 3, 0x0b }, { 2, 0x10 }, { 0, 0x1f }, { 3, 0x1e } };
	for (unsigned i = 0; i < sizeof reserved / sizeof *reserved; i++) {
		uint32_t h[4] = { reserved[i].fmt << 29 | reserved[i].type << 24 | 1, 0x01000000, 0, 0 };
		struct spec_text t = packet8(0, h);
		spec_equal(spec_number(t.s, "class"), 3, "TLP", "Fmt %u Type %02x is reserved, and not guessed at",
			   reserved[i].fmt, reserved[i].type);
		spec_text_free(&t);
	}
}

static void fields(void)
{
	/* Of header DW0, one field at a time: 8DW has all of them. */
	static const struct {
		const char *field;
		uint32_t bits;
		uint64_t must;
		const char *what;
	} dw0[] = {
		{ "tag", 1u << 23, 0x245, "T9 is bit 23" },
		{ "tag", 1u << 19, 0x145, "T8 is bit 19" },
		{ "tag", 0x880000, 0x345, "T9 and T8" },
		{ "tc", 1u << 20, 1, "TC 1" },
		{ "tc", 5u << 20, 5, "TC 5" },
		{ "tc", 7u << 20, 7, "TC 7" },
		{ "attr", 1u << 18, 4, "IDO is bit 18" },
		{ "attr", 1u << 13, 2, "relaxed ordering is bit 13" },
		{ "attr", 1u << 12, 1, "no snoop is bit 12" },
		{ "ln", 1u << 17, 1, "LN is bit 17" },
		{ "th", 1u << 16, 1, "TH is bit 16" },
		{ "td", 1u << 15, 1, "TD is bit 15" },
		{ "ep", 1u << 14, 1, "EP is bit 14" },
		{ "at", 1u << 10, 1, "AT 1" },
		{ "at", 2u << 10, 2, "AT 2" },
		{ "length_dw", 0x001, 1, "Length 1" },
		{ "length_dw", 0x200, 512, "Length 512" },
		{ "length_dw", 0x3ff, 1023, "Length 1023" },
		{ "length_dw", 0, 1024, "Length 0 is 1024" },
	};
	for (unsigned i = 0; i < sizeof dw0 / sizeof *dw0; i++) {
		uint32_t h[4] = { 3u << 29 | dw0[i].bits, 0x0100450f, 0x4, 0x02810040 };
		struct spec_text t = packet8(0, h);
		spec_equal(spec_number(t.s, dw0[i].field), dw0[i].must, "Trace 4, TLP", "8DW, header DW0: %s",
			   dw0[i].what);
		static const char *const flags[] = { "tc", "attr", "ln", "th", "td", "ep", "at" };
		for (unsigned f = 0; f < 7; f++)
			if (strcmp(flags[f], dw0[i].field))
				spec_equal(spec_number(t.s, flags[f]), 0, "Trace 4, TLP",
					   "8DW, header DW0: %s, and %s is not set", dw0[i].what, flags[f]);
		spec_text_free(&t);
	}
	static const struct {
		const char *field;
		uint32_t bits;
		uint64_t must;
		const char *what;
	} of4[] = {
		{ "tag", 1u << 24, 0x245, "T9 is bit 24" },
		{ "tag", 1u << 23, 0x145, "T8 is bit 23" },
		{ "tag", 3u << 23, 0x345, "T9 and T8" },
		{ "th", 1u << 22, 1, "TH is bit 22" },
		{ "attr", 1u << 21, 2, "SO is bit 21, relaxed ordering" },
		{ "length_dw", 1u << 11, 1, "Length begins at bit 11" },
		{ "length_dw", 1u << 20, 512, "Length ends at bit 20" },
		{ "length_dw", 0x3ffu << 11, 1023, "Length 1023" },
		{ "length_dw", 0, 1024, "Length 0 is 1024" },
		{ "length_dw", 0x7ff, 1024, "Time is bits 10:0, and no length" },
	};
	for (unsigned i = 0; i < sizeof of4 / sizeof *of4; i++) {
		uint32_t h[4] = { 0, 0x0100450f, 0x4, 0x02810040 };
		struct spec_text t = packet4(3u << 30 | of4[i].bits, h);
		spec_equal(spec_number(t.s, of4[i].field), of4[i].must, "Trace 4", "4DW, DW0: %s", of4[i].what);
		if (strcmp(of4[i].field, "th"))
			spec_equal(spec_number(t.s, "th"), 0, "Trace 4", "4DW, DW0: %s, and no TH", of4[i].what);
		if (strcmp(of4[i].field, "attr"))
			spec_equal(spec_number(t.s, "attr"), 0, "Trace 4", "4DW, DW0: %s, and no SO", of4[i].what);
		if (strcmp(of4[i].field, "tag"))
			spec_equal(spec_number(t.s, "tag"), 0x45, "Trace 4", "4DW, DW0: %s, and no T9 or T8",
				   of4[i].what);
		spec_text_free(&t);
	}
	/* DW1 to DW3, which both formats take from the header as they are. */
	static const struct {
		unsigned fmt, type;
		uint32_t w1, w2, w3;
		const char *field;
		uint64_t must;
		const char *what;
	} rest[] = {
		{ 0, 0, 0xabcd1234, 0x12345678, 0, "requester", 0xabcd, "MRd32: requester" },
		{ 0, 0, 0xabcd1234, 0x12345678, 0, "tag", 0x12, "MRd32: tag" },
		{ 0, 0, 0xabcd1234, 0x12345678, 0, "last_be", 3, "MRd32: last byte enables" },
		{ 0, 0, 0xabcd1234, 0x12345678, 0, "first_be", 4, "MRd32: first byte enables" },
		{ 0, 0, 0xabcd1234, 0x12345678, 0, "address", 0x12345678, "MRd32: address" },
		{ 0, 0, 0xabcd1234, 0xfffffffc, 0, "address", 0xfffffffc, "MRd32: the highest address" },
		{ 1, 0, 0x0100ff0f, 0xfedcba98, 0x76543210, "address", 0xfedcba9876543210, "MRd64: address" },
		{ 1, 0, 0x0100ff0f, 0x1, 0x0, "address", 0x100000000, "MRd64: DW2 is the upper half" },
		{ 3, 0, 0x00080c01, 0x4, 0x02810040, "address", 0x402810040, "MWr64: address" },
		{ 3, 0, 0x00080c01, 0x4, 0x02810043, "address", 0x402810040,
		  "MWr64: the two lowest bits are no address" },
		{ 3, 0, 0x00080c01, 0x4, 0x02810040, "requester", 8, "MWr64: requester" },
		{ 3, 0, 0x00080c01, 0x4, 0x02810040, "tag", 0xc, "MWr64: tag" },
		{ 2, 0, 0x00080cf3, 0x80000000, 0, "first_be", 3, "MWr32: first byte enables" },
		{ 2, 0, 0x00080cf3, 0x80000000, 0, "last_be", 15, "MWr32: last byte enables" },
		{ 0, 2, 0x00000107, 0x000003f8, 0, "address", 0x3f8, "IORd: address" },
		{ 0, 2, 0x00000107, 0x000003f8, 0, "first_be", 7, "IORd: byte enables" },
		{ 2, 2, 0x00800101, 0x0000cf8, 0, "requester", 0x80, "IOWr: requester" },
		{ 0, 4, 0x0000550f, 0x01190a04, 0, "completer", 0x0119, "CfgRd0: bus, device and function" },
		{ 0, 4, 0x0000550f, 0x01190a04, 0, "reg", 0xa04, "CfgRd0: register, with its extension" },
		{ 0, 4, 0x0000550f, 0x01190a04, 0, "tag", 0x55, "CfgRd0: tag" },
		{ 2, 4, 0x0080550f, 0xff0000fc, 0, "reg", 0x0fc, "CfgWr0: the last register without extension" },
		{ 2, 4, 0x0080550f, 0xff0000fc, 0, "completer", 0xff00, "CfgWr0: bus 255" },
		{ 0, 5, 0x0080550f, 0x21000ffc, 0, "reg", 0xffc, "CfgRd1: the last register" },
		{ 2, 5, 0x0080550f, 0x21000ffc, 0, "completer", 0x2100, "CfgWr1: target" },
		{ 0, 0x0a, 0x01002004, 0x00801540, 0, "completer", 0x100, "Cpl: completer" },
		{ 0, 0x0a, 0x01002004, 0x00801540, 0, "requester", 0x80, "Cpl: requester" },
		{ 0, 0x0a, 0x01002004, 0x00801540, 0, "tag", 0x15, "Cpl: tag" },
		{ 0, 0x0a, 0x01002004, 0x00801540, 0, "status", 1, "Cpl: status UR" },
		{ 0, 0x0a, 0x01004004, 0x00801540, 0, "status", 2, "Cpl: status RRS" },
		{ 0, 0x0a, 0x01008004, 0x00801540, 0, "status", 4, "Cpl: status CA" },
		{ 0, 0x0a, 0x01000004, 0x00801540, 0, "status", 0, "Cpl: status SC" },
		{ 0, 0x0a, 0x01002004, 0x00801540, 0, "bcm", 0, "Cpl: no BCM" },
		{ 0, 0x0a, 0x01001004, 0x00801540, 0, "bcm", 1, "Cpl: BCM is bit 12" },
		{ 2, 0x0a, 0x01000004, 0x00801540, 0, "byte_count", 4, "CplD: byte count" },
		{ 2, 0x0a, 0x01000fff, 0x00801540, 0, "byte_count", 4095, "CplD: the largest byte count but one" },
		{ 2, 0x0a, 0x01000000, 0x00801540, 0, "byte_count", 4096, "CplD: byte count 0 is 4096" },
		{ 2, 0x0a, 0x01000004, 0x00801540, 0, "lower_address", 0x40, "CplD: lower address" },
		{ 2, 0x0a, 0x01000004, 0x008015ff, 0, "lower_address", 0x7f, "CplD: lower address has seven bits" },
		{ 1, 0x14, 0x01000b20, 0, 0, "code", 0x20, "Msg: Assert_INTA" },
		{ 1, 0x14, 0x01000b20, 0, 0, "route", 4, "Msg: local" },
		{ 1, 0x10, 0x01000b33, 0, 0, "code", 0x33, "Msg: ERR_FATAL" },
		{ 1, 0x10, 0x01000b33, 0, 0, "route", 0, "Msg: to the root complex" },
		{ 1, 0x13, 0x00800019, 0, 0, "code", 0x19, "Msg: PME_Turn_Off" },
		{ 1, 0x13, 0x00800019, 0, 0, "route", 3, "Msg: broadcast" },
		{ 1, 0x10, 0x01000b33, 0, 0, "requester", 0x100, "Msg: requester" },
		{ 3, 0x14, 0x00800050, 0, 0, "code", 0x50, "MsgD: Set_Slot_Power_Limit" },
		{ 2, 0x0c, 0x04000700, 0x1000, 0, "address", 0x1000, "FetchAdd32: address" },
		{ 3, 0x0e, 0x04000700, 0x1, 0x1000, "address", 0x100001000, "CAS64: address" },
		{ 3, 0x0e, 0x04000700, 0x1, 0x1000, "tag", 7, "CAS64: tag" },
	};
	for (unsigned i = 0; i < sizeof rest / sizeof *rest; i++)
		for (unsigned format = 4; format <= 8; format += 4) {
			uint32_t h[4] = { rest[i].fmt << 29 | rest[i].type << 24 | 1, rest[i].w1, rest[i].w2,
					  rest[i].w3 };
			struct spec_text t = format == 8 ? packet8(0, h) :
							   packet4(rest[i].fmt << 30 | rest[i].type << 25 | 1 << 11, h);
			spec_equal(spec_number(t.s, rest[i].field), rest[i].must, "Trace 4, TLP", "%uDW, %s", format,
				   rest[i].what);
			spec_text_free(&t);
		}
	/* DW1 of an 8DW record: a prefix. */
	static const uint32_t pasids[] = { 0, 1, 0x12345, 0x80000, 0xfffff };
	for (unsigned i = 0; i < 5; i++) {
		uint32_t h[4] = { 1u << 29 | 1, 0x0100450f, 0x4, 0x02810040 };
		struct spec_text t = packet8(0x91000000 | pasids[i], h);
		spec_equal(spec_number(t.s, "pasid"), pasids[i], "Trace 4", "8DW, DW1: PASID %#x", pasids[i]);
		spec_equal(spec_number(t.s, "prefix"), 0x91000000 | pasids[i], "Trace 4",
			   "8DW, DW1: the prefix of PASID %#x", pasids[i]);
		spec_equal(spec_number(t.s, "address"), 0x402810040, "Trace 4",
			   "8DW, DW1: the header behind PASID %#x is as ever", pasids[i]);
		spec_text_free(&t);
	}
}

/* DW0 of 8DW: bits 31:11 tell the format, the others are reserved. What is behind the last record is padding. */
static void markers(void)
{
	static const uint32_t marks[] = { 0xffffffff, 0xfffff800, 0xfffffbff, 0xffffffaa };
	for (unsigned i = 0; i < 4; i++) {
		uint32_t w[8] = { marks[i], 0, 0x60000001, 0x01001e0f, 4, 0x02810040, 0, 9 };
		struct spec_text t = decoded(w, 8, 8, TALLY_FORMAT_JSON, TALLY_PTT_TIME_ABS);
		spec_equal(spec_number(t.s, "address"), 0x402810040, "Trace 4",
			   "DW0 of %#x is 8DW: bits 10:0 are reserved", marks[i]);
		spec_text_free(&t);
	}
	uint32_t w[16] = { 3u << 30 | 1 << 11 | 7, 0x01001e0f, 4, 0x02810040,
			   3u << 30 | 1 << 11 | 9, 0x01001e0f, 4, 0x02810080 };
	struct spec_text t = decoded(w, 16, 4, TALLY_FORMAT_JSON, TALLY_PTT_TIME_ABS);
	unsigned lines = 0;
	for (char *at = t.s; spec_line(&at);)
		lines++;
	spec_equal(lines, 2, "Trace 4", "records of zeros behind the last one are no packets");
	spec_text_free(&t);
}

/* The nth line of `text` as a number `time`. */
static uint64_t time_of(const struct spec_text *text, unsigned n)
{
	char *copy = strdup(text->s), *at = copy, *line = NULL;
	for (unsigned i = 0; i <= n; i++)
		line = spec_line(&at);
	uint64_t v = line ? spec_number(line, "time") : UINT64_MAX;
	free(copy);
	return v;
}

static void times(void)
{
	static const struct {
		unsigned dws, mode;
		uint32_t t[3];
		uint64_t must[3];
		const char *what;
	} of[] = {
		{ 8, TALLY_PTT_TIME_ABS, { 100, 150, 400 }, { 0, 50, 300 }, "8DW, absolute" },
		{ 8,
		  TALLY_PTT_TIME_ABS,
		  { 0xfffffff0, 0x10, 0x20 },
		  { 0, 0x20, 0x30 },
		  "8DW, absolute, wraps at 32 bits" },
		{ 8,
		  TALLY_PTT_TIME_ABS,
		  { 0, 0x7fffffff, 0xfffffffe },
		  { 0, 0x7fffffff, 0xfffffffe },
		  "8DW, absolute, 32 bits" },
		{ 8, TALLY_PTT_TIME_DELTA, { 0x4c033, 2, 7 }, { 0, 2, 9 }, "8DW, since the record before" },
		{ 8,
		  TALLY_PTT_TIME_DELTA,
		  { 5, 0xffffffff, 1 },
		  { 0, 0xffffffff, 0x100000000 },
		  "8DW, since the record before, 32 bits" },
		{ 4, TALLY_PTT_TIME_ABS, { 100, 150, 400 }, { 0, 50, 300 }, "4DW, absolute" },
		{ 4, TALLY_PTT_TIME_ABS, { 2000, 10, 2047 }, { 0, 58, 2095 }, "4DW, absolute, wraps at 11 bits" },
		{ 4, TALLY_PTT_TIME_DELTA, { 7, 2047, 2047 }, { 0, 2047, 4094 }, "4DW, since the record before" },
	};
	for (unsigned i = 0; i < sizeof of / sizeof *of; i++) {
		uint32_t w[24];
		for (unsigned r = 0; r < 3; r++) {
			uint32_t *d = w + r * of[i].dws, h[4] = { 3u << 29 | 1, 0x0100450f, 4, 0x40 };
			if (of[i].dws == 8)
				memcpy(d, (uint32_t[]){ 0xffffffff, 0, h[0], h[1], h[2], h[3], 0, of[i].t[r] }, 32);
			else
				memcpy(d, (uint32_t[]){ 3u << 30 | 1 << 11 | of[i].t[r], h[1], h[2], h[3] }, 16);
		}
		struct spec_text t = decoded(w, 3 * of[i].dws, of[i].dws, TALLY_FORMAT_JSON, of[i].mode);
		for (unsigned r = 0; r < 3; r++)
			spec_equal(time_of(&t, r), of[i].must[r], "Trace 4", "%s: record %u", of[i].what, r);
		spec_text_free(&t);
	}
}

/* ---- Trace 6: the sample --------------------------------------------------------------------- */
static void sample(void)
{
	static const uint32_t records[24] = {
		0xffffffff, 0, 0x60000001, 0x01001e0f, 0x00000004, 0x02810040, 0, 0x4c033,
		0xffffffff, 0, 0x60000001, 0x01001e0f, 0x00000004, 0x02810040, 0, 2,
		0xffffffff, 0, 0x60000001, 0x01001e0f, 0x00000004, 0x02810040, 0, 5,
	};
	static const char *const lines[] = {
		".  00000000: 00 00 00 00                                 Prefix",
		".  00000004: 01 00 00 60                                 Header DW0",
		".  00000008: 0f 1e 00 01                                 Header DW1",
		".  0000000c: 04 00 00 00                                 Header DW2",
		".  00000010: 40 00 81 02                                 Header DW3",
		".  00000014: 33 c0 04 00                                 Time",
		".  00000020: 00 00 00 00                                 Prefix",
		".  00000024: 01 00 00 60                                 Header DW0",
		".  00000028: 0f 1e 00 01                                 Header DW1",
		".  0000002c: 04 00 00 00                                 Header DW2",
		".  00000030: 40 00 81 02                                 Header DW3",
		".  00000034: 02 00 00 00                                 Time",
		".  00000040: 00 00 00 00                                 Prefix",
		".  00000044: 01 00 00 60                                 Header DW0",
		".  00000048: 0f 1e 00 01                                 Header DW1",
		".  0000004c: 04 00 00 00                                 Header DW2",
		".  00000050: 40 00 81 02                                 Header DW3",
	};
	struct spec_text t = decoded(records, 24, 8, TALLY_FORMAT_PERF_SPEC, TALLY_PTT_TIME_DELTA);
	char *at = t.s, *line = spec_line(&at);
	spec_says(line && !strncmp(line, ". ... HISI PTT data: size 96 bytes", 34), "Trace 6",
		  "the text's dump begins with the size of the data");
	for (unsigned i = 0; i < sizeof lines / sizeof *lines; i++) {
		line = spec_line(&at);
		while (line && !strncmp(line, "...", 3))
			line = spec_line(&at);
		spec_says(line && !strncmp(line, lines[i], strlen(lines[i])), "Trace 6, D15", "the text's line '%.24s'",
			  lines[i]);
	}
	spec_text_free(&t);
	t = decoded(records, 24, 8, TALLY_FORMAT_JSON, TALLY_PTT_TIME_DELTA);
	spec_says(spec_is(t.s, "type_name", "MWr64"), "Trace 6, D15", "the sample is MWr64");
	spec_says(spec_is(t.s, "requester_text", "01:00.0"), "Trace 6, D15", "its requester is 01:00.0");
	spec_equal(spec_number(t.s, "tag"), 0x1e, "Trace 6, D15", "its tag");
	spec_equal(spec_number(t.s, "first_be"), 0xf, "Trace 6, D15", "its first byte enables");
	spec_equal(spec_number(t.s, "last_be"), 0, "Trace 6, D15", "its last byte enables");
	spec_equal(spec_number(t.s, "address"), 0x402810040, "Trace 6, D15", "its address");
	spec_equal(spec_number(t.s, "length_dw"), 1, "Trace 6, D15", "its length");
	spec_equal(time_of(&t, 1), 2, "Trace 6, D15", "the second comes 2 ticks behind");
	spec_text_free(&t);
	/* perf 7.2 prints the bytes of a DW from its highest, at their own offsets. */
	static const char *const newer[] = {
		".  00000004: 00 00 00 00                                 Prefix",
		".  00000008: 60 00 00 01                                 Header DW0",
		".  0000000c: 01 00 1e 0f                                 Header DW1",
		".  00000010: 00 00 00 04                                 Header DW2",
		".  00000014: 02 81 00 40                                 Header DW3",
		".  0000001c: 00 04 c0 33                                 Time",
	};
	t = decoded(records, 24, 8, TALLY_FORMAT_PERF, TALLY_PTT_TIME_DELTA);
	at = t.s;
	spec_line(&at);
	for (unsigned i = 0; i < 6; i++) {
		line = spec_line(&at);
		spec_says(line && !strncmp(line, newer[i], strlen(newer[i])), "Trace 6, D15", "perf 7.2's line '%.24s'",
			  newer[i]);
	}
	spec_text_free(&t);
	static const uint32_t four[4] = { 0xc0020002, 0x010135ff, 4, 0x40 };
	t = decoded(four, 4, 4, TALLY_FORMAT_PERF, TALLY_PTT_TIME_DELTA);
	at = t.s;
	spec_line(&at);
	line = spec_line(&at);
	spec_says(line && strstr(line, ".  00000000: c0 02 00 02 ") &&
			  strstr(line, "Format 3 Type 0 T9 0 T8 0 TH 0 SO 0 Length 40 Time 2"),
		  "Trace 6", "perf 7.2's words for DW0 of 4DW");
	line = spec_line(&at);
	spec_says(line && strstr(line, ".  00000004: 01 01 35 ff ") && strstr(line, "Header DW1"), "Trace 6",
		  "and its DW1");
	spec_text_free(&t);
}

int main(void)
{
	int a = mkstemp(trace_path), b = mkstemp(raw_path);
	spec_needs(a >= 0 && b >= 0 && !close(a) && !close(b), "files for traces");
	listed();
	tuning();
	events();
	memory();
	directions();
	defaults_and_filters();
	effects();
	types();
	fields();
	markers();
	times();
	sample();
	remove(trace_path);
	remove(raw_path);
	char old[sizeof trace_path + 4];
	snprintf(old, sizeof old, "%s.old", trace_path);
	remove(old);
	return spec_end(300);
}
