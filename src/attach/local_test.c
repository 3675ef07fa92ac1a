/* local_test.c: the conversation of the local protocol. */
#include "base/range.h"
#include "attach/local_toy_test_int.h"

/* ---- the conversation --------------------------------------------------------------------------------- */

/* Feeds it as far as it takes it. Returns the bytes taken. */
static size_t feed(struct local_peer *p, const uint8_t *from, size_t n, size_t most)
{
	size_t done = 0, room;

	while (done < n) {
		uint8_t *to = local_peer_room(p, &room);

		room = room < n - done ? room : n - done;
		room = room < most ? room : most;
		if (!room)
			break;
		memcpy(to, from + done, room);
		local_peer_came(p, room);
		done += room;
	}
	return done;
}

/* Takes the next answer out of what is to be sent. */
static bool answer(struct local_peer *p, struct local_head *h, char *words, size_t nwords)
{
	size_t n;
	const uint8_t *from = local_peer_out(p, &n);

	if (n < sizeof(*h))
		return false;
	memcpy(h, from, sizeof(*h));
	assert_true(h->bytes <= n);
	snprintf(words, nwords, "%.*s", (int)(h->bytes - sizeof(*h)), (const char *)from + sizeof(*h));
	local_peer_sent(p, h->bytes);
	return true;
}

static void assert_answer(struct local_peer *p, uint16_t op, uint64_t id, int rc, const char *words)
{
	char text[600];
	struct local_head h;

	assert_true(answer(p, &h, text, sizeof(text)));
	assert_int_equal(h.op, op);
	assert_int_equal(h.id, id);
	assert_int_equal(local_error(h.status), rc);
	if (words && !strstr(text, words))
		fail_msg("\"%s\" lacks \"%s\"", text, words);
}

static struct local_peer *peer(struct toy *t)
{
	struct local_peer *p = NULL;

	assert_int_equal(local_peer_open(&p, &toy_service, t), 0);
	return p;
}

static struct local_peer *greeted(struct toy *t, uint32_t rights)
{
	struct local_peer *p = peer(t);
	struct script s = { .n = 0 };

	put_hello(&s, rights);
	feed(p, s.p, s.n, s.n);
	assert_answer(p, LOCAL_HELLO, 0, 0, NULL);
	assert_false(local_peer_over(p));
	return p;
}

static void hello_gets_version_rights_and_platform(void **state)
{
	struct toy t = { 0 };
	struct local_peer *p = peer(&t);
	struct script s = { .n = 0 };
	struct local_welcome w;
	size_t n;

	(void)state;
	put_hello(&s, LOCAL_LOOK | LOCAL_PLUG);
	feed(p, s.p, s.n, s.n);
	const uint8_t *out = local_peer_out(p, &n);
	assert_int_equal(n, sizeof(struct local_head) + sizeof(w));
	memcpy(&w, out + sizeof(struct local_head), sizeof(w));
	assert_int_equal(w.version, LOCAL_VERSION);
	assert_int_equal(w.rights, LOCAL_LOOK | LOCAL_PLUG);
	assert_int_equal(w.frame_most, LOCAL_FRAME_MOST);
	assert_string_equal(w.platform, "toy");
	local_peer_close(p);
	assert_int_equal(t.gone, 1);
}

static void assert_hangs_up(const struct script *s, uint16_t op, uint64_t id, int rc, const char *words)
{
	struct toy t = { 0 };
	struct local_peer *p = peer(&t);
	size_t n;

	feed(p, s->p, s->n, s->n);
	assert_answer(p, op, id, rc, words);
	assert_true(local_peer_over(p));
	local_peer_out(p, &n);
	assert_int_equal(n, 0);
	local_peer_room(p, &n);
	assert_int_equal(n, 0);
	local_peer_close(p);
}

