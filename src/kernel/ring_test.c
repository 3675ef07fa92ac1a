/* ring_test.c: records of test runs through the rings, in order, with drops counted. */
#include <sched.h>
#include <setjmp.h>
#include <stdarg.h>
#include <string.h>
#include <sys/wait.h>

#include <cmocka.h>

#include "kernel/handmade_int.h"
#include "kernel/libbpf_int.h"

#define RING_BYTES 4096u
#define RECORD_BYTES 64u

/* As writer(), into the control ring. */
static void control_writer(struct handmade *h, int wakeup)
{
	hm_init(h);
	hm_map(h, IMG_ARRAY, IMG_GLOBALS, 4, 16, 1);
	hm_map(h, IMG_RINGBUF, IMG_CONTROL, 0, 0, RING_BYTES);
	HM_PROG(h, IMG_TEST, I_LD_MAP_VALUE(R6, 0), I_RAW(0, 0, 0, 0, 0), I_LOAD(DW, R7, R6, 0),
		I_STORE(DW, R10, -(int)RECORD_BYTES - 8, R7), I_ALU_IMM(ADD, R7, 1), I_STORE(DW, R6, 0, R7),
		I_LD_MAP(R1, 1), I_LD64_HI(0), I_MOV_REG(R2, R10), I_ALU_IMM(ADD, R2, -(int)RECORD_BYTES - 8),
		I_MOV_IMM(R3, 8), I_MOV_IMM(R4, wakeup), I_CALL(ringbuf_output), I_JMP_IMM(JEQ, R0, 0, 3),
		I_LOAD(DW, R7, R6, 8), I_ALU_IMM(ADD, R7, 1), I_STORE(DW, R6, 8, R7), HM_RETURN);
}

/* Map 0: a counter and drops; map 1: the rings; program 0 writes one record with the counter's value into the ring
 * `ring` (-1: this CPU's), counts the next one, and counts a drop when there is no room. */
static void writer(struct handmade *h, int ring, int wakeup)
{
	if (ring == (int)k_ncpus_possible()) {
		control_writer(h, wakeup);
		return;
	}
	hm_init(h);
	hm_map(h, IMG_ARRAY, IMG_GLOBALS, 4, 16, 1);
	hm_map(h, IMG_RINGS, IMG_RING, 4, 4, RING_BYTES);
	HM_PROG(h, IMG_TEST, I_CALL(get_smp_processor_id), I_MOV_IMM(R1, ring), I_JMP_IMM(JSLT, R1, 0, 1),
		I_MOV_REG(R0, R1), I_STORE(W, R10, -4, R0), I_LD_MAP_VALUE(R6, 0), I_RAW(0, 0, 0, 0, 0),
		I_LOAD(DW, R7, R6, 0), I_STORE(DW, R10, -(int)RECORD_BYTES - 8, R7), I_ALU_IMM(ADD, R7, 1),
		I_STORE(DW, R6, 0, R7), I_LD_MAP(R1, 1), I_LD64_HI(0), I_MOV_REG(R2, R10), I_ALU_IMM(ADD, R2, -4),
		I_CALL(map_lookup_elem), I_JMP_IMM(JEQ, R0, 0, 7), I_MOV_REG(R1, R0), I_MOV_REG(R2, R10),
		I_ALU_IMM(ADD, R2, -(int)RECORD_BYTES - 8), I_MOV_IMM(R3, 8), I_MOV_IMM(R4, wakeup),
		I_CALL(ringbuf_output), I_JMP_IMM(JEQ, R0, 0, 3), I_LOAD(DW, R7, R6, 8), I_ALU_IMM(ADD, R7, 1),
		I_STORE(DW, R6, 8, R7), HM_RETURN);
}

struct seen {
	uint32_t n, ring;
	uint64_t next;
	int fail_after;
};

