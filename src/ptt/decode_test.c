/* decode_test.c: every type, field and edge of a record, in both formats. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "ptt/handmade_int.h"

static struct tlp decode(enum ptt_format f, const struct handmade *h, bool tag14)
{
	const struct ptt_decode_opts o = { .format = f, .time = PTT_TIME_ABS, .tag14 = tag14 };
	struct ptt_clock c = { 0 };
	uint8_t p[32];
	struct tlp t;

	memset(&t, 0xa5, sizeof(t)); /* every field is written, but those that are the caller's */
	t.device = 3;
	t.offset = 99;
	handmade(p, f, h);
	ptt_decode(p, &o, &c, &t);
	assert_int_equal(t.device, 3);
	assert_int_equal(t.offset, 99);
	assert_int_equal(t.dws, f);
	return t;
}

#define BOTH(f) for (enum ptt_format f = PTT_4DW; f <= PTT_8DW; f += PTT_4DW)

/* What any layout has of one header: 01:02.3 asks 04:05.6, tag 0x321. */
static void check_layout(const struct tlp_type *row, const struct tlp *t, const struct handmade *h)
{
	bool cpl = row->layout == TLP_COMPLETION, msg = row->layout == TLP_MSG;
	bool known = row->layout != TLP_UNKNOWN, be = row->layout <= TLP_CFG;
	uint64_t both = (uint64_t)h->dw2 << 32 | h->dw3;
	uint64_t address[] = {
		[TLP_MEM32] = h->dw2 & ~3u, [TLP_MEM64] = both & ~(uint64_t)3,
		[TLP_IO] = h->dw2 & ~3u,    [TLP_MSG] = both,
		[TLP_UNKNOWN] = both,
	};

	assert_true(t->address == address[row->layout]);
	assert_int_equal(t->requester, !known ? 0 : cpl ? h->dw2 >> 16 : 0x0113);
	assert_int_equal(t->tag, !known ? 0 : 0x300 | (cpl ? h->dw2 >> 8 & 0xff : 0x21));
	assert_int_equal(t->completer, cpl ? 0x0113 : row->layout == TLP_CFG ? h->dw2 >> 16 : 0);
	assert_int_equal(t->reg, row->layout == TLP_CFG ? h->dw2 & 0xffc : 0);
	assert_int_equal(t->first_be, be ? 0x7 : 0);
	assert_int_equal(t->last_be, be ? 0x3 : 0);
	assert_int_equal(t->code, msg ? 0x37 : 0);
	assert_int_equal(t->byte_count, cpl ? 0x137 : 0);
	assert_int_equal(t->status, cpl ? 1 : 0);
	assert_int_equal(t->bcm, 0);
	assert_int_equal(t->lower_address, cpl ? h->dw2 & 0x7f : 0);
	assert_int_equal(t->dw1, known ? 0 : h->dw1);
	assert_int_equal(t->segment, 0);
	assert_int_equal(t->length_dw, (msg || cpl) && !row->data ? 0 : 4);
}

static void every_type_has_its_fields_and_no_others(void **state)
{
	const struct handmade like = {
		.length = 4, .dw1 = 0x01132137, .dw2 = 0x042e0a47, .dw3 = 0x89abcdef, .tag_high = 3
	};
	const struct tlp_type *row;

	(void)state;
	for (unsigned i = 0; (row = tlp_type_at(i)) != NULL; i++) {
		struct handmade h = like;
		h.fmt = row->fmt;
		h.type = row->type;
		BOTH(f)
		{
			if (f == PTT_4DW && row->fmt > 3)
				continue;
			struct tlp t = decode(f, &h, false);
			assert_int_equal(t.type_index, i);
			assert_int_equal(t.class, row->cls);
			assert_int_equal(t.fmt, row->fmt);
			assert_int_equal(t.type, row->type);
			assert_int_equal(t.header_dw, row->fmt & 1 ? 4 : 3);
			check_layout(row, &t, &h);
		}
	}
}

