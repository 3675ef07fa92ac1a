/* stat_event_test.c: what selectors count on the models, and what they say where they can't. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "ask/output_test_int.h"
#include "ask/stat_int.h"
#include "base/mem_left.h"
#include "base/range.h"

#define INTERVAL_NS 1000000u
#define ROWS_MOST 1024u
#define CELLS_MOST 16u

/* ---- a run and its rows ------------------------------------------------------------------------ */

struct run {
	int rc;
	struct buf out, notes;
	char error[512];
	char *cell[ROWS_MOST][CELLS_MOST]; /* of the CSV, without its heading */
	uint32_t rows, cells;
};

/* Columns of counts, and of MMU statistics. */
enum { TYPE, TIME, DELTA, VALUE, UNIT, ID, NAME, SELECTOR, RAW, STATUS, WHY };
enum { CPU = 2, CONTEXT, SIZE, HITS, TICKS, SHARE, D_HITS, D_TICKS, D_SHARE, ALL_HITS, ALL_D_HITS };

/* Cuts a line into its cells; quotes go. Returns where the next line begins. */
static char *cut_line(char *p, char **cell, uint32_t *n)
{
	for (*n = 0;;) {
		const bool quoted = *p == '"';

		assert_true(*n < CELLS_MOST);
		p += quoted;
		cell[(*n)++] = p;
		for (char *to = p;; p++) {
			if (quoted && *p == '"' && p[1] == '"')
				p++;
			else if (quoted ? *p == '"' : *p == ',' || *p == '\n') {
				const char end = quoted ? *++p : *p;

				*to = '\0';
				p++;
				if (end == '\n')
					return p;
				break;
			}
			*to++ = *p;
		}
	}
}

static void run_as(struct run *r, const char *on, const char *events, uint32_t count, uint32_t flags, uint32_t form)
{
	struct tally_stat_opts s = { .size = sizeof(s),
				     .events = events,
				     .interval_ns = INTERVAL_NS,
				     .count = count,
				     .flags = flags,
				     .to = { .size = sizeof(s.to), .out = buf_take, .arg = &r->out, .format = form } };
	struct tally_platform *p;

	*r = (struct run){ .rc = 0 };
	p = platform_open_noted(on, &r->notes);
	r->rc = tally_stat(p, &s, NULL);
	snprintf(r->error, sizeof(r->error), "%s", tally_platform_error(p));
	tally_platform_close(p);
	assert_int_equal(strcspn(buf_text(&r->notes), "\n") == r->notes.n, r->notes.n == 0); /* whole lines */
}

static void run_csv(struct run *r, const char *on, const char *events, uint32_t count, uint32_t flags)
{
	char *at, *heading[CELLS_MOST];

	run_as(r, on, events, count, flags, TALLY_FORMAT_CSV);
	at = r->out.p;
	if (at)
		at = cut_line(at, heading, &r->cells);
	for (uint32_t n; at && *at; r->rows++) {
		assert_true(r->rows < ROWS_MOST);
		at = cut_line(at, r->cell[r->rows], &n);
		assert_int_equal(n, r->cells);
	}
}

static void run_free(struct run *r)
{
	buf_free(&r->out);
	buf_free(&r->notes);
}

static uint64_t cell_number(const struct run *r, uint32_t row, uint32_t cell)
{
	uint64_t v = 0;

	if (row >= r->rows || !text_u64(r->cell[row][cell], &v))
		fail_msg("row %u, cell %u is no number: %s", row, cell, row < r->rows ? r->cell[row][cell] : "none");
	return v;
}

static void assert_cell(const struct run *r, uint32_t row, uint32_t cell, const char *wanted)
{
	assert_true(row < r->rows);
	assert_string_equal(r->cell[row][cell], wanted);
}

/* ---- registers of Victoria Falls ------------------------------------------------------------------- */

#define LOAD "batoka,load=pingpong" /* which two strands run */
#define INSTRUCTIONS "vfalls/sparc,event=Instr_cnt/"

