/* Tests of the room's questions, on this machine: own addresses, processes that have ended, files
 * that have gone. */
#include <signal.h>
#include <dlfcn.h>
#include <fcntl.h>
#include <link.h>
#include <linux/bpf.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/auxv.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/sysmacros.h>
#include <sys/wait.h>
#include <unistd.h>

#include "symbol/symbol_test_int.h"

#define NOBODY 0x7ffffff0u /* above every pid_max: never alive */

__attribute__((noinline, used)) static int marker(int x)
{
	__asm__ volatile("" : "+r"(x));
	return x + 1;
}
#define MARKER ((uint64_t)(uintptr_t)marker)

__attribute__((used)) static volatile uint64_t marked_variable[4] = { 1 };

/* tally::marked(int), as a compiler of C++ names it. */
__attribute__((noinline, used)) static int mangled_marker(int x) __asm__("_ZN5tally6markedEi");
static int mangled_marker(int x)
{
	__asm__ volatile("" : "+r"(x));
	return x + 2;
}

static const char *own_mod(void)
{
	static char path[4096];
	ssize_t n = readlink("/proc/self/exe", path, sizeof(path) - 1);

	assert_true(n > 0);
	path[n] = 0;
	return strrchr(path, '/') + 1;
}

/* ---- one process ------------------------------------------------------------------ */

static void an_address_of_this_program_has_its_name(void **state)
{
	struct symbols *s = symbols_open();
	struct sym_name n;

	(void)state;
	assert_false(sym_knows(s, (uint32_t)getpid()));
	assert_int_equal(k_task_maps((uint32_t)getpid(), sym_task, s), 0);
	assert_true(sym_knows(s, (uint32_t)getpid()));
	sym_user(s, (uint32_t)getpid(), MARKER + 1, 0, &n);
	assert_string_equal(n.mod, own_mod());
	assert_string_equal(n.name, "marker");
	assert_int_equal(n.offset, 1);
	assert_true(n.file_id > 0 && strstr(n.path, n.mod));
	assert_int_equal(sym_lost(s), 0);
	sym_close(s);
}

static void a_name_of_cxx_is_shown_as_was_asked(void **state)
{
	static const struct {
		enum sym_demangle how;
		const char *name;
	} row[] = {
		{ SYM_DEMANGLE_ON, "tally::marked(int)" },
		{ SYM_DEMANGLE_OFF, "_ZN5tally6markedEi" },
		{ SYM_DEMANGLE_SHORT, "tally::marked" },
	};
	const uint64_t at = (uint64_t)(uintptr_t)mangled_marker;

	(void)state;
	for (size_t i = 0; i < COUNT(row); i++) {
		struct symbols *s = symbols_open();
		struct sym_name n, again;

		sym_demangle(s, row[i].how);
		sym_user(s, (uint32_t)getpid(), at + 1, 0, &n);
		assert_string_equal(n.name, row[i].name);
		assert_int_equal(n.offset, 1);
		sym_user(s, (uint32_t)getpid(), at, 0, &again);
		assert_ptr_equal(again.name, n.name); /* it is made once */
		sym_user(s, (uint32_t)getpid(), MARKER, 0, &n);
		assert_string_equal(n.name, "marker");
		sym_close(s);
	}
}

static void a_variable_of_this_program_has_its_name(void **state)
{
	const uint64_t at = (uint64_t)(uintptr_t)marked_variable;
	struct symbols *s = symbols_open();
	struct sym_name n;

	(void)state;
	for (uint32_t i = 0; i < 2; i++) { /* its names are read once */
		sym_user(s, (uint32_t)getpid(), at + 8 * i + 3, 0, &n);
		assert_string_equal(n.mod, own_mod());
		assert_string_equal(n.name, "marked_variable");
		assert_int_equal(n.offset, 8 * i + 3);
	}
	sym_close(s);
}

static void a_live_process_that_nobody_told_of_is_looked_at(void **state)
{
	struct symbols *s = symbols_open();
	struct sym_name n;

	(void)state;
	sym_user(s, (uint32_t)getpid(), MARKER, k_now_ns(), &n);
	assert_string_equal(n.name, "marker");
	sym_close(s);
}

static void a_function_of_a_shared_library_has_its_name(void **state)
{
	struct symbols *s = symbols_open();
	struct sym_name n;

	(void)state;
	sym_user(s, (uint32_t)getpid(), (uint64_t)(uintptr_t)dlsym(RTLD_DEFAULT, "gnu_get_libc_version"), 0, &n);
	assert_non_null(strstr(n.name, "gnu_get_libc_version")); /* or its alias with underscores */
	assert_non_null(strstr(n.mod, "libc"));
	sym_close(s);
}

static void an_address_of_the_vdso_has_its_name(void **state)
{
	uint64_t base = getauxval(AT_SYSINFO_EHDR);
	struct symbols *s;
	struct sym_name n;
	bool named = false;

	(void)state;
	if (!base) {
		print_message("skipped: no vdso here\n");
		skip();
	}
	s = symbols_open();
	for (uint64_t off = 0; off < 8192 && !named; off += 16) {
		sym_user(s, (uint32_t)getpid(), base + off, 0, &n);
		named = n.name && strstr(n.name, "gettime");
	}
	assert_true(named);
	assert_string_equal(n.mod, "[vdso]");
	sym_close(s);
}

static void an_address_that_nothing_maps_stays_an_address(void **state)
{
	struct symbols *s = symbols_open();
	struct sym_name n;

	(void)state;
	for (int i = 0; i < 100; i++) {
		sym_user(s, (uint32_t)getpid(), 0x10, 5, &n);
		assert_null(n.mod);
	}
	assert_int_equal(sym_gone(s), 0);
	assert_text(&n, 0x401567, true, "0x401567");
	sym_close(s);
}

