/*
 * local_pmus.c: the PTT devices behind a socket, as a platform.
 *
 * Calls are one request and one answer each.  A trace keeps a few PTT_NEXT
 * waiting at the server, so that its bytes come while the last ones are being
 * written; pieces are put together here to what the driver there committed at once, so a
 * recording is the same bytes whether the machine is in this process or not.
 *
 * An answer to PTT_NEXT that comes while another is waited for is held; there are never more of
 * them than were asked for, so they have a place from the start of the trace.
 */
#include <string.h>

#include "attach/local.h"
#include "ptt/rule.h"

#define NEXTS 4
#define FILTERS_MOST 65536u
#define LIST_TRIES 8

struct remote {
	struct local_client *c;
	struct ptt_pmus_ops op; /* its `what` is this connection's */
	/* the list */
	uint32_t n;
	struct ptt_pmu pmu[PTT_PMU_MOST];
	struct ptt_filter *filter[PTT_PMU_MOST];
	/* the trace */
	bool on, stopped;
	uint32_t device;
	uint64_t first; /* id of its first PTT_NEXT: answers to older ones are of a trace before */
	uint32_t asked; /* PTT_NEXT without an answer */
	uint8_t *held;  /* answers, a frame each */
	uint32_t nheld, held_taken;
	uint8_t *commit;
	size_t room, have, total;
	bool given; /* the commit was: the next call begins another */
};
static_assert(NEXTS <= LOCAL_PENDING_MOST, "the server holds as many");

/* ---- one request, one answer --------------------------------------------------------------------------- */

static int odd_answer(const struct remote *r, struct err *e)
{
	return err_set(e, TALLY_ECORRUPT, "%s: invalid answer: not a tally server", r->op.what);
}

static uint8_t *held_at(const struct remote *r, uint32_t i)
{
	return r->held + (size_t)i * LOCAL_FRAME_MOST;
}

static void remote_hold_answer(void *arg, const struct local_answer *a)
{
	struct remote *r = arg;
	uint8_t *to;

	if (a->head.op != LOCAL_PTT_NEXT || a->head.id < r->first || r->nheld == NEXTS)
		return;
	to = held_at(r, r->nheld++);
	memcpy(to, &a->head, sizeof(a->head));
	memcpy(to + sizeof(a->head), a->p, a->head.bytes - sizeof(a->head));
}

/* The payload of the answer, of at least `least` bytes. */
static int remote_ask(struct remote *r, uint16_t op, const void *p, size_t n, struct local_answer *a, size_t least,
		      struct err *e)
{
	const struct local_other other = { r, remote_hold_answer };
	int rc = local_ask_and_wait(r->c, op, p, n, a, &other, e);

	return rc == 0 && a->head.bytes - sizeof(a->head) < least ? odd_answer(r, e) : rc;
}

/* ---- the list -------------------------------------------------------------------------------------------- */

static void list_forget(struct remote *r)
{
	for (uint32_t i = 0; i < r->n; i++) {
		mem_free(r->filter[i]);
		r->filter[i] = NULL;
	}
	r->n = 0;
}

static int list_devices(struct remote *r, uint32_t *generation, struct err *e)
{
	struct local_devices head;
	struct local_answer a;
	int rc = remote_ask(r, LOCAL_PTT_LIST, NULL, 0, &a, sizeof(head), e);

	if (rc < 0)
		return rc;
	memcpy(&head, a.p, sizeof(head));
	if (head.n > PTT_PMU_MOST || a.head.bytes != sizeof(a.head) + sizeof(head) + head.n * sizeof(struct local_pmu))
		return odd_answer(r, e);
	*generation = head.generation;
	for (; r->n < head.n; r->n++) {
		struct ptt_pmu *to = &r->pmu[r->n];
		struct local_pmu from;

		memcpy(&from, a.p + sizeof(head) + r->n * sizeof(from), sizeof(from));
		*to = (struct ptt_pmu){ .type = from.type, .time = PTT_TIME_ABS }; /* protocol.md 4.6 */
		memcpy(to->name, from.name, sizeof(to->name) - 1);
		memcpy(to->cpus, from.cpus, sizeof(to->cpus) - 1);
	}
	return 0;
}

