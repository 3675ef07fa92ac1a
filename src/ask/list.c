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

#include "ask/find_int.h"

#define TEXT_AT 31 /* the column behind which words begin */

struct row {
	const char *what;                 /* "root_port": JSON's type */
	const char *group;                /* text: the heading it stands under; NULL: none */
	const char *device, *name, *text; /* device "": of all */
	const char *key;   /* "filter": what its value is given to, in an event or a selector; NULL: nothing */
	const char *about; /* text: of the device */
	uint64_t value;
	bool has_value, hex;
	enum an_for whose;
};
struct list {
	struct tally_platform *p;
	const char *pattern; /* NULL: everything */
	bool verbose, noted;
	uint64_t rows_hv; /* of list_hv.c */
	struct an_rows rows;
	/* what was printed last of text */
	const char *device, *group;
};

/* ---- a row in three forms -------------------------------------------------------------- */

enum { L_TYPE, L_DEVICE, L_NAME, L_VALUE, L_TERM, L_TEXT, L_VALUE_AT_END, L_KEY, L_GROUP, L_ABOUT, L_COLUMNS };
static const struct an_column list_col[L_COLUMNS] = {
	[L_TYPE] = { "type", "", AN_TEXT },
	[L_DEVICE] = { "device", "", AN_TEXT },
	[L_NAME] = { "name", "", AN_TEXT },
	[L_VALUE] = { "value", "", AN_COUNT },
	[L_TERM] = { "term", "", AN_TEXT },
	[L_TEXT] = { "text", "", AN_TEXT },
	[L_VALUE_AT_END] = { "value", "", AN_COUNT },
	/* for people */
	[L_KEY] = { "", "", AN_TEXT },
	[L_GROUP] = { "", "", AN_TEXT },
	[L_ABOUT] = { "", "", AN_TEXT },
};
#define LIST_PEOPLES (UINT64_C(1) << L_KEY | UINT64_C(1) << L_GROUP | UINT64_C(1) << L_ABOUT)

static const char *list_word(const struct an_cell *row, unsigned column)
{
	return row[column].s ? row[column].s : "";
}

static void list_put_headings(struct list *l, struct buf *to, const struct an_cell *row)
{
	const char *device = list_word(row, L_DEVICE), *group = row[L_GROUP].s, *about = list_word(row, L_ABOUT);

	if (!l->device || strcmp(l->device, device)) {
		buf_printf(to, "%s%s%s%s\n", l->device ? "\n" : "", *device ? device : "all devices",
			   *about ? ": " : "", about);
		l->device = device;
		l->group = NULL;
	}
	if (!l->group || strcmp(l->group, group))
		buf_printf(to, "  %s\n", group);
	l->group = group;
}

/* People have headings of devices and groups, and the term in place of the name where one is made of the other. */
static void list_put_line(struct an_emit *e, const struct an_rows *t, const struct an_cell *row)
{
	const char *name = list_word(row, L_NAME), *how = list_word(row, L_TERM), *text = list_word(row, L_TEXT);
	char left[128];

	if (!row[L_GROUP].s) {
		buf_printf(e->to, "%-12s %s\n", name, text);
		return;
	}
	list_put_headings(t->arg, e->to, row);
	if (!row[L_KEY].s || strcmp(row[L_KEY].s, name))
		snprintf(left, sizeof(left), "    %-12s %s", name, how);
	else
		snprintf(left, sizeof(left), "    %s%s", *how ? how : name, *how ? "" : "=?");
	buf_printf(e->to, "%-*s%s", *text ? TEXT_AT : 0, left, *text ? " " : "");
	buf_wrap(e->to, text, TEXT_AT + 1, TEXT_AT + 1, e->columns, "");
}

static bool is_wanted(const struct list *l, const struct row *r)
{
	return !l->pattern || text_glob(l->pattern, r->name) || (*r->device && text_glob(l->pattern, r->device));
}

static struct an_cell list_words_cell(const char *s)
{
	return s && *s ? AN_S(s) : AN_NONE;
}

static void list_put_row(struct list *l, const struct row *r)
{
	const struct an_cell value = r->has_value ? AN_U(r->value) : AN_NONE;
	char how[64] = ""; /* how the value is written where it is used: "filter=0x80001" */

	if (!is_wanted(l, r))
		return;
	if (r->key && r->has_value)
		snprintf(how, sizeof(how), r->hex ? "%s=0x%05llx" : "%s=%llu", r->key, (unsigned long long)r->value);
	an_rows_add_for(&l->rows, r->whose,
			(struct an_cell[L_COLUMNS]){
				[L_TYPE] = AN_S(r->what),
				[L_DEVICE] = list_words_cell(r->device),
				[L_NAME] = AN_S(r->name),
				[L_VALUE] = value,
				[L_TERM] = list_words_cell(how),
				[L_TEXT] = list_words_cell(r->text),
				[L_VALUE_AT_END] = value,
				[L_KEY] = list_words_cell(r->key),
				[L_GROUP] = list_words_cell(r->group),
				[L_ABOUT] = list_words_cell(r->about),
			});
}

