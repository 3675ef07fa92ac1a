/*
 * cg_unwind.c: stacks of a process by its unwind tables.
 *
 * Compilers leave out frame pointers, and then a frame's size and where its return address lies stand in the file's
 * .eh_frame only.  User space has turned that into tables (symbol/unwind.c, session/unwind.c; bpf.h, struct
 * img_unwind_space), and here are the programs that walk with them.  The order of a walk:
 *
 *	registers  of the thread when it left user mode, wherever the event came
 *	process    its ranges of addresses; they hold for the generation of mappings that the firing is in, or
 *	           are not used
 *	frame      range of the address, row of the range's chunk, rule of the row: CFA, return address, frame pointer
 *
 * The frames are the turns of a bpf_loop(), whose body the verifier walks once.  Both searches are without branches, or
 * it would visit each of their paths.  A turn reads what it needs of the stack with at most three calls.
 *
 * Code of which there are no tables (of a just-in-time compiler, of a file without .eh_frame) may keep frame pointers:
 * there the pointer is followed, and what it leads to is kept if it is in code again.  Where calls leave the return
 * address in a register (arm64), the pointer does not tell where the caller's stack begins: it counts as 0 then, where
 * rules by the stack pointer find nothing. In all other cases in which the walk can't go on, the stack ends with the
 * mark IMG_FRAME_CUT: nothing is guessed.  A process of which nothing is known yet is asked for (IMG_UNWIND_WANTED),
 * and its stack is the address where it is, and the mark.
 *
 * A stack that is a key gets an id of our own (STACK_ID_LONG): its hash is made while it is walked, so one that is
 * known costs a look-up.
 *
 * User space may change a process's ranges during a walk; then their number differs in the end, and the walk does not
 * count.
 */
#include "bpf/cg_int.h"

/* The state of a walk, in scratch memory; the frames lie behind it. */
enum {
	WALK_FP = 0,
	WALK_LINK = 8,
	WALK_SP = 16,
	WALK_PC = 24,
	WALK_N = 32,     /* frames that there are */
	WALK_WORDS = 40, /* the same, with the mark of a cut */
	WALK_EXACT = 48, /* 1: the address is where the thread is, not where a call returns to */
	WALK_SPACE = 56,
	WALK_CHANGED = 64, /* of the space */
	WALK_CUT = 72,
	WALK_GUESS = 80, /* 1: the last frame comes from a frame pointer */
	WALK_HASH = 88,
	WALK_BEFORE = 96, /* the hash without the last frame */
	WALK_FRAMES = 104,
};
static_assert(CG_WALK_BYTES(0) == WALK_FRAMES, "room for the state");
enum { FP_TURN_KEY = -8, FP_TURN_READ = -24 }; /* the stack of a turn */

bool cg_unwinds(const struct cg *g, bool user)
{
	return user && g->o->unwind && !cg_has_subject(g);
}

/* R1 (the hash) takes in R2; R3 changes. */
static void unwind_hash(struct cg *g)
{
	cg_ins(g, I_ALU_REG(XOR, R1, R2));
	cg_imm(g, R3, (int64_t)0xff51afd7ed558ccd);
	cg_ins(g, I_ALU_REG(MUL, R1, R3));
	cg_mov(g, R3, R1);
	cg_ins(g, I_ALU_IMM(RSH, R3, 32));
	cg_ins(g, I_ALU_REG(XOR, R1, R3));
}

/* R3 = 8 * how many of the sorted words at R1 are not above R2, of 2 * most - 1. The words are below 2^63. R4 and R5
 * change. */
static void unwind_search(struct cg *g, uint32_t most)
{
	cg_imm(g, R3, 0);
	for (uint32_t step = most; step; step /= 2) {
		cg_mov(g, R4, R1);
		cg_ins(g, I_ALU_REG(ADD, R4, R3));
		cg_ins(g, I_LOAD(DW, R5, R4, (int16_t)(8 * step - 8)));
		cg_mov(g, R4, R2);
		cg_ins(g, I_ALU_REG(SUB, R4, R5));
		cg_ins(g, I_ALU_IMM(ARSH, R4, 63));
		cg_ins(g, I_ALU_IMM(XOR, R4, -1));
		cg_ins(g, I_ALU_IMM(AND, R4, (int32_t)(8 * step)));
		cg_ins(g, I_ALU_REG(ADD, R3, R4)); /* Linux 6.1 forgets the bounds of what OR makes */
	}
}