static void an_unknown_type_is_reserved_with_its_bits(void **state)
{
	const struct handmade h = { .fmt = 3, .type = 0x1e, .length = 5, .dw1 = 1, .dw2 = 2, .dw3 = 3 };

	(void)state;
	BOTH(f)
	{
		struct tlp t = decode(f, &h, true);
		assert_int_equal(t.type_index, TLP_ROW_reserved);
		assert_int_equal(t.class, TLP_RESERVED);
		assert_int_equal(t.type, 0x1e);
		assert_int_equal(t.length_dw, 5);
		assert_int_equal(t.bytes, 0);
		assert_int_equal(t.requester, 0);
		assert_int_equal(t.dw1, 1);
		assert_true(t.address == 0x200000003);
	}
}

static void every_bit_of_an_8dw_header_is_told(void **state)
{
	const struct handmade none = { .length = 1 };
	struct tlp t = decode(PTT_8DW, &none, false);
	struct handmade h = { .length = 1, .dw0 = 5u << 20 | 1 << 18 | 1 << 17 | 1 << 15 | 1 << 14 | 2 << 10 };

	(void)state;
	assert_int_equal(t.tc | t.attr | t.ln | t.td | t.ep | t.at | t.th | t.tag, 0);
	t = decode(PTT_8DW, &h, false);
	assert_int_equal(t.tc, 5);
	assert_int_equal(t.attr, 4);
	assert_int_equal(t.ln, 1);
	assert_int_equal(t.td, 1);
	assert_int_equal(t.ep, 1);
	assert_int_equal(t.at, 2);
	h.dw0 = 1 << 13;
	assert_int_equal(decode(PTT_8DW, &h, false).attr, 2);
	h.dw0 = 1 << 12;
	assert_int_equal(decode(PTT_8DW, &h, false).attr, 1);
	h.dw0 = 0;
	h.so = 1;
	assert_int_equal(decode(PTT_4DW, &h, false).attr, 2);
}

static void tag_has_ten_bits(void **state)
{
	struct handmade h = { .length = 1, .dw1 = 0xff00 };

	(void)state;
	BOTH(f)
	{
		h.tag_high = 1;
		assert_int_equal(decode(f, &h, false).tag, 0x1ff);
		h.tag_high = 2;
		assert_int_equal(decode(f, &h, false).tag, 0x2ff);
	}
}

static void pasid_comes_from_its_prefix_alone(void **state)
{
	struct handmade h = { .length = 1, .prefix = 0x913fedcb };
	struct tlp t = decode(PTT_8DW, &h, false);

	(void)state;
	assert_int_equal(t.prefix, 0x913fedcb);
	assert_int_equal(t.pasid, 0xfedcb);
	assert_int_equal(t.pasid_exec, 1);
	assert_int_equal(t.pasid_priv, 1);
	h.prefix = 0x90120000; /* ExtTPH */
	t = decode(PTT_8DW, &h, false);
	assert_int_equal(t.prefix, 0x90120000);
	assert_int_equal(t.pasid | t.pasid_exec | t.pasid_priv, 0);
	assert_int_equal(decode(PTT_4DW, &h, false).prefix, 0);
}

static void a_steering_tag_stands_where_the_request_has_room(void **state)
{
	struct handmade h = { .fmt = 0, .length = 4, .dw1 = 0x0100ab12, .dw2 = 0x1002, .th = 1 };

	(void)state;
	BOTH(f)
	{
		h.fmt = 0;
		struct tlp read = decode(f, &h, false);
		assert_int_equal(read.th, 1);
		assert_int_equal(read.ph, 2);
		assert_int_equal(read.st, 0x12);
		assert_int_equal(read.first_be, 0xf);
		assert_int_equal(read.last_be, 0xf);
		assert_int_equal(read.tag, 0xab);
		assert_true(read.address == 0x1000);
		h.fmt = 2;
		struct tlp write = decode(f, &h, false);
		assert_int_equal(write.st, 0xab);
		assert_int_equal(write.first_be, 2);
		h.fmt = 3;
		h.dw3 = 0x2001;
		assert_int_equal(decode(f, &h, false).ph, 1);
		h.type = 0x0a; /* what has no address has no hint */
		h.fmt = 2;
		struct tlp cpl = decode(f, &h, false);
		assert_int_equal(cpl.ph | cpl.st, 0);
		h.type = 0;
	}
}

