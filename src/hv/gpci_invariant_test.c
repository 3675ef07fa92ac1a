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

static enum gpci_verdict invariant_verdict(enum gpci_invariant_name name, const struct moment *was,
					   const struct moment *is, struct err *e)
{
	*e = (struct err){ 0 };
	return gpci_invariant_check(gpci_invariant_at(name), was ? &was->s : NULL, &is->s, e);
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

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(uncapped_cycles_come_behind_the_whole_entitlement_of_a_window),
		cmocka_unit_test(an_entitlement_that_changed_is_held_against_nobody),
		cmocka_unit_test(a_partition_that_owns_processors_is_no_shared_one),
		cmocka_unit_test(each_partition_is_looked_at_and_none_behind_the_last),
		cmocka_unit_test(a_partition_consumes_what_its_virtual_processors_can),
		cmocka_unit_test(dedicated_partitions_give_and_shared_ones_do_not),
		cmocka_unit_test(what_a_invariant_lacks_makes_it_unknown),
	};

	return cmocka_run_group_tests_name("hv: invariants of POWER", tests, NULL, NULL);
}
