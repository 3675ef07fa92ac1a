/*
 * power_gpci_test.c: the invariants that an asker can check, on machines: they hold on all models at all levels and
 * rights, and each is broken by a machine that is doctored: its records pass through a hand that changes one thing.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>
#include <cmocka.h>

#include "machine/power_test_int.h"

#define W ((uint64_t)POWER_WINDOW)
enum { INVARIANTS = GPCI_INVARIANT_COUNT };

static enum gpci_verdict invariant_verdict(uint32_t invariant, const struct gpci_snapshot *before,
					   const struct gpci_snapshot *now, struct err *e)
{
	*e = (struct err){ 0 };
	return gpci_invariant_check(gpci_invariant_at(invariant - 1), before, now, e);
}

static struct gpci_snapshot *snapshot_take(struct world *w)
{
	struct gpci_snapshot *s = NULL;
	struct err e = { 0 };

	if (gpci_snapshot_take(&s, &w->transport, &e) < 0)
		fail_msg("%s", e.text);
	return s;
}

static void none_broken(const struct gpci_snapshot *before, const struct gpci_snapshot *now, const char *where)
{
	struct err e;

	for (uint32_t invariant = 1; invariant <= INVARIANTS; invariant++) {
		enum gpci_verdict v = invariant_verdict(invariant, before, now, &e);

		if (v == GPCI_BROKEN || (v == GPCI_UNKNOWN && !*e.text))
			fail_msg("%s: invariant %u: %s", where, invariant, e.text);
	}
}

static void invariants_have_numbers_and_words(void **state)
{
	(void)state;
	for (uint32_t i = 0; i < INVARIANTS; i++) {
		assert_int_equal(gpci_invariant_at(i)->number, i + 1);
		assert_true(strlen(gpci_invariant_at(i)->text) > 10);
	}
	assert_null(gpci_invariant_at(INVARIANTS));
}

/* ---- they hold --------------------------------------------------------------------------------------------------- */

static void they_hold_on_every_load_level_and_right(void **state)
{
	static const uint8_t levels[] = { 0, 3, 5, 6, 8 };
	const struct power_load *l;

	(void)state;
	for (uint32_t i = 0; (l = power_load_at(i)); i++)
		for (uint32_t k = 0; k < COUNT(levels) * 8; k++) {
			const struct power_opts o = { .load = l->name,
						      .level = levels[k / 8],
						      .rights_given = true,
						      .rights = { k & 1, k & 2, k & 4 } };
			struct gpci_snapshot *s, *was = NULL;
			static struct world w;

			world_open(&w, &o, NULL, NULL);
			for (uint32_t n = 0; n < 4; n++, was = s) {
				s = snapshot_take(&w);
				none_broken(was, s, l->name);
				gpci_snapshot_free(was);
				world_run(&w, 1 + 7 * n);
			}
			gpci_snapshot_free(was);
			world_close(&w);
		}
}

static void a_privileged_asker_knows_all_of_them(void **state)
{
	const struct power_opts o = { .load = "mixed", .level = 6 };
	static struct world w;
	struct gpci_snapshot *a, *b;
	struct err e;

	(void)state;
	world_open(&w, &o, NULL, NULL);
	world_run(&w, 25);
	a = snapshot_take(&w);
	world_run(&w, 40);
	b = snapshot_take(&w);
	for (uint32_t invariant = 1; invariant <= INVARIANTS; invariant++)
		if (invariant_verdict(invariant, a, b, &e) != GPCI_HOLDS)
			fail_msg("invariant %u: %s", invariant, e.text);
	gpci_snapshot_free(a);
	gpci_snapshot_free(b);
	world_close(&w);
}

