/*
 * vm.c: runs the instructions of an image in user space.
 *
 * For events that do not come from this kernel (a file, a model, a hypervisor)
 * the same program must give the same answer as the kernel would, so this
 * interprets the same instructions, with the arithmetic of RFC 9669: x / 0 is
 * 0, x % 0 is x, shifts are masked, 32-bit results are zero-extended.
 *
 * The kernel trusts a program because it verified it; the vm verifies nothing
 * and checks everything when it happens.  Instructions are decoded once: a
 * jump or call gets its target as an index, and whatever can't be an
 * instruction becomes OP_BAD, which is refused if it is ever reached.  Targets
 * outside of the program point to the OP_BAD behind the last instruction.
 * Memory is reached through virtual pointers only (vm_int.h).  A run is bounded
 * by its number of instructions, allocates nothing, and depends on nothing but
 * the image, the maps and struct vm_cpu.
 */
#include <string.h>

#include "bpf/vm_int.h"

static_assert(__BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__, "the vm is a little-endian machine");

const struct bpf_arch bpf_arch_vm = { .name = "vm", .pc_offset = 0 };

/* What decoding found out, as codes that no instruction has.  The first code and the last are among them: so the
 * interpreter's table has a place for each, and no code is compared with its ends. */
enum {
	OP_PAST_END = 0,
	OP_BAD = INS_LD | 0x20,
	OP_HELPER = UINT8_MAX,
	OP_LOOP = INS_LD | 0x60,
	OP_LOCAL = INS_LD | 0x80,
	OP_LOOKUP = INS_LD | 0xa0,
	OP_TAIL = INS_LD | 0xc0
};
#define LOOPS_MOST (1u << 23) /* of loop(), as in the kernel */

/* ---- decoding ------------------------------------------------------- */

static const struct vm_op op_bad = { .code = OP_BAD };

static int32_t vm_jump_target(const struct img_prog *p, int64_t at)
{
	return (int32_t)(at >= 0 && at < p->nins ? at : p->nins);
}

static bool alu_is_good(const struct bpf_ins *in)
{
	uint8_t op = INS_OP(in->code);
	bool reg = in->code & INS_X;
	if (in->dst > R9 || in->off || op > OP_END || (reg && op != OP_END && in->src > R10))
		return false;
	if (op == OP_END)
		return INS_CLASS(in->code) == INS_ALU && (in->imm == 16 || in->imm == 32 || in->imm == 64);
	return op != OP_NEG || !reg;
}

static struct vm_op decode_jump(const struct img_prog *p, uint32_t i, struct vm_op op)
{
	const struct bpf_ins *in = &p->ins[i];
	bool wide = INS_CLASS(in->code) == INS_JMP, reg = in->code & INS_X;
	switch (INS_OP(in->code)) {
	case OP_CALL:
		if (!wide || reg || in->src > INS_CALL_LOCAL)
			return op_bad;
		if (in->src == INS_CALL_LOCAL) {
			op.code = OP_LOCAL;
			op.off = vm_jump_target(p, (int64_t)i + 1 + in->imm);
			return op;
		}
		op.fn = vm_helper(in->imm);
		op.code = in->imm == HELPER_loop      ? OP_LOOP :
			  in->imm == HELPER_tail_call ? OP_TAIL :
			  op.fn                       ? OP_HELPER :
							OP_BAD;
		return op;
	case OP_EXIT:
		return wide && !reg ? op : op_bad;
	case OP_JA:
		if (!wide || reg)
			return op_bad;
		break;
	default:
		if (INS_OP(in->code) > OP_JSLE || in->dst > R10 || (reg && in->src > R10))
			return op_bad;
	}
	op.off = vm_jump_target(p, (int64_t)i + 1 + in->off);
	return op;
}

static bool atomic_is_good(const struct bpf_ins *in)
{
	int32_t op = in->imm & ~INS_FETCH;
	if (INS_SIZE(in->code) != INS_W && INS_SIZE(in->code) != INS_DW)
		return false;
	if (in->imm & INS_FETCH && in->src > R9)
		return false;
	return op == OP_ADD || op == OP_OR || op == OP_AND || op == OP_XOR || in->imm == INS_XCHG ||
	       in->imm == INS_CMPXCHG;
}

