/* gpci_invariant_test.c: invariants of two partitions and two processors at the edge of what they allow. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <cmocka.h>

#include "hv/gpci_guest_int.h"

#define WINDOW UINT64_C(5120000) /* ticks of a dispatch window */
#define UNITS 40u                /* hundredths of a core that partition 2 is entitled to */
#define ENTITLED (UNITS * WINDOW / 100)

/* A snapshot of 2 shared processors, and of partitions 2 and 3, shared, which have two virtual processors and one. */
struct moment {
	struct gpci_snapshot s;
	struct gpci_values processor[2], partition[2], core[1], domain[2], vp[3];
};

static void field_set(struct gpci_snapshot *s, enum snapshot_table t, uint32_t i, const char *name, uint64_t value)
{
	const struct gpci_request *r = s->all[t].r;

	for (uint32_t k = 0; k < r->nfields; k++)
		if (!strcmp(r->field[k].name, name)) {
			s->all[t].v[i].v[k] = value;
			return;
		}
	fail_msg("no field %s", name);
}

/* The newest layout of a request. */
static const struct gpci_request *request_of(uint32_t number)
{
	const struct gpci_request *r, *newest = NULL;

	for (uint32_t i = 0; (r = gpci_request_at(i)); i++)
		if (r->number == number)
			newest = r;
	assert_non_null(newest);
	return newest;
}

static void moment_add_table(struct moment *m, enum snapshot_table t, uint32_t number, struct gpci_values *v,
			     uint32_t n, uint64_t first)
{
	m->s.all[t] = (struct gpci_table){ .r = request_of(number), .n = n, .v = v };
	for (uint32_t i = 0; i < n; i++)
		v[i].id = first + i;
}

static void moment_make(struct moment *m, uint64_t timebase, uint64_t capped, uint64_t uncapped)
{
	memset(m, 0, sizeof(*m));
	m->s.still = true;
	moment_add_table(m, TABLE_PROCESSORS, 0x10, m->processor, 2, 0);
	moment_add_table(m, TABLE_PARTITIONS, 0x20, m->partition, 2, 2);
	moment_add_table(m, TABLE_CORES, 0x94, m->core, 1, 0);
	moment_add_table(m, TABLE_DOMAINS, 0xb1, m->domain, 2, 2);
	moment_add_table(m, TABLE_VPS, 0xa0, m->vp, 3, 1);
	m->vp[0].id = 2;
	m->vp[1].secondary = 1;
	for (uint32_t i = 0; i < 2; i++) {
		field_set(&m->s, TABLE_PROCESSORS, i, "state", 4);
		m->domain[i].nelements = 1;
		m->domain[i].element[0].units[0] = UNITS;
	}
	field_set(&m->s, TABLE_CORES, 0, "timebase", timebase);
	field_set(&m->s, TABLE_PARTITIONS, 0, "capped", capped);
	field_set(&m->s, TABLE_PARTITIONS, 0, "uncapped", uncapped);
}

/* Each table in memory of its own, so that a look behind its end is seen. */
static struct gpci_snapshot *snapshot_apart(const struct moment *m)
{
	struct gpci_snapshot *s = mem_alloc(sizeof(*s));

	*s = m->s;
	for (uint32_t t = 0; t < TABLES; t++) {
		struct gpci_table *table = &s->all[t];
		const size_t bytes = table->n * sizeof(table->v[0]);

		if (bytes)
			table->v = memcpy(mem_alloc(bytes), table->v, bytes);
	}
	return s;
}

static void apart_free(struct gpci_snapshot *s)
{
	for (uint32_t t = 0; s && t < TABLES; t++)
		if (s->all[t].n)
			mem_free(s->all[t].v);
	mem_free(s);
}

static enum gpci_verdict invariant_verdict(enum gpci_invariant_name name, const struct moment *was,
					   const struct moment *is, struct err *e)
{
	struct gpci_snapshot *before = was ? snapshot_apart(was) : NULL, *now = snapshot_apart(is);
	enum gpci_verdict verdict;

	*e = (struct err){ 0 };
	verdict = gpci_invariant_check(gpci_invariant_at(name), before, now, e);
	apart_free(before);
	apart_free(now);
	return verdict;
}