/* Partitions come, go and change between snapshots. */
static void they_hold_on_machines_made_by_chance_that_change(void **state)
{
	(void)state;
	for (uint32_t seed = 1; seed <= 150; seed++) {
		struct dice d = { seed * UINT64_C(0x9e3779b97f4a7c15) };
		struct gpci_snapshot *s, *was = NULL;
		const struct power_partition *q;
		struct buf config = { 0 };
		static struct world w;

		random_config(&d, &config);
		world_open(&w,
			   &(struct power_opts){
				   .seed = seed, .level = 6, .config = config.p, .config_bytes = config.n },
			   NULL, NULL);
		for (uint32_t n = 0; n < 5; n++, was = s) {
			uint32_t parts = power_partitions(w.p, &q), which = roll(&d, 4);
			struct power_partition c = q[roll(&d, parts)];
			struct err e = { 0 };

			world_run(&w, roll(&d, 12));
			if (which == 0 && c.id != 1)
				power_delete(w.p, c.id, &e);
			c.memory_lmbs = 1;
			c.weight = (uint8_t)roll(&d, 256);
			c.entitlement = 1 + roll(&d, c.vps * 100);
			if (which == 1)
				power_resize(w.p, &c, &e);
			c.id = (uint16_t)(5000 + n);
			if (which == 2)
				power_create(w.p, &c, &e);
			world_run(&w, roll(&d, 12));
			s = snapshot_take(&w);
			none_broken(was, s, config.p);
			gpci_snapshot_free(was);
		}
		gpci_snapshot_free(was);
		world_close(&w);
		buf_free(&config);
	}
	assert_int_equal(mem_live(), 0);
}

/* ---- pages ------------------------------------------------------------------------------------------------------- */

static bool same_records(const struct gpci_table *a, const struct gpci_table *b)
{
	bool same = a->n == b->n;

	for (uint32_t i = 0; same && i < a->n; i++)
		same = a->v[i].id == b->v[i].id && a->v[i].secondary == b->v[i].secondary &&
		       a->v[i].nelements == b->v[i].nelements &&
		       !memcmp(a->v[i].v, b->v[i].v, a->r->nfields * sizeof(a->v[i].v[0])) &&
		       !memcmp(a->v[i].element, b->v[i].element, a->v[i].nelements * sizeof(a->v[i].element[0]));
	return same;
}

/* Every byte up to some records, then ever larger steps. */
static size_t next_size(size_t bytes, size_t least)
{
	return bytes + 1 + (bytes > least + 200 ? bytes / 5 : 0);
}

static void in_any_size(struct world *w, const struct gpci_request *r)
{
	struct gpci_table whole, small;
	struct err e = { 0 };
	size_t least;

	w->transport.bytes = GPCI_MOST;
	if (gpci_read(&whole, &w->transport, r, r->index == GPCI_BY_NOTHING ? -1 : 0, &e) < 0)
		fail_msg("%s: %s", r->name, e.text);
	least = GPCI_HEADER + r->size + (gpci_request_find("affinity_by_partition") == r ? 8 * 28 : 0);
	for (size_t bytes = least; bytes < GPCI_MOST; bytes = next_size(bytes, least)) {
		w->transport.bytes = bytes;
		if (gpci_read(&small, &w->transport, r, r->index == GPCI_BY_NOTHING ? -1 : 0, &e) < 0)
			fail_msg("%s in %zu bytes: %s", r->name, bytes, e.text);
		if (!same_records(&whole, &small))
			fail_msg("%s in %zu bytes: %u records are not the %u of a large reply", r->name, bytes, small.n,
				 whole.n);
		gpci_table_free(&small);
	}
	gpci_table_free(&whole);
}

static void replies_of_any_size_give_the_same_records_of_every_request(void **state)
{
	static const uint8_t levels[] = { 0, 6, 8 };

	(void)state;
	for (uint32_t k = 0; k < COUNT(levels); k++)
		for (uint32_t big = 0; big < 2; big++) {
			const struct gpci_request *r;
			static struct world w;

			world_open(&w, &(struct power_opts){ .load = big ? "large" : "mixed", .level = levels[k] },
				   NULL, NULL);
			world_run(&w, 123);
			for (uint32_t i = 0; (r = gpci_request_at(i)); i++)
				if (gpci_request(r->number, levels[k], 8) == r && strcmp(r->name, "mmcrh") &&
				    power_ops.has(w.p, r))
					in_any_size(&w, r);
			world_close(&w);
		}
	assert_int_equal(mem_live(), 0);
}

/* ---- each is broken by a doctored machine ---------------------------------------------------- */

struct doctor {
	struct world *w;
	bool at_work;
	uint32_t invariant, way;
	uint32_t records; /* of this call */
	uint64_t kept;    /* a value from before */
};

static uint32_t field_place(const struct gpci_request *r, const char *name)
{
	for (uint32_t i = 0; i < r->nfields; i++)
		if (!strcmp(r->field[i].name, name))
			return i;
	fail_msg("%s has no %s", r->name, name);
	return 0;
}

