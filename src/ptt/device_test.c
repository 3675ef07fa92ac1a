/* device_test.c: the device's registers, what it records, and what becomes of the rest. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <cmocka.h>

#include "ptt/device_test_int.h"
#include "ptt/decode_inline.h"
#include "ptt/handmade_int.h"

enum { SMALL = 256, BASE = 0x3000000, EN = 1, RST = 2, WIDE = 0x4000, BY_FUNCTION = 0x8000, ALL_TYPES = 0x70 };

static struct guest g;

static uint32_t rd(uint32_t off)
{
	return ptt_dev_read(g.dev, off);
}

static void wr(uint32_t off, uint32_t value)
{
	ptt_dev_write(g.dev, off, value);
}

/* As a driver does: four buffers of `size` side by side, reset, all interrupts enabled. */
static void start(uint32_t size, uint32_t ctrl)
{
	for (uint32_t i = 0; i < PTT_BUFFERS; i++) {
		wr(PTT_REG_TRACE_ADDR_BASE_LO_0 + 8 * i, BASE + i * size);
		wr(PTT_REG_TRACE_ADDR_BASE_HI_0 + 8 * i, 0);
	}
	wr(PTT_REG_TRACE_ADDR_SIZE, size);
	wr(PTT_REG_TRACE_CTRL, RST);
	wr(PTT_REG_TRACE_CTRL, 0);
	wr(PTT_REG_TRACE_INT_STAT, 0xf);
	wr(PTT_REG_TRACE_INT_MASK, 0);
	wr(PTT_REG_TRACE_CTRL, ctrl | EN);
}

static int open_small(void **state)
{
	(void)state;
	return guest_open(&g, &(struct ptt_dev_opts){ .core = 2 }, BASE, 4 * SMALL);
}

static int close_it(void **state)
{
	(void)state;
	guest_close(&g);
	return 0;
}

/* n packets that an inbound trace of all types and port 1 takes; returns the last one's time. */
static uint64_t feed(size_t n, uint64_t now)
{
	while (n--) {
		struct ptt_tlp t = { .now = now++, .dw = { 0x60000001, 1, 2, 3 }, .port = 1 };
		ptt_dev_packets(g.dev, &t, 1);
	}
	return now - 1;
}

static void assert_invariant(void)
{
	const struct ptt_dev_counts *c = ptt_dev_counts(g.dev);
	assert_int_equal(c->seen, c->recorded + c->filtered + c->lost);
}

/* ---- the tables ---------------------------------------------------------------------------------- */

static void registers_are_unique_aligned_and_within_the_bar(void **state)
{
	static const struct {
		const char *name, *text;
		uint32_t off, reset, writable;
	} rows[] = {
#define PTT_REG(name, off, reset, writable, text) { #name, text, off, reset, writable },
#include "facts/ptt_reg.def"
#undef PTT_REG
	};

	(void)state;
	for (size_t i = 0; i < COUNT(rows); i++) {
		assert_true(rows[i].off % 4 == 0 && rows[i].off < PTT_BAR_SIZE && *rows[i].text);
		for (size_t k = 0; k < i; k++)
			assert_true(strcmp(rows[i].name, rows[k].name) && rows[i].off > rows[k].off);
		assert_int_equal(rd(rows[i].off), rows[i].reset);
	}
}

static void tunables_are_unique_and_reset_to_what_they_can_be(void **state)
{
	(void)state;
	for (int i = 0; i < PTT_TUNES; i++) {
		const struct ptt_tunable *t = &ptt_tunables[i];
		assert_true(*t->name && *t->text && t->reset <= PTT_TUNE_MOST && t->code >> 24 == 0);
		assert_int_equal(ptt_dev_tuned(g.dev, i), t->reset);
		for (int k = 0; k < i; k++)
			assert_true(strcmp(t->name, ptt_tunables[k].name) && t->code != ptt_tunables[k].code);
	}
}

static void where_there_is_no_register_nothing_is_read_or_kept(void **state)
{
	(void)state;
	for (uint32_t off = 0; off < PTT_BAR_SIZE + 64; off++) {
		bool there = false;
#define PTT_REG(name, at, ...) there |= off == at;
#include "facts/ptt_reg.def"
#undef PTT_REG
		if (there)
			continue;
		wr(off, UINT32_MAX);
		assert_int_equal(rd(off), 0);
	}
	wr(UINT32_MAX, 1);
	assert_int_equal(rd(UINT32_MAX), 0);
}

