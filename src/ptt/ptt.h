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
#include "base/file.h"
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
	uint32_t doubt; /* the step to the last record, when nothing behind that one could judge it; else 0 */
	uint8_t strays; /* records so far whose Time is behind `last` */
	bool started;
};
struct ptt_decode_opts {
	uint8_t format; /* enum ptt_format */
	uint8_t time;   /* ABS or DELTA: what ptt_time_guess() or the user says */
	bool tag14;     /* the newer layout: 14-bit tags and segments */
};
/* Fills *t from the record at p (format's DWs); device and offset are the caller's. */
void ptt_decode(const uint8_t *p, const struct ptt_decode_opts *o, struct ptt_clock *c, struct tlp *t);
/* The same of a record in a chunk that ends at `end`: a Time that is too far ahead, as the records behind it tell,
 * counts as that of the record before. */
void ptt_decode_in(const uint8_t *p, const uint8_t *end, const struct ptt_decode_opts *o, struct ptt_clock *c,
		   struct tlp *t);
/* Whether a record of 8DW may begin so: bits 31:11 are ones, which no record of 4DW has. */
static inline bool ptt_is_marker(uint32_t dw0)
{
	return dw0 >> 11 == 0x1fffff;
}
/* The format of a chunk by its first DW; whether a record is padding (all zero). */
enum ptt_format ptt_format_of(const uint8_t *p, size_t n);
bool ptt_is_padding(const uint8_t *p, enum ptt_format f);
/* Tells absolute from delta time by a chunk's records; *sure is false when the evidence is weak. Weak evidence of 4DW
 * is ABS. */
enum ptt_time ptt_time_guess(const uint8_t *p, size_t n, enum ptt_format f, bool *sure);
/* 8DW, absolute time: whether the Time of the record at p is out of order, as the records up to `end` go on from
 * `last`. */
bool ptt_time_is_stray(const uint8_t *p, const uint8_t *end, uint32_t last);
/* 4DW: whether some records of the chunk are further apart than 11 bits of time can tell. */
bool ptt_time_is_sparse(const uint8_t *p, size_t n, enum ptt_format f, enum ptt_time is);

/* ---- reading a file (pdata.c, raw.c) ------------------------------------------------
 * The reader asks for bytes through `struct bytes_in` (base/file.h implements it over a file or a
 * pipe; tests over memory) and yields chunks of records in file order. */
#define PTT_WINDOW_MOST BYTES_WINDOW /* most bytes asked for at once */

