/*
 * near.c: suggestions for misspelt names.
 *
 * Candidates are names that would be valid at that place and are implemented: a builtin that is refused is not
 * suggested. The suggestion follows dtrace(1)'s own words, but where these are to stand alone. Names that other
 * languages use for something that D has are not similar by their letters; they are rows of hint.def.
 */
#include <string.h>

#include "dlang/decl_int.h"
#include "dlang/parse_int.h"
#include "dlang/type_int.h"

struct names {
	const char *v[256]; /* of more than these the others are not suggested */
	size_t n;
};

enum hint_kind { HINT_NAME, HINT_CALL, HINT_AGG, HINT_MACRO, HINT_WORD };
static const struct {
	const char *word, *text;
	uint8_t kind;
} hints[] = {
#define HINT(word, kind, text) { #word, text, HINT_##kind },
#include "dlang/hint.def"
#undef HINT
};

static void near_add_name(struct names *l, const char *name)
{
	if (l->n < COUNT(l->v))
		l->v[l->n++] = name;
}

static void add_builtins(struct names *l)
{
	enum { BC_INT, BC_WORD, BC_STR, BC_ARRAY, BC_KERNEL, BC_LIBRARY, BC_LATER };
	static const struct {
		const char *name;
		uint8_t cls;
	} rows[] = {
#define BUILTIN(name, class, type, code) { #name, BC_##class },
#include "dlang/builtin.def"
#undef BUILTIN
	};

	for (size_t i = 0; i < COUNT(rows); i++)
		if (rows[i].cls != BC_LATER && rows[i].cls != BC_LIBRARY && rows[i].cls != BC_WORD)
			near_add_name(l, rows[i].name);
}

static void add_variables(struct names *l, const struct d_unit *u, enum sym_kind kind)
{
	const bool global = kind == SYM_GLOBAL || kind == SYM_ASSOC;

	for (uint32_t i = 0; i < u->nvars; i++) {
		const struct d_sym *s = u->var[i];

		if (s->kind == kind || (global && (s->kind == SYM_GLOBAL || s->kind == SYM_ASSOC)))
			near_add_name(l, s->name);
	}
}

/* The members of args[0] of the clause's first probe. */
static void add_bare(struct names *l, const struct d_unit *u)
{
	const struct d_clausenode *c = u->cur_clause;
	const struct d_args *a = c && c->nprobes && u->env.args ? u->env.args(u->env.arg, c->probes[0], 0) : NULL;

	for (uint32_t i = 0; a && i < a->nfields; i++)
		near_add_name(l, a->field[i].name);
}

/* What D has instead of a word of another language, or NULL. */
static const char *hint_of(enum hint_kind kind, const char *word, size_t n)
{
	for (size_t i = 0; i < COUNT(hints); i++)
		if (hints[i].kind == kind && strlen(hints[i].word) == n && memcmp(hints[i].word, word, n) == 0)
			return hints[i].text;
	return NULL;
}

static const char *hint_find(struct d_unit *u, enum hint_kind kind, const char *word)
{
	const char *text = u->env.no_advice ? NULL : hint_of(kind, word, strlen(word));

	return text ? arena_printf(&u->arena, "; did you mean %s?", text) : NULL;
}

const char *near_keyword(const char *word, size_t n)
{
	return hint_of(HINT_WORD, word, n);
}

const char *near_macro(const char *name)
{
	return hint_of(HINT_MACRO, name, strlen(name));
}

/* What is added to the words: "" when nothing is near, or what is near is the word itself. */
static const char *near_advice(struct d_unit *u, const struct names *l, const char *word, const char *before,
			       const char *behind)
{
	const char *near = u->env.no_advice ? NULL : text_nearest(word, TEXT_NAMES(l->v, l->n)), *ret = NULL;

	if (near && strcmp(near, word))
		ret = arena_printf(&u->arena, "; did you mean %s%s%s?", before, near, behind);
	return ret ? ret : "";
}

const char *near_name(struct d_unit *u, const char *word)
{
	struct names l = { 0 };
	const char *hint = hint_find(u, HINT_NAME, word);

	if (hint)
		return hint;
	if (u->env.bare_args)
		add_bare(&l, u);
	add_builtins(&l);
	add_variables(&l, u, SYM_GLOBAL);
	return near_advice(u, &l, word, "", "");
}

