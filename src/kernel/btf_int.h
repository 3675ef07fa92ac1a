/* btf_int.h: the types of a kernel or of a module, read in place. Thread rule: one thread, as a question walks on. */
#ifndef TALLY_KERNEL_BTF_INT_H
#define TALLY_KERNEL_BTF_INT_H

#include "kernel/kernel.h"

struct btf_type;
struct btf_header;

/* Where types begin, as far as the walk came. */
struct btf_numbers {
	uint32_t n, end; /* of types; of their bytes */
	bool over;       /* no type follows */
	uint32_t at[];   /* one for each that there may be: pages that nobody writes to cost nothing */
};
struct k_btf {
	const struct k_btf *base; /* of a module: the kernel's, where its numbers and texts go on; else NULL */
	const struct btf_header *header;
	size_t size;
	bool mapped;
	const char *types, *texts;
	uint32_t first;      /* numbers go on from here */
	uint32_t first_text; /* and texts */
	struct btf_numbers *numbers;
};

int k_btf_open(struct k_btf *b, const char *path, const struct k_btf *base); /* -TALLY_ENOTSUP, -TALLY_ENOMEM */
/* The kernel's where libbpf finds it, when that path has none. */
int k_btf_search(struct k_btf *b);
void k_btf_close(struct k_btf *b);                                     /* zero: nothing */
const struct btf_type *k_btf_type(const struct k_btf *b, uint32_t id); /* NULL: there is none */
uint32_t k_btf_count(const struct k_btf *b);                           /* of its own; walks to the end */
const char *k_btf_text(const struct k_btf *b, uint32_t off);           /* "": there is none */
/* The first of b's own of that name that fits, or 0. */
uint32_t k_btf_find(const struct k_btf *b, const char *name, bool (*fits)(const struct btf_type *t, uint8_t kind),
		    uint8_t kind);

uint32_t k_btf_find_kind(const struct k_btf *b, const char *name, uint8_t kind); /* BTF_KIND_* */

/* ---- the types of the kernel and of its modules (types.c) --------------------------- */
/* Opens the BTF of a module; NULL or "vmlinux": of the kernel proper. Its number, or -1: it has none. */
int k_types_of_module(struct k_types *t, const char *module);
const struct k_btf *k_types_btf(const struct k_types *t, uint32_t i); /* of those that are open; NULL: there is none */
const char *k_types_module_name(const struct k_types *t, uint32_t i); /* lives as long as t */
/* Opens the BTF of each module whose name matches the glob, the kernel proper first; each gets its number. Negative
 * answers of each end it. -TALLY_ENOTSUP: this kernel tells no types. */
int k_types_modules(struct k_types *t, const char *glob, int (*each)(void *arg, uint32_t i, const char *module),
		    void *arg);
/* What struct d_ktypes calls that type of BTF i. */
uint64_t k_types_number(const struct k_types *t, uint32_t i, uint32_t id);

#endif