/* ---- ptt: devices, filters, tunables ------------------------------------------------------ */

/* For people a device is the heading over what it has: what stands there. */
static const char *put_device(struct list *l, const struct ptt_pmu *d)
{
	const char *about = arena_text(&l->rows.words, "%s%s", *d->cpus ? "CPUs " : "", d->cpus);

	list_put_row(l, &(struct row){ .what = "device",
				       .device = d->name,
				       .name = d->name,
				       .text = about,
				       .value = d->type,
				       .has_value = d->type != 0,
				       .whose = AN_FOR_PROGRAMS });
	if (!l->verbose || !d->type)
		return about;
	return arena_text(&l->rows.words, "%s%sperf's type %u", about, *about ? ", " : "", d->type);
}

static void put_filters(struct list *l, const struct ptt_pmu *d, const char *about)
{
	for (uint32_t i = 0; i < d->nfilters; i++) {
		const struct ptt_filter *f = &d->filter[i];

		list_put_row(
			l,
			&(struct row){
				.what = f->port ? "root_port" : "requester",
				.device = d->name,
				.name = f->name,
				.text = "",
				.group = f->port ?
						 "root ports (each with all functions below it; join several with +)" :
						 "requesters: functions that send requests (only one)",
				.about = about,
				.key = "filter",
				.value = f->value,
				.has_value = true,
				.hex = true });
	}
}

static void put_tunable(struct list *l, const struct ptt_pmu *d, const char *about, uint32_t device, enum ptt_tune t)
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
		snprintf(text + strlen(text), sizeof(text) - strlen(text), "; reset value %u; code %#x%s%s", is->reset,
			 is->code, *is->alias ? "; also " : "", is->alias);
	list_put_row(l, &(struct row){ .what = "tunable",
				       .group = "tunables (0, 1 or 2)",
				       .about = about,
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
					       .group = "types (join several with +; outbound takes one)",
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
	static const char *const text[] = { "4 double words: part of the header, 11 bits of time",
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
	uint32_t n;
	int rc = plat_ptt_list(l->p, &d, &n);

	if (rc < 0)
		return rc;
	for (uint32_t i = 0; i < n; i++) {
		const char *about = put_device(l, &d[i]);

		put_filters(l, &d[i], about);
		for (unsigned t = 0; t < PTT_TUNES; t++)
			put_tunable(l, &d[i], about, i, (enum ptt_tune)t);
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
	struct list_hv h = { .p = l->p, .pattern = l->pattern, .verbose = l->verbose };
	int rc = list(&h);

	l->rows_hv = h.rows;
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
	const char *names[64];
	const struct find_kind *k;
	size_t n = 0;

	for (size_t i = 1; i < COUNT(kinds); i++)
		names[n++] = kinds[i].name;
	for (uint32_t i = 0; (k = find_kind(i)) != NULL && n < COUNT(names); i++)
		names[n++] = k->name;
	return plat_fail(p, TALLY_EINVAL, "unknown kind '%s'%s", name,
			 err_unknown(name, TEXT_NAMES(names, n), "; 'tally list' shows the kinds").text);
}

/* What is known by name: of a kind, or (the kind is none, there is no pattern) all that matches the word. */
static int list_known(struct list *l, const char *kind)
{
	uint32_t of = find_kind_of(kind);
	struct err said;
	int rc;

	if (of != FIND_ALL || l->pattern)
		return of != FIND_ALL ? find_list(l->p, of, l->pattern, l->verbose) : no_kind(l->p, kind);
	rc = find_list(l->p, FIND_ALL, kind, l->verbose);
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
	static const struct an_layout lines = { .row = list_put_line };
	struct list l = { .p = p, .pattern = pattern, .verbose = verbose };
	const struct kind *k = kind_of(kind ? kind : "");
	struct tally_out out = { .size = 0 };
	int rc;

	l.rows = (struct an_rows){ .col = list_col,
				   .ncols = L_COLUMNS,
				   .json_skips = LIST_PEOPLES | UINT64_C(1) << L_VALUE_AT_END,
				   .csv_skips = LIST_PEOPLES | UINT64_C(1) << L_VALUE,
				   .sparse = true,
				   .text = &lines,
				   .arg = &l };
	rc = plat_enter(p);
	if (rc >= 0)
		rc = plat_take(p, &out, sizeof(out), to);
	if (rc >= 0)
		rc = plat_emit_open(p, &out);
	if (rc < 0)
		return rc;
	rc = k ? k->list(&l) : list_known(&l, kind);
	if (k && rc >= 0 && !l.rows.n && !l.rows_hv)
		rc = plat_fail(p, TALLY_EINVAL, "nothing of kind '%s' matches '%s'", k->name, pattern ? pattern : "*");
	(void)an_rows_put(&p->emit, &l.rows, true);
	an_rows_free(&l.rows);
	return rc < 0 ? rc : plat_flush(p, &out);
}
