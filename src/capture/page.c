/*
 * page.c: which tables a report has, and from which figures.
 *
 * Every form of a report is made of the page built here, so text, JSON and HTML
 * cannot differ.  Keys are what programs rely on: they may be added, but none is
 * renamed or gets another meaning; `type` is the part's own.  Parts come in the order in which an engineer
 * asks: what is this and can it be trusted, what moved, who moved it, how long did it
 * take, what went wrong, and what the trace can't tell.
 */
#include <stdio.h>
#include <string.h>

#include "capture/page_int.h"
#include "ptt/dump.h"
#include "ptt/rule.h"

static double page_share(uint64_t part, uint64_t all)
{
	return all ? (double)part / (double)all : 0;
}

static struct an_cell share_or_none(uint64_t part, uint64_t all)
{
	return all ? AN_D(page_share(part, all)) : AN_NONE;
}

static struct an_cell page_cell_bound(bool at_most, uint64_t v)
{
	return (struct an_cell){ .u = v, .at_most = at_most && v };
}

struct an_cell page_cell_about(bool about, struct an_cell c)
{
	c.approximate = about && !c.none;
	return c;
}

/* Whether times are right behind a gap: they are where each record of 8DW has an absolute time. Other times count on
 * from record to record, and lose what the missing ones took. */
static bool keeps_time(const struct ptt_report *r)
{
	bool keeps = true;

	for (uint32_t i = 0; i < r->ndevices; i++)
		keeps &= r->device[i].format == PTT_8DW && r->device[i].time == PTT_TIME_ABS;
	return keeps;
}

/* Where it was found weakly what times count from, nothing of them is certain. Where records may be missing, latencies
 * may be of wrong pairs; where times are deltas, or short, what is missing takes its time with it; and where packets
 * are there twice, a gap may have taken the first record of one and left the second. */
static bool latency_is_about(const struct ptt_report *r)
{
	return r->may_mispair || (r->may_miss && !keeps_time(r)) || (r->gaps && r->duplicates) || !r->time_sure;
}

/* With 11 bits of time whole turns of the counter may go unseen between two records. A latency can only be too short
 * then, so it is a lower bound. */
static struct an_cell page_cell_latency(const struct ptt_page_in *in, struct an_cell c)
{
	c.at_least = in->r->wraps && !c.none;
	return page_cell_about(latency_is_about(in->r), c);
}

/* Wrong pairs take longer than right ones, as long as times count on over what is missing. */
static struct an_cell page_cell_most(const struct ptt_page_in *in, const struct ptt_hist *h)
{
	const struct ptt_report *r = in->r;

	if (!h || !h->n)
		return AN_NONE;
	if (keeps_time(r) && r->time_sure)
		return page_cell_bound(r->may_mispair, h->most);
	return page_cell_latency(in, AN_U(h->most));
}

static struct an_cell page_cell_time(bool known, uint64_t v)
{
	return known ? AN_U(v) : AN_NONE;
}

static struct an_cell page_cell_quantile(const struct ptt_page_in *in, const struct ptt_hist *h, uint32_t per_mille)
{
	struct an_cell c = page_cell_latency(in, h && h->n ? AN_U(ptt_hist_at(h, per_mille)) : AN_NONE);

	if (c.at_least && !c.approximate)
		c.u = ptt_hist_at_least(h, per_mille);
	return c;
}

/* The time of a record, in ticks from the first of its device. */
static struct an_cell page_cell_moment(const struct ptt_device_row *d, bool known, uint64_t time)
{
	struct an_cell c = page_cell_time(known, time);

	c.at_least = known && d->span_at_least;
	return page_cell_about(d->moved || !d->time_sure, c);
}

struct an_cell page_cell_span(bool sure, bool at_least, uint64_t span)
{
	return (struct an_cell){ .u = span, .at_least = at_least, .approximate = !sure };
}

/* Over a span that may have been longer by an unknown part an average is no bound: more or less may have been open
 * meanwhile. */
static struct an_cell page_cell_mean(const struct ptt_report *r, bool known, bool span_at_least, uint64_t ticks,
				     uint64_t span)
{
	return page_cell_about(r->may_miss || span_at_least || !r->time_sure,
			       known ? AN_D(page_share(ticks, span)) : AN_NONE);
}

static struct an_cell page_cell_peak(const struct ptt_report *r, bool known, bool at_least, uint64_t peak)
{
	struct an_cell c = page_cell_time(known, peak);

	c.at_most = known && r->peak_is_bound;
	c.at_least = known && at_least;
	return page_cell_about(r->may_miss, c);
}

/* Of what follows from pairs of requests and completions. */
static struct an_cell page_cell_pairs(const struct ptt_report *r, uint64_t v)
{
	return page_cell_about(r->may_mispair, page_cell_time(r->matched, v));
}

/* at_most: writes may be recorded twice, so the count is an upper bound. again: a packet's first record may be missing
 * and its second counted, so it is approximate. */
static struct an_cell page_cell_count(bool again, bool at_most, uint64_t v)
{
	return page_cell_about(again, page_cell_bound(at_most, v));
}

/* Whether packets are recorded twice and one record of a pair may be missing: then the other counts as a packet. */
static bool counts_again(const struct ptt_report *r)
{
	return r->may_mispair && r->duplicates;
}

/* A segment is shown only where there is one. */
static const char *page_name_bdf(char room[static PTT_BDF_MOST], uint16_t segment, uint16_t id)
{
	ptt_bdf_text(room, segment, id);
	return room;
}

static const char *type_name(uint8_t index)
{
	const struct tlp_type *t = tlp_type_at(index);

	return t ? t->name : "reserved";
}

uint32_t page_limit_rows(const struct ptt_page_in *in, uint32_t n, struct an_part *table)
{
	uint32_t shown = n < in->top ? n : in->top;

	if (table)
		table->table.left_out = n - shown;
	return shown;
}

/* Of a table that is short by nature, once it is there: only who says --top has it cut. */
static void cut_short(const struct ptt_page_in *in, struct an_part *table)
{
	uint32_t rows = table ? table->table.ncells / table->table.ncols : 0;

	if (!in->top_told || rows <= in->top)
		return;
	table->table.left_out += rows - in->top;
	table->table.ncells = in->top * table->table.ncols;
}

void page_skip_columns(struct an_part *table, uint32_t first, uint32_t last)
{
	for (uint32_t i = first; table && i <= last; i++)
		table->table.text_skips |= 1u << i;
}

/* Requesters, addresses and times of two devices may be equal: with several, text has the device in every row. */
static void lead_device(const struct ptt_page_in *in, struct an_part *table, uint32_t column)
{
	if (in->r->ndevices < 2)
		page_skip_columns(table, column, column);
	else if (table)
		table->table.text_leads |= 1u << column;
}

