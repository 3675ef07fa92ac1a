/*
 * truth_test_int.h: traces that know what is in them, for truth_test.c.
 *
 * A trace is made packet by packet, and each packet knows its transaction, its requester and whether it is the same
 * packet at another port.  Three endpoints read, write, signal, send messages and use atomics, a host reads what nobody
 * sees answered, and now and then something fails.  What the direction of the trace can't show is not recorded.
 * Nothing of it comes from the code that is tested: headers are written as PCI Express r5.0, 2.2 draws them.
 */
#ifndef TALLY_CAPTURE_TRUTH_TEST_INT_H
#define TALLY_CAPTURE_TRUTH_TEST_INT_H

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "ptt/ptt.h"

enum { TXNS = 300, EVENTS = 10 * TXNS, ENDPOINTS = 3, HOST = ENDPOINTS, WHO, COMPLETERS = 2, DEVICES = 2 };

/* Types of packets, as names and Fmt and Type. */
enum type { READ32, READ64, WRITE32, WRITE64, FETCH_ADD, MESSAGE, ANSWER, NO_DATA, TYPES };
enum class { POSTED, NON_POSTED, COMPLETION };
static const struct {
	const char *name;
	uint8_t fmt_type, class;
	bool wide, data; /* four DWs of header; payload */
} types[TYPES] = {
	[READ32] = { "MRd32", 0x00, NON_POSTED, false, false },
	[READ64] = { "MRd64", 0x20, NON_POSTED, true, false },
	[WRITE32] = { "MWr32", 0x40, POSTED, false, true },
	[WRITE64] = { "MWr64", 0x60, POSTED, true, true },
	[FETCH_ADD] = { "FetchAdd64", 0x6c, NON_POSTED, true, true },
	[MESSAGE] = { "Msg", 0x34, POSTED, true, false },
	[ANSWER] = { "CplD", 0x4a, COMPLETION, false, true },
	[NO_DATA] = { "Cpl", 0x0a, COMPLETION, false, false },
};
enum { INTA = 0x20, UR = 1, CA = 4 };

struct event {
	uint64_t time, seen; /* of the machine; as records tell it */
	uint64_t address;
	uint32_t txn, dws, left; /* left: Byte Count */
	uint32_t pair;           /* 1 and more: what the two records of a packet have in common that passes two ports */
	uint8_t type, who, be, status;
	bool outbound, missing; /* missing: in a gap */
	bool relaxed, poisoned, digest, prefix;
	uint8_t record[32];
	uint32_t whole; /* bytes of the record in front of a cut */
};
struct txn {
	uint32_t tag, dws, reuses; /* reuses: 1 + the transaction whose tag it takes */
	uint8_t who, completer, type;
	const struct event *asked, *last; /* as recorded */
	uint64_t first, done, true_first; /* ticks from asked to the first and the last completion */
	uint32_t pieces;
	bool answered, failed, cut, given_up;
};
struct world {
	uint64_t random;
	struct event e[EVENTS];
	uint32_t n;
	struct txn t[TXNS];
	bool wide, delta, peers, told; /* told: the event says its direction */
	bool sound;                    /* nothing fails, and whoever asks for data reads */
	bool silent;                   /* what is missing is missing without a word */
	uint32_t pause;                /* of so many transactions one comes after a pause; 0: none */
	uint8_t direction;
	uint32_t pairs;
};

static uint32_t below(struct world *w, uint32_t n)
{
	w->random = w->random * 6364136223846793005ull + 1442695040888963407ull;
	return (uint32_t)((w->random >> 33) % n);
}

/* ---- what happens ----------------------------------------------------------------------------------- */

static struct event *add(struct world *w, uint64_t time, enum type type, uint32_t txn)
{
	struct event *e = &w->e[w->n++];

	*e = (struct event){ .time = time, .type = (uint8_t)type, .txn = txn, .who = w->t[txn].who, .be = 0xff };
	e->outbound = (e->who == HOST) != (types[type].class == COMPLETION);
	return e;
}

/* It comes in at one port and goes out at another, when it is between endpoints. */
static void twice(struct world *w, uint64_t later)
{
	struct event *e = &w->e[w->n];

	if (later == 0)
		return;
	e[-1].outbound = false;
	e[-1].pair = ++w->pairs;
	*e = e[-1];
	e->time += later;
	e->outbound = true;
	w->n++;
}

static void add_write(struct world *w, uint64_t now, uint32_t i, uint64_t later)
{
	static const uint8_t enables[] = { 0xff, 0xfe, 0x7f, 0x3c };
	bool small = below(w, 4) == 0;
	struct event *e = add(w, now + below(w, 40), below(w, 2) ? WRITE64 : WRITE32, i);

	e->dws = small ? 1 : 2u << below(w, 6);
	e->be = small ? 0x03 : enables[below(w, COUNT(enables))];
	e->address = (e->type == WRITE64 ? 1ull << 40 : 0) + ((1ull + e->who) << 24) + i * 256;
	e->relaxed = below(w, 3) == 0;
	e->poisoned = w->wide && below(w, 40) == 0;
	e->prefix = w->wide && below(w, 9) == 0;
	e->digest = w->wide && below(w, 11) == 0;
	twice(w, later);
	if (below(w, 5) == 0) { /* an interrupt */
		e = add(w, now + 30, WRITE32, i);
		e->dws = 1;
		e->be = 0x0f;
		e->address = 0xfee00000 + e->who * 4;
	}
	if (below(w, 60) == 0) {
		e = add(w, now + 35, MESSAGE, i);
		e->be = INTA;
	}
}