struct ptt_device {
	char name[32];     /* "hisi_ptt0_2" when the file says it, else "ptt0", "ptt1" ... */
	uint32_t pmu_type; /* as the kernel of the recording numbered it, 0 when not known */
	uint64_t config;
	bool tag14;   /* the file announces 14-bit tags and segments */
	uint8_t time; /* enum ptt_time: what its Time counts from; AUTO: the recorder did not know */
	uint32_t cpu; /* its event was opened on */
};
/* Records of a device are missing. Where each of these is known from is in doc/spec-ptt-trace.md. */
enum ptt_gap_why {
	PTT_GAP_NONE,
	PTT_GAP_OFFSETS,       /* the offsets of AUX data jump; back: bytes are not known */
	PTT_GAP_TRUNCATED,     /* an AUX record is flagged: data was lost before, in or behind what follows */
	PTT_GAP_TRUNCATED_END, /* that is over: the same gap, seen from its other side */
	PTT_GAP_LOST,          /* the kernel lost records about AUX data */
	PTT_GAP_DAMAGE,        /* bytes that make no record */
	PTT_GAP_CUT,           /* bytes were cut out of AUX data, here */
	PTT_GAP_CUT_SOMEWHERE, /* the same: somewhere in the AUX data behind, as nothing tells where */
	PTT_GAP_BROKEN_OFF,    /* requests and completions break off, and nothing else tells */
	PTT_GAP_BROKEN_END,    /* that is over: they are missing between the two, at the latest here */
	PTT_GAP_BACK,          /* the offsets of AUX data go back: what is behind comes late */
	PTT_GAP_TIME,  /* Time goes back, to what has passed already: records are in the wrong place, or missing */
	PTT_GAP_SHORT, /* AUX records tell of more data than there is */
};
struct ptt_gap {
	uint64_t bytes;  /* so many are missing at least; 0: not known */
	uint64_t passed; /* so many are there, and make no record */
	uint64_t late;   /* so many that were missing before come now */
	uint8_t why;     /* enum ptt_gap_why */
};
/* What an event's direction and types let its trace show of requests and their completions. */
enum ptt_coverage {
	PTT_COVERAGE_KNOWN = 1,          /* the event is known; else nothing tells, and the last two are not set */
	PTT_COVERAGE_DUPLICATES = 2,     /* packets between devices may be in it at both their ports */
	PTT_COVERAGE_NO_COMPLETIONS = 4, /* completions of some requests that are in it can't be */
	PTT_COVERAGE_NO_REQUESTS = 8,    /* requests of some completions that are in it can't be */
	PTT_COVERAGE_NO_PEERS = 16,      /* completions between devices can't be, but where they leave by this port */
};
/* a run of whole records */
struct ptt_chunk {
	const uint8_t *p;
	size_t n; /* bytes: whole records of `format` */
	uint8_t format;
	uint32_t device;
	uint64_t offset; /* in the file */
	bool first;      /* of an AUX buffer: with perf, where a header line comes */
	uint64_t total;  /* bytes of the whole AUX buffer this run belongs to */
	uint64_t at;     /* of the run in that buffer, in bytes: the offsets that perf prints */
	uint32_t idx, cpu, tid;
	uint64_t ref, aux_offset;
	uint64_t config;    /* of its event; 0: not known */
	uint8_t coverage;   /* enum ptt_coverage: bits */
	struct ptt_gap gap; /* right before it; at the end of the data with an empty chunk */
};
struct ptt_lost {                 /* what a file did not give, counted */
	uint64_t padding_records; /* zero records; padding is no loss and has no words */
	uint64_t stray_bytes;     /* at the ends of AUX data: too few for a record, and no rest follows */
	uint64_t damaged_bytes;   /* between records of 8DW: where no marker is, up to the next one */
	uint64_t cut_bytes;       /* that the file says it has, and has not */
	uint64_t cut_within;      /* of AUX data, by where the perf records behind it are */
	uint64_t unknown_records; /* places where no perf record is: passed over to the next AUX buffer */
	uint64_t truncated_aux;   /* AUX buffers in which the driver lost data */
	uint64_t blank_bytes;     /* zeros that records follow, so they are no padding */
	uint64_t repeated_bytes;  /* of AUX data that is there twice: passed over */
	uint64_t untaken_bytes;   /* that AUX records tell of behind the end of AUX data */
	/* of 4DW that do not look like records, where some are stray: nobody knows where those begin */
	uint64_t odd_bytes;
	uint64_t gaps, gap_bytes; /* places where records of a device are missing; bytes as far as known */
	char words[512];          /* once ptt_reader_next() has said 0; "" when the file was whole */
};
struct ptt_reader;
struct ptt_reader_opts {
	/* PTT_4DW or PTT_8DW: what the records are, whatever a perf.data file's event says. Bytes that are no such
	 * file are records and nothing else, and others than these -TALLY_EINVAL, as far as the marker of 8DW tells */
	uint8_t format;
	bool as_perf; /* all that perf prints: padding too, and sizes as they were rounded up */
};
/* `in` stays the caller's and must live as long as the reader; files compressed with zstd are seen
 * through. Goes as far as the first AUX data. -TALLY_ECORRUPT: the header is damaged, or it is no perf.data
 * file; -TALLY_EINVAL: it holds no PTT data; -TALLY_ENOTSUP: big-endian, or libzstd is missing; -TALLY_EIO. */
