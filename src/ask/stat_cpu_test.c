/*
 * stat_cpu_test.c: CPU events: on this machine's software events, and figures by hand where that takes counters.
 *
 * Software events stand in for hardware where leases are tested: they are pinned, leased and disabled alike.
 */
#include "ask/output_test_int.h"
#include "ask/stat_cpu_int.h"

#include <ftw.h>
#include <linux/perf_event.h>
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>
#include <cmocka.h>

#include "facts/event.h"

/* ---- a platform and what it says -------------------------------------------------------------------------- */

struct here {
	struct tally_platform *p;
	struct tally_stat_opts o;
	struct tally_stat_result result;
	struct buf out, notes;
	int32_t self;
};

static void open_here(struct here *h, const char *events, uint32_t form)
{
	*h = (struct here){ .self = getpid() };
	h->result = (struct tally_stat_result){ .size = sizeof(h->result) };
	h->o = (struct tally_stat_opts){
		.size = sizeof(h->o),
		.events = events,
		.to = { .size = sizeof(struct tally_out), .out = buf_take, .arg = &h->out, .format = form }
	};
	h->p = platform_open_noted(NULL, &h->notes);
}

static void free_here(struct here *h)
{
	tally_platform_close(h->p);
	buf_free(&h->out);
	buf_free(&h->notes);
}

static void close_here(struct here *h)
{
	free_here(h);
	assert_int_equal(mem_live(), 0);
}

static void assert_has(const struct buf *b, const char *words)
{
	if (!strstr(buf_text(b), words))
		fail_msg("\"%s\" is not in:\n%s", words, buf_text(b));
}

static void said(const struct here *h, const char *words)
{
	if (!strstr(tally_platform_error(h->p), words))
		fail_msg("said \"%s\", not \"%s\"", tally_platform_error(h->p), words);
}

static char *const command[] = { "true", NULL };

/* ---- what is wrong --------------------------------------------------------------------------------------------- */

static void what_contradicts_itself_is_refused(void **state)
{
	static const int32_t one[] = { 1 };
	static const struct {
		int line;
		const char *events;
		struct tally_stat_opts o;
		const char *words;
	} row[] = {
		{ __LINE__, "", { .size = 0 }, "-e is empty" },
		{ __LINE__, "page-faults,", { .argv = command }, NULL },
		{ __LINE__, "page-faults,,cs", { .argv = command }, "an event is missing" },
		{ __LINE__, "cycels", { .argv = command }, "did you mean cycles?" },
		{ __LINE__, "power/energy-pkg/u/x", { .argv = command }, "without a comma" },
		{ __LINE__, "page-faults", { .pids = one, .npids = 1, .tids = one, .ntids = 1 }, "cannot be combined" },
		{ __LINE__,
		  "page-faults",
		  { .pids = one, .npids = 1, .flags = TALLY_STAT_SYSTEM },
		  "cannot be combined" },
		{ __LINE__, "page-faults", { .repeat = 3 }, "-r requires a COMMAND" },
		{ __LINE__, "page-faults", { .repeat = 3, .argv = command, .count = 2 }, "-r cannot be combined with" },
		{ __LINE__, "page-faults", { .flags = 1u << 20 }, "unknown value in an option" },
		{ __LINE__, "page-faults", { .cpus = "x" }, "invalid CPU list" },
		{ __LINE__, "page-faults", { .cpus = "0", .tids = one, .ntids = 1 }, "cannot be combined" },
		{ __LINE__,
		  "page-faults",
		  { .repeat = 2, .argv = command, .interval_ns = 1 },
		  "-r cannot be combined" },
		{ __LINE__,
		  "page-faults",
		  { .repeat = 2, .argv = command, .duration_ns = 1 },
		  "-r cannot be combined" },
		{ __LINE__, "page-faults", { .repeat = 1, .argv = command, .count = 1 }, NULL },
		{ __LINE__, "page-faults", { .argv = command, .view = "cec" }, "events and a view cannot be combined" },
		{ __LINE__,
		  "{page-faults,{cs}}",
		  { .argv = command },
		  "'{page-faults,{cs}}': groups cannot be nested" },
		{ __LINE__, "{{page-faults}}", { .argv = command }, "'{{page-faults}}': groups cannot be nested" },
		{ __LINE__, "cs,{page-faults", { .argv = command }, "'{page-faults': } is missing" },
		{ __LINE__, "cs},page-faults", { .argv = command }, "'},page-faults': } without a {" },
		{ __LINE__, "{cs},page-faults}", { .argv = command }, "'}': } without a {" },
		{ __LINE__, "{cs,page-faults}:u", { .argv = command }, "':u': a group takes no modifier" },
		{ __LINE__,
		  "cs,{page-faults}",
		  { .argv = command, .flags = TALLY_STAT_SHARE },
		  "'{page-faults}': groups and --share cannot be combined" },
		{ __LINE__, "{cs,page-faults},{minor-faults},task-clock", { .argv = command }, NULL },
	};

	(void)state;
	for (size_t i = 0; i < COUNT(row); i++) {
		struct tally_stat_opts o = row[i].o;
		struct here h;
		int rc;

		open_here(&h, row[i].events, TALLY_FORMAT_CSV);
		o.size = sizeof(o);
		o.events = row[i].events;
		o.to = h.o.to;
		rc = tally_stat(h.p, &o, NULL);
		if (row[i].words ? rc != -TALLY_EINVAL || !strstr(tally_platform_error(h.p), row[i].words) : rc < 0)
			fail_msg("line %d: %d, %s", row[i].line, rc, tally_platform_error(h.p));
		close_here(&h);
	}
}

