/* probes_test.c: from descriptions to probes; enabling together; stability. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include <cmocka.h>

#include "facts/event.h"
#include "provider/provider_int.h"

#define NONE "test/sysfs/none"

struct ids {
	uint32_t id[256], n;
};

static int collect(void *arg, uint32_t id)
{
	struct ids *l = arg;

	if (l->n == COUNT(l->id))
		return -TALLY_ENOMEM;
	l->id[l->n++] = id;
	return 0;
}

static int refuse(void *arg, uint32_t id)
{
	(void)arg;
	(void)id;
	return -TALLY_ESTATE;
}

static struct probes *table(struct prov_opts o)
{
	struct probes *t;

	o.sysfs = o.sysfs ? o.sysfs : NONE;
	o.conf = "/nonexistent/dcpc.conf";
	assert_int_equal(probes_open(&t, &o), 0);
	return t;
}

static int match(struct probes *t, struct d_probedesc d, struct ids *l, struct err *e)
{
	*l = (struct ids){ 0 };
	*e = (struct err){ 0 };
	return probes_match(t, &d, collect, l, e);
}

#define D(prov, mod, func, name) ((struct d_probedesc){ prov, mod, func, name })

static void begin_end_error_are_1_2_3(void **state)
{
	struct probes *t = table((struct prov_opts){ 0 });

	(void)state;
	assert_int_equal(probes_count(t), 3);
	assert_string_equal(probes_get(t, 1)->name, "BEGIN");
	assert_string_equal(probes_get(t, 2)->name, "END");
	assert_int_equal(probes_get(t, 3)->arm, ARM_ERROR);
	assert_null(probes_get(t, 0));
	assert_null(probes_get(t, 4));
	probes_close(t);
}

static void names_find_their_provider(void **state)
{
	static const struct {
		struct d_probedesc d;
		const char *prov;
	} row[] = {
		{ { "", "", "", "BEGIN" }, "dtrace" },
		{ { "dtrace", "", "", "BEGIN" }, "dtrace" },
		{ { "d*", "*", "", "END" }, "dtrace" },
		{ { "", "", "", "tick-1s" }, "profile" },
		{ { "profile", "", "", "profile-99" }, "profile" },
		{ { "", "", "", "cpu_clock-all-10000" }, "cpc" },
		{ { "c*", "", "", "cpu_clock-user-10000" }, "cpc" },
	};
	struct probes *t = table((struct prov_opts){ 0 });
	struct ids l;
	struct err e;

	(void)state;
	for (size_t i = 0; i < COUNT(row); i++) {
		assert_int_equal(match(t, row[i].d, &l, &e), 1);
		assert_int_equal(l.n, 1);
		assert_string_equal(probes_get(t, l.id[0])->prov->name, row[i].prov);
		assert_string_equal(e.text, "");
	}
	probes_close(t);
}

static void same_name_is_the_same_probe(void **state)
{
	struct probes *t = table((struct prov_opts){ 0 });
	struct ids a, b;
	struct err e;

	(void)state;
	assert_int_equal(match(t, D("cpc", "", "", "cpu_clock-all-10000"), &a, &e), 1);
	assert_int_equal(match(t, D("", "", "", "cpu_clock-all-10000"), &b, &e), 1);
	assert_int_equal(a.id[0], b.id[0]);
	assert_int_equal(probes_count(t), 4);
	probes_close(t);
}

static void patterns_find_what_a_listing_shows_and_what_was_named(void **state)
{
	struct probes *t = table((struct prov_opts){ 0 });
	struct ids l;
	struct err e;

	(void)state;
	assert_int_equal(match(t, D("dtrace", "", "", ""), &l, &e), 3);
	assert_int_equal(match(t, D("", "", "", "[BE]*"), &l, &e), 3);
	assert_int_equal(match(t, D("profile", "", "", "tick-*"), &l, &e), 6);
	assert_int_equal(match(t, D("cpc", "", "", ""), &l, &e), 10);
	assert_int_equal(match(t, D("cpc", "", "", "cpu_clock-*"), &l, &e), 1);
	assert_int_equal(match(t, D("cpc", "", "", "cpu_clock-user-*"), &l, &e), -TALLY_ENOPROBE);
	assert_non_null(strstr(e.text, "cpc: patterns match what tally trace -l -P cpc lists"));
	assert_int_equal(match(t, D("cpc", "", "", "cpu_clock-user-20000"), &l, &e), 1);
	assert_int_equal(match(t, D("cpc", "", "", "cpu_clock-*"), &l, &e), 2);
	probes_close(t);
}

/* Of 65 events that take a counter each. */
static void more_probes_than_any_cpu_has_counters_are_refused_before_they_are_loaded(void **state)
{
	struct probes *t = table((struct prov_opts){ .sysfs = "test/sysfs/intel", .cpc_min = 1 });
	uint32_t ids[65];
	struct ids l;
	struct err e;
	char name[40];

	(void)state;
	for (uint32_t i = 0; i < COUNT(ids); i++) {
		snprintf(name, sizeof(name), "cycles-all-%u", 1000 + i);
		assert_int_equal(match(t, D("cpc", "", "", name), &l, &e), 1);
		ids[i] = l.id[0];
	}
	assert_int_equal(probes_compatible(t, ids, 64, &e), 0);
	assert_int_equal(probes_compatible(t, ids, 65, &e), -TALLY_EBUSY);
	assert_non_null(strstr(e.text, "65 probes need a hardware counter each"));
	probes_close(t);
}

