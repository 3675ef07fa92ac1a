/* driver_test.c: the driver's registers in their order, its rings, and the faults that it must not have. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <cmocka.h>

#include "ptt/device_test_int.h"
#include "ptt/driver.h"
#include "ptt/ptt.h"

enum { BASE = 0x3000000, MEMORY = PTT_BUFFERS * PTT_BUFFER_BYTES, MIB = 1 << 20, PER_BUFFER = PTT_BUFFER_BYTES / 32 };

/* A device, its driver, and what went between them. */
struct rig {
	struct guest g;
	struct ptt_driver *d;
	struct buf log;
	bool logging, deaf; /* deaf: interrupts don't reach the driver */
	long fails_at;      /* this access fails, and all after it; 0: none */
	long accesses;
	uint32_t pauses;
	/* a lie about a register; 0: none */
	uint32_t lie_off, lie;
	uint64_t now, fed;
};

static struct rig r;
static struct err e;

static int reg_read(void *arg, uint32_t off, uint32_t *value, struct err *err)
{
	struct rig *of = arg;

	if (of->fails_at && ++of->accesses >= of->fails_at)
		return err_set(err, TALLY_EIO, "the device is gone");
	*value = ptt_dev_read(of->g.dev, off);
	if (of->lie_off && off == of->lie_off)
		*value = of->lie;
	if (of->logging)
		buf_printf(&of->log, "R %03x -> %08x\n", off, *value);
	return 0;
}

static int reg_write(void *arg, uint32_t off, uint32_t value, struct err *err)
{
	struct rig *of = arg;

	if (of->fails_at && ++of->accesses >= of->fails_at)
		return err_set(err, TALLY_EIO, "the device is gone");
	if (of->logging)
		buf_printf(&of->log, "W %03x = %08x\n", off, value);
	ptt_dev_write(of->g.dev, off, value);
	return 0;
}

static void reg_pause(void *arg, uint32_t us)
{
	struct rig *of = arg;
	of->pauses += us;
}

static void on_irq(struct guest *g)
{
	struct rig *of = g->arg;
	struct err err = { 0 };

	if (!of->deaf && of->d)
		ptt_driver_interrupt(of->d, &err);
}

static int rig_driver(struct rig *of)
{
	const struct ptt_regs regs = { of, reg_read, reg_write, reg_pause };

	e = (struct err){ 0 };
	return ptt_driver_open(&of->d, &regs, of->g.memory, BASE, &e);
}

static int rig_device(struct rig *of)
{
	*of = (struct rig){ 0 };
	if (guest_open(&of->g, &(struct ptt_dev_opts){ .core = 2 }, BASE, MEMORY) < 0)
		return -TALLY_ENOMEM;
	of->g.on_irq = on_irq;
	of->g.arg = of;
	return 0;
}

static int open_rig(void **state)
{
	(void)state;
	assert_int_equal(rig_device(&r), 0);
	return rig_driver(&r);
}

static int close_rig(void **state)
{
	(void)state;
	ptt_driver_close(r.d);
	guest_close(&r.g);
	buf_free(&r.log);
	return 0;
}

static const struct ptt_ask wide = { .filter = 0x80001, .type = 7, .format = 1 };

static int start(size_t ring)
{
	e = (struct err){ 0 };
	return ptt_driver_start(r.d, &wide, ring, &e);
}

/* n packets that are recorded, each with its number, from 0 in each rig, as header DW1. */
static void feed(uint64_t n)
{
	static struct ptt_tlp t[4096];

	while (n) {
		const uint64_t k = n < COUNT(t) ? n : COUNT(t);
		for (uint64_t i = 0; i < k; i++)
			t[i] = (struct ptt_tlp){ .now = r.now++, .port = 1, .dw = { 0x60000001, (uint32_t)r.fed++ } };
		ptt_dev_packets(r.g.dev, t, k);
		n -= k;
	}
}

