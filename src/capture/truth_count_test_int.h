/*
 * truth_count_test_int.h: what is in the traces of truth_test_int.h, for truth_test.c.
 *
 * Each packet knows its transaction, so the truth needs no tags: what is recorded of a transaction is looked up, and
 * its figures are added up in the plainest way.  Each stretch between gaps is taken by itself: a packet counts once in
 * it.
 */
#ifndef TALLY_CAPTURE_TRUTH_COUNT_TEST_INT_H
#define TALLY_CAPTURE_TRUTH_COUNT_TEST_INT_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "capture/truth_test_int.h"

enum { BINS = 300, LATENCIES = DEVICES * TXNS };

/* v, sum: as records tell them */
struct latencies {
	uint64_t v[LATENCIES], sum, true_v[LATENCIES], true_sum;
	uint32_t n;
};
struct requester {
	uint64_t tlps, reads, writes, atomics, messages, completions, read_bytes, written_bytes, asked_bytes, answered,
		unanswered, failed, given_up, cut, unanswerable, posted_twice, largest_read, largest_write, open, peak;
	bool heard;
	struct latencies latency;
};
struct completer {
	uint64_t completions, bytes, largest, status[8];
	struct latencies latency;
};
/* a page, or the target of single writes */
struct place {
	uint64_t address, tlps, read, written, first, last, true_first, true_last;
	uint32_t who;
	bool several;
};
enum fault { UNANSWERED, REUSED, UNSUPPORTED, ABORTED, POISONED, FAULTS };
static const char *const fault_names[FAULTS] = {
	[UNANSWERED] = "unanswered request", [REUSED] = "tag reused while open", [UNSUPPORTED] = "unsupported request",
	[ABORTED] = "completer abort",       [POISONED] = "poisoned packet",
};
struct fault_row {
	const struct event *e; /* the packet that shows it */
	const struct txn *x;   /* NULL: the request isn't known */
	uint8_t fault, device;
};
struct gap {
	uint64_t time, true_time, bytes, cut;
	const struct event *behind;
	uint8_t device;
};
struct device {
	uint64_t records, posted, non_posted, completions, span, true_span, pauses, ticks, peak, true_peak, duplicates,
		requestless, level_ticks[BINS], level_peak[BINS];
	struct requester who[WHO];
	struct completer completer[COMPLETERS];
	struct place page[EVENTS], target[WHO];
	uint32_t npages;
};
struct truth {
	struct world w[DEVICES];
	struct device d[DEVICES];
	uint32_t ndevices;
	uint64_t step; /* of the time line, as the report has it */
	uint64_t tlps[TYPES], bytes[TYPES], whole[TYPES], relaxed[TYPES], extra, size[3][1025], ends[3], pieces[17];
	uint64_t oldest; /* the greatest age of what should have been answered, at the end */
	uint64_t broken; /* begun answers whose tags were used again */
	uint64_t behind, gaps, cut, posted_twice, faults[FAULTS], messages;
	uint64_t bin_tlps[BINS], bin_bytes[BINS], bin_opened[BINS], heat[64][BINS];
	struct latencies first, last;
	struct fault_row fault[EVENTS];
	struct gap gap[8];
	uint32_t nfaults;
};

/* Whether whole turns of time may be missing between two records; and whether ticks from the first record are a lower
 * bound. */
static inline bool tells_too_little(const struct world *w)
{
	return !w->wide;
}
static bool has_gaps(const struct truth *t, uint32_t device)
{
	for (uint32_t i = 0; i < t->gaps; i++)
		if (t->gap[i].device == device)
			return true;
	return false;
}
static bool is_longer(const struct truth *t, uint32_t device)
{
	return has_gaps(t, device) || !t->w[device].wide || t->w[device].delta;
}
static inline bool any_is_longer(const struct truth *t)
{
	for (uint32_t d = 0; d < t->ndevices; d++)
		if (is_longer(t, d))
			return true;
	return false;
}

/* Whether it may lack completions of requests that it has, requests of completions that it has; and those of the host's
 * requests alone. */