/* ---- a turn: R6 = the walk ------------------------------------------------------------------ */

/* R0 = the element of a map whose number is R1, or leaves. */
static void turn_element(struct cg *g, uint32_t map, uint32_t cut)
{
	cg_ins(g, I_STORE(W, R10, FP_TURN_KEY, R1));
	cg_map(g, R1, map);
	cg_lea(g, R2, R10, FP_TURN_KEY);
	cg_ins(g, I_CALL(map_lookup_elem));
	cg_jcc(g, I_JMP_IMM(JEQ, R0, 0, 0), cut);
}

/* R8 = the rule that holds at the address; to `pointer` if it is code of which there are none. R7 and R9 change. */
static void turn_find_rule(struct cg *g, uint32_t pointer, uint32_t cut)
{
	enum { RANGE = offsetof(struct img_unwind_space, range), START = offsetof(struct img_unwind_space, start) };

	cg_ins(g, I_LOAD(DW, R7, R6, WALK_PC));
	cg_ins(g, I_LOAD(DW, R1, R6, WALK_EXACT));
	cg_ins(g, I_ALU_REG(ADD, R7, R1));
	cg_ins(g, I_ALU_IMM(SUB, R7, 1)); /* the call is in front of where it returns to */
	cg_jcc(g, I_JMP_IMM(JSLT, R7, 0, 0), cut);
	cg_ins(g, I_LOAD(DW, R1, R6, WALK_SPACE));
	turn_element(g, cg_map_index(g, IMG_UNWIND_SPACES, 0), cut);
	cg_lea(g, R1, R0, START);
	cg_mov(g, R2, R7);
	unwind_search(g, IMG_UNWIND_RANGES / 2);
	cg_jcc(g, I_JMP_IMM(JLT, R3, 8, 0), cut);
	cg_ins(g, I_ALU_REG(ADD, R1, R3));
	cg_ins(g, I_LOAD(DW, R5, R1, -8));
	cg_ins(g, I_ALU_REG(SUB, R7, R5));
	cg_ins(g, I_LOAD(W, R4, R1, RANGE - START - 8 + (int)offsetof(struct img_unwind_range, delta)));
	cg_ins(g, I_ALU_REG(ADD, R7, R4));
	cg_ins(g, I_LOAD(W, R1, R1, RANGE - START - 8 + (int)offsetof(struct img_unwind_range, chunk)));
	cg_mov(g, R2, R1);
	cg_ins(g, I_ALU32_IMM(ADD, R2, 2)); /* BY_POINTER is 0 then */
	cg_jcc(g, I_JMP_IMM(JEQ, R2, 0, 0), pointer);
	turn_element(g, cg_map_index(g, IMG_UNWIND_ROWS, 0), cut);
	cg_mov(g, R1, R0);
	cg_mov(g, R2, R7);
	cg_ins(g, I_ALU_IMM(LSH, R2, 32));
	cg_imm(g, R3, UINT32_MAX);
	cg_ins(g, I_ALU_REG(ADD, R2, R3));
	unwind_search(g, IMG_UNWIND_CHUNK / 2);
	cg_jcc(g, I_JMP_IMM(JLT, R3, 8, 0), cut);
	cg_ins(g, I_ALU_REG(ADD, R1, R3));
	cg_ins(g, I_LOAD(W, R2, R1, -8));
	cg_ins(g, I_ALU_IMM(AND, R2, IMG_UNWIND_RULES_N - 1));
	cg_ins(g, I_ALU_IMM(LSH, R2, 4));
	cg_map_value(g, R8, cg_map_index(g, IMG_UNWIND_RULES, 0), 0);
	cg_ins(g, I_ALU_REG(ADD, R8, R2));
}

static void turn_rule_byte(struct cg *g, uint8_t to, uint32_t off)
{
	cg_ins(g, I_LOAD(B, to, R8, (int16_t)off));
}

/* to = an offset of the rule, with its sign */
static void turn_rule_offset(struct cg *g, uint8_t to, uint32_t off)
{
	cg_ins(g, I_LOAD(W, to, R8, (int16_t)off));
	cg_ins(g, I_ALU_IMM(LSH, to, 32));
	cg_ins(g, I_ALU_IMM(ARSH, to, 32));
}

