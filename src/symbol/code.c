/*
 * code.c: the functions and the static probes of a file, for who puts probes there.
 *
 * Other than for names of addresses, every name of an address counts, and only functions do: a label is no place
 * where one begins.  Without a full symbol table there are those functions that others link to; the reader is told so.
 *
 * A static probe is a note of owner "stapsdt" and type 3: three addresses (of the probe, of the section .stapsdt.base
 * when the file was linked, of a semaphore or 0), then three strings: provider, name, arguments.  What moved the file's
 * addresses afterwards (prelink) moved that section, too: the difference is added.  Each number and each length in it
 * is a stranger's.
 */
#include <gelf.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "symbol/symbol_int.h"

#define NOTES_BYTES_MOST (64u << 20)
#define NOTES_MOST (1u << 20)
#define NOTE_TYPE 3u
#define SEGMENTS_MOST 64u

struct segment {
	uint64_t offset, filesz, vaddr;
	bool is_code;
};
struct code {
	struct sym_code c; /* first: what others see */
	struct object o;
	struct sym_func *func;
	struct sym_note *note;
	uint32_t cap_notes;
	struct arena text;
	struct segment segment[SEGMENTS_MOST];
	uint32_t nsegments;
	int fd;
};

static bool code_offset(const struct code *c, uint64_t addr, bool is_code, uint64_t *ret)
{
	for (uint32_t i = 0; i < c->nsegments; i++) {
		const struct segment *s = &c->segment[i];

		if ((s->is_code || !is_code) && addr - s->vaddr < s->filesz) {
			*ret = addr - s->vaddr + s->offset;
			return true;
		}
	}
	return false;
}

/* ---- functions ---------------------------------------------------------------------- */

static int func_compare(const void *x, const void *y)
{
	const struct sym_func *a = x, *b = y;

	return a->addr != b->addr ? (a->addr > b->addr) - (a->addr < b->addr) : strcmp(a->name, b->name);
}

static int code_take_functions(struct code *c)
{
	uint32_t n = 0, kept = 0;

	c->func = mem_alloc(((size_t)c->o.t.n + 1) * sizeof(*c->func));
	if (!c->func)
		return -TALLY_ENOMEM;
	for (uint32_t i = 0; i < c->o.t.n; i++) {
		const struct sym *s = &c->o.t.v[i];
		uint64_t offset;

		if (!s->name || s->rank & RANK_NOTYPE || !code_offset(c, s->start, true, &offset))
			continue;
		c->func[n++] = (struct sym_func){ .name = s->name,
						  .addr = s->start,
						  .size = s->rank & RANK_NOSIZE ? 0 : s->end - s->start,
						  .offset = offset };
	}
	qsort(c->func, n, sizeof(*c->func), func_compare);
	for (uint32_t i = 0; i < n; i++)
		if (!kept || func_compare(&c->func[kept - 1], &c->func[i]))
			c->func[kept++] = c->func[i];
		else if (!c->func[kept - 1].size)
			c->func[kept - 1].size = c->func[i].size;
	/* What has no size reaches to the next, if that is there. */
	for (uint32_t i = c->o.t.incomplete ? 0 : kept; i-- > 0;)
		if (!c->func[i].size && i + 1 < kept)
			c->func[i].size = c->func[i].addr == c->func[i + 1].addr ?
						  c->func[i + 1].size :
						  c->func[i + 1].addr - c->func[i].addr;
	c->c.func = c->func;
	c->c.nfuncs = kept;
	return 0;
}

const struct sym_func *sym_code_at(const struct sym_code *c, uint64_t addr)
{
	uint32_t lo = SORTED_UPTO(c->func, c->nfuncs, addr, addr);

	/* Functions may lie inside others: the nearest that reaches so far. */
	for (int tries = 0; lo-- > 0 && tries < 64; tries++)
		if (addr - c->func[lo].addr < c->func[lo].size)
			return &c->func[lo];
	return NULL;
}

size_t sym_code_bytes(const struct sym_code *c, const struct sym_func *f, void *to, size_t n)
{
	const struct code *own = (const struct code *)c; /* c is first */
	ssize_t got;

	if (n > f->size)
		n = f->size;
	got = pread(own->fd, to, n, (off_t)f->offset);
	return got < 0 ? 0 : (size_t)got;
}

/* ---- static probes -------------------------------------------------------------------- */

/* A string of the note; NULL: it has no end. */
static const char *note_text(struct code *c, const char **at, const char *end)
{
	const char *nul = memchr(*at, 0, (size_t)(end - *at)), *text = *at;

	if (!nul)
		return NULL;
	*at = nul + 1;
	return arena_strndup(&c->text, text, (size_t)(nul - text));
}

