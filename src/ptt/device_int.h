/* device_int.h: the insides of the device: device.c is its registers, device_packets.c what passes through it. */
#ifndef TALLY_PTT_DEVICE_INT_H
#define TALLY_PTT_DEVICE_INT_H

#include "ptt/device.h"

#define PTT_BLOCK_BYTES (64u << 10) /* written by DMA at once: stays in the CPU's cache till then */
#define PTT_RECORD_MOST 32u         /* bytes of a record of 8DW */

/* Rows of ptt_reg.def. */
enum ptt_reg_row {
#define PTT_REG(name, ...) PTT_ROW_##name,
#include "facts/ptt_reg.def"
#undef PTT_REG
	PTT_REG_ROWS
};

/* Fields of TRACE_CTRL. */
#define PTT_CTRL_EN 0x1u
#define PTT_CTRL_RST 0x2u
#define PTT_CTRL_RXTX(ctrl) ((ctrl) >> 2 & 3)
#define PTT_CTRL_TYPES(ctrl) ((ctrl) >> 4 & 0xf)
#define PTT_CTRL_8DW 0x4000u
#define PTT_CTRL_REQUESTER 0x8000u
#define PTT_CTRL_TARGET(ctrl) ((uint16_t)((ctrl) >> 16))
/* of TRACE_WR_STS and of the two registers that name the device's place */
#define PTT_WR_BYTES 0x0fffffffu
#define PTT_WR_BUFFER(sts) ((sts) >> 28 & 3)
#define PTT_PENDING 0xfu /* of TRACE_INT_STAT and TRACE_INT_MASK */
#define PTT_TUNE_CODE 0x00ffffffu
#define PTT_TUNE_READ UINT32_MAX

/* What is asked of a packet, made of TRACE_CTRL so that no packet costs a branch for it. Where a packet went are
 * its port and, 16 bits up, its function. */
struct ptt_select {
	uint32_t kinds;                   /* bit outbound << 2 | enum ptt_class */
	uint32_t ports, any_port;         /* of the first some are there, or the second is not 0 */
	uint32_t function, function_mask; /* equal within the mask */
};

struct ptt_dev {
	/* set by ptt_dev_open(), then read-only */
	struct ptt_dev_opts opts;
	/* registers as they were written; those that are computed have no use for their slot */
	uint32_t reg[PTT_REG_ROWS];
	uint8_t tuned[PTT_TUNES];
	uint32_t tune_result, busy;
	/* the trace; addresses and size as they were when it was started */
	bool tracing, timed; /* timed: `epoch` is known */
	struct ptt_select select;
	uint32_t record; /* bytes */
	uint64_t base[PTT_BUFFERS];
	uint32_t size, current, written; /* written: the block included */
	uint64_t epoch;                  /* Time counts from here: the first packet, or (delta) the last record */
	uint32_t pending;                /* TRACE_INT_STAT */
	bool raising, again;             /* inside irq(); the line would have gone up */
	struct ptt_host host;
	struct ptt_dev_counts counts;
	/* what is not written yet, for `current` */
	uint32_t block_n;
	uint8_t block[PTT_BLOCK_BYTES];
};

struct ptt_select ptt_select_of(uint32_t ctrl);
/* Writes the block to the current buffer. */
void ptt_dev_flush(struct ptt_dev *d);
/* Tells the host that an unmasked status is pending, if one is. */
void ptt_dev_raise(struct ptt_dev *d);

#endif
