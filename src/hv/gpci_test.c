/* gpci_test.c: the rows of gpci.def are sound and say what Linux's table says; records are read as they are written. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>
#include <cmocka.h>

#include "hv/papr_int.h"
#include "hv/papr_test_int.h"

/* ---- the rows --------------------------------------------------------------------------------------------- */

static void fields_stand_in_order_inside_the_record_and_apart(void **state)
{
	const struct gpci_request *r;

	(void)state;
	for (uint32_t i = 0; (r = gpci_request_at(i)); i++) {
		uint32_t end = 0;

		assert_int_equal(r->size % 8, 0);
		assert_true(r->nfields > 0 && r->nfields <= GPCI_FIELDS_MOST);
		for (uint32_t k = 0; k < r->nfields; k++) {
			const struct gpci_field *f = &r->field[k];

			assert_true(f->bytes == 1 || f->bytes == 2 || f->bytes == 4 || f->bytes == 8);
			assert_int_equal(f->offset % f->bytes, 0);
			assert_true(f->offset >= end);
			end = f->offset + f->bytes;
			assert_true(end <= r->size);
		}
	}
}

static void names_are_unique_and_texts_are_there(void **state)
{
	const struct gpci_request *r, *s;

	(void)state;
	for (uint32_t i = 0; (r = gpci_request_at(i)); i++) {
		assert_true(*r->name && *r->title);
		for (uint32_t k = 0; k < r->nfields; k++) {
			assert_true(*r->field[k].name && *r->field[k].text && r->field[k].unit);
			assert_true(!(r->field[k].flags & GPCI_F_COUNTER) || *r->field[k].unit);
			for (uint32_t j = 0; j < k; j++)
				assert_string_not_equal(r->field[k].name, r->field[j].name);
		}
		for (uint32_t j = 0; j < i; j++) {
			s = gpci_request_at(j);
			assert_int_equal(strcmp(r->name, s->name) == 0, r->number == s->number);
		}
	}
}

/* At a level and a version there is one layout of a request or none. */
static void layouts_of_a_request_are_apart_and_follow_each_other(void **state)
{
	const struct gpci_request *r, *s;

	(void)state;
	for (uint32_t i = 1; (r = gpci_request_at(i)); i++)
		for (uint32_t j = 0; j < i; j++) {
			s = gpci_request_at(j);
			if (r->number != s->number)
				continue;
			assert_int_equal(j, i - 1);
			assert_true(r->from > s->to || s->from > r->to);
			assert_int_equal(r->right, s->right);
			assert_int_equal(r->index, s->index);
		}
}

static void a_record_has_an_id_where_starting_index_speaks_of_one(void **state)
{
	const struct gpci_request *r;
	uint32_t place;

	(void)state;
	for (uint32_t i = 0; (r = gpci_request_at(i)); i++)
		for (uint8_t level = r->since; level <= 8 && level <= r->until; level++) {
			const struct gpci_field *f = gpci_id_field(r, level, &place);

			assert_int_equal(f != NULL, r->index != GPCI_BY_NOTHING);
			if (f)
				assert_ptr_equal(f, &r->field[place]);
		}
	assert_string_equal(gpci_id_field(gpci_request(0x10, 0, 0), 0, &place)->name, "hw_processor_id");
	assert_string_equal(gpci_id_field(gpci_request(0x10, 6, 0), 6, &place)->name, "processor");
}

