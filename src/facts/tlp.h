/*
 * tlp.h: transaction layer packets as facts: types, messages, completion
 * statuses, and the fields of a decoded record.
 *
 * The tables are rows: tlp_type.def (Fmt and Type of PCIe base specification
 * r5.0, 2.2.1), tlp_msg.def (message codes, 2.2.8), tlp_status.def (completion
 * status, 2.2.9), tlp_field.def (what a decoded record has: struct tlp, args[0] of the ptt provider, the columns of
 * CSV and JSON, SQL and Parquet, all come from it).
 */
#ifndef TALLY_FACTS_TLP_H
#define TALLY_FACTS_TLP_H

#include <stdbool.h>
#include <stdint.h>

enum tlp_class { TLP_P, TLP_NP, TLP_CPL, TLP_RESERVED }; /* posted, non-posted, completion */

/* How the header's DWs are laid out behind DW0. */
enum tlp_layout { TLP_MEM32, TLP_MEM64, TLP_IO, TLP_CFG, TLP_MSG, TLP_COMPLETION, TLP_UNKNOWN };

struct tlp_type {
	const char *name;  /* "MRd32", "CplD", "FetchAdd64" ...; unique */
	uint8_t fmt, type; /* Fmt[2:0], Type[4:0]; for messages the low three bits of type are the routing */
	uint8_t type_mask; /* 0x1f, or 0x18 for messages */
	uint8_t cls;       /* enum tlp_class */
	uint8_t layout;    /* enum tlp_layout */
	bool data;         /* carries data */
	const char *text;  /* what it is */
};
/* Numbers of the rows: TLP_ROW_MRd32, ... TLP_ROW_reserved. */
enum tlp_row {
#define TYPE(name, ...) TLP_ROW_##name,
#include "facts/tlp_type.def"
#undef TYPE
};
/* The row of a Fmt and Type; the row "reserved" when there is none. Fmt[2] is 0 where it isn't recorded (4DW). */
const struct tlp_type *tlp_type_of(unsigned fmt, unsigned type);
/* The same for hot paths: by Fmt << 5 | Type the row's number plus 1, or 0 when reserved. */
extern const uint8_t tlp_row_of[256];
const struct tlp_type *tlp_type_at(unsigned i); /* i-th row, NULL past the end; the last is "reserved" */
unsigned tlp_type_index(const struct tlp_type *t);
const char *tlp_msg_name(unsigned code);      /* "Assert_INTA", NULL when reserved */
const char *tlp_msg_route(unsigned route);    /* "to RC", ... never NULL */
const char *tlp_status_name(unsigned status); /* "SC", "UR", "CRS", "CA", NULL when reserved */

/* ---- a decoded record -------------------------------------------------------- */
/* Fields that a type does not have are 0. FIELD(name, C type, help) */
struct tlp {
#define FIELD(name, ctype, help) ctype name;
#include "facts/tlp_field.def"
#undef FIELD
};
/* args[1] of ptt:::transaction. */
struct tlp_transaction {
#define FIELD(name, ctype, help) ctype name;
#include "facts/tlp_transaction_field.def"
#undef FIELD
};
struct tlp_field {
	const char *name, *ctype, *help;
	uint16_t offset;
	uint8_t size;
	bool is_signed;
};
extern const struct tlp_field tlp_fields[];
extern const unsigned tlp_nfields;

#endif
