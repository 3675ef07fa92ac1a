/*
 * decl.c: declarations: types, variables, prototypes.
 *
 * A declaration is specifiers (int, struct foo { ... }) and declarators
 * (*a[3], f(int)).  The specifiers give a type; each declarator wraps it, from the
 * outside in, so a parenthesized declarator is parsed over a hole that is filled
 * when its suffixes are known.  Layout is that of the System V ABI but for
 * bit-fields, which a D compiler lays out in bytes of their own.
 */
#include "dlang/decl_int.h"
#include "dlang/parse_int.h"
#include "dlang/type_int.h"

#include <string.h>

#define ARRAY_MOST (1u << 20) /* bytes of one variable */
#define MEMBERS_MOST 1024     /* of one struct: looking one up walks them */
#define POINTERS_MOST 16u     /* levels of one declarator */

enum dclass { DC_NONE, DC_AUTO, DC_EXTERN, DC_STATIC, DC_REGISTER, DC_TYPEDEF, DC_THIS, DC_SELF };

struct specs {         /* declaration specifiers seen so far */
	uint8_t class; /* enum dclass */
	uint8_t nlong, nshort, nsigned, nunsigned;
	uint8_t word; /* T_int, T_char ... or 0 */
	bool userland;
	bool anonymous;            /* struct or union { ... } without a tag */
	const struct d_type *type; /* struct, union, enum, typedef name, string */
};

static const struct d_type *decl_declarator(struct parser *ps, const struct d_type *base, const char **name);
static const struct d_type *decl_specifiers(struct parser *ps, struct specs *sp);

/* ---- which tokens -------------------------------------------------------- */

static bool type_word(enum d_tok kind)
{
	switch (kind) {
	case T_char:
	case T_const:
	case T_double:
	case T_enum:
	case T_float:
	case T_int:
	case T_long:
	case T_restrict:
	case T_short:
	case T_signed:
	case T_string:
	case T_struct:
	case T_union:
	case T_unsigned:
	case T_userland:
	case T_void:
	case T_volatile:
	case T__Bool:
		return true;
	default:
		return false;
	}
}

static enum dclass class_word(enum d_tok kind)
{
	switch (kind) {
	case T_auto:
		return DC_AUTO;
	case T_extern:
		return DC_EXTERN;
	case T_static:
		return DC_STATIC;
	case T_register:
		return DC_REGISTER;
	case T_typedef:
		return DC_TYPEDEF;
	case T_this:
		return DC_THIS;
	case T_self:
		return DC_SELF;
	default:
		return DC_NONE;
	}
}

/* Whether a name that is no type yet stands where only that of a type can: `name x`, `(name *)`, `(name)x`, `[name]` of
 * a tuple. An expression is what is not surely a declaration. */
static bool looks_like_type(const struct parser *ps)
{
	struct parser look = *ps;
	bool stars = false;
	if (lex_next(&look) < 0)
		return false;
	if (at(&look, T_IDENT) || (ps->declares && (at(&look, T_LT) || at(&look, T_GT))))
		return true;
	while (at(&look, T_MUL)) {
		stars = true;
		if (lex_next(&look) < 0)
			return false;
	}
	if (stars && ((ps->declares && at(&look, T_LT)) || at(&look, T_RPAREN) || at(&look, T_RBRACK) ||
		      at(&look, T_GT) || at(&look, T_COMMA)))
		return true;
	if (stars)
		return ps->declares && at(&look, T_IDENT);
	if (ps->measured && at(&look, T_RPAREN))
		return true;
	if (!at(&look, T_RPAREN) || lex_next(&look) < 0)
		return ps->declares && (at(&look, T_RBRACK) || at(&look, T_COMMA));
	return at(&look, T_IDENT) || at(&look, T_INT) || at(&look, T_STR) || at(&look, T_SYMBOL) || at(&look, T_this) ||
	       at(&look, T_self);
}

/* A name that the kernel has for a type becomes one of the program's. */
static bool adopt_type(struct parser *ps)
{
	struct d_unit *u = ps->u;
	const char *name = ps->tok.str;
	if ((u->env.ktypes == NULL && u->env.dlibrary == NULL) || is_builtin(name) ||
	    map_get(&u->consts, name, strlen(name)) != NULL || sym_get(u, SYM_GLOBAL, name, 0, false) != NULL ||
	    !looks_like_type(ps))
		return false;
	if (library_need(u, name) < 0)
		return false;
	if (type_named(u, name) != NULL)
		return true;
	const struct d_type *t = ktype_named(u, NULL, name);
	void **slot = t == NULL ? NULL : map_at(&u->types, name, strlen(name));
	if (slot != NULL)
		*slot = (void *)(uintptr_t)t;
	return slot != NULL;
}

bool starts_type(struct parser *ps)
{
	return type_word(ps->tok.kind) ||
	       (at(ps, T_IDENT) && (type_named(ps->u, ps->tok.str) != NULL || adopt_type(ps)));
}

bool symbol_names_tag(const char *symbol)
{
	const char *name = strchr(symbol, '`') + 1;
	return strcmp(name, "struct") == 0 || strcmp(name, "union") == 0 || strcmp(name, "enum") == 0;
}

/* Whether module`name, or `struct and what follows, is a type of the kernel and not a symbol. */
static bool symbol_is_type(const struct parser *ps)
{
	const char *name = strchr(ps->tok.str, '`') + 1;
	const size_t n = (size_t)(name - 1 - ps->tok.str);
	char *module;

	if (symbol_names_tag(ps->tok.str))
		return true;
	module = arena_strndup(&ps->u->arena, ps->tok.str, n);
	return module != NULL && ktype_named(ps->u, module, name) != NULL;
}