/* ---- what this is ---------------------------------------------------------------------- */

/* Of what errors and missing records have in common. */
static struct an_cell page_cell_error(const struct ptt_report *r, uint64_t v)
{
	return r->matched ? page_cell_count(r->twice_unsure, r->may_miss && !r->twice_unsure, v) : AN_NONE;
}

static const char *time_text(uint8_t time)
{
	return time == PTT_TIME_ABS ? "absolute" : time == PTT_TIME_DELTA ? "deltas" : "different";
}

static const char *time_known(const struct ptt_page_in *in, bool sure)
{
	return in->time_told ? "told" : in->time_recorded ? "recorded" : sure ? "found" : "found weakly";
}

static bool is_doubtful(const struct ptt_page_in *in)
{
	return !in->r->time_sure; /* what the user says is sure */
}

/* A title over latencies: whoever reads no further than these must know it, too. */
static const char *title_of_latency(struct an_page *p, const struct ptt_page_in *in, const char *title)
{
	return is_doubtful(in) ? arena_printf(&p->arena, "%s (doubtful: times were found weakly)", title) : title;
}

/* Over a picture, whose figures can't be marked one by one. */
static const char *title_of_picture(struct an_page *p, const struct ptt_page_in *in, const char *title)
{
	const char *marked =
		is_doubtful(in)         ? title_of_latency(p, in, title) :
		latency_is_about(in->r) ? arena_printf(&p->arena, "%s (approximate: records may be missing)", title) :
		in->r->wraps            ? arena_printf(&p->arena, "%s (at least: time has 11 bits)", title) :
					  title;

	return marked ? marked : title;
}

static const char *doubt_of_latency(const struct ptt_page_in *in)
{
	if (is_doubtful(in))
		return " Latencies are doubtful: times were found weakly.";
	if (latency_is_about(in->r))
		return " Latencies behind ~ may be off: records may be missing.";
	return in->r->wraps ? " Latencies are lower bounds: 11 bits of time hide gaps of 2048 ticks and more." : "";
}

static void page_add_summary(struct an_page *p, const struct ptt_page_in *in)
{
	const struct ptt_report *r = in->r;
	struct an_part *f = an_page_facts(p, "summary", "Summary");

	an_fact(p, f, "file", "file", AN_TEXT, AN_S(in->file));
	an_fact(p, f, "records", "records", AN_COUNT, AN_U(r->records));
	an_fact(p, f, "record_bytes", "size of the records", AN_BYTES, AN_U(r->record_bytes));
	const bool again = counts_again(r);
	if (r->duplicates)
		an_fact(p, f, "duplicates", "duplicate records of a packet", AN_COUNT,
			page_cell_count(again, false, r->duplicates));
	if (r->posted_twice)
		an_fact(p, f, "posted_duplicates_at_most", "posted, perhaps seen twice", AN_COUNT,
			AN_U(r->posted_twice));
	an_fact(p, f, "padding", "padding records", AN_COUNT, AN_U(r->padding + in->lost->padding_records));
	an_fact(p, f, "devices", "devices", AN_COUNT, AN_U(r->ndevices));
	an_fact(p, f, "span", "ticks from first to last", AN_TICKS,
		page_cell_span(r->time_sure, r->span_at_least, r->span));
	if (r->span_at_least)
		an_fact(p, f, "span_at_least", "only at least", AN_FLAG, AN_U(1));
	if (r->gaps) {
		an_fact(p, f, "gaps", "places where records are missing", AN_COUNT, AN_U(r->gaps));
		an_fact(p, f, "gap_bytes", "bytes missing there, at least", AN_BYTES,
			page_cell_time(r->gap_bytes, r->gap_bytes));
	}
	if (r->may_miss)
		an_fact(p, f, "records_may_be_missing", "records may be missing", AN_FLAG, AN_U(1));
	if (r->sparse)
		an_fact(p, f, "sparse", "records are sparse", AN_FLAG, AN_U(1));
	if (r->strays)
		an_fact(p, f, "time_out_of_order", "records out of order in time", AN_COUNT, AN_U(r->strays));
	an_fact(p, f, "time", "times are", AN_TEXT, AN_S(time_text(r->time)));
	an_fact(p, f, "time_known", "which is", AN_TEXT, AN_S(time_known(in, r->time_sure)));
	an_fact(p, f, "posted", "posted requests", AN_COUNT, page_cell_bound(r->posted_twice, r->cls[TLP_P]));
	an_fact(p, f, "non_posted", "non-posted requests", AN_COUNT, page_cell_count(again, false, r->cls[TLP_NP]));
	an_fact(p, f, "completions", "completions", AN_COUNT, page_cell_count(again, false, r->cls[TLP_CPL]));
	an_fact(p, f, "reserved", "reserved types", AN_COUNT, AN_U(r->cls[TLP_RESERVED]));
	an_fact(p, f, "matched", "requests are matched", AN_FLAG, AN_U(r->matched));
	an_fact(p, f, "answered", "requests answered", AN_COUNT, page_cell_pairs(r, r->answered));
	an_fact(p, f, "failed", "answered with an error", AN_COUNT, page_cell_pairs(r, r->failed));
	an_fact(p, f, "unanswered", "unanswered", AN_COUNT, page_cell_error(r, r->fault_count[PTT_FAULT_UNANSWERED]));
	an_fact(p, f, "given_up", "given up", AN_COUNT,
		page_cell_error(r, r->fault_count[PTT_FAULT_REUSED] + r->fault_count[PTT_FAULT_EVICTED]));
	an_fact(p, f, "unanswerable", "unanswerable in this trace", AN_COUNT, page_cell_pairs(r, r->unanswerable));
	if (r->gaps) {
		an_fact(p, f, "cut", "open where records are missing", AN_COUNT, page_cell_pairs(r, r->cut));
		an_fact(p, f, "after_gap", "completions of missing requests", AN_COUNT,
			page_cell_pairs(r, r->after_gap));
	}
	an_fact(p, f, "unexpected_completions", "unexpected completions", AN_COUNT,
		page_cell_error(r, r->fault_count[PTT_FAULT_UNEXPECTED_CPL]));
	an_fact(p, f, "requestless", "requestless in this trace", AN_COUNT, page_cell_pairs(r, r->requestless));
	an_fact(p, f, "tag_reuse", "tags reused while open", AN_COUNT,
		page_cell_error(r, r->fault_count[PTT_FAULT_REUSED]));
	an_fact(p, f, "outstanding_mean", "outstanding, mean", AN_NUMBER,
		page_cell_mean(r, r->mean_known, r->span_at_least, r->outstanding_ticks, r->outstanding_span));
	an_fact(p, f, "outstanding_peak", "outstanding, peak", AN_COUNT,
		page_cell_peak(r, r->peak_known, r->peak_at_least, r->outstanding_peak));
	if (r->time != PTT_TIME_ABS)
		an_explain(p, f,
			   "Times are deltas, which add up over the records that are in the file. "
			   "So ticks from first to last are at least so many, and rates at most so high.");
	if (r->sparse)
		an_explain(p, f,
			   "Sparse: so many of the steps between two times are long that some gaps "
			   "were longer than 11 bits of time can tell, 2047 ticks. How often the time "
			   "wrapped in one is not known. So times and latencies are lower bounds, "
			   "rates upper bounds, and how many requests were outstanding on average is unknown.");
}