static void uncapped_cycles_come_behind_the_whole_entitlement_of_a_window(void **state)
{
	static struct moment was, is;
	struct err e;

	(void)state;
	moment_make(&was, 1000, 77, 5);
	moment_make(&is, 1000 + WINDOW, 77 + ENTITLED, 6);
	assert_int_equal(invariant_verdict(GPCI_INVARIANT_uncapped_behind_entitlement, &was, &is, &e), GPCI_HOLDS);
	moment_make(&is, 1000 + WINDOW, 77 + ENTITLED - 1, 6);
	assert_int_equal(invariant_verdict(GPCI_INVARIANT_uncapped_behind_entitlement, &was, &is, &e), GPCI_BROKEN);
	assert_string_equal(e.text, "partition 2 took uncapped cycles, but of its entitlement only 2047999");
	moment_make(&is, 1000 + WINDOW, 77, 5); /* it took none */
	assert_int_equal(invariant_verdict(GPCI_INVARIANT_uncapped_behind_entitlement, &was, &is, &e), GPCI_HOLDS);
	moment_make(&is, 1000 + WINDOW, 77, 6);
	assert_int_equal(invariant_verdict(GPCI_INVARIANT_uncapped_behind_entitlement, &was, &is, &e), GPCI_BROKEN);
}

static void an_entitlement_that_changed_is_held_against_nobody(void **state)
{
	static struct moment was, is;
	struct err e;

	(void)state;
	moment_make(&was, 1000, 77, 5);
	moment_make(&is, 1000 + WINDOW, 77, 6);
	is.domain[0].element[0].units[1] = 1;
	assert_int_equal(invariant_verdict(GPCI_INVARIANT_uncapped_behind_entitlement, &was, &is, &e), GPCI_HOLDS);
	was.domain[0].element[0].units[0] = UNITS - 10; /* both kinds of units count */
	was.domain[0].element[0].units[1] = 11;
	assert_int_equal(invariant_verdict(GPCI_INVARIANT_uncapped_behind_entitlement, &was, &is, &e), GPCI_BROKEN);
}

static void a_partition_that_owns_processors_is_no_shared_one(void **state)
{
	static struct moment was, is;
	struct err e;

	(void)state;
	moment_make(&was, 1000, 77, 5);
	moment_make(&is, 1000 + WINDOW, 77, 6);
	for (struct moment *m = &was;; m = &is) {
		field_set(&m->s, TABLE_PROCESSORS, 1, "owner", 2);
		field_set(&m->s, TABLE_PROCESSORS, 1, "state", 5);
		if (m == &is)
			break;
	}
	assert_int_equal(invariant_verdict(GPCI_INVARIANT_uncapped_behind_entitlement, &was, &is, &e), GPCI_HOLDS);
	field_set(&was.s, TABLE_PROCESSORS, 1, "state", 4);
	field_set(&is.s, TABLE_PROCESSORS, 1, "state", 4);
	assert_int_equal(invariant_verdict(GPCI_INVARIANT_uncapped_behind_entitlement, &was, &is, &e), GPCI_BROKEN);
}

static void what_a_invariant_lacks_makes_it_unknown(void **state)
{
	static struct moment was, is;
	struct err e;

	(void)state;
	moment_make(&was, 1000, 77, 5);
	moment_make(&is, 1000 + WINDOW, 77, 6);
	assert_int_equal(invariant_verdict(GPCI_INVARIANT_uncapped_behind_entitlement, NULL, &is, &e), GPCI_UNKNOWN);
	was.s.still = false;
	assert_int_equal(invariant_verdict(GPCI_INVARIANT_uncapped_behind_entitlement, &was, &is, &e), GPCI_UNKNOWN);
	was.s.still = true;
	was.s.all[TABLE_DOMAINS].r = NULL;
	assert_int_equal(invariant_verdict(GPCI_INVARIANT_uncapped_behind_entitlement, &was, &is, &e), GPCI_UNKNOWN);
	assert_non_null(strstr(e.text, "0xb1"));
}

static void each_partition_is_looked_at_and_none_behind_the_last(void **state)
{
	static struct moment was, is;
	struct err e;

	(void)state;
	moment_make(&was, 1000, 77, 5);
	moment_make(&is, 1000 + WINDOW, 77, 5);
	field_set(&is.s, TABLE_PARTITIONS, 1, "uncapped", 1); /* the first one took none */
	assert_int_equal(invariant_verdict(GPCI_INVARIANT_uncapped_behind_entitlement, &was, &is, &e), GPCI_BROKEN);
	assert_string_equal(e.text, "partition 3 took uncapped cycles, but of its entitlement only 0");
	was.s.all[TABLE_PARTITIONS].n = is.s.all[TABLE_PARTITIONS].n = 1;
	assert_int_equal(invariant_verdict(GPCI_INVARIANT_uncapped_behind_entitlement, &was, &is, &e), GPCI_HOLDS);
	is.s.all[TABLE_PARTITIONS].n = 2; /* partition 3 is new: all that it took is of another time */
	assert_int_equal(invariant_verdict(GPCI_INVARIANT_uncapped_behind_entitlement, &was, &is, &e), GPCI_HOLDS);
}

