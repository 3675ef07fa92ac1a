/*
 * stat_view_test.c: views of records that a test writes by hand, so that each figure is known.
 *
 * An interval is one second of 1,000 timebase ticks: a counter that grew by 500 is half of a processor.
 */
#include "ask/output_test_int.h"
#include "ask/stat_int.h"
#include "base/mem_left.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#define NONE_BYTE 0xffu
#define NONE_2 0xffffu
#define NONE_4 0xffffffffu
enum { NOT_INSTALLED = 1, GUARDED, UNLICENSED, SHARED, BORROWED, DEDICATED };

/* ---- a view and its records ------------------------------------------------------------------------- */

struct seen {
	struct tally_platform *p;
	struct stat_run s;
	struct buf notes;
};

static void view_open(struct seen *w, const char *on, const char *name)
{
	*w = (struct seen){ .p = NULL };
	w->p = platform_open_noted(on, &w->notes);
	assert_int_equal(plat_enter(w->p), 0);
	w->s = (struct stat_run){ .p = w->p, .start = 1000000000, .before = 2000000000, .now = 3000000000 };
	assert_int_equal(stat_view_open(&w->s, name), 0);
	w->s.transport = &w->p->transport;
	w->p->transport.tick_hz = 1000;
}

/* What it shows now. */
static const char *view_show(struct seen *w, uint32_t form)
{
	const struct tally_out to = { .size = sizeof(to), .format = form };

	buf_clear(&w->p->out);
	w->s.tables = 0;
	assert_int_equal(plat_emit_open(w->p, &to), 0);
	stat_view_rows(&w->s);
	assert_false(w->p->out.failed);
	an_emit_close(&w->p->emit);
	return buf_text(&w->p->out);
}

static void view_close(struct seen *w)
{
	stat_view_close(&w->s);
	tally_platform_close(w->p);
	buf_free(&w->notes);
}

static struct follow *view_part(struct seen *w, const char *request)
{
	for (uint32_t i = 0; i < 6 && w->s.part[i].r; i++)
		if (!strcmp(w->s.part[i].r->name, request))
			return &w->s.part[i];
	fail_msg("no request %s", request);
	return NULL;
}

/* A record of it, here since the last reading. */
static struct followed *record_add(struct follow *f, uint64_t id)
{
	struct followed *v = VEC_NEW(f->v, f->n, f->cap);

	assert_non_null(v);
	v->id = id;
	return v;
}

static void record_set(const struct follow *f, struct followed *v, const char *field, uint64_t now)
{
	int32_t i = follow_field(f, field);

	assert_true(i >= 0);
	v->now[i] = now;
}

static void record_grow(const struct follow *f, struct followed *v, const char *field, uint64_t by)
{
	int32_t i = follow_field(f, field);

	assert_true(i >= 0);
	v->now[i] += by;
	v->delta[i] = by;
}

static void went_back(const struct follow *f, struct followed *v, const char *field)
{
	v->back |= 1u << follow_field(f, field);
}

/* ---- processors --------------------------------------------------------------------------------------- */

static struct followed *record_add_core(struct follow *f, uint64_t id, uint64_t state, uint64_t owner, uint64_t busy)
{
	struct followed *v = record_add(f, id);

	record_set(f, v, "state", state);
	record_set(f, v, "owner", owner);
	record_set(f, v, "hw_chip_id", 3);
	record_set(f, v, "primary_domain", 1);
	record_grow(f, v, "processor_time", busy);
	return v;
}