static void link_facts(struct an_page *p, const struct ptt_page_in *in)
{
	const struct ptt_report *r = in->r;
	const struct ptt_traffic *t = &r->traffic;
	struct an_part *f = an_page_facts(p, "link", "Link");

	const bool again = counts_again(r), about = again || r->posted_twice;

	an_fact(p, f, "payload_bytes", "payload", AN_BYTES, page_cell_count(again, r->posted_twice, t->payload_bytes));
	an_fact(p, f, "useful_bytes", "payload that is enabled", AN_BYTES,
		page_cell_count(again, r->posted_twice, t->useful_bytes));
	an_fact(p, f, "header_bytes", "headers and prefixes", AN_BYTES,
		page_cell_count(again, r->posted_twice, t->header_bytes));
	an_fact(p, f, "framing_bytes", "framing", AN_BYTES, page_cell_count(again, r->posted_twice, t->framing_bytes));
	an_fact(p, f, "efficiency", "link efficiency", AN_SHARE, page_cell_about(about, AN_D(r->efficiency / 1000)));
	an_fact(p, f, "write_enabled", "enabled bytes of writes", AN_SHARE,
		page_cell_about(r->posted_twice, share_or_none(r->write_enabled, r->write_bytes)));
	an_fact(p, f, "read_enabled", "enabled bytes of reads", AN_SHARE,
		page_cell_about(again, share_or_none(r->read_enabled, r->read_bytes)));
	an_fact(p, f, "relaxed", "relaxed ordering", AN_SHARE,
		page_cell_about(about, share_or_none(r->relaxed, r->relaxed + r->ordered)));
	an_explain(p, f,
		   "Efficiency: enabled payload bytes, divided by all bytes of the packets "
		   "(payload, header, prefix, digest, and 8 bytes of sequence number, "
		   "LCRC and framing each). Flow control and idle time are not in a trace.%s",
		   r->posted_twice ? " Some writes may be counted twice: bytes are upper "
				     "bounds then, and shares behind ~ are of what was counted." :
				     "");
}

static void page_add_devices(struct an_page *p, const struct ptt_page_in *in)
{
	static const struct an_column col[] = {
		{ "name", "device", AN_TEXT },
		{ "records", "records", AN_COUNT },
		{ "posted", "posted", AN_COUNT },
		{ "non_posted", "non-posted", AN_COUNT },
		{ "completions", "completions", AN_COUNT },
		{ "span", "ticks", AN_TICKS },
		{ "format_dw", "DWs", AN_COUNT },
		{ "time", "times are", AN_TEXT },
		{ "time_known", "which is", AN_TEXT },
		{ "outstanding_mean", "open, mean", AN_NUMBER },
		{ "outstanding_peak", "peak", AN_COUNT },
	};
	struct an_part *t = an_page_table(p, "device", "Devices", col, COUNT(col));
	const bool again = counts_again(in->r);

	page_skip_columns(t, 8, in->r->matched && in->r->ndevices > 1 ? 8 : 10);
	for (uint32_t i = 0; i < in->r->ndevices; i++) {
		const struct ptt_device_row *d = &in->r->device[i];

		an_row(p, t,
		       (struct an_cell[COUNT(col)]){
			       AN_S(in->device_name(in->arg, d->device)), AN_U(d->records),
			       page_cell_bound(in->r->posted_twice, d->posted),
			       page_cell_count(again, false, d->non_posted),
			       page_cell_count(again, false, d->completions),
			       page_cell_span(d->time_sure, d->span_at_least, d->span), AN_U(d->format),
			       AN_S(time_text(d->time)), AN_S(time_known(in, d->time_sure)),
			       page_cell_mean(in->r, d->mean_known, d->span_at_least, d->outstanding_ticks, d->span),
			       page_cell_peak(in->r, d->peak_known, d->peak_at_least, d->outstanding_peak) });
	}
	cut_short(in, t);
}

static void page_add_types(struct an_page *p, const struct ptt_page_in *in)
{
	static const struct an_column col[] = {
		{ "name", "type", AN_TEXT },       { "tlps", "TLPs", AN_COUNT },
		{ "share", "share", AN_SHARE },    { "bytes", "bytes", AN_BYTES },
		{ "mean", "mean B", AN_NUMBER },   { "relaxed", "relaxed", AN_COUNT },
		{ "text", "what it is", AN_TEXT }, { "posted_duplicates_at_most", "perhaps twice", AN_COUNT },
	};
	const uint64_t packets = in->r->records - in->r->duplicates;
	struct an_part *t = an_page_table(p, "tlp_type", "By TLP type", col, COUNT(col));
	const bool again = counts_again(in->r);

	page_skip_columns(t, 6, in->r->posted_twice ? 6 : 7);
	for (uint32_t i = 0; i < in->r->ntypes; i++) {
		const struct ptt_type_row *y = &in->r->type[i];
		const struct tlp_type *type = tlp_type_at(y->type_index);

		an_row(p, t,
		       (struct an_cell[COUNT(col)]){
			       AN_S(type_name(y->type_index)),
			       page_cell_count(again && !(type && type->cls == TLP_P), y->posted_twice, y->tlps),
			       page_cell_about(again || in->r->posted_twice, AN_D(page_share(y->tlps, packets))),
			       page_cell_count(again && !(type && type->cls == TLP_P), y->posted_twice, y->bytes),
			       page_cell_about((again && !(type && type->cls == TLP_P)) || y->posted_twice,
					       y->bytes ? AN_D(page_share(y->bytes, y->tlps)) : AN_NONE),
			       page_cell_count(again && !(type && type->cls == TLP_P), y->posted_twice, y->relaxed),
			       AN_S(type ? type->text : ""), page_cell_time(in->r->matched, y->posted_twice) });
	}
	cut_short(in, t);
	an_explain(p, t, "Bytes: payload, and for reads what they ask for, without bytes that are not enabled.%s",
		   in->r->posted_twice ?
			   " Figures behind <= are upper bounds, and those behind ~ may be off, as some writes may be "
			   "counted twice." :
			   "");
}

