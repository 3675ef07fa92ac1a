/*
 * list.c: what can be recorded, read and set.
 *
 * Each kind of thing is a row of a table with a function that walks them.  A walk
 * yields rows of one shape (what it is, of which device, its name, how it is written in an
 * event or a selector, its value, words), and one place prints them in three forms; so a new kind is
 * a row and a walk.  In text a heading stands before the first row of each group.
 *
 * What may not be read is listed without its value, and why is said once.
 */
#include <stdio.h>
#include <string.h>

#include "answer/page.h"
#include "ask/find_int.h"

#define TEXT_AT 31 /* the column behind which words begin */

struct row {
	const char *what;                 /* "root_port": JSON's type */
	const char *group;                /* text: the heading it stands under; NULL: none */
	const char *device, *name, *text; /* device "": of all */
	const char *key; /* "filter": what its value is given to, in an event or a selector; NULL: nothing */
	uint64_t value;
	bool has_value, hex;
};
struct list {
	struct tally_platform *p;
	struct tally_out to;
	const char *pattern; /* NULL: everything */
	bool verbose, noted;
	uint64_t rows;
	const char *about; /* text: of the device that is walked */
	char device[64];   /* text: whose heading was printed last, */
	const char *group; /* and of which group */
};

/* ---- a row in three forms -------------------------------------------------------------- */

/* How the value is written where it is used: "filter=0x80001". */
static void list_term_text(char *to, size_t n, const struct row *r)
{
	to[0] = '\0';
	if (r->key && r->has_value)
		snprintf(to, n, r->hex ? "%s=0x%05llx" : "%s=%llu", r->key, (unsigned long long)r->value);
}

static void list_put_headings(struct list *l, const struct row *r)
{
	struct buf *to = &l->p->out;

	if (strcmp(l->device, r->device) || !l->rows) {
		buf_printf(to, "%s%s", l->rows ? "\n" : "", *r->device ? r->device : "all devices");
		buf_printf(to, "%s%s\n", *r->device && *l->about ? ": " : "", *r->device ? l->about : "");
		snprintf(l->device, sizeof(l->device), "%s", r->device);
		l->group = NULL;
	}
	if (l->group != r->group)
		buf_printf(to, "  %s\n", r->group);
	l->group = r->group;
}

static void text_row(struct list *l, const struct row *r, const char *how)
{
	struct buf *to = &l->p->out;
	char left[128];

	if (r->group) {
		list_put_headings(l, r);
		if (!r->key || strcmp(r->key, r->name))
			snprintf(left, sizeof(left), "    %-12s %s", r->name, how);
		else
			snprintf(left, sizeof(left), "    %s%s", *how ? how : r->name, *how ? "" : "=?");
		buf_printf(to, "%-*s%s", *r->text ? TEXT_AT : 0, left, *r->text ? " " : "");
		buf_wrap(to, r->text, TEXT_AT + 1, TEXT_AT + 1, tbl_columns(&l->to), "");
	} else {
		buf_printf(to, "%-12s %s\n", r->name, r->text);
	}
}

static void json_text(struct buf *to, const char *key, const char *s)
{
	buf_printf(to, ",\"%s\":", key);
	buf_json_str(to, s, strlen(s));
}

static void json_row(struct list *l, const struct row *r, const char *how)
{
	struct buf *to = &l->p->out;

	buf_printf(to, "{\"type\":\"%s\"", r->what);
	if (*r->device)
		json_text(to, "device", r->device);
	json_text(to, "name", r->name);
	if (r->has_value)
		buf_printf(to, ",\"value\":%llu", (unsigned long long)r->value);
	if (*how)
		json_text(to, "term", how);
	if (*r->text)
		json_text(to, "text", r->text);
	buf_puts(to, "}\n");
}

static void csv_row(struct list *l, const struct row *r, const char *how)
{
	const char *cell[] = { r->what, r->device, r->name, how, r->text };
	struct buf *to = &l->p->out;
	char separator = l->to.separator ? l->to.separator : ',';

	if (!l->rows)
		buf_printf(to, "type%cdevice%cname%cterm%ctext%cvalue\n", separator, separator, separator, separator,
			   separator);
	for (size_t i = 0; i < COUNT(cell); i++) {
		an_csv_cell(to, cell[i], strlen(cell[i]), separator);
		buf_putc(to, separator);
	}
	if (r->has_value)
		buf_printf(to, "%llu", (unsigned long long)r->value);
	buf_putc(to, '\n');
}

static bool is_wanted(const struct list *l, const struct row *r)
{
	return !l->pattern || text_glob(l->pattern, r->name) || (*r->device && text_glob(l->pattern, r->device));
}

static void list_put_row(struct list *l, const struct row *r)
{
	char how[64];

	if (!is_wanted(l, r))
		return;
	list_term_text(how, sizeof(how), r);
	if (l->to.format == TALLY_FORMAT_JSON)
		json_row(l, r, how);
	else if (l->to.format == TALLY_FORMAT_CSV)
		csv_row(l, r, how);
	else
		text_row(l, r, how);
	l->rows++;
}

