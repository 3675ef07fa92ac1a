/*
 * serve.c: D programs and platforms as a service: the calls of tally/serve.h, the loop, and what /metrics and /status
 * say.
 *
 * One thread and one loop.  It waits for a client, for a program that has something to say, or for a second to pass,
 * and does what is due.  Aggregations are read when a client asks, since each reading costs firings of the CPU that
 * reads.
 *
 * Programs come from files of root or of the service's user.  HTTP reads and changes nothing.
 */
#include <errno.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/file.h"
#include "capture/watch.h"
#include "serve/archive_int.h"
#include "serve/live_int.h"
#include "serve/push_int.h"
#include "serve/serve_int.h"
#include "serve/web_int.h"

#define LAST_TURNS 8 /* the library needs one to resume, and some to write */
/* A run of the library sends each client a piece of 16 KiB: who gets much does not wait a turn of the loop for each. */
#define HTTP_TURNS 64
#define HTTP_NS UINT64_C(50000000)
#define TURN_MS 1000 /* drops and CPUs that come and go are looked at so often */
#define PROGRAMS_MOST 256u

void serve_note(const struct tally_serve *s, const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	note_line(s->o.note, s->o.arg, fmt, ap);
	va_end(ap);
}

void serve_warn(const struct tally_serve *s, const struct web *w)
{
	if (w->warning.code)
		serve_note(s, "%s", w->warning.text);
	if (w->key_warning.code)
		serve_note(s, "%s", w->key_warning.text);
}

const char *tally_serve_error(const struct tally_serve *s)
{
	return s->err.text;
}

/* A call begins: the words of the last one are gone. */
static void serve_enter(struct tally_serve *s)
{
	s->err = (struct err){ 0 };
}

/* ---- programs ------------------------------------------------------------------------ */

int tally_serve_open(struct tally_serve **ret, const struct tally_serve_opts *opts)
{
	struct tally_serve *s = mem_alloc(sizeof(*s));

	if (!s)
		return -TALLY_ENOMEM;
	*ret = s;
	if (!opts || !opts_take(&s->o, sizeof(s->o), opts) || !s->o.clock ||
	    s->o.flags & ~(TALLY_SERVE_DROP | TALLY_SERVE_FOLDED))
		return err_set(&s->err, TALLY_EINVAL, "invalid options");
	if (!s->o.series)
		s->o.series = TALLY_SERVE_SERIES;
	if (s->o.push && push_check_url(s->o.push, &s->err) < 0)
		return -TALLY_EINVAL;
	return s->o.listen ? http_address(s->o.listen, !s->o.web, &s->err) : 0;
}

/* And hears the server that profiles are sent to. */
static void serve_answer_clients(struct tally_serve *s)
{
	const uint64_t began_ns = s->o.clock(s->o.arg);

	service_raise_rights(false);
	http_run(s->http);
	for (int turn = 0; turn < HTTP_TURNS && http_wait_ms(s->http) == 0 && s->o.clock(s->o.arg) - began_ns < HTTP_NS;
	     turn++)
		http_run(s->http);
	push_run(s->push);
	service_raise_rights(true);
}

/* Who waits gets what there is, if his socket takes it at once. */
static void serve_send_last(struct tally_serve *s)
{
	live_end(s->live);
	profiles_resume(s->profiles);
	for (int turn = 0; turn < LAST_TURNS; turn++)
		serve_answer_clients(s);
	profiles_resume(s->profiles); /* of who came meanwhile: the library wants none suspended when it closes */
}

void tally_serve_close(struct tally_serve *s)
{
	if (!s)
		return;
	if (s->http) {
		serve_send_last(s);
		push_end(s->push);
	}
	http_close(s->http);
	push_close(s->push);
	live_close(s->live);
	profiles_close(s->profiles);
	for (uint32_t i = 0; i < s->nprograms; i++)
		program_close(s->program[i]);
	archive_close(s->archive);
	mem_free(s->program);
	mem_free(s->directory);
	mem_free(s);
}

