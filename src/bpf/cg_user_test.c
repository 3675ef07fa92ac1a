/* cg_user_test.c: places of processes: whose they are, and rows for those that come later. */
#include <stdlib.h>

#include "bpf/cg_test_int.h"
#include "bpf/insn.h"

enum { RDI = 112, PID = 0x7ffffff0, OTHER }; /* numbers that nothing else in a program is */

static const struct bpf_place place = { NULL, { { OPERAND_REG, 8, false, 0, RDI, 0, 0 } }, 1 };
#define PROBE(number, class, process, nth)                                                                     \
	{                                                                                                      \
		.id = number, .cls = class, .prov = "p", .mod = "m", .func = "f", .name = "n", .pid = process, \
		.place = &place, .cookie = nth                                                                 \
	}
#define LATER(number, class, process)                                                                          \
	{                                                                                                      \
		.id = number, .cls = class, .prov = "p", .mod = "m", .func = "f", .name = "n", .pid = process, \
		.is_later = true                                                                               \
	}

static void places_open(struct made *m, const char *text, const struct bpf_probe *probe, uint32_t n, struct bpf_opts o)
{
	o.probe = probe;
	o.nprobes = n;
	made_open(m, text, o);
}

/* How many programs compare the process with this one itself, and not with what its row says. */
static uint32_t programs_of(uint32_t pid, const struct bpf_probe *probe, uint32_t n, struct bpf_opts o)
{
	const struct bpf_ins is = I_JMP_IMM(JNE, R0, (int32_t)pid, 0);
	struct made m;
	uint32_t found = 0;

	places_open(&m, "p::: { @[arg0] = count(); }", probe, n, o);
	for (uint32_t k = 0; k < m.img->nprogs; k++) {
		uint32_t here = 0;

		for (uint32_t i = 0; i < m.img->prog[k].nins; i++)
			here += m.img->prog[k].ins[i].code == is.code && m.img->prog[k].ins[i].imm == is.imm;
		assert_true(here <= 1);
		found += here;
	}
	made_close(&m);
	return found;
}

static void places_of_one_process_are_compared_with_it(void **state)
{
	const struct bpf_opts usual = { 0 };
	const struct bpf_probe one[] = { PROBE(1, IMG_USER_PLACE, PID, 0), PROBE(2, IMG_USER_PLACE, PID, 1) };
	const struct bpf_probe two[] = { PROBE(1, IMG_USER_PLACE, PID, 0), PROBE(2, IMG_USER_PLACE, OTHER, 1) };
	const struct bpf_probe later[] = { PROBE(1, IMG_USER_PLACE, PID, 0), LATER(2, IMG_USER_PLACE, PID) };
	const struct bpf_probe any[] = { PROBE(1, IMG_USER_PLACE, PID, 0), PROBE(2, IMG_USER_PLACE, 0, 1) };
	const struct bpf_probe classes[] = { PROBE(1, IMG_USER_ENTRY, PID, 0), PROBE(2, IMG_USER_RETURN, OTHER, 0) };
	const struct bpf_probe most[] = { PROBE(1, IMG_USER_PLACE, INT32_MAX, 0) };
	const struct bpf_probe more[] = { PROBE(1, IMG_USER_PLACE, 0x80000000u, 0) };

	(void)state;
	assert_int_equal(programs_of(PID, one, 1, usual), 1);
	assert_int_equal(programs_of(PID, one, 2, usual), 1);
	assert_int_equal(programs_of(PID, two, 2, usual), 0);
	assert_int_equal(programs_of(OTHER, two, 2, usual), 0);
	assert_int_equal(programs_of(PID, later, 2, usual), 0);
	assert_int_equal(programs_of(PID, any, 2, usual), 0);
	assert_int_equal(programs_of(PID, classes, 2, usual), 1); /* each class for itself */
	assert_int_equal(programs_of(OTHER, classes, 2, usual), 1);
	assert_int_equal(programs_of(INT32_MAX, most, 1, usual), 1);
	assert_int_equal(programs_of(0x80000000u, more, 1, usual), 0); /* no process has it */
	/* numbers of another name space, and processes that it forks */
	assert_int_equal(programs_of(PID, one, 2, (struct bpf_opts){ .pid_ns = true }), 0);
	assert_int_equal(programs_of(PID, one, 2, (struct bpf_opts){ .follow_forks = true }), 0);
}

