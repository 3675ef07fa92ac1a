/* emit_html.c: answers for a browser: pages alone. */
#include "answer/emit_int.h"

static void html_page(struct an_emit *e, const struct an_page *p)
{
	an_page_html(e->to, p);
}

const struct an_ops an_html_ops = { .page = html_page, .roomy = true };