static void gaps_table(struct an_page *p, const struct ptt_page_in *in)
{
	static const char *const why[] = {
		[PTT_GAP_NONE] = "",
		[PTT_GAP_OFFSETS] = "AUX offsets jump",
		[PTT_GAP_TRUNCATED] = "AUX data is flagged truncated",
		[PTT_GAP_TRUNCATED_END] = "AUX data is flagged truncated",
		[PTT_GAP_LOST] = "the kernel lost records about AUX data",
		[PTT_GAP_DAMAGE] = "bytes make no record",
		[PTT_GAP_CUT] = "AUX data is shorter than its size: cut out here",
		[PTT_GAP_CUT_SOMEWHERE] = "AUX data is shorter than its size: cut out somewhere behind",
		[PTT_GAP_BROKEN_OFF] = "requests and completions break off",
		[PTT_GAP_BROKEN_END] = "",
		[PTT_GAP_BACK] = "AUX offsets go back",
		[PTT_GAP_TIME] = "Time goes back",
		[PTT_GAP_SHORT] = "AUX records tell of more data",
	};
	static const struct an_column col[] = {
		{ "time", "after time", AN_TICKS },         { "offset", "before offset", AN_HEX },
		{ "bytes", "missing, at least", AN_BYTES }, { "cut", "requests cut off", AN_COUNT },
		{ "why", "known from", AN_TEXT },           { "device", "device", AN_TEXT },
		{ "passed_over", "passed over", AN_BYTES }, { "until", "before time", AN_TICKS },
	};
	const struct ptt_report *r = in->r;
	struct an_part *t = r->gaps ? an_page_table(p, "gap", "Where records are missing", col, COUNT(col)) : NULL;
	uint32_t n = page_limit_rows(in, r->ngaps, t);
	uint64_t passed = 0, until = 0;

	for (uint32_t i = 0; t && i < n; i++) {
		const struct ptt_gap_row *h = &r->gap[i];
		const struct ptt_device_row *d = ptt_report_device(r, h->device);

		an_row(p, t,
		       (struct an_cell[COUNT(col)]){ page_cell_moment(d, true, h->time), AN_U(h->offset),
						     page_cell_time(h->bytes, h->bytes), page_cell_pairs(r, h->cut),
						     AN_S(why[h->why]), AN_S(in->device_name(in->arg, h->device)),
						     AN_U(h->passed), page_cell_moment(d, h->until != 0, h->until) });
		passed |= h->passed;
		until |= h->until;
	}
	if (!t)
		return;
	if (!passed)
		page_skip_columns(t, 6, 6);
	if (!until)
		page_skip_columns(t, 7, 7);
	t->table.left_out = r->gaps - n;
	lead_device(in, t, 5);
	an_explain(p, t,
		   "Missing bytes aren't in the file; those passed over are, and make no record. "
		   "What was open there is cut off: it is neither answered nor unanswered. "
		   "A completion behind it whose request may be missing is no unexpected completion. "
		   "How long a gap took isn't always known, so ticks from first to last are at least so many.");
}

/* ---- who --------------------------------------------------------------------------------- */

static const char what_reads_are[] = "Reads and writes are those of memory, I/O and configuration.";

static void page_add_requesters(struct an_page *p, const struct ptt_page_in *in)
{
	static const struct an_column col[] = {
		{ "requester", "requester", AN_TEXT },
		{ "tlps", "TLPs", AN_COUNT },
		{ "reads", "reads", AN_COUNT },
		{ "writes", "writes", AN_COUNT },
		{ "read_bytes", "read", AN_BYTES },
		{ "written_bytes", "written", AN_BYTES },
		{ "latency_p50", "p50", AN_TICKS },
		{ "latency_p99", "p99", AN_TICKS },
		{ "latency_max", "max", AN_TICKS },
		{ "completions", "completions", AN_COUNT },
		{ "atomics", "atomics", AN_COUNT },
		{ "messages", "messages", AN_COUNT },
		{ "answered", "answered", AN_COUNT },
		{ "unanswered", "unanswered", AN_COUNT },
		{ "failed", "failed", AN_COUNT },
		{ "outstanding_peak", "peak", AN_COUNT },
		{ "asked_bytes", "asked for", AN_BYTES },
		{ "largest_read", "largest read", AN_BYTES },
		{ "largest_write", "largest write", AN_BYTES },
		{ "device", "device", AN_TEXT },
		{ "given_up", "given up", AN_COUNT },
		{ "cut", "cut off", AN_COUNT },
		{ "unanswerable", "unanswerable", AN_COUNT },
		{ "posted_duplicates_at_most", "perhaps twice", AN_COUNT },
		{ "config", "configuration", AN_COUNT },
	};
	struct an_part *t = an_page_table(p, "requester", "By requester", col, COUNT(col));
	uint32_t n = page_limit_rows(in, in->r->nrequesters, t);
	bool m = in->r->matched, again = counts_again(in->r);
	uint64_t given_up = 0, config = 0;
	char room[PTT_BDF_MOST];

	for (uint32_t i = 0; i < n; i++) {
		const struct ptt_requester_row *q = &in->r->requester[i];

		an_row(p, t,
		       (struct an_cell[COUNT(col)]){
			       AN_S(q->others ? "others" : page_name_bdf(room, q->segment, q->requester)),
			       page_cell_count(again, q->posted_twice, q->tlps),
			       page_cell_count(again, false, q->kind[PTT_READ]),
			       page_cell_bound(q->posted_twice, q->kind[PTT_WRITE]),
			       page_cell_count(again, false, q->read_bytes),
			       page_cell_bound(q->posted_twice, q->written_bytes),
			       page_cell_quantile(in, q->latency, 500),
			       page_cell_quantile(in, q->latency, 990),
			       page_cell_most(in, q->latency),
			       page_cell_count(again, false, q->kind[PTT_COMPLETION]),
			       page_cell_count(again, false, q->kind[PTT_ATOMIC]),
			       AN_U(q->kind[PTT_MESSAGE]),
			       page_cell_pairs(in->r, q->answered),
			       page_cell_error(in->r, q->unanswered),
			       page_cell_pairs(in->r, q->failed),
			       page_cell_peak(in->r, q->peak_known, false, q->outstanding_peak),
			       page_cell_count(again, false, q->asked_bytes),
			       AN_U(q->largest_read),
			       AN_U(q->largest_write),
			       AN_S(in->device_name(in->arg, q->device)),
			       page_cell_error(in->r, q->given_up),
			       page_cell_pairs(in->r, q->cut),
			       page_cell_pairs(in->r, q->unanswerable),
			       page_cell_time(m, q->posted_twice),
			       page_cell_count(again, false, q->config) });
		given_up |= q->given_up;
		config |= q->config;
	}
	page_skip_columns(t, 16, 18);
	lead_device(in, t, 19);
	if (!given_up)
		page_skip_columns(t, 20, 20);
	if (!in->r->cut)
		page_skip_columns(t, 21, 21);
	if (!in->r->unanswerable)
		page_skip_columns(t, 22, 22);
	if (!in->r->posted_twice)
		page_skip_columns(t, 23, 23);
	if (!config)
		page_skip_columns(t, 24, 24);
	if (!m) {
		page_skip_columns(t, 6, 8);
		page_skip_columns(t, 12, 15);
		an_explain(p, t, "%s", what_reads_are);
	} else {
		an_explain(p, t,
			   "Latency (p50, p99, max): ticks to the last completion, of requests that went well. "
			   "Peak: most that were open at once. Unanswered: open at the end. %s%s%s%s%s",
			   what_reads_are,
			   given_up ? " Given up: its tag was used again while it was open, or too many were." : "",
			   in->r->unanswerable ?
				   " Unanswerable: its completions take a path that the trace does not show." :
				   "",
			   in->r->posted_twice ? " Perhaps twice: so many writes, at most, were seen at two ports and "
						 "are counted twice; with these, figures behind <= are upper bounds." :
						 "",
			   doubt_of_latency(in));
	}
}

