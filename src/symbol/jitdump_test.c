/* jitdump_test.c: records with times, as a just-in-time compiler writes them, and spoils them. */
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "symbol/symbol_test_int.h"

enum { CODE = 0x10000000, OTHER = 0x20000000, SIZE = 0x40 };

/* ---- a file as a compiler writes it ------------------------------------------------------ */

struct dumped {
	char dir[32], path[64];
	struct buf b;
	uint64_t began_ns;
};

static void put_u32(struct dumped *d, uint32_t v)
{
	buf_put(&d->b, &v, sizeof(v));
}

static void put_u64(struct dumped *d, uint64_t v)
{
	buf_put(&d->b, &v, sizeof(v));
}

static void put_header(struct dumped *d, uint32_t pid, uint64_t time_ns, uint64_t flags)
{
	put_u32(d, 0x4a695444);
	put_u32(d, 1);
	put_u32(d, 40);
	put_u32(d, 62);
	put_u32(d, 0);
	put_u32(d, pid);
	put_u64(d, time_ns);
	put_u64(d, flags);
}

static void put_prefix(struct dumped *d, uint32_t kind, uint32_t bytes, uint64_t time_ns)
{
	put_u32(d, kind);
	put_u32(d, bytes);
	put_u64(d, time_ns);
}

static void put_load(struct dumped *d, uint64_t addr, uint64_t number, const char *name, uint64_t time_ns)
{
	const char code[SIZE] = { 0 };

	put_prefix(d, 0, (uint32_t)(56 + strlen(name) + 1 + SIZE), time_ns);
	put_u64(d, 0);
	put_u64(d, addr);
	put_u64(d, addr);
	put_u64(d, SIZE);
	put_u64(d, number);
	buf_put(&d->b, name, strlen(name) + 1);
	buf_put(&d->b, code, SIZE);
}

static void put_move(struct dumped *d, uint64_t from, uint64_t to, uint64_t number, uint64_t time_ns)
{
	put_prefix(d, 1, 64, time_ns);
	put_u64(d, 0);
	put_u64(d, to);
	put_u64(d, from);
	put_u64(d, to);
	put_u64(d, SIZE);
	put_u64(d, number);
}

/* What was put goes to the end of the file. */
static void write_dump(struct dumped *d)
{
	const int fd = open(d->path, O_WRONLY | O_CREAT | O_APPEND, 0600);

	assert_false(d->b.failed);
	assert_true(fd >= 0);
	assert_int_equal(write(fd, d->b.p, d->b.n), d->b.n);
	close(fd);
	buf_clear(&d->b);
}

static struct dumped *dump_new(void)
{
	struct dumped *d = mem_alloc(sizeof(*d));

	snprintf(d->dir, sizeof(d->dir), "/tmp/tally-jit.XXXXXX");
	assert_non_null(mkdtemp(d->dir));
	snprintf(d->path, sizeof(d->path), "%s/jit-%d.dump", d->dir, getpid());
	d->began_ns = k_now_ns();
	return d;
}

static void dump_free(struct dumped *d)
{
	unlink(d->path);
	rmdir(d->dir);
	buf_free(&d->b);
	mem_free(d);
}

/* ---- questions ------------------------------------------------------------------------------ */

/* What was at addr from since_ns to until_ns: a name, "" for nothing, "?" for several. */
static const char *told(struct jit *j, uint64_t addr, uint64_t since_ns, uint64_t until_ns)
{
	const struct jit_question q = {
		.pid = (uint32_t)getpid(),
		.addr = addr,
		.since_ns = since_ns,
		.until_ns = until_ns,
		.life = { .until_ns = UINT64_MAX },
	};
	const struct sym *sym = NULL;

	switch (jit_find(j, &q, &sym)) {
	case JIT_NAME:
		assert_true(addr >= sym->start && addr < sym->end);
		return sym->name;
	case JIT_AMBIGUOUS:
		return "?";
	case JIT_NOTHING:
		break;
	}
	return "";
}

struct asked {
	struct jits all;
	struct jit *j;
};

