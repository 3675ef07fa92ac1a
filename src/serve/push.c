/*
 * push.c: stacks of aggregations, sent to a server that keeps profiles, as Pyroscope's agents send theirs: POST
 * /ingest. https://grafana.com/docs/pyroscope/latest/reference-server-api/
 *
 * Every so many seconds each aggregation with stacks is read, and what it counted since the reading before is a
 * profile. It has the name of its program and the labels `aggregation` and `hostname`, and its body is what /folded or
 * /debug/pprof/profile would say. One in which nothing was counted is not sent.
 *
 * Profiles wait in a queue, and one at a time is on its way.  A server that cannot be reached, or says that it is the
 * server's fault or that it has too much to do, gets the same profile again, after a second, then two, up to a minute. 
 * What it refuses is lost, and what does not fit into the queue: the oldest first.  Both are counted.
 *
 * libcurl does HTTP and TLS, in the service's one thread: its sockets are in an epoll set, whose descriptor the loop
 * waits for. Answers are not looked at but for a line of their words.
 *
 * A reading precedes each reload: what a program counted until then is sent, and no program takes the place of another
 * in memory between two readings.
 *
 * Refuses: redirections, so that profiles go where they were meant to; passwords in the URL, which whoever lists
 * processes sees.
 */
#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <sys/epoll.h>
#include <unistd.h>

#include "answer/flame.h"
#include "answer/pprof.h"
#include "base/file.h"
#include "serve/curl_int.h"
#include "serve/push_int.h"
#include "session/session.h"

#define SONAME "libcurl.so.4"
LIBRARY_NOTE("push", "tally serve --push", "suggested", SONAME);

#define WAITING_MOST 256u
#define WAITING_BYTES (8u << 20)
#define REQUEST_MS 10000L
#define RETRY_FIRST_NS UINT64_C(1000000000)
#define RETRY_LAST_NS UINT64_C(60000000000)
#define INGEST "/ingest"  /* a URL may end in it, or not */
#define SECONDS_USUAL 15u /* as Pyroscope's agents */
#define END_NS UINT64_C(5000000000)
#define END_MS 10
#define WORDS_MOST 120u /* of an answer */

struct push_source { /* an aggregation */
	struct program *program;
	char *name;
	uint64_t generation, since_ns; /* of its program; of the last reading */
	bool lacks;                    /* stacks of a sum below 0 were left out, and the log has it */
	struct an_flame past;
};
struct push_profile {
	char *url;
	struct buf body;
};
struct push {
	struct tally_serve *serve;
	struct curl_library lib;
	void *multi, *easy, *headers;
	int epoll;
	long timer_ms; /* as libcurl wants to be called; -1: not for time's sake */
	char *base, host[HOST_NAME_MAX + 1];
	struct push_source *source;
	uint32_t nsources, capsources;
	uint64_t read_ns;             /* when the sources were read */
	struct push_profile *waiting; /* the oldest first */
	uint32_t nwaiting, capwaiting;
	size_t bytes;     /* of them */
	bool sending;     /* the first of them is on its way */
	struct buf words; /* of the answer */
	uint64_t failed_ns,
		retry_ns; /* when the server last did not take one, and how long to wait then; 0: it took it */
	uint64_t sent, refused, dropped, tries;
	uint64_t left_out;        /* stacks of a sum below 0, of all profiles */
	char why[WORDS_MOST * 2]; /* the server did not take the last one; "" */
};

static uint64_t push_now(const struct push *p)
{
	return p->serve->o.clock(p->serve->o.arg);
}

/* ---- the library ---------------------------------------------------------------------- */