/* Appends a page of a device's filters. 1: there are more; 0: no; -TALLY_ESTATE: they changed meanwhile. */
static int list_page(struct remote *r, uint32_t i, uint32_t generation, struct err *e)
{
	const struct local_from from = { i, r->pmu[i].nfilters };
	struct local_filters head;
	struct ptt_filter *filter;
	struct local_answer a;
	int rc = remote_ask(r, LOCAL_PTT_FILTERS, &from, sizeof(from), &a, sizeof(head), e);

	if (rc < 0)
		return rc;
	memcpy(&head, a.p, sizeof(head));
	if (head.generation != generation)
		return -TALLY_ESTATE;
	if (head.n > LOCAL_FILTERS_MOST || head.total > FILTERS_MOST || head.from != from.from ||
	    head.total < from.from + head.n || (!head.n && head.total > from.from) ||
	    a.head.bytes != sizeof(a.head) + sizeof(head) + head.n * sizeof(struct local_filter))
		return odd_answer(r, e);
	filter = mem_grow(r->filter[i], (from.from + head.n) * sizeof(*filter));
	if (!filter)
		return err_oom(e);
	r->pmu[i].filter = r->filter[i] = filter;
	for (uint32_t k = 0; k < head.n; k++) {
		struct ptt_filter *to = &filter[r->pmu[i].nfilters++];
		struct local_filter one;

		memcpy(&one, a.p + sizeof(head) + k * sizeof(one), sizeof(one));
		*to = (struct ptt_filter){ .value = one.value, .port = one.port != 0 };
		memcpy(to->name, one.name, sizeof(to->name) - 1);
	}
	return r->pmu[i].nfilters < head.total;
}

static int list_once(struct remote *r, struct err *e)
{
	uint32_t generation = 0;
	int rc;

	list_forget(r);
	rc = list_devices(r, &generation, e);
	for (uint32_t i = 0; rc == 0 && i < r->n; i++)
		while ((rc = list_page(r, i, generation, e)) > 0)
			;
	return rc;
}

static int remote_list(void *arg, const struct ptt_pmu **ret, uint32_t *n, struct err *e)
{
	struct remote *r = arg;
	int rc = -TALLY_ESTATE;

	/* An endpoint may come or go between two pages. */
	for (int i = 0; i < LIST_TRIES && rc == -TALLY_ESTATE && !e->code; i++)
		rc = list_once(r, e);
	if (rc == -TALLY_ESTATE)
		return err_set(e, TALLY_EIO, "%s: its endpoints change faster than they can be listed", r->op.what);
	if (rc < 0)
		return rc;
	*ret = r->pmu;
	*n = r->n;
	return 0;
}

/* ---- tunables ---------------------------------------------------------------------------------------------- */

static int remote_tune_get(void *arg, uint32_t i, enum ptt_tune t, uint32_t *value, struct err *e)
{
	const struct local_register at = { i, ptt_tunables[t].code };
	struct local_value v;
	struct local_answer a;
	int rc = remote_ask(arg, LOCAL_PTT_TUNE_GET, &at, sizeof(at), &a, sizeof(v), e);

	if (rc < 0)
		return rc;
	memcpy(&v, a.p, sizeof(v));
	*value = v.value;
	return 0;
}

static int remote_tune_set(void *arg, uint32_t i, enum ptt_tune t, uint32_t value, struct err *e)
{
	const struct local_assign to = { i, ptt_tunables[t].code, value, 0 };
	struct local_answer a;

	return remote_ask(arg, LOCAL_PTT_TUNE_SET, &to, sizeof(to), &a, 0, e);
}

/* ---- time --------------------------------------------------------------------------------------------------- */

