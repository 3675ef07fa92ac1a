/* kunpeng_pmus_test.c: the machine as a platform: what is recorded through it is what crossed. */
#include "machine/kunpeng_test_int.h"

enum { BLOCK_BYTES = 64 << 10 }; /* what a device writes at once */

static struct ptt_pmus platform(const char *load, uint64_t seed, struct kunpeng **k)
{
	struct ptt_pmus p = { 0 };
	struct err e = { 0 };

	*k = machine(load, seed);
	assert_int_equal(kunpeng_pmus(&p, *k, &e), 0);
	return p;
}

static struct ptt_ask ask(uint32_t filter, uint8_t type, uint8_t direction, uint8_t format)
{
	return (struct ptt_ask){ .filter = filter, .type = type, .direction = direction, .format = format };
}

static const struct ptt_pmu *pmu_at(struct ptt_pmus *p, uint32_t i)
{
	const struct ptt_pmu *pmu;
	uint32_t n;

	assert_int_equal(p->op->list(p->arg, &pmu, &n, NULL), 0);
	assert_int_equal(n, 2);
	return &pmu[i];
}

struct sum {
	uint64_t records, bytes[3], class[3], lost, chunks;
	struct ptt_clock clock;
};

static void add(struct sum *s, const struct ptt_aux *a, enum ptt_format f)
{
	const struct ptt_decode_opts o = { .format = f, .time = PTT_TIME_ABS };

	s->chunks++;
	s->lost += a->lost + (a->flags & PTT_AUX_TRUNCATED);
	assert_int_equal(a->n % (4 * f), 0);
	for (size_t at = 0; at < a->n; at += 4 * f) {
		struct tlp t;
		ptt_decode(a->p + at, &o, &s->clock, &t);
		assert_true(t.class < 3);
		s->class[t.class]++;
		s->bytes[t.class] += t.bytes;
		s->records++;
	}
}

static void drain(struct ptt_pmus *p, struct sum *s, enum ptt_format f)
{
	struct ptt_aux a;
	struct err e = { 0 };

	while (p->op->next(p->arg, &a, 0, &e) == 1)
		add(s, &a, f);
}

static void what_is_recorded_is_what_crossed(void **state)
{
	static const struct {
		const char *load;
		uint32_t device;
		uint64_t ns, chunks;
		uint8_t format;
	} rows[] = {
		{ "mixed", 1, 3000000, 1, 1 },
		{ "contended", 0, 5000000, 2, 1 },
		{ "full", 1, 3000000, 1, 0 },
		{ "idle", 0, 1000000, 1, 0 },
	};

	(void)state;
	for (size_t i = 0; i < COUNT(rows); i++) {
		enum ptt_format f = rows[i].format ? PTT_8DW : PTT_4DW;
		struct ptt_ask ev = ask(0x80015, 7, 1, rows[i].format);
		struct sum s = { 0 };
		struct kunpeng *k;
		struct ptt_pmus p = platform(rows[i].load, i + 1, &k);
		struct err e = { 0 };
		assert_int_equal(p.op->start(p.arg, pmu_at(&p, rows[i].device), &ev, PTT_BUFFER_BYTES, &e), 0);
		for (uint64_t now = 0; now < rows[i].ns; drain(&p, &s, f))
			now += p.op->advance(p.arg, rows[i].ns - now);
		assert_int_equal((p.op->stop)(p.arg, &e), 0); /* cmocka 2 has a macro stop() */
		drain(&p, &s, f);
		const struct kunpeng_truth *t = kunpeng_truth(k, rows[i].device);
		assert_int_equal(t->ns, rows[i].ns);
		assert_int_equal(s.lost, 0);
		assert_int_equal(s.records, all_tlps(t, true));
		assert_int_equal(s.class[TLP_P], t -> tlps[1][PTT_CLASS_P]);
		assert_int_equal(s.class[TLP_NP], t -> tlps[1][PTT_CLASS_NP]);
		assert_int_equal(s.class[TLP_CPL], t -> tlps[1][PTT_CLASS_CPL_A]);
		assert_int_equal(s.bytes[TLP_P], t->bytes[1][PTT_CLASS_P]);
		assert_int_equal(s.bytes[TLP_CPL], t->bytes[1][PTT_CLASS_CPL_A]);
		assert_true(s.chunks >= rows[i].chunks);
		p.op->close(p.arg);
		assert_int_equal(mem_live(), 0);
	}
}

