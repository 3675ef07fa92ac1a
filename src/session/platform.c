/*
 * platform.c: what `--on` takes, and the handle of a platform.
 *
 * A platform is a row: a name and how its PTT devices are reached.  Opening a handle
 * reads what is written and asks no hardware, but for a socket, where somebody must
 * answer.  Devices are opened when a call first needs them: `local` is the default also of calls
 * that don't.
 *
 * An embedded model is new with each handle and ends with it; so what is set on it
 * is of use within the handle alone, and `set` says so.
 */
#include <stdio.h>
#include <string.h>

#include "attach/attach.h"
#include "kernel/ptt_local.h"
#include "session/platform_int.h"
#include "session/ptt_int.h"

/* ---- platforms -------------------------------------------------------------------------- */

static int local_ptt(struct tally_platform *p, struct ptt_pmus *ret, struct err *e)
{
	return k_ptt_pmus(ret, p->sysfs, e);
}

static int kunpeng_ptt(struct tally_platform *p, struct ptt_pmus *ret, struct err *e)
{
	struct kunpeng *k = NULL;
	int rc = kunpeng_open(&k, &p->on.kunpeng, e);

	return rc < 0 ? rc : kunpeng_pmus(ret, k, e);
}

static int unix_ptt(struct tally_platform *p, struct ptt_pmus *ret, struct err *e)
{
	return local_pmus(ret, p->on.path, e);
}

static const struct plat_row rows[] = {
	{ "local", "this machine", local_ptt, false },
	{ "kunpeng", "a model of PCIe cores with PTT devices, in this process", kunpeng_ptt, true },
	{ "unix", "a platform that another process runs, behind a socket", unix_ptt, false },
};

const struct plat_row *plat_row(uint32_t i)
{
	return i < COUNT(rows) ? &rows[i] : NULL;
}

/* ---- what --on says ------------------------------------------------------------------------ */

static int no_platform(const char *name, struct err *e)
{
	static const char *const names[] = { "local", "kunpeng", "unix" };
	const char *near = text_nearest(name, names, COUNT(names));

	static_assert(COUNT(names) == COUNT(rows), "all are offered");
	if (near)
		return err_set(e, TALLY_EINVAL, "there is no platform '%s'; did you mean '%s'?", name,
			       strcmp(near, "unix") ? near : "unix:PATH");
	return err_set(e, TALLY_EINVAL, "there is no platform '%s'; there are: local, kunpeng[,KEY=VALUE...], unix:PATH", name);
}

static int set_seed(struct plat_on *on, const char *value, struct err *e)
{
	if (text_u64(value, &on->kunpeng.seed) && on->kunpeng.seed)
		return 0;
	return err_set(e, TALLY_EINVAL, "seed=%s: a number from 1 up", value);
}

static int set_load(struct plat_on *on, const char *value, struct err *e)
{
	const struct kunpeng_load *l;
	const char *name[64];
	size_t n = 0;
	struct buf all = { 0 };

	for (uint32_t i = 0; (l = kunpeng_load_at(i)) != NULL && n < COUNT(name); i++) {
		if (!strcmp(l->name, value)) {
			on->kunpeng.load = l->name;
			buf_free(&all);
			return 0;
		}
		name[n++] = l->name;
		buf_printf(&all, "%s%s", n > 1 ? ", " : "", l->name);
	}
	const char *near = text_nearest(value, name, n);
	int rc = near ? err_set(e, TALLY_EINVAL, "load=%s: there is no such load; did you mean '%s'?", value, near) :
			err_set(e, TALLY_EINVAL, "load=%s: there is no such load; there are: %s", value, all.p ? all.p : "none");
	buf_free(&all);
	return rc;
}

static const struct key {
	const char *name;
	int (*set)(struct plat_on *on, const char *value, struct err *e);
} kunpeng_keys[] = { { "seed", set_seed }, { "load", set_load } };

static int set_key(struct plat_on *on, const char *key, const char *value, struct err *e)
{
	const char *name[COUNT(kunpeng_keys)], *near;

	for (size_t i = 0; i < COUNT(kunpeng_keys); i++) {
		name[i] = kunpeng_keys[i].name;
		if (!strcmp(key, name[i]))
			return value && *value ? kunpeng_keys[i].set(on, value, e) :
						 err_set(e, TALLY_EINVAL, "%s needs a value: %s=...", key, key);
	}
	near = text_nearest(key, name, COUNT(name));
	if (near)
		return err_set(e, TALLY_EINVAL, "kunpeng has no key '%s'; did you mean '%s'?", key, near);
	return err_set(e, TALLY_EINVAL, "kunpeng has no key '%s'; its keys are: seed, load", key);
}

/* "seed=7,load=nvme"; cuts it up. */
static int set_keys(struct plat_on *on, char *keys, struct err *e)
{
	int rc = 0;

	for (char *next; rc >= 0 && keys; keys = next) {
		next = strchr(keys, ',');
		if (next)
			*next++ = '\0';
		char *value = strchr(keys, '=');
		if (value)
			*value++ = '\0';
		rc = set_key(on, keys, value, e);
	}
	return rc;
}

static int parse_unix(struct plat_on *ret, const char *path, struct err *e)
{
	if (!*path)
		return err_set(e, TALLY_EINVAL, "unix: needs the path of a socket: unix:PATH");
	ret->path = path;
	return 0;
}

