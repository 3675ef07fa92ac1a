/*
 * pevent.c: which device AUX data belongs to.
 *
 * An AUXTRACE record names the buffer it was read from (idx), an ID_INDEX says which events (ids) write there, the
 * attrs give the PMU of an id, an AUXTRACE_INFO says which PMUs are PTT devices, and three other places may have the
 * name of a PMU. They come in any order, so all is kept by id and by {idx, PMU type} and joined when AUX data comes.
 * PMUs of generic type have no AUX data and are not kept.
 *
 * A device is one PMU type. The size of the tables is bounded: a file may say anything.
 */
#include <ctype.h>
#include <stdio.h>

#include "ptt/pdata_int.h"
#include "ptt/rule.h"

struct idx_key {
	uint32_t idx, type;
};

/* ---- names ------------------------------------------------------------------------ */

static const char *name_of(const struct pdata_index *x, uint32_t type)
{
	for (uint32_t i = 0; i < x->nnames; i++)
		if (x->name[i].type == type)
			return x->name[i].name;
	return NULL;
}

/* A device that gave data under its number keeps that. */
static void name_device(struct pdata_index *x, uint32_t d)
{
	const char *name = name_of(x, x->dev[d].pmu_type);

	if (!name || x->named[d] || x->gave[d])
		return;
	memcpy(x->dev[d].name, name, sizeof(x->dev[d].name));
	x->named[d] = true;
}

/* s is the name of a PMU, or of an event: the PMU's up to a slash. Only the driver's own names are
 * taken. */
static void name_add(struct pdata_index *x, uint32_t type, const uint8_t *s, size_t n)
{
	static const char prefix[] = "hisi_ptt";
	struct pdata_name *to = &x->name[x->nnames];
	size_t len = 0;

	while (len < n && (isalnum(s[len]) || s[len] == '_'))
		len++;
	if (len < sizeof(prefix) - 1 || len >= sizeof(to->name) || memcmp(s, prefix, sizeof(prefix) - 1) ||
	    x->nnames == PDATA_DEVICES_MOST || name_of(x, type))
		return;
	to->type = type;
	memcpy(to->name, s, len);
	to->name[len] = 0;
	x->nnames++;
	for (uint32_t d = 0; d < x->ndev; d++)
		name_device(x, d);
}

/* ---- events ----------------------------------------------------------------------- */

static int event_add(struct pdata_index *x, uint32_t type, uint64_t id)
{
	struct pdata_event *ev;
	void **at;

	if (x->ids_seen++ >= PDATA_IDS_MOST)
		return 0;
	at = map_at(&x->by_id, &id, sizeof(id));
	if (at && *at)
		return 0;
	ev = at ? arena_alloc(&x->pages, sizeof(*ev)) : NULL;
	if (!ev)
		return -TALLY_ENOMEM;
	*at = ev;
	ev->type = type;
	ev->idx = UINT32_MAX;
	return 0;
}

/* In which place before a record's end its id stands (PERF_RECORD_SAMPLE's neighbours: struct
 * sample_id). */
static uint32_t id_back(uint64_t sample_type)
{
	if (sample_type & PDATA_S_IDENTIFIER)
		return 8;
	if (!(sample_type & PDATA_S_ID))
		return 0;
	return 8 + (sample_type & PDATA_S_STREAM_ID ? 8 : 0) + (sample_type & PDATA_S_CPU ? 8 : 0);
}

int pdata_attr(struct pdata_index *x, const uint8_t *attr, size_t size)
{
	uint32_t type = size >= 64 ? pdata_u32(attr) : 0;
	struct ptt_ask ask = { .config = 0 };

	if (size >= 64)
		ptt_ask_of_config(&ask, pdata_u64(attr + 8));
	/* 0 is the type of a model's devices, and of perf's own hardware events, which select no type of packets. */
	if (type < PDATA_DYNAMIC_TYPE && (type || !ask.type))
		return 0;
	if (!x->id_back && pdata_u64(attr + 40) & PDATA_SAMPLE_ID_ALL)
		x->id_back = id_back(pdata_u64(attr + 24));
	if (x->nattrs == COUNT(x->attr))
		return 0;
	x->attr[x->nattrs].type = type;
	x->attr[x->nattrs++].config = pdata_u64(attr + 8);
	for (uint32_t d = 0; d < x->ndev; d++)
		if (x->dev[d].pmu_type == type && !x->dev[d].config)
			x->dev[d].config = pdata_u64(attr + 8);
	return 0;
}

