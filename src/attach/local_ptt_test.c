/* local_ptt_test.c: devices over the local protocol: lists, tunables, and the document's exchange. */
#include "attach/local_ptt_test_int.h"

/* ---- lists and tunables -------------------------------------------------------------------------------- */

static void the_list_is_the_machines(void **state)
{
	struct served *v = serve("idle");
	struct ptt_pmus p = dial(v);
	const struct ptt_pmu *pmu;
	struct err e = { 0 };
	uint32_t n;

	(void)state;
	assert_null(p.op->advance);
	assert_string_equal(p.op->what + strlen("unix:"), v->path);
	must(p.op->list(p.arg, &pmu, &n, &e), &e);
	for (uint32_t i = 0; i < n; i++)
		assert_int_equal(pmu[i].time, PTT_TIME_ABS);
	assert_int_equal(n, kunpeng_ndevices(v->k));
	for (uint32_t i = 0; i < n; i++) {
		const struct ptt_pmu *want = kunpeng_pmu(v->k, i);

		assert_string_equal(pmu[i].name, want->name);
		assert_string_equal(pmu[i].cpus, want->cpus);
		assert_int_equal(pmu[i].type, want->type);
		assert_int_equal(pmu[i].nfilters, want->nfilters);
		for (uint32_t k = 0; k < want->nfilters; k++) {
			assert_string_equal(pmu[i].filter[k].name, want->filter[k].name);
			assert_int_equal(pmu[i].filter[k].value, want->filter[k].value);
			assert_int_equal(pmu[i].filter[k].port, want->filter[k].port);
		}
	}
	p.op->close(p.arg);
	served_end(v);
}

static void tunables_are_set_and_read_and_another_core_keeps_its_own(void **state)
{
	struct served *v = serve("idle");
	struct ptt_pmus p = dial(v);
	struct err e = { 0 };
	uint32_t value;

	(void)state;
	for (int t = 0; t < PTT_TUNES; t++) {
		must(p.op->tune_get(p.arg, 0, t, &value, &e), &e);
		assert_int_equal(value, ptt_tunables[t].reset);
		must(p.op->tune_set(p.arg, 0, t, 2 - ptt_tunables[t].reset / 2, &e), &e);
		must(p.op->tune_get(p.arg, 0, t, &value, &e), &e);
		assert_int_equal(value, 2 - ptt_tunables[t].reset / 2);
		must(p.op->tune_get(p.arg, 1, t, &value, &e), &e);
		assert_int_equal(value, ptt_tunables[t].reset);
	}
	must(p.op->tune_set(p.arg, 1, PTT_TUNE_qos_tx_p, 65535, &e), &e);
	must(p.op->tune_get(p.arg, 1, PTT_TUNE_qos_tx_p, &value, &e), &e);
	assert_int_equal(value, 2);
	assert_int_equal(p.op->tune_set(p.arg, 1, PTT_TUNE_qos_tx_p, 65536, &e), -TALLY_EINVAL);
	e.code = 0;
	assert_int_equal(p.op->tune_get(p.arg, 9, PTT_TUNE_qos_tx_p, &value, &e), -TALLY_EINVAL);
	assert_non_null(strstr(e.text, "no device 9"));
	p.op->close(p.arg);
	served_end(v);
}

static uint32_t read_register(struct local_client *c, uint32_t device, uint32_t off)
{
	const struct local_register at = { device, off };
	struct local_value value;
	struct local_answer a;
	struct err e;

	must(call(c, LOCAL_PTT_READ, &at, sizeof(at), &a, &e), &e);
	memcpy(&value, a.p, sizeof(value));
	return value.value;
}

static int write_register(struct local_client *c, uint32_t off, uint32_t value)
{
	const struct local_assign to = { 0, off, value, 0 };
	struct local_answer a;
	struct err e;

	return call(c, LOCAL_PTT_WRITE, &to, sizeof(to), &a, &e);
}

