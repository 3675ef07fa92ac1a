/*
 * gpci_guest_test.c: all records are read, whatever fits in a reply and however a firmware says that there are more;
 * whatever a platform answers, the reading ends.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>
#include <cmocka.h>

#include "hv/gpci_guest.h"
#include "hv/papr_int.h"

enum { BLOCK = 8192, MANY_MOST = 1200 };

/* ---- a platform of many records, served by the service --------------------------------------------------- */

/* Ids and second ids with gaps; a record's last field is what it is. 0xb1 has as many elements as its id says. */
struct many {
	uint32_t n;
	uint64_t id[MANY_MOST], second[MANY_MOST];
	uint32_t calls; /* after each, if it changes: */
	bool changes;
	struct papr *service;
	uint8_t block[BLOCK];
	struct hv_transport transport;
};

static int many_next(void *arg, struct papr_caller who, const struct gpci_request *r, bool self, uint64_t from,
		     uint64_t secondary, struct gpci_values *v)
{
	struct many *m = arg;
	uint32_t i = 0, place;

	from = self ? who.partition : from;
	while (i < m->n &&
	       (m->id[i] < from || (r->index == GPCI_BY_VP && m->id[i] == from && m->second[i] < secondary)))
		i++;
	if (i == m->n || (self && m->id[i] != from))
		return 0;
	memset(v->v, 0, sizeof(v->v));
	v->id = m->id[i];
	v->secondary = r->index == GPCI_BY_VP ? m->second[i] : 0;
	v->v[r->nfields - 1] = (v->id * 7 + v->secondary) & 0xffff;
	if (gpci_id_field(r, 6, &place))
		v->v[place] = v->id;
	if (gpci_id_field(r, 0, &place))
		v->v[place] = v->id;
	if (r->index == GPCI_BY_VP)
		v->v[1] = v->secondary;
	v->nelements = gpci_has_elements(r) ? (uint32_t)(v->id % 9) : 0;
	if (gpci_has_elements(r))
		v->v[4] = v->nelements;
	for (uint32_t k = 0; k < v->nelements; k++)
		v->element[k] = (struct gpci_element){ (uint16_t)k, (uint16_t)v->id, { k, 1, 2, 3 } };
	return 1;
}

static struct papr_rights all_rights(void *arg, uint16_t partition)
{
	(void)arg;
	(void)partition;
	return (struct papr_rights){ true, true, true };
}

static bool block_is(void *arg, uint64_t ra, uint64_t n)
{
	(void)arg;
	return ra <= BLOCK && n <= BLOCK - ra;
}

static int block_read(void *arg, uint64_t ra, void *to, size_t n)
{
	memcpy(to, ((struct many *)arg)->block + ra, n);
	return 0;
}

static int block_write(void *arg, uint64_t ra, const void *from, size_t n)
{
	memcpy(((struct many *)arg)->block + ra, from, n);
	return 0;
}

/* Between two calls the record at a place that moves goes away, or a new one comes. */
static void change(struct many *m)
{
	uint32_t at = m->calls * 13 % m->n;

	if (m->calls & 1) {
		memmove(&m->id[at], &m->id[at + 1], (m->n - at - 1) * sizeof(m->id[0]));
		memmove(&m->second[at], &m->second[at + 1], (m->n - at - 1) * sizeof(m->second[0]));
		m->n--;
	} else {
		m->id[m->n] = m->id[m->n - 1] + 3;
		m->second[m->n++] = 0;
	}
}

static int many_call(void *arg, uint32_t vcpu, uint64_t r[3], struct err *e)
{
	struct many *m = arg;
	const struct hv_mem mem = { .arg = m, .is = block_is, .read = block_read, .write = block_write };

	(void)e;
	papr_call(m->service, (struct papr_caller){ .partition = (uint16_t)m->id[0], .vcpu = (uint16_t)vcpu }, &mem, r);
	m->calls++;
	if (m->changes)
		change(m);
	return 0;
}

static uint64_t many_now(void *arg)
{
	return ((struct many *)arg)->calls;
}

static const struct papr_machine_ops many_ops = { .next = many_next, .rights = all_rights };
static const struct hv_transport_ops many_line = { .what = "the test", .papr = many_call, .now = many_now };

