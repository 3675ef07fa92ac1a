/*
 * disasm.c: instructions as text, in the style of the kernel's verifier.
 *
 * w registers are the low halves, jumps count from the next instruction, maps
 * and helpers are shown by name.  Goldens compare this text, so it holds
 * nothing that differs between two runs: no addresses, no file descriptors.
 * What is not an instruction is shown as its bytes.
 */
#include "bpf/insn.h"

static const char *alu_text(uint8_t op)
{
	switch (op) {
#define X(name, number, text) \
	case OP_##name:       \
		return text;
		INS_ALU_OPS(X)
#undef X
	default:
		return NULL;
	}
}

static const char *jump_text(uint8_t op)
{
	switch (op) {
#define X(name, number, text) \
	case OP_##name:       \
		return text;
		INS_JMP_OPS(X)
#undef X
	default:
		return NULL;
	}
}

static const char *helper_name(int32_t number)
{
	switch (number) {
#define X(name, n) \
	case n:    \
		return #name;
		INS_HELPERS(X)
#undef X
	default:
		return "unknown";
	}
}

static void put_unknown(struct buf *to, const struct bpf_ins *in)
{
	buf_printf(to, "unknown code 0x%02x dst %u src %u off %d imm %d", in->code, in->dst, in->src, in->off, in->imm);
}

static void put_alu(struct buf *to, const struct bpf_ins *in)
{
	uint8_t op = INS_OP(in->code);
	const char *text = alu_text(op);
	char r = INS_CLASS(in->code) == INS_ALU64 ? 'r' : 'w';
	if (!text || in->off)
		put_unknown(to, in);
	else if (op == OP_END)
		buf_printf(to, "r%u = %s%d r%u", in->dst, in->code & INS_TO_BE ? "be" : "le", in->imm, in->dst);
	else if (op == OP_NEG)
		buf_printf(to, "%c%u = -%c%u", r, in->dst, r, in->dst);
	else if (in->code & INS_X)
		buf_printf(to, "%c%u %s %c%u", r, in->dst, text, r, in->src);
	else
		buf_printf(to, "%c%u %s %d", r, in->dst, text, in->imm);
}

static void put_jump(struct buf *to, const struct bpf_ins *in)
{
	uint8_t op = INS_OP(in->code);
	const char *text = jump_text(op);
	char r = INS_CLASS(in->code) == INS_JMP ? 'r' : 'w';
	if (!text || (r == 'w' && (op == OP_JA || op == OP_CALL || op == OP_EXIT)))
		put_unknown(to, in);
	else if (op == OP_EXIT)
		buf_puts(to, "exit");
	else if (op == OP_CALL && in->src == INS_CALL_LOCAL)
		buf_printf(to, "call pc%+d", in->imm);
	else if (op == OP_CALL)
		buf_printf(to, "call %s#%d", helper_name(in->imm), in->imm);
	else if (op == OP_JA)
		buf_printf(to, "goto pc%+d", in->off);
	else if (in->code & INS_X)
		buf_printf(to, "if %c%u %s %c%u goto pc%+d", r, in->dst, text, r, in->src, in->off);
	else
		buf_printf(to, "if %c%u %s %d goto pc%+d", r, in->dst, text, in->imm, in->off);
}

/* *(u64 *)(r10 - 8) */
static void put_place(struct buf *to, const struct bpf_ins *in, unsigned reg)
{
	buf_printf(to, "(u%d *)(r%u %c %d)", INS_BYTES(in->code) * 8, reg, in->off < 0 ? '-' : '+',
		   in->off < 0 ? -in->off : in->off);
}

static void put_fetch(struct buf *to, const struct bpf_ins *in)
{
	const char *wide = INS_SIZE(in->code) == INS_DW ? "64" : "";
	const char *name = in->imm == INS_XCHG             ? "xchg" :
			   in->imm == INS_CMPXCHG          ? "cmpxchg" :
			   in->imm == (OP_ADD | INS_FETCH) ? "fetch_add" :
			   in->imm == (OP_OR | INS_FETCH)  ? "fetch_or" :
			   in->imm == (OP_AND | INS_FETCH) ? "fetch_and" :
							     "fetch_xor";
	bool compares = in->imm == INS_CMPXCHG;
	buf_printf(to, "r%u = atomic%s_%s(", compares ? 0 : in->src, wide, name);
	put_place(to, in, in->dst);
	buf_printf(to, compares ? ", r0, r%u)" : ", r%u)", in->src);
}

