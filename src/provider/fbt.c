/*
 * fbt.c: function boundary tracing (Dynamic Tracing Guide, "fbt Provider"): functions of the kernel and its modules.
 *
 *	fbt:MODULE:FUNCTION:entry      the function is called: args[] are its arguments
 *	fbt:MODULE:FUNCTION:return     it returns: args[1] is what it returns
 *
 * The kernel's types tell which functions there are, and their arguments.  There are some 50,000, so probes are made of
 * those that a description names, when it names them.  A kernel may let nobody probe functions, which a trial tells
 * before any is offered (kernel/function.c).
 */
#include <string.h>

#include "provider/provider_int.h"

static const char *const fbt_names[] = { "entry", "return", NULL };

struct fbt_data {
	struct probes *probes;
	struct k_function f;
};
struct fbt_walk {
	struct probes *t;
	const struct d_probedesc *d;
	struct err *e;
};

static int fbt_make(const struct fbt_walk *w, const struct k_function *f, bool at_return)
{
	struct arena *a = &w->t->arena;
	struct probe *p = probes_add_at(w->t, &prov_fbt, f->module, f->name, fbt_names[at_return]);
	struct bpf_point *point = p ? (struct bpf_point *)(uintptr_t)p->point : NULL; /* we made it */
	struct fbt_data *data;

	if (!p)
		return -TALLY_ENOMEM;
	if (point) {
		point->by_pattern &= user_is_pattern(w->d->func);
		return 0;
	}
	data = arena_alloc(a, sizeof(*data));
	point = arena_alloc(a, sizeof(*point));
	if (!data || !point)
		return -TALLY_ENOMEM;
	*data = (struct fbt_data){ .probes = w->t, .f = *f };
	*point = (struct bpf_point){ .name = f->name,
				     .at = at_return ? POINT_RETURN : POINT_ENTRY,
				     .module = strcmp(f->module, "vmlinux") ? f->module : NULL,
				     .has_result = f->has_result,
				     .by_pattern = user_is_pattern(w->d->func),
				     .nargs = at_return ? 0 : (uint8_t)f->nargs };
	p->arm = ARM_POINT;
	p->point = point;
	p->npoints = 1;
	p->data = data;
	p->source = probes_functions(w->t, NULL) == K_FUNCTIONS_KPROBE ? at_return ? "kretprobe" : "kprobe" :
		    at_return                                          ? "fexit" :
									 "fentry";
	return 0;
}

static int fbt_make_both(void *arg, const struct k_function *f)
{
	const struct fbt_walk *w = arg;
	int rc = 0;

	for (int i = 0; i < 2 && rc >= 0; i++)
		if (text_glob(w->d->name, fbt_names[i]))
			rc = fbt_make(w, f, i);
	return rc;
}

static int fbt_offer_some(struct probes *t, const struct d_probedesc *d, struct err *e)
{
	struct fbt_walk w = { t, d, e };

	if (!t->types || probes_functions(t, NULL) < 0)
		return 0;
	return k_functions(t->types, d->mod, d->func, fbt_make_both, &w) == -TALLY_ENOMEM ? err_oom(e) : 0;
}

static const struct d_args *fbt_args(const struct probe *p, uint32_t index)
{
	static const struct d_args from = { .value = "int" };
	const struct fbt_data *data = p->data;
	const struct k_types *types = data->probes->types;
	uint64_t type;

	if (p->point->at == POINT_ENTRY)
		type = index < data->f.nargs ? k_function_arg(types, &data->f, index) : 0;
	else if (!index && data->f.has_result)
		return &from;
	else
		type = index == 1 ? k_function_result(types, &data->f) : 0;
	return type ? point_describe(data->probes, type, index) : NULL;
}

struct fbt_names {
	const char **name;
	uint32_t n, cap;
};

static int fbt_note_name(void *arg, const struct k_function *f)
{
	struct fbt_names *names = arg;
	const char **to = VEC_NEW(names->name, names->n, names->cap);

	if (to)
		*to = f->name;
	return to ? 0 : -TALLY_ENOMEM;
}

static int fbt_no_function(const struct probes *t, const struct d_probedesc *d, struct err *why)
{
	struct fbt_names names = { 0 };
	struct err_tail near;

	if (k_function_is_unsafe(d->func))
		return err_set(why, TALLY_ENOPROBE,
			       "fbt: %.100s can't be probed: programs of probes need it while they run", d->func);
	(void)k_functions(t->types, d->mod, "", fbt_note_name, &names);
	near = err_near("", d->func, TEXT_NAMES(names.name, names.n));
	mem_free(names.name);
	return err_set(why, TALLY_ENOPROBE, "fbt: no function \"%.100s\" in %.60s%s", d->func,
		       *d->mod ? d->mod : "the kernel",
		       *near.text ? near.text : "; the compiler may have put it into its callers (static, inline)");
}

static int fbt_why_none(const struct probes *t, const struct d_probedesc *d, struct err *why)
{
	struct err_tail near;
	int rc = point_not_here(&prov_fbt, t, why);

	if (rc < 0)
		return rc;
	if (t->functions_why.code)
		return err_set(why, t->functions_why.code, "fbt: %s", t->functions_why.text);
	if (!text_glob(d->name, fbt_names[0]) && !text_glob(d->name, fbt_names[1])) {
		near = err_near("", d->name, TEXT_NAMES(fbt_names, 2));
		return err_set(why, TALLY_ENOPROBE, "fbt: no probe \"%.100s\"%s", d->name,
			       *near.text ? near.text : ": expected entry or return");
	}
	return user_is_pattern(d->func) ? 0 : fbt_no_function(t, d, why);
}

const struct provider prov_fbt = {
	.name = "fbt",
	.help = "functions of the kernel: entry with the arguments, return with the result",
	.is_long = true,
	.has_places = true,
	.each_name = fbt_names,
	.provider = { STAB_EVOLVING, STAB_EVOLVING, DEP_ISA },
	.module = { STAB_PRIVATE, STAB_PRIVATE, DEP_UNKNOWN },
	.function = { STAB_PRIVATE, STAB_PRIVATE, DEP_UNKNOWN },
	.names = { STAB_EVOLVING, STAB_EVOLVING, DEP_ISA },
	.args = { STAB_PRIVATE, STAB_PRIVATE, DEP_UNKNOWN },
	.offer_some = fbt_offer_some,
	.why_none = fbt_why_none,
	.args_of = fbt_args,
};