/* Every record is 8 bytes and one more than the one before. */
static int see(void *arg, uint32_t ring, const void *rec, uint32_t size)
{
	struct seen *s = arg;
	uint64_t value;

	assert_int_equal(size, 8);
	memcpy(&value, rec, 8);
	assert_int_equal(value, s->next);
	s->next = value + 1;
	s->n++;
	s->ring = ring;
	return s->fail_after && s->n == (uint32_t)s->fail_after ? -TALLY_EIO : 0;
}

static struct k_run *opened(struct handmade *h, const struct k_run_opts *o)
{
	struct err e = { 0 };
	struct k_run *k = NULL;

	if (k_open(&k, &h->img, o, &e) < 0)
		fail_msg("%s", e.text);
	return k;
}

static void fire(struct k_run *k, uint32_t n)
{
	struct err e = { 0 };

	while (n--)
		if (k_test_run(k, 0, &e) < 0)
			fail_msg("%s", e.text);
}

static uint64_t drops(struct k_run *k)
{
	uint64_t value[2];
	uint32_t key = 0;

	assert_int_equal(k_maps(k).ops->lookup(k_maps(k).maps, 0, &key, value), 0);
	return value[1];
}

static void records_come_in_order_from_their_cpu(void **state)
{
	struct handmade h;
	struct seen s = { 0 };
	struct k_run *k;

	(void)state;
	HM_NEED_RIGHTS();
	writer(&h, -1, RING_NO_WAKEUP);
	k = opened(&h, NULL);
	k_quiet(k, true);
	for (int round = 0; round < 40; round++) { /* 40 x 10 x 16 bytes: the ring goes round */
		fire(k, 10);
		assert_int_equal(k_drain(k, see, &s), 0);
		assert_int_equal(s.n, 10 * (round + 1));
	}
	assert_int_equal(s.ring, sched_getcpu());
	assert_int_equal(drops(k), 0);
	k_close(k);
}

static void records_without_room_are_dropped_and_counted(void **state)
{
	uint32_t room = RING_BYTES / 16 - 1; /* 8 bytes of head, 8 of body; never quite full */
	struct handmade h;
	struct seen s = { 0 };
	struct k_run *k;

	(void)state;
	HM_NEED_RIGHTS();
	writer(&h, (int)k_ncpus_possible(), RING_NO_WAKEUP);
	k = opened(&h, NULL);
	fire(k, room + 5);
	assert_int_equal(k_drain(k, see, &s), 0);
	assert_true(s.n >= room && s.n <= room + 1);
	assert_int_equal(s.n + drops(k), room + 5);
	assert_int_equal(s.ring, k_ncpus_possible());
	k_close(k);
}

static void cpu_without_ring_counts_a_drop(void **state)
{
	struct handmade h;
	struct seen s = { 0 };
	struct k_run *k;

	(void)state;
	HM_NEED_RIGHTS();
	writer(&h, (int)k_ncpus_possible() + 1, RING_NO_WAKEUP);
	k = opened(&h, NULL);
	fire(k, 3);
	assert_int_equal(k_drain(k, see, &s), 0);
	assert_int_equal(s.n, 0);
	assert_int_equal(drops(k), 3);
	k_close(k);
}

static void record_is_offered_once_even_if_the_sink_fails(void **state)
{
	struct handmade h;
	struct seen s = { .fail_after = 2 };
	struct k_run *k;

	(void)state;
	HM_NEED_RIGHTS();
	writer(&h, (int)k_ncpus_possible(), RING_NO_WAKEUP);
	k = opened(&h, NULL);
	fire(k, 4);
	assert_int_equal(k_drain(k, see, &s), -TALLY_EIO);
	assert_int_equal(s.n, 2);
	s.fail_after = 0;
	assert_int_equal(k_drain(k, see, &s), 0);
	assert_int_equal(s.n, 4);
	k_close(k);
}

