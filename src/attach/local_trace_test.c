/* local_trace_test.c: traces over the local protocol, and the memory that is left of them. */
#include "attach/local_ptt_test_int.h"

/* ---- traces -------------------------------------------------------------------------------------------------- */

/* A device of a machine in this process, with a driver of its own: what the other end must give too. */
struct here {
	struct kunpeng *k;
	struct ptt_dev *dev;
	struct ptt_driver *driver;
	uint8_t *memory;
	struct got got;
};

static int here_read(void *arg, uint32_t off, uint32_t *value, struct err *e)
{
	(void)e;
	*value = ptt_dev_read(((struct here *)arg)->dev, off);
	return 0;
}

static int here_write(void *arg, uint32_t off, uint32_t value, struct err *e)
{
	(void)e;
	ptt_dev_write(((struct here *)arg)->dev, off, value);
	return 0;
}

static int here_dma(void *arg, uint64_t to, const void *p, size_t n)
{
	memcpy(((struct here *)arg)->memory + to, p, n);
	return 0;
}

static void here_irq(void *arg)
{
	struct here *h = arg;
	struct ptt_aux a;
	struct err e = { 0 };

	must(ptt_driver_interrupt(h->driver, &e), &e);
	while (ptt_driver_take(h->driver, &a) > 0)
		buf_put(&h->got.bytes, a.p, a.n);
}

static struct got trace_here(const char *load, uint32_t device, const char *text, uint64_t ns)
{
	const struct kunpeng_opts o = { 7, load };
	struct here h = { .memory = calloc(PTT_BUFFERS, PTT_BUFFER_BYTES) };
	const struct ptt_host host = { &h, here_dma, here_irq };
	const struct ptt_regs regs = { &h, here_read, here_write, NULL };
	struct ptt_ask ev;
	struct err e = { 0 };

	must(kunpeng_open(&h.k, &o, &e), &e);
	h.dev = kunpeng_device(h.k, device);
	ev = event(text, kunpeng_pmu(h.k, device));
	ptt_dev_host(h.dev, &host);
	must(ptt_driver_open(&h.driver, &regs, h.memory, 0, &e), &e);
	must(ptt_driver_start(h.driver, &ev, RING, &e), &e);
	while (kunpeng_now(h.k) < ns)
		kunpeng_run(h.k, ns);
	must(ptt_driver_stop(h.driver, &e), &e);
	here_irq(&h);
	ptt_driver_close(h.driver);
	kunpeng_close(h.k);
	free(h.memory);
	return h.got;
}

static void a_trace_is_the_same_bytes_as_in_the_machines_own_process(void **state)
{
	struct served *v = serve("full");
	struct ptt_pmus p = dial(v);
	uint32_t i = with_port(&p, 0x80001);
	struct got there = { 0 }, here = trace_here("full", i, BOTH, 25 * MS);
	struct local_counts end;

	(void)state;
	start(&p, BOTH, RING);
	for (uint64_t ns = MS / 2; ns <= 25 * MS; ns += MS / 2) {
		serving_run(&v->s, ns);
		take(&p, &there, 0);
	}
	pmus_stop(&p);
	take(&p, &there, 0);
	end = counts(v, i);
	assert_true(there.commits >= 2);
	assert_int_equal(there.lost, 0);
	assert_false(there.truncated);
	assert_int_equal(end.lost, 0);
	assert_int_equal(end.tracing, 0);
	assert_int_equal(end.recorded * 4 * PTT_4DW, there.bytes.n);
	assert_int_equal(there.bytes.n, here.bytes.n);
	assert_memory_equal(there.bytes.p, here.bytes.p, here.bytes.n);
	buf_free(&there.bytes);
	buf_free(&here.bytes);
	p.op->close(p.arg);
	served_end(v);
}

