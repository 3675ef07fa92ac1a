/*
 * btf.c: the kernel's own description of its types (Documentation/bpf/btf.rst), read in place.
 *
 * libbpf copies the five megabytes and looks at each of a hundred thousand types; a script that names one should not
 * pay for that.  Here the file stays where it is, and one walk notes where each type begins: that is what a number means.
 * What a type's bytes say is taken from libbpf's btf.h.
 *
 * The kernel wrote it; but a length is held against the end of the file before it is followed.
 */
#include <bpf/btf.h>
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "kernel/btf_int.h"

/* Bytes behind struct btf_type, and how many more for each of its vlen. */
static const struct {
	uint8_t fixed, each;
} btf_more[BTF_KIND_ENUM64 + 1] = {
	[BTF_KIND_INT] = { 4, 0 },
	[BTF_KIND_ARRAY] = { sizeof(struct btf_array), 0 },
	[BTF_KIND_STRUCT] = { 0, sizeof(struct btf_member) },
	[BTF_KIND_UNION] = { 0, sizeof(struct btf_member) },
	[BTF_KIND_ENUM] = { 0, sizeof(struct btf_enum) },
	[BTF_KIND_FUNC_PROTO] = { 0, sizeof(struct btf_param) },
	[BTF_KIND_VAR] = { sizeof(struct btf_var), 0 },
	[BTF_KIND_DATASEC] = { 0, sizeof(struct btf_var_secinfo) },
	[BTF_KIND_DECL_TAG] = { 4, 0 },
	[BTF_KIND_ENUM64] = { 0, sizeof(struct btf_enum64) },
};

/* Notes where each type begins; at the first that isn't whole, or of a kind that nobody here knows, the numbers end. */
static int btf_number_types(struct k_btf *b)
{
	const uint32_t len = b->header->type_len;

	b->at = mem_alloc((len / sizeof(struct btf_type) + 1) * sizeof(*b->at));
	if (!b->at)
		return -TALLY_ENOMEM;
	for (uint32_t at = 0; len - at >= sizeof(struct btf_type);) {
		const struct btf_type *t = (const void *)(b->types + at);
		const uint32_t kind = btf_kind(t);
		uint64_t size;

		if (kind == BTF_KIND_UNKN || kind >= COUNT(btf_more))
			break;
		size = sizeof(*t) + btf_more[kind].fixed + (uint64_t)btf_more[kind].each * btf_vlen(t);
		if (size > len - at)
			break;
		b->at[b->n++] = at;
		at += (uint32_t)size;
	}
	return 0;
}

static bool btf_is_sound(const struct btf_header *h, size_t size)
{
	return size >= sizeof(*h) && h->magic == BTF_MAGIC && h->hdr_len >= sizeof(*h) && h->hdr_len <= size &&
	       (uint64_t)h->type_off + h->type_len <= size - h->hdr_len &&
	       (uint64_t)h->str_off + h->str_len <= size - h->hdr_len && h->type_off % 4 == 0 && h->hdr_len % 4 == 0 &&
	       h->str_len && !((const char *)h)[h->hdr_len + h->str_off + h->str_len - 1];
}

/* Files of sysfs could not be mapped before Linux 6.16. */
static void *btf_bytes(int fd, size_t *size, bool *mapped)
{
	struct stat st;
	size_t got = 0;
	ssize_t n = 1;
	char *p;

	if (fstat(fd, &st) < 0 || st.st_size <= 0)
		return NULL;
	*size = (size_t)st.st_size;
	p = mmap(NULL, *size, PROT_READ, MAP_PRIVATE | MAP_POPULATE, fd, 0);
	*mapped = p != MAP_FAILED;
	if (*mapped)
		return p;
	p = mem_alloc(*size);
	while (p && got < *size && (n = read(fd, p + got, *size - got)) > 0)
		got += (size_t)n;
	*size = got;
	return p;
}

void k_btf_close(struct k_btf *b)
{
	if (b->mapped && b->header)
		munmap((void *)(uintptr_t)b->header, b->size);
	else
		mem_free((void *)(uintptr_t)b->header);
	mem_free(b->at);
	*b = (struct k_btf){ 0 };
}

int k_btf_open(struct k_btf *b, const char *path, const struct k_btf *base)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC), rc = -TALLY_ENOTSUP;

	*b = (struct k_btf){ .base = base };
	if (fd < 0)
		return rc;
	b->header = btf_bytes(fd, &b->size, &b->mapped);
	close(fd);
	if (b->header && btf_is_sound(b->header, b->size)) {
		b->types = (const char *)b->header + b->header->hdr_len + b->header->type_off;
		b->texts = (const char *)b->header + b->header->hdr_len + b->header->str_off;
		b->first = base ? base->first + base->n : 1;
		b->first_text = base ? base->first_text + base->header->str_len : 0;
		rc = btf_number_types(b);
	}
	if (rc < 0)
		k_btf_close(b);
	return rc;
}

const struct btf_type *k_btf_type(const struct k_btf *b, uint32_t id)
{
	if (b->base && id < b->first)
		b = b->base;
	return id >= b->first && id - b->first < b->n ? (const void *)(b->types + b->at[id - b->first]) : NULL;
}

const char *k_btf_text(const struct k_btf *b, uint32_t off)
{
	if (b->base && off < b->first_text)
		b = b->base;
	return off >= b->first_text && off - b->first_text < b->header->str_len ? b->texts + (off - b->first_text) : "";
}

/* Where a name stands among the texts, or 0: each text is there once, so that types are compared by number. */
static uint32_t btf_text_find(const struct k_btf *b, const char *name)
{
	const size_t n = strlen(name) + 1;
	const char *end = b->texts + b->header->str_len;

	for (const char *p = b->texts; (p = memmem(p, (size_t)(end - p), name, n)); p++)
		if (p > b->texts && !p[-1])
			return (uint32_t)(p - b->texts) + b->first_text;
	return 0;
}

uint32_t k_btf_find(const struct k_btf *b, const char *name, bool (*fits)(const struct btf_type *t, uint8_t kind),
		    uint8_t kind)
{
	const uint32_t text = b->base ? btf_text_find(b->base, name) : 0, own = btf_text_find(b, name);

	for (uint32_t i = 0; (text || own) && i < b->n; i++) {
		const struct btf_type *t = (const void *)(b->types + b->at[i]);

		if (t->name_off && (t->name_off == text || t->name_off == own) && fits(t, kind))
			return b->first + i;
	}
	return 0;
}