static void an_address_of_a_process_that_nobody_looked_at_is_not_guessed_and_counted_once(void **state)
{
	struct symbols *s = symbols_open();
	struct sym_name n;

	(void)state;
	for (int i = 0; i < 3; i++) {
		sym_user(s, NOBODY, MARKER, 5, &n);
		assert_null(n.mod);
		assert_text(&n, 0x401567, true, "0x401567 [mapping gone]");
	}
	assert_int_equal(sym_gone(s), 1);
	sym_user(s, NOBODY, 0, 5, &n); /* what no process maps never was there */
	assert_text(&n, 0, true, "0x0");
	sym_user(s, NOBODY, MARKER, 6, &n);
	assert_int_equal(sym_gone(s), 2);
	sym_close(s);
}

/* ---- processes that have ended ------------------------------------------------------ */

static void a_process_that_has_exited_keeps_its_names(void **state)
{
	const uint64_t began_ns = k_now_ns();
	struct symbols *s = symbols_open();
	struct sym_name n;
	int go[2], status;
	uint32_t pid;

	(void)state;
	assert_int_equal(pipe(go), 0);
	pid = (uint32_t)fork();
	if (!pid) {
		char c;

		close(go[1]);
		_exit(read(go[0], &c, 1) < 0);
	}
	assert_int_equal(k_task_maps(pid, sym_task, s), 0);
	close(go[1]);
	assert_int_equal(waitpid((pid_t)pid, &status, 0), pid);
	close(go[0]);
	sym_user(s, pid, MARKER, began_ns, &n);
	assert_string_equal(n.name, "marker");
	sym_close(s);
}

static void a_forked_child_has_its_parents_names_until_it_execs(void **state)
{
	struct k_task fork_fact = {
		.kind = K_TASK_FORK, .pid = NOBODY, .ppid = (uint32_t)getpid(), .time_ns = UINT64_MAX - 9
	};
	struct k_task exec_fact = { .kind = K_TASK_COMM_EXEC, .pid = NOBODY, .time_ns = UINT64_MAX - 5 };
	struct k_task exit_fact = { .kind = K_TASK_EXIT, .pid = NOBODY, .time_ns = UINT64_MAX - 2 };
	struct symbols *s = symbols_open();
	struct sym_name n;

	(void)state;
	assert_int_equal(k_task_maps((uint32_t)getpid(), sym_task, s), 0);
	sym_task(s, &fork_fact);
	sym_task(s, &exec_fact);
	sym_task(s, &exit_fact);
	sym_user(s, NOBODY, MARKER, UINT64_MAX - 8, &n);
	assert_string_equal(n.name, "marker");
	sym_user(s, NOBODY, MARKER, UINT64_MAX - 4, &n);
	assert_null(n.mod);
	sym_user(s, NOBODY, MARKER, UINT64_MAX - 10, &n);
	assert_null(n.mod);
	sym_close(s);
}

/* ---- files that are gone, or come twice ------------------------------------------------- */

static void copy_self(const char *to)
{
	char buf[65536];
	int in = open("/proc/self/exe", O_RDONLY), out = open(to, O_WRONLY | O_CREAT | O_TRUNC, 0755);
	ssize_t n;

	assert_true(in >= 0 && out >= 0);
	while ((n = read(in, buf, sizeof(buf))) > 0)
		assert_int_equal(write(out, buf, (size_t)n), n);
	close(in);
	close(out);
}

static void take_own_text(void *arg, const struct k_task *t)
{
	if (MARKER - t->addr < t->len)
		*(struct k_task *)arg = *t;
}

/* This program's text as NOBODY mapped it from path. */
static struct k_task text_of(const char *path, uint32_t pid)
{
	struct k_task t = { 0 };
	struct stat st;

	assert_int_equal(k_task_maps((uint32_t)getpid(), take_own_text, &t), 0);
	assert_int_equal(stat(path, &st), 0);
	t.pid = pid;
	t.inode = st.st_ino;
	t.dev_major = major(st.st_dev);
	t.dev_minor = minor(st.st_dev);
	t.path = path;
	return t;
}

static void a_file_that_was_deleted_since_keeps_its_names(void **state)
{
	char dir[] = "/tmp/tally-symbol.XXXXXX", path[64];
	struct symbols *s = symbols_open();
	struct sym_name n;
	struct k_task t;

	(void)state;
	assert_non_null(mkdtemp(dir));
	snprintf(path, sizeof(path), "%s/gone", dir);
	copy_self(path);
	t = text_of(path, NOBODY);
	sym_task(s, &t);
	unlink(path);
	rmdir(dir);
	sym_user(s, NOBODY, MARKER, 0, &n);
	assert_string_equal(n.mod, "gone");
	assert_string_equal(n.name, "marker");
	sym_close(s);
}

static void another_file_under_the_same_path_lends_no_names(void **state)
{
	char dir[] = "/tmp/tally-symbol.XXXXXX", path[64];
	struct symbols *s = symbols_open();
	struct sym_name n;
	struct k_task t;

	(void)state;
	assert_non_null(mkdtemp(dir));
	snprintf(path, sizeof(path), "%s/other", dir);
	copy_self(path);
	t = text_of(path, NOBODY);
	t.inode++;
	sym_task(s, &t);
	sym_user(s, NOBODY, MARKER, 0, &n);
	assert_string_equal(n.mod, "other");
	assert_null(n.name);
	assert_int_equal(n.offset, MARKER - t.addr + t.pgoff);
	unlink(path);
	rmdir(dir);
	sym_close(s);
}

