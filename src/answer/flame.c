/*
 * flame.c: aggregations to call trees.
 *
 * A node is found by its parent and its name through one hash table: a list of children would be searched from its
 * start for each row, and below a process there may be a hundred thousand. Children are linked once, in the order of
 * their names, when all rows are there: nodes are put into buckets by the rank of their name, and the buckets are
 * emptied from the last to the first, each node to the front of its parent's children. Nodes below which nothing has a
 * value are not linked: a walk goes up from nodes with a value only.
 *
 * Five million frames have a few thousand names, and the texts of equal frames of one aggregation are mostly one text
 * in memory. So a name is looked up by that place first, in a table that forgets.
 */
#include <stdlib.h>
#include <string.h>

#include "answer/answer_int.h"
#include "answer/flame.h"

#define NO_FRAMES "[no stack]" /* of a row whose stack could not be taken, or is empty */

/* ---- what there is a tree of ------------------------------------------------------------ */

bool an_flame_takes(const struct an_agg *a)
{
	return a->fn == AGG_COUNT || a->fn == AGG_SUM || an_is_hist(a);
}

bool an_flame_has_stacks(const struct an_agg *a)
{
	for (uint32_t k = 0; a->nrows && k < a->row[0].nkeys; k++)
		if (an_is_stack(&a->row[0].key[k]))
			return true;
	return false;
}

void an_flame_label(struct buf *to, const struct an_agg *a)
{
	if (a->name && *a->name)
		buf_printf(to, "@%s", a->name);
	else
		buf_printf(to, "%s()", an_agg_function(a->fn));
}

const char *an_flame_unit(const struct an_flame_tree *t)
{
	static const char *const units[] = { "ns", "us", "ms", "bytes" };
	const char *last = strrchr(t->label, '_');

	last = last ? last + 1 : *t->label == '@' ? t->label + 1 : t->label;
	for (size_t i = 0; i < COUNT(units) && !strcmp(t->function, "sum"); i++)
		if (!strcmp(last, units[i]))
			return units[i];
	return "";
}

/* How wide a row is. */
static int64_t flame_row_width(const struct an_agg *a, const struct an_row *r)
{
	uint64_t total = 0;

	if (!an_is_hist(a))
		return an_agg_value(a, r);
	for (uint32_t b = 0; b < r->nbuckets; b++)
		total += (uint64_t)an_hist_count(r, b);
	return an_normalized(a, (int64_t)total);
}

static int64_t flame_add_bounded(int64_t a, int64_t b)
{
	int64_t sum;

	return !__builtin_add_overflow(a, b, &sum) ? sum : a < 0 ? INT64_MIN : INT64_MAX;
}

/* ---- names and nodes ---------------------------------------------------------------------- */

#define SEEN_BITS 14
struct an_flame_seen {
	const char *text; /* NULL: a free place */
	uint32_t name, frame;
};

static struct an_flame_seen *flame_seen_at(const struct an_flame *f, const char *text, enum an_frame frame)
{
	const uint64_t h = ((uint64_t)(uintptr_t)text + frame) * 0x9e3779b97f4a7c15u;

	return &f->seen[h >> (64 - SEEN_BITS)];
}

/* The number of a name; file, where it is known, is that of whoever named it first. */
static uint32_t flame_name_take(struct an_flame *f, enum an_frame frame, const char *text, size_t n, const char *file)
{
	struct an_flame_name *name;
	struct buf key = { 0 };
	void **slot;

	buf_putc(&key, (char)('0' + frame));
	buf_put(&key, text, n);
	slot = key.failed ? NULL : map_at(&f->index, key.p, key.n);
	if (slot && *slot) {
		buf_free(&key);
		return (uint32_t)(uintptr_t)*slot - 1;
	}
	name = slot ? VEC_NEW(f->name, f->nnames, f->capnames) : NULL;
	if (name) {
		*name = (struct an_flame_name){ .text = arena_strndup(&f->arena, text, n),
						.file = file ? arena_strdup(&f->arena, file) : NULL,
						.frame = (uint8_t)frame };
		*slot = (void *)(uintptr_t)f->nnames;
	}
	f->failed |= !name || f->arena.failed;
	buf_free(&key);
	return name ? f->nnames - 1 : 0;
}

static uint32_t flame_slot_of(const struct an_flame *f, uint32_t parent, uint32_t name)
{
	uint64_t h = ((uint64_t)parent << 32 | name) * 0x9e3779b97f4a7c15u;

	return (uint32_t)(h >> 32) & (f->nslots - 1);
}

