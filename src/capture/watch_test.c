/* watch_test.c: packets of devices that do what a test says, as figures. */
#include "capture/trace_int.h"
#include "capture/watch.h"
#include "platform/fake_ptt_test.h"

#define EVENT "hisi_ptt0_2/filter=0x80001,type=1,direction=1,format=1/"
#define SECOND UINT64_C(1000000000)

static uint64_t own_ns;

static int own_now(void *arg, uint64_t *ns, struct err *e)
{
	(void)arg;
	(void)e;
	*ns = own_ns;
	return 0;
}

static int open_watch(struct watch **w, struct fake *f, bool is_sealed)
{
	const struct watch_opts o = { .events = EVENT, .is_sealed = is_sealed };

	f->op.now = own_now;
	return capture_watch_begin(w, platform(f, "kunpeng", 0), &o);
}

struct figures {
	uint64_t packets, bytes, lost, gaps, damaged;
};

static int take_figure(void *arg, const struct watch_figure *f)
{
	struct figures *to = arg;
	const struct {
		const char *family;
		uint64_t *at;
	} known[] = { { "ptt_packets", &to->packets },
		      { "ptt_bytes", &to->bytes },
		      { "ptt_lost_records", &to->lost },
		      { "ptt_gaps", &to->gaps },
		      { "ptt_damaged_bytes", &to->damaged } };

	assert_true(*f->text);
	for (size_t i = 0; i < COUNT(known); i++)
		if (!f->value.none && !strcmp(f->family, known[i].family))
			*known[i].at += f->value.u;
	return 0;
}

static int take_loss(void *arg, const char *kind, const char *text, uint64_t count)
{
	struct figures *to = arg;

	assert_true(*text);
	*(!strcmp(kind, "lost_records") ? &to->lost : !strcmp(kind, "gaps") ? &to->gaps : &to->damaged) += count;
	return 0;
}

/* What is told as lost is what the figures have. */
static struct figures figures(struct watch *w)
{
	struct figures is = { 0 }, losses = { 0 };

	assert_int_equal(watch_read(w, take_figure, &is), 0);
	assert_int_equal(watch_losses(w, take_loss, &losses), 0);
	assert_int_equal(losses.lost, is.lost);
	assert_int_equal(losses.gaps, is.gaps);
	assert_int_equal(losses.damaged, is.damaged);
	return is;
}

static void close_watch(struct watch *w, struct fake *f)
{
	watch_close(w);
	fake_free(f);
	assert_int_equal(mem_live(), 0);
}

/* Each chunk has 128 writes of one double word, of which no byte is enabled. */
static void what_comes_is_counted_with_what_is_lost(void **state)
{
	struct fake *f = fake_new();
	struct watch *w;
	struct figures is;

	(void)state;
	f->chunks = 3;
	f->lost_before = 2;
	assert_int_equal(open_watch(&w, f, false), 0);
	is = figures(w);
	assert_int_equal(is.packets, 0);
	assert_int_equal(watch_pass(w), 0);
	is = figures(w);
	assert_int_equal(is.packets, 3 * CHUNK / RECORD);
	assert_int_equal(is.lost, 7);
	assert_int_equal(is.gaps, 1);
	assert_int_equal(is.damaged, 0);
	assert_int_equal(f->starts, 1);
	assert_int_equal(f->stops, 0);
	close_watch(w, f);
}

static void one_pass_takes_so_much_that_clients_need_not_wait(void **state)
{
	enum { CHUNKS = 3 * 16 * 1024 * 1024 / CHUNK };
	struct fake *f = fake_new();
	struct watch *w;

	(void)state;
	f->chunks = CHUNKS;
	assert_int_equal(open_watch(&w, f, false), 0);
	assert_int_equal(watch_pass(w), 0);
	assert_true(f->given > 0 && f->given < CHUNKS);
	for (uint32_t i = 0; f->given < CHUNKS && i < CHUNKS; i++)
		assert_int_equal(watch_pass(w), 0);
	assert_int_equal(figures(w).packets, CHUNKS * CHUNK / RECORD);
	close_watch(w, f);
}

