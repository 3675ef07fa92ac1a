/*
 * folded.c: call trees as folded stacks, the input of flame graph tools: names from the outermost to the innermost
 * joined by ';', a blank, a number; a line for each path that has a value, in the order of the names.
 *
 * Of several aggregations each line begins with the one that it is of: tools show them side by side, as the lowest
 * boxes, and grep takes one out. ';' inside a name would split it, so it becomes ':'; control characters would end the
 * line and become '?'.
 *
 * A line is text alone: where frames of processes and of the kernel are on one path, nothing would say where the kernel
 * begins. So there a frame of the kernel ends with "_[k]", as `stackcollapse-perf.pl --kernel` writes it and
 * flamegraph.pl colors it.
 */
#include "answer/answer_int.h"
#include "answer/flame.h"

#define KERNEL_MARK "_[k]"

static bool folded_has_both(const struct an_flame *f)
{
	bool has[AN_FRAME_KERNEL + 1] = { false };

	for (uint32_t i = 0; i < f->nnames; i++)
		has[f->name[i].frame] = true;
	return has[AN_FRAME_USER] && has[AN_FRAME_KERNEL];
}

/* The path down to the node, from the names in path[0..depth]; a root has its label where there are several, or nothing
 * else. */
static void folded_put_path(struct buf *to, const struct an_flame *f, const uint32_t *path, uint32_t depth, bool mark)
{
	for (uint32_t i = f->ntrees > 1 || !depth ? 0 : 1; i <= depth; i++) {
		const struct an_flame_name *name = &f->name[f->node[path[i]].name];

		an_clean(to, name->text, ";");
		if (mark && name->frame == AN_FRAME_KERNEL)
			buf_puts(to, KERNEL_MARK);
		buf_putc(to, i < depth ? ';' : ' ');
	}
}

void an_folded_put(struct buf *to, const struct an_flame *f)
{
	uint32_t *path = NULL, npath = 0, cappath = 0, depth;
	const bool mark = folded_has_both(f);

	for (uint32_t t = 0; t < f->ntrees; t++)
		for (uint32_t at = an_flame_next(f, &f->tree[t], 0, &depth); at;
		     at = an_flame_next(f, &f->tree[t], at, &depth)) {
			if (depth >= npath && !VEC_NEW(path, npath, cappath)) {
				to->failed = true;
				mem_free(path);
				return;
			}
			path[depth] = at;
			if (!f->node[at].self)
				continue;
			folded_put_path(to, f, path, depth, mark);
			buf_printf(to, "%lld\n", (long long)f->node[at].self);
		}
	to->failed |= f->failed;
	mem_free(path);
}
