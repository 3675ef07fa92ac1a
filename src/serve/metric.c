/*
 * metric.c: an aggregation as a metric.
 *
 * An aggregation is what Prometheus calls a family: one name and type, and a
 * series for each key.  What differs is how long a series lives and how many there may
 * be.  A key of D costs a row in a map; a series costs memory in every store that
 * scrapes us, for months.  So a metric has at most so many series.  Those that
 * were there first stay, since a counter that comes and goes is of no use to a
 * reader; all other keys are one series with the label other="true", and are counted.
 *
 * _created is the time since which a series counts, and never later than the first thing that it counted.  Only
 * readings are known: what is new in one, or was set back by clear() or trunc(), began after the last reading in which
 * it was not so; before the first one, when the program began to count.  That it was set back is known from its epoch,
 * since its value may have passed the old one.
 *
 * The base units of Prometheus are seconds: an aggregation whose name ends in _ns, _us or _ms is divided, and its name
 * ends in _seconds.  A count() has no unit: @slower_than_10_ms is a number of events.
 */
#include <stdio.h>
#include <string.h>

#include "serve/serve_int.h"

#define BUCKETS_MOST 256u /* each is a series in every store that scrapes us */

struct metric_series {
	uint64_t created_ns;
	uint64_t read; /* the number of the reading that it was in last */
	uint64_t epoch;
	/* as it was read last, or for `other` what was read so far */
	int64_t value, sum, count;
	double real;
	int64_t *bucket;
};

static const struct {
	const char *function;
	enum metric_type type;
	enum metric_fold fold;
} metric_functions[] = {
	{ "count", METRIC_COUNTER, FOLD_ADD },
	{ "sum", METRIC_GAUGE, FOLD_ADD },
	{ "avg", METRIC_SUMMARY, FOLD_ADD },
	{ "min", METRIC_GAUGE, FOLD_MIN },
	{ "max", METRIC_GAUGE, FOLD_MAX },
	{ "stddev", METRIC_GAUGE, FOLD_NONE },
	{ "quantize", METRIC_HISTOGRAM, FOLD_ADD },
	{ "lquantize", METRIC_HISTOGRAM, FOLD_ADD },
	{ "llquantize", METRIC_HISTOGRAM, FOLD_ADD },
};

static const struct {
	const char *suffix;
	double scale;
} metric_units[] = { { "_ns", 1e9 }, { "_us", 1e6 }, { "_ms", 1e3 } };

/* ---- names ----------------------------------------------------------------------- */

static bool metric_ends_in(const char *s, size_t n, const char *suffix)
{
	return n > strlen(suffix) && !memcmp(s + n - strlen(suffix), suffix, strlen(suffix));
}

/* "tally_" and the aggregation's name, or the program's if it has none; the unit instead of its suffix, of what has
 * one. */
static int metric_set_name(struct metric *m, const char *program, const char *aggregation, bool has_unit)
{
	struct buf b = { 0 };
	const char *name = *aggregation ? aggregation : program;
	size_t n = strlen(name);

	m->scale = 1;
	m->unit = "";
	for (size_t i = 0; has_unit && i < COUNT(metric_units); i++)
		if (metric_ends_in(name, n, metric_units[i].suffix)) {
			m->scale = metric_units[i].scale;
			m->unit = "seconds";
			n -= strlen(metric_units[i].suffix);
		}
	if (metric_ends_in(name, n, "_total")) /* only counters may have it */
		n -= strlen("_total");
	buf_puts(&b, "tally_");
	buf_identifier(&b, name, n);
	if (*m->unit)
		buf_puts(&b, "_seconds");
	m->name = b.failed ? NULL : mem_strdup(b.p);
	buf_free(&b);
	return m->name ? 0 : -TALLY_ENOMEM;
}

static bool metric_label_is_taken(const struct metric *m, const char *name)
{
	static const char *const ours[] = { "program", "platform", "other", "le", "quantile" };

	for (size_t i = 0; i < COUNT(ours); i++)
		if (!strcmp(name, ours[i]))
			return true;
	for (uint32_t i = 0; i < m->nlabels; i++)
		if (!strcmp(name, m->label[i]))
			return true;
	return !strncmp(name, "__", 2);
}

