/*
 * run_test.c: whole runs in the kernel.  Page faults are events that a test can
 * make an exact number of, at an address that it knows; they need no hardware
 * counter.  Skipped, aloud, where BPF or perf events are not permitted.
 */
#include "session/session_int.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>
#include <cmocka.h>

#define PAGES 3000

struct result {
	struct buf out, notes;
};

static int take_out(void *arg, const char *text, size_t n)
{
	buf_put(&((struct result *)arg)->out, text, n);
	return 0;
}

static int take_note(void *arg, const char *text, size_t n)
{
	buf_put(&((struct result *)arg)->notes, text, n);
	buf_putc(&((struct result *)arg)->notes, '\n');
	return 0;
}

static struct tally_trace *open_trace(struct result *r, const char *script)
{
	struct tally_trace_opts o = { .size = sizeof(o), .out = take_out, .note = take_note, .arg = r };
	struct tally_trace *t;

	*r = (struct result){ 0 };
	assert_int_equal(tally_trace_open(&t, &o), 0);
	assert_int_equal(tally_trace_option(t, "quiet", NULL), 0);
	assert_int_equal(tally_trace_option(t, "dcpc_min_overflow", "1"), 0);
	assert_int_equal(tally_trace_source(t, NULL, script, strlen(script)), 0);
	return t;
}

static void close_trace(struct tally_trace *t, struct result *r)
{
	tally_trace_close(t);
	buf_free(&r->out);
	buf_free(&r->notes);
}

static void well(struct tally_trace *t, int rc)
{
	if (rc < 0)
		print_error("%s\n%s\n", tally_trace_error(t), tally_trace_reason(t));
	assert_true(rc >= 0);
}

static void start(struct tally_trace *t)
{
	well(t, tally_trace_compile(t));
	well(t, tally_trace_go(t));
}

static void finish(struct tally_trace *t)
{
	int rc;

	do
		rc = tally_trace_work(t, -1);
	while (!rc);
	well(t, rc);
	well(t, tally_trace_stop(t));
}

/* Faults once per page, all at one instruction: a sanitizer's own accesses would be faults too. */
__attribute__((noinline, no_sanitize("address"))) static void touch(volatile char *p, size_t pages, size_t size)
{
	for (size_t i = 0; i < pages; i++)
		p[i * size] = 1;
}