/* Adds to a field of record `id` of a request. */
static void field_add(const struct gpci_request *r, struct gpci_values *v, uint32_t number, uint64_t id,
		      const char *name, uint64_t more)
{
	if (r->number == number && v->id == id)
		v->v[field_place(r, name)] += more;
}

static void field_set(const struct gpci_request *r, struct gpci_values *v, uint32_t number, uint64_t id,
		      const char *name, uint64_t value)
{
	if (r->number == number && v->id == id)
		v->v[field_place(r, name)] = value;
}

/* Of load "mixed": partitions 2 and 3 are shared and uncapped, 5 is dedicated and donates, 6 is dedicated; processor 0
 * is shared. */
static bool doctor_changes(const struct doctor *d, const struct gpci_request *r, bool self, uint64_t from,
			   struct gpci_values *v)
{
	switch (d->invariant * 10 + d->way) {
	case 10:
		field_add(r, v, 0x10, 0, "processor_time", 1);
		return true;
	case 11:
		field_add(r, v, 0x20, 2, "capped", UINT64_C(1) << 40);
		return true;
	case 20:
		field_set(r, v, 0x10, 0, "processor_time", UINT64_C(1) << 50);
		return true;
	case 21:
		field_set(r, v, 0x10, 1, "state", 2);
		return true;
	case 30:
		field_set(r, v, 0x20, 2, "entitled", 5);
		return true;
	case 31:
		field_add(r, v, 0x20, 2, "entitled", 10 * W);
		return true;
	case 40:
		field_set(r, v, 0x20, 2, "capped", d->kept);
		field_add(r, v, 0x20, 2, "uncapped", W);
		return true;
	case 50:
		field_add(r, v, 0x20, 3, "uncapped", UINT64_C(1) << 40);
		return true;
	case 60:
		field_add(r, v, 0x20, 6, "uncapped", 1);
		return true;
	case 61:
		field_add(r, v, 0x20, 5, "donated", UINT64_C(1) << 40);
		return true;
	case 62:
		field_add(r, v, 0x20, 2, "donated", 1);
		return true;
	case 70:
		field_add(r, v, 0x20, 2, "donated", UINT64_C(1) << 50);
		return true;
	case 71:
		field_add(r, v, 0x20, 5, "capped", 1);
		return true;
	case 80:
		field_add(r, v, 0x20, 2, "idle", UINT64_C(1) << 40);
		return true;
	case 90:
		field_add(r, v, 0x30, 2, "cycles", 1);
		return true;
	case 91:
		field_add(r, v, 0x94, 0, "instructions", 1);
		return true;
	case 92:
		field_add(r, v, 0x30, 2, "cycles", UINT64_C(1) << 40);
		field_add(r, v, 0x94, 0, "cycles_all_threads", UINT64_C(1) << 40);
		return true;
	case 100:
		field_add(r, v, 0x60, 0, "idle_w", UINT64_C(1) << 50);
		return true;
	case 101:
		field_add(r, v, 0x60, 0, "idle_w", (uint64_t)-1);
		return true;
	case 102:
		field_add(r, v, 0x50, 3, "idle_a", (uint64_t)-2);
		return true;
	case 103:
		field_set(r, v, 0x50, 1, "idle_b", 7);
		return true;
	case 104:
		field_set(r, v, 0x60, 1, "idle_x", UINT64_MAX);
		return true;
	case 105:
		field_add(r, v, 0x60, 2, "total", 4);
		return true;
	case 110:
		field_add(r, v, 0x80002000, 0, "hpmc3", UINT64_C(1) << 50);
		return true;
	case 111:
		field_add(r, v, 0x80002000, 0, "hpmc4_now", 3);
		return true;
	case 112:
		field_set(r, v, 0x80002000, 3, "mmcrh", 3);
		return true;
	case 120:
		field_set(r, v, 0xe0, 2, "on_home_core", 0);
		return true;
	case 121:
		field_set(r, v, 0xa0, 2, "processor", 999);
		return true;
	case 122:
		field_add(r, v, 0x94, 0, "purr", 8);
		return true;
	case 123:
		field_set(r, v, 0x20, 2, "entitled", 5);
		return true; /* it consumed more than one that began anew */
	case 130:
		if (from && d->records == 1)
			field_add(r, v, 0x10, v->id, "processor_time", 1);
		return true;
	case 131:
		if (from && d->records == 1)
			field_add(r, v, 0xa0, v->id, "virtual_processor", 0x4000);
		return true;
	case 140:
		if (self)
			field_add(r, v, 0x20, 1, "idle", 1);
		return true;
	case 141:
		if (self)
			field_set(r, v, 0xb1, 1, "score", 101);
		return true;
	case 150:
		field_add(r, v, 0x80, 1, "mc0_reads", 1);
		return true;
	case 151:
		field_add(r, v, 0x80, 1, "mc1_frames", UINT64_C(1) << 50);
		field_add(r, v, 0x80, 1, "mc1_writes", UINT64_C(1) << 50);
		return true;
	default:
		return false;
	}
}

