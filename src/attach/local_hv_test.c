/* local_hv_test.c: hypervisor services over the local protocol: guests, memory, calls, and clients that mean ill. */
#include <setjmp.h>
#include <stdarg.h>
#include <sys/mman.h>
#include <cmocka.h>

#include "attach/local_hv.h"
#include "attach/local_test_int.h"
#include "base/mem_left.h"

#define BASE UINT64_C(0x80000000)
enum { FAST = HV_FAST_TRAP, CORE = HV_CORE_TRAP };

/* ---- machines ------------------------------------------------------------------------------------------ */

static uint64_t no_time(void *arg)
{
	(void)arg;
	return 42;
}

struct fixture {
	struct local_hv hv;
	struct local_hv_guests guests;
	void *service;
};

static void open_sun4v(struct fixture *f, const char *machine, const char *guests)
{
	struct sun4v_opts o = { .kind = sun4v_kind(machine, 0), .ops = &niagara_ops, .guests = LOCAL_CLIENTS };
	struct err e = { 0 };

	*f = (struct fixture){ .hv = { .kind = o.kind, .guests = &f->guests, .now = no_time } };
	assert_int_equal(niagara_open(&f->hv.niagara, o.kind, &(struct niagara_opts){ 0 }, &e), 0);
	o.arg = f->hv.niagara;
	assert_int_equal(sun4v_open(&f->hv.sun4v, &o), 0);
	assert_int_equal(local_hv_guests_parse(&f->guests, guests, strlen(guests), 256, &e), 0);
	assert_int_equal(local_hv_service(machine)->open(&f->service, &f->hv, &e), 0);
}

static void open_power(struct fixture *f)
{
	struct papr_opts o = { .ops = &power_ops, .level = 6 };
	struct err e = { 0 };

	*f = (struct fixture){ .hv = { .now = no_time } };
	assert_int_equal(power_open(&f->hv.power, &(struct power_opts){ .level = 6 }, &e), 0);
	o.arg = f->hv.power;
	assert_int_equal(papr_open(&f->hv.papr, &o), 0);
	assert_int_equal(local_hv_service("power")->open(&f->service, &f->hv, &e), 0);
}

static void close_fixture(struct fixture *f)
{
	local_hv_service("power")->close(f->service);
	local_hv_guests_free(&f->guests);
	sun4v_close(f->hv.sun4v);
	niagara_close(f->hv.niagara);
	papr_close(f->hv.papr);
	power_close(f->hv.power);
}

/* ---- a conversation without a socket --------------------------------------------------------------------- */

struct talk {
	struct local_peer *p;
	struct local_head head; /* of the last answer */
	uint8_t answer[256];
	char words[512];
};

static int say(struct talk *t, uint16_t op, const void *p, size_t n)
{
	struct local_head h = { (uint32_t)(sizeof(h) + n), op, 0, 9 };
	const uint8_t *out;
	uint8_t *to;
	size_t room;

	to = local_peer_room(t->p, &room);
	assert_true(room >= h.bytes);
	memcpy(to, &h, sizeof(h));
	if (n)
		memcpy(to + sizeof(h), p, n);
	local_peer_came(t->p, h.bytes);
	out = local_peer_out(t->p, &room);
	assert_true(room >= sizeof(t->head));
	memcpy(&t->head, out, sizeof(t->head));
	assert_int_equal(t->head.bytes, room);
	assert_int_equal(t->head.op, op);
	memcpy(t->answer, out + sizeof(h), room - sizeof(h) < sizeof(t->answer) ? room - sizeof(h) : sizeof(t->answer));
	snprintf(t->words, sizeof(t->words), "%.*s", t->head.status ? (int)(room - sizeof(h)) : 0, out + sizeof(h));
	local_peer_sent(t->p, room);
	return local_error(t->head.status);
}

static void begin(struct talk *t, struct fixture *f, const char *machine)
{
	const struct local_hello hello = { LOCAL_MAGIC, LOCAL_VERSION, 0 };

	*t = (struct talk){ 0 };
	assert_int_equal(local_peer_open(&t->p, local_hv_service(machine), f->service), 0);
	assert_int_equal(say(t, LOCAL_HELLO, &hello, sizeof(hello)), 0);
}

static int guest(struct talk *t, const char *name, uint32_t partition)
{
	struct local_hv_ask ask = { .partition = partition };

	strcpy(ask.guest, name);
	return say(t, LOCAL_HV_GUEST, &ask, sizeof(ask));
}

