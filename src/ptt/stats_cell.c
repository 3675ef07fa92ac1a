/*
 * stats_cell.c: packets counted by requester, type, relaxed ordering and Length
 * at once.
 *
 * A cell is a counter of all packets that agree in these four, and every sum
 * that a report makes of them is made of cells at the end: one addition a
 * packet does for a dozen.  The cells of a requester are a bank, and a cell's
 * place in it is bits of header DW0 as they are:
 *
 *	8DW  RO[13] sort[12:10] Length[9:0]      4DW  sort[13:11] SO[10] Length[9:0]
 *
 * Most cells are never touched: a bank takes a page of memory for each type and
 * order that its requester uses.
 *
 * There are as many banks as a root port may have functions; more requesters are
 * counted record by record (stats.c).
 */
#include "ptt/decode_inline.h"
#include "ptt/stats_count_int.h"

#define BANK_BYTES (BANK_CELLS * sizeof(uint32_t))

static const struct {
	uint8_t row, class, kind, size;
} sorts[SORT_OTHER] = {
	[SORT_MRD32] = { TLP_ROW_MRd32, TLP_NP, PTT_READ, PTT_SIZE_READ },
	[SORT_MRD64] = { TLP_ROW_MRd64, TLP_NP, PTT_READ, PTT_SIZE_READ },
	[SORT_MWR32] = { TLP_ROW_MWr32, TLP_P, PTT_WRITE, PTT_SIZE_WRITE },
	[SORT_MWR64] = { TLP_ROW_MWr64, TLP_P, PTT_WRITE, PTT_SIZE_WRITE },
	[SORT_CPLD] = { TLP_ROW_CplD, TLP_CPL, PTT_COMPLETION, PTT_SIZE_COMPLETION },
};

static uint32_t cell_of(unsigned sort, bool relaxed, uint32_t length, bool wide)
{
	return wide ? (uint32_t)relaxed << 13 | sort << 10 | length : sort << 11 | (uint32_t)relaxed << 10 | length;
}

static struct stats_head head_of(unsigned code, bool tag14)
{
	const struct tlp_type *y = tlp_type_of(code >> 5, code & 0x1f);
	struct stats_head h = { .sort = SORT_OTHER, .matched = y->cls == TLP_NP || y->cls == TLP_CPL };

	for (uint8_t i = 0; i < SORT_OTHER && !tag14; i++)
		if (sorts[i].row == tlp_type_index(y))
			h.sort = i;
	h.id_at = y->cls == TLP_CPL ? 8 : 4;
	h.shift = h.sort & 1 ? 0 : 32;
	return h;
}

int cells_open(struct ptt_stats *s)
{
	for (unsigned i = 0; i < 256; i++) {
		s->head[false][i] = head_of(i, false);
		s->head[true][i] = head_of(i, true);
	}
	for (unsigned i = 0; i < 512; i++)
		s->enables[i] = (struct stats_enables){ (uint8_t)ptt_disabled_bytes(i & 255, i < 256 ? 2 : 1),
							i >= 256 && i % 16 == 15 };
	s->cell = mem_alloc(STATS_BANKS_FIRST * BANK_BYTES);
	s->bank_room = STATS_BANKS_FIRST;
	s->nbanks = 1;
	return s->cell ? 0 : -TALLY_ENOMEM;
}

/* ---- banks ---------------------------------------------------------------------------------------------- */

void cells_near(struct ptt_stats *s, uint32_t device, bool wide)
{
	if (device == s->near_device && wide == s->near_wide)
		return;
	for (uint32_t i = 1; i < s->nbanks; i++)
		s->near[s->bank[i].id] = 0;
	for (uint32_t i = 1; i < s->nbanks; i++)
		if (s->bank[i].device == device && s->bank[i].wide == wide)
			s->near[s->bank[i].id] = (uint16_t)i;
	s->near_device = device;
	s->near_wide = wide;
}

/* At first a bank is there for few; without memory for more, s->failed. */
static bool banks_double(struct ptt_stats *s)
{
	uint32_t *more;

	if (s->bank_room == STATS_BANKS)
		return false;
	more = mem_grow(s->cell, 2 * s->bank_room * BANK_BYTES);
	s->failed |= more == NULL;
	if (more == NULL)
		return false;
	memset(more + (size_t)s->bank_room * BANK_CELLS, 0, s->bank_room * BANK_BYTES);
	s->cell = more;
	s->bank_room *= 2;
	return true;
}

uint32_t bank_new(struct ptt_stats *s, uint16_t id)
{
	uint32_t row = row_of(&s->requesters, requester_key(s->near_device, 0, id));

	if (row == PTT_STATS_ROWS || (s->nbanks == s->bank_room && !banks_double(s)))
		return 0;
	s->bank[s->nbanks] = (struct stats_bank){
		.requester = &s->requester[row], .device = s->near_device, .id = id, .wide = s->near_wide
	};
	s->near[id] = (uint16_t)s->nbanks;
	return s->nbanks++;
}

/* ---- what cells count for ------------------------------------------------------------------------------- */

static void settle_cell(struct ptt_stats *s, struct stats_requester *r, unsigned sort, uint32_t dws, uint64_t n)
{
	const enum ptt_kind kind = (enum ptt_kind)sorts[sort].kind;
	struct stats_type *y = &s->type[sorts[sort].row];

	y->tlps += n;
	y->dws += n * dws;
	y->bytes += kind == PTT_COMPLETION ? 0 : n * 4 * dws;
	s->size[sorts[sort].size][dws] += n;
	r->kind[kind] += n;
	add_bytes(r, kind, n, 4 * dws, kind == PTT_COMPLETION ? 0 : 4 * dws);
}

static void settle_sort(struct ptt_stats *s, struct stats_bank *b, uint32_t *cells, unsigned sort)
{
	uint64_t sum[2] = { 0 };

	for (uint32_t k = 0; k < 2048; k++) {
		uint32_t length = k & 1023, *c = &cells[cell_of(sort, k >> 10, length, b->wide)];
		if (*c == 0)
			continue;
		sum[k >> 10] += *c;
		settle_cell(s, b->requester, sort, length ? length : 1024, *c);
		*c = 0;
	}
	s->type[sorts[sort].row].relaxed += sum[1];
	device_at(s, b->device)->cls[sorts[sort].class] += sum[0] + sum[1];
}

static void settle_bank(struct ptt_stats *s, uint32_t i)
{
	struct stats_bank *b = &s->bank[i];
	struct stats_requester *r = b->requester;

	for (unsigned sort = 0; sort < SORT_OTHER; sort++)
		settle_sort(s, b, s->cell + (size_t)i * BANK_CELLS, sort);
	for (unsigned sort = 0; sort < SORT_CPLD; sort++) {
		s->type[sorts[sort].row].bytes -= s->bank_disabled[i][sort];
		r->bytes[sorts[sort].kind] -= s->bank_disabled[i][sort];
		s->bank_disabled[i][sort] = 0;
	}
	s->type[TLP_ROW_CplD].bytes += s->bank_completed[i];
	r->bytes[PTT_COMPLETION] += s->bank_completed[i];
	s->bank_completed[i] = 0;
}

void cells_settle(struct ptt_stats *s)
{
	for (uint32_t i = 1; i < s->nbanks; i++)
		settle_bank(s, i);
	s->cell_records = 0;
}