static void a_partition_consumes_what_its_virtual_processors_can(void **state)
{
	const enum gpci_invariant_name name = GPCI_INVARIANT_partitions_within_their_processors;
	static struct moment was, is;
	struct err e;

	(void)state;
	moment_make(&was, 1000, 70, 5);
	moment_make(&is, 1000 + WINDOW, 70 + WINDOW, 5 + WINDOW);
	assert_int_equal(invariant_verdict(name, &was, &is, &e), GPCI_HOLDS);
	moment_make(&is, 1000 + WINDOW, 70 + WINDOW, 6 + WINDOW);
	assert_int_equal(invariant_verdict(name, &was, &is, &e), GPCI_BROKEN);
	assert_string_equal(e.text, "partition 2 with 2 virtual processors consumed 10240001 cycles in 5120000");
	was.s.all[TABLE_VPS].n = 1; /* it had one only */
	assert_int_equal(invariant_verdict(name, &was, &is, &e), GPCI_HOLDS);
	was.s.all[TABLE_VPS].n = 3;
	field_set(&was.s, TABLE_PROCESSORS, 0, "state", 6); /* processors went to others meanwhile */
	assert_int_equal(invariant_verdict(name, &was, &is, &e), GPCI_HOLDS);
	field_set(&was.s, TABLE_PROCESSORS, 0, "state", 4);
	field_set(&was.s, TABLE_CORES, 0, "timebase", 0);
	assert_int_equal(invariant_verdict(name, &was, &is, &e), GPCI_UNKNOWN);
	moment_make(&was, 1000, 70, 5);
	moment_make(&is, 1000 + WINDOW, 70, 5);
	field_set(&is.s, TABLE_PARTITIONS, 1, "capped", WINDOW + 1);
	assert_int_equal(invariant_verdict(name, &was, &is, &e), GPCI_BROKEN);
	was.s.all[TABLE_PARTITIONS].n = is.s.all[TABLE_PARTITIONS].n = 1;
	assert_int_equal(invariant_verdict(name, &was, &is, &e), GPCI_HOLDS);
}

static void dedicated_partitions_give_and_shared_ones_do_not(void **state)
{
	const enum gpci_invariant_name name = GPCI_INVARIANT_dedicated_and_shared;
	static struct moment is;
	struct err e;

	(void)state;
	moment_make(&is, 1000, 60, 0);
	field_set(&is.s, TABLE_PARTITIONS, 0, "entitled", 100);
	field_set(&is.s, TABLE_PARTITIONS, 0, "donated", 40);
	assert_int_equal(invariant_verdict(name, NULL, &is, &e), GPCI_BROKEN);
	assert_string_equal(e.text, "partition 2 is shared, but donated 40 cycles");
	field_set(&is.s, TABLE_PROCESSORS, 1, "owner", 2); /* one processor is enough */
	field_set(&is.s, TABLE_PROCESSORS, 1, "state", 6);
	assert_int_equal(invariant_verdict(name, NULL, &is, &e), GPCI_HOLDS);
	field_set(&is.s, TABLE_PARTITIONS, 0, "donated", 41);
	assert_int_equal(invariant_verdict(name, NULL, &is, &e), GPCI_BROKEN);
	assert_string_equal(e.text, "partition 2 used and donated 101 cycles of 100 entitled ones");
	field_set(&is.s, TABLE_PARTITIONS, 0, "donated", 0);
	field_set(&is.s, TABLE_PARTITIONS, 0, "uncapped", 1);
	assert_int_equal(invariant_verdict(name, NULL, &is, &e), GPCI_BROKEN);
	assert_string_equal(e.text, "partition 2 is dedicated, but has 1 uncapped cycles");
	field_set(&is.s, TABLE_PARTITIONS, 0, "uncapped", 0);
	field_set(&is.s, TABLE_PARTITIONS, 1, "capped", 9); /* that bound is not for a shared one */
	field_set(&is.s, TABLE_PARTITIONS, 1, "uncapped", 9);
	assert_int_equal(invariant_verdict(name, NULL, &is, &e), GPCI_HOLDS);
	field_set(&is.s, TABLE_PARTITIONS, 1, "donated", 1);
	assert_int_equal(invariant_verdict(name, NULL, &is, &e), GPCI_BROKEN);
	is.s.all[TABLE_PARTITIONS].n = 1;
	assert_int_equal(invariant_verdict(name, NULL, &is, &e), GPCI_HOLDS);
}

/* ---- rows: two moments that keep to all of it, and what a row changes in them ----------------------------------- */

