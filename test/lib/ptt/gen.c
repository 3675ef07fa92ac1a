/*
 * gen.c: a root and its endpoints, as a simulation of events.
 *
 * Two things can come next: a new request, or the next piece of an open one,
 * which wait in a heap by the time they are due.  Each step takes the earlier
 * and makes one record of it.  A requester takes its tags in turn; the tag of a
 * request that nobody will answer stays taken, until the requester forgets that
 * it is and uses it again.
 *
 * Completions follow the rules (r5.0, 2.3.1.1): none is larger than the maximum
 * payload, and all but the last end on a multiple of the read completion
 * boundary.
 */
#include <string.h>

#include "ptt/gen_int.h"

#define ROOT 0
#define TAGS_MOST 16384
#define NO_FATE 0xff /* never answered */

/* An open request; what is left to answer. */
struct open_request {
	uint64_t due, opened, first, address;
	uint32_t tag, left, pieces;
	uint8_t who, completer, row, fate; /* fate: completion status, or NO_FATE */
	bool relaxed, data;                /* data: the completions have some */
};
struct tags {
	uint16_t *free, *lost; /* free: a ring; lost: open for ever */
	uint32_t head, nfree, nlost;
};
/* DMA goes through memory in order: where a requester's reads and its writes go on. */
struct stream {
	uint32_t page, offset;
};
struct ptt_gen {
	struct ptt_gen_opts o;
	struct stream stream[PTT_GEN_REQUESTERS][2];
	struct ptt_gen_truth truth;
	struct open_request *heap;
	uint32_t nheap;
	struct tags tags[PTT_GEN_REQUESTERS];
	uint64_t random, next_request, last_time;
	uint8_t *out;
};

/* ---- chance --------------------------------------------------------------------------------- */

/* A number below n. */
static uint32_t below(struct ptt_gen *g, uint32_t n)
{
	g->random += 0x9e3779b97f4a7c15ull;
	uint64_t z = (g->random ^ g->random >> 30) * 0xbf58476d1ce4e5b9ull;
	z = (z ^ z >> 27) * 0x94d049bb133111ebull;
	return (uint32_t)(((z ^ z >> 31) >> 32) * n >> 32);
}

static bool chance(struct ptt_gen *g, uint32_t per_million)
{
	return below(g, 1000000) < per_million;
}

static uint64_t gap(struct ptt_gen *g)
{
	if (g->o.format == PTT_8DW && !g->o.no_pauses && chance(g, 200))
		return below(g, 3000000);
	return chance(g, 5000) ? below(g, 2048) : below(g, 40);
}

/* ---- one record ------------------------------------------------------------------------------- */

static void level_change(struct ptt_gen *g, int by)
{
	struct ptt_gen_truth *t = &g->truth;

	t->outstanding_ticks += t->outstanding * (t->now - t->level_since);
	t->level_since = t->now;
	t->outstanding += (uint64_t)(int64_t)by;
	if (t->outstanding > t->peak)
		t->peak = t->outstanding;
}

/* Writes a packet and counts what holds for every one; bytes: what its type counts. */
static void emit(struct ptt_gen *g, struct packet *k, uint64_t bytes)
{
	struct ptt_gen_truth *t = &g->truth;
	bool delta = g->o.time == PTT_TIME_DELTA;
	uint64_t time = delta && t->records > 0 ? t->now - g->last_time : g->o.first_time + (delta ? 0 : t->now);

	if (k->row != TLP_ROW_reserved) {
		t->type[k->row].dws += k->dws;
		t->type[k->row].bytes += bytes;
		t->type[k->row].relaxed += k->relaxed;
		t->prefixes += k->prefix != 0;
		t->digests += k->digest;
	}
	t->type[k->row].tlps++;
	t->fault[PTT_FAULT_POISONED] += k->poisoned;
	gen_encode(k, &g->o, (uint32_t)time, g->out);
	g->last_time = t->now;
	t->records++;
	g->out += g->o.format * 4u;
}

static struct packet packet_of(struct ptt_gen *g, uint32_t who, uint8_t row)
{
	const struct ptt_gen_requester *r = &g->truth.requester[who];
	struct packet k = { .row = row, .requester = r->id, .segment = r->segment };