/* The records of `a` are number `from` and on. */
static uint64_t assert_numbers(const struct ptt_aux *a, uint64_t from)
{
	assert_int_equal(a->n % 32, 0);
	for (size_t at = 0; at < a->n; at += 32) {
		uint32_t number;
		memcpy(&number, a->p + at + 12, 4);
		if (number != (uint32_t)(from + at / 32))
			fail_msg("record %zu is number %u, not %u", at / 32, number, (uint32_t)(from + at / 32));
	}
	return from + a->n / 32;
}

/* ---- the order of registers ------------------------------------------------------------------------ */

static void tune_get(enum ptt_tune t, uint32_t want)
{
	uint32_t v;
	assert_int_equal(ptt_driver_tune_get(r.d, t, &v, &e), 0);
	assert_int_equal(v, want);
}

/* What the Linux driver was asked for in the recorded runs. In the first one its log starts behind the addresses. */
static void first_run(void)
{
	r.logging = true;
	assert_int_equal(rig_driver(&r), 0);
	buf_clear(&r.log);
	buf_puts(&r.log, "R fe0 -> 00a00080\nR fe8 -> 00000002\n");
	assert_int_equal(ptt_driver_tune_set(r.d, PTT_TUNE_qos_tx_p, 2, &e), 0);
	tune_get(PTT_TUNE_qos_tx_p, 2);
	assert_int_equal(ptt_driver_start(r.d,
					  &(struct ptt_ask){
						  .filter = 0x80001, .type = 7, .direction = 2, .format = 1 },
					  16 * MIB, &e),
			 0);
	r.logging = false;
	ptt_driver_close(r.d);
	ptt_dev_reset(r.g.dev);
}

static void second_run(void)
{
	static const uint32_t values[] = { 0, 1, 2, 3, 7, 65535 };

	r.logging = true;
	assert_int_equal(rig_driver(&r), 0);
	tune_get(PTT_TUNE_tx_alloc_buf_level, 2);
	tune_get(PTT_TUNE_rx_alloc_buf_level, 0);
	tune_get(PTT_TUNE_qos_tx_np, 1);
	tune_get(PTT_TUNE_qos_tx_p, 1);
	tune_get(PTT_TUNE_qos_tx_cpl, 1);
	for (size_t i = 0; i < COUNT(values); i++) {
		assert_int_equal(ptt_driver_tune_set(r.d, PTT_TUNE_qos_tx_cpl, values[i], &e), 0);
		tune_get(PTT_TUNE_qos_tx_cpl, values[i] < 2 ? values[i] : 2);
	}
	for (int i = 0; i < 4; i++) /* after values that the Linux driver refused */
		tune_get(PTT_TUNE_qos_tx_cpl, 2);
	assert_int_equal(ptt_driver_start(r.d, &(struct ptt_ask){ .filter = 0x00001, .type = 1 }, 16 * MIB, &e), 0);
}

static void registers_are_touched_as_by_the_linux_driver(void **state)
{
	FILE *f = fopen("test/fixture/ptt-mmio-golden.log", "r");
	struct buf want = { 0 };
	char line[128];

	(void)state;
	if (!f)
		skip();
	while (fgets(line, sizeof(line), f))
		if (line[0] == 'R' || line[0] == 'W')
			buf_puts(&want, line);
	fclose(f);
	ptt_driver_close(r.d);
	first_run();
	second_run();
	assert_string_equal(r.log.p, want.p);
	buf_free(&want);
}

static void an_interrupt_and_a_stop_touch_what_their_table_says(void **state)
{
	(void)state;
	assert_int_equal(start(16 * MIB), 0);
	r.logging = true;
	feed(PER_BUFFER);
	assert_string_equal(r.log.p, "R 890 -> 00000001\nW 890 = 00000001\n");
	assert_int_equal(ptt_driver_interrupt(r.d, &e), 0);
	feed(3);
	buf_clear(&r.log);
	assert_int_equal(ptt_driver_stop(r.d, &e), 0);
	assert_string_equal(r.log.p, "W 850 = 00000000\nW 894 = 0000000f\nR 8b0 -> 00000001\nR 890 -> 00000000\n"
				     "R 8a0 -> 10000060\n");
	buf_clear(&r.log);
	assert_int_equal(ptt_driver_stop(r.d, &e), 0);
	assert_int_equal(ptt_driver_interrupt(r.d, &e), 0);
	assert_int_equal(r.log.n, 0);
}

