/*
 * syscall.c: probes at system calls (Dynamic Tracing Guide, "syscall Provider").
 *
 *	syscall:vmlinux:NAME:entry     the call begins: arg0 .. arg5 are its arguments
 *	syscall:vmlinux:NAME:return    it ends: arg0 and arg1 are what it returns, errno why it failed
 *
 * All probes of a name share one program at the kernel's raw tracepoint sys_enter or sys_exit, which finds its probe by
 * the call's number (bpf/cg_call.c), so that ten probes cost no more to arm than one.  A program of 32 bits has numbers
 * of its own; its calls fire the probe of the same name.  The kernel may lack a call that is listed: the number is
 * reserved all the same, and a program that tries it fires the probe.
 */
#include <string.h>

#include "provider/provider_int.h"

#define MODULE "vmlinux"

/* Each type as each argument: clauses of several probes may share what is the same. */
static const struct d_args syscall_values[][SYSCALL_ARGS] = {
#define VALUE(type, n)                  \
	{                               \
		.value = type, .arg = n \
	}
#define SYSCALL(name, x86_64, i386, arm64, args)
#define SYSCALL_TYPE(letter, type) \
	{ VALUE(type, 0), VALUE(type, 1), VALUE(type, 2), VALUE(type, 3), VALUE(type, 4), VALUE(type, 5) },
#include "facts/syscall.def"
#undef SYSCALL
#undef SYSCALL_TYPE
#undef VALUE
};

/* A result is there twice, as arg0 and as arg1. */
static const struct d_args *syscall_args(const struct probe *p, uint32_t index)
{
	const char *args = p->arm == ARM_RETURN ? "ll" : p->call->args;
	int type = index < strlen(args) ? syscall_type(args[index]) : -1;

	return type < 0 ? NULL : &syscall_values[type][index];
}

static const char *const syscall_names[] = { "entry", "return", NULL };

/* How programs of this machine call its kernel; NULL: not known, or the kernel's own types are not. */
static const struct bpf_calls *syscall_calls(void)
{
	const struct bpf_arch *a = k_arch();

	return a && k_tells_types() ? a->calls : NULL;
}

static int syscall_offer(struct probes *t, struct err *e)
{
	const struct bpf_calls *calls = syscall_calls();
	const struct syscall_row *r;

	for (uint32_t i = 0; calls && (r = syscall_at(i)) != NULL; i++)
		for (uint32_t k = 0; k < 2; k++) {
			struct probe *p;

			if (r->number[calls->abi] == SYSCALL_NONE &&
			    (!calls->has_compat || r->number[calls->compat_abi] == SYSCALL_NONE))
				continue;
			p = probes_add_at(t, &prov_syscall, MODULE, r->name, syscall_names[k]);
			if (!p)
				return err_oom(e);
			p->arm = k ? ARM_RETURN : ARM_ENTRY;
			p->call = r;
			p->by_name = r->number[calls->abi] == SYSCALL_NONE;
			p->source = k ? "raw tracepoint sys_exit" : "raw tracepoint sys_enter";
		}
	return 0;
}

static int syscall_no_call(const char *name, struct err *why)
{
	const char *names[SYSCALL_NUMBERS];
	const struct syscall_row *r;
	struct err_tail near;
	uint32_t n = 0;

	for (; n < COUNT(names) && (r = syscall_at(n)) != NULL; n++)
		names[n] = r->name;
	near = err_near("", name, TEXT_NAMES(names, n));
	return err_set(why, TALLY_ENOPROBE, "syscall: no system call \"%s\"%s", name,
		       *near.text ? near.text : "; tally trace -l -P syscall lists them");
}

static int syscall_why_none(const struct probes *t, const struct d_probedesc *d, struct err *why)
{
	const struct prov_opts *o = &t->opts;
	struct err_tail near;

	if (o->records || o->transport || o->vm)
		return err_set(why, TALLY_ENOPROBE,
			       "syscall: its probes fire for system calls of this machine: only without --on");
	if (!k_tells_types())
		return err_set(why, TALLY_ENOTSUP,
			       "syscall: this kernel has no type information (CONFIG_DEBUG_INFO_BTF)");
	if (!syscall_calls())
		return err_set(why, TALLY_ENOTSUP,
			       "syscall: the system call convention of this architecture is unknown");
	if (!text_glob(d->name, syscall_names[0]) && !text_glob(d->name, syscall_names[1])) {
		near = err_near("", d->name, TEXT_NAMES(syscall_names, 2));
		return err_set(why, TALLY_ENOPROBE, "syscall: no probe \"%s\"%s", d->name,
			       *near.text ? near.text : ": expected entry or return");
	}
	if (!text_glob(d->mod, MODULE))
		return err_set(why, TALLY_ENOPROBE, "syscall: the module of all its probes is " MODULE ", not \"%s\"",
			       d->mod);
	return *d->func && !d->func[strcspn(d->func, "*?[\\")] ? syscall_no_call(d->func, why) : 0;
}

const struct provider prov_syscall = {
	.name = "syscall",
	.help = "system calls: entry with the arguments, return with the result",
	.is_long = true,
	.has_places = true,
	.each_name = syscall_names,
	.provider = { STAB_EVOLVING, STAB_EVOLVING, DEP_COMMON },
	.module = { STAB_PRIVATE, STAB_PRIVATE, DEP_UNKNOWN },
	.function = { STAB_PRIVATE, STAB_PRIVATE, DEP_UNKNOWN },
	.names = { STAB_EVOLVING, STAB_EVOLVING, DEP_COMMON },
	.args = { STAB_EVOLVING, STAB_EVOLVING, DEP_ISA },
	.offer = syscall_offer,
	.why_none = syscall_why_none,
	.args_of = syscall_args,
};
