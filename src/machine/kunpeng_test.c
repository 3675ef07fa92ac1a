/* kunpeng_test.c: who sits where, time, hotplug, and that the same calls give the same bytes. */
#include "base/range.h"
#include "machine/kunpeng_test_int.h"

static void loads_have_names_and_texts_of_their_own(void **state)
{
	uint32_t n = 0;

	(void)state;
	for (; kunpeng_load_at(n) != NULL; n++) {
		const struct kunpeng_load *l = kunpeng_load_at(n);
		assert_true(l->name[0] != '\0' && l->text[0] != '\0');
		for (uint32_t i = 0; i < n; i++)
			assert_true(strcmp(kunpeng_load_at(i)->name, l->name) != 0);
	}
	assert_true(n >= 8);
	assert_string_equal(kunpeng_load_at(0)->name, "mixed");
}

static void an_unknown_load_is_refused_with_what_there_is(void **state)
{
	struct kunpeng *k = NULL;
	struct err e = { 0 }, f = { 0 };

	(void)state;
	assert_int_equal(kunpeng_open(&k, &(struct kunpeng_opts){ .load = "storag" }, &e), -TALLY_EINVAL);
	assert_non_null(strstr(e.text, "did you mean 'storage'?"));
	assert_int_equal(kunpeng_open(&k, &(struct kunpeng_opts){ .load = "x" }, &f), -TALLY_EINVAL);
	assert_non_null(strstr(f.text, "(expected one of mixed, nvme"));
	assert_null(k);
	assert_int_equal(mem_live(), 0);
}

static void no_options_are_seed_one_and_mixed(void **state)
{
	struct kunpeng *a = NULL, *b = machine("mixed", 1);

	(void)state;
	assert_int_equal(kunpeng_open(&a, NULL, NULL), 0);
	kunpeng_run(a, 300000);
	kunpeng_run(b, 300000);
	assert_memory_equal(kunpeng_truth(a, 1), kunpeng_truth(b, 1), sizeof(struct kunpeng_truth));
	kunpeng_close(a);
	kunpeng_close(b);
}

/* ---- loads: what runs is what their texts say ------------------------------------------------------ */

static struct kunpeng_truth truth_after(const char *load, uint32_t core, uint64_t ns)
{
	struct kunpeng *k = machine(load, 1);
	struct kunpeng_truth t;

	kunpeng_run(k, ns);
	t = *kunpeng_truth(k, core);
	kunpeng_close(k);
	return t;
}

/* Of a direction in percent, at a DW a ns; a packet has 5 or 6 of framing and header, and buffers are posted. */
static uint64_t used(const struct kunpeng_truth *t, bool outbound)
{
	return (all_bytes(t, outbound) / 4 + all_tlps(t, outbound) * 11 / 2 + t->posts[outbound] * POST_NS) * 100 /
	       t->ns;
}

