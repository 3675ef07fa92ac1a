/*
 * get_hv_test.c: selectors, and list, get and set over the models of hypervisors.
 */
#include "ask/ask_int.h"
#include "ask/output_test_int.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <cmocka.h>

struct on {
	struct tally_platform *p;
	struct buf out, notes;
	struct tally_out to;
};

static void on(struct on *o, const char *name)
{
	struct tally_platform_opts opts = {
		.size = sizeof(opts), .on = name, .note = buf_take, .arg = &o->notes, .run_ns = 1000000
	};

	*o = (struct on){ .to = { .size = sizeof(o->to), .out = buf_take, .arg = &o->out } };
	if (tally_platform_open(&o->p, &opts) < 0)
		fail_msg("%s: %s", name, tally_platform_error(o->p));
}

static void off(struct on *o)
{
	tally_platform_close(o->p);
	buf_free(&o->out);
	buf_free(&o->notes);
	assert_int_equal(mem_live(), 0);
}

/* ---- selectors --------------------------------------------------------------------------------- */

static void a_selector_is_a_name_with_keys(void **state)
{
	static const char *const slash[] = { "vfalls/sparc,cpu=5,user", "vfalls/sparc,cpu=5,user/" };
	struct err e = { 0 };
	struct sel s;
	uint64_t n = 7;

	(void)state;
	for (size_t i = 0; i < COUNT(slash); i++) {
		assert_int_equal(sel_parse(&s, slash[i], strlen(slash[i]), "", &e), 0);
		assert_int_equal(s.provider, SEL_VFALLS);
		assert_string_equal(s.name, "sparc");
		assert_string_equal(s.text, slash[1]);
		assert_int_equal(sel_number(&s, "cpu", 255, &n, &e), 1);
		assert_int_equal(n, 5);
		assert_true(sel_flag(&s, "user"));
		assert_false(sel_flag(&s, "system"));
		assert_null(sel_value(&s, "system"));
		assert_int_equal(sel_number(&s, "chip", 255, &n, &e), 0);
		assert_int_equal(sel_number(&s, "cpu", 4, &n, &e), -TALLY_EINVAL);
		e = (struct err){ 0 };
	}
}

static void selectors_of_a_list_end_at_their_slash(void **state)
{
	static const struct {
		const char *list;
		size_t n;
	} row[] = {
		{ "gpci/entitled/", 14 },
		{ "gpci/entitled", 13 },
		{ "gpci/a,chip=0/,gpci/b/", 14 },
		{ "gpci/a,gpci/b/", 12 },
		{ "x", 1 },
	};

	(void)state;
	for (size_t i = 0; i < COUNT(row); i++)
		assert_int_equal(sel_length(row[i].list), row[i].n);
}

static void what_is_no_selector_is_refused(void **state)
{
	static const struct {
		int line;
		const char *s, *words;
	} row[] = {
		{ __LINE__, "", "invalid selector ''" },
		{ __LINE__, "vfalls",
		  "invalid selector 'vfalls' (expected vfalls/NAME/); 'tally list vfalls --on power' shows" },
		{ __LINE__, "disk/reads/", "invalid selector 'disk/reads'" },
		{ __LINE__, "vfalls/sparc,,user/", "nothing after the last comma" },
		{ __LINE__, "vfalls/sparc,cpu=1,cpu=2/", "key cpu is given twice" },
		{ __LINE__, "vfalls/a,a,b,c,d,e,f,g,h,i,j,k,l,m,n/", "more than 12 keys" },
	};
	char longest[300];
	struct sel s;
	struct err e;

	(void)state;
	for (size_t i = 0; i < COUNT(row); i++) {
		e = (struct err){ 0 };
		if (sel_parse(&s, row[i].s, strlen(row[i].s), " --on power", &e) != -TALLY_EINVAL ||
		    !strstr(e.text, row[i].words))
			fail_msg("line %d: '%s': %s", row[i].line, row[i].s, e.text);
	}
	memset(longest, 'a', sizeof(longest));
	memcpy(longest, "vfalls/", 7);
	e = (struct err){ 0 };
	assert_int_equal(sel_parse(&s, longest, sizeof(longest), "", &e), -TALLY_EINVAL);
}

/* ---- get and set ----------------------------------------------------------------------------------- */

static void set_and_get_of_a_register_agree(void **state)
{
	struct on o;

	(void)state;
	on(&o, "batoka,load=compute,strands=1");
	assert_int_equal(tally_set(o.p, "vfalls/zam0_lpu_a_pcr=0x0201"), 0);
	assert_int_equal(tally_set(o.p, "vfalls/l2_cr,cpu=64/=7"), 0);
	assert_non_null(strstr(buf_text(&o.notes), "is now 0x3: the other bits are reserved"));
	assert_int_equal(tally_get(o.p, "vfalls/18/ vfalls/l2_cr,cpu=70/ vfalls/l2_cr/", &o.to), 0);
	assert_string_equal(buf_text(&o.out),
			    "vfalls/zam0_lpu_a_pcr=0x201  event0=clock_cycles event1=cycles_c2c_portX\n"
			    "vfalls/l2_cr,cpu=70/=0x3  misses=cache-to-cache\n"
			    "vfalls/l2_cr=0x0  misses=all\n");
	off(&o);
}

