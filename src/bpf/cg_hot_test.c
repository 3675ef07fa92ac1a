/* cg_hot_test.c: what a firing does not pay for: drops that did not happen, zeros that nobody reads, rows that say what
 * is known. */
#include "base/range.h"
#include "bpf/cg_test_int.h"
#include "bpf/insn.h"

enum { RAX = 80, AH = RAX + 1, RDI = 112, PID = 77 }; /* offsets in struct pt_regs */

static const struct syscall_row call = { "first", { 7, 8, 9 }, "" };
static const struct bpf_place second = { NULL, { { OPERAND_REG, 4, true, 0, RAX, 0, 0 } }, 1 },
			      first = { &second, { { OPERAND_REG, 4, true, 0, RAX, 0, 0 } }, 1 },
			      other = { NULL, { { OPERAND_REG, 4, true, 0, RDI, 0, 0 } }, 1 },
			      upper = { NULL, { { OPERAND_REG, 1, true, 0, AH, 0, 0 } }, 1 };
static const struct bpf_probe probes[] = {
	{ .id = 1, .cls = IMG_TEST, .prov = "dtrace", .mod = "", .func = "", .name = "BEGIN" },
	{ .id = 2, .cls = IMG_ENTRY, .prov = "syscall", .mod = "", .func = "first", .name = "entry", .call = &call },
	{ .id = 3,
	  .cls = IMG_USER_PLACE,
	  .prov = "p",
	  .mod = "m",
	  .func = "f",
	  .name = "a",
	  .pid = PID,
	  .place = &first },
	{ .id = 4,
	  .cls = IMG_USER_PLACE,
	  .prov = "p",
	  .mod = "m",
	  .func = "f",
	  .name = "b",
	  .pid = PID,
	  .place = &other,
	  .cookie = 2 },
	{ .id = 5,
	  .cls = IMG_USER_PLACE,
	  .prov = "p",
	  .mod = "m",
	  .func = "f",
	  .name = "c",
	  .pid = PID,
	  .place = &upper,
	  .cookie = 3 },
	{ .id = 6,
	  .cls = IMG_USER_PLACE,
	  .prov = "q",
	  .mod = "m",
	  .func = "f",
	  .name = "d",
	  .pid = PID,
	  .is_later = true },
	{ .id = 7, .cls = IMG_PERF, .prov = "cpc", .mod = "", .func = "", .name = "one" },
	{ .id = 8, .cls = IMG_PERF, .prov = "cpc", .mod = "", .func = "", .name = "two" },
};

static void hot_open(struct made *m, const char *text, const struct bpf_arch *arch)
{
	made_open(m, text, (struct bpf_opts){ .arch = arch, .probe = probes, .nprobes = COUNT(probes) });
}

/* Which instruction of the first program names such a map first; -1: none. */
static int names_map(const struct made *m, uint8_t use)
{
	const struct img_prog *p = &m->img->prog[0];

	for (uint32_t i = 0; i < p->nins; i++)
		if (p->ins[i].code == INS_LD_IMM64 && p->ins[i].src == INS_SRC_MAP &&
		    m->img->map[p->ins[i].imm].use == use)
			return (int)i;
	return -1;
}

/* How many maps of such a use there are. */
static uint32_t maps_of(const char *text, uint8_t use)
{
	struct made m;
	uint32_t n = 0;

	hot_open(&m, text, &bpf_arch_x86_64);
	for (uint32_t i = 0; i < m.img->nmaps; i++)
		n += m.img->map[i].use == use;
	made_close(&m);
	return n;
}

/* How many instructions of the first program are such: by code, and for calls by helper. */
static uint32_t instructions_like(const char *text, struct bpf_ins like, bool by_imm)
{
	struct made m;
	uint32_t n = 0;

	hot_open(&m, text, &bpf_arch_x86_64);
	for (uint32_t i = 0; i < m.img->prog[0].nins; i++)
		n += m.img->prog[0].ins[i].code == like.code && (!by_imm || m.img->prog[0].ins[i].imm == like.imm);
	made_close(&m);
	return n;
}

static void only_a_drop_looks_up_where_drops_are_counted(void **state)
{
	static const char *const text[] = { ":::entry { @ = count(); }", "p:m:f:a { @[arg0] = count(); }" };
	struct made m;

	(void)state;
	for (size_t i = 0; i < COUNT(text); i++) {
		hot_open(&m, text[i], &bpf_arch_x86_64);
		assert_true(names_map(&m, IMG_AGG) >= 0);
		assert_true(names_map(&m, IMG_DROPS) > names_map(&m, IMG_AGG));
		made_close(&m);
	}
}

