/*
 * names.c: slots to values that can be shown.
 *
 * Programs hand over addresses and stack ids; this file looks up what they
 * mean.  The table of symbols is opened, and the kernel's names are read, by
 * the first address that needs them.  A process that was never seen is asked
 * for its mappings when its first address is named: it may still live.
 *
 * func(), sym() and their user twins name a function without offset, as
 * dtrace(1) does; uaddr(), %a, %A and the frames of stacks carry it.
 */
#include <string.h>

#include "session/session_int.h"

#define MAX_FRAMES D_FRAMES_MOST

int trace_symbols(struct tally_trace *t)
{
	if (t->sym)
		return 0;
	if (sym_open(&t->sym) < 0)
		return -TALLY_ENOMEM;
	sym_demangle(t->sym, options_demangle(&t->opt));
	if (t->prog && t->prog->uses_data_symbols)
		sym_keep_data(t->sym);
	if (t->opt.v[OPT_debuginfod])
		sym_ask_servers(t->sym);
	return 0;
}

/* generation_ns 0: the newest that maps the address. */
static void find_user_then(struct tally_trace *t, uint32_t pid, uint64_t addr, uint64_t generation_ns,
			   struct sym_name *ret)
{
	if (t->opt.v[OPT_noresolve])
		return;
	if (t->eng->k && (generation_ns ? sym_must_look(t->sym, pid, addr, generation_ns) : !sym_knows(t->sym, pid)) &&
	    sym_look(t->sym, pid) >= 0)
		(void)run_learn_mappings(t);
	sym_user(t->sym, pid, addr, generation_ns, ret);
}

/* where: pid and generation, as a slot has them. A process that lost no mapping is in the generation that it was in
 * when the watch began. */
static void find_user(struct tally_trace *t, const uint64_t *where, uint64_t addr, struct sym_name *ret)
{
	find_user_then(t, (uint32_t)where[0], addr, where[1] ? where[1] : t->watched_ns, ret);
}

static const char *names_keep_text(struct tally_trace *t, struct arena *a, uint32_t *len)
{
	*len = t->tmp.n;
	return t->tmp.failed ? NULL : arena_strndup(a, t->tmp.p ? t->tmp.p : "", t->tmp.n);
}

static void symbol_text(struct tally_trace *t, uint8_t kind, const struct sym_name *name, uint64_t addr)
{
	bool module = kind == SLOT_KMOD || kind == SLOT_UMOD;
	const struct sym_line *line = kind == SLOT_ULINE ? sym_line(t->sym, name, false) : NULL;

	buf_clear(&t->tmp);
	if (line && line->file)
		buf_printf(&t->tmp, "%s:%u", line->file, line->line);
	else if (module && name->mod)
		buf_puts(&t->tmp, name->mod);
	else if (module)
		sym_text(name, addr, false, &t->tmp);
	else
		sym_text(name, addr, kind == SLOT_KADDR || kind == SLOT_UADDR || kind == SLOT_ULINE, &t->tmp);
}

static int symbol_value(struct tally_trace *t, struct arena *a, const uint64_t *w, bool user, struct an_value *v)
{
	struct sym_name name = { 0 };
	uint64_t addr = user ? w[2] : w[0];

	if (trace_symbols(t) < 0)
		return -TALLY_ENOMEM;
	if (user)
		find_user(t, w, addr, &name);
	else
		sym_kernel(t->sym, addr, &name);
	symbol_text(t, v->kind, &name, addr);
	v->i = (int64_t)addr;
	v->s = names_keep_text(t, a, &v->len);
	return v->s ? 0 : -TALLY_ENOMEM;
}

