/*
 * preprocess.c: cpp(1) over a source, for -C and -x cpp.
 *
 * The options are those of dtrace(1): cpppath names another preprocessor; define, undef, incdir and cppargs become
 * its arguments in the order in which they were given. cpp reads the source from its standard input, so it looks for
 * an included "name" in tally's working directory and in the directories of -I. The line "#!" is for the shell and is
 * not passed to cpp.
 */
#include <string.h>

#include "session/session_int.h"

/* What the guide promises to programs ("D Compiler and Libraries", predefined names); and words of C headers that say
 * nothing about a type, which D's grammar has no place for. */
static const char *const predefined[] = {
	"-D__SUNW_D=1",
	"-D__SUNW_D_64=1",
	"-D__SUNW_D_VERSION=0x02000000",
	"-D__inline=",
	"-D__inline__=",
	"-D__extension__=",
	"-D__attribute__(x)=",
	"-D__restrict=",
	"-D__restrict__=",
	"-D__signed__=signed",
	"-D__const=const",
	"-D__volatile__=volatile",
	"-D__attribute(x)=",
	"-D__asm__(...)=",
	"-D__asm(...)=",
	"-D_Noreturn=",
	"-D_Alignas(x)=",
	"-D_Float128=long double",
	"-D__builtin_va_list=void *",
};

static const struct {
	uint16_t option;
	const char *prefix;
} passed_on[] = { { OPT_define, "-D" }, { OPT_undef, "-U" }, { OPT_incdir, "-I" }, { OPT_cppargs, "" } };

static const struct {
	const char *mode, *argument;
} strictness[] = { { "a", "-std=gnu17" }, { "c", "-std=c17" }, { "s", "-traditional-cpp" }, { "t", "-std=gnu89" } };

struct preprocess_args {
	struct arena arena;
	char **v;
	uint32_t n;
};

static void preprocess_add(struct preprocess_args *a, const char *prefix, const char *text, size_t len)
{
	size_t n = strlen(prefix);
	char *s = arena_alloc(&a->arena, n + len + 1);

	if (!s)
		return;
	memcpy(s, prefix, n);
	memcpy(s + n, text, len);
	a->v[a->n++] = s;
}

/* cppargs is several words; a definition is one, whatever blanks it has. */
static void preprocess_add_words(struct preprocess_args *a, const char *text)
{
	while (*text) {
		size_t n = strcspn(text, " \t");

		if (n)
			preprocess_add(a, "", text, n);
		text += n + strspn(text + n, " \t");
	}
}

static void preprocess_strictness(const struct tally_trace *t, struct preprocess_args *a)
{
	const char *mode = options_text(&t->opt, OPT_stdc);

	for (size_t i = 0; mode && i < COUNT(strictness); i++)
		if (!strcmp(mode, strictness[i].mode))
			preprocess_add(a, "", strictness[i].argument, strlen(strictness[i].argument));
}

static int preprocess_arguments(struct tally_trace *t, struct preprocess_args *a)
{
	const char *path = options_text(&t->opt, OPT_cpppath);
	size_t most = COUNT(predefined) + 8;

	for (uint32_t i = 0; i < t->opt.ntexts; i++)
		most += strlen(t->opt.text[i].text) / 2 + 2;
	a->v = arena_alloc(&a->arena, most * sizeof(*a->v));
	if (!a->v)
		return trace_nomem(t);
	path = path ? path : "cpp";
	preprocess_add(a, "", path, strlen(path));
	if (t->opt.v[OPT_cpphdrs])
		preprocess_add(a, "", "-H", 2);
	preprocess_strictness(t, a);
	for (size_t i = 0; i < COUNT(predefined); i++)
		preprocess_add(a, "", predefined[i], strlen(predefined[i]));
	for (uint32_t i = 0; i < t->opt.ntexts; i++)
		for (size_t k = 0; k < COUNT(passed_on); k++) {
			const char *text = t->opt.text[i].text;

			if (t->opt.text[i].option != passed_on[k].option)
				continue;
			if (*passed_on[k].prefix)
				preprocess_add(a, passed_on[k].prefix, text, strlen(text));
			else
				preprocess_add_words(a, text);
		}
	return a->arena.failed ? trace_nomem(t) : 0;
}

int source_preprocess(struct tally_trace *t, const struct source *s, struct buf *to)
{
	struct preprocess_args a = { 0 };
	const char *text = s->text, *line = s->n > 2 && !strncmp(text, "#!", 2) ? memchr(text, '\n', s->n) : NULL;
	int rc = preprocess_arguments(t, &a);

	if (line)
		text = line;
	preprocess_add(&a, "", "-iquote.", 8);
	preprocess_add(&a, "", "/dev/stdin", 10); /* where its messages then say it is */
	if (rc >= 0)
		rc = k_filter(a.v, text, s->n - (size_t)(text - s->text), to, &t->why);
	arena_free(&a.arena);
	if (t->o.flags & TALLY_TRACE_COMPAT)
		t->why = (struct err){ 0 };
	if (rc < 0 && !t->err.code)
		return d_refuse_source(&t->err, -rc, s->name, s->text, s->n,
				       "Preprocessor failed to process input program");
	return rc;
}
