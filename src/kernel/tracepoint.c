/*
 * tracepoint.c: which tracepoints the kernel has, and what each hands over.
 *
 * tracefs, which lists them, is not mounted everywhere and needs a right of its own.  But for each tracepoint the
 * kernel's types have a typedef, btf_trace_NAME: a pointer to a function whose first parameter is the kernel's own and
 * whose others are the tracepoint's arguments.  A module's are among the types of the module.
 */
#include <bpf/btf.h>
#include <string.h>

#include "kernel/btf_int.h"

#define BEGINS "btf_trace_"

/* The prototype behind the typedef; NULL: the type is no tracepoint's. */
static const struct btf_type *tracepoint_prototype(const struct k_btf *btf, const struct btf_type *t)
{
	if (!t || !btf_is_typedef(t) || strncmp(k_btf_text(btf, t->name_off), BEGINS, strlen(BEGINS)) != 0)
		return NULL;
	t = k_btf_type(btf, t->type);
	t = t && btf_is_ptr(t) ? k_btf_type(btf, t->type) : NULL;
	return t && btf_is_func_proto(t) && btf_vlen(t) ? t : NULL;
}

struct tracepoint_walk {
	struct k_types *t;
	int (*each)(void *arg, const struct k_tracepoint *p);
	void *arg;
};

static int tracepoints_of(void *arg, uint32_t i, const char *module)
{
	const struct tracepoint_walk *w = arg;
	const struct k_btf *btf = k_types_btf(w->t, i);
	const struct btf_type *type;
	int rc = 0;

	for (uint32_t id = 0; btf && rc >= 0 && (type = k_btf_type(btf, btf->first + id)); id++) {
		const struct btf_type *proto = tracepoint_prototype(btf, type);

		if (proto)
			rc = w->each(w->arg,
				     &(struct k_tracepoint){ .module = module,
							     .name = k_btf_text(btf, type->name_off) + strlen(BEGINS),
							     .type = k_types_number(w->t, i, btf->first + id),
							     .nargs = btf_vlen(proto) - 1 });
	}
	return rc;
}

int k_tracepoints(struct k_types *t, int (*each)(void *arg, const struct k_tracepoint *p), void *arg)
{
	struct tracepoint_walk w = { t, each, arg };

	return k_types_modules(t, "", tracepoints_of, &w);
}

uint64_t k_tracepoint_arg(const struct k_types *t, const struct k_tracepoint *p, uint32_t i)
{
	const uint32_t of = (uint32_t)(p->type >> 32);
	const struct k_btf *btf = k_types_btf(t, of);
	const struct btf_type *proto = btf ? tracepoint_prototype(btf, k_btf_type(btf, (uint32_t)p->type)) : NULL;

	return proto && i + 1 < btf_vlen(proto) ? k_types_number(t, of, btf_params(proto)[i + 1].type) : 0;
}

/* ---- types as text ------------------------------------------------------------------------------ */

#define TEXT_DEPTH 16

static void type_put(const struct k_btf *btf, uint32_t id, struct buf *to, int depth)
{
	const struct btf_type *b = id ? k_btf_type(btf, id) : NULL;
	const char *name = b ? k_btf_text(btf, b->name_off) : "";

	if (!b || depth > TEXT_DEPTH) {
		buf_puts(to, "void");
		return;
	}
	switch (btf_kind(b)) {
	case BTF_KIND_PTR:
		type_put(btf, b->type, to, depth + 1);
		buf_puts(to, to->n && to->p[to->n - 1] == '*' ? "*" : " *");
		break;
	case BTF_KIND_CONST:
		buf_puts(to, "const ");
		type_put(btf, b->type, to, depth + 1);
		break;
	case BTF_KIND_VOLATILE:
	case BTF_KIND_RESTRICT:
	case BTF_KIND_TYPE_TAG:
		type_put(btf, b->type, to, depth + 1);
		break;
	case BTF_KIND_STRUCT:
	case BTF_KIND_UNION:
	case BTF_KIND_FWD:
		buf_printf(to, "%s %s", btf_is_union(b) || (btf_is_fwd(b) && btf_kflag(b)) ? "union" : "struct",
			   *name ? name : "{...}");
		break;
	case BTF_KIND_ENUM:
	case BTF_KIND_ENUM64:
		buf_printf(to, "enum %s", *name ? name : "{...}");
		break;
	case BTF_KIND_ARRAY:
		type_put(btf, btf_array(b)->type, to, depth + 1);
		buf_printf(to, " [%u]", btf_array(b)->nelems);
		break;
	case BTF_KIND_FUNC_PROTO:
		type_put(btf, b->type, to, depth + 1);
		buf_puts(to, " ()");
		break;
	default:
		buf_puts(to, *name ? name : "void");
		break;
	}
}

void k_type_text(const struct k_types *t, uint64_t type, struct buf *to)
{
	const struct k_btf *btf = k_types_btf(t, (uint32_t)(type >> 32));

	if (btf)
		type_put(btf, (uint32_t)type, to, 0);
}
