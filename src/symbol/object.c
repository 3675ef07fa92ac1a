/*
 * object.c: what an ELF file says about its code.
 *
 * The bytes are read by libelf, and only when a first address of the file is
 * asked for.  libelf reads with pread (never through a mapping, which a
 * truncated file would turn into SIGBUS) and checks what it hands out against
 * the file's size; this file checks the rest: which sections a symbol may lie
 * in, how many there may be, how much text they may bring.
 *
 * A sample's address becomes an offset in the file (the mapping says how), and
 * through the program headers an address as the file numbers it: that holds for
 * ET_EXEC and ET_DYN alike.
 *
 * Names of functions are read at once, those of variables (which most scripts never ask for) when the first is wanted.
 * Symbols come from .symtab and .dynsym together; a file without .symtab may
 * have one in .gnu_debugdata, or in a separate file (debugfile.c).
 *
 * There are bounds to how many symbols and how much text are kept, and the largest programs meet them. A symbol beside
 * which others may be missing must not take their place: one whose name is not kept still says where it lies, and one
 * without a size is the name of its start alone when not every symbol is there, be it that they were too many or that
 * the file has only those that others link to.
 */
#include <gelf.h>
#include <string.h>
#include <unistd.h>

#include "symbol/symbol_int.h"

#define SECTION_BYTES_MOST (1u << 30)
#define NOTE_BYTES_MOST 65536u

static Elf *object_begin_elf(const struct object_bytes *b)
{
	Elf *e;

	if (elf_version(EV_CURRENT) == EV_NONE)
		return NULL;
	e = b->p ? elf_memory((char *)b->p, b->n) : elf_begin(b->fd, ELF_C_READ, NULL);
	if (e && elf_kind(e) == ELF_K_ELF)
		return e;
	elf_end(e);
	return NULL;
}

/* The section of that name, if the file has its bytes; NULL: there is none. */
static Elf_Scn *section_find(Elf *e, const char *name, GElf_Shdr *header)
{
	Elf_Scn *scn = NULL;
	const char *is;
	size_t names;

	if (elf_getshdrstrndx(e, &names) < 0)
		return NULL;
	while ((scn = elf_nextscn(e, scn)))
		if (gelf_getshdr(scn, header) && header->sh_type != SHT_NOBITS &&
		    (is = elf_strptr(e, names, header->sh_name)) && !strcmp(is, name))
			break;
	return scn;
}

void *section_read(void *elf, const char *name, uint64_t most)
{
	GElf_Shdr sh;
	Elf_Scn *scn = section_find(elf, name, &sh);

	return scn && sh.sh_size <= most ? elf_getdata(scn, NULL) : NULL;
}

/* ---- loads and build id ----------------------------------------------------- */

static void take_build_id(struct object *o, Elf *e, const GElf_Phdr *ph)
{
	Elf_Data *d;
	GElf_Nhdr nh;
	size_t at = 0, name, desc;

	if (o->build_id_len || ph->p_filesz > NOTE_BYTES_MOST)
		return;
	d = elf_getdata_rawchunk(e, (int64_t)ph->p_offset, ph->p_filesz, ph->p_align == 8 ? ELF_T_NHDR8 : ELF_T_NHDR);
	while (d && (at = gelf_getnote(d, at, &nh, &name, &desc)) > 0) {
		if (nh.n_type != NT_GNU_BUILD_ID || nh.n_namesz != 4 || memcmp((char *)d->d_buf + name, "GNU", 4))
			continue;
		if (nh.n_descsz < 4 || nh.n_descsz > sizeof(o->build_id))
			continue;
		memcpy(o->build_id, (char *)d->d_buf + desc, nh.n_descsz);
		o->build_id_len = nh.n_descsz;
		return;
	}
}

static void take_load(struct object *o, const GElf_Phdr *ph)
{
	if (ph->p_flags & PF_X && ph->p_filesz && o->nloads < COUNT(o->load))
		o->load[o->nloads++] = (struct sym_load){ ph->p_offset, ph->p_filesz, ph->p_vaddr };
	else if (!(ph->p_flags & PF_X) && o->ndata < COUNT(o->data))
		o->data[o->ndata++] = (struct extent){ ph->p_vaddr, ph->p_memsz };
}

int object_ident(struct object *o, const struct object_bytes *b)
{
	Elf *e = object_begin_elf(b);
	GElf_Ehdr eh;
	GElf_Phdr ph;
	size_t n = 0;

	if (!e)
		return -TALLY_ECORRUPT;
	if (!gelf_getehdr(e, &eh) || (eh.e_type != ET_EXEC && eh.e_type != ET_DYN) || elf_getphdrnum(e, &n) < 0) {
		elf_end(e);
		return -TALLY_ECORRUPT;
	}
	for (size_t i = 0; i < n && gelf_getphdr(e, (int)i, &ph); i++) {
		if (ph.p_type == PT_LOAD)
			take_load(o, &ph);
		else if (ph.p_type == PT_NOTE)
			take_build_id(o, e, &ph);
	}
	elf_end(e);
	return 0;
}