static int doctored_next(void *arg, struct papr_caller who, const struct gpci_request *r, bool self, uint64_t from,
			 uint64_t secondary, struct gpci_values *v)
{
	struct doctor *d = arg;
	int rc = power_ops.next(d->w->p, who, r, self, from, secondary, v);

	d->records++;
	if (rc > 0 && !d->at_work && r->number == 0x20 && v->id == 2)
		d->kept = v->v[field_place(r, "capped")];
	if (rc > 0 && d->at_work)
		doctor_changes(d, r, self, from, v);
	return rc;
}

static void doctored_begin(void *arg)
{
	((struct doctor *)arg)->records = 0;
}

static void doctored_set(void *arg, uint64_t value)
{
	power_ops.set_mmcrh(((struct doctor *)arg)->w->p, value);
}

static struct papr_rights doctored_rights(void *arg, uint16_t partition)
{
	return power_ops.rights(((struct doctor *)arg)->w->p, partition);
}

static const struct papr_machine_ops doctored_ops = {
	.next = doctored_next,
	.begin = doctored_begin,
	.set_mmcrh = doctored_set,
	.rights = doctored_rights,
};

/* Whether the invariant is broken by the doctored second snapshot; the first one, and the machine as it is, break
 * none. */
static bool doctor_breaks(uint32_t invariant, uint32_t way, bool both)
{
	static struct world w;
	struct doctor d = { .w = &w, .invariant = invariant, .way = way };
	struct gpci_snapshot *a, *b;
	struct err e;
	bool broken;

	world_open(&w, &(struct power_opts){ .load = "mixed", .level = 6 }, &doctored_ops, &d);
	world_run(&w, 45);
	d.at_work = both;
	a = snapshot_take(&w);
	world_run(&w, 30);
	d.at_work = true;
	b = snapshot_take(&w);
	broken = invariant_verdict(invariant, a, b, &e) == GPCI_BROKEN && *e.text;
	gpci_snapshot_free(b);
	d.at_work = false;
	b = snapshot_take(&w);
	if (!both)
		none_broken(a, b, "not doctored");
	gpci_snapshot_free(a);
	gpci_snapshot_free(b);
	world_close(&w);
	return broken;
}

static void each_invariant_is_broken_by_a_doctored_machine(void **state)
{
	struct doctor none = { .invariant = 0 };
	struct gpci_values v = { .id = 0 };

	(void)state;
	for (none.invariant = 1; none.invariant <= INVARIANTS; none.invariant++)
		for (none.way = 0; none.way < 10; none.way++) {
			if (!doctor_changes(&none, newest(0xf4), false, 0, &v)) {
				assert_true(none.way > 0);
				break;
			}
			if (!doctor_breaks(none.invariant, none.way, none.invariant == 2 && none.way == 1))
				fail_msg("invariant %u, way %u: the doctored machine passes", none.invariant, none.way);
		}
	assert_int_equal(mem_live(), 0);
}

/* ---- what is unknown ------------------------------------------------------------------------- */

static int running_call(void *arg, uint32_t vcpu, uint64_t r[3], struct err *e)
{
	world_run(arg, 1);
	return world_call(arg, vcpu, r, e);
}

