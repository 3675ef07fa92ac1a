/* pid_test.c: probes of this process by offset and address, on a function whose instructions are known. */
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "provider/found_test_int.h"

/* 27 instructions of one size: 26 that do nothing, and the return. */
__asm__(".text\n"
	".type tally_pid_target, %function\n"
	"tally_pid_target:\n"
	".rept 26\n nop\n .endr\n"
	"ret\n"
	".size tally_pid_target, . - tally_pid_target\n");

#ifdef __aarch64__
enum { INSN = 4 };
#else
enum { INSN = 1 };
#endif

static int match(struct probes *t, const char *mod, const char *func, const char *name, struct found *f, struct err *e)
{
	char prov[32];

	snprintf(prov, sizeof(prov), "pid%d", getpid());
	return found_match(f, t, &(struct d_probedesc){ prov, mod, func, name }, e);
}

static uint64_t offset_of(const struct probes *t, uint32_t id)
{
	return probes_get(t, id)->place->offset;
}

static void an_offset_is_hexadecimal_without_a_zero_in_front(void **state)
{
	struct probes *t = probes_table((struct prov_opts){ 0 });
	struct found entry, f;
	struct err e;

	(void)state;
	assert_int_equal(match(t, "a.out", "tally_pid_target", "entry", &entry, &e), 1);
	for (uint32_t i = 0; i < 27; i++) {
		char name[20];

		snprintf(name, sizeof(name), "%x", i * INSN);
		if (match(t, "a.out", "tally_pid_target", name, &f, &e) != 1)
			fail_msg("%s: %s", name, e.text);
		assert_int_equal(offset_of(t, f.id[0]) - offset_of(t, entry.id[0]), i * INSN);
		assert_string_equal(probes_get(t, f.id[0])->name, name);
		assert_string_equal(probes_get(t, f.id[0])->func, "tally_pid_target");
		assert_int_equal(probes_get(t, f.id[0])->arm, ARM_USER_PLACE);
	}
	probes_close(t);
}

static void what_is_no_offset_of_the_function_is_refused(void **state)
{
	char behind[20];
	const struct {
		int line;
		const char *name, *words;
	} row[] = {
		{ __LINE__, behind, "no instruction of tally_pid_target begins at" },
		{ __LINE__, "ffffffffffffff", "no instruction of tally_pid_target begins at" },
		{ __LINE__, "0ffffffffffffffff", "no probe \"0ffffffffffffffff\"" },
		{ __LINE__, "11111111111111111", "no probe \"11111111111111111\"" },
		{ __LINE__, "08", "no probe \"08\"" },
		{ __LINE__, "C", "no probe \"C\"" },
		{ __LINE__, "g", "no probe \"g\"" },
		{ __LINE__, "8`", "no probe \"8`\"" },
		{ __LINE__, "/8", "no probe \"/8\"" },
		{ __LINE__, ":", "no probe \":\"" },
		{ __LINE__, "0x8", "no probe \"0x8\"" },
		{ __LINE__, "entri", "did you mean entry?" },
	};
	struct probes *t = probes_table((struct prov_opts){ 0 });
	struct found f;
	struct err e;

	(void)state;
	snprintf(behind, sizeof(behind), "%x", 27 * INSN);
	for (size_t i = 0; i < COUNT(row); i++)
		if (match(t, "a.out", "tally_pid_target", row[i].name, &f, &e) != -TALLY_ENOPROBE ||
		    !strstr(e.text, row[i].words))
			fail_msg("line %d: %s", row[i].line, e.text);
	assert_int_equal(match(t, "a.out", "tally_pid_targed", "entry", &f, &e), -TALLY_ENOPROBE);
	assert_non_null(strstr(e.text, "did you mean tally_pid_target?"));
	probes_close(t);
}

static void a_pattern_has_entry_return_and_each_instruction(void **state)
{
	struct probes *t = probes_table((struct prov_opts){ 0 });
	struct found f;
	struct err e;
	uint32_t places = 0;

	(void)state;
	assert_int_equal(match(t, "a.out", "tally_pid_target", "*", &f, &e), 29);
	for (uint32_t i = 0; i < f.n; i++)
		places += probes_get(t, f.id[i])->arm == ARM_USER_PLACE;
	assert_int_equal(places, 27);
	assert_string_equal(probes_get(t, f.id[0])->name, "entry");
	assert_string_equal(probes_get(t, f.id[1])->name, "return");
	/* Without a module the instructions are not made: of all libraries there would be too many. */
	assert_int_equal(match(t, "", "tally_pid_target", "*", &f, &e), 2);
	probes_close(t);
}

