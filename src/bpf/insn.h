/*
 * insn.h: BPF instructions as numbers, and macros that build them.
 *
 * Said once for the code generator, the disassembler and the vm; kernel/ holds
 * every number here against linux/bpf.h with static asserts.  The names are our
 * own, so that this header and linux/bpf.h can be included together.
 *
 * An instruction is 8 bytes: code, dst and src registers, a 16-bit offset, a
 * 32-bit immediate.  The low three bits of the code are its class.  Arithmetic
 * and jumps keep the operation in the high four bits and in bit 3 whether the
 * second operand is the immediate (K) or the source register (X); loads and
 * stores keep the mode in the high three bits and the size in the two between.
 * Source: BPF Instruction Set Architecture (RFC 9669); helper numbers:
 * linux/bpf.h, "__BPF_FUNC_MAPPER".
 *
 * Instructions that a 6.1 kernel lacks (sign-extending loads and moves, signed
 * division, gotol, bswap of class ALU64) have no macro here on purpose.
 */
#ifndef TALLY_BPF_INSN_H
#define TALLY_BPF_INSN_H

#include "bpf/bpf.h"

/* ---- code: classes -------------------------------------------------- */
enum { INS_LD = 0, INS_LDX = 1, INS_ST = 2, INS_STX = 3, INS_ALU = 4, INS_JMP = 5, INS_JMP32 = 6, INS_ALU64 = 7 };
#define INS_CLASS(code) ((code)&0x07)

/* ---- arithmetic and jumps ------------------------------------------- */
enum { INS_K = 0x00, INS_X = 0x08 }; /* second operand: immediate or src */
#define INS_OP(code) ((code)&0xf0)
/* name, number, how C writes it */
/* clang-format off */
#define INS_ALU_OPS(X)                                                                             \
	X(ADD, 0x00, "+=") X(SUB, 0x10, "-=") X(MUL, 0x20, "*=") X(DIV, 0x30, "/=") /* unsigned */  \
	X(OR, 0x40, "|=") X(AND, 0x50, "&=") X(LSH, 0x60, "<<=") X(RSH, 0x70, ">>=")                \
	X(NEG, 0x80, "-") X(MOD, 0x90, "%=") X(XOR, 0xa0, "^=") X(MOV, 0xb0, "=")                   \
	X(ARSH, 0xc0, "s>>=") X(END, 0xd0, "end")
/* clang-format on */
/* clang-format off */
#define INS_JMP_OPS(X)                                                                             \
	X(JA, 0x00, "goto") X(JEQ, 0x10, "==") X(JGT, 0x20, ">") X(JGE, 0x30, ">=")                 \
	X(JSET, 0x40, "&") X(JNE, 0x50, "!=") X(JSGT, 0x60, "s>") X(JSGE, 0x70, "s>=")              \
	X(CALL, 0x80, "call") X(EXIT, 0x90, "exit") X(JLT, 0xa0, "<") X(JLE, 0xb0, "<=")            \
	X(JSLT, 0xc0, "s<") X(JSLE, 0xd0, "s<=")
/* clang-format on */
enum {
#define X(name, number, text) OP_##name = number,
	INS_ALU_OPS(X) INS_JMP_OPS(X)
#undef X
};
enum { INS_TO_LE = 0x00, INS_TO_BE = 0x08 };      /* END: bit 3 is the direction; imm is 16, 32 or 64 */
enum { INS_CALL_HELPER = 0, INS_CALL_LOCAL = 1 }; /* CALL: src; local: imm is relative to the next instruction */

/* ---- loads and stores ----------------------------------------------- */
enum { INS_W = 0x00, INS_H = 0x08, INS_B = 0x10, INS_DW = 0x18 }; /* 4, 2, 1, 8 bytes */
#define INS_SIZE(code) ((code)&0x18)
enum { INS_IMM = 0x00, INS_MEM = 0x60, INS_ATOMIC = 0xc0 };
#define INS_MODE(code) ((code)&0xe0)
enum { INS_FETCH = 0x01 }; /* ATOMIC: imm is an ALU op, with or without FETCH, or one of these */
enum { INS_XCHG = 0xe1, INS_CMPXCHG = 0xf1 };
#define INS_LD_IMM64 (INS_LD | INS_DW | INS_IMM)
enum { INS_SRC_FUNC = 4 }; /* LD_IMM64: a subprogram, imm relative to the next instruction (for loop()) */

/* Size code of 1, 2, 4 or 8 bytes. */
#define INS_OF_BYTES(n) ((n) == 1 ? INS_B : (n) == 2 ? INS_H : (n) == 4 ? INS_W : INS_DW)
/* Bytes of a size code. */
#define INS_BYTES(code) (INS_SIZE(code) == INS_B ? 1 : INS_SIZE(code) == INS_H ? 2 : INS_SIZE(code) == INS_W ? 4 : 8)