static void only_writable_bits_are_kept(void **state)
{
	(void)state;
	wr(PTT_REG_TRACE_CTRL, 0xfffffffe);
	assert_int_equal(rd(PTT_REG_TRACE_CTRL), 0xffffc1fe);
	wr(PTT_REG_TRACE_INT_MASK, 0xffffffff);
	assert_int_equal(rd(PTT_REG_TRACE_INT_MASK), 0xf);
	wr(PTT_REG_DEVICE_RANGE, 0);
	wr(PTT_REG_LOCATION, 0);
	assert_int_equal(rd(PTT_REG_DEVICE_RANGE), 0x00a00080);
	assert_int_equal(rd(PTT_REG_LOCATION), 2);
}

static void range_and_location_are_those_of_the_options(void **state)
{
	struct ptt_dev *d;

	(void)state;
	assert_int_equal(ptt_dev_open(&d, &(struct ptt_dev_opts){ .lower = 0x10, .upper = 0x28, .core = 4, .sicl = 3 }),
			 0);
	assert_int_equal(ptt_dev_read(d, PTT_REG_DEVICE_RANGE), 0x00280010);
	assert_int_equal(ptt_dev_read(d, PTT_REG_LOCATION), 0x00030004);
	ptt_dev_close(d);
	ptt_dev_close(NULL);
}

/* ---- the recorded run ----------------------------------------------------------------------------- */

/* The log is of two runs; the second starts where the addresses are written, with a device fresh from reset. No packet
 * passed in either, so no value in it depends on traffic: every read is held against the log's. Lines that are
 * neither R nor W are remarks. */
static void the_recorded_run_reads_the_same_values(void **state)
{
	FILE *f = fopen("test/fixture/ptt-mmio-golden.log", "r");
	char line[128];
	unsigned off, value, reads = 0, writes = 0;
	bool second = false;

	(void)state;
	if (!f)
		skip();
	while (fgets(line, sizeof(line), f)) {
		if (sscanf(line, "R %x -> %x", &off, &value) == 2) {
			if (rd(off) != value)
				fail_msg("%.*s: it reads %08x", (int)strcspn(line, "\n"), line, rd(off));
			reads++;
		} else if (sscanf(line, "W %x = %x", &off, &value) == 2) {
			if (off == PTT_REG_TRACE_ADDR_BASE_LO_0 && !second) {
				ptt_dev_reset(g.dev);
				second = true;
			}
			wr(off, value);
			writes++;
		}
	}
	fclose(f);
	assert_int_equal(reads, 74);
	assert_int_equal(writes, 65);
	assert_true(second && ptt_dev_tracing(g.dev));
}

/* ---- tuning ---------------------------------------------------------------------------------------- */

static void tune(uint32_t code, uint32_t value)
{
	wr(PTT_REG_TUNING_CTRL, code);
	wr(PTT_REG_TUNING_DATA, value);
}

static void values_above_two_become_two(void **state)
{
	(void)state;
	for (int i = 0; i < PTT_TUNES; i++)
		for (uint64_t v = 0; v < UINT32_MAX; v = v * 2 + 1) {
			tune(ptt_tunables[i].code, (uint32_t)v);
			assert_int_equal(ptt_dev_tuned(g.dev, i), v < 2 ? v : 2);
			tune(ptt_tunables[i].code, UINT32_MAX);
			assert_int_equal(rd(PTT_REG_TUNING_DATA), v < 2 ? v : 2);
		}
}

static void one_tunable_leaves_the_others_alone(void **state)
{
	(void)state;
	tune(ptt_tunables[PTT_TUNE_qos_tx_np].code | 0xab000000, 0);
	for (int i = 0; i < PTT_TUNES; i++)
		assert_int_equal(ptt_dev_tuned(g.dev, i), i == PTT_TUNE_qos_tx_np ? 0 : ptt_tunables[i].reset);
	assert_int_equal(rd(PTT_REG_TUNING_CTRL), 0xab040004);
}

static void an_unknown_code_reads_zero_and_changes_nothing(void **state)
{
	(void)state;
	tune(0x80005, 0);
	tune(0x80005, UINT32_MAX);
	assert_int_equal(rd(PTT_REG_TUNING_DATA), 0);
	for (int i = 0; i < PTT_TUNES; i++)
		assert_int_equal(ptt_dev_tuned(g.dev, i), ptt_tunables[i].reset);
}

