/* Tests of object.c and debugdata.c: small files made here, the test itself, and what strip leaves
 * of it. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <elf.h>
#include <fcntl.h>
#include <link.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include <zlib.h>

#include <cmocka.h>

#include "symbol/symbol_int.h"

/* ---- a small ELF file: one load, .text at 0x1000 for 0x100 bytes, .symtab --------- */
enum { TEXT_AT = 0x1000, TEXT_SIZE = 0x100, TEXT_FILE = 0x400, NSECTIONS = 5 };
enum { S_TEXT = 1, S_SYMTAB, S_STRTAB, S_DATA };

struct small {
	Elf64_Ehdr eh;
	Elf64_Phdr ph[2];
	Elf64_Shdr sh[NSECTIONS];
	struct {
		Elf64_Nhdr h;
		char name[4];
		uint8_t id[20];
	} note;
	Elf64_Sym sym[32];
	char str[1024];
	uint32_t nsyms, nstr;
};

static void small_add(struct small *f, const char *name, uint64_t at, uint64_t size, int bind, int type, uint16_t shndx)
{
	Elf64_Sym *s = &f->sym[f->nsyms++];

	*s = (Elf64_Sym){ .st_name = f->nstr, .st_value = at, .st_size = size, .st_shndx = shndx };
	s->st_info = (unsigned char)ELF64_ST_INFO(bind, type);
	f->nstr += (uint32_t)sprintf(f->str + f->nstr, "%s", name) + 1;
	f->sh[S_SYMTAB].sh_size = f->nsyms * sizeof(*s);
	f->sh[S_STRTAB].sh_size = f->nstr;
}

static struct small *small_new(void)
{
	struct small *f = mem_alloc(sizeof(*f));
	const int data = __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__ ? ELFDATA2LSB : ELFDATA2MSB;

	memcpy(f->eh.e_ident, ELFMAG, SELFMAG);
	f->eh.e_ident[EI_CLASS] = ELFCLASS64;
	f->eh.e_ident[EI_DATA] = (unsigned char)data;
	f->eh.e_ident[EI_VERSION] = f->eh.e_version = EV_CURRENT;
	f->eh.e_type = ET_DYN;
	f->eh.e_machine = EM_X86_64;
	f->eh.e_ehsize = sizeof(f->eh);
	f->eh.e_phoff = offsetof(struct small, ph);
	f->eh.e_phentsize = sizeof(f->ph[0]);
	f->eh.e_phnum = COUNT(f->ph);
	f->eh.e_shoff = offsetof(struct small, sh);
	f->eh.e_shentsize = sizeof(f->sh[0]);
	f->eh.e_shnum = NSECTIONS;
	f->ph[0] = (Elf64_Phdr){ .p_type = PT_LOAD, .p_flags = PF_R | PF_X, .p_offset = TEXT_FILE, .p_vaddr = TEXT_AT };
	f->ph[0].p_filesz = f->ph[0].p_memsz = TEXT_SIZE;
	f->ph[1] = (Elf64_Phdr){ .p_type = PT_NOTE, .p_offset = offsetof(struct small, note), .p_align = 4 };
	f->ph[1].p_filesz = sizeof(f->note);
	f->note.h = (Elf64_Nhdr){ .n_namesz = 4, .n_descsz = 20, .n_type = NT_GNU_BUILD_ID };
	memcpy(f->note.name, "GNU", 4);
	memset(f->note.id, 0xab, 20);
	f->sh[S_TEXT] =
		(Elf64_Shdr){ .sh_type = SHT_PROGBITS, .sh_flags = SHF_ALLOC | SHF_EXECINSTR, .sh_addr = TEXT_AT };
	f->sh[S_TEXT].sh_size = TEXT_SIZE;
	f->sh[S_TEXT].sh_offset = TEXT_FILE;
	f->sh[S_SYMTAB] =
		(Elf64_Shdr){ .sh_type = SHT_SYMTAB, .sh_offset = offsetof(struct small, sym), .sh_link = S_STRTAB };
	f->sh[S_SYMTAB].sh_entsize = sizeof(f->sym[0]);
	f->sh[S_SYMTAB].sh_addralign = 8;
	f->sh[S_STRTAB] = (Elf64_Shdr){ .sh_type = SHT_STRTAB, .sh_offset = offsetof(struct small, str) };
	f->sh[S_DATA] = (Elf64_Shdr){ .sh_type = SHT_PROGBITS, .sh_flags = SHF_ALLOC | SHF_WRITE, .sh_addr = 0x2000 };
	f->sh[S_DATA].sh_size = 0x100;
	small_add(f, "", 0, 0, STB_LOCAL, STT_NOTYPE, SHN_UNDEF);
	return f;
}

