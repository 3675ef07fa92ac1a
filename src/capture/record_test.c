/*
 * record_test.c: recordings of devices that do what a test says, and what is left when they fail.
 */
#include <signal.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include "platform/fake_ptt_test.h"
#include "ptt/ptt.h"

/* ---- record ------------------------------------------------------------------------------------- */

#define EVENT "hisi_ptt0_2/filter=0x80001,type=1,direction=1,format=1/"

struct files {
	char dir[32], path[64], old[64];
};

static void files_open(struct files *d)
{
	strcpy(d->dir, "/tmp/tally-platform-XXXXXX");
	assert_non_null(mkdtemp(d->dir));
	snprintf(d->path, sizeof(d->path), "%s/t.data", d->dir);
	snprintf(d->old, sizeof(d->old), "%s/t.data.old", d->dir);
}

static void files_close(struct files *d)
{
	unlink(d->path);
	unlink(d->old);
	assert_int_equal(rmdir(d->dir), 0);
}

static struct tally_record_opts record_opts(const struct files *d)
{
	return (struct tally_record_opts){ .size = sizeof(struct tally_record_opts),
					   .event = EVENT,
					   .path = d ? d->path : "/dev/null" };
}

/* A recording of a device that does as it is told. */
struct take {
	struct fake *f;
	struct tally_platform *p;
	struct files d;
	struct tally_record_opts r;
	struct tally_record_result got;
};

static void take_open(struct take *k)
{
	k->f = fake_new();
	k->p = platform(k->f, NULL, 0);
	files_open(&k->d);
	k->r = record_opts(&k->d);
	k->got = (struct tally_record_result){ .size = sizeof(k->got) };
}

static void take_close(struct take *k)
{
	files_close(&k->d);
	tally_platform_close(k->p);
	fake_free(k->f);
}

/* What the file holds, by the reader that `report` uses. */
struct read_back {
	uint64_t bytes;
	struct ptt_lost lost;
	char name[32];
	uint64_t config;
	uint32_t cpu;
};

static struct read_back read_back(const char *path)
{
	struct read_back got = { .bytes = 0 };
	const struct ptt_device *dev;
	struct ptt_reader *r = NULL;
	struct ptt_chunk c;
	struct bytes_in in;
	struct err e = { 0 };
	int rc;

	assert_int_equal(file_in_open(&in, path, &e), 0);
	rc = ptt_reader_open(&r, &in, &(struct ptt_reader_opts){ .format = 0 }, &e);
	while (rc >= 0 && (rc = ptt_reader_next(r, &c, &e)) == 1)
		got.bytes += c.n;
	if (rc < 0)
		fail_msg("%s: %s", path, e.text);
	assert_true(ptt_reader_devices(r, &dev) == 1);
	memcpy(got.name, dev[0].name, sizeof(got.name));
	got.config = dev[0].config;
	got.cpu = dev[0].cpu;
	got.lost = *ptt_reader_lost(r);
	ptt_reader_close(r);
	file_in_close(&in);
	return got;
}

static char *const succeed[] = { "true", NULL }, *const fail3[] = { "sh", "-c", "exit 3", NULL };
static char *const long_one[] = { "sleep", "1000", NULL }, *const short_one[] = { "sleep", "0.02", NULL };

static void a_recording_is_what_was_committed(void **state)
{
	struct take k;
	struct read_back got;

	(void)state;
	take_open(&k);
	k.r.argv = fail3;
	k.f->chunks = 40; /* more than a turn takes */
	k.f->held = 1;
	assert_int_equal(tally_record(k.p, &k.r, &k.got), 0);
	assert_int_equal(k.got.status, 3);
	assert_int_equal(k.got.bytes, 40 * CHUNK);
	assert_int_equal(k.got.records, 40 * CHUNK / RECORD);
	assert_int_equal(k.got.lost, 0);
	assert_int_equal(k.got.gaps, 0);
	assert_int_equal(k.got.cut, TALLY_CUT_NONE);
	assert_int_equal(k.f->ring, 16u << 20);
	assert_int_equal(k.f->ask.config, 0x101180001u | 1ull << 32);
	assert_int_equal(k.f->starts, 1);
	assert_int_equal(k.f->stops, 1);
	got = read_back(k.d.path);
	assert_int_equal(got.bytes, 40 * CHUNK);
	assert_string_equal(got.name, "hisi_ptt0_2");
	assert_int_equal(got.config, k.f->ask.config);
	assert_int_equal(got.cpu, 4);
	assert_string_equal(got.lost.words, "");
	take_close(&k);
}

