/*
 * cg_test.c: programs of the code generator in the vm: variables, keys of aggregations, faults, and clauses that are
 * too large for one program.
 */
#include <stdio.h>

#include "facts/bucket_of.h"
#include "bpf/cg_run_test_int.h"

/* What BEGIN { self->n++; trace(self->n); } hands over when this thread runs it. */
static uint64_t thread_counts(struct run *r, const struct vm_cpu *cpu)
{
	uint32_t size;
	uint64_t n;

	run_fire(r, ID_BEGIN, cpu);
	memcpy(&n, run_record(r, NCPUS, &size) + D_RECORD_HDR, sizeof(n));
	return n;
}

static void a_thread_does_not_begin_with_what_a_dead_one_of_its_id_left(void **state)
{
	struct vm_cpu first = cpu0, second = cpu0;
	struct run r;

	(void)state;
	first.start_ns = 1234567890123;
	second.start_ns = 1234567890124;
	run_must_open(&r, "BEGIN { self->n++; trace(self->n); }");
	assert_int_equal(thread_counts(&r, &first), 1);
	assert_int_equal(thread_counts(&r, &first), 2);
	assert_int_equal(thread_counts(&r, &second), 1);
	assert_int_equal(thread_counts(&r, &first), 3);
	run_close(&r);
}

/* Says that the mappings of a process are of this generation. */
static void begin_generation(struct run *r, uint64_t process, uint64_t began_ns)
{
	struct maps m = vm_maps(r->vm);
	struct img_generation g = { .began_ns = began_ns };
	uint32_t map = 0;

	while (r->made.img->map[map].use != IMG_GENERATIONS)
		map++;
	assert_int_equal(m.ops->update(m.maps, map, &process, &g), 0);
}

/* The places of address spaces; the vm's is the process's id. */
static struct img_space *place_of(struct run *r, uint64_t process)
{
	struct maps m = vm_maps(r->vm);
	uint32_t map = 0;

	while (r->made.img->map[map].use != IMG_SPACES)
		map++;
	return (struct img_space *)m.ops->memory(m.maps, map) +
	       ((uint32_t)process * 0x9e3779b1u >> (32 - IMG_SPACES_BITS));
}

static void a_user_address_is_handed_over_with_the_generation_of_its_process(void **state)
{
	uint64_t got[8];
	uint32_t size;
	struct run r;

	(void)state;
	run_must_open(&r, "event { printf(\"%A %A\", arg1, 0x77); }");
	for (uint64_t generation = 0; generation < 3; generation++) {
		if (generation)
			begin_generation(&r, cpu0.pid, generation);
		begin_generation(&r, cpu0.pid + 1, 99);
		place_of(&r, cpu0.pid)->mm = IMG_SPACE_NONE; /* it has no place of its own */
		run_fire(&r, ID_EVENT, &cpu0);
		memcpy(got, run_record(&r, 0, &size), sizeof(got));
		assert_int_equal(size, sizeof(got));
		assert_memory_equal(&got[2], ((uint64_t[]){ 100, generation, 0x400100, 100, generation, 0x77 }), 48);
	}
	run_close(&r);
}

static void the_generation_of_a_process_is_read_without_a_look_up_where_its_space_has_a_place(void **state)
{
	const struct img_space places[] = { { 0, 0 }, { cpu0.pid, 7 }, { cpu0.pid, 8 }, { cpu0.pid + 1, 9 } };
	const uint64_t want[] = { 0, 7, 8, 5 };
	uint64_t got[5];
	uint32_t size, seen = 0;
	struct run r;

	(void)state;
	run_must_open(&r, "event { printf(\"%A\", arg1); }");
	begin_generation(&r, cpu0.pid, 5); /* asked only if the place is another's */
	for (uint32_t i = 0; i < COUNT(places); i++) {
		*place_of(&r, cpu0.pid) = places[i];
		run_fire(&r, ID_EVENT, &cpu0);
		memcpy(got, run_record(&r, 0, &size), sizeof(got));
		seen += got[3] == want[i];
	}
	assert_int_equal(seen, COUNT(places));
	run_close(&r);
}

