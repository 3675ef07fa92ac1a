/*
 * hvsock: what a hypercall costs through a socket.
 *
 *	hvsock batch [power]   "million calls/s" of one client that sends batches
 *	hvsock trip [power]    "us per call, us per bare round trip" of 72 and 64 bytes, each between two processes on
 *			       one CPU: a wake-up of another CPU takes ten times as long, and the scheduler would choose
 *			       which of the two has it
 *	hvsock trap        "million traps/s, million traps/s with a hook that does nothing" under Unicorn: getting a
 *	                   register, in process; nothing is printed where there is no libunicorn
 *
 * The call gets a register of a Batoka's; with power it is 0xF080, one record of 32 bytes into the guest's memory, of
 * the power machine.  The Batoka has no load.  The best of many short rounds, in turn, counts, in real time; of traps
 * in CPU time.
 */
#include <dlfcn.h>
#include <fcntl.h>
#include <poll.h>
#include <sched.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "bench.h"
#include "attach/local_hv.h"
#include "attach/unicorn.h"

enum { ROUNDS = 50, BATCH_CALLS = 40000, TRIPS = 2000, TRAPS = 200000, ASK_BYTES = 72, ANSWER_BYTES = 64 };
static char path[] = "/tmp/tally-hvsock-XXXXXX";
static char at[sizeof(path) + 2];

static uint64_t no_time(void *arg)
{
	(void)arg;
	return 0;
}

static bool is_power;

static struct local_hv power(void)
{
	struct local_hv hv = { .now = no_time };
	struct papr_opts o = { .level = 6, .ops = &power_ops };
	struct err e = { 0 };

	if (power_open(&hv.power, &(struct power_opts){ .level = 6 }, &e) < 0)
		fail(e.text);
	o.arg = hv.power;
	if (papr_open(&hv.papr, &o) < 0)
		fail("no service");
	return hv;
}

static struct local_hv machine(void)
{
	struct sun4v_opts o = { .kind = sun4v_kind("batoka", 0), .ops = &niagara_ops, .guests = LOCAL_CLIENTS };
	struct local_hv hv = { .kind = o.kind, .now = no_time };
	struct err e = { 0 };

	if (niagara_open(&hv.niagara, o.kind, &(struct niagara_opts){ 0 }, &e) < 0)
		fail(e.text);
	o.arg = hv.niagara;
	if (sun4v_open(&hv.sun4v, &o) < 0)
		fail("no service");
	return hv;
}

/* ---- a server in a process of its own ----------------------------------------------------------- */

static void serve(int ready)
{
	struct local_hv hv = is_power ? power() : machine();
	struct err e = { 0 };
	struct server *d;
	struct pollfd p;

	prctl(PR_SET_PDEATHSIG, SIGKILL);
	if (server_open_local(&d, local_hv_service(is_power ? "power" : "batoka"), &hv, at, &e) < 0)
		fail(e.text);
	p = (struct pollfd){ .fd = d->op->fd(d), .events = POLLIN };
	if (write(ready, "", 1) != 1)
		fail("nobody waits");
	for (;;)
		if (poll(&p, 1, -1) > 0 && d->op->serve(d, &e) < 0)
			fail(e.text);
}

static pid_t server(void)
{
	int ready[2];
	char c;
	pid_t pid;

	if (!mkdtemp(path) || pipe(ready) < 0)
		fail("no directory");
	snprintf(at, sizeof(at), "%s/s", path);
	pid = fork();
	if (pid == 0)
		serve(ready[1]);
	if (pid < 0 || read(ready[0], &c, 1) != 1)
		fail("no server");
	return pid;
}

static void end(pid_t pid)
{
	kill(pid, SIGKILL);
	waitpid(pid, NULL, 0);
	unlink(at);
	rmdir(path);
}

static void ask_version(struct local_client *c)
{
	const struct local_hv_call q = { 0, HV_CORE_TRAP, { SUN4V_GROUP_VFALLS, 1, 1, 0, 0, SUN4V_API_SET_VERSION } };
	const struct local_hv_ask ask = { { 0 }, 0, 0 };
	struct local_answer a;
	struct err e = { 0 };

	if (local_ask_and_wait(c, LOCAL_HV_GUEST, &ask, sizeof(ask), &a, NULL, &e) < 0 ||
	    local_ask_and_wait(c, LOCAL_HV_CALL, &q, sizeof(q), &a, NULL, &e) < 0)
		fail(e.text);
}

static struct local_hv_call get = { 0, HV_FAST_TRAP, { 1, 0, 0, 0, 0, SUN4V_GET_PERFREG } };