static uint32_t bytes_of(uint32_t fmt, uint32_t type, uint32_t length, uint32_t dw1, uint32_t dw2)
{
	const struct handmade h = { .fmt = fmt, .type = type, .length = length, .dw1 = dw1, .dw2 = dw2 };
	uint32_t four = decode(PTT_4DW, &h, false).bytes;
	assert_int_equal(decode(PTT_8DW, &h, false).bytes, four);
	return four;
}

static void byte_enables_limit_what_is_written(void **state)
{
	(void)state;
	assert_int_equal(bytes_of(2, 0, 1, 0x0f, 0), 4);
	assert_int_equal(bytes_of(2, 0, 1, 0xf1, 0), 1); /* one DW has no last DW */
	assert_int_equal(bytes_of(2, 0, 1, 0x00, 0), 0);
	assert_int_equal(bytes_of(3, 0, 2, 0x3c, 0), 4);
	assert_int_equal(bytes_of(3, 0, 0, 0x18, 0), 4096 - 6);
	assert_int_equal(bytes_of(2, 0x02, 1, 0x03, 0), 2);
	assert_int_equal(bytes_of(2, 0x04, 1, 0x08, 0), 1);
	assert_int_equal(bytes_of(3, 0x1b, 2, 0xff, 0), 8);
	assert_int_equal(bytes_of(3, 0x0c, 2, 0x00, 0), 8); /* atomic operands are whole */
	assert_int_equal(bytes_of(3, 0x14, 1, 0x52, 0), 4); /* a code is no byte enable */
	assert_int_equal(bytes_of(0, 0, 64, 0xff, 0), 0);   /* a read asks, it carries nothing */
}

static void all_byte_enables_count_their_bits(void **state)
{
	(void)state;
	for (uint32_t be = 0; be < 256; be++) {
		uint32_t bits = (uint32_t)__builtin_popcount(be);
		assert_int_equal(bytes_of(2, 0, 3, be, 0), 4 + bits);
		assert_int_equal(bytes_of(2, 0, 1, be, 0), (uint32_t)__builtin_popcount(be & 0xf));
	}
}

static void a_completion_carries_its_part_of_the_request(void **state)
{
	(void)state;
	assert_int_equal(bytes_of(2, 0x0a, 16, 256, 0), 64);    /* more follow */
	assert_int_equal(bytes_of(2, 0x0a, 16, 256, 0x03), 61); /* the first starts within a DW */
	assert_int_equal(bytes_of(2, 0x0a, 2, 5, 0x02), 5);     /* the last ends within a DW */
	assert_int_equal(bytes_of(2, 0x0a, 1, 1, 0), 1);
	assert_int_equal(bytes_of(2, 0x0a, 0, 0, 0), 4096); /* 0 stands for 4096 */
	assert_int_equal(bytes_of(2, 0x0b, 1, 4, 0), 4);
	assert_int_equal(bytes_of(0, 0x0a, 16, 256, 0), 0);
}

static void a_completion_tells_how_its_request_ended(void **state)
{
	const struct handmade h = { .fmt = 0, .type = 0x0a, .dw1 = 0x0200b000, .dw2 = 0x01081e7f };

	(void)state;
	BOTH(f)
	{
		struct tlp t = decode(f, &h, false);
		assert_int_equal(t.status, 5);
		assert_int_equal(t.bcm, 1);
		assert_int_equal(t.byte_count, 4096);
		assert_int_equal(t.completer, 0x0200);
		assert_int_equal(t.requester, 0x0108);
		assert_int_equal(t.tag, 0x1e);
		assert_int_equal(t.lower_address, 0x7f);
		assert_int_equal(t.length_dw, 0);
	}
}