static void anything_before_hello_ends_the_conversation(void **state)
{
	const uint64_t word = 1;
	struct script s = { .n = 0 };

	(void)state;
	put(&s, LOCAL_PING, 7, &word, sizeof(word));
	put_hello(&s, 0);
	assert_hangs_up(&s, LOCAL_PING, 7, -TALLY_ESTATE, "before HELLO");
}

static void a_hello_of_another_protocol_or_version_ends_the_conversation(void **state)
{
	struct local_hello h = { "notmine", LOCAL_VERSION, 0 };
	struct script s = { .n = 0 };

	(void)state;
	put(&s, LOCAL_HELLO, 1, &h, sizeof(h));
	assert_hangs_up(&s, LOCAL_HELLO, 1, -TALLY_ECORRUPT, "wrong magic");
	h = (struct local_hello){ LOCAL_MAGIC, LOCAL_VERSION + 1, 0 };
	s.n = 0;
	put(&s, LOCAL_HELLO, 2, &h, sizeof(h));
	assert_hangs_up(&s, LOCAL_HELLO, 2, -TALLY_ENOTSUP, "unsupported protocol version 2");
	h = (struct local_hello){ LOCAL_MAGIC, LOCAL_VERSION, 0x80000000 };
	s.n = 0;
	put(&s, LOCAL_HELLO, 3, &h, sizeof(h));
	assert_hangs_up(&s, LOCAL_HELLO, 3, -TALLY_EINVAL, "0x80000000");
	s.n = 0;
	put(&s, LOCAL_HELLO, 4, &h, sizeof(h) - 1);
	assert_hangs_up(&s, LOCAL_HELLO, 4, -TALLY_EINVAL, "requires 16 bytes");
}

static void a_length_that_cannot_be_ends_the_conversation(void **state)
{
	static const uint32_t lies[] = { 0, 1, 15, LOCAL_FRAME_MOST + 1, 0x7fffffff, UINT32_MAX };

	(void)state;
	for (size_t i = 0; i < COUNT(lies); i++) {
		struct toy t = { 0 };
		struct local_peer *p = greeted(&t, 0);
		struct local_head h = { lies[i], ADD, 0, 5 };

		feed(p, (const uint8_t *)&h, sizeof(h), sizeof(h));
		assert_answer(p, ADD, 5, -TALLY_ECORRUPT, "invalid frame length");
		assert_true(local_peer_over(p));
		local_peer_close(p);
	}
}

static void the_longest_frame_is_read_whole_and_the_longest_reply_is_sent(void **state)
{
	static uint8_t frame[LOCAL_FRAME_MOST];
	const uint64_t v[2] = { 40, 2 };
	const struct local_head h = { LOCAL_FRAME_MOST, ADD, 0, 5 };
	struct toy t = { 0 };
	struct local_peer *p = greeted(&t, 0);
	struct script s = { .n = 0 };
	uint8_t *to;
	size_t n;

	(void)state;
	memcpy(frame, &h, sizeof(h));
	assert_int_equal(feed(p, frame, sizeof(frame), sizeof(frame)), sizeof(frame));
	assert_answer(p, ADD, 5, -TALLY_EINVAL, "requires 16 bytes after the header, not 65520");
	put(&s, ADD, 6, v, sizeof(v));
	feed(p, s.p, s.n, s.n);
	assert_answer(p, ADD, 6, 0, "*");
	to = local_reply(p, WAIT, 7, LOCAL_PAYLOAD_MOST);
	assert_non_null(to);
	memset(to, 'x', LOCAL_PAYLOAD_MOST);
	local_peer_out(p, &n);
	assert_int_equal(n, LOCAL_FRAME_MOST);
	assert_answer(p, WAIT, 7, 0, "xxx");
	/* four of them are the most that waits to be sent */
	for (uint32_t i = 0; i < 4; i++)
		assert_non_null(local_reply(p, WAIT, i, LOCAL_PAYLOAD_MOST));
	assert_null(local_reply(p, WAIT, 4, 0));
	assert_false(local_reply_error(p, WAIT, 4, &(struct err){ TALLY_EBUSY, "no" }));
	for (uint32_t i = 0; i < 4; i++)
		assert_answer(p, WAIT, i, 0, NULL);
	local_peer_out(p, &n);
	assert_int_equal(n, 0);
	assert_true(local_reply_error(p, WAIT, 4, &(struct err){ TALLY_EBUSY, "no" }));
	assert_answer(p, WAIT, 4, -TALLY_EBUSY, "no");
	local_peer_close(p);
}