static struct many *many_open(uint32_t n, uint32_t step, uint8_t level, bool partial_success)
{
	struct many *m = mem_alloc(sizeof(*m));
	const struct papr_opts o = { .level = level, .partial_success = partial_success, .ops = &many_ops, .arg = m };

	assert_non_null(m);
	for (uint32_t i = 0; i < n; i++) {
		m->id[i] = 1 + (uint64_t)i * step + (step > 2 ? i % 3 : 0);
		m->second[i] = 0;
	}
	m->n = n;
	assert_int_equal(papr_open(&m->service, &o), 0);
	m->transport = (struct hv_transport){
		.arg = m, .op = &many_line, .memory = m->block, .bytes = GPCI_MOST, .level = level
	};
	return m;
}

static void many_close(struct many *m)
{
	papr_close(m->service);
	mem_free(m);
}

static const struct gpci_request *request(uint32_t number)
{
	const struct gpci_request *r, *found = NULL;

	for (uint32_t i = 0; (r = gpci_request_at(i)); i++)
		found = r->number == number ? r : found;
	return found;
}

/* ---- all records --------------------------------------------------------------------------------------------- */

static void same_records(const struct many *m, const struct gpci_table *t)
{
	assert_int_equal(t->n, m->n);
	for (uint32_t i = 0; i < t->n; i++) {
		assert_true(t->v[i].id == m->id[i]);
		assert_true(t->v[i].secondary == (t->r->index == GPCI_BY_VP ? m->second[i] : 0));
		assert_int_equal(t->v[i].nelements, gpci_has_elements(t->r) ? m->id[i] % 9 : 0);
	}
}

static void read_with(struct many *m, uint32_t number, size_t bytes)
{
	struct gpci_table t;
	struct err e = { 0 };

	m->transport.bytes = bytes;
	if (gpci_read(&t, &m->transport, request(number), 0, &e) < 0)
		fail_msg("request %#x in %zu bytes: %s", number, bytes, e.text);
	same_records(m, &t);
	gpci_table_free(&t);
}

static void any_size_of_reply_gives_the_same_records_in_both_ways_of_saying_that_there_are_more(void **state)
{
	static const uint32_t numbers[] = { 0x10, 0x20, 0x90, 0xd0, 0xe0, 0x80002000 };
	static const uint32_t counts[] = { 1, 2, 3, 84, 85, 200 };

	(void)state;
	for (uint32_t c = 0; c < COUNT(counts); c++)
		for (uint32_t way = 0; way < 2; way++) {
			struct many *m = many_open(counts[c], 5, 6, way);

			for (uint32_t i = 0; i < COUNT(numbers); i++) {
				uint32_t size = request(numbers[i])->size;

				for (uint32_t bytes = 32 + size; bytes <= 32 + 4 * size; bytes += 8)
					read_with(m, numbers[i], bytes);
				read_with(m, numbers[i], 4095);
				read_with(m, numbers[i], 4096);
				read_with(m, numbers[i], BLOCK);
			}
			many_close(m);
		}
}

static void records_of_two_ids_are_read_to_the_last(void **state)
{
	(void)state;
	for (uint32_t way = 0; way < 2; way++) {
		struct many *m = many_open(300, 1, 6, way);

		for (uint32_t i = 0; i < m->n; i++) {
			m->id[i] = 1 + i / 7 * 3;
			m->second[i] = i % 7 + (i % 7 == 6 ? 65529 : 0); /* up to the last second id that there is */
		}
		for (size_t bytes = 64; bytes < 512; bytes += 16)
			read_with(m, 0xa0, bytes);
		read_with(m, 0xa0, 4096);
		many_close(m);
	}
}

static void records_with_elements_are_read_to_the_last(void **state)
{
	(void)state;
	for (uint32_t way = 0; way < 2; way++) {
		struct many *m = many_open(60, 1, 6, way);

		for (size_t bytes = 32 + 16 + 8 * 28; bytes < 1024; bytes += 4)
			read_with(m, 0xb1, bytes);
		read_with(m, 0xb1, 4096);
		many_close(m);
	}
}