static uint32_t granted(const struct talk *t)
{
	struct local_hv_machine m;

	memcpy(&m, t->answer, sizeof(m));
	return m.rights;
}

static int call(struct talk *t, uint32_t vcpu, uint32_t trap, uint64_t function, uint64_t a, uint64_t b, uint64_t c,
		uint64_t r[6])
{
	const struct local_hv_call q = { vcpu, trap, { a, b, c, 0, 0, function } };
	int rc = say(t, LOCAL_HV_CALL, &q, sizeof(q));

	memcpy(r, t->answer, 6 * sizeof(*r));
	return rc;
}

/* A memfd with these seals. */
static int memory_fd(size_t bytes, int seals)
{
	int fd = memfd_create("test", MFD_CLOEXEC | MFD_ALLOW_SEALING);

	assert_true(fd >= 0);
	assert_int_equal(ftruncate(fd, (off_t)bytes), 0);
	assert_int_equal(fcntl(fd, F_ADD_SEALS, seals), 0);
	return fd;
}

static int lend(struct talk *t, int fd, uint64_t base, uint64_t bytes)
{
	const struct local_hv_memory m = { base, bytes };

	if (fd >= 0)
		local_peer_gave(t->p, fd);
	return say(t, LOCAL_HV_MEMORY, &m, sizeof(m));
}

/* ---- guests ------------------------------------------------------------------------------------------------ */

static void a_guest_learns_what_machine_it_is(void **state)
{
	struct local_hv_machine m;
	struct fixture f;
	struct talk t;

	(void)state;
	open_sun4v(&f, "batoka", "");
	begin(&t, &f, "batoka");
	assert_int_equal(guest(&t, "", 0), 0);
	memcpy(&m, t.answer, sizeof(m));
	assert_string_equal(m.machine, "batoka");
	assert_int_equal(m.sockets, 4);
	assert_int_equal(m.strands, 256);
	assert_int_equal(m.strands_per_node, 64);
	assert_int_equal(m.rights, 15);
	assert_int_equal(m.memory_most, LOCAL_HV_MEMORY_MOST);
	assert_int_equal(m.ns, 42);
	assert_int_equal(guest(&t, "", 0), -TALLY_ESTATE);
	assert_int_equal(say(&t, LOCAL_HV_TIME, NULL, 0), 0);
	assert_int_equal(t.answer[0], 42);
	local_peer_close(t.p);
	close_fixture(&f);
}

static void what_comes_before_a_guest_is_refused(void **state)
{
	const struct local_hv_assign assign = { 0, 0x10, 0 };
	const struct local_hv_asr asr = { 0, 0x10 };
	struct fixture f;
	struct talk t;
	uint64_t r[6];

	(void)state;
	open_sun4v(&f, "niagara", "");
	begin(&t, &f, "niagara");
	assert_int_equal(call(&t, 0, CORE, 3, 1, 0, 0, r), -TALLY_ESTATE);
	assert_int_equal(lend(&t, memory_fd(4096, F_SEAL_SHRINK), BASE, 4096), -TALLY_ESTATE);
	assert_int_equal(say(&t, LOCAL_HV_ASR_READ, &asr, sizeof(asr)), -TALLY_ESTATE);
	assert_int_equal(say(&t, LOCAL_HV_ASR_WRITE, &assign, sizeof(assign)), -TALLY_ESTATE);
	assert_non_null(strstr(t.words, "HV_GUEST"));
	local_peer_close(t.p);
	close_fixture(&f);
}

static void only_the_first_guest_without_a_name_has_global(void **state)
{
	struct talk one, two;
	struct fixture f;

	(void)state;
	open_sun4v(&f, "batoka", "");
	begin(&one, &f, "batoka");
	begin(&two, &f, "batoka");
	assert_int_equal(guest(&one, "", 0), 0);
	assert_int_equal(granted(&one), LOCAL_HV_PERF | LOCAL_HV_STRAND | LOCAL_HV_GLOBAL | LOCAL_HV_HT);
	assert_int_equal(guest(&two, "", 0), 0);
	assert_int_equal(granted(&two), LOCAL_HV_PERF | LOCAL_HV_STRAND | LOCAL_HV_HT);
	local_peer_close(one.p);
	local_peer_close(two.p);
	begin(&two, &f, "batoka");
	assert_int_equal(guest(&two, "", 0), 0);
	assert_int_equal(granted(&two) & LOCAL_HV_GLOBAL, LOCAL_HV_GLOBAL);
	local_peer_close(two.p);
	close_fixture(&f);
}

