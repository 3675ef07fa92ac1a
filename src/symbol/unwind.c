/*
 * unwind.c: .eh_frame to rows of rules, for programs that walk stacks in the kernel.
 *
 * libdw reads the entries and runs their instructions: asked for an address, it says which rule holds there, and up to
 * where. Which addresses there are to ask for says the sorted table in .eh_frame_hdr; a file that has it in another
 * encoding than linkers write has no rows. A program that was linked with -static has no such table. There the first
 * address of each entry is read, in the encoding that linkers write: where it is another one, libdw knows of no entry
 * at what it seems to say.
 *
 * A rule that programs can't follow becomes a row without a rule, where a stack ends: nothing is approximated.  They
 * follow
 *
 *	CFA             stack or frame pointer + offset; the word there (frames that were aligned, signals); entries
 *	                of a PLT
 *	return address  at an offset from the CFA or the stack pointer, or in the link register
 *	frame pointer   the same, or unchanged
 *
 * The code to which signal handlers return has an entry in glibc.  That of arm64's vDSO and of musl has none, as gdb
 * knows it by its two instructions; so do we, where no entry covers them.  In a file that has no tables but such code
 * (Go's programs, musl) all other code is what it is in files without both: the frame pointer is followed there.
 *
 * A file may be anybody's.  libelf reads it by pread() and checks what it hands out; the number of rows and the time
 * for one file are bounded.  libdw runs an entry's instructions whatever they cost: each of those that remember a state
 * takes 230 bytes, so that a file of 100 MB can ask for 23 GB.  So before libdw sees a file, each entry that the sorted
 * table leads to must be small (without one, each that there is), and what the file's sections say (where libdw looks)
 * what its program headers say (where we do); else the file counts as one without tables.  libdw and its libelf are
 * loaded when the first file is read.
 */
#include <dwarf.h>
#include <elfutils/libdw.h>
#include <gelf.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/file.h"
#include "symbol/symbol_int.h"
#include "symbol/unwind.h"

#define SONAME "libdw.so.1"
#define ROWS_MOST (8u << 20)
#define FILE_NS_MOST UINT64_C(3000000000)
#define CODE_BYTES_MOST (256u << 20)  /* that are searched for what signals return to */
#define FRAME_BYTES_MOST (256u << 20) /* of .eh_frame, and of .eh_frame_hdr */
#define UNSORTED_BYTES_MOST \
	(16u << 20) /* of .eh_frame without a sorted table: libdw keeps each entry before the one it looks for */
#define ENTRY_BYTES_MOST (256u << 10) /* of an entry, and of what it has in common with others */

LIBRARY_NOTE("dwarf", "stacks without frame pointers", "recommended", SONAME);

/* One row per function: name, and what is loaded. */
#define ELF_FUNCTIONS(X)        \
	X(elf_version)          \
	X(elf_begin)            \
	X(elf_memory)           \
	X(elf_end)              \
	X(elf_kind)             \
	X(elf_getphdrnum)       \
	X(elf_getshdrstrndx)    \
	X(elf_getdata_rawchunk) \
	X(elf_nextscn)          \
	X(elf_strptr)           \
	X(gelf_getehdr)         \
	X(gelf_getphdr)         \
	X(gelf_getshdr)
#define DWARF_FUNCTIONS(X)  \
	X(dwarf_getcfi_elf) \
	X(dwarf_cfi_end) X(dwarf_cfi_addrframe) X(dwarf_frame_info) X(dwarf_frame_cfa) X(dwarf_frame_register)
enum {
#define X(name) FN_##name,
	ELF_FUNCTIONS(X) FN_ELF_ALL,
	FN_DWARF = FN_ELF_ALL - 1,
	DWARF_FUNCTIONS(X) FN_ALL
#undef X
};
struct cfi_library {
	void *fn[FN_ALL];
};
#define CALL_OF(lib, name) ((__typeof__(&name))(lib)->fn[FN_##name])