/* Those of a model's devices have type 0, and are known by their attr. */
static bool may_have_aux_data(const struct pdata_index *x, uint32_t type)
{
	bool may = type >= PDATA_DYNAMIC_TYPE;

	for (uint32_t i = 0; i < x->nattrs; i++)
		may |= x->attr[i].type == type;
	return may;
}

int pdata_attr_ids(struct pdata_index *x, uint32_t type, const uint8_t *p, size_t n)
{
	const bool may = may_have_aux_data(x, type);
	int rc = 0;

	for (; n >= 8 && rc == 0 && may; p += 8, n -= 8)
		rc = event_add(x, type, pdata_u64(p));
	return rc;
}

static int idx_add(struct pdata_index *x, uint64_t id, uint32_t idx)
{
	struct pdata_event *ev = map_get(&x->by_id, &id, sizeof(id));
	struct idx_key key = { .idx = idx };
	void **at;

	if (!ev || x->by_idx.n >= PDATA_IDS_MOST)
		return 0;
	key.type = ev->type;
	at = map_at(&x->by_idx, &key, sizeof(key));
	if (!at)
		return -TALLY_ENOMEM;
	ev->idx = idx;
	*at = ev;
	return 0;
}

/* ID_INDEX: u64 count, then {u64 id, idx, cpu, tid} each. */
int pdata_id_index(struct pdata_index *x, const uint8_t *p, size_t n)
{
	uint64_t count = n >= 16 ? pdata_u64(p + 8) : 0;
	int rc = 0;

	if (count > (n - 16) / 32)
		count = (n - 16) / 32;
	for (p += 16; count && rc == 0; count--, p += 32)
		rc = idx_add(x, pdata_u64(p), (uint32_t)pdata_u64(p + 8));
	return rc;
}

bool pdata_aux(const struct pdata_index *x, const uint8_t *p, size_t n, struct pdata_aux *ret)
{
	uint64_t id, end;

	if (n < 32)
		return false;
	ret->offset = pdata_u64(p + 8);
	ret->size = pdata_u64(p + 16);
	ret->flags = pdata_u64(p + 24);
	ret->event = NULL;
	if (x->id_back && n >= 32 + x->id_back) {
		id = pdata_u64(p + n - x->id_back);
		ret->event = map_get(&x->by_id, &id, sizeof(id));
	}
	return !__builtin_add_overflow(ret->offset, ret->size, &end);
}

/* ---- devices ---------------------------------------------------------------------- */

uint32_t pdata_device_add(struct pdata_index *x, uint32_t type, bool tag14)
{
	struct ptt_device *dev;
	uint32_t d = 0;

	while (d < x->ndev && x->dev[d].pmu_type != type)
		d++;
	if (d < x->ndev || d == PDATA_DEVICES_MOST)
		return d < x->ndev ? d : d - 1;
	dev = &x->dev[x->ndev++];
	dev->pmu_type = type;
	dev->tag14 = tag14;
	for (uint32_t i = x->nattrs; i--;)
		if (x->attr[i].type == type)
			dev->config = x->attr[i].config;
	snprintf(dev->name, sizeof(dev->name), "ptt%u", d);
	name_device(x, d);
	return d;
}

static uint8_t time_of(uint64_t word)
{
	return word == PDATA_TIME_ABS ? PTT_TIME_ABS : word == PDATA_TIME_DELTA ? PTT_TIME_DELTA : PTT_TIME_AUTO;
}

/* AUXTRACE_INFO: u32 type, u32 0, u64 PMU type, and with the newer layout of records u64 2: its
 * version. (Some kernels put a filter pattern there; theirs is the older layout.) Then, in files of our own, u64 what
 * the Time of records counts from. */
void pdata_auxtrace_info(struct pdata_index *x, const uint8_t *p, size_t n)
{
	uint32_t d;

	if (n < 16)
		return;
	if (pdata_u32(p + 8) != PDATA_AUXTRACE_PTT) {
		x->foreign = pdata_u32(p + 8);
	} else if (n >= 24) {
		d = pdata_device_add(x, (uint32_t)pdata_u64(p + 16), n >= 32 && pdata_u64(p + 24) == 2);
		x->dev[d].time = n >= 40 ? time_of(pdata_u64(p + 32)) : PTT_TIME_AUTO;
	}
}

