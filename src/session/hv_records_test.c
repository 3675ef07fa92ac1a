/*
 * hv_records_test.c: D over what a model's hypervisor counts, held against a second model of the same seed that is read
 * without D.  Needs no privileges.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "platform/hv.h"
#include "provider/hv_record.h"
#include "session/run_test_int.h"

#define MS UINT64_C(1000000)

/* ---- a run ------------------------------------------------------------------------ */

static void runs(struct result *r, const char *on, const char *script)
{
	run(r, on, script);
	if (r->rc < 0)
		fail_msg("%s: %s %s", script, r->error, r->reason);
}

static void prints(const char *on, const char *script, const char *want)
{
	struct result r;

	runs(&r, on, script);
	assert_string_equal(r.out.p ? r.out.p : "", want);
	drop(&r);
}

static void refuses(const char *on, const char *script, const char *words)
{
	struct result r;

	run(&r, on, script);
	assert_true(r.rc < 0);
	if (!strstr(r.error, words) && !strstr(r.reason, words))
		fail_msg("%s: \"%s\" \"%s\" without \"%s\"", script, r.error, r.reason, words);
	drop(&r);
}

/* ---- the same model, read without D -------------------------------------------------- */

static void model(struct hv_transport *l, const char *machine, const char *load)
{
	struct model_opts o = { .machine = machine, .load = load, .level = MODEL_LEVEL_AS_CONFIGURED };
	struct err e = { 0 };

	if (transport_open(l, &o, &e) < 0)
		fail_msg("%s: %s", machine, e.text);
}

static void pass(struct hv_transport *l, uint64_t ms)
{
	for (; ms; ms--)
		l->op->advance(l->arg, MS);
}

static uint64_t field(const struct gpci_request *r, const struct gpci_values *v, const char *name)
{
	for (uint32_t i = 0; i < r->nfields; i++)
		if (!strcmp(r->field[i].name, name))
			return v ? v->v[i] : 0;
	fail_msg("no field %s", name);
	return 0;
}

static void read_all(struct gpci_table *ret, struct hv_transport *l, const char *request)
{
	const struct gpci_request *r = gpci_request(gpci_request_find(request)->number, l->level, UINT8_MAX);
	struct err e = { 0 };
	bool own;

	if (gpci_all(ret, l, r, &own, &e) < 0)
		fail_msg("%s: %s", request, e.text);
}

/* What the counters of a request came to in 3 s: "ID SUM" a line, by id. */
static void differences(struct buf *to, const char *load, const char *request, const char *counter)
{
	struct gpci_table before, after;
	struct hv_transport l;

	model(&l, "power", load);
	read_all(&before, &l, request);
	pass(&l, 3000);
	read_all(&after, &l, request);
	for (uint32_t i = 0; i < after.n; i++) {
		const struct gpci_values *v = &after.v[i], *was = gpci_table_find(&before, v->id, v->secondary);

		buf_printf(to, "%llu %llu\n", (unsigned long long)v->id,
			   (unsigned long long)(field(after.r, v, counter) - field(after.r, was, counter)));
	}
	gpci_table_free(&before);
	gpci_table_free(&after);
	transport_close(&l);
}

static void sums_of_a_request_are_the_machines_differences(void **state)
{
	static const struct {
		const char *load, *request, *counter;
	} rows[] = {
		{ "mixed", "entitled", "entitled" },
		{ "mixed", "entitled", "uncapped" },
		{ "contended", "entitled", "capped" },
		{ "donating", "entitled", "donated" },
		{ "mixed", "dispatch_purr", "processor_time" },
		{ "mixed", "run_instructions", "instructions" },
		{ "links", "links_wxyz", "total" },
		{ "idle", "entitled", "idle" },
		{ "mixed", "queuing_times", "wait_processor_count" },
	};

	(void)state;
	for (size_t i = 0; i < COUNT(rows); i++) {
		struct buf want = { 0 };
		char script[300], on[60];

		differences(&want, rows[i].load, rows[i].request, rows[i].counter);
		snprintf(on, sizeof(on), "power,load=%s", rows[i].load);
		snprintf(script, sizeof(script),
			 "#pragma D option aggsortkey\n gpci:::%s-500ms { @[args[0]->id] = sum(args[0]->d_%s); }"
			 "tick-3s { printa(\"%%d %%@d\\n\", @); trunc(@); exit(0); }",
			 rows[i].request, rows[i].counter);
		buf_putc(&want, '\n');
		prints(on, script, want.p);
		buf_free(&want);
	}
}

