/* cg_self_test.c: which variables of a thread lie in the storage of the thread, and which in a hash. */
#include "bpf/cg_test_int.h"
#include "bpf/insn.h"

static const struct syscall_row call = { "first", { 7, 8, 9 }, "" };
static const struct bpf_probe probes[] = {
	{ .id = 1, .cls = IMG_TEST, .prov = "dtrace", .mod = "", .func = "", .name = "BEGIN" },
	{ .id = 2, .cls = IMG_TEST, .prov = "dtrace", .mod = "", .func = "", .name = "ERROR" },
	{ .id = 3, .cls = IMG_ENTRY, .prov = "syscall", .mod = "", .func = "first", .name = "entry", .call = &call },
	{ .id = 4, .cls = IMG_PERF, .prov = "cpc", .mod = "", .func = "", .name = "event" },
};
enum { WITHOUT_EVENTS = 3, ALL = COUNT(probes), ROOM = 1 << 20 };

static const struct img_map *map_of(const struct bpf_image *img, uint8_t use)
{
	for (uint32_t i = 0; i < img->nmaps; i++)
		if (img->map[i].use == use)
			return &img->map[i];
	return NULL;
}

static void self_open(struct made *m, const char *text, uint32_t nprobes, uint32_t room)
{
	made_open(m, text,
		  (struct bpf_opts){ .probe = probes, .nprobes = nprobes, .error_probe = 2, .dynvar_bytes = room });
}

/* So many bytes are in the storage, and so many variables in hashes. */
static void variables_lie(const char *text, uint32_t nprobes, uint32_t room, uint32_t stored, uint32_t hashes)
{
	const struct img_map *self;
	struct made m;
	uint32_t n = 0;

	self_open(&m, text, nprobes, room);
	self = map_of(m.img, IMG_SELF);
	for (uint32_t i = 0; i < m.img->nmaps; i++)
		n += m.img->map[i].use == IMG_VAR;
	if ((self ? self->value_size : 0) != stored || n != hashes)
		fail_msg("%s: %u bytes, %u hashes", text, self ? self->value_size : 0, n);
	made_close(&m);
}

static bool names_drops(const struct made *m, const struct bpf_ins *i)
{
	return i->code == INS_LD_IMM64 && i->src == INS_SRC_MAP && m->img->map[i->imm].use == IMG_DROPS;
}

/* The storage is asked for once; where the kernel gives it, the program goes on behind the count of a drop. */
static void only_a_thread_that_gets_no_storage_counts_a_drop(void **state)
{
	const struct bpf_ins get = I_CALL(task_storage_get), there = I_JMP_IMM(JNE, R0, 0, 0);
	const struct img_prog *p;
	struct made m;
	uint32_t at = 0, drops = 0;

	(void)state;
	self_open(&m, ":::entry { self->a = arg0; self->b = self->a; }", WITHOUT_EVENTS, ROOM);
	p = &m.img->prog[0];
	while (at < p->nins && (p->ins[at].code != get.code || p->ins[at].imm != get.imm))
		at++;
	assert_true(at + 2 < p->nins);
	assert_int_equal(p->ins[at + 1].code, there.code);
	assert_int_equal(p->ins[at + 1].dst, R0);
	assert_int_equal(p->ins[at + 1].imm, 0);
	assert_true(p->ins[at + 1].off > 0);
	for (int k = 0; k < p->ins[at + 1].off; k++)
		drops += names_drops(&m, &p->ins[at + 2 + (uint32_t)k]);
	assert_int_equal(drops, 1);
	at += 2 + (uint32_t)p->ins[at + 1].off;
	assert_int_equal(p->ins[at].dst, R10); /* there it is kept */
	assert_int_equal(p->ins[at].src, R0);
	made_close(&m);
}

static void variables_of_system_calls_lie_in_the_storage_of_the_thread(void **state)
{
	(void)state;
	variables_lie(":::entry { self->a = arg0; self->b = 1; }", WITHOUT_EVENTS, ROOM, 16, 0);
	variables_lie(":::BEGIN { self->a = 1; } :::entry { self->b = self->a; }", WITHOUT_EVENTS, ROOM, 16, 0);
	variables_lie("struct s { int a[4]; }; self struct s s; :::entry { self->s.a[1] = 1; }", WITHOUT_EVENTS, ROOM,
		      16, 0);
	variables_lie(":::entry { self->a = 1 / arg0; } ERROR { self->n++; }", WITHOUT_EVENTS, ROOM, 16, 0);
}

static void variables_that_events_use_too_lie_in_a_hash(void **state)
{
	(void)state;
	variables_lie(":::entry { self->a = arg0; self->b = 1; } :::event { self->b = 0; }", ALL, ROOM, 8, 1);
	variables_lie(":::event { self->a = 1; }", ALL, ROOM, 0, 1);
	variables_lie(":::entry { self->a = 1; } :::event { b = 1 / arg0; } ERROR { self->n++; }", ALL, ROOM, 8, 1);
	variables_lie(":::BEGIN { self->a = 1; }", WITHOUT_EVENTS, ROOM, 0, 1);
}

static void variables_that_do_not_fit_lie_in_a_hash(void **state)
{
	(void)state;
	variables_lie(":::entry { self->s = probename; }", WITHOUT_EVENTS, ROOM, 0, 1);
	variables_lie(":::entry { self->k[arg0] = 1; }", WITHOUT_EVENTS, ROOM, 0, 1);
	variables_lie("struct s { char a[65]; }; self struct s s; :::entry { self->s.a[1] = 1; }", WITHOUT_EVENTS, ROOM,
		      0, 1);
	/* what dynvarsize bounds stays bounded */
	variables_lie(":::entry { self->a = arg0; }", WITHOUT_EVENTS, 1024, 0, 1);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(only_a_thread_that_gets_no_storage_counts_a_drop),
		cmocka_unit_test(variables_of_system_calls_lie_in_the_storage_of_the_thread),
		cmocka_unit_test(variables_that_events_use_too_lie_in_a_hash),
		cmocka_unit_test(variables_that_do_not_fit_lie_in_a_hash),
	};

	return cmocka_run_group_tests_name("thread-local variables", tests, NULL, NULL);
}