/* ---- opening ----------------------------------------------------------------------------------------- */

static void what_has_no_range_of_root_ports_is_no_device(void **state)
{
	static const uint32_t ranges[] = { 0, UINT32_MAX, 0x008000a0 };

	(void)state;
	ptt_driver_close(r.d);
	for (size_t i = 0; i < COUNT(ranges); i++) {
		r.d = NULL;
		r.lie_off = PTT_REG_DEVICE_RANGE;
		r.lie = ranges[i];
		assert_int_equal(rig_driver(&r), -TALLY_ENOTSUP);
		assert_non_null(strstr(e.text, "no PTT device"));
		assert_null(r.d);
	}
}

/* ---- tuning -------------------------------------------------------------------------------------------- */

static void a_value_above_65535_is_no_value(void **state)
{
	(void)state;
	assert_int_equal(ptt_driver_tune_set(r.d, PTT_TUNE_qos_tx_p, 65536, &e), -TALLY_EINVAL);
	assert_non_null(strstr(e.text, "qos_tx_p"));
	assert_int_equal(ptt_driver_tune_set(r.d, PTT_TUNE_qos_tx_p, UINT32_MAX, &(struct err){ 0 }), -TALLY_EINVAL);
	assert_int_equal(ptt_dev_tuned(r.g.dev, PTT_TUNE_qos_tx_p), 1);
}

static void a_device_that_stays_busy_is_given_up_after_a_second(void **state)
{
	uint32_t v = 77;

	(void)state;
	r.lie_off = PTT_REG_TUNING_INT_STAT;
	r.lie = 1;
	assert_int_equal(ptt_driver_tune_get(r.d, PTT_TUNE_qos_tx_np, &v, &e), -TALLY_EBUSY);
	assert_int_equal(v, 77);
	assert_int_equal(r.pauses, 1000000);
}

static void a_tunable_keeps_the_bits_above_its_code(void **state)
{
	(void)state;
	ptt_dev_write(r.g.dev, PTT_REG_TUNING_CTRL, 0xab000000);
	tune_get(PTT_TUNE_qos_tx_np, 1);
	assert_int_equal(ptt_dev_read(r.g.dev, PTT_REG_TUNING_CTRL), 0xab040004);
}

/* ---- the rings -------------------------------------------------------------------------------------------- */

static void three_rings_lose_nothing_when_they_are_read(void **state)
{
	static const size_t sizes[] = { 4 * MIB, 16 * MIB, 32 * MIB };
	struct ptt_aux a;

	(void)state;
	for (size_t i = 0; i < COUNT(sizes); i++) {
		uint64_t from = r.fed, next = from, n = 3 * sizes[i] / 32 + 77;
		const uint8_t *at[2] = { 0 };

		assert_int_equal(start(sizes[i]), 0);
		for (uint64_t left = n; left;) {
			const uint64_t k = left < 30000 ? left : 30000;
			feed(k);
			left -= k;
			while (ptt_driver_take(r.d, &a)) {
				assert_int_equal(a.n, sizes[i]);
				assert_int_equal(a.flags, 0);
				next = assert_numbers(&a, next);
				assert_true(!at[0] || a.p == at[0] || !at[1] || a.p == at[1]);
				at[at[0] && a.p != at[0]] = a.p;
			}
		}
		assert_int_equal(ptt_driver_stop(r.d, &e), 0);
		while (ptt_driver_take(r.d, &a)) {
			assert_int_equal(a.lost + a.flags, 0);
			next = assert_numbers(&a, next);
		}
		assert_int_equal(next, from + n);
		assert_int_equal(ptt_dev_counts(r.g.dev)->recorded, n);
		assert_int_equal(ptt_dev_counts(r.g.dev)->lost, 0);
	}
}

