/*
 * shape.h: how typed bytes are made up, for who shows them with their types (print()).
 *
 * A shape is a type of D without what only a compiler wants: names of types as a reader writes them, members at their
 * offsets.  Whoever compiles makes it, whoever answers reads it; nothing points out of it.
 */
#ifndef TALLY_FACTS_SHAPE_H
#define TALLY_FACTS_SHAPE_H

#include <stdbool.h>
#include <stdint.h>

enum shape_kind { SHAPE_INT, SHAPE_FLOAT, SHAPE_ENUM, SHAPE_POINTER, SHAPE_ARRAY, SHAPE_STRUCT };

struct shape_member {
	const char *name; /* "": it has none */
	const struct shape *of;
	uint32_t offset;         /* bytes */
	uint8_t bit, bits, unit; /* of a bit-field (bits not 0): lowest bit of the `unit` bytes at the offset */
};
struct shape_name {
	const char *name;
	int64_t value;
};
struct shape {
	uint8_t kind;           /* enum shape_kind */
	bool is_signed;         /* INT, ENUM */
	bool is_char;           /* INT: of an array it is text */
	const char *type;       /* "struct s", "int [4]", "union" */
	uint32_t size, n;       /* bytes; ARRAY: elements; STRUCT (or union): members; ENUM: names */
	const struct shape *of; /* ARRAY */
	struct shape_member *member;
	struct shape_name *name;
};

#endif