static void the_same_address_of_two_generations_is_two_keys_of_an_aggregation(void **state)
{
	struct maps m;
	uint64_t key[3];
	uint32_t map = 0, n = 0;
	struct run r;

	(void)state;
	run_must_open(&r, "event { @[ufunc(arg1)] = count(); }");
	run_fire(&r, ID_EVENT, &cpu0);
	*place_of(&r, cpu0.pid) = (struct img_space){ cpu0.pid, 5 };
	run_fire(&r, ID_EVENT, &cpu0);
	m = vm_maps(r.vm);
	while (r.made.img->map[map].use != IMG_AGG)
		map++;
	assert_int_equal(r.made.img->map[map].key_size, sizeof(key));
	for (int rc = m.ops->next(m.maps, map, NULL, key); rc == 0; rc = m.ops->next(m.maps, map, key, key))
		n++;
	assert_int_equal(n, 2);
	run_close(&r);
}

static void maps_have_the_name_of_their_use_and_those_that_are_many_their_number(void **state)
{
	static const char *const names[] = { "ctl", "globals", "drops", "agg_0", "agg_1", "var_0" };
	struct run r;

	(void)state;
	run_must_open(&r, "BEGIN { g = 1; @a[arg0] = count(); @b = sum(arg0); x[arg0] = 1; }");
	for (size_t i = 0; i < COUNT(names); i++) {
		uint32_t found = 0;

		for (uint32_t m = 0; m < r.made.img->nmaps; m++)
			found += !strcmp(r.made.img->map[m].name, names[i]);
		if (found != 1)
			fail_msg("%u maps are called %s", found, names[i]);
	}
	run_close(&r);
}

static void a_program_without_user_addresses_looks_up_no_generation(void **state)
{
	struct run r;

	(void)state;
	run_must_open(&r, "event { @[func(arg0), pid, stack()] = count(); }");
	for (uint32_t i = 0; i < r.made.img->nmaps; i++)
		assert_true(r.made.img->map[i].use != IMG_GENERATIONS && r.made.img->map[i].use != IMG_SPACES);
	for (uint32_t i = 0; i < r.made.img->nprogs; i++)
		assert_int_equal(r.made.img->prog[i].nrelocs, 0);
	run_close(&r);
}

static void the_idle_thread_of_each_cpu_has_variables_of_its_own(void **state)
{
	struct vm_cpu idle0 = cpu0, idle1 = cpu0;
	struct run r;

	(void)state;
	idle0.pid = idle0.tid = idle1.pid = idle1.tid = 0;
	idle1.cpu = 1;
	run_must_open(&r, "BEGIN { self->n++; trace(self->n); }");
	assert_int_equal(thread_counts(&r, &idle0), 1);
	assert_int_equal(thread_counts(&r, &idle0), 2);
	assert_int_equal(thread_counts(&r, &idle1), 1);
	assert_int_equal(thread_counts(&r, &cpu0), 1);
	assert_int_equal(thread_counts(&r, &idle0), 3);
	run_close(&r);
}

/* ---- aggregations ----------------------------------------------------------------- */

struct walk {
	uint64_t key[64][40], val[64][NCPUS][4];
	uint32_t n;
};

static void walk_agg(struct run *r, struct walk *w)
{
	struct maps m = vm_maps(r->vm);
	uint32_t map = 0;
	void *last = NULL;

	memset(w, 0, sizeof(*w));
	while (r->made.img->map[map].use != IMG_AGG)
		map++;
	while (w->n < 64 && m.ops->next(m.maps, map, last, w->key[w->n]) == 0) {
		uint64_t flat[NCPUS * 4] = { 0 };
		uint32_t words = r->made.img->map[map].value_size / 8;

		assert_int_equal(m.ops->lookup(m.maps, map, w->key[w->n], flat), 0);
		for (uint32_t c = 0; c < NCPUS; c++)
			memcpy(w->val[w->n][c], flat + c * words, 8 * words);
		last = w->key[w->n++];
	}
}

static void walk_agg_of(const char *src, struct walk *w)
{
	struct run r;

	run_must_open(&r, src);
	run_fire(&r, ID_BEGIN, &cpu0);
	walk_agg(&r, w);
	run_close(&r);
}

