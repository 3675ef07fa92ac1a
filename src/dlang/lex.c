/*
 * lex.c: characters to tokens.
 *
 * Macro variables and arguments ($target, $1, $$1) are replaced here: a whole number
 * becomes a constant, a name that name, other text and $$N a string.  Literals are decoded into
 * the arena.  Every character is looked at a bounded number of times, so
 * that a megabyte of anything takes linear time.
 */
#include "dlang/decl_int.h"
#include "dlang/parse_int.h"
#include "dlang/type_int.h"

#include <ctype.h>
#include <limits.h>
#include <string.h>

static const struct {
	const char *text;
	uint8_t len, kind;
} puncts[] = {
#define X(tag, text) { text, sizeof(text) - 1, T_##tag },
	D_PUNCT(X)
#undef X
};
static const struct {
	const char *text;
	uint8_t kind;
} keywords[] = {
#define X(word) { #word, T_##word },
	D_KEYWORDS(X)
#undef X
};

static bool ident_first(char c)
{
	return isalpha((unsigned char)c) || c == '_';
}

static bool ident_char(char c)
{
	return isalnum((unsigned char)c) || c == '_';
}

static uint8_t word_kind(const char *s, size_t n)
{
	for (size_t i = 0; i < COUNT(keywords); i++)
		if (strncmp(keywords[i].text, s, n) == 0 && keywords[i].text[n] == '\0')
			return keywords[i].kind;
	return memchr(s, '`', n) != NULL ? T_SYMBOL : T_IDENT;
}

/* Whether a name, maybe behind stars, and what ends a declarator stand there. */
static bool lex_ends_declarator(const char *p)
{
	p += strspn(p, "* \t");
	if (!ident_first(*p))
		return false;
	while (ident_char(*p))
		p++;
	p += strspn(p, " \t");
	return *p != '\0' && strchr(";[,", *p) != NULL;
}

const char *lex_near_declared(struct parser *ps, const char *word, const char *behind)
{
	if (is_builtin(word) || type_named(ps->u, word) != NULL)
		return "";
	const char *advice = near_type_name(ps->u, NULL, word);
	if (*advice == '\0' && lex_ends_declarator(behind) && word_kind(word, strlen(word)) == T_IDENT &&
	    sym_get(ps->u, SYM_GLOBAL, word, 0, false) == NULL && !ps->u->env.no_advice)
		advice = arena_printf(&ps->u->arena, "; there is no type %.60s", word);
	return advice != NULL ? advice : "";
}

/* A type that nobody has is a syntax error at its name, or at what stands behind it: x of `pid_tt x`, 1 of `(pid_tt
 * *)1`. */
static const char *lex_near_type(struct parser *ps)
{
	const struct d_token *t = &ps->tok;
	const char *begin = ps->u->src[ps->u->cur_source].text, *end = t->start, *word;
	const char *advice = t->kind == T_IDENT ? near_type_name(ps->u, NULL, t->str) : "";
	if (*advice != '\0' || begin == NULL || t->start < begin || t->start > ps->end)
		return advice;
	while (end > begin && strchr(" \t\n*)", end[-1]) != NULL)
		end--;
	for (word = end; word > begin && ident_char(word[-1]); word--)
		;
	if (word == end || !ident_first(*word) || (word > begin && strchr("@>.`", word[-1]) != NULL))
		return "";
	bool behind = end + strspn(end, " \t*") >= t->start;
	word = arena_strndup(&ps->u->arena, word, (size_t)(end - word));
	return word == NULL ? "" : lex_near_declared(ps, word, behind ? t->start : "");
}

/* The source ends where it must not. */
static int lex_syntax_at_end(struct parser *ps)
{
	const struct d_open *o = ps->open;
	const char *hint = "";
	if (o != NULL && o->header == ps->u->header && !ps->u->env.bare_end)
		hint = arena_printf(&ps->u->arena, "; the \"%c\" of line %u has no \"%c\"", o->bracket, o->line,
				    o->bracket == '{' ? '}' :
				    o->bracket == '(' ? ')' :
							']');
	return hint == NULL ? d_nomem(ps->u) :
			      d_fail(ps->u, ps->tok.line, D_SYNTAX, "syntax error near end-of-input%s", hint);
}