static void page_add_completers(struct an_page *p, const struct ptt_page_in *in)
{
	static const struct an_column col[] = {
		{ "completer", "completer", AN_TEXT },
		{ "completions", "completions", AN_COUNT },
		{ "bytes", "bytes", AN_BYTES },
		{ "largest", "largest", AN_BYTES },
		{ "latency_p50", "p50", AN_TICKS },
		{ "latency_p99", "p99", AN_TICKS },
		{ "latency_max", "max", AN_TICKS },
		{ "ur", "UR", AN_COUNT },
		{ "crs", "CRS", AN_COUNT },
		{ "ca", "CA", AN_COUNT },
		{ "sc", "SC", AN_COUNT },
		{ "device", "device", AN_TEXT },
	};
	struct an_part *t = an_page_table(p, "completer", "By completer", col, COUNT(col));
	uint32_t n = page_limit_rows(in, in->r->ncompleters, t);
	const bool again = counts_again(in->r);
	char room[PTT_BDF_MOST];

	for (uint32_t i = 0; i < n; i++) {
		const struct ptt_completer_row *c = &in->r->completer[i];

		an_row(p, t,
		       (struct an_cell[COUNT(col)]){
			       AN_S(c->others ? "others" : page_name_bdf(room, 0, c->completer)),
			       page_cell_count(again, false, c->completions), page_cell_count(again, false, c->bytes),
			       AN_U(c->largest), page_cell_quantile(in, c->latency, 500),
			       page_cell_quantile(in, c->latency, 990), page_cell_most(in, c->latency),
			       page_cell_count(again, false, c->status[1]), page_cell_count(again, false, c->status[2]),
			       page_cell_count(again, false, c->status[4]), page_cell_count(again, false, c->status[0]),
			       AN_S(in->device_name(in->arg, c->device)) });
	}
	page_skip_columns(t, 10, 10);
	lead_device(in, t, 11);
	if (!in->r->matched)
		page_skip_columns(t, 4, 6);
	else if (*doubt_of_latency(in) && in->r->latency->n)
		an_explain(p, t, "%s", doubt_of_latency(in) + 1);
}

static void page_add_pages(struct an_page *p, const struct ptt_page_in *in)
{
	static const struct an_column col[] = {
		{ "address", "page of 4 KiB", AN_HEX }, { "tlps", "TLPs", AN_COUNT },
		{ "read_bytes", "read", AN_BYTES },     { "written_bytes", "written", AN_BYTES },
		{ "requester", "requester", AN_TEXT },  { "several", "more than one", AN_FLAG },
		{ "device", "device", AN_TEXT },
	};
	const struct ptt_report *r = in->r;
	struct an_part *t = an_page_table(p, "page", "By address page", col, COUNT(col));
	uint32_t n = page_limit_rows(in, r->npages, t);
	char room[PTT_BDF_MOST], text[32];

	page_skip_columns(t, 5, 5);
	for (uint32_t i = 0; i < n; i++) {
		const struct ptt_page_row *g = &r->page[i];

		snprintf(text, sizeof(text), "%s%s", page_name_bdf(room, 0, g->requester),
			 g->several ? " and others" : "");
		an_row(p, t,
		       (struct an_cell[COUNT(col)]){
			       AN_U(g->address),
			       page_cell_count(counts_again(r), r->posted_twice && g->written_bytes, g->tlps),
			       page_cell_count(counts_again(r), false, g->read_bytes),
			       page_cell_bound(r->posted_twice, g->written_bytes), AN_S(text), AN_U(g->several),
			       AN_S(in->device_name(in->arg, g->device)) });
	}
	lead_device(in, t, 6);
	if (t && r->pages_known > n)
		t->table.left_out = r->pages_known - n;
	if (!r->pages_exact)
		an_explain(p, t,
			   "Counted with a sketch: a page has at most %llu TLPs more than shown, and one that is not "
			   "shown has at most that many.",
			   (unsigned long long)r->pages_error);
}

static struct an_cell page_cell_per_million(bool at_most, const struct ptt_target_row *g)
{
	if (g->last <= g->first)
		return AN_NONE;
	return (struct an_cell){ .d = 1e6 * (double)(g->writes - 1) / (double)(g->last - g->first),
				 .at_most = at_most };
}

static void page_add_targets(struct an_page *p, const struct ptt_page_in *in)
{
	static const struct an_column col[] = {
		{ "address", "address", AN_HEX },
		{ "writes", "writes", AN_COUNT },
		{ "mean_interval", "ticks between", AN_TICKS },
		{ "per_million", "in 1e6 ticks", AN_NUMBER },
		{ "requester", "requester", AN_TEXT },
		{ "looks_like", "looks like", AN_TEXT },
		{ "first", "first at", AN_TICKS },
		{ "last", "last at", AN_TICKS },
		{ "device", "device", AN_TEXT },
	};
	struct an_part *t = an_page_table(p, "msi", "MSIs and doorbells", col, COUNT(col));
	uint32_t n = page_limit_rows(in, in->r->ntargets, t);
	char room[PTT_BDF_MOST], text[32];
	bool x86 = false, bounds = false;

	page_skip_columns(t, 6, 7);
	for (uint32_t i = 0; i < n; i++) {
		const struct ptt_target_row *g = &in->r->target[i];
		const struct ptt_device_row *d = ptt_report_device(in->r, g->device);
		const bool off = d->gaps || d->moved || !d->time_sure, longer = d->span_at_least || in->r->posted_twice;

		x86 |= g->x86_msi;
		bounds |= off || longer;
		snprintf(text, sizeof(text), "%s%s", page_name_bdf(room, 0, g->requester),
			 g->several ? " and others" : "");
		an_row(p, t,
		       (struct an_cell[COUNT(col)]){ AN_U(g->address), page_cell_bound(in->r->posted_twice, g->writes),
						     page_cell_span(!off, longer, g->mean_interval),
						     page_cell_about(off, page_cell_per_million(longer, g)), AN_S(text),
						     AN_S(g->x86_msi ? "MSI (0xfee.....)" : "MSI or doorbell"),
						     page_cell_moment(d, true, g->first),
						     page_cell_moment(d, true, g->last),
						     AN_S(in->device_name(in->arg, g->device)) });
	}
	if (!x86)
		page_skip_columns(t, 5, 5);
	lead_device(in, t, 8);
	an_explain(
		p, t,
		"Addresses at which two or more writes of one whole DW start; other writes to them are not looked at. "
		"Headers don't tell an MSI from a doorbell.%s%s",
		bounds ? " Ticks between two writes have a mark where times may be longer "
			 "than they look, writes may be counted twice, or records are missing." :
			 "",
		in->r->targets_exact ? "" : " There were more than could be counted exactly.");
}