static void a_recording_before_is_kept(void **state)
{
	struct take k;

	(void)state;
	take_open(&k);
	k.r.argv = succeed;
	k.f->chunks = 2;
	assert_int_equal(tally_record(k.p, &k.r, &k.got), 0);
	k.f->given = 0;
	k.f->chunks = 5;
	assert_int_equal(tally_record(k.p, &k.r, &k.got), 0);
	assert_int_equal(read_back(k.d.path).bytes, 5 * CHUNK);
	assert_int_equal(read_back(k.d.old).bytes, 2 * CHUNK);
	/* A refused one touches neither. */
	k.f->start_rc = -TALLY_EBUSY;
	assert_int_equal(tally_record(k.p, &k.r, &k.got), -TALLY_EBUSY);
	said(k.p, "hisi_ptt0_2 traces already");
	assert_int_equal(read_back(k.d.path).bytes, 5 * CHUNK);
	assert_int_equal(read_back(k.d.old).bytes, 2 * CHUNK);
	take_close(&k);
}

static void a_gap_is_marked_and_counted(void **state)
{
	struct take k;
	struct read_back got;

	(void)state;
	take_open(&k);
	k.r.argv = succeed;
	k.f->chunks = 3;
	k.f->lost_before = 2;
	assert_int_equal(tally_record(k.p, &k.r, &k.got), 0);
	assert_int_equal(k.got.lost, 7);
	got = read_back(k.d.path);
	assert_int_equal(got.bytes, 3 * CHUNK);
	assert_int_equal(got.lost.truncated_aux, 1);
	take_close(&k);
}

static void a_device_that_is_lost_leaves_what_it_gave(void **state)
{
	struct take k;

	(void)state;
	take_open(&k);
	k.r.argv = long_one;
	k.f->chunks = 10;
	k.f->gone_after = 4;
	assert_int_equal(tally_record(k.p, &k.r, &k.got), -TALLY_EEND);
	said(k.p, "the device is gone");
	assert_int_equal(k.got.bytes, 4 * CHUNK);
	/* It had more: how much, nobody knows. */
	assert_int_equal(k.got.lost, 0);
	assert_int_equal(k.got.gaps, 1);
	assert_int_equal(k.got.cut, TALLY_CUT_FAILED);
	assert_int_equal(read_back(k.d.path).bytes, 4 * CHUNK);
	assert_int_equal(read_back(k.d.path).lost.truncated_aux, 1);
	take_close(&k);
}

static void a_full_disk_leaves_what_was_committed(void **state)
{
	struct rlimit was, small;
	struct take k;

	(void)state;
	take_open(&k);
	k.r.argv = long_one;
	k.f->chunks = 10;
	signal(SIGXFSZ, SIG_IGN);
	getrlimit(RLIMIT_FSIZE, &was);
	small = (struct rlimit){ 3 * CHUNK + CHUNK / 2, was.rlim_max };
	setrlimit(RLIMIT_FSIZE, &small);
	int rc = tally_record(k.p, &k.r, &k.got);
	setrlimit(RLIMIT_FSIZE, &was);
	assert_int_equal(rc, -TALLY_EIO);
	said(k.p, "t.data: File too large; it has all records up to the last commit");
	assert_int_equal(k.got.bytes, 3 * CHUNK);
	assert_int_equal(k.got.cut, TALLY_CUT_FAILED);
	assert_int_equal(k.got.gaps, 1);
	assert_int_equal(k.f->stops, 1);
	/* The reader also salvages what came of the next commit. */
	assert_true(read_back(k.d.path).bytes >= 3 * CHUNK);
	k.r.path = "/dev/full";
	k.f->given = 0;
	assert_int_equal(tally_record(k.p, &k.r, &k.got), -TALLY_EIO);
	said(k.p, "failed to write to /dev/full: No space left on device");
	take_close(&k);
}

