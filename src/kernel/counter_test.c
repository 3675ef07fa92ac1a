/* counter_test.c: events that programs read, and what is refused. */
#include <linux/perf_event.h>
#include <setjmp.h>
#include <stdarg.h>
#include <string.h>

#include <cmocka.h>

#include "kernel/handmade_int.h"

/* A program that stores what the helper answers as the control word `exited`, and the counter as `status`. */
static void reader_make(struct handmade *h)
{
	hm_init(h);
	hm_map(h, IMG_ARRAY, IMG_CTL, 4, sizeof(struct img_ctl), 1);
	hm_map(h, IMG_EVENTS, IMG_COUNTER, 4, 4, 1);
	HM_PROG(h, IMG_TEST, I_STORE_IMM(DW, R10, -24, 7), I_LD_MAP(R1, 1), I_LD64_HI(0), I_MOV32_IMM(R2, -1),
		I_MOV_REG(R3, R10), I_ALU_IMM(ADD, R3, -24), I_MOV_IMM(R4, 24), I_CALL(perf_event_read_value),
		I_MOV_REG(R6, R0), I_STORE_IMM(W, R10, -4, 0), I_LD_MAP(R1, 0), I_LD64_HI(0), I_MOV_REG(R2, R10),
		I_ALU_IMM(ADD, R2, -4), I_LOAD(DW, R7, R10, -24), I_CALL(map_lookup_elem), I_JMP_IMM(JEQ, R0, 0, 2),
		I_STORE(DW, R0, offsetof(struct img_ctl, exited), R6),
		I_STORE(DW, R0, offsetof(struct img_ctl, status), R7), HM_RETURN);
}

static void a_program_reads_an_event_that_counts_and_is_refused_where_none_does(void **state)
{
	const struct k_event clock = { .type = PERF_TYPE_SOFTWARE, .config = PERF_COUNT_SW_CPU_CLOCK };
	struct handmade h;
	struct k_run *k = NULL;
	struct err e = { 0 };
	int64_t first;

	(void)state;
	HM_NEED_RIGHTS();
	reader_make(&h);
	assert_int_equal(k_open(&k, &h.img, NULL, &e), 0);
	assert_int_equal(k_test_run(k, 0, &e), 0);
	assert_int_equal((int64_t)k_ctl(k)->exited, -BPF_ENOENT);

	assert_int_equal(k_count(k, 1, &clock, &e), 0);
	assert_int_equal(k_test_run(k, 0, &e), 0);
	assert_int_equal(k_ctl(k)->exited, 0);
	first = k_ctl(k)->status;
	assert_int_equal(k_test_run(k, 0, &e), 0);
	assert_int_equal(k_ctl(k)->exited, 0);
	assert_true(k_ctl(k)->status != first || first > 0); /* another CPU may have run it */
	k_close(k);
}

static void an_event_goes_into_a_map_of_events_only(void **state)
{
	const struct k_event clock = { .type = PERF_TYPE_SOFTWARE, .config = PERF_COUNT_SW_CPU_CLOCK };
	struct handmade h;
	struct k_run *k = NULL;
	struct err e = { 0 };

	(void)state;
	HM_NEED_RIGHTS();
	reader_make(&h);
	assert_int_equal(k_open(&k, &h.img, NULL, &e), 0);
	assert_int_equal(k_count(k, 0, &clock, &e), -TALLY_EINVAL);
	assert_string_equal(e.text, "map 0 takes no events");
	assert_int_equal(k_count(k, 9, &clock, &e), -TALLY_EINVAL);
	assert_int_equal(k_count_threads(k, &e), 0); /* nobody asks for them */
	k_close(k);
}

static void an_event_that_no_cpu_counts_is_refused_with_the_reason(void **state)
{
	const struct k_event unknown = { .type = PERF_TYPE_SOFTWARE, .config = 4711 };
	struct handmade h;
	struct k_run *k = NULL;
	struct err e = { 0 };

	(void)state;
	HM_NEED_RIGHTS();
	reader_make(&h);
	assert_int_equal(k_open(&k, &h.img, NULL, &e), 0);
	assert_int_equal(k_count(k, 1, &unknown, &e), -TALLY_ENOTSUP);
	assert_string_equal(e.text, "this CPU does not have the event");
	k_close(k);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_program_reads_an_event_that_counts_and_is_refused_where_none_does),
		cmocka_unit_test(an_event_goes_into_a_map_of_events_only),
		cmocka_unit_test(an_event_that_no_cpu_counts_is_refused_with_the_reason),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
