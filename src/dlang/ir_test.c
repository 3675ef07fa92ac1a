/*
 * ir_test.c: the checker of intermediate code, on that of a program and on such as no program becomes.
 */
#include "dlang/world_test_int.h"

/* One instruction of each kind that says where something is. */
static const char of_each_kind[] =
	"this uint64_t a[4]; BEGIN { this->a[arg0 & 3] = 7; x[pid] = arg0 + 1; self->y = execname == \"shell\"; "
	"@a[arg0] = sum(arg1); @b = count(); trace(arg0 ? strjoin(\"x\", execname) : \"z\"); trace(self->y); trace(x[1]); }\n"
	"rec:::one { trace(args[0]->size); trace(args[0]->name); }\n";

enum ir_part { PART_OP, PART_D, PART_A, PART_B, PART_O, PART_P, PART_X, PART_OFFSET, PART_P_OFFSET };

static uint32_t ir_part_swap(struct ir_ins *i, enum ir_part part, uint32_t v)
{
	uint32_t *word = part == PART_X ? &i->x : part == PART_OFFSET ? &i->O : &i->P;
	uint32_t was;

	switch (part) {
	case PART_OP:
		was = i->op, i->op = (uint8_t)v;
		return was;
	case PART_D:
		was = i->d, i->d = (ir_reg)v;
		return was;
	case PART_A:
		was = i->a, i->a = (ir_reg)v;
		return was;
	case PART_B:
		was = i->b, i->b = (ir_reg)v;
		return was;
	case PART_O:
		was = i->o, i->o = (ir_obj)v;
		return was;
	case PART_P:
		was = i->p, i->p = (ir_obj)v;
		return was;
	default:
		was = *word, *word = v;
		return was;
	}
}

static void intermediate_code_that_names_what_is_not_there_is_refused(void **state)
{
	static const struct {
		int line;
		uint8_t op;
		enum ir_part part;
		const char *words;
	} row[] = {
		{ __LINE__, IR_END, PART_OP, "no such operation" },
		{ __LINE__, IR_CONST, PART_D, "no such register" },
		{ __LINE__, IR_ADD, PART_A, "no such register" },
		{ __LINE__, IR_ADD, PART_B, "no such register" },
		{ __LINE__, IR_OSTORE, PART_O, "no such object" },
		{ __LINE__, IR_OLIT, PART_O, "no such object" },
		{ __LINE__, IR_OLIT, PART_X, "no such literal" },
		{ __LINE__, IR_SCMP, PART_X, "no such literal" },
		{ __LINE__, IR_SCMP, PART_P, "no such object" },
		{ __LINE__, IR_AGG, PART_X, "no such aggregation" },
		{ __LINE__, IR_DYNGET, PART_X, "no such variable" },
		{ __LINE__, IR_DYNSET, PART_X, "no such variable" },
		{ __LINE__, IR_JMP, PART_X, "no such label" },
		{ __LINE__, IR_JCMP, PART_X, "no such label" },
		{ __LINE__, IR_LABEL, PART_X, "no such label" },
		{ __LINE__, IR_OSTORE, PART_OFFSET, "bytes outside an object" },
		{ __LINE__, IR_ARGLOAD, PART_OFFSET, "bytes outside args[]" },
	};
	struct world w;

	(void)state;
	world_init(&w);
	assert_int_equal(world_compile(&w, "kinds.d", of_each_kind, strlen(of_each_kind)), 0);
	assert_int_equal(ir_check(w.p, &w.e), 0);
	for (size_t r = 0; r < COUNT(row); r++) {
		uint32_t tried = 0;

		for (uint32_t c = 0; c < w.p->nclauses; c++)
			for (uint32_t n = 0; n < w.p->clause[c].nins; n++) {
				const struct d_clause *clause = &w.p->clause[c];
				struct ir_ins *i = (struct ir_ins *)&clause->ins[n];
				uint32_t first = 0, was;

				if (i->op != row[r].op || (row[r].op == IR_SCMP && row[r].part == PART_X && i->q))
					continue;
				switch (row[r].part) {
				case PART_OP:
					first = IR_NOPS;
					break;
				case PART_D:
				case PART_A:
				case PART_B:
					first = clause->nregs;
					break;
				case PART_O:
				case PART_P:
					first = w.p->nobjs;
					break;
				case PART_OFFSET:
					first = i->op == IR_ARGLOAD ? clause->args_bytes - i->s + 1 :
								      w.p->obj[i->o].size - i->s + 1;
					break;
				default:
					first = i->op == IR_AGG                          ? w.p->naggs :
						i->op == IR_DYNGET || i->op == IR_DYNSET ? w.p->nvars :
						i->op == IR_OLIT || i->op == IR_SCMP     ? w.p->nlits :
											   clause->nlabels;
				}
				was = ir_part_swap(i, row[r].part, first);
				w.e = (struct err){ 0 };
				if (ir_check(w.p, &w.e) != -TALLY_EINVAL || !strstr(w.e.text, row[r].words))
					fail_msg("line %d: clause %u, instruction %u: %s", row[r].line, c, n, w.e.text);
				ir_part_swap(i, row[r].part, was);
				tried++;
			}
		if (!tried)
			fail_msg("line %d: there is no such instruction", row[r].line);
	}
	assert_int_equal(ir_check(w.p, &w.e), 0);
	world_fini(&w);
}