/* FP_TURN_READ = so many bytes of the process at R3. */
static void turn_read(struct cg *g, uint32_t bytes, uint32_t cut)
{
	cg_lea(g, R1, R10, FP_TURN_READ);
	cg_imm(g, R2, bytes);
	cg_ins(g, I_CALL(probe_read_user));
	cg_jcc(g, I_JMP_IMM(JNE, R0, 0, 0), cut);
}

/* R9 = the CFA; to `pointer` where the frame pointer is followed. */
static void turn_find_cfa(struct cg *g, uint32_t pointer, uint32_t cut)
{
	const uint32_t by_fp = cg_label(g), sum = cg_label(g), there = cg_label(g), plt = cg_label(g),
		       done = cg_label(g);

	turn_rule_byte(g, R1, offsetof(struct img_unwind_rule, cfa_kind));
	cg_jcc(g, I_JMP_IMM(JEQ, R1, UNWIND_CFA_UNKNOWN, 0), cut);
	turn_rule_offset(g, R3, offsetof(struct img_unwind_rule, cfa));
	cg_jcc(g, I_JMP_IMM(JEQ, R1, UNWIND_CFA_PLT, 0), plt);
	cg_mov(g, R4, R1);
	cg_ins(g, I_ALU_IMM(AND, R4, 1)); /* SP, AT_SP are odd */
	cg_jcc(g, I_JMP_IMM(JEQ, R4, 0, 0), by_fp);
	cg_ins(g, I_LOAD(DW, R9, R6, WALK_SP));
	cg_jmp(g, sum);
	cg_put(g, by_fp);
	cg_jcc(g, I_JMP_IMM(JEQ, R1, UNWIND_CFA_POINTER, 0), pointer);
	cg_ins(g, I_LOAD(DW, R9, R6, WALK_FP));
	cg_put(g, sum);
	cg_ins(g, I_ALU_REG(ADD, R9, R3));
	cg_jcc(g, I_JMP_IMM(JGE, R1, UNWIND_CFA_AT_SP, 0), there);
	cg_jmp(g, done);
	cg_put(g, there);
	cg_mov(g, R3, R9);
	turn_read(g, 8, cut);
	cg_ins(g, I_LOAD(DW, R9, R10, FP_TURN_READ));
	cg_jmp(g, done);
	cg_put(g, plt); /* sp + 8, and 8 more from that byte of the entry on */
	cg_ins(g, I_LOAD(DW, R9, R6, WALK_SP));
	cg_ins(g, I_ALU_IMM(ADD, R9, 8));
	cg_ins(g, I_LOAD(DW, R1, R6, WALK_PC));
	cg_ins(g, I_ALU_IMM(AND, R1, 15));
	cg_jcc(g, I_JMP_REG(JLT, R1, R3, 0), done);
	cg_ins(g, I_ALU_IMM(ADD, R9, 8));
	cg_put(g, done);
}
static_assert(UNWIND_CFA_SP == 1 && UNWIND_CFA_FP == 2 && UNWIND_CFA_AT_SP == 3 && UNWIND_CFA_AT_FP == 4 &&
		      UNWIND_CFA_POINTER % 2 == 0,
	      "a bit says which register");

/* R3 = where a register is saved: at an offset of the rule from the stack pointer if R1, the kind, is at_sp, else from
 * the CFA. */
static void turn_find_saved(struct cg *g, uint32_t off, int32_t at_sp)
{
	const uint32_t by_sp = cg_label(g), done = cg_label(g);

	turn_rule_offset(g, R3, off);
	cg_jcc(g, I_JMP_IMM(JEQ, R1, at_sp, 0), by_sp);
	cg_ins(g, I_ALU_REG(ADD, R3, R9));
	cg_jmp(g, done);
	cg_put(g, by_sp);
	cg_ins(g, I_LOAD(DW, R1, R6, WALK_SP));
	cg_ins(g, I_ALU_REG(ADD, R3, R1));
	cg_put(g, done);
}