static void an_address_of_the_file_is_the_instruction_there(void **state)
{
	struct probes *t = probes_table((struct prov_opts){ 0 });
	struct found f, g;
	struct err e;
	const struct user_place *place;
	char name[20];
	uint64_t addr = 0;

	(void)state;
	assert_int_equal(match(t, "a.out", "tally_pid_target", "entry", &f, &e), 1);
	place = probes_get(t, f.id[0])->place;
	for (uint32_t i = 0; i < place->file->code->nfuncs; i++)
		if (!strcmp(place->file->code->func[i].name, "tally_pid_target"))
			addr = place->file->code->func[i].addr;
	assert_int_not_equal(addr, 0);
	snprintf(name, sizeof(name), "%llx", (unsigned long long)addr + 12 * INSN);
	assert_int_equal(match(t, "a.out", "-", name, &g, &e), 1);
	assert_int_equal(offset_of(t, g.id[0]), place->offset + 12 * INSN);
	assert_string_equal(probes_get(t, g.id[0])->func, "-");
	assert_int_equal(match(t, "a.out", "-", "1", &g, &e), -TALLY_ENOPROBE);
	assert_non_null(strstr(e.text, "no instruction of a function begins at 1"));
	probes_close(t);
}

/* In a library that may come later: what stands in for its probes is of those kinds that its name may mean. */
static void what_may_come_later_is_of_the_kinds_that_a_name_may_mean(void **state)
{
	enum { ENTRY = 1, RETURN = 2, PLACE = 4 };
	static const struct {
		int line;
		const char *mod, *func, *name;
		uint32_t kinds;
	} row[] = {
		{ __LINE__, "libtally-none.so", "f", "entry", ENTRY },
		{ __LINE__, "libtally-none.so", "f", "return", RETURN },
		{ __LINE__, "libtally-none.so", "f", "1c", PLACE },
		{ __LINE__, "libtally-none.so", "f", "e*", ENTRY | PLACE },
		{ __LINE__, "libtally-none.so", "f", "*", ENTRY | RETURN | PLACE },
		{ __LINE__, "libtally-none.so", "-", "1c", PLACE },
		{ __LINE__, "libtally-none.so", "-", "entry", 0 },
		{ __LINE__, "", "tally_no_such_function", "*", ENTRY | RETURN },
		{ __LINE__, "", "tally_no_such_function", "entry", ENTRY },
		{ __LINE__, "a.out", "tally_no_such_function", "entry", 0 },
	};

	(void)state;
	for (size_t i = 0; i < COUNT(row); i++) {
		struct probes *t = probes_table((struct prov_opts){ .waits = WAITS_ALL });
		uint32_t kinds = 0;
		struct found f;
		struct err e;

		if (match(t, row[i].mod, row[i].func, row[i].name, &f, &e) != -TALLY_ENOPROBE)
			fail_msg("line %d: %u, %s", row[i].line, f.n, e.text);
		for (uint32_t k = 0; k < f.n; k++) {
			const struct probe *p = probes_get(t, f.id[k]);

			assert_true(p->is_later);
			kinds |= p->arm == ARM_USER_ENTRY ? ENTRY : p->arm == ARM_USER_RETURN ? RETURN : PLACE;
		}
		if (kinds != row[i].kinds || f.n != (uint32_t)__builtin_popcount(kinds))
			fail_msg("line %d: kinds %u, %u probes", row[i].line, kinds, f.n);
		probes_close(t);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(an_offset_is_hexadecimal_without_a_zero_in_front),
		cmocka_unit_test(what_is_no_offset_of_the_function_is_refused),
		cmocka_unit_test(a_pattern_has_entry_return_and_each_instruction),
		cmocka_unit_test(an_address_of_the_file_is_the_instruction_there),
		cmocka_unit_test(what_may_come_later_is_of_the_kinds_that_a_name_may_mean),
	};

	return cmocka_run_group_tests_name("provider: pid", tests, NULL, NULL);
}
