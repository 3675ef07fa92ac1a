/*
 * platform.c: the handle of a platform, its words, its PTT devices.
 *
 * Opening a handle parses its options and asks no hardware, but for a socket, where somebody must answer.  Devices, and
 * transports to hypervisors, are opened when a call first needs them: `local` is the default also of calls that need
 * none.
 *
 * An embedded model is new with each handle and ends with it; so what is set on it
 * is of use within the handle alone, and `set` says so.
 */
#include <stdio.h>
#include <string.h>

#include "platform/platform.h"

/* ---- words ------------------------------------------------------------------------------------ */

int plat_enter(struct tally_platform *p)
{
	p->err = (struct err){ 0 };
	buf_clear(&p->out);
	return p->is_open ? 0 : plat_fail(p, TALLY_ESTATE, "no platform: tally_platform_open() failed");
}

int plat_fail(struct tally_platform *p, enum tally_err code, const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	(void)err_setv(&p->err, code, fmt, ap);
	va_end(ap);
	return -(int)code;
}

int plat_oom(struct tally_platform *p)
{
	return err_oom(&p->err);
}

void plat_note(struct tally_platform *p, const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	note_line(p->o.note, p->o.arg, fmt, ap);
	va_end(ap);
}

void plat_note_not_kept(struct tally_platform *p)
{
	if (p->on.row->is == PLAT_MODEL)
		plat_note(p,
			  "%s is a model inside this process: settings are lost when it exits; "
			  "'tally machine %s --listen PATH' keeps a model running",
			  p->on.row->name, p->on.row->name);
}

int plat_flush(struct tally_platform *p, const struct tally_out *to)
{
	int rc = 0;

	if (p->out.failed)
		return plat_oom(p);
	if (p->out.n && to->out)
		rc = to->out(to->arg, p->out.p, p->out.n);
	buf_clear(&p->out);
	return rc < 0 ? plat_fail(p, TALLY_EIO, "failed to write the output") : 0;
}

int plat_take(struct tally_platform *p, void *to, size_t ours, const void *from)
{
	if (opts_take(to, ours, from))
		return 0;
	return plat_fail(p, TALLY_EINVAL, "unknown options: they are of a newer library");
}

int plat_emit_open(struct tally_platform *p, const struct tally_out *to)
{
	const struct an_how how = {
		.format = to->format, .separator = to->separator, .colour = to->colour, .columns = to->columns
	};

	if (an_emit_open(&p->emit, &p->out, &how) >= 0 && p->emit.ops->begin)
		return 0;
	return plat_fail(p, TALLY_EINVAL, "unknown format %u (expected text, JSON or CSV)", to->format);
}

/* ---- the handle ---------------------------------------------------------------------------------- */

static int copy_options(struct tally_platform *p)
{
	struct tally_platform_opts *o = &p->o;

	if (o->flags || o->profile > TALLY_PROFILE_OPENSPARC)
		return plat_fail(p, TALLY_EINVAL, "unknown value in an option of the platform");
	p->profile = o->profile == TALLY_PROFILE_DRIVER ? PTT_PROFILE_DRIVER : PTT_PROFILE_SPEC;
	p->name = mem_strdup(o->on ? o->on : "local");
	p->sysfs = o->sysfs ? mem_strdup(o->sysfs) : NULL;
	p->asked = p->name ? mem_alloc(strlen(p->name) + sizeof(" --on ")) : NULL;
	if (!p->asked || (o->sysfs && !p->sysfs))
		return plat_oom(p);
	if (strcmp(p->name, "local"))
		stpcpy(stpcpy(p->asked, " --on "), p->name);
	o->on = p->name;
	o->sysfs = p->sysfs;
	return plat_parse(&p->on, p->name, &p->err);
}

static int open_ptt(struct tally_platform *p)
{
	struct err e = { 0 };
	int rc;

	if (p->has_ptt)
		return 0;
	if (!p->on.row->ptt)
		return plat_fail(p, TALLY_ENOTSUP, "%s has no PTT device; the model '--on kunpeng' has", p->name);
	rc = p->on.row->ptt(p, &p->ptt, &e);
	if (rc < 0)
		return plat_fail(p, (enum tally_err) - rc, "%s", e.text[0] ? e.text : tally_strerror(rc));
	p->has_ptt = true;
	return 0;
}