static int push_watch_socket(void *easy, int fd, int what, void *arg, void *known)
{
	const struct push *p = arg;
	struct epoll_event ev = { .events = (what & LIBCURL_POLL_IN ? EPOLLIN : 0u) |
					    (what & LIBCURL_POLL_OUT ? EPOLLOUT : 0u),
				  .data.fd = fd };

	(void)easy;
	(void)known;
	if (what == LIBCURL_POLL_REMOVE)
		(void)epoll_ctl(p->epoll, EPOLL_CTL_DEL, fd, NULL);
	else if (epoll_ctl(p->epoll, EPOLL_CTL_MOD, fd, &ev) < 0 && errno == ENOENT)
		(void)epoll_ctl(p->epoll, EPOLL_CTL_ADD, fd, &ev);
	return 0;
}

static int push_set_timer(void *multi, long ms, void *arg)
{
	struct push *p = arg;

	(void)multi;
	p->timer_ms = ms;
	return 0;
}

static size_t push_take_answer(const char *text, size_t size, size_t n, void *arg)
{
	struct push *p = arg;
	const size_t room = WORDS_MOST - (p->words.n < WORDS_MOST ? p->words.n : WORDS_MOST);

	buf_put(&p->words, text, size * n < room ? size * n : room);
	return size * n;
}

static int push_load(struct push *p, struct err *e)
{
	static const char *const names[] = {
#define X(result, name, parameters) "curl_" #name,
		CURL_FUNCTIONS(X)
#undef X
	};

	static_assert(sizeof(p->lib) == COUNT(names) * sizeof(void *), "a table of functions and nothing else");
	if (!library_load(SONAME, names, (void **)(void *)&p->lib, COUNT(names)))
		return err_set(e, TALLY_ENOTSUP, "--push requires libcurl, and %s cannot be loaded; %s", SONAME,
			       LIBRARY_WHY("as root: apt-get install libcurl4"));
	p->lib.global_init(LIBCURL_GLOBAL_ALL);
	p->multi = p->lib.multi_init();
	p->easy = p->lib.easy_init();
	p->headers = p->lib.slist_append(NULL, p->serve->o.flags & TALLY_SERVE_FOLDED ?
						       "Content-Type: text/plain; charset=utf-8" :
						       "Content-Type: application/octet-stream");
	if (!p->multi || !p->easy || !p->headers)
		return err_oom(e);
	p->lib.multi_setopt(p->multi, LIBCURL_MULTI_SOCKETFUNCTION, push_watch_socket);
	p->lib.multi_setopt(p->multi, LIBCURL_MULTI_SOCKETDATA, p);
	p->lib.multi_setopt(p->multi, LIBCURL_MULTI_TIMERFUNCTION, push_set_timer);
	p->lib.multi_setopt(p->multi, LIBCURL_MULTI_TIMERDATA, p);
	p->lib.easy_setopt(p->easy, LIBCURL_EASY_USERAGENT, "tally");
	p->lib.easy_setopt(p->easy, LIBCURL_EASY_HTTPHEADER, p->headers);
	p->lib.easy_setopt(p->easy, LIBCURL_EASY_NETRC, (long)LIBCURL_NETRC_OPTIONAL);
	p->lib.easy_setopt(p->easy, LIBCURL_EASY_TIMEOUT_MS, REQUEST_MS);
	p->lib.easy_setopt(p->easy, LIBCURL_EASY_WRITEFUNCTION, push_take_answer);
	p->lib.easy_setopt(p->easy, LIBCURL_EASY_WRITEDATA, p);
	return 0;
}

/* ---- life ------------------------------------------------------------------------------ */

int push_check_url(const char *url, struct err *e)
{
	const char *host = strstr(url, "://");
	const size_t n = host ? strcspn(host + 3, "/") : 0;

	if (!n || (strncmp(url, "http://", 7) != 0 && strncmp(url, "https://", 8) != 0) || url[strcspn(url, " ?#")])
		return err_set(e, TALLY_EINVAL,
			       "--push: invalid URL '%s' (expected http:// or "
			       "https:// and the server, such as http://127.0.0.1:4040)",
			       url);
	if (memchr(host + 3, '@', n))
		return err_set(e, TALLY_EINVAL,
			       "--push: a URL with a user is seen by all who list "
			       "processes; put user and password into ~/.netrc");
	return 0;
}

