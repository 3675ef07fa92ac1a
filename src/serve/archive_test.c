/*
 * archive_test.c: what programs count, as it waits and is written: when, how often, and with whose rights.
 *
 * Programs run in the vm and time is the test's.  What needs DuckDB is left out where its library is not in build/.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>
#include <linux/capability.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/file.h"
#include "serve/archive_int.h"
#include "serve/traced_test_int.h"

#define SECOND UINT64_C(1000000000)
#define EVERY 60u
#define BEGAN (UINT64_C(1700000000) / EVERY * EVERY * SECOND) /* at the begin of a minute */
#define LIBRARY "build/libduckdb.so"

static const char counts[] = "tick-1s { @n = count(); }";

struct archiving {
	struct tally_serve *s;
	struct program *p;
	struct archive *a;
	struct traced_host host;
	char top[64], dir[80];
};

static int archiving_open(void **state)
{
	static struct archiving t;
	const struct tally_serve_opts o = { .size = sizeof(o),
					    .clock = traced_host_clock,
					    .note = traced_host_note,
					    .arg = &t.host,
					    .archive = t.dir,
					    .archive_seconds = EVERY,
					    .host = "here",
					    .duckdb = LIBRARY };

	t = (struct archiving){ .host.now_ns = BEGAN, .top = "/tmp/tally-archive-XXXXXX" };
	if (!mkdtemp(t.top))
		return -1;
	snprintf(t.dir, sizeof(t.dir), "%s/archive", t.top);
	if (tally_serve_open(&t.s, &o) < 0)
		return -1;
	t.p = traced_open(t.s, "/x/one.d", counts);
	*state = &t;
	return 0;
}

static int archiving_close(void **state)
{
	struct archiving *t = *state;
	char remove[128];

	t->s->archive = t->a; /* goes with it, behind its programs */
	tally_serve_close(t->s);
	snprintf(remove, sizeof(remove), "rm -r %s", t->top);
	return system(remove) == 0 && mem_live() == 0 ? 0 : -1;
}

/* Skips the test where there is no DuckDB. */
static void archiving_begin(struct archiving *t)
{
	struct err e = { 0 };

	if (access(LIBRARY, R_OK) != 0)
		skip();
	if (archive_open(&t->a, t->s, &e) < 0)
		fail_msg("%s", e.text);
}

#define SAYS(t, written, failures, waiting) archiving_says(t, __LINE__, written, failures, waiting)
static void archiving_says(const struct archiving *t, int line, unsigned written, unsigned failures, unsigned waiting)
{
	struct buf b = { 0 };
	char want[3][64];

	archive_put_metrics(t->a, FORMAT_TEXT, &b);
	snprintf(want[0], sizeof(want[0]), "\ntally_archive_writes_total %u\n", written);
	snprintf(want[1], sizeof(want[1]), "\ntally_archive_failures_total %u\n", failures);
	snprintf(want[2], sizeof(want[2]), "\ntally_archive_waiting %u\n", waiting);
	for (size_t i = 0; i < COUNT(want); i++)
		if (!strstr(b.p, want[i]))
			fail_msg("line %d: %s", line, b.p);
	buf_free(&b);
}

static uint64_t rights_in_effect(void)
{
	struct __user_cap_header_struct head = { .version = _LINUX_CAPABILITY_VERSION_3 };
	struct __user_cap_data_struct d[2] = { { 0 }, { 0 } };

	assert_int_equal(syscall(SYS_capget, &head, d), 0);
	return d[0].effective | (uint64_t)d[1].effective << 32;
}

/* ---- opening ------------------------------------------------------------------------------------ */

static void a_directory_that_cannot_be_is_refused(void **state)
{
	struct archiving *t = *state;
	struct err e = { 0 };
	char path[128];
	int fd;

	t->s->o.host = "a/b";
	assert_int_equal(archive_open(&t->a, t->s, &e), -TALLY_EINVAL);
	assert_string_equal(e.text, "invalid host name 'a/b'");
	t->s->o.host = "here";
	t->s->o.duckdb = "/no/such/library";
	e = (struct err){ 0 };
	assert_int_equal(archive_open(&t->a, t->s, &e), -TALLY_ENOTSUP);
	assert_non_null(strstr(e.text, "DuckDB"));
	snprintf(path, sizeof(path), "%s/.tally-here.lock", t->dir);
	fd = file_lock(path); /* the one before has let go of it */
	assert_true(fd >= 0);
	e = (struct err){ 0 };
	assert_int_equal(archive_open(&t->a, t->s, &e), -TALLY_EBUSY);
	assert_non_null(strstr(e.text, "another tally serve of this host archives there"));
	close(fd);
	snprintf(t->dir, sizeof(t->dir), "/dev/null/archive");
	e = (struct err){ 0 };
	assert_int_equal(archive_open(&t->a, t->s, &e), -TALLY_EIO);
	t->a = NULL;
}