static void what_a_quiet_device_holds_is_counted_after_ten_seconds_and_that_is_a_gap(void **state)
{
	struct fake *f = fake_new();
	struct watch *w;

	(void)state;
	own_ns = 5 * SECOND;
	f->chunks = 2;
	f->held = 1;
	assert_int_equal(open_watch(&w, f, false), 0);
	assert_int_equal(watch_pass(w), 0);
	own_ns += 9 * SECOND;
	assert_int_equal(watch_pass(w), 0);
	assert_int_equal(figures(w).packets, CHUNK / RECORD);
	assert_int_equal(f->stops, 0);
	own_ns += 2 * SECOND;
	assert_int_equal(watch_pass(w), 0);
	assert_int_equal(figures(w).packets, 2 * CHUNK / RECORD);
	assert_int_equal(figures(w).gaps, 1);
	assert_int_equal(f->stops, 1);
	assert_int_equal(f->starts, 2);
	assert_true(watch_seconds(w) > 10.9 && watch_seconds(w) < 11.1);
	own_ns += 5 * SECOND; /* not at once again */
	assert_int_equal(watch_pass(w), 0);
	assert_int_equal(f->stops, 1);
	close_watch(w, f);
}

static void without_rights_to_start_again_nothing_is_stopped(void **state)
{
	struct fake *f = fake_new();
	struct watch *w;

	(void)state;
	f->chunks = 2;
	f->held = 1;
	assert_int_equal(open_watch(&w, f, true), 0);
	own_ns += 100 * SECOND;
	assert_int_equal(watch_pass(w), 0);
	own_ns += 100 * SECOND;
	assert_int_equal(watch_pass(w), 0);
	assert_int_equal(f->stops, 0);
	assert_int_equal(figures(w).packets, CHUNK / RECORD);
	close_watch(w, f);
}

static void what_goes_wrong_is_said(void **state)
{
	struct fake *f = fake_new();
	struct watch *w;

	(void)state;
	f->start_rc = -TALLY_EBUSY;
	assert_int_equal(open_watch(&w, f, false), -TALLY_EBUSY);
	assert_string_equal(watch_error(w), "hisi_ptt0_2 traces already");
	watch_close(w);
	f->start_rc = 0;
	f->chunks = 3;
	f->gone_after = 2;
	assert_int_equal(open_watch(&w, f, false), 0);
	assert_int_equal(watch_pass(w), -TALLY_EEND);
	assert_string_equal(watch_error(w), "the device is gone");
	assert_int_equal(figures(w).packets, 2 * CHUNK / RECORD);
	close_watch(w, f);
}

static void events_of_ptt_devices_are_found_among_others(void **state)
{
	static const struct {
		const char *events, *event, *device;
	} rows[] = {
		{ "cycles,gpci/entitled/", NULL, NULL },
		{ "hisi_ptt0_2/type=1,filter=2/", "hisi_ptt0_2/type=1,filter=2/", "hisi_ptt0_2" },
		{ "hisi_ptt0_2/type=1,filter=2", "hisi_ptt0_2/type=1,filter=2", "hisi_ptt0_2" },
		{ "cycles:u,hisi_ptt0_2/type=1/,page-faults", "hisi_ptt0_2/type=1/", "hisi_ptt0_2" },
		{ "gpci/x,hisi_ptt0_2=1/,hisi_ptt1_0/a/,hisi_ptt0_2/b/", "hisi_ptt1_0/a/", "hisi_ptt1_0" },
		{ "hisi_ptt0_2,cycles", "hisi_ptt0_2", "hisi_ptt0_2" },
	};

	(void)state;
	for (size_t i = 0; i < COUNT(rows); i++) {
		size_t n, device;
		const char *at = capture_watch_find(rows[i].events, &n, &device);

		if (!rows[i].event) {
			assert_null(at);
			continue;
		}
		assert_non_null(at);
		assert_int_equal(n, strlen(rows[i].event));
		assert_memory_equal(at, rows[i].event, n);
		assert_int_equal(device, strlen(rows[i].device));
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(what_comes_is_counted_with_what_is_lost),
		cmocka_unit_test(one_pass_takes_so_much_that_clients_need_not_wait),
		cmocka_unit_test(what_a_quiet_device_holds_is_counted_after_ten_seconds_and_that_is_a_gap),
		cmocka_unit_test(without_rights_to_start_again_nothing_is_stopped),
		cmocka_unit_test(what_goes_wrong_is_said),
		cmocka_unit_test(events_of_ptt_devices_are_found_among_others),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