static void a_counter_is_summed_over_its_strands_and_over_intervals(void **state)
{
	static struct run r;

	(void)state;
	run_csv(&r, LOAD, INSTRUCTIONS, 2, 0);
	assert_int_equal(r.rc, 0);
	assert_int_equal(r.rows, 2);
	for (uint32_t i = 0; i < r.rows; i++) {
		assert_cell(&r, i, TYPE, "count");
		assert_cell(&r, i, ID, "all");
		assert_cell(&r, i, UNIT, "events");
		assert_cell(&r, i, NAME, "sparc.Instr_cnt");
		assert_cell(&r, i, SELECTOR, INSTRUCTIONS);
		assert_cell(&r, i, RAW, "");
		assert_cell(&r, i, STATUS, "ok");
		assert_cell(&r, i, WHY, "");
		assert_true(cell_number(&r, i, DELTA) > 0);
	}
	assert_cell(&r, 0, TIME, "0.001");
	assert_cell(&r, 1, TIME, "0.002");
	assert_int_equal(cell_number(&r, 0, VALUE), cell_number(&r, 0, DELTA));
	assert_int_equal(cell_number(&r, 1, VALUE), cell_number(&r, 0, DELTA) + cell_number(&r, 1, DELTA));
	assert_string_equal(buf_text(&r.notes), "");
	run_free(&r);
}

static void each_strand_that_counted_has_a_row_and_these_add_up(void **state)
{
	static struct run all, each, one;
	uint64_t sum = 0;

	(void)state;
	run_csv(&all, LOAD, INSTRUCTIONS, 1, 0);
	run_csv(&each, LOAD, INSTRUCTIONS, 1, TALLY_STAT_EACH);
	assert_int_equal(each.rc, 0);
	assert_uint_in_range(each.rows, 2, 255);
	for (uint32_t i = 0; i < each.rows; i++) {
		assert_true(cell_number(&each, i, VALUE) > 0);
		sum += cell_number(&each, i, VALUE);
	}
	assert_int_equal(sum, cell_number(&all, 0, VALUE));
	for (uint32_t i = 0; i < each.rows; i++) {
		char selector[64];

		snprintf(selector, sizeof(selector), "vfalls/sparc,%s,event=Instr_cnt/", each.cell[i][ID]);
		for (uint32_t flags = 0; flags <= TALLY_STAT_EACH; flags += TALLY_STAT_EACH) {
			run_csv(&one, LOAD, selector, 1, flags);
			assert_int_equal(one.rows, 1);
			assert_cell(&one, 0, ID, each.cell[i][ID]);
			assert_int_equal(cell_number(&one, 0, VALUE), cell_number(&each, i, VALUE));
			run_free(&one);
		}
	}
	run_free(&all);
	run_free(&each);
}

static void where_nothing_counted_there_is_one_row_of_nothing(void **state)
{
	static struct run r;

	(void)state;
	run_csv(&r, LOAD, "vfalls/sparc,event=AES_op/", 1, TALLY_STAT_EACH);
	assert_int_equal(r.rows, 1);
	assert_cell(&r, 0, ID, "all");
	assert_int_equal(cell_number(&r, 0, VALUE), 0);
	assert_string_equal(buf_text(&r.notes),
			    "vfalls/sparc,event=AES_op/: this event is not modelled: its counter does "
			    "not change\n");
	run_free(&r);
	run_csv(&r, LOAD, "vfalls/sparc,cpu=7,event=Instr_cnt/", 1, TALLY_STAT_EACH); /* the only one that was asked */
	assert_int_equal(r.rows, 1);
	assert_cell(&r, 0, ID, "cpu=7");
	assert_int_equal(cell_number(&r, 0, VALUE), 0);
	run_free(&r);
}

static void a_register_has_its_place_and_an_event_its_unit(void **state)
{
	static const struct {
		int line;
		const char *selector, *id, *unit, *name;
	} rows[] = {
		{ __LINE__, "vfalls/sparc,cpu=255,event=Instr_cnt/", "cpu=255", "events", "sparc.Instr_cnt" },
		{ __LINE__, "vfalls/sparc,cpu=0,event=Idle_strands/", "cpu=0", "cycles", "sparc.Idle_strands" },
		{ __LINE__, "vfalls/sparc,cpu=1,event=MA_busy_cycle/", "cpu=1", "cycles", "sparc.MA_busy_cycle" },
		{ __LINE__, "vfalls/node1_mcu0,event=rd_queue_latency/", "node=1", "cycles",
		  "node1_mcu0.rd_queue_latency" },
		{ __LINE__, "vfalls/node3_mcu1,event=mem_reads/", "node=3", "events", "node3_mcu1.mem_reads" },
		{ __LINE__, "vfalls/zam2_lpu_a,event=cycles_MISS/", "chip=2", "cycles", "zam2_lpu_a.cycles_MISS" },
		{ __LINE__, "vfalls/zam0_asu,event=asu_in_pck/", "chip=0", "events", "zam0_asu.asu_in_pck" },
		{ __LINE__, "vfalls/zam3_gpd,event=clock_cycles/", "chip=3", "cycles", "zam3_gpd.clock_cycles" },
	};
	static struct run r;

	(void)state;
	for (size_t i = 0; i < COUNT(rows); i++) {
		run_csv(&r, LOAD, rows[i].selector, 1, 0);
		if (r.rc || r.rows != 1 || strcmp(r.cell[0][ID], rows[i].id) || strcmp(r.cell[0][UNIT], rows[i].unit) ||
		    strcmp(r.cell[0][NAME], rows[i].name))
			fail_msg("row of line %d: %s", rows[i].line, buf_text(&r.out));
		run_free(&r);
	}
}