static bool memory_is_good(const struct bpf_ins *in)
{
	switch (INS_CLASS(in->code)) {
	case INS_LDX:
		return INS_MODE(in->code) == INS_MEM && in->dst <= R9 && in->src <= R10;
	case INS_ST:
		return INS_MODE(in->code) == INS_MEM && in->dst <= R10;
	default:
		if (in->dst > R10 || in->src > R10)
			return false;
		return INS_MODE(in->code) == INS_MEM || (INS_MODE(in->code) == INS_ATOMIC && atomic_is_good(in));
	}
}

/* A constant, a map, a place in a map's value, a callback: all of them are numbers from here on. */
static struct vm_op decode_ld64(const struct vm *vm, const struct img_prog *p, uint32_t i, struct vm_op op)
{
	const struct bpf_ins *in = &p->ins[i];
	if (in->code != INS_LD_IMM64 || in->dst > R9 || i + 1 >= p->nins || in[1].code || in[1].dst || in[1].src ||
	    in[1].off)
		return op_bad;
	uint32_t lo = (uint32_t)in->imm, hi = (uint32_t)in[1].imm;
	bool is_map = in->src == INS_SRC_MAP || in->src == INS_SRC_MAP_VALUE;
	if ((is_map && lo >= vm->img->nmaps) || (in->src == INS_SRC_MAP_VALUE && hi >= VP_OFFS))
		return op_bad;
	switch (in->src) {
	case INS_SRC_NONE:
		op.imm = (int64_t)((uint64_t)hi << 32 | lo);
		return op;
	case INS_SRC_MAP:
		op.imm = (int64_t)vp(VR_MAP, lo, 0);
		return op;
	case INS_SRC_MAP_VALUE:
		op.imm = (int64_t)vp(VR_MAPS + lo, 0, hi);
		return vm->img->map[lo].type == IMG_ARRAY ? op : op_bad;
	case INS_SRC_FUNC:
		op.imm = (int64_t)vp(VR_FUNC, (uint32_t)vm_jump_target(p, (int64_t)i + 1 + in->imm), 0);
		return op;
	default:
		return op_bad;
	}
}

static struct vm_op vm_decode_insn(const struct vm *vm, const struct img_prog *p, uint32_t i)
{
	const struct bpf_ins *in = &p->ins[i];
	struct vm_op op = { .code = in->code, .dst = in->dst, .src = in->src, .off = in->off, .imm = in->imm };
	switch (INS_CLASS(in->code)) {
	case INS_ALU:
	case INS_ALU64:
		return alu_is_good(in) ? op : op_bad;
	case INS_JMP:
	case INS_JMP32:
		return decode_jump(p, i, op);
	case INS_LD:
		return decode_ld64(vm, p, i, op);
	default:
		return memory_is_good(in) ? op : op_bad;
	}
}

/* Where the fields that programs ask for lie in struct vm_task. What it does not have is out of its bounds, so
 * that reading it fails as a bad address does. */
static int32_t field_offset(const struct img_reloc *r)
{
	static const struct {
		const char *type, *field;
		size_t offset;
	} rows[] = {
		{ "task_struct", "real_parent", offsetof(struct vm_task, real_parent) },
		{ "task_struct", "parent", offsetof(struct vm_task, real_parent) },
		{ "task_struct", "tgid", offsetof(struct vm_task, tgid) },
		{ "task_struct", "pid", offsetof(struct vm_task, pid) },
		{ "task_struct", "mm", offsetof(struct vm_task, mm) },
		{ "task_struct", "start_time", offsetof(struct vm_task, start_ns) },
		{ "task_struct", "se", offsetof(struct vm_task, runtime_ns) },
		{ "task_struct", "se.sum_exec_runtime", offsetof(struct vm_task, runtime_ns) },
		{ "sched_entity", "sum_exec_runtime", 0 },
	};
	for (size_t i = 0; i < COUNT(rows); i++)
		if (!strcmp(r->type, rows[i].type) && !strcmp(r->field, rows[i].field))
			return (int32_t)rows[i].offset;
	return 4096;
}

/* What generated code does most is to look up in a map by a key on its stack:
 *
 *	r1 = map; r2 = r10; r2 += -n; call map_lookup_elem
 *
 * The first instruction of these becomes OP_LOOKUP, which does all of it and is charged for all of it; the map and the
 * bounds of the key are known.  The others stay as they are, for whoever jumps there.  A predicate and a count by a
 * field are two look-ups, and take a quarter less time. */
