/*
 * tracepoint.c: what the providers of the kernel's tracepoints share.
 *
 * The kernel's types tell which tracepoints there are and what each hands over (kernel/tracepoint.c).  There are some
 * 1,600, so a probe's arguments are looked at when somebody asks for one.  Two probes whose argument of a number is of
 * one type have one description of it, so that a clause of both may use it.
 */
#include <string.h>

#include "provider/provider_int.h"

struct point_data {
	struct probes *probes;
	struct k_tracepoint at;
	const struct d_args **args; /* nargs, NULL until asked for; NULL: none of them */
};
struct point_walk {
	struct probes *t;
	const struct provider *prov;
};

static int point_make(void *arg, const struct k_tracepoint *at)
{
	const struct point_walk *w = arg;
	struct arena *a = &w->t->arena;
	struct probe *p = probes_add_at(w->t, w->prov, at->module, "", at->name);
	struct point_data *data;
	struct bpf_point *point;

	if (p && p->point)
		return 0;
	data = arena_alloc(a, sizeof(*data));
	point = arena_alloc(a, sizeof(*point));
	if (!p || !data || !point)
		return -TALLY_ENOMEM;
	*data = (struct point_data){ .probes = w->t, .at = *at };
	*point = (struct bpf_point){ .name = at->name, .nargs = (uint8_t)at->nargs };
	p->arm = ARM_POINT;
	p->point = point;
	p->npoints = 1;
	p->data = data;
	p->source = "raw tracepoint of the kernel";
	return 0;
}

int point_offer_all(struct probes *t, const struct provider *prov, struct err *e)
{
	struct point_walk w = { t, prov };

	if (!t->types)
		return 0;
	return k_tracepoints(t->types, point_make, &w) == -TALLY_ENOMEM ? err_oom(e) : 0;
}

const struct d_args *point_describe(struct probes *t, uint64_t type, uint32_t index)
{
	const struct {
		uint64_t type, index;
	} key = { type, index };
	void **at = map_at(&t->args, &key, sizeof(key));
	struct arena *a = &t->arena;
	struct d_args *args = at && !*at ? arena_alloc(a, sizeof(*args)) : NULL;
	struct buf text = { 0 };

	if (!args)
		return at ? *at : NULL;
	k_type_text(t->types, type, &text);
	*args = (struct d_args){ .value = arena_strndup(a, text.p, text.n), .ktype = type, .arg = index };
	buf_free(&text);
	return *at = args;
}

const struct d_args *point_args(const struct probe *p, uint32_t index)
{
	struct point_data *data = (struct point_data *)(uintptr_t)p->data; /* we made it */

	if (index >= data->at.nargs)
		return NULL;
	if (!data->args)
		data->args = arena_alloc(&data->probes->arena, data->at.nargs * sizeof(*data->args));
	if (data->args && !data->args[index])
		data->args[index] =
			point_describe(data->probes, k_tracepoint_arg(data->probes->types, &data->at, index), index);
	return data->args ? data->args[index] : NULL;
}

int point_not_here(const struct provider *prov, const struct probes *t, struct err *why)
{
	if (!t->types)
		return err_set(why, TALLY_ENOPROBE,
			       "%s: its probes fire in the kernel of this machine: only without --on", prov->name);
	return k_tells_types() ? 0 :
				 err_set(why, TALLY_ENOTSUP,
					 "%s: this kernel has no type information (CONFIG_DEBUG_INFO_BTF)", prov->name);
}

int point_why_none(const struct provider *prov, const struct probes *t, const struct d_probedesc *d, struct err *why)
{
	const char **names;
	uint32_t n = 0, of = probes_count(t);
	struct err_tail near;
	int rc = point_not_here(prov, t, why);

	if (rc < 0 || d->name[strcspn(d->name, "*?[\\")])
		return rc;
	names = mem_alloc(of * sizeof(*names));
	if (!names)
		return err_oom(why);
	for (uint32_t id = 1; id <= of; id++)
		if (probes_get(t, id)->prov == prov)
			names[n++] = probes_get(t, id)->name;
	near = err_near("", d->name, TEXT_NAMES(names, n));
	mem_free(names);
	return err_set(why, TALLY_ENOPROBE, "%s: this kernel has no tracepoint \"%s\"%s", prov->name, d->name,
		       *near.text ? near.text : "; tally trace -l -P lists them");
}