/* A command that ends is its own; one that was ended has no status to tell. */
static void a_reader_that_goes_away_is_no_error(void **state)
{
	char *const *const argv[] = { fail3, long_one };
	struct fake *f = fake_new();
	struct tally_platform *p = platform(f, NULL, 0);
	int out = dup(STDOUT_FILENO), pipe_fd[2];

	(void)state;
	signal(SIGPIPE, SIG_IGN);
	for (size_t i = 0; i < COUNT(argv); i++) {
		struct tally_record_result got = { .size = sizeof(got) };
		struct tally_record_opts r = { .size = sizeof(r), .event = EVENT, .path = "-", .argv = argv[i] };
		int rc;

		f->chunks = 4;
		f->given = 0;
		f->held = argv[i] == fail3 ? 4 : 0;
		assert_int_equal(pipe(pipe_fd), 0);
		close(pipe_fd[0]);
		fflush(stdout);
		dup2(pipe_fd[1], STDOUT_FILENO);
		rc = tally_record(p, &r, &got);
		dup2(out, STDOUT_FILENO);
		close(pipe_fd[1]);
		assert_int_equal(rc, 0);
		assert_int_equal(got.cut, TALLY_CUT_READER);
		assert_int_equal(got.bytes, 0);
		assert_int_equal(got.gaps, 0);
		assert_int_equal(got.status, 0);
	}
	close(out);
	tally_platform_close(p);
	fake_free(f);
}

static void the_stop_word_ends_it_and_the_command(void **state)
{
	volatile int stop = 0;
	struct take k;

	(void)state;
	take_open(&k);
	k.r.argv = long_one;
	k.r.stop = &stop;
	k.f->chunks = 5;
	k.f->held = 1;
	k.f->stop_word = &stop;
	k.f->stop_after = 3;
	assert_int_equal(tally_record(k.p, &k.r, &k.got), 0);
	assert_int_equal(k.got.status, 128 + SIGTERM);
	assert_int_equal(k.got.bytes, 5 * CHUNK); /* what came with the stop, too */
	assert_int_equal(read_back(k.d.path).bytes, 5 * CHUNK);
	k.r.argv = NULL; /* without a command the word alone ends it */
	k.f->given = 0;
	assert_int_equal(tally_record(k.p, &k.r, &k.got), 0);
	assert_int_equal(k.got.status, 0);
	take_close(&k);
}

static void a_command_that_can_t_be_run_has_a_shell_s_status(void **state)
{
	static char *const missing[] = { "/no/such/command", NULL }, *const directory[] = { "/", NULL };
	struct fake *f = fake_new();
	struct tally_platform *p = platform(f, NULL, 0);
	struct tally_record_result got = { .size = sizeof(got) };
	struct tally_record_opts r = record_opts(NULL);

	(void)state;
	r.argv = missing;
	assert_int_equal(tally_record(p, &r, &got), -TALLY_EINVAL);
	assert_int_equal(got.status, 127);
	said(p, "failed to start '/no/such/command'");
	r.argv = directory;
	assert_int_equal(tally_record(p, &r, &got), -TALLY_EINVAL);
	assert_int_equal(got.status, 126);
	assert_int_equal(f->starts, f->stops);
	tally_platform_close(p);
	fake_free(f);
}

static void a_model_runs_exactly_the_duration_in_equal_slices(void **state)
{
	struct fake *f = fake_new();
	struct tally_platform *p = platform(f, "kunpeng", 0);
	struct tally_record_opts r = record_opts(NULL);

	(void)state;
	f->op.advance = fake_advance;
	f->chunks = 1000;
	f->ns_per_chunk = 500000;
	r.duration_ns = 10500000;
	assert_int_equal(tally_record(p, &r, NULL), 0);
	assert_int_equal(f->ns, 10500000);
	assert_int_equal(f->slices, 11);
	f->held = 1000;
	f->stuck = true;
	assert_int_equal(tally_record(p, &r, NULL), -TALLY_EIO);
	said(p, "its time does not advance");
	tally_platform_close(p);
	fake_free(f);
}

static void a_model_follows_the_clock_while_a_command_runs(void **state)
{
	struct fake *f = fake_new();
	struct tally_platform *p = platform(f, "kunpeng", 0);
	struct tally_record_result got = { .size = sizeof(got) };
	struct tally_record_opts r = record_opts(NULL);

	(void)state;
	f->op.advance = fake_advance;
	r.argv = short_one;
	assert_int_equal(tally_record(p, &r, &got), 0);
	assert_true(f->ns >= 20000000);
	/* The command outlives the duration: it may finish, and its status counts. */
	r.argv = (char *const[]){ "sh", "-c", "sleep 0.05; exit 5", NULL };
	r.duration_ns = 1000000;
	f->ns = 0;
	assert_int_equal(tally_record(p, &r, &got), 0);
	assert_int_equal(f->ns, 1000000);
	assert_int_equal(got.status, 5);
	tally_platform_close(p);
	fake_free(f);
}

static int stop_at_once(void *arg, uint64_t done, uint64_t total)
{
	*(uint64_t *)arg = done;
	assert_int_equal(total, 0);
	return -1;
}