static void a_busy_device_answers_when_it_is_done(void **state)
{
	struct ptt_dev *d;

	(void)state;
	assert_int_equal(ptt_dev_open(&d, &(struct ptt_dev_opts){ .busy_polls = 3 }), 0);
	assert_int_equal(ptt_dev_read(d, PTT_REG_TUNING_INT_STAT), 0);
	ptt_dev_write(d, PTT_REG_TUNING_CTRL, ptt_tunables[PTT_TUNE_qos_tx_p].code);
	ptt_dev_write(d, PTT_REG_TUNING_DATA, UINT32_MAX);
	for (int i = 0; i < 3; i++) {
		assert_int_equal(ptt_dev_read(d, PTT_REG_TUNING_DATA), UINT32_MAX);
		assert_int_equal(ptt_dev_read(d, PTT_REG_TUNING_INT_STAT), 1);
	}
	assert_int_equal(ptt_dev_read(d, PTT_REG_TUNING_INT_STAT), 0);
	assert_int_equal(ptt_dev_read(d, PTT_REG_TUNING_DATA), 1);
	ptt_dev_close(d);
}

static void tuning_works_during_a_trace(void **state)
{
	(void)state;
	start(SMALL, 1u << 16 | ALL_TYPES);
	feed(1, 0);
	tune(ptt_tunables[PTT_TUNE_qos_tx_cpl].code, 2);
	assert_int_equal(ptt_dev_tuned(g.dev, PTT_TUNE_qos_tx_cpl), 2);
	feed(1, 1);
	assert_int_equal(rd(PTT_REG_TRACE_WR_STS), 32);
}

/* ---- selection --------------------------------------------------------------------------------------- */

/* Feeds one packet of each kind; which were recorded, as letters: P N A B inbound, p n c C outbound. */
static const char *kinds_of(uint32_t ctrl)
{
	static const char letter[] = "PNABpncC";
	static char text[9];
	size_t n = 0;

	for (int kind = 0; kind < 8; kind++) {
		const struct ptt_tlp t = { .port = 1, .outbound = kind > 3, .cls = kind & 3, .dw = { 0x60000001 } };

		start(SMALL, ctrl);
		ptt_dev_packets(g.dev, &t, 1);
		assert_int_equal(ptt_dev_counts(g.dev)->recorded + ptt_dev_counts(g.dev)->filtered, 1);
		if (ptt_dev_counts(g.dev)->recorded)
			text[n++] = letter[kind];
	}
	text[n] = 0;
	return text;
}

static void every_direction_of_both_formats_selects_as_its_table_says(void **state)
{
	static const struct {
		uint32_t format, direction;
		const char *kinds;
	} row[] = {
		{ 0, 0, "PNAB" },    { 0, 1, "pncC" },    { 0, 2, "PNBpncC" }, { 0, 3, "ApncC" },
		{ WIDE, 0, "PNAB" }, { WIDE, 1, "pncC" }, { WIDE, 2, "PNB" },  { WIDE, 3, "A" },
	};
	static const char types[8][9] = { "", "Pp", "Nn", "PNpn", "ABcC", "PABpcC", "NABncC", "PNABpncC" };

	(void)state;
	for (size_t i = 0; i < COUNT(row); i++)
		for (uint32_t type = 0; type < 16; type++) {
			char want[9] = "";
			for (const char *k = row[i].kinds; *k; k++)
				if (strchr(types[type & 7], *k))
					strncat(want, k, 1);
			assert_string_equal(kinds_of(1u << 16 | type << 4 | row[i].direction << 2 | row[i].format),
					    want);
		}
}

static void ports_are_a_mask_and_an_empty_one_selects_nothing(void **state)
{
	(void)state;
	for (uint32_t mask = 0; mask < 0x10000; mask += 0x111) {
		uint32_t want = 0;
		start(SMALL, mask << 16 | ALL_TYPES);
		for (uint32_t port = 0; port < 16; port++) {
			const struct ptt_tlp t = { .port = (uint16_t)(1u << port), .function = (uint16_t)mask };
			want += mask >> port & 1;
			ptt_dev_packets(g.dev, &t, 1);
		}
		assert_int_equal(ptt_dev_counts(g.dev)->recorded + ptt_dev_counts(g.dev)->lost, want);
		assert_invariant();
	}
}

static void a_requester_is_one_function_whatever_its_port(void **state)
{
	(void)state;
	start(SMALL, 0x0101u << 16 | BY_FUNCTION | ALL_TYPES);
	for (uint32_t i = 0; i < 16; i++) {
		const struct ptt_tlp t = { .port = (uint16_t)(1u << i & 0xfe), .function = (uint16_t)(0x00f9 + i) };
		ptt_dev_packets(g.dev, &t, 1);
	}
	assert_int_equal(ptt_dev_counts(g.dev)->recorded, 1);
	assert_int_equal(ptt_dev_counts(g.dev)->filtered, 15);
}

/* ---- records ------------------------------------------------------------------------------------------ */