static void what_a_slow_client_does_not_take_is_lost_and_counted(void **state)
{
	struct served *v = serve("full");
	struct ptt_pmus p = dial(v);
	uint32_t i = with_port(&p, 0x80001);
	struct got g = { 0 };
	struct local_counts end;
	uint64_t ns = 0;

	(void)state;
	start(&p, BOTH, RING);
	do
		serving_run(&v->s, ns += 5 * MS);
	while (counts(v, i).recorded * 4 * PTT_4DW < 4 * RING);
	pmus_stop(&p);
	take(&p, &g, 0);
	end = counts(v, i);
	assert_true(g.lost > 0);
	assert_true(g.truncated);
	assert_int_equal(g.bytes.n / (4 * PTT_4DW) + g.lost, end.recorded);
	buf_free(&g.bytes);
	p.op->close(p.arg);
	served_end(v);
}

static void one_trace_follows_another_even_when_the_first_was_not_read(void **state)
{
	struct served *v = serve("full");
	struct ptt_pmus p = dial(v);
	uint32_t i = with_port(&p, 0x80001);
	uint64_t ns = 0;

	(void)state;
	for (int round = 0; round < 5; round++) {
		struct got g = { 0 };

		start(&p, BOTH, RING << round % 2);
		serving_run(&v->s, ns += 8 * MS);
		pmus_stop(&p);
		if (round % 2)
			continue;
		take(&p, &g, 0);
		assert_int_equal(g.bytes.n, counts(v, i).recorded * 4 * PTT_4DW);
		assert_true(g.bytes.n > 0);
		buf_free(&g.bytes);
	}
	p.op->close(p.arg);
	served_end(v);
}

static void a_second_trace_of_a_device_is_refused_until_the_first_has_gone(void **state)
{
	struct served *v = serve("mixed");
	struct ptt_pmus p = dial(v), q = dial(v);
	const struct ptt_pmu *pmu = listed(&q, with_port(&q, 0x80001));
	struct ptt_ask ev = event(BOTH, pmu);
	struct err e = { 0 };

	(void)state;
	start(&p, BOTH, RING);
	assert_int_equal(q.op->start(q.arg, pmu, &ev, RING, &e), -TALLY_EBUSY);
	assert_non_null(strstr(e.text, "another client's trace is running"));
	e.code = 0;
	assert_int_equal(p.op->start(p.arg, listed(&p, with_port(&p, 0x80001)), &ev, RING, &e), -TALLY_EBUSY);
	p.op->close(p.arg);
	e.code = 0;
	/* The server may hear of the close after the next request of another client. */
	while (q.op->start(q.arg, pmu, &ev, RING, &e) == -TALLY_EBUSY)
		e.code = 0;
	assert_int_equal(e.code, 0);
	q.op->close(q.arg);
	served_end(v);
}

static void a_device_of_another_server_is_refused(void **state)
{
	struct served *v = serve("mixed");
	struct ptt_pmus p = dial(v);
	uint32_t i = with_port(&p, 0x80001);
	const struct ptt_pmu *pmu = listed(&p, i);
	const struct ptt_host host = { NULL, here_dma, here_irq };
	struct ptt_ask ev = event(BOTH, pmu);
	struct err e = { 0 };

	(void)state;
	ptt_dev_host(kunpeng_device(v->k, i), &host);
	assert_int_equal(p.op->start(p.arg, pmu, &ev, RING, &e), -TALLY_EBUSY);
	assert_non_null(strstr(e.text, "through another server"));
	ptt_dev_host(kunpeng_device(v->k, i), NULL);
	start(&p, BOTH, RING);
	assert_true(ptt_dev_hosted(kunpeng_device(v->k, i)));
	pmus_stop(&p);
	take(&p, &(struct got){ 0 }, 0);
	assert_false(ptt_dev_hosted(kunpeng_device(v->k, i)));
	p.op->close(p.arg);
	served_end(v);
}