/* Requests, levels, sizes, rights: against the table of papr_test_int.h. */
static void requests_are_those_of_the_fact_sheet(void **state)
{
	static const uint8_t rights[] = {
		[NEED_ANYONE] = GPCI_FREE, [NEED_OWN] = GPCI_OWN_FREE,      [NEED_OWN_EXPANDED] = GPCI_OWN_EXPANDED,
		[NEED_ALL] = GPCI_ALL,     [NEED_EXPANDED] = GPCI_EXPANDED, [NEED_LAB] = GPCI_LAB,
	};
	static const uint8_t levels[] = { 0, 3, 5, 6, 8 };
	uint32_t n = 0;

	(void)state;
	for (uint32_t l = 0; l < COUNT(levels); l++)
		for (uint32_t i = 0; i < COUNT(goldens); i++) {
			const struct golden *g = golden_of(goldens[i].number, levels[l], goldens[i].from);
			const struct gpci_request *r = gpci_request(goldens[i].number, levels[l], goldens[i].from);

			assert_int_equal(r != NULL, g != NULL);
			if (!g)
				continue;
			assert_int_equal(r->size, g->size);
			assert_int_equal(r->right, rights[g->need]);
		}
	while (gpci_request_at(n))
		n++;
	assert_int_equal(n, COUNT(goldens) + 1); /* and Set MMCRH */
	assert_int_equal(gpci_request(0x80001000, 6, 0)->size, 8);
	assert_null(gpci_request(0x80001000, 8, 0));
}

/* ---- Linux's names (hv-gpci-requests.h): request, its name, offset and end of the event's name ---------------- */

static const struct {
	uint32_t number;
	const char *name;
	struct {
		uint16_t offset;
		const char *end;
	} event[20];
} linux_events[] = {
	{ 0x10, "dispatch_timebase_by_processor", { { 0, "processor_time_in_timebase_cycles" } } },
	{ 0x20,
	  "entitled_capped_uncapped_donated_idle_timebase_by_partition",
	  { { 0x8, "entitled_cycles" },
	    { 0x10, "consumed_capped_cycles" },
	    { 0x18, "consumed_uncapped_cycles" },
	    { 0x20, "cycles_donated" },
	    { 0x28, "purr_idle_cycles" } } },
	{ 0x30, "run_instructions_run_cycles_by_partition", { { 0x8, "instructions_completed" }, { 0x10, "cycles" } } },
	{ 0x50,
	  "processor_bus_utilization_abc_links",
	  { { 0x10, "total_link_cycles" },
	    { 0x18, "idle_cycles_for_a_link" },
	    { 0x20, "idle_cycles_for_b_link" },
	    { 0x28, "idle_cycles_for_c_link" } } },
	{ 0x60,
	  "processor_bus_utilization_wxyz_links",
	  { { 0x10, "total_link_cycles" },
	    { 0x18, "idle_cycles_for_w_link" },
	    { 0x20, "idle_cycles_for_x_link" },
	    { 0x28, "idle_cycles_for_y_link" },
	    { 0x30, "idle_cycles_for_z_link" } } },
	{ 0x70,
	  "processor_bus_utilization_gx_links",
	  { { 0x10, "gx0_in_address_cycles" },  { 0x18, "gx0_in_data_cycles" },    { 0x20, "gx0_in_retries" },
	    { 0x28, "gx0_in_bus_cycles" },      { 0x30, "gx0_in_cycles_total" },   { 0x38, "gx0_out_address_cycles" },
	    { 0x40, "gx0_out_data_cycles" },    { 0x48, "gx0_out_retries" },       { 0x50, "gx0_out_bus_cycles" },
	    { 0x58, "gx0_out_cycles_total" },   { 0x60, "gx1_in_address_cycles" }, { 0x68, "gx1_in_data_cycles" },
	    { 0x70, "gx1_in_retries" },         { 0x78, "gx1_in_bus_cycles" },     { 0x80, "gx1_in_cycles_total" },
	    { 0x88, "gx1_out_address_cycles" }, { 0x90, "gx1_out_data_cycles" },   { 0x98, "gx1_out_retries" },
	    { 0xa0, "gx1_out_bus_cycles" },     { 0xa8, "gx1_out_cycles_total" } } },
	{ 0x80,
	  "processor_bus_utilization_mc_links",
	  { { 0x10, "mc0_frames" },
	    { 0x18, "mc0_reads" },
	    { 0x20, "mc0_write" },
	    { 0x28, "mc0_total_cycles" },
	    { 0x30, "mc1_frames" },
	    { 0x38, "mc1_reads" },
	    { 0x40, "mc1_writes" },
	    { 0x48, "mc1_total_cycles" } } },
	{ 0x94,
	  "processor_core_utilization",
	  { { 0x8, "cycles_across_any_thread" },
	    { 0x10, "timebase_at_collection" },
	    { 0x18, "purr_cycles" },
	    { 0x20, "sum_of_cycles_across_all_threads" },
	    { 0x28, "instructions_completed" } } },
	{ 0xe0,
	  "partition_hypervisor_queuing_times",
	  { { 0x8, "time_waiting_for_entitlement" },
	    { 0x10, "times_waited_for_entitlement" },
	    { 0x18, "time_waiting_for_phys_processor" },
	    { 0x20, "times_waited_for_phys_processor" },
	    { 0x28, "dispatches_on_home_core" },
	    { 0x30, "dispatches_on_home_primary_affinity_domain" },
	    { 0x38, "dispatches_on_home_secondary_affinity_domain" },
	    { 0x40, "dispatches_off_home_secondary_affinity_domain" },
	    { 0x48, "dispatches_on_dedicated_processor_donating_cycles" } } },
	{ 0xf0,
	  "system_hypervisor_times",
	  { { 0x0, "time_spent_to_dispatch_virtual_processors" },
	    { 0x8, "time_spent_processing_virtual_processor_timers" },
	    { 0x10, "time_spent_managing_partitions_over_entitlement" },
	    { 0x18, "time_spent_on_system_management" } } },
	{ 0xf4,
	  "system_tlbie_count_and_time",
	  { { 0x0, "tlbie_instructions_issued" }, { 0x8, "time_spent_issuing_tlbies" } } },
	{ 0x100,
	  "partition_instruction_count_and_time",
	  { { 0x8, "instructions_performed" }, { 0x10, "time_collected" } } },
};

