/* vm_test_int.h: a vm with a few maps, and programs that are run in it, for tests. */
#ifndef TALLY_BPF_VM_TEST_INT_H
#define TALLY_BPF_VM_TEST_INT_H

#include "bpf/insn.h"

#include <setjmp.h>
#include <string.h>
#include <cmocka.h>

enum { CTL, GLOBALS, PERCPU, RINGS, HASH, AGG, STACKS, NMAPS };

static const struct img_map test_maps[NMAPS] = {
	[CTL] = { IMG_ARRAY, IMG_CTL, 0, "ctl", 4, sizeof(struct img_ctl), 1, NULL },
	[GLOBALS] = { IMG_ARRAY, IMG_GLOBALS, 0, "globals", 4, 64, 1, NULL },
	[PERCPU] = { IMG_PERCPU_ARRAY, IMG_SCRATCH, 0, "scratch", 4, 32, 2, NULL },
	[RINGS] = { IMG_RINGS, IMG_RING, 0, "rings", 4, 4, 256, NULL },
	[HASH] = { IMG_HASH, IMG_VAR, 0, "var0", 8, 12, 3, NULL },
	[AGG] = { IMG_PERCPU_HASH, IMG_AGG, 0, "agg0", 16, 8, 4, NULL },
	[STACKS] = { IMG_STACK_TRACE, IMG_STACKS, 0, "stacks", 4, 32, 4, NULL },
};

static const uint8_t test_globals[8] = { 1, 2, 3, 4, 5, 6, 7, 8 };

/* One program over the maps above. */
struct fixture {
	struct bpf_image img;
	struct img_map maps[NMAPS];
	struct img_prog prog;
	uint32_t line[512];
	struct vm *vm;
	struct vm_cpu cpu;
	struct err e;
};

static inline int open_fixture(struct fixture *f, const struct bpf_ins *ins, uint32_t n)
{
	*f = (struct fixture){ .cpu = { .pid = 1 } };
	memcpy(f->maps, test_maps, sizeof(test_maps));
	for (uint32_t i = 0; i < n && i < COUNT(f->line); i++)
		f->line[i] = i / 2;
	f->prog = (struct img_prog){
		.cls = IMG_PERF, .name = "test", .nins = n, .line = f->line, .ins = (struct bpf_ins *)(uintptr_t)ins
	};
	f->img = (struct bpf_image){ .map = f->maps,
				     .nmaps = NMAPS,
				     .prog = &f->prog,
				     .nprogs = 1,
				     .globals_init = (void *)(uintptr_t)test_globals,
				     .globals_size = sizeof(test_globals) };
	return vm_open(&f->vm, &f->img, 2, &f->e);
}

static inline void start(struct fixture *f, const struct bpf_ins *ins, uint32_t n)
{
	assert_int_equal(open_fixture(f, ins, n), 0);
}

static inline int run(struct fixture *f)
{
	f->e = (struct err){ 0 };
	int rc = vm_run(f->vm, 0, &f->cpu, 100000, &f->e);
	vm_close(f->vm);
	return rc;
}

#define PROG(...) ((struct bpf_ins[]){ __VA_ARGS__ })

#define START(f, ...) start(f, PROG(__VA_ARGS__), COUNT(PROG(__VA_ARGS__)))

/* Runs a program over fresh maps: R0, or the error after saying its words. */
static inline int run_prog(const struct bpf_ins *ins, uint32_t n)
{
	struct fixture f;
	start(&f, ins, n);
	int rc = run(&f);
	if (rc < 0)
		print_message("%s\n", f.e.text);
	return rc;
}

#define RUN(...) run_prog(PROG(__VA_ARGS__), COUNT(PROG(__VA_ARGS__)))

#define LD64(r, v) I_LD64_LO(r, v), I_LD64_HI(v)

#endif
