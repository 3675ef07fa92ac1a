/* .eh_frame as rows of rules. The truth is the ABI: what is on the stack when a function begins, and what libc's
 * entries must hold. */
#include <dlfcn.h>
#include <elf.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <cmocka.h>
#include <stdlib.h>
#include <string.h>
#include <sys/auxv.h>
#include <sys/mman.h>
#include <unistd.h>

#include "symbol/unwind.h"

#if defined(__x86_64__)
#define HERE SYM_X86_64
#elif defined(__aarch64__)
#define HERE SYM_AARCH64
#else
#define HERE SYM_OTHER_MACHINE
#endif

/* gcc 12's LeakSanitizer ends with a fault of its own in the thread-local memory of a library that was opened at run
 * time, libelf's. What this code allocates is counted by mem_live(). */
__attribute__((visibility("default"))) int __lsan_is_turned_off(void);
int __lsan_is_turned_off(void)
{
	return 1;
}

static const struct img_unwind_rule *rule_at(const struct sym_cfi *c, uint64_t addr)
{
	const struct img_unwind_rule *r = NULL;

	for (uint32_t i = 0; i < c->n && c->row[i].addr <= addr; i++)
		r = &c->row[i].rule;
	return r;
}

/* The file that holds a function of this process, and the function's address in it. */
static uint64_t read_file_of(const void *function, struct sym_cfi *c)
{
	Dl_info in;
	int fd;

	assert_true(dladdr(function, &in));
	fd = open(in.dli_fname, O_RDONLY);
	assert_true(fd >= 0);
	assert_int_equal(sym_cfi_read(c, HERE, &(struct sym_cfi_bytes){ fd, NULL, 0 }), 0);
	close(fd);
	return (uint64_t)(uintptr_t)function - (uint64_t)(uintptr_t)in.dli_fbase;
}

static void a_function_begins_with_its_return_address_on_top(void **state)
{
	static const char *const name[] = { "qsort", "memcpy", "strtol", "printf", "malloc" };
	struct sym_cfi c;

	(void)state;
	for (size_t i = 0; i < COUNT(name); i++) {
		void *function = dlsym(dlopen("libc.so.6", RTLD_NOW), name[i]);
		const struct img_unwind_rule *r;
		uint64_t at;

		assert_non_null(function);
		at = read_file_of(function, &c);
		assert_true(c.n > 1000 && c.nloads && !c.foreign && !c.late);
		for (uint32_t k = 1; k < c.n; k++)
			assert_true(c.row[k - 1].addr < c.row[k].addr);
		r = rule_at(&c, at);
		assert_non_null(r);
		assert_int_equal(r->cfa_kind, UNWIND_CFA_SP);
		assert_int_equal(r->fp_kind, UNWIND_FP_SAME);
#if defined(__x86_64__)
		assert_int_equal(r->cfa, 8);
		assert_int_equal(r->ra_kind, UNWIND_RA_AT_CFA);
		assert_int_equal(r->ra, -8);
#else
		assert_int_equal(r->cfa, 0);
		assert_int_equal(r->ra_kind, UNWIND_RA_LINK);
#endif
		assert_int_equal(rule_at(&c, c.row[c.n - 1].addr + 4096)->cfa_kind, UNWIND_CFA_UNKNOWN);
		sym_cfi_free(&c);
	}
}

/* libc has an entry for what signal handlers return to, or the kernel's vDSO holds it. */
static void signals_are_returned_from_by_one_rule(void **state)
{
	const uint8_t *vdso = (const void *)(uintptr_t)getauxval(AT_SYSINFO_EHDR);
	struct sym_cfi c;
	uint32_t n = 0;

	(void)state;
#if defined(__x86_64__)
	(void)read_file_of(dlsym(dlopen("libc.so.6", RTLD_NOW), "qsort"), &c);
#else
	assert_int_equal(sym_cfi_read(&c, HERE, &(struct sym_cfi_bytes){ -1, vdso, 8192 }), 0);
#endif
	for (uint32_t i = 0; i < c.n; i++)
		if (c.row[i].rule.flags & UNWIND_SIGNAL) {
			n++;
			assert_int_equal(c.row[i].rule.cfa_kind, UNWIND_CFA_AT_SP);
			assert_int_equal(c.row[i].rule.ra, c.row[i].rule.cfa + 8);
		}
	assert_int_equal(n, 1);
	sym_cfi_free(&c);
	if (vdso) {
		assert_int_equal(sym_cfi_read(&c, HERE, &(struct sym_cfi_bytes){ -1, vdso, 8192 }), 0);
		assert_true(c.n > 0);
		sym_cfi_free(&c);
	}
}