static void values_of_aggregations_are_what_slot_h_says(void **state)
{
	struct walk w;

	(void)state;
	walk_agg_of("BEGIN { @ = count(); @ = count(); }", &w);
	assert_int_equal(w.val[0][0][0], 2);
	walk_agg_of("BEGIN { @ = sum(5); @ = sum(-7); }", &w);
	assert_int_equal((int64_t)w.val[0][0][0], -2);
	walk_agg_of("BEGIN { @ = avg(5); @ = avg(8); }", &w);
	assert_int_equal(w.val[0][0][0], 2);
	assert_int_equal(w.val[0][0][1], 13);
	walk_agg_of("BEGIN { @ = min(5); @ = min(-8); @ = min(3); }", &w);
	assert_int_equal((int64_t)w.val[0][0][0], -8);
	walk_agg_of("BEGIN { @ = max(-5); @ = max(-8); }", &w);
	assert_int_equal((int64_t)w.val[0][0][0], -5);
	walk_agg_of("BEGIN { @ = stddev(-3); @ = stddev(0x123456789abcdef); }", &w);
	assert_int_equal(w.val[0][0][0], 2);
	assert_int_equal(w.val[0][0][1], 0x123456789abcdefull - 3);
	{
		unsigned __int128 sq = (unsigned __int128)0x123456789abcdefull * 0x123456789abcdefull + 9;

		assert_int_equal(w.val[0][0][2], (uint64_t)sq);
		assert_int_equal(w.val[0][0][3], (uint64_t)(sq >> 64));
	}
}

static void keys_are_tuples_padded_with_zeros(void **state)
{
	struct walk w;

	(void)state;
	walk_agg_of("BEGIN { @a[execname, pid, \"x\"] = count(); @a[execname, pid, \"x\"] = count(); }", &w);
	assert_int_equal(w.n, 1);
	assert_string_equal((char *)w.key[0], "brendan");
	assert_int_equal(w.key[0][1], 0);
	assert_int_equal(w.key[0][2], 100);
	assert_string_equal((char *)&w.key[0][3], "x");
	assert_int_equal(w.val[0][0][0], 2);
}

static uint32_t bucket_of(const char *fn, int64_t v, const char *args)
{
	char src[300];
	struct walk w;

	snprintf(src, sizeof(src), "BEGIN { x = (int64_t)0x%llx; @ = %s(x%s); }", (unsigned long long)v, fn, args);
	walk_agg_of(src, &w);
	assert_int_equal(w.n, 1);
	assert_int_equal(w.val[0][0][0], 1);
	return (uint32_t)w.key[0][0];
}

static void buckets_are_those_of_bucket_h(void **state)
{
	static const int64_t v[] = { 0,    1,     -1,        2,          3,         4,         -2,           -3,
				     -4,   5,     9,         10,         11,        99,        100,          101,
				     999,  1000,  1023,      1024,       4095,      10000,     -5,           -10,
				     -100, -1000, 123456789, -123456789, INT64_MAX, INT64_MIN, INT64_MIN + 1 };
	const struct lquantize lq = { -10, 1000, 7 };
	const struct llquantize llq = { 10, 0, 3, 20 };

	(void)state;
	for (size_t i = 0; i < COUNT(v); i++) {
		if (bucket_of("quantize", v[i], "") != quantize_bucket(v[i]))
			fail_msg("quantize(%lld)", (long long)v[i]);
		if (bucket_of("lquantize", v[i], ", -10, 1000, 7") != lquantize_bucket(&lq, v[i]))
			fail_msg("lquantize(%lld)", (long long)v[i]);
		if (bucket_of("llquantize", v[i], ", 10, 0, 3, 20") != llquantize_bucket(&llq, v[i]))
			fail_msg("llquantize(%lld)", (long long)v[i]);
	}
}

