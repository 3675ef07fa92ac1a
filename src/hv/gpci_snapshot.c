/*
 * gpci_snapshot.c: the tables of one moment.
 *
 * A platform runs on while it is asked.  So everything is read between two readings of the processors, and if those
 * differ all is read once more, some times; a platform that does not stand still for as long has no snapshot, and the
 * invariants that compare tables are then unknown, not broken.  What rights or firmware do not give is left out.
 */
#include <stdio.h>

#include "hv/gpci_guest_int.h"

#define TRIES 16u

static const struct gpci_request *request_of(enum snapshot_table t)
{
	static const uint32_t number[TABLES] = {
#define T(tag, n) [TABLE_##tag] = n,
		SNAPSHOT_TABLES(T)
#undef T
	};
	const struct gpci_request *r, *found = NULL;

	for (uint32_t i = 0; (r = gpci_request_at(i)); i++)
		found = r->number == number[t] ? r : found;
	return found;
}

/* A table that is not to be had is empty, without a request. */
static int read_table(struct gpci_table *ret, struct hv_transport *transport, const struct gpci_request *r,
		      int32_t index, struct err *e)
{
	struct err why = { 0 };
	int rc = gpci_read(ret, transport, r, index, &why);

	if (rc >= 0)
		return 0;
	*ret = (struct gpci_table){ 0 };
	if (rc == -TALLY_EPERM || rc == -TALLY_ENOTSUP || rc == -TALLY_EINVAL)
		return 0;
	return err_set(e, (enum tally_err) - rc, "%s", why.text);
}

static void snapshot_forget(struct gpci_snapshot *s)
{
	for (uint32_t t = 0; t < TABLES; t++) {
		gpci_table_free(&s->all[t]);
		gpci_table_free(&s->own[t]);
	}
}

static int read_tables(struct gpci_snapshot *s, struct hv_transport *transport, struct err *e)
{
	int rc = 0;

	for (uint32_t t = 0; rc == 0 && t < TABLES; t++) {
		const struct gpci_request *r = request_of((enum snapshot_table)t);

		rc = read_table(&s->all[t], transport, r, 0, e);
		if (rc == 0 && (r->right == GPCI_OWN_FREE || r->right == GPCI_OWN_EXPANDED))
			rc = read_table(&s->own[t], transport, r, -1, e);
	}
	return rc;
}

/* ---- invariant 13: the same in small pieces -------------------------------------------------------------------- */

struct pages {
	struct gpci_snapshot *s;
	struct hv_transport *transport;
	const struct gpci_table *whole;
	struct gpci_question ask;
	uint32_t n;
};

static void snapshot_say(struct pages *g, const char *what, uint64_t id)
{
	g->s->paging = GPCI_BROKEN;
	snprintf(g->s->paging_text, sizeof(g->s->paging_text), "%s in replies of %zu bytes: %s %llu", g->whole->r->name,
		 g->ask.bytes, what, (unsigned long long)id);
}

static bool is_same(const struct gpci_table *t, const struct gpci_values *a, const struct gpci_values *b)
{
	return a->id == b->id && a->secondary == b->secondary && !memcmp(a->v, b->v, t->r->nfields * sizeof(a->v[0]));
}

/* A reply's records must be the next ones of the whole table. */
static int snapshot_compare(struct pages *g, const struct gpci_reply *reply, struct err *e)
{
	for (uint32_t i = 0; i < reply->returned && g->s->paging == GPCI_HOLDS; i++, g->n++) {
		struct gpci_values v;
		int rc = gpci_record(g->whole->r, reply, i, &v, e);

		if (rc < 0)
			return rc;
		if (!i && (uint64_t)reply->starting_index != v.id)
			snapshot_say(g, "the first record is not the one that the header names, but", v.id);
		else if (g->n >= g->whole->n || !is_same(g->whole, &v, &g->whole->v[g->n]))
			snapshot_say(g, "it is not as in one large reply: record", v.id);
	}
	return 0;
}