static void an_events_deltas_are_the_counters_difference(void **state)
{
	struct hv_transport l;
	struct sun4v_client *c;
	struct vf_counter *k[8];
	struct buf want = { 0 };
	struct err e = { 0 };

	(void)state;
	model(&l, "batoka", "stream");
	assert_int_equal(sun4v_client_open(&c, &l, &e), 0);
	for (uint32_t i = 0; i < 8; i++)
		assert_int_equal(vf_counter_open(&k[i], c,
						 &(struct vf_counter_ask){
							 .reg = 2 + 2 * i, .event = 1, .user = true, .system = true },
						 &e),
				 0);
	pass(&l, 4);
	for (uint32_t i = 0; i < 8; i++) {
		uint64_t v = 0;

		assert_int_equal(vf_counter_read(k[i], &v, &e), 0);
		buf_printf(&want, "node%u_mcu%u_pcr %llu\n", i / 2, i % 2, (unsigned long long)v);
		vf_counter_close(k[i]);
	}
	buf_putc(&want, '\n');
	assert_null(strstr(want.p, "mcu0_pcr 0"));
	sun4v_client_close(c);
	transport_close(&l);
	prints("batoka,load=stream",
	       "#pragma D option aggsortkey\n vfalls:::mem_writes-1ms { @[args[0]->name] = sum(args[0]->delta); }"
	       "tick-4ms { printa(\"%s %@d\\n\", @); trunc(@); exit(0); }",
	       want.p);
	buf_free(&want);
}

static void slots_add_up_to_the_buffers(void **state)
{
	struct hv_transport l;
	struct sun4v_client *c;
	struct mmustat m;
	struct buf want = { 0 };
	struct err e = { 0 };
	uint64_t hits = 0, ticks = 0;

	(void)state;
	model(&l, "niagara", "chase");
	assert_int_equal(sun4v_client_open(&c, &l, &e), 0);
	for (uint32_t i = 0; i < l.strands; i++)
		assert_int_equal(mmustat_start(c, i, &e), 0);
	pass(&l, 6);
	for (uint32_t i = 0; i < l.strands; i++) {
		assert_int_equal(mmustat_read(c, i, &m, &e), 0);
		for (uint32_t k = 0; k < MMUSTAT_SLOTS; k++) {
			hits += m.at[k / 8][k / 4 % 2][k % 4].hits;
			ticks += m.at[k / 8][k / 4 % 2][k % 4].ticks;
		}
	}
	buf_printf(&want, "%llu %llu %llu %u\n", (unsigned long long)hits, (unsigned long long)ticks,
		   (unsigned long long)hits, 3 * 16 * l.strands);
	assert_true(hits > 1000);
	sun4v_client_close(c);
	transport_close(&l);
	prints("niagara,load=chase",
	       "BEGIN { h = t = l = n = 0; } mmustat:::sample-2ms { h += args[0]->d_hits; t += args[0]->d_ticks; n++; }"
	       "mmustat:::sample-2ms /args[0]->ns == 6000000/ { l += args[0]->hits; } tick-6ms { exit(0); }"
	       "END { printf(\"%d %d %d %d\", h, t, l, n); }",
	       want.p);
	buf_free(&want);
}

/* ---- registers as they are ------------------------------------------------------------- */

static void a_sample_has_each_readable_register_once(void **state)
{
	(void)state;
	prints("batoka",
	       "BEGIN { n = last = 0; sorted = 1; } vfalls:::sample-1ms /n && args[0]->number <= last/ { sorted = 0; }"
	       "vfalls:::sample-1ms { n++; last = args[0]->number; } tick-1ms { exit(0); } END { printf(\"%d %d\", n, sorted); }",
	       "90 1\n");
	prints("maramba",
	       "BEGIN { n = 0; } vfalls:::sample-1ms { n++; } tick-1ms { exit(0); } END { printf(\"%d\", n); }",
	       "10\n");
	prints("batoka",
	       "vfalls:::sample-1ms /args[0]->name == \"node2_mcu1_pic\"/ { printf(\"%d %d %d %s\", arg1, args[0]->number,"
	       "args[0]->node, args[0]->event); exit(0); }",
	       "13 13 2 event0=mem_reads event1=mem_reads\n");
}

static void what_may_not_be_read_is_told(void **state)
{
	struct result r;

	(void)state;
	runs(&r, "batoka,rights=perf-counters=strand", "vfalls:::sample-1ms { @ = count(); } tick-1ms { exit(0); }");
	assert_non_null(
		strstr(r.notes.p, "89 registers may not be read: L2_CR: not permitted to this guest (ENOACCESS)"));
	drop(&r);
	refuses("batoka,rights=perf-counters=strand", "vfalls:::mem_reads-1ms", "ENOACCESS");
}

static void a_register_has_two_counters(void **state)
{
	(void)state;
	refuses("batoka", "vfalls:::mem_reads-1ms,vfalls:::mem_writes-1ms,vfalls:::wb_buf_hits-1ms { }",
		"failed to read vfalls:::wb_buf_hits-1ms: NODE0_MCU0_PCR has two counters, and both are taken");
}

