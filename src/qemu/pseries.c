/*
 * pseries.c: the emulator of qemu-system-ppc64: H_GetPerformanceCounterInfo of a pseries guest.
 *
 * QEMU's own hypervisor answers the token 0xF080 with H_Function, and has no place for another answer.  But a plugin
 * sees each instruction before it is executed: at `sc 1` with that token the service answers, r3 is written and the
 * guest goes on behind the instruction, which is never executed.  Every other hypercall is QEMU's, as ever.
 *
 * The bytes of `sc 1` say the guest's byte order at that moment, which is that of its registers.
 *
 * Guest memory comes in blocks of 256 MB and lies below 32 TiB, where the windows of the PCI bridges begin: device
 * registers are nobody's block.
 */
#include <time.h>

#include "qemu/qemu_int.h"

#define SC_1 0x44000022u
#define SC_1_SWAPPED 0x22000044u
#define REAL_BITS \
	UINT64_C(0x0fffffffffffffff) /* of an effective address in real mode: the upper four are not looked at */
#define MEMORY_END (UINT64_C(1) << 45)
#define MEMORY_BLOCK (UINT64_C(1) << 28)

enum { R3, R4, R5 };
static const char *const names[] = { "r3", "r4", "r5" };
static_assert(COUNT(names) <= REACH_REGS, "reach.c");
struct pseries {
	struct reach x; /* first: the plugin hands it to reach_vcpu() and reach_flush() */
	struct service *service;
	uint64_t start_ns;
};

static uint64_t now_ns(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

/* Whether the call was ours and is answered. */
static bool pseries_answer(struct pseries *q, unsigned vcpu, bool little)
{
	const struct hv_mem mem = { .arg = &q->x, .is = reach_is, .read = reach_read, .write = reach_write };
	uint64_t r[3];

	if (!reach_get(&q->x, R3, little, &r[0]) || r[0] != PAPR_GPCI)
		return false;
	if (!reach_get(&q->x, R4, little, &r[1]) || !reach_get(&q->x, R5, little, &r[2]))
		return false;
	r[1] &= REAL_BITS;
	service_call(q->service, now_ns() - q->start_ns, (uint16_t)vcpu, &mem, r);
	return reach_set(&q->x, R3, little, r[0]);
}

static void at_sc_1(unsigned vcpu, void *arg)
{
	const struct site *s = arg;
	struct pseries *q = s->emulator;
	uint64_t behind = s->pc + 4;
	bool ours;

	pthread_mutex_lock(&q->x.lock);
	ours = pseries_answer(q, vcpu, s->kind == SC_1_SWAPPED);
	pthread_mutex_unlock(&q->x.lock);
	if (ours)
		qemu_plugin_set_pc(behind); /* does not return */
}

static void pseries_translated(struct qemu_plugin_tb *tb, void *arg)
{
	struct pseries *q = arg;

	for (size_t i = 0, n = qemu_plugin_tb_n_insns(tb); i < n; i++) {
		struct qemu_plugin_insn *insn = qemu_plugin_tb_get_insn(tb, i);
		uint32_t word = insn_word(insn);
		struct site *s;

		if (word != SC_1 && word != SC_1_SWAPPED)
			continue;
		s = reach_site(&q->x, q, qemu_plugin_insn_vaddr(insn), word);
		if (s)
			qemu_plugin_register_vcpu_insn_exec_cb(insn, at_sc_1, QEMU_RW_REGS_PC, s);
	}
}

static void pseries_ended(void *arg)
{
	struct pseries *q = arg;

	service_close(q->service);
	reach_close(&q->x);
	mem_free(q);
}

static int open_pseries(void **ret, int argc, char *const *argv, struct err *e)
{
	struct qemu_options o;
	struct pseries *q;
	int rc = qemu_options(&o, argc, argv, e);

	if (rc < 0)
		return rc;
	q = mem_alloc(sizeof(*q));
	rc = q ? service_open(&q->service, &o, e) : err_oom(e);
	qemu_options_free(&o);
	if (rc < 0) {
		mem_free(q);
		return rc;
	}
	reach_open(&q->x, names, COUNT(names), 0, MEMORY_END, MEMORY_BLOCK);
	q->start_ns = now_ns();
	*ret = q;
	return 0;
}

const struct emulator emulator_pseries = { .target = "ppc64",
					   .system = true,
					   .api = QEMU_API,
					   .open = open_pseries,
					   .vcpu_init = reach_vcpu,
					   .translated = pseries_translated,
					   .flushed = reach_flush,
					   .ended = pseries_ended };
