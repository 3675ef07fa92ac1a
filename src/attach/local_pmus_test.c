/*
 * local_pmus_test.c: the client of a PTT server that does not do as doc/protocol.md says.
 *
 * The server is a child process that answers as a machine with one device and three filters would, in pages of two; its
 * trace is five commits of two pieces each. Of one of its answers a word is bent, or bytes are cut off or added. What
 * is not asked as the protocol has it is refused.
 */
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>
#include <cmocka.h>

#include "attach/attach.h"
#include "attach/local.h"
#include "ptt/rule.h"

/* Of the answer number `nth` (from 0; EACH: of all) to `op`. */
#define EACH UINT32_MAX
enum { COMMITS = 5 };

struct bend {
	uint16_t op;
	uint32_t nth;
	int32_t more; /* bytes added, or cut off */
	uint32_t at, value;
	uint16_t status; /* of an error: the payload is its words */
	uint32_t flood;  /* so many pieces that nobody asked for go before it */
};

#define BEND(of, number, bytes, offset, word)                                       \
	{                                                                           \
		.op = of, .nth = number, .more = bytes, .at = offset, .value = word \
	}

/* ---- the server ----------------------------------------------------------------------------------------------- */

#define PUT(...) (memcpy(out + n, &(__VA_ARGS__), sizeof(__VA_ARGS__)), n += sizeof(__VA_ARGS__))

static size_t answer(uint16_t op, uint32_t nth, const uint8_t *in, uint8_t *out)
{
	size_t n = 0;

	if (op == LOCAL_HELLO) {
		PUT((struct local_welcome){ LOCAL_VERSION, LOCAL_RIGHTS, LOCAL_FRAME_MOST, LOCAL_PENDING_MOST,
					    "kunpeng" });
	} else if (op == LOCAL_PTT_LIST) {
		PUT((struct local_devices){ 1, 7 });
		PUT((struct local_pmu){ "hisi_ptt0_2", "0-31", 5, 3 });
	} else if (op == LOCAL_PTT_FILTERS) {
		struct local_from ask;

		memcpy(&ask, in, sizeof(ask));
		PUT((struct local_filters){ 7, 3, ask.from, ask.from ? 1 : 2 });
		if (!ask.from) {
			PUT((struct local_filter){ "0000:80:00.0", 0x8001, 1 });
			PUT((struct local_filter){ "0000:81:00.0", 0x8100, 0 });
		} else {
			PUT((struct local_filter){ "0000:81:00.1", 0x8101, 0 });
		}
	} else if (op == LOCAL_PTT_TUNE_GET) {
		PUT((struct local_value){ 42, 0 });
	} else if (op == LOCAL_PTT_COUNTS) {
		PUT((struct local_counts){ .now_ns = 1000 });
	} else if (op == LOCAL_PTT_LINK) {
		PUT((struct local_link){ .now_ns = 2000, .tlps = { { 1, 2 } }, .bytes = { { 3 }, { 4 } } });
	} else if (op == LOCAL_PTT_NEXT && nth < 2 * COMMITS) {
		PUT((struct local_piece){ 64, 32 * (nth % 2), 9, nth % 2 ? LOCAL_PIECE_TRUNCATED : 0, 0 });
		memset(out + n, 'a' + (int)nth, 32);
		n += 32;
	} else if (op == LOCAL_PTT_NEXT) {
		PUT((struct local_piece){ .flags = LOCAL_PIECE_END });
	}
	return n;
}

/* Requests: reserved words are 0, and so is the device. */
static bool is_good(uint16_t op, const uint8_t *in, size_t n)
{
	struct local_assign to;
	uint32_t w[2];

	if (op == LOCAL_HELLO || op == LOCAL_PTT_LIST)
		return true;
	memcpy(w, in, sizeof(w));
	if (op == LOCAL_PTT_TUNE_SET) {
		memcpy(&to, in, sizeof(to));
		return n == sizeof(to) && !to.device && to.at == ptt_tunables[0].code && to.value == 7 && !to.zero;
	}
	if (op == LOCAL_PTT_TUNE_GET)
		return !w[0] && w[1] == ptt_tunables[0].code;
	return !w[0] && (op == LOCAL_PTT_FILTERS || !w[1]);
}

