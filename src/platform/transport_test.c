/*
 * transport_test.c: models behind a transport, and what was saved of one.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <cmocka.h>

#include "hv/gpci_guest.h"
#include "hv/sun4v_guest.h"
#include "platform/transport.h"

static struct model_opts opts_of(const char *machine)
{
	return (struct model_opts){ .machine = machine, .level = MODEL_LEVEL_AS_CONFIGURED };
}

static void transport_opened(struct hv_transport *l, const struct model_opts *o)
{
	struct err e = { 0 };

	if (transport_open(l, o, &e) < 0)
		fail_msg("%s: %s", o->machine, e.text);
}

/* ---- models ------------------------------------------------------------------------------------ */

static void each_model_answers_for_its_strands(void **state)
{
	static const struct {
		const char *machine;
		uint32_t sockets, strands, of_node;
	} row[] = {
		{ "niagara", 0, 32, 32 }, { "maramba", 0, 128, 64 }, { "maramba", 1, 64, 64 },
		{ "batoka", 0, 256, 64 }, { "batoka", 3, 192, 64 },
	};

	(void)state;
	for (size_t i = 0; i < COUNT(row); i++) {
		struct model_opts o = opts_of(row[i].machine);
		struct sun4v_client *c;
		struct hv_transport l;
		struct err e = { 0 };

		o.sockets = row[i].sockets;
		transport_opened(&l, &o);
		assert_ptr_equal(l.kind, sun4v_kind(row[i].machine, l.sockets));
		assert_int_equal(l.strands, row[i].strands);
		assert_int_equal(l.strands_per_node, row[i].of_node);
		assert_int_equal(sun4v_client_open(&c, &l, &e), 0);
		sun4v_client_close(c);
		transport_close(&l);
	}
	assert_int_equal(mem_live(), 0);
}

static void a_buffer_at_the_end_of_memory_is_taken_and_one_beyond_is_refused(void **state)
{
	const struct {
		int64_t from_end; /* of the memory; below 0: behind it */
		uint64_t size;
		bool taken;
	} row[] = {
		{ 64, 64, true }, { 64, 65, false }, { 63, 64, false },
		{ 0, 64, false }, { -8, 64, false }, { 64, UINT64_MAX, false },
	};
	struct model_opts o = opts_of("power");
	struct hv_transport l;
	struct err e = { 0 };

	(void)state;
	transport_opened(&l, &o);
	for (size_t i = 0; i < COUNT(row); i++) {
		uint64_t r[3] = { PAPR_GPCI, l.base + l.bytes - (uint64_t)row[i].from_end, row[i].size };

		assert_int_equal(l.op->papr(l.arg, 0, r, &e), 0);
		assert_int_equal((int64_t)r[0] != H_PRIVILEGE, row[i].taken);
	}
	for (uint64_t in_front = 0; in_front <= 64; in_front += 8) {
		uint64_t r[3] = { PAPR_GPCI, l.base - in_front, 64 };

		assert_int_equal(l.op->papr(l.arg, 0, r, &e), 0);
		assert_int_equal((int64_t)r[0] != H_PRIVILEGE, !in_front);
	}
	transport_close(&l);
}

static void time_passes_in_advance_only(void **state)
{
	static const char *const machine[] = { "niagara", "batoka", "power" };

	(void)state;
	for (size_t i = 0; i < COUNT(machine); i++) {
		struct model_opts o = opts_of(machine[i]);
		struct hv_transport l;

		o.load = strcmp(machine[i], "power") ? "compute" : NULL;
		transport_opened(&l, &o);
		assert_int_equal(l.op->now(l.arg), 0);
		for (uint32_t k = 0; k < 100; k++)
			l.op->advance(l.arg, 100003);
		/* POWER goes in windows of 10 ms. */
		assert_int_equal(l.op->now(l.arg), strcmp(machine[i], "power") ? 10000300 : 10000000);
		transport_close(&l);
	}
}

static void an_older_hypervisor_grants_the_older_api(void **state)
{
	struct model_opts o = opts_of("batoka");
	struct sun4v_client *c;
	struct hv_transport l;
	struct err e = { 0 };
	uint64_t value;

	(void)state;
	o.old_api = true;
	transport_opened(&l, &o);
	assert_int_equal(sun4v_client_open(&c, &l, &e), 0);
	assert_int_equal(vf_get(c, 0, 2, &value, &e), 0);
	assert_int_equal(vf_get(c, 0, 18, &value, &e), -TALLY_ENOTSUP);
	sun4v_client_close(c);
	transport_close(&l);
}