enum moment_of { WAS, IS, BOTH };
struct edit {
	const char *field; /* "units": of a domain, and no field */
	uint64_t value;
	uint8_t of, table, record;
};
struct row {
	int line;
	bool alone; /* there is one snapshot */
	struct edit edit[8];
	const char *broken; /* NULL: it holds */
};

/* Partition 2 consumed its entitlement and 10 cycles more, partition 3 its entitlement. */
static void moments_make(struct moment *was, struct moment *is)
{
	for (struct moment *m = was;; m = is) {
		const uint64_t more = m == is;

		moment_make(m, (10 + more) * WINDOW, 1000 + more * ENTITLED, 100 + more * 10);
		field_set(&m->s, TABLE_PARTITIONS, 0, "entitled", 4000 + more * ENTITLED);
		field_set(&m->s, TABLE_PARTITIONS, 0, "idle", 50 + more * 5);
		field_set(&m->s, TABLE_PARTITIONS, 1, "entitled", 4000 + more * ENTITLED);
		field_set(&m->s, TABLE_PARTITIONS, 1, "capped", 200 + more * ENTITLED);
		field_set(&m->s, TABLE_PARTITIONS, 1, "idle", 20 + more * 7);
		field_set(&m->s, TABLE_PROCESSORS, 0, "processor_time", 700 + more * 4000000);
		field_set(&m->s, TABLE_PROCESSORS, 1, "processor_time", 600 + more * 96010);
		field_set(&m->s, TABLE_CORES, 0, "purr", 700 + more * 4000000);
		if (m == is)
			return;
	}
}

static void edit_moment(struct moment *m, const struct edit *e)
{
	if (!strcmp(e->field, "units"))
		m->domain[e->record].element[0].units[1] = (uint16_t)e->value;
	else
		field_set(&m->s, (enum snapshot_table)e->table, e->record, e->field, e->value);
}

static void check_rows(enum gpci_invariant_name name, const struct row *row, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		static struct moment was, is;
		enum gpci_verdict verdict;
		struct err e;

		moments_make(&was, &is);
		for (const struct edit *x = row[i].edit; x->field; x++) {
			if (x->of != IS)
				edit_moment(&was, x);
			if (x->of != WAS)
				edit_moment(&is, x);
		}
		verdict = invariant_verdict(name, row[i].alone ? NULL : &was, &is, &e);
		if (verdict != (row[i].broken ? GPCI_BROKEN : GPCI_HOLDS) ||
		    (row[i].broken && strcmp(e.text, row[i].broken)))
			fail_msg("line %d: %d, \"%s\"", row[i].line, verdict, e.text);
	}
}

#define PARTITION(of, i, field, value)                \
	{                                             \
		field, value, of, TABLE_PARTITIONS, i \
	}
#define PROCESSOR(of, i, field, value)                \
	{                                             \
		field, value, of, TABLE_PROCESSORS, i \
	}

static void processors_ran_what_partitions_consumed(void **state)
{
	static const struct row rows[] = {
		{ __LINE__, false, { { 0 } }, NULL },
		{ __LINE__,
		  false,
		  { PROCESSOR(IS, 1, "processor_time", 600 + 96011) },
		  "processors ran 4096011 cycles meanwhile, partitions consumed 4096010" },
		{ __LINE__,
		  true,
		  { PROCESSOR(IS, 1, "processor_time", 600 + 96011) },
		  NULL }, /* of others, that are gone */
		{ __LINE__,
		  true,
		  { PROCESSOR(IS, 1, "processor_time", 600 + 96009) },
		  "processors ran 4097309 cycles, partitions consumed 4097310" },
		{ __LINE__,
		  false,
		  { PROCESSOR(WAS, 0, "processor_time", 699), PROCESSOR(IS, 0, "processor_time", 4000699) },
		  "processors ran 4097309 cycles, partitions consumed 4097310" },
		{ __LINE__,
		  false,
		  { PROCESSOR(WAS, 0, "processor_time", 705), PROCESSOR(IS, 0, "processor_time", 4000705) },
		  NULL },
		{ __LINE__,
		  false,
		  { PARTITION(IS, 1, "uncapped", 1), PROCESSOR(IS, 1, "processor_time", 600 + 96011) },
		  NULL },
		/* an owner changed: sums of both moments can't be compared */
		{ __LINE__,
		  false,
		  { PROCESSOR(WAS, 1, "owner", 2), PROCESSOR(IS, 1, "processor_time", 600 + 96011) },
		  NULL },
	};

	(void)state;
	check_rows(GPCI_INVARIANT_processors_ran_what_was_consumed, rows, COUNT(rows));
}

