/*
 * unicorn.c: a guest's machine code under Unicorn.
 *
 * Unicorn stops at a trap instruction and asks a hook; ours answers it and the
 * code goes on.  Registers go over in one batch each way, and only those that a call may use: Unicorn itself takes
 * 50 ns for a trap, and each register a few more.
 *
 * SPARC: every `ta` arrives with its number cut to 7 bits, so the instruction is read to tell.  Unicorn 2.0 has the
 * PC at it when the hook is called, and the hook moves it on; a later one has it behind.  One `ta` that is tried at the
 * start tells which.  The next PC is not to be had: in the delay slot of a branch, where no caller puts it, a `ta`
 * loses the branch.  Register windows don't work (-mflat).
 *
 * POWER: Unicorn's 64-bit CPU starts without the hypervisor state that it needs to fetch at all, and its API drops that
 * bit.  A saved context keeps it: the MSR is found there behind the marked r31, and put back with the bit.  Two
 * instructions then prove that it worked.  The PC is behind the `sc` when the hook is called, and that it was `sc 1` is
 * in the instruction.
 *
 * Thread rule: all in one thread, but for a watcher that sees *stop.
 */
#include <pthread.h>
#include <stdatomic.h>
#include <string.h>
#include <unistd.h>

#include "attach/unicorn.h"
#include "attach/unicorn_int.h"
#include "base/file.h"

#define SONAME "libunicorn.so.2"
#define TA_FAST 0x91d02080u
#define TA_CORE 0x91d020ffu
#define TA_NUMBER 0x100u /* interrupt number of `ta 0`, and the least of any `ta` */
#define INS_BYTES 4u
#define SC_1 0x44000022u
#define PPC_SYSCALL 8u             /* interrupt number of `sc` */
#define MSR_SF (UINT64_C(1) << 63) /* 64-bit */
#define MSR_HV (UINT64_C(1) << 60)
#define STACK_BIAS 2047u /* SPARC V9: %sp is so much below the frame */
#define FRAME 256u       /* what a caller leaves for its callee, and more */
#define WATCH_US 20000

/* X(result, name, parameters): what is called of Unicorn. */
/* clang-format off */
#define UNICORN_FUNCTIONS(X)                                                                                           \
	X(int, open, (int arch, int mode, void **uc))                                                                  \
	X(int, close, (void *uc))                                                                                      \
	X(const char *, strerror, (int code))                                                                          \
	X(int, reg_read, (void *uc, int reg, void *to))                                                                \
	X(int, reg_write, (void *uc, int reg, const void *from))                                                       \
	X(int, reg_read_batch, (void *uc, int *reg, void **to, int n))                                                 \
	X(int, reg_write_batch, (void *uc, int *reg, void *const *from, int n))                                        \
	X(int, mem_map_ptr, (void *uc, uint64_t at, size_t n, uint32_t prot, void *p))                                 \
	X(int, hook_add, (void *uc, size_t *hook, int type, void *fn, void *arg, uint64_t begin, uint64_t end, ...))   \
	X(int, emu_start, (void *uc, uint64_t begin, uint64_t until, uint64_t timeout, size_t count))                  \
	X(int, emu_stop, (void *uc))                                                                                   \
	X(int, context_alloc, (void *uc, void **context))                                                              \
	X(int, context_save, (void *uc, void *context))                                                                \
	X(int, context_restore, (void *uc, void *context))                                                             \
	X(size_t, context_size, (void *uc))                                                                            \
	X(int, context_free, (void *context))
/* clang-format on */

LIBRARY_NOTE("unicorn", "tally machine --run: machine code of a guest", "suggested", SONAME);

struct unicorn {
#define X(result, name, parameters) result(*name) parameters;
	UNICORN_FUNCTIONS(X)
#undef X
};
struct emu {
	/* set by emu_open(), then read-only */
	struct unicorn f;
	void *uc;
	struct emu_opts o;
	void *at[7];     /* where a trap's registers are: PC, %o0, %o1, %o2, %o5; PC, r3 to r8 */
	uint64_t behind; /* SPARC: how far the PC is behind its `ta` */
	/* of a trap */
	uint64_t pc, r[6];
	/* of a run */
	bool over;
	uint32_t exception; /* that ended it, + 1; 0: none did */
	const volatile int *stop;
	atomic_bool done;
};

