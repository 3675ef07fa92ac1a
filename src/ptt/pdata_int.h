/*
 * pdata_int.h: perf.data as bytes, for the reader (pdata.c, pevent.c, raw.c) and the writer (pwrite.c).
 *
 *  file header, 104 bytes             pipe header, 16 bytes
 *   0 "PERFILE2"                       0 "PERFILE2"
 *   8 u64 104                          8 u64 16
 *  16 u64 size of a row of attrs      then records only: what a file has in its header and
 *  24 {off, size} attrs               its features comes as HEADER_ATTR and HEADER_FEATURE
 *  40 {off, size} data: records
 *  56 {off, size} (event types)
 *  72 u64[4] which features follow the data: at its end an {off, size} per set bit, in order, then their bodies
 *
 *  A row of attrs is a struct perf_event_attr and {off, size} of its ids. A record is {u32 type, u16 misc, u16 size}
 *  and its body; behind an AUXTRACE record stand as many bytes of AUX data as it says. All little-endian.
 *  Sources: tools/perf/Documentation/perf.data-file-format.txt, include/uapi/linux/perf_event.h.
 */
#ifndef TALLY_PTT_PDATA_INT_H
#define TALLY_PTT_PDATA_INT_H

#include <string.h>

#include "ptt/ptt.h"

#define PDATA_MAGIC "PERFILE2"
#define PDATA_HEADER 104u
#define PDATA_PIPE_HEADER 16u
#define PDATA_RECORD_MOST 65535u
#define PDATA_AUXTRACE 48u                 /* an AUXTRACE record without its data */
#define PDATA_AUXTRACE_PTT 6u              /* PERF_AUXTRACE_HISI_PTT */
#define PDATA_TIME_ABS 0x736261796c6c6174u /* "tallyabs", "tallydlt": ours, behind what perf has in an AUXTRACE_INFO */
#define PDATA_TIME_DELTA 0x746c64796c6c6174u
#define PDATA_DYNAMIC_TYPE 6u /* PMU types below are the kernel's generic ones */
#define PDATA_DEVICES_MOST 64u
#define PDATA_IDS_MOST 32768u

enum pdata_type {
	PDATA_R_LOST = 2,
	PDATA_R_AUX = 11,
	PDATA_R_ATTR = 64,
	PDATA_R_TRACING_DATA = 66,
	PDATA_R_ID_INDEX = 69,
	PDATA_R_AUXTRACE_INFO = 70,
	PDATA_R_AUXTRACE = 71,
	PDATA_R_EVENT_UPDATE = 78,
	PDATA_R_FEATURE = 80,
	PDATA_R_COMPRESSED = 81,
	PDATA_R_COMPRESSED2 = 83,
	PDATA_R_TYPES = 128, /* none is as high yet: what claims to be is damage */
};
enum pdata_feature { PDATA_F_EVENT_DESC = 12, PDATA_F_PMU_MAPPINGS = 16, PDATA_F_AUXTRACE = 18, PDATA_FEATURES = 256 };
/* PERF_SAMPLE_* that stand in a record's sample id */
enum pdata_sample {
	PDATA_S_TID = 1 << 1,
	PDATA_S_TIME = 1 << 2,
	PDATA_S_ID = 1 << 6,
	PDATA_S_CPU = 1 << 7,
	PDATA_S_STREAM_ID = 1 << 9,
	PDATA_S_IDENTIFIER = 1 << 16,
};
#define PDATA_SAMPLE_ID_ALL (1u << 18) /* of the attr's flags */
#define PDATA_UPDATE_NAME 2u           /* what an EVENT_UPDATE changes */
#define PDATA_AUX_TRUNCATED 1u         /* of an AUX record's flags */
#define PDATA_AUX_PARTIAL 4u
#define PDATA_GAVE_MOST 64u    /* runs of a stream that are known again when they come twice */
#define PDATA_GAVE_BYTES 4096u /* of their front, which are compared */
#define PDATA_CUTS_MOST 8u     /* AUX records with lost data that an event keeps ahead of the data */

static inline uint16_t pdata_u16(const uint8_t *p)
{
	return (uint16_t)(p[0] | p[1] << 8);
}
static inline uint32_t pdata_u32(const uint8_t *p)
{
	return pdata_u16(p) | (uint32_t)pdata_u16(p + 2) << 16;
}
static inline uint64_t pdata_u64(const uint8_t *p)
{
	return pdata_u32(p) | (uint64_t)pdata_u32(p + 4) << 32;
}

/* ---- events and devices (pevent.c) ------------------------------------------------ */