static void a_processor_runs_while_time_passes_and_while_it_is_used(void **state)
{
	static const struct row rows[] = {
		{ __LINE__,
		  false,
		  { PROCESSOR(WAS, 0, "processor_time", 10 * WINDOW), PROCESSOR(IS, 0, "processor_time", 11 * WINDOW) },
		  NULL },
		{ __LINE__,
		  false,
		  { PROCESSOR(WAS, 0, "processor_time", 10 * WINDOW + 1),
		    PROCESSOR(IS, 0, "processor_time", 11 * WINDOW + 1) },
		  "processor 0 ran 56320001 cycles of 56320000 since boot" },
		{ __LINE__,
		  false,
		  { PROCESSOR(WAS, 1, "processor_time", 10 * WINDOW - 1),
		    PROCESSOR(IS, 1, "processor_time", 11 * WINDOW) },
		  "processor 1 ran 5120001 cycles in 5120000" },
		{ __LINE__, true, { PROCESSOR(IS, 1, "processor_time", 11 * WINDOW) }, NULL },
		{ __LINE__,
		  false,
		  { PROCESSOR(BOTH, 1, "state", 3) },
		  "processor 1 is in no use, but ran 96010 cycles" },
		{ __LINE__, false, { PROCESSOR(BOTH, 1, "state", 3), PROCESSOR(IS, 1, "processor_time", 600) }, NULL },
		{ __LINE__, false, { PROCESSOR(IS, 1, "state", 3) }, NULL }, /* it was in use until then */
		{ __LINE__, false, { PROCESSOR(WAS, 1, "state", 3) }, NULL },
		{ __LINE__, false, { PROCESSOR(BOTH, 1, "state", 4) }, NULL },
		{ __LINE__, true, { PROCESSOR(IS, 1, "state", 3) }, NULL },
	};

	(void)state;
	check_rows(GPCI_INVARIANT_processors_run_within_time, rows, COUNT(rows));
}

static void since_when_a_processor_runs_may_be_unknown(void **state)
{
	static struct moment was, is;
	struct err e;

	(void)state;
	moments_make(&was, &is);
	is.s.all[TABLE_CORES] = (struct gpci_table){ 0 };
	assert_int_equal(invariant_verdict(GPCI_INVARIANT_processors_run_within_time, &was, &is, &e), GPCI_HOLDS);
	assert_int_equal(invariant_verdict(GPCI_INVARIANT_processors_run_within_time, NULL, &is, &e), GPCI_HOLDS);
}

static void capped_cycles_are_within_the_entitlement_of_time_that_passed(void **state)
{
	static const struct row rows[] = {
		{ __LINE__, false, { { 0 } }, NULL },
		{ __LINE__, false, { PARTITION(IS, 0, "capped", 4000 + ENTITLED) }, NULL },
		{ __LINE__,
		  false,
		  { PARTITION(IS, 0, "capped", 4001 + ENTITLED) },
		  "partition 2 consumed 2052001 capped cycles of 2052000 entitled ones" },
		{ __LINE__,
		  true,
		  { PARTITION(IS, 1, "capped", 4001 + ENTITLED) },
		  "partition 3 consumed 2052001 capped cycles of 2052000 entitled ones" },
		/* a window more, and one cycle */
		{ __LINE__, false, { PARTITION(IS, 1, "entitled", 4001 + 2 * ENTITLED) }, NULL },
		{ __LINE__,
		  false,
		  { PARTITION(IS, 1, "entitled", 4002 + 2 * ENTITLED) },
		  "partition 3 has 0.40 cores, but was entitled to 4096002 cycles in 5120000" },
		/* of one whose entitlement changed only what all have is known: two processors */
		{ __LINE__,
		  false,
		  { { "units", 1, IS, 0, 1 }, PARTITION(IS, 1, "entitled", 4000 + 2 * WINDOW - ENTITLED) },
		  NULL },
		{ __LINE__,
		  false,
		  { { "units", 1, IS, 0, 1 }, PARTITION(IS, 1, "entitled", 4001 + 2 * WINDOW - ENTITLED) },
		  "shared partitions were entitled to 10240001 cycles, shared processors have 10240000" },
		{ __LINE__,
		  false,
		  { { "units", 1, IS, 0, 1 },
		    PARTITION(IS, 1, "entitled", 4000 + WINDOW),
		    PROCESSOR(BOTH, 1, "state", 3) },
		  "shared partitions were entitled to 7168000 cycles, shared processors have 5120000" },
		/* two and a half cores */
		{ __LINE__,
		  false,
		  { { "units", 210, BOTH, 0, 1 }, PARTITION(IS, 1, "entitled", 4002 + 5 * WINDOW) },
		  "partition 3 has 2.50 cores, but was entitled to 25600002 cycles in 5120000" },
		/* partition 2 has processor 1 for itself, and no part in what is shared */
		{ __LINE__,
		  false,
		  { PROCESSOR(BOTH, 1, "owner", 2),
		    PROCESSOR(BOTH, 1, "state", 5),
		    { "units", 1, IS, 0, 1 },
		    PARTITION(IS, 1, "entitled", 4000 + WINDOW) },
		  NULL },
	};

	(void)state;
	check_rows(GPCI_INVARIANT_capped_within_entitled, rows, COUNT(rows));
}