/* ---- registers ------------------------------------------------------ */
enum { R0, R1, R2, R3, R4, R5, R6, R7, R8, R9, R10 }; /* 0 result, 1-5 arguments, 6-9 kept, 10 frame */
#define INS_STACK_BYTES 512 /* below R10; with subprograms: of all frames together in the kernel */
#define INS_FRAMES 8

/* ---- helpers -------------------------------------------------------- */
/* name, number */
/* clang-format off */
#define INS_HELPERS(X) \
	X(map_lookup_elem, 1) X(map_update_elem, 2) X(map_delete_elem, 3) X(probe_read, 4) X(ktime_get_ns, 5) \
	X(get_prandom_u32, 7) X(get_smp_processor_id, 8) X(tail_call, 12) X(get_current_pid_tgid, 14) \
	X(get_current_uid_gid, 15) X(get_current_comm, 16) X(perf_event_output, 25) X(get_stackid, 27) \
	X(probe_write_user, 36) X(get_current_task, 35) X(perf_event_read_value, 55) \
	X(perf_prog_read_value, 56) X(get_stack, 67) X(probe_read_user, 112) X(probe_read_kernel, 113) \
	X(probe_read_user_str, 114) X(probe_read_kernel_str, 115) X(get_ns_current_pid_tgid, 120) \
	X(ringbuf_output, 130) X(ringbuf_reserve, 131) X(ringbuf_submit, 132) X(ringbuf_discard, 133) \
	X(ringbuf_query, 134) X(task_storage_get, 156) X(get_task_stack, 141) X(get_current_task_btf, 158) \
	X(get_attach_cookie, 174) X(task_pt_regs, 175) X(send_signal, 109) X(loop, 181) X(strncmp, 182) \
	X(get_func_arg, 183) X(get_func_ret, 184)
/* clang-format on */
enum {
#define X(name, number) HELPER_##name = number,
	INS_HELPERS(X)
#undef X
};
enum { MAP_ANY = 0, MAP_NOEXIST = 1, MAP_EXIST = 2 }; /* map_update_elem: flags */
enum { STACK_SKIP = 0xff, STACK_USER = 1 << 8, STACK_FAST_CMP = 1 << 9, STACK_REUSE = 1 << 10 };
enum { RING_NO_WAKEUP = 1, RING_FORCE_WAKEUP = 2 };                                /* ringbuf_output, submit, discard */
enum { RING_AVAIL_DATA = 0, RING_SIZE = 1, RING_CONS_POS = 2, RING_PROD_POS = 3 }; /* ringbuf_query */
/* What helpers return for failure: the kernel's errno numbers, which are the same on every architecture. */
enum {
	BPF_ENOENT = 2,
	BPF_E2BIG = 7,
	BPF_EAGAIN = 11,
	BPF_ENOMEM = 12,
	BPF_EFAULT = 14,
	BPF_EBUSY = 16,
	BPF_EEXIST = 17,
	BPF_EINVAL = 22
};
struct ins_pidns {
	uint32_t pid, tgid;
}; /* what get_ns_current_pid_tgid writes: pid is the thread */

/* ---- building instructions ------------------------------------------ */
/* op, size and helper are given without prefix: I_ALU_IMM(ADD, R1, 8), I_LOAD(DW, R0, R6, 16), I_CALL(ktime_get_ns). */
#define I_RAW(c, d, s, o, i)                         \
	((struct bpf_ins){ .code = (uint8_t)(c),     \
			   .dst = (uint8_t)((d)&15), \
			   .src = (uint8_t)((s)&15), \
			   .off = (int16_t)(o),      \
			   .imm = (int32_t)(i) })
#define I_ALU_IMM(op, dst, imm) I_RAW(INS_ALU64 | OP_##op | INS_K, dst, 0, 0, imm)
#define I_ALU_REG(op, dst, src) I_RAW(INS_ALU64 | OP_##op | INS_X, dst, src, 0, 0)
#define I_ALU32_IMM(op, dst, imm) I_RAW(INS_ALU | OP_##op | INS_K, dst, 0, 0, imm)
#define I_ALU32_REG(op, dst, src) I_RAW(INS_ALU | OP_##op | INS_X, dst, src, 0, 0)
#define I_MOV_IMM(dst, imm) I_ALU_IMM(MOV, dst, imm)
#define I_MOV_REG(dst, src) I_ALU_REG(MOV, dst, src)
#define I_MOV32_IMM(dst, imm) I_ALU32_IMM(MOV, dst, imm)
#define I_MOV32_REG(dst, src) I_ALU32_REG(MOV, dst, src)
#define I_NEG(dst) I_ALU_IMM(NEG, dst, 0)
#define I_NEG32(dst) I_ALU32_IMM(NEG, dst, 0)
#define I_BE(dst, bits) I_RAW(INS_ALU | OP_END | INS_TO_BE, dst, 0, 0, bits)
#define I_LE(dst, bits) I_RAW(INS_ALU | OP_END | INS_TO_LE, dst, 0, 0, bits)