static int standing_still(void *arg, uint64_t *ns, struct err *e)
{
	(void)arg, (void)e;
	*ns = 7;
	return 0;
}

static int ahead_of_the_clock(void *arg, uint64_t *ns, struct err *e)
{
	struct fake *f = arg;

	(void)e;
	*ns = f->ns += 1000000000;
	return 0;
}

static void only_a_platform_that_is_slower_than_the_clock_is_said_to_be(void **state)
{
	struct fake *f = fake_new();
	struct tally_platform *p = platform(f, "local", 0);
	struct tally_record_opts r = record_opts(NULL);

	(void)state;
	r.argv = short_one;
	f->op.now = standing_still;
	assert_int_equal(tally_record(p, &r, NULL), 0);
	assert_non_null(strstr(f->notes.p, "a test is slower than the clock: 0.0 ms of "));
	buf_clear(&f->notes);
	f->op.now = ahead_of_the_clock;
	assert_int_equal(tally_record(p, &r, NULL), 0);
	assert_int_equal(f->notes.n, 0);
	f->op.now = NULL; /* its time is the clock's */
	assert_int_equal(tally_record(p, &r, NULL), 0);
	assert_int_equal(f->notes.n, 0);
	tally_platform_close(p);
	fake_free(f);
}

static void what_is_wrong_with_a_recording_is_said(void **state)
{
	struct fake *f = fake_new();
	struct tally_platform *p = platform(f, NULL, 0), *driver = platform(f, NULL, TALLY_PROFILE_DRIVER);
	struct tally_record_opts r = record_opts(NULL);
	uint64_t done = 0;

	(void)state;
	r.event = NULL;
	assert_int_equal(tally_record(p, &r, NULL), -TALLY_EINVAL);
	r.event = "hisi_ptt0_2/filter=0x80000,type=1/";
	assert_int_equal(tally_record(p, &r, NULL), -TALLY_EINVAL);
	assert_string_not_equal(tally_platform_error(p), "");
	f->chunks = 1;
	r.argv = succeed;
	assert_int_equal(tally_record(driver, &r, NULL), 0);
	assert_true(f->notes.n > 0); /* a warning: the spec refuses it */
	r.event = EVENT;
	r.ring = "1x";
	assert_int_equal(tally_record(p, &r, NULL), -TALLY_EINVAL);
	r.ring = NULL;
	r.path = "/no/such/directory/t.data";
	assert_int_equal(tally_record(p, &r, NULL), -TALLY_EIO);
	said(p, "/no/such/directory/t.data");
	r.path = "/dev/null";
	f->stop_rc = -TALLY_EIO;
	assert_int_equal(tally_record(p, &r, NULL), -TALLY_EIO);
	said(p, "it does not stop");
	f->stop_rc = 0;
	f->given = 0;
	r.progress = stop_at_once;
	r.arg = &done;
	assert_int_equal(tally_record(p, &r, NULL), -TALLY_EEND);
	assert_int_equal(done, CHUNK);
	assert_int_equal(f->starts, f->stops);
	r.size = 4;
	assert_int_equal(tally_record(p, &r, NULL), -TALLY_EINVAL);
	tally_platform_close(p);
	tally_platform_close(driver);
	fake_free(f);
}

/* ---- out of memory ---------------------------------------------------------------------------------- */

static int whole_run(struct fake *f)
{
	struct tally_platform_opts o = { .size = sizeof(o), .on = "kunpeng,seed=3" };
	struct tally_out to = { .size = sizeof(to) };
	struct tally_record_opts r = record_opts(NULL);
	struct tally_platform *p = NULL;
	int rc = tally_platform_open(&p, &o);

	f->given = 0;
	r.argv = succeed;
	if (rc >= 0) {
		p->ptt = (struct ptt_pmus){ .arg = f, .op = &f->op };
		p->has_ptt = true;
		rc = tally_list(p, "ptt", NULL, true, &to);
	}
	if (rc >= 0)
		rc = tally_get(p, "hisi_ptt0_2", &to);
	if (rc >= 0)
		rc = tally_set(p, "hisi_ptt0_2/qos_tx_p=2");
	if (rc >= 0)
		rc = tally_record(p, &r, NULL);
	if (p && rc < 0)
		assert_string_not_equal(tally_platform_error(p), "");
	tally_platform_close(p);
	return rc;
}

static void every_allocation_may_fail(void **state)
{
	struct fake *f = fake_new();
	long before = mem_live();

	(void)state;
	f->chunks = 2;
	for (long n = 1;; n++) {
		mem_fail_at(n);
		int rc = whole_run(f);
		bool failed = mem_failed();

		mem_fail_at(0);
		assert_int_equal(mem_live(), before);
		assert_int_equal(rc, failed ? -TALLY_ENOMEM : 0);
		if (!failed)
			break;
	}
	fake_free(f);
}

