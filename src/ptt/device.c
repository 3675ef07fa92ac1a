/*
 * device.c: the registers of the PTT device.
 *
 * Registers are the rows of ptt_reg.def: a slot each holds what was written,
 * within the bits that can be written; those that show a state are computed when
 * they are read.  What the documents leave open is decided here:
 *
 * - Tuning is done at once; busy_polls only makes the device say otherwise for a
 *   while, and TUNING_DATA shows the answer when it is over.  What is no code
 *   reads 0.  Any value above 2 becomes 2, the whole word counts.
 * - RST stops the trace and empties TRACE_WR_STS and the counts; while it is set,
 *   EN does nothing.  Pending interrupts outlive it, the driver clears them.
 * - EN that goes up takes the addresses and the size as they are then: what is
 *   written there during a trace is for the next.  Without RST in between, the
 *   trace goes on in the buffer where it was stopped.  The other fields of
 *   TRACE_CTRL count from the moment they are written.
 * - The interrupt goes up when the first unmasked status becomes pending, and
 *   again when a write to status or mask leaves one pending: a bit that is set between a
 *   driver's read and its clearing write is not forgotten.
 * - A function-level reset also resets the tunables.  What was taken and not
 *   yet written by DMA then is lost and counted so.
 *
 * Thread rule: one caller at a time; irq() may read and write registers.
 */
#include <string.h>

#include "ptt/device_int.h"

#define DEFAULT_LOWER 0x0080u
#define DEFAULT_UPPER 0x00a0u

const struct ptt_tunable ptt_tunables[PTT_TUNES] = {
#define PTT_TUNE(name, alias, code, reset, text) [PTT_TUNE_##name] = { #name, alias, text, code, reset },
#include "facts/ptt_tune.def"
#undef PTT_TUNE
};

static const struct reg {
	uint32_t reset, writable;
} regs[PTT_REG_ROWS] = {
#define PTT_REG(name, offset, reset, writable, text) [PTT_ROW_##name] = { reset, writable },
#include "facts/ptt_reg.def"
#undef PTT_REG
};

/* PTT_REG_ROWS: there is no such register. */
static enum ptt_reg_row row_of(uint32_t off)
{
	switch (off) {
#define PTT_REG(name, ...)   \
	case PTT_REG_##name: \
		return PTT_ROW_##name;
#include "facts/ptt_reg.def"
#undef PTT_REG
	}
	return PTT_REG_ROWS;
}

/* ---- tuning --------------------------------------------------------------------------------- */

static void dev_tune(struct ptt_dev *d, uint32_t value)
{
	const uint32_t code = d->reg[PTT_ROW_TUNING_CTRL] & PTT_TUNE_CODE;

	d->busy = d->opts.busy_polls;
	d->tune_result = 0;
	for (int i = 0; i < PTT_TUNES; i++) {
		if (ptt_tunables[i].code != code)
			continue;
		if (value != PTT_TUNE_READ)
			d->tuned[i] = (uint8_t)(value < PTT_TUNE_MOST ? value : PTT_TUNE_MOST);
		d->tune_result = d->tuned[i];
	}
}

static uint32_t tune_busy(struct ptt_dev *d)
{
	if (d->busy == 0)
		return 0;
	d->busy--;
	return 1;
}

/* ---- tracing -------------------------------------------------------------------------------- */

static void trace_start(struct ptt_dev *d)
{
	const uint32_t *address = &d->reg[PTT_ROW_TRACE_ADDR_BASE_LO_0];
	const uint32_t size = d->reg[PTT_ROW_TRACE_ADDR_SIZE];

	for (int i = 0; i < PTT_BUFFERS; i++)
		d->base[i] = address[2 * i] | (uint64_t)address[2 * i + 1] << 32;
	d->size = size < PTT_BUFFER_MOST ? size : PTT_BUFFER_MOST;
	d->timed = false;
	d->tracing = true;
}

static void trace_control(struct ptt_dev *d, uint32_t ctrl)
{
	ptt_dev_flush(d);
	d->select = ptt_select_of(ctrl);
	d->record = ctrl & PTT_CTRL_8DW ? 4 * PTT_8DW : 4 * PTT_4DW;
	if (ctrl & PTT_CTRL_RST) {
		d->tracing = false;
		d->current = d->written = 0;
		d->counts = (struct ptt_dev_counts){ 0 };
	} else if ((ctrl & PTT_CTRL_EN) == 0) {
		d->tracing = false;
	} else if (!d->tracing) {
		trace_start(d);
	}
}

/* ---- interrupts ------------------------------------------------------------------------------ */