/* Room for twice as many nodes, when three quarters of it are taken. */
static bool flame_slots_grow(struct an_flame *f)
{
	uint32_t n = f->nslots ? f->nslots * 2 : 1024;
	uint32_t *slot;

	if (f->nnodes < f->nslots / 4 * 3)
		return true;
	slot = n <= UINT32_MAX / 4 ? mem_alloc((size_t)n * sizeof(*slot)) : NULL;
	if (!slot)
		return false;
	mem_free(f->slot);
	f->slot = slot;
	f->nslots = n;
	for (uint32_t i = 1; i < f->nnodes; i++) {
		uint32_t at = flame_slot_of(f, f->node[i].parent, f->node[i].name);

		while (slot[at])
			at = (at + 1) & (n - 1);
		slot[at] = i;
	}
	return true;
}

/* The node of that name below parent; 0: there is none. *ret: its slot, or that where it would be. */
static uint32_t flame_node_find(const struct an_flame *f, uint32_t parent, uint32_t name, uint32_t *ret)
{
	const bool childless = parent + 1 == f->nnodes; /* the newest node: children are made after their parent */
	uint32_t at = flame_slot_of(f, parent, name);

	for (; f->slot[at]; at = (at + 1) & (f->nslots - 1))
		if (!childless && f->node[f->slot[at]].parent == parent && f->node[f->slot[at]].name == name)
			break;
	*ret = at;
	return f->slot[at];
}

/* The node of that name below parent (0: a root), which is made if it is not there. 0: out of memory. */
static uint32_t flame_node_take(struct an_flame *f, uint32_t parent, uint32_t name)
{
	struct an_node *node;
	uint32_t at, found;

	if (!f->nnodes && !VEC_NEW(f->node, f->nnodes, f->capnodes)) /* node 0 */
		return 0;
	if (!flame_slots_grow(f))
		return 0;
	found = flame_node_find(f, parent, name, &at);
	if (found)
		return found;
	node = VEC_NEW(f->node, f->nnodes, f->capnodes);
	if (!node)
		return 0;
	*node = (struct an_node){ .name = name, .parent = parent };
	return f->slot[at] = f->nnodes - 1;
}

/* ---- rows ------------------------------------------------------------------------------------ */

static uint32_t flame_go_down(struct an_flame *f, uint32_t at, uint32_t name)
{
	at = at && !f->failed ? flame_node_take(f, at, name) : 0;
	f->failed |= !at;
	return at;
}

static uint32_t flame_go_down_stack(struct an_flame *f, uint32_t at, const struct an_value *v)
{
	const enum an_frame frame = v->kind == SLOT_KSTACK ? AN_FRAME_KERNEL : AN_FRAME_USER;

	for (uint32_t i = v->nframes; i > 0; i--) {
		const char *func = v->func ? v->func[i - 1] : NULL, *text = func ? func : v->frame[i - 1];
		struct an_flame_seen *seen = flame_seen_at(f, text, frame);

		if (seen->text != text || seen->frame != frame)
			*seen = (struct an_flame_seen){
				text,
				flame_name_take(f, frame, text, strlen(text), v->file ? v->file[i - 1] : NULL),
				frame,
			};
		at = flame_go_down(f, at, seen->name);
	}
	return at;
}

/* The node where a row ends. */
static uint32_t flame_row_end(struct an_flame *f, uint32_t root, const struct an_row *r)
{
	static const uint8_t stacks[] = { SLOT_USTACK, SLOT_KSTACK };
	uint32_t at = root;

	for (uint32_t k = 0; k < r->nkeys; k++) {
		struct buf text = { 0 };

		if (an_is_stack(&r->key[k]))
			continue;
		an_bare(&text, &r->key[k]);
		f->failed |= text.failed;
		at = flame_go_down(f, at, flame_name_take(f, AN_FRAME_KEY, text.p ? text.p : "", text.n, NULL));
		buf_free(&text);
	}
	for (size_t i = 0; i < COUNT(stacks); i++)
		for (uint32_t k = 0; k < r->nkeys; k++)
			if (r->key[k].kind == stacks[i])
				at = flame_go_down_stack(f, at, &r->key[k]);
	if (at == root && r->nkeys)
		at = flame_go_down(f, at, flame_name_take(f, AN_FRAME_KEY, NO_FRAMES, strlen(NO_FRAMES), NULL));
	return at;
}