enum { LOOKUP_INSNS = 4, LOOKUP_SLOTS = 5 };

static bool is_lookup(const struct vm *vm, const struct vm_op *op)
{
	const struct vm_op *move = op + 2, *add = op + 3, *call = op + 4;
	const struct img_map *map;

	if (op->code != INS_LD_IMM64 || op->dst != R1 || vp_region((uint64_t)op->imm) != VR_MAP ||
	    move->code != (INS_ALU64 | INS_X | OP_MOV) || move->dst != R2 || move->src != R10 ||
	    add->code != (INS_ALU64 | INS_K | OP_ADD) || add->dst != R2 || call->code != OP_HELPER ||
	    call->fn != vm_helper(HELPER_map_lookup_elem) || vp_elem((uint64_t)op->imm) >= vm->img->nmaps ||
	    vp_off((uint64_t)op->imm))
		return false;
	map = &vm->img->map[vp_elem((uint64_t)op->imm)];
	return (map->type == IMG_ARRAY || map->type == IMG_PERCPU_ARRAY || map->type == IMG_HASH ||
		map->type == IMG_PERCPU_HASH) &&
	       map->key_size < 64 && add->imm >= -INS_STACK_BYTES && add->imm + map->key_size <= 0;
}

static void join_lookups(const struct vm *vm, struct vm_prog *p)
{
	for (uint32_t i = 0; i + LOOKUP_SLOTS <= p->nops; i++)
		if (is_lookup(vm, &p->ops[i])) {
			p->ops[i].code = OP_LOOKUP;
			p->ops[i].off = (int32_t)p->ops[i + 3].imm;
		}
}

/* vm->progs are the image's programs, then its parts. */
static const struct img_prog *prog_of(const struct bpf_image *img, uint32_t n)
{
	return n < img->nprogs ? &img->prog[n] : &img->part[n - img->nprogs];
}

static int decode_prog(struct vm *vm, uint32_t n, struct err *e)
{
	const struct img_prog *p = prog_of(vm->img, n);
	struct vm_prog *to = &vm->progs[n];
	if (p->nins >= VP_ELEMS)
		return err_set(e, TALLY_EINVAL, "program %.16s is too long", p->name);
	to->ops = mem_alloc(((size_t)p->nins + 1) * sizeof(*to->ops));
	if (!to->ops)
		return err_oom(e);
	to->nops = p->nins;
	for (uint32_t i = 0; i < p->nins; i++) {
		to->ops[i] = vm_decode_insn(vm, p, i);
		if (to->ops[i].code == INS_LD_IMM64)
			to->ops[++i] = op_bad;
	}
	to->ops[p->nins].code = OP_PAST_END;
	for (uint32_t i = 0; i < p->nrelocs; i++)
		if (p->reloc[i].ins < p->nins && INS_CLASS(p->ins[p->reloc[i].ins].code) == INS_LDX)
			to->ops[p->reloc[i].ins].off =
				(int16_t)(to->ops[p->reloc[i].ins].off + field_offset(&p->reloc[i]));
		else if (p->reloc[i].ins < p->nins && to->ops[p->reloc[i].ins].code != OP_HELPER)
			to->ops[p->reloc[i].ins].imm += field_offset(&p->reloc[i]);
	join_lookups(vm, to);
	return 0;
}

/* ---- opening -------------------------------------------------------- */

static void fixed_regions(struct vm *vm)
{
	vm->region[VR_STACK] = (struct region){ .base = vm->stack,
						.stride = INS_STACK_BYTES,
						.nelem = INS_FRAMES,
						.rsize = INS_STACK_BYTES,
						.wsize = INS_STACK_BYTES };
	vm->region[VR_TASK] = (struct region){ .base = (uint8_t *)vm->task,
					       .stride = sizeof(vm->task[0]),
					       .nelem = COUNT(vm->task),
					       .rsize = sizeof(vm->task[0]) };
	vm->region[VR_CTX] = (struct region){ .nelem = 1 };
	vm->nregions = VR_MAPS + vm->img->nmaps;
}

static int init_globals(struct vm *vm, struct err *e)
{
	const struct bpf_image *img = vm->img;
	for (uint32_t i = 0; i < img->nmaps; i++) {
		if (img->map[i].use != IMG_GLOBALS || !img->globals_init)
			continue;
		if (img->map[i].type != IMG_ARRAY || img->map[i].value_size < img->globals_size)
			return err_set(e, TALLY_EINVAL, "the globals do not fit in their map");
		memcpy(vm_map_value(&vm->maps[i], 0, 0), img->globals_init, img->globals_size);
	}
	return 0;
}

