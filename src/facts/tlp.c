/*
 * tlp.c: the tables of transaction layer packets, from their .def files.
 */
#include <stddef.h>
#include <string.h>

#include "base/base.h"
#include "facts/tlp.h"

static const struct tlp_type types[] = {
#define TYPE(name, fmt, type, mask, cls, layout, data, text) \
	{ #name, fmt, type, mask, TLP_##cls, TLP_##layout, data, text },
#include "facts/tlp_type.def"
#undef TYPE
};

/* A row takes the run of Types that differ in the bits its mask leaves out. */
#define FIRST(fmt, type) ((fmt) << 5 | (type))
#define LAST(fmt, type, mask) (FIRST(fmt, type) | (~(mask)&0x1f))
const uint8_t tlp_row_of[256] = {
#define TYPE(name, fmt, type, mask, ...) [FIRST(fmt, type)... LAST(fmt, type, mask)] = TLP_ROW_##name + 1,
#include "facts/tlp_type.def"
#undef TYPE
};

static const struct {
	uint8_t code;
	const char *name;
} messages[] = {
#define MSG(code, name) { code, #name },
#include "facts/tlp_msg.def"
#undef MSG
};

static const struct {
	const char *name, *text;
} statuses[8] = {
#define STATUS(value, name, text) [value] = { #name, text },
#include "facts/tlp_status.def"
#undef STATUS
};

#define ROW(name, ctype, help) \
	{ #name, #ctype, help, offsetof(struct RECORD, name), sizeof(ctype), (ctype)-1 < (ctype)1 },
#define FIELD ROW
#define RECORD tlp
const struct tlp_field tlp_fields[] = {
#include "facts/tlp_field.def"
};
#undef RECORD
#undef FIELD
const unsigned tlp_nfields = COUNT(tlp_fields);

const struct tlp_type *tlp_type_of(unsigned fmt, unsigned type)
{
	unsigned row = fmt < 8 && type < 32 ? tlp_row_of[fmt << 5 | type] : 0;
	return &types[row != 0 ? row - 1 : TLP_ROW_reserved];
}

const struct tlp_type *tlp_type_at(unsigned i)
{
	return i < COUNT(types) ? &types[i] : NULL;
}

unsigned tlp_type_index(const struct tlp_type *t)
{
	return (unsigned)(t - types);
}

const char *tlp_msg_name(unsigned code)
{
	for (size_t i = 0; i < COUNT(messages); i++)
		if (messages[i].code == code)
			return messages[i].name;
	return NULL;
}

const char *tlp_msg_route(unsigned route)
{
	static const char *const names[] = {
		"to RC", "by address", "by ID", "broadcast", "local", "gathered",
	};
	return route < COUNT(names) ? names[route] : "reserved";
}

const char *tlp_status_name(unsigned status)
{
	return status < COUNT(statuses) ? statuses[status].name : NULL;
}