static void a_record_is_what_its_format_says(void **state)
{
	const struct handmade h = { .fmt = 3,
				    .type = 0x0c,
				    .length = 0x155,
				    .dw1 = 0x0100a5ff,
				    .dw2 = 0x12345678,
				    .dw3 = 0x9abcdef0,
				    .tag_high = 2,
				    .th = 1,
				    .prefix = 0x91012345,
				    .dw0 = 0x2000,
				    .so = 1,
				    .time = 0 };
	const struct ptt_tlp t = { .prefix = h.prefix, .dw = { 0x6c812155, h.dw1, h.dw2, h.dw3 }, .port = 1 };
	uint8_t want[32];

	(void)state;
	for (int wide = 0; wide < 2; wide++) {
		start(SMALL, 1u << 16 | ALL_TYPES | (wide ? WIDE : 0));
		ptt_dev_packets(g.dev, &t, 1);
		assert_int_equal(rd(PTT_REG_TRACE_WR_STS), wide ? 32 : 16);
		handmade(want, wide ? PTT_8DW : PTT_4DW, &h);
		assert_memory_equal(g.memory, want, wide ? 32 : 16);
	}
}

static void what_was_recorded_decodes_to_the_packets(void **state)
{
	uint64_t seed = 5;
	struct ptt_tlp in[8];

	(void)state;
	for (int round = 0; round < 200; round++)
		for (int wide = 0; wide < 2; wide++) {
			const struct ptt_decode_opts o = { .format = wide ? PTT_8DW : PTT_4DW, .time = PTT_TIME_ABS };
			struct ptt_clock clock = { 0 };

			for (uint64_t i = 0; i < COUNT(in); i++) {
				in[i] = any_packet(&seed, 1000 + 700 * i);
				in[i].port = 1, in[i].outbound = false;
			}
			start(SMALL, 1u << 16 | ALL_TYPES | (wide ? WIDE : 0));
			ptt_dev_packets(g.dev, in, COUNT(in));
			(void)rd(PTT_REG_TRACE_INT_STAT);
			for (size_t i = 0; i < COUNT(in); i++) {
				struct tlp t;
				ptt_decode(g.memory + i * 4 * o.format, &o, &clock, &t);
				assert_int_equal(t.time, 700 * i);
				assert_int_equal(t.type, in[i].dw[0] >> 24 & 0x1f);
				assert_int_equal(t.fmt, in[i].dw[0] >> 29);
				assert_int_equal(t.th, in[i].dw[0] >> 16 & 1);
				assert_int_equal(t.attr & 2, in[i].dw[0] >> 12 & 2);
				assert_int_equal(t.prefix, wide ? in[i].prefix : 0);
				assert_int_equal(t.tc, wide ? in[i].dw[0] >> 20 & 7 : 0);
				assert_memory_equal(g.memory + (i + 1) * 4 * o.format - (wide ? 20 : 12), &in[i].dw[1],
						    12);
			}
		}
}

static void time_counts_from_the_first_packet_of_the_trace(void **state)
{
	const struct ptt_tlp t[] = { { .now = 500, .port = 2 },
				     { .now = 600, .port = 1 },
				     { .now = 604, .port = 2 },
				     { .now = 5000, .port = 1 } };

	(void)state;
	start(SMALL, 1u << 16 | ALL_TYPES | WIDE);
	ptt_dev_packets(g.dev, t, COUNT(t));
	assert_int_equal(rd(PTT_REG_TRACE_WR_STS), 64);
	assert_int_equal(ptt_le32(g.memory + 28), 100);
	assert_int_equal(ptt_le32(g.memory + 60), 4500);
	start(SMALL, 1u << 16 | ALL_TYPES);
	ptt_dev_packets(g.dev, t + 1, 3);
	assert_int_equal(rd(PTT_REG_TRACE_WR_STS), 32);
	assert_int_equal(ptt_le32(g.memory) & 0x7ff, 0);
	assert_int_equal(ptt_le32(g.memory + 16) & 0x7ff, 4400 & 0x7ff);
}

static void delta_time_counts_from_the_record_before(void **state)
{
	const struct ptt_tlp t[] = { { .now = 500, .port = 2 },
				     { .now = 600, .port = 1 },
				     { .now = 604, .port = 2 },
				     { .now = 5000, .port = 1 },
				     { .now = 5001, .port = 1 } };
	static const uint32_t want[] = { 100, 4400, 1 };

	(void)state;
	guest_close(&g);
	assert_int_equal(guest_open(&g, &(struct ptt_dev_opts){ .core = 2, .delta = true }, BASE, 4 * SMALL), 0);
	for (int wide = 0; wide < 2; wide++) {
		start(SMALL, 1u << 16 | ALL_TYPES | (wide ? WIDE : 0));
		for (size_t i = 0; i < COUNT(t); i++)
			ptt_dev_packets(g.dev, t + i, 1);
		(void)rd(PTT_REG_TRACE_WR_STS);
		for (size_t i = 0; i < 3; i++)
			assert_int_equal(wide ? ptt_le32(g.memory + 32 * i + 28) : ptt_le32(g.memory + 16 * i) & 0x7ff,
					 wide ? want[i] : want[i] & 0x7ff);
	}
}