struct program *serve_find_program(const struct tally_serve *s, const char *name)
{
	for (uint32_t i = 0; i < s->nprograms; i++)
		if (!strcmp(s->program[i]->name, name))
			return s->program[i];
	return NULL;
}

/* Adds p, or closes it. */
static int serve_add_program(struct tally_serve *s, struct program *p)
{
	const struct program *other = serve_find_program(s, p->name);
	struct program **slot;
	int rc = 0;

	if (other && p->is_capture)
		rc = err_set(&s->err, TALLY_EINVAL, "%s: two events; only one trace at a time runs on a device",
			     p->name);
	else if (other && p->is_platform)
		rc = err_set(&s->err, TALLY_EINVAL, "%s: two of one name; give each platform once, with all its events",
			     p->name);
	else if (other)
		rc = err_set(&s->err, TALLY_EINVAL, "%s and %s: two programs of one name; rename one", other->path,
			     p->path);
	else if (s->nprograms >= PROGRAMS_MOST)
		rc = err_set(&s->err, TALLY_EINVAL, "%s: a service has at most %u programs and platforms", p->path,
			     PROGRAMS_MOST);
	else if (!(slot = VEC_NEW(s->program, s->nprograms, s->capprograms)))
		rc = err_oom(&s->err);
	else
		*slot = p;
	if (rc < 0)
		program_close(p);
	return rc;
}

/* Adds a file, or finds it again. */
static int serve_take_program(struct tally_serve *s, const char *path, bool of_directory)
{
	struct program *p, *other;

	if (program_open(s, path, &p) < 0)
		return err_oom(&s->err);
	other = serve_find_program(s, p->name);
	if (other && !strcmp(other->path, path)) {
		other->stays = true;
		program_close(p);
		return 0;
	}
	p->of_directory = of_directory;
	p->stays = true;
	return serve_add_program(s, p);
}

int tally_serve_program(struct tally_serve *s, const char *path)
{
	serve_enter(s);
	return serve_take_program(s, path, false);
}

static int serve_take_platform(struct tally_serve *s, const char *on, const char *device, const char *events,
			       const char *view)
{
	struct program *p;

	return platform_open(s, on, device, events, view, &p) < 0 ? err_oom(&s->err) : serve_add_program(s, p);
}

/* Events of PTT devices are platforms of their own; `rest` gets the others. */
static int serve_take_captures(struct tally_serve *s, const char *on, const char *events, struct buf *rest)
{
	const char *at;
	size_t n, device;
	int rc = 0;

	while (rc >= 0 && (at = capture_watch_find(events, &n, &device)) != NULL) {
		struct buf event = { 0 }, name = { 0 };

		buf_put(&event, at, n);
		buf_put(&name, at, device);
		rc = event.failed || name.failed ? err_oom(&s->err) : serve_take_platform(s, on, name.p, event.p, NULL);
		buf_free(&event);
		buf_free(&name);
		buf_put(rest, events, (size_t)(at - events));
		events = at + n + (at[n] == ',');
	}
	buf_puts(rest, events);
	if (rest->n && rest->p[rest->n - 1] == ',')
		rest->p[--rest->n] = '\0';
	return rest->failed ? err_oom(&s->err) : rc;
}

int tally_serve_platform(struct tally_serve *s, const char *on, const char *events, const char *view)
{
	struct buf rest = { 0 };
	int rc = 0;

	serve_enter(s);
	on = on ? on : "local";
	if (!events == !view)
		return err_set(&s->err, TALLY_EINVAL, "%s: %s", on,
			       events ? "events and a view cannot be combined" :
					"nothing to count: no event and no view");
	if (events)
		rc = serve_take_captures(s, on, events, &rest);
	if (rc >= 0 && (view || rest.n))
		rc = serve_take_platform(s, on, NULL, rest.n ? rest.p : NULL, view);
	buf_free(&rest);
	return rc;
}

static int serve_take_name(void *arg, const char *name)
{
	struct tally_serve *s = arg;
	struct buf path = { 0 };
	const size_t n = strlen(name);
	int rc;

	if (n < 3 || strcmp(name + n - 2, ".d") != 0 || name[0] == '.')
		return 0;
	buf_printf(&path, "%s/%s", s->directory, name);
	rc = path.failed ? err_oom(&s->err) : serve_take_program(s, path.p, true);
	buf_free(&path);
	return rc;
}