static void a_late_reader_loses_whole_buffers_and_is_told_how_many_records(void **state)
{
	struct ptt_aux a;
	uint64_t next;

	(void)state;
	assert_int_equal(start(8 * MIB), 0);
	assert_true(ptt_driver_has_room(r.d));
	feed(4 * PER_BUFFER);
	assert_false(ptt_driver_has_room(r.d));
	feed(3 * PER_BUFFER); /* lost */
	assert_int_equal(ptt_driver_take(r.d, &a), 1);
	next = assert_numbers(&a, 0);
	assert_int_equal(a.flags, 0);
	assert_false(ptt_driver_has_room(r.d)); /* it is still being read */
	feed(PER_BUFFER);                       /* lost too */
	assert_int_equal(ptt_driver_take(r.d, &a), 1);
	next = assert_numbers(&a, next);
	assert_int_equal(next, 4 * PER_BUFFER);
	assert_int_equal(a.lost + a.flags, 0);
	assert_true(ptt_driver_has_room(r.d));
	assert_int_equal(ptt_driver_take(r.d, &a), 0);
	feed(2 * PER_BUFFER);
	assert_int_equal(ptt_driver_take(r.d, &a), 1);
	assert_int_equal(a.flags, PTT_AUX_TRUNCATED);
	assert_int_equal(a.lost, 4 * PER_BUFFER);
	assert_numbers(&a, 8 * PER_BUFFER);
	feed(2 * PER_BUFFER);
	assert_int_equal(ptt_driver_take(r.d, &a), 1);
	assert_int_equal(a.lost + a.flags, 0);
	assert_numbers(&a, 10 * PER_BUFFER);
}

static void the_end_of_a_trace_is_not_lost_when_the_rings_are_full(void **state)
{
	struct ptt_aux a;
	uint64_t next = 0;

	(void)state;
	for (int trace = 0; trace < 2; trace++) { /* the second finds no rest of the first */
		uint64_t got = 0;

		r.deaf = false;
		assert_int_equal(start(4 * MIB), 0);
		feed(2 * PER_BUFFER);
		r.deaf = true;
		feed(2 * PER_BUFFER + 9);
		assert_int_equal(ptt_driver_stop(r.d, &e), 0);
		while (ptt_driver_take(r.d, &a)) {
			assert_int_equal(a.lost + a.flags, 0);
			next = assert_numbers(&a, next);
			got++;
		}
		assert_int_equal(got, 5);
		assert_int_equal(next, r.fed);
	}
}

static void loss_that_nothing_comes_after_is_told_at_the_end(void **state)
{
	struct ptt_aux a;

	(void)state;
	assert_int_equal(start(4 * MIB), 0);
	feed(3 * PER_BUFFER);
	assert_int_equal(ptt_driver_stop(r.d, &e), 0);
	for (int i = 0; i < 2; i++) {
		assert_int_equal(ptt_driver_take(r.d, &a), 1);
		assert_int_equal(a.lost + a.flags, 0);
	}
	assert_int_equal(ptt_driver_take(r.d, &a), 1);
	assert_int_equal(a.n, 0);
	assert_int_equal(a.flags, PTT_AUX_TRUNCATED);
	assert_int_equal(a.lost, PER_BUFFER);
	assert_int_equal(ptt_driver_take(r.d, &a), 0);
}