static int open_parts(struct vm *vm, struct err *e)
{
	const struct bpf_image *img = vm->img;
	int rc = 0;
	if (!vm->ncpus || vm->ncpus > 1u << 16 || img->nmaps > VP_REGIONS - VR_MAPS)
		return err_set(e, TALLY_EINVAL, "%u CPUs and %u maps are not possible", vm->ncpus, img->nmaps);
	vm->progs = mem_alloc((img->nprogs + img->nparts) * sizeof(*vm->progs));
	vm->maps = mem_alloc(img->nmaps * sizeof(*vm->maps));
	vm->region = mem_alloc((VR_MAPS + img->nmaps) * sizeof(*vm->region));
	vm->stack = mem_alloc(INS_FRAMES * INS_STACK_BYTES);
	if (!vm->progs || !vm->maps || !vm->region || !vm->stack)
		return err_oom(e);
	fixed_regions(vm);
	for (uint32_t i = 0; i < img->nmaps && rc >= 0; i++)
		rc = vm_map_open(vm, i, e);
	for (uint32_t i = 0; i < img->nprogs + img->nparts && rc >= 0; i++)
		rc = decode_prog(vm, i, e);
	return rc < 0 ? rc : init_globals(vm, e);
}

int vm_open(struct vm **ret, const struct bpf_image *img, uint32_t ncpus, struct err *e)
{
	struct vm *vm = mem_alloc(sizeof(*vm));
	if (!vm)
		return err_oom(e);
	vm->img = img;
	vm->ncpus = ncpus;
	int rc = open_parts(vm, e);
	if (rc < 0)
		vm_close(vm);
	else
		*ret = vm;
	return rc < 0 ? rc : 0;
}

void vm_close(struct vm *vm)
{
	if (!vm)
		return;
	for (uint32_t i = 0; vm->progs && i < vm->img->nprogs + vm->img->nparts; i++)
		mem_free(vm->progs[i].ops);
	for (uint32_t i = 0; vm->maps && i < vm->img->nmaps; i++)
		vm_map_close(&vm->maps[i]);
	for (uint32_t i = 0; i < vm->nrings; i++)
		mem_free(vm->rings[i].data);
	mem_free(vm->rings);
	mem_free(vm->progs);
	mem_free(vm->maps);
	mem_free(vm->region);
	mem_free(vm->stack);
	mem_free(vm);
}

/* ---- running -------------------------------------------------------- */

struct frame {
	const struct vm_op *ret;
	uint64_t saved[4], frame_pointer; /* R6-R9, R10 */
	/* a callback of loop(): calls still to come after this one are done - todo */
	const struct vm_op *body; /* NULL: an ordinary call */
	uint64_t ctx;
	uint32_t done, todo;
};
struct state {
	uint64_t r[11];
	struct frame frame[INS_FRAMES];
	uint32_t depth;
	uint32_t prog; /* the one that runs: tail calls change it */
};

/* The size is read from memory: for one that it knows the compiler would emit a string instruction, which is
 * slower than memset() by more than all else that a firing needs to begin. */
static void set_frame(struct vm *vm, struct state *s)
{
	memset(vm->stack + s->depth * INS_STACK_BYTES, 0, vm->region[VR_STACK].wsize);
	s->r[R10] = vp(VR_STACK, s->depth, INS_STACK_BYTES);
}

static struct frame *vm_frame_enter(struct vm *vm, struct state *s, const struct vm_op *ret)
{
	if (s->depth + 1 == INS_FRAMES) {
		vm->fault = "calls are nested too deeply";
		return NULL;
	}
	struct frame *f = &s->frame[++s->depth];
	f->ret = ret;
	f->body = NULL;
	f->frame_pointer = s->r[R10];
	memcpy(f->saved, &s->r[R6], sizeof(f->saved));
	set_frame(vm, s);
	return f;
}

/* Back to the caller, or into the next round of a loop. */
static const struct vm_op *vm_leave(struct state *s)
{
	struct frame *f = &s->frame[s->depth];
	if (f->body && ++f->done < f->todo && !s->r[R0]) {
		s->r[R1] = f->done;
		s->r[R2] = f->ctx;
		return f->body;
	}
	if (f->body)
		s->r[R0] = f->done;
	memcpy(&s->r[R6], f->saved, sizeof(f->saved));
	s->r[R10] = f->frame_pointer;
	s->depth--;
	return f->ret;
}