/* The variable itself is among those of the unit: it was made when it was read. */
const char *near_variable(struct d_unit *u, const struct d_sym *s)
{
	struct names l = { 0 };

	for (uint32_t i = 0; i < u->nvars; i++)
		if (u->var[i] != s && u->var[i]->kind == s->kind)
			near_add_name(&l, u->var[i]->name);
	return near_advice(u, &l, s->name, s->kind == SYM_THIS ? "this->" : s->kind == SYM_SELF ? "self->" : "", "");
}

const char *near_call(struct d_unit *u, const char *word, bool aggregating)
{
	struct names l = { 0 };
	const char *hint = hint_find(u, aggregating ? HINT_AGG : HINT_CALL, word);

	if (hint)
		return hint;
	for (unsigned i = 1; i < CALL_N; i++)
		if (d_calls[i].cls != CC_LATER && (d_calls[i].cls == CC_AGG) == aggregating)
			near_add_name(&l, d_calls[i].name);
	return near_advice(u, &l, word, "", "()");
}

const char *near_aggregation(struct d_unit *u, const char *word)
{
	struct names l = { 0 };

	for (uint32_t i = 0; i < u->naggs; i++)
		if (u->agg[i]->has_fn)
			near_add_name(&l, u->agg[i]->name);
	return near_advice(u, &l, word, "@", "");
}

const char *near_member(struct d_unit *u, const struct d_type *t, const char *word)
{
	struct names l = { 0 };

	for (const struct d_member *m = t->members; m; m = m->next)
		if (*m->name)
			near_add_name(&l, m->name);
	return near_advice(u, &l, word, "", "");
}

/* ---- types ------------------------------------------------------------------------ */

static const struct {
	const char *word;
	uint8_t kind, of_kernel;
} near_tags[] = { { "struct ", TY_STRUCT, D_KT_STRUCT },
		  { "union ", TY_UNION, D_KT_UNION },
		  { "enum ", TY_ENUM, D_KT_ENUM } };

/* The script's types of that kind that have a definition; tag NULL: its typedefs, as far as they begin as the word
 * does. */
static void add_types(struct names *l, struct d_unit *u, const char *tag, const char *word)
{
	const size_t n = tag ? strlen(tag) : 0;
	const void *key;
	void *val;
	size_t len;

	for (size_t i = 0; map_next(tag ? &u->tags : &u->types, &i, &key, &len, &val);) {
		const struct d_type *t = val;

		if (!tag && len && *(const char *)key == *word)
			near_add_name(l, arena_strndup(&u->arena, key, len));
		else if (tag && !t->incomplete && !strncmp(t->name, tag, n))
			near_add_name(l, t->name + n);
	}
}

const char *near_type(struct d_unit *u, const struct d_type *t)
{
	const struct d_ktypes *k = u->env.ktypes;
	struct names l = { 0 };
	const char *word, *of_kernel;

	for (size_t i = 0; t->incomplete && t->name && i < COUNT(near_tags); i++) {
		if (t->kind != near_tags[i].kind || !(word = strrchr(t->name, t->module ? '`' : ' ')))
			continue;
		word++;
		add_types(&l, u, near_tags[i].word, word);
		if (k && (of_kernel = k->near(k->arg, t->module, near_tags[i].of_kernel, word)))
			near_add_name(&l, of_kernel);
		return near_advice(u, &l, word, near_tags[i].word, "");
	}
	return "";
}

/* What has the name as a tag: struct of whose `struct name` the word struct was left out. */
static const char *near_tagged(struct d_unit *u, const char *name)
{
	const struct d_ktypes *k = u->env.ktypes;

	for (size_t i = 0; i < COUNT(near_tags); i++) {
		const char *whole = arena_printf(&u->arena, "%s%s", near_tags[i].word, name);
		const struct d_type *t = whole ? map_get(&u->tags, whole, strlen(whole)) : NULL;

		if ((t && !t->incomplete) || (k && k->find(k->arg, NULL, near_tags[i].of_kernel, name)))
			return arena_printf(&u->arena, "; did you mean %s?", whole);
	}
	return NULL;
}

const char *near_type_name(struct d_unit *u, const char *module, const char *name)
{
	const struct d_ktypes *k = u->env.ktypes;
	struct names l = { 0 };
	const char *of_kernel, *tagged = module ? NULL : near_tagged(u, name);

	if (tagged)
		return tagged;
	if (!module)
		add_types(&l, u, NULL, name);
	if (k && (of_kernel = k->near(k->arg, module, D_KT_TYPEDEF, name)))
		near_add_name(&l, of_kernel);
	return near_advice(u, &l, name, "", "");
}