static void level_0_is_read_by_its_own_ids_and_layouts(void **state)
{
	struct many *m = many_open(200, 4, 0, false);
	struct gpci_table t;
	struct err e = { 0 };

	(void)state;
	read_with(m, 0x10, 4096);
	read_with(m, 0x20, 200);
	m->transport.bytes = 4096;
	assert_int_equal(gpci_read(&t, &m->transport, request(0x50), 0, &e), 0);
	assert_int_equal(t.r->size, 64);
	same_records(m, &t);
	assert_true(t.v[7].v[6] == ((m->id[7] * 7) & 0xffff));
	gpci_table_free(&t);
	many_close(m);
}

static void an_index_and_the_own_record_are_read_alone(void **state)
{
	struct many *m = many_open(100, 5, 6, false);
	struct gpci_table t;
	struct err e = { 0 };

	(void)state;
	assert_int_equal(gpci_read(&t, &m->transport, request(0x20), -1, &e), 0);
	assert_int_equal(t.n, 1);
	assert_true(t.v[0].id == m->id[0] && t.ns == 1);
	gpci_table_free(&t);
	assert_int_equal(gpci_read(&t, &m->transport, request(0x20), (int32_t)m->id[90], &e), 0);
	assert_int_equal(t.n, 10);
	assert_ptr_equal(gpci_table_find(&t, m->id[93], 0), &t.v[3]);
	assert_null(gpci_table_find(&t, m->id[93] + 1, 0));
	assert_null(gpci_table_find(&t, m->id[93], 1));
	assert_null(gpci_table_find(&t, m->id[3], 0));
	gpci_table_free(&t);
	many_close(m);
}

static void a_platform_that_changes_meanwhile_gives_each_id_once_in_order(void **state)
{
	(void)state;
	for (uint32_t way = 0; way < 2; way++) {
		struct many *m = many_open(300, 2, 6, way);
		struct gpci_table t;
		struct err e = { 0 };

		m->changes = true;
		m->transport.bytes = 32 + 5 * 48;
		assert_int_equal(gpci_read(&t, &m->transport, request(0x20), 0, &e), 0);
		assert_true(t.n > 250 && t.n < 350);
		for (uint32_t i = 1; i < t.n; i++)
			assert_true(t.v[i].id > t.v[i - 1].id);
		gpci_table_free(&t);
		many_close(m);
	}
}

/* ---- errors ---------------------------------------------------------------------------------------------------- */

struct says {
	int64_t rc;
	int code;
	const char *words;
};
static int64_t said_rc;

static int say_rc(void *arg, uint32_t vcpu, uint64_t r[3], struct err *e)
{
	(void)arg;
	(void)vcpu;
	(void)e;
	r[0] = (uint64_t)said_rc;
	return 0;
}

static void every_code_of_the_hypervisor_is_told_with_the_request(void **state)
{
	static const struct says rows[] = {
		{ H_FUNCTION, -TALLY_ENOTSUP, "the test has no H_GetPerformanceCounterInfo" },
		{ H_NOT_AVAILABLE, -TALLY_ENOTSUP, "entitled: not on" },
		{ H_AUTHORITY, -TALLY_EPERM, "entitled: not permitted to this partition" },
		{ H_PARAMETER, -TALLY_EINVAL, "entitled: no record from 7" },
		{ H_PRIVILEGE, -TALLY_EIO, "entitled: the block" },
		{ H_HARDWARE, -TALLY_EIO, "entitled: the hypervisor returned -1" },
		{ 1, -TALLY_EIO, "the hypervisor returned 1" },
		{ -55, -TALLY_EIO, "the hypervisor returned -55" },
	};
	static const struct hv_transport_ops op = { .what = "the test", .papr = say_rc };
	static uint8_t block[GPCI_MOST];
	struct hv_transport transport = { .op = &op, .memory = block, .bytes = sizeof(block) };
	struct gpci_table t;

	(void)state;
	for (uint32_t i = 0; i < COUNT(rows); i++) {
		struct err e = { 0 };

		said_rc = rows[i].rc;
		assert_int_equal(gpci_read(&t, &transport, request(0x20), 7, &e), rows[i].code);
		assert_non_null(strstr(e.text, rows[i].words));
		e = (struct err){ 0 };
		assert_int_equal(gpci_set_mmcrh(&transport, 1, &e), rows[i].code);
	}
	said_rc = H_SUCCESS;
	assert_int_equal(gpci_set_mmcrh(&transport, 0x1122334455667788, &(struct err){ 0 }), 0);
	assert_true(be64_get(block + 32) == 0x1122334455667788 && gpci_get(block, 4) == 0x80001000);
}