static bool emu_load_unicorn(struct unicorn *f)
{
	static const char *const name[] = {
#define X(result, name, parameters) "uc_" #name,
		UNICORN_FUNCTIONS(X)
#undef X
	};

	static_assert(sizeof(*f) == COUNT(name) * sizeof(void *), "function pointers only");
	return library_load(SONAME, name, (void **)(void *)f, COUNT(name));
}

static int emu_refuse(const struct emu *u, int code, const char *what, struct err *e)
{
	return code ? err_set(e, TALLY_ENOTSUP, "%s: %s: %s", SONAME, what, u->f.strerror(code)) : 0;
}

/* ---- traps ------------------------------------------------------------------------------------------- */

/* The instruction there; 0, which is none, where there is no memory. */
static inline uint32_t emu_instruction_at(const struct emu *u, uint64_t pc)
{
	const uint64_t off = pc - u->o.memory.base;
	uint32_t w;

	if (pc < u->o.memory.base || u->o.memory.bytes < 4 || off > u->o.memory.bytes - 4)
		return 0;
	memcpy(&w, u->o.memory.p + off, sizeof(w));
	return __builtin_bswap32(w);
}

static void emu_end(struct emu *u, uint32_t exception)
{
	u->over = true;
	u->exception = exception;
	u->f.emu_stop(u->uc);
}

static void sparc_trap(void *uc, uint32_t number, void *arg)
{
	static const int regs[] = { UCN_SPARC_PC, UCN_O0, UCN_O1, UCN_O2, UCN_O5 };
	struct emu *u = arg;
	uint64_t *r = u->r, o1, o2;
	uint32_t ins = 0;

	u->f.reg_read_batch(uc, (int *)(uintptr_t)regs, u->at, COUNT(regs));
	if (number >= TA_NUMBER) {
		u->pc -= u->behind;
		ins = emu_instruction_at(u, u->pc);
	}
	if (ins != TA_FAST && ins != TA_CORE) {
		emu_end(u, number + 1);
		return;
	}
	o1 = r[1];
	o2 = r[2];
	r[3] = r[4] = 0;
	if (!u->o.trap(u->o.arg, ins == TA_FAST ? EMU_TA_FAST : EMU_TA_CORE, r)) {
		emu_end(u, 0);
		return;
	}
	u->pc += INS_BYTES;
	u->f.reg_write_batch(uc, (int *)(uintptr_t)regs, u->at, r[2] != o2 ? 4 : r[1] != o1 ? 3 : 2);
}

static void power_trap(void *uc, uint32_t number, void *arg)
{
	static const int in[] = { UCN_PPC_PC, UCN_R0 + 3, UCN_R0 + 4, UCN_R0 + 5, UCN_R0 + 6, UCN_R0 + 7, UCN_R0 + 8 };
	struct emu *u = arg;

	u->f.reg_read_batch(uc, (int *)(uintptr_t)in, u->at, COUNT(in));
	if (number != PPC_SYSCALL || emu_instruction_at(u, u->pc - 4) != SC_1)
		emu_end(u, number + 1);
	else if (!u->o.trap(u->o.arg, 1, u->r))
		emu_end(u, 0);
	else
		u->f.reg_write(uc, UCN_R0 + 3, &u->r[0]);
}

/* ---- starting ----------------------------------------------------------------------------------------- */

static int write_reg(struct emu *u, int reg, uint64_t value, struct err *e)
{
	return emu_refuse(u, u->f.reg_write(u->uc, reg, &value), "cannot set a register", e);
}

static int no_power(struct err *e)
{
	return err_set(e, TALLY_ENOTSUP, "%s cannot run 64-bit POWER code; version 2.0.1 can", SONAME);
}

/* Where a word is in a context, from `from` on; n: nowhere. */
static size_t emu_find_word(const uint8_t *p, size_t n, size_t from, uint64_t word)
{
	for (; from + sizeof(word) <= n; from += sizeof(word))
		if (!memcmp(p + from, &word, sizeof(word)))
			return from;
	return n;
}