static void a_device_that_was_given_away_is_shown_but_neither_traced_nor_tuned(void **state)
{
	struct served *v = serve("mixed");
	struct ptt_pmus p = dial(v);
	uint32_t i = with_port(&p, 0x80001), value = 0;
	const struct ptt_pmu *pmu = listed(&p, i);
	struct ptt_ask ev = event(BOTH, pmu);
	struct err e = { 0 };

	(void)state;
	kunpeng_give(v->k, i);
	assert_int_equal(p.op->start(p.arg, pmu, &ev, RING, &e), -TALLY_EBUSY);
	assert_non_null(strstr(e.text, "vfio-user"));
	assert_int_equal(p.op->tune_set(p.arg, i, PTT_TUNE_qos_tx_p, 2, NULL), -TALLY_EBUSY);
	assert_int_equal(p.op->tune_get(p.arg, i, PTT_TUNE_qos_tx_p, &value, NULL), -TALLY_EBUSY);
	assert_int_equal(p.op->tune_get(p.arg, !i, PTT_TUNE_qos_tx_p, &value, NULL), 0);
	assert_int_equal(ptt_dev_tuned(kunpeng_device(v->k, i), PTT_TUNE_qos_tx_p), 1);
	p.op->close(p.arg);
	served_end(v);
}

static void events_and_rings_that_cannot_be_are_refused_by_the_server_too(void **state)
{
	static const struct {
		int line;
		uint64_t config, ring;
		const char *words;
	} rows[] = {
		{ __LINE__, 0x80001 | 1 << 20 | 1 << 24, 0, "a multiple of 4 MiB" },
		{ __LINE__, 0x80001 | 1 << 20 | 1 << 24, (4 << 20) + 4096, "a multiple of 4 MiB" },
		{ __LINE__, 0x80001 | 1 << 20 | 1 << 24, UINT64_C(1) << 40, "256 MiB at most" },
		{ __LINE__, 0x80001 | 1 << 20, 4 << 20, "type=0" },
		{ __LINE__, 0x80001 | 7 << 20 | 1 << 24, 4 << 20, "direction=7" },
		{ __LINE__, 0x00777 | 1 << 20 | 1 << 24, 4 << 20, "filter=" },
		{ __LINE__, 0x80001 | 1 << 24 | UINT64_C(5) << 32, 4 << 20, "format=5" },
	};
	struct served *v = serve("mixed");
	struct local_client *c = raw(v, 0);
	struct local_answer a;
	struct err e;

	(void)state;
	for (size_t i = 0; i < COUNT(rows); i++) {
		const struct local_start to = { 1, 0, rows[i].config, rows[i].ring };

		if (call(c, LOCAL_PTT_START, &to, sizeof(to), &a, &e) != -TALLY_EINVAL ||
		    !strstr(e.text, rows[i].words))
			fail_msg("line %d: %s", rows[i].line, e.text);
	}
	local_disconnect(c);
	served_end(v);
}

static void waiting_is_bounded_and_only_the_owner_waits(void **state)
{
	const struct local_start to = { 1, 0, 0x80001 | 1 << 20 | 1 << 24, RING };
	const struct local_device at = { 1, 0 }, nowhere = { 2, 0 };
	struct served *v = serve("mixed");
	struct local_client *c = raw(v, 0), *d = raw(v, 0);
	struct local_answer a;
	struct err e;
	uint64_t id;

	(void)state;
	assert_int_equal(call(c, LOCAL_PTT_NEXT, &at, sizeof(at), &a, &e), -TALLY_ESTATE);
	assert_int_equal(call(c, LOCAL_PTT_STOP, &at, sizeof(at), &a, &e), -TALLY_ESTATE);
	assert_int_equal(call(c, LOCAL_PTT_NEXT, &nowhere, sizeof(nowhere), &a, &e), -TALLY_EINVAL);
	must(call(c, LOCAL_PTT_START, &to, sizeof(to), &a, &e), &e);
	assert_int_equal(call(d, LOCAL_PTT_NEXT, &at, sizeof(at), &a, &e), -TALLY_ESTATE);
	assert_int_equal(call(d, LOCAL_PTT_STOP, &at, sizeof(at), &a, &e), -TALLY_ESTATE);
	for (int i = 0; i < LOCAL_PENDING_MOST; i++)
		assert_int_equal(local_ask(c, LOCAL_PTT_NEXT, &at, sizeof(at), &id, &e), 1);
	assert_int_equal(call(c, LOCAL_PTT_NEXT, &at, sizeof(at), &a, &e), -TALLY_EBUSY);
	must(call(c, LOCAL_PTT_STOP, &at, sizeof(at), &a, &e), &e);
	for (int i = 0; i < LOCAL_PENDING_MOST; i++) {
		struct local_piece piece;

		assert_int_equal(local_next(c, &a, -1, &e), 1);
		assert_int_equal(a.head.id, id - LOCAL_PENDING_MOST + 1 + (uint64_t)i);
		memcpy(&piece, a.p, sizeof(piece));
		assert_int_equal(piece.flags, LOCAL_PIECE_END);
	}
	assert_int_equal(call(c, LOCAL_PTT_STOP, &at, sizeof(at), &a, &e), -TALLY_ESTATE);
	local_disconnect(c);
	local_disconnect(d);
	served_end(v);
}

