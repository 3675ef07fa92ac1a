/*
 * io.c: requests of block devices (Dynamic Tracing Guide, "io Provider"), from the kernel's tracepoints.
 *
 * A request begins when it is handed to the device's driver, and ends when the device is done with it: what the kernel
 * counts in /sys/block/DEVICE/stat.  What waits in a queue before that has not begun.  Devices that hand requests on to
 * others without a queue of their own (zram, dm) have none of their own.
 */
#include "provider/provider_int.h"

#define REQUEST "((struct request *)__word0)"

/* Word 1 is the status of a request that ends, word 2 are the bytes that it is about, and word 3 says that it ends.
 * They are 0 before that. */

static const struct d_args io_args[] = {
	{ .value = "bufinfo_t *", .text = "xlate <bufinfo_t *> ((struct __io_request *)__word0)" },
	{ .value = "devinfo_t *", .text = "xlate <devinfo_t *> (" REQUEST ")" },
	{ .value = "fileinfo_t *", .text = "xlate <fileinfo_t *> (" REQUEST ")" },
};

#define BIO "((struct bio *)__word0)"
static const struct d_args wait_args[] = {
	{ .value = "bufinfo_t *", .text = "xlate <bufinfo_t *> (" BIO ")" },
	{ .value = "devinfo_t *", .text = "xlate <devinfo_t *> (" BIO "->bi_bdev)" },
	{ .value = "fileinfo_t *", .text = "xlate <fileinfo_t *> (" BIO ")" },
};

#define FUNCTION "a probe at a function of the kernel (CONFIG_FUNCTION_TRACER)"

static const struct point_row io_rows[] = {
	{ .name = "start", .point = { { .name = "block_rq_issue", .nargs = 1 } }, POINT_ARGS(io_args) },
	{ .name = "done",
	  .point = { { .name = "block_rq_complete", .nargs = 3, .constant_at = 3, .constant = 1 } },
	  POINT_ARGS(io_args) },
	{ .name = "wait-start",
	  .point = { { .name = "submit_bio_wait", .at = POINT_ENTRY, .nargs = 1 } },
	  POINT_ARGS(wait_args),
	  .lacks = FUNCTION },
	{ .name = "wait-done",
	  .point = { { .name = "submit_bio_wait", .at = POINT_RETURN, .nargs = 1 } },
	  POINT_ARGS(wait_args),
	  .lacks = "a probe at the return of a function of the kernel (fexit: CONFIG_FUNCTION_TRACER)" },
};

const struct provider prov_io = {
	.name = "io",
	.help = "requests of block devices: start, done, wait-start, wait-done",
	.is_long = true,
	.has_places = true,
	PROV_EVOLVING(DEP_ISA),
	.row = io_rows,
	.nrows = COUNT(io_rows),
};