int name_address(struct tally_trace *t, struct arena *a, bool user, struct an_value *v)
{
	const long target = user ? trace_target(t) : 0;
	const uint64_t addr = (uint64_t)v->i;
	struct sym_name name = { 0 };

	if (target < 0)
		return 0;
	if (trace_symbols(t) < 0)
		return -TALLY_ENOMEM;
	if (user)
		find_user_then(t, (uint32_t)target, addr, 0, &name);
	else
		sym_kernel(t->sym, addr, &name);
	symbol_text(t, user ? SLOT_UADDR : SLOT_KADDR, &name, addr);
	v->s = names_keep_text(t, a, &v->len);
	return v->s ? 0 : -TALLY_ENOMEM;
}

/* ---- stacks -------------------------------------------------------------------- */

/* The frames behind a stack id, into pc (room for MAX_FRAMES). */
static uint32_t frames_of_id(struct tally_trace *t, uint64_t id, uint64_t *pc)
{
	bool is_long = id & STACK_ID_LONG;
	int map = image_map(t, is_long ? IMG_LONG_STACKS : IMG_STACKS, 0);
	struct maps m = t->eng->ops->maps(t->eng);
	uint64_t key = id & ~(STACK_ID_LONG |
			      STACK_ID_DISPATCH); /* the short map's key is its low half: BPF is little-endian */
	uint64_t *value;
	uint32_t n = 0;

	if (id == STACK_ID_NONE || map < 0)
		return 0;
	value = mem_alloc(t->img->map[map].value_size);
	if (!value)
		return 0;
	if (m.ops->lookup(m.maps, map, &key, value) >= 0)
		n = t->img->map[map].value_size / 8;
	if (n > MAX_FRAMES)
		n = MAX_FRAMES;
	memcpy(pc, value, n * 8);
	mem_free(value);
	return n;
}

/* How many of the first frames lead from a tracepoint to the program. */
static uint32_t frames_of_dispatch(struct tally_trace *t, const uint64_t *pc, uint32_t n)
{
	struct sym_name name;
	uint32_t led;

	for (led = 0; led < n && led < DISPATCH_FRAMES && pc[led]; led++) {
		sym_kernel(t->sym, pc[led], &name);
		if (!name.name || !k_leads_to_program(name.name))
			break;
	}
	return led;
}

/* ---- what many keys share ------------------------------------------------------- */

/* Stacks of one program have the same frames again and again: 100,000 of 50 frames may have a thousand. */
struct frame_texts {
	const char *frame, *func, *file;
	struct frame_texts *next; /* what the compiler put this function into (-x lines), or NULL */
};

void names_begin(struct tally_trace *t, struct arena *a, enum names_frames frames)
{
	names_end(t);
	t->names.of = a;
	t->names.frames = frames;
	if (t->sym)
		sym_all_seen(t->sym, true);
}

void names_end(struct tally_trace *t)
{
	map_free(&t->names.frame);
	map_free(&t->names.text);
	t->names.of = NULL;
	if (t->sym)
		sym_all_seen(t->sym, false);
}

/* What is in t->tmp, in the arena; equal texts of one view are one pointer. */
static const char *names_share_text(struct tally_trace *t, struct arena *a)
{
	uint32_t len;
	void **at = t->names.of == a ? map_at(&t->names.text, t->tmp.p ? t->tmp.p : "", t->tmp.n) : NULL;

	if (!at)
		return t->names.of == a ? NULL : names_keep_text(t, a, &len);
	if (!*at)
		*at = (void *)names_keep_text(t, a, &len);
	return *at;
}

static void put_line(struct buf *to, const char *file, uint32_t line)
{
	if (file)
		buf_printf(to, " [%s:%u]", file, line);
}

/* The frame of a function that was inlined, into whose place the compiler put its code. */
static bool frame_name_inlined(struct tally_trace *t, struct arena *a, const struct sym_name *name,
			       const struct sym_line *line, uint32_t i, struct frame_texts *ret)
{
	const char *func = sym_demangled(t->sym, line->inlined[i].name);

	buf_clear(&t->tmp);
	buf_printf(&t->tmp, "%s`%s [inlined]", name->mod, func);
	ret->func = names_share_text(t, a);
	if (i == 0)
		put_line(&t->tmp, line->file, line->line);
	else
		put_line(&t->tmp, line->inlined[i - 1].caller_file, line->inlined[i - 1].caller_line);
	ret->frame = names_share_text(t, a);
	ret->file = name->path;
	return ret->frame && ret->func;
}