bool loads_vaddr(const struct sym_load *load, uint32_t n, uint64_t off, uint64_t *ret)
{
	const uint64_t page = 65536; /* the largest in use; only ever widens */
	const struct sym_load *near = NULL;

	for (uint32_t i = 0; i < n; i++) {
		const struct sym_load *l = &load[i];
		const uint64_t low = l->offset & ~(page - 1);

		if (off - l->offset < l->bytes) {
			near = l;
			break;
		}
		if (off >= low && off - low < l->bytes + 2 * page)
			near = l;
	}
	if (near)
		*ret = off - near->offset + near->vaddr;
	return near;
}

bool object_vaddr(const struct object *o, uint64_t off, uint64_t *ret)
{
	return loads_vaddr(o->load, o->nloads, off, ret);
}

/* ---- symbols -------------------------------------------------------------------- */

struct reader {
	struct object *o;
	struct table *to; /* functions into o->t, variables into o->variables */
	Elf *e;
	uint64_t mask;       /* bits of an address that are no address (Thumb) */
	size_t shndx;        /* the section looked at last: */
	uint64_t start, end; /* empty when it holds nothing that is wanted */
	bool symtab;         /* there was one */
};

/* Whether a symbol's section holds code, or data where variables are wanted, and where it ends. */
static bool in_section(struct reader *r, size_t shndx, uint64_t addr)
{
	if (shndx != r->shndx) {
		Elf_Scn *scn = elf_getscn(r->e, shndx);
		GElf_Shdr sh;

		r->shndx = shndx;
		r->start = r->end = 0;
		if (scn && gelf_getshdr(scn, &sh) && sh.sh_flags & SHF_ALLOC &&
		    !(sh.sh_flags & SHF_EXECINSTR) == (r->to == &r->o->variables) && !(sh.sh_flags & SHF_TLS) &&
		    sh.sh_size <= UINT64_MAX - sh.sh_addr) {
			r->start = sh.sh_addr;
			r->end = sh.sh_addr + sh.sh_size;
		}
	}
	return addr >= r->start && addr < r->end;
}

/* Untyped symbols are functions of hand-written assembly, but also the labels of compilers and the
 * marks of ARM's. */
static bool is_label(const char *name)
{
	return name[0] == '$' || (name[0] == '.' && name[1] == 'L');
}

static unsigned rank_of(const GElf_Sym *s)
{
	switch (GELF_ST_BIND(s->st_info)) {
	case STB_GLOBAL:
		return RANK_GLOBAL;
	case STB_WEAK:
		return RANK_WEAK;
	default:
		return RANK_LOCAL;
	}
}

/* NULL: no memory or a limit. */
static const char *keep_name(struct object *o, const char *name)
{
	const size_t most = o->names_most ? o->names_most : NAMES_BYTES_MOST, n = strcspn(name, "@");

	return o->names.bytes + n < most ? names_add(&o->names, name, n) : NULL;
}

/* False: no memory or a limit; what was taken so far is kept. */
static bool take_symbol(struct reader *r, const GElf_Sym *s, const char *name)
{
	unsigned type = GELF_ST_TYPE(s->st_info), rank = rank_of(s);
	struct sym to = { .start = s->st_value & r->mask };

	if (r->to == &r->o->variables ? type != STT_OBJECT && type != STT_COMMON :
					type != STT_FUNC && type != STT_GNU_IFUNC && type != STT_NOTYPE)
		return true;
	if (!name || !*name || s->st_shndx == SHN_UNDEF || s->st_shndx >= SHN_LORESERVE)
		return true;
	if (!in_section(r, s->st_shndx, to.start) || (type == STT_NOTYPE && is_label(name)))
		return true;
	if (r->to->n >= (r->o->symbols_most ? r->o->symbols_most : SYMBOLS_MOST))
		return false;
	to.rank = (uint8_t)(rank | (s->st_size ? 0 : RANK_NOSIZE) | (type == STT_NOTYPE ? RANK_NOTYPE : 0));
	to.end = r->end;
	if (s->st_size && s->st_size < r->end - to.start)
		to.end = to.start + s->st_size;
	to.name = keep_name(r->o, name);
	return table_add(r->to, &to);
}

