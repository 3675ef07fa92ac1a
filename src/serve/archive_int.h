/* archive_int.h: what programs count, kept as Parquet. */
#ifndef TALLY_SERVE_ARCHIVE_INT_H
#define TALLY_SERVE_ARCHIVE_INT_H

#include "serve/serve_int.h"

struct archive;
/* Takes the directory s->o.archive for this host. -TALLY_EBUSY: another service has it; -TALLY_EIO; -TALLY_ENOMEM. */
int archive_open(struct archive **ret, struct tally_serve *s, struct err *e);
/* Writes what waits, or says that it is lost. NULL is fine, here and below. */
void archive_close(struct archive *a);
/* Reads and writes what is due: milliseconds until it is due again, -1: never. */
int archive_work(struct archive *a, uint64_t now_ns);
/* The program's trace ends, or it has one of its own text no more: what it counted since the last reading waits to be
 * written. */
void archive_read_last(struct archive *a, struct program *p);
void archive_put_metrics(const struct archive *a, enum format f, struct buf *to);
void archive_put_status(const struct archive *a, struct buf *to);

#endif
