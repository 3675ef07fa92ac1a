/*
 * parse_int.h: what the lexer and the parts of the parser share.
 *
 * One struct serves both: a cursor in the text of one source and the token
 * under it.  D has two vocabularies: probe descriptions, where
 * `cpc:::cpu_clock-user-10000` is one word, and everything else.  The parser
 * knows which one it is in, so there is no lexer state: it looks at characters
 * in front of a clause (lex_space, lex_probe_word) and at tokens after
 * (lex_next).  `lx->tok` is the token not yet taken.
 */
#ifndef TALLY_DLANG_PARSE_INT_H
#define TALLY_DLANG_PARSE_INT_H

#include "dlang/ast_int.h"

/* punctuation: tag, spelling; longest first where one starts another */
/* clang-format off */
#define D_PUNCT(X)                                                                                 \
	X(ELLIPSIS, "...") X(SHL_EQ, "<<=") X(SHR_EQ, ">>=")                                       \
	X(ARROW, "->") X(INC, "++") X(DEC, "--") X(SHL, "<<") X(SHR, ">>") X(LE, "<=")            \
	X(GE, ">=") X(EQ, "==") X(NE, "!=") X(LAND, "&&") X(LOR, "||") X(LXOR, "^^")              \
	X(MUL_EQ, "*=") X(DIV_EQ, "/=") X(MOD_EQ, "%=") X(ADD_EQ, "+=") X(SUB_EQ, "-=")           \
	X(AND_EQ, "&=") X(XOR_EQ, "^=") X(OR_EQ, "|=")                                             \
	X(LBRACE, "{") X(RBRACE, "}") X(LPAREN, "(") X(RPAREN, ")") X(LBRACK, "[")                \
	X(RBRACK, "]") X(SEMI, ";") X(COMMA, ",") X(LT, "<") X(GT, ">") X(ASSIGN, "=")            \
	X(ADD, "+") X(SUB, "-") X(MUL, "*") X(DIV, "/") X(MOD, "%") X(AND, "&") X(OR, "|")        \
	X(XOR, "^") X(NOT, "~") X(LNOT, "!") X(QUESTION, "?") X(COLON, ":") X(DOT, ".")
/* clang-format on */

/* clang-format off */
#define D_KEYWORDS(X)                                                                              \
	X(auto) X(char) X(const) X(counter) X(double) X(enum) X(extern) X(float) X(if) X(import)  \
	X(inline) X(int) X(long) X(offsetof) X(probe) X(provider) X(register) X(restrict) X(self)  \
	X(short) X(signed) X(sizeof) X(static) X(string) X(stringof) X(struct) X(this)             \
	X(translator) X(typedef) X(union) X(unsigned) X(userland) X(void) X(volatile) X(xlate)     \
	X(else) X(for) X(while) X(do) X(goto) X(return) X(break) X(continue) X(switch) X(case)    \
	X(default) X(_Bool)
/* clang-format on */

enum d_tok {
	T_END,
	T_INT,    /* ival, and how it was written */
	T_STR,    /* str, len */
	T_IDENT,  /* str */
	T_SYMBOL, /* str: a name with ` in it */
	T_AGG,    /* str: name without '@' */
#define X(tag, text) T_##tag,
	D_PUNCT(X)
#undef X
#define X(word) T_##word,
		D_KEYWORDS(X)
#undef X
};

struct d_token {
	uint8_t kind;          /* enum d_tok */
	bool decimal, is_char; /* T_INT */
	uint8_t nu, nl;        /* T_INT: how many u and l suffixes */
	bool negative;         /* T_INT from a macro argument */
	uint32_t line, len;
	uint64_t ival;
	const char *str;
	const char *start, *end;   /* where it stands */
	const struct d_open *open; /* as the parser's, in front of it */
};

/* A bracket that is open, and the one around it. */
struct d_open {
	const struct d_open *outer;
	uint32_t line;
	char bracket;
	const char *header; /* as the unit's */
};

struct parser {
	struct d_unit *u;
	const char *p, *end; /* end points at a NUL */
	uint32_t line;
	bool in_predicate;  /* a '/' may be the end of the predicate */
	bool at_line_start; /* only blanks since the newline: '#' is control */
	bool any_type;      /* an unknown name is taken for a type's */
	bool declares;      /* no expression can stand here */
	bool measured;      /* behind sizeof( */
	bool in_prototype;  /* parameters of a function */
	bool open_array;    /* an array may have no elements: of a member, or of what only C knows */
	const char *comment,
		*comment_end;      /* what lex_space() passed last, unless an empty line stands behind it; or NULL */
	const char *advice;        /* what a syntax error adds in the statement that is parsed, or NULL */
	const char *form;          /* of what is defined: it explains a syntax error there; or NULL */
	struct d_params *params;   /* where the names of a tuple's elements go, or NULL */
	const struct d_open *open; /* the innermost bracket without its end, up to the token, or NULL */
	struct d_token tok;
};

