/*
 * cg_fuzz.c: D source through the compiler and the code generator, for the vm, which runs what comes out, and for a
 * kernel.
 *
 * What needs types of a kernel (fake_kernel.h) is generated for one and run nowhere.  The libraries that tally brings
 * are there.
 */
#include <string.h>

#include "bpf/bpf.h"
#include "dlang/fake_kernel.h"
#include "dlang/shipped.h"

static const struct bpf_probe table[] = {
	{ .id = 1, .cls = IMG_TEST, .prov = "dtrace", .mod = "", .func = "", .name = "BEGIN" },
	{ .id = 2, .cls = IMG_TEST, .prov = "dtrace", .mod = "", .func = "", .name = "ERROR" },
	{ .id = 3, .cls = IMG_PERF, .prov = "cpc", .mod = "", .func = "", .name = "event", .has_pc = true },
};

static int probes(void *arg, const struct d_probedesc *d, int (*add)(void *, uint32_t), void *add_arg, struct err *e)
{
	(void)arg, (void)e;
	return add(add_arg, !strcmp(d->name, "ERROR") ? 2 : !strcmp(d->name, "event") ? 3 : 1) < 0 ? -TALLY_ENOMEM : 1;
}

static bool fuzz_library(void *arg, uint32_t i, struct d_library *ret)
{
	(void)arg;
	return shipped_library(i, ret);
}

static void run_in_vm(const struct bpf_image *img)
{
	const struct vm_cpu cpu = { .comm = "fuzz" };
	struct err e = { 0 };
	struct vm *vm = NULL;

	if (vm_open(&vm, img, 1, &e) >= 0)
		for (uint32_t i = 0; i < img->nprogs; i++)
			if (vm_run(vm, i, &cpu, 1000000, &e) == -TALLY_ECORRUPT && !strstr(e.text, "instructions"))
				__builtin_trap(); /* what we generate stays in bounds */
	vm_close(vm);
}

/* `ktypes` NULL: there is no kernel. */
static void compile_for(const uint8_t *data, size_t n, const struct bpf_arch *arch, const struct d_ktypes *ktypes)
{
	const struct d_env env = { .probes = probes,
				   .dlibrary = fuzz_library,
				   .ktypes = ktypes,
				   .no_process = arch == &bpf_arch_vm,
				   .strsize = 64,
				   .scratchsize = 256,
				   .stackframes = 5,
				   .ustackframes = 5 };
	const struct bpf_opts o = { .arch = arch,
				    .probe = table,
				    .nprobes = COUNT(table),
				    .error_probe = 2,
				    .ring_bytes = 4096,
				    .control_bytes = 4096,
				    .agg_entries = 64,
				    .dynvar_bytes = 4096,
				    .stack_entries = 16,
				    .nspec = 2,
				    .ustackframes = 5,
				    .stackframes = 5 };
	const struct d_program *p;
	struct bpf_image *img = NULL;
	struct d_unit *u = NULL;
	struct err e = { 0 }, why = { 0 };

	if (d_open(&u, &env) == 0 && d_source(u, NULL, (const char *)data, n, &e) >= 0 &&
	    d_compile(u, &p, &e, &why) >= 0 && bpf_generate(p, &o, &img, &e) >= 0 && arch == &bpf_arch_vm)
		run_in_vm(img);
	bpf_image_free(img);
	d_close(u);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n);
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n)
{
	compile_for(data, n, &bpf_arch_vm, NULL);
	compile_for(data, n, &bpf_arch_x86_64, &fake_kernel);
	return 0;
}