/* ---- buffers and interrupts ------------------------------------------------------------------------------ */

static void clear_all(struct guest *of)
{
	ptt_dev_write(of->dev, PTT_REG_TRACE_INT_STAT, ptt_dev_read(of->dev, PTT_REG_TRACE_INT_STAT));
}

static void four_buffers_are_written_in_turn(void **state)
{
	(void)state;
	g.on_irq = clear_all;
	start(SMALL, 1u << 16 | ALL_TYPES);
	for (uint32_t i = 0; i < 1000; i++) {
		assert_int_equal(rd(PTT_REG_TRACE_WR_STS), (i / 16 % 4) << 28 | i % 16 * 16);
		feed(1, i);
		if (i % 16 == 15)
			assert_int_equal(g.interrupts, i / 16 + 1);
		/* what it was is in the buffer that its number gives */
		(void)rd(PTT_REG_TRACE_INT_STAT);
		assert_int_equal(ptt_le32(g.memory + i % 64 * 16) & 0x7ff, i & 0x7ff);
	}
	assert_int_equal(ptt_dev_counts(g.dev)->buffers, 62);
	assert_int_equal(ptt_dev_counts(g.dev)->recorded, 1000);
	assert_int_equal(ptt_dev_counts(g.dev)->interrupts, 62);
}

static void packets_are_lost_while_no_buffer_is_free(void **state)
{
	uint64_t now;

	(void)state;
	start(SMALL, 1u << 16 | ALL_TYPES);
	now = feed(4 * 16 + 5, 0);
	assert_int_equal(rd(PTT_REG_TRACE_INT_STAT), 0xf);
	assert_int_equal(rd(PTT_REG_TRACE_WR_STS), 0);
	assert_int_equal(ptt_dev_counts(g.dev)->recorded, 64);
	assert_int_equal(ptt_dev_counts(g.dev)->lost, 5);
	assert_int_equal(g.interrupts, 1);
	/* The one that comes next is not the one that is freed. */
	wr(PTT_REG_TRACE_INT_STAT, 4);
	now = feed(1, now + 1);
	assert_int_equal(ptt_dev_counts(g.dev)->lost, 6);
	wr(PTT_REG_TRACE_INT_STAT, 1);
	feed(17, now + 1);
	assert_int_equal(rd(PTT_REG_TRACE_INT_STAT), 0xb);
	assert_int_equal(ptt_dev_counts(g.dev)->recorded, 80);
	assert_int_equal(ptt_dev_counts(g.dev)->lost, 7);
	assert_invariant();
}

static void a_masked_status_makes_no_interrupt_until_it_is_unmasked(void **state)
{
	(void)state;
	start(SMALL, 1u << 16 | ALL_TYPES);
	wr(PTT_REG_TRACE_INT_MASK, 0xd);
	feed(16, 0);
	assert_int_equal(rd(PTT_REG_TRACE_INT_STAT), 1);
	assert_int_equal(g.interrupts, 0);
	feed(16, 16);
	assert_int_equal(g.interrupts, 1);
	wr(PTT_REG_TRACE_INT_STAT, 2);
	assert_int_equal(g.interrupts, 1);
	wr(PTT_REG_TRACE_INT_MASK, 0);
	assert_int_equal(g.interrupts, 2);
}

static void clear_one(struct guest *of)
{
	uint32_t pending = ptt_dev_read(of->dev, PTT_REG_TRACE_INT_STAT);
	ptt_dev_write(of->dev, PTT_REG_TRACE_INT_STAT, pending & -pending);
}

static void clear_none(struct guest *of)
{
	ptt_dev_write(of->dev, PTT_REG_TRACE_INT_STAT, 0);
}

