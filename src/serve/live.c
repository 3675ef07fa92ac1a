/*
 * live.c: the page, and the steps that it is sent while it is open.
 *
 * A page gets server-sent events: "state", which is all there is now, "past" for each step before, the newest first,
 * and then "step" as they come. A page that is too slow for the history misses a step, and gets the state anew. So all
 * pages share the texts of the history, and each costs a copy of one text, or of the state. A page without anything to
 * send is suspended, and libmicrohttpd asks for nothing.
 *
 * Programs are read for a step while a page is open, or always with `history` of the options: each reading costs
 * firings.
 */
#include <string.h>

#include "answer/page_flame_script.h"
#include "answer/page_flame_style.h"
#include "serve/history_int.h"
#include "serve/http_int.h"
#include "serve/live_int.h"
#include "session/session.h"

#define PAGES_MOST 16u
#define BLOCK_BYTES (64u << 10)
#define USUAL_SPAN_NS (600ull * 1000000000)

struct live_client {
	struct live *live;
	struct http *http;
	struct MHD_Connection *connection;
	struct buf out; /* the event that is sent, from `sent` on */
	size_t sent;
	uint64_t past, next; /* the steps that are sent next: backwards from the state, 0: no more; and forwards */
	bool started, suspended;
};
struct live {
	struct tally_serve *serve;
	struct history *history;
	struct live_client *client[PAGES_MOST];
	uint64_t step_ns, last_ns; /* last_ns: of the last step, 0: there was none */
	struct buf page;           /* made when somebody asks for it first */
	uint64_t rest_ns;          /* until the next one, at least: a reading that takes long is not all that is done */
	bool ends;
};

/* ---- life ------------------------------------------------------------------------------ */

int live_open(struct live **ret, struct tally_serve *s)
{
	const struct history_opts o = { .span_ns = s->o.history ? s->o.history * 1000000000ull : USUAL_SPAN_NS,
					.bytes = HISTORY_BYTES,
					.keys = HISTORY_KEYS,
					.text_bytes = HISTORY_TEXT_BYTES };
	struct live *l = mem_alloc(sizeof(*l));

	if (!l || history_open(&l->history, &o) < 0) {
		mem_free(l);
		return -TALLY_ENOMEM;
	}
	l->serve = s;
	l->step_ns = history_step_ns(l->history);
	*ret = l;
	return 0;
}

static void client_wake(struct live_client *c)
{
	if (!c->suspended)
		return;
	c->suspended = false;
	http_resume(c->http, c->connection);
}

void live_resume(struct live *l)
{
	for (uint32_t i = 0; l && i < PAGES_MOST; i++)
		if (l->client[i])
			client_wake(l->client[i]);
}

void live_end(struct live *l)
{
	if (!l)
		return;
	l->ends = true;
	live_resume(l);
}

void live_close(struct live *l)
{
	if (!l)
		return;
	history_close(l->history);
	buf_free(&l->page);
	mem_free(l);
}

/* ---- steps -------------------------------------------------------------------------------- */

static int live_take_definition(void *arg, const struct tally_aggregation *a)
{
	return history_define(arg, a);
}

static int live_take_drop(void *arg, const char *kind, uint64_t count)
{
	history_drop(arg, kind, count);
	return 0;
}

static int live_take_loss(void *arg, const char *kind, const char *text, uint64_t count)
{
	(void)text;
	history_drop(arg, kind, count);
	return 0;
}

static int live_take_aggregation(void *arg, uint32_t number, const struct an_agg *a)
{
	return history_take(arg, number, a);
}

static void live_step(struct live *l, uint64_t now_ns)
{
	uint64_t end_ns;

	history_begin(l->history, now_ns);
	for (uint32_t i = 0; i < l->serve->nprograms; i++) {
		const struct program *p = l->serve->program[i];
		const struct history_facts f = { p->name, p->path, program_state_text(p), p->why.text, p->generation };
		const int rc = history_program(l->history, &f);
		uint64_t lost;

		if (rc >= 0 && p->watch)
			(void)watch_losses(p->watch, live_take_loss, l->history);
		if (rc < 0 || !p->trace)
			continue;
		if (rc == 1)
			(void)tally_trace_aggregations(p->trace, live_take_definition, l->history);
		(void)tally_trace_drops(p->trace, live_take_drop, l->history);
		if (program_firings_lost(p, &lost) >= 0)
			history_drop(l->history, "firing", lost);
		(void)session_walk_aggregations(p->trace, live_take_aggregation, l->history);
	}
	(void)history_end(l->history);
	l->last_ns = now_ns;
	end_ns = l->serve->o.clock(l->serve->o.arg);
	l->rest_ns = end_ns > now_ns && 2 * (end_ns - now_ns) > l->step_ns ? 2 * (end_ns - now_ns) : l->step_ns;
	live_resume(l);
}

int live_work(struct live *l, uint64_t now_ns)
{
	bool wanted = l->serve->o.history;
	uint64_t left;

	for (uint32_t i = 0; i < PAGES_MOST; i++)
		wanted |= l->client[i] != NULL;
	if (!wanted)
		return -1;
	if (!l->last_ns || now_ns < l->last_ns || now_ns - l->last_ns >= l->rest_ns)
		live_step(l, now_ns);
	left = now_ns - l->last_ns < l->rest_ns ? l->rest_ns - (now_ns - l->last_ns) : 0;
	return (int)(left / 1000000 + 1);
}