/* Nobody is accused on grounds of tables of different moments. */
static void a_platform_that_does_not_stand_still_is_unknown_not_broken(void **state)
{
	static const struct hv_transport_ops running = { .what = "the test", .papr = running_call };
	static struct world w;
	struct gpci_snapshot *s;
	struct err e;

	(void)state;
	world_open(&w, &(struct power_opts){ .load = "mixed", .level = 6 }, NULL, NULL);
	w.transport.op = &running;
	s = snapshot_take(&w);
	for (uint32_t invariant = 1; invariant <= INVARIANTS; invariant++) {
		assert_int_equal(invariant_verdict(invariant, NULL, s, &e), GPCI_UNKNOWN);
		assert_non_null(strstr(e.text, "stand still"));
	}
	gpci_snapshot_free(s);
	world_close(&w);
}

/* A line that lets a window pass now and then: the snapshot is taken between. */
static uint32_t now_and_then;
static int pausing_call(void *arg, uint32_t vcpu, uint64_t r[3], struct err *e)
{
	if (++now_and_then % 97 == 0)
		world_run(arg, 1);
	return world_call(arg, vcpu, r, e);
}

static void a_snapshot_waits_for_a_moment_in_which_nothing_moves(void **state)
{
	static const struct hv_transport_ops pausing = { .what = "the test", .papr = pausing_call };
	static struct world w;
	struct gpci_snapshot *a, *b;
	struct err e;

	(void)state;
	world_open(&w, &(struct power_opts){ .load = "donating", .level = 6 }, NULL, NULL);
	world_run(&w, 3);
	w.transport.op = &pausing;
	for (uint32_t i = 0; i < 20; i++) {
		now_and_then = i * 7;
		a = snapshot_take(&w);
		b = snapshot_take(&w);
		for (uint32_t invariant = 1; invariant <= INVARIANTS; invariant++)
			if (invariant_verdict(invariant, a, b, &e) != GPCI_HOLDS)
				fail_msg("invariant %u: %s", invariant, e.text);
		gpci_snapshot_free(a);
		gpci_snapshot_free(b);
	}
	world_close(&w);
}

static void without_rights_or_an_earlier_snapshot_invariants_are_unknown_and_say_why(void **state)
{
	static const struct {
		uint32_t invariant;
		const char *why;
	} alone[] = { { 4, "two snapshots" }, { 5, "two snapshots" }, { 7, "two snapshots" } };
	static const struct {
		uint32_t invariant;
		const char *why;
	} own[] = {
		{ 1, "0x10" },           { 2, "0x10" },        { 8, "0x20" },
		{ 10, "0x50" },          { 11, "0x80002000" }, { 13, "several records" },
		{ 14, "own partition" },
	};
	static struct world w;
	struct gpci_snapshot *s;
	struct err e;

	(void)state;
	world_open(&w, &(struct power_opts){ .load = "mixed", .level = 6 }, NULL, NULL);
	s = snapshot_take(&w);
	for (uint32_t i = 0; i < COUNT(alone); i++) {
		assert_int_equal(invariant_verdict(alone[i].invariant, NULL, s, &e), GPCI_UNKNOWN);
		assert_non_null(strstr(e.text, alone[i].why));
	}
	gpci_snapshot_free(s);
	w.who = 2;
	s = snapshot_take(&w);
	for (uint32_t i = 0; i < COUNT(own); i++) {
		assert_int_equal(invariant_verdict(own[i].invariant, NULL, s, &e), GPCI_UNKNOWN);
		assert_non_null(strstr(e.text, own[i].why));
	}
	gpci_snapshot_free(s);
	gpci_snapshot_free(NULL);
	world_close(&w);
}

static void every_failing_allocation_is_survived(void **state)
{
	static struct world w;

	(void)state;
	world_open(&w, &(struct power_opts){ .load = "donating", .level = 6 }, NULL, NULL);
	for (long n = 1;; n++) {
		struct gpci_snapshot *s = NULL;
		struct err e = { 0 };
		long live = mem_live();
		int rc;

		mem_fail_at(n);
		rc = gpci_snapshot_take(&s, &w.transport, &e);
		if (!mem_failed()) {
			assert_int_equal(rc, 0);
			gpci_snapshot_free(s);
			break;
		}
		assert_int_equal(rc, -TALLY_ENOMEM);
		assert_int_equal(mem_live(), live);
	}
	mem_fail_at(0);
	world_close(&w);
	assert_int_equal(mem_live(), 0);
}

/* ---- what the text says of the block, against records counted by hand ------------------------ */

