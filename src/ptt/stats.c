/*
 * stats.c: opening, and counting one decoded record.
 *
 * Figures that can be derived later (sums over types, sizes, shares) are not counted. stats_chunk.c counts the usual
 * records of a chunk without decoding them, and comes here for the others; stats_count_int.h has the code of both.
 */
#include "ptt/decode_inline.h"
#include "ptt/stats_count_int.h"

static uint8_t kind_of(const struct tlp_type *y)
{
	if (y->cls == TLP_RESERVED)
		return PTT_RESERVED;
	if (y->layout == TLP_MSG)
		return PTT_MESSAGE;
	if (y->cls == TLP_CPL)
		return PTT_COMPLETION;
	if (y->type >= 0x0c && y->type <= 0x0e)
		return PTT_ATOMIC;
	return y->data ? PTT_WRITE : PTT_READ;
}

static void learn_types(struct ptt_stats *s)
{
	static const uint8_t size[PTT_KINDS] = {
		[PTT_READ] = PTT_SIZE_READ, [PTT_WRITE] = PTT_SIZE_WRITE, [PTT_COMPLETION] = PTT_SIZE_COMPLETION,
		[PTT_ATOMIC] = PTT_SIZES,   [PTT_MESSAGE] = PTT_SIZES,    [PTT_RESERVED] = PTT_SIZES,
	};
	const struct tlp_type *y;

	for (unsigned i = 0; i < TYPES && (y = tlp_type_at(i)) != NULL; i++) {
		s->kind[i] = kind_of(y);
		s->size_of[i] = y->cls == TLP_CPL && !y->data ? PTT_SIZES : size[s->kind[i]];
		s->payload[i] = y->data ? UINT32_MAX : 0;
		s->memory[i] = y->layout == TLP_MEM32 || y->layout == TLP_MEM64;
	}
}

int ptt_stats_open(struct ptt_stats **ret, const struct ptt_stats_opts *o)
{
	struct ptt_stats *s = mem_alloc(sizeof(*s));
	int rc = s ? 0 : -TALLY_ENOMEM;

	if (rc < 0)
		return rc;
	if (o != NULL)
		s->opts = *o;
	learn_types(s);
	s->line.width = 1;
	s->requester = mem_alloc((PTT_STATS_ROWS + 1) * sizeof(*s->requester));
	s->completer = mem_alloc((PTT_STATS_ROWS + 1) * sizeof(*s->completer));
	if (s->requester == NULL || s->completer == NULL)
		rc = -TALLY_ENOMEM;
	if (rc < 0 || (rc = cells_open(s)) < 0 || (s->opts.track && (rc = track_open(s)) < 0) ||
	    (rc = sketch_open(&s->pages, PTT_STATS_PAGES)) < 0 ||
	    (rc = sketch_open(&s->targets, PTT_STATS_TARGETS)) < 0 ||
	    (s->opts.match && (rc = ptt_match_open(&s->match, s->opts.most_outstanding)) < 0)) {
		ptt_stats_close(s);
		return rc;
	}
	*ret = s;
	return 0;
}

void ptt_stats_close(struct ptt_stats *s)
{
	if (s == NULL)
		return;
	for (uint32_t i = 0; s->requester && i <= PTT_STATS_ROWS; i++) {
		mem_free(s->requester[i].latency);
		unheard_free(s->requester[i].unheard);
	}
	for (uint32_t i = 0; s->completer && i <= PTT_STATS_ROWS; i++)
		mem_free(s->completer[i].latency);
	mem_free(s->requester);
	mem_free(s->completer);
	mem_free(s->cell);
	track_close(s->track);
	ptt_twice_close(s->twice);
	mem_free(s->error);
	mem_free(s->sign);
	sketch_close(&s->pages);
	sketch_close(&s->targets);
	ptt_match_close(s->match);
	stats_report_free(s->report);
	mem_free(s);
}

void ptt_stats_time(struct ptt_stats *s, uint32_t device, enum ptt_time time, bool sure, bool sparse)
{
	struct stats_device *d = device_at(s, device);

	d->time = (uint8_t)time;
	d->time_sure = sure;
	d->sparse |= sparse;
}

/* ---- one record ------------------------------------------------------------------------------ */

/* The page that it touches, the bytes aside. */
static struct sketch_entry *page_of(struct ptt_stats *s, const struct tlp *t)
{
	return add_to_page(s, (t->address >> 12) + place_key(t->device), requester_key(t->device, 0, t->requester), 1);
}

static void count_read(struct ptt_stats *s, struct stats_requester *r, const struct tlp *t)
{
	uint32_t whole = 4 * t->length_dw;
	uint32_t asked = whole - ptt_disabled_bytes((uint32_t)t->last_be << 4 | t->first_be, t->length_dw);

	add_bytes(r, PTT_READ, 1, whole, asked);
	s->type[t->type_index].bytes += asked;
	if (s->memory[t->type_index])
		page_of(s, t)->sum[PAGE_READ] += asked;
}

static void count_write(struct ptt_stats *s, struct stats_requester *r, const struct tlp *t)
{
	uint32_t whole = 4 * t->length_dw;

	add_bytes(r, PTT_WRITE, 1, whole, t->bytes);
	if (!s->memory[t->type_index])
		return;
	page_of(s, t)->sum[PAGE_WRITE] += t->bytes;
	if (t->class == TLP_P && is_target(whole, t->bytes))
		add_target(s, t->address + place_key(t->device), requester_key(t->device, 0, t->requester), 1, t->time,
			   t->time);
}