/* Of this host, and of no other whose name begins alike; nor other files. */
static void what_a_killed_service_left_is_removed(void **state)
{
	static const struct {
		const char *name;
		bool stays;
	} file[] = {
		{ ".tally-here-1.tmp", false },      { ".tally-here-part.tmp", false }, { ".tally-here2-1.tmp", true },
		{ ".tally-her-1.tmp", true },        { ".tally-here-1.parquet", true }, { "tally-here-1.tmp", true },
		{ ".tally-there-here-1.tmp", true }, { ".tally-here.tmp", true },
	};
	struct archiving *t = *state;
	struct err e = { 0 };
	char path[160];

	assert_int_equal(mkdir(t->dir, 0755), 0);
	for (size_t i = 0; i < COUNT(file); i++) {
		FILE *f;

		snprintf(path, sizeof(path), "%s/%s", t->dir, file[i].name);
		f = fopen(path, "w");
		assert_non_null(f);
		fclose(f);
	}
	t->s->o.duckdb = "/no/such/library";
	assert_int_equal(archive_open(&t->a, t->s, &e), -TALLY_ENOTSUP);
	t->a = NULL;
	for (size_t i = 0; i < COUNT(file); i++) {
		snprintf(path, sizeof(path), "%s/%s", t->dir, file[i].name);
		if ((access(path, F_OK) == 0) != file[i].stays)
			fail_msg("%s", file[i].name);
	}
}

static void memory_that_is_out_refuses_to_archive(void **state)
{
	struct archiving *t = *state;
	const long live = mem_live();
	bool failed = true;

	t->s->o.duckdb = "/no/such/library";
	for (long n = 1; failed; n++) {
		struct err e = { 0 };
		int rc;

		mem_fail_at(n);
		rc = archive_open(&t->a, t->s, &e);
		failed = mem_failed();
		mem_fail_at(0);
		if (failed && rc != -TALLY_ENOMEM && rc != -TALLY_ENOTSUP && rc != -TALLY_EIO)
			fail_msg("allocation %ld: %d", n, rc);
		assert_true(*e.text);
		assert_int_equal(mem_live(), live);
	}
	t->a = NULL;
}

/* ---- what is due -------------------------------------------------------------------------------- */

static void what_was_counted_is_written_when_a_minute_is_over(void **state)
{
	struct archiving *t = *state;
	const uint64_t rights = rights_in_effect();

	archiving_begin(t);
	SAYS(t, 0, 0, 0);
	traced_tick(t->p);
	assert_int_equal(archive_work(t->a, t->host.now_ns), EVERY * 1000 + 1);
	t->host.now_ns += EVERY * SECOND - 1;
	assert_int_equal(archive_work(t->a, t->host.now_ns), 1);
	SAYS(t, 0, 0, 0);
	t->host.now_ns++;
	assert_int_equal(archive_work(t->a, t->host.now_ns), EVERY * 1000 + 1);
	SAYS(t, 1, 0, 0);
	assert_int_equal(rights_in_effect(), rights);
	t->host.now_ns += EVERY * SECOND; /* nothing more was counted: no file */
	assert_int_equal(archive_work(t->a, t->host.now_ns), EVERY * 1000 + 1);
	SAYS(t, 1, 0, 0);
	traced_tick(t->p);
	t->host.now_ns += (EVERY + 20) * SECOND; /* late; the next one is due with its minute */
	assert_int_equal(archive_work(t->a, t->host.now_ns), (EVERY - 20) * 1000 + 1);
	SAYS(t, 2, 0, 0);
	traced_tick(t->p);
	t->host.now_ns -= 3600 * SECOND; /* the clock is set back */
	(void)archive_work(t->a, t->host.now_ns);
	SAYS(t, 3, 0, 0);
	assert_string_equal(t->host.notes, "");
}

static void what_cannot_be_written_waits_and_is_told_once(void **state)
{
	struct archiving *t = *state;
	const uint64_t rights = rights_in_effect();
	char away[96];

	archiving_begin(t);
	snprintf(away, sizeof(away), "%s/away", t->top);
	assert_int_equal(rename(t->dir, away), 0);
	assert_int_equal(symlink("/dev/null", t->dir), 0);
	for (unsigned i = 1; i <= 3; i++) {
		traced_tick(t->p);
		t->host.now_ns += EVERY * SECOND;
		(void)archive_work(t->a, t->host.now_ns);
		assert_int_equal(rights_in_effect(), rights);
	}
	SAYS(t, 0, 5, 1); /* a try before each reading, and one behind it */
	assert_int_equal(strncmp(t->host.notes, "archive: what one counted waits: ", 33), 0);
	assert_string_equal(strchr(t->host.notes, '\n'), "\n"); /* the same again is no news */
	*t->host.notes = '\0';
	assert_int_equal(unlink(t->dir), 0);
	assert_int_equal(rename(away, t->dir), 0);
	t->host.now_ns += EVERY * SECOND;
	(void)archive_work(t->a, t->host.now_ns);
	SAYS(t, 2, 5, 0); /* what waited, and what came meanwhile */
	assert_string_equal(t->host.notes, "archive: what waited is written\n");
}