static void time_stands_still_while_nobody_reads(void **state)
{
	struct ptt_ask ev = ask(0x80015, 7, 2, 1);
	struct sum s = { 0 };
	struct kunpeng *k;
	struct ptt_pmus p = platform("contended", 1, &k);
	struct err e = { 0 };
	uint64_t passed = 0, one;

	(void)state;
	assert_int_equal(p.op->start(p.arg, pmu_at(&p, 1), &ev, PTT_BUFFER_BYTES, &e), 0);
	while ((one = p.op->advance(p.arg, 1000000)) != 0)
		passed += one;
	assert_true(passed > 0 && passed < 200000000);
	assert_int_equal(kunpeng_now(k), passed);
	assert_int_equal(p.op->advance(p.arg, 1), 0);
	drain(&p, &s, PTT_8DW);
	assert_true(p.op->advance(p.arg, 1000) == 1000);
	assert_int_equal((p.op->stop)(p.arg, &e), 0);
	drain(&p, &s, PTT_8DW);
	const struct kunpeng_truth *t = kunpeng_truth(k, 1);
	assert_int_equal(s.lost, 0);
	assert_int_equal(s.records, all_tlps(t, false) - t->tlps[0][PTT_CLASS_CPL_A]);
	p.op->close(p.arg);
}

static void a_trace_that_is_not_read_to_its_end_does_not_stop_time(void **state)
{
	struct ptt_ask ev = ask(0x80015, 7, 1, 1);
	struct kunpeng *k;
	struct ptt_pmus p = platform("contended", 1, &k);
	struct ptt_aux a;

	(void)state;
	assert_int_equal(p.op->start(p.arg, pmu_at(&p, 1), &ev, PTT_BUFFER_BYTES, NULL), 0);
	while (p.op->advance(p.arg, 10000000) != 0)
		;
	assert_int_equal((p.op->stop)(p.arg, NULL), 0);
	assert_int_equal(p.op->advance(p.arg, 100000), 100000);
	assert_int_equal(p.op->next(p.arg, &a, 0, NULL), 1);
	assert_int_equal(p.op->start(p.arg, pmu_at(&p, 0), &ev, PTT_BUFFER_BYTES, NULL), 0);
	assert_int_equal(p.op->advance(p.arg, 100000), 100000);
	p.op->close(p.arg);
	assert_int_equal(mem_live(), 0);
}

/* Whoever writes to the device's registers, it reaches no memory but its buffers: those of device 0 begin at 4 GiB. */
static void a_device_that_is_sent_elsewhere_writes_nothing(void **state)
{
	static const uint64_t begin = 1ull << 32, end = begin + (uint64_t)PTT_BUFFERS * PTT_BUFFER_BYTES;
	const struct {
		uint64_t base;
		bool whole; /* not even the first block of records fits */
	} rows[] = { { 0, true },
		     { begin - PTT_BUFFER_BYTES, true },
		     { end - 32, true },
		     { end - 100000, false },
		     { end - BLOCK_BYTES, false },
		     { end, true },
		     { end + (1ull << 40), true } };
	struct ptt_ask ev = ask(0x80015, 7, 1, 1);

	(void)state;
	for (size_t i = 0; i < COUNT(rows); i++) {
		struct kunpeng *k;
		struct ptt_pmus p = platform("contended", 1, &k);
		struct ptt_dev *dev = kunpeng_device(k, 0);

		assert_int_equal(p.op->start(p.arg, pmu_at(&p, 0), &ev, PTT_BUFFER_BYTES, NULL), 0);
		const uint32_t ctrl = ptt_dev_read(dev, PTT_REG_TRACE_CTRL);
		ptt_dev_write(dev, PTT_REG_TRACE_CTRL, 0);
		ptt_dev_write(dev, PTT_REG_TRACE_ADDR_BASE_LO_0, (uint32_t)rows[i].base);
		ptt_dev_write(dev, PTT_REG_TRACE_ADDR_BASE_HI_0, (uint32_t)(rows[i].base >> 32));
		ptt_dev_write(dev, PTT_REG_TRACE_CTRL, ctrl);
		assert_int_equal(p.op->advance(p.arg, 1000000), 1000000);
		(void)ptt_dev_read(dev, PTT_REG_TRACE_WR_STS); /* what is recorded is written */
		const struct ptt_dev_counts *c = ptt_dev_counts(dev);
		assert_true(c->dma_errors > 0);
		assert_int_equal(c->dma_errors == c->recorded, rows[i].whole);
		p.op->close(p.arg);
	}
}

static void a_second_trace_is_refused_until_the_first_stops(void **state)
{
	struct ptt_ask ev = ask(0x80001, 1, 1, 1);
	struct kunpeng *k;
	struct ptt_pmus p = platform("mixed", 1, &k);
	struct ptt_aux a;

	(void)state;
	assert_int_equal(p.op->next(p.arg, &a, 0, NULL), 0);
	assert_int_equal((p.op->stop)(p.arg, NULL), 0);
	assert_int_equal(p.op->start(p.arg, pmu_at(&p, 1), &ev, 4 * PTT_BUFFER_BYTES, NULL), 0);
	for (uint32_t i = 0; i < 2; i++) {
		struct err e = { 0 };
		assert_int_equal(p.op->start(p.arg, pmu_at(&p, i), &ev, PTT_BUFFER_BYTES, &e), -TALLY_EBUSY);
		assert_non_null(strstr(e.text, "hisi_ptt0_2 is running"));
	}
	assert_int_equal((p.op->stop)(p.arg, NULL), 0);
	assert_int_equal(p.op->start(p.arg, pmu_at(&p, 0), &ev, PTT_BUFFER_BYTES, NULL), 0);
	p.op->close(p.arg);
	assert_int_equal(mem_live(), 0);
}