/* Negative: no memory. What is no whole note of ours is passed over. */
static int code_take_note(struct code *c, const char *p, size_t n, uint64_t base)
{
	const char *end = p + n, *at = p + 24;
	uint64_t word[3], moved;
	struct sym_note note, *to;

	if (n < 24)
		return 0;
	memcpy(word, p, sizeof(word));
	note.prov = note_text(c, &at, end);
	note.name = note.prov ? note_text(c, &at, end) : NULL;
	note.args = note.name ? note_text(c, &at, end) : NULL;
	if (c->text.failed)
		return -TALLY_ENOMEM;
	moved = base && word[1] ? base - word[1] : 0;
	note.addr = word[0] + moved;
	note.semaphore = 0;
	if (!note.args || !*note.prov || !*note.name || !code_offset(c, note.addr, true, &note.offset) ||
	    (word[2] && !code_offset(c, word[2] + moved, false, &note.semaphore)))
		return 0;
	to = VEC_NEW(c->note, c->c.nnotes, c->cap_notes);
	if (!to)
		return -TALLY_ENOMEM;
	*to = note;
	return 0;
}

static int code_take_notes(struct code *c, Elf *e)
{
	size_t names, at, name, desc;
	Elf_Data *notes = NULL;
	uint64_t base = 0;
	Elf_Scn *scn = NULL;
	const char *is;
	GElf_Shdr sh;
	GElf_Nhdr nh;
	int rc = 0;

	if (elf_getshdrstrndx(e, &names) < 0)
		return 0;
	while ((scn = elf_nextscn(e, scn))) {
		if (!gelf_getshdr(scn, &sh) || !(is = elf_strptr(e, names, sh.sh_name)))
			continue;
		if (!strcmp(is, ".stapsdt.base"))
			base = sh.sh_addr;
		else if (!strcmp(is, ".note.stapsdt") && sh.sh_type == SHT_NOTE && sh.sh_size <= NOTES_BYTES_MOST)
			notes = elf_getdata(scn, NULL);
	}
	for (at = 0;
	     rc == 0 && notes && c->c.nnotes < NOTES_MOST && (at = gelf_getnote(notes, at, &nh, &name, &desc)) > 0;) {
		const char *p = notes->d_buf;

		if (nh.n_type == NOTE_TYPE && nh.n_namesz == sizeof("stapsdt") &&
		    !memcmp(p + name, "stapsdt", nh.n_namesz))
			rc = code_take_note(c, p + desc, nh.n_descsz, base);
	}
	c->c.note = c->note;
	return rc;
}

/* ---- the file ---------------------------------------------------------------------------- */

static int code_take_header(struct code *c, Elf *e)
{
	bool symtab = false;
	Elf_Scn *scn = NULL;
	GElf_Ehdr eh;
	GElf_Phdr ph;
	GElf_Shdr sh;
	size_t n = 0;

	if (!gelf_getehdr(e, &eh) || (eh.e_type != ET_EXEC && eh.e_type != ET_DYN) || elf_getphdrnum(e, &n) < 0)
		return -TALLY_ECORRUPT;
	if (eh.e_ident[EI_CLASS] == ELFCLASS64 && eh.e_ident[EI_DATA] == ELFDATA2LSB)
		c->c.machine = eh.e_machine == EM_X86_64  ? SYM_X86_64 :
			       eh.e_machine == EM_AARCH64 ? SYM_AARCH64 :
							    SYM_OTHER_MACHINE;
	for (size_t i = 0; i < n && gelf_getphdr(e, (int)i, &ph); i++)
		if (ph.p_type == PT_LOAD && ph.p_filesz && c->nsegments < SEGMENTS_MOST)
			c->segment[c->nsegments++] =
				(struct segment){ ph.p_offset, ph.p_filesz, ph.p_vaddr, ph.p_flags & PF_X };
	while ((scn = elf_nextscn(e, scn)))
		symtab |= gelf_getshdr(scn, &sh) && sh.sh_type == SHT_SYMTAB;
	c->c.stripped = !symtab;
	return 0;
}

int sym_code_open(struct sym_code **ret, int fd)
{
	struct code *c = mem_alloc(sizeof(*c));
	Elf *e = NULL;
	int rc = c ? 0 : -TALLY_ENOMEM;

	if (rc < 0)
		return rc;
	c->fd = fd;
	if (elf_version(EV_CURRENT) == EV_NONE || !(e = elf_begin(fd, ELF_C_READ, NULL)) || elf_kind(e) != ELF_K_ELF)
		rc = -TALLY_ECORRUPT;
	if (rc == 0)
		rc = code_take_header(c, e);
	if (rc == 0)
		rc = code_take_notes(c, e);
	elf_end(e);
	if (rc == 0)
		rc = object_ident(&c->o, &(struct object_bytes){ .fd = fd });
	if (rc == 0)
		rc = object_all_symbols(&c->o, &(struct object_bytes){ .fd = fd });
	if (rc == 0)
		rc = code_take_functions(c);
	if (rc < 0)
		sym_code_close(&c->c);
	else
		*ret = &c->c;
	return rc;
}

void sym_code_close(struct sym_code *code)
{
	struct code *c = (struct code *)code; /* c is first */

	if (!c)
		return;
	object_free(&c->o);
	mem_free(c->func);
	mem_free(c->note);
	arena_free(&c->text);
	mem_free(c);
}