static void what_is_left_pending_is_told_again(void **state)
{
	(void)state;
	start(SMALL, 1u << 16 | ALL_TYPES);
	feed(3 * 16, 0);
	assert_int_equal(g.interrupts, 1);
	wr(PTT_REG_TRACE_INT_STAT, 1);
	assert_int_equal(g.interrupts, 2);
	g.on_irq = clear_one;
	wr(PTT_REG_TRACE_INT_STAT, 2);
	assert_int_equal(rd(PTT_REG_TRACE_INT_STAT), 0);
	assert_int_equal(g.interrupts, 3);
	/* one that never clears is not told without end */
	g.on_irq = clear_none;
	feed(16, 100);
	assert_int_equal(g.interrupts, 7);
}

static void stop_it(struct guest *of)
{
	ptt_dev_write(of->dev, PTT_REG_TRACE_CTRL, 0);
}

static void a_trace_can_be_stopped_within_its_interrupt(void **state)
{
	struct ptt_tlp t[40] = { 0 };

	(void)state;
	for (size_t i = 0; i < COUNT(t); i++)
		t[i].port = 1;
	g.on_irq = stop_it;
	start(SMALL, 1u << 16 | ALL_TYPES);
	ptt_dev_packets(g.dev, t, COUNT(t));
	assert_int_equal(ptt_dev_counts(g.dev)->seen, 16);
	assert_int_equal(ptt_dev_counts(g.dev)->recorded, 16);
	assert_int_equal(rd(PTT_REG_TRACE_STS), 1);
	assert_int_equal(rd(PTT_REG_TRACE_WR_STS), 1u << 28);
}

static void reset_empties_the_write_status_and_holds_the_trace(void **state)
{
	(void)state;
	start(SMALL, 1u << 16 | ALL_TYPES);
	feed(16 + 3, 0);
	assert_int_equal(rd(PTT_REG_TRACE_STS), 0);
	wr(PTT_REG_TRACE_CTRL, 1u << 16 | ALL_TYPES | RST | EN);
	assert_int_equal(rd(PTT_REG_TRACE_STS), 1);
	assert_int_equal(rd(PTT_REG_TRACE_WR_STS), 0);
	feed(3, 20);
	assert_int_equal(ptt_dev_counts(g.dev)->seen, 0);
	/* Its status is still pending, so the first buffer is not to be had. */
	wr(PTT_REG_TRACE_CTRL, 1u << 16 | ALL_TYPES | EN);
	feed(3, 30);
	assert_int_equal(ptt_dev_counts(g.dev)->lost, 3);
}

static void a_trace_that_is_enabled_again_goes_on_where_it_was(void **state)
{
	(void)state;
	start(SMALL, 1u << 16 | ALL_TYPES);
	feed(3, 0);
	wr(PTT_REG_TRACE_CTRL, 0);
	assert_int_equal(rd(PTT_REG_TRACE_WR_STS), 48);
	feed(3, 3);
	wr(PTT_REG_TRACE_CTRL, 1u << 16 | ALL_TYPES | EN);
	feed(3, 6);
	assert_int_equal(rd(PTT_REG_TRACE_WR_STS), 96);
	/* Wider records in a smaller buffer: the rest of it is too short for one. */
	wr(PTT_REG_TRACE_CTRL, 0);
	wr(PTT_REG_TRACE_ADDR_SIZE, 100);
	wr(PTT_REG_TRACE_CTRL, 1u << 16 | ALL_TYPES | WIDE | EN);
	feed(2, 9);
	assert_int_equal(rd(PTT_REG_TRACE_WR_STS), 1u << 28 | 64);
	assert_int_equal(rd(PTT_REG_TRACE_INT_STAT), 1);
	assert_invariant();
}

static void addresses_that_are_written_during_a_trace_are_for_the_next(void **state)
{
	(void)state;
	start(SMALL, 1u << 16 | ALL_TYPES);
	wr(PTT_REG_TRACE_ADDR_BASE_HI_0, 0xdead);
	wr(PTT_REG_TRACE_ADDR_SIZE, 16);
	feed(3, 0);
	assert_int_equal(rd(PTT_REG_TRACE_WR_STS), 48);
	assert_int_equal(ptt_dev_counts(g.dev)->dma_errors, 0);
}

static void buffers_hold_whole_records(void **state)
{
	(void)state;
	g.on_irq = clear_all;
	start(100, 1u << 16 | ALL_TYPES | WIDE);
	memset(g.memory, 0x77, 4 * SMALL);
	feed(8, 0);
	assert_int_equal(rd(PTT_REG_TRACE_WR_STS), 2u << 28 | 64);
	for (int i = 96; i < 100; i++)
		assert_int_equal(g.memory[i], 0x77);
}

static void a_size_without_room_for_a_record_takes_none(void **state)
{
	(void)state;
	for (uint32_t size = 0; size < 32; size++) {
		start(size, 1u << 16 | ALL_TYPES | WIDE);
		feed(2, 0);
		assert_int_equal(ptt_dev_counts(g.dev)->lost, 2);
		assert_int_equal(rd(PTT_REG_TRACE_WR_STS), 0);
	}
}

