/*
 * page_int.h: figures of a trace to the page that shows them.
 *
 *	page.c          the page of a trace, and how figures become cells
 *	page_changes.c  the page of two traces that are compared
 */
#ifndef TALLY_CAPTURE_PAGE_INT_H
#define TALLY_CAPTURE_PAGE_INT_H

#include "answer/page.h"
#include "ptt/stats.h"

struct ptt_page_in {
	const struct ptt_report *r;
	const struct ptt_lost *lost;
	const char *file;
	const char *(*device_name)(void *arg, uint32_t device);
	void *arg;
	uint32_t top;       /* most rows of a table */
	bool all_errors;    /* the log is not cut */
	bool top_told;      /* by the user: of those that are short by nature, too */
	bool pictures;      /* who reads it can see two lines one over the other, or is a program */
	bool time_told;     /* the user said what times are, */
	bool time_recorded; /* or the file did */
};
void ptt_page_build(struct an_page *p, const struct ptt_page_in *in);
void ptt_page_changes(struct an_page *p, const struct ptt_page_in *a, const struct ptt_page_in *b,
		      const struct ptt_change *change, uint32_t n);

struct an_cell page_cell_about(bool about, struct an_cell c);           /* the figure, marked as approximate if it is */
struct an_cell page_cell_span(bool sure, bool at_least, uint64_t span); /* ticks */
/* How many of n rows the table shows; it says how many are left out. */
uint32_t page_limit_rows(const struct ptt_page_in *in, uint32_t n, struct an_part *table);
/* Columns that text leaves out: those that are for programs, or hold the same in every row. */
void page_skip_columns(struct an_part *table, uint32_t first, uint32_t last);

#endif
