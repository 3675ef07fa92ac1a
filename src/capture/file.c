/*
 * file.c: a trace file, and going through it once.
 *
 * A pass yields chunks of records in the order of the file, each with the state
 * of its device: its clock, and how its records are to be read.  Whether times are absolute or deltas is what the
 * user says; else what the file says, if its recorder knew; else what the first chunk of a device
 * suggests.  That guess is made once: if it changed later, all following times would shift.
 *
 * A pipe gives one pass.  tally_ptt_file() opens a reader so that it can refuse a wrong file; the first pass uses that
 * reader.
 */
#include <stdio.h>
#include <string.h>

#include "capture/capture.h"

#define DEVICES_MOST 65536u /* a file that claims more lies */
#define KNOWN_FLAGS TALLY_PTT_TAG14

/* ---- saying ------------------------------------------------------------------------ */

int ptt_fail(struct tally_ptt *t, enum tally_err code, const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	(void)err_setv(&t->err, code, fmt, ap);
	va_end(ap);
	return -(int)code;
}

int ptt_oom(struct tally_ptt *t)
{
	return err_oom(&t->err);
}

int ptt_failed_as(struct tally_ptt *t, const struct err *e, int rc)
{
	return ptt_fail(t, (enum tally_err) - rc, "%s", e->text[0] ? e->text : tally_strerror(rc));
}

void ptt_enter(struct tally_ptt *t)
{
	t->err = (struct err){ 0 };
	t->noted = false;
	buf_clear(&t->out);
}

void ptt_note(struct tally_ptt *t, const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	note_line(t->o.note, t->o.arg, fmt, ap);
	va_end(ap);
}

int ptt_flush(struct tally_ptt *t, tally_write_fn *out, void *arg)
{
	int rc = 0;

	if (t->out.failed)
		return ptt_oom(t);
	if (t->out.n && out)
		rc = out(arg, t->out.p, t->out.n);
	buf_clear(&t->out);
	return rc < 0 ? ptt_fail(t, TALLY_EIO, "failed to write the output") : 0;
}

/* ---- the handle ---------------------------------------------------------------------- */

static bool are_good(const struct tally_ptt_opts *o)
{
	return !(o->flags & ~KNOWN_FLAGS) && o->time <= TALLY_PTT_TIME_DELTA && !o->zero &&
	       (o->raw == 0 || o->raw == PTT_4DW || o->raw == PTT_8DW);
}

int tally_ptt_open(struct tally_ptt **ret, const struct tally_ptt_opts *opts)
{
	struct tally_ptt_opts o = { 0 };
	struct tally_ptt *t;

	if (opts && (!opts_take(&o, sizeof(o), opts) || !are_good(&o)))
		return -TALLY_EINVAL;
	t = mem_alloc(sizeof(*t));
	if (!t)
		return -TALLY_ENOMEM;
	t->o = o;
	*ret = t;
	return 0;
}

static void ptt_forget_file(struct tally_ptt *t)
{
	ptt_reader_close(t->first);
	t->first = NULL;
	if (t->has_in)
		file_in_close(&t->in);
	t->has_in = false;
	mem_free(t->path);
	t->path = NULL;
}

void tally_ptt_close(struct tally_ptt *t)
{
	if (!t)
		return;
	ptt_forget_file(t);
	buf_free(&t->out);
	mem_free(t);
}

const char *tally_ptt_error(const struct tally_ptt *t)
{
	return t->err.text;
}

/* Damage is no error while a record is left; here none is. */
static int pass_refuse_nothing(struct tally_ptt *t, const struct ptt_reader *r)
{
	const char *words = ptt_reader_lost(r)->words;

	return ptt_fail(t, TALLY_ECORRUPT, "%s: no PTT records in this file%s%s", t->path, *words ? ": " : "", words);
}

static int reader_open(struct tally_ptt *t, const struct bytes_in *in, bool as_perf, struct ptt_reader **ret)
{
	struct ptt_reader_opts o = { .format = (uint8_t)t->o.raw, .as_perf = as_perf };
	struct err e = { 0 };
	int rc = ptt_reader_open(ret, in, &o, &e);

	if (rc == -TALLY_EINVAL)
		rc = -TALLY_ECORRUPT; /* the file, not an argument, is not what it should be */
	if (rc < 0)
		return ptt_fail(t, (enum tally_err) - rc, "%s: %s", t->path, e.text[0] ? e.text : tally_strerror(rc));
	return ptt_reader_has_data(*ret) ? 0 : pass_refuse_nothing(t, *ret);
}

/* JSON lines that `tally trace` wrote: each begins so. */
static bool ptt_has_answers(const struct bytes_in *in)
{
	static const char begin[] = "{\"type\":\"";
	const uint8_t *p;

	return in->at(in->arg, 0, sizeof(begin) - 1, &p) == sizeof(begin) - 1 && !memcmp(p, begin, sizeof(begin) - 1);
}

int tally_ptt_file(struct tally_ptt *t, const char *path)
{
	struct err e = { 0 };
	int rc;

	ptt_enter(t);
	if (t->has_in)
		return ptt_fail(t, TALLY_ESTATE, "a call out of order: there is a file already, %s", t->path);
	t->path = mem_strdup(path);
	if (!t->path)
		return ptt_oom(t);
	rc = file_in_open(&t->in, path, &e);
	t->has_in = rc >= 0;
	t->is_answers = t->has_in && ptt_has_answers(&t->in);
	if (!t->has_in)
		rc = ptt_failed_as(t, &e, rc);
	else if (!t->is_answers)
		rc = reader_open(t, &t->in, false, &t->first);
	else if (ptt_is_pipe(t))
		rc = ptt_fail(t, TALLY_EINVAL, "%s: answers of D programs are read from a file, not from a pipe", path);
	if (rc < 0)
		ptt_forget_file(t);
	return rc;
}

