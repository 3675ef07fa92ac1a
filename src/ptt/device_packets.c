/*
 * device_packets.c: packets that pass through the PTT device: selection, records, DMA.
 *
 * The one idea: only registers change how packets are handled, and no register is touched between two DMA writes. So
 * within a run of packets TRACE_CTRL becomes masks, room becomes a number of records, and the run is a loop without a
 * branch for the packet: each record is written to the block, and the next one overwrites it if the packet was not
 * selected.
 *
 * Buffers hold whole records: a rest that is too short for a record is not written. A finished buffer sets its status
 * bit. The next one is used only if its own bit is clear; until then selected packets are lost and counted. Time
 * counts from the first packet that passes after EN, selected or not; the start of the genuine device's Time is not
 * known.
 *
 * 8DW with direction 0 is reserved; the device traces inbound then, as for 4DW.
 */
#include "ptt/device_int.h"
#include "ptt/encode_inline.h"

/* ---- selection (hisi_ptt.rst, "Type", "Direction") --------------------------------------------- */

enum {
	IN_P = 1 << PTT_CLASS_P,
	IN_NP = 1 << PTT_CLASS_NP,
	IN_CPL_A = 1 << PTT_CLASS_CPL_A,
	IN_CPL_B = 1 << PTT_CLASS_CPL_B,
	IN = IN_P | IN_NP | IN_CPL_A | IN_CPL_B,
	OUT = 0xf0,
	P = IN_P | IN_P << 4,
	NP = IN_NP | IN_NP << 4,
	CPL = IN_CPL_A | IN_CPL_B | (IN_CPL_A | IN_CPL_B) << 4,
};

static const uint8_t directions[2][4] = {
	/* of 4DW, of 8DW */
	{ IN, OUT, OUT | IN_P | IN_NP | IN_CPL_B, OUT | IN_CPL_A },
	{ IN, OUT, IN_P | IN_NP | IN_CPL_B, IN_CPL_A },
};

struct ptt_select ptt_select_of(uint32_t ctrl)
{
	const uint16_t target = PTT_CTRL_TARGET(ctrl);
	const uint32_t types = PTT_CTRL_TYPES(ctrl);
	const bool requester = ctrl & PTT_CTRL_REQUESTER;
	const int kinds = (types & 1 ? P : 0) | (types & 2 ? NP : 0) | (types & 4 ? CPL : 0);

	return (struct ptt_select){
		.kinds = (uint32_t)(directions[(ctrl & PTT_CTRL_8DW) != 0][PTT_CTRL_RXTX(ctrl)] & kinds),
		.ports = requester ? 0 : target,
		.any_port = requester,
		.function = requester ? (uint32_t)target << 16 : 0,
		.function_mask = requester ? 0xffff0000 : 0,
	};
}

static inline bool packets_selected(const struct ptt_select *s, const struct ptt_tlp *t)
{
	const uint32_t where = t->port | (uint32_t)t->function << 16;
	const uint32_t kind = (uint32_t)t->outbound << 2 | (t->cls & 3u);
	const uint32_t port = (where & s->ports) | s->any_port;
	const uint32_t other = (where ^ s->function) & s->function_mask;

	return (s->kinds >> kind & 1) & (port != 0) & (other == 0);
}

/* ---- DMA ------------------------------------------------------------------------------------- */

void ptt_dev_flush(struct ptt_dev *d)
{
	const uint32_t n = d->block_n;
	const uint64_t base = d->base[d->current], to = base + (d->written - n);

	if (n == 0)
		return;
	d->block_n = 0;
	if (to < base || to + (n - 1) < to || !d->host.dma || d->host.dma(d->host.arg, to, d->block, n) < 0)
		d->counts.dma_errors += n / d->record;
}

