/* btf_int.h: the types of a kernel or of a module, read in place. */
#ifndef TALLY_KERNEL_BTF_INT_H
#define TALLY_KERNEL_BTF_INT_H

#include "kernel/kernel_int.h"

struct btf_type;
struct btf_header;

struct k_btf {
	const struct k_btf *base; /* of a module: the kernel's, where its numbers and texts go on; else NULL */
	const struct btf_header *header;
	size_t size;
	bool mapped;
	const char *types, *texts;
	uint32_t first, n;   /* numbers: from `first`, n of them */
	uint32_t *at;        /* where they begin in types */
	uint32_t first_text; /* texts are numbered from here */
};

int k_btf_open(struct k_btf *b, const char *path, const struct k_btf *base); /* -TALLY_ENOTSUP, -TALLY_ENOMEM */
void k_btf_close(struct k_btf *b);                                           /* zero: nothing */
const struct btf_type *k_btf_type(const struct k_btf *b, uint32_t id);       /* NULL: there is none */
const char *k_btf_text(const struct k_btf *b, uint32_t off);                 /* "": there is none */
/* The first of b's own of that name that fits, or 0. */
uint32_t k_btf_find(const struct k_btf *b, const char *name, bool (*fits)(const struct btf_type *t, uint8_t kind),
		    uint8_t kind);

#endif
