/*
 * unwind.h: how the stack of a file's code is walked: its .eh_frame as rows of rules.
 */
#ifndef TALLY_SYMBOL_UNWIND_H
#define TALLY_SYMBOL_UNWIND_H

#include "bpf/bpf.h"
#include "symbol/symbol.h"

/* From addr on that rule holds, up to the next row. */
struct sym_cfi_row {
	uint64_t addr; /* as the file numbers addresses */
	struct img_unwind_rule rule;
};
struct sym_cfi {
	/* by address; behind the last function that is described stands a row without a rule */
	struct sym_cfi_row *row;
	uint32_t n;   /* 0: the file has no tables */
	bool foreign; /* it is of another machine, or of 32 bits */
	bool late;    /* there was no time for more rows: those behind the last are missing */
	struct sym_load load[8];
	uint32_t nloads;
};
/* where the ELF file lies: in memory if p is not NULL */
struct sym_cfi_bytes {
	int fd;
	const void *p;
	size_t n;
};
/* Whether files can be read at all. -TALLY_ENOTSUP with words: a library is missing. */
int sym_cfi_ready(struct err *e);
/* -TALLY_ECORRUPT: no ELF file; -TALLY_ENOMEM. All of *ret is to be freed by sym_cfi_free(). */
int sym_cfi_read(struct sym_cfi *ret, enum sym_machine machine, const struct sym_cfi_bytes *b);
/* The address of what lies there in the file. */
bool sym_cfi_addr(const struct sym_cfi *c, uint64_t offset, uint64_t *ret);
void sym_cfi_free(struct sym_cfi *c);

#endif