/* ---- time ------------------------------------------------------------------------------ */

static void samples_come_before_ticks_of_the_same_moment(void **state)
{
	(void)state;
	prints("power",
	       "BEGIN { n = 0; } gpci:::capabilities-1s { n++; } tick-3s { printf(\"%d \", n); } tick-5s { printf(\"%d\", n); exit(0); }",
	       "3 5\n");
}

static void time_is_the_platforms(void **state)
{
	(void)state;
	prints("power",
	       "BEGIN { start = timestamp; } gpci:::capabilities-250ms { printf(\"%d %d %d;\", arg0, args[0]->ns, timestamp - start); }"
	       "tick-500ms { exit(0); }",
	       "250000000 250000000 250001000;500000000 500000000 500001000;\n");
}

static void intervals_go_side_by_side(void **state)
{
	(void)state;
	prints("power",
	       "gpci:::capabilities-300ms { @[\"a\"] = count(); } gpci:::capabilities-500ms { @[\"b\"] = count(); }"
	       "gpci:::capabilities-1s, gpci:::capabilities-3 { @[probename] = count(); } tick-3s { printa(\"%s %@d;\", @); trunc(@); exit(0); }",
	       "capabilities-1s 3;b 6;capabilities-3 9;a 10;\n");
}

static void without_anything_to_happen_the_run_is_over(void **state)
{
	(void)state;
	prints("power", "BEGIN { printf(\"once\"); }", "once\n");
}

static void exit_ends_the_run_with_the_record_that_called_it(void **state)
{
	struct result r;

	(void)state;
	runs(&r, "power",
	     "BEGIN { n = 0; } gpci:::dispatch_purr-10ms /++n == 17/ { exit(5); } END { printf(\"%d\", n); }");
	assert_int_equal(r.status, 5);
	assert_string_equal(r.out.p, "17\n");
	drop(&r);
}

/* ---- records ---------------------------------------------------------------------------- */

/* Requests that the model answers H_Not_Available: nobody counts what they tell. */
static bool is_not_modelled(const struct gpci_request *r)
{
	static const char *const names[] = { "links_gx", "tlbie" };

	for (size_t i = 0; i < COUNT(names); i++)
		if (!strcmp(r->name, names[i]))
			return true;
	return false;
}

static void each_field_of_each_request_is_a_member(void **state)
{
	const struct gpci_request *r;

	(void)state;
	for (uint32_t i = 0; (r = gpci_request_at(i)) != NULL; i++) {
		struct buf script = { 0 };
		struct result res;

		if (gpci_request(r->number, 6, UINT8_MAX) != r || !strcmp(r->name, "mmcrh") || is_not_modelled(r))
			continue;
		buf_printf(
			&script,
			"BEGIN { s = 0; } gpci:::%s-20ms { @ = count(); s += arg1 != args[0]->id; s += args[0]->request != \"%s\";",
			r->name, r->name);
		for (uint32_t k = 0; k < r->nfields; k++) {
			buf_printf(&script, "this->x = args[0]->%s;", r->field[k].name);
			if (r->field[k].flags & GPCI_F_COUNTER)
				buf_printf(&script, "this->x = args[0]->d_%s;", r->field[k].name);
		}
		buf_puts(&script, "} tick-20ms { exit(0); } END { printf(\"%d\", s); }");
		runs(&res, "power,rights=all+expanded+lab", script.p);
		assert_true(res.out.p && !strncmp(res.out.p, "0\n", 2) && strlen(res.out.p) > 3);
		drop(&res);
		buf_free(&script);
	}
}

static void ids_ascend_and_each_fires_once(void **state)
{
	(void)state;
	prints("power",
	       "BEGIN { n = m = last = 0; } gpci:::dispatch_purr-20ms /!n || args[0]->id > last/ { m++; }"
	       "gpci:::dispatch_purr-20ms { n++; last = args[0]->id; } tick-20ms { printf(\"%d\", n == m); exit(0); }",
	       "1\n");
	prints("power", "gpci:::entitled-20ms { printf(\"%d \", args[0]->partition); } tick-20ms { exit(0); }",
	       "1 2 3 4 5 6 \n");
	prints("power,rights=none",
	       "gpci:::entitled-20ms { printf(\"%d \", args[0]->partition); } tick-20ms { exit(0); }", "1 \n");
}

static void domains_of_a_partition_fire_one_by_one(void **state)
{
	(void)state;
	prints("power",
	       "BEGIN { n = m = bad = 0; } gpci:::affinity_by_partition-20ms { n++; bad += args[0]->element && args[0]->element >= args[0]->elements; }"
	       "gpci:::affinity_by_partition-20ms /args[0]->element == 0/ { m += args[0]->elements ? args[0]->elements : 1; }"
	       "tick-20ms { printf(\"%d %d\", n == m, bad); exit(0); }",
	       "1 0\n");
}