static void a_clock_counts_from_the_first_reading(void **state)
{
	static struct run r;

	(void)state;
	run_csv(&r, LOAD, "vfalls/zam0_gpd,event=clock_cycles/,vfalls/zam1_gpd,event=clock_cycles/", 3, 0);
	assert_int_equal(r.rows, 6);
	for (uint32_t i = 0; i < r.rows; i++) {
		assert_int_equal(cell_number(&r, i, DELTA), cell_number(&r, 0, DELTA));
		assert_int_equal(cell_number(&r, i, VALUE), (i / 2 + 1) * cell_number(&r, 0, DELTA));
	}
	run_free(&r);
}

/* ---- what can't be counted ----------------------------------------------------------------------------- */

static void a_reason_stands_in_place_of_figures_and_is_noted_once(void **state)
{
	static const struct {
		int line;
		const char *on, *good, *bad, *name, *status, *why; /* why: what it begins with */
	} rows[] = {
		{ __LINE__, "batoka,load=compute",
		  "vfalls/zam0_gpd,event=clock_cycles/,vfalls/zam0_gpd,event=clock_cycles/",
		  "vfalls/zam0_gpd,event=none/", "zam0_gpd", "busy",
		  "ZAM0_GPD_PCR has two counters, and both are taken" },
		{ __LINE__, "batoka,load=compute,rights=strand", INSTRUCTIONS, "vfalls/zam0_gpd,event=clock_cycles/",
		  "zam0_gpd", "not permitted", "ZAM0_GPD_PCR: not permitted to this guest (ENOACCESS)" },
		{ __LINE__, "power,rights=none", "gpci/entitled,field=capped/",
		  "gpci/entitled,partition=2,field=capped/", "entitled", "not permitted",
		  "this partition is permitted to read only its own record, 1" },
		{ __LINE__, "power,firmware=0", "gpci/entitled,field=capped,partition=1/", "gpci/queuing_times/",
		  "queuing_times", "not supported",
		  "queuing_times: not on this firmware or machine (H_Not_Available)" },
	};
	static struct run r;

	(void)state;
	for (size_t i = 0; i < COUNT(rows); i++) {
		struct buf events = { 0 }, note = { 0 };
		uint32_t good, bad = 0;
		const char *at;

		buf_printf(&events, "%s,%s", rows[i].good, rows[i].bad);
		run_csv(&r, rows[i].on, events.p, 2, 0);
		if (r.rc || r.rows % 2)
			fail_msg("row of line %d: %s%s", rows[i].line, buf_text(&r.out), r.error);
		good = r.rows / 2 - 1; /* of an interval; the last is the bad one */
		for (uint32_t row = 0; row < r.rows; row++) {
			if (row % (good + 1) != good) {
				assert_cell(&r, row, STATUS, "ok");
				continue;
			}
			bad++;
			for (uint32_t c = DELTA; c <= UNIT; c++)
				assert_cell(&r, row, c, "");
			assert_cell(&r, row, ID, "-");
			assert_cell(&r, row, NAME, rows[i].name);
			assert_cell(&r, row, SELECTOR, rows[i].bad);
			assert_cell(&r, row, RAW, "");
			assert_cell(&r, row, STATUS, rows[i].status);
			assert_int_equal(strncmp(r.cell[row][WHY], rows[i].why, strlen(rows[i].why)), 0);
		}
		assert_int_equal(bad, 2);
		buf_printf(&note, "%s: %s", rows[i].bad, rows[i].why);
		at = strstr(buf_text(&r.notes), note.p);
		assert_non_null(at);
		assert_null(strstr(at + 1, note.p));
		run_free(&r);
		/* nothing else: the reason is the error */
		run_csv(&r, rows[i].on, rows[i].bad, 1, 0);
		if (strcmp(rows[i].status, "busy"))
			assert_true(r.rc < 0 && strstr(r.error, "none of these events can be counted here"));
		run_free(&r);
		buf_free(&events);
		buf_free(&note);
	}
}