/* irq() may write registers and so come back here: that is told when it is done, and not without end. */
void ptt_dev_raise(struct ptt_dev *d)
{
	if ((d->pending & ~d->reg[PTT_ROW_TRACE_INT_MASK]) == 0)
		return;
	if (d->raising) {
		d->again = true;
		return;
	}
	d->raising = true;
	for (int i = 0; i < PTT_BUFFERS; i++) {
		d->again = false;
		d->counts.interrupts++;
		if (d->host.irq)
			d->host.irq(d->host.arg);
		if (!d->again || (d->pending & ~d->reg[PTT_ROW_TRACE_INT_MASK]) == 0)
			break;
	}
	d->raising = false;
}

/* ---- registers ------------------------------------------------------------------------------- */

uint32_t ptt_dev_read(struct ptt_dev *d, uint32_t off)
{
	const enum ptt_reg_row row = row_of(off);

	switch (row) {
	case PTT_ROW_TUNING_DATA:
		return d->busy ? d->reg[row] : d->tune_result;
	case PTT_ROW_TUNING_INT_STAT:
		return tune_busy(d);
	case PTT_ROW_TRACE_INT_STAT:
		ptt_dev_flush(d);
		return d->pending;
	case PTT_ROW_TRACE_WR_STS:
		ptt_dev_flush(d);
		return d->current << 28 | d->written;
	case PTT_ROW_TRACE_STS:
		return !d->tracing;
	case PTT_ROW_DEVICE_RANGE:
		return (uint32_t)d->opts.upper << 16 | d->opts.lower;
	case PTT_ROW_LOCATION:
		return (uint32_t)d->opts.sicl << 16 | d->opts.core;
	case PTT_REG_ROWS:
		return 0;
	default:
		return d->reg[row];
	}
}

void ptt_dev_write(struct ptt_dev *d, uint32_t off, uint32_t value)
{
	const enum ptt_reg_row row = row_of(off);

	if (row == PTT_REG_ROWS)
		return;
	d->reg[row] = (d->reg[row] & ~regs[row].writable) | (value & regs[row].writable);
	switch (row) {
	case PTT_ROW_TUNING_DATA:
		dev_tune(d, value);
		break;
	case PTT_ROW_TRACE_CTRL:
		trace_control(d, d->reg[row]);
		break;
	case PTT_ROW_TRACE_INT_STAT:
		d->pending &= ~value;
		ptt_dev_raise(d);
		break;
	case PTT_ROW_TRACE_INT_MASK:
		ptt_dev_raise(d);
		break;
	default:
		break;
	}
}

/* ---- life ------------------------------------------------------------------------------------ */

void ptt_dev_reset(struct ptt_dev *d)
{
	const uint64_t gone = d->block_n / d->record;

	d->counts.recorded -= gone;
	d->counts.lost += gone;
	for (int i = 0; i < PTT_REG_ROWS; i++)
		d->reg[i] = regs[i].reset;
	for (int i = 0; i < PTT_TUNES; i++)
		d->tuned[i] = ptt_tunables[i].reset;
	d->tune_result = d->busy = 0;
	d->tracing = d->timed = false;
	d->select = ptt_select_of(0);
	d->record = 4 * PTT_4DW;
	d->size = d->current = d->written = d->block_n = d->pending = 0;
}

int ptt_dev_open(struct ptt_dev **ret, const struct ptt_dev_opts *o)
{
	struct ptt_dev *d = mem_alloc(sizeof(*d));

	if (!d)
		return -TALLY_ENOMEM;
	d->opts = *o;
	if (o->lower == 0 && o->upper == 0) {
		d->opts.lower = DEFAULT_LOWER;
		d->opts.upper = DEFAULT_UPPER;
	}
	d->record = 4 * PTT_4DW;
	ptt_dev_reset(d);
	*ret = d;
	return 0;
}

void ptt_dev_close(struct ptt_dev *d)
{
	mem_free(d);
}

void ptt_dev_host(struct ptt_dev *d, const struct ptt_host *h)
{
	d->host = h ? *h : (struct ptt_host){ 0 };
}

bool ptt_dev_hosted(const struct ptt_dev *d)
{
	return d->host.dma || d->host.irq;
}

const struct ptt_dev_counts *ptt_dev_counts(const struct ptt_dev *d)
{
	return &d->counts;
}

uint32_t ptt_dev_tuned(const struct ptt_dev *d, enum ptt_tune t)
{
	return d->tuned[t];
}

bool ptt_dev_tracing(const struct ptt_dev *d)
{
	return d->tracing;
}