/* Its tree; NULL: out of memory. */
static struct an_flame_tree *flame_tree_take(struct an_flame *f, const struct an_agg *a)
{
	struct an_flame_tree *t = NULL;
	struct buf label = { 0 };

	an_flame_label(&label, a);
	for (uint32_t i = 0; !label.failed && !t && i < f->ntrees; i++)
		if (!strcmp(f->tree[i].label, label.p))
			t = &f->tree[i];
	if (!t && !label.failed && (t = VEC_NEW(f->tree, f->ntrees, f->captrees)) != NULL) {
		const uint32_t name = flame_name_take(f, AN_FRAME_KEY, label.p, label.n, NULL);

		/* A root's parent is no node: it counts the trees down from the highest number. */
		*t = (struct an_flame_tree){ .label = f->failed ? "" : f->name[name].text,
					     .function = an_agg_function(a->fn),
					     .root = f->failed ? 0 : flame_node_take(f, UINT32_MAX - f->ntrees, name) };
		f->failed |= !t->root;
	}
	buf_free(&label);
	f->failed |= !t;
	return t;
}

void an_flame_add(struct an_flame *f, const struct an_agg *a)
{
	struct an_flame_tree *t = flame_tree_take(f, a);

	/* its texts, and no others: those of the next one may lie where these did */
	f->seen = mem_alloc(sizeof(*f->seen) << SEEN_BITS);
	f->failed |= !f->seen;
	for (uint32_t i = 0; t && i < a->nrows && !f->failed; i++) {
		int64_t width = flame_row_width(a, &a->row[i]);
		struct an_node *node;
		uint32_t end;

		/* counts are unsigned: one above 2^63 is bounded, not negative */
		if (width < 0 && !(an_agg_signed(a) && a->fn == AGG_SUM))
			width = INT64_MAX;
		/* a sum of 0 may have been another one before (an_flame_subtract) */
		end = width || a->fn == AGG_SUM ? flame_row_end(f, t->root, &a->row[i]) : 0;
		if (!end)
			continue;
		node = &f->node[end];
		if (!node->self || a->row[i].epoch < node->epoch)
			node->epoch = a->row[i].epoch;
		t->stacks -= node->self != 0;
		node->self = flame_add_bounded(node->self, width);
		t->stacks += node->self != 0;
	}
	if (t)
		t->has_stacks |= an_flame_has_stacks(a);
	mem_free(f->seen);
	f->seen = NULL;
}

/* ---- differences ------------------------------------------------------------------------------- */

/* The node of f that has the path of node i of past; `same` has those of the nodes before it. 0: f has no such path. */
static uint32_t flame_node_same(struct an_flame *f, const struct an_flame *past, uint32_t i, const uint32_t *same)
{
	const struct an_node *node = &past->node[i];
	const struct an_flame_name *name = &past->name[node->name];
	struct buf key = { 0 };
	uint32_t number, slot;

	if (node->parent >= past->nnodes) {
		for (uint32_t t = 0; t < f->ntrees; t++)
			if (!strcmp(f->tree[t].label, name->text))
				return f->tree[t].root;
		return 0;
	}
	if (!same[node->parent])
		return 0;
	buf_putc(&key, (char)('0' + name->frame));
	buf_puts(&key, name->text);
	f->failed |= key.failed; /* that it has none is not known */
	number = key.failed ? 0 : (uint32_t)(uintptr_t)map_get(&f->index, key.p, key.n);
	buf_free(&key);
	return number ? flame_node_find(f, same[node->parent], number - 1, &slot) : 0;
}

static struct an_flame_tree *flame_tree_of(const struct an_flame *f, uint32_t node)
{
	uint32_t t = 0;

	while (f->node[node].parent < f->nnodes)
		node = f->node[node].parent;
	while (t + 1 < f->ntrees && f->tree[t].root != node)
		t++;
	return &f->tree[t];
}

void an_flame_subtract(struct an_flame *f, const struct an_flame *past)
{
	uint32_t *same = mem_alloc((past->nnodes + 1) * sizeof(*same));

	f->failed |= !same || past->failed;
	for (uint32_t i = 1; !f->failed && f->nslots && i < past->nnodes; i++) {
		const int64_t was = past->node[i].self;
		struct an_node *node;

		same[i] = flame_node_same(f, past, i, same);
		node = &f->node[same[i]];
		if (!same[i] || node->epoch > past->node[i].epoch ||
		    (node->self < was && strcmp(flame_tree_of(f, same[i])->function, "sum") != 0))
			continue;
		if (__builtin_sub_overflow(node->self, was, &node->self))
			node->self = was < 0 ? INT64_MAX : INT64_MIN;
	}
	mem_free(same);
}