static int metric_set_labels(struct metric *m, const struct tally_aggregation *a)
{
	struct buf b = { 0 };
	size_t plain;

	m->label = mem_alloc((a->nkeys + 1) * sizeof(*m->label));
	if (!m->label)
		return -TALLY_ENOMEM;
	for (uint32_t k = 0; k < a->nkeys; k++) {
		buf_clear(&b);
		buf_key_name(&b, a->key[k]);
		plain = b.n;
		for (uint32_t n = 2; !b.failed && metric_label_is_taken(m, b.p); n++) {
			b.p[b.n = plain] = '\0';
			buf_printf(&b, "_%u", n);
		}
		m->label[k] = b.failed ? NULL : mem_strdup(b.p);
		if (!m->label[k])
			break;
		m->nlabels++;
	}
	buf_free(&b);
	return m->nlabels == a->nkeys ? 0 : -TALLY_ENOMEM;
}

/* The help is the comment in front of the clause, or what the expression says. */
static int metric_set_words(struct metric *m, const struct tally_aggregation *a)
{
	struct buf b = { 0 };

	if (*a->comment) {
		buf_puts(&b, a->comment);
	} else {
		buf_printf(&b, "%s() of @%s", a->function, a->name);
		for (uint32_t k = 0; k < a->nkeys; k++)
			buf_printf(&b, "%s%s", k ? ", " : " by ", a->key[k]);
	}
	m->help = b.failed ? NULL : mem_strdup(b.p);
	buf_clear(&b);
	buf_printf(&b, "@%s", a->name);
	m->source = b.failed ? NULL : mem_strdup(b.p);
	buf_free(&b);
	return m->help && m->source ? 0 : -TALLY_ENOMEM;
}

/* Of a histogram; there is at least one bucket but the last. */
static int metric_set_buckets(struct metric *m, const int64_t *last, uint32_t n)
{
	m->last = mem_alloc(n * sizeof(*m->last));
	if (!m->last)
		return -TALLY_ENOMEM;
	memcpy(m->last, last, n * sizeof(*m->last));
	m->nlast = m->first = n;
	return 0;
}

int metric_open(struct metric *m, const char *program, const struct tally_aggregation *a, uint32_t most, struct err *e)
{
	int rc = 0;

	for (size_t i = 0; i < COUNT(metric_functions); i++)
		if (!strcmp(a->function, metric_functions[i].function)) {
			m->type = metric_functions[i].type;
			m->fold = metric_functions[i].fold;
		}
	if (a->has_stack)
		return err_set(e, TALLY_ENOTSUP,
			       "@%s has a stack in its key: stacks are no labels, and become no metric; %s", a->name,
			       m->fold == FOLD_ADD && m->type != METRIC_SUMMARY ? "/folded has them" :
										  "the page has them");
	if (a->nlast > BUCKETS_MOST)
		return err_set(e, TALLY_ENOTSUP, "@%s has %u buckets: a metric has at most %u", a->name, a->nlast + 1,
			       BUCKETS_MOST);
	m->owner = "program";
	m->forgets = true;
	m->most = most;
	if (a->nlast)
		rc = metric_set_buckets(m, a->last, a->nlast);
	rc = rc < 0 ? rc : metric_set_name(m, program, a->name, m->type != METRIC_COUNTER);
	rc = rc < 0 ? rc : metric_set_labels(m, a);
	rc = rc < 0 ? rc : metric_set_words(m, a);
	if (rc < 0) {
		metric_close(m);
		return err_oom(e);
	}
	return 0;
}

static bool metric_is_real(const struct watch_figure *f)
{
	return f->value.unit == AN_RATIO || f->value.unit == AN_SHARE || f->value.unit == AN_NUMBER ||
	       f->value.unit == AN_CHANGE;
}

