/* unicorn_test.c: images into memory; machine code under Unicorn, where libunicorn is. */
#include <elf.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <cmocka.h>

#include "base/mem_left.h"
#include "base/range.h"
#include "attach/unicorn.h"
#include "attach/unicorn_int.h"

#if __has_include(<unicorn/unicorn.h>)
#include <unicorn/unicorn.h>
static_assert((int)UCN_PPC == UC_ARCH_PPC && (int)UCN_SPARC == UC_ARCH_SPARC, "uc_arch");
static_assert((int)UCN_64 == UC_MODE_PPC64 && (int)UCN_64 == UC_MODE_SPARC64 &&
		      (int)UCN_BIG_ENDIAN == UC_MODE_BIG_ENDIAN,
	      "uc_mode");
static_assert((int)UCN_HOOK_INTR == UC_HOOK_INTR && (int)UCN_PROT_ALL == UC_PROT_ALL, "uc_hook_type, uc_prot");
static_assert((int)UCN_O0 == UC_SPARC_REG_O0 && (int)UCN_O5 == UC_SPARC_REG_O5 && (int)UCN_O6 == UC_SPARC_REG_O6 &&
		      (int)UCN_SPARC_PC == UC_SPARC_REG_PC,
	      "uc_sparc_reg");
static_assert((int)UCN_PPC_PC == UC_PPC_REG_PC && (int)UCN_R0 == UC_PPC_REG_0 && (int)UCN_R31 == UC_PPC_REG_31 &&
		      (int)UCN_MSR == UC_PPC_REG_MSR,
	      "uc_ppc_reg");
#endif

/* Unicorn doesn't free all that it takes; what is ours is looked at. */
__attribute__((visibility("default"))) const char *__lsan_default_suppressions(void);
const char *__lsan_default_suppressions(void)
{
	return "leak:libunicorn.so\n";
}

#define BASE 0x80000000u
static _Alignas(4096) uint8_t ram[16 * 4096];
static const struct emu_memory memory = { ram, BASE, sizeof(ram) };

static void put(uint8_t *to, uint64_t v, unsigned bytes)
{
	while (bytes--)
		*to++ = (uint8_t)(v >> 8 * bytes);
}
#define SET(p, type, name, v) put((p) + offsetof(type, name), (v), sizeof(((type *)0)->name))

/* ---- images ----------------------------------------------------------------------------------------- */

/* An executable with one segment of 16 bytes, of 32 in memory. */
static size_t executable(uint8_t *p, uint16_t machine)
{
	uint8_t *ph = p + sizeof(Elf64_Ehdr);
	const size_t at = sizeof(Elf64_Ehdr) + sizeof(Elf64_Phdr);

	memset(p, 0, at + 16);
	memcpy(p, ELFMAG, SELFMAG);
	p[EI_CLASS] = ELFCLASS64;
	p[EI_DATA] = ELFDATA2MSB;
	SET(p, Elf64_Ehdr, e_type, ET_EXEC);
	SET(p, Elf64_Ehdr, e_machine, machine);
	SET(p, Elf64_Ehdr, e_entry, BASE + 4096);
	SET(p, Elf64_Ehdr, e_phoff, sizeof(Elf64_Ehdr));
	SET(p, Elf64_Ehdr, e_phentsize, sizeof(Elf64_Phdr));
	SET(p, Elf64_Ehdr, e_phnum, 1);
	SET(ph, Elf64_Phdr, p_type, PT_LOAD);
	SET(ph, Elf64_Phdr, p_offset, at);
	SET(ph, Elf64_Phdr, p_vaddr, BASE + 4096);
	SET(ph, Elf64_Phdr, p_filesz, 16);
	SET(ph, Elf64_Phdr, p_memsz, 32);
	memcpy(p + at, "sixteen bytes...", 16);
	return at + 16;
}

static int load(struct emu_image *to, enum emu_cpu cpu, const uint8_t *p, size_t n, struct err *e)
{
	memset(ram, 0, sizeof(ram));
	*e = (struct err){ 0 };
	return emu_image_load(to, &memory, cpu, cpu == EMU_POWER64 ? 0x100 : 0, p, n, e);
}

static void segments_go_where_they_were_linked(void **state)
{
	struct emu_image image;
	struct err e;
	uint8_t p[256];
	size_t n = executable(p, EM_SPARCV9);

	(void)state;
	assert_int_equal(load(&image, EMU_SPARC64, p, n, &e), 0);
	assert_int_equal(image.entry, BASE + 4096);
	assert_memory_equal(ram + 4096, "sixteen bytes...", 17);
}