int lex_syntax(struct parser *ps)
{
	const struct d_token *t = &ps->tok;
	size_t n = (size_t)(t->end - t->start);
	if (ps->form != NULL && ps->u->why != NULL)
		err_set(ps->u->why, TALLY_ESYNTAX, "%s", ps->form);
	if (n == 0)
		return lex_syntax_at_end(ps);
	const char *hint = ps->u->env.no_advice ? NULL :
			   ps->advice != NULL   ? ps->advice :
						  near_keyword(t->start, n),
		   *type = hint == NULL ? lex_near_type(ps) : "";
	if (t->kind == T_IDENT) /* a name is shown with what follows it in its line */
		n = strcspn(t->start, "\n");
	return d_fail(ps->u, t->line, D_SYNTAX, "syntax error near \"%.*s\"%s%s", n > 60 ? 60 : (int)n, t->start,
		      hint != NULL ? "; " : "", hint != NULL ? hint : type);
}

void lex_rewind(struct parser *ps)
{
	ps->p = ps->tok.start;
	ps->line = ps->tok.line;
	ps->open = ps->tok.open;
}

/* ---- blanks, comments, control lines ------------------------------------- */

static int block_comment(struct parser *ps)
{
	const uint32_t begin = ps->line;
	for (ps->p += 2; ps->p < ps->end; ps->p++) {
		if (ps->p[0] == '*' && ps->p[1] == '/') {
			ps->p += 2;
			return 0;
		}
		if (*ps->p == '\n')
			ps->line++;
	}
	if (ps->u->env.bare_end)
		return d_fail(ps->u, ps->line, D_SYNTAX, "end-of-file encountered before matching */");
	return d_fail(ps->u, ps->line, D_SYNTAX,
		      "end-of-file encountered before matching */; the comment begins in line %u", begin);
}

static size_t rest_of_line(const struct parser *ps)
{
	const char *nl = memchr(ps->p, '\n', (size_t)(ps->end - ps->p));
	return (size_t)((nl != NULL ? nl : ps->end) - ps->p);
}

static int control_line(struct parser *ps)
{
	size_t n = rest_of_line(ps);
	bool interpreter = ps->p[1] == '!' && ps->line == 1;
	uint32_t next = ps->line + 1;
	int rc = interpreter ? 0 : d_control(ps->u, ps->p, n, &next, false);
	ps->p += n;
	if (ps->p < ps->end) {
		ps->p++;
		ps->line = next;
	}
	return rc;
}

/* Comments that follow each other line by line are one. What stands behind something in its line is about that. */
static void lex_keep_comment(struct parser *ps, const char *start)
{
	if (ps->comment == NULL && ps->at_line_start)
		ps->comment = start;
	ps->comment_end = ps->p;
}

int lex_space(struct parser *ps)
{
	bool empty_line = true; /* since the last newline nothing stood there */

	ps->comment = NULL;
	while (ps->p < ps->end) {
		int rc = 0;
		char c = *ps->p;
		if (c == '\n') {
			if (empty_line)
				ps->comment = NULL;
			empty_line = true;
			ps->line++;
			ps->p++;
			ps->at_line_start = true;
		} else if (strchr(" \t\r\f\v", c) != NULL && c != '\0') {
			ps->p++;
		} else if (c == '\\' && ps->p[1] == '\n') {
			ps->p += 2;
			ps->line++;
		} else if (c == '/' && ps->p[1] == '*') {
			const char *start = ps->p;
			rc = block_comment(ps);
			lex_keep_comment(ps, start);
			empty_line = false;
		} else if (c == '/' && ps->p[1] == '/') {
			const char *start = ps->p;
			ps->p += rest_of_line(ps);
			lex_keep_comment(ps, start);
			empty_line = false;
		} else if (c == '#' && ps->at_line_start) {
			rc = control_line(ps);
		} else {
			break;
		}
		if (rc < 0)
			return rc;
	}
	return 0;
}