enum { LONG_BLOCK = 32 + 200 * 48 };
struct long_guest {
	uint8_t block[LONG_BLOCK];
};

static bool long_is(void *arg, uint64_t ra, uint64_t n)
{
	(void)arg;
	return ra <= LONG_BLOCK && n <= LONG_BLOCK - ra;
}

static int long_read(void *arg, uint64_t ra, void *to, size_t n)
{
	memcpy(to, ((struct long_guest *)arg)->block + ra, n);
	return 0;
}

static int long_write(void *arg, uint64_t ra, const void *from, size_t n)
{
	memcpy(((struct long_guest *)arg)->block + ra, from, n);
	return 0;
}

static int64_t ask_long(struct world *w, uint32_t most, uint32_t number, int32_t index, struct papr_caller who,
			struct long_guest *g)
{
	const struct hv_mem mem = { .arg = g, .is = long_is, .read = long_read, .write = long_write };
	const struct papr_opts o = { .level = power_level(w->p), .most = most, .ops = &power_ops, .arg = w->p };
	uint64_t r[3] = { PAPR_GPCI, 0, LONG_BLOCK };
	struct papr *s;

	assert_int_equal(papr_open(&s, &o), 0);
	memset(g->block, 0, sizeof(g->block));
	gpci_ask(g->block, GPCI_HEADER, number, index, 0, 8);
	papr_call(s, who, &mem, r);
	papr_close(s);
	return (int64_t)r[0];
}

static uint32_t guest_be(const struct long_guest *g, uint32_t at, uint32_t n)
{
	uint32_t v = 0;

	for (uint32_t i = 0; i < n; i++)
		v = v << 8 | g->block[at + i];
	return v;
}

static void open_200_partitions(struct world *w)
{
	struct buf config = { 0 };

	buf_puts(&config, "chips 4\ncores 24\npartition 1 rights=all,expanded vps=2 entitlement=10 memory=1\n");
	for (uint32_t i = 2; i <= 200; i++)
		buf_printf(&config, "partition %u entitlement=10 memory=1\n", i);
	world_open(w, &(struct power_opts){ .level = 6, .config = config.p, .config_bytes = config.n }, NULL, NULL);
	buf_free(&config);
}

static void a_block_longer_than_4096_bytes_was_cut_without_a_word(void **state)
{
	static struct long_guest g;
	static struct world w;

	(void)state;
	open_200_partitions(&w);
	assert_int_equal(ask_long(&w, 0, 0x20, 0, (struct papr_caller){ .partition = 1 }, &g), H_SUCCESS);
	assert_int_equal(guest_be(&g, 8, 4), 200);
	for (uint32_t i = 0; i < 200; i++)
		assert_int_equal(guest_be(&g, 32 + 48 * i + 4, 4), i + 1);
	/* the profile of practice: the first page */
	assert_int_equal(ask_long(&w, GPCI_MOST, 0x20, 0, (struct papr_caller){ .partition = 1 }, &g), H_PARAMETER);
	assert_int_equal(guest_be(&g, 8, 4), (4096 - 32) / 48);
	assert_int_equal(guest_be(&g, 12, 4), GPCI_BUF_TOO_SMALL);
	world_close(&w);
	assert_int_equal(mem_live(), 0);
}

static void a_long_reply_that_finds_no_memory_is_h_hardware_and_writes_nothing(void **state)
{
	static struct long_guest g;
	static struct world w;
	uint8_t zero[64] = { 0 };

	(void)state;
	open_200_partitions(&w);
	mem_fail_at(2); /* the first is the service's own */
	assert_int_equal(ask_long(&w, 0, 0x20, 0, (struct papr_caller){ .partition = 1 }, &g), H_HARDWARE);
	mem_fail_at(0);
	assert_memory_equal(g.block + GPCI_HEADER, zero, sizeof(zero));
	assert_int_equal(guest_be(&g, 8, 4), 0);
	world_close(&w);
	assert_int_equal(mem_live(), 0);
}

static void capabilities_answered_index_0_and_not_the_callers_id(void **state)
{
	static struct long_guest g;
	static struct world w;

	(void)state;
	open_200_partitions(&w);
	for (uint16_t q = 1; q <= 200; q += 199) {
		assert_int_equal(ask_long(&w, 0, 0x40, -1, (struct papr_caller){ .partition = q }, &g), H_SUCCESS);
		assert_int_equal(guest_be(&g, 4, 4), q);
		assert_int_equal(guest_be(&g, 8, 4), 1);
	}
	world_close(&w);
}