static bool whole(int fd, void *p, size_t n)
{
	return recv(fd, p, n, MSG_WAITALL) == (ssize_t)n;
}

/* As large as a frame may be. */
static void put_unasked(int fd, uint64_t id)
{
	static uint8_t out[LOCAL_FRAME_MOST];
	const struct local_head h = { sizeof(out), LOCAL_PTT_NEXT, 0, id };

	memcpy(out, &h, sizeof(h));
	for (size_t at = 0; at < sizeof(out);) {
		ssize_t n = send(fd, out + at, sizeof(out) - at, MSG_NOSIGNAL);

		if (n <= 0)
			_exit(1);
		at += (size_t)n;
	}
}

static void serve(int listening, const struct bend *b)
{
	uint32_t seen[0x200] = { 0 };
	uint8_t in[256], out[1024] = { 0 };
	struct local_head h;
	int fd = accept(listening, NULL, NULL);

	while (fd >= 0 && whole(fd, &h, sizeof(h)) && h.bytes - sizeof(h) <= sizeof(in) &&
	       (h.bytes == sizeof(h) || whole(fd, in, h.bytes - sizeof(h)))) {
		const uint32_t nth = seen[h.op & 0x1ff]++;
		const bool bent = b && h.op == b->op && (nth == b->nth || b->nth == EACH);
		size_t n;

		memset(out, 0, sizeof(out));
		n = answer(h.op, nth, in, out + sizeof(h));
		if (!is_good(h.op, in, h.bytes - sizeof(h)))
			h.status = local_status(-TALLY_EINVAL);
		if (bent) {
			n = (size_t)((int64_t)n + b->more);
			if (!b->more || b->value)
				memcpy(out + sizeof(h) + b->at, &b->value, sizeof(b->value));
		}
		if (bent && b->status) {
			h.status = b->status;
			n = (size_t)snprintf((char *)out + sizeof(h), 32, "not today");
		}
		for (uint32_t i = 0; bent && i < b->flood; i++)
			put_unasked(fd, h.id);
		h.bytes = (uint32_t)(sizeof(h) + n);
		memcpy(out, &h, sizeof(h));
		if (send(fd, out, h.bytes, MSG_NOSIGNAL) != (ssize_t)h.bytes)
			break;
	}
	_exit(0);
}

struct visit {
	struct ptt_pmus pmus;
	pid_t pid;
	char dir[32], path[48];
	struct err e;
};

static void visit_begin(struct visit *v, const struct bend *b)
{
	struct sockaddr_un at = { .sun_family = AF_UNIX };
	int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);

	*v = (struct visit){ .dir = "/tmp/tally-pmus.XXXXXX" };
	assert_non_null(mkdtemp(v->dir));
	snprintf(v->path, sizeof(v->path), "%s/s", v->dir);
	strcpy(at.sun_path, v->path);
	assert_int_equal(bind(fd, (const struct sockaddr *)&at, sizeof(at)), 0);
	assert_int_equal(listen(fd, 1), 0);
	v->pid = fork();
	if (v->pid == 0) {
		alarm(30);
		serve(fd, b);
	}
	close(fd);
	if (local_pmus(&v->pmus, v->path, NULL, &v->e) < 0)
		fail_msg("%s", v->e.text);
}

static void visit_end(struct visit *v)
{
	v->pmus.op->close(v->pmus.arg);
	assert_int_equal(waitpid(v->pid, NULL, 0), v->pid);
	unlink(v->path);
	rmdir(v->dir);
}

/* ---- what is asked --------------------------------------------------------------------------------------------- */

