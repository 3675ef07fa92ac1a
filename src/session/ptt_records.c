/*
 * ptt_records.c: a file of records, and the programs that they fire.
 *
 * The file gives chunks (capture/file.c), a chunk gives records, and a record fires probes in this order: tlp, its
 * class, transaction. Programs run in the vm, with the record as their context (provider/ptt_record.h). The output of
 * one firing is taken at once, so that answers come in the order of the records, and an exit() ends the run with the
 * record that called it.
 *
 * Time: `timestamp` is the start of the run plus the record's time, with a nanosecond for each tick, since the length
 * of a tick is not documented; tick probes fire in between when their time has come.
 *
 * Work that no program needs is not done: without a probe `transaction` nothing is matched, without a string member
 * nothing is looked up.
 */
#include <string.h>
#include <unistd.h>

#include "capture/capture.h"
#include "provider/ptt_record.h"
#include "ptt/decode_inline.h"
#include "session/session_int.h"

#define RECORDS_PER_TURN 16384u /* then the caller may look at signals, and answers go out */
#define OUTSTANDING_MOST 65536u

/* What became of the requests of one function; they are in a hash table with open addressing. */
struct asker {
	uint64_t key; /* one more than device, segment and requester; 0: free */
	uint64_t answered, given_up, open;
};
#define ASKERS 4096u /* of more the requests are counted together */
#define ASKER_SLOT_BITS 13u
#define ASKER_SLOTS (1u << ASKER_SLOT_BITS)
static_assert(ASKERS < ASKER_SLOTS, "a search ends at a free place");
#define SILENT_LEAST 16u /* requests without any answer that are no chance, as for 'tally report' */

struct file_records {
	struct records base; /* is first */
	/* set by file_open, then read-only */
	struct tally_ptt *file;
	/* set by file_start: which program each kind of record fires, or -1 */
	int prog[RECORD_KINDS];
	bool wanted;
	uint32_t texts;
	struct ptt_match *match; /* when transactions are wanted */
	/* where it is */
	struct ptt_pass pass;
	struct ptt_chunk chunk;
	struct ptt_stream *stream; /* of the chunk's device */
	size_t at;                 /* bytes of the chunk that were taken */
	struct ptt_record rec;     /* the record that is next, when `have` */
	struct ptt_record done;    /* args of transaction */
	bool have;
	uint64_t unexpected, requestless, cut, after_gap, duplicates;
	struct asker *asker; /* ASKER_SLOTS, with `match` */
	uint32_t naskers;
	struct asker others;
	struct buf notes; /* what the file says of itself, until somebody listens */
};

/* ---- opening ------------------------------------------------------------------- */

static const struct key {
	const char *text;
	uint32_t raw, time, flags;
} keys[] = {
	{ .text = "time=abs", .time = TALLY_PTT_TIME_ABS }, { .text = "time=delta", .time = TALLY_PTT_TIME_DELTA },
	{ .text = "format=4dw", .raw = PTT_4DW },           { .text = "format=8dw", .raw = PTT_8DW },
	{ .text = "tag14", .flags = TALLY_PTT_TAG14 },
};

static const struct key *key_of(const char *text)
{
	for (size_t i = 0; text && i < COUNT(keys); i++)
		if (!strcmp(text, keys[i].text))
			return &keys[i];
	return NULL;
}

/* The first of words between commas that is no key, and all behind it. */
static const char *no_key(const char *words)
{
	for (;;) {
		char word[16] = "";
		size_t n = strcspn(words, ",");

		memcpy(word, words, n < sizeof(word) ? n : 0);
		if (!words[n] || !key_of(word))
			return words;
		words += n + 1;
	}
}

/* What is no key is part of the name; but when there is no such file, and there is one of the name up to a comma, it
 * was meant as a key. */
static bool bad_key(const char *path, struct err *e)
{
	struct buf name = { 0 };
	bool is = false;

	for (const char *comma = strchr(path, ','); comma && !is && access(path, F_OK);
	     comma = strchr(comma + 1, ',')) {
		buf_clear(&name);
		buf_put(&name, path, (size_t)(comma - path));
		if (name.failed || access(name.p, F_OK))
			continue;
		is = true;
		err_set(e, TALLY_EINVAL,
			"%s: no key behind a name is ,%s (keys: format=4dw format=8dw time=abs time=delta tag14)",
			name.p, no_key(comma + 1));
	}
	buf_free(&name);
	return is;
}