static void a_message_by_id_has_a_target(void **state)
{
	struct handmade h = { .fmt = 1, .dw1 = 0x0100007f, .dw2 = 0x02001af4 };

	(void)state;
	BOTH(f)
	for (uint32_t route = 0; route < 8; route++) {
		h.type = 0x10 | route;
		struct tlp t = decode(f, &h, false);
		assert_int_equal(t.route, route);
		assert_int_equal(t.code, 0x7f);
		assert_int_equal(t.completer, route == 2 ? 0x0200 : 0);
	}
}

static void the_newer_layout_has_wider_tags_and_segments(void **state)
{
	static const struct {
		uint8_t fmt, type;
		uint32_t dw2, dw3;
		uint16_t segment;
		uint64_t address;
	} rows[] = {
		{ 3, 0x00, 0x2abd1234, 0x1000, 0x55, 0x123400001000 },
		{ 2, 0x00, 0x2abd1234, 0x550000cd, 0x55, 0x2abd1234 },
		{ 0, 0x02, 0x00001234, 0x5500000d, 0x55, 0x1234 },
		{ 2, 0x0c, 0x00001230, 0x5500000d, 0x55, 0x1230 },
		{ 0, 0x04, 0x01000010, 0x2abd0000, 0x55, 0 },
		{ 2, 0x0a, 0x00000000, 0x5577800d, 0x55, 0 },
		{ 2, 0x0a, 0x00000000, 0x5577000d, 0x77, 0 },
		{ 1, 0x14, 0x2abd0000, 0x00000000, 0x55, (uint64_t)0x2abd0000 << 32 },
	};

	(void)state;
	BOTH(f)
	for (size_t i = 0; i < COUNT(rows); i++) {
		const struct handmade h = { .fmt = rows[i].fmt,
					    .type = rows[i].type,
					    .length = 1,
					    .dw2 = rows[i].dw2,
					    .dw3 = rows[i].dw3,
					    .tag_high = 1 };
		struct tlp t = decode(f, &h, true);
		assert_int_equal(t.tag, 0x3500);
		assert_int_equal(t.segment, rows[i].segment);
		assert_true(t.address == rows[i].address);
		assert_int_equal(decode(f, &h, false).segment, 0);
	}
}

static void a_message_with_an_id_keeps_it_in_the_newer_layout(void **state)
{
	const struct handmade h = { .fmt = 1, .type = 0x12, .dw2 = 0x2abd0000 };
	struct tlp t = decode(PTT_8DW, &h, true);

	(void)state;
	assert_int_equal(t.segment, 0);
	assert_int_equal(t.tag, 0);
	assert_int_equal(t.completer, 0x2abd);
}

/* hisi_ptt.rst, "Decoding". */
static void the_sample_of_the_specification_decodes(void **state)
{
	static const uint8_t sample[] = {
		0xff, 0xff, 0xff, 0xff, 0x00, 0x00, 0x00, 0x00, 0x01, 0x00, 0x00, 0x60, 0x0f, 0x1e, 0x00, 0x01,
		0x04, 0x00, 0x00, 0x00, 0x40, 0x00, 0x81, 0x02, 0x00, 0x00, 0x00, 0x00, 0x33, 0xc0, 0x04, 0x00,
	};
	const struct ptt_decode_opts o = { .format = PTT_8DW, .time = PTT_TIME_DELTA };
	struct ptt_clock c = { 0 };
	struct tlp t;

	(void)state;
	assert_int_equal(ptt_format_of(sample, sizeof(sample)), PTT_8DW);
	ptt_decode(sample, &o, &c, &t);
	assert_int_equal(t.type_index, TLP_ROW_MWr64);
	assert_int_equal(t.requester, 0x0100);
	assert_int_equal(t.tag, 0x1e);
	assert_int_equal(t.first_be, 0xf);
	assert_int_equal(t.last_be, 0);
	assert_true(t.address == 0x402810040);
	assert_int_equal(t.bytes, 4);
	assert_int_equal(c.last, 0x4c033);
}