static void wait_ends_when_a_program_wakes_us(void **state)
{
	struct handmade h;
	struct seen s = { 0 };
	struct k_run *k;

	(void)state;
	HM_NEED_RIGHTS();
	writer(&h, (int)k_ncpus_possible(), RING_FORCE_WAKEUP);
	k = opened(&h, NULL);
	assert_int_equal(k_wait(k, 0), 0);
	fire(k, 1);
	assert_int_equal(k_wait(k, -1), 1);
	assert_int_equal(k_drain(k, see, &s), 0);
	assert_int_equal(s.n, 1);
	assert_int_equal(k_wait(k, 0), 0);
	k_close(k);
}

static void wait_ends_when_enough_lies_in_a_ring(void **state)
{
	struct k_run_opts o = { .wakeup_bytes = 48 };
	struct handmade h;
	struct seen s = { 0 };
	struct k_run *k;

	(void)state;
	HM_NEED_RIGHTS();
	writer(&h, -1, RING_NO_WAKEUP);
	k = opened(&h, &o);
	k_quiet(k, true);
	assert_int_equal(k_wait(k, 0), 0); /* from here on nothing is new to epoll */
	fire(k, 2);
	assert_int_equal(rings_waiting(k), 0);
	fire(k, 1);
	assert_int_equal(k_wait(k, -1), 1);
	assert_int_equal(k_drain(k, see, &s), 0);
	assert_int_equal(s.n, 3);
	k_close(k);
}

static void one_record_in_the_control_ring_is_enough(void **state)
{
	struct k_run_opts o = { .wakeup_bytes = 1024 };
	struct handmade h;
	struct seen s = { 0 };
	struct k_run *k;

	(void)state;
	HM_NEED_RIGHTS();
	writer(&h, (int)k_ncpus_possible(), RING_NO_WAKEUP);
	k = opened(&h, &o);
	assert_int_equal(rings_waiting(k), 0);
	fire(k, 1);
	assert_int_equal(rings_waiting(k), 1);
	assert_int_equal(k_drain(k, see, &s), 0);
	assert_int_equal(s.ring, k_ncpus_possible());
	assert_int_equal(rings_waiting(k), 0);
	k_close(k);
}

struct feeder {
	struct k_run *k;
	struct seen seen;
};

static int see_and_fire(void *arg, uint32_t ring, const void *rec, uint32_t size)
{
	struct feeder *f = arg;

	fire(f->k, 1);
	return see(&f->seen, ring, rec, size);
}

/* Else a program that is faster than its reader would hold him for ever. */
static void what_comes_during_a_drain_is_for_the_next_one(void **state)
{
	struct handmade h;
	struct feeder f = { 0 };

	(void)state;
	HM_NEED_RIGHTS();
	writer(&h, -1, RING_NO_WAKEUP);
	f.k = opened(&h, NULL);
	k_quiet(f.k, true);
	fire(f.k, 2);
	assert_int_equal(k_drain(f.k, see_and_fire, &f), 0);
	assert_int_equal(f.seen.n, 2);
	assert_int_equal(k_drain(f.k, see, &f.seen), 0);
	assert_int_equal(f.seen.n, 4);
	k_close(f.k);
}

static void rings_are_there_even_if_the_filler_never_was(void **state)
{
	struct handmade h;
	struct err e = { 0 };
	struct seen s = { 0 };
	struct k_run *k;
	uint32_t key;

	(void)state;
	HM_NEED_RIGHTS();
	writer(&h, -1, RING_NO_WAKEUP);
	k = opened(&h, NULL);
	assert_int_equal(rings_ready(k, &e), 0);
	for (key = 0; key < k_ncpus_possible(); key++)
		bpf_map_delete_elem(k->rings.outer, &key);
	k->rings.filled = false;
	fire(k, 1);
	assert_true(k->rings.filled);
	assert_int_equal(k_drain(k, see, &s), 0);
	assert_int_equal(s.n, 1);
	k_close(k);
}