/* A description of two or three parts has no provider: whose name stands there is told for each of them. */
static void a_provider_in_the_place_of_a_module_or_function_is_told(void **state)
{
	const struct provider *p;
	struct probes *t = table((struct prov_opts){ 0 });
	struct ids l;
	struct err e;
	char want[160], name[40];

	(void)state;
	for (uint32_t i = 0; (p = provider_at(i)); i++) {
		snprintf(want, sizeof(want),
			 "%s is a provider, and a description with one has four parts; did you mean "
			 "%s::main:no-such-name?",
			 p->name, p->name);
		assert_int_equal(match(t, D("", p->name, "main", "no-such-name"), &l, &e), -TALLY_ENOPROBE);
		assert_string_equal(e.text, want);
		snprintf(want, sizeof(want), "did you mean %s:::no-such-name?", p->name);
		assert_int_equal(match(t, D("", "", p->name, "no-such-name"), &l, &e), -TALLY_ENOPROBE);
		assert_non_null(strstr(e.text, want));
		snprintf(name, sizeof(name), "%s123", p->name);
		assert_int_equal(match(t, D("", "", name, "no-such-name"), &l, &e), -TALLY_ENOPROBE);
		assert_non_null(strstr(e.text, p->is_of_process ? "is a provider" : "stands for a function"));
		snprintf(name, sizeof(name), "%sx", p->name);
		assert_int_equal(match(t, D("", "", name, "no-such-name"), &l, &e), -TALLY_ENOPROBE);
		assert_non_null(strstr(e.text, "stands for a function"));
	}
	assert_true(p == NULL);
	probes_close(t);
}

static void module_and_function_are_empty(void **state)
{
	static const char *const providers[] = { "dtrace", "profile", "cpc", "ptt", "gpci", "vfalls", "mmustat" };
	struct probes *t = table((struct prov_opts){ 0 });
	struct ids l;
	struct err e;

	(void)state;
	assert_int_equal(match(t, D("cpc", "vmlinux", "", "cpu_clock-all-10000"), &l, &e), -TALLY_ENOPROBE);
	assert_non_null(strstr(e.text, "no module and no function"));
	assert_int_equal(match(t, D("", "", "main", "BEGIN"), &l, &e), -TALLY_ENOPROBE);
	assert_non_null(strstr(e.text, "\"main\" stands for a function"));
	assert_int_equal(match(t, D("", "x*", "", "*"), &l, &e), -TALLY_ENOPROBE);
	assert_non_null(strstr(e.text, "\"x*\" stands for a module"));
	assert_int_equal(match(t, D("nobody", "", "", "BEGIN"), &l, &e), -TALLY_ENOPROBE);
	assert_string_equal(
		e.text,
		"no provider \"nobody\" (expected one of dtrace, profile, syscall, proc, sched, io, ip, tcp, udp, lockstat, vminfo, sdt, rawtp, fbt, pid, usdt, cpc, ptt, gpci, vfalls or mmustat)");
	for (uint32_t i = 0; i < COUNT(providers); i++)
		assert_non_null(strstr(e.text, providers[i]));
	assert_int_equal(match(t, D("profil", "", "", "tick-1s"), &l, &e), -TALLY_ENOPROBE);
	assert_string_equal(e.text, "no provider \"profil\"; did you mean profile?");
	probes_close(t);
}