static void other_bytes_are_refused_or_have_no_rows(void **state)
{
	static uint8_t copy[8192], bytes[8192];
	const uint8_t *vdso = (const void *)(uintptr_t)getauxval(AT_SYSINFO_EHDR);
	struct sym_cfi c;
	uint64_t addr;

	(void)state;
	assert_int_equal(sym_cfi_read(&c, HERE, &(struct sym_cfi_bytes){ -1, "no ELF file", 11 }), -TALLY_ECORRUPT);
	if (!vdso)
		skip();
	memcpy(copy, vdso, sizeof(copy));
	srand(1);
	for (int i = 0; i < 3000; i++) { /* whatever is wrong: there is an answer, and its rows are in order */
		const size_t n = i % 3 ? sizeof(bytes) : (size_t)rand() % sizeof(bytes);

		memcpy(bytes, copy, sizeof(bytes));
		for (int k = 0; k < 1 + i % 8; k++)
			bytes[(size_t)rand() % sizeof(bytes)] = (uint8_t)rand();
		if (sym_cfi_read(&c, HERE, &(struct sym_cfi_bytes){ -1, bytes, n }) < 0)
			continue;
		for (uint32_t k = 1; k < c.n; k++)
			assert_true(c.row[k - 1].addr <= c.row[k].addr);
		(void)sym_cfi_addr(&c, (uint64_t)rand(), &addr);
		sym_cfi_free(&c);
	}
	copy[18] ^= 0x55; /* e_machine */
	assert_int_equal(sym_cfi_read(&c, HERE, &(struct sym_cfi_bytes){ -1, copy, sizeof(copy) }), 0);
	assert_true(c.foreign && !c.n);
	sym_cfi_free(&c);
	assert_int_equal(mem_live(), 0);
}

/* ---- a file whose one entry is as long as a test likes ---------------------------------------- */

enum { TEXT_AT = 0x1000, HDR_AT = 0x2000, FRAMES_AT = 0x2040, NAMES_AT = 0x800, SECTIONS_AT = 0x400 };

struct made {
	uint8_t *p;
	size_t n, bytes; /* of the file, and of .eh_frame */
};

static size_t put(struct made *f, size_t at, const void *p, size_t n)
{
	memcpy(f->p + at, p, n);
	return at + n;
}

static size_t put_u32(struct made *f, size_t at, uint32_t v)
{
	return put(f, at, &v, sizeof(v));
}

/* One function; its entry, or (common) what it has in common with others, has so many instructions of that byte. */
static struct made file_make(uint8_t instruction, uint32_t common, uint32_t own)
{
	static const char names[] = "\0.eh_frame\0.eh_frame_hdr\0.shstrtab";
	struct made f = { .n = FRAMES_AT + common + own + 64 };
	const Elf64_Phdr text = { PT_LOAD, PF_R | PF_X, TEXT_AT, TEXT_AT, TEXT_AT, 0x100, 0x100, 0x1000 },
			 data = { PT_LOAD, PF_R, HDR_AT, HDR_AT, HDR_AT, f.n - HDR_AT, f.n - HDR_AT, 0x1000 },
			 table = { PT_GNU_EH_FRAME, PF_R, HDR_AT, HDR_AT, HDR_AT, 20, 20, 4 };
	Elf64_Ehdr eh = { .e_type = ET_DYN,
			  .e_machine = EM_X86_64,
			  .e_version = EV_CURRENT,
			  .e_phoff = sizeof(eh),
			  .e_shoff = SECTIONS_AT,
			  .e_ehsize = sizeof(eh),
			  .e_phentsize = sizeof(text),
			  .e_phnum = 3,
			  .e_shentsize = sizeof(Elf64_Shdr),
			  .e_shnum = 4,
			  .e_shstrndx = 3 };
	Elf64_Shdr sh[4] = {
		{ 0 },
		{ .sh_name = 11,
		  .sh_type = SHT_PROGBITS,
		  .sh_flags = SHF_ALLOC,
		  .sh_addr = HDR_AT,
		  .sh_offset = HDR_AT,
		  .sh_size = 20 },
		{ .sh_name = 1,
		  .sh_type = SHT_PROGBITS,
		  .sh_flags = SHF_ALLOC,
		  .sh_addr = FRAMES_AT,
		  .sh_offset = FRAMES_AT },
		{ .sh_name = 25, .sh_type = SHT_STRTAB, .sh_offset = NAMES_AT, .sh_size = sizeof(names) }
	};
	/* version 1, "zR", code by 1, data by -8, return address 16, pcrel sdata4; the CFA is rsp + 8, rip lies at
	 * -8 */
	static const uint8_t cie[] = { 1, 'z', 'R', 0, 1, 0x78, 16, 1, 0x1b, 0x0c, 7, 8, 0x90, 1 };
	static const uint8_t hdr[] = { 1, 0x1b, 0x03, 0x3b };
	size_t at = FRAMES_AT, fde;