static int read_small(struct object *o, const struct small *f, size_t n)
{
	struct object_bytes b = { .fd = -1, .p = f, .n = n };
	int rc;

	*o = (struct object){ 0 };
	rc = object_ident(o, &b);
	return rc < 0 ? rc : object_symbols(o, &b);
}

static const char *at(const struct object *o, uint64_t addr)
{
	const struct sym *s = table_find(&o->t, addr);

	return s ? s->name : "-";
}

static void variables_are_taken_when_asked_for_and_nothing_else(void **state)
{
	struct small *f = small_new();
	struct object_bytes b = { .fd = -1, .p = f, .n = sizeof(*f) };
	struct object o;

	(void)state;
	f->ph[1] = (Elf64_Phdr){ .p_type = PT_LOAD, .p_flags = PF_R | PF_W, .p_vaddr = 0x2000, .p_memsz = 0x180 };
	small_add(f, "stock@@V_1", 0x2000, 0x10, STB_GLOBAL, STT_OBJECT, S_DATA);
	small_add(f, "code", 0x1000, 0x10, STB_GLOBAL, STT_FUNC, S_TEXT);
	small_add(f, "in_code", 0x1010, 0x10, STB_GLOBAL, STT_OBJECT, S_TEXT);
	small_add(f, "label", 0x2020, 0, STB_GLOBAL, STT_NOTYPE, S_DATA);
	small_add(f, "of_thread", 0x2030, 0x10, STB_GLOBAL, STT_TLS, S_DATA);
	small_add(f, "last", 0x20f0, UINT64_MAX, STB_GLOBAL, STT_OBJECT, S_DATA);
	assert_int_equal(read_small(&o, f, sizeof(*f)), 0);
	assert_int_equal(o.t.n, 1);
	assert_int_equal(o.variables.n, 0);
	assert_int_equal(object_variables(&o, &b), 0);
	assert_int_equal(o.variables.n, 2);
	assert_string_equal(table_find(&o.variables, 0x200f)->name, "stock");
	assert_null(table_find(&o.variables, 0x2010));
	assert_string_equal(table_find(&o.variables, 0x20ff)->name, "last");
	assert_null(table_find(&o.variables, 0x2100));
	/* the file has no bytes for what is only in memory */
	assert_true(object_holds_data(&o, 0x217f));
	assert_false(object_holds_data(&o, 0x2180));
	assert_false(object_holds_data(&o, 0x1000));
	object_free(&o);
	mem_free(f);
}

/* As in a program of 5.4 million functions: frame_dummy has no size, and the functions behind it come last in the
 * table. */
static void what_is_not_kept_has_no_neighbours_name(void **state)
{
	static const struct {
		uint32_t symbols;
		size_t bytes;
	} bound[] = { { 2, 0 }, { 0, sizeof("frame_dummy") + sizeof("far") }, { 3, 0 } };
	struct small *f = small_new();
	struct object_bytes b = { .fd = -1, .p = f, .n = sizeof(*f) };

	(void)state;
	small_add(f, "frame_dummy", 0x1000, 0, STB_LOCAL, STT_FUNC, S_TEXT);
	small_add(f, "far", 0x1080, 0x10, STB_GLOBAL, STT_FUNC, S_TEXT);
	small_add(f, "near", 0x1010, 0x10, STB_GLOBAL, STT_FUNC, S_TEXT);
	for (size_t i = 0; i < COUNT(bound); i++) {
		struct object o = { .symbols_most = bound[i].symbols, .names_most = bound[i].bytes };
		const struct sym *s;

		assert_int_equal(object_ident(&o, &b), 0);
		assert_int_equal(object_symbols(&o, &b), 0);
		assert_string_equal(at(&o, 0x1000), "frame_dummy");
		assert_string_equal(at(&o, 0x108f), "far");
		s = table_find(&o.t, 0x1018);
		if (i == 0) {
			assert_null(s);
			assert_true(o.t.overfull);
			assert_string_equal(at(&o, 0x1001), "-");
		} else if (i == 1) { /* it lies there, without its name */
			assert_int_equal(s->start, 0x1010);
			assert_null(s->name);
			assert_string_equal(at(&o, 0x100f), "frame_dummy");
			assert_null(table_find(&o.t, 0x1020));
		} else {
			assert_string_equal(s->name, "near");
			assert_false(o.t.overfull);
			assert_string_equal(at(&o, 0x100f), "frame_dummy");
		}
		object_free(&o);
	}
	mem_free(f);
}

