/*
 * kunpeng_invariant_test.c: what every load keeps to, under every setting: each packet is decoded, requests and
 * completions meet, and what they come to is the machine's own truth.
 */
#include "machine/kunpeng_test_int.h"

/* Requests that are open, by requester and tag. */
struct asked {
	uint64_t at;
	uint32_t bytes, got;
	bool open;
};
struct judge {
	struct asked open[16][1024]; /* by a small number of the requester */
	uint16_t id[16];
	uint32_t nids;
	struct kunpeng_truth found; /* as counted from the packets */
};

static struct asked *asked_of(struct judge *j, const struct tlp *t)
{
	uint32_t i = 0;

	while (i < j->nids && j->id[i] != t->requester)
		i++;
	if (i == j->nids)
		j->id[j->nids++] = t->requester;
	assert_true(j->nids < COUNT(j->id) && t->tag < 1024);
	return &j->open[i][t->tag];
}

static bool by_host(const struct tlp *t)
{
	return t->requester >> 8 == 0;
}

/* Its tag is free: answered, or given up. */
static void request(struct judge *j, const struct seen *s)
{
	struct asked *a = asked_of(j, &s->t);

	if (s->outbound && !by_host(&s->t)) { /* on its second way, to a peer */
		assert_true(a->open);
		return;
	}
	assert_true(s->outbound == by_host(&s->t));
	if (a->open) {
		assert_true(s->t.time - a->at >= GIVE_UP_NS);
		j->found.abandoned++;
	}
	bool config = tlp_type_at(s->t.type_index)->layout == TLP_CFG;
	uint32_t holes = (uint32_t)__builtin_popcount(~(s->t.first_be | (s->t.length_dw == 1 ? 0 : s->t.last_be) << 4) &
						      (s->t.length_dw == 1 ? 0xf : 0xff));
	*a = (struct asked){ .at = s->t.time, .bytes = config ? 4 : 4 * s->t.length_dw - holes, .open = true };
	j->found.requests++;
	j->found.asked_bytes += a->bytes;
}

static void completion(struct judge *j, const struct seen *s)
{
	struct asked *a = asked_of(j, &s->t);
	const struct tlp *t = &s->t;

	assert_true(a->open);
	if (s->peer) { /* from a peer; it goes on */
		assert_false(by_host(t));
		return;
	}
	assert_true(s->outbound != by_host(t));
	if (t->status != 0) {
		assert_int_equal(a->got, 0);
		assert_int_equal(t->bytes, 0);
		j->found.failed++;
		a->open = false;
		return;
	}
	assert_int_equal(t->byte_count, a->bytes - a->got);
	a->got += t->bytes;
	j->found.read_bytes += t->bytes;
	if (a->got != a->bytes) {
		assert_int_equal((t->lower_address + t->bytes) % BOUNDARY, 0);
		return;
	}
	a->open = false;
	j->found.answered++;
	j->found.latency_count++;
	j->found.latency_ns += t->time - a->at;
	if (t->time - a->at > j->found.latency_most)
		j->found.latency_most = t->time - a->at;
}

static void limits(const struct tlp *t)
{
	const struct tlp_type *y = tlp_type_at(t->type_index);

	assert_true(t->class != TLP_RESERVED);
	assert_true(t->bytes <= PAYLOAD_MOST && 4 * t->length_dw <= READ_MOST + 4);
	if (y->layout == TLP_MEM32 || y->layout == TLP_MEM64)
		assert_true((t->address & 0xfff) + 4 * t->length_dw <= 4096);
	if (y->layout == TLP_MEM64)
		assert_true(t->address >> 32 != 0);
	if (t->class == TLP_CPL)
		assert_true(y->data == (t->status == 0));
}