static int emu_set_hv_mode(struct emu *u, uint8_t *context, struct err *e)
{
	const uint64_t mark = UINT64_C(0x7a11f00d5eed1e55), msr = MSR_SF | MSR_HV;
	const size_t n = u->f.context_size(u->uc);
	size_t at;
	int rc = write_reg(u, UCN_R31, mark, e);

	if (rc == 0)
		rc = write_reg(u, UCN_MSR, MSR_SF, e);
	if (rc < 0 || u->f.context_save(u->uc, context))
		return no_power(e);
	at = emu_find_word(context, n, emu_find_word(context, n, 0, mark), MSR_SF);
	if (at == n)
		return no_power(e);
	memcpy(context + at, &msr, sizeof(msr));
	return u->f.context_restore(u->uc, context) ? no_power(e) : write_reg(u, UCN_MSR, msr, e);
}

/* Runs a few instructions at an offset of the memory, which is then as it was: Unicorn's status. */
static int emu_try(struct emu *u, size_t at, const uint8_t *code, size_t n)
{
	uint8_t kept[2 * INS_BYTES], *p = u->o.memory.p + at;
	const uint64_t begin = u->o.memory.base + at;
	int rc;

	memcpy(kept, p, n);
	memcpy(p, code, n);
	rc = u->f.emu_start(u->uc, begin, begin + n, 0, n / INS_BYTES);
	memcpy(p, kept, n);
	u->over = false;
	u->exception = 0;
	return rc;
}

/* li r31,1; sldi r31,r31,40 */
static int emu_prove(struct emu *u, struct err *e)
{
	static const uint8_t code[] = { 0x3b, 0xe0, 0x00, 0x01, 0x7b, 0xff, 0x45, 0xc6 };
	uint64_t r31 = 0;
	int rc = emu_try(u, 0, code, sizeof(code));

	u->f.reg_read(u->uc, UCN_R31, &r31);
	return rc || r31 != UINT64_C(1) << 40 ? no_power(e) : 0;
}

static int start_power(struct emu *u, struct err *e)
{
	const struct emu_memory *m = &u->o.memory;
	void *context = NULL;
	int rc = emu_refuse(u, u->f.context_alloc(u->uc, &context), "no context", e);

	if (rc == 0)
		rc = emu_set_hv_mode(u, context, e);
	if (context)
		u->f.context_free(context);
	if (rc == 0)
		rc = emu_prove(u, e);
	if (rc == 0)
		rc = write_reg(u, UCN_R31, 0, e);
	if (rc == 0)
		rc = write_reg(u, UCN_R0 + 1, m->base + m->bytes - FRAME, e);
	if (rc == 0)
		rc = write_reg(u, UCN_R0 + 2, u->o.image.toc, e);
	if (rc == 0)
		rc = write_reg(u, UCN_R0 + 3, m->base, e);
	if (rc == 0)
		rc = write_reg(u, UCN_R0 + 4, m->bytes, e);
	return rc == 0 ? write_reg(u, UCN_R0 + 12, u->o.image.entry, e) : rc;
}

/* `ta 5`, where the guest's stack begins and no code is. */
static int emu_find_behind(struct emu *u, struct err *e)
{
	static const uint8_t code[] = { 0x91, 0xd0, 0x20, 0x05 };
	const size_t at = u->o.memory.bytes - sizeof(code);

	emu_try(u, at, code, sizeof(code));
	u->behind = u->pc - (u->o.memory.base + at);
	return u->behind == 0 || u->behind == INS_BYTES ?
		       0 :
		       err_set(e, TALLY_ENOTSUP, "%s cannot run SPARC64 code: a trap has a strange PC", SONAME);
}

static int start_sparc(struct emu *u, struct err *e)
{
	const struct emu_memory *m = &u->o.memory;
	int rc = emu_find_behind(u, e);

	if (rc == 0)
		rc = write_reg(u, UCN_O6, m->base + m->bytes - FRAME - STACK_BIAS, e);

	if (rc == 0)
		rc = write_reg(u, UCN_O0, m->base, e);
	return rc == 0 ? write_reg(u, UCN_O1, m->bytes, e) : rc;
}