static void answers_are_read_as_the_protocol_has_them(void **state)
{
	static const struct ptt_ask ask = { .type = 1 };
	const struct ptt_pmu *pmu;
	struct ptt_link link;
	struct ptt_aux aux;
	struct visit v;
	uint64_t ns;
	uint32_t n, value;

	(void)state;
	visit_begin(&v, NULL);
	assert_int_equal(v.pmus.op->list(v.pmus.arg, &pmu, &n, &v.e), 0);
	assert_int_equal(n, 1);
	assert_string_equal(pmu->name, "hisi_ptt0_2");
	assert_string_equal(pmu->cpus, "0-31");
	assert_int_equal(pmu->type, 5);
	assert_int_equal(pmu->nfilters, 3);
	assert_string_equal(pmu->filter[0].name, "0000:80:00.0");
	assert_true(pmu->filter[0].port);
	assert_int_equal(pmu->filter[1].value, 0x8100);
	assert_string_equal(pmu->filter[2].name, "0000:81:00.1");
	assert_false(pmu->filter[2].port);
	assert_int_equal(v.pmus.op->list(v.pmus.arg, &pmu, &n, &v.e), 0);
	assert_int_equal(n, 1);
	assert_int_equal(pmu->nfilters, 3);
	assert_int_equal(v.pmus.op->tune_get(v.pmus.arg, 0, 0, &value, &v.e), 0);
	assert_int_equal(value, 42);
	assert_int_equal(v.pmus.op->tune_set(v.pmus.arg, 0, 0, 7, &v.e), 0);
	assert_int_equal(v.pmus.op->now(v.pmus.arg, &ns, &v.e), 0);
	assert_int_equal(ns, 1000);
	assert_int_equal(v.pmus.op->link(v.pmus.arg, 0, &link, &v.e), 0);
	assert_int_equal(link.ns, 2000);
	assert_int_equal(link.tlps[0][1], 2);
	assert_int_equal(link.bytes[1][0], 4);
	assert_int_equal(v.pmus.op->start(v.pmus.arg, pmu, &ask, 4u << 20, &v.e), 0);
	assert_int_equal(v.pmus.op->start(v.pmus.arg, pmu, &ask, 4u << 20, &v.e), -TALLY_EBUSY);
	/* Both pieces come before this answer, and are kept. */
	value = 0;
	assert_int_equal(v.pmus.op->tune_get(v.pmus.arg, 0, 0, &value, &v.e), 0);
	assert_int_equal(value, 42);
	for (int i = 0; i < COMMITS; i++) {
		assert_int_equal(v.pmus.op->next(v.pmus.arg, &aux, -1, &v.e), 1);
		assert_int_equal(aux.n, 64);
		assert_int_equal(aux.lost, 9);
		assert_int_equal(aux.flags, PTT_AUX_TRUNCATED);
		assert_int_equal(aux.p[31], 'a' + 2 * i);
		assert_int_equal(aux.p[32], 'b' + 2 * i);
	}
	assert_int_equal(v.pmus.op->next(v.pmus.arg, &aux, -1, &v.e), 0);
	visit_end(&v);
}

static int list_of(struct visit *v)
{
	const struct ptt_pmu *pmu;
	uint32_t n;

	return v->pmus.op->list(v->pmus.arg, &pmu, &n, &v->e);
}

static int trace_of(struct visit *v)
{
	static const struct ptt_ask ask = { .type = 1 };
	const struct ptt_pmu *pmu;
	struct ptt_aux aux;
	uint32_t n;
	int rc = v->pmus.op->list(v->pmus.arg, &pmu, &n, &v->e);

	if (rc == 0)
		rc = v->pmus.op->start(v->pmus.arg, pmu, &ask, 4u << 20, &v->e);
	while (rc == 0 && (rc = v->pmus.op->next(v->pmus.arg, &aux, -1, &v->e)) > 0)
		rc = 0;
	return rc;
}