static void make_faults(void)
{
	size_t size = sysconf(_SC_PAGESIZE);
	char *p = mmap(NULL, PAGES * size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	assert_ptr_not_equal(p, MAP_FAILED);
	madvise(p, PAGES * size, MADV_NOHUGEPAGE);
	touch(p, PAGES, size);
	munmap(p, PAGES * size);
}

static char *from_touch(const char *clause)
{
	static char script[1024];

	snprintf(script, sizeof(script), "cpc:::page_faults-user-1 /pid == %d && arg1 >= %llu && arg1 < %llu/ %s",
		 getpid(), (unsigned long long)(uintptr_t)touch, (unsigned long long)(uintptr_t)touch + 256, clause);
	return script;
}

static int add_loss(void *arg, const struct tally_loss *l)
{
	assert_string_equal(l->probe, "cpc:::page_faults-user-1");
	assert_int_equal(l->period, 1);
	assert_int_equal(l->lost, l->counted > l->firings ? l->counted - l->firings : 0);
	*(uint64_t *)arg += l->lost;
	return 0;
}

/* Runs a script whose probes fire PAGES times a round, and leaves the stopped trace. A bpf() call
 * of somebody else, preempted, suppresses firings on its CPU; the run knows, and is made again. */
static struct tally_trace *run_exactly(struct result *r, const char *script, int rounds)
{
	for (int attempt = 0; attempt < 20; attempt++) {
		struct tally_trace *t = open_trace(r, script);
		uint64_t lost = 0;

		start(t);
		for (int i = 0; i < rounds; i++) {
			make_faults();
			well(t, tally_trace_work(t, 0));
		}
		well(t, tally_trace_stop(t));
		assert_int_equal(tally_trace_losses(t, add_loss, &lost), 0);
		if (!lost)
			return t;
		close_trace(t, r);
	}
	print_message("skipped: others use BPF here all the time\n");
	skip();
	return NULL;
}

static void page_faults_are_counted_exactly(void **state)
{
	struct result r;
	struct tally_trace *t = run_exactly(&r, from_touch("{ @ = count(); }"), 1);
	char expected[64];

	(void)state;
	snprintf(expected, sizeof(expected), "\n %16d\n", PAGES);
	assert_string_equal(r.out.p, expected);
	assert_null(r.notes.p);
	close_trace(t, &r);
}

static void records_arrive_complete_and_in_order(void **state)
{
	struct result r;
	struct tally_trace *t = run_exactly(&r, from_touch("{ printf(\"%d\\n\", n++); }"), 1);
	int n = 0;

	(void)state;
	for (char *s = r.out.p; *s != '\n'; s = strchr(s, '\n') + 1)
		assert_int_equal(atoi(s), n++);
	assert_int_equal(n, PAGES);
	close_trace(t, &r);
}

static void exit_in_a_probe_ends_the_run_with_its_status(void **state)
{
	struct result r;
	struct tally_trace *t = open_trace(&r, from_touch("{ @ = count(); exit(5); }"));

	(void)state;
	start(t);
	make_faults();
	finish(t);
	assert_int_equal(tally_trace_status(t), 5);
	assert_string_equal(r.out.p, "\n                1\n");
	close_trace(t, &r);
}

static void the_function_of_a_user_address_is_named(void **state)
{
	struct result r;
	struct tally_trace *t = run_exactly(&r, from_touch("{ @[ufunc(arg1)] = count(); }"), 1);
	char *row = strstr(r.out.p, "`touch ");

	(void)state;
	assert_non_null(row);
	assert_int_equal(atoi(row + strcspn(row, " ")), PAGES);
	close_trace(t, &r);
}

static void a_command_is_traced_to_its_end(void **state)
{
	struct result r;
	struct tally_trace *t = open_trace(&r, "cpc:::page_faults-all-1 /pid == $target/ { @[execname] = count(); }");

	(void)state;
	assert_int_equal(tally_trace_command(t, "sh -c 'exit 6'"), 0);
	start(t);
	finish(t);
	assert_int_equal(tally_trace_status(t), 6);
	assert_non_null(strstr(r.out.p, "\n  sh  "));
	close_trace(t, &r);
}

static void a_command_that_does_not_exist_has_the_shells_status(void **state)
{
	struct result r;
	struct tally_trace *t = open_trace(&r, "BEGIN { trace($target); }");

	(void)state;
	assert_int_equal(tally_trace_command(t, "/no/such/command"), 0);
	well(t, tally_trace_compile(t));
	assert_int_equal(tally_trace_go(t), -TALLY_EINVAL);
	assert_int_equal(tally_trace_status(t), 127);
	close_trace(t, &r);
}

static void begin_and_end_frame_a_run(void **state)
{
	struct result r;
	struct tally_trace *t = open_trace(&r, "BEGIN { printf(\"a\"); } END { printf(\"b\"); } tick-1ms { exit(2); }");

	(void)state;
	start(t);
	finish(t);
	assert_string_equal(r.out.p, "ab\n");
	assert_int_equal(tally_trace_status(t), 2);
	close_trace(t, &r);
}

static void printed_rounds_add_up_while_probes_fire(void **state)
{
	struct result r;
	struct tally_trace *t;
	char script[1024], *s;
	long sum = 0;

	(void)state;
	snprintf(script, sizeof(script),
		 "%s tick-1ms { printa(\"%%@d\\n\", @); clear(@); } END { printa(\"%%@d\\n\", @); }",
		 from_touch("{ @ = count(); }"));
	t = run_exactly(&r, script, 20);
	for (s = r.out.p; s && *s && *s != '\n'; s = strchr(s, '\n') + 1)
		sum += atol(s);
	assert_int_equal(sum, 20l * PAGES);
	close_trace(t, &r);
}

static int may_trace(void **state)
{
	struct result r;
	struct tally_trace *t = open_trace(&r, "cpc:::page_faults-all-5000 { @ = count(); }");
	int rc = tally_trace_compile(t);

	(void)state;
	if (rc >= 0)
		rc = tally_trace_go(t);
	if (rc < 0)
		printf("1..1\nok 1 - session: runs in the kernel # SKIP %s %s\n", tally_trace_error(t),
		       tally_trace_reason(t));
	close_trace(t, &r);
	return rc < 0;
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(page_faults_are_counted_exactly),
		cmocka_unit_test(records_arrive_complete_and_in_order),
		cmocka_unit_test(exit_in_a_probe_ends_the_run_with_its_status),
		cmocka_unit_test(the_function_of_a_user_address_is_named),
		cmocka_unit_test(a_command_is_traced_to_its_end),
		cmocka_unit_test(a_command_that_does_not_exist_has_the_shells_status),
		cmocka_unit_test(begin_and_end_frame_a_run),
		cmocka_unit_test(printed_rounds_add_up_while_probes_fire),
	};

	if (may_trace(NULL))
		return 0; /* said why */
	return cmocka_run_group_tests_name("session: runs in the kernel", tests, NULL, NULL);
}