/* ---- probe descriptions -------------------------------------------------- */

static bool probe_char(char c)
{
	return c != '\0' && (isalnum((unsigned char)c) || strchr("-$:_.?*\\[]!`@+~#=", c) != NULL);
}

void lex_probe_word(struct parser *ps, const char **word, uint32_t *len)
{
	*word = ps->p;
	while (ps->p < ps->end && probe_char(*ps->p))
		ps->p++;
	*len = (uint32_t)(ps->p - *word);
	ps->at_line_start = *len == 0 && ps->at_line_start;
}

/* ---- numbers ------------------------------------------------------------- */

static int digit_value(char c)
{
	if (c >= '0' && c <= '9')
		return c - '0';
	c = (char)tolower((unsigned char)c);
	return c >= 'a' && c <= 'f' ? c - 'a' + 10 : 99;
}

/* Reads digits and suffixes at *pp (at most to end) into t. macro: the argument that they are of, or NULL. */
static int lex_take_number(struct d_unit *u, struct d_token *t, const char **pp, const char *end, const char *macro)
{
	const char *p = *pp;
	int base = 10;
	if (p + 1 < end && p[0] == '0' && (p[1] == 'x' || p[1] == 'X')) {
		base = 16;
		p += 2;
	} else if (*p == '0') {
		base = 8;
	}
	t->kind = T_INT;
	t->decimal = base == 10;
	const char *digits = p;
	for (t->ival = 0; p < end && digit_value(*p) < (base == 16 ? 16 : 10); p++) {
		if (digit_value(*p) >= base && macro != NULL)
			return -TALLY_EINVAL;
		if (digit_value(*p) >= base)
			return d_fail(u, t->line, D_INT_DIGIT, "octal digit expected but found %c", *p);
		if (__builtin_mul_overflow(t->ival, (uint64_t)base, &t->ival) ||
		    __builtin_add_overflow(t->ival, (uint64_t)digit_value(*p), &t->ival)) {
			if (macro != NULL)
				return d_fail(u, t->line, D_MACRO_OFLOW,
					      "macro argument %s constant %.*s results in integer overflow", macro,
					      (int)(end - *pp > 40 ? 40 : end - *pp), *pp);
			return d_fail(u, t->line, D_INT_OFLOW,
				      "integer constant %.*s cannot be represented in any "
				      "built-in integral type",
				      (int)(p + 1 - digits > 40 ? 40 : p + 1 - digits), digits);
		}
	}
	for (; p < end && strchr("uUlL", *p) != NULL && *p != '\0'; p++)
		*(*p == 'u' || *p == 'U' ? &t->nu : &t->nl) += 1;
	*pp = p;
	return p == digits || t->nu > 1 || t->nl > 2 ? -TALLY_EINVAL : 0;
}

static int bad_number(struct parser *ps)
{
	struct d_token *t = &ps->tok;
	const char *p = t->start;
	bool floating = false, hex = p[0] == '0' && (p[1] == 'x' || p[1] == 'X');
	for (; p < ps->end && (ident_char(*p) || *p == '.'); p++)
		floating |= *p == '.' || (!hex && (*p == 'e' || *p == 'E'));
	t->end = p;
	if (!floating)
		return lex_syntax(ps);
	return d_fail(ps->u, t->line, D_SYNTAX,
		      "floating-point constants are not permitted: %.*s "
		      "(use integers: scale the values, or divide two of them)",
		      (int)(p - t->start > 40 ? 40 : p - t->start), t->start);
}

static int lex_number(struct parser *ps)
{
	const char *p = ps->p;
	int rc = *p == '.' ? -TALLY_EINVAL : lex_take_number(ps->u, &ps->tok, &p, ps->end, NULL);
	if (rc == -TALLY_EINVAL || (rc == 0 && p < ps->end && (ident_char(*p) || *p == '.')))
		return bad_number(ps);
	ps->p = p;
	return rc;
}

/* ---- strings and characters ---------------------------------------------- */