static void what_is_donated_others_take(void **state)
{
/* processor 1 is partition 3's own, which it gave for so many cycles */
#define DEDICATED(donated, ran)                                                                               \
	PROCESSOR(BOTH, 1, "owner", 3), PROCESSOR(BOTH, 1, "state", 5), PARTITION(IS, 1, "donated", donated), \
		PROCESSOR(IS, 1, "processor_time", 600 + (ran))
	static const struct row rows[] = {
		{ __LINE__, false, { { 0 } }, NULL },
		{ __LINE__, false, { DEDICATED(10, ENTITLED + 10) }, NULL },
		{ __LINE__, false, { DEDICATED(9, ENTITLED + 9) }, NULL },
		{ __LINE__, false, { DEDICATED(11, ENTITLED + 11) }, "11 cycles were donated, 10 taken uncapped" },
		{ __LINE__,
		  false,
		  { DEDICATED(10, ENTITLED + 9) },
		  "the processors of partition 3 ran 2048009 cycles, it consumed 2048000 and donated 10" },
		{ __LINE__,
		  false,
		  { DEDICATED(10, ENTITLED + 11) },
		  "the processors of partition 3 ran 2048011 cycles, it consumed 2048000 and donated 10" },
		/* its owner changed meanwhile: nothing is known */
		{ __LINE__, false, { DEDICATED(10, ENTITLED + 9), PROCESSOR(WAS, 1, "owner", 2) }, NULL },
		{ __LINE__,
		  false,
		  { PROCESSOR(BOTH, 0, "owner", 2), PROCESSOR(BOTH, 0, "state", 5),
		    PROCESSOR(IS, 0, "processor_time", 701 + ENTITLED) },
		  "the processors of partition 2 ran 2048001 cycles, it consumed 2048000 and donated 0" },
	};

	(void)state;
	check_rows(GPCI_INVARIANT_donated_is_consumed, rows, COUNT(rows));
#undef DEDICATED
}

static void idle_cycles_are_among_those_consumed(void **state)
{
	static const struct row rows[] = {
		{ __LINE__, false, { { 0 } }, NULL },
		{ __LINE__, true, { PARTITION(IS, 0, "idle", ENTITLED + 1110) }, NULL },
		{ __LINE__,
		  true,
		  { PARTITION(IS, 0, "idle", ENTITLED + 1111) },
		  "partition 2 was idle for 2049111 cycles of 2049110 consumed ones" },
		{ __LINE__, false, { PARTITION(IS, 1, "idle", 20 + ENTITLED) }, NULL },
		{ __LINE__,
		  false,
		  { PARTITION(IS, 1, "idle", 21 + ENTITLED) },
		  "partition 3 was idle for more cycles than it consumed meanwhile" },
		{ __LINE__, true, { PARTITION(IS, 1, "idle", 21 + ENTITLED) }, NULL },
	};

	(void)state;
	check_rows(GPCI_INVARIANT_idle_within_consumed, rows, COUNT(rows));
}

static void a_partition_without_virtual_processors_consumes_nothing(void **state)
{
	const enum gpci_invariant_name name = GPCI_INVARIANT_partitions_within_their_processors;
	static struct moment was, is;
	struct err e;

	(void)state;
	moments_make(&was, &is);
	assert_int_equal(invariant_verdict(name, &was, &is, &e), GPCI_HOLDS);
	was.s.all[TABLE_VPS].n = is.s.all[TABLE_VPS].n = 2;
	assert_int_equal(invariant_verdict(name, &was, &is, &e), GPCI_BROKEN);
	assert_string_equal(e.text, "partition 3 with 0 virtual processors consumed 2048000 cycles in 5120000");
}

