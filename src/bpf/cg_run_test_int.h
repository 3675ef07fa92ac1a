/* cg_run_test_int.h: D source that is compiled, generated and run in the vm, for tests. */
#ifndef TALLY_BPF_CG_RUN_TEST_INT_H
#define TALLY_BPF_CG_RUN_TEST_INT_H

#include "bpf/cg_test_int.h"

enum { ID_BEGIN = 1, ID_END, ID_ERROR, ID_EVENT, ID_RECORD, NCPUS = 2 };

static const struct bpf_probe run_probes[] = {
	{ .id = ID_BEGIN, .cls = IMG_TEST, .prov = "dtrace", .mod = "", .func = "", .name = "BEGIN" },
	{ .id = ID_END, .cls = IMG_TEST, .prov = "dtrace", .mod = "", .func = "", .name = "END" },
	{ .id = ID_ERROR, .cls = IMG_TEST, .prov = "dtrace", .mod = "", .func = "", .name = "ERROR" },
	{ .id = ID_EVENT, .cls = IMG_PERF, .prov = "cpc", .mod = "", .func = "", .name = "event", .has_pc = true },
	{ .id = ID_RECORD, .cls = IMG_RECORD, .prov = "rec", .mod = "", .func = "", .name = "record", .more_args = 1 },
};

struct run {
	struct made made;
	struct vm *vm;
};
typedef const struct d_args *run_args_fn(void *arg, uint32_t probe, uint32_t index);

static inline const char *run_macro(void *arg, const char *name)
{
	(void)arg;
	return !strcmp(name, "1") ? "42" : NULL;
}

static inline int run_option(void *arg, const char *name, const char *value, struct err *e)
{
	(void)arg, (void)name, (void)value, (void)e;
	return 0;
}

static const struct bpf_opts run_opts = { .arch = &bpf_arch_vm,
					  .probe = run_probes,
					  .nprobes = COUNT(run_probes),
					  .error_probe = ID_ERROR,
					  .ring_bytes = 65536,
					  .control_bytes = 65536,
					  .agg_entries = 1000,
					  .dynvar_bytes = 65536,
					  .stack_entries = 64,
					  .ustackframes = 20,
					  .stackframes = 20,
					  .generations = true,
					  .errtags = true };

/* args: d_env.args, or NULL. After an error too, run_close() releases what there is. */
static inline int run_open_with(struct run *r, const char *src, struct bpf_opts o, run_args_fn *args, struct err *e)
{
	const struct d_env env = { .probes = made_probes,
				   .arg = &o,
				   .args = args,
				   .macro = run_macro,
				   .option = run_option,
				   .strsize = 256,
				   .stackframes = 20,
				   .ustackframes = 20 };
	int rc;

	r->vm = NULL;
	rc = made_generate(&r->made, src, &env, &o, e);
	return rc < 0 ? rc : vm_open(&r->vm, r->made.img, NCPUS, e);
}

static inline int run_open(struct run *r, const char *src, run_args_fn *args, struct err *e)
{
	return run_open_with(r, src, run_opts, args, e);
}

static inline void run_close(struct run *r)
{
	vm_close(r->vm);
	made_close(&r->made);
}

static inline void run_must_open(struct run *r, const char *src)
{
	struct err e = { 0 };

	if (run_open(r, src, NULL, &e) < 0)
		fail_msg("%s: %s", src, e.text);
}

/* The user address 0x1000 holds a string, 0x2000 the number 77; nothing else can be read. */
static inline int run_read_memory(void *arg, uint64_t addr, void *to, size_t n, bool user)
{
	static const char text[512] = "from memory";
	const uint64_t number = 77;

	(void)arg;
	(void)user;
	if (addr >= 0x1000 && addr + n <= 0x1000 + sizeof(text))
		memcpy(to, text + (addr - 0x1000), n);
	else if (addr >= 0x2000 && addr + n <= 0x2008)
		memcpy(to, (const char *)&number + (addr - 0x2000), n);
	else
		return -1;
	return 0;
}

static const uint64_t ustack[] = { 0x400100, 0x400200 }, kstack[] = { ~0xffull, ~0xfull };
static const struct vm_cpu cpu0 = { .cpu = 0,
				    .pid = 100,
				    .tid = 101,
				    .uid = 7,
				    .gid = 8,
				    .comm = "brendan",
				    .mono_ns = 5000,
				    .pc = 0x400100,
				    .user = true,
				    .ustack = ustack,
				    .nustack = 2,
				    .kstack = kstack,
				    .nkstack = 2,
				    .read = run_read_memory };

static inline void run_fire(struct run *r, uint32_t id, const struct vm_cpu *cpu)
{
	struct err e = { 0 };

	for (uint32_t i = 0; i < r->made.img->nprogs; i++)
		if (r->made.img->prog[i].probe == id && vm_run(r->vm, i, cpu, 1000000, &e) < 0)
			fail_msg("vm: %s", e.text);
}

static inline const char *run_record(struct run *r, uint32_t ring, uint32_t *size)
{
	const void *rec = NULL;

	*size = vm_ring_next(r->vm, ring, &rec);
	return rec;
}

#endif