	if (who != ROOT && g->o.format == PTT_8DW) {
		k.prefix = chance(g, 30000) ? 0x91000000 | below(g, 1 << 20) : 0;
		k.digest = chance(g, 20000);
	}
	return k;
}

/* ---- answers ------------------------------------------------------------------------------------ */

static void heap_push(struct ptt_gen *g, const struct open_request *q)
{
	uint32_t i = g->nheap++;

	for (; i > 0 && g->heap[(i - 1) / 2].due > q->due; i = (i - 1) / 2)
		g->heap[i] = g->heap[(i - 1) / 2];
	g->heap[i] = *q;
}

static struct open_request heap_pop(struct ptt_gen *g)
{
	struct open_request top = g->heap[0], last = g->heap[--g->nheap];
	uint32_t i = 0, child;

	while ((child = 2 * i + 1) < g->nheap) {
		child += child + 1 < g->nheap && g->heap[child + 1].due < g->heap[child].due;
		if (g->heap[child].due >= last.due)
			break;
		g->heap[i] = g->heap[child];
		i = child;
	}
	g->heap[i] = last;
	return top;
}

static void count_answer(struct ptt_gen *g, const struct open_request *q, const struct packet *k, uint32_t bytes)
{
	struct ptt_gen_requester *r = &g->truth.requester[q->who];
	struct ptt_gen_completer *c = &g->truth.completer[q->completer];

	r->kind[PTT_COMPLETION]++;
	r->read_bytes += bytes;
	c->completions++;
	c->bytes += bytes;
	c->status[k->status]++;
	if (k->dws != 0)
		g->truth.size[PTT_SIZE_COMPLETION][k->dws]++;
}

static void give_back(struct tags *t, uint32_t most, uint32_t tag)
{
	t->free[(t->head + t->nfree++) % most] = (uint16_t)tag;
}

static void finish_request(struct ptt_gen *g, const struct open_request *q, uint8_t status)
{
	struct ptt_gen_truth *t = &g->truth;
	struct ptt_gen_requester *r = &t->requester[q->who];
	const struct tlp_type *y = tlp_type_at(q->row);

	level_change(g, -1);
	give_back(&g->tags[q->who], g->o.tags, q->tag);
	r->outstanding--;
	r->answered++;
	t->answered++;
	if (status != 0) {
		r->failed++;
		t->failed++;
		return;
	}
	ptt_hist_add(&r->latency, t->now - q->opened);
	ptt_hist_add(&t->latency, t->now - q->opened);
	ptt_hist_add(&t->latency_first, q->first - q->opened);
	if (!y->data)
		t->pieces[q->pieces < 16 ? q->pieces : 16]++;
}

static void answer_without_data(struct ptt_gen *g, struct open_request *q)
{
	static const uint8_t fault[8] = { [1] = PTT_FAULT_UR, [2] = PTT_FAULT_CRS, [4] = PTT_FAULT_CA };
	bool locked = q->row == TLP_ROW_MRdLk32 || q->row == TLP_ROW_MRdLk64;
	struct packet k = packet_of(g, q->who, locked ? TLP_ROW_CplLk : TLP_ROW_Cpl);

	k.tag = q->tag;
	k.completer = g->truth.completer[q->completer].id;
	k.status = q->fate;
	k.relaxed = q->relaxed;
	k.byte_count = (uint16_t)(q->data ? q->left : 4);
	count_answer(g, q, &k, 0);
	if (q->fate != 0)
		g->truth.fault[fault[q->fate]]++;
	emit(g, &k, 0);
	finish_request(g, q, q->fate);
}

/* Where the next piece of a read ends: all of it, or at a boundary. */
static uint64_t piece_end(struct ptt_gen *g, const struct open_request *q)
{
	uint64_t start = q->address & ~3ull, all = q->address + q->left;
	uint64_t first = (q->address / g->o.rcb + 1) * g->o.rcb;
	uint32_t more = (uint32_t)((start + g->o.mps - first) / g->o.rcb);

	if (all <= first || (all <= start + g->o.mps && below(g, 4) != 0))
		return all;
	uint64_t end = first + (uint64_t)g->o.rcb * (below(g, 3) != 0 ? more : below(g, more + 1));
	return end < all ? end : all;
}