static void registers_are_read_and_only_those_that_tune_are_written(void **state)
{
	struct served *v = serve("idle");
	struct local_client *c = raw(v, 0);

	(void)state;
	assert_int_equal(read_register(c, 1, PTT_REG_LOCATION), 2);
	assert_int_equal(read_register(c, 0, 0x7ffffffd), 0);
	assert_int_equal(write_register(c, PTT_REG_TUNING_CTRL, ptt_tunables[PTT_TUNE_qos_tx_np].code), 0);
	assert_int_equal(write_register(c, PTT_REG_TUNING_DATA, 2), 0);
	assert_int_equal(ptt_dev_tuned(kunpeng_device(v->k, 0), PTT_TUNE_qos_tx_np), 2);
	assert_int_equal(read_register(c, 0, PTT_REG_TUNING_DATA), 2);
	assert_int_equal(write_register(c, PTT_REG_TRACE_CTRL, 1), -TALLY_EPERM);
	assert_int_equal(write_register(c, PTT_REG_TRACE_ADDR_BASE_LO_0, 0x1000), -TALLY_EPERM);
	assert_int_equal(write_register(c, 0x7ffffffd, 1), -TALLY_EPERM);
	assert_int_equal(read_register(c, 0, PTT_REG_TRACE_CTRL), 0);
	local_disconnect(c);
	served_end(v);
}

static void what_needs_a_right_is_refused_without(void **state)
{
	static const struct {
		int line;
		uint16_t op;
		uint32_t right;
		size_t n;
	} rows[] = {
#define X(name, number, right, request, reply, more) { __LINE__, number, right, sizeof(request) },
		LOCAL_PTT_OPS(X)
#undef X
	};
	static const uint8_t zero[64];
	struct served *v = serve("idle");
	struct local_answer a;
	struct err e;

	(void)state;
	for (size_t i = 0; i < COUNT(rows); i++) {
		struct local_client *c = raw(v, LOCAL_RIGHTS & ~rows[i].right);

		assert_int_equal(call(c, rows[i].op, zero, rows[i].n, &a, &e), -TALLY_EPERM);
		local_disconnect(c);
	}
	served_end(v);
}

static int plug(struct local_client *c, const char *bdf, uint32_t there, struct err *e)
{
	struct local_plug to = { .there = there };
	struct local_answer a;

	memcpy(to.bdf, bdf, strnlen(bdf, sizeof(to.bdf)));
	return call(c, LOCAL_PTT_PLUG, &to, sizeof(to), &a, e);
}

static void an_endpoint_that_is_unplugged_leaves_the_list(void **state)
{
	struct served *v = serve("mixed");
	struct local_client *c = raw(v, LOCAL_PLUG);
	struct ptt_pmus p = dial(v);
	uint32_t i = with_port(&p, 0x80001), n = listed(&p, i)->nfilters;
	uint32_t generation = counts(v, i).generation;
	struct err e;

	(void)state;
	serving_run(&v->s, 1 * MS);
	must(plug(c, "0000:01:00.1", 0, &e), &e);
	assert_int_equal(listed(&p, i)->nfilters, n - 1);
	assert_true(counts(v, i).generation > generation);
	assert_int_equal(plug(c, "0000:01:00.1", 0, &e), -TALLY_ESTATE);
	must(plug(c, "0000:01:00.1", 1, &e), &e);
	serving_run(&v->s, 2 * MS);
	assert_int_equal(listed(&p, i)->nfilters, n);
	assert_int_equal(plug(c, "0000:77:00.0", 1, &e), -TALLY_EINVAL);
	assert_int_equal(plug(c, "", 1, &e), -TALLY_EINVAL);
	assert_int_equal(plug(c, "0000:01:00.1", 2, &e), -TALLY_EINVAL);
	assert_int_equal(plug(c, "0000:01:00.1aaaabbbb", 0, &e), -TALLY_EINVAL);
	assert_non_null(strstr(e.text, "place without a NUL"));
	p.op->close(p.arg);
	local_disconnect(c);
	served_end(v);
}