static void loads_of_drives_did_not_match_their_descriptions(void **state)
{
	struct kunpeng_truth t = truth_after("nvme", 0, 10000000), u;

	(void)state;
	/* "each drive reads and writes about 200 times a millisecond": two drives, 10 ms, an interrupt each time */
	assert_uint_in_range(t.msis, 2 * 10 * 180, 2 * 10 * 240);
	assert_true(used(&t, false) < 60 && used(&t, true) < 60); /* "neither direction is full" */
	t = truth_after("storage", 0, 1000000);
	/* "drives write at full speed (completions outbound) against a stream of the host's own writes" */
	assert_true(used(&t, true) > 95);
	assert_true(t.bytes[1][PTT_CLASS_CPL_A] > all_bytes(&t, true) / 5 &&
		    t.bytes[1][PTT_CLASS_P] > all_bytes(&t, true) / 5);
	t = truth_after("ingest", 0, 1000000);
	/* "drives read at full speed: posted writes fill the inbound direction" */
	assert_true(used(&t, false) > 95 && t.bytes[0][PTT_CLASS_P] > all_bytes(&t, false) * 9 / 10);
	t = truth_after("full", 0, 1000000); /* "both directions are full" */
	assert_true(used(&t, false) > 95 && used(&t, true) > 95);
	t = truth_after("contended", 0, 1000000);
	/* "posted, non-posted and completions all wait for the outbound direction" */
	assert_true(used(&t, true) > 95 && t.tlps[1][PTT_CLASS_P] > 1000 && t.tlps[1][PTT_CLASS_NP] > 1000 &&
		    t.tlps[1][PTT_CLASS_CPL_A] > 1000);
	t = truth_after("mixed", 0, 50000000);
	u = truth_after("mixed", 1, 50000000);
	/* "about a million TLPs a second" */
	assert_uint_in_range((all_tlps(&t, false) + all_tlps(&t, true) + all_tlps(&u, false) + all_tlps(&u, true)) * 20,
			     800000, 1250000);
	u = truth_after("faulty", 0, 50000000);
	/* "as mixed but denser, and of a million requests 2000 fail or are never answered" */
	assert_true(all_tlps(&u, true) > 2 * all_tlps(&t, true));
	assert_uint_in_range((u.failed + u.abandoned) * 1000000 / u.requests, 1500, 2500);
	t = truth_after("idle", 0, 20000000); /* "a register is read now and then" */
	assert_int_equal(t.tlps[1][PTT_CLASS_NP], all_tlps(&t, true));
	assert_int_equal(t.tlps[0][PTT_CLASS_CPL_A], all_tlps(&t, false));
	assert_uint_in_range(t.ns / all_tlps(&t, true), 20000, 200000);
}

/* Pieces of a packet lie one behind the other; an entry of a queue has 16 bytes, an interrupt 4. */
static void packets_of_nics_did_not_match_the_description(void **state)
{
	struct plan p = { .load = "nic", .seed = 1, .ns = 300000 };
	uint64_t end = 0;
	uint32_t bytes = 0, packets = 0, least = UINT32_MAX, most = 0;
	struct scene s;

	(void)state;
	memcpy(p.tuned, at_reset, sizeof(p.tuned));
	scene_take(&s, &p);
	for (uint32_t i = 0; i < s.n; i++) {
		const struct tlp *t = &s.s[i].t;

		if (s.s[i].outbound || t->class != TLP_P)
			continue;
		if (t->address != end && bytes > 16) {
			least = bytes < least ? bytes : least;
			most = bytes > most ? bytes : most;
			packets++;
		}
		bytes = (t->address == end ? bytes : 0) + t->bytes;
		end = t->address + t->length_dw * 4;
	}
	mem_free(s.s);
	assert_true(packets > 100 && least >= 64 && least < 80 && most <= 1514 && most > 1400);
}

static void peers_did_not_match_the_description(void **state)
{
	const struct plan p = { .load = "p2p", .seed = 1, .ns = 300000, .core = 1 };
	uint32_t read = 0, written = 0, answered = 0;
	struct scene s;

	(void)state;
	scene_take(&s, &p);
	for (uint32_t i = 0; i < s.n; i++) {
		const struct tlp *t = &s.s[i].t;

		/* "a NIC reads from the drive behind the same switch, which writes to it: completions of class B" */
		read += !s.s[i].outbound && t->class == TLP_NP && t->requester == 0x400 && t->address >> 36;
		written += !s.s[i].outbound && t->class == TLP_P && t->requester == 0x500 && !(t->address >> 32) &&
			   t->bytes > 16;
		answered += s.s[i].peer && t->requester == 0x400 && t->completer == 0x500;
	}
	mem_free(s.s);
	assert_true(read > 50 && written > 50 && answered > 50);
	assert_true(s.truth.tlps[0][PTT_CLASS_CPL_B] >= answered);
}

/* ---- who sits where ------------------------------------------------------------------------------ */

