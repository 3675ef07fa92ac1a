/*
 * function.c: which functions the kernel has, and how their beginnings and ends are probed.
 *
 * The kernel's types have a prototype for each function.  Where the kernel can patch a function's first instruction
 * into a call of a program, fentry and fexit programs get its arguments and its result; else a kprobe, a breakpoint or
 * a call of the function tracer, gives them the registers.  Neither is there in every kernel, and none says so before
 * it is tried: so a trial is made of a function that is there for such tests and does nothing.
 *
 * What a program needs while it runs can't be probed: the probe would fire within itself.  The kernel refuses much of
 * that, and leaves out firings of a program within itself; but other programs' work must not be lost to those either,
 * so such functions are no probes.
 */
#include <bpf/btf.h>
#include <errno.h>
#include <linux/perf_event.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "bpf/insn.h"
#include "kernel/kernel_int.h"
#include "kernel/libbpf_int.h"

#define KPROBE_PMU "/sys/bus/event_source/devices/kprobe/"
#define TRIAL "bpf_fentry_test1"

/* ---- which there are -------------------------------------------------------------- */

bool k_function_is_unsafe(const char *name)
{
	static const char *const patterns[] = {
		"bpf_*",
		"__bpf_*",
		"*_bpf_*",
		"btf_*",
		"htab_*",
		"__htab_*",
		"array_map_*",
		"ringbuf_*",
		"__ringbuf_*",
		"stack_map_*",
		"*freelist*",
		"lookup_*nulls*",
		"*nofault*",
		"ftrace_*",
		"*_ftrace_*",
		"kprobe_*",
		"*kretprobe*",
		"fprobe_*",
		"rethook_*",
		"rcu_*",
		"__rcu_*",
		"migrate_*able",
		"preempt_*",
		"__preempt_*",
		"*unwind_*",
		"perf_*",
		"*perf_callchain*",
		"irq_work_*",
		"exc_*",
		"text_poke*",
		"trace_*",
		"__trace_*",
		"trampoline_*",
		"lockdep_*",
		"stack_trace*",
		"arch_stack_walk*",
		"ktime_get_mono_fast_ns",
	};

	for (size_t i = 0; i < COUNT(patterns) && strcmp(name, TRIAL); i++)
		if (text_glob(patterns[i], name))
			return true;
	return false;
}

/* Whether a value of that type is one word. */
static bool function_is_word(const struct k_btf *btf, uint32_t id)
{
	const struct btf_type *t = k_btf_type(btf, id);

	while (t && (btf_is_mod(t) || btf_is_typedef(t) || btf_kind(t) == BTF_KIND_TYPE_TAG))
		t = k_btf_type(btf, t->type);
	return t && !btf_is_composite(t) && (btf_is_ptr(t) || t->size <= 8);
}

/* False: an argument is passed in another way than in one word. */
static bool function_describe(const struct k_btf *btf, const struct btf_type *proto, struct k_function *f)
{
	const uint32_t n = btf_vlen(proto);
	const struct btf_param *p = btf_params(proto);

	f->nargs = n && !p[n - 1].type ? n - 1 : n; /* the last one of an argument list without end has no type */
	for (uint32_t i = 0; i < f->nargs; i++)
		if (!function_is_word(btf, p[i].type))
			return false;
	f->has_result = proto->type && function_is_word(btf, proto->type);
	return true;
}

struct function_walk {
	struct k_types *t;
	const char *name; /* a glob */
	int (*each)(void *arg, const struct k_function *f);
	void *arg;
};

static int functions_of(void *arg, uint32_t i, const char *module)
{
	const struct function_walk *w = arg;
	const struct k_btf *btf = k_types_btf(w->t, i);
	const struct btf_type *type;
	int rc = 0;

	for (uint32_t k = 0; btf && rc >= 0 && (type = k_btf_type(btf, btf->first + k)); k++) {
		const struct btf_type *proto;
		const char *name;
		struct k_function f;

		if (!btf_is_func(type))
			continue;
		name = k_btf_text(btf, type->name_off);
		proto = k_btf_type(btf, type->type);
		if (!text_glob(w->name, name) || !proto || !btf_is_func_proto(proto) || k_function_is_unsafe(name))
			continue;
		f = (struct k_function){ .module = module, .name = name, .type = k_types_number(w->t, i, type->type) };
		if (function_describe(btf, proto, &f))
			rc = w->each(w->arg, &f);
	}
	return rc;
}

int k_functions(struct k_types *t, const char *module, const char *name,
		int (*each)(void *arg, const struct k_function *f), void *arg)
{
	struct function_walk w = { t, name, each, arg };

	return k_types_modules(t, module, functions_of, &w);
}

bool k_function_find(struct k_types *t, const char *module, const char *name, struct k_function *ret)
{
	const int i = k_types_of_module(t, module);
	const struct k_btf *btf = i < 0 ? NULL : k_types_btf(t, (uint32_t)i);
	const uint32_t id = btf ? k_btf_find_kind(btf, name, BTF_KIND_FUNC) : 0;
	const struct btf_type *func = id ? k_btf_type(btf, id) : NULL,
			      *proto = func ? k_btf_type(btf, func->type) : NULL;

	if (!proto || !btf_is_func_proto(proto))
		return false;
	*ret = (struct k_function){ .module = i ? k_types_module_name(t, (uint32_t)i) : "vmlinux",
				    .name = k_btf_text(btf, func->name_off),
				    .type = k_types_number(t, (uint32_t)i, func->type) };
	return function_describe(btf, proto, ret);
}

