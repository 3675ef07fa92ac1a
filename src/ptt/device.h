/*
 * device.h: the PTT device, as its registers show it.
 *
 * A state machine over the registers of BAR 2: tune codes, trace control, four DMA buffers that are written in turn.
 * Register reads and writes come in, and packets with their time; bytes go out through a DMA function and an
 * interrupt function. There is no clock, no thread and no file in here. What a guest writes into registers is
 * hostile: addresses only go to the DMA function, which checks them, and sizes are bounded.
 *
 * The device refuses to write into a buffer whose interrupt bit is still pending. Packets that come while the next
 * buffer is not free are counted as lost. The driver is not told, as with the genuine device.
 */
#ifndef TALLY_PTT_DEVICE_H
#define TALLY_PTT_DEVICE_H

#include "base/base.h"
#include "ptt/ptt.h"

#define PTT_BUFFERS 4
#define PTT_BAR_SIZE 0x10000u       /* of BAR 2 */
#define PTT_BUFFER_BYTES (4u << 20) /* what the Linux driver gives */
#define PTT_BUFFER_MOST (64u << 20) /* a larger size is clamped to it */

/* PTT_REG(name, offset, reset value, writable bits, text) in ptt_reg.def: PTT_REG_TRACE_CTRL = 0x850 ... */
enum ptt_reg {
#define PTT_REG(name, offset, ...) PTT_REG_##name = (offset),
#include "facts/ptt_reg.def"
#undef PTT_REG
};
/* Tunables: rows of facts/ptt_tune.def. PTT_TUNE(name, alias or "", code, reset, text) */
enum ptt_tune {
#define PTT_TUNE(name, ...) PTT_TUNE_##name,
#include "facts/ptt_tune.def"
#undef PTT_TUNE
	PTT_TUNES
};
struct ptt_tunable {
	const char *name, *alias, *text;
	uint32_t code;
	uint8_t reset;
};                       /* code: CODE | SUB << 16 */
#define PTT_TUNE_MOST 2u /* 0, 1, 2 */
extern const struct ptt_tunable ptt_tunables[PTT_TUNES];

/* What a packet is to the device's selection (hisi_ptt.rst, "Direction"). */
enum ptt_class { PTT_CLASS_P, PTT_CLASS_NP, PTT_CLASS_CPL_A, PTT_CLASS_CPL_B };
struct ptt_tlp {           /* a packet that passes */
	uint64_t now;      /* ticks since the machine started; never goes back */
	uint32_t prefix;   /* 0: none */
	uint32_t dw[4];    /* the header; TLP byte 0 in bits 31:24 */
	uint16_t port;     /* bit of its root port: 1 << ((slot & 7) * 2) */
	uint16_t function; /* the endpoint function that it comes from or goes to */
	bool outbound;     /* from the core to the endpoint */
	uint8_t cls;       /* enum ptt_class; for outbound completions A and B are alike */
};

/* what the device reaches; borrowed */
struct ptt_host {
	void *arg;
	/* Writes to bus address `to`. Negative: there is no such memory; counted, and the trace goes on. */
	int (*dma)(void *arg, uint64_t to, const void *p, size_t n);
	void (*irq)(void *arg); /* the interrupt line went up: some unmasked status is pending */
};
struct ptt_dev_opts {
	uint16_t lower, upper; /* BDFs of the first and last root port; 0, 0: 0x0080 and 0x00a0 */
	uint16_t core, sicl;   /* hisi_ptt<sicl>_<core> */
	uint32_t busy_polls;   /* reads of TUNING_INT_STAT that say busy after each tune; 0: none */
	bool delta;            /* Time is the ticks since the record before it; else since the start of the trace */
};
struct ptt_dev_counts {
	uint64_t seen;                /* packets while a trace was on */
	uint64_t recorded, filtered;  /* of those */
	uint64_t lost;                /* selected, but no buffer was free */
	uint64_t dma_errors;          /* writes that the host refused: bytes are gone, counted in records */
	uint64_t buffers, interrupts; /* finished; raised */
};
struct ptt_dev;
/* -TALLY_ENOMEM. */
int ptt_dev_open(struct ptt_dev **ret, const struct ptt_dev_opts *o);
void ptt_dev_close(struct ptt_dev *d); /* NULL is fine */
/* Who answers for DMA and interrupts; NULL: nobody (DMA then counts as errors). May change while it is idle. */
void ptt_dev_host(struct ptt_dev *d, const struct ptt_host *h);
bool ptt_dev_hosted(const struct ptt_dev *d); /* somebody answers */
/* 32-bit registers; an offset that is not a multiple of 4, beyond the BAR or without a register reads 0 and ignores
 * writes. */
uint32_t ptt_dev_read(struct ptt_dev *d, uint32_t off);
void ptt_dev_write(struct ptt_dev *d, uint32_t off, uint32_t value);
void ptt_dev_reset(struct ptt_dev *d); /* function-level: all but the counts of life */
/* The packets pass; those that the trace selects become records. Collects and writes DMA in blocks: what was taken
 * is in memory at the latest when WR_STS or INT_STAT is read, the trace is stopped, or an interrupt goes up. */
void ptt_dev_packets(struct ptt_dev *d, const struct ptt_tlp *t, size_t n);
/* Of this trace, from RST on. */
const struct ptt_dev_counts *ptt_dev_counts(const struct ptt_dev *d);
/* What a tunable is now (0..2): the machine looks at it. */
uint32_t ptt_dev_tuned(const struct ptt_dev *d, enum ptt_tune t);
bool ptt_dev_tracing(const struct ptt_dev *d);

#endif