/* R7 = the return address; WALK_FP and WALK_LINK as the caller has them. */
static void turn_find_return(struct cg *g, uint32_t end, uint32_t cut)
{
	const uint32_t apart = cg_label(g), signal = cg_label(g), link = cg_label(g), saved = cg_label(g),
		       unknown = cg_label(g), pair = cg_label(g), done = cg_label(g);

	turn_rule_byte(g, R1, offsetof(struct img_unwind_rule, ra_kind));
	cg_jcc(g, I_JMP_IMM(JEQ, R1, UNWIND_RA_END, 0), end);
	turn_rule_byte(g, R2, offsetof(struct img_unwind_rule, flags));
	cg_jcc(g, I_JMP_IMM(JEQ, R2, UNWIND_PAIR, 0), pair);

	/* one after the other */
	cg_jcc(g, I_JMP_IMM(JEQ, R1, UNWIND_RA_LINK, 0), link);
	turn_find_saved(g, offsetof(struct img_unwind_rule, ra), UNWIND_RA_AT_SP);
	turn_read(g, 8, cut);
	cg_ins(g, I_LOAD(DW, R7, R10, FP_TURN_READ));
	cg_jmp(g, apart);
	cg_put(g, link); /* nobody has called since */
	cg_ins(g, I_LOAD(DW, R1, R6, WALK_EXACT));
	cg_jcc(g, I_JMP_IMM(JEQ, R1, 0, 0), cut);
	cg_ins(g, I_LOAD(DW, R7, R6, WALK_LINK));
	cg_put(g, apart);
	turn_rule_byte(g, R1, offsetof(struct img_unwind_rule, fp_kind));
	cg_jcc(g, I_JMP_IMM(JEQ, R1, UNWIND_FP_SAME, 0), done);
	cg_jcc(g, I_JMP_IMM(JEQ, R1, UNWIND_FP_UNKNOWN, 0), unknown);
	turn_find_saved(g, offsetof(struct img_unwind_rule, fp), UNWIND_FP_AT_SP);
	turn_rule_byte(g, R1, offsetof(struct img_unwind_rule, flags));
	cg_ins(g, I_ALU_IMM(AND, R1, UNWIND_PAIR));
	cg_jcc(g, I_JMP_IMM(JNE, R1, 0, 0), signal);
	turn_read(g, 8, cut);
	cg_jmp(g, saved);
	cg_put(g, signal); /* the link register lies behind it */
	turn_read(g, 16, cut);
	cg_ins(g, I_LOAD(DW, R1, R10, FP_TURN_READ + 8));
	cg_ins(g, I_STORE(DW, R6, WALK_LINK, R1));
	cg_jmp(g, saved);
	cg_put(g, unknown);
	cg_ins(g, I_STORE_IMM(DW, R10, FP_TURN_READ, 0));
	cg_jmp(g, saved);

	cg_put(g, pair);
	turn_rule_offset(g, R3, offsetof(struct img_unwind_rule, fp));
	cg_ins(g, I_ALU_REG(ADD, R3, R9));
	turn_read(g, 16, cut);
	cg_ins(g, I_LOAD(DW, R7, R10, FP_TURN_READ + 8));
	cg_put(g, saved);
	cg_ins(g, I_LOAD(DW, R1, R10, FP_TURN_READ));
	cg_ins(g, I_STORE(DW, R6, WALK_FP, R1));
	cg_put(g, done);
}

/* R7 = the return address, R9 = the caller's stack, by the frame pointer. */
static void turn_follow_pointer(struct cg *g, uint32_t cut)
{
	cg_ins(g, I_LOAD(DW, R3, R6, WALK_FP));
	cg_ins(g, I_LOAD(DW, R1, R6, WALK_SP));
	cg_jcc(g, I_JMP_REG(JLT, R3, R1, 0), cut);
	if (g->o->arch->regs->lr) {
		cg_imm(g, R9, 0);
	} else {
		cg_mov(g, R9, R3);
		cg_ins(g, I_ALU_IMM(ADD, R9, 16));
	}
	cg_mov(g, R1, R3);
	cg_ins(g, I_ALU_IMM(AND, R1, 7));
	cg_jcc(g, I_JMP_IMM(JNE, R1, 0, 0), cut);
	turn_read(g, 16, cut);
	cg_ins(g, I_LOAD(DW, R1, R10, FP_TURN_READ));
	cg_ins(g, I_LOAD(DW, R7, R10, FP_TURN_READ + 8));
	cg_ins(g, I_STORE(DW, R6, WALK_FP, R1));
}