/* Those that return int: 0 or more, or a negative code with the words in the unit. */
int lex_next(struct parser *ps);  /* the next token into ps->tok */
int lex_space(struct parser *ps); /* skips blanks, comments and control lines */
/* A word of a probe description at the cursor; *len 0 when there is none. Moves past it. */
void lex_probe_word(struct parser *ps, const char **word, uint32_t *len);
void lex_rewind(struct parser *ps);                   /* the cursor goes back in front of ps->tok */
const char *near_keyword(const char *word, size_t n); /* near.c: what D has instead, or NULL */
const char *near_macro(const char *name);             /* near.c: what defines it, or NULL */
int lex_syntax(struct parser *ps);                    /* fails with: syntax error near "token" */
/* What is added to the refusal of a word that may be meant for a type: one that is near, or that there is none if a
 * declarator stands behind it; else "". */
const char *lex_near_declared(struct parser *ps, const char *word, const char *behind);
int lex_macro_text(struct d_unit *u, uint32_t line, const char *name, size_t n, const char **text);

/* A control line ("#..." without the newline). `early`: only #pragma D option does its work, else
 * all others do. May set *line, the number of the next line. */
int d_control(struct d_unit *u, const char *text, size_t n, uint32_t *line, bool early);
int d_control_early(struct d_unit *u, const struct d_src *s);

/* expr.c */
struct d_node *parse_expr(struct parser *ps);       /* with commas */
struct d_node *parse_assignment(struct parser *ps); /* without */
struct d_node *parse_predicate(struct parser *ps);  /* up to the closing '/', which is taken */
int parse_constant(struct parser *ps, int64_t *ret, enum d_tag tag, const char *what);
/* Counts n nodes more: it fails when the program has more than D_MAX_NODES. */
int node_count(struct d_unit *u, size_t n, uint32_t line);
struct d_node *node_take(struct d_unit *u, uint32_t line); /* the room of one, counted; NULL on failure */
struct d_node *node_new(struct d_unit *u, enum n_kind kind, uint32_t line);
struct d_node *node_int(struct d_unit *u, uint32_t line, const struct d_type *t, int64_t v);

/* decl.c */
bool starts_type(struct parser *ps);                     /* the token begins a type name */
bool symbol_names_tag(const char *symbol);               /* `struct, module`union, `enum: a type's name follows */
int type_follows(struct parser *ps);                     /* 1: the next token does, or is ')'; takes none */
const struct d_type *parse_type_name(struct parser *ps); /* as in casts; NULL on failure */
/* One parameter of a prototype or tuple; *name may become NULL.  NULL on failure. */
const struct d_type *parse_parameter(struct parser *ps, const char **name);
bool parse_prototype(struct parser *ps, struct d_params *params); /* ( parameters ), the token being '(' */
int parse_declaration(struct parser *ps);                         /* up to the semicolon, which is the token then */

int parse_source(struct d_unit *u, uint32_t number); /* parse.c */
/* A clause of that description alone with what stands behind those of c, which is parsed once more: it comes behind c.
 * NULL on failure. */
struct d_clausenode *parse_again(struct d_unit *u, struct d_clausenode *c, struct d_desc *d);
int parse_definition(struct parser *ps); /* as parse_declaration; inline ... provider too */
struct d_node *parse_xlate(struct parser *ps);

/* Notes that what is at `where` isn't supported yet; the first place in the source counts. */

#define D_SOURCE_MOST (2u << 20)   /* bytes of one source */
#define D_STRSIZE_MOST (64u << 10) /* bytes of a string */
#define D_MAX_ARGS 255             /* of a call or a tuple */
#define D_MAX_DEPTH 256            /* of recursion */
#define D_MAX_NODES 262144         /* of a program's trees: those that it writes, and copies of definitions */
#define D_NODE_TEXT 16             /* bytes of text that is read once more and count as a node */

/* Every function that can nest calls enter first, and leave when it is done well. */
int parse_enter(struct parser *ps);
void parse_leave(struct parser *ps);

static inline bool at(const struct parser *ps, enum d_tok kind)
{
	return ps->tok.kind == kind;
}
/* Takes the token if it is of that kind: 1, else 0, negative on failure. */
int accept_token(struct parser *ps, enum d_tok kind);
int expect(struct parser *ps, enum d_tok kind); /* takes it or fails */
int expect_semicolon(struct parser *ps);        /* fails or leaves it the token: the end of a statement or definition */

#endif