/* One character of a literal, escapes replaced. Returns its byte; *pp moves on. */
static unsigned char lex_take_escape(const char **pp, const char *end)
{
	static const char from[] = "abfnrtv0", to[] = "\a\b\f\n\r\t\v";
	const char *p = *pp, *at;
	unsigned v = 0;
	if (*p != '\\' || p + 1 >= end) {
		*pp = p + 1;
		return (unsigned char)*p;
	}
	p++;
	if (*p >= '0' && *p <= '7') {
		for (int i = 0; i < 3 && p < end && *p >= '0' && *p <= '7'; i++)
			v = v * 8 + (unsigned)(*p++ - '0');
	} else if (*p == 'x' && p + 1 < end && digit_value(p[1]) < 16) {
		for (p++; p < end && digit_value(*p) < 16; p++)
			v = v * 16 + (unsigned)digit_value(*p);
	} else if ((at = memchr(from, *p, sizeof(from) - 2)) != NULL) {
		v = (unsigned char)to[at - from];
		p++;
	} else {
		v = (unsigned char)*p++;
	}
	*pp = p;
	return (unsigned char)v;
}

/* The end of a literal that starts at ps->p with a quote; or that of its line or of the text, if that comes first. */
static const char *literal_end(const struct parser *ps)
{
	const char quote = *ps->p, *p;
	for (p = ps->p + 1; p < ps->end && *p != '\n' && *p != quote; p++)
		if (*p == '\\' && p + 1 < ps->end && p[1] != '\n')
			p++;
	return p;
}

/* A literal that the end of the text cuts off. */
static int literal_at_end(struct parser *ps, const char *what)
{
	if (ps->u->env.bare_end)
		return d_fail(ps->u, ps->line, D_SYNTAX, "syntax error near end-of-input");
	return d_fail(ps->u, ps->line, D_SYNTAX, "syntax error near end-of-input; the %s of line %u has no closing %c",
		      what, ps->line, *ps->p);
}

/* The string of the bytes from p to end, escapes replaced. */
static int string_token(struct d_unit *u, struct d_token *t, const char *p, const char *end)
{
	char *s = arena_alloc(&u->arena, (size_t)(end - p) + 1);
	if (s == NULL)
		return d_nomem(u);
	t->kind = T_STR;
	t->str = s;
	while (p < end)
		s[t->len++] = (char)lex_take_escape(&p, end);
	t->len = (uint32_t)strnlen(s, t->len); /* a NUL ends it */
	return 0;
}

static int lex_string(struct parser *ps)
{
	struct d_token *t = &ps->tok;
	const char *end = literal_end(ps), *p = ps->p + 1;
	if (end == ps->end)
		return literal_at_end(ps, "string");
	if (*end != '"')
		return d_fail(ps->u, t->line + 1, D_STR_NL, "newline encountered in string literal");
	ps->p = end + 1;
	return string_token(ps->u, t, p, end);
}

static int lex_char(struct parser *ps)
{
	struct d_token *t = &ps->tok;
	const char *end = literal_end(ps), *p = ps->p + 1;
	if (end == ps->end)
		return literal_at_end(ps, "character constant");
	if (*end != '\'')
		return d_fail(ps->u, t->line, D_CHR_NL, "newline encountered in character constant");
	if (p == end)
		return d_fail(ps->u, t->line, D_CHR_NULL, "empty character constant");
	t->kind = T_INT;
	t->is_char = t->decimal = true;
	unsigned n = 0;
	for (; p < end; n++)
		t->ival = t->ival << 8 | lex_take_escape(&p, end);
	if (n > sizeof(int))
		return d_fail(ps->u, t->line, D_CHR_OFLOW, "character constant is too long");
	t->ival = n == 1 ? (uint64_t)(int64_t)(signed char)t->ival : (uint64_t)(int64_t)(int32_t)t->ival;
	ps->p = end + 1;
	return 0;
}

/* ---- names --------------------------------------------------------------- */

static int word_token(struct d_unit *u, struct d_token *t, const char *s, size_t n)
{
	t->kind = word_kind(s, n);
	t->len = (uint32_t)n;
	t->str = arena_strndup(&u->arena, s, n);
	return t->str == NULL ? d_nomem(u) : 0;
}