/* Cuts keys off the end of path. */
static void take_keys(struct tally_ptt_opts *o, char *path)
{
	char *comma = strrchr(path, ',');
	const struct key *k;

	for (; comma && (k = key_of(comma + 1)); comma = strrchr(path, ',')) {
		*comma = '\0';
		o->raw = k->raw ? k->raw : o->raw;
		o->time = k->time ? k->time : o->time;
		o->flags |= k->flags;
	}
}

static int keep_note(void *arg, const char *text, size_t n)
{
	buf_put(&((struct file_records *)arg)->notes, text, n);
	return 0;
}

static int open_file(struct file_records *r, const char *platform, struct err *e)
{
	struct tally_ptt_opts o = { .size = sizeof(o), .note = keep_note, .arg = r };
	char *path = mem_strdup(platform);
	const char *words;
	int rc = -TALLY_ENOMEM;

	if (path) {
		take_keys(&o, path);
		if (bad_key(path, e)) {
			mem_free(path);
			return -TALLY_EINVAL;
		}
		rc = tally_ptt_open(&r->file, &o);
	}
	if (rc >= 0)
		rc = tally_ptt_file(r->file, path);
	if (rc >= 0)
		rc = ptt_pass_open(&r->pass, r->file, false);
	mem_free(path);
	if (rc >= 0)
		return 0;
	words = r->file ? tally_ptt_error(r->file) : tally_strerror(rc);
	return err_set(e, (enum tally_err) - rc, "%s", words);
}

static struct file_records *file_of(const struct tally_trace *t)
{
	return (struct file_records *)t->records;
}

static void file_close(struct records *base)
{
	struct file_records *r = (struct file_records *)base;

	mem_free(r->asker);
	ptt_match_close(r->match);
	ptt_pass_close(&r->pass);
	tally_ptt_close(r->file);
	buf_free(&r->notes);
	mem_free(r);
}

static int file_open(struct records **ret, const struct tally_trace *t, const char *platform, struct err *e)
{
	struct file_records *r = mem_alloc(sizeof(*r));
	int rc;

	(void)t;
	if (!r)
		return err_oom(e);
	r->base.ops = &file_records;
	rc = open_file(r, platform, e);
	if (rc < 0)
		file_close(&r->base);
	else
		*ret = &r->base;
	return rc;
}

/* What no other source takes. */
static bool file_takes(const char *platform)
{
	(void)platform;
	return true;
}

static int file_match(struct tally_trace *t, struct file_records *r)
{
	if (r->match)
		return 0;
	r->asker = mem_alloc(ASKER_SLOTS * sizeof(*r->asker));
	return r->asker && ptt_match_open(&r->match, OUTSTANDING_MOST) >= 0 ? 0 : trace_nomem(t);
}

static int file_start(struct tally_trace *t)
{
	struct file_records *r = file_of(t);

	for (unsigned k = 0; k < RECORD_KINDS; k++)
		r->prog[k] = -1;
	for (uint32_t i = 0; i < t->img->nprogs; i++) {
		const struct probe *p = probes_get(t->probes, t->img->prog[i].probe);

		if (p->arm == ARM_RECORD)
			r->prog[ptt_fires_for(p)] = (int)i;
		r->wanted |= p->arm == ARM_RECORD || p->arm == ARM_TICK;
	}
	r->texts = ptt_record_reads(t->prog);
	return r->prog[RECORD_TRANSACTION] >= 0 ? file_match(t, r) : 0;
}

/* ---- the next record ------------------------------------------------------------- */

/* 1: r->rec.tlp is the next record; 0: there is none. */
static int record_next(struct tally_trace *t, struct file_records *r)
{
	for (;;) {
		const uint8_t *p;
		size_t size = r->chunk.format * 4u;

		if (r->chunk.n - r->at < size || !size) {
			int rc = ptt_pass_next(&r->pass, &r->chunk, &r->stream);

			if (rc < 0)
				return trace_fail(t, (enum tally_err) - rc, "%s", tally_ptt_error(r->file));
			if (rc == 0)
				return 0;
			r->at = 0;
			if (r->chunk.gap.why != PTT_GAP_NONE && r->match)
				r->cut += ptt_match_gap(r->match, r->chunk.device, NULL, NULL);
			if (r->chunk.coverage & PTT_COVERAGE_DUPLICATES && (rc = file_match(t, r)) < 0)
				return rc;
			if (r->match)
				ptt_match_twice(r->match, r->chunk.device, r->chunk.coverage & PTT_COVERAGE_DUPLICATES);
			continue;
		}
		p = r->chunk.p + r->at;
		r->at += size;
		if (ptt_le32(p) == 0 && ptt_is_padding(p, (enum ptt_format)r->chunk.format))
			continue;
		ptt_decode_in_inline(p, r->chunk.p + r->chunk.n, &r->stream->o, &r->stream->clock, &r->rec.tlp);
		r->rec.tlp.device = r->chunk.device;
		r->rec.tlp.offset = r->chunk.offset + r->at - size;
		return 1;
	}
}