static void what_was_left_untaken_counts_as_lost_in_the_next_trace(void **state)
{
	struct ptt_aux a;

	(void)state;
	assert_int_equal(start(8 * MIB), 0);
	feed(2 * PER_BUFFER + 5);
	assert_int_equal(ptt_driver_take(r.d, &a), 1);
	assert_int_equal(ptt_driver_stop(r.d, &e), 0);
	for (int i = 0; i < 2; i++) {
		assert_int_equal(start(i ? 4 * MIB : 8 * MIB), 0);
		feed(10);
		assert_int_equal(ptt_driver_stop(r.d, &e), 0);
		if (i == 0)
			continue;
		assert_int_equal(ptt_driver_take(r.d, &a), 1);
		assert_int_equal(a.n, 320);
		assert_int_equal(a.lost, 15);
		assert_int_equal(a.flags, PTT_AUX_TRUNCATED);
	}
}

static void what_was_lost_before_and_not_told_is_told_in_the_next_trace(void **state)
{
	struct ptt_aux a;

	(void)state;
	/* two rings of a buffer each are full and lent; the third buffer is lost, and the rest has no place */
	assert_int_equal(start(4 * MIB), 0);
	feed(3 * PER_BUFFER);
	feed(7);
	assert_int_equal(ptt_driver_take(r.d, &a), 1);
	assert_int_equal(a.lost, 0);
	assert_int_equal(ptt_driver_stop(r.d, &e), 0);
	/* what was handed out is not lost; the second ring, the third buffer and the rest are */
	assert_int_equal(start(4 * MIB), 0);
	feed(1);
	assert_int_equal(ptt_driver_stop(r.d, &e), 0);
	assert_int_equal(ptt_driver_take(r.d, &a), 1);
	assert_int_equal(a.n, 32);
	assert_int_equal(a.lost, 2 * PER_BUFFER + 7);
	assert_int_equal(a.flags, PTT_AUX_TRUNCATED);
	assert_int_equal(ptt_driver_take(r.d, &a), 0);
	/* once */
	assert_int_equal(start(4 * MIB), 0);
	feed(1);
	assert_int_equal(ptt_driver_stop(r.d, &e), 0);
	assert_int_equal(ptt_driver_take(r.d, &a), 1);
	assert_int_equal(a.lost + a.flags, 0);
}

/* The Linux driver clears all bits and copies one buffer. */
static void several_finished_buffers_are_copied_in_their_order(void **state)
{
	struct ptt_aux a;
	uint64_t next = 0;

	(void)state;
	for (uint32_t first = 0; first < PTT_BUFFERS; first++)
		for (uint32_t n = 1; n <= PTT_BUFFERS; n++) {
			assert_int_equal(start(4 * MIB), 0);
			for (uint32_t i = 0; i < first; i++) {
				feed(PER_BUFFER);
				assert_int_equal(ptt_driver_take(r.d, &a), 1);
				next = assert_numbers(&a, next);
			}
			assert_int_equal(ptt_driver_stop(r.d, &e), 0);
			assert_int_equal(ptt_driver_take(r.d, &a), 0);
			assert_int_equal(start(16 * MIB), 0);
			r.deaf = true;
			feed(n * PER_BUFFER);
			r.deaf = false;
			assert_int_equal(ptt_driver_interrupt(r.d, &e), 0);
			assert_int_equal(ptt_dev_read(r.g.dev, PTT_REG_TRACE_INT_STAT), 0);
			feed(7);
			assert_int_equal(ptt_driver_stop(r.d, &e), 0);
			while (ptt_driver_take(r.d, &a)) {
				assert_int_equal(a.lost + a.flags, 0);
				next = assert_numbers(&a, next);
			}
			assert_int_equal(next, r.fed);
		}
}

/* ---- a device that lies -------------------------------------------------------------------------------------- */

static void a_write_status_beyond_the_buffer_is_clamped(void **state)
{
	struct ptt_aux a;

	(void)state;
	assert_int_equal(start(8 * MIB), 0);
	feed(PER_BUFFER + 5);
	r.lie_off = PTT_REG_TRACE_WR_STS;
	r.lie = 0xffffffff;
	assert_int_equal(ptt_driver_stop(r.d, &e), 0);
	assert_int_equal(ptt_driver_take(r.d, &a), 1);
	assert_int_equal(a.n, 2 * PTT_BUFFER_BYTES);
	assert_int_equal(ptt_driver_take(r.d, &a), 0);
}