static uint64_t time_after(enum ptt_format f, enum ptt_time time, const uint32_t *times, size_t n)
{
	const struct ptt_decode_opts o = { .format = f, .time = time };
	struct ptt_clock c = { 0 };
	struct tlp t = { 0 };

	for (size_t i = 0; i < n; i++) {
		uint8_t p[32];
		handmade(p, f, &(struct handmade){ .time = times[i] });
		ptt_decode(p, &o, &c, &t);
		assert_true(i > 0 || t.time == 0);
	}
	return t.time;
}

static void time_is_unwrapped_from_the_first_record(void **state)
{
	const uint32_t times[] = { 0xfffffff0, 0x10, 0x10, 0xfffffff0, 0x20 };

	(void)state;
	assert_true(time_after(PTT_8DW, PTT_TIME_ABS, times, 2) == 0x20);
	assert_true(time_after(PTT_8DW, PTT_TIME_ABS, times, 5) == 0x30); /* 0xfffffff0 is out of order, and no wrap */
	assert_true(time_after(PTT_8DW, PTT_TIME_DELTA, times, 5) == 0x100000030);
	assert_true(time_after(PTT_4DW, PTT_TIME_ABS, times, 5) == 0x20 + 0x7e0 + 0x30);
	assert_true(time_after(PTT_4DW, PTT_TIME_DELTA, times, 5) == 0x10 + 0x10 + 0x7f0 + 0x20);
}

static void format_and_padding_are_told_by_the_bytes(void **state)
{
	uint8_t p[32] = { 0 };

	(void)state;
	assert_int_equal(ptt_format_of(p, 0), PTT_4DW);
	assert_int_equal(ptt_format_of(p, 16), PTT_4DW);
	assert_true(ptt_is_padding(p, PTT_4DW) && ptt_is_padding(p, PTT_8DW));
	p[16] = 1;
	assert_true(ptt_is_padding(p, PTT_4DW));
	assert_false(ptt_is_padding(p, PTT_8DW));
	handmade_dw(p, 0xfffff800);
	assert_int_equal(ptt_format_of(p, 32), PTT_8DW);
	assert_int_equal(ptt_format_of(p, 3), PTT_4DW);
	handmade_dw(p, 0xfffff000);
	assert_int_equal(ptt_format_of(p, 32), PTT_4DW);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(every_type_has_its_fields_and_no_others),
		cmocka_unit_test(an_unknown_type_is_reserved_with_its_bits),
		cmocka_unit_test(every_bit_of_an_8dw_header_is_told),
		cmocka_unit_test(tag_has_ten_bits),
		cmocka_unit_test(pasid_comes_from_its_prefix_alone),
		cmocka_unit_test(a_steering_tag_stands_where_the_request_has_room),
		cmocka_unit_test(byte_enables_limit_what_is_written),
		cmocka_unit_test(all_byte_enables_count_their_bits),
		cmocka_unit_test(a_completion_carries_its_part_of_the_request),
		cmocka_unit_test(a_completion_tells_how_its_request_ended),
		cmocka_unit_test(a_message_by_id_has_a_target),
		cmocka_unit_test(the_newer_layout_has_wider_tags_and_segments),
		cmocka_unit_test(a_message_with_an_id_keeps_it_in_the_newer_layout),
		cmocka_unit_test(the_sample_of_the_specification_decodes),
		cmocka_unit_test(time_is_unwrapped_from_the_first_record),
		cmocka_unit_test(format_and_padding_are_told_by_the_bytes),
	};
	return cmocka_run_group_tests_name("ptt: decode", tests, NULL, NULL);
}