static void filters_are(struct kunpeng *k, uint32_t core, const char *want)
{
	const struct ptt_pmu *p = kunpeng_pmu(k, core);
	struct buf b = { 0 };

	for (uint32_t i = 0; i < p->nfilters; i++) {
		buf_printf(&b, "%s%s=%05x", i ? " " : "", p->filter[i].name, p->filter[i].value);
		assert_true(p->filter[i].port == (p->filter[i].value >> 19 == 1));
	}
	assert_string_equal(b.p, want);
	buf_free(&b);
}

#define PORTS_2 "0000:00:10.0=80001 0000:00:11.0=80004 0000:00:12.0=80010 "
#define SWITCH "0000:02:00.0=00200 0000:03:00.0=00300 0000:03:01.0=00308 "

static void filters_are_those_of_the_figure(void **state)
{
	struct kunpeng *k = machine("idle", 1);

	(void)state;
	assert_int_equal(kunpeng_ndevices(k), 2);
	assert_string_equal(kunpeng_pmu(k, 0)->name, "hisi_ptt0_0");
	assert_string_equal(kunpeng_pmu(k, 1)->name, "hisi_ptt0_2");
	for (uint32_t i = 0; i < 2; i++)
		assert_int_equal(kunpeng_pmu(k, i)->time, PTT_TIME_ABS);
	filters_are(k, 0,
		    "0000:00:08.0=80001 0000:00:09.0=80004 0000:00:0a.0=80010 "
		    "0000:21:00.0=02100 0000:22:00.0=02200 0000:23:00.0=02300");
	filters_are(k, 1,
		    PORTS_2 "0000:01:00.0=00100 0000:01:00.1=00101 " SWITCH "0000:04:00.0=00400 0000:05:00.0=00500");
	assert_null(kunpeng_pmu(k, 2));
	assert_null(kunpeng_device(k, 2));
	assert_null(kunpeng_truth(k, 2));
	kunpeng_close(k);
}

static void devices_say_where_they_are(void **state)
{
	struct kunpeng *k = machine("idle", 1);

	(void)state;
	assert_int_equal(ptt_dev_read(kunpeng_device(k, 0), PTT_REG_DEVICE_RANGE), 0x00600040);
	assert_int_equal(ptt_dev_read(kunpeng_device(k, 0), PTT_REG_LOCATION), 0);
	assert_int_equal(ptt_dev_read(kunpeng_device(k, 1), PTT_REG_DEVICE_RANGE), 0x00a00080);
	assert_int_equal(ptt_dev_read(kunpeng_device(k, 1), PTT_REG_LOCATION), 2);
	kunpeng_close(k);
}

/* A filter selects what its port or function has to do with. */
static void each_filter_gets_its_share_and_all_ports_get_all(void **state)
{
	struct kunpeng *probe = machine("mixed", 3);
	const struct ptt_pmu *p = kunpeng_pmu(probe, 1);
	uint64_t ports = 0, functions = 0, all;

	(void)state;
	kunpeng_run(probe, 2000000);
	all = all_tlps(kunpeng_truth(probe, 1), true);
	for (uint32_t i = 0; i < p->nfilters; i++) {
		struct kunpeng *k = machine("mixed", 3);
		struct tape t;
		uint32_t target = (p->filter[i].port ? 0 : 1u << 15) | (p->filter[i].value & 0xffff) << 16;
		tape_start(&t, k, 1, 7u << 4 | target | CTRL_8DW | 1 << 2);
		kunpeng_run(k, 2000000);
		tape_stop(&t);
		*(p->filter[i].port ? &ports : &functions) += t.bytes.n / 32;
		/* Bridges ask for nothing, and the empty port has nobody. */
		uint32_t value = p->filter[i].value;
		bool quiet = value >> 8 == 2 || value >> 8 == 3 || value == 0x80010;
		assert_true(quiet == (t.bytes.n == 0));
		buf_free(&t.bytes);
		kunpeng_close(k);
	}
	assert_int_equal(ports, all);
	assert_int_equal(functions, all);
	kunpeng_close(probe);
}