int push_open(struct push **ret, struct tally_serve *s, struct err *e)
{
	struct push *p = mem_alloc(sizeof(*p));
	size_t n;
	int rc;

	if (!p)
		return err_oom(e);
	*ret = p;
	p->serve = s;
	p->timer_ms = -1;
	p->epoll = epoll_create1(EPOLL_CLOEXEC);
	p->base = mem_strdup(s->o.push);
	if (!p->base || p->epoll < 0)
		return p->base ? err_set(e, TALLY_EIO, "failed to wait for sockets: %s", strerror(errno)) : err_oom(e);
	for (n = strlen(p->base); p->base[n - 1] == '/'; n--)
		p->base[n - 1] = '\0';
	if (n > strlen(INGEST) && !strcmp(p->base + n - strlen(INGEST), INGEST))
		p->base[n - strlen(INGEST)] = '\0';
	if (gethostname(p->host, sizeof(p->host) - 1) < 0)
		strcpy(p->host, "localhost");
	rc = push_load(p, e);
	p->read_ns = push_now(p);
	return rc;
}

static void push_drop(struct push *p, uint32_t i)
{
	struct push_profile *drop = &p->waiting[i];

	p->bytes -= drop->body.n;
	mem_free(drop->url);
	buf_free(&drop->body);
	p->nwaiting--;
	memmove(drop, drop + 1, (p->nwaiting - i) * sizeof(*drop));
}

static void push_drop_source(struct push *p, uint32_t i)
{
	an_flame_free(&p->source[i].past);
	mem_free(p->source[i].name);
	p->source[i] = p->source[--p->nsources];
}

void push_close(struct push *p)
{
	if (!p)
		return;
	if (p->sending)
		p->lib.multi_remove_handle(p->multi, p->easy);
	if (p->easy)
		p->lib.easy_cleanup(p->easy);
	if (p->multi)
		p->lib.multi_cleanup(p->multi);
	if (p->headers)
		p->lib.slist_free_all(p->headers);
	while (p->nwaiting)
		push_drop(p, 0);
	while (p->nsources)
		push_drop_source(p, 0);
	if (p->epoll >= 0)
		close(p->epoll);
	buf_free(&p->words);
	mem_free(p->waiting);
	mem_free(p->source);
	mem_free(p->base);
	mem_free(p);
}

/* ---- readings --------------------------------------------------------------------------- */

/* As names of services and values of labels are written there. */
static void push_put_name(struct buf *to, const char *text)
{
	for (; *text; text++)
		buf_putc(to, (*text >= 'a' && *text <= 'z') || (*text >= 'A' && *text <= 'Z') ||
					     (*text >= '0' && *text <= '9') || *text == '-' ?
				     *text :
				     '_');
}

/* BASE/ingest?name=tally-PROGRAM{aggregation=NAME,hostname=HOST}&...; from mem_alloc. */
static char *push_url(const struct push *p, const struct push_source *src, const struct an_flame *f, uint64_t now_ns)
{
	struct buf name = { 0 }, url = { 0 };
	char *escaped, *ret = NULL;

	buf_puts(&name, "tally-");
	push_put_name(&name, src->program->name);
	buf_puts(&name, "{aggregation=");
	push_put_name(&name, *src->name ? src->name : f->tree[0].function);
	buf_puts(&name, ",hostname=");
	push_put_name(&name, p->host);
	buf_putc(&name, '}');
	escaped = name.failed ? NULL : p->lib.easy_escape(p->easy, name.p, (int)name.n);
	if (escaped) {
		buf_printf(&url, "%s" INGEST "?name=%s&from=%llu&until=%llu&format=%s&spyName=tally", p->base, escaped,
			   (unsigned long long)(src->since_ns / 1000000000), (unsigned long long)(now_ns / 1000000000),
			   p->serve->o.flags & TALLY_SERVE_FOLDED ? "folded" : "pprof");
		buf_printf(&url, "&units=%s&aggregationType=sum",
			   strcmp(an_flame_unit(&f->tree[0]), "bytes") ? "samples" : "bytes");
		ret = url.failed ? NULL : mem_strdup(url.p);
		p->lib.free(escaped);
	}
	buf_free(&name);
	buf_free(&url);
	return ret;
}