/* What others link to is not all that is there. */
static void a_function_without_a_size_reaches_nowhere_in_a_stripped_file(void **state)
{
	struct small *f = small_new();
	struct object o;

	(void)state;
	small_add(f, "by_hand", 0x1000, 0, STB_GLOBAL, STT_FUNC, S_TEXT);
	small_add(f, "sized", 0x1040, 0x10, STB_GLOBAL, STT_FUNC, S_TEXT);
	assert_int_equal(read_small(&o, f, sizeof(*f)), 0);
	assert_string_equal(at(&o, 0x103f), "by_hand");
	object_free(&o);
	f->sh[S_SYMTAB].sh_type = SHT_DYNSYM;
	assert_int_equal(read_small(&o, f, sizeof(*f)), 0);
	assert_string_equal(at(&o, 0x1000), "by_hand");
	assert_string_equal(at(&o, 0x1001), "-");
	assert_string_equal(at(&o, 0x104f), "sized");
	assert_false(o.t.overfull);
	object_free(&o);
	mem_free(f);
}

static void functions_are_taken_and_nothing_else(void **state)
{
	struct small *f = small_new();
	struct object o;

	(void)state;
	small_add(f, "work@@V_1.2", 0x1000, 0x10, STB_GLOBAL, STT_FUNC, S_TEXT);
	small_add(f, "pick@V_1.0", 0x1010, 0x10, STB_GLOBAL, STT_GNU_IFUNC, S_TEXT);
	small_add(f, "table", 0x1020, 0x10, STB_GLOBAL, STT_OBJECT, S_TEXT);
	small_add(f, "import", 0x1030, 0x10, STB_GLOBAL, STT_FUNC, SHN_UNDEF);
	small_add(f, "elsewhere", 0x2000, 0x10, STB_GLOBAL, STT_FUNC, S_DATA);
	small_add(f, "lost", 0x1040, 0x10, STB_GLOBAL, STT_FUNC, 77);
	small_add(f, "outside", 0x3000, 0x10, STB_GLOBAL, STT_FUNC, S_TEXT);
	small_add(f, "$x", 0x1050, 0, STB_LOCAL, STT_NOTYPE, S_TEXT);
	small_add(f, ".Lloop", 0x1050, 0, STB_LOCAL, STT_NOTYPE, S_TEXT);
	small_add(f, "by_hand", 0x1060, 0, STB_GLOBAL, STT_NOTYPE, S_TEXT);
	small_add(f, "last", 0x10f0, UINT64_MAX, STB_GLOBAL, STT_FUNC, S_TEXT);
	assert_int_equal(read_small(&o, f, sizeof(*f)), 0);
	assert_string_equal(at(&o, 0x100f), "work");
	assert_string_equal(at(&o, 0x1010), "pick");
	assert_string_equal(at(&o, 0x1020), "-");
	assert_string_equal(at(&o, 0x1050), "-");
	assert_string_equal(at(&o, 0x10ef), "by_hand");
	assert_string_equal(at(&o, 0x10ff), "last");
	assert_string_equal(at(&o, 0x1100), "-");
	assert_int_equal(o.t.n, 4);
	assert_int_equal(o.build_id_len, 20);
	object_free(&o);
	mem_free(f);
}