static void a_size_is_clamped(void **state)
{
	struct ptt_tlp t[64] = { 0 };

	(void)state;
	for (size_t i = 0; i < COUNT(t); i++)
		t[i].port = 1;
	start(0xffffffff, 1u << 16 | ALL_TYPES | WIDE);
	assert_int_equal(rd(PTT_REG_TRACE_ADDR_SIZE), 0xffffffff);
	for (uint32_t i = 0; i < PTT_BUFFER_MOST / 32 / 64; i++)
		ptt_dev_packets(g.dev, t, COUNT(t));
	assert_int_equal(rd(PTT_REG_TRACE_INT_STAT), 1);
	assert_int_equal(ptt_dev_counts(g.dev)->recorded, PTT_BUFFER_MOST / 32);
}

/* ---- DMA --------------------------------------------------------------------------------------------------- */

static void records_that_the_host_refuses_are_counted_and_the_trace_goes_on(void **state)
{
	(void)state;
	start(SMALL, 1u << 16 | ALL_TYPES);
	g.broken = true;
	feed(3, 0);
	assert_int_equal(rd(PTT_REG_TRACE_WR_STS), 48);
	g.broken = false;
	feed(2, 3);
	assert_int_equal(rd(PTT_REG_TRACE_WR_STS), 80);
	assert_int_equal(ptt_dev_counts(g.dev)->dma_errors, 3);
	assert_int_equal(ptt_dev_counts(g.dev)->recorded, 5);
	ptt_dev_host(g.dev, NULL);
	assert_false(ptt_dev_hosted(g.dev));
	feed(16, 5);
	assert_int_equal(rd(PTT_REG_TRACE_INT_STAT), 1);
	assert_int_equal(ptt_dev_counts(g.dev)->dma_errors, 3 + 16);
}

static void an_address_at_the_end_of_the_bus_is_not_wrapped(void **state)
{
	(void)state;
	wr(PTT_REG_TRACE_ADDR_BASE_LO_0, 0xffffffe8);
	wr(PTT_REG_TRACE_ADDR_BASE_HI_0, 0xffffffff);
	wr(PTT_REG_TRACE_ADDR_SIZE, SMALL);
	wr(PTT_REG_TRACE_CTRL, 1u << 16 | ALL_TYPES | EN);
	feed(1, 0);
	wr(PTT_REG_TRACE_CTRL, 1u << 16 | ALL_TYPES | EN);
	assert_int_equal(g.writes, 1);
	feed(2, 0);
	(void)rd(PTT_REG_TRACE_WR_STS);
	assert_int_equal(g.writes, 1);
	assert_int_equal(ptt_dev_counts(g.dev)->dma_errors, 3);
}

/* Random packets, commands and interruptions, one device fed packet by packet and one in runs. */
static void packets_one_by_one_and_in_runs_leave_the_same_bytes(void **state)
{
	enum { N = 40000, BIG = 150000 };
	static struct ptt_tlp t[N];
	struct guest one, all;
	uint64_t seed = 1;

	(void)state;
	for (uint32_t i = 0; i < N; i++)
		t[i] = any_packet(&seed, 3u * i);
	for (uint32_t ctrl = 0; ctrl < 16; ctrl++) {
		const struct ptt_dev_opts o = { .delta = ctrl & 8 };
		struct guest *both[] = { &one, &all };

		assert_int_equal(guest_open(&one, &o, 0, 4 * BIG), 0);
		assert_int_equal(guest_open(&all, &o, 0, 4 * BIG), 0);
		for (int k = 0; k < 2; k++) {
			both[k]->on_irq = clear_all;
			for (uint32_t i = 0; i < PTT_BUFFERS; i++)
				ptt_dev_write(both[k]->dev, PTT_REG_TRACE_ADDR_BASE_LO_0 + 8 * i, i * BIG);
			ptt_dev_write(both[k]->dev, PTT_REG_TRACE_ADDR_SIZE, BIG);
			ptt_dev_write(both[k]->dev, PTT_REG_TRACE_INT_MASK, 0);
			ptt_dev_write(both[k]->dev, PTT_REG_TRACE_CTRL,
				      0xff0fu << 16 | ALL_TYPES | (ctrl & 3) << 2 | (ctrl & 4 ? WIDE : 0) | EN);
		}
		for (uint32_t i = 0; i < N; i++)
			ptt_dev_packets(one.dev, t + i, 1);
		for (uint32_t i = 0, n; i < N; i += n) {
			n = 1 + chance(&seed, 9000);
			n = n < N - i ? n : N - i;
			ptt_dev_packets(all.dev, t + i, n);
		}
		assert_int_equal(ptt_dev_read(one.dev, PTT_REG_TRACE_WR_STS),
				 ptt_dev_read(all.dev, PTT_REG_TRACE_WR_STS));
		assert_memory_equal(one.memory, all.memory, 4 * BIG);
		assert_memory_equal(ptt_dev_counts(one.dev), ptt_dev_counts(all.dev), sizeof(struct ptt_dev_counts));
		assert_int_equal(ptt_dev_counts(all.dev)->seen, N);
		assert_int_equal(ptt_dev_counts(all.dev)->recorded + ptt_dev_counts(all.dev)->filtered, N);
		assert_true(ptt_dev_counts(all.dev)->recorded > N / 100);
		guest_close(&one);
		guest_close(&all);
	}
}