static void strangers_are_refused(void **state)
{
	const struct ptt_pmu stranger = { .name = "hisi_ptt9_9" };
	struct ptt_ask ev = ask(0x80001, 1, 1, 1);
	struct kunpeng *k;
	struct ptt_pmus p = platform("idle", 1, &k);
	struct err e[3] = { { 0 } };
	uint32_t v;

	(void)state;
	assert_int_equal(p.op->start(p.arg, &stranger, &ev, PTT_BUFFER_BYTES, &e[0]), -TALLY_EINVAL);
	assert_non_null(strstr(e[0].text, "hisi_ptt9_9"));
	assert_int_equal(p.op->tune_get(p.arg, 2, PTT_TUNE_qos_tx_p, &v, &e[1]), -TALLY_EINVAL);
	assert_int_equal(p.op->tune_set(p.arg, 2, PTT_TUNE_qos_tx_p, 1, &e[2]), -TALLY_EINVAL);
	p.op->close(p.arg);
}

static void tunables_are_read_and_set_through_the_driver(void **state)
{
	struct kunpeng *k;
	struct ptt_pmus p = platform("mixed", 1, &k);
	uint32_t v;

	(void)state;
	for (int t = 0; t < PTT_TUNES; t++) {
		assert_int_equal(p.op->tune_get(p.arg, 1, (enum ptt_tune)t, &v, NULL), 0);
		assert_int_equal(v, at_reset[t]);
		assert_int_equal(p.op->tune_set(p.arg, 1, (enum ptt_tune)t, 65535, NULL), 0);
		assert_int_equal(p.op->tune_get(p.arg, 1, (enum ptt_tune)t, &v, NULL), 0);
		assert_int_equal(v, 2);
		assert_int_equal(ptt_dev_tuned(kunpeng_device(k, 1), (enum ptt_tune)t), 2);
		assert_int_equal(ptt_dev_tuned(kunpeng_device(k, 0), (enum ptt_tune)t), at_reset[t]);
	}
	p.op->close(p.arg);
}

static void a_list_stays_as_it_was_until_the_next(void **state)
{
	struct kunpeng *k;
	struct ptt_pmus p = platform("idle", 1, &k);
	const struct ptt_pmu *pmu = pmu_at(&p, 1);

	(void)state;
	assert_string_equal(pmu->name, "hisi_ptt0_2");
	assert_int_equal(pmu->nfilters, 10);
	struct ptt_filter before[10];
	memcpy(before, pmu->filter, sizeof(before));
	assert_int_equal(kunpeng_plug(k, "01:00.0", false, NULL), 0);
	assert_memory_equal(before, pmu->filter, sizeof(before));
	assert_int_equal(pmu_at(&p, 1)->nfilters, 9);
	p.op->close(p.arg);
}

static void every_failing_allocation_is_reported(void **state)
{
	(void)state;
	for (long n = 1;; n++) {
		struct kunpeng *k = machine("mixed", 1);
		struct ptt_ask ev = ask(0x80001, 1, 1, 1);
		struct ptt_pmus p = { 0 };
		struct err e = { 0 };
		mem_fail_at(n);
		int rc = kunpeng_pmus(&p, k, &e);
		const struct ptt_pmu *pmu;
		uint32_t count;
		if (rc >= 0)
			rc = p.op->list(p.arg, &pmu, &count, &e);
		if (rc >= 0)
			rc = p.op->start(p.arg, &pmu[1], &ev, PTT_BUFFER_BYTES, &e);
		bool reached = mem_failed();
		mem_fail_at(0);
		assert_int_equal(rc, reached ? -TALLY_ENOMEM : 0);
		if (p.arg != NULL)
			p.op->close(p.arg);
		assert_int_equal(mem_live(), 0);
		if (!reached)
			break;
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(what_is_recorded_is_what_crossed),
		cmocka_unit_test(time_stands_still_while_nobody_reads),
		cmocka_unit_test(a_trace_that_is_not_read_to_its_end_does_not_stop_time),
		cmocka_unit_test(a_device_that_is_sent_elsewhere_writes_nothing),
		cmocka_unit_test(a_second_trace_is_refused_until_the_first_stops),
		cmocka_unit_test(strangers_are_refused),
		cmocka_unit_test(tunables_are_read_and_set_through_the_driver),
		cmocka_unit_test(a_list_stays_as_it_was_until_the_next),
		cmocka_unit_test(every_failing_allocation_is_reported),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