static void answer_with_data(struct ptt_gen *g, struct open_request *q)
{
	bool memory = tlp_type_at(q->row)->layout <= TLP_MEM64 && !tlp_type_at(q->row)->data;
	bool locked = q->row == TLP_ROW_MRdLk32 || q->row == TLP_ROW_MRdLk64;
	uint64_t end = memory ? piece_end(g, q) : q->address + q->left;
	uint32_t bytes = (uint32_t)(end - q->address);
	struct packet k = packet_of(g, q->who, locked ? TLP_ROW_CplDLk : TLP_ROW_CplD);

	k.tag = q->tag;
	k.completer = g->truth.completer[q->completer].id;
	k.relaxed = q->relaxed;
	k.byte_count = (uint16_t)q->left;
	k.lower = memory ? q->address & 0x7f : 0;
	k.dws = (uint32_t)((end + 3) / 4 - q->address / 4);
	count_answer(g, q, &k, bytes);
	emit(g, &k, bytes);
	if (q->pieces++ == 0)
		q->first = g->truth.now;
	q->left -= bytes;
	q->address = end;
	if (q->left == 0) {
		finish_request(g, q, 0);
		return;
	}
	*(end % 128 == 0 ? &g->truth.split_128 : &g->truth.split_64) += 1;
	q->due = g->truth.now + below(g, 30);
	heap_push(g, q);
}

static void next_answer(struct ptt_gen *g)
{
	struct open_request q = heap_pop(g);

	g->truth.now = q.due;
	if (q.pieces == 0)
		q.first = q.due;
	/* An abort may come after a first piece. */
	bool early = q.fate == 4 && q.data && q.pieces == 0 && q.left > g->o.mps && below(g, 2) == 0;
	if (!q.data || (q.fate != 0 && !early))
		answer_without_data(g, &q);
	else
		answer_with_data(g, &q);
}

/* ---- requests ------------------------------------------------------------------------------------ */

/* A tag for a request, perhaps one that is still open; false: none is left. */
static bool take_tag(struct ptt_gen *g, uint32_t who, uint32_t *tag)
{
	struct tags *t = &g->tags[who];
	struct ptt_gen_requester *r = &g->truth.requester[who];

	if (t->nlost != 0 && below(g, 8) == 0) {
		*tag = t->lost[--t->nlost];
		g->truth.fault[PTT_FAULT_REUSED]++;
		r->given_up++;
		r->outstanding--;
		level_change(g, -1);
		return true;
	}
	if (t->nfree == 0)
		return false;
	*tag = t->free[t->head];
	t->head = (t->head + 1) % g->o.tags;
	t->nfree--;
	return true;
}

static uint8_t choose_fate(struct ptt_gen *g, bool configuration)
{
	if (g->o.faults == 0)
		return 0;
	if (configuration && chance(g, g->o.faults))
		return 2;
	return chance(g, g->o.faults) ? 1 : chance(g, g->o.faults) ? 4 : chance(g, g->o.faults) ? NO_FATE : 0;
}

/* Emits a non-posted request, and sees to it that it is answered: with `left` bytes from `address` on. */
static void ask(struct ptt_gen *g, uint32_t who, struct packet *k, uint64_t bytes, uint64_t address, uint32_t left)
{
	struct ptt_gen_truth *t = &g->truth;
	struct ptt_gen_requester *r = &t->requester[who];
	const struct tlp_type *y = tlp_type_at(k->row);
	bool data = left != 0;
	uint32_t completer = who == ROOT ? 1 + below(g, t->nrequesters - 1) : ROOT;
	struct open_request q = {
		.opened = t->now,
		.due = t->now + 150 + below(g, 100) + (chance(g, 20000) ? below(g, 5000) : 0),
		.address = address,
		.tag = k->tag,
		.left = left,
		.who = (uint8_t)who,
		.row = k->row,
		.completer = (uint8_t)completer,
		.fate = choose_fate(g, y->layout == TLP_CFG),
		.relaxed = k->relaxed,
		.data = data,
	};
	if (y->layout == TLP_CFG)
		k->completer = t->completer[completer].id;
	level_change(g, 1);
	t->requests++;
	if (++r->outstanding > r->peak)
		r->peak = r->outstanding;
	emit(g, k, bytes);
	if (q.fate == NO_FATE)
		g->tags[who].lost[g->tags[who].nlost++] = (uint16_t)k->tag;
	else
		heap_push(g, &q);
}