static void any_processor_makes_its_owner_a_dedicated_partition(void **state)
{
	const enum gpci_invariant_name name = GPCI_INVARIANT_dedicated_and_shared;
	static struct moment is;
	struct err e;

	(void)state;
	for (uint32_t i = 0; i < 2; i++) {
		moment_make(&is, 1000, 0, 0);
		field_set(&is.s, TABLE_PARTITIONS, 1, "uncapped", 7);
		assert_int_equal(invariant_verdict(name, NULL, &is, &e), GPCI_HOLDS);
		field_set(&is.s, TABLE_PROCESSORS, i, "owner", 3);
		assert_int_equal(invariant_verdict(name, NULL, &is, &e),
				 GPCI_HOLDS); /* one that is shared is nobody's */
		field_set(&is.s, TABLE_PROCESSORS, i, "state", 5);
		assert_int_equal(invariant_verdict(name, NULL, &is, &e), GPCI_BROKEN);
		assert_string_equal(e.text, "partition 3 is dedicated, but has 7 uncapped cycles");
	}
}

static void counters_do_not_go_back_and_a_processor_has_one_time(void **state)
{
	static struct moment was, is;
	struct err e;

	(void)state;
	moments_make(&was, &is);
	assert_int_equal(invariant_verdict(GPCI_INVARIANT_counters_grow_and_agree, &was, &is, &e), GPCI_HOLDS);
	field_set(&is.s, TABLE_PARTITIONS, 1, "capped", 200); /* as it was */
	assert_int_equal(invariant_verdict(GPCI_INVARIANT_counters_grow_and_agree, &was, &is, &e), GPCI_HOLDS);
	field_set(&is.s, TABLE_PARTITIONS, 1, "capped", 199);
	assert_int_equal(invariant_verdict(GPCI_INVARIANT_counters_grow_and_agree, &was, &is, &e), GPCI_BROKEN);
	assert_non_null(strstr(e.text, " of record 3: capped went back by 1"));
	field_set(&is.s, TABLE_PARTITIONS, 1, "entitled", 3999); /* it was deleted and created */
	assert_int_equal(invariant_verdict(GPCI_INVARIANT_counters_grow_and_agree, &was, &is, &e), GPCI_HOLDS);
	moments_make(&was, &is);
	field_set(&is.s, TABLE_PARTITIONS, 0, "capped", 999);
	assert_int_equal(invariant_verdict(GPCI_INVARIANT_counters_grow_and_agree, &was, &is, &e), GPCI_BROKEN);
	assert_non_null(strstr(e.text, " of record 2: capped went back by 1"));
	field_set(&is.s, TABLE_PARTITIONS, 0, "entitled", 3999); /* it began anew, and not the other one */
	field_set(&is.s, TABLE_PARTITIONS, 1, "capped", 199);
	assert_int_equal(invariant_verdict(GPCI_INVARIANT_counters_grow_and_agree, &was, &is, &e), GPCI_BROKEN);
	assert_non_null(strstr(e.text, " of record 3: capped went back by 1"));
	moments_make(&was, &is);
	field_set(&is.s, TABLE_CORES, 0, "purr", 4000701);
	assert_int_equal(invariant_verdict(GPCI_INVARIANT_counters_grow_and_agree, NULL, &is, &e), GPCI_BROKEN);
	assert_string_equal(e.text, "processor 0 has two times");
	is.core[0].id = 5; /* it is none */
	field_set(&is.s, TABLE_CORES, 0, "purr", 4000700);
	assert_int_equal(invariant_verdict(GPCI_INVARIANT_counters_grow_and_agree, NULL, &is, &e), GPCI_BROKEN);
	assert_string_equal(e.text, "processor 5 has two times");
	is.s.all[TABLE_CORES] = is.s.all[TABLE_VPS] = (struct gpci_table){ 0 };
	assert_int_equal(invariant_verdict(GPCI_INVARIANT_counters_grow_and_agree, NULL, &is, &e), GPCI_UNKNOWN);
	assert_string_equal(e.text, "it takes two snapshots");
}

static void who_ran_somewhere_ran_on_a_processor_that_there_is(void **state)
{
	const enum gpci_invariant_name name = GPCI_INVARIANT_counters_grow_and_agree;
	static struct gpci_values config[2];
	static struct moment is;
	struct err e;

	(void)state;
	for (uint32_t i = 0; i < 3; i++) {
		moment_make(&is, 1000, 60, 0);
		moment_add_table(&is, TABLE_CONFIG, GPCI_REQUEST_processor_config, config, 2,
				 4); /* processors 4 and 5 */
		for (uint32_t k = 0; k < 3; k++)
			field_set(&is.s, TABLE_VPS, k, "processor", 4 + k % 2);
		assert_int_equal(invariant_verdict(name, NULL, &is, &e), GPCI_HOLDS);
		field_set(&is.s, TABLE_VPS, i, "processor", UINT16_MAX); /* it never ran */
		assert_int_equal(invariant_verdict(name, NULL, &is, &e), GPCI_HOLDS);
		field_set(&is.s, TABLE_VPS, i, "processor", 6);
		assert_int_equal(invariant_verdict(name, NULL, &is, &e), GPCI_BROKEN);
		assert_string_equal(
			e.text, i == 0 ? "virtual processor 0 of partition 2 ran on processor 6, which there is not" :
				i == 1 ? "virtual processor 1 of partition 2 ran on processor 6, which there is not" :
					 "virtual processor 0 of partition 3 ran on processor 6, which there is not");
	}
}