static void a_line_that_is_no_power_machine_or_too_small_is_refused(void **state)
{
	static const struct hv_transport_ops none = { .what = "the test" }, op = { .what = "the test", .papr = say_rc };
	uint8_t block[79] = { 0 };
	struct hv_transport transport = { .op = &none, .memory = block, .bytes = sizeof(block) };
	struct gpci_table t;
	struct err e = { 0 };

	(void)state;
	assert_int_equal(gpci_read(&t, &transport, request(0x20), 0, &e), -TALLY_ENOTSUP);
	assert_int_equal(gpci_set_mmcrh(&transport, 0, &e), -TALLY_ENOTSUP);
	transport.op = &op;
	assert_int_equal(gpci_read(&t, &transport, request(0x20), 0, &e), -TALLY_EINVAL);
	transport.bytes = 39;
	assert_int_equal(gpci_set_mmcrh(&transport, 0, &e), -TALLY_EINVAL);
}

/* ---- hostile platforms: each ends, with an error or with what there was ---------------------------------------- */

struct hostile {
	int64_t rc;
	uint32_t returned, element, detail;
	bool grows, backwards;
	uint64_t next;
	uint32_t calls;
	uint8_t *block;
};

static int hostile_call(void *arg, uint32_t vcpu, uint64_t r[3], struct err *e)
{
	struct hostile *h = arg;

	(void)vcpu;
	(void)e;
	h->calls++;
	gpci_put(h->block + GPCI_AT_RETURNED, 2, h->returned);
	gpci_put(h->block + GPCI_AT_ELEMENT, 2, h->element);
	gpci_put(h->block + GPCI_AT_DETAIL, 4, h->detail);
	h->block[GPCI_AT_VERSION_OUT] = 6;
	for (uint32_t i = 0; i < 84; i++)
		gpci_put(h->block + GPCI_HEADER + i * 48, 8, h->grows ? h->next++ : h->backwards ? h->next-- : 7);
	r[0] = (uint64_t)h->rc;
	return 0;
}

static int read_hostile(struct hostile h, struct gpci_table *t, uint32_t *calls)
{
	static const struct hv_transport_ops op = { .what = "the test", .papr = hostile_call };
	static uint8_t block[GPCI_MOST];
	struct hv_transport transport = { .arg = &h, .op = &op, .memory = block, .bytes = sizeof(block) };
	struct err e = { 0 };
	int rc;

	h.block = block;
	*t = (struct gpci_table){ 0 };
	rc = gpci_read(t, &transport, request(0x20), 0, &e);
	assert_true(rc == 0 || *e.text);
	*calls = h.calls;
	return rc;
}