static bool cfi_library_load(struct cfi_library *lib)
{
	static const char *const name[] = {
#define X(name) #name,
		ELF_FUNCTIONS(X) DWARF_FUNCTIONS(X)
#undef X
	};
	static_assert(COUNT(name) == FN_ALL, "a name for each");

	return library_load("libelf.so.1", name, lib->fn, FN_ELF_ALL) &&
	       library_load(SONAME, name + FN_ELF_ALL, lib->fn + FN_ELF_ALL, FN_ALL - FN_ELF_ALL) &&
	       CALL_OF(lib, elf_version)(EV_CURRENT) != EV_NONE;
}

int sym_cfi_ready(struct err *e)
{
	struct cfi_library lib;

	return cfi_library_load(&lib) ? 0 :
					err_set(e, TALLY_ENOTSUP, "%s",
						LIBRARY_WHY(SONAME " is not installed: Debian's package is libdw1"));
}

/* ---- what a machine calls its registers --------------------------------------------------- */

struct machine {
	uint16_t elf;   /* e_machine */
	int sp, fp, ra; /* DWARF's numbers; ra: the link register where there is one */
	bool has_link;
	uint32_t step;      /* of instructions, which the next two begin at multiples of */
	uint8_t returns[9]; /* the system call to which signal handlers return */
	uint8_t nreturns;
	struct img_unwind_rule signal; /* who was interrupted, by the frame that the kernel made */
};
/* x86-64: psABI, figure 3.36; ucontext_t behind the return address. arm64: DWARF for AArch64, 4.1; struct
 * rt_sigframe. */
static const struct machine machines[] = {
	[SYM_X86_64] = { .elf = EM_X86_64,
			 .sp = 7,
			 .fp = 6,
			 .ra = 16,
			 .step = 1,
			 .returns = { 0x48, 0xc7, 0xc0, 0x0f, 0, 0, 0, 0x0f, 0x05 }, /* mov $15, %rax; syscall */
			 .nreturns = 9,
			 .signal = { 160, 168, 120, UNWIND_CFA_AT_SP, UNWIND_RA_AT_SP, UNWIND_FP_AT_SP,
				     UNWIND_SIGNAL } },
	[SYM_AARCH64] = { .elf = EM_AARCH64,
			  .sp = 31,
			  .fp = 29,
			  .ra = 30,
			  .has_link = true,
			  .step = 4,
			  .returns = { 0x68, 0x11, 0x80, 0xd2, 0x01, 0, 0, 0xd4 }, /* mov x8, #139; svc #0 */
			  .nreturns = 8,
			  .signal = { 560, 568, 544, UNWIND_CFA_AT_SP, UNWIND_RA_AT_SP, UNWIND_FP_AT_SP,
				      UNWIND_SIGNAL | UNWIND_PAIR } },
};

/* ---- rules -------------------------------------------------------------------------------- */

static bool fits_offset(Dwarf_Word v, int32_t *ret)
{
	*ret = (int32_t)v;
	return (Dwarf_Sword)v == *ret;
}

/* A register and an offset from it. */
static bool op_is_register(const Dwarf_Op *op, int *reg, int32_t *offset)
{
	if (op->atom >= DW_OP_breg0 && op->atom <= DW_OP_breg31) {
		*reg = op->atom - DW_OP_breg0;
		return fits_offset(op->number, offset);
	}
	if (op->atom != DW_OP_bregx || op->number > INT32_MAX)
		return false;
	*reg = (int)op->number;
	return fits_offset(op->number2, offset);
}

/* The expression that linkers write for a PLT: rsp + 8 + ((rip & 15) >= N) * 8. */
static bool ops_are_plt(const Dwarf_Op *op, size_t n, int32_t *from)
{
	static const uint8_t atoms[] = { DW_OP_breg7, DW_OP_breg16, DW_OP_lit15, DW_OP_and, DW_OP_lit0,
					 DW_OP_ge,    DW_OP_lit3,   DW_OP_shl,   DW_OP_plus };

	if (n != COUNT(atoms) || op[0].number != 8 || op[1].number)
		return false;
	for (size_t i = 0; i < n; i++)
		if (i != 4 && op[i].atom != atoms[i])
			return false;
	*from = op[4].atom - DW_OP_lit0;
	return *from >= 0 && *from < 16;
}