static void rights_narrow_what_a_guest_may(void **state)
{
	struct model_opts o = opts_of("batoka"), w = opts_of("power");
	struct gpci_table t;
	struct sun4v_client *c;
	struct hv_transport l;
	struct err e = { 0 };
	uint64_t value;

	(void)state;
	o.rights_given = w.rights_given = true;
	o.sun4v = (struct sun4v_rights){ .perf = true, .strand = true };
	transport_opened(&l, &o);
	assert_int_equal(sun4v_client_open(&c, &l, &e), 0);
	assert_int_equal(vf_get(c, 0, 0, &value, &e), 0);
	assert_int_equal(vf_get(c, 0, 1, &value, &e), -TALLY_EPERM);
	sun4v_client_close(c);
	transport_close(&l);
	e = (struct err){ 0 };
	transport_opened(&l, &w);
	assert_int_equal(gpci_read(&t, &l, gpci_request_find("dispatch_purr"), 0, &e), -TALLY_EPERM);
	transport_close(&l);
}

static void options_that_make_no_machine_are_refused(void **state)
{
	static const struct {
		int transport;
		struct model_opts o;
		const char *words;
	} row[] = {
		{ __LINE__, { .machine = "batoka", .sockets = 5 }, "sockets=5: batoka has 1 to 4" },
		{ __LINE__, { .machine = "niagara", .sockets = 2 }, "niagara has one" },
		{ __LINE__, { .machine = "maramba", .sockets = 1, .strands = 65 }, "strands=65: the machine has 64" },
		{ __LINE__, { .machine = "niagara", .load = "nothing" }, "nothing" },
		{ __LINE__, { .machine = "power", .load = "nothing" }, "nothing" },
		{ __LINE__, { .machine = "power", .level = 7 }, "7" },
		{ __LINE__, { .machine = "power", .config = "nodes 9\n", .config_bytes = 8 }, "line 1" },
	};

	(void)state;
	for (size_t i = 0; i < COUNT(row); i++) {
		struct hv_transport l;
		struct err e = { 0 };

		if (transport_open(&l, &row[i].o, &e) != -TALLY_EINVAL || !strstr(e.text, row[i].words))
			fail_msg("line %d: %s", row[i].transport, e.text);
	}
	assert_int_equal(mem_live(), 0);
}

static void out_of_memory_opens_nothing(void **state)
{
	static const char *const machine[] = { "niagara", "power" };

	(void)state;
	for (size_t i = 0; i < COUNT(machine); i++)
		for (long n = 1;; n++) {
			struct model_opts o = opts_of(machine[i]);
			struct hv_transport l = { 0 };
			struct err e = { 0 };
			int rc;

			mem_fail_at(n);
			rc = transport_open(&l, &o, &e);
			if (!mem_failed()) {
				mem_fail_at(0);
				transport_close(&l);
				break;
			}
			mem_fail_at(0);
			assert_int_equal(rc, -TALLY_ENOMEM);
			assert_int_equal(mem_live(), 0);
		}
}

/* ---- files ----------------------------------------------------------------------------------------- */

/* A reply to `entitled` of two partitions, by hand. */
static const uint8_t reply[32 + 2 * 48] = {
	[3] = 0x20, [7] = 2,      [0xb] = 2,   [0x11] = 48, [0x12] = 6,   [0x13] = 6,
	[0x27] = 2, [0x2f] = 100, [0x37] = 60, [0x57] = 9,  [0x5f] = 200, [0x67] = 7,
};

static void a_saved_reply_answers_its_request(void **state)
{
	struct transport_file f = { 0 };
	struct gpci_table t;
	struct err e = { 0 };

	(void)state;
	assert_int_equal(transport_file_parse(&f, "r", reply, sizeof(reply), &e), 0);
	assert_false(f.is_mmustat);
	assert_int_equal(f.reply.level, 6);
	assert_int_equal(gpci_read(&t, &f.reply, gpci_request(0x20, 6, 6), 0, &e), 0);
	assert_int_equal(t.n, 2);
	assert_int_equal(t.v[0].id, 2);
	assert_int_equal(t.v[1].id, 9);
	assert_int_equal(t.v[1].v[1], 200);
	gpci_table_free(&t);
	assert_int_equal(gpci_read(&t, &f.reply, gpci_request(0x10, 6, 6), 0, &e), -TALLY_ENOTSUP);
	transport_close(&f.reply);
	assert_int_equal(mem_live(), 0);
}