static int remote_now(void *arg, uint64_t *ns, struct err *e)
{
	const struct local_device at = { 0, 0 };
	struct local_counts counts;
	struct local_answer a;
	int rc = remote_ask(arg, LOCAL_PTT_COUNTS, &at, sizeof(at), &a, sizeof(counts), e);

	if (rc < 0)
		return rc;
	memcpy(&counts, a.p, sizeof(counts));
	*ns = counts.now_ns;
	return 0;
}

/* ---- the link ----------------------------------------------------------------------------------------------- */

static int remote_link(void *arg, uint32_t i, struct ptt_link *ret, struct err *e)
{
	const struct local_device at = { i, 0 };
	struct local_link from;
	struct local_answer a;
	int rc = remote_ask(arg, LOCAL_PTT_LINK, &at, sizeof(at), &a, sizeof(from), e);

	if (rc < 0)
		return rc;
	memcpy(&from, a.p, sizeof(from));
	ret->ns = from.now_ns;
	memcpy(ret->tlps, from.tlps, sizeof(ret->tlps));
	memcpy(ret->bytes, from.bytes, sizeof(ret->bytes));
	return 0;
}

/* ---- a trace ------------------------------------------------------------------------------------------------- */

static int ask_for_pieces(struct remote *r, struct err *e)
{
	const struct local_device at = { r->device, 0 };
	uint64_t id;
	int rc = 1;

	for (; rc > 0 && r->asked < NEXTS; r->asked++)
		rc = local_ask(r->c, LOCAL_PTT_NEXT, &at, sizeof(at), &id, e);
	if (rc <= 0)
		r->asked--;
	return rc < 0 ? rc : 0;
}

/* The next answer to PTT_NEXT. 1; 0: none in time. */
static int next_answer(struct remote *r, struct local_answer *a, int timeout_ms, struct err *e)
{
	int rc;

	if (r->held_taken < r->nheld) {
		const uint8_t *p = held_at(r, r->held_taken++);

		memcpy(&a->head, p, sizeof(a->head));
		a->p = p + sizeof(a->head);
		return 1;
	}
	r->nheld = r->held_taken = 0;
	do {
		rc = local_next(r->c, a, timeout_ms, e);
		if (rc > 0 && a->head.op != LOCAL_PTT_NEXT)
			return odd_answer(r, e);
	} while (rc > 0 && a->head.id < r->first);
	return rc;
}

static int commit_room(struct remote *r, const struct local_piece *piece, struct err *e)
{
	uint8_t *p;

	if (piece->total > r->room) {
		p = mem_grow(r->commit, piece->total);
		if (!p)
			return err_oom(e);
		r->commit = p;
		r->room = piece->total;
	}
	r->total = piece->total;
	return 0;
}

/* 1: a commit is whole; 0: more pieces have to come, or none will. */
static int take_piece(struct remote *r, const struct local_answer *a, struct ptt_aux *aux, struct err *e)
{
	struct local_piece piece;
	size_t n = a->head.bytes - sizeof(a->head);
	int rc;

	if (n < sizeof(piece))
		return odd_answer(r, e);
	memcpy(&piece, a->p, sizeof(piece));
	n -= sizeof(piece);
	if (piece.flags & LOCAL_PIECE_END) {
		r->on = false;
		return 0;
	}
	if (piece.at != r->have || piece.total > LOCAL_RING_MOST || (r->have && piece.total != r->total) ||
	    n > piece.total - piece.at || (!n && piece.total))
		return odd_answer(r, e);
	if (!r->have && (rc = commit_room(r, &piece, e)) < 0)
		return rc;
	if (n)
		memcpy(r->commit + r->have, a->p + sizeof(piece), n);
	r->have += n;
	if (r->have < r->total)
		return 0;
	*aux = (struct ptt_aux){ r->commit, r->total, piece.flags & LOCAL_PIECE_TRUNCATED, piece.lost };
	r->given = true;
	return 1;
}