/* of_call: pc is where a call returns to. */
static bool frame_name(struct tally_trace *t, struct arena *a, const uint64_t *where, uint64_t pc, bool of_call,
		       struct frame_texts *ret)
{
	const struct sym_line *line = NULL;
	struct sym_name name = { 0 };
	uint32_t n;

	if (where && pc == IMG_FRAME_CUT) {
		*ret = (struct frame_texts){ .frame = "[truncated]", .func = "[truncated]" };
		return true;
	}
	if (where)
		find_user(t, where, pc, &name);
	else
		sym_kernel(t->sym, pc, &name);
	if (where && t->opt.v[OPT_lines])
		line = sym_line(t->sym, &name, of_call);
	n = line && name.name ? line->ninlined : 0;
	for (uint32_t i = 0; i < n; i++) {
		if (!frame_name_inlined(t, a, &name, line, i, ret))
			return false;
		ret = ret->next = arena_alloc(a, sizeof(*ret));
		if (!ret)
			return false;
	}
	ret->next = NULL;
	buf_clear(&t->tmp);
	sym_text(&name, pc, true, &t->tmp);
	if (line)
		put_line(&t->tmp, n ? line->inlined[n - 1].caller_file : line->file,
			 n ? line->inlined[n - 1].caller_line : line->line);
	ret->frame = names_share_text(t, a);
	buf_clear(&t->tmp);
	if (t->opt.v[OPT_rawaddr])
		sym_text(&name, pc, false, &t->tmp);
	else
		sym_func_text(&name, pc, &t->tmp);
	ret->func = names_share_text(t, a);
	ret->file = name.path;
	return ret->frame && ret->func;
}

/* NULL: no memory. */
static const struct frame_texts *frame_of(struct tally_trace *t, struct arena *a, const uint64_t *where, uint64_t pc,
					  bool of_call)
{
	const uint64_t place[] = { where ? where[0] : UINT64_MAX, where ? where[1] : 0, pc, of_call };
	void **at = t->names.of == a ? map_at(&t->names.frame, place, sizeof(place)) : NULL;
	struct frame_texts *f;

	if (at && *at)
		return *at;
	f = arena_alloc(a, sizeof(*f));
	if (!f || (t->names.of == a && !at) || !frame_name(t, a, where, pc, of_call, f))
		return NULL;
	if (at)
		*at = f;
	return f;
}

static int stack_value(struct tally_trace *t, struct arena *a, const struct slot *s, const uint64_t *w, bool in_key,
		       struct an_value *v)
{
	bool user = s->kind == SLOT_USTACK;
	const uint64_t *where = user ? w : NULL;
	const struct frame_texts *of[MAX_FRAMES];
	const enum names_frames wanted = t->names.of == a ? t->names.frames : NAMES_OF_FRAMES;
	uint64_t pc[MAX_FRAMES];
	uint32_t shown = 0, n, most = (s->size - (user ? SLOT_WHERE_BYTES : 0)) / 8;
	const char **frame, **func = NULL, **file = NULL;