/* ---- life -------------------------------------------------------------------------------------------------- */

static void a_reset_leaves_only_the_counts(void **state)
{
	(void)state;
	tune(ptt_tunables[PTT_TUNE_qos_tx_p].code, 0);
	start(SMALL, 1u << 16 | ALL_TYPES);
	feed(16, 0);
	feed(3, 16);
	ptt_dev_reset(g.dev);
	assert_int_equal(g.writes, 1);
	assert_int_equal(ptt_dev_counts(g.dev)->recorded, 16);
	assert_int_equal(ptt_dev_counts(g.dev)->lost, 3);
	assert_invariant();
	assert_false(ptt_dev_tracing(g.dev));
	registers_are_unique_aligned_and_within_the_bar(NULL);
	tunables_are_unique_and_reset_to_what_they_can_be(NULL);
}

static void no_memory_is_said(void **state)
{
	const struct ptt_dev_opts o = { 0 };
	long before = mem_live();

	(void)state;
	for (long n = 1;; n++) {
		struct ptt_dev *d;
		int rc;

		mem_fail_at(n);
		rc = ptt_dev_open(&d, &o);
		if (!mem_failed()) {
			ptt_dev_close(d);
			break;
		}
		assert_int_equal(rc, -TALLY_ENOMEM);
		assert_int_equal(mem_live(), before);
	}
	mem_fail_at(0);
	assert_int_equal(mem_live(), before);
}

#define TEST(f) cmocka_unit_test_setup_teardown(f, open_small, close_it)
int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(registers_are_unique_aligned_and_within_the_bar),
		TEST(tunables_are_unique_and_reset_to_what_they_can_be),
		TEST(where_there_is_no_register_nothing_is_read_or_kept),
		TEST(only_writable_bits_are_kept),
		TEST(range_and_location_are_those_of_the_options),
		TEST(the_recorded_run_reads_the_same_values),
		TEST(values_above_two_become_two),
		TEST(one_tunable_leaves_the_others_alone),
		TEST(an_unknown_code_reads_zero_and_changes_nothing),
		TEST(a_busy_device_answers_when_it_is_done),
		TEST(tuning_works_during_a_trace),
		TEST(every_direction_of_both_formats_selects_as_its_table_says),
		TEST(ports_are_a_mask_and_an_empty_one_selects_nothing),
		TEST(a_requester_is_one_function_whatever_its_port),
		TEST(a_record_is_what_its_format_says),
		TEST(what_was_recorded_decodes_to_the_packets),
		TEST(time_counts_from_the_first_packet_of_the_trace),
		TEST(delta_time_counts_from_the_record_before),
		TEST(four_buffers_are_written_in_turn),
		TEST(packets_are_lost_while_no_buffer_is_free),
		TEST(a_masked_status_makes_no_interrupt_until_it_is_unmasked),
		TEST(what_is_left_pending_is_told_again),
		TEST(a_trace_can_be_stopped_within_its_interrupt),
		TEST(reset_empties_the_write_status_and_holds_the_trace),
		TEST(a_trace_that_is_enabled_again_goes_on_where_it_was),
		TEST(addresses_that_are_written_during_a_trace_are_for_the_next),
		TEST(buffers_hold_whole_records),
		TEST(a_size_without_room_for_a_record_takes_none),
		TEST(a_size_is_clamped),
		TEST(records_that_the_host_refuses_are_counted_and_the_trace_goes_on),
		TEST(an_address_at_the_end_of_the_bus_is_not_wrapped),
		TEST(packets_one_by_one_and_in_runs_leave_the_same_bytes),
		TEST(a_reset_leaves_only_the_counts),
		TEST(no_memory_is_said),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