/* ---- ptt: devices, filters, tunables ------------------------------------------------------ */

/* In text a device is the heading over what it has. */
static void put_device(struct list *l, const struct ptt_pmu *d, char *about, size_t n)
{
	snprintf(about, n, "%s%s", *d->cpus ? "CPUs " : "", d->cpus);
	l->about = about;
	if (l->to.format != TALLY_FORMAT_TEXT)
		list_put_row(l, &(struct row){ .what = "device",
					       .device = d->name,
					       .name = d->name,
					       .text = about,
					       .value = d->type,
					       .has_value = d->type != 0 });
	else if (l->verbose && d->type)
		snprintf(about + strlen(about), n - strlen(about), "%sperf's type %u", *about ? ", " : "", d->type);
}

static void put_filters(struct list *l, const struct ptt_pmu *d)
{
	for (uint32_t i = 0; i < d->nfilters; i++) {
		const struct ptt_filter *f = &d->filter[i];

		list_put_row(l,
			     &(struct row){
				     .what = f->port ? "root_port" : "requester",
				     .device = d->name,
				     .name = f->name,
				     .text = "",
				     .group = f->port ? "root ports (all that is below them; several are joined by +)" :
							"requesters: functions that send requests (one at a time)",
				     .key = "filter",
				     .value = f->value,
				     .has_value = true,
				     .hex = true });
	}
}

static void put_tunable(struct list *l, const struct ptt_pmu *d, uint32_t device, enum ptt_tune t)
{
	const struct ptt_tunable *is = &ptt_tunables[t];
	struct err e = { 0 };
	uint32_t value = 0;
	bool known = l->p->ptt.op->tune_get(l->p->ptt.arg, device, t, &value, &e) >= 0;
	char text[256];

	if (!known && !l->noted)
		plat_note(l->p, "%s/%s: %s", d->name, is->name, e.text);
	l->noted |= !known;
	snprintf(text, sizeof(text), "%s", is->text);
	if (l->verbose)
		snprintf(text + strlen(text), sizeof(text) - strlen(text), "; %u after a reset; code %#x%s%s",
			 is->reset, is->code, *is->alias ? "; also " : "", is->alias);
	list_put_row(l, &(struct row){ .what = "tunable",
				       .group = "tunables (0, 1 or 2)",
				       .device = d->name,
				       .name = is->name,
				       .text = text,
				       .key = is->name,
				       .value = value,
				       .has_value = known });
}

/* ---- ptt: what an event takes, which is the same for all --------------------------------- */

static void put_types(struct list *l)
{
	static const struct {
		const char *name, *text;
		unsigned value;
	} type[] = {
		{ "p", "posted requests: memory writes, messages", 1 },
		{ "np", "non-posted requests: reads, configuration, IO, atomics", 2 },
		{ "cpl", "completions", 4 },
	};

	for (size_t i = 0; i < COUNT(type); i++)
		list_put_row(l, &(struct row){ .what = "tlp_type",
					       .group = "types (several are added; of outbound packets one)",
					       .device = "",
					       .name = type[i].name,
					       .text = type[i].text,
					       .key = "type",
					       .value = type[i].value,
					       .has_value = true });
}

static void put_directions(struct list *l, uint32_t format)
{
	for (uint32_t d = 0; d < 4; d++) {
		const char *text = ptt_direction_text(format, d);

		if (text)
			list_put_row(l, &(struct row){ .what = format ? "direction_8dw" : "direction_4dw",
						       .device = "",
						       .group = format ? "directions of format 8dw" :
									 "directions of format 4dw",
						       .name = format ? "8dw" : "4dw",
						       .text = text,
						       .key = "direction",
						       .value = d,
						       .has_value = true });
	}
}

static void put_formats(struct list *l)
{
	static const char *const text[] = { "4 double words: a part of the header, 11 bits of time",
					    "8 double words: the whole header, a prefix, 32 bits of time" };

	for (unsigned f = 0; f < COUNT(text); f++)
		list_put_row(l, &(struct row){ .what = "format",
					       .group = "formats",
					       .device = "",
					       .name = f ? "8dw" : "4dw",
					       .text = text[f],
					       .key = "format",
					       .value = f,
					       .has_value = true });
}

static int list_ptt(struct list *l)
{
	const struct ptt_pmu *d;
	char about[128];
	uint32_t n;
	int rc = plat_ptt_list(l->p, &d, &n);

	if (rc < 0)
		return rc;
	for (uint32_t i = 0; i < n; i++) {
		put_device(l, &d[i], about, sizeof(about));
		put_filters(l, &d[i]);
		for (unsigned t = 0; t < PTT_TUNES; t++)
			put_tunable(l, &d[i], i, (enum ptt_tune)t);
	}
	put_types(l);
	put_directions(l, 0);
	put_directions(l, 1);
	put_formats(l);
	return 0;
}