/* A stretch of bytes within one of the requester's pages. */
struct stretch {
	uint64_t address;
	uint32_t bytes, dws;
	struct ptt_gen_page *page;
};

static struct stretch stretch_at(struct ptt_gen *g, uint32_t who, uint32_t page, uint32_t offset, uint32_t bytes)
{
	struct stretch s = { .bytes = bytes };

	s.address = g->truth.requester[who].base + page * 4096ull + offset;
	s.dws = (uint32_t)((s.address + s.bytes + 3) / 4 - s.address / 4);
	s.page = &g->truth.page[who * g->o.pages + page];
	return s;
}

/* Anywhere and of any size, but within the bounds of `most`. */
static struct stretch stray(struct ptt_gen *g, uint32_t who, uint32_t most)
{
	uint32_t offset = below(g, 64) * 64, bytes = 4u << below(g, 5);

	if (below(g, 2) == 0) { /* neither starts nor ends on a DW */
		offset += below(g, 64);
		bytes = 1 + below(g, most);
	}
	if (offset % most + bytes > most)
		bytes = most - offset % most;
	return stretch_at(g, who, below(g, g->o.pages), offset, bytes);
}

/* The next in order, as large as can be. */
static struct stretch next_stretch(struct ptt_gen *g, uint32_t who, bool write, uint32_t most)
{
	struct stream *m = &g->stream[who][write];

	if (below(g, 8) == 0)
		return stray(g, who, most);
	if (m->offset == 4096 || below(g, 32) == 0)
		*m = (struct stream){ .page = below(g, 4) ? (m->page + 1) % g->o.pages : below(g, g->o.pages) };
	struct stretch s = stretch_at(g, who, m->page, m->offset, most);
	m->offset += most;
	return s;
}

/* Byte enables of a stretch: last DW's above the first's. */
static uint8_t enables(const struct stretch *s)
{
	uint32_t first = 0xfu << (s->address & 3), end = (uint32_t)(s->address + s->bytes) & 3;
	uint32_t last = end ? 0xfu >> (4 - end) : 0xf;

	return (uint8_t)(s->dws == 1 ? (first & last & 0xf) : (first & 0xf) | last << 4);
}

static uint8_t sized(uint64_t address, uint8_t row32)
{
	return row32 + (address >> 32 != 0);
}
static_assert(TLP_ROW_MRd64 == TLP_ROW_MRd32 + 1 && TLP_ROW_MWr64 == TLP_ROW_MWr32 + 1 &&
		      TLP_ROW_MRdLk64 == TLP_ROW_MRdLk32 + 1 && TLP_ROW_DMWr64 == TLP_ROW_DMWr32 + 1 &&
		      TLP_ROW_FetchAdd64 == TLP_ROW_FetchAdd32 + 1 && TLP_ROW_Swap64 == TLP_ROW_Swap32 + 1 &&
		      TLP_ROW_CAS64 == TLP_ROW_CAS32 + 1,
	      "the wide form of a request is the next row");

static void count_read(struct ptt_gen *g, uint32_t who, uint32_t dws, uint64_t bytes)
{
	struct ptt_gen_requester *r = &g->truth.requester[who];

	r->kind[PTT_READ]++;
	r->asked_bytes += bytes;
	r->largest_read = 4 * dws > r->largest_read ? 4 * dws : r->largest_read;
	g->truth.size[PTT_SIZE_READ][dws]++;
}

static void count_write(struct ptt_gen *g, uint32_t who, uint32_t dws, uint64_t bytes)
{
	struct ptt_gen_requester *r = &g->truth.requester[who];

	r->kind[PTT_WRITE]++;
	r->written_bytes += bytes;
	r->largest_write = 4 * dws > r->largest_write ? 4 * dws : r->largest_write;
	g->truth.size[PTT_SIZE_WRITE][dws]++;
}