/* Gives the names of the file's full symbol table two GiB, nearly all of them a hole. */
static void names_inflate(const char *path)
{
	const int fd = open(path, O_RDWR);
	const uint64_t hole = 2ull << 30;
	ElfW(Shdr) sh, names;
	struct stat st;
	ElfW(Ehdr) eh;
	int found = 0;

	assert_true(fd >= 0);
	assert_int_equal(fstat(fd, &st), 0);
	assert_int_equal(pread(fd, &eh, sizeof(eh), 0), sizeof(eh));
	for (int i = 0; i < eh.e_shnum; i++) {
		assert_int_equal(pread(fd, &sh, sizeof(sh), (off_t)(eh.e_shoff + (size_t)i * sizeof(sh))), sizeof(sh));
		if (sh.sh_type != SHT_SYMTAB)
			continue;
		const off_t at = (off_t)(eh.e_shoff + sh.sh_link * sizeof(names));

		assert_int_equal(pread(fd, &names, sizeof(names), at), sizeof(names));
		names.sh_size = hole;
		assert_int_equal(pwrite(fd, &names, sizeof(names), at), sizeof(names));
		found++;
	}
	assert_int_equal(found, 1);
	assert_int_equal(ftruncate(fd, st.st_size + (off_t)hole), 0);
	close(fd);
}

static void a_file_with_more_names_than_are_kept_says_so_and_each_address_counts_once(void **state)
{
	char dir[] = "/tmp/tally-symbol.XXXXXX", path[64], want[128];
	struct symbols *s = symbols_open();
	struct sym_name n;
	struct k_task t;

	(void)state;
	assert_non_null(mkdtemp(dir));
	snprintf(path, sizeof(path), "%s/large", dir);
	copy_self(path);
	names_inflate(path);
	t = text_of(path, NOBODY);
	sym_task(s, &t);
	for (int i = 0; i < 3; i++)
		sym_user(s, NOBODY, MARKER, 0, &n);
	assert_null(n.name);
	snprintf(want, sizeof(want), "large`0x%llx [too many names]", (unsigned long long)n.offset);
	assert_text(&n, MARKER, true, want);
	assert_int_equal(sym_overfull(s), 1);
	unlink(path);
	rmdir(dir);
	sym_close(s);
}

static void two_copies_of_a_program_are_one_to_merge(void **state)
{
	char dir[] = "/tmp/tally-symbol.XXXXXX", path[2][64];
	struct symbols *s = symbols_open();
	struct sym_name n[3];

	(void)state;
	assert_non_null(mkdtemp(dir));
	for (uint32_t i = 0; i < 2; i++) {
		struct k_task t;

		snprintf(path[i], sizeof(path[i]), "%s/copy%u", dir, i);
		copy_self(path[i]);
		t = text_of(path[i], NOBODY + i);
		t.addr += i << 20; /* loaded elsewhere */
		sym_task(s, &t);
		sym_user(s, NOBODY + i, MARKER + (i << 20) + i, 0, &n[i]);
		unlink(path[i]);
	}
	rmdir(dir);
	sym_user(s, (uint32_t)getpid(), (uint64_t)(uintptr_t)symbols_open, 0, &n[2]);
	assert_string_equal(n[1].mod, "copy1");
	assert_string_equal(n[1].name, "marker");
	assert_int_equal(n[0].start, n[1].start);
	assert_int_not_equal(n[0].start, n[2].start);
	if (n[0].file_id != n[1].file_id) {
		print_message("skipped: this test was linked without a build id\n");
		sym_close(s);
		skip();
	}
	assert_int_equal(n[0].file_id, n[2].file_id);
	sym_close(s);
}

static void descriptors_are_bounded_and_files_beyond_are_opened_when_asked_for(void **state)
{
	char dir[] = "/tmp/tally-symbol.XXXXXX", path[FILES_FDS_MOST + 2][64];
	struct file *file[COUNT(path)];
	const struct content *c;
	struct files f = { 0 };
	bool lost = false;

	(void)state;
	assert_non_null(mkdtemp(dir));
	for (uint32_t i = 0; i < COUNT(path); i++) {
		struct k_task t;

		snprintf(path[i], sizeof(path[i]), "%s/link%u", dir, i);
		if (i)
			assert_int_equal(link(path[0], path[i]), 0);
		else
			copy_self(path[0]);
		t = text_of(path[i], NOBODY);
		file[i] = files_see(&f, &t, NULL, &lost);
		assert_non_null(file[i]);
		assert_ptr_equal(files_see(&f, &t, NULL, &lost), file[i]);
	}
	assert_false(lost);
	assert_int_equal(f.fds, FILES_FDS_MOST);
	assert_int_equal(file[FILES_FDS_MOST]->fd, -1);
	assert_int_equal(files_read(&f, file[FILES_FDS_MOST], UINT64_MAX, UINT64_MAX, &c), HELD_THIS);
	assert_non_null(c->object);
	unlink(path[0]);
	assert_int_equal(files_read(&f, file[0], UINT64_MAX, UINT64_MAX, &c), HELD_THIS);
	assert_non_null(c->object);
	assert_int_equal(f.fds_read, 2);
	assert_int_equal(f.fds, FILES_FDS_MOST - 1);
	for (uint32_t i = 1; i < COUNT(path); i++)
		unlink(path[i]);
	rmdir(dir);
	files_free(&f);
}