	f.p = mem_alloc(f.n);
	memcpy(eh.e_ident, ELFMAG, SELFMAG);
	eh.e_ident[EI_CLASS] = ELFCLASS64;
	eh.e_ident[EI_DATA] = ELFDATA2LSB;
	eh.e_ident[EI_VERSION] = EV_CURRENT;
	put(&f, put(&f, put(&f, put(&f, 0, &eh, sizeof(eh)), &text, sizeof(text)), &data, sizeof(data)), &table,
	    sizeof(table));
	put(&f, NAMES_AT, names, sizeof(names));
	at = put_u32(&f, put_u32(&f, at, (uint32_t)sizeof(cie) + 4 + common), 0);
	at = put(&f, at, cie, sizeof(cie));
	memset(f.p + at, instruction, common);
	fde = at += common;
	at = put_u32(&f, at, 4 + 4 + 4 + 1 + own);
	at = put_u32(&f, at, (uint32_t)(at - FRAMES_AT));
	at = put_u32(&f, at, (uint32_t)(TEXT_AT - at));
	at = put_u32(&f, at, 0x100) + 1;
	memset(f.p + at, instruction, own);
	f.bytes = at + own + 4 - FRAMES_AT;
	sh[2].sh_size = f.bytes;
	put(&f, SECTIONS_AT, sh, sizeof(sh));
	at = put(&f, HDR_AT, hdr, sizeof(hdr));
	at = put_u32(&f, at, FRAMES_AT - (HDR_AT + 4));
	at = put_u32(&f, at, 1);
	put_u32(&f, put_u32(&f, at, (uint32_t)(TEXT_AT - HDR_AT)), (uint32_t)(fde - HDR_AT));
	return f;
}

static uint32_t rows_of(const struct made *f)
{
	struct sym_cfi c;
	uint32_t n;

	assert_int_equal(sym_cfi_read(&c, SYM_X86_64, &(struct sym_cfi_bytes){ -1, f->p, f->n }), 0);
	n = c.n;
	sym_cfi_free(&c);
	return n;
}

/* The function's own entry is this program of DW_CFA_ instructions. */
static struct made file_with_entry(const uint8_t *program, uint32_t n)
{
	enum { OWN = 48 };
	struct made f = file_make(0, 0, OWN);

	assert_true(n <= OWN);
	memcpy(f.p + FRAMES_AT + f.bytes - 4 - OWN, program, n);
	return f;
}

struct entry {
	int line;
	uint8_t n, program[24];
	struct img_unwind_rule rule;
};

static void entry_becomes_its_rule(const struct entry *t, enum sym_machine machine)
{
	struct made f = file_with_entry(t->program, t->n);
	const struct img_unwind_rule *got;
	struct sym_cfi c;

	((Elf64_Ehdr *)(void *)f.p)->e_machine = machine == SYM_AARCH64 ? EM_AARCH64 : EM_X86_64;
	assert_int_equal(sym_cfi_read(&c, machine, &(struct sym_cfi_bytes){ -1, f.p, f.n }), 0);
	if (!c.n)
		fail_msg("line %d: no rows", t->line);
	got = &c.row[0].rule;
	if (c.row[0].addr != TEXT_AT || memcmp(got, &t->rule, sizeof(*got)))
		fail_msg("line %d: %u rows; CFA %u %d, ra %u %d, fp %u %d, flags %u", t->line, c.n, got->cfa_kind,
			 got->cfa, got->ra_kind, got->ra, got->fp_kind, got->fp, got->flags);
	sym_cfi_free(&c);
	mem_free(f.p);
}