static void of_several_reasons_the_first_is_the_error(void **state)
{
	static const char *const event[] = { "gpci/queuing_times/", "gpci/entitled,partition=2/" };
	static const int error[] = { -TALLY_ENOTSUP, -TALLY_EPERM };
	static struct run r;

	(void)state;
	for (size_t i = 0; i < 2; i++) {
		struct buf events = { 0 };

		buf_printf(&events, "%s,%s", event[i], event[1 - i]);
		run_csv(&r, "power,rights=none,firmware=0", events.p, 1, 0);
		assert_int_equal(r.rc, error[i]);
		assert_int_equal(r.rows, 2); /* and both are told */
		run_free(&r);
		buf_free(&events);
	}
}

static void the_other_sun_has_no_registers_of_this_kind(void **state)
{
	static struct run r;

	(void)state;
	run_csv(&r, "niagara,load=compute", INSTRUCTIONS, 1, 0);
	assert_int_equal(r.rc, -TALLY_ENOTSUP);
	assert_cell(&r, 0, STATUS, "not supported");
	assert_cell(&r, 0, WHY, "niagara has no Victoria Falls registers");
	run_free(&r);
}

/* ---- records of a hypervisor -------------------------------------------------------------------------- */

static void a_record_that_is_not_there_names_those_that_are(void **state)
{
	static const struct {
		int line;
		const char *on, *events, *words;
	} rows[] = {
		{ __LINE__, "power,load=mixed", "gpci/entitled,partition=7/", "no such partition (valid: 1 to 6)" },
		{ __LINE__, "power,load=mixed", "gpci/affinity_by_vp,partition=1,vp=99,field=partition/",
		  "no such partition" },
		{ __LINE__, "power,load=mixed", "gpci/affinity_by_vp,partition=1,vp=0/",
		  "a record of affinity_by_vp has no counter; 'tally get" },
		{ __LINE__, "power,load=mixed", "gpci/mmcrh/", "is write-only; gpci/hpmc/ counts" },
	};
	static struct run r;

	(void)state;
	for (size_t i = 0; i < COUNT(rows); i++) {
		run_csv(&r, rows[i].on, rows[i].events, 1, 0);
		if (r.rc != -TALLY_EINVAL || !strstr(r.error, rows[i].words) || r.rows)
			fail_msg("row of line %d: %s", rows[i].line, r.error);
		run_free(&r);
	}
}

static void a_request_has_its_counters_and_of_a_field_that_is_none_what_it_is_now(void **state)
{
	static struct run r, own, last;

	(void)state;
	run_csv(&r, "power,load=mixed", "gpci/entitled,partition=6/", 2, 0);
	assert_int_equal(r.rows % 2, 0);
	for (uint32_t i = 0; i < r.rows; i++) {
		assert_cell(&r, i, ID, "partition=6");
		assert_int_equal(strncmp(r.cell[i][NAME], "entitled.", 9), 0);
		assert_string_not_equal(r.cell[i][NAME], "entitled.partition"); /* no counter */
		assert_true(cell_number(&r, i, RAW) >= cell_number(&r, i, VALUE));
	}
	for (uint32_t i = 0; i < r.rows / 2; i++)
		assert_int_equal(cell_number(&r, i + r.rows / 2, VALUE),
				 cell_number(&r, i, DELTA) + cell_number(&r, i + r.rows / 2, DELTA));
	run_free(&r);
	run_csv(&r, "power,load=mixed", "gpci/affinity_by_vp,partition=1,vp=1,field=virtual_processor/", 1, 0);
	assert_int_equal(r.rows, 1);
	assert_cell(&r, 0, ID, "partition=1.1");
	assert_cell(&r, 0, DELTA, "");
	assert_cell(&r, 0, VALUE, "1");
	assert_cell(&r, 0, RAW, "1");
	run_free(&r);
	run_csv(&own, "power,load=mixed", "gpci/entitled,index=-1,field=capped/", 1, 0); /* this partition is 1 */
	run_csv(&last, "power,load=mixed", "gpci/entitled,partition=1,field=capped/", 1, 0);
	assert_int_equal(own.rows, 1);
	assert_int_equal(last.rows, 1);
	assert_cell(&own, 0, ID, "partition=1");
	assert_int_equal(cell_number(&own, 0, VALUE), cell_number(&last, 0, VALUE));
	run_free(&own);
	run_free(&last);
}