static int by_name(const void *x, const void *y)
{
	const struct program *const *a = x, *const *b = y;

	return strcmp((*a)->name, (*b)->name);
}

/* Looks which programs the directory has; those that are gone are closed. */
static int serve_look(struct tally_serve *s)
{
	uint32_t n = 0;
	int rc = 0;

	for (uint32_t i = 0; i < s->nprograms; i++)
		s->program[i]->stays = !s->program[i]->of_directory;
	if (s->directory)
		rc = dir_check_owned(s->directory, &s->err);
	if (rc >= 0 && s->directory)
		rc = dir_each(s->directory, serve_take_name, s);
	if (rc == -TALLY_EIO && !s->err.code)
		(void)err_set(&s->err, TALLY_EIO, "%s: %s", s->directory, strerror(errno));
	for (uint32_t i = 0; rc >= 0 && i < s->nprograms; i++) {
		if (s->program[i]->stays) {
			s->program[n++] = s->program[i];
			continue;
		}
		serve_note(s, "%s: its file is gone, the program ends", s->program[i]->name);
		program_close(s->program[i]);
	}
	if (rc < 0)
		return rc;
	s->nprograms = n;
	if (n)
		qsort(s->program, n, sizeof(struct program *), by_name);
	return 0;
}

int tally_serve_directory(struct tally_serve *s, const char *path)
{
	serve_enter(s);
	mem_free(s->directory);
	s->directory = mem_strdup(path);
	return s->directory ? serve_look(s) : err_oom(&s->err);
}

/* ---- /metrics --------------------------------------------------------------------------- */

/* A metric and whose it is, to be sorted: a family stands in one piece, whichever programs have it. */
struct family_part {
	struct metric *m;
	const struct program *p;
};

static int by_family(const void *x, const void *y)
{
	const struct family_part *a = x, *b = y;
	int rc = strcmp(a->m->name, b->m->name);

	if (!rc)
		rc = strcmp(a->p->name, b->p->name);
	return rc ? rc : a->m < b->m ? -1 : a->m > b->m;
}

/* The metrics of all programs, by family; from mem_alloc. */
static struct family_part *serve_families(const struct tally_serve *s, uint32_t *ret)
{
	struct family_part *part;
	uint32_t n = 0;

	for (uint32_t i = 0; i < s->nprograms; i++)
		n += s->program[i]->nmetrics;
	part = mem_alloc((n + 1) * sizeof(*part));
	*ret = 0;
	for (uint32_t i = 0; part && i < s->nprograms; i++)
		for (uint32_t k = 0; k < s->program[i]->nmetrics; k++)
			if (s->program[i]->metric[k].name)
				part[(*ret)++] = (struct family_part){ &s->program[i]->metric[k], s->program[i] };
	if (part)
		qsort(part, *ret, sizeof(*part), by_family);
	return part;
}

/* Those of which a sample is called as a metric is: a histogram x has a sample x_sum. NULL: there are none. */
static const struct family_part *serve_family_with_sample(const struct family_part *part, uint32_t n, const char *name)
{
	for (uint32_t i = 0; i < n; i++)
		if (part[i].m->name && metric_has_sample(part[i].m, name))
			return &part[i];
	return NULL;
}

/*
 * Readers refuse a page on which a name has two types, or a series stands twice: the service keeps its own names, then
 * the first program by name has it, and of a program the first aggregation. What is called as samples of another one
 * goes.
 */