int type_follows(struct parser *ps)
{
	struct d_token here = ps->tok;
	int rc = lex_next(ps);
	if (rc < 0)
		return rc;
	ps->measured = true;
	bool follows = at(ps, T_RPAREN) || /* f() has parameters: none */
		       (at(ps, T_SYMBOL) ? symbol_is_type(ps) : starts_type(ps));
	ps->measured = false;
	ps->tok = here;
	lex_rewind(ps);
	return (rc = lex_next(ps)) < 0 ? rc : follows;
}

/* ---- structs, unions, enums ---------------------------------------------- */

/* of a struct or union being read */
struct layout {
	struct d_type *t;
	struct d_member **end;
	uint64_t bits, bytes; /* used so far; bytes: with what the load of a bit-field reaches */
	uint32_t n;
	struct map names;
};

/* A bit-field begins at a byte of its own, and is loaded as the fewest bytes that a load can have: a D compiler's
 * layout, which differs from C's. */
static void bit_field_place(struct layout *l, struct d_member *m)
{
	uint32_t unit = 1;
	while (unit * 8 < m->bits)
		unit *= 2;
	uint64_t at = l->t->kind == TY_UNION ? 0 : ((l->bits + 7) / 8 + unit - 1) / unit * unit;
	m->offset = (uint32_t)at;
	m->unit = (uint8_t)unit;
	if (at * 8 + m->bits > l->bits)
		l->bits = at * 8 + m->bits;
	if (at + unit > l->bytes)
		l->bytes = at + unit;
}

static void member_place(struct layout *l, struct d_member *m)
{
	const uint32_t align = m->type->align;
	uint64_t at = l->t->kind == TY_UNION ? 0 : ((l->bits + 7) / 8 + align - 1) / align * align;
	m->offset = (uint32_t)at;
	at += m->type->size;
	if (at * 8 > l->bits)
		l->bits = at * 8;
	if (at > l->bytes)
		l->bytes = at;
	if (align > l->t->align)
		l->t->align = align;
}

static int member_add(struct parser *ps, struct layout *l, struct d_member m, bool bit_field)
{
	struct d_unit *u = ps->u;
	if (++l->n > MEMBERS_MOST || l->bytes + m.type->size > ARRAY_MOST)
		return d_fail(u, ps->tok.line, D_DECL_ARRBIG, "%s is too big", type_name(u, l->t));
	if (bit_field)
		bit_field_place(l, &m);
	else
		member_place(l, &m);
	if (m.name[0] == '\0' && bit_field)
		return 0;
	if (m.name[0] != '\0') {
		void **seen = map_at(&l->names, m.name, strlen(m.name));
		if (seen == NULL)
			return d_nomem(u);
		if (*seen != NULL)
			return d_fail(u, ps->tok.line, D_DECL_IDRED, "identifier redeclared: %s", m.name);
		*seen = l;
	}
	struct d_member *copy = arena_alloc(&u->arena, sizeof(*copy));
	if (copy == NULL)
		return d_nomem(u);
	*copy = m;
	*l->end = copy;
	l->end = &copy->next;
	return 0;
}

static int bit_width(struct parser *ps, struct d_member *m)
{
	int64_t bits;
	int rc = parse_constant(ps, &bits, D_DECL_BFCONST,
				"positive integral constant expression expected as "
				"bit-field size");
	if (rc < 0)
		return rc;
	if (!ty_is_int(m->type))
		return d_fail(ps->u, ps->tok.line, D_DECL_BFTYPE, "invalid type for bit-field: %s", m->name);
	if (bits < 0 || bits > (m->type->is_bool ? 1 : m->type->size * 8) || (bits == 0 && m->name[0] != '\0'))
		return d_fail(ps->u, ps->tok.line, D_DECL_BFSIZE, "bit-field too big for type: %s", m->name);
	m->bits = (uint8_t)bits;
	return 0;
}

/* An array without elements may end a struct: what follows it in memory. */
static bool member_is_open(const struct d_type *t)
{
	return t->kind == TY_ARRAY && t->n == 0 && !t->incomplete;
}

/* One declarator of a member, its width, and on to ',' or ';' */
static int member_declarator(struct parser *ps, struct layout *l, const struct d_type *base, bool anonymous)
{
	struct d_member m = { .name = "" };
	int rc;
	ps->open_array = true;
	m.type = at(ps, T_COLON) ? base : decl_declarator(ps, base, &m.name);
	ps->open_array = false;
	if (m.type == NULL)
		return -TALLY_ESYNTAX;
	if (m.name == NULL)
		m.name = "";
	rc = accept_token(ps, T_COLON);
	if (rc < 0)
		return rc;
	if (rc > 0)
		return (rc = bit_width(ps, &m)) < 0 ? rc : member_add(ps, l, m, true);
	if (m.name[0] == '\0' && !(anonymous && m.type == base && ty_is_sou(base)))
		return d_fail(ps->u, ps->tok.line, D_DECL_MNAME, "member declaration requires a name");
	if (type_complete(ps->u, m.type) < 0)
		return -TALLY_ENOMEM;
	/* An array of an incomplete type has alignment 0: it is refused, with and without a dimension. */
	if (m.type->incomplete || m.type->align == 0 ||
	    (m.type->size == 0 && !member_is_open(m.type) && ps->u->header == NULL))
		return d_fail(ps->u, ps->tok.line, D_DECL_INCOMPLETE, "incomplete struct/union/enum %s: %s%s",
			      type_name(ps->u, m.type), m.name, near_type(ps->u, m.type));
	return member_add(ps, l, m, false);
}