static void processors_are_ordered_by_what_they_did_and_those_not_in_use_are_last(void **state)
{
	struct follow *f;
	struct followed *v;
	struct seen w;

	(void)state;
	view_open(&w, "power", "processors");
	f = view_part(&w, "dispatch_purr");
	record_add_core(f, 0, SHARED, NONE_2, 250);
	record_add_core(f, 1, DEDICATED, 7, 1000);
	v = record_add_core(f, 2, NOT_INSTALLED, NONE_2, 500);
	record_set(f, v, "hw_chip_id", NONE_4);
	record_add_core(f, 3, UNLICENSED, NONE_2, 900);
	record_add_core(f, 4, BORROWED, 7, 250);
	record_add_core(f, 5, SHARED, NONE_2, 600)->state = FOLLOW_WENT;
	record_add_core(f, 6, SHARED, NONE_2, 700)->state = FOLLOW_CAME;
	v = record_add_core(f, 8, SHARED, NONE_2, 800);
	went_back(f, v, "processor_time");
	record_add_core(f, 9, SHARED, NONE_2, 0);
	assert_string_equal(view_show(&w, TALLY_FORMAT_CSV), "type,time,processor,node,chip,state,owner,busy\n"
							     "processor,2,1,1,3,dedicated,7,1\n"
							     "processor,2,0,1,3,shared,,0.25\n"
							     "processor,2,4,1,3,borrowed,7,0.25\n"
							     "processor,2,9,1,3,shared,,0\n"
							     "processor,2,2,1,,not installed,,\n"
							     "processor,2,3,1,3,unlicensed,,\n"
							     "processor,2,6,1,3,shared,,\n"
							     "processor,2,8,1,3,shared,,\n");
	assert_int_equal(strncmp(view_show(&w, TALLY_FORMAT_TEXT),
				 "processors, 2.000 s after the start, interval 1.000 s\n"
				 "PROCESSOR  NODE  CHIP  STATE          OWNER    %BUSY\n"
				 "        1     1     3  dedicated          7  100.0 %\n",
				 54 + 53 + 53),
			 0);
	w.p->transport.tick_hz = HV_TICK_UNKNOWN; /* no share of a time that is not known */
	assert_non_null(strstr(view_show(&w, TALLY_FORMAT_CSV), "processor,2,0,1,3,shared,,\n"));
	view_close(&w);
}

/* ---- partitions ------------------------------------------------------------------------------------------ */

struct consumed {
	uint64_t entitled, capped, uncapped, donated, idle;
};

static struct followed *record_add_partition(struct follow *f, uint64_t id, const struct consumed *c)
{
	struct followed *v = record_add(f, id);

	record_grow(f, v, "entitled", c->entitled);
	record_grow(f, v, "capped", c->capped);
	record_grow(f, v, "uncapped", c->uncapped);
	record_grow(f, v, "donated", c->donated);
	record_grow(f, v, "idle", c->idle);
	return v;
}

static void record_add_runs(struct follow *f, uint64_t id, uint64_t cycles, uint64_t instructions)
{
	struct followed *v = record_add(f, id);

	record_grow(f, v, "cycles", cycles);
	record_grow(f, v, "instructions", instructions);
}

/* Partition 2 is shared, 5 has processors of its own, 6 went, 7 has come, of 8 a counter went back. */
static void put_partitions(struct seen *w)
{
	struct follow *f = view_part(w, "entitled"), *runs = view_part(w, "run_instructions"),
		      *cores = view_part(w, "dispatch_purr"), *vps = view_part(w, "affinity_by_vp"),
		      *waits = view_part(w, "queuing_times");
	static const uint64_t owner[] = { 2, 5, 5, 5, 6 };

	record_add_partition(f, 2, &(struct consumed){ 2000, 1000, 500, 0, 300 });
	record_add_partition(f, 5, &(struct consumed){ 4000, 3000, 0, 250, 600 });
	record_add_partition(f, 6, &(struct consumed){ 1000, 1000, 1000, 1000, 1000 })->state = FOLLOW_WENT;
	record_add_runs(runs, 2, 3000, 1500);
	record_add_runs(runs, 5, 1000, 4000);
	record_add_runs(runs, 6, 8, 1);
	record_add_core(cores, 0, SHARED, 2, 0); /* a state below BORROWED owns nothing */
	record_add_core(cores, 1, BORROWED, 5, 0);
	for (size_t i = 0; i < COUNT(owner); i++)
		record_add(vps, owner[i])->secondary = i;
	record_add(vps, 2)->state = FOLLOW_WENT;
	record_grow(waits, record_add(waits, 2), "wait_processor_time", 125);
}