/* Nanoseconds are divided as those of an aggregation are; what is a part of something says so in its name. */
int metric_open_figure(struct metric *m, const struct watch_figure *f, uint32_t most)
{
	const bool is_ns = !strcmp(f->unit, "ns"), is_ratio = !strcmp(f->unit, "ratio");
	struct buf name = { 0 }, help = { 0 };
	int rc = -TALLY_ENOMEM;

	m->owner = "platform";
	m->most = most;
	m->real = metric_is_real(f);
	m->type = f->buckets ? METRIC_HISTOGRAM : f->grows ? METRIC_COUNTER : METRIC_GAUGE;
	m->fold = f->grows && !m->real ? FOLD_ADD : FOLD_NONE;
	if (f->buckets && metric_set_buckets(m, f->buckets->last, f->buckets->nlast) < 0)
		return -TALLY_ENOMEM;
	buf_printf(&name, "%s%s", f->family, is_ns ? "_ns" : is_ratio ? "_ratio" : "");
	buf_printf(&help, *f->unit && !is_ratio ? "%s (%s)" : "%s", f->text, is_ns ? "here in seconds" : f->unit);
	m->label = mem_alloc((f->nlabels + 1) * sizeof(*m->label));
	while (m->label && m->nlabels < f->nlabels && (m->label[m->nlabels] = mem_strdup(f->label[m->nlabels].name)))
		m->nlabels++;
	m->help = help.failed ? NULL : mem_strdup(help.p);
	m->source = mem_strdup(f->family);
	if (!name.failed && m->label && m->nlabels == f->nlabels && m->help && m->source)
		rc = metric_set_name(m, "", name.p, true);
	if (is_ratio)
		m->unit = "ratio";
	buf_free(&name);
	buf_free(&help);
	if (rc < 0)
		metric_close(m);
	return rc;
}

/* ---- series ---------------------------------------------------------------------- */

static void series_free(struct metric_series *s)
{
	if (s)
		mem_free(s->bucket);
	mem_free(s);
}

static struct metric_series *series_new(const struct metric *m)
{
	struct metric_series *s = mem_alloc(sizeof(*s));

	if (s && m->nlast)
		s->bucket = mem_alloc((m->nlast + 1) * sizeof(*s->bucket));
	if (s && m->nlast && !s->bucket) {
		mem_free(s);
		return NULL;
	}
	return s;
}

static void metric_forget_series(struct metric *m)
{
	const void *key;
	size_t i = 0, len;
	void *val;

	while (map_next(&m->series, &i, &key, &len, &val))
		series_free(val);
	map_free(&m->series);
	m->nseries = 0;
}

void metric_close(struct metric *m)
{
	metric_forget_series(m);
	series_free(m->other);
	for (uint32_t i = 0; i < m->nlabels; i++)
		mem_free(m->label[i]);
	mem_free(m->label);
	mem_free(m->name);
	mem_free(m->help);
	mem_free(m->source);
	mem_free(m->last);
	buf_free(&m->samples);
	buf_free(&m->labels);
	*m = (struct metric){ 0 };
}

static bool series_is_seen(const struct metric *m, const struct metric_series *s)
{
	return s->read == m->reading;
}

/* Whether the last reading that was complete had it. One that failed says nothing of the keys that it did not reach. */
static bool series_was_there(const struct metric *m, const struct metric_series *s)
{
	return s->read >= m->complete.reading;
}

void metric_count_since(struct metric *m, uint64_t ns)
{
	m->since_ns = m->complete.ns = m->whole.ns = ns;
}

/* Of a full metric those series that were in the last reading stay: the others' keys are gone, and their places are
 * free. */
static int metric_make_room(struct metric *m)
{
	struct map kept = { 0 };
	const void *key;
	size_t i = 0, len;
	void *val, **slot;
	uint32_t n = 0;

	while (map_next(&m->series, &i, &key, &len, &val)) {
		if (!series_was_there(m, val))
			continue;
		slot = map_at(&kept, key, len);
		if (!slot) {
			map_free(&kept);
			return -TALLY_ENOMEM;
		}
		*slot = val;
		n++;
	}
	i = 0;
	while (map_next(&m->series, &i, &key, &len, &val))
		if (!series_was_there(m, val))
			series_free(val);
	map_free(&m->series);
	m->series = kept;
	m->nseries = n;
	return 0;
}

void metric_begin(struct metric *m, const struct metric_reading *r)
{
	uint64_t *const past[] = { &m->since_ns, &m->complete.ns, &m->whole.ns };

	/* the clock may be set back: nothing begins in the future */
	for (size_t i = 0; i < COUNT(past); i++)
		*past[i] = *past[i] < r->now_ns ? *past[i] : r->now_ns;
	if (m->nseries >= m->most && m->nseen < m->nseries)
		(void)metric_make_room(m); /* without memory they stay, and nothing is lost */
	m->reading++;
	m->nseen = 0;
	buf_clear(&m->samples);
	series_free(m->other);
	m->other = NULL;
	m->others = 0;
}

/* ---- samples ----------------------------------------------------------------------- */