static void who_is_not_there_is_named(void **state)
{
	static const int32_t nobody[] = { INT32_MAX };
	struct here h;

	(void)state;
	open_here(&h, "page-faults", TALLY_FORMAT_CSV);
	h.o.pids = nobody;
	h.o.npids = 1;
	assert_int_equal(tally_stat(h.p, &h.o, &h.result), -TALLY_EINVAL);
	said(&h, "no such process: 2147483647");
	h.o.npids = 0;
	h.o.tids = nobody;
	h.o.ntids = 1;
	assert_int_equal(tally_stat(h.p, &h.o, &h.result), -TALLY_EINVAL);
	said(&h, "no such thread: 2147483647");
	close_here(&h);
}

static void a_command_that_cant_be_run_has_its_status(void **state)
{
	static char *const nothing[] = { "/nonexistent/command", NULL };
	struct here h;

	(void)state;
	open_here(&h, "page-faults", TALLY_FORMAT_CSV);
	h.o.argv = nothing;
	if (tally_stat(h.p, &h.o, &h.result) == -TALLY_EPERM)
		skip();
	said(&h, "failed to start '/nonexistent/command'");
	assert_int_equal(h.result.status, 127);
	assert_int_equal(h.out.n, 0);
	close_here(&h);
}

/* ---- what a command does --------------------------------------------------------------------- */

static void a_command_is_counted_and_its_status_handed_on(void **state)
{
	static char *const exits[] = { "sh", "-c", "exit 7", NULL };
	struct here h;

	(void)state;
	open_here(&h, "page-faults:u,cycels_none", TALLY_FORMAT_JSON);
	h.o.events = "page-faults:u";
	h.o.argv = exits;
	if (tally_stat(h.p, &h.o, &h.result) == -TALLY_EPERM)
		skip();
	assert_int_equal(h.result.status, 7);
	assert_has(&h.out, "\"name\":\"page-faults:u\",\"selector\":\"page-faults:u\"");
	assert_has(&h.out, "\"status\":\"ok\",\"why\":\"\",\"share\":1,");
	assert_has(&h.out, "{\"type\":\"run\",\"time\":");
	assert_has(&h.out, "\"runs\":1,\"status\":7}\n");
	close_here(&h);
}

static void runs_are_repeated_and_spread_is_told(void **state)
{
	struct here h;

	(void)state;
	open_here(&h, "page-faults:u", TALLY_FORMAT_TEXT);
	h.o.argv = command;
	h.o.repeat = 4;
	if (tally_stat(h.p, &h.o, &h.result) == -TALLY_EPERM)
		skip();
	assert_has(&h.out, "SPREAD");
	assert_has(&h.out, ": means of 4 runs\n");
	close_here(&h);
}

static void nothing_of_it_is_an_error_and_the_command_does_not_run(void **state)
{
	static char *const leaves[] = { "touch", "/tmp/tally-stat-cpu-test-must-not-be", NULL };
	struct here h;

	(void)state;
	unlink(leaves[1]);
	open_here(&h, "task-clock:u", TALLY_FORMAT_CSV); /* which no kernel can part */
	h.o.argv = leaves;
	assert_int_equal(tally_stat(h.p, &h.o, &h.result), -TALLY_ENOTSUP);
	said(&h, "none of these events can be counted here; software events can");
	assert_has(&h.notes, "task-clock:u: the kernel counts a clock's time in all modes together");
	assert_has(&h.out, ",not supported,");
	assert_int_equal(access(leaves[1], F_OK), -1);
	close_here(&h);
}

/* ---- leases: software events as if they took counters ---------------------------------------- */

static char lease_root[64]; /* of this test alone */

static int lease_root_make(void **state)
{
	char path[96];

	(void)state;
	strcpy(lease_root, "/tmp/tally-stat-test-XXXXXX");
	if (!mkdtemp(lease_root) || chmod(lease_root, 0755) < 0)
		return -1;
	snprintf(path, sizeof(path), "%s/tmp", lease_root);
	return mkdir(path, 0700);
}

static int lease_root_entry(const char *path, const struct stat *st, int type, struct FTW *at)
{
	(void)st, (void)type, (void)at;
	return remove(path);
}

static int lease_root_remove(void **state)
{
	(void)state;
	return nftw(lease_root, lease_root_entry, 8, FTW_DEPTH | FTW_PHYS);
}

struct leased {
	struct here h;
	struct stat_cpu *c;
};

static struct lease *take(enum lease_kind kind)
{
	struct lease_holder other;
	struct err e = { 0 };
	struct lease *ret;

	if (lease_take(&ret, lease_root, kind, &other, &e) < 0)
		fail_msg("%s", e.text);
	return ret;
}

static void close_leased(struct leased *l)
{
	stat_cpu_close(l->c);
	free_here(&l->h); /* the test's own lease may live on */
}

static int open_leased(struct leased *l, bool tasks, uint32_t flags)
{
	int rc;

	open_here(&l->h, "minor-faults:u", TALLY_FORMAT_TEXT);
	l->h.o.tids = &l->h.self;
	l->h.o.ntids = tasks;
	l->h.o.flags = flags;
	l->c = NULL;
	assert_int_equal(stat_cpu_add(&l->c, l->h.p, &l->h.o, "minor-faults:u", 14), 0);
	l->c->all_hardware = true;
	l->c->root = lease_root;
	rc = stat_cpu_open(l->c);
	if (rc == 0 && l->c->ev[0].rc == -TALLY_EPERM) {
		close_leased(l);
		skip();
	}
	return rc;
}