static void other_mistakes_get_words_and_the_conversation_goes_on(void **state)
{
	const uint64_t v[2] = { 40, 2 }, much[2] = { UINT64_MAX, 1 };
	struct toy t = { 0 };
	struct local_peer *p = greeted(&t, LOCAL_LOOK);
	struct script s = { .n = 0 };

	(void)state;
	put(&s, OPS_END, 1, NULL, 0);
	put(&s, 0xffff, 2, NULL, 0);
	put(&s, ADD, 3, v, 15);
	put(&s, RELEASE, 4, NULL, 0);
	put_hello(&s, 0);
	s.p[s.n + 6] = 1;
	put(&s, ADD, 5, v, sizeof(v));
	s.p[s.n - sizeof(v) - 10] = 1;
	put(&s, ADD, 6, much, sizeof(much));
	put(&s, ADD, UINT64_MAX, v, sizeof(v));
	assert_int_equal(feed(p, s.p, s.n, s.n), s.n);
	assert_answer(p, OPS_END, 1, -TALLY_ENOTSUP, "toy has no operation 0x204");
	assert_answer(p, 0xffff, 2, -TALLY_ENOTSUP, "0xffff");
	assert_answer(p, ADD, 3, -TALLY_EINVAL, "requires 16 bytes after the header, not 15");
	assert_answer(p, RELEASE, 4, -TALLY_EPERM, "right 0x8");
	assert_answer(p, LOCAL_HELLO, 0, -TALLY_ESTATE, "already");
	assert_answer(p, ADD, 5, -TALLY_EINVAL, "status 1 in a request");
	assert_answer(p, ADD, 6, -TALLY_EINVAL, "are too much");
	assert_answer(p, ADD, UINT64_MAX, 0, "*");
	assert_false(local_peer_over(p));
	local_peer_close(p);
}

static void frames_cut_anywhere_are_answered_alike(void **state)
{
	const uint64_t v[2] = { 40, 2 };
	uint8_t whole[4096];
	size_t nwhole = 0, n;

	(void)state;
	for (size_t most = 1; most < 200; most++) {
		struct toy t = { 0 };
		struct local_peer *p = peer(&t);
		struct script s = { .n = 0 };

		put_hello(&s, 0);
		for (uint64_t id = 1; id < 8; id++)
			put(&s, id & 1 ? ADD : LOCAL_PING, id, v, id & 1 ? 16 : 8);
		assert_int_equal(feed(p, s.p, s.n, most), s.n);
		const uint8_t *out = local_peer_out(p, &n);
		if (!nwhole)
			memcpy(whole, out, nwhole = n);
		assert_int_equal(n, nwhole);
		assert_memory_equal(out, whole, n);
		local_peer_close(p);
	}
}

static void a_client_that_does_not_read_is_not_read(void **state)
{
	struct toy t = { 0 };
	struct local_peer *p = greeted(&t, 0);
	struct script s = { .n = 0 };
	uint64_t asked = 0, answered = 0;
	long live = mem_live();
	char text[8];
	struct local_head h;

	(void)state;
	for (int i = 0; i < 3000; i++)
		put(&s, LONG, asked++, NULL, 0);
	while (feed(p, s.p, s.n, s.n) == s.n && asked < 1000000)
		for (uint8_t *at = s.p; at < s.p + s.n; at += sizeof(h), asked++)
			memcpy(at + offsetof(struct local_head, id), &asked, sizeof(asked));
	assert_uint_in_range(asked, 3000, 50000);
	assert_int_equal(mem_live(), live);
	while (answer(p, &h, text, sizeof(text))) {
		assert_int_equal(h.id, answered++);
		local_peer_came(p, 0);
	}
	assert_uint_in_range(answered, 8000, asked);
	local_peer_close(p);
}