static int member_list(struct parser *ps, struct layout *l)
{
	int rc = expect(ps, T_LBRACE);
	while (rc == 0 && !at(ps, T_RBRACE)) {
		struct specs sp = { 0 };
		const struct d_type *base = decl_specifiers(ps, &sp);
		if (base == NULL)
			return -TALLY_ESYNTAX;
		if (sp.class != DC_NONE)
			return d_fail(ps->u, ps->tok.line, D_DECL_BADCLASS,
				      "specified storage class not appropriate in D");
		do {
			rc = member_declarator(ps, l, base, sp.anonymous);
		} while (rc == 0 && (rc = accept_token(ps, T_COMMA)) > 0);
		if (rc == 0)
			rc = expect(ps, T_SEMI);
	}
	return rc < 0 ? rc : expect(ps, T_RBRACE);
}

static int struct_body(struct parser *ps, struct d_type *t)
{
	struct layout l = { .t = t, .end = &t->members };
	t->align = 1;
	int rc = member_list(ps, &l);
	map_free(&l.names);
	if (rc < 0)
		return rc;
	t->incomplete = false;
	t->size = (uint32_t)((l.bytes + t->align - 1) / t->align * t->align);
	return 0;
}

static int decl_enumerator(struct parser *ps, const struct d_type *t, int64_t *next)
{
	const char *name = ps->tok.str;
	struct d_unit *u = ps->u;
	int rc = expect(ps, T_IDENT);
	if (rc < 0)
		return rc;
	if ((rc = accept_token(ps, T_ASSIGN)) > 0) {
		const char *what =
			arena_printf(&u->arena, "enumerator '%s' must be assigned to an integral constant expression",
				     name);
		if (what == NULL)
			return d_nomem(u);
		rc = parse_constant(ps, next, D_DECL_ENCONST, what);
	}
	if (rc < 0)
		return rc;
	if (u->header == NULL && *next != (int32_t)*next)
		return d_fail(u, ps->tok.line, D_DECL_ENOFLOW, "enumerator value overflows INT_MAX: %s", name);
	void **slot = map_at(&u->consts, name, strlen(name));
	struct d_node *n = node_int(u, ps->tok.line, t, (*next)++);
	if (slot == NULL || n == NULL)
		return d_nomem(u);
	if (*slot != NULL)
		return d_fail(u, ps->tok.line, D_DECL_IDRED, "identifier redeclared: %s", name);
	*slot = n;
	return 0;
}

static int enum_body(struct parser *ps, struct d_type *t)
{
	int64_t next = 0;
	int rc = expect(ps, T_LBRACE);
	t->size = t->align = 4;
	t->is_signed = true;
	t->incomplete = false;
	while (rc == 0) {
		if ((rc = decl_enumerator(ps, t, &next)) < 0 || (rc = accept_token(ps, T_COMMA)) < 0)
			return rc;
		if (rc == 0 || at(ps, T_RBRACE))
			return expect(ps, T_RBRACE);
		rc = 0;
	}
	return rc;
}

/* vmlinux`T and `T are T: the kernel's own types are in no module. */
static const char *scoped_name(const char *name)
{
	size_t n = strcspn(name, "`");
	return name[n] == '`' && (n == 0 || (n == 7 && memcmp(name, "vmlinux", 7) == 0)) ? name + n + 1 : name;
}

static int decl_refuse_kernel_type(struct parser *ps)
{
	return d_fail(ps->u, ps->tok.line, D_UNSUPPORTED, "kernel types are not known where this runs: %s",
		      ps->tok.str);
}

static const struct d_type *decl_tagged(struct parser *ps, bool *anonymous)
{
	enum ty_kind kind = at(ps, T_struct) ? TY_STRUCT : at(ps, T_union) ? TY_UNION : TY_ENUM;
	const char *tag = NULL;
	if (lex_next(ps) < 0)
		return NULL;
	if (at(ps, T_SYMBOL) && ps->u->env.ktypes == NULL) {
		decl_refuse_kernel_type(ps);
		return NULL;
	}
	if (at(ps, T_IDENT) || at(ps, T_SYMBOL)) {
		tag = scoped_name(ps->tok.str);
		if (lex_next(ps) < 0)
			return NULL;
	}
	if (tag == NULL && !at(ps, T_LBRACE)) {
		lex_syntax(ps);
		return NULL;
	}
	struct d_type *t = type_tagged(ps->u, kind, tag);
	*anonymous = tag == NULL;
	if (t == NULL || !at(ps, T_LBRACE))
		return t;
	if (!t->incomplete) {
		d_fail(ps->u, ps->tok.line, D_DECL_TYPERED, "type redeclared: %s", type_name(ps->u, t));
		return NULL;
	}
	if (parse_enter(ps) < 0 || (kind == TY_ENUM ? enum_body(ps, t) : struct_body(ps, t)) < 0)
		return NULL;
	parse_leave(ps);
	return t;
}

/* ---- specifiers ---------------------------------------------------------- */

/* A type of which nothing is known but its name. */
static const struct d_type *decl_opaque(struct d_unit *u, const char *name)
{
	struct d_type *t = type_new(u, TY_STRUCT);
	if (t != NULL) {
		t->name = name;
		t->incomplete = true;
	}
	return t;
}

