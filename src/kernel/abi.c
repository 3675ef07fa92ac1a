/*
 * abi.c: the numbers that bpf/ defines for itself, held against the kernel's headers.
 *
 * bpf/ includes no Linux header, so that its compiler and vm build anywhere;
 * here is where a slip would stop the build.  Nothing in this file runs.
 */
#include <errno.h>
#include <linux/bpf.h>
#include <linux/bpf_perf_event.h>

#include "bpf/insn.h"
#include "kernel/kernel_int.h"

#define SAME(ours, theirs) static_assert((unsigned long)(ours) == (unsigned long)(theirs), #ours " is " #theirs)

/* struct bpf_ins */
static_assert(sizeof(struct bpf_ins) == sizeof(struct bpf_insn), "an instruction is 8 bytes");
SAME(offsetof(struct bpf_ins, code), offsetof(struct bpf_insn, code));
SAME(offsetof(struct bpf_ins, off), offsetof(struct bpf_insn, off));
SAME(offsetof(struct bpf_ins, imm), offsetof(struct bpf_insn, imm));

/* classes, sources of operands, sizes, modes */
SAME(INS_LD, BPF_LD);
SAME(INS_LDX, BPF_LDX);
SAME(INS_ST, BPF_ST);
SAME(INS_STX, BPF_STX);
SAME(INS_ALU, BPF_ALU);
SAME(INS_JMP, BPF_JMP);
SAME(INS_JMP32, BPF_JMP32);
SAME(INS_ALU64, BPF_ALU64);
SAME(INS_K, BPF_K);
SAME(INS_X, BPF_X);
SAME(INS_W, BPF_W);
SAME(INS_H, BPF_H);
SAME(INS_B, BPF_B);
SAME(INS_DW, BPF_DW);
SAME(INS_IMM, BPF_IMM);
SAME(INS_MEM, BPF_MEM);
SAME(INS_ATOMIC, BPF_ATOMIC);
SAME(INS_FETCH, BPF_FETCH);
SAME(INS_XCHG, BPF_XCHG);
SAME(INS_CMPXCHG, BPF_CMPXCHG);
SAME(INS_TO_LE, BPF_TO_LE);
SAME(INS_TO_BE, BPF_TO_BE);

/* operations */
#define X(name, number, text) SAME(OP_##name, BPF_##name);
INS_ALU_OPS(X)
INS_JMP_OPS(X)
#undef X

/* pseudo sources: a map, a map's value, a function, a call within the program */
SAME(INS_SRC_MAP, BPF_PSEUDO_MAP_FD);
SAME(INS_SRC_MAP_VALUE, BPF_PSEUDO_MAP_VALUE);
SAME(INS_SRC_FUNC, BPF_PSEUDO_FUNC);
SAME(INS_CALL_LOCAL, BPF_PSEUDO_CALL);
SAME(R0, BPF_REG_0);
SAME(R10, BPF_REG_10);

/* helpers and their flags */
#define X(name, number) SAME(HELPER_##name, BPF_FUNC_##name);
INS_HELPERS(X)
#undef X
SAME(MAP_ANY, BPF_ANY);
SAME(MAP_NOEXIST, BPF_NOEXIST);
SAME(MAP_EXIST, BPF_EXIST);
SAME(STACK_SKIP, BPF_F_SKIP_FIELD_MASK);
SAME(STACK_USER, BPF_F_USER_STACK);
SAME(STACK_FAST_CMP, BPF_F_FAST_STACK_CMP);
SAME(STACK_REUSE, BPF_F_REUSE_STACKID);
SAME(RING_NO_WAKEUP, BPF_RB_NO_WAKEUP);
SAME(RING_FORCE_WAKEUP, BPF_RB_FORCE_WAKEUP);
SAME(RING_AVAIL_DATA, BPF_RB_AVAIL_DATA);
SAME(RING_SIZE, BPF_RB_RING_SIZE);
SAME(RING_CONS_POS, BPF_RB_CONS_POS);
SAME(RING_PROD_POS, BPF_RB_PROD_POS);
SAME(sizeof(struct ins_pidns), sizeof(struct bpf_pidns_info));
SAME(offsetof(struct ins_pidns, pid), offsetof(struct bpf_pidns_info, pid));
SAME(offsetof(struct ins_pidns, tgid), offsetof(struct bpf_pidns_info, tgid));

/* what helpers answer */
SAME(BPF_ENOENT, ENOENT);
SAME(BPF_E2BIG, E2BIG);
SAME(BPF_EAGAIN, EAGAIN);
SAME(BPF_ENOMEM, ENOMEM);
SAME(BPF_EFAULT, EFAULT);
SAME(BPF_EBUSY, EBUSY);
SAME(BPF_EEXIST, EEXIST);
SAME(BPF_EINVAL, EINVAL);

/* the head of a ring's record, which ring.c reads */
SAME(BPF_RINGBUF_HDR_SZ, 8);