static void judge_packet(struct judge *j, const struct seen *s)
{
	static const uint8_t doorbell_page = 0x1;
	enum ptt_class cls = s->t.class == TLP_P  ? PTT_CLASS_P :
			     s->t.class == TLP_NP ? PTT_CLASS_NP :
			     s->peer              ? PTT_CLASS_CPL_B :
						    PTT_CLASS_CPL_A;

	limits(&s->t);
	j->found.tlps[s->outbound][cls]++;
	j->found.bytes[s->outbound][cls] += s->t.bytes;
	if (s->t.class == TLP_NP)
		request(j, s);
	else if (s->t.class == TLP_CPL)
		completion(j, s);
	else if (s->t.address == 0x402810040)
		j->found.msis++;
	else if (s->outbound && s->t.bytes == 4 && (s->t.address >> 12 & 0xff) == doorbell_page)
		j->found.doorbells++;
}

/* What the packets come to is what the machine says. */
static void truth_is(const struct judge *j, const struct kunpeng_truth *t)
{
	const struct kunpeng_truth *f = &j->found;

	assert_memory_equal(f->tlps, t->tlps, sizeof(t->tlps));
	assert_memory_equal(f->bytes, t->bytes, sizeof(t->bytes));
	assert_int_equal(f->requests, t->requests);
	assert_int_equal(f->answered, t->answered);
	assert_int_equal(f->failed, t->failed);
	assert_int_equal(f->asked_bytes, t->asked_bytes);
	assert_int_equal(f->read_bytes, t->read_bytes);
	assert_int_equal(f->latency_ns, t->latency_ns);
	assert_int_equal(f->latency_count, t->latency_count);
	assert_int_equal(f->latency_most, t->latency_most);
	assert_int_equal(f->msis, t->msis);
	assert_int_equal(f->doorbells, t->doorbells);
	assert_int_equal(t->requests, t->answered + t->failed + t->abandoned + t->open);
}

static void judge_plan(const struct plan *p, struct kunpeng_truth *truth)
{
	struct judge *j = mem_alloc(sizeof(*j));
	struct scene s;

	scene_take(&s, p);
	for (uint32_t i = 0; i < s.n; i++)
		judge_packet(j, &s.s[i]);
	truth_is(j, &s.truth);
	if (truth != NULL)
		*truth = s.truth;
	mem_free(s.s);
	mem_free(j);
}

static struct plan plan_of(const char *load, uint64_t seed, uint64_t ns)
{
	struct plan p = { .load = load, .seed = seed, .ns = ns, .core = seed % 2 };

	memcpy(p.tuned, at_reset, sizeof(p.tuned));
	return p;
}

static void packets_of_every_load_decode_to_the_truth(void **state)
{
	(void)state;
	for (uint32_t i = 0; kunpeng_load_at(i) != NULL; i++) {
		bool quiet = strcmp(kunpeng_load_at(i)->name, "idle") == 0;
		for (uint64_t seed = 1; seed <= 6; seed++) {
			struct plan p = plan_of(kunpeng_load_at(i)->name, seed, quiet ? 2000000 : 80000);
			judge_plan(&p, NULL);
		}
	}
}

static void packets_under_any_setting_decode_to_the_truth(void **state)
{
	uint64_t r = 11;
	uint32_t nloads = 0;

	(void)state;
	while (kunpeng_load_at(nloads) != NULL)
		nloads++;
	for (uint64_t seed = 5; seed < 165; seed++) {
		struct plan p = plan_of(kunpeng_load_at(chance(&r, nloads))->name, seed, 20000 + chance(&r, 60000));
		if (strcmp(p.load, "idle") == 0)
			p.ns *= 10;
		for (int t = 0; t < PTT_TUNES; t++)
			p.tuned[t] = (uint8_t)chance(&r, 3);
		judge_plan(&p, NULL);
	}
}

static void requests_that_fail_are_counted_and_given_up(void **state)
{
	struct plan p = plan_of("faulty", 1, 8000000);
	struct kunpeng_truth t;

	(void)state;
	judge_plan(&p, &t);
	assert_true(t.failed != 0 && t.abandoned != 0);
	assert_true(t.failed + t.abandoned < t.requests / 200);
	assert_true(t.asked_bytes > t.read_bytes);
}