static void rule_take_cfa(struct img_unwind_rule *r, const struct machine *m, const Dwarf_Op *op, size_t n)
{
	int reg;

	r->cfa_kind = UNWIND_CFA_UNKNOWN;
	if (m->elf == EM_X86_64 && ops_are_plt(op, n, &r->cfa)) {
		r->cfa_kind = UNWIND_CFA_PLT;
		return;
	}
	if (n < 1 || n > 2 || !op_is_register(&op[0], &reg, &r->cfa) || (n == 2 && op[1].atom != DW_OP_deref))
		return;
	if (reg == m->sp)
		r->cfa_kind = n == 2 ? UNWIND_CFA_AT_SP : UNWIND_CFA_SP;
	else if (reg == m->fp)
		r->cfa_kind = n == 2 ? UNWIND_CFA_AT_FP : UNWIND_CFA_FP;
}

/* Where a register is saved: at the CFA or the stack pointer and an offset. */
enum saved { SAVED_UNDEFINED, SAVED_SAME, SAVED_AT_CFA, SAVED_AT_SP, SAVED_OTHERWISE };
static enum saved saved_where(const struct cfi_library *lib, const struct machine *m, Dwarf_Frame *f, int reg,
			      int32_t *offset)
{
	Dwarf_Op mem[3], *op;
	size_t n;
	int base;

	if (CALL_OF(lib, dwarf_frame_register)(f, reg, mem, &op, &n) != 0)
		return SAVED_OTHERWISE;
	if (!n)
		return op == mem ? SAVED_UNDEFINED : SAVED_SAME;
	*offset = 0;
	if (op[0].atom != DW_OP_call_frame_cfa || n > 2)
		return SAVED_OTHERWISE;
	if (n == 1)
		return SAVED_AT_CFA;
	if (op[1].atom == DW_OP_plus_uconst)
		return fits_offset(op[1].number, offset) ? SAVED_AT_CFA : SAVED_OTHERWISE;
	return op_is_register(&op[1], &base, offset) && base == m->sp ? SAVED_AT_SP : SAVED_OTHERWISE;
}

static struct img_unwind_rule rule_of_frame(const struct cfi_library *lib, const struct machine *m, Dwarf_Frame *f,
					    bool signal)
{
	static const uint8_t ra[] = { [SAVED_AT_CFA] = UNWIND_RA_AT_CFA, [SAVED_AT_SP] = UNWIND_RA_AT_SP },
			     fp[] = { [SAVED_UNDEFINED] = UNWIND_FP_UNKNOWN,
				      [SAVED_SAME] = UNWIND_FP_SAME,
				      [SAVED_AT_CFA] = UNWIND_FP_AT_CFA,
				      [SAVED_AT_SP] = UNWIND_FP_AT_SP,
				      [SAVED_OTHERWISE] = UNWIND_FP_UNKNOWN };
	struct img_unwind_rule r = { .flags = signal ? UNWIND_SIGNAL : 0 };
	enum saved where;
	Dwarf_Op *op;
	size_t n;

	if (CALL_OF(lib, dwarf_frame_cfa)(f, &op, &n) != 0)
		return (struct img_unwind_rule){ 0 };
	rule_take_cfa(&r, m, op, n);
	where = saved_where(lib, m, f, m->ra, &r.ra);
	if (where == SAVED_UNDEFINED) { /* it is the outermost; its CFA does not matter */
		return (struct img_unwind_rule){ .cfa_kind = UNWIND_CFA_SP, .ra_kind = UNWIND_RA_END };
	} else if (where == SAVED_SAME && m->has_link) {
		r.ra_kind = UNWIND_RA_LINK;
		r.ra = 0;
	} else if (where == SAVED_AT_CFA || where == SAVED_AT_SP) {
		r.ra_kind = ra[where];
	} else {
		r.cfa_kind = UNWIND_CFA_UNKNOWN;
	}
	where = saved_where(lib, m, f, m->fp, &r.fp);
	r.fp_kind = fp[where];
	if (r.fp_kind == UNWIND_FP_SAME || r.fp_kind == UNWIND_FP_UNKNOWN)
		r.fp = 0;
	if (!signal && r.ra_kind == UNWIND_RA_AT_CFA && r.fp_kind == UNWIND_FP_AT_CFA && r.ra == r.fp + 8)
		r.flags |= UNWIND_PAIR;
	return r.cfa_kind == UNWIND_CFA_UNKNOWN ? (struct img_unwind_rule){ 0 } : r;
}