/* What DWARF says of the caller's registers: as a rule where programs can follow it, and as none where they can't. */
static void what_an_entry_says_becomes_a_rule(void **state)
{
#define RETURN_ON_TOP .ra_kind = UNWIND_RA_AT_CFA, .ra = -8
	static const struct entry rows[] = {
		{ __LINE__, 0, { 0 }, { .cfa_kind = UNWIND_CFA_SP, .cfa = 8, RETURN_ON_TOP } },
		{ __LINE__, 2, { 0x0e, 24 }, { .cfa_kind = UNWIND_CFA_SP, .cfa = 24, RETURN_ON_TOP } },
		/* CFA = rbp + 16; = rbx + 16 */
		{ __LINE__, 3, { 0x0c, 6, 16 }, { .cfa_kind = UNWIND_CFA_FP, .cfa = 16, RETURN_ON_TOP } },
		{ __LINE__, 3, { 0x0c, 3, 16 }, { 0 } },
		/* CFA: the word at rsp + 24, at rbp - 16, at rbx; rsp + 24 as an expression, and with more behind it */
		{ __LINE__,
		  5,
		  { 0x0f, 3, 0x77, 24, 0x06 },
		  { .cfa_kind = UNWIND_CFA_AT_SP, .cfa = 24, RETURN_ON_TOP } },
		{ __LINE__,
		  5,
		  { 0x0f, 3, 0x76, 0x70, 0x06 },
		  { .cfa_kind = UNWIND_CFA_AT_FP, .cfa = -16, RETURN_ON_TOP } },
		{ __LINE__, 5, { 0x0f, 3, 0x73, 0, 0x06 }, { 0 } },
		{ __LINE__, 4, { 0x0f, 2, 0x77, 24 }, { .cfa_kind = UNWIND_CFA_SP, .cfa = 24, RETURN_ON_TOP } },
		{ __LINE__, 6, { 0x0f, 4, 0x77, 24, 0x23, 8 }, { 0 } },
		{ __LINE__, 6, { 0x0f, 4, 0x77, 24, 0x06, 0x06 }, { 0 } },
		{ __LINE__, 3, { 0x0f, 1, 0x50 }, { 0 } },    /* what a register holds */
		{ __LINE__, 4, { 0x0f, 2, 0x08, 7 }, { 0 } }, /* a number */
		/* a register by its number: 7, and 2^32 + 7 */
		{ __LINE__, 5, { 0x0f, 3, 0x92, 7, 24 }, { .cfa_kind = UNWIND_CFA_SP, .cfa = 24, RETURN_ON_TOP } },
		{ __LINE__, 9, { 0x0f, 7, 0x92, 0x87, 0x80, 0x80, 0x80, 0x10, 24 }, { 0 } },
		/* a PLT: from its 11th byte on, its 15th; and what only looks like one */
		{ __LINE__,
		  13,
		  { 0x0f, 11, 0x77, 8, 0x80, 0, 0x3f, 0x1a, 0x3b, 0x2a, 0x33, 0x24, 0x22 },
		  { .cfa_kind = UNWIND_CFA_PLT, .cfa = 11, RETURN_ON_TOP } },
		{ __LINE__,
		  13,
		  { 0x0f, 11, 0x77, 8, 0x80, 0, 0x3f, 0x1a, 0x3f, 0x2a, 0x33, 0x24, 0x22 },
		  { .cfa_kind = UNWIND_CFA_PLT, .cfa = 15, RETURN_ON_TOP } },
		{ __LINE__,
		  13,
		  { 0x0f, 11, 0x77, 8, 0x80, 0, 0x3f, 0x1a, 0x30, 0x2a, 0x33, 0x24, 0x22 },
		  { .cfa_kind = UNWIND_CFA_PLT, .cfa = 0, RETURN_ON_TOP } },
		{ __LINE__, 13, { 0x0f, 11, 0x77, 8, 0x80, 0, 0x3f, 0x1a, 0x40, 0x2a, 0x33, 0x24, 0x22 }, { 0 } },
		{ __LINE__, 13, { 0x0f, 11, 0x77, 16, 0x80, 0, 0x3f, 0x1a, 0x3b, 0x2a, 0x33, 0x24, 0x22 }, { 0 } },
		{ __LINE__, 13, { 0x0f, 11, 0x77, 8, 0x80, 1, 0x3f, 0x1a, 0x3b, 0x2a, 0x33, 0x24, 0x22 }, { 0 } },
		{ __LINE__, 13, { 0x0f, 11, 0x77, 8, 0x80, 0, 0x3f, 0x1a, 0x3b, 0x2a, 0x33, 0x24, 0x1c }, { 0 } },
		{ __LINE__, 13, { 0x0f, 11, 0x76, 8, 0x80, 0, 0x3f, 0x1a, 0x3b, 0x2a, 0x33, 0x24, 0x22 }, { 0 } },
		/* rip: undefined is the outermost; the same, in another register, at the CFA itself */
		{ __LINE__, 2, { 0x07, 16 }, { .cfa_kind = UNWIND_CFA_SP, .ra_kind = UNWIND_RA_END } },
		{ __LINE__, 5, { 0x0c, 3, 16, 0x07, 16 }, { .cfa_kind = UNWIND_CFA_SP, .ra_kind = UNWIND_RA_END } },
		{ __LINE__, 2, { 0x08, 16 }, { 0 } },
		{ __LINE__, 3, { 0x09, 16, 0 }, { 0 } },
		{ __LINE__,
		  2,
		  { 0x90, 0 },
		  { .cfa_kind = UNWIND_CFA_SP, .cfa = 8, .ra_kind = UNWIND_RA_AT_CFA, .ra = 0 } },
		/* rip at an expression: CFA + 8, rsp + 32 in two ways, rbp + 32, the word at rsp + 32 */
		{ __LINE__,
		  5,
		  { 0x10, 16, 2, 0x23, 8 },
		  { .cfa_kind = UNWIND_CFA_SP, .cfa = 8, .ra_kind = UNWIND_RA_AT_CFA, .ra = 8 } },
		{ __LINE__,
		  5,
		  { 0x10, 16, 2, 0x77, 32 },
		  { .cfa_kind = UNWIND_CFA_SP, .cfa = 8, .ra_kind = UNWIND_RA_AT_SP, .ra = 32 } },
		{ __LINE__,
		  6,
		  { 0x10, 16, 3, 0x92, 7, 32 },
		  { .cfa_kind = UNWIND_CFA_SP, .cfa = 8, .ra_kind = UNWIND_RA_AT_SP, .ra = 32 } },
		{ __LINE__, 5, { 0x10, 16, 2, 0x76, 32 }, { 0 } },
		{ __LINE__, 6, { 0x10, 16, 3, 0x77, 32, 0x06 }, { 0 } },
		{ __LINE__, 4, { 0x10, 16, 1, 0x50 }, { 0 } },
		{ __LINE__, 5, { 0x16, 16, 2, 0x77, 32 }, { 0 } }, /* the address itself */
		/* offsets of 2^31 - 1, 2^31, -2^31 and 2^32 */
		{ __LINE__,
		  9,
		  { 0x10, 16, 6, 0x77, 0xff, 0xff, 0xff, 0xff, 0x07 },
		  { .cfa_kind = UNWIND_CFA_SP, .cfa = 8, .ra_kind = UNWIND_RA_AT_SP, .ra = INT32_MAX } },
		{ __LINE__, 9, { 0x10, 16, 6, 0x77, 0x80, 0x80, 0x80, 0x80, 0x08 }, { 0 } },
		{ __LINE__,
		  9,
		  { 0x10, 16, 6, 0x77, 0x80, 0x80, 0x80, 0x80, 0x78 },
		  { .cfa_kind = UNWIND_CFA_SP, .cfa = 8, .ra_kind = UNWIND_RA_AT_SP, .ra = INT32_MIN } },
		{ __LINE__, 9, { 0x10, 16, 6, 0x23, 0x80, 0x80, 0x80, 0x80, 0x10 }, { 0 } },
		{ __LINE__, 8, { 0x0f, 6, 0x77, 0x80, 0x80, 0x80, 0x80, 0x08 }, { 0 } },
		/* rbp: below the return address, elsewhere, at rsp + 40, the same, undefined, at rbp + 40, in rbx, the
		 * CFA - 16 */
		{ __LINE__,
		  2,
		  { 0x86, 2 },
		  { .cfa_kind = UNWIND_CFA_SP,
		    .cfa = 8,
		    RETURN_ON_TOP,
		    .fp_kind = UNWIND_FP_AT_CFA,
		    .fp = -16,
		    .flags = UNWIND_PAIR } },
		{ __LINE__,
		  2,
		  { 0x86, 3 },
		  { .cfa_kind = UNWIND_CFA_SP, .cfa = 8, RETURN_ON_TOP, .fp_kind = UNWIND_FP_AT_CFA, .fp = -24 } },
		{ __LINE__,
		  5,
		  { 0x10, 6, 2, 0x77, 40 },
		  { .cfa_kind = UNWIND_CFA_SP, .cfa = 8, RETURN_ON_TOP, .fp_kind = UNWIND_FP_AT_SP, .fp = 40 } },
		{ __LINE__,
		  10,
		  { 0x10, 6, 2, 0x77, 40, 0x10, 16, 2, 0x77, 48 },
		  { .cfa_kind = UNWIND_CFA_SP,
		    .cfa = 8,
		    .ra_kind = UNWIND_RA_AT_SP,
		    .ra = 48,
		    .fp_kind = UNWIND_FP_AT_SP,
		    .fp = 40 } },
		{ __LINE__, 2, { 0x08, 6 }, { .cfa_kind = UNWIND_CFA_SP, .cfa = 8, RETURN_ON_TOP } },
		{ __LINE__,
		  2,
		  { 0x07, 6 },
		  { .cfa_kind = UNWIND_CFA_SP, .cfa = 8, RETURN_ON_TOP, .fp_kind = UNWIND_FP_UNKNOWN } },
		{ __LINE__,
		  5,
		  { 0x10, 6, 2, 0x76, 40 },
		  { .cfa_kind = UNWIND_CFA_SP, .cfa = 8, RETURN_ON_TOP, .fp_kind = UNWIND_FP_UNKNOWN } },
		{ __LINE__,
		  3,
		  { 0x09, 6, 3 },
		  { .cfa_kind = UNWIND_CFA_SP, .cfa = 8, RETURN_ON_TOP, .fp_kind = UNWIND_FP_UNKNOWN } },
		{ __LINE__,
		  3,
		  { 0x14, 6, 2 },
		  { .cfa_kind = UNWIND_CFA_SP, .cfa = 8, RETURN_ON_TOP, .fp_kind = UNWIND_FP_UNKNOWN } },
	};

	(void)state;
	for (size_t i = 0; i < COUNT(rows); i++)
		entry_becomes_its_rule(&rows[i], SYM_X86_64);
#undef RETURN_ON_TOP
}