static void partitions_have_shares_of_their_entitlement_and_a_sum(void **state)
{
	struct seen w;

	(void)state;
	view_open(&w, "power", "partitions");
	put_partitions(&w);
	assert_string_equal(view_show(&w, TALLY_FORMAT_CSV),
			    "type,time,partition,kind,vps,ent,physc,entc,capped,uncapped,donated,idle,cpi,wait\n"
			    "partition,2,5,dedicated,3,4,3,0.75,3,0,0.25,0.2,0.25,\n"
			    "partition,2,2,shared,1,2,1.5,0.75,1,0.5,0,0.2,2,0.125\n");
	assert_string_equal(view_show(&w, TALLY_FORMAT_TEXT),
			    "partitions, 2.000 s after the start, interval 1.000 s\n"
			    "PART  TYPE    VPS   ENT  PHYSC   %ENTC   CAP  UNCAP  DONATE   %IDLE   CPI\n"
			    "   5  ded       3  4.00   3.00  75.0 %  3.00   0.00    0.25  20.0 %  0.25\n"
			    "   2  shared    1  2.00   1.50  75.0 %  1.00   0.50    0.00  20.0 %  2.00\n"
			    " all            4  6.00   4.50  75.0 %  4.00   0.50    0.25  20.0 %  0.73\n");
	view_close(&w);
}

static void a_partition_alone_has_no_sum_and_of_one_that_came_nothing_is_known(void **state)
{
	struct follow *f;
	struct followed *v;
	struct seen w;

	(void)state;
	view_open(&w, "power", "partitions");
	f = view_part(&w, "entitled");
	record_add_partition(f, 2, &(struct consumed){ 2000, 1000, 500, 0, 300 });
	assert_null(strstr(view_show(&w, TALLY_FORMAT_TEXT), " all "));
	record_add_partition(f, 7, &(struct consumed){ 1, 1, 1, 1, 1 })->state = FOLLOW_CAME;
	v = record_add_partition(f, 8, &(struct consumed){ 1000, 500, 125, 0, 0 });
	went_back(f, v, "capped");
	assert_string_equal(view_show(&w, TALLY_FORMAT_CSV),
			    "type,time,partition,kind,vps,ent,physc,entc,capped,uncapped,donated,idle,cpi,wait\n"
			    "partition,2,2,shared,0,2,1.5,0.75,1,0.5,0,0.2,,\n"
			    "partition,2,7,shared,0,,,,,,,,,\n"
			    "partition,2,8,shared,0,1,,,,0.125,0,,,\n");
	/* what is not known of one is not known of all */
	assert_non_null(strstr(view_show(&w, TALLY_FORMAT_TEXT),
			       "\n all            0     -      -       -     -      -       -"));
	view_close(&w);
}

static void columns_of_requests_that_are_not_to_be_had_are_empty(void **state)
{
	static const char *const request[] = { "dispatch_purr", "affinity_by_vp", "run_instructions", "queuing_times" };
	static const char *const row[] = { "partition,2,2,,1,2,1.5,0.75,1,0.5,0,0.2,2,0.125\n",
					   "partition,2,2,shared,,2,1.5,0.75,1,0.5,0,0.2,2,0.125\n",
					   "partition,2,2,shared,1,2,1.5,0.75,1,0.5,0,0.2,,0.125\n",
					   "partition,2,2,shared,1,2,1.5,0.75,1,0.5,0,0.2,2,\n" };
	struct seen w;

	(void)state;
	for (size_t i = 0; i < COUNT(request); i++) {
		view_open(&w, "power", "partitions");
		put_partitions(&w);
		view_part(&w, request[i])->rc = -TALLY_ENOTSUP;
		if (!strstr(view_show(&w, TALLY_FORMAT_CSV), row[i]))
			fail_msg("without %s: %s", request[i], w.p->out.p);
		view_close(&w);
	}
	view_open(&w, "power", "partitions");
	put_partitions(&w);
	view_part(&w, "affinity_by_vp")->own = true; /* of one virtual processor */
	assert_non_null(strstr(view_show(&w, TALLY_FORMAT_CSV), row[1]));
	view_close(&w);
}

/* ---- the machine ------------------------------------------------------------------------------------------- */

