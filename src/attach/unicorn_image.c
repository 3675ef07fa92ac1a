/*
 * unicorn_image.c: an image into a guest's memory.
 *
 * Headers are read by hand, each once, into numbers, and judged before a byte is
 * copied: the file is anybody's.  Only what running needs is looked at: loadable segments and the
 * entry.  Code runs where it was linked: there is no translation, so a segment's virtual address
 * is its real one.
 *
 * Of 64-bit POWER, version 1 of the ABI enters through a descriptor: entry, then r2.
 */
#include <elf.h>
#include <string.h>

#include "attach/unicorn.h"

struct reader {
	const uint8_t *p;
	size_t n;
	const struct emu_memory *m;
	struct err *e;
};

static uint64_t image_get_be(const uint8_t *p, unsigned bytes)
{
	uint64_t v = 0;

	while (bytes--)
		v = v << 8 | *p++;
	return v;
}
#define FIELD(p, type, name) image_get_be((p) + offsetof(type, name), sizeof(((type *)0)->name))

/* NULL: not all of it is memory. */
static uint8_t *image_memory_at(const struct emu_memory *m, uint64_t to, uint64_t n)
{
	return range_holds(m->base, m->bytes, to, n) ? m->p + (to - m->base) : NULL;
}

static int not_memory(const struct reader *r, const char *what, uint64_t from, uint64_t n)
{
	return err_set(r->e, TALLY_EINVAL,
		       "the image's %s, 0x%llx bytes at 0x%llx, lies outside memory (0x%llx to 0x%llx)", what,
		       (unsigned long long)n, (unsigned long long)from, (unsigned long long)r->m->base,
		       (unsigned long long)(r->m->base + r->m->bytes));
}

static int load_segment(const struct reader *r, const uint8_t *ph)
{
	const uint64_t off = FIELD(ph, Elf64_Phdr, p_offset), to = FIELD(ph, Elf64_Phdr, p_vaddr);
	const uint64_t here = FIELD(ph, Elf64_Phdr, p_filesz), all = FIELD(ph, Elf64_Phdr, p_memsz);
	uint8_t *p = image_memory_at(r->m, to, all);

	if (here > all || off > r->n || here > r->n - off)
		return err_set(r->e, TALLY_ECORRUPT,
			       "a segment of the image lies outside the file, or is larger there than in memory");
	if (!all)
		return 0;
	if (!p)
		return not_memory(r, "segment", to, all);
	if (here)
		memcpy(p, r->p + off, (size_t)here);
	return 0;
}

static int load_segments(const struct reader *r)
{
	const uint64_t off = FIELD(r->p, Elf64_Ehdr, e_phoff), n = FIELD(r->p, Elf64_Ehdr, e_phnum);
	uint32_t loaded = 0;
	int rc = 0;

	if (FIELD(r->p, Elf64_Ehdr, e_phentsize) != sizeof(Elf64_Phdr) || off > r->n ||
	    n > (r->n - off) / sizeof(Elf64_Phdr))
		return err_set(r->e, TALLY_ECORRUPT, "the image's program headers lie outside the file");
	for (uint64_t i = 0; rc == 0 && i < n; i++) {
		const uint8_t *ph = r->p + off + i * sizeof(Elf64_Phdr);

		if (FIELD(ph, Elf64_Phdr, p_type) != PT_LOAD)
			continue;
		loaded++;
		rc = load_segment(r, ph);
	}
	return rc == 0 && !loaded ? err_set(r->e, TALLY_ECORRUPT, "the image has nothing to load") : rc;
}

static int find_entry(const struct reader *r, bool descriptor, struct emu_image *ret)
{
	const uint64_t entry = FIELD(r->p, Elf64_Ehdr, e_entry);
	const uint8_t *p = image_memory_at(r->m, entry, descriptor ? 16 : 4);

	if (!p)
		return not_memory(r, "entry", entry, 4);
	*ret = descriptor ? (struct emu_image){ .entry = image_get_be(p, 8), .toc = image_get_be(p + 8, 8) } :
			    (struct emu_image){ .entry = entry };
	if (!image_memory_at(r->m, ret->entry, 4) || ret->entry % 4)
		return not_memory(r, "entry", ret->entry, 4);
	return 0;
}

static int load_elf(const struct reader *r, enum emu_cpu cpu, struct emu_image *ret)
{
	const bool power = cpu == EMU_POWER64;
	int rc;

	if (r->n < sizeof(Elf64_Ehdr))
		return err_set(r->e, TALLY_ECORRUPT, "the image's ELF header is truncated");
	if (r->p[EI_CLASS] != ELFCLASS64 || r->p[EI_DATA] != ELFDATA2MSB ||
	    FIELD(r->p, Elf64_Ehdr, e_machine) != (power ? EM_PPC64 : EM_SPARCV9))
		return err_set(r->e, TALLY_EINVAL, "the image is for another machine (expected %s, 64-bit, big-endian)",
			       power ? "POWER" : "SPARC V9");
	if (FIELD(r->p, Elf64_Ehdr, e_type) != ET_EXEC)
		return err_set(r->e, TALLY_EINVAL,
			       "the image is not an executable with fixed addresses: link it with -static -no-pie");
	rc = load_segments(r);
	return rc < 0 ? rc : find_entry(r, power && (FIELD(r->p, Elf64_Ehdr, e_flags) & 3) == 1, ret);
}

static int load_flat(const struct reader *r, uint64_t entry, struct emu_image *ret)
{
	if (r->n < entry + 4)
		return err_set(r->e, TALLY_EINVAL,
			       "the image has %zu bytes and is not an ELF file; a flat image starts at byte 0x%llx",
			       r->n, (unsigned long long)entry);
	if (r->n > r->m->bytes)
		return not_memory(r, "flat", r->m->base, r->n);
	memcpy(r->m->p, r->p, r->n);
	*ret = (struct emu_image){ .entry = r->m->base + entry, .flat = true };
	return 0;
}

int emu_image_load(struct emu_image *ret, const struct emu_memory *m, enum emu_cpu cpu, uint64_t flat_entry,
		   const uint8_t *p, size_t n, struct err *e)
{
	const struct reader r = { p, n, m, e };

	if (n >= SELFMAG && !memcmp(p, ELFMAG, SELFMAG))
		return load_elf(&r, cpu, ret);
	return load_flat(&r, flat_entry, ret);
}