/* module`name, or `struct name */
static const struct d_type *decl_scoped(struct parser *ps)
{
	const char *name = strchr(ps->tok.str, '`') + 1;
	char *module = arena_strndup(&ps->u->arena, ps->tok.str, (size_t)(name - 1 - ps->tok.str));
	if (ps->u->env.ktypes == NULL) {
		decl_refuse_kernel_type(ps);
		return NULL;
	}
	if (module == NULL) {
		d_nomem(ps->u);
		return NULL;
	}
	enum ty_kind kind = strcmp(name, "struct") == 0 ? TY_STRUCT :
			    strcmp(name, "union") == 0  ? TY_UNION :
			    strcmp(name, "enum") == 0   ? TY_ENUM :
							  TY_VOID;
	const struct d_type *t;
	if (kind != TY_VOID) {
		if (lex_next(ps) < 0)
			return NULL;
		if (!at(ps, T_IDENT)) {
			lex_syntax(ps);
			return NULL;
		}
		name = arena_printf(&ps->u->arena, "%s`%s", module, ps->tok.str);
		t = name == NULL ? NULL : type_tagged(ps->u, kind, scoped_name(name));
		return t != NULL && lex_next(ps) == 0 ? t : NULL;
	}
	t = ktype_named(ps->u, module, name);
	if (t == NULL)
		d_fail(ps->u, ps->tok.line, D_UNKNOWN, "failed to resolve type %s: Unknown type name%s", ps->tok.str,
		       near_type_name(ps->u, module, name));
	return t != NULL && lex_next(ps) == 0 ? t : NULL;
}

static int take_type(struct parser *ps, struct specs *sp)
{
	if (sp->type != NULL || sp->word != 0)
		return d_fail(ps->u, ps->tok.line, D_DECL_COMBO, "invalid type combination");
	switch (ps->tok.kind) {
	case T_struct:
	case T_union:
	case T_enum:
		sp->type = decl_tagged(ps, &sp->anonymous);
		return sp->type == NULL ? -TALLY_ESYNTAX : 0;
	case T_string:
		sp->type = type_string(ps->u, ps->u->strsize);
		break;
	case T_SYMBOL:
		sp->type = decl_scoped(ps);
		return sp->type == NULL ? -TALLY_ESYNTAX : 0;
	case T_IDENT:
		sp->type = type_named(ps->u, ps->tok.str);
		if (sp->type == NULL)
			sp->type = decl_opaque(ps->u, ps->tok.str);
		break;
	default:
		sp->word = ps->tok.kind;
		return lex_next(ps);
	}
	return sp->type == NULL ? -TALLY_ENOMEM : lex_next(ps);
}

static int take_class(struct parser *ps, struct specs *sp, enum dclass class)
{
	if (sp->class != DC_NONE)
		return d_fail(ps->u, ps->tok.line, D_DECL_CLASS, "only one storage class allowed in a declaration");
	sp->class = (uint8_t) class;
	return lex_next(ps);
}

/* Takes one specifier: 1, or 0 when the token is none. */
static int decl_take_specifier(struct parser *ps, struct specs *sp)
{
	enum dclass class = class_word(ps->tok.kind);
	uint8_t *count = at(ps, T_long)     ? &sp->nlong :
			 at(ps, T_short)    ? &sp->nshort :
			 at(ps, T_signed)   ? &sp->nsigned :
			 at(ps, T_unsigned) ? &sp->nunsigned :
					      NULL;
	bool seen = sp->type != NULL || sp->word != 0 || sp->nlong + sp->nshort + sp->nsigned + sp->nunsigned != 0;
	int rc;
	if (class != DC_NONE) {
		rc = take_class(ps, sp, class);
	} else if (count != NULL) {
		if (*count < 3)
			++*count;
		rc = lex_next(ps);
	} else if (at(ps, T_const) || at(ps, T_volatile) || at(ps, T_restrict) || at(ps, T_userland)) {
		sp->userland |= at(ps, T_userland);
		rc = lex_next(ps);
	} else if (seen && (at(ps, T_IDENT) || at(ps, T_SYMBOL))) {
		return 0; /* a declarator may have the name of a type */
	} else if (starts_type(ps) || at(ps, T_SYMBOL) || (ps->any_type && at(ps, T_IDENT))) {
		rc = take_type(ps, sp);
	} else {
		return 0;
	}
	return rc < 0 ? rc : 1;
}

static const struct d_type *int_word(struct parser *ps, const struct specs *sp, unsigned base)
{
	if (sp->nshort && sp->nlong) {
		d_fail(ps->u, ps->tok.line, D_UNKNOWN, "failed to resolve type %s%s%s: Unknown type name",
		       "short long ", sp->nlong > 1 ? "long " : "", base == B_CHAR ? "char" : "");
		return NULL;
	}
	if (sp->nsigned + sp->nunsigned > 1 || sp->nshort > 1 || sp->nlong > 2) {
		d_fail(ps->u, ps->tok.line, D_DECL_COMBO, "invalid type combination");
		return NULL;
	}
	if (base == B_CHAR)
		return ps->u->base[sp->nunsigned ? B_UCHAR : B_CHAR];
	base = sp->nshort ? B_SHORT : sp->nlong == 1 ? B_LONG : sp->nlong == 2 ? B_LLONG : B_INT;
	return ps->u->base[base + (sp->nunsigned ? 1 : 0)];
}