static int remote_next(void *arg, struct ptt_aux *aux, int timeout_ms, struct err *e)
{
	struct remote *r = arg;
	struct local_answer a;
	int rc = 0;

	if (r->given)
		r->have = r->given = 0;
	while (rc == 0 && r->on) {
		/* What was stopped ends with a word of the server's: there is nothing to wait for but that. */
		if ((rc = ask_for_pieces(r, e)) < 0 || (rc = next_answer(r, &a, r->stopped ? -1 : timeout_ms, e)) <= 0)
			break;
		r->asked--;
		rc = local_check(r->c, &a, e);
		if (rc == 0)
			rc = take_piece(r, &a, aux, e);
	}
	if (rc < 0)
		r->on = false;
	return rc;
}

/* Takes what is left of a trace that was stopped. If the server is lost, whatever is asked next will say so. */
static void remote_drain_trace(struct remote *r)
{
	struct err e = { 0 };
	struct ptt_aux aux;

	while (r->on && remote_next(r, &aux, -1, &e) > 0)
		;
}

static int device_of(const struct remote *r, const struct ptt_pmu *p, uint32_t *ret, struct err *e)
{
	for (uint32_t i = 0; i < r->n; i++)
		if (strcmp(r->pmu[i].name, p->name) == 0)
			return *ret = i, 0;
	return err_set(e, TALLY_EINVAL, "%s: no such device: %s", r->op.what, p->name);
}

static int remote_start(void *arg, const struct ptt_pmu *p, const struct ptt_ask *ev, size_t ring, struct err *e)
{
	struct remote *r = arg;
	struct local_start to = { .config = ptt_ask_config(ev), .ring = ring };
	struct local_answer a;
	int rc = device_of(r, p, &to.device, e);

	if (rc == 0 && r->on && !r->stopped)
		rc = err_set(e, TALLY_EBUSY, "%s: a trace is running; only one can run at a time", p->name);
	if (rc == 0)
		remote_drain_trace(r);
	if (rc == 0 && !r->held && (r->held = mem_alloc((size_t)NEXTS * LOCAL_FRAME_MOST)) == NULL)
		rc = err_oom(e);
	if (rc < 0)
		return rc;
	r->first = UINT64_MAX;
	rc = remote_ask(r, LOCAL_PTT_START, &to, sizeof(to), &a, 0, e);
	if (rc < 0)
		return rc;
	r->device = to.device;
	r->first = a.head.id + 1;
	r->asked = r->nheld = r->held_taken = 0;
	r->have = r->given = r->stopped = false;
	r->on = true;
	return ask_for_pieces(r, e);
}

static int remote_stop(void *arg, struct err *e)
{
	struct remote *r = arg;
	const struct local_device at = { r->device, 0 };
	struct local_answer a;

	if (!r->on || r->stopped)
		return 0;
	r->stopped = true;
	return remote_ask(r, LOCAL_PTT_STOP, &at, sizeof(at), &a, 0, e);
}

/* ---- the platform ---------------------------------------------------------------------------------------------- */

static void remote_close(void *arg)
{
	struct remote *r = arg;

	list_forget(r);
	local_disconnect(r->c);
	mem_free(r->held);
	mem_free(r->commit);
	mem_free(r);
}

static const struct ptt_pmus_ops remote_ops = {
	.list = remote_list,
	.tune_get = remote_tune_get,
	.tune_set = remote_tune_set,
	.start = remote_start,
	.next = remote_next,
	.stop = remote_stop,
	.close = remote_close,
	.now = remote_now,
	.link = remote_link,
};

int local_pmus(struct ptt_pmus *ret, const char *path, const struct local_wait *w, struct err *e)
{
	struct remote *r = mem_alloc(sizeof(*r));
	int rc;

	if (!r)
		return err_oom(e);
	rc = local_connect(&r->c, path, 0, w, e);
	if (rc < 0) {
		mem_free(r);
		return rc;
	}
	r->op = remote_ops;
	r->op.what = local_client_name(r->c);
	*ret = (struct ptt_pmus){ r, &r->op };
	return 0;
}
