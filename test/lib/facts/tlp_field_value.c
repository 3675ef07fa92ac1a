/* tlp_field_value.c: see its header. */
#include "facts/tlp_field_value.h"

#include <string.h>

uint64_t tlp_field_value(const struct tlp_field *f, const void *of)
{
	const char *at = (const char *)of + f->offset;
	uint64_t v64;
	uint32_t v32;
	uint16_t v16;

	switch (f->size) {
	case 8:
		return memcpy(&v64, at, sizeof(v64)), v64;
	case 4:
		return memcpy(&v32, at, sizeof(v32)), v32;
	case 2:
		return memcpy(&v16, at, sizeof(v16)), v16;
	default:
		return *(const uint8_t *)at;
	}
}