static void what_still_waits_at_the_end_is_lost_and_said_to_be(void **state)
{
	struct archiving *t = *state;
	char away[96];

	archiving_begin(t);
	snprintf(away, sizeof(away), "%s/away", t->top);
	assert_int_equal(rename(t->dir, away), 0);
	assert_int_equal(symlink("/dev/null", t->dir), 0);
	traced_tick(t->p);
	t->host.now_ns += EVERY * SECOND;
	(void)archive_work(t->a, t->host.now_ns);
	archive_read_last(t->a, t->p); /* as when its program ends: nothing more was counted */
	*t->host.notes = '\0';
	archive_close(t->a);
	t->a = NULL;
	assert_int_equal(strncmp(t->host.notes, "archive: what one counted is lost, 1 rows: ", 43), 0);
}

/* It is what it was in the reading before, each time: a difference of nothing. */
static void what_is_set_back_counts_from_nothing(void **state)
{
	static const char *const text[] = {
		"@n = count(); } tick-1s /i % 2 == 0/ { clear(@n);",
		"@n[1] = count(); } tick-1s /i % 2 == 0/ { trunc(@n);",
		"@n[1] = sum(7); } tick-1s /i % 2 == 0/ { clear(@n);",
		"@n = avg(7); } tick-1s /i % 2 == 0/ { clear(@n);",
		"@n = quantize(7); } tick-1s /i % 2 == 0/ { clear(@n);",
		"@n = max(7); } tick-1s /i % 2 == 0/ { clear(@n);",
	};
	struct archiving *t = *state;

	archiving_begin(t);
	for (unsigned i = 0; i < COUNT(text); i++) {
		char path[16], program[128];
		struct program *p;

		snprintf(path, sizeof(path), "/x/p%u.d", i);
		snprintf(program, sizeof(program), "tick-1s { i++; %s }", text[i]);
		p = traced_open(t->s, path, program);
		for (unsigned round = 0; round < 3; round++) {
			traced_tick(p);
			t->host.now_ns += EVERY * SECOND;
			(void)archive_work(t->a, t->host.now_ns);
			SAYS(t, 3 * i + round + 1, 0, 0);
			traced_tick(p); /* what it counts now is set back at once */
		}
		t->host.now_ns += EVERY * SECOND;
		(void)archive_work(t->a, t->host.now_ns);
		SAYS(t, 3 * i + 3, 0, 0); /* it counted nothing since: no row */
	}
}

static void a_last_reading_has_what_came_since_the_one_before(void **state)
{
	struct archiving *t = *state;

	archiving_begin(t);
	traced_tick(t->p);
	archive_read_last(t->a, t->p);
	SAYS(t, 1, 0, 0);
	archive_read_last(NULL, t->p);
}

static void who_archives_nothing_has_nothing_to_do(void **state)
{
	struct buf b = { 0 };

	(void)state;
	assert_int_equal(archive_work(NULL, BEGAN), -1);
	archive_close(NULL);
	archive_put_metrics(NULL, FORMAT_TEXT, &b);
	archive_put_status(NULL, &b);
	assert_int_equal(b.n, 0);
}

#define ARCHIVING(test) cmocka_unit_test_setup_teardown(test, archiving_open, archiving_close)

int main(void)
{
	const struct CMUnitTest tests[] = {
		ARCHIVING(a_directory_that_cannot_be_is_refused),
		ARCHIVING(what_a_killed_service_left_is_removed),
		ARCHIVING(memory_that_is_out_refuses_to_archive),
		ARCHIVING(what_was_counted_is_written_when_a_minute_is_over),
		ARCHIVING(what_cannot_be_written_waits_and_is_told_once),
		ARCHIVING(what_still_waits_at_the_end_is_lost_and_said_to_be),
		ARCHIVING(what_is_set_back_counts_from_nothing),
		ARCHIVING(a_last_reading_has_what_came_since_the_one_before),
		cmocka_unit_test(who_archives_nothing_has_nothing_to_do),
	};

	return cmocka_run_group_tests_name("what is kept", tests, NULL, NULL);
}