static void mmcrh_is_set_at_the_next_collection(void **state)
{
	struct on o;

	(void)state;
	on(&o, "power");
	o.to.format = TALLY_FORMAT_CSV;
	assert_int_equal(tally_set(o.p, "gpci/mmcrh=0x1200"), 0);
	assert_non_null(strstr(buf_text(&o.notes), "at the next collection"));
	assert_int_equal(tally_get(o.p, "gpci/hpmc,index=0,field=mmcrh/", &o.to), 0);
	assert_string_equal(buf_text(&o.out), "type,request,hw_processor_id,mmcrh\ngpci,hpmc,0,3936768\n");
	buf_clear(&o.out);
	(void)hv_pass(&o.p->transport, 1000000000, NULL);
	assert_int_equal(tally_get(o.p, "gpci/hpmc,index=0,field=mmcrh/", &o.to), 0);
	assert_string_equal(buf_text(&o.out), "type,request,hw_processor_id,mmcrh\ngpci,hpmc,0,4608\n");
	off(&o);
}

static void each_wrong_selector_says_what_is_near(void **state)
{
	static const struct {
		int line;
		const char *on, *get, *words;
		int rc;
	} row[] = {
		{ __LINE__, "batoka", "vfalls/zam0_lpu_a_pcrs/", "did you mean 'zam0_lpu_a_pcr'?", -TALLY_EINVAL },
		{ __LINE__, "batoka", "vfalls/90/", "register out of range (valid: 0 to 89)", -TALLY_EINVAL },
		{ __LINE__, "batoka", "vfalls/l2_cr,cpus=1/", "did you mean 'cpu'?", -TALLY_EINVAL },
		{ __LINE__, "batoka", "vfalls/l2_cr,cpu=256/", "no such strand; the machine has 256, from 0",
		  -TALLY_EINVAL },
		{ __LINE__, "batoka", "mmustat/all/", "only Niagara has", -TALLY_ENOTSUP },
		{ __LINE__, "batoka", "gpci/entitled/", "the model '--on power' has", -TALLY_ENOTSUP },
		{ __LINE__, "batoka,rights=none", "vfalls/18/", "ENOACCESS", -TALLY_EPERM },
		{ __LINE__, "batoka,sockets=1", "vfalls/node1_mcu0_pcr/", "ENOTSUPPORTED", -TALLY_ENOTSUP },
		{ __LINE__, "niagara", "mmustat/dmu/", "did you mean 'dmmu'?", -TALLY_EINVAL },
		{ __LINE__, "power", "gpci/entitlde/", "did you mean 'entitled'?", -TALLY_EINVAL },
		{ __LINE__, "power", "gpci/entitled,chip=1/", "write partition=N", -TALLY_EINVAL },
		{ __LINE__, "power", "gpci/entitled,partition=2,index=3/", "the record is given twice", -TALLY_EINVAL },
		{ __LINE__, "power", "gpci/entitled,partition=99/", "(valid: 1 to 6)", -TALLY_EINVAL },
		{ __LINE__, "power", "gpci/entitled,field=cappd/", "did you mean 'capped'?", -TALLY_EINVAL },
		{ __LINE__, "power", "gpci/capabilities,index=1/", "has one record", -TALLY_EINVAL },
		{ __LINE__, "power", "gpci/mmcrh/", "is write-only", -TALLY_EINVAL },
		{ __LINE__, "power", "hv_gpci/no_such_event/", "Linux has no such event", -TALLY_EINVAL },
		{ __LINE__, "power,firmware=8", "gpci/links_abc/", "H_Not_Available", -TALLY_ENOTSUP },
		{ __LINE__, "power,rights=none", "gpci/dispatch_purr/", "H_Authority", -TALLY_EPERM },
		{ __LINE__, "kunpeng", "gpci/entitled/", "has no hypervisor counters", -TALLY_ENOTSUP },
		{ __LINE__, "power", "hisi_ptt0_2", "has no PTT device", -TALLY_ENOTSUP },
	};

	(void)state;
	for (size_t i = 0; i < COUNT(row); i++) {
		struct on o;

		on(&o, row[i].on);
		if (tally_get(o.p, row[i].get, &o.to) != row[i].rc ||
		    !strstr(tally_platform_error(o.p), row[i].words) || o.out.n)
			fail_msg("line %d: %s: %s", row[i].line, row[i].get, tally_platform_error(o.p));
		off(&o);
	}
}