static void stacks_are_keys(void **state)
{
	struct vm_cpu cpu = cpu0;
	struct run r;
	struct walk w;

	(void)state;
	run_must_open(&r, "event { @[ustack()] = count(); }");
	run_fire(&r, ID_EVENT, &cpu);
	run_fire(&r, ID_EVENT, &cpu);
	cpu.nustack = 1;
	run_fire(&r, ID_EVENT, &cpu);
	walk_agg(&r, &w);
	assert_int_equal(w.n, 2);
	assert_int_equal(w.val[0][0][0] + w.val[1][0][0], 3);
	assert_int_equal(w.key[0][0], 100);
	run_close(&r);
}

/* ---- faults, predicates, probes -------------------------------------------------------- */

static void a_fault_hands_over_an_error_record_and_the_next_clause_runs(void **state)
{
	static const struct {
		int line;
		const char *expr;
		uint64_t fault, value;
	} row[] = {
		{ __LINE__, "1 / x", FAULT_DIVZERO, 0 },
		{ __LINE__, "1 % x", FAULT_DIVZERO, 0 },
		{ __LINE__, "*(int *)0x30", FAULT_BADADDR, 0x30 },
		{ __LINE__, "stringof(0x40)", FAULT_BADADDR, 0x40 },
	};

	(void)state;
	for (size_t i = 0; i < COUNT(row); i++) {
		struct run r;
		char src[300];
		uint32_t size;
		uint64_t w[4];
		const char *rec;

		snprintf(src, sizeof(src), "int x; BEGIN { trace(%s); trace(1); } BEGIN { trace(2); }", row[i].expr);
		run_must_open(&r, src);
		run_fire(&r, ID_BEGIN, &cpu0);
		rec = run_record(&r, NCPUS, &size);
		assert_int_equal(size, D_ERROR_RECORD);
		memcpy(w, rec, sizeof(w));
		assert_int_equal((uint32_t)w[0], 1 | D_EPID_ERROR);
		assert_int_equal(w[2] & ((1u << D_FAULT_BITS) - 1), row[i].fault);
		assert_int_equal(w[2] >> 32, 1);
		assert_true((uint32_t)w[2] >> D_FAULT_BITS > 0); /* its instruction */
		assert_int_equal(w[3], row[i].value);
		rec = run_record(&r, NCPUS, &size);
		memcpy(w, rec, 24);
		assert_int_equal((uint32_t)w[0], 2);
		assert_int_equal(w[2], 2);
		run_close(&r);
	}
}

static void error_clauses_see_their_arguments(void **state)
{
	struct run r;
	uint32_t size;
	uint64_t w[6];

	(void)state;
	run_must_open(
		&r,
		"ERROR { printf(\"%d %d %d\", arg1, arg4, arg5); } BEGIN { x = *(char *)0x50; } BEGIN { trace(3); }");
	run_fire(&r, ID_BEGIN, &cpu0);
	run_record(&r, NCPUS, &size);
	assert_int_equal(size, D_ERROR_RECORD);
	memcpy(w, run_record(&r, NCPUS, &size), 40);
	assert_int_equal(w[2], (uint32_t)w[2]);
	assert_int_equal(w[3], FAULT_BADADDR);
	assert_int_equal(w[4], 0x50);
	assert_non_null(run_record(&r, NCPUS, &size));
	run_close(&r);
}

static void array_elements_out_of_bounds_fault(void **state)
{
	struct run r;
	uint32_t size;
	uint64_t w[4];

	(void)state;
	run_must_open(&r, "int a[5]; int i; BEGIN { a[3] = 7; i = 3; trace(a[i]); } BEGIN { i = 5; trace(a[i]); }");
	run_fire(&r, ID_BEGIN, &cpu0);
	memcpy(w, run_record(&r, NCPUS, &size), 24);
	assert_int_equal(w[2], 7);
	memcpy(w, run_record(&r, NCPUS, &size), 32);
	assert_int_equal(w[2] & ((1u << D_FAULT_BITS) - 1), FAULT_BADINDEX);
	assert_int_equal(w[3], 5);
	run_close(&r);
}