static int serve_settle_names(struct tally_serve *s)
{
	uint32_t n;
	struct family_part *part = serve_families(s, &n);
	const struct family_part *head = NULL, *other;

	s->unsettled = false;
	if (!part)
		return err_oom(&s->err);
	for (uint32_t i = 0; i < n; i++) {
		const struct family_part *at = &part[i];
		const bool is_same = head && !strcmp(head->m->name, at->m->name);

		if (metric_is_own(at->m->name)) {
			serve_note(s,
				   "%s: %s is left out: the service itself has "
				   "a metric of this name; rename the aggregation",
				   at->p->name, at->m->name);
		} else if ((other = serve_family_with_sample(part, i, at->m->name)) != NULL) {
			serve_note(s, "%s: %s is left out: %s of %s has samples of this name; rename the aggregation",
				   at->p->name, at->m->name, other->m->name, other->p->name);
		} else if (is_same && head->p == at->p) {
			serve_note(s, "%s: %s of %s is left out: %s has this name already%s", at->p->name, at->m->name,
				   at->m->source, head->m->source, at->p->is_platform ? "" : "; rename one of the two");
		} else if (is_same && head->m->type != at->m->type) {
			serve_note(s,
				   "%s: %s is left out: another program has a metric of "
				   "this name and another type; rename the aggregation",
				   at->p->name, at->m->name);
		} else {
			head = at;
			continue;
		}
		metric_close(at->m);
	}
	mem_free(part);
	return 0;
}

/* Reads all programs; those that are new are armed with `start`. How many do not compile or cannot be armed. */
static int serve_load(struct tally_serve *s, bool start)
{
	int failed = 0;

	for (uint32_t i = 0; i < s->nprograms; i++) {
		bool is_new;
		int rc = program_load(s->program[i], &is_new);

		if (rc >= 0 && start && is_new)
			rc = program_start(s->program[i]);
		failed += rc < 0;
	}
	(void)serve_settle_names(s);
	return failed;
}

static int serve_put_families(struct tally_serve *s, enum format f, struct buf *to)
{
	uint32_t n;
	struct family_part *part = serve_families(s, &n);
	const struct metric *head = NULL;

	if (!part)
		return -TALLY_ENOMEM;
	for (uint32_t i = 0; i < n; i++) {
		const struct metric *m = part[i].m;

		if (!head || strcmp(head->name, m->name) != 0) {
			metric_head(to, f, m->name, m->type, m->unit, m->help);
			head = m;
		}
		buf_put(to, m->samples.p ? m->samples.p : "", m->samples.n);
	}
	mem_free(part);
	return 0;
}

/* name{program="...", which is not closed yet. */
static void serve_put_owner(struct buf *to, const char *name, const struct program *p)
{
	buf_printf(to, "%s{", name);
	format_label(to, p->is_platform ? "platform" : "program", p->name, strlen(p->name));
}

struct drop_lines {
	struct buf *drops, *firings;
	const struct program *p;
};

static int serve_take_drops(void *arg, const char *kind, uint64_t count)
{
	const struct drop_lines *c = arg;
	struct buf *to = strcmp(kind, "firings") ? c->drops : c->firings;

	serve_put_owner(to, to == c->drops ? "tally_drops_total" : "tally_firings_total", c->p);
	if (to == c->drops) {
		buf_putc(to, ',');
		format_label(to, "kind", kind, strlen(kind));
	}
	buf_printf(to, "} %llu\n", (unsigned long long)count);
	return 0;
}