static void whole_cpus_are_refused_while_a_session_counts(void **state)
{
	struct leased l = { .c = NULL };
	struct lease *session;

	(void)state;
	assert_int_equal(open_leased(&l, false, TALLY_STAT_SHARE),
			 0); /* skips without a lease of ours that would live on */
	close_leased(&l);
	session = take(LEASE_TRACE);
	assert_int_equal(open_leased(&l, false, 0), -TALLY_EBUSY);
	said(&l.h, "the hardware counters are held by a D session (process ");
	said(&l.h, "--share");
	close_leased(&l);
	assert_int_equal(open_leased(&l, false, TALLY_STAT_SHARE), 0);
	assert_null(l.c->lease);
	close_leased(&l);
	lease_free(session);
	assert_int_equal(open_leased(&l, false, 0), 0);
	close_leased(&l);
	assert_int_equal(mem_live(), 0);
}

static void tasks_are_refused_while_others_count_and_work_after(void **state)
{
	static const enum lease_kind kind[] = { LEASE_TRACE, LEASE_SYSTEM };

	(void)state;
	for (size_t i = 0; i < COUNT(kind); i++) {
		struct leased l = { .c = NULL };
		struct lease *other;

		other = take(kind[i]);
		assert_int_equal(open_leased(&l, true, 0), -TALLY_EBUSY);
		said(&l.h, lease_kind_name(kind[i]));
		close_leased(&l);
		lease_free(other);
		assert_int_equal(open_leased(&l, true, 0), 0);
		close_leased(&l);
		assert_int_equal(mem_live(), 0);
	}
}

