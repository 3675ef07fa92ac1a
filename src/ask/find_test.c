/* find_test.c: what is found by name, on machines that are made up, and when memory is out. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include <tally/doctor.h>

#include "ask/find_int.h"

#define ENOUGH (1u << 20)

struct text {
	char p[ENOUGH];
	size_t n;
};

static int take(void *arg, const char *s, size_t n)
{
	struct text *t = arg;

	assert_true(t->n + n < sizeof(t->p));
	memcpy(t->p + t->n, s, n);
	t->n += n;
	t->p[t->n] = '\0';
	return 0;
}

/* What a list prints, or the words of its refusal. */
static int list_on(struct text *t, const char *on, const char *sysfs, const char *kind, const char *pattern,
		   bool verbose)
{
	const struct tally_platform_opts o = { .size = sizeof(o), .on = on, .sysfs = sysfs };
	const struct tally_out to = { .size = sizeof(to), .out = take, .arg = t, .columns = 80 };
	struct tally_platform *p = NULL;
	int rc = tally_platform_open(&p, &o);

	t->n = 0;
	t->p[0] = '\0';
	if (rc >= 0)
		rc = tally_list(p, kind, pattern, verbose, &to);
	if (rc < 0 && p)
		take(t, tally_platform_error(p), strlen(tally_platform_error(p)));
	tally_platform_close(p);
	return rc;
}

static int list(struct text *t, const char *sysfs, const char *kind, const char *pattern, bool verbose)
{
	return list_on(t, NULL, sysfs, kind, pattern, verbose);
}

static struct text said;

static void events_of_a_pmu_have_the_code_of_its_format(void **state)
{
	(void)state;
	assert_true(list(&said, "test/sysfs/intel", "events", "mem_loads", true) >= 0);
	assert_non_null(strstr(said.p, "mem_loads"));
	assert_non_null(strstr(said.p, "as: cpc:::mem_loads-all-1000000"));
	assert_true(list(&said, "test/sysfs/intel", "events", "cpu_cycles", false) >= 0);
	assert_non_null(strstr(said.p, "yes"));
	assert_true(list(&said, "test/sysfs/none", "events", "cpu_cycles", false) >= 0);
	assert_non_null(strstr(said.p, "no PMU"));
}

/* A row of a list with all that it says, in one piece. */
static void names_codes_and_other_names_are_told_of_an_event(void **state)
{
	static const struct {
		int line;
		const char *sysfs, *pattern, *words;
	} row[] = {
		{ __LINE__, "test/sysfs/none", "page_faults",
		  "page_faults   software  1:0x2  yes   page faults\n"
		  "      as: cpc:::page_faults-all-1000000\n"
		  "      also: page-faults, faults, perf_count_sw_page_faults\n" },
		{ __LINE__, "test/sysfs/none", "cpu_clock", "\n      also: cpu-clock, perf_count_sw_cpu_clock\n" },
		{ __LINE__, "test/sysfs/none", "PAPI_tot_cyc",
		  "PAPI_tot_cyc  PAPI  0:0x0  no PMU  total cycles\n      as: cpc:::PAPI_tot_cyc-all-1000000\n"
		  "      also: cpu_cycles\n" },
		/* a name that perf has, too, is told once */
		{ __LINE__, "test/sysfs/none", "instructions", "also: perf_count_hw_instructions\n" },
		{ __LINE__, "test/sysfs/intel", "mem_loads",
		  "mem_loads  cpu  4:0x1cd,0x3  yes   an event of that PMU\n"
		  "      as: cpc:::mem_loads-all-1000000\n"
		  "      also: cpu/mem-loads/\n" },
	};

	(void)state;
	for (size_t i = 0; i < COUNT(row); i++)
		if (list(&said, row[i].sysfs, "events", row[i].pattern, true) < 0 || !strstr(said.p, row[i].words))
			fail_msg("line %d: %s", row[i].line, said.p);
}

static void words_say_what_is_near(void **state)
{
	static const struct {
		const char *kind, *pattern, *words;
	} row[] = {
		{ "cycels", NULL, "nothing matches 'cycels'; did you mean 'cycles'?" },
		{ "evnts", NULL, "unknown kind 'evnts'; did you mean 'events'?" },
		{ "views", "ceq", "nothing of kind 'views' matches 'ceq'" },
		{ "zzz", "x", "unknown kind 'zzz'; 'tally list' shows the kinds" },
	};

	(void)state;
	for (size_t i = 0; i < COUNT(row); i++) {
		assert_int_equal(list(&said, "test/sysfs/none", row[i].kind, row[i].pattern, false), -TALLY_EINVAL);
		assert_true(strncmp(said.p, row[i].words, strlen(row[i].words)) == 0);
	}
}