/* ---- rows --------------------------------------------------------------------------------- */

struct reading {
	struct cfi_library lib;
	const struct machine *m;
	struct sym_cfi *c;
	uint32_t cap;
	Elf *elf;
	GElf_Phdr header; /* of .eh_frame_hdr; p_filesz 0: there is none */
	bool in_memory;   /* it is the vDSO */
	uint64_t file_bytes, until_ns;
};

static bool row_put(struct reading *r, uint64_t addr, const struct img_unwind_rule *rule)
{
	struct sym_cfi_row *row = VEC_NEW(r->c->row, r->c->n, r->cap);

	if (row)
		*row = (struct sym_cfi_row){ addr, *rule };
	return row;
}

static bool row_add(struct reading *r, uint64_t addr, const struct img_unwind_rule *rule)
{
	struct sym_cfi *c = r->c;

	if (c->n && !memcmp(&c->row[c->n - 1].rule, rule, sizeof(*rule)))
		return true;
	if (c->n >= ROWS_MOST)
		return !(c->late = true);
	return row_put(r, addr, rule);
}

/* Rows of the entry that begins at addr and ends before `next`. *end: where it does. */
static bool entry_add_rows(struct reading *r, Dwarf_CFI *cfi, uint64_t addr, uint64_t next, uint64_t *end)
{
	*end = addr;
	while (addr < next && !r->c->late) {
		struct img_unwind_rule rule;
		Dwarf_Addr from, to;
		Dwarf_Frame *f;
		bool signal, good;

		if (CALL_OF(&r->lib, dwarf_cfi_addrframe)(cfi, addr, &f) != 0)
			return true;
		if (CALL_OF(&r->lib, dwarf_frame_info)(f, &from, &to, &signal) < 0 || to <= addr) {
			free(f);
			return true;
		}
		rule = rule_of_frame(&r->lib, r->m, f, signal);
		free(f);
		good = row_add(r, addr, &rule);
		*end = addr = to;
		if (!good)
			return false;
		r->c->late = k_now_ns() > r->until_ns;
	}
	return true;
}

/* Version 1; pointers as linkers write them: the table's relative to the header, of 4 bytes with sign. */
static const uint8_t header_begin[] = { 1, DW_EH_PE_pcrel | DW_EH_PE_sdata4, DW_EH_PE_udata4,
					DW_EH_PE_datarel | DW_EH_PE_sdata4 };

static int header_compare(const void *a, const void *b)
{
	const uint64_t *x = a, *y = b;

	return *x < *y ? -1 : *x > *y;
}

static Elf_Data *reading_bytes(struct reading *r, uint64_t offset, uint64_t bytes)
{
	return offset <= INT64_MAX ?
		       CALL_OF(&r->lib, elf_getdata_rawchunk)(r->elf, (int64_t)offset, bytes, ELF_T_BYTE) :
		       NULL;
}

struct frames_at {
	uint64_t vaddr, offset, bytes;
};

/* Takes a section of that name. False: it is not where the program headers say, or one too many. */
static bool section_take(const struct reading *r, const char *name, const GElf_Shdr *sh, struct frames_at *at)
{
	const bool sorted = r->header.p_filesz;

	if (!strcmp(name, ".eh_frame_hdr"))
		return sorted && sh->sh_offset == r->header.p_offset && sh->sh_addr == r->header.p_vaddr;
	if (strcmp(name, ".eh_frame") != 0)
		return true;
	if (sorted ? sh->sh_offset != at->offset || sh->sh_addr != at->vaddr : at->bytes || sh->sh_type == SHT_NOBITS)
		return false;
	*at = (struct frames_at){ sh->sh_addr, sh->sh_offset, sh->sh_size };
	return true;
}

/* Whether the sections agree: that of .eh_frame is at `at`, whose size they tell, and that of the sorted table where
 * its header says. Without a sorted table they alone tell where .eh_frame is. */
