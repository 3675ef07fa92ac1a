/*
 * speculate.c: records that wait for commit() or discard().
 *
 * A record of a speculating clause carries the number of its speculation, and comes through the ring of its CPU like
 * any other. It is kept here, up to specsize bytes for each speculation, until the record of the clause that called
 * commit() or discard() comes. Rings of other CPUs may be read later: records that still come then are shown or
 * discarded at once. The programs have counted the records (struct img_spec), so it is known when the last one came.
 * Then the speculation is free again, and no record of it can be taken for one of the next.
 *
 * If a record of commit() found no room in its ring, it is a drop like any other. Its speculation stays in use until
 * the end. Then no program runs any more, and the state words in the programs' map decide whether it is committed.
 */
#include <string.h>

#include "session/session_int.h"

struct speculation {
	struct buf kept; /* for each record its bytes (8 of them), then the record, padded to 8 */
	uint64_t taken;  /* records that came, of all speculations that had this number */
	uint8_t state;   /* SPEC_ACTIVE, or as it was settled */
};

int spec_open(struct tally_trace *t)
{
	struct maps m = t->eng->ops->maps(t->eng);
	int map = image_map(t, IMG_SPECS, 0);

	if (map < 0)
		return 0;
	t->spec_state = m.ops->memory(m.maps, (uint32_t)map);
	t->nspecs = (uint32_t)(t->img->map[map].value_size / sizeof(*t->spec_state));
	t->spec = mem_alloc((t->nspecs + 1) * sizeof(*t->spec));
	if (!t->spec || !t->spec_state)
		return trace_nomem(t);
	for (uint32_t i = 0; i <= t->nspecs; i++)
		t->spec[i].state = SPEC_ACTIVE;
	return 0;
}

void spec_close(struct tally_trace *t)
{
	for (uint32_t i = 0; t->spec && i <= t->nspecs; i++)
		buf_free(&t->spec[i].kept);
	mem_free(t->spec);
	t->spec = NULL;
	t->spec_state = NULL;
	t->nspecs = 0;
	t->spec_drops = t->spec_drops_told = 0;
}

static void spec_keep(struct tally_trace *t, struct speculation *s, const void *rec, uint64_t size)
{
	const uint64_t pad = 0;

	if (size > t->opt.v[OPT_specsize] || s->kept.n > t->opt.v[OPT_specsize] - size) {
		t->spec_drops++;
		return;
	}
	buf_put(&s->kept, (const char *)&size, sizeof(size));
	buf_put(&s->kept, rec, size);
	buf_put(&s->kept, (const char *)&pad, -size & 7);
}

int spec_take(struct tally_trace *t, uint64_t id, const void *rec, uint32_t size)
{
	struct speculation *s;

	if (!id)
		return 1;
	if (!t->spec || id > t->nspecs)
		return trace_fail(t, TALLY_ECORRUPT, "a record of an unknown speculation (%llu)",
				  (unsigned long long)id);
	s = &t->spec[id];
	s->taken++;
	if (s->state == SPEC_ACTIVE)
		spec_keep(t, s, rec, size);
	return s->kept.failed ? trace_nomem(t) : s->state == SPEC_COMMITTED;
}

static int spec_show(struct tally_trace *t, const struct buf *kept)
{
	uint64_t size;
	int rc = 0;

	for (size_t at = 0; rc >= 0 && at < kept->n; at += sizeof(size) + ((size + 7) & ~7ull)) {
		memcpy(&size, kept->p + at, sizeof(size));
		rc = record_show(t, kept->p + at + sizeof(size));
	}
	return rc;
}

int spec_settle(struct tally_trace *t, uint64_t id, enum d_settle how)
{
	struct speculation *s;
	struct buf kept;
	int rc;

	if (!id)
		return 0;
	if (!t->spec || id > t->nspecs)
		return trace_fail(t, TALLY_ECORRUPT, "an unknown speculation (%llu)", (unsigned long long)id);
	s = &t->spec[id];
	s->state = how == D_COMMIT ? SPEC_COMMITTED : SPEC_DISCARDED;
	kept = s->kept;
	s->kept = (struct buf){ 0 };
	rc = how == D_COMMIT ? spec_show(t, &kept) : 0;
	buf_free(&kept);
	return rc;
}

void spec_free_settled(struct tally_trace *t)
{
	for (uint32_t id = 1; t->spec && id <= t->nspecs; id++) {
		struct img_spec *state = &t->spec_state[id - 1];

		if (t->spec[id].state == SPEC_ACTIVE ||
		    __atomic_load_n(&state->records, __ATOMIC_SEQ_CST) != t->spec[id].taken)
			continue;
		t->spec[id].state = SPEC_ACTIVE;
		__atomic_store_n(&state->state, SPEC_FREE, __ATOMIC_SEQ_CST);
	}
}

int spec_settle_rest(struct tally_trace *t)
{
	int rc = 0;

	for (uint32_t id = 1; rc >= 0 && t->spec && id <= t->nspecs; id++)
		if (t->spec[id].state == SPEC_ACTIVE && t->spec_state[id - 1].state == SPEC_COMMITTED)
			rc = spec_settle(t, id, D_COMMIT);
	return rc;
}
