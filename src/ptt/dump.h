/*
 * dump.h: records as text: a line for people, an object for jq, a row for tables, and
 * what perf prints.
 *
 * All of them add to `to` (which remembers a failed allocation) and end with a
 * newline.  `device` is the name of t->device; it may come from a file, so it
 * is escaped, quoted or cut as the form needs.
 */
#ifndef TALLY_PTT_DUMP_H
#define TALLY_PTT_DUMP_H

#include "ptt/ptt.h"

void ptt_dump_line_header(struct buf *to);
void ptt_dump_line(struct buf *to, const struct tlp *t, const char *device);

/* Every field of tlp_field.def as a number, then type_name, requester_text and device_name. */
void ptt_dump_json(struct buf *to, const struct tlp *t, const char *device);
/* The same columns; `separator` is the caller's, usually ','. */
void ptt_dump_csv_header(struct buf *to, char separator);
void ptt_dump_csv(struct buf *to, const struct tlp *t, const char *device, char separator);

/* A chunk as `perf report -D` prints it: the line with the size where the chunk is the first of its AUX buffer, then
 * a line for each DW that means something.  spec: the older text of hisi_ptt.rst, "Decoding" (bytes as they are
 * in memory, offsets that don't count the DWs left out). */
void ptt_dump_perf(struct buf *to, const struct ptt_chunk *c, bool spec);

/* "01:00.0", or with a segment "0001:01:00.0". */
#define PTT_BDF_MOST 16
void ptt_bdf_text(char to[PTT_BDF_MOST], uint16_t segment, uint16_t id);

#endif