static void predicates_decide(void **state)
{
	struct run r;
	uint32_t size;

	(void)state;
	run_must_open(&r, "event /execname == \"brendan\" && arg1 != 0 && arg0 == 0/ { trace(arg1); } "
			  "event /execname == \"other\"/ { trace(1); }");
	run_fire(&r, ID_EVENT, &cpu0);
	assert_non_null(run_record(&r, 0, &size));
	assert_int_equal(size, D_RECORD_HDR + 8);
	assert_null(run_record(&r, 0, &size));
	run_close(&r);
}

static void this_variables_pass_between_clauses_and_start_at_zero(void **state)
{
	struct run r;
	uint32_t size;
	uint64_t w[3];

	(void)state;
	run_must_open(&r, "this int n; event { this->n = this->n + 5; } event { trace(this->n); }");
	for (int i = 0; i < 2; i++) {
		run_fire(&r, ID_EVENT, &cpu0);
		memcpy(w, run_record(&r, 0, &size), 24);
		assert_int_equal(w[2], 5);
	}
	run_close(&r);
}

static void control_clauses_use_the_control_ring_and_exit_stops_events(void **state)
{
	struct run r;
	uint32_t size;

	(void)state;
	run_must_open(&r, "event { exit(3); }");
	run_fire(&r, ID_EVENT, &cpu0);
	run_fire(&r, ID_EVENT, &cpu0);
	assert_null(run_record(&r, 0, &size));
	assert_non_null(run_record(&r, NCPUS, &size));
	assert_null(run_record(&r, NCPUS, &size));
	run_close(&r);
}

/* What the tracer runs itself runs wherever the tracer does. */
static void with_one_cpu_events_of_the_others_fire_nothing(void **state)
{
	struct bpf_opts o = run_opts;
	struct vm_cpu cpu1 = cpu0;
	struct err e = { 0 };
	uint32_t size;
	struct run r;

	(void)state;
	o.one_cpu = true;
	o.cpu = cpu1.cpu = 1;
	assert_int_equal(run_open_with(&r, "BEGIN { trace(1); } event { trace(2); }", o, NULL, &e), 0);
	run_fire(&r, ID_EVENT, &cpu0);
	assert_null(run_record(&r, 0, &size));
	run_fire(&r, ID_EVENT, &cpu1);
	assert_non_null(run_record(&r, 1, &size));
	assert_null(run_record(&r, 1, &size));
	run_fire(&r, ID_BEGIN, &cpu0);
	assert_non_null(run_record(&r, NCPUS, &size));
	run_close(&r);
}

static const struct img_map *map_of(const struct run *r, enum img_map_use use)
{
	for (uint32_t i = 0; i < r->made.img->nmaps; i++)
		if (r->made.img->map[i].use == use)
			return &r->made.img->map[i];
	fail_msg("no map of use %d", use);
	return NULL;
}

static void each_program_has_a_place_for_its_losses_and_so_has_what_watches(void **state)
{
	struct run r;

	(void)state;
	run_must_open(&r, "BEGIN { trace(1); } END { trace(3); } event { trace(2); }");
	assert_int_equal(r.made.img->nprogs, 3);
	assert_int_equal(map_of(&r, IMG_DROPS)->max_entries, 4);
	run_close(&r);
}

static void a_stack_alone_takes_no_more_scratch_than_its_frames(void **state)
{
	struct run r;

	(void)state;
	run_must_open(&r, "event { @[ustack(20)] = count(); }");
	assert_int_equal(map_of(&r, IMG_SCRATCH)->value_size, 20 * 8);
	run_close(&r);
}

/* A kernel thread has no user stack, and an idle CPU none. */
static void a_stack_that_is_not_there_is_a_key_and_no_drop(void **state)
{
	struct vm_cpu cpu = cpu0;
	struct img_drops d[NCPUS];
	uint32_t map = 0, key = 0;
	struct maps m;
	struct walk w;
	struct run r;

	(void)state;
	cpu.nustack = 0;
	run_must_open(&r, "event { @[ustack()] = count(); }");
	run_fire(&r, ID_EVENT, &cpu);
	run_fire(&r, ID_EVENT, &cpu);
	walk_agg(&r, &w);
	assert_int_equal(w.n, 1);
	assert_int_equal(w.val[0][0][0], 2);
	m = vm_maps(r.vm);
	while (r.made.img->map[map].use != IMG_DROPS)
		map++;
	assert_int_equal(m.ops->lookup(m.maps, map, &key, d), 0);
	assert_int_equal(d[0].firings, 2);
	assert_int_equal(d[0].stacks, 0);
	run_close(&r);
}