/* From a number on: the records that were saved of it and of higher ones. */
static void a_saved_reply_begins_with_the_record_that_is_asked_for(void **state)
{
	static const struct {
		int32_t from;
		uint32_t n; /* 0: refused */
	} row[] = { { -1, 2 }, { 0, 2 }, { 1, 2 }, { 2, 2 }, { 3, 1 }, { 8, 1 }, { 9, 1 }, { 10, 0 } };
	struct transport_file f = { 0 };
	struct err e = { 0 };

	(void)state;
	assert_int_equal(transport_file_parse(&f, "r", reply, sizeof(reply), &e), 0);
	for (size_t i = 0; i < COUNT(row); i++) {
		uint64_t r[3] = { PAPR_GPCI, f.reply.base, GPCI_MOST };
		const struct gpci_request *is = gpci_request(0x20, 6, 6);
		struct gpci_values v;
		struct gpci_reply got;

		gpci_ask(f.reply.memory, GPCI_MOST, 0x20, row[i].from, 0, 6);
		assert_int_equal(f.reply.op->papr(f.reply.arg, 0, r, &e), 0);
		assert_int_equal((int64_t)r[0], row[i].n ? H_SUCCESS : H_PARAMETER);
		assert_int_equal(gpci_reply(&got, f.reply.memory, GPCI_MOST, &e), 0);
		assert_int_equal(got.returned, row[i].n);
		if (!row[i].n)
			continue;
		assert_int_equal(got.starting_index, row[i].n == 2 ? 2 : 9);
		assert_int_equal(gpci_record(is, &got, 0, &v, &e), 0);
		assert_int_equal(v.id, row[i].n == 2 ? 2 : 9);
	}
	transport_close(&f.reply);
	assert_int_equal(mem_live(), 0);
}

/* Records of virtual processors have two numbers: what is asked for begins with that processor of that partition. */
static void a_saved_reply_of_processors_begins_with_that_processor(void **state)
{
	const struct gpci_request *is = gpci_request(0xa0, 8, 8);
	struct model_opts o = opts_of("power");
	struct gpci_reply all, got;
	struct transport_file f = { 0 };
	uint8_t saved[GPCI_MOST];
	struct hv_transport l;
	struct err e = { 0 };
	uint32_t partitions = 0;
	uint64_t last = 0;

	(void)state;
	o.papr.all = o.papr.expanded = true;
	transport_opened(&l, &o);
	gpci_ask(l.memory, GPCI_MOST, 0xa0, 0, 0, 8);
	assert_int_equal(l.op->papr(l.arg, 0, (uint64_t[3]){ PAPR_GPCI, l.base, GPCI_MOST }, &e), 0);
	memcpy(saved, l.memory, sizeof(saved));
	transport_close(&l);
	assert_int_equal(gpci_reply(&all, saved, sizeof(saved), &e), 0);
	assert_true(all.returned > 2);
	assert_int_equal(transport_file_parse(&f, "vps", saved, sizeof(saved), &e), 0);
	for (uint32_t i = 0; i < all.returned; i++)
		for (uint32_t behind = 0; behind < 2; behind++) {
			uint64_t r[3] = { PAPR_GPCI, f.reply.base, GPCI_MOST };
			const uint32_t first = i + behind;
			struct gpci_values v, want;

			assert_int_equal(gpci_record(is, &all, i, &v, &e), 0);
			partitions += v.id != last;
			last = v.id;
			gpci_ask(f.reply.memory, GPCI_MOST, 0xa0, (int32_t)v.id, (uint16_t)(v.secondary + behind), 8);
			assert_int_equal(f.reply.op->papr(f.reply.arg, 0, r, &e), 0);
			assert_int_equal((int64_t)r[0], first < all.returned ? H_SUCCESS : H_PARAMETER);
			if (first == all.returned)
				continue;
			assert_int_equal(gpci_reply(&got, f.reply.memory, GPCI_MOST, &e), 0);
			assert_int_equal(got.returned, all.returned - first);
			assert_int_equal(gpci_record(is, &all, first, &want, &e), 0);
			assert_int_equal(got.starting_index, want.id);
			assert_int_equal(got.secondary_index, want.secondary);
			assert_int_equal(gpci_record(is, &got, 0, &v, &e), 0);
			assert_true(v.id == want.id && v.secondary == want.secondary);
		}
	assert_true(partitions > 1);
	transport_close(&f.reply);
	assert_int_equal(mem_live(), 0);
}