/* name and suffix, labels, and further ones behind them. */
static void metric_put_sample(struct metric *m, const char *suffix, const struct buf *labels, const char *le)
{
	/* printf() would take a quarter of a scrape */
	buf_puts(&m->samples, m->name);
	buf_puts(&m->samples, suffix);
	buf_putc(&m->samples, '{');
	buf_put(&m->samples, labels->p, labels->n);
	if (le) {
		buf_putc(&m->samples, ',');
		format_label(&m->samples, "le", le, strlen(le));
	}
	buf_puts(&m->samples, "} ");
}

static void metric_put_value(struct metric *m, int64_t v, double real)
{
	if (m->real)
		format_number(&m->samples, real);
	else if (m->scale == 1)
		buf_i64(&m->samples, v);
	else
		format_number(&m->samples, (double)v / m->scale);
	buf_putc(&m->samples, '\n');
}

static void metric_put_created(struct metric *m, const struct metric_reading *r, const struct buf *labels, uint64_t ns)
{
	if (r->format != FORMAT_OPENMETRICS || m->type == METRIC_GAUGE)
		return;
	metric_put_sample(m, "_created", labels, NULL);
	buf_printf(&m->samples, "%llu.%03llu\n", (unsigned long long)(ns / 1000000000),
		   (unsigned long long)(ns / 1000000 % 1000));
}

/* All buckets between those that ever held something, so that each scrape has the same ones, and readers can take rates
 * of them. */
static void metric_put_buckets(struct metric *m, const struct metric_series *s, const struct buf *labels)
{
	struct buf le = { 0 };
	int64_t n = 0;

	for (uint32_t b = 0; b < m->end && b < m->nlast; b++) {
		n += s->bucket[b];
		if (b < m->first)
			continue;
		buf_clear(&le);
		format_number(&le, (double)m->last[b] / m->scale);
		metric_put_sample(m, "_bucket", labels, le.failed ? "" : le.p);
		buf_i64(&m->samples, n);
		buf_putc(&m->samples, '\n');
	}
	metric_put_sample(m, "_bucket", labels, "+Inf");
	buf_i64(&m->samples, s->count);
	buf_putc(&m->samples, '\n');
	m->samples.failed |= le.failed;
	buf_free(&le);
}

static void metric_put_series(struct metric *m, const struct metric_reading *r, const struct metric_series *s,
			      const struct buf *labels)
{
	bool has_sum;

	switch (m->type) {
	case METRIC_COUNTER:
		metric_put_sample(m, "_total", labels, NULL);
		metric_put_value(m, s->value, s->real);
		break;
	case METRIC_GAUGE:
		metric_put_sample(m, "", labels, NULL);
		metric_put_value(m, s->value, s->real);
		break;
	case METRIC_HISTOGRAM:
		metric_put_buckets(m, s, labels);
		/* fallthrough */
	case METRIC_SUMMARY:
		/* A histogram with negative values has none: its sum can fall, and readers would take that for a new
		 * beginning.  OpenMetrics has a count if and only if there is a sum. */
		has_sum = m->type == METRIC_SUMMARY || m->first >= m->nlast || m->last[m->first] >= 0;
		if (has_sum || r->format != FORMAT_OPENMETRICS) {
			metric_put_sample(m, "_count", labels, NULL);
			buf_i64(&m->samples, s->count);
			buf_putc(&m->samples, '\n');
		}
		if (has_sum) {
			metric_put_sample(m, "_sum", labels, NULL);
			metric_put_value(m, s->sum, 0);
		}
		break;
	}
	metric_put_created(m, r, labels, s->created_ns);
}

/* ---- a reading ----------------------------------------------------------------------- */

/* The number of the bucket that holds v. */
static uint32_t metric_bucket(const struct metric *m, int64_t v)
{
	uint32_t lo = 0, hi = m->nlast;

	while (lo < hi) {
		uint32_t mid = lo + (hi - lo) / 2;

		if (m->last[mid] < v)
			lo = mid + 1;
		else
			hi = mid;
	}
	return lo;
}

static void series_take(struct metric *m, struct metric_series *s, const struct tally_row *row, uint64_t epoch)
{
	s->epoch = epoch;
	s->value = row->value;
	s->sum = row->sum;
	s->count = row->count;
	for (uint32_t b = 0; m->nlast && b <= m->nlast; b++)
		s->bucket[b] = 0;
	for (uint32_t i = 0; m->nlast && i < row->nbuckets; i++) {
		uint32_t b = metric_bucket(m, row->bucket[i].from);

		s->bucket[b] += row->bucket[i].count;
		m->first = b < m->first ? b : m->first;
		m->end = b + 1 > m->end ? b + 1 : m->end;
	}
}