static const struct gpci_field *by_linux_name(const struct gpci_request *r, const char *end)
{
	for (uint32_t i = 0; i < r->nfields; i++)
		if (r->field[i].linux_name && !strcmp(r->field[i].linux_name, end))
			return &r->field[i];
	return NULL;
}

static void linux_finds_every_event_where_it_looks(void **state)
{
	(void)state;
	for (uint32_t i = 0; i < COUNT(linux_events); i++) {
		const struct gpci_request *r = gpci_request_find(linux_events[i].name);

		assert_non_null(r);
		assert_int_equal(r->number, linux_events[i].number);
		for (uint32_t k = 0; k < 20 && linux_events[i].event[k].end; k++) {
			const struct gpci_field *f = by_linux_name(r, linux_events[i].event[k].end);

			assert_non_null(f);
			assert_int_equal(f->offset, linux_events[i].event[k].offset);
			assert_int_equal(f->bytes, 8);
		}
	}
}

/* Linux lists 67 events for firmware up to 6, and 23 for 8. */
static void there_are_as_many_events_as_linux_lists(void **state)
{
	const struct gpci_request *r;
	uint32_t all = 0, at8 = 0;

	(void)state;
	for (uint32_t i = 0; (r = gpci_request_at(i)); i++)
		for (uint32_t k = 0; k < r->nfields; k++) {
			all += r->field[k].linux_name != NULL;
			at8 += r->field[k].linux_name && r->until >= 8;
		}
	assert_int_equal(all, 67);
	assert_int_equal(at8, 23);
}