int tally_platform_open(struct tally_platform **ret, const struct tally_platform_opts *opts)
{
	struct tally_platform *p = mem_alloc(sizeof(*p));
	int rc = 0;

	*ret = p;
	if (!p)
		return -TALLY_ENOMEM;
	if (opts)
		rc = plat_take(p, &p->o, sizeof(p->o), opts);
	if (rc >= 0)
		rc = copy_options(p);
	if (rc >= 0) {
		const char *load = p->o.load;

		/* What was given beside --on. */
		p->o.load = NULL; /* the caller's; what it chose is in p->on */
		if (p->o.profile == TALLY_PROFILE_OPENSPARC)
			rc = plat_on_opensparc(&p->on, &p->err);
		if (rc >= 0 && load)
			rc = plat_on_load(&p->on, load, &p->err);
	}
	if (rc >= 0 && p->on.path && p->on.row->ptt)
		rc = open_ptt(p); /* somebody must answer */
	p->is_open = rc >= 0;
	return rc;
}

void tally_platform_close(struct tally_platform *p)
{
	uint32_t left;

	if (!p)
		return;
	if (p->has_ptt)
		p->ptt.op->close(p->ptt.arg);
	left = sun4v_client_close(p->client);
	if (left)
		plat_note(p, "%s: cannot restore %u setting%s of its counters", p->name, left, left == 1 ? "" : "s");
	if (p->has_transport)
		transport_close(&p->transport);
	mem_free(p->name);
	mem_free(p->sysfs);
	mem_free(p->asked);
	buf_free(&p->out);
	mem_free(p);
}

const char *tally_platform_error(const struct tally_platform *p)
{
	return p->err.text;
}

/* ---- PTT devices ---------------------------------------------------------------------------------- */

static int no_devices(struct tally_platform *p, const char *words)
{
	bool named = p->on.row->is == PLAT_MODEL || p->on.path || strstr(words, "kunpeng");

	return plat_fail(p, TALLY_ENOTSUP, "%s%s", *words ? words : "no PTT device",
			 named ? "" : "; the model '--on kunpeng' has some");
}

int plat_ptt_list(struct tally_platform *p, const struct ptt_pmu **ret, uint32_t *n)
{
	struct err e = { 0 };
	int rc = open_ptt(p);

	if (rc == -TALLY_ENOTSUP) {
		e = p->err;
		p->err = (struct err){ 0 };
		return no_devices(p, e.text);
	}
	if (rc < 0)
		return rc;
	rc = p->ptt.op->list(p->ptt.arg, ret, n, &e);
	if (rc == -TALLY_ENOTSUP || (rc >= 0 && !*n))
		return no_devices(p, e.text);
	return rc < 0 ? plat_fail(p, (enum tally_err) - rc, "%s", e.text[0] ? e.text : tally_strerror(rc)) : 0;
}

int plat_ptt_device(struct tally_platform *p, const char *name, size_t n, uint32_t *ret)
{
	const char *names[PTT_PMU_MOST];
	struct err_tail near;
	const struct ptt_pmu *pmu;
	uint32_t npmus;
	char word[64];
	int rc = plat_ptt_list(p, &pmu, &npmus);

	if (rc < 0)
		return rc;
	for (uint32_t i = 0; i < npmus && i < PTT_PMU_MOST; i++) {
		names[i] = pmu[i].name;
		if (strlen(names[i]) == n && !memcmp(names[i], name, n)) {
			*ret = i;
			return 0;
		}
	}
	snprintf(word, sizeof(word), "%.*s", (int)(n < sizeof(word) ? n : sizeof(word) - 1), name);
	near = err_unknown(word, TEXT_NAMES(names, npmus < PTT_PMU_MOST ? npmus : PTT_PMU_MOST),
			   "; 'tally list ptt%s' shows them", p->asked);
	return plat_fail(p, TALLY_EINVAL, "unknown device '%s'%s", word, near.text);
}