/* R7 is a frame more, whose stack begins at R9; R8 = whether it is a guess; to `cut` when there is no room. */
static void turn_take_frame(struct cg *g, uint32_t end, uint32_t cut)
{
	if (g->o->pc_bits) {
		cg_imm(g, R1, (int64_t)g->o->pc_bits);
		cg_ins(g, I_ALU_REG(AND, R7, R1));
	}
	cg_jcc(g, I_JMP_IMM(JEQ, R7, 0, 0), end);
	cg_ins(g, I_LOAD(DW, R4, R6, WALK_N));
	cg_jcc(g, I_JMP_IMM(JGE, R4, (int32_t)g->walk, 0), cut);
	cg_mov(g, R5, R4);
	cg_ins(g, I_ALU_IMM(LSH, R5, 3));
	cg_ins(g, I_ALU_REG(ADD, R5, R6));
	cg_ins(g, I_STORE(DW, R5, WALK_FRAMES, R7));
	cg_ins(g, I_ALU_IMM(ADD, R4, 1));
	cg_ins(g, I_STORE(DW, R6, WALK_N, R4));
	cg_ins(g, I_STORE(DW, R6, WALK_PC, R7));
	cg_ins(g, I_STORE(DW, R6, WALK_SP, R9));
	cg_ins(g, I_STORE(DW, R6, WALK_GUESS, R8));
	cg_ins(g, I_LOAD(DW, R1, R6, WALK_HASH));
	cg_ins(g, I_STORE(DW, R6, WALK_BEFORE, R1));
	cg_mov(g, R2, R7);
	unwind_hash(g);
	cg_ins(g, I_STORE(DW, R6, WALK_HASH, R1));
}

/* The callback: R2 leads to the walk's address. Returns 1, which ends the loop, when there is nothing more. */
void cg_unwind_function(struct cg *g)
{
	const uint32_t pointer = cg_label(g), cut = cg_label(g), end = cg_label(g), take = cg_label(g),
		       call = cg_label(g), above = cg_label(g), sure = cg_label(g);

	if (g->unwind_loop == NO_LABEL)
		return;
	g->func[g->nfuncs++] = (struct img_func){ .ins = g->nins };
	assert(g->nfuncs <= IMG_FUNCS_MOST);
	cg_put(g, g->unwind_loop);
	cg_ins(g, I_LOAD(DW, R6, R2, 0));
	turn_find_rule(g, pointer, cut);
	turn_find_cfa(g, pointer, cut);
	cg_ins(g, I_LOAD(DW, R1, R6, WALK_SP)); /* a signal's handler may have another stack than who was interrupted */
	cg_jcc(g, I_JMP_REG(JGE, R9, R1, 0), above);
	turn_rule_byte(g, R1, offsetof(struct img_unwind_rule, flags));
	cg_ins(g, I_ALU_IMM(AND, R1, UNWIND_SIGNAL));
	cg_jcc(g, I_JMP_IMM(JEQ, R1, 0, 0), cut);
	cg_put(g, above);
	turn_find_return(g, end, cut);
	turn_rule_byte(g, R1, offsetof(struct img_unwind_rule, flags));
	cg_ins(g, I_ALU_IMM(RSH, R1, 1));
	cg_ins(g, I_STORE(DW, R6, WALK_EXACT, R1));
	cg_imm(g, R8, 0);
	cg_jmp(g, take);
	cg_put(g, pointer);
	turn_follow_pointer(g, cut);
	cg_ins(g, I_STORE_IMM(DW, R6, WALK_EXACT, 0));
	cg_imm(g, R8, 1);
	cg_put(g, take);
	turn_take_frame(g, end, call);
	cg_imm(g, R0, 0);
	cg_ins(g, I_EXIT());

	/* What a frame pointer led to is dropped if it is nothing that could be walked. */
	cg_put(g, cut);
	cg_ins(g, I_STORE_IMM(DW, R6, WALK_CUT, 1));
	cg_ins(g, I_LOAD(DW, R1, R6, WALK_GUESS));
	cg_jcc(g, I_JMP_IMM(JEQ, R1, 0, 0), sure);
	cg_ins(g, I_LOAD(DW, R1, R6, WALK_N));
	cg_ins(g, I_ALU_IMM(SUB, R1, 1));
	cg_ins(g, I_STORE(DW, R6, WALK_N, R1));
	cg_ins(g, I_LOAD(DW, R1, R6, WALK_BEFORE));
	cg_ins(g, I_STORE(DW, R6, WALK_HASH, R1));
	cg_put(g, sure);
	cg_put(g, call);
	cg_put(g, end);
	cg_imm(g, R0, 1);
	cg_ins(g, I_EXIT());
}

/* ---- a walk --------------------------------------------------------------------------------- */