/* ---- time --------------------------------------------------------------------------------------------- */

static struct buf bytes_of(const char *load, uint64_t seed, uint32_t core, uint64_t ns, uint64_t step)
{
	struct kunpeng *k = machine(load, seed);
	struct tape t;

	tape_start(&t, k, core, CTRL_ALL | 2 << 2);
	for (uint64_t now = 0; now < ns;) {
		now = now + step < ns ? now + step : ns;
		kunpeng_run(k, now);
		assert_int_equal(kunpeng_now(k), now);
	}
	tape_stop(&t);
	kunpeng_close(k);
	return t.bytes;
}

static void the_same_seed_gives_the_same_bytes_in_any_steps(void **state)
{
	(void)state;
	for (uint64_t seed = 1; seed <= 6; seed++) {
		const char *load = kunpeng_load_at(seed)->name;
		struct buf a = bytes_of(load, seed, seed % 2, 150000, 150000);
		struct buf b = bytes_of(load, seed, seed % 2, 150000, 777);
		struct buf c = bytes_of(load, seed + 1, seed % 2, 150000, 150000);
		assert_int_equal(a.n, b.n);
		assert_memory_equal(a.p, b.p, a.n);
		assert_true(a.n != c.n || memcmp(a.p, c.p, a.n) != 0);
		buf_free(&a);
		buf_free(&b);
		buf_free(&c);
	}
}

static void a_run_into_the_past_does_nothing(void **state)
{
	struct kunpeng *k = machine("nvme", 1);

	(void)state;
	kunpeng_run(k, 100000);
	struct kunpeng_truth before = *kunpeng_truth(k, 1);
	kunpeng_run(k, 50000);
	kunpeng_run(k, 100000);
	assert_int_equal(kunpeng_now(k), 100000);
	assert_memory_equal(&before, kunpeng_truth(k, 1), sizeof(before));
	kunpeng_close(k);
}

struct pauser {
	struct kunpeng *k;
	struct tape t;
	uint32_t pauses;
};

static int pausing_dma(void *arg, uint64_t to, const void *p, size_t n)
{
	struct pauser *u = arg;

	u->pauses++;
	kunpeng_pause(u->k);
	return tape_dma(&u->t, to, p, n);
}

/* A host that stops the machine at each DMA gets the same bytes, and time stops where it said so. */
static void a_pause_ends_a_run_and_loses_nothing(void **state)
{
	(void)state;
	for (uint32_t core = 0; core < 2; core++) {
		struct pauser u = { .k = machine("contended", 2) };
		uint32_t runs = 0;
		tape_start(&u.t, u.k, core, CTRL_ALL | 2 << 2);
		ptt_dev_host(u.t.dev, &(struct ptt_host){ .arg = &u, .dma = pausing_dma });
		for (; kunpeng_now(u.k) < 400000; runs++)
			kunpeng_run(u.k, 400000);
		ptt_dev_read(u.t.dev, PTT_REG_TRACE_WR_STS);
		struct buf whole = bytes_of("contended", 2, core, 400000, 400000);
		assert_true(u.pauses > 3 && runs >= u.pauses - 1);
		assert_int_equal(whole.n, u.t.bytes.n);
		assert_memory_equal(whole.p, u.t.bytes.p, whole.n);
		buf_free(&whole);
		buf_free(&u.t.bytes);
		kunpeng_close(u.k);
	}
}

/* ---- hotplug -------------------------------------------------------------------------------------------- */