static void memory_files_of_one_name_are_apart_unless_they_hold_the_same(void **state)
{
	const uint64_t page = (uint64_t)sysconf(_SC_PAGESIZE);
	struct symbols *s = symbols_open();
	struct sym_name n[3];
	struct k_task own;
	char way[64];
	void *code;
	int fd;

	(void)state;
	own = text_of("/proc/self/exe", 0);
	for (int i = 0; i < 3; i++) {
		fd = memfd_create("plugin", 0);
		snprintf(way, sizeof(way), "/proc/self/fd/%d", fd);
		copy_self(way);
		if (i == 2)
			assert_int_equal(pwrite(fd, "none", 4, 0), 4); /* an ELF file no more */
		code = mmap(NULL, own.len, PROT_READ | PROT_EXEC, MAP_PRIVATE, fd, (off_t)own.pgoff);
		assert_ptr_not_equal(code, MAP_FAILED);
		close(fd);
		assert_int_equal(sym_look(s, (uint32_t)getpid()), 0);
		sym_user(s, (uint32_t)getpid(), (uint64_t)(uintptr_t)code + (MARKER - own.addr), 0, &n[i]);
		if (!n[i].name && i < 2) {
			print_message("# skipped: map_files may not be used here\n");
			sym_close(s);
			skip();
		}
		munmap(code, (own.len + page - 1) & ~(page - 1));
	}
	assert_string_equal(n[0].name, "marker");
	assert_null(n[2].name);
	assert_int_equal(strncmp(n[2].mod, "memfd:plugin[inode ", 19), 0);
	assert_string_not_equal(n[2].mod, n[0].mod);
	if (n[0].file_id == n[1].file_id) /* this test was linked with a build id */
		assert_string_equal(n[0].mod, n[1].mod);
	sym_close(s);
}

/* In place, as cp does. */
static void file_append(const char *path)
{
	int fd = open(path, O_WRONLY | O_APPEND);

	assert_true(fd >= 0);
	assert_int_equal(write(fd, "", 1), 1);
	close(fd);
}

static void a_file_that_was_written_over_lends_no_names_to_what_ran_before(void **state)
{
	char dir[] = "/tmp/tally-symbol.XXXXXX", path[64];
	struct symbols *s = symbols_open();
	struct buf b = { 0 };
	struct sym_name n;
	struct k_task t;

	(void)state;
	assert_non_null(mkdtemp(dir));
	snprintf(path, sizeof(path), "%s/over", dir);
	copy_self(path);
	t = text_of(path, NOBODY);
	t.looked = false;
	t.time_ns = k_now_ns();
	sym_task(s, &t);
	file_append(path);
	sym_user(s, NOBODY, MARKER, t.time_ns - 1, &n);
	assert_string_equal(n.mod, "over");
	assert_null(n.name);
	assert_int_equal(n.unread, SYM_CHANGED);
	sym_text(&n, MARKER, false, &b);
	assert_non_null(strstr(b.p, " [file changed]"));
	buf_free(&b);
	assert_int_equal(sym_unread(s), 1);
	t.pid++; /* maps what it holds now */
	t.time_ns = k_now_ns() + 1000000000;
	sym_task(s, &t);
	sym_user(s, t.pid, MARKER, t.time_ns - 1, &n);
	assert_string_equal(n.name, "marker");
	assert_int_equal(sym_unread(s), 1);
	sym_close(s);
	unlink(path);
	rmdir(dir);
}

static void what_was_read_in_time_keeps_its_names_though_the_file_is_written_over(void **state)
{
	char dir[] = "/tmp/tally-symbol.XXXXXX", path[64];
	const struct content *then, *c;
	struct files f = { 0 };
	struct file *file;
	struct k_task t;
	bool lost = false;
	uint64_t read_ns;

	(void)state;
	assert_non_null(mkdtemp(dir));
	snprintf(path, sizeof(path), "%s/over", dir);
	copy_self(path);
	t = text_of(path, NOBODY);
	file = files_see(&f, &t, NULL, &lost);
	assert_int_equal(files_read(&f, file, UINT64_MAX, UINT64_MAX, &then), HELD_THIS);
	read_ns = then->mark.at_ns;
	file->content->mark.tick_ns = 0; /* no test waits for a clock */
	file_append(path);
	assert_int_equal(files_read(&f, file, read_ns, UINT64_MAX, &c), HELD_OTHER);
	assert_null(c);
	assert_int_equal(files_read(&f, file, read_ns, read_ns, &c), HELD_THIS);
	assert_ptr_equal(c, then);
	assert_int_equal(files_read(&f, file, UINT64_MAX, UINT64_MAX, &c), HELD_THIS);
	assert_ptr_not_equal(c, then);
	for (uint32_t i = 0; i < 2 * FILE_CONTENTS_MOST; i++) { /* without end: no more is read */
		file_append(path);
		(void)files_read(&f, file, UINT64_MAX, UINT64_MAX, &c);
	}
	assert_int_equal(file->ncontents, FILE_CONTENTS_MOST);
	assert_null(c);
	assert_int_equal(files_read(&f, file, read_ns, read_ns, &c), HELD_THIS);
	files_free(&f);
	unlink(path);
	rmdir(dir);
}

static void a_file_that_has_the_inode_of_a_removed_one_is_another(void **state)
{
	struct k_task t = { .pid = NOBODY, .path = "/nowhere/x.so", .inode = 5, .inode_generation = 7 };
	struct files f = { 0 };
	const struct content *c;
	struct file *was, *is;
	bool lost = false;

	(void)state;
	was = files_see(&f, &t, NULL, &lost);
	t.inode_generation = 8;
	is = files_see(&f, &t, NULL, &lost);
	assert_ptr_not_equal(was, is);
	t.inode_generation = 0; /* as a look tells it */
	assert_ptr_equal(files_see(&f, &t, NULL, &lost), is);
	t.inode_generation = 7;
	assert_ptr_equal(files_see(&f, &t, NULL, &lost), was);
	assert_int_equal(files_read(&f, was, 1, UINT64_MAX, &c), HELD_UNREACHED); /* nobody knows whether it is there */
	assert_false(lost);
	files_free(&f);
}