static void drop_name(void *arg, const char *name)
{
	(void)arg, (void)name;
	fail_msg("a name of a platform that was not opened");
}

static void a_platform_that_was_not_opened_takes_no_call(void **state)
{
	const struct tally_platform_opts o = { .size = sizeof(o), .on = "no-such-platform" };
	const struct tally_out to = { .size = sizeof(to) };
	const struct tally_record_opts r = record_opts(NULL);
	const struct tally_stat_opts s = { .size = sizeof(s), .events = "page-faults" };
	const struct tally_check_opts c = { .size = sizeof(c), .what = "gpci" };
	const struct tally_tune_opts t = { .size = sizeof(t), .device = "hisi_ptt0_2" };
	struct tally_platform *p = NULL;

	(void)state;
	assert_int_equal(tally_platform_open(&p, &o), -TALLY_EINVAL);
	assert_non_null(p);
#define REFUSED(call)                          \
	assert_int_equal(call, -TALLY_ESTATE); \
	assert_string_equal(tally_platform_error(p), "no platform: tally_platform_open() failed")
	REFUSED(tally_list(p, "ptt", NULL, false, &to));
	REFUSED(tally_names(p, "probes", drop_name, NULL));
	REFUSED(tally_get(p, "hisi_ptt0_2", &to));
	REFUSED(tally_set(p, "hisi_ptt0_2/qos_tx_cpl=2"));
	REFUSED(tally_record(p, &r, NULL));
	REFUSED(tally_stat(p, &s, NULL));
	REFUSED(tally_check(p, &c, NULL));
	REFUSED(tally_tune(p, &t, NULL));
#undef REFUSED
	tally_platform_close(p);
}

static void answers_of_a_platform_in_a_format_that_it_does_not_have_are_refused(void **state)
{
	const struct tally_platform_opts o = { .size = sizeof(o), .on = "kunpeng" };
	const struct tally_out to = { .size = sizeof(to), .format = TALLY_FORMAT_HTML };
	const struct tally_stat_opts s = { .size = sizeof(s), .events = "page-faults", .to = to };
	const struct tally_check_opts c = { .size = sizeof(c), .what = "gpci", .to = to };
	const struct tally_tune_opts t = { .size = sizeof(t), .device = "hisi_ptt0_2", .to = to };
	struct tally_platform *p = NULL;

	(void)state;
	assert_int_equal(tally_platform_open(&p, &o), 0);
	assert_int_equal(tally_list(p, "ptt", NULL, false, &to), -TALLY_EINVAL);
	assert_non_null(strstr(tally_platform_error(p), "text, JSON or CSV"));
	assert_int_equal(tally_get(p, "hisi_ptt0_2", &to), -TALLY_EINVAL);
	assert_int_equal(tally_stat(p, &s, NULL), -TALLY_EINVAL);
	assert_int_equal(tally_check(p, &c, NULL), -TALLY_EINVAL);
	assert_int_equal(tally_tune(p, &t, NULL), -TALLY_EINVAL);
	assert_non_null(strstr(tally_platform_error(p), "text, JSON or CSV"));
	tally_platform_close(p);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_platform_that_was_not_opened_takes_no_call),
		cmocka_unit_test(answers_of_a_platform_in_a_format_that_it_does_not_have_are_refused),
		cmocka_unit_test(a_recording_is_what_was_committed),
		cmocka_unit_test(a_recording_before_is_kept),
		cmocka_unit_test(a_gap_is_marked_and_counted),
		cmocka_unit_test(a_device_that_is_lost_leaves_what_it_gave),
		cmocka_unit_test(a_full_disk_leaves_what_was_committed),
		cmocka_unit_test(a_reader_that_goes_away_is_no_error),
		cmocka_unit_test(the_stop_word_ends_it_and_the_command),
		cmocka_unit_test(a_command_that_can_t_be_run_has_a_shell_s_status),
		cmocka_unit_test(a_model_runs_exactly_the_duration_in_equal_slices),
		cmocka_unit_test(a_model_follows_the_clock_while_a_command_runs),
		cmocka_unit_test(only_a_platform_that_is_slower_than_the_clock_is_said_to_be),
		cmocka_unit_test(what_is_wrong_with_a_recording_is_said),
		cmocka_unit_test(every_allocation_may_fail),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