static const struct d_type *decl_resolve(struct parser *ps, const struct specs *sp)
{
	unsigned sign = sp->nsigned + sp->nunsigned, length = sp->nlong + sp->nshort;
	bool integer = sp->type == NULL && (sp->word == 0 || sp->word == T_int || sp->word == T_char);
	if (length != 0 && sp->word == T_char) {
		d_fail(ps->u, ps->tok.line, D_DECL_CHARATTR,
		       "invalid type declaration: short and long may not be used with char type");
		return NULL;
	}
	if (sign + length != 0 && sp->word == T_void) {
		d_fail(ps->u, ps->tok.line, D_DECL_VOIDATTR,
		       "invalid type declaration: attributes may not be used with void type");
		return NULL;
	}
	if (sign != 0 && !integer) {
		d_fail(ps->u, ps->tok.line, D_DECL_SIGNINT, "signed and unsigned may only be used with integer type");
		return NULL;
	}
	if (length != 0 && !integer && !(sp->word == T_double && sp->nlong == 1 && !sp->nshort)) {
		d_fail(ps->u, ps->tok.line, D_DECL_LONGINT,
		       "long and short may only be used with integer type, "
		       "long with double");
		return NULL;
	}
	if (sp->type != NULL)
		return sp->type;
	switch (sp->word) {
	case T_char:
		return int_word(ps, sp, B_CHAR);
	case T_void:
		return ps->u->base[B_VOID];
	case T_float:
		return ps->u->base[B_FLOAT];
	case T_double:
		return ps->u->base[sp->nlong ? B_LDOUBLE : B_DOUBLE];
	case T__Bool:
		return ps->u->base[B_BOOL];
	default:
		if (sp->word == 0 && sign + length == 0 && sp->class == DC_NONE) {
			lex_syntax(ps);
			return NULL;
		}
		return int_word(ps, sp, B_INT);
	}
}

static const struct d_type *decl_specifiers(struct parser *ps, struct specs *sp)
{
	int rc;
	while ((rc = decl_take_specifier(ps, sp)) > 0)
		;
	return rc < 0 ? NULL : decl_resolve(ps, sp);
}

/* ---- declarators --------------------------------------------------------- */

static int params_add(struct parser *ps, struct d_params *p, const char *name, const struct d_type *t)
{
	uint32_t n = p->n, cap = p->cap;
	if (D_PUSH(ps->u, p->name, n, cap, name != NULL ? name : "") < 0)
		return -TALLY_ENOMEM;
	return D_PUSH(ps->u, p->type, p->n, p->cap, t);
}

static int decl_refuse_ellipsis(struct parser *ps, const char *kind)
{
	return d_fail(ps->u, ps->tok.line, D_DECL_PROTO_VARARGS,
		      "%s prototype may not use a variable-length argument list", kind);
}

/* ( parameters ): D never calls such a function, so whoever wants none of them passes NULL. */
static const struct d_type *decl_prototype(struct parser *ps, const struct d_type *result, struct d_params *params)
{
	const bool outer_open = ps->open_array, outer_prototype = ps->in_prototype;
	const char *const kind = params != NULL ? "probe" : "function";
	struct d_type *t = type_new(ps->u, TY_FUNC);
	int rc = t == NULL ? -TALLY_ENOMEM : expect(ps, T_LPAREN);
	for (unsigned i = 0; rc == 0 && !at(ps, T_RPAREN); i++) {
		const char *name;
		if (i > 0 && (rc = expect(ps, T_COMMA)) < 0)
			break;
		if (at(ps, T_ELLIPSIS)) {
			rc = params != NULL ? decl_refuse_ellipsis(ps, kind) : lex_next(ps);
			break;
		}
		ps->open_array = ps->in_prototype = true;
		const struct d_type *p = parse_parameter(ps, &name);
		ps->open_array = outer_open;
		ps->in_prototype = outer_prototype;
		if (p == NULL)
			return NULL;
		if (p->kind == TY_VOID && name != NULL)
			rc = d_fail(ps->u, ps->tok.line, D_DECL_PROTO_NAME, "void parameter may not have a name: %s",
				    name);
		else if (p->kind == TY_VOID && (i > 0 || !at(ps, T_RPAREN)))
			rc = d_fail(ps->u, ps->tok.line, D_DECL_PROTO_VOID, "void must be the sole parameter");
		else if (p->kind == TY_ASSOC)
			rc = d_fail(ps->u, ps->tok.line, D_DECL_PROTO_TYPE,
				    "%s prototype may not use parameter of type dynamic variable: %s, parameter #%u",
				    kind, name != NULL ? name : "(anonymous)", i + 1);
		else if (p->kind != TY_VOID && params != NULL)
			rc = params_add(ps, params, name, p);
	}
	if (rc < 0 || expect(ps, T_RPAREN) < 0)
		return NULL;
	t->to = result;
	return t;
}

bool parse_prototype(struct parser *ps, struct d_params *params)
{
	return decl_prototype(ps, ps->u->base[B_VOID], params) != NULL;
}

/* A parameter of an inline has a name of its own. */
static int inline_parameter_check(struct parser *ps, const char *name)
{
	const struct d_params *p = ps->params;
	if (name == NULL)
		return d_fail(ps->u, ps->tok.line, D_DECL_PROTO_NAME,
			      "parameter declaration requires a name: parameter #%u", p->n + 1);
	for (uint32_t i = 0; i < p->n; i++)
		if (strcmp(p->name[i], name) == 0)
			return d_fail(ps->u, ps->tok.line, D_DECL_PROTO_FORM,
				      "parameter is already declared in array prototype: %s, parameter #%u", name,
				      p->n + 1);
	return 0;
}