/* Adds a key beyond the limit to `other`. */
static int metric_fold_row(struct metric *m, const struct tally_row *row, uint64_t epoch)
{
	struct metric_series *o = m->other, *one;

	m->others++;
	if (m->fold == FOLD_NONE)
		return 0;
	one = series_new(m);
	if (!one)
		return -TALLY_ENOMEM;
	series_take(m, one, row, epoch);
	if (!o) {
		m->other = one;
		return 0;
	}
	o->epoch = one->epoch < o->epoch ? one->epoch : o->epoch; /* it rises when none is left of an earlier one */
	if (m->fold == FOLD_MIN)
		o->value = one->value < o->value ? one->value : o->value;
	else if (m->fold == FOLD_MAX)
		o->value = one->value > o->value ? one->value : o->value;
	else
		o->value = (int64_t)((uint64_t)o->value + (uint64_t)one->value);
	o->sum = (int64_t)((uint64_t)o->sum + (uint64_t)one->sum);
	o->count = (int64_t)((uint64_t)o->count + (uint64_t)one->count);
	for (uint32_t b = 0; m->nlast && b <= m->nlast; b++)
		o->bucket[b] += one->bucket[b];
	series_free(one);
	return 0;
}

static void metric_put_labels(struct buf *to, const struct metric *m, const char *program, const struct tally_row *row)
{
	format_label(to, m->owner, program, strlen(program));
	for (uint32_t k = 0; k < m->nlabels; k++) {
		const struct tally_key *key = row && k < row->nkeys ? &row->key[k] : NULL;

		buf_putc(to, ',');
		if (key && key->is_number)
			format_label_number(to, m->label[k], key->number);
		else
			format_label(to, m->label[k], key ? key->text : "", key ? strlen(key->text) : 0);
	}
}

/* Since when a key counts that is new in this reading. */
static uint64_t metric_new_since(const struct metric *m)
{
	return m->forgets ? m->whole.ns : m->since_ns;
}

/* The series of these labels gets what the row has. */
static int metric_add_series(struct metric *m, const struct metric_reading *r, const struct buf *labels,
			     const struct tally_row *row, uint64_t epoch, double real)
{
	struct metric_series *s = labels->failed ? NULL : map_get(&m->series, labels->p, labels->n);
	void **slot = NULL;

	/* Or a key that looks like another: both have bytes that are no UTF-8.  The larger one comes first. */
	if (!labels->failed && (s ? series_is_seen(m, s) : m->nseries >= m->most))
		return metric_fold_row(m, row, epoch);
	if (!s && !labels->failed && (s = series_new(m)) && !(slot = map_at(&m->series, labels->p, labels->n))) {
		series_free(s);
		s = NULL;
	}
	if (!s)
		return -TALLY_ENOMEM;
	if (slot) {
		*slot = s;
		m->nseries++;
	}
	/* A key of a later epoch was cleared, and one that comes back was forgotten. Figures of platforms have no
	 * epochs: those that fall begin anew. A sum of a summary may fall as well, when what is added is negative. */
	if (slot)
		s->created_ns = metric_new_since(m);
	else if ((m->forgets && !series_was_there(m, s)) || epoch > s->epoch ||
		 (m->type == METRIC_COUNTER ? row->value < s->value : row->count < s->count))
		s->created_ns = m->complete.ns;
	series_take(m, s, row, epoch);
	s->real = real;
	m->nseen += !series_is_seen(m, s);
	s->read = m->reading;
	if (m->type != METRIC_HISTOGRAM) /* those wait until it is known which buckets there are */
		metric_put_series(m, r, s, labels);
	return 0;
}

int metric_add(struct metric *m, const struct metric_reading *r, const char *program, const struct tally_row *row,
	       uint64_t epoch)
{
	buf_clear(&m->labels);
	metric_put_labels(&m->labels, m, program, row);
	return metric_add_series(m, r, &m->labels, row, epoch, 0);
}