/* arm64: the return address is in a register until it is saved, beside the frame pointer where both are. */
static void an_entry_for_arm64_becomes_a_rule(void **state)
{
	static const struct entry rows[] = {
		{ __LINE__, 3, { 0x0c, 31, 32 }, { .cfa_kind = UNWIND_CFA_SP, .cfa = 32, .ra_kind = UNWIND_RA_LINK } },
		{ __LINE__, 3, { 0x0c, 29, 32 }, { .cfa_kind = UNWIND_CFA_FP, .cfa = 32, .ra_kind = UNWIND_RA_LINK } },
		{ __LINE__, 3, { 0x0c, 7, 32 }, { 0 } },
		{ __LINE__,
		  7,
		  { 0x0c, 31, 32, 0x9e, 1, 0x9d, 2 },
		  { .cfa_kind = UNWIND_CFA_SP,
		    .cfa = 32,
		    .ra_kind = UNWIND_RA_AT_CFA,
		    .ra = -8,
		    .fp_kind = UNWIND_FP_AT_CFA,
		    .fp = -16,
		    .flags = UNWIND_PAIR } },
		{ __LINE__,
		  7,
		  { 0x0c, 31, 32, 0x9e, 2, 0x9d, 1 },
		  { .cfa_kind = UNWIND_CFA_SP,
		    .cfa = 32,
		    .ra_kind = UNWIND_RA_AT_CFA,
		    .ra = -16,
		    .fp_kind = UNWIND_FP_AT_CFA,
		    .fp = -8 } },
		{ __LINE__, 5, { 0x0c, 31, 32, 0x07, 30 }, { .cfa_kind = UNWIND_CFA_SP, .ra_kind = UNWIND_RA_END } },
		/* no PLT of x86-64's */
		{ __LINE__,
		  4,
		  { 0x0f, 2, 0x8f, 8 },
		  { .cfa_kind = UNWIND_CFA_SP, .cfa = 8, .ra_kind = UNWIND_RA_LINK } },
	};

	(void)state;
	for (size_t i = 0; i < COUNT(rows); i++)
		entry_becomes_its_rule(&rows[i], SYM_AARCH64);
}

