/* power_config_test.c: a machine's text is taken as doc/power-config.md says, and an error names its line, its word and
 * what would do. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>
#include <cmocka.h>

#include "machine/power_int.h"

static int open_text(struct power **p, const char *text, struct err *e)
{
	*e = (struct err){ 0 };
	return power_open(p, &(struct power_opts){ .level = 255, .config = text, .config_bytes = strlen(text) }, e);
}

static void every_word_and_setting_is_taken(void **state)
{
	const struct power_partition *q;
	struct power *p;
	struct err e;

	(void)state;
	assert_int_equal(
		open_text(
			&p,
			"# a remark\n\n  nodes 2 # behind a line\nchips\t3\r\ncores 4\nmemory 77\nclock 129/17\ncollection 3\n"
			"firmware 8\nhardware-ids sparse\ncore 0 guarded\ncore 23 not-installed\ncore 11 unlicensed\n"
			"partition 500 name=web-1 type=shared vps=8 entitlement=310 weight=200 uncapped idle=yes rights=all+lab "
			"home=5 memory=12 demand=550 swing=400 period=60 snooze=150 ipc=5/4 traffic=3\n"
			"partition 2 type=dedicated donate spread vps=2 idle=no rights=expanded\n"
			"partition 3 capped entitlement=1",
			&e),
		0);
	assert_int_equal(power_level(p), 8);
	assert_int_equal(p->ncores, 24);
	assert_int_equal(power_partitions(p, &q), 3);
	assert_true(q[0].id == 2 && q[0].dedicated && q[0].donate && q[0].spread && q[0].vps == 2 &&
		    !q[0].reports_idle);
	assert_true(!q[0].rights.all && q[0].rights.expanded && !q[0].rights.lab);
	assert_string_equal(q[0].name, "lpar2");
	assert_true(q[1].capped && q[1].weight == 128 && q[1].memory_lmbs == 16 && q[1].vps == 1);
	assert_string_equal(q[2].name, "web-1");
	assert_true(q[2].vps == 8 && q[2].entitlement == 310 && q[2].weight == 200 && !q[2].capped &&
		    q[2].reports_idle);
	assert_true(q[2].rights.all && q[2].rights.lab && !q[2].rights.expanded && q[2].home == 5 &&
		    q[2].memory_lmbs == 12);
	assert_true(q[2].demand == 550 && q[2].swing == 400 && q[2].period == 60 && q[2].snooze == 150);
	assert_true(q[2].ipc_n == 5 && q[2].ipc_d == 4 && q[2].bytes_per_tick == 3);
	power_close(p);
	assert_int_equal(open_text(&p, "", &e), 0);
	assert_int_equal(p->ncores, 16);
	power_close(p);
}

static void an_error_names_the_line_the_word_and_what_would_do(void **state)
{
	static const struct {
		const char *text, *words;
	} rows[] = {
		{ "node 2\n", "line 1: node: no such word; did you mean 'nodes'?" },
		{ "nodes 2\n\nxyzzy\n", "line 3: xyzzy: no such word" },
		{ "nodes 5\n", "line 1: 5: nodes must be a number from 1 to 4" },
		{ "nodes 0\n", "line 1: 0: nodes must be a number from 1 to 4" },
		{ "nodes\n", "line 1: nodes: nodes must be a number" },
		{ "nodes 1 2\n", "line 1: 1: nodes must be a number" },
		{ "chips 6\n", "line 1: 6: chips must be a number from 1 to 5" },
		{ "cores 25\n", "cores must be a number from 1 to 24" },
		{ "cores 0x5\n", "line 1: 0x5" },
		{ "cores -5\n", "line 1: -5" },
		{ "cores 99999999999999999999\n", "line 1: 99999999999999999999" },
		{ "memory 0\n", "memory must be a number" },
		{ "collection 0\n", "collection must be a number" },
		{ "core 0 guarded\nnodes 2\n", "line 2: nodes: it must come before cores and partitions" },
		{ "partition 1 entitlement=1\nmemory 5\n", "line 2: memory: it must come before" },
		{ "nodes 4\nchips 5\ncores 24\ncore 480 guarded\n", "line 4: 480: no such core" },
		{ "core\n", "line 1: core: no such core" },
		{ "core 3\n", "line 1: 3: expected guarded, unlicensed or not-installed" },
		{ "core 3 guarde\n", "line 1: guarde: expected guarded" },
		{ "core 3 guarded\ncore 3 guarded\n", "line 2: 3: cores must come before partitions, each once" },
		{ "partition 1 entitlement=1\ncore 3 guarded\n", "line 2: 3: cores must come before" },
		{ "clock 0/5\n", "line 1: 0/5: expected cycles per tick" },
		{ "clock 5/0\n", "cycles per tick" },
		{ "clock 17\n", "at most 16" },
		{ "clock 1/2/3\n", "cycles per tick" },
		{ "clock /\n", "cycles per tick" },
		{ "clock 11111111111111111111/5\n", "cycles per tick" },
		{ "firmware 7\n", "line 1: 7: expected 0, 3, 5, 6 or 8" },
		{ "hardware-ids dense\n", "line 1: dense: expected sparse" },
		{ "partition\n", "line 1: partition: expected a partition's number" },
		{ "partition 0\n", "line 1: 0: expected a partition's number" },
		{ "partition 65535\n", "line 1: 65535: expected a partition's number" },
		{ "partition 1 wieght=3\n", "line 1: wieght: no such setting; did you mean 'weight'?" },
		{ "partition 1 spraed\n", "line 1: spraed: no such setting; did you mean 'spread'?" },
		{ "partition 1 weight\n", "line 1: weight: no such setting" },
		{ "partition 1 weight=256\n", "line 1: weight=256: expected 0 to 255" },
		{ "partition 1 weight=\n", "line 1: weight=: expected 0 to 255" },
		{ "partition 1 type=mixed\n", "line 1: type=mixed: expected shared or dedicated" },
		{ "partition 1 idle=maybe\n", "line 1: idle=maybe: expected yes or no" },
		{ "partition 1 rights=all,root\n", "line 1: rights=all,root: expected all, expanded, lab" },
		{ "partition 1 rights=\n", "line 1: rights=: expected all, expanded, lab" },
		{ "partition 1 rights=all,\n", "rights=all,: expected all" },
		{ "partition 1 rights=all,root\n", "expected all, expanded, lab or none; join several with +" },
		{ "partition 1 ipc=11\n", "line 1: ipc=11: expected instructions per cycle" },
		{ "partition 1 name=\n", "line 1: name=: expected 1 to 15" },
		{ "partition 1 name=0123456789abcdef\n", "1 to 15" },
		{ "partition 1 demand=1001\n", "demand=1001: expected 0 to 1000" },
		{ "\npartition 1\n", "line 2: partition 1: entitlement: it has none" },
		{ "partition 1 entitlement=1\npartition 1 entitlement=1\n", "line 2: partition 1: it exists already" },
		{ "partition 1 vps=20 entitlement=1700\n",
		  "line 1: partition 1 requires 17.00 cores: of 16 shared ones 0.00 are entitled to others" },
		{ "partition 1 vps=1 entitlement=101\n", "line 1: partition 1: entitlement: more than" },
		{ "partition 1 entitlement=1 home=2\n", "line 1: partition 1: home: there is no such chip" },
		{ "memory 3\npartition 1 entitlement=1\n",
		  "line 2: partition 1 requires 16 blocks of memory: 6 are free" },
	};

	(void)state;
	for (uint32_t i = 0; i < COUNT(rows); i++) {
		struct power *p;
		struct err e;

		assert_int_not_equal(open_text(&p, rows[i].text, &e), 0);
		if (!strstr(e.text, rows[i].words))
			fail_msg("'%s': '%s' does not say '%s'", rows[i].text, e.text, rows[i].words);
	}
	assert_int_equal(mem_live(), 0);
}

#define BASE "cores 4\npartition 1 entitlement=50\npartition 2 type=dedicated vps=2\n"

static void what_changes_is_done_at_its_time(void **state)
{
	static const struct {
		uint32_t windows, n, id, entitlement, demand;
	} rows[] = {
		{ 0, 2, 0, 0, 0 },     { 1, 2, 0, 0, 0 },     { 3, 2, 0, 0, 0 },
		{ 4, 3, 7, 150, 400 }, { 6, 3, 7, 150, 400 }, { 7, 3, 7, 150, 900 },
		{ 9, 3, 7, 150, 900 }, { 10, 2, 0, 0, 0 },    { 11, 3, 7, 20, 0 },
	};
	const struct power_partition *q;
	struct power *p;
	struct err e;

	(void)state;
	assert_int_equal(open_text(&p,
				   BASE
				   "at 30 partition 7 vps=2 entitlement=150 demand=400\nat 55 partition 7 demand=900\n"
				   "at 90 delete 7\nat 100 partition 7 entitlement=20 # anew\n",
				   &e),
			 0);
	for (uint32_t i = 0; i < COUNT(rows); i++) {
		power_run(p, rows[i].windows * (uint64_t)POWER_WINDOW);
		assert_int_equal(power_partitions(p, &q), rows[i].n);
		if (rows[i].id)
			assert_true(q[2].id == rows[i].id && q[2].entitlement == rows[i].entitlement &&
				    q[2].demand == rows[i].demand);
	}
	power_close(p);
	assert_int_equal(mem_live(), 0);
}

static void the_askers_rights_stay_when_it_changes(void **state)
{
	static const char text[] = "partition 1 entitlement=50 rights=all\nat 0 partition 1 demand=300\n";
	const struct power_partition *q;
	struct power *p;
	struct err e = { 0 };

	(void)state;
	assert_int_equal(power_open(&p,
				    &(struct power_opts){ .level = 6,
							  .config = text,
							  .config_bytes = strlen(text),
							  .rights_given = true },
				    &e),
			 0);
	power_run(p, POWER_WINDOW);
	assert_int_equal(power_partitions(p, &q), 1);
	assert_true(q[0].demand == 300 && !q[0].rights.all);
	power_close(p);
}

static void a_change_that_can_not_be_is_refused_before_anything_runs(void **state)
{
	static const struct {
		const char *text, *words;
	} rows[] = {
		{ BASE "at\n", "line 4: at: expected milliseconds" },
		{ BASE "at 5\n", "line 4: 5: expected milliseconds" },
		{ BASE "at x delete 2\n", "line 4: x: " },
		{ BASE "at 5 delet 2\n", "no such change; did you mean 'delete'?" },
		{ BASE "at 5 delete\n", "line 4: delete: expected the number" },
		{ BASE "at 5 delete 1\n", "other than 1" },
		{ BASE "at 5 delete 3\n", "line 4: partition 3: no such partition" },
		{ BASE "at 5 delete 2\nat 6 delete 2\n", "line 5: partition 2: no such partition" },
		{ BASE "at 50 delete 2\nat 30 partition 4 entitlement=1\n",
		  "line 5: 30: changes must be in the order" },
		{ BASE "at 5 partition\n", "line 4: partition: expected a partition's number" },
		{ BASE "at 5 partition 4 vps=8 entitlement=700\n", "line 4: partition 4 requires 7.00 cores" },
		{ BASE "at 5 partition 2 vps=3\n", "keeps its 2 cores" },
		{ BASE "at 5 partition 2 type=shared entitlement=5\n", "cannot change" },
		{ BASE "at 5 partition 1 wieght=3\n", "did you mean 'weight'?" },
		{ BASE "at 5 delete 2\npartition 4 entitlement=5\n",
		  "line 5: partition: initial partitions must come" },
		{ BASE "at 9999999999999 delete 2\n", "line 4: 9999999999999: expected milliseconds" },
	};

	(void)state;
	for (uint32_t i = 0; i < COUNT(rows); i++) {
		struct power *p;
		struct err e;

		assert_int_not_equal(open_text(&p, rows[i].text, &e), 0);
		if (!strstr(e.text, rows[i].words))
			fail_msg("'%s': '%s' does not say '%s'", rows[i].text, e.text, rows[i].words);
	}
	assert_int_equal(mem_live(), 0);
}

static void changes_survive_every_failing_allocation(void **state)
{
	static const char text[] =
		BASE "at 10 partition 7 vps=2 entitlement=150 demand=400\nat 20 partition 7 vps=3\nat 30 delete 7\n";

	(void)state;
	for (long n = 1;; n++) {
		const struct power_partition *q;
		struct power *p = NULL;
		struct err e = { 0 };
		bool failed;
		int rc;

		mem_fail_at(n);
		rc = open_text(&p, text, &e);
		for (uint32_t w = 1; rc == 0 && w < 8; w++)
			power_run(p, w * (uint64_t)POWER_WINDOW);
		failed = mem_failed();
		mem_fail_at(0);
		if (rc == 0)
			assert_int_equal(power_partitions(p, &q), 2); /* a window late, and done */
		power_close(p);
		assert_int_equal(mem_live(), 0);
		if (!failed)
			break;
		assert_true(rc == 0 || rc == -TALLY_ENOMEM);
	}
}