static void named_guests_have_their_rights_and_strands(void **state)
{
	static const char text[] =
		"# two\nguest web strand strands=0-63\nguest db  global,htstrand # all\nothers none\n";
	struct talk web, db, other;
	struct fixture f;
	uint64_t r[6];

	(void)state;
	open_sun4v(&f, "batoka", text);
	begin(&web, &f, "batoka");
	begin(&db, &f, "batoka");
	begin(&other, &f, "batoka");
	assert_int_equal(guest(&web, "mail", 0), -TALLY_EINVAL);
	assert_int_equal(guest(&web, "web", 0), 0);
	assert_int_equal(granted(&web), LOCAL_HV_PERF | LOCAL_HV_STRAND);
	assert_int_equal(guest(&db, "web", 0), -TALLY_EBUSY);
	assert_int_equal(guest(&db, "db", 0), 0);
	assert_int_equal(granted(&db), LOCAL_HV_PERF | LOCAL_HV_STRAND | LOCAL_HV_GLOBAL | LOCAL_HV_HT);
	assert_int_equal(guest(&other, "", 0), 0);
	assert_int_equal(granted(&other), 0);
	assert_int_equal(call(&web, 63, CORE, 0, 0x205, 1, 1, r), 0);
	assert_int_equal(call(&web, 64, CORE, 0, 0x205, 1, 1, r), -TALLY_EPERM);
	assert_int_equal(call(&db, 0, CORE, 0, 0x205, 1, 1, r), -TALLY_EPERM);
	assert_int_equal(call(&db, 64, CORE, 0, 0x205, 1, 1, r), 0);
	assert_int_equal(call(&db, 256, CORE, 0, 0x205, 1, 1, r), -TALLY_EINVAL);
	assert_int_equal(call(&other, 64, CORE, 0, 0x205, 1, 1, r), -TALLY_EBUSY);
	assert_int_equal(call(&db, 64, FAST, 0x107, 1, 3, 0, r), 0);
	assert_int_equal(r[0], HV_EOK);
	assert_int_equal(call(&web, 0, CORE, 0, 0x205, 1, 1, r), 0);
	assert_int_equal(call(&web, 0, FAST, 0x107, 1, 3, 0, r), 0);
	assert_int_equal(r[0], HV_ENOACCESS);
	local_peer_close(db.p);
	assert_int_equal(call(&other, 64, CORE, 0, 0x205, 1, 1, r), 0);
	local_peer_close(web.p);
	local_peer_close(other.p);
	close_fixture(&f);
}

static void a_named_guest_waits_for_global(void **state)
{
	struct talk one, two;
	struct fixture f;

	(void)state;
	open_sun4v(&f, "batoka", "guest a global\nguest b global\n");
	begin(&one, &f, "batoka");
	begin(&two, &f, "batoka");
	assert_int_equal(guest(&one, "a", 0), 0);
	assert_int_equal(guest(&two, "b", 0), -TALLY_EBUSY);
	assert_non_null(strstr(two.words, "global"));
	local_peer_close(one.p);
	assert_int_equal(guest(&two, "b", 0), 0);
	local_peer_close(two.p);
	close_fixture(&f);
}

static void a_configuration_that_is_wrong_names_its_line(void **state)
{
	static const struct {
		int transport;
		const char *text, *words;
	} rows[] = {
		{ __LINE__, "guest", "line 1: guest name of 1 to 15 bytes expected" },
		{ __LINE__, "guest 0123456789abcdef all", "line 1: guest name of 1 to 15 bytes expected" },
		{ __LINE__, "\nguest a", "line 2: rights expected" },
		{ __LINE__, "guest a everything", "line 1: rights: invalid value 'everything'" },
		{ __LINE__, "guest a all\nguest a all", "line 2: guest is given twice" },
		{ __LINE__, "guest a all strands=5-4", "line 1: strands=A-B out of range (valid: 0 to 31)" },
		{ __LINE__, "guest a all strands=32", "line 1: strands=A-B out of range (valid: 0 to 31)" },
		{ __LINE__, "guest a all strands=x", "line 1: strands=A-B" },
		{ __LINE__, "guest a all strands=0-9\nguest b all strands=9", "line 2: some of these strands" },
		{ __LINE__, "guest a all cpus=3", "line 1: only strands=A-B" },
		{ __LINE__, "guest a all strands=1 2", "line 1: unexpected word at the end of the line: '2'" },
		{ __LINE__, "others", "line 1: rights expected" },
		{ __LINE__, "others all all", "line 1: unexpected word at the end of the line" },
		{ __LINE__, "gast a all", "line 1: expected `guest" },
	};

	(void)state;
	for (size_t i = 0; i < COUNT(rows); i++) {
		struct local_hv_guests g;
		struct err e = { 0 };

		if (local_hv_guests_parse(&g, rows[i].text, strlen(rows[i].text), 32, &e) != -TALLY_EINVAL ||
		    !strstr(e.text, rows[i].words))
			fail_msg("row of line %d: %s", rows[i].transport, e.text);
		assert_int_equal(mem_live(), 0);
	}
}