static bool sections_agree(struct reading *r, struct frames_at *at)
{
	Elf_Scn *scn = NULL;
	size_t names;

	if (CALL_OF(&r->lib, elf_getshdrstrndx)(r->elf, &names) < 0 || !names)
		return true; /* it has none */
	while ((scn = CALL_OF(&r->lib, elf_nextscn)(r->elf, scn))) {
		const char *name;
		GElf_Shdr sh;

		if (CALL_OF(&r->lib, gelf_getshdr)(scn, &sh) &&
		    (name = CALL_OF(&r->lib, elf_strptr)(r->elf, names, sh.sh_name)) && !section_take(r, name, &sh, at))
			return false;
	}
	return true;
}

/* Where .eh_frame lies, as the sorted table's header tells, which lies in the same part of the file. */
static bool frames_find(struct reading *r, const uint8_t *header, struct frames_at *ret)
{
	int32_t to;

	memcpy(&to, header + 4, 4);
	ret->vaddr = r->header.p_vaddr + 4 + (uint64_t)(int64_t)to;
	ret->offset = r->header.p_offset + 4 + (uint64_t)(int64_t)to;
	if (ret->offset > r->file_bytes)
		return false;
	ret->bytes = r->file_bytes - ret->offset;
	return sections_agree(r, ret) && ret->bytes <= FRAME_BYTES_MOST;
}

/* The length of the entry at that offset; 0: it is none, or too long. */
static uint32_t entry_bytes(const Elf_Data *frames, uint64_t offset)
{
	uint32_t n;

	if (offset > frames->d_size || frames->d_size - offset < 8)
		return 0;
	memcpy(&n, (const uint8_t *)frames->d_buf + offset, 4);
	return n <= ENTRY_BYTES_MOST ? n : 0;
}

/* Whether the entry at that offset is small, and what it has in common with others. */
static bool entry_is_small(const Elf_Data *frames, uint64_t offset)
{
	uint32_t back;

	if (!entry_bytes(frames, offset))
		return false;
	memcpy(&back, (const uint8_t *)frames->d_buf + offset + 4, 4);
	return entry_bytes(frames, offset + 4 - back);
}

/* Whether all entries to which the table (n pairs at p) leads are small. */
static bool entries_are_small(const struct reading *r, const Elf_Data *frames, uint64_t vaddr, const uint8_t *p,
			      uint32_t n)
{
	for (uint32_t i = 0; i < n; i++) {
		int32_t at;

		memcpy(&at, p + 8 * (size_t)i + 4, 4);
		if (!entry_is_small(frames, r->header.p_vaddr + (uint64_t)(int64_t)at - vaddr))
			return false;
	}
	return true;
}

/* The addresses at which entries begin; from mem_alloc. NULL: none, none that may be read, or no memory. */
static uint64_t *header_entries(struct reading *r, uint32_t *n)
{
	const size_t begin = sizeof(header_begin) + 8;
	Elf_Data *d = r->header.p_filesz <= FRAME_BYTES_MOST ?
			      reading_bytes(r, r->header.p_offset, r->header.p_filesz) :
			      NULL;
	const uint8_t *p = d ? d->d_buf : NULL;
	struct frames_at frames;
	Elf_Data *bytes;
	uint64_t *entry;
	uint32_t count;

	*n = 0;
	if (!p || d->d_size < begin || memcmp(p, header_begin, sizeof(header_begin)))
		return NULL;
	memcpy(&count, p + 8, 4);
	if (count > (d->d_size - begin) / 8)
		count = (uint32_t)((d->d_size - begin) / 8);
	if (!frames_find(r, p, &frames) || !(bytes = reading_bytes(r, frames.offset, frames.bytes)) ||
	    !entries_are_small(r, bytes, frames.vaddr, p + begin, count))
		return NULL;
	entry = count ? mem_alloc(count * sizeof(*entry)) : NULL;
	for (uint32_t i = 0; entry && i < count; i++) {
		int32_t at;

		memcpy(&at, p + begin + 8 * (size_t)i, 4);
		entry[i] = r->header.p_vaddr + (uint64_t)(int64_t)at;
	}
	*n = entry ? count : 0;
	return entry;
}