static int ask_of(struct visit *v, uint16_t op)
{
	struct ptt_link link;
	uint64_t ns;
	uint32_t value;

	return op == LOCAL_PTT_TUNE_GET ? v->pmus.op->tune_get(v->pmus.arg, 0, 0, &value, &v->e) :
	       op == LOCAL_PTT_COUNTS   ? v->pmus.op->now(v->pmus.arg, &ns, &v->e) :
	       op == LOCAL_PTT_LINK     ? v->pmus.op->link(v->pmus.arg, 0, &link, &v->e) :
	       op == LOCAL_PTT_NEXT     ? trace_of(v) :
					  list_of(v);
}

static void answers_that_are_odd_are_refused(void **state)
{
	static const struct {
		int line;
		struct bend b;
		int rc;
	} row[] = {
		{ __LINE__, BEND(LOCAL_PTT_LIST, 0, -1, 0, 0), -TALLY_ECORRUPT },
		{ __LINE__, BEND(LOCAL_PTT_LIST, 0, 1, 0, 0), -TALLY_ECORRUPT },
		{ __LINE__, BEND(LOCAL_PTT_LIST, 0, -105, 0, 0), -TALLY_ECORRUPT },
		{ __LINE__, BEND(LOCAL_PTT_LIST, 0, 0, 0, 2), -TALLY_ECORRUPT },
		{ __LINE__, BEND(LOCAL_PTT_LIST, 0, 0, 0, PTT_PMU_MOST + 1), -TALLY_ECORRUPT },
		/* filters of another generation: asked for again, and then they are there */
		{ __LINE__, BEND(LOCAL_PTT_FILTERS, 0, 0, 0, 8), 0 },
		{ __LINE__, BEND(LOCAL_PTT_FILTERS, 1, 0, 0, 8), 0 },
		{ __LINE__, BEND(LOCAL_PTT_FILTERS, 0, 0, 4, UINT32_MAX), -TALLY_ECORRUPT },
		{ __LINE__, BEND(LOCAL_PTT_FILTERS, 0, 0, 4, 1), -TALLY_ECORRUPT },
		{ __LINE__, BEND(LOCAL_PTT_FILTERS, 0, 0, 4, 2), 0 },
		{ __LINE__, BEND(LOCAL_PTT_FILTERS, 0, 0, 8, 1), -TALLY_ECORRUPT },
		{ __LINE__, BEND(LOCAL_PTT_FILTERS, 1, 0, 8, 1), -TALLY_ECORRUPT },
		{ __LINE__, BEND(LOCAL_PTT_FILTERS, 0, 0, 12, 1), -TALLY_ECORRUPT },
		{ __LINE__, BEND(LOCAL_PTT_FILTERS, 0, 0, 12, 3), -TALLY_ECORRUPT },
		{ __LINE__, BEND(LOCAL_PTT_FILTERS, 0, -1, 0, 0), -TALLY_ECORRUPT },
		{ __LINE__, BEND(LOCAL_PTT_FILTERS, 0, 1, 0, 0), -TALLY_ECORRUPT },
		{ __LINE__, BEND(LOCAL_PTT_FILTERS, 0, -49, 0, 0), -TALLY_ECORRUPT },
		{ __LINE__, BEND(LOCAL_PTT_TUNE_GET, 0, -1, 0, 0), -TALLY_ECORRUPT },
		{ __LINE__, BEND(LOCAL_PTT_TUNE_GET, 0, 1, 0, 0), 0 },
		{ __LINE__, BEND(LOCAL_PTT_COUNTS, 0, -1, 0, 0), -TALLY_ECORRUPT },
		{ __LINE__, BEND(LOCAL_PTT_LINK, 0, -1, 0, 0), -TALLY_ECORRUPT },
		/* the first piece: without its head, of the middle, too large, larger than the whole, empty */
		{ __LINE__, BEND(LOCAL_PTT_NEXT, 0, -33, 0, 0), -TALLY_ECORRUPT },
		{ __LINE__, BEND(LOCAL_PTT_NEXT, 0, 0, 8, 32), -TALLY_ECORRUPT },
		{ __LINE__, BEND(LOCAL_PTT_NEXT, 0, 0, 0, LOCAL_RING_MOST + 1), -TALLY_ECORRUPT },
		{ __LINE__, BEND(LOCAL_PTT_NEXT, 0, 0, 0, 31), -TALLY_ECORRUPT },
		{ __LINE__, BEND(LOCAL_PTT_NEXT, 0, -32, 0, 0), -TALLY_ECORRUPT },
		/* the second: of another place, of another whole, longer than what is left */
		{ __LINE__, BEND(LOCAL_PTT_NEXT, 1, 0, 8, 31), -TALLY_ECORRUPT },
		{ __LINE__, BEND(LOCAL_PTT_NEXT, 1, 0, 0, 96), -TALLY_ECORRUPT },
		{ __LINE__, BEND(LOCAL_PTT_NEXT, 1, 1, 0, 0), -TALLY_ECORRUPT },
		{ __LINE__, BEND(LOCAL_PTT_NEXT, 1, 0, 24, LOCAL_PIECE_END), 0 },
	};

	(void)state;
	for (size_t i = 0; i < COUNT(row); i++) {
		struct visit v;
		int rc;

		visit_begin(&v, &row[i].b);
		rc = ask_of(&v, row[i].b.op);
		if (rc != row[i].rc || (rc < 0 && !strstr(v.e.text, "invalid answer: not a tally server")))
			fail_msg("line %d: %d, \"%s\"", row[i].line, rc, v.e.text);
		visit_end(&v);
	}
}

