/*
 * gpci_guest.c: all records of a request.
 *
 * A reply holds what fits.  That there is more is said in one of two ways: H_Parameter with the detail "buffer
 * too small", or, by the specification alone, not at all: then a reply without room for one more record is
 * asked on.  It goes on behind the last record's id (never by count: ids have gaps), and ends with an answer that
 * brings no new id.
 *
 * What answers is not trusted: sizes are checked against the block, ids must grow, and there is a limit to how many
 * records a platform can have, so that every reading ends.
 */
#include "hv/gpci_guest_int.h"

#define RECORDS_MOST 65536u

struct reading {
	struct gpci_table *t;
	struct hv_transport *transport;
	struct gpci_question ask;
	struct gpci_answer answer;
	uint32_t left; /* bytes of the reply behind its last record */
	struct err *e;
};

static bool is_own(const struct reading *g)
{
	return g->ask.index == -1;
}

/* Who refuses: the management console's right is one, the capabilities are others (spec-gpci.md, "Rights"). */
static const char *reading_missing_right(const struct gpci_request *r)
{
	switch ((enum gpci_right)r->right) {
	case GPCI_LAB:
		return "it requires the capability LAB (0x20 of gpci/capabilities)";
	case GPCI_EXPANDED:
	case GPCI_OWN_EXPANDED:
		return "it requires \"Enable Performance Information Collection\" in the partition's profile, and the "
		       "capability EXPANDED (0x40 of gpci/capabilities)";
	default:
		return "enable it in the partition's profile: \"Enable Performance Information Collection\"";
	}
}

static int reading_refuse(const struct reading *g)
{
	const char *name = g->ask.r->name;

	switch (g->answer.rc) {
	case H_FUNCTION:
		return err_set(g->e, TALLY_ENOTSUP, "%s has no H_GetPerformanceCounterInfo (H_Function)",
			       g->transport->op->what);
	case H_NOT_AVAILABLE:
		return err_set(g->e, TALLY_ENOTSUP, "%s: not on this firmware or machine (H_Not_Available)", name);
	case H_AUTHORITY:
		return err_set(g->e, TALLY_EPERM, "%s: not permitted to this partition (H_Authority); %s", name,
			       reading_missing_right(g->ask.r));
	case H_PARAMETER:
		if (is_own(g))
			return err_set(g->e, TALLY_EINVAL, "%s: no record (H_Parameter)", name);
		return err_set(g->e, TALLY_EINVAL, "%s: no record from %d on (H_Parameter)", name, g->ask.index);
	case H_PRIVILEGE:
		return err_set(g->e, TALLY_EIO, "%s: the block is not in the partition's memory (H_Privilege)", name);
	default:
		return err_set(g->e, TALLY_EIO, "%s: the hypervisor returned %lld", name, (long long)g->answer.rc);
	}
}

/* ---- one call -------------------------------------------------------------------------------------------- */

static int reading_send(struct gpci_answer *ret, struct hv_transport *transport, size_t n, struct err *e)
{
	uint64_t r[3] = { PAPR_GPCI, transport->base, n };
	int rc = transport->op->papr(transport->arg, 0, r, e);

	ret->rc = (int64_t)r[0];
	return rc < 0 ? rc : gpci_reply(&ret->reply, transport->memory, n, e);
}

int gpci_call(struct gpci_answer *ret, struct hv_transport *transport, const struct gpci_question *q, struct err *e)
{
	size_t n = q->bytes < GPCI_MOST ? q->bytes : GPCI_MOST;

	if (!transport->op->papr)
		return err_set(e, TALLY_ENOTSUP, "%s is not a POWER machine", transport->op->what);
	if (n < GPCI_HEADER + q->r->size || n > transport->bytes)
		return err_set(e, TALLY_EINVAL, "%s: %zu bytes hold no record of %u", q->r->name, n, q->r->size);
	gpci_ask(transport->memory, n, q->r->number, q->index, q->secondary, q->version);
	return reading_send(ret, transport, n, e);
}

bool gpci_is_partial(const struct gpci_answer *a)
{
	return a->rc == H_PARAMETER && a->reply.detail == GPCI_BUF_TOO_SMALL;
}

/* ---- all records ----------------------------------------------------------------------------------------- */

/* The firmware answers in the layout of its own version or the one asked for, whichever is lower. */
static void learn_layout(struct reading *g)
{
	const struct gpci_request *r =
		gpci_request(g->ask.r->number, (uint8_t)g->answer.reply.version_out, g->ask.version);

	if (r && !g->t->n)
		g->t->r = g->ask.r = r;
}

static bool is_after(const struct gpci_table *t, const struct gpci_values *v)
{
	const struct gpci_values *last = t->n ? &t->v[t->n - 1] : NULL;

	return !last || v->id > last->id || (v->id == last->id && v->secondary > last->secondary);
}

static int reading_keep_record(struct reading *g, const struct gpci_values *v)
{
	struct gpci_values *to;

	if (g->t->n == RECORDS_MOST)
		return err_set(g->e, TALLY_ECORRUPT, "%s: more than %u records", g->ask.r->name, RECORDS_MOST);
	to = VEC_NEW(g->t->v, g->t->n, g->t->cap);
	if (!to)
		return err_oom(g->e);
	*to = *v;
	return 0;
}