static void filters_follow_who_comes_and_goes(void **state)
{
	struct kunpeng *k = machine("mixed", 1);
	uint32_t generation = kunpeng_generation(k);

	(void)state;
	assert_int_equal(kunpeng_plug(k, "0000:06:00.0", true, NULL), 0);
	filters_are(k, 1,
		    PORTS_2 "0000:01:00.0=00100 0000:01:00.1=00101 " SWITCH
			    "0000:04:00.0=00400 0000:05:00.0=00500 0000:06:00.0=00600");
	assert_int_equal(kunpeng_generation(k), generation + 1);
	assert_int_equal(kunpeng_plug(k, "0000:01:00", false, NULL), 0);
	filters_are(k, 1, PORTS_2 SWITCH "0000:04:00.0=00400 0000:05:00.0=00500 0000:06:00.0=00600");
	assert_int_equal(kunpeng_plug(k, "01:00.1", true, NULL), 0);
	filters_are(k, 1,
		    PORTS_2 "0000:01:00.1=00101 " SWITCH "0000:04:00.0=00400 0000:05:00.0=00500 0000:06:00.0=00600");
	assert_int_equal(kunpeng_plug(k, "01:00", true, NULL), 0);
	assert_int_equal(kunpeng_generation(k), generation + 4);
	kunpeng_close(k);
}

static void places_that_nobody_can_leave_are_refused(void **state)
{
	static const char *const bad[] = { "",        "0000:00:10.0", "02:00.0",       "0000:07:00.0", "0000:01:00.",
					   "0000:01", "1:00.0",       "0000:01:00.00", "0000:",        "01:00.0 " };
	struct kunpeng *k = machine("idle", 1);

	(void)state;
	for (size_t i = 0; i < COUNT(bad); i++) {
		struct err e = { 0 };
		assert_int_equal(kunpeng_plug(k, bad[i], false, &e), -TALLY_EINVAL);
		assert_non_null(strstr(e.text, "no such endpoint"));
	}
	struct err there = { 0 }, gone = { 0 };
	assert_int_equal(kunpeng_plug(k, "0000:01:00.0", true, &there), -TALLY_ESTATE);
	assert_int_equal(kunpeng_plug(k, "0000:06:00.0", false, &gone), -TALLY_ESTATE);
	assert_non_null(strstr(there.text, "there already"));
	assert_non_null(strstr(gone.text, "gone already"));
	assert_int_equal(kunpeng_generation(k), 0);
	kunpeng_close(k);
}

/* Records of one function, in both directions as far as a trace can. */
static size_t records_of(struct kunpeng *k, uint32_t function, uint64_t ns)
{
	struct tape t;

	tape_start(&t, k, 1, 7u << 4 | 1u << 15 | function << 16 | 2 << 2);
	kunpeng_run(k, kunpeng_now(k) + ns);
	tape_stop(&t);
	size_t n = t.bytes.n / 16;
	buf_free(&t.bytes);
	return n;
}

static void traffic_ends_with_an_endpoint_and_begins_with_it(void **state)
{
	(void)state;
	struct kunpeng *k = machine("full", 5);
	assert_true(records_of(k, 0x500, 50000) > 100);
	assert_int_equal(kunpeng_plug(k, "0000:05:00.0", false, NULL), 0);
	assert_int_equal(records_of(k, 0x500, 50000), 0);
	assert_true(records_of(k, 0x100, 50000) > 100);
	assert_int_equal(kunpeng_plug(k, "0000:05:00.0", true, NULL), 0);
	assert_true(records_of(k, 0x500, 50000) > 100);
	kunpeng_close(k);
}

static void requests_that_a_loss_leaves_are_abandoned(void **state)
{
	struct kunpeng *k = machine("contended", 1);
	const struct kunpeng_truth *t = kunpeng_truth(k, 1);

	(void)state;
	kunpeng_run(k, 100000);
	uint64_t open = t->open;
	assert_true(open > 0);
	assert_int_equal(kunpeng_plug(k, "0000:01:00", false, NULL), 0);
	assert_int_equal(kunpeng_plug(k, "0000:04:00", false, NULL), 0);
	assert_int_equal(kunpeng_plug(k, "0000:05:00", false, NULL), 0);
	assert_int_equal(t->open, 0);
	assert_int_equal(t->abandoned, open);
	struct kunpeng_truth before = *t;
	kunpeng_run(k, 300000);
	before.ns = t->ns;
	assert_memory_equal(&before, t, sizeof(before)); /* nobody is left */
	kunpeng_close(k);
}