/* The entry at that offset. False: it is not small. *bytes: it takes so many; *start: where its code begins. */
static bool frames_take(const struct frames_at *at, const Elf_Data *frames, uint64_t offset, uint64_t *bytes,
			uint64_t *start)
{
	const uint8_t *p = (const uint8_t *)frames->d_buf + offset;
	uint32_t word[3] = { 0 };
	const size_t left = frames->d_size - offset;

	memcpy(word, p, left < sizeof(word) ? left : sizeof(word));
	*bytes = 4 + (uint64_t)word[0];
	*start = 0;
	if (!word[0]) /* the end, or between what several files had */
		return true;
	if (*bytes > left || !entry_bytes(frames, offset))
		return false;
	if (word[1])
		*start = at->vaddr + offset + 8 + (uint64_t)(int64_t)(int32_t)word[2];
	return !word[1] || (*bytes >= sizeof(word) && entry_is_small(frames, offset));
}

/* The same of a file without a sorted table. */
static uint64_t *frames_entries(struct reading *r, uint32_t *n)
{
	struct frames_at at = { 0 };
	Elf_Data *d = sections_agree(r, &at) && at.bytes && at.bytes <= UNSORTED_BYTES_MOST ?
			      reading_bytes(r, at.offset, at.bytes) :
			      NULL;
	uint64_t *entry = d ? mem_alloc((d->d_size / 12 + 1) * sizeof(*entry)) : NULL;
	uint64_t bytes, start;

	*n = 0;
	for (uint64_t offset = 0; entry && d->d_size - offset >= 4; offset += bytes) {
		if (!frames_take(&at, d, offset, &bytes, &start)) {
			mem_free(entry);
			return NULL;
		}
		if (start)
			entry[(*n)++] = start;
	}
	return entry;
}

static int cfi_add_entries(struct reading *r)
{
	static const struct img_unwind_rule none;
	uint64_t *entry = NULL, end = 0;
	Dwarf_CFI *cfi = NULL;
	bool good = true;
	uint32_t n = 0;

	r->until_ns = k_now_ns() + FILE_NS_MOST;
	entry = r->header.p_filesz ? header_entries(r, &n) : frames_entries(r, &n);
	if (entry)
		qsort(entry, n, sizeof(*entry), header_compare);
	if (entry && !(cfi = CALL_OF(&r->lib, dwarf_getcfi_elf)(r->elf)))
		n = 0;
	for (uint32_t i = 0; entry && good && i < n; i++) {
		const uint64_t next = i + 1 < n ? entry[i + 1] : UINT64_MAX;

		if (k_now_ns() > r->until_ns)
			r->c->late = true;
		if (r->c->late)
			break;
		if (entry[i] < end)
			continue;
		if (r->c->n && entry[i] > end)
			good = row_add(r, end, &none);
		good = good && entry_add_rows(r, cfi, entry[i], next, &end);
	}
	if (r->c->n)
		good = (row_add(r, end, &none) || r->c->late) && good;
	mem_free(entry);
	if (cfi)
		(void)CALL_OF(&r->lib, dwarf_cfi_end)(cfi);
	return good || r->c->late ? 0 : -TALLY_ENOMEM;
}

/* ---- what signals return to --------------------------------------------------------------- */

static int row_compare(const void *a, const void *b)
{
	const struct sym_cfi_row *x = a, *y = b;

	return x->addr < y->addr ? -1 : x->addr > y->addr;
}

/* The rule at an address, of the first n rows; NULL: none. */
static const struct img_unwind_rule *row_find(const struct sym_cfi *c, uint32_t n, uint64_t addr)
{
	const uint32_t lo = SORTED_UPTO(c->row, n, addr, addr);

	return lo && c->row[lo - 1].rule.cfa_kind ? &c->row[lo - 1].rule : NULL;
}

/* Adds rows for each place where the code is that which signals return to, if no entry covers it. The row begins a byte
 * before, as the address is looked up to which a handler returns, less 1. The vDSO, which lies in memory, has no frame
 * pointers. */