/* ---- when and how long --------------------------------------------------------------------- */

/* The buckets of the statistics are finer than eyes are: those of a power of two become one. */
static void page_add_histogram(struct an_page *p, const struct ptt_hist *h, const char *key, const char *title,
			       bool about)
{
	struct an_bar bar[64], *b;
	uint32_t n = 0, first = UINT32_MAX;

	if (!h || !h->n)
		return;
	for (uint32_t k = 0; k < 64; k++)
		bar[k] = (struct an_bar){ k ? 1ull << k : 0, k == 63 ? UINT64_MAX : (2ull << k) - 1, 0 };
	for (uint32_t i = 0; i < PTT_HIST_BUCKETS; i++) {
		uint64_t low = ptt_hist_least(i);

		if (!h->bucket[i])
			continue;
		uint32_t k = low ? 63 - (uint32_t)__builtin_clzll(low) : 0;
		bar[k].count += h->bucket[i];
		first = k < first ? k : first;
		n = k + 1;
	}
	b = &bar[first < n ? first : 0];
	struct an_part *part = an_page_bars(p, key, title, &(struct an_bars){ AN_TICKS, b, n - first });
	if (part)
		part->approximate = about;
}

static void page_add_latency(struct an_page *p, const struct ptt_page_in *in)
{
	static const struct an_column col[] = {
		{ "to", "latency to the", AN_TEXT }, { "requests", "requests", AN_COUNT },
		{ "min", "min", AN_TICKS },          { "mean", "mean", AN_NUMBER },
		{ "p50", "p50", AN_TICKS },          { "p90", "p90", AN_TICKS },
		{ "p99", "p99", AN_TICKS },          { "p999", "p99.9", AN_TICKS },
		{ "max", "max", AN_TICKS },          { "time_known", "times are", AN_TEXT },
	};
	const struct ptt_hist *h[] = { in->r->latency_first, in->r->latency };
	static const char *const to[] = { "first completion", "last completion" };
	const bool about = latency_is_about(in->r);
	struct an_part *t;

	if (!in->r->matched || !in->r->latency || !in->r->latency->n)
		return;
	t = an_page_table(p, "latency", title_of_latency(p, in, "Latency in ticks"), col, COUNT(col));
	page_skip_columns(t, 9, 9);
	for (size_t i = 0; i < COUNT(h); i++)
		an_row(p, t,
		       (struct an_cell[COUNT(col)]){
			       AN_S(to[i]), page_cell_about(in->r->may_mispair, AN_U(h[i]->n)),
			       page_cell_latency(in, AN_U(h[i]->least)),
			       page_cell_latency(in, AN_D(page_share(h[i]->sum, h[i]->n))),
			       page_cell_quantile(in, h[i], 500), page_cell_quantile(in, h[i], 900),
			       page_cell_quantile(in, h[i], 990), page_cell_quantile(in, h[i], 999),
			       page_cell_most(in, h[i]), AN_S(time_known(in, in->r->time_sure)) });
	an_explain(
		p, t, "Of requests that went well and are in the file. %s",
		is_doubtful(in) ? "Figures behind ~ may be off: times were found weakly." :
		about ? "Figures behind ~ may be off, and those behind <= are upper bounds: records may be missing." :
		in->r->wraps ?
			"Figures behind >= are lower bounds: 11 bits of time hide gaps of 2048 ticks and more. Of "
			"the ticks that records tell, percentiles are known to 1 %." :
			"Percentiles are known to 1 %, least, mean and most to the last tick.");
	page_add_histogram(p, in->r->latency, "latency_last",
			   title_of_picture(p, in, "Latency to the last completion, in ticks"), about || in->r->wraps);
	page_add_histogram(p, in->r->latency_first, "latency_first",
			   title_of_picture(p, in, "Latency to the first completion, in ticks"), about || in->r->wraps);
}

/* One figure of every bin. */
static uint64_t bin_figure(const struct ptt_bin *b, uint32_t which)
{
	switch (which) {
	case 0:
		return b->tlps;
	case 1:
		return b->bytes;
	case 2:
		return b->opened;
	case 3:
		return b->outstanding_ticks;
	default:
		return b->outstanding_peak;
	}
}

static void time_line(struct an_page *p, const struct ptt_page_in *in)
{
	static const char *const key[] = { "tlps", "bytes", "requests", "outstanding_mean", "outstanding_peak" };
	static const char *const title[] = { "TLPs", "payload bytes", "non-posted requests", "outstanding, mean",
					     "outstanding, peak" };
	const struct ptt_report *r = in->r;
	bool peaks = false, means = false, hides = false, more = false;
	uint64_t answerable = 0;
	uint32_t nlines = 0;

	for (uint32_t i = 0; i < r->ndevices; i++) {
		peaks |= r->device[i].peak_known;
		means |= r->device[i].mean_known;
		hides |= r->device[i].hides_answers;
		more |= r->device[i].peak_at_least;
		answerable += r->device[i].answerable;
	}
	/* requests are counted when they are matched */
	const bool known[COUNT(key)] = { true, true, answerable != 0, means && !r->sparse, peaks };
	uint64_t *v = mem_alloc(((size_t)r->nbins * COUNT(key) + 1) * sizeof(*v));
	struct an_line line[COUNT(key)];

	if (!v) {
		p->arena.failed = true;
		return;
	}
	for (uint32_t k = 0; k < COUNT(key); k++) {
		const bool about = k == 3          ? r->may_miss || r->span_at_least || !r->time_sure :
				   k == 4          ? r->may_miss || more :
				   k == 2 && hides ? r->may_mispair :
						     counts_again(r);
		const bool bound = k < 2 && r->posted_twice; /* of a step, too: at worst it holds none of two */

		if (!known[k])
			continue;
		struct an_line *l = &line[nlines];
		*l = (struct an_line){ .key = key[k],
				       .title = k != 2          ? title[k] :
						hides           ? "non-posted, answered" :
						r->unanswerable ? "non-posted, answerable" :
								  title[k],
				       .v = v + (size_t)nlines * r->nbins,
				       .by = k == 3 ? r->bin_ticks : 0,
				       .at_most = bound,
				       .approximate = about };
		const char *marked =
			about || bound ? arena_printf(&p->arena, "%s %s", about ? "~" : "<=", l->title) : NULL;
		l->title = marked ? marked : l->title;
		for (uint32_t i = 0; i < r->nbins; i++)
			v[(size_t)nlines * r->nbins + i] = bin_figure(&r->bin[i], k);
		nlines++;
	}
	struct an_part *part =
		an_page_lines(p, "time_line",
			      r->wraps ? "Over time (steps are at least so long: time has 11 bits)" : "Over time",
			      &(struct an_lines){ .step = r->bin_ticks,
						  .n = r->nbins,
						  .nlines = nlines,
						  .unit = AN_COUNT,
						  .line = line });
	if (part)
		part->step_at_least = r->span_at_least;
	mem_free(v);
}