/* Whether there were symbols to look at. */
static bool take_table(struct reader *r, Elf_Scn *scn, const GElf_Shdr *sh)
{
	Elf_Data *d = elf_getdata(scn, NULL);
	size_t entsize = gelf_fsize(r->e, ELF_T_SYM, 1, EV_CURRENT);
	size_t n = d && entsize ? d->d_size / entsize : 0;
	GElf_Sym s;

	for (size_t i = 1; i < n && !r->to->overfull && i < (size_t)INT32_MAX && gelf_getsym(d, (int)i, &s); i++)
		r->to->overfull = !take_symbol(r, &s, elf_strptr(r->e, sh->sh_link, s.st_name));
	return n > 1;
}

/* libelf holds every section it was asked for in memory until the end. */
static bool is_small(const struct reader *r, const GElf_Shdr *sh)
{
	Elf_Scn *names = elf_getscn(r->e, sh->sh_link);
	GElf_Shdr text;

	return sh->sh_size <= SECTION_BYTES_MOST && names && gelf_getshdr(names, &text) &&
	       text.sh_size <= SECTION_BYTES_MOST;
}

/* A file has at most one table of each type; one that claims more is not believed. */
static bool take_first(struct reader *r, uint32_t type)
{
	Elf_Scn *scn = NULL;
	GElf_Shdr sh;

	while ((scn = elf_nextscn(r->e, scn))) {
		if (!gelf_getshdr(scn, &sh) || sh.sh_type != type)
			continue;
		if (is_small(r, &sh))
			return take_table(r, scn, &sh);
		r->to->overfull = true;
	}
	return false;
}

static void take_tables(struct reader *r)
{
	r->symtab = take_first(r, SHT_SYMTAB);
	take_first(r, SHT_DYNSYM);
}

/* Another file that describes the same addresses. False: it has no symbols either. */
static bool take_other(const struct reader *of, const struct object_bytes *b)
{
	struct reader r = { .o = of->o, .to = of->to, .e = object_begin_elf(b), .mask = of->mask, .shndx = SIZE_MAX };

	if (!r.e)
		return false;
	take_tables(&r);
	elf_end(r.e);
	return r.symtab;
}

static bool take_debugdata(struct reader *r)
{
	struct object_bytes b = { .fd = -1 };
	const Elf_Data *d = section_read(r->e, ".gnu_debugdata", SECTION_BYTES_MOST);
	bool took;

	if (!d || !d->d_size || !(b.p = debugdata_unpack(d->d_buf, d->d_size, &b.n)))
		return false;
	took = take_other(r, &b);
	mem_free((void *)b.p);
	return took;
}

/* What was stripped off, where it is kept in a file of its own. */
static bool take_separate(struct reader *r, const struct object_bytes *of)
{
	struct object_bytes b = { .fd = debugfile_open(r->e, r->o, of) };
	bool took;

	if (b.fd < 0)
		return false;
	took = take_other(r, &b);
	close(b.fd);
	return took;
}

int object_debug_file(const struct object *o, const struct object_bytes *b)
{
	Elf *e = object_begin_elf(b);
	GElf_Shdr sh;
	int fd = -1;

	if (!e)
		return -1;
	if (!section_find(e, ".debug_info", &sh) && !section_find(e, ".zdebug_info", &sh))
		fd = debugfile_open(e, o, b);
	elf_end(e);
	return fd;
}

/* Functions, or variables, of the file, of its .gnu_debugdata (which has functions alone), or of its debug file. */
static int object_take(struct object *o, const struct object_bytes *b, struct table *to)
{
	struct reader r = { .o = o, .to = to, .e = object_begin_elf(b), .mask = UINT64_MAX, .shndx = SIZE_MAX };
	GElf_Ehdr eh;

	if (!r.e)
		return -TALLY_ECORRUPT;
	if (gelf_getehdr(r.e, &eh) && eh.e_machine == EM_ARM)
		r.mask = ~1ULL;
	take_tables(&r);
	to->incomplete = (!r.symtab && (to != &o->t || !take_debugdata(&r)) && !take_separate(&r, b)) || to->overfull;
	elf_end(r.e);
	return 0;
}

int object_all_symbols(struct object *o, const struct object_bytes *b)
{
	return object_take(o, b, &o->t);
}

int object_variables(struct object *o, const struct object_bytes *b)
{
	int rc = object_take(o, b, &o->variables);

	if (rc == 0)
		table_build(&o->variables);
	return rc;
}

bool object_holds_data(const struct object *o, uint64_t vaddr)
{
	for (uint32_t i = 0; i < o->ndata; i++)
		if (vaddr - o->data[i].vaddr < o->data[i].memsz)
			return true;
	return false;
}

int object_symbols(struct object *o, const struct object_bytes *b)
{
	int rc = object_all_symbols(o, b);

	if (rc == 0)
		table_build(&o->t);
	return rc;
}

void object_free(struct object *o)
{
	table_free(&o->t);
	table_free(&o->variables);
	names_free(&o->names);
}