static void put_atomic(struct buf *to, const struct bpf_ins *in)
{
	bool sized = INS_SIZE(in->code) == INS_W || INS_SIZE(in->code) == INS_DW;
	int32_t op = in->imm & ~INS_FETCH;
	bool plain = op == OP_ADD || op == OP_OR || op == OP_AND || op == OP_XOR;
	if (!sized || (!plain && in->imm != INS_XCHG && in->imm != INS_CMPXCHG)) {
		put_unknown(to, in);
		return;
	}
	if (in->imm & INS_FETCH) {
		put_fetch(to, in);
		return;
	}
	buf_puts(to, "lock *");
	put_place(to, in, in->dst);
	buf_printf(to, " %s r%u", alu_text((uint8_t)op), in->src);
}

static void put_memory(struct buf *to, const struct bpf_ins *in)
{
	uint8_t class = INS_CLASS(in->code), mode = INS_MODE(in->code);
	if (class == INS_STX && mode == INS_ATOMIC) {
		put_atomic(to, in);
	} else if (mode != INS_MEM) {
		put_unknown(to, in);
	} else if (class == INS_LDX) {
		buf_printf(to, "r%u = *", in->dst);
		put_place(to, in, in->src);
	} else {
		buf_puts(to, "*");
		put_place(to, in, in->dst);
		buf_printf(to, class == INS_ST ? " = %d" : " = r%d", class == INS_ST ? in->imm : in->src);
	}
}

/* Both halves of a 64-bit constant. */
static void put_ld64(struct buf *to, const struct bpf_image *img, const struct bpf_ins *in)
{
	bool is_map = in->src == INS_SRC_MAP || in->src == INS_SRC_MAP_VALUE;
	uint32_t lo = (uint32_t)in->imm, hi = (uint32_t)in[1].imm;
	const char *map = is_map && lo < img->nmaps ? img->map[lo].name : "?";
	if (in->src == INS_SRC_MAP)
		buf_printf(to, "r%u = map[%.16s]", in->dst, map);
	else if (in->src == INS_SRC_MAP_VALUE)
		buf_printf(to, "r%u = map[%.16s][0]+%u", in->dst, map, hi);
	else if (in->src == INS_SRC_FUNC)
		buf_printf(to, "r%u = subprog[pc%+d]", in->dst, in->imm);
	else
		buf_printf(to, "r%u = 0x%llx ll", in->dst, (unsigned long long)hi << 32 | lo);
}

static bool is_ld64(const struct img_prog *p, uint32_t i)
{
	return p->ins[i].code == INS_LD_IMM64 && i + 1 < p->nins && p->ins[i + 1].code == 0;
}

static void put_ins(struct buf *to, const struct bpf_image *img, const struct img_prog *p, uint32_t i)
{
	const struct bpf_ins *in = &p->ins[i];
	switch (INS_CLASS(in->code)) {
	case INS_ALU:
	case INS_ALU64:
		put_alu(to, in);
		break;
	case INS_JMP:
	case INS_JMP32:
		put_jump(to, in);
		break;
	case INS_LD:
		if (is_ld64(p, i))
			put_ld64(to, img, in);
		else
			put_unknown(to, in);
		break;
	default:
		put_memory(to, in);
	}
}

/* 0: glue, or a program without lines. */
static uint32_t disasm_line(const struct img_prog *p, uint32_t i)
{
	return p->line ? p->line[i] : 0;
}

/* What follows an instruction: its line, and the kernel field that a relocation puts into it. */
static void put_notes(struct buf *to, const struct img_prog *p, uint32_t i)
{
	const char *lead = "   ; ";
	if (disasm_line(p, i)) {
		buf_printf(to, "%sline %u", lead, disasm_line(p, i));
		lead = ", ";
	}
	for (uint32_t r = 0; r < p->nrelocs; r++)
		if (p->reloc[r].ins == i)
			buf_printf(to, "%s%s.%s", lead, p->reloc[r].type, p->reloc[r].field);
}

void bpf_list(const struct bpf_image *img, const struct img_prog *prog, struct buf *to)
{
	for (uint32_t i = 0; i < prog->nins; i++) {
		for (uint32_t half = 0; half <= (is_ld64(prog, i) ? 1 : 0); half++) {
			const struct bpf_ins *in = &prog->ins[i + half];

			buf_printf(to, "%04u %05u: %02x %x %x %04x %08x", disasm_line(prog, i), i + half, in->code,
				   in->dst, in->src, (uint16_t)in->off, (uint32_t)in->imm);
			if (half == 0) {
				buf_puts(to, "    ");
				put_ins(to, img, prog, i);
				put_notes(to, prog, i);
			}
			buf_putc(to, '\n');
		}
		i += is_ld64(prog, i) ? 1 : 0;
	}
}

void bpf_disasm(const struct bpf_image *img, const struct img_prog *prog, struct buf *to)
{
	for (uint32_t i = 0; i < prog->nins; i++) {
		buf_printf(to, "%5u: ", i);
		put_ins(to, img, prog, i);
		put_notes(to, prog, i);
		buf_putc(to, '\n');
		if (is_ld64(prog, i))
			i++;
	}
}