static void touch(uint32_t pages)
{
	size_t page = (size_t)sysconf(_SC_PAGESIZE);
	char *p = mmap(NULL, pages * page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	assert_ptr_not_equal(p, MAP_FAILED);
	(void)madvise(p, pages * page, MADV_NOHUGEPAGE);
	for (uint32_t i = 0; i < pages; i++)
		((volatile char *)p)[i * page] = 1;
	munmap(p, pages * page);
}

static void wait_until(struct stat_cpu *c, bool shut)
{
	for (int i = 0; i < 1000 && c->shut != shut; i++)
		assert_int_equal(stat_cpu_wait(c, 10000000), 0);
	assert_int_equal(c->shut, shut);
}

static void table(struct leased *l, enum stat_kind kind)
{
	struct stat_table t = { .kind = kind };
	struct an_emit e;

	buf_clear(&l->h.out);
	assert_int_equal(an_emit_open(&e, &l->h.out, &(struct an_how){ .format = TALLY_FORMAT_TEXT }), 0);
	stat_table_open(&t, true);
	stat_cpu_rows(l->c, &t);
	stat_table_put(&t, &e, true);
	stat_table_close(&t);
}

static void tasks_lose_their_counters_and_are_told_when(void **state)
{
	struct leased l = { .c = NULL };
	struct cpu_event *ev;
	struct lease *session;
	uint64_t before;

	(void)state;
	assert_int_equal(open_leased(&l, true, 0), 0);
	ev = &l.c->ev[0];
	assert_int_equal(stat_cpu_begin(l.c), 0);
	touch(1000);
	session = take(LEASE_TRACE);
	wait_until(l.c, true);
	assert_int_equal(stat_cpu_read(l.c), 0);
	before = ev->slot[0].now.value;
	assert_true(before >= 1000 && before < 2000);
	touch(5000); /* which nobody counts */
	assert_int_equal(stat_cpu_read(l.c), 0);
	assert_int_equal(ev->slot[0].now.value, before);
	table(&l, STAT_INTERVAL);
	assert_has(&l.h.out, "invalidated, from ");
	assert_has(&l.h.out, "    -  events"); /* no count of a time in which there was none */
	lease_free(session);
	wait_until(l.c, false);
	touch(1000);
	assert_int_equal(stat_cpu_read(l.c), 0);
	assert_true(ev->slot[0].now.value >= before + 1000 && ev->slot[0].now.value < before + 3000);
	table(&l, STAT_SUMMARY);
	assert_has(&l.h.out, "invalidated, from ");
	assert_int_equal(stat_cpu_read(l.c), 0);
	table(&l, STAT_INTERVAL);
	assert_null(strstr(buf_text(&l.h.out), "invalidated")); /* that interval was whole */
	assert_int_equal(stat_cpu_end(l.c), 0);
	stat_cpu_results(l.c, &l.h.result);
	assert_int_equal(l.h.result.invalidated, 1);
	close_leased(&l);
	assert_int_equal(mem_live(), 0);
}

static void a_counter_lost_to_a_stranger_is_asked_for_again(void **state)
{
	struct leased l = { .c = NULL };
	struct cpu_event *ev;
	struct err e = { 0 };
	uint64_t before;
	void *page;

	(void)state;
	assert_int_equal(open_leased(&l, true, 0), 0);
	ev = &l.c->ev[0];
	assert_int_equal(stat_cpu_begin(l.c), 0);
	assert_int_equal(stat_cpu_read(l.c), 0);
	assert_int_equal(stat_cpu_read(l.c), 0);
	assert_int_equal(k_counter_enable(ev->k, false, &e), 0); /* as the kernel has it then */
	assert_int_equal(cpu_event_lost(l.c, ev, true), 0);
	assert_int_equal(ev->nspans, 1);
	assert_int_equal(ev->span[0].from, l.c->before_ns);
	before = ev->slot[0].now.value;
	page = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	assert_true(page != MAP_FAILED);
	*(volatile char *)page = 1;
	munmap(page, 4096);
	assert_int_equal(cpu_event_lost(l.c, ev, true), 0);
	assert_int_equal(ev->nspans, 1);
	assert_int_equal(stat_cpu_read(l.c), 0); /* it has one again */
	assert_false(ev->lost);
	assert_true(ev->slot[0].now.value > before);
	assert_int_equal(ev->span[0].to, l.c->now_ns);
	close_leased(&l);
}

static void runs_have_a_mean_and_a_spread_of_what_each_counted(void **state)
{
	static const struct {
		uint64_t now_ns;
		struct k_count count;
	} run[] = {
		{ 1000000000, { 90, 4, 4 } },
		{ 3000000000, { 110, 4, 4 } },
		{ 2000000000, { 50, 4, 2 } }, /* half of the time: 100 */
	};
	struct leased l = { .c = NULL };

	(void)state;
	for (size_t i = 0; i < COUNT(run); i++) {
		if (i)
			assert_int_equal(stat_cpu_open(l.c), 0);
		else
			assert_int_equal(open_leased(&l, true, 0), 0);
		l.c->ev[0].slot[0].now = run[i].count;
		l.c->now_ns = run[i].now_ns;
		assert_int_equal(stat_cpu_end(l.c), 0);
	}
	assert_int_equal(l.c->runs, 3);
	assert_true(fabs(l.c->mean_ns - 2e9) < 1 && fabs(l.c->m2_ns - 2e18) < 1e9);
	table(&l, STAT_ONLY);
	assert_string_equal(buf_text(&l.h.out), "COUNT  UNIT    NAME            COUNTED  SPREAD\n"
						"  100  events  minor-faults:u   50.0 %  10.0 %\n");
	close_leased(&l);
	assert_int_equal(mem_live(), 0);
}

/* ---- figures --------------------------------------------------------------------------------- */

/* The events are the last: what looks behind them looks behind the whole. */
struct hand {
	struct stat_cpu c;
	struct k_event form[4];
	struct cpu_slot slot[4];
	struct buf out;
	struct cpu_event ev[4];
};

static void hand_event(struct hand *h, const char *name, uint32_t type, uint64_t config, struct k_count now)
{
	uint32_t i = h->c.n++;

	h->form[i] = (struct k_event){ .type = type, .config = config };
	h->slot[i] = (struct cpu_slot){ .cpu = -1, .now = now };
	h->ev[i] =
		(struct cpu_event){ .is = { .name = name, .n = 1, .clock = event_is_clock(type, config), .scale = 1 },
				    .name = name,
				    .ev = &h->form[i],
				    .slot = &h->slot[i],
				    .nslots = 1 };
	h->c.ev = h->ev;
}

static const char *shown(struct hand *h, enum stat_kind kind, uint32_t form)
{
	struct stat_table t = { .kind = kind };
	struct an_emit e;

	buf_clear(&h->out);
	assert_int_equal(an_emit_open(&e, &h->out, &(struct an_how){ .format = form }), 0);
	stat_table_open(&t, true);
	stat_cpu_rows(&h->c, &t);
	stat_table_put(&t, &e, true);
	stat_table_close(&t);
	return buf_text(&h->out);
}

#define ALL(n) ((struct k_count){ (n), 2000000000, 2000000000 })

static void figures_stand_beside_what_they_are_a_part_of(void **state)
{
	struct hand h = { .c.now_ns = 2000000000 };

	(void)state;
	hand_event(&h, "task-clock", EVENT_TYPE_SW, 1, ALL(1500000000));
	hand_event(&h, "cycles", EVENT_TYPE_HW, 0, ALL(3000000000));
	hand_event(&h, "instructions", EVENT_TYPE_HW, 1, ALL(4500000000));
	hand_event(&h, "page-faults", EVENT_TYPE_SW, 2, ALL(3000));
	assert_string_equal(shown(&h, STAT_ONLY, TALLY_FORMAT_TEXT),
			    "        COUNT  UNIT    NAME\n"
			    "      1500.00  ms      task-clock    0.750 CPUs\n"
			    "3,000,000,000  cycles  cycles        2.000 GHz\n"
			    "4,500,000,000  events  instructions  1.500 insn/cycle\n"
			    "        3,000  events  page-faults   2.000 K/s\n");
	buf_free(&h.out);
}

static void modes_are_not_mixed(void **state)
{
	struct hand h = { .c.now_ns = 2000000000 };

	(void)state;
	hand_event(&h, "cycles:u", EVENT_TYPE_HW, 0, ALL(3000000000));
	hand_event(&h, "instructions", EVENT_TYPE_HW, 1, ALL(4500000000));
	h.form[0].exclude_kernel = true;
	assert_null(strstr(shown(&h, STAT_ONLY, TALLY_FORMAT_TEXT), "insn/cycle"));
	buf_free(&h.out);
}

static void misses_are_a_part_of_accesses(void **state)
{
	struct hand h = { .c.now_ns = 2000000000 };

	(void)state;
	hand_event(&h, "L1-dcache-loads", EVENT_TYPE_CACHE, 0, ALL(1000));
	hand_event(&h, "L1-dcache-load-misses", EVENT_TYPE_CACHE, 1u << 16, ALL(25));
	hand_event(&h, "branches", EVENT_TYPE_HW, 4, ALL(10));
	hand_event(&h, "branch-misses", EVENT_TYPE_HW, 5, ALL(11)); /* more than all: no part */
	assert_non_null(
		strstr(shown(&h, STAT_ONLY, TALLY_FORMAT_TEXT), "L1-dcache-load-misses  2.500 % of accesses\n"));
	assert_non_null(strstr(buf_text(&h.out), "L1-dcache-loads\n"));
	assert_null(strstr(buf_text(&h.out), "% of branches"));
	h.slot[3].now.value = 10; /* all of them */
	assert_non_null(strstr(shown(&h, STAT_ONLY, TALLY_FORMAT_TEXT), "100.0 % of branches\n"));
	buf_free(&h.out);
}

static void rates_are_of_the_time_that_the_clock_counted(void **state)
{
	struct hand h = { .c = { .before_ns = 1000000000, .now_ns = 1500000000 } };

	(void)state;
	hand_event(&h, "task-clock", EVENT_TYPE_SW, 1, ALL(500000000));
	hand_event(&h, "page-faults", EVENT_TYPE_SW, 2, ALL(250));
	hand_event(&h, "minor-faults", EVENT_TYPE_SW, 5, ALL(500));
	hand_event(&h, "major-faults", EVENT_TYPE_SW, 6, ALL(500000));
	assert_string_equal(shown(&h, STAT_INTERVAL, TALLY_FORMAT_TEXT),
			    " TIME    DELTA  UNIT    NAME\n"
			    "1.500   500.00  ms      task-clock    1.000 CPUs\n"
			    "1.500      250  events  page-faults   500.0 /s\n"
			    "1.500      500  events  minor-faults  1.000 K/s\n"
			    "1.500  500,000  events  major-faults  1.000 M/s\n");
	h.slot[3].now.value = 500000000;
	assert_non_null(strstr(shown(&h, STAT_INTERVAL, TALLY_FORMAT_TEXT), "major-faults  1.000 G/s\n"));
	h.slot[0].now.value = 0;
	assert_null(strstr(shown(&h, STAT_INTERVAL, TALLY_FORMAT_TEXT), "/s"));
	buf_free(&h.out);
}

static void a_clock_is_of_all_modes_and_either_of_the_two(void **state)
{
	struct hand h = { .c.now_ns = 2000000000 };

	(void)state;
	hand_event(&h, "cpu-clock", EVENT_TYPE_SW, 0, ALL(500000000));
	hand_event(&h, "cycles:u", EVENT_TYPE_HW, 0, ALL(1000000000));
	hand_event(&h, "page-faults", EVENT_TYPE_SW, 2, ALL(250));
	h.form[1].exclude_kernel = true;
	assert_non_null(strstr(shown(&h, STAT_ONLY, TALLY_FORMAT_TEXT), "cycles:u     2.000 GHz\n"));
	assert_non_null(strstr(buf_text(&h.out), "page-faults  500.0 /s\n"));
	h.slot[0].now.value = 0;
	assert_null(strstr(shown(&h, STAT_ONLY, TALLY_FORMAT_TEXT), "Hz"));
	buf_free(&h.out);
}

static void figures_beside_are_of_the_same_mode_and_cpu(void **state)
{
	struct hand h = { .c.now_ns = 2000000000 };

	(void)state;
	hand_event(&h, "instructions:k", EVENT_TYPE_HW, 1, ALL(60));
	hand_event(&h, "page-faults", EVENT_TYPE_SW, 2, ALL(10));
	hand_event(&h, "cycles:k", EVENT_TYPE_HW, 0, ALL(20));
	hand_event(&h, "context-switches", EVENT_TYPE_SW, 3, ALL(10));
	h.form[0].exclude_user = h.form[2].exclude_user = true;
	assert_non_null(strstr(shown(&h, STAT_ONLY, TALLY_FORMAT_TEXT), "instructions:k    3.000 insn/cycle\n"));
	h.c.n = 1; /* CPUs 0 and 1, the cycles of CPU 0 only; what is behind them is another's */
	hand_event(&h, "cycles:k", EVENT_TYPE_HW, 0, ALL(20));
	h.form[1].exclude_user = true;
	h.ev[0].nslots = 2;
	h.ev[1].slot = &h.slot[2];
	for (int i = 0; i < 4; i++)
		h.slot[i] = (struct cpu_slot){ .cpu = i % 2, .now = ALL(60) };
	assert_non_null(strstr(shown(&h, STAT_ONLY, TALLY_FORMAT_CSV),
			       ",cpu=0,instructions:k,instructions:k,60,ok,,1,,1,insn/cycle\n"));
	assert_non_null(strstr(buf_text(&h.out), ",cpu=1,instructions:k,instructions:k,60,ok,,1,,,\n"));
	buf_free(&h.out);
}

static void turns_are_scaled_up_and_the_share_is_shown(void **state)
{
	struct hand h = { .c.now_ns = 2000000000 };

	(void)state;
	hand_event(&h, "cycles", EVENT_TYPE_HW, 0, (struct k_count){ 1000, 2000000000, 500000000 });
	hand_event(&h, "instructions", EVENT_TYPE_HW, 1, (struct k_count){ 0, 2000000000, 0 });
	hand_event(&h, "branches", EVENT_TYPE_HW, 4, (struct k_count){ 0, 0, 0 });
	assert_string_equal(shown(&h, STAT_ONLY, TALLY_FORMAT_TEXT),
			    "COUNT  UNIT    NAME          COUNTED\n"
			    "4,000  cycles  cycles         25.0 %\n"
			    "    -  events  instructions    0.0 %  <not counted>\n"
			    "    0  events  branches            -\n");
	assert_string_equal(
		shown(&h, STAT_ONLY, TALLY_FORMAT_CSV),
		"type,time,delta,value,unit,id,name,selector,raw,status,why,share,spread,metric,metric_unit\n"
		"count,2,4000,4000,cycles,all,cycles,cycles,1000,ok,,0.25,,,\n"
		"count,2,,,events,all,instructions,instructions,0,not counted,other sessions held the counters all the time,0,,,\n"
		"count,2,0,0,events,all,branches,branches,0,ok,,,,,\n");
	buf_free(&h.out);
}

static void an_interval_is_scaled_by_its_own_share(void **state)
{
	struct hand h = { .c = { .before_ns = 1000000000, .now_ns = 2000000000 } };

	(void)state;
	hand_event(&h, "cycles", EVENT_TYPE_HW, 0, (struct k_count){ 1500, 2000000000, 1500000000 });
	h.slot[0].before = (struct k_count){ 1000, 1000000000, 1000000000 };
	assert_string_equal(shown(&h, STAT_INTERVAL, TALLY_FORMAT_TEXT), " TIME  DELTA  UNIT    NAME    COUNTED\n"
									 "2.000  1,000  cycles  cycles   50.0 %\n");
	buf_free(&h.out);
}

static void spread_is_of_the_runs(void **state)
{
	struct hand h = { .c = { .runs = 2, .mean_ns = 1e9 } };

	(void)state;
	hand_event(&h, "cycles", EVENT_TYPE_HW, 0, ALL(110));
	h.slot[0].mean = 100; /* 90 and 110: their standard deviation is 14.14 */
	h.slot[0].m2 = 200;
	assert_string_equal(shown(&h, STAT_ONLY, TALLY_FORMAT_TEXT), "COUNT  UNIT    NAME    SPREAD\n"
								     "  100  cycles  cycles  14.1 %\n");
	buf_free(&h.out);
}

static const char *line_below(struct hand *h, const struct tally_stat_opts *o, uint32_t form)
{
	struct an_emit e;

	h->c.o = o;
	buf_clear(&h->out);
	assert_int_equal(an_emit_open(&e, &h->out, &(struct an_how){ .format = form }), 0);
	stat_cpu_sum(&h->c, &e);
	an_emit_close(&e);
	return buf_text(&h->out);
}

static void the_line_below_has_the_times_of_a_run_or_their_means(void **state)
{
	struct hand h = { .c = { .runs = 1, .mean_ns = 2.5e9, .user_ns = 1.25e9, .system_ns = 0.5e9, .status = 3 } };
	const struct tally_stat_opts runs = { .argv = command }, waits = { .argv = NULL };

	(void)state;
	assert_string_equal(line_below(&h, &runs, TALLY_FORMAT_TEXT),
			    "\n2.500 s elapsed, 1.250 s user, 0.5000 s system\n");
	assert_string_equal(line_below(&h, &runs, TALLY_FORMAT_JSON),
			    "{\"type\":\"run\",\"time\":2.5,\"spread\":null,\"user\":1.25,\"system\":0.5,\"runs\":1,"
			    "\"status\":3}\n");
	assert_string_equal(line_below(&h, &waits, TALLY_FORMAT_TEXT), "\n2.500 s elapsed\n");
	assert_string_equal(line_below(&h, &runs, TALLY_FORMAT_CSV), "");
	h.c.runs = 2;
	h.c.mean_ns = 0.1e9;
	h.c.m2_ns = 1e14; /* of two runs: a deviation of a tenth */
	assert_string_equal(line_below(&h, &runs, TALLY_FORMAT_TEXT),
			    "\n0.1000 s elapsed +- 10.0 %, 0.6250 s user, 0.2500 s system: means of 2 runs\n");
	h.c.mean_ns = 1e9;
	h.c.m2_ns = 0;
	assert_string_equal(line_below(&h, &waits, TALLY_FORMAT_TEXT), "\n1.000 s elapsed +- 0.0 %: means of 2 runs\n");
	h.c.runs = 0;
	assert_string_equal(line_below(&h, &runs, TALLY_FORMAT_TEXT), "");
	buf_free(&h.out);
}

static void an_impossible_share_of_cpus_is_left_out(void **state)
{
	struct hand h = { .c.now_ns = 1000 };

	(void)state;
	hand_event(&h, "task-clock", EVENT_TYPE_SW, 1, ALL(1500000000));
	assert_null(strstr(shown(&h, STAT_ONLY, TALLY_FORMAT_TEXT), "CPUs"));
	buf_free(&h.out);
}

static void a_tasks_event_of_each_cpu_took_turns_as_its_sum_over_all_cpus_says(void **state)
{
	struct k_count got[] = { { 10, 4000, 1000 }, { 20, 3000, 500 }, { 0, 4000, 500 } };
	struct cpu_event ev = { .hardware = true, .got = got, .nslots = COUNT(got) };
	struct stat_cpu c = { .n = 1 };

	(void)state;
	cpu_part_time(&c, &ev); /* it ran 2000 of 4000 */
	assert_int_equal(got[0].enabled_ns, 2000);
	assert_int_equal(got[1].enabled_ns, 1000);
	assert_int_equal(got[2].enabled_ns, 1000);
	c.target.pinned = true; /* no turns: what ran was all */
	cpu_part_time(&c, &ev);
	assert_int_equal(got[0].enabled_ns, 1000);
	c.target.pinned = false;
	ev.hardware = false;
	got[1].enabled_ns = 3000;
	cpu_part_time(&c, &ev);
	assert_int_equal(got[1].enabled_ns, 500);
	ev.hardware = true;
	for (uint32_t i = 0; i < COUNT(got); i++)
		got[i] = (struct k_count){ 0, 700, 0 };
	cpu_part_time(&c, &ev); /* it never ran, and was enabled */
	assert_int_equal(got[0].enabled_ns, 700);
}

static void the_result_has_the_status_and_how_many_events_lost_a_run(void **state)
{
	struct cpu_event ev[] = { { .runs_lost = 0 }, { .runs_lost = 2 }, { .runs_lost = 1 } };
	const struct stat_cpu c = { .ev = ev, .n = COUNT(ev), .status = 9 };
	struct tally_stat_result ret = { .size = sizeof(ret) };

	(void)state;
	stat_cpu_results(&c, &ret);
	assert_int_equal(ret.invalidated, 2);
	assert_int_equal(ret.status, 9);
}

static void spans_are_cut_to_what_is_asked(void **state)
{
	struct cpu_span span[] = { { 1203000000, 2500000000 }, { 3000000000, UINT64_MAX } };
	struct cpu_event ev = { .span = span, .nspans = 2 };
	char words[128];

	(void)state;
	cpu_spans_text(&ev, 0, 4000000000, words, sizeof(words));
	assert_string_equal(words, "from 1.203 s to 2.500 s, from 3.000 s to 4.000 s");
	cpu_spans_text(&ev, 2500000000, 3000000000, words, sizeof(words));
	assert_string_equal(words, "");
	assert_true(cpu_spans_cover(&ev, 1500000000, 2000000000));
	assert_false(cpu_spans_cover(&ev, 1000000000, 2000000000));
	cpu_spans_text(&ev, 0, 4000000000, words, 12); /* cut, not overrun */
	assert_int_equal(strlen(words), 11);
}

static void memory_that_runs_out_is_an_error(void **state)
{
	(void)state;
	for (long n = 1;; n++) {
		struct here h;
		bool failed;
		int rc;

		open_here(&h, "minor-faults:u,cycles:u,page-faults:u", TALLY_FORMAT_JSON);
		h.o.tids = &h.self;
		h.o.ntids = 1;
		h.o.count = 1;
		h.o.interval_ns = 1000000;
		h.o.to.out = NULL;
		mem_fail_at(n);
		rc = tally_stat(h.p, &h.o, &h.result);
		failed = mem_failed();
		mem_fail_at(0);
		if (failed && rc != -TALLY_ENOMEM && rc < 0)
			fail_msg("%ld: %s", n, tally_platform_error(h.p));
		close_here(&h);
		if (!failed)
			break;
	}
}

/* ---- CPUs that come and go: only said to, by what looks them up ------------------------------ */

static bool only_first;

static int look(uint64_t *set, size_t words, struct err *e)
{
	int rc = k_cpus_online(set, words, e);
	uint32_t first = 0;

	while (rc >= 0 && only_first && first < words * 64 && !(set[first / 64] >> first % 64 & 1))
		first++;
	if (rc >= 0 && only_first) {
		memset(set, 0, words * sizeof(*set));
		set[first / 64] |= 1ull << first % 64;
	}
	return rc;
}

static void wait_and_read(struct leased *l)
{
	assert_int_equal(stat_cpu_wait(l->c, 1000000), 0);
	touch(1000);
	assert_int_equal(stat_cpu_read(l->c), 0);
}

static void a_cpu_that_goes_keeps_its_count_and_both_are_said(void **state)
{
	struct leased l = { .c = NULL };
	const struct cpu_slot *slot;
	char line[64];
	uint64_t was;

	(void)state;
	only_first = false;
	open_here(&l.h, "cpu-clock", TALLY_FORMAT_TEXT);
	l.h.o.flags = TALLY_STAT_PER_CPU;
	assert_int_equal(stat_cpu_add(&l.c, l.h.p, &l.h.o, "cpu-clock", 9), 0);
	l.c->look = look;
	assert_int_equal(stat_cpu_open(l.c), 0);
	if (l.c->ev[0].rc == -TALLY_EPERM || l.c->ev[0].nslots < 2) {
		close_leased(&l);
		skip();
	}
	slot = &l.c->ev[0].slot[l.c->ev[0].nslots - 1];
	snprintf(line, sizeof(line), "CPU %d went offline: its counts end at 0.", slot->cpu);
	assert_int_equal(stat_cpu_begin(l.c), 0);
	wait_and_read(&l);
	assert_string_equal(buf_text(&l.h.notes), "");
	only_first = true;
	wait_and_read(&l);
	assert_has(&l.h.notes, line);
	assert_true(slot->offline && slot->since_ns);
	assert_false(l.c->ev[0].slot[0].offline);
	was = slot->now.value;
	wait_and_read(&l);
	assert_int_equal(slot->now.value, was);
	assert_true(l.c->ev[0].slot[0].now.value > l.c->ev[0].slot[0].before.value);
	table(&l, STAT_SUMMARY);
	assert_has(&l.h.out, "offline since 0.");
	only_first = false;
	wait_and_read(&l);
	assert_has(&l.h.notes, " came online: counted from 0.");
	wait_and_read(&l);
	assert_true(slot->now.value > was && !slot->offline);
	assert_int_equal(stat_cpu_end(l.c), 0);
	close_leased(&l);
	assert_int_equal(mem_live(), 0);
}

/* Switches the perf events of this process off, as the kernel does when their CPU goes. Returns how many. */
static int disable_events(void)
{
	char link[64], what[64];
	int n = 0;

	for (int fd = 0; fd < 256; fd++) {
		ssize_t got;

		snprintf(link, sizeof(link), "/proc/self/fd/%d", fd);
		got = readlink(link, what, sizeof(what) - 1);
		what[got < 0 ? 0 : got] = '\0';
		if (!strcmp(what, "anon_inode:[perf_event]"))
			n += ioctl(fd, PERF_EVENT_IOC_DISABLE, 0) == 0;
	}
	return n;
}

static void a_cpu_that_was_away_between_two_looks_is_counted_again_and_said(void **state)
{
	struct leased l = { .c = NULL };
	const struct cpu_slot *slot;
	uint64_t was;

	(void)state;
	only_first = false;
	open_here(&l.h, "cpu-clock", TALLY_FORMAT_TEXT);
	l.h.o.flags = TALLY_STAT_PER_CPU;
	assert_int_equal(stat_cpu_add(&l.c, l.h.p, &l.h.o, "cpu-clock", 9), 0);
	l.c->look = look;
	assert_int_equal(stat_cpu_open(l.c), 0);
	if (l.c->ev[0].rc == -TALLY_EPERM) {
		close_leased(&l);
		skip();
	}
	slot = l.c->ev[0].slot;
	assert_int_equal(stat_cpu_begin(l.c), 0);
	wait_and_read(&l);
	assert_true(disable_events() > 0);
	assert_int_equal(stat_cpu_wait(l.c, 20000000), 0); /* longer than clocks differ by */
	assert_int_equal(stat_cpu_read(l.c), 0);
	for (uint32_t i = 0; i < l.c->ev[0].nslots; i++)
		wait_and_read(&l);
	assert_has(&l.h.notes, " was offline for a moment; counted again from 0.");
	assert_null(strstr(buf_text(&l.h.notes), "went offline"));
	assert_null(strstr(buf_text(&l.h.notes), "came online"));
	assert_false(slot->offline);
	was = slot->now.value;
	wait_and_read(&l);
	assert_true(slot->now.value > was);
	assert_int_equal(stat_cpu_end(l.c), 0);
	close_leased(&l);
	assert_int_equal(mem_live(), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(what_contradicts_itself_is_refused),
		cmocka_unit_test(who_is_not_there_is_named),
		cmocka_unit_test(a_command_that_cant_be_run_has_its_status),
		cmocka_unit_test(a_command_is_counted_and_its_status_handed_on),
		cmocka_unit_test(runs_are_repeated_and_spread_is_told),
		cmocka_unit_test(nothing_of_it_is_an_error_and_the_command_does_not_run),
		cmocka_unit_test(whole_cpus_are_refused_while_a_session_counts),
		cmocka_unit_test(tasks_are_refused_while_others_count_and_work_after),
		cmocka_unit_test(tasks_lose_their_counters_and_are_told_when),
		cmocka_unit_test(a_counter_lost_to_a_stranger_is_asked_for_again),
		cmocka_unit_test(runs_have_a_mean_and_a_spread_of_what_each_counted),
		cmocka_unit_test(figures_stand_beside_what_they_are_a_part_of),
		cmocka_unit_test(modes_are_not_mixed),
		cmocka_unit_test(misses_are_a_part_of_accesses),
		cmocka_unit_test(rates_are_of_the_time_that_the_clock_counted),
		cmocka_unit_test(a_clock_is_of_all_modes_and_either_of_the_two),
		cmocka_unit_test(figures_beside_are_of_the_same_mode_and_cpu),
		cmocka_unit_test(turns_are_scaled_up_and_the_share_is_shown),
		cmocka_unit_test(an_interval_is_scaled_by_its_own_share),
		cmocka_unit_test(spread_is_of_the_runs),
		cmocka_unit_test(the_line_below_has_the_times_of_a_run_or_their_means),
		cmocka_unit_test(an_impossible_share_of_cpus_is_left_out),
		cmocka_unit_test(a_tasks_event_of_each_cpu_took_turns_as_its_sum_over_all_cpus_says),
		cmocka_unit_test(the_result_has_the_status_and_how_many_events_lost_a_run),
		cmocka_unit_test(spans_are_cut_to_what_is_asked),
		cmocka_unit_test(memory_that_runs_out_is_an_error),
		cmocka_unit_test(a_cpu_that_goes_keeps_its_count_and_both_are_said),
		cmocka_unit_test(a_cpu_that_was_away_between_two_looks_is_counted_again_and_said),
	};

	return cmocka_run_group_tests_name("ask: stat of CPU events", tests, lease_root_make, lease_root_remove);
}