static void what_was_put_off_is_answered_when_it_is_there(void **state)
{
	struct toy t = { 0 };
	struct local_peer *p = greeted(&t, 0), *q = greeted(&t, 0);
	const uint64_t v[2] = { 40, 2 };
	struct script s = { .n = 0 }, r = { .n = 0 };
	size_t n;

	(void)state;
	put(&s, WAIT, 1, NULL, 0);
	put(&s, ADD, 2, v, sizeof(v));
	put(&r, RELEASE, 3, NULL, 0);
	feed(p, s.p, s.n, s.n);
	assert_answer(p, ADD, 2, 0, NULL);
	local_peer_out(p, &n);
	assert_int_equal(n, 0);
	feed(q, r.p, r.n, r.n);
	assert_answer(q, RELEASE, 3, 0, NULL);
	local_peer_came(p, 0);
	assert_answer(p, WAIT, 1, 0, "!");
	t.refuse = true;
	feed(p, s.p, s.n, s.n);
	assert_answer(p, ADD, 2, 0, NULL);
	assert_answer(p, WAIT, 1, -TALLY_EBUSY, "not today");
	local_peer_close(p);
	local_peer_close(q);
}

static void what_was_put_off_waits_for_room(void **state)
{
	struct toy t = { .released = true };
	struct local_peer *p = greeted(&t, 0);
	struct script s = { .n = 0 };
	char text[8];
	struct local_head h;
	bool came = false;

	(void)state;
	put(&s, LONG, 1, NULL, 0);
	put(&s, LONG, 1, NULL, 0);
	put(&s, LONG, 1, NULL, 0);
	put(&s, LONG, 1, NULL, 0);
	put(&s, WAIT, 2, NULL, 0);
	feed(p, s.p, s.n, s.n);
	for (int i = 0; i < 5; i++) {
		assert_true(answer(p, &h, text, sizeof(text)));
		came = came || h.id == 2;
		local_peer_came(p, 0);
	}
	assert_true(came);
	local_peer_close(p);
}

static void every_status_is_an_error_and_back(void **state)
{
	(void)state;
#define X(number, tag)                                        \
	assert_int_equal(local_error(number), -TALLY_E##tag); \
	assert_int_equal(local_status(-TALLY_E##tag), number);
	LOCAL_STATUSES(X)
#undef X
	assert_int_equal(local_error(0), 0);
	assert_int_equal(local_error(999), -TALLY_EIO);
	assert_int_equal(local_status(-TALLY_EVERIFY), local_status(-TALLY_EIO));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(hello_gets_version_rights_and_platform),
		cmocka_unit_test(anything_before_hello_ends_the_conversation),
		cmocka_unit_test(a_hello_of_another_protocol_or_version_ends_the_conversation),
		cmocka_unit_test(a_length_that_cannot_be_ends_the_conversation),
		cmocka_unit_test(the_longest_frame_is_read_whole_and_the_longest_reply_is_sent),
		cmocka_unit_test(other_mistakes_get_words_and_the_conversation_goes_on),
		cmocka_unit_test(frames_cut_anywhere_are_answered_alike),
		cmocka_unit_test(a_client_that_does_not_read_is_not_read),
		cmocka_unit_test(what_was_put_off_is_answered_when_it_is_there),
		cmocka_unit_test(what_was_put_off_waits_for_room),
		cmocka_unit_test(every_status_is_an_error_and_back),
	};

	return cmocka_run_group_tests_name("attach: local", tests, NULL, NULL);
}