static void the_filler_puts_each_ring_in_its_place(void **state)
{
	struct err e = { 0 };
	struct handmade h;
	struct k_run *k;
	uint32_t id, rings = 0;
	pid_t filler;

	(void)state;
	HM_NEED_RIGHTS();
	writer(&h, -1, RING_NO_WAKEUP);
	k = opened(&h, NULL);
	assert_false(k->rings.filled); /* nobody did its work */
	filler = k->rings.filler;
	assert_true(filler > 0);
	while (k->rings.filler > 0)
		rings_reap(&k->rings);
	assert_int_equal(waitpid(filler, NULL, __WALL | WNOHANG), -1); /* it has ended, and is no zombie */
	for (uint32_t cpu = 0; cpu < k_ncpus_possible(); cpu++) {
		bool has = k->rings.ring[cpu].fd >= 0;

		rings += has;
		assert_int_equal(bpf_map_lookup_elem(k->rings.outer, &cpu, &id) == 0, has);
	}
	assert_true(rings > 0);
	assert_int_equal(rings_ready(k, &e), 0);
	assert_true(k->rings.filled);
	for (uint32_t cpu = 0; cpu < k_ncpus_possible(); cpu++)
		bpf_map_delete_elem(k->rings.outer, &cpu);
	assert_int_equal(rings_ready(k, &e), 0); /* once is enough */
	for (uint32_t cpu = 0; cpu < k_ncpus_possible(); cpu++)
		assert_int_not_equal(bpf_map_lookup_elem(k->rings.outer, &cpu, &id), 0);
	k_close(k);
}

/* It has a place behind those of CPUs, and is in no program's array. */
static void the_control_ring_is_no_cpus(void **state)
{
	struct handmade h;
	struct k_run *k;

	(void)state;
	HM_NEED_RIGHTS();
	hm_init(&h);
	hm_map(&h, IMG_RINGBUF, IMG_CONTROL, 0, 0, RING_BYTES);
	hm_map(&h, IMG_RINGS, IMG_RING, 4, 4, RING_BYTES);
	k = opened(&h, NULL);
	assert_true(k->rings.ring[k_ncpus_possible()].fd >= 0);
	assert_true(k->rings.last < k_ncpus_possible());
	k_close(k);
}

static void image_without_rings_has_nothing_to_drain(void **state)
{
	struct handmade h;
	struct k_run *k;

	(void)state;
	hm_init(&h);
	k = opened(&h, NULL);
	assert_int_equal(k_drain(k, see, NULL), 0);
	assert_int_equal(k_wait(k, 0), 0);
	k_close(k);
}

static void ring_of_an_odd_size_is_refused(void **state)
{
	struct handmade h;
	struct err e = { 0 };
	struct k_run *k;

	(void)state;
	hm_init(&h);
	hm_map(&h, IMG_RINGS, IMG_RING, 4, 4, 5000);
	assert_int_equal(k_open(&k, &h.img, NULL, &e), -TALLY_EINVAL);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(records_come_in_order_from_their_cpu),
		cmocka_unit_test(records_without_room_are_dropped_and_counted),
		cmocka_unit_test(cpu_without_ring_counts_a_drop),
		cmocka_unit_test(record_is_offered_once_even_if_the_sink_fails),
		cmocka_unit_test(wait_ends_when_a_program_wakes_us),
		cmocka_unit_test(wait_ends_when_enough_lies_in_a_ring),
		cmocka_unit_test(one_record_in_the_control_ring_is_enough),
		cmocka_unit_test(what_comes_during_a_drain_is_for_the_next_one),
		cmocka_unit_test(rings_are_there_even_if_the_filler_never_was),
		cmocka_unit_test(the_filler_puts_each_ring_in_its_place),
		cmocka_unit_test(the_control_ring_is_no_cpus),
		cmocka_unit_test(image_without_rings_has_nothing_to_drain),
		cmocka_unit_test(ring_of_an_odd_size_is_refused),
	};

	return cmocka_run_group_tests_name("kernel: ring", tests, NULL, NULL);
}