/* Whoever comes and goes in whatever order: the books are right, and nobody stops the others. */
static void any_order_of_hotplug_keeps_the_books_right(void **state)
{
	static const char *const who[] = { "01:00.0", "01:00.1", "04:00.0", "05:00.0",
					   "06:00.0", "21:00.0", "22:00.0", "23:00.0" };
	uint64_t r = 3;

	(void)state;
	for (uint64_t seed = 1; seed <= 12; seed++) {
		struct kunpeng *k = machine(seed % 3 == 0 ? "faulty" : seed % 3 == 1 ? "full" : "p2p", seed);
		for (int i = 0; i < 40; i++) {
			kunpeng_plug(k, who[chance(&r, COUNT(who))], chance(&r, 2), NULL);
			kunpeng_run(k, kunpeng_now(k) + chance(&r, 3000));
		}
		for (size_t i = 0; i < COUNT(who); i++)
			kunpeng_plug(k, who[i], true, NULL);
		for (uint32_t i = 0; i < 2; i++) {
			struct kunpeng_truth t = *kunpeng_truth(k, i);
			assert_int_equal(t.requests, t.answered + t.failed + t.abandoned + t.open);
			assert_true(t.asked_bytes >= t.read_bytes);
		}
		struct kunpeng_truth before = *kunpeng_truth(k, 1);
		kunpeng_run(k, kunpeng_now(k) + 200000);
		assert_true(kunpeng_truth(k, 1)->answered > before.answered + 10);
		kunpeng_close(k);
	}
}

static void every_failing_allocation_is_reported(void **state)
{
	(void)state;
	for (long n = 1;; n++) {
		struct kunpeng *k = NULL;
		struct err e = { 0 };
		mem_fail_at(n);
		int rc = kunpeng_open(&k, NULL, &e);
		bool reached = mem_failed();
		mem_fail_at(0);
		assert_int_equal(rc, reached ? -TALLY_ENOMEM : 0);
		assert_true(reached == (k == NULL));
		kunpeng_close(k);
		assert_int_equal(mem_live(), 0);
		if (!reached)
			break;
	}
	kunpeng_close(NULL);
}

static uint32_t path_count_posted(const struct core *c, uint32_t outbound, enum packet_use what)
{
	const struct queue *q = &c->path[outbound].q[QUEUE_P];
	uint32_t n = 0;

	for (uint32_t i = 0; i < q->n; i++)
		n += q->p[(q->head + i) % QUEUE].what == what;
	return n;
}

/* Whoever waits has to: one way or the other there is no room to go on. */
static void nobody_waits_for_room_that_is_there(const struct core *c)
{
	for (uint32_t out = 0; out < 2; out++)
		if (c->room[out].flows != 0 && c->path[out].q[QUEUE_P].n <= ROOM_WAKE)
			assert_true(out == 1 && c->peer_writes >= ROOM);
}