static void heat_map(struct an_page *p, const struct ptt_page_in *in)
{
	const struct ptt_report *r = in->r;
	uint64_t low[64];
	uint32_t *count = r->matched ? mem_alloc(((size_t)r->nbins * 64 + 1) * sizeof(*count)) : NULL;

	if (!count) {
		p->arena.failed |= r->matched;
		return;
	}
	for (uint32_t y = 0; y < 64; y++) {
		low[y] = y ? 1ull << y : 0;
		for (uint32_t x = 0; x < r->nbins; x++)
			count[(size_t)y * r->nbins + x] = r->bin[x].latency[y];
	}
	struct an_part *part = an_page_heat(p, "latency_heat", title_of_picture(p, in, "Latency over time"),
					    &(struct an_heat){ .step = r->bin_ticks,
							       .nx = r->nbins,
							       .ny = 64,
							       .unit = AN_TICKS,
							       .low = low,
							       .count = count });
	if (part) {
		part->approximate = latency_is_about(r) || r->wraps;
		part->step_at_least = r->span_at_least;
	}
	mem_free(count);
}

/* ---- how packets are cut ---------------------------------------------------------------------- */

static void page_add_sizes(struct an_page *p, const struct ptt_page_in *in)
{
	static const struct an_column col[] = {
		{ "from", "from", AN_BYTES },
		{ "to", "to", AN_BYTES },
		{ "reads", "read requests", AN_COUNT },
		{ "writes", "writes", AN_COUNT },
		{ "completions", "completions", AN_COUNT },
	};
	struct an_part *t = an_page_table(p, "size", "Sizes in bytes, of whole DWs", col, COUNT(col));
	const bool again = counts_again(in->r);

	/* 1 DW, 2 DWs, 3 to 4, 5 to 8 ... 513 to 1024 */
	for (uint32_t low = 1, high = 1; high <= 1024; low = high + 1, high *= 2) {
		uint64_t n[PTT_SIZES] = { 0 };

		for (uint32_t i = low; i <= high; i++)
			for (uint32_t k = 0; k < PTT_SIZES; k++)
				n[k] += in->r->size[k][i];
		if (n[PTT_SIZE_READ] | n[PTT_SIZE_WRITE] | n[PTT_SIZE_COMPLETION])
			an_row(p, t,
			       (struct an_cell[COUNT(col)]){ AN_U(low * 4ull), AN_U(high * 4ull),
							     page_cell_count(again, false, n[PTT_SIZE_READ]),
							     page_cell_bound(in->r->posted_twice, n[PTT_SIZE_WRITE]),
							     page_cell_count(again, false, n[PTT_SIZE_COMPLETION]) });
	}
	cut_short(in, t);
}

static void page_add_split(struct an_page *p, const struct ptt_page_in *in)
{
	const struct ptt_split *s = &in->r->split;
	struct an_part *f = an_page_facts(p, "split", "How packets are cut");
	const bool again = counts_again(in->r), about = in->r->may_mispair;
	struct an_bar bar[COUNT(s->pieces)];
	uint32_t n = 0;

	an_fact(p, f, "mps", "max payload, at least", AN_BYTES, page_cell_time(s->mps, s->mps));
	an_fact(p, f, "mrrs", "max read request, at least", AN_BYTES, page_cell_time(s->mrrs, s->mrrs));
	an_fact(p, f, "rcb", "read completion boundary", AN_BYTES, page_cell_time(s->rcb, s->rcb));
	an_fact(p, f, "ends_128", "cuts at 128 bytes", AN_COUNT, page_cell_count(again, false, s->ends_128));
	an_fact(p, f, "ends_64", "cuts at 64 bytes", AN_COUNT, page_cell_count(again, false, s->ends_64));
	an_fact(p, f, "ends_odd", "other cuts", AN_COUNT, page_cell_count(again, false, s->ends_odd));
	an_explain(p, f, "Inferred from what was seen: the settings may be larger than what was used.");
	for (uint32_t i = 0; i < COUNT(s->pieces); i++)
		if (s->pieces[i])
			bar[n++] = (struct an_bar){ i, i + 1 < COUNT(s->pieces) ? i : UINT64_MAX, s->pieces[i] };
	if (n && (f = an_page_bars(p, "pieces",
				   about ? "Completions of a read (approximate: records may be missing)" :
					   "Completions of a read",
				   &(struct an_bars){ AN_COUNT, bar, n })))
		f->approximate = about;
}

/* ---- messages and faults ------------------------------------------------------------------------ */

static const char *message_name(char room[static 16], unsigned code)
{
	const char *name = tlp_msg_name(code);

	snprintf(room, 16, "reserved %02x", code);
	return name ? name : room;
}