/* ---- the document ---------------------------------------------------------------------------------------------- */

/* protocol.md 7, byte for byte. */
static void the_documents_exchange_is_what_goes_over_the_wire(void **state)
{
	static const uint8_t asked[] = {
		0x20, 0x00, 0x00, 0x00, 0x01, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00,
		0x74, 0x61, 0x6c, 0x6c, 0x79, 0x4c, 0x50, 0x00, 0x01, 0x00, 0x00, 0x00, 0x03, 0x00, 0x00, 0x00,
		0x20, 0x00, 0x00, 0x00, 0x05, 0x01, 0x00, 0x00, 0x01, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00,
		0x01, 0x00, 0x00, 0x00, 0x04, 0x00, 0x03, 0x00, 0x02, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00,
		0x18, 0x00, 0x00, 0x00, 0x04, 0x01, 0x00, 0x00, 0x02, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00,
		0x01, 0x00, 0x00, 0x00, 0x04, 0x00, 0x03, 0x00, 0x18, 0x00, 0x00, 0x00, 0x04, 0x01, 0x00, 0x00,
		0x03, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x09, 0x00, 0x00, 0x00, 0x04, 0x00, 0x03, 0x00,
	};
	static const uint8_t answered[] = {
		0x30, 0x00, 0x00, 0x00, 0x01, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x01,
		0x00, 0x00, 0x00, 0x03, 0x00, 0x00, 0x00, 0x00, 0x00, 0x01, 0x00, 0x10, 0x00, 0x00, 0x00, 0x6b, 0x75,
		0x6e, 0x70, 0x65, 0x6e, 0x67, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x10, 0x00, 0x00,
		0x00, 0x05, 0x01, 0x00, 0x00, 0x01, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x18, 0x00, 0x00, 0x00,
		0x04, 0x01, 0x00, 0x00, 0x02, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x02, 0x00, 0x00, 0x00, 0x00,
		0x00, 0x00, 0x00, 0x39, 0x00, 0x00, 0x00, 0x04, 0x01, 0x02, 0x00, 0x03, 0x00, 0x00, 0x00, 0x00, 0x00,
		0x00, 0x00, 0x74, 0x68, 0x65, 0x72, 0x65, 0x20, 0x69, 0x73, 0x20, 0x6e, 0x6f, 0x20, 0x64, 0x65, 0x76,
		0x69, 0x63, 0x65, 0x20, 0x39, 0x3b, 0x20, 0x74, 0x68, 0x65, 0x72, 0x65, 0x20, 0x61, 0x72, 0x65, 0x20,
		0x32, 0x2c, 0x20, 0x66, 0x72, 0x6f, 0x6d, 0x20, 0x30,
	};
	struct local_peer *p = NULL;
	struct kunpeng *k = NULL;
	void *service = NULL;
	struct err e = { 0 };
	size_t n;

	(void)state;
	must(kunpeng_open(&k, NULL, &e), &e);
	must(local_kunpeng.open(&service, k, &e), &e);
	must(local_peer_open(&p, &local_kunpeng, service), &e);
	memcpy(local_peer_room(p, &n), asked, sizeof(asked));
	local_peer_came(p, sizeof(asked));
	const uint8_t *out = local_peer_out(p, &n);
	assert_int_equal(n, sizeof(answered));
	assert_memory_equal(out, answered, n);
	local_peer_close(p);
	local_kunpeng.close(service);
	kunpeng_close(k);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_list_is_the_machines),
		cmocka_unit_test(tunables_are_set_and_read_and_another_core_keeps_its_own),
		cmocka_unit_test(registers_are_read_and_only_those_that_tune_are_written),
		cmocka_unit_test(what_needs_a_right_is_refused_without),
		cmocka_unit_test(an_endpoint_that_is_unplugged_leaves_the_list),
		cmocka_unit_test(the_documents_exchange_is_what_goes_over_the_wire),
	};

	return cmocka_run_group_tests_name("attach: local ptt", tests, NULL, NULL);
}
