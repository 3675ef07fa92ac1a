/*
 * vm_fuzz.c: any instructions, run in the vm, stay in their memory and end.
 *
 * Input bytes are instructions; to get past the first of them, registers are
 * brought into range, and helpers and maps to those that exist.  For libFuzzer
 * or any driver that calls LLVMFuzzerTestOneInput.
 */
#include "bpf/insn.h"

#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static struct bpf_ins plausible(struct bpf_ins in)
{
	static const int32_t helpers[] = {
#define X(name, number) number,
		INS_HELPERS(X)
#undef X
	};
	in.dst %= 11;
	in.src %= 11;
	in.off %= 64;
	if (in.code == (INS_JMP | OP_CALL) && (in.src &= 1) == INS_CALL_HELPER)
		in.imm = helpers[(uint32_t)in.imm % COUNT(helpers)];
	if (in.code == INS_LD_IMM64 && (in.src %= 5) != INS_SRC_NONE)
		in.imm = in.imm & 7;
	return in;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static const struct img_map maps[] = {
		{ IMG_ARRAY, IMG_GLOBALS, 0, "globals", 4, 64, 1, NULL },
		{ IMG_PERCPU_ARRAY, IMG_SCRATCH, 0, "scratch", 4, 256, 2, NULL },
		{ IMG_RINGS, IMG_RING, 0, "rings", 4, 4, 256, NULL },
		{ IMG_HASH, IMG_VAR, 0, "var0", 8, 12, 3, NULL },
		{ IMG_PERCPU_HASH, IMG_AGG, 0, "agg0", 16, 8, 4, NULL },
		{ IMG_STACK_TRACE, IMG_STACKS, 0, "stacks", 4, 32, 4, NULL },
	};
	static const uint64_t frames[] = { 1, 2, 3 };
	struct bpf_ins ins[256];
	struct img_prog prog = { .cls = IMG_PERF, .name = "fuzz", .ins = ins };
	struct bpf_image img = {
		.map = (struct img_map *)(uintptr_t)maps, .nmaps = COUNT(maps), .prog = &prog, .nprogs = 1
	};
	struct vm_cpu cpu = { .comm = "fuzz", .kstack = frames, .nkstack = COUNT(frames) };
	struct vm *vm;
	struct err e = { 0 };
	for (; prog.nins < COUNT(ins) && size >= sizeof(ins[0]); prog.nins++) {
		memcpy(&ins[prog.nins], data, sizeof(ins[0]));
		ins[prog.nins] = plausible(ins[prog.nins]);
		data += sizeof(ins[0]);
		size -= sizeof(ins[0]);
	}
	if (vm_open(&vm, &img, 2, &e) < 0)
		return 0;
	for (int i = 0; i < 2; i++)
		vm_run(vm, 0, &cpu, 10000, &e);
	vm_close(vm);
	return 0;
}