static void the_machine_has_its_cores_by_state_and_what_is_spare(void **state)
{
	struct follow *f, *parts;
	struct seen w;

	(void)state;
	view_open(&w, "power", "cec");
	f = view_part(&w, "dispatch_purr");
	parts = view_part(&w, "entitled");
	record_add_core(f, 0, SHARED, NONE_2, 1000);
	record_add_core(f, 1, SHARED, NONE_2, 500);
	record_add_core(f, 2, DEDICATED, 5, 250);
	record_add_core(f, 3, BORROWED, 5, 750);
	record_add_core(f, 4, NOT_INSTALLED, NONE_2, 0);
	record_add_core(f, 5, GUARDED, NONE_2, 0);
	record_add_core(f, 6, UNLICENSED, NONE_2, 0);
	record_add_core(f, 7, DEDICATED + 1, NONE_2, 0); /* which no manual has */
	record_add_core(f, 8, SHARED, NONE_2, 1000)->state = FOLLOW_WENT;
	record_add_partition(parts, 2, &(struct consumed){ 2000, 1000, 500, 0, 300 });
	record_add_partition(parts, 5, &(struct consumed){ 4000, 3000, 0, 250, 600 });
	record_add_partition(parts, 6, &(struct consumed){ 4000, 3000, 0, 250, 600 })->state = FOLLOW_WENT;
	assert_string_equal(view_show(&w, TALLY_FORMAT_CSV),
			    "type,time,cores,shared,dedicated,off,partitions,ent,busy,spare,utilisation,pool,donated,"
			    "uncapped\n"
			    "cec,2,4,2,2,3,2,6,2.5,1.5,0.625,0.75,0.25,0.5\n");
	assert_string_equal(view_show(&w, TALLY_FORMAT_TEXT),
			    " TIME  CORES  POOL  DED  OFF   ENT  BUSY  SPARE   %BUSY   %POOL  DONATE\n"
			    "2.000      4     2    2    3  6.00  2.50   1.50  62.5 %  75.0 %    0.25\n");
	view_close(&w);
	view_open(&w, "power", "cec"); /* nothing in use: shares of nothing are not known */
	record_add_core(view_part(&w, "dispatch_purr"), 0, GUARDED, NONE_2, 0);
	assert_non_null(strstr(view_show(&w, TALLY_FORMAT_CSV), "\ncec,2,0,0,0,1,0,0,0,0,,,0,0\n"));
	view_close(&w);
}

/* ---- links --------------------------------------------------------------------------------------------------- */

static void record_add_bus(struct seen *w, uint64_t id, uint64_t node, uint64_t number, uint64_t at_a, uint64_t at_w,
			   uint64_t at_z)
{
	struct follow *f = view_part(w, "bus_topology");
	struct followed *v = record_add(f, id);

	record_set(f, v, "hw_node_id", node);
	record_set(f, v, "fabric_chip_id", number);
	record_set(f, v, "node_a", at_a);
	record_set(f, v, "chip_w", at_w);
	record_set(f, v, "chip_z", at_z);
}

/* Of 2,000 cycles so many idle; NONE: not wired. */
#define NO_LINK UINT64_MAX
static struct followed *record_add_chip(struct seen *w, uint64_t id, const uint64_t idle[7])
{
	struct follow *abc = view_part(w, "links_abc"), *wxyz = view_part(w, "links_wxyz");
	struct followed *v[2] = { record_add(abc, id), record_add(wxyz, id) };
	char name[] = "idle_?";

	record_grow(abc, v[0], "total", 2000);
	record_grow(wxyz, v[1], "total", 2000);
	for (uint32_t i = 0; i < 7; i++) {
		const struct follow *f = i < 3 ? abc : wxyz;

		name[5] = "abcwxyz"[i];
		if (idle[i] == NO_LINK)
			record_set(f, v[i >= 3], name, UINT64_MAX);
		else
			record_grow(f, v[i >= 3], name, idle[i]);
	}
	return v[0];
}