/* ---- sums below 0 ------------------------------------------------------------------------------ */

uint64_t an_flame_leave_out_negative(struct an_flame *f)
{
	uint64_t n = 0;

	for (uint32_t i = 1; i < f->nnodes; i++) {
		struct an_flame_tree *t;

		if (f->node[i].self >= 0)
			continue;
		t = flame_tree_of(f, i);
		t->negative++;
		t->stacks--;
		f->node[i].self = 0;
		n++;
	}
	return n;
}

/* ---- order ------------------------------------------------------------------------------------- */

static int flame_names_compare(const void *x, const void *y)
{
	const struct an_flame_name *a = *(const struct an_flame_name *const *)x,
				   *b = *(const struct an_flame_name *const *)y;
	const int c = strcmp(a->text, b->text);

	return c ? c : AN_ORDER(a->frame, b->frame);
}

static bool flame_names_rank(struct an_flame *f)
{
	struct an_flame_name **by_text = mem_alloc((f->nnames + 1) * sizeof(struct an_flame_name *));

	if (!by_text)
		return false;
	for (uint32_t i = 0; i < f->nnames; i++)
		by_text[i] = &f->name[i];
	qsort(by_text, f->nnames, sizeof(*by_text), flame_names_compare);
	for (uint32_t i = 0; i < f->nnames; i++)
		by_text[i]->rank = i;
	mem_free(by_text);
	return true;
}

void an_flame_sort(struct an_flame *f)
{
	uint32_t *first = mem_alloc((f->nnames + 1) * sizeof(*first)),
		 *behind = mem_alloc((f->nnodes + 1) * sizeof(*behind));

	if (!first || !behind || f->failed || !flame_names_rank(f)) {
		f->failed = true;
		mem_free(first);
		mem_free(behind);
		return;
	}
	/* child is 1 for a while: the node, or one below it, has a value. Parents have the lower numbers. */
	for (uint32_t i = 1; i < f->nnodes; i++)
		f->node[i].child = f->node[i].self != 0;
	for (uint32_t i = f->nnodes; i-- > 1;)
		if (f->node[i].child && f->node[i].parent < f->nnodes)
			f->node[f->node[i].parent].child = 1;
	for (uint32_t i = 1; i < f->nnodes; i++) {
		uint32_t *bucket = &first[f->name[f->node[i].name].rank];

		if (f->node[i].child) {
			behind[i] = *bucket;
			*bucket = i;
		}
		f->node[i].child = f->node[i].next = 0;
	}
	for (uint32_t rank = f->nnames; rank-- > 0;)
		for (uint32_t i = first[rank]; i; i = behind[i]) {
			struct an_node *parent = f->node[i].parent < f->nnodes ? &f->node[f->node[i].parent] : NULL;

			if (!parent)
				continue;
			f->node[i].next = parent->child;
			parent->child = i;
		}
	mem_free(first);
	mem_free(behind);
}

/* ---- walks --------------------------------------------------------------------------------------- */

uint32_t an_flame_next(const struct an_flame *f, const struct an_flame_tree *t, uint32_t at, uint32_t *depth)
{
	if (!at) {
		*depth = 0;
		return t->root;
	}
	if (f->node[at].child) {
		++*depth;
		return f->node[at].child;
	}
	while (at != t->root && !f->node[at].next) {
		at = f->node[at].parent;
		--*depth;
	}
	return at == t->root ? 0 : f->node[at].next;
}

/* A node is made after its parent, so parents have the lower numbers. */
void an_flame_totals(const struct an_flame *f, int64_t *total)
{
	for (uint32_t i = 0; i < f->nnodes; i++)
		total[i] = f->node[i].self;
	for (uint32_t i = f->nnodes; i-- > 1;)
		if (f->node[i].parent < f->nnodes)
			total[f->node[i].parent] = flame_add_bounded(total[f->node[i].parent], total[i]);
}

void an_flame_free(struct an_flame *f)
{
	arena_free(&f->arena);
	map_free(&f->index);
	mem_free(f->name);
	mem_free(f->node);
	mem_free(f->slot);
	mem_free(f->tree);
	*f = (struct an_flame){ 0 };
}