/* A row where something changes, and none where nothing does. */
static void rows_are_where_rules_change(void **state)
{
	/* after 4 bytes CFA = rsp + 16, after 8 the same once more, after 16 rsp + 8 again */
	static const uint8_t program[] = { 0x44, 0x0e, 16, 0x44, 0x0e, 16, 0x48, 0x0e, 8 };
	static const struct {
		uint64_t addr;
		int32_t cfa;
	} rows[] = { { TEXT_AT, 8 }, { TEXT_AT + 4, 16 }, { TEXT_AT + 16, 8 }, { TEXT_AT + 0x100, 0 } };
	struct made f = file_with_entry(program, sizeof(program));
	struct sym_cfi c;

	(void)state;
	assert_int_equal(sym_cfi_read(&c, SYM_X86_64, &(struct sym_cfi_bytes){ -1, f.p, f.n }), 0);
	assert_int_equal(c.n, COUNT(rows));
	for (size_t i = 0; i < COUNT(rows); i++) {
		assert_int_equal(c.row[i].addr, rows[i].addr);
		assert_int_equal(c.row[i].rule.cfa, rows[i].cfa);
		assert_int_equal(c.row[i].rule.cfa_kind, rows[i].cfa ? UNWIND_CFA_SP : UNWIND_CFA_UNKNOWN);
	}
	assert_false(c.late || c.foreign);
	sym_cfi_free(&c);
	mem_free(f.p);
}