/* loop(rounds, callback, ctx, flags): where to go on; NULL after a fault. */
static const struct vm_op *vm_loop(struct vm *vm, struct state *s, const struct vm_prog *p, const struct vm_op *ret)
{
	uint64_t rounds = (uint32_t)s->r[R1];
	if (vp_region(s->r[R2]) != VR_FUNC || vp_elem(s->r[R2]) > p->nops) {
		vm->fault = "loop needs a callback";
		return NULL;
	}
	s->r[R0] = 0;
	if (s->r[R4] || rounds > LOOPS_MOST)
		s->r[R0] = (uint64_t)(s->r[R4] ? -BPF_EINVAL : -BPF_E2BIG);
	if (s->r[R0] || !rounds)
		return ret;
	struct frame *f = vm_frame_enter(vm, s, ret);
	if (!f)
		return NULL;
	f->body = p->ops + vp_elem(s->r[R2]);
	f->ctx = s->r[R3];
	f->done = 0;
	f->todo = (uint32_t)rounds;
	s->r[R1] = 0;
	s->r[R2] = f->ctx;
	return f->body;
}

/* tail_call(context, map of programs, index): whether it goes on in another program, s->prog. */
static bool tail_call(struct vm *vm, struct state *s)
{
	const struct bpf_image *img = vm->img;
	uint32_t map = vp_elem(s->r[R2]), part = (uint32_t)s->r[R3];

	if (vp_region(s->r[R2]) != VR_MAP || map >= img->nmaps || img->map[map].type != IMG_PROGS || s->depth) {
		vm->fault = s->depth ? "a tail call within a function" : "a tail call needs a map of programs";
		return false;
	}
	if (part >= img->nparts || img->part[part].cls != img->map[map].id ||
	    img->part[part].cls != prog_of(img, s->prog)->cls)
		return false;
	s->prog = img->nprogs + part;
	set_frame(vm, s);
	return true;
}

static bool vm_exec_atomic(const struct vm *vm, uint64_t *r, const struct vm_op *op)
{
	uint32_t size = INS_BYTES(op->code);
	uint8_t *at = vm_at(vm, r[op->dst] + (uint64_t)(int64_t)op->off, size, true);
	uint64_t old = 0, new = size == 4 ? (uint32_t)r[op->src] : r[op->src];
	if (!at)
		return false;
	memcpy(&old, at, size);
	switch (op->imm & ~INS_FETCH) {
	case OP_ADD:
		new += old;
		break;
	case OP_OR:
		new |= old;
		break;
	case OP_AND:
		new &= old;
		break;
	case OP_XOR:
		new ^= old;
		break;
	case INS_CMPXCHG & ~INS_FETCH:
		if (old != (size == 4 ? (uint32_t)r[R0] : r[R0]))
			new = old;
		break;
	}
	memcpy(at, &new, size);
	if (op->imm == INS_CMPXCHG)
		r[R0] = old;
	else if (op->imm & INS_FETCH)
		r[op->src] = old;
	return true;
}

static uint64_t byte_order(uint64_t v, const struct vm_op *op)
{
	bool swap = op->code & INS_TO_BE;
	switch (op->imm) {
	case 16:
		return swap ? __builtin_bswap16((uint16_t)v) : (uint16_t)v;
	case 32:
		return swap ? __builtin_bswap32((uint32_t)v) : (uint32_t)v;
	default:
		return swap ? __builtin_bswap64(v) : v;
	}
}

/* The four forms of an arithmetic instruction: a and b of type U (and S, signed), `bits` of them. */
#define ALU_AS(code, U_, S_, second, e)               \
	case code: {                                  \
		typedef U_ U;                         \
		typedef S_ S __attribute__((unused)); \
		U a = (U)DST, b = (U)(second);        \
		DST = (U)(e);                         \
		(void)a, (void)b;                     \
		break;                                \
	}