static void page_add_messages(struct an_page *p, const struct ptt_page_in *in)
{
	static const struct an_column count_col[] = {
		{ "message", "message", AN_TEXT },
		{ "code", "code", AN_HEX },
		{ "count", "count", AN_COUNT },
	};
	static const struct an_column log_col[] = {
		{ "time", "time", AN_TICKS },    { "message", "message", AN_TEXT }, { "requester", "from", AN_TEXT },
		{ "route", "routed", AN_TEXT },  { "code", "code", AN_HEX },        { "offset", "offset", AN_HEX },
		{ "device", "device", AN_TEXT },
	};
	const struct ptt_report *r = in->r;
	struct an_part *t = an_page_table(p, "message", "Messages", count_col, COUNT(count_col));
	char room[16], bdf[PTT_BDF_MOST];

	for (uint32_t i = 0; i < 256; i++)
		if (r->message_code[i])
			an_row(p, t,
			       (struct an_cell[3]){ AN_S(message_name(room, i)), AN_U(i), AN_U(r->message_code[i]) });
	cut_short(in, t);
	t = an_page_table(p, "message_log", "Message log", log_col, COUNT(log_col));
	uint32_t n = page_limit_rows(in, r->nmessages, t);
	for (uint32_t i = 0; i < n; i++) {
		const struct ptt_message_row *m = &r->message[i];

		an_row(p, t,
		       (struct an_cell[COUNT(log_col)]){
			       page_cell_moment(ptt_report_device(r, m->device), true, m->time),
			       AN_S(message_name(room, m->code)), AN_S(page_name_bdf(bdf, 0, m->requester)),
			       AN_S(tlp_msg_route(m->route)), AN_U(m->code), AN_U(m->offset),
			       AN_S(in->device_name(in->arg, m->device)) });
	}
	if (t && r->messages > n)
		t->table.left_out = r->messages - n;
	lead_device(in, t, 6);
}

static void fault_counts(struct an_page *p, const struct ptt_page_in *in)
{
	static const struct an_column col[] = { { "error", "error", AN_TEXT }, { "count", "count", AN_COUNT } };
	struct an_part *t = an_page_table(p, "error", "Errors", col, COUNT(col));

	for (uint32_t i = 0; i < PTT_FAULTS; i++)
		if (in->r->fault_count[i])
			an_row(p, t,
			       (struct an_cell[2]){ AN_S(ptt_fault_name((enum ptt_fault)i)),
						    page_cell_bound(in->r->may_miss && (i == PTT_FAULT_UNEXPECTED_CPL ||
											i == PTT_FAULT_REUSED ||
											i == PTT_FAULT_UNANSWERED),
								    in->r->fault_count[i]) });
	cut_short(in, t);
}

static void page_add_faults(struct an_page *p, const struct ptt_page_in *in)
{
	static const struct an_column col[] = {
		{ "time", "time", AN_TICKS },
		{ "error", "error", AN_TEXT },
		{ "packet", "packet", AN_TEXT },
		{ "requester", "requester", AN_TEXT },
		{ "tag", "tag", AN_COUNT },
		{ "completer", "completer", AN_TEXT },
		{ "request", "request", AN_TEXT },
		{ "address", "address", AN_HEX },
		{ "latency", "latency", AN_TICKS },
		{ "offset", "offset", AN_HEX },
		{ "request_offset", "its offset", AN_HEX },
		{ "device", "device", AN_TEXT },
	};
	struct an_part *t = an_page_table(p, "error_log", "Error log", col, COUNT(col));
	uint32_t n = in->all_errors ? in->r->nfaults : page_limit_rows(in, in->r->nfaults, t);
	uint64_t all = 0;
	char from[PTT_BDF_MOST], to[PTT_BDF_MOST];

	for (uint32_t i = 0; i < n; i++) {
		const struct ptt_fault_row *f = &in->r->fault[i];
		const struct tlp_type *type = tlp_type_at(f->type_index);
		bool has = f->has_request, target = f->completer || (type && type->cls == TLP_CPL);

		an_row(p, t,
		       (struct an_cell[COUNT(col)]){
			       page_cell_moment(ptt_report_device(in->r, f->device), true, f->time),
			       AN_S(ptt_fault_name((enum ptt_fault)f->fault)), AN_S(type_name(f->type_index)),
			       AN_S(page_name_bdf(from, f->segment, f->requester)), AN_U(f->tag),
			       target ? AN_S(page_name_bdf(to, 0, f->completer)) : AN_NONE,
			       has ? AN_S(type_name(f->request_type_index)) : AN_NONE, page_cell_time(has, f->address),
			       page_cell_latency(in, page_cell_time(has && f->latency, f->latency)), AN_U(f->offset),
			       page_cell_time(has, f->request_offset), AN_S(in->device_name(in->arg, f->device)) });
	}
	lead_device(in, t, 11);
	for (uint32_t f = 0; f < PTT_FAULTS; f++)
		all += in->r->fault_count[f];
	if (t)
		t->table.left_out = all - n;
	an_explain(p, t, "Offsets are places in the file.%s%s",
		   in->all_errors ?
			   "" :
			   " Of each kind and requester the first few are kept, the first of each before the second; "
			   "--errors lists them all.",
		   doubt_of_latency(in));
}

/* ---- what can't be told, what was lost ------------------------------------------------------------ */

static void page_add_limits(struct an_page *p, const struct ptt_page_in *in)
{
	const struct ptt_lost *l = in->lost;

	for (uint32_t i = 0; i < in->r->nnotes; i++)
		an_page_words(p, AN_CANNOT, "trace", "%s", in->r->note[i].text);
	if (l->words[0])
		an_page_words(p, AN_LOST, "file", "%s", l->words);
	struct an_part *f = l->stray_bytes | l->damaged_bytes | l->cut_bytes | l->cut_within | l->unknown_records |
					    l->truncated_aux ?
				    an_page_facts(p, "file_losses", "What the file did not give") :
				    NULL;
	if (!f)
		return;
	an_fact(p, f, "stray_bytes", "bytes that are no record", AN_BYTES, AN_U(l->stray_bytes));
	an_fact(p, f, "damaged_bytes", "bytes without a marker", AN_BYTES, AN_U(l->damaged_bytes));
	an_fact(p, f, "cut_bytes", "bytes cut off", AN_BYTES, AN_U(l->cut_bytes));
	an_fact(p, f, "cut_within", "bytes cut out of AUX data", AN_BYTES, AN_U(l->cut_within));
	an_fact(p, f, "unknown_records", "unknown records", AN_COUNT, AN_U(l->unknown_records));
	an_fact(p, f, "truncated_aux", "truncated AUX buffers", AN_COUNT, AN_U(l->truncated_aux));
}

void ptt_page_build(struct an_page *p, const struct ptt_page_in *in)
{
	char *title = arena_printf(&p->arena, "PCIe packets in %s", in->file);

	an_page_open(p, "ptt_report", title ? title : "");
	page_add_summary(p, in);
	page_add_devices(p, in);
	gaps_table(p, in);
	page_add_types(p, in);
	page_add_requesters(p, in);
	page_add_completers(p, in);
	page_add_latency(p, in);
	time_line(p, in);
	heat_map(p, in);
	fault_counts(p, in);
	page_add_faults(p, in);
	link_facts(p, in);
	page_add_sizes(p, in);
	page_add_split(p, in);
	page_add_pages(p, in);
	page_add_targets(p, in);
	page_add_messages(p, in);
	page_add_limits(p, in);
}