static void a_file_that_its_process_no_longer_leads_to_is_not_said_to_be_gone(void **state)
{
	struct k_task t = { .pid = NOBODY, .path = "/nowhere/x.so", .inode = 5 };
	struct kin self = { .pid = { (uint32_t)getpid() }, .n = 1 };
	struct symbols *s = symbols_open();
	struct files f = { 0 };
	const struct content *c;
	struct sym_name n;
	bool lost = false;

	(void)state;
	assert_int_equal(files_read(&f, files_see(&f, &t, &self, &lost), 1, UINT64_MAX, &c), HELD_UNREACHED);
	t.path = "/nowhere/y.so";
	t.pid = (uint32_t)getpid(); /* it is there, and its root directory has no such file */
	assert_int_equal(files_read(&f, files_see(&f, &t, NULL, &lost), 1, UINT64_MAX, &c), HELD_GONE);
	files_free(&f);
	t = (struct k_task){ .kind = K_TASK_COMM_EXEC, .pid = NOBODY, .time_ns = 5 };
	sym_task(s, &t);
	t = (struct k_task){
		.pid = NOBODY, .path = "/nowhere/x.so", .inode = 5, .addr = 0x10000, .len = 4096, .time_ns = 6
	};
	sym_task(s, &t);
	sym_user(s, NOBODY, 0x10010, 6, &n);
	assert_text(&n, 0x10010, false, "x.so`0x10 [file not reached, inode 5.0]");
	assert_int_equal(sym_unreached(s), 1);
	assert_int_equal(sym_unread(s), 0);
	sym_close(s);
}

static void a_file_of_a_process_that_ended_is_found_by_the_root_directory_of_who_forked_it(void **state)
{
	struct kin self = { .pid = { NOBODY + 1, (uint32_t)getpid() }, .n = 2 };
	char dir[] = "/tmp/tally-symbol.XXXXXX", path[64];
	const struct content *c;
	struct files f = { 0 };
	struct k_task t;
	bool lost = false;

	(void)state;
	assert_non_null(mkdtemp(dir));
	snprintf(path, sizeof(path), "%s/x.so", dir);
	copy_self(path);
	t = text_of(path, NOBODY);
	assert_int_equal(files_read(&f, files_see(&f, &t, &self, &lost), UINT64_MAX, UINT64_MAX, &c), HELD_THIS);
	files_free(&f);
	t.inode++; /* another file of that path is none */
	assert_int_equal(files_read(&f, files_see(&f, &t, &self, &lost), UINT64_MAX, UINT64_MAX, &c), HELD_UNREACHED);
	files_free(&f);
	t.inode--;
	t.dev_minor++;
	assert_int_equal(files_read(&f, files_see(&f, &t, &self, &lost), UINT64_MAX, UINT64_MAX, &c), HELD_UNREACHED);
	files_free(&f);
	unlink(path);
	rmdir(dir);
}

static void sym_task_at(struct symbols *s, enum k_taskkind kind, uint32_t pid, uint32_t ppid, uint32_t tid,
			uint64_t time_ns)
{
	struct k_task t = { .kind = (uint8_t)kind, .pid = pid, .ppid = ppid, .tid = tid, .time_ns = time_ns };

	sym_task(s, &t);
}

static void who_shares_memory_with_its_parent_is_the_one_that_the_thread_forked_last(void **state)
{
	struct k_task t = {
		.pid = NOBODY + 2, .path = "/nowhere/x.so", .inode = 5, .addr = 0x10000, .len = 4096, .time_ns = 20
	};
	struct symbols *s = symbols_open();
	struct sym_name n;

	(void)state;
	sym_task_at(s, K_TASK_COMM_EXEC, NOBODY, 0, 0, 1);
	sym_task_at(s, K_TASK_FORK, NOBODY + 1, NOBODY, 100, 10);
	sym_task_at(s, K_TASK_FORK, NOBODY + 2, NOBODY, 101, 11);
	sym_task_at(s, K_TASK_FORK, NOBODY + 3, NOBODY, 102, 12);
	sym_task_at(s, K_TASK_SHARE, NOBODY, 0, 101, 13);
	sym_task(s, &t);
	sym_user(s, NOBODY, 0x10010, 11, &n);
	assert_string_equal(n.mod, "x.so");
	sym_user(s, NOBODY + 1, 0x10010, 11, &n);
	assert_null(n.mod);
	sym_user(s, NOBODY + 3, 0x10010, 12, &n);
	assert_null(n.mod);
	assert_int_equal(sym_lost(s), 0);
	sym_task_at(s, K_TASK_SHARE, NOBODY, 0, 103, 30); /* nobody told of that fork */
	assert_int_equal(sym_lost(s), 1);
	sym_close(s);
}

/* ---- memory without code ---------------------------------------------------------------------- */

static void word_is(struct symbols *s, uint64_t addr, uint64_t generation_ns, bool with_offset, const char *want)
{
	struct sym_name n;

	sym_user(s, NOBODY, addr, generation_ns, &n);
	assert_text(&n, addr, with_offset, want);
}