static void ask(struct asked *a, const struct dumped *d)
{
	*a = (struct asked){ 0 };
	a->j = jit_open_dump(&a->all, (uint32_t)getpid(), d->path);
	assert_non_null(a->j);
}

static void ask_no_more(struct asked *a)
{
	jit_free(a->j);
	names_free(&a->all.names);
}

static void an_address_has_the_name_of_the_time_when_it_was_seen(void **state)
{
	struct dumped *d = dump_new();
	const uint64_t t = d->began_ns;
	struct asked a;

	(void)state;
	put_header(d, (uint32_t)getpid(), t, 0);
	put_load(d, CODE, 1, "LazyCompile:*first /app/x.js:1", t + 10);
	put_load(d, CODE + SIZE, 2, "neighbour", t + 10);
	put_load(d, CODE + 8, 3, "second", t + 20);
	write_dump(d);
	ask(&a, d);
	assert_string_equal(told(a.j, CODE + 9, t, t + 10), "");
	assert_string_equal(told(a.j, CODE + 9, t + 10, t + 20), "LazyCompile:*first /app/x.js:1");
	assert_string_equal(told(a.j, CODE + 9, t + 20, t + 30), "second");
	assert_string_equal(told(a.j, CODE + 9, t + 10, t + 30), "?");
	assert_string_equal(told(a.j, CODE + 7, t + 20, UINT64_MAX), "LazyCompile:*first /app/x.js:1");
	assert_string_equal(told(a.j, CODE + SIZE + 8, t + 20, UINT64_MAX), "neighbour");
	/* no further than its size */
	assert_string_equal(told(a.j, CODE + 2 * SIZE, t + 20, UINT64_MAX), "");
	ask_no_more(&a);
	dump_free(d);
}

static void code_that_moved_has_its_name_where_it_is(void **state)
{
	struct dumped *d = dump_new();
	const uint64_t t = d->began_ns;
	struct asked a;

	(void)state;
	put_header(d, (uint32_t)getpid(), t, 0);
	put_load(d, CODE, 7, "wanders", t + 10);
	put_move(d, CODE, OTHER, 7, t + 20);
	put_move(d, OTHER + SIZE, OTHER + 2 * SIZE, 99, t + 25); /* of code that nobody loaded */
	put_load(d, CODE, 8, "next", t + 30);
	write_dump(d);
	ask(&a, d);
	assert_string_equal(told(a.j, CODE, t + 10, t + 20), "wanders");
	assert_string_equal(told(a.j, CODE, t + 20, t + 30), "");
	assert_string_equal(told(a.j, CODE, t + 30, t + 40), "next");
	assert_string_equal(told(a.j, CODE, t + 10, t + 25), "?");
	assert_string_equal(told(a.j, OTHER, t + 10, t + 20), "");
	assert_string_equal(told(a.j, OTHER + 1, t + 20, UINT64_MAX), "wanders");
	assert_string_equal(told(a.j, OTHER + 2 * SIZE, t + 25, UINT64_MAX), "");
	ask_no_more(&a);
	dump_free(d);
}

static void a_record_that_is_being_written_is_waited_for(void **state)
{
	struct dumped *d = dump_new(), *whole = dump_new();
	const uint64_t t = d->began_ns;
	struct asked a;

	(void)state;
	put_header(whole, (uint32_t)getpid(), t, 0);
	put_load(whole, CODE, 1, "one", t + 10);
	put_prefix(whole, 2, 16 + 24, t + 11); /* lines of the source, which say nothing here */
	put_u64(whole, CODE);
	put_u64(whole, 0);
	put_u64(whole, 0);
	put_load(whole, OTHER, 2, "two", t + 12);
	put_prefix(whole, 3, 16, t + 13);
	for (size_t n = 1; n <= whole->b.n; n++) {
		buf_put(&d->b, whole->b.p, n);
		write_dump(d);
		ask(&a, d);
		assert_string_equal(told(a.j, CODE, t + 20, UINT64_MAX), n < 40 + 56 + 4 + SIZE ? "" : "one");
		buf_put(&d->b, whole->b.p + n, whole->b.n - n);
		if (d->b.n)
			write_dump(d);
		assert_string_equal(told(a.j, CODE, t + 20, UINT64_MAX), "one");
		assert_string_equal(told(a.j, OTHER, t + 20, UINT64_MAX), "two");
		ask_no_more(&a);
		unlink(d->path);
	}
	dump_free(whole);
	dump_free(d);
}