/* ---- MMU statistics ------------------------------------------------------------------------------------- */

static void assert_share(const struct run *r, uint32_t row, uint32_t share, uint64_t ticks)
{
	const double wanted = (double)ticks / (NIAGARA_HZ * (INTERVAL_NS / 1e9)),
		     got = strtod(r->cell[row][share], NULL);

	if (got - wanted > 1e-6 || wanted - got > 1e-6)
		fail_msg("row %u: share %f, not %f", row, got, wanted);
}

static void mmu_statistics_have_a_row_for_each_context_and_size_of_a_strand(void **state)
{
	static const char *const size[] = { "8K", "64K", "4M", "256M" };
	enum { OF_STRAND = 8 };
	static struct run r;
	uint64_t hits = 0;

	(void)state;
	run_csv(&r, "niagara,load=chase", "mmustat/all,cpu=8/", 2, 0);
	assert_int_equal(r.rc, 0);
	assert_int_equal(r.rows, 2 * OF_STRAND);
	for (uint32_t i = 0; i < r.rows; i++) {
		const uint32_t before = i - OF_STRAND;

		assert_cell(&r, i, TYPE, "mmustat");
		assert_cell(&r, i, TIME, i < OF_STRAND ? "0.001" : "0.002");
		assert_cell(&r, i, CPU, "8");
		assert_cell(&r, i, CONTEXT, i % OF_STRAND < 4 ? "0" : "not 0");
		assert_cell(&r, i, SIZE, size[i % 4]);
		assert_share(&r, i, SHARE, cell_number(&r, i, TICKS));
		assert_share(&r, i, D_SHARE, cell_number(&r, i, D_TICKS));
		assert_true(cell_number(&r, i, D_TICKS) >= cell_number(&r, i, D_HITS));
		assert_int_equal(cell_number(&r, i, ALL_D_HITS),
				 cell_number(&r, i, D_HITS) +
					 (i < OF_STRAND ? 0 : cell_number(&r, before, ALL_D_HITS)));
		assert_int_equal(cell_number(&r, i, ALL_HITS),
				 cell_number(&r, i, HITS) + (i < OF_STRAND ? 0 : cell_number(&r, before, ALL_HITS)));
		hits += cell_number(&r, i, D_HITS);
	}
	assert_true(hits > 0);
	run_free(&r);
}

static void a_side_and_a_strand_that_nobody_asked_for_are_left_out(void **state)
{
	static struct run r;
	uint32_t instructions = 0, data = 0;

	(void)state;
	run_csv(&r, "niagara,load=chase", "mmustat/immu,cpu=0/,mmustat/dmmu,cpu=8/", 1, 0);
	assert_int_equal(r.rows, 16);
	for (uint32_t i = 0; i < r.rows; i++) {
		const bool first = !strcmp(r.cell[i][CPU], "0");

		if (!first)
			assert_cell(&r, i, CPU, "8");
		for (uint32_t k = 0; k < 3; k++) {
			assert_int_equal(*r.cell[i][HITS + k] != '\0', first);
			assert_int_equal(*r.cell[i][D_HITS + k] != '\0', !first);
		}
		assert_int_equal(*r.cell[i][ALL_HITS] != '\0', first);
		assert_int_equal(*r.cell[i][ALL_D_HITS] != '\0', !first);
		instructions += first;
		data += !first;
	}
	assert_int_equal(instructions, 8);
	assert_int_equal(data, 8);
	run_free(&r);
	/* all strands, each once, though two ask for them */
	run_csv(&r, "niagara,load=chase", "mmustat/all/,mmustat/dmmu/", 1, 0);
	assert_int_equal(r.rows, 32 * 8);
	for (uint32_t i = 0; i < r.rows; i++)
		assert_int_equal(cell_number(&r, i, CPU), i / 8);
	run_free(&r);
}