static void a_descriptor_is_followed_where_the_abi_has_them(void **state)
{
	struct emu_image image;
	struct err e;
	uint8_t p[256];
	size_t n = executable(p, EM_PPC64);

	(void)state;
	put(p + n - 16, BASE + 0x200, 8);
	put(p + n - 8, 0x8765, 8);
	SET(p, Elf64_Ehdr, e_flags, 2);
	assert_int_equal(load(&image, EMU_POWER64, p, n, &e), 0);
	assert_int_equal(image.entry, BASE + 4096);
	SET(p, Elf64_Ehdr, e_flags, 1);
	assert_int_equal(load(&image, EMU_POWER64, p, n, &e), 0);
	assert_int_equal(image.entry, BASE + 0x200);
	assert_int_equal(image.toc, 0x8765);
	put(p + n - 16, 0x200, 8);
	assert_int_equal(load(&image, EMU_POWER64, p, n, &e), -TALLY_EINVAL);
}

static void headers_that_can_not_be_are_refused(void **state)
{
	enum { E, P };
	static const struct {
		int line, header;
		size_t off, bytes;
		uint64_t value;
		int rc;
		const char *words;
	} rows[] = {
#define ROW(h, type, name, value, rc, words) \
	{ __LINE__, h, offsetof(type, name), sizeof(((type *)0)->name), value, -TALLY_E##rc, words }
		{ __LINE__, E, EI_CLASS, 1, ELFCLASS32, -TALLY_EINVAL, "another machine" },
		{ __LINE__, E, EI_DATA, 1, ELFDATA2LSB, -TALLY_EINVAL, "another machine" },
		ROW(E, Elf64_Ehdr, e_machine, EM_X86_64, INVAL, "SPARC V9"),
		ROW(E, Elf64_Ehdr, e_type, ET_DYN, INVAL, "-no-pie"),
		ROW(E, Elf64_Ehdr, e_phentsize, 32, CORRUPT, "program headers"),
		ROW(E, Elf64_Ehdr, e_phoff, UINT64_MAX - 8, CORRUPT, "program headers"),
		ROW(E, Elf64_Ehdr, e_phnum, 65535, CORRUPT, "program headers"),
		ROW(E, Elf64_Ehdr, e_phnum, 2, CORRUPT, "program headers"),
		ROW(E, Elf64_Ehdr, e_phnum, 0, CORRUPT, "nothing to load"),
		ROW(E, Elf64_Ehdr, e_entry, BASE - 4, INVAL, "entry"),
		ROW(E, Elf64_Ehdr, e_entry, BASE + 2, INVAL, "entry"),
		ROW(E, Elf64_Ehdr, e_entry, UINT64_MAX - 1, INVAL, "entry"),
		ROW(P, Elf64_Phdr, p_type, PT_NOTE, CORRUPT, "nothing to load"),
		ROW(P, Elf64_Phdr, p_offset, UINT64_MAX, CORRUPT, "outside the file"),
		ROW(P, Elf64_Phdr, p_filesz, 33, CORRUPT, "outside the file"),
		ROW(P, Elf64_Phdr, p_filesz, UINT64_MAX, CORRUPT, "outside the file"),
		ROW(P, Elf64_Phdr, p_memsz, UINT64_MAX, INVAL, "outside memory"),
		ROW(P, Elf64_Phdr, p_vaddr, BASE + sizeof(ram) - 31, INVAL, "outside memory"),
		ROW(P, Elf64_Phdr, p_vaddr, UINT64_MAX - 8, INVAL, "outside memory"),
#undef ROW
	};

	(void)state;
	for (size_t i = 0; i < COUNT(rows); i++) {
		struct emu_image image;
		struct err e;
		uint8_t p[256];
		size_t n = executable(p, EM_SPARCV9);

		put(p + (rows[i].header == P ? sizeof(Elf64_Ehdr) : 0) + rows[i].off, rows[i].value,
		    (unsigned)rows[i].bytes);
		if (load(&image, EMU_SPARC64, p, n, &e) != rows[i].rc || !strstr(e.text, rows[i].words))
			fail_msg("row of line %d: %s", rows[i].line, e.text);
	}
}

/* The entry is one instruction, or a descriptor of two words that leads to one: it may be the last of memory. */
static void an_entry_may_be_the_last_of_memory_and_lies_no_further(void **state)
{
	static const struct {
		int line;
		enum emu_cpu cpu;
		uint64_t entry, code; /* from the end of memory; code: where a descriptor leads */
		int rc;
	} rows[] = {
		{ __LINE__, EMU_SPARC64, 4, 0, 0 },
		{ __LINE__, EMU_SPARC64, 3, 0, -TALLY_EINVAL },
		{ __LINE__, EMU_SPARC64, 0, 0, -TALLY_EINVAL },
		{ __LINE__, EMU_POWER64, 16, 4, 0 },
		{ __LINE__, EMU_POWER64, 16, 0, -TALLY_EINVAL },
		{ __LINE__, EMU_POWER64, 16, 5, -TALLY_EINVAL },
		{ __LINE__, EMU_POWER64, 15, 4, -TALLY_EINVAL },
		{ __LINE__, EMU_POWER64, 12, 4, -TALLY_EINVAL },
	};
	const uint64_t end = BASE + sizeof(ram);

	(void)state;
	for (size_t i = 0; i < COUNT(rows); i++) {
		const bool power = rows[i].cpu == EMU_POWER64;
		struct emu_image image;
		struct err e;
		uint8_t p[256];
		size_t n = executable(p, power ? EM_PPC64 : EM_SPARCV9);

		put(p + n - 16, end - rows[i].code, 8);
		put(p + n - 8, 0x8765, 8);
		SET(p + sizeof(Elf64_Ehdr), Elf64_Phdr, p_vaddr, end - 16);
		SET(p + sizeof(Elf64_Ehdr), Elf64_Phdr, p_memsz, 16);
		SET(p, Elf64_Ehdr, e_entry, end - rows[i].entry);
		SET(p, Elf64_Ehdr, e_flags, 1);
		if (load(&image, rows[i].cpu, p, n, &e) != rows[i].rc)
			fail_msg("row of line %d: %s", rows[i].line, e.text);
		if (rows[i].rc)
			assert_non_null(strstr(e.text, "the image's entry, 0x4 bytes at 0x"));
		else
			assert_int_equal(image.entry, end - (power ? rows[i].code : rows[i].entry));
	}
}

static void no_program_headers_may_be_where_the_file_ends(void **state)
{
	struct emu_image image;
	struct err e;
	uint8_t p[256];
	size_t n = executable(p, EM_SPARCV9);

	(void)state;
	SET(p, Elf64_Ehdr, e_phnum, 0);
	SET(p, Elf64_Ehdr, e_phoff, n);
	assert_int_equal(load(&image, EMU_SPARC64, p, n, &e), -TALLY_ECORRUPT);
	assert_non_null(strstr(e.text, "nothing to load"));
	SET(p, Elf64_Ehdr, e_phoff, n + 1);
	assert_int_equal(load(&image, EMU_SPARC64, p, n, &e), -TALLY_ECORRUPT);
	assert_non_null(strstr(e.text, "outside the file"));
}

static void an_image_cut_short_is_refused_at_every_byte(void **state)
{
	struct emu_image image;
	struct err e;
	uint8_t p[256];
	size_t n = executable(p, EM_SPARCV9);

	(void)state;
	for (size_t i = SELFMAG; i < n; i++)
		assert_int_equal(load(&image, EMU_SPARC64, p, i, &e), -TALLY_ECORRUPT);
}

static void flat_bytes_begin_at_the_base(void **state)
{
	static uint8_t large[sizeof(ram) + 1];
	struct emu_image image;
	struct err e;

	(void)state;
	assert_int_equal(load(&image, EMU_SPARC64, (const uint8_t *)"abcd", 4, &e), 0);
	assert_int_equal(image.entry, BASE);
	assert_memory_equal(ram, "abcd", 5);
	assert_int_equal(load(&image, EMU_SPARC64, (const uint8_t *)"abc", 3, &e), -TALLY_EINVAL);
	assert_int_equal(load(&image, EMU_POWER64, large, 0x103, &e), -TALLY_EINVAL);
	assert_int_equal(load(&image, EMU_POWER64, large, 0x104, &e), 0);
	assert_int_equal(image.entry, BASE + 0x100);
	assert_int_equal(load(&image, EMU_SPARC64, large, sizeof(large), &e), -TALLY_EINVAL);
}

/* ---- running ------------------------------------------------------------------------------------------ */

struct seen {
	unsigned trap[4];
	uint64_t r[4][6];
	int n, most;
};

static bool note_trap(void *arg, unsigned trap, uint64_t r[6])
{
	struct seen *s = arg;

	s->trap[s->n] = trap;
	memcpy(s->r[s->n], r, 6 * sizeof(*r));
	r[0] = 0x1234567890u + (uint64_t)s->n;
	r[1] = 0x77;
	return ++s->n < s->most;
}

/* Puts instructions at the base. */
static struct emu_opts code(enum emu_cpu cpu, const uint32_t *ins, size_t n, struct seen *s)
{
	memset(ram, 0, sizeof(ram));
	for (size_t i = 0; i < n; i++)
		put(ram + 4 * i, ins[i], 4);
	return (struct emu_opts){ cpu, memory, { .entry = BASE }, note_trap, s };
}

static struct emu *started(const struct emu_opts *o)
{
	struct emu *u = NULL;
	struct err e = { 0 };
	int rc = emu_open(&u, o, &e);

	if (rc == -TALLY_ENOTSUP) {
		print_message("skipped: %s\n", e.text);
		skip();
	}
	assert_int_equal(rc, 0);
	return u;
}

static void sparc_traps_come_with_their_registers(void **state)
{
	static const uint32_t ins[] = {
		0x9a102106, /* mov 0x106, %o5 */
		0x94102003, /* mov 3, %o2 */
		0x91d02080, /* ta 0x80 */
		0x91d020ff, /* ta 0xff */
	};
	struct seen s = { .most = 2 };
	struct emu_opts o = code(EMU_SPARC64, ins, COUNT(ins), &s);
	struct emu *u = started(&o);
	struct err e = { 0 };

	(void)state;
	assert_int_equal(emu_run(u, NULL, &e), 0);
	assert_int_equal(s.n, 2);
	assert_int_equal(s.trap[0], 0x80);
	assert_int_equal(s.r[0][0], BASE);
	assert_int_equal(s.r[0][1], sizeof(ram));
	assert_int_equal(s.r[0][2], 3);
	assert_int_equal(s.r[0][5], 0x106);
	assert_int_equal(s.trap[1], 0xff);
	assert_int_equal(s.r[1][0], 0x1234567890);
	assert_int_equal(s.r[1][1], 0x77);
	assert_int_equal(s.r[1][5], 0x106);
	emu_close(u);
}

/* A frame of the ABI fits above the stack pointer, and it is aligned as the ABI wants it. */
static void assert_is_stack(uint64_t frame, uint64_t least)
{
	assert_int_equal(frame % 16, 0);
	assert_uint_in_range(frame, BASE + sizeof(ram) / 2, BASE + sizeof(ram) - least);
}

static void code_begins_with_a_stack_and_its_memory(void **state)
{
	static const uint32_t sparc[] = {
		0x9410000e, /* mov %sp, %o2 */
		0x91d02080, /* ta 0x80 */
	};
	static const uint32_t power[] = {
		0x7c250b78, /* mr r5,r1 */
		0x7c461378, /* mr r6,r2 */
		0x7d876378, /* mr r7,r12 */
		0x7fe8fb78, /* mr r8,r31 */
		0x44000022, /* sc 1 */
	};
	struct seen s = { .most = 1 }, t = { .most = 1 };
	struct emu_opts o = code(EMU_SPARC64, sparc, COUNT(sparc), &s);
	struct emu *u = started(&o);
	struct err e = { 0 };

	(void)state;
	assert_int_equal(emu_run(u, NULL, &e), 0);
	emu_close(u);
	assert_int_equal(s.r[0][0], BASE);
	assert_int_equal(s.r[0][1], sizeof(ram));
	assert_is_stack(s.r[0][2] + 2047, 176); /* SPARC V9's bias, and its least frame */
	o = code(EMU_POWER64, power, COUNT(power), &t);
	o.image.toc = 0x8765;
	u = started(&o);
	assert_int_equal(emu_run(u, NULL, &e), 0);
	emu_close(u);
	assert_int_equal(t.r[0][0], BASE);
	assert_int_equal(t.r[0][1], sizeof(ram));
	assert_is_stack(t.r[0][2], 112);
	assert_int_equal(t.r[0][3], 0x8765);
	assert_int_equal(t.r[0][4], BASE); /* r12: the entry */
	assert_int_equal(t.r[0][5], 0);
}

/* What a start tries in memory is put back. */
static void memory_is_as_it_was_before_code_runs(void **state)
{
	static const enum emu_cpu cpu[] = { EMU_SPARC64, EMU_POWER64 };
	static uint8_t before[sizeof(ram)];

	(void)state;
	for (size_t i = 0; i < COUNT(cpu); i++) {
		struct seen s = { .most = 1 };
		struct emu_opts o = code(cpu[i], NULL, 0, &s);
		struct emu *u;

		for (size_t at = 0; at < sizeof(ram); at++)
			ram[at] = (uint8_t)(at * 7 + 1);
		memcpy(before, ram, sizeof(ram));
		u = started(&o);
		assert_memory_equal(ram, before, sizeof(ram));
		emu_close(u);
	}
}

/* The second trap sees what the first has made of registers that were alike. */
static void a_trap_gives_back_registers_that_were_alike_and_are_no_more(void **state)
{
	static const uint32_t ins[] = {
		0x94100009, /* mov %o1, %o2 */
		0x91d02080, /* ta 0x80 */
		0x91d02080, /* ta 0x80 */
	};
	struct seen s = { .most = 2 };
	struct emu_opts o = code(EMU_SPARC64, ins, COUNT(ins), &s);
	struct emu *u = started(&o);
	struct err e = { 0 };

	(void)state;
	assert_int_equal(emu_run(u, NULL, &e), 0);
	assert_int_equal(s.n, 2);
	assert_int_equal(s.r[0][1], s.r[0][2]);
	assert_int_equal(s.r[1][0], 0x1234567890);
	assert_int_equal(s.r[1][1], 0x77);
	assert_int_equal(s.r[1][2], sizeof(ram));
	emu_close(u);
}

static void power_code_is_64_bit_and_sc_1_is_told_from_sc(void **state)
{
	static const uint32_t ins[] = {
		0x38800001, /* li r4,1 */
		0x788445c6, /* sldi r4,r4,40 */
		0x44000022, /* sc 1 */
		0x44000002, /* sc */
	};
	struct seen s = { .most = 3 };
	struct emu_opts o = code(EMU_POWER64, ins, COUNT(ins), &s);
	struct emu *u = started(&o);
	struct err e = { 0 };

	(void)state;
	assert_int_equal(emu_run(u, NULL, &e), -TALLY_EIO);
	assert_non_null(strstr(e.text, "exception 0x8"));
	assert_int_equal(s.n, 1);
	assert_int_equal(s.trap[0], 1);
	assert_int_equal(s.r[0][0], BASE);
	assert_int_equal(s.r[0][1], UINT64_C(1) << 40);
	emu_close(u);
}

static void what_code_can_not_go_on_from_ends_the_run(void **state)
{
	static const struct {
		int line;
		uint32_t ins;
		const char *words;
	} rows[] = {
		{ __LINE__, 0x00000000, "Invalid instruction" },            /* illtrap */
		{ __LINE__, 0x91d02005, "exception 0x105 at 0x80000000;" }, /* ta 5 */
		{ __LINE__, 0xc2582008, "cannot continue" },                /* ldx [%g0 + 8], %g1: no memory */
		{ __LINE__, 0x9de3bf50, "exception 0x80" },                 /* save: register windows */
	};

	(void)state;
	for (size_t i = 0; i < COUNT(rows); i++) {
		struct seen s = { .most = 1 };
		struct emu_opts o = code(EMU_SPARC64, &rows[i].ins, 1, &s);
		struct emu *u = started(&o);
		struct err e = { 0 };

		if (emu_run(u, NULL, &e) != -TALLY_EIO || !strstr(e.text, rows[i].words))
			fail_msg("row of line %d: %s", rows[i].line, e.text);
		emu_close(u);
	}
}

static void a_loop_without_end_is_stopped(void **state)
{
	static const uint32_t ins[] = { 0x10800000, 0x01000000 }; /* ba .; nop */
	const volatile int stop = 1;
	struct seen s = { .most = 1 };
	struct emu_opts o = code(EMU_SPARC64, ins, COUNT(ins), &s);
	struct emu *u = started(&o);
	struct err e = { 0 };

	(void)state;
	assert_int_equal(emu_run(u, &stop, &e), -TALLY_EEND);
	emu_close(u);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(segments_go_where_they_were_linked),
		TEST(a_descriptor_is_followed_where_the_abi_has_them),
		TEST(headers_that_can_not_be_are_refused),
		TEST(an_entry_may_be_the_last_of_memory_and_lies_no_further),
		TEST(no_program_headers_may_be_where_the_file_ends),
		TEST(an_image_cut_short_is_refused_at_every_byte),
		TEST(flat_bytes_begin_at_the_base),
		TEST(sparc_traps_come_with_their_registers),
		TEST(code_begins_with_a_stack_and_its_memory),
		TEST(memory_is_as_it_was_before_code_runs),
		TEST(a_trap_gives_back_registers_that_were_alike_and_are_no_more),
		TEST(power_code_is_64_bit_and_sc_1_is_told_from_sc),
		TEST(what_code_can_not_go_on_from_ends_the_run),
		TEST(a_loop_without_end_is_stopped),
	};

	return cmocka_run_group_tests_name("unicorn", tests, NULL, NULL);
}