static int cfi_add_signals(struct reading *r)
{
	const uint32_t n = r->c->n;
	const struct img_unwind_rule other = { .cfa_kind =
						       n || r->in_memory ? UNWIND_CFA_UNKNOWN : UNWIND_CFA_POINTER };

	for (uint32_t i = 0; i < r->c->nloads; i++) {
		const struct sym_load *l = &r->c->load[i];
		Elf_Data *d = l->bytes <= CODE_BYTES_MOST ?
				      CALL_OF(&r->lib, elf_getdata_rawchunk)(r->elf, (int64_t)l->offset, l->bytes,
									     ELF_T_BYTE) :
				      NULL;
		const uint8_t *begin = d ? d->d_buf : NULL, *at = begin;

		while (at && (at = memmem(at, l->bytes - (size_t)(at - begin), r->m->returns, r->m->nreturns))) {
			const uint64_t addr = l->vaddr + (uint64_t)(at - begin);

			at++;
			if (addr % r->m->step || row_find(r->c, n, addr))
				continue;
			if (!row_put(r, addr - 1, &r->m->signal) || !row_put(r, addr + r->m->nreturns, &other))
				return -TALLY_ENOMEM;
		}
	}
	if (r->c->n > n && !n && !row_put(r, 0, &other))
		return -TALLY_ENOMEM;
	if (r->c->n > n)
		qsort(r->c->row, r->c->n, sizeof(*r->c->row), row_compare);
	return 0;
}

/* ---- files -------------------------------------------------------------------------------- */

static int cfi_take_headers(struct reading *r)
{
	GElf_Ehdr eh;
	GElf_Phdr ph;
	size_t n;

	if (CALL_OF(&r->lib, elf_kind)(r->elf) != ELF_K_ELF || !CALL_OF(&r->lib, gelf_getehdr)(r->elf, &eh) ||
	    CALL_OF(&r->lib, elf_getphdrnum)(r->elf, &n) < 0)
		return -TALLY_ECORRUPT;
	r->c->foreign =
		eh.e_machine != r->m->elf || eh.e_ident[EI_CLASS] != ELFCLASS64 || eh.e_ident[EI_DATA] != ELFDATA2LSB;
	for (size_t i = 0; i < n && CALL_OF(&r->lib, gelf_getphdr)(r->elf, (int)i, &ph); i++) {
		if (ph.p_type == PT_GNU_EH_FRAME)
			r->header = ph;
		else if (ph.p_type == PT_LOAD && ph.p_flags & PF_X && ph.p_filesz && r->c->nloads < COUNT(r->c->load))
			r->c->load[r->c->nloads++] = (struct sym_load){ ph.p_offset, ph.p_filesz, ph.p_vaddr };
	}
	return 0;
}

int sym_cfi_read(struct sym_cfi *ret, enum sym_machine machine, const struct sym_cfi_bytes *b)
{
	struct reading r = { .m = &machines[machine], .c = ret, .in_memory = b->p };
	struct stat st;
	int rc;

	*ret = (struct sym_cfi){ 0 };
	if (machine == SYM_OTHER_MACHINE || !cfi_library_load(&r.lib))
		return -TALLY_ENOTSUP;
	r.elf = b->p ? CALL_OF(&r.lib, elf_memory)((char *)b->p, b->n) :
		       CALL_OF(&r.lib, elf_begin)(b->fd, ELF_C_READ, NULL);
	if (!r.elf)
		return -TALLY_ECORRUPT;
	r.file_bytes = b->p ? b->n : fstat(b->fd, &st) == 0 ? (uint64_t)st.st_size : 0;
	rc = cfi_take_headers(&r);
	if (rc >= 0 && !ret->foreign)
		rc = cfi_add_entries(&r);
	if (rc >= 0 && !ret->foreign)
		rc = cfi_add_signals(&r);
	CALL_OF(&r.lib, elf_end)(r.elf);
	if (rc < 0)
		sym_cfi_free(ret);
	return rc;
}

bool sym_cfi_addr(const struct sym_cfi *c, uint64_t offset, uint64_t *ret)
{
	return loads_vaddr(c->load, c->nloads, offset, ret);
}

void sym_cfi_free(struct sym_cfi *c)
{
	mem_free(c->row);
	*c = (struct sym_cfi){ 0 };
}