static void a_device_that_does_not_reset_is_refused_and_left_out_of_reset(void **state)
{
	(void)state;
	r.lie_off = PTT_REG_TRACE_WR_STS;
	r.lie = 16;
	assert_int_equal(start(16 * MIB), -TALLY_EBUSY);
	assert_non_null(strstr(e.text, "reset"));
	assert_int_equal(r.pauses, 10);
	assert_int_equal(ptt_dev_read(r.g.dev, PTT_REG_TRACE_CTRL), 0);
	r.lie_off = 0;
	assert_int_equal(start(16 * MIB), 0);
}

static void a_device_that_does_not_stop_is_told_and_its_bytes_are_kept(void **state)
{
	struct ptt_aux a;

	(void)state;
	assert_int_equal(start(16 * MIB), 0);
	feed(5);
	r.lie_off = PTT_REG_TRACE_STS;
	r.lie = 0;
	assert_int_equal(ptt_driver_stop(r.d, &e), -TALLY_EBUSY);
	assert_int_equal(ptt_driver_take(r.d, &a), 1);
	assert_int_equal(a.n, 5 * 32);
}

static void a_device_that_another_one_traces_with_is_busy(void **state)
{
	(void)state;
	ptt_dev_write(r.g.dev, PTT_REG_TRACE_CTRL, 1);
	assert_int_equal(start(16 * MIB), -TALLY_EBUSY);
	assert_non_null(strstr(e.text, "the device is busy"));
	assert_int_equal(ptt_dev_read(r.g.dev, PTT_REG_TRACE_CTRL), 1);
}

static void a_lost_device_leaves_the_committed_bytes(void **state)
{
	struct ptt_aux a;

	(void)state;
	assert_int_equal(start(16 * MIB), 0);
	feed(PER_BUFFER + 5);
	r.fails_at = 1;
	assert_int_equal(ptt_driver_stop(r.d, &e), -TALLY_EIO);
	assert_int_equal(ptt_driver_take(r.d, &a), 1);
	assert_int_equal(a.n, PTT_BUFFER_BYTES);
	assert_numbers(&a, 0);
	assert_int_equal(ptt_driver_take(r.d, &a), 0);
}

static int whole_trace(struct rig *of)
{
	struct ptt_aux a;
	uint64_t next = 0;
	uint32_t v;
	int rc = rig_driver(of);

	if (rc < 0 || (rc = ptt_driver_tune_set(of->d, PTT_TUNE_qos_tx_p, 2, &e)) < 0 ||
	    (rc = ptt_driver_tune_get(of->d, PTT_TUNE_qos_tx_p, &v, &e)) < 0 ||
	    (rc = ptt_driver_start(of->d, &wide, 4 * MIB, &e)) < 0)
		return rc;
	feed(PER_BUFFER + 1);
	rc = ptt_driver_interrupt(of->d, &e);
	if (rc >= 0)
		rc = ptt_driver_stop(of->d, &e);
	while (ptt_driver_take(of->d, &a))
		next = assert_numbers(&a, next);
	return rc;
}

static void every_access_may_be_the_one_that_fails(void **state)
{
	int rc = -1;

	(void)state;
	for (long n = 1; rc < 0; n++) {
		close_rig(NULL);
		assert_int_equal(rig_device(&r), 0);
		r.fails_at = n;
		rc = whole_trace(&r);
		if (rc < 0) {
			assert_int_equal(rc, -TALLY_EIO);
			assert_string_equal(e.text, "the device is gone");
		}
		assert_true(n < 100);
	}
}

static void every_allocation_may_be_the_one_that_fails(void **state)
{
	(void)state;
	for (long n = 1;; n++) {
		long before;
		int rc;

		close_rig(NULL);
		assert_int_equal(rig_device(&r), 0);
		before = mem_live();
		mem_fail_at(n);
		rc = whole_trace(&r);
		if (!mem_failed())
			break;
		assert_int_equal(rc, -TALLY_ENOMEM);
		ptt_driver_close(r.d);
		r.d = NULL;
		assert_int_equal(mem_live(), before);
	}
	mem_fail_at(0);
}

