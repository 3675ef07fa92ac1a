/*
 * reuse: code of different files at one address, or in processes of one id, after each other.  What touches the pages
 * is known: one page fault each.
 *
 *	reuse HOW DIR ROUNDS A B	A pages by plugin_a, B by plugin_b, ROUNDS times:
 *		load	loaded and unloaded with dlopen() and dlclose()
 *		map	mapped at one address and unmapped again
 *		over	mapped over each other, never unmapped
 *		toggle	mapped at one address, made writable and executable again before each of four
 *		        calls, and unmapped
 *		protect	mapped at one address to be read only, then made executable, and unmapped
 *		unprotect	the same, and made readable only again before that
 *		writable	mapped at one address to be read and written, then made executable as well, and unmapped
 *		cover	plugin_a mapped at one address to be written and executed, plugin_b over it to be read, and
 *		        then made executable
 *		carry	the same, but plugin_a is made writable and executable elsewhere, and moved there by mremap()
 *		memfd	each mapped from a memory file of its own, all of one name
 *		child	each in a process of its own, all of one id, that maps it at one address
 *		move	mapped somewhere, and moved to one address, where the other is
 *		stray	mapped somewhere, and moved to where the kernel likes
 *		swap	mapped elsewhere once, and moved to one address and back again
 *		duplicate	mapped elsewhere once, and from there a second time at one address, by mremap() with an
 *		                old size of 0
 *		keep	the same, and its pages move, by mremap() with MREMAP_DONTUNMAP
 *		vfork	mapped at one address by a child that has this process's memory
 *		clone	the same by a child of clone(CLONE_VM)
 *		jail	each loaded by a process of its own, whose root directory is DIR; ends when that is done, and
 *			leaves their parent there until it gets a line
 *		jit	plugin_a mapped at one address, and over it plugin_b's code written into memory without a file
 *		memory	as jit, but the memory is unmapped before plugin_a comes to its place
 *		mapchild	each in a process of its own, all of one id, whose code lies at one address in memory
 *		                without a file; plugin_a's
 *			writes a perf map that calls it reuse_jit_a, plugin_b's none (ROUNDS 1)
 *		mapexec	the same before and after an exec
 *		maptwice	the same in one process, and both write a line for the address
 *		mapdump		as maptwice, with records with times (jitdump) in a file that is removed in the end; plugin_a's code is
 *			unmapped before plugin_b's record is written; calls pause(2) at the end
 *		mapgone		the same, but the file is removed as soon as it is mapped, and written through its descriptor
 *		mapappend	as mapchild, and plugin_b's appends a line for another address to the map of the process before
 *		restamp	as rewrite, and the mtime of the file is the same each time, as with cp -p
 *		rewrite	one file DIR/over.so that holds plugin_a and is written over with plugin_b (ROUNDS 1: truth is
 *		        the last content's alone)
 *		replace	a file of that name that is removed, and another of the same name
 *		remove	the same, and the other is removed in the end
 *		wake	as map, but a child begins with plugin_a's mapping, and itself unmaps it and maps plugin_b
 *		late	A pages in a mapping that is there from the beginning, after a line came in; then it is
 *			unmapped, and B pages in another at its place; says "ready" before
 *		exec	by two programs of the same fixed addresses, image_a and image_b, that a child becomes one
 *		        after the other
 *		all	load, map, child, wake and exec in turn, and then this program execs itself for load: six times
 *			A and B a round
 * DIR has plugin_a.so, plugin_b.so and the images.  Prints how many addresses this process called ("1 address").  Ends
 * with 77 where a process's id can't be chosen.
 */
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/sched.h>
#include <sched.h>
#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum { PAGES_MOST = 4096, CODE_BYTES = 4096 };

typedef void plugin_function(volatile char *area, unsigned long pages, unsigned long page);

struct plugin {
	char path[4096], function[32];
	int fd;
	unsigned long offset; /* of its function in the file */
	unsigned long pages;  /* that it shall touch each time */
};

static char *area;
static unsigned long page;
static uintptr_t seen; /* the address of the function, the last time */
static unsigned addresses;

static void die(const char *what)
{
	perror(what);
	_exit(1);
}

/* The pages are fresh before each call, and those of the code are there. */
static void plugin_call(plugin_function *f, unsigned long pages)
{
	addresses += (uintptr_t)f != seen;
	seen = (uintptr_t)f;
	if (madvise(area, PAGES_MOST * page, MADV_DONTNEED) < 0)
		die("madvise");
	f(area, pages, page);
}