#define ALU(op_, e)                                                         \
	ALU_AS(INS_ALU64 | INS_K | OP_##op_, uint64_t, int64_t, op->imm, e) \
	ALU_AS(INS_ALU64 | INS_X | OP_##op_, uint64_t, int64_t, SRC, e)     \
	ALU_AS(INS_ALU | INS_K | OP_##op_, uint32_t, int32_t, op->imm, e)   \
	ALU_AS(INS_ALU | INS_X | OP_##op_, uint32_t, int32_t, SRC, e)
#define SHIFT(b) ((b) & (sizeof(U) * 8 - 1))

/* The four forms of a conditional jump: T is the type of the comparison. */
#define JUMP_AS(code, T, second, cmp)          \
	case code:                             \
		if ((T)DST cmp(T)(second))     \
			pc = p->ops + op->off; \
		break;
#define JUMP(op_, u, cmp)                                               \
	JUMP_AS(INS_JMP | INS_K | OP_##op_, u##int64_t, op->imm, cmp)   \
	JUMP_AS(INS_JMP | INS_X | OP_##op_, u##int64_t, SRC, cmp)       \
	JUMP_AS(INS_JMP32 | INS_K | OP_##op_, u##int32_t, op->imm, cmp) \
	JUMP_AS(INS_JMP32 | INS_X | OP_##op_, u##int32_t, SRC, cmp)

/* A load and the two stores of one size. */
#define MEMORY(size_, T)                                                            \
	case INS_LDX | INS_MEM | INS_##size_: {                                     \
		T v;                                                                \
		at = vm_at(vm, SRC + (uint64_t)(int64_t)op->off, sizeof(v), false); \
		if (!at)                                                            \
			goto bad_read;                                              \
		memcpy(&v, at, sizeof(v));                                          \
		DST = v;                                                            \
		break;                                                              \
	}                                                                           \
	case INS_ST | INS_MEM | INS_##size_:                                        \
	case INS_STX | INS_MEM | INS_##size_: {                                     \
		T v = INS_CLASS(op->code) == INS_ST ? (T)op->imm : (T)SRC;          \
		at = vm_at(vm, DST + (uint64_t)(int64_t)op->off, sizeof(v), true);  \
		if (!at)                                                            \
			goto bad_write;                                             \
		memcpy(at, &v, sizeof(v));                                          \
		break;                                                              \
	}

#define DST (s->r[op->dst])
#define SRC (s->r[op->src])

/* Runs until the outermost exit; vm->fault says why not. Returns the instruction it ended at. */
static const struct vm_op *vm_interpret(struct vm *vm, const struct vm_prog *p, struct state *s, uint64_t left)
{
	const struct vm_op *op, *pc = p->ops;
	uint8_t *at;
	for (;;) {
		op = pc++;
		if (__builtin_sub_overflow(left, 1, &left))
			goto too_long;
		switch (op->code) {
			ALU(ADD, a + b)
			ALU(SUB, a - b)
			ALU(MUL, a * b)
			ALU(DIV, b ? a / b : 0)
			ALU(MOD, b ? a % b : a)
			ALU(OR, a | b)
			ALU(AND, a & b)
			ALU(XOR, a ^ b)
			ALU(MOV, b)
			ALU(LSH, a << SHIFT(b))
			ALU(RSH, a >> SHIFT(b))
			ALU(ARSH, (S)a >> SHIFT(b))
		case INS_ALU64 | OP_NEG:
			DST = -DST;
			break;
		case INS_ALU | OP_NEG:
			DST = (uint32_t)-DST;
			break;
		case INS_ALU | OP_END | INS_TO_LE:
		case INS_ALU | OP_END | INS_TO_BE:
			DST = byte_order(DST, op);
			break;
		case INS_LD_IMM64:
			DST = (uint64_t)op->imm;
			pc++;
			break;
			MEMORY(B, uint8_t)
			MEMORY(H, uint16_t)
			MEMORY(W, uint32_t)
			MEMORY(DW, uint64_t)
		case INS_STX | INS_ATOMIC | INS_W:
		case INS_STX | INS_ATOMIC | INS_DW:
			if (!vm_exec_atomic(vm, s->r, op))
				goto bad_write;
			break;
			JUMP(JEQ, u, ==)
			JUMP(JNE, u, !=)
			JUMP(JGT, u, >)
			JUMP(JGE, u, >=)
			JUMP(JLT, u, <)
			JUMP(JLE, u, <=)
			JUMP(JSGT, , >)
			JUMP(JSGE, , >=)
			JUMP(JSLT, , <)
			JUMP(JSLE, , <=)
			JUMP(JSET, u, &)
		case INS_JMP | OP_JA:
			pc = p->ops + op->off;
			break;
		case OP_HELPER:
			vm->charge = 0;
			s->r[R0] = op->fn(vm, &s->r[R1]);
			if (vm->fault)
				return op;
			left = left > vm->charge ? left - vm->charge : 0;
			break;
		case OP_LOOKUP:
			s->r[R1] = (uint64_t)op->imm;
			pc++;
			if (left < LOOKUP_INSNS - 1)
				break; /* as far as it goes, one by one */
			left -= LOOKUP_INSNS - 1;
			pc += LOOKUP_SLOTS - 2;
			s->r[R2] = s->r[R10] + (uint64_t)(int64_t)op->off;
			s->r[R0] = vm_lookup(vm, vp_elem((uint64_t)op->imm),
					     vm->stack + (s->depth + 1) * INS_STACK_BYTES + op->off);
			break;
		case OP_LOCAL:
			if (!vm_frame_enter(vm, s, pc))
				return op;
			pc = p->ops + op->off;
			break;
		case OP_TAIL:
			if (tail_call(vm, s)) {
				p = &vm->progs[s->prog];
				pc = p->ops;
			}
			if (vm->fault)
				return op;
			break;
		case OP_LOOP:
			if (!(pc = vm_loop(vm, s, p, pc)))
				return op;
			break;
		case INS_JMP | OP_EXIT:
			if (!s->depth)
				return op;
			pc = vm_leave(s);
			break;
		case OP_PAST_END:
			vm->fault = "the program runs off its end";
			return op;
		default:
			vm->fault = "not an instruction";
			return op;
		}
	}
too_long:
	vm->fault = "too many instructions";
	return op;
bad_read:
	vm->fault = "reads outside of memory";
	return op;
bad_write:
	vm->fault = "writes outside of memory";
	return op;
}

static void set_context(struct vm *vm, uint32_t cls, const struct vm_cpu *cpu)
{
	struct region *ctx = &vm->region[VR_CTX];

	ctx->base = cls == IMG_RECORD ? (uint8_t *)(uintptr_t)cpu->record : (uint8_t *)&vm->ctx_pc;
	ctx->rsize = cls == IMG_RECORD ? cpu->record_bytes : cls == IMG_PERF ? sizeof(vm->ctx_pc) : 0;
}

static void vm_state_prepare(struct vm *vm, uint32_t cls, const struct vm_cpu *cpu, struct state *s)
{
	vm->cpu = cpu;
	vm->fault = NULL;
	if (vm->base_cpu != cpu->cpu)
		vm_maps_on_cpu(vm, cpu->cpu);
	vm->ctx_pc = cpu->pc;
	set_context(vm, cls, cpu);
	vm->task[0] = (struct vm_task){ .real_parent = vp(VR_TASK, 1, 0),
					.tgid = cpu->pid,
					.pid = cpu->tid,
					.runtime_ns = cpu->vtime_ns,
					.start_ns = cpu->start_ns,
					.mm = cpu->pid };
	vm->task[1] = (struct vm_task){ .tgid = cpu->ppid, .pid = cpu->ppid };
	memset(s->r, 0, sizeof(s->r));
	s->depth = 0;
	s->r[R1] = vp(VR_CTX, 0, 0);
	set_frame(vm, s);
}

int vm_run(struct vm *vm, uint32_t prog, const struct vm_cpu *cpu, uint64_t max, struct err *e)
{
	struct state s;
	if (prog >= vm->img->nprogs || cpu->cpu >= vm->ncpus)
		return err_set(e, TALLY_EINVAL, "no program %u or no CPU %u", prog, cpu->cpu);
	vm_state_prepare(vm, vm->img->prog[prog].cls, cpu, &s);
	s.prog = prog;
	const struct vm_op *end = vm_interpret(vm, &vm->progs[prog], &s, max);
	if (vm->nreserved && !vm->fault)
		vm->fault = "a reserved record was never submitted";
	vm_reservations_drop(vm);
	if (!vm->fault)
		return (int)(s.r[R0] & 0x7fffffff);
	const struct img_prog *p = prog_of(vm->img, s.prog);
	uint32_t at = (uint32_t)(end - vm->progs[s.prog].ops);
	return err_set(e, TALLY_ECORRUPT, "program %.16s, instruction %u (line %u): %s", p->name, at,
		       at < p->nins && p->line ? p->line[at] : 0, vm->fault);
}