static void what_can_not_be_set_is_refused(void **state)
{
	static const struct {
		int line;
		const char *on, *set, *words;
		int rc;
	} row[] = {
		{ __LINE__, "batoka", "vfalls/l2_cr=x", "invalid value 'x'", -TALLY_EINVAL },
		{ __LINE__, "batoka", "vfalls/zam*=1", "unknown register", -TALLY_EINVAL },
		{ __LINE__, "batoka", "vfalls/l2_cr", "no value given", -TALLY_EINVAL },
		{ __LINE__, "batoka,rights=strand", "vfalls/l2_cr=1", "ENOACCESS", -TALLY_EPERM },
		{ __LINE__, "batoka,rights=strand", "vfalls/sparc_pcr=8", "ENOACCESS", -TALLY_EPERM },
		{ __LINE__, "niagara", "mmustat/all=1", "is read-only", -TALLY_EINVAL },
		{ __LINE__, "power", "gpci/entitled=1", "gpci/mmcrh can", -TALLY_EINVAL },
		{ __LINE__, "power,rights=all", "gpci/mmcrh=1", "H_Authority", -TALLY_EPERM },
	};

	(void)state;
	for (size_t i = 0; i < COUNT(row); i++) {
		struct on o;

		on(&o, row[i].on);
		if (tally_set(o.p, row[i].set) != row[i].rc || !strstr(tally_platform_error(o.p), row[i].words))
			fail_msg("line %d: %s: %s", row[i].line, row[i].set, tally_platform_error(o.p));
		off(&o);
	}
}

static void a_partition_without_rights_reads_its_own_record(void **state)
{
	struct on o;

	(void)state;
	on(&o, "power,rights=none");
	o.to.format = TALLY_FORMAT_CSV;
	assert_int_equal(tally_get(o.p, "gpci/core_power_mode/", &o.to), 0);
	assert_string_equal(buf_text(&o.out), "type,request,partition,mode\ngpci,core_power_mode,1,1\n");
	assert_non_null(strstr(buf_text(&o.notes), "only its own record"));
	off(&o);
}

/* ---- list --------------------------------------------------------------------------------------------- */

static uint32_t lines(const struct buf *b, const char *of)
{
	uint32_t n = 0;

	for (const char *p = buf_text(b); (p = strstr(p, of)) != NULL; p += strlen(of))
		n++;
	return n;
}

static void list_has_all_there_is(void **state)
{
	struct on o;
	uint32_t events = 0;

	(void)state;
	while (vf_event_at(events))
		events++;
	on(&o, "batoka");
	o.to.format = TALLY_FORMAT_JSON;
	assert_int_equal(tally_list(o.p, "vfalls", NULL, false, &o.to), 0);
	assert_int_equal(lines(&o.out, "{\"type\":\"register\""), VF_REGS);
	assert_int_equal(lines(&o.out, "{\"type\":\"event\""), events);
	assert_int_equal(lines(&o.out, "\"access\":\"yes\""), VF_REGS);
	off(&o);
	on(&o, "niagara");
	o.to.format = TALLY_FORMAT_JSON;
	assert_int_equal(tally_list(o.p, "mmustat", NULL, false, &o.to), 0);
	assert_int_equal(lines(&o.out, "{\"type\":\"slot\""), 16);
	off(&o);
	on(&o, "power,rights=none,firmware=8");
	o.to.format = TALLY_FORMAT_JSON;
	assert_int_equal(tally_list(o.p, "gpci", NULL, false, &o.to), 0);
	assert_int_equal(lines(&o.out, "{\"type\":\"request\""), 23);
	assert_int_equal(lines(&o.out, "\"access\":\"yes\""), 1); /* capabilities */
	assert_true(lines(&o.out, "\"access\":\"own only\"") > 4);
	assert_true(lines(&o.out, "\"access\":\"no right\"") > 4);
	assert_int_equal(lines(&o.out, "\"access\":\"not here\""), 9);
	off(&o);
}

static void out_of_memory_is_said(void **state)
{
	static const struct {
		const char *on, *get;
	} row[] = {
		{ "power", "gpci/entitled/" },
		{ "batoka,load=compute,strands=1", "vfalls/zam0_*/" },
	};

	(void)state;
	for (size_t i = 0; i < COUNT(row); i++)
		for (long n = 1;; n++) {
			struct on o;
			int rc;

			on(&o, row[i].on);
			o.to.out = NULL;
			o.to.format = TALLY_FORMAT_JSON;
			o.p->o.note = NULL;
			o.p->o.run_ns = 1;
			mem_fail_at(n);
			rc = tally_get(o.p, row[i].get, &o.to);
			if (!mem_failed()) {
				mem_fail_at(0);
				off(&o);
				break;
			}
			mem_fail_at(0);
			assert_int_equal(rc, -TALLY_ENOMEM);
			off(&o);
		}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_selector_is_a_name_with_keys),
		cmocka_unit_test(selectors_of_a_list_end_at_their_slash),
		cmocka_unit_test(what_is_no_selector_is_refused),
		cmocka_unit_test(set_and_get_of_a_register_agree),
		cmocka_unit_test(mmcrh_is_set_at_the_next_collection),
		cmocka_unit_test(each_wrong_selector_says_what_is_near),
		cmocka_unit_test(what_can_not_be_set_is_refused),
		cmocka_unit_test(a_partition_without_rights_reads_its_own_record),
		cmocka_unit_test(list_has_all_there_is),
		cmocka_unit_test(out_of_memory_is_said),
	};

	return cmocka_run_group_tests_name("ask: get, hypervisors", tests, NULL, NULL);
}