static void memory_read(struct ptt_gen *g, uint32_t who, uint32_t tag, uint8_t row32)
{
	struct stretch s = next_stretch(g, who, false, g->o.mrrs);
	struct packet k = packet_of(g, who, sized(s.address, row32));
	uint32_t left = s.bytes;
	uint64_t bytes = s.bytes;

	k.tag = tag;
	k.relaxed = below(g, 3) == 0;
	k.be = enables(&s);
	if (chance(g, 5000)) { /* a read of nothing: one DW comes, Byte Count says 1 */
		s.dws = 1;
		s.address &= ~3ull;
		k.be = 0;
		left = 1;
		bytes = 0;
	} else if (s.address % 4 == 0 && s.bytes % 4 == 0 && chance(g, 20000)) {
		k.hints = true; /* the byte enables are a steering tag */
		k.be = (uint8_t)below(g, 256);
	}
	k.dws = s.dws;
	k.address = s.address & ~3ull;
	s.page->tlps++;
	s.page->read_bytes += bytes;
	count_read(g, who, s.dws, bytes);
	ask(g, who, &k, bytes, s.address, left);
}

static void memory_write(struct ptt_gen *g, uint32_t who)
{
	struct stretch s = next_stretch(g, who, true, g->o.mps);
	struct packet k = packet_of(g, who, sized(s.address, TLP_ROW_MWr32));
	uint64_t bytes = s.bytes;

	k.be = enables(&s);
	if (s.dws == 1 && below(g, 4) == 0) { /* with a hole, or a write of nothing */
		k.be = below(g, 2) ? 0x5 : 0;
		bytes = k.be ? 2 : 0;
	}
	k.relaxed = below(g, 3) == 0;
	k.poisoned = g->o.format == PTT_8DW && chance(g, g->o.faults);
	k.dws = s.dws;
	k.address = s.address & ~3ull;
	s.page->tlps++;
	s.page->written_bytes += bytes;
	count_write(g, who, s.dws, bytes);
	emit(g, &k, bytes);
}

static void msi(struct ptt_gen *g, uint32_t who)
{
	struct ptt_gen_requester *r = &g->truth.requester[who];
	struct packet k = packet_of(g, who, sized(r->msi_address, TLP_ROW_MWr32));

	k.dws = 1;
	k.be = 0xf;
	k.address = r->msi_address;
	r->msis++;
	count_write(g, who, 1, 4);
	emit(g, &k, 4);
}

static void atomic(struct ptt_gen *g, uint32_t who, uint32_t tag)
{
	static const uint8_t rows[3] = { TLP_ROW_FetchAdd32, TLP_ROW_Swap32, TLP_ROW_CAS32 };
	struct stretch s = stray(g, who, 64);
	uint32_t operand = 4u << below(g, 2), row = rows[below(g, 3)];
	struct packet k = packet_of(g, who, sized(s.address, (uint8_t)row));

	k.tag = tag;
	k.dws = operand / 4 * (row == TLP_ROW_CAS32 ? 2 : 1);
	k.address = s.address & ~63ull;
	g->truth.requester[who].kind[PTT_ATOMIC]++;
	s.page->tlps++;
	s.page->read_bytes += 4 * k.dws;
	s.page->written_bytes += 4 * k.dws;
	ask(g, who, &k, 4 * k.dws, k.address, operand);
}

static void deferrable_write(struct ptt_gen *g, uint32_t who, uint32_t tag)
{
	struct stretch s = stray(g, who, 64);
	struct packet k = packet_of(g, who, sized(s.address, TLP_ROW_DMWr32));

	k.tag = tag;
	k.be = enables(&s);
	k.dws = s.dws;
	k.address = s.address & ~3ull;
	s.page->tlps++;
	s.page->written_bytes += s.bytes;
	count_write(g, who, s.dws, s.bytes);
	ask(g, who, &k, s.bytes, 0, 0);
}

/* Configuration and IO: one DW; a read when `read`. */
static void register_access(struct ptt_gen *g, uint32_t who, uint32_t tag, uint8_t row, bool read)
{
	struct packet k = packet_of(g, who, row);

	k.tag = tag;
	k.dws = 1;
	k.be = row == TLP_ROW_IORd ? 1u << below(g, 4) : 0xf;
	k.reg = (uint16_t)(below(g, 1024) * 4);
	k.address = 0x3000 + below(g, 64) * 4;
	uint32_t bytes = k.be == 0xf ? 4 : 1;
	if (read)
		count_read(g, who, 1, bytes);
	else
		count_write(g, who, 1, bytes);
	ask(g, who, &k, bytes, 0, read ? 4 : 0);
}