/* ---- later places --------------------------------------------------------------------------- */

struct asked {
	uint32_t clause[8], n, only; /* only: of these clauses, a bit each */
};
static bool asked_fires(void *arg, uint32_t clause)
{
	struct asked *a = arg;

	if (a->n < COUNT(a->clause))
		a->clause[a->n++] = clause;
	return a->only >> clause & 1;
}

static const struct bpf_probe later_probes[] = {
	{ .id = 1, .cls = IMG_TEST, .prov = "dtrace", .mod = "", .func = "", .name = "BEGIN" },
	LATER(2, IMG_USER_PLACE, PID),
	PROBE(3, IMG_USER_PLACE, PID, 0),
};

static void a_later_place_is_asked_for_the_clauses_of_its_program_alone(void **state)
{
	const struct bpf_probe came = PROBE(4, IMG_USER_PLACE, PID, 0);
	struct asked a = { .only = 1u << 3 };
	struct made m;
	uint8_t *memory;
	uint32_t nepids = 0;

	(void)state;
	places_open(&m, "dtrace::: { trace(1); } p::: { trace(2); } dtrace::: { trace(3); } p::: { trace(arg0); }",
		    later_probes, COUNT(later_probes), (struct bpf_opts){ 0 });
	assert_int_equal(m.img->nrows, 1);
	assert_int_equal(m.img->rows[0].cls, IMG_USER_PLACE);
	assert_int_equal(m.img->rows[0].nclauses, 2);
	assert_int_equal(m.img->rows[0].clause[0], 1);
	assert_int_equal(m.img->rows[0].clause[1], 3);
	assert_int_equal(m.img->rows[0].n, 1); /* that which is there */
	assert_int_equal(m.img->rows[0].most, 1 + ROWS_LATER);
	memory = calloc(m.img->rows[0].most, m.img->rows[0].bytes);
	assert_int_equal(bpf_row_add(m.img, 0, memory, &came, &place, asked_fires, &a), 1);
	assert_int_equal(bpf_row_add(m.img, 0, memory, &came, &place, asked_fires, &a), 2);
	for (uint32_t i = 0; i < a.n; i++)
		assert_true(a.clause[i] == 1 || a.clause[i] == 3);
	assert_int_equal(a.clause[0], 1);
	/* an epid for the clause that fires there, none for the other */
	for (uint32_t i = 1; i < m.img->nepids; i++)
		if (m.img->epid[i].probe == came.id) {
			assert_int_equal(m.img->epid[i].clause, 3);
			nepids++;
		}
	assert_true(nepids > 0);
	free(memory);
	made_close(&m);
}

static void there_is_room_for_so_many_later_places_and_no_more(void **state)
{
	struct asked a = { 0 };
	struct made m;
	uint8_t *memory;

	(void)state;
	places_open(&m, "p::: { trace(arg0); }", later_probes, COUNT(later_probes), (struct bpf_opts){ 0 });
	memory = calloc(m.img->rows[0].most, m.img->rows[0].bytes);
	for (int i = 1; i <= ROWS_LATER; i++)
		assert_int_equal(bpf_row_add(m.img, 0, memory, &later_probes[2], &place, asked_fires, &a), i);
	assert_int_equal(bpf_row_add(m.img, 0, memory, &later_probes[2], &place, asked_fires, &a), -TALLY_EEND);
	free(memory);
	made_close(&m);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(places_of_one_process_are_compared_with_it),
		cmocka_unit_test(a_later_place_is_asked_for_the_clauses_of_its_program_alone),
		cmocka_unit_test(there_is_room_for_so_many_later_places_and_no_more),
	};

	return cmocka_run_group_tests_name("places of processes", tests, NULL, NULL);
}