static void add_answers(struct world *w, uint64_t now, uint32_t i, uint64_t later)
{
	struct txn *x = &w->t[i];
	uint32_t fate = w->sound ? 4 : below(w, 100),
		 pieces = x->type != FETCH_ADD && x->dws > 32 ? 1 + below(w, 2) : 1;
	uint64_t at = now + later + 400 + below(w, 1500);
	struct event *e;

	if (fate == 0)
		return; /* never */
	if (fate < 4) {
		e = add(w, at, NO_DATA, i);
		e->status = fate == 1 ? CA : UR;
		e->left = 4 * x->dws;
		twice(w, later);
		return;
	}
	for (uint32_t k = 0; k < pieces; k++) {
		uint32_t dws = x->dws / pieces;
		e = add(w, at + 200ull * k, ANSWER, i);
		e->dws = dws;
		e->left = 4 * (x->dws - k * dws);
		e->address = (x->type == FETCH_ADD ? 0 : x->asked->address) + 4ull * k * dws;
		e->relaxed = i % 4 == 0;
		twice(w, later);
	}
}

static int by_time(const void *a, const void *b)
{
	const struct event *x = a, *y = b;

	return (x->time > y->time) - (x->time < y->time);
}

/* What hisi_ptt.rst, "Direction", lets a trace hold.  Inbound completions are of class B when they are between
 * devices. */
static bool is_shown(const struct world *w, const struct event *e)
{
	bool in = !e->outbound, a = in && types[e->type].class == COMPLETION && e->pair == 0;

	if (!w->told)
		return true;
	switch (w->direction + (w->wide ? 4 : 0)) {
	case 0:
		return in;
	case 1:
	case 5:
		return !in;
	case 2:
		return !a;
	case 3:
		return !in || a;
	case 6:
		return in && !a;
	default:
		return a;
	}
}
/* Where a host's requests are never seen answered, it asks for one register again and again with one of a few tags. */
static bool asks_again(const struct world *w, uint32_t i)
{
	return w->t[i].who == HOST && (!w->told || (!w->wide && w->direction == 2)) && i % 16 < 8;
}

/* A tag that is open for ever is used again now and then. */
static uint32_t tag_of(struct world *w, uint32_t i)
{
	struct txn *x = &w->t[i];

	if (asks_again(w, i))
		return i % 32;
	if (x->who != HOST && !w->peers && i > 40 && i % 24 == 0)
		for (uint32_t k = i - 40; k < i - 20; k++)
			if (w->t[k].who == x->who && w->t[k].last == NULL && w->t[k].reuses == 0) {
				x->reuses = k + 1;
				w->t[k].last = w->t[k].asked; /* once */
				return w->t[k].tag;
			}
	return i;
}

/* What no 11 bits of time can tell. */
static uint64_t pause_of(struct world *w)
{
	return w->pause && below(w, w->pause) == 0 ? 2048 + below(w, 60000) : 0;
}

/* Each time is another one, and no gap is 2048 or more but for pauses: packets that find their moment taken come
 * later. */
static void make_packets(struct world *w)
{
	uint64_t now = 1000;

	for (uint32_t i = 0; i < TXNS; i++, now += 60 + below(w, 500) + pause_of(w)) {
		struct txn *x = &w->t[i];
		uint64_t later;
		x->who = (uint8_t)(i % 8 == 7 ? HOST : below(w, ENDPOINTS));
		x->completer = (uint8_t)below(w, COMPLETERS);
		x->tag = tag_of(w, i);
		x->type = (uint8_t)(x->who == HOST ? READ32 : !w->sound && below(w, 12) == 0 ? FETCH_ADD : READ64);
		x->dws = x->type == FETCH_ADD ? 1 : 16u << below(w, 4);
		later = w->peers && x->who == 1 ? 90 + below(w, 60) : 0;
		struct event *e = add(w, now, (enum type)x->type, i);
		e->dws = x->dws;
		e->be = x->dws == 1 ? 0x0f : 0xff;
		e->address = (1ull << 41) * (x->type != READ32) + ((5ull + x->who) << 24) + i * 1024 +
			     (x->type == FETCH_ADD ? 0 : 64 * below(w, 2));
		if (asks_again(w, i)) {
			x->dws = e->dws = 16;
			e->address = (5ull + HOST) << 24;
		}
		x->asked = e;
		uint32_t n = w->n;
		twice(w, later);
		add_write(w, now, i, later);
		uint32_t before = w->n;
		if (x->who != HOST || w->told)
			add_answers(w, now, i, later);
		x->last = w->n > before ? &w->e[n] : NULL;
	}
	qsort(w->e, w->n, sizeof(*w->e), by_time);
	for (uint32_t i = 1; i < w->n; i++)
		if (w->e[i].time <= w->e[i - 1].time)
			w->e[i].time = w->e[i - 1].time + 1;
}