static void a_client_that_is_killed_leaves_no_trace(void **state)
{
	struct served *v = serve("full");
	struct ptt_pmus q = dial(v);
	uint32_t i = with_port(&q, 0x80001);
	int ready[2], status;
	char byte = 0;
	pid_t pid;

	(void)state;
	assert_int_equal(pipe(ready), 0);
	pid = fork();
	if (pid == 0) {
		struct ptt_pmus p = dial(v);

		start(&p, BOTH, RING);
		(void)!write(ready[1], "!", 1);
		for (;;)
			take(&p, &(struct got){ 0 }, -1);
	}
	assert_int_equal(read(ready[0], &byte, 1), 1);
	assert_int_equal(counts(v, i).tracing, 1);
	serving_run(&v->s, 10 * MS);
	assert_int_equal(kill(pid, SIGKILL), 0);
	assert_int_equal(waitpid(pid, &status, 0), pid);
	while (counts(v, i).tracing)
		;
	assert_false(ptt_dev_hosted(kunpeng_device(v->k, i)));
	start(&q, BOTH, RING);
	q.op->close(q.arg);
	close(ready[0]);
	close(ready[1]);
	served_end(v);
}

static void a_server_that_dies_ends_the_trace_with_words(void **state)
{
	struct served *v = serve("mixed");
	struct ptt_pmus p = dial(v);
	const struct ptt_pmu *pmu;
	struct err e = { 0 };
	struct ptt_aux a;
	uint32_t n;
	int rc;

	(void)state;
	start(&p, BOTH, RING);
	serving_run(&v->s, 1 * MS);
	served_end(v);
	while ((rc = p.op->next(p.arg, &a, -1, &e)) > 0)
		;
	assert_int_equal(rc, -TALLY_EEND);
	assert_non_null(strstr(e.text, "the server has gone"));
	e.code = 0;
	assert_int_equal(p.op->list(p.arg, &pmu, &n, &e), -TALLY_EEND);
	p.op->close(p.arg);
}

static void nothing_comes_of_an_idle_trace_and_tuning_goes_on_beside_it(void **state)
{
	struct served *v = serve("idle");
	struct ptt_pmus p = dial(v);
	uint32_t i = with_port(&p, 0x80001), value;
	struct got g = { 0 };
	struct err e = { 0 };

	(void)state;
	start(&p, BOTH, RING);
	take(&p, &g, 0);
	take(&p, &g, 1);
	assert_int_equal(g.commits, 0);
	must(p.op->tune_set(p.arg, i, PTT_TUNE_qos_tx_cpl, 2, &e), &e);
	must(p.op->tune_get(p.arg, i, PTT_TUNE_qos_tx_cpl, &value, &e), &e);
	assert_int_equal(value, 2);
	assert_int_equal(counts(v, i).tracing, 1);
	serving_run(&v->s, 5 * MS);
	pmus_stop(&p);
	pmus_stop(&p);
	take(&p, &g, 0);
	assert_int_equal(g.commits, 1);
	assert_int_equal(p.op->next(p.arg, &(struct ptt_aux){ 0 }, 0, &e), 0);
	buf_free(&g.bytes);
	p.op->close(p.arg);
	served_end(v);
}

/* ---- memory ----------------------------------------------------------------------------------------------------- */

