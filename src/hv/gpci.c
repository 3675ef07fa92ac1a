/*
 * gpci.c: the rows of facts/gpci.def, and both directions between a record's
 * values and its bytes.  One row says where a field is; writer and reader walk the
 * same rows, so a layout stands in one place only.
 *
 * A reply of 84 processors is a thousand fields, so the writers are the rows made into code: a function for each
 * record, in which every place is a constant.
 */
#include <stdio.h>
#include <stdlib.h>
#include <strings.h>

#include "hv/papr_int.h"

#define GPCI_BEGIN(tag, ...) static const struct gpci_field fields_##tag[] = {
#define GPCI_FIELD(name, offset, bytes, flags, since, unit, linux_name, text) \
	{ #name, unit, text, offset, bytes, flags, since, linux_name },
#define GPCI_END(tag) \
	}             \
	;
#include "facts/gpci.def"
#undef GPCI_BEGIN
#undef GPCI_FIELD
#undef GPCI_END

static const struct gpci_request requests[] = {
#define GPCI_BEGIN(tag, number, name, title, linux_name, size, index, right, since, until, from, to, text) \
	{ number, #name, title, text, linux_name, size,         index,                                     \
	  right,  since, until, from, to,         fields_##tag, COUNT(fields_##tag) },
#define GPCI_FIELD(...)
#define GPCI_END(tag)
#include "facts/gpci.def"
#undef GPCI_BEGIN
#undef GPCI_FIELD
#undef GPCI_END
};

const struct gpci_request *gpci_request(uint32_t number, uint8_t level, uint8_t version)
{
	if (version > level)
		version = level;
	for (uint32_t i = 0; i < COUNT(requests); i++) {
		const struct gpci_request *r = &requests[i];

		if (r->number == number && level >= r->since && level <= r->until && version >= r->from &&
		    version <= r->to)
			return r;
	}
	return NULL;
}

bool gpci_counts(const struct gpci_request *r)
{
	for (uint32_t i = 0; i < r->nfields; i++)
		if (r->field[i].flags & GPCI_F_COUNTER)
			return true;
	return false;
}

const struct gpci_request *gpci_request_at(uint32_t i)
{
	return i < COUNT(requests) ? &requests[i] : NULL;
}

static bool is_called(const struct gpci_request *r, const char *name)
{
	return !strcasecmp(r->name, name) || !strcasecmp(r->title, name) ||
	       (r->linux_name && !strcasecmp(r->linux_name, name));
}

const struct gpci_request *gpci_request_find(const char *name)
{
	const struct gpci_request *found = NULL;
	char *end;
	unsigned long number = strtoul(name, &end, 0);
	bool is_number = end != name && !*end;

	for (uint32_t i = 0; i < COUNT(requests); i++)
		if (is_number ? requests[i].number == number : is_called(&requests[i], name))
			found = &requests[i];
	return found;
}

const char *gpci_state_name(uint64_t state)
{
	static const char *const name[] = { "?",      "not installed", "guarded",  "unlicensed",
					    "shared", "borrowed",      "dedicated" };

	return state < COUNT(name) ? name[state] : "?";
}

const struct gpci_field *gpci_id_field(const struct gpci_request *r, uint8_t level, uint32_t *place)
{
	const struct gpci_field *found = NULL;

	for (uint32_t i = 0; i < r->nfields; i++) {
		const struct gpci_field *f = &r->field[i];

		if (level >= f->since && (f->flags & GPCI_F_ID || (!found && f->flags & GPCI_F_OLD_ID))) {
			found = f;
			*place = i;
		}
	}
	return found;
}

/* ---- values and bytes ------------------------------------------------------------------------ */

static inline void put_1(uint8_t *p, uint64_t v)
{
	*p = (uint8_t)v;
}

static inline void put_2(uint8_t *p, uint64_t v)
{
	memcpy(p, &(uint16_t){ __builtin_bswap16((uint16_t)v) }, 2);
}

static inline void put_4(uint8_t *p, uint64_t v)
{
	memcpy(p, &(uint32_t){ __builtin_bswap32((uint32_t)v) }, 4);
}

static inline void put_8(uint8_t *p, uint64_t v)
{
	be64_put(p, v);
}

void gpci_put(uint8_t *p, uint32_t bytes, uint64_t v)
{
	switch ((enum gpci_kind)bytes) {
	case GPCI_U8:
		put_1(p, v);
		break;
	case GPCI_U16:
		put_2(p, v);
		break;
	case GPCI_U32:
		put_4(p, v);
		break;
	case GPCI_U64:
		put_8(p, v);
		break;
	}
}

uint64_t gpci_get(const uint8_t *p, uint32_t bytes)
{
	uint64_t v = 0;

	for (uint32_t i = 0; i < bytes; i++)
		v = v << 8 | p[i];
	return v;
}

/* Where an element of 0xB1 has its parts. */
static const struct {
	uint8_t offset, bytes;
} element_part[] = { { 0, 2 }, { 2, 2 }, { 4, 4 }, { 8, 4 }, { 12, 4 }, { 16, 4 } };

static void element_put(uint8_t *p, const struct gpci_element *e)
{
	const uint64_t v[] = { e->primary, e->secondary, e->units[0], e->units[1], e->units[2], e->units[3] };

	memset(p, 0, GPCI_ELEMENT);
	for (uint32_t i = 0; i < COUNT(v); i++)
		gpci_put(p + element_part[i].offset, element_part[i].bytes, v[i]);
}

static void element_get(const uint8_t *p, struct gpci_element *e)
{
	e->primary = (uint16_t)gpci_get(p, 2);
	e->secondary = (uint16_t)gpci_get(p + 2, 2);
	for (uint32_t i = 0; i < COUNT(e->units); i++)
		e->units[i] = (uint32_t)gpci_get(p + element_part[2 + i].offset, 4);
}

#define GPCI_BEGIN(tag, number, name, title, linux_name, size, ...)           \
	static void write_##tag(uint8_t *p, const uint64_t *v, uint8_t level) \
	{                                                                     \
		enum { SIZE = (size) };                                       \
		(void)level;                                                  \
		memset(p, 0, SIZE);
#define GPCI_FIELD(name, offset, bytes, flags, since, ...)                   \
	static_assert((offset) % (bytes) == 0 && (offset) + (bytes) <= SIZE, \
		      "doc/spec-gpci.md: the record has no such place");     \
	if (level + 1 > (since))                                             \
		put_##bytes(p + (offset), *v);                               \
	v++;
#define GPCI_END(tag) }
#include "facts/gpci.def"
#undef GPCI_BEGIN
#undef GPCI_FIELD
#undef GPCI_END

static gpci_write_fn *const writers[] = {
/* of requests[] */
#define GPCI_BEGIN(tag, ...) write_##tag,
#define GPCI_FIELD(...)
#define GPCI_END(tag)
#include "facts/gpci.def"
#undef GPCI_BEGIN
#undef GPCI_FIELD
#undef GPCI_END
};

gpci_write_fn *gpci_writer(const struct gpci_request *r)
{
	return writers[r - requests];
}

void gpci_write_elements(const struct gpci_request *r, const struct gpci_values *v, uint8_t *p)
{
	for (uint32_t i = 0; i < v->nelements; i++)
		element_put(p + r->size + i * GPCI_ELEMENT, &v->element[i]);
}

/* ---- the asker's side -------------------------------------------------------------------------- */

void gpci_ask(uint8_t *block, size_t n, uint32_t request, int32_t index, uint16_t secondary, uint8_t version)
{
	memset(block, 0, n);
	gpci_put(block + GPCI_AT_REQUEST, 4, request);
	gpci_put(block + GPCI_AT_INDEX, 4, (uint32_t)index);
	gpci_put(block + GPCI_AT_SECONDARY, 2, secondary);
	block[GPCI_AT_VERSION_IN] = version;
}

int gpci_reply(struct gpci_reply *ret, const uint8_t *block, size_t n, struct err *e)
{
	struct gpci_reply r;

	if (n < GPCI_HEADER)
		return err_set(e, TALLY_ECORRUPT, "truncated reply: %zu bytes, and the header has %u", n, GPCI_HEADER);
	r = (struct gpci_reply){
		.request = (uint32_t)gpci_get(block + GPCI_AT_REQUEST, 4),
		.starting_index = (int32_t)gpci_get(block + GPCI_AT_INDEX, 4),
		.secondary_index = (uint16_t)gpci_get(block + GPCI_AT_SECONDARY, 2),
		.returned = (uint32_t)gpci_get(block + GPCI_AT_RETURNED, 2),
		.detail = (uint32_t)gpci_get(block + GPCI_AT_DETAIL, 4),
		.element_size = (uint32_t)gpci_get(block + GPCI_AT_ELEMENT, 2),
		.version_in = block[GPCI_AT_VERSION_IN],
		.version_out = block[GPCI_AT_VERSION_OUT],
		.record = block + GPCI_HEADER,
		.bytes = n - GPCI_HEADER,
	};
	if (r.element_size && (uint64_t)r.returned * r.element_size > r.bytes)
		return err_set(e, TALLY_ECORRUPT,
			       "truncated reply: %u records of %u bytes announced, %zu bytes present", r.returned,
			       r.element_size, r.bytes);
	*ret = r;
	return 0;
}

/* Bytes of the record at p, of which `left` are there; 0: it is cut off. */
static size_t record_bytes(const struct gpci_request *r, const uint8_t *p, size_t left)
{
	size_t n = r->size;

	if (left < n)
		return 0;
	if (gpci_has_elements(r)) {
		uint64_t elements = gpci_get(p + GPCI_AT_ELEMENTS, 2);

		if (elements > GPCI_ELEMENTS_MOST)
			return 0;
		n += elements * GPCI_ELEMENT;
	}
	return left < n ? 0 : n;
}

size_t gpci_record_bytes(const struct gpci_request *r, const struct gpci_values *v)
{
	return gpci_bytes(r, v);
}

/* Where the i-th record begins and how long it is. */
static int find_record(const struct gpci_request *r, const struct gpci_reply *rep, uint32_t i, size_t *at, size_t *n,
		       struct err *e)
{
	uint32_t first = gpci_has_elements(r) ? 0 : i; /* records of one size need no walk */

	*at = (size_t)first * r->size;
	for (uint32_t k = first;; k++, *at += *n) {
		*n = *at <= rep->bytes ? record_bytes(r, rep->record + *at, rep->bytes - *at) : 0;
		if (!*n)
			return err_set(e, TALLY_ECORRUPT, "record %u of %u is truncated", k + 1, rep->returned);
		if (k == i)
			return 0;
	}
}

int gpci_record(const struct gpci_request *r, const struct gpci_reply *rep, uint32_t i, struct gpci_values *v,
		struct err *e)
{
	size_t at, n;
	uint32_t id;
	int rc;

	if (i >= rep->returned)
		return err_set(e, TALLY_ECORRUPT, "the reply announces %u records, but has %u", rep->returned, i + 1);
	rc = find_record(r, rep, i, &at, &n, e);
	if (rc < 0)
		return rc;
	for (uint32_t k = 0; k < r->nfields; k++)
		v->v[k] = gpci_get(rep->record + at + r->field[k].offset, r->field[k].bytes);
	v->nelements = (uint32_t)((n - r->size) / GPCI_ELEMENT);
	for (uint32_t k = 0; k < v->nelements; k++)
		element_get(rep->record + at + r->size + k * GPCI_ELEMENT, &v->element[k]);
	v->id = gpci_id_field(r, rep->version_out, &id) ? v->v[id] : 0;
	v->secondary = r->index == GPCI_BY_VP ? v->v[1] : 0;
	return 0;
}