static void an_offset_in_the_file_becomes_an_address_of_the_file(void **state)
{
	struct small *f = small_new();
	struct object o;
	uint64_t v;

	(void)state;
	assert_int_equal(read_small(&o, f, sizeof(*f)), 0);
	assert_true(object_vaddr(&o, TEXT_FILE + 5, &v));
	assert_int_equal(v, TEXT_AT + 5);
	assert_true(object_vaddr(&o, TEXT_FILE - 0x10, &v)); /* the rest of its page */
	assert_int_equal(v, TEXT_AT - 0x10);
	assert_false(object_vaddr(&o, 1ull << 40, &v));
	object_free(&o);
	f->ph[0].p_flags = PF_R;
	assert_int_equal(read_small(&o, f, sizeof(*f)), 0);
	assert_false(object_vaddr(&o, TEXT_FILE, &v));
	object_free(&o);
	mem_free(f);
}

static void what_is_not_a_program_is_refused(void **state)
{
	struct object_bytes b = { .fd = -1, .p = "#!/bin/sh\n", .n = 10 };
	struct small *f = small_new();
	struct object o = { 0 };

	(void)state;
	assert_int_equal(object_ident(&o, &b), -TALLY_ECORRUPT);
	f->eh.e_type = ET_REL;
	assert_int_equal(read_small(&o, f, sizeof(*f)), -TALLY_ECORRUPT);
	f->eh.e_type = ET_DYN;
	for (size_t n = 0; n < 64; n++)
		assert_int_equal(read_small(&o, f, n), -TALLY_ECORRUPT);
	mem_free(f);
}

/* Each byte of the headers and of the symbols in turn takes hostile values: any answer will do, but
 * there is one. */
static void bent_bytes_do_no_harm(void **state)
{
	static const uint8_t values[] = { 0x00, 0x01, 0x7f, 0x80, 0xff };
	struct small *f = small_new();

	(void)state;
	small_add(f, "f", 0x1000, 0x10, STB_GLOBAL, STT_FUNC, S_TEXT);
	for (size_t i = 0; i < offsetof(struct small, sym) + 3 * sizeof(Elf64_Sym); i++) {
		uint8_t *p = (uint8_t *)f + i, was = *p;

		for (size_t k = 0; k < COUNT(values); k++) {
			struct object o;

			*p = values[k];
			read_small(&o, f, sizeof(*f));
			at(&o, 0x1005);
			object_free(&o);
		}
		*p = was;
	}
	mem_free(f);
}

static void every_cut_of_a_file_does_no_harm(void **state)
{
	struct small *f = small_new();

	(void)state;
	small_add(f, "f", 0x1000, 0x10, STB_GLOBAL, STT_FUNC, S_TEXT);
	for (size_t n = 0; n <= sizeof(*f); n++) {
		char *exact = mem_alloc(n); /* so that reading past the end is seen */
		struct object o;

		memcpy(exact, f, n);
		read_small(&o, (struct small *)exact, n);
		object_free(&o);
		mem_free(exact);
	}
	mem_free(f);
}

static void a_failing_allocation_costs_names_only(void **state)
{
	struct small *f = small_new();

	(void)state;
	for (int i = 0; i < 20; i++)
		small_add(f, "f", 0x1000 + (uint64_t)i * 8, 8, STB_GLOBAL, STT_FUNC, S_TEXT);
	for (long n = 1;; n++) {
		long before = mem_live();
		struct object o;

		mem_fail_at(n);
		read_small(&o, f, sizeof(*f));
		at(&o, 0x1000);
		object_free(&o);
		assert_int_equal(mem_live(), before);
		if (!mem_failed())
			break;
	}
	mem_fail_at(0);
	mem_free(f);
}

/* ---- a debug file ------------------------------------------------------------------------ */

/* Section S_DATA is this one instead. */
static void small_name_section(struct small *f, uint32_t type, const char *name, size_t offset, size_t size)
{
	f->sh[S_DATA] = (Elf64_Shdr){ .sh_type = type, .sh_name = f->nstr, .sh_offset = offset, .sh_size = size };
	f->sh[S_DATA].sh_addralign = 4;
	f->nstr += (uint32_t)sprintf(f->str + f->nstr, "%s", name) + 1;
	f->sh[S_STRTAB].sh_size = f->nstr;
	f->eh.e_shstrndx = S_STRTAB;
}