/* Doorbells and interrupts are always taken; data waits for room, also while endpoints come and go. */
static void posted_data_keeps_to_its_room_and_who_waits_for_it_is_woken(void **state)
{
	static const char *const who[] = { "01:00.0", "01:00.1", "04:00.0", "05:00.0",
					   "06:00.0", "21:00.0", "22:00.0", "23:00.0" };
	static const char *const loads[] = { "full", "contended" };
	uint32_t most[2] = { 0 }, waited[2] = { 0 };
	struct kunpeng *k = NULL;
	uint64_t r = 1;

	(void)state;
	for (int run = 0; run < 200; run++) {
		const char *leaves = who[chance(&r, COUNT(who))];

		if (run % 50 == 0) {
			kunpeng_close(k);
			k = machine(loads[run / 50 % 2], (uint64_t)run / 50 + 1);
		}
		kunpeng_run(k, kunpeng_now(k) + chance(&r, 3000));
		for (uint32_t i = 0; i < CORES; i++) {
			const struct core *c = k->core[i];

			for (uint32_t out = 0; out < 2; out++) {
				uint32_t n = path_count_posted(c, out, USE_PLAIN);

				assert_true(n <= ROOM);
				most[out] = n > most[out] ? n : most[out];
				waited[out] += c->room[out].flows != 0;
			}
			assert_true(c->peer_writes <= ROOM);
			nobody_waits_for_room_that_is_there(c);
		}
		if (kunpeng_plug(k, leaves, false, NULL) < 0)
			continue; /* the load has no such place */
		for (uint32_t i = 0; i < CORES; i++)
			nobody_waits_for_room_that_is_there(k->core[i]);
		assert_int_equal(kunpeng_plug(k, leaves, true, NULL), 0);
	}
	kunpeng_close(k);
	for (uint32_t out = 0; out < 2; out++)
		assert_true(most[out] > ROOM_WAKE && waited[out] > 0);
}

/* Flows that wait for room; those of them that have nothing to issue go to sleep again. */
static void who_was_woken_first_is_woken_last_the_next_time(void **state)
{
	static const struct {
		uint32_t flows, turn, next;
	} rows[] = {
		{ 1u << 0, 0, 1 },
		{ 1u << 3 | 1u << 5, 0, 4 },
		{ 1u << 3 | 1u << 5, 4, 6 },
		{ 1u << 3 | 1u << 5, 6, 4 },
		{ 1u << 3 | 1u << 5, 5, 6 },
		{ 1u << 31, 7, 0 },
		{ 1u << 31 | 1u << 0, 31, 0 },
		{ UINT32_MAX, 30, 31 },
	};
	static struct core c;
	struct waiters none = { 0, 9 };

	(void)state;
	for (size_t i = 0; i < COUNT(rows); i++) {
		struct waiters w = { rows[i].flows, rows[i].turn };

		flow_wake(&c, &w);
		assert_int_equal(w.flows, 0);
		assert_int_equal(w.turn, rows[i].next);
	}
	flow_wake(&c, &none);
	assert_int_equal(none.turn, 9);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(who_was_woken_first_is_woken_last_the_next_time),
		cmocka_unit_test(posted_data_keeps_to_its_room_and_who_waits_for_it_is_woken),
		cmocka_unit_test(loads_have_names_and_texts_of_their_own),
		cmocka_unit_test(an_unknown_load_is_refused_with_what_there_is),
		cmocka_unit_test(loads_of_drives_did_not_match_their_descriptions),
		cmocka_unit_test(packets_of_nics_did_not_match_the_description),
		cmocka_unit_test(peers_did_not_match_the_description),
		cmocka_unit_test(no_options_are_seed_one_and_mixed),
		cmocka_unit_test(filters_are_those_of_the_figure),
		cmocka_unit_test(devices_say_where_they_are),
		cmocka_unit_test(each_filter_gets_its_share_and_all_ports_get_all),
		cmocka_unit_test(the_same_seed_gives_the_same_bytes_in_any_steps),
		cmocka_unit_test(a_run_into_the_past_does_nothing),
		cmocka_unit_test(a_pause_ends_a_run_and_loses_nothing),
		cmocka_unit_test(filters_follow_who_comes_and_goes),
		cmocka_unit_test(places_that_nobody_can_leave_are_refused),
		cmocka_unit_test(traffic_ends_with_an_endpoint_and_begins_with_it),
		cmocka_unit_test(requests_that_a_loss_leaves_are_abandoned),
		cmocka_unit_test(any_order_of_hotplug_keeps_the_books_right),
		cmocka_unit_test(every_failing_allocation_is_reported),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
