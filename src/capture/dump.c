/*
 * dump.c: the records of a trace as text, one after the other.
 *
 * A form is a row: what comes first and what a chunk becomes.  perf's forms are
 * made from the bytes; the others from decoded records, which a filter may
 * leave out.  Records that a filter leaves out are decoded all the same: the
 * time of the next one counts from them.
 */
#include "capture/capture.h"
#include "capture/filter.h"
#include "provider/ptt_record.h"
#include "ptt/dump.h"

struct dump {
	struct tally_ptt *t;
	struct tally_ptt_dump_opts o;
	struct ptt_pass pass;
	struct ptt_filter *filter;
};

struct form {
	void (*header)(struct buf *to, const struct dump *d);
	void (*record)(struct buf *to, const struct dump *d, const struct tlp *r, const char *device);
	bool is_perf, spec;
};

static void line_header(struct buf *to, const struct dump *d)
{
	(void)d;
	ptt_dump_line_header(to);
}

static void dump_put_line(struct buf *to, const struct dump *d, const struct tlp *r, const char *device)
{
	(void)d;
	ptt_dump_line(to, r, device);
}

static void dump_put_json(struct buf *to, const struct dump *d, const struct tlp *r, const char *device)
{
	(void)d;
	ptt_dump_json(to, r, device);
}

static void csv_header(struct buf *to, const struct dump *d)
{
	ptt_dump_csv_header(to, d->o.separator ? d->o.separator : ',');
}

static void dump_put_csv(struct buf *to, const struct dump *d, const struct tlp *r, const char *device)
{
	ptt_dump_csv(to, r, device, d->o.separator ? d->o.separator : ',');
}

static const struct form forms[] = {
	[TALLY_FORMAT_TEXT] = { line_header, dump_put_line, false, false },
	[TALLY_FORMAT_JSON] = { NULL, dump_put_json, false, false },
	[TALLY_FORMAT_CSV] = { csv_header, dump_put_csv, false, false },
	[TALLY_FORMAT_PERF] = { NULL, NULL, true, false },
	[TALLY_FORMAT_PERF_SPEC] = { NULL, NULL, true, true },
};

static int chunk_records(struct dump *d, const struct ptt_chunk *c, struct ptt_stream *s)
{
	const struct form *form = &forms[d->o.format];
	const char *device = ptt_device_name(&d->pass, c->device);
	size_t size = c->format * 4u;
	struct tlp r;

	for (size_t at = 0; at + size <= c->n; at += size) {
		int keep = 1;

		if (ptt_is_padding(c->p + at, c->format))
			continue;
		ptt_decode_in(c->p + at, c->p + c->n, &s->o, &s->clock, &r);
		r.device = c->device;
		r.offset = c->offset + at;
		if (d->filter && (keep = ptt_filter_keeps(d->filter, &r, device, &d->t->err)) < 0)
			return keep;
		if (keep)
			form->record(&d->t->out, d, &r, device);
		if (d->t->out.n >= PTT_FLUSH_BYTES && (keep = ptt_flush(d->t, d->o.out, d->o.arg)) < 0)
			return keep;
	}
	return 0;
}

/* 64 KiB of records at a time: their text is a dozen times as long. */
static int chunk_perf(struct dump *d, const struct ptt_chunk *c)
{
	struct ptt_chunk part = *c;
	int rc = 0;

	for (size_t at = 0; rc >= 0 && at < c->n; at += part.n) {
		part.p = c->p + at;
		part.n = c->n - at < (64u << 10) ? c->n - at : 64u << 10;
		part.offset = c->offset + at;
		part.at = c->at + at;
		part.first = c->first && at == 0;
		ptt_dump_perf(&d->t->out, &part, forms[d->o.format].spec);
		rc = ptt_flush(d->t, d->o.out, d->o.arg);
	}
	return rc;
}

static void filter_note(const struct dump *d)
{
	struct buf why = { 0 };
	uint64_t n = d->filter ? ptt_filter_faults(d->filter, &why) : 0;

	if (n)
		ptt_note(d->t, "the filter failed for %llu record%s, which %s left out: %s", (unsigned long long)n,
			 n == 1 ? "" : "s", n == 1 ? "is" : "are", why.p ? why.p : "");
	buf_free(&why);
}

static int dump_run_pass(struct dump *d)
{
	const struct form *form = &forms[d->o.format];
	struct ptt_chunk c;
	struct ptt_stream *s;
	int rc = ptt_pass_open(&d->pass, d->t, form->is_perf);

	if (rc >= 0 && form->header)
		form->header(&d->t->out, d);
	while (rc >= 0 && (rc = ptt_pass_next(&d->pass, &c, &s)) > 0)
		rc = form->is_perf ? chunk_perf(d, &c) : chunk_records(d, &c, s);
	if (rc >= 0)
		rc = ptt_flush(d->t, d->o.out, d->o.arg);
	if (rc >= 0) {
		ptt_pass_notes(&d->pass, !form->is_perf);
		filter_note(d);
	}
	ptt_pass_close(&d->pass);
	return rc;
}

int tally_ptt_dump(struct tally_ptt *t, const struct tally_ptt_dump_opts *opts)
{
	struct dump d = { .t = t };
	struct err e = { 0 };
	int rc = 0;

	ptt_enter(t);
	if (!opts_take(&d.o, sizeof(d.o), opts) || d.o.format > TALLY_FORMAT_PERF_SPEC)
		return ptt_fail(t, TALLY_EINVAL, "unknown options: they are of a newer library");
	if (d.o.filter && forms[d.o.format].is_perf)
		return ptt_fail(t, TALLY_EINVAL, "the perf formats show all records and take no filter");
	if (d.o.filter)
		rc = ptt_filter_open(&d.filter, d.o.filter, &e);
	rc = rc < 0 ? ptt_failed_as(t, &e, rc) : dump_run_pass(&d);
	ptt_filter_close(d.filter);
	return rc;
}

const char *tally_ptt_filter_field(uint32_t i, const char **help)
{
	return ptt_record_member(i, help);
}