/* A guest with a page, in which stands request 0xC0: its record, and the same question again. */
static void power_guest(struct local_client *c)
{
	const struct local_hv_memory m = { LOCAL_HV_PAGE, LOCAL_HV_PAGE };
	const struct local_hv_ask ask = { { 0 }, 1, 0 };
	int fd = memfd_create("guest", MFD_ALLOW_SEALING);
	struct local_answer a;
	struct err e = { 0 };
	uint8_t *page;

	if (fd < 0 || ftruncate(fd, LOCAL_HV_PAGE) < 0 || fcntl(fd, F_ADD_SEALS, F_SEAL_SHRINK) < 0)
		fail("no memory");
	page = mmap(NULL, LOCAL_HV_PAGE, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	gpci_ask(page, LOCAL_HV_PAGE, 0xc0, 0, 0, 8);
	if (local_ask_and_wait(c, LOCAL_HV_GUEST, &ask, sizeof(ask), &a, NULL, &e) < 0)
		fail(e.text);
	local_enclose(c, fd);
	if (local_ask_and_wait(c, LOCAL_HV_MEMORY, &m, sizeof(m), &a, NULL, &e) < 0)
		fail(e.text);
	get = (struct local_hv_call){ 0, 1, { PAPR_GPCI, LOCAL_HV_PAGE, GPCI_HEADER + 32 } };
	if (local_ask_and_wait(c, LOCAL_HV_CALL, &get, sizeof(get), &a, NULL, &e) < 0 || page[11] != 1)
		fail("no record");
}

static double batch(struct local_client *c)
{
	double from = seconds(CLOCK_MONOTONIC);
	uint32_t asked = 0, answered = 0;
	struct err e = { 0 };

	while (answered < BATCH_CALLS) {
		struct local_answer a;
		uint64_t id;
		int rc = 1;

		while (asked < BATCH_CALLS && asked - answered < 2000 &&
		       (rc = local_ask(c, LOCAL_HV_CALL, &get, sizeof(get), &id, &e)) > 0)
			asked++;
		for (rc = rc < 0 ? rc : 1; rc > 0 && answered<asked; answered += rc> 0)
			if ((rc = local_next(c, &a, -1, &e)) > 0 && a.head.status)
				fail("a call was refused");
		if (rc < 0)
			fail(e.text);
	}
	return BATCH_CALLS / (seconds(CLOCK_MONOTONIC) - from) / 1e6;
}

static double trip(struct local_client *c)
{
	double from = seconds(CLOCK_MONOTONIC);
	struct local_answer a;
	struct err e = { 0 };

	for (int i = 0; i < TRIPS; i++)
		if (local_ask_and_wait(c, LOCAL_HV_CALL, &get, sizeof(get), &a, NULL, &e) < 0)
			fail(e.text);
	return (seconds(CLOCK_MONOTONIC) - from) / TRIPS * 1e6;
}

/* ---- a bare round trip ------------------------------------------------------------------------------ */

static void echo(int fd)
{
	char b[ASK_BYTES];

	prctl(PR_SET_PDEATHSIG, SIGKILL);
	while (recv(fd, b, sizeof(b), 0) == sizeof(b))
		if (send(fd, b, ANSWER_BYTES, 0) != ANSWER_BYTES)
			break;
	_exit(0);
}

static double bare(int fd)
{
	double from = seconds(CLOCK_MONOTONIC);
	char b[ASK_BYTES] = { 0 };

	for (int i = 0; i < TRIPS; i++)
		if (send(fd, b, sizeof(b), 0) != sizeof(b) || recv(fd, b, ANSWER_BYTES, 0) != ANSWER_BYTES)
			fail("no echo");
	return (seconds(CLOCK_MONOTONIC) - from) / TRIPS * 1e6;
}

/* ---- Unicorn ------------------------------------------------------------------------------------------ */

struct guest {
	struct sun4v_vcpu *v;
	uint32_t left;
};

static bool trap(void *arg, unsigned number, uint64_t r[6])
{
	struct guest *g = arg;

	(void)sun4v_call(g->v, number, r);
	return --g->left;
}

static _Alignas(4096) uint8_t ram[1 << 16];

static void put_code(void)
{
	/* mov 1, %o0; ta 0x80; ba -2; nop */
	static const uint32_t code[] = { 0x90102001, 0x91d02080, 0x10bffffe, 0x01000000 };

	for (size_t i = 0; i < COUNT(code); i++) {
		uint32_t w = __builtin_bswap32(code[i]);

		memcpy(ram + 4 * i, &w, 4);
	}
}

static double traps(struct guest *g)
{
	const struct emu_opts o = { EMU_SPARC64, { ram, 0x80000000, sizeof(ram) }, { .entry = 0x80000000 }, trap, g };
	struct err e = { 0 };
	struct emu *u;
	double from;

	if (emu_open(&u, &o, &e) < 0)
		exit(0);
	g->left = TRAPS;
	from = seconds(CLOCK_PROCESS_CPUTIME_ID);
	if (emu_run(u, NULL, &e) < 0)
		fail(e.text);
	from = seconds(CLOCK_PROCESS_CPUTIME_ID) - from;
	emu_close(u);
	return TRAPS / from / 1e6;
}

/* The same code under the same engine, and nothing of ours: the hook moves the PC on. */
static struct empty {
	int (*read)(void *, int, void *), (*write)(void *, int, const void *), (*stop)(void *);
	uint32_t left;
} empty;

static void empty_hook(void *uc, uint32_t number, void *arg)
{
	uint64_t pc;

	(void)number;
	(void)arg;
	if (!--empty.left) {
		empty.stop(uc);
		return;
	}
	empty.read(uc, 88, &pc);
	pc += 4;
	empty.write(uc, 88, &pc);
}

static double empty_traps(void)
{
	void *lib = dlopen("libunicorn.so.2", RTLD_NOW), *uc;
	int (*open)(int, int, void **) = (int (*)(int, int, void **))(uintptr_t)dlsym(lib, "uc_open");
	int (*map)(void *, uint64_t, size_t, uint32_t, void *) =
		(int (*)(void *, uint64_t, size_t, uint32_t, void *))(uintptr_t)dlsym(lib, "uc_mem_map_ptr");
	int (*hook)(void *, size_t *, int, void *, void *, uint64_t, uint64_t, ...) =
		(int (*)(void *, size_t *, int, void *, void *, uint64_t, uint64_t, ...))(
			uintptr_t)dlsym(lib, "uc_hook_add");
	int (*start)(void *, uint64_t, uint64_t, uint64_t, size_t) =
		(int (*)(void *, uint64_t, uint64_t, uint64_t, size_t))(uintptr_t)dlsym(lib, "uc_emu_start");
	int (*close)(void *) = (int (*)(void *))(uintptr_t)dlsym(lib, "uc_close");
	size_t h;
	double from;

	empty.read = (int (*)(void *, int, void *))(uintptr_t)dlsym(lib, "uc_reg_read");
	empty.write = (int (*)(void *, int, const void *))(uintptr_t)dlsym(lib, "uc_reg_write");
	empty.stop = (int (*)(void *))(uintptr_t)dlsym(lib, "uc_emu_stop");
	if (open(6, 1 << 3 | 1 << 30, &uc) || map(uc, 0x80000000, sizeof(ram), 7, ram) ||
	    hook(uc, &h, 1, (void *)(uintptr_t)empty_hook, NULL, 1, 0))
		fail("no engine");
	empty.left = TRAPS;
	from = seconds(CLOCK_PROCESS_CPUTIME_ID);
	if (start(uc, 0x80000000, 0x80000000 + sizeof(ram), 0, 0))
		fail("the engine failed");
	from = seconds(CLOCK_PROCESS_CPUTIME_ID) - from;
	close(uc);
	return TRAPS / from / 1e6;
}

static void measure_traps(void)
{
	struct local_hv hv = machine();
	const struct sun4v_guest_opts o = { .rights = { true, true, true, true } };
	struct sun4v_guest *guest;
	struct guest g = { 0 };
	uint64_t version[6] = { SUN4V_GROUP_VFALLS, 1, 1, 0, 0, SUN4V_API_SET_VERSION };
	double best = 0, best_empty = 0;

	if (sun4v_guest_open(&guest, hv.sun4v, &o) < 0 || sun4v_vcpu_open(&g.v, guest, 0) < 0)
		fail("no guest");
	(void)sun4v_call(g.v, HV_CORE_TRAP, version);
	put_code();
	/* %o5 is the function for good. */
	memmove(ram + 4, ram, 64);
	memcpy(ram, "\x9a\x10\x21\x06", 4); /* mov 0x106, %o5 */
	for (int i = 0; i < ROUNDS; i++) {
		double now = traps(&g), then = empty_traps();

		best = most_of(best, now);
		best_empty = most_of(best_empty, then);
	}
	printf("%.2f %.2f\n", best, best_empty);
}

static void stay_on_this_cpu(void)
{
	cpu_set_t one;

	CPU_ZERO(&one);
	CPU_SET(sched_getcpu(), &one);
	if (sched_setaffinity(0, sizeof(one), &one) < 0)
		fail("no CPU of its own");
}

int main(int argc, char **argv)
{
	const char *what = argc > 1 ? argv[1] : "batch";
	double best = 0, best_trip = 1e9, best_bare = 1e9;
	struct local_client *c;
	struct err e = { 0 };
	int pair[2];
	pid_t pid;

	if (!strcmp(what, "trap")) {
		measure_traps();
		return 0;
	}
	if (!strcmp(what, "trip"))
		stay_on_this_cpu();
	is_power = argc > 2 && !strcmp(argv[2], "power");
	pid = server();
	if (local_connect(&c, at, 0, NULL, &e) < 0)
		fail(e.text);
	if (is_power)
		power_guest(c);
	else
		ask_version(c);
	if (socketpair(AF_UNIX, SOCK_STREAM, 0, pair) < 0)
		fail("no pair of sockets");
	if (fork() == 0)
		echo(pair[1]);
	for (int i = 0; i < ROUNDS; i++) {
		double v = !strcmp(what, "batch") ? batch(c) : trip(c), b = strcmp(what, "batch") ? bare(pair[0]) : 0;

		best = most_of(best, v);
		best_trip = least_of(best_trip, v);
		best_bare = least_of(best_bare, b);
	}
	if (!strcmp(what, "batch"))
		printf("%.2f\n", best);
	else
		printf("%.2f %.2f\n", best_trip, best_bare);
	local_disconnect(c);
	end(pid);
	return 0;
}