/* A clause by hand, of registers 1 to 64, labels 0 to 2, and an object of 16 bytes. */
static int ir_check_of(const struct ir_ins *ins, uint32_t n, struct err *e)
{
	struct ir_object obj[2] = { { 0 }, { .size = 16 } };
	struct d_clause clause = { .ins = (struct ir_ins *)(uintptr_t)ins, .nins = n, .nregs = 65, .nlabels = 3 };
	const struct d_program p = { .clause = &clause, .nclauses = 1, .obj = obj, .nobjs = 2 };

	*e = (struct err){ 0 };
	return ir_check(&p, e);
}

#define SET(r)                         \
	{                              \
		.op = IR_CONST, .d = r \
	}
#define USE(r)                                       \
	{                                            \
		.op = IR_ADD, .d = 1, .a = r, .b = r \
	}
#define JUMP(l)                      \
	{                            \
		.op = IR_JMP, .x = l \
	}
#define BRANCH(l, r)                                  \
	{                                             \
		.op = IR_JCMP, .x = l, .a = r, .b = r \
	}
#define PLACE(l)                       \
	{                              \
		.op = IR_LABEL, .x = l \
	}
#define END                  \
	{                    \
		.op = IR_END \
	}

static void paths_of_intermediate_code_are_followed(void **state)
{
	static const struct {
		int line;
		struct ir_ins ins[8];
		const char *words; /* NULL: it is good */
	} row[] = {
		{ __LINE__, { SET(1), USE(1), END }, NULL },
		{ __LINE__, { SET(63), USE(63), SET(64), USE(64), END }, NULL },
		{ __LINE__, { USE(1), END }, "a register is read before it is written" },
		{ __LINE__, { SET(63), USE(64), END }, "a register is read before it is written" },
		{ __LINE__, { SET(65), END }, "no such register" },
		{ __LINE__, { SET(0), END }, "no such register" },
		{ __LINE__, { USE(0), END }, "no such register" },
		{ __LINE__, { SET(1) }, "does not end" },
		/* written on one of two paths, and on both */
		{ __LINE__, { SET(1), BRANCH(0, 1), SET(2), PLACE(0), USE(2), END }, "read before it is written" },
		{ __LINE__, { SET(1), SET(2), BRANCH(0, 1), SET(3), PLACE(0), USE(2), END }, NULL },
		{ __LINE__, { SET(1), BRANCH(0, 1), SET(2), JUMP(1), PLACE(0), SET(2), PLACE(1), END }, NULL },
		{ __LINE__, { JUMP(0), SET(2), PLACE(0), USE(2), END }, "read before it is written" },
		/* what no path leads to may do as it likes, and adds nothing */
		{ __LINE__, { SET(1), JUMP(0), USE(9), PLACE(0), USE(1), END }, NULL },
		{ __LINE__, { SET(1), JUMP(0), JUMP(1), PLACE(0), PLACE(1), USE(1), END }, NULL },
		{ __LINE__, { PLACE(2), END }, NULL },
		{ __LINE__, { PLACE(0), JUMP(0), END }, "a jump backwards" },
		{ __LINE__, { SET(1), PLACE(0), BRANCH(0, 1), END }, "a jump backwards" },
		{ __LINE__, { PLACE(0), PLACE(0), END }, "a label is placed twice" },
		{ __LINE__, { PLACE(3), END }, "no such label" },
		{ __LINE__, { JUMP(3), END }, "no such label" },
		{ __LINE__, { JUMP(2), END }, "label 2 is not placed" },
		{ __LINE__, { JUMP(0), PLACE(1), END }, "label 0 is not placed" },
		{ __LINE__,
		  { SET(1), { .op = IR_OLOADX, .d = 2, .b = 1, .o = 1, .s = 8, .x = 8, .i = 2 }, END },
		  NULL },
		{ __LINE__,
		  { SET(1), { .op = IR_OLOADX, .d = 2, .b = 1, .o = 1, .s = 8, .x = 8, .i = 3 }, END },
		  "bytes outside an object" },
		{ __LINE__,
		  { SET(1), { .op = IR_OLOADX, .d = 2, .b = 1, .o = 1, .s = 8, .x = 8, .i = 0 }, END },
		  "no such index" },
		{ __LINE__,
		  { SET(1), { .op = IR_OLOADX, .d = 2, .b = 1, .o = 1, .s = 8, .x = 0, .i = 1ll << 31 }, END },
		  "no such index" },
		{ __LINE__, { { .op = IR_OLOAD, .d = 1, .o = 1, .O = 8, .s = 8 }, END }, NULL },
		{ __LINE__, { { .op = IR_OLOAD, .d = 1, .o = 1, .O = 9, .s = 8 }, END }, "bytes outside an object" },
		{ __LINE__, { { .op = IR_OLOAD, .d = 1, .o = 0, .s = 8 }, END }, "no such object" },
		{ __LINE__, { { .op = IR_OLOAD, .d = 1, .o = 2, .s = 8 }, END }, "no such object" },
	};
	struct err e;

	(void)state;
	for (size_t i = 0; i < COUNT(row); i++) {
		uint32_t n = 0;
		int rc;

		for (uint32_t k = 0; k < COUNT(row[i].ins); k++)
			if (row[i].ins[k].op != 0 || row[i].ins[k].d != 0)
				n = k + 1;
		rc = ir_check_of(row[i].ins, n, &e);
		if (row[i].words ? rc != -TALLY_EINVAL || !strstr(e.text, row[i].words) : rc != 0)
			fail_msg("line %d: %d, \"%s\"", row[i].line, rc, e.text);
	}
	assert_int_equal(ir_check_of(row[0].ins, 0, &e), -TALLY_EINVAL);
}

#undef SET
#undef USE
#undef JUMP
#undef BRANCH
#undef PLACE
#undef END

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(intermediate_code_that_names_what_is_not_there_is_refused),
		cmocka_unit_test(paths_of_intermediate_code_are_followed),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