static int whole_run(const struct served *v)
{
	const struct ptt_pmu *pmu = NULL;
	struct ptt_pmus p = { 0 };
	struct ptt_aux a;
	struct err e = { 0 };
	uint32_t n = 0;
	int rc = local_pmus(&p, v->path, NULL, &e);

	if (rc < 0)
		return rc;
	rc = p.op->list(p.arg, &pmu, &n, &e);
	if (rc == 0) {
		struct ptt_ask ev = { .filter = 0x80001, .type = 7, .direction = 3 };

		rc = p.op->start(p.arg, &pmu[1], &ev, RING, &e);
	}
	if (rc == 0) {
		serving_run((struct serving *)&v->s, v->s.at + MS);
		rc = (p.op->stop)(p.arg, &e);
	}
	while (rc == 0 && (rc = p.op->next(p.arg, &a, -1, &e)) > 0)
		rc = 0;
	p.op->close(p.arg);
	return rc;
}

/* Who has gone is cleared away before this client, which stays, gets its last answer: one round lets them in, one hears
 * that they have gone, and in each this client may have been first. */
static void settle(struct local_client *c)
{
	const uint64_t word = 1;
	struct local_answer a;
	struct err e;

	for (int i = 0; i < 8; i++)
		must(call(c, LOCAL_PING, &word, sizeof(word), &a, &e), &e);
}

static void every_failing_allocation_is_told(void **state)
{
	struct served *v = serve("mixed");
	struct local_client *c = raw(v, 0);
	long live;

	(void)state;
	assert_int_equal(whole_run(v), 0);
	settle(c);
	live = mem_live();
	for (long n = 1;; n++) {
		int rc;

		mem_fail_at(n);
		rc = whole_run(v);
		if (!mem_failed()) {
			assert_int_equal(rc, 0);
			break;
		}
		assert_int_equal(rc, -TALLY_ENOMEM);
		mem_fail_at(0);
		settle(c);
		assert_int_equal(mem_live(), live);
	}
	mem_fail_at(0);
	local_disconnect(c);
	served_end(v);
	assert_int_equal(mem_live(), 0);
}

static void ten_thousand_connections_and_traces_leave_memory_as_it_was(void **state)
{
	const struct local_start to = { 1, 0, 0x80001 | 1 << 20 | 1 << 24, RING };
	struct served *v = serve("idle");
	struct local_client *stays = raw(v, 0);
	struct local_answer a;
	struct err e;
	long live = 0;
	int n = 0;

	(void)state;
	for (int i = 0; i <= 10000; i++) {
		struct local_client *c = raw(v, 0);

		if (i % 50 == 0)
			must(call(c, LOCAL_PTT_START, &to, sizeof(to), &a, &e), &e);
		local_disconnect(c);
		if (i != 0 && i != 10000)
			continue;
		/* The device has its memory from its first trace on. */
		settle(stays);
		live = i ? live : mem_live();
		n = i ? n : descriptors();
	}
	assert_int_equal(mem_live(), live);
	assert_int_equal(descriptors(), n);
	local_disconnect(stays);
	served_end(v);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_trace_is_the_same_bytes_as_in_the_machines_own_process),
		cmocka_unit_test(what_a_slow_client_does_not_take_is_lost_and_counted),
		cmocka_unit_test(one_trace_follows_another_even_when_the_first_was_not_read),
		cmocka_unit_test(a_second_trace_of_a_device_is_refused_until_the_first_has_gone),
		cmocka_unit_test(a_device_of_another_server_is_refused),
		cmocka_unit_test(a_device_that_was_given_away_is_shown_but_neither_traced_nor_tuned),
		cmocka_unit_test(events_and_rings_that_cannot_be_are_refused_by_the_server_too),
		cmocka_unit_test(waiting_is_bounded_and_only_the_owner_waits),
		cmocka_unit_test(a_client_that_is_killed_leaves_no_trace),
		cmocka_unit_test(a_server_that_dies_ends_the_trace_with_words),
		cmocka_unit_test(nothing_comes_of_an_idle_trace_and_tuning_goes_on_beside_it),
		cmocka_unit_test(every_failing_allocation_is_told),
		cmocka_unit_test(ten_thousand_connections_and_traces_leave_memory_as_it_was),
	};

	return cmocka_run_group_tests_name("attach: local trace", tests, NULL, NULL);
}