static void count_completion(struct ptt_stats *s, struct stats_requester *r, const struct tlp *t)
{
	struct stats_completer *c = completer_at(s, completer_key(t->device, t->completer));
	uint32_t whole = 4 * t->length_dw;
	bool last = t->byte_count <= t->bytes || t->bytes == 0 || t->bcm;

	add_bytes(r, PTT_COMPLETION, 1, whole, t->bytes);
	add_completion(c, 1, whole, t->bytes, t->status);
	s->ends[last ? END_LAST : piece_end(t->lower_address, whole)]++;
}

static bool is_config(const struct tlp *t)
{
	return tlp_type_at(t->type_index)->layout == TLP_CFG;
}

static void count_atomic(struct ptt_stats *s, const struct tlp *t)
{
	struct sketch_entry *e = page_of(s, t);

	e->sum[PAGE_READ] += 4 * t->length_dw;
	e->sum[PAGE_WRITE] += 4 * t->length_dw;
}

struct stats_requester *count_record(struct ptt_stats *s, struct stats_device *d, const struct tlp *t)
{
	struct stats_type *y = &s->type[t->type_index];
	enum ptt_kind kind = (enum ptt_kind)s->kind[t->type_index];

	d->cls[t->class]++;
	y->tlps++;
	if (kind == PTT_RESERVED) {
		fault_add(s, PTT_FAULT_RESERVED, t, NULL);
		return NULL;
	}
	struct stats_requester *r = requester_at(s, requester_key(t->device, t->segment, t->requester));
	y->dws += t->length_dw;
	y->relaxed += t->attr >> 1 & 1;
	s->extra_bytes += ((t->prefix != 0) + t->td) * 4u;
	s->size[s->size_of[t->type_index]][t->length_dw]++;
	r->kind[kind]++;
	r->config += is_config(t);
	if (kind != PTT_READ)
		y->bytes += t->bytes;
	switch (kind) {
	case PTT_READ:
		count_read(s, r, t);
		break;
	case PTT_WRITE:
		count_write(s, r, t);
		break;
	case PTT_COMPLETION:
		count_completion(s, r, t);
		break;
	case PTT_MESSAGE:
		message_add(s, t);
		break;
	default:
		count_atomic(s, t);
	}
	return r;
}

/* Those that its row has: what it asks for, or its payload. */
static uint64_t bytes_of(enum ptt_kind kind, const struct tlp *t)
{
	const uint32_t whole = 4 * t->length_dw;

	return kind == PTT_READ ? whole - ptt_disabled_bytes((uint32_t)t->last_be << 4 | t->first_be, t->length_dw) :
				  t->bytes;
}

/* Both records touched the page, so its entry is there unless it was dropped since. */
static void page_back(struct ptt_stats *s, const struct tlp *t, uint64_t read, uint64_t written)
{
	struct sketch_entry *e = sketch_find(&s->pages, (t->address >> 12) + place_key(t->device));

	if (e == NULL || e->n < 2)
		return;
	e->n--;
	e->sum[PAGE_READ] -= read;
	e->sum[PAGE_WRITE] -= written;
}

static void completion_back(struct ptt_stats *s, const struct tlp *t)
{
	struct stats_completer *c = completer_at(s, completer_key(t->device, t->completer));
	bool last = t->byte_count <= t->bytes || t->bytes == 0 || t->bcm;

	c->duplicates++;
	c->bytes -= t->bytes;
	c->status[t->status]--;
	s->ends[last ? END_LAST : piece_end(t->lower_address, 4 * t->length_dw)]--;
}

/* by: 1 or -1. Returns bytes_of() the record. */
static uint64_t count_shift(struct ptt_stats *s, struct stats_device *d, struct stats_requester *r, const struct tlp *t,
			    uint64_t by)
{
	struct stats_type *y = &s->type[t->type_index];
	enum ptt_kind kind = (enum ptt_kind)s->kind[t->type_index];
	struct ptt_bin *b = bin_of(s, t->time);
	const uint64_t bytes = bytes_of(kind, t);
	uint32_t whole = 4 * t->length_dw;

	d->duplicates -= by;
	d->cls[t->class] += by;
	b->tlps += by;
	b->bytes += by * (whole & s->payload[t->type_index]);
	y->tlps += by;
	y->dws += by * t->length_dw;
	y->relaxed += by * (t->attr >> 1 & 1);
	y->bytes += by * bytes;
	s->size[s->size_of[t->type_index]][t->length_dw] += by;
	r->kind[kind] += by;
	r->config += by * is_config(t);
	if (kind == PTT_READ || kind == PTT_WRITE || kind == PTT_COMPLETION)
		r->bytes[kind] += by * bytes;
	return bytes;
}

void count_back(struct ptt_stats *s, struct stats_device *d, struct stats_requester *r, const struct tlp *t)
{
	enum ptt_kind kind = (enum ptt_kind)s->kind[t->type_index];
	const uint64_t bytes = count_shift(s, d, r, t, UINT64_MAX);

	if (kind == PTT_COMPLETION)
		completion_back(s, t);
	else if (s->memory[t->type_index])
		page_back(s, t, kind == PTT_WRITE ? 0 : bytes, kind == PTT_READ ? 0 : bytes);
}

void count_again(struct ptt_stats *s, struct stats_device *d, struct stats_requester *r, const struct tlp *t)
{
	enum ptt_kind kind = (enum ptt_kind)s->kind[t->type_index];
	const uint64_t bytes = count_shift(s, d, r, t, 1);

	if (!s->memory[t->type_index])
		return;
	struct sketch_entry *e = page_of(s, t);
	e->sum[PAGE_READ] += kind == PTT_WRITE ? 0 : bytes;
	e->sum[PAGE_WRITE] += kind == PTT_READ ? 0 : bytes;
}