static bool lacks_answers(const struct world *w)
{
	return w->told && (w->wide || w->direction < 2);
}
static bool lacks_requests(const struct world *w)
{
	return w->told && w->direction != 2;
}
static bool lacks_answers_to(const struct world *w, uint32_t who)
{
	return who == HOST && (!w->told || (!w->wide && w->direction == 2));
}

static uint64_t event_disabled_bytes(const struct event *e)
{
	uint32_t n = 8 - (uint32_t)__builtin_popcount(e->be);

	return e->dws > 1 ? n : 4 - (uint32_t)__builtin_popcount(e->be & 0xf);
}

static void latency_add(struct latencies *l, uint64_t v, uint64_t true_v)
{
	l->true_v[l->n] = true_v;
	l->true_sum += true_v;
	l->v[l->n++] = v;
	l->sum += v;
}

static void fault_add(struct truth *t, uint32_t device, enum fault f, const struct event *e, const struct txn *x)
{
	t->faults[f]++;
	t->fault[t->nfaults++] = (struct fault_row){ e, x, (uint8_t)f, (uint8_t)device };
}

static void page_add(struct device *d, const struct event *e, uint64_t bytes)
{
	uint64_t page = e->address >> 12 << 12;
	uint32_t i = 0;

	while (i < d->npages && d->page[i].address != page)
		i++;
	if (i == d->npages)
		d->page[d->npages++] = (struct place){ .address = page, .who = e->who };
	d->page[i].several |= d->page[i].who != e->who;
	d->page[i].tlps++;
	d->page[i].read += types[e->type].class == NON_POSTED ? bytes : 0;
	d->page[i].written += types[e->type].data ? bytes : 0;
}

static void target_add(struct device *d, const struct event *e)
{
	struct place *p = &d->target[e->who];

	if (e->dws != 1 || e->be != 0x0f)
		return;
	p->address = e->address;
	p->first = p->tlps++ ? p->first : e->seen;
	p->last = e->seen;
	p->true_first = p->tlps > 1 ? p->true_first : e->time;
	p->true_last = e->time;
}

/* The level of a device changes at `now`; before that it was `level`. */
static void level_keep(struct truth *t, struct device *d, uint64_t from, uint64_t now, uint64_t level)
{
	for (uint64_t i = from / t->step; i <= now / t->step; i++) {
		uint64_t begin = i * t->step > from ? i * t->step : from,
			 end = (i + 1) * t->step < now ? (i + 1) * t->step : now;
		if ((end > begin || begin == now) && level > d->level_peak[i])
			d->level_peak[i] = level;
	}
}

/* A request that was open from its start till `now`. */
static void open_add(struct truth *t, struct device *d, const struct txn *x, uint64_t now)
{
	d->ticks += now - x->asked->seen;
	for (uint64_t i = x->asked->seen / t->step; i <= now / t->step; i++) {
		uint64_t begin = i * t->step > x->asked->seen ? i * t->step : x->asked->seen,
			 end = (i + 1) * t->step < now ? (i + 1) * t->step : now;
		d->level_ticks[i] += end > begin ? end - begin : 0;
	}
}

static bool is_open(const struct txn *x)
{
	return x->asked && !x->answered && !x->cut && !x->given_up;
}

static uint64_t device_level(const struct device *d)
{
	uint64_t level = 0;

	for (uint32_t k = 0; k < WHO; k++)
		level += d->who[k].heard ? d->who[k].open : 0;
	return level;
}

/* Of all whose answers the trace can show. */
static uint64_t device_true_level(const struct world *w, const struct device *d)
{
	uint64_t level = 0;

	for (uint32_t k = 0; k < WHO; k++)
		level += lacks_answers_to(w, k) ? 0 : d->who[k].open;
	return level;
}

