/*
 * page_int.h: what the forms of a page share.
 *
 *	page.c         building
 *	page_figure.c  one figure, for people and for programs; CSV
 *	page_text.c    for a terminal
 *	page_json.c    for programs
 *	page_html.c    for a browser; page_style.h and page_script.h are what it carries
 *	page_flame.c   a flame graph for a browser, with page_flame_style.h and page_flame_script.h
 */
#ifndef TALLY_ANSWER_PAGE_INT_H
#define TALLY_ANSWER_PAGE_INT_H

#include "answer/page.h"

static inline uint32_t an_nrows(const struct an_table *t)
{
	return t->ncols ? t->ncells / t->ncols : 0;
}
static inline struct an_cell an_cell_u(uint64_t v)
{
	return AN_U(v);
}
/* A value of a line: for people, and for programs. */
void an_line_figure(struct buf *to, uint8_t unit, const struct an_line *line, uint64_t v);
void an_line_json(struct buf *to, const struct an_line *line, uint64_t v);
/* What a bar is called: one value or a range. */
void an_bar_label(struct buf *to, uint8_t unit, const struct an_bar *b);
uint64_t an_bars_total(const struct an_bars *b);
/* The rows between the first and the last with a count; *first is *end where there is none. */
void an_heat_rows(const struct an_heat *h, uint32_t *first, uint32_t *end);
bool an_part_is_empty(const struct an_part *p); /* people are not shown it, nor its title */
/* For HTML: escaped, also for attributes in double quotes; a JSON string inside a <script>. */
void an_html_put_text(struct buf *to, const char *s);
void an_html_put_script_string(struct buf *to, const char *s);
void an_html_put_flame(struct buf *to, const struct an_part *p);
void an_count(struct buf *to, uint64_t v); /* 1,234,567 */
extern const char *const an_unit_names[AN_NUNITS];

#endif