static void finish_buffer(struct ptt_dev *d)
{
	const bool up = (d->pending & ~d->reg[PTT_ROW_TRACE_INT_MASK]) != 0;

	ptt_dev_flush(d);
	d->pending |= 1u << d->current;
	d->current = (d->current + 1) % PTT_BUFFERS;
	d->written = 0;
	d->counts.buffers++;
	if (!up)
		ptt_dev_raise(d);
}

/* ---- runs of packets ---------------------------------------------------------------------------- */

struct run {
	const struct ptt_tlp *t, *end; /* what has come; moves on */
	uint8_t *p, *stop;             /* room for records */
	uint64_t epoch;
};

/* Inlined with `words` and `delta` as constants: four loops. */
static inline __attribute__((always_inline)) void packets_run(struct run *r, struct ptt_select s, int words, bool delta)
{
	const struct ptt_tlp *t = r->t, *const end = r->end;
	uint8_t *p = r->p, *const stop = r->stop;
	uint64_t epoch = r->epoch;

	for (; t < end && p < stop; t++) {
		const bool take = packets_selected(&s, t);
		if (words == PTT_8DW)
			ptt_encode_8dw(p, t->prefix, t->dw, (uint32_t)(t->now - epoch));
		else
			ptt_encode_4dw(p, t->dw, (uint32_t)(t->now - epoch));
		p += take ? 4 * words : 0;
		if (delta)
			epoch = take ? t->now : epoch;
	}
	r->t = t;
	r->p = p;
	r->epoch = epoch;
}

static void run_any(struct run *r, const struct ptt_select *s, bool wide, bool delta)
{
	if (wide && delta)
		packets_run(r, *s, PTT_8DW, true);
	else if (wide)
		packets_run(r, *s, PTT_8DW, false);
	else if (delta)
		packets_run(r, *s, PTT_4DW, true);
	else
		packets_run(r, *s, PTT_4DW, false);
}

/* As many as the block and the buffer hold. Returns the first one that is left. */
static const struct ptt_tlp *packets_collect(struct ptt_dev *d, const struct ptt_tlp *t, const struct ptt_tlp *end,
					     uint32_t room)
{
	const uint32_t block = PTT_BLOCK_BYTES - d->block_n;
	uint8_t *const from = d->block + d->block_n;
	struct run r = { t, end, from, from + (room < block ? room : block), d->epoch };
	uint32_t n;

	run_any(&r, &d->select, d->record == 4 * PTT_8DW, d->opts.delta);
	n = (uint32_t)(r.p - from);
	d->epoch = r.epoch;
	d->block_n += n;
	d->written += n;
	d->counts.seen += (uint64_t)(r.t - t);
	d->counts.recorded += n / d->record;
	d->counts.filtered += (uint64_t)(r.t - t) - n / d->record;
	return r.t;
}

/* There is no buffer, and none comes: only a register could change that. */
static void packets_lose(struct ptt_dev *d, const struct ptt_tlp *t, const struct ptt_tlp *end)
{
	uint64_t lost = 0;

	for (const struct ptt_tlp *at = t; at < end; at++)
		lost += packets_selected(&d->select, at);
	d->counts.seen += (uint64_t)(end - t);
	d->counts.lost += lost;
	d->counts.filtered += (uint64_t)(end - t) - lost;
}

/* Whole records that the current buffer still takes, in bytes. */
static uint32_t room_of(const struct ptt_dev *d)
{
	return d->size > d->written ? (d->size - d->written) / d->record * d->record : 0;
}

void ptt_dev_packets(struct ptt_dev *d, const struct ptt_tlp *t, size_t n)
{
	const struct ptt_tlp *const end = t + n;

	while (t < end && d->tracing) {
		if (!d->timed) {
			d->epoch = t->now;
			d->timed = true;
		}
		if (d->size < d->record || d->pending >> d->current & 1) {
			packets_lose(d, t, end);
			return;
		}
		t = packets_collect(d, t, end, room_of(d));
		if (room_of(d) == 0)
			finish_buffer(d);
		else if (d->block_n == PTT_BLOCK_BYTES)
			ptt_dev_flush(d);
	}
}