static void small_write(const struct small *f, const char *path, mode_t mode)
{
	FILE *to = fopen(path, "w");

	assert_non_null(to);
	assert_int_equal(fwrite(f, sizeof(*f), 1, to), 1);
	assert_int_equal(fclose(to), 0);
	assert_int_equal(chmod(path, mode), 0);
}

/* A file without symbols that names "x.debug", and that one: which of them are taken for each other. */
static void a_debug_file_is_taken_that_is_the_one_and_that_nobody_else_can_write(void **state)
{
	static const struct {
		int line;
		const char *place;
		bool has_id, other_id, other_sum, in_memory;
		mode_t mode;
		bool found;
	} rows[] = {
		{ __LINE__, "", false, false, false, false, 0644, true },
		{ __LINE__, ".debug/", false, false, false, false, 0644, true },
		{ __LINE__, "elsewhere/", false, false, false, false, 0644, false },
		{ __LINE__, "", false, false, true, false, 0644, false },
		{ __LINE__, "", true, false, true, false, 0644, true }, /* the build id says it */
		{ __LINE__, ".debug/", true, false, true, false, 0600, true },
		{ __LINE__, "", true, true, false, false, 0644, false },
		{ __LINE__, "", false, false, false, false, 0664, false },
		{ __LINE__, "", true, false, false, false, 0646, false },
		/* whose file it is nobody knows, so nobody's debug file is trusted */
		{ __LINE__, "", false, false, false, true, 0644, false },
		{ __LINE__, "", true, false, false, true, 0644, false },
	};

	(void)state;
	for (size_t i = 0; i < COUNT(rows); i++) {
		char dir[] = "/tmp/tally-object.XXXXXX", path[80], cmd[120], *link;
		struct small *f = small_new(), *debug = small_new();
		struct object_bytes b = { .fd = -1, .path = path };
		struct object o = { 0 };
		uint32_t sum;

		assert_non_null(mkdtemp(dir));
		snprintf(cmd, sizeof(cmd), "mkdir %s/.debug %s/elsewhere", dir, dir);
		assert_int_equal(system(cmd), 0);

		small_add(debug, "kept_apart", 0x1000, 0x10, STB_GLOBAL, STT_FUNC, S_TEXT);
		small_name_section(debug, SHT_NOTE, ".note.gnu.build-id", offsetof(struct small, note),
				   sizeof(debug->note));
		debug->note.id[19] ^= rows[i].other_id;
		snprintf(path, sizeof(path), "%s/%sx.debug", dir, rows[i].place);
		small_write(debug, path, rows[i].mode);

		link = (char *)&f->sym[30];
		memcpy(link, "x.debug", 8);
		sum = (uint32_t)crc32(crc32(0, NULL, 0), (const void *)debug, sizeof(*debug)) + rows[i].other_sum;
		memcpy(link + 8, &sum, 4);
		small_name_section(f, SHT_PROGBITS, ".gnu_debuglink",
				   offsetof(struct small, sym) + 30 * sizeof(f->sym[0]), 12);
		f->sh[S_SYMTAB].sh_type = SHT_NULL;
		if (!rows[i].has_id)
			f->ph[1].p_type = PT_NULL;
		snprintf(path, sizeof(path), "%s/x", dir);
		small_write(f, path, 0755);

		if (rows[i].in_memory) {
			b.p = f;
			b.n = sizeof(*f);
		} else {
			b.fd = open(path, O_RDONLY | O_CLOEXEC);
			assert_true(b.fd >= 0);
		}
		assert_int_equal(object_ident(&o, &b), 0);
		assert_int_equal(o.build_id_len, rows[i].has_id ? 20 : 0);
		assert_int_equal(object_symbols(&o, &b), 0);
		if (strcmp(at(&o, 0x1008), rows[i].found ? "kept_apart" : "-") || o.t.incomplete == rows[i].found)
			fail_msg("line %d: %s", rows[i].line, at(&o, 0x1008));
		object_free(&o);
		if (b.fd >= 0)
			close(b.fd);
		mem_free(f);
		mem_free(debug);
		snprintf(cmd, sizeof(cmd), "rm -rf %s", dir);
		assert_int_equal(system(cmd), 0);
	}
}

/* ---- the test itself, and what strip leaves of it ------------------------------------ */