static int lex_word(struct parser *ps)
{
	const char *p = ps->p;
	while (p < ps->end && (ident_char(*p) || *p == '`'))
		p++;
	int rc = word_token(ps->u, &ps->tok, ps->p, (size_t)(p - ps->p));
	ps->p = p;
	return rc;
}

static int lex_agg(struct parser *ps)
{
	const char *p = ps->p + 1;
	while (p < ps->end && ident_char(*p))
		p++;
	if (p > ps->p + 1 && !ident_first(ps->p[1])) {
		ps->tok.end = p;
		return lex_syntax(ps);
	}
	ps->tok.kind = T_AGG;
	ps->tok.str = arena_strndup(&ps->u->arena, ps->p + 1, (size_t)(p - ps->p - 1));
	ps->p = p;
	return ps->tok.str == NULL ? d_nomem(ps->u) : 0;
}

/* ---- macros -------------------------------------------------------------- */

/* The text behind $NAME (n bytes, without '$'): into *text, "" or "0" for unset arguments when
 * defaults are asked for. */
int lex_macro_text(struct d_unit *u, uint32_t line, const char *name, size_t n, const char **text)
{
	char *key = arena_strndup(&u->arena, name, n);
	bool argument = isdigit((unsigned char)name[name[0] == '$']);
	if (key == NULL)
		return d_nomem(u);
	*text = u->env.macro != NULL ? u->env.macro(u->env.arg, key) : NULL;
	if (*text == NULL && argument && name[0] == '$') /* $$1 is $1, quoted */
		*text = u->env.macro != NULL ? u->env.macro(u->env.arg, key + 1) : NULL;
	if (*text == NULL && argument && u->env.defaultargs)
		*text = name[0] == '$' ? "" : "0";
	if (*text != NULL)
		return 0;
	const char *hint = near_macro(key);
	return d_fail(u, line, D_MACRO_UNDEF, "macro %s $%s is not defined%s%s", argument ? "argument" : "variable",
		      key, hint != NULL ? ": " : "", hint != NULL ? hint : "");
}

/* Text that begins as a number does. Returns -TALLY_EINVAL when it is no whole number. */
static int macro_number(struct d_unit *u, struct d_token *t, const char *name, const char *text)
{
	struct d_token number = *t;
	const char *p = text + (*text == '-' || *text == '+'), *end = text + strlen(text);
	if (!isdigit((unsigned char)*p))
		return -TALLY_EINVAL;
	number.negative = *text == '-';
	int rc = lex_take_number(u, &number, &p, end, name);
	if (rc == 0 && p != end)
		rc = -TALLY_EINVAL;
	if (rc == 0)
		*t = number;
	return rc;
}

static bool macro_is_name(const char *text)
{
	const char *p = text;
	while (ident_char(*p) || *p == '`')
		p++;
	return *p == '\0' && p > text && !isdigit((unsigned char)*text);
}

static int lex_macro(struct parser *ps)
{
	struct d_token *t = &ps->tok;
	const char *p = ps->p + 1, *text;
	bool quoted = p < ps->end && *p == '$';
	if (quoted)
		p++;
	if (p < ps->end && isdigit((unsigned char)*p)) {
		while (p < ps->end && isdigit((unsigned char)*p))
			p++;
	} else if (p < ps->end && (*p == '#' || *p == '?')) {
		p++;
	} else {
		while (p < ps->end && ident_char(*p))
			p++;
	}
	t->end = p;
	if (p == ps->p + 1 + quoted)
		return lex_syntax(ps);
	int rc = lex_macro_text(ps->u, t->line, ps->p + 1, (size_t)(p - ps->p - 1), &text);
	if (rc < 0)
		return rc;
	ps->p = p;
	const char *end = text + strlen(text);
	if (quoted)
		return string_token(ps->u, t, text, end);
	if (macro_is_name(text))
		return word_token(ps->u, t, text, strlen(text));
	rc = macro_number(ps->u, t, arena_strndup(&ps->u->arena, t->start, (size_t)(p - t->start)), text);
	if (rc != -TALLY_EINVAL)
		return rc;
	bool quotes = end - text > 1 && *text == '"' && end[-1] == '"';
	return string_token(ps->u, t, text + quotes, end - quotes);
}