static void *plugin_load(const struct plugin *p, plugin_function **f)
{
	void *lib = dlopen(p->path, RTLD_NOW | RTLD_LOCAL);

	*f = lib ? (plugin_function *)dlsym(lib, p->function) : NULL;
	if (!*f) {
		fprintf(stderr, "reuse: %s\n", dlerror());
		_exit(1);
	}
	return lib;
}

static void load(const struct plugin *p)
{
	plugin_function *f;
	void *lib = plugin_load(p, &f);

	plugin_call(f, p->pages);
	dlclose(lib);
}

static void plugin_open(struct plugin *p, const char *dir, char which, unsigned long pages)
{
	plugin_function *f;
	Dl_info info;
	void *lib;

	snprintf(p->path, sizeof(p->path), "%s/plugin_%c.so", dir, which);
	snprintf(p->function, sizeof(p->function), "plugin_%c_touch", which);
	lib = plugin_load(p, &f);
	if (!dladdr((void *)f, &info))
		die("dladdr");
	p->offset = (unsigned long)((char *)f - (char *)info.dli_fbase);
	p->pages = pages;
	p->fd = open(p->path, O_RDONLY | O_CLOEXEC);
	dlclose(lib);
	if (p->fd < 0)
		die(p->path);
}

/* The page of the function, mapped executable at once. */
static char *plugin_map(const struct plugin *p, char *at, int flags)
{
	char *code = mmap(at, CODE_BYTES, PROT_READ | PROT_EXEC, MAP_PRIVATE | MAP_POPULATE | flags, p->fd,
			  (off_t)(p->offset & ~(unsigned long)(CODE_BYTES - 1)));

	if (code == MAP_FAILED)
		die("mmap");
	return code;
}

static void map_call(const struct plugin *p, char *code)
{
	plugin_call((plugin_function *)(code + p->offset % CODE_BYTES), p->pages);
}

static void map(const struct plugin *p, char *at)
{
	char *code = plugin_map(p, at, 0);

	map_call(p, code);
	munmap(code, CODE_BYTES);
}

/* As loaders do that look at a file before they run it, or change it.  unprotect: it is no code any more when it
 * goes. */
static void protect(const struct plugin *p, char *at, const char *how)
{
	int more = *how == 'w' ? PROT_WRITE : 0;
	char *code = mmap(at, CODE_BYTES, PROT_READ | more, MAP_PRIVATE | MAP_POPULATE, p->fd,
			  (off_t)(p->offset & ~(unsigned long)(CODE_BYTES - 1)));

	if (code == MAP_FAILED || mprotect(code, CODE_BYTES, PROT_READ | PROT_EXEC | more) < 0)
		die("mprotect");
	map_call(p, code);
	if (*how == 'u' && mprotect(code, CODE_BYTES, PROT_READ) < 0)
		die("mprotect");
	munmap(code, CODE_BYTES);
}

/* Pages that may be written and executed, and over them those of the other, which are not executable when they come. */
static void cover(const struct plugin p[2], char *at, const char *how)
{
	const int all = PROT_READ | PROT_WRITE | PROT_EXEC;
	const bool moved = !strcmp(how, "carry");
	char *code = mmap(at, CODE_BYTES, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1,
			  0); /* so that nothing else comes there */

	if (code == MAP_FAILED)
		die("mmap");
	code = mmap(moved ? NULL : at, CODE_BYTES, moved ? PROT_READ | PROT_EXEC : all,
		    MAP_PRIVATE | MAP_POPULATE | (moved ? 0 : MAP_FIXED), p[0].fd,
		    (off_t)(p[0].offset & ~(unsigned long)(CODE_BYTES - 1)));

	if (code == MAP_FAILED || (moved && mprotect(code, CODE_BYTES, all) < 0) ||
	    (moved && mremap(code, CODE_BYTES, CODE_BYTES, MREMAP_MAYMOVE | MREMAP_FIXED, at) != at))
		die("mmap");
	map_call(&p[0], at);
	code = mmap(at, CODE_BYTES, PROT_READ, MAP_PRIVATE | MAP_POPULATE | MAP_FIXED, p[1].fd,
		    (off_t)(p[1].offset & ~(unsigned long)(CODE_BYTES - 1)));
	if (code == MAP_FAILED || mprotect(code, CODE_BYTES, PROT_READ | PROT_EXEC) < 0)
		die("mmap");
	map_call(&p[1], at);
}