static void what_a_platform_has_and_allows_is_said_of_it(void **state)
{
	static const struct {
		int line;
		const char *on, *sysfs, *kind, *name, *words;
	} row[] = {
		{ __LINE__, NULL, "test/sysfs/none", "requests", "entitled", "--on power" },
		{ __LINE__, NULL, "test/sysfs/none", "tunables", "qos_tx_p", "--on kunpeng" },
		{ __LINE__, NULL, "test/sysfs/power/sys", "requests", "bus_topology", " yes " },
		{ __LINE__, "power", NULL, "requests", "entitled", " yes " },
		{ __LINE__, "power,rights=none", NULL, "requests", "links_abc", "no right" },
		{ __LINE__, "power,rights=all", NULL, "requests", "mmcrh", "no right" },
		{ __LINE__, "power", NULL, "requests", "mmcrh", " yes " },
		{ __LINE__, "batoka,rights=strand", NULL, "registers", "sparc_pcr", " yes " },
		{ __LINE__, "batoka,rights=strand", NULL, "registers", "l2_cr", "no right" },
		{ __LINE__, "batoka", NULL, "registers", "dmmu", "--on niagara" },
	};

	(void)state;
	for (size_t i = 0; i < COUNT(row); i++)
		if (list_on(&said, row[i].on, row[i].sysfs, row[i].kind, row[i].name, false) < 0 ||
		    !strstr(said.p, row[i].words))
			fail_msg("line %d: %s", row[i].line, said.p);
	assert_true(list_on(&said, "unix:/nowhere/at/all", NULL, "requests", NULL, false) < 0);
	assert_non_null(strstr(said.p, "/nowhere/at/all"));
}

/* A name of libpfm4's can be nearly as long as a line is wide, and is not broken: it is to be copied. */
static bool has_long_name(const char *line)
{
	const char *end = line + strcspn(line, "\n");

	for (size_t n; line < end; line += n + (line[n] == ' ')) {
		n = strcspn(line, " \n");
		if (n > 60)
			return true;
	}
	return false;
}

static void no_line_is_wider_than_80_columns(void **state)
{
	static const char *const machines[] = { "test/sysfs/none", "test/sysfs/intel", "test/sysfs/hybrid",
						"test/sysfs/arm" };

	(void)state;
	for (uint32_t k = 0; find_kind(k); k++)
		for (size_t m = 0; m < COUNT(machines); m++) {
			assert_true(list(&said, machines[m], find_kind(k)->name, NULL, false) >= 0);
			for (const char *line = said.p; *line; line += strcspn(line, "\n") + 1)
				if (strcspn(line, "\n") > 80 && !has_long_name(line))
					fail_msg("%s, %s: %.*s", machines[m], find_kind(k)->name,
						 (int)strcspn(line, "\n"), line);
		}
}

static void name_of_each(void *arg, const char *name)
{
	uint32_t *n = arg;

	assert_true(*name);
	++*n;
}

static void names_of_each_kind_are_those_of_its_list(void **state)
{
	const struct tally_platform_opts o = { .size = sizeof(o), .sysfs = "test/sysfs/none" };
	struct tally_platform *p = NULL;

	(void)state;
	assert_int_equal(tally_platform_open(&p, &o), 0);
	for (uint32_t k = 0; find_kind(k); k++) {
		uint32_t n = 0;

		assert_int_equal(tally_names(p, find_kind(k)->name, name_of_each, &n), 0);
		assert_true(n > 0);
	}
	for (uint32_t n = 0; n < 3; n++) {
		static const char *const more[] = { "selectors", "countable", "keys" };
		uint32_t count = 0;

		assert_int_equal(tally_names(p, more[n], name_of_each, &count), 0);
		assert_true((count > 0) == (strcmp(more[n], "keys") != 0));
	}
	assert_int_equal(tally_names(p, "what", name_of_each, NULL), -TALLY_EINVAL);
	tally_platform_close(p);
}