static void a_full_ring_counts_a_drop(void **state)
{
	struct run r;
	struct maps m;
	uint32_t map = 0, size, got = 0;
	struct img_drops d[NCPUS];
	uint32_t key = 0;

	(void)state;
	run_must_open(&r, "event { printf(\"%s\", probename); }");
	for (int i = 0; i < 2000; i++)
		run_fire(&r, ID_EVENT, &cpu0);
	while (run_record(&r, 0, &size))
		got++;
	m = vm_maps(r.vm);
	while (r.made.img->map[map].use != IMG_DROPS)
		map++;
	assert_int_equal(m.ops->lookup(m.maps, map, &key, d), 0);
	assert_int_equal(d[0].firings, 2000);
	assert_true(d[0].records > 0);
	assert_int_equal(d[0].records + got, 2000);
	run_close(&r);
}

/* A hundred clauses that are too many instructions for one program, and a last one that hands this->n over. */
static void many_clauses(struct buf *src)
{
	buf_puts(src, "this int n; string s; string t; string u; BEGIN { s = \"ab\"; t = \"b\"; }\n");
	for (unsigned i = 0; i < 100; i++)
		buf_printf(src, "BEGIN /s != t/ { this->n += index(s, t); u = strjoin(s, t); u = substr(u, 1, %u); }\n",
			   i);
	buf_puts(src, "BEGIN { trace(this->n); }\n");
}

static void clauses_that_do_not_fit_a_program_go_on_in_parts(void **state)
{
	struct buf src = { 0 };
	struct run r;
	uint32_t size;
	int n;

	(void)state;
	many_clauses(&src);
	run_must_open(&r, src.p);
	assert_int_equal(r.made.img->nprogs, 1);
	assert_true(r.made.img->nparts > 0);
	run_fire(&r, ID_BEGIN, &cpu0);
	memcpy(&n, run_record(&r, NCPUS, &size) + D_RECORD_HDR, sizeof(n));
	assert_int_equal(n, 100);
	run_close(&r);
	buf_free(&src);
}

/* Of so many instructions the one program of a script is. */
static uint32_t instructions_of(const char *src)
{
	struct run r;
	uint32_t n;

	run_must_open(&r, src);
	n = r.made.img->prog[0].nins;
	run_close(&r);
	return n;
}

static void one_more_index_is_a_call_and_not_its_loops_again(void **state)
{
	uint32_t one = instructions_of("string s; string t; BEGIN { trace(index(s, t)); }");
	uint32_t two = instructions_of("string s; string t; BEGIN { trace(index(s, t)); trace(index(s, t)); }");

	(void)state;
	assert_true(two - one < 40);
}

static void a_clause_that_is_too_large_is_refused_with_its_line(void **state)
{
	struct buf src = { 0 };
	struct err e = { 0 };
	struct run r;

	(void)state;
	buf_puts(&src, "int x; int y; int z;\nBEGIN { x = 1; }\nBEGIN /x > 0/ {");
	for (unsigned i = 0; i < 1200; i++)
		buf_printf(&src, "z += x / (y + %u);\n", i);
	buf_puts(&src, "}");
	assert_int_equal(run_open(&r, src.p, NULL, &e), -TALLY_ENOTSUP);
	assert_string_equal(e.text, "[D_LIMIT] line 3: this clause is too large for the kernel: more than 16384 "
				    "operations, 65535 instructions or 8000 branches: divide it into several");
	run_close(&r);
	buf_free(&src);
}

static void parts_survive_failed_allocations(void **state)
{
	struct buf src = { 0 };

	(void)state;
	many_clauses(&src);
	for (long n = 1, step = 1;; n += step, step += step < 50) {
		struct run r;
		struct err e = { 0 };
		long live = mem_live();
		int rc;

		mem_fail_at(n);
		rc = run_open(&r, src.p, NULL, &e);
		bool failed = mem_failed();

		mem_fail_at(0);
		run_close(&r);
		assert_int_equal(mem_live(), live);
		if (!failed)
			break;
		assert_int_equal(rc, -TALLY_ENOMEM);
	}
	buf_free(&src);
}