static void lying_and_endless_replies_end(void **state)
{
	static const struct {
		struct hostile h;
		int rc;
		uint32_t n, calls;
	} rows[] = {
		{ { .rc = H_SUCCESS, .returned = 84 }, 0, 1, 2 }, /* the same id again and again */
		{ { .rc = H_PARAMETER, .detail = 0x1b, .returned = 84 }, -TALLY_ECORRUPT, 0, 2 },
		{ { .rc = H_PARAMETER, .detail = 0x1b, .returned = 0 }, -TALLY_ECORRUPT, 0, 1 },
		{ { .rc = H_SUCCESS, .returned = 0 }, 0, 0, 1 },
		{ { .rc = H_SUCCESS, .returned = 85 }, -TALLY_ECORRUPT, 0, 1 }, /* more than fit */
		{ { .rc = H_SUCCESS, .returned = 65535, .element = 48 }, -TALLY_ECORRUPT, 0, 1 },
		{ { .rc = H_SUCCESS, .returned = 65535, .element = 1 }, -TALLY_ECORRUPT, 0, 1 },
		{ { .rc = H_SUCCESS, .returned = 84, .grows = true }, -TALLY_ECORRUPT, 0, 781 }, /* without end */
		{ { .rc = H_PARAMETER, .detail = 0x1b, .returned = 1, .grows = true }, -TALLY_ECORRUPT, 0, 65537 },
		{ { .rc = H_SUCCESS, .returned = 84, .grows = true, .next = INT32_MAX - 3 },
		  0,
		  84,
		  1 }, /* past all indexes */
		{ { .rc = H_SUCCESS, .returned = 84, .grows = true, .next = UINT64_MAX - 3 }, 0, 4, 1 },
		{ { .rc = H_SUCCESS, .returned = 84, .backwards = true, .next = 1000 }, 0, 1, 2 },
	};

	(void)state;
	for (uint32_t i = 0; i < COUNT(rows); i++) {
		struct gpci_table t;
		uint32_t calls;

		assert_int_equal(read_hostile(rows[i].h, &t, &calls), rows[i].rc);
		assert_int_equal(t.n, rows[i].n);
		assert_int_equal(calls, rows[i].calls);
		gpci_table_free(&t);
	}
	assert_int_equal(mem_live(), 0);
}

/* Nobody is there in a large reply, and somebody in small ones. */
static int two_faced_call(void *arg, uint32_t vcpu, uint64_t r[3], struct err *e)
{
	uint8_t *block = arg;

	(void)vcpu;
	(void)e;
	block[0xb] = r[2] < GPCI_MOST;
	block[0x11] = 48;
	block[0x13] = 6;
	r[0] = H_SUCCESS;
	return 0;
}

static void pages_with_more_than_the_whole_break_invariant_13_and_nothing_else(void **state)
{
	static const struct hv_transport_ops two_faced = { .what = "the test", .papr = two_faced_call };
	static uint8_t block[GPCI_MOST];
	struct hv_transport l = { .arg = block, .op = &two_faced, .memory = block, .bytes = sizeof(block) };
	struct gpci_snapshot *s;
	struct err e = { 0 };

	(void)state;
	assert_int_equal(gpci_snapshot_take(&s, &l, &e), 0);
	assert_int_equal(gpci_invariant_check(gpci_invariant_at(12), NULL, s, &e), GPCI_BROKEN);
	assert_non_null(strstr(e.text, "not as in one large reply"));
	gpci_snapshot_free(s);
	assert_int_equal(mem_live(), 0);
}

static void every_failing_allocation_is_survived(void **state)
{
	(void)state;
	for (long n = 1;; n++) {
		struct many *m = many_open(300, 1, 6, false);
		struct gpci_table t;
		struct err e = { 0 };
		int rc;

		mem_fail_at(n);
		rc = gpci_read(&t, &m->transport, request(0x20), 0, &e);
		if (!mem_failed()) {
			assert_int_equal(rc, 0);
			gpci_table_free(&t);
			many_close(m);
			break;
		}
		mem_fail_at(0);
		assert_int_equal(rc, -TALLY_ENOMEM);
		many_close(m);
		assert_int_equal(mem_live(), 0);
	}
	mem_fail_at(0);
	assert_int_equal(mem_live(), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(any_size_of_reply_gives_the_same_records_in_both_ways_of_saying_that_there_are_more),
		cmocka_unit_test(records_of_two_ids_are_read_to_the_last),
		cmocka_unit_test(records_with_elements_are_read_to_the_last),
		cmocka_unit_test(level_0_is_read_by_its_own_ids_and_layouts),
		cmocka_unit_test(an_index_and_the_own_record_are_read_alone),
		cmocka_unit_test(a_platform_that_changes_meanwhile_gives_each_id_once_in_order),
		cmocka_unit_test(every_code_of_the_hypervisor_is_told_with_the_request),
		cmocka_unit_test(a_line_that_is_no_power_machine_or_too_small_is_refused),
		cmocka_unit_test(lying_and_endless_replies_end),
		cmocka_unit_test(pages_with_more_than_the_whole_break_invariant_13_and_nothing_else),
		cmocka_unit_test(every_failing_allocation_is_survived),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