static void memory_that_is_out_is_told_and_all_is_freed(void **state)
{
	static const struct {
		const char *on, *what;
	} row[] = {
		{ NULL, "events" }, { NULL, "loads" },       { NULL, "clock" },
		{ NULL, "cycels" }, { "power", "requests" }, { "batoka", "registers" },
	};
	long live = mem_live();

	(void)state;
	for (size_t i = 0; i < COUNT(row); i++)
		for (long n = 1;; n += n < 200 ? 1 : 97) {
			int rc;

			mem_fail_at(n);
			rc = list_on(&said, row[i].on, "test/sysfs/none", row[i].what, NULL, true);
			if (!mem_failed())
				break;
			assert_true(rc == -TALLY_ENOMEM || rc == -TALLY_EINVAL || rc == 0);
			assert_int_equal(mem_live(), live);
		}
	mem_fail_at(0);
}

/* What is given out when memory is out is all that there is, or it is an error. */
static void names_without_memory_are_all_there_or_an_error(void **state)
{
	static const char *const row[] = { "selectors", "countable", "events", "requests" };
	const struct tally_platform_opts o = { .size = sizeof(o), .sysfs = "test/sysfs/none" };
	struct tally_platform *p = NULL;
	uint32_t nfailed = 0;

	(void)state;
	assert_int_equal(tally_platform_open(&p, &o), 0);
	for (size_t i = 0; i < COUNT(row); i++) {
		uint32_t all = 0;

		assert_int_equal(tally_names(p, row[i], name_of_each, &all), 0);
		for (long n = 1;; n += n < 50 ? 1 : 41) {
			uint32_t some = 0;
			int rc;

			mem_fail_at(n);
			rc = tally_names(p, row[i], name_of_each, &some);
			if (!mem_failed())
				break;
			if (rc == 0 && some != all)
				fail_msg("%s: %u of %u names, and no error at allocation %ld", row[i], some, all, n);
			nfailed += rc < 0;
		}
		mem_fail_at(0);
	}
	assert_true(nfailed > COUNT(row));
	tally_platform_close(p);
}

/* ---- doctor --------------------------------------------------------------------------------- */

struct findings {
	uint32_t n, needed, fixes, ok;
	bool fake;
};

static void count(void *arg, const struct tally_finding *f)
{
	struct findings *c = arg;

	c->n++;
	c->needed += f->needed;
	c->ok += f->verdict == TALLY_IS_OK;
	c->fixes += *f->fix != 0;
	assert_true(*f->key && *f->group && *f->title && *f->cause);
	assert_int_equal(f->verdict == TALLY_IS_OK, !*f->consequence);
	assert_false(*f->fix && *f->instead);
	if (c->fake && !strcmp(f->key, "nmi_watchdog"))
		assert_string_equal(f->found, "not in this kernel");
}

static void doctor_finds_each_row_once_and_refuses_a_newer_caller(void **state)
{
	struct findings c = { .fake = true };
	struct tally_doctor_opts o = { .size = sizeof(o), .root = "test/sysfs", .each = count, .arg = &c };
	struct {
		struct tally_doctor_opts o;
		int more;
	} newer = { { .size = sizeof(newer) }, 1 };
	int rc = tally_doctor(&o);

	(void)state;
	assert_true(rc == 0 || rc == -TALLY_EPERM || rc == -TALLY_ENOTSUP);
	assert_true(c.n >= 30 && c.ok < c.n && c.fixes > 0);
	assert_int_equal(c.needed, 4);
	assert_int_equal(tally_doctor(&newer.o), -TALLY_EINVAL);
}

static void feature(void *arg, const char *name, const char *version, bool inside, const char *what)
{
	assert_true(*name && *what);
	assert_true(!inside || *version);
	++*(uint32_t *)arg;
}

static void features_are_named_with_what_they_are_for(void **state)
{
	uint32_t n = 0;

	(void)state;
	tally_features("/no/such/library", feature, &n);
	assert_true(n >= 7);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(events_of_a_pmu_have_the_code_of_its_format),
		cmocka_unit_test(names_codes_and_other_names_are_told_of_an_event),
		cmocka_unit_test(words_say_what_is_near),
		cmocka_unit_test(what_a_platform_has_and_allows_is_said_of_it),
		cmocka_unit_test(no_line_is_wider_than_80_columns),
		cmocka_unit_test(names_of_each_kind_are_those_of_its_list),
		cmocka_unit_test(memory_that_is_out_is_told_and_all_is_freed),
		cmocka_unit_test(names_without_memory_are_all_there_or_an_error),
		cmocka_unit_test(doctor_finds_each_row_once_and_refuses_a_newer_caller),
		cmocka_unit_test(features_are_named_with_what_they_are_for),
	};

	return cmocka_run_group_tests_name("ask: find, doctor", tests, NULL, NULL);
}
