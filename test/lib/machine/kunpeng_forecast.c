/*
 * kunpeng_forecast.c: what arithmetic says of a setting, without running anything.
 *
 * Theory.  A direction that is full carries packets without a pause. Of each type whose buffer is never empty it takes
 * turns by weight w, and a packet of that type with d DWs costs d + POST_NS / watermark ns (kunpeng_path.c), so
 *
 *	share of type i  = w[i] / sum w                         packets
 *	payload per ns   = sum w b / sum w (d + POST_NS / watermark)
 *
 * where b and d are the means of that type under the load. What is always waiting follows from the load's row: a
 * kind of job with period 1 is. Means of a job (kunpeng_flow.c), in packets:
 *
 *	outbound P    HOST_WRITE_BYTES each, with 64-bit addresses
 *	outbound NP   reads of registers, with 64-bit addresses
 *	outbound CPL  of a drive's write: a command, and 8 reads of READ_MOST, of which one in 8 has a piece more
 *	inbound       of a drive's read: 16 writes of PAYLOAD_MOST, its entry, its MSI, and the fetch of its command
 *
 * What is rare under the load (configuration, doorbells) is left out: that is an error of a few percent. So is a
 * posting that leaves by time-out with fewer packets than the watermark.
 *
 * Of a load that does not fill a direction, or with what the means do not know, only the wait of a lone packet is told:
 * that is what a level costs there.
 */
#include "machine/kunpeng_forecast.h"
#include "machine/kunpeng_int.h"

struct mean {
	uint64_t packets, dws, bytes;
};

enum { HEAD = FRAMING_DWS + 3, HEAD_WIDE = FRAMING_DWS + 4 };
static const struct mean host_write = { 1, HEAD_WIDE + HOST_WRITE_BYTES / 4, HOST_WRITE_BYTES };
static const struct mean host_read = { 1, HEAD_WIDE, 0 };
/* Eight commands, so that one piece more is a whole number. */
static const struct mean drive_writes = { 8 * 17 + 8, (8 * 17 + 8) * HEAD + 8 * (4096 + 64) / 4, 8 * (4096 + 64) };
static const struct mean drive_reads = {
	19,
	16 * (HEAD_WIDE + PAYLOAD_MOST / 4) + HEAD_WIDE + 4 + HEAD_WIDE + 1 + HEAD_WIDE,
	4096 + 16 + 4,
};

/* Payload per microsecond of types that all wait, with weights. */
static uint64_t full(const struct mean *m[static QUEUES], const uint32_t weight[static QUEUES], uint64_t watermark)
{
	const uint64_t scale = 1000000; /* rounds, so that means are whole numbers */
	uint64_t bytes = 0, time = 0;

	for (int i = 0; i < QUEUES; i++) {
		if (m[i] == NULL)
			continue;
		uint64_t packets = weight[i] * scale;
		bytes += packets * m[i]->bytes / m[i]->packets;
		time += packets * m[i]->dws / m[i]->packets + packets * POST_NS / watermark;
	}
	return time != 0 ? bytes * 1000 / time : 0;
}

static void forecast_outbound(struct kunpeng_forecast *f, const struct load *l, const uint8_t tuned[static PTT_TUNES])
{
	const struct mean *m[QUEUES] = {
		[QUEUE_P] = l->period[FLOW_HOST_WRITE] == 1 ? &host_write : NULL,
		[QUEUE_NP] = l->period[FLOW_HOST_READ] == 1 ? &host_read : NULL,
		[QUEUE_CPL] = l->period[FLOW_NVME_WRITE] == 1 ? &drive_writes : NULL,
	};
	const uint32_t weight[QUEUES] = {
		path_weight(tuned[PTT_TUNE_qos_tx_p]),
		path_weight(tuned[PTT_TUNE_qos_tx_np]),
		path_weight(tuned[PTT_TUNE_qos_tx_cpl]),
	};
	uint32_t sum = 0;

	for (int i = 0; i < QUEUES; i++)
		sum += m[i] != NULL ? weight[i] : 0;
	for (int i = 0; i < QUEUES; i++)
		f->share[i] = m[i] != NULL ? 1000000 * weight[i] / sum : 0;
	f->bytes[1] = full(m, weight, path_watermark(tuned[PTT_TUNE_tx_alloc_buf_level]));
}

int kunpeng_forecast(struct kunpeng_forecast *ret, const char *load, const uint8_t tuned[static PTT_TUNES],
		     struct err *e)
{
	static const uint32_t even[QUEUES] = { 1, 1, 1 };
	const struct load *l = load_find(load, e);
	struct kunpeng_forecast f = { 0 };

	if (l == NULL)
		return -TALLY_EINVAL;
	/* NICs bring packets of many sizes. */
	bool known = l->period[FLOW_NIC_RECEIVE] != 1 && l->period[FLOW_NIC_SEND] != 1;
	const struct mean *in[QUEUES] = { known && l->period[FLOW_NVME_READ] == 1 ? &drive_reads : NULL };
	if (known)
		forecast_outbound(&f, l, tuned);
	f.bytes[0] = full(in, even, path_watermark(tuned[PTT_TUNE_rx_alloc_buf_level]));
	f.alone_ns[0] = path_watermark(tuned[PTT_TUNE_rx_alloc_buf_level]) > 1 ? TIMEOUT_NS : 0;
	f.alone_ns[1] = path_watermark(tuned[PTT_TUNE_tx_alloc_buf_level]) > 1 ? TIMEOUT_NS : 0;
	*ret = f;
	return 0;
}
