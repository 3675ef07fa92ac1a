/*
 * libraries.c: the D libraries that a program may use: files *.d of the directories of -L and -x libdir, in the order
 * in which they were given, then tally's own (-x syslibdir, unless -x nolibs) and what machine.c makes.
 *
 * The compiler asks for them when it meets a name that is not defined elsewhere; no file is opened before that.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/file.h"
#include "session/session_int.h"

#define LIBRARY_MOST BYTES_WINDOW

static int library_add(struct libraries *l, const char *dir, const char *name, bool of_user)
{
	struct library *lib = VEC_NEW(l->v, l->n, l->cap);
	struct buf path = { 0 };
	struct bytes_in in;
	const uint8_t *p;
	struct err e = { 0 };
	int64_t n;
	int rc;

	if (!lib)
		return -TALLY_ENOMEM;
	*lib = (struct library){ .of_user = of_user };
	buf_printf(&path, "%s/%s", dir, name);
	buf_putc(&path, '\0');
	rc = path.failed ? -TALLY_ENOMEM : file_in_open(&in, path.p, &e);
	if (rc >= 0) {
		n = in.at(in.arg, 0, LIBRARY_MOST, &p);
		buf_put(&lib->text, p, n > 0 ? (size_t)n : 0);
		file_in_close(&in);
	}
	lib->name = path.p;
	return rc == -TALLY_ENOMEM || lib->text.failed ? -TALLY_ENOMEM : 0;
}

struct names_found {
	char **v;
	uint32_t n, cap;
};

static int library_found(void *arg, const char *name)
{
	struct names_found *f = arg;
	size_t n = strlen(name);
	char **at;

	if (n < 3 || strcmp(name + n - 2, ".d"))
		return 0;
	at = VEC_NEW(f->v, f->n, f->cap);
	if (!at)
		return -TALLY_ENOMEM;
	*at = mem_strdup(name);
	if (*at)
		return 0;
	f->n--;
	return -TALLY_ENOMEM;
}

static int name_order(const void *a, const void *b)
{
	return strcmp(*(char *const *)a, *(char *const *)b);
}

/* named: by -L, -x libdir or -x syslibdir; what is amiss with such a directory is told. */
static int libraries_of(struct tally_trace *t, const char *dir, bool of_user, bool named)
{
	struct libraries *l = &t->libraries;
	struct names_found f = { 0 };
	int rc = dir_each(dir, library_found, &f);

	if (rc == -TALLY_EIO && named && !(t->o.flags & TALLY_TRACE_COMPAT))
		trace_note(t, "the D libraries of %s are not read: %s", dir, strerror(errno));
	if (f.n)
		qsort(f.v, f.n, sizeof(*f.v), name_order);
	for (uint32_t i = 0; i < f.n; i++) {
		if (rc != -TALLY_ENOMEM && library_add(l, dir, f.v[i], of_user) < 0)
			rc = -TALLY_ENOMEM;
		mem_free(f.v[i]);
	}
	mem_free(f.v);
	return rc == -TALLY_ENOMEM ? rc : 0;
}

static int library_add_machine(struct libraries *l, bool is_here)
{
	struct library *lib = VEC_NEW(l->v, l->n, l->cap);

	if (!lib)
		return -TALLY_ENOMEM;
	*lib = (struct library){ .name = mem_strdup("this-machine.d") };
	return lib->name ? machine_library(&lib->text, is_here) : -TALLY_ENOMEM;
}

static void libraries_read(struct tally_trace *t)
{
	const char *own = options_text(&t->opt, OPT_syslibdir);
	const bool named = own != NULL;
	char beside[4096];
	int rc = 0;

	t->libraries.read = true;
	for (uint32_t i = 0; rc == 0 && i < t->opt.ntexts; i++)
		if (t->opt.text[i].option == OPT_libdir)
			rc = libraries_of(t, t->opt.text[i].text, true, true);
	if (rc == 0 && !t->opt.v[OPT_nolibs] && (own || (own = k_library_dir(beside, sizeof(beside)))))
		rc = libraries_of(t, own, false, named);
	if (rc == 0 && !t->opt.v[OPT_nolibs])
		rc = library_add_machine(&t->libraries, t->kind == &engine_kernel);
	t->libraries.failed = rc < 0;
}

bool env_library(void *arg, uint32_t i, struct d_library *ret)
{
	struct tally_trace *t = arg;
	const struct library *l;

	if (!t->libraries.read)
		libraries_read(t);
	if (i >= t->libraries.n)
		return false;
	l = &t->libraries.v[i];
	*ret = (struct d_library){ .name = l->name ? l->name : "",
				   .text = l->text.n ? l->text.p : "",
				   .n = l->text.n,
				   .of_user = l->of_user };
	return true;
}

void libraries_free(struct libraries *l)
{
	for (uint32_t i = 0; i < l->n; i++) {
		buf_free(&l->v[i].text);
		mem_free(l->v[i].name);
	}
	mem_free(l->v);
	*l = (struct libraries){ 0 };
}