static void message(struct ptt_gen *g, uint32_t who)
{
	static const struct {
		uint8_t code, route;
	} kinds[] = {
		{ 0x10, 4 }, { 0x18, 0 }, { 0x20, 4 }, { 0x24, 4 }, { 0x30, 0 }, { 0x31, 0 }, { 0x52, 4 }, { 0x7f, 2 },
	};
	uint32_t i = below(g, COUNT(kinds));
	struct packet k = packet_of(g, who, kinds[i].code == 0x7f ? TLP_ROW_MsgD : TLP_ROW_Msg);

	k.code = kinds[i].code;
	/* By ID there is no room for the segment of the newer layout. */
	k.route = g->o.tag14 && kinds[i].route == 2 ? 4 : kinds[i].route;
	k.completer = g->truth.requester[ROOT].id;
	k.dws = k.row == TLP_ROW_MsgD ? 1 + below(g, 8) : 0;
	g->truth.message_code[k.code]++;
	g->truth.requester[who].kind[PTT_MESSAGE]++;
	emit(g, &k, 4 * k.dws);
}

/* An answer to nobody: a free tag's. */
static bool unexpected_completion(struct ptt_gen *g, uint32_t who)
{
	struct tags *t = &g->tags[who];
	struct open_request q = { .who = (uint8_t)who, .completer = who == ROOT ? 1 : ROOT };
	struct packet k = packet_of(g, who, TLP_ROW_CplD);

	if (t->nfree == 0)
		return false;
	k.tag = t->free[(t->head + t->nfree - 1) % g->o.tags];
	k.completer = g->truth.completer[q.completer].id;
	k.byte_count = 64;
	k.dws = 16;
	count_answer(g, &q, &k, 64);
	g->truth.fault[PTT_FAULT_UNEXPECTED_CPL]++;
	emit(g, &k, 64);
	return true;
}

static void root_asks(struct ptt_gen *g, uint32_t tag)
{
	uint32_t what = below(g, 100);

	if (what < 30)
		register_access(g, ROOT, tag, what < 15 ? TLP_ROW_CfgRd0 : TLP_ROW_CfgRd1, true);
	else if (what < 45)
		register_access(g, ROOT, tag, what < 40 ? TLP_ROW_CfgWr0 : TLP_ROW_CfgWr1, false);
	else if (what < 55)
		register_access(g, ROOT, tag, what < 50 ? TLP_ROW_IORd : TLP_ROW_IOWr, what < 50);
	else
		memory_read(g, ROOT, tag, what < 57 ? TLP_ROW_MRdLk32 : TLP_ROW_MRd32);
}

static void endpoint_asks(struct ptt_gen *g, uint32_t who, uint32_t tag)
{
	uint32_t what = below(g, 100);

	if (what < 97)
		memory_read(g, who, tag, TLP_ROW_MRd32);
	else if (what < 99)
		atomic(g, who, tag);
	else
		deferrable_write(g, who, tag);
}

static void next_request(struct ptt_gen *g)
{
	struct ptt_gen_truth *t = &g->truth;
	uint32_t who = chance(g, 20000) ? ROOT : 1 + below(g, t->nrequesters - 1), what = below(g, 100), tag;

	t->now = g->next_request;
	g->next_request += gap(g);
	if (chance(g, g->o.faults) && unexpected_completion(g, who))
		return;
	if (chance(g, g->o.faults)) {
		t->fault[PTT_FAULT_RESERVED]++;
		emit(g, &(struct packet){ .row = TLP_ROW_reserved, .requester = t->requester[who].id }, 0);
	} else if (what < 1) {
		message(g, who);
	} else if (what < 5 && who != ROOT) {
		msi(g, who);
	} else if (what < 50 || !take_tag(g, who, &tag)) {
		memory_write(g, who);
	} else if (who == ROOT) {
		root_asks(g, tag);
	} else {
		endpoint_asks(g, who, tag);
	}
}

size_t ptt_gen_fill(struct ptt_gen *g, uint8_t *p, size_t n)
{
	size_t record = g->o.format * 4u, end = n / record * record;

	g->out = p;
	while (g->out != p + end) {
		if (g->nheap != 0 && g->heap[0].due <= g->next_request)
			next_answer(g);
		else
			next_request(g);
	}
	return end;
}

const struct ptt_gen_truth *ptt_gen_truth(const struct ptt_gen *g)
{
	return &g->truth;
}