/* What the service says of itself. */
static void serve_put_self(struct tally_serve *s, enum format f, struct buf *to)
{
	struct buf up = { 0 }, drops = { 0 }, firings = { 0 }, others = { 0 }, lost = { 0 }, passed = { 0 };

	for (uint32_t i = 0; i < s->nprograms; i++) {
		struct program *p = s->program[i];
		struct drop_lines c = { &drops, &firings, p };
		uint64_t n;

		serve_put_owner(&up, "tally_up", p);
		buf_printf(&up, "} %d\n", p->state == PROGRAM_RUNS);
		if (p->trace) {
			/* What cannot be read now has no sample: 0 would say that it began anew. */
			(void)tally_trace_drops(p->trace, serve_take_drops, &c);
			if (program_firings_lost(p, &n) >= 0) {
				serve_put_owner(&lost, "tally_firings_lost_total", p);
				buf_printf(&lost, "} %llu\n", (unsigned long long)n);
			}
		}
		if (p->watch) {
			serve_put_owner(&passed, "tally_platform_seconds_total", p);
			buf_puts(&passed, "} ");
			format_number(&passed, watch_seconds(p->watch));
			buf_putc(&passed, '\n');
		}
		for (uint32_t k = 0; k < p->nmetrics; k++) {
			if (!p->metric[k].name)
				continue;
			serve_put_owner(&others, "tally_series_folded", p);
			buf_printf(&others, ",metric=\"%s\"} %llu\n", p->metric[k].name,
				   (unsigned long long)p->metric[k].others);
		}
	}
	metric_head_own(to, f, OWN_build_info);
	buf_puts(to, "tally_build_info{");
	format_label(to, "version", tally_version(), strlen(tally_version()));
	buf_puts(to, "} 1\n");
	metric_head_own(to, f, OWN_up);
	buf_put(to, up.p ? up.p : "", up.n);
	metric_head_own(to, f, OWN_firings);
	buf_put(to, firings.p ? firings.p : "", firings.n);
	metric_head_own(to, f, OWN_firings_lost);
	buf_put(to, lost.p ? lost.p : "", lost.n);
	metric_head_own(to, f, OWN_drops);
	buf_put(to, drops.p ? drops.p : "", drops.n);
	metric_head_own(to, f, OWN_platform_seconds);
	buf_put(to, passed.p ? passed.p : "", passed.n);
	metric_head_own(to, f, OWN_series_folded);
	buf_put(to, others.p ? others.p : "", others.n);
	metric_head_own(to, f, OWN_scrapes);
	buf_printf(to, "tally_scrapes_total %llu\n", (unsigned long long)s->scrapes);
	metric_head_own(to, f, OWN_scrape_seconds);
	buf_puts(to, "tally_scrape_seconds ");
	format_number(to, (double)s->scrape_ns / 1e9);
	buf_putc(to, '\n');
	to->failed |= up.failed || drops.failed || firings.failed || others.failed || lost.failed || passed.failed;
	buf_free(&up);
	buf_free(&drops);
	buf_free(&firings);
	buf_free(&others);
	buf_free(&lost);
	buf_free(&passed);
}

/* Names of addresses may need rights; the client that asks gets none. */
static int serve_read(struct tally_serve *s, const struct metric_reading *r)
{
	int rc = 0;

	service_raise_rights(true);
	for (uint32_t i = 0; rc >= 0 && i < s->nprograms; i++)
		rc = program_read(s->program[i], r) == -TALLY_ENOMEM ? -TALLY_ENOMEM : 0;
	service_raise_rights(false);
	return rc;
}

int serve_metrics(struct tally_serve *s, enum format f, struct buf *to)
{
	const struct metric_reading r = { f, s->o.clock(s->o.arg) };
	uint64_t end;
	int rc;

	s->scrapes++;
	rc = serve_read(s, &r);
	if (rc >= 0 && s->unsettled)
		rc = serve_settle_names(s);
	if (rc < 0)
		return rc;
	rc = serve_put_families(s, f, to);
	serve_put_self(s, f, to);
	push_put_metrics(s->push, f, to);
	archive_put_metrics(s->archive, f, to);
	if (f == FORMAT_OPENMETRICS)
		buf_puts(to, "# EOF\n");
	end = s->o.clock(s->o.arg);
	s->scrape_ns = end > r.now_ns ? end - r.now_ns : 0; /* the clock may be set back */
	return rc < 0 || to->failed ? -TALLY_ENOMEM : 0;
}

/* ---- /status ------------------------------------------------------------------------------ */

int serve_status(struct tally_serve *s, struct buf *to)
{
	buf_puts(to, "{\"version\":");
	buf_json_str(to, tally_version(), strlen(tally_version()));
	buf_puts(to, ",\"programs\":[");
	for (uint32_t i = 0; i < s->nprograms; i++) {
		const struct program *p = s->program[i];

		buf_printf(to, "%s{\"%s\":", i ? "," : "", p->is_platform ? "platform" : "program");
		buf_json_str(to, p->name, strlen(p->name));
		if (!p->is_platform) {
			buf_puts(to, ",\"file\":");
			buf_json_str(to, p->path, strlen(p->path));
		}
		buf_printf(to, ",\"state\":\"%s\",\"reason\":", program_state_text(p));
		buf_json_str(to, p->why.text, strlen(p->why.text));
		buf_putc(to, '}');
	}
	buf_puts(to, "],\"reload\":{\"reason\":");
	buf_json_str(to, s->refused.text, strlen(s->refused.text));
	buf_putc(to, '}');
	push_put_status(s->push, to);
	archive_put_status(s->archive, to);
	buf_puts(to, "}\n");
	return to->failed ? -TALLY_ENOMEM : 0;
}