static void walk_store_imm(struct cg *g, uint32_t at, int32_t value)
{
	cg_ins(g, I_STORE_IMM(DW, R7, (int16_t)(cg_walk(g) + at), value));
}

static void walk_store(struct cg *g, uint32_t at, uint8_t reg)
{
	cg_ins(g, I_STORE(DW, R7, (int16_t)(cg_walk(g) + at), reg));
}

static void walk_load(struct cg *g, uint8_t reg, uint32_t at)
{
	cg_ins(g, I_LOAD(DW, reg, R7, (int16_t)(cg_walk(g) + at)));
}

/* The stack is the frame that the registers tell. */
static void walk_first_frame(struct cg *g)
{
	walk_load(g, R2, WALK_FRAMES);
	cg_imm(g, R1, (int64_t)0x9e3779b97f4a7c15);
	unwind_hash(g);
	walk_store(g, WALK_HASH, R1);
	walk_store_imm(g, WALK_N, 1);
	walk_store_imm(g, WALK_GUESS, 0);
	walk_store_imm(g, WALK_CUT, 0);
}

/* The registers of user mode; to `none` where there is no such thread. */
static void walk_registers(struct cg *g, uint32_t none)
{
	const struct bpf_regs *regs = g->o->arch->regs;

	cg_ins(g, I_CALL(get_current_task_btf));
	cg_task_named(g, "mm");
	cg_ins(g, I_LOAD(DW, R1, R0, 0));
	cg_jcc(g, I_JMP_IMM(JEQ, R1, 0, 0), none);
	cg_mov(g, R1, R0);
	cg_ins(g, I_CALL(task_pt_regs));
	cg_ins(g, I_LOAD(DW, R1, R0, regs->pc));
	cg_jcc(g, I_JMP_IMM(JEQ, R1, 0, 0), none);
	walk_store(g, WALK_PC, R1);
	walk_store(g, WALK_FRAMES, R1);
	cg_ins(g, I_LOAD(DW, R1, R0, regs->sp));
	walk_store(g, WALK_SP, R1);
	cg_ins(g, I_LOAD(DW, R1, R0, regs->fp));
	walk_store(g, WALK_FP, R1);
	if (regs->lr) {
		cg_ins(g, I_LOAD(DW, R1, R0, regs->lr));
		walk_store(g, WALK_LINK, R1);
	}
	walk_store_imm(g, WALK_EXACT, 1);
}

/* R0 = the space whose number is at FP_KEY. */
static void walk_space(struct cg *g, uint32_t missing)
{
	cg_map(g, R1, cg_map_index(g, IMG_UNWIND_SPACES, 0));
	cg_lea(g, R2, R10, FP_KEY);
	cg_ins(g, I_CALL(map_lookup_elem));
	cg_jcc(g, I_JMP_IMM(JEQ, R0, 0, 0), missing);
}