/* dst = *(size *)(src + off);  *(size *)(dst + off) = src;  = imm */
#define I_LOAD(size, dst, src, off) I_RAW(INS_LDX | INS_MEM | INS_##size, dst, src, off, 0)
#define I_STORE(size, dst, off, src) I_RAW(INS_STX | INS_MEM | INS_##size, dst, src, off, 0)
#define I_STORE_IMM(size, dst, off, imm) I_RAW(INS_ST | INS_MEM | INS_##size, dst, 0, off, imm)
/* The same with the size as a number of bytes. */
#define I_LOAD_N(n, dst, src, off) I_RAW(INS_LDX | INS_MEM | INS_OF_BYTES(n), dst, src, off, 0)
#define I_STORE_N(n, dst, off, src) I_RAW(INS_STX | INS_MEM | INS_OF_BYTES(n), dst, src, off, 0)
#define I_STORE_IMM_N(n, dst, off, imm) I_RAW(INS_ST | INS_MEM | INS_OF_BYTES(n), dst, 0, off, imm)

/* *(size *)(dst + off) op= src, W or DW; with FETCH src gets what was there before; CMPXCHG compares with R0 */
#define I_ATOMIC(size, op, dst, off, src) I_RAW(INS_STX | INS_ATOMIC | INS_##size, dst, src, off, OP_##op)
#define I_ATOMIC_FETCH(size, op, dst, off, src) \
	I_RAW(INS_STX | INS_ATOMIC | INS_##size, dst, src, off, OP_##op | INS_FETCH)
#define I_XCHG(size, dst, off, src) I_RAW(INS_STX | INS_ATOMIC | INS_##size, dst, src, off, INS_XCHG)
#define I_CMPXCHG(size, dst, off, src) I_RAW(INS_STX | INS_ATOMIC | INS_##size, dst, src, off, INS_CMPXCHG)
#define I_ATOMIC_N(n, op, dst, off, src) I_RAW(INS_STX | INS_ATOMIC | INS_OF_BYTES(n), dst, src, off, OP_##op)

/* Jumps: off counts instructions from the next one. */
#define I_JUMP(off) I_RAW(INS_JMP | OP_JA, 0, 0, off, 0)
#define I_JMP_IMM(op, dst, imm, off) I_RAW(INS_JMP | OP_##op | INS_K, dst, 0, off, imm)
#define I_JMP_REG(op, dst, src, off) I_RAW(INS_JMP | OP_##op | INS_X, dst, src, off, 0)
#define I_JMP32_IMM(op, dst, imm, off) I_RAW(INS_JMP32 | OP_##op | INS_K, dst, 0, off, imm)
#define I_JMP32_REG(op, dst, src, off) I_RAW(INS_JMP32 | OP_##op | INS_X, dst, src, off, 0)
#define I_CALL(helper) I_RAW(INS_JMP | OP_CALL, 0, INS_CALL_HELPER, 0, HELPER_##helper)
#define I_CALL_LOCAL(rel) I_RAW(INS_JMP | OP_CALL, 0, INS_CALL_LOCAL, 0, rel)
#define I_EXIT() I_RAW(INS_JMP | OP_EXIT, 0, 0, 0, 0)

/* The two halves of a 64-bit constant: always both, in this order. */
#define I_LD64_LO(dst, value) I_RAW(INS_LD_IMM64, dst, INS_SRC_NONE, 0, (uint32_t)(uint64_t)(value))
#define I_LD64_HI(value) I_RAW(0, 0, 0, 0, (uint32_t)((uint64_t)(value) >> 32))
/* dst = the map (followed by I_LD64_HI(0)); dst = address of byte `off` of the value of an
 * ARRAY map (followed by I_RAW(0, 0, 0, 0, off)); dst = a subprogram (then I_LD64_HI(0)). */
#define I_LD_MAP(dst, map) I_RAW(INS_LD_IMM64, dst, INS_SRC_MAP, 0, map)
#define I_LD_MAP_VALUE(dst, map) I_RAW(INS_LD_IMM64, dst, INS_SRC_MAP_VALUE, 0, map)
#define I_LD_FUNC(dst, rel) I_RAW(INS_LD_IMM64, dst, INS_SRC_FUNC, 0, rel)

#endif