static uint32_t helper_reads(const char *text)
{
	return instructions_like(text, I_CALL(probe_read_kernel), true);
}

static void an_argument_that_is_in_one_place_is_read_there(void **state)
{
	(void)state;
	assert_int_equal(helper_reads("p:m:f:a { @[arg0] = count(); }"), 0);      /* two places, the same register */
	assert_true(helper_reads("p:m:f:a, p:m:f:b { @[arg0] = count(); }") > 0); /* two registers */
	assert_true(helper_reads("p:m:f:c { @[arg0] = count(); }") > 0);          /* a part of one */
	assert_true(helper_reads("p:m:f:a, q:m:f:d { @[arg0] = count(); }") >
		    0); /* and places that are not known yet */
	/* each clause for itself, though both are one program */
	assert_int_equal(helper_reads("p:m:f:a { @[arg0] = count(); } p:m:f:b { @b[arg0] = count(); }"), 0);
}

static uint32_t words_zeroed(const char *text)
{
	return instructions_like(text, I_STORE_IMM(DW, 0, 0, 0), false);
}

/* Beside what a program without the string has. */
static void a_string_is_padded_with_zeros_where_somebody_looks_at_them(void **state)
{
	const uint32_t record = words_zeroed(":::entry { trace(1); }"), whole = (256 + 8) / 8, few = 8;

	(void)state;
	assert_uint_in_range(words_zeroed(":::entry { trace(strlen(copyinstr(arg0))); }"), record, record + few);
	assert_uint_in_range(words_zeroed(":::entry /copyinstr(arg0) == \"/etc/passwd\"/ { trace(1); }"), record,
			     record + few);
	assert_true(words_zeroed(":::entry { trace(copyinstr(arg0)); }") >= whole);
	assert_true(words_zeroed(":::entry { @[copyinstr(arg0)] = count(); }") >= whole);
	assert_true(words_zeroed(":::entry { this->s = copyinstr(arg0); }") >= whole);
	assert_true(words_zeroed(":::entry { s = copyinstr(arg0); }") >= whole);
}

static int hot_read_memory(void *arg, uint64_t addr, void *to, size_t n, bool user)
{
	static const char text[1024] = "a text that is longer than the other", other[512] = "short";
	const char *from = addr < 0x2000 ? text : other;

	(void)arg, (void)user;
	memcpy(to, from + addr % 0x1000, n);
	return 0;
}

/* What one clause has read is in the memory of the next. */
static void what_this_memory_had_before_is_in_no_comparison_and_no_record(void **state)
{
	static const char zeros[512];
	const struct vm_cpu cpu = { .read = hot_read_memory };
	struct made m;
	struct vm *vm;
	struct err e = { 0 };
	const char *rec;
	uint32_t n;

	(void)state;
	hot_open(
		&m,
		"BEGIN /strlen(copyinstr(0x1000)) == 36/ { @[copyinstr(0x1000)] = count(); }"
		"BEGIN /copyinstr(0x2000) == \"short\" && copyinstr(0x2000) != \"short!\" && \"short\" == copyinstr(0x2000)/"
		"{ trace(copyinstr(0x2000)); }",
		&bpf_arch_vm);
	assert_int_equal(vm_open(&vm, m.img, 1, &e), 0);
	assert_true(vm_run(vm, 0, &cpu, 100000, &e) >= 0);
	n = vm_ring_next(vm, 1, (const void **)&rec);
	assert_int_equal(n, m.p->clause[1].record_size);
	assert_string_equal(rec + D_RECORD_HDR, "short");
	assert_uint_in_range(n, D_RECORD_HDR + 5, D_RECORD_HDR + 5 + sizeof(zeros));
	assert_memory_equal(rec + D_RECORD_HDR + 5, zeros, n - D_RECORD_HDR - 5);
	vm_close(vm);
	made_close(&m);
}

/* A key that is new while interrupts are off may find the reserve of the map empty only if another was new there. */
static void keys_have_a_second_map_where_several_can_be_new_in_one_interrupt(void **state)
{
	static const struct {
		const char *text;
		uint32_t n;
	} rows[] = {
		{ "one { @[arg0] = count(); }", 0 },
		{ "one { @[arg0] = count(); @[arg1] = count(); }", 1 },
		{ "one { @[arg0] = count(); @b[arg0] = count(); }", 0 },
		{ "one, two { @[arg0] = count(); }", 1 },
		{ "one { @[arg0] = count(); } two { @[arg0] = count(); }", 1 },
		/* other probes do not fire in an interrupt with it, but a clause of theirs may come between */
		{ "BEGIN, one { @[arg0] = count(); }", 0 },
		{ "BEGIN { @[arg0] = count(); } one { @[arg0] = count(); }", 1 },
		{ "BEGIN { @[arg0] = count(); } one { @b[arg0] = count(); }", 0 },
	};

	(void)state;
	for (size_t i = 0; i < COUNT(rows); i++)
		if (maps_of(rows[i].text, IMG_SPARE) != rows[i].n)
			fail_msg("%s: %u", rows[i].text, maps_of(rows[i].text, IMG_SPARE));
}

