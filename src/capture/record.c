/*
 * record.c: a trace into a perf.data file.
 *
 * The file is opened when the device has started, so a refused trace does not touch the previous recording.  That one
 * is renamed to *.old, as perf does.  The file is consistent after every commit (ptt/pwrite.c), and nothing is
 * overwritten.  So all that was committed stays in it after a kill, on a full disk, and when the device goes away.
 *
 * Losses are marked in the file as perf marks them: on the chunk after the gap, whose AUX offset counts the records
 * known to be missing.  If a device, or the socket to it, is lost, an empty chunk at the end has the mark, since the
 * device had records that were not yet read.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "capture/trace_int.h"
#include "ptt/ptt.h"

struct recording {
	struct tally_platform *p;
	struct tally_record_opts o;
	struct tally_record_result result;
	const char *path;
	struct bytes_out out;
	bool is_open, reader_gone;
	struct ptt_writer *w;
	uint32_t flags; /* of a gap with nothing behind it so far */
	uint64_t lost;  /* bytes of records in it, as far as known */
	uint32_t record_bytes;
	uint64_t bytes;
};

static int write_failed(struct recording *c, int rc)
{
	if (errno == EPIPE && rc == -TALLY_EIO) {
		c->reader_gone = true;
		return plat_fail(c->p, TALLY_EEND, "the reader closed the pipe");
	}
	return plat_fail(c->p, (enum tally_err) - rc, "failed to write to %s: %s%s", c->path,
			 rc == -TALLY_EIO && errno ? strerror(errno) : tally_strerror(rc),
			 c->bytes ? "; it has all records up to the last commit" : "");
}

/* ---- the file ------------------------------------------------------------------------------ */

static int keep_old(struct recording *c)
{
	struct buf old = { 0 };
	struct stat st;
	int rc = 0;

	if (!strcmp(c->path, "-") || file_inherited(c->path) >= 0 || stat(c->path, &st) < 0 || !S_ISREG(st.st_mode) ||
	    !st.st_size)
		return 0;
	buf_printf(&old, "%s.old", c->path);
	if (old.failed)
		rc = plat_oom(c->p);
	else if (rename(c->path, old.p) < 0)
		rc = plat_fail(c->p, TALLY_EIO, "cannot rename %s to %s: %s", c->path, old.p, strerror(errno));
	buf_free(&old);
	return rc;
}

static int record_started(void *arg, const struct ptt_pmu *pmu, const struct ptt_ask *ask)
{
	struct recording *c = arg;
	struct ptt_device d = { .pmu_type = pmu->type,
				.config = ask->config,
				.time = pmu->time,
				.cpu = (uint32_t)strtoul(pmu->cpus, NULL, 10) };
	struct err e = { 0 };
	int rc = keep_old(c);

	if (rc < 0)
		return rc;
	c->record_bytes = ask->format ? 32 : 16;
	snprintf(d.name, sizeof(d.name), "%s", pmu->name);
	rc = file_out_open(&c->out, c->path, &e);
	if (rc < 0)
		return plat_fail(c->p, (enum tally_err) - rc, "%s", e.text);
	c->is_open = true;
	errno = 0;
	rc = ptt_writer_open(&c->w, &c->out, &d, 1, &e);
	return rc < 0 ? write_failed(c, rc) : 0;
}

static int record_tick(void *arg)
{
	struct recording *c = arg;

	if (c->o.progress && c->o.progress(c->o.arg, c->bytes, 0) < 0)
		return plat_fail(c->p, TALLY_EEND, "stopped");
	return 0;
}

static int record_take_chunk(void *arg, const struct ptt_aux *a)
{
	struct recording *c = arg;
	int rc;

	c->flags |= a->flags | (a->lost ? PTT_AUX_TRUNCATED : 0);
	c->result.gaps += a->flags & PTT_AUX_TRUNCATED && !a->lost;
	c->lost += a->lost * c->record_bytes;
	if (!a->n)
		return 0;
	errno = 0;
	ptt_writer_lost(c->w, 0, c->lost);
	rc = ptt_writer_aux(c->w, 0, a->p, a->n, c->flags);
	if (rc < 0)
		return write_failed(c, rc);
	c->flags = 0;
	c->lost = 0;
	c->bytes += a->n;
	return record_tick(c);
}

/* A recording that ended before its time lacks its end. A command that could not be started had nothing recorded. */
static void trace_report_cut(struct recording *c, const struct plat_trace *t, int rc)
{
	if (c->reader_gone) {
		c->result.cut = TALLY_CUT_READER;
		c->result.status = t->ended_command ? 0 : t->status;
		if (t->ended_command)
			plat_note(c->p, "the command was stopped: the reader of the recording closed the pipe");
	} else if (rc < 0 && rc != -TALLY_EINVAL && c->is_open) {
		c->result.cut = TALLY_CUT_FAILED;
		c->result.gaps++;
	}
}

static int record_finish(struct recording *c, int rc)
{
	int end = 0;

	if (rc < 0 && rc != -TALLY_EINVAL)
		c->flags |= PTT_AUX_TRUNCATED;
	errno = 0;
	if (c->w)
		ptt_writer_lost(c->w, 0, c->lost);
	if (c->w && c->flags)
		end = ptt_writer_aux(c->w, 0, "", 0, c->flags);
	if (end >= 0)
		end = ptt_writer_close(c->w);
	else
		(void)ptt_writer_close(c->w);
	if (c->is_open && file_out_close(&c->out) < 0 && end >= 0)
		end = -TALLY_EIO;
	if (rc >= 0 && end < 0)
		rc = write_failed(c, end);
	return c->reader_gone ? 0 : rc;
}

/* ---- the call -------------------------------------------------------------------------------- */

int tally_record(struct tally_platform *p, const struct tally_record_opts *opts, struct tally_record_result *ret)
{
	struct recording c = { .p = p, .result = { .size = sizeof(c.result) } };
	struct plat_trace t = { .started = record_started, .take = record_take_chunk, .tick = record_tick, .arg = &c };
	int rc;

	rc = plat_enter(p);
	if (rc >= 0)
		rc = plat_take(p, &c.o, sizeof(c.o), opts);
	if (rc >= 0 && !c.o.event)
		rc = plat_fail(p, TALLY_EINVAL, "no event to record");
	if (rc < 0)
		return rc;
	c.path = c.o.path ? c.o.path : "perf.data";
	t.event = c.o.event;
	t.ring = c.o.ring;
	t.argv = c.o.argv;
	t.duration_ns = c.o.duration_ns;
	t.stop = c.o.stop;
	rc = record_finish(&c, plat_trace(p, &t));
	c.result.bytes = t.bytes;
	c.result.records = t.records;
	c.result.lost = t.lost;
	c.result.status = t.status;
	trace_report_cut(&c, &t, rc);
	opts_give(ret, &c.result, sizeof(c.result));
	return rc;
}
