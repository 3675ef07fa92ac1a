/*
 * ptt: HiSilicon's PCIe Tune and Trace: bytes in, bytes out.  Decoding of
 * records, the perf.data codec, matching of transactions, statistics.  Sees no
 * file, no clock and no Linux header.
 *
 * Trace bytes are hostile: every size is checked once, memory is bounded, and
 * a damaged file gives all of its whole records and words for the rest.
 */
#ifndef TALLY_PTT_H
#define TALLY_PTT_H

#include "base/base.h"
#include "facts/tlp.h"

/* ---- records (decode.c) ---------------------------------------------------------
 * 8DW: DW0 all ones, DW1 prefix, DW2-5 header, DW6 0, DW7 time (32 bits).
 * 4DW: DW0 = Fmt[31:30] Type[29:25] T9[24] T8[23] TH[22] SO[21] Length[20:11] Time[10:0], DW1-3 header DW1-3.
 * All DWs little-endian (hisi_ptt.rst, "Format"). */
enum ptt_format { PTT_4DW = 4, PTT_8DW = 8 };
enum ptt_time { PTT_TIME_AUTO, PTT_TIME_ABS, PTT_TIME_DELTA };

/* State of one device's stream. Zero is a good start. */
struct ptt_clock {
	uint64_t now;
	uint32_t last;
	bool started;
};
struct ptt_decode_opts {
	uint8_t format;                       /* enum ptt_format */
	uint8_t time;                         /* ABS or DELTA: what ptt_time_guess() or the user says */
	bool tag14;                           /* the newer layout: 14-bit tags and segments */
};
/* Fills *t from the record at p (format's DWs); device and offset are the caller's. */
void ptt_decode(const uint8_t *p, const struct ptt_decode_opts *o, struct ptt_clock *c, struct tlp *t);
/* The format of a chunk by its first DW; whether a record is padding (all zero). */
enum ptt_format ptt_format_of(const uint8_t *p, size_t n);
bool ptt_is_padding(const uint8_t *p, enum ptt_format f);
/* Tells absolute from delta time by a chunk's records; *sure is false when the evidence is weak. */
enum ptt_time ptt_time_guess(const uint8_t *p, size_t n, enum ptt_format f, bool *sure);

/* ---- reading a file (pdata.c, raw.c) ------------------------------------------------
 * The reader asks for bytes through `struct bytes_in` (base/file.h implements it over mmap windows or a
 * pipe; tests over memory) and yields chunks of records in file order. */
struct bytes_in {
	void *arg;
	/* n bytes at off: sets *p, valid until the next call, and returns how many there are (less than n only at the
	 * end). Offsets only grow beyond what was given back by `keep` bytes for a pipe. Negative: -TALLY_EIO. */
	int64_t (*at)(void *arg, uint64_t off, size_t n, const uint8_t **p);
	uint64_t size;                        /* of the whole, UINT64_MAX when not known (a pipe) */
};
#define PTT_WINDOW_MOST (1u << 20)            /* most bytes asked for at once */

struct ptt_device { char name[32]; uint32_t pmu_type; uint64_t config; bool tag14; };
struct ptt_chunk {                            /* a run of whole records */
	const uint8_t *p;
	size_t n;                             /* bytes: whole records of `format` */
	uint8_t format;
	uint32_t device;
	uint64_t offset;                      /* in the file */
	bool first;                           /* of an AUX buffer: with perf, where a header line comes */
	uint64_t total;                       /* bytes of the whole AUX buffer this run belongs to */
	uint32_t idx, cpu; uint64_t ref, aux_offset;
};
struct ptt_lost {                             /* what a file did not give, counted */
	uint64_t padding_records, stray_bytes, cut_bytes, unknown_records, truncated_aux;
	char words[512];                      /* "" when the file was whole */
};
struct ptt_reader;
struct ptt_reader_opts { uint8_t raw_format; /* PTT_4DW or PTT_8DW: the bytes are records and nothing else */ };
int ptt_reader_open(struct ptt_reader **ret, const struct bytes_in *in, const struct ptt_reader_opts *o, struct err *e);
void ptt_reader_close(struct ptt_reader *r);
/* 1 and *c; 0 at the end; negative only when nothing can be read at all. *c is valid until the next call. */
int ptt_reader_next(struct ptt_reader *r, struct ptt_chunk *c, struct err *e);
uint32_t ptt_reader_devices(const struct ptt_reader *r, const struct ptt_device **ret);
const struct ptt_lost *ptt_reader_lost(const struct ptt_reader *r);

/* ---- writing a file (pwrite.c): used by recording and by tests ------------------------- */
struct ptt_writer;
struct bytes_out { void *arg; int (*put)(void *arg, const void *p, size_t n); };
int ptt_writer_open(struct ptt_writer **ret, const struct bytes_out *out, const struct ptt_device *dev, uint32_t ndev, struct err *e);
int ptt_writer_aux(struct ptt_writer *w, uint32_t device, const void *p, size_t n, uint32_t flags);   /* one AUX commit */
int ptt_writer_close(struct ptt_writer *w);   /* the feature section; frees */

/* ---- transactions (match.c) ------------------------------------------------------------
 * Requests meet completions by (device, segment, requester, tag), in constant memory per outstanding request. */
struct ptt_match;
struct ptt_pair { struct tlp request; struct tlp_transaction t; uint16_t completer; };
enum ptt_event {
	PTT_NONE,                             /* a posted request, or a completion that does not end its request */
	PTT_OPENED,                           /* a non-posted request */
	PTT_DONE,                             /* the last completion: *pair is filled */
	PTT_ORPHAN,                           /* a completion without a request */
	PTT_REUSED,                           /* a request whose tag was still open: *pair is the one given up */
};
int ptt_match_open(struct ptt_match **ret, uint32_t most_outstanding);
void ptt_match_close(struct ptt_match *m);
enum ptt_event ptt_match_next(struct ptt_match *m, const struct tlp *t, struct ptt_pair *pair);
uint32_t ptt_match_outstanding(const struct ptt_match *m);
/* Walks what was never answered. */
void ptt_match_rest(struct ptt_match *m, void (*each)(void *arg, const struct ptt_pair *p), void *arg);

#endif