/* ---- a pass -------------------------------------------------------------------------- */

/* A pass of its own over a file; over a pipe only what the check has read can be read again. */
static int pass_reopen(struct ptt_pass *p, bool as_perf)
{
	struct tally_ptt *t = p->t;
	struct err e = { 0 };
	int rc;

	if (ptt_is_pipe(t))
		return t->used ? ptt_fail(t, TALLY_ESTATE, "%s is a pipe and can be read only once", t->path) :
				 reader_open(t, &t->in, as_perf, &p->r);
	rc = file_in_open(&p->in, t->path, &e);
	if (rc < 0)
		return ptt_failed_as(t, &e, rc);
	p->own_in = true;
	return reader_open(t, &p->in, as_perf, &p->r);
}

int ptt_pass_open(struct ptt_pass *p, struct tally_ptt *t, bool as_perf)
{
	int rc = 0;

	*p = (struct ptt_pass){ .t = t };
	if (!t->has_in)
		return ptt_fail(t, TALLY_ESTATE, "a call out of order: no file is open, tally_ptt_file() comes first");
	if (t->is_answers)
		return ptt_fail(t, TALLY_ECORRUPT,
				"%s: no PTT trace but answers of D programs, which 'tally export' reads", t->path);
	if (as_perf) {
		ptt_reader_close(t->first);
		t->first = NULL;
	}
	p->r = t->first;
	t->first = NULL;
	if (!p->r)
		rc = pass_reopen(p, as_perf);
	t->used = true;
	return rc;
}

void ptt_pass_close(struct ptt_pass *p)
{
	ptt_reader_close(p->r);
	if (p->own_in)
		file_in_close(&p->in);
	mem_free(p->dev);
	*p = (struct ptt_pass){ 0 };
}

static struct ptt_stream *stream_of(struct ptt_pass *p, uint32_t device)
{
	while (p->ndev <= device)
		if (device >= DEVICES_MOST || !VEC_NEW(p->dev, p->ndev, p->capdev))
			return NULL;
	return &p->dev[device];
}

static void pass_decode_chunk(struct ptt_pass *p, const struct ptt_chunk *c, struct ptt_stream *s)
{
	const struct tally_ptt_opts *o = &p->t->o;
	const struct ptt_device *dev;
	uint32_t n = ptt_reader_devices(p->r, &dev);
	bool known = c->device < n;

	s->seen = s->sure = true;
	s->o.tag14 = (o->flags & TALLY_PTT_TAG14) || (known && dev[c->device].tag14);
	s->o.time = known ? dev[c->device].time : PTT_TIME_AUTO;
	if (o->time)
		s->o.time = o->time == TALLY_PTT_TIME_ABS ? PTT_TIME_ABS : PTT_TIME_DELTA;
	else
		s->recorded = s->o.time != PTT_TIME_AUTO;
	if (s->o.time == PTT_TIME_AUTO)
		s->o.time = (uint8_t)ptt_time_guess(c->p, c->n, c->format, &s->sure);
}

static int pass_show_progress(struct ptt_pass *p, const struct ptt_chunk *c)
{
	const struct tally_ptt_opts *o = &p->t->o;

	if (!o->progress || o->progress(o->arg, c->offset + c->n, ptt_is_pipe(p->t) ? 0 : p->t->in.size) >= 0)
		return 0;
	return ptt_fail(p->t, TALLY_EEND, "stopped");
}

int ptt_pass_next(struct ptt_pass *p, struct ptt_chunk *c, struct ptt_stream **s)
{
	struct err e = { 0 };
	int rc = ptt_reader_next(p->r, c, &e);

	if (rc < 0)
		return ptt_failed_as(p->t, &e, rc);
	if (rc == 0)
		return p->any ? 0 : pass_refuse_nothing(p->t, p->r);
	p->any |= c->n != 0;
	*s = stream_of(p, c->device);
	if (!*s)
		return ptt_oom(p->t);
	if (!(*s)->seen && c->n)
		pass_decode_chunk(p, c, *s);
	if (c->n)
		(*s)->coverage = c->coverage;
	(*s)->o.format = c->format;
	(*s)->sparse |= ptt_time_is_sparse(c->p, c->n, c->format, (enum ptt_time)(*s)->o.time);
	rc = pass_show_progress(p, c);
	return rc < 0 ? rc : 1;
}

const char *ptt_device_name(const struct ptt_pass *p, uint32_t device)
{
	const struct ptt_device *dev;
	uint32_t n = ptt_reader_devices(p->r, &dev);

	return device < n && dev[device].name[0] ? dev[device].name : "?";
}

static void time_note(struct ptt_pass *p, uint32_t device)
{
	const struct ptt_stream *s = &p->dev[device];

	ptt_note(p->t, "%s: times are read as %s%s", ptt_device_name(p, device),
		 s->o.time == PTT_TIME_ABS ? "absolute" : "deltas",
		 s->sure ? "" : ", which is uncertain; --time sets it");
	if (s->sparse)
		ptt_note(p->t, "%s: records are sparse: gaps of more than 2047 ticks look shorter than they were",
			 ptt_device_name(p, device));
}

void ptt_pass_notes(struct ptt_pass *p, bool times)
{
	const struct ptt_lost *lost = ptt_reader_lost(p->r);

	if (p->t->noted)
		return;
	p->t->noted = true;
	for (uint32_t i = 0; times && !p->t->o.time && i < p->ndev; i++)
		if (p->dev[i].seen)
			time_note(p, i);
	if (lost->words[0])
		ptt_note(p->t, "%s: %s", p->t->path, lost->words);
}