static void a_seed_gives_the_same_answers(void **state)
{
	static const char script[] =
		"gpci:::dispatch_purr-100ms { printf(\"%d %d;\", args[0]->id, args[0]->d_processor_time); } tick-1s { exit(0); }";
	struct result a, b;

	(void)state;
	runs(&a, "power,seed=4", script);
	runs(&b, "power,seed=4", script);
	assert_string_equal(a.out.p, b.out.p);
	drop(&a);
	drop(&b);
}

/* ---- platforms ---------------------------------------------------------------------------- */

static void platforms_are_refused_with_words(void **state)
{
	(void)state;
	refuses("kunpeng", "BEGIN", "kunpeng has no hypervisor counters");
	refuses("power,laod=mixed", "BEGIN", "power: unknown key 'laod'; did you mean 'load'?");
	refuses("power,burden=mixed", "BEGIN", "power: unknown key 'burden' (expected one of seed, load");
	refuses("power,load=mixd", "BEGIN", "load=mixd: unknown load; did you mean 'mixed'?");
	refuses("power", "cpc:::page_faults-all-5000", "");
	refuses("power", "ptt:::tlp", "tlp fires for records");
	refuses("powerful", "BEGIN", "");
}

static void a_second_platform_is_refused(void **state)
{
	struct tally_trace *t;

	(void)state;
	assert_int_equal(tally_trace_open(&t, NULL), 0);
	assert_int_equal(tally_trace_on(t, "power"), 0);
	assert_int_equal(tally_trace_on(t, "niagara"), -TALLY_ESTATE);
	tally_trace_close(t);
}

static void a_command_ends_the_run(void **state)
{
	struct result r = { 0 };
	struct tally_trace_opts o = { .size = sizeof(o), .out = take_out, .note = take_note, .arg = &r };
	struct tally_trace *t;

	(void)state;
	assert_int_equal(tally_trace_open(&t, &o), 0);
	assert_int_equal(tally_trace_command(t, "false"), 0);
	assert_int_equal(whole_run(t, "power", "gpci:::entitled-1s { @ = count(); }"), 0);
	assert_int_equal(tally_trace_status(t), 1);
	tally_trace_close(t);
	drop(&r);
}

/* ---- memory --------------------------------------------------------------------------------- */

static void out_of_memory(const char *on, const char *script, long step)
{
	for (long n = 1;; n += step) {
		struct result r = { 0 };
		struct tally_trace_opts o = { .size = sizeof(o), .arg = &r };
		struct tally_trace *t = NULL;
		int rc;

		mem_fail_at(n);
		rc = tally_trace_open(&t, &o);
		if (rc == 0)
			rc = whole_run(t, on, script);
		tally_trace_close(t);
		assert_int_equal(mem_live(), 0);
		if (!mem_failed())
			break;
		assert_true(rc < 0);
	}
	mem_fail_at(0);
}

static void out_of_memory_is_an_error_and_leaks_nothing(void **state)
{
	(void)state;
	out_of_memory("power",
		      "gpci:::entitled-10ms { @[args[0]->id] = sum(args[0]->d_capped); } tick-20ms { exit(0); }", 1);
	out_of_memory("niagara,load=compute,strands=1",
		      "mmustat:::sample-200us { @ = count(); } tick-200us { exit(0); }", 7);
	out_of_memory("batoka,load=compute,strands=1",
		      "vfalls:::sample-200us,vfalls:::mem_reads-200us { @ = count(); } tick-200us { exit(0); }", 31);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(sums_of_a_request_are_the_machines_differences),
		cmocka_unit_test(an_events_deltas_are_the_counters_difference),
		cmocka_unit_test(slots_add_up_to_the_buffers),
		cmocka_unit_test(a_sample_has_each_readable_register_once),
		cmocka_unit_test(what_may_not_be_read_is_told),
		cmocka_unit_test(a_register_has_two_counters),
		cmocka_unit_test(samples_come_before_ticks_of_the_same_moment),
		cmocka_unit_test(time_is_the_platforms),
		cmocka_unit_test(intervals_go_side_by_side),
		cmocka_unit_test(without_anything_to_happen_the_run_is_over),
		cmocka_unit_test(exit_ends_the_run_with_the_record_that_called_it),
		cmocka_unit_test(each_field_of_each_request_is_a_member),
		cmocka_unit_test(ids_ascend_and_each_fires_once),
		cmocka_unit_test(domains_of_a_partition_fire_one_by_one),
		cmocka_unit_test(a_seed_gives_the_same_answers),
		cmocka_unit_test(platforms_are_refused_with_words),
		cmocka_unit_test(a_second_platform_is_refused),
		cmocka_unit_test(a_command_ends_the_run),
		cmocka_unit_test(out_of_memory_is_an_error_and_leaks_nothing),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