static const struct btf_type *function_prototype(const struct k_btf *btf, uint64_t type)
{
	const struct btf_type *proto = btf ? k_btf_type(btf, (uint32_t)type) : NULL;

	return proto && btf_is_func_proto(proto) ? proto : NULL;
}

uint64_t k_function_arg(const struct k_types *t, const struct k_function *f, uint32_t i)
{
	const struct btf_type *proto = function_prototype(k_types_btf(t, (uint32_t)(f->type >> 32)), f->type);

	return proto && i < f->nargs ? k_types_number(t, (uint32_t)(f->type >> 32), btf_params(proto)[i].type) : 0;
}

uint64_t k_function_result(const struct k_types *t, const struct k_function *f)
{
	const struct btf_type *proto = function_prototype(k_types_btf(t, (uint32_t)(f->type >> 32)), f->type);

	return proto && f->has_result ? k_types_number(t, (uint32_t)(f->type >> 32), proto->type) : 0;
}

/* ---- attaching ---------------------------------------------------------------------- */

bool function_is_refused(int no)
{
	return no != EPERM && no != EMFILE && no != ENFILE && no != ENOMEM && no != EAGAIN;
}

int function_module_types(const char *module)
{
	uint32_t id = 0;

	while (bpf_btf_get_next_id(id, &id) == 0) {
		char name[64] = "";
		struct bpf_btf_info info = { .name = (uint64_t)(uintptr_t)name, .name_len = sizeof(name) };
		uint32_t size = sizeof(info);
		int fd = bpf_btf_get_fd_by_id(id);

		if (fd < 0)
			continue;
		if (bpf_obj_get_info_by_fd(fd, &info, &size) == 0 && info.kernel_btf && !strcmp(name, module))
			return fd;
		close(fd);
	}
	return -1;
}

/* The first number of a file of the PMU that has one: "6", "config:0". */
static long kprobe_number(const char *file)
{
	char text[32], *digits;

	if (file_small(file, text, sizeof(text)) < 0)
		return -1;
	digits = text + strcspn(text, "0123456789");
	return *digits ? strtol(digits, NULL, 10) : -1;
}

int function_kprobe(const char *module, const char *function, bool at_return)
{
	const long type = kprobe_number(KPROBE_PMU "type"), bit = kprobe_number(KPROBE_PMU "format/retprobe");
	struct perf_event_attr a = { .size = sizeof(a), .sample_period = 1, .wakeup_events = 1 };
	char name[256];

	if (type < 0 || bit < 0 || bit > 63)
		return -EOPNOTSUPP;
	snprintf(name, sizeof(name), "%s%s%s", module ? module : "", module ? ":" : "", function);
	a.type = (uint32_t)type;
	a.config = at_return ? UINT64_C(1) << bit : 0;
	a.kprobe_func = (uint64_t)(uintptr_t)name;
	return event_syscall(&a, 0, -1, 0);
}

/* ---- the trial ------------------------------------------------------------------------ */

/* 0, or errno. */
static int trial_fentry(uint32_t id)
{
	const struct bpf_ins ins[] = { I_MOV_IMM(R0, 0), I_EXIT() };
	LIBBPF_OPTS(bpf_prog_load_opts, o, .attempts = 1, .expected_attach_type = BPF_TRACE_FENTRY,
		    .attach_btf_id = id);
	int prog = bpf_prog_load(BPF_PROG_TYPE_TRACING, "trial", "GPL", (const struct bpf_insn *)(const void *)ins,
				 COUNT(ins), &o);
	int link = prog < 0 ? -1 : bpf_raw_tracepoint_open(NULL, prog), no = link < 0 ? errno : 0;

	if (link >= 0)
		close(link);
	if (prog >= 0)
		close(prog);
	return no;
}

int k_functions_trial(struct k_types *t, enum k_functions wanted, struct err *why)
{
	const int i = k_types_of_module(t, NULL);
	const uint32_t id = i < 0 ? 0 : k_btf_find_kind(k_types_btf(t, 0), TRIAL, BTF_KIND_FUNC);
	int no = id ? 0 : ENOENT, kprobe;

	if (i < 0)
		return err_set(why, TALLY_ENOTSUP, "this kernel has no type information (CONFIG_DEBUG_INFO_BTF)");
	if (wanted != K_FUNCTIONS_KPROBE && id && (no = trial_fentry(id)) == 0)
		return K_FUNCTIONS_FENTRY;
	kprobe = wanted == K_FUNCTIONS_FENTRY ? -EOPNOTSUPP : function_kprobe(NULL, TRIAL, false);
	if (kprobe >= 0) {
		close(kprobe);
		return K_FUNCTIONS_KPROBE;
	}
	if ((no == EPERM || kprobe == -EPERM || kprobe == -EACCES) && k_may_run(true, why) < 0)
		return -why->code;
	if (wanted == K_FUNCTIONS_FENTRY)
		return err_set(why, TALLY_ENOTSUP,
			       "fentry requires CONFIG_FUNCTION_TRACER and "
			       "CONFIG_DYNAMIC_FTRACE_WITH_DIRECT_CALLS: this kernel refuses it (%s)",
			       strerror(no));
	if (wanted == K_FUNCTIONS_KPROBE)
		return err_set(why, TALLY_ENOTSUP,
			       "kprobes require CONFIG_KPROBE_EVENTS: this kernel refuses them (%s)",
			       strerror(-kprobe));
	return err_set(why, TALLY_ENOTSUP,
		       "probes at functions of the kernel require fentry (CONFIG_FUNCTION_TRACER) or kprobes "
		       "(CONFIG_KPROBE_EVENTS): this kernel refuses fentry (%s) and kprobes (%s)",
		       strerror(no), strerror(-kprobe));
}