/* No probe has it: a name that no key can hold is looked for in vain, and nothing behind the key is read. */
static void a_name_of_any_length_is_looked_up(void **state)
{
	struct probes *t = table((struct prov_opts){ 0 });
	char name[1200];
	struct ids l;
	struct err e;

	(void)state;
	assert_int_equal(match(t, D("", "", "", "tick-1s"), &l, &e), 1);
	assert_ptr_equal(probes_find(t, &prov_profile, "tick-1s"), probes_get(t, l.id[0]));
	for (size_t n = 490; n < sizeof(name) - 1; n++) {
		memset(name, 'x', n);
		name[n] = '\0';
		assert_null(probes_find(t, &prov_profile, name));
	}
	probes_close(t);
}

/* Each argument of a row, and none behind the last. */
static void arguments_of_a_row_end_with_the_last(void **state)
{
	uint32_t most = 0;

	(void)state;
	for (uint32_t i = 0; provider_at(i); i++)
		for (uint32_t k = 0; provider_at(i)->row && k < provider_at(i)->nrows; k++) {
			const struct point_row *row = &provider_at(i)->row[k];
			const struct probe p = { .prov = provider_at(i), .data = row };

			for (uint32_t index = 0; index < row->nargs; index++)
				assert_ptr_equal(probe_args(&p, index), &row->args[index]);
			assert_null(probe_args(&p, row->nargs));
			assert_null(probe_args(&p, row->nargs + 1));
			most = row->nargs > most ? row->nargs : most;
		}
	assert_true(most > 1);
	assert_null(probe_args(NULL, 0));
}

static void reasons_name_their_provider(void **state)
{
	struct probes *t = table((struct prov_opts){ 0 });
	struct ids l;
	struct err e;

	(void)state;
	assert_int_equal(match(t, D("cpc", "", "", "cpu_clock-all-100"), &l, &e), -TALLY_EINVAL);
	assert_string_equal(
		e.text,
		"cpc: count 100 is below the minimum of 5000 (-x dcpc_min_overflow=N lowers it; write 100hz for 100 firings a second)");
	assert_int_equal(match(t, D("", "", "", "tikc-1s"), &l, &e), -TALLY_ENOPROBE);
	assert_string_equal(e.text, "profile: no probe \"tikc-1s\"; did you mean tick-1s?");
	assert_int_equal(match(t, D("", "", "", "tick-1parsec"), &l, &e), -TALLY_EINVAL);
	assert_non_null(strstr(e.text, "profile: unknown unit \"parsec\""));
	assert_int_equal(match(t, D("", "", "", "begin"), &l, &e), -TALLY_ENOPROBE);
	assert_string_equal(e.text, "dtrace: no probe \"begin\"; did you mean BEGIN?");
	assert_int_equal(match(t, D("", "", "", "nonsense"), &l, &e), 0);
	assert_string_equal(e.text, "");
	assert_int_equal(match(t, D("cpc", "", "", "nonsense"), &l, &e), -TALLY_EINVAL);
	probes_close(t);
}

static void refusal_of_the_caller_is_handed_back(void **state)
{
	struct probes *t = table((struct prov_opts){ 0 });
	struct d_probedesc any = D("", "", "", ""), begin = D("", "", "", "BEGIN"), tick = D("", "", "", "tick-1");
	struct err e = { 0 };

	(void)state;
	assert_int_equal(probes_match(t, &any, refuse, NULL, &e), -TALLY_ESTATE);
	assert_int_equal(probes_match(t, &begin, refuse, NULL, &e), -TALLY_ESTATE);
	assert_int_equal(probes_match(t, &tick, refuse, NULL, &e), -TALLY_ESTATE);
	assert_int_equal(e.code, 0);
	probes_close(t);
}

static void one_enabling_at_a_time_where_overflow_is_ambiguous(void **state)
{
	struct probes *t = table((struct prov_opts){ .one_enabling = true });
	struct ids a, b, tick;
	uint32_t two[3];
	struct err e;

	(void)state;
	assert_int_equal(match(t, D("cpc", "", "", "cpu_clock-all-10000"), &a, &e), 1);
	assert_int_equal(match(t, D("cpc", "", "", "page_faults-all-10000"), &b, &e), 1);
	assert_int_equal(match(t, D("", "", "", "tick-1"), &tick, &e), 1);
	two[0] = two[2] = a.id[0];
	two[1] = tick.id[0];
	assert_int_equal(probes_compatible(t, two, 3, &e), 0);
	two[1] = b.id[0];
	assert_int_equal(probes_compatible(t, two, 3, &e), -TALLY_EBUSY);
	assert_non_null(strstr(e.text, "one cpc probe can be enabled at a time"));
	probes_close(t);
}