static void memory_file(const struct plugin *p, char *at)
{
	struct plugin copy = *p;
	struct stat st;
	char *bytes;

	copy.fd = memfd_create("plugin", MFD_CLOEXEC);
	if (copy.fd < 0 || fstat(p->fd, &st) < 0 || !(bytes = malloc((size_t)st.st_size)) ||
	    pread(p->fd, bytes, (size_t)st.st_size, 0) != st.st_size ||
	    write(copy.fd, bytes, (size_t)st.st_size) != st.st_size)
		die("memfd");
	free(bytes);
	map(&copy, at);
	close(copy.fd);
}

/* As compilers of running programs do with theirs, which get and give back other memory meanwhile. */
static void toggle(const struct plugin *p, char *at)
{
	char *code = plugin_map(p, at, 0);

	for (int i = 0; i < 4; i++) {
		if (mprotect(code, CODE_BYTES, PROT_READ | PROT_WRITE) < 0 ||
		    mprotect(code, CODE_BYTES, PROT_READ | PROT_EXEC) < 0 ||
		    munmap(mmap(NULL, CODE_BYTES, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0), CODE_BYTES) < 0)
			die("mprotect");
		map_call(p, code);
	}
	munmap(code, CODE_BYTES);
}

/* Its page at `at` by way of another place; at NULL: where the kernel likes, which is elsewhere as the next page is
 * taken. */
static void move(const struct plugin *p, char *at)
{
	char *room = mmap(NULL, 2 * CODE_BYTES, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0), *code;

	if (room == MAP_FAILED)
		die("mmap");
	code = plugin_map(p, room, MAP_FIXED);
	code = at ? mremap(code, CODE_BYTES, CODE_BYTES, MREMAP_MAYMOVE | MREMAP_FIXED, at) :
		    mremap(code, CODE_BYTES, 2 * CODE_BYTES, MREMAP_MAYMOVE);
	if (code == MAP_FAILED)
		die("mremap");
	map_call(p, code);
	munmap(room, 2 * CODE_BYTES);
	if (!at)
		munmap(code, 2 * CODE_BYTES);
}

/* Of one page of each plugin, which stays mapped elsewhere. */
static void move_again(const struct plugin *p, int which, char *at, const char *how)
{
	static char *place[2];
	const int shared = *how == 'd' ? MAP_SHARED : MAP_PRIVATE, fixed = MREMAP_MAYMOVE | MREMAP_FIXED;
	char *code;

	if (!place[which]) {
		if (mmap(at, CODE_BYTES, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0) == MAP_FAILED)
			die("mmap");
		place[which] = mmap(NULL, CODE_BYTES, PROT_READ | PROT_EXEC, shared | MAP_POPULATE, p->fd,
				    (off_t)(p->offset & ~(unsigned long)(CODE_BYTES - 1)));
	}
	if (place[which] == MAP_FAILED)
		die("mmap");
	code = mremap(place[which], *how == 'd' ? 0 : CODE_BYTES, CODE_BYTES,
		      fixed | (*how == 'k' ? MREMAP_DONTUNMAP : 0), at);
	if (code == MAP_FAILED || *(volatile char *)code == 0)
		die("mremap");
	map_call(p, code);
	if (*how == 's' && mremap(code, CODE_BYTES, CODE_BYTES, fixed, place[which]) == MAP_FAILED)
		die("mremap");
}

struct sharing {
	const struct plugin *plugin;
	char *at;
};

static int map_shared(void *arg)
{
	const struct sharing *s = arg;

	munmap(s->at, CODE_BYTES);
	(void)plugin_map(s->plugin, s->at, MAP_FIXED);
	_exit(0);
}

/* The times of files may be those of the clock's last tick: a whole tick passes between what was and what comes. */
static void tick_wait(void)
{
	struct timespec tick, until, now;

	clock_getres(CLOCK_REALTIME_COARSE, &tick);
	clock_gettime(CLOCK_REALTIME, &until);
	until.tv_nsec += 2 * tick.tv_nsec;
	do
		clock_gettime(CLOCK_REALTIME_COARSE, &now);
	while ((now.tv_sec - until.tv_sec) * 1000000000L + now.tv_nsec < until.tv_nsec);
}

/* Appends a line to this process's perf map. */
static void map_line(char *at, char which)
{
	char path[64];
	FILE *f;

	snprintf(path, sizeof(path), "/tmp/perf-%ld.map", (long)getpid());
	f = fopen(path, "a");
	if (!f || fprintf(f, "%lx %x reuse_jit_%c\n", (unsigned long)at, CODE_BYTES, which) < 0 || fclose(f))
		die(path);
}