/* ---- the two faults of the Linux driver ------------------------------------------------------------------------ */

/* There, an event that is refused since another one is open still sets whether the filter is a port: the other one then
 * traces with CTRL 00018011 for 00010011. */
static void a_refused_second_start_leaves_the_first_trace_alone(void **state)
{
	const struct ptt_ask first = { .filter = 0x80001, .type = 1 }, second = { .filter = 0x00100, .type = 1 };
	struct ptt_aux a;

	(void)state;
	assert_int_equal(ptt_driver_start(r.d, &first, 16 * MIB, &e), 0);
	assert_int_equal(ptt_dev_read(r.g.dev, PTT_REG_TRACE_CTRL), 0x00010011);
	feed(2);
	r.logging = true;
	assert_int_equal(ptt_driver_start(r.d, &second, 4 * MIB, &e), -TALLY_EBUSY);
	assert_non_null(strstr(e.text, "already running"));
	assert_int_equal(r.log.n, 0);
	assert_int_equal(ptt_dev_read(r.g.dev, PTT_REG_TRACE_CTRL), 0x00010011);
	feed(3);
	assert_int_equal(ptt_driver_stop(r.d, &e), 0);
	assert_int_equal(ptt_driver_take(r.d, &a), 1);
	assert_int_equal(a.n, 5 * 16);
	/* And between two traces, what was refused leaves nothing behind. */
	assert_int_equal(ptt_driver_start(r.d, &second, 5, &(struct err){ 0 }), -TALLY_EINVAL);
	assert_int_equal(ptt_driver_start(r.d, &first, 16 * MIB, &e), 0);
	assert_int_equal(ptt_dev_read(r.g.dev, PTT_REG_TRACE_CTRL), 0x00010011);
}

/* There, a trace that was stopped at 15 of 16 MiB and is started again copies its first whole buffer past the
 * ring's end. ASan watches the ring here. */
static void a_start_behind_a_partial_buffer_writes_nothing_past_the_ring(void **state)
{
	(void)state;
	for (int taken = 0; taken < 2; taken++)
		for (uint32_t part = 1; part < PER_BUFFER; part += PER_BUFFER / 4 - 1) {
			uint64_t next = r.fed, lost = 0, from = r.fed;
			struct ptt_aux a;

			assert_int_equal(start(16 * MIB), 0);
			feed(3 * PER_BUFFER + part);
			assert_int_equal(ptt_driver_stop(r.d, &e), 0);
			while (taken && ptt_driver_take(r.d, &a))
				next = assert_numbers(&a, next);
			assert_int_equal(start(16 * MIB), 0);
			if (!taken)
				next += 3 * PER_BUFFER + part;
			for (int i = 0; i < 10; i++) {
				feed(PER_BUFFER);
				while (ptt_driver_take(r.d, &a)) {
					lost += a.lost;
					assert_true(a.n <= 16 * MIB);
					next = assert_numbers(&a, next);
				}
			}
			assert_int_equal(ptt_driver_stop(r.d, &e), 0);
			while (ptt_driver_take(r.d, &a))
				next = assert_numbers(&a, next);
			assert_int_equal(next, r.fed);
			assert_int_equal(r.fed - from, 13 * PER_BUFFER + part);
			assert_int_equal(lost, taken ? 0 : 3 * PER_BUFFER + part);
		}
}

/* ---- the whole way ---------------------------------------------------------------------------------------------- */

