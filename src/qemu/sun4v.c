/*
 * sun4v.c: the emulator of qemu-system-sparc64: FAST_TRAP and CORE_TRAP of a guest with a hypervisor.
 *
 * A guest calls its hypervisor by `ta 0x80` and `ta 0xff`, which trap into hyperprivileged code: QEMU's niagara machine
 * is the bare machine, and what runs there is the user's firmware.  The plugin sees the instruction before it traps. 
 * When the call is one of ours the service answers, %o0 to %o2 are written and the guest goes on where `done` would
 * have let it go on. Every other call traps, so the firmware has its own functions and groups, and need not know of
 * ours.
 *
 * `ta` has two encodings, for the integer condition codes of 32 and of 64 bits, which it does not look at.
 *
 * Where it goes on: QEMU has PC and nPC in the CPU at the start of a block only.  A call that begins its block goes on
 * at nPC, so one in a delay slot that begins a block does right.  Within a block it is the next instruction.  A call
 * behind a branch in the same block, in its delay slot, is not waited for: where the branch goes is known to nobody
 * yet, and no client calls from there.  That one traps.
 *
 * A `ta 0x80` of user code is no hypercall: the PRIV bit of PSTATE decides.
 *
 * Real addresses: memory of a partition begins at 2 GB in the niagara machine, where it is real and physical address
 * alike; what lies below is the hypervisor's.  Devices begin at 0x1f10000000.
 */
#include "qemu/qemu_int.h"

#define TA 0x91d02000u /* ta %icc, 0 */
#define TA_XCC 0x00001000u
#define STATE_PRIV 0x400u /* of the register that gdb calls state: PSTATE is in bits 19:8 */
#define MEMORY_BEGIN UINT64_C(0x80000000)
#define MEMORY_END UINT64_C(0x1f10000000)
#define MEMORY_BLOCK (UINT64_C(1) << 20)

enum { O0, O1, O2, O3, O4, O5, PC, NPC, STATE };
static const char *const names[] = { "o0", "o1", "o2", "o3", "o4", "o5", "pc", "npc", "state" };
static_assert(COUNT(names) <= REACH_REGS, "reach.c");
struct sun4v_plugin {
	struct reach x; /* first: the plugin hands it to reach_vcpu() and reach_flush() */
	struct sun4v_service *service;
};

static bool sun4v_get_register(struct sun4v_plugin *q, unsigned i, uint64_t *ret)
{
	return reach_get(&q->x, i, false, ret);
}

/* ---- the call ------------------------------------------------------------------------------------ */

static bool where_next(struct sun4v_plugin *q, uint64_t here, uint64_t *next)
{
	uint64_t pc, npc;

	if (!sun4v_get_register(q, PC, &pc) || !sun4v_get_register(q, NPC, &npc))
		return false;
	*next = pc == here ? npc : here + 4;
	return *next % 4 == 0;
}

/* Whether the call was ours and is answered. */
static bool sun4v_answer(struct sun4v_plugin *q, unsigned vcpu, unsigned trap)
{
	uint64_t o[6], in[6], state;

	if (!sun4v_get_register(q, STATE, &state) || !(state & STATE_PRIV))
		return false;
	for (unsigned i = O0; i <= O5; i++)
		if (!sun4v_get_register(q, i, &o[i]))
			return false;
	memcpy(in, o, sizeof(in));
	if (!sun4v_service_has(trap, o) || !sun4v_service_call(q->service, vcpu, trap, o))
		return false;
	for (unsigned i = O0; i <= O2; i++)
		if (o[i] != in[i] && !reach_set(&q->x, i, false, o[i]))
			return false;
	return true;
}

static void at_ta(unsigned vcpu, void *arg)
{
	const struct site *s = arg;
	struct sun4v_plugin *q = s->emulator;
	uint64_t next;
	bool ours;

	pthread_mutex_lock(&q->x.lock);
	ours = where_next(q, s->pc, &next) && sun4v_answer(q, vcpu, s->kind);
	pthread_mutex_unlock(&q->x.lock);
	if (ours)
		qemu_plugin_set_pc(next); /* does not return */
}

/* ---- translation ----------------------------------------------------------------------------------- */

/* The trap that an instruction always takes, when it is one to the hypervisor; else 0. */
static unsigned trap_of(uint32_t word)
{
	const unsigned trap = (word & ~TA_XCC) - TA;

	return trap == HV_FAST_TRAP || trap == HV_CORE_TRAP ? trap : 0;
}

/* Branches, calls, jmpl, return: what has a delay slot (SPARC V9, appendix A). */
static bool sun4v_insn_branches(uint32_t word)
{
	const uint32_t op = word >> 30, op2 = word >> 22 & 7, op3 = word >> 19 & 0x3f;

	return op == 1 || (op == 0 && op2 != 0 && op2 != 4 && op2 != 7) || (op == 2 && (op3 == 0x38 || op3 == 0x39));
}

static void sun4v_translated(struct qemu_plugin_tb *tb, void *arg)
{
	struct sun4v_plugin *q = arg;
	uint32_t word, before = 0;

	for (size_t i = 0, n = qemu_plugin_tb_n_insns(tb); i < n; i++, before = word) {
		struct qemu_plugin_insn *insn = qemu_plugin_tb_get_insn(tb, i);
		unsigned trap = trap_of(word = insn_word(insn));
		struct site *s;

		if (!trap || (i && sun4v_insn_branches(before)))
			continue;
		s = reach_site(&q->x, q, qemu_plugin_insn_vaddr(insn), trap);
		if (s)
			qemu_plugin_register_vcpu_insn_exec_cb(insn, at_ta, QEMU_RW_REGS_PC, s);
	}
}

static void sun4v_ended(void *arg)
{
	struct sun4v_plugin *q = arg;

	sun4v_service_close(q->service);
	reach_close(&q->x);
	mem_free(q);
}

static int open_sun4v(void **ret, int argc, char *const *argv, struct err *e)
{
	struct qemu_options o;
	struct sun4v_plugin *q;
	int rc = sun4v_options(&o, argc, argv, e);

	if (rc < 0)
		return rc;
	q = mem_alloc(sizeof(*q));
	if (!q)
		return err_oom(e);
	rc = sun4v_service_open(&q->service, &o,
				&(struct hv_mem){
					.arg = &q->x, .is = reach_is, .read = reach_read, .write = reach_write },
				e);
	if (rc < 0) {
		mem_free(q);
		return rc;
	}
	reach_open(&q->x, names, COUNT(names), MEMORY_BEGIN, MEMORY_END, MEMORY_BLOCK);
	*ret = q;
	return 0;
}

const struct emulator emulator_sun4v = { .target = "sparc64",
					 .system = true,
					 .api = QEMU_API,
					 .open = open_sun4v,
					 .vcpu_init = reach_vcpu,
					 .translated = sun4v_translated,
					 .flushed = reach_flush,
					 .ended = sun4v_ended };