/* What has no room is left out, and the reply says so. */
static void a_saved_reply_is_as_long_as_the_asker_has_room(void **state)
{
	static const struct {
		uint32_t room, n;
		int64_t rc;
	} row[] = {
		{ 32 + 47, UINT32_MAX, H_PARAMETER },
		{ 32 + 48, 1, H_PARAMETER },
		{ 32 + 95, 1, H_PARAMETER },
		{ 32 + 96, 2, H_SUCCESS },
		{ 32 + 97, 2, H_SUCCESS },
		{ GPCI_MOST, 2, H_SUCCESS },
		{ GPCI_MOST + 1, 2, H_SUCCESS },
	};
	struct transport_file f = { 0 };
	struct err e = { 0 };

	(void)state;
	assert_int_equal(transport_file_parse(&f, "r", reply, sizeof(reply), &e), 0);
	for (size_t i = 0; i < COUNT(row); i++) {
		uint64_t r[3] = { PAPR_GPCI, f.reply.base, row[i].room };
		struct gpci_reply got;

		gpci_ask(f.reply.memory, GPCI_MOST, 0x20, 0, 0, 6);
		assert_int_equal(f.reply.op->papr(f.reply.arg, 0, r, &e), 0);
		assert_int_equal((int64_t)r[0], row[i].rc);
		if (row[i].n == UINT32_MAX)
			continue;
		assert_int_equal(gpci_reply(&got, f.reply.memory, GPCI_MOST, &e), 0);
		assert_int_equal(got.returned, row[i].n);
		assert_int_equal(got.detail, row[i].rc == H_SUCCESS ? 0 : GPCI_BUF_TOO_SMALL);
	}
	transport_close(&f.reply);
}

static void hexadecimal_digits_are_the_bytes_they_spell(void **state)
{
	static const uint8_t digits[8] = { 0x01, 0x23, 0x45, 0x67, 0x89, 0xab, 0xcd, 0xef };
	struct transport_file f = { 0 };
	struct buf text = { 0 };
	struct err e = { 0 };
	uint8_t bytes[sizeof(reply)];

	(void)state;
	memcpy(bytes, reply, sizeof(reply));
	memcpy(bytes + 0x28, digits, sizeof(digits)); /* a number of the first record */
	for (int upper = 0; upper < 2; upper++) {
		struct gpci_table t;

		buf_clear(&text);
		for (size_t i = 0; i < sizeof(bytes); i++)
			buf_printf(&text, upper ? "%02X%s" : "%02x%s", bytes[i], i % 16 == 15 ? "\n" : " ");
		assert_int_equal(transport_file_parse(&f, "r", (const uint8_t *)text.p, text.n, &e), 0);
		assert_int_equal(f.request, 0x20);
		assert_int_equal(gpci_read(&t, &f.reply, gpci_request(0x20, 6, 6), 0, &e), 0);
		assert_true(t.v[0].v[1] == 0x0123456789abcdef);
		gpci_table_free(&t);
		transport_close(&f.reply);
	}
	buf_free(&text);
}

static void a_dump_of_0x200_bytes_is_mmu_statistics(void **state)
{
	uint8_t dump[MMUSTAT_BYTES] = { [0x107] = 5, [0x10f] = 35 };
	struct transport_file f = { 0 };
	struct mmustat m;
	struct err e = { 0 };

	(void)state;
	assert_int_equal(transport_file_parse(&f, "d", dump, sizeof(dump), &e), 0);
	assert_true(f.is_mmustat);
	assert_null(f.reply.op);
	mmustat_decode(f.mmustat, &m);
	assert_int_equal(m.at[1][0][MMUSTAT_8K].hits, 5);
	assert_int_equal(m.at[1][0][MMUSTAT_8K].ticks, 35);
}