static void links_have_their_use_and_the_hottest_its_other_end(void **state)
{
	static const uint64_t a[] = { 500, 1000, NO_LINK, 2000, 1500, 1500, NO_LINK },
			      inside[] = { 2000, 2000, NO_LINK, 200, 1500, 1500, 1500 },
			      last[] = { 2000, 2000, NO_LINK, 2000, 1500, 1500, 400 },
			      c[] = { 2000, 2000, 100, 2000, 2000, 2000, 2000 },
			      none[] = { NO_LINK, NO_LINK, NO_LINK, NO_LINK, NO_LINK, NO_LINK, NO_LINK };
	struct seen w;

	(void)state;
	view_open(&w, "power", "links");
	record_add_chip(&w, 0, a);
	record_add_chip(&w, 1, inside);
	record_add_chip(&w, 2, last);
	record_add_chip(&w, 3, c);
	record_add_chip(&w, 4, none);
	record_add_chip(&w, 5, a);
	record_add_chip(&w, 6, a)->state = FOLLOW_WENT;
	record_add_bus(&w, 0, 0, 0, 8, 1, NONE_BYTE);
	record_add_bus(&w, 1, 0, 1, 8, 2, NONE_BYTE);
	record_add_bus(&w, 2, 0, 2, 8, 1, 7); /* no chip has that number */
	record_add_bus(&w, 5, 1, 2, NONE_BYTE, 1, NONE_BYTE);
	assert_string_equal(view_show(&w, TALLY_FORMAT_CSV), "type,time,chip,node,a,b,c,w,x,y,z,hottest\n"
							     "links,2,3,,0,0,0.95,0,0,0,0,C\n"
							     "links,2,1,0,0,0,,0.9,0.25,0.25,0.25,W chip 2\n"
							     "links,2,2,0,0,0,,0,0.25,0.25,0.8,Z\n"
							     "links,2,0,0,0.75,0.5,,0,0.25,0.25,,A node 8\n"
							     "links,2,5,1,0.75,0.5,,0,0.25,0.25,,A\n"
							     "links,2,4,,,,,,,,,\n");
	view_part(&w, "bus_topology")->rc = -TALLY_EPERM;
	assert_non_null(strstr(view_show(&w, TALLY_FORMAT_CSV), "links,2,0,,0.75,0.5,,0,0.25,0.25,,A\n"));
	view_close(&w);
}

/* ---- memory -------------------------------------------------------------------------------------------------- */

static void put_links(struct seen *w)
{
	static const uint64_t idle[] = { 0, 1, 2, 3, 4, 5, 6 };

	record_add_chip(w, 0, idle);
	record_add_bus(w, 0, 0, 0, 8, 1, 1);
}

static void put_cores(struct seen *w)
{
	record_add_core(view_part(w, "dispatch_purr"), 0, SHARED, NONE_2, 1000);
}

static void memory_that_runs_out_in_a_table_is_remembered(void **state)
{
	static const struct {
		const char *view;
		void (*fill)(struct seen *w);
	} rows[] = { { "processors", put_cores }, { "partitions", put_partitions }, { "links", put_links } };
	const struct tally_out to = { .size = sizeof(to), .format = TALLY_FORMAT_TEXT };

	(void)state;
	for (size_t i = 0; i < COUNT(rows); i++)
		for (long n = 1;; n++) {
			struct seen w;
			bool failed;

			view_open(&w, "power", rows[i].view);
			rows[i].fill(&w);
			assert_int_equal(plat_emit_open(w.p, &to), 0);
			mem_fail_at(n);
			stat_view_rows(&w.s);
			failed = mem_failed();
			mem_fail_at(0);
			if (w.p->out.failed != failed)
				fail_msg("%s, allocation %ld", rows[i].view, n);
			an_emit_close(&w.p->emit);
			view_close(&w);
			if (!failed)
				break;
		}
}

/* ---- requests that are needed, wanted, or not permitted -------------------------------------------------- */