static void requests_are_found_by_any_of_their_names(void **state)
{
	static const struct {
		const char *name;
		uint32_t number;
	} rows[] = {
		{ "dispatch_purr", 0x10 },
		{ "entitled", 0x20 },
		{ "run_instructions", 0x30 },
		{ "capabilities", 0x40 },
		{ "links_abc", 0x50 },
		{ "links_wxyz", 0x60 },
		{ "mmcrh", 0x80001000 },
		{ "hpmc", 0x80002000 },
		{ "0x10", 0x10 },
		{ "16", 0x10 },
		{ "Dispatch_PURR_by_processor", 0x10 },
		{ "0x80002000", 0x80002000 },
		{ "DISPATCH_purr", 0x10 },
		{ "Set MMCRH", 0x80001000 },
	};

	(void)state;
	for (uint32_t i = 0; i < COUNT(rows); i++)
		assert_int_equal(gpci_request_find(rows[i].name)->number, rows[i].number);
	assert_null(gpci_request_find(""));
	assert_null(gpci_request_find("0x11"));
	assert_null(gpci_request_find("dispatch"));
	assert_int_equal(gpci_request_find("links_abc")->size, 80);
}

/* ---- bytes ----------------------------------------------------------------------------------- */

static uint64_t any(uint64_t *seed)
{
	*seed = *seed * UINT64_C(6364136223846793005) + 1442695040888963407u;
	return *seed ^ *seed >> 29;
}

static uint64_t of_width(uint64_t v, uint32_t bytes)
{
	return bytes == 8 ? v : v & ((UINT64_C(1) << 8 * bytes) - 1);
}

static void what_is_written_is_read(void **state)
{
	const struct gpci_request *r;
	uint64_t seed = 1;
	struct err e = { 0 };

	(void)state;
	for (uint32_t i = 0; (r = gpci_request_at(i)); i++)
		for (uint32_t round = 0; round < 50; round++) {
			uint8_t level = r->since > 6 ? r->since : r->until < 6 ? r->until : 6, block[GPCI_MOST];
			struct gpci_values v = { .nelements = 0 }, w;
			struct gpci_reply rep;

			gpci_ask(block, sizeof(block), r->number, 0, 0, level);
			for (uint32_t k = 0; k < r->nfields; k++)
				v.v[k] = any(&seed);
			if (gpci_has_elements(r))
				v.nelements = (uint32_t)(v.v[4] = round % (GPCI_ELEMENTS_MOST + 1));
			for (uint32_t k = 0; k < v.nelements; k++)
				v.element[k] = (struct gpci_element){ (uint16_t)any(&seed),
								      (uint16_t)k,
								      { (uint32_t)any(&seed), k, 7, 8 } };
			gpci_writer(r)(block + GPCI_HEADER, v.v, level);
			gpci_write_elements(r, &v, block + GPCI_HEADER);
			gpci_put(block + GPCI_AT_RETURNED, 2, 1);
			block[GPCI_AT_VERSION_OUT] = level;
			assert_int_equal(gpci_reply(&rep, block, sizeof(block), &e), 0);
			assert_int_equal(gpci_record(r, &rep, 0, &w, &e), 0);
			for (uint32_t k = 0; k < r->nfields; k++)
				assert_true(w.v[k] == of_width(v.v[k], r->field[k].bytes));
			assert_int_equal(w.nelements, v.nelements);
			for (uint32_t k = 0; k < v.nelements; k++)
				assert_memory_equal(&w.element[k], &v.element[k], sizeof(w.element[k]));
		}
}

static void an_asked_block_is_zero_but_for_the_question(void **state)
{
	static const uint8_t header[] = { 0x80, 0, 0x20, 0, 0xff, 0xff, 0xff, 0xff, 0x12, 0x34,
					  0,    0, 0,    0, 0,    0,    0,    0,    8,    0 };
	uint8_t block[64];

	(void)state;
	memset(block, 0xee, sizeof(block));
	gpci_ask(block, sizeof(block), 0x80002000, -1, 0x1234, 8);
	assert_memory_equal(block, header, sizeof(header));
	for (uint32_t i = sizeof(header); i < sizeof(block); i++)
		assert_int_equal(block[i], 0);
}

/* ---- hostile replies ------------------------------------------------------------------------- */