/* In the second one more values are alive than there are registers. */
static void generation_survives_every_failed_allocation(void **state)
{
	static const char *const src[] = {
		"BEGIN { @a[ustack(), execname] = quantize(strlen(probename)); self->x[1] = 5; }",
		"int a; int b; int c; int d; int f; int g; int h; int i;"
		"BEGIN { trace(a + (b - (c * (d + (f - (g * (h + (i - (a * (b + (c - (d * f)))))))))))); }",
	};

	(void)state;
	for (long n = 1, text = 0;; n++) {
		struct run r;
		struct err e = { 0 };
		long live = mem_live();
		int rc;

		mem_fail_at(n);
		rc = run_open(&r, src[text], NULL, &e);
		bool failed = mem_failed();

		mem_fail_at(0);
		run_close(&r);
		assert_int_equal(mem_live(), live);
		if (!failed && ++text == COUNT(src))
			break;
		n = failed ? n : 0;
		if (!failed)
			continue;
		assert_int_equal(rc, -TALLY_ENOMEM);
		if (r.made.u) /* else there is nobody yet to say so */
			assert_non_null(strstr(e.text, "out of memory"));
	}
}

/* ---- system calls ----------------------------------------------------------------------------- */

static const struct syscall_row calls[] = {
	{ "first", { 7, 8, 9 }, "" },
	{ "only32", { SYSCALL_NONE, 3, SYSCALL_NONE }, "" },
};
static const struct bpf_probe call_probes[] = {
	{ .id = 1, .cls = IMG_TEST, .prov = "dtrace", .mod = "", .func = "", .name = "BEGIN" },
	{ .id = 2,
	  .cls = IMG_ENTRY,
	  .prov = "syscall",
	  .mod = "vmlinux",
	  .func = "first",
	  .name = "entry",
	  .call = &calls[0] },
	{ .id = 3,
	  .cls = IMG_ENTRY,
	  .prov = "syscall",
	  .mod = "vmlinux",
	  .func = "only32",
	  .name = "entry",
	  .call = &calls[1] },
	{ .id = 4,
	  .cls = IMG_RETURN,
	  .prov = "syscall",
	  .mod = "vmlinux",
	  .func = "first",
	  .name = "return",
	  .call = &calls[0] },
};

static const struct img_map *calls_map(const struct bpf_image *img, uint8_t class)
{
	for (uint32_t i = 0; i < img->nmaps; i++)
		if (img->map[i].use == IMG_CALLS && img->map[i].id == class)
			return &img->map[i];
	fail_msg("no table of class %u", class);
	return NULL;
}

struct call_row {
	uint32_t id, compat, epid[2];
	char func[SYSCALL_NAME];
};