/* ---- probes that are made of tracepoints ------------------------------------------------------------ */

static int point_note(void *arg, const struct k_tracepoint *at)
{
	struct probes *t = arg;
	void **slot = map_at(&t->tracepoints, at->name, strlen(at->name));

	if (!slot)
		return -TALLY_ENOMEM;
	*slot = (void *)(uintptr_t)(at->nargs + 1);
	return 0;
}

static bool row_is_here(struct probes *t, const struct point_row *r)
{
	for (uint32_t i = 0; i < COUNT(r->point) && r->point[i].name; i++) {
		const char *name = r->point[i].name;
		struct k_function f;

		if (r->point[i].at != POINT_TRACEPOINT) {
			if (probes_functions(t, NULL) < 0 || !k_function_find(t->types, r->point[i].module, name, &f) ||
			    f.nargs < r->point[i].nargs ||
			    (r->point[i].at == POINT_RETURN && r->point[i].nargs &&
			     probes_functions(t, NULL) != K_FUNCTIONS_FENTRY))
				return false; /* arguments are there at a return by fexit alone */
			continue;
		}
		if ((uintptr_t)map_get(&t->tracepoints, name, strlen(name)) < r->point[i].nargs + 1u)
			return false;
	}
	return r->point[0].name;
}

static uint32_t row_points(const struct point_row *r)
{
	uint32_t n = 1;

	while (n < COUNT(r->point) && r->point[n].name)
		n++;
	return n;
}

int point_offer_rows(struct probes *t, const struct provider *prov, struct err *e)
{
	const struct point_row *row = prov->row;
	int rc = 0;

	if (!t->types)
		return 0;
	if (!t->tracepoints.n)
		rc = k_tracepoints(t->types, point_note, t);
	if (rc == -TALLY_ENOMEM)
		return err_oom(e);
	for (uint32_t i = 0; i < prov->nrows; i++) {
		struct probe *p;

		if (!row_is_here(t, &row[i]))
			continue;
		p = probes_add_at(t, prov, "vmlinux", "", row[i].name);
		if (!p)
			return err_oom(e);
		if (p->point)
			continue; /* of two rows of a name the first that this kernel has */
		p->arm = ARM_POINT;
		p->point = row[i].point;
		p->npoints = row_points(&row[i]);
		p->data = &row[i];
		p->source = arena_text(&t->arena, "%s %s", row[i].point[0].at ? "function" : "raw tracepoint",
				       row[i].point[0].name);
	}
	return 0;
}

const struct d_args *point_row_args(const struct probe *p, uint32_t index)
{
	const struct point_row *r = p->data;

	return index < r->nargs ? &r->args[index] : NULL;
}

int point_row_why_none(const struct provider *prov, const struct probes *t, const struct d_probedesc *d,
		       struct err *why)
{
	const struct point_row *row = prov->row;
	const uint32_t n = prov->nrows;
	struct err_tail near;
	int rc = point_not_here(prov, t, why);

	if (rc < 0 || !*d->name || d->name[strcspn(d->name, "*?[\\")])
		return rc;
	for (uint32_t i = 0; i < n; i++)
		if (!strcmp(row[i].name, d->name))
			return row[i].lacks ?
				       err_set(why, TALLY_ENOTSUP, "%s: %s requires %s, which this kernel has not",
					       prov->name, d->name, row[i].lacks) :
				       err_set(why, TALLY_ENOTSUP,
					       "%s: %s requires the tracepoint %s, which this kernel has not",
					       prov->name, d->name, row[i].point[0].name);
	near = err_near("", d->name, (struct text_names){ &row[0].name, sizeof(*row), n });
	return err_set(why, TALLY_ENOPROBE, "%s: no probe \"%s\"%s", prov->name, d->name,
		       *near.text ? near.text : "; tally trace -l -P lists them");
}