int ptt_reader_open(struct ptt_reader **ret, const struct bytes_in *in, const struct ptt_reader_opts *o, struct err *e);
void ptt_reader_close(struct ptt_reader *r);
/* Right after opening: there is AUX data, or a raw file that isn't empty. Without that the words of ptt_reader_lost()
 * may say why. */
bool ptt_reader_has_data(struct ptt_reader *r);
/* 1 and *c; 0 at the end; negative only when nothing can be read at all. *c is valid until the next call. */
int ptt_reader_next(struct ptt_reader *r, struct ptt_chunk *c, struct err *e);
/* Devices as far as they are known. The name of one that gave a chunk stays to the end of the data; a stream may
 * have better ones behind that. */
uint32_t ptt_reader_devices(const struct ptt_reader *r, const struct ptt_device **ret);
const struct ptt_lost *ptt_reader_lost(const struct ptt_reader *r);

/* ---- writing a file (pwrite.c): used by recording and by tests ------------------------- */
/* With out->patch a file whose header is right after every commit; without it perf's pipe format. In both
 * a process that is killed leaves a readable file. Errors: -TALLY_ENOMEM, -TALLY_EINVAL (no such device, or
 * too many), what out->put returns. */
struct ptt_writer;
int ptt_writer_open(struct ptt_writer **ret, const struct bytes_out *out, const struct ptt_device *dev, uint32_t ndev,
		    struct err *e);
int ptt_writer_aux(struct ptt_writer *w, uint32_t device, const void *p, size_t n, uint32_t flags); /* one AUX commit */
void ptt_writer_lost(struct ptt_writer *w, uint32_t device, uint64_t n); /* so many bytes are missing before its next */
int ptt_writer_close(struct ptt_writer *w);                              /* the feature section; frees; NULL is fine */

/* ---- transactions (match.c) ------------------------------------------------------------
 * Requests meet completions by (device, segment, requester, tag), in constant memory per outstanding request. */
struct ptt_match;
struct ptt_pair {
	struct tlp request;
	struct tlp_transaction t;
	uint16_t completer;
};
enum ptt_event {
	PTT_NONE,           /* a posted request, or a completion that does not end its request */
	PTT_OPENED,         /* a non-posted request */
	PTT_DONE,           /* the last completion: *pair is filled */
	PTT_UNEXPECTED_CPL, /* a completion without a request */
	PTT_DUPLICATE,      /* a packet between peers that was seen before, at the other port: it counts once */
	PTT_AFTER_GAP,      /* the same, but the request may be in or before a gap of the device */
	PTT_REUSED,         /* a request whose tag was still open: *pair is the one given up */
	PTT_EVICTED,        /* a request that found no room: *pair is the oldest, which was given up */
};
int ptt_match_open(struct ptt_match **ret, uint32_t most_outstanding);
void ptt_match_close(struct ptt_match *m);
enum ptt_event ptt_match_next(struct ptt_match *m, const struct tlp *t, struct ptt_pair *pair);
/* Whether packets between peers may come twice from this device: 4DW of direction 2 holds what comes in at one port and
 * goes out at the other. */
void ptt_match_twice(struct ptt_match *m, uint32_t device, bool twice);
/* Records of a device are missing: what it has open is over, and handed to each (NULL: to nobody). Returns how many. */
uint32_t ptt_match_gap(struct ptt_match *m, uint32_t device, void (*each)(void *arg, const struct ptt_pair *p),
		       void *arg);
/* Walks what was never answered. */
void ptt_match_rest(struct ptt_match *m, void (*each)(void *arg, const struct ptt_pair *p), void *arg);

/* ---- posted requests that may be there twice (twice.c) -------------------------------------
 * Of records of 4DW in direction 2, in their order. */
struct ptt_twice;
int ptt_twice_open(struct ptt_twice **ret);
void ptt_twice_close(struct ptt_twice *t); /* NULL is fine */
/* record: a memory write. Whether it may be the second record of one before: at most as many are as this tells of. */
bool ptt_twice_next(struct ptt_twice *t, const uint8_t *record, uint32_t device);

#endif