static void filters_that_change_all_the_time_are_told(void **state)
{
	const struct bend b = { .op = LOCAL_PTT_FILTERS, .nth = EACH, .value = 8 };
	struct visit v;

	(void)state;
	visit_begin(&v, &b);
	assert_int_equal(list_of(&v), -TALLY_EIO);
	assert_non_null(strstr(v.e.text, "its endpoints change faster than they can be listed"));
	visit_end(&v);
}

static void what_the_server_refuses_is_told_in_its_words(void **state)
{
	static const uint16_t ops[] = { LOCAL_PTT_LIST,   LOCAL_PTT_FILTERS, LOCAL_PTT_TUNE_GET,
					LOCAL_PTT_COUNTS, LOCAL_PTT_LINK,    LOCAL_PTT_NEXT };

	(void)state;
	for (size_t i = 0; i < COUNT(ops); i++) {
		const struct bend b = { .op = ops[i], .status = local_status(-TALLY_EPERM), .more = 1 };
		struct visit v;

		visit_begin(&v, &b);
		assert_int_equal(ask_of(&v, ops[i]), -TALLY_EPERM);
		assert_non_null(strstr(v.e.text, "not today"));
		visit_end(&v);
	}
}

/* There is room for as many as were asked for. */
static void pieces_that_nobody_asked_for_are_dropped(void **state)
{
	const struct bend b = { .op = LOCAL_PTT_TUNE_GET, .flood = 10, .more = 1 };
	static const struct ptt_ask ask = { .type = 1 };
	const struct ptt_pmu *pmu;
	struct visit v;
	uint32_t n, value = 0;

	(void)state;
	visit_begin(&v, &b);
	assert_int_equal(v.pmus.op->list(v.pmus.arg, &pmu, &n, &v.e), 0);
	assert_int_equal(v.pmus.op->start(v.pmus.arg, pmu, &ask, 4u << 20, &v.e), 0);
	assert_int_equal(v.pmus.op->tune_get(v.pmus.arg, 0, 0, &value, &v.e), 0);
	assert_int_equal(value, 42);
	visit_end(&v);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(answers_are_read_as_the_protocol_has_them),
		cmocka_unit_test(answers_that_are_odd_are_refused),
		cmocka_unit_test(filters_that_change_all_the_time_are_told),
		cmocka_unit_test(pieces_that_nobody_asked_for_are_dropped),
		cmocka_unit_test(what_the_server_refuses_is_told_in_its_words),
	};

	return cmocka_run_group_tests_name("attach: the client of a PTT server", tests, NULL, NULL);
}