/* [ type, type name ... ] of an associative array; the bracket is taken. */
static const struct d_type *decl_tuple(struct parser *ps, const struct d_type *value)
{
	struct d_type *t = type_new(ps->u, TY_ASSOC);
	uint32_t cap = 0;
	int rc = t == NULL ? -TALLY_ENOMEM : 0;
	while (rc == 0) {
		const char *name;
		if (at(ps, T_ELLIPSIS)) {
			decl_refuse_ellipsis(ps, "array");
			return NULL;
		}
		const struct d_type *key = parse_parameter(ps, &name);
		if (key == NULL)
			return NULL;
		if (key->kind == TY_VOID) {
			d_fail(ps->u, ps->tok.line, D_DECL_PROTO_TYPE,
			       "array prototype may not use parameter of type void: %s, parameter #%u",
			       name != NULL ? name : "(anonymous)", t->nkeys + 1);
			return NULL;
		}
		if (!ty_is_scalar(key) && !ty_is_sou(key) && key->kind != TY_STRING && key->kind != TY_ARRAY) {
			d_fail(ps->u, ps->tok.line, D_KEY_TYPE, "%s may not be used as the key of an associative array",
			       type_name(ps->u, key));
			return NULL;
		}
		if (ps->params != NULL &&
		    (inline_parameter_check(ps, name) < 0 || params_add(ps, ps->params, name, key) < 0))
			return NULL;
		if ((rc = D_PUSH(ps->u, t->keys, t->nkeys, cap, key)) < 0 || (rc = accept_token(ps, T_RBRACK)) != 0)
			break;
		rc = expect(ps, T_COMMA);
	}
	if (rc < 0)
		return NULL;
	t->to = value;
	return t;
}

static const struct d_type *decl_suffixes(struct parser *ps, const struct d_type *base);

/* ... ] of a parameter in a C header, which may be an expression of other parameters, or `restrict`: it is a pointer
 * anyway. */
static const struct d_type *decl_skip_bound(struct parser *ps, const struct d_type *base)
{
	for (unsigned depth = 1; depth > 0;) {
		depth += at(ps, T_LBRACK);
		depth -= at(ps, T_RBRACK);
		if (at(ps, T_END)) {
			lex_syntax(ps);
			return NULL;
		}
		if (lex_next(ps) < 0)
			return NULL;
	}
	return (base = decl_suffixes(ps, base)) == NULL ? NULL : type_array(ps->u, base, 0);
}

static const struct d_type *decl_array(struct parser *ps, const struct d_type *base)
{
	int64_t n;
	if (lex_next(ps) < 0)
		return NULL;
	if (at(ps, T_RBRACK) && ps->open_array)
		return lex_next(ps) < 0 || (base = decl_suffixes(ps, base)) == NULL || type_complete(ps->u, base) < 0 ?
			       NULL :
			       type_array(ps->u, base, 0);
	if (at(ps, T_RBRACK)) {
		d_fail(ps->u, ps->tok.line, D_DECL_ARRNULL,
		       "array declaration requires array dimension or tuple signature");
		return NULL;
	}
	if (ps->in_prototype && ps->u->header != NULL)
		return decl_skip_bound(ps, base);
	ps->declares = true;
	bool tuple = starts_type(ps) || at(ps, T_ELLIPSIS);
	ps->declares = false;
	if (tuple)
		return decl_tuple(ps, base);
	if (parse_constant(ps, &n, D_DECL_ARRSUB,
			   "positive integral constant expression or tuple signature expected "
			   "as array declaration subscript") < 0 ||
	    expect(ps, T_RBRACK) < 0)
		return NULL;
	if (n < 0 || (n == 0 && !ps->open_array)) {
		d_fail(ps->u, ps->tok.line, D_DECL_ARRSUB,
		       "positive integral constant expression or tuple signature "
		       "expected as array declaration subscript");
		return NULL;
	}
	if (parse_enter(ps) < 0 || (base = decl_suffixes(ps, base)) == NULL)
		return NULL;
	parse_leave(ps);
	if (type_complete(ps->u, base) < 0)
		return NULL;
	if (base->size == 0 || n > ARRAY_MOST / base->size) {
		d_fail(ps->u, ps->tok.line, D_DECL_ARRBIG, "array dimension too big, or of elements without a size");
		return NULL;
	}
	return type_array(ps->u, base, (uint32_t)n);
}

static const struct d_type *decl_suffixes(struct parser *ps, const struct d_type *base)
{
	if (at(ps, T_LBRACK))
		return decl_array(ps, base);
	if (at(ps, T_LPAREN))
		return decl_prototype(ps, base, NULL);
	return base;
}

/* ( declarator ) suffixes */
static const struct d_type *decl_nested(struct parser *ps, const struct d_type *base, const char **name)
{
	struct d_type *hole = type_new(ps->u, TY_VOID);
	const struct d_type *inner;
	if (hole == NULL || lex_next(ps) < 0 || (inner = decl_declarator(ps, hole, name)) == NULL ||
	    expect(ps, T_RPAREN) < 0)
		return NULL;
	const struct d_type *outer = decl_suffixes(ps, base);
	if (outer == NULL || inner == hole)
		return outer;
	*hole = *outer;
	return inner;
}