static void a_file_of_another_process_format_or_life_gives_no_names(void **state)
{
	struct dumped *d = dump_new();
	const uint64_t t = d->began_ns;

	(void)state;
	for (int i = 0; i < 6; i++) {
		struct jit_question q = {
			.pid = (uint32_t)getpid(), .addr = CODE, .since_ns = t + 20, .until_ns = UINT64_MAX
		};
		const struct sym *sym;
		struct asked a;

		q.life = (struct jit_life){ i == 4 ? t + 1 : t, UINT64_MAX, false };
		put_header(d, (uint32_t)getpid() + (i == 1), t, 0);
		d->b.p[0] = (char)(d->b.p[0] + (i == 2));
		d->b.p[4] = (char)(d->b.p[4] + (i == 3));
		put_load(d, CODE, 1, "one", t + 10);
		write_dump(d);
		if (i == 5)
			assert_int_equal(chmod(d->path, 0620), 0);
		ask(&a, d);
		assert_int_equal(jit_find(a.j, &q, &sym), i ? JIT_NOTHING : JIT_NAME);
		ask_no_more(&a);
		unlink(d->path);
	}
	dump_free(d);
}

static void times_of_another_clock_are_not_believed(void **state)
{
	struct dumped *d = dump_new();

	(void)state;
	for (int i = 0; i < 2; i++) {
		struct asked a;

		put_header(d, (uint32_t)getpid(), i ? UINT64_MAX - 5 : 5, i ? 0 : 1);
		put_load(d, CODE, 1, "one", UINT64_MAX - 4);
		put_load(d, OTHER, 2, "two", 7);
		put_load(d, OTHER, 3, "three", 8);
		write_dump(d);
		ask(&a, d);
		assert_true(jitdump_is_path(d->path, (uint32_t)getpid()));
		jit_take(a.j, (uint32_t)getpid());
		assert_true(a.j->untimed && a.j->whole);
		assert_int_equal(a.j->nreadings, 1);
		assert_int_equal(a.j->t.n, 3);
		ask_no_more(&a);
		unlink(d->path);
	}
	dump_free(d);
}

static void behind_a_record_that_can_not_be_nothing_is_believed(void **state)
{
	struct dumped *d = dump_new();
	const uint64_t t = d->began_ns;

	(void)state;
	for (int i = 0; i < 4; i++) {
		struct asked a;
		uint64_t looked_ns;

		put_header(d, (uint32_t)getpid(), t, 0);
		put_load(d, CODE, 1, "one", t + 10);
		write_dump(d);
		ask(&a, d);
		assert_string_equal(told(a.j, CODE, t + 20, UINT64_MAX), "one");
		if (i == 0)
			put_prefix(d, 0, 15, t + 11); /* smaller than what all begin with */
		else if (i == 1)
			put_prefix(d, 0, 56, t + 11); /* without a name */
		else if (i == 2)
			put_prefix(d, 1, 63, t + 11);
		else
			put_prefix(d, 0, 58, t + 11); /* a name without an end */
		while (d->b.n < 58)
			buf_putc(&d->b, 'x');
		put_load(d, OTHER, 2, "two", t + 12);
		write_dump(d);
		assert_string_equal(told(a.j, OTHER, t + 20, UINT64_MAX), "");
		/* another record may have named it otherwise since */
		assert_string_equal(told(a.j, CODE, t + 20, UINT64_MAX), "?");
		assert_string_equal(told(a.j, CODE, t + 10, t + 20), "one");
		ask_no_more(&a);
		ask(&a, d);
		assert_string_equal(told(a.j, CODE, t + 20, UINT64_MAX), "?");
		looked_ns = a.j->file.at_ns;
		assert_string_equal(told(a.j, CODE, t + 20, UINT64_MAX), "?");
		assert_int_equal(a.j->file.at_ns, looked_ns); /* it was opened and read for each address */
		ask_no_more(&a);
		unlink(d->path);
	}
	dump_free(d);
}