/* Takes the reply's records: how many were new. */
static int reading_take_reply(struct reading *g, uint32_t *fresh)
{
	const struct gpci_reply *reply = &g->answer.reply;
	uint32_t n = is_own(g) && reply->returned ? 1 : reply->returned;

	g->left = (uint32_t)reply->bytes;
	for (uint32_t i = 0; i < n; i++) {
		struct gpci_values v;
		int rc = gpci_record(g->ask.r, reply, i, &v, g->e);

		if (rc < 0)
			return rc;
		g->left -= gpci_bytes(g->ask.r, &v);
		if (!is_after(g->t, &v))
			continue;
		rc = reading_keep_record(g, &v);
		if (rc < 0)
			return rc;
		++*fresh;
	}
	return 0;
}

/* Behind the last record; false: there is no such index. */
static bool reading_ask_next(struct reading *g)
{
	const struct gpci_values *last = &g->t->v[g->t->n - 1];
	bool by_vp = g->ask.r->index == GPCI_BY_VP, inside = by_vp && last->secondary < UINT16_MAX;

	if (last->id >= INT32_MAX)
		return false;
	g->ask.index = (int32_t)last->id + !inside;
	g->ask.secondary = (uint16_t)(inside ? last->secondary + 1 : 0);
	return true;
}

static int read_all(struct reading *g)
{
	for (;;) {
		uint32_t fresh = 0;
		int rc = gpci_call(&g->answer, g->transport, &g->ask, g->e);
		bool partial = gpci_is_partial(&g->answer);

		if (rc < 0)
			return rc;
		if (g->answer.rc != H_SUCCESS && !partial)
			return g->t->n && g->answer.rc == H_PARAMETER ? 0 : reading_refuse(g);
		learn_layout(g);
		rc = reading_take_reply(g, &fresh);
		if (rc < 0 || (is_own(g) && fresh))
			return rc;
		if (!fresh)
			return partial ?
				       err_set(g->e, TALLY_ECORRUPT,
					       "%s: a reply of %zu bytes that does not hold all brings nothing new behind %d",
					       g->ask.r->name, g->answer.reply.bytes, g->ask.index) :
				       0;
		/* Whether one more might have been left out, though the call was a success. */
		if (!(partial || gpci_has_elements(g->ask.r) || g->left < g->ask.r->size) || !reading_ask_next(g))
			return 0;
	}
}

int gpci_read(struct gpci_table *ret, struct hv_transport *transport, const struct gpci_request *r, int32_t index,
	      struct err *e)
{
	struct gpci_table t = { .r = r };
	struct reading g = { .t = &t, .transport = transport, .e = e };
	int rc;

	g.ask = (struct gpci_question){ .r = r,
					.index = index,
					.secondary = index == -1 ? UINT16_MAX : 0,
					.version = r->to == UINT8_MAX ? GPCI_VERSION_ANY : 0,
					.bytes = transport->bytes };
	rc = read_all(&g);
	if (rc < 0) {
		gpci_table_free(&t);
		return rc;
	}
	t.ns = transport->op->now ? transport->op->now(transport->arg) : 0;
	*ret = t;
	return 0;
}

int gpci_all(struct gpci_table *ret, struct hv_transport *l, const struct gpci_request *r, bool *own, struct err *e)
{
	bool maybe_own = r->right == GPCI_OWN_FREE || r->right == GPCI_OWN_EXPANDED;
	bool is_single = r->index == GPCI_BY_NOTHING;
	struct err first = { 0 };
	int rc = gpci_read(ret, l, r, is_single ? -1 : 0, &first);

	*own = false;
	if (rc == -TALLY_EPERM && maybe_own) {
		rc = gpci_read(ret, l, r, -1, e);
		*own = rc >= 0;
		return rc;
	}
	return rc < 0 ? err_set(e, (enum tally_err) - rc, "%s", first.text) : rc;
}

void gpci_table_free(struct gpci_table *t)
{
	mem_free(t->v);
	*t = (struct gpci_table){ 0 };
}

const struct gpci_values *gpci_table_find(const struct gpci_table *t, uint64_t id, uint64_t secondary)
{
	uint32_t low = 0, high = t->n;

	while (low < high) {
		uint32_t mid = low + (high - low) / 2;
		const struct gpci_values *v = &t->v[mid];

		if (v->id < id || (v->id == id && v->secondary < secondary))
			low = mid + 1;
		else
			high = mid;
	}
	return low < t->n && t->v[low].id == id && t->v[low].secondary == secondary ? &t->v[low] : NULL;
}

int gpci_set_mmcrh(struct hv_transport *transport, uint64_t value, struct err *e)
{
	struct reading g = { .transport = transport, .ask = { .r = gpci_request(GPCI_REQUEST_mmcrh, 0, 0) }, .e = e };
	const size_t n = GPCI_HEADER + sizeof(value);
	int rc;

	if (!transport->op->papr)
		return err_set(e, TALLY_ENOTSUP, "%s is not a POWER machine", transport->op->what);
	if (transport->bytes < n)
		return err_set(e, TALLY_EINVAL, "%s: %zu bytes hold no value", g.ask.r->name, transport->bytes);
	gpci_ask(transport->memory, n, GPCI_REQUEST_mmcrh, 0, 0, GPCI_VERSION_ANY);
	be64_put(transport->memory + GPCI_HEADER, value);
	rc = reading_send(&g.answer, transport, n, e);
	return rc < 0 ? rc : g.answer.rc == H_SUCCESS ? 0 : reading_refuse(&g);
}