static void many_enablings_are_fine_where_overflow_is_told(void **state)
{
	struct probes *t = table((struct prov_opts){ 0 });
	struct ids a, b;
	struct err e;

	(void)state;
	assert_int_equal(match(t, D("cpc", "", "", "cpu_clock-all-10000"), &a, &e), 1);
	assert_int_equal(match(t, D("cpc", "", "", "page_faults-all-10000"), &b, &e), 1);
	collect(&a, b.id[0]);
	assert_int_equal(probes_compatible(t, a.id, a.n, &e), 0);
	probes_close(t);
}

static void listing_shows_each_software_event_once(void **state)
{
	struct probes *t = table((struct prov_opts){ 0 });
	struct ids l;
	struct err e = { 0 };
	uint32_t n;

	(void)state;
	assert_int_equal(probes_offer(t, &e), 0);
	assert_int_equal(match(t, D("cpc", "", "", "*"), &l, &e), 10);
	for (uint32_t i = 0; i < l.n; i++)
		assert_non_null(strstr(probes_get(t, l.id[i])->name,
				       event_is_clock(1, probes_get(t, l.id[i])->event->config) ? "-all-10000000" :
												  "-all-5000"));
	n = probes_count(t);
	assert_int_equal(probes_offer(t, &e), 0);
	assert_int_equal(probes_count(t), n);
	probes_close(t);
}

static void stability_is_that_of_the_spec(void **state)
{
	(void)state;
	assert_string_equal(stab_text(prov_cpc.names.name), "Evolving");
	assert_string_equal(dep_text(prov_cpc.names.dep), "CPU");
	assert_string_equal(dep_text(prov_cpc.provider.dep), "Common");
	assert_string_equal(stab_text(prov_cpc.module.data), "Private");
	assert_string_equal(dep_text(prov_cpc.function.dep), "Unknown");
	assert_string_equal(dep_text(prov_cpc.args.dep), "Common");
	assert_string_equal(stab_text(prov_dtrace.names.data), "Stable");
	assert_string_equal(stab_text(99), "Unknown");
	assert_string_equal(dep_text(99), "Unknown");
}

static void every_failed_allocation_is_reported(void **state)
{
	(void)state;
	for (long i = 1;; i++) {
		struct prov_opts o = { .sysfs = "test/sysfs/hybrid", .conf = "/nonexistent/dcpc.conf" };
		struct d_probedesc d = D("", "", "", "mem_loads-user-ldlat_4-10000");
		struct probes *t = NULL;
		struct err e = { 0 };
		struct ids l = { 0 };
		int rc;

		mem_fail_at(i);
		rc = probes_open(&t, &o);
		if (rc >= 0)
			rc = probes_match(t, &d, collect, &l, &e);
		if (rc >= 0)
			rc = probes_offer(t, &e);
		probes_close(t);
		if (!mem_failed()) {
			assert_int_equal(rc, 0);
			break;
		}
		assert_int_equal(rc, -TALLY_ENOMEM);
		assert_int_equal(mem_live(), 0);
	}
	mem_fail_at(0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(begin_end_error_are_1_2_3),
		cmocka_unit_test(names_find_their_provider),
		cmocka_unit_test(same_name_is_the_same_probe),
		cmocka_unit_test(patterns_find_what_a_listing_shows_and_what_was_named),
		cmocka_unit_test(more_probes_than_any_cpu_has_counters_are_refused_before_they_are_loaded),
		cmocka_unit_test(a_provider_in_the_place_of_a_module_or_function_is_told),
		cmocka_unit_test(module_and_function_are_empty),
		cmocka_unit_test(a_name_of_any_length_is_looked_up),
		cmocka_unit_test(arguments_of_a_row_end_with_the_last),
		cmocka_unit_test(reasons_name_their_provider),
		cmocka_unit_test(refusal_of_the_caller_is_handed_back),
		cmocka_unit_test(one_enabling_at_a_time_where_overflow_is_ambiguous),
		cmocka_unit_test(many_enablings_are_fine_where_overflow_is_told),
		cmocka_unit_test(listing_shows_each_software_event_once),
		cmocka_unit_test(stability_is_that_of_the_spec),
		cmocka_unit_test(every_failed_allocation_is_reported),
	};

	return cmocka_run_group_tests_name("provider: probes", tests, NULL, NULL);
}