static void all_system_calls_that_begin_are_one_program_with_a_row_for_each_number(void **state)
{
	static const char text[] =
		"::first:entry { trace(probefunc); } :::entry { trace(arg0); } :::return { trace(errno); }";
	struct bpf_opts o = { .arch = &bpf_arch_x86_64,
			      .probe = call_probes,
			      .nprobes = COUNT(call_probes),
			      .ring_bytes = 4096,
			      .control_bytes = 4096,
			      .agg_entries = 16,
			      .dynvar_bytes = 4096 };
	const struct d_env env = { .probes = made_probes, .arg = &o, .macro = run_macro, .option = run_option };
	const struct call_row none = { 0 }, *row;
	const struct bpf_image *img;
	struct made m;
	struct err e = { 0 };

	(void)state;
	assert_int_equal(made_generate(&m, text, &env, &o, &e), 0);
	img = m.img;
	assert_int_equal(img->nprogs, 2);
	assert_int_equal(img->prog[0].cls, IMG_ENTRY);
	assert_int_equal(img->prog[1].cls, IMG_RETURN);

	row = calls_map(img, IMG_ENTRY)->init;
	assert_int_equal(calls_map(img, IMG_ENTRY)->value_size, 2 * SYSCALL_NUMBERS * sizeof(*row));
	assert_int_equal(row[7].id, 2);
	assert_int_equal(row[7].compat, 0);
	assert_string_equal(row[7].func, "first");
	assert_int_equal(row[SYSCALL_NUMBERS + 8].id, 2);
	assert_int_equal(row[SYSCALL_NUMBERS + 8].compat, 1);
	assert_int_equal(row[SYSCALL_NUMBERS + 3].id, 3);
	assert_string_equal(row[SYSCALL_NUMBERS + 3].func, "only32");
	for (uint32_t i = 0; i < 2 * SYSCALL_NUMBERS; i++)
		if (i != 7 && i != SYSCALL_NUMBERS + 8 && i != SYSCALL_NUMBERS + 3)
			assert_memory_equal(&row[i], &none, sizeof(none));
	/* the first clause is for the first call alone; each epid leads to its own probe and clause */
	assert_int_equal(row[SYSCALL_NUMBERS + 3].epid[0], 0);
	assert_int_equal(img->epid[row[7].epid[0]].clause, 0);
	assert_int_equal(img->epid[row[7].epid[0]].probe, 2);
	assert_int_equal(img->epid[row[7].epid[1]].clause, 1);
	assert_int_equal(img->epid[row[SYSCALL_NUMBERS + 3].epid[1]].probe, 3);
	assert_memory_equal(row[7].epid, row[SYSCALL_NUMBERS + 8].epid, sizeof(row->epid));
	made_close(&m);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_thread_does_not_begin_with_what_a_dead_one_of_its_id_left),
		cmocka_unit_test(a_user_address_is_handed_over_with_the_generation_of_its_process),
		cmocka_unit_test(the_generation_of_a_process_is_read_without_a_look_up_where_its_space_has_a_place),
		cmocka_unit_test(the_same_address_of_two_generations_is_two_keys_of_an_aggregation),
		cmocka_unit_test(maps_have_the_name_of_their_use_and_those_that_are_many_their_number),
		cmocka_unit_test(a_program_without_user_addresses_looks_up_no_generation),
		cmocka_unit_test(the_idle_thread_of_each_cpu_has_variables_of_its_own),
		cmocka_unit_test(values_of_aggregations_are_what_slot_h_says),
		cmocka_unit_test(keys_are_tuples_padded_with_zeros),
		cmocka_unit_test(buckets_are_those_of_bucket_h),
		cmocka_unit_test(stacks_are_keys),
		cmocka_unit_test(a_stack_that_is_not_there_is_a_key_and_no_drop),
		cmocka_unit_test(a_fault_hands_over_an_error_record_and_the_next_clause_runs),
		cmocka_unit_test(error_clauses_see_their_arguments),
		cmocka_unit_test(array_elements_out_of_bounds_fault),
		cmocka_unit_test(predicates_decide),
		cmocka_unit_test(this_variables_pass_between_clauses_and_start_at_zero),
		cmocka_unit_test(control_clauses_use_the_control_ring_and_exit_stops_events),
		cmocka_unit_test(with_one_cpu_events_of_the_others_fire_nothing),
		cmocka_unit_test(each_program_has_a_place_for_its_losses_and_so_has_what_watches),
		cmocka_unit_test(a_stack_alone_takes_no_more_scratch_than_its_frames),
		cmocka_unit_test(a_full_ring_counts_a_drop),
		cmocka_unit_test(clauses_that_do_not_fit_a_program_go_on_in_parts),
		cmocka_unit_test(one_more_index_is_a_call_and_not_its_loops_again),
		cmocka_unit_test(a_clause_that_is_too_large_is_refused_with_its_line),
		cmocka_unit_test(all_system_calls_that_begin_are_one_program_with_a_row_for_each_number),
		cmocka_unit_test(generation_survives_every_failed_allocation),
		cmocka_unit_test(parts_survive_failed_allocations),
	};

	return cmocka_run_group_tests_name("code generator", tests, NULL, NULL);
}