/* one opened event, known by its id */
struct pdata_event {
	uint32_t type, idx;
	uint64_t aux_end; /* the farthest end that its AUX records told, 0: none yet */
	struct {
		uint64_t from, to;
	} cut[PDATA_CUTS_MOST]; /* AUX records that lost data, before, in or behind them */
	uint32_t ncuts;
};
struct pdata_name {
	uint32_t type;
	char name[32];
};
struct pdata_index {
	struct ptt_device dev[PDATA_DEVICES_MOST];
	bool named[PDATA_DEVICES_MOST], gave[PDATA_DEVICES_MOST];
	uint32_t ndev;
	struct pdata_name name[PDATA_DEVICES_MOST];
	uint32_t nnames;
	struct {
		uint32_t type;
		uint64_t config;
	} attr[PDATA_DEVICES_MOST];
	uint32_t nattrs;
	struct arena pages;       /* of the events */
	struct map by_id, by_idx; /* u64 id; {idx, type} */
	uint64_t ids_seen;
	struct pdata_event *latest; /* that an AUX record named last */
	uint32_t id_back;           /* where a record's id is, in bytes from its end; 0: it has none */
	uint32_t foreign;           /* type of AUX data that is not ours, 0: none was seen */
};
struct pdata_aux {
	uint64_t offset, size, flags;
	struct pdata_event *event;
};

int pdata_attr(struct pdata_index *x, const uint8_t *attr, size_t size);
int pdata_attr_ids(struct pdata_index *x, uint32_t type, const uint8_t *p, size_t n);
int pdata_id_index(struct pdata_index *x, const uint8_t *p, size_t n);
void pdata_auxtrace_info(struct pdata_index *x, const uint8_t *p, size_t n);
void pdata_event_update(struct pdata_index *x, const uint8_t *p, size_t n);
void pdata_feature(struct pdata_index *x, uint64_t feature, const uint8_t *p, size_t n);
/* p is a whole AUX record. False when it is too short. */
bool pdata_aux(const struct pdata_index *x, const uint8_t *p, size_t n, struct pdata_aux *ret);
/* The device that AUX data of `idx` came from and, if known, its event; -1: it is foreign. *sure is false when
 * nothing told which of several. */
int pdata_device_of(struct pdata_index *x, uint32_t idx, struct pdata_event **event, bool *sure);
uint32_t pdata_device_add(struct pdata_index *x, uint32_t type, bool tag14);
void pdata_index_free(struct pdata_index *x);

/* ---- the reader ------------------------------------------------------------------- */

/* the AUX data of one device and buffer, from run to run */
struct pdata_stream {
	uint32_t device, idx;
	uint64_t next;             /* AUX offset where it goes on */
	bool used, rounded;        /* rounded: next may be up to 7 bytes too far */
	bool ended;                /* what is missing behind its last run was said */
	uint8_t format;            /* 0: not known yet */
	uint8_t tail[4 * PTT_8DW]; /* the front of a record that was cut: its rest comes with the next run */
	uint32_t ntail;
	bool torn;        /* something is lost behind it, so its rest won't come */
	uint64_t tail_at; /* where in the file it is */
	uint32_t gaps;    /* of struct ptt_reader, that it knows of */
	uint8_t time;     /* enum ptt_time of its records; AUTO: nobody knows yet */
	uint64_t most;    /* the farthest AUX offset so far */
	uint64_t missing; /* bytes in front of it that did not come so far */
	struct {
		uint64_t offset, total, hash;
	} gave[PDATA_GAVE_MOST]; /* its last runs */
	uint32_t ngave;
	struct ptt_gap gap; /* before its next record */
};
struct pdata_run {               /* bytes that are records: AUX data, or a raw file */
	uint64_t start, at, end; /* end is UINT64_MAX when it is where the file ends */
	uint64_t rest;           /* where the perf records go on */
	struct ptt_chunk c;      /* what all chunks of it have in common */
	struct pdata_event *event;
	struct pdata_stream *stream;
	uint64_t bad_at, bad_to; /* damage ahead, and where records go on behind it; bad_to 0: none is known */
	uint64_t cut;            /* bytes that are missing in it: the perf records go on so much earlier */
	bool told_cut;           /* and that was said */
	uint64_t zeros;          /* bytes of zeros right before `at` */
	uint64_t splice_at;      /* whole records were cut out in front of this place; 0: not as far as is known */
	uint8_t splice_why;      /* enum ptt_gap_why */
	bool unsure;             /* whose it is nothing told, so its event doesn't say its format */
	bool settled;            /* the format is known: something other than zeros was there */
	bool doubt;              /* the end may be rounded up: no AUX record told it yet */
	bool open;
};
/* clang-format off */
#define PDATA_TROUBLES(X)                                                                         \
	X(UNFINISHED, "the recording was not finished: the header does not say where the data ends") \
	X(FEATURES, "the sections after the data are damaged or cut: names may be missing")          \
	X(READ, "reading failed before the end")                                                     \
	X(NO_INFO, "no AUXTRACE_INFO says what the AUX data is: taken for PTT data")                 \
	X(MARKED, "the format is said to be 4DW, but the records begin with the marker of 8DW, which none of 4DW can: they are " \
		  "read as 8DW")                                                                  \
	X(NO_MARKER, "the format is said to be 8DW, and no record of some AUX data begins with its marker: --format=4dw reads it as 4DW") \
	X(LIE, "an AUXTRACE record claims more data than the file has room for")                     \
	X(DEVICE, "nothing tells which device some AUX data is of: given to the first")              \
	X(ZSTD, "compressed records could not be read: sizes of AUX data may be rounded up")         \
	X(ZSTD_GONE, "there are compressed records, and libzstd is not installed")