static void memory_in_no_object_is_called_by_what_it_is(void **state)
{
	static const struct {
		const char *path, *word;
	} rows[] = {
		{ "", "[anon]" },
		{ "[anon:pool]", "[anon]" },
		{ "/dev/zero (deleted)", "[anon]" },
		{ "/anon_hugepage (deleted)", "[anon]" },
		{ "[heap]", "[heap]" },
		{ "[stack]", "[stack]" },
		{ "/srv/a b.bin", "a b.bin" },
		{ "/srv/gone.bin (deleted)", "gone.bin" },
		{ "/memfd:pool (deleted)", "memfd:pool" },
		{ "/srv/[heap]", "/srv/[heap]" }, /* a file that would be taken for one */
		{ "/srv/\033[2J", "?[2J" },
	};
	struct symbols *s = symbols_open();

	(void)state;
	sym_keep_data(s);
	sym_task_at(s, K_TASK_COMM_EXEC, NOBODY, 0, 0, 1);
	for (size_t i = 0; i < COUNT(rows); i++) {
		struct k_task t = {
			.kind = K_TASK_DATA, .pid = NOBODY, .path = rows[i].path, .len = 4096, .time_ns = 2
		};

		t.addr = 0x10000 + i * 0x10000;
		t.pgoff = 0x3000;
		sym_task(s, &t);
		word_is(s, t.addr + 16, 1, false, rows[i].word);
	}
	word_is(s, 0x10010, 1, true, "[anon]`0x10010");
	word_is(s, 0x70010, 1, true, "a b.bin`0x3010");
	word_is(s, 0x11000, 1, true, "0x11000");
	sym_close(s);
}

static void code_and_data_that_take_each_others_place_have_each_its_name(void **state)
{
	struct k_task data = {
		.kind = K_TASK_DATA, .pid = NOBODY, .addr = 0x10000, .len = 0x4000, .time_ns = 10, .path = "/x/bin"
	};
	struct k_task code = {
		.pid = NOBODY, .addr = 0x11000, .len = 0x1000, .time_ns = 20, .path = "/nowhere/x.so", .inode = 5
	};
	struct k_task gone = { .kind = K_TASK_GONE, .pid = NOBODY, .addr = 0x11000, .len = 0x1000, .time_ns = 30 };
	struct symbols *s = symbols_open();
	struct sym_name n;

	(void)state;
	sym_keep_data(s);
	sym_task_at(s, K_TASK_COMM_EXEC, NOBODY, 0, 0, 1);
	sym_task(s, &data);
	sym_task(s, &code);
	sym_user(s, NOBODY, 0x11010, 1, &n);
	assert_string_equal(n.mod, "x.so");
	word_is(s, 0x12010, 1, false, "bin");
	sym_task(s, &gone);
	sym_task_at(s, K_TASK_UNMAP, NOBODY, 0, 0, 31);
	word_is(s, 0x11010, 31, false, "0x11010");
	data.time_ns = 40;
	sym_task(s, &data);
	word_is(s, 0x11010, 31, false, "bin");
	sym_user(s, NOBODY, 0x11010, 1, &n);
	assert_string_equal(n.mod, "x.so");
	sym_close(s);
}

static void without_all_facts_there_is_no_word(void **state)
{
	struct k_task t = {
		.kind = K_TASK_DATA, .pid = NOBODY, .addr = 0x10000, .len = 0x1000, .time_ns = 10, .path = ""
	};
	struct k_task lost = { .kind = K_TASK_LOST, .len = 1, .time_ns = 20 };
	struct symbols *s = symbols_open();

	(void)state;
	sym_task(s, &t); /* nobody wants it */
	assert_false(sym_knows(s, NOBODY));
	sym_keep_data(s);
	sym_task_at(s, K_TASK_COMM_EXEC, NOBODY, 0, 0, 1);
	sym_task(s, &t);
	word_is(s, 0x10010, 5, false, "[anon]");
	sym_task(s, &lost); /* it may be another now */
	word_is(s, 0x10010, 5, false, "0x10010");
	t.time_ns = 30;
	t.addr = 0x20000;
	sym_task(s, &t);
	word_is(s, 0x20010, 5, false, "[anon]");
	sym_close(s);
}

/* ---- the kernel ---------------------------------------------------------------------------- */

struct pick {
	uint64_t addr;
	const char *want;
	uint64_t last;
};

static void pick_symbol(void *arg, uint64_t addr, char type, const char *name, const char *mod)
{
	struct pick *p = arg;

	if (!strcmp(name, p->want) && (type == 't' || type == 'T') && !strcmp(mod, "vmlinux"))
		p->addr = addr;
	if (addr > p->last)
		p->last = addr;
}

static void a_kernel_address_has_its_name_and_a_hole_has_none(void **state)
{
	struct pick p = { .want = "do_exit" };
	struct err e = { 0 };
	struct symbols *s;
	struct sym_name n;

	(void)state;
	if (k_kallsyms(pick_symbol, &p, &e) < 0 || !p.addr) {
		print_message("skipped: %s\n", e.text);
		skip();
	}
	s = symbols_open();
	sym_kernel(s, p.addr + 3, &n);
	assert_string_equal(n.name, "do_exit");
	assert_text(&n, p.addr + 3, true, "vmlinux`do_exit+0x3");
	assert_text(&n, p.addr + 3, false, "vmlinux`do_exit");
	assert_int_equal(n.start, p.addr);
	sym_kernel(s, 0x1000, &n);
	assert_null(n.mod);
	sym_kernel(s, UINT64_MAX, &n);
	assert_null(n.mod);
	sym_kernel(s, 0, &n);
	assert_text(&n, 0, false, "0x0");
	sym_close(s);
}

/* ---- text, losses, memory ------------------------------------------------------------------- */

/* A program of BPF that does nothing, of that name: its descriptor, or -1. */
static int program_load(const char *name)
{
	const struct bpf_insn code[] = { { .code = BPF_ALU64 | BPF_MOV | BPF_K }, { .code = BPF_JMP | BPF_EXIT } };
	union bpf_attr a = { .prog_type = BPF_PROG_TYPE_SOCKET_FILTER, .insn_cnt = COUNT(code) };

	a.insns = (uintptr_t)code;
	a.license = (uintptr_t) "GPL";
	snprintf(a.prog_name, sizeof(a.prog_name), "%s", name);
	return (int)syscall(SYS_bpf, BPF_PROG_LOAD, &a, sizeof(a));
}