/* DW_CFA_remember_state: libdw keeps 230 bytes for each, of as many as there are. */
static void an_entry_that_would_take_memory_without_bound_is_not_run(void **state)
{
	enum { REMEMBER = 0x0a, NOP = 0, MOST = 256 << 10 };
	static const struct {
		uint8_t instruction;
		uint32_t common, own;
		bool good;
	} is[] = { { NOP, 0, 8, true },
		   { REMEMBER, 0, 1000, true },
		   { REMEMBER, 1000, 0, true },
		   { NOP, 0, MOST - 32, true },
		   { REMEMBER, 0, MOST, false },
		   { REMEMBER, MOST, 8, false },
		   { REMEMBER, 0, 64 * MOST, false } };

	(void)state;
	for (size_t i = 0; i < COUNT(is); i++) {
		struct made f = file_make(is[i].instruction, is[i].common, is[i].own);

		assert_int_equal(rows_of(&f), is[i].good ? 2 : 0);
		mem_free(f.p);
	}
}

/* Programs that were linked with -static are: neither the program header nor the section of the sorted table. */
static void file_take_table(struct made *f)
{
	Elf64_Ehdr eh;

	memcpy(&eh, f->p, sizeof(eh));
	eh.e_phnum = 2;
	put(f, 0, &eh, sizeof(eh));
	memset(f->p + SECTIONS_AT + sizeof(Elf64_Shdr), 0, sizeof(Elf64_Shdr));
	memset(f->p + HDR_AT, 0, 20);
}

static void a_file_without_a_sorted_table_has_the_rows_of_its_entries(void **state)
{
	enum { REMEMBER = 0x0a, NOP = 0, MOST = 256 << 10, BAD_SIZE = 1, BAD_KIND, BAD_TABLE, BAD_POINTER };
	static const struct {
		uint8_t instruction;
		uint32_t common, own;
		int bad;
		uint32_t rows;
	} is[] = { { NOP, 0, 8, 0, 2 },         { REMEMBER, 1000, 0, 0, 2 },  { REMEMBER, 0, MOST, 0, 0 },
		   { REMEMBER, MOST, 8, 0, 0 }, { NOP, 0, 8, BAD_SIZE, 0 },   { NOP, 0, 8, BAD_KIND, 0 },
		   { NOP, 0, 8, BAD_TABLE, 0 }, { NOP, 0, 8, BAD_POINTER, 0 } };

	(void)state;
	for (size_t i = 0; i < COUNT(is); i++) {
		struct made f = file_make(is[i].instruction, is[i].common, is[i].own);
		const size_t table = SECTIONS_AT + sizeof(Elf64_Shdr), frames = table + sizeof(Elf64_Shdr);
		Elf64_Shdr sh;

		file_take_table(&f);
		memcpy(&sh, f.p + frames, sizeof(sh));
		if (is[i].bad == BAD_SIZE)
			sh.sh_size = f.n;
		if (is[i].bad == BAD_KIND)
			sh.sh_type = SHT_NOBITS;
		put(&f, frames, &sh, sizeof(sh));
		if (is[i].bad == BAD_TABLE) { /* a section that no program header tells of: libdw would follow it */
			sh.sh_name = 11;
			put(&f, table, &sh, sizeof(sh));
		}
		if (is[i].bad == BAD_POINTER) /* what entries have in common would lie outside */
			put_u32(&f, FRAMES_AT + 4 + 18 + 4, UINT32_MAX);
		assert_int_equal(rows_of(&f), is[i].rows);
		mem_free(f.p);
	}
}