/* ---- firing --------------------------------------------------------------------- */

int records_fire(struct tally_trace *t, uint32_t prog, const void *context, uint32_t n)
{
	int rc;

	if (t->over)
		return 0;
	rc = t->eng->ops->record(t->eng, prog, context, n, &t->err);
	return rc < 0 ? rc : t->eng->ops->drain(t->eng, record_take, t);
}

static int ptt_fire_record(struct tally_trace *t, unsigned kind, const struct ptt_record *ctx)
{
	int prog = file_of(t)->prog[kind];

	return prog < 0 ? 0 : records_fire(t, (uint32_t)prog, ctx, sizeof(*ctx));
}

/* When there is no room it is one of the others. */
static struct asker *asker_of(struct file_records *r, const struct tlp *request)
{
	const uint64_t key =
		((uint64_t)request->device << 32 | (uint32_t)request->segment << 16 | request->requester) + 1;
	struct asker *a = &r->asker[key * 0x9e3779b97f4a7c15u >> (64 - ASKER_SLOT_BITS)];

	while (a->key != key) {
		if (!a->key) {
			if (r->naskers == ASKERS)
				return &r->others;
			r->naskers++;
			a->key = key;
			break;
		}
		a = a + 1 < r->asker + ASKER_SLOTS ? a + 1 : r->asker;
	}
	return a;
}

/* args[0] is the request, now with the completer that answered. */
static int fire_transaction(struct tally_trace *t, enum ptt_event what, const struct ptt_pair *pair)
{
	struct file_records *r = file_of(t);

	switch (what) {
	case PTT_DONE:
		asker_of(r, &pair->request)->answered++;
		break;
	case PTT_AFTER_GAP:
		*(r->stream->coverage & PTT_COVERAGE_NO_REQUESTS ? &r->requestless : &r->after_gap) += 1;
		return 0;
	case PTT_UNEXPECTED_CPL:
		*(r->stream->coverage & PTT_COVERAGE_NO_REQUESTS ? &r->requestless : &r->unexpected) += 1;
		return 0;
	case PTT_REUSED:
	case PTT_EVICTED:
		asker_of(r, &pair->request)->given_up++;
		return 0;
	default:
		return 0;
	}
	r->done.tlp = pair->request;
	r->done.tlp.completer = pair->completer;
	r->done.transaction = pair->t;
	if (r->texts)
		ptt_record_fill(&r->done, r->texts, ptt_device_name(&r->pass, pair->request.device));
	return ptt_fire_record(t, RECORD_TRANSACTION, &r->done);
}

static int fire_record(struct tally_trace *t)
{
	static const uint8_t kind_of[] = { [TLP_P] = RECORD_P, [TLP_NP] = RECORD_NP, [TLP_CPL] = RECORD_CPL };
	struct file_records *r = file_of(t);
	enum ptt_event what = PTT_NONE;
	struct ptt_pair pair;
	int rc;

	if (r->match)
		what = ptt_match_next(r->match, &r->rec.tlp, &pair);
	if (what == PTT_DUPLICATE) {
		r->duplicates++;
		return 0;
	}
	if (r->texts)
		ptt_record_fill(&r->rec, r->texts, ptt_device_name(&r->pass, r->rec.tlp.device));
	rc = ptt_fire_record(t, RECORD_ANY, &r->rec);
	if (rc >= 0 && r->rec.tlp.class < COUNT(kind_of))
		rc = ptt_fire_record(t, kind_of[r->rec.tlp.class], &r->rec);
	if (rc >= 0 && r->prog[RECORD_TRANSACTION] >= 0)
		rc = fire_transaction(t, what, &pair);
	return rc;
}

static int file_turn(struct tally_trace *t, int timeout_ms)
{
	struct file_records *r = file_of(t);
	int rc = r->wanted ? 0 : -TALLY_EEND;

	(void)timeout_ms; /* there is nothing to wait for */
	for (uint32_t n = 0; rc >= 0 && n < RECORDS_PER_TURN && !t->over; n++) {
		rc = r->have ? 1 : record_next(t, r);
		if (rc == 0)
			return -TALLY_EEND;
		r->have = rc > 0;
		if (rc < 0 || !t->eng->ops->advance(t->eng, r->rec.tlp.time))
			return rc < 0 ? rc : 0;
		r->have = false;
		rc = fire_record(t);
	}
	return rc < 0 ? rc : 0;
}