static void show_packets(struct world *w)
{
	uint32_t n = 0;

	for (uint32_t i = 0; i < w->n; i++)
		if (is_shown(w, &w->e[i]))
			w->e[n++] = w->e[i];
	w->n = n;
	for (uint32_t i = 0; i < TXNS; i++)
		w->t[i].asked = w->t[i].last = NULL;
}

/* ---- how it is recorded ---------------------------------------------------------------------------------- */

static uint32_t requester_id(uint32_t who)
{
	return who == HOST ? 0x0008 : 0x0100 + who;
}

static uint32_t completer_id(uint32_t completer)
{
	return 0x0080 + 8 * completer;
}

static void encode(const struct world *w, struct event *e, uint32_t time)
{
	const struct txn *x = &w->t[e->txn];
	bool answer = types[e->type].class == COMPLETION, wide = types[e->type].wide;
	uint32_t tag = types[e->type].class == POSTED ? 0 : x->tag, fmt_type = types[e->type].fmt_type;
	uint32_t id = requester_id(e->who) << 16 | (tag & 0xff) << 8, dw[8] = { 0 };
	uint32_t h[4] = {
		fmt_type << 24 | (tag >> 9 & 1) << 23 | (tag >> 8 & 1) << 19 | (uint32_t)e->digest << 15 |
			(uint32_t)e->poisoned << 14 | (uint32_t)e->relaxed << 13 | e->dws,
		id | e->be,
		(uint32_t)(wide ? e->address >> 32 : e->address),
		wide ? (uint32_t)e->address : 0,
	};

	if (answer) {
		h[1] = completer_id(x->completer) << 16 | (uint32_t)e->status << 13 | e->left;
		h[2] = id | (e->address & 0x7f);
		h[3] = 0;
	}
	if (w->wide) {
		dw[0] = UINT32_MAX;
		dw[1] = e->prefix ? 0x91000000 | e->txn : 0;
		memcpy(&dw[2], h, sizeof(h));
		dw[7] = time;
	} else {
		dw[0] = (fmt_type >> 5 & 3) << 30 | (fmt_type & 0x1f) << 25 | (tag >> 9 & 1) << 24 |
			(tag >> 8 & 1) << 23 | (uint32_t)e->relaxed << 21 | e->dws << 11 | (time & 0x7ff);
		memcpy(&dw[1], &h[1], 12);
	}
	memcpy(e->record, dw, sizeof(e->record));
}

/* The device's records in commits: cut anywhere, and with the gaps left out. */
static inline int record(struct world *w, struct ptt_writer *out, uint32_t device)
{
	size_t size = w->wide ? 32 : 16, from = 0, n = 0;
	static uint8_t bytes[EVENTS * 32];
	static struct event *of[EVENTS];
	uint64_t last = w->e[0].time, lost = 0;
	int rc = 0;

	for (uint32_t i = 0; i <= w->n && rc >= 0; i++) {
		bool end = i == w->n || (w->e[i].missing && !w->silent);

		while (from < n && rc >= 0) { /* a gap ends a commit, and chance does */
			size_t piece = below(w, 4) ? n - from : below(w, (uint32_t)(n - from)) + 1;
			if (!end && n - from < 40 * size)
				break;
			rc = ptt_writer_aux(out, device, bytes + from, piece, 0);
			from += piece;
			if (from % size && from % size < of[from / size]->whole) /* it may be cut twice */
				of[from / size]->whole = from % size;
		}
		if (i == w->n)
			break;
		uint64_t step = w->e[i].time - last;
		last = w->e[i].time;
		if (w->e[i].missing) {
			lost += !w->silent;
			continue;
		}
		if (lost)
			ptt_writer_lost(out, device, lost * size);
		lost = 0;
		encode(w, &w->e[i], (uint32_t)(w->delta ? step : w->e[i].time));
		w->e[i].whole = (uint32_t)size;
		memcpy(bytes + n, w->e[i].record, size);
		of[n / size] = &w->e[i];
		n += size;
	}
	return rc;
}

/* What a reader can know of times: over a gap only the last step is known of deltas, and of 11 bits only what is
 * left. */
static void times_seen(struct world *w)
{
	uint64_t now = 0, recorded = w->e[0].time;

	for (uint32_t i = 0; i < w->n; i++) {
		uint64_t step = w->e[i].time - (w->delta && i ? w->e[i - 1].time : recorded);
		if (w->e[i].missing)
			continue;
		now += w->wide ? step : step & 0x7ff;
		recorded = w->e[i].time;
		w->e[i].seen = now;
	}
}

#endif
