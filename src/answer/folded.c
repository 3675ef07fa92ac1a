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

/* The names as lines have them, one after the other; *ends: where each ends. Paths have few names, and have
 * them often. */
static bool folded_names_clean(struct buf *texts, size_t **ends, const struct an_flame *f)
{
	const bool mark = folded_has_both(f);

	*ends = mem_alloc((f->nnames + 1) * sizeof(**ends));
	for (uint32_t i = 0; *ends && i < f->nnames; i++) {
		an_clean(texts, f->name[i].text, ";");
		if (mark && f->name[i].frame == AN_FRAME_KERNEL)
			buf_puts(texts, KERNEL_MARK);
		(*ends)[i] = texts->n;
	}
	return *ends && !texts->failed;
}

/* A line for each path of a tree that has a value; a root has its label where there are several, or nothing else. */
static void folded_put_tree(struct buf *to, const struct an_flame *f, const struct an_flame_tree *t,
			    const struct buf *texts, const size_t *ends)
{
	uint32_t *path = NULL, npath = 0, cappath = 0, depth;

	for (uint32_t at = an_flame_next(f, t, 0, &depth); at; at = an_flame_next(f, t, at, &depth)) {
		if (depth >= npath && !VEC_NEW(path, npath, cappath)) {
			to->failed = true;
			break;
		}
		path[depth] = f->node[at].name;
		if (!f->node[at].self)
			continue;
		for (uint32_t i = f->ntrees > 1 || !depth ? 0 : 1; i <= depth; i++) {
			const size_t begin = path[i] ? ends[path[i] - 1] : 0;

			buf_put(to, texts->p + begin, ends[path[i]] - begin);
			buf_putc(to, i < depth ? ';' : ' ');
		}
		buf_i64(to, f->node[at].self);
		buf_putc(to, '\n');
	}
	mem_free(path);
}

void an_folded_put(struct buf *to, const struct an_flame *f)
{
	struct buf texts = { 0 };
	size_t *ends = NULL;

	to->failed |= f->failed || !folded_names_clean(&texts, &ends, f);
	for (uint32_t t = 0; t < f->ntrees && !to->failed; t++)
		folded_put_tree(to, f, &f->tree[t], &texts, ends);
	mem_free(ends);
	buf_free(&texts);
}