/* ---- all of them --------------------------------------------------------- */

static int lex_punct(struct parser *ps)
{
	size_t left = (size_t)(ps->end - ps->p);
	for (size_t i = 0; i < COUNT(puncts); i++) {
		if (puncts[i].len <= left && memcmp(ps->p, puncts[i].text, puncts[i].len) == 0) {
			ps->tok.kind = puncts[i].kind;
			ps->p += puncts[i].len;
			return 0;
		}
	}
	ps->tok.end = ps->p + 1;
	if (!isprint((unsigned char)*ps->p))
		return d_fail(ps->u, ps->line, D_SYNTAX, "syntax error near \"\\x%02x\"", (unsigned char)*ps->p);
	return lex_syntax(ps);
}

static int lex_dispatch(struct parser *ps)
{
	char c = *ps->p;
	if (ident_first(c) || c == '`')
		return lex_word(ps);
	if (isdigit((unsigned char)c) || (c == '.' && isdigit((unsigned char)ps->p[1])))
		return lex_number(ps);
	switch (c) {
	case '"':
		return lex_string(ps);
	case '\'':
		return lex_char(ps);
	case '@':
		return lex_agg(ps);
	case '$':
		return lex_macro(ps);
	default:
		return lex_punct(ps);
	}
}

/* Notes a bracket that the token opens or closes, whichever it closes: that is the grammar's. */
static int lex_note_bracket(struct parser *ps)
{
	struct d_open *o;
	switch (ps->tok.kind) {
	case T_LBRACE:
	case T_LPAREN:
	case T_LBRACK:
		if ((o = arena_alloc(&ps->u->arena, sizeof(*o))) == NULL)
			return d_nomem(ps->u);
		*o = (struct d_open){ ps->open, ps->tok.line, *ps->tok.start, ps->u->header };
		ps->open = o;
		return 0;
	case T_RBRACE:
	case T_RPAREN:
	case T_RBRACK:
		ps->open = ps->open != NULL ? ps->open->outer : NULL;
		return 0;
	default:
		return 0;
	}
}

int lex_next(struct parser *ps)
{
	int rc = lex_space(ps);
	ps->tok = (struct d_token){ .line = ps->line, .start = ps->p, .end = ps->p, .open = ps->open };
	if (rc < 0 || ps->p >= ps->end)
		return rc;
	ps->at_line_start = false;
	rc = lex_dispatch(ps);
	if (rc < 0)
		return rc;
	ps->tok.end = ps->p;
	return lex_note_bracket(ps);
}

int accept_token(struct parser *ps, enum d_tok kind)
{
	if (ps->tok.kind != kind)
		return 0;
	int rc = lex_next(ps);
	return rc < 0 ? rc : 1;
}

/* Whether the token is the first of its line; that of a macro variable is not in the source. */
static bool lex_begins_line(const struct d_token *t, const struct d_src *s)
{
	const char *p = t->start;
	if (p <= s->text || p >= s->text + s->len)
		return false;
	while (p > s->text && (p[-1] == ' ' || p[-1] == '\t'))
		p--;
	return p > s->text && p[-1] == '\n';
}

int expect_semicolon(struct parser *ps)
{
	const struct d_token *t = &ps->tok;
	const struct d_src *s = &ps->u->src[ps->u->cur_source];
	if (t->kind != T_SEMI && ps->form == NULL && t->end > t->start && lex_begins_line(t, s) && ps->u->why != NULL &&
	    near_keyword(t->start, (size_t)(t->end - t->start)) == NULL)
		err_set(ps->u->why, TALLY_ESYNTAX, "is a ; missing before it?");
	return t->kind == T_SEMI ? 0 : lex_syntax(ps);
}

int expect(struct parser *ps, enum d_tok kind)
{
	return ps->tok.kind == kind ? lex_next(ps) : lex_syntax(ps);
}