/* ---- checking and running -------------------------------------------------------------------- */

int tally_serve_check(struct tally_serve *s, tally_write_fn *out, void *arg)
{
	static const char *const types[] = { "counter", "gauge", "summary", "histogram" };
	struct buf b = { 0 };
	struct family_part *part;
	struct web web;
	uint32_t n = 0;
	int rc, failed;

	serve_enter(s);
	if (s->o.web) {
		rc = web_open(&web, s->o.web, s->o.clock(s->o.arg), &s->err);
		if (rc >= 0)
			serve_warn(s, &web);
		if (rc >= 0 && s->o.listen)
			rc = http_address(s->o.listen, !web.cert || !web.nusers, &s->err);
		web_close(&web);
		if (rc < 0)
			return rc;
	}
	rc = serve_look(s);
	if (rc < 0)
		return rc;
	failed = serve_load(s, false);
	part = serve_families(s, &n);
	if (!part)
		return err_oom(&s->err);
	for (uint32_t i = 0; i < n; i++) {
		const struct metric *m = part[i].m;

		buf_printf(&b, "%s: %s%s{%s", part[i].p->name, m->name, m->type == METRIC_COUNTER ? "_total" : "",
			   m->owner);
		for (uint32_t k = 0; k < m->nlabels; k++)
			buf_printf(&b, ",%s", m->label[k]);
		buf_printf(&b, "} %s\n", types[m->type]);
	}
	mem_free(part);
	rc = b.failed ? err_oom(&s->err) : out && b.n ? out(arg, b.p, b.n) : 0;
	buf_free(&b);
	return rc < 0 ? rc : failed;
}

/* "2 programs and 1 platform" */
struct serve_count {
	char text[64];
};
static struct serve_count serve_count_all(const struct tally_serve *s)
{
	struct serve_count c;
	uint32_t programs = s->nprograms, platforms = 0;
	int n = 0;

	for (uint32_t i = 0; i < s->nprograms; i++)
		platforms += s->program[i]->is_platform;
	programs -= platforms;
	if (programs || !platforms)
		n = snprintf(c.text, sizeof(c.text), "%u program%s", programs, programs == 1 ? "" : "s");
	if (platforms)
		snprintf(c.text + n, sizeof(c.text) - (size_t)n, "%s%u platform%s", n ? " and " : "", platforms,
			 platforms == 1 ? "" : "s");
	return c;
}

static void serve_tell_ready(struct tally_serve *s, int failed)
{
	service_tell(s, "READY=1\nSTATUS=%s, %d failed", serve_count_all(s).text, failed);
}

static void serve_reload(struct tally_serve *s)
{
	struct err web = { 0 };
	int failed;

	serve_enter(s);
	service_tell(s, "RELOADING=1");
	push_read(s->push, true);
	if (s->o.web) { /* its connections are closed */
		live_resume(s->live);
		profiles_resume(s->profiles);
	}
	s->refused = (struct err){ 0 };
	if (serve_look(s) < 0)
		s->refused = s->err;
	if (http_reload(s->http, &web) < 0)
		s->refused = web;
	if (s->err.code)
		serve_note(s, "reload: %s", s->err.text);
	if (web.code)
		serve_note(s, "reload: %s", web.text);
	failed = serve_load(s, true);
	serve_tell_ready(s, failed);
	serve_note(s, "reloaded: %s, %d failed", serve_count_all(s).text, failed);
}