static const struct d_type *decl_pointers(struct parser *ps, const struct d_type *base)
{
	unsigned levels = 0;
	while (base != NULL && at(ps, T_MUL)) {
		if (++levels > POINTERS_MOST) {
			d_fail(ps->u, ps->tok.line, D_SYNTAX, "nested too deeply: more than %u levels of pointers",
			       POINTERS_MOST);
			return NULL;
		}
		base = type_ptr(ps->u, base);
		do {
			if (lex_next(ps) < 0)
				return NULL;
		} while (at(ps, T_const) || at(ps, T_volatile) || at(ps, T_restrict));
	}
	return base;
}

/* Wraps base; *name is NULL for an abstract declarator. */
static const struct d_type *decl_declarator(struct parser *ps, const struct d_type *base, const char **name)
{
	*name = NULL;
	if (parse_enter(ps) < 0 || (base = decl_pointers(ps, base)) == NULL)
		return NULL;
	int type = at(ps, T_LPAREN) ? type_follows(ps) : 1;
	if (type < 0)
		return NULL;
	if (type == 0) {
		base = decl_nested(ps, base, name);
	} else {
		if (at(ps, T_IDENT)) {
			*name = ps->tok.str;
			if (lex_next(ps) < 0)
				return NULL;
		}
		base = decl_suffixes(ps, base);
	}
	parse_leave(ps);
	return base;
}

/* What the specifiers and one declarator make. */
static const struct d_type *decl_declared(struct parser *ps, const struct specs *sp, const struct d_type *base,
					  const char **name)
{
	const struct d_type *t = decl_declarator(ps, base, name);
	return t != NULL && sp->userland ? type_of_user(ps->u, t) : t;
}

const struct d_type *parse_type_name(struct parser *ps)
{
	struct specs sp = { 0 };
	const char *name = NULL;
	const struct d_type *base = decl_specifiers(ps, &sp), *t = NULL;
	if (base != NULL && sp.class == DC_NONE)
		t = decl_declared(ps, &sp, base, &name);
	else if (base != NULL)
		lex_syntax(ps);
	if (t == NULL || name == NULL)
		return t;
	lex_syntax(ps);
	return NULL;
}

const struct d_type *parse_parameter(struct parser *ps, const char **name)
{
	struct specs sp = { 0 };
	const struct d_type *base = decl_specifiers(ps, &sp);
	if (base == NULL)
		return NULL;
	const struct d_type *t = decl_declared(ps, &sp, base, name);
	if (t == NULL || sp.class == DC_NONE || sp.class == DC_REGISTER)
		return t;
	d_fail(ps->u, ps->tok.line, D_DECL_PARMCLASS,
	       "inappropriate storage class for function or associative array parameter");
	return NULL;
}

/* ---- variables ----------------------------------------------------------- */

struct d_sym *sym_get(struct d_unit *u, enum sym_kind kind, const char *name, uint32_t line, bool create)
{
	static const char space[] = {
		[SYM_GLOBAL] = 'g', [SYM_THIS] = 't', [SYM_SELF] = 's', [SYM_ASSOC] = 'g', [SYM_AGG] = '@'
	};
	const char *key = arena_printf(&u->arena, "%c%s", space[kind], name);
	if (key == NULL) {
		d_nomem(u);
		return NULL;
	}
	struct d_sym *s = map_get(&u->vars, key, strlen(key));
	if (s != NULL || !create)
		return s;
	void **slot = map_at(&u->vars, key, strlen(key));
	s = slot == NULL ? NULL : arena_alloc(&u->arena, sizeof(*s));
	if (s == NULL || (kind == SYM_AGG ? D_PUSH(u, u->agg, u->naggs, u->capaggs, s) :
					    D_PUSH(u, u->var, u->nvars, u->capvars, s)) < 0) {
		d_nomem(u);
		return NULL;
	}
	s->kind = (uint8_t)kind;
	s->line = line;
	s->source = u->cur_source;
	s->name = arena_strdup(&u->arena, name);
	s->index = (kind == SYM_AGG ? u->naggs : u->nvars) - 1;
	if (s->name == NULL) {
		d_nomem(u);
		return NULL;
	}
	*slot = s;
	return s;
}

struct d_node *var_hidden(struct d_unit *u, const struct d_type *t, uint32_t line)
{
	const char *name = arena_printf(&u->arena, "(hidden %u)", u->nvars);
	struct d_sym *s = name != NULL ? sym_get(u, SYM_THIS, name, line, true) : NULL;
	struct d_node *n = s != NULL ? node_new(u, N_VAR, line) : NULL;
	if (n == NULL) {
		d_nomem(u);
		return NULL;
	}
	s->type = n->type = t;
	n->sym = s;
	return n;
}

/* What can't be a variable, ever or yet. */
static int object_check(struct parser *ps, const struct specs *sp, const char *name, const struct d_type *t)
{
	struct d_unit *u = ps->u;
	uint32_t line = ps->tok.line;
	const struct d_type *value = t->kind == TY_ASSOC ? t->to : t;
	if (type_complete(u, value) < 0)
		return -TALLY_ENOMEM;
	if (value->kind == TY_VOID)
		return d_fail(u, line, D_DECL_VOIDOBJ, "cannot declare void object: %s", name);
	if (value->incomplete)
		return d_fail(u, line, D_DECL_INCOMPLETE, "incomplete struct/union/enum %s: %s%s", type_name(u, value),
			      name, near_type(u, value));
	if (t->kind == TY_ASSOC && sp->class == DC_THIS)
		return d_fail(u, line, D_DECL_LOCASSC, "associative arrays may not be declared as local variables: %s",
			      name);
	return 0;
}

