/*
 * ptt_aux.c: AUX bytes from the rings of a PTT event; pure over memory.
 *
 * The kernel maps two rings for an event (perf_event_open(2)).  The trace itself
 * goes to the AUX ring, up to aux_head; we say in aux_tail what we are done with.  The data
 * ring has a record for each commit,
 *
 *	header  u32 type (11), u16 misc, u16 size      u64 aux_offset, aux_size, flags
 *
 * written before aux_head moves.  The bytes are taken by aux_head alone, so none is lost when records are; of the
 * records only the flags matter.  Positions count from the start of the trace and are taken modulo the ring's size.
 *
 * When does the driver sleep?  The Linux driver copies whole DMA buffers of 4 MiB and needs 4 MiB up to
 * the END of the ring, not merely 4 MiB that are free.  When a commit leaves less, or the
 * ring full, it stops the trace: there is no flag, no record, no error.  Both can be told here:
 *
 *	full         aux_head - aux_tail is the whole ring
 *	at the end   less than 4 MiB between aux_head and the ring's end
 *
 * The first is looked at after aux_tail was moved, against its old value: either the driver saw the
 * new one, or we see that it had none left.  (Without a full barrier in the kernel that is nearly always; the owner
 * asks again when nothing comes.)  A trace must not be started in the second state: the driver
 * does not check there, and would write past its mapping.  aux_can_start() tells.
 *
 * The driver also does not look at what is free, so a ring that is not read may be written over;
 * then positions are more than a ring apart, and we go on with what is still there.
 */
#include <string.h>

#include "kernel/ptt_aux_int.h"

#define NO_CUT UINT64_MAX
#define RECORD_MOST 32u /* bytes of the larger record format */

/* PERF_RECORD_AUX; what follows is not looked at */
struct aux_record {
	struct perf_event_header h;
	uint64_t offset, size, flags;
};
static_assert(sizeof(struct aux_record) == 32, "perf_event_open(2), PERF_RECORD_AUX");

struct aux_ring aux_ring(struct perf_event_mmap_page *page, const void *data, uint64_t data_bytes, const void *aux,
			 uint64_t aux_bytes)
{
	return (struct aux_ring){
		.page = page, .data = data, .data_bytes = data_bytes, .aux = aux, .aux_bytes = aux_bytes, .cut = NO_CUT
	};
}

static uint64_t aux_head(const struct aux_ring *r)
{
	return __atomic_load_n(&r->page->aux_head, __ATOMIC_ACQUIRE);
}

static uint64_t aux_bytes_to_end(const struct aux_ring *r, uint64_t at)
{
	return r->aux_bytes - (at & (r->aux_bytes - 1));
}

/* `tail` is where the kernel had it when it last looked. */
static void aux_ring_look(struct aux_ring *r, uint64_t tail)
{
	uint64_t head = aux_head(r);

	if (!r->stopped)
		r->asleep |= head - tail >= r->aux_bytes || aux_bytes_to_end(r, head) < PTT_BUFFER_BYTES;
}

/* ---- records ------------------------------------------------------------------- */

/* The front of the record at `at`; a body may wrap. */
static void record_copy(const struct aux_ring *r, uint64_t at, void *to, size_t n)
{
	uint64_t from = at & (r->data_bytes - 1), first = r->data_bytes - from < n ? r->data_bytes - from : n;

	memcpy(to, r->data + from, first);
	memcpy((char *)to + first, r->data, n - first);
}

/* What one record says; false: that commit's bytes are not there yet. */
static bool record_taken(struct aux_ring *r, const struct aux_record *rec, uint64_t head)
{
	uint64_t end;

	if (rec->h.type == PERF_RECORD_LOST) /* and with it, flags */
		r->gap = true;
	if (rec->h.type != PERF_RECORD_AUX)
		return true;
	if (rec->h.size < sizeof(*rec) || __builtin_add_overflow(rec->offset, rec->size, &end) ||
	    rec->size > r->aux_bytes) {
		r->gap = true;
		return true;
	}
	if (end > head)
		return end - head > r->aux_bytes;
	if (rec->flags & (PERF_AUX_FLAG_TRUNCATED | PERF_AUX_FLAG_PARTIAL))
		r->cut = end > r->at ? end : r->at;
	return true;
}