/* Programs can name so many maps: of few aggregations each has a second one, of many none. */
static void up_to_24_aggregations_have_second_maps(void **state)
{
	(void)state;
	for (uint32_t n = 23; n <= 26; n++) {
		struct buf text = { 0 };
		struct made m;
		uint32_t spares = 0;

		buf_puts(&text, "one, two {");
		for (uint32_t i = 0; i < n; i++)
			buf_printf(&text, " @a%u[arg0] = count();", i);
		buf_puts(&text, " }");
		assert_int_equal(maps_of(text.p, IMG_AGG), n);
		assert_int_equal(maps_of(text.p, IMG_SPARE), n <= 24 ? n : 0);
		hot_open(&m, text.p, &bpf_arch_vm); /* no interrupts there */
		for (uint32_t i = 0; i < m.img->nmaps; i++)
			spares += m.img->map[i].use == IMG_SPARE;
		assert_int_equal(spares, 0);
		made_close(&m);
		buf_free(&text);
	}
}

/* Its key is who the thread is, which only a helper knows. */
static void a_variable_in_the_storage_of_the_thread_needs_no_key(void **state)
{
	const struct bpf_ins who = I_CALL(get_current_pid_tgid);
	const uint32_t without = instructions_like(":::entry { @ = count(); }", who, true);

	(void)state;
	assert_int_equal(instructions_like(":::entry { self->a = arg0; @ = count(); }", who, true), without);
	/* one that is too long is in a hash, alone or beside another */
	assert_true(instructions_like(":::entry { self->s = probename; @ = count(); }", who, true) > without);
	assert_true(instructions_like(":::entry { self->a = arg0; self->s = probename; @ = count(); }", who, true) >
		    without);
}

/* How many atomic instructions the program of a class has, where these probes are. */
static uint32_t atomics_of(const char *text, const struct bpf_probe *probe, uint32_t nprobes, uint8_t cls)
{
	struct made m;
	uint32_t n = 0, programs = 0;

	made_open(&m, text, (struct bpf_opts){ .probe = probe, .nprobes = nprobes });
	for (uint32_t i = 0; i < m.img->nprogs; i++)
		for (uint32_t k = 0; m.img->prog[i].cls == cls && k < m.img->prog[i].nins; k++) {
			programs += k == 0;
			n += m.img->prog[i].ins[k].code == (INS_STX | INS_ATOMIC | INS_DW);
		}
	assert_true(programs > 0);
	made_close(&m);
	return n;
}

/* What another firing of the same CPU can interrupt adds atomically, and nothing else does. */
static void adding_is_atomic_where_another_firing_can_come_between(void **state)
{
	static const struct bpf_point point = { .name = "sched_switch", .at = POINT_TRACEPOINT };
	struct bpf_probe some[] = {
		{ .cls = IMG_PERF, .prov = "cpc", .mod = "", .func = "", .name = "one" },
		probes[0],
		probes[1],
		probes[2],
		{ .cls = IMG_POINT,
		  .prov = "sched",
		  .mod = "",
		  .func = "",
		  .name = "off-cpu",
		  .point = &point,
		  .npoints = 1 },
	};
	const struct bpf_probe *perf = &some[0], *test = &some[1], *entry = &some[2], *place = &some[3];

	(void)state;
	for (uint32_t i = 0; i < COUNT(some); i++)
		some[i].id = i + 1;
	assert_int_equal(atomics_of("cpc:::one { @ = sum(7); }", perf, 1, IMG_PERF), 0);
	assert_int_equal(atomics_of("cpc:::one { @ = sum(7); }", perf, 4, IMG_PERF), 0);
	assert_true(atomics_of("cpc:::one { @ = sum(7); }", perf, 5, IMG_PERF) > 0);
	assert_true(atomics_of("BEGIN { @ = sum(7); }", test, 1, IMG_TEST) > 0);
	assert_int_equal(atomics_of("syscall::first:entry { @ = sum(7); }", entry, 1, IMG_ENTRY), 0);
	assert_true(atomics_of("syscall::first:entry { @ = sum(7); }", some, 3, IMG_ENTRY) > 0);
	assert_true(atomics_of("syscall::first:entry { @ = sum(7); }", entry, 3, IMG_ENTRY) > 0);
	assert_true(atomics_of("p:m:f:a { @ = sum(7); }", place, 1, IMG_USER_PLACE) > 0);
}

