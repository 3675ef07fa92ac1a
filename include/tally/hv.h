/*
 * tally/hv.h: hypervisor services for somebody else's emulator, from C.
 *
 * A machine is a model with counters, and the service in front of it: of sun4v (niagara, maramba,
 * batoka) the MMU statistics and performance registers, of POWER (power)
 * H_GetPerformanceCounterInfo.  An emulator opens one, makes a guest of its own memory, and hands over each
 * hypercall that its processor meets:
 *
 *	tally_hv_open           a machine
 *	tally_hv_guest_open     a guest, with its memory
 *	tally_hv_call           a trap instruction; tally_hv_asr_read, _write: PCR and PIC
 *	tally_hv_advance        the machine's time goes on, and its load runs
 *	tally_hv_guest_close, tally_hv_close
 *
 * A call out of order (a machine that was not opened, one that is closed before its guests) is
 * -TALLY_ESTATE and does nothing.
 *
 * What counts: a named load of the model ("batoka,load=pingpong"); or, with TALLY_HV_IDLE, only what the emulator tells
 * of, memory references (tally_hv_refs) or misses that it answered from a TSB itself (tally_hv_tsb_hit).
 *
 * Threads: calls of different virtual CPUs may run at once, each of its own thread; not beside _advance, _refs,
 * opening and closing.  Nothing in here prints, exits, or reads a clock.
 */
#ifndef TALLY_HV_API_H
#define TALLY_HV_API_H

#include <tally/tally.h>