static void pick_program(void *arg, uint64_t addr, char type, const char *name, const char *mod)
{
	struct pick *p = arg;

	(void)type;
	if (strstr(name, p->want) && !strcmp(mod, "bpf"))
		p->addr = addr;
}

/* A program of that name: where it lies, and its descriptor; 0: it can't be told. */
static uint64_t program_at(const char *name, int *fd)
{
	struct pick p = { .want = name };

	*fd = program_load(name);
	return *fd >= 0 && k_kallsyms(pick_program, &p, NULL) >= 0 ? p.addr : 0;
}

/*
 * Programs that come before and after the names were read, and one that has gone: false if one of them has no name,
 * since other processes load and unload programs, too, and one came in the place of theirs. None has another's name.
 */
static bool programs_have_their_names(void)
{
	enum { PROGRAMS = 20, GONE = 3 };
	struct symbols *s = symbols_open();
	uint64_t addr[PROGRAMS];
	int fd[PROGRAMS];
	struct sym_name n;
	bool named = true;

	for (int i = 0; i < PROGRAMS; i++) {
		char want[16];

		snprintf(want, sizeof(want), "tally_late_%c", 'a' + i);
		if (!(addr[i] = program_at(want, &fd[i]))) {
			print_message("skipped: BPF programs can't be loaded here, or have no names\n");
			skip();
		}
		if (i == PROGRAMS / 2)
			sym_kernel(s, addr[i], &n); /* the names are read, without those of the other half */
	}
	for (int i = 0; i <= PROGRAMS; i++) {
		const int which = i < PROGRAMS ? i : GONE;

		sym_all_seen(s, true);
		sym_kernel(s, addr[which] + 2, &n);
		assert_string_equal(n.mod, "bpf");
		if (n.name) {
			assert_non_null(strstr(n.name, "tally_late_"));
			assert_int_equal(strstr(n.name, "tally_late_")[11], 'a' + which);
			assert_int_equal(n.offset, 2);
		}
		named = named && n.name;
		if (i < PROGRAMS)
			close(fd[i]);
	}
	sym_close(s);
	return named;
}

static void a_program_that_came_after_the_names_were_read_has_not_its_neighbours_name(void **state)
{
	int tries = 1;

	(void)state;
	while (!programs_have_their_names())
		assert_true(tries++ < 100);
}

/* How long its code is. */
static uint32_t program_bytes(int fd)
{
	struct bpf_prog_info info = { 0 };
	union bpf_attr a = { .info = { .bpf_fd = (uint32_t)fd, .info_len = sizeof(info), .info = (uintptr_t)&info } };

	assert_int_equal(syscall(SYS_bpf, BPF_OBJ_GET_INFO_BY_FD, &a, sizeof(a)), 0);
	return info.jited_prog_len;
}

static void a_program_in_the_place_of_one_that_has_gone_has_neithers_name(void **state)
{
	struct symbols *s = symbols_open();
	uint64_t first, second = 0;
	struct sym_name n;
	int fd;

	(void)state;
	first = program_at("tally_first", &fd);
	sym_kernel(s, first + 2, &n);
	if (!first) {
		print_message("skipped: BPF programs can't be loaded here, or have no names\n");
		skip();
	}
	assert_non_null(strstr(n.name, "tally_first"));
	sym_kernel(s, first + program_bytes(fd) - 1, &n);
	assert_non_null(strstr(n.name, "tally_first"));
	sym_kernel(s, first + program_bytes(fd), &n);
	assert_true(!n.name || !strstr(n.name, "tally_first"));
	for (int i = 0; i < 100 && second != first; i++) { /* the kernel gives its place away when it likes */
		close(fd);
		second = program_at("tally_second", &fd);
	}
	sym_all_seen(s, true);
	sym_kernel(s, second + 2, &n);
	assert_string_equal(n.mod, "bpf");
	if (second == first)
		assert_null(n.name);
	else if (n.name) /* it came in the place of another process's */
		assert_non_null(strstr(n.name, "tally_second"));
	close(fd);
	sym_close(s);
}

static void text_is_what_d_prints(void **state)
{
	struct sym_name n = { 0 };

	(void)state;
	assert_text(&n, 0xffff0, true, "0xffff0");
	n.mod = "libx.so.1";
	n.offset = 0x120;
	assert_text(&n, 0xffff0, false, "libx.so.1`0x120");
	n.name = "f";
	assert_text(&n, 0xffff0, true, "libx.so.1`f+0x120");
	assert_text(&n, 0xffff0, false, "libx.so.1`f");
	n.offset = 0;
	assert_text(&n, 0xffff0, true, "libx.so.1`f");
	n = (struct sym_name){ .mod = "x.so", .offset = 0x10, .unread = SYM_CHANGED };
	assert_text(&n, 0xffff0, true, "x.so`0x10 [file changed]");
	n.unread = SYM_GONE;
	n.inode = 12;
	n.inode_generation = 3;
	assert_text(&n, 0xffff0, false, "x.so`0x10 [file gone, inode 12.3]");
	n = (struct sym_name){ .forgotten = true };
	assert_text(&n, 0xffff0, true, "0xffff0 [mapping forgotten]");
}

static void losses_are_counted(void **state)
{
	struct k_task lost = { .kind = K_TASK_LOST, .len = 41 };
	struct k_task t = task_anonymous(NOBODY, 0);
	struct symbols *s = symbols_open();
	char path[5000] = "/";

	(void)state;
	sym_task(s, &lost);
	memset(path + 1, 'x', sizeof(path) - 2);
	t.path = path; /* longer than any path: mapped, but without a file */
	sym_task(s, &t);
	assert_int_equal(sym_lost(s), 42);
	assert_true(sym_knows(s, NOBODY));
	sym_close(s);
}