static void the_own_index_of_a_virtual_processor_that_there_is_not_was_answered_with_another_ones(void **state)
{
	static const uint32_t by_vp[] = { 0x10, 0x50, 0x60, 0x80, 0x90, 0x91, 0x94, 0xa0, 0xb0, 0xd0 };
	static struct long_guest g;
	static struct world w;

	(void)state;
	open_200_partitions(&w);
	for (uint32_t i = 0; i < COUNT(by_vp); i++)
		for (uint16_t vp = 1; vp <= 3; vp++) {
			bool is = vp < 2; /* partition 1 has two */

			assert_int_equal(ask_long(&w, 0, by_vp[i], -1, (struct papr_caller){ 1, vp }, &g),
					 is ? H_SUCCESS : H_PARAMETER);
			assert_int_equal(guest_be(&g, 8, 4) & 0xffff, is);
		}
	assert_int_equal(ask_long(&w, 0, 0x20, -1, (struct papr_caller){ 1, 3 }, &g),
			 H_SUCCESS); /* of the partition, whoever asks */
	world_close(&w);
}

static void counters_that_are_not_modelled_were_zeros_with_success(void **state)
{
	static const struct {
		uint32_t number;
		uint8_t level;
	} rows[] = { { 0x70, 3 }, { 0x70, 5 }, { 0x70, 6 }, { 0xf4, 6 }, { 0xf4, 8 } };
	static struct long_guest g;
	static struct world w;

	(void)state;
	for (uint32_t i = 0; i < COUNT(rows); i++) {
		world_open(&w, &(struct power_opts){ .level = rows[i].level }, NULL, NULL);
		world_run(&w, 30);
		for (int32_t index = -1; index < 1; index++)
			assert_int_equal(ask_long(&w, 0, rows[i].number, index, (struct papr_caller){ .partition = 1 },
						  &g),
					 H_NOT_AVAILABLE);
		world_close(&w);
	}
}

static void two_readings_of_one_moment_are_told_from_two_that_differ(void **state)
{
	struct gpci_snapshot *a, *b, *c;
	static struct world w;

	(void)state;
	world_open(&w, &(struct power_opts){ .level = 6 }, NULL, NULL);
	world_run(&w, 10);
	a = snapshot_take(&w);
	b = snapshot_take(&w);
	world_run(&w, 1);
	c = snapshot_take(&w);
	assert_false(gpci_snapshot_moved(a, b));
	assert_true(gpci_snapshot_moved(b, c));
	gpci_snapshot_free(a);
	gpci_snapshot_free(b);
	gpci_snapshot_free(c);
	world_close(&w);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(invariants_have_numbers_and_words),
		cmocka_unit_test(they_hold_on_every_load_level_and_right),
		cmocka_unit_test(a_privileged_asker_knows_all_of_them),
		cmocka_unit_test(they_hold_on_machines_made_by_chance_that_change),
		cmocka_unit_test(replies_of_any_size_give_the_same_records_of_every_request),
		cmocka_unit_test(each_invariant_is_broken_by_a_doctored_machine),
		cmocka_unit_test(a_platform_that_does_not_stand_still_is_unknown_not_broken),
		cmocka_unit_test(a_snapshot_waits_for_a_moment_in_which_nothing_moves),
		cmocka_unit_test(without_rights_or_an_earlier_snapshot_invariants_are_unknown_and_say_why),
		cmocka_unit_test(every_failing_allocation_is_survived),
		cmocka_unit_test(a_block_longer_than_4096_bytes_was_cut_without_a_word),
		cmocka_unit_test(a_long_reply_that_finds_no_memory_is_h_hardware_and_writes_nothing),
		cmocka_unit_test(capabilities_answered_index_0_and_not_the_callers_id),
		cmocka_unit_test(the_own_index_of_a_virtual_processor_that_there_is_not_was_answered_with_another_ones),
		cmocka_unit_test(counters_that_are_not_modelled_were_zeros_with_success),
		cmocka_unit_test(two_readings_of_one_moment_are_told_from_two_that_differ),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
