/*
 * vminfo.c: what virtual memory does (Dynamic Tracing Guide, "vminfo Provider"), from the kernel's tracepoints.
 *
 * A probe stands for a statistic: arg0 is what it grows by.  Solaris has arg1 for the address of the statistic, which
 * is NULL here.
 */
#include "provider/provider_int.h"

/* One description for all of them, so that one clause may be of all. Word 3 is made up: 1 where the pages of a request
 * count. */
static const struct d_args vminfo_args[] = {
	{ .value = "uint64_t", .text = "__word3 ? (((struct bio *)__word0)->bi_iter.bi_size + 4095) / 4096 : 1" },
	{ .value = "uint64_t *", .text = "(uint64_t *)0" },
};
#define COUNTS_PAGES .constant_at = 3, .constant = 1

#define OPERATION(mask, how)                                                                     \
	{                                                                                        \
		.word = 0, .at = { { "bio", "bi_opf" } }, .bytes = 4, .test = how, .value = mask \
	}
#define READS .when = { OPERATION(0xff, WHEN_CLEAR) }, .nwhen = 1
#define WRITES .when = { OPERATION(1, WHEN_SET), OPERATION(0xfe, WHEN_CLEAR) }, .nwhen = 2
#define NOT_MARKED "a mark in the kernel's memory management, which Linux has not"

static const struct point_row vminfo_rows[] = {
	{ .name = "as_fault", .point = { { .name = "page_fault_user", .nargs = 3 } }, POINT_ARGS(vminfo_args) },
	/* the page is there, and may not be used so: bit 0 of the processor's code */
	{ .name = "prot_fault",
	  .point = { { .name = "page_fault_user",
		       .nargs = 3,
		       .when = { { .word = 2, .test = WHEN_SET, .value = 1 } },
		       .nwhen = 1 } },
	  POINT_ARGS(vminfo_args) },
	{ .name = "kernel_asflt", .point = { { .name = "page_fault_kernel", .nargs = 3 } }, POINT_ARGS(vminfo_args) },
	{ .name = "maj_fault", .point = { { .name = "mm_filemap_fault", .nargs = 2 } }, POINT_ARGS(vminfo_args) },
	{ .name = "pgin", .point = { { .name = "block_bio_queue", .nargs = 1, READS } }, POINT_ARGS(vminfo_args) },
	{ .name = "pgpgin",
	  .point = { { .name = "block_bio_queue", .nargs = 1, COUNTS_PAGES, READS } },
	  POINT_ARGS(vminfo_args) },
	{ .name = "pgout", .point = { { .name = "block_bio_queue", .nargs = 1, WRITES } }, POINT_ARGS(vminfo_args) },
	{ .name = "pgpgout",
	  .point = { { .name = "block_bio_queue", .nargs = 1, COUNTS_PAGES, WRITES } },
	  POINT_ARGS(vminfo_args) },
#define NONE(text) { .name = text, .lacks = NOT_MARKED },
	NONE("anonfree") NONE("anonpgin") NONE("anonpgout") NONE("cow_fault") NONE("dfree") NONE("execfree")
		NONE("execpgin") NONE("execpgout") NONE("fsfree") NONE("fspgin") NONE("fspgout") NONE("hat_fault")
			NONE("pgfrec") NONE("pgrec") NONE("pgrrun") NONE("pgswapin") NONE("pgswapout") NONE("rev")
				NONE("scan") NONE("softlock") NONE("swapin") NONE("swapout") NONE("zfod")
#undef NONE
};

const struct provider prov_vminfo = {
	.name = "vminfo",
	.help = "virtual memory: faults, pages read and written",
	.is_long = true,
	.has_places = true,
	PROV_EVOLVING(DEP_ISA),
	.row = vminfo_rows,
	.nrows = COUNT(vminfo_rows),
};