/* Appends a record with the time to this process's jitdump, which a's begins, and maps for tally to know where it
 * is. gone: it is removed then, and later records go through its descriptor. */
static void dump_record(char *at, char which, bool gone)
{
	enum { KEPT = 77 };
	struct {
		uint32_t magic, version, bytes, machine, pad, pid;
		uint64_t time_ns, flags;
	} header = { 0x4a695444, 1, sizeof(header), 0, 0, (uint32_t)getpid(), 0, 0 };
	struct {
		uint32_t kind, bytes;
		uint64_t time_ns;
		uint32_t pid, tid;
		uint64_t vma, addr, size, number;
		char name[16];
	} load = { .bytes = sizeof(load), .addr = (uintptr_t)at, .size = CODE_BYTES, .number = (uint64_t)which };
	struct timespec now;
	char path[64];
	int fd;

	clock_gettime(CLOCK_MONOTONIC, &now);
	header.time_ns = load.time_ns = (uint64_t)now.tv_sec * 1000000000 + (uint64_t)now.tv_nsec;
	load.pid = load.tid = header.pid;
	snprintf(load.name, sizeof(load.name), "reuse_dump_%c", which);
	snprintf(path, sizeof(path), "/tmp/jit-%u.dump", header.pid);
	if (gone && which == 'b')
		fd = dup(KEPT);
	else
		fd = open(path, O_RDWR | O_CREAT | O_APPEND | (which == 'a' ? O_TRUNC : 0), 0600);
	if (fd < 0 || (which == 'a' && write(fd, &header, sizeof(header)) != sizeof(header)) ||
	    (which == 'a' && mmap(NULL, page, PROT_READ | PROT_EXEC, MAP_PRIVATE, fd, 0) == MAP_FAILED) ||
	    (gone && which == 'a' && (unlink(path) || dup2(fd, KEPT) < 0)) ||
	    write(fd, &load, sizeof(load)) != sizeof(load) || close(fd))
		die(path);
	if (!gone && which == 'b')
		unlink(path);
}

/* Its code without its file. */
static void jit(const struct plugin *p, char *at)
{
	char *code = mmap(at, CODE_BYTES, PROT_READ | PROT_WRITE | PROT_EXEC, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED,
			  -1, 0);

	if (code == MAP_FAILED ||
	    pread(p->fd, code, CODE_BYTES, (off_t)(p->offset & ~(unsigned long)(CODE_BYTES - 1))) != CODE_BYTES)
		die("jit");
	__builtin___clear_cache(code, code + CODE_BYTES);
	map_call(p, code);
}

/* The same with a perf map, in a process that may be the next of the id, or what became of the process by exec. */
static void jit_mapped(const struct plugin *p, const char *how, bool second)
{
	char *const at = (char *)0x2000000000; /* the same in each process */
	const bool gone = !strcmp(how, "mapgone"), dump = gone || !strcmp(how, "mapdump");

	tick_wait();
	if (dump && second)
		munmap(at, CODE_BYTES);
	if (dump)
		dump_record(at, second ? 'b' : 'a', gone);
	else if (!second)
		map_line(at, 'a');
	else if (!strcmp(how, "maptwice"))
		map_line(at, 'b');
	else if (!strcmp(how, "mapappend"))
		map_line(at + CODE_BYTES, 'b');
	jit(p, at);
	tick_wait();
}

/* Loads what is in p from a file over.so, which is written over (restamp: and its mtime put back) or another of that
 * name. */
static void load_over(const struct plugin *p, const char *dir, const char *how)
{
	const bool fresh = strcmp(how, "rewrite") && strcmp(how, "restamp");
	const struct timespec long_ago[2] = { { .tv_sec = 1000000000 }, { .tv_sec = 1000000000 } };
	struct plugin over = *p;
	struct stat st;
	char *bytes;
	int fd;

	tick_wait();
	snprintf(over.path, sizeof(over.path), "%s/over.so", dir);
	if (fresh && unlink(over.path) < 0 && errno != ENOENT)
		die("unlink");
	fd = open(over.path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0755);
	if (fd < 0 || fstat(p->fd, &st) < 0 || !(bytes = malloc((size_t)st.st_size)) ||
	    pread(p->fd, bytes, (size_t)st.st_size, 0) != st.st_size ||
	    write(fd, bytes, (size_t)st.st_size) != st.st_size)
		die(over.path);
	if (!strcmp(how, "restamp") && futimens(fd, long_ago) < 0)
		die("futimens");
	close(fd);
	free(bytes);
	tick_wait();
	load(&over);
}

