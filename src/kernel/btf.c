/*
 * btf.c: the kernel's own description of its types (Documentation/bpf/btf.rst), read in place.
 *
 * libbpf copies the five megabytes and looks at each of a hundred thousand types; a script that names one should not
 * pay for that. Types name each other by number, and nothing in the file says where type N begins. Here the file stays
 * where it is, and one walk notes where each type begins. The walk goes only as far as somebody asks: what scripts name
 * mostly stands near the front, and a walk to the end takes a millisecond. What a type's bytes say is taken from
 * libbpf's btf.h.
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

static struct btf_numbers *btf_numbers_new(uint32_t type_len)
{
	return mem_alloc(sizeof(struct btf_numbers) + (type_len / sizeof(struct btf_type) + 1) * sizeof(uint32_t));
}

/* Notes where the next type begins, and hands it over; at the first that isn't whole, or of a kind that nobody here
 * knows, the numbers end: NULL. */
static const struct btf_type *btf_number_next(const struct k_btf *b)
{
	struct btf_numbers *all = b->numbers;
	const uint32_t left = b->header->type_len - all->end;
	const struct btf_type *t = (const void *)(b->types + all->end);
	uint64_t size = sizeof(*t);

	if (all->over || left < sizeof(*t) || btf_kind(t) == BTF_KIND_UNKN || btf_kind(t) >= COUNT(btf_more) ||
	    (size += btf_more[btf_kind(t)].fixed + (uint64_t)btf_more[btf_kind(t)].each * btf_vlen(t)) > left) {
		all->over = true;
		return NULL;
	}
	all->at[all->n++] = all->end;
	all->end += (uint32_t)size;
	return t;
}

/* Type i of b's own, counted from 0; NULL: there is none. */
static const struct btf_type *btf_own(const struct k_btf *b, uint32_t i)
{
	const struct btf_type *t = NULL;

	if (!b->numbers)
		return NULL;
	if (i < b->numbers->n)
		return (const void *)(b->types + b->numbers->at[i]);
	while (b->numbers->n <= i && (t = btf_number_next(b)))
		;
	return t;
}

uint32_t k_btf_count(const struct k_btf *b)
{
	while (b->numbers && btf_number_next(b))
		;
	return b->numbers ? b->numbers->n : 0;
}

/* Up to str_len: newer headers of libbpf have more behind it, which kernels before them do not write. */
#define BTF_HEADER_LEAST (offsetof(struct btf_header, str_len) + sizeof(uint32_t))

static bool btf_is_sound(const struct btf_header *h, size_t size)
{
	return size >= BTF_HEADER_LEAST && h->magic == BTF_MAGIC && h->hdr_len >= BTF_HEADER_LEAST &&
	       h->hdr_len <= size && (uint64_t)h->type_off + h->type_len <= size - h->hdr_len &&
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
	mem_free(b->numbers);
	*b = (struct k_btf){ 0 };
}

/* Of the bytes that b has by now. */
static int btf_read(struct k_btf *b, const struct k_btf *base)
{
	int rc = -TALLY_ENOTSUP;

	b->base = base;
	if (b->header && btf_is_sound(b->header, b->size)) {
		b->types = (const char *)b->header + b->header->hdr_len + b->header->type_off;
		b->texts = (const char *)b->header + b->header->hdr_len + b->header->str_off;
		b->first = base ? base->first + k_btf_count(base) : 1;
		b->first_text = base ? base->first_text + base->header->str_len : 0;
		b->numbers = btf_numbers_new(b->header->type_len);
		rc = b->numbers ? 0 : -TALLY_ENOMEM;
	}
	if (rc < 0)
		k_btf_close(b);
	return rc;
}

int k_btf_open(struct k_btf *b, const char *path, const struct k_btf *base)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC);

	*b = (struct k_btf){ 0 };
	if (fd < 0)
		return -TALLY_ENOTSUP;
	b->header = btf_bytes(fd, &b->size, &b->mapped);
	close(fd);
	return btf_read(b, base);
}

int k_btf_search(struct k_btf *b)
{
	struct btf *found = btf__load_vmlinux_btf();
	uint32_t size = 0;
	const void *bytes = found ? btf__raw_data(found, &size) : NULL;
	void *copy = bytes ? mem_alloc(size) : NULL;

	*b = (struct k_btf){ .header = copy, .size = size };
	if (copy)
		memcpy(copy, bytes, size);
	btf__free(found);
	return btf_read(b, NULL);
}

const struct btf_type *k_btf_type(const struct k_btf *b, uint32_t id)
{
	if (b->base && id < b->first)
		b = b->base;
	return id >= b->first ? btf_own(b, id - b->first) : NULL;
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
	const struct btf_type *t;

	for (uint32_t i = 0; (text || own) && (t = btf_own(b, i)); i++)
		if (t->name_off && (t->name_off == text || t->name_off == own) && fits(t, kind))
			return b->first + i;
	return 0;
}

static bool btf_kind_fits(const struct btf_type *t, uint8_t kind)
{
	return btf_kind(t) == kind;
}

uint32_t k_btf_find_kind(const struct k_btf *b, const char *name, uint8_t kind)
{
	return k_btf_find(b, name, btf_kind_fits, kind);
}