/* ---- events ---------------------------------------------------------------------------------- */

static void client_put_event(struct live_client *c, const char *name, const struct buf *data)
{
	buf_printf(&c->out, "event: %s\ndata: ", name);
	buf_put(&c->out, data->p, data->n);
	buf_puts(&c->out, "\n\n");
}

/* The next event to c->out; false: there is none yet. */
static bool client_fill(struct live_client *c)
{
	struct history *h = c->live->history;
	const uint64_t newest = history_newest(h);
	const struct buf *step = c->past ? history_step(h, c->past) : NULL;
	struct buf state = { 0 };

	buf_clear(&c->out);
	c->sent = 0;
	if (step) {
		client_put_event(c, "past", step);
		c->past--;
		return true;
	}
	c->past = 0;
	if (c->started && c->next > newest)
		return false;
	step = c->started ? history_step(h, c->next) : NULL;
	if (step) {
		client_put_event(c, "step", step);
		c->next++;
		return true;
	}
	if (!newest || history_put_state(h, &state) < 0) {
		buf_free(&state);
		return false;
	}
	client_put_event(c, "state", &state);
	buf_free(&state);
	c->started = true;
	c->past = newest;
	c->next = newest + 1;
	return true;
}

static ssize_t live_read(void *arg, uint64_t at, char *to, size_t most)
{
	struct live_client *c = arg;
	size_t n;

	(void)at;
	if (c->live->ends || c->out.failed)
		return MHD_CONTENT_READER_END_OF_STREAM;
	if (c->sent == c->out.n && !client_fill(c)) {
		c->suspended = true;
		http_suspend(c->http, c->connection);
		return 0;
	}
	if (c->out.failed)
		return MHD_CONTENT_READER_END_OF_STREAM;
	n = c->out.n - c->sent < most ? c->out.n - c->sent : most;
	memcpy(to, c->out.p + c->sent, n);
	c->sent += n;
	return (ssize_t)n;
}

static void live_forget(void *arg)
{
	struct live_client *c = arg;

	for (uint32_t i = 0; i < PAGES_MOST; i++)
		if (c->live->client[i] == c)
			c->live->client[i] = NULL;
	buf_free(&c->out);
	mem_free(c);
}

enum MHD_Result http_get_live(struct http_request *q)
{
	struct live *l = q->http->serve->live;
	struct live_client *c;
	struct MHD_Response *r;
	uint32_t i = 0;

	while (i < PAGES_MOST && l->client[i])
		i++;
	if (i == PAGES_MOST)
		return http_say(q, MHD_HTTP_SERVICE_UNAVAILABLE, "16 pages are open already; close one");
	c = mem_alloc(sizeof(*c));
	if (!c)
		return MHD_NO;
	*c = (struct live_client){ .live = l, .http = q->http, .connection = q->connection };
	r = q->http->lib.create_response_from_callback(MHD_SIZE_UNKNOWN, BLOCK_BYTES, live_read, c, live_forget);
	if (!r) {
		mem_free(c);
		return MHD_NO;
	}
	l->client[i] = c;
	http_last(q, true);
	return http_send(q, MHD_HTTP_OK, "text/event-stream", NULL, r);
}

/* ---- the page ---------------------------------------------------------------------------------- */

/* clang-format off */
#define PAGE_FILE(name)                                     \
	__asm__(".pushsection .rodata\n"                    \
		"live_page_" #name ":\n"                    \
		".incbin \"src/serve/page." #name "\"\n"    \
		".byte 0\n"                                 \
		".popsection\n");                           \
	extern const char live_page_##name[]
/* clang-format on */
PAGE_FILE(css);
PAGE_FILE(html);
PAGE_FILE(js);

/* The SHA-256 of the page's script, which must be changed with it (a test computes it anew). */
#define LIVE_SCRIPT_HASH "qYm0BHAGl6fQj84F+yV8UodCjWEMfJjmC+AEWtPwYJ8="

static void live_put_page(struct buf *to)
{
	buf_puts(to, "<!doctype html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n"
		     "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n<title>tally</title>\n"
		     "<link rel=\"icon\" href=\"data:,\">\n<style>" AN_PAGE_STYLE "\n" AN_FLAME_STYLE "\n");
	buf_puts(to, live_page_css);
	buf_puts(to, "</style>\n</head>\n");
	buf_puts(to, live_page_html);
	buf_puts(to, "<script>" AN_FLAME_SCRIPT "</script>\n<script>");
	buf_puts(to, live_page_js);
	buf_puts(to, "</script>\n</body>\n</html>\n");
}

/* All clients are sent the same bytes: however many read slowly, they are there once. */
enum MHD_Result http_get_page(struct http_request *q)
{
	static const char policy[] =
		"default-src 'none'; connect-src 'self'; style-src 'unsafe-inline'; img-src data:; "
		"script-src 'sha256-" AN_FLAME_SCRIPT_HASH "' 'sha256-" LIVE_SCRIPT_HASH "'; base-uri 'none'; "
		"form-action 'none'; frame-ancestors 'none'";
	struct buf *page = &q->http->serve->live->page;
	struct MHD_Response *r = NULL;

	if (!page->n)
		live_put_page(page);
	if (page->failed)
		buf_free(page);
	else
		r = q->http->lib.create_response_from_buffer(page->n, page->p, MHD_RESPMEM_PERSISTENT);
	return r ? http_send(q, MHD_HTTP_OK, "text/html; charset=utf-8", policy, r) : MHD_NO;
}