/* A child of that id, or any for 0; 0 in the child. */
static pid_t child_begin(pid_t id)
{
	struct clone_args args = { .exit_signal = SIGCHLD,
				   .set_tid = id ? (uint64_t)(uintptr_t)&id : 0,
				   .set_tid_size = id != 0 };
	pid_t pid;

	for (unsigned i = 0; i < 1000; i++) /* somebody else was given it meanwhile */
		if ((pid = (pid_t)syscall(SYS_clone3, &args, sizeof(args))) >= 0 || errno != EEXIST)
			break;
	if (pid < 0)
		_exit(77);
	return pid;
}

static void child_wait(pid_t pid)
{
	int status;

	if (waitpid(pid, &status, 0) < 0 || status)
		_exit(1);
}

static pid_t child(const struct plugin *p, char *at, pid_t id)
{
	pid_t pid = child_begin(id);

	if (pid == 0) {
		map(p, at);
		_exit(0);
	}
	child_wait(pid);
	return pid;
}

/* The child maps it, in this process's memory. */
static void share(const struct plugin *p, char *at, const char *how)
{
	static char stack[65536] __attribute__((aligned(16)));
	struct sharing s = { p, at };
	pid_t pid;

	pid = clone(map_shared, stack + sizeof(stack), CLONE_VM | SIGCHLD | (*how == 'v' ? CLONE_VFORK : 0), &s);
	if (pid < 0)
		die("clone");
	child_wait(pid);
	map_call(p, at);
}

static void jail_load(char which, unsigned long pages)
{
	pid_t pid = child_begin(0);
	struct plugin p;

	if (pid == 0) {
		plugin_open(&p, "", which, pages);
		load(&p);
		_exit(0);
	}
	child_wait(pid);
}

/* The processes in the jail keep nothing open that somebody waits for. */
static int jail(const char *dir, unsigned long rounds, unsigned long a, unsigned long b)
{
	int done[2];
	char byte;

	if (pipe(done) < 0)
		die("pipe");
	if (child_begin(0)) {
		close(done[1]);
		return read(done[0], &byte, 1) == 1 ? 0 : 1;
	}
	alarm(60);
	if (dup2(done[1], 1) < 0 || dup2(done[1], 2) < 0 || close_range(3, ~0u, 0) < 0 || chroot(dir) < 0 ||
	    chdir("/") < 0)
		_exit(1);
	for (unsigned long i = 0; i < rounds; i++) {
		jail_load('a', a);
		jail_load('b', b);
	}
	if (write(1, "x", 1) != 1)
		_exit(1);
	close(1);
	close(2);
	_exit(read(0, &byte, 1) != 1);
}

/* Both with a perf map; `again`: this program is the second of the two. */
static void jit_maps(const struct plugin *p, const char *how, char **argv, bool again)
{
	const bool dump = !strcmp(how, "mapdump") || !strcmp(how, "mapgone");
	pid_t pid = 0;

	for (int i = again; i < 2; i++) {
		if (!strcmp(how, "maptwice") || dump || !strcmp(how, "mapexec")) {
			jit_mapped(&p[i], how, i);
		} else {
			pid_t child = child_begin(pid);

			if (child == 0) {
				jit_mapped(&p[i], how, i);
				_exit(0);
			}
			child_wait(child);
			pid = child;
		}
		if (i == 0 && !strcmp(how, "mapexec")) {
			argv[6] = (char[]){ "again" };
			execv(argv[0], argv);
			die("exec");
		}
	}
	if (dump)
		pause();
}

/* The child inherits a's mapping, calls it, and has b in its place. */
static void wake(const struct plugin *a, const struct plugin *b, char *at)
{
	char *code = plugin_map(a, at, 0);
	pid_t pid = child_begin(0);

	if (pid == 0) {
		map_call(a, code);
		munmap(code, CODE_BYTES);
		map(b, code);
		_exit(0);
	}
	child_wait(pid);
	munmap(code, CODE_BYTES);
}

/* The child has what this program has mapped, and becomes others that have other code there. */
static void exec_images(const struct plugin *p, const char *dir)
{
	char path[2][4096], pages[2][24], *argv[] = { path[0], pages[0], path[1], pages[1], NULL };
	pid_t pid;

	for (int i = 0; i < 2; i++) {
		snprintf(path[i], sizeof(path[i]), "%s/image_%c", dir, 'a' + i);
		snprintf(pages[i], sizeof(pages[i]), "%lu", p[i].pages);
	}
	pid = child_begin(0);
	if (pid == 0) {
		execv(argv[0], argv);
		_exit(1);
	}
	child_wait(pid);
}