/* ---- what hypervisors count (list_hv.c) ------------------------------------------- */

static int of_hypervisor(struct list *l, int (*list)(struct list_hv *h))
{
	struct list_hv h = { .p = l->p, .to = l->to, .pattern = l->pattern, .verbose = l->verbose };
	int rc = list(&h);

	l->rows = h.rows;
	return rc;
}

static int list_vfalls(struct list *l)
{
	return of_hypervisor(l, hv_list_vfalls);
}

static int list_mmustat(struct list *l)
{
	return of_hypervisor(l, hv_list_mmustat);
}

static int list_gpci(struct list *l)
{
	return of_hypervisor(l, hv_list_gpci);
}

/* ---- which kinds there are --------------------------------------------------------------------- */

static int list_kinds(struct list *l);

static const struct kind {
	const char *name, *text;
	int (*list)(struct list *l);
} kinds[] = {
	{ "", "", list_kinds },
	{ "ptt", "PCIe tune and trace: devices, filters, tunables", list_ptt },
	{ "vfalls", "Victoria Falls: performance registers and events", list_vfalls },
	{ "mmustat", "Niagara: MMU statistics", list_mmustat },
	{ "gpci", "POWER: requests and fields of H_GetPerformanceCounterInfo", list_gpci },
};

static int list_kinds(struct list *l)
{
	const struct find_kind *k;

	for (uint32_t i = 0; (k = find_kind(i)) != NULL; i++)
		list_put_row(l, &(struct row){ .what = "kind", .device = "", .name = k->name, .text = k->text });
	for (size_t i = 1; i < COUNT(kinds); i++)
		list_put_row(l, &(struct row){
					.what = "kind", .device = "", .name = kinds[i].name, .text = kinds[i].text });
	return 0;
}

const char *list_kind(uint32_t i)
{
	return i + 1 < COUNT(kinds) ? kinds[i + 1].name : NULL;
}

static const struct kind *kind_of(const char *name)
{
	for (size_t i = 0; i < COUNT(kinds); i++)
		if (!strcmp(kinds[i].name, name))
			return &kinds[i];
	return NULL;
}

static uint32_t find_kind_of(const char *name)
{
	const struct find_kind *k;

	for (uint32_t i = 0; (k = find_kind(i)) != NULL; i++)
		if (!strcmp(k->name, name))
			return i;
	return FIND_ALL;
}

/* A word that is no kind, and nothing matches it. */
static int no_kind(struct tally_platform *p, const char *name)
{
	const char *names[64], *near;
	const struct find_kind *k;
	size_t n = 0;

	for (size_t i = 1; i < COUNT(kinds); i++)
		names[n++] = kinds[i].name;
	for (uint32_t i = 0; (k = find_kind(i)) != NULL && n < COUNT(names); i++)
		names[n++] = k->name;
	near = text_nearest(name, names, n);
	if (near)
		return plat_fail(p, TALLY_EINVAL, "there is nothing of the kind '%s'; did you mean '%s'?", name, near);
	return plat_fail(p, TALLY_EINVAL, "there is nothing of the kind '%s'; 'tally list' shows the kinds", name);
}

/* What is known by name: of a kind, or (the kind is none, there is no pattern) all that matches the word. */
static int list_known(struct list *l, const char *kind)
{
	uint32_t of = find_kind_of(kind);
	struct err said;
	int rc;

	if (of != FIND_ALL || l->pattern)
		return of != FIND_ALL ? find_list(l->p, of, l->pattern, l->verbose, &l->to) : no_kind(l->p, kind);
	rc = find_list(l->p, FIND_ALL, kind, l->verbose, &l->to);
	if (rc != -TALLY_EINVAL)
		return rc;
	/* A misspelt kind is likelier than a misspelt name. */
	said = l->p->err;
	l->p->err = (struct err){ 0 };
	rc = no_kind(l->p, kind);
	if (!strstr(l->p->err.text, "did you mean"))
		l->p->err = said;
	return rc;
}

int tally_list(struct tally_platform *p, const char *kind, const char *pattern, bool verbose,
	       const struct tally_out *to)
{
	struct list l = { .p = p, .pattern = pattern, .verbose = verbose };
	const struct kind *k = kind_of(kind ? kind : "");
	int rc;

	rc = plat_enter(p);
	if (rc >= 0)
		rc = plat_take(p, &l.to, sizeof(l.to), to);
	if (rc >= 0)
		rc = plat_check_format(p, l.to.format);
	if (rc < 0)
		return rc;
	rc = k ? k->list(&l) : list_known(&l, kind);
	if (k && rc >= 0 && !l.rows)
		rc = plat_fail(p, TALLY_EINVAL, "nothing of the kind '%s' matches '%s'", k->name,
			       pattern ? pattern : "*");
	return rc < 0 ? rc : plat_flush(p, &l.to);
}