/* Waits until something is due, and does it. */
static int serve_turn(struct tally_serve *s, struct pollfd *fds)
{
	const uint64_t now_ns = s->o.clock(s->o.arg);
	const int turn_ms =
		s->o.watchdog_ns && s->o.watchdog_ns / 4000000 < TURN_MS ? (int)(s->o.watchdog_ns / 4000000) : TURN_MS;
	int due[] = { live_work(s->live, now_ns), profiles_work(s->profiles, now_ns), archive_work(s->archive, now_ns),
		      -1, -1 },
	    timeout = turn_ms;
	nfds_t n = 0;

	push_read(s->push, false);
	fds[n++] = (struct pollfd){ .fd = http_fd(s->http), .events = POLLIN };
	fds[n++] = (struct pollfd){ .fd = push_fd(s->push), .events = POLLIN };
	for (uint32_t i = 0; i < s->nprograms; i++) {
		struct program *p = s->program[i];

		fds[n++] = (struct pollfd){ .fd = p->state == PROGRAM_RUNS && p->trace ? tally_trace_fd(p->trace) : -1,
					    .events = POLLIN };
	}
	for (uint32_t i = 0; i < s->nprograms; i++) {
		const struct program *p = s->program[i];
		const uint64_t wait = p->watch ? platform_wait_ns(p, now_ns) / 1000000 + 1 : TURN_MS;

		timeout = wait < (uint64_t)timeout ? (int)wait : timeout;
	}
	due[COUNT(due) - 2] = push_wait_ms(s->push);
	due[COUNT(due) - 1] = http_wait_ms(s->http); /* last: what was resumed is due at once */
	for (size_t i = 0; i < COUNT(due); i++)
		if (due[i] >= 0 && due[i] < timeout)
			timeout = due[i];
	if (poll(fds, n, timeout) < 0 && errno != EINTR)
		return err_set(&s->err, TALLY_EIO, "failed to wait: %s", strerror(errno));
	for (uint32_t i = 0; i < s->nprograms; i++)
		program_work(s->program[i]);
	serve_answer_clients(s);
	service_tell_alive(s);
	return 0;
}

/* What a first reading needs rights for, a later one has. */
static int serve_drop(struct tally_serve *s)
{
	const struct metric_reading r = { FORMAT_TEXT, s->o.clock(s->o.arg) };
	int rc = serve_read(s, &r);

	s->dropped = rc >= 0;
	return rc < 0 ? err_oom(&s->err) : service_drop_rights(&s->err);
}

int tally_serve_run(struct tally_serve *s)
{
	const char *at = s->o.listen;
	char usual[32];
	struct pollfd *fds;
	int rc, failed;

	serve_enter(s);
	if (s->http)
		return err_set(&s->err, TALLY_ESTATE, "the service ran before");
	snprintf(usual, sizeof(usual), "127.0.0.1:%d", TALLY_SERVE_PORT);
	rc = serve_look(s);
	if (rc < 0)
		return rc;
	if (!s->nprograms)
		return err_set(&s->err, TALLY_EINVAL, "nothing to serve: give -s FILE, -d DIR or --on WHERE");
	if (live_open(&s->live, s) < 0 || profiles_open(&s->profiles) < 0)
		return err_oom(&s->err);
	rc = s->o.push ? push_open(&s->push, s, &s->err) : 0;
	if (rc >= 0 && s->o.archive)
		rc = archive_open(&s->archive, s, &s->err);
	if (rc >= 0)
		rc = http_open(&s->http, s, at ? at : usual, &s->err);
	if (rc < 0)
		return rc;
	failed = serve_load(s, true);
	fds = mem_alloc((PROGRAMS_MOST + 2) * sizeof(*fds));
	if (!fds)
		return err_oom(&s->err);
	if (s->o.flags & TALLY_SERVE_DROP)
		rc = serve_drop(s);
	serve_tell_ready(s, failed);
	serve_note(s, "serving %s (%d failed) on port %u", serve_count_all(s).text, failed, http_port(s->http));
	while (rc >= 0 && !(s->o.stop && *s->o.stop)) {
		rc = serve_turn(s, fds);
		if (s->o.reload && *s->o.reload) {
			*s->o.reload = 0;
			serve_reload(s);
		}
	}
	service_tell(s, "STOPPING=1");
	mem_free(fds);
	return rc;
}