static int emu_start_engine(struct emu *u, struct err *e)
{
	const bool power = u->o.cpu == EMU_POWER64;
	const struct emu_memory *m = &u->o.memory;
	size_t hook;
	int rc = emu_refuse(u, u->f.open(power ? UCN_PPC : UCN_SPARC, (int)(UCN_64 | UCN_BIG_ENDIAN), &u->uc),
			    "cannot start it", e);

	if (rc == 0)
		rc = emu_refuse(u, u->f.mem_map_ptr(u->uc, m->base, m->bytes, UCN_PROT_ALL, m->p), "cannot map memory",
				e);
	if (rc == 0)
		rc = emu_refuse(u,
				u->f.hook_add(u->uc, &hook, UCN_HOOK_INTR,
					      (void *)(uintptr_t)(power ? power_trap : sparc_trap), u, 1, 0),
				"cannot hook traps", e);
	if (rc == 0)
		rc = power ? start_power(u, e) : start_sparc(u, e);
	return rc;
}

int emu_open(struct emu **ret, const struct emu_opts *o, struct err *e)
{
	struct emu *u = mem_alloc(sizeof(*u));
	int rc;

	if (!u)
		return err_oom(e);
	u->o = *o;
	/* The pointers that Unicorn wants at each trap. */
	u->at[0] = &u->pc;
	for (size_t i = 1; i < COUNT(u->at); i++)
		u->at[i] = &u->r[i - 1];
	if (u->o.cpu == EMU_SPARC64)
		u->at[4] = &u->r[5];
	rc = emu_load_unicorn(&u->f) ? emu_start_engine(u, e) :
				       err_set(e, TALLY_ENOTSUP,
					       SONAME " not found, which runs machine code: " LIBRARY_WHY(
						       "install the Unicorn engine (Debian: libunicorn2)"));
	if (rc < 0)
		emu_close(u);
	else
		*ret = u;
	return rc;
}

void emu_close(struct emu *u)
{
	if (!u)
		return;
	if (u->uc)
		u->f.close(u->uc);
	mem_free(u);
}

/* ---- running ------------------------------------------------------------------------------------------- */

static void *emu_watch_thread(void *arg)
{
	struct emu *u = arg;

	while (!u->done) {
		if (*u->stop)
			u->f.emu_stop(u->uc);
		usleep(WATCH_US);
	}
	return NULL;
}

static int emu_check_code(struct emu *u, int code, struct err *e)
{
	const char *what = u->o.image.flat ? "; the image is not an ELF file and was run as a flat image" : "";
	uint64_t pc = 0;

	if (u->exception)
		return err_set(e, TALLY_EIO,
			       "the guest took exception 0x%x at 0x%llx; only its hypercalls are answered%s",
			       u->exception - 1, (unsigned long long)u->pc, what);
	u->f.reg_read(u->uc, u->o.cpu == EMU_POWER64 ? UCN_PPC_PC : UCN_SPARC_PC, &pc);
	if (u->over)
		return 0;
	if (u->stop && *u->stop)
		return err_set(e, TALLY_EEND, "stopped");
	return err_set(e, TALLY_EIO, "the guest cannot continue at 0x%llx: %s%s", (unsigned long long)pc,
		       code ? u->f.strerror(code) : "Unicorn ended without a reason", what);
}

int emu_run(struct emu *u, const volatile int *stop, struct err *e)
{
	const uint64_t nowhere = u->o.memory.base + u->o.memory.bytes; /* no code is there */
	pthread_t watcher;
	bool watched;
	int code;

	u->over = false;
	u->exception = 0;
	u->done = false;
	u->stop = stop;
	watched = stop && pthread_create(&watcher, NULL, emu_watch_thread, u) == 0;
	code = u->f.emu_start(u->uc, u->o.image.entry, nowhere, 0, 0);
	u->done = true;
	if (watched)
		pthread_join(watcher, NULL);
	return emu_check_code(u, code, e);
}
