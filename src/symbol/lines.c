/*
 * lines.c: where in the source an address is, and which functions were inlined there.
 *
 * libdw reads DWARF, from the file or from its debug file (debugfile.c), with supplements of dwz(1) where it finds
 * them. It is loaded with the first address whose line is asked for, and has a libelf of its own: no handle of ours
 * goes to it. What a unit's tables say is asked for a single address; compilers that write no .debug_aranges make libdw
 * look at each unit, so an answer is kept with its address.
 *
 * An inlined function is a scope inside of the function that was compiled. The innermost one is where the address is;
 * each scope says from which line of the next one it was called. At most SYM_INLINED_MOST of them are told.
 */
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/file.h"
#include "symbol/symbol_int.h"

#ifdef TALLY_NO_DLOPEN

struct lines *lines_open(int fd, struct names *text)
{
	(void)fd, (void)text;
	return NULL;
}

const struct sym_line *lines_find(struct lines *l, uint64_t vaddr)
{
	(void)l, (void)vaddr;
	return NULL;
}

void lines_close(struct lines *l)
{
	(void)l;
}

#else

#include <dwarf.h>
#include <elfutils/libdw.h>

#define SONAME "libdw.so.1"
#define UNITS_MOST (1u << 20) /* looked at for one address */
#define ADDRESSES_MOST (1u << 20)
#define TEXT_BYTES_MOST (256u << 20) /* of names of all files; a file says how long its own are */

LIBRARY_NOTE("dw", "source lines and inlined functions", "recommended", SONAME);

/* clang-format off */
#define LIBDW(X)                                                                                           \
	X(begin) X(end) X(addrdie) X(nextcu) X(offdie) X(haspc) X(getsrc_die) X(linesrc) X(lineno) X(getscopes) \
	X(getscopes_die) X(tag) X(attr_integrate) X(formstring) X(formudata) X(getsrcfiles) X(filesrc)
/* clang-format on */
struct lines {
#define X(name) __typeof__(&dwarf_##name) name;
	LIBDW(X)
#undef X
	Dwarf *dwarf;
	int fd;
	struct names *text;
	struct map by_addr; /* struct sym_line of each address that was asked for */
};

struct lines *lines_open(int fd, struct names *text)
{
#define X(name) "dwarf_" #name,
	static const char *const names[] = { LIBDW(X) };
#undef X
	struct lines *l = mem_alloc(sizeof(*l));
	void *fn[COUNT(names)];
	size_t i = 0;

	if (!l || fd < 0 || !library_load(SONAME, names, fn, COUNT(names)))
		goto fail;
#define X(name) l->name = (__typeof__(&dwarf_##name))fn[i++];
	LIBDW(X)
#undef X
	l->text = text;
	l->dwarf = l->begin(fd, DWARF_C_READ);
	if (!l->dwarf)
		goto fail;
	l->fd = fd;
	return l;
fail:
	mem_free(l);
	if (fd >= 0)
		close(fd);
	return NULL;
}

void lines_close(struct lines *l)
{
	const void *key;
	size_t i = 0, n;
	void *line;

	if (!l)
		return;
	while (map_next(&l->by_addr, &i, &key, &n, &line))
		mem_free(line);
	map_free(&l->by_addr);
	l->end(l->dwarf);
	close(l->fd);
	mem_free(l);
}

static bool lines_unit(struct lines *l, uint64_t vaddr, Dwarf_Die *cu)
{
	Dwarf_Off at = 0, next;
	size_t header;

	if (l->addrdie(l->dwarf, vaddr, cu))
		return true;
	for (uint32_t n = 0; n < UNITS_MOST && l->nextcu(l->dwarf, at, &next, &header, NULL, NULL, NULL) == 0; n++) {
		if (next <= at)
			break;
		if (l->offdie(l->dwarf, at + header, cu) && l->haspc(cu, vaddr) > 0)
			return true;
		at = next;
	}
	return false;
}

/* The last part of a path. */
static const char *lines_keep_file(struct lines *l, const char *path)
{
	const char *slash = path ? strrchr(path, '/') : NULL, *last = slash ? slash + 1 : path;

	return last ? names_add(l->text, last, strlen(last)) : NULL;
}

static const char *lines_scope_name(struct lines *l, Dwarf_Die *scope)
{
	Dwarf_Attribute a;
	const char *name = NULL;

	if (l->attr_integrate(scope, DW_AT_linkage_name, &a))
		name = l->formstring(&a);
	if (!name && l->attr_integrate(scope, DW_AT_name, &a))
		name = l->formstring(&a);
	return name ? names_add(l->text, name, strlen(name)) : NULL;
}

/* Innermost first: each inlined function, and from where in the next one it was called. */
static void lines_take_inlined(struct lines *l, Dwarf_Die *cu, uint64_t vaddr, struct sym_line *ret)
{
	Dwarf_Die *inner = NULL, *scope = NULL;
	int n = l->getscopes(cu, vaddr, &inner);
	Dwarf_Files *files = NULL;
	size_t nfiles = 0;

	/* What is around the innermost one in the source is of the function that was inlined; in the code it is of its
	 * caller. */
	if (n > 0)
		n = l->getscopes_die(&inner[0], &scope);
	free(inner);
	if (n > 0)
		(void)l->getsrcfiles(cu, &files, &nfiles);
	for (int i = 0; i < n && ret->ninlined < SYM_INLINED_MOST; i++) {
		struct sym_inlined *to = &ret->inlined[ret->ninlined];
		Dwarf_Word file = 0, line = 0;
		Dwarf_Attribute a;

		if (l->tag(&scope[i]) == DW_TAG_subprogram)
			break;
		if (l->tag(&scope[i]) != DW_TAG_inlined_subroutine || !(to->name = lines_scope_name(l, &scope[i])))
			continue;
		if (l->attr_integrate(&scope[i], DW_AT_call_file, &a))
			(void)l->formudata(&a, &file);
		if (l->attr_integrate(&scope[i], DW_AT_call_line, &a))
			(void)l->formudata(&a, &line);
		to->caller_file =
			files && file < nfiles ? lines_keep_file(l, l->filesrc(files, file, NULL, NULL)) : NULL;
		to->caller_line = line <= UINT32_MAX ? (uint32_t)line : 0;
		ret->ninlined++;
	}
	free(scope);
}

const struct sym_line *lines_find(struct lines *l, uint64_t vaddr)
{
	struct sym_line *ret = map_get(&l->by_addr, &vaddr, sizeof(vaddr));
	Dwarf_Line *line;
	Dwarf_Die cu;
	int number = 0;
	void **at;

	if (ret || l->by_addr.n >= ADDRESSES_MOST || l->text->bytes >= TEXT_BYTES_MOST)
		return ret;
	at = map_at(&l->by_addr, &vaddr, sizeof(vaddr));
	if (!at)
		return NULL;
	*at = ret = mem_alloc(sizeof(*ret));
	if (!ret || !lines_unit(l, vaddr, &cu))
		return ret;
	line = l->getsrc_die(&cu, vaddr);
	if (line && l->lineno(line, &number) == 0 && number > 0) {
		ret->file = lines_keep_file(l, l->linesrc(line, NULL, NULL));
		ret->line = (uint32_t)number;
	}
	lines_take_inlined(l, &cu, vaddr, ret);
	return ret;
}

#endif