static int declare_variable(struct parser *ps, const struct specs *sp, const char *name, const struct d_type *t)
{
	struct d_unit *u = ps->u;
	bool assoc = t->kind == TY_ASSOC;
	enum sym_kind kind = sp->class == DC_THIS ? SYM_THIS :
			     sp->class == DC_SELF ? SYM_SELF :
			     assoc                ? SYM_ASSOC :
						    SYM_GLOBAL;
	int rc = object_check(ps, sp, name, t);
	if (rc < 0)
		return rc;
	if (sp->class == DC_NONE && u->header == NULL && (inline_find(u, name) != NULL || call_is_of_dtrace(name)))
		return d_fail(u, ps->tok.line, D_DECL_IDRED, "identifier redeclared: %s", name);
	struct d_sym *s = sym_get(u, kind, name, ps->tok.line, true);
	if (s == NULL)
		return -TALLY_ENOMEM;
	const struct d_type *value = assoc ? t->to : t;
	bool again = s->type != NULL;
	if ((sp->class == DC_NONE && (is_builtin(name) || map_get(&u->consts, name, strlen(name)) != NULL)) ||
	    (again && (s->kind != kind || s->nkeys != t->nkeys || !types_same(s->type, value))))
		return d_fail(u, ps->tok.line, D_DECL_IDRED, "identifier redeclared: %s", name);
	s->type = value;
	s->keys = t->keys;
	s->nkeys = t->nkeys;
	s->declared = true;
	return 0;
}

/* Our own caddr_t is a pointer to nothing; a C header may say to what. */
static bool declare_type_narrows(const struct d_unit *u, const struct d_type *was, const struct d_type *t)
{
	return t->kind == TY_PTR && types_same(was, u->base[B_VOIDPTR]);
}

static int declare_type(struct parser *ps, const char *name, const struct d_type *t)
{
	void **slot = map_at(&ps->u->types, name, strlen(name));
	if (slot == NULL)
		return d_nomem(ps->u);
	if (*slot != NULL && !types_same(*slot, t) && !declare_type_narrows(ps->u, *slot, t))
		return d_fail(ps->u, ps->tok.line, D_DECL_IDRED, "typedef redeclared: %s", name);
	*slot = (void *)(uintptr_t)t;
	return 0;
}

static int decl_declare_name(struct parser *ps, const struct specs *sp, const char *name, const struct d_type *t)
{
	if (name == NULL && at(ps, T_SYMBOL))
		return d_fail(ps->u, ps->tok.line, D_DECL_SCOPE,
			      "D scoping operator may not be used in a declaration name (%s)", ps->tok.str);
	if (name == NULL)
		return lex_syntax(ps);
	if (sp->class == DC_TYPEDEF)
		return declare_type(ps, name, t);
	if (t->kind == TY_FUNC || sp->class == DC_EXTERN)
		return 0; /* known to C only; using it fails as any unknown name does */
	if (sp->class == DC_AUTO || sp->class == DC_REGISTER || sp->class == DC_STATIC)
		return d_fail(ps->u, ps->tok.line, D_DECL_BADCLASS, "specified storage class not appropriate in D");
	return declare_variable(ps, sp, name, t);
}

/* { ... } of a function: no part of D, and read over where a C header defines it. The last '}' stays the token, as a
 * ';' does. */
static int decl_function_body(struct parser *ps)
{
	unsigned depth = 0;
	if (ps->u->header == NULL) {
		ps->advice = "D has no functions: an inline gives an expression a name, and a clause runs statements";
		return lex_syntax(ps);
	}
	for (;;) {
		depth += at(ps, T_LBRACE);
		depth -= at(ps, T_RBRACE);
		if (depth == 0)
			return 0;
		if (lex_next(ps) < 0)
			return -TALLY_ESYNTAX;
		if (at(ps, T_END))
			return lex_syntax(ps);
	}
}

int parse_declaration(struct parser *ps)
{
	struct specs sp = { 0 };
	const struct d_type *base, *t;
	const char *name;
	int rc;
	ps->declares = true;
	base = decl_specifiers(ps, &sp);
	ps->declares = false;
	if (base == NULL)
		return -TALLY_ESYNTAX;
	if (at(ps, T_SEMI)) {
		if (!ty_is_sou(base) && base->kind != TY_ENUM)
			return d_fail(ps->u, ps->tok.line, D_DECL_USELESS, "useless declaration");
		return 0; /* the ';' stays: a probe description may follow it */
	}
	do {
		ps->open_array = sp.class == DC_EXTERN || sp.class == DC_TYPEDEF;
		t = decl_declarator(ps, base, &name);
		ps->open_array = false;
		if (t == NULL)
			return -TALLY_ESYNTAX;
		if (at(ps, T_ASSIGN))
			return d_fail(ps->u, ps->tok.line, D_SYNTAX,
				      "syntax error near \"=\" (variables start as zero; "
				      "assign in BEGIN)");
		if ((rc = decl_declare_name(ps, &sp, name, t)) < 0)
			return rc;
		if (t->kind == TY_FUNC && name != NULL && at(ps, T_LBRACE))
			return decl_function_body(ps);
	} while ((rc = accept_token(ps, T_COMMA)) > 0);
	return rc < 0 ? rc : expect_semicolon(ps);
}