static void a_process_leads_to_its_file_by_mapping_it(void **state)
{
	const uint32_t pid = (uint32_t)getpid();
	struct k_task code = task_anonymous(pid, CODE), marker = task_anonymous(pid, OTHER);
	struct symbols *s = symbols_open();
	struct dumped *d = dump_new();
	struct sym_name n;
	struct stat st;

	(void)state;
	put_header(d, pid, d->began_ns, 0);
	put_load(d, CODE, 1, "early", d->began_ns + 1);
	write_dump(d);
	assert_int_equal(stat(d->path, &st), 0);
	marker.path = d->path;
	marker.len = 4096;
	marker.inode = st.st_ino;
	sym_task(s, &code);
	sym_user(s, pid, CODE + 4, 0, &n);
	assert_null(n.name);
	sym_task(s, &marker);
	sym_user(s, pid, CODE + 4, 0, &n);
	assert_text(&n, CODE + 4, true, "[jit]`early+0x4");
	put_load(d, CODE + SIZE, 2, "late", k_now_ns());
	write_dump(d);
	unlink(d->path);
	sym_user(s, pid, CODE + SIZE, 0, &n);
	assert_text(&n, CODE + SIZE, true, "[jit]`late");
	sym_close(s);
	dump_free(d);
}

static void a_name_is_that_of_the_process_s_own_records(void **state)
{
	(void)state;
	assert_true(jitdump_is_path("/tmp/jit-12.dump", 12));
	assert_true(jitdump_is_path("/jit-12.dump", 12));
	assert_false(jitdump_is_path("jit-12.dump", 12));
	assert_false(jitdump_is_path("/tmp/jit-12.dump", 1));
	assert_false(jitdump_is_path("/tmp/jit-012.dump", 12));
	assert_false(jitdump_is_path("/tmp/jit-12.dump.so", 12));
	assert_false(jitdump_is_path("/tmp/xjit-12.dump", 12));
}

static void a_failing_allocation_costs_names_only(void **state)
{
	struct dumped *d = dump_new();
	const uint64_t t = d->began_ns;

	(void)state;
	put_header(d, (uint32_t)getpid(), t, 0);
	for (uint32_t i = 0; i < 40; i++)
		put_load(d, CODE + i * SIZE, i, "f", t + 10);
	put_move(d, CODE, OTHER, 0, t + 20);
	write_dump(d);
	for (long n = 1;; n++) {
		const long before = mem_live();
		struct jits all = { 0 };
		struct jit *j;

		mem_fail_at(n);
		j = jit_open_dump(&all, (uint32_t)getpid(), d->path);
		if (j) {
			const char *name = told(j, CODE, t + 10, t + 20);

			assert_true(!strcmp(name, "f") || !strcmp(name, "") || !strcmp(name, "?"));
		}
		jit_free(j);
		names_free(&all.names);
		assert_int_equal(mem_live(), before);
		if (!mem_failed())
			break;
	}
	mem_fail_at(0);
	dump_free(d);
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(an_address_has_the_name_of_the_time_when_it_was_seen),
		cmocka_unit_test(code_that_moved_has_its_name_where_it_is),
		cmocka_unit_test(a_record_that_is_being_written_is_waited_for),
		cmocka_unit_test(a_file_of_another_process_format_or_life_gives_no_names),
		cmocka_unit_test(times_of_another_clock_are_not_believed),
		cmocka_unit_test(behind_a_record_that_can_not_be_nothing_is_believed),
		cmocka_unit_test(a_process_leads_to_its_file_by_mapping_it),
		cmocka_unit_test(a_name_is_that_of_the_process_s_own_records),
		cmocka_unit_test(a_failing_allocation_costs_names_only),
	};

	return cmocka_run_group_tests_name("symbol: jitdump", tests, NULL, NULL);
}