__attribute__((noinline, used)) static int local_marker(int x)
{
	__asm__ volatile("" : "+r"(x));
	return x + 1;
}

static int own_base(struct dl_phdr_info *info, size_t size, void *arg)
{
	(void)size;
	*(uint64_t *)arg = info->dlpi_addr;
	return 1; /* the program comes first */
}

static uint64_t marker_vaddr(void)
{
	uint64_t base = 0;

	dl_iterate_phdr(own_base, &base);
	return (uint64_t)(uintptr_t)local_marker - base;
}

static int read_file(struct object *o, const char *path)
{
	struct object_bytes b = { .fd = open(path, O_RDONLY | O_CLOEXEC) };
	int rc;

	*o = (struct object){ 0 };
	assert_true(b.fd >= 0);
	rc = object_ident(o, &b);
	rc = rc < 0 ? rc : object_symbols(o, &b);
	close(b.fd);
	return rc;
}

static void this_program_knows_its_local_functions(void **state)
{
	struct object o;

	(void)state;
	assert_int_equal(read_file(&o, "/proc/self/exe"), 0);
	assert_string_equal(at(&o, marker_vaddr()), "local_marker");
	object_free(&o);
}

/* Makes `stripped` and `mini` (stripped, with .gnu_debugdata) of the test in dir. */
static bool strip_self(const char *dir)
{
	char cmd[1024];

	snprintf(cmd, sizeof(cmd),
		 "cd %s && cat /proc/%d/exe >own && objcopy -S own stripped && objcopy -S "
		 "--keep-symbol=local_marker own "
		 "part && xz -k part && objcopy --add-section .gnu_debugdata=part.xz stripped mini",
		 dir, getpid());
	return system("command -v objcopy >/dev/null && command -v xz >/dev/null") == 0 && system(cmd) == 0;
}

static void a_stripped_file_finds_its_names_in_gnu_debugdata(void **state)
{
	char dir[] = "/tmp/tally-object.XXXXXX", path[64], cmd[64];
	struct object o;
	bool made;

	(void)state;
	assert_non_null(mkdtemp(dir));
	snprintf(cmd, sizeof(cmd), "rm -rf %s", dir);
	made = strip_self(dir);
	if (made) {
		snprintf(path, sizeof(path), "%s/stripped", dir);
		assert_int_equal(read_file(&o, path), 0);
		assert_string_not_equal(at(&o, marker_vaddr()), "local_marker");
		object_free(&o);
		snprintf(path, sizeof(path), "%s/mini", dir);
		assert_int_equal(read_file(&o, path), 0);
		assert_string_equal(at(&o, marker_vaddr()), "local_marker");
		object_free(&o);
	}
	assert_int_equal(system(cmd), 0);
	if (!made) {
		print_message("skipped: needs objcopy and xz\n");
		skip();
	}
}

static void debugdata_that_is_none_is_refused(void **state)
{
	static const char junk[] = "\xfd"
				   "7zXZ\0\0\4 and no more";
	size_t n;

	(void)state;
	assert_null(debugdata_unpack(junk, sizeof(junk), &n));
	assert_null(debugdata_unpack("", 0, &n));
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(functions_are_taken_and_nothing_else),
		cmocka_unit_test(what_is_not_kept_has_no_neighbours_name),
		cmocka_unit_test(a_function_without_a_size_reaches_nowhere_in_a_stripped_file),
		cmocka_unit_test(variables_are_taken_when_asked_for_and_nothing_else),
		cmocka_unit_test(an_offset_in_the_file_becomes_an_address_of_the_file),
		cmocka_unit_test(what_is_not_a_program_is_refused),
		cmocka_unit_test(bent_bytes_do_no_harm),
		cmocka_unit_test(every_cut_of_a_file_does_no_harm),
		cmocka_unit_test(a_failing_allocation_costs_names_only),
		cmocka_unit_test(a_debug_file_is_taken_that_is_the_one_and_that_nobody_else_can_write),
		cmocka_unit_test(this_program_knows_its_local_functions),
		cmocka_unit_test(a_stripped_file_finds_its_names_in_gnu_debugdata),
		cmocka_unit_test(debugdata_that_is_none_is_refused),
	};

	return cmocka_run_group_tests_name("symbol: object", tests, NULL, NULL);
}