static void people_see_what_hit_and_a_sum_of_the_strands_that_are_counted(void **state)
{
	enum { AT, STRAND, I_HITS = 3, I_TICKS, I_TIME, HIT, TICK, BUSY, NUMBERS };
	double row[2][NUMBERS], sum[NUMBERS];
	static struct run r;
	const char *line;

	(void)state;
	run_as(&r, "niagara,load=chase", "mmustat/dmmu,cpu=0/,mmustat/dmmu,cpu=8/,mmustat/immu,cpu=0/", 1, 0,
	       TALLY_FORMAT_TEXT);
	assert_int_equal(r.rc, 0);
	line = strchr(buf_text(&r.out), '\n') + 1; /* behind the heading */
	/* 0.001 0 "not 0" 8K hits ticks % hits ticks %: "not" and "8K" are no numbers */
	assert_int_equal(line_numbers(line, 0, row[0], NUMBERS), NUMBERS);
	line = strchr(line, '\n') + 1;
	assert_int_equal(line_numbers(line, 0, row[1], 6), 6); /* no instructions of strand 8 */
	line = strchr(line, '\n') + 1;
	assert_int_equal(strncmp(line, "0.001  all ", 11), 0);
	assert_int_equal(line_numbers(line, 0, sum, NUMBERS), 7);
	assert_int_equal((int)row[0][STRAND], 0);
	assert_int_equal((int)row[1][STRAND], 8);
	/* time, instructions' three, data's three */
	assert_int_equal((uint64_t)sum[4], (uint64_t)(row[0][HIT] + row[1][3]));
	assert_int_equal((uint64_t)sum[5], (uint64_t)(row[0][TICK] + row[1][4]));
	assert_true(sum[6] - sum[5] / 2 / 12000 < 0.051 && sum[5] / 2 / 12000 - sum[6] < 0.051); /* of two strands */
	assert_string_equal(strchr(line, '\n'), "\n");
	run_free(&r);
}

/* ---- memory ----------------------------------------------------------------------------------------------- */

static void memory_that_runs_out_is_an_error_of_each_kind(void **state)
{
	static const struct {
		const char *on, *events;
	} rows[] = {
		{ "maramba,load=compute", "vfalls/node0_mcu0,event=mem_reads/,vfalls/sparc,cpu=3,event=Instr_cnt/" },
		{ "niagara,load=compute", "mmustat/dmmu,cpu=1/" },
	};

	(void)state;
	for (size_t i = 0; i < COUNT(rows); i++)
		for (long n = 1;; n++) {
			struct tally_platform_opts o = { .size = sizeof(o), .on = rows[i].on };
			struct tally_stat_opts s = { .size = sizeof(s),
						     .events = rows[i].events,
						     .interval_ns = 1000,
						     .count = 1,
						     .to = { .size = sizeof(s.to), .format = TALLY_FORMAT_JSON } };
			struct tally_platform *p;
			bool failed;
			int rc;

			assert_int_equal(tally_platform_open(&p, &o), 0);
			mem_fail_at(n);
			rc = tally_stat(p, &s, NULL);
			failed = mem_failed();
			mem_fail_at(0);
			tally_platform_close(p);
			if (rc != (failed ? -TALLY_ENOMEM : 0))
				fail_msg("%s, allocation %ld: %d", rows[i].events, n, rc);
			if (!failed)
				break;
		}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(a_counter_is_summed_over_its_strands_and_over_intervals),
		TEST(each_strand_that_counted_has_a_row_and_these_add_up),
		TEST(where_nothing_counted_there_is_one_row_of_nothing),
		TEST(a_register_has_its_place_and_an_event_its_unit),
		TEST(a_clock_counts_from_the_first_reading),
		TEST(a_reason_stands_in_place_of_figures_and_is_noted_once),
		TEST(of_several_reasons_the_first_is_the_error),
		TEST(the_other_sun_has_no_registers_of_this_kind),
		TEST(a_record_that_is_not_there_names_those_that_are),
		TEST(a_request_has_its_counters_and_of_a_field_that_is_none_what_it_is_now),
		TEST(mmu_statistics_have_a_row_for_each_context_and_size_of_a_strand),
		TEST(a_side_and_a_strand_that_nobody_asked_for_are_left_out),
		TEST(people_see_what_hit_and_a_sum_of_the_strands_that_are_counted),
		TEST(memory_that_runs_out_is_an_error_of_each_kind),
	};

	return cmocka_run_group_tests_name("ask: stat of selectors", tests, NULL, NULL);
}