/* The one that is on its way stays. */
static void push_make_room(struct push *p, size_t bytes)
{
	const uint32_t first = p->sending ? 1 : 0;

	while (p->nwaiting > first && (p->nwaiting >= WAITING_MOST || p->bytes + bytes > WAITING_BYTES)) {
		push_drop(p, first);
		p->dropped++;
	}
}

/* Puts what was counted into the queue; false: it is lost. */
static bool push_queue(struct push *p, const struct push_source *src, struct an_flame *f, uint64_t now_ns)
{
	const struct an_pprof about = { .began_ns = src->since_ns,
					.lasted_ns = now_ns > src->since_ns ? now_ns - src->since_ns : 0 };
	struct push_profile made = { 0 }, *slot;

	an_flame_sort(f);
	if (p->serve->o.flags & TALLY_SERVE_FOLDED)
		an_folded_put(&made.body, f);
	else
		an_pprof_put(&made.body, f, &about);
	made.url = f->failed || made.body.failed ? NULL : push_url(p, src, f, now_ns);
	if (made.url && made.body.n <= WAITING_BYTES) {
		push_make_room(p, made.body.n);
		slot = VEC_NEW(p->waiting, p->nwaiting, p->capwaiting);
		if (slot) {
			*slot = made;
			p->bytes += made.body.n;
			return true;
		}
	}
	mem_free(made.url);
	buf_free(&made.body);
	return false;
}

static struct push_source *push_source_of(struct push *p, struct program *program, const char *name)
{
	struct push_source *src;

	for (uint32_t i = 0; i < p->nsources; i++)
		if (p->source[i].program == program && !strcmp(p->source[i].name, name))
			return &p->source[i];
	src = VEC_NEW(p->source, p->nsources, p->capsources);
	if (!src)
		return NULL;
	*src = (struct push_source){
		.program = program, .name = mem_strdup(name), .generation = program->generation, .since_ns = p->read_ns
	};
	if (src->name)
		return src;
	p->nsources--;
	return NULL;
}

struct push_reading {
	struct push *p;
	struct program *program;
	uint64_t now_ns;
};

static bool push_has_counts(const struct an_flame *f)
{
	for (uint32_t i = 1; i < f->nnodes; i++)
		if (f->node[i].self)
			return true;
	return false;
}

/* Pyroscope drops samples of a sum below 0, and says nothing: so they are left out here, and counted. */
static void push_leave_out(struct push *p, struct push_source *src, struct an_flame *f)
{
	const uint64_t n = an_flame_leave_out_negative(f);

	p->left_out += n;
	if (n && !src->lacks)
		serve_note(p->serve,
			   "push: %s of %s: stacks with a sum below 0 are left out, for servers of profiles keep none; "
			   "/debug/pprof/profile has them",
			   f->tree[0].label, src->program->name);
	src->lacks |= n != 0;
}

static int push_take_aggregation(void *arg, uint32_t number, const struct an_agg *a)
{
	const struct push_reading *c = arg;
	struct an_flame now = { 0 }, since = { 0 };
	struct push_source *src;

	(void)number;
	if (!an_flame_takes(a) || !an_flame_has_stacks(a))
		return 0;
	src = push_source_of(c->p, c->program, a->name);
	an_flame_add(&now, a);
	an_flame_add(&since, a);
	if (!src || now.failed || since.failed) { /* the next reading has it */
		an_flame_free(&now);
		an_flame_free(&since);
		return 0;
	}
	an_flame_subtract(&since, &src->past);
	push_leave_out(c->p, src, &since);
	if (push_has_counts(&since) && !push_queue(c->p, src, &since, c->now_ns))
		c->p->dropped++;
	an_flame_free(&since);
	an_flame_free(&src->past);
	src->past = now;
	src->since_ns = c->now_ns;
	return 0;
}