/* A name, and keys behind a comma. */
static int parse_name(struct plat_on *ret, char *name, struct err *e)
{
	char *keys = strchr(name, ',');

	if (keys)
		*keys++ = '\0';
	for (uint32_t i = 0; i < COUNT(rows); i++)
		if (!strcmp(name, rows[i].name))
			ret->row = &rows[i];
	if (!ret->row || !strcmp(name, "unix"))
		return no_platform(name, e);
	if (!keys)
		return 0;
	return ret->row->embedded ? set_keys(ret, keys, e) :
				    err_set(e, TALLY_EINVAL, "%s takes no keys: leave out ',%s'", name, keys);
}

int plat_parse(struct plat_on *ret, const char *on, struct err *e)
{
	struct plat_on o = { .row = NULL };
	char *copy;
	int rc;

	if (!on)
		on = "local";
	if (!strncmp(on, "unix:", 5)) {
		o.row = &rows[COUNT(rows) - 1];
		rc = parse_unix(&o, on + 5, e);
	} else {
		copy = mem_strdup(on);
		rc = copy ? parse_name(&o, copy, e) : err_set(e, TALLY_ENOMEM, "out of memory");
		mem_free(copy);
	}
	if (rc >= 0)
		*ret = o;
	return rc;
}

/* ---- words ------------------------------------------------------------------------------------ */

void plat_enter(struct tally_platform *p)
{
	p->err = (struct err){ 0 };
	buf_clear(&p->out);
}

int plat_fail(struct tally_platform *p, enum tally_err code, const char *fmt, ...)
{
	va_list ap;

	if (!p->err.code) {
		p->err.code = code;
		va_start(ap, fmt);
		vsnprintf(p->err.text, sizeof(p->err.text), fmt, ap);
		va_end(ap);
	}
	return -(int)code;
}

void plat_note(struct tally_platform *p, const char *fmt, ...)
{
	char text[1024];
	va_list ap;
	int n;

	va_start(ap, fmt);
	n = vsnprintf(text, sizeof(text) - 1, fmt, ap);
	va_end(ap);
	if (n < 0 || !p->o.note)
		return;
	if ((size_t)n > sizeof(text) - 2)
		n = sizeof(text) - 2;
	text[n] = '\n';
	(void)p->o.note(p->o.arg, text, (size_t)n + 1);
}

int plat_flush(struct tally_platform *p, const struct tally_out *to)
{
	int rc = 0;

	if (p->out.failed)
		return plat_fail(p, TALLY_ENOMEM, "out of memory");
	if (p->out.n && to->out)
		rc = to->out(to->arg, p->out.p, p->out.n);
	buf_clear(&p->out);
	return rc < 0 ? plat_fail(p, TALLY_EIO, "failed to write the output") : 0;
}

int plat_take(struct tally_platform *p, void *to, size_t ours, const void *from)
{
	if (ptt_take_opts(to, ours, from))
		return 0;
	return plat_fail(p, TALLY_EINVAL, "options of a newer library: this one does not know them");
}

/* ---- the handle ---------------------------------------------------------------------------------- */

static int copy_options(struct tally_platform *p)
{
	struct tally_platform_opts *o = &p->o;

	if (o->flags || o->profile > TALLY_PROFILE_DRIVER)
		return plat_fail(p, TALLY_EINVAL, "an option of the platform has a value that is not known");
	p->profile = o->profile == TALLY_PROFILE_DRIVER ? PTT_PROFILE_DRIVER : PTT_PROFILE_SPEC;
	p->name = mem_strdup(o->on ? o->on : "local");
	p->sysfs = o->sysfs ? mem_strdup(o->sysfs) : NULL;
	if (!p->name || (o->sysfs && !p->sysfs))
		return plat_fail(p, TALLY_ENOMEM, "out of memory");
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
	rc = p->on.row->ptt(p, &p->ptt, &e);
	if (rc < 0)
		return plat_fail(p, (enum tally_err)-rc, "%s", e.text[0] ? e.text : tally_strerror(rc));
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
	if (rc >= 0 && p->on.path)
		rc = open_ptt(p);                 /* somebody must answer */
	return rc;
}

void tally_platform_close(struct tally_platform *p)
{
	if (!p)
		return;
	if (p->has_ptt)
		p->ptt.op->close(p->ptt.arg);
	mem_free(p->name);
	mem_free(p->sysfs);
	buf_free(&p->out);
	mem_free(p);
}

const char *tally_platform_error(const struct tally_platform *p)
{
	return p->err.text;
}

void plat_give_ptt(struct tally_platform *p, const struct ptt_pmus *ptt)
{
	assert(!p->has_ptt);
	p->ptt = *ptt;
	p->has_ptt = true;
}

/* ---- PTT devices ---------------------------------------------------------------------------------- */

static int no_devices(struct tally_platform *p, const char *words)
{
	bool named = p->on.row->embedded || p->on.path || strstr(words, "kunpeng");

	return plat_fail(p, TALLY_ENOTSUP, "%s%s", *words ? words : "there is no PTT device",
			 named ? "" : "; '--on kunpeng' is a model that has some");
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
	return rc < 0 ? plat_fail(p, (enum tally_err)-rc, "%s", e.text[0] ? e.text : tally_strerror(rc)) : 0;
}

int plat_ptt_device(struct tally_platform *p, const char *name, size_t n, uint32_t *ret)
{
	const char *names[PTT_PMU_MOST], *near;
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
	near = text_nearest(word, names, npmus < PTT_PMU_MOST ? npmus : PTT_PMU_MOST);
	if (near)
		return plat_fail(p, TALLY_EINVAL, "there is no device '%s'; did you mean '%s'?", word, near);
	return plat_fail(p, TALLY_EINVAL, "there is no device '%s'; 'tally list ptt' shows them", word);
}