/* clang-format on */
enum pdata_trouble {
#define X(name, text) PDATA_T_##name,
	PDATA_TROUBLES(X)
#undef X
};
struct ptt_reader {
	struct bytes_in in;        /* the caller's, or what is unpacked from it */
	bool raw;                  /* the bytes are records and nothing else */
	struct ptt_unpack *unpack; /* NULL: the file is not compressed */
	struct ptt_reader_opts opts;
	uint64_t at;          /* the next perf record */
	uint64_t limit;       /* end of the data section, UINT64_MAX when not known */
	uint64_t features[4]; /* which the header says follow the data */
	uint64_t promised;    /* where the header says that it ends, 0: it does not */
	uint64_t eof;         /* where the bytes ended, UINT64_MAX: not yet */
	struct pdata_run run;
	struct pdata_stream stream[PDATA_DEVICES_MOST];
	uint32_t gaps; /* that no event was named for: they are all streams' */
	uint8_t gap_why;
	struct pdata_index x;
	struct ptt_zstd *zstd; /* of the compressed records */
	uint8_t *inner;        /* what they hold, up to the last whole record */
	size_t inner_n;
	uint32_t troubles; /* bits of enum pdata_trouble */
	int read_errno;    /* of PDATA_T_READ; 0: the bytes' source has none */
	uint64_t lost_events, passed_over;
	struct ptt_lost lost;
};
static inline void pdata_trouble(struct ptt_reader *r, enum pdata_trouble t)
{
	r->troubles |= 1u << t;
}
/* As bytes_in's, but an error is the end of the bytes; notes where that is. */
size_t pdata_bytes(struct ptt_reader *r, uint64_t off, size_t n, const uint8_t **p);
/* The bytes ended at r->eof, though more were there once, up to `end`. */
void pdata_cut(struct ptt_reader *r, uint64_t end);

/* raw.c */
/* 1 and an empty chunk for a gap that no records follow; 0: there is none left. At the end of the data. */
int pdata_stream_end(struct ptt_reader *r, struct ptt_chunk *c);
/* Whether the bytes at p are records of `format`, as far as the marker tells. */
bool pdata_raw_is(struct ptt_reader *r, enum ptt_format format);
/* Where in [from, to) records of 4DW move by `shift`: the end of the last one before. *gain: how much more those behind
 * it look like records then, 2 or 3 each. */
uint64_t pdata_cut_find(struct ptt_reader *r, uint64_t from, uint64_t to, uint64_t shift, int64_t *gain);
/* Whether the run's AUX data, of the same offset, was given before. */
bool pdata_run_is_repeated(struct ptt_reader *r, struct pdata_stream *s, const struct pdata_run *run);
void pdata_run_begin(struct ptt_reader *r, const struct pdata_run *run);
/* 1 and a chunk; 0: the run is over and closed. */
int pdata_run_next(struct ptt_reader *r, struct ptt_chunk *c);
void pdata_raw_begin(struct ptt_reader *r);

/* ---- splice.c --------------------------------------------------------------------- */

/* How records are to be read. */
struct splice_how {
	uint8_t format; /* enum ptt_format */
	bool counts;    /* Time counts on, and is no delta */
	bool twice;     /* packets between devices may be there twice */
	bool tag14;
};
/* Where in [from, to) of the file whole records were cut out, as something else has told: the place of the first behind
 * the cut, 0 when nothing tells. */
uint64_t ptt_splice_find(struct ptt_reader *r, uint64_t from, uint64_t to, const struct splice_how *how);
/* How many bytes of 8DW records at p stand in front of a place where records are missing; n: there is no such place. */
size_t ptt_splice_ahead(const uint8_t *p, size_t n, const struct splice_how *how);

/* ---- zstd.c ----------------------------------------------------------------------- */

/* A stream of zstd frames. -TALLY_ENOTSUP: libzstd is not there; -TALLY_ENOMEM. */
int ptt_zstd_open(struct ptt_zstd **ret);
void ptt_zstd_close(struct ptt_zstd *z);
/* Takes from *in, fills out; returns how many bytes came out, -TALLY_ECORRUPT with ptt_zstd_why(). */
int64_t ptt_zstd_step(struct ptt_zstd *z, const uint8_t **in, size_t *n, uint8_t *out, size_t room);
const char *ptt_zstd_why(const struct ptt_zstd *z);

bool ptt_is_zstd(const uint8_t *p, size_t n);
/* What a compressed file holds, as a stream. */
int ptt_unpack_open(struct ptt_unpack **ret, struct bytes_in *out, const struct bytes_in *in, struct err *e);
void ptt_unpack_close(struct ptt_unpack *u);
/* In words: that the content ended before its time, or did not end the file; NULL: neither. */
const char *ptt_unpack_trouble(const struct ptt_unpack *u);

#endif