/* Any packets, either format: what was taken decodes to those that were selected, and the counts agree. */
static void what_is_taken_is_what_was_selected(void **state)
{
	enum { N = 700000, RUN = 1000 };
	static struct ptt_tlp t[RUN];
	uint64_t seed = 9;

	(void)state;
	for (int format = 0; format < 2; format++) {
		const struct ptt_ask ask = { .filter = 0x80105, .type = 5, .direction = 2, .format = (uint8_t)format };
		const struct ptt_decode_opts o = { .format = format ? PTT_8DW : PTT_4DW, .time = PTT_TIME_ABS };
		struct ptt_clock clock = { 0 };
		uint64_t want = 0, got = 0, want_sum = 0, got_sum = 0, now = r.now;
		struct ptt_aux a;

		e = (struct err){ 0 };
		assert_int_equal(ptt_driver_start(r.d, &ask, 4 * MIB, &e), 0);
		for (int i = 0; i < N; i += RUN) {
			for (int k = 0; k < RUN; k++) {
				t[k] = any_packet(&seed, now += chance(&seed, 50));
				bool out = t[k].outbound, p = t[k].cls == PTT_CLASS_P, np = t[k].cls == PTT_CLASS_NP;
				if ((t[k].port & 0x105) && !np && (out ? !format : p || t[k].cls == PTT_CLASS_CPL_B)) {
					want++;
					want_sum += (uint64_t)t[k].dw[1] * want;
				}
			}
			ptt_dev_packets(r.g.dev, t, RUN);
			if (i + RUN == N)
				assert_int_equal(ptt_driver_stop(r.d, &e), 0);
			while (ptt_driver_take(r.d, &a)) {
				assert_int_equal(a.lost + a.flags, 0);
				for (size_t at = 0; at < a.n; at += 4 * o.format) {
					struct tlp d;
					uint32_t dw1;
					ptt_decode(a.p + at, &o, &clock, &d);
					memcpy(&dw1, a.p + at + (format ? 12 : 4), 4);
					got++;
					got_sum += (uint64_t)dw1 * got;
				}
			}
		}
		r.now = now;
		const struct ptt_dev_counts *c = ptt_dev_counts(r.g.dev);
		assert_int_equal(got, want);
		assert_int_equal(got_sum, want_sum);
		assert_int_equal(c->seen, N);
		assert_int_equal(c->recorded, want);
		assert_int_equal(c->filtered, N - want);
		assert_int_equal(c->lost + c->dma_errors, 0);
	}
}

#define TEST(f) cmocka_unit_test_setup_teardown(f, open_rig, close_rig)
int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(registers_are_touched_as_by_the_linux_driver),
		TEST(an_interrupt_and_a_stop_touch_what_their_table_says),

		TEST(what_has_no_range_of_root_ports_is_no_device),
		TEST(a_value_above_65535_is_no_value),
		TEST(a_device_that_stays_busy_is_given_up_after_a_second),
		TEST(a_tunable_keeps_the_bits_above_its_code),
		TEST(three_rings_lose_nothing_when_they_are_read),
		TEST(a_late_reader_loses_whole_buffers_and_is_told_how_many_records),
		TEST(the_end_of_a_trace_is_not_lost_when_the_rings_are_full),
		TEST(loss_that_nothing_comes_after_is_told_at_the_end),
		TEST(what_was_left_untaken_counts_as_lost_in_the_next_trace),
		TEST(what_was_lost_before_and_not_told_is_told_in_the_next_trace),
		TEST(several_finished_buffers_are_copied_in_their_order),
		TEST(a_write_status_beyond_the_buffer_is_clamped),
		TEST(a_device_that_does_not_reset_is_refused_and_left_out_of_reset),
		TEST(a_device_that_does_not_stop_is_told_and_its_bytes_are_kept),
		TEST(a_device_that_another_one_traces_with_is_busy),
		TEST(a_lost_device_leaves_the_committed_bytes),
		TEST(every_access_may_be_the_one_that_fails),
		TEST(every_allocation_may_be_the_one_that_fails),
		TEST(a_refused_second_start_leaves_the_first_trace_alone),
		TEST(a_start_behind_a_partial_buffer_writes_nothing_past_the_ring),
		TEST(what_is_taken_is_what_was_selected),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