static void count_packet(struct truth *t, struct device *d, const struct event *e)
{
	struct requester *r = &d->who[e->who];
	bool answer = types[e->type].class == COMPLETION, data = types[e->type].data;
	uint64_t bytes = e->type == MESSAGE || answer ? 4 * e->dws : 4 * e->dws - event_disabled_bytes(e);

	t->tlps[e->type]++;
	t->bytes[e->type] += bytes;
	t->whole[e->type] += 4 * e->dws;
	t->relaxed[e->type] += e->relaxed;
	t->extra += 4 * (e->prefix + e->digest);
	t->bin_tlps[e->seen / t->step]++;
	t->bin_bytes[e->seen / t->step] += data ? 4 * e->dws : 0;
	r->tlps++;
	if (e->type == READ32 || e->type == READ64) {
		t->size[0][e->dws]++;
		r->reads++;
		r->asked_bytes += bytes;
		r->largest_read = 4 * e->dws > r->largest_read ? 4 * e->dws : r->largest_read;
	} else if (e->type == WRITE32 || e->type == WRITE64) {
		t->size[1][e->dws]++;
		r->writes++;
		r->written_bytes += bytes;
		r->largest_write = 4 * e->dws > r->largest_write ? 4 * e->dws : r->largest_write;
		target_add(d, e);
	} else if (answer) {
		t->size[2][e->dws]++;
		r->completions++;
		r->read_bytes += bytes;
	}
	r->atomics += e->type == FETCH_ADD;
	r->messages += e->type == MESSAGE;
	t->messages += e->type == MESSAGE;
	if (!answer && e->type != MESSAGE)
		page_add(d, e, bytes);
}

static void count_answer(struct truth *t, uint32_t device, const struct event *e, struct txn *x)
{
	struct device *d = &t->d[device];
	struct completer *c = &d->completer[x->completer];
	struct requester *r = &d->who[e->who];
	uint64_t end = e->address + 4 * e->dws;

	c->completions++;
	c->bytes += 4 * e->dws;
	c->status[e->status]++;
	c->largest = 4 * e->dws > c->largest ? 4 * e->dws : c->largest;
	if (e->dws && e->left > 4 * e->dws)
		t->ends[end % 128 == 0 ? 0 : end % 64 == 0 ? 1 : 2]++;
	if (e->status)
		fault_add(t, device, e->status == UR ? UNSUPPORTED : ABORTED, e, is_open(x) ? x : NULL);
	if (!is_open(x)) {
		*(lacks_requests(&t->w[device]) ? &d->requestless : &t->behind) += 1;
		return;
	}
	if (!r->heard &&
	    !lacks_answers(&t->w[device])) { /* from its first answer on, and in that moment it is still open */
		r->heard = true;
		d->peak = device_level(d) > d->peak ? device_level(d) : d->peak;
		level_keep(t, d, e->seen, e->seen, device_level(d));
	}
	x->true_first = x->pieces ? x->true_first : e->time - x->asked->time;
	x->first = x->pieces++ ? x->first : e->seen - x->asked->seen;
	x->last = e;
	if (e->dws && e->left > 4 * e->dws)
		return;
	x->answered = true;
	x->done = e->seen - x->asked->seen;
	r->answered++;
	r->open--;
	if (lacks_answers(&t->w[device])) {
		r->unanswerable--;
		t->bin_opened[x->asked->seen / t->step]++;
	}
	r->failed += e->status != 0;
	open_add(t, d, x, e->seen);
	if (e->status)
		return;
	latency_add(&t->last, x->done, e->time - x->asked->time);
	latency_add(&t->first, x->first, x->true_first);
	latency_add(&r->latency, x->done, e->time - x->asked->time);
	latency_add(&c->latency, x->done, e->time - x->asked->time);
	t->heat[x->done ? 63 - __builtin_clzll(x->done) : 0][e->seen / t->step]++;
	if (x->type != FETCH_ADD)
		t->pieces[x->pieces]++;
}

static void count_request(struct truth *t, uint32_t device, const struct event *e, struct txn *x)
{
	struct device *d = &t->d[device];
	struct requester *r = &d->who[e->who];
	struct txn *before = x->reuses ? &t->w[device].t[x->reuses - 1] : NULL;

	if (before && is_open(before)) {
		before->given_up = true;
		t->broken += before->pieces != 0 && lacks_answers(&t->w[device]);
		r->open--;
	}
	if (before && before->given_up && !lacks_answers(&t->w[device])) {
		r->given_up++;
		open_add(t, d, before, e->seen);
		fault_add(t, device, REUSED, e, before);
	}
	x->asked = e;
	x->cut = false; /* after a gap it is another one, for all that can be known */
	x->pieces = 0;
	if (++r->open > r->peak)
		r->peak = r->open;
	if (lacks_answers(&t->w[device]) || lacks_answers_to(&t->w[device], e->who))
		r->unanswerable++;
	else
		t->bin_opened[e->seen / t->step]++;
}