static int device_of_type(const struct pdata_index *x, uint32_t type)
{
	for (uint32_t d = 0; d < x->ndev; d++)
		if (x->dev[d].pmu_type == type)
			return (int)d;
	return -1;
}

/* How many devices write to that buffer; the last one found, or the one whose AUX record came last.
 */
static uint32_t pevent_find_writers(const struct pdata_index *x, uint32_t idx, int *dev, struct pdata_event **event)
{
	uint32_t n = 0;

	for (uint32_t d = 0; d < x->ndev; d++) {
		struct idx_key key = { .idx = idx, .type = x->dev[d].pmu_type };
		struct pdata_event *ev = map_get(&x->by_idx, &key, sizeof(key));

		if (!ev)
			continue;
		n++;
		if (*dev < 0 || *event != x->latest) {
			*dev = (int)d;
			*event = ev;
		}
	}
	return n;
}

int pdata_device_of(struct pdata_index *x, uint32_t idx, struct pdata_event **event, bool *sure)
{
	int d = -1;
	uint32_t n;

	*event = NULL;
	n = pevent_find_writers(x, idx, &d, event);
	if (n == 0 && x->latest && !x->foreign)
		d = device_of_type(x, x->latest->type);
	if (n == 0 && d >= 0)
		*event = x->latest;
	*sure = d >= 0 ? n <= 1 || *event == x->latest : x->ndev <= 1;
	if (d < 0 && (x->ndev > 0 || !x->foreign))
		d = x->foreign ? -1 : 0;
	if (d >= 0 && (uint32_t)d < x->ndev)
		x->gave[d] = true;
	return d;
}

/* ---- features --------------------------------------------------------------------- */

struct span {
	const uint8_t *p;
	size_t n;
};

/* The next n bytes; NULL (and nothing more) when there are fewer. */
static const uint8_t *pevent_take_bytes(struct span *s, size_t n)
{
	const uint8_t *p = s->p;

	if (n > s->n) {
		s->n = 0;
		return NULL;
	}
	s->p += n;
	s->n -= n;
	return p;
}

/* A string: u32 length (with padding), then bytes. */
static struct span take_string(struct span *s)
{
	const uint8_t *p = pevent_take_bytes(s, 4);
	uint32_t n = p ? pdata_u32(p) : 0;

	p = pevent_take_bytes(s, n);
	return (struct span){ p, p ? n : 0 };
}

/* u32 count, then {u32 type, string} each. */
static void pmu_mappings(struct pdata_index *x, struct span s)
{
	const uint8_t *p = pevent_take_bytes(&s, 4);

	while (p && s.n && (p = pevent_take_bytes(&s, 4))) {
		struct span name = take_string(&s);
		name_add(x, pdata_u32(p), name.p, name.n);
	}
}

/* u32 count, u32 size of an attr, then {attr, u32 number of ids, string, ids} each. */
static void event_desc(struct pdata_index *x, struct span s)
{
	const uint8_t *p = pevent_take_bytes(&s, 8), *ids;
	uint32_t size = p ? pdata_u32(p + 4) : 0;

	while (size >= 4 && s.n && (p = pevent_take_bytes(&s, size)) && (ids = pevent_take_bytes(&s, 4))) {
		struct span name = take_string(&s);
		name_add(x, pdata_u32(p), name.p, name.n);
		pevent_take_bytes(&s, pdata_u32(ids) * (size_t)8);
	}
}

void pdata_feature(struct pdata_index *x, uint64_t feature, const uint8_t *p, size_t n)
{
	if (feature == PDATA_F_PMU_MAPPINGS)
		pmu_mappings(x, (struct span){ p, n });
	else if (feature == PDATA_F_EVENT_DESC)
		event_desc(x, (struct span){ p, n });
}

/* EVENT_UPDATE: u64 what, u64 id, and here a name. */
void pdata_event_update(struct pdata_index *x, const uint8_t *p, size_t n)
{
	struct pdata_event *ev;
	uint64_t id;

	if (n < 24 || pdata_u64(p + 8) != PDATA_UPDATE_NAME)
		return;
	id = pdata_u64(p + 16);
	ev = map_get(&x->by_id, &id, sizeof(id));
	if (ev)
		name_add(x, ev->type, p + 24, n - 24);
}

void pdata_index_free(struct pdata_index *x)
{
	map_free(&x->by_id);
	map_free(&x->by_idx);
	arena_free(&x->pages);
}