	w += user ? SLOT_WHERE_BYTES / 8 : 0;
	if (most > MAX_FRAMES)
		most = MAX_FRAMES;
	if (trace_symbols(t) < 0)
		return -TALLY_ENOMEM;
	n = in_key ? frames_of_id(t, w[0], pc) : most;
	if (!in_key)
		memcpy(pc, w, most * 8);
	else if (!user && w[0] != STACK_ID_NONE && w[0] & STACK_ID_DISPATCH) {
		uint32_t led = frames_of_dispatch(t, pc, n);

		n -= led;
		memmove(pc, pc + led, n * 8);
	}
	if (s->frames && n > s->frames)
		n = s->frames;
	for (uint32_t i = 0; i < n; i++)
		if (!pc[i])
			n = i;
	for (uint32_t i = 0; i < n; i++) {
		if (!(of[i] = frame_of(t, a, where, pc[i], i > 0)))
			return -TALLY_ENOMEM;
		for (const struct frame_texts *f = of[i]; f; f = f->next)
			shown++;
	}
	frame = arena_alloc(a, (shown + 1) * sizeof(*frame));
	if (wanted == NAMES_OF_BOTH)
		func = arena_alloc(a, (shown + 1) * sizeof(*func));
	if (t->emit.ops->files)
		file = arena_alloc(a, (shown + 1) * sizeof(*file));
	if (a->failed)
		return -TALLY_ENOMEM;
	shown = 0;
	for (uint32_t i = 0; i < n; i++)
		for (const struct frame_texts *f = of[i]; f; f = f->next) {
			frame[shown] = wanted == NAMES_OF_FUNCTIONS ? f->func : f->frame;
			if (func)
				func[shown] = f->func;
			if (file)
				file[shown] = f->file;
			shown++;
		}
	v->frame = frame;
	v->func = func;
	v->file = file;
	v->nframes = shown;
	return 0;
}

/* ---- slots ------------------------------------------------------------------------ */

/* A string that is shown as bytes has room for strsize of them and a NUL, however short its text and its slot are. */
static int string_with_padding(const struct tally_trace *t, struct arena *a, struct an_value *v)
{
	size_t room = (size_t)t->opt.v[OPT_strsize] + 1;
	char *s;

	if (room < v->len)
		room = v->len;
	s = arena_alloc(a, room);
	if (!s)
		return -TALLY_ENOMEM;
	memset(s, 0, room);
	memcpy(s, v->s, v->len);
	v->s = s;
	v->len = room;
	return 0;
}

int slot_value(struct tally_trace *t, struct arena *a, const struct slot *s, const void *bytes, bool in_key,
	       struct an_value *ret)
{
	const char *p = (const char *)bytes + s->offset;
	uint64_t w[3] = { 0 };

	*ret = (struct an_value){ .kind = s->kind,
				  .width = s->width,
				  .is_signed = s->is_signed,
				  .visible = is_guarded(t) && !(in_key && t->emit.ops->finish),
				  .raw = t->opt.v[OPT_rawbytes] };
	switch (s->kind) {
	case SLOT_INT:
		memcpy(&ret->i, p, 8);
		return 0;
	case SLOT_STRING:
		ret->s = p;
		ret->len = strnlen(p, s->size);
		return ret->raw ? string_with_padding(t, a, ret) : 0;
	case SLOT_BYTES:
		ret->s = p;
		ret->len = s->bytes;
		return 0;
	case SLOT_FLOAT:
		ret->s = p;
		ret->len = s->size;
		return 0;
	case SLOT_KSTACK:
	case SLOT_USTACK:
		return stack_value(t, a, s, (const uint64_t *)p, in_key, ret);
	case SLOT_KSYM:
	case SLOT_KFUNC:
	case SLOT_KMOD:
	case SLOT_KADDR:
		memcpy(w, p, 8);
		return symbol_value(t, a, w, false, ret);
	default:
		memcpy(w, p, SLOT_WHERE_BYTES + 8);
		return symbol_value(t, a, w, true, ret);
	}
}

int slot_values(struct tally_trace *t, struct arena *a, const struct slot *s, uint32_t n, const void *bytes,
		bool in_key, struct an_value **ret)
{
	struct an_value *v = arena_alloc(a, (n + 1) * sizeof(*v));

	*ret = v;
	if (!v)
		return -TALLY_ENOMEM;
	for (uint32_t i = 0; i < n; i++) {
		int rc = slot_value(t, a, &s[i], bytes, in_key, &v[i]);

		if (rc < 0)
			return rc;
	}
	return 0;
}