/* ---- memory ---------------------------------------------------------------------------------------------------- */

static void memory_that_could_go_away_is_refused(void **state)
{
	static const struct {
		int transport, seals;
		uint64_t have, base, bytes;
		const char *words;
	} rows[] = {
		{ __LINE__, 0, 4096, BASE, 4096, "F_SEAL_SHRINK" },
		{ __LINE__, F_SEAL_GROW, 4096, BASE, 4096, "F_SEAL_SHRINK" },
		{ __LINE__, F_SEAL_SHRINK, 4096, BASE, 8192, "has 4096 bytes" },
		{ __LINE__, F_SEAL_SHRINK, 0, BASE, 4096, "has 0 bytes" },
		{ __LINE__, F_SEAL_SHRINK | F_SEAL_WRITE, 4096, BASE, 4096, "cannot map" },
		{ __LINE__, F_SEAL_SHRINK, 4096, BASE, 0, "whole pages" },
		{ __LINE__, F_SEAL_SHRINK, 4096, BASE + 8, 4096, "whole pages" },
		{ __LINE__, F_SEAL_SHRINK, 4096, BASE, 4000, "whole pages" },
		{ __LINE__, F_SEAL_SHRINK, 4096, BASE, LOCAL_HV_MEMORY_MOST + 4096, "whole pages" },
		{ __LINE__, F_SEAL_SHRINK, 8192, UINT64_MAX - 4095, 8192, "last address" },
	};
	const int before = descriptors();
	struct fixture f;
	struct talk t;

	(void)state;
	open_sun4v(&f, "niagara", "");
	begin(&t, &f, "niagara");
	assert_int_equal(guest(&t, "", 0), 0);
	for (size_t i = 0; i < COUNT(rows); i++)
		if (lend(&t, memory_fd(rows[i].have, rows[i].seals), rows[i].base, rows[i].bytes) != -TALLY_EINVAL ||
		    !strstr(t.words, rows[i].words))
			fail_msg("row of line %d: %s", rows[i].transport, t.words);
	assert_int_equal(lend(&t, -1, BASE, 4096), -TALLY_EINVAL);
	assert_non_null(strstr(t.words, "no descriptor"));
	assert_int_equal(lend(&t, open("/dev/zero", O_RDWR | O_CLOEXEC), BASE, 4096), -TALLY_EINVAL);
	assert_non_null(strstr(t.words, "memfd"));
	assert_int_equal(lend(&t, memory_fd(4096, F_SEAL_SHRINK), BASE, 4096), 0);
	assert_int_equal(lend(&t, memory_fd(4096, F_SEAL_SHRINK), BASE, 4096), -TALLY_ESTATE);
	local_peer_gave(t.p, memory_fd(4096, 0));
	local_peer_close(t.p);
	assert_int_equal(descriptors(), before);
	close_fixture(&f);
}

static uint64_t be(const uint8_t *p)
{
	return be64_get(p);
}