int metric_add_figure(struct metric *m, const struct metric_reading *r, const char *platform,
		      const struct watch_figure *f)
{
	struct tally_row row = { .value = m->real ? 0 : (int64_t)f->value.u };
	const struct watch_buckets *h = f->buckets;
	struct tally_bucket bucket[BUCKETS_MOST];
	const struct metric_series *s;

	if (f->value.none)
		return 0;
	if (h) {
		row = (struct tally_row){ .bucket = bucket, .sum = (int64_t)h->sum, .count = (int64_t)h->n };
		for (uint32_t b = 0; b <= h->nlast && b < BUCKETS_MOST; b++)
			if (h->bucket[b])
				bucket[row.nbuckets++] = (struct tally_bucket){ b < h->nlast ? h->last[b] : INT64_MAX,
										(int64_t)h->bucket[b] };
	}
	buf_clear(&m->labels);
	format_label(&m->labels, m->owner, platform, strlen(platform));
	for (uint32_t i = 0; i < f->nlabels; i++) {
		buf_putc(&m->labels, ',');
		format_label(&m->labels, f->label[i].name, f->label[i].value, strlen(f->label[i].value));
	}
	s = m->labels.failed ? NULL : map_get(&m->series, m->labels.p, m->labels.n);
	return s && series_is_seen(m, s) ? 0 : /* what was asked for twice is there once */
					   metric_add_series(m, r, &m->labels, &row, 0, f->value.d);
}

int metric_end(struct metric *m, const struct metric_reading *r, const char *program)
{
	struct buf labels = { 0 };
	const void *key;
	size_t i = 0, len;
	void *val;

	while (m->type == METRIC_HISTOGRAM && map_next(&m->series, &i, &key, &len, &val)) {
		if (!series_is_seen(m, val))
			continue;
		buf_clear(&labels);
		buf_put(&labels, key, len);
		if (!labels.failed)
			metric_put_series(m, r, val, &labels);
	}
	if (m->other) {
		buf_clear(&labels);
		metric_put_labels(&labels, m, program, NULL);
		buf_puts(&labels, ",other=\"true\"");
		/* A key that got a place of its own leaves it, and what falls or is cleared begins anew. */
		if (m->whole.reading == m->complete.reading)
			m->other_since_ns = metric_new_since(m);
		else if (m->other->epoch > m->other_epoch || m->other->value < m->other_value ||
			 m->other->count < m->other_count)
			m->other_since_ns = m->complete.ns;
		m->other_value = m->other->value;
		m->other_count = m->other->count;
		m->other_epoch = m->other->epoch;
		m->other->created_ns = m->other_since_ns;
		if (!labels.failed)
			metric_put_series(m, r, m->other, &labels);
	}
	m->samples.failed |= labels.failed;
	buf_free(&labels);
	if (m->samples.failed)
		return -TALLY_ENOMEM;
	m->complete = (struct metric_past){ m->reading, r->now_ns };
	if (!m->others)
		m->whole = m->complete;
	return 0;
}

void metric_head(struct buf *to, enum format f, const char *name, enum metric_type type, const char *unit,
		 const char *help)
{
	static const char *const types[] = { "counter", "gauge", "summary", "histogram" };
	const char *suffix = f == FORMAT_TEXT && type == METRIC_COUNTER ? "_total" : "";

	buf_printf(to, "# HELP %s%s ", name, suffix);
	format_help(to, help);
	buf_printf(to, "\n# TYPE %s%s %s\n", name, suffix, types[type]);
	if (f == FORMAT_OPENMETRICS && *unit)
		buf_printf(to, "# UNIT %s %s\n", name, unit);
}

bool metric_has_sample(const struct metric *m, const char *name)
{
	static const char *const suffixes[] = { "_created", "_count", "_sum", "_bucket" };
	static const uint8_t count[] = {
		[METRIC_COUNTER] = 1, [METRIC_GAUGE] = 0, [METRIC_SUMMARY] = 3, [METRIC_HISTOGRAM] = 4
	};
	const size_t n = strlen(m->name);

	for (uint32_t i = 0; i < count[m->type] && !strncmp(name, m->name, n); i++)
		if (!strcmp(name + n, suffixes[i]))
			return true;
	return false;
}

static const struct {
	const char *name, *unit, *help;
	enum metric_type type;
} metric_own[] = {
#define OWN(name, type, unit, help) { "tally_" #name, unit, help, METRIC_##type },
#include "serve/own.def"
#undef OWN
};

void metric_head_own(struct buf *to, enum format f, enum own_metric which)
{
	metric_head(to, f, metric_own[which].name, metric_own[which].type, metric_own[which].unit,
		    metric_own[which].help);
}

bool metric_is_own(const char *name)
{
	for (size_t i = 0; i < COUNT(metric_own); i++)
		if (!strcmp(name, metric_own[i].name))
			return true;
	return false;
}