static void lines_without_end_and_bytes_that_are_no_text_are_refused(void **state)
{
	char text[1200];
	struct power *p;
	struct err e = { 0 };

	(void)state;
	memset(text, 'a', sizeof(text));
	assert_int_equal(power_open(&p, &(struct power_opts){ .config = text, .config_bytes = sizeof(text) }, &e),
			 -TALLY_EINVAL);
	assert_non_null(strstr(e.text, "line 1: this line: it is too long"));
	e = (struct err){ 0 };
	assert_int_equal(power_open(&p, &(struct power_opts){ .config = "nodes\0 2\n", .config_bytes = 9 }, &e),
			 -TALLY_EINVAL);
	e = (struct err){ 0 };
	for (uint32_t i = 0; i < 90; i += 2)
		memcpy(text + i, "a ", 2);
	text[90] = '\n';
	assert_int_equal(power_open(&p, &(struct power_opts){ .config = text, .config_bytes = 91 }, &e), -TALLY_EINVAL);
	assert_non_null(strstr(e.text, "too many words"));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(every_word_and_setting_is_taken),
		cmocka_unit_test(an_error_names_the_line_the_word_and_what_would_do),
		cmocka_unit_test(what_changes_is_done_at_its_time),
		cmocka_unit_test(the_askers_rights_stay_when_it_changes),
		cmocka_unit_test(a_change_that_can_not_be_is_refused_before_anything_runs),
		cmocka_unit_test(changes_survive_every_failing_allocation),
		cmocka_unit_test(lines_without_end_and_bytes_that_are_no_text_are_refused),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