/* Sources of programs that are gone or were replaced begin anew. */
static void push_forget_sources(struct push *p)
{
	const struct tally_serve *s = p->serve;

	for (uint32_t i = p->nsources; i-- > 0;) {
		bool found = false;

		for (uint32_t k = 0; k < s->nprograms; k++)
			found |= s->program[k] == p->source[i].program &&
				 s->program[k]->generation == p->source[i].generation;
		if (!found)
			push_drop_source(p, i);
	}
}

void push_read(struct push *p, bool now)
{
	struct push_reading c = { .p = p };
	uint64_t every_ns;

	if (!p)
		return;
	every_ns = (p->serve->o.push_seconds ? p->serve->o.push_seconds : SECONDS_USUAL) * UINT64_C(1000000000);
	c.now_ns = push_now(p);
	if (!now && c.now_ns >= p->read_ns && c.now_ns - p->read_ns < every_ns)
		return;
	push_forget_sources(p);
	for (uint32_t i = 0; i < p->serve->nprograms; i++) {
		c.program = p->serve->program[i];
		if (c.program->trace)
			(void)session_walk_aggregations(c.program->trace, push_take_aggregation, &c);
	}
	p->read_ns = c.now_ns;
}

/* ---- sending ------------------------------------------------------------------------------ */

static void push_send_first(struct push *p)
{
	const struct push_profile *first = p->waiting;

	buf_clear(&p->words);
	p->lib.easy_setopt(p->easy, LIBCURL_EASY_URL, first->url);
	p->lib.easy_setopt(p->easy, LIBCURL_EASY_POSTFIELDS, first->body.p);
	p->lib.easy_setopt(p->easy, LIBCURL_EASY_POSTFIELDSIZE_LARGE, (int64_t)first->body.n);
	p->sending = p->lib.multi_add_handle(p->multi, p->easy) == 0;
	p->tries++;
}

/* Whether the server took it; why has what it said if not. */
static bool push_note_result(struct push *p, int code, long status)
{
	const bool took = !code && status >= 200 && status < 300, failed_before = *p->why;
	const char *words = p->words.n ? p->words.p : "";
	const int n = (int)strcspn(words, "\r\n");

	if (took)
		*p->why = '\0';
	else if (code)
		snprintf(p->why, sizeof(p->why), "%s", p->lib.easy_strerror(code));
	else
		snprintf(p->why, sizeof(p->why), "HTTP %ld%s%.*s", status, n ? ": " : "", n, words);
	if (!took && !failed_before)
		serve_note(p->serve, "push: the server does not take profiles: %s", p->why);
	if (took && failed_before)
		serve_note(p->serve, "push: the server takes profiles again");
	return took;
}

static void push_take_result(struct push *p, int code)
{
	long status = 0;
	bool took;

	p->lib.easy_getinfo(p->easy, LIBCURL_INFO_RESPONSE_CODE, &status);
	p->lib.multi_remove_handle(p->multi, p->easy);
	p->sending = false;
	took = push_note_result(p, code, status);
	if (code || status >= 500 || status == 408 || status == 429) {
		p->failed_ns = push_now(p);
		p->retry_ns = p->retry_ns ? p->retry_ns * 2 : RETRY_FIRST_NS;
		if (p->retry_ns > RETRY_LAST_NS)
			p->retry_ns = RETRY_LAST_NS;
		return;
	}
	p->retry_ns = 0;
	p->sent += took;
	p->refused += !took;
	push_drop(p, 0);
}