static void what_was_asked_is_read_when_nothing_fails(void **state)
{
	(void)state;
	for (uint64_t seed = 1; seed <= 400; seed++) {
		struct kunpeng *k = machine(kunpeng_load_at(seed % 8)->name, seed);
		uint64_t r = seed;
		for (int t = 0; t < PTT_TUNES; t++)
			tune(k, seed % 2, (enum ptt_tune)t, chance(&r, 3));
		kunpeng_run(k, 40000);
		for (uint32_t i = 0; i < kunpeng_ndevices(k); i++) {
			const struct kunpeng_truth *t = kunpeng_truth(k, i);
			assert_int_equal(t->requests, t->answered + t->open);
			assert_int_equal(t->failed + t->abandoned, 0);
			assert_true(t->asked_bytes >= t->read_bytes);
			assert_true(t->asked_bytes - t->read_bytes <= t->open * READ_MOST);
			assert_int_equal(all_tlps(t, false), t->waits[0]);
			assert_int_equal(all_tlps(t, true), t->waits[1]);
		}
		kunpeng_close(k);
	}
}

static void peers_talk_in_completions_of_class_b(void **state)
{
	struct plan p = plan_of("p2p", 1, 200000);
	struct kunpeng_truth t;

	(void)state;
	judge_plan(&p, &t);
	assert_true(t.tlps[0][PTT_CLASS_CPL_B] > 100);
	assert_int_equal(t.tlps[1][PTT_CLASS_CPL_B], 0);
	p.core = 0; /* has no switch */
	judge_plan(&p, &t);
	assert_int_equal(t.tlps[0][PTT_CLASS_CPL_B], 0);
}

static void an_endpoint_that_comes_begins_from_nothing(void **state)
{
	(void)state;
	for (uint64_t seed = 1; seed <= 11; seed += 2) {
		struct plan p = plan_of(seed % 3 ? "full" : "p2p", seed, 100000);
		struct kunpeng_truth t;
		p.plug[1] = "0000:06:00.0";
		judge_plan(&p, &t);
		assert_int_equal(t.abandoned, 0);
	}
}

/* Memory requests of one requester: of an endpoint those to its memory, of a port those to its endpoint's registers. */
struct window {
	uint16_t requester;
	uint64_t from, to;
};

static void window_take(struct window *w, const struct tlp *t)
{
	const uint64_t to = t->address + 4 * t->length_dw;

	if (w->to == 0)
		*w = (struct window){ t->requester, t->address, to };
	w->from = t->address < w->from ? t->address : w->from;
	w->to = to > w->to ? to : w->to;
}

/* Core 0 has a function behind each of its three ports. */
static void each_function_has_memory_and_registers_of_its_own(void **state)
{
	struct window w[8] = { 0 };
	struct plan p = plan_of("full", 2, 400000);
	struct scene s;
	uint32_t n = 0;

	(void)state;
	scene_take(&s, &p);
	for (uint32_t i = 0; i < s.n; i++) {
		const struct tlp *t = &s.s[i].t;
		const uint8_t layout = tlp_type_at(t->type_index)->layout;
		uint32_t k = 0;

		if ((layout != TLP_MEM32 && layout != TLP_MEM64) || t->address == 0x402810040)
			continue;
		/* The NIC 22:00.0 is behind port 00:09.0, and has addresses of 32 bits alone. */
		assert_int_equal(t->address >> 32 == 0, t->requester == 0x2200 || t->requester == 0x0048);
		while (k < n && w[k].requester != t->requester)
			k++;
		n += k == n;
		assert_true(n < COUNT(w));
		window_take(&w[k], t);
	}
	assert_int_equal(n, 6);
	for (uint32_t i = 0; i < n; i++)
		for (uint32_t k = 0; k < i; k++)
			assert_true(w[i].to <= w[k].from || w[k].to <= w[i].from);
	mem_free(s.s);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(packets_of_every_load_decode_to_the_truth),
		cmocka_unit_test(packets_under_any_setting_decode_to_the_truth),
		cmocka_unit_test(requests_that_fail_are_counted_and_given_up),
		cmocka_unit_test(what_was_asked_is_read_when_nothing_fails),
		cmocka_unit_test(peers_talk_in_completions_of_class_b),
		cmocka_unit_test(each_function_has_memory_and_registers_of_its_own),
		cmocka_unit_test(an_endpoint_that_comes_begins_from_nothing),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