static int counter_is_there(void *arg, const char *event, struct err *e)
{
	(void)arg, (void)event, (void)e;
	return 0;
}

/* What a register is before an instruction, if it is an address in the stack: its offset; otherwise 0. */
static int32_t stack_offset_in(const struct img_prog *p, uint32_t before, uint8_t reg)
{
	bool in_stack = false;
	int32_t off = 0;

	for (uint32_t i = 0; i < before; i++) {
		const struct bpf_ins *in = &p->ins[i];

		if (in->dst != reg)
			continue;
		if (in->code == (INS_ALU64 | INS_K | OP_ADD)) {
			off += in->imm;
			continue;
		}
		in_stack = in->code == (INS_ALU64 | INS_X | OP_MOV) && in->src == R10;
		off = 0;
	}
	return in_stack ? off : 0;
}

/* The kernel writes three words: the counter, and how long it was enabled and ran. */
static void a_counter_is_read_into_the_stack(void **state)
{
	const struct bpf_ins read = I_CALL(perf_event_read_value);
	struct bpf_opts o = { .arch = &bpf_arch_x86_64,
			      .probe = probes,
			      .nprobes = COUNT(probes),
			      .ring_bytes = 4096,
			      .control_bytes = 4096,
			      .agg_entries = 16,
			      .dynvar_bytes = 1 << 20 };
	const struct d_env env = { .probes = made_probes, .arg = &o, .strsize = 256, .counter = counter_is_there };
	const struct img_prog *p;
	struct err e = { 0 };
	uint32_t reads = 0;
	struct made m;

	(void)state;
	if (made_generate(&m, "cpc:::one { @ = sum(counter(\"cycles\")); }", &env, &o, &e) < 0)
		fail_msg("%s", e.text);
	p = &m.img->prog[0];
	for (uint32_t i = 0; i < p->nins; i++) {
		if (p->ins[i].code != read.code || p->ins[i].imm != read.imm)
			continue;
		reads++;
		assert_uint_in_range(-stack_offset_in(p, i, R3), 24, 512);
	}
	assert_int_equal(reads, 1);
	made_close(&m);
}

/* The scratch memory of a stack of so many frames. */
static uint32_t scratch_of_stack(bool unwind, uint32_t frames)
{
	struct buf text = { 0 };
	struct made m;
	uint32_t n = 0;

	buf_printf(&text, "cpc:::one { @[ustack(%u)] = count(); }", frames);
	made_open(&m, text.p,
		  (struct bpf_opts){ .probe = probes,
				     .nprobes = COUNT(probes),
				     .stack_entries = 64,
				     .ustackframes = frames,
				     .generations = true,
				     .unwind = unwind,
				     .unwind_chunks = 4 });
	for (uint32_t i = 0; i < m.img->nmaps; i++)
		if (m.img->map[i].use == IMG_SCRATCH)
			n = m.img->map[i].value_size;
	made_close(&m);
	buf_free(&text);
	return n;
}

static void a_stack_that_is_walked_has_room_for_what_the_walk_finds(void **state)
{
	(void)state;
	assert_int_equal(scratch_of_stack(false, 30) - scratch_of_stack(false, 10), 20 * 8);
	assert_true(scratch_of_stack(true, 10) >= scratch_of_stack(false, 10) + 10 * 8);
	assert_true(scratch_of_stack(true, 30) >= scratch_of_stack(false, 30) + 30 * 8);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(only_a_drop_looks_up_where_drops_are_counted),
		cmocka_unit_test(an_argument_that_is_in_one_place_is_read_there),
		cmocka_unit_test(a_string_is_padded_with_zeros_where_somebody_looks_at_them),
		cmocka_unit_test(what_this_memory_had_before_is_in_no_comparison_and_no_record),
		cmocka_unit_test(a_variable_in_the_storage_of_the_thread_needs_no_key),
		cmocka_unit_test(keys_have_a_second_map_where_several_can_be_new_in_one_interrupt),
		cmocka_unit_test(up_to_24_aggregations_have_second_maps),
		cmocka_unit_test(adding_is_atomic_where_another_firing_can_come_between),
		cmocka_unit_test(a_counter_is_read_into_the_stack),
		cmocka_unit_test(a_stack_that_is_walked_has_room_for_what_the_walk_finds),
	};

	return cmocka_run_group_tests_name("what a firing costs", tests, NULL, NULL);
}