/* Looks at records up to the first that lost data (true: there is one); those behind it come when we are past it. */
static bool records_look(struct aux_ring *r, uint64_t head)
{
	uint64_t end = __atomic_load_n(&r->page->data_head, __ATOMIC_ACQUIRE);
	struct aux_record rec;

	if (end - r->data_at > r->data_bytes) {
		r->data_at = end;
		r->gap = true;
	}
	while (r->cut == NO_CUT && end - r->data_at >= sizeof(rec.h)) {
		memset(&rec, 0, sizeof(rec));
		record_copy(r, r->data_at, &rec.h, sizeof(rec.h));
		if (rec.h.size < sizeof(rec.h) || rec.h.size > end - r->data_at) {
			r->data_at = end; /* no record: the bytes of the trace are good all the same */
			r->gap = true;
			break;
		}
		record_copy(r, r->data_at, &rec, rec.h.size < sizeof(rec) ? rec.h.size : sizeof(rec));
		if (!record_taken(r, &rec, head))
			break;
		r->data_at += rec.h.size;
	}
	__atomic_store_n(&r->page->data_tail, r->data_at, __ATOMIC_RELEASE);
	return r->cut != NO_CUT;
}

/* ---- bytes ------------------------------------------------------------------------ */

/* Bytes that were written over are gone: on with the oldest whole record. */
static void skip_lost(struct aux_ring *r, uint64_t head)
{
	if (head - r->at <= r->aux_bytes)
		return;
	r->at = (head - r->aux_bytes + RECORD_MOST - 1) / RECORD_MOST * RECORD_MOST;
	r->gap = true;
}

static void cut_pass(struct aux_ring *r)
{
	if (r->cut > r->at)
		return;
	r->cut = NO_CUT;
	r->gap = true;
}

int aux_take(struct aux_ring *r, struct ptt_aux *a)
{
	uint64_t head = aux_head(r), end;

	if ((int64_t)(head - r->at) < 0)
		return -TALLY_ECORRUPT;
	aux_ring_look(r, r->tail);
	skip_lost(r, head);
	do
		cut_pass(r);
	while (records_look(r, head) && r->cut <= r->at);
	end = head < r->cut ? head : r->cut;
	end = end - r->at < PTT_BUFFER_BYTES ? end : r->at + PTT_BUFFER_BYTES;
	end = end - r->at < aux_bytes_to_end(r, r->at) ? end : r->at + aux_bytes_to_end(r, r->at);
	if (end == r->at)
		return 0;
	*a = (struct ptt_aux){ .p = r->aux + (r->at & (r->aux_bytes - 1)),
			       .n = end - r->at,
			       .flags = r->gap ? PTT_AUX_TRUNCATED : 0 };
	r->gap = false;
	r->at = end;
	return 1;
}

void aux_release(struct aux_ring *r)
{
	uint64_t old = r->tail;

	if (r->at == old)
		return;
	r->tail = r->at;
	__atomic_store_n(&r->page->aux_tail, r->at, __ATOMIC_RELEASE);
	__atomic_thread_fence(__ATOMIC_SEQ_CST);
	aux_ring_look(r, old);
}

void aux_stop(struct aux_ring *r)
{
	aux_ring_look(r, r->tail);
	r->stopped = true;
}

bool aux_waiting(const struct aux_ring *r)
{
	return aux_head(r) != r->at;
}

bool aux_can_start(const struct aux_ring *r)
{
	return aux_bytes_to_end(r, aux_head(r)) >= PTT_BUFFER_BYTES;
}

void aux_woken(struct aux_ring *r)
{
	r->asleep = false;
	r->gap = true;
}