/* ---- opening ------------------------------------------------------------------------------------- */

static bool power_of_two(uint32_t v, uint32_t least, uint32_t most)
{
	return v >= least && v <= most && (v & (v - 1)) == 0;
}

static int settle_opts(struct ptt_gen_opts *o)
{
	o->requesters = o->requesters ? o->requesters : 8;
	o->tags = o->tags ? o->tags : 64;
	o->mps = o->mps ? o->mps : 256;
	o->mrrs = o->mrrs ? o->mrrs : 512;
	o->rcb = o->rcb ? o->rcb : 64;
	o->pages = o->pages ? o->pages : 32;
	o->format = o->format ? o->format : PTT_8DW;
	o->time = o->time ? o->time : PTT_TIME_ABS;
	if (o->requesters < 2 || o->requesters > PTT_GEN_REQUESTERS || o->tags > (o->tag14 ? TAGS_MOST : 1024) ||
	    !power_of_two(o->mps, 128, 4096) || !power_of_two(o->mrrs, 128, 4096) || !power_of_two(o->rcb, 64, 128) ||
	    o->pages > 4096 || o->faults > 1000000 || (o->format != PTT_4DW && o->format != PTT_8DW) ||
	    o->time > PTT_TIME_DELTA)
		return -TALLY_EINVAL;
	return 0;
}

/* The root is 00:00.0; endpoints are functions of bus 1 and up. Every other one lies below 4 GiB. */
static void place_requesters(struct ptt_gen *g)
{
	struct ptt_gen_truth *t = &g->truth;

	for (uint32_t i = 0; i < t->nrequesters; i++) {
		struct ptt_gen_requester *r = &t->requester[i];
		r->id = i == ROOT ? 0 : (uint16_t)((1 + (i - 1) / 4) << 8 | ((i - 1) & 3));
		r->segment = g->o.tag14 ? 3 : 0;
		r->base = i & 1 ? 0x10000000ull + ((uint64_t)i << 24) : 0x100000000ull + ((uint64_t)i << 24);
		r->msi_address = i & 1 ? 0xfee00000ull + (i << 12) : 0x402810040ull;
		t->completer[i].id = r->id;
	}
}

static int make_tags(struct ptt_gen *g)
{
	for (uint32_t i = 0; i < g->truth.nrequesters; i++) {
		struct tags *t = &g->tags[i];
		t->free = mem_alloc(g->o.tags * sizeof(*t->free));
		t->lost = mem_alloc(g->o.tags * sizeof(*t->lost));
		if (t->free == NULL || t->lost == NULL)
			return -TALLY_ENOMEM;
		for (uint32_t tag = 0; tag < g->o.tags; tag++)
			give_back(t, g->o.tags, tag);
	}
	return 0;
}

int ptt_gen_open(struct ptt_gen **ret, const struct ptt_gen_opts *o)
{
	struct ptt_gen *g = mem_alloc(sizeof(*g));
	int rc = g ? 0 : -TALLY_ENOMEM;

	if (rc < 0)
		return rc;
	g->o = *o;
	g->random = o->seed;
	if ((rc = settle_opts(&g->o)) < 0)
		goto fail;
	struct ptt_gen_truth *t = &g->truth;
	t->nrequesters = t->ncompleters = g->o.requesters;
	t->npages = g->o.pages;
	t->requester = mem_alloc(t->nrequesters * sizeof(*t->requester));
	t->page = mem_alloc((size_t)t->nrequesters * t->npages * sizeof(*t->page));
	g->heap = mem_alloc((size_t)t->nrequesters * g->o.tags * sizeof(*g->heap));
	rc = t->requester && t->page && g->heap ? make_tags(g) : -TALLY_ENOMEM;
	if (rc < 0)
		goto fail;
	place_requesters(g);
	*ret = g;
	return 0;
fail:
	ptt_gen_close(g);
	return rc;
}

void ptt_gen_close(struct ptt_gen *g)
{
	if (g == NULL)
		return;
	for (uint32_t i = 0; i < PTT_GEN_REQUESTERS; i++) {
		mem_free(g->tags[i].free);
		mem_free(g->tags[i].lost);
	}
	mem_free(g->truth.requester);
	mem_free(g->truth.page);
	mem_free(g->heap);
	mem_free(g);
}
