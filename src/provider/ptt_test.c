/* ptt_test.c: the probes of records, their args[] and texts. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>
#include <cmocka.h>

#include "provider/provider_int.h"
#include "provider/ptt_record.h"

static int count(void *arg, uint32_t id)
{
	*(uint32_t *)arg = id;
	return 0;
}

static struct probes *table(bool records)
{
	struct prov_opts o = { .sysfs = "test/sysfs/none", .conf = "/nonexistent/dcpc.conf", .records = records };
	struct probes *t;

	assert_int_equal(probes_open(&t, &o), 0);
	return t;
}

static int match(struct probes *t, const char *prov, const char *name, uint32_t *id, struct err *e)
{
	struct d_probedesc d = { prov, "", "", name };

	*e = (struct err){ 0 };
	return probes_match(t, &d, count, id, e);
}

static void without_records_a_probe_is_refused_with_the_way_to_get_them(void **state)
{
	struct probes *t = table(false);
	struct err e;
	uint32_t id;

	(void)state;
	assert_int_equal(match(t, "ptt", "tlp", &id, &e), -TALLY_ENOPROBE);
	assert_string_equal(e.text, "ptt: tlp fires for records, and there are none: give a trace with --on FILE");
	assert_int_equal(match(t, "ptt", "", &id, &e), -TALLY_ENOPROBE);
	assert_non_null(strstr(e.text, "--on FILE"));
	assert_int_equal(match(t, "", "cpl", &id, &e), 0); /* a bare word is nobody's mistake */
	assert_int_equal(e.code, 0);
	assert_int_equal(probes_offer(t, &e), 0);
	assert_int_equal(match(t, "ptt", "t*", &id, &e), -TALLY_ENOPROBE);
	probes_close(t);
}

static int sum(void *arg, uint32_t id)
{
	(void)id;
	++*(uint32_t *)arg;
	return 0;
}

static void an_empty_name_and_a_pattern_match_all_and_some(void **state)
{
	static const struct {
		const char *prov, *name;
		uint32_t want;
	} rows[] = {
		{ "ptt", "", 5 }, { "ptt", "t*", 2 }, { "p*", "?p", 1 }, { "", "?p", 1 }, { "cpc", "t*", 0 },
	};

	(void)state;
	for (size_t i = 0; i < COUNT(rows); i++) {
		struct d_probedesc d = { rows[i].prov, "", "", rows[i].name };
		struct probes *t = table(true);
		struct err e = { 0 };
		uint32_t n = 0;

		(void)probes_match(t, &d, sum, &n, &e);
		assert_int_equal(n, rows[i].want);
		probes_close(t);
	}
}

static void each_kind_of_record_has_a_probe(void **state)
{
	static const char *const names[] = { "tlp", "p", "np", "cpl", "transaction" };
	struct probes *t = table(true);
	struct err e = { 0 };
	uint32_t id, again;

	(void)state;
	assert_true(probes_offer(t, &e) >= 0);
	for (uint32_t i = 0; i < COUNT(names); i++) {
		assert_int_equal(match(t, "ptt", names[i], &id, &e), 1);
		assert_int_equal(probes_get(t, id)->arm, ARM_RECORD);
		assert_int_equal(ptt_fires_for(probes_get(t, id)), i);
		assert_int_equal(match(t, "", names[i], &again, &e), 1);
		assert_int_equal(again, id);
		assert_string_equal(probe_args(probes_get(t, id), 0)->name, "struct tlp");
		assert_int_equal(!probe_args(probes_get(t, id), 1), i != RECORD_TRANSACTION);
		assert_null(probe_args(probes_get(t, id), 2));
	}
	assert_null(probe_args(probes_get(t, 1), 0));
	assert_int_equal(match(t, "ptt", "*", &id, &e), COUNT(names));
	assert_int_equal(match(t, "ptt", "tpl", &id, &e), -TALLY_ENOPROBE);
	assert_non_null(strstr(e.text, "did you mean"));
	probes_close(t);
}

/* A dump's name for a text that has one already. */
static bool is_second_name(const struct d_field *f)
{
#define SAME(member, text) || !strcmp(f->name, #member)
	return false PTT_SAME_TEXTS(SAME);
#undef SAME
}