static void small_replies_and_own_views_say_the_same(void **state)
{
	static struct moment is;
	struct gpci_values own;
	struct err e;

	(void)state;
	moment_make(&is, 1000, 60, 0);
	is.s.paging = GPCI_HOLDS;
	assert_int_equal(invariant_verdict(GPCI_INVARIANT_small_replies_are_large_ones, NULL, &is, &e), GPCI_HOLDS);
	is.s.paging = GPCI_UNKNOWN;
	assert_int_equal(invariant_verdict(GPCI_INVARIANT_small_replies_are_large_ones, NULL, &is, &e), GPCI_UNKNOWN);
	assert_string_equal(e.text, "nothing that has several records may be read");
	is.s.paging = GPCI_BROKEN;
	strcpy(is.s.paging_text, "as it was said");
	assert_int_equal(invariant_verdict(GPCI_INVARIANT_small_replies_are_large_ones, NULL, &is, &e), GPCI_BROKEN);
	assert_string_equal(e.text, "as it was said");

	assert_int_equal(invariant_verdict(GPCI_INVARIANT_own_view_is_the_privileged_one, NULL, &is, &e), GPCI_UNKNOWN);
	assert_string_equal(e.text, "only its own partition may be read");
	own = is.partition[1];
	is.s.own[TABLE_PARTITIONS] = (struct gpci_table){ .r = is.s.all[TABLE_PARTITIONS].r, .n = 1, .v = &own };
	assert_int_equal(invariant_verdict(GPCI_INVARIANT_own_view_is_the_privileged_one, NULL, &is, &e), GPCI_HOLDS);
	own.v[is.s.all[TABLE_PARTITIONS].r->nfields - 1]++;
	assert_int_equal(invariant_verdict(GPCI_INVARIANT_own_view_is_the_privileged_one, NULL, &is, &e), GPCI_BROKEN);
	assert_non_null(strstr(e.text, ": partition 3's own view is not the one that a privileged reading gives"));
	own = is.partition[1];
	own.id = 9; /* nobody else sees it */
	assert_int_equal(invariant_verdict(GPCI_INVARIANT_own_view_is_the_privileged_one, NULL, &is, &e), GPCI_BROKEN);
	is.s.own[TABLE_PARTITIONS].n = 0;
	assert_int_equal(invariant_verdict(GPCI_INVARIANT_own_view_is_the_privileged_one, NULL, &is, &e), GPCI_BROKEN);
	assert_non_null(strstr(e.text, ": partition 0's own view"));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(uncapped_cycles_come_behind_the_whole_entitlement_of_a_window),
		cmocka_unit_test(an_entitlement_that_changed_is_held_against_nobody),
		cmocka_unit_test(a_partition_that_owns_processors_is_no_shared_one),
		cmocka_unit_test(each_partition_is_looked_at_and_none_behind_the_last),
		cmocka_unit_test(a_partition_consumes_what_its_virtual_processors_can),
		cmocka_unit_test(dedicated_partitions_give_and_shared_ones_do_not),
		cmocka_unit_test(processors_ran_what_partitions_consumed),
		cmocka_unit_test(a_processor_runs_while_time_passes_and_while_it_is_used),
		cmocka_unit_test(since_when_a_processor_runs_may_be_unknown),
		cmocka_unit_test(capped_cycles_are_within_the_entitlement_of_time_that_passed),
		cmocka_unit_test(what_is_donated_others_take),
		cmocka_unit_test(idle_cycles_are_among_those_consumed),
		cmocka_unit_test(a_partition_without_virtual_processors_consumes_nothing),
		cmocka_unit_test(any_processor_makes_its_owner_a_dedicated_partition),
		cmocka_unit_test(counters_do_not_go_back_and_a_processor_has_one_time),
		cmocka_unit_test(who_ran_somewhere_ran_on_a_processor_that_there_is),
		cmocka_unit_test(small_replies_and_own_views_say_the_same),
		cmocka_unit_test(what_a_invariant_lacks_makes_it_unknown),
	};

	return cmocka_run_group_tests_name("hv: invariants of POWER", tests, NULL, NULL);
}