/* The first mapping is older than who waits for the line. */
static void late(const struct plugin *p, char *at)
{
	char *code = plugin_map(&p[0], at, 0);

	if (puts("ready") < 0 || fflush(stdout) < 0 || getchar() == EOF)
		die("late");
	map_call(&p[0], code);
	munmap(code, CODE_BYTES);
	map(&p[1], at);
}

/* Each once. */
static void round_of(const char *how, const char *dir, const struct plugin *p, char *at)
{
	static pid_t id;
	bool all = !strcmp(how, "all"), removed = !strcmp(how, "remove");

	for (int i = 0; i < 2; i++) {
		if (all || !strcmp(how, "load"))
			load(&p[i]);
		if (all || !strcmp(how, "map"))
			map(&p[i], at);
		if (!strcmp(how, "toggle"))
			toggle(&p[i], at);
		if (!strcmp(how, "protect") || !strcmp(how, "unprotect") || !strcmp(how, "writable"))
			protect(&p[i], at, how);
		if (!strcmp(how, "memfd"))
			memory_file(&p[i], at);
		if (!strcmp(how, "over"))
			map_call(&p[i], plugin_map(&p[i], at, MAP_FIXED));
		if (!strcmp(how, "swap") || !strcmp(how, "duplicate") || !strcmp(how, "keep"))
			move_again(&p[i], i, at, how);
		if (!strcmp(how, "vfork") || !strcmp(how, "clone"))
			share(&p[i], at, how);
		if (!strcmp(how, "move") || !strcmp(how, "stray"))
			move(&p[i], *how == 'm' ? at : NULL);
		if (!strcmp(how, "rewrite") || !strcmp(how, "restamp") || !strcmp(how, "replace") || removed)
			load_over(&p[i], dir, how);
		if (all || !strcmp(how, "child"))
			id = child(&p[i], at, id);
	}
	if (all || !strcmp(how, "wake"))
		wake(&p[0], &p[1], at);
	if (all || !strcmp(how, "exec"))
		exec_images(p, dir);
	if (!strcmp(how, "late"))
		late(p, at);
	if (!strcmp(how, "cover") || !strcmp(how, "carry"))
		cover(p, at, how);
	if (!strcmp(how, "jit") || !strcmp(how, "memory")) {
		jit(&p[1], at);
		if (*how == 'm')
			munmap(at, CODE_BYTES);
		map_call(&p[0], plugin_map(&p[0], at, MAP_FIXED));
	}
}

int main(int argc, char **argv)
{
	struct plugin p[2];
	unsigned long rounds;
	char *at;

	if (argc < 6)
		return 2;
	page = (unsigned long)sysconf(_SC_PAGESIZE);
	area = mmap(NULL, PAGES_MOST * page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	at = mmap(NULL, CODE_BYTES, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (area == MAP_FAILED || madvise(area, PAGES_MOST * page, MADV_NOHUGEPAGE) < 0 || at == MAP_FAILED)
		die("mmap");
	munmap(at, CODE_BYTES);
	if (!strcmp(argv[1], "jail"))
		return jail(argv[2], strtoul(argv[3], NULL, 0), strtoul(argv[4], NULL, 0), strtoul(argv[5], NULL, 0));
	rounds = strncmp(argv[1], "map", 3) || !argv[1][3] ? strtoul(argv[3], NULL, 0) : 0;
	plugin_open(&p[0], argv[2], 'a', strtoul(argv[4], NULL, 0));
	plugin_open(&p[1], argv[2], 'b', strtoul(argv[5], NULL, 0));
	for (unsigned long i = 0; i < rounds; i++)
		round_of(argv[1], argv[2], p, at);
	if (!rounds)
		jit_maps(p, argv[1], (char *[]){ argv[0], argv[1], argv[2], argv[3], argv[4], argv[5], NULL, NULL },
			 argc > 6);
	if (!strcmp(argv[1], "remove")) {
		char path[4096];

		snprintf(path, sizeof(path), "%s/over.so", argv[2]);
		unlink(path);
	}
	if (!strcmp(argv[1], "all")) {
		argv[1] = (char[]){ "load" };
		execv(argv[0], argv);
		die("exec");
	}
	printf("%u address\n", addresses);
	return 0;
}
