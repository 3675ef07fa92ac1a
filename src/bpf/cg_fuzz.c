/* Fuzz target: D source through the compiler, the code generator and the vm. */
#include <string.h>

#include "bpf/bpf.h"

static int probes(void *arg, const struct d_probedesc *d, int (*add)(void *, uint32_t), void *add_arg, struct err *e)
{
	(void)arg, (void)e;
	return add(add_arg, !strcmp(d->name, "ERROR") ? 2 : 1) < 0 ? -TALLY_ENOMEM : 1;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n);
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n)
{
	static const struct bpf_probe table[] = { { 1, IMG_TEST, "dtrace", "", "", "BEGIN", false, 0, NULL },
						  { 2, IMG_TEST, "dtrace", "", "", "ERROR", false, 0, NULL } };
	const struct d_env env = { .probes = probes, .strsize = 64, .stackframes = 5, .ustackframes = 5 };
	const struct bpf_opts o = { .arch = &bpf_arch_vm,
				    .probe = table,
				    .nprobes = 2,
				    .error_probe = 2,
				    .ring_bytes = 4096,
				    .control_bytes = 4096,
				    .agg_entries = 64,
				    .dynvar_bytes = 4096,
				    .stack_entries = 16,
				    .ustackframes = 5,
				    .stackframes = 5 };
	const struct vm_cpu cpu = { .comm = "fuzz" };
	const struct d_program *p;
	struct bpf_image *img = NULL;
	struct d_unit *u = NULL;
	struct vm *vm = NULL;
	struct err e = { 0 }, why = { 0 };

	if (d_open(&u, &env) == 0 && d_source(u, NULL, (const char *)data, n, &e) >= 0 &&
	    d_compile(u, &p, &e, &why) >= 0 && bpf_generate(p, &o, &img, &e) >= 0 && vm_open(&vm, img, 1, &e) >= 0)
		for (uint32_t i = 0; i < img->nprogs; i++)
			if (vm_run(vm, i, &cpu, 1000000, &e) == -TALLY_ECORRUPT && !strstr(e.text, "instructions"))
				__builtin_trap(); /* what we generate stays in bounds */
	vm_close(vm);
	bpf_image_free(img);
	d_close(u);
	return 0;
}