static int turn_pages(struct pages *g, struct err *e)
{
	const bool by_vp = g->whole->r->index == GPCI_BY_VP;
	struct gpci_answer a;

	while (g->s->paging == GPCI_HOLDS) {
		uint32_t before = g->n;
		int rc = gpci_call(&a, g->transport, &g->ask, e);

		if (rc == 0 && (a.rc == H_SUCCESS || gpci_is_partial(&a)))
			rc = snapshot_compare(g, &a.reply, e);
		if (rc < 0)
			return rc;
		if (g->n == before || g->s->paging != GPCI_HOLDS)
			break;
		g->ask.index = (int32_t)g->whole->v[g->n - 1].id + !by_vp;
		g->ask.secondary = (uint16_t)(by_vp ? g->whole->v[g->n - 1].secondary + 1 : 0);
	}
	if (g->s->paging == GPCI_HOLDS && g->n != g->whole->n)
		snapshot_say(g, "they end early, behind record", g->n);
	return 0;
}

static int snapshot_paging(struct gpci_snapshot *s, struct hv_transport *transport, struct err *e)
{
	static const uint8_t tables[] = { TABLE_PROCESSORS, TABLE_PARTITIONS, TABLE_VPS };
	int rc = 0;

	s->paging = GPCI_UNKNOWN;
	for (uint32_t i = 0; rc == 0 && i < COUNT(tables); i++) {
		const struct gpci_table *t = &s->all[tables[i]];
		struct pages g = { .s = s, .transport = transport, .whole = t };

		if (!t->r || s->paging == GPCI_BROKEN)
			continue;
		g.ask = (struct gpci_question){ .r = t->r,
						.version = GPCI_VERSION_ANY,
						.bytes = GPCI_HEADER + 2 * t->r->size };
		s->paging = GPCI_HOLDS;
		rc = turn_pages(&g, e);
	}
	return rc;
}

/* ---- taking ---------------------------------------------------------------------------------------------- */

static bool is_same_table(const struct gpci_table *a, const struct gpci_table *b)
{
	if (a->n != b->n || a->r != b->r)
		return false;
	for (uint32_t i = 0; i < a->n; i++)
		if (!is_same(a, &a->v[i], &b->v[i]))
			return false;
	return true;
}

/* Whether nothing went on since the tables were read: the processors, else the asker's own partition, say the same. */
static int is_still(struct gpci_snapshot *s, struct hv_transport *transport, struct err *e)
{
	bool whole = s->all[TABLE_PROCESSORS].r != NULL;
	const struct gpci_table *first = whole ? &s->all[TABLE_PROCESSORS] : &s->own[TABLE_PARTITIONS];
	const enum snapshot_table which = whole ? TABLE_PROCESSORS : TABLE_PARTITIONS;
	struct gpci_table again;
	int rc = read_table(&again, transport, request_of(which), whole ? 0 : -1, e);

	if (rc < 0)
		return rc;
	s->still = is_same_table(first, &again);
	gpci_table_free(&again);
	return 0;
}

int gpci_snapshot_take(struct gpci_snapshot **ret, struct hv_transport *transport, struct err *e)
{
	struct gpci_snapshot *s = mem_alloc(sizeof(*s));
	int rc = 0;

	if (!s)
		return err_oom(e);
	for (uint32_t i = 0; rc == 0 && !s->still && i < TRIES; i++) {
		snapshot_forget(s);
		rc = read_tables(s, transport, e);
		if (rc == 0)
			rc = snapshot_paging(s, transport, e);
		if (rc == 0)
			rc = is_still(s, transport, e);
	}
	if (rc < 0) {
		gpci_snapshot_free(s);
		return rc;
	}
	*ret = s;
	return 0;
}

bool gpci_snapshot_moved(const struct gpci_snapshot *before, const struct gpci_snapshot *now)
{
	for (uint32_t t = 0; t < TABLES; t++)
		if (!is_same_table(&before->all[t], &now->all[t]) || !is_same_table(&before->own[t], &now->own[t]))
			return true;
	return false;
}

void gpci_snapshot_free(struct gpci_snapshot *s)
{
	if (!s)
		return;
	snapshot_forget(s);
	mem_free(s);
}