static void whole_run(void)
{
	struct k_task t = task_anonymous(NOBODY, 0x10000000),
		      f = { .kind = K_TASK_FORK, .pid = NOBODY + 1, .ppid = NOBODY };
	struct symbols *s;
	struct sym_name n;

	if (sym_open(&s) < 0)
		return;
	sym_keep_data(s);
	k_task_maps((uint32_t)getpid(), sym_task, s);
	sym_task(s, &t);
	sym_task(s, &f);
	f.kind = K_TASK_SHARE;
	f.pid = NOBODY;
	sym_task(s, &f);
	t.kind = K_TASK_DATA;
	t.addr = 0x30000000;
	sym_task(s, &t);
	sym_user(s, NOBODY, 0x30000000, 0, &n);
	sym_user(s, (uint32_t)getpid(), MARKER, 0, &n);
	sym_user(s, NOBODY + 1, 0x10000000, 0, &n);
	sym_close(s);
}

static void every_failing_allocation_is_survived(void **state)
{
	(void)state;
	for (long n = 1;; n++) {
		long before = mem_live();

		mem_fail_at(n);
		whole_run();
		assert_int_equal(mem_live(), before);
		if (!mem_failed())
			break;
	}
	mem_fail_at(0);
}

static void what_a_look_finds_was_not_there_in_a_generation_that_ended_meanwhile(void **state)
{
	const uint32_t pid = (uint32_t)getpid();
	const struct k_task own = text_of("/proc/self/exe", 0);
	const int fd = open("/proc/self/exe", O_RDONLY), rx = PROT_READ | PROT_EXEC;
	void *code = mmap(NULL, own.len, rx, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	const uint64_t generation_ns = k_now_ns(), addr = (uintptr_t)code + (MARKER - own.addr);
	struct k_task told = { .kind = K_TASK_UNMAP, .pid = pid, .path = "" };
	struct symbols *s = symbols_open();
	struct sym_name n;

	(void)state;
	assert_ptr_equal(mmap(code, own.len, rx, MAP_PRIVATE | MAP_FIXED, fd, (off_t)own.pgoff), code);
	told.time_ns = k_now_ns();
	assert_true(sym_must_look(s, pid, addr, generation_ns));
	assert_int_equal(sym_look(s, pid), 0);
	sym_task(s, &told); /* the kernel had told it before the look */
	sym_user(s, pid, addr, generation_ns, &n);
	assert_true(n.gone && !n.mod);
	close(fd);
	sym_close(s);
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(an_address_of_this_program_has_its_name),
		cmocka_unit_test(a_name_of_cxx_is_shown_as_was_asked),
		cmocka_unit_test(a_variable_of_this_program_has_its_name),
		cmocka_unit_test(a_live_process_that_nobody_told_of_is_looked_at),
		cmocka_unit_test(a_function_of_a_shared_library_has_its_name),
		cmocka_unit_test(an_address_of_the_vdso_has_its_name),
		cmocka_unit_test(an_address_that_nothing_maps_stays_an_address),
		cmocka_unit_test(an_address_of_a_process_that_nobody_looked_at_is_not_guessed_and_counted_once),
		cmocka_unit_test(a_process_that_has_exited_keeps_its_names),
		cmocka_unit_test(a_forked_child_has_its_parents_names_until_it_execs),
		cmocka_unit_test(a_file_that_was_deleted_since_keeps_its_names),
		cmocka_unit_test(another_file_under_the_same_path_lends_no_names),
		cmocka_unit_test(a_file_with_more_names_than_are_kept_says_so_and_each_address_counts_once),
		cmocka_unit_test(two_copies_of_a_program_are_one_to_merge),
		cmocka_unit_test(memory_files_of_one_name_are_apart_unless_they_hold_the_same),
		cmocka_unit_test(descriptors_are_bounded_and_files_beyond_are_opened_when_asked_for),
		cmocka_unit_test(a_file_that_was_written_over_lends_no_names_to_what_ran_before),
		cmocka_unit_test(what_was_read_in_time_keeps_its_names_though_the_file_is_written_over),
		cmocka_unit_test(a_file_that_has_the_inode_of_a_removed_one_is_another),
		cmocka_unit_test(a_file_that_its_process_no_longer_leads_to_is_not_said_to_be_gone),
		cmocka_unit_test(a_file_of_a_process_that_ended_is_found_by_the_root_directory_of_who_forked_it),
		cmocka_unit_test(who_shares_memory_with_its_parent_is_the_one_that_the_thread_forked_last),
		cmocka_unit_test(memory_in_no_object_is_called_by_what_it_is),
		cmocka_unit_test(code_and_data_that_take_each_others_place_have_each_its_name),
		cmocka_unit_test(without_all_facts_there_is_no_word),
		cmocka_unit_test(a_kernel_address_has_its_name_and_a_hole_has_none),
		cmocka_unit_test(a_program_that_came_after_the_names_were_read_has_not_its_neighbours_name),
		cmocka_unit_test(a_program_in_the_place_of_one_that_has_gone_has_neithers_name),
		cmocka_unit_test(text_is_what_d_prints),
		cmocka_unit_test(what_a_look_finds_was_not_there_in_a_generation_that_ended_meanwhile),
		cmocka_unit_test(losses_are_counted),
		cmocka_unit_test(every_failing_allocation_is_survived),
	};

	return cmocka_run_group_tests_name("symbol: symbol", tests, NULL, NULL);
}