static void mmu_statistics_are_in_shared_memory(void **state)
{
	const struct niagara_ref miss = {
		.va = 0x12345678, .context = 5, .kind = NIAGARA_LOAD, .bytes = 8, .instructions = 1
	};
	struct fixture f;
	struct talk t;
	uint8_t *shared;
	uint64_t r[6], sum = 0;
	int fd = memory_fd(8192, F_SEAL_SHRINK);

	(void)state;
	open_sun4v(&f, "niagara", "");
	shared = mmap(NULL, 8192, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	assert_ptr_not_equal(shared, MAP_FAILED);
	begin(&t, &f, "niagara");
	assert_int_equal(guest(&t, "", 0), 0);
	assert_int_equal(call(&t, 0, CORE, 0, 0x200, 1, 0, r), 0);
	assert_int_equal(call(&t, 0, FAST, 0x102, BASE, 0, 0, r), 0);
	assert_int_equal(r[0], HV_ENORADDR); /* it lent none yet */
	assert_int_equal(lend(&t, fd, BASE, 8192), 0);
	assert_int_equal(call(&t, 0, FAST, 0x102, BASE + 8192 - 256, 0, 0, r), 0);
	assert_int_equal(r[0], HV_ENORADDR);
	assert_int_equal(call(&t, 0, FAST, 0x102, BASE + 512, 0, 0, r), 0);
	assert_int_equal(r[0], HV_EOK);
	/* A page's first reference fills the TSB, a later one after others finds it there. */
	for (uint32_t i = 0; i < 400; i++) {
		struct niagara_ref one = miss;

		one.va += (uint64_t)(i % 200) << 13;
		niagara_refs(f.hv.niagara, &one, 1);
	}
	for (size_t i = 512; i < 1024; i += 8)
		sum += be(shared + i);
	assert_true(sum > 0);
	local_peer_close(t.p);
	memset(shared, 0, 8192);
	for (uint32_t i = 0; i < 400; i++) { /* the guest is gone: nobody's buffer is written */
		struct niagara_ref one = miss;

		one.va += (uint64_t)(i % 200) << 13;
		niagara_refs(f.hv.niagara, &one, 1);
	}
	for (size_t i = 0; i < 8192; i++)
		assert_int_equal(shared[i], 0);
	munmap(shared, 8192);
	close_fixture(&f);
}

static void mach_exit_starts_the_guest_again(void **state)
{
	struct fixture f;
	struct talk t;
	uint64_t r[6];

	(void)state;
	open_sun4v(&f, "niagara", "");
	begin(&t, &f, "niagara");
	assert_int_equal(guest(&t, "", 0), 0);
	assert_int_equal(lend(&t, memory_fd(4096, F_SEAL_SHRINK), BASE, 4096), 0);
	assert_int_equal(call(&t, 3, CORE, 0, 0x200, 1, 0, r), 0);
	assert_int_equal(call(&t, 3, FAST, 0x102, BASE, 0, 0, r), 0);
	assert_int_equal(call(&t, 1, CORE, 1, 'x', 0, 0, r), 0);
	assert_int_equal(r[0], HV_EOK);
	assert_int_equal(call(&t, 1, CORE, 2, 5, 0, 0, r), 0);
	assert_int_equal(call(&t, 3, FAST, 0x103, 0, 0, 0, r), 0);
	assert_int_equal(r[0], HV_EOK); /* what was negotiated stays */
	assert_int_equal(r[1], 0);      /* the buffer does not */
	local_peer_close(t.p);
	close_fixture(&f);
}

/* ---- registers ------------------------------------------------------------------------------- */

static void asrs_are_read_and_written(void **state)
{
	struct local_hv_assign assign = { 5, 0x11, 0x123456789 };
	struct local_hv_asr asr = { 5, 0x11 };
	struct fixture f;
	struct talk t;

	(void)state;
	open_sun4v(&f, "batoka", "");
	begin(&t, &f, "batoka");
	assert_int_equal(guest(&t, "", 0), 0);
	assert_int_equal(say(&t, LOCAL_HV_ASR_WRITE, &assign, sizeof(assign)), 0);
	assert_int_equal(say(&t, LOCAL_HV_ASR_READ, &asr, sizeof(asr)), 0);
	assert_memory_equal(t.answer, &assign.value, 8);
	asr.asr = assign.asr = 0x12;
	assert_int_equal(say(&t, LOCAL_HV_ASR_READ, &asr, sizeof(asr)), -TALLY_EINVAL);
	assert_int_equal(say(&t, LOCAL_HV_ASR_WRITE, &assign, sizeof(assign)), -TALLY_EINVAL);
	asr.vcpu = 256;
	assert_int_equal(say(&t, LOCAL_HV_ASR_READ, &asr, sizeof(asr)), -TALLY_EINVAL);
	local_peer_close(t.p);
	close_fixture(&f);
}

static void a_partition_calls_with_sc_1(void **state)
{
	struct local_hv_call q = { 0, 1, { PAPR_GPCI, 0x1000, 512 } };
	const struct local_hv_asr asr = { 0, 0x10 };
	struct fixture f;
	struct talk t;
	uint8_t *shared;
	int fd = memory_fd(4096, F_SEAL_SHRINK);
	uint64_t r[6];

	(void)state;
	open_power(&f);
	shared = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	begin(&t, &f, "power");
	assert_int_equal(guest(&t, "", 999), -TALLY_EINVAL);
	assert_int_equal(guest(&t, "", 2), 0);
	assert_int_equal(lend(&t, fd, 0x1000, 4096), 0);
	gpci_ask(shared, 512, 0x20, -1, 0, 6);
	assert_int_equal(say(&t, LOCAL_HV_CALL, &q, sizeof(q)), 0);
	memcpy(r, t.answer, sizeof(r));
	assert_int_equal(r[0], 0);
	assert_int_equal(r[1], 0x1000);
	assert_int_equal(be(shared + GPCI_HEADER), 2); /* the own partition's record */
	q.trap = 0x80;
	assert_int_equal(say(&t, LOCAL_HV_CALL, &q, sizeof(q)), -TALLY_EINVAL);
	q.trap = 1;
	q.vcpu = 65536;
	assert_int_equal(say(&t, LOCAL_HV_CALL, &q, sizeof(q)), -TALLY_EINVAL);
	assert_int_equal(say(&t, LOCAL_HV_ASR_READ, &asr, sizeof(asr)), -TALLY_ENOTSUP);
	local_peer_close(t.p);
	munmap(shared, 4096);
	close_fixture(&f);
}

static void memory_runs_out_at_every_point(void **state)
{
	struct fixture f;
	struct talk t;
	long live;

	(void)state;
	open_sun4v(&f, "batoka", "");
	live = mem_live();
	for (long n = 1;; n++) {
		uint64_t r[6];
		int rc;

		begin(&t, &f, "batoka");
		mem_fail_at(n);
		rc = guest(&t, "", 0);
		if (rc == 0)
			rc = call(&t, 7, CORE, 0, 0x205, 1, 1, r);
		if (!mem_failed())
			break;
		assert_int_equal(rc, -TALLY_ENOMEM);
		mem_fail_at(0);
		local_peer_close(t.p);
		assert_int_equal(mem_live(), live);
	}
	mem_fail_at(0);
	local_peer_close(t.p);
	close_fixture(&f);
}

/* ---- over a socket --------------------------------------------------------------------------- */

struct served {
	struct fixture f;
	struct serving s;
	char path[64];
};

static void serve(struct served *v, const char *machine)
{
	struct err e = { 0 };

	if (strcmp(machine, "power"))
		open_sun4v(&v->f, machine, "");
	else
		open_power(&v->f);
	local_hv_service(machine)->close(v->f.service); /* the server opens its own */
	v->f.service = NULL;
	v->s = (struct serving){ 0 };
	scratch_path(v->path, sizeof(v->path));
	assert_int_equal(server_open_local(&v->s.server, local_hv_service(machine), &v->f.hv, v->path, &e), 0);
	serving_start(&v->s);
}

static void unserve(struct served *v)
{
	assert_int_equal(v->s.rc, 0);
	serving_end(&v->s);
	scratch_gone(v->path);
	close_fixture(&v->f);
}

static void a_line_calls_as_in_process(void **state)
{
	struct served v;
	struct hv_transport l;
	struct err e = { 0 };
	uint64_t o[6] = { 0x205, 1, 9, 0, 0, 0 }, value = 77;

	(void)state;
	serve(&v, "batoka");
	assert_int_equal(local_transport_open(&l, v.path, NULL, &e), 0);
	assert_ptr_equal(l.kind, sun4v_kind("batoka", 4));
	assert_int_equal(l.sockets, 4);
	assert_int_equal(l.strands, 256);
	assert_int_equal(l.bytes, 256 * MMUSTAT_BYTES);
	assert_null(l.op->papr);
	assert_null(l.op->advance);
	assert_int_equal(l.op->now(l.arg), 42);
	assert_int_equal(l.op->sun4v(l.arg, 0, CORE, o, &e), 0);
	assert_int_equal(o[0], HV_EOK);
	assert_int_equal(o[1], 1);
	assert_int_equal(l.op->asr(l.arg, 9, 0x11, true, &value, &e), 0);
	value = 0;
	assert_int_equal(l.op->asr(l.arg, 9, 0x11, false, &value, &e), 0);
	assert_int_equal(value, 77);
	assert_int_equal(l.op->sun4v(l.arg, 256, CORE, o, &e), -TALLY_EINVAL);
	assert_non_null(strstr(e.text, "no such strand: 256"));
	l.op->close(l.arg);
	unserve(&v);
}

static void a_line_to_power_has_partition_and_level(void **state)
{
	const struct local_transport_opts opts = { .partition = 3 };
	struct served v;
	struct hv_transport l;
	struct err e = { 0 };
	uint64_t r[3] = { PAPR_GPCI, 0, 1024 };

	(void)state;
	serve(&v, "power");
	assert_int_equal(local_transport_open(&l, v.path, &opts, &e), 0);
	assert_null(l.kind);
	assert_int_equal(l.partition, 3);
	assert_int_equal(l.level, 6);
	assert_null(l.op->sun4v);
	gpci_ask(l.memory, 1024, 0x20, -1, 0, 6);
	r[1] = l.base;
	assert_int_equal(l.op->papr(l.arg, 0, r, &e), 0);
	assert_int_equal(r[0], 0);
	assert_int_equal(be(l.memory + GPCI_HEADER), 3);
	l.op->close(l.arg);
	unserve(&v);
}

static void a_server_that_goes_is_an_error_of_the_next_call(void **state)
{
	struct served v;
	struct hv_transport l;
	struct err e = { 0 };
	uint64_t o[6] = { 0 };

	(void)state;
	serve(&v, "niagara");
	assert_int_equal(local_transport_open(&l, v.path, NULL, &e), 0);
	unserve(&v);
	assert_int_equal(l.op->sun4v(l.arg, 0, CORE, o, &e), -TALLY_EEND);
	assert_int_equal(l.op->now(l.arg), 42);
	l.op->close(l.arg);
}

/* Sends n bytes of a good conversation, with one to three descriptors at the first, and goes. */
static void die_after(const char *path, const struct script *s, size_t n)
{
	union {
		struct cmsghdr head;
		char bytes[CMSG_SPACE(3 * sizeof(int))];
	} along = { .head = { CMSG_LEN((1 + n % 3) * sizeof(int)), SOL_SOCKET, SCM_RIGHTS } };
	struct iovec v = { (void *)(uintptr_t)s->p, n };
	struct msghdr m = { .msg_iov = &v, .msg_iovlen = 1, .msg_control = &along, .msg_controllen = sizeof(along) };
	int fd = raw_connect(path), mem = memory_fd(4096, F_SEAL_SHRINK);

	assert_true(fd >= 0);
	for (size_t i = 0; i <= n % 3; i++)
		memcpy(CMSG_DATA(&along.head) + i * sizeof(mem), &mem, sizeof(mem));
	m.msg_controllen = CMSG_SPACE((1 + n % 3) * sizeof(int));
	assert_int_equal(sendmsg(fd, &m, MSG_NOSIGNAL), n);
	close(mem);
	close(fd);
}

static void a_client_that_dies_at_any_byte_harms_nobody(void **state)
{
	const struct local_hv_memory memory = { BASE, 4096 };
	const struct local_hv_ask ask = { 0 };
	const struct local_hv_call calls[] = { { 9, CORE, { 0x200, 1, 0, 0, 0, 0 } },
					       { 9, FAST, { BASE, 0, 0, 0, 0, 0x102 } } };
	struct script s = { .n = 0 };
	struct served v;
	struct hv_transport l;
	struct err e = { 0 };
	uint64_t o[6];
	int before;

	(void)state;
	put_hello(&s, 0);
	put(&s, LOCAL_HV_GUEST, 1, &ask, sizeof(ask));
	put(&s, LOCAL_HV_MEMORY, 2, &memory, sizeof(memory));
	put(&s, LOCAL_HV_CALL, 3, &calls[0], sizeof(calls[0]));
	put(&s, LOCAL_HV_CALL, 4, &calls[1], sizeof(calls[1]));
	serve(&v, "niagara");
	assert_int_equal(local_transport_open(&l, v.path, NULL, &e), 0);
	before = descriptors();
	for (size_t n = 1; n <= s.n; n++) {
		die_after(v.path, &s, n);
		memcpy(o, (uint64_t[6]){ 0x200, 1, 0, 0, 0, 0 }, sizeof(o));
		assert_int_equal(l.op->sun4v(l.arg, 3, CORE, o, &e), 0);
		assert_int_equal(o[0], HV_EOK);
	}
	/* All that they had is free: their strand, too, once the server has seen the last one go. */
	for (int i = 0; i < 1000; i++) {
		e.code = 0;
		memcpy(o, (uint64_t[6]){ 0x200, 1, 0, 0, 0, 0 }, sizeof(o));
		if (l.op->sun4v(l.arg, 9, CORE, o, &e) == 0)
			break;
	}
	assert_int_equal(e.code, 0);
	for (int i = 0; i < 1000 && descriptors() != before; i++)
		(void)l.op->now(l.arg);
	assert_int_equal(descriptors(), before);
	l.op->close(l.arg);
	unserve(&v);
}

static void a_client_can_not_take_lent_memory_back(void **state)
{
	struct local_client *c;
	struct served v;
	struct err e = { 0 };
	const struct local_hv_ask ask = { 0 };
	const struct local_hv_memory m = { BASE, 8192 };
	const struct local_hv_call calls[] = { { 0, CORE, { 0x200, 1, 0, 0, 0, 0 } },
					       { 0, FAST, { BASE + 4096, 0, 0, 0, 0, 0x102 } } };
	struct local_answer a;
	int fd = memory_fd(8192, F_SEAL_SHRINK);

	(void)state;
	serve(&v, "niagara");
	assert_int_equal(local_connect(&c, v.path, LOCAL_CALL, NULL, &e), 0);
	assert_int_equal(local_ask_and_wait(c, LOCAL_HV_GUEST, &ask, sizeof(ask), &a, NULL, &e), 0);
	local_enclose(c, fd);
	assert_int_equal(local_ask_and_wait(c, LOCAL_HV_MEMORY, &m, sizeof(m), &a, NULL, &e), 0);
	for (size_t i = 0; i < COUNT(calls); i++)
		assert_int_equal(local_ask_and_wait(c, LOCAL_HV_CALL, &calls[i], sizeof(calls[i]), &a, NULL, &e), 0);
	assert_int_equal(ftruncate(fd, 0), -1);
	assert_int_equal(fallocate(fd, FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE, 0, 8192), 0);
	for (uint32_t i = 0; i < 100; i++) {
		const struct niagara_ref r = {
			.va = (uint64_t)(i % 50) << 13, .kind = NIAGARA_LOAD, .bytes = 8, .instructions = 1
		};

		niagara_refs(v.f.hv.niagara, &r, 1); /* the server is idle: nobody else is at the machine */
	}
	assert_int_equal(local_ask_and_wait(c, LOCAL_HV_TIME, NULL, 0, &a, NULL, &e),
			 -TALLY_EPERM); /* not asked for in hello */
	e.code = 0;
	assert_int_equal(local_ask_and_wait(c, LOCAL_HV_CALL, &calls[1], sizeof(calls[1]), &a, NULL, &e), 0);
	local_disconnect(c);
	close(fd);
	unserve(&v);
}

static void kunpeng_has_no_hypervisor(void **state)
{
	struct kunpeng *k;
	struct serving s = { 0 };
	struct hv_transport l;
	struct err e = { 0 };
	char path[64];

	(void)state;
	assert_int_equal(kunpeng_open(&k, &(struct kunpeng_opts){ 0 }, &e), 0);
	scratch_path(path, sizeof(path));
	assert_int_equal(server_open_local(&s.server, &local_kunpeng, k, path, &e), 0);
	serving_start(&s);
	assert_int_equal(local_transport_open(&l, path, NULL, &e), -TALLY_ENOTSUP);
	serving_end(&s);
	kunpeng_close(k);
	scratch_gone(path);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(a_guest_learns_what_machine_it_is),
		TEST(what_comes_before_a_guest_is_refused),
		TEST(only_the_first_guest_without_a_name_has_global),
		TEST(named_guests_have_their_rights_and_strands),
		TEST(a_named_guest_waits_for_global),
		TEST(a_configuration_that_is_wrong_names_its_line),
		TEST(memory_that_could_go_away_is_refused),
		TEST(mmu_statistics_are_in_shared_memory),
		TEST(mach_exit_starts_the_guest_again),
		TEST(asrs_are_read_and_written),
		TEST(a_partition_calls_with_sc_1),
		TEST(memory_runs_out_at_every_point),
		TEST(a_line_calls_as_in_process),
		TEST(a_line_to_power_has_partition_and_level),
		TEST(a_server_that_goes_is_an_error_of_the_next_call),
		TEST(a_client_that_dies_at_any_byte_harms_nobody),
		TEST(a_client_can_not_take_lent_memory_back),
		TEST(kunpeng_has_no_hypervisor),
	};

	return cmocka_run_group_tests_name("local_hv", tests, NULL, NULL);
}