/* ---- what the file did not give ---------------------------------------------------- */

static void count_unanswered(void *arg, const struct ptt_pair *p)
{
	asker_of(arg, &p->request)->open++;
}

/* Who asked often and was never answered was not unlucky: the answers go where the trace doesn't look. */
static void report_requests(struct tally_trace *t, struct file_records *r)
{
	struct asker all = r->others;
	unsigned long long apart = 0, silent = 0, hidden = 0;

	for (const struct asker *a = r->asker, *end = a + ASKER_SLOTS; a < end; a++) {
		const uint64_t device = (a->key - 1) >> 32;

		if (!a->key)
			continue;
		if (device < r->pass.ndev && r->pass.dev[device].coverage & PTT_COVERAGE_NO_COMPLETIONS)
			hidden += a->given_up + a->open;
		else if (!a->answered && a->given_up + a->open >= SILENT_LEAST) {
			apart += a->given_up + a->open;
			silent++;
		} else {
			all.given_up += a->given_up;
			all.open += a->open;
		}
	}
	if (hidden)
		trace_note(t, "%llu request%s fired no transaction: the event's direction can't show their completions",
			   hidden, hidden == 1 ? "" : "s");
	if (apart)
		trace_note(t,
			   "%llu requests of %llu requester%s fired no transaction: none was answered, or the trace "
			   "does not show their completions",
			   apart, silent, silent == 1 ? "" : "s");
	if (all.open)
		trace_note(t, "%llu unanswered request%s fired no transaction", (unsigned long long)all.open,
			   all.open == 1 ? "" : "s");
	if (all.given_up)
		trace_note(
			t,
			"%llu request%s given up (the tag was used again, or too many were open) fired no transaction",
			(unsigned long long)all.given_up, all.given_up == 1 ? "" : "s");
}

static void report_matching(struct tally_trace *t, struct file_records *r)
{
	ptt_match_rest(r->match, count_unanswered, r);
	report_requests(t, r);
	if (r->cut)
		trace_note(t, "%llu request%s open where records are missing fired no transaction",
			   (unsigned long long)r->cut, r->cut == 1 ? "" : "s");
	if (r->after_gap)
		trace_note(t, "%llu completion%s whose request may be among the missing records",
			   (unsigned long long)r->after_gap, r->after_gap == 1 ? "" : "s");
	if (r->requestless)
		trace_note(t, "%llu completion%s whose request the event's direction can't show",
			   (unsigned long long)r->requestless, r->requestless == 1 ? "" : "s");
	if (r->unexpected)
		trace_note(t,
			   "%llu unexpected completion%s: an error, or records are missing though nothing "
			   "says so, and then the longest latencies may be of requests and completions "
			   "that do not belong together ('tally report' searches for such places)",
			   (unsigned long long)r->unexpected, r->unexpected == 1 ? "" : "s");
}

static void report_time(struct tally_trace *t, const struct file_records *r)
{
	for (uint32_t d = 0; d < r->pass.ndev; d++) {
		const struct ptt_stream *s = &r->pass.dev[d];
		bool absolute = s->o.time == PTT_TIME_ABS;

		if (s->seen && !s->sure)
			trace_note(
				t,
				"%s: times are read as %s, which is uncertain; --on FILE,time=%s reads them otherwise",
				ptt_device_name(&r->pass, d), absolute ? "absolute" : "deltas",
				absolute ? "delta" : "abs");
	}
}

static void file_report(struct tally_trace *t)
{
	struct file_records *r = file_of(t);

	report_time(t, r);
	ptt_pass_notes(&r->pass, false);
	for (const char *line = r->notes.p; line && *line;) {
		int n = (int)strcspn(line, "\n");

		trace_note(t, "%.*s", n, line);
		line += n + !!line[n];
	}
	if (r->duplicates)
		trace_note(t,
			   "%llu record%s of packets between devices that were seen at both ports fired once for both",
			   (unsigned long long)r->duplicates, r->duplicates == 1 ? "" : "s");
	if (r->match && r->prog[RECORD_TRANSACTION] >= 0 && !t->exited)
		report_matching(t, r);
}

const struct records_ops file_records = {
	.takes = file_takes,
	.open = file_open,
	.close = file_close,
	.start = file_start,
	.turn = file_turn,
	.report = file_report,
};