/* Elements are as long as the specification has them, whatever a file says. */
static void an_element_size_that_lies_is_not_believed(void **state)
{
	const struct gpci_request *b1 = gpci_request(0xb1, 6, 8);
	struct model_opts o = opts_of("power");
	struct transport_file f = { 0 };
	struct gpci_table t;
	struct hv_transport l;
	struct err e = { 0 };
	uint64_t r[3] = { PAPR_GPCI, 0, GPCI_MOST };
	uint32_t n;

	(void)state;
	transport_opened(&l, &o);
	r[1] = l.base;
	gpci_ask(l.memory, GPCI_MOST, 0xb1, 0, 0, 8);
	assert_int_equal(l.op->papr(l.arg, 0, r, &e), 0);
	assert_int_equal(r[0], H_SUCCESS);
	assert_int_equal(b1->field[b1->nfields - 1].offset, 0xe);
	memset(l.memory + GPCI_HEADER + 0xe, 0xff, 2); /* of the first record */
	n = (uint32_t)be64_get(l.memory + 4) & 0xffff;
	assert_true(n > 1);
	assert_int_equal(transport_file_parse(&f, "lie", l.memory, GPCI_MOST, &e), 0);
	assert_int_equal(gpci_read(&t, &f.reply, b1, 0, &e), 0);
	assert_int_equal(t.n, n);
	gpci_table_free(&t);
	transport_close(&f.reply);
	transport_close(&l);
	assert_int_equal(mem_live(), 0);
}

static void what_is_neither_is_refused(void **state)
{
	uint8_t bad[sizeof(reply)];
	struct transport_file f = { 0 };
	struct err e;

	(void)state;
	for (size_t n = 0; n < sizeof(reply); n++) {
		e = (struct err){ 0 };
		assert_int_equal(transport_file_parse(&f, "cut", reply, n, &e), -TALLY_ECORRUPT);
		assert_non_null(strstr(e.text, "neither"));
	}
	for (size_t i = 0; i < GPCI_HEADER; i++)
		for (unsigned v = 1; v < 256; v += 2) { /* whatever a header says, it is taken or refused */
			memcpy(bad, reply, sizeof(bad));
			bad[i] ^= (uint8_t)v;
			e = (struct err){ 0 };
			if (transport_file_parse(&f, "bad", bad, sizeof(bad), &e) >= 0)
				transport_close(&f.reply);
		}
	assert_int_equal(mem_live(), 0);
}

static void out_of_memory_keeps_no_reply(void **state)
{
	(void)state;
	for (long n = 1;; n++) {
		struct transport_file f = { 0 };
		struct err e = { 0 };
		int rc;

		mem_fail_at(n);
		rc = transport_file_parse(&f, "r", reply, sizeof(reply), &e);
		if (!mem_failed()) {
			mem_fail_at(0);
			transport_close(&f.reply);
			return;
		}
		mem_fail_at(0);
		assert_int_equal(rc, -TALLY_ENOMEM);
		assert_int_equal(mem_live(), 0);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(each_model_answers_for_its_strands),
		cmocka_unit_test(a_buffer_at_the_end_of_memory_is_taken_and_one_beyond_is_refused),
		cmocka_unit_test(time_passes_in_advance_only),
		cmocka_unit_test(an_older_hypervisor_grants_the_older_api),
		cmocka_unit_test(rights_narrow_what_a_guest_may),
		cmocka_unit_test(options_that_make_no_machine_are_refused),
		cmocka_unit_test(out_of_memory_opens_nothing),
		cmocka_unit_test(a_saved_reply_answers_its_request),
		cmocka_unit_test(a_saved_reply_begins_with_the_record_that_is_asked_for),
		cmocka_unit_test(a_saved_reply_of_processors_begins_with_that_processor),
		cmocka_unit_test(a_saved_reply_is_as_long_as_the_asker_has_room),
		cmocka_unit_test(hexadecimal_digits_are_the_bytes_they_spell),
		cmocka_unit_test(a_dump_of_0x200_bytes_is_mmu_statistics),
		cmocka_unit_test(an_element_size_that_lies_is_not_believed),
		cmocka_unit_test(what_is_neither_is_refused),
		cmocka_unit_test(out_of_memory_keeps_no_reply),
	};

	return cmocka_run_group_tests_name("platform: line", tests, NULL, NULL);
}