/* Milliseconds until the first may be sent again; 0: now. */
static int push_retry_ms(const struct push *p)
{
	const uint64_t now = push_now(p);

	if (!p->retry_ns || now < p->failed_ns || now - p->failed_ns >= p->retry_ns)
		return 0;
	return (int)((p->retry_ns - (now - p->failed_ns)) / 1000000 + 1);
}

void push_run(struct push *p)
{
	struct epoll_event ev[16];
	const struct curl_message *m;
	int n, left;

	if (!p)
		return;
	n = epoll_wait(p->epoll, ev, (int)COUNT(ev), 0);
	for (int i = 0; i < n; i++)
		p->lib.multi_socket_action(p->multi, ev[i].data.fd,
					   (ev[i].events & EPOLLIN ? LIBCURL_SELECT_IN : 0) |
						   (ev[i].events & EPOLLOUT ? LIBCURL_SELECT_OUT : 0) |
						   (ev[i].events & (EPOLLERR | EPOLLHUP) ? LIBCURL_SELECT_ERR : 0),
					   &left);
	p->lib.multi_socket_action(p->multi, LIBCURL_SOCKET_TIMEOUT, 0, &left);
	while ((m = p->lib.multi_info_read(p->multi, &left)) != NULL)
		if (m->kind == LIBCURL_MESSAGE_DONE)
			push_take_result(p, m->result.code);
	if (!p->sending && p->nwaiting && !push_retry_ms(p))
		push_send_first(p);
}

int push_wait_ms(const struct push *p)
{
	return !p ? -1 : p->sending ? (int)p->timer_ms : p->nwaiting ? push_retry_ms(p) : -1;
}

int push_fd(const struct push *p)
{
	return p ? p->epoll : -1;
}

void push_end(struct push *p)
{
	struct epoll_event ev;
	uint64_t began;

	if (!p)
		return;
	push_read(p, true);
	began = push_now(p);
	service_raise_rights(false);
	p->retry_ns = 0; /* once more, at once */
	while (p->nwaiting && !p->retry_ns && push_now(p) - began < END_NS) {
		const int ms = push_wait_ms(p);

		(void)epoll_wait(p->epoll, &ev, 1, ms < 0 || ms > END_MS ? END_MS : ms);
		push_run(p);
	}
	service_raise_rights(true);
	if (p->nwaiting)
		serve_note(p->serve, "push: %u profile%s did not reach the server and %s lost", p->nwaiting,
			   p->nwaiting == 1 ? "" : "s", p->nwaiting == 1 ? "is" : "are");
}

/* ---- what is said of it -------------------------------------------------------------------- */

void push_put_metrics(const struct push *p, enum format f, struct buf *to)
{
	if (!p)
		return;
	metric_head_own(to, f, OWN_profiles_pushed);
	buf_printf(to, "tally_profiles_pushed_total %llu\n", (unsigned long long)p->sent);
	metric_head_own(to, f, OWN_profiles_lost);
	buf_printf(to, "tally_profiles_lost_total{cause=\"refused\"} %llu\n", (unsigned long long)p->refused);
	buf_printf(to, "tally_profiles_lost_total{cause=\"queue\"} %llu\n", (unsigned long long)p->dropped);
	metric_head_own(to, f, OWN_profiles_waiting);
	buf_printf(to, "tally_profiles_waiting %u\n", p->nwaiting);
	metric_head_own(to, f, OWN_push_tries);
	buf_printf(to, "tally_push_tries_total %llu\n", (unsigned long long)p->tries);
}

void push_put_status(const struct push *p, struct buf *to)
{
	if (!p)
		return;
	buf_printf(
		to,
		",\"push\":{\"pushed\":%llu,\"refused\":%llu,\"dropped\":%llu,\"waiting\":%u,\"stacks_left_out\":%llu,"
		"\"reason\":",
		(unsigned long long)p->sent, (unsigned long long)p->refused, (unsigned long long)p->dropped,
		p->nwaiting, (unsigned long long)p->left_out);
	buf_json_str(to, p->why, strlen(p->why));
	buf_putc(to, '}');
}