static void members_lie_where_the_record_has_them(void **state)
{
	struct probes *t = table(true);
	const struct d_args *a[2];
	struct err e;
	uint32_t id;

	(void)state;
	assert_int_equal(match(t, "ptt", "transaction", &id, &e), 1);
	for (uint32_t i = 0; i < COUNT(a); i++) {
		uint64_t seen[8] = { 0 };

		a[i] = probe_args(probes_get(t, id), i);
		assert_true(a[i]->base % 8 == 0 && a[i]->base + a[i]->size <= sizeof(struct ptt_record));
		for (uint32_t k = 0; k < a[i]->nfields; k++) {
			const struct d_field *f = &a[i]->field[k];

			for (uint32_t b = f->offset; !is_second_name(f) && b < f->offset + f->size; b++) {
				assert_true(b < a[i]->size);
				assert_false(seen[b / 64] >> b % 64 & 1);
				seen[b / 64] |= 1ull << b % 64;
			}
			assert_true(strcmp(f->type, "string") ? f->size <= 8 : f->size % 8 == 0 && f->offset % 8 == 0);
		}
	}
	assert_int_equal(a[1]->base, offsetof(struct ptt_record, transaction));
	probes_close(t);
}

static void texts_are_what_the_tables_say(void **state)
{
	struct ptt_record r = { .tlp = { .class = TLP_CPL, .status = 1 } };

	(void)state;
	r.tlp.type_index = (uint8_t)tlp_type_index(tlp_type_of(2, 0x0a));
	memset(r.name, 'x', sizeof(r.name));
	ptt_record_fill(&r, 1u << PTT_TEXT_name | 1u << PTT_TEXT_statusname, "dev");
	assert_string_equal(r.name, "CplD");
	assert_int_equal(r.name[sizeof(r.name) - 1], 0);
	assert_string_equal(r.statusname, "UR");
	assert_string_equal(r.classname, ""); /* not asked for */
	r.tlp = (struct tlp){ .class = TLP_P, .code = 0x20 };
	r.tlp.type_index = (uint8_t)tlp_type_index(tlp_type_of(1, 0x14));
	ptt_record_fill(&r, (1u << PTT_NTEXTS) - 1, "a name of a device that is far too long for it");
	assert_string_equal(r.name, "Msg");
	assert_string_equal(r.classname, "P");
	assert_string_equal(r.statusname, "");
	assert_string_equal(r.message, "Assert_INTA");
	assert_int_equal(strlen(r.devicename), sizeof(r.devicename) - 1);
}

static void only_texts_that_are_read_are_asked_for(void **state)
{
	struct ir_ins ins[] = { { .op = IR_ARGLOAD, .O = offsetof(struct tlp, tag), .s = 4 },
				{ .op = IR_ARGLOAD, .O = offsetof(struct ptt_record, message) + 8, .s = 8 },
				{ .op = IR_ARGLOAD, .O = offsetof(struct ptt_record, transaction), .s = 8 },
				{ .op = IR_ARGS, .O = 0 } };
	struct d_clause c = { .ins = ins, .nins = 1 };
	struct d_program p = { .clause = &c, .nclauses = 1 };

	(void)state;
	assert_int_equal(ptt_record_reads(&p), 0);
	c.nins = 3;
	assert_int_equal(ptt_record_reads(&p), 1u << PTT_TEXT_message);
	c.nins = 4;
	assert_int_equal(ptt_record_reads(&p), (1u << PTT_NTEXTS) - 1);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(without_records_a_probe_is_refused_with_the_way_to_get_them),
		cmocka_unit_test(an_empty_name_and_a_pattern_match_all_and_some),
		cmocka_unit_test(each_kind_of_record_has_a_probe),
		cmocka_unit_test(members_lie_where_the_record_has_them),
		cmocka_unit_test(texts_are_what_the_tables_say),
		cmocka_unit_test(only_texts_that_are_read_are_asked_for),
	};

	return cmocka_run_group_tests_name("provider: ptt", tests, NULL, NULL);
}
