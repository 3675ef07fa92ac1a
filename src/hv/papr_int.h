/*
 * papr_int.h: what the files of the PAPR service share.
 *
 *	gpci.c   the tables; records to bytes and back
 *	papr.c   the call
 *
 * The parameter block (papr_gpci.txt, Performance_Counter_Info_Parms; the fields from 0x08 on as Linux splits them: for
 * fewer than 65,536 records both readings are the same bytes). Big-endian.
 *
 *	0x00  4  requested information                in
 *	0x04  4  starting index, signed               in, out
 *	0x08  2  secondary index                      in, out      spec: high half of returned values
 *	0x0a  2  returned values                      out
 *	0x0c  4  detail of the return code            out          spec: reserved
 *	0x10  2  size of a record                     out          spec: reserved
 *	0x12  1  version asked for                    in           spec: reserved
 *	0x13  1  version of the firmware              out          spec: reserved
 *	0x14 12  reserved
 *	0x20     records
 */
#ifndef TALLY_HV_PAPR_INT_H
#define TALLY_HV_PAPR_INT_H

#include "hv/papr.h"

enum {
	GPCI_AT_REQUEST = 0x00,
	GPCI_AT_INDEX = 0x04,
	GPCI_AT_SECONDARY = 0x08,
	GPCI_AT_RETURNED = 0x0a,
	GPCI_AT_DETAIL = 0x0c,
	GPCI_AT_ELEMENT = 0x10,
	GPCI_AT_VERSION_IN = 0x12,
	GPCI_AT_VERSION_OUT = 0x13,
};
#define GPCI_ELEMENT 28u       /* bytes of an element of 0xB1 */
#define GPCI_AT_ELEMENTS 0x0cu /* of its record: their number */

void gpci_put(uint8_t *p, uint32_t bytes, uint64_t v);
uint64_t gpci_get(const uint8_t *p, uint32_t bytes);
/* Writes a record: the values of all its rows, of those that the level has; then the elements of 0xB1 behind it. */
typedef void gpci_write_fn(uint8_t *p, const uint64_t *v, uint8_t level);
gpci_write_fn *gpci_writer(const struct gpci_request *r);
void gpci_write_elements(const struct gpci_request *r, const struct gpci_values *v, uint8_t *p);
static inline bool gpci_has_elements(const struct gpci_request *r)
{
	return r->number == GPCI_REQUEST_affinity_by_partition;
}
static inline uint32_t gpci_bytes(const struct gpci_request *r, const struct gpci_values *v) /* of the record */
{
	return r->size + (gpci_has_elements(r) ? v->nelements * GPCI_ELEMENT : 0);
}

#endif