void cg_unwind(struct cg *g, uint32_t frames)
{
	const uint32_t none = cg_label(g), want = cg_label(g), changed = cg_label(g), cut = cg_label(g),
		       whole = cg_label(g), end = cg_label(g), done = cg_label(g);

	if (g->unwind_loop == NO_LABEL)
		g->unwind_loop = cg_label(g);
	walk_registers(g, none);
	walk_first_frame(g);
	cg_generation(g);
	walk_store(g, WALK_CHANGED, R0);
	cg_pid(g);
	walk_store(g, WALK_SPACE, R0);
	cg_ins(g, I_STORE(W, R10, FP_KEY, R0));
	cg_map(g, R1, cg_map_index(g, IMG_UNWIND_PROCESSES, 0));
	cg_lea(g, R2, R10, FP_KEY);
	cg_ins(g, I_CALL(map_lookup_elem));
	cg_jcc(g, I_JMP_IMM(JEQ, R0, 0, 0), want);
	cg_ins(g, I_LOAD(W, R0, R0, 0));
	cg_ins(g, I_STORE(W, R10, FP_KEY, R0));
	walk_space(g, want);
	cg_ins(g, I_LOAD(DW, R1, R0, offsetof(struct img_unwind_space, as_of_ns)));
	walk_load(g, R2, WALK_CHANGED);
	cg_jcc(g, I_JMP_REG(JLT, R1, R2, 0), want);
	cg_ins(g, I_LOAD(DW, R1, R0, offsetof(struct img_unwind_space, changed)));
	cg_jcc(g, I_JMP_IMM(JEQ, R1, 0, 0), changed);
	walk_store(g, WALK_CHANGED, R1);
	cg_ins(g, I_LOAD(W, R1, R10, FP_KEY));
	walk_store(g, WALK_SPACE, R1);
	if (frames > 1) {
		cg_imm(g, R1, frames - 1);
		cg_func(g, R2, g->unwind_loop);
		cg_lea(g, R3, R7, (int32_t)cg_walk(g));
		cg_ins(g, I_STORE(DW, R10, FP_TMP, R3));
		cg_lea(g, R3, R10, FP_TMP);
		cg_imm(g, R4, 0);
		cg_ins(g, I_CALL(loop));
	}
	walk_space(g, changed);
	cg_ins(g, I_LOAD(DW, R1, R0, offsetof(struct img_unwind_space, changed)));
	walk_load(g, R2, WALK_CHANGED);
	cg_jcc(g, I_JMP_REG(JNE, R1, R2, 0), changed);
	walk_load(g, R1, WALK_CUT);
	cg_jcc(g, I_JMP_IMM(JNE, R1, 0, 0), cut);
	cg_jmp(g, whole);

	cg_put(g, want);
	walk_load(g, R1, WALK_SPACE);
	cg_mov(g, R3, R1);
	cg_ins(g, I_ALU32_IMM(MUL, R3, (int32_t)0x9e3779b1));
	cg_ins(g, I_ALU32_IMM(RSH, R3, 22));
	cg_ins(g, I_ALU_IMM(LSH, R3, 2));
	cg_map_value(g, R2, cg_map_index(g, IMG_UNWIND_WANTED, 0), 0);
	cg_ins(g, I_ALU_REG(ADD, R2, R3));
	cg_ins(g, I_STORE(W, R2, 0, R1));
	cg_put(g, changed);
	walk_first_frame(g);
	cg_put(g, cut);
	walk_load(g, R4, WALK_N);
	cg_jcc(g, I_JMP_IMM(JGE, R4, (int32_t)frames, 0), whole);
	cg_mov(g, R5, R4);
	cg_ins(g, I_ALU_IMM(LSH, R5, 3));
	cg_ins(g, I_ALU_REG(ADD, R5, R7));
	cg_ins(g, I_STORE_IMM(DW, R5, (int16_t)(cg_walk(g) + WALK_FRAMES), IMG_FRAME_CUT));
	walk_load(g, R1, WALK_HASH);
	cg_imm(g, R2, IMG_FRAME_CUT);
	unwind_hash(g);
	walk_store(g, WALK_HASH, R1);
	cg_ins(g, I_ALU_IMM(ADD, R4, 1));
	cg_jmp(g, end);
	cg_put(g, whole);
	walk_load(g, R4, WALK_N);
	cg_put(g, end);
	walk_store(g, WALK_WORDS, R4);
	walk_load(g, R0, WALK_N);
	cg_ins(g, I_ALU_IMM(LSH, R0, 3));
	cg_jmp(g, done);
	cg_put(g, none);
	walk_store_imm(g, WALK_WORDS, 0);
	cg_imm(g, R0, -BPF_EFAULT);
	cg_put(g, done);
}

void cg_unwind_copy(struct cg *g, uint32_t most)
{
	const uint32_t fits = cg_label(g);

	walk_load(g, R2, WALK_WORDS);
	cg_ins(g, I_ALU_IMM(LSH, R2, 3));
	cg_jcc(g, I_JMP_IMM(JLE, R2, (int32_t)most, 0), fits);
	cg_imm(g, R2, most);
	cg_put(g, fits);
	cg_lea(g, R3, R7, (int32_t)(cg_walk(g) + WALK_FRAMES));
	cg_ins(g, I_CALL(probe_read_kernel));
}

void cg_unwind_id(struct cg *g, uint32_t none, uint32_t empty)
{
	const uint32_t bytes = 8 * g->frames, kept = cg_label(g);

	cg_unwind(g, g->frames);
	cg_jcc(g, I_JMP_IMM(JSLE, R0, 0, 0), empty);
	walk_load(g, R1, WALK_HASH);
	cg_long_stack_find(g, kept);
	cg_zero(g, (struct cg_at){ R7, (int32_t)cg_frames(g) }, bytes);
	cg_lea(g, R1, R7, (int32_t)cg_frames(g));
	cg_unwind_copy(g, bytes);
	cg_long_stack_keep(g, kept, none);
}