static void requests_that_are_missing_are_told_once_or_end_it(void **state)
{
	static const struct {
		int line;
		const char *on, *view;
		int rc;
		const char *words; /* the notes, each line up to what explains it; or what the error begins with */
	} rows[] = {
		{ __LINE__, "power,rights=none", "partitions", 0,
		  "without dispatch_purr\n"
		  "this partition is permitted to read only its own record of entitled, run_instructions, "
		  "affinity_by_vp, queuing_times\n" },
		{ __LINE__, "power,rights=all", "partitions", 0,
		  "this partition is permitted to read only its own record of affinity_by_vp, queuing_times\n" },
		{ __LINE__, "power", "partitions", 0, "" },
		{ __LINE__, "power,firmware=0", "partitions", 0, "without affinity_by_vp\nwithout queuing_times\n" },
		{ __LINE__, "power,rights=all", "links", 0, "without bus_topology\n" },
		{ __LINE__, "power,rights=none", "cec", -TALLY_EPERM, "the view needs dispatch_purr: not permitted" },
		{ __LINE__, "power,rights=none", "processors", -TALLY_EPERM,
		  "the view needs dispatch_purr: not permitted" },
		{ __LINE__, "power,rights=none", "links", -TALLY_EPERM, "the view needs links_abc: not permitted" },
		{ __LINE__, "power,firmware=8", "links", -TALLY_ENOTSUP, "the view needs links_abc: not on this" },
	};

	(void)state;
	for (size_t i = 0; i < COUNT(rows); i++) {
		struct buf notes = { 0 }, short_notes = { 0 }, out = { 0 };
		struct tally_stat_opts s = { .size = sizeof(s),
					     .view = rows[i].view,
					     .interval_ns = 20000000,
					     .count = 3,
					     .to = { .size = sizeof(s.to), .out = buf_take, .arg = &out } };
		struct tally_platform *p = platform_open_noted(rows[i].on, &notes);
		int rc;

		rc = tally_stat(p, &s, NULL);
		for (const char *at = notes.p; at && *at; at = strchr(at, '\n') + 1)
			buf_printf(&short_notes, "%.*s\n", (int)strcspn(at, ":\n"), at);
		if (rc != rows[i].rc ||
		    (rc < 0 ? strncmp(tally_platform_error(p), rows[i].words, strlen(rows[i].words)) != 0 :
			      strcmp(buf_text(&short_notes), rows[i].words) != 0))
			fail_msg("row of line %d: %d, %s\n%s", rows[i].line, rc, tally_platform_error(p),
				 buf_text(&notes));
		tally_platform_close(p);
		buf_free(&notes);
		buf_free(&short_notes);
		buf_free(&out);
	}
}

static void views_are_listed_with_what_they_must_have(void **state)
{
	static const char *const name[] = { "cec", "partitions", "processors", "links" };
	static const char *const must[][3] = {
		{ "dispatch_purr", "entitled" }, { "entitled" }, { "dispatch_purr" }, { "links_abc", "links_wxyz" }
	};
	const char *text;
	struct seen w;

	(void)state;
	for (uint32_t i = 0; i < COUNT(name); i++) {
		text = NULL;
		assert_string_equal(tally_stat_view(i, &text), name[i]);
		assert_true(text && *text);
		assert_string_equal(tally_stat_view(i, NULL), name[i]);
		for (uint32_t k = 0; k < 3; k++)
			if (must[i][k])
				assert_string_equal(stat_view_must(i, k), must[i][k]);
			else
				assert_null(stat_view_must(i, k));
	}
	assert_null(tally_stat_view(COUNT(name), &text));
	assert_null(stat_view_must(COUNT(name), 0));
	assert_null(stat_view_must(0, 6));
	view_open(&w, "power", "cec");
	w.s.view = NULL;
	stat_view_close(&(struct stat_run){ .p = w.p }); /* nothing was opened */
	assert_int_equal(stat_view_open(&(struct stat_run){ .p = w.p }, "partition"), -TALLY_EINVAL);
	assert_string_equal(tally_platform_error(w.p), "unknown view 'partition'; did you mean 'partitions'?");
	assert_int_equal(plat_enter(w.p), 0);
	assert_int_equal(stat_view_open(&(struct stat_run){ .p = w.p }, "memory"), -TALLY_EINVAL);
	assert_string_equal(tally_platform_error(w.p),
			    "unknown view 'memory' (expected cec, partitions, processors or links)");
	mem_free(w.s.part);
	tally_platform_close(w.p);
	buf_free(&w.notes);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(processors_are_ordered_by_what_they_did_and_those_not_in_use_are_last),
		TEST(partitions_have_shares_of_their_entitlement_and_a_sum),
		TEST(a_partition_alone_has_no_sum_and_of_one_that_came_nothing_is_known),
		TEST(columns_of_requests_that_are_not_to_be_had_are_empty),
		TEST(the_machine_has_its_cores_by_state_and_what_is_spare),
		TEST(links_have_their_use_and_the_hottest_its_other_end),
		TEST(memory_that_runs_out_in_a_table_is_remembered),
		TEST(requests_that_are_missing_are_told_once_or_end_it),
		TEST(views_are_listed_with_what_they_must_have),
	};

	return cmocka_run_group_tests_name("ask: views", tests, NULL, NULL);
}
