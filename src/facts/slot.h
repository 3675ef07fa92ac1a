/*
 * slot.h: how values lie in the bytes that programs hand over.
 *
 * A record, a key of an aggregation or of an associative array is a row of
 * slots.  Whoever makes the bytes (generated code) and whoever reads them
 * (the session) share these descriptions.  Every slot starts at a multiple of
 * 8; unused bytes are zero, so that equal keys are equal bytes.
 *
 *   INT      8 bytes, the value sign- or zero-extended from `width` bytes
 *   STRING   `size` bytes, NUL-terminated, zero-padded
 *   BYTES    `size` bytes of a struct or array, zero-padded to 8
 *   FLOAT    a float, double or long double of `width` bytes, zero-padded to 8
 *   KSTACK   in a record: `frames` x 8 bytes, innermost first, 0 ends
 *            in a key: 8 bytes, a stack id (see STACK_ID_*)
 *   USTACK   8 bytes pid, 8 bytes generation, then as KSTACK
 *   K*       8 bytes, a kernel address
 *   U*       8 bytes pid, 8 bytes generation, 8 bytes user address
 *
 * A generation is a time: when the process last lost an executable mapping (CLOCK_MONOTONIC, in ns), began,
 * or exec'd; 0: not since its mappings are watched.  Within one generation of a process, an address has one meaning.
 */
#ifndef TALLY_FACTS_SLOT_H
#define TALLY_FACTS_SLOT_H

#include <stdbool.h>
#include <stdint.h>

enum slot_kind {
	SLOT_INT,
	SLOT_STRING,
	SLOT_BYTES,
	SLOT_FLOAT,
	SLOT_KSTACK,
	SLOT_USTACK,
	SLOT_KSYM,  /* sym(): mod`name */
	SLOT_KFUNC, /* func(): mod`name */
	SLOT_KMOD,  /* mod(): mod */
	SLOT_KADDR, /* %a: mod`name+0xoff; the last of the kernel's */
	SLOT_UADDR, /* uaddr(), %A: mod`name+0xoff; the first of those of user memory */
	SLOT_USYM,  /* usym() */
	SLOT_UFUNC, /* ufunc() */
	SLOT_UMOD,  /* umod() */
	SLOT_ULINE, /* uline(): file:line, or as uaddr() */
};

struct slot {
	uint8_t kind;    /* enum slot_kind */
	uint8_t width;   /* INT: 1, 2, 4 or 8 bytes as typed in D; FLOAT: 4, 8 or 16 */
	bool is_signed;  /* INT */
	uint16_t frames; /* stacks: most frames asked for */
	uint32_t offset; /* from the start of the record or key */
	uint32_t size;   /* bytes taken, a multiple of 8 */
	uint32_t bytes;  /* BYTES: those of them that are the value's */
};

#define SLOT_WHERE_BYTES 16u /* pid and generation, in front of what is of user memory */

/* A stack id in a key: the kernel's id of the stack in the image's stack map; with STACK_ID_LONG set, the rest is a key
 * of its overflow map; STACK_ID_NONE when the stack could not be taken.  With STACK_ID_DISPATCH the stack begins with
 * the frames that lead from a tracepoint to the program (bpf/cg_stack.c): who shows it leaves them out. */
#define STACK_ID_LONG (1ULL << 63)
#define STACK_ID_DISPATCH (1ULL << 62)
#define STACK_ID_NONE (~0ULL)

/* What the value of an aggregation holds.  8-byte words, summed over CPUs
 * unless said otherwise; for the histograms the last slot of the key is the
 * bucket's number and the value is its count. */
enum agg_fn {
	AGG_COUNT,    /* [0] n */
	AGG_SUM,      /* [0] sum; without a key also [1] n: a sum of 0 is not "never" */
	AGG_AVG,      /* [0] n, [1] sum */
	AGG_MIN,      /* [0] least (signed), [1] 1 once set */
	AGG_MAX,      /* [0] most (signed), [1] 1 once set */
	AGG_STDDEV,   /* [0] n, [1] sum, [2] low and [3] high half of the sum of squares */
	AGG_QUANTIZE, /* bucket 0..126: see facts/bucket.h */
	AGG_LQUANTIZE,
	AGG_LLQUANTIZE,
	AGG_NFN,
};

#endif