/* Go's programs and musl are such files: other code may keep frame pointers, as code of files without both. The vDSO's
 * does not. */
static void where_signals_return_to_is_no_table_for_other_code(void **state)
{
	static const uint8_t returns[] = { 0x48, 0xc7, 0xc0, 0x0f, 0, 0, 0, 0x0f, 0x05 };
	struct made f = file_make(0, 0, 8);
	const int fd = memfd_create("made", MFD_CLOEXEC);
	struct sym_cfi c;

	(void)state;
	file_take_table(&f);
	memset(f.p + SECTIONS_AT, 0, 3 * sizeof(Elf64_Shdr));
	put(&f, TEXT_AT + 0x80, returns, sizeof(returns));
	assert_int_equal(write(fd, f.p, f.n), f.n);
	assert_int_equal(sym_cfi_read(&c, SYM_X86_64, &(struct sym_cfi_bytes){ fd, NULL, 0 }), 0);
	assert_int_equal(c.n, 3);
	assert_int_equal(c.row[0].addr, 0);
	assert_int_equal(rule_at(&c, TEXT_AT)->cfa_kind, UNWIND_CFA_POINTER);
	assert_int_equal(rule_at(&c, TEXT_AT + 0x80)->flags, UNWIND_SIGNAL);
	assert_int_equal(rule_at(&c, TEXT_AT + 0x80 + sizeof(returns))->cfa_kind, UNWIND_CFA_POINTER);
	sym_cfi_free(&c);
	assert_int_equal(sym_cfi_read(&c, SYM_X86_64, &(struct sym_cfi_bytes){ -1, f.p, f.n }), 0);
	assert_int_equal(rule_at(&c, TEXT_AT + 0x80 + sizeof(returns))->cfa_kind, UNWIND_CFA_UNKNOWN);
	sym_cfi_free(&c);
	close(fd);
	mem_free(f.p);
}

/* libdw looks where sections say: an entry there that the program headers do not lead to was not looked at. */
static void a_file_whose_sections_and_program_headers_disagree_has_no_rows(void **state)
{
	(void)state;
	for (uint32_t i = 1; i < 3; i++)
		for (int k = 0; k < 2; k++) {
			struct made f = file_make(0, 0, 8);
			Elf64_Shdr sh;

			assert_int_equal(rows_of(&f), 2);
			memcpy(&sh, f.p + SECTIONS_AT + i * sizeof(sh), sizeof(sh));
			*(k ? &sh.sh_addr : &sh.sh_offset) += 8;
			put(&f, SECTIONS_AT + i * sizeof(sh), &sh, sizeof(sh));
			assert_int_equal(rows_of(&f), 0);
			mem_free(f.p);
		}
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_function_begins_with_its_return_address_on_top),
		cmocka_unit_test(signals_are_returned_from_by_one_rule),
		cmocka_unit_test(other_bytes_are_refused_or_have_no_rows),
		cmocka_unit_test(what_an_entry_says_becomes_a_rule),
		cmocka_unit_test(an_entry_for_arm64_becomes_a_rule),
		cmocka_unit_test(rows_are_where_rules_change),
		cmocka_unit_test(an_entry_that_would_take_memory_without_bound_is_not_run),
		cmocka_unit_test(a_file_without_a_sorted_table_has_the_rows_of_its_entries),
		cmocka_unit_test(where_signals_return_to_is_no_table_for_other_code),
		cmocka_unit_test(a_file_whose_sections_and_program_headers_disagree_has_no_rows),
	};
	struct err why = { 0 };

	if (HERE == SYM_OTHER_MACHINE || sym_cfi_ready(&why) < 0) {
		print_message("skipped: %s\n", why.code ? why.text : "there are no unwind tables for this machine");
		return 0;
	}
	return cmocka_run_group_tests(tests, NULL, NULL);
}