static void count_gap(struct truth *t, uint32_t device, const struct event *e, uint64_t now)
{
	struct device *d = &t->d[device];
	struct world *w = &t->w[device];
	struct gap *h = &t->gap[t->gaps++];

	*h = (struct gap){ .time = now, .true_time = d->true_span, .device = (uint8_t)device };
	for (; e < w->e + w->n && e->missing; e++)
		h->bytes += w->wide ? 32 : 16;
	h->behind = e;
	for (uint32_t k = 0; k < TXNS; k++) {
		struct txn *x = &w->t[k];
		if (!is_open(x))
			continue;
		x->cut = true;
		d->who[x->who].open--;
		if (lacks_answers(w) || lacks_answers_to(w, x->who))
			continue;
		d->who[x->who].cut++;
		h->cut++;
		open_add(t, d, x, now);
	}
	t->cut += h->cut;
}

static void count_rest(struct truth *t, uint32_t device)
{
	struct device *d = &t->d[device];

	for (uint32_t k = 0; k < TXNS; k++) {
		struct txn *x = &t->w[device].t[k];
		if (is_open(x) && !lacks_answers_to(&t->w[device], x->who) &&
		    (x->pieces || !lacks_answers(&t->w[device])) && d->span - x->asked->seen > t->oldest)
			t->oldest = d->span - x->asked->seen;
		if (lacks_answers(&t->w[device]) || lacks_answers_to(&t->w[device], x->who) || !is_open(x))
			continue;
		d->who[x->who].unanswered++;
		open_add(t, d, x, d->span);
		fault_add(t, device, UNANSWERED, x->asked, x);
	}
}

static void count_device(struct truth *t, uint32_t device)
{
	struct world *w = &t->w[device];
	struct device *d = &t->d[device];
	uint64_t level = 0, since = 0;
	static uint32_t seen[EVENTS]; /* of each pair, 1 and the stretch in which it was seen last */
	uint32_t stretch = 1;

	memset(seen, 0, sizeof(seen));
	for (uint32_t i = 0; i < w->n; i++) {
		struct event *e = &w->e[i];
		struct txn *x = &w->t[e->txn];
		uint32_t before = seen[e->pair];

		if (e->missing && (i == 0 || !w->e[i - 1].missing)) {
			count_gap(t, device, e, d->span);
			level = device_level(d);
			stretch++;
		}
		if (e->missing)
			continue;
		seen[e->pair] = e->pair ? stretch : 0;
		d->records++;
		d->pauses += !w->wide && e->time - w->e[0].time - d->true_span >= 2048;
		d->true_span = e->time - w->e[0].time;
		d->span = e->seen;
		level_keep(t, d, since, e->seen, level);
		since = e->seen;
		if (before == stretch && types[e->type].class != POSTED) {
			d->duplicates++;
			continue;
		}
		t->posted_twice += before != 0 && types[e->type].class == POSTED;
		d->who[e->who].posted_twice += before != 0 && types[e->type].class == POSTED;
		d->posted += types[e->type].class == POSTED;
		d->non_posted += types[e->type].class == NON_POSTED;
		d->completions += types[e->type].class == COMPLETION;
		count_packet(t, d, e);
		if (e->poisoned)
			fault_add(t, device, POISONED, e, NULL);
		if (types[e->type].class == NON_POSTED)
			count_request(t, device, e, x);
		else if (types[e->type].class == COMPLETION)
			count_answer(t, device, e, x);
		level = lacks_answers(w) ? 0 : device_level(d);
		d->peak = level > d->peak ? level : d->peak;
		d->true_peak = device_true_level(w, d) > d->true_peak ? device_true_level(w, d) : d->true_peak;
		level_keep(t, d, since, since, level);
	}
	count_rest(t, device);
}

#endif