#ifdef __cplusplus
extern "C" {
#endif

struct tally_hv; /* opaque: made by _open, dead after _close */
struct tally_hv_guest;

struct tally_hv_opts {
	size_t size;         /* sizeof at the caller: lets us grow */
	const char *machine; /* as --on: "batoka,sockets=2,load=pingpong", "power,firmware=8" */
	uint32_t flags;      /* TALLY_HV_*; unknown bits are refused */
	uint32_t zero;       /* must be 0 */
};
#define TALLY_HV_IDLE 1u      /* sun4v: no load */
#define TALLY_HV_OPENSPARC 2u /* sun4v: as the genuine Niagara hypervisor, where that differs */

/* On failure too *ret is a handle, for its words (NULL only for -TALLY_ENOMEM). -TALLY_EINVAL: no such machine, key,
 * value or flag; -TALLY_EIO: its configuration can't be read. */
TALLY_API int tally_hv_open(struct tally_hv **ret, const struct tally_hv_opts *opts);
/* After its guests: -TALLY_ESTATE while one is open, and the machine stays. NULL is fine. */
TALLY_API int tally_hv_close(struct tally_hv *h);
/* Of the last call that failed, on the machine or a guest of it; "" when none has. Whichever was last when several
 * threads fail: read it when the others are quiet. */
TALLY_API const char *tally_hv_error(const struct tally_hv *h);

struct tally_hv_info {
	size_t size;               /* sizeof at the caller: lets us grow */
	const char *machine;       /* "batoka" */
	uint32_t sockets, strands; /* sun4v */
	uint32_t strands_per_socket;
	uint32_t firmware; /* POWER: its level */
};
/* What machine it is; the strings are good until it is closed. -TALLY_ESTATE: it was not opened. */
TALLY_API int tally_hv_info(struct tally_hv *h, struct tally_hv_info *ret);

/* ---- time ------------------------------------------------------------------------------------ */
/* Goes on by so many nanoseconds; the same steps give the same counters. -TALLY_ESTATE: it was not opened. */
TALLY_API int tally_hv_advance(struct tally_hv *h, uint64_t ns);
/* Nanoseconds since it was opened. */
TALLY_API uint64_t tally_hv_now(const struct tally_hv *h);

/* ---- guests ------------------------------------------------------------------------------------ */
struct tally_hv_guest_opts {
	size_t size;
	void *arg; /* for all of these */
	/* The n bytes of guest memory at a real address, 8-byte aligned as the address is, valid until the guest is
	 * closed; NULL: not all of that is memory. What the guest's processors see, big-endian as they are. */
	void *(*memory)(void *arg, uint64_t ra, size_t n);
	/* sun4v: cons_putchar and mach_exit; NULL: dropped. */
	void (*putchar)(void *arg, uint8_t c);
	void (*exited)(void *arg, uint64_t status);
	/* sun4v: "global,htstrand", "perfctraccess=1", "none"; NULL: what the machine's key rights= says, or all. Only
	 * one guest has global. */
	const char *rights;
	uint32_t partition; /* POWER; 0: 1 */
	uint32_t zero;      /* must be 0 */
};
/* -TALLY_EINVAL: no memory function, rights that there are not, no such partition; -TALLY_EBUSY: too many guests, or
 * another has global; -TALLY_ENOMEM. Words are the machine's. */
TALLY_API int tally_hv_guest_open(struct tally_hv_guest **ret, struct tally_hv *h,
				  const struct tally_hv_guest_opts *opts);
/* Its virtual CPUs are free again. NULL is fine. */
TALLY_API void tally_hv_guest_close(struct tally_hv_guest *g);

/* A virtual CPU is of the guest that uses it first: sun4v: the strand of that number; POWER: any number below 65536.
 * These return -TALLY_EINVAL when there is none of that number, -TALLY_EBUSY when it is another guest's.
 * tally_hv_take() makes it so before threads start; the others do it as well, but not two threads at once. */
TALLY_API int tally_hv_take(struct tally_hv_guest *g, uint32_t cpu);
/* Reset: its MMU statistics buffer is dropped, PCR and PIC are 0. */
TALLY_API int tally_hv_reset(struct tally_hv_guest *g, uint32_t cpu);

/* A hypercall: `ta 0x80` and `ta 0xff` with r[0..5] = %o0-%o5; `sc 1` (trap 1) with r[0..5] = r3-r8. All go back into
 * the registers; what the call does not answer in is unchanged. -TALLY_EINVAL also: another trap. A status of the
 * hypervisor's is no error here: it is in r[0]. */
TALLY_API int tally_hv_call(struct tally_hv_guest *g, uint32_t cpu, uint32_t trap, uint64_t r[6]);
/* sun4v: rd of ancillary state register 0x10 (PCR) or 0x11 (PIC) by privileged code. -TALLY_EINVAL: another;
 * -TALLY_ENOTSUP: POWER. */
TALLY_API int tally_hv_asr_read(struct tally_hv_guest *g, uint32_t cpu, uint32_t asr, uint64_t *value);
/* The same, wr. */
TALLY_API int tally_hv_asr_write(struct tally_hv_guest *g, uint32_t cpu, uint32_t asr, uint64_t value);

/* ---- what happens in the emulator (sun4v) ------------------------------------------------------- */
enum tally_hv_ref_kind { TALLY_HV_FETCH, TALLY_HV_LOAD, TALLY_HV_STORE, TALLY_HV_ATOMIC };
enum tally_hv_level { TALLY_HV_USER, TALLY_HV_SYSTEM, TALLY_HV_HYPER };
struct tally_hv_ref {
	uint64_t va;
	uint16_t strand, context; /* context 0: the kernel's */
	uint8_t kind, level;
	uint8_t bytes;
	uint8_t instructions; /* executed since the strand's last reference, this one's too */
};
/* They pass the model's caches and TLBs, in their order. -TALLY_EINVAL: one has a strand, kind or level that there is
 * not, and none has passed; -TALLY_ENOTSUP: POWER. */
TALLY_API int tally_hv_refs(struct tally_hv *h, const struct tally_hv_ref *r, size_t n);
/* A TLB miss of that strand was answered from a TSB, in so many ticks: adds to its MMU statistics. page: bytes, 8 KB,
 * 64 KB, 4 MB or 256 MB; else -TALLY_EINVAL. -TALLY_ENOTSUP: the machine keeps none; only niagara does. */
TALLY_API int tally_hv_tsb_hit(struct tally_hv_guest *g, uint32_t cpu, bool data, bool context, uint64_t page,
			       uint64_t ticks);

/* The next `calls` hypercalls that read or write a register of that Zambezi answer EWOULDBLOCK. Without this they do
 * now and then when it has traffic, while it adds its narrow counters to its registers. 0: no more. -TALLY_EINVAL: the
 * machine has no such Zambezi; -TALLY_ENOTSUP: POWER. */
TALLY_API int tally_hv_make_busy(struct tally_hv *h, uint32_t zambezi, uint32_t calls);

#ifdef __cplusplus
}
#endif

#endif
