/*
 * unicorn.h: a guest's machine code, run by the Unicorn engine, whose traps to the hypervisor are ours.
 *
 * libunicorn is loaded when it is first needed.  Memory is flat, bytes of the caller's: what code writes is there
 * at once, and the other way round.
 */
#ifndef TALLY_ATTACH_UNICORN_H
#define TALLY_ATTACH_UNICORN_H

#include "base/base.h"

enum emu_cpu { EMU_SPARC64, EMU_POWER64 }; /* both big-endian */

/* ---- an image in memory (unicorn_image.c) --------------------------------------------------------- */
struct emu_memory {
	uint8_t *p;
	uint64_t base;
	size_t bytes;
};
struct emu_image {
	uint64_t entry;
	uint64_t toc; /* POWER: r2 */
	bool flat;    /* no ELF file */
};
/* Puts an image into memory that is all zero: an ELF executable of that CPU, whose segments lie in the memory, or,
 * where it does not begin as an ELF file does, flat bytes from `base` on, entered at base + flat_entry.
 * -TALLY_ECORRUPT: headers that can't be; -TALLY_EINVAL: of another machine, or it does not fit. */
int emu_image_load(struct emu_image *ret, const struct emu_memory *m, enum emu_cpu cpu, uint64_t flat_entry,
		   const uint8_t *p, size_t n, struct err *e);

/* ---- running it (unicorn.c) -------------------------------------------------------------------------- */
struct emu;
struct emu_opts {
	enum emu_cpu cpu;
	struct emu_memory memory; /* whole pages; borrowed */
	struct emu_image image;
	/* The code called: `ta 0x80`, `ta 0xff` (trap 0x80, 0xff; r: %o0-%o5, of which 3 and 4 are left 0: no call has
	 * so many arguments), `sc 1` (trap 1; r: r3-r8). What is in r afterwards goes back: of SPARC the first three,
	 * of POWER the first. False: the run ends. */
	bool (*trap)(void *arg, unsigned trap, uint64_t r[6]);
	void *arg;
};
#define EMU_TA_FAST 0x80u
#define EMU_TA_CORE 0xffu
/* It starts at the image's entry with the stack at the end of memory; the first two argument registers (%o0, %o1; r3,
 * r4) say where memory begins and how many bytes it has. -TALLY_ENOTSUP: libunicorn is not there, or can't do that
 * CPU. */
int emu_open(struct emu **ret, const struct emu_opts *o, struct err *e);
void emu_close(struct emu *u); /* NULL is fine */
/* Until trap() ends it (0), or *stop is set (-TALLY_EEND). -TALLY_EIO: the code did what can't be gone on from; the
 * words say what and where. */
int emu_run(struct emu *u, const volatile int *stop, struct err *e);

#endif