static void replies_that_promise_more_than_they_hold_are_corrupt(void **state)
{
	uint8_t block[GPCI_HEADER + 100] = { [GPCI_AT_VERSION_OUT] = 6 };
	struct gpci_reply rep;
	struct gpci_values v;
	struct err e = { 0 };
	const struct gpci_request *r = gpci_request(0x20, 6, 0);

	(void)state;
	assert_int_equal(gpci_reply(&rep, block, 31, &e), -TALLY_ECORRUPT);
	e = (struct err){ 0 };
	gpci_put(block + GPCI_AT_RETURNED, 2, 3);
	gpci_put(block + GPCI_AT_ELEMENT, 2, 48);
	assert_int_equal(gpci_reply(&rep, block, sizeof(block), &e), -TALLY_ECORRUPT);
	assert_non_null(strstr(e.text, "3 records of 48 bytes"));
	e = (struct err){ 0 };
	gpci_put(block + GPCI_AT_ELEMENT, 2, 0);
	assert_int_equal(gpci_reply(&rep, block, sizeof(block), &e), 0);
	assert_int_equal(gpci_record(r, &rep, 1, &v, &e), 0);
	assert_int_equal(gpci_record(r, &rep, 2, &v, &e), -TALLY_ECORRUPT);
	assert_string_equal(e.text, "record 3 of 3 is truncated");
	e = (struct err){ 0 };
	assert_int_equal(gpci_record(r, &rep, 3, &v, &e), -TALLY_ECORRUPT);
	assert_string_equal(e.text, "the reply announces 3 records, but has 4");
}

static void elements_that_do_not_fit_or_are_too_many_are_corrupt(void **state)
{
	static uint8_t block[GPCI_HEADER + 16 + 28 * 70] = { [GPCI_AT_RETURNED + 1] = 2, [GPCI_AT_VERSION_OUT] = 6 };
	const struct gpci_request *r = gpci_request(0xb1, 6, 0);
	struct gpci_reply rep;
	struct gpci_values v;
	struct err e = { 0 };

	(void)state;
	assert_int_equal(gpci_reply(&rep, block, sizeof(block), &e), 0);
	gpci_put(block + GPCI_HEADER + GPCI_AT_ELEMENTS, 2, 2);
	assert_int_equal(gpci_record(r, &rep, 1, &v, &e), 0);
	assert_int_equal(gpci_record(r, &rep, 0, &v, &e), 0);
	assert_int_equal(v.nelements, 2);
	gpci_put(block + GPCI_HEADER + GPCI_AT_ELEMENTS, 2, GPCI_ELEMENTS_MOST + 1);
	assert_int_equal(gpci_record(r, &rep, 0, &v, &e), -TALLY_ECORRUPT);
	e = (struct err){ 0 };
	gpci_put(block + GPCI_HEADER + GPCI_AT_ELEMENTS, 2, 64);
	assert_int_equal(gpci_record(r, &rep, 0, &v, &e), 0);
	assert_int_equal(gpci_record(r, &rep, 1, &v, &e), 0);
	rep.bytes = 16 + 28 * 64 + 15;
	assert_int_equal(gpci_record(r, &rep, 1, &v, &e), -TALLY_ECORRUPT);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(fields_stand_in_order_inside_the_record_and_apart),
		cmocka_unit_test(names_are_unique_and_texts_are_there),
		cmocka_unit_test(layouts_of_a_request_are_apart_and_follow_each_other),
		cmocka_unit_test(a_record_has_an_id_where_starting_index_speaks_of_one),
		cmocka_unit_test(requests_are_those_of_the_fact_sheet),
		cmocka_unit_test(linux_finds_every_event_where_it_looks),
		cmocka_unit_test(there_are_as_many_events_as_linux_lists),
		cmocka_unit_test(requests_are_found_by_any_of_their_names),
		cmocka_unit_test(what_is_written_is_read),
		cmocka_unit_test(an_asked_block_is_zero_but_for_the_question),
		cmocka_unit_test(replies_that_promise_more_than_they_hold_are_corrupt),
		cmocka_unit_test(elements_that_do_not_fit_or_are_too_many_are_corrupt),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
